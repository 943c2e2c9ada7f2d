//! How bodies are walked: entries, slices, words, and what their parts owe one another.
//!
//! Tables that come from the registry say what to look for; nothing here allocates, and everything
//! takes time in proportion to the bytes. The tables are constants: where their methods are inlined,
//! each field is read at a place that the compiler knows, as if the code had been written for it.

use super::{Fault, FaultKind, Site};

mod entries;
mod order;
mod select;
mod slices;
mod slots;
mod tensor;
mod tiles;
mod words;

pub use entries::*;
pub use order::*;
pub use select::*;
pub use slices::*;
pub use slots::*;
pub use tensor::*;
pub use tiles::*;
pub use words::*;

/// Bytes of a packet and where in it they start.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    /// The bytes.
    pub bytes: &'a [u8],
    /// Their first byte, counted from the start of the packet.
    pub at: usize,
}

impl<'a> Piece<'a> {
    /// Where it ends.
    const fn end(&self) -> usize {
        self.at + self.bytes.len()
    }

    /// Its first `N` bytes, which are there.
    pub fn whole<const N: usize>(&self) -> &'a [u8; N] {
        self.bytes.first_chunk().unwrap_or(&[0; N])
    }

    /// Its first bytes, at most `size` of them.
    pub fn front(&self, size: usize) -> Piece<'a> {
        self.sub(0, size)
    }

    /// Its first bytes and what is behind them, if it has so many.
    #[inline]
    fn split(&self, size: usize) -> Option<(Piece<'a>, Piece<'a>)> {
        let (front, back) = self.bytes.split_at_checked(size)?;
        Some((Piece { bytes: front, at: self.at }, Piece { bytes: back, at: self.at + size }))
    }

    /// The bytes from `from`, at most `size` of them.
    #[inline]
    fn sub(&self, from: usize, size: usize) -> Piece<'a> {
        let from = from.min(self.bytes.len());
        let size = size.min(self.bytes.len() - from);
        Piece { bytes: self.bytes.get(from..from + size).unwrap_or_default(), at: self.at + from }
    }
}

/// A fault at a byte of the packet.
#[cold]
const fn fault(site: &'static Site, at: usize, kind: FaultKind) -> Fault {
    Fault::new(site, 0, kind).behind(at)
}

/// A field as a number: where it is and how to blame it.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// First byte in its layout.
    pub offset: u32,
    /// Bytes of it.
    pub size: u32,
    /// Whether its most significant byte comes first.
    pub big: bool,
    /// How to blame it.
    pub site: Site,
}

impl Place {
    /// The number in the bytes of its layout.
    #[inline(always)]
    pub fn read(&self, layout: &[u8]) -> u64 {
        let from = self.offset as usize;
        number(layout.get(from..from + self.size as usize).unwrap_or_default(), self.big)
    }

    /// A fault in it, in a layout that starts at `base`.
    #[cold]
    pub const fn blame(&'static self, base: usize, kind: FaultKind) -> Fault {
        fault(&self.site, base + self.offset as usize, kind)
    }
}

/// The bytes of a scalar as a number.
#[inline(always)]
fn number(bytes: &[u8], big: bool) -> u64 {
    let (little, missing) = match *bytes {
        [a] => (u64::from(a), 56),
        [a, b] => (u64::from(u16::from_le_bytes([a, b])), 48),
        [a, b, c, d] => (u64::from(u32::from_le_bytes([a, b, c, d])), 32),
        [a, b, c, d, e, f, g, h] => (u64::from_le_bytes([a, b, c, d, e, f, g, h]), 0),
        // No scalar has another size; this is a field of bytes that are not there.
        _ => (0, 0),
    };
    if big { little.swap_bytes() >> missing } else { little }
}

/// A layout: its size and its check.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Bytes.
    pub size: u32,
    /// The first fault of that many bytes.
    pub check: fn(&[u8]) -> Option<Fault>,
}

impl Shape {
    /// Checks one at the start of `piece`.
    #[inline(always)]
    pub fn one(&self, piece: Piece<'_>) -> Result<(), Fault> {
        match (self.check)(piece.bytes) {
            None => Ok(()),
            Some(fault) => Err(fault.behind(piece.at)),
        }
    }

    /// Checks as many as `piece` holds.
    #[inline(always)]
    pub fn all(&self, piece: Piece<'_>) -> Result<(), Fault> {
        let size = self.size.max(1) as usize;
        for (row, bytes) in piece.bytes.chunks_exact(size).enumerate() {
            self.one(Piece { bytes, at: piece.at + row * size })?;
        }
        Ok(())
    }
}

/// Cuts a body into segments, or the rest of a prelude into parts, from front to back.
#[derive(Clone, Copy, Debug)]
pub struct Cut<'a> {
    rest: Piece<'a>,
}

impl<'a> Cut<'a> {
    /// Starts at the front.
    pub const fn new(piece: Piece<'a>) -> Self {
        Self { rest: piece }
    }

    /// The next `length` bytes, which a field at `at` declares.
    #[inline]
    pub fn take(&mut self, length: u64, site: &'static Site, at: usize) -> Result<Piece<'a>, Fault> {
        let Some((taken, rest)) =
            usize::try_from(length).ok().and_then(|length| self.rest.bytes.split_at_checked(length))
        else {
            return Err(fault(site, at, FaultKind::Length));
        };
        let piece = Piece { bytes: taken, at: self.rest.at };
        self.rest = Piece { bytes: rest, at: piece.end() };
        Ok(piece)
    }

    /// All that is left.
    #[inline]
    pub fn rest(&mut self) -> Piece<'a> {
        let piece = self.rest;
        self.rest = Piece { bytes: &[], at: piece.end() };
        piece
    }

    /// Nothing is left.
    #[inline]
    pub fn end(self, last: &'static Site) -> Result<(), Fault> {
        if self.rest.bytes.is_empty() { Ok(()) } else { Err(fault(last, self.rest.at, FaultKind::Length)) }
    }

    /// Nothing is left, or a field at `at` is to blame.
    #[inline]
    pub fn nothing(self, site: &'static Site, at: usize) -> Result<(), Fault> {
        if self.rest.bytes.is_empty() { Ok(()) } else { Err(fault(site, at, FaultKind::Length)) }
    }
}

/// A number of bytes as a length field would have it; one that does not fit is refused by the reader.
pub fn length<T: TryFrom<usize>>(bytes: usize, most: T) -> T {
    T::try_from(bytes).unwrap_or(most)
}

/// Bytes of so many rows; more than any slice has where that overflows.
pub fn length_of(rows: u64, row: usize) -> usize {
    usize::try_from(rows).unwrap_or(usize::MAX).saturating_mul(row)
}

/// A condition that fails blames a field at `at`.
#[inline]
pub const fn need(holds: bool, site: &'static Site, at: usize, kind: FaultKind) -> Result<(), Fault> {
    if holds { Ok(()) } else { Err(fault(site, at, kind)) }
}
