//! Builders: what they fill in, in which order they put things, and that nothing comes out that a reader refuses.

#[path = "rules/samples.rs"]
mod samples;

use nnrp_core::build::{Capabilities, Extensions, ResultBuilder, Schema, SectionTable, SubmitBuilder, Tiles};
use nnrp_core::wire::FaultKind;
use nnrp_core::*;

use samples::{frame_submit, of_connection, of_session, smallest};

fn kind(raw: u16) -> CacheObjectKind {
    CacheObjectKind::from_raw(raw).expect("a kind")
}

fn reference(object_kind: u16, cache_key_lo: u64) -> ObjectReferenceBlock {
    ObjectReferenceBlock { object_kind: kind(object_kind), cache_key_lo, ..ObjectReferenceBlock::default() }
}

fn submit(bytes: &[u8]) -> (FrameSubmit, Regions<'_>) {
    let packet = Packet::parse(bytes).unwrap_or_else(|fault| panic!("{fault}"));
    let Message::FrameSubmit(submit, body) = packet.message() else { panic!("another message") };
    (submit, body.regions.unwrap_or_default())
}

fn result(bytes: &[u8]) -> (ResultPush, Regions<'_>) {
    let packet = Packet::parse(bytes).unwrap_or_else(|fault| panic!("{fault}"));
    let Message::ResultPush(result, body) = packet.message() else { panic!("another message") };
    (result, body.regions.unwrap_or_default())
}

fn kinds(regions: &Regions<'_>) -> (Vec<u16>, Vec<u16>) {
    let objects = regions.inline_objects.iter().map(|object| object.header.object_kind().raw());
    let references = regions.object_references.iter().map(|reference| reference.object_kind().raw());
    (objects.collect(), references.collect())
}

/// Without parts there is no body at all.
#[test]
fn nothing_makes_an_empty_body() {
    let bytes = SubmitBuilder::new(frame_submit()).to_vec(&of_session()).expect("it is good");
    assert_eq!(bytes.len(), 40 + 72);
    let bytes = ResultBuilder::new(ResultPush::default()).to_vec(&of_session()).expect("it is good");
    assert_eq!(bytes.len(), 40 + 64);
}

/// Parts come in any order; objects and references are put into that of a submit.
#[test]
fn a_submit_puts_its_objects_in_order() {
    let bytes = SubmitBuilder::new(frame_submit())
        .object(kind(0x8002), ProfileId::UNSPECIFIED, b"private")
        .object(kind(4), ProfileId::TENSOR, b"codec")
        .reference(reference(7, 2))
        .layout_template(ProfileId::TOKEN, b"template")
        .reference(reference(3, 1))
        .reference(reference(7, 1))
        .tiles(&Tiles::Raw(&[3, 1, 2]))
        .camera(b"camera")
        .to_vec(&of_session())
        .expect("it is good");
    let (submit, regions) = submit(&bytes);
    // Standard ones first: camera, tile index, section table, layout template; then by kind.
    assert_eq!(kinds(&regions), (vec![1, 2, 6, 4, 0x8002], vec![3, 7, 7]));
    assert_eq!(regions.object(kind(6)).map(|object| object.bytes), Some(b"template".as_slice()));
    assert_eq!(regions.object(kind(1)).map(|object| object.header.profile_id()), Some(ProfileId::TENSOR));
    assert_eq!(regions.reference(kind(7)).map(|reference| reference.cache_key_lo()), Some(1));
    assert_eq!((submit.camera_bytes, submit.tile_index_bytes, submit.tile_count), (6, 6, 3));
    assert_eq!(submit.tile_index_mode, TileIndexMode::RawU16);
    assert_eq!(submit.payload_kind_bitmap, PayloadKindBitmap::TENSOR);
    assert_eq!(
        (submit.submit_mode, submit.object_ref_mask),
        (SubmitMode::Mixed, ObjectRefMask::TENSOR_SECTION_TABLE)
    );
}

