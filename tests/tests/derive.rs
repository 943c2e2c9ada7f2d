//! Derived layouts and enums, as somebody who owns a profile would write them.

use nnrp_core::{Layout, ProfileId, Reserved, SessionPriorityClass, WireEnum};

/// How samples are coded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, WireEnum)]
#[repr(u8)]
pub enum Codec {
    /// Not coded.
    #[default]
    Pcm,
    /// Opus.
    Opus = 3,
    /// What two sides agreed on.
    #[wire(range = 0x80..=0xfe)]
    Private(u8),
}

bitflags::bitflags! {
    /// What a chunk is.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct ChunkFlags: u16 {
        /// The last one.
        const LAST = 1;
        /// Silence.
        const SILENT = 4;
    }
}

/// A stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Layout)]
pub struct Stretch {
    /// First sample.
    pub start: u32,
    /// How many.
    pub count: u32,
}

/// A chunk of audio.
#[derive(Clone, Debug, Default, PartialEq, Layout)]
#[layout(size = 48, view_mut)]
#[layout(rule(id = "A1", when = "codec == opus", require = "rate == 48000", doc = "Opus runs at 48 kHz."))]
#[layout(rule(id = "A2", when = "flags.silent", require = "!flags.last && stretch_count != 0"))]
pub struct AudioChunk {
    /// Its version.
    #[layout(const = 2)]
    pub version: u8,
    /// Its codec.
    #[layout(enum = u8)]
    pub codec: Codec,
    /// What it is.
    #[layout(bitmask = u32, offset = 2)]
    pub flags: ChunkFlags,
    pub(crate) pad: Reserved<2>,
    /// Samples a second.
    #[layout(unit = "Hz")]
    pub rate: u32,
    /// Where it lies.
    #[layout(layout = 8)]
    pub stretches: [Stretch; 2],
    /// How many of them.
    pub stretch_count: u8,
    /// Whether it goes on.
    #[layout(bool = u16)]
    pub more: bool,
    /// Whether it is on.
    #[layout(bool)]
    pub on: u8,
    /// How loud.
    pub gain: f32,
    /// Per channel.
    pub levels: [i16; 4],
    #[layout(enum = u16)]
    profile: ProfileId,
    #[layout(enum = u8)]
    class: SessionPriorityClass,
    #[layout(reserved)]
    last: u8,
}

fn chunk() -> AudioChunk {
    AudioChunk {
        version: 2,
        codec: Codec::Opus,
        flags: ChunkFlags::LAST,
        rate: 48000,
        stretches: [Stretch { start: 1, count: 2 }, Stretch { start: 3, count: 4 }],
        stretch_count: 2,
        more: true,
        on: 1,
        gain: 0.5,
        levels: [-1, 2, -3, 4],
        ..AudioChunk::default()
    }
}

#[test]
fn writes_and_reads() {
    let bytes = chunk().to_bytes().unwrap();
    assert_eq!(bytes[..8], [2, 3, 1, 0, 0, 0, 0, 0]);
    assert_eq!(AudioChunk::decode(&bytes), Ok(chunk()));
    let view = AudioChunk::view(&bytes).unwrap();
    assert_eq!(view.codec(), Codec::Opus);
    assert_eq!(view.stretches()[1].count, 4);
    assert_eq!(format!("{view:?}").split_once(" {").unwrap().0, "AudioChunkView");
    assert_eq!(AudioChunk::RATE_OFFSET, 8);
    assert_eq!((AudioChunk::SIZE, AudioChunk::NAME), (48, "audio_chunk"));
}

fn fault(change: impl FnOnce(&mut AudioChunk)) -> (String, String) {
    let mut chunk = chunk();
    change(&mut chunk);
    let fault = chunk.validate().unwrap_err();
    assert_eq!(chunk.to_bytes(), Err(fault));
    assert_eq!(chunk.encode_into(&mut [0; 48]), Err(fault));
    (fault.field().to_owned(), fault.kind().name().to_owned())
}

