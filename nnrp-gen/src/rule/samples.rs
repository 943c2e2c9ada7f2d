//! A layout for the tests of this module, small enough to try every value.

use super::eval::Values;
use super::names::{Names, Symbol};
use super::tree::{FieldRef, Presence, Space};

/// Names and their symbols; an enum is a name and its values.
pub(super) struct Sample {
    symbols: Vec<(&'static str, Symbol)>,
    enums: Vec<(&'static str, &'static [(&'static str, u64)])>,
}

pub(super) fn own(index: usize) -> FieldRef {
    FieldRef { space: Space::Own, index }
}

fn header(index: usize) -> FieldRef {
    FieldRef { space: Space::Header, index }
}

fn int(field: FieldRef, min: i128, max: i128, bits: u32, enumeration: Option<usize>) -> Symbol {
    Symbol::Int { field, min, max, bits, enumeration }
}

/// Fields of few values each.
pub(super) fn tiny() -> Sample {
    let mask = own(3);
    Sample {
        symbols: vec![
            ("x", int(own(0), 0, 3, 8, None)),
            ("y", int(own(1), -2, 2, 8, None)),
            ("state", int(own(2), 0, 255, 8, Some(0))),
            ("flags", Symbol::Mask { field: mask, bits: 8, known: 0b101 }),
            ("flags.low", Symbol::Flag { field: mask, mask: 1 }),
            ("flags.high", Symbol::Flag { field: mask, mask: 4 }),
            ("on", Symbol::Bool { field: own(4) }),
            ("header.x", int(header(0), 0, 2, 8, None)),
            ("body.ext.extra", Symbol::Present(Presence { segment: 0, value: 7, flag: None })),
        ],
        enums: vec![("states", &[("idle", 0), ("busy", 2), ("done", 3)]), ("few", &[("one", 1), ("two", 2)])],
    }
}

/// Fields as a real layout has them.
pub(super) fn wide() -> Sample {
    let mask = own(3);
    Sample {
        symbols: vec![
            ("small", int(own(0), 0, 255, 8, None)),
            ("signed", int(own(1), -128, 127, 8, None)),
            ("status", int(own(2), 0, 255, 8, Some(0))),
            ("flags", Symbol::Mask { field: mask, bits: 16, known: 0b11 }),
            ("flags.partial", Symbol::Flag { field: mask, mask: 1 }),
            ("flags.terminal", Symbol::Flag { field: mask, mask: 2 }),
            ("fatal", Symbol::Bool { field: own(4) }),
            ("count", int(own(5), 0, i128::from(u32::MAX), 32, None)),
            ("total", int(own(6), 0, i128::from(u32::MAX), 32, None)),
            ("type", int(own(7), 0, i128::from(u16::MAX), 16, None)),
            ("id", int(own(8), 0, i128::from(u64::MAX), 64, None)),
            ("rate", Symbol::Unusable { why: "a float" }),
            ("source", int(own(9), 0, 255, 8, Some(1))),
            ("target", int(own(10), 0, 255, 8, Some(1))),
            ("header.session_id", int(header(0), 0, i128::from(u32::MAX), 32, None)),
            ("body.ext.cancel_scope", Symbol::Present(Presence { segment: 0, value: 0x4002, flag: None })),
        ],
        enums: vec![
            ("session_status", &[("opened", 0), ("resumed", 1), ("rejected", 2), ("small", 3)]),
            ("transport", &[("unspecified", 0), ("quic", 1), ("tcp", 2)]),
        ],
    }
}

impl Names for Sample {
    fn lookup(&self, path: &[&str]) -> Option<Symbol> {
        let path = path.join(".");
        self.symbols.iter().find(|(name, _)| *name == path).map(|(_, symbol)| *symbol)
    }

    fn field(&self, wanted: FieldRef) -> Option<Symbol> {
        self.symbols.iter().map(|(_, symbol)| *symbol).find(|symbol| match symbol {
            Symbol::Int { field, .. } | Symbol::Bool { field } | Symbol::Mask { field, .. } => {
                *field == wanted
            }
            _ => false,
        })
    }

    fn enum_named(&self, name: &str) -> Option<usize> {
        self.enums.iter().position(|(known, _)| *known == name)
    }

    fn enum_value(&self, enumeration: usize, name: &str) -> Option<u64> {
        let (_, values) = self.enums.get(enumeration)?;
        values.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    fn values(&self, enumeration: usize) -> Vec<(u64, u64)> {
        self.enums
            .get(enumeration)
            .map_or(Vec::new(), |(_, values)| values.iter().map(|(_, v)| (*v, *v)).collect())
    }

    fn candidates(&self) -> Vec<String> {
        self.symbols.iter().map(|(name, _)| (*name).to_owned()).collect()
    }

    fn enum_candidates(&self, enumeration: Option<usize>) -> Vec<String> {
        match enumeration {
            None => self.enums.iter().map(|(name, _)| (*name).to_owned()).collect(),
            Some(index) => self
                .enums
                .get(index)
                .map_or(Vec::new(), |(_, v)| v.iter().map(|(n, _)| (*n).to_owned()).collect()),
        }
    }
}

/// One assignment of values to the fields of [`tiny`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    own: [i128; 5],
    header: i128,
    extra: bool,
}

/// All assignments that [`tiny`] allows.
pub(super) fn points() -> Vec<Point> {
    let mut all = Vec::new();
    for x in 0..=3 {
        for y in -2..=2 {
            for state in [0, 2, 3] {
                for flags in [0, 1, 4, 5] {
                    for on in [0, 1] {
                        for header in 0..=2 {
                            for extra in [false, true] {
                                all.push(Point { own: [x, y, state, flags, on], header, extra });
                            }
                        }
                    }
                }
            }
        }
    }
    all
}

impl Values for Point {
    fn int(&self, field: FieldRef) -> i128 {
        match field.space {
            Space::Own => self.own.get(field.index).copied().unwrap_or(0),
            Space::Header => self.header,
        }
    }

    fn present(&self, _: Presence) -> bool {
        self.extra
    }

    fn in_enum(&self, enumeration: usize, value: i128) -> bool {
        tiny()
            .values(enumeration)
            .iter()
            .any(|(min, max)| (i128::from(*min)..=i128::from(*max)).contains(&value))
    }
}

/// Numbers that look random and are the same in every run (xorshift64*).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % end.max(1)
    }

    pub(super) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}
