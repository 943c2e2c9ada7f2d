//! Names in messages: as long as a reader needs to know them again.

use std::borrow::Cow;

/// No word of a message is longer. Those of a registry are shorter by far, and so are names of files.
const LONGEST: usize = 120;

/// How much is left of one that is.
const LEFT: usize = 40;

/// A message in which words that go on and on are cut.
pub fn cut(text: &str) -> Cow<'_, str> {
    let ends = |letter: char| letter.is_whitespace() || "`/\\".contains(letter);
    if text.split(ends).all(|word| word.len() <= LONGEST) {
        return Cow::Borrowed(text);
    }
    let words = text.split_inclusive(ends).map(|piece| {
        let word = piece.trim_end_matches(ends);
        if word.len() <= LONGEST {
            return piece.to_owned();
        }
        let left: String = word.chars().take(LEFT).collect();
        format!("{left}…{}", &piece[word.len()..])
    });
    Cow::Owned(words.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_goes_on_and_on() {
        let fine = format!("no enum is called `{}`", "x".repeat(LONGEST));
        assert_eq!(cut(&fine), fine);
        let path = format!("there is no registry at `/{}`", "some/where/".repeat(50));
        assert_eq!(cut(&path), path);
        let long = format!("`{}` and `b` both\nbecome `{}`.", "é".repeat(1000), "a".repeat(1000));
        assert_eq!(cut(&long), format!("`{}…` and `b` both\nbecome `{}…`.", "é".repeat(40), "a".repeat(40)));
        assert_eq!(cut(""), "");
    }
}
