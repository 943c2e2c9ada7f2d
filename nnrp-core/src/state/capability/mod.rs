//! Capability offers and their answers, and degrading a profile by agreement (U4).

mod offer;

use alloc::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    string::String,
    vec::Vec,
};

pub use offer::{Answer, Offer, Terms, Words};

use super::{Refusal, Side};
use crate::{CapabilityFlags, CostModelId, ProfileId};

/// What offers may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Offers that wait for their answer.
    pub waiting: usize,
    /// Agreements that are kept; the least preferred of a profile goes for a new one.
    pub agreements: usize,
    /// Tokens of one offer.
    pub tokens: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { waiting: 64, agreements: 1_024, tokens: 64 }
    }
}

/// What an offer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Purpose {
    /// CAPABILITY_NEGOTIATION: only the client offers.
    Negotiation,
    /// DEGRADE_PROFILE: either side offers.
    Degradation,
}

/// A session (0: the connection) and a profile: answers find their offer by these.
type Place = (Purpose, u32, u16);

/// What both sides agreed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agreement {
    /// Tokens that hold.
    pub tokens: BTreeSet<String>,
    /// Costs, limits and preference of the offer.
    pub terms: Terms,
    /// Who offered.
    pub offered_by: Side,
}

/// What a message did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// An answer to an offer of this side.
    Answered {
        /// The session, or 0.
        session_id: u32,
        /// The profile.
        profile: ProfileId,
        /// What was accepted; empty for nothing.
        accepted: BTreeSet<String>,
        /// Whether a hard requirement was not met, so that an ERROR `unsupported_capability` follows.
        mismatch: bool,
    },
    /// An offer of the peer's that wants an answer.
    Offered {
        /// The session, or 0.
        session_id: u32,
        /// The offer.
        offer: Offer,
        /// Whether the offers of this side's that it crossed are void.
        crossed: bool,
    },
    /// An offer that crossed one of the server's, which stands: nothing comes of it.
    Ignored,
}

/// The capabilities of one connection, as one of its sides keeps them.
///
/// ```
/// use nnrp_core::{CostModelId, ProfileId};
/// use nnrp_core::state::{Side, capability::{Capabilities, Event, Limits, Offer, Purpose, Terms, Words}};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut client = Capabilities::new(Side::Client, Limits::default());
/// let mut server = Capabilities::new(Side::Server, Limits::default());
/// let offer = Offer::new(ProfileId::TOKEN, ["control.budget_update", "object.cost"], Terms {
///     cost_model: CostModelId::TOKEN_UNITS,
///     ..Default::default()
/// });
///
/// client.apply_offer(client.check_offer(Purpose::Negotiation, 7, &offer)?);
/// server.apply_message(server.check_message(Purpose::Negotiation, 7, &offer)?);
/// let plan = server.check_answer(Purpose::Negotiation, 7, ProfileId::TOKEN, &Words::from(["object.cost"]))?;
/// let answer = server.apply_answer(plan);
///
/// let event = client.apply_message(client.check_message(Purpose::Negotiation, 7, &answer.offer)?);
/// assert!(matches!(event, Event::Answered { mismatch: false, .. }));
/// assert!(client.agreed(7, ProfileId::TOKEN, "object.cost").is_some());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Capabilities {
    side: Side,
    limits: Limits,
    ours: BTreeMap<Place, VecDeque<Offer>>,
    theirs: BTreeMap<Place, VecDeque<Offer>>,
    waiting: usize,
    /// By session and profile, first the most preferred.
    agreed: BTreeMap<(u32, u16), Vec<(Purpose, Agreement)>>,
    agreements: usize,
}

/// An offer that may be sent.
#[derive(Clone, Debug)]
#[must_use]
pub struct OfferPlan {
    place: Place,
    offer: Offer,
}

