//! Operations: submits, what happens to them, how they end (O1–O14, U1–U3, T1).

use alloc::vec::Vec;

use super::event::{Event, Received, Why};
use super::live::{Live, unknown};
use super::plan::{Act, Plan, Submission};
use super::{Connection, Message, observe};
use crate::state::cache::{Key, Node, Owner, Want};
use crate::state::credit::Blocked;
use crate::state::operation::{
    self, Applied, CancelPlan, Cancelled, Cause, Change, Ended, Event as Step, EventPlan, Found, Manner,
    Named, Reach, Remembered, Submit, Verdict,
};
use crate::state::session::Sessions;
use crate::state::{Refusal, Time};
use crate::{
    CommonHeader, ControlExtensionEntries, ControlExtensionPayload, DropReasonCode, ErrorCode, FrameSubmit,
    FrameSubmitBody, HeaderFlags, OperationState, PayloadKindBitmap, Regions, ResultDrop, ResultDropFlags,
    ResultDropReasonBody,
};

impl Connection {
    pub(super) fn check_submit(
        &self,
        act: &Act<'_>,
        submit: &FrameSubmit,
        body: &FrameSubmitBody<'_>,
    ) -> Result<Plan, Why> {
        let session_id = act.header.session_id;
        let live = self.lives.get(&session_id).ok_or(unknown(session_id))?;
        let terms = self.sessions.check_session(session_id)?.terms();
        let regions = body.regions.unwrap_or_default();
        let links = regions.operation_links().unwrap_or_default();
        let class = terms.priority as u16;
        let session = self.sessions.check_submit(session_id);
        let operation = live.operations.check_submit(
            &Submit {
                operation: submit.operation_id,
                frame: act.header.frame_id,
                parent: links.parent_operation_id,
                group: links.operation_group_id,
                class,
                latency_budget_ms: submit.latency_budget_ms,
                default_deadline_ms: terms.default_deadline_ms,
            },
            act.now,
        );
        let full = |refusal: Refusal| match refusal.code {
            // What is over the limit of the session may wait (S9), unless none may ever run there.
            ErrorCode::LIMIT_EXCEEDED if act.ours && terms.max_in_flight != 0 => Why::Blocked(Blocked::Full),
            _ => Why::Refusal(refusal),
        };
        // What is wrong for good is said before what has to wait: an operation that is live, whatever the credit.
        let (session, operation) = match (session, operation) {
            (Ok(session), Ok(operation)) => (session, operation),
            (Err(session), Err(operation)) if session.code == ErrorCode::LIMIT_EXCEEDED => {
                return Err(full(operation));
            }
            (Err(refusal), _) | (_, Err(refusal)) => return Err(full(refusal)),
        };
        self.check_payloads(session_id, submit.payload_kind_bitmap, &regions)?;
        if act.ours && live.resuming {
            return Err(Blocked::Resuming.into());
        }
        // W1: sending needs all levels; W4: what came without credit is refused.
        let places = if act.ours {
            let class = act.class.unwrap_or(class);
            (self.window.check_submit(class, act.now)?, live.window.check_submit(class, act.now)?)
        } else {
            (self.window.check_arrival()?, live.window.check_arrival()?)
        };
        let uses = if act.ours { Vec::new() } else { self.check_references(session_id, &regions, act.now)? };
        Ok(Plan::Submit(Submission { session, operation, places, uses }))
    }

    /// Whether every payload is of what the hello settled (C6), and explained (S5, G7).
    fn check_payloads(
        &self,
        session_id: u32,
        kinds: PayloadKindBitmap,
        regions: &Regions<'_>,
    ) -> Result<(), Why> {
        let agreed = self.hello.agreed();
        if agreed.is_some_and(|agreed| !agreed.takes_payloads(kinds)) {
            let why = "the payload is of a kind that was not accepted";
            return Err(Refusal::capability("C6", why).about(kinds.bits().into()).into());
        }
        for descriptor in regions.payload_descriptors.iter() {
            let descriptor = descriptor.to_owned();
            let binding = self.sessions.check_binding(session_id, &descriptor)?;
            if agreed.is_some_and(|agreed| !agreed.takes_profile(binding.profile)) {
                let why = "the payload is of a profile that was not accepted";
                return Err(Refusal::capability("C6", why).about(binding.profile.raw().into()).into());
            }
            let (id, version) = (binding.schema_id, binding.schema_version);
            self.schemas.check_bind(binding.profile, id, version, descriptor.stream_semantics)?;
        }
        Ok(())
    }

