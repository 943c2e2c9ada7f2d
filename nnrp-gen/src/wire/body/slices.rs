//! Rows that slice another part.

use super::super::{Fault, FaultKind, Site};
use super::{Piece, Place, Select, need};

/// How the rows of one part slice another.
#[derive(Clone, Copy, Debug)]
pub struct Slices {
    /// How to blame what no row names.
    pub site: Site,
    /// Bytes of a row.
    pub row: u32,
    /// The row's field for the first byte.
    pub offset: Place,
    /// The row's field for the bytes.
    pub size: Place,
    /// What slices hold.
    pub select: Option<Select>,
}

impl Slices {
    /// Checks that the rows slice the part from end to end.
    #[inline(always)]
    pub fn check(&'static self, rows: Piece<'_>, part: Piece<'_>, message: u64) -> Result<(), Fault> {
        let mut end = 0;
        let mut seen = 0;
        let step = self.row.max(1) as usize;
        for (at, row) in rows.bytes.chunks_exact(step).enumerate() {
            let base = rows.at + at * step;
            if self.offset.read(row) != end as u64 {
                return Err(self.offset.blame(base, FaultKind::Length));
            }
            let declared = usize::try_from(self.size.read(row)).ok();
            let Some(size) = declared.filter(|size| *size <= part.bytes.len() - end) else {
                return Err(self.size.blame(base, FaultKind::Length));
            };
            if let Some(select) = &self.select {
                select.check(row, base, part.sub(end, size), message, &mut seen)?;
            }
            end += size;
        }
        need(end == part.bytes.len(), &self.site, part.at + end, FaultKind::Length)
    }

    /// The slice that a checked row names.
    pub fn of<'a>(&self, row: &[u8], part: &'a [u8]) -> &'a [u8] {
        let read = |place: &Place| usize::try_from(place.read(row)).unwrap_or(usize::MAX);
        let from = read(&self.offset);
        let to = from.saturating_add(read(&self.size));
        part.get(from..to).unwrap_or_default()
    }
}
