//! Packets made to hurt: refused at the right place, in time in proportion to their bytes.
//!
//! That parsing takes no memory needs no test: it is there in a build of the core without an allocator.

use std::time::{Duration, Instant};

use nnrp_core::build::{Extensions, ResultBuilder, Schema, SectionTable, SubmitBuilder, Tiles};
use nnrp_core::wire::FaultKind;
use nnrp_core::*;

use super::samples::*;

/// A packet with that body, and the fault in its first byte that is bad.
fn with_body(packet: &[u8], metadata: usize, body: &[u8]) -> Vec<u8> {
    let mut packet = packet[..CommonHeader::SIZE + metadata].to_vec();
    packet[16..20].copy_from_slice(&(body.len() as u32).to_le_bytes());
    packet.extend_from_slice(body);
    packet
}

fn submit(prelude: BodyRegionPrelude, regions: &[u8]) -> Vec<u8> {
    let message =
        Message::FrameSubmit(frame_submit(), Default::default()).to_vec(&of_session()).expect("it is good");
    let prelude = prelude.to_bytes().expect("it is good");
    with_body(&message, FrameSubmit::SIZE, &[&prelude[..], regions].concat())
}

/// Packets with all that a packet can hold, to be damaged.
fn rich() -> Vec<Vec<u8>> {
    let role = |role_id| TensorSectionDescriptor { role_id, ..TensorSectionDescriptor::default() };
    let reference =
        ObjectReferenceBlock { object_kind: CacheObjectKind::PAYLOAD_LAYOUT_TEMPLATE, ..Default::default() };
    let links = OperationLinks { parent_operation_id: 1, operation_group_id: 2 };
    let submit = SubmitBuilder::new(frame_submit())
        .camera(b"camera")
        .tiles(&Tiles::Bits { base: 9, ids: &[9, 20] })
        .sections(SectionTable::new().sized(role(1), &[1, 2], [b"a".as_slice(), b"bc"]).fixed(
            role(2),
            &[],
            2,
            b"dddd",
        ))
        .reference(reference)
        .token(DescriptorFlags::empty(), b"tokens")
        .token(DescriptorFlags::TERMINAL, b"")
        .links(links);
    let result = ResultBuilder::new(ResultPush { ..ResultPush::default() })
        .tiles(&Tiles::Delta(&[1, 5]))
        .sections(SectionTable::new().fixed(role(1), &[7, 7], 1, b"ab"))
        .reference(reference)
        .token(DescriptorFlags::PARTIAL, b"more");
    let schema =
        Schema::new(SchemaDescriptorHeader { schema_id: 0x1_0001, ..SchemaDescriptorHeader::default() })
            .dependency(&SchemaDependency { schema_id: 9, ..SchemaDependency::default() })
            .body(b"{}")
            .to_vec()
            .expect("it is good");
    let lease =
        CacheLeaseExtension { owner_id: 3, owner_scope: LeaseOwnerScope::Session, ..Default::default() };
    let ext = Extensions::new(MessageType::CachePut).known(lease);
    let object_kind = CacheObjectKind::from_raw(0x8001).expect("a private kind");
    let put = CachePutBody { object: &schema, ext: ext.entries().expect("it is good") };
    let put = Message::CachePut(CachePut { object_kind, ..CachePut::default() }, put);
    let tokens = build::Capabilities::new(["cache.reference", "object.cost", "object.delta"]);
    let tokens =
        CapabilityNegotiationBody { capability_entries: tokens.entries().expect("they are registered") };
    let offer = Message::CapabilityNegotiation(Capability::default(), tokens);
    let mut all: Vec<_> = smallest().iter().map(|(header, message)| message.to_vec(header)).collect();
    all.extend([submit.to_vec(&of_session()), result.to_vec(&of_session())]);
    all.extend([put.to_vec(&of_session()), offer.to_vec(&of_session())]);
    all.into_iter().map(|packet| packet.expect("it is good")).collect()
}

