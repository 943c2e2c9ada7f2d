//! Sessions: opening, patches, closing, moving (S1–S12, C2, C3, C8, R3).

use alloc::vec::Vec;

use super::event::{Event, Why};
use super::live::{Live, unknown};
use super::plan::{Act, Plan};
use super::resume::{Answer, Asked, Left, Shelf};
use super::{Connection, Message, observe};
use crate::state::operation::{Cause, Manner, Reach};
use crate::state::resume::{Bound, ResumePlan, Resumed, Token};
use crate::state::session::{Carried, Due, Opened, Policy, Resume, Step, Ticket, Verdict, Verdicts};
use crate::state::{Refusal, Time};
use crate::{
    CommonHeader, ControlExtensionEntries, ControlExtensionPayload, InFlightPolicy, SessionClose,
    SessionCloseAck, SessionCloseAckBody, SessionCloseBody, SessionMigrateAckBody, SessionOpen,
    SessionOpenAck, SessionOpenAckBody, SessionOpenBody, SessionPatchAckBody, SessionState, SessionStatus,
    TransportId,
};

impl Connection {
    pub(super) fn check_session(&self, act: &Act<'_>) -> Result<Plan, Why> {
        use Message as M;
        let id = act.header.session_id;
        let live = || self.lives.get(&id).ok_or(unknown(id));
        Ok(match act.message {
            M::SessionOpen(open, body) => {
                Plan::Open(self.sessions.check_open(open, !body.resume_token.is_empty())?)
            }
            M::SessionOpenAck(ack, _) => Plan::OpenAck(self.sessions.check_open_ack(ack)?),
            M::SessionClose(close, _) if act.ours => Plan::Close(self.sessions.check_close(id, close)?),
            M::SessionClose(close, _) => Plan::PeerClose(self.sessions.check_peer_close(id, close)?),
            M::SessionCloseAck(ack, _) if !act.ours => {
                Plan::CloseAck(self.sessions.check_close_ack(id, ack)?)
            }
            M::SessionPatch(patch, _) if act.ours => Plan::PatchSent(self.sessions.check_patch(id, patch)?),
            M::SessionPatch(patch, _) => Plan::Patch(self.sessions.check_patch(id, patch)?),
            M::SessionPatchAck(ack, _) if !act.ours => {
                Plan::PatchAck(self.sessions.check_patch_ack(id, ack)?)
            }
            M::SessionMigrate(migrate, _) => {
                let state = self.sessions.check_session(id)?.state();
                // The transport in use, where the hello said which (C9).
                let in_use = self.agreed().and_then(|agreed| agreed.grants.transport);
                let transport = in_use.map_or(TransportId::Unspecified, |grant| grant.active_transport_id);
                let plan = live()?.migration.check_migrate(migrate, state, transport)?;
                if act.ours { Plan::MigrateSent(plan) } else { Plan::Migrate(plan) }
            }
            M::SessionMigrateAck(ack, _) if !act.ours => Plan::MigrateAck(live()?.migration.check_ack(ack)?),
            _ => Plan::Pass,
        })
    }

