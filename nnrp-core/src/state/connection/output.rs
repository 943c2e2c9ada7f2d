//! Bytes on their way out.

use alloc::vec::Vec;

/// Memory that is kept once everything was sent.
const KEEP: usize = 64 << 10;

/// What is written and not sent yet, in one piece.
#[derive(Debug, Default)]
pub(super) struct Output {
    bytes: Vec<u8>,
    sent: usize,
}

impl Output {
    pub(super) fn as_slice(&self) -> &[u8] {
        self.bytes.get(self.sent..).unwrap_or_default()
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len().saturating_sub(self.sent)
    }

    /// The transport took that many.
    pub(super) fn consume(&mut self, count: usize) {
        self.sent = self.sent.saturating_add(count).min(self.bytes.len());
        if self.sent == self.bytes.len() {
            self.bytes.clear();
            self.bytes.shrink_to(KEEP);
            self.sent = 0;
        }
    }

    /// Where the next packet begins.
    pub(super) fn mark(&mut self) -> usize {
        // What was sent is let go of once it is the larger part, so that each byte moves at most once.
        if self.sent > KEEP && self.sent > self.len() {
            self.bytes.drain(..self.sent);
            self.sent = 0;
        }
        self.bytes.len()
    }

    /// To write the next packet behind the rest.
    pub(super) fn tail(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// What was written since a mark.
    pub(super) fn since(&self, mark: usize) -> &[u8] {
        self.bytes.get(mark..).unwrap_or_default()
    }
}
