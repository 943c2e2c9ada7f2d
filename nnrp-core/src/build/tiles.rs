//! Tile indexes (B9).

use alloc::vec::Vec;

use crate::TileIndexMode;

/// The tiles of a frame and how their ids are written.
///
/// The order of the ids is the order of the tiles in every section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tiles<'a> {
    /// `count` ids from `base` up. Takes no bytes.
    Range {
        /// The first id.
        base: u32,
        /// How many.
        count: u16,
    },
    /// Ids in any order, two bytes each.
    Raw(&'a [u16]),
    /// Ids that do not descend, written as the steps between them, two bytes each.
    Delta(&'a [u16]),
    /// Ids that ascend, written as a bit each from `base` on.
    Bits {
        /// The id that the first bit stands for.
        base: u32,
        /// The ids, none below `base`.
        ids: &'a [u32],
    },
}

impl Tiles<'_> {
    /// How the index is written.
    pub const fn mode(&self) -> TileIndexMode {
        match self {
            Self::Range { .. } => TileIndexMode::DenseRange,
            Self::Raw(_) => TileIndexMode::RawU16,
            Self::Delta(_) => TileIndexMode::DeltaU16,
            Self::Bits { .. } => TileIndexMode::Bitset,
        }
    }

    /// The first id of a range, and the id of the first bit.
    pub const fn base(&self) -> u32 {
        match self {
            Self::Range { base, .. } | Self::Bits { base, .. } => *base,
            Self::Raw(_) | Self::Delta(_) => 0,
        }
    }

    /// How many tiles there are. More than 65535 cannot be counted; a reader refuses them.
    pub fn count(&self) -> u16 {
        let ids = match self {
            Self::Range { count, .. } => return *count,
            Self::Raw(ids) | Self::Delta(ids) => ids.len(),
            Self::Bits { ids, .. } => ids.len(),
        };
        u16::try_from(ids).unwrap_or(u16::MAX)
    }

    /// The index block; empty for a range.
    ///
    /// What cannot be written comes out such that a reader refuses it: a step back as one over the largest id, an id out
    /// of order as a bit that is missing.
    pub fn to_vec(&self) -> Vec<u8> {
        match self {
            Self::Range { .. } => Vec::new(),
            Self::Raw(ids) => ids.iter().flat_map(|id| id.to_le_bytes()).collect(),
            Self::Delta(ids) => {
                let mut before = 0;
                let step = |id: &u16| id.wrapping_sub(core::mem::replace(&mut before, *id));
                ids.iter().map(step).flat_map(u16::to_le_bytes).collect()
            }
            Self::Bits { base, ids } => bits(*base, ids),
        }
    }
}

/// A bit for each id that is above the one before.
fn bits(base: u32, ids: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut next = base;
    let mut full = false;
    for id in ids {
        if *id < next || full {
            continue;
        }
        let bit = (*id - base) as usize;
        bytes.resize(bit / 8 + 1, 0);
        if let Some(byte) = bytes.last_mut() {
            *byte |= 1 << (bit % 8);
        }
        full = *id == u32::MAX;
        next = id.saturating_add(1);
    }
    bytes
}
