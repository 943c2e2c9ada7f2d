//! Whole packets: the generated reader and writer and the registry-driven ones agree on everything.
//!
//! `NNRP_LONG=1` runs many times as many cases.

use nnrp_core::Packet;
use nnrp_core::wire::WriteError;
use nnrp_gen::codec::packet::{Packets, Part};
use nnrp_gen::codec::{EncodeError, Fault};
use nnrp_gen::model::{Message, Registry};
use nnrp_tests::mutate::{fix_lengths, mutated, revalued};
use nnrp_tests::packet::{Maker, Size};
use nnrp_tests::random::Random;
use nnrp_tests::registry;

/// How often to try something.
fn times(short: usize, long: usize) -> usize {
    if std::env::var_os("NNRP_LONG").is_some() { long } else { short }
}

/// What was compared.
#[derive(Default)]
struct Seen {
    accepted: usize,
    refused: usize,
}

/// Both sides on the same bytes.
#[track_caller]
fn agree(packets: &Packets<'_>, bytes: &[u8], seen: &mut Seen) {
    let here = || format!("{bytes:02x?}");
    match (Packet::parse(bytes), packets.fault(bytes)) {
        (Ok(packet), None) => {
            seen.accepted += 1;
            let mut out = vec![0xaa; bytes.len()];
            let written = packet.message().encode_into(&packet.header().to_owned(), &mut out);
            assert_eq!(written, Ok(bytes.len()), "{}", here());
            assert_eq!(out, bytes, "{}", here());
        }
        (Err(fault), Some(other)) => {
            seen.refused += 1;
            same(&fault, &other, &here);
        }
        (generated, other) => panic!("{}: {generated:?}, and by the registry {other:?}", here()),
    }
    // What can be read of it can be read, whatever it is.
    let outline = packets.outline(bytes);
    let end = outline.parts.iter().fold(0, |at, part| end(part, at, &here));
    assert_eq!(end, bytes.len(), "{}", here());
    assert_eq!(packets.lenient(bytes).1, packets.fault(bytes));
    let (generated, other) = (Packet::declared_len(bytes), packets.declared_len(bytes));
    match (generated, other) {
        (Ok(generated), Ok(other)) => assert_eq!(generated, other, "{}", here()),
        (Err(fault), Err(other)) => same(&fault, &other, &here),
        (generated, other) => panic!("{}: {generated:?}, and by the registry {other:?}", here()),
    }
}

/// Where a part ends that starts at some byte, each byte of which is in exactly one of its parts.
fn end(part: &Part<'_>, start: usize, here: &dyn Fn() -> String) -> usize {
    assert_eq!(part.at, start, "{}", here());
    let end_of_parts = part.parts.iter().fold(start, |at, part| end(part, at, here));
    assert!(part.parts.is_empty() || end_of_parts == start + part.bytes.len(), "{}", here());
    start + part.bytes.len()
}

#[track_caller]
fn same(fault: &nnrp_core::wire::Fault, other: &Fault, here: &dyn Fn() -> String) {
    assert_eq!(fault.to_string(), other.to_string(), "{}", here());
    assert_eq!(fault.layout(), other.layout, "{}", here());
    assert_eq!(fault.field(), other.field, "{}", here());
    assert_eq!(fault.offset(), other.offset, "{}", here());
    assert_eq!(fault.kind().name(), other.kind.name(), "{}", here());
    assert_eq!(fault.rule(), other.rule.as_deref(), "{}", here());
    assert_eq!(fault.code(), other.code, "{}", here());
    assert_eq!(fault.is_of_message(), other.of_message, "{}", here());
}