    /// Whether every object that a submit refers to is here (K8).
    fn check_references(&self, session_id: u32, regions: &Regions<'_>, now: Time) -> Result<Vec<Key>, Why> {
        let mut keys = Vec::new();
        for reference in regions.object_references.iter() {
            let key = Key {
                space: session_id,
                namespace: reference.cache_namespace(),
                hi: reference.cache_key_hi(),
                lo: reference.cache_key_lo(),
                kind: reference.object_kind(),
            };
            self.cache.check_lookup(&Want::new(key), now).map_err(|code| Why::Cache(key, code))?;
            keys.push(self.cache.seen(key));
        }
        Ok(keys)
    }

    pub(super) fn apply_submit(&mut self, submission: Submission, act: &Act<'_>) {
        let session_id = act.header.session_id;
        let Some(live) = self.lives.get_mut(&session_id) else { return };
        let Message::FrameSubmit(submit, _) = act.message else { return };
        let Submission { session, operation, places, uses } = submission;
        let (parent, asked) = (operation.parent(), operation.is_asked_to_end());
        self.sessions.apply_submit(session, act.now);
        self.window.apply_submit(places.0);
        live.window.apply_submit(places.1);
        live.operations.apply_submit(operation, ());
        live.budgets.admit(submit.operation_id);
        live.work.submitted += 1;
        self.counters.work.submitted += 1;
        if let Some(waterline) = &mut live.waterline {
            waterline.submitted(submit.operation_id);
        }
        if !uses.is_empty() {
            self.cache.apply_use(&uses);
        }
        let (operation_id, frame_id) = (submit.operation_id, act.header.frame_id);
        observe::submitted(self.side, session_id, operation_id, frame_id);
        if let Some(packet) = act.received() {
            self.events.push_back(Event::Submitted { session_id, operation_id, frame_id, parent, packet });
            if asked {
                // O3: it joined a subtree that was asked to end.
                self.events.push_back(Event::CancelAsked { session_id, operation_id });
            }
        }
    }

