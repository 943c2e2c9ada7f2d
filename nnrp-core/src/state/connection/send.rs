//! The way out: what the application sends, and what waits for credit.

use alloc::vec::Vec;

use super::event::{Event, Why};
use super::live::unknown;
use super::plan::{Act, Plan};
use super::work::submit_waits;
use super::{Connection, Message, Packet, observe};
use crate::state::credit::Blocked;
use crate::state::operation::{Found, Named, Verdict};
use crate::state::schedule::{Pass, Ticket};
use crate::state::{Refusal, Side, Time};
use crate::{CommonHeader, CommonHeaderView, MessageType, Scheduling};

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
        let act = self.act(&header, &message, None, now);
        let plan = self.check_out(&act)?;
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
        self.post(packet, None, now)
    }

    fn post(&mut self, packet: &[u8], class: Option<u16>, now: Time) -> Result<(), Why> {
        self.now = self.now.max(now);
        let words = self.config.words.tokens();
        let parsed = Packet::parse_with(packet, &|word| words.contains(word)).map_err(Why::Fault)?;
        let message = parsed.message();
        let unnumbered = match &message {
            Message::Progress(progress, _) => progress.progress_sequence == 0,
            Message::PartialResult(partial, _) => partial.result_sequence == 0,
            _ => super::plan::control_sequence(&message).is_some(),
        };
        if unnumbered {
            // What carries a number is written anew, with the next one.
            return self.send(&parsed.header().to_owned(), &message, now);
        }
        let header = parsed.header().to_owned();
        let act = self.act(&header, &message, class, now);
        let plan = self.check_out(&act)?;
        self.written = self.output.mark();
        self.output.tail().extend_from_slice(packet);
        self.count(self.written);
        self.apply(plan, &act);
        self.schedule(header.session_id);
        Ok(())
    }

    fn act<'a>(
        &self,
        header: &'a CommonHeader,
        message: &'a Message<'a>,
        class: Option<u16>,
        now: Time,
    ) -> Act<'a> {
        Act { sender: self.side, ours: true, header, message, packet: None, class, now }
    }

    /// Client: sends a FRAME_SUBMIT, or queues it where it has to wait for credit (W1). Says whether it went out; what
    /// was queued and cannot go any more comes back as [`Event::Unsent`].
    ///
    /// RESULT_PUSH names its operation by the frame alone. So a frame is best not used again where its operation ended at
    /// this end only, by SUPERSEDE or its time, and a result may still be on its way.
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
        let Message::FrameSubmit(submit, body) = parsed.message() else {
            return self.send_packet(packet, now).map(|()| true);
        };
        let (header, message) = (parsed.header().to_owned(), parsed.message());
        let session_id = header.session_id;
        let act = self.act(&header, &message, None, now);
        // What can never go out is refused now.
        match self.check_out(&act) {
            Ok(_) | Err(Why::Blocked(_)) => {}
            Err(why) => return Err(why),
        }
        let terms = self.sessions.check_session(session_id)?.terms();
        let budget = match submit.latency_budget_ms {
            0 => terms.default_deadline_ms,
            budget => budget.into(),
        };
        let links = body.regions.unwrap_or_default().operation_links().unwrap_or_default();
        // O8: a DEADLINE that came before goes before both.
        let early = self.early(session_id, submit.operation_id, header.frame_id);
        let ticket = Ticket {
            session: session_id,
            operation: submit.operation_id,
            class: terms.priority as u16,
            level: 0,
            deadline: early.or((budget != 0).then(|| now.after(budget.into()))),
            group: links.operation_group_id,
        };
        let plan = self.queue.check_push(&ticket, now)?;
        self.queue.apply_push(plan, packet.to_vec());
        self.pump(now);
        let live = self.lives.get(&session_id);
        Ok(live.is_some_and(|live| live.operations.by_id(submit.operation_id).is_some()))
    }

    /// Takes a submit back that waits for credit. Says whether it did.
    pub fn withdraw(&mut self, session_id: u32, operation_id: u64) -> bool {
        let found = self.queue.remove(session_id, operation_id).is_some();
        if found {
            self.events.push_back(Event::Unsent { session_id, operation_id, refusal: None });
        }
        found
    }

    /// Client: sets the class of an operation and shifts it within (O13), positive is sooner: by PRIORITY_UPDATE, or
    /// where its submit still waits for credit also in the order of what waits; then PRIORITY_UPDATE follows the submit.
    ///
    /// # Errors
    ///
    /// `invalid_state` for an operation that neither lives nor waits.
    pub fn prioritize(
        &mut self,
        session_id: u32,
        operation_id: u64,
        class: u16,
        delta: i16,
        now: Time,
    ) -> Result<(), Why> {
        if let Some((ticket, _)) = self.queue.get(session_id, operation_id) {
            let ticket = Ticket { class, level: ticket.level.saturating_add(delta), ..*ticket };
            self.queue.reschedule(&ticket, now);
            self.pump(now);
            return Ok(());
        }
        let header = self.header_of(session_id, operation_id)?;
        let scheduling = Scheduling {
            operation_id,
            priority_class: class,
            priority_delta: delta,
            ..Scheduling::default()
        };
        self.send(&header, &Message::PriorityUpdate(scheduling), now)
    }

    /// Client: the same for all members of a group, those that live and those that wait (O11). Gives how many these are.
    ///
    /// # Errors
    ///
    /// `invalid_state` without such a session, `limit_exceeded` once there are no numbers left (O6).
    pub fn prioritize_group(
        &mut self,
        session_id: u32,
        group: u64,
        class: u16,
        delta: i16,
        now: Time,
    ) -> Result<usize, Why> {
        let live = self.lives.get(&session_id).ok_or(unknown(session_id))?;
        let mut members: Vec<u64> = live.operations.group(group).map(|operation| operation.id()).collect();
        members.sort_unstable();
        members.extend(self.queue.group(session_id, group));
        for operation_id in &members {
            self.prioritize(session_id, *operation_id, class, delta, now)?;
        }
        Ok(members.len())
    }

    /// When the deadline is that came before the submit of that pair (O9).
    fn early(&self, session_id: u32, operation_id: u64, frame_id: u32) -> Option<Time> {
        self.lives.get(&session_id)?.operations.early_deadline(operation_id, frame_id)
    }

    /// A DEADLINE went out for an operation whose submit waits: it goes before what the submit says (O8).
    pub(super) fn set_waiting(&mut self, session_id: u32, operation_id: u64, frame_id: u32, now: Time) {
        let Some((ticket, packet)) = self.queue.get(session_id, operation_id) else { return };
        if packet.first_chunk().is_some_and(|header| CommonHeaderView(header).frame_id() == frame_id) {
            let deadline = self.early(session_id, operation_id, frame_id);
            let ticket = Ticket { deadline, ..*ticket };
            self.queue.reschedule(&ticket, now);
        }
    }

    /// Sends what waits and has credit now: interactive before balanced before background, and none starves.
    pub(super) fn pump(&mut self, now: Time) {
        while !self.queue.is_empty() {
            let Self { queue, window, lives, sessions, .. } = self;
            let next = queue.pop(|ticket| {
                match window.check_submit(ticket.class, now) {
                    Ok(_) => {}
                    Err(Blocked::BackgroundOnly) => return Pass::NotLane,
                    Err(_) => return Pass::Nothing,
                }
                let Some(live) = lives.get(&ticket.session) else { return Pass::Go };
                match submit_waits(sessions, live, ticket.session, ticket.class, now) {
                    None => Pass::Go,
                    Some(_) => Pass::NotSession,
                }
            });
            let Some((ticket, packet)) = next else { return };
            let Ticket { session: session_id, operation: operation_id, class, level, .. } = ticket;
            if let Err(why) = self.post(&packet, Some(class), now) {
                let refusal = match why {
                    Why::Refusal(refusal) => Some(refusal),
                    _ => None,
                };
                self.events.push_back(Event::Unsent { session_id, operation_id, refusal });
                continue;
            }
            let own = self.sessions.get(session_id).map(|session| session.terms().priority as u16);
            if level != 0 || own != Some(class) {
                // What was said of it while it waited (O13). Without a number left it stays as it is.
                let _ = self.prioritize(session_id, operation_id, class, level, now);
            }
        }
    }

    /// Nothing that waits goes out any more.
    pub(super) fn forget_queue(&mut self) {
        while let Some(session_id) = self.queue.any_session() {
            self.queue_session(session_id);
        }
    }

    /// The same of one session.
    pub(super) fn queue_session(&mut self, session_id: u32) {
        let events = &mut self.events;
        self.queue.remove_session(session_id, |ticket, _| {
            let operation_id = ticket.operation;
            events.push_back(Event::Unsent { session_id, operation_id, refusal: None });
        });
    }

    /// Whether a message of this end's may go out. Changes nothing, except that an operation whose time turns out to be
    /// over ends.
    fn check_out(&mut self, act: &Act<'_>) -> Result<Plan, Why> {
        use MessageType as M;
        let message = act.message.message_type();
        if matches!(
            message,
            M::Pong
                | M::TransportProbeAck
                | M::SessionCloseAck
                | M::SessionPatchAck
                | M::SessionMigrateAck
                | M::CacheAck
        ) {
            return Err(Refusal::state("C8", "the connection gives this answer itself").into());
        }
        self.approach(act.header.session_id);
        let plan = self.check(act)?;
        let late = match &plan {
            Plan::Late(_) => true,
            Plan::Event(event, _) => match event.verdict() {
                Verdict::Late(_) => true,
                Verdict::Old { last } => {
                    return Err(Refusal::state("O6", "the number is not newer than the last")
                        .about(last)
                        .into());
                }
                Verdict::Expires => return Err(self.expire_one(act, event.key())),
                _ => false,
            },
            Plan::Change(plan) if plan.expires() => return Err(self.expire_one(act, plan.key())),
            Plan::Cancel(plan, _) => plan.late().is_some(),
            Plan::Change(plan) => plan.late().is_some(),
            Plan::Supersede(plan) => plan.late().is_some(),
            _ => false,
        };
        // Nobody waits for it any more.
        if late { Err(Refusal::state("O4", "the operation has ended").into()) } else { Ok(plan) }
    }

    /// Fills in the numbers that the connection keeps.
    fn number<'a>(&self, header: &CommonHeader, message: &Message<'a>) -> Result<Message<'a>, Why> {
        let mut message = *message;
        let spent = || Why::from(Refusal::limit("O6", "there is no higher sequence number"));
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

    /// The largest body that the server takes, where it said so.
    pub(super) fn check_size(&self, act: &Act<'_>) -> Result<(), Why> {
        let limit = self.hello.agreed().map_or(0, |answer| answer.ack.max_body_bytes);
        if limit == 0 || act.sender != Side::Client {
            return Ok(());
        }
        let size = if act.ours { act.message.body_len() as u64 } else { act.header.body_len.into() };
        if size > u64::from(limit) {
            let why = "the body is larger than the server takes";
            return Err(Refusal::limit("F6", why).about(size).into());
        }
        Ok(())
    }

    /// Writes a message that the connection itself has to say. It is good by construction.
    pub(super) fn write(&mut self, header: &CommonHeader, message: &Message<'_>) {
        if self.is_over {
            return;
        }
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
        let packet = self.output.since(mark);
        let size = packet.len() as u64;
        if size > 0 {
            observe::packet_out(self.side, packet);
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
