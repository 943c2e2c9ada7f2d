//! How far a client has everything (X1).

use alloc::collections::BTreeMap;

/// Keeps track of the operation up to which a client has all terminal outcomes, in the order of its submits.
///
/// It holds on to what is undelivered only, however long the oldest of that takes.
///
/// ```
/// use nnrp_core::state::resume::Waterline;
///
/// let mut waterline = Waterline::default();
/// for operation in [10, 11, 12] {
///     waterline.submitted(operation);
/// }
/// waterline.delivered(11);
/// assert_eq!(waterline.mark(), None, "10 is still missing");
/// waterline.delivered(10);
/// assert_eq!(waterline.mark(), Some(11));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Waterline {
    /// By their order, undelivered operations and the one that was submitted just before each.
    open: BTreeMap<u64, (u64, Option<u64>)>,
    places: BTreeMap<u64, u64>,
    submitted: u64,
    last: Option<u64>,
}

impl Waterline {
    /// The operation up to which everything was delivered; what SESSION_OPEN names to resume from.
    pub fn mark(&self) -> Option<u64> {
        match self.open.first_key_value() {
            Some((_, (_, before))) => *before,
            None => self.last,
        }
    }

    /// Operations that are undelivered.
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Whether everything was delivered.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// An operation was submitted.
    pub fn submitted(&mut self, operation_id: u64) {
        self.delivered(operation_id);
        self.submitted = self.submitted.saturating_add(1);
        self.places.insert(operation_id, self.submitted);
        self.open.insert(self.submitted, (operation_id, self.last));
        self.last = Some(operation_id);
    }

    /// The application has an operation's terminal outcome.
    pub fn delivered(&mut self, operation_id: u64) {
        if let Some(place) = self.places.remove(&operation_id) {
            self.open.remove(&place);
        }
    }
}
