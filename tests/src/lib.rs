//! What crosses crates is tested in `tests/`; this is what the tests share.
#![forbid(unsafe_code)]

pub mod command;
pub mod foreign;
pub mod generated;
pub mod mutate;
pub mod packet;
pub mod parts;
pub mod project;
pub mod random;
pub mod registry;
