//! What a message will do, once every module that it concerns has agreed to it.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::event::{Received, Why};
use super::{Connection, Message, Packet};
use crate::state::budget::BudgetPlan;
use crate::state::cache::{self, Key, PutPlan, RenewPlan, SentAckPlan, SentPlan};
use crate::state::credit::{PartialPlan, PartialsPlan, Place, WindowPlan};
use crate::state::hello::{AckPlan, EndPlan, HelloPlan, Offer};
use crate::state::operation::{
    self, CancelPlan, ChangePlan, EventPlan, Manner, Order, Remembered, SupersedePlan,
};
use crate::state::resume::{MigrateAckPlan, MigratePlan};
use crate::state::session::{self, CloseAckPlan, ClosePlan, OpenAckPlan, OpenPlan};
use crate::state::session::{PatchAckPlan, PatchPlan, PeerClosePlan};
use crate::state::trace::TracePlan;
use crate::state::{Side, Time, capability, object, schema};
use crate::{CommonHeader, TransportProbeAck};

/// A message on its way in or out.
#[derive(Clone, Copy)]
pub(super) struct Act<'a> {
    pub(super) sender: Side,
    /// Whether this end sends it.
    pub(super) ours: bool,
    pub(super) header: &'a CommonHeader,
    pub(super) message: &'a Message<'a>,
    /// The packet, where it came from the peer.
    pub(super) packet: Option<&'a Packet<'a>>,
    /// The class of a submit that waited, where it is not that of its session.
    pub(super) class: Option<u16>,
    pub(super) now: Time,
}

impl Act<'_> {
    pub(super) fn received(&self) -> Option<Received> {
        self.packet.map(Received::new)
    }
}

/// Whose window an update is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    Connection,
    Session,
}

/// Everything that a FRAME_SUBMIT takes.
#[derive(Debug)]
pub(super) struct Submission {
    pub(super) session: session::SubmitPlan,
    pub(super) operation: operation::SubmitPlan,
    pub(super) places: (Place, Place),
    pub(super) uses: Vec<Key>,
}

/// One variant for each kind of effect. A plan is applied at once or dropped. It is moved a few times with each message, so
/// what is rare and large is behind a box.
#[derive(Debug)]
pub(super) enum Plan {
    /// Nothing is done; the message is passed on.
    Pass,
    /// Nothing is done and nothing is said.
    Quiet,
    /// It comes too late, for that operation or because its number is not new.
    Late(Option<Remembered>),

    Hello(Box<(HelloPlan, Offer)>),
    HelloAck(Box<AckPlan>),
    End(EndPlan),
    Ping,
    Pong,
    Probe(TransportProbeAck),

    Open(OpenPlan),
    OpenAck(OpenAckPlan),
    Close(ClosePlan),
    PeerClose(PeerClosePlan),
    CloseAck(CloseAckPlan),
    PatchSent(PatchPlan),
    Patch(PatchPlan),
    PatchAck(PatchAckPlan),
    EndSession,
    MigrateSent(MigratePlan),
    Migrate(MigratePlan),
    MigrateAck(MigrateAckPlan),

    Submit(Submission),
    Event(EventPlan, Option<PartialPlan>),
    Cancel(CancelPlan, Manner),
    Change(ChangePlan),
    Supersede(SupersedePlan),
    Budget(BudgetPlan),
    Trace(TracePlan),

    Window(Scope, WindowPlan),
    Partials(PartialsPlan),
    Hold(Scope, Time),

    PutSent(SentPlan),
    Put(Box<(PutPlan, Option<schema::InstallPlan>)>),
    Renew(RenewPlan),
    PutAck(SentAckPlan),
    Invalidate(cache::InvalidatePlan),
    Reference(Vec<Key>),

    Declare(object::DeclarePlan),
    Use(object::ReferencePlan),
    Alter(object::ChangePlan),
    Release(object::ReleasePlan),

    Offer(capability::OfferPlan),
    Capability(capability::Purpose, capability::MessagePlan),
}

const _: () = assert!(size_of::<Plan>() <= 112);

impl Connection {
    /// What follows is about that session.
    pub(super) fn approach(&mut self, session_id: u32) {
        self.lives.approach(session_id);
        self.sessions.approach(session_id);
    }

