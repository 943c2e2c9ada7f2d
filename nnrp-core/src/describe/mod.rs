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
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no layout",
    note = "derive `Layout` for it as well: `#[derive(Layout, ProfileDescriptor)]`"
)]
pub trait Described {
    /// The layout as data.
    const DEFINITION: &'static Layout;
}

/// A layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Its name in a registry.
    pub name: &'static str,
    /// Its canonical form but for the version.
    pub form: &'static [Part],
    /// Its table in a registry file, in pieces.
    pub text: &'static [&'static str],
}

/// A piece of a canonical form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The bytes themselves.
    Bytes(&'static [u8]),
    /// An enum.
    Enum(Enum),
    /// A bitmask.
    Bitmask(Bitmask),
    /// A layout.
    Layout(&'static Layout),
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

/// The bytes of an integer type.
pub const fn bytes_of<T: Unsigned>() -> u8 {
    size_of::<T>() as u8
}
