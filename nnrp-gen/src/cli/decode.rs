//! `decode`: bytes to something that a person or a program can read.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use crate::codec;
use crate::model::{Layout, Registry};

use super::output::{BAD, Done, Failure, error_lines};
use super::paint::Paints;
use super::{dump, hex, input, json, open, packet};

/// Reads bytes and says what they mean
#[derive(Args)]
#[command(after_help = "Examples:
  nnrp-gen decode '4e4e5250 01002028 00000000 00000000 00000000 00000000 00000000 00000000 0000000000000000'
  nnrp-gen decode --json --file packets.bin
  nnrp-gen decode --layout session_close_ack '02000000 0700000000000000 00000000'
  nnrp-gen decode --layout session_close_ack --json 0x02000000:07000000:00000000:00000000
  nnrp-gen decode --layout session_close_ack --file close.bin")]
pub(super) struct Arguments {
    /// Layout of the bytes, whose length must be exactly its size; otherwise they are packets, back to back
    #[arg(long, value_name = "NAME")]
    layout: Option<String>,
    /// Print JSON instead of an annotated dump: `{"layout": …, "fields": {…}}`, or one
    /// `{"header": {…}, "message": …, "metadata": {…}, "body": {…}}` a line
    #[arg(long)]
    json: bool,
    /// Show values that are wrong too, and everything that is wrong; exit status 1 all the same
    #[arg(long)]
    lenient: bool,
    /// Read binary data from a file; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "input")]
    file: Option<PathBuf>,
    /// Bytes in hex; spaces, line ends, `0x` and `:` do not count; `-` reads them from standard input
    #[arg(value_name = "INPUT", required_unless_present = "file")]
    input: Option<String>,
}

pub(super) fn run(arguments: &Arguments, registry: &Registry, paints: Paints) -> Result<Done, Failure> {
    let Arguments { json, lenient, .. } = *arguments;
    let layout = match &arguments.layout {
        Some(name) => Some(open::layout(registry, name)?),
        None => packet::of(registry).map(|_| None)?,
    };
    let bytes = bytes(arguments, paints)?;
    let mut done = match (layout, json) {
        (Some(layout), true) => as_json(registry, layout, &bytes, lenient),
        (Some(layout), false) => as_dump(registry, layout, &bytes, lenient, paints),
        (None, true) => packet::as_json(registry, &bytes, lenient)?,
        (None, false) => packet::as_dump(registry, &bytes, paints.out)?,
    };
    done.err = error_lines(&done.err, paints.err);
    Ok(done)
}

fn bytes(arguments: &Arguments, paints: Paints) -> Result<Vec<u8>, Failure> {
    if let Some(file) = &arguments.file {
        return input::bytes(file);
    }
    let input = input::text(arguments.input.as_deref().unwrap_or("-"))?;
    hex::parse(&input.text).map_err(|error| input.wrong(error.at, &error.message, None, paints.err))
}

fn as_json(registry: &Registry, layout: &Layout, bytes: &[u8], lenient: bool) -> Done {
    if lenient {
        let codec::Lenient { value, faults } = codec::lenient(registry, layout, bytes);
        let listed: Vec<_> = faults.iter().map(json::fault).collect();
        let whole = json!({ "layout": layout.name, "fields": json::json(&value), "faults": listed });
        return Done { out: pretty(&whole), ..faulty(&faults) };
    }
    match codec::decode(registry, layout, bytes) {
        Ok(value) => {
            let whole = json!({ "layout": layout.name, "fields": json::json(&value) });
            Done::good(pretty(&whole))
        }
        Err(fault) => faulty(&[fault]),
    }
}

fn as_dump(registry: &Registry, layout: &Layout, bytes: &[u8], lenient: bool, paints: Paints) -> Done {
    let mut faults = codec::faults(registry, layout, bytes);
    if !lenient {
        faults.truncate(1);
    }
    let out = dump::layout(registry, layout, bytes, &faults, paints.out);
    Done { out, ..faulty(&faults) }
}

/// The end of a command that found these.
fn faulty(faults: &[codec::Fault]) -> Done {
    let lines: Vec<_> = faults.iter().map(ToString::to_string).collect();
    Done { err: lines.join("\n"), code: if faults.is_empty() { 0 } else { BAD }, ..Done::default() }
}

fn pretty(json: &serde_json::Value) -> String {
    format!("{json:#}\n")
}
