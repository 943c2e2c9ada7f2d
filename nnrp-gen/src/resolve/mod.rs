//! Messages, bodies and entries: what they name, found in the registry.
//!
//! The checks run this for its problems, the model is made of what it gives.

mod body;
mod message;
mod orders;
mod scope;

use crate::check::Index;
use crate::model::*;
use crate::report::{Diagnostic, Report};
use crate::source::{Sources, Spanned};
use crate::suggest::did_you_mean;
use crate::syntax::{self, Text};

/// Looks names up and reports those that lead nowhere.
pub(crate) struct Resolve<'a> {
    pub(crate) registry: &'a syntax::Registry,
    pub(crate) index: &'a Index,
    pub(crate) sources: &'a Sources,
    pub(crate) report: &'a mut Report,
}

pub(crate) fn text(text: Option<&Text>) -> String {
    text.map(|text| text.value.clone()).unwrap_or_default()
}

/// What `one` makes of each, all of them tried even where one fails.
fn every<T, U>(list: &[T], mut one: impl FnMut(&T) -> Option<U>) -> Option<Vec<U>> {
    let made: Vec<Option<U>> = list.iter().map(&mut one).collect();
    made.into_iter().collect()
}

impl<'a> Resolve<'a> {
    fn unknown<'n>(&mut self, name: &Text, what: &str, known: impl IntoIterator<Item = &'n str>) {
        if self.registry.unread.iter().any(|kind| what.split([' ', ',']).any(|word| word == *kind)) {
            return;
        }
        self.report.add(
            Diagnostic::error(name.span, format!("no {what} is called `{}`", name.value))
                .label("not found in the registry")
                .of_name()
                .maybe_help(did_you_mean(name.as_str(), known)),
        );
    }

    fn layout(&mut self, name: &Text) -> Option<usize> {
        let found = self.index.layouts.get(name.as_str()).copied();
        if found.is_none() {
            self.unknown(name, "layout", self.index.layouts.keys().map(String::as_str));
        }
        found
    }

    /// A field by name, reported where it is not there.
    fn field(&mut self, layout: usize, name: &Text) -> Option<usize> {
        let item = &self.registry.layouts[layout];
        let found = item.fields.iter().position(|field| field.name.value == name.value);
        // It may be in a row that could not be read.
        if found.is_none() && item.complete {
            let what = format!("field of `{}`", item.name.value);
            self.unknown(name, &what, item.fields.iter().map(|field| field.name.as_str()));
        }
        found
    }

    /// A field that is an unsigned integer with a value.
    fn number_field(&mut self, layout: usize, name: &Text) -> Option<usize> {
        let position = self.field(layout, name)?;
        let field = &self.registry.layouts[layout].fields[position];
        let good = matches!(&field.ty.value, syntax::Type { element: syntax::Element::Scalar(scalar), count: None } if scalar.is_unsigned())
            && field.reserved.is_none()
            && field.constant.is_none();
        if !good {
            self.report.add(
                Diagnostic::error(name.span, format!("`{}` is no unsigned integer with a value", name.value))
                    .related(field.span, "the field"),
            );
            return None;
        }
        Some(position)
    }

    /// A metadata field of a message.
    fn metadata_field(&mut self, metadata: Option<usize>, name: &Text) -> Option<usize> {
        let Some(layout) = metadata else {
            self.report.add(
                Diagnostic::error(
                    name.span,
                    format!("`{}` names a metadata field, and the message has no metadata", name.value),
                )
                .help("add `metadata = \"…\"` to the message"),
            );
            return None;
        };
        let stripped = Spanned::new(name.value.trim_start_matches("metadata.").to_owned(), name.span);
        self.number_field(layout, &stripped)
    }

    /// `field.bit`.
    fn bit(&mut self, layout: usize, path: &Text) -> Option<(usize, u64)> {
        let Some((field, bit)) = path.value.split_once('.') else {
            self.report.add(
                Diagnostic::error(path.span, format!("`{}` is no bit", path.value)).help("write `field.bit`"),
            );
            return None;
        };
        let position = self.field(layout, &Spanned::new(field.to_owned(), path.span))?;
        let row = &self.registry.layouts[layout].fields[position];
        let mask = row.bitmask.as_ref().and_then(|name| self.index.bitmasks.get(name.as_str()));
        let bits: &[syntax::Bit] = mask.map_or(&[], |&mask| &self.registry.bitmasks[mask].bits);
        let found = bits.iter().find(|row| row.name.value == bit);
        let Some(found) = found else {
            // A bitmask that is not there, or not all there, was told of already.
            let is_lost = match mask {
                Some(&mask) => !self.registry.bitmasks[mask].complete,
                None => row.bitmask.is_some() || !row.understood,
            };
            if is_lost {
                return None;
            }
            let what = format!("bit of `{field}`");
            let names: Vec<_> = bits.iter().map(|row| row.name.as_str()).collect();
            self.unknown(&Spanned::new(bit.to_owned(), path.span), &what, names);
            return None;
        };
        Some((position, 1u64.checked_shl(u32::try_from(found.bit.value).ok()?)?))
    }

    /// The enum of a field.
    fn enum_of(&self, layout: usize, field: usize) -> Option<&'a syntax::Enum> {
        let name = self.registry.layouts[layout].fields[field].enumeration.as_ref()?;
        self.index.enums.get(name.as_str()).map(|&position| &self.registry.enums[position])
    }

    /// A value of a field's enum by name.
    fn value(&mut self, layout: usize, field: usize, name: &Text) -> Option<u64> {
        let Some(item) = self.enum_of(layout, field) else {
            let field = &self.registry.layouts[layout].fields[field];
            // An enum that is not there was told of already.
            if field.enumeration.is_some() || !field.understood {
                return None;
            }
            let field = &field.name.value;
            self.report.add(Diagnostic::error(
                name.span,
                format!("`{}` is named as a value of `{field}`, which has no enum", name.value),
            ));
            return None;
        };
        let found = item.values.iter().find(|row| row.name.value == name.value);
        if found.is_none() && item.complete {
            let what = format!("value of `{}`", item.name.value);
            self.unknown(name, &what, item.values.iter().map(|row| row.name.as_str()));
        }
        u64::try_from(found?.value.value).ok()
    }

    fn code(&mut self, name: Option<&Text>) -> Option<u64> {
        let errors = self.registry.protocols.first()?.errors.as_ref()?;
        let codes = &self.registry.enums[*self.index.enums.get(errors.enumeration.as_str())?];
        let name = name?;
        let found = codes.values.iter().find(|row| row.name.value == name.value)?;
        u64::try_from(found.value.value).ok()
    }

    /// What `of` names.
    fn content(&mut self, of: Option<&Text>) -> Option<Content> {
        let Some(name) = of else { return Some(Content::Opaque) };
        let index = self.index;
        let found = None
            .or_else(|| index.entries.get(name.as_str()).map(|&position| Content::Entry(position)))
            .or_else(|| index.bodies.get(name.as_str()).map(|&position| Content::Body(position)))
            .or_else(|| index.vocabularies.get(name.as_str()).map(|&position| Content::Vocabulary(position)))
            .or_else(|| index.layouts.get(name.as_str()).map(|&position| Content::Layout(position)));
        if found.is_none() {
            let known = index.entries.keys().chain(index.bodies.keys());
            let known = known.chain(index.vocabularies.keys()).chain(index.layouts.keys());
            self.unknown(name, "entry, body, vocabulary or layout", known.map(String::as_str));
        }
        found
    }
}
