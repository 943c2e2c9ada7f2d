//! Numbers that ascend per sender.

/// What a number is to those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Higher than all before.
    Newer,
    /// Already seen or passed: to be ignored and reported.
    Old {
        /// The highest so far.
        last: u64,
    },
}

/// The `control_sequence` of one sender on one connection (O6, O14).
///
/// The first number is taken whatever it is. A sender and a receiver each have one.
///
/// ```
/// use nnrp_core::state::operation::{ControlSequence, Order};
///
/// let mut heard = ControlSequence::default();
/// assert_eq!(heard.check(5), Order::Newer);
/// heard.apply(5);
/// assert_eq!(heard.check(5), Order::Old { last: 5 });
/// assert_eq!(heard.next(), Some(6));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ControlSequence {
    last: Option<u64>,
}

impl ControlSequence {
    /// Whether that number is newer than all before.
    pub const fn check(&self, number: u64) -> Order {
        check(self.last, number)
    }

    /// Remembers a number that was newer; an old one changes nothing.
    pub const fn apply(&mut self, number: u64) {
        if let Order::Newer = self.check(number) {
            self.last = Some(number);
        }
    }

    /// The number to send next, from 1; `None` once there is no higher one.
    pub const fn next(&self) -> Option<u64> {
        match self.last {
            None => Some(1),
            Some(last) => last.checked_add(1),
        }
    }
}

pub(super) const fn check(last: Option<u64>, number: u64) -> Order {
    match last {
        Some(last) if number <= last => Order::Old { last },
        _ => Order::Newer,
    }
}
