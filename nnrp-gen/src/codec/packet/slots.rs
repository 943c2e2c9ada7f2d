//! What the parts of a body owe the metadata and one another.

use std::cmp::Ordering;

use crate::codec::Fault;
use crate::model::{Body, Content, Entry, Layout, ObjectSize, Registry, Slots, Sorted};
use crate::wire::FaultKind;

use super::block::{self, Found};
use super::check::Frame;
use super::piece::{Piece, need};

/// The place of an object among all, and its bit if it is a standard one.
fn rank(slots: &Slots, kind: u64) -> (u64, Option<u64>) {
    let position = slots.order.iter().position(|(standard, _)| *standard == kind);
    match position {
        Some(position) => (position as u64, Some(slots.order[position].1)),
        None => ((slots.order.len() as u64).saturating_add(kind), None),
    }
}

/// Whether an object may follow one of rank `before`.
fn follows(before: Option<u64>, (rank, bit): (u64, Option<u64>)) -> bool {
    before.is_none_or(|before| if bit.is_some() { rank > before } else { rank >= before })
}

/// The first object of a kind in a part of entries.
pub(super) fn object<'a>(
    registry: &Registry,
    entry: &Entry,
    block: Piece<'a>,
    kind: u64,
) -> Option<Found<'a>> {
    let key = entry.select.as_ref()?.field;
    let layout = &registry.layouts[entry.header];
    block::entries(registry, entry, block).find(|found| found.header.read(layout, key) == kind)
}

impl<'p> Frame<'p, '_> {
    /// Checks slots, order, sizes and tensors of a body that is good by itself.
    pub(super) fn parts_agree(&self, body: usize, piece: Piece<'_>) -> Result<(), Fault> {
        let message = self.message;
        if message.slots.is_none()
            && message.sorted.is_empty()
            && message.sizes.is_empty()
            && message.tensor.is_none()
        {
            return Ok(());
        }
        let body = &self.packets.registry.bodies[body];
        let parts = self.cut_parts(body, piece)?;
        if let Some(slots) = &message.slots {
            self.slots(body, slots, &parts)?;
        }
        message.sorted.iter().try_for_each(|sorted| self.sorted(body, sorted, &parts))?;
        message.sizes.iter().try_for_each(|size| self.size(body, size, &parts))?;
        message.tensor.as_ref().map_or(Ok(()), |tensor| self.tensor(body, tensor, &parts))
    }

    /// The entry that a part holds.
    pub(super) fn entry_of(&self, body: &Body, part: usize) -> Option<&'p Entry> {
        match body.parts.get(part)?.content {
            Content::Entry(entry) => self.packets.registry.entries.get(entry),
            _ => None,
        }
    }

    fn slots(&self, body: &Body, slots: &Slots, parts: &[Piece<'_>]) -> Result<(), Fault> {
        let (Some(entry), Content::Layout(rows)) =
            (self.entry_of(body, slots.inline.0), body.parts[slots.references.0].content)
        else {
            return Ok(());
        };
        let mask = self.number(slots.mask);
        let mode = slots.mode.map(|(field, reference, mixed)| {
            let mode = self.number(field);
            (field, mode == reference, mode == mixed)
        });
        let by_reference = mode.is_some_and(|(_, reference, _)| reference);
        let (layout, key) = (self.packets.layout(entry.header), slots.inline.1);
        let mut before = None;
        let mut standard_inline = false;
        for found in block::entries(self.packets.registry, entry, parts[slots.inline.0]) {
            let rank = rank(slots, found.header.read(layout, key));
            let referenced = rank.1.is_some_and(|bit| mask & bit != 0 || by_reference);
            let good = follows(before, rank) && !referenced;
            need(good, || found.header.blame(layout, key, FaultKind::Rule, &slots.id))?;
            standard_inline |= rank.1.is_some();
            before = Some(rank.0);
        }
        let (layout, key) = (self.packets.layout(rows), slots.references.1);
        let mut before = None;
        let mut found = 0;
        for row in parts[slots.references.0].rows(layout.size) {
            let rank = rank(slots, row.read(layout, key));
            let unasked = rank.1.is_some_and(|bit| mask & bit == 0);
            let good = follows(before, rank) && !unasked;
            need(good, || row.blame(layout, key, FaultKind::Rule, &slots.id))?;
            found |= rank.1.unwrap_or(0);
            before = Some(rank.0);
        }
        let standard = slots.order.iter().fold(0, |bits, (_, bit)| bits | bit);
        need(mask & standard == found, || self.blame(slots.mask, FaultKind::Rule, &slots.id))?;
        match mode {
            Some((field, _, true)) if !standard_inline => Err(self.blame(field, FaultKind::Rule, &slots.id)),
            _ => Ok(()),
        }
    }

    fn sorted(&self, body: &Body, sorted: &Sorted, parts: &[Piece<'_>]) -> Result<(), Fault> {
        let part = parts[sorted.part];
        match body.parts[sorted.part].content {
            Content::Layout(layout) => {
                let layout = self.packets.layout(layout);
                ascend(layout, sorted, part.rows(layout.size))
            }
            Content::Entry(entry) => {
                let registry = self.packets.registry;
                let entry = &registry.entries[entry];
                let headers = block::entries(registry, entry, part).map(|found| found.header);
                ascend(self.packets.layout(entry.header), sorted, headers)
            }
            _ => Ok(()),
        }
    }

    fn size(&self, body: &Body, size: &ObjectSize, parts: &[Piece<'_>]) -> Result<(), Fault> {
        let Some(entry) = self.entry_of(body, size.part) else { return Ok(()) };
        let object = object(self.packets.registry, entry, parts[size.part], size.kind);
        let bytes = object.map_or(0, |object| object.payload.len() as u64);
        need(self.number(size.field) == bytes, || self.blame(size.field, FaultKind::Length, &size.id))
    }
}

/// Checks that rows or headers ascend.
fn ascend<'a>(layout: &Layout, sorted: &Sorted, rows: impl Iterator<Item = Piece<'a>>) -> Result<(), Fault> {
    let Some(first) = sorted.by.first() else { return Ok(()) };
    let key = |row: Piece<'_>| sorted.by.iter().map(|field| row.read(layout, *field)).collect::<Vec<_>>();
    let mut before: Option<Vec<u64>> = None;
    for row in rows {
        let key = key(row);
        let order = before.as_ref().map_or(Ordering::Less, |before| before.cmp(&key));
        let good = order.is_lt() || (order.is_eq() && !sorted.strict);
        need(good, || row.blame(layout, *first, FaultKind::Rule, &sorted.id))?;
        before = Some(key);
    }
    Ok(())
}
