//! What of a session outlives its connection, on either side (R1, R2, X1).

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::event::{Event, Over, Why};
use super::live::Live;
use super::{Connection, Message};
use crate::state::operation::{Cancelled, Cause, Ended, Manner, Named, Reach};
use crate::state::resume::{Bound, Handle, Limits, Token, Tokens};
use crate::state::session::{Carried, Session, Ticket};
use crate::state::{Refusal, Time};
use crate::{
    CommonHeader, CommonHeaderView, MessageType, OperationState, Progress, ProgressBody,
    ResumeFromOperationExtension, SessionFlags, SessionOpen, SessionOpenBody, StageCode,
};

/// A session without a connection: its operations, what they used, and the outcomes that were not confirmed.
#[derive(Debug)]
pub struct Left {
    pub(super) session_id: u32,
    pub(super) live: Box<Live>,
    pub(super) carried: Carried,
    /// How the client asks for it again.
    pub(super) open: SessionOpen,
}

impl Left {
    /// The session.
    pub const fn session_id(&self) -> u32 {
        self.session_id
    }

    /// Its operations, none of which has ended for the application.
    pub const fn operations(&self) -> &crate::state::operation::Operations {
        &self.live.operations
    }

    /// Gives the session up, because its window is over or nobody asks for it any more: ends its operations, and gives
    /// what came of each.
    pub fn end(self) -> Vec<Ended> {
        let mut operations = self.live.operations;
        let mut outcomes = Vec::new();
        if let Ok(plan) = operations.check_cancel(Reach::Session, Manner::End, Cause::Close) {
            operations.apply_cancel(plan, |cancelled| {
                if let Cancelled::Ended(outcome) = cancelled {
                    outcomes.push(outcome);
                }
            });
        }
        outcomes
    }
}

/// The sessions of a server that can be resumed, over all its connections.
///
/// A connection that is lost is [parked](Connection::park) on it. [`Connection::answer_open`] takes a session back when a
/// client brings its token.
///
/// ```
/// use nnrp_core::state::connection::{Config, Connection, Event, Shelf};
/// use nnrp_core::state::hello::{Abilities, Offer, Verdict};
/// use nnrp_core::state::session::{Policy, Verdicts};
/// use nnrp_core::state::{Side, Time};
/// use nnrp_core::{SessionFlags, SessionOpen};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let now = Time(0);
/// let mut shelf = Shelf::default();
/// let mut random = 1; // A real server uses a cryptographic source.
/// let mut meet = || -> Result<_, Box<dyn std::error::Error>> {
///     random += 100;
///     let mut secret = random;
///     let source = move || { secret += 1; secret };
///     let mut client = Connection::new(Side::Client, Config::new(Side::Client), || 1, now);
///     let mut server = Connection::new(Side::Server, Config::new(Side::Server), source, now);
///     client.hello(&Offer::new(), b"", now)?;
///     carry(&mut client, &mut server);
///     let Some(Event::Hello { offer, .. }) = server.poll_event() else { panic!("no hello") };
///     server.accept(&Abilities::default(), &offer, Verdict::Accept, 7, now)?;
///     carry(&mut server, &mut client);
///     (client.poll_event(), server.poll_event());
///     Ok((client, server))
/// };
/// # fn carry(from: &mut Connection, to: &mut Connection) {
/// #     let taken = to.handle_bytes(from.poll_output(), Time(0));
/// #     from.consume_output(taken);
/// # }
/// # fn answer(client: &mut Connection, server: &mut Connection, shelf: &mut Shelf) -> Option<(u32, bool)> {
/// #     carry(client, server);
/// #     let Some(Event::SessionRequested { ticket, .. }) = server.poll_event() else { return None };
/// #     server.answer_open(ticket, &Policy::default(), Verdicts::default(), shelf, Time(0)).ok()?;
/// #     carry(server, client);
/// #     let Some(Event::SessionOpened { session_id, resumed, .. }) = client.poll_event() else { return None };
/// #     Some((session_id, resumed))
/// # }
/// let (mut client, mut server) = meet()?;
/// let open = SessionOpen { session_flags: SessionFlags::ALLOW_RESUME, ..SessionOpen::default() };
/// client.open_session(&open, b"", now)?;
/// let Some((session_id, false)) = answer(&mut client, &mut server, &mut shelf) else { panic!("no session") };
///
/// // The transport is lost. Each end keeps the session, and on the next connection the client asks for it.
/// server.park(&mut shelf, now);
/// let left = client.take_sessions(now);
/// assert_eq!((shelf.len(), left.len()), (1, 1));
/// let (mut client, mut server) = meet()?;
/// for left in left {
///     client.resume_session(left, b"", now).map_err(|(why, _)| why)?;
/// }
/// assert_eq!(answer(&mut client, &mut server, &mut shelf), Some((session_id, true)));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Shelf {
    pub(super) tokens: Tokens<Left>,
}

