//! Makes the emitter's output fit to stand among names that somebody else chose.
//!
//! The emitter writes `Option`, `u32` and `core::fmt` as a reader expects them. In a macro's expansion any of these may
//! mean something of the user's, so there each becomes a path from the root. What stands for something that the user
//! wrote, which the emitter writes as a placeholder, becomes just that.
//!
//! It comes out as text: a compiler reads its own language faster than a macro builds it token by token.

use std::collections::HashMap;

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// What somebody wrote, by what the emitter wrote in its place.
pub type Given = HashMap<String, String>;

/// Modules of core, and what the emitter uses of each without saying so.
const WORDS: [(&str, &[&str]); 10] = [
    (
        "primitive",
        &[
            "bool", "str", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128",
            "isize", "f32", "f64",
        ],
    ),
    ("option", &["Option"]),
    ("result", &["Result"]),
    ("convert", &["From", "TryFrom", "Into", "AsRef"]),
    ("default", &["Default"]),
    ("clone", &["Clone"]),
    ("marker", &["Copy"]),
    ("cmp", &["PartialEq", "Eq", "PartialOrd", "Ord"]),
    ("hash", &["Hash"]),
    ("ops", &["FnOnce", "Fn", "FnMut"]),
];

/// Variants of the prelude.
const VARIANTS: [(&str, &str, &str); 4] = [
    ("option", "Option", "Some"),
    ("option", "Option", "None"),
    ("result", "Result", "Ok"),
    ("result", "Result", "Err"),
];

/// Macros of core.
const MACROS: [&str; 5] = ["assert", "write", "matches", "format_args", "panic"];

/// Whether an identifier by itself would be taken for one of core's.
pub fn is_word(name: &str) -> bool {
    name == "core"
        || name == "Debug"
        || WORDS.iter().any(|(_, words)| words.contains(&name))
        || VARIANTS.iter().any(|(_, _, variant)| *variant == name)
}

/// Items as text, with paths from the root, with what was given in place of what stands for it, and with an attribute in
/// front of each.
pub fn absolute(items: impl IntoIterator<Item = TokenStream>, given: &Given, attribute: &str) -> String {
    let mut out = String::new();
    for tokens in items {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut start = 0;
        for end in 0..tokens.len() {
            if ends_item(&tokens, end) {
                out.push_str(attribute);
                write(&tokens[start..=end], given, &mut out);
                start = end + 1;
            }
        }
        write(&tokens[start..], given, &mut out);
    }
    out
}

/// Whether an item ends with this token.
fn ends_item(tokens: &[TokenTree], at: usize) -> bool {
    let is_semicolon = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ';');
    match &tokens[at] {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
            // `const _: () = { … };` goes on to its semicolon.
            !tokens.get(at + 1).is_some_and(is_semicolon)
        }
        token => is_semicolon(token),
    }
}

/// Writes tokens one after another.
fn write(tokens: &[TokenTree], given: &Given, out: &mut String) {
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        match token {
            TokenTree::Group(group) => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                out.push_str(open);
                // `offset_of!` holds a type and a field, `#[repr]` a word, and none of them is core's.
                match &tokens[..at] {
                    [.., TokenTree::Ident(name), TokenTree::Punct(_)] if name == "offset_of" => {
                        plain(&inner, given, out);
                    }
                    [.., TokenTree::Ident(name)] if name == "repr" => plain(&inner, given, out),
                    _ => write(&inner, given, out),
                }
                out.push_str(close);
            }
            TokenTree::Ident(ident) => {
                let name = ident.to_string();
                if let Some(given) = given.get(&name) {
                    out.push_str(given);
                } else {
                    if let Some(path) = path(&name, &tokens[..at], &tokens[at + 1..]) {
                        out.push_str(&path);
                    }
                    out.push_str(&name);
                }
                out.push(' ');
            }
            TokenTree::Punct(punct) => {
                // A doc of many lines is one attribute: the compiler is the only reader.
                if let Some((text, taken)) = docs(&tokens[at..]) {
                    out.push_str(&format!("#[doc = \"{text}\"] "));
                    at += taken;
                    continue;
                }
                out.push(punct.as_char());
                if punct.spacing() == Spacing::Alone {
                    out.push(' ');
                }
            }
            TokenTree::Literal(literal) => {
                out.push_str(&literal.to_string());
                out.push(' ');
            }
        }
        at += 1;
    }
}

/// The doc attributes that start there as the text of one, and how many tokens they are.
fn docs(tokens: &[TokenTree]) -> Option<(String, usize)> {
    let mut text = String::new();
    let mut taken = 0;
    while let [TokenTree::Punct(sign), TokenTree::Group(group), ..] = &tokens[taken..] {
        let inner: Vec<TokenTree> = group.stream().into_iter().collect();
        let [TokenTree::Ident(name), TokenTree::Punct(_), TokenTree::Literal(line)] = inner.as_slice() else {
            break;
        };
        let line = line.to_string();
        let raw = line.strip_prefix("r\"").and_then(|line| line.strip_suffix('"'));
        let plain = line.strip_prefix('"').and_then(|line| line.strip_suffix('"'));
        let (true, Some(line)) = (sign.as_char() == '#' && name == "doc", raw.or(plain)) else { break };
        if taken > 0 {
            text.push_str("\\n");
        }
        match raw {
            Some(_) => text.push_str(&line.replace('\\', "\\\\").replace('"', "\\\"")),
            None => text.push_str(line),
        }
        taken += 2;
    }
    (taken > 0).then_some((text, taken))
}

