//! Whole packets, back to back: as JSON, one object a line, or as an annotated dump.

mod dump;

use serde_json::Value as Json;

use crate::codec::Fault;
use crate::codec::packet::Packets;
use crate::model::{Message, Registry};
use crate::suggest::did_you_mean;

use super::output::{BAD, Done, Failure};
use super::paint::Paint;
use super::{WIDTH, json};

/// The packets of the protocol.
pub(super) fn of(registry: &Registry) -> Result<Packets<'_>, Failure> {
    Packets::new(registry).ok_or_else(|| {
        let name = &registry.protocol.name;
        let help = "name a layout with `--layout NAME`".to_owned();
        Failure::usage(format!("`{name}` has no messages, so its bytes are no packets")).help(Some(help))
    })
}

/// The message of that name.
pub(super) fn message<'a>(registry: &'a Registry, name: &str) -> Result<&'a Message, Failure> {
    found(registry, name).map_err(|(message, help)| Failure::usage(message).help(Some(help)))
}

/// The same, or what is wrong with the name and what would mend it.
pub(super) fn found<'a>(registry: &'a Registry, name: &str) -> Result<&'a Message, (String, String)> {
    registry.message(name).ok_or_else(|| {
        let names = registry.messages.iter().map(|message| message.name.as_str());
        let help = did_you_mean(name, names)
            .unwrap_or_else(|| "`nnrp-gen show message` lists all messages".to_owned());
        (format!("there is no message `{name}`"), help)
    })
}

/// A packet of the input.
struct Found<'a> {
    /// Its first byte.
    at: usize,
    bytes: &'a [u8],
    fault: Option<Fault>,
}

/// The packets of the input, up to the first whose end is not known.
fn split<'a>(packets: &Packets<'_>, registry: &Registry, input: &'a [u8]) -> Vec<Found<'a>> {
    let mut list = Vec::new();
    let mut at = 0;
    while at < input.len() || list.is_empty() {
        let rest = &input[at..];
        let declared = packets.declared_len(rest).ok().flatten();
        let whole =
            declared.and_then(|length| usize::try_from(length).ok()).and_then(|length| rest.get(..length));
        let bytes = whole.unwrap_or(rest);
        let fault = packets.fault(bytes);
        let ends = whole.is_none() || fault.as_ref().is_some_and(|fault| fault.breaks_stream(registry));
        list.push(Found { at, bytes, fault });
        if ends {
            break;
        }
        at += bytes.len();
    }
    list
}

/// A fault, with the packet where the input has several.
fn sentence(found: &Found<'_>, number: usize, only: bool) -> Option<String> {
    let fault = found.fault.as_ref()?;
    Some(if only { fault.to_string() } else { format!("packet {number} at byte {}: {fault}", found.at) })
}

/// What a command that found these packets prints.
fn done(list: &[Found<'_>], input: &[u8], out: String) -> Done {
    let end = list.last().map_or(0, |found| found.at + found.bytes.len());
    let only = list.len() == 1 && end == input.len();
    let numbered = list.iter().enumerate();
    let mut err: Vec<_> = numbered.filter_map(|(at, found)| sentence(found, at + 1, only)).collect();
    let code = if err.is_empty() { 0 } else { BAD };
    if end < input.len() {
        let left = input.len() - end;
        err.push(format!("byte {end}: where the next packet starts is not known; {left} bytes are left"));
    }
    Done { out, err: err.join("\n"), code }
}

/// Packets as JSON, those that are bad only where `lenient`.
pub(super) fn as_json(registry: &Registry, input: &[u8], lenient: bool) -> Result<Done, Failure> {
    let packets = of(registry)?;
    let list = split(&packets, registry, input);
    let mut out = String::new();
    for found in &list {
        let (value, fault) = packets.lenient(found.bytes);
        if fault.is_some() && !lenient {
            continue;
        }
        let mut line = json::json(&value);
        if let (Json::Object(fields), true) = (&mut line, lenient) {
            let faults = fault.iter().map(json::fault).collect();
            fields.insert("faults".to_owned(), Json::Array(faults));
        }
        out.push_str(&format!("{line}\n"));
    }
    Ok(done(&list, input, out))
}

/// Packets as annotated dumps. What could be read of a bad one is shown, with what is wrong at its place.
pub(super) fn as_dump(registry: &Registry, input: &[u8], paint: Paint) -> Result<Done, Failure> {
    let packets = of(registry)?;
    let list = split(&packets, registry, input);
    let only = list.len() == 1;
    let mut out = Vec::new();
    for (at, found) in list.iter().enumerate() {
        let place = if only { String::new() } else { format!("packet {} at byte {}", at + 1, found.at) };
        out.push(dump::packet(&packets, registry, found, &place, paint));
    }
    let between = format!("\n{}\n\n", paint.dim(&"─".repeat(WIDTH)));
    Ok(done(&list, input, out.join(&between)))
}
