//! How names of the registry are written in Rust.

/// `session_open` as `SessionOpen`.
pub fn pascal(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for word in name.split('_') {
        let mut letters = word.chars();
        if let Some(first) = letters.next() {
            // A digit after a digit would melt into it: `p_1_2` is `P1_2`, not `P12`.
            if first.is_ascii_digit() && out.ends_with(|last: char| last.is_ascii_digit()) {
                out.push('_');
            }
            out.extend(first.to_uppercase());
            out.push_str(letters.as_str());
        }
    }
    if out == "Self" { out + "_" } else { out }
}

/// `session_open` as `SESSION_OPEN`.
pub fn screaming(name: &str) -> String {
    name.to_uppercase()
}

/// A name as a field or a function: keywords get a trailing `_`.
pub fn field(name: &str) -> String {
    if KEYWORDS.contains(&name) { format!("{name}_") } else { name.to_owned() }
}

/// A name as a function of a view, which has some of its own, and some of the prelude's that come before them.
pub fn getter(name: &str) -> String {
    if ["new", "as_bytes", "to_owned", "into", "try_into"].contains(&name) {
        format!("{name}_")
    } else {
        field(name)
    }
}

/// A name as an argument, which must not look like a type or a crate.
pub fn argument(name: &str) -> String {
    if crate::emit::rust::absolute::is_word(name) { format!("{name}_") } else { field(name) }
}

/// Words that are no identifiers in Rust, now or reserved for later.
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop",
    "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static",
    "struct", "super", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual",
    "where", "while", "yield",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases() {
        assert_eq!(pascal("session_open"), "SessionOpen");
        assert_eq!(pascal("fp8_e4m3"), "Fp8E4m3");
        assert_eq!(pascal("delta_u16"), "DeltaU16");
        assert_eq!(pascal("p_1_2"), "P1_2");
        assert_eq!(pascal("self"), "Self_");
        assert_eq!(screaming("none"), "NONE");
        assert_eq!(field("type"), "type_");
        assert_eq!(field("kind"), "kind");
        assert_eq!(getter("kind"), "kind");
        assert_eq!(getter("into"), "into_");
    }
}
