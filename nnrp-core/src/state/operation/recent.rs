//! The last operations that ended, so that what still arrives for them is told from what was never there.

use alloc::collections::VecDeque;

use crate::{DropReasonCode, OperationState};

/// An operation that ended a while ago.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remembered {
    /// Its id.
    pub operation: u64,
    /// The frame that it was paired with.
    pub frame: u32,
    /// How it ended.
    pub state: OperationState,
    /// The reason to report for what comes late; none if it completed or failed by an error.
    pub reason: DropReasonCode,
}

/// A ring of them. It is searched only for names that are not live, and it is short, so it has no index: that
/// would cost every operation something, for the sake of few.
#[derive(Debug)]
pub(super) struct Recent {
    ring: VecDeque<Remembered>,
    limit: u16,
}

impl Recent {
    pub(super) const fn new(limit: u16) -> Self {
        Self { ring: VecDeque::new(), limit }
    }

    pub(super) fn push(&mut self, ended: Remembered) {
        if self.limit == 0 {
            return;
        }
        if self.ring.len() >= self.limit as usize {
            self.ring.pop_front();
        }
        self.ring.push_back(ended);
    }

    pub(super) fn operation(&self, operation: u64) -> Option<Remembered> {
        self.ring.iter().rev().find(|ended| ended.operation == operation).copied()
    }

    pub(super) fn pair(&self, operation: u64, frame: u32) -> Option<Remembered> {
        self.ring.iter().rev().find(|ended| (ended.operation, ended.frame) == (operation, frame)).copied()
    }

    pub(super) fn frame(&self, frame: u32) -> Option<Remembered> {
        self.ring.iter().rev().find(|ended| ended.frame == frame).copied()
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.ring.len()
    }
}
