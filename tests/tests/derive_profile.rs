//! Profile descriptors: schema bodies, digests, descriptions, and payloads that are bound to them.

use nnrp_core::describe::{Described, digest, sha256};
use nnrp_core::{
    DescriptorFlags, Layout, ProfileDescriptor, ProfileId, Reserved, SchemaErrorCode, SchemaFlags,
    StreamSemantics, Unbound, WireEnum,
};
use nnrp_gen::codec;
use nnrp_tests::random::{Random, good};

/// How samples are coded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, WireEnum)]
#[repr(u8)]
pub enum Codec {
    /// Opus; written first, which is not to matter.
    Opus = 3,
    /// Not coded.
    #[default]
    Pcm = 0,
    /// What two sides agreed on.
    #[wire(range = 0x80..)]
    Private(u8),
}

bitflags::bitflags! {
    /// What a chunk is.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct ChunkFlags: u16 {
        /// Silence.
        const SILENT = 4;
        /// The last one.
        const LAST = 1;
        /// Both, which a registry has no name for.
        const BOTH = 5;
    }
}

/// A stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Layout)]
#[layout(byte_order = "big")]
pub struct Stretch {
    /// First sample.
    pub start: u32,
    /// How it is coded.
    #[layout(enum = u8)]
    pub codec: Codec,
    /// Always the same.
    #[layout(const = -2)]
    pub mark: i16,
    pad: Reserved<1>,
}

/// A chunk of "audio".
#[derive(Clone, Debug, Default, PartialEq, Layout, ProfileDescriptor)]
#[layout(rule(id = "A1", when = "codec == opus", require = "rate   == 48000", doc = "Opus runs at 48 kHz."))]
#[layout(rule(id = "A2", when = "flags.silent", require = "!flags.last", field = "rate"))]
#[layout(rule(id = "A3", require = "other in Codec"))]
#[profile(id = 0x8001, schema_id = 0x0001_2001, schema_version = 1, semantics = append, flags(cacheable, critical))]
pub struct AudioChunk {
    /// Its magic.
    #[layout(const = "AU")]
    pub magic: [u8; 2],
    /// Its codec.
    #[layout(enum = u8)]
    pub codec: Codec,
    /// Another one.
    pub other: u8,
    /// What it is.
    #[layout(bitmask = u32)]
    pub flags: ChunkFlags,
    /// Samples a second.
    #[layout(unit = "Hz")]
    pub rate: u32,
    /// Where it lies.
    #[layout(layout = 8)]
    pub stretches: [Stretch; 2],
    /// Its profile.
    #[layout(enum = u16)]
    pub profile: ProfileId,
    /// Whether it goes on.
    pub more: bool,
    pad: Reserved<1>,
    /// How loud.
    pub gain: f32,
    /// Per channel.
    pub levels: [i16; 2],
}

fn chunk() -> AudioChunk {
    let stretch = Stretch { mark: -2, ..Stretch::default() };
    AudioChunk {
        magic: *b"AU",
        codec: Codec::Opus,
        flags: ChunkFlags::LAST,
        rate: 48000,
        stretches: [stretch; 2],
        ..AudioChunk::default()
    }
}

#[test]
fn constants_and_header() {
    assert_eq!(AudioChunk::PROFILE_ID.raw(), 0x8001);
    assert_eq!(AudioChunk::SEMANTICS, StreamSemantics::Append);
    assert_eq!(AudioChunk::FLAGS, SchemaFlags::CACHEABLE | SchemaFlags::CRITICAL);
    let header = AudioChunk::schema_descriptor_header();
    assert_eq!((header.schema_id, header.schema_version), (0x0001_2001, 1));
    assert_eq!(header.body_bytes as usize, AudioChunk::SCHEMA_BODY.len());
    assert_eq!(header.validate(), Ok(()));
}

