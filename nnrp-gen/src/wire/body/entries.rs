//! Headers with payloads and padding.

use super::super::{Fault, FaultKind, Site};
use super::{Piece, Place, Select, Shape, fault};

/// Headers with payloads and zero padding, to the end of their segment.
#[derive(Clone, Copy, Debug)]
pub struct Entries {
    /// How to blame the entry as a whole.
    pub site: Site,
    /// The header.
    pub header: Shape,
    /// The header field that gives the payload's bytes.
    pub payload: Place,
    /// The boundary to which zero bytes pad an entry.
    pub align: u32,
    /// What payloads hold.
    pub select: Option<Select>,
    /// The header field whose values stand once in a block.
    pub unique: Option<Place>,
}

/// An entry: its header and its payload.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// The header.
    pub header: Piece<'a>,
    /// The payload, without padding.
    pub payload: Piece<'a>,
}

impl Entries {
    /// The first entry of `rest` and what is behind it.
    #[inline(always)]
    fn split<'a>(&'static self, rest: Piece<'a>) -> Result<(Entry<'a>, Piece<'a>), Fault> {
        let size = self.header.size as usize;
        let (header, left) = rest.split(size).unwrap_or((rest, Piece { bytes: &[], at: rest.end() }));
        self.header.one(header)?;
        let declared = usize::try_from(self.payload.read(header.bytes)).ok();
        let Some((payload, behind)) = declared.and_then(|length| left.split(length)) else {
            return Err(self.payload.blame(rest.at, FaultKind::Length));
        };
        let length = payload.bytes.len();
        // Neither sum overflows: both are lengths within one slice.
        let padding = (size + length).next_multiple_of(self.align.max(1) as usize) - (size + length);
        if let Some(at) = behind.bytes.iter().take(padding).position(|byte| *byte != 0) {
            return Err(fault(&self.site, behind.at + at, FaultKind::Reserved));
        }
        if behind.bytes.len() < padding {
            return Err(fault(&self.site, rest.end(), FaultKind::TooShort));
        }
        Ok((Entry { header, payload }, behind.sub(padding, usize::MAX)))
    }

    /// Checks a block of entries in a message.
    #[inline]
    pub fn check(&'static self, block: Piece<'_>, message: u64) -> Result<(), Fault> {
        if block.bytes.is_empty() { Ok(()) } else { self.check_some(block, message) }
    }

    #[inline(always)]
    fn check_some(&'static self, block: Piece<'_>, message: u64) -> Result<(), Fault> {
        let mut rest = block;
        let mut values = Values::new();
        let mut seen = 0;
        while !rest.bytes.is_empty() {
            let (entry, behind) = self.split(rest)?;
            if let Some(field) = &self.unique {
                let is_new =
                    values.add(field.read(entry.header.bytes), || self.earlier(block, rest.at, field));
                is_new.then_some(()).ok_or(field.blame(entry.header.at, FaultKind::Rule))?;
            }
            if let Some(select) = &self.select {
                select.check(entry.header.bytes, entry.header.at, entry.payload, message, &mut seen)?;
            }
            rest = behind;
        }
        Ok(())
    }

    /// The values of a field in the entries of `block` that start before `end`.
    fn earlier<'a>(
        &'static self,
        block: Piece<'a>,
        end: usize,
        field: &'static Place,
    ) -> impl Iterator<Item = u64> + use<'a> {
        self.iter(block)
            .take_while(move |entry| entry.header.at < end)
            .map(|entry| field.read(entry.header.bytes))
    }

    /// The entries of a checked block; of another, up to the first that is cut.
    #[inline]
    pub fn iter<'a>(&'static self, block: Piece<'a>) -> impl Iterator<Item = Entry<'a>> + Clone + use<'a> {
        let mut rest = block;
        core::iter::from_fn(move || {
            let (header, left) = rest.split(self.header.size as usize)?;
            let length = usize::try_from(self.payload.read(header.bytes)).ok()?;
            let (payload, behind) = left.split(length)?;
            let size = header.bytes.len() + length;
            let padding = size.next_multiple_of(self.align.max(1) as usize) - size;
            rest = behind.sub(padding, usize::MAX);
            Some(Entry { header, payload })
        })
    }

    /// Whether a block has an entry that is known in the message by that value, with that bool of its
    /// payload set.
    pub fn has(&'static self, block: Piece<'_>, message: u64, value: u64, flag: Option<&Place>) -> bool {
        let Some(select) = &self.select else { return false };
        self.iter(block).any(|entry| {
            select.choice(entry.header.bytes, message).is_some_and(|choice| choice.value == value)
                && flag.is_none_or(|flag| flag.read(entry.payload.bytes) != 0)
        })
    }
}

/// The values of a field that were seen: the first few one by one, then all 65536 as bits.
struct Values {
    few: [u64; Values::FEW],
    count: usize,
    many: Option<[u64; 1024]>,
}

impl Values {
    const FEW: usize = 16;

    const fn new() -> Self {
        Self { few: [0; Self::FEW], count: 0, many: None }
    }

    /// Adds a value, unless it is there. `earlier` gives the values so far, to turn to bits once.
    fn add<I: Iterator<Item = u64>>(&mut self, value: u64, earlier: impl FnOnce() -> I) -> bool {
        if self.many.is_none() {
            let seen = self.few.get(..self.count).unwrap_or_default();
            if seen.contains(&value) {
                return false;
            }
            if let Some(place) = self.few.get_mut(self.count) {
                *place = value;
                self.count += 1;
                return true;
            }
            let mut bits = [0; 1024];
            earlier().for_each(|value| _ = mark(&mut bits, value));
            self.many = Some(bits);
        }
        self.many.as_mut().is_none_or(|bits| mark(bits, value))
    }
}

/// Sets the bit of a value; whether it was clear.
fn mark(bits: &mut [u64; 1024], value: u64) -> bool {
    let value = value as usize % 65536;
    let Some(word) = bits.get_mut(value / 64) else { return true };
    let bit = 1 << (value % 64);
    let fresh = *word & bit == 0;
    *word |= bit;
    fresh
}

/// The first inline object of a kind.
#[inline]
pub fn object<'a>(entries: &'static Entries, block: Piece<'a>, key: &Place, kind: u64) -> Option<Entry<'a>> {
    if block.bytes.is_empty() {
        return None;
    }
    entries.iter(block).find(|entry| key.read(entry.header.bytes) == kind)
}
