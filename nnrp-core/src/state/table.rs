//! What sessions have, by their ids.

use alloc::collections::BTreeMap;
use core::fmt;

use super::slab::{NIL, Slab};

/// A map from session ids that knows which session was looked for last, since what is asked about one session is
/// followed by more about the same.
///
/// Ids are the peer's choice, so they are looked up in an ordered map: no id is worse than another.
#[derive(Clone)]
pub(crate) struct Table<V> {
    slots: BTreeMap<u32, u32>,
    values: Slab<(u32, V)>,
    /// Where the last one is. A slot says whose it is, so that nothing breaks where this is out of date.
    near: u32,
}

impl<V> Table<V> {
    pub(crate) const fn new() -> Self {
        Self { slots: BTreeMap::new(), values: Slab::new(), near: NIL }
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Says that a session will be looked for a few times.
    #[inline]
    pub(crate) fn approach(&mut self, id: u32) {
        self.near = self.slot(id);
    }

    pub(crate) fn contains_key(&self, id: &u32) -> bool {
        self.get(id).is_some()
    }

    #[inline]
    pub(crate) fn get(&self, id: &u32) -> Option<&V> {
        match self.values.get(self.near) {
            Some((found, value)) if found == id => Some(value),
            _ => self.values.get(*self.slots.get(id)?).map(|(_, value)| value),
        }
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: &u32) -> Option<&mut V> {
        let slot = self.slot(*id);
        self.values.get_mut(slot).map(|(_, value)| value)
    }

    /// Puts a value in, and gives the one that was there.
    pub(crate) fn insert(&mut self, id: u32, value: V) -> Option<V> {
        let old = self.remove(&id);
        let slot = self.values.insert((id, value));
        self.slots.insert(id, slot);
        old
    }

    pub(crate) fn remove(&mut self, id: &u32) -> Option<V> {
        let slot = self.slots.remove(id)?;
        self.values.remove(slot).map(|(_, value)| value)
    }

    /// Takes the value of the lowest id out.
    pub(crate) fn pop_first(&mut self) -> Option<V> {
        let (_, slot) = self.slots.pop_first()?;
        self.values.remove(slot).map(|(_, value)| value)
    }

    /// The ids, ascending.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &u32> {
        self.slots.keys()
    }

    /// The values by ascending id.
    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.slots.values().filter_map(|slot| self.values.get(*slot)).map(|(_, value)| value)
    }

    #[inline]
    fn slot(&self, id: u32) -> u32 {
        match self.values.get(self.near) {
            Some((found, _)) if *found == id => self.near,
            _ => self.slots.get(&id).copied().unwrap_or(NIL),
        }
    }
}

impl<V: fmt::Debug> fmt::Debug for Table<V> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_map().entries(self.keys().zip(self.values())).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::random::Random;

    /// Whatever is put in, taken out and approached, it holds what a plain map holds.
    #[test]
    fn a_table_is_a_map() {
        let mut random = Random::new(7);
        let (mut table, mut model) = (Table::new(), BTreeMap::new());
        for step in 0..20_000_u32 {
            let id = random.below(40) as u32;
            match random.below(6) {
                0 | 1 => assert_eq!(table.insert(id, step), model.insert(id, step)),
                2 => assert_eq!(table.remove(&id), model.remove(&id)),
                3 => table.approach(id),
                4 => assert_eq!(table.get_mut(&id), model.get_mut(&id)),
                _ => {
                    assert!(table.keys().eq(model.keys()) && table.values().eq(model.values()));
                }
            }
            let other = random.below(40) as u32;
            assert_eq!(table.get(&other), model.get(&other));
            assert_eq!(table.contains_key(&id), model.contains_key(&id));
            assert_eq!((table.len(), table.is_empty()), (model.len(), model.is_empty()));
        }
        while let Some(value) = table.pop_first() {
            assert_eq!(Some(value), model.pop_first().map(|(_, value)| value));
        }
        assert!(model.is_empty());
        assert!(table.is_empty() && table.get(&0).is_none());
    }
}
