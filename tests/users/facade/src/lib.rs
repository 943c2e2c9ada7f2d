//! Hands the core on under a name of its own.

pub mod protocol {
    pub use inherited as core;
}

/// The renamed dependency of the workspace works by itself.
#[derive(inherited::Layout)]
pub struct Here {
    pub number: u8,
}
