//! The NNRP/1 protocol core.
#![forbid(unsafe_code)]
#![no_std]

// So that what the derives write means the same here and elsewhere.
extern crate self as nnrp_core;

pub mod describe;
mod profile;

pub use bitflags;
pub use nnrp_derive::{Layout, ProfileDescriptor, WireEnum, registry};
pub use profile::{ProfileDescriptor, Unbound};
pub use wire::{Layout, Reserved, WireEnum};

include!(concat!(env!("OUT_DIR"), "/codecs.rs"));