/// Does the same to every message.
fn every_message(name: &str, mut test: impl FnMut(&Maker<'_>, &Message, &mut Random)) {
    let registry: Registry = registry::nnrp();
    let maker = Maker::new(&registry);
    for message in &registry.messages {
        test(&maker, message, &mut Random::new(1, &format!("{name} {}", message.name)));
    }
}

#[test]
fn good_packets_go_there_and_back() {
    let mut seen = Seen::default();
    every_message("good", |maker, message, random| {
        for size in Size::ALL {
            for _ in 0..times(10, 1000) {
                let bytes = maker.packet(message, size, random);
                agree(maker.packets(), &bytes, &mut seen);
                let value = maker.packets().decode(&bytes).unwrap_or_else(|fault| panic!("{fault}"));
                let again = maker.packets().encode(message, &value);
                assert_eq!(again.as_ref(), Ok(&bytes), "{value:?}");
            }
        }
    });
    assert_eq!(seen.refused, 0);
}

#[test]
fn changed_packets() {
    let mut seen = Seen::default();
    every_message("changed", |maker, message, random| {
        for _ in 0..times(20, 1000) {
            let size = *random.pick(&Size::ALL);
            let packet = maker.packet(message, size, random);
            for _ in 0..20 {
                agree(maker.packets(), &mutated(maker.packets(), &packet, random), &mut seen);
            }
        }
    });
    println!("{} accepted, {} refused", seen.accepted, seen.refused);
    assert!(seen.accepted > 1000 && seen.refused > 1000);
}

#[test]
fn packets_of_other_values() {
    let mut seen = Seen::default();
    every_message("values", |maker, message, random| {
        let weight = 1 + message.segments.len() * 2 + message.sorted.len() * 8 + message.sizes.len() * 8;
        for _ in 0..times(6, 150) * weight {
            let size = *random.pick(&Size::ALL);
            let value = maker.value(message, size, random);
            for _ in 0..20 {
                if let Some(bytes) = revalued(maker.packets(), message, &value, random) {
                    agree(maker.packets(), &bytes, &mut seen);
                }
            }
        }
    });
    println!("{} accepted, {} refused", seen.accepted, seen.refused);
    assert!(seen.accepted > 1000 && seen.refused > 1000);
}

#[test]
fn cut_and_extended_packets() {
    let mut seen = Seen::default();
    every_message("cut", |maker, message, random| {
        let packet = maker.packet(message, Size::Full, random);
        for length in 0..packet.len() {
            let mut cut = packet[..length].to_vec();
            agree(maker.packets(), &cut, &mut seen);
            fix_lengths(maker.packets(), &mut cut);
            agree(maker.packets(), &cut, &mut seen);
        }
        for more in [1, 7, 8, 24, 4096] {
            let mut longer = [packet.as_slice(), &random.bytes(more)].concat();
            agree(maker.packets(), &longer, &mut seen);
            fix_lengths(maker.packets(), &mut longer);
            agree(maker.packets(), &longer, &mut seen);
        }
    });
}

#[test]
fn every_bit_changed() {
    let mut seen = Seen::default();
    every_message("bits", |maker, message, random| {
        for _ in 0..times(1, 20) {
            let mut packet = maker.packet(message, Size::Full, random);
            let most = if times(0, 1) == 0 { 6000 } else { usize::MAX };
            for bit in 0..(packet.len() * 8).min(most) {
                packet[bit / 8] ^= 1 << (bit % 8);
                agree(maker.packets(), &packet, &mut seen);
                packet[bit / 8] ^= 1 << (bit % 8);
            }
        }
    });
    println!("{} accepted, {} refused", seen.accepted, seen.refused);
}

#[test]
fn noise() {
    let registry = registry::nnrp();
    let packets = Packets::new(&registry).expect("it has messages");
    let mut random = Random::new(1, "noise");
    let mut seen = Seen::default();
    for _ in 0..times(2000, 200_000) {
        let length = random.below(400);
        agree(&packets, &random.bytes(length), &mut seen);
    }
    assert_eq!(seen.accepted, 0);
}

/// What the writer refuses is what the reader would refuse.
#[test]
fn writers_refuse_alike() {
    let mut refused = 0;
    every_message("writers", |maker, message, random| {
        for _ in 0..times(10, 1000) {
            let packet = maker.packet(message, Size::Typical, random);
            let Ok(good) = Packet::parse(&packet) else { panic!("{packet:02x?}") };
            let mut header = good.header().to_owned();
            header.session_id = random.below(2) as u32;
            header.frame_id = random.below(2) as u32;
            header.trace_id = random.below(2) as u64;
            let mut out = vec![0; packet.len()];
            let written = good.message().encode_into(&header, &mut out);
            let mut value = maker.packets().decode(&packet).unwrap_or_else(|fault| panic!("{fault}"));
            set(&mut value, "session_id", u64::from(header.session_id));
            set(&mut value, "frame_id", u64::from(header.frame_id));
            set(&mut value, "trace_id", header.trace_id);
            match (written, maker.packets().encode(message, &value)) {
                (Ok(_), Ok(bytes)) => assert_eq!(out, bytes),
                (Err(WriteError::Fault(fault)), Err(EncodeError::Fault(other))) => {
                    refused += 1;
                    same(&fault, &other, &|| message.name.clone());
                }
                (generated, other) => panic!("{generated:?}, and by the registry {other:?}"),
            }
        }
    });
    assert!(refused > 50, "{refused}");
}

fn set(value: &mut nnrp_gen::codec::Value, field: &str, number: u64) {
    use nnrp_gen::codec::Value;
    let Value::Struct(parts) = value else { return };
    for (name, part) in parts {
        if let ("header", Value::Struct(fields)) = (name.as_str(), part) {
            fields.retain(|(name, _)| name != field);
            fields.push((field.to_owned(), Value::Unsigned(number)));
        }
    }
}