/// A message that may be taken.
#[derive(Clone, Debug)]
#[must_use]
pub struct MessagePlan {
    place: Place,
    message: Offer,
    meaning: Meaning,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    Answer,
    Offer,
    Crossing,
    Void,
}

/// An answer that may be sent.
#[derive(Clone, Debug)]
#[must_use]
pub struct AnswerPlan {
    place: Place,
    accepted: BTreeSet<String>,
}

impl Capabilities {
    /// Nothing agreed on yet.
    pub const fn new(side: Side, limits: Limits) -> Self {
        Self {
            side,
            limits,
            ours: BTreeMap::new(),
            theirs: BTreeMap::new(),
            waiting: 0,
            agreed: BTreeMap::new(),
            agreements: 0,
        }
    }

    /// Offers that wait for an answer, of either side.
    pub const fn waiting(&self) -> usize {
        self.waiting
    }

    /// Agreements that are kept.
    pub const fn agreements(&self) -> usize {
        self.agreements
    }

    /// The most preferred agreement that holds a token: the one of the lowest rank, and of equal ones the latest
    /// (U4). The session's own come before the connection's.
    pub fn agreed(&self, session_id: u32, profile: ProfileId, token: &str) -> Option<&Agreement> {
        [session_id, 0].into_iter().find_map(|session_id| {
            let list = self.agreed.get(&(session_id, profile.raw()))?;
            let holds = |(_, agreement): &&(Purpose, Agreement)| agreement.tokens.contains(token);
            list.iter().find(holds).map(|(_, agreement)| agreement)
        })
    }

    /// The most preferred degradation of a profile that was accepted (U3).
    pub fn degraded(&self, session_id: u32, profile: ProfileId) -> Option<&Agreement> {
        [session_id, 0].into_iter().find_map(|session_id| {
            let list = self.agreed.get(&(session_id, profile.raw()))?;
            list.iter().find(|(purpose, _)| *purpose == Purpose::Degradation).map(|(_, agreement)| agreement)
        })
    }

    /// The cost model that was negotiated for a profile, where there is a concrete one (U2). Degrading negotiates none.
    pub fn cost_model(&self, session_id: u32, profile: ProfileId) -> Option<CostModelId> {
        [session_id, 0].into_iter().find_map(|session_id| {
            let list = self.agreed.get(&(session_id, profile.raw()))?;
            let negotiated = list.iter().filter(|(purpose, _)| *purpose == Purpose::Negotiation);
            let mut models = negotiated.map(|(_, agreement)| agreement.terms.cost_model);
            models.find(|model| *model != CostModelId::UNSPECIFIED)
        })
    }

    fn place(purpose: Purpose, session_id: u32, profile: ProfileId) -> Place {
        (purpose, session_id, profile.raw())
    }

    fn check_size(&self, offer: &Offer) -> Result<(), Refusal> {
        if offer.tokens.len() > self.limits.tokens {
            return Err(
                Refusal::limit("U4", "the offer has too many tokens").about(offer.tokens.len() as u64)
            );
        }
        if self.waiting >= self.limits.waiting {
            return Err(Refusal::limit("U4", "too many offers wait for their answer"));
        }
        Ok(())
    }

    /// Checks an offer of this side.
    ///
    /// # Errors
    ///
    /// `invalid_state` where the server negotiates, or while the peer's own degradation of that profile waits for
    /// an answer: that is what has to be sent then; `limit_exceeded` over the limits.
    pub fn check_offer(
        &self,
        purpose: Purpose,
        session_id: u32,
        offer: &Offer,
    ) -> Result<OfferPlan, Refusal> {
        if purpose == Purpose::Negotiation && self.side == Side::Server {
            return Err(Refusal::state("U4", "only the client offers capabilities"));
        }
        let place = Self::place(purpose, session_id, offer.profile);
        if self.theirs.contains_key(&place) {
            return Err(Refusal::state("U4", "the peer's offer waits for an answer"));
        }
        self.check_size(offer)?;
        Ok(OfferPlan { place, offer: offer.clone() })
    }

