//! Words in their order.

use super::super::{Fault, FaultKind, Site};
use super::{Piece, Place, fault, need};

/// Length-prefixed words, ascending and each once.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    /// How to blame the words as a whole.
    pub site: Site,
    /// How to blame a length.
    pub length: Site,
    /// How to blame a word.
    pub word: Site,
    /// Bytes of the length in front of each word.
    pub prefix: u32,
    /// Whether its most significant byte comes first.
    pub big: bool,
}

impl Words {
    /// How many registered words are tried before all of them are searched.
    const NEAR: usize = 16;

    /// Checks words against those that are registered, which ascend, or that `also` allows, and counts them.
    pub fn check(
        &'static self,
        words: Piece<'_>,
        registered: &[&str],
        also: impl Fn(&str) -> bool,
    ) -> Result<u64, Fault> {
        let allowed = |word: &[u8]| {
            let form = word.iter().all(|byte| is_word_byte(*byte));
            core::str::from_utf8(word).is_ok_and(|word| form && also(word))
        };
        let mut rest = words;
        let mut before: &[u8] = &[];
        let mut count = 0;
        let mut next = 0;
        while !rest.bytes.is_empty() {
            let (word, behind) = self.split(rest)?;
            // Both ascend: the word is among the next few, or may be anywhere.
            let mut near = registered.iter().skip(next).take(Self::NEAR);
            let place = match near.position(|known| known.as_bytes() == word.bytes) {
                Some(steps) => Some(next + steps),
                None => registered.binary_search_by(|known| known.as_bytes().cmp(word.bytes)).ok(),
            };
            next = place.map_or(next, |place| place + 1);
            let known = place.is_some() || allowed(word.bytes);
            need(known, &self.word, word.at, FaultKind::UnknownValue)?;
            need(before < word.bytes, &self.word, word.at, FaultKind::Rule)?;
            before = word.bytes;
            rest = behind;
            count += 1;
        }
        Ok(count)
    }

    /// The length of a word of so many bytes, which must be some and must fit.
    pub fn length_of(&'static self, bytes: usize) -> Result<u64, Fault> {
        let most = u64::MAX >> (64 - 8 * self.prefix.clamp(1, 8));
        let fits = u64::try_from(bytes).ok().filter(|length| *length > 0 && *length <= most);
        fits.ok_or(fault(&self.length, 0, FaultKind::Length))
    }

    #[inline(always)]
    fn split<'a>(&'static self, rest: Piece<'a>) -> Result<(Piece<'a>, Piece<'a>), Fault> {
        let prefix = self.prefix as usize;
        let number = rest.sub(0, prefix);
        need(number.bytes.len() == prefix, &self.site, rest.end(), FaultKind::TooShort)?;
        let place = Place { offset: 0, size: self.prefix, big: self.big, site: self.length };
        let left = rest.sub(prefix, usize::MAX);
        let declared = usize::try_from(place.read(number.bytes)).ok();
        let Some(length) = declared.filter(|length| *length > 0 && *length <= left.bytes.len()) else {
            return Err(fault(&self.length, rest.at, FaultKind::Length));
        };
        Ok((left.sub(0, length), left.sub(length, usize::MAX)))
    }

    /// The words, up to the first that is not whole.
    pub fn iter<'a>(&'static self, words: &'a [u8]) -> impl Iterator<Item = &'a str> + Clone + use<'a> {
        let mut rest = Piece { bytes: words, at: 0 };
        core::iter::from_fn(move || {
            if rest.bytes.is_empty() {
                return None;
            }
            let (word, behind) = self.split(rest).ok()?;
            rest = behind;
            core::str::from_utf8(word.bytes).ok()
        })
    }
}

/// Lower-case letters, digits, `.`, `_` and `-`.
const fn is_word_byte(byte: u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-')
}
