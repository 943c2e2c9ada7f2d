//! The known name that a misspelled one was meant to be.

/// The name in `known` nearest to `word`, if one is near enough to be worth suggesting.
///
/// A name is near enough if one edit in three characters turns the word into it; short words may always be one edit
/// away. An edit is an insertion, a deletion, a replacement or a swap of neighbours. A word that differs only in
/// case is nearest of all.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    let mut best: Option<(usize, &'a str)> = None;
    for name in known {
        if name == word {
            continue;
        }
        let distance = if name.eq_ignore_ascii_case(word) {
            0
        } else {
            let longer = length.max(name.chars().count());
            let limit = (longer / 3).max(1);
            // The lengths alone often say that it is too far, which saves the table.
            if length.abs_diff(name.chars().count()) > limit || longer > LONGEST {
                continue;
            }
            let distance = strsim::damerau_levenshtein(word, name);
            if distance > limit {
                continue;
            }
            distance
        };
        if best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, name));
        }
    }
    best.map(|(_, name)| name)
}

/// Nothing longer is a name, and comparing costs the square of the length.
const LONGEST: usize = 128;

/// [`nearest`] as a help line.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(word, known).map(|near| format!("did you mean `{near}`?"))
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn finds_what_was_meant() {
        let known = ["opened", "resumed", "rejected", "retry_later"];
        assert_eq!(nearest("opend", known), Some("opened"));
        assert_eq!(nearest("Rejected", known), Some("rejected"));
        assert_eq!(nearest("retry_latre", known), Some("retry_later"));
    }

    #[test]
    fn keeps_quiet_when_nothing_is_near() {
        let known = ["opened", "id"];
        assert_eq!(nearest("closed", known), None);
        assert_eq!(nearest("xy", known), None);
        assert_eq!(nearest("", known), None);
        assert_eq!(nearest("opened", known), None);
        assert_eq!(nearest(&"x".repeat(100_000), ["y"]), None);
    }

    #[test]
    fn prefers_the_closest_then_the_first() {
        assert_eq!(nearest("flag", ["flags_", "flags", "flog"]), Some("flags"));
        assert_eq!(nearest("ab", ["ac", "ad"]), Some("ac"));
    }
}
