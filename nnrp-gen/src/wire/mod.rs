//! What generated codecs share: faults, the table of a layout's fields, and byte helpers.
//!
//! This file is part of the generator, which uses it itself, and of everything that it generates.

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

/// A number that is no value of an enum, or a name that names nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UnknownValue {
    /// The enum or bitmask.
    pub of: &'static str,
}

impl fmt::Display for UnknownValue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "no value of `{}`", self.of)
    }
}

impl core::error::Error for UnknownValue {}

/// A field of a layout as data: where it is and what its bytes must be.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Where to put the blame.
    pub site: Site,
    /// First byte.
    pub offset: u32,
    /// Bytes in all.
    pub size: u32,
    /// What must hold of them.
    pub test: Test,
}

/// What must hold of the bytes of a field.
#[derive(Clone, Copy, Debug)]
pub enum Test {
    /// Anything goes.
    Any,
    /// All are zero.
    Zero,
    /// They are these.
    Constant(&'static [u8]),
    /// As a little-endian number, no other bits are set.
    BitsLittle(u64),
    /// As a big-endian number, no other bits are set.
    BitsBig(u64),
    /// As a little-endian number, it lies in one of these inclusive spans.
    ValuesLittle(&'static [(u64, u64)]),
    /// As a big-endian number, it lies in one of these inclusive spans.
    ValuesBig(&'static [(u64, u64)]),
    /// They are layouts of that many bytes each, which this checks.
    Layouts(u32, fn(&[u8]) -> Option<Fault>),
}

/// The first fault among the fields of a layout, whose length is right.
#[cold]
pub fn first_fault(bytes: &[u8], fields: &'static [Field]) -> Option<Fault> {
    fields.iter().find_map(|field| field.fault(bytes))
}

impl Field {
    /// A field of a layout, and what must hold of its bytes.
    pub const fn new(layout: &'static str, field: &'static str, offset: u32, size: u32, test: Test) -> Self {
        Self { site: Site::field(layout, field), offset, size, test }
    }

    /// The same with an error code of its own.
    pub const fn code(self, code: u32) -> Self {
        Self { site: self.site.code(code), ..self }
    }

    fn fault(&'static self, bytes: &[u8]) -> Option<Fault> {
        let start = self.offset as usize;
        let bytes = bytes.get(start..start + self.size as usize)?;
        let little = || bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
        let big = || bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        let listed = |number: u64, spans: &[(u64, u64)]| {
            spans.iter().any(|&(from, to)| from <= number && number <= to)
        };
        let (good, kind) = match self.test {
            Test::Any => return None,
            Test::Zero => (bytes.iter().all(|byte| *byte == 0), FaultKind::Reserved),
            Test::Constant(constant) => (bytes == constant, FaultKind::Constant),
            Test::BitsLittle(known) => (little() & !known == 0, FaultKind::UnknownBits),
            Test::BitsBig(known) => (big() & !known == 0, FaultKind::UnknownBits),
            Test::ValuesLittle(spans) => (listed(little(), spans), FaultKind::UnknownValue),
            Test::ValuesBig(spans) => (listed(big(), spans), FaultKind::UnknownValue),
            Test::Layouts(size, check) => {
                let inner = |(at, bytes)| Some(check(bytes)?.behind(start + at * size as usize));
                return bytes.chunks(size.max(1) as usize).enumerate().find_map(inner);
            }
        };
        if good { None } else { Some(Fault::new(&self.site, self.offset, kind)) }
    }
}

/// The names of a bitmask's set bits, joined by ` | `; 0 for none.
pub fn write_bits(out: &mut fmt::Formatter<'_>, bits: u64, names: &[(&'static str, u64)]) -> fmt::Result {
    let mut rest = bits;
    let mut between = "";
    for (name, mask) in names {
        if bits & mask != 0 {
            write!(out, "{between}{name}")?;
            between = " | ";
            rest &= !mask;
        }
    }
    match rest {
        0 if between.is_empty() => out.write_str("0"),
        0 => Ok(()),
        rest => write!(out, "{between}{rest:#x}"),
    }
}

/// What [`write_bits`] wrote; nothing where a name is not known.
pub fn read_bits(text: &str, names: &[(&'static str, u64)]) -> Option<u64> {
    if text.trim() == "0" {
        return Some(0);
    }
    text.split('|').try_fold(0, |bits, name| {
        let found = names.iter().find(|(known, _)| *known == name.trim());
        found.map(|(_, mask)| bits | mask)
    })
}

/// Writes `value` at byte `at`.
#[inline(always)]
pub fn put<const N: usize, const M: usize>(bytes: &mut [u8; N], at: usize, value: [u8; M]) {
    if let Some(place) = bytes.get_mut(at..at + M) {
        place.copy_from_slice(&value);
    }
}

/// A standard schema: both sides know it without sending it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schema {
    /// Which schema.
    pub schema_id: u32,
    /// Which version of it.
    pub schema_version: u32,
    /// Its name.
    pub name: &'static str,
    /// Name of the profile that it belongs to.
    pub profile: &'static str,
    /// Name of its default stream semantics.
    pub semantics: &'static str,
}

/// Fills a buffer from front to back. What does not fit is left out; who uses it measures first.
#[derive(Debug)]
pub struct Writer<'a> {
    rest: &'a mut [u8],
}

impl<'a> Writer<'a> {
    /// Starts at the front.
    pub fn new(out: &'a mut [u8]) -> Self {
        Self { rest: out }
    }

