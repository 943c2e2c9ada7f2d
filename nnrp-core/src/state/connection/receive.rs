//! The way in: bytes, packets, and what is said to those that are refused (C4, C5).

use super::event::{Event, Over, Received, Why};
use super::plan::Act;
use super::{Connection, Message, Packet, observe};
use crate::state::capability::Purpose;
use crate::state::operation::{self, Remembered};
use crate::state::{Refusal, Time};
use crate::wire::Fault;
use crate::{CommonHeader, ConnectionState, Error, ErrorBody, ErrorCode, ErrorScope, MessageType};
use crate::{DropReasonCode, HeaderFlags, ResultDropFlags};

impl Connection {
    /// Takes bytes of the peer's, however they are cut, and gives how many it took.
    ///
    /// It takes all of them, unless [`Self::is_full`] or the connection is over. Then fetch events and output, answer
    /// requests, and give the rest again.
    pub fn handle_bytes(&mut self, bytes: &[u8], now: Time) -> usize {
        self.now = self.now.max(now);
        let mut rest = bytes;
        let mut splitter = core::mem::take(&mut self.splitter);
        while !self.is_full() && !self.is_over {
            let words = &self.config.words;
            match splitter.next_with(&mut rest, &|word| words.tokens().contains(word)) {
                Ok(Some(packet)) => self.handle_packet(&packet, now),
                Ok(None) => break,
                Err(fault) => {
                    self.handle_fault(&fault, splitter.refused().copied(), now);
                    if fault.breaks_stream() {
                        rest = &[];
                        break;
                    }
                }
            }
        }
        self.splitter = splitter;
        let taken = bytes.len().saturating_sub(rest.len());
        if !bytes.is_empty() {
            // Also what has to wait shows that the peer is there.
            self.pulse.hear(now);
            self.counters.bytes_in += taken as u64;
        }
        taken
    }

    /// Whether nothing more is read before events or output were fetched, or on a server a request for a session was
    /// answered: one that had to be refused for want of room would be answered before those that came first (C8).
    pub fn is_full(&self) -> bool {
        self.events.len() >= self.config.events
            || self.events.bytes() >= self.config.event_bytes
            || self.output.len() >= self.config.output_bytes
            || !self.is_client() && self.sessions.opening() >= self.config.sessions.pending.max(1)
    }

    fn handle_packet(&mut self, packet: &Packet<'_>, now: Time) {
        self.counters.packets_in += 1;
        let (header, message) = (packet.header().to_owned(), packet.message());
        observe::packet_in(self.side, &header, packet.as_bytes().len());
        let sender = self.side.peer();
        let packet = Some(packet);
        let act = Act { sender, ours: false, header: &header, message: &message, packet, class: None, now };
        self.approach(header.session_id);
        match self.check(&act) {
            Ok(plan) => self.apply(plan, &act),
            Err(why) => self.refuse(&act, why),
        }
        self.schedule(header.session_id);
    }

    /// A packet that breaks a decode rule. Nothing is touched but what its error demands (C5).
    fn handle_fault(&mut self, fault: &Fault, header: Option<CommonHeader>, now: Time) {
        self.counters.refused += 1;
        let header = header.unwrap_or_default();
        let fatal = fault.breaks_stream();
        self.events.push_back(Event::Refused { header, why: Why::Fault(*fault) });
        if fatal {
            self.write_error(&CommonHeader::default(), ErrorScope::Connection, fault.error_code(), true);
            self.over(Over::Broken, now);
        } else if !is_error(header.msg_type) {
            self.answer_error(&header, fault.error_code(), now);
            self.skip_answer(&header, None, fault.error_code(), now);
        }
    }

    /// A packet that does not fit the state of things.
    fn refuse(&mut self, act: &Act<'_>, why: Why) {
        self.counters.refused += 1;
        let (header, now) = (*act.header, act.now);
        if let (Message::CacheReference(reference, _), Why::Cache(_, code)) = (act.message, &why) {
            return self.miss(&header, reference, *code);
        }
        let code = why.code();
        self.events.push_back(Event::Refused { header, why });
        match (act.message, &why) {
            // ERROR and ERROR_RECOVERABLE are never answered (C4).
            (Message::Error(..) | Message::ErrorRecoverable(..), _) => {}
            (Message::CachePut(put, _), why) if self.is_working() => {
                // K8: also where its object is what is wrong.
                let refusal = Refusal::new(why.code(), "K8", "the object is refused");
                self.refuse_put(&header, put, &refusal);
            }
            (_, Why::Cache(_, code)) => {
                self.cache.note_miss(*code);
                self.answer_error(&header, why.code(), now);
            }
            (_, why) => self.answer_error(&header, why.code(), now),
        }
        self.skip_answer(&header, Some(act.message), code, now);
    }

