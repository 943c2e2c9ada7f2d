//! Rust and C side by side: decoding and encoding of every layout, reading and writing of two packets, in one run.
//!
//! `cargo bench -p nnrp-tests --bench c`

#[path = "../tests/c/toolchain.rs"]
#[allow(dead_code)]
mod toolchain;

use std::collections::HashMap;
use std::process::Command;
use std::time::Instant;

use nnrp_core::Packet;
use nnrp_gen::model::Registry;
use nnrp_tests::packet::{Maker, Size};
use nnrp_tests::random::{Random, good};

use table::nnrp::LAYOUTS;

// The table names them from the root.
use nnrp_tests::foreign;

/// Different inputs for each layout.
const INPUTS: usize = 64;

/// Messages whose packets are measured too, and what their C function is given beside header and metadata.
const PACKETS: [(&str, &str); 2] = [("session_open", "body"), ("frame_submit", "parts")];

/// How often all inputs are gone through in one measurement, and how many measurements there are; the best counts.
const ROUNDS: usize = 4_000;
const TIMES: usize = 7;

fn main() {
    let registry = toolchain::registry("nnrp");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "gcc".to_owned());
    if !toolchain::have(&compiler, &["-O2"]) {
        return;
    }
    let inputs = inputs(&registry);
    let packets = packets(&registry);
    let c = run_c(&registry, &inputs, &packets, &compiler);
    println!("{:42} {:>9} {:>9} {:>7}   {:>9} {:>9} {:>7}", "ns", "decode", "", "", "encode", "", "");
    println!(
        "{:42} {:>9} {:>9} {:>7}   {:>9} {:>9} {:>7}",
        "layout", "Rust", "C", "C/Rust", "Rust", "C", "C/Rust"
    );
    let mut logs = [0.0; 2];
    for ((layout, case), inputs) in registry.layouts.iter().zip(LAYOUTS).zip(&inputs) {
        let encode = (case.encoder)(inputs);
        let rust = [measure(|| (case.decode_all)(inputs)), measure(encode)];
        let Some(c) = c.get(&layout.name) else { continue };
        let ratios = [c[0] / rust[0], c[1] / rust[1]];
        logs[0] += ratios[0].ln();
        logs[1] += ratios[1].ln();
        println!(
            "{:42} {:9.2} {:9.2} {:7.2}   {:9.2} {:9.2} {:7.2}",
            layout.name, rust[0], c[0], ratios[0], rust[1], c[1], ratios[1]
        );
    }
    for (name, packet) in &packets {
        let rust = [measure(|| read(packet)), measure(writer(packet))];
        let Some(c) = c.get(&format!("packet:{name}")) else { continue };
        println!(
            "{:42} {:9.2} {:9.2} {:7.2}   {:9.2} {:9.2} {:7.2}",
            format!("packet of {name}, {} bytes", packet.len()),
            rust[0],
            c[0],
            c[0] / rust[0],
            rust[1],
            c[1],
            c[1] / rust[1]
        );
    }
    let count = registry.layouts.len() as f64;
    let (decode, encode) = ((logs[0] / count).exp(), (logs[1] / count).exp());
    let both = ((logs[0] + logs[1]) / count / 2.0).exp();
    println!(
        "{compiler} -O2 against Rust, geometric mean: decode {decode:.2}, encode {encode:.2}, both {both:.2}"
    );
}

/// Good bytes of every layout.
fn inputs(registry: &Registry) -> Vec<Vec<Vec<u8>>> {
    let mut random = Random::new(1, "speed");
    let layouts = registry.layouts.iter();
    let inputs = layouts.map(|layout| {
        let found: Vec<_> = (0..INPUTS).filter_map(|_| good(registry, layout, &mut random)).collect();
        found.iter().cycle().take(INPUTS).cloned().collect()
    });
    inputs.collect()
}

/// A full packet of each message that is measured.
fn packets(registry: &Registry) -> Vec<(&'static str, Vec<u8>)> {
    let maker = Maker::new(registry);
    let packets = PACKETS.iter().filter_map(|(name, _)| {
        let message = registry.messages.iter().find(|message| message.name == *name)?;
        Some((*name, maker.packet(message, Size::Full, &mut Random::new(1, name))))
    });
    packets.collect()
}

/// Reads a packet as often as there are inputs.
fn read(packet: &[u8]) {
    for _ in 0..INPUTS {
        let parsed = Packet::parse(std::hint::black_box(packet));
        let _ = std::hint::black_box(&parsed).is_ok();
    }
}

