//! Closing one session: request, answers, drain, abort, idling (S1, S3, S4, S6, S12).

use super::{
    Session, Sessions,
    live::{Closing, Progress},
};
use crate::state::{Refusal, Side, Time};
use crate::{
    CloseReason, CloseStatus, InFlightPolicy, SessionClose, SessionCloseAck, SessionErrorCode, SessionState,
};

/// A close of ours that may be sent.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct ClosePlan {
    session_id: u32,
    close: SessionClose,
}

/// A close of the peer's that may be taken.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct PeerClosePlan {
    session_id: u32,
    close: SessionClose,
}

/// An answer to a close of ours that may be taken.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct CloseAckPlan {
    session_id: u32,
    status: CloseStatus,
}

/// What the application says to a close of the peer's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It begins; a further verdict says how it goes on.
    Acknowledge,
    /// It goes on at once, as the request's policy says. Names the last operation that was taken; 0 for none.
    Proceed {
        /// The waterline.
        last_operation_id: u64,
    },
    /// Refused; the session goes on as before.
    Reject {
        /// Why.
        code: SessionErrorCode,
    },
}

/// What comes of a step towards the end of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The session.
    pub session_id: u32,
    /// Where it is now. A closed one is gone.
    pub state: SessionState,
    /// Whether its live operations end now, as cancelled and without a message of their own (S3). The session
    /// counts them no longer.
    pub cancel: bool,
    /// What goes to the peer.
    pub ack: Option<SessionCloseAck>,
}

/// What a timeout brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// The session was idle for its time; this SESSION_CLOSE goes out (S6).
    Idle {
        /// The session.
        session_id: u32,
        /// The request.
        close: SessionClose,
    },
    /// The time to drain, or to answer a close, is over.
    Over(Step),
}

/// S12: only an error brings an error code.
fn check_code(close: &SessionClose) -> Result<(), Refusal> {
    let by_error = matches!(close.close_reason, CloseReason::ProtocolError | CloseReason::AuthRevoked);
    if by_error || close.session_error_code == SessionErrorCode::NONE {
        return Ok(());
    }
    Err(Refusal::malformed("S12", "the close carries an error code and no error is its reason"))
}

impl Session {
    fn begin(&mut self, close: &SessionClose, ours: bool, until: Time) {
        let before = self.state;
        let closing = self.closing.get_or_insert(Closing {
            ours: None,
            theirs: None,
            policy: close.in_flight_policy,
            before,
            until: None,
            last_operation_id: 0,
        });
        if ours {
            closing.ours = Some(Progress::Asked);
        } else {
            closing.theirs = Some(Progress::Asked);
        }
        // Where two closes cross, the stricter one holds: abort over drain, the earlier end over the later.
        closing.policy = closing.policy.max(close.in_flight_policy);
        closing.until = Some(closing.until.map_or(until, |other| other.min(until)));
        self.turn(SessionState::Closing);
    }

    pub(super) fn drain_with_connection(&mut self) {
        let before = self.state;
        self.turn(SessionState::Draining);
        // The connection's own drain time bounds it.
        self.closing.get_or_insert(Closing {
            ours: None,
            theirs: None,
            policy: InFlightPolicy::Drain,
            before,
            until: None,
            last_operation_id: 0,
        });
    }

    /// Ends the live operations; says whether there were any.
    fn cancel(&mut self) -> bool {
        core::mem::take(&mut self.live) != 0
    }

    fn step(&self, cancel: bool, ack: Option<CloseStatus>) -> Step {
        let last_operation_id = self.closing.as_ref().map_or(0, |closing| closing.last_operation_id);
        let ack =
            ack.map(|close_status| SessionCloseAck { close_status, last_operation_id, ..Default::default() });
        Step { session_id: self.id, state: self.state, cancel, ack }
    }
}

impl Sessions {
    /// Checks a close of ours.
    ///
    /// # Errors
    ///
    /// `invalid_state` unless the session is open, `malformed_body` for an error code without an error (S12).
    pub fn check_close(&self, session_id: u32, close: &SessionClose) -> Result<ClosePlan, Refusal> {
        let session = self.check_session(session_id)?;
        if !session.is_open() {
            return Err(Refusal::state("S1", "the session is closing already").about(session_id.into()));
        }
        check_code(close)?;
        Ok(ClosePlan { session_id, close: *close })
    }

    /// The close was sent: no new operations from here on.
    pub fn apply_close(&mut self, plan: ClosePlan, now: Time) {
        let until = now.after(plan.close.drain_timeout_ms.into()).after(self.limits.answer_ms);
        if let Some(session) = self.live.get_mut(&plan.session_id) {
            session.begin(&plan.close, true, until);
            self.schedule(plan.session_id);
        }
    }

