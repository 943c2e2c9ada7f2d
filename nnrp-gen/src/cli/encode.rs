//! `encode`: JSON to bytes.

use std::io::{self, IsTerminal};

use clap::Args;

use crate::codec::{self, EncodeError, Value};
use crate::model::{Layout, Registry};

use super::output::{Done, Failure};
use super::paint::Paints;
use super::{hex, input, json, open};

/// Writes bytes, as hex, from the fields in JSON
#[derive(Args)]
#[command(after_help = "Examples:
  nnrp-gen encode --layout session_close_ack '{\"close_status\": \"closed\", \"last_operation_id\": 7}'
  nnrp-gen decode --layout session_close_ack --json 02000000070000000000000000000000 |
    nnrp-gen encode --layout session_close_ack -")]
pub(super) struct Arguments {
    /// Layout of the bytes
    #[arg(long, value_name = "NAME")]
    layout: String,
    /// The fields as an object, or what `decode --json` prints; fields left out are 0 or their constant;
    /// `-` or nothing reads standard input
    #[arg(value_name = "JSON")]
    json: Option<String>,
}

pub(super) fn run(arguments: &Arguments, registry: &Registry, paints: Paints) -> Result<Done, Failure> {
    let layout = open::layout(registry, &arguments.layout)?;
    if arguments.json.is_none() && io::stdin().is_terminal() {
        let help = format!("nnrp-gen encode --layout {} '{{}}'", layout.name);
        return Err(Failure::usage("no JSON given").help(Some(help)));
    }
    let input = input::text(arguments.json.as_deref().unwrap_or("-"))?;
    let value =
        json::parse(&input.text).map_err(|error| input.wrong(error.at, &error.message, None, paints.err))?;
    let value = fields(layout, value)?;
    match codec::encode(registry, layout, &value) {
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