    /// The offer was sent.
    pub fn apply_offer(&mut self, plan: OfferPlan) {
        self.ours.entry(plan.place).or_default().push_back(plan.offer);
        self.waiting = self.waiting.saturating_add(1);
    }

    /// Checks a message of the peer's: an answer where an offer of this side waits for one, and an offer where not.
    ///
    /// Offers to degrade may cross. What cannot be an answer, because it names tokens that were not offered, then
    /// is the peer's own offer, and the server's stands.
    ///
    /// # Errors
    ///
    /// `invalid_state` where the server negotiates, `unsupported_capability` for an answer that accepts what was
    /// not offered, `limit_exceeded` over the limits.
    pub fn check_message(
        &self,
        purpose: Purpose,
        session_id: u32,
        message: &Offer,
    ) -> Result<MessagePlan, Refusal> {
        let place = Self::place(purpose, session_id, message.profile);
        let asked = self.ours.get(&place).and_then(VecDeque::front);
        let meaning = match (purpose, asked) {
            (_, Some(asked)) if message.tokens.is_subset(&asked.tokens) => Meaning::Answer,
            (Purpose::Negotiation, Some(_)) => {
                return Err(Refusal::capability("U4", "the answer accepts what was not offered"));
            }
            (Purpose::Negotiation, None) if self.side == Side::Client => {
                return Err(Refusal::state("U4", "only the client offers capabilities"));
            }
            (Purpose::Degradation, Some(_)) if self.side == Side::Server => Meaning::Void,
            (Purpose::Degradation, Some(_)) => Meaning::Crossing,
            (_, None) => Meaning::Offer,
        };
        if matches!(meaning, Meaning::Offer | Meaning::Crossing) {
            self.check_size(message)?;
        }
        Ok(MessagePlan { place, message: message.clone(), meaning })
    }

    /// The message has come.
    pub fn apply_message(&mut self, plan: MessagePlan) -> Event {
        let MessagePlan { place, message, meaning } = plan;
        let (purpose, session_id, _) = place;
        match meaning {
            Meaning::Void => return Event::Ignored,
            Meaning::Answer => {
                let Some(asked) = pop(&mut self.ours, place) else { return Event::Ignored };
                self.waiting = self.waiting.saturating_sub(1);
                let profile = asked.profile;
                let accepted = message.tokens;
                let mismatch = asked.is_unmet_by(&accepted);
                self.agree(purpose, session_id, &asked, accepted.clone(), self.side);
                return Event::Answered { session_id, profile, accepted, mismatch };
            }
            Meaning::Crossing => {
                // The server took no notice of what it got meanwhile, so nobody will answer that.
                let void = self.ours.remove(&place).map_or(0, |void| void.len());
                self.waiting = self.waiting.saturating_sub(void);
            }
            Meaning::Offer => {}
        }
        self.theirs.entry(place).or_default().push_back(message.clone());
        self.waiting = self.waiting.saturating_add(1);
        Event::Offered { session_id, offer: message, crossed: meaning == Meaning::Crossing }
    }

    /// Client: an answer in a negotiation could not be taken. Its offer counts as answered with nothing, so that the next
    /// answer meets the next offer. `None` where no offer waits.
    pub fn skip(&mut self, session_id: u32, profile: ProfileId) -> Option<Event> {
        let asked = pop(&mut self.ours, Self::place(Purpose::Negotiation, session_id, profile))?;
        self.waiting = self.waiting.saturating_sub(1);
        let accepted = BTreeSet::new();
        let mismatch = asked.is_unmet_by(&accepted);
        Some(Event::Answered { session_id, profile, accepted, mismatch })
    }

