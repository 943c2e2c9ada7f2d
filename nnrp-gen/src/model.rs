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

pub use crate::syntax::{ByteOrder, Direction, Native, Role, Scalar};

use crate::rule::{FieldRef, Truth};

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

/// An enum.
#[derive(Clone, Debug)]
pub struct Enum {
    /// Its name.
    pub name: String,
    /// The integer it is.
    pub ty: Scalar,
    /// Its listed values.
    pub values: Vec<Value>,
    /// Values that are accepted without a name of their own.
    pub ranges: Vec<Range>,
    /// The Rust type that it is, where somebody wrote one; what it holds is known here only if it is
    /// being derived.
    pub given: Option<String>,
    /// The section that defines it.
    pub source: String,
    /// What it means.
    pub doc: String,
}

/// A listed value.
#[derive(Clone, Debug)]
pub struct Value {
    /// The number.
    pub value: u64,
    /// Its name.
    pub name: String,
    /// What it means.
    pub doc: String,
}

/// A span of accepted values.
#[derive(Clone, Debug)]
pub struct Range {
    /// First value.
    pub from: u64,
    /// Last value.
    pub to: u64,
    /// What values there are called.
    pub name: String,
    /// The enum that lists them, where one does.
    pub family: Option<usize>,
    /// What they mean.
    pub doc: String,
}

impl Enum {
    /// Whether somebody else defines it, so that only its width is known.
    pub fn is_foreign(&self) -> bool {
        self.given.is_some() && self.values.is_empty() && self.ranges.is_empty()
    }

    /// Whether it accepts values that it does not list.
    pub fn is_open(&self) -> bool {
        !self.ranges.is_empty()
    }

    /// The accepted values as inclusive spans, ascending, none touching the next.
    pub fn spans(&self) -> Vec<(u64, u64)> {
        let listed = self.values.iter().map(|value| (value.value, value.value));
        let mut all: Vec<_> = listed.chain(self.ranges.iter().map(|range| (range.from, range.to))).collect();
        all.sort_unstable();
        let mut merged: Vec<(u64, u64)> = Vec::new();
        for (from, to) in all {
            match merged.last_mut() {
                Some(last) if from <= last.1.saturating_add(1) => last.1 = last.1.max(to),
                _ => merged.push((from, to)),
            }
        }
        merged
    }

    /// Whether a number is a value of it.
    pub fn accepts(&self, number: u64) -> bool {
        self.value(number).is_some() || self.range(number).is_some()
    }

    /// The listed value of that number.
    pub fn value(&self, number: u64) -> Option<&Value> {
        self.values.iter().find(|value| value.value == number)
    }

    /// The listed value of that name.
    pub fn named(&self, name: &str) -> Option<&Value> {
        self.values.iter().find(|value| value.name == name)
    }

    /// The range that a number lies in.
    pub fn range(&self, number: u64) -> Option<&Range> {
        self.ranges.iter().find(|range| (range.from..=range.to).contains(&number))
    }
}

/// A bitmask.
#[derive(Clone, Debug)]
pub struct Bitmask {
    /// Its name.
    pub name: String,
    /// The integer it is.
    pub ty: Scalar,
    /// Its listed bits.
    pub bits: Vec<Bit>,
    /// The Rust type that it is, where somebody wrote one; what it holds is known here only if it is
    /// being derived.
    pub given: Option<String>,
    /// The section that defines it.
    pub source: String,
    /// What it means.
    pub doc: String,
}

/// A listed bit.
#[derive(Clone, Debug)]
pub struct Bit {
    /// The bit as a number.
    pub mask: u64,
    /// Its name.
    pub name: String,
    /// What it means.
    pub doc: String,
}

impl Bitmask {
    /// Whether somebody else defines it, so that only its width is known.
    pub fn is_foreign(&self) -> bool {
        self.given.is_some()
    }

    /// All listed bits.
    pub fn known(&self) -> u64 {
        self.bits.iter().fold(0, |known, bit| known | bit.mask)
    }
}

/// A layout.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Its name.
    pub name: String,
    /// Its bytes.
    pub size: u32,
    /// Its byte order.
    pub byte_order: ByteOrder,
    /// Its fields, by offset and without a gap.
    pub fields: Vec<Field>,
    /// What they must fulfil together, in the order in which they are checked.
    pub rules: Vec<Rule>,
    /// The Rust type that it is, where somebody wrote one; what it holds is known here only if it is
    /// being derived.
    pub given: Option<String>,
    /// The section that defines it.
    pub source: String,
    /// What it is.
    pub doc: String,
}

