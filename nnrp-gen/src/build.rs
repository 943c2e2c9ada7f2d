//! Generation from build scripts.

use std::env;
use std::path::{Path, PathBuf};

use crate::emit::rust;
use crate::{files, load};

/// Generates Rust from a registry folder in a build script, and rebuilds when a file in the folder
/// changes, comes or goes.
///
/// ```no_run
/// // In build.rs:
/// nnrp_gen::Build::new("registry").write("codecs.rs");
/// ```
///
/// The crate then has `include!(concat!(env!("OUT_DIR"), "/codecs.rs"));` and depends on bitflags.
#[derive(Clone, Debug)]
pub struct Build {
    registry: PathBuf,
    features: bool,
    describe: Option<String>,
}

impl Build {
    /// For the registry in that folder, which is relative to the package.
    pub fn new(registry: impl AsRef<Path>) -> Self {
        Self { registry: registry.as_ref().to_owned(), features: false, describe: None }
    }

    /// Implements the traits of serde and arbitrary behind the crate's features of those names.
    #[must_use]
    pub fn features(mut self) -> Self {
        self.features = true;
        self
    }

    /// Describes every layout as data, with the types of the module at that path.
    #[must_use]
    pub fn describe(mut self, path: &str) -> Self {
        self.describe = Some(path.to_owned());
        self
    }

    /// Writes the module to that file in `OUT_DIR`.
    ///
    /// A registry with an error ends the build script with the drawn problems.
    pub fn write(&self, file: &str) {
        println!("cargo::rerun-if-changed={}", self.registry.display());
        if let Err(problem) = self.try_write(file) {
            eprintln!("{problem}");
            std::process::exit(1);
        }
    }

    fn try_write(&self, file: &str) -> Result<(), String> {
        let loaded = load(&self.registry).map_err(|error| format!("{}: {error}", self.registry.display()))?;
        for source in loaded.sources.iter() {
            println!("cargo::rerun-if-changed={}", source.path);
        }
        let (_, warnings) = loaded.report.counts();
        if warnings > 0 && loaded.registry.is_some() {
            for line in loaded.report.draw(&loaded.sources, false).lines() {
                println!("cargo::warning={line}");
            }
        }
        let registry = loaded.into_result()?;
        let folder = env::var_os("OUT_DIR").ok_or("OUT_DIR is not set: this runs in a build script")?;
        let path = Path::new(&folder).join(file);
        let describe = self.describe.as_ref().map(|path| path.parse());
        let describe = describe.transpose().map_err(|error| format!("the path to describe with: {error}"))?;
        let options = rust::Options { features: self.features, describe, ..rust::Options::default() };
        let text = rust::module_of(&registry, &options);
        files::replace(&path, &text).map_err(|error| format!("{}: {error}", path.display()))
    }
}