    /// An answer that cannot be taken leaves its question without one, and what the peer made of the question has to
    /// go at its end, too. There is no message where the packet could not be read.
    fn skip_answer(
        &mut self,
        header: &CommonHeader,
        message: Option<&Message<'_>>,
        code: ErrorCode,
        now: Time,
    ) {
        match header.msg_type {
            MessageType::SessionOpenAck if self.is_client() => {
                let Some((ticket, asked)) = self.sessions.skip() else { return };
                let left = self.leaving.remove(&ticket);
                self.abandon(left, now);
                let none = crate::SessionErrorCode::NONE;
                self.events.push_back(Event::SessionRefused { ticket, code: none, retry: false });
                match message {
                    Some(Message::SessionOpenAck(ack, _)) => self.disown(ack.session_id, code),
                    // It can only be the one that was asked for.
                    _ => self.disown(asked, code),
                }
            }
            MessageType::SessionPatchAck if self.is_client() => self.sessions.skip_patch(header.session_id),
            MessageType::SessionCloseAck => {
                if let Some(Message::SessionCloseAck(ack, _)) = message
                    && self.sessions.skip_close(header.session_id, ack)
                {
                    self.disown(header.session_id, code);
                }
            }
            MessageType::CacheAck => {
                if let Some(Message::CacheAck(ack, _)) = message
                    && let Some(answered) = self.puts.skip(ack, header.session_id, code)
                {
                    self.events.push_back(Event::Cached(answered));
                }
            }
            MessageType::CapabilityNegotiation if self.is_client() => {
                if let Some(Message::CapabilityNegotiation(answer, _)) = message
                    && let Some(event) = self.capabilities.skip(header.session_id, answer.profile_id)
                {
                    self.events.push_back(Event::Capability { purpose: Purpose::Negotiation, event });
                }
            }
            MessageType::Pong => {
                self.pulse.pong(now);
                if !self.doubts.is_empty() {
                    self.ping(now);
                }
            }
            _ => {}
        }
    }

    /// The peer has a session that is none here: a fatal ERROR of its scope ends it there (C4).
    fn disown(&mut self, session_id: u32, code: ErrorCode) {
        if session_id != 0 && self.is_working() && self.sessions.get(session_id).is_none() {
            let header = CommonHeader { session_id, ..CommonHeader::default() };
            self.write_error(&header, ErrorScope::Session, code, true);
        }
    }

    /// ERROR for a packet that is refused, in the scope and as fatal as C4 has it, and what follows from that here.
    pub(super) fn answer_error(&mut self, header: &CommonHeader, code: ErrorCode, now: Time) {
        let message = header.msg_type;
        match self.hello.state() {
            // Before the hello nobody can take an ERROR, and of the client's hello it is the answer.
            ConnectionState::Init if self.is_client() || message != MessageType::ClientHello => return,
            // Whatever fails now is the negotiation (C1). A probe stands beside it.
            ConnectionState::Init | ConnectionState::Negotiating => {
                if matches!(message, MessageType::TransportProbe | MessageType::TransportProbeAck) {
                    return;
                }
                self.write_error(&CommonHeader::default(), ErrorScope::Connection, code, true);
                return self.over(Over::Refused, now);
            }
            ConnectionState::Active | ConnectionState::Draining => {}
            ConnectionState::Closed => return,
        }
        let frame = message == MessageType::FrameSubmit && header.frame_id != 0;
        let scope = match (header.session_id, frame) {
            (0, _) => ErrorScope::Connection,
            // F5: it should have been 0.
            (..) if is_of_connection(message) => ErrorScope::Connection,
            (_, true) => ErrorScope::Frame,
            (..) if is_fatal(code) => ErrorScope::Connection,
            _ => ErrorScope::Session,
        };
        let fatal = scope == ErrorScope::Connection && is_fatal(code);
        self.write_error(header, scope, code, fatal);
        if fatal && let Ok(Some(plan)) = self.hello.check_error(self.side, scope, fatal) {
            self.begin_end(plan, now);
        }
    }

