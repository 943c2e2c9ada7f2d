//! Bodies: B1 to B3 and B6 to B8. B4, B5 and B10 are in `payloads`, B9 in `tensor`.

use nnrp_core::build::{Capabilities, Extensions, ResultBuilder, SubmitBuilder};
use nnrp_core::wire::FaultKind;
use nnrp_core::*;

use super::samples::*;
use super::vector::{Good, Vector, rules};

/// Metadata of a submit ends here, and so the prelude starts.
const SUBMIT: usize = 112;
/// The same for a result.
const RESULT: usize = 104;
/// Regions start so far behind the start of the body.
const PRELUDE: usize = 32;

const OBJECT: &str = "inline_object_block_header";
const REFERENCE: &str = "object_reference_block";

fn good(bytes: Result<Vec<u8>, wire::Fault>) -> Good {
    Good::bytes(bytes.expect("it is good"))
}

fn kind(raw: u16) -> CacheObjectKind {
    CacheObjectKind::from_raw(raw).expect("a kind")
}

fn reference(
    object_kind: u16,
    cache_namespace: u32,
    cache_key_hi: u64,
    cache_key_lo: u64,
) -> ObjectReferenceBlock {
    ObjectReferenceBlock { object_kind: kind(object_kind), cache_namespace, cache_key_hi, cache_key_lo }
}

fn submit() -> SubmitBuilder {
    SubmitBuilder::new(frame_submit())
}

/// A submit with something in every region.
fn full_submit() -> Good {
    let extension = ExtensionFrameDescriptor {
        extension_kind: ExtensionKind::from_raw(9).expect("any kind"),
        ..ExtensionFrameDescriptor::default()
    };
    let submit = submit()
        .layout_template(ProfileId::TOKEN, b"12345")
        .reference(reference(7, 1, 2, 3))
        .token(DescriptorFlags::empty(), b"ab")
        .extension(&extension, b"cd");
    good(submit.to_vec(&of_session()))
}

/// Inline objects of these kinds in a submit, 8 bytes each, as they are given.
fn inline(kinds: &[u16]) -> Vec<u8> {
    let mut out = Vec::new();
    for raw in kinds {
        let header =
            InlineObjectBlockHeader { object_kind: kind(*raw), ..InlineObjectBlockHeader::default() };
        InlineObjectEntries::push(&mut out, &header, b"12345678").expect("it is good");
    }
    out
}

fn references(rows: &[ObjectReferenceBlock]) -> Vec<u8> {
    let mut out = Vec::new();
    rows.iter().for_each(|row| ObjectReferenceBlockRows::push(&mut out, row).expect("it is good"));
    out
}

/// A body of inline objects and references.
fn body(inline: &[u8], references: &[u8]) -> Vec<u8> {
    let lengths = BodyRegionPrelude {
        inline_object_bytes: inline.len() as u32,
        object_reference_bytes: references.len() as u32,
        ..BodyRegionPrelude::default()
    };
    [&lengths.to_bytes().expect("it is good")[..], inline, references].concat()
}

rules! {
    b1_regions_fill_the_body,
    b2_standard_objects_are_inline_or_referenced,
    b2_the_metadata_repeats_sizes_of_objects,
    b2_an_inline_object_is_padded_with_zeros,
    b3_a_result_is_sorted,
    b6_extension_frames_are_cut_and_known_or_skipped,
    b7_control_extensions_are_well_formed_and_known_or_skipped,
    b8_capability_tokens_are_registered_and_ascend,
}

