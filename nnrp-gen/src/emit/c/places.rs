//! What a fault can name: layouts and whatever else is blamed like one, their fields, and rules. Each has a number.

use std::collections::{HashMap, HashSet};

use crate::model::{Registry, Rule, Select};

use super::names;

/// A name that faults give as their layout.
pub(super) struct Place {
    pub(super) name: String,
    /// What faults give as its fields.
    pub(super) fields: Vec<String>,
    /// Whether it is a layout, whose fields are listed where it is.
    pub(super) is_layout: bool,
}

/// Everything that a fault can name, in the order of the numbers.
pub(super) struct Places {
    pub(super) all: Vec<Place>,
    pub(super) rules: Vec<Named>,
    /// Positions of places by name, and the ids of rules.
    by_name: HashMap<String, usize>,
    ids: HashSet<String>,
}

/// A rule by its id. Why there is that rule stands with the fault, for one id may have several reasons.
pub(super) struct Named {
    pub(super) id: String,
    pub(super) doc: String,
}

/// The rule that a packet over the reader's limit breaks, and why there is that rule.
pub(super) const LIMIT: (&str, &str) = ("F6", "A packet is no larger than its reader accepts.");

impl Places {
    pub(super) fn of(registry: &Registry) -> Self {
        let mut places =
            Self { all: Vec::new(), rules: Vec::new(), by_name: HashMap::new(), ids: HashSet::new() };
        for layout in &registry.layouts {
            let fields = layout.fields.iter().map(|field| field.name.as_str());
            places.place(&layout.name, fields, true);
            layout.rules.iter().for_each(|rule| places.rule(rule));
        }
        if registry.protocol.header.is_none() {
            return places;
        }
        for message in registry.messages.iter().filter(|message| !message.segments.is_empty()) {
            let segments = message.segments.iter().map(|segment| segment.name.as_str());
            places.place(&message.name, segments, false);
        }
        for entry in &registry.entries {
            places.place(&entry.name, [].into_iter(), false);
            places.id(&entry.id);
            places.select(entry.select.as_ref());
        }
        for item in &registry.vocabularies {
            places.place(&item.name, ["length", "word"].into_iter(), false);
            places.id(&item.id);
        }
        for body in &registry.bodies {
            places.place(&body.name, body.parts.iter().map(|part| part.name.as_str()), false);
            for part in &body.parts {
                places.id(&part.id);
                places.select(part.slices.as_ref().and_then(|slices| slices.select.as_ref()));
            }
        }
        places.note(LIMIT.0, LIMIT.1);
        for message in &registry.messages {
            message.scope_rules.iter().chain(&message.rules).for_each(|rule| places.rule(rule));
            for segment in &message.segments {
                places.id(&segment.id);
                segment.cases.iter().for_each(|case| places.id(&case.id));
            }
            message.slots.iter().for_each(|slots| places.id(&slots.id));
            message.sorted.iter().for_each(|sorted| places.id(&sorted.id));
            message.sizes.iter().for_each(|size| places.id(&size.id));
            message.tensor.iter().for_each(|tensor| places.id(&tensor.id));
        }
        places
    }

    /// Adds a place, or fields to one of that name.
    fn place<'f>(&mut self, name: &str, fields: impl Iterator<Item = &'f str>, is_layout: bool) {
        let at = *self.by_name.entry(name.to_owned()).or_insert_with(|| {
            self.all.push(Place { name: name.to_owned(), fields: Vec::new(), is_layout });
            self.all.len() - 1
        });
        for field in fields {
            if !self.all[at].fields.iter().any(|known| known == field) {
                self.all[at].fields.push(field.to_owned());
            }
        }
    }

    fn select(&mut self, select: Option<&Select>) {
        let choices = select.map_or(&[][..], |select| &select.choices);
        choices.iter().for_each(|choice| self.id(&choice.id));
    }

    fn rule(&mut self, rule: &Rule) {
        self.note(&rule.id, &rule.doc);
    }

    fn id(&mut self, id: &str) {
        self.note(id, "");
    }

    fn note(&mut self, id: &str, doc: &str) {
        if !id.is_empty() && self.ids.insert(id.to_owned()) {
            self.rules.push(Named { id: id.to_owned(), doc: doc.to_owned() });
        }
    }

    /// The place of that name.
    pub(super) fn named(&self, name: &str) -> Option<&Place> {
        self.by_name.get(name).and_then(|&at| self.all.get(at))
    }
}

/// The name of the constant of a place, without the prefix.
pub(super) fn place(name: &str) -> String {
    format!("LAYOUT_{name}")
}

/// The name of the constant of a field, without the prefix.
pub(super) fn field(place: &str, field: &str) -> String {
    format!("{place}_FIELD_{field}")
}

/// The name of the constant of a rule, without the prefix.
pub(super) fn rule(id: &str) -> String {
    format!("RULE_{}", names::rule(id))
}