/// Every field of every packet at its largest, and every packet cut anywhere: refused or good, and never more.
#[test]
fn lengths_at_their_largest() {
    for packet in rich() {
        for at in 0..packet.len() {
            assert!(Packet::parse(&packet[..at]).is_err());
            for value in [0x00, 0x01, 0x7f, 0x80, 0xff] {
                for size in [1, 2, 4, 8] {
                    let mut bad = packet.clone();
                    bad.iter_mut().skip(at).take(size).for_each(|byte| *byte = value);
                    match Packet::parse(&bad) {
                        Ok(packet) => _ = format!("{packet:?}"),
                        Err(fault) => assert!(fault.offset() <= bad.len(), "{fault}"),
                    }
                }
            }
        }
    }
}

/// Counts that multiply past everything: strides, tables and rows.
#[test]
fn counts_that_multiply_past_everything() {
    let metadata = ResultPush {
        tile_count: u16::MAX,
        section_count: u16::MAX,
        payload_kind_bitmap: PayloadKindBitmap::TENSOR,
        ..ResultPush::default()
    };
    let descriptor = TensorSectionDescriptor {
        section_flags: SectionFlags::FIXED_STRIDE,
        payload_stride_bytes: u32::MAX,
        payload_bytes: 4,
        ..TensorSectionDescriptor::default()
    };
    let table = [&descriptor.to_bytes().expect("it is good")[..], b"data"].concat();
    let result = ResultBuilder::new(metadata)
        .object(CacheObjectKind::TENSOR_SECTION_TABLE, ProfileId::TENSOR, &table)
        .to_vec(&of_session());
    let fault = result.expect_err("it does not hold what it declares");
    assert_eq!((fault.rule(), fault.field(), fault.offset()), (Some("B9.1"), "payload_bytes", 152 + 20));

    let schema = SchemaDescriptorHeader { schema_id: 1, dependency_count: u16::MAX, ..Default::default() };
    let fault = SchemaDescriptor::decode(&schema.to_bytes().expect("it is good")).expect_err("none is there");
    assert_eq!((fault.field(), fault.kind()), ("dependency_count", FaultKind::Length));

    // Six lengths, each the largest.
    let most = u32::MAX - u32::MAX % 24;
    let prelude = BodyRegionPrelude {
        inline_object_bytes: 0,
        object_reference_bytes: most,
        typed_payload_descriptor_bytes: most,
        typed_payload_frame_bytes: u32::MAX,
        extension_descriptor_bytes: most,
        extension_payload_bytes: u32::MAX,
    };
    let fault = Packet::parse(&submit(prelude, &[])).expect_err("none is there");
    assert_eq!((fault.field(), fault.offset()), ("object_reference_bytes", 116));
}

/// How long it takes to parse a packet some times.
fn time(packet: &[u8], times: usize) -> Duration {
    let start = Instant::now();
    (0..times).for_each(|_| _ = std::hint::black_box(Packet::parse(std::hint::black_box(packet))));
    start.elapsed()
}

/// A packet with eight times as much in it takes as long as eight of the smaller ones; if time were squared, it would
/// take eight times as long. Both are timed over the same stretch, so that a busy machine slows both.
#[track_caller]
fn in_proportion(name: &str, packet: impl Fn(usize) -> Vec<u8>, size: usize) {
    let (small, large) = (packet(size), packet(8 * size));
    Packet::parse(&large).expect("it is good");
    let attempts = (0..10).map(|_| (time(&small, 8 * 4), time(&large, 4)));
    let seen: Vec<_> = attempts.take_while(|(small, large)| *large > 3 * *small).collect();
    assert!(seen.len() < 10, "{name}: {seen:?}");
}

