//! What can be observed, under the same names for a connection, a session and an operation (T2).

use super::Connection;
use crate::state::cache;
use crate::state::operation::{Ended, Operation};
use crate::state::{Time, credit};
use crate::{ConnectionState, OperationState, SessionState};

/// Operations of a session or of a whole connection, counted since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Operations that were admitted.
    pub submitted: u64,
    /// Operations that ended with their result.
    pub completed: u64,
    /// Operations that failed, those whose time was over among them.
    pub failed: u64,
    /// Operations that were cancelled.
    pub cancelled: u64,
    /// Operations that others took the place of.
    pub superseded: u64,
    /// Progress, partial results and other messages for live operations.
    pub updates: u64,
    /// Messages that came too late and were ignored.
    pub late: u64,
    /// Milliseconds that ended operations waited before they ran, in sum.
    pub queue_ms: u64,
    /// Milliseconds that ended operations ran, in sum.
    pub compute_ms: u64,
}

impl Work {
    pub(super) fn ended(&mut self, outcome: &Ended, now: Time) {
        match outcome.state {
            OperationState::Completed => self.completed += 1,
            OperationState::Cancelled => self.cancelled += 1,
            OperationState::Superseded => self.superseded += 1,
            _ => self.failed += 1,
        }
        let total = now.since(outcome.admitted);
        let queued = outcome.queue_ms.map_or(total, u64::from);
        self.queue_ms = self.queue_ms.saturating_add(queued);
        self.compute_ms = self.compute_ms.saturating_add(total.saturating_sub(queued));
    }
}

/// What a connection did since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets that were taken.
    pub packets_in: u64,
    /// Bytes that came.
    pub bytes_in: u64,
    /// Packets that were written.
    pub packets_out: u64,
    /// Bytes that were written.
    pub bytes_out: u64,
    /// Packets of the peer's that were refused.
    pub refused: u64,
    /// Its sessions' operations.
    pub work: Work,
}

/// One window and the pressure on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credit {
    /// Its size; `None` is no limit.
    pub limit: Option<u64>,
    /// Places taken.
    pub in_flight: u64,
    /// Pressure on it.
    pub level: crate::BackpressureLevel,
    /// Whether nothing new may start until a resume.
    pub paused: bool,
}

impl Credit {
    fn of(window: &credit::Window) -> Self {
        let gate = window.gate();
        Self {
            limit: window.limit(),
            in_flight: window.in_flight(),
            level: gate.level(),
            paused: gate.is_paused(),
        }
    }
}

/// A connection at one moment.
///
/// ```
/// use nnrp_core::ConnectionState;
/// use nnrp_core::state::{Side, Time, connection::{Config, Connection}};
///
/// let connection = Connection::new(Side::Client, Config::new(Side::Client), || 1, Time(0));
/// let seen = connection.snapshot();
/// assert_eq!((seen.state, seen.sessions, seen.counters.packets_in), (ConnectionState::Init, 0, 0));
/// assert!(connection.session_snapshot(7).is_none());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Where it is in its life.
    pub state: ConnectionState,
    /// Live sessions.
    pub sessions: usize,
    /// Live operations.
    pub operations: u64,
    /// Its credit.
    pub credit: Credit,
    /// Submits that wait for credit.
    pub queued: usize,
    /// Bytes that wait to be sent.
    pub output_bytes: usize,
    /// Events that wait to be polled.
    pub events: usize,
    /// Milliseconds from the last PING to its PONG.
    pub round_trip_ms: Option<u64>,
    /// Objects in the cache.
    pub cache_entries: usize,
    /// Their bytes.
    pub cache_bytes: usize,
    /// Hits, misses, evictions and leases so far.
    pub cache: cache::Counters,
    /// Dependencies between everything.
    pub dependencies: usize,
    /// Schemas that are known.
    pub schemas: usize,
    /// What it did so far.
    pub counters: Counters,
}

/// A session at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionSnapshot {
    /// Where it is in its life.
    pub state: SessionState,
    /// Live operations.
    pub operations: usize,
    /// Its credit.
    pub credit: Credit,
    /// Runtime objects.
    pub objects: usize,
    /// Outcomes that are kept for a resume.
    pub kept: usize,
    /// Early deadlines that wait for their submit.
    pub early_deadlines: usize,
    /// What it did so far.
    pub work: Work,
}

/// A live operation at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationSnapshot {
    /// Where it is in its life.
    pub state: OperationState,
    /// Milliseconds that it waited before it ran, or so far.
    pub queue_ms: u64,
    /// Milliseconds that it has been running.
    pub compute_ms: u64,
    /// Partials that may still be sent for it; `None` is no limit.
    pub partial_credit: Option<u64>,
}

impl Connection {
    /// What can be observed of the connection now.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            state: self.hello.state(),
            sessions: self.lives.len(),
            operations: self.window.in_flight(),
            credit: Credit::of(&self.window),
            queued: self.queue.len(),
            output_bytes: self.output.len(),
            events: self.events.len(),
            round_trip_ms: self.pulse.round_trip_ms(),
            cache_entries: self.cache.len(),
            cache_bytes: self.cache.bytes(),
            cache: *self.cache.counters(),
            dependencies: self.graph.edges(),
            schemas: self.schemas.len(),
            counters: self.counters,
        }
    }

    /// What can be observed of a session now.
    pub fn session_snapshot(&self, session_id: u32) -> Option<SessionSnapshot> {
        let live = self.lives.get(&session_id)?;
        Some(SessionSnapshot {
            state: self.sessions.get(session_id)?.state(),
            operations: live.operations.len(),
            credit: Credit::of(&live.window),
            objects: live.objects.len(),
            kept: live.keeper.as_ref().map_or(0, |keeper| keeper.len()),
            early_deadlines: live.operations.early_deadlines(),
            work: live.work,
        })
    }

    /// What can be observed of a live operation now.
    pub fn operation_snapshot(
        &self,
        session_id: u32,
        operation_id: u64,
        now: Time,
    ) -> Option<OperationSnapshot> {
        let live = self.lives.get(&session_id)?;
        let operation: &Operation = live.operations.by_id(operation_id)?;
        let total = now.since(operation.admitted());
        let queue_ms = operation.queue_ms().map_or(total, u64::from);
        Some(OperationSnapshot {
            state: operation.state(),
            queue_ms,
            compute_ms: total.saturating_sub(queue_ms),
            partial_credit: live.partials.get(operation_id).and_then(|credit| credit.left()),
        })
    }
}