    /// Checks a close of the peer's. It may cross one of ours.
    ///
    /// # Errors
    ///
    /// As [`Self::check_close`], and for a second one.
    pub fn check_peer_close(&self, session_id: u32, close: &SessionClose) -> Result<PeerClosePlan, Refusal> {
        let session = self.check_session(session_id)?;
        if session.closing.as_ref().is_some_and(|closing| closing.theirs.is_some()) {
            return Err(Refusal::state("S1", "the session is closing already").about(session_id.into()));
        }
        check_code(close)?;
        Ok(PeerClosePlan { session_id, close: *close })
    }

    /// The close has come: no new operations from here on. [`Self::answer_close`] answers it.
    pub fn apply_peer_close(&mut self, plan: PeerClosePlan, now: Time) {
        // An abort, and a drain without time, are done in the answer; until then the peer waits for us.
        let wait = match plan.close.in_flight_policy {
            InFlightPolicy::Drain if plan.close.drain_timeout_ms != 0 => plan.close.drain_timeout_ms.into(),
            _ => self.limits.answer_ms,
        };
        if let Some(session) = self.live.get_mut(&plan.session_id) {
            session.begin(&plan.close, false, now.after(wait));
            if plan.close.drain_timeout_ms == 0
                && let Some(closing) = &mut session.closing
            {
                // A drain of no time applies its policy at once, which leaves nothing to wait for.
                closing.policy = InFlightPolicy::Abort;
            }
            self.schedule(plan.session_id);
        }
    }

    /// Answers the peer's close. With [`Verdict::Proceed`] the session drains while operations are live, and a
    /// later step closes it; with nothing to drain it closes at once.
    ///
    /// # Errors
    ///
    /// `invalid_state` where no close of the peer's waits for that answer.
    pub fn answer_close(&mut self, session_id: u32, verdict: Verdict) -> Result<Step, Refusal> {
        let none = Refusal::state("S1", "no close waits for that answer").about(session_id.into());
        let session = self.live.get_mut(&session_id).ok_or(none)?;
        let closing = session.closing.as_mut().ok_or(none)?;
        let so_far = closing.theirs.ok_or(none)?;
        match verdict {
            Verdict::Acknowledge if so_far == Progress::Asked && session.state == SessionState::Closing => {
                closing.theirs = Some(Progress::Acknowledged);
                // The peer ends them when it hears of this, so they end here, too.
                let cancel = closing.policy == InFlightPolicy::Abort && session.cancel();
                Ok(session.step(cancel, Some(CloseStatus::Acknowledged)))
            }
            Verdict::Reject { code }
                if so_far == Progress::Asked && session.state == SessionState::Closing =>
            {
                closing.theirs = None;
                let before = closing.before;
                if closing.ours.is_none() {
                    session.closing = None;
                    session.turn(before);
                }
                let mut step = session.step(false, Some(CloseStatus::Rejected));
                if let Some(ack) = &mut step.ack {
                    ack.session_error_code = code;
                }
                self.schedule(session_id);
                Ok(step)
            }
            Verdict::Proceed { last_operation_id } => {
                closing.last_operation_id = last_operation_id;
                closing.theirs = Some(Progress::Draining);
                if session.live == 0 || closing.policy == InFlightPolicy::Abort {
                    return self.close(session_id, false).ok_or(none);
                }
                session.turn(SessionState::Draining);
                Ok(session.step(false, Some(CloseStatus::Draining)))
            }
            _ => Err(none),
        }
    }

    /// Checks an answer to a close of ours. Its waterline is for the application to know: until `closed` the end of
    /// every live operation is taken, those up to the waterline among them (S3).
    ///
    /// # Errors
    ///
    /// `invalid_state` for an answer to nothing, for one that goes back on an earlier one, and for a rejection that
    /// came when the session was given up. The last wants a fatal ERROR of the session, as the peer still has it.
    pub fn check_close_ack(&self, session_id: u32, ack: &SessionCloseAck) -> Result<CloseAckPlan, Refusal> {
        let none = Refusal::state("S1", "the answer fits no close").about(session_id.into());
        let plan = CloseAckPlan { session_id, status: ack.close_status };
        let Some(session) = self.live.get(&session_id) else {
            return match self.owed.get(&session_id) {
                // The peer goes on with a session that is closed here, and has to be told.
                Some(true) if ack.close_status == CloseStatus::Rejected => Err(none),
                Some(_) => Ok(plan),
                None => Err(none),
            };
        };
        let so_far = session.closing.as_ref().and_then(|closing| closing.ours).ok_or(none)?;
        match ack.close_status {
            CloseStatus::Rejected if so_far > Progress::Asked => Err(none),
            CloseStatus::Acknowledged if so_far > Progress::Acknowledged => Err(none),
            _ => Ok(plan),
        }
    }