    pub(super) fn check_work(&self, act: &Act<'_>) -> Result<Plan, Why> {
        use Message as M;
        let (session_id, frame) = (act.header.session_id, act.header.frame_id);
        let live = self.lives.get(&session_id).ok_or(unknown(session_id))?;
        let cancel = |reach, manner| {
            live.operations
                .check_cancel(reach, manner, Cause::Cancel)
                .map(|plan| Plan::Cancel(plan, manner))
                .map_err(Why::Refusal)
        };
        let change = |operation_id, change| {
            let plan = live.operations.check_change(Named::pair(operation_id, frame), change, act.now)?;
            Ok(Plan::Change(plan))
        };
        match act.message {
            M::ResultPush(push, body) => {
                self.check_payloads(session_id, push.payload_kind_bitmap, &body.regions.unwrap_or_default())?;
                let ends = act.header.flags.contains(HeaderFlags::EOS);
                self.check_event(act, Named::frame(frame), Step::result(push, ends))
            }
            M::ResultDrop(_) => self.check_event(act, Named::frame(frame), Step::Dropped),
            // S10: it may belong to no operation only where that was agreed to.
            M::ResultHint(..) => match live.operations.find(Named::frame(frame)) {
                Ok(Found::Live(_)) => Ok(Plan::Pass),
                Ok(Found::Ended(ended)) if !act.ours => Ok(Plan::Late(Some(ended))),
                _ => Ok(self.sessions.check_background(session_id).map(|()| Plan::Pass)?),
            },
            M::Progress(progress, _) => {
                self.check_event(act, Named::pair(progress.operation_id, frame), Step::from(progress))
            }
            M::PartialResult(partial, _) => {
                self.check_event(act, Named::pair(partial.operation_id, frame), Step::from(partial))
            }
            M::ResultDropReason(drop, _) => {
                self.check_event(act, Named::pair(drop.operation_id, frame), Step::from(drop))
            }
            M::RouteHint(hint, _) | M::ExecutionHint(hint, _) => {
                self.check_event(act, Named::pair(hint.operation_id, frame), Step::Other)
            }
            M::FrameCancel(body) => cancel(Reach::frame_cancel(frame, scope(body.ext).as_ref()), Manner::Ask),
            M::Cancel(request, _) => cancel(Reach::control(request, frame), Manner::Ask),
            // Who asks for an abort waits for the answer, too.
            M::Abort(request, _) => {
                cancel(Reach::control(request, frame), if act.ours { Manner::Ask } else { Manner::End })
            }
            M::PriorityUpdate(scheduling) => change(scheduling.operation_id, Change::priority(scheduling)),
            M::Deadline(scheduling) => {
                change(scheduling.operation_id, Change::deadline(scheduling, self.config.origin))
            }
            M::ExpireAt(scheduling) => {
                change(scheduling.operation_id, Change::expire_at(scheduling, self.config.origin))
            }
            M::Supersede(supersede, _) => {
                Ok(Plan::Supersede(live.operations.check_supersede(supersede, frame)?))
            }
            M::BudgetUpdate(budget) => {
                let operation = budget.operation_id;
                if operation != 0
                    && let Found::Ended(ended) = live.operations.find(Named::pair(operation, frame))?
                {
                    return Ok(Plan::Late(Some(ended)));
                }
                let is_live = live.operations.by_id(operation).is_some();
                let profile = self.sessions.check_session(session_id)?.terms().profile;
                let model = self.capabilities.cost_model(session_id, profile).is_some();
                let plan = live.budgets.check_update(budget, is_live, model)?;
                // U1: who receives them does the work.
                Ok(if act.ours { Plan::Quiet } else { Plan::Budget(plan) })
            }
            M::TraceContext(context, _) => {
                let is_live = live.operations.by_frame(frame).is_some();
                Ok(Plan::Trace(live.traces.check_update(frame, context, is_live)?))
            }
            _ => Ok(Plan::Pass),
        }
    }

    /// Checks something that happens to one operation, and on its sender the credit for it (W1).
    pub(super) fn check_event(&self, act: &Act<'_>, named: Named, event: Step) -> Result<Plan, Why> {
        let session_id = act.header.session_id;
        let live = self.lives.get(&session_id).ok_or(unknown(session_id))?;
        let plan = match live.operations.check_event(named, event, act.now) {
            // R1: what was delivered before may come again, also where nobody remembers it.
            Err(_) if !act.ours && live.resuming => return Ok(Plan::Late(None)),
            plan => plan?,
        };
        let is_partial = matches!(event, Step::Partial { .. } | Step::Result { partial: true });
        let credit = match plan.key().and_then(|key| live.operations.get(key)) {
            Some(operation) if act.ours && is_partial => {
                Some(live.partials.check_partial(operation.id(), operation.is_background(), act.now)?)
            }
            _ => None,
        };
        Ok(Plan::Event(plan, credit))
    }

