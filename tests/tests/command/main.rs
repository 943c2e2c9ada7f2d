//! The `nnrp-gen` command as people run it.

mod check;
mod decode;
mod emit;
mod encode;
mod fmt;
mod help;
mod show;

use std::fs;
use std::path::{Path, PathBuf};

use nnrp_tests::registry;

/// An empty folder for a test of that name.
fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("command").join(name);
    // It may be there from the last run.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// A folder for a test of that name with a copy of the registry in it.
fn copied(name: &str) -> PathBuf {
    let folder = scratch(name);
    fs::create_dir(folder.join("registry")).unwrap();
    for file in fs::read_dir(registry::folder()).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), folder.join("registry").join(file.file_name())).unwrap();
    }
    folder
}

/// Bytes in hex.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