/// A body is its prelude and six regions, as long as it says.
fn b1_regions_fill_the_body() -> Vec<Vector> {
    let full = full_submit();
    let prelude = |at: usize, bytes: &[u8], rule, field| {
        full.put(SUBMIT + at, bytes).length(rule, "body_region_prelude", field, SUBMIT + at)
    };
    let size = full.as_bytes().len();
    let empty = Good::packet(of_session(), Message::FrameSubmit(frame_submit(), Default::default()));
    let result = Good::packet(of_session(), Message::ResultPush(ResultPush::default(), Default::default()));
    let rows_of = |at: usize, bytes: u8| {
        let mut body = vec![0; PRELUDE + usize::from(bytes)];
        body[at] = bytes;
        empty.body(&body)
    };
    let bare = good(submit().token(DescriptorFlags::empty(), b"").to_vec(&of_session()));
    vec![
        empty.body(&[0; 31]).faults(FaultKind::TooShort, "", "body_region_prelude", "", SUBMIT + 31),
        prelude(0, &[0xff; 4], "B1.1", "inline_object_bytes"),
        prelude(4, &[0xff; 4], "B1.2", "object_reference_bytes"),
        prelude(4, &[23], "B1.2", "object_reference_bytes"),
        prelude(8, &[0xff; 4], "B1.3", "typed_payload_descriptor_bytes"),
        prelude(8, &[0], "B1.3", "typed_payload_descriptor_bytes"),
        bare.set("payload_frame_count", 0).length(
            "B1.3",
            "body_region_prelude",
            "typed_payload_descriptor_bytes",
            SUBMIT + 8,
        ),
        prelude(12, &[0xff; 4], "B4.1", "typed_payload_frame_bytes"),
        prelude(16, &[0xff; 4], "B1.4", "extension_descriptor_bytes"),
        prelude(16, &[15], "B1.4", "extension_descriptor_bytes"),
        prelude(20, &[0xff; 4], "B6.1", "extension_payload_bytes"),
        // A region that is there and as long as is said, but holds no whole number of rows.
        rows_of(4, 23).length("B1.2", "body_region_prelude", "object_reference_bytes", SUBMIT + 4),
        rows_of(8, 23).length("B1.3", "body_region_prelude", "typed_payload_descriptor_bytes", SUBMIT + 8),
        rows_of(16, 15).length("B1.4", "body_region_prelude", "extension_descriptor_bytes", SUBMIT + 16),
        full.splice(size, 0, &[0]).length("B6.1", "regions", "extension_payloads", size),
        full.put(SUBMIT + 24, &[1]).faults(
            FaultKind::Reserved,
            "",
            "body_region_prelude",
            "body_flags",
            SUBMIT + 24,
        ),
        // An empty one has no payloads and no references.
        empty.set("payload_frame_count", 1).length("B1.3", "frame_submit", "payload_frame_count", 108),
        result.set("payload_frame_count", 1).length("B1.3", "result_push", "payload_frame_count", 100),
        empty.set("object_ref_mask", 1).set("submit_mode", 1).breaks(
            "B2.1",
            "frame_submit",
            "object_ref_mask",
            96,
        ),
    ]
}

/// Standard objects of a submit travel inline or as references, each once and in order.
fn b2_standard_objects_are_inline_or_referenced() -> Vec<Vector> {
    // Camera inline, tile index and section table as references, and two objects of other kinds each way.
    let mixed = FrameSubmit { payload_kind_bitmap: PayloadKindBitmap::TENSOR, ..frame_submit() };
    let mixed = SubmitBuilder::new(mixed)
        .camera(b"12345678")
        .reference(reference(2, 1, 1, 1))
        .reference(reference(3, 1, 1, 1));
    let mixed = good(mixed.to_vec(&of_session()));
    let first = SUBMIT + PRELUDE;
    let (camera, rows) = (inline(&[1]), references(&[reference(2, 1, 1, 1), reference(3, 1, 1, 1)]));
    let with = |inline: &[u8], references: &[u8]| mixed.body(&body(inline, references));
    with(&inline(&[1, 6, 4, 7]), &rows).passes();
    with(&inline(&[1, 6, 4, 4]), &rows).passes();
    let more = references(&[reference(2, 1, 1, 1), reference(3, 1, 1, 1), reference(4, 1, 1, 1)]);
    with(&camera, &more).passes();

    let object =
        |bad: super::vector::Bad, place: usize| bad.breaks("B2.1", OBJECT, "object_kind", first + 24 * place);
    let row = |rows: &[ObjectReferenceBlock], place: usize| {
        let at = first + camera.len() + 24 * place;
        with(&camera, &references(rows)).breaks("B2.1", REFERENCE, "object_kind", at)
    };
    let (two, three, other) = (reference(2, 1, 1, 1), reference(3, 1, 1, 1), reference(4, 1, 1, 1));
    let nothing = with(&inline(&[4]), &rows).set("camera_bytes", 0);
    let by_reference = good(
        SubmitBuilder::new(FrameSubmit { payload_kind_bitmap: PayloadKindBitmap::TENSOR, ..frame_submit() })
            .reference(two)
            .to_vec(&of_session()),
    );
    vec![
        // A standard object twice, out of order, or behind another; another out of order.
        object(with(&inline(&[1, 1]), &rows), 1),
        object(with(&inline(&[6, 1]), &rows), 1),
        object(with(&inline(&[4, 1]), &rows), 1),
        object(with(&inline(&[1, 7, 4]), &rows), 2),
        // Inline though its bit says that it is referenced.
        object(with(&inline(&[1, 2]), &rows), 1),
        object(with(&inline(&[1, 3]), &rows), 1),
        // References twice, out of order, behind another, without a bit.
        row(&[two, two, three], 1),
        row(&[three, two], 1),
        row(&[other, two, three], 1),
        row(&[two, three, reference(6, 1, 1, 1)], 2),
        row(&[two, three, reference(7, 1, 1, 1), other], 3),
        // A bit without a reference.
        with(&camera, &references(&[two])).breaks("B2.1", "frame_submit", "object_ref_mask", 96),
        // Mixed without a standard object inline.
        nothing.breaks("B2.1", "frame_submit", "submit_mode", 92),
        // Reference with one.
        by_reference.body(&body(&camera, &references(&[two]))).breaks("B2.1", OBJECT, "object_kind", first),
        by_reference.set("submit_mode", 2).breaks("B2.1", "frame_submit", "submit_mode", 92),
    ]
}

