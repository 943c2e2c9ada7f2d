//! Enums and bitmasks: their values, numbers and names.

use core::fmt;

/// A number that is no value of an enum, or a name that names nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UnknownValue {
    /// The enum or bitmask.
    pub of: &'static str,
}

impl fmt::Display for UnknownValue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "no value of `{}`", self.of)
    }
}

impl core::error::Error for UnknownValue {}

/// The names of a bitmask's set bits, joined by ` | `; 0 for none.
pub fn write_bits(out: &mut fmt::Formatter<'_>, bits: u64, names: &[(&'static str, u64)]) -> fmt::Result {
    let mut rest = bits;
    let mut between = "";
    for (name, mask) in names {
        if bits & mask != 0 {
            write!(out, "{between}{name}")?;
            between = " | ";
            rest &= !mask;
        }
    }
    match rest {
        0 if between.is_empty() => out.write_str("0"),
        0 => Ok(()),
        rest => write!(out, "{between}{rest:#x}"),
    }
}

/// What [`write_bits`] wrote; nothing where a name is not known.
pub fn read_bits(text: &str, names: &[(&'static str, u64)]) -> Option<u64> {
    if text.trim() == "0" {
        return Some(0);
    }
    text.split('|').try_fold(0, |bits, name| {
        let found = names.iter().find(|(known, _)| *known == name.trim());
        found.map(|(_, mask)| bits | mask)
    })
}

/// An enum on the wire: what `derive(WireEnum)` and the registry make.
pub trait WireEnum: Copy + fmt::Debug + 'static {
    /// The integer that it is: `u8`, `u16`, `u32` or `u64`.
    type Raw: Unsigned;

    /// Its name in a registry.
    const NAME: &'static str;

    /// The listed values, by their names in a registry.
    const NAMES: &'static [(&'static str, u64)];

    /// The ranges of values without a name of their own: what they are called, first and last.
    const RANGES: &'static [(&'static str, u64, u64)];

    /// The accepted numbers as inclusive spans, ascending.
    const SPANS: &'static [(u64, u64)];

    /// Whether a number is a value of it.
    fn accepts(raw: u64) -> bool;

    /// The value of that number, if it is one.
    fn from_raw(raw: Self::Raw) -> Option<Self>;

    /// The number on the wire.
    fn raw(self) -> Self::Raw;

    /// The name in the registry, if the value is listed.
    fn name(self) -> Option<&'static str>;

    /// The value of a number that was checked to be one.
    #[doc(hidden)]
    fn checked(number: u64) -> Self;

    /// [`Self::raw`] as the widest number.
    #[doc(hidden)]
    fn number(self) -> u64;
}

/// An integer that enums and bitmasks can be.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no `u8`, `u16`, `u32` or `u64`",
    note = "enums and bitmasks on the wire are unsigned integers of 8, 16, 32 or 64 bits"
)]
pub trait Unsigned: Copy + 'static {}

impl Unsigned for u8 {}
impl Unsigned for u16 {}
impl Unsigned for u32 {}
impl Unsigned for u64 {}
