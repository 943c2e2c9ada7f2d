//! A layout as registry TOML.

use super::sink::{Sink, next, next_range};
use super::{Bitmask, Enum, Layout, Part};

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
    while at < layout.form.len() {
        match &layout.form[at] {
            Part::Enum(item) if enums.add(item.name) => write_enum(item, out),
            Part::Bitmask(mask) if bitmasks.add(mask.name) => write_bitmask(mask, out),
            Part::Layout(inner) => write_layout(inner, enums, bitmasks, layouts, out),
            _ => {}
        }
        at += 1;
    }
    let mut at = 0;
    while at < layout.text.len() {
        out.str(layout.text[at]);
        at += 1;
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