/// What the metadata repeats of inline objects is right.
fn b2_the_metadata_repeats_sizes_of_objects() -> Vec<Vector> {
    let objects = submit().camera(b"12345").tiles(&build::Tiles::Raw(&[4, 5]));
    let objects = good(objects.to_vec(&of_session()));
    let tiles = ResultPush { tile_count: 2, ..ResultPush::default() };
    let result = ResultBuilder::new(tiles).tiles(&build::Tiles::Raw(&[4, 5]));
    let result = good(result.to_vec(&of_session()));
    let of = |value| objects.set("camera_bytes", value).length("B2.2", "frame_submit", "camera_bytes", 68);
    let index =
        |value| objects.set("tile_index_bytes", value).length("B2.3", "frame_submit", "tile_index_bytes", 72);
    let result_index =
        |value| result.set("tile_index_bytes", value).length("B2.4", "result_push", "tile_index_bytes", 64);
    vec![of(0), of(4), of(8), index(0), index(3), index(8), result_index(0), result_index(8)]
}

/// An inline object has its size and zero padding.
fn b2_an_inline_object_is_padded_with_zeros() -> Vec<Vector> {
    let of =
        |size: usize| good(submit().layout_template(ProfileId::TOKEN, &vec![9; size]).to_vec(&of_session()));
    let five = of(5);
    let start = SUBMIT + PRELUDE;
    let (payload, entry) = (start + 16, "inline_object");
    let objects = inline(&[6]);
    let empty = Good::packet(of_session(), Message::FrameSubmit(frame_submit(), Default::default()));
    let cut = |size: usize| empty.body(&body(&objects[..size], &[]));
    let mut short = objects.clone();
    short.truncate(16 + 5);
    short[8] = 5;
    vec![
        five.put(start + 8, &[9]).length("B2.5", OBJECT, "object_bytes", start + 8),
        five.put(start + 8, &[0xff; 4]).length("B2.5", OBJECT, "object_bytes", start + 8),
        five.put(payload + 5, &[1]).faults(FaultKind::Reserved, "B2.5", entry, "", payload + 5),
        five.put(payload + 7, &[1]).faults(FaultKind::Reserved, "B2.5", entry, "", payload + 7),
        cut(15).faults(FaultKind::TooShort, "", OBJECT, "", start + 15),
        cut(23).length("B2.5", OBJECT, "object_bytes", start + 8),
        empty.body(&body(&short, &[])).faults(FaultKind::TooShort, "B2.5", entry, "", payload + 5),
        five.put(start, &[0]).faults(FaultKind::UnknownValue, "", OBJECT, "object_kind", start),
        five.put(start + 2, &[1]).faults(FaultKind::Reserved, "", OBJECT, "object_flags", start + 2),
    ]
}

