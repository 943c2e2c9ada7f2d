//! Bytes of a packet and where in it they stand.

use crate::codec::Fault;
use crate::codec::number::raw;
use crate::model::{Layout, Registry};
use crate::wire::FaultKind;

/// Bytes of a packet and where in it they start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece<'a> {
    pub bytes: &'a [u8],
    /// Their first byte, counted from the start of the packet.
    pub at: usize,
}

impl<'a> Piece<'a> {
    /// How many bytes.
    pub fn len(self) -> usize {
        self.bytes.len()
    }

    pub fn is_empty(self) -> bool {
        self.bytes.is_empty()
    }

    /// Where it ends.
    pub fn end(self) -> usize {
        self.at + self.bytes.len()
    }

    /// The bytes from `from`, at most `size` of them.
    pub fn sub(self, from: usize, size: usize) -> Self {
        let (front, rest) = self.split(from);
        let size = size.min(rest.len());
        Self { bytes: &rest.bytes[..size], at: front.end() }
    }

    /// The first `size` bytes, or all where there are fewer, and what is behind them.
    pub fn split(self, size: usize) -> (Self, Self) {
        let (front, rest) = self.bytes.split_at(size.min(self.bytes.len()));
        (Self { bytes: front, at: self.at }, Self { bytes: rest, at: self.at + front.len() })
    }

    /// The pieces of `size` bytes in it; what is left over is in none.
    pub fn rows(self, size: u32) -> impl Iterator<Item = Self> + use<'a> {
        let size = (size as usize).max(1);
        let rows = self.bytes.chunks_exact(size).enumerate();
        rows.map(move |(row, bytes)| Self { bytes, at: self.at + row * size })
    }

    /// A field of the layout that starts here, as a number without a sign.
    pub fn read(self, layout: &Layout, field: usize) -> u64 {
        let field = layout.fields.get(field);
        let bytes = field.and_then(|field| self.bytes.get(field.range()));
        bytes.map_or(0, |bytes| raw(bytes, layout.byte_order))
    }

    /// A fault in a field of the layout that starts here.
    pub fn blame(self, layout: &Layout, field: usize, kind: FaultKind, id: &str) -> Fault {
        match layout.fields.get(field) {
            Some(field) => Fault::at(&layout.name, &field.name, self.at + field.offset as usize, kind, id),
            None => Fault::at(&layout.name, "", self.at, kind, id),
        }
    }

    /// Checks that these bytes are exactly one layout.
    pub fn is_one(self, registry: &Registry, layout: &Layout) -> Result<(), Fault> {
        match crate::codec::fault(registry, layout, self.bytes) {
            Some(fault) => Err(fault.behind(self.at)),
            None => Ok(()),
        }
    }

    /// Checks each layout that these bytes hold.
    pub fn are_all(self, registry: &Registry, layout: &Layout) -> Result<(), Fault> {
        self.rows(layout.size).try_for_each(|row| row.is_one(registry, layout))
    }
}

/// Cuts pieces from the front of bytes.
pub(super) struct Cut<'a> {
    pub rest: Piece<'a>,
}

impl<'a> Cut<'a> {
    /// The next `length` bytes, or nothing where fewer are left.
    pub fn take(&mut self, length: u64) -> Option<Piece<'a>> {
        let length = usize::try_from(length).ok().filter(|length| *length <= self.rest.len())?;
        Some(self.take_most(length))
    }

    /// The next `length` bytes, or what is left.
    pub fn take_most(&mut self, length: usize) -> Piece<'a> {
        let (taken, rest) = self.rest.split(length);
        self.rest = rest;
        taken
    }
}

/// A condition, or the fault of it.
pub(super) fn need(holds: bool, fault: impl FnOnce() -> Fault) -> Result<(), Fault> {
    if holds { Ok(()) } else { Err(fault()) }
}

/// Bytes of so many rows; more than any slice has where that overflows.
pub(super) fn bytes_of(rows: u64, row: u32) -> usize {
    usize::try_from(rows.saturating_mul(u64::from(row))).unwrap_or(usize::MAX)
}
