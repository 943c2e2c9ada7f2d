//! Writing packets.

use core::fmt;

use super::Fault;

/// Fills a buffer from front to back. What does not fit is left out; who uses it measures first.
#[derive(Debug)]
pub struct Writer<'a> {
    rest: &'a mut [u8],
}

impl<'a> Writer<'a> {
    /// Starts at the front.
    pub fn new(out: &'a mut [u8]) -> Self {
        Self { rest: out }
    }

    /// Writes bytes behind those that were written.
    #[inline]
    pub fn put(&mut self, bytes: &[u8]) {
        let rest = core::mem::take(&mut self.rest);
        if let Some((place, rest)) = rest.split_at_mut_checked(bytes.len()) {
            place.copy_from_slice(bytes);
            self.rest = rest;
        }
    }
}

/// Why a packet could not be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteError {
    /// It takes that many bytes, and there are fewer.
    Room(usize),
    /// A reader would refuse it for that.
    Fault(Fault),
}

impl From<Fault> for WriteError {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Room(bytes) => write!(out, "the packet takes {bytes} bytes, and there are fewer"),
            Self::Fault(fault) => write!(out, "a reader would refuse the packet: {fault}"),
        }
    }
}

impl core::error::Error for WriteError {}
