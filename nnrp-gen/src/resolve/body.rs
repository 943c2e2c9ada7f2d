//! Entries, bodies, and the words of vocabularies.

use super::{Resolve, every, text};
use crate::check::fields::{Fields, parse};
use crate::model::{Body, Choice, Content, Count, Entry, Part, Select, Slices, Vocabulary};
use crate::report::Diagnostic;
use crate::rule::{self, Names, Truth};
use crate::syntax::{self, Text};

impl Resolve<'_> {
    pub(crate) fn entry(&mut self, item: &syntax::Entry) -> Option<Entry> {
        let header = self.layout(&item.header)?;
        let payload = self.number_field(header, &item.payload);
        let align = match &item.align {
            None => Some(1),
            Some(align) => {
                let good =
                    u32::try_from(align.value).ok().filter(|align| align.is_power_of_two() && *align <= 4096);
                if good.is_none() {
                    self.report.add(
                        Diagnostic::error(align.span, format!("entries cannot align to {}", align.value))
                            .label("a power of two up to 4096"),
                    );
                }
                good
            }
        };
        let unique = match &item.unique {
            None => None,
            Some(name) => {
                let field = self.number_field(header, name)?;
                let wide = matches!(&self.registry.layouts[header].fields[field].ty.value.element, syntax::Element::Scalar(scalar) if scalar.size() > 2);
                if wide {
                    self.report.add(
                        Diagnostic::error(name.span, format!("`{}` is too wide to be unique", name.value))
                            .label("a u8 or a u16")
                            .help("so that a reader needs no memory of its own to tell"),
                    );
                }
                Some(field)
            }
        };
        let select = self.select(header, item.select.as_ref(), item.critical.as_ref(), item.error.as_ref());
        Some(Entry {
            name: item.name.value.clone(),
            header,
            payload: payload?,
            align: align?,
            select: select?,
            unique,
            id: text(item.id.as_ref()),
            source: text(item.source.as_ref()),
            doc: text(item.doc.as_ref()),
        })
    }

    /// What payloads the rows of a layout announce. The outer option is for problems.
    fn select(
        &mut self,
        layout: usize,
        select: Option<&Text>,
        critical: Option<&Text>,
        error: Option<&Text>,
    ) -> Option<Option<Select>> {
        let Some(select) = select else { return Some(None) };
        let field = self.number_field(layout, select)?;
        let critical = match critical {
            Some(path) => Some(self.bit(layout, path)?),
            None => None,
        };
        let code = self.code(error);
        let mut choices = Vec::new();
        for row in self.enum_of(layout, field).map_or(&[][..], |item| &item.values) {
            let Some(name) = &row.layout else { continue };
            let payload = self.layout(name)?;
            let mut messages = Vec::new();
            for name in &row.messages {
                match self.index.messages.get(name.as_str()) {
                    Some(&position) => messages.push(position),
                    None => self.unknown(name, "message", self.index.messages.keys().map(String::as_str)),
                }
            }
            let require = match &row.require {
                None => None,
                Some(condition) => {
                    let rows = &self.registry.layouts[layout];
                    let names = Fields::of_layout(self.registry, self.index, rows);
                    let truth = self.condition(condition, &names)?;
                    let blame = rule::first_field(&truth).map_or(field, |blame| blame.index);
                    Some((truth, blame))
                }
            };
            choices.push(Choice {
                value: u64::try_from(row.value.value).ok()?,
                name: row.name.value.clone(),
                layout: payload,
                messages,
                refuse_critical: row.refuse_critical.is_some(),
                once: row.once.is_some(),
                require,
                id: text(row.id.as_ref()),
                doc: text(row.doc.as_ref()),
            });
        }
        Some(Some(Select { field, critical, code, choices }))
    }

    pub(super) fn condition(&mut self, text: &Text, names: &dyn Names) -> Option<Truth> {
        match parse(text, names, self.sources) {
            Ok(truth) => Some(truth),
            Err(problems) => {
                problems.into_iter().for_each(|problem| self.report.add(problem));
                None
            }
        }
    }

    pub(crate) fn body(&mut self, item: &syntax::Body) -> Option<Body> {
        let prelude = self.layout(&item.prelude)?;
        Some(Body {
            name: item.name.value.clone(),
            prelude,
            optional: item.optional,
            parts: every(&item.parts, |row| self.part(item, row, prelude))?,
            source: text(item.source.as_ref()),
            doc: text(item.doc.as_ref()),
        })
    }

    fn part(&mut self, body: &syntax::Body, item: &syntax::Part, prelude: usize) -> Option<Part> {
        let length = self.number_field(prelude, &item.length);
        let content = self.content(item.of.as_ref())?;
        if matches!(content, Content::Body(_) | Content::Vocabulary(_)) {
            let span = item.of.as_ref().map_or(item.span, |of| of.span);
            self.report.add(
                Diagnostic::error(span, "a part holds layouts or entries")
                    .help("bodies and vocabularies are for segments"),
            );
            return None;
        }
        let count = match &item.count {
            None => None,
            Some(path) => {
                if !matches!(content, Content::Layout(_)) {
                    self.report.add(
                        Diagnostic::error(path.span, "`count` counts layouts")
                            .help("name the layout with `of`"),
                    );
                    return None;
                }
                Some(match path.value.strip_prefix("metadata.") {
                    Some(name) => Count::Metadata(name.to_owned()),
                    None => Count::Prelude(self.number_field(prelude, path)?),
                })
            }
        };
        let slices = match &item.slices {
            Some(slices) => Some(self.slices(body, item, slices)?),
            None => None,
        };
        let leading = match &item.leading {
            Some((layout, count)) => Some((self.layout(layout)?, self.number_field(prelude, count)?)),
            None => None,
        };
        Some(Part {
            id: text(item.id.as_ref()),
            name: item.name.value.clone(),
            length: length?,
            content,
            count,
            slices,
            leading,
            doc: text(item.doc.as_ref()),
        })
    }

    fn slices(&mut self, body: &syntax::Body, part: &syntax::Part, item: &syntax::Slices) -> Option<Slices> {
        let earlier = body.parts.iter().take_while(|row| row.name.value != part.name.value);
        let names: Vec<&str> = earlier.clone().map(|row| row.name.as_str()).collect();
        let Some(rows) = names.iter().position(|name| *name == item.rows.value) else {
            self.unknown(&item.rows, "earlier part", names);
            return None;
        };
        let Some(Content::Layout(layout)) = self.content(body.parts[rows].of.as_ref()) else {
            self.report.add(Diagnostic::error(
                item.rows.span,
                format!("`{}` does not hold a layout whose rows could slice", item.rows.value),
            ));
            return None;
        };
        Some(Slices {
            rows,
            layout,
            offset: self.number_field(layout, &item.offset)?,
            size: self.number_field(layout, &item.size)?,
            select: self.select(layout, item.select.as_ref(), item.critical.as_ref(), item.error.as_ref())?,
        })
    }

    pub(crate) fn vocabulary(&mut self, item: &syntax::Vocabulary) -> Option<Vocabulary> {
        let mut words: Vec<(String, String)> = Vec::new();
        for row in &item.words {
            let word = &row.word.value;
            let good = |letter: char| {
                letter.is_ascii_lowercase() || letter.is_ascii_digit() || "._-".contains(letter)
            };
            if word.is_empty() || !word.chars().all(good) {
                self.report.add(
                    Diagnostic::error(row.word.span, format!("`{word}` is no word"))
                        .label("lower-case letters, digits, `.`, `_` and `-`"),
                );
            }
            words.push((word.clone(), text(row.doc.as_ref())));
        }
        words.sort();
        Some(Vocabulary {
            name: item.name.value.clone(),
            length_type: item.length_type.value,
            words,
            id: text(item.id.as_ref()),
            source: text(item.source.as_ref()),
            doc: text(item.doc.as_ref()),
        })
    }
}
