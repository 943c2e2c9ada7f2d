//! Hands the core on under a name of its own.
#![forbid(unsafe_code)]

pub mod protocol {
    pub use inherited as core;
}

/// The renamed dependency of the workspace works by itself.
#[derive(inherited::Layout)]
pub struct Here {
    pub number: u8,
}
