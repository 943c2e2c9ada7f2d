//! What is wrong, where, and how to say it.

use core::fmt;

/// What is wrong with some bytes, or with a value that should become bytes, and where.
///
/// Of several faults the first is reported, in this order: length, fields by offset, rules in the
/// order of the registry.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fault {
    site: &'static Site,
    /// The offset, and in the lowest byte the kind. Two words travel in registers, and then the
    /// compiler sees that a fault is never a success, which three fields in memory hide from it.
    place: u64,
}

/// How something is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultKind {
    /// There are fewer bytes than the layout has.
    TooShort,
    /// There are more bytes than the layout has.
    TooLong,
    /// A constant field holds another value.
    Constant,
    /// A reserved field or padding is not zero.
    Reserved,
    /// A bit is set that the bitmask does not list.
    UnknownBits,
    /// A value that the enum does not list, or a bool that is neither 0 nor 1.
    UnknownValue,
    /// A length or a count that does not match what is there.
    Length,
    /// A rule does not hold.
    Rule,
    /// Something that must be understood is not known.
    Unsupported,
    /// More than the reader was told to accept.
    Limit,
}

impl FaultKind {
    /// Every kind, in the order of their numbers.
    const ALL: [Self; 10] = [
        Self::TooShort,
        Self::TooLong,
        Self::Constant,
        Self::Reserved,
        Self::UnknownBits,
        Self::UnknownValue,
        Self::Length,
        Self::Rule,
        Self::Unsupported,
        Self::Limit,
    ];

    /// Its name, as the registry-driven tools and other languages have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TooShort => "too_short",
            Self::TooLong => "too_long",
            Self::Constant => "constant",
            Self::Reserved => "reserved",
            Self::UnknownBits => "unknown_bits",
            Self::UnknownValue => "unknown_value",
            Self::Length => "length",
            Self::Rule => "rule",
            Self::Unsupported => "unsupported",
            Self::Limit => "limit",
        }
    }

    /// What it says of a field, to stand between the field and the end of the sentence.
    pub const fn says(self) -> &'static str {
        match self {
            Self::TooShort => "ends too early",
            Self::TooLong => "goes on too long",
            Self::Constant => "is not the constant that it must be",
            Self::Reserved => "is reserved and must be zero",
            Self::UnknownBits => "has bits set that are not known",
            Self::UnknownValue => "has a value that is not known",
            Self::Length => "does not match the bytes that are there",
            Self::Rule => "breaks a rule",
            Self::Unsupported => "must be understood and is not",
            Self::Limit => "is over the limit",
        }
    }
}

/// A place that can be at fault: a field of a layout, and the rule that it may break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Site {
    /// The layout.
    pub layout: &'static str,
    /// The field; empty for the layout as a whole.
    pub field: &'static str,
    /// The rule; empty where none is involved.
    pub rule: &'static str,
    /// Why there is that rule.
    pub doc: &'static str,
    /// The error code on the wire; 0 for the protocol's usual one.
    pub code: u32,
    /// Whether the message is to blame, not its header: what follows the packet can still be found.
    pub message: bool,
}

impl Site {
    /// A layout as a whole.
    pub const fn layout(layout: &'static str) -> Self {
        Self::field(layout, "")
    }

    /// A field.
    pub const fn field(layout: &'static str, field: &'static str) -> Self {
        Self { layout, field, rule: "", doc: "", code: 0, message: false }
    }

    /// A field and the rule that it may break.
    pub const fn rule(
        layout: &'static str,
        field: &'static str,
        rule: &'static str,
        doc: &'static str,
    ) -> Self {
        Self { layout, field, rule, doc, code: 0, message: false }
    }

    /// The same with an error code of its own.
    pub const fn code(self, code: u32) -> Self {
        Self { code, ..self }
    }

    /// The same for what a message owes, whatever field shows it.
    pub const fn message(self) -> Self {
        Self { message: true, ..self }
    }
}

impl Fault {
    /// A fault of some kind at `site`, `offset` bytes from the start of what is decoded.
    pub const fn new(site: &'static Site, offset: u32, kind: FaultKind) -> Self {
        Self { site, place: (offset as u64) << 8 | kind as u64 }
    }

    /// The fault of `found` bytes where `site`, a layout, has `size`.
    #[cold]
    pub const fn length(site: &'static Site, found: usize, size: u32) -> Self {
        if found < size as usize {
            Self::new(site, found as u32, FaultKind::TooShort)
        } else {
            Self::new(site, size, FaultKind::TooLong)
        }
    }

    /// The same fault seen from `base` bytes further out.
    #[must_use]
    pub const fn behind(self, base: usize) -> Self {
        let base = if base > u32::MAX as usize { u32::MAX } else { base as u32 };
        Self::new(self.site, (self.offset() as u32).saturating_add(base), self.kind())
    }

    /// The layout that is at fault.
    pub const fn layout(&self) -> &'static str {
        self.site.layout
    }

    /// The field to blame; empty where it is the layout as a whole.
    pub const fn field(&self) -> &'static str {
        self.site.field
    }

    /// Bytes from the start of what was decoded to the fault.
    pub const fn offset(&self) -> usize {
        (self.place >> 8) as usize
    }

    /// How it is wrong.
    pub const fn kind(&self) -> FaultKind {
        let number = (self.place & 0xff) as usize;
        if number < FaultKind::ALL.len() { FaultKind::ALL[number] } else { FaultKind::Rule }
    }

    /// The id of the rule that does not hold.
    pub const fn rule(&self) -> Option<&'static str> {
        if self.site.rule.is_empty() { None } else { Some(self.site.rule) }
    }

    /// Whether the message is to blame even where the field is one of the header's.
    pub const fn is_of_message(&self) -> bool {
        self.site.message
    }

    /// The error code on the wire where it is not the protocol's usual one.
    pub const fn code(&self) -> Option<u32> {
        if self.site.code == 0 { None } else { Some(self.site.code) }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Site { layout, field, rule, doc, .. } = self.site;
        sentence(out, (layout, field), self.offset(), self.kind(), (rule, doc))
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Fault({self})")
    }
}

impl core::error::Error for Fault {}

/// The sentence of a fault, in every language the same.
pub fn sentence(
    out: &mut dyn fmt::Write,
    (layout, field): (&str, &str),
    offset: usize,
    kind: FaultKind,
    (rule, doc): (&str, &str),
) -> fmt::Result {
    let dot = if field.is_empty() { "" } else { "." };
    write!(out, "byte {offset}: `{layout}{dot}{field}` ")?;
    match (rule.is_empty(), kind) {
        (true, _) => out.write_str(kind.says()),
        (false, FaultKind::Rule) if doc.is_empty() => write!(out, "breaks rule {rule}"),
        (false, FaultKind::Rule) => write!(out, "breaks rule {rule}: {}", doc.trim_end_matches('.')),
        (false, _) => write!(out, "{} (rule {rule})", kind.says()),
    }
}
