//! Sessions on a connection: opening, patching, closing, idling, each apart from its siblings.

mod close;
mod live;
mod open;
mod patch;

use alloc::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    vec::Vec,
};

pub use close::{CloseAckPlan, ClosePlan, Due, PeerClosePlan, Step, Verdict};
pub use live::{Carried, Session, Settings, Terms};
use open::Request;
pub use open::{AnswerPlan, OpenAckPlan, OpenPlan, Opened, Policy, Resume, Ticket, Verdicts};
pub use patch::{Accept, PatchAckPlan, PatchPlan};

use super::table::Table;
use super::{Refusal, Side, Time};
use crate::{
    DescriptorFlags, ProfileId, SessionErrorCode, SessionFlagsAck, SessionOpenAck, SessionState,
    SessionStatus, TypedPayloadDescriptor,
};

/// What sessions may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Sessions on the connection.
    pub sessions: usize,
    /// Requests to open one that are not answered yet.
    pub pending: usize,
    /// Patches of one session that are not answered yet.
    pub patches: usize,
    /// A session without live operations and messages for so long is closed (S6); 0 for never.
    pub idle_ms: u64,
    /// How long the answer to a close may take on top of the drain time.
    pub answer_ms: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { sessions: 16_384, pending: 1_024, patches: 16, idle_ms: 0, answer_ms: 10_000 }
    }
}

/// The sessions of one connection, as one of its sides keeps them.
///
/// ```
/// use nnrp_core::state::{Side, Time, session::{Limits, Opened, Policy, Sessions, Verdicts}};
/// use nnrp_core::{SessionOpen, SessionState};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut client = Sessions::new(Side::Client, Limits::default());
/// let mut server = Sessions::new(Side::Server, Limits::default());
///
/// let open = SessionOpen { requested_session_id: 7, ..Default::default() };
/// client.apply_open(client.check_open(&open, false)?);
/// let ticket = server.apply_open(server.check_open(&open, false)?);
/// let answer = server.check_answer(ticket, &Policy::default(), &Verdicts::default(), &mut || 1)?;
/// server.apply_answer(answer, Time(0));
/// let (_, ack) = server.poll_answer(Time(0)).unwrap();
///
/// let (_, opened) = client.apply_open_ack(client.check_open_ack(&ack)?, Time(0));
/// assert!(matches!(opened, Opened::Live { session_id: 7, .. }));
/// assert_eq!(client.get(7).unwrap().state(), SessionState::Open);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Sessions {
    side: Side,
    limits: Limits,
    live: Table<Session>,
    requests: VecDeque<Request>,
    /// Requests that were answered so far; the ticket of the oldest one that was not.
    answered: u64,
    last_id: u32,
    /// Sessions that ended while a close of ours was not answered for good: its answers may still come. True where
    /// this side gave up waiting, so that the peer may think the session open.
    owed: BTreeMap<u32, bool>,
    timers: BTreeSet<(Time, u32)>,
}

/// A submit that the session admits.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct SubmitPlan(u32);

/// What explains a payload, once the session's defaults are filled in (S5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Profile; unspecified where none is bound.
    pub profile: ProfileId,
    /// Schema; 0 where none is bound.
    pub schema_id: u32,
    /// Its version.
    pub schema_version: u32,
}

impl Sessions {
    /// No sessions yet.
    pub const fn new(side: Side, limits: Limits) -> Self {
        Self {
            side,
            limits,
            live: Table::new(),
            requests: VecDeque::new(),
            answered: 0,
            last_id: 0,
            owed: BTreeMap::new(),
            timers: BTreeSet::new(),
        }
    }

    /// The session with that id.
    pub fn get(&self, session_id: u32) -> Option<&Session> {
        self.live.get(&session_id)
    }

    /// All sessions, by id.
    pub fn iter(&self) -> impl Iterator<Item = &Session> {
        self.live.values()
    }

    /// Says that there will be more about a session, which is found faster then.
    pub fn approach(&mut self, session_id: u32) {
        self.live.approach(session_id);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.live.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.live.is_empty()
    }

