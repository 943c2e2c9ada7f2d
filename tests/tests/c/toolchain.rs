//! Compilers, as far as they are there.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use nnrp_gen::model::Registry;
use nnrp_tests::registry;

/// The warnings that every compiler must be silent under.
pub const STRICT: &[&str] = &["-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"];

/// How the C side is built: a name, a compiler and its flags.
pub const BUILDS: &[(&str, &str, &[&str])] = &[
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
    (
        "gcc-shifts",
        "gcc",
        &[
            "-std=c99",
            "-O2",
            "-DNNRP_SHIFTS_ONLY",
            "-DKINDS_SHIFTS_ONLY",
            "-DRELAY_SHIFTS_ONLY",
            "-DZOO_SHIFTS_ONLY",
        ],
    ),
    ("gcc-32", "gcc", &["-std=c99", "-O2", "-m32"]),
];

/// The registry of that name: the protocol's own, or another.
pub fn registry(name: &str) -> Registry {
    if name == "nnrp" { registry::nnrp() } else { registry::foreign(name) }
}

/// A folder of its own, with the header of a registry in it.
pub fn folder(test: &str, registry: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("c-{test}-{registry}"));
    fs::create_dir_all(&folder).expect("a folder for the test");
    let header =
        nnrp_gen::emit::c::header(&self::registry(registry)).unwrap_or_else(|problems| panic!("{problems}"));
    write(&folder, &format!("{registry}.h"), &header);
    folder
}

/// Writes a file of a test.
pub fn write(folder: &Path, name: &str, text: &str) {
    fs::write(folder.join(name), text).expect("a file for the test");
}

/// Whether a compiler is there and makes a program that runs. Says so once where it does not, and with the
/// environment variable `NNRP_C` fails then.
pub fn have(compiler: &str, flags: &[&str]) -> bool {
    let name = format!("probe-{compiler}{}", flags.concat().replace(['/', ','], "_"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).expect("a folder for the probe");
    let source = if compiler.ends_with("++") { "probe.cc" } else { "probe.c" };
    write(&folder, source, "#include <stdint.h>\nint main(void) { return (int)(uint8_t)0; }\n");
    let program = folder.join("probe");
    let made = Command::new(compiler).args(flags).arg("-o").arg(&program).arg(folder.join(source)).output();
    let there = made.is_ok_and(|made| made.status.success())
        && Command::new(&program).status().is_ok_and(|status| status.success());
    if !there {
        skip(&format!("{compiler} {}", flags.join(" ")));
    }
    there
}

/// Says that something is missing, past the capture of the test harness.
pub fn skip(what: &str) {
    assert!(std::env::var_os("NNRP_C").is_none(), "NNRP_C is set and `{what}` does not work");
    let line = format!("SKIPPED: `{what}` does not work here\n");
    // Where nobody reads the line, nobody misses it.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// Runs a compiler, and fails with what it says.
pub fn compile(folder: &Path, compiler: &str, arguments: &[&str]) {
    let output = Command::new(compiler).current_dir(folder).args(arguments).output();
    let output = output.unwrap_or_else(|error| panic!("{compiler}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{compiler} {}\n{said}", arguments.join(" "));
    assert!(said.is_empty(), "{compiler} {} said\n{said}", arguments.join(" "));
}
