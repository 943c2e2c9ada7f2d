//! The canonical binary form.

use super::sink::{Sink, next, next_range};
use super::{Bitmask, Element, Enum, Layout, Meaning};

const VERSION: u8 = 1;

/// How long the canonical form of a layout is.
pub const fn body_len(layout: &Layout) -> usize {
    write::<0>(layout).len
}

/// The canonical form of a layout; `N` is its [`body_len`].
pub const fn body<const N: usize>(layout: &Layout) -> [u8; N] {
    let sink = write::<N>(layout);
    assert!(sink.len == N, "the form is of another length");
    sink.bytes
}

const fn write<const N: usize>(layout: &Layout) -> Sink<N> {
    let mut out = Sink::new();
    out.push(VERSION);
    write_layout(layout, &mut out);
    out
}

const fn count<const N: usize>(count: usize, out: &mut Sink<N>) {
    assert!(count <= u16::MAX as usize, "more than the form has room for");
    out.all(&(count as u16).to_le_bytes());
}

const fn text<const N: usize>(text: &str, out: &mut Sink<N>) {
    count(text.len(), out);
    out.str(text);
}

const fn write_layout<const N: usize>(layout: &Layout, out: &mut Sink<N>) {
    text(layout.name, out);
    out.push(layout.big as u8);
    out.all(&layout.size.to_le_bytes());
    count(layout.fields.len(), out);
    let mut at = 0;
    while at < layout.fields.len() {
        let field = &layout.fields[at];
        text(field.name, out);
        out.all(&field.offset.to_le_bytes());
        write_element(&field.element, out);
        out.all(&field.count.to_le_bytes());
        write_meaning(&field.meaning, out);
        at += 1;
    }
    count(layout.rules.len(), out);
    let mut at = 0;
    while at < layout.rules.len() {
        let rule = &layout.rules[at];
        text(rule.id, out);
        text(rule.when, out);
        text(rule.require, out);
        text(rule.field, out);
        at += 1;
    }
    count(layout.enums.len(), out);
    let mut at = 0;
    while at < layout.enums.len() {
        write_enum(&layout.enums[at], out);
        at += 1;
    }
}

const fn write_element<const N: usize>(element: &Element, out: &mut Sink<N>) {
    let number = match element {
        Element::U8 => 0,
        Element::U16 => 1,
        Element::U32 => 2,
        Element::U64 => 3,
        Element::I8 => 4,
        Element::I16 => 5,
        Element::I32 => 6,
        Element::I64 => 7,
        Element::F32 => 8,
        Element::F64 => 9,
        Element::Layout(_) => 255,
    };
    out.push(number);
    if let Element::Layout(inner) = element {
        write_layout(inner, out);
    }
}

const fn write_meaning<const N: usize>(meaning: &Meaning, out: &mut Sink<N>) {
    match meaning {
        Meaning::Plain => out.push(0),
        Meaning::Reserved => out.push(1),
        Meaning::Constant(bytes) => {
            out.push(2);
            out.all(&(bytes.len() as u32).to_le_bytes());
            out.all(bytes);
        }
        Meaning::Bool => out.push(3),
        Meaning::Enum(item) => {
            out.push(4);
            write_enum(item, out);
        }
        Meaning::Bitmask(mask) => {
            out.push(5);
            write_bitmask(mask, out);
        }
    }
}

const fn write_enum<const N: usize>(item: &Enum, out: &mut Sink<N>) {
    text(item.name, out);
    out.push(item.bytes);
    count(item.values.len(), out);
    let mut last = None;
    while let Some(at) = next(item.values, last) {
        let (name, number) = item.values[at];
        out.all(&number.to_le_bytes());
        text(name, out);
        last = Some(number);
    }
    count(item.ranges.len(), out);
    let mut last = None;
    while let Some(at) = next_range(item.ranges, last) {
        let (name, from, to) = item.ranges[at];
        out.all(&from.to_le_bytes());
        out.all(&to.to_le_bytes());
        text(name, out);
        last = Some(from);
    }
}

const fn write_bitmask<const N: usize>(mask: &Bitmask, out: &mut Sink<N>) {
    text(mask.name, out);
    out.push(mask.bytes);
    out.all(&mask.known.to_le_bytes());
    // Two names for one mask count once.
    let mut named = 0;
    let mut last = None;
    while let Some(at) = next(mask.bits, last) {
        named += 1;
        last = Some(mask.bits[at].1);
    }
    count(named, out);
    let mut last = None;
    while let Some(at) = next(mask.bits, last) {
        let (name, bits) = mask.bits[at];
        out.all(&bits.to_le_bytes());
        count(name.len(), out);
        out.lower(name);
        last = Some(bits);
    }
}