    pub(super) fn apply_work(&mut self, plan: Plan, act: &Act<'_>) {
        let session_id = act.header.session_id;
        let Some(live) = self.lives.get_mut(&session_id) else { return };
        match plan {
            Plan::Event(plan, credit) => {
                if let Some(credit) = credit {
                    live.partials.apply_partial(credit);
                }
                self.happen(plan, act);
            }
            Plan::Cancel(plan, manner) => {
                if !act.ours {
                    self.pass(act);
                }
                self.cancel_now(session_id, plan, act, manner == Manner::End);
            }
            Plan::Change(plan) => {
                let (late, early) = (plan.late(), plan.early());
                match live.operations.apply_change(plan) {
                    Some(outcome) => {
                        // Its time was over, which this end noticed only now.
                        self.tell_drop(session_id, &outcome);
                        self.ended(session_id, outcome, None, act.now);
                    }
                    None => match late {
                        Some(ended) => self.late(act, Some(ended)),
                        None => self.pass(act),
                    },
                }
                if act.ours
                    && let Some(Named { operation, frame }) = early
                {
                    self.set_waiting(session_id, operation, frame, act.now);
                }
            }
            Plan::Supersede(plan) => {
                let late = plan.late();
                match live.operations.apply_supersede(plan) {
                    Some(outcome) => {
                        if act.ours {
                            self.keep_drop(session_id, &outcome);
                        }
                        self.ended(session_id, outcome, act.received(), act.now);
                    }
                    None => self.late(act, late),
                }
            }
            Plan::Budget(plan) => {
                live.budgets.apply_update(plan);
                self.pass(act);
            }
            Plan::Trace(plan) => {
                live.traces.apply_update(plan);
                self.pass(act);
            }
            _ => {}
        }
    }

    /// Lets something happen to an operation, and tells of it.
    fn happen(&mut self, plan: EventPlan, act: &Act<'_>) {
        let session_id = act.header.session_id;
        let Some(live) = self.lives.get_mut(&session_id) else { return };
        let (verdict, key) = (plan.verdict(), plan.key());
        let operation_id = key.and_then(|key| live.operations.get(key)).map_or(0, |operation| operation.id());
        if !act.ours && !live.doubt.is_empty() {
            live.doubt.remove(&operation_id);
        }
        match live.operations.apply_event(plan) {
            Applied::Ended(outcome) => {
                if outcome.cause == Cause::Time {
                    // It came too late, which the peer may not know.
                    self.tell_drop(session_id, &outcome);
                    return self.ended(session_id, outcome, None, act.now);
                }
                self.keep(&outcome, act);
                self.ended(session_id, outcome, act.received(), act.now);
            }
            Applied::Live(state) => {
                observe::updated(self.side, session_id, operation_id, state);
                live.work.updates += 1;
                self.counters.work.updates += 1;
                if let Some(packet) = act.received() {
                    self.events.push_back(Event::Updated { session_id, operation_id, state, packet });
                }
            }
            Applied::Nothing => match verdict {
                Verdict::Late(ended) => self.late(act, Some(ended)),
                _ => self.late(act, None),
            },
        }
    }

    /// Ends or asks all that a cancel reaches. `answer` tells the peer of each that ended (O10).
    pub(super) fn cancel_now(&mut self, session_id: u32, plan: CancelPlan, act: &Act<'_>, answer: bool) {
        let Some(live) = self.lives.get_mut(&session_id) else { return };
        if let Some(ended) = plan.late() {
            return self.late(act, Some(ended));
        }
        let mut reached = Vec::new();
        live.operations.apply_cancel(plan, |cancelled| reached.push(cancelled));
        for cancelled in reached {
            match cancelled {
                Cancelled::Asked(key) if !act.ours => {
                    let operation = self.lives.get(&session_id).and_then(|live| live.operations.get(key));
                    if let Some(operation_id) = operation.map(|operation| operation.id()) {
                        self.events.push_back(Event::CancelAsked { session_id, operation_id });
                    }
                }
                Cancelled::Asked(_) => {}
                Cancelled::Ended(outcome) => {
                    if answer {
                        self.tell_drop(session_id, &outcome);
                    }
                    self.ended(session_id, outcome, None, act.now);
                }
            }
        }
    }

    fn drop_reason(&self, session_id: u32, outcome: &Ended) -> (CommonHeader, ResultDrop) {
        let drop = ResultDrop {
            operation_id: outcome.operation,
            drop_reason_code: outcome.reason,
            source_role: self.config.role,
            flags: ResultDropFlags::FINAL,
            ..ResultDrop::default()
        };
        (CommonHeader { session_id, frame_id: outcome.frame, ..CommonHeader::default() }, drop)
    }

