//! Copies of the workspace, to build it with changes.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::registry::here;

/// The folders and files of the workspace that a copy needs.
const PARTS: [&str; 6] = ["Cargo.toml", "Cargo.lock", "nnrp-core", "nnrp-derive", "nnrp-gen", "registry"];

/// Copies the workspace, but for files that are changed, which get that text, by their paths in the copy. `tests` are
/// copied if they are wanted, and otherwise no member.
///
/// What is there already stays, so that cargo builds no more than it must, and what is there no more goes.
pub fn mirror(copy: &Path, tests: bool, changed: &BTreeMap<PathBuf, String>) {
    let from = here().join("..");
    fs::create_dir_all(copy).expect("a folder can be made");
    let mut changed = changed.clone();
    if !tests {
        let manifest = fs::read_to_string(from.join("Cargo.toml")).expect("there is one");
        changed.insert(copy.join("Cargo.toml"), manifest.replace(", \"tests\"]", "]"));
    }
    for name in PARTS.iter().chain(tests.then_some(&"tests")) {
        walk(&from.join(name), &copy.join(name), &changed);
    }
    for (path, text) in changed {
        write(&path, text.as_bytes());
    }
}

fn walk(from: &Path, to: &Path, changed: &BTreeMap<PathBuf, String>) {
    if from.is_dir() {
        fs::create_dir_all(to).expect("a folder can be made");
        let (old, new) = (names(to), names(from));
        let added = |name: &OsString| changed.keys().any(|path| path.starts_with(to.join(name)));
        for name in old.difference(&new).filter(|name| !added(name)) {
            let path = to.join(name);
            let gone = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            gone.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
        new.iter().for_each(|name| walk(&from.join(name), &to.join(name), changed));
    } else if !changed.contains_key(to) {
        write(to, &fs::read(from).unwrap_or_else(|error| panic!("{}: {error}", from.display())));
    }
}

fn write(path: &Path, text: &[u8]) {
    if fs::read(path).is_ok_and(|old| old == text) {
        return;
    }
    let folder = path.parent().expect("it is in a folder");
    fs::create_dir_all(folder).expect("a folder can be made");
    fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

/// What is in a folder, but for what cargo built there.
fn names(folder: &Path) -> BTreeSet<OsString> {
    let entries = fs::read_dir(folder).expect("a folder");
    entries.map(|entry| entry.expect("an entry").file_name()).filter(|name| name != "target").collect()
}
