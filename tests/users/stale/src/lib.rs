//! Expands a registry whose files come and go.
#![forbid(unsafe_code)]

nnrp_core::registry!("registry");

/// How many bytes the layout has.
pub const SIZE: usize = Chunk::SIZE;
