//! Slots that keep their number, in chunks.
//!
//! One growing vector would have to be as large as twice its content now and then, and to move all of it in the
//! call that fills it. Chunks move nothing but themselves, and an empty one gives its memory back.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::mem;

/// No slot.
pub(crate) const NIL: u32 = u32::MAX;

/// Entries in a chunk.
const CHUNK: usize = 64;
/// Entries that the first chunk starts with, since most sessions run few operations at a time.
const SMALL: usize = 4;
/// No entry of a chunk.
const NONE: u8 = u8::MAX;

#[derive(Clone, Debug)]
enum Entry<V> {
    /// Free, with the next free one of its chunk.
    Free(u8),
    Used(V),
}

#[derive(Clone, Debug)]
struct Chunk<V> {
    entries: Vec<Entry<V>>,
    /// First free entry.
    free: u8,
    used: u8,
}

#[derive(Clone, Debug)]
pub(crate) struct Slab<V> {
    chunks: Vec<Chunk<V>>,
    /// Chunks that can take one more. The lowest is filled first, so that the last ones empty.
    room: BTreeSet<u32>,
    /// The one empty chunk that keeps its memory, so that a border is not allocated over and over.
    spare: Option<u32>,
    len: usize,
}

impl<V> Slab<V> {
    pub(crate) const fn new() -> Self {
        Self { chunks: Vec::new(), room: BTreeSet::new(), spare: None, len: 0 }
    }

    /// Slots in use.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn get(&self, slot: u32) -> Option<&V> {
        match self.chunks.get(slot as usize / CHUNK)?.entries.get(slot as usize % CHUNK)? {
            Entry::Used(value) => Some(value),
            Entry::Free(_) => None,
        }
    }

    pub(crate) fn get_mut(&mut self, slot: u32) -> Option<&mut V> {
        match self.chunks.get_mut(slot as usize / CHUNK)?.entries.get_mut(slot as usize % CHUNK)? {
            Entry::Used(value) => Some(value),
            Entry::Free(_) => None,
        }
    }

    /// Changes a slot, if there is one of that number.
    pub(crate) fn edit(&mut self, slot: u32, change: impl FnOnce(&mut V)) {
        if let Some(value) = self.get_mut(slot) {
            change(value);
        }
    }

    pub(crate) fn insert(&mut self, value: V) -> u32 {
        let number = match self.room.first() {
            Some(&number) => number,
            None => {
                let number = self.chunks.len() as u32;
                self.chunks.push(Chunk { entries: Vec::new(), free: NONE, used: 0 });
                self.room.insert(number);
                number
            }
        };
        if self.spare == Some(number) {
            self.spare = None;
        }
        let Some(chunk) = self.chunks.get_mut(number as usize) else { return NIL };
        let place = match chunk.entries.get_mut(chunk.free as usize) {
            Some(entry) => {
                let place = chunk.free;
                chunk.free = match mem::replace(entry, Entry::Used(value)) {
                    Entry::Free(next) => next,
                    Entry::Used(_) => NONE,
                };
                place
            }
            None => {
                let len = chunk.entries.len();
                if len == chunk.entries.capacity() {
                    chunk.entries.reserve_exact(if number == 0 {
                        len.max(SMALL).min(CHUNK - len)
                    } else {
                        CHUNK
                    });
                }
                chunk.entries.push(Entry::Used(value));
                len as u8
            }
        };
        chunk.used += 1;
        self.len += 1;
        if chunk.used as usize == CHUNK {
            self.room.remove(&number);
        }
        number * CHUNK as u32 + place as u32
    }

    pub(crate) fn remove(&mut self, slot: u32) -> Option<V> {
        let number = slot / CHUNK as u32;
        let place = slot % CHUNK as u32;
        let chunk = self.chunks.get_mut(number as usize)?;
        let entry = chunk.entries.get_mut(place as usize)?;
        let value = match mem::replace(entry, Entry::Free(chunk.free)) {
            Entry::Used(value) => value,
            free => {
                *entry = free;
                return None;
            }
        };
        chunk.free = place as u8;
        if chunk.used as usize == CHUNK {
            self.room.insert(number);
        }
        chunk.used -= 1;
        self.len -= 1;
        if chunk.used == 0 {
            self.emptied(number);
        }
        Some(value)
    }

    fn emptied(&mut self, number: u32) {
        if self.len == 0
            && (self.chunks.len() > 1 || self.chunks.iter().any(|c| c.entries.capacity() > SMALL))
        {
            *self = Self::new();
            return;
        }
        if self.spare.is_none() {
            self.spare = Some(number);
            return;
        }
        if let Some(chunk) = self.chunks.get_mut(number as usize) {
            chunk.entries = Vec::new();
            chunk.free = NONE;
        }
        while self.chunks.last().is_some_and(|chunk| chunk.entries.capacity() == 0) {
            self.chunks.pop();
            self.room.remove(&(self.chunks.len() as u32));
        }
        if self.chunks.len() < self.chunks.capacity() / 4 {
            self.chunks.shrink_to(self.chunks.len() * 2);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_keep_their_number_and_memory_comes_back() {
        let mut slab = Slab::new();
        let slots: Vec<u32> = (0..1000u32).map(|n| slab.insert(n)).collect();
        for (n, &slot) in slots.iter().enumerate() {
            assert_eq!(slab.get(slot), Some(&(n as u32)));
        }
        for &slot in &slots[100..] {
            assert!(slab.remove(slot).is_some());
            assert_eq!(slab.remove(slot), None);
            assert_eq!(slab.get(slot), None);
        }
        assert_eq!(slab.len(), 100);
        let held: usize = slab.chunks.iter().map(|chunk| chunk.entries.capacity()).sum();
        assert!(held <= 100 + 2 * CHUNK, "{held}");
        for (n, &slot) in slots[..100].iter().enumerate() {
            assert_eq!(slab.remove(slot), Some(n as u32));
        }
        assert_eq!(slab.chunks.capacity(), 0);
        assert_eq!(slab.get(NIL), None);
    }

    #[test]
    fn one_at_a_time_allocates_once() {
        let mut slab = Slab::new();
        for n in 0..100u32 {
            let slot = slab.insert(n);
            assert_eq!(slot, 0);
            slab.remove(slot);
            assert_eq!(slab.chunks[0].entries.capacity(), SMALL);
        }
    }

    #[test]
    fn slots_match_a_map() {
        let mut slab = Slab::new();
        let mut model = std::collections::BTreeMap::new();
        let mut random = crate::state::random::Random::new(3);
        for step in 0..20_000u32 {
            let grow = (step / 2000) % 2 == 0;
            if random.below(10) < if grow { 7 } else { 3 } {
                let slot = slab.insert(step);
                assert_eq!(model.insert(slot, step), None);
            } else if let Some(&slot) = model.keys().nth(random.below(model.len().max(1) as u64) as usize) {
                assert_eq!(slab.remove(slot), model.remove(&slot));
            }
            assert_eq!(slab.len(), model.len());
        }
        for (slot, value) in model {
            assert_eq!(slab.get(slot), Some(&value));
        }
    }
}
