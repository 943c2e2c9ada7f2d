//! What crosses crates is tested in `tests/`; this is what the tests share.
#![forbid(unsafe_code)]

pub mod command;
pub mod foreign;
pub mod generated;
pub mod mirror;
pub mod mutate;
pub mod packet;
pub mod pair;
pub mod parts;
pub mod program;
pub mod project;
pub mod random;
pub mod registry;
pub mod rules;

/// The Rust of the README.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
