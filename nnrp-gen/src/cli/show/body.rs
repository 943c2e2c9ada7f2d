//! Bodies of several parts behind a prelude.

use crate::model::{Body, Count, Part, Registry};

use super::super::WIDTH;
use super::super::paint::Ink;
use super::super::table::{Table, cell, counted, left};
use super::{Item, View, content, layout, source};

pub(super) fn items(registry: &Registry) -> Vec<Item<'_>> {
    let fact = |item: &Body| counted(item.parts.len(), "part", "parts");
    registry.bodies.iter().map(|item| Item { name: &item.name, fact: fact(item), doc: &item.doc }).collect()
}

pub(super) fn show(view: &View<'_>, item: &Body) -> String {
    let may = if item.optional { "may be empty" } else { "" };
    let facts = ["body".to_owned(), may.to_owned(), source(&item.source)];
    view.head(&item.name, &facts, &item.doc) + &body(view, item)
}

/// The prelude and the parts.
pub(super) fn body(view: &View<'_>, item: &Body) -> String {
    let mut out = String::new();
    let prelude = &view.registry.layouts[item.prelude];
    out.push_str(&view.heading(&format!("prelude: {}, {} bytes", prelude.name, prelude.size)));
    out.push_str(&layout::body(view, prelude));
    out.push_str(&view.heading("parts"));
    let mut table = Table::new([left("rule"), left("part"), left("bytes"), left("holds")]);
    for part in &item.parts {
        let name = cell(Ink::Bold, part.name.as_str());
        let length = prelude.fields[part.length].name.as_str();
        let holds = holds(view.registry, item, part);
        table.row([part.id.as_str().into(), name, length.into(), holds.into()]);
        if !part.doc.is_empty() {
            table.note(1, cell(Ink::Dim, part.doc.as_str()));
        }
    }
    out.push_str(&table.draw(WIDTH, 2, view.paint));
    out
}

fn holds(registry: &Registry, body: &Body, part: &Part) -> String {
    let prelude = &registry.layouts[body.prelude];
    let mut list = Vec::new();
    if let Some((leading, count)) = part.leading {
        list.push(format!("{} by {}", registry.layouts[leading].name, prelude.fields[count].name));
    }
    match &part.slices {
        Some(slices) => list.push(format!("slices by {}", body.parts[slices.rows].name)),
        None => list.push(content(registry, part.content)),
    }
    match &part.count {
        Some(Count::Prelude(field)) => list.push(format!("counted by {}", prelude.fields[*field].name)),
        Some(Count::Metadata(field)) => list.push(format!("counted by metadata.{field}")),
        None => {}
    }
    list.join(", ")
}
