//! Which operation time ends first: a heap of slots, each of which knows its place in it.
//!
//! Twelve bytes an operation at most, where an ordered set of times would take three times that.

use alloc::vec::Vec;

use super::node::Node;
use crate::state::Time;
use crate::state::slab::{NIL, Slab};

#[derive(Debug, Default)]
pub(super) struct Timers(Vec<u32>);

fn time<T>(slots: &Slab<Node<T>>, slot: u32) -> Time {
    let operation = slots.get(slot).and_then(|node| node.live.as_ref());
    operation.and_then(|operation| operation.ends_at()).unwrap_or(Time(u64::MAX))
}

impl Timers {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    pub(super) fn first(&self) -> Option<u32> {
        self.0.first().copied()
    }

    pub(super) fn next<T>(&self, slots: &Slab<Node<T>>) -> Option<Time> {
        self.first().map(|slot| time(slots, slot))
    }

    /// Starts the clock of an operation that is not in the heap, if it has one.
    pub(super) fn insert<T>(&mut self, slots: &mut Slab<Node<T>>, slot: u32) {
        let operation = slots.get(slot).and_then(|node| node.live.as_ref());
        if operation.is_some_and(|operation| operation.timer == NIL && operation.ends_at().is_some()) {
            self.0.push(slot);
            self.rise(slots, self.0.len() - 1);
        }
    }

    /// Stops it. To be called before its time or state changes, since the heap is ordered by them.
    pub(super) fn remove<T>(&mut self, slots: &mut Slab<Node<T>>, slot: u32) {
        let Some(operation) = slots.get_mut(slot).and_then(|node| node.live.as_mut()) else { return };
        let place = core::mem::replace(&mut operation.timer, NIL);
        if place == NIL || place as usize >= self.0.len() {
            return;
        }
        self.0.swap_remove(place as usize);
        if (place as usize) < self.0.len() {
            let place = self.rise(slots, place as usize);
            self.sink(slots, place);
        }
        if self.0.len() < self.0.capacity() / 4 {
            self.0.shrink_to(self.0.len() * 2);
        }
    }

    fn put<T>(&mut self, slots: &mut Slab<Node<T>>, place: usize, slot: u32) {
        if let Some(entry) = self.0.get_mut(place) {
            *entry = slot;
        }
        slots.edit(slot, |node| {
            if let Some(operation) = &mut node.live {
                operation.timer = place as u32;
            }
        });
    }

    fn rise<T>(&mut self, slots: &mut Slab<Node<T>>, mut place: usize) -> usize {
        let Some(&slot) = self.0.get(place) else { return place };
        let at = time(slots, slot);
        while place > 0 {
            let above = (place - 1) / 2;
            match self.0.get(above) {
                Some(&other) if time(slots, other) > at => self.put(slots, place, other),
                _ => break,
            }
            place = above;
        }
        self.put(slots, place, slot);
        place
    }

    fn sink<T>(&mut self, slots: &mut Slab<Node<T>>, mut place: usize) {
        let Some(&slot) = self.0.get(place) else { return };
        let at = time(slots, slot);
        loop {
            let below = place * 2 + 1;
            let least =
                [below, below + 1].into_iter().filter_map(|n| Some((time(slots, *self.0.get(n)?), n))).min();
            match least {
                Some((other, n)) if other < at => {
                    if let Some(&slot) = self.0.get(n) {
                        self.put(slots, place, slot);
                    }
                    place = n;
                }
                _ => break,
            }
        }
        self.put(slots, place, slot);
    }

    #[cfg(test)]
    pub(super) fn check<T>(&self, slots: &Slab<Node<T>>) {
        for (place, &slot) in self.0.iter().enumerate() {
            let operation = slots.get(slot).and_then(|node| node.live.as_ref()).expect("a live operation");
            assert_eq!(operation.timer as usize, place);
            assert!(operation.ends_at().is_some());
            assert!(place == 0 || time(slots, self.0[(place - 1) / 2]) <= time(slots, slot));
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}