    /// The session that a message names, which has to be live.
    ///
    /// # Errors
    ///
    /// `invalid_state` for one that is unknown or not open yet.
    pub fn check_session(&self, session_id: u32) -> Result<&Session, Refusal> {
        match self.live.get(&session_id) {
            Some(session) if session.state != SessionState::Opening => Ok(session),
            _ => Err(Refusal::state("C3", "there is no such session").about(session_id.into())),
        }
    }

    /// Something happened in the session, so it is not idle.
    pub fn touch(&mut self, session_id: u32, now: Time) {
        if let Some(session) = self.live.get_mut(&session_id) {
            session.active_at = session.active_at.max(now);
        }
    }

    /// Closes a session that idles so long, instead of what the limits say; 0 for never.
    pub fn set_idle(&mut self, session_id: u32, idle_ms: u64) {
        if let Some(session) = self.live.get_mut(&session_id) {
            session.idle_ms = idle_ms;
            self.schedule(session_id);
        }
    }

    /// Checks whether one more operation may start in a session.
    ///
    /// # Errors
    ///
    /// `invalid_state` from closing on (S4), `limit_exceeded` over the acknowledged number of operations (S9).
    pub fn check_submit(&self, session_id: u32) -> Result<SubmitPlan, Refusal> {
        let session = self.check_session(session_id)?;
        if !session.is_open() {
            return Err(Refusal::state("S4", "the session is closing").about(session_id.into()));
        }
        if session.live >= u32::from(session.terms.max_in_flight) {
            return Err(Refusal::limit("S9", "the session has as many live operations as it may")
                .about(session.live.into()));
        }
        Ok(SubmitPlan(session_id))
    }

    /// The operation started. Its serial number counts the submits of the session, from 1: that is the order that
    /// waterlines speak of.
    pub fn apply_submit(&mut self, plan: SubmitPlan, now: Time) -> u64 {
        let Some(session) = self.live.get_mut(&plan.0) else { return 0 };
        session.live = session.live.saturating_add(1);
        session.submitted = session.submitted.saturating_add(1);
        session.active_at = session.active_at.max(now);
        session.submitted
    }

    /// An operation of the session ended. Where the session only waited for that, it closes now.
    pub fn operation_ended(&mut self, session_id: u32, now: Time) -> Option<Step> {
        let session = self.live.get_mut(&session_id)?;
        session.live = session.live.saturating_sub(1);
        session.active_at = session.active_at.max(now);
        if session.live != 0 {
            return None;
        }
        if session.due.is_none() && session.closing.is_none() {
            self.schedule(session_id);
        }
        self.finish_drained(session_id)
    }

    /// What explains a payload of an operation in the session (S5).
    ///
    /// # Errors
    ///
    /// `unsupported_capability` for another schema than the session's default where that was not acknowledged or
    /// the descriptor does not say so.
    pub fn check_binding(
        &self,
        session_id: u32,
        descriptor: &TypedPayloadDescriptor,
    ) -> Result<Binding, Refusal> {
        let terms = self.check_session(session_id)?.terms;
        let profile = match descriptor.profile_id {
            ProfileId::UNSPECIFIED => terms.profile,
            own => own,
        };
        let default = (terms.schema_id, terms.schema_version);
        let own = (descriptor.schema_id, descriptor.schema_version);
        let (schema_id, schema_version) = if own.0 == 0 { default } else { own };
        if default.0 != 0 && (schema_id, schema_version) != default {
            if !terms.flags.contains(SessionFlagsAck::SCHEMA_OVERRIDE_ENABLED) {
                return Err(Refusal::capability("S5", "the session's schema may not be overridden")
                    .about(schema_id.into()));
            }
            if !descriptor.descriptor_flags.contains(DescriptorFlags::SCHEMA_OVERRIDE) {
                return Err(Refusal::capability(
                    "S5",
                    "the descriptor does not say that it overrides the schema",
                )
                .about(schema_id.into()));
            }
        }
        Ok(Binding { profile, schema_id, schema_version })
    }

