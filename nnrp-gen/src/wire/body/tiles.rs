//! Which tiles there are.

use super::super::{Fault, FaultKind};
use super::{Entry, Tensor, need, number};

impl Tensor {
    /// Checks a tile index, which by its mode has no bytes, two a tile, or bits.
    #[inline(always)]
    pub fn tiles(&'static self, index: Entry<'_>, mode: TileMode, tiles: u64) -> Result<(), Fault> {
        let bytes = index.payload.bytes;
        let fits = match mode {
            TileMode::Dense => bytes.is_empty(),
            TileMode::Raw | TileMode::Delta => bytes.len() as u64 == tiles.saturating_mul(2),
            TileMode::Bits => bytes.is_empty() == (tiles == 0),
        };
        if !fits {
            return Err(self.bytes.blame(index.header.at, FaultKind::Length));
        }
        match mode {
            TileMode::Dense | TileMode::Raw => Ok(()),
            TileMode::Delta => {
                let mut sum = 0;
                for (step, id) in bytes.chunks_exact(2).enumerate() {
                    sum += number(id, self.big);
                    need(sum <= 0xffff, &self.object, index.payload.at + 2 * step, FaultKind::Rule)?;
                }
                Ok(())
            }
            TileMode::Bits => {
                let set = bytes.iter().fold(0, |set, byte| set + u64::from(byte.count_ones()));
                need(set == tiles, &self.object, index.payload.at, FaultKind::Rule)?;
                let last = index.payload.end() - usize::from(!bytes.is_empty());
                need(bytes.last() != Some(&0), &self.object, last, FaultKind::Rule)
            }
        }
    }

    /// The ids of the tiles of a checked index.
    pub fn tile_ids<'a>(&self, index: &'a [u8], mode: TileMode, base: u32, tiles: u16) -> TileIds<'a> {
        TileIds { index, mode, big: self.big, base: u64::from(base), at: 0, sum: 0, left: tiles }
    }
}

/// How a tile index names tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TileMode {
    /// One after the other from the base.
    Dense,
    /// Two bytes a tile.
    Raw,
    /// Two bytes for the first, then steps.
    Delta,
    /// A bit for each tile from the base that is there.
    Bits,
}

/// The ids of tiles, one by one.
#[derive(Clone, Debug)]
pub struct TileIds<'a> {
    index: &'a [u8],
    mode: TileMode,
    big: bool,
    base: u64,
    at: usize,
    sum: u64,
    left: u16,
}

impl Iterator for TileIds<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.left = self.left.checked_sub(1)?;
        let at = self.at;
        self.at += 1;
        if self.mode == TileMode::Dense {
            return Some(self.base + at as u64);
        }
        if self.mode == TileMode::Bits {
            let bit = (at..self.index.len().saturating_mul(8))
                .find(|bit| self.index.get(bit / 8).is_some_and(|byte| byte >> (bit % 8) & 1 != 0))?;
            self.at = bit + 1;
            return Some(self.base + bit as u64);
        }
        let bytes: [u8; 2] = *self.index.get(2 * at..)?.first_chunk()?;
        let id = u64::from(if self.big { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) });
        self.sum = if self.mode == TileMode::Raw { id } else { self.sum + id };
        Some(self.sum)
    }
}
