//! Entries: a header, a payload and padding, repeated.

use crate::model::{Entry, Registry};

use super::super::WIDTH;
use super::super::paint::Ink;
use super::super::table::{Table, cell, left};
use super::{Item, View, layout, source};

pub(super) fn items(registry: &Registry) -> Vec<Item<'_>> {
    let fact = |item: &Entry| registry.layouts[item.header].name.clone();
    registry.entries.iter().map(|item| Item { name: &item.name, fact: fact(item), doc: &item.doc }).collect()
}

pub(super) fn show(view: &View<'_>, item: &Entry) -> String {
    let header = &view.registry.layouts[item.header];
    let padded = if item.align > 1 { format!("padded to {} bytes", item.align) } else { String::new() };
    let facts = ["entry, repeated".to_owned(), padded, source(&item.source)];
    let mut out = view.head(&item.name, &facts, &item.doc);
    out.push_str(&view.heading(&format!("header: {}, {} bytes", header.name, header.size)));
    out.push_str(&layout::body(view, header));
    out.push_str(&view.heading(&format!("payload: {} bytes", header.fields[item.payload].name)));
    let Some(select) = &item.select else { return out };
    let mut table = Table::new([left(&header.fields[select.field].name), left("layout"), left("meaning")]);
    for choice in &select.choices {
        let in_messages: Vec<_> =
            choice.messages.iter().map(|at| view.registry.messages[*at].name.as_str()).collect();
        let only = match in_messages.as_slice() {
            [] => String::new(),
            names => format!(" Only in {}.", names.join(", ")),
        };
        table.row([
            cell(Ink::Bold, choice.name.as_str()),
            view.registry.layouts[choice.layout].name.as_str().into(),
            format!("{}{only}", choice.doc).trim().into(),
        ]);
    }
    if !select.choices.is_empty() {
        out.push_str(&table.draw(WIDTH, 2, view.paint));
    }
    out
}
