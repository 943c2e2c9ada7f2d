//! Finds and loads the registry.

use std::env;
use std::path::{Path, PathBuf};

use crate::model::{Layout, Registry};
use crate::suggest::did_you_mean;
use crate::{Loaded, load};

use super::output::Failure;
use super::paint::Paints;

/// The folder that was given, or `registry` in this folder or the nearest one above it that has it.
pub(super) fn folder(given: Option<&Path>) -> Result<PathBuf, Failure> {
    if let Some(path) = given {
        return if path.exists() {
            Ok(path.to_owned())
        } else {
            Err(Failure::usage(format!("there is no registry at `{}`", path.display())))
        };
    }
    let here = env::current_dir().map_err(|error| Failure::usage(format!("this folder: {error}")))?;
    // As a path from here, which keeps the places in diagnostics short.
    let mut path = PathBuf::from("registry");
    for folder in here.ancestors() {
        if folder.join("registry").is_dir() {
            return Ok(path);
        }
        path = Path::new("..").join(path);
    }
    let help = "name one with `--registry DIR`".to_owned();
    Err(Failure::usage("there is no folder `registry` here or above").help(Some(help)))
}

/// Reads and checks the registry; it may be bad.
pub(super) fn read(given: Option<&Path>) -> Result<Loaded, Failure> {
    let path = folder(given)?;
    load(&path).map_err(|error| Failure::usage(format!("{}: {error}", path.display())))
}

/// The registry, which must be good. Its warnings are for `check` to show.
pub(super) fn registry(given: Option<&Path>, paints: Paints) -> Result<Registry, Failure> {
    let Loaded { sources, report, registry } = read(given)?;
    registry.ok_or_else(|| Failure::drawn(report.draw(&sources, paints.err.0) + "\n"))
}

/// The layout of that name.
pub(super) fn layout<'a>(registry: &'a Registry, name: &str) -> Result<&'a Layout, Failure> {
    registry.layout(name).ok_or_else(|| {
        let names = registry.layouts.iter().map(|layout| layout.name.as_str());
        let help = did_you_mean(name, names).unwrap_or_else(|| "`nnrp-gen show` lists all names".to_owned());
        Failure::usage(format!("there is no layout `{name}`")).help(Some(help))
    })
}
