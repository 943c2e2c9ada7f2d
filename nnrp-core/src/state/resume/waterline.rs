//! How far a client has everything (X1).

use alloc::collections::{BTreeMap, VecDeque};

/// Keeps track of the operation up to which a client has all terminal outcomes, in the order of its submits.
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
    /// Operations from the oldest undelivered one on, and whether each was delivered.
    open: VecDeque<(u64, bool)>,
    /// Places in `open`, counted from the first submit of all.
    places: BTreeMap<u64, u64>,
    first: u64,
    mark: Option<u64>,
}

impl Waterline {
    /// The operation up to which everything was delivered; what SESSION_OPEN names to resume from.
    pub const fn mark(&self) -> Option<u64> {
        self.mark
    }

    /// Operations that are held on to: from the oldest undelivered one on.
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Whether everything was delivered.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// An operation was submitted.
    pub fn submitted(&mut self, operation_id: u64) {
        let place = self.first.saturating_add(self.open.len() as u64);
        self.places.insert(operation_id, place);
        self.open.push_back((operation_id, false));
    }

    /// The application has an operation's terminal outcome.
    pub fn delivered(&mut self, operation_id: u64) {
        let Some(place) = self.places.remove(&operation_id) else { return };
        let at = usize::try_from(place.saturating_sub(self.first)).ok();
        if let Some((_, delivered)) = at.and_then(|at| self.open.get_mut(at)) {
            *delivered = true;
        }
        while let Some((operation_id, true)) = self.open.front().copied() {
            self.open.pop_front();
            self.first = self.first.saturating_add(1);
            self.mark = Some(operation_id);
        }
    }
}
