//! Layouts and what their fields mean.

use super::{ByteOrder, Number, Text};
use crate::source::{Span, Spanned};

/// A number type of the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Scalar {
    U8,
    U16,
    U32,
    U64,
    I8,
    I16,
    I32,
    I64,
    F32,
    F64,
}

impl Scalar {
    /// Every one of them.
    pub const ALL: [Scalar; 10] = [
        Scalar::U8,
        Scalar::U16,
        Scalar::U32,
        Scalar::U64,
        Scalar::I8,
        Scalar::I16,
        Scalar::I32,
        Scalar::I64,
        Scalar::F32,
        Scalar::F64,
    ];

    /// Its name in the registry and in Rust.
    pub const fn name(self) -> &'static str {
        match self {
            Scalar::U8 => "u8",
            Scalar::U16 => "u16",
            Scalar::U32 => "u32",
            Scalar::U64 => "u64",
            Scalar::I8 => "i8",
            Scalar::I16 => "i16",
            Scalar::I32 => "i32",
            Scalar::I64 => "i64",
            Scalar::F32 => "f32",
            Scalar::F64 => "f64",
        }
    }

    /// The type of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scalar| scalar.name() == name)
    }

    /// Bytes it takes.
    pub const fn size(self) -> u32 {
        match self {
            Scalar::U8 | Scalar::I8 => 1,
            Scalar::U16 | Scalar::I16 => 2,
            Scalar::U32 | Scalar::I32 | Scalar::F32 => 4,
            Scalar::U64 | Scalar::I64 | Scalar::F64 => 8,
        }
    }

    /// Whether it is an integer.
    pub const fn is_integer(self) -> bool {
        !matches!(self, Scalar::F32 | Scalar::F64)
    }

    /// Whether it is an integer without a sign.
    pub const fn is_unsigned(self) -> bool {
        matches!(self, Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64)
    }

    /// Smallest and largest value of an integer type.
    pub const fn limits(self) -> (i128, i128) {
        let bits = self.size() * 8;
        if self.is_unsigned() { (0, (1 << bits) - 1) } else { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) }
    }
}

/// `[[enum]]`.
#[derive(Clone, Debug)]
pub struct Enum {
    /// Its name.
    pub name: Text,
    /// The integer it is.
    pub ty: Spanned<Scalar>,
    /// Its listed values.
    pub values: Vec<Value>,
    /// Spans of values that are accepted without a name of their own.
    pub ranges: Vec<Range>,
    /// Whether every value and every range could be read.
    pub complete: bool,
    /// `from = "messages"`: the values are those of all messages.
    pub from_messages: Option<Span>,
    /// The Rust type that it is, where somebody wrote one; what it holds is known here only if it is
    /// being derived.
    pub given: Option<String>,
    /// The section that defines it.
    pub source: Option<Text>,
    /// What it means.
    pub doc: Option<Text>,
    /// Where it was written.
    pub span: Span,
}

/// A listed value of an enum.
#[derive(Clone, Debug)]
pub struct Value {
    /// The number.
    pub value: Number,
    /// Its name.
    pub name: Text,
    /// What it means.
    pub doc: Option<Text>,
    /// As the selector of an entry or a frame: the layout of the payload.
    pub layout: Option<Text>,
    /// The messages in which such an entry is known; everywhere where empty.
    pub messages: Vec<Text>,
    /// Such an entry is refused with its critical bit set.
    pub refuse_critical: Option<Span>,
    /// Such an entry stands at most once.
    pub once: Option<Span>,
    /// What the header or descriptor of such an entry must fulfil.
    pub require: Option<Text>,
    /// The rule that these conditions come from.
    pub id: Option<Text>,
    /// Where it was written.
    pub span: Span,
}

/// A span of accepted values of an enum.
#[derive(Clone, Debug)]
pub struct Range {
    /// First value.
    pub from: Number,
    /// Last value.
    pub to: Number,
    /// What values there are called.
    pub name: Text,
    /// The enum that lists them, where one does.
    pub family: Option<Text>,
    /// What they mean.
    pub doc: Option<Text>,
    /// Where it was written.
    pub span: Span,
}

/// `[[bitmask]]`.
#[derive(Clone, Debug)]
pub struct Bitmask {
    /// Its name.
    pub name: Text,
    /// The integer it is.
    pub ty: Spanned<Scalar>,
    /// Its listed bits.
    pub bits: Vec<Bit>,
    /// Whether every bit could be read.
    pub complete: bool,
    /// The Rust type that it is, where somebody wrote one; what it holds is known here only if it is
    /// being derived.
    pub given: Option<String>,
    /// The section that defines it.
    pub source: Option<Text>,
    /// What it means.
    pub doc: Option<Text>,
    /// Where it was written.
    pub span: Span,
}

