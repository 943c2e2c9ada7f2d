//! Derive macros for layouts and profile descriptors of one's own.
//!
//! nnrp-core has these macros too, and is what a crate depends on that uses them. They hold nothing but the reading of
//! Rust: model, checks and emitter are those of nnrp-gen, so that a struct that derives and a row in a registry have
//! the same rules, the same messages and the same code.
//!
//! | macro | on | gives |
//! | --- | --- | --- |
//! | [`Layout`](derive@Layout) | a struct | bytes with a fixed form, strictly validated |
//! | [`WireEnum`](derive@WireEnum) | an enum with numbers | a type for fields of layouts |
//! | [`ProfileDescriptor`](derive@ProfileDescriptor) | a layout | a schema, and typed payloads that are bound to it |
//! | [`registry!`] | a TOML file or folder | all that nnrp-gen makes of it, in place |
#![forbid(unsafe_code)]

mod derive;
mod enumeration;
mod expansion;
mod field;
mod held;
mod keys;
mod layout;
mod places;
mod profile;
mod refuse;
mod registry;
mod root;
mod stub;
mod ty;
mod value;

use proc_macro::TokenStream;
use syn::DeriveInput;

use expansion::alone;

/// Makes a struct with named fields a layout: bytes with a fixed form on the wire.
///
/// ```
/// use nnrp_core::{Layout, Reserved};
///
/// /// What stands in front of the samples of a chunk.
/// #[derive(Clone, Debug, PartialEq, Layout)]
/// #[layout(size = 16)]
/// pub struct AudioChunk {
///     /// First sample.
///     pub start: u64,
///     /// Samples per channel.
///     #[layout(offset = 8)]
///     pub samples: u32,
///     /// Channels that alternate.
///     pub channels: u8,
///     reserved0: Reserved<3>,
/// }
///
/// let chunk = AudioChunk { start: 1, samples: 480, channels: 2, reserved0: Reserved };
/// let bytes = chunk.to_bytes()?;
/// assert_eq!(bytes, [1, 0, 0, 0, 0, 0, 0, 0, 0xe0, 1, 0, 0, 2, 0, 0, 0]);
/// assert_eq!(AudioChunk::decode(&bytes)?, chunk);
///
/// // Where the bytes are, without a copy.
/// let view = AudioChunk::view(&bytes)?;
/// assert_eq!(view.samples(), 480);
///
/// // What a peer should not have sent is refused, with the place.
/// let mut wrong = bytes;
/// wrong[14] = 1;
/// let fault = AudioChunk::decode(&wrong).unwrap_err();
/// assert_eq!(fault.to_string(), "byte 13: `audio_chunk.reserved0` is reserved and must be zero");
/// # Ok::<(), nnrp_core::wire::Fault>(())
/// ```
///
/// # What it gives
///
/// For a struct `AudioChunk`: its functions `view`, `decode`, `encode_into`, `to_bytes` and `validate`; the constants
/// `NAME`, `SIZE`, `FIELDS` and an `…_OFFSET` for each field; the types `AudioChunkView`, checked bytes that stay where
/// they are, and `AudioChunkWire`, the bytes with an assertion for the size and for each offset. On request also
/// `view_mut` and `AudioChunkMut`. The types are as visible as the struct. The struct also is a `Layout`, the trait, for
/// code that is generic over layouts.
///
/// Encoding refuses what decoding would refuse. Of several faults the first is reported: length, fields by offset, rules
/// as they are written.
///
/// # On the struct
///
/// ## `size`
///
/// Its bytes. May be left out; then the fields say it.
///
/// ```
/// # use nnrp_core::Layout;
/// #[derive(Layout)]
/// #[layout(size = 8)]
/// struct Pair {
///     left: u32,
///     right: u32,
/// }
/// ```
///
/// ## `byte_order`
///
/// `"little"`, as it is without, or `"big"`.
///
/// ```
/// # use nnrp_core::Layout;
/// #[derive(Layout)]
/// #[layout(byte_order = "big")]
/// struct Port {
///     number: u16,
/// }
/// assert_eq!(Port { number: 80 }.to_bytes(), Ok([0, 80]));
/// ```
///
/// ## `view_mut`
///
/// Adds the function `view_mut` and a type, here `CounterMut`, which changes checked bytes where they are and keeps them
/// good. It is a third of all that the compiler has to read for a layout, so it is there on request.
///
/// ```
/// # use nnrp_core::Layout;
/// #[derive(Layout)]
/// #[layout(view_mut)]
/// struct Counter {
///     #[layout(bool = u8)]
///     running: bool,
///     #[layout(offset = 1)]
///     count: u32,
/// }
///
/// let mut bytes = [1, 7, 0, 0, 0];
/// Counter::view_mut(&mut bytes)?.set_count(8);
/// assert_eq!(bytes, [1, 8, 0, 0, 0]);
/// # Ok::<(), nnrp_core::wire::Fault>(())
/// ```
///
/// ## `rule`
///
/// What the fields must fulfil together: `require`, or where `when` says so only then. `id` is how a fault cites it, `doc`
/// is why, `field` is whom to blame if it is not the first field of `require`. May stand several times.
///
/// The language is that of registry files: fields, numbers, `+ - * %`, comparisons, `&& || !`, values of enums by name,
/// bits as `field.bit`, and `field in Enum`. Names of values and bits are written as a registry does: `Codec::Opus` is
/// `opus`.
///
/// ```
/// # use nnrp_core::Layout;
/// #[derive(Layout)]
/// #[layout(rule(id = "W1", require = "first <= last", doc = "A window does not end before it starts."))]
/// #[layout(rule(id = "W2", when = "open", require = "last == 0xffff", field = "last"))]
/// struct Window {
///     first: u16,
///     last: u16,
///     open: bool,
/// }
/// let fault = Window { first: 2, last: 1, open: false }.validate().unwrap_err();
/// assert_eq!((fault.rule(), fault.field()), (Some("W1"), "first"));
/// ```
///
/// Where two rules share a `when`, a `field` or a `doc`, clippy takes the second for the same attribute once more
/// (`clippy::duplicated_attributes`). It does not look into braces, which do as well:
///
/// ```
/// # use nnrp_core::Layout;
/// #[derive(Layout)]
/// #[layout(
///     rule { id = "P1", when = "paused", require = "rate == 0" },
///     rule { id = "P2", when = "paused", require = "depth == 0" }
/// )]
/// struct Pace {
///     rate: u16,
///     depth: u8,
///     paused: bool,
/// }
/// let fault = Pace { rate: 0, depth: 1, paused: true }.validate().unwrap_err();
/// assert_eq!(fault.rule(), Some("P2"));
/// ```
///
/// ## `uses`
///
/// Enums that only rules name, so that no field says which types they are.
///
/// ```
/// # use nnrp_core::{Layout, ObjectKind};
/// #[derive(Layout)]
/// #[layout(uses(ObjectKind), rule(id = "K1", require = "kind in ObjectKind"))]
/// struct Kinds {
///     kind: u64,
/// }
/// ```
///
/// ## `doc`, `name`, `source`
///
/// The first paragraph of the docs goes into descriptions; `doc` says something else there. `name` is the name in a
/// registry, which is the name of the struct in `snake_case` without it. `source` is the section of a document.
///
/// ```
/// # use nnrp_core::Layout;
/// #[derive(Layout)]
/// #[layout(name = "kv_page", doc = "In front of a page.", source = "3.1")]
/// struct KVPage {
///     number: u32,
/// }
/// assert_eq!(KVPage::NAME, "kv_page");
/// ```
///
/// ## `crate`
///
/// Where the core is, if it is no dependency but comes through another crate. A dependency that was renamed is found by
/// itself.
///
/// ```
/// # mod facade { pub use nnrp_core as core; }
/// use facade::core::Layout;
///
/// #[derive(Layout)]
/// #[layout(crate = "facade::core")]
/// struct Pair {
///     left: u32,
///     right: u32,
/// }
/// ```
///
/// # On a field
///
/// A field is an integer of 8 to 64 bits, `f32`, `f64`, `bool`, `Reserved<N>`, another type with its width beside it, or
/// an array of numbers or layouts whose length is written out.
///
/// ## `offset`
///
/// Its first byte. May be left out where it follows the field before. No byte may be left over: what has no meaning yet
/// is a reserved field.
///
/// ```
/// # use nnrp_core::Layout;
/// #[derive(Layout)]
/// struct Pair {
///     left: u8,
///     #[layout(offset = 1)]
///     right: u32,
/// }
/// assert_eq!(Pair::RIGHT_OFFSET, 1);
/// ```
///
/// ## `reserved`
///
/// It is zero. A field of type `Reserved<N>` has no value and so cannot be wrong; with this attribute a field of any
/// type is reserved, and another value than zero is refused.
///
/// ```
/// # use nnrp_core::{Layout, Reserved};
/// #[derive(Layout)]
/// struct Sparse {
///     number: u8,
///     gap: Reserved<3>,
///     #[layout(reserved)]
///     later: u32,
/// }
/// assert!(Sparse { number: 1, gap: Reserved, later: 1 }.validate().is_err());
/// ```
///
/// ## `const`
///
/// It always has this value: a number, or text or a list of numbers for an array. Another one is refused.
///
/// ```
/// # use nnrp_core::Layout;
/// #[derive(Layout)]
/// struct Start {
///     #[layout(const = "KVPG")]
///     magic: [u8; 4],
///     #[layout(const = 2)]
///     version: u16,
///     #[layout(const = [1, 0xffff])]
///     marks: [u16; 2],
/// }
/// assert!(Start { magic: *b"KVPG", version: 1, marks: [1, 0xffff] }.validate().is_err());
/// ```
///
/// ## `bool`
///
/// A `bool` takes one byte, or as many as `bool = u32` says. On an integer, `bool` alone: it is 0 or 1.
///
/// ```
/// # use nnrp_core::Layout;
/// #[derive(Layout)]
/// struct Flags {
///     one: bool,
///     #[layout(bool = u16)]
///     two: bool,
///     #[layout(bool)]
///     number: u8,
/// }
/// assert!(Flags::decode(&[1, 1, 0, 1]).is_ok());
/// assert!(Flags::decode(&[2, 1, 0, 1]).is_err());
/// ```
///
/// ## `enum`
///
/// Its values are those of an enum that derives [`WireEnum`](derive@WireEnum), or of one of nnrp-core's, and it is so wide
/// on the wire. The enum may be narrower.
///
/// ```
/// # use nnrp_core::{Layout, ObjectKind, WireEnum};
/// #[derive(Clone, Copy, Debug, PartialEq, WireEnum)]
/// #[repr(u8)]
/// enum Codec {
///     Pcm,
///     Opus,
/// }
///
/// #[derive(Layout)]
/// #[layout(rule(id = "A1", when = "codec == opus", require = "rate == 48000"))]
/// struct Audio {
///     #[layout(enum = u16)]
///     codec: Codec,
///     #[layout(enum = u16)]
///     kind: ObjectKind,
///     rate: u32,
/// }
/// assert!(Audio::decode(&[2, 0, 0, 0, 0, 0, 0, 0]).is_err());
/// ```
///
/// ## `bitmask`
///
/// Its bits are those of a type of the bitflags crate, and it is so wide on the wire. Other bits are refused.
///
/// ```
/// # use nnrp_core::Layout;
/// nnrp_core::bitflags::bitflags! {
///     #[derive(Clone, Copy, Debug)]
///     struct Marks: u8 {
///         const FIRST = 1;
///         const LAST = 2;
///     }
/// }
///
/// #[derive(Layout)]
/// #[layout(rule(id = "M1", require = "!(marks.first && marks.last)"))]
/// struct Marked {
///     #[layout(bitmask = u32)]
///     marks: Marks,
/// }
/// assert!(Marked::decode(&[4, 0, 0, 0]).is_err());
/// ```
///
/// ## `layout`
///
/// It is another layout of so many bytes, or an array of them.
///
/// ```
/// # use nnrp_core::Layout;
/// #[derive(Clone, Copy, Layout)]
/// struct Range {
///     first: u32,
///     count: u32,
/// }
///
/// #[derive(Layout)]
/// struct Ranges {
///     #[layout(layout = 8)]
///     all: Range,
///     #[layout(layout = 8)]
///     parts: [Range; 2],
/// }
/// assert_eq!(Ranges::SIZE, 24);
/// ```
///
/// ## `unit`, `since`, `deprecated`, `doc`
///
/// What it counts, the version that brought it, why not to use it any more; `doc` is as on the struct. They go into the docs
/// of getters and into descriptions, and are nothing on the wire.
///
/// ```
/// # use nnrp_core::Layout;
/// #[derive(Layout)]
/// struct Timed {
///     /// When it began.
///     #[layout(unit = "ms", since = "1.1")]
///     start: u64,
///     #[layout(deprecated = "`start` is enough", doc = "When it ended.")]
///     end: u64,
/// }
/// ```
#[proc_macro_derive(Layout, attributes(layout))]
pub fn derive_layout(input: TokenStream) -> TokenStream {
    alone(input, |input: DeriveInput| layout::expand(&input))
}