impl Shelf {
    /// An empty one.
    pub const fn new(limits: Limits) -> Self {
        Self { tokens: Tokens::new(limits) }
    }

    /// Sessions that can be resumed, those that still have their connection included.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// When [`Self::handle_timeout`] has something to do.
    pub fn next_timeout(&self) -> Option<Time> {
        self.tokens.next_timeout()
    }

    /// Lets go of tokens whose successors the clients have, and of those whose sessions ended in order.
    pub(super) fn forget(&mut self, confirmed: &mut Vec<Handle>, revoked: &mut Vec<Handle>) {
        confirmed.drain(..).for_each(|handle| self.tokens.confirm(handle));
        revoked.drain(..).for_each(|handle| self.tokens.revoke(handle));
    }

    /// Gives up the next session whose window is over, and gives what was left of it, for [`Left::end`]. Call it until it
    /// gives `None`.
    pub fn handle_timeout(&mut self, now: Time) -> Option<(Bound, Left)> {
        self.tokens.handle_timeout(now)
    }
}

impl Default for Shelf {
    fn default() -> Self {
        Self::new(Limits::default())
    }
}

/// What a request for a session brought beside itself.
#[derive(Debug, Default)]
pub(super) struct Asked {
    pub(super) token: Vec<u8>,
    pub(super) waterline: Option<u64>,
}

/// What goes with an answer whose turn has not come yet.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) token: Option<(Handle, Token)>,
    pub(super) left: Option<Left>,
    pub(super) waterline: Option<u64>,
}

impl Connection {
    /// Takes a session off the connection.
    pub(super) fn leave(&mut self, session_id: u32) -> Option<Left> {
        let mut live = Box::new(self.lives.remove(&session_id)?);
        self.unheard.remove(&session_id);
        if let Some(due) = live.due.take() {
            self.timers.remove(&(due, session_id));
        }
        live.doubt.clear();
        live.resuming = false;
        self.window.leave(live.operations.len() as u64);
        // What waits for credit waits on this connection.
        self.queue_session(session_id);
        let session = self.sessions.get(session_id)?;
        let terms = session.terms();
        let open = SessionOpen {
            requested_session_id: session_id,
            profile_id: terms.profile,
            priority_class: terms.priority,
            session_flags: SessionFlags::from_bits_truncate(terms.flags.bits() as u8),
            default_deadline_ms: terms.default_deadline_ms,
            schema_id: terms.schema_id,
            schema_version: terms.schema_version,
            max_in_flight_operations: terms.max_in_flight,
            client_session_tag: terms.client_tag,
            lease_ttl_hint_ms: terms.lease_ttl_ms,
            ..SessionOpen::default()
        };
        Some(Left { session_id, live, carried: session.carried(), open })
    }

    /// Sessions that can be resumed on another connection. One that is closing ends with this one.
    pub(super) fn resumable(&self) -> Vec<u32> {
        let can = |session: &&Session| {
            let live = self.lives.get(&session.id());
            let has_token = live.is_some_and(|live| live.handle.is_some() || !live.token.is_empty());
            session.is_resumable() && session.is_open() && has_token
        };
        self.sessions.iter().filter(can).map(|session| session.id()).collect()
    }

    /// Server: whether the session of that token lives here.
    pub(super) fn has(&self, session_id: u32, handle: Handle) -> bool {
        self.lives.get(&session_id).is_some_and(|live| live.handle == Some(handle))
    }

