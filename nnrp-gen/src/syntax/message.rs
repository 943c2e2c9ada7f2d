//! Messages, the segments of their bodies, and scopes.

use super::{Number, Rule, Text};
use crate::source::{Span, Spanned};

/// `[[message]]`.
#[derive(Clone, Debug)]
pub struct Message {
    /// Its value in the header.
    pub value: Number,
    /// Its name.
    pub name: Text,
    /// The layout of its metadata.
    pub metadata: Option<Text>,
    /// Scopes, or the name of one `[[scope]]`.
    pub scope: Vec<Text>,
    /// Who sends it.
    pub direction: Option<Spanned<Direction>>,
    /// The segments of its body, in order.
    pub body: Vec<Segment>,
    /// What its header and metadata must fulfil together.
    pub rules: Vec<Rule>,
    /// Which objects travel by reference.
    pub slots: Vec<Slots>,
    /// Which parts of its body ascend.
    pub sorted: Vec<Sorted>,
    /// Which metadata fields repeat the size of an object in the body.
    pub sizes: Vec<Size>,
    /// Where its tensor sections and tile indexes are.
    pub tensor: Option<Tensor>,
    /// The section that defines it.
    pub source: Option<Text>,
    /// What it does.
    pub doc: Option<Text>,
    /// Where it was written.
    pub span: Span,
}

/// Who may send a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The client.
    ToServer,
    /// The server.
    ToClient,
    /// Both.
    Both,
}

impl Direction {
    /// Every direction, by its name.
    pub const ALL: [(&str, Direction); 3] =
        [("to_server", Direction::ToServer), ("to_client", Direction::ToClient), ("both", Direction::Both)];

    /// Its name in the registry.
    pub fn name(self) -> &'static str {
        match self {
            Direction::ToServer => "to_server",
            Direction::ToClient => "to_client",
            Direction::Both => "both",
        }
    }
}

/// A segment of a message's body.
#[derive(Clone, Debug)]
pub struct Segment {
    /// Its name.
    pub name: Text,
    /// The metadata field that gives its bytes, or `rest`.
    pub length: Text,
    /// What it holds: an entry, a layout, a body or a vocabulary; opaque where left out.
    pub of: Option<Text>,
    /// The metadata field that counts what it holds.
    pub count: Option<Text>,
    /// The metadata field that decides between `cases`.
    pub select: Option<Text>,
    /// What it holds for some values of `select`.
    pub cases: Vec<Case>,
    /// The rule that its shape comes from.
    pub id: Option<Text>,
    /// What it is.
    pub doc: Option<Text>,
    /// Where it was written.
    pub span: Span,
}

/// What a segment holds for one value of its selector.
#[derive(Clone, Debug)]
pub struct Case {
    /// A number, or the name of an enum's value.
    pub value: Spanned<NameOrNumber>,
    /// What it holds then.
    pub of: Text,
    /// The rule that says so.
    pub id: Option<Text>,
}

/// A value given by name or by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameOrNumber {
    /// A listed value of an enum.
    Name(String),
    /// Any number.
    Number(i128),
}

/// `slots` of a message.
#[derive(Clone, Debug)]
pub struct Slots {
    /// The rule that they come from.
    pub id: Text,
    /// The metadata field whose bits say which objects are referenced.
    pub mask: Text,
    /// The part that holds references.
    pub references: Text,
    /// The part that holds inline objects.
    pub inline: Text,
    /// The field that says which object one is.
    pub key: Text,
    /// The standard objects, in order.
    pub order: Vec<Text>,
    /// The metadata field that says inline, reference or mixed.
    pub mode: Option<Text>,
    /// Where it was written.
    pub span: Span,
}

/// `sizes` of a message: a metadata field that repeats the size of an object in the body.
#[derive(Clone, Debug)]
pub struct Size {
    /// The rule that it comes from.
    pub id: Text,
    /// Which object, as a value of its selector.
    pub kind: Text,
    /// The field.
    pub field: Text,
    /// Where it was written.
    pub span: Span,
}

/// `sorted` of a message.
#[derive(Clone, Debug)]
pub struct Sorted {
    /// The rule that it comes from.
    pub id: Text,
    /// The part that ascends.
    pub part: Text,
    /// By these fields, the first deciding first.
    pub by: Vec<Text>,
    /// Whether equal neighbours are refused.
    pub strict: bool,
    /// Where it was written.
    pub span: Span,
}

/// `tensor` of a message: names that the hand-written tensor checks need.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// Keys and what they name.
    pub names: Vec<(Text, Text)>,
    /// Where it was written.
    pub span: Span,
}

/// `[[scope]]`.
#[derive(Clone, Debug)]
pub struct Scope {
    /// Its name.
    pub name: Text,
    /// The metadata field that decides.
    pub field: Option<Text>,
    /// What each of the field's values demands.
    pub values: Vec<ScopeValue>,
    /// Or conditions, the first that holds deciding.
    pub cases: Vec<ScopeCase>,
    /// The section that defines it.
    pub source: Option<Text>,
    /// What it means.
    pub doc: Option<Text>,
    /// Where it was written.
    pub span: Span,
}

/// What one value of a scope's field demands.
#[derive(Clone, Debug)]
pub struct ScopeValue {
    /// The value.
    pub value: Text,
    /// What must hold.
    pub require: Text,
}

/// A condition of a scope and what it demands.
#[derive(Clone, Debug)]
pub struct ScopeCase {
    /// The condition; always where left out.
    pub when: Option<Text>,
    /// What must hold.
    pub require: Text,
}
