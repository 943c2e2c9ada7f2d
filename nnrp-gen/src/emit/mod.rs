//! Emitters: what is made of a checked registry. Each reads the model and cannot fail.

pub mod c;
mod fixed;
#[cfg(feature = "cli")]
pub mod json;
#[cfg(feature = "cli")]
pub mod markdown;
pub mod rust;