impl Layout {
    /// The fields that carry a value: neither reserved nor constant.
    pub fn values(&self) -> impl Iterator<Item = &Field> {
        self.fields.iter().filter(|field| field.has_value())
    }

    /// The fields that the native struct has.
    pub fn stored(&self) -> impl Iterator<Item = &Field> {
        self.fields.iter().filter(|field| field.has_value() || field.native != Native::Meant)
    }

    /// Whether somebody else defines it, so that only its bytes are known.
    pub fn is_foreign(&self) -> bool {
        self.given.is_some() && self.fields.is_empty()
    }
}

/// A field.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its first byte.
    pub offset: u32,
    /// What it holds one or several of.
    pub element: Element,
    /// How many, for an array.
    pub count: Option<u32>,
    /// Its bytes in all.
    pub size: u32,
    /// What its bits mean.
    pub meaning: Meaning,
    /// What stands for it in the native struct.
    pub native: Native,
    /// What it is to the packets of the protocol.
    pub role: Option<Role>,
    /// What it counts; empty where it counts nothing.
    pub unit: String,
    /// What it means.
    pub doc: String,
    /// The version that brought it.
    pub since: Option<String>,
    /// Why it should not be used any more.
    pub deprecated: Option<String>,
    /// The error code of a fault in it, where it is not the protocol's usual one.
    pub error: Option<String>,
}

impl Field {
    /// Whether it carries a value: it is neither reserved nor constant.
    pub fn has_value(&self) -> bool {
        !matches!(self.meaning, Meaning::Reserved | Meaning::Constant(_))
    }

    /// The bytes it covers.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.offset as usize..(self.offset + self.size) as usize
    }

    /// Its number type, where it is one number.
    pub fn scalar(&self) -> Option<Scalar> {
        match (&self.element, self.count) {
            (Element::Scalar(scalar), None) => Some(*scalar),
            _ => None,
        }
    }

    /// Its type as the registry writes it. Layouts are named by `layouts`.
    pub fn type_name(&self, registry: &Registry) -> String {
        let element = match self.element {
            Element::Scalar(scalar) => scalar.name(),
            Element::Layout(layout) => &registry.layouts[layout].name,
        };
        match self.count {
            Some(count) => format!("[{element}; {count}]"),
            None => element.to_owned(),
        }
    }
}

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// A number.
    Scalar(Scalar),
    /// A layout.
    Layout(usize),
}

/// What the bits of a field mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// Any value is good.
    Plain,
    /// They are zero.
    Reserved,
    /// They are these bytes, as they stand on the wire.
    Constant(Vec<u8>),
    /// A value of an enum.
    Enum(usize),
    /// Bits of a bitmask.
    Bitmask(usize),
    /// 0 or 1.
    Bool,
}

/// A rule.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Its number in the specification.
    pub id: String,
    /// When it applies; always where left out.
    pub when: Option<Truth>,
    /// What must hold.
    pub require: Truth,
    /// `when` and `require` as they were written.
    pub text: (Option<String>, String),
    /// The field to blame.
    pub blame: FieldRef,
    /// The error code of breaking it, where it is not the protocol's usual one.
    pub error: Option<String>,
    /// Why.
    pub doc: String,
}

impl Rule {
    /// Whether it looks into the body, and so is checked after it.
    pub fn reads_body(&self) -> bool {
        fn present(truth: &Truth) -> bool {
            match truth {
                Truth::Present(_) => true,
                Truth::Not(inner) => present(inner),
                Truth::Same(left, right) | Truth::Differ(left, right) => present(left) || present(right),
                Truth::And(parts) | Truth::Or(parts) => parts.iter().any(present),
                Truth::Flag(..)
                | Truth::NamedFlag(..)
                | Truth::Bool(..)
                | Truth::In(..)
                | Truth::Compare(..) => false,
            }
        }
        present(&self.condition())
    }

    /// The rule as one condition: `require`, or `when` does not hold.
    pub fn condition(&self) -> Truth {
        match &self.when {
            Some(when) => Truth::Or(vec![Truth::Not(Box::new(when.clone())), self.require.clone()]),
            None => self.require.clone(),
        }
    }
}

