//! The live operations of one session.

use alloc::collections::BTreeMap;

use super::early::Early;
use super::list::{Ends, List};
use super::node::{Bits, Key, Limit, Links, Mark, Node, Operation};
use super::outcome::{Cause, Ended};
use super::recent::{Recent, Remembered};
use super::timers::Timers;
use super::tree;
use crate::state::slab::{NIL, Slab};
use crate::state::{Refusal, Time};
use crate::{DropReasonCode, ErrorCode, OperationState, SchedulingFlags};

/// What may grow, and how far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Live operations: what the session acknowledged as `max_in_flight_operations`. At most 2³⁰.
    pub in_flight: u32,
    /// Deadlines that are kept for operations not submitted yet.
    pub early_deadlines: u32,
    /// Ended operations that are remembered, so that what arrives late for them is ignored and not refused. Each
    /// unknown name costs a search of all of them.
    pub remembered: u16,
}

impl Default for Limits {
    fn default() -> Self {
        Self { in_flight: 256, early_deadlines: 64, remembered: 256 }
    }
}

/// How a message names an operation: by id, by frame or by both. 0 leaves one of them unnamed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// The operation of the metadata.
    pub operation: u64,
    /// The frame of the header.
    pub frame: u32,
}

impl Named {
    /// By id.
    pub const fn operation(operation: u64) -> Self {
        Self { operation, frame: 0 }
    }

    /// By frame.
    pub const fn frame(frame: u32) -> Self {
        Self { operation: 0, frame }
    }

    /// By both, which must be a pair.
    pub const fn pair(operation: u64, frame: u32) -> Self {
        Self { operation, frame }
    }
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// An operation that lives.
    Live(Key),
    /// One that has ended, not long ago.
    Ended(Remembered),
}

/// A FRAME_SUBMIT, as far as it concerns the operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Submit {
    /// `operation_id`.
    pub operation: u64,
    /// The header's `frame_id`.
    pub frame: u32,
    /// `parent_operation_id` of its links, 0 for a root.
    pub parent: u64,
    /// `operation_group_id` of its links, 0 for none.
    pub group: u64,
    /// Its class; at first that of its session.
    pub class: u16,
    /// `latency_budget_ms`, 0 to leave it to the session.
    pub latency_budget_ms: u16,
    /// The session's `default_deadline_ms`, 0 for none.
    pub default_deadline_ms: u32,
}

/// What became of the parent that a submit named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parent {
    /// It named none.
    None,
    /// It is below that one.
    Live,
    /// That one has ended, so the operation is a root. To be reported.
    Ended,
    /// Nobody knows that one, so the operation is a root. To be reported.
    Unknown,
}

/// A submit that may be admitted.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct SubmitPlan {
    submit: Submit,
    parent: Parent,
    parent_slot: u32,
    asked: bool,
    due: Limit,
    now: Time,
}

impl SubmitPlan {
    /// What becomes of its parent.
    pub fn parent(&self) -> Parent {
        self.parent
    }

    /// Whether it joins a subtree that was asked to end, and so is asked itself.
    pub fn is_asked_to_end(&self) -> bool {
        self.asked
    }

    /// When its result is due, by the early DEADLINE, the latency budget or the session's default.
    pub fn due(&self) -> Option<Time> {
        self.due.is_set().then_some(self.due.at)
    }
}

/// The live operations of one session, with their tree, groups, pairs of ids and frames, states and times.
///
/// `T` is what the caller keeps with each. Both sides of a session have one of these and feed it the same
/// messages, one as it sends them and the other as it receives them.
///
/// Ids are the peer's choice, so they are looked up in ordered maps: no id is worse than another, no growing table
/// is rehashed within one call, and a map of few takes little memory. Each call takes at most logarithmic time,
/// but for those that end or ask many operations, which take time in proportion to these.
///
/// ```
/// use nnrp_core::{OperationState, StageCode};
/// use nnrp_core::state::{Time, operation::{Applied, Event, Limits, Named, Operations, Submit}};
///
/// let mut operations: Operations = Operations::new(Limits::default());
/// let now = Time(0);
/// let submit = Submit { operation: 7, frame: 1, ..Submit::default() };
/// let plan = operations.check_submit(&submit, now)?;
/// let key = operations.apply_submit(plan, ());
///
/// let event = Event::Progress { sequence: 1, stage: StageCode::EXECUTING };
/// let plan = operations.check_event(Named::pair(7, 1), event, now)?;
/// operations.apply_event(plan);
/// assert_eq!(operations.get(key).unwrap().state(), OperationState::Running);
///
/// let plan = operations.check_event(Named::frame(1), Event::Result { partial: false }, now)?;
/// let Applied::Ended(ended) = operations.apply_event(plan) else { panic!() };
/// assert_eq!(ended.state, OperationState::Completed);
/// assert!(operations.get(key).is_none());
/// # Ok::<(), nnrp_core::state::Refusal>(())
/// ```
#[derive(Debug)]
pub struct Operations<T = ()> {
    pub(super) slots: Slab<Node<T>>,
    ids: BTreeMap<u64, u32>,
    frames: BTreeMap<u32, u32>,
    groups: BTreeMap<u64, Ends>,
    all: Ends,
    pub(super) timers: Timers,
    pub(super) early: Early,
    pub(super) recent: Recent,
    in_flight: u32,
    submitted: u64,
    newest: u64,
}

