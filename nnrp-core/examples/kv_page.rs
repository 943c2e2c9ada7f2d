//! Pages of a key-value cache as a profile of one's own: fields of other types of one's own, big-endian, and the
//! description for other languages.
//!
//! `cargo run --example kv_page`, and `cargo run --example kv_page -- toml` for the layout as registry TOML, of which
//! `nnrp-gen emit c` makes the C header.

use nnrp_core::{
    CommonHeader, DescriptorFlags, FrameSubmit, FrameSubmitBody, Layout, Message, ObjectKind, Packet,
    PayloadKindBitmap, ProfileDescriptor, Regions, Reserved, SchemaErrorCode, TypedPayloadDescriptorRows,
    Unbound, WireEnum,
};

/// What the numbers in a page are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, WireEnum)]
#[repr(u16)]
pub enum Number {
    /// 16 bits.
    F16 = 1,
    /// 16 bits with the range of 32.
    Bf16,
    /// 8 bits.
    Fp8,
}

/// Which tokens a page holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Layout)]
#[layout(byte_order = "big")]
#[layout(rule(id = "KR1", require = "count != 0", doc = "A page holds something."))]
pub struct TokenRange {
    /// Position of the first.
    pub first: u32,
    /// How many.
    pub count: u16,
}

/// What stands in front of the numbers of a page.
#[derive(Clone, Debug, PartialEq, Eq, Layout, ProfileDescriptor)]
#[layout(byte_order = "big", view_mut)]
#[layout(rule(id = "KV1", require = "head_dim % 8 == 0 && head_dim != 0", doc = "Heads are whole words."))]
#[layout(rule(id = "KV2", when = "number == fp8", require = "scaled", doc = "8 bits need a scale."))]
#[layout(rule(id = "KV3", require = "layer < layers", doc = "The layer is one of the model's."))]
#[profile(id = 0x8002, schema_id = 0x0001_3001, schema_version = 1, semantics = snapshot, flags(cacheable, hash_stable))]
pub struct KvPage {
    /// Always the same, to recognise pages in a dump.
    #[layout(const = "KVPG")]
    magic: [u8; 4],
    /// Digest of the model's weights.
    pub model: [u8; 16],
    /// Layer that it belongs to.
    pub layer: u16,
    /// Layers in all.
    pub layers: u16,
    /// Heads that share keys.
    pub heads: u16,
    /// Numbers a head.
    pub head_dim: u16,
    /// What the numbers are.
    #[layout(enum = u16)]
    pub number: Number,
    /// Whether a scale follows each head.
    #[layout(bool = u16)]
    pub scaled: bool,
    /// Its tokens, and those that it shares with its prefix.
    #[layout(layout = 6)]
    pub ranges: [TokenRange; 2],
    /// What kind of object the prefix is; a type of the core's.
    #[layout(enum = u16)]
    pub prefix: ObjectKind,
    reserved0: Reserved<2>,
    /// When it was made.
    #[layout(unit = "us")]
    pub made_at: i64,
}

fn page() -> KvPage {
    KvPage {
        magic: *b"KVPG",
        model: [0x5a; 16],
        layer: 3,
        layers: 32,
        heads: 8,
        head_dim: 128,
        number: Number::Bf16,
        scaled: false,
        ranges: [TokenRange { first: 0, count: 16 }, TokenRange { first: 16, count: 16 }],
        prefix: ObjectKind::TOKEN_BLOCK,
        reserved0: Reserved,
        made_at: -1,
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    if std::env::args().nth(1).as_deref() == Some("toml") {
        print!("{}", KvPage::description());
        return Ok(());
    }
    let header = KvPage::schema_descriptor_header();
    println!("{} bytes of schema, digest {:#018x}", header.body_bytes, header.schema_hash);

    let mut payloads = Vec::new();
    let descriptor = page().push_payload(DescriptorFlags::TERMINAL, &[1, 2, 3, 4], 0, &mut payloads)?;
    let descriptors = descriptor.to_bytes()?;
    let submit = FrameSubmit {
        operation_id: 9,
        payload_kind_bitmap: PayloadKindBitmap::OPAQUE_BYTES,
        ..FrameSubmit::default()
    };
    let regions = Regions {
        payload_descriptors: TypedPayloadDescriptorRows::new(&descriptors)?,
        payload_frames: &payloads,
        ..Regions::default()
    };
    let message = Message::FrameSubmit(submit, FrameSubmitBody { regions: Some(regions) });
    let header = CommonHeader { session_id: 1, frame_id: 2, ..CommonHeader::default() };
    let mut packet = vec![0; message.encoded_len()];
    message.encode_into(&header, &mut packet)?;

    let Message::FrameSubmit(_, body) = Packet::parse(&packet)?.message() else {
        return Err("another message".into());
    };
    let regions = body.regions.ok_or("no body")?;
    let row = regions.payload_descriptors.get(0).ok_or("no payload")?.to_owned();
    let (view, numbers) = KvPage::read_payload(&row, regions.payload_frames)?;
    assert_eq!((view.to_owned(), numbers), (page(), &[1, 2, 3, 4][..]));
    println!("{view:?}");

    // Changing a page where it lies keeps it good.
    let mut bytes = *view.as_bytes();
    let mut edit = KvPage::view_mut(&mut bytes)?;
    edit.set_made_at(0);
    println!("refused: {}", edit.set_layer(32).unwrap_err());
    println!("refused: {}", edit.set_number(Number::Fp8).unwrap_err());
    edit.update(|page| (page.number, page.scaled) = (Number::Fp8, true))?;

    // A page of the version to come.
    let mut newer = row;
    newer.schema_version = 2;
    match KvPage::read_payload(&newer, regions.payload_frames) {
        Err(refused @ Unbound::Version(2)) => {
            assert_eq!(refused.code(), Some(SchemaErrorCode::SchemaVersionUnknown));
            println!("refused: {refused}");
        }
        other => return Err(format!("read anyway: {other:?}").into()),
    }
    Ok(())
}
