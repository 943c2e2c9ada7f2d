//! Why a state machine did not take something.

use core::fmt;

use crate::ErrorCode;

/// A check that failed: nothing was changed by it.
///
/// ```
/// use nnrp_core::{ErrorCode, state::Refusal};
///
/// let refusal = Refusal::new(ErrorCode::INVALID_STATE, "O2", "the operation is already live").about(7);
/// assert_eq!(refusal.to_string(), "Refused as invalid_state by O2: the operation is already live (7).");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Refusal {
    /// What an answer on the wire carries. Codes of every family fit.
    pub code: ErrorCode,
    /// Id of the rule that was broken.
    pub rule: &'static str,
    /// What is wrong, as the end of a sentence.
    pub why: &'static str,
    /// The id, number or size that it is about; 0 for none.
    pub about: u64,
}

impl Refusal {
    /// A refusal that is about nothing in particular.
    pub const fn new(code: ErrorCode, rule: &'static str, why: &'static str) -> Self {
        Self { code, rule, why, about: 0 }
    }

    /// The same, about that id, number or size.
    pub const fn about(mut self, about: u64) -> Self {
        self.about = about;
        self
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Refused as {} by {}: {}", self.code, self.rule, self.why)?;
        if self.about != 0 {
            write!(out, " ({})", self.about)?;
        }
        out.write_str(".")
    }
}

impl core::error::Error for Refusal {}
