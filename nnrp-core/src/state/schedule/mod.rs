//! The order in which waiting operations are sent.
//!
//! A [`Queue`] respects credit, serves interactive before balanced before background before the rest, and lets none
//! of them starve (O11).

mod lane;
mod queue;

#[cfg(test)]
mod tests;

pub use lane::Lane;
pub use queue::{PATIENCE_MS, Pass, PushPlan, Queue, STEP_MS, Ticket};
