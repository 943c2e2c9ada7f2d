//! A registry that passed every check: names resolved, sizes and masks worked out.
//!
//! Emitters and the registry-driven codec read this and nothing else, and cannot fail on it.
//!
//! # How a packet is checked
//!
//! Every language and the registry-driven codec report the first fault in this order. Offsets count
//! from the start of the packet; a fault names layout, field, offset, [kind](crate::wire::FaultKind)
//! and rule. "Length of x" below means kind `Length`, blaming field x at its offset.
//!
//! 1. The header: too short for its layout; its fields by offset; its rules.
//! 2. Length of the header's metadata length, unless it is the size of the message's metadata layout
//!    (0 without one). Length of the header's body length, unless header, metadata and body are
//!    exactly what is there. Neither has a rule.
//! 3. The metadata layout: fields, rules.
//! 4. The message's scope rules, then its rules that do not read the body.
//! 5. The cut of the body: segment by segment, Length of the metadata field that takes more than is
//!    left, with the segment's rule. What then is left over is the Length of the last segment (layout:
//!    the message; field: the segment; offset: the first byte left over), or of the header's body
//!    length where the message has no segments; it is the message that is to blame all the same.
//! 6. The segments in order, each by what it holds; an empty segment is absent and is not looked at,
//!    except for a count, which must be 0 then, and a body that is not optional.
//!    - Opaque: nothing.
//!    - Layouts: the size must be a multiple (Length of the metadata field or, for the rest, of the
//!      segment at the first byte of the incomplete one), then each is checked.
//!    - Entries, a body, words: below. A segment with `count`: Length of the count where it is not what
//!      is there.
//!    - Cases: where the selector has the case's value and the segment is not empty, what the case names,
//!      once; a layout of another size is the Length of the segment's metadata field, with the case's rule.
//! 7. The message's [`Slots`], [`Sorted`], [`ObjectSize`] and [`Tensor`], in this order.
//! 8. The message's rules that read the body.
//!
//! **Entries** (layout: the entry; field: none, unless said otherwise). Until the segment ends: the
//! header as a layout, `TooShort` where the rest is shorter; Length of the payload's length field where
//! more is declared than is left, with the entry's rule; padding that is not zero, `Reserved` of the
//! entry at the first such byte; padding that is cut, `TooShort` of the entry at the end, both with the
//! entry's rule. Then by the selector: a value that stands in the block already, `Rule` of the unique
//! field with the entry's rule; unknown in this message and critical, `Unsupported` of the selector
//! with the entry's rule. Known: refused as critical, `Rule` of the critical field; its `require`, `Rule`
//! of the field to blame; once and not the first, `Rule` of the selector, all with the choice's rule
//! (the entry's where it has none); Length of the payload's length field where it is not the layout's
//! size, with the same rule; then the payload as a layout.
//!
//! **A body.** Empty and optional is good where the metadata counts nothing in it: Length of the first count of
//! a part that is not 0, with the part's rule. Else the prelude as a layout. Then part by part: Length of its
//! length field where it takes more than is left, where it is no multiple of the part's layout, where
//! it is not what its count says, where it is less than its leading layouts (Length of their count
//! then); all with the part's rule. What is left over is the Length of the last part (layout: the body;
//! field: the part; offset: the first byte left over). Then the parts' contents in order: each layout;
//! the entries; each leading layout; the slices.
//!
//! **Slices**, row by row: Length of the row's offset field where it is not where the one before ended;
//! Length of its size field where it leaves the part; then by the selector as for entries, with the row in
//! place of the header, its size field in place of the payload's length field, and the part's rule in place of the entry's.
//! After the last row what is left over is the Length of the part (layout: the body; field: the part;
//! offset: the first byte that no row names). The part's rule everywhere.
//!
//! **Words.** Until the segment ends: a length that is cut, `TooShort` of the vocabulary at the end; a
//! length of 0 or more than is left, Length of the vocabulary (field: `length`) at the length; a byte
//! that is no lower-case letter, digit, `.`, `_` or `-`, or a word that is not registered,
//! `UnknownValue` (field: `word`) at the word's first byte; a word that is not above the one before,
//! `Rule` (field: `word`) at its first byte. Layout: the vocabulary; the vocabulary's rule everywhere.
//!
//! **Slots** (kind `Rule`, the row's id). The rank of an object is its place in `order`, or behind all of
//! them its number. Inline objects one by one: a rank that does not rise (a standard one) or falls
//! (another), blaming the header's key; a standard one whose bit is set, or that stands inline in
//! reference mode, the same. References one by one: the same order; a standard one whose bit is clear.
//! Then the mask field where a bit of a standard object is set without a reference, and the mode field where mode is
//! mixed and no standard object is inline.
//!
//! **Sorted** (kind `Rule`): the first `by` field of the first row or header that is below the one before,
//! or equal to it where strict. **Sizes**: Length of the metadata field that is not the size of the
//! first such inline object, or 0 without one.
//!
//! **Tensor** (the row's id everywhere). The first inline object of kind `section_table`, if there is
//! one: `section_count` sections, each behind zero padding to 8 bytes (from the payload's start): padding
//! not zero, `Reserved` of `tensor_section_descriptor` at the byte; cut, `TooShort` of it at the end; the
//! descriptor as a layout; `role_id` that does not rise, `Rule`; codec table bytes neither 0 nor `tile_count`,
//! length table bytes not `4 * tile_count` (0 with `fixed_stride`): Length of those fields; more codec
//! table, length table or payload than is left: Length of those fields; payload bytes that are not the sum of the lengths, or
//! stride times `tile_count`: Length of `payload_bytes`. What is left over is the Length of the entry
//! (layout: the entry, field: none) at its first byte. Then the first inline object of kind
//! `tile_index`, where the message has a mode: dense_range: 0 bytes; raw_u16, delta_u16: 2 × `tile_count`;
//! bitset: 0 bytes for no tiles, else any; Length of the object's length field otherwise. delta_u16:
//! a step past 65535 is a `Rule` at the step; bitset: another number of bits set than `tile_count` is a
//! `Rule` at its first byte, a last byte of 0 one at that byte (layout: the entry, field: none).