    /// Server: the transport is gone. What can be resumed goes onto the shelf, whose window begins; everything else ends,
    /// and with it the connection. Poll the events that are left.
    ///
    /// Call it at the end of each connection, also of one that ended in order: the tokens of its sessions are good for
    /// nothing then.
    pub fn park(&mut self, shelf: &mut Shelf, now: Time) {
        let all = self.leave_all();
        self.over(Over::Lost, now);
        shelf.forget(&mut self.confirmed, &mut self.revoked);
        for left in core::mem::take(&mut self.held).into_iter().chain(all) {
            self.shelve(left, shelf, now);
        }
    }

    /// Server: takes one session off a connection that lives on, so that it can be resumed on another (R3). Says whether
    /// it could; otherwise nothing has changed.
    pub fn park_session(&mut self, session_id: u32, shelf: &mut Shelf, now: Time) -> bool {
        if self.is_over || !self.resumable().contains(&session_id) {
            return false;
        }
        shelf.forget(&mut self.confirmed, &mut self.revoked);
        if let Some(left) = self.leave(session_id) {
            self.sessions.end(session_id);
            self.forget_session(session_id);
            self.shelve(left, shelf, now);
            self.finish(now);
        }
        true
    }

    /// Takes every session off the connection that can be resumed on another.
    pub(super) fn leave_all(&mut self) -> Vec<Left> {
        self.resumable().into_iter().filter_map(|session_id| self.leave(session_id)).collect()
    }

    fn shelve(&mut self, left: Left, shelf: &mut Shelf, now: Time) {
        let left = match left.live.handle {
            Some(handle) => shelf.tokens.detach(handle, left, now),
            None => Some(left),
        };
        self.abandon(left, now);
    }

    /// Server: the session on another connection that this request would resume, if there is one. Until that connection
    /// is [parked](Self::park), or the session [alone](Self::park_session), the answer is to try again later.
    pub fn wants(&self, ticket: Ticket, shelf: &Shelf, now: Time) -> Option<u32> {
        let (asked, open) = (self.asked.get(&ticket)?, self.sessions.request(ticket)?);
        let plan = shelf.tokens.check_resume(&asked.token, open, self.principal, now).ok()?;
        let session_id = plan.bound().session_id;
        let elsewhere = !self.has(session_id, plan.handle()) && !shelf.tokens.is_detached(plan.handle());
        elsewhere.then_some(session_id)
    }

    /// Client: the transport is gone. Gives the sessions that can be resumed on another connection; everything else ends,
    /// and with it the connection. Poll the events that are left first: what was polled counts as delivered.
    pub fn take_sessions(&mut self, now: Time) -> Vec<Left> {
        let mut all = self.leave_all();
        // A request to resume one may not have got there.
        all.extend(core::mem::take(&mut self.leaving).into_values());
        self.over(Over::Lost, now);
        all.append(&mut self.held);
        all
    }

    /// Client: gives a session back whose resume was refused for now, so that it can be asked for again.
    pub fn take_refused(&mut self, ticket: Ticket) -> Option<Left> {
        if self.sessions.request(ticket).is_some() {
            return None;
        }
        self.leaving.remove(&ticket)
    }

    /// Client: asks for a session that was on another connection (R1), from the last operation up to which everything was
    /// delivered (X1). Where it is refused its operations end, and the events say so.
    ///
    /// # Errors
    ///
    /// As [`Connection::open_session`]; the session is given back.
    pub fn resume_session(&mut self, left: Left, auth: &[u8], now: Time) -> Result<Ticket, (Why, Box<Left>)> {
        if self.lives.contains_key(&left.session_id) {
            let refusal = Refusal::state("C3", "the session id is in use").about(left.session_id.into());
            return Err((refusal.into(), Box::new(left)));
        }
        let mark = left.live.waterline.as_ref().and_then(|waterline| waterline.mark());
        let mut extensions = crate::build::Extensions::new(MessageType::SessionOpen);
        if let Some(resume_from_operation_id) = mark {
            extensions = extensions.known(ResumeFromOperationExtension { resume_from_operation_id });
        }
        let session_extension = match extensions.entries() {
            Ok(entries) => entries,
            Err(fault) => return Err((Why::Fault(fault), Box::new(left))),
        };
        let body = SessionOpenBody { resume_token: &left.live.token, auth, session_extension };
        match self.ask(&left.open, body, now) {
            Ok(ticket) => {
                self.leaving.insert(ticket, left);
                Ok(ticket)
            }
            Err(why) => Err((why, Box::new(left))),
        }
    }