    pub(super) fn apply_session(&mut self, plan: Plan, act: &Act<'_>) {
        let id = act.header.session_id;
        match plan {
            Plan::Open(plan) => {
                let ticket = self.sessions.apply_open(plan);
                let Message::SessionOpen(_, body) = act.message else { return };
                if let Some(packet) = act.received() {
                    // A token that is too long is no good, and need not be kept whole to know that.
                    let token = body.resume_token.get(..=Token::SIZE).unwrap_or(body.resume_token);
                    let asked = Asked { token: token.to_vec(), waterline: waterline(body.session_extension) };
                    self.asked.insert(ticket, asked);
                    self.events.push_back(Event::SessionRequested { ticket, packet });
                }
                self.ticket = Some(ticket);
            }
            Plan::OpenAck(plan) => {
                let (ticket, opened) = self.sessions.apply_open_ack(plan, act.now);
                let Message::SessionOpenAck(ack, body) = act.message else { return };
                self.opened(ticket, opened, ack, body.resume_token, act.now);
            }
            Plan::Close(plan) => self.sessions.apply_close(plan, act.now),
            Plan::PeerClose(plan) => {
                self.sessions.apply_peer_close(plan, act.now);
                if let Message::SessionClose(close, _) = act.message {
                    self.events.push_back(Event::CloseRequested { session_id: id, close: *close });
                }
            }
            Plan::CloseAck(plan) => {
                // The answer comes before what it brings, so that the end of a session is the last of it.
                self.pass(act);
                if let Some(step) = self.sessions.apply_close_ack(plan) {
                    self.step(step, act.now);
                }
            }
            Plan::PatchSent(plan) => self.sessions.apply_patch_sent(plan),
            Plan::Patch(plan) => {
                let accept = self.config.patch;
                let ack = self.sessions.apply_patch(plan, &accept);
                let applied = ack.applied_patch_mask;
                let body = SessionPatchAckBody::default();
                self.write(&act.header.answer(), &Message::SessionPatchAck(ack, body));
                if let Some(packet) = act.received() {
                    self.events.push_back(Event::SessionPatched { session_id: id, applied, packet });
                }
            }
            Plan::PatchAck(plan) => {
                let applied = self.sessions.apply_patch_ack(plan);
                if let Some(packet) = act.received() {
                    self.events.push_back(Event::SessionPatched { session_id: id, applied, packet });
                }
            }
            Plan::EndSession => {
                self.pass(act);
                if let Some(step) = self.sessions.end(id) {
                    self.step(step, act.now);
                }
            }
            Plan::MigrateSent(plan) => {
                if let Some(live) = self.lives.get_mut(&id) {
                    live.migration.apply_asked(plan);
                }
            }
            Plan::Migrate(plan) => {
                let grace = u32::try_from(self.config.hello.drain_ms).unwrap_or(u32::MAX);
                let Some(live) = self.lives.get_mut(&id) else { return };
                let ack = live.migration.apply_migrate(plan, grace, act.now);
                let body = SessionMigrateAckBody { migration_ack: &[] };
                self.write(&act.header.answer(), &Message::SessionMigrateAck(ack, body));
                self.pass(act);
            }
            Plan::MigrateAck(plan) => {
                if let Some(live) = self.lives.get_mut(&id) {
                    live.migration.apply_ack(plan, act.now);
                }
                self.pass(act);
            }
            _ => {}
        }
    }

    /// What came of a request, on the client.
    fn opened(&mut self, ticket: Ticket, opened: Opened, ack: &SessionOpenAck, token: &[u8], now: Time) {
        let left = self.leaving.remove(&ticket);
        match opened {
            Opened::Live { session_id, remark } => {
                let resumed = ack.session_status == SessionStatus::Resumed;
                let kept = match left {
                    Some(left) if resumed => Some(left),
                    left => {
                        self.abandon(left, now);
                        None
                    }
                };
                self.enter(session_id, kept, now);
                if let Some(live) = self.lives.get_mut(&session_id) {
                    live.token = token.to_vec();
                }
                self.events.push_back(Event::SessionOpened { ticket, session_id, remark, resumed });
                if resumed {
                    self.doubt(session_id, now);
                }
            }
            Opened::Refused { code, retry } => {
                match left {
                    // It may be asked for again.
                    Some(left) if retry => drop(self.leaving.insert(ticket, left)),
                    left => self.abandon(left, now),
                }
                self.events.push_back(Event::SessionRefused { ticket, code, retry });
            }
        }
    }

    /// The parts of a session that is live from now on, new or from another connection.
    pub(super) fn enter(&mut self, session_id: u32, left: Option<Left>, now: Time) {
        let Some(session) = self.sessions.get(session_id) else { return };
        let fresh = Live::new(session, &self.config, self.is_client());
        let live = match left {
            None => fresh,
            Some(Left { live, carried, .. }) => {
                let mut live = *live;
                let count = live.operations.len();
                // The places that are taken are taken on this connection, too. Updates of the old one may have been lost
                // with it, so that both ends begin anew with what the answer grants (W1).
                live.window = fresh.window;
                live.window.carry(count as u64);
                self.window.carry(count as u64);
                live.operations.set_in_flight(session.terms().max_in_flight.into());
                live.migration = fresh.migration;
                let live_count = u32::try_from(count).unwrap_or(u32::MAX);
                self.sessions.carry(session_id, Carried { live: live_count, ..carried });
                live
            }
        };
        self.lives.insert(session_id, live);
        self.schedule(session_id);
        self.queue.wake(session_id);
        self.pump(now);
    }