    /// Writes bytes behind those that were written.
    #[inline]
    pub fn put(&mut self, bytes: &[u8]) {
        let rest = core::mem::take(&mut self.rest);
        if let Some((place, rest)) = rest.split_at_mut_checked(bytes.len()) {
            place.copy_from_slice(bytes);
            self.rest = rest;
        }
    }
}

/// Why a packet could not be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteError {
    /// It takes that many bytes, and there are fewer.
    Room(usize),
    /// A reader would refuse it for that.
    Fault(Fault),
}

impl From<Fault> for WriteError {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Room(bytes) => write!(out, "the packet takes {bytes} bytes, and there are fewer"),
            Self::Fault(fault) => write!(out, "a reader would refuse the packet: {fault}"),
        }
    }
}

impl core::error::Error for WriteError {}

/// The `M` bytes from byte `at`, which lie in `bytes`.
#[inline(always)]
pub fn part<const N: usize, const M: usize>(bytes: &[u8; N], at: usize) -> &[u8; M] {
    match bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        Some(part) => part,
        None => &[0; M],
    }
}

/// Functions that read and write a number, or several in a row.
macro_rules! numbers {
    ($($ty:ident: $read:ident $reads:ident $put:ident $puts:ident $from:ident $to:ident $order:literal;)*) => {$(
        #[doc = concat!("The ", $order, "-endian `", stringify!($ty), "` at byte `at`, which lies in `bytes`.")]
        #[inline(always)]
        pub fn $read(bytes: &[u8], at: usize) -> $ty {
            match bytes.get(at..).and_then(|rest| rest.first_chunk()) {
                Some(part) => $ty::$from(*part),
                None => $ty::$from([0; size_of::<$ty>()]),
            }
        }

        #[doc = concat!("The ", $order, "-endian `", stringify!($ty), "`s from byte `at` on, which lie in `bytes`.")]
        #[inline(always)]
        pub fn $reads<const COUNT: usize>(bytes: &[u8], at: usize) -> [$ty; COUNT] {
            core::array::from_fn(|index| $read(bytes, at + index * size_of::<$ty>()))
        }

        #[doc = concat!("Writes a ", $order, "-endian `", stringify!($ty), "` at byte `at`, which lies in `bytes`.")]
        #[inline(always)]
        pub fn $put(bytes: &mut [u8], at: usize, value: $ty) {
            if let Some(place) = bytes.get_mut(at..).and_then(|rest| rest.first_chunk_mut()) {
                *place = value.$to();
            }
        }

        #[doc = concat!("Writes ", $order, "-endian `", stringify!($ty), "`s from byte `at` on, which lie in `bytes`.")]
        #[inline(always)]
        pub fn $puts<const COUNT: usize>(bytes: &mut [u8], at: usize, values: [$ty; COUNT]) {
            if let Some(place) = bytes.get_mut(at..at + COUNT * size_of::<$ty>()) {
                place.copy_from_slice(values.map(|value| value.$to()).as_flattened());
            }
        }
    )*};
}

