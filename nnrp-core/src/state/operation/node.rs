//! One operation, and its place in tree and lists. All that is told of it here is read without its payload (O12).

use core::cmp::Reverse;

use crate::state::Time;
use crate::state::slab::NIL;
use crate::{OperationState, SchedulingFlags, SessionPriorityClass};

/// Names a live operation without a search, as long as it lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    pub(super) slot: u32,
    /// Low half of the order number, so that the next user of the slot is told apart.
    pub(super) stamp: u32,
}

/// How far an operation was asked to end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mark {
    #[default]
    None,
    /// It was asked.
    Own,
    /// It and everything below it was asked, which holds for later children too.
    Subtree,
}

/// Two neighbours in a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Links {
    pub(super) prev: u32,
    pub(super) next: u32,
}

impl Links {
    pub(super) const NONE: Self = Self { prev: NIL, next: NIL };
}

/// A place in the tree. It outlives its operation for as long as two or more children hang below it, so that a
/// subtree stays one when somebody in its middle ends.
#[derive(Debug)]
pub(super) struct Node<T> {
    pub(super) parent: u32,
    pub(super) child: u32,
    pub(super) siblings: Links,
    pub(super) mark: Mark,
    pub(super) live: Option<Operation<T>>,
}

/// A time that ends an operation, and what happens then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limit {
    /// `u64::MAX` is never.
    pub(super) at: Time,
    pub(super) flags: SchedulingFlags,
}

impl Limit {
    pub(super) const NEVER: Self = Self { at: Time(u64::MAX), flags: SchedulingFlags::empty() };

    pub(super) fn is_set(self) -> bool {
        self.at != Self::NEVER.at
    }

    pub(super) fn passed(self, now: Time) -> bool {
        self.is_set() && self.at <= now
    }
}

/// How soon an operation is to be served; the least is the first. By class, then by level, then by what is due
/// first, then in the order of submits (O8, O13).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Urgency {
    class: u16,
    level: Reverse<i16>,
    due: Time,
    order: u64,
}

/// A live operation.
///
/// ```
/// use nnrp_core::state::{Time, operation::{Limits, Operations, Submit}};
///
/// let mut operations: Operations = Operations::new(Limits::default());
/// for (operation, class) in [(1, 2), (2, 0), (3, 0)] {
///     let submit = Submit { operation, class, frame: operation as u32, group: 9, ..Submit::default() };
///     let plan = operations.check_submit(&submit, Time(0))?;
///     operations.apply_submit(plan, ());
/// }
/// let next = operations.iter().min_by_key(|operation| operation.urgency()).unwrap();
/// assert_eq!((next.id(), next.frame(), next.group(), next.is_background()), (2, 2, 9, false));
/// # Ok::<(), nnrp_core::state::Refusal>(())
/// ```
#[derive(Debug)]
pub struct Operation<T = ()> {
    pub(super) id: u64,
    pub(super) parent: u64,
    pub(super) group: u64,
    pub(super) order: u64,
    pub(super) admitted: Time,
    pub(super) progress: u64,
    pub(super) result: u64,
    pub(super) due_at: Time,
    pub(super) expires_at: Time,
    pub(super) frame: u32,
    pub(super) waited: u32,
    /// Place in the heap of timers, or `NIL`.
    pub(super) timer: u32,
    pub(super) in_session: Links,
    pub(super) in_group: Links,
    pub(super) class: u16,
    pub(super) level: i16,
    pub(super) state: OperationState,
    pub(super) bits: Bits,
    pub(super) data: T,
}

bitflags::bitflags! {
    /// Small facts, packed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) struct Bits: u8 {
        const PROGRESS = 1;
        const RESULT = 2;
        const DUE_DISCARD = 4;
        const DUE_EMIT = 8;
        const EXPIRY_DISCARD = 16;
        const EXPIRY_EMIT = 32;
        const ASKED = 64;
        const STARTED = 128;
    }
}

fn flags(bits: Bits, discard: Bits, emit: Bits) -> SchedulingFlags {
    let mut flags = SchedulingFlags::empty();
    flags.set(SchedulingFlags::DISCARD_STALE_WORK, bits.contains(discard));
    flags.set(SchedulingFlags::EMIT_DROP_REASON, bits.contains(emit));
    flags
}

impl<T> Operation<T> {
    /// Its id, unique in the session while it lives.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The frame that it is paired with for life.
    pub fn frame(&self) -> u32 {
        self.frame
    }

    /// The operation that it was submitted below, 0 for a root. That one may have ended since.
    pub fn parent(&self) -> u64 {
        self.parent
    }

    /// Its group, 0 for none.
    pub fn group(&self) -> u64 {
        self.group
    }

