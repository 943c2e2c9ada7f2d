//! The `nnrp-gen` command.
#![forbid(unsafe_code)]

fn main() {}
