//! Typed payloads in both forms, and schemas: D2, D6, D7, F7, B4, B5, B10, X5.

use nnrp_core::build::{Schema, SubmitBuilder};
use nnrp_core::*;

use super::samples::{frame_submit, of_session};
use super::vector::{Bad, Good, Vector, rules};

/// Metadata of a submit ends here.
const BODY: usize = 112;
/// Descriptors start here where nothing is in front of them.
const ROWS: usize = BODY + 32;

/// A submit with two payloads of tokens, of two and three bytes.
pub fn tokens() -> Good {
    let submit = SubmitBuilder::new(frame_submit())
        .token(DescriptorFlags::empty(), b"ab")
        .token(DescriptorFlags::TERMINAL, b"cde");
    Good::bytes(submit.to_vec(&of_session()).expect("it is good"))
}

fn descriptor() -> TypedPayloadDescriptor {
    TypedPayloadDescriptor {
        profile_id: ProfileId::TOKEN,
        schema_id: 0x1001,
        schema_version: 3,
        stream_semantics: StreamSemantics::Append,
        offset: 16,
        length: 4,
        ..TypedPayloadDescriptor::default()
    }
}

fn later() -> Good {
    let later = TypedPayloadDescriptorP4::from_current(&descriptor(), PayloadKindBitmap::TOKEN_CHUNK);
    let bytes = later.and_then(|later| later.to_bytes()).expect("it is good");
    Good::layout("typed_payload_descriptor_p4", |bytes| TypedPayloadDescriptorP4::view(bytes).err(), &bytes)
}

fn header() -> SchemaDescriptorHeader {
    SchemaDescriptorHeader { schema_id: 0x1_0001, schema_version: 1, ..SchemaDescriptorHeader::default() }
}

/// A CACHE_PUT of a schema that depends on a schema and on an object.
fn schema() -> Good {
    let base = SchemaDependency { schema_id: 0x1001, schema_version: 3, ..SchemaDependency::default() };
    let object = SchemaDependency {
        dependency_kind: SchemaDependencyKind::Object,
        object_kind: 6,
        cache_namespace: 1,
        cache_key_hi: 2,
        cache_key_lo: 3,
        ..SchemaDependency::default()
    };
    let schema = Schema::new(header()).dependency(&base).dependency(&object).body(b"{}").to_vec();
    let object_kind = CacheObjectKind::from_raw(0x8001).expect("a private kind");
    let put = CachePut { object_kind, ..CachePut::default() };
    let body = CachePutBody { object: &schema.expect("it is good"), ..CachePutBody::default() };
    Good::packet(of_session(), Message::CachePut(put, body))
}

/// Where the schema of [`schema`] starts, and its two dependencies.
const SCHEMA: usize = 80;
const FIRST: usize = SCHEMA + 32;
const SECOND: usize = FIRST + 32;

rules! {
    d2_a_payload_without_a_schema_has_no_version,
    d6_a_payload_is_not_both_terminal_and_partial,
    d7_a_schema_has_an_id_and_a_window,
    f7_the_later_descriptor_has_one_kind_and_four_flags,
    b4_payloads_follow_one_another,
    b10_a_schema_is_its_header_dependencies_and_body,
    x5_a_dependency_names_one_thing,
}

/// No schema has no version, in a payload's descriptor of either form.
fn d2_a_payload_without_a_schema_has_no_version() -> Vec<Vector> {
    vec![
        tokens().put(ROWS + 4, &[0, 0]).breaks(
            "D2.3",
            "typed_payload_descriptor",
            "schema_version",
            ROWS + 8,
        ),
        later().set("schema_id", 0).breaks("D2.4", "typed_payload_descriptor_p4", "schema_version", 8),
    ]
}

/// A payload is not the last piece and followed by more.
fn d6_a_payload_is_not_both_terminal_and_partial() -> Vec<Vector> {
    let flags = "descriptor_flags";
    vec![
        tokens().put(ROWS + 2, &[3]).breaks("D6.1", "typed_payload_descriptor", flags, ROWS + 2),
        later().set(flags, 3).breaks("D6.2", "typed_payload_descriptor_p4", flags, 3),
        later().set(flags, 0xb).breaks("D6.2", "typed_payload_descriptor_p4", flags, 3),
    ]
}