    /// Server: delivers again what the client may not have, and says of each live operation where it is (R1).
    pub(super) fn redeliver(&mut self, session_id: u32, from: Option<u64>, now: Time) {
        let Some(live) = self.lives.get_mut(&session_id) else { return };
        let mut again = Vec::new();
        if let Some(keeper) = &mut live.keeper {
            let waterline = match live.operations.by_id(from.unwrap_or(0)) {
                Some(operation) => Some(operation.order()),
                None => from.and_then(|from| keeper.serial_of(from)),
            };
            keeper.cover(waterline);
            // Who submits an operation under a frame or an id anew has the outcome of the one before.
            let mut frames = BTreeSet::new();
            for kept in keeper.iter().rev() {
                let frame = frame(&kept.outcome);
                let anew = live.operations.by_id(kept.operation_id).is_some()
                    || frame != 0 && (live.operations.by_frame(frame).is_some() || !frames.insert(frame));
                if !anew {
                    again.push(kept.outcome.clone());
                }
            }
        }
        for packet in again.into_iter().rev() {
            self.write_packet(&packet);
        }
        let Some(live) = self.lives.get(&session_id) else { return };
        let stages: Vec<_> = live
            .operations
            .iter()
            .map(|operation| (operation.id(), operation.frame(), stage(operation.state())))
            .collect();
        for (operation_id, frame_id, stage_code) in stages {
            // How far it is only the work itself knows.
            let progress = Progress { operation_id, stage_code, percent_x100: 0xffff, ..Progress::default() };
            let header = CommonHeader { session_id, frame_id, ..CommonHeader::default() };
            let body = ProgressBody { progress_body: &[] };
            // An operation whose numbers are used up says nothing more.
            let _ = self.send(&header, &Message::Progress(progress, body), now);
        }
    }

    /// Client: which of its operations the server knows is not known before it has answered what comes now.
    pub(super) fn doubt(&mut self, session_id: u32, now: Time) {
        let number = self.ping(now);
        let Some(live) = self.lives.get_mut(&session_id) else { return };
        live.doubt = live.operations.iter().map(|operation| operation.id()).collect();
        live.doubt_until = number;
        live.resuming = true;
        self.doubts.push_back((number, session_id));
    }

    /// The server has answered that PING: what it did not mention before, it never got.
    pub(super) fn settle(&mut self, number: u64, now: Time) {
        while let Some((asked, session_id)) =
            self.doubts.front().copied().filter(|(asked, _)| *asked <= number)
        {
            self.doubts.pop_front();
            let Some(live) = self.lives.get_mut(&session_id).filter(|live| live.doubt_until == asked) else {
                continue;
            };
            live.resuming = false;
            for operation_id in core::mem::take(&mut live.doubt) {
                self.end_one(session_id, Named::operation(operation_id), Cause::Lost, now);
            }
            self.queue.wake(session_id);
            self.pump(now);
        }
    }

    /// A session that will not come back: its operations end.
    pub(super) fn abandon(&mut self, left: Option<Left>, now: Time) {
        let Some(left) = left else { return };
        let session_id = left.session_id;
        for outcome in left.end() {
            self.counters.work.ended(&outcome, now);
            self.events.push_back(Event::Ended { session_id, outcome, packet: None });
        }
    }
}

/// The frame that a packet names; 0 for none.
fn frame(packet: &[u8]) -> u32 {
    packet.first_chunk().map_or(0, |header| CommonHeaderView(header).frame_id())
}

/// What PROGRESS says of an operation in that state, so that both ends have it in the same one from here on: a partial that
/// was lost may have been all that the client would have known of it.
const fn stage(state: OperationState) -> StageCode {
    match state {
        OperationState::Running => StageCode::EXECUTING,
        OperationState::Partial => StageCode::PRODUCING_PARTIAL,
        OperationState::WaitingTool => StageCode::WAITING_DEPENDENCY,
        _ => StageCode::QUEUED,
    }
}