    /// Asks for a session. The ticket names the request in the event that answers it.
    ///
    /// # Errors
    ///
    /// As [`Sessions::check_open`](crate::state::session::Sessions::check_open).
    pub fn open_session(&mut self, open: &SessionOpen, auth: &[u8], now: Time) -> Result<Ticket, Why> {
        let body = SessionOpenBody { auth, ..SessionOpenBody::default() };
        self.ask(open, body, now)
    }

    pub(super) fn ask(
        &mut self,
        open: &SessionOpen,
        body: SessionOpenBody<'_>,
        now: Time,
    ) -> Result<Ticket, Why> {
        self.send(&CommonHeader::default(), &Message::SessionOpen(*open, body), now)?;
        self.ticket.take().ok_or_else(|| Refusal::state("C8", "the request was not sent").into())
    }

    /// The sessions of the connection.
    pub const fn sessions(&self) -> &crate::state::session::Sessions {
        &self.sessions
    }

    /// How far the move of a session to this connection is (R3).
    pub fn migration(&self, session_id: u32) -> Option<&crate::state::resume::Migration> {
        self.lives.get(&session_id).map(|live| &live.migration)
    }

    /// Server: answers a request for a session. Answers go out in the order of the requests (C8), so this one may wait
    /// for others. Whether the schema can be a default, and what a resume token is worth, is found here.
    ///
    /// # Errors
    ///
    /// `invalid_state` where no such request waits.
    pub fn answer_open(
        &mut self,
        ticket: Ticket,
        policy: &Policy,
        verdicts: Verdicts,
        shelf: &mut Shelf,
        now: Time,
    ) -> Result<(), Why> {
        shelf.forget(&mut self.confirmed, &mut self.revoked);
        let missing = Refusal::state("C8", "no such request waits for an answer");
        let open = *self.sessions.request(ticket).ok_or(missing)?;
        let asked = self.asked.get(&ticket).ok_or(missing)?;
        let waterline = asked.waterline;
        let mut verdicts = verdicts;
        if open.schema_id != 0 {
            let check = self.schemas.check_default(open.profile_id, open.schema_id, open.schema_version);
            verdicts.schema &= check.is_ok();
        }
        // C6: the hello settled what can be asked for.
        let agreed = self.hello.agreed();
        verdicts.profile &= agreed.is_none_or(|agreed| agreed.takes_profile(open.profile_id));
        let mut resume = None;
        if !asked.token.is_empty() {
            let here = |plan: &ResumePlan| self.has(plan.bound().session_id, plan.handle());
            let plan = shelf.tokens.check_resume(&asked.token, &open, self.principal, now).ok();
            // The answer to the first use cannot be lost on the connection that goes on with it (R2).
            let plan = plan.filter(|plan| !plan.is_used() || !here(plan));
            verdicts.resume = plan.map_or(Resume::Bad, |plan| {
                let session_id = plan.bound().session_id;
                let here = here(&plan);
                // While another connection has it, it can be asked for again.
                verdicts.busy |= !here && !shelf.tokens.is_detached(plan.handle());
                Resume::Good { session_id, here }
            });
            resume = plan;
        }
        let mut policy = *policy;
        let without_token = shelf.tokens.is_full() && resume.is_none();
        if without_token || agreed.is_some_and(|agreed| !agreed.takes_resumes()) {
            // Without a token nothing can be resumed, and then nothing is promised.
            policy.resume_window_ms = 0;
        }
        let source = &mut self.source;
        let plan = self.sessions.check_answer(ticket, &policy, &verdicts, &mut || source())?;
        let ack = *plan.ack();
        let resumed = match ack.session_status {
            SessionStatus::Resumed => resume.and_then(|plan| shelf.tokens.apply_resume(plan)),
            _ => None,
        };
        let bound = Bound {
            session_id: ack.session_id,
            principal: self.principal,
            profile: open.profile_id,
            schema: (open.schema_id, open.schema_version),
            flags: ack.session_flags_ack,
            window_ms: ack.resume_window_ms,
        };
        let source = &mut self.source;
        let source = &mut || source();
        let answer = match resumed {
            Some(Resumed { left, used, .. }) => {
                let token = shelf.tokens.renew(used, bound, source);
                // What its old connection did not leave lives on this very one.
                let mut left = left.or_else(|| self.leave(ack.session_id));
                if let (Some(left), Some((handle, _))) = (&mut left, &token) {
                    left.live.handle = Some(*handle);
                }
                Answer { token, left, waterline }
            }
            None if ack.session_status == SessionStatus::Opened => {
                Answer { token: shelf.tokens.issue(bound, source), ..Answer::default() }
            }
            None => Answer::default(),
        };
        self.sessions.apply_answer(plan, now);
        self.answers.insert(ticket, answer);
        self.send_answers(now);
        Ok(())
    }

