//! The state machines, one concern a module, without I/O, clock or randomness.
//!
//! Every module can be used alone. What arrives is first checked (`check_*` looks and answers with a plan or a
//! [`Refusal`]), then applied (`apply_*` takes the plan and cannot fail). So a packet that concerns several
//! modules is refused by one of them before any was touched. A plan belongs to the state that it was made from:
//! apply it before anything else changes, or drop it.

pub mod budget;
pub mod cache;
pub mod capability;
mod code;
pub mod connection;
pub mod credit;
pub mod hello;
pub mod object;
pub mod operation;
#[cfg(test)]
mod pick;
pub mod probe;
#[cfg(test)]
pub(crate) mod random;
pub mod refusal;
pub mod resume;
#[doc = include_str!("rules.md")]
pub mod rules {}
pub mod schedule;
pub mod schema;
pub mod session;
pub mod side;
mod slab;
pub mod source;
mod table;
pub mod time;
pub mod trace;

pub use refusal::Refusal;
pub use side::Side;
pub use source::Source;
pub use time::Time;
