//! Rust and C say the same of the same bytes and values, of good and of broken ones.

use nnrp_gen::model::Registry;

use crate::driver::{self, Driver, Request};
use crate::random::Random;
use crate::rust::{Answer, Case, nnrp, zoo};
use crate::samples;
use crate::toolchain::{compile, folder, have, registry, write};

/// How the C side is built: a name, a compiler and its flags.
const BUILDS: &[(&str, &str, &[&str])] = &[
    ("gcc", "gcc", &["-std=c99", "-O2"]),
    ("clang", "clang", &["-std=c99", "-O2"]),
    (
        "gcc-sanitized",
        "gcc",
        &["-std=c99", "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
    ),
    (
        "clang-sanitized",
        "clang",
        &["-std=c99", "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
    ),
    ("gcc-shifts", "gcc", &["-std=c99", "-O2", "-DNNRP_SHIFTS_ONLY", "-DZOO_SHIFTS_ONLY"]),
    ("gcc-32", "gcc", &["-std=c99", "-O2", "-m32"]),
];

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

/// Valid bytes of every layout, by Rust's word.
fn seeds(registry: &Registry, cases: &[Case], random: &mut Random) -> Vec<Vec<Vec<u8>>> {
    let layouts = registry.layouts.iter().zip(cases);
    let seeds = layouts.map(|(layout, case)| {
        let tries = (0..40_000).map(|_| samples::good_fields(registry, layout, random));
        let seeds: Vec<_> = tries.filter(|bytes| (case.decode)(bytes).kind.is_empty()).take(100).collect();
        assert!(!seeds.is_empty(), "no valid bytes of `{}` were found", layout.name);
        seeds
    });
    seeds.collect()
}

/// One batch of requests, for layouts in turn.
fn batch(registry: &Registry, seeds: &[Vec<Vec<u8>>], random: &mut Random) -> Vec<(usize, Request)> {
    let request = |at: usize| {
        let position = at % registry.layouts.len();
        let layout = &registry.layouts[position];
        let mut bytes = match random.below(4) {
            0 => samples::good_fields(registry, layout, random),
            _ => seeds[position][random.below(seeds[position].len())].clone(),
        };
        if !random.once_in(6) {
            samples::mutate(layout, &mut bytes, random);
        }
        if random.once_in(2) {
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

/// What is expected of C.
fn expected(registry: &Registry, cases: &[Case], position: usize, request: &Request) -> Answer {
    let (layout, case) = (&registry.layouts[position], &cases[position]);
    match request {
        Request::Decode(bytes) => {
            let answer = (case.decode)(bytes);
            if answer.kind.is_empty() {
                let mut values = Vec::new();
                samples::values(registry, layout, bytes, &mut values);
                assert_eq!(answer.values, values, "`{}`: Rust and the model", layout.name);
                assert_eq!(answer.bytes, *bytes, "`{}`: Rust and the input", layout.name);
            }
            answer
        }
        Request::Encode(values, room) => {
            // Rust cannot hold every value that C can; what it says of their bytes is what counts.
            let mut bytes = samples::bytes(registry, layout, &mut values.iter().copied());
            let right = *room == bytes.len();
            if !right {
                bytes.resize(*room, 0);
            }
            let mut answer = (case.decode)(&bytes);
            answer.values.clear();
            if let Some(encoded) = (case.encode)(values, *room) {
                assert_eq!(encoded, answer, "`{}`: encoding and decoding in Rust", layout.name);
            }
            answer
        }
    }
}

fn agreement(name: &str, cases: &[Case]) {
    let registry = registry(name);
    assert_eq!(registry.layouts.len(), cases.len());
    let mut random = Random::new(4);
    let seeds = seeds(&registry, cases, &mut random);
    let folder = folder("agree", name);
    write(&folder, "driver.c", &driver::source(&registry));
    for (build, compiler, flags) in BUILDS {
        if !have(compiler, flags) {
            continue;
        }
        compile(&folder, compiler, &[flags, &["-o", build, "driver.c"][..]].concat());
        let mut driver = Driver::start(&folder.join(build), &registry);
        let mut counts = vec![(0, 0); cases.len()];
        for _ in 0..inputs(build).div_ceil(BATCH) {
            let requests = batch(&registry, &seeds, &mut random);
            driver.ask(&requests, |at, answer| {
                let (position, request) = &requests[at];
                let expected = expected(&registry, cases, *position, request);
                let count = &mut counts[*position];
                if expected.kind.is_empty() {
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
    agreement("nnrp", nnrp::CASES);
}

#[test]
fn rust_and_c_agree_on_the_test_registry() {
    agreement("zoo", zoo::CASES);
}
