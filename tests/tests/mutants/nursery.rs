//! Where mutants grow: a copy of the workspace with all of them in it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use nnrp_tests::command::cargo;
use nnrp_tests::registry::here;

use crate::list::{self, Mutant, Mutants, code, source};

/// Asked by every mutant whether it is the one that lives.
const QUESTION: &str = r#"
extern crate std as outside;

pub(crate) fn mutant(number: usize) -> bool {
    static ONE: outside::sync::LazyLock<usize> = outside::sync::LazyLock::new(|| {
        outside::env::var("NNRP_MUTANT_NUMBER").ok().and_then(|number| number.parse().ok()).unwrap_or(0)
    });
    *ONE == number
}
"#;

/// A file with all of its mutants in it.
pub fn mutated(mutants: &Mutants, file: &str) -> String {
    let text = source(file);
    let code = code(&text);
    let mut places: BTreeMap<usize, (Range<usize>, Vec<&Mutant>)> = BTreeMap::new();
    for mutant in mutants.iter().filter(|mutant| mutant.file == file) {
        let at = code.find(&mutant.find).unwrap_or_else(|| panic!("{mutant} is not there"));
        let range = at..at + mutant.find.len();
        let (known, list) = places.entry(at).or_insert_with(|| (range.clone(), Vec::new()));
        assert_eq!(*known, range, "{mutant} begins where another one does that is longer or shorter");
        list.push(mutant);
    }
    let (mut made, mut done) = (String::new(), 0);
    for (at, (range, list)) in &places {
        assert!(done <= *at, "{} stands within another one", list[0]);
        made += &text[done..*at];
        let statement = list[0].is_statement();
        made += if statement { "" } else { "(" };
        for Mutant { number, put, .. } in list {
            made += &format!("if crate::mutant({number}) {{ {put} }} else ");
        }
        made += &format!("{{ {} }}", &text[range.clone()]);
        made += if statement { "" } else { ")" };
        done = range.end;
    }
    made + &text[done..]
}

/// A program of tests that was built with the mutants.
pub struct Suite {
    /// Its file.
    pub program: PathBuf,
    /// The folder that it runs in.
    pub folder: PathBuf,
}

/// Copies the workspace, puts all mutants in, and builds the tests of state.
pub fn grow(mutants: &Mutants) -> Vec<Suite> {
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mutants");
    let from = here().join("..");
    let sources = copy.join("nnrp-core/src");
    let state = list::files("state");
    let files = mutants.files().into_iter().chain(state.iter().map(String::as_str));
    // What asks is no constant, and neither is who calls it.
    let text = |file| mutated(mutants, file).replace("const fn", "fn");
    let mut changed: BTreeMap<PathBuf, String> = files.map(|file| (sources.join(file), text(file))).collect();
    changed.insert(sources.join("lib.rs"), source("lib.rs") + QUESTION);
    fs::create_dir_all(&copy).expect("a folder can be made");
    for name in ["Cargo.toml", "Cargo.lock", "nnrp-core", "nnrp-derive", "nnrp-gen", "registry", "tests"] {
        mirror(&from.join(name), &copy.join(name), &changed);
    }
    let core = build(&copy, &["-p", "nnrp-core", "--lib"]);
    let connection = build(&copy, &["-p", "nnrp-tests", "--test", "connection"]);
    vec![
        Suite { program: core, folder: copy.join("nnrp-core") },
        Suite { program: connection, folder: copy.join("tests") },
    ]
}

/// Copies files, but for those that are changed. What is there already stays, so that cargo builds no more than it must,
/// and what is there no more goes.
fn mirror(from: &Path, to: &Path, changed: &BTreeMap<PathBuf, String>) {
    if from.is_dir() {
        fs::create_dir_all(to).expect("a folder can be made");
        let old = names(to);
        let new = names(from);
        for name in old.difference(&new) {
            let path = to.join(name);
            let gone = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            gone.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
        new.iter().for_each(|name| mirror(&from.join(name), &to.join(name), changed));
        return;
    }
    let new = match changed.get(to) {
        Some(text) => text.clone().into_bytes(),
        None => fs::read(from).unwrap_or_else(|error| panic!("{}: {error}", from.display())),
    };
    if fs::read(to).is_ok_and(|old| old == new) {
        return;
    }
    fs::write(to, new).unwrap_or_else(|error| panic!("{}: {error}", to.display()));
}

/// What is in a folder, but for what cargo built there.
fn names(folder: &Path) -> BTreeSet<OsString> {
    let entries = fs::read_dir(folder).expect("a folder");
    entries.map(|entry| entry.expect("an entry").file_name()).filter(|name| name != "target").collect()
}

/// Builds tests of the copy, and gives the program.
fn build(copy: &Path, what: &[&str]) -> PathBuf {
    let done = cargo()
        .args(["test", "--no-run", "--message-format=json-render-diagnostics", "--target-dir"])
        .arg(copy.join("target"))
        .args(what)
        .current_dir(copy)
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("RUSTFLAGS", "-A warnings")
        .stderr(std::process::Stdio::inherit())
        .output()
        .expect("cargo runs");
    assert!(done.status.success(), "the copy with the mutants in {} does not build", copy.display());
    let lines = String::from_utf8(done.stdout).expect("UTF-8");
    let mut programs = lines.lines().filter_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        message["executable"].as_str().map(PathBuf::from)
    });
    programs.next_back().expect("a program was built")
}
