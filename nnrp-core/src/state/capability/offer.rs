//! Offers and answers, which have the same form on the wire.

use alloc::{collections::BTreeSet, string::String, vec::Vec};

use crate::wire::Fault;
use crate::{Capability, CapabilityFlags, CapabilityTokens, CostModelId, ProfileId};

/// What holds for all tokens of an offer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// How costs are counted.
    pub cost_model: CostModelId,
    /// A lower rank is preferred.
    pub rank: u16,
    /// Limit on bytes; 0 for none.
    pub limit_bytes: u64,
    /// Limit on compute or tokens; 0 for none.
    pub limit_units: u64,
    /// How firm the offer is.
    pub flags: CapabilityFlags,
}

/// One offer, or its answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// The profile that it is for.
    pub profile: ProfileId,
    /// The tokens, ascending and each once.
    pub tokens: BTreeSet<String>,
    /// What holds for all of them.
    pub terms: Terms,
}

/// The answer to an offer of the peer's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// What goes out: the offer with the tokens that are accepted.
    pub offer: Offer,
    /// Whether ERROR `unsupported_capability` follows in the scope of the offer: it insisted, and nothing was
    /// accepted.
    pub mismatch: bool,
}

/// Tokens that a side can do.
///
/// ```
/// use nnrp_core::state::capability::Words;
///
/// let able = Words::from(["object.delta"]);
/// assert!(able.tokens().contains("object.delta"));
/// assert_eq!(Words::registered().tokens().len(), 18);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words(BTreeSet<String>);

impl Words {
    /// Everything that is registered.
    pub fn registered() -> Self {
        Self(CapabilityTokens::REGISTERED.into_iter().map(String::from).collect())
    }

    /// The tokens.
    pub const fn tokens(&self) -> &BTreeSet<String> {
        &self.0
    }
}

impl<const N: usize> From<[&str; N]> for Words {
    fn from(words: [&str; N]) -> Self {
        Self(words.into_iter().map(String::from).collect())
    }
}

impl Offer {
    /// An offer of these tokens.
    pub fn new<const N: usize>(profile: ProfileId, tokens: [&str; N], terms: Terms) -> Self {
        Self { profile, tokens: Words::from(tokens).0, terms }
    }

    /// What a message says. Its tokens were checked by whoever read them.
    pub fn read(capability: &Capability, tokens: CapabilityTokens<'_>) -> Self {
        Self {
            profile: capability.profile_id,
            tokens: tokens.iter().map(String::from).collect(),
            terms: Terms {
                cost_model: capability.cost_model_id,
                rank: capability.preference_rank,
                limit_bytes: capability.limit_bytes,
                limit_units: capability.limit_units,
                flags: capability.flags,
            },
        }
    }

    /// The message: its metadata, and the entries of its body in their order (B8).
    ///
    /// # Errors
    ///
    /// Where a token is empty or longer than its length can say.
    pub fn write(&self) -> Result<(Capability, Vec<u8>), Fault> {
        let mut body = Vec::new();
        for token in &self.tokens {
            CapabilityTokens::push(&mut body, token)?;
        }
        let capability = Capability {
            profile_id: self.profile,
            capability_count: u16::try_from(self.tokens.len()).unwrap_or(u16::MAX),
            cost_model_id: self.terms.cost_model,
            preference_rank: self.terms.rank,
            limit_bytes: self.terms.limit_bytes,
            limit_units: self.terms.limit_units,
            body_bytes: u32::try_from(body.len()).unwrap_or(u32::MAX),
            flags: self.terms.flags,
        };
        Ok((capability, body))
    }
}
