//! The rules that are about state, and the tests that are named after them.

/// Every rule that is about state, and every carrier.
pub fn all() -> Vec<String> {
    let series = [
        ("C", 9),
        ("S", 12),
        ("O", 14),
        ("W", 6),
        ("K", 8),
        ("G", 8),
        ("R", 4),
        ("J", 4),
        ("T", 3),
        ("U", 4),
        ("X", 5),
    ];
    series
        .iter()
        .flat_map(|(letter, last)| (1..=*last).map(move |number| format!("{letter}{number}")))
        .collect()
}

/// Whether a test is named after a rule, alone or together with others: `o3_o7_…`.
pub fn is_after(test: &str, rule: &str) -> bool {
    let is_rule = |word: &&str| {
        word.len() > 1
            && word.starts_with(|letter: char| letter.is_ascii_lowercase())
            && word[1..].chars().all(|letter| letter.is_ascii_digit())
    };
    test.split('_').take_while(is_rule).any(|word| word.eq_ignore_ascii_case(rule))
}
