//! From a folder of TOML files to a checked registry.

use std::io;
use std::path::Path;

use crate::check::{self, Index};
use crate::files;
use crate::lower::lower;
use crate::model::Registry;
use crate::read;
use crate::report::{Diagnostic, Report};
use crate::source::{Sources, Span};
use crate::syntax;

/// What came of reading a registry: its texts, its problems and, if none of them is an error, the
/// registry itself.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The texts that were read.
    pub sources: Sources,
    /// Every problem that was found.
    pub report: Report,
    /// The registry, unless there was an error.
    pub registry: Option<Registry>,
}

impl Loaded {
    /// The registry, or the drawn problems.
    ///
    /// # Errors
    ///
    /// Every problem, drawn without colours.
    pub fn into_result(self) -> Result<Registry, String> {
        match self.registry {
            Some(registry) => Ok(registry),
            None => Err(self.report.draw(&self.sources, false)),
        }
    }
}

/// Reads and checks every `*.toml` of a folder, or one file.
///
/// # Errors
///
/// Where the folder or a file in it cannot be read.
pub fn load(path: &Path) -> io::Result<Loaded> {
    let list = if path.is_file() { vec![path.to_owned()] } else { read::files(path)? };
    let mut texts = Vec::new();
    for file in &list {
        let name = file.display().to_string().replace('\\', "/");
        let bytes = files::bytes(file).map_err(|error| {
            let file = file.file_name().unwrap_or_default().display();
            io::Error::new(error.kind(), format!("{file}: {error}"))
        })?;
        texts.push((name, bytes));
    }
    let mut sources = Sources::default();
    let mut report = Report::default();
    let mut registry = syntax::Registry::default();
    for (name, bytes) in texts {
        match String::from_utf8(bytes) {
            Ok(text) => read::text(&mut sources, &name, &text, &mut registry, &mut report),
            Err(error) => {
                let good = error.utf8_error().valid_up_to();
                let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
                let source = sources.add(name, &text);
                report.add(
                    Diagnostic::error(Span::new(source, good..good), "this byte is not UTF-8")
                        .help("save the file as UTF-8"),
                );
            }
        }
    }
    Ok(finish(sources, report, &registry))
}

/// Reads and checks texts, given as path and content.
pub fn load_texts<'t>(texts: impl IntoIterator<Item = (&'t str, &'t str)>) -> Loaded {
    let mut sources = Sources::default();
    let mut report = Report::default();
    let mut registry = syntax::Registry::default();
    for (path, text) in texts {
        read::text(&mut sources, path, text, &mut registry, &mut report);
    }
    finish(sources, report, &registry)
}

/// Checks what was read, from whichever door, and makes the model of it.
pub fn finish(sources: Sources, mut report: Report, registry: &syntax::Registry) -> Loaded {
    let index = Index::of(registry);
    check::check(registry, &index, &sources, &mut report);
    let mut model = None;
    if !report.has_errors() {
        model = lower(registry, &index, &sources);
        if model.is_none() {
            report.add(Diagnostic::error(
                Span::default(),
                "the checks passed a registry that cannot be resolved; this is a fault of the generator",
            ));
        }
    }
    Loaded { sources, report, registry: model }
}
