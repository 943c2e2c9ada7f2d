//! Messages: header, metadata and body together.

use crate::model::{Direction, Layout, Message, Registry, Segment};
use crate::rule::Space;

use super::super::WIDTH;
use super::super::paint::Ink;
use super::super::table::{Table, cell, left};
use super::{Item, View, content, held, layout, source};

fn direction(item: &Message) -> &'static str {
    match item.direction {
        Direction::ToServer => "to the server",
        Direction::ToClient => "to the client",
        Direction::Both => "both ways",
    }
}

pub(super) fn items(registry: &Registry) -> Vec<Item<'_>> {
    let fact = |item: &Message| format!("{:#04x}", item.value);
    registry.messages.iter().map(|item| Item { name: &item.name, fact: fact(item), doc: &item.doc }).collect()
}

pub(super) fn show(view: &View<'_>, item: &Message) -> String {
    let scope = item.scope.join(", ").replace('_', " ");
    let facts = [
        format!("message {:#04x}", item.value),
        direction(item).to_owned(),
        if scope.is_empty() { scope } else { format!("scope {scope}") },
        source(&item.source),
    ];
    let mut out = view.head(&item.name, &facts, &item.doc);
    let metadata = item.metadata.map(|metadata| &view.registry.layouts[metadata]);
    let header = view.registry.protocol.header.map(|header| &view.registry.layouts[header]);
    out.push_str(&part(view, "header", header, true));
    out.push_str(&part(view, "metadata", metadata, !view.brief));
    if item.segments.is_empty() {
        out.push_str(&view.heading("body: none"));
    } else {
        out.push_str(&view.heading("body"));
        out.push_str(&segments(view, item, metadata).draw(WIDTH, 2, view.paint));
        out.push_str(&held::of_message(view, item));
    }
    let rules: Vec<_> = item.scope_rules.iter().chain(&item.rules).collect();
    if !rules.is_empty() {
        out.push_str(&view.heading("rules of the message"));
        let blamed = |field: crate::rule::FieldRef| {
            let (prefix, layout) = match field.space {
                Space::Own => ("", metadata),
                Space::Header => {
                    ("header.", view.registry.protocol.header.map(|header| &view.registry.layouts[header]))
                }
            };
            let field = layout.and_then(|layout| layout.fields.get(field.index));
            format!("{prefix}{}", field.map_or("", |field| field.name.as_str()))
        };
        out.push_str(&layout::rules(&rules, &blamed).draw(WIDTH, 2, view.paint));
    }
    out
}

fn part(view: &View<'_>, heading: &str, layout: Option<&Layout>, drawn: bool) -> String {
    let Some(layout) = layout else { return view.heading(&format!("{heading}: none")) };
    let mut out = view.heading(&format!("{heading}: {}, {} bytes", layout.name, layout.size));
    if drawn {
        out.push_str(&layout::body(view, layout));
    }
    out
}

fn segments(view: &View<'_>, item: &Message, metadata: Option<&Layout>) -> Table {
    let field = |at: usize| {
        let field = metadata.and_then(|metadata| metadata.fields.get(at));
        field.map_or("", |field| field.name.as_str())
    };
    let mut table = Table::new([left("segment"), left("bytes"), left("holds").most(30), left("meaning")]);
    for segment in &item.segments {
        let length = segment.length.map_or_else(|| cell(Ink::Dim, "the rest"), |at| field(at).into());
        let holds = holds(view.registry, item, segment, &field);
        table.row([
            cell(Ink::Bold, segment.name.as_str()),
            length,
            holds.into(),
            segment.doc.as_str().into(),
        ]);
    }
    table
}

/// What a segment holds, always and for some values of its selector.
fn holds<'a>(
    registry: &Registry,
    item: &Message,
    segment: &Segment,
    field: &impl Fn(usize) -> &'a str,
) -> String {
    let mut list = vec![content(registry, segment.content)];
    if let Some(count) = segment.count {
        list.push(format!("counted by {}", field(count)));
    }
    let selector = segment.select.and_then(|select| {
        let metadata = &registry.layouts[item.metadata?];
        match metadata.fields.get(select)?.meaning {
            crate::model::Meaning::Enum(item) => Some(&registry.enums[item]),
            _ => None,
        }
    });
    for case in &segment.cases {
        let name = selector.and_then(|selector| selector.value(case.value));
        let value = name.map_or_else(|| case.value.to_string(), |value| value.name.clone());
        let select = segment.select.map_or("", field);
        list.push(format!("{} for {select} {value}", content(registry, case.content)));
    }
    list.join(", ")
}
