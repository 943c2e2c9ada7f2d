//! Reads a declarative layout registry, checks it, and generates from it.
#![forbid(unsafe_code)]

pub mod fmt;
pub mod rule;
pub mod suggest;
