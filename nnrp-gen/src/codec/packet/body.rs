//! Bodies of several parts behind a prelude.

use std::collections::HashSet;

use crate::codec::Fault;
use crate::model::{Body, Content, Count, Part, Slices};
use crate::wire::FaultKind;

use super::block::Selector;
use super::check::Frame;
use super::piece::{Cut, Piece, bytes_of, need};

impl Frame<'_, '_> {
    /// Checks a body and what its parts hold.
    pub(super) fn parts(&self, body: &Body, piece: Piece<'_>) -> Result<(), Fault> {
        if piece.is_empty() && body.optional {
            return self.nothing_counted(body);
        }
        let pieces = self.cut_parts(body, piece)?;
        let prelude = self.packets.layout(body.prelude);
        for (part, held) in body.parts.iter().zip(&pieces) {
            match part.content {
                Content::Layout(layout) => {
                    held.are_all(self.packets.registry, self.packets.layout(layout))?
                }
                Content::Entry(entry) => {
                    self.entries(&self.packets.registry.entries[entry], *held)?;
                }
                _ => {}
            }
            if let Some((layout, count)) = part.leading {
                let layout = self.packets.layout(layout);
                let leading = held.sub(0, bytes_of(piece.read(prelude, count), layout.size));
                leading.are_all(self.packets.registry, layout)?;
            }
            if let Some(slices) = &part.slices {
                self.slices(body, part, slices, pieces[slices.rows], *held)?;
            }
        }
        Ok(())
    }

    /// Checks that the metadata counts nothing in a body that is absent.
    fn nothing_counted(&self, body: &Body) -> Result<(), Fault> {
        body.parts.iter().try_for_each(|part| {
            let Some(Count::Metadata(name)) = &part.count else { return Ok(()) };
            let fields = self.layout().map_or(&[][..], |layout| &layout.fields);
            match fields.iter().position(|field| field.name == *name) {
                Some(field) => {
                    need(self.number(field) == 0, || self.blame(field, FaultKind::Length, &part.id))
                }
                None => Ok(()),
            }
        })
    }

    /// Cuts a body into parts, which looks at the prelude and at sizes. An absent one has empty parts.
    pub(super) fn cut_parts<'a>(&self, body: &Body, piece: Piece<'a>) -> Result<Vec<Piece<'a>>, Fault> {
        if piece.is_empty() && body.optional {
            return Ok(vec![piece; body.parts.len()]);
        }
        let prelude = self.packets.layout(body.prelude);
        let (head, rest) = piece.split(prelude.size as usize);
        head.is_one(self.packets.registry, prelude)?;
        let mut cut = Cut { rest };
        let mut pieces = Vec::with_capacity(body.parts.len());
        for part in &body.parts {
            let wrong = |field| head.blame(prelude, field, FaultKind::Length, &part.id);
            let held = cut.take(head.read(prelude, part.length)).ok_or_else(|| wrong(part.length))?;
            need(self.fits(body, part, head, held), || wrong(part.length))?;
            if let Some((layout, count)) = part.leading {
                let leading = bytes_of(head.read(prelude, count), self.packets.layout(layout).size);
                need(leading <= held.len(), || wrong(count))?;
            }
            pieces.push(held);
        }
        need(cut.rest.is_empty(), || {
            let last = body.parts.last();
            let (name, id) = last.map_or(("", ""), |last| (&last.name, &last.id));
            Fault::at(&body.name, name, cut.rest.at, FaultKind::Length, id)
        })?;
        Ok(pieces)
    }

    /// Whether a part is a whole number of its layout, and the number that it should be.
    fn fits(&self, body: &Body, part: &Part, head: Piece<'_>, held: Piece<'_>) -> bool {
        let Content::Layout(layout) = part.content else { return true };
        let size = (self.packets.layout(layout).size as usize).max(1);
        let count = match &part.count {
            None => None,
            Some(Count::Prelude(field)) => Some(head.read(self.packets.layout(body.prelude), *field)),
            Some(Count::Metadata(name)) => Some(self.named(name)),
        };
        held.len().is_multiple_of(size) && count.is_none_or(|count| count == (held.len() / size) as u64)
    }

    /// Checks that the rows of one part slice another from end to end.
    fn slices(
        &self,
        body: &Body,
        part: &Part,
        slices: &Slices,
        rows: Piece<'_>,
        held: Piece<'_>,
    ) -> Result<(), Fault> {
        let layout = self.packets.layout(slices.layout);
        let mut seen = HashSet::new();
        let mut cut = Cut { rest: held };
        for row in rows.rows(layout.size) {
            let wrong = |field| row.blame(layout, field, FaultKind::Length, &part.id);
            let here = (cut.rest.at - held.at) as u64;
            need(row.read(layout, slices.offset) == here, || wrong(slices.offset))?;
            let slice = cut.take(row.read(layout, slices.size)).ok_or_else(|| wrong(slices.size))?;
            if let Some(select) = &slices.select {
                let selector = Selector { select, layout, length: slices.size, id: &part.id };
                self.selected(&selector, row, slice, &mut seen)?;
            }
        }
        need(cut.rest.is_empty(), || {
            Fault::at(&body.name, &part.name, cut.rest.at, FaultKind::Length, &part.id)
        })
    }
}
