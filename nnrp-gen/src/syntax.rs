//! A registry as it was written: every name and number with its place, nothing resolved yet.
//!
//! TOML files and Rust derive input both become this; the checks read it, and [`crate::model`] is
//! made from it once they found nothing.

use crate::source::{Span, Spanned};

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
    /// The section that defines it.
    pub source: Option<Text>,
    /// What it is.
    pub doc: Option<Text>,
    /// Where it was written.
    pub span: Span,
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

/// `[[state_machine]]`.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Its name.
    pub name: Text,
    /// The enum of its states.
    pub enumeration: Option<Text>,
    /// Or the states themselves.
    pub states: Vec<State>,
    /// Where it starts.
    pub initial: Text,
    /// Where it ends.
    pub terminal: Vec<Text>,
    /// Its arrows.
    pub transitions: Vec<Transition>,
    /// The section that defines it.
    pub source: Option<Text>,
    /// What it is.
    pub doc: Option<Text>,
    /// Where it was written.
    pub span: Span,
}

/// A state of its own.
#[derive(Clone, Debug)]
pub struct State {
    /// Its name.
    pub name: Text,
    /// What it means.
    pub doc: Option<Text>,
}

/// An arrow.
#[derive(Clone, Debug)]
pub struct Transition {
    /// Where from.
    pub from: Text,
    /// Where to.
    pub to: Text,
    /// The messages that can drive it.
    pub on: Vec<Text>,
    /// What drives it.
    pub doc: Option<Text>,
    /// Where it was written.
    pub span: Span,
}