/// Whether a map has a key. New ones mostly ascend, and then the last one answers without a search.
fn has<K: Ord, V>(map: &BTreeMap<K, V>, key: K) -> bool {
    map.last_key_value().is_some_and(|(last, _)| key <= *last) && map.contains_key(&key)
}

pub(super) fn refuse(rule: &'static str, why: &'static str, about: u64) -> Refusal {
    Refusal::new(ErrorCode::INVALID_STATE, rule, why).about(about)
}

impl<T> Operations<T> {
    /// No operations yet.
    pub const fn new(limits: Limits) -> Self {
        Self {
            slots: Slab::new(),
            ids: BTreeMap::new(),
            frames: BTreeMap::new(),
            groups: BTreeMap::new(),
            all: Ends::EMPTY,
            timers: Timers::new(),
            early: Early::new(limits.early_deadlines),
            recent: Recent::new(limits.remembered),
            in_flight: limits.in_flight,
            submitted: 0,
            newest: 0,
        }
    }

    /// Changes how many may live, from the next submit on.
    pub fn set_in_flight(&mut self, limit: u32) {
        self.in_flight = limit;
    }

    /// Live operations.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether none lives.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Operations submitted so far.
    pub fn submitted(&self) -> u64 {
        self.submitted
    }

    /// The one that was submitted last, whether it lives or not; 0 for none.
    pub fn newest(&self) -> u64 {
        self.newest
    }

    /// Deadlines that wait for their submit.
    pub fn early_deadlines(&self) -> usize {
        self.early.len()
    }

    /// The deadline that waits for the submit of that pair (O9).
    pub fn early_deadline(&self, operation: u64, frame: u32) -> Option<Time> {
        self.early.get(operation, frame).map(|limit| limit.at)
    }

    /// A live operation.
    pub fn get(&self, key: Key) -> Option<&Operation<T>> {
        self.at(key.slot).filter(|operation| operation.order as u32 == key.stamp)
    }

    /// What the caller keeps with a live operation.
    pub fn data_mut(&mut self, key: Key) -> Option<&mut T> {
        let operation = self.slots.get_mut(key.slot)?.live.as_mut()?;
        (operation.order as u32 == key.stamp).then_some(&mut operation.data)
    }

    /// The live operation of that id.
    pub fn by_id(&self, operation: u64) -> Option<&Operation<T>> {
        self.at(*self.ids.get(&operation)?)
    }

    /// The live operation of that frame.
    pub fn by_frame(&self, frame: u32) -> Option<&Operation<T>> {
        self.at(*self.frames.get(&frame)?)
    }

    /// The live operations, by id.
    pub fn iter(&self) -> impl Iterator<Item = &Operation<T>> {
        self.ids.values().filter_map(|&slot| self.at(slot))
    }

    /// The live members of a group, in no particular order (O11).
    pub fn group(&self, group: u64) -> impl Iterator<Item = &Operation<T>> {
        let first = self.groups.get(&group).map(|ends| ends.first);
        core::iter::successors(first, |&slot| {
            Some(List::Group.next(&self.slots, slot)).filter(|&next| next != NIL)
        })
        .filter_map(|slot| self.at(slot))
    }

    /// The key of the live operation of that id.
    pub fn key(&self, operation: u64) -> Option<Key> {
        let slot = *self.ids.get(&operation)?;
        Some(self.at(slot)?.key(slot))
    }