/// A message.
#[derive(Clone, Debug)]
pub struct Message {
    /// Its value in the header.
    pub value: u64,
    /// Its name.
    pub name: String,
    /// The layout of its metadata.
    pub metadata: Option<usize>,
    /// Its scopes, or the name of the scope that decides.
    pub scope: Vec<String>,
    /// Who sends it.
    pub direction: Direction,
    /// The segments of its body, in order.
    pub segments: Vec<Segment>,
    /// What its scope demands; checked before its rules.
    pub scope_rules: Vec<Rule>,
    /// What header, metadata and body must fulfil together, in order. Those that look into the body
    /// are checked once it is known to be good.
    pub rules: Vec<Rule>,
    /// Which objects travel by reference.
    pub slots: Option<Slots>,
    /// Which parts of its body ascend.
    pub sorted: Vec<Sorted>,
    /// Which metadata fields repeat the size of an object.
    pub sizes: Vec<ObjectSize>,
    /// Where its tensor sections and tile indexes are.
    pub tensor: Option<Tensor>,
    /// The section that defines it.
    pub source: String,
    /// What it does.
    pub doc: String,
}

impl Message {
    /// The segment that holds a body of several parts, and that body.
    pub fn body(&self) -> Option<(usize, usize)> {
        self.segments.iter().enumerate().find_map(|(position, segment)| match segment.content {
            Content::Body(body) => Some((position, body)),
            _ => None,
        })
    }
}

/// What a segment or a part holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Bytes that only the application knows.
    Opaque,
    /// A layout, repeated.
    Layout(usize),
    /// An entry, repeated.
    Entry(usize),
    /// A body.
    Body(usize),
    /// Words of a vocabulary.
    Vocabulary(usize),
}

/// A segment of a message's body.
#[derive(Clone, Debug)]
pub struct Segment {
    /// Its name.
    pub name: String,
    /// The metadata field that gives its bytes; the rest of the body where there is none.
    pub length: Option<usize>,
    /// What it holds.
    pub content: Content,
    /// The metadata field that counts what it holds.
    pub count: Option<usize>,
    /// The metadata field that decides between `cases`.
    pub select: Option<usize>,
    /// What it holds for some values of that field.
    pub cases: Vec<Case>,
    /// The rule that its shape comes from; may be empty.
    pub id: String,
    /// What it is.
    pub doc: String,
}

/// What a segment holds for one value of its selector.
#[derive(Clone, Debug)]
pub struct Case {
    /// The value.
    pub value: u64,
    /// What it holds then, exactly once.
    pub content: Content,
    /// The rule that says so; may be empty.
    pub id: String,
}

/// A body of several parts behind a prelude.
#[derive(Clone, Debug)]
pub struct Body {
    /// Its name.
    pub name: String,
    /// The layout of its first bytes.
    pub prelude: usize,
    /// Whether it may be empty altogether.
    pub optional: bool,
    /// What the prelude's lengths cut the rest into.
    pub parts: Vec<Part>,
    /// The section that defines it.
    pub source: String,
    /// What it is.
    pub doc: String,
}

/// A part of a body.
#[derive(Clone, Debug)]
pub struct Part {
    /// The rule that it comes from; may be empty.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The prelude field that gives its bytes.
    pub length: usize,
    /// What it holds: opaque bytes, a layout or an entry.
    pub content: Content,
    /// What counts the layouts that it holds.
    pub count: Option<Count>,
    /// How the rows of an earlier part slice this one.
    pub slices: Option<Slices>,
    /// A layout that it starts with, and the prelude field that counts how many.
    pub leading: Option<(usize, usize)>,
    /// What it is.
    pub doc: String,
}

/// A field that counts what a part holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Count {
    /// A field of the prelude.
    Prelude(usize),
    /// The field of that name of the message's metadata.
    Metadata(String),
}

/// How the rows of one part slice another: each slice starts where the one before ended.
#[derive(Clone, Debug)]
pub struct Slices {
    /// The part of the rows.
    pub rows: usize,
    /// The layout of the rows.
    pub layout: usize,
    /// Their field for the first byte.
    pub offset: usize,
    /// Their field for the bytes.
    pub size: usize,
    /// What the slices hold, where the rows say.
    pub select: Option<Select>,
}

/// How a header or a row says what its payload holds.
#[derive(Clone, Debug)]
pub struct Select {
    /// The field that says it.
    pub field: usize,
    /// The field and bit of a payload that must be understood.
    pub critical: Option<(usize, u64)>,
    /// The error code of one that must be and is not.
    pub code: Option<u64>,
    /// The payloads that are known.
    pub choices: Vec<Choice>,
}

/// A payload that is known.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The selector's value.
    pub value: u64,
    /// Its name.
    pub name: String,
    /// The layout of the payload, which it fills exactly.
    pub layout: usize,
    /// The messages in which it is known; all where empty.
    pub messages: Vec<usize>,
    /// Whether it is refused with its critical bit set.
    pub refuse_critical: bool,
    /// Whether it stands at most once.
    pub once: bool,
    /// What its header or row must fulfil, and the field to blame.
    pub require: Option<(Truth, usize)>,
    /// The rule that these conditions come from; may be empty.
    pub id: String,
    /// What it means.
    pub doc: String,
}