/// The same with what was given, and nothing else changed.
fn plain(tokens: &[TokenTree], given: &Given, out: &mut String) {
    for token in tokens {
        let text = token.to_string();
        out.push_str(given.get(&text).unwrap_or(&text));
        out.push(' ');
    }
}

/// What goes in front of a name between what stands before and behind it, if it is one of core's.
fn path(name: &str, before: &[TokenTree], behind: &[TokenTree]) -> Option<String> {
    // Most names are none of them.
    if !is_word(name) && !MACROS.contains(&name) {
        return None;
    }
    let follows = |sign| matches!(behind.first(), Some(TokenTree::Punct(punct)) if punct.as_char() == sign);
    let path_follows = is_path_sign(behind.first(), behind.get(1));
    // A field, a method, the rest of a path, or the name of what is being defined.
    let named = match before.last() {
        Some(TokenTree::Punct(punct)) if punct.as_char() == '.' => true,
        last @ Some(TokenTree::Punct(punct)) if punct.as_char() == ':' => {
            is_path_sign(before.iter().rev().nth(1), last)
        }
        // Behind an attribute, or with a number, it is a variant that is being defined.
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket => {
            matches!(before.iter().rev().nth(1), Some(TokenTree::Punct(punct)) if punct.as_char() == '#')
        }
        Some(TokenTree::Punct(punct)) if punct.as_char() == ',' => is_assigned(behind),
        None => is_assigned(behind),
        Some(TokenTree::Ident(word)) => {
            ["fn", "struct", "enum", "const", "type"].iter().any(|key| word == key)
        }
        _ => false,
    };
    if named || (follows(':') && !path_follows) {
        return None;
    }
    if name == "core" {
        return path_follows.then(|| "::".to_owned());
    }
    if MACROS.contains(&name) {
        return follows('!').then(|| "::core::".to_owned());
    }
    if name == "Debug" {
        return Some("::core::fmt::".to_owned());
    }
    if let Some((module, ty, _)) = VARIANTS.iter().find(|(_, _, variant)| *variant == name) {
        return Some(format!("::core::{module}::{ty}::"));
    }
    let (module, _) = WORDS.iter().find(|(_, words)| words.contains(&name))?;
    Some(format!("::core::{module}::"))
}

/// Whether a single `=` follows.
fn is_assigned(behind: &[TokenTree]) -> bool {
    matches!(
        behind.first(),
        Some(TokenTree::Punct(punct)) if punct.as_char() == '=' && punct.spacing() == Spacing::Alone
    )
}

/// Whether two tokens are `::`.
fn is_path_sign(first: Option<&TokenTree>, second: Option<&TokenTree>) -> bool {
    let colon = |token: Option<&TokenTree>| match token {
        Some(TokenTree::Punct(punct)) if punct.as_char() == ':' => Some(punct.spacing()),
        _ => None,
    };
    colon(first) == Some(Spacing::Joint) && colon(second).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &str, expected: &str) {
        let given = Given::from([("__T".to_owned(), "a::Option".to_owned())]);
        let tokens: TokenStream = input.parse().unwrap();
        let expected: TokenStream = expected.parse().unwrap();
        let text: TokenStream = absolute([tokens], &given, "").parse().unwrap();
        assert_eq!(text.to_string(), expected.to_string());
    }

    #[test]
    fn names_of_core_become_paths() {
        check("Some(x as u8)", "::core::option::Option::Some(x as ::core::primitive::u8)");
        check("core::fmt::Debug", "::core::fmt::Debug");
        check("u32::from_le_bytes(y)", "::core::primitive::u32::from_le_bytes(y)");
        check("#[derive(Clone, Debug)]", "#[derive(::core::clone::Clone, ::core::fmt::Debug)]");
        check("assert!(a)", "::core::assert!(a)");
        check("[u8; 4]", "[::core::primitive::u8; 4]");
    }

    #[test]
    fn other_names_stay() {
        for text in [
            "offset_of!(A, Some)",
            "enum A { None = 0, Ok = 1 }",
            "#[doc] Some(A)",
            "#[repr(u8)]",
            "self.u8",
            "Self::None",
            "fn core()",
            "S { u8: x }",
            "a.assert",
            "assert == 1",
            "struct Option;",
        ] {
            check(text, text);
        }
    }

    #[test]
    fn what_was_given_stays_as_it_is() {
        check("<__T>::all()", "<a::Option>::all()");
    }

    #[test]
    fn docs_are_one_attribute() {
        check("#[doc = \"a\"] #[doc = r\" b \\ c\"] #[x] fn f()", "#[doc = \"a\\n b \\\\ c\"] #[x] fn f()");
    }

    #[test]
    fn attributes_go_in_front_of_items() {
        let items: TokenStream = "struct A(u); impl A { fn f() {} } const _: () = { x };".parse().unwrap();
        let text: TokenStream = absolute([items], &Given::new(), "#[z] ").parse().unwrap();
        let expected = "#[z] struct A(u); #[z] impl A { fn f() {} } #[z] const _: () = { x };";
        assert_eq!(text.to_string(), expected.parse::<TokenStream>().unwrap().to_string());
    }
}