    /// Asks every module that a message concerns. Changes nothing (C5).
    ///
    /// A message that a registry has beside NNRP's is for the application, in a session that lives if it is of one.
    pub(super) fn check(&self, act: &Act<'_>) -> Result<Plan, Why> {
        use Message as M;
        self.hello.check_message(act.sender, act.message.message_type())?;
        self.check_size(act)?;
        if let Some(number) = control_sequence(act.message)
            && !act.ours
            && matches!(self.heard.check(number), Order::Old { .. })
        {
            // O6: an older or equal one is ignored and reported.
            return Ok(Plan::Late(None));
        }
        match act.message {
            M::Ping => Ok(Plan::Ping),
            M::Pong => Ok(Plan::Pong),
            M::ClientHello(..)
            | M::ServerHelloAck(..)
            | M::Close(..)
            | M::Error(..)
            | M::ErrorRecoverable(..)
            | M::TransportProbe(..)
            | M::TransportProbeAck(..) => self.check_link(act),
            M::SessionOpen(..)
            | M::SessionOpenAck(..)
            | M::SessionClose(..)
            | M::SessionCloseAck(..)
            | M::SessionPatch(..)
            | M::SessionPatchAck(..)
            | M::SessionMigrate(..)
            | M::SessionMigrateAck(..) => self.check_session(act),
            M::FrameSubmit(submit, body) => self.check_submit(act, submit, body),
            M::FrameCancel(..)
            | M::ResultPush(..)
            | M::ResultDrop(..)
            | M::ResultHint(..)
            | M::Progress(..)
            | M::PartialResult(..)
            | M::ResultDropReason(..)
            | M::RouteHint(..)
            | M::ExecutionHint(..)
            | M::Cancel(..)
            | M::Abort(..)
            | M::PriorityUpdate(..)
            | M::Deadline(..)
            | M::ExpireAt(..)
            | M::Supersede(..)
            | M::BudgetUpdate(..)
            | M::TraceContext(..) => self.check_work(act),
            M::FlowUpdate(..) | M::Backpressure(..) | M::CreditUpdate(..) | M::RetryAfter(..) => {
                self.check_flow(act)
            }
            M::CachePut(..)
            | M::CacheAck(..)
            | M::CacheInvalidate(..)
            | M::CacheReference(..)
            | M::CacheMiss(..) => self.check_store(act),
            M::ObjectDeclare(..)
            | M::ObjectRef(..)
            | M::ObjectRelease(..)
            | M::ObjectPatch(..)
            | M::ObjectDelta(..) => self.check_object(act),
            M::CapabilityNegotiation(capability, body) => self.check_capability(
                act,
                capability::Purpose::Negotiation,
                capability,
                body.capability_entries,
            ),
            M::DegradeProfile(capability, body) => self.check_capability(
                act,
                capability::Purpose::Degradation,
                capability,
                body.capability_entries,
            ),
            #[allow(unreachable_patterns)]
            _ => {
                if act.header.session_id != 0 {
                    self.sessions.check_session(act.header.session_id)?;
                }
                Ok(Plan::Pass)
            }
        }
    }

    /// Does what was agreed to. Cannot fail.
    pub(super) fn apply(&mut self, plan: Plan, act: &Act<'_>) {
        if let Some(number) = control_sequence(act.message) {
            if act.ours { &mut self.said } else { &mut self.heard }.apply(number);
        }
        let session_id = act.header.session_id;
        if session_id != 0 {
            self.sessions.touch(session_id, act.now);
            if !act.ours && !self.unheard.is_empty() {
                self.confirmed.extend(self.unheard.remove(&session_id));
            }
        }
        match plan {
            Plan::Pass => self.pass(act),
            Plan::Quiet => {}
            Plan::Late(ended) => self.late(act, ended),

            Plan::Hello(..)
            | Plan::HelloAck(..)
            | Plan::End(..)
            | Plan::Ping
            | Plan::Pong
            | Plan::Probe(..) => self.apply_link(plan, act),

            Plan::Open(..)
            | Plan::OpenAck(..)
            | Plan::Close(..)
            | Plan::PeerClose(..)
            | Plan::CloseAck(..)
            | Plan::PatchSent(..)
            | Plan::Patch(..)
            | Plan::PatchAck(..)
            | Plan::EndSession
            | Plan::MigrateSent(..)
            | Plan::Migrate(..)
            | Plan::MigrateAck(..) => self.apply_session(plan, act),

            Plan::Submit(submission) => self.apply_submit(submission, act),
            Plan::Event(..)
            | Plan::Cancel(..)
            | Plan::Change(..)
            | Plan::Supersede(..)
            | Plan::Budget(..)
            | Plan::Trace(..) => self.apply_work(plan, act),

            Plan::Window(..) | Plan::Partials(..) | Plan::Hold(..) => self.apply_flow(plan, act),

            Plan::PutSent(..)
            | Plan::Put(..)
            | Plan::Renew(..)
            | Plan::PutAck(..)
            | Plan::Invalidate(..)
            | Plan::Reference(..) => self.apply_store(plan, act),

            Plan::Declare(..) | Plan::Use(..) | Plan::Alter(..) | Plan::Release(..) => {
                self.apply_object(plan, act)
            }

            Plan::Offer(plan) => self.capabilities.apply_offer(plan),
            Plan::Capability(purpose, plan) => self.apply_capability(purpose, plan),
        }
    }
}

/// The number of a message that carries one (O14).
pub(super) const fn control_sequence(message: &Message<'_>) -> Option<u64> {
    match message {
        Message::Cancel(request, _) | Message::Abort(request, _) => Some(request.control_sequence),
        Message::PriorityUpdate(scheduling)
        | Message::Deadline(scheduling)
        | Message::ExpireAt(scheduling) => Some(scheduling.control_sequence),
        Message::Supersede(supersede, _) => Some(supersede.control_sequence),
        Message::RetryAfter(retry, _) => Some(retry.control_sequence),
        _ => None,
    }
}
