//! Entries: a header, a payload and padding, repeated.

use crate::model::{Choice, Entry, Layout, Registry, Select};

use super::super::WIDTH;
use super::super::paint::Ink;
use super::super::table::{Table, cell, left};
use super::{Item, View, layout, source};

pub(super) fn items(registry: &Registry) -> Vec<Item<'_>> {
    let fact = |item: &Entry| registry.layouts[item.header].name.clone();
    registry.entries.iter().map(|item| Item { name: &item.name, fact: fact(item), doc: &item.doc }).collect()
}

pub(super) fn show(view: &View<'_>, item: &Entry) -> String {
    let padded = if item.align > 1 { format!("padded to {} bytes", item.align) } else { String::new() };
    let facts = ["entry, repeated".to_owned(), padded, source(&item.source)];
    let mut out = view.head(&item.name, &facts, &item.doc);
    out.push_str(&body(view, item, None));
    out
}

/// The header and what payloads are, in one message or in all.
pub(super) fn body(view: &View<'_>, item: &Entry, message: Option<usize>) -> String {
    let header = &view.registry.layouts[item.header];
    let mut out = view.heading(&format!("header: {}, {} bytes", header.name, header.size));
    out.push_str(&layout::body(view, header));
    out.push_str(&view.heading(&format!("payload: {} bytes", header.fields[item.payload].name)));
    out.push_str(
        &item.select.as_ref().map_or(String::new(), |select| payloads(view, header, select, message)),
    );
    out
}

/// What a selector says of payloads.
pub(super) fn payloads(view: &View<'_>, layout: &Layout, select: &Select, message: Option<usize>) -> String {
    let mut table = Table::new([left(&layout.fields[select.field].name), left("layout"), left("meaning")]);
    let here = |choice: &&Choice| {
        choice.messages.is_empty() || message.is_none_or(|message| choice.messages.contains(&message))
    };
    let choices: Vec<_> = select.choices.iter().filter(here).collect();
    for choice in &choices {
        let in_messages: Vec<_> =
            choice.messages.iter().map(|at| view.registry.messages[*at].name.as_str()).collect();
        let only = match in_messages.as_slice() {
            [] => String::new(),
            _ if message.is_some() => String::new(),
            names => format!(" Only in {}.", names.join(", ")),
        };
        table.row([
            cell(Ink::Bold, choice.name.as_str()),
            view.registry.layouts[choice.layout].name.as_str().into(),
            format!("{}{only}", choice.doc).trim().into(),
        ]);
    }
    if choices.is_empty() { String::new() } else { table.draw(WIDTH, 2, view.paint) }
}
