//! Random bytes of layouts: good ones, so that more than refusals is tested.

use nnrp_gen::codec;
use nnrp_gen::model::{ByteOrder, Element, Enum, Field, Layout, Meaning, Registry, Rule};
use nnrp_gen::rule::{self, Int, Truth};

/// A small random source; the same seed gives the same numbers everywhere.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// For a seed and a name, so that tests do not share their numbers.
    pub fn new(seed: u64, name: &str) -> Self {
        let mix = |state: u64, byte: u8| (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        Self(name.bytes().fold(seed ^ 0xcbf2_9ce4_8422_2325, mix))
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number under `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.number() % end as u64).expect("it is under a usize")
    }

    /// One of several.
    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    /// Any bytes.
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.number() as u8).collect()
    }

    /// A number that is often small, at an edge, or one of `hints`.
    fn field(&mut self, hints: &[u64]) -> u64 {
        match self.below(8) {
            0..=2 => 0,
            3 => 1 + self.number() % 4,
            4 => u64::MAX,
            5 | 6 if !hints.is_empty() => self.pick(hints).wrapping_add(self.number() % 3).wrapping_sub(1),
            _ => self.number(),
        }
    }
}

/// Good bytes of a layout, found by mending random ones; nothing where that took too long.
pub fn good(registry: &Registry, layout: &Layout, random: &mut Random) -> Option<Vec<u8>> {
    let mut bytes = vec![0; layout.size as usize];
    fill(registry, layout, random, &mut bytes);
    for _ in 0..4000 {
        let Some(fault) = codec::fault(registry, layout, &bytes) else { return Some(bytes) };
        if !mend(registry, layout, &fault, random, &mut bytes) {
            return None;
        }
    }
    None
}

/// Every field with something that it accepts by itself.
fn fill(registry: &Registry, layout: &Layout, random: &mut Random, bytes: &mut [u8]) {
    for field in &layout.fields {
        set(registry, layout, field, random, &[], &mut bytes[field.range()]);
    }
}

/// Puts something into a field that it accepts by itself, perhaps one of `hints`.
pub(crate) fn set(
    registry: &Registry,
    layout: &Layout,
    field: &Field,
    random: &mut Random,
    hints: &[u64],
    bytes: &mut [u8],
) {
    let number = match (&field.meaning, field.element) {
        (Meaning::Plain, Element::Layout(inner)) => {
            let inner = &registry.layouts[inner];
            for bytes in bytes.chunks_mut(inner.size as usize) {
                if let Some(good) = good(registry, inner, random) {
                    bytes.copy_from_slice(&good);
                }
            }
            return;
        }
        (Meaning::Plain, _) if field.scalar().is_none() => {
            return bytes.copy_from_slice(&random.bytes(bytes.len()));
        }
        (Meaning::Plain, _) => random.field(hints),
        (Meaning::Reserved, _) => 0,
        (Meaning::Constant(constant), _) => return bytes.copy_from_slice(constant),
        (Meaning::Enum(item), _) => member(&registry.enums[*item], random),
        (Meaning::Bitmask(mask), _) => random.number() & registry.bitmasks[*mask].known() & random.field(&[]),
        (Meaning::Bool, _) => random.number() & 1,
    };
    let little = number.to_le_bytes();
    for (at, byte) in little.iter().enumerate().take(bytes.len()) {
        let place = if layout.byte_order == ByteOrder::Little { at } else { bytes.len() - 1 - at };
        bytes[place] = *byte;
    }
    // Reserved fields may be longer than a number.
    if bytes.len() > little.len() {
        bytes.fill(0);
    }
}

fn member(item: &Enum, random: &mut Random) -> u64 {
    let of = random.below(item.values.len() + item.ranges.len());
    match item.values.get(of) {
        Some(value) => value.value,
        None => {
            let range = &item.ranges[of - item.values.len()];
            let width = range.to - range.from;
            let edge = [0, width, random.number() % width.saturating_add(1).max(1)];
            range.from + *random.pick(&edge)
        }
    }
}

/// Changes a field that has to do with the fault.
fn mend(
    registry: &Registry,
    layout: &Layout,
    fault: &codec::Fault,
    random: &mut Random,
    bytes: &mut [u8],
) -> bool {
    let broken = layout.rules.iter().find(|rule| Some(&rule.id) == fault.rule.as_ref());
    let field = match broken.filter(|_| fault.layout == layout.name) {
        Some(rule) => {
            let fields = rule::fields(&rule.condition());
            if fields.is_empty() {
                return false;
            }
            layout.fields.get(random.pick(&fields).index)
        }
        None => layout.fields.iter().find(|field| field.range().contains(&fault.offset)),
    };
    let Some(field) = field else { return false };
    let hints = broken.map(literals).unwrap_or_default();
    set(registry, layout, field, random, &hints, &mut bytes[field.range()]);
    true
}

/// The numbers that stand in a rule.
pub(crate) fn literals(rule: &Rule) -> Vec<u64> {
    let mut list = Vec::new();
    in_truth(&rule.condition(), &mut list);
    list
}

fn in_truth(truth: &Truth, list: &mut Vec<u64>) {
    match truth {
        Truth::Compare(_, left, right) => {
            in_int(left, list);
            in_int(right, list);
        }
        Truth::In(int, _) => in_int(int, list),
        Truth::Not(inner) => in_truth(inner, list),
        Truth::Same(left, right) | Truth::Differ(left, right) => {
            in_truth(left, list);
            in_truth(right, list);
        }
        Truth::And(parts) | Truth::Or(parts) => parts.iter().for_each(|part| in_truth(part, list)),
        Truth::Flag(..) | Truth::NamedFlag(..) | Truth::Bool(_) | Truth::Present(_) => {}
    }
}

fn in_int(int: &Int, list: &mut Vec<u64>) {
    match int {
        Int::Literal(number) => list.push(*number as u64),
        Int::Field(_) | Int::Named(..) => {}
        Int::Neg(inner) => in_int(inner, list),
        Int::Binary(_, left, right) => {
            in_int(left, list);
            in_int(right, list);
        }
    }
}
