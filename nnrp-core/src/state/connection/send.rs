//! The way out: what the application sends, and what waits for credit.

use alloc::vec::Vec;

use super::event::{Event, Why};
use super::plan::{Act, Plan};
use super::{Connection, Message, Packet};
use crate::state::Time;
use crate::state::credit::Blocked;
use crate::state::operation::Found;
use crate::state::operation::Named;
use crate::state::schedule::{Pass, Ticket};
use crate::{CommonHeader, ErrorCode};

impl CommonHeader {
    /// The header of an answer: the same session, frame, lane, route and trace.
    pub(super) fn answer(&self) -> Self {
        Self {
            session_id: self.session_id,
            frame_id: self.frame_id,
            view_id: self.view_id,
            route_id: self.route_id,
            trace_id: self.trace_id,
            ..Self::default()
        }
    }
}

impl Connection {
    /// Sends a message, if everything that it concerns agrees; otherwise nothing has changed.
    ///
    /// What the connection numbers it numbers itself: `control_sequence` always, `progress_sequence` and
    /// `result_sequence` where they are 0. Lengths and counts are filled in by the writer.
    ///
    /// # Errors
    ///
    /// What a reader would refuse, what the state of things does not allow, and what has to wait for credit. A submit
    /// that may wait goes by [`Self::submit`].
    pub fn send(&mut self, header: &CommonHeader, message: &Message<'_>, now: Time) -> Result<(), Why> {
        self.now = self.now.max(now);
        let message = self.number(header, message)?;
        let header = CommonHeader { msg_type: message.message_type(), ..*header };
        let act =
            Act { sender: self.side, ours: true, header: &header, message: &message, packet: None, now };
        let plan = self.check(&act)?;
        self.check_size(&message)?;
        if let Plan::Late(_) = plan {
            // Nobody waits for it any more.
            return Err(crate::state::Refusal::state("O4", "the operation has ended").into());
        }
        self.written = self.output.mark();
        let words = self.config.words.tokens();
        message.append_with(&header, self.output.tail(), &|word| words.contains(word)).map_err(Why::Fault)?;
        self.count(self.written);
        self.apply(plan, &act);
        self.schedule(header.session_id);
        Ok(())
    }

    /// Sends a packet that was made by a builder, such as a result; a submit goes by [`Self::submit`].
    ///
    /// # Errors
    ///
    /// As [`Self::send`].
    pub fn send_packet(&mut self, packet: &[u8], now: Time) -> Result<(), Why> {
        self.now = self.now.max(now);
        let words = self.config.words.tokens();
        let parsed = Packet::parse_with(packet, &|word| words.contains(word)).map_err(Why::Fault)?;
        let message = parsed.message();
        if super::plan::control_sequence(&message).is_some() {
            // What carries a number is written anew, with the next one.
            return self.send(&parsed.header().to_owned(), &message, now);
        }
        let header = parsed.header().to_owned();
        let act =
            Act { sender: self.side, ours: true, header: &header, message: &message, packet: None, now };
        let plan = self.check(&act)?;
        self.check_size(&message)?;
        if let Plan::Late(_) = plan {
            return Err(crate::state::Refusal::state("O4", "the operation has ended").into());
        }
        self.written = self.output.mark();
        self.output.tail().extend_from_slice(packet);
        self.count(self.written);
        self.apply(plan, &act);
        self.schedule(header.session_id);
        Ok(())
    }

    /// Client: sends a FRAME_SUBMIT, or queues it where it has to wait for credit (W1). Says whether it went out; what
    /// was queued and cannot go any more comes back as [`Event::Unsent`].
    ///
    /// # Errors
    ///
    /// As [`Self::send`], but for credit.
    pub fn submit(&mut self, packet: &[u8], now: Time) -> Result<bool, Why> {
        if self.queue.is_empty() {
            match self.send_packet(packet, now) {
                Err(Why::Blocked(_)) => {}
                result => return result.map(|()| true),
            }
        }
        let words = self.config.words.tokens();
        let parsed = Packet::parse_with(packet, &|word| words.contains(word)).map_err(Why::Fault)?;
        let Message::FrameSubmit(submit, _) = parsed.message() else {
            return self.send_packet(packet, now).map(|()| true);
        };
        let session_id = parsed.header().session_id();
        self.sessions.check_submit(session_id).map(drop).or_else(|refusal| {
            // A full session is what the queue is for.
            if refusal.code == ErrorCode::LIMIT_EXCEEDED { Ok(()) } else { Err(refusal) }
        })?;
        let terms = self.sessions.check_session(session_id)?.terms();
        let budget = match submit.latency_budget_ms {
            0 => terms.default_deadline_ms,
            budget => budget.into(),
        };
        let ticket = Ticket {
            session: session_id,
            operation: submit.operation_id,
            class: terms.priority as u16,
            level: 0,
            deadline: (budget != 0).then(|| now.after(budget.into())),
        };
        let plan = self.queue.check_push(&ticket, now)?;
        self.queue.apply_push(plan, packet.to_vec());
        self.pump(now);
        Ok(self.queue.get(session_id, submit.operation_id).is_none())
    }

    /// Takes a submit back that waits for credit. Says whether it did.
    pub fn withdraw(&mut self, session_id: u32, operation_id: u64) -> bool {
        let found = self.queue.remove(session_id, operation_id).is_some();
        if found {
            self.events.push_back(Event::Unsent { session_id, operation_id, refusal: None });
        }
        found
    }