/// A header, a payload and zero padding, repeated to the end of a segment or part.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// The layout in front.
    pub header: usize,
    /// The header field that gives the payload's bytes.
    pub payload: usize,
    /// The boundary to which zero bytes pad it; 1 for none.
    pub align: u32,
    /// What the payload holds, where the header says.
    pub select: Option<Select>,
    /// The header field whose values stand once in a block.
    pub unique: Option<usize>,
    /// The rule that it comes from; may be empty.
    pub id: String,
    /// The section that defines it.
    pub source: String,
    /// What it is.
    pub doc: String,
}

/// Length-prefixed words, ascending and each once.
#[derive(Clone, Debug)]
pub struct Vocabulary {
    /// Its name.
    pub name: String,
    /// The integer in front of each word.
    pub length_type: Scalar,
    /// The registered words and what they mean, ascending.
    pub words: Vec<(String, String)>,
    /// The rule that it comes from; may be empty.
    pub id: String,
    /// The section that defines it.
    pub source: String,
    /// What it is.
    pub doc: String,
}

/// A standard schema.
#[derive(Clone, Debug)]
pub struct Schema {
    /// Its id.
    pub schema_id: u32,
    /// Its version.
    pub schema_version: u32,
    /// Name of the profile that it belongs to.
    pub profile: String,
    /// Its name.
    pub name: String,
    /// Name of its default stream semantics.
    pub semantics: String,
    /// The section that defines it.
    pub source: String,
    /// What it is.
    pub doc: String,
}

/// Which standard objects of a message travel by reference and which inline.
#[derive(Clone, Debug)]
pub struct Slots {
    /// The rule that they come from.
    pub id: String,
    /// The metadata field whose bits say which objects are referenced.
    pub mask: usize,
    /// The part that holds references, and its field that says which object one is.
    pub references: (usize, usize),
    /// The part that holds inline objects, and its header's field that says which object one is.
    pub inline: (usize, usize),
    /// The standard objects in order: the number of each and its bit.
    pub order: Vec<(u64, u64)>,
    /// The metadata field that says how objects travel, and its values for reference and mixed.
    pub mode: Option<(usize, u64, u64)>,
}

/// A part of the body that ascends.
#[derive(Clone, Debug)]
pub struct Sorted {
    /// The rule that it comes from.
    pub id: String,
    /// The part.
    pub part: usize,
    /// Fields of its rows or headers, the first deciding first.
    pub by: Vec<usize>,
    /// Whether equal neighbours are refused.
    pub strict: bool,
}

/// A metadata field that repeats the size of an inline object, 0 where there is none.
#[derive(Clone, Debug)]
pub struct ObjectSize {
    /// The rule that it comes from.
    pub id: String,
    /// The part of inline objects.
    pub part: usize,
    /// The object's number.
    pub kind: u64,
    /// The metadata field.
    pub field: usize,
}

/// Where the tensor sections and tile indexes of a message are.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// The rule that they come from.
    pub id: String,
    /// The part of inline objects.
    pub part: usize,
    /// Number of the object that holds the section table.
    pub section_table: u64,
    /// Number of the object that holds the tile index.
    pub tile_index: u64,
    /// The metadata field that counts sections.
    pub section_count: usize,
    /// The metadata field that counts tiles.
    pub tile_count: usize,
    /// The metadata field of the first tile.
    pub base: usize,
    /// The metadata field that says how tiles are indexed, where the message says.
    pub mode: Option<usize>,
}

/// A state machine.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Its name.
    pub name: String,
    /// The enum of its states, where they are values of one.
    pub enumeration: Option<usize>,
    /// Its states: number, name, what they mean.
    pub states: Vec<Value>,
    /// Position of the state where it starts.
    pub initial: usize,
    /// Positions of the states where it ends.
    pub terminal: Vec<usize>,
    /// Its arrows.
    pub transitions: Vec<Transition>,
    /// The section that defines it.
    pub source: String,
    /// What it is.
    pub doc: String,
}

/// An arrow.
#[derive(Clone, Debug)]
pub struct Transition {
    /// Position of the state that it leaves.
    pub from: usize,
    /// Position of the state that it reaches.
    pub to: usize,
    /// The messages that can drive it.
    pub on: Vec<usize>,
    /// What drives it.
    pub doc: String,
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
