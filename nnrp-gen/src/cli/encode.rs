//! `encode`: JSON to bytes.

use std::io::{self, IsTerminal};
use std::ops::Range;

use clap::Args;

use crate::codec::{self, EncodeError, Value};
use crate::model::{Layout, Message, Registry};

use super::output::{Done, Failure};
use super::paint::Paints;
use super::{hex, input, json, open, packet};

/// Writes bytes, as hex, from the fields in JSON
#[derive(Args)]
#[command(after_help = "Examples:
  nnrp-gen encode --message session_close '{\"header\": {\"session_id\": 7}, \"metadata\": {\"last_operation_id\": 7}}'
  nnrp-gen encode --layout session_close_ack '{\"close_status\": \"closed\", \"last_operation_id\": 7}'
  nnrp-gen decode --json --file packets.bin | nnrp-gen encode
  nnrp-gen decode --layout session_close_ack --json 02000000070000000000000000000000 |
    nnrp-gen encode --layout session_close_ack -")]
pub(super) struct Arguments {
    /// Layout of the bytes
    #[arg(long, value_name = "NAME", conflicts_with = "message")]
    layout: Option<String>,
    /// Message of the packet; lengths and whatever else its body determines are filled in. Without it and without
    /// a layout each line of the input is a packet and names its own
    #[arg(long, value_name = "NAME")]
    message: Option<String>,
    /// The fields as an object, or what `decode --json` prints; what is left out is 0, constant or absent;
    /// `-` or nothing reads standard input
    #[arg(value_name = "JSON")]
    json: Option<String>,
}

/// What is written.
enum Of<'a> {
    Layout(&'a Layout),
    Message(&'a Message),
    /// Packets that name their messages, one a line.
    Lines,
}

pub(super) fn run(arguments: &Arguments, registry: &Registry, paints: Paints) -> Result<Done, Failure> {
    let of = match (&arguments.layout, &arguments.message) {
        (Some(layout), _) => Of::Layout(open::layout(registry, layout)?),
        (None, Some(message)) => Of::Message(packet::message(registry, message)?),
        (None, None) => Of::Lines,
    };
    if arguments.json.is_none() && io::stdin().is_terminal() {
        let what = match of {
            Of::Layout(layout) => format!("--layout {} '{{}}'", layout.name),
            Of::Message(message) => format!("--message {} '{{}}'", message.name),
            Of::Lines => "--message NAME '{}'".to_owned(),
        };
        let help = format!("nnrp-gen encode {what}");
        return Err(Failure::usage("no JSON given").help(Some(help)));
    }
    let input = input::text(arguments.json.as_deref().unwrap_or("-"))?;
    let parse = |text: &str, start: usize| {
        json::parse(text).map_err(|error| {
            input.wrong(error.at.start + start..error.at.end + start, &error.message, None, paints.err)
        })
    };
    let hex = |bytes: Result<Vec<u8>, EncodeError>| match bytes {
        Ok(bytes) => Ok(hex::write(&bytes, "") + "\n"),
        Err(error) => Err(error.to_string()),
    };
    let done = match of {
        Of::Layout(layout) => hex(codec::encode(registry, layout, &fields(layout, parse(&input.text, 0)?)?))
            .map_err(Failure::bad)?,
        Of::Message(message) => {
            hex(packet::of(registry)?.encode(message, &parse(&input.text, 0)?)).map_err(Failure::bad)?
        }
        Of::Lines => {
            let packets = packet::of(registry)?;
            let (mut out, mut start) = (String::new(), 0);
            for (at, line) in input.text.split_inclusive('\n').enumerate() {
                if !line.trim().is_empty() {
                    let value = parse(line, start)?;
                    let message = named(registry, &value).map_err(|(message, help)| {
                        input.wrong(place(line, start), &message, Some(help), paints.err)
                    })?;
                    let bytes = packets.encode(message, &value);
                    let wrong = |error: String| {
                        let lines = error.lines().map(|error| format!("line {}: {error}\n", at + 1));
                        Failure::bad(lines.collect::<String>())
                    };
                    out.push_str(&hex(bytes).map_err(wrong)?);
                }
                start += line.len();
            }
            out
        }
    };
    Ok(Done::good(done))
}

/// The message that a packet names, or what is wrong with that and what would mend it.
fn named<'r>(registry: &'r Registry, value: &Value) -> Result<&'r Message, (String, String)> {
    let wrong = match (value, value.get("message")) {
        (_, Some(Value::Text(name))) => return packet::found(registry, name),
        (_, Some(other)) => format!("`message` is {}, and not the name of a message", other.kind()),
        (Value::Struct(_), None) => "a packet without `message`, which says what it is".to_owned(),
        (other, None) => format!("{}, where a packet is wanted", other.kind()),
    };
    Err((wrong, "write `\"message\": \"NAME\"` into it, or name it with `--message NAME`".to_owned()))
}

/// Where a line of the input says which message it is: its value, or else the whole of it.
fn place(line: &str, start: usize) -> Range<usize> {
    let key = "\"message\"";
    let value = line.find(key).map(|at| at + key.len()).and_then(|at| {
        let rest = line[at..].trim_start().strip_prefix(':')?.trim_start();
        let length = match rest.strip_prefix('"') {
            Some(text) => text.find('"')? + 2,
            None => rest.find([',', '}'])?,
        };
        let at = line.len() - rest.len();
        Some(at..at + rest[..length].trim_end().len())
    });
    let whole = || {
        let text = line.trim();
        let at = line.find(text).unwrap_or(0);
        at..at + text.len()
    };
    let range = value.unwrap_or_else(whole);
    range.start + start..range.end + start
}

/// The fields alone, of what may be the whole output of `decode --json`.
fn fields(layout: &Layout, value: Value) -> Result<Value, Failure> {
    let Some(of) = decoded(&value) else { return Ok(value) };
    if of != layout.name {
        return Err(Failure::bad(format!("these are the fields of `{of}`, not of `{}`", layout.name)));
    }
    let Value::Struct(whole) = value else { return Ok(value) };
    let fields = whole.into_iter().find(|(name, _)| name == "fields");
    Ok(fields.map_or(Value::Struct(Vec::new()), |(_, fields)| fields))
}

/// The layout that the output of `decode --json` names; nothing where this is no such output.
fn decoded(value: &Value) -> Option<&str> {
    let Value::Struct(whole) = value else { return None };
    let known = |name: &str| matches!(name, "layout" | "fields" | "faults");
    match (value.get("layout"), value.get("fields")) {
        (Some(Value::Text(layout)), Some(Value::Struct(_))) if whole.iter().all(|(name, _)| known(name)) => {
            Some(layout)
        }
        _ => None,
    }
}