/// Makes an enum with numbers a type for fields of layouts.
///
/// The enum is `Copy` and `Debug`, and says by `#[repr(u8)]`, `u16`, `u32` or `u64` how wide it is. It becomes a
/// `WireEnum`, the trait, with `from_raw`, `raw`, `name`, `accepts` and the tables of its values.
///
/// ```
/// use nnrp_core::WireEnum;
///
/// /// How samples are coded.
/// #[derive(Clone, Copy, Debug, PartialEq, WireEnum)]
/// #[repr(u8)]
/// pub enum Codec {
///     /// 16-bit samples.
///     Pcm16 = 1,
///     /// Opus.
///     Opus,
/// }
///
/// assert_eq!(Codec::from_raw(2), Some(Codec::Opus));
/// assert_eq!(Codec::from_raw(3), None);
/// assert_eq!((Codec::Pcm16.raw(), Codec::Pcm16.name()), (1, Some("pcm16")));
/// ```
///
/// # On the enum
///
/// `crate` and `source` are as on a layout, and so is `name`.
///
/// ```
/// # mod facade { pub use nnrp_core as core; }
/// use facade::core::WireEnum;
///
/// #[derive(Clone, Copy, Debug, WireEnum)]
/// #[wire(crate = "facade::core", name = "audio_codec", source = "3.2")]
/// #[repr(u16)]
/// enum Codec {
///     Opus,
/// }
/// assert_eq!(Codec::NAME, "audio_codec");
/// ```
///
/// # On a variant
///
/// ## `range`
///
/// The variant carries a number of an open range, which may reach to the end: `0x80..`. It may not overlap other variants,
/// so that no number has two forms; a number outside of the range is refused when it is encoded.
///
/// ```
/// # use nnrp_core::WireEnum;
/// #[derive(Clone, Copy, Debug, PartialEq, WireEnum)]
/// #[repr(u16)]
/// enum Kind {
///     Tensor,
///     Audio,
///     #[wire(range = 0x8000..=0xfffe)]
///     Private(u16),
/// }
/// assert_eq!(Kind::from_raw(0x8001), Some(Kind::Private(0x8001)));
/// assert_eq!(Kind::from_raw(0xffff), None);
/// ```
///
/// ## `name`
///
/// The name in a registry and in rules, where it is not that of the variant in `snake_case`.
///
/// ```
/// # use nnrp_core::WireEnum;
/// #[derive(Clone, Copy, Debug, WireEnum)]
/// #[repr(u8)]
/// enum Number {
///     #[wire(name = "fp8_e4m3")]
///     Fp8,
/// }
/// assert_eq!(Number::Fp8.name(), Some("fp8_e4m3"));
/// ```
#[proc_macro_derive(WireEnum, attributes(wire))]
pub fn derive_wire_enum(input: TokenStream) -> TokenStream {
    alone(input, |input: DeriveInput| enumeration::expand(&input))
}

