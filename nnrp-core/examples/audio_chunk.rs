//! Audio chunks as a profile of one's own: the client sends a chunk in a FRAME_SUBMIT, the server reads it.
//!
//! `cargo run --example audio_chunk`

use std::collections::BTreeMap;

use nnrp_core::bitflags::bitflags;
use nnrp_core::{
    CommonHeader, DescriptorFlags, FrameSubmit, FrameSubmitBody, Layout, Message, Packet, PayloadKindBitmap,
    ProfileDescriptor, Regions, Reserved, SchemaDescriptorHeader, SchemaErrorCode,
    TypedPayloadDescriptorRows, WireEnum,
};

/// How samples are coded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, WireEnum)]
#[repr(u8)]
pub enum Codec {
    /// 16-bit samples, least significant byte first.
    Pcm16 = 0,
    /// Opus.
    Opus = 1,
    /// What both sides agreed on.
    #[wire(range = 0x80..=0xff)]
    Private(u8),
}

bitflags! {
    /// What a chunk is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct ChunkFlags: u8 {
        /// Nothing can be heard; there are no samples.
        const SILENT = 1;
        /// The speaker has changed.
        const NEW_SPEAKER = 2;
    }
}

/// What stands in front of the samples of a chunk.
#[derive(Clone, Debug, PartialEq, Layout, ProfileDescriptor)]
#[layout(size = 24)]
#[layout(rule(id = "AC1", when = "codec == opus", require = "rate == 48000", doc = "Opus runs at 48 kHz."))]
#[layout(rule(
    id = "AC2",
    when = "flags.silent",
    require = "samples != 0",
    doc = "Silence lasts for a while."
))]
#[profile(id = 0x8001, schema_id = 0x0001_2001, schema_version = 2, semantics = append, flags(cacheable, critical))]
pub struct AudioChunk {
    /// How the samples are coded.
    #[layout(enum = u8)]
    pub codec: Codec,
    /// What it is.
    #[layout(bitmask = u8)]
    pub flags: ChunkFlags,
    /// Channels that alternate.
    pub channels: u8,
    reserved0: Reserved<1>,
    /// Samples a second and channel.
    #[layout(unit = "Hz")]
    pub rate: u32,
    /// First sample, from the start of the stream.
    #[layout(offset = 8)]
    pub start: u64,
    /// Samples per channel.
    pub samples: u32,
    /// Loudness that it was brought to.
    pub gain: f32,
}

impl AudioChunk {
    /// Everything but the samples.
    pub fn new(codec: Codec, rate: u32, start: u64, samples: u32) -> Self {
        let flags = ChunkFlags::empty();
        Self { codec, flags, channels: 1, reserved0: Reserved, rate, start, samples, gain: 1.0 }
    }
}

/// The schemas that one side knows. A connection has a registry of its own for this.
#[derive(Default)]
struct Schemas(BTreeMap<(u32, u32), (SchemaDescriptorHeader, Vec<u8>)>);

impl Schemas {
    fn install(&mut self, header: SchemaDescriptorHeader, body: &[u8]) -> Result<bool, SchemaErrorCode> {
        let key = (header.schema_id, header.schema_version);
        match self.0.get(&key) {
            Some((known, _)) if known.schema_hash != header.schema_hash => {
                Err(SchemaErrorCode::SchemaHashConflict)
            }
            Some(_) => Ok(false),
            None => {
                self.0.insert(key, (header, body.to_vec()));
                Ok(true)
            }
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Both sides install the schema; the second time changes nothing.
    let mut schemas = Schemas::default();
    let header = AudioChunk::schema_descriptor_header();
    assert_eq!(schemas.install(header, AudioChunk::SCHEMA_BODY), Ok(true));
    assert_eq!(schemas.install(header, AudioChunk::SCHEMA_BODY), Ok(false));
    let another = SchemaDescriptorHeader { schema_hash: 1, ..header };
    assert_eq!(schemas.install(another, &[]), Err(SchemaErrorCode::SchemaHashConflict));
    println!(
        "schema {:#x} version {} digest {:#018x}",
        header.schema_id, header.schema_version, header.schema_hash
    );

    // The client: two chunks in one frame.
    let mut payloads = Vec::new();
    let mut descriptors = Vec::new();
    for (start, flags) in [(0, DescriptorFlags::PARTIAL), (480, DescriptorFlags::TERMINAL)] {
        let chunk = AudioChunk::new(Codec::Opus, 48_000, start, 480);
        let offset = u32::try_from(payloads.len())?;
        let descriptor = chunk.push_payload(flags, b"samples", offset, &mut payloads)?;
        descriptors.extend(descriptor.to_bytes()?);
    }
    let submit = FrameSubmit {
        operation_id: 7,
        payload_kind_bitmap: PayloadKindBitmap::AUDIO_CHUNK,
        ..FrameSubmit::default()
    };
    let regions = Regions {
        payload_descriptors: TypedPayloadDescriptorRows::new(&descriptors)?,
        payload_frames: &payloads,
        ..Regions::default()
    };
    let message = Message::FrameSubmit(submit, FrameSubmitBody { regions: Some(regions) });
    let header = CommonHeader { session_id: 1, frame_id: 1, ..CommonHeader::default() };
    let mut packet = vec![0; message.encoded_len()];
    message.encode_into(&header, &mut packet)?;
    println!("FRAME_SUBMIT of {} bytes", packet.len());

    // The server.
    let Message::FrameSubmit(_, body) = Packet::parse(&packet)?.message() else {
        return Err("another message".into());
    };
    let regions = body.regions.ok_or("no body")?;
    for row in regions.payload_descriptors.iter() {
        let descriptor = row.to_owned();
        let payload = regions.payload_frames.get(descriptor.offset as usize..).unwrap_or_default();
        let payload = payload.get(..descriptor.length as usize).unwrap_or_default();
        let (chunk, samples) = AudioChunk::read_payload(&descriptor, payload)?;
        println!("{chunk:?} and {} bytes of samples", samples.len());
        assert_eq!((chunk.codec(), samples), (Codec::Opus, &b"samples"[..]));

        // What was made for another version of the schema is refused, however good its bytes are.
        let mut newer = descriptor;
        newer.schema_version = 3;
        let refused = AudioChunk::read_payload(&newer, payload).unwrap_err();
        assert_eq!(refused.code(), Some(SchemaErrorCode::SchemaVersionUnknown));
        println!("refused: {refused}");
    }

    // And what contradicts itself does not even get onto the wire.
    let wrong = AudioChunk::new(Codec::Opus, 44_100, 0, 480);
    println!("refused: {}", wrong.validate().unwrap_err());
    Ok(())
}
