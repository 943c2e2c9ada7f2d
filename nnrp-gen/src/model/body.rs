//! Bodies of several parts, entries, words, schemas.

use super::{Content, Scalar};
use crate::rule::Truth;

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