/// A schema has an id and a version window.
fn d7_a_schema_has_an_id_and_a_window() -> Vec<Vector> {
    let name = "schema_descriptor_header";
    vec![
        schema().put(SCHEMA + 12, &[1]).breaks("D7.1", name, "min_version_major", SCHEMA + 12),
        schema().put(SCHEMA, &[0, 0, 0]).breaks("D7.2", name, "schema_id", SCHEMA),
    ]
}

/// The later form has exactly one kind and four flags.
fn f7_the_later_descriptor_has_one_kind_and_four_flags() -> Vec<Vector> {
    let name = "typed_payload_descriptor_p4";
    let kind = |value| later().set("payload_kind", value).breaks("F7.1", name, "payload_kind", 2);
    let flags = |value| later().set("descriptor_flags", value).breaks("F7.2", name, "descriptor_flags", 3);
    (0..7).for_each(|bit| {
        if bit != 1 {
            later().set("payload_kind", 1 << bit).passes()
        }
    });
    vec![kind(0), kind(3), kind(0x80), kind(0xff), flags(0x10), flags(0xff)]
}

/// Each payload starts where the one before ended, and the last ends with the region.
fn b4_payloads_follow_one_another() -> Vec<Vector> {
    let (name, second) = ("typed_payload_descriptor", ROWS + 24);
    let offset = |value| tokens().put(second + 16, &[value]).length("B4.1", name, "offset", second + 16);
    vec![
        tokens().put(ROWS + 16, &[1]).length("B4.1", name, "offset", ROWS + 16),
        offset(0),
        offset(1),
        offset(3),
        offset(5),
        offset(0xff),
        tokens().put(ROWS + 20, &[0xff; 4]).length("B4.1", name, "length", ROWS + 20),
        tokens().put(ROWS + 20, &[6]).length("B4.1", name, "length", ROWS + 20),
        tokens().put(second + 20, &[4]).length("B4.1", name, "length", second + 20),
        tokens().put(second + 20, &[2]).length("B4.1", "regions", "payload_frames", ROWS + 48 + 4),
        // Without descriptors there is no payload.
        Good::packet(of_session(), Message::FrameSubmit(frame_submit(), Default::default()))
            .body(&[&[0; 12][..], &[1], &[0; 19], &[7]].concat())
            .length("B4.1", "regions", "payload_frames", ROWS),
    ]
}

/// A schema's body is as long as its header says, and starts with as many dependencies.
fn b10_a_schema_is_its_header_dependencies_and_body() -> Vec<Vector> {
    let name = "schema_descriptor_header";
    let bytes = schema().as_bytes().to_vec();
    let cut = |size: usize| {
        let object = &bytes[SCHEMA..SCHEMA + size];
        schema().body(object).set("object_bytes", size as u64)
    };
    let behind = [&bytes[SCHEMA..], &[0]].concat();
    vec![
        cut(31).faults(wire::FaultKind::TooShort, "", name, "", SCHEMA + 31),
        cut(97).length("B10.1", name, "body_bytes", SCHEMA + 16),
        schema().body(&behind).set("object_bytes", 99).length(
            "B10.1",
            "schema_descriptor",
            "body",
            SCHEMA + 98,
        ),
        schema().put(SCHEMA + 16, &[65]).length("B10.1", "schema_descriptor", "body", SCHEMA + 97),
        schema().put(SCHEMA + 16, &[0xff; 4]).length("B10.1", name, "body_bytes", SCHEMA + 16),
        schema().put(SCHEMA + 20, &[3]).length("B10.1", name, "dependency_count", SCHEMA + 20),
        schema().put(SCHEMA + 20, &[0xff; 2]).length("B10.1", name, "dependency_count", SCHEMA + 20),
    ]
}