/// Gives a layout a profile and a schema, so that it stands in front of typed payloads.
///
/// Stands beside [`Layout`](derive@Layout). The struct becomes a `ProfileDescriptor`, the trait: constants, the
/// `schema_descriptor_header` to install, payloads written and read with their binding checked, and a `description` as
/// registry TOML, of which `nnrp-gen emit c` makes the C header of the same bytes.
///
/// ```
/// use nnrp_core::{DescriptorFlags, Layout, ProfileDescriptor, Unbound};
///
/// /// What stands in front of the samples of a chunk.
/// #[derive(Clone, Debug, PartialEq, Layout, ProfileDescriptor)]
/// #[profile(id = 0x8001, schema_id = 0x0001_2001, schema_version = 1, semantics = append, flags(cacheable, critical))]
/// pub struct AudioChunk {
///     /// First sample.
///     pub start: u64,
///     /// Samples per channel.
///     pub samples: u32,
/// }
///
/// // What both sides install.
/// let header = AudioChunk::schema_descriptor_header();
/// assert_eq!(header.schema_hash, AudioChunk::SCHEMA_HASH);
/// assert_eq!(header.body_bytes as usize, AudioChunk::SCHEMA_BODY.len());
///
/// // A payload on its way: the descriptor goes beside those of other payloads, the bytes behind theirs.
/// let mut payloads = Vec::new();
/// let chunk = AudioChunk { start: 0, samples: 480 };
/// let descriptor = chunk.push_payload(DescriptorFlags::TERMINAL, b"samples", 0, &mut payloads)?;
///
/// // And at its end. Profile, schema and version match together, or it is refused.
/// let (view, samples) = AudioChunk::read_payload(&descriptor, &payloads)?;
/// assert_eq!((view.samples(), samples), (480, &b"samples"[..]));
/// let newer = nnrp_core::TypedPayloadDescriptor { schema_version: 2, ..descriptor };
/// assert_eq!(AudioChunk::read_payload(&newer, &payloads), Err(Unbound::Version(2)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # `id`
///
/// The profile, from 0x8000 on. Lower ones are the protocol's.
///
/// # `schema_id`, `schema_version`
///
/// The schema, from 0x0001_0000 on, and its version. Whoever changes the layout takes another version.
///
/// # `semantics`
///
/// How a payload relates to those before it unless it says so itself: `default`, as it is without, `snapshot`, `append`,
/// `replace`, `event` or `tool_update`.
///
/// # `flags`
///
/// What the schema may be used for: `cacheable`, `critical`, `default_bindable`, `hash_stable`.
///
/// # `crate`
///
/// As on the layout; it need not be said twice.
///
/// # The schema body and its digest
///
/// The body is the canonical binary form of the layout with all that it holds, byte by byte documented in
/// `nnrp_core::describe`: names, offsets, types, constants, values of enums, bits, rules. Docs and units are not part of
/// it, nor is anything of compiler or machine. `SCHEMA_HASH` is the first eight bytes of its SHA-256, read
/// little-endian. Both are made while compiling.
///
/// ```
/// # use nnrp_core::{Layout, ProfileDescriptor};
/// # #[derive(Layout, ProfileDescriptor)]
/// # #[profile(id = 0x8001, schema_id = 0x0001_0000, schema_version = 1)]
/// # struct Chunk { rate: u32 }
/// assert_eq!(Chunk::SCHEMA_HASH, nnrp_core::describe::digest(Chunk::SCHEMA_BODY));
/// assert!(Chunk::description().contains("[[layout]]"));
/// ```
#[proc_macro_derive(ProfileDescriptor, attributes(layout, profile))]
pub fn derive_profile_descriptor(input: TokenStream) -> TokenStream {
    alone(input, |input: DeriveInput| profile::expand(&input))
}

/// Expands a registry, a TOML file or a folder of them, in place.
///
/// The path is relative to the package. What comes of it is what `nnrp_gen::Build` writes from a build script: for those who
/// prefer TOML to derives and no build script to one.
///
/// ```
/// mod capture {
///     nnrp_core::registry!("examples/capture.toml");
/// }
///
/// let record = capture::Record::decode(&[1, 0, 0, 0, 2, 0, 0, 0])?;
/// assert_eq!((record.kind, record.length), (capture::RecordKind::Packet, 2));
/// # Ok::<(), nnrp_core::wire::Fault>(())
/// ```
///
/// A second argument says where the core is, as on a layout: `registry!("path", crate = "facade::core")`.
///
/// The compiler looks at the registry again when one of its files changes or goes away. Of a file that comes into the folder it
/// knows nothing; one line of a build script tells it:
///
/// ```no_run
/// println!("cargo::rerun-if-changed=registry");
/// ```
#[proc_macro]
pub fn registry(input: TokenStream) -> TokenStream {
    alone(input, |input: registry::Input| registry::expand(&input))
}
