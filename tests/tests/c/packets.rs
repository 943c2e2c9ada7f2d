//! Rust and C say the same of whole packets: what is wrong, what is in them, and where they end in a stream.

use nnrp_core::Packet;
use nnrp_gen::codec;
use nnrp_gen::codec::packet::Packets;
use nnrp_gen::model::{Message, Registry};
use nnrp_tests::generated::Fault;
use nnrp_tests::mutate::{mutated, revalued};
use nnrp_tests::packet::{Maker, Size};
use nnrp_tests::random::Random;

use crate::driver::{self, Driver, PacketRequest};
use crate::toolchain::{BUILDS, compile, folder, have, registry};
use crate::walk::{self, Piece};

/// What a side says of a packet.
#[derive(Debug, PartialEq, Eq)]
pub struct Verdict {
    /// What it is made of, or the fault, with whether it ends the stream and the code that answers it.
    pub packet: Result<Vec<Piece>, (Fault, bool, u32)>,
    /// How much of it is missing and how long it is, or the fault of its header.
    pub stream: Result<(u32, u32), Fault>,
}

/// How many packets a build gets of each message: many, or with the environment variable `NNRP_LONG` a great many.
pub fn rounds(build: &str) -> usize {
    match (std::env::var_os("NNRP_LONG").is_some(), build) {
        (true, _) => 1500,
        (false, "gcc") => 20,
        (false, _) => 6,
    }
}

/// Packets of a message: good ones, changed ones, and ones of other values.
pub fn tries(maker: &Maker<'_>, message: &Message, rounds: usize, random: &mut Random) -> Vec<Vec<u8>> {
    let mut tries = Vec::new();
    for _ in 0..rounds {
        let size = *random.pick(&Size::ALL);
        let value = maker.value(message, size, random);
        let packet = maker.packet(message, size, random);
        for _ in 0..20 {
            tries.push(mutated(maker.packets(), &packet, random));
            tries.extend(revalued(maker.packets(), message, &value, random));
        }
        tries.push(packet);
    }
    tries
}

/// What the registry-driven codec says.
pub fn by_registry(registry: &Registry, packets: &Packets<'_>, bytes: &[u8], limit: u32) -> Verdict {
    let fault = |fault: codec::Fault| Fault {
        sentence: fault.to_string(),
        layout: fault.layout,
        field: fault.field,
        offset: fault.offset,
        kind: fault.kind.name().to_owned(),
        rule: fault.rule,
        code: fault.code,
    };
    let packet = match packets.fault(bytes) {
        Some(found) => {
            let ends = found.breaks_stream(registry);
            let code = match (&registry.protocol.errors, found.code) {
                (None, _) => 0,
                (Some(_), Some(code)) => code,
                (Some(errors), None) if ends => errors.header as u32,
                (Some(errors), None) => errors.body as u32,
            };
            Err((fault(found), ends, code))
        }
        None => {
            let outline = packets.outline(bytes);
            Ok(walk::expected(outline.message.map_or(&[], |message| &message.segments), &outline))
        }
    };
    let header = packets.header();
    let body_length =
        header.fields.iter().find(|field| field.role == Some(nnrp_gen::model::Role::BodyLength));
    let stream = match packets.declared_len(bytes) {
        Err(found) => Err(fault(found)),
        Ok(None) => Ok((header.size - bytes.len() as u32, 0)),
        Ok(Some(length)) if length > u64::from(limit) => {
            let (field, offset) = body_length.map_or(("", 0), |field| (field.name.as_str(), field.offset));
            Err(Fault {
                layout: header.name.clone(),
                field: field.to_owned(),
                offset: offset as usize,
                kind: "limit".to_owned(),
                rule: Some("F6".to_owned()),
                code: None,
                sentence: format!("byte {offset}: `{}.{field}` is over the limit (rule F6)", header.name),
            })
        }
        Ok(Some(length)) => Ok(((length as u32).saturating_sub(bytes.len() as u32), length as u32)),
    };
    Verdict { packet, stream }
}

/// The verdict of the generated code on the same packet.
pub fn generated(bytes: &[u8]) -> Option<(String, bool, u32)> {
    let fault = Packet::parse(bytes).err()?;
    Some((fault.to_string(), fault.breaks_stream(), fault.error_code().raw()))
}

