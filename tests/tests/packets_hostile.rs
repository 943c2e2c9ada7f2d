//! Packets that were made to do harm: refused at the right place, in time proportional to the bytes.
//!
//! That the generated reader allocates nothing needs no test: what is generated compiles without `alloc`.

use std::time::{Duration, Instant};

use nnrp_core::Packet;
use nnrp_gen::codec::packet::{Kind, Packets, Part};
use nnrp_gen::codec::{Fault, Value};
use nnrp_gen::model::{Layout, Registry};
use nnrp_gen::wire::FaultKind;
use nnrp_tests::mutate::fix_lengths;
use nnrp_tests::packet::{Maker, Size};
use nnrp_tests::random::Random;
use nnrp_tests::registry;

/// What both readers say of bytes.
#[track_caller]
fn refused(packets: &Packets<'_>, bytes: &[u8]) -> Fault {
    let fault = Packet::parse(bytes).expect_err("it is refused");
    let other = packets.fault(bytes).expect("it is refused");
    assert_eq!(fault.to_string(), other.to_string());
    other
}

/// Puts a number into a field of the layout that starts at `at`.
fn put(layout: &Layout, at: usize, field: usize, number: u64, bytes: &mut [u8]) {
    let range = layout.fields[field].range();
    let place = &mut bytes[at + range.start..at + range.end];
    let size = place.len();
    place.copy_from_slice(&number.to_le_bytes()[..size]);
}

fn position(layout: &Layout, field: &str) -> usize {
    layout.fields.iter().position(|item| item.name == field).unwrap()
}

/// Every layout in a packet with the fields of it that are lengths or counts.
fn lengths<'a>(part: &Part<'a>, found: &mut Vec<(usize, &'a Layout, usize)>) {
    if let Kind::Layout(layout) = part.kind {
        for (at, field) in layout.fields.iter().enumerate() {
            let named = field.name.ends_with("_bytes")
                || field.name.ends_with("_len")
                || field.name.ends_with("_length");
            if field.has_value() && (named || field.name == "length" || field.name == "dependency_count") {
                found.push((part.at, layout, at));
            }
        }
    }
    part.parts.iter().for_each(|part| lengths(part, found));
}

/// Fields that are called so and say nothing of the packet.
const NO_LENGTHS: &[&str] = &["max_cache_bytes", "max_body_bytes", "limit_bytes", "total_bytes"];

#[test]
fn lengths_of_everything() {
    let registry = registry::nnrp();
    let maker = Maker::new(&registry);
    let mut tried = 0;
    for message in &registry.messages {
        let packet = maker.packet(message, Size::Full, &mut Random::new(20, &message.name));
        let outline = maker.packets().outline(&packet);
        let mut found = Vec::new();
        outline.parts.iter().for_each(|part| lengths(part, &mut found));
        for (at, layout, field) in found {
            let name = layout.fields[field].name.as_str();
            if NO_LENGTHS.contains(&name) {
                continue;
            }
            let mut bytes = packet.clone();
            put(layout, at, field, u64::MAX, &mut bytes);
            if let Err(fault) = Packet::parse(&bytes) {
                assert_eq!(refused(maker.packets(), &bytes).to_string(), fault.to_string());
                tried += 1;
                // Rules may be about a length too; what reads it as one blames it.
                if fault.kind().name() == FaultKind::Length.name() {
                    let blamed = (fault.layout(), fault.field(), fault.offset());
                    let own = (layout.name.as_str(), name, at + layout.fields[field].offset as usize);
                    assert_eq!(blamed, own, "{}", message.name);
                }
            }
        }
    }
    assert!(tried > 100, "{tried}");
}

fn submit(registry: &Registry, regions: Value) -> Vec<u8> {
    let named = |name: &str, value| (name.to_owned(), value);
    let number = Value::Unsigned;
    let packets = Packets::new(registry).unwrap();
    let value = Value::Struct(vec![
        named("header", Value::Struct(vec![named("session_id", number(1)), named("frame_id", number(1))])),
        named("metadata", Value::Struct(vec![named("operation_id", number(1))])),
        named("body", Value::Struct(vec![named("regions", regions)])),
    ]);
    packets.assemble(registry.message("frame_submit").unwrap(), &value).unwrap()
}

fn list(part: &str, items: Vec<Value>) -> Value {
    Value::Struct(vec![(part.to_owned(), Value::List(items))])
}

