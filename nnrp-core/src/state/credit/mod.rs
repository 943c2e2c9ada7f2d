//! Flow control: credit on connection, session and operation.
//!
//! A submit needs a place in two [`Window`]s, a partial needs credit in [`Partials`]. The newest update of a scope
//! counts, by its epoch; BACKPRESSURE and CREDIT_UPDATE have none and always count. None holds private metrics (W6).

mod gate;
mod partial;
mod window;

#[cfg(test)]
mod tests;

use core::fmt;

pub use gate::{Gate, Standing};
pub use partial::{PartialCredit, PartialPlan, Partials, PartialsPlan};
pub use window::{Place, Window, WindowPlan};

use super::{Refusal, Time};
use crate::ErrorCode;

/// Why something may not be sent now. No error: it may be sent later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocked {
    /// The window is full.
    NoCredit,
    /// Hard pressure.
    Hard,
    /// Paused until a resume.
    Paused,
    /// Only what is in flight may finish.
    Draining,
    /// Only background and lower classes may go on.
    BackgroundOnly,
    /// As many operations live in the session as may at once (S9).
    Full,
    /// RETRY_AFTER said to wait until then.
    Held(Time),
    /// The session was just resumed, and outcomes of its old connection may still come: a frame that is used anew
    /// could be taken for theirs.
    Resuming,
}

impl fmt::Display for Blocked {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Blocked::NoCredit => out.write_str("The window is full."),
            Blocked::Hard => out.write_str("The peer asks for no new operations."),
            Blocked::Paused => out.write_str("The peer paused new operations."),
            Blocked::Draining => out.write_str("Only what is in flight may finish."),
            Blocked::BackgroundOnly => out.write_str("Only background operations may go on."),
            Blocked::Full => out.write_str("The session has as many live operations as it may."),
            Blocked::Held(until) => write!(out, "The peer asks to wait until {} ms.", until.0),
            Blocked::Resuming => out.write_str("Outcomes from before the resume may still come."),
        }
    }
}

impl core::error::Error for Blocked {}

impl From<Blocked> for Refusal {
    /// For a caller who does not want to wait.
    fn from(blocked: Blocked) -> Self {
        let (rule, why) = match blocked {
            Blocked::NoCredit => ("W1", "the window is full"),
            Blocked::Hard => ("W3", "the peer asks for no new operations"),
            Blocked::Paused => ("W3", "the peer paused new operations"),
            Blocked::Draining => ("W3", "only what is in flight may finish"),
            Blocked::BackgroundOnly => ("W3", "only background operations may go on"),
            Blocked::Full => ("S9", "the session has as many live operations as it may"),
            Blocked::Held(_) => ("D17", "the peer asks to wait"),
            Blocked::Resuming => ("R1", "outcomes from before the resume may still come"),
        };
        Refusal::new(ErrorCode::LIMIT_EXCEEDED, rule, why)
    }
}

fn refuse(code: ErrorCode, rule: &'static str, why: &'static str, about: u64) -> Refusal {
    Refusal::new(code, rule, why).about(about)
}
