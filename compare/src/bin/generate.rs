//! Times the generator: from a folder of registry files to generated code.
//!
//! First the project's own registry, then synthetic ones of ever more layouts, which should cost
//! the same for each layout however many there are.

use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

use nnrp_gen::emit::rust;
use nnrp_gen::model::Registry;

fn main() {
    let quick = std::env::args().any(|argument| argument == "--quick");
    println!("ms, best of several runs\n");
    println!(
        "{:28} {:>8} {:>9} {:>9} {:>9} {:>14}",
        "registry", "layouts", "check", "Rust", "all", "µs for each"
    );
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../registry"));
    let own = || {
        let loaded = nnrp_gen::load(folder).expect("the folder can be read");
        loaded.into_result().unwrap_or_else(|problem| panic!("{problem}"))
    };
    row("the project's", if quick { 5 } else { 20 }, &own);
    for count in [100, 1_000, 10_000] {
        if quick && count > 1_000 {
            break;
        }
        let text = synthetic(count);
        let made = || {
            let loaded = nnrp_gen::load_texts([("synthetic.toml", text.as_str())]);
            loaded.into_result().unwrap_or_else(|problem| panic!("{problem}"))
        };
        row("synthetic", 3, &made);
    }
}

/// Times one registry.
fn row(name: &str, runs: usize, load: &dyn Fn() -> Registry) {
    let mut best = [f64::MAX; 2];
    let mut layouts = 0;
    for _ in 0..runs {
        let start = Instant::now();
        let registry = load();
        let loaded = start.elapsed();
        let text = rust::module(&registry, true, true);
        let emitted = start.elapsed() - loaded;
        assert!(!text.is_empty(), "something is emitted");
        layouts = registry.layouts.len();
        for (best, time) in best.iter_mut().zip([loaded, emitted]) {
            *best = best.min(time.as_secs_f64() * 1e3);
        }
    }
    let [check, emit] = best;
    let all = check + emit;
    let each = all * 1e3 / layouts as f64;
    println!("{name:28} {layouts:>8} {check:>9.1} {emit:>9.1} {all:>9.1} {each:>14.0}");
}

/// A registry of that many layouts, each with an enum, a bitmask and a rule of its own.
fn synthetic(count: usize) -> String {
    let mut out = String::from(
        "[protocol]\nname = \"synthetic\"\nbyte_order = \"little\"\nsource = \"1\"\ndoc = \"A protocol.\"\n",
    );
    for number in 0..count {
        let _ = write!(
            out,
            r#"
[[enum]]
name   = "kind_{number}"
type   = "u8"
source = "1"
doc    = "What there is."
values = [
  {{ value = 0, name = "none", doc = "Nothing." }},
  {{ value = 1, name = "some", doc = "A part." }},
  {{ value = 2, name = "all",  doc = "Everything." }},
]

[[bitmask]]
name   = "flags_{number}"
type   = "u16"
source = "1"
doc    = "What is asked."
bits   = [
  {{ bit = 0, name = "first",  doc = "The first." }},
  {{ bit = 1, name = "second", doc = "The second." }},
]

[[layout]]
name   = "record_{number}"
size   = 32
source = "1"
doc    = "A record."
fields = [
  {{ offset =  0, name = "id",       type = "u64", doc = "Its number." }},
  {{ offset =  8, name = "kind",     type = "u8",  enum = "kind_{number}" }},
  {{ offset =  9, name = "reserved", type = "u8",  reserved = true }},
  {{ offset = 10, name = "flags",    type = "u16", bitmask = "flags_{number}" }},
  {{ offset = 12, name = "count",    type = "u32", doc = "How many follow." }},
  {{ offset = 16, name = "delay",    type = "u32", unit = "ms", doc = "When." }},
  {{ offset = 20, name = "bytes",    type = "u32", doc = "How long it is." }},
  {{ offset = 24, name = "tag",      type = "u64", doc = "The sender's." }},
]
rules = [
  {{ id = "R{number}", when = "kind == none", require = "count == 0", doc = "Nothing counts as nothing." }},
]
"#
        );
    }
    out
}