/// In a result, references ascend and objects do not descend.
fn b3_a_result_is_sorted() -> Vec<Vector> {
    let empty = Good::packet(of_session(), Message::ResultPush(ResultPush::default(), Default::default()));
    let start = RESULT + PRELUDE;
    let of = |rows: &[ObjectReferenceBlock]| empty.body(&body(&[], &references(rows)));
    let bad = |before, after| of(&[before, after]).breaks("B3.1", REFERENCE, "object_kind", start + 24);
    let objects = |kinds: &[u16], place: usize| {
        empty.body(&body(&inline(kinds), &[])).breaks("B3.2", OBJECT, "object_kind", start + 24 * place)
    };
    let row = reference;
    of(&[row(5, 1, 1, 1), row(5, 1, 1, 2), row(5, 1, 2, 0), row(5, 2, 0, 0), row(6, 0, 0, 0)]).passes();
    empty.body(&body(&inline(&[4, 5, 5, 0x8000]), &[])).passes();
    vec![
        bad(row(5, 1, 1, 1), row(5, 1, 1, 1)),
        bad(row(5, 1, 1, 2), row(5, 1, 1, 1)),
        bad(row(5, 1, 2, 1), row(5, 1, 1, 2)),
        bad(row(5, 2, 1, 1), row(5, 1, 2, 2)),
        bad(row(6, 1, 1, 1), row(5, 2, 2, 2)),
        objects(&[5, 4], 1),
        objects(&[4, 6, 5], 2),
    ]
}

/// Extension frames cut their region, and an unknown one that is critical is refused.
fn b6_extension_frames_are_cut_and_known_or_skipped() -> Vec<Vector> {
    let frame = ExtensionFrameDescriptor {
        extension_kind: ExtensionKind::from_raw(9).expect("any kind"),
        ..ExtensionFrameDescriptor::default()
    };
    let frames = good(submit().extension(&frame, b"ab").extension(&frame, b"cde").to_vec(&of_session()));
    let (first, name) = (SUBMIT + PRELUDE, "extension_frame_descriptor");
    let second = first + 16;
    let offset = |value| frames.put(second + 8, &[value]).length("B6.1", name, "payload_offset", second + 8);
    vec![
        frames.put(first + 8, &[1]).length("B6.1", name, "payload_offset", first + 8),
        offset(0),
        offset(1),
        offset(3),
        frames.put(first + 12, &[0xff; 4]).length("B6.1", name, "payload_length", first + 12),
        frames.put(second + 12, &[4]).length("B6.1", name, "payload_length", second + 12),
        frames.put(second + 12, &[2]).length("B6.1", "regions", "extension_payloads", second + 16 + 4),
        frames
            .put(second + 2, &[1])
            .faults(FaultKind::Unsupported, "B6.1", name, "extension_kind", second)
            .code(ErrorCode::UNSUPPORTED_CAPABILITY),
        frames.put(first + 2, &[2]).faults(FaultKind::UnknownBits, "", name, "extension_flags", first + 2),
    ]
}

/// Control extensions have their form, stand once, and are known or skipped.
fn b7_control_extensions_are_well_formed_and_known_or_skipped() -> Vec<Vector> {
    let vendor = ControlExtensionType::from_raw(0x8001).expect("a vendor's");
    let other = ControlExtensionType::from_raw(0x8002).expect("a vendor's");
    let block = Extensions::new(MessageType::Close).other(vendor, false, b"12345").other(other, false, b"");
    let ext = block.entries().expect("it is good");
    let close = Good::packet(of_connection(), Message::Close(CloseBody { ext }));
    let (start, name) = (CommonHeader::SIZE, "control_extension_header");
    let second = start + 16;
    let hello = Extensions::new(MessageType::ClientHello).known(TransportPolicyExtension::default());
    let body = ClientHelloBody { ext: hello.entries().expect("it is good"), ..Default::default() };
    let hello = Good::packet(of_connection(), Message::ClientHello(client_hello(), body));
    let known = 40 + 64;
    let of_another = close.splice(start, 24, &hello.as_bytes()[known..]);
    of_another.clone().passes();
    let unsupported = |bad: super::vector::Bad, at| {
        bad.faults(FaultKind::Unsupported, "B7.1", name, "ext_type", at)
            .code(ErrorCode::UNSUPPORTED_CAPABILITY)
    };
    vec![
        close.put(start, &[0, 0]).faults(FaultKind::UnknownValue, "", name, "ext_type", start),
        close.put(start + 2, &[2]).faults(FaultKind::UnknownBits, "", name, "ext_flags", start + 2),
        close.put(start + 4, &[0xff; 4]).length("B7.1", name, "ext_len", start + 4),
        close.put(second + 4, &[1]).length("B7.1", name, "ext_len", second + 4),
        close.put(start + 13, &[1]).faults(FaultKind::Reserved, "B7.1", "control_extension", "", start + 13),
        close.put(start + 15, &[1]).faults(FaultKind::Reserved, "B7.1", "control_extension", "", start + 15),
        close.splice(start + 13, 11, &[]).faults(
            FaultKind::TooShort,
            "B7.1",
            "control_extension",
            "",
            start + 13,
        ),
        close.splice(second + 7, 1, &[]).faults(FaultKind::TooShort, "", name, "", second + 7),
        close.put(second, &[1]).breaks("B7.1", name, "ext_type", second),
        unsupported(close.put(start + 2, &[1]), start),
        unsupported(close.put(second + 2, &[1]), second),
        // Known in a hello, and unknown here.
        unsupported(of_another.put(start + 2, &[1]), start),
        hello.set("control_extension_bytes", 8).length("", "client_hello", "ext", known + 8),
        hello.set("control_extension_bytes", 24).length("", "client_hello", "control_extension_bytes", 100),
        hello.splice(known + 8, 8, &[]).set("control_extension_bytes", 8).put(known + 4, &[0]).length(
            "B7.1",
            name,
            "ext_len",
            known + 4,
        ),
        hello.put(known + 8, &[9]).faults(
            FaultKind::UnknownValue,
            "",
            "transport_policy_extension",
            "transport_policy",
            known + 8,
        ),
    ]
}

