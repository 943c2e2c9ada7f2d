//! What of a session outlives its connection, on either side (R1, R2, X1).

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::event::{Event, Why};
use super::live::Live;
use super::{Connection, Message};
use crate::state::Time;
use crate::state::operation::{Cause, Named};
use crate::state::resume::{Bound, Handle, Limits, Token, Tokens};
use crate::state::session::{Carried, Ticket};
use crate::{
    CommonHeader, MessageType, OperationState, Progress, ProgressBody, ResumeFromOperationExtension,
    SessionFlags, SessionOpen, SessionOpenBody, StageCode,
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
}

/// The sessions of a server that can be resumed, over all its connections.
///
/// A connection that is lost is [parked](Connection::park) on it. [`Connection::answer_open`] takes a session back when a
/// client brings its token.
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

    /// Gives up the next session whose window is over, and gives what was left of it. Call it until it gives `None`.
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
        let session = self.sessions.get(session_id)?;
        let live = Box::new(self.lives.remove(&session_id)?);
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

    /// The transport is gone. Server: what can be resumed goes onto the shelf, whose window begins; everything else ends,
    /// and with it the connection. Poll the events that are left.
    pub fn park(&mut self, shelf: &mut Shelf, now: Time) {
        for handle in core::mem::take(&mut self.revoked) {
            shelf.tokens.revoke(handle);
        }
        let ids: Vec<u32> = self.lives.keys().copied().collect();
        for session_id in ids {
            let is_resumable = self.sessions.get(session_id).is_some_and(|session| session.is_resumable());
            let Some(handle) = self.lives.get(&session_id).and_then(|live| live.handle) else { continue };
            if !is_resumable {
                shelf.tokens.revoke(handle);
                continue;
            }
            if let Some(left) = self.leave(session_id)
                && let Some(left) = shelf.tokens.detach(handle, left, now)
            {
                self.abandon(Some(left), now);
            }
        }
        self.handle_lost(now);
    }

    /// The transport is gone. Client: gives the sessions that can be resumed on another connection; everything else ends,
    /// and with it the connection. Poll the events that are left first: what was polled counts as delivered.
    pub fn take_sessions(&mut self, now: Time) -> Vec<Left> {
        let resumable = self.sessions.iter().filter(|session| session.is_resumable());
        let ids: Vec<u32> = resumable.map(|session| session.id()).collect();
        let mut left: Vec<Left> = ids.into_iter().filter_map(|id| self.leave(id)).collect();
        left.retain(|left| !left.live.token.is_empty());
        self.handle_lost(now);
        left
    }

    /// Client: asks for a session that was on another connection (R1), from the last operation up to which everything was
    /// delivered (X1). Where it is refused its operations end, and the events say so.
    ///
    /// # Errors
    ///
    /// As [`Connection::open_session`]; the session is given back.
    pub fn resume_session(&mut self, left: Left, auth: &[u8], now: Time) -> Result<Ticket, (Why, Left)> {
        let mark = left.live.waterline.as_ref().and_then(|waterline| waterline.mark());
        let mut extensions = crate::build::Extensions::new(MessageType::SessionOpen);
        if let Some(resume_from_operation_id) = mark {
            extensions = extensions.known(ResumeFromOperationExtension { resume_from_operation_id });
        }
        let session_extension = match extensions.entries() {
            Ok(entries) => entries,
            Err(fault) => return Err((Why::Fault(fault), left)),
        };
        let body = SessionOpenBody { resume_token: &left.live.token, auth, session_extension };
        match self.ask(&left.open, body, now) {
            Ok(ticket) => {
                self.leaving.insert(ticket, left);
                Ok(ticket)
            }
            Err(why) => Err((why, left)),
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
            again = keeper.iter().map(|kept| kept.outcome.clone()).collect();
        }
        for packet in again {
            self.write_packet(&packet);
        }
        let Some(live) = self.lives.get(&session_id) else { return };
        let stages: Vec<_> = live
            .operations
            .iter()
            .map(|operation| (operation.id(), operation.frame(), stage(operation.state())))
            .collect();
        for (operation_id, frame_id, stage_code) in stages {
            let progress = Progress { operation_id, stage_code, ..Progress::default() };
            let header = CommonHeader { session_id, frame_id, ..CommonHeader::default() };
            let body = ProgressBody { progress_body: &[] };
            // An operation whose numbers are used up says nothing more.
            let _ = self.send(&header, &Message::Progress(progress, body), now);
        }
    }

    /// Client: which of its operations the server knows is not known before it has answered what comes now.
    pub(super) fn doubt(&mut self, session_id: u32, now: Time) {
        let Some(live) = self.lives.get_mut(&session_id) else { return };
        live.doubt = live.operations.iter().map(|operation| operation.id()).collect();
        if live.doubt.is_empty() {
            return;
        }
        let number = self.ping(now);
        if let Some(live) = self.lives.get_mut(&session_id) {
            live.doubt_until = number;
        }
    }

    /// The server has answered that PING: what it did not mention before, it never got.
    pub(super) fn settle(&mut self, number: u64, now: Time) {
        let in_doubt = |live: &Live| !live.doubt.is_empty() && live.doubt_until <= number;
        let ids: Vec<u32> = self.lives.iter().filter(|(_, live)| in_doubt(live)).map(|(id, _)| *id).collect();
        for session_id in ids {
            let Some(live) = self.lives.get_mut(&session_id) else { continue };
            for operation_id in core::mem::take(&mut live.doubt) {
                self.end_one(session_id, Named::operation(operation_id), Cause::Lost, now);
            }
        }
    }

    /// A session that will not come back: its operations end.
    pub(super) fn abandon(&mut self, left: Option<Left>, now: Time) {
        use crate::state::operation::{Cancelled, Manner, Reach};
        let Some(Left { session_id, mut live, .. }) = left else { return };
        let Ok(plan) = live.operations.check_cancel(Reach::Session, Manner::End, Cause::Close) else {
            return;
        };
        live.operations.apply_cancel(plan, |cancelled| {
            if let Cancelled::Ended(outcome) = cancelled {
                self.counters.work.ended(&outcome, now);
                self.events.push_back(Event::Ended { session_id, outcome, packet: None });
            }
        });
    }
}

/// What PROGRESS says of an operation in that state, so that it stays in it.
const fn stage(state: OperationState) -> StageCode {
    match state {
        OperationState::Running => StageCode::EXECUTING,
        OperationState::Partial => StageCode::UNSPECIFIED,
        OperationState::WaitingTool => StageCode::WAITING_DEPENDENCY,
        _ => StageCode::QUEUED,
    }
}
