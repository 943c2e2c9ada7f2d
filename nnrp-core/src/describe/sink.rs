//! Bytes that are written while compiling.

/// Room for `N` bytes. What does not fit is counted only, so that one without room measures.
pub(super) struct Sink<const N: usize> {
    pub(super) bytes: [u8; N],
    pub(super) len: usize,
}

impl<const N: usize> Sink<N> {
    pub(super) const fn new() -> Self {
        Self { bytes: [0; N], len: 0 }
    }

    pub(super) const fn push(&mut self, byte: u8) {
        if self.len < N {
            self.bytes[self.len] = byte;
        }
        self.len += 1;
    }

    pub(super) const fn all(&mut self, bytes: &[u8]) {
        let mut at = 0;
        while at < bytes.len() {
            self.push(bytes[at]);
            at += 1;
        }
    }

    pub(super) const fn str(&mut self, text: &str) {
        self.all(text.as_bytes());
    }

    /// In small letters.
    pub(super) const fn lower(&mut self, text: &str) {
        let mut at = 0;
        while at < text.len() {
            self.push(text.as_bytes()[at].to_ascii_lowercase());
            at += 1;
        }
    }

    /// In decimal.
    pub(super) const fn number(&mut self, number: i128) {
        let mut digits = [0; 40];
        let mut count = 0;
        let mut rest = number.unsigned_abs();
        loop {
            digits[count] = b'0' + (rest % 10) as u8;
            rest /= 10;
            count += 1;
            if rest == 0 {
                break;
            }
        }
        if number < 0 {
            self.push(b'-');
        }
        while count > 0 {
            count -= 1;
            self.push(digits[count]);
        }
    }
}

/// The position of the smallest number after `last` in the order of a list; nothing behind the end.
///
/// Lists are written in ascending order whatever order they have.
pub(super) const fn next(list: &[(&str, u64)], last: Option<u64>) -> Option<usize> {
    let mut best: Option<usize> = None;
    let mut at = 0;
    while at < list.len() {
        let number = list[at].1;
        let behind = match last {
            Some(last) => number > last,
            None => true,
        };
        let before = match best {
            Some(best) => number < list[best].1,
            None => true,
        };
        if behind && before {
            best = Some(at);
        }
        at += 1;
    }
    best
}

/// [`next`] for ranges, by their first number.
pub(super) const fn next_range(list: &[(&str, u64, u64)], last: Option<u64>) -> Option<usize> {
    let mut best: Option<usize> = None;
    let mut at = 0;
    while at < list.len() {
        let number = list[at].1;
        let behind = match last {
            Some(last) => number > last,
            None => true,
        };
        let before = match best {
            Some(best) => number < list[best].1,
            None => true,
        };
        if behind && before {
            best = Some(at);
        }
        at += 1;
    }
    best
}
