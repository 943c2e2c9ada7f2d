//! Lists that run through the operations themselves.
//!
//! In each, those that were not asked to end stand before those that were. So asking all of a list stops at the
//! first one that was asked, and asking again costs nothing.

use super::node::{Links, Node, Operation};
use crate::state::slab::{NIL, Slab};

/// First and last of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends {
    pub(super) first: u32,
    pub(super) last: u32,
}

impl Ends {
    pub(super) const EMPTY: Self = Self { first: NIL, last: NIL };
}

/// Which list an operation's links are of.
#[derive(Clone, Copy, Debug)]
pub(super) enum List {
    Session,
    Group,
}

impl List {
    fn links<T>(self, operation: &mut Operation<T>) -> &mut Links {
        match self {
            List::Session => &mut operation.in_session,
            List::Group => &mut operation.in_group,
        }
    }

    pub(super) fn next<T>(self, slots: &Slab<Node<T>>, slot: u32) -> u32 {
        let operation = slots.get(slot).and_then(|node| node.live.as_ref());
        operation.map_or(NIL, |operation| match self {
            List::Session => operation.in_session.next,
            List::Group => operation.in_group.next,
        })
    }

    fn edit<T>(self, slots: &mut Slab<Node<T>>, slot: u32, change: impl FnOnce(&mut Links)) {
        slots.edit(slot, |node| {
            if let Some(operation) = &mut node.live {
                change(self.links(operation));
            }
        });
    }

    pub(super) fn push_front<T>(self, slots: &mut Slab<Node<T>>, ends: &mut Ends, slot: u32) {
        self.edit(slots, slot, |links| *links = Links { prev: NIL, next: ends.first });
        self.edit(slots, ends.first, |links| links.prev = slot);
        ends.first = slot;
        if ends.last == NIL {
            ends.last = slot;
        }
    }

    pub(super) fn push_back<T>(self, slots: &mut Slab<Node<T>>, ends: &mut Ends, slot: u32) {
        self.edit(slots, slot, |links| *links = Links { prev: ends.last, next: NIL });
        self.edit(slots, ends.last, |links| links.next = slot);
        ends.last = slot;
        if ends.first == NIL {
            ends.first = slot;
        }
    }

    pub(super) fn unlink<T>(self, slots: &mut Slab<Node<T>>, ends: &mut Ends, slot: u32) {
        let mut links = Links::NONE;
        self.edit(slots, slot, |own| links = core::mem::replace(own, Links::NONE));
        if ends.first == slot {
            ends.first = links.next;
        }
        if ends.last == slot {
            ends.last = links.prev;
        }
        self.edit(slots, links.prev, |before| before.next = links.next);
        self.edit(slots, links.next, |after| after.prev = links.prev);
    }
}
