//! Makes the emitter's output fit to stand among names that somebody else chose.
//!
//! The emitter writes `Option`, `u32` and `core::fmt` as a reader expects them. In a macro's expansion any of these may
//! mean something of the user's, so there each becomes a path from the root. What stands for something that the user
//! wrote, which the emitter writes as a placeholder, becomes just that.
//!
//! In front of most names that makes long paths, many times over. So the impls of a derive stand in a block that brings
//! core's names along under names of ours, `__u32`, which are a token each.
//!
//! It comes out as text: a compiler reads its own language faster than a macro builds it token by token.

use std::collections::HashMap;

use proc_macro2::{Delimiter, Group, Spacing, TokenStream, TokenTree};

/// What somebody wrote, by what the emitter wrote in its place.
pub type Given = HashMap<String, String>;

/// The names of core that the emitter uses without saying where they come from, in order, and what stands before them
/// in a path.
const WORDS: [(&str, &str); 39] = [
    ("AsRef", "::core::convert::"),
    ("Clone", "::core::clone::"),
    ("Copy", "::core::marker::"),
    ("Debug", "::core::fmt::"),
    ("Default", "::core::default::"),
    ("Eq", "::core::cmp::"),
    ("Err", "::core::result::Result::"),
    ("Fn", "::core::ops::"),
    ("FnMut", "::core::ops::"),
    ("FnOnce", "::core::ops::"),
    ("From", "::core::convert::"),
    ("Hash", "::core::hash::"),
    ("Into", "::core::convert::"),
    ("None", "::core::option::Option::"),
    ("Ok", "::core::result::Result::"),
    ("Option", "::core::option::"),
    ("Ord", "::core::cmp::"),
    ("PartialEq", "::core::cmp::"),
    ("PartialOrd", "::core::cmp::"),
    ("Result", "::core::result::"),
    ("Some", "::core::option::Option::"),
    ("TryFrom", "::core::convert::"),
    ("bool", "::core::primitive::"),
    ("core", "::"),
    ("f32", "::core::primitive::"),
    ("f64", "::core::primitive::"),
    ("i128", "::core::primitive::"),
    ("i16", "::core::primitive::"),
    ("i32", "::core::primitive::"),
    ("i64", "::core::primitive::"),
    ("i8", "::core::primitive::"),
    ("isize", "::core::primitive::"),
    ("str", "::core::primitive::"),
    ("u128", "::core::primitive::"),
    ("u16", "::core::primitive::"),
    ("u32", "::core::primitive::"),
    ("u64", "::core::primitive::"),
    ("u8", "::core::primitive::"),
    ("usize", "::core::primitive::"),
];

/// Macros of core.
const MACROS: [&str; 5] = ["assert", "write", "matches", "format_args", "panic"];

/// Whether an identifier by itself would be taken for one of core's.
pub fn is_word(name: &str) -> bool {
    module(name).is_some()
}

/// What stands before a name of core in its path.
fn module(name: &str) -> Option<&'static str> {
    let at = WORDS.binary_search_by(|(word, _)| (*word).cmp(name)).ok()?;
    Some(WORDS[at].1)
}

/// Items as text, with paths from the root, with what was given in place of what stands for it, and with an attribute in
/// front of each.
pub fn absolute(items: impl IntoIterator<Item = TokenStream>, given: &Given, attribute: &str) -> String {
    let mut out = String::new();
    each(items, |item| {
        out.push_str(attribute);
        write(item, given, Names::Paths, &mut out);
    });
    out
}

/// The same for a derive: types by themselves, and all else in a block into which `words` brings the names.
pub fn derived(
    items: impl IntoIterator<Item = TokenStream>,
    given: &Given,
    attribute: &str,
    words: &str,
) -> String {
    let (mut types, mut block) = (String::new(), String::new());
    each(items, |item| {
        if is_type(&item) {
            types.push_str(attribute);
            write(item, given, Names::Paths, &mut types);
        } else {
            write(item, given, Names::Words, &mut block);
        }
    });
    format!("{types} {attribute} const _: () = {{ use {words}::*; {block} }};")
}

/// How a name of core is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    /// By its path.
    Paths,
    /// By our name for it.
    Words,
}

/// Takes items one by one.
fn each(items: impl IntoIterator<Item = TokenStream>, mut take: impl FnMut(Vec<TokenTree>)) {
    for tokens in items {
        let mut tokens = tokens.into_iter().peekable();
        let mut item = Vec::new();
        while let Some(token) = tokens.next() {
            let ends = ends_item(&token, tokens.peek());
            item.push(token);
            if ends {
                take(std::mem::take(&mut item));
            }
        }
        if !item.is_empty() {
            take(item);
        }
    }
}