/// The bytes of the form, written as its documentation says, by a hand that does not know the code.
#[test]
fn the_canonical_form_is_as_documented() {
    fn text(text: &str) -> Vec<u8> {
        [&(text.len() as u16).to_le_bytes()[..], text.as_bytes()].concat()
    }
    fn codec() -> Vec<u8> {
        let value = |number: u64, name: &str| [&number.to_le_bytes()[..], &text(name)].concat();
        [
            &text("codec")[..],
            &[1],
            &[2, 0],
            &value(0, "pcm"),
            &value(3, "opus"),
            &[1, 0],
            &0x80u64.to_le_bytes(),
            &0xffu64.to_le_bytes(),
            &text("private"),
        ]
        .concat()
    }
    fn field(name: &str, offset: u32, element: &[u8], count: u32, meaning: &[u8]) -> Vec<u8> {
        [&text(name)[..], &offset.to_le_bytes(), element, &count.to_le_bytes(), meaning].concat()
    }
    let codec_field = |offset| field("codec", offset, &[0], 0, &[&[4][..], &codec()].concat());
    let stretch = [
        text("stretch"),
        vec![1],
        8u32.to_le_bytes().to_vec(),
        vec![4, 0],
        field("start", 0, &[2], 0, &[0]),
        codec_field(4),
        field("mark", 5, &[5], 0, &[2, 2, 0, 0, 0, 0xff, 0xfe]),
        field("pad", 7, &[0], 1, &[1]),
        vec![0, 0],
        vec![0, 0],
    ]
    .concat();
    let expected = [vec![1], stretch].concat();
    const LEN: usize = nnrp_core::describe::body_len(Stretch::DEFINITION);
    assert_eq!(nnrp_core::describe::body::<LEN>(Stretch::DEFINITION), *expected);
    let inner = &expected[1..];
    assert!(AudioChunk::SCHEMA_BODY.windows(inner.len()).any(|window| window == inner));
    let rule = [
        text("A2"),
        text("flags.silent"),
        text("!flags.last"),
        text("rate"),
        text("A3"),
        text(""),
        text("other in codec"),
    ];
    let rule = rule.concat();
    assert!(AudioChunk::SCHEMA_BODY.windows(rule.len()).any(|window| window == rule));
    let bits = [text("chunk_flags"), vec![2], 5u64.to_le_bytes().to_vec(), vec![3, 0]].concat();
    assert!(AudioChunk::SCHEMA_BODY.windows(bits.len()).any(|window| window == bits));
}

/// The digest of this layout, made elsewhere. It changes with the form and with nothing else.
#[test]
fn the_digest_is_stable() {
    assert_eq!(AudioChunk::SCHEMA_HASH, digest(AudioChunk::SCHEMA_BODY));
    assert_eq!(AudioChunk::SCHEMA_HASH.to_le_bytes(), sha256(AudioChunk::SCHEMA_BODY)[..8]);
    assert_eq!((AudioChunk::SCHEMA_BODY.len(), AudioChunk::SCHEMA_HASH), (735, 0xc96d_1faa_4eff_3a4e));
}

/// nnrp-gen reads the description back, and what it makes of it does the same to all bytes.
#[test]
fn the_description_is_a_registry() {
    let text = AudioChunk::description();
    let loaded = nnrp_gen::load_texts([("described.toml", text)]);
    assert_eq!(loaded.report.counts(), (0, 0), "{}", loaded.report.draw(&loaded.sources, false));
    let registry = loaded.into_result().unwrap();
    let layout = registry.layout("audio_chunk").unwrap();
    let mut random = Random::new(1, "description");
    let mut accepted = 0;
    for _ in 0..2000 {
        let mut bytes = good(&registry, layout, &mut random).unwrap();
        if random.below(2) == 0 {
            let at = random.below(bytes.len());
            bytes[at] ^= 1 << random.below(8);
        }
        let derived = AudioChunk::decode(&bytes);
        let described = codec::decode(&registry, layout, &bytes);
        accepted += usize::from(derived.is_ok());
        match (derived, described) {
            (Ok(chunk), Ok(_)) => assert_eq!(chunk.to_bytes().unwrap()[..], bytes[..]),
            (Err(fault), Err(other)) => assert_eq!(fault.to_string(), other.to_string()),
            (derived, described) => panic!("{derived:?}, and as described {described:?}"),
        }
    }
    assert!(accepted > 500);
}

