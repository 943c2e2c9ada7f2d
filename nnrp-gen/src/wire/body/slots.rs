//! Standard objects, inline or by reference.

use super::super::{Fault, FaultKind};
use super::{Entries, Piece, Place};

/// Which standard objects travel by reference and which inline.
#[derive(Clone, Copy, Debug)]
pub struct Slots {
    /// The standard objects in order: the number of each and its bit.
    pub order: &'static [(u64, u64)],
    /// The entries that hold inline objects, and their field that says which object one is.
    pub inline: (&'static Entries, Place),
    /// Bytes of a reference, and its field that says which object one is.
    pub references: (u32, Place),
    /// The metadata field whose bits say which objects are referenced.
    pub mask: Place,
    /// The metadata field that says how objects travel, and its values for reference and mixed.
    pub mode: Option<(Place, u64, u64)>,
}

impl Slots {
    /// The place of an object among all, and its bit if it is a standard one.
    #[inline(always)]
    fn rank(&self, kind: u64) -> (u64, Option<u64>) {
        match self.order.iter().position(|(standard, _)| *standard == kind) {
            Some(position) => (position as u64, self.order.get(position).map(|(_, bit)| *bit)),
            None => ((self.order.len() as u64).saturating_add(kind), None),
        }
    }

    /// Whether an object may follow one of rank `before`.
    #[inline(always)]
    fn follows(before: Option<u64>, rank: u64, standard: bool) -> bool {
        before.is_none_or(|before| if standard { rank > before } else { rank >= before })
    }

    /// Checks objects and references against the metadata.
    #[inline(always)]
    pub fn check(
        &'static self,
        metadata: Piece<'_>,
        inline: Piece<'_>,
        references: Piece<'_>,
    ) -> Result<(), Fault> {
        let mask = self.mask.read(metadata.bytes);
        let mode = self.mode.as_ref().map(|(field, _, _)| field.read(metadata.bytes));
        let by_reference = self.mode.as_ref().is_some_and(|(_, reference, _)| mode == Some(*reference));
        let mut before = None;
        let mut standard_inline = false;
        let (entries, key) = (self.inline.0, &self.inline.1);
        for entry in entries.iter(inline) {
            let (rank, bit) = self.rank(key.read(entry.header.bytes));
            let referenced = bit.is_some_and(|bit| mask & bit != 0 || by_reference);
            if !Self::follows(before, rank, bit.is_some()) || referenced {
                return Err(key.blame(entry.header.at, FaultKind::Rule));
            }
            standard_inline |= bit.is_some();
            before = Some(rank);
        }
        let mut before = None;
        let mut found = 0;
        let (size, key) = (self.references.0.max(1) as usize, &self.references.1);
        for (at, row) in references.bytes.chunks_exact(size).enumerate() {
            let (rank, bit) = self.rank(key.read(row));
            let unasked = bit.is_some_and(|bit| mask & bit == 0);
            if !Self::follows(before, rank, bit.is_some()) || unasked {
                return Err(key.blame(references.at + at * size, FaultKind::Rule));
            }
            found |= bit.unwrap_or(0);
            before = Some(rank);
        }
        let standard = self.order.iter().fold(0, |bits, (_, bit)| bits | bit);
        if mask & standard != found {
            return Err(self.mask.blame(metadata.at, FaultKind::Rule));
        }
        match &self.mode {
            Some((field, _, mixed)) if mode == Some(*mixed) && !standard_inline => {
                Err(field.blame(metadata.at, FaultKind::Rule))
            }
            _ => Ok(()),
        }
    }
}
