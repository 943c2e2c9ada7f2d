//! What the names in a rule stand for.

use crate::rule::{FieldRef, Names, Presence, Space, Symbol};
use crate::source::Sources;
use crate::syntax::{Element, Enum, Field, Layout, Message, Registry};

use super::Index;

/// The fields that a rule can see: a layout's own, or a message's metadata with the header and the body.
pub struct Fields<'a> {
    registry: &'a Registry,
    index: &'a Index,
    own: Option<&'a Layout>,
    message: Option<&'a Message>,
}

impl<'a> Fields<'a> {
    /// For a rule on a layout.
    pub fn of_layout(registry: &'a Registry, index: &'a Index, layout: &'a Layout) -> Self {
        Self { registry, index, own: Some(layout), message: None }
    }

    /// For a rule on a message.
    pub fn of_message(registry: &'a Registry, index: &'a Index, message: &'a Message) -> Self {
        let metadata = message.metadata.as_ref().and_then(|name| index.layouts.get(name.as_str()));
        Self {
            registry,
            index,
            own: metadata.map(|&position| &registry.layouts[position]),
            message: Some(message),
        }
    }

    fn header(&self) -> Option<&'a Layout> {
        self.message?;
        let name = self.registry.protocols.first()?.header.as_ref()?;
        self.index.layouts.get(name.as_str()).map(|&position| &self.registry.layouts[position])
    }

    /// Whether all of a layout's own fields could be read.
    pub fn is_complete(&self) -> bool {
        self.own.is_none_or(|layout| layout.complete)
    }

    fn layout(&self, space: Space) -> Option<&'a Layout> {
        match space {
            Space::Own => self.own,
            Space::Header => self.header(),
        }
    }

    /// The field of that name.
    pub fn named(&self, space: Space, name: &str) -> Option<FieldRef> {
        let layout = self.layout(space)?;
        let index = layout.fields.iter().position(|field| field.name.value == name)?;
        Some(FieldRef { space, index })
    }

    fn in_layout(&self, space: Space, path: &[&str]) -> Option<Symbol> {
        let (name, rest) = path.split_first()?;
        let Some(field) = self.named(space, name) else {
            // It may be in a row that could not be read.
            let is_lost = space == Space::Own && !self.is_complete();
            let is_path = ["header", "metadata", "body"].contains(name);
            return (is_lost && !(is_path && self.message.is_some())).then_some(Symbol::Broken);
        };
        if !self.layout(space)?.fields[field.index].understood {
            return Some(Symbol::Broken);
        }
        match rest {
            [] => self.field(field),
            [bit] => {
                let row = &self.layout(space)?.fields[field.index];
                let mask = row.bitmask.as_ref()?;
                let Some(&mask) = self.index.bitmasks.get(mask.as_str()) else { return Some(Symbol::Broken) };
                let mask = &self.registry.bitmasks[mask];
                if mask.given.is_some() {
                    return Some(Symbol::NamedFlag { field });
                }
                let Some(bit) = mask.bits.iter().find(|row| row.name.value == *bit) else {
                    return (!mask.complete).then_some(Symbol::Broken);
                };
                let shift = u32::try_from(bit.bit.value).ok()?;
                Some(Symbol::Flag { field, mask: 1u64.checked_shl(shift)? })
            }
            _ => None,
        }
    }

    /// `body.segment.value`: whether the segment has an entry of that value; with `.flag`, whether its
    /// payload also has that bool set.
    fn in_body(&self, path: &[&str]) -> Option<Symbol> {
        let (segment, value, flag) = match path {
            [segment, value] => (segment, value, None),
            [segment, value, flag] => (segment, value, Some(flag)),
            _ => return None,
        };
        let body = &self.message?.body;
        let segment = body.iter().position(|row| row.name.value == *segment)?;
        let selector = self.selector_of(body[segment].of.as_ref()?.as_str())?;
        let value = selector.values.iter().find(|row| row.name.value == *value)?;
        let flag = match flag {
            Some(name) => {
                let payload =
                    &self.registry.layouts[*self.index.layouts.get(value.layout.as_ref()?.as_str())?];
                let known = |field: &Field| field.name.value == **name && field.boolean.is_some();
                Some(payload.fields.iter().position(known)?)
            }
            None => None,
        };
        Some(Symbol::Present(Presence { segment, value: u64::try_from(value.value.value).ok()?, flag }))
    }

    /// The enum by which an entry's header says what its payload holds.
    fn selector_of(&self, entry: &str) -> Option<&'a Enum> {
        let entry = &self.registry.entries[*self.index.entries.get(entry)?];
        let header = &self.registry.layouts[*self.index.layouts.get(entry.header.as_str())?];
        let select = entry.select.as_ref()?;
        let field = header.fields.iter().find(|field| field.name.value == select.value)?;
        let position = self.index.enums.get(field.enumeration.as_ref()?.as_str())?;
        Some(&self.registry.enums[*position])
    }
}

