//! Priorities, deadlines and expiry.

use super::node::{Key, Limit};
use super::outcome::Ended;
use super::recent::Remembered;
use super::table::{End, Found, Named, Operations};
use crate::state::{Refusal, Time};
use crate::{OperationState, Scheduling, SchedulingFlags};

/// The Unix time in milliseconds at which the caller's clock reads 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnixOrigin(pub u64);

impl UnixOrigin {
    /// What the caller's clock reads at that Unix time; 0 for all times before its origin.
    pub const fn time(self, unix_ms: u64) -> Time {
        Time(unix_ms.saturating_sub(self.0))
    }
}

/// PRIORITY_UPDATE, DEADLINE or EXPIRE_AT.
///
/// ```
/// use nnrp_core::Scheduling;
/// use nnrp_core::state::{Time, operation::{Change, Limits, Named, Operations, Submit, UnixOrigin}};
///
/// let mut operations: Operations = Operations::new(Limits::default());
/// let plan = operations.check_submit(&Submit { operation: 7, frame: 1, ..Submit::default() }, Time(0))?;
/// let key = operations.apply_submit(plan, ());
/// // The caller's clock reads 0 at the Unix time of 1,000,000 ms.
/// let deadline = Scheduling { operation_id: 7, deadline_unix_ms: 1_000_250, ..Scheduling::default() };
/// let change = Change::deadline(&deadline, UnixOrigin(1_000_000));
/// let plan = operations.check_change(Named::pair(7, 1), change, Time(0))?;
/// assert!(operations.apply_change(plan).is_none(), "its time is not over");
/// assert_eq!(operations.get(key).unwrap().due(), Some(Time(250)));
/// # Ok::<(), nnrp_core::state::Refusal>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Another class, and a shift within it; positive is more urgent.
    Priority {
        /// `priority_class`.
        class: u16,
        /// `priority_delta`, added to the level that the operation has.
        delta: i16,
    },
    /// When the result is due.
    Deadline {
        /// The time.
        at: Time,
        /// What happens then.
        flags: SchedulingFlags,
    },
    /// When the result is worthless.
    ExpireAt {
        /// The time.
        at: Time,
        /// What happens then.
        flags: SchedulingFlags,
    },
}

impl Change {
    /// Of a PRIORITY_UPDATE.
    pub fn priority(scheduling: &Scheduling) -> Self {
        Self::Priority { class: scheduling.priority_class, delta: scheduling.priority_delta }
    }

    /// Of a DEADLINE.
    pub fn deadline(scheduling: &Scheduling, origin: UnixOrigin) -> Self {
        Self::Deadline { at: origin.time(scheduling.deadline_unix_ms), flags: scheduling.flags }
    }

    /// Of an EXPIRE_AT.
    pub fn expire_at(scheduling: &Scheduling, origin: UnixOrigin) -> Self {
        Self::ExpireAt { at: origin.time(scheduling.deadline_unix_ms), flags: scheduling.flags }
    }
}

/// A change that may be applied.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct ChangePlan {
    aim: Aim,
    change: Change,
}

#[derive(Clone, Copy, Debug)]
enum Aim {
    Live(Key),
    Early(u64, u32),
    Late(Remembered),
    Expires(Key, SchedulingFlags),
}

impl ChangePlan {
    /// The operation, if it lives.
    pub fn key(&self) -> Option<Key> {
        match self.aim {
            Aim::Live(key) | Aim::Expires(key, _) => Some(key),
            _ => None,
        }
    }

    /// The operation, if it has ended: then nothing changes.
    pub fn late(&self) -> Option<Remembered> {
        match self.aim {
            Aim::Late(ended) => Some(ended),
            _ => None,
        }
    }

    /// Whether its time is over, so that it ends instead.
    pub fn expires(&self) -> bool {
        matches!(self.aim, Aim::Expires(..))
    }

    /// The pair whose submit is to come, for which a deadline is kept.
    pub fn early(&self) -> Option<Named> {
        match self.aim {
            Aim::Early(operation, frame) => Some(Named::pair(operation, frame)),
            _ => None,
        }
    }
}

impl<T> Operations<T> {
    /// Whether a change may be applied (O8, O9, O13). The change is an event too, so if the operation's time is
    /// over it ends.
    pub fn check_change(&self, named: Named, change: Change, now: Time) -> Result<ChangePlan, Refusal> {
        let plan = |aim| ChangePlan { aim, change };
        match self.find(named) {
            Ok(Found::Live(key)) => match self.get(key).and_then(|operation| operation.passed(now)) {
                Some(flags) => Ok(plan(Aim::Expires(key, flags))),
                None => Ok(plan(Aim::Live(key))),
            },
            Ok(Found::Ended(ended)) => Ok(plan(Aim::Late(ended))),
            Err(refusal) => {
                let Named { operation, frame } = named;
                // Both must be named and both be free: an early deadline is for a pair. An ended operation's id
                // may come again with another frame.
                let is_early = matches!(change, Change::Deadline { .. })
                    && (operation != 0 && frame != 0)
                    && self.by_id(operation).is_none()
                    && self.by_frame(frame).is_none();
                if !is_early {
                    return Err(refusal);
                }
                self.early.check(operation, frame)?;
                Ok(plan(Aim::Early(operation, frame)))
            }
        }
    }

    /// Applies it. Answers with the operation if its time was over.
    pub fn apply_change(&mut self, plan: ChangePlan) -> Option<Ended<T>> {
        let ChangePlan { aim, change } = plan;
        let key = match aim {
            Aim::Live(key) => key,
            Aim::Expires(key, flags) => {
                self.get(key)?;
                return self.end(key.slot, End::time(flags)).map(|(ended, _)| ended);
            }
            Aim::Early(operation, frame) => {
                if let Change::Deadline { at, flags } = change {
                    self.early.insert(operation, frame, Limit { at, flags });
                }
                return None;
            }
            Aim::Late(_) => return None,
        };
        self.get(key)?;
        self.timers.remove(&mut self.slots, key.slot);
        if let Some(operation) = self.at_mut(key.slot) {
            match change {
                Change::Priority { class, delta } => {
                    operation.class = class;
                    operation.level = operation.level.saturating_add(delta);
                }
                Change::Deadline { at, flags } => operation.set_due(Limit { at, flags }),
                Change::ExpireAt { at, flags } => operation.set_expiry(Limit { at, flags }),
            }
        }
        self.timers.insert(&mut self.slots, key.slot);
        None
    }

    /// When to ask [`Operations::poll_expired`] next.
    pub fn next_timeout(&self) -> Option<Time> {
        self.timers.next(&self.slots)
    }

    /// Ends one operation whose time is over. Queued work is left for its next event, unless its time was given
    /// with `discard_stale_work`. To be called until it answers `None`.
    pub fn poll_expired(&mut self, now: Time) -> Option<Ended<T>> {
        let slot = self.timers.first()?;
        let operation = self.at(slot)?;
        if operation.ends_at()? > now {
            return None;
        }
        let flags = operation.passed(now)?;
        self.end(slot, End::time(flags)).map(|(ended, _)| ended)
    }

    /// Ends an operation if its time is over: for queued work that is about to start.
    pub fn expire(&mut self, key: Key, now: Time) -> Option<Ended<T>> {
        let flags = self.get(key)?.passed(now)?;
        self.end(key.slot, End::time(flags)).map(|(ended, _)| ended)
    }

    /// Whether an operation is queued: admitted, and not running yet.
    pub fn is_queued(&self, key: Key) -> bool {
        self.get(key).is_some_and(|operation| operation.state == OperationState::Accepted)
    }
}
