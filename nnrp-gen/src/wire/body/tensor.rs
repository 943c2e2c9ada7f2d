//! Tensor sections.

use super::super::{Fault, FaultKind, Site};
use super::{Cut, Piece, Place, Shape, fault, need};

/// Tensor sections and tile indexes, which tables cannot describe.
#[derive(Clone, Copy, Debug)]
pub struct Tensor {
    /// How to blame an object as a whole.
    pub object: Site,
    /// The inline object's field that gives its bytes.
    pub bytes: Place,
    /// How to blame a section as a whole.
    pub section: Site,
    /// What every section starts with.
    pub descriptor: Shape,
    /// The descriptor's `role_id`.
    pub role: Place,
    /// The descriptor's `section_flags`, and the bit for a fixed stride.
    pub fixed_stride: (Place, u64),
    /// The descriptor's `codec_table_bytes`.
    pub codec_table: Place,
    /// The descriptor's `length_table_bytes`.
    pub length_table: Place,
    /// The descriptor's `payload_bytes`.
    pub payload: Place,
    /// The descriptor's `payload_stride_bytes`.
    pub stride: Place,
    /// Whether lengths and tile ids have their most significant byte first.
    pub big: bool,
}

/// A section of a tensor.
#[derive(Clone, Copy, Debug)]
pub struct Section<'a> {
    /// Its descriptor.
    pub descriptor: Piece<'a>,
    /// The codec of each tile; empty where all have the same.
    pub codec_table: &'a [u8],
    /// The length of each tile, four bytes each; empty with a fixed stride.
    pub length_table: &'a [u8],
    /// The tiles.
    pub payload: &'a [u8],
}

impl Tensor {
    /// The sum of a table of lengths.
    #[inline(always)]
    fn sum(&self, lengths: &[u8]) -> u64 {
        let (lengths, _) = lengths.as_chunks::<4>();
        // Each way is one loop without a choice in it.
        if self.big {
            lengths.iter().map(|length| u64::from(u32::from_be_bytes(*length))).sum()
        } else {
            lengths.iter().map(|length| u64::from(u32::from_le_bytes(*length))).sum()
        }
    }

    /// The descriptor of the section behind the one that ends at `at`.
    #[inline(always)]
    fn descriptor<'a>(&'static self, table: Piece<'a>, at: usize) -> Result<Piece<'a>, Fault> {
        let start = at.next_multiple_of(8);
        let padding = table.sub(at, start - at);
        if let Some(byte) = padding.bytes.iter().position(|byte| *byte != 0) {
            return Err(fault(&self.section, padding.at + byte, FaultKind::Reserved));
        }
        need(padding.bytes.len() == start - at, &self.section, table.end(), FaultKind::TooShort)?;
        let descriptor = table.sub(start, self.descriptor.size as usize);
        self.descriptor.one(descriptor)?;
        Ok(descriptor)
    }

    /// What is behind a descriptor, and where in the table it ends.
    #[inline(always)]
    fn section<'a>(
        &'static self,
        table: Piece<'a>,
        descriptor: Piece<'a>,
    ) -> Result<(Section<'a>, usize), Fault> {
        let mut cut = Cut::new(table.sub(descriptor.end() - table.at, usize::MAX));
        let mut take = |field: &'static Place| {
            cut.take(field.read(descriptor.bytes), &field.site, descriptor.at + field.offset as usize)
        };
        let codec_table = take(&self.codec_table)?.bytes;
        let length_table = take(&self.length_table)?.bytes;
        let payload = take(&self.payload)?;
        let end = payload.end() - table.at;
        Ok((Section { descriptor, codec_table, length_table, payload: payload.bytes }, end))
    }

    /// Checks the sections of a table.
    #[inline(always)]
    pub fn sections(&'static self, table: Piece<'_>, count: u64, tiles: u64) -> Result<(), Fault> {
        let mut at = 0_usize;
        let mut before = None;
        for _ in 0..count {
            let descriptor = self.descriptor(table, at)?;
            self.shape(descriptor, &mut before, tiles)?;
            let (section, end) = self.section(table, descriptor)?;
            let (fixed, bit) = &self.fixed_stride;
            let expected = if fixed.read(descriptor.bytes) & bit != 0 {
                self.stride.read(descriptor.bytes).checked_mul(tiles)
            } else {
                Some(self.sum(section.length_table))
            };
            if expected != Some(section.payload.len() as u64) {
                return Err(self.payload.blame(descriptor.at, FaultKind::Length));
            }
            at = end;
        }
        need(at == table.bytes.len(), &self.object, table.at + at, FaultKind::Length)
    }

    /// What a descriptor says of its tables.
    #[inline(always)]
    fn shape(
        &'static self,
        descriptor: Piece<'_>,
        before: &mut Option<u64>,
        tiles: u64,
    ) -> Result<(), Fault> {
        let role = self.role.read(descriptor.bytes);
        if before.is_some_and(|before| role <= before) {
            return Err(self.role.blame(descriptor.at, FaultKind::Rule));
        }
        *before = Some(role);
        let codecs = self.codec_table.read(descriptor.bytes);
        if codecs != 0 && codecs != tiles {
            return Err(self.codec_table.blame(descriptor.at, FaultKind::Length));
        }
        let (fixed, bit) = &self.fixed_stride;
        let lengths = if fixed.read(descriptor.bytes) & bit != 0 { 0 } else { tiles.saturating_mul(4) };
        if self.length_table.read(descriptor.bytes) != lengths {
            return Err(self.length_table.blame(descriptor.at, FaultKind::Length));
        }
        Ok(())
    }

    /// The sections of a checked table.
    pub fn iter<'a>(&'static self, table: &'a [u8]) -> impl Iterator<Item = Section<'a>> + Clone + use<'a> {
        let table = Piece { bytes: table, at: 0 };
        let mut at = 0_usize;
        core::iter::from_fn(move || {
            if at >= table.bytes.len() {
                return None;
            }
            let (section, end) = self.section(table, self.descriptor(table, at).ok()?).ok()?;
            at = end;
            Some(section)
        })
    }
}
