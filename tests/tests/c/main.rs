//! The C header: it compiles everywhere, agrees with Rust on every byte, and serves another language.

mod agree;
mod compile;
mod driver;
mod header;
mod python;
mod samples;
mod toolchain;
