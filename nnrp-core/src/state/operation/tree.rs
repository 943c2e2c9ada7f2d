//! The tree of operations.
//!
//! When one with children ends, they stay below those above it: its place in the tree remains, empty, until at
//! most one child is left, which then takes that place. So ending costs the same whatever hangs below, and there
//! are always fewer empty places than live operations.

use super::node::{Links, Node};
use crate::state::slab::{NIL, Slab};

pub(super) fn link<T>(slots: &mut Slab<Node<T>>, parent: u32, child: u32) {
    let Some(node) = slots.get_mut(parent) else { return };
    let next = core::mem::replace(&mut node.child, child);
    slots.edit(next, |node| node.siblings.prev = child);
    slots.edit(child, |node| {
        node.parent = parent;
        node.siblings = Links { prev: NIL, next };
    });
}

/// Takes a place that has no children out of the tree.
fn detach<T>(slots: &mut Slab<Node<T>>, slot: u32) {
    let Some(node) = slots.get_mut(slot) else { return };
    let parent = core::mem::replace(&mut node.parent, NIL);
    let siblings = core::mem::replace(&mut node.siblings, Links::NONE);
    replace(slots, parent, siblings, siblings.next, siblings.prev);
}

/// Lets the neighbours of a place see another one: `after` from before it and above it, `before` from after it.
fn replace<T>(slots: &mut Slab<Node<T>>, parent: u32, siblings: Links, after: u32, before: u32) {
    if siblings.prev == NIL {
        slots.edit(parent, |node| node.child = after);
    } else {
        slots.edit(siblings.prev, |node| node.siblings.next = after);
    }
    slots.edit(siblings.next, |node| node.siblings.prev = before);
}

/// Lets go of a place whose operation has ended, or empties it. Answers with the nearest place above it that is
/// still there.
pub(super) fn retire<T>(slots: &mut Slab<Node<T>>, slot: u32) -> u32 {
    let mut slot = slot;
    loop {
        let Some(node) = slots.get(slot) else { return NIL };
        if node.live.is_some() {
            return slot;
        }
        let (parent, child, siblings) = (node.parent, node.child, node.siblings);
        if child == NIL {
            detach(slots, slot);
            slots.remove(slot);
            // The one above may have been kept for this child's sake.
            slot = parent;
            continue;
        }
        if slots.get(child).is_some_and(|node| node.siblings.next == NIL) {
            slots.edit(child, |node| {
                node.parent = parent;
                node.siblings = siblings;
            });
            replace(slots, parent, siblings, child, child);
            slots.remove(slot);
            return parent;
        }
        return slot;
    }
}

/// The place to visit after this one, from parents to children, within the subtree of `root`. With `skip`, what
/// is below this one is left out.
pub(super) fn following<T>(slots: &Slab<Node<T>>, root: u32, slot: u32, skip: bool) -> Option<u32> {
    let node = slots.get(slot)?;
    if !skip && node.child != NIL {
        return Some(node.child);
    }
    let (mut slot, mut node) = (slot, node);
    while slot != root {
        if node.siblings.next != NIL {
            return Some(node.siblings.next);
        }
        slot = node.parent;
        node = slots.get(slot)?;
    }
    None
}

/// The first place below this one without children.
pub(super) fn deepest<T>(slots: &Slab<Node<T>>, mut slot: u32) -> u32 {
    while let Some(child) = slots.get(slot).map(|node| node.child).filter(|&child| child != NIL) {
        slot = child;
    }
    slot
}
