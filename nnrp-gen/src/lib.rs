//! Reads a declarative layout registry, checks it, and generates from it. [`format`](mod@format) says how one is written.
#![forbid(unsafe_code)]

mod build;
pub mod check;
#[cfg(feature = "cli")]
pub mod cli;
pub mod codec;
mod cut;
pub mod emit;
mod files;
pub mod fmt;
pub mod format;
mod load;
mod lower;
pub mod model;
pub mod names;
pub mod read;
pub mod report;
mod resolve;
pub mod rule;
pub mod source;
pub mod suggest;
pub mod syntax;
pub mod wire;

pub use build::Build;
pub use load::{Loaded, finish, load, load_texts};
