//! Messages, and what stands in their bodies in which order.

use super::{Direction, Rule};

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