    /// Which operation a message means (O4).
    pub fn find(&self, named: Named) -> Result<Found, Refusal> {
        let Named { operation, frame } = named;
        let slot = match (operation, frame) {
            (0, 0) => return Err(refuse("O4", "the message names no operation", 0)),
            (0, frame) => self.frames.get(&frame),
            (operation, _) => self.ids.get(&operation),
        };
        // An id and a frame may each be in another pair by now: what comes late for the old pair is not about that one.
        let pair_ended = |refusal| self.recent.pair(operation, frame).map(Found::Ended).ok_or(refusal);
        if let Some((slot, found)) = slot.and_then(|&slot| Some((slot, self.at(slot)?))) {
            if operation != 0 && frame != 0 && found.frame != frame {
                return pair_ended(refuse("O4", "the operation is paired with another frame", operation));
            }
            return Ok(Found::Live(found.key(slot)));
        }
        if operation != 0 && self.frames.contains_key(&frame) {
            return pair_ended(refuse("O4", "the frame is paired with another operation", operation));
        }
        let ended = match (operation, frame) {
            (0, frame) => self.recent.frame(frame),
            (operation, 0) => self.recent.operation(operation),
            _ => self.recent.pair(operation, frame),
        };
        match ended {
            Some(ended) => Ok(Found::Ended(ended)),
            None if operation == 0 => Err(refuse("O4", "the frame belongs to no operation", frame as u64)),
            None if self.recent.operation(operation).is_some() => {
                Err(refuse("O4", "the operation was paired with another frame", operation))
            }
            None => Err(refuse("O4", "the operation is unknown", operation)),
        }
    }

    /// Whether a submit may be admitted.
    pub fn check_submit(&self, submit: &Submit, now: Time) -> Result<SubmitPlan, Refusal> {
        let Submit { operation, frame, parent, .. } = *submit;
        if operation == 0 || frame == 0 {
            return Err(refuse("O4", "a submit names an operation and its frame", operation));
        }
        if has(&self.ids, operation) {
            return Err(refuse("O2", "an operation of that id is live", operation));
        }
        if has(&self.frames, frame) {
            return Err(refuse("O4", "the frame is paired with a live operation", frame as u64));
        }
        if parent == operation {
            return Err(refuse("O2", "the operation names itself as its parent", operation));
        }
        // Above this the numbers of slots would end.
        if self.ids.len() >= self.in_flight.min(1 << 30) as usize {
            let why = "as many operations are in flight as the session allows";
            return Err(Refusal::new(ErrorCode::LIMIT_EXCEEDED, "S9", why).about(self.ids.len() as u64));
        }
        let parent_slot = if parent == 0 { None } else { self.ids.get(&parent).copied() }.unwrap_or(NIL);
        let standing = match parent {
            0 => Parent::None,
            _ if parent_slot != NIL => Parent::Live,
            _ if self.recent.operation(parent).is_some() => Parent::Ended,
            _ => Parent::Unknown,
        };
        let asked = self.slots.get(parent_slot).is_some_and(|node| node.mark == Mark::Subtree);
        let after = |ms: u64| Limit { at: now.after(ms), flags: SchedulingFlags::empty() };
        let due = match self.early.get(operation, frame) {
            Some(due) => due,
            None if submit.latency_budget_ms != 0 => after(submit.latency_budget_ms as u64),
            None if submit.default_deadline_ms != 0 => after(submit.default_deadline_ms as u64),
            None => Limit::NEVER,
        };
        Ok(SubmitPlan { submit: *submit, parent: standing, parent_slot, asked, due, now })
    }

    /// Admits it, as accepted.
    pub fn apply_submit(&mut self, plan: SubmitPlan, data: T) -> Key {
        let SubmitPlan { submit, parent_slot, asked, due, now, .. } = plan;
        self.submitted = self.submitted.saturating_add(1);
        self.newest = submit.operation;
        let mut operation = Operation {
            id: submit.operation,
            parent: submit.parent,
            group: submit.group,
            order: self.submitted,
            admitted: now,
            progress: 0,
            result: 0,
            due_at: Limit::NEVER.at,
            expires_at: Limit::NEVER.at,
            frame: submit.frame,
            waited: 0,
            timer: NIL,
            in_session: Links::NONE,
            in_group: Links::NONE,
            class: submit.class,
            level: 0,
            state: OperationState::INITIAL,
            bits: Bits::empty(),
            data,
        };
        operation.set_due(due);
        operation.bits.set(Bits::ASKED, asked);
        let mark = if asked { Mark::Subtree } else { Mark::None };
        let slot =
            self.slots.insert(Node { parent: NIL, child: NIL, siblings: Links::NONE, mark, live: None });
        let key = operation.key(slot);
        self.slots.edit(slot, |node| node.live = Some(operation));
        self.ids.insert(submit.operation, slot);
        self.frames.insert(submit.frame, slot);
        self.early.remove(submit.operation, submit.frame);
        if parent_slot != NIL {
            tree::link(&mut self.slots, parent_slot, slot);
        }
        self.enlist(slot, submit.group, asked);
        self.timers.insert(&mut self.slots, slot);
        key
    }

