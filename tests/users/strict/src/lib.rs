//! A crate that forbids and denies what it can, without std, under another name of the core.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs, missing_debug_implementations, missing_copy_implementations, unreachable_pub)]
#![deny(warnings, unused, nonstandard_style, future_incompatible, rust_2018_idioms, unused_qualifications)]
#![deny(clippy::all, clippy::pedantic)]

use wire_protocol::{Layout, ProfileDescriptor, Reserved, WireEnum};

/// How samples are coded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, WireEnum)]
#[repr(u8)]
pub enum Codec {
    /// Not coded.
    Pcm,
    /// What both sides agreed on.
    #[wire(range = 0x80..)]
    Private(u8),
}

bitflags::bitflags! {
    /// What a chunk is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Flags: u8 {
        /// The last one.
        const LAST = 1;
    }
}

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Layout)]
pub struct Key {
    /// Its number.
    pub number: u32,
}

/// A chunk.
#[derive(Clone, Copy, Debug, PartialEq, Layout, ProfileDescriptor)]
#[layout(rule(id = "C1", when = "codec == pcm && flags.last", require = "rate > 0 || !more"))]
#[profile(id = 0x8001, schema_id = 0x0001_0000, schema_version = 1)]
pub struct Chunk {
    /// Its codec.
    #[layout(enum = u8)]
    pub codec: Codec,
    /// What it is.
    #[layout(bitmask = u16)]
    pub flags: Flags,
    /// Whether more follows.
    pub more: bool,
    /// Its rate.
    pub rate: i32,
    /// Its keys.
    #[layout(layout = 4)]
    pub keys: [Key; 2],
    /// Its levels.
    pub levels: [f32; 2],
    /// Not used any more.
    #[layout(deprecated = "by levels", since = "0.2")]
    pub level: u8,
    place: Reserved<3>,
}

/// Where nobody else looks.
mod hidden {
    use wire_protocol::Layout;

    #[derive(Clone, Copy, Debug, Layout)]
    pub(super) struct Inner {
        pub(super) number: u8,
    }
}

/// Uses what is hidden, and as little of it as possible.
///
/// # Errors
///
/// What is wrong with the bytes.
pub fn number(bytes: &[u8]) -> Result<u8, wire_protocol::wire::Fault> {
    Ok(hidden::Inner::decode(bytes)?.number)
}
