//! What is the same in all good bytes of a layout, folded into few words: reserved fields, unlisted bits, constants,
//! the high bits of small enums and of bools.

use crate::model::{ByteOrder, Layout, Meaning, Registry, Scalar};

/// Bits of a word that are the same in all good bytes.
pub(super) struct Word {
    /// First byte of the word.
    pub(super) start: u32,
    /// Bytes of the word: 8, 4, 2 or 1.
    pub(super) bytes: u32,
    /// The bits, where the word is read with its lowest byte first.
    pub(super) mask: u64,
    /// What they are.
    pub(super) value: u64,
}

/// The words in which something is fixed.
pub(super) fn fixed(registry: &Registry, layout: &Layout) -> Vec<Word> {
    words(&fixed_bits(registry, layout), &constants(layout))
}

/// The words that cover a mask over all bytes, with what stands under it.
pub(super) fn words(mask: &[u8], value: &[u8]) -> Vec<Word> {
    let size = mask.len();
    let mut words = Vec::new();
    let mut done = 0;
    while done < size {
        // Whole words; at the end one that overlaps the last, or what fits a shorter layout.
        let (start, bytes) = match size - done {
            8.. => (done, 8),
            _ if size >= 8 => (size - 8, 8),
            4.. => (done, 4),
            2.. => (done, 2),
            _ => (done, 1),
        };
        // What an earlier word covered is not tested again.
        let fresh = little((start..start + bytes).map(|at| if at < done { 0 } else { mask[at] }));
        if fresh != 0 {
            let value = little(value[start..start + bytes].iter().copied()) & fresh;
            words.push(Word { start: start as u32, bytes: bytes as u32, mask: fresh, value });
        }
        done = start + bytes;
    }
    words
}

/// The bytes of the layout with all constants in place and the rest zero.
pub(super) fn constants(layout: &Layout) -> Vec<u8> {
    let mut bytes = vec![0; layout.size as usize];
    for field in &layout.fields {
        if let Meaning::Constant(constant) = &field.meaning {
            for (place, byte) in bytes[field.range()].iter_mut().zip(constant) {
                *place = *byte;
            }
        }
    }
    bytes
}

/// The bits that values in these spans may use, and whether every such number is one.
pub(super) fn masked_by(spans: &[(u64, u64)], ty: Scalar) -> (u64, bool) {
    let highest = spans.last().map_or(0, |span| span.1);
    let bits = u64::MAX.checked_shr(highest.leading_zeros()).unwrap_or(0);
    let bits = bits & ty.limits().1 as u64;
    (bits, spans == [(0, bits)])
}

/// The bytes of a number as they stand in a field of a layout.
pub(super) fn wire_bytes(layout: &Layout, number: u64, size: u32) -> Vec<u8> {
    let mut bytes = number.to_le_bytes()[..size as usize].to_vec();
    if layout.byte_order == ByteOrder::Big {
        bytes.reverse();
    }
    bytes
}

/// The bits that are the same in all good bytes.
fn fixed_bits(registry: &Registry, layout: &Layout) -> Vec<u8> {
    let mut mask = vec![0; layout.size as usize];
    for field in &layout.fields {
        let free = match &field.meaning {
            Meaning::Reserved | Meaning::Constant(_) => {
                mask[field.range()].fill(0xff);
                continue;
            }
            Meaning::Bool => 1,
            Meaning::Bitmask(position) => {
                let item = &registry.bitmasks[*position];
                // What lies beyond the type of a foreign one can still be fixed.
                if item.is_foreign() { item.ty.limits().1 as u64 } else { item.known() }
            }
            Meaning::Enum(position) if registry.enums[*position].is_foreign() => continue,
            Meaning::Enum(position) => {
                let item = &registry.enums[*position];
                masked_by(&item.spans(), item.ty).0
            }
            Meaning::Plain => continue,
        };
        mask[field.range()].copy_from_slice(&wire_bytes(layout, !free, field.size));
    }
    mask
}

/// The number that has its lowest byte first.
fn little(bytes: impl DoubleEndedIterator<Item = u8>) -> u64 {
    bytes.rev().fold(0, |number, byte| number << 8 | u64::from(byte))
}