fn item(fields: &[(&str, u64)], payload: &str) -> Value {
    let fields = fields.iter().map(|(name, number)| ((*name).to_owned(), Value::Unsigned(*number)));
    Value::Struct(fields.chain([("payload".to_owned(), Value::Text(payload.to_owned()))]).collect())
}

#[test]
fn every_byte_of_padding() {
    let registry = registry::nnrp();
    let packets = Packets::new(&registry).unwrap();
    let good = submit(&registry, list("inline_objects", vec![item(&[("object_kind", 8)], "0x00")]));
    assert_eq!(packets.fault(&good), None);
    for at in good.len() - 7..good.len() {
        let mut bad = good.clone();
        bad[at] = 1;
        let fault = refused(&packets, &bad);
        assert_eq!(
            (fault.layout.as_str(), fault.offset, fault.kind),
            ("inline_object", at, FaultKind::Reserved)
        );
        assert_eq!(fault.rule.as_deref(), Some("B2.5"));
    }
}

#[test]
fn offsets_that_run_backwards() {
    let registry = registry::nnrp();
    let packets = Packets::new(&registry).unwrap();
    let frames = || vec![item(&[], "0x0102030405"), item(&[], "0x060708"), item(&[], "0x09")];
    let good = submit(&registry, list("payload_descriptors", frames()));
    assert_eq!(packets.fault(&good), None);
    let rows = 40 + 72 + 32;
    let layout = registry.layout("typed_payload_descriptor").unwrap();
    let field = position(layout, "offset");
    for (row, offset) in [(1, 0), (1, 4), (1, 6), (2, 5), (2, 7), (2, u64::from(u32::MAX)), (0, 1)] {
        let mut bad = good.clone();
        put(layout, rows + 24 * row, field, offset, &mut bad);
        let fault = refused(&packets, &bad);
        let blamed = (fault.layout.as_str(), fault.field.as_str(), fault.offset, fault.kind);
        assert_eq!(blamed, (layout.name.as_str(), "offset", rows + 24 * row + 16, FaultKind::Length));
    }
}

#[test]
fn counts_whose_product_is_huge() {
    let registry = registry::nnrp();
    let packets = Packets::new(&registry).unwrap();
    let metadata = registry.layout("frame_submit").unwrap();
    let descriptor = registry.layout("tensor_section_descriptor").unwrap();
    let section = "0x0100000000000100".to_owned() + &"00".repeat(24);
    let table = item(&[("object_kind", 3)], &section);
    let mut bytes = submit(&registry, list("inline_objects", vec![table]));
    let at = 40 + 72 + 32 + 16;
    put(metadata, 40, position(metadata, "payload_kind_bitmap"), 1, &mut bytes);
    put(metadata, 40, position(metadata, "section_count"), 0xffff, &mut bytes);
    put(metadata, 40, position(metadata, "tile_count"), 0xffff, &mut bytes);
    let flags = position(descriptor, "section_flags");
    let stride = position(descriptor, "payload_stride_bytes");
    let clause = |bytes: &[u8]| {
        let fault = refused(&packets, bytes);
        (fault.field, fault.offset - at, fault.kind)
    };
    // A stride times the tiles is far more than is there; a length for each tile, too.
    let fixed = registry.bitmasks.iter().find(|mask| mask.name == "section_flags").unwrap();
    let fixed = fixed.bits.iter().find(|bit| bit.name == "fixed_stride").unwrap().mask;
    put(descriptor, at, flags, fixed, &mut bytes);
    put(descriptor, at, stride, u64::from(u32::MAX), &mut bytes);
    assert_eq!(clause(&bytes), ("payload_bytes".to_owned(), 20, FaultKind::Length));
    put(descriptor, at, flags, 0, &mut bytes);
    put(descriptor, at, stride, 0, &mut bytes);
    put(descriptor, at, position(descriptor, "length_table_bytes"), 4 * 0xffff, &mut bytes);
    assert_eq!(clause(&bytes), ("length_table_bytes".to_owned(), 16, FaultKind::Length));
    // Rows that their count says take more than there is.
    let rows = position(metadata, "payload_frame_count");
    let mut bytes = submit(&registry, list("payload_descriptors", vec![item(&[], "0x")]));
    put(metadata, 40, rows, 0xffff, &mut bytes);
    let fault = refused(&packets, &bytes);
    assert_eq!((fault.field.as_str(), fault.kind), ("typed_payload_descriptor_bytes", FaultKind::Length));
}