/// In a result everything ascends by kind.
#[test]
fn a_result_puts_its_objects_in_order() {
    let bytes = ResultBuilder::new(ResultPush::default())
        .object(kind(6), ProfileId::TOKEN, b"template")
        .object(kind(4), ProfileId::TENSOR, b"codec")
        .reference(reference(9, 1))
        .reference(reference(5, 9))
        .reference(reference(5, 3))
        .tiles(&Tiles::Bits { base: 8, ids: &[8, 15] })
        .to_vec(&of_session())
        .expect("it is good");
    let (result, regions) = result(&bytes);
    assert_eq!(kinds(&regions), (vec![2, 4, 6], vec![5, 5, 9]));
    assert_eq!((result.tile_base_id, result.tile_count, result.tile_index_bytes), (8, 2, 1));
    assert_eq!(regions.object(kind(2)).map(|object| object.bytes), Some([0x81].as_slice()));
}

/// Mode and mask follow from what is inline and what is referenced.
#[test]
fn mode_and_mask_follow_from_the_parts() {
    let tensor = FrameSubmit { payload_kind_bitmap: PayloadKindBitmap::TENSOR, ..frame_submit() };
    let of = |builder: SubmitBuilder| {
        let bytes = builder.to_vec(&of_session()).expect("it is good");
        let (submit, _) = submit(&bytes);
        (submit.submit_mode, submit.object_ref_mask)
    };
    let new = || SubmitBuilder::new(tensor);
    let (camera, template) = (ObjectRefMask::CAMERA_BLOCK, ObjectRefMask::PAYLOAD_LAYOUT_TEMPLATE);
    assert_eq!(of(new()), (SubmitMode::Inline, ObjectRefMask::empty()));
    assert_eq!(of(new().camera(b"c")), (SubmitMode::Inline, ObjectRefMask::empty()));
    // Other kinds count neither way.
    let prompt = || new().reference(reference(7, 1));
    assert_eq!(of(prompt()), (SubmitMode::Inline, ObjectRefMask::empty()));
    assert_eq!(of(prompt().reference(reference(1, 1))), (SubmitMode::Reference, camera));
    let object = new().object(kind(7), ProfileId::TOKEN, b"prompt");
    assert_eq!(of(object.reference(reference(6, 1))), (SubmitMode::Reference, template));
    let both = new().reference(reference(6, 1)).reference(reference(1, 1));
    assert_eq!(of(both.clone()), (SubmitMode::Reference, camera | template));
    let mixed = both.tiles(&Tiles::Raw(&[1]));
    assert_eq!(of(mixed), (SubmitMode::Mixed, camera | template));
    // What the metadata said before does not matter.
    let wrong = FrameSubmit { submit_mode: SubmitMode::Mixed, object_ref_mask: camera, ..tensor };
    assert_eq!(of(SubmitBuilder::new(wrong)), (SubmitMode::Inline, ObjectRefMask::empty()));
}

/// Payloads keep their order, and their offsets are filled in.
#[test]
fn payloads_are_cut_from_their_region() {
    let descriptor = TypedPayloadDescriptor {
        profile_id: ProfileId::TENSOR,
        offset: 99,
        length: 99,
        ..Default::default()
    };
    let metadata =
        ResultPush { payload_kind_bitmap: PayloadKindBitmap::OPAQUE_BYTES, ..ResultPush::default() };
    let bytes = ResultBuilder::new(metadata)
        .token(DescriptorFlags::PARTIAL, b"one")
        .payload(&descriptor, b"")
        .token(DescriptorFlags::TERMINAL, b"three")
        .to_vec(&of_session())
        .expect("it is good");
    let (result, regions) = result(&bytes);
    assert_eq!(result.payload_frame_count, 3);
    assert_eq!(result.payload_kind_bitmap, PayloadKindBitmap::OPAQUE_BYTES | PayloadKindBitmap::TOKEN_CHUNK);
    let seen: Vec<_> = regions
        .payload_frames_sliced()
        .map(|(row, payload)| {
            (row.profile_id(), row.schema_id(), row.schema_version(), row.offset(), payload)
        })
        .collect();
    let token = (ProfileId::TOKEN, 0x1001, 3);
    assert_eq!(
        seen,
        [
            (token.0, token.1, token.2, 0, b"one".as_slice()),
            (ProfileId::TENSOR, 0, 0, 3, b""),
            (token.0, token.1, token.2, 3, b"three"),
        ]
    );
}

