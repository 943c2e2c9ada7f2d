//! JSON: the registry with everything resolved, for programs in any language.
//!
//! Lists keep the order of the registry, and each row of a table is one line, so that a change of the registry is a
//! change of those lines only.

mod packets;
mod write;

use serde_json::{Value as Json, json};

use crate::codec::{bytes_as_text, integer, raw};
use crate::model::{
    Bitmask, ByteOrder, Element, Enum, Field, Layout, Machine, Meaning, Protocol, Registry, Rule, Scalar,
};

/// The whole registry as JSON text.
pub fn text(registry: &Registry) -> String {
    let whole = json!({
        "protocol": protocol(registry, &registry.protocol),
        "enums": list(&registry.enums, |item| enumeration(registry, item)),
        "bitmasks": list(&registry.bitmasks, bitmask),
        "layouts": list(&registry.layouts, |item| layout(registry, item)),
        "messages": list(&registry.messages, |item| packets::message(registry, item)),
        "bodies": list(&registry.bodies, |item| packets::body(registry, item)),
        "entries": list(&registry.entries, |item| packets::entry(registry, item)),
        "vocabularies": list(&registry.vocabularies, packets::vocabulary),
        "schemas": list(&registry.schemas, packets::schema),
        "state_machines": list(&registry.machines, |item| machine(registry, item)),
    });
    let mut out = String::new();
    write::write(&whole, 0, &mut out);
    out.push('\n');
    out
}

fn list<T>(items: &[T], one: impl FnMut(&T) -> Json) -> Json {
    items.iter().map(one).collect()
}

fn protocol(registry: &Registry, item: &Protocol) -> Json {
    let errors = item.errors.as_ref().map(|errors| {
        let codes = &registry.enums[errors.enumeration];
        let name = |code| codes.value(code).map(|value| value.name.as_str());
        json!({
            "enum": codes.name,
            "header": name(errors.header),
            "body": name(errors.body),
            "limit": name(errors.limit),
        })
    });
    json!({
        "name": item.name,
        "version_major": item.version_major,
        "wire_format": item.wire_format,
        "alpn": item.alpn,
        "byte_order": byte_order(item.byte_order),
        "header": item.header.map(|header| registry.layouts[header].name.as_str()),
        "errors": errors,
        "source": item.source,
        "doc": item.doc,
    })
}

fn byte_order(order: ByteOrder) -> &'static str {
    match order {
        ByteOrder::Little => "little",
        ByteOrder::Big => "big",
    }
}

fn enumeration(registry: &Registry, item: &Enum) -> Json {
    json!({
        "name": item.name,
        "type": item.ty.name(),
        "source": item.source,
        "doc": item.doc,
        "values": list(&item.values, |value| json!({
            "value": value.value,
            "name": value.name,
            "doc": value.doc,
        })),
        "ranges": list(&item.ranges, |range| json!({
            "from": range.from,
            "to": range.to,
            "name": range.name,
            "family": range.family.map(|family| registry.enums[family].name.as_str()),
            "doc": range.doc,
        })),
    })
}

fn bitmask(item: &Bitmask) -> Json {
    json!({
        "name": item.name,
        "type": item.ty.name(),
        "source": item.source,
        "doc": item.doc,
        "bits": list(&item.bits, |bit| json!({ "mask": bit.mask, "name": bit.name, "doc": bit.doc })),
    })
}

fn layout(registry: &Registry, item: &Layout) -> Json {
    json!({
        "name": item.name,
        "size": item.size,
        "byte_order": byte_order(item.byte_order),
        "source": item.source,
        "doc": item.doc,
        "fields": list(&item.fields, |one| field(registry, item, one)),
        "rules": list(&item.rules, |one| rule(item, one)),
    })
}

fn field(registry: &Registry, layout: &Layout, item: &Field) -> Json {
    let (mut constant, mut enumeration, mut bitmask) = (Json::Null, None, None);
    match &item.meaning {
        Meaning::Constant(bytes) => constant = constant_value(layout, item, bytes),
        Meaning::Enum(position) => enumeration = Some(registry.enums[*position].name.as_str()),
        Meaning::Bitmask(position) => bitmask = Some(registry.bitmasks[*position].name.as_str()),
        Meaning::Plain | Meaning::Reserved | Meaning::Bool => {}
    }
    let inner = match item.element {
        Element::Layout(inner) => Some(registry.layouts[inner].name.as_str()),
        Element::Scalar(_) => None,
    };
    json!({
        "offset": item.offset,
        "name": item.name,
        "type": item.type_name(registry),
        "size": item.size,
        "count": item.count,
        "reserved": item.meaning == Meaning::Reserved,
        "const": constant,
        "enum": enumeration,
        "bitmask": bitmask,
        "bool": item.meaning == Meaning::Bool,
        "layout": inner,
        "unit": some(&item.unit),
        "since": item.since,
        "deprecated": item.deprecated,
        "error": item.error,
        "doc": item.doc,
    })
}

/// Nothing for an empty text.
fn some(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

/// A constant as `decode` would give it: a number, text, or a list of numbers.
fn constant_value(layout: &Layout, field: &Field, bytes: &[u8]) -> Json {
    let Element::Scalar(scalar) = field.element else { return Json::Null };
    let number = |bytes: &[u8]| match scalar.is_unsigned() {
        true => Json::from(raw(bytes, layout.byte_order)),
        false => Json::from(integer(bytes, scalar, layout.byte_order) as i64),
    };
    match field.count {
        None => number(bytes),
        Some(_) if scalar == Scalar::U8 => Json::from(bytes_as_text(bytes)),
        Some(_) => bytes.chunks(scalar.size() as usize).map(number).collect(),
    }
}

fn rule(layout: &Layout, item: &Rule) -> Json {
    rule_blaming(item, name_of(layout, item.blame.index))
}

/// A rule, with the field to blame as its registry row would name it.
fn rule_blaming(item: &Rule, blamed: &str) -> Json {
    let (when, require) = &item.text;
    json!({
        "id": item.id,
        "when": when,
        "require": require,
        "field": blamed,
        "error": item.error,
        "doc": item.doc,
    })
}

/// The name of the field at that position.
fn name_of(layout: &Layout, field: usize) -> &str {
    layout.fields.get(field).map_or("", |field| field.name.as_str())
}

fn machine(registry: &Registry, item: &Machine) -> Json {
    let name = |state: usize| item.states.get(state).map(|state| state.name.as_str());
    json!({
        "name": item.name,
        "enum": item.enumeration.map(|position| registry.enums[position].name.as_str()),
        "source": item.source,
        "doc": item.doc,
        "initial": name(item.initial),
        "terminal": item.terminal.iter().map(|state| name(*state)).collect::<Vec<_>>(),
        "states": list(&item.states, |state| json!({
            "value": state.value,
            "name": state.name,
            "doc": state.doc,
        })),
        "transitions": list(&item.transitions, |arrow| json!({
            "from": name(arrow.from),
            "to": name(arrow.to),
            "on": arrow.on.iter().map(|on| registry.messages[*on].name.as_str()).collect::<Vec<_>>(),
            "doc": arrow.doc,
        })),
    })
}
