//! Capability entries (B8).

use alloc::vec::Vec;

use crate::CapabilityTokens;
use crate::wire::Fault;

/// Writes capability tokens as they stand on the wire: ascending, each once.
///
/// ```
/// use nnrp_core::build::Capabilities;
/// use nnrp_core::{Capability, CapabilityNegotiationBody, CommonHeader, Message, Packet};
///
/// # fn main() -> Result<(), nnrp_core::wire::Fault> {
/// let tokens = Capabilities::new(["object.delta", "cache.reference", "object.delta"]);
/// let body = CapabilityNegotiationBody { capability_entries: tokens.entries()? };
/// let offer = Message::CapabilityNegotiation(Capability::default(), body);
/// let bytes = offer.to_vec(&CommonHeader::default())?;
///
/// let Message::CapabilityNegotiation(offer, body) = Packet::parse(&bytes)?.message() else { panic!() };
/// assert_eq!(offer.capability_count, 2);
/// assert!(body.capability_entries.iter().eq(["cache.reference", "object.delta"]));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Capabilities {
    bytes: Vec<u8>,
    fault: Option<Fault>,
}

impl Capabilities {
    /// Sorts tokens, and leaves out those that repeat another.
    pub fn new<'t>(tokens: impl IntoIterator<Item = &'t str>) -> Self {
        let mut tokens: Vec<_> = tokens.into_iter().collect();
        tokens.sort_unstable();
        tokens.dedup();
        let mut all = Self::default();
        for token in tokens {
            if let Err(fault) = CapabilityTokens::push(&mut all.bytes, token) {
                all.fault.get_or_insert(fault.behind(all.bytes.len()));
            }
        }
        all
    }

    /// The entries, to stand in the body of their message.
    ///
    /// # Errors
    ///
    /// The first token that is not registered, with its offset in the entries.
    pub fn entries(&self) -> Result<CapabilityTokens<'_>, Fault> {
        self.entries_with(|_| false)
    }

    /// The entries for a peer with which an extension of the registered tokens was agreed on: `also` says which tokens
    /// are good beside them.
    ///
    /// # Errors
    ///
    /// The first token that is neither registered nor agreed on, with its offset in the entries.
    pub fn entries_with(&self, also: impl Fn(&str) -> bool) -> Result<CapabilityTokens<'_>, Fault> {
        match self.fault {
            Some(fault) => Err(fault),
            None => CapabilityTokens::with(&self.bytes, also),
        }
    }
}
