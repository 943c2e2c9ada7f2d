//! Emitters: what is made of a checked registry. Each reads the model and cannot fail.

#[cfg(feature = "cli")]
pub mod json;
pub mod rust;