    /// RESULT_DROP_REASON, which says why an operation ended.
    pub(super) fn tell_drop(&mut self, session_id: u32, outcome: &Ended) {
        let (header, drop) = self.drop_reason(session_id, outcome);
        let mark = self.output.mark();
        self.write(&header, &Message::ResultDropReason(drop, ResultDropReasonBody { diagnostic: &[] }));
        self.keep_bytes(session_id, outcome, mark);
    }

    /// The same of one that ended a while ago.
    pub(super) fn tell_ended(&mut self, session_id: u32, ended: &Remembered) {
        let drop = ResultDrop {
            operation_id: ended.operation,
            drop_reason_code: ended.reason,
            source_role: self.config.role,
            flags: ResultDropFlags::FINAL,
            ..ResultDrop::default()
        };
        let header = CommonHeader { session_id, frame_id: ended.frame, ..CommonHeader::default() };
        self.write(&header, &Message::ResultDropReason(drop, ResultDropReasonBody { diagnostic: &[] }));
    }

    /// Server: keeps that an operation ended by a message that cannot be sent again as it was (R1).
    fn keep_drop(&mut self, session_id: u32, outcome: &Ended) {
        let (header, drop) = self.drop_reason(session_id, outcome);
        let message = Message::ResultDropReason(drop, ResultDropReasonBody { diagnostic: &[] });
        let live = self.lives.get(&session_id);
        if live.is_some_and(|live| live.keeper.is_some())
            && let Ok(bytes) = message.to_vec(&header)
        {
            self.keep_packet(session_id, outcome, bytes);
        }
    }

    /// An operation has ended: everything lets go of it, and what waited for that goes on.
    pub(super) fn ended(&mut self, session_id: u32, outcome: Ended, packet: Option<Received>, now: Time) {
        self.let_go(session_id, outcome, packet, now);
        if let Some(step) = self.sessions.operation_ended(session_id, now) {
            self.step(step, now);
        }
        if !self.queue.is_empty() {
            self.queue.wake(session_id);
            self.pump(now);
        }
        self.finish(now);
    }

    /// Everything lets go of an operation that has ended, and the application is told, once.
    pub(super) fn let_go(&mut self, session_id: u32, outcome: Ended, packet: Option<Received>, now: Time) {
        self.window.apply_release();
        self.counters.work.ended(&outcome, now);
        let mut freed = Vec::new();
        if let Some(live) = self.lives.get_mut(&session_id) {
            live.window.apply_release();
            live.partials.forget(outcome.operation);
            live.budgets.forget(outcome.operation);
            live.traces.forget(outcome.frame);
            live.work.ended(&outcome, now);
            if !live.objects.is_empty() {
                let dropped = outcome.state != OperationState::Completed;
                freed = live.objects.operation_ended(outcome.operation, dropped);
            }
        }
        if self.cache.leases() != 0 {
            let owner = Owner::Operation { session: session_id, operation: outcome.operation };
            let gone = self.cache.end_owner(&mut self.graph, owner);
            self.gone(gone);
        }
        if outcome.state != OperationState::Completed {
            self.invalidate(Node::Result { session: session_id, operation: outcome.operation });
        }
        self.freed(session_id, freed);
        self.events.push_back(Event::Ended { session_id, outcome, packet });
    }

    /// Objects whose operation or time is over.
    pub(super) fn freed(&mut self, session_id: u32, objects: Vec<u64>) {
        if objects.is_empty() {
            return;
        }
        for object in &objects {
            self.invalidate(Node::Runtime { session: session_id, object: *object });
        }
        self.events.push_back(Event::Freed { session_id, objects });
    }

    /// Server: keeps the packet that ended an operation, where its session can be resumed (R1).
    fn keep(&mut self, outcome: &Ended, act: &Act<'_>) {
        if act.ours {
            self.keep_bytes(act.header.session_id, outcome, self.written);
        }
    }