    /// Puts an operation into its lists: before all that were asked to end, or behind them.
    fn enlist(&mut self, slot: u32, group: u64, asked: bool) {
        let push = if asked { List::push_back } else { List::push_front };
        push(List::Session, &mut self.slots, &mut self.all, slot);
        if group != 0 {
            push(List::Group, &mut self.slots, self.groups.entry(group).or_insert(Ends::EMPTY), slot);
        }
    }

    fn delist(&mut self, slot: u32, group: u64) {
        List::Session.unlink(&mut self.slots, &mut self.all, slot);
        if group == 0 {
            return;
        }
        if let Some(ends) = self.groups.get_mut(&group) {
            List::Group.unlink(&mut self.slots, ends, slot);
            if ends.first == NIL {
                self.groups.remove(&group);
            }
        }
    }

    /// Notes that an operation was asked to end. Answers whether it was not asked before.
    pub(super) fn ask(&mut self, slot: u32, mark: Mark) -> bool {
        let Some(node) = self.slots.get_mut(slot) else { return false };
        if node.mark != Mark::Subtree {
            node.mark = mark;
        }
        let Some(operation) = &mut node.live else { return false };
        if operation.bits.contains(Bits::ASKED) {
            return false;
        }
        operation.bits.insert(Bits::ASKED);
        let group = operation.group;
        self.delist(slot, group);
        self.enlist(slot, group, true);
        true
    }

    pub(super) fn at(&self, slot: u32) -> Option<&Operation<T>> {
        self.slots.get(slot)?.live.as_ref()
    }

    pub(super) fn at_mut(&mut self, slot: u32) -> Option<&mut Operation<T>> {
        self.slots.get_mut(slot)?.live.as_mut()
    }

    /// First of the session's list.
    pub(super) fn first(&self) -> u32 {
        self.all.first
    }

    /// First of a group's list.
    pub(super) fn first_of(&self, group: u64) -> u32 {
        self.groups.get(&group).map_or(NIL, |ends| ends.first)
    }

    /// Ends an operation and lets go of everything that it held. Answers with its end and the nearest place above
    /// it in the tree.
    pub(super) fn end(&mut self, slot: u32, end: End) -> Option<(Ended<T>, u32)> {
        self.timers.remove(&mut self.slots, slot);
        let group = self.at(slot)?.group;
        self.delist(slot, group);
        let operation = self.slots.get_mut(slot)?.live.take()?;
        let Operation { id, frame, order, .. } = operation;
        self.ids.remove(&id);
        self.frames.remove(&frame);
        let above = tree::retire(&mut self.slots, slot);
        let End { state, cause, reason, emit_drop_reason } = end;
        self.recent.push(Remembered { operation: id, frame, state, reason });
        let key = Key { slot, stamp: order as u32 };
        let (admitted, queue_ms) = (operation.admitted, operation.queue_ms());
        let data = operation.data;
        let ended = Ended {
            key,
            operation: id,
            frame,
            group,
            order,
            admitted,
            queue_ms,
            state,
            cause,
            reason,
            emit_drop_reason,
            data,
        };
        Some((ended, above))
    }
}

/// The part of an end that is known before the operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    pub(super) state: OperationState,
    pub(super) cause: Cause,
    pub(super) reason: DropReasonCode,
    pub(super) emit_drop_reason: bool,
}

impl End {
    pub(super) fn time(flags: SchedulingFlags) -> Self {
        Self {
            state: OperationState::Failed,
            cause: Cause::Time,
            reason: DropReasonCode::DEADLINE_EXPIRED,
            emit_drop_reason: flags.contains(SchedulingFlags::EMIT_DROP_REASON),
        }
    }

    pub(super) fn cancelled(cause: Cause) -> Self {
        let state = OperationState::Cancelled;
        Self { state, cause, reason: DropReasonCode::PEER_CANCELLED, emit_drop_reason: false }
    }
}
