//! `check`: whether the registry is good, and how much there is in it.

use std::path::Path;

use clap::Args;

use crate::model::Registry;
use crate::{Loaded, report::Report};

use super::output::{BAD, Done, Failure};
use super::paint::{Ink, Paint, Paints};
use super::table::{Table, cell, counted, left, right};
use super::{WIDTH, open};

/// Checks the registry and sums up what is in it
#[derive(Args)]
#[command(after_help = "Example:\n  nnrp-gen check --registry path/to/registry")]
pub(super) struct Arguments {}

pub(super) fn run(_: &Arguments, registry: Option<&Path>, paints: Paints) -> Result<Done, Failure> {
    let Loaded { sources, report, registry } = open::read(registry)?;
    let mut err = report.draw(&sources, paints.err.0);
    if !err.is_empty() {
        err.push_str("\n\n");
    }
    Ok(match registry {
        Some(registry) => {
            let out = summary(&registry, &report, sources.iter().count(), paints.out);
            Done { out, err, code: 0 }
        }
        None => {
            err.push_str(&format!("{}: {}\n", paints.err.red("error"), problems(&report)));
            Done { err, code: BAD, ..Done::default() }
        }
    })
}

fn problems(report: &Report) -> String {
    let (errors, warnings) = report.counts();
    let errors = counted(errors, "error", "errors");
    match warnings {
        0 => errors,
        warnings => format!("{errors}, {}", counted(warnings, "warning", "warnings")),
    }
}

fn summary(registry: &Registry, report: &Report, files: usize, paint: Paint) -> String {
    let mut table = Table::new([right(""), left(""), left("")]);
    let mut row = |number: usize, one: &str, many: &str, inside: String| {
        if number > 0 {
            let noun = if number == 1 { one } else { many };
            table.row([number.to_string().into(), noun.into(), cell(Ink::Dim, inside)]);
        }
    };
    let layouts = &registry.layouts;
    row(layouts.len(), "layout", "layouts", {
        let fields = layouts.iter().map(|item| item.fields.len()).sum();
        let rules = layouts.iter().map(|item| item.rules.len()).sum();
        let bytes = layouts.iter().map(|item| item.size as usize).sum();
        [counted(fields, "field", "fields"), counted(bytes, "byte", "bytes"), counted(rules, "rule", "rules")]
            .join(", ")
    });
    row(registry.enums.len(), "enum", "enums", {
        let values = registry.enums.iter().map(|item| item.values.len()).sum();
        let ranges = registry.enums.iter().map(|item| item.ranges.len()).sum();
        [counted(values, "value", "values"), counted(ranges, "range", "ranges")].join(", ")
    });
    row(registry.bitmasks.len(), "bitmask", "bitmasks", {
        counted(registry.bitmasks.iter().map(|item| item.bits.len()).sum(), "bit", "bits")
    });
    row(registry.messages.len(), "message", "messages", {
        let segments = registry.messages.iter().map(|item| item.segments.len()).sum();
        let rules = registry.messages.iter().map(|item| item.rules.len()).sum();
        [counted(segments, "segment", "segments"), counted(rules, "rule", "rules")].join(", ")
    });
    row(registry.bodies.len(), "body", "bodies", {
        counted(registry.bodies.iter().map(|item| item.parts.len()).sum(), "part", "parts")
    });
    row(registry.entries.len(), "entry", "entries", String::new());
    row(registry.vocabularies.len(), "vocabulary", "vocabularies", {
        counted(registry.vocabularies.iter().map(|item| item.words.len()).sum(), "word", "words")
    });
    row(registry.schemas.len(), "schema", "schemas", String::new());
    row(registry.machines.len(), "state machine", "state machines", {
        let states = registry.machines.iter().map(|item| item.states.len()).sum();
        let arrows = registry.machines.iter().map(|item| item.transitions.len()).sum();
        [counted(states, "state", "states"), counted(arrows, "arrow", "arrows")].join(", ")
    });
    let warnings = match report.counts().1 {
        0 => String::new(),
        warnings => format!(", {}", counted(warnings, "warning", "warnings")),
    };
    format!(
        "{} {}, {}{warnings}\n{}",
        paint.bold(&registry.protocol.name),
        paint.ink(Ink::Green, "is good"),
        counted(files, "file", "files"),
        table.draw(WIDTH, 2, paint)
    )
}