/// How long both readers take, and what they say.
fn timed(packets: &Packets<'_>, bytes: &[u8]) -> (Duration, Option<Fault>) {
    let once = || {
        let start = Instant::now();
        let fault = Packet::parse(bytes).err();
        let other = packets.fault(bytes);
        assert_eq!(fault.map(|fault| fault.to_string()), other.as_ref().map(ToString::to_string));
        (start.elapsed(), other)
    };
    (0..3).map(|_| once()).min_by_key(|(time, _)| *time).unwrap()
}

/// Reads a packet of so much of something and one of four times as much, which takes about four times as long.
fn in_proportion(packets: &Packets<'_>, count: usize, make: impl Fn(usize) -> Vec<u8>) -> Option<Fault> {
    let (short, _) = timed(packets, &make(count / 4));
    let (long, fault) = timed(packets, &make(count));
    // Sixteen times as long would be quadratic.
    let most = short * 9 + Duration::from_millis(20);
    assert!(long < most, "{count} take {long:?}, a quarter of them {short:?}");
    fault
}

/// A packet with that body, and the metadata of a small one.
fn with_body(packets: &Packets<'_>, head: &[u8], body: &[u8]) -> Vec<u8> {
    let mut bytes = [head, body].concat();
    fix_lengths(packets, &mut bytes);
    bytes
}

#[test]
fn a_million_empty_entries() {
    let registry = registry::nnrp();
    let packets = Packets::new(&registry).unwrap();
    let close = packets.encode(registry.message("close").unwrap(), &Value::Struct(Vec::new())).unwrap();
    // Entries of one type each: 16 bits of types that nobody knows, then one that stands twice.
    let entry = |kind: usize| [kind as u8, (kind >> 8) as u8, 0, 0, 0, 0, 0, 0];
    let distinct = |count: usize| -> Vec<u8> { (1..=count).flat_map(|kind| entry(0x4fff + kind)).collect() };
    assert_eq!(in_proportion(&packets, 40_000, |count| with_body(&packets, &close, &distinct(count))), None);
    let mut twice = distinct(40_000);
    twice.extend(entry(0x5000));
    let fault = refused(&packets, &with_body(&packets, &close, &twice));
    assert_eq!((fault.field.as_str(), fault.offset), ("ext_type", 40 + 8 * 40_000));
    assert_eq!(refused(&packets, &with_body(&packets, &close, &entry(0x5000).repeat(1_000_000))).offset, 48);

    // Inline objects of a result may be of one kind.
    let push = registry.layout("result_push").unwrap();
    let json = |count: usize| {
        let mut body = vec![0; 32];
        body[..4].copy_from_slice(&(16 * count as u32).to_le_bytes());
        let mut entry = [0; 16];
        entry[0] = 8;
        body.extend(entry.repeat(count));
        let named = |name: &str, value| (name.to_owned(), value);
        let header = [named("session_id", Value::Unsigned(1)), named("frame_id", Value::Unsigned(1))];
        let value = Value::Struct(vec![named("header", Value::Struct(header.to_vec()))]);
        let head = packets.encode(registry.message("result_push").unwrap(), &value).unwrap();
        assert_eq!(head.len(), 40 + push.size as usize);
        with_body(&packets, &head, &body)
    };
    assert_eq!(in_proportion(&packets, 40_000, json), None);
    assert!(Packet::parse(&json(1_000_000)).is_ok());
}

#[test]
fn a_million_bytes_of_nothing() {
    let registry = registry::nnrp();
    let packets = Packets::new(&registry).unwrap();
    let close = packets.encode(registry.message("close").unwrap(), &Value::Struct(Vec::new())).unwrap();
    let fault =
        in_proportion(&packets, 1_000_000, |count| with_body(&packets, &close, &vec![0; count])).unwrap();
    assert_eq!((fault.field.as_str(), fault.offset, fault.kind), ("ext_type", 40, FaultKind::UnknownValue));
    // The whole body in one payload.
    let whole = |count: usize| {
        let mut body = vec![0, 0x50, 0, 0];
        body.extend((count as u32).to_le_bytes());
        body.extend(vec![7; count]);
        body.resize(body.len().next_multiple_of(8), 0);
        with_body(&packets, &close, &body)
    };
    assert_eq!(in_proportion(&packets, 4_000_000, whole), None);
}
