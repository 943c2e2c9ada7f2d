//! Choices among things, for model tests.

use super::random::Random;

impl Random {
    /// One of `items`.
    pub(crate) fn of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u64) as usize]
    }
}