/// Extension frames keep their order; links are one of them.
#[test]
fn extension_frames_are_cut_from_their_region() {
    let extension_kind = ExtensionKind::from_raw(9).expect("any kind");
    let other = ExtensionFrameDescriptor { extension_kind, payload_offset: 77, ..Default::default() };
    let links = OperationLinks { parent_operation_id: 1, operation_group_id: 2 };
    let builder =
        SubmitBuilder::new(frame_submit()).extension(&other, b"abc").links(links).extension(&other, b"");
    let bytes = builder.to_vec(&of_session()).expect("it is good");
    let (_, regions) = submit(&bytes);
    assert_eq!(regions.operation_links(), Some(links));
    let seen: Vec<_> = regions
        .extension_payloads_sliced()
        .map(|(frame, bytes)| (frame.payload_offset(), bytes.len()))
        .collect();
    assert_eq!(seen, [(0, 3), (3, 16), (19, 0)]);
    // Twice is refused, as a reader would.
    let fault = builder.links(links).to_vec(&of_session()).expect_err("they stand once");
    assert_eq!((fault.rule(), fault.field()), (Some("X2.1"), "extension_kind"));
}

/// Sections are padded between and not behind, and their flags and sizes follow from what they hold.
#[test]
fn sections_are_padded_and_measured() {
    let wrong = TensorSectionDescriptor {
        role_id: 3,
        section_flags: SectionFlags::all(),
        codec_table_bytes: 9,
        length_table_bytes: 9,
        payload_bytes: 9,
        payload_stride_bytes: 9,
        ..TensorSectionDescriptor::default()
    };
    let table = SectionTable::new().sized(wrong, &[], [b"a".as_slice(), b"bc", b""]).fixed(
        TensorSectionDescriptor { role_id: 9, ..wrong },
        &[1, 2, 3],
        1,
        b"xyz",
    );
    assert_eq!((table.count(), table.as_bytes().len()), (2, (32 + 12 + 3) + 1 + (32 + 3 + 3)));
    let builder =
        SubmitBuilder::new(frame_submit()).tiles(&Tiles::Range { base: 5, count: 3 }).sections(table);
    let bytes = builder.to_vec(&of_session()).expect("it is good");
    let (submit, regions) = submit(&bytes);
    assert_eq!((submit.section_count, submit.tile_count, submit.tile_base_id), (2, 3, 5));
    let sections: Vec<_> = regions.sections().map(|section| section.descriptor.to_owned()).collect();
    let flags: Vec<_> = sections.iter().map(|section| section.section_flags).collect();
    assert_eq!(flags, [SectionFlags::empty(), SectionFlags::FIXED_STRIDE | SectionFlags::MIXED_CODEC]);
    assert_eq!((sections[0].length_table_bytes, sections[0].payload_bytes), (12, 3));
    assert_eq!((sections[1].codec_table_bytes, sections[1].payload_stride_bytes), (3, 1));
}