    pub(super) fn write_error(
        &mut self,
        header: &CommonHeader,
        error_scope: ErrorScope,
        error_code: ErrorCode,
        is_fatal: bool,
    ) {
        let error = Error {
            error_code,
            error_scope,
            is_fatal,
            related_session_id: header.session_id,
            related_frame_id: header.frame_id,
            related_view_id: header.view_id.into(),
            ..Error::default()
        };
        let mut header = header.answer();
        if error_scope == ErrorScope::Connection {
            header.session_id = 0;
        }
        self.write(&header, &Message::Error(error, ErrorBody::default()));
    }

    /// Whether negotiation is over and the end is not.
    fn is_working(&self) -> bool {
        matches!(self.hello.state(), ConnectionState::Active | ConnectionState::Draining)
    }

    /// A message that only has to be passed on.
    pub(super) fn pass(&mut self, act: &Act<'_>) {
        let Some(packet) = act.received() else { return };
        self.events.push_back(match act.message {
            Message::Error(..) | Message::ErrorRecoverable(..) => Event::Error { packet },
            _ => Event::Message { packet },
        });
    }

    /// A message that came too late.
    pub(super) fn late(&mut self, act: &Act<'_>, ended: Option<Remembered>) {
        let session_id = act.header.session_id;
        self.counters.work.late += 1;
        if let Some(live) = self.lives.get_mut(&session_id) {
            live.work.late += 1;
        }
        let Some(packet) = act.packet.map(Received::new) else { return };
        self.events.push_back(Event::Late { session_id, ended, packet });
        if let Some(ended) = ended
            && ended.reason == DropReasonCode::DEADLINE_EXPIRED
            && !ends(act)
        {
            // O8: whose time passed here may live on there, as its time was changed meanwhile or another clock is behind.
            self.tell_ended(session_id, &ended);
        }
    }

    /// The transport is gone, and everything ends with it. What can be resumed is kept by [`Self::park`] or
    /// [`Self::take_sessions`] instead.
    pub fn handle_lost(&mut self, now: Time) {
        self.over(Over::Lost, now);
        let held = core::mem::take(&mut self.held).into_iter();
        let leaving = core::mem::take(&mut self.leaving).into_values();
        held.chain(leaving).for_each(|left| self.abandon(Some(left), now));
    }

    /// The next thing that happened. A terminal outcome that was polled counts as delivered (O5, X1).
    pub fn poll_event(&mut self) -> Option<Event> {
        let event = self.events.pop_front()?;
        if let Event::Ended { session_id, outcome, .. } = &event
            && let Some(live) = self.lives.get_mut(session_id)
            && let Some(waterline) = &mut live.waterline
        {
            waterline.delivered(outcome.operation);
        }
        Some(event)
    }
}

/// Whether the sender of a message takes an operation for ended.
fn ends(act: &Act<'_>) -> bool {
    match act.message {
        Message::ResultPush(push, _) => {
            let event = operation::Event::result(push, act.header.flags.contains(HeaderFlags::EOS));
            event.target().is_some_and(|state| state.is_terminal())
        }
        Message::ResultDropReason(drop, _) => drop.flags.contains(ResultDropFlags::FINAL),
        Message::ResultDrop(..) | Message::Error(..) | Message::Supersede(..) => true,
        _ => false,
    }
}

const fn is_error(message: MessageType) -> bool {
    matches!(message, MessageType::Error | MessageType::ErrorRecoverable)
}

/// Messages that are of the connection whatever their header says.
const fn is_of_connection(message: MessageType) -> bool {
    use MessageType as M;
    matches!(
        message,
        M::ClientHello
            | M::ServerHelloAck
            | M::Close
            | M::SessionOpen
            | M::SessionOpenAck
            | M::TransportProbe
            | M::TransportProbeAck
            | M::Ping
            | M::Pong
    )
}

/// The codes that end a connection (C4).
fn is_fatal(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::UNSUPPORTED_VERSION
            | ErrorCode::MALFORMED_HEADER
            | ErrorCode::AUTH_FAILED
            | ErrorCode::INTERNAL_ERROR
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c4_four_codes_end_a_connection() {
        let fatal: alloc::vec::Vec<ErrorCode> =
            ErrorCode::ALL.into_iter().filter(|code| is_fatal(*code)).collect();
        assert_eq!(
            fatal,
            [
                ErrorCode::UNSUPPORTED_VERSION,
                ErrorCode::AUTH_FAILED,
                ErrorCode::MALFORMED_HEADER,
                ErrorCode::INTERNAL_ERROR
            ]
        );
    }
}