fn agreement(name: &str) {
    let registry = registry(name);
    let maker = Maker::new(&registry);
    let folder = folder("packets", name);
    driver::write_to(&folder, &registry);
    let mut random = Random::new(4, name);
    for (build, compiler, flags) in BUILDS {
        if !have(compiler, flags) {
            continue;
        }
        compile(&folder, compiler, &[flags, &["-o", build, "driver.c"][..]].concat());
        let mut driver = Driver::start(&folder.join(build), &registry);
        let mut counts = (0, 0);
        for message in &registry.messages {
            let tries = tries(&maker, message, rounds(build), &mut random);
            let requests: Vec<_> = tries
                .into_iter()
                .map(|bytes| {
                    let limit = if random.below(4) == 0 { random.below(200) as u32 } else { 1 << 24 };
                    PacketRequest { bytes, limit, more: false }
                })
                .collect();
            driver.judge(&requests, |at, verdict| {
                let PacketRequest { bytes, limit, .. } = &requests[at];
                let expected = by_registry(&registry, maker.packets(), bytes, *limit);
                if expected.packet.is_ok() {
                    counts.0 += 1
                } else {
                    counts.1 += 1
                }
                assert!(
                    verdict == expected,
                    "{build}: {} {bytes:02x?}, limit {limit}\n   C: {verdict:?}\nRust: {expected:?}",
                    message.name
                );
                if name == "nnrp" {
                    let fault = verdict.packet.err().map(|(fault, ends, code)| (fault.sentence, ends, code));
                    assert_eq!(fault, generated(bytes), "{build}: {} {bytes:02x?}", message.name);
                }
            });
        }
        driver.finish();
        assert!(counts.0 > 100 && counts.1 > 100, "{build}: {counts:?}");
    }
}

#[test]
fn rust_and_c_agree_on_packets() {
    agreement("nnrp");
}

#[test]
fn rust_and_c_agree_on_packets_of_another_protocol() {
    agreement("relay");
}

#[test]
fn rust_and_c_agree_on_packets_of_awkward_names() {
    agreement("awkward");
}

/// Words beside the registered ones are good where the reader knows them.
#[test]
fn readers_may_know_more_words() {
    if !have("gcc", &[]) {
        return;
    }
    let registry = registry("nnrp");
    let maker = Maker::new(&registry);
    let folder = folder("words", "nnrp");
    driver::write_to(&folder, &registry);
    compile(&folder, "gcc", &["-std=c99", "-o", "driver", "driver.c"]);
    let mut driver = Driver::start(&folder.join("driver"), &registry);
    let mut random = Random::new(1, "words");
    let message = registry.message("capability_negotiation").expect("it is there");
    let mut requests = Vec::new();
    while requests.len() < 40 {
        let mut packet = maker.packet(message, Size::Full, &mut random);
        // Some registered word becomes one of nobody's.
        let Some(at) = packet.windows(7).position(|bytes| bytes == b"control") else { continue };
        let last = packet.windows(2).rposition(|bytes| bytes == b"ob" || bytes == b"ca" || bytes == b"co");
        let at = if random.below(2) == 0 { at } else { last.unwrap_or(at) };
        packet[at..at + 2].copy_from_slice(if random.below(4) == 0 { b"X." } else { b"x." });
        requests.push(PacketRequest { bytes: packet, limit: u32::MAX, more: requests.len() % 2 == 0 });
    }
    let mut counts = (0, 0);
    driver.judge(&requests, |at, verdict| {
        let PacketRequest { bytes, more, .. } = &requests[at];
        let parsed = Packet::parse_with(bytes, &|word| *more && word.starts_with("x."));
        let fault = verdict.packet.err().map(|(fault, ..)| fault.sentence);
        if fault.is_none() {
            counts.0 += 1
        } else {
            counts.1 += 1
        }
        assert_eq!(fault, parsed.err().map(|fault| fault.to_string()), "{bytes:02x?}");
    });
    driver.finish();
    assert!(counts.0 > 0 && counts.1 > 0, "{counts:?}");
}

/// The limit of a stream is refused as the core's own splitter refuses it.
#[test]
fn limits_are_the_same() {
    let registry = registry("nnrp");
    let maker = Maker::new(&registry);
    let message = registry.message("ping").expect("it is there");
    let packet = maker.packet(message, Size::Minimal, &mut Random::new(1, "limit"));
    let mut splitter = nnrp_core::stream::Splitter::with_limit(39);
    let mut chunk = packet.as_slice();
    let fault = splitter.next(&mut chunk).expect_err("40 bytes are over the limit");
    let expected = by_registry(&registry, maker.packets(), &packet, 39).stream.expect_err("over the limit");
    assert_eq!(fault.to_string(), expected.sentence);
}
