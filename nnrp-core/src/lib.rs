//! The NNRP/1 protocol core.
#![forbid(unsafe_code)]
#![no_std]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(test)]
extern crate std;

pub use bitflags;

#[cfg(feature = "state")]
pub mod state;

include!(concat!(env!("OUT_DIR"), "/codecs.rs"));
