//! The NNRP/1 protocol core.
#![forbid(unsafe_code)]
#![no_std]

pub use bitflags;

include!(concat!(env!("OUT_DIR"), "/codecs.rs"));
