//! Enums.

use crate::model::{Enum, Registry};

use super::super::WIDTH;
use super::super::paint::Ink;
use super::super::table::{Table, cell, counted, left, right};
use super::{Item, View, number, source, uses};

pub(super) fn items(registry: &Registry) -> Vec<Item<'_>> {
    let fact = |item: &Enum| {
        let open = if item.is_open() { ", open" } else { "" };
        format!("{} {}{open}", counted(item.values.len(), "value", "values"), item.ty.name())
    };
    registry.enums.iter().map(|item| Item { name: &item.name, fact: fact(item), doc: &item.doc }).collect()
}

pub(super) fn show(view: &View<'_>, item: &Enum) -> String {
    let size = item.ty.size();
    let most = item.spans().last().map_or(0, |span| span.1);
    let kind = if item.is_open() { "open enum" } else { "enum" };
    let facts = [kind.to_owned(), item.ty.name().to_owned(), source(&item.source)];
    let mut table = Table::new([right("value"), left("name"), left("doc")]);
    for value in &item.values {
        let name = cell(Ink::Bold, value.name.as_str());
        table.row([number(value.value, size, most).into(), name, value.doc.as_str().into()]);
    }
    for range in &item.ranges {
        let span = format!("{}..{}", number(range.from, size, most), number(range.to, size, most));
        let family = range.family.map(|family| format!("Values of `{}`.", view.registry.enums[family].name));
        let doc = [Some(range.doc.clone()), family].into_iter().flatten().collect::<Vec<_>>().join(" ");
        table.row([span.into(), cell(Ink::Dim, format!("({})", range.name)), doc.trim().into()]);
    }
    let used = uses::of_enum(view.registry, uses::position(&view.registry.enums, item));
    let head = view.head(&item.name, &facts, &item.doc);
    format!("{head}\n{}{}", table.draw(WIDTH, 0, view.paint), view.paragraph("used by", &used.join(", ")))
}