/// A listed bit.
#[derive(Clone, Debug)]
pub struct Bit {
    /// Its number, 0 being the least significant.
    pub bit: Number,
    /// Its name.
    pub name: Text,
    /// What it means.
    pub doc: Option<Text>,
    /// Where it was written.
    pub span: Span,
}

/// `[[layout]]`.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Its name.
    pub name: Text,
    /// Its bytes.
    pub size: Number,
    /// Its byte order, where it is not the protocol's.
    pub byte_order: Option<Spanned<ByteOrder>>,
    /// Its fields.
    pub fields: Vec<Field>,
    /// Whether every field could be read.
    pub complete: bool,
    /// What its fields must fulfil together.
    pub rules: Vec<Rule>,
    /// Whether its bytes can be changed where they are, too.
    pub mutable: bool,
    /// The Rust type that it is, where somebody wrote one; what it holds is known here only if it is
    /// being derived.
    pub given: Option<String>,
    /// The section that defines it.
    pub source: Option<Text>,
    /// What it is.
    pub doc: Option<Text>,
    /// Where it was written.
    pub span: Span,
}

impl Layout {
    /// Whether somebody else defines it, so that only its bytes are known.
    pub fn is_foreign(&self) -> bool {
        self.given.is_some() && self.fields.is_empty()
    }

    /// What whoever wrote it calls it.
    pub fn title(&self) -> &str {
        self.given.as_ref().unwrap_or(&self.name.value)
    }
}

/// The type of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    /// What it holds.
    pub element: Element,
    /// How many in a row, for an array.
    pub count: Option<u64>,
}

/// What a field holds one or several of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Element {
    /// A number.
    Scalar(Scalar),
    /// A layout by name.
    Layout(String),
}

/// A field of a layout.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: Text,
    /// Its first byte.
    pub offset: Number,
    /// What it holds.
    pub ty: Spanned<Type>,
    /// What stands for it in the native struct.
    pub native: Native,
    /// It is zero and has no meaning.
    pub reserved: Option<Span>,
    /// It always has this value.
    pub constant: Option<Spanned<Literal>>,
    /// Its values are those of an enum.
    pub enumeration: Option<Text>,
    /// Its bits are those of a bitmask.
    pub bitmask: Option<Text>,
    /// It is 0 or 1.
    pub boolean: Option<Span>,
    /// What it counts.
    pub unit: Option<Text>,
    /// What it means.
    pub doc: Option<Text>,
    /// The version that brought it.
    pub since: Option<Text>,
    /// Why it should not be used any more.
    pub deprecated: Option<Text>,
    /// What it is to the packets of the protocol, in the header layout.
    pub role: Option<Spanned<Role>>,
    /// The error code of a fault in it.
    pub error: Option<Text>,
    /// Whether all its keys are known. One that is not may have been meant to say what others rely on.
    pub understood: bool,
    /// Where it was written.
    pub span: Span,
}

/// What stands for a field in the native struct.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Native {
    /// A value of the type that its meaning asks for; nothing if it is reserved or constant.
    #[default]
    Meant,
    /// Its number, whatever that means.
    Number,
    /// A place without a value.
    Place,
}

/// A constant.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// For an integer.
    Number(i128),
    /// For an array of bytes.
    Text(String),
    /// For an array.
    List(Vec<i128>),
}

/// What a header field says about its packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Which message it is.
    Message,
    /// How long the metadata is.
    MetadataLength,
    /// How long the body is.
    BodyLength,
}

impl Role {
    /// Every role, by the name that `is` gives it.
    pub const ALL: [(&str, Role); 3] = [
        ("message", Role::Message),
        ("metadata_length", Role::MetadataLength),
        ("body_length", Role::BodyLength),
    ];
}

/// A rule of a layout or a message.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Its number in the specification.
    pub id: Text,
    /// When it applies; always where left out.
    pub when: Option<Text>,
    /// What must hold.
    pub require: Text,
    /// The field to blame; the first of `require` where left out.
    pub field: Option<Text>,
    /// The error code of breaking it.
    pub error: Option<Text>,
    /// Why.
    pub doc: Option<Text>,
    /// Where it was written.
    pub span: Span,
}
