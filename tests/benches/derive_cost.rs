//! What deriving costs a debug build: 100 layouts of 12 fields, against the same structs without a derive.
//!
//! `cargo bench --package nnrp-tests --bench derive_cost`

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use std::{env, fs};

const LAYOUTS: usize = 100;
const RUNS: usize = 5;

/// The fields of a layout: twelve, of every kind.
const FIELDS: &str = "\
    pub a: u8,
    #[layout(enum = u8)]
    pub b: Kind,
    #[layout(bitmask = u16)]
    pub c: Flags,
    pub d: u32,
    pub e: u64,
    pub f: [u8; 16],
    #[layout(unit = \"ms\")]
    pub g: u32,
    pub h: i16,
    pub i: bool,
    pub j: Reserved<1>,
    pub k: f32,
    pub l: [u16; 4],
";

fn main() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let package = target().join("derive-cost");
    fs::create_dir_all(package.join("src")).expect("a folder to build in");
    let manifest = format!(
        "[package]\nname = \"cost\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\nnnrp-core = {{ path = {:?} }}\n",
        here.join("../nnrp-core")
    );
    fs::write(package.join("Cargo.toml"), manifest).expect("the manifest");
    fs::copy(here.join("../Cargo.lock"), package.join("Cargo.lock")).expect("the lock file");
    let plain = time(&package, false);
    let derived = time(&package, true);
    println!("debug build of {LAYOUTS} structs of 12 fields, least of {RUNS} runs:");
    println!("  plain    {plain}");
    println!("  derived  {derived}");
    println!("  deriving {}", derived.less(&plain));
}

/// What one build took.
#[derive(Clone, Copy)]
struct Took {
    wall: Duration,
    cpu: Duration,
}

impl Took {
    fn less(&self, other: &Took) -> Took {
        Took { wall: self.wall.saturating_sub(other.wall), cpu: self.cpu.saturating_sub(other.cpu) }
    }
}

impl std::fmt::Display for Took {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{:5.2} s, {:5.2} s of processor", self.wall.as_secs_f64(), self.cpu.as_secs_f64())
    }
}

fn time(package: &Path, derived: bool) -> Took {
    let source = package.join("src/lib.rs");
    build(package, "");
    let mut least: Option<Took> = None;
    for run in 0..RUNS {
        fs::write(&source, text(derived, run)).expect("the source");
        let (start, before) = (Instant::now(), children());
        build(package, "the structs");
        let took = Took { wall: start.elapsed(), cpu: children().saturating_sub(before) };
        least =
            Some(least.map_or(took, |least| Took {
                wall: least.wall.min(took.wall),
                cpu: least.cpu.min(took.cpu),
            }));
    }
    least.expect("there was a run")
}

fn build(package: &Path, what: &str) {
    if what.is_empty() {
        fs::write(package.join("src/lib.rs"), "").expect("an empty source");
    }
    let status = Command::new(env!("CARGO"))
        .args(["build", "--offline", "--quiet", "--target-dir"])
        .arg(target().join("derive-cost-target"))
        .env("CARGO_INCREMENTAL", "0")
        .current_dir(package)
        .status()
        .expect("cargo runs");
    assert!(status.success(), "{what} did not build");
}

/// The structs; `run` makes each text another one.
fn text(derived: bool, run: usize) -> String {
    let mut out = format!("// {run}\nuse nnrp_core::{{Layout, Reserved, WireEnum}};\n\n");
    out.push_str("#[derive(Clone, Copy, Debug, WireEnum)]\n#[repr(u8)]\npub enum Kind { A, B, C }\n\n");
    out.push_str("nnrp_core::bitflags::bitflags! {\n    #[derive(Clone, Copy, Debug)]\n");
    out.push_str("    pub struct Flags: u16 { const A = 1; const B = 2; }\n}\n\n");
    out.push_str("#[derive(Layout)]\npub struct Used { pub place: Reserved<1>, pub a: u8 }\n\n");
    for layout in 0..LAYOUTS {
        let fields = if derived {
            out.push_str("#[derive(Clone, Debug, Layout)]\n");
            out.push_str("#[layout(rule(id = \"R1\", when = \"c.a\", require = \"d != 0\"))]\n");
            FIELDS.to_owned()
        } else {
            out.push_str("#[derive(Clone, Debug)]\n");
            FIELDS.lines().filter(|line| !line.contains("#[")).collect::<Vec<_>>().join("\n")
        };
        writeln!(out, "pub struct Chunk{layout} {{\n{fields}\n}}\n").expect("a string takes everything");
    }
    out
}

/// Processor time of all programs that were waited for; 0 where nobody says.
fn children() -> Duration {
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|ticks| ticks.parse::<u64>().ok()).unwrap_or(0);
    // cutime and cstime, in hundredths on every Linux that matters.
    Duration::from_millis((ticks(13) + ticks(14)) * 10)
}

fn target() -> PathBuf {
    let exe = env::current_exe().expect("this program is somewhere");
    exe.ancestors().nth(3).expect("in a target folder").to_owned()
}
