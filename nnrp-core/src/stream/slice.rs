//! Packets that stand back to back in one slice.

use core::iter::FusedIterator;

use crate::Packet;
use crate::wire::Fault;

/// The packets that `bytes` holds back to back, to its end.
///
/// Takes time in proportion to the bytes and allocates nothing.
pub const fn packets(bytes: &[u8]) -> Packets<'_> {
    Packets { bytes, start: 0, end: 0, over: false }
}

/// Packets back to back, one by one; made by [`packets`].
///
/// A packet that is refused for its metadata or body is one item, and the next packet follows. A fault after which the
/// end of the packet is not known, and a packet that is cut short by the end of the bytes, is the last item.
#[derive(Clone, Debug)]
pub struct Packets<'a> {
    bytes: &'a [u8],
    /// Where the last item starts and ends.
    start: usize,
    end: usize,
    over: bool,
}

impl<'a> Packets<'a> {
    /// First byte of the last item, from the start of all bytes; the offset in a [`Fault`] counts from there.
    pub const fn offset(&self) -> usize {
        self.start
    }

    /// The bytes of the last item, or all from its first byte on where its end is not known.
    pub fn item(&self) -> &'a [u8] {
        self.bytes.get(self.start..self.end).unwrap_or_default()
    }

    /// The bytes behind the last item.
    pub fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.end..).unwrap_or_default()
    }

    /// The packet at the front of `rest`, and its size where that is known.
    fn front(rest: &'a [u8]) -> (Option<usize>, Result<Packet<'a>, Fault>) {
        let declared = match Packet::declared_len(rest) {
            Ok(declared) => declared.and_then(|size| usize::try_from(size).ok()),
            Err(fault) => return (None, Err(fault)),
        };
        match declared.and_then(|size| rest.get(..size)) {
            Some(packet) => (Some(packet.len()), Packet::parse(packet)),
            // Cut short: checked as it is, so that the fault says what is missing.
            None => (None, Packet::parse(rest)),
        }
    }
}

impl<'a> Iterator for Packets<'a> {
    type Item = Result<Packet<'a>, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.rest();
        if self.over || rest.is_empty() {
            return None;
        }
        let (size, packet) = Self::front(rest);
        self.over = size.is_none();
        self.start = self.end;
        self.end += size.unwrap_or(rest.len());
        Some(packet)
    }
}

impl FusedIterator for Packets<'_> {}
