//! The registries that are tested with.

use std::fs;
use std::path::{Path, PathBuf};

use nnrp_gen::model::Registry;

/// The folder of this crate.
pub fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folder of the protocol's own registry.
pub fn folder() -> PathBuf {
    here().join("../registry")
}

/// The protocol's own registry.
pub fn nnrp() -> Registry {
    read(&folder())
}

/// The registry of another protocol.
pub fn foreign(name: &str) -> Registry {
    read(&here().join("registries").join(name))
}

fn read(folder: &Path) -> Registry {
    let loaded = nnrp_gen::load(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    loaded.into_result().unwrap_or_else(|problems| panic!("{problems}"))
}

/// A file that another program wrote.
pub fn fixture(name: &str) -> Vec<u8> {
    let path = here().join("fixtures").join(name);
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
