//! Layouts: a diagram, a table of their fields, their rules.

use crate::codec::{bytes_as_text, integer};
use crate::model::{Element, Field, Layout, Meaning, Registry, Rule, Scalar};
use crate::rule::FieldRef;

use super::super::WIDTH;
use super::super::paint::Ink;
use super::super::table::{Cell, Table, cell, left, right};
use super::{Item, View, byte_order, diagram, source, uses};

pub(super) fn items(registry: &Registry) -> Vec<Item<'_>> {
    let fact = |item: &Layout| format!("{} bytes", item.size);
    registry.layouts.iter().map(|item| Item { name: &item.name, fact: fact(item), doc: &item.doc }).collect()
}

pub(super) fn show(view: &View<'_>, item: &Layout) -> String {
    let facts = [
        "layout".to_owned(),
        format!("{} bytes", item.size),
        byte_order(item.byte_order),
        source(&item.source),
    ];
    let mut out = view.head(&item.name, &facts, &item.doc);
    out.push_str(&body(view, item));
    let used = uses::of_layout(view.registry, uses::position(&view.registry.layouts, item));
    out.push_str(&view.paragraph("used by", &used.join(", ")));
    out
}

/// The diagram, the table of fields and the rules.
pub(super) fn body(view: &View<'_>, item: &Layout) -> String {
    let mut out = format!("\n{}\n", diagram::draw(view.registry, item, view.paint));
    out.push_str(&fields(view, item).draw(WIDTH, 0, view.paint));
    if !item.rules.is_empty() {
        out.push_str(&view.heading("rules"));
        let blamed =
            |field: FieldRef| item.fields.get(field.index).map_or("", |field| &field.name).to_owned();
        let all: Vec<_> = item.rules.iter().collect();
        out.push_str(&rules(&all, &blamed).draw(WIDTH, 2, view.paint));
    }
    out
}

fn fields(view: &View<'_>, item: &Layout) -> Table {
    let mut table =
        Table::new([right("offset"), right("bytes"), left("field"), left("type").most(26), left("meaning")]);
    for field in &item.fields {
        let reserved = field.meaning == Meaning::Reserved;
        let name = cell(if reserved { Ink::Dim } else { Ink::Bold }, field.name.as_str());
        table.row([
            field.offset.to_string().into(),
            cell(Ink::Dim, field.size.to_string()),
            name,
            type_of(view.registry, field),
            meaning(item, field),
        ]);
    }
    table
}

/// The type, with the enum or bitmask that its numbers are of.
fn type_of(registry: &Registry, field: &Field) -> Cell {
    let ty = field.type_name(registry);
    match &field.meaning {
        Meaning::Enum(item) => format!("{ty} {}", registry.enums[*item].name).into(),
        Meaning::Bitmask(mask) => format!("{ty} {}", registry.bitmasks[*mask].name).into(),
        Meaning::Bool => format!("{ty} bool").into(),
        Meaning::Reserved => cell(Ink::Dim, ty),
        _ if !field.unit.is_empty() => format!("{ty} {}", field.unit).into(),
        _ => ty.into(),
    }
}

fn meaning(layout: &Layout, field: &Field) -> Cell {
    let first = match &field.meaning {
        Meaning::Reserved => return cell(Ink::Dim, "reserved, 0"),
        Meaning::Constant(bytes) => Some(format!("Always {}.", constant(layout, field, bytes))),
        _ => None,
    };
    let since = field.since.as_ref().map(|since| format!("Since {since}."));
    let deprecated = field.deprecated.as_ref().map(|why| format!("Deprecated: {why}"));
    let doc = (!field.doc.is_empty()).then(|| field.doc.clone());
    [first, doc, since, deprecated].into_iter().flatten().collect::<Vec<_>>().join(" ").into()
}

/// A constant in short.
pub(super) fn constant(layout: &Layout, field: &Field, bytes: &[u8]) -> String {
    match (field.element, field.count) {
        (Element::Scalar(scalar), None) => match integer(bytes, scalar, layout.byte_order) {
            number @ ..256 => number.to_string(),
            number => format!("{number:#x}"),
        },
        (Element::Scalar(Scalar::U8), Some(_)) => {
            let text = bytes_as_text(bytes);
            if text.starts_with("0x") { text } else { format!("\"{text}\"") }
        }
        _ => bytes_as_text(bytes),
    }
}

/// Rules as a table; `blamed` names the field that one blames.
pub(super) fn rules(list: &[&Rule], blamed: &dyn Fn(FieldRef) -> String) -> Table {
    let mut table = Table::new([left(""), left(""), left("")]);
    for rule in list {
        let mut id = cell(Ink::Bold, rule.id.as_str());
        let (when, require) = &rule.text;
        if let Some(when) = when {
            table.row([std::mem::take(&mut id), cell(Ink::Dim, "when"), when.as_str().into()]);
        }
        table.row([id, cell(Ink::Dim, "require"), require.as_str().into()]);
        let error = rule.error.as_ref().map_or(String::new(), |error| format!(", error {error}"));
        let text = format!("{} Blames {}{error}.", rule.doc, blamed(rule.blame));
        table.row(["".into(), "".into(), cell(Ink::Dim, text.trim())]);
    }
    table
}
