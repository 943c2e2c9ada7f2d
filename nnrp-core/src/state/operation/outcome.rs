//! How operations end, and the way of that to the application.

use alloc::collections::VecDeque;

use super::node::Key;
use crate::state::{Refusal, Time};
use crate::{DropReasonCode, ErrorCode, OperationState};

/// What ended an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Its result.
    Result,
    /// It was dropped, for the reason of the outcome.
    Drop,
    /// An error of its frame.
    Error(ErrorCode),
    /// A cancel or abort, or the final drop that answers one.
    Cancel,
    /// The session or connection ended.
    Close,
    /// A newer operation took its place.
    Supersede {
        /// The newer one.
        by: u64,
        /// Whether the work stops. Otherwise it may run on and its results are dropped.
        abort: bool,
    },
    /// Its deadline or expiry passed.
    Time,
    /// Its submit was lost with the connection that carried it, and never reached the peer.
    Lost,
}

/// The end of an operation. There is exactly one for each that was admitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended<T = ()> {
    /// The key that it had.
    pub key: Key,
    /// Its id.
    pub operation: u64,
    /// Its frame.
    pub frame: u32,
    /// Its group, 0 for none.
    pub group: u64,
    /// Its place in the order of submits: a waterline covers it and all before it.
    pub order: u64,
    /// When it was admitted.
    pub admitted: Time,
    /// Milliseconds that it waited before it ran, if it did.
    pub queue_ms: Option<u32>,
    /// The terminal state.
    pub state: OperationState,
    /// What ended it.
    pub cause: Cause,
    /// The reason that RESULT_DROP_REASON carries or would carry; none for a result or an error.
    pub reason: DropReasonCode,
    /// Whether the peer asked to be told by RESULT_DROP_REASON. Set only by a passed time.
    pub emit_drop_reason: bool,
    /// What the caller kept with it.
    pub data: T,
}

/// Terminal outcomes on their way to the application: each is given out exactly once, in order (O5).
///
/// The place of an outcome is taken when its operation is submitted, so that none can ever be lost for want of
/// room. For a session that can be resumed, [`Outcomes::poll_into`] hands what is given out to whoever keeps it.
///
/// ```
/// use nnrp_core::state::operation::Outcomes;
///
/// let mut outcomes = Outcomes::new(2);
/// assert!(outcomes.check_submit(1).is_ok());
/// outcomes.push("first");
/// outcomes.push("second");
/// assert!(outcomes.check_submit(0).is_err());
/// assert_eq!(outcomes.poll(), Some("first"));
/// assert_eq!(outcomes.poll(), Some("second"));
/// assert_eq!(outcomes.poll(), None);
/// ```
#[derive(Clone, Debug)]
pub struct Outcomes<E> {
    waiting: VecDeque<E>,
    limit: usize,
}

impl<E> Outcomes<E> {
    /// Room for that many outcomes that the application did not take yet.
    pub const fn new(limit: usize) -> Self {
        Self { waiting: VecDeque::new(), limit }
    }

    /// Whether the outcome of one more operation, beside those that are live, will find room.
    pub fn check_submit(&self, live: usize) -> Result<(), Refusal> {
        if self.waiting.len().saturating_add(live) < self.limit {
            return Ok(());
        }
        let why = "the application has not taken the outcomes of earlier operations";
        Err(Refusal::new(ErrorCode::LIMIT_EXCEEDED, "O5", why).about(self.waiting.len() as u64))
    }

    /// Takes an outcome in. Its room was checked when it was submitted.
    pub fn push(&mut self, outcome: E) {
        self.waiting.push_back(outcome);
    }

    /// Gives the oldest one out, for good.
    pub fn poll(&mut self) -> Option<E> {
        let outcome = self.waiting.pop_front();
        if self.waiting.is_empty() && self.waiting.capacity() > 64 {
            self.waiting = VecDeque::new();
        }
        outcome
    }

    /// The same, and shows it to whoever keeps outcomes for a resume before it is out of hand.
    pub fn poll_into(&mut self, keep: impl FnOnce(&E)) -> Option<E> {
        let outcome = self.poll()?;
        keep(&outcome);
        Some(outcome)
    }

    /// Outcomes that wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}
