//! Bytes to try, and what they hold, straight from the model: a third opinion beside Rust and C.

use nnrp_gen::model::{ByteOrder, Element, Field, Layout, Meaning, Registry, Scalar};

use nnrp_tests::random::Random;

/// Numbers at which things change.
const EDGES: &[u64] =
    &[0, 1, 2, 3, 4, 5, 7, 8, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 1 << 31, u32::MAX as u64, 1 << 63];

/// Bytes with something changed, perhaps in length.
pub fn mutate(layout: &Layout, bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(3) {
        let Some(at) = (!bytes.is_empty()).then(|| random.below(bytes.len())) else { return };
        match random.below(16) {
            0..=3 => bytes[at] ^= 1 << random.below(8),
            4..=5 => bytes[at] = random.number() as u8,
            6..=13 => {
                let field = &layout.fields[random.below(layout.fields.len())];
                let step = match field.element {
                    Element::Scalar(scalar) => scalar.size(),
                    Element::Layout(_) => 1,
                };
                let number = if random.below(3) == 0 { 0 } else { EDGES[random.below(EDGES.len())] };
                if let Some(place) = bytes.get_mut(field.range()) {
                    let part = random.below(place.len() / step as usize) * step as usize;
                    put(&mut place[part..part + step as usize], number, layout.byte_order);
                }
            }
            14 if random.below(4) == 0 => bytes.truncate(at),
            15 if random.below(4) == 0 => bytes.resize(bytes.len() + 1 + random.below(9), at as u8),
            _ => bytes.iter_mut().for_each(|byte| *byte = random.number() as u8),
        }
    }
}

/// Writes a number.
pub fn put(place: &mut [u8], number: u64, order: ByteOrder) {
    let size = place.len();
    for (at, byte) in place.iter_mut().enumerate() {
        let shift = if order == ByteOrder::Little { at } else { size - 1 - at };
        *byte = (number >> (shift * 8)) as u8;
    }
}

/// The native values in bytes of the right length, as 64-bit numbers: what has a sign keeps it, floats are their
/// bits, and what does not fit a narrower enum, bitmask or bool is cut off.
pub fn values(registry: &Registry, layout: &Layout, bytes: &[u8], out: &mut Vec<u64>) {
    for field in layout.values() {
        let place = &bytes[field.range()];
        match field.element {
            Element::Layout(inner) => {
                let inner = &registry.layouts[inner];
                place.chunks(inner.size as usize).for_each(|part| values(registry, inner, part, out));
            }
            Element::Scalar(scalar) => place
                .chunks(scalar.size() as usize)
                .for_each(|part| out.push(value(registry, layout, field, scalar, part))),
        }
    }
}

fn value(registry: &Registry, layout: &Layout, field: &Field, scalar: Scalar, part: &[u8]) -> u64 {
    let fold = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
    let raw = match layout.byte_order {
        ByteOrder::Little => part.iter().rev().fold(0, fold),
        ByteOrder::Big => part.iter().fold(0, fold),
    };
    let native = match field.meaning {
        Meaning::Enum(position) => registry.enums[position].ty,
        Meaning::Bitmask(position) => registry.bitmasks[position].ty,
        Meaning::Bool => return raw & 1,
        _ => scalar,
    };
    match native {
        Scalar::I8 => raw as i8 as u64,
        Scalar::I16 => raw as i16 as u64,
        Scalar::I32 => raw as i32 as u64,
        Scalar::U8 => raw & 0xff,
        Scalar::U16 => raw & 0xffff,
        Scalar::U32 => raw & 0xffff_ffff,
        Scalar::U64 | Scalar::I64 | Scalar::F32 | Scalar::F64 => raw,
    }
}

/// The bytes of native values, good or not.
pub fn bytes(registry: &Registry, layout: &Layout, values: &mut impl Iterator<Item = u64>) -> Vec<u8> {
    let mut out = vec![0; layout.size as usize];
    for field in &layout.fields {
        let place = &mut out[field.range()];
        match (&field.meaning, field.element) {
            (Meaning::Reserved, _) => {}
            (Meaning::Constant(constant), _) => place.copy_from_slice(constant),
            (_, Element::Layout(inner)) => {
                let inner = &registry.layouts[inner];
                for part in place.chunks_mut(inner.size as usize) {
                    part.copy_from_slice(&bytes(registry, inner, values));
                }
            }
            (_, Element::Scalar(scalar)) => {
                for part in place.chunks_mut(scalar.size() as usize) {
                    put(part, values.next().unwrap_or(0), layout.byte_order);
                }
            }
        }
    }
    out
}