/// Whether the item defines a type, which must be seen from outside.
fn is_type(item: &[TokenTree]) -> bool {
    item.iter().any(|token| matches!(token, TokenTree::Ident(word) if word == "struct" || word == "enum"))
}

/// Whether an item ends with this token, before that one.
fn ends_item(token: &TokenTree, behind: Option<&TokenTree>) -> bool {
    let is_semicolon = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ';');
    match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
            // `const _: () = { … };` goes on to its semicolon.
            !behind.is_some_and(is_semicolon)
        }
        token => is_semicolon(token),
    }
}

/// Takes the tokens out of a group. Nobody else has them then, so that they need not be copied.
fn taken(group: &mut Group) -> Vec<TokenTree> {
    let empty = Group::new(group.delimiter(), TokenStream::new());
    let stream = std::mem::replace(group, empty).stream();
    stream.into_iter().collect()
}

/// Writes tokens one after another.
fn write(mut tokens: Vec<TokenTree>, given: &Given, names: Names, out: &mut String) {
    let mut at = 0;
    while at < tokens.len() {
        let (before, rest) = tokens.split_at_mut(at);
        // A doc of many lines is one attribute: the compiler is the only reader.
        if let Some((text, count)) = docs(rest) {
            out.push_str("#[doc = \"");
            out.push_str(&text);
            out.push_str("\"] ");
            at += count;
            continue;
        }
        let Some((token, behind)) = rest.split_first_mut() else { break };
        match token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ('(', ')'),
                    Delimiter::Brace => ('{', '}'),
                    Delimiter::Bracket => ('[', ']'),
                    Delimiter::None => (' ', ' '),
                };
                let inner = taken(group);
                out.push(open);
                // `offset_of!` holds a type and a field, `#[repr]` a word, and none of them is core's.
                match before {
                    [.., TokenTree::Ident(name), TokenTree::Punct(_)] if name == "offset_of" => {
                        plain(&inner, given, out);
                    }
                    [.., TokenTree::Ident(name)] if name == "repr" => plain(&inner, given, out),
                    _ => write(inner, given, names, out),
                }
                out.push(close);
            }
            TokenTree::Ident(ident) => {
                let name = ident.to_string();
                if let Some(given) = given.get(&name) {
                    out.push_str(given);
                } else {
                    if let Some(path) = path(&name, before, behind) {
                        // Macros and `core` itself have no names of ours.
                        let own =
                            names == Names::Words && !path.is_empty() && path != "::" && path != "::core::";
                        out.push_str(if own { "__" } else { path });
                    }
                    out.push_str(&name);
                }
                out.push(' ');
            }
            TokenTree::Punct(punct) => {
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
        if sign.as_char() != '#' {
            break;
        }
        let inner: Vec<TokenTree> = group.stream().into_iter().collect();
        let [TokenTree::Ident(name), TokenTree::Punct(_), TokenTree::Literal(line)] = inner.as_slice() else {
            break;
        };
        let line = line.to_string();
        let raw = line.strip_prefix("r\"").and_then(|line| line.strip_suffix('"'));
        let plain = line.strip_prefix('"').and_then(|line| line.strip_suffix('"'));
        let (true, Some(line)) = (name == "doc", raw.or(plain)) else { break };
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
fn path(name: &str, before: &[TokenTree], behind: &[TokenTree]) -> Option<&'static str> {
    let is_macro = match behind {
        [TokenTree::Punct(punct), TokenTree::Group(_), ..] => punct.as_char() == '!',
        _ => false,
    };
    // Most names are none of them.
    let module = if is_macro && MACROS.contains(&name) { "::core::" } else { module(name)? };
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
    if name == "core" && !path_follows {
        return None;
    }
    Some(module)
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
    fn words_are_in_order() {
        assert!(WORDS.is_sorted_by(|before, behind| before.0 < behind.0));
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
            "assert != 1",
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
    fn a_derive_has_its_impls_in_a_block() {
        let items: TokenStream = "struct A(u8); impl A { fn f() -> u8 { Some(core::x) } }".parse().unwrap();
        let text: TokenStream = derived([items], &Given::new(), "#[z] ", "a::words").parse().unwrap();
        let expected = "#[z] struct A(::core::primitive::u8); \
            #[z] const _: () = { use a::words::*; impl A { fn f() -> __u8 { __Some(::core::x) } } };";
        assert_eq!(text.to_string(), expected.parse::<TokenStream>().unwrap().to_string());
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