    /// Sends what waits and has credit now: interactive before balanced before background, and none starves.
    pub(super) fn pump(&mut self, now: Time) {
        while !self.queue.is_empty() {
            let Self { queue, window, lives, .. } = self;
            let next = queue.pop(|ticket| {
                match window.check_submit(ticket.class, now) {
                    Ok(_) => {}
                    Err(Blocked::BackgroundOnly) => return Pass::NotLane,
                    Err(_) => return Pass::Nothing,
                }
                let Some(live) = lives.get(&ticket.session) else { return Pass::Go };
                match live.window.check_submit(ticket.class, now) {
                    Ok(_) => Pass::Go,
                    Err(_) => Pass::NotSession,
                }
            });
            let Some((ticket, packet)) = next else { return };
            if let Err(why) = self.send_packet(&packet, now) {
                let refusal = match why {
                    Why::Refusal(refusal) => Some(refusal),
                    _ => None,
                };
                let (session_id, operation_id) = (ticket.session, ticket.operation);
                self.events.push_back(Event::Unsent { session_id, operation_id, refusal });
            }
        }
    }

    /// Nothing that waits goes out any more.
    pub(super) fn forget_queue(&mut self) {
        let ids: Vec<u32> = self.lives.keys().copied().collect();
        ids.into_iter().for_each(|session_id| self.queue_session(session_id));
    }

    /// The same of one session.
    pub(super) fn queue_session(&mut self, session_id: u32) {
        let events = &mut self.events;
        self.queue.remove_session(session_id, |ticket, _| {
            let operation_id = ticket.operation;
            events.push_back(Event::Unsent { session_id, operation_id, refusal: None });
        });
    }

    /// Fills in the numbers that the connection keeps.
    fn number<'a>(&self, header: &CommonHeader, message: &Message<'a>) -> Result<Message<'a>, Why> {
        let mut message = *message;
        let spent = || Why::from(crate::state::Refusal::limit("O6", "there is no higher sequence number"));
        let live = self.lives.get(&header.session_id);
        let key = |operation| match live?.operations.find(Named::operation(operation)) {
            Ok(Found::Live(key)) => Some(key),
            _ => None,
        };
        match &mut message {
            Message::Cancel(request, _) | Message::Abort(request, _) => {
                request.control_sequence = self.said.next().ok_or_else(spent)?;
            }
            Message::PriorityUpdate(scheduling)
            | Message::Deadline(scheduling)
            | Message::ExpireAt(scheduling) => {
                scheduling.control_sequence = self.said.next().ok_or_else(spent)?;
            }
            Message::Supersede(supersede, _) => {
                supersede.control_sequence = self.said.next().ok_or_else(spent)?;
            }
            Message::RetryAfter(retry, _) => retry.control_sequence = self.said.next().ok_or_else(spent)?,
            Message::Progress(progress, _) if progress.progress_sequence == 0 => {
                if let (Some(live), Some(key)) = (live, key(progress.operation_id)) {
                    progress.progress_sequence = live.operations.next_progress(key).ok_or_else(spent)?;
                }
            }
            Message::PartialResult(partial, _) if partial.result_sequence == 0 => {
                if let (Some(live), Some(key)) = (live, key(partial.operation_id)) {
                    partial.result_sequence = live.operations.next_result(key).ok_or_else(spent)?;
                }
            }
            _ => {}
        }
        Ok(message)
    }

    /// The largest body that the peer takes, where it said so.
    fn check_size(&self, message: &Message<'_>) -> Result<(), Why> {
        let limit = self.hello.agreed().map_or(0, |answer| answer.ack.max_body_bytes);
        let size = message.body_len() as u64;
        if self.is_client() && limit != 0 && size > u64::from(limit) {
            let why = "the body is larger than the server takes";
            return Err(crate::state::Refusal::limit("F6", why).about(size).into());
        }
        Ok(())
    }

    /// Writes a message that the connection itself has to say. It is good by construction.
    pub(super) fn write(&mut self, header: &CommonHeader, message: &Message<'_>) {
        self.written = self.output.mark();
        let header = CommonHeader { msg_type: message.message_type(), ..*header };
        let words = self.config.words.tokens();
        let wrote = message.append_with(&header, self.output.tail(), &|word| words.contains(word));
        debug_assert!(wrote.is_ok(), "{message:?}: {wrote:?}");
        if wrote.is_ok() {
            self.count(self.written);
        }
    }

    /// Writes a packet again.
    pub(super) fn write_packet(&mut self, packet: &[u8]) {
        self.written = self.output.mark();
        self.output.tail().extend_from_slice(packet);
        self.count(self.written);
    }

    fn count(&mut self, mark: usize) {
        let size = self.output.since(mark).len() as u64;
        if size > 0 {
            self.counters.packets_out += 1;
            self.counters.bytes_out += size;
        }
    }

    /// What is to be sent, in order. Tell with [`Self::consume_output`] how much of it the transport took.
    pub fn poll_output(&self) -> &[u8] {
        self.output.as_slice()
    }

    /// The transport took so many bytes of [`Self::poll_output`].
    pub fn consume_output(&mut self, count: usize) {
        self.output.consume(count);
    }
}