    /// The answer has come. `None` where the session had ended already by the peer's own close.
    pub fn apply_close_ack(&mut self, plan: CloseAckPlan) -> Option<Step> {
        let CloseAckPlan { session_id, status } = plan;
        let Some(session) = self.live.get_mut(&session_id) else {
            if matches!(status, CloseStatus::Closed | CloseStatus::Rejected) {
                self.owed.remove(&session_id);
            }
            return None;
        };
        let closing = session.closing.as_mut()?;
        match status {
            CloseStatus::Closed => {
                closing.ours = None;
                return self.close(session_id, false);
            }
            CloseStatus::Rejected => {
                closing.ours = None;
                if closing.theirs.is_some() {
                    return Some(session.step(false, None));
                }
                let before = closing.before;
                session.closing = None;
                session.turn(before);
                self.schedule(session_id);
                return self.live.get(&session_id).map(|session| session.step(false, None));
            }
            CloseStatus::Draining => closing.ours = Some(Progress::Draining),
            CloseStatus::Acknowledged => closing.ours = Some(Progress::Acknowledged),
        }
        // The peer has accepted the close; with abort that ended the operations there.
        let cancel = closing.policy == InFlightPolicy::Abort;
        if status == CloseStatus::Draining {
            session.turn(SessionState::Draining);
        }
        let cancel = cancel && session.cancel();
        Some(session.step(cancel, None))
    }

    /// An answer to a close of ours could not be taken. Says whether the peer goes on with a session that was given up
    /// here: it has to be told by a fatal ERROR of that session.
    pub fn skip_close(&mut self, session_id: u32, ack: &SessionCloseAck) -> bool {
        let gone = ack.close_status == CloseStatus::Rejected && self.owed.get(&session_id) == Some(&true);
        if gone {
            self.owed.remove(&session_id);
        }
        gone
    }

    /// A fatal ERROR of scope session ended the session, on whichever side (C4).
    pub fn end(&mut self, session_id: u32) -> Option<Step> {
        let mut session = self.remove(session_id)?;
        session.turn(SessionState::Closed);
        let cancel = session.cancel();
        Some(session.step(cancel, None))
    }

    /// Closes a session for good and answers the peer where it waits for that.
    fn close(&mut self, session_id: u32, gave_up: bool) -> Option<Step> {
        let mut session = self.remove(session_id)?;
        session.turn(SessionState::Closed);
        let cancel = session.cancel();
        let closing = session.closing.as_ref();
        let answer = closing.is_some_and(|closing| closing.theirs.is_some()).then_some(CloseStatus::Closed);
        if closing.is_some_and(|closing| closing.ours.is_some()) {
            // A peer that owes answers for ever costs no more than these.
            if self.owed.len() >= self.limits.pending {
                self.owed.pop_first();
            }
            // Where `closed` goes out the peer learns of the end by that.
            self.owed.insert(session_id, gave_up && answer.is_none());
        }
        Some(session.step(cancel, answer))
    }

    /// Closes the session if it only waited for its operations. A close of ours waits for its answer instead.
    pub(super) fn finish_drained(&mut self, session_id: u32) -> Option<Step> {
        let session = self.live.get(&session_id)?;
        let waits = session
            .closing
            .as_ref()
            .is_some_and(|closing| closing.ours.is_some() && closing.theirs.is_none());
        if session.state == SessionState::Draining && session.live == 0 && !waits {
            return self.close(session_id, false);
        }
        None
    }

    /// Does the next thing whose time has come. Call it until it gives `None`.
    pub fn handle_timeout(&mut self, now: Time) -> Option<Due> {
        loop {
            let (due, session_id) = *self.timers.first()?;
            if due > now {
                return None;
            }
            let deadline = self.live.get(&session_id).and_then(Session::deadline);
            if deadline.is_none_or(|deadline| deadline > now) {
                // The timer was early: there was traffic since it was set.
                self.timers.pop_first();
                if let Some(session) = self.live.get_mut(&session_id) {
                    session.due = None;
                }
                self.schedule(session_id);
                continue;
            }
            if self.live.get(&session_id).is_some_and(Session::is_open) {
                return self.close_idle(session_id, now);
            }
            return self.close(session_id, true).map(Due::Over);
        }
    }

    fn close_idle(&mut self, session_id: u32, now: Time) -> Option<Due> {
        let close = SessionClose {
            close_reason: CloseReason::IdleTimeout,
            in_flight_policy: InFlightPolicy::Drain,
            ..Default::default()
        };
        self.apply_close(ClosePlan { session_id, close }, now);
        Some(Due::Idle { session_id, close })
    }

    /// A request to close that says no more than that this side stops.
    pub fn shutdown(&self) -> SessionClose {
        let close_reason = match self.side {
            Side::Client => CloseReason::ClientShutdown,
            Side::Server => CloseReason::ServerShutdown,
        };
        SessionClose { close_reason, ..Default::default() }
    }
}