    /// Takes an answer back that did not go out: a session that was to go on can be had elsewhere, by the token that its
    /// client still has; a new one was never there.
    fn unsay(&mut self, answer: &mut Answer) {
        let token = answer.token.take();
        match answer.left.take() {
            Some(left) => self.held.push(left),
            None => self.revoked.extend(token.map(|(handle, _)| handle)),
        }
    }

    /// Server: lets the answers out whose turn it is.
    pub(super) fn send_answers(&mut self, now: Time) {
        while let Some((ticket, ack)) = self.sessions.poll_answer(now) {
            let mut answer = self.answers.remove(&ticket).unwrap_or_default();
            self.asked.remove(&ticket);
            if !matches!(ack.session_status, SessionStatus::Opened | SessionStatus::Resumed) {
                // An answer that was found, and came to nothing because the connection ends.
                self.unsay(&mut answer);
            }
            let handle = answer.token.as_ref().map(|(handle, _)| *handle);
            let token = answer.token.as_ref().filter(|_| ack.resume_window_ms != 0);
            let token: &[u8] = token.map_or(&[], |(_, token)| token.as_bytes());
            let body = SessionOpenAckBody { resume_token: token, ..SessionOpenAckBody::default() };
            self.write(&CommonHeader::default(), &Message::SessionOpenAck(ack, body));
            let (session_id, remark) = (ack.session_id, ack.session_error_code);
            match ack.session_status {
                SessionStatus::Opened | SessionStatus::Resumed => {
                    let resumed = ack.session_status == SessionStatus::Resumed;
                    self.enter(session_id, answer.left, now);
                    if let Some(live) = self.lives.get_mut(&session_id) {
                        live.handle = handle;
                    }
                    self.unheard.extend(handle.filter(|_| resumed).map(|handle| (session_id, handle)));
                    self.events.push_back(Event::SessionOpened { ticket, session_id, remark, resumed });
                    if resumed {
                        self.redeliver(session_id, answer.waterline, now);
                    }
                }
                _ => {
                    let retry = ack.session_status == SessionStatus::RetryLater;
                    self.events.push_back(Event::SessionRefused { ticket, code: remark, retry });
                }
            }
        }
    }

    /// Closes a session: no new operations from here on.
    ///
    /// # Errors
    ///
    /// `invalid_state` unless the session is open.
    pub fn close_session(&mut self, session_id: u32, close: &SessionClose, now: Time) -> Result<(), Why> {
        let header = CommonHeader { session_id, ..CommonHeader::default() };
        let body = SessionCloseBody::default();
        self.send(&header, &Message::SessionClose(*close, body), now)
    }

    /// Answers the peer's request to close a session.
    ///
    /// # Errors
    ///
    /// `invalid_state` where no such request waits.
    pub fn answer_close(&mut self, session_id: u32, verdict: Verdict, now: Time) -> Result<(), Why> {
        let step = self.sessions.answer_close(session_id, verdict)?;
        self.step(step, now);
        Ok(())
    }

    /// What a step towards the end of a session asks for.
    pub(super) fn step(&mut self, step: Step, now: Time) {
        let Step { session_id, state, cancel, ack } = step;
        observe::session(self.side, session_id, state);
        if let Some(ack) = ack {
            self.tell_closed(session_id, ack);
        }
        let closed = state == SessionState::Closed;
        if cancel || closed {
            self.end_operations(session_id, Cause::Close, now);
        }
        if closed {
            self.end_session(session_id);
        } else if cancel && let Some(step) = self.sessions.operation_ended(session_id, now) {
            // It only waited for those.
            self.step(step, now);
        }
        self.finish(now);
    }

