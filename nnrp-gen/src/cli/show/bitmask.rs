//! Bitmasks.

use crate::model::{Bitmask, Registry};

use super::super::WIDTH;
use super::super::paint::Ink;
use super::super::table::{Table, cell, counted, left, right};
use super::{Item, View, source, uses};

pub(super) fn items(registry: &Registry) -> Vec<Item<'_>> {
    let fact = |item: &Bitmask| format!("{} {}", counted(item.bits.len(), "bit", "bits"), item.ty.name());
    registry.bitmasks.iter().map(|item| Item { name: &item.name, fact: fact(item), doc: &item.doc }).collect()
}

pub(super) fn show(view: &View<'_>, item: &Bitmask) -> String {
    let digits = item.ty.size() as usize * 2;
    let facts = ["bitmask".to_owned(), item.ty.name().to_owned(), source(&item.source)];
    let mut table = Table::new([right("bit"), left("mask"), left("name"), left("doc")]);
    for bit in &item.bits {
        table.row([
            bit.mask.trailing_zeros().to_string().into(),
            cell(Ink::Dim, format!("{:#0width$x}", bit.mask, width = digits + 2)),
            cell(Ink::Bold, bit.name.as_str()),
            bit.doc.as_str().into(),
        ]);
    }
    let used = uses::of_bitmask(view.registry, uses::position(&view.registry.bitmasks, item));
    let head = view.head(&item.name, &facts, &item.doc);
    format!("{head}\n{}{}", table.draw(WIDTH, 0, view.paint), view.paragraph("used by", &used.join(", ")))
}
