//! The fields of a layout as data, to find the first fault once there is one.

use super::{Fault, FaultKind, Site};

/// A field of a layout as data: where it is and what its bytes must be.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Where to put the blame.
    pub site: Site,
    /// First byte.
    pub offset: u32,
    /// Bytes in all.
    pub size: u32,
    /// What must hold of them.
    pub test: Test,
}

/// What must hold of the bytes of a field.
#[derive(Clone, Copy, Debug)]
pub enum Test {
    /// Anything goes.
    Any,
    /// All are zero.
    Zero,
    /// They are these.
    Constant(&'static [u8]),
    /// As a little-endian number, no other bits are set.
    BitsLittle(u64),
    /// As a big-endian number, no other bits are set.
    BitsBig(u64),
    /// As a little-endian number, it lies in one of these inclusive spans.
    ValuesLittle(&'static [(u64, u64)]),
    /// As a big-endian number, it lies in one of these inclusive spans.
    ValuesBig(&'static [(u64, u64)]),
    /// They are layouts of that many bytes each, which this checks.
    Layouts(u32, fn(&[u8]) -> Option<Fault>),
}

/// The first fault among the fields of a layout, whose length is right.
#[cold]
pub fn first_fault(bytes: &[u8], fields: &'static [Field]) -> Option<Fault> {
    fields.iter().find_map(|field| field.fault(bytes))
}

impl Field {
    /// A field of a layout, and what must hold of its bytes.
    pub const fn new(layout: &'static str, field: &'static str, offset: u32, size: u32, test: Test) -> Self {
        Self { site: Site::field(layout, field), offset, size, test }
    }

    /// The same with an error code of its own.
    pub const fn code(self, code: u32) -> Self {
        Self { site: self.site.code(code), ..self }
    }

    fn fault(&'static self, bytes: &[u8]) -> Option<Fault> {
        let start = self.offset as usize;
        let bytes = bytes.get(start..start + self.size as usize)?;
        let little = || bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
        let big = || bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        let listed = |number: u64, spans: &[(u64, u64)]| {
            spans.iter().any(|&(from, to)| from <= number && number <= to)
        };
        let (good, kind) = match self.test {
            Test::Any => return None,
            Test::Zero => (bytes.iter().all(|byte| *byte == 0), FaultKind::Reserved),
            Test::Constant(constant) => (bytes == constant, FaultKind::Constant),
            Test::BitsLittle(known) => (little() & !known == 0, FaultKind::UnknownBits),
            Test::BitsBig(known) => (big() & !known == 0, FaultKind::UnknownBits),
            Test::ValuesLittle(spans) => (listed(little(), spans), FaultKind::UnknownValue),
            Test::ValuesBig(spans) => (listed(big(), spans), FaultKind::UnknownValue),
            Test::Layouts(size, check) => {
                let inner = |(at, bytes)| Some(check(bytes)?.behind(start + at * size as usize));
                return bytes.chunks(size.max(1) as usize).enumerate().find_map(inner);
            }
        };
        if good { None } else { Some(Fault::new(&self.site, self.offset, kind)) }
    }
}
