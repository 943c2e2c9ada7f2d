//! The names of a registry and where they lead.

use std::collections::HashMap;

use crate::syntax::{Registry, Text};

/// Positions by name, one map a kind. Of names taken twice the first counts.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct Index {
    pub enums: HashMap<String, usize>,
    pub bitmasks: HashMap<String, usize>,
    pub layouts: HashMap<String, usize>,
    pub messages: HashMap<String, usize>,
    pub scopes: HashMap<String, usize>,
    pub bodies: HashMap<String, usize>,
    pub entries: HashMap<String, usize>,
    pub vocabularies: HashMap<String, usize>,
}

impl Index {
    /// Looks through a registry.
    pub fn of(registry: &Registry) -> Self {
        Self {
            enums: map(registry.enums.iter().map(|item| &item.name)),
            bitmasks: map(registry.bitmasks.iter().map(|item| &item.name)),
            layouts: map(registry.layouts.iter().map(|item| &item.name)),
            messages: map(registry.messages.iter().map(|item| &item.name)),
            scopes: map(registry.scopes.iter().map(|item| &item.name)),
            bodies: map(registry.bodies.iter().map(|item| &item.name)),
            entries: map(registry.entries.iter().map(|item| &item.name)),
            vocabularies: map(registry.vocabularies.iter().map(|item| &item.name)),
        }
    }
}

fn map<'a>(names: impl Iterator<Item = &'a Text>) -> HashMap<String, usize> {
    let mut map = HashMap::new();
    for (position, name) in names.enumerate() {
        map.entry(name.value.clone()).or_insert(position);
    }
    map
}