mod body;
mod layout;
mod machine;
mod message;

pub use body::*;
pub use layout::*;
pub use machine::*;
pub use message::*;

pub use crate::syntax::{ByteOrder, Direction, Native, Role, Scalar};

/// A whole registry. Numbers in it that name an item are positions in these lists.
#[derive(Clone, Debug)]
pub struct Registry {
    /// The protocol.
    pub protocol: Protocol,
    /// All enums.
    pub enums: Vec<Enum>,
    /// All bitmasks.
    pub bitmasks: Vec<Bitmask>,
    /// All layouts.
    pub layouts: Vec<Layout>,
    /// All messages.
    pub messages: Vec<Message>,
    /// All bodies of several parts.
    pub bodies: Vec<Body>,
    /// All entries.
    pub entries: Vec<Entry>,
    /// All vocabularies.
    pub vocabularies: Vec<Vocabulary>,
    /// All standard schemas.
    pub schemas: Vec<Schema>,
    /// All state machines.
    pub machines: Vec<Machine>,
}

/// The protocol itself.
#[derive(Clone, Debug)]
pub struct Protocol {
    /// Prefix of emitted names.
    pub name: String,
    /// Major version on the wire.
    pub version_major: Option<u64>,
    /// Wire format on the wire.
    pub wire_format: Option<u64>,
    /// Application protocol names.
    pub alpn: Vec<String>,
    /// Byte order of layouts that say none.
    pub byte_order: ByteOrder,
    /// The layout in front of every message.
    pub header: Option<usize>,
    /// Error codes of faults that name none themselves.
    pub errors: Option<Errors>,
    /// The section that defines it.
    pub source: String,
    /// What it is.
    pub doc: String,
}

/// Which code a fault maps to where its row names none.
#[derive(Clone, Debug)]
pub struct Errors {
    /// The enum that holds the codes.
    pub enumeration: usize,
    /// For a fault in the header.
    pub header: u64,
    /// For a fault behind it.
    pub body: u64,
    /// For a packet over the reader's limit.
    pub limit: u64,
}

impl Registry {
    /// The number of an error code by its name.
    pub fn error_code(&self, name: &str) -> Option<u64> {
        let codes = &self.enums[self.protocol.errors.as_ref()?.enumeration];
        codes.named(name).map(|value| value.value)
    }

    /// The layout of that name.
    pub fn layout(&self, name: &str) -> Option<&Layout> {
        self.layouts.iter().find(|layout| layout.name == name)
    }

    /// The message of that name.
    pub fn message(&self, name: &str) -> Option<&Message> {
        self.messages.iter().find(|message| message.name == name)
    }
}
