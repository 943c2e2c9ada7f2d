//! Resuming sessions on another connection, and moving them to another transport (R1 to R3, X1, O5).

mod keep;
mod migrate;
mod token;
mod waterline;

pub use keep::{Keeper, Kept, Lost};
pub use migrate::{MigrateAckPlan, MigratePlan, Migration};
pub use token::{Bound, Handle, ResumePlan, Resumed, Token, Tokens, Used};
pub use waterline::Waterline;

/// What resumable sessions may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Sessions that can be resumed.
    pub sessions: usize,
    /// Outcomes that are kept for one session.
    pub outcomes: usize,
    /// Bytes of outcomes that are kept for one session.
    pub outcome_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { sessions: 4_096, outcomes: 1_024, outcome_bytes: 4 << 20 }
    }
}

#[cfg(test)]
mod tests;
