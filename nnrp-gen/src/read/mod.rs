//! Reads TOML files into [`crate::syntax`]. Goes on after a problem, so that one run shows them all.

mod items;
mod keys;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};

use crate::report::{Diagnostic, Report};
use crate::source::{Sources, Span};
use crate::suggest::did_you_mean;
use crate::syntax::Registry;

use keys::{Context, Keys};

/// The `*.toml` files of a folder, in the order in which they are read.
///
/// # Errors
///
/// What the file system said.
pub fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut list = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "toml") && path.is_file() {
            list.push(path);
        }
    }
    list.sort();
    Ok(list)
}

/// All the names that there are, as a help line.
fn known<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let known: Vec<_> = names.into_iter().map(|name| format!("`{name}`")).collect();
    format!("known are {}", known.join(", "))
}

/// Reads one text into `registry`.
pub fn text(sources: &mut Sources, path: &str, text: &str, registry: &mut Registry, report: &mut Report) {
    let number = sources.add(path, text);
    let Some(source) = sources.get(number) else { return };
    let (document, problems) = DeTable::parse_recoverable(&source.text);
    // A bracket that is not closed makes nonsense of all that follows, and problems without number: then only the first
    // is told, and nothing is made of the rest.
    let is_lost = problems.len() > 1;
    let first = problems.into_iter().min_by_key(|problem| problem.span().map_or(0, |span| span.start));
    if let Some(problem) = first {
        let range = problem.span().unwrap_or(0..0);
        let line = source.text.get(..range.start).unwrap_or_default().rsplit('\n').next().unwrap_or_default();
        let is_header = line.trim_start().starts_with('[');
        let help = is_header.then(|| "if a table begins here, an array above it lacks its `]`".to_owned());
        report
            .add(Diagnostic::error(Span::new(number, range), problem.message().to_owned()).maybe_help(help));
    }
    if is_lost {
        registry.unread.extend(items::TABLES.iter().map(|kind| kind.name));
        return;
    }
    let mut cx = Context { source: number, report };
    let table = document.get_ref();
    for (key, value) in table {
        let found = items::TABLES.iter().find(|kind| kind.name == key.get_ref().as_ref());
        let Some(kind) = found else {
            let span = cx.span(key.span());
            let names = items::TABLES.iter().map(|kind| kind.name);
            cx.report.add(
                Diagnostic::error(span, format!("unknown table `{}`", key.get_ref()))
                    .label("no such table in a registry")
                    .help(did_you_mean(key.get_ref(), names.clone()).unwrap_or_else(|| known(names))),
            );
            continue;
        };
        let span = cx.span(value.span());
        match (kind.many, value.get_ref()) {
            (false, DeValue::Table(table)) => {
                kind.read(Keys::new(table, span, kind.name), &mut cx, registry);
            }
            (true, DeValue::Array(rows)) => {
                for row in rows {
                    let span = cx.span(row.span());
                    match row.get_ref() {
                        DeValue::Table(table) => {
                            kind.read(Keys::new(table, span, kind.name), &mut cx, registry);
                        }
                        other => cx.wrong_type(span, kind.name, "a table", other),
                    }
                }
            }
            (many, _) => {
                registry.unread.push(kind.name);
                let header = if many { format!("[[{}]]", kind.name) } else { format!("[{}]", kind.name) };
                cx.report.add(
                    Diagnostic::error(
                        cx.span(key.span()),
                        format!("`{}` is written as `{header}`", kind.name),
                    )
                    .help(format!("start the table with `{header}`")),
                );
            }
        }
    }
}
