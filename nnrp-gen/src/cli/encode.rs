//! `encode`: JSON to bytes.

use std::io::{self, IsTerminal};

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
  nnrp-gen decode --layout session_close_ack --json 02000000070000000000000000000000 |
    nnrp-gen encode --layout session_close_ack -")]
pub(super) struct Arguments {
    /// Layout of the bytes
    #[arg(long, value_name = "NAME", required_unless_present = "message", conflicts_with = "message")]
    layout: Option<String>,
    /// Message of the packet; lengths and whatever else its body determines are filled in
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
}

pub(super) fn run(arguments: &Arguments, registry: &Registry, paints: Paints) -> Result<Done, Failure> {
    let of = match (&arguments.layout, &arguments.message) {
        (Some(layout), _) => Of::Layout(open::layout(registry, layout)?),
        (None, Some(message)) => Of::Message(packet::message(registry, message)?),
        (None, None) => return Err(Failure::usage("neither a layout nor a message is named")),
    };
    if arguments.json.is_none() && io::stdin().is_terminal() {
        let what = match of {
            Of::Layout(layout) => format!("--layout {}", layout.name),
            Of::Message(message) => format!("--message {}", message.name),
        };
        let help = format!("nnrp-gen encode {what} '{{}}'");
        return Err(Failure::usage("no JSON given").help(Some(help)));
    }
    let input = input::text(arguments.json.as_deref().unwrap_or("-"))?;
    let value =
        json::parse(&input.text).map_err(|error| input.wrong(error.at, &error.message, None, paints.err))?;
    let bytes = match of {
        Of::Layout(layout) => codec::encode(registry, layout, &fields(layout, value)?),
        Of::Message(message) => packet::of(registry)?.encode(message, &value),
    };
    match bytes {
        Ok(bytes) => Ok(Done::good(hex::write(&bytes, "") + "\n")),
        Err(EncodeError::Fault(fault)) => Err(Failure::bad(fault.to_string())),
        Err(error @ EncodeError::Value(_)) => Err(Failure::bad(error.to_string())),
    }
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
