//! Reads TOML files into [`crate::syntax`]. Goes on after a problem, so that one run shows them all.

mod items;
mod keys;

use std::cmp::Reverse;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};

use crate::report::{Diagnostic, Report};
use crate::source::{Sources, Span};
use crate::suggest::did_you_mean;
use crate::syntax::Registry;

use keys::{Context, Keys};

/// The `*.toml` files of a folder, in the order in which they are read. Hidden ones are none of them: editors leave such
/// beside what is being edited. Whatever else is called so is there, file or not, for its reader to refuse.
///
/// # Errors
///
/// What the file system said.
pub fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut list = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if path.extension().is_some_and(|extension| extension == "toml") && !is_hidden {
            list.push(path);
        }
    }
    list.sort();
    Ok(list)
}

/// Where the key of the most parts begins.
fn longest_key(text: &str) -> Range<usize> {
    let mut start = 0;
    let lines = text.split_inclusive('\n').map(|line| {
        let at = start;
        start += line.len();
        (line, at)
    });
    let most = lines.max_by_key(|(line, at)| (line.matches('.').count(), Reverse(*at)));
    most.map_or(0..0, |(line, at)| {
        let first = at + line.len() - line.trim_start_matches([' ', '\t', '[']).len();
        first..first + 1
    })
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
    let is_lost = problems.len() > 1 || problems.iter().any(|problem| problem.span().is_none());
    let first = problems.into_iter().min_by_key(|problem| problem.span().map_or(0, |span| span.start));
    if let Some(problem) = first {
        // The only problem without a place is a key of more parts than there may be.
        let (range, message) = match problem.span() {
            Some(range) => (range, problem.message().to_owned()),
            None => (longest_key(&source.text), "a key of too many parts".to_owned()),
        };
        let line = source.text.get(..range.start).unwrap_or_default().rsplit('\n').next().unwrap_or_default();
        let is_header = line.trim_start().starts_with('[');
        let help = (is_header && problem.span().is_some())
            .then(|| "if a table begins here, an array above it lacks its `]`".to_owned());
        report.add(Diagnostic::error(Span::new(number, range), message).maybe_help(help));
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
