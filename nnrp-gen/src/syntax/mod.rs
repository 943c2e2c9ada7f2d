//! A registry as it was written: every name and number with its place, nothing resolved yet.
//!
//! TOML files and Rust derive input both become this; the checks read it, and [`crate::model`] is
//! made from it once they found nothing.

mod body;
mod layout;
mod machine;
mod message;

use crate::source::{Span, Spanned};

pub use body::*;
pub use layout::*;
pub use machine::*;
pub use message::*;

/// A name, or any text, and where it stands.
pub type Text = Spanned<String>;

/// A number and where it stands.
pub type Number = Spanned<i128>;

/// Everything that was read.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    /// `[protocol]`, which stands in exactly one file.
    pub protocols: Vec<Protocol>,
    /// `[[enum]]`.
    pub enums: Vec<Enum>,
    /// `[[bitmask]]`.
    pub bitmasks: Vec<Bitmask>,
    /// `[[layout]]`.
    pub layouts: Vec<Layout>,
    /// `[[message]]`.
    pub messages: Vec<Message>,
    /// `[[scope]]`.
    pub scopes: Vec<Scope>,
    /// `[[body]]`.
    pub bodies: Vec<Body>,
    /// `[[entry]]`.
    pub entries: Vec<Entry>,
    /// `[[vocabulary]]`.
    pub vocabularies: Vec<Vocabulary>,
    /// `[[schema]]`.
    pub schemas: Vec<Schema>,
    /// `[[state_machine]]`.
    pub machines: Vec<Machine>,
    /// Kinds of tables of which one could not be read: what names it names something all the same.
    pub unread: Vec<&'static str>,
}

/// `[protocol]`.
#[derive(Clone, Debug)]
pub struct Protocol {
    /// Prefix of emitted names.
    pub name: Text,
    /// Major version on the wire.
    pub version_major: Option<Number>,
    /// Wire format on the wire.
    pub wire_format: Option<Number>,
    /// Application protocol names for transports that negotiate one.
    pub alpn: Vec<Text>,
    /// Byte order of layouts that say none.
    pub byte_order: Spanned<ByteOrder>,
    /// The layout in front of every message.
    pub header: Option<Text>,
    /// Error codes of faults that name none themselves.
    pub errors: Option<Errors>,
    /// What the scopes of messages speak of.
    pub scope: Option<ScopeField>,
    /// The section that defines it.
    pub source: Option<Text>,
    /// What it is.
    pub doc: Option<Text>,
    /// Where it was written.
    pub span: Span,
}

/// `scope` of `[protocol]`: where a message says whose it is.
#[derive(Clone, Debug)]
pub struct ScopeField {
    /// The header field that holds the session, 0 for the connection.
    pub field: Text,
    /// The number in the specification of the rule that ties it to the scope.
    pub id: Text,
}

/// `errors` of `[protocol]`: which code a fault maps to where its row names none.
#[derive(Clone, Debug)]
pub struct Errors {
    /// The enum that holds the codes.
    pub enumeration: Text,
    /// For a fault in the header.
    pub header: Text,
    /// For a fault behind it.
    pub body: Text,
    /// For a packet over the reader's limit.
    pub limit: Text,
}

/// Order of the bytes of an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    /// Least significant first.
    Little,
    /// Most significant first.
    Big,
}