    /// Its place in the order of submits of the session, from 1.
    pub fn order(&self) -> u64 {
        self.order
    }

    /// Where it is in its life. Never a terminal state.
    pub fn state(&self) -> OperationState {
        self.state
    }

    /// Its class: 0, 1 and 2 are those of a session, higher numbers rank below them.
    pub fn class(&self) -> u16 {
        self.class
    }

    /// Its urgency within the class; more is sooner.
    pub fn level(&self) -> i16 {
        self.level
    }

    /// How soon it is to be served, compared with others of its session: a server that picks work takes the least.
    pub fn urgency(&self) -> Urgency {
        let due = self.due_at.min(self.expires_at);
        Urgency { class: self.class, level: Reverse(self.level), due, order: self.order }
    }

    /// Whether flow control counts it as background or lower.
    pub fn is_background(&self) -> bool {
        self.class >= SessionPriorityClass::Background.raw() as u16
    }

    /// Whether somebody asked it to end, cooperatively.
    pub fn is_asked_to_end(&self) -> bool {
        self.bits.contains(Bits::ASKED)
    }

    /// When it was admitted.
    pub fn admitted(&self) -> Time {
        self.admitted
    }

    /// How long it waited before it ran, once it did.
    pub fn queue_ms(&self) -> Option<u32> {
        self.bits.contains(Bits::STARTED).then_some(self.waited)
    }

    /// When its result is due.
    pub fn due(&self) -> Option<Time> {
        Some(self.due_limit()).filter(|limit| limit.is_set()).map(|limit| limit.at)
    }

    /// When its result is worthless.
    pub fn expires(&self) -> Option<Time> {
        Some(self.expiry_limit()).filter(|limit| limit.is_set()).map(|limit| limit.at)
    }

    /// Whether its time is over, so that its next event ends it.
    pub fn is_stale(&self, now: Time) -> bool {
        self.passed(now).is_some()
    }

    /// Sequence of the last PROGRESS.
    pub fn progress_sequence(&self) -> Option<u64> {
        self.bits.contains(Bits::PROGRESS).then_some(self.progress)
    }

    /// Sequence of the last PARTIAL_RESULT.
    pub fn result_sequence(&self) -> Option<u64> {
        self.bits.contains(Bits::RESULT).then_some(self.result)
    }

    /// What the caller keeps with it.
    pub fn data(&self) -> &T {
        &self.data
    }

    pub(super) fn key(&self, slot: u32) -> Key {
        Key { slot, stamp: self.order as u32 }
    }

    pub(super) fn due_limit(&self) -> Limit {
        Limit { at: self.due_at, flags: flags(self.bits, Bits::DUE_DISCARD, Bits::DUE_EMIT) }
    }

    pub(super) fn expiry_limit(&self) -> Limit {
        Limit { at: self.expires_at, flags: flags(self.bits, Bits::EXPIRY_DISCARD, Bits::EXPIRY_EMIT) }
    }

    pub(super) fn set_due(&mut self, limit: Limit) {
        self.due_at = limit.at;
        self.bits.set(Bits::DUE_DISCARD, limit.flags.contains(SchedulingFlags::DISCARD_STALE_WORK));
        self.bits.set(Bits::DUE_EMIT, limit.flags.contains(SchedulingFlags::EMIT_DROP_REASON));
    }

    pub(super) fn set_expiry(&mut self, limit: Limit) {
        self.expires_at = limit.at;
        self.bits.set(Bits::EXPIRY_DISCARD, limit.flags.contains(SchedulingFlags::DISCARD_STALE_WORK));
        self.bits.set(Bits::EXPIRY_EMIT, limit.flags.contains(SchedulingFlags::EMIT_DROP_REASON));
    }

    /// The flags of whichever times are over.
    pub(super) fn passed(&self, now: Time) -> Option<SchedulingFlags> {
        let passed = |limit: Limit| limit.passed(now).then_some(limit.flags);
        match (passed(self.due_limit()), passed(self.expiry_limit())) {
            (Some(due), Some(expiry)) => Some(due | expiry),
            (due, expiry) => due.or(expiry),
        }
    }

    /// When time alone ends it. Queued work waits for its next event, unless it was asked to be discarded.
    pub(super) fn ends_at(&self) -> Option<Time> {
        let queued = self.state == OperationState::Accepted;
        let counts = |limit: Limit| {
            let at_once = !queued || limit.flags.contains(SchedulingFlags::DISCARD_STALE_WORK);
            (limit.is_set() && at_once).then_some(limit.at)
        };
        match (counts(self.due_limit()), counts(self.expiry_limit())) {
            (Some(due), Some(expiry)) => Some(due.min(expiry)),
            (due, expiry) => due.or(expiry),
        }
    }
}
