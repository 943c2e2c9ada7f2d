//! Rows that ascend.

use super::super::{Fault, FaultKind};
use super::{Piece, Place};

/// How neighbours compare by some fields, the first deciding first.
fn compare(by: &[Place], before: &[u8], row: &[u8]) -> core::cmp::Ordering {
    let unequal =
        |place: &Place| Some(place.read(before).cmp(&place.read(row))).filter(|order| order.is_ne());
    by.iter().find_map(unequal).unwrap_or(core::cmp::Ordering::Equal)
}

/// Checks that rows or headers ascend by some fields.
pub fn sorted<'a>(
    rows: impl Iterator<Item = Piece<'a>>,
    by: &'static [Place],
    strict: bool,
) -> Result<(), Fault> {
    let mut before: Option<Piece<'a>> = None;
    for row in rows {
        if let (Some(before), Some(first)) = (before, by.first()) {
            let order = compare(by, before.bytes, row.bytes);
            if order.is_gt() || (strict && order.is_eq()) {
                return Err(first.blame(row.at, FaultKind::Rule));
            }
        }
        before = Some(row);
    }
    Ok(())
}

/// The rows of a part.
pub fn rows(part: Piece<'_>, size: u32) -> impl Iterator<Item = Piece<'_>> {
    let size = size.max(1) as usize;
    part.bytes.chunks_exact(size).enumerate().map(move |(at, bytes)| Piece { bytes, at: part.at + at * size })
}
