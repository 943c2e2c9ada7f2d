//! The canonical binary form.

use super::sink::{Sink, next, next_range};
use super::{Bitmask, Enum, Layout, Part};

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
    let mut at = 0;
    while at < layout.form.len() {
        match &layout.form[at] {
            Part::Bytes(bytes) => out.all(bytes),
            Part::Enum(item) => write_enum(item, out),
            Part::Bitmask(mask) => write_bitmask(mask, out),
            Part::Layout(inner) => write_layout(inner, out),
        }
        at += 1;
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
