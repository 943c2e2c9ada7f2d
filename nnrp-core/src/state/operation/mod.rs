//! Operations: their ids and frames, tree and groups, life, times, and ends.
//!
//! [`Operations`] holds the live ones of a session. [`Outcomes`] carries their ends to the application, and
//! [`ControlSequence`] is what orders the control messages of one sender on a connection.

mod cancel;
mod early;
mod event;
mod list;
mod node;
mod outcome;
mod recent;
mod sequence;
mod step;
mod supersede;
mod table;
mod timers;
mod tree;
mod urgency;

#[cfg(test)]
mod tests;

pub use cancel::{CancelPlan, Cancelled, Manner, Reach};
pub use event::Event;
pub use node::{Key, Operation, Urgency};
pub use outcome::{Cause, Ended, Outcomes};
pub use recent::Remembered;
pub use sequence::{ControlSequence, Order};
pub use step::{Applied, EventPlan, Verdict};
pub use supersede::SupersedePlan;
pub use table::{Found, Limits, Named, Operations, Parent, Submit, SubmitPlan};
pub use urgency::{Change, ChangePlan, UnixOrigin};