/// Capability tokens are registered, ascend, and are as many as they say.
fn b8_capability_tokens_are_registered_and_ascend() -> Vec<Vector> {
    let tokens = Capabilities::new(["cache.reference", "object.cost"]);
    let capability_entries = tokens.entries().expect("they are registered");
    let body = CapabilityNegotiationBody { capability_entries };
    let offer = Message::CapabilityNegotiation(Capability::default(), body);
    let offer = Good::packet(of_connection(), offer);
    let (start, name) = (72, "capability_tokens");
    let second = start + 17;
    let body = DegradeProfileBody { capability_entries };
    let degrade = Good::packet(of_connection(), Message::DegradeProfile(Capability::default(), body));
    let entry = |word: &[u8]| [&(word.len() as u16).to_le_bytes(), word].concat();
    let with = |first: &[u8], second: &[u8]| {
        let entries = [entry(first), entry(second)].concat();
        let bad = offer.body(&entries);
        if entries.len() == capability_entries.as_bytes().len() {
            bad
        } else {
            bad.set("body_bytes", entries.len() as u64)
        }
    };
    let unknown = |word: &[u8]| {
        with(b"cache.reference", word).faults(FaultKind::UnknownValue, "B8.3", name, "word", second + 2)
    };
    let empty = Good::packet(
        of_connection(),
        Message::CapabilityNegotiation(Capability::default(), Default::default()),
    );
    vec![
        empty.set("capability_count", 1).breaks("B8.1", "capability", "body_bytes", 64),
        offer.set("capability_count", 0).breaks("B8.1", "capability", "body_bytes", 64),
        offer.set("capability_count", 1).length("B8.2", "capability", "capability_count", 42),
        offer.set("capability_count", 3).length("B8.2", "capability", "capability_count", 42),
        degrade.set("capability_count", 1).length("B8.2", "capability", "capability_count", 42),
        degrade.put(second + 2, b"p").faults(FaultKind::UnknownValue, "B8.3", name, "word", second + 2),
        offer.set("body_bytes", 31).length("B8.2", "capability", "body_bytes", 64),
        offer.set("body_bytes", 17).length("B8.2", "capability_negotiation", "capability_entries", second),
        offer.put(start, &[0]).length("B8.3", name, "length", start),
        offer.put(start, &[0xff; 2]).length("B8.3", name, "length", start),
        offer.put(second, &[12]).length("B8.3", name, "length", second),
        offer.splice(start + 18, 12, &[]).set("body_bytes", 18).faults(
            FaultKind::TooShort,
            "B8.3",
            name,
            "",
            start + 18,
        ),
        unknown(b"object.cosy"),
        unknown(b"Object.cost"),
        unknown(b"object cost"),
        unknown(b"object.co\xff\xff"),
        unknown(b"private.thing"),
        with(b"object.cost", b"cache.reference").breaks("B8.3", name, "word", start + 13 + 2),
        with(b"object.cost", b"object.cost").breaks("B8.3", name, "word", start + 13 + 2),
    ]
}