/// Whether the enum is a type of which only the compiler knows the values.
fn is_foreign(enumeration: &Enum) -> bool {
    enumeration.given.is_some() && enumeration.values.is_empty() && enumeration.ranges.is_empty()
}

/// The accepted values of an enum as inclusive spans, sorted and disjoint.
pub(crate) fn spans(enumeration: &Enum, registry: &Registry) -> Vec<(u64, u64)> {
    if is_foreign(enumeration) {
        return vec![(0, u64::try_from(enumeration.ty.value.limits().1).unwrap_or(u64::MAX))];
    }
    let number = |number: i128| u64::try_from(number).unwrap_or_default();
    let mut spans: Vec<(u64, u64)> =
        enumeration.values.iter().map(|row| (number(row.value.value), number(row.value.value))).collect();
    spans.extend(enumeration.ranges.iter().map(|row| (number(row.from.value), number(row.to.value))));
    if enumeration.from_messages.is_some() {
        spans.extend(registry.messages.iter().map(|row| (number(row.value.value), number(row.value.value))));
    }
    spans.sort_unstable();
    let mut merged: Vec<(u64, u64)> = Vec::new();
    for (from, to) in spans {
        match merged.last_mut() {
            Some(last) if from <= last.1.saturating_add(1) => last.1 = last.1.max(to),
            _ => merged.push((from, to)),
        }
    }
    merged
}

