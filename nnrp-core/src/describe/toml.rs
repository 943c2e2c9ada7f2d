//! A layout as registry TOML.

use super::sink::{Sink, next, next_range};
use super::{Bitmask, Element, Enum, Field, Layout, Meaning};

/// How long [`text`] is.
pub const fn text_len(layout: &Layout) -> usize {
    write::<0>(layout).len
}

/// The layout, with all that it refers to, as a registry of its own; `N` is its [`text_len`].
pub const fn text<const N: usize>(layout: &Layout) -> [u8; N] {
    let sink = write::<N>(layout);
    assert!(sink.len == N, "the text is of another length");
    sink.bytes
}

/// How many different things a layout may refer to.
const ROOM: usize = 128;

/// What was written already: what stands in a registry stands there once.
struct Written {
    names: [&'static str; ROOM],
    len: usize,
}

impl Written {
    /// Whether the name is new; it is not after that.
    const fn add(&mut self, name: &'static str) -> bool {
        let mut at = 0;
        while at < self.len {
            if same(self.names[at].as_bytes(), name.as_bytes()) {
                return false;
            }
            at += 1;
        }
        assert!(self.len < ROOM, "a layout that refers to too much");
        self.names[self.len] = name;
        self.len += 1;
        true
    }
}

const fn same(left: &[u8], right: &[u8]) -> bool {
    let mut at = 0;
    while at < left.len() && at < right.len() {
        if left[at] != right[at] {
            return false;
        }
        at += 1;
    }
    left.len() == right.len()
}

const fn write<const N: usize>(layout: &Layout) -> Sink<N> {
    let mut out = Sink::new();
    out.str("[protocol]\nname       = \"");
    out.str(layout.name);
    out.str("\"\nbyte_order = \"little\"\n");
    let mut enums = Written { names: [""; ROOM], len: 0 };
    let mut bitmasks = Written { names: [""; ROOM], len: 0 };
    let mut layouts = Written { names: [""; ROOM], len: 0 };
    write_layout(layout, &mut enums, &mut bitmasks, &mut layouts, &mut out);
    out
}

/// A layout behind all that it refers to.
const fn write_layout<const N: usize>(
    layout: &Layout,
    enums: &mut Written,
    bitmasks: &mut Written,
    layouts: &mut Written,
    out: &mut Sink<N>,
) {
    if !layouts.add(layout.name) {
        return;
    }
    let mut at = 0;
    while at < layout.fields.len() {
        let field = &layout.fields[at];
        if let Element::Layout(inner) = field.element {
            write_layout(inner, enums, bitmasks, layouts, out);
        }
        match &field.meaning {
            Meaning::Enum(item) if enums.add(item.name) => write_enum(item, out),
            Meaning::Bitmask(mask) if mask.known != 0 && bitmasks.add(mask.name) => write_bitmask(mask, out),
            _ => {}
        }
        at += 1;
    }
    let mut at = 0;
    while at < layout.enums.len() {
        if enums.add(layout.enums[at].name) {
            write_enum(&layout.enums[at], out);
        }
        at += 1;
    }
    out.str("\n[[layout]]\nname   = \"");
    out.str(layout.name);
    out.str("\"\nsize   = ");
    out.number(layout.size as i128);
    if layout.big {
        out.str("\nbyte_order = \"big\"");
    }
    if !layout.doc.is_empty() {
        out.str("\ndoc    = ");
        quoted(layout.doc, out);
    }
    out.str("\nfields = [\n");
    let mut at = 0;
    while at < layout.fields.len() {
        write_field(&layout.fields[at], layout.big, out);
        at += 1;
    }
    out.str("]\n");
    if !layout.rules.is_empty() {
        write_rules(layout, out);
    }
}

const fn write_rules<const N: usize>(layout: &Layout, out: &mut Sink<N>) {
    out.str("rules  = [\n");
    let mut at = 0;
    while at < layout.rules.len() {
        let rule = &layout.rules[at];
        out.str("  { id = ");
        quoted(rule.id, out);
        if !rule.when.is_empty() {
            out.str(", when = ");
            quoted(rule.when, out);
        }
        out.str(", require = ");
        quoted(rule.require, out);
        if !rule.field.is_empty() {
            out.str(", field = ");
            quoted(rule.field, out);
        }
        if !rule.doc.is_empty() {
            out.str(", doc = ");
            quoted(rule.doc, out);
        }
        out.str(" },\n");
        at += 1;
    }
    out.str("]\n");
}

const fn write_field<const N: usize>(field: &Field, big: bool, out: &mut Sink<N>) {
    out.str("  { offset = ");
    out.number(field.offset as i128);
    out.str(", name = \"");
    out.str(field.name);
    out.str(match field.element {
        Element::Layout(_) => "\", layout = \"",
        _ => "\", type = \"",
    });
    if field.count > 0 {
        out.push(b'[');
    }
    out.str(match field.element {
        Element::U8 => "u8",
        Element::U16 => "u16",
        Element::U32 => "u32",
        Element::U64 => "u64",
        Element::I8 => "i8",
        Element::I16 => "i16",
        Element::I32 => "i32",
        Element::I64 => "i64",
        Element::F32 => "f32",
        Element::F64 => "f64",
        Element::Layout(inner) => inner.name,
    });
    if field.count > 0 {
        out.str("; ");
        out.number(field.count as i128);
        out.push(b']');
    }
    out.push(b'"');
    match &field.meaning {
        Meaning::Plain => {}
        Meaning::Reserved => out.str(", reserved = true"),
        Meaning::Bool => out.str(", bool = true"),
        Meaning::Constant(bytes) => {
            out.str(", const = ");
            write_constant(bytes, field, big, out);
        }
        Meaning::Enum(item) => {
            out.str(", enum = \"");
            out.str(item.name);
            out.push(b'"');
        }
        Meaning::Bitmask(mask) if mask.known == 0 => out.str(", reserved = true"),
        Meaning::Bitmask(mask) => {
            out.str(", bitmask = \"");
            out.str(mask.name);
            out.push(b'"');
        }
    }
    if !field.unit.is_empty() {
        out.str(", unit = ");
        quoted(field.unit, out);
    }
    if !field.doc.is_empty() {
        out.str(", doc = ");
        quoted(field.doc, out);
    }
    out.str(" },\n");
}

/// A constant as the numbers that stand in its bytes.
const fn write_constant<const N: usize>(bytes: &[u8], field: &Field, big: bool, out: &mut Sink<N>) {
    let size = field.element.size() as usize;
    if field.count > 0 {
        out.push(b'[');
    }
    let mut start = 0;
    while start < bytes.len() {
        if start > 0 {
            out.str(", ");
        }
        let mut number = 0u64;
        let mut at = 0;
        while at < size {
            let place = if big { start + at } else { start + size - 1 - at };
            number = number << 8 | bytes[place] as u64;
            at += 1;
        }
        let signed = matches!(field.element, Element::I8 | Element::I16 | Element::I32 | Element::I64);
        let unused = 64 - 8 * size as u32;
        if signed {
            out.number((((number << unused) as i64) >> unused) as i128);
        } else {
            out.number(number as i128);
        }
        start += size;
    }
    if field.count > 0 {
        out.push(b']');
    }
}

const fn scalar<const N: usize>(bytes: u8, out: &mut Sink<N>) {
    out.str("\"\ntype   = \"u");
    out.number(bytes as i128 * 8);
}

const fn write_enum<const N: usize>(item: &Enum, out: &mut Sink<N>) {
    out.str("\n[[enum]]\nname   = \"");
    out.str(item.name);
    scalar(item.bytes, out);
    out.str("\"\nvalues = [\n");
    let mut last = None;
    while let Some(at) = next(item.values, last) {
        let (name, number) = item.values[at];
        out.str("  { value = ");
        out.number(number as i128);
        out.str(", name = \"");
        out.str(name);
        out.str("\" },\n");
        last = Some(number);
    }
    out.str("]\n");
    if item.ranges.is_empty() {
        return;
    }
    out.str("ranges = [\n");
    let mut last = None;
    while let Some(at) = next_range(item.ranges, last) {
        let (name, from, to) = item.ranges[at];
        out.str("  { from = ");
        out.number(from as i128);
        out.str(", to = ");
        out.number(to as i128);
        out.str(", name = \"");
        out.str(name);
        out.str("\" },\n");
        last = Some(from);
    }
    out.str("]\n");
}

const fn write_bitmask<const N: usize>(mask: &Bitmask, out: &mut Sink<N>) {
    out.str("\n[[bitmask]]\nname   = \"");
    out.str(mask.name);
    scalar(mask.bytes, out);
    out.str("\"\nbits   = [\n");
    let mut bit = 0;
    while bit < 64 {
        if mask.known >> bit & 1 == 1 {
            out.str("  { bit = ");
            out.number(bit as i128);
            out.str(", name = \"");
            // A registry names single bits; one that the type knows without a name is called by its number.
            let mut named = false;
            let mut at = 0;
            while at < mask.bits.len() {
                if !named && mask.bits[at].1 == 1 << bit && !mask.bits[at].0.is_empty() {
                    out.lower(mask.bits[at].0);
                    named = true;
                }
                at += 1;
            }
            if !named {
                out.str("bit_");
                out.number(bit as i128);
            }
            out.str("\" },\n");
        }
        bit += 1;
    }
    out.str("]\n");
}

/// A string of TOML.
const fn quoted<const N: usize>(text: &str, out: &mut Sink<N>) {
    out.push(b'"');
    let mut at = 0;
    while at < text.len() {
        match text.as_bytes()[at] {
            byte @ (b'"' | b'\\') => {
                out.push(b'\\');
                out.push(byte);
            }
            0..0x20 | 0x7f => out.push(b' '),
            byte => out.push(byte),
        }
        at += 1;
    }
    out.push(b'"');
}