/// A dependency on a schema names no object, and one on an object no schema.
fn x5_a_dependency_names_one_thing() -> Vec<Vector> {
    let of = |at: usize, offset: usize, rule, field| {
        schema().put(at + offset, &[9]).breaks(rule, "schema_dependency", field, at + offset)
    };
    vec![
        of(FIRST, 2, "X5.1", "object_kind"),
        of(FIRST, 12, "X5.2", "cache_namespace"),
        of(FIRST, 16, "X5.3", "cache_key_hi"),
        of(FIRST, 24, "X5.4", "cache_key_lo"),
        of(SECOND, 4, "X5.5", "schema_id"),
        of(SECOND, 8, "X5.6", "schema_version"),
    ]
}

/// The two forms become each other, and the kind is what only the later one has (F7).
#[test]
fn f7_the_forms_become_each_other() {
    for bit in 0..7 {
        let kind = PayloadKindBitmap::from_bits_retain(1 << bit);
        for flags in [0, 1, 2, 4, 8, 13, 14] {
            let descriptor_flags = DescriptorFlags::from_bits_retain(flags);
            let current = TypedPayloadDescriptor { descriptor_flags, ..descriptor() };
            let later = TypedPayloadDescriptorP4::from_current(&current, kind).expect("it is good");
            assert_eq!((later.payload_kind, later.descriptor_flags), (1 << bit, flags as u8));
            assert_eq!(later.to_current(), Ok(current));
        }
    }
}

/// What one form refuses is not turned into the other (F7).
#[test]
fn f7_conversions_refuse_what_either_form_refuses() {
    let rule = |result: Result<_, wire::Fault>| result.err().and_then(|fault| fault.rule());
    let later = |current: &TypedPayloadDescriptor, kind| {
        rule(
            TypedPayloadDescriptorP4::from_current(current, PayloadKindBitmap::from_bits_retain(kind))
                .map(drop),
        )
    };
    for kind in [0, 3, 0x80, 0x100, u32::MAX] {
        assert_eq!(later(&descriptor(), kind), Some("F7.1"));
    }
    let both =
        TypedPayloadDescriptor { descriptor_flags: DescriptorFlags::from_bits_retain(3), ..descriptor() };
    assert_eq!(later(&both, 1), Some("D6.1"));
    let versioned = TypedPayloadDescriptor { schema_id: 0, ..descriptor() };
    assert_eq!(later(&versioned, 1), Some("D2.3"));
    let unknown = TypedPayloadDescriptorP4 { payload_kind: 2, descriptor_flags: 0x10, ..Default::default() };
    assert_eq!(rule(unknown.to_current().map(drop)), Some("F7.2"));
}

/// A packet with the later form is not understood, however its bytes look (F7).
#[test]
fn f7_the_later_form_is_never_guessed() {
    let later = later();
    let bad: Bad = tokens().put(ROWS, later.as_bytes());
    // Kind token_chunk stands where this form has its flags, and is read as such.
    bad.clone().put(ROWS + 16, &[0, 0, 0, 0, 2]).passes();
    // A kind that is no flag here is refused.
    let unknown = bad.put(ROWS + 2, &[0x10]);
    unknown
        .faults(wire::FaultKind::UnknownBits, "", "typed_payload_descriptor", "descriptor_flags", ROWS + 2)
        .hold("F7");
}

/// All profiles use the same descriptor, and tensor data may travel under it (B5).
#[test]
fn b5_every_profile_uses_the_same_descriptor() {
    let private = ProfileId::from_raw(0x9000).expect("an extension profile");
    for profile_id in [ProfileId::UNSPECIFIED, ProfileId::TENSOR, ProfileId::TOKEN, private] {
        let descriptor = TypedPayloadDescriptor { profile_id, ..TypedPayloadDescriptor::default() };
        let bytes = SubmitBuilder::new(frame_submit()).payload(&descriptor, b"data").to_vec(&of_session());
        let bytes = bytes.expect("it is good");
        let Ok(Message::FrameSubmit(_, body)) = Packet::parse(&bytes).map(|packet| packet.message()) else {
            panic!("another message")
        };
        let regions = body.regions.expect("a body");
        let (row, payload) = regions.payload_frames_sliced().next().expect("a payload");
        assert_eq!((row.profile_id(), payload), (profile_id, b"data".as_slice()));
    }
}
