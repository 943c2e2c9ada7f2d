//! What checking a registry and emitting from it takes: the repository's own, and synthetic ones of 1,000 and 10,000
//! layouts.
//!
//! `cargo bench --package nnrp-tests --bench emit`

use std::fmt::Write;
use std::hint::black_box;
use std::time::Instant;

use nnrp_gen::emit::{c, rust};
use nnrp_gen::model::Registry;

/// The goal for the protocol's own registry, in milliseconds.
const GOAL: f64 = 150.0;

fn main() {
    println!("milliseconds, the least of some runs; all: one after another, as a build does it");
    println!("{:>14} {:>9} {:>9} {:>9} {:>9} {:>12}", "", "check", "Rust", "C", "all", "all/layout");
    let folder = nnrp_tests::registry::folder();
    let own = row("the protocol's", 20, || {
        let loaded = nnrp_gen::load(&folder).expect("the registry");
        loaded.into_result().unwrap_or_else(|problems| panic!("{problems}"))
    });
    for (count, runs) in [(1_000, 5), (10_000, 2)] {
        let text = synthetic(count);
        row(&format!("{count} layouts"), runs, || {
            let loaded = nnrp_gen::load_texts([("synthetic.toml", text.as_str())]);
            loaded.into_result().unwrap_or_else(|problems| panic!("{problems}"))
        });
    }
    let verdict = if own < GOAL { "held" } else { "missed" };
    println!("goal for the protocol's registry: under {GOAL} ms, {verdict}");
}

/// Measures one registry; gives the milliseconds of all together.
fn row(name: &str, runs: usize, load: impl Fn() -> Registry) -> f64 {
    let mut best = [f64::INFINITY; 4];
    let mut layouts = 0;
    for _ in 0..runs {
        let start = Instant::now();
        let registry = load();
        let checked = start.elapsed();
        black_box(rust::module(&registry, false, false));
        let rust = start.elapsed();
        black_box(c::header(&registry).unwrap_or_else(|problems| panic!("{problems}")));
        let all = start.elapsed();
        for (best, time) in best.iter_mut().zip([checked, rust - checked, all - rust, all]) {
            *best = best.min(time.as_secs_f64() * 1e3);
        }
        layouts = registry.layouts.len();
    }
    let [check, rust, c, all] = best;
    println!("{name:>14} {check:>9.1} {rust:>9.1} {c:>9.1} {all:>9.1} {:>12.3}", all / layouts as f64);
    all
}

/// A registry with that many layouts, and an enum, a bitmask and a rule for each as real ones have.
fn synthetic(count: usize) -> String {
    let mut text = "[protocol]\nname = \"synthetic\"\nbyte_order = \"little\"\n".to_owned();
    for at in 0..count {
        let written = write!(
            text,
            r#"
[[enum]]
name   = "status{at}"
type   = "u8"
source = "{at}"
doc    = "How the thing stands."
values = [
  {{ value = 0, name = "idle",    doc = "Nothing is done." }},
  {{ value = 1, name = "running", doc = "Something is done." }},
  {{ value = 2, name = "done",    doc = "Nothing more is done." }},
]

[[bitmask]]
name   = "flags{at}"
type   = "u8"
source = "{at}"
doc    = "What is asked of the thing."
bits   = [
  {{ bit = 0, name = "resume",  doc = "It goes on where it ended." }},
  {{ bit = 1, name = "partial", doc = "It may give a part." }},
]

[[layout]]
name   = "thing{at}"
size   = 40
source = "{at}"
doc    = "Says how a thing stands."
fields = [
  {{ offset =  0, name = "thing_id",    type = "u64", doc = "The thing." }},
  {{ offset =  8, name = "status",      type = "u8",  enum = "status{at}",   doc = "How it stands." }},
  {{ offset =  9, name = "flags",       type = "u8",  bitmask = "flags{at}", doc = "What is asked of it." }},
  {{ offset = 10, name = "reserved0",   type = "u16", reserved = true }},
  {{ offset = 12, name = "body_bytes",  type = "u32", unit = "bytes", doc = "What follows." }},
  {{ offset = 16, name = "part_bytes",  type = "u32", unit = "bytes", doc = "The first part of it." }},
  {{ offset = 20, name = "deadline_ms", type = "u32", unit = "ms",    doc = "When it is of no use any more." }},
  {{ offset = 24, name = "digest",      type = "[u8; 16]", doc = "What it was made of." }},
]
rules  = [
  {{ id = "T{at}", when = "flags.partial", require = "part_bytes <= body_bytes", doc = "A part is no more than all." }},
]
"#
        );
        written.expect("a string takes all");
    }
    text
}
