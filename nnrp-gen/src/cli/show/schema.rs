//! Standard schemas.

use crate::model::{Registry, Schema};

use super::{Item, View, source};

pub(super) fn items(registry: &Registry) -> Vec<Item<'_>> {
    let fact = |item: &Schema| format!("{:#010x}", item.schema_id);
    registry.schemas.iter().map(|item| Item { name: &item.name, fact: fact(item), doc: &item.doc }).collect()
}

pub(super) fn show(view: &View<'_>, item: &Schema) -> String {
    let facts = [
        format!("schema {:#010x}", item.schema_id),
        format!("version {}", item.schema_version),
        format!("profile {}", item.profile),
        format!("semantics {}", item.semantics),
        source(&item.source),
    ];
    view.head(&item.name, &facts, &item.doc)
}