/// Wherever two registered words are in their list, the first of them goes first, and neither is found where it is not.
#[test]
fn b8_any_two_words_go_in_the_order_of_their_list() {
    let words = CapabilityTokens::REGISTERED;
    let entry = |word: &str| [&(word.len() as u16).to_le_bytes(), word.as_bytes()].concat();
    for (at, first) in words.iter().enumerate() {
        for (other, second) in words.iter().enumerate() {
            let bytes = [entry(first), entry(second), entry("zz.private")].concat();
            let fault = CapabilityTokens::with(&bytes, |word| word.starts_with("zz.")).err();
            let rule = (at >= other).then_some((Some("B8.3"), FaultKind::Rule));
            assert_eq!(fault.map(|fault| (fault.rule(), fault.kind())), rule, "{first} {second}");
            assert!(CapabilityTokens::new(&bytes).is_err());
            let cut = [entry(first), entry(&second[1..])].concat();
            let fault = CapabilityTokens::new(&cut).expect_err("no such word");
            assert_eq!(fault.kind(), FaultKind::UnknownValue, "{first} {second}");
        }
    }
}

/// Unknown extension frames and control extensions that are not critical are skipped, and can be read (B6, B7).
#[test]
fn b6_b7_unknown_ones_are_skipped() {
    let full = full_submit();
    let Ok(Message::FrameSubmit(_, body)) = Packet::parse(full.as_bytes()).map(|packet| packet.message())
    else {
        panic!("another message")
    };
    let regions = body.regions.expect("a body");
    let (frame, payload) = regions.extension_payloads_sliced().next().expect("a frame");
    assert_eq!((frame.extension_kind().raw(), payload), (9, b"cd".as_slice()));
    assert_eq!(regions.operation_links(), None);

    let vendor = ControlExtensionType::from_raw(0x8001).expect("a vendor's");
    let block = Extensions::new(MessageType::Close).other(vendor, false, b"12345");
    let entries: Vec<_> = block.entries().expect("it is good").iter().collect();
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0].payload, ControlExtensionPayload::Other(b"12345"));
}

/// Which tokens are good beside the registered ones is the reader's to say (B8).
#[test]
fn b8_a_reader_may_know_more_tokens() {
    let tokens = Capabilities::new(["private.thing", "cache.reference"]);
    let agreed = |token: &str| token == "private.thing";
    assert!(tokens.entries().is_err());
    let body =
        DegradeProfileBody { capability_entries: tokens.entries_with(agreed).expect("it is agreed on") };
    let degrade = Message::DegradeProfile(Capability::default(), body);
    let fault = degrade.to_vec(&of_connection()).unwrap_err();
    assert_eq!((fault.rule(), fault.kind()), (Some("B8.3"), FaultKind::UnknownValue));

    let mut bytes = Vec::new();
    degrade.append_with(&of_connection(), &mut bytes, &agreed).expect("a reader knows them");
    assert_eq!(Packet::parse(&bytes).err().map(|fault| fault.offset()), Some(fault.offset()));
    let packet = Packet::parse_with(&bytes, &agreed).expect("this reader knows them");
    let Message::DegradeProfile(_, body) = packet.message() else { panic!("another message") };
    assert!(body.capability_entries.iter().eq(["cache.reference", "private.thing"]));
    // Their form is not the reader's to say.
    let loud = Capabilities::new(["Private"]);
    assert!(loud.entries_with(|_| true).is_err());
}

/// A word that its length cannot say, or that has none, is not written.
#[test]
fn b8_a_word_that_no_length_fits_is_refused() {
    let mut out = vec![7];
    for bad in [String::new(), "a".repeat(0x1_0000)] {
        let fault = CapabilityTokens::push(&mut out, &bad).expect_err("no reader would take it");
        assert_eq!((fault.rule(), fault.field(), fault.kind()), (Some("B8.3"), "length", FaultKind::Length));
        assert_eq!(out, [7]);
    }
    CapabilityTokens::push(&mut out, &"a".repeat(0xffff)).expect("its length can be said");
    assert_eq!((out.len(), &out[..3]), (1 + 2 + 0xffff, [7, 0xff, 0xff].as_slice()));
}

/// Many types in one block, past those that are remembered one by one (B7).
#[test]
fn b7_a_type_stands_once_among_many() {
    let of = |raw| ControlExtensionType::from_raw(raw).expect("a vendor's");
    for count in [1, 15, 16, 17, 64, 1000] {
        let block = (0..count)
            .fold(Extensions::new(MessageType::Close), |block, at| block.other(of(0x8000 + at), false, b""));
        assert_eq!(block.entries().expect("all differ").iter().count(), usize::from(count));
        for again in [0, count / 2, count - 1] {
            let fault = block.clone().other(of(0x8000 + again), false, b"").entries().unwrap_err();
            assert_eq!((fault.rule(), fault.offset()), (Some("B7.1"), 8 * usize::from(count)));
        }
    }
}
