//! Reads and writes bytes from the registry alone, without generated code.
//!
//! [`decode`] and [`encode`] accept and refuse exactly what the generated codecs do, and blame the same place with
//! the same words; [`packet`] does the same for whole packets. They are made for tools, where a rebuild would be in the way, not for speed.

mod check;
mod decode;
mod encode;
mod error;
mod fault;
mod number;
pub mod packet;
mod text;
mod value;

pub use check::{fault, faults};
pub use decode::{Lenient, decode, field_value, lenient};
pub use encode::{blank, encode};
pub use error::{EncodeError, Problem};
pub use fault::Fault;
pub use number::{float, integer, raw};
pub use text::{bytes_as_hex, bytes_as_text, bytes_of_text};
pub use value::Value;

#[cfg(test)]
mod tests;
