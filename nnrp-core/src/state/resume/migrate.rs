//! Moving a resumed session to the transport of its new connection (R3).

use crate::state::{Refusal, Time};
use crate::{SessionMigrate, SessionMigrateAck, SessionState, TransportId};

/// The migration of one session, as one side keeps it. There is one primary path at a time: the connection that
/// carries SESSION_MIGRATE. The old one only drains.
///
/// ```
/// use nnrp_core::state::{Time, resume::Migration};
/// use nnrp_core::{SessionMigrate, SessionState, TransportId};
///
/// let mut migration = Migration::default();
/// let ask = SessionMigrate {
///     old_transport_id: TransportId::Tcp,
///     new_transport_id: TransportId::Quic,
///     last_result_frame_id: 40,
///     ..Default::default()
/// };
/// let plan = migration.check_migrate(&ask, SessionState::Resumed, TransportId::Quic).unwrap();
/// let ack = migration.apply_migrate(plan, 500, Time(0));
/// assert_eq!(ack.resume_from_frame_id, 41);
/// assert!(!migration.replays(40) && migration.replays(41));
/// assert!(migration.old_path_drains(Time(499)) && !migration.old_path_drains(Time(500)));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Migration {
    asked: bool,
    moved: bool,
    cursor: u64,
    old_until: Option<Time>,
}

/// A migration that may be asked for or done.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct MigratePlan(SessionMigrate);

/// An answer that may be taken.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct MigrateAckPlan(SessionMigrateAck);

impl Migration {
    /// Checks SESSION_MIGRATE, on the client before it is sent, on the server when it came. `transport` carries the
    /// connection.
    ///
    /// # Errors
    ///
    /// `invalid_state` unless the session was resumed on this connection, for a second migration, and for another
    /// transport than this one (R3).
    pub fn check_migrate(
        &self,
        migrate: &SessionMigrate,
        state: SessionState,
        transport: TransportId,
    ) -> Result<MigratePlan, Refusal> {
        if migrate.validate().is_err() {
            return Err(Refusal::malformed("D11", "the migration breaks its own rules"));
        }
        if state != SessionState::Resumed {
            return Err(Refusal::state("R3", "the session was not resumed on this connection"));
        }
        if self.asked || self.moved {
            return Err(Refusal::state("R3", "the session has moved to this connection already"));
        }
        if transport != TransportId::Unspecified && migrate.new_transport_id != transport {
            return Err(Refusal::state("R3", "the new transport is not the one of this connection"));
        }
        Ok(MigratePlan(*migrate))
    }

    /// Client: the request was sent.
    pub fn apply_asked(&mut self, _plan: MigratePlan) {
        self.asked = true;
    }

    /// Server: the session moves here, and the old path has that long to drain. Gives the answer.
    pub fn apply_migrate(&mut self, plan: MigratePlan, grace_window_ms: u32, now: Time) -> SessionMigrateAck {
        let ack = SessionMigrateAck {
            accept_code: 0,
            resume_from_frame_id: plan.0.last_result_frame_id.saturating_add(1),
            grace_window_ms,
            server_migrate_ts_us: now.0.saturating_mul(1_000),
        };
        self.moved(&ack, now);
        ack
    }

    /// Server: the session does not move. Gives the answer; a code of 0 counts as 1, because 0 means accepted (C8).
    pub fn refuse(&self, accept_code: u32) -> SessionMigrateAck {
        SessionMigrateAck { accept_code: accept_code.max(1), ..Default::default() }
    }

    /// Client: checks the answer.
    ///
    /// # Errors
    ///
    /// `invalid_state` for an answer to nothing.
    pub fn check_ack(&self, ack: &SessionMigrateAck) -> Result<MigrateAckPlan, Refusal> {
        if self.asked {
            Ok(MigrateAckPlan(*ack))
        } else {
            Err(Refusal::state("R3", "no migration waits for an answer"))
        }
    }

    /// Client: the answer has come. Says whether the session moved (C8: code 0).
    pub fn apply_ack(&mut self, plan: MigrateAckPlan, now: Time) -> bool {
        self.asked = false;
        let accepted = plan.0.accept_code == 0;
        if accepted {
            self.moved(&plan.0, now);
        }
        accepted
    }

    fn moved(&mut self, ack: &SessionMigrateAck, now: Time) {
        self.moved = true;
        self.cursor = ack.resume_from_frame_id;
        self.old_until = Some(now.after(ack.grace_window_ms.into()));
    }

    /// Whether the session moved to this connection.
    pub const fn has_moved(&self) -> bool {
        self.moved
    }

    /// Whether results of a frame are sent again on this path: not below the cursor.
    pub const fn replays(&self, frame_id: u32) -> bool {
        !self.moved || frame_id as u64 >= self.cursor
    }

    /// Whether what still comes on the old path counts.
    pub fn old_path_drains(&self, now: Time) -> bool {
        self.old_until.is_some_and(|until| now < until)
    }

    /// When the old path is over.
    pub const fn next_timeout(&self) -> Option<Time> {
        self.old_until
    }

    /// Forgets the old path whose grace window is over. Says whether it did.
    pub fn handle_timeout(&mut self, now: Time) -> bool {
        let over = self.old_until.is_some_and(|until| until <= now);
        if over {
            self.old_until = None;
        }
        over
    }
}