#[test]
fn refuses_values_that_no_decoder_would_take() {
    let expect = |field: &str, kind: &str| (field.to_owned(), kind.to_owned());
    assert_eq!(fault(|chunk| chunk.version = 1), expect("version", "constant"));
    assert_eq!(fault(|chunk| chunk.last = 1), expect("last", "reserved"));
    assert_eq!(fault(|chunk| chunk.on = 2), expect("on", "unknown_value"));
    assert_eq!(fault(|chunk| chunk.codec = Codec::Private(1)), expect("codec", "unknown_value"));
    assert_eq!(fault(|chunk| chunk.flags = ChunkFlags::from_bits_retain(2)), expect("flags", "unknown_bits"));
    assert_eq!(fault(|chunk| chunk.rate = 44100), expect("rate", "rule"));
    assert_eq!(fault(|chunk| chunk.flags = ChunkFlags::all()), expect("flags", "rule"));
}

#[test]
fn refuses_bytes_and_says_why() {
    let good = chunk().to_bytes().unwrap();
    let fault = |at: usize, byte: u8| {
        let mut bytes = good;
        bytes[at] = byte;
        let fault = AudioChunk::decode(&bytes).unwrap_err();
        format!("{fault}")
    };
    assert_eq!(fault(0, 1), "byte 0: `audio_chunk.version` is not the constant that it must be");
    assert_eq!(fault(1, 1), "byte 1: `audio_chunk.codec` has a value that is not known");
    assert_eq!(fault(1, 0xff), "byte 1: `audio_chunk.codec` has a value that is not known");
    assert_eq!(fault(2, 2), "byte 2: `audio_chunk.flags` has bits set that are not known");
    assert_eq!(fault(5, 1), "byte 2: `audio_chunk.flags` has bits set that are not known");
    assert_eq!(fault(6, 1), "byte 6: `audio_chunk.pad` is reserved and must be zero");
    assert_eq!(fault(8, 1), "byte 8: `audio_chunk.rate` breaks rule A1: Opus runs at 48 kHz");
    assert_eq!(
        AudioChunk::decode(&good[1..]).unwrap_err().to_string(),
        "byte 47: `audio_chunk` ends too early"
    );
}

#[test]
fn changes_in_place() {
    let mut bytes = chunk().to_bytes().unwrap();
    let mut chunk = AudioChunk::view_mut(&mut bytes).unwrap();
    chunk.set_gain(1.0);
    chunk.set_codec(Codec::Private(0x80)).unwrap();
    chunk.set_rate(8000).unwrap();
    assert!(chunk.set_codec(Codec::Opus).is_err());
    assert!(chunk.set_codec(Codec::Private(1)).is_err());
    assert!(chunk.set_on(7).is_err());
    chunk.update(|chunk| (chunk.codec, chunk.rate) = (Codec::Opus, 48000)).unwrap();
    assert_eq!(chunk.as_view().gain(), 1.0);
}

#[test]
fn enums_know_their_numbers() {
    assert_eq!(Codec::from_raw(3), Some(Codec::Opus));
    assert_eq!(Codec::from_raw(0x90), Some(Codec::Private(0x90)));
    assert_eq!((Codec::from_raw(1), Codec::from_raw(0xff)), (None, None));
    assert_eq!((Codec::Pcm.raw(), Codec::Private(0x81).raw()), (0, 0x81));
    assert_eq!((Codec::Opus.name(), Codec::Private(0x81).name()), (Some("opus"), None));
    assert_eq!(<Codec as WireEnum>::NAME, "codec");
    assert_eq!(Codec::SPANS, [(0, 0), (3, 3), (0x80, 0xfe)]);
    for number in 0..=255 {
        assert_eq!(Codec::accepts(number), Codec::from_raw(number as u8).is_some());
    }
}
