//! Capabilities and degradation (U2–U4).

use super::event::{Event, Why};
use super::live::unknown;
use super::plan::{Act, Plan};
use super::{Connection, Message};
use crate::state::capability::{MessagePlan, Offer, Purpose, Words};
use crate::state::{Refusal, Time};
use crate::{
    Capability, CapabilityNegotiationBody, CapabilityTokens, CommonHeader, DegradeProfileBody, ErrorCode,
    ProfileId,
};

impl Connection {
    pub(super) fn check_capability(
        &self,
        act: &Act<'_>,
        purpose: Purpose,
        capability: &Capability,
        tokens: CapabilityTokens<'_>,
    ) -> Result<Plan, Why> {
        let session_id = act.header.session_id;
        if session_id != 0 && !self.lives.contains_key(&session_id) {
            return Err(unknown(session_id).into());
        }
        let offer = Offer::read(capability, tokens);
        Ok(if act.ours {
            Plan::Offer(self.capabilities.check_offer(purpose, session_id, &offer)?)
        } else {
            Plan::Capability(purpose, self.capabilities.check_message(purpose, session_id, &offer)?)
        })
    }

    pub(super) fn apply_capability(&mut self, purpose: Purpose, plan: MessagePlan) {
        let event = self.capabilities.apply_message(plan);
        self.events.push_back(Event::Capability { purpose, event });
    }

    /// Offers capabilities for a session, 0 for the connection.
    ///
    /// # Errors
    ///
    /// What [`Capabilities::check_offer`](crate::state::capability::Capabilities::check_offer) refuses: in a
    /// negotiation only the client offers.
    pub fn offer(&mut self, purpose: Purpose, session_id: u32, offer: &Offer, now: Time) -> Result<(), Why> {
        let (capability, bytes) = offer.write().map_err(Why::Fault)?;
        let header = CommonHeader { session_id, ..CommonHeader::default() };
        let tokens = self.tokens(&bytes)?;
        self.send(&header, &message(purpose, capability, tokens), now)
    }

    /// Answers the oldest offer of the peer's for that session and profile with what this end can do (U4). Where a hard
    /// requirement found nothing, ERROR unsupported_capability follows.
    ///
    /// # Errors
    ///
    /// `invalid_state` where no offer waits.
    pub fn answer_offer(
        &mut self,
        purpose: Purpose,
        session_id: u32,
        profile: ProfileId,
        able: &Words,
    ) -> Result<(), Why> {
        let plan = self.capabilities.check_answer(purpose, session_id, profile, able)?;
        let answer = self.capabilities.apply_answer(plan);
        let (capability, bytes) = answer.offer.write().map_err(Why::Fault)?;
        let header = CommonHeader { session_id, ..CommonHeader::default() };
        let tokens = self.tokens(&bytes)?;
        let message = message(purpose, capability, tokens);
        self.write(&header, &message);
        if answer.mismatch {
            let header = CommonHeader { msg_type: message.message_type(), ..header };
            let refusal =
                Refusal::new(ErrorCode::UNSUPPORTED_CAPABILITY, "U4", "a required capability is missing");
            self.answer_error(&header, refusal.code, self.now);
        }
        Ok(())
    }

    /// What was agreed on.
    pub const fn capabilities(&self) -> &crate::state::capability::Capabilities {
        &self.capabilities
    }

    fn tokens<'a>(&self, bytes: &'a [u8]) -> Result<CapabilityTokens<'a>, Why> {
        let words = self.config.words.tokens();
        CapabilityTokens::with(bytes, |word: &str| words.contains(word)).map_err(Why::Fault)
    }
}

fn message(purpose: Purpose, capability: Capability, tokens: CapabilityTokens<'_>) -> Message<'_> {
    match purpose {
        Purpose::Negotiation => Message::CapabilityNegotiation(
            capability,
            CapabilityNegotiationBody { capability_entries: tokens },
        ),
        Purpose::Degradation => {
            Message::DegradeProfile(capability, DegradeProfileBody { capability_entries: tokens })
        }
    }
}
