//! Outcomes that are kept until the client has them (R1, X1, O5).

use alloc::collections::{BTreeMap, VecDeque};

use super::Limits;
use crate::state::Time;

/// A terminal outcome that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept<O> {
    /// The operation.
    pub operation_id: u64,
    /// Its place in the order of the session's submits.
    pub serial: u64,
    /// What came of it.
    pub outcome: O,
    bytes: usize,
    until: Time,
}

/// An outcome that nobody will get any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost<O> {
    /// The operation.
    pub operation_id: u64,
    /// What came of it.
    pub outcome: O,
}

/// The terminal outcomes of one resumable session, in the order in which its operations ended.
///
/// They are kept for the resume window, up to a limit, or until a waterline covers them. A session that cannot be
/// resumed needs none of this.
///
/// ```
/// use nnrp_core::state::{Time, resume::{Keeper, Limits}};
///
/// let mut keeper = Keeper::new(Limits::default(), 1_000);
/// keeper.keep(11, 1, "first", 5, Time(0));
/// keeper.keep(12, 2, "second", 6, Time(0));
/// // The client has everything up to operation 11.
/// let waterline = keeper.serial_of(11);
/// keeper.cover(waterline);
/// let again: Vec<_> = keeper.iter().map(|kept| kept.outcome).collect();
/// assert_eq!(again, ["second"]);
/// ```
#[derive(Clone, Debug)]
pub struct Keeper<O> {
    limits: Limits,
    window_ms: u32,
    /// By the order in which they ended, which is also the order in which their time runs out.
    kept: BTreeMap<u64, Kept<O>>,
    by_operation: BTreeMap<u64, u64>,
    by_serial: BTreeMap<u64, u64>,
    ended: u64,
    bytes: usize,
    lost: VecDeque<Lost<O>>,
}

impl<O> Keeper<O> {
    /// For a session with that window.
    pub const fn new(limits: Limits, window_ms: u32) -> Self {
        Self {
            limits,
            window_ms,
            kept: BTreeMap::new(),
            by_operation: BTreeMap::new(),
            by_serial: BTreeMap::new(),
            ended: 0,
            bytes: 0,
            lost: VecDeque::new(),
        }
    }

    /// How many are kept.
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Their bytes, as the limits count them.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Keeps the outcome of an operation that just ended; one outcome an operation. Over a limit the oldest go,
    /// see [`Self::poll_lost`].
    pub fn keep(&mut self, operation_id: u64, serial: u64, outcome: O, bytes: usize, now: Time) {
        self.release(operation_id);
        self.ended = self.ended.saturating_add(1);
        let until = now.after(self.window_ms.into());
        self.by_operation.insert(operation_id, self.ended);
        self.by_serial.insert(serial, self.ended);
        self.bytes = self.bytes.saturating_add(bytes);
        self.kept.insert(self.ended, Kept { operation_id, serial, outcome, bytes, until });
        while self.kept.len() > self.limits.outcomes || self.bytes > self.limits.outcome_bytes {
            if !self.lose_first() {
                break;
            }
        }
    }

    /// The place of an operation whose outcome is kept. Those that still live are for the caller to place.
    pub fn serial_of(&self, operation_id: u64) -> Option<u64> {
        let at = self.by_operation.get(&operation_id)?;
        self.kept.get(at).map(|kept| kept.serial)
    }

    /// The client has the outcome of an operation.
    pub fn release(&mut self, operation_id: u64) {
        if let Some(at) = self.by_operation.get(&operation_id).copied() {
            self.take(at);
        }
    }

    /// The client has all outcomes up to that place (X1). `None`, for an operation that is not known, covers
    /// nothing.
    pub fn cover(&mut self, waterline: Option<u64>) {
        let Some(waterline) = waterline else { return };
        while let Some((serial, at)) = self.by_serial.first_key_value()
            && *serial <= waterline
        {
            let at = *at;
            self.take(at);
        }
    }

    /// What is to be delivered again, in the order in which it came about.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Kept<O>> {
        self.kept.values()
    }

    /// When [`Self::handle_timeout`] has something to do.
    pub fn next_timeout(&self) -> Option<Time> {
        self.kept.first_key_value().map(|(_, kept)| kept.until)
    }

    /// Gives up what was kept for its time.
    pub fn handle_timeout(&mut self, now: Time) {
        while self.next_timeout().is_some_and(|until| until <= now) {
            self.lose_first();
        }
    }

    /// The next outcome that went without the client confirming it. They are to be reported; as many wait for that
    /// as may be kept.
    pub fn poll_lost(&mut self) -> Option<Lost<O>> {
        self.lost.pop_front()
    }

    /// How many [`Self::poll_lost`] has to give.
    pub fn lost(&self) -> usize {
        self.lost.len()
    }

    fn lose_first(&mut self) -> bool {
        let Some(at) = self.kept.first_key_value().map(|(at, _)| *at) else { return false };
        if let Some(kept) = self.take(at) {
            if self.lost.len() >= self.limits.outcomes {
                self.lost.pop_front();
            }
            self.lost.push_back(Lost { operation_id: kept.operation_id, outcome: kept.outcome });
        }
        true
    }

    fn take(&mut self, at: u64) -> Option<Kept<O>> {
        let kept = self.kept.remove(&at)?;
        self.by_operation.remove(&kept.operation_id);
        self.by_serial.remove(&kept.serial);
        self.bytes = self.bytes.saturating_sub(kept.bytes);
        Some(kept)
    }
}
