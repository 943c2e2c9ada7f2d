//! Deadlines that came before their submit.

use alloc::collections::BTreeMap;

use super::node::Limit;
use crate::ErrorCode;
use crate::state::Refusal;

#[derive(Debug)]
pub(super) struct Early {
    kept: BTreeMap<(u64, u32), Limit>,
    limit: u32,
}

impl Early {
    pub(super) const fn new(limit: u32) -> Self {
        Self { kept: BTreeMap::new(), limit }
    }

    pub(super) fn len(&self) -> usize {
        self.kept.len()
    }

    pub(super) fn get(&self, operation: u64, frame: u32) -> Option<Limit> {
        self.kept.get(&(operation, frame)).copied()
    }

    /// Whether a deadline can be kept for that pair. A later one for the same pair replaces it.
    pub(super) fn check(&self, operation: u64, frame: u32) -> Result<(), Refusal> {
        if self.kept.len() < self.limit as usize || self.kept.contains_key(&(operation, frame)) {
            return Ok(());
        }
        let why = "no more deadlines are kept for operations that were not submitted";
        Err(Refusal::new(ErrorCode::LIMIT_EXCEEDED, "O9", why).about(operation))
    }

    pub(super) fn insert(&mut self, operation: u64, frame: u32, limit: Limit) {
        self.kept.insert((operation, frame), limit);
    }

    pub(super) fn remove(&mut self, operation: u64, frame: u32) {
        self.kept.remove(&(operation, frame));
    }
}
