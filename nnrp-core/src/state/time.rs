//! Time, as the caller tells it.

/// Milliseconds on a clock of the caller's that never goes back.
///
/// ```
/// use nnrp_core::state::Time;
///
/// let now = Time(1_000);
/// assert_eq!((now.after(20), now.after(20).since(now)), (Time(1_020), 20));
/// assert_eq!(now.since(now.after(20)), 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

impl Time {
    /// That many milliseconds later, or the last time that there is.
    pub const fn after(self, ms: u64) -> Time {
        Time(self.0.saturating_add(ms))
    }

    /// Milliseconds since an earlier time, 0 if it is later.
    pub const fn since(self, earlier: Time) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}