/// Writes it as often.
fn writer(packet: &[u8]) -> impl Fn() {
    let parsed = Packet::parse(packet);
    let read = parsed.map(|packet| (packet.message(), packet.header().to_owned()));
    move || {
        let Ok((message, header)) = &read else { return };
        let mut out = [0; 4096];
        for _ in 0..INPUTS {
            let written = std::hint::black_box(message).encode_into(header, &mut out);
            std::hint::black_box((&written.is_ok(), &out));
        }
    }
}

/// Nanoseconds for one input.
fn measure(all: impl Fn()) -> f64 {
    let best = (0..TIMES).map(|_| {
        let start = Instant::now();
        (0..ROUNDS).for_each(|_| all());
        start.elapsed().as_secs_f64()
    });
    best.fold(f64::INFINITY, f64::min) * 1e9 / (ROUNDS * INPUTS) as f64
}

/// The same in C: nanoseconds for decoding and encoding by layout.
fn run_c(
    registry: &Registry,
    inputs: &[Vec<Vec<u8>>],
    packets: &[(&str, Vec<u8>)],
    compiler: &str,
) -> HashMap<String, [f64; 2]> {
    let folder = toolchain::folder("bench", "nnrp");
    let mut source = format!(
        "#define _POSIX_C_SOURCE 199309L\n#include \"nnrp.h\"\n#include <stdio.h>\n#include <time.h>\n\n\
         #define INPUTS {INPUTS}\n#define ROUNDS {ROUNDS}\n#define TIMES {TIMES}\n\n{}",
        include_str!("c.h"),
    );
    let mut calls = String::new();
    for (layout, inputs) in registry.layouts.iter().zip(inputs) {
        let rows = inputs.iter().map(|input| {
            let bytes: String = input.iter().map(|byte| format!("{byte},")).collect();
            format!("    {{ {bytes} }},\n")
        });
        source.push_str(&format!(
            "static const uint8_t {0}[INPUTS][{1}] = {{\n{2}}};\n\nBENCH({0}, {1})\n",
            layout.name,
            layout.size,
            rows.collect::<String>()
        ));
        calls.push_str(&format!("    bench_{}();\n", layout.name));
    }
    for ((name, packet), (_, given)) in packets.iter().zip(PACKETS) {
        let bytes: String = packet.iter().map(|byte| format!("{byte},")).collect();
        source.push_str(&format!(
            "static const uint8_t packet_{name}[] = {{ {bytes} }};\n\nBENCH_PACKET({name}, {given})\n"
        ));
        calls.push_str(&format!("    bench_packet_{name}();\n"));
    }
    source.push_str(&format!("int main(void)\n{{\n{calls}    return 0;\n}}\n"));
    toolchain::write(&folder, "bench.c", &source);
    toolchain::compile(&folder, compiler, &["-std=c99", "-O2", "-o", "bench", "bench.c"]);
    let output = Command::new(folder.join("bench")).output().expect("the C program runs");
    assert!(output.status.success(), "the C program failed");
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    let row = |line: &str| {
        let mut words = line.split(' ');
        let name = words.next()?.to_owned();
        Some((name, [words.next()?.parse().ok()?, words.next()?.parse().ok()?]))
    };
    lines.lines().filter_map(row).collect()
}

/// The generated layouts as functions for the clock.
#[allow(dead_code)]
mod table {
    use nnrp_gen::codec::Value;

    /// A generated layout.
    pub struct Generated {
        /// Decodes each of the inputs.
        pub decode_all: fn(&[Vec<u8>]),
        /// Decodes the inputs, and gives what encodes them all.
        pub encoder: fn(&[Vec<u8>]) -> Encoder,
    }

    /// Encodes what it holds.
    pub type Encoder = Box<dyn Fn()>;

    macro_rules! generated {
        ($layout:ident, $value:ident) => {
            Generated {
                decode_all: |inputs| {
                    for input in inputs {
                        let decoded = codecs::$layout::decode(std::hint::black_box(input));
                        let _ = std::hint::black_box(&decoded).is_ok();
                    }
                },
                encoder: |inputs| {
                    let decoded = inputs.iter().filter_map(|input| codecs::$layout::decode(input).ok());
                    let values: Vec<_> = decoded.collect();
                    Box::new(move || {
                        let mut bytes = [0; codecs::$layout::SIZE];
                        for value in &values {
                            let encoded = std::hint::black_box(value).encode_into(&mut bytes);
                            std::hint::black_box((&encoded, &bytes));
                        }
                    })
                },
            }
        };
    }

    // The table comes with functions for tests that compare values, which nothing here calls.
    fn open(_: Option<&str>, number: u64) -> Value {
        Value::Unsigned(number)
    }

    fn bits(number: u64, _: &[(&str, u64)]) -> Value {
        Value::Unsigned(number)
    }

    include!(concat!(env!("OUT_DIR"), "/layouts.rs"));
}
