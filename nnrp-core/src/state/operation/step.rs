//! Events of one operation: checked against its pair, its time, its sequences and the state machine.

use super::event::{Event, Route, route};
use super::node::{Bits, Key};
use super::outcome::{Cause, Ended};
use super::recent::Remembered;
use super::sequence::{self, Order};
use super::table::{End, Found, Named, Operations, refuse};
use crate::state::{Refusal, Time};
use crate::{DropReasonCode, OperationState, SchedulingFlags};

/// What an event will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It takes the operation to another state, or to the same one along an arrow.
    Moves {
        /// Where it is.
        from: OperationState,
        /// Where it will be.
        to: OperationState,
        /// Whether running lies on the way.
        through_running: bool,
    },
    /// It leaves the state as it is.
    Stays,
    /// Its sequence is not newer than the last: to be ignored and reported.
    Old {
        /// The last one.
        last: u64,
    },
    /// The operation has ended: to be dropped and reported with the reason of that.
    Late(Remembered),
    /// The operation's time is over: it ends as failed, and the event is dropped.
    Expires,
}

/// An event that may be applied.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct EventPlan {
    key: Option<Key>,
    event: Event,
    verdict: Verdict,
    expired: SchedulingFlags,
    now: Time,
}

impl EventPlan {
    /// What it will do.
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// The operation, if it lives.
    pub fn key(&self) -> Option<Key> {
        self.key
    }
}

/// What an event did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Applied<T = ()> {
    /// The operation lives on, in this state.
    Live(OperationState),
    /// It ended.
    Ended(Ended<T>),
    /// Nothing: the event was old or late.
    Nothing,
}

impl<T> Operations<T> {
    /// Whether an event may happen to the operation that it names (O1, O4, O6, O8, O10).
    pub fn check_event(&self, named: Named, event: Event, now: Time) -> Result<EventPlan, Refusal> {
        let plan = |key, verdict| EventPlan { key, event, verdict, expired: SchedulingFlags::empty(), now };
        let key = match self.find(named)? {
            Found::Live(key) => key,
            Found::Ended(ended) => return Ok(plan(None, Verdict::Late(ended))),
        };
        let Some(operation) = self.get(key) else { return Err(refuse("O4", "the operation is unknown", 0)) };
        let target = event.target();
        // Who says that it ended without a result is believed: only finishing late is not allowed.
        let ends_otherwise = target.is_some_and(|to| to.is_terminal() && to != OperationState::Completed);
        if let Some(expired) = operation.passed(now).filter(|_| !ends_otherwise) {
            return Ok(EventPlan { expired, ..plan(Some(key), Verdict::Expires) });
        }
        let order = match event {
            Event::Progress { sequence, .. } => sequence::check(operation.progress_sequence(), sequence),
            Event::Partial { sequence, .. } => sequence::check(operation.result_sequence(), sequence),
            _ => Order::Newer,
        };
        if let Order::Old { last } = order {
            return Ok(plan(Some(key), Verdict::Old { last }));
        }
        let from = operation.state;
        let Some(to) = target else { return Ok(plan(Some(key), Verdict::Stays)) };
        match route(from, to) {
            Route::Stay => Ok(plan(Some(key), Verdict::Stays)),
            Route::Direct => Ok(plan(Some(key), Verdict::Moves { from, to, through_running: false })),
            Route::ThroughRunning => Ok(plan(Some(key), Verdict::Moves { from, to, through_running: true })),
            Route::None => Err(refuse("O1", "no arrow leads to that state", operation.id)),
        }
    }

    /// Lets it happen.
    pub fn apply_event(&mut self, plan: EventPlan) -> Applied<T> {
        let EventPlan { key, event, verdict, expired, now } = plan;
        let Some(slot) = key.filter(|&key| self.get(key).is_some()).map(|key| key.slot) else {
            return Applied::Nothing;
        };
        let to = match verdict {
            Verdict::Old { .. } | Verdict::Late(_) => return Applied::Nothing,
            Verdict::Expires => return self.ended(slot, End::time(expired)),
            Verdict::Moves { to, .. } if to.is_terminal() => return self.ended(slot, end(event, to)),
            Verdict::Moves { to, .. } => Some(to),
            Verdict::Stays => None,
        };
        let Some(operation) = self.at_mut(slot) else { return Applied::Nothing };
        match event {
            Event::Progress { sequence, .. } => {
                operation.progress = sequence;
                operation.bits.insert(Bits::PROGRESS);
            }
            Event::Partial { sequence, .. } => {
                operation.result = sequence;
                operation.bits.insert(Bits::RESULT);
            }
            _ => {}
        }
        let before = operation.state;
        let after = to.unwrap_or(before);
        if before == OperationState::Accepted && after != before {
            // From now on time alone ends it, not only its next event.
            self.timers.remove(&mut self.slots, slot);
            if let Some(operation) = self.at_mut(slot) {
                operation.state = after;
                operation.waited = u32::try_from(now.since(operation.admitted)).unwrap_or(u32::MAX);
                operation.bits.insert(Bits::STARTED);
            }
            self.timers.insert(&mut self.slots, slot);
        } else {
            operation.state = after;
        }
        Applied::Live(after)
    }

    fn ended(&mut self, slot: u32, end: End) -> Applied<T> {
        self.end(slot, end).map_or(Applied::Nothing, |(ended, _)| Applied::Ended(ended))
    }

    /// The sequence for the next PROGRESS of an operation, from 1; `None` once there is no higher one.
    pub fn next_progress(&self, key: Key) -> Option<u64> {
        self.get(key)?.progress_sequence().map_or(Some(1), |last| last.checked_add(1))
    }

    /// The sequence for the next PARTIAL_RESULT of an operation, from 1; `None` once there is no higher one.
    pub fn next_result(&self, key: Key) -> Option<u64> {
        self.get(key)?.result_sequence().map_or(Some(1), |last| last.checked_add(1))
    }
}

/// How an event ends an operation.
fn end(event: Event, state: OperationState) -> End {
    let (cause, reason) = match event {
        Event::DropReason { reason, .. } if state == OperationState::Cancelled => (Cause::Cancel, reason),
        Event::DropReason { reason, .. } => (Cause::Drop, reason),
        Event::Dropped => (Cause::Drop, DropReasonCode::NONE),
        Event::Error { code } if state == OperationState::Cancelled => {
            (Cause::Error(code), DropReasonCode::PEER_CANCELLED)
        }
        Event::Error { code } => (Cause::Error(code), DropReasonCode::NONE),
        _ => (Cause::Result, DropReasonCode::NONE),
    };
    End { state, cause, reason, emit_drop_reason: false }
}
