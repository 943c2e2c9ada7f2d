//! Where mutants grow: a copy of the workspace with all of them in it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use nnrp_tests::command::cargo;
use nnrp_tests::mirror::mirror;

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
    let sources = copy.join("nnrp-core/src");
    let state = list::files("state");
    let files = mutants.files().into_iter().chain(state.iter().map(String::as_str));
    // What asks is no constant, and neither is who calls it.
    let text = |file| mutated(mutants, file).replace("const fn", "fn");
    let mut changed: BTreeMap<PathBuf, String> = files.map(|file| (sources.join(file), text(file))).collect();
    changed.insert(sources.join("lib.rs"), source("lib.rs") + QUESTION);
    mirror(&copy, true, &changed);
    let core = build(&copy, &["-p", "nnrp-core", "--lib"]);
    let connection = build(&copy, &["-p", "nnrp-tests", "--test", "connection"]);
    vec![
        Suite { program: core, folder: copy.join("nnrp-core") },
        Suite { program: connection, folder: copy.join("tests") },
    ]
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
