//! The generated codec and the registry-driven one agree on everything: what they accept, the values, the fault.
//!
//! The search for the first fault in generated code runs only after its fast check has refused, and the
//! registry-driven codec knows no fast check, so this also holds the fast path to the slow one.
//!
//! `NNRP_LONG=1` runs a hundred times as many cases.

use std::fmt::Debug;

use nnrp_gen::codec::{self, EncodeError, Lenient};
use nnrp_gen::model::{Layout, Registry};
use nnrp_tests::generated::{self, Fault, Generated};
use nnrp_tests::random::{Random, good};
use nnrp_tests::registry;

/// How often to try something.
fn times(short: usize) -> usize {
    if std::env::var_os("NNRP_LONG").is_some() { short * 100 } else { short }
}

/// What was compared.
#[derive(Default)]
struct Seen {
    accepted: usize,
    refused: usize,
}

/// Both codecs on the same bytes.
struct Both<'a> {
    registry: &'a Registry,
    layout: &'a Layout,
    generated: &'a Generated,
    seen: Seen,
}

impl Both<'_> {
    #[track_caller]
    fn agree(&mut self, bytes: &[u8]) {
        let Both { registry, layout, generated, seen } = self;
        let here = || format!("{} of {bytes:02x?}", layout.name);
        match ((generated.round)(bytes), codec::decode(registry, layout, bytes)) {
            (Ok(round), Ok(value)) => {
                seen.accepted += 1;
                same(&round.value, &value, &here);
                same(&round.bytes.as_slice(), &bytes, &here);
                same(&codec::encode(registry, layout, &value).as_deref(), &Ok(bytes), &here);
                same(&codec::lenient(registry, layout, bytes), &Lenient { value, faults: Vec::new() }, &here);
            }
            (Err(fault), Err(other)) => {
                seen.refused += 1;
                let by_registry = Fault {
                    layout: other.layout.clone(),
                    field: other.field.clone(),
                    offset: other.offset,
                    kind: other.kind.name().to_owned(),
                    rule: other.rule.clone(),
                    code: other.code,
                    sentence: other.to_string(),
                };
                same(&*fault, &by_registry, &here);
                let all = codec::faults(registry, layout, bytes);
                same(&all.first(), &Some(&other), &here);
                if bytes.len() == layout.size as usize {
                    // What can be read of bad bytes is refused for the same reason.
                    let Lenient { value, faults } = codec::lenient(registry, layout, bytes);
                    same(&faults, &all, &here);
                    let refused = codec::encode(registry, layout, &value);
                    same(&refused, &Err(EncodeError::Fault(other)), &here);
                }
            }
            (generated, other) => panic!("{}: {generated:?}, and by the registry {other:?}", here()),
        }
    }
}

#[track_caller]
fn same<T: PartialEq + Debug>(generated: &T, other: &T, here: &dyn Fn() -> String) {
    assert!(generated == other, "{}: {generated:?}, and by the registry {other:?}", here());
}

/// Does the same to every layout of every registry, and says of how many cases there were of each kind.
fn every_layout(name: &str, mut test: impl FnMut(&mut Both<'_>, &mut Random)) -> Seen {
    let registries = [
        (registry::nnrp(), generated::nnrp::LAYOUTS),
        (registry::foreign("gpt"), generated::gpt::LAYOUTS),
        (registry::foreign("kinds"), generated::kinds::LAYOUTS),
        (registry::foreign("pcap"), generated::pcap::LAYOUTS),
        (registry::foreign("tzif"), generated::tzif::LAYOUTS),
    ];
    let mut all = Seen::default();
    for (registry, layouts) in &registries {
        assert_eq!(layouts.len(), registry.layouts.len());
        for (layout, generated) in registry.layouts.iter().zip(*layouts) {
            assert_eq!((layout.name.as_str(), layout.size as usize), (generated.name, generated.size));
            let mut both = Both { registry, layout, generated, seen: Seen::default() };
            test(&mut both, &mut Random::new(1, &format!("{name} {}", layout.name)));
            all.accepted += both.seen.accepted;
            all.refused += both.seen.refused;
        }
    }
    println!("{name}: {} accepted, {} refused", all.accepted, all.refused);
    all
}

#[test]
fn random_good_bytes() {
    let seen = every_layout("good", |both, random| {
        let wanted = times(50);
        for _ in 0..wanted {
            let bytes = good(both.registry, both.layout, random);
            let bytes = bytes.unwrap_or_else(|| panic!("no good bytes of {} were found", both.layout.name));
            both.agree(&bytes);
        }
        assert_eq!(both.seen.accepted, wanted);
    });
    assert_eq!(seen.refused, 0);
}

#[test]
fn every_single_bit_changed() {
    let seen = every_layout("bits", |both, random| {
        for _ in 0..times(4) {
            let Some(mut bytes) = good(both.registry, both.layout, random) else { continue };
            for bit in 0..bytes.len() * 8 {
                bytes[bit / 8] ^= 1 << (bit % 8);
                both.agree(&bytes);
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
        }
    });
    assert!(seen.accepted > 1000 && seen.refused > 1000);
}

#[test]
fn some_bytes_changed() {
    let seen = every_layout("bytes", |both, random| {
        for _ in 0..times(100) {
            let Some(mut bytes) = good(both.registry, both.layout, random) else { continue };
            for _ in 0..=random.below(4) {
                let at = random.below(bytes.len());
                bytes[at] = *random.pick(&[0, 1, 2, 0x7f, 0x80, 0xff, random.clone().number() as u8]);
            }
            both.agree(&bytes);
        }
    });
    assert!(seen.accepted > 100 && seen.refused > 1000);
}

#[test]
fn noise() {
    every_layout("noise", |both, random| {
        for _ in 0..times(100) {
            let bytes = random.bytes(both.layout.size as usize);
            both.agree(&bytes);
            // Sparse noise gets further.
            let masks = random.bytes(bytes.len());
            let sparse: Vec<u8> =
                bytes.iter().zip(masks).map(|(byte, mask)| byte & mask & (mask >> 3)).collect();
            both.agree(&sparse);
        }
    });
}

#[test]
fn every_length() {
    let seen = every_layout("lengths", |both, random| {
        let size = both.layout.size as usize;
        let bytes = good(both.registry, both.layout, random).unwrap_or_default();
        for length in 0..bytes.len() {
            both.agree(&bytes[..length]);
        }
        for more in [1, 2, size, 4096] {
            both.agree(&[bytes.as_slice(), &random.bytes(more)].concat());
        }
    });
    assert_eq!(seen.accepted, 0);
}

#[test]
fn signed_numbers_in_an_enum() {
    let registry = registry::foreign("kinds");
    let layout = registry.layout("numbers").unwrap();
    let generated = generated::kinds::LAYOUTS.iter().find(|one| one.name == "numbers").unwrap();
    let mut both = Both { registry: &registry, layout, generated, seen: Seen::default() };
    let mut bytes = vec![0; generated.size];
    // 0 is a value, so g may not be 5.
    bytes[21] = 5; // g
    both.agree(&bytes);
    // -1 is not the largest value of the enum, whose bits are the same.
    bytes[22..30].fill(0xff); // h
    both.agree(&bytes);
    assert_eq!((both.seen.accepted, both.seen.refused), (1, 1));
    // 0 - 5 is no value, 7 - 5 is.
    bytes[9] = 9; // e
    both.agree(&bytes);
    bytes[0] = 7; // a
    bytes[4] = 1; // d
    both.agree(&bytes);
    assert_eq!((both.seen.accepted, both.seen.refused), (2, 2));
}