#[test]
fn every_layout_of_the_registry_describes_itself() {
    for (name, text) in described() {
        let loaded = nnrp_gen::load_texts([("described.toml", text.as_str())]);
        let registry = loaded.into_result().unwrap_or_else(|problems| panic!("{problems}"));
        let (own, again) = (nnrp_tests::registry::nnrp(), registry);
        let (own, again) = (own.layout(name).unwrap(), again.layout(name).unwrap());
        assert_eq!(
            (own.size, own.fields.len(), own.rules.len()),
            (again.size, again.fields.len(), again.rules.len())
        );
        for (own, again) in own.fields.iter().zip(&again.fields) {
            assert_eq!(
                (&own.name, own.offset, own.size, &own.doc),
                (&again.name, again.offset, again.size, &again.doc)
            );
        }
    }
}

#[test]
fn payloads_are_bound() {
    let mut payloads = vec![0; 3];
    let flags = DescriptorFlags::PARTIAL;
    let descriptor = chunk().push_payload(flags, b"samples", 3, &mut payloads).unwrap();
    assert_eq!((descriptor.offset, descriptor.length as usize), (3, AudioChunk::SIZE + 7));
    assert_eq!(descriptor.validate(), Ok(()));
    let payload = &payloads[3..];
    let (view, data) = AudioChunk::read_payload(&descriptor, payload).unwrap();
    assert_eq!((view.to_owned(), data), (chunk(), &b"samples"[..]));
    assert_eq!(AudioChunk::semantics(&descriptor), StreamSemantics::Append);

    let refused = |change: &dyn Fn(&mut nnrp_core::TypedPayloadDescriptor)| {
        let mut descriptor = descriptor;
        change(&mut descriptor);
        let refused = AudioChunk::read_payload(&descriptor, payload).unwrap_err();
        (refused, refused.code())
    };
    assert_eq!(
        refused(&|descriptor| descriptor.schema_version = 2),
        (Unbound::Version(2), Some(SchemaErrorCode::SchemaVersionUnknown))
    );
    assert_eq!(
        refused(&|descriptor| descriptor.schema_id = 0x0001_2002),
        (Unbound::Schema(0x0001_2002), Some(SchemaErrorCode::SchemaUnknown))
    );
    assert_eq!(
        refused(&|descriptor| descriptor.profile_id = ProfileId::TOKEN),
        (Unbound::Profile(ProfileId::TOKEN), Some(SchemaErrorCode::SchemaIncompatible))
    );
    let short = AudioChunk::read_payload(&descriptor, &payload[..5]).unwrap_err();
    assert_eq!(short.to_string(), "byte 5: `audio_chunk` ends too early");
    let wrong = AudioChunk { rate: 8000, ..chunk() };
    assert!(wrong.push_payload(flags, b"", 0, &mut payloads).is_err());
    assert!(chunk().push_payload(flags, b"", u32::MAX, &mut payloads).is_err());
    assert_eq!(payloads.len(), 3 + AudioChunk::SIZE + 7);
}

/// The words that the macro knows are the protocol's.
#[test]
fn the_words_are_those_of_the_protocol() {
    let registry = nnrp_tests::registry::nnrp();
    let source = include_str!("../../nnrp-derive/src/profile.rs");
    for (list, item) in [("SEMANTICS", "stream_semantics"), ("FLAGS", "schema_flags")] {
        let names: Vec<_> = match registry.enums.iter().find(|found| found.name == item) {
            Some(item) => item.values.iter().map(|value| value.name.clone()).collect(),
            None => {
                let mask = registry.bitmasks.iter().find(|found| found.name == item).unwrap();
                mask.bits.iter().map(|bit| bit.name.clone()).collect()
            }
        };
        let line = format!("const {list}: [&str; {}] = {names:?};", names.len());
        assert!(source.contains(&line), "{line}");
    }
}

macro_rules! describe {
    ($($layout:ident)*) => {
        fn described() -> Vec<(&'static str, String)> {
            vec![$({
                const LEN: usize = nnrp_core::describe::text_len(<nnrp_core::$layout as Described>::DEFINITION);
                let text = nnrp_core::describe::text::<LEN>(<nnrp_core::$layout as Described>::DEFINITION);
                (nnrp_core::$layout::NAME, String::from_utf8(text.to_vec()).unwrap())
            }),*]
        }
    };
}

include!(concat!(env!("OUT_DIR"), "/described.rs"));
