//! Rust and C say the same of the same bytes and values, of good and of broken ones.

use nnrp_gen::codec;
use nnrp_gen::model::Registry;
use nnrp_tests::generated::{self, Fault, Generated};
use nnrp_tests::random::{Random, good};

use crate::driver::{self, Answer, Driver, Good, Request};
use crate::samples;
use crate::toolchain::{BUILDS, compile, folder, have, registry};

/// Inputs that are tried in one go.
const BATCH: usize = 1 << 13;

/// How many inputs a build gets: many, or with the environment variable `NNRP_LONG` a great many.
fn inputs(build: &str) -> usize {
    match (std::env::var_os("NNRP_LONG").is_some(), build) {
        (true, _) => 4_000_000,
        (false, "gcc") => 48_000,
        (false, _) => 16_000,
    }
}

/// Good bytes of every layout.
fn seeds(registry: &Registry, random: &mut Random) -> Vec<Vec<Vec<u8>>> {
    let layouts = registry.layouts.iter();
    let seeds = layouts.map(|layout| {
        let seeds: Vec<_> = (0..100).filter_map(|_| good(registry, layout, random)).collect();
        assert!(!seeds.is_empty(), "no good bytes of `{}` were found", layout.name);
        seeds
    });
    seeds.collect()
}

/// One batch of requests, for layouts in turn.
fn batch(registry: &Registry, seeds: &[Vec<Vec<u8>>], random: &mut Random) -> Vec<(usize, Request)> {
    let request = |at: usize| {
        let position = at % registry.layouts.len();
        let layout = &registry.layouts[position];
        let mut bytes = random.pick(&seeds[position]).clone();
        if random.below(6) > 0 {
            samples::mutate(layout, &mut bytes, random);
        }
        if random.below(2) == 0 {
            return (position, Request::Decode(bytes));
        }
        let room = bytes.len();
        bytes.resize(layout.size as usize, 0);
        let mut values = Vec::new();
        samples::values(registry, layout, &bytes, &mut values);
        (position, Request::Encode(values, room))
    };
    (0..BATCH).map(request).collect()
}

/// What is expected of C: what the generated Rust says, or where there is none the registry-driven codec, which are
/// held to each other elsewhere.
fn expected(registry: &Registry, generated: &[Generated], position: usize, request: &Request) -> Answer {
    let layout = &registry.layouts[position];
    let decode = |bytes: &[u8]| match generated.get(position) {
        Some(generated) => (generated.round)(bytes).map(|round| round.bytes).map_err(|fault| *fault),
        None => match codec::fault(registry, layout, bytes) {
            None => Ok(bytes.to_vec()),
            Some(fault) => Err(Fault {
                sentence: fault.to_string(),
                layout: fault.layout,
                field: fault.field,
                offset: fault.offset,
                kind: fault.kind.name().to_owned(),
                rule: fault.rule,
                code: fault.code,
            }),
        },
    };
    match request {
        Request::Decode(bytes) => {
            let bytes = decode(bytes)?;
            let mut values = Vec::new();
            samples::values(registry, layout, &bytes, &mut values);
            Ok(Good { values, bytes })
        }
        Request::Encode(values, room) => {
            // Rust cannot hold every value that C can; what it says of their bytes is what counts.
            let mut bytes = samples::bytes(registry, layout, &mut values.iter().copied());
            if *room != bytes.len() {
                bytes.resize(*room, 0);
            }
            Ok(Good { values: Vec::new(), bytes: decode(&bytes)? })
        }
    }
}

fn agreement(name: &str, generated: &[Generated]) {
    let registry = registry(name);
    let mut random = Random::new(4, name);
    let seeds = seeds(&registry, &mut random);
    let folder = folder("agree", name);
    driver::write_to(&folder, &registry);
    for (build, compiler, flags) in BUILDS {
        if !have(compiler, flags) {
            continue;
        }
        compile(&folder, compiler, &[flags, &["-o", build, "driver.c"][..]].concat());
        let mut driver = Driver::start(&folder.join(build), &registry);
        let mut counts = vec![(0, 0); registry.layouts.len()];
        for _ in 0..inputs(build).div_ceil(BATCH) {
            let requests = batch(&registry, &seeds, &mut random);
            driver.ask(&requests, |at, answer| {
                let (position, request) = &requests[at];
                let expected = expected(&registry, generated, *position, request);
                let count = &mut counts[*position];
                if expected.is_ok() {
                    count.0 += 1
                } else {
                    count.1 += 1
                }
                if answer != expected {
                    let input = match request {
                        Request::Decode(bytes) => format!("decoding {bytes:02x?}"),
                        Request::Encode(values, room) => format!("encoding {values:x?} into {room}"),
                    };
                    panic!(
                        "{build}: `{}` {input}\n   C: {answer:?}\nRust: {expected:?}",
                        registry.layouts[*position].name
                    );
                }
            });
        }
        driver.finish();
        for (layout, (good, bad)) in registry.layouts.iter().zip(counts) {
            assert!(good > 0 && bad > 0, "`{}`: {good} good and {bad} bad inputs", layout.name);
        }
    }
}

#[test]
fn rust_and_c_agree() {
    agreement("nnrp", generated::nnrp::LAYOUTS);
}

#[test]
fn rust_and_c_agree_on_every_kind_of_field() {
    agreement("kinds", generated::kinds::LAYOUTS);
}

#[test]
fn rust_and_c_agree_on_corner_cases() {
    agreement("zoo", &[]);
}