    fn tell_closed(&mut self, session_id: u32, ack: SessionCloseAck) {
        let header = CommonHeader { session_id, ..CommonHeader::default() };
        self.write(&header, &Message::SessionCloseAck(ack, SessionCloseAckBody::default()));
    }

    /// Ends all live operations of a session, without a message of their own (S3).
    pub(super) fn end_operations(&mut self, session_id: u32, cause: Cause, now: Time) {
        let Some(live) = self.lives.get_mut(&session_id) else { return };
        let Ok(plan) = live.operations.check_cancel(Reach::Session, Manner::End, cause) else { return };
        let mut outcomes = Vec::new();
        live.operations.apply_cancel(plan, |cancelled| {
            if let crate::state::operation::Cancelled::Ended(outcome) = cancelled {
                outcomes.push(outcome);
            }
        });
        for outcome in outcomes {
            self.let_go(session_id, outcome, None, now);
        }
        self.queue.wake(session_id);
        self.pump(now);
    }

    /// A session is gone, and with it all that was its own.
    fn end_session(&mut self, session_id: u32) {
        let Some(live) = self.lives.remove(&session_id) else { return };
        self.unheard.remove(&session_id);
        self.revoked.extend(live.handle);
        self.queue_session(session_id);
        self.forget_session(session_id);
        self.events.push_back(Event::SessionClosed { session_id });
    }

    /// What the connection keeps for a session that it has no more. Its id may come again, for another one.
    pub(super) fn forget_session(&mut self, session_id: u32) {
        let gone = self.cache.end_session(&mut self.graph, session_id);
        self.gone(gone);
        if self.graph.edges() != 0 {
            // J4: its objects are gone.
            let reached = self.graph.end_session(session_id);
            self.reach(reached);
        }
        self.puts.end_session(session_id);
        self.capabilities.end_session(session_id);
    }

    /// The connection is over, and every session with it (C2).
    pub(super) fn end_sessions(&mut self, now: Time) {
        let ids: Vec<u32> = self.lives.keys().copied().collect();
        for session_id in ids {
            self.end_operations(session_id, Cause::Close, now);
            self.end_session(session_id);
        }
        self.sessions.close_all().for_each(drop);
    }

    /// Requests that nobody answers any more. A session that one was to resume can be asked for again.
    pub(super) fn give_up(&mut self) {
        self.asked.clear();
        for mut answer in core::mem::take(&mut self.answers).into_values() {
            self.unsay(&mut answer);
        }
        let code = crate::SessionErrorCode::NONE;
        for ticket in self.sessions.give_up() {
            let retry = self.leaving.contains_key(&ticket);
            self.events.push_back(Event::SessionRefused { ticket, code, retry });
        }
    }

    /// Sessions whose time has come.
    pub(super) fn expire_sessions(&mut self, now: Time) {
        while let Some(due) = self.sessions.handle_timeout(now) {
            match due {
                Due::Idle { session_id, close } => {
                    let header = CommonHeader { session_id, ..CommonHeader::default() };
                    self.write(&header, &Message::SessionClose(close, SessionCloseBody::default()));
                    self.events.push_back(Event::SessionIdle { session_id });
                }
                Due::Over(step) => self.step(step, now),
            }
        }
    }
}

/// A request to close that lets operations finish in that time, in milliseconds.
///
/// ```
/// use nnrp_core::InFlightPolicy;
/// use nnrp_core::state::connection::drain_within;
///
/// let close = drain_within(500);
/// assert_eq!((close.in_flight_policy, close.drain_timeout_ms), (InFlightPolicy::Drain, 500));
/// ```
pub fn drain_within(drain_timeout_ms: u32) -> SessionClose {
    SessionClose { in_flight_policy: InFlightPolicy::Drain, drain_timeout_ms, ..SessionClose::default() }
}

/// X1, if a SESSION_OPEN has it.
fn waterline(block: ControlExtensionEntries<'_>) -> Option<u64> {
    block.iter().find_map(|entry| match entry.payload {
        ControlExtensionPayload::ResumeFromOperation(from) => Some(from.resume_from_operation_id),
        _ => None,
    })
}