/// A wrong number of tiles, roles that do not ascend, more than can be counted: refused with the reader's fault.
#[test]
fn sections_that_do_not_fit_are_refused() {
    let role = |role_id| TensorSectionDescriptor { role_id, ..TensorSectionDescriptor::default() };
    let of = |count, table| {
        let submit =
            SubmitBuilder::new(frame_submit()).tiles(&Tiles::Range { base: 0, count }).sections(table);
        let fault = submit.to_vec(&of_session()).expect_err("it does not fit");
        (fault.rule(), fault.field())
    };
    let one = |tiles: &[&'static [u8]]| SectionTable::new().sized(role(1), &[], tiles.iter().copied());
    assert_eq!(of(2, one(&[b"a"])), (Some("B9.1"), "length_table_bytes"));
    assert_eq!(of(1, one(&[b"a"]).sized(role(1), &[], [b"b".as_slice()])), (Some("B9.1"), "role_id"));
    let stride = SectionTable::new().fixed(role(1), &[], 3, b"abcd");
    assert_eq!(of(1, stride), (Some("B9.1"), "payload_bytes"));
    assert_eq!(
        of(1, SectionTable::new().fixed(role(1), &[], 0, b"")),
        (Some("D12.2"), "payload_stride_bytes")
    );
    assert_eq!(
        of(1, SectionTable::new().sized(role(1), &[7, 7], [b"a".as_slice()])),
        (Some("B9.1"), "codec_table_bytes")
    );
}

/// Objects that stand twice, or both ways, are refused with the reader's fault.
#[test]
fn objects_that_do_not_go_together_are_refused() {
    let of = |builder: SubmitBuilder| {
        let fault = builder.to_vec(&of_session()).expect_err("they do not go together");
        (fault.rule(), fault.layout())
    };
    let new = || SubmitBuilder::new(frame_submit());
    let object = (Some("B2.1"), "inline_object_block_header");
    assert_eq!(of(new().camera(b"a").camera(b"b")), object);
    assert_eq!(of(new().camera(b"a").reference(reference(1, 1))), object);
    assert_eq!(
        of(new().reference(reference(6, 1)).reference(reference(6, 2))),
        (Some("B2.1"), "object_reference_block")
    );
    let result =
        ResultBuilder::new(ResultPush::default()).reference(reference(6, 1)).reference(reference(6, 1));
    assert_eq!(result.to_vec(&of_session()).map_err(|fault| fault.rule()), Err(Some("B3.1")));
    let nobody = SubmitBuilder::new(FrameSubmit::default()).token(DescriptorFlags::empty(), b"");
    assert_eq!(of(nobody), (Some("D8.1"), "frame_submit"));
}

/// More payloads than can be counted are refused, not cut.
#[test]
fn too_many_payloads_are_refused() {
    let none = TypedPayloadDescriptor::default();
    let builder =
        |count| (0..count).fold(SubmitBuilder::new(frame_submit()), |all, _| all.payload(&none, b""));
    builder(65535).to_vec(&of_session()).expect("they can be counted");
    let fault = builder(65536).to_vec(&of_session()).expect_err("one too many");
    assert_eq!((fault.rule(), fault.field()), (Some("B1.3"), "typed_payload_descriptor_bytes"));
}

/// Nothing is written behind what is there where the packet is refused.
#[test]
fn appending_is_all_or_nothing() {
    let mut out = b"before".to_vec();
    assert!(SubmitBuilder::new(FrameSubmit::default()).append_to(&of_session(), &mut out).is_err());
    assert!(
        Message::Cancel(ControlRequest::default(), Default::default())
            .append_to(&of_session(), &mut out)
            .is_err()
    );
    assert_eq!(out, b"before");
    Message::Ping.append_to(&of_connection(), &mut out).expect("it is good");
    SubmitBuilder::new(frame_submit()).append_to(&of_session(), &mut out).expect("it is good");
    assert_eq!(out.len(), 6 + 40 + 112);
}

/// A body that the header cannot declare is refused before memory is taken for it.
#[test]
fn bodies_past_the_header_are_refused_at_once() {
    let part = vec![0; 1 << 31];
    let delta = ObjectDeltaBody { delta_metadata: &part, delta: &part };
    let message = Message::ObjectDelta(ObjectDelta::default(), delta);
    let fault = message.to_vec(&of_session()).expect_err("it is too large");
    assert_eq!((fault.field(), fault.kind(), fault.offset()), ("body_len", FaultKind::Length, 16));
    assert!(!fault.breaks_stream());
}

/// Every message comes back from its packet as it was, but for what was filled in.
#[test]
fn every_message_comes_back() {
    for (header, message) in smallest() {
        let bytes = message.to_vec(&header).expect("it is good");
        let packet = Packet::parse(&bytes).expect("it is good");
        assert_eq!((packet.message_type(), packet.message()), (message.message_type(), message));
        let header = packet.header().to_owned();
        assert_eq!(packet.message().to_vec(&header), Ok(bytes.clone()));
    }
}

/// Known extensions by their types, others as bytes, and what is wrong with them at its place.
#[test]
fn extensions_are_written_by_their_types() {
    let policy = TransportPolicyExtension { preferred_transport_id: TransportId::Quic, ..Default::default() };
    let loss = LossToleranceExtension { session_loss_tolerance: LossTolerance::BestEffort };
    let local = ControlExtensionType::from_raw(0xc000).expect("a local one");
    let block =
        Extensions::new(MessageType::ClientHello).known(policy).other(local, false, b"abc").known(loss);
    let entries: Vec<_> = block.entries().expect("it is good").iter().collect();
    let payloads: Vec<_> = entries.iter().map(|entry| entry.payload).collect();
    assert_eq!(
        payloads,
        [
            ControlExtensionPayload::TransportPolicy(policy),
            ControlExtensionPayload::Other(b"abc"),
            ControlExtensionPayload::LossTolerance(loss),
        ]
    );
    assert_eq!(block.entries().map(|block| block.as_bytes().len()), Ok(16 + 16 + 16));

    let twice = block.clone().known(policy).entries().map(drop).expect_err("it stands once");
    assert_eq!((twice.rule(), twice.offset()), (Some("B7.1"), 48));
    let critical = block.other(local, true, b"").entries().map(drop).expect_err("it stands there already");
    assert_eq!(critical.kind(), FaultKind::Rule);
    let critical = Extensions::new(MessageType::Close).other(local, true, b"").entries().map(drop);
    assert_eq!(critical.map_err(|fault| fault.error_code()), Err(ErrorCode::UNSUPPORTED_CAPABILITY));
    // A payload that contradicts itself is found where it would stand.
    let scope = CancelScopeExtension { cancel_scope: CancelScope::Session, operation_id: 7 };
    let nothing = Extensions::new(MessageType::FrameCancel).other(local, false, b"").known(scope);
    let fault = nothing.entries().map(drop).expect_err("a session is no operation");
    assert_eq!((fault.rule(), fault.offset()), (Some("X3.1"), 8 + 8 + 8));
}

/// Tokens are sorted and stand once; one that no length can count is refused.
#[test]
fn capabilities_are_sorted_and_stand_once() {
    let all = CapabilityTokens::REGISTERED;
    let backwards = Capabilities::new(all.into_iter().rev().chain(all));
    assert!(backwards.entries().expect("they are registered").iter().eq(all));
    assert!(Capabilities::new([]).entries().expect("none is fine").is_empty());
    let long = "a".repeat(65536);
    let fault =
        Capabilities::new(["cache.reference", &long]).entries_with(|_| true).map(drop).expect_err("too long");
    assert_eq!((fault.rule(), fault.kind(), fault.offset()), (Some("B8.3"), FaultKind::Length, 0));
    let just = "b".repeat(65535);
    assert!(Capabilities::new([&*just]).entries_with(|_| true).is_ok());
}

/// A schema refuses what its reader refuses.
#[test]
fn schemas_refuse_what_their_reader_refuses() {
    let rule = |schema: Schema| schema.to_vec().map_err(|fault| fault.rule());
    let header =
        SchemaDescriptorHeader { schema_id: 9, dependency_count: 5, body_bytes: 7, ..Default::default() };
    assert_eq!(rule(Schema::new(header)).map(|bytes| bytes.len()), Ok(32));
    assert_eq!(rule(Schema::new(SchemaDescriptorHeader::default())), Err(Some("D7.2")));
    let both = SchemaDependency { object_kind: 1, schema_id: 9, ..SchemaDependency::default() };
    assert_eq!(rule(Schema::new(header).body(b"{}").dependency(&both)), Err(Some("X5.1")));
}
