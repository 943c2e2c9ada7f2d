//! What generated codecs share: faults, the table of a layout's fields, and byte helpers.
//!
//! This module is part of the generator, which uses it itself, and of everything that it generates.

mod bytes;
mod fault;
mod field;
mod layout;
mod value;
mod write;

pub use bytes::*;
pub use fault::*;
pub use field::*;
pub use layout::*;
pub use value::*;
pub use write::*;

/// A standard schema: both sides know it without sending it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schema {
    /// Which schema.
    pub schema_id: u32,
    /// Which version of it.
    pub schema_version: u32,
    /// Its name.
    pub name: &'static str,
    /// Name of the profile that it belongs to.
    pub profile: &'static str,
    /// Name of its default stream semantics.
    pub semantics: &'static str,
}

/// Whether two names are the same but for their case.
#[doc(hidden)]
pub const fn same_name(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let mut at = 0;
    while at < left.len() && at < right.len() {
        if !left[at].eq_ignore_ascii_case(&right[at]) {
            return false;
        }
        at += 1;
    }
    left.len() == right.len()
}

pub mod body;
