//! The nearest known word to a misspelled one.

/// The word of `known` that `word` was probably meant to be.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distance = |other: &str| strsim::damerau_levenshtein(&word.to_lowercase(), &other.to_lowercase());
    let (best, near) =
        known.into_iter().map(|other| (distance(other), other)).min_by_key(|(distance, _)| *distance)?;
    // A third of the letters may be wrong, one in the shortest words.
    (best <= word.chars().count().max(near.chars().count()) / 3 || best <= 1).then_some(near)
}

/// [`nearest`] as a help line.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(word, known).map(|near| format!("did you mean `{near}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_slips_and_leaves_strangers() {
        let known = ["offset", "name", "type"];
        assert_eq!(nearest("ofset", known), Some("offset"));
        assert_eq!(nearest("Offset", known), Some("offset"));
        assert_eq!(nearest("tpye", known), Some("type"));
        assert_eq!(nearest("polynomial", known), None);
        assert_eq!(nearest("x", []), None);
    }
}
