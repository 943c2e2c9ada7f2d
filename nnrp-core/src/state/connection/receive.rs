//! The way in: bytes, packets, and what is said to those that are refused (C4, C5).

use super::event::{Event, Over, Received, Why};
use super::plan::Act;
use super::{Connection, Message, Packet};
use crate::state::Time;
use crate::state::operation::Remembered;
use crate::wire::Fault;
use crate::{CommonHeader, ConnectionState, Error, ErrorBody, ErrorCode, ErrorScope, MessageType};

impl Connection {
    /// Takes bytes of the peer's, however they are cut, and gives how many it took.
    ///
    /// It takes all of them, unless events or output that nobody fetched reached their limit, or the connection is over.
    /// Then fetch, and give the rest again.
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
        if taken > 0 {
            self.pulse.hear(now);
            self.counters.bytes_in += taken as u64;
        }
        taken
    }

    /// Whether nothing more is read before events or output were fetched.
    pub fn is_full(&self) -> bool {
        self.events.len() >= self.config.events || self.output.len() >= self.config.output_bytes
    }

    fn handle_packet(&mut self, packet: &Packet<'_>, now: Time) {
        self.counters.packets_in += 1;
        let (header, message) = (packet.header().to_owned(), packet.message());
        let sender = self.side.peer();
        let act = Act { sender, ours: false, header: &header, message: &message, packet: Some(packet), now };
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
            self.answer_error(&CommonHeader::default(), &fault.error_code(), true);
            self.over(Over::Broken, now);
        } else if !is_error(header.msg_type) {
            self.answer_error(&header, &fault.error_code(), false);
            self.skip_answer(header.msg_type, now);
        }
    }

    /// A packet that does not fit the state of things.
    fn refuse(&mut self, act: &Act<'_>, why: Why) {
        self.counters.refused += 1;
        let header = *act.header;
        match (act.message, &why) {
            // ERROR and ERROR_RECOVERABLE are never answered (C4).
            (Message::Error(..) | Message::ErrorRecoverable(..), _) => {}
            (Message::CachePut(put, _), Why::Refusal(refusal)) => self.refuse_put(&header, put, refusal),
            (Message::CacheReference(reference, _), Why::Cache(_, code)) => {
                return self.miss(&header, reference, *code);
            }
            (_, Why::Cache(_, code)) => {
                self.cache.note_miss(*code);
                self.answer_error(&header, &why.code(), false);
            }
            (_, why) => self.answer_error(&header, &why.code(), false),
        }
        self.events.push_back(Event::Refused { header, why });
        self.skip_answer(header.msg_type, act.now);
    }

    /// An answer that cannot be taken leaves its question without one.
    fn skip_answer(&mut self, message: MessageType, now: Time) {
        match message {
            MessageType::SessionOpenAck if self.is_client() => {
                if let Some(ticket) = self.sessions.skip() {
                    let left = self.leaving.remove(&ticket);
                    self.abandon(left, now);
                    let code = crate::SessionErrorCode::NONE;
                    self.events.push_back(Event::SessionRefused { ticket, code, retry: false });
                }
            }
            MessageType::ServerHelloAck if self.hello.state() == ConnectionState::Negotiating => {
                // C1: negotiating → closed on failure.
                self.over(Over::Refused, now);
            }
            _ => {}
        }
    }

    /// ERROR, in the scope and as fatal as C4 has it.
    pub(super) fn answer_error(&mut self, header: &CommonHeader, code: &ErrorCode, broken: bool) {
        let frame = header.msg_type == MessageType::FrameSubmit && header.frame_id != 0;
        let error_scope = match (header.session_id, frame) {
            (0, _) => ErrorScope::Connection,
            (_, true) => ErrorScope::Frame,
            _ => ErrorScope::Session,
        };
        let negotiating = !matches!(self.hello.state(), ConnectionState::Active | ConnectionState::Draining);
        let is_fatal = broken
            || error_scope == ErrorScope::Connection && is_fatal(*code)
            || error_scope == ErrorScope::Frame;
        let error = Error {
            error_code: *code,
            error_scope,
            is_fatal,
            related_session_id: header.session_id,
            related_frame_id: header.frame_id,
            related_view_id: header.view_id.into(),
            ..Error::default()
        };
        if negotiating && !is_fatal && self.hello.state() == ConnectionState::Init {
            // There is no state yet in which an ERROR could come.
            return;
        }
        self.write(&header.answer(), &Message::Error(error, ErrorBody::default()));
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
        if let Some(packet) = act.packet.map(Received::new) {
            self.events.push_back(Event::Late { session_id, ended, packet });
        }
    }

    /// The transport is gone, and all that is not kept for a resume ends with it.
    pub fn handle_lost(&mut self, now: Time) {
        self.over(Over::Lost, now);
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

const fn is_error(message: MessageType) -> bool {
    matches!(message, MessageType::Error | MessageType::ErrorRecoverable)
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