    fn keep_bytes(&mut self, session_id: u32, outcome: &Ended, mark: usize) {
        if self.lives.get(&session_id).is_some_and(|live| live.keeper.is_some()) {
            let bytes = self.output.since(mark).to_vec();
            self.keep_packet(session_id, outcome, bytes);
        }
    }

    fn keep_packet(&mut self, session_id: u32, outcome: &Ended, packet: Vec<u8>) {
        let live = self.lives.get_mut(&session_id);
        let Some(keeper) = live.and_then(|live| live.keeper.as_mut()) else { return };
        let size = packet.len();
        keeper.keep(outcome.operation, outcome.order, packet, size, self.now);
        // A few at once, so that a busy session has not twice as many events.
        if keeper.lost() > self.config.outcomes.outcomes.min(1_024) / 16 {
            let lost = core::iter::from_fn(|| keeper.poll_lost());
            let operations = lost.map(|lost| lost.operation_id).collect();
            self.unconfirmed(session_id, operations);
        }
    }

    /// Outcomes that are no longer kept for a resume.
    pub(super) fn unconfirmed(&mut self, session_id: u32, operations: Vec<u64>) {
        if !operations.is_empty() {
            self.events.push_back(Event::Unconfirmed { session_id, operations });
        }
    }

    /// Ends a live operation with RESULT_DROP_REASON: a cancel that was asked for, a budget that is used up, anything
    /// else that brings no result.
    ///
    /// # Errors
    ///
    /// `invalid_state` for an operation that does not live.
    pub fn drop_operation(
        &mut self,
        session_id: u32,
        operation_id: u64,
        reason: DropReasonCode,
        now: Time,
    ) -> Result<(), Why> {
        let drop = ResultDrop {
            operation_id,
            drop_reason_code: reason,
            source_role: self.config.role,
            flags: ResultDropFlags::FINAL,
            ..ResultDrop::default()
        };
        let frame_id = self.frame_of(session_id, operation_id);
        let header = CommonHeader { session_id, frame_id, ..CommonHeader::default() };
        self.send(&header, &Message::ResultDropReason(drop, ResultDropReasonBody { diagnostic: &[] }), now)
    }

    /// The frame of a live operation; 0 where it is not known.
    pub(super) fn frame_of(&self, session_id: u32, operation_id: u64) -> u32 {
        let live = self.lives.get(&session_id);
        live.and_then(|live| live.operations.by_id(operation_id)).map_or(0, |operation| operation.frame())
    }

    /// The live operations of a session, to be looked at.
    pub fn operations(&self, session_id: u32) -> Option<&operation::Operations> {
        self.lives.get(&session_id).map(|live| &live.operations)
    }

    /// Budgets of a session, for the work that is done here (U1).
    pub fn budgets(&mut self, session_id: u32) -> Option<&mut crate::state::budget::Budgets> {
        self.lives.get_mut(&session_id).map(|live| &mut live.budgets)
    }

    /// The trace context of a frame, or of its session (T1).
    pub fn trace(&self, session_id: u32, frame_id: u32) -> Option<&crate::state::trace::Context> {
        self.lives.get(&session_id)?.traces.of(frame_id)
    }
}

/// For the sender: what a submit of that class has to wait for in its session.
pub(super) fn submit_waits(
    sessions: &Sessions,
    live: &Live,
    session_id: u32,
    class: u16,
    now: Time,
) -> Option<Blocked> {
    if live.resuming {
        return Some(Blocked::Resuming);
    }
    if sessions.get(session_id).is_some_and(|session| session.is_full()) {
        return Some(Blocked::Full);
    }
    live.window.check_submit(class, now).err()
}

/// X3, if a FRAME_CANCEL has it.
fn scope(block: ControlExtensionEntries<'_>) -> Option<crate::CancelScopeExtension> {
    block.iter().find_map(|entry| match entry.payload {
        ControlExtensionPayload::CancelScope(scope) => Some(scope),
        _ => None,
    })
}