    /// Whether something may be sent for the session that belongs to none of its live operations (S10).
    ///
    /// # Errors
    ///
    /// `unsupported_capability` without `background_results_enabled`.
    pub fn check_background(&self, session_id: u32) -> Result<(), Refusal> {
        let flags = self.check_session(session_id)?.terms.flags;
        if flags.contains(SessionFlagsAck::BACKGROUND_RESULTS_ENABLED) {
            return Ok(());
        }
        Err(Refusal::capability("S10", "the session takes no background results").about(session_id.into()))
    }

    /// Whether the session may create and renew leases (S10), and their time where none is asked for (S9).
    ///
    /// # Errors
    ///
    /// `lease_policy_rejected` without `cache_leases_enabled`.
    pub fn check_lease(&self, session_id: u32) -> Result<u32, Refusal> {
        let terms = self.check_session(session_id)?.terms;
        if terms.flags.contains(SessionFlagsAck::CACHE_LEASES_ENABLED) {
            return Ok(terms.lease_ttl_ms);
        }
        let code = SessionErrorCode::LEASE_POLICY_REJECTED;
        Err(Refusal::session(code, "S10", "the session takes no leases").about(session_id.into()))
    }

    /// The connection drains: nothing new, and every session with it (C2). What was asked for and is not
    /// answered is refused; what was to be resumed here can be on another connection.
    pub fn drain_all(&mut self) {
        for request in &mut self.requests {
            request.void = true;
            if self.side == Side::Server {
                let elsewhere = request.resume;
                request.answer = Some(SessionOpenAck {
                    session_status: if elsewhere {
                        SessionStatus::RetryLater
                    } else {
                        SessionStatus::Rejected
                    },
                    session_error_code: SessionErrorCode::SESSION_LIMIT_REACHED,
                    ..Default::default()
                });
            }
        }
        self.timers.clear();
        let ids: Vec<u32> = self.live.keys().copied().collect();
        for id in ids {
            let Some(session) = self.live.get_mut(&id) else { continue };
            if session.state == SessionState::Opening {
                self.live.remove(&id);
                continue;
            }
            session.drain_with_connection();
            session.due = None;
            self.schedule(id);
        }
    }

    /// The connection is over, and every session with it (C2). What can be resumed elsewhere is the caller's to
    /// keep.
    pub fn close_all(&mut self) -> impl Iterator<Item = Session> + use<> {
        self.requests.clear();
        self.owed.clear();
        self.timers.clear();
        let mut live = core::mem::replace(&mut self.live, Table::new());
        core::iter::from_fn(move || {
            let mut session = live.pop_first()?;
            session.turn(SessionState::Closed);
            session.due = None;
            Some(session)
        })
    }

    /// When [`Self::handle_timeout`] has to be called. It may find nothing to do then.
    pub fn next_timeout(&self) -> Option<Time> {
        self.timers.first().map(|(due, _)| *due)
    }

    fn insert(&mut self, session: Session) {
        let id = session.id;
        self.remove(id);
        self.owed.remove(&id);
        self.last_id = id;
        self.live.insert(id, session);
    }

    fn remove(&mut self, session_id: u32) -> Option<Session> {
        let session = self.live.remove(&session_id)?;
        if let Some(due) = session.due {
            self.timers.remove(&(due, session_id));
        }
        Some(session)
    }

    /// Sets the session's timer to what its state wants. A later idle deadline needs no call: the timer may be
    /// early, and then looks again, so that traffic costs nothing here.
    fn schedule(&mut self, session_id: u32) {
        let Some(session) = self.live.get_mut(&session_id) else { return };
        let due = session.deadline();
        if session.due == due {
            return;
        }
        if let Some(old) = session.due {
            self.timers.remove(&(old, session_id));
        }
        session.due = due;
        if let Some(due) = due {
            self.timers.insert((due, session_id));
        }
    }
}

#[cfg(test)]
mod tests;