numbers! {
    i8: i8_le i8s_le put_i8_le put_i8s_le from_le_bytes to_le_bytes "little";
    i8: i8_be i8s_be put_i8_be put_i8s_be from_be_bytes to_be_bytes "big";
    u16: u16_le u16s_le put_u16_le put_u16s_le from_le_bytes to_le_bytes "little";
    u16: u16_be u16s_be put_u16_be put_u16s_be from_be_bytes to_be_bytes "big";
    u32: u32_le u32s_le put_u32_le put_u32s_le from_le_bytes to_le_bytes "little";
    u32: u32_be u32s_be put_u32_be put_u32s_be from_be_bytes to_be_bytes "big";
    u64: u64_le u64s_le put_u64_le put_u64s_le from_le_bytes to_le_bytes "little";
    u64: u64_be u64s_be put_u64_be put_u64s_be from_be_bytes to_be_bytes "big";
    i16: i16_le i16s_le put_i16_le put_i16s_le from_le_bytes to_le_bytes "little";
    i16: i16_be i16s_be put_i16_be put_i16s_be from_be_bytes to_be_bytes "big";
    i32: i32_le i32s_le put_i32_le put_i32s_le from_le_bytes to_le_bytes "little";
    i32: i32_be i32s_be put_i32_be put_i32s_be from_be_bytes to_be_bytes "big";
    i64: i64_le i64s_le put_i64_le put_i64s_le from_le_bytes to_le_bytes "little";
    i64: i64_be i64s_be put_i64_be put_i64s_be from_be_bytes to_be_bytes "big";
    f32: f32_le f32s_le put_f32_le put_f32s_le from_le_bytes to_le_bytes "little";
    f32: f32_be f32s_be put_f32_be put_f32s_be from_be_bytes to_be_bytes "big";
    f64: f64_le f64s_le put_f64_le put_f64s_le from_le_bytes to_le_bytes "little";
    f64: f64_be f64s_be put_f64_be put_f64s_be from_be_bytes to_be_bytes "big";
}

/// An enum on the wire: what `derive(WireEnum)` and the registry make.
pub trait WireEnum: Copy + fmt::Debug + 'static {
    /// The integer that it is: `u8`, `u16`, `u32` or `u64`.
    type Raw: Unsigned;

    /// Its name in a registry.
    const NAME: &'static str;

    /// The listed values, by their names in a registry.
    const NAMES: &'static [(&'static str, u64)];

    /// The ranges of values without a name of their own: what they are called, first and last.
    const RANGES: &'static [(&'static str, u64, u64)];

    /// The accepted numbers as inclusive spans, ascending.
    const SPANS: &'static [(u64, u64)];

    /// Whether a number is a value of it.
    fn accepts(raw: u64) -> bool;

    /// The value of that number, if it is one.
    fn from_raw(raw: Self::Raw) -> Option<Self>;

    /// The number on the wire.
    fn raw(self) -> Self::Raw;

    /// The name in the registry, if the value is listed.
    fn name(self) -> Option<&'static str>;

    /// The value of a number that was checked to be one.
    #[doc(hidden)]
    fn checked(number: u64) -> Self;

    /// [`Self::raw`] as the widest number.
    #[doc(hidden)]
    fn number(self) -> u64;
}

/// An integer that enums and bitmasks can be.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no `u8`, `u16`, `u32` or `u64`",
    note = "enums and bitmasks on the wire are unsigned integers of 8, 16, 32 or 64 bits"
)]
pub trait Unsigned: Copy + 'static {}

impl Unsigned for u8 {}
impl Unsigned for u16 {}
impl Unsigned for u32 {}
impl Unsigned for u64 {}

/// A layout: a struct whose bytes on the wire are fixed. What `derive(Layout)` and the registry make.
///
/// Each also has these functions as its own, with arrays in place of slices.
pub trait Layout: Packed {
    /// Its checked bytes.
    type View<'a>: Copy + fmt::Debug;

    /// Its name in a registry.
    const NAME: &'static str;

    /// Its bytes on the wire.
    const SIZE: usize;

    /// Checks bytes and looks at them where they are.
    ///
    /// # Errors
    ///
    /// The first fault: length, fields by offset, rules.
    fn view(bytes: &[u8]) -> Result<Self::View<'_>, Fault>;
}

/// What generated code needs of a layout to check it, and to put it into another one.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no layout",
    note = "a type becomes one by `#[derive(Layout)]`"
)]
pub trait Packed: Sized {
    /// `[u8; SIZE]`.
    type Bytes: Copy;

    /// The layout as a place to blame.
    const SITE: &'static Site;

    /// Whether everything holds that the types of the fields leave open.
    fn holds(&self) -> bool;

    /// The bytes as they would be, good or not.
    fn pack(&self) -> Self::Bytes;

    /// The values of bytes that were checked.
    fn unpack(bytes: &Self::Bytes) -> Self;

    /// Whether bytes are good, in one pass without branches.
    fn bytes_hold(bytes: &Self::Bytes) -> bool;

    /// The first fault of bytes.
    fn find_fault(bytes: &Self::Bytes) -> Option<Fault>;

    /// The first fault of bytes that are not good.
    #[cold]
    #[inline(never)]
    fn fault(bytes: &Self::Bytes) -> Fault {
        match Self::find_fault(bytes) {
            Some(fault) => fault,
            None => Fault::new(Self::SITE, 0, FaultKind::Rule),
        }
    }
}

/// Bytes as those of a layout, if they are good.
#[inline]
pub fn check<L: Packed<Bytes = [u8; N]>, const N: usize>(bytes: &[u8]) -> Result<&[u8; N], Fault> {
    let Ok(array) = <&[u8; N]>::try_from(bytes) else {
        return Err(Fault::length(L::SITE, bytes.len(), N as u32));
    };
    if L::bytes_hold(array) { Ok(array) } else { Err(L::fault(array)) }
}

