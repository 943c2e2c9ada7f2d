//! What segments hold: parts, entries, words, schemas.

use super::{Number, Scalar, Text};
use crate::source::{Span, Spanned};

/// `[[body]]`.
#[derive(Clone, Debug)]
pub struct Body {
    /// Its name.
    pub name: Text,
    /// The layout of its first bytes.
    pub prelude: Text,
    /// Whether it may be empty altogether.
    pub optional: bool,
    /// What the prelude's lengths cut the rest into.
    pub parts: Vec<Part>,
    /// The section that defines it.
    pub source: Option<Text>,
    /// What it is.
    pub doc: Option<Text>,
    /// Where it was written.
    pub span: Span,
}

/// A part of a body.
#[derive(Clone, Debug)]
pub struct Part {
    /// The rule that it comes from.
    pub id: Option<Text>,
    /// Its name.
    pub name: Text,
    /// The prelude field that gives its bytes.
    pub length: Text,
    /// What it holds: an entry or a layout; opaque where left out.
    pub of: Option<Text>,
    /// The field that counts what it holds: of the prelude, or `metadata.` and a field of the message's.
    pub count: Option<Text>,
    /// The earlier part whose rows slice this one.
    pub slices: Option<Slices>,
    /// A layout that the part starts with, and the prelude field that counts how many.
    pub leading: Option<(Text, Text)>,
    /// What it is.
    pub doc: Option<Text>,
    /// Where it was written.
    pub span: Span,
}

/// How the rows of one part slice another.
#[derive(Clone, Debug)]
pub struct Slices {
    /// The part of the rows.
    pub rows: Text,
    /// Their field for the first byte.
    pub offset: Text,
    /// Their field for the bytes.
    pub size: Text,
    /// Their field for what a slice holds.
    pub select: Option<Text>,
    /// Their bit, as `field.bit`, for a slice that must be understood.
    pub critical: Option<Text>,
    /// The error code of a critical slice that is not.
    pub error: Option<Text>,
}

/// `[[entry]]`.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name.
    pub name: Text,
    /// The layout in front.
    pub header: Text,
    /// The header field that gives the payload's bytes.
    pub payload: Text,
    /// The boundary to which zero bytes pad it.
    pub align: Option<Number>,
    /// The header field for what the payload holds.
    pub select: Option<Text>,
    /// The header bit, as `field.bit`, for an entry that must be understood.
    pub critical: Option<Text>,
    /// The error code of a critical entry that is not.
    pub error: Option<Text>,
    /// The header field whose values stand once in a block.
    pub unique: Option<Text>,
    /// The rule that it comes from.
    pub id: Option<Text>,
    /// The section that defines it.
    pub source: Option<Text>,
    /// What it is.
    pub doc: Option<Text>,
    /// Where it was written.
    pub span: Span,
}

/// `[[vocabulary]]`.
#[derive(Clone, Debug)]
pub struct Vocabulary {
    /// Its name.
    pub name: Text,
    /// The integer in front of each word.
    pub length_type: Spanned<Scalar>,
    /// The words.
    pub words: Vec<Word>,
    /// The rule that it comes from.
    pub id: Option<Text>,
    /// The section that defines it.
    pub source: Option<Text>,
    /// What it is.
    pub doc: Option<Text>,
    /// Where it was written.
    pub span: Span,
}

/// A registered word.
#[derive(Clone, Debug)]
pub struct Word {
    /// The word.
    pub word: Text,
    /// What it means.
    pub doc: Option<Text>,
}

/// `[[schema]]`.
#[derive(Clone, Debug)]
pub struct Schema {
    /// Its id.
    pub schema_id: Number,
    /// Its version.
    pub schema_version: Number,
    /// The profile that it belongs to.
    pub profile: Text,
    /// Its name.
    pub name: Text,
    /// Its default stream semantics.
    pub semantics: Text,
    /// The section that defines it.
    pub source: Option<Text>,
    /// What it is.
    pub doc: Option<Text>,
    /// Where it was written.
    pub span: Span,
}
