//! The C header: it compiles everywhere, agrees with Rust on every byte, and serves another language.

// Faults are compared by the million, not passed up.
#![allow(clippy::result_large_err)]

mod agree;
mod compile;
mod driver;
mod example;
mod header;
mod packets;
mod pieces;
mod python;
mod samples;
mod toolchain;
mod walk;
mod writes;