    /// Finds the answer to the oldest offer of the peer's for that session and profile, from what this side can do.
    ///
    /// # Errors
    ///
    /// `invalid_state` where no offer waits.
    pub fn check_answer(
        &self,
        purpose: Purpose,
        session_id: u32,
        profile: ProfileId,
        able: &Words,
    ) -> Result<AnswerPlan, Refusal> {
        let place = Self::place(purpose, session_id, profile);
        let Some(offer) = self.theirs.get(&place).and_then(VecDeque::front) else {
            return Err(Refusal::state("U4", "no offer waits for an answer"));
        };
        Ok(AnswerPlan { place, accepted: offer.tokens.intersection(able.tokens()).cloned().collect() })
    }

    /// Answers: the accepted subset in the form of the offer, and whether an ERROR `unsupported_capability` has to
    /// follow it.
    pub fn apply_answer(&mut self, plan: AnswerPlan) -> Answer {
        let AnswerPlan { place, accepted } = plan;
        let (purpose, session_id, _) = place;
        let Some(offer) = pop(&mut self.theirs, place) else { return Answer::default() };
        self.waiting = self.waiting.saturating_sub(1);
        let mismatch = offer.is_unmet_by(&accepted);
        self.agree(purpose, session_id, &offer, accepted.clone(), self.side.peer());
        Answer { offer: Offer { tokens: accepted, ..offer }, mismatch }
    }

    /// Keeps what was agreed on, in the order of preference.
    fn agree(
        &mut self,
        purpose: Purpose,
        session_id: u32,
        offer: &Offer,
        tokens: BTreeSet<String>,
        by: Side,
    ) {
        let at = (session_id, offer.profile.raw());
        if tokens.is_empty() {
            return;
        }
        let agreement = Agreement { tokens, terms: offer.terms, offered_by: by };
        let list = self.agreed.entry(at).or_default();
        // The same terms again are the same offer again.
        let before = list.len();
        list.retain(|(of, old)| *of != purpose || old.terms != agreement.terms);
        let place = list.partition_point(|(_, old)| old.terms.rank < agreement.terms.rank);
        list.insert(place, (purpose, agreement));
        self.agreements = self.agreements.saturating_sub(before).saturating_add(list.len());
        if self.agreements > self.limits.agreements {
            list.pop();
            self.agreements = self.agreements.saturating_sub(1);
        }
        if list.is_empty() {
            self.agreed.remove(&at);
        }
    }

    /// A session is gone, with all that was offered and agreed on in it.
    pub fn end_session(&mut self, session_id: u32) {
        for purpose in [Purpose::Negotiation, Purpose::Degradation] {
            let range = (purpose, session_id, 0)..=(purpose, session_id, u16::MAX);
            for offers in [&mut self.ours, &mut self.theirs] {
                let places: Vec<Place> = offers.range(range.clone()).map(|(place, _)| *place).collect();
                for place in places {
                    let waiting = offers.remove(&place).map_or(0, |waiting| waiting.len());
                    self.waiting = self.waiting.saturating_sub(waiting);
                }
            }
        }
        let range = (session_id, 0)..=(session_id, u16::MAX);
        let places: Vec<(u32, u16)> = self.agreed.range(range).map(|(at, _)| *at).collect();
        for at in places {
            let agreed = self.agreed.remove(&at).map_or(0, |agreed| agreed.len());
            self.agreements = self.agreements.saturating_sub(agreed);
        }
    }
}

fn pop(offers: &mut BTreeMap<Place, VecDeque<Offer>>, place: Place) -> Option<Offer> {
    let waiting = offers.get_mut(&place)?;
    let first = waiting.pop_front();
    if waiting.is_empty() {
        offers.remove(&place);
    }
    first
}

impl Offer {
    /// Whether it insists, and nothing of it was accepted.
    fn is_unmet_by(&self, accepted: &BTreeSet<String>) -> bool {
        accepted.is_empty() && self.terms.flags.contains(CapabilityFlags::HARD_REQUIREMENT)
    }
}

#[cfg(test)]
mod tests;
