//! Randomness and new ids, brought by the caller.

/// Where tokens and ids come from.
///
/// The state machines have no randomness of their own, so that a test can repeat a run. Resume tokens are
/// secrets: in a server the source has to be a cryptographic one. Any `FnMut() -> u64` is a source.
///
/// ```
/// use nnrp_core::state::Source;
///
/// let mut count = 0;
/// let mut source = || {
///     count += 1;
///     count
/// };
/// let mut bytes = [0; 12];
/// source.fill(&mut bytes);
/// assert_eq!(bytes, [1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0]);
/// ```
pub trait Source {
    /// The next 64 bits.
    fn next(&mut self) -> u64;

    /// Fills `out` with the next bits.
    fn fill(&mut self, out: &mut [u8]) {
        for part in out.chunks_mut(8) {
            let bytes = self.next().to_le_bytes();
            for (to, from) in part.iter_mut().zip(bytes) {
                *to = from;
            }
        }
    }
}

impl<F: FnMut() -> u64> Source for F {
    fn next(&mut self) -> u64 {
        self()
    }
}