impl Names for Fields<'_> {
    fn lookup(&self, path: &[&str]) -> Option<Symbol> {
        // A field of the layout's own may be called `header`; it wins.
        self.in_layout(Space::Own, path).or_else(|| {
            let (first, rest) = path.split_first()?;
            match *first {
                "header" => self.in_layout(Space::Header, rest),
                "metadata" => self.message.and_then(|_| self.in_layout(Space::Own, rest)),
                "body" => self.in_body(rest),
                _ => None,
            }
        })
    }

    fn field(&self, field: FieldRef) -> Option<Symbol> {
        let row: &Field = self.layout(field.space)?.fields.get(field.index)?;
        let scalar = match (&row.ty.value.element, row.ty.value.count) {
            (_, Some(_)) => return Some(Symbol::Unusable { why: "an array" }),
            (Element::Layout(_), None) => return Some(Symbol::Unusable { why: "a layout" }),
            (Element::Scalar(scalar), None) => *scalar,
        };
        if !scalar.is_integer() {
            return Some(Symbol::Unusable { why: "a float" });
        }
        if row.reserved.is_some() {
            return Some(Symbol::Unusable { why: "reserved, so always 0" });
        }
        if row.constant.is_some() {
            return Some(Symbol::Unusable { why: "a constant" });
        }
        if row.boolean.is_some() {
            return Some(Symbol::Bool { field });
        }
        let bits = scalar.size() * 8;
        if let Some(mask) = &row.bitmask {
            let Some(&mask) = self.index.bitmasks.get(mask.as_str()) else { return Some(Symbol::Broken) };
            let mask = &self.registry.bitmasks[mask];
            if mask.given.is_some() {
                let (_, max) = scalar.limits();
                return Some(Symbol::Mask { field, bits, known: u64::try_from(max).ok()? });
            }
            let shifts = mask.bits.iter().filter_map(|bit| u32::try_from(bit.bit.value).ok());
            let known = shifts.filter_map(|shift| 1u64.checked_shl(shift)).fold(0, |known, bit| known | bit);
            return Some(Symbol::Mask { field, bits, known });
        }
        let (min, max) = scalar.limits();
        let enumeration = match &row.enumeration {
            None => None,
            Some(name) => match self.index.enums.get(name.as_str()) {
                Some(&position) => Some(position),
                None => return Some(Symbol::Broken),
            },
        };
        Some(Symbol::Int { field, min, max, bits, enumeration })
    }

    fn enum_named(&self, name: &str) -> Option<usize> {
        // A type that somebody wrote answers to its own name too.
        let given = || self.registry.enums.iter().position(|item| item.given.as_deref() == Some(name));
        self.index.enums.get(name).copied().or_else(given)
    }

    fn enum_value(&self, enumeration: usize, name: &str) -> Option<u64> {
        let item = self.registry.enums.get(enumeration)?;
        let value = item.values.iter().find(|row| row.name.value == name).map(|row| row.value.value);
        let message = || {
            item.from_messages?;
            self.registry.messages.iter().find(|row| row.name.value == name).map(|row| row.value.value)
        };
        u64::try_from(value.or_else(message)?).ok()
    }

    fn is_incomplete(&self, enumeration: usize) -> bool {
        self.registry.enums.get(enumeration).is_some_and(|item| {
            !item.complete || item.from_messages.is_some() && self.registry.unread.contains(&"message")
        })
    }

    fn is_given(&self, enumeration: usize) -> bool {
        self.registry.enums.get(enumeration).is_some_and(is_foreign)
    }

    fn values(&self, enumeration: usize) -> Vec<(u64, u64)> {
        self.registry.enums.get(enumeration).map(|item| spans(item, self.registry)).unwrap_or_default()
    }

    fn candidates(&self) -> Vec<String> {
        let mut list = Vec::new();
        for (space, prefix) in [(Space::Own, ""), (Space::Header, "header.")] {
            for field in self.layout(space).iter().flat_map(|layout| &layout.fields) {
                list.push(format!("{prefix}{}", field.name.value));
                let mask = field.bitmask.as_ref().and_then(|name| self.index.bitmasks.get(name.as_str()));
                for bit in mask.iter().flat_map(|&&mask| &self.registry.bitmasks[mask].bits) {
                    list.push(format!("{prefix}{}.{}", field.name.value, bit.name.value));
                }
            }
        }
        for segment in self.message.iter().flat_map(|message| &message.body) {
            let selector = segment.of.as_ref().and_then(|of| self.selector_of(of.as_str()));
            for value in selector.iter().flat_map(|selector| &selector.values) {
                list.push(format!("body.{}.{}", segment.name.value, value.name.value));
            }
        }
        list
    }

    fn enum_candidates(&self, enumeration: Option<usize>) -> Vec<String> {
        match enumeration.and_then(|position| self.registry.enums.get(position)) {
            Some(item) => item.values.iter().map(|row| row.name.value.clone()).collect(),
            None => self.registry.enums.iter().map(|row| row.name.value.clone()).collect(),
        }
    }
}

/// Shared by the checks that read rules and by what makes the model of them.
pub(crate) fn parse(
    text: &crate::syntax::Text,
    names: &dyn Names,
    sources: &Sources,
) -> Result<crate::rule::Truth, Vec<crate::report::Diagnostic>> {
    let draw = |error: crate::rule::RuleError| {
        let span = sources.within(text, error.at.clone());
        let column = text.value.get(..error.at.start).map_or(1, |before| before.chars().count() + 1);
        // Where the span is the whole text, only the message can say where in it.
        let message = if span == text.span && error.at.len() != text.value.len() {
            format!("{} (column {column} of the rule)", error.message)
        } else {
            error.message.clone()
        };
        let is_of_name = error.message.starts_with("there is no ");
        let problem = crate::report::Diagnostic::error(span, message).maybe_help(error.help);
        if is_of_name { problem.of_name() } else { problem }
    };
    let expr = crate::rule::parse(text.as_str()).map_err(|error| vec![draw(error)])?;
    crate::rule::truth(&expr, names).map_err(|errors| errors.into_iter().map(draw).collect())
}