/// [`check`] for bytes that shall change.
#[inline]
pub fn check_mut<L: Packed<Bytes = [u8; N]>, const N: usize>(
    bytes: &mut [u8],
) -> Result<&mut [u8; N], Fault> {
    let found = bytes.len();
    let Ok(array) = <&mut [u8; N]>::try_from(bytes) else {
        return Err(Fault::length(L::SITE, found, N as u32));
    };
    if L::bytes_hold(array) { Ok(array) } else { Err(L::fault(array)) }
}

/// The values of bytes, if they are good.
#[inline]
pub fn decode<L: Packed<Bytes = [u8; N]>, const N: usize>(bytes: &[u8]) -> Result<L, Fault> {
    let Ok(array) = <&[u8; N]>::try_from(bytes) else {
        return Err(Fault::length(L::SITE, bytes.len(), N as u32));
    };
    if L::bytes_hold(array) { Ok(L::unpack(array)) } else { Err(L::fault(array)) }
}

/// Whether values are good.
#[inline]
pub fn validate<L: Packed<Bytes = [u8; N]>, const N: usize>(value: &L) -> Result<(), Fault> {
    if value.holds() { Ok(()) } else { Err(L::fault(&value.pack())) }
}

/// The bytes of values, if they are good.
#[inline]
pub fn to_bytes<L: Packed<Bytes = [u8; N]>, const N: usize>(value: &L) -> Result<[u8; N], Fault> {
    if value.holds() { Ok(value.pack()) } else { Err(L::fault(&value.pack())) }
}

/// Writes the bytes of values into `out`, which is exactly as long, if they are good.
#[inline]
pub fn encode<L: Packed<Bytes = [u8; N]>, const N: usize>(value: &L, out: &mut [u8]) -> Result<(), Fault> {
    let found = out.len();
    let Ok(out) = <&mut [u8; N]>::try_from(out) else {
        return Err(Fault::length(L::SITE, found, N as u32));
    };
    if !value.holds() {
        return Err(L::fault(&value.pack()));
    }
    *out = value.pack();
    Ok(())
}

/// Puts bytes in the place of others, if they are good.
#[inline]
pub fn replace<L: Packed<Bytes = [u8; N]>, const N: usize>(
    place: &mut [u8; N],
    bytes: [u8; N],
) -> Result<(), Fault> {
    if !L::bytes_hold(&bytes) {
        return Err(L::fault(&bytes));
    }
    *place = bytes;
    Ok(())
}

/// Whether all layouts of an array are good, without branches between them.
#[inline]
pub fn all_hold<L: Packed, const COUNT: usize>(values: &[L; COUNT]) -> bool {
    values.iter().fold(true, |good, value| good & value.holds())
}

/// Whether the bytes of `count` layouts from byte `at` on are good.
#[inline]
pub fn all_bytes_hold<L: Packed<Bytes = [u8; M]>, const N: usize, const M: usize>(
    bytes: &[u8; N],
    at: usize,
    count: usize,
) -> bool {
    (0..count).fold(true, |good, index| good & L::bytes_hold(part(bytes, at + index * M)))
}

/// The first fault in the bytes of a layout that stands in another.
pub fn inner_fault<L: Packed<Bytes = [u8; N]>, const N: usize>(bytes: &[u8]) -> Option<Fault> {
    L::find_fault(bytes.first_chunk()?)
}

/// Writes layouts one after another from byte `at` on.
#[inline(always)]
pub fn put_layouts<L: Packed<Bytes = [u8; M]>, const N: usize, const M: usize, const COUNT: usize>(
    bytes: &mut [u8; N],
    at: usize,
    values: &[L; COUNT],
) {
    for (index, value) in values.iter().enumerate() {
        put(bytes, at + index * M, value.pack());
    }
}

/// Shows fields by name, as a derived `Debug` does.
pub fn show(out: &mut fmt::Formatter<'_>, name: &str, fields: &[(&str, &dyn fmt::Debug)]) -> fmt::Result {
    let mut out = out.debug_struct(name);
    for (name, value) in fields {
        out.field(name, value);
    }
    out.finish()
}

/// A place of `N` bytes without a value: zero on the wire, and nothing in the struct.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reserved<const N: usize>;

/// Whether two names are the same but for their case.
#[doc(hidden)]
pub const fn same_name(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let mut at = 0;
    while at < left.len() && at < right.len() {
        if !left[at].eq_ignore_ascii_case(&right[at]) {
            return false;
        }
        at += 1;
    }
    left.len() == right.len()
}

pub mod body;
