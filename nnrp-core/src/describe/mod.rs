//! Layouts as data: what a schema body holds, and what a registry would say.
//!
//! Every layout has a [`Layout`] of this module as a constant, so that what is made of it is made while compiling:
//! [`body`] is its canonical binary form, [`digest`] the digest of that, [`text`] the layout as registry TOML.
//!
//! # The canonical binary form
//!
//! The form says all that decides which bytes are good and what they are called, and nothing else: docs and units are
//! not part of it. Two programs that agree on a layout have the same bytes here, whatever compiler and machine made
//! them. All numbers are little-endian; *text* is a `u16` length and so many bytes of UTF-8; *list of x* is a `u16`
//! count and so many x.
//!
//! | part | bytes |
//! | --- | --- |
//! | form | `u8` version of the form, 1; then *layout* |
//! | layout | *text* name; `u8` byte order, 0 little and 1 big; `u32` size; *list of field*; *list of rule*; *list of enum*, those that only rules name |
//! | field | *text* name; `u32` offset; *element*; `u32` how many in a row, 0 for no array; *meaning* |
//! | element | `u8`: 0 to 9 for u8, u16, u32, u64, i8, i16, i32, i64, f32, f64; 255 for a layout, and *layout* |
//! | meaning | `u8`: 0 plain; 1 reserved; 2 constant, and `u32` length and the bytes on the wire; 3 bool; 4 *enum*; 5 *bitmask* |
//! | enum | *text* name; `u8` bytes; *list of value*, ascending; *list of range*, ascending |
//! | value | `u64` number; *text* name |
//! | range | `u64` first; `u64` last; *text* name |
//! | bitmask | *text* name; `u8` bytes; `u64` all known bits; *list of* `u64` mask and *text* name, ascending |
//! | rule | *text* id; *text* when, empty without; *text* require; *text* the field that is blamed |
//!
//! Names are those that a registry would have: `AudioChunk` is `audio_chunk`, the bit `LAST` is `last`. Fields stand by
//! offset, rules as they were written, with one space where there was any.
//!
//! # The digest
//!
//! The first eight bytes of the SHA-256 of the form, read as a little-endian number.

mod digest;
mod form;
mod sink;
mod toml;

use crate::wire::{Unsigned, WireEnum};

pub use digest::{digest, sha256};
pub use form::{body, body_len};
pub use toml::{text, text_len};

/// What has a description: every layout.
pub trait Described {
    /// The layout as data.
    const DEFINITION: &'static Layout;
}

/// A layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Its name in a registry.
    pub name: &'static str,
    /// Its bytes.
    pub size: u32,
    /// Whether the most significant byte of a number comes first.
    pub big: bool,
    /// What it is.
    pub doc: &'static str,
    /// Its fields, by offset and without a gap.
    pub fields: &'static [Field],
    /// What they must fulfil together.
    pub rules: &'static [Rule],
    /// Enums that the rules name and no field holds.
    pub enums: &'static [Enum],
}

/// A field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Its first byte.
    pub offset: u32,
    /// What it holds.
    pub element: Element,
    /// How many in a row; 0 where it is no array.
    pub count: u32,
    /// What its bits mean.
    pub meaning: Meaning,
    /// What it counts; may be empty.
    pub unit: &'static str,
    /// What it is for.
    pub doc: &'static str,
}

/// What a field holds one or several of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Element {
    U8,
    U16,
    U32,
    U64,
    I8,
    I16,
    I32,
    I64,
    F32,
    F64,
    /// Another layout.
    Layout(&'static Layout),
}

impl Element {
    /// Its bytes.
    pub const fn size(&self) -> u32 {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
            Self::Layout(layout) => layout.size,
        }
    }
}

/// What the bits of a field mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// Any value is good.
    Plain,
    /// They are zero.
    Reserved,
    /// They are these bytes on the wire.
    Constant(&'static [u8]),
    /// 0 or 1.
    Bool,
    /// A value of an enum.
    Enum(Enum),
    /// Bits of a bitmask.
    Bitmask(Bitmask),
}

/// An enum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Enum {
    /// Its name.
    pub name: &'static str,
    /// Its bytes.
    pub bytes: u8,
    /// Its values by name.
    pub values: &'static [(&'static str, u64)],
    /// Its ranges: what they are called, first and last.
    pub ranges: &'static [(&'static str, u64, u64)],
}

impl Enum {
    /// An enum as data.
    pub const fn of<T: WireEnum>() -> Self {
        Self { name: T::NAME, bytes: bytes_of::<T::Raw>(), values: T::NAMES, ranges: T::RANGES }
    }
}

/// A bitmask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bitmask {
    /// Its name.
    pub name: &'static str,
    /// Its bytes.
    pub bytes: u8,
    /// All known bits.
    pub known: u64,
    /// Bits by name.
    pub bits: &'static [(&'static str, u64)],
}

/// A rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its id.
    pub id: &'static str,
    /// When it applies; empty for always.
    pub when: &'static str,
    /// What must hold.
    pub require: &'static str,
    /// The field to blame.
    pub field: &'static str,
    /// Why.
    pub doc: &'static str,
}

/// The bytes of an integer type.
pub const fn bytes_of<T: Unsigned>() -> u8 {
    size_of::<T>() as u8
}
