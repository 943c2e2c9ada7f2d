//! A number that stands for a registry: two programs with the same one agree on every byte of the wire.

use std::fmt::{self, Write};

use crate::model::{
    Body, ByteOrder, Choice, Entry, Enum, Field, Layout, Machine, Meaning, Message, Part, Registry, Segment,
    Select, Slices, Vocabulary,
};

/// The 64-bit FNV-1a hash of what the registry says of the wire.
///
/// Hashed is a canonical rendering, a line for each row in registry order: names, numbers, types, meanings and rules.
/// Docs and sources are left out, so that a reworded sentence changes nothing; so are comments, spacing and the split
/// into files.
pub fn digest(registry: &Registry) -> u64 {
    let mut hash = Fnv::default();
    // The hash takes whatever it is given, so writing to it cannot fail.
    let _ = render(registry, &mut hash);
    hash.0
}

/// FNV-1a, 64 bits.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Write for Fnv {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Ok(())
    }
}

fn render(registry: &Registry, out: &mut dyn Write) -> fmt::Result {
    let protocol = &registry.protocol;
    writeln!(
        out,
        "protocol {} {:?} {:?} {:?} {}",
        protocol.name,
        protocol.version_major,
        protocol.wire_format,
        protocol.alpn,
        protocol.header.map_or("-", |header| registry.layouts[header].name.as_str()),
    )?;
    registry.enums.iter().try_for_each(|item| enumeration(item, out))?;
    for item in &registry.bitmasks {
        writeln!(out, "bitmask {} {}", item.name, item.ty.name())?;
        item.bits.iter().try_for_each(|bit| writeln!(out, "bit {:#x} {}", bit.mask, bit.name))?;
    }
    registry.layouts.iter().try_for_each(|item| layout(registry, item, out))?;
    registry.entries.iter().try_for_each(|item| entry(item, out))?;
    registry.bodies.iter().try_for_each(|item| body(item, out))?;
    registry.vocabularies.iter().try_for_each(|item| vocabulary(item, out))?;
    registry.messages.iter().try_for_each(|item| message(registry, item, out))?;
    registry.machines.iter().try_for_each(|item| machine(registry, item, out))
}

fn enumeration(item: &Enum, out: &mut dyn Write) -> fmt::Result {
    writeln!(out, "enum {} {}", item.name, item.ty.name())?;
    item.values.iter().try_for_each(|value| writeln!(out, "value {} {}", value.value, value.name))?;
    item.ranges.iter().try_for_each(|range| writeln!(out, "range {} {} {}", range.from, range.to, range.name))
}

fn layout(registry: &Registry, item: &Layout, out: &mut dyn Write) -> fmt::Result {
    let order = if item.byte_order == ByteOrder::Big { "big" } else { "little" };
    writeln!(out, "layout {} {} {order}", item.name, item.size)?;
    for field in &item.fields {
        writeln!(
            out,
            "field {} {} {} {} {:?} {:?}",
            field.offset,
            field.name,
            field.type_name(registry),
            meaning(registry, field),
            field.role,
            field.error,
        )?;
    }
    for rule in &item.rules {
        let (when, require) = (rule.text.0.as_deref().unwrap_or("-"), &rule.text.1);
        let blame = &item.fields[rule.blame.index].name;
        writeln!(out, "rule {} {when} | {require} | {blame} {:?}", rule.id, rule.error)?;
    }
    Ok(())
}

fn meaning(registry: &Registry, field: &Field) -> String {
    match &field.meaning {
        Meaning::Plain => "plain".to_owned(),
        Meaning::Reserved => "reserved".to_owned(),
        Meaning::Constant(bytes) => format!("constant {bytes:?}"),
        Meaning::Enum(position) => format!("enum {}", registry.enums[*position].name),
        Meaning::Bitmask(position) => format!("bitmask {}", registry.bitmasks[*position].name),
        Meaning::Bool => "bool".to_owned(),
    }
}

/// Numbers in what is written of messages and bodies are positions, which stand for names that were written before.
fn message(registry: &Registry, item: &Message, out: &mut dyn Write) -> fmt::Result {
    let metadata = item.metadata.map_or("-", |metadata| registry.layouts[metadata].name.as_str());
    writeln!(out, "message {:#x} {} {metadata} {:?}", item.value, item.name, item.direction)?;
    for rule in item.scope_rules.iter().chain(&item.rules) {
        let (when, require) = (&rule.when, &rule.require);
        writeln!(out, "rule {} {when:?} | {require:?} | {:?} {:?}", rule.id, rule.blame, rule.error)?;
    }
    for Segment { name, length, content, count, select, cases, id, doc: _ } in &item.segments {
        writeln!(out, "segment {name} {length:?} {content:?} {count:?} {select:?} {id}")?;
        cases.iter().try_for_each(|case| writeln!(out, "case {case:?}"))?;
    }
    let (slots, sorted, sizes) = (&item.slots, &item.sorted, &item.sizes);
    writeln!(out, "agree {slots:?} {sorted:?} {sizes:?} {:?}", item.tensor)
}

fn entry(item: &Entry, out: &mut dyn Write) -> fmt::Result {
    let Entry { name, header, payload, align, select: _, unique, id, .. } = item;
    writeln!(out, "entry {name} {header} {payload} {align} {unique:?} {id}")?;
    select(item.select.as_ref(), out)
}

fn select(item: Option<&Select>, out: &mut dyn Write) -> fmt::Result {
    let Some(Select { field, critical, code, choices }) = item else { return Ok(()) };
    writeln!(out, "select {field} {critical:?} {code:?}")?;
    for choice in choices {
        let Choice { value, name, layout, messages, refuse_critical, once, require, id, doc: _ } = choice;
        writeln!(
            out,
            "choice {value} {name} {layout} {messages:?} {refuse_critical} {once} {require:?} {id}"
        )?;
    }
    Ok(())
}

fn body(item: &Body, out: &mut dyn Write) -> fmt::Result {
    writeln!(out, "body {} {} {}", item.name, item.prelude, item.optional)?;
    for Part { id, name, length, content, count, slices, leading, doc: _ } in &item.parts {
        writeln!(out, "part {name} {length} {content:?} {count:?} {leading:?} {id}")?;
        if let Some(Slices { rows, layout, offset, size, select: inside }) = slices {
            writeln!(out, "slices {rows} {layout} {offset} {size}")?;
            select(inside.as_ref(), out)?;
        }
    }
    Ok(())
}

fn vocabulary(item: &Vocabulary, out: &mut dyn Write) -> fmt::Result {
    writeln!(out, "vocabulary {} {} {}", item.name, item.length_type.name(), item.id)?;
    item.words.iter().try_for_each(|(word, _)| writeln!(out, "word {word}"))
}

fn machine(registry: &Registry, item: &Machine, out: &mut dyn Write) -> fmt::Result {
    let state = |position: usize| item.states[position].name.as_str();
    writeln!(out, "machine {} {}", item.name, state(item.initial))?;
    for value in &item.states {
        writeln!(out, "state {} {}", value.value, value.name)?;
    }
    item.terminal.iter().try_for_each(|&position| writeln!(out, "terminal {}", state(position)))?;
    for arrow in &item.transitions {
        write!(out, "arrow {} {}", state(arrow.from), state(arrow.to))?;
        arrow.on.iter().try_for_each(|&on| write!(out, " {}", registry.messages[on].name))?;
        writeln!(out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_fnv_1a() {
        let mut hash = Fnv::default();
        let _ = hash.write_str("foobar");
        assert_eq!(hash.0, 0x8594_4171_f739_67e8);
    }
}