/// Very many very small things: frames, payloads, sections, references.
#[test]
fn a_million_empty_things_take_time_in_proportion() {
    let frame = ExtensionFrameDescriptor {
        extension_kind: ExtensionKind::from_raw(9).expect("any kind"),
        ..Default::default()
    };
    let frame = frame.to_bytes().expect("it is good");
    let frames = |count: usize| {
        let extension_descriptor_bytes = (16 * count) as u32;
        submit(BodyRegionPrelude { extension_descriptor_bytes, ..Default::default() }, &frame.repeat(count))
    };
    Packet::parse(&frames(1_000_000)).expect("a million empty frames are good");
    in_proportion("frames", frames, 1000);

    let payloads = |count: usize| {
        let submit = SubmitBuilder::new(frame_submit());
        let none = TypedPayloadDescriptor::default();
        let submit = (0..count).fold(submit, |submit, _| submit.payload(&none, b""));
        submit.to_vec(&of_session()).expect("they are good")
    };
    in_proportion("payloads", payloads, 1000);

    let sections = |count: usize| {
        let of = |role_id: usize| TensorSectionDescriptor { role_id: role_id as u16, ..Default::default() };
        let table = (0..count).fold(SectionTable::new(), |table, role_id| table.sized(of(role_id), &[], []));
        let submit = SubmitBuilder::new(frame_submit()).sections(table);
        submit.to_vec(&of_session()).expect("they are good")
    };
    in_proportion("sections", sections, 1000);

    let references = |count: usize| {
        let of = |key: usize| ObjectReferenceBlock {
            object_kind: CacheObjectKind::PROMPT_SEGMENT,
            cache_key_lo: key as u64,
            ..Default::default()
        };
        let result = ResultBuilder::new(ResultPush::default());
        let result = (0..count).fold(result, |result, key| result.reference(of(key)));
        result.to_vec(&of_session()).expect("they are good")
    };
    in_proportion("references", references, 1000);
}

/// The last of very many is bad: it is found, and blamed at its place.
#[test]
fn the_last_of_many_is_blamed() {
    let count = 100_000;
    let object =
        InlineObjectBlockHeader { object_kind: CacheObjectKind::PROMPT_SEGMENT, ..Default::default() };
    let mut objects = Vec::new();
    (0..count).for_each(|_| InlineObjectEntries::push(&mut objects, &object, b"1").expect("it is good"));
    let inline_object_bytes = objects.len() as u32;
    *objects.last_mut().expect("some") = 1;
    let packet = submit(BodyRegionPrelude { inline_object_bytes, ..Default::default() }, &objects);
    let fault = Packet::parse(&packet).expect_err("its padding is not zero");
    assert_eq!((fault.kind(), fault.offset()), (FaultKind::Reserved, 144 + 24 * count - 1));

    let rows: Vec<u8> = (0..count as u32)
        .flat_map(|at| {
            // The last one goes back.
            let payload_offset = if at + 1 == count as u32 { at - 1 } else { at };
            let frame = ExtensionFrameDescriptor {
                extension_kind: ExtensionKind::from_raw(9).expect("any kind"),
                payload_offset,
                payload_length: 1,
                ..Default::default()
            };
            frame.to_bytes().expect("it is good")
        })
        .collect();
    let prelude = BodyRegionPrelude {
        extension_descriptor_bytes: rows.len() as u32,
        extension_payload_bytes: count as u32,
        ..Default::default()
    };
    let fault =
        Packet::parse(&submit(prelude, &[&rows[..], &vec![0; count]].concat())).expect_err("it goes back");
    assert_eq!((fault.field(), fault.offset()), ("payload_offset", 144 + 16 * (count - 1) + 8));
}

/// A schema as large as can be, in an object as large as can be.
#[test]
fn nested_to_the_limit() {
    let dependency = SchemaDependency { schema_id: 9, ..SchemaDependency::default() };
    let schema =
        Schema::new(SchemaDescriptorHeader { schema_id: 0x1_0001, ..SchemaDescriptorHeader::default() });
    let schema = (0..u16::MAX).fold(schema, |schema, _| schema.dependency(&dependency));
    let object = schema.clone().to_vec().expect("it is good");
    let put =
        CachePut { object_kind: CacheObjectKind::from_raw(0x8001).expect("private"), ..CachePut::default() };
    let body = CachePutBody { object: &object, ..CachePutBody::default() };
    let mut packet = Message::CachePut(put, body).to_vec(&of_session()).expect("it is good");
    let last = packet.len() - 32;
    packet[last + 2] = 1;
    let fault = Packet::parse(&packet).expect_err("the last dependency is bad");
    assert_eq!((fault.rule(), fault.offset()), (Some("X5.1"), last + 2));

    let fault = schema.dependency(&dependency).to_vec().expect_err("one more cannot be counted");
    assert_eq!(fault.field(), "dependency_count");
}
