//! Makes the emitter's output fit to stand among names that somebody else chose.
//!
//! The emitter writes `Option`, `u32` and `core::fmt` as a reader expects them. In a macro's expansion any of these may
//! mean something of the user's, so there each becomes a path from the root. What stands for something that the user
//! wrote, which the emitter writes as a placeholder, becomes just that.

use std::collections::HashMap;

use proc_macro2::{Delimiter, Group, Ident, Punct, Spacing, TokenStream, TokenTree};
use quote::quote;

/// What somebody wrote, by what the emitter wrote in its place.
pub type Given = HashMap<String, TokenStream>;

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

/// The same with paths from the root, and with what was given in place of what stands for it.
pub fn absolute(tokens: TokenStream, given: &Given) -> TokenStream {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut out = TokenStream::new();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => {
                // `offset_of!` holds a type and a field, `#[repr]` a word, and none of them is core's.
                let names = match &tokens[..at] {
                    [.., TokenTree::Ident(name), TokenTree::Punct(_)] => name == "offset_of",
                    [.., TokenTree::Ident(name)] => name == "repr",
                    _ => false,
                };
                let inner =
                    if names { replaced(group.stream(), given) } else { absolute(group.stream(), given) };
                let mut inner = Group::new(group.delimiter(), inner);
                inner.set_span(group.span());
                out.extend([TokenTree::Group(inner)]);
            }
            TokenTree::Ident(ident) => {
                let name = ident.to_string();
                if let Some(given) = given.get(&name) {
                    out.extend(given.clone());
                } else if let Some(path) = path(&name, &tokens[..at], &tokens[at + 1..]) {
                    out.extend(path);
                } else {
                    out.extend([token.clone()]);
                }
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => out.extend([token.clone()]),
        }
    }
    out
}

/// The same with what was given, and nothing else changed.
fn replaced(tokens: TokenStream, given: &Given) -> TokenStream {
    let replace = |token: TokenTree| match given.get(&token.to_string()) {
        Some(given) => given.clone(),
        None => token.into(),
    };
    tokens.into_iter().map(replace).collect()
}

/// An attribute in front of every item.
pub fn attributed(items: TokenStream, attribute: &TokenStream) -> TokenStream {
    let mut out = TokenStream::new();
    let mut starts = true;
    let mut tokens = items.into_iter().peekable();
    while let Some(token) = tokens.next() {
        if starts {
            out.extend(attribute.clone());
        }
        starts = match &token {
            TokenTree::Punct(punct) => punct.as_char() == ';',
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                // `const _: () = { … };` goes on to its semicolon.
                !matches!(tokens.peek(), Some(TokenTree::Punct(punct)) if punct.as_char() == ';')
            }
            _ => false,
        };
        out.extend([token]);
    }
    out
}

/// The path of a name between what stands before and behind it, if it is one of core's.
fn path(name: &str, before: &[TokenTree], behind: &[TokenTree]) -> Option<TokenStream> {
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
    let ident = |name: &str| Ident::new(name, proc_macro2::Span::call_site());
    if name == "core" {
        return path_follows.then(|| quote!(::core));
    }
    if MACROS.contains(&name) {
        let name = ident(name);
        return follows('!').then(|| quote!(::core::#name));
    }
    if name == "Debug" {
        return Some(quote!(::core::fmt::Debug));
    }
    if let Some((module, ty, _)) = VARIANTS.iter().find(|(_, _, variant)| *variant == name) {
        let (module, ty, variant) = (ident(module), ident(ty), ident(name));
        return Some(quote!(::core::#module::#ty::#variant));
    }
    let (module, _) = WORDS.iter().find(|(_, words)| words.contains(&name))?;
    let (module, name) = (ident(module), ident(name));
    Some(quote!(::core::#module::#name))
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
        Some(TokenTree::Punct(punct)) if punct.as_char() == ':' => Some(Punct::spacing(punct)),
        _ => None,
    };
    colon(first) == Some(Spacing::Joint) && colon(second).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &str, expected: &str) {
        let given = Given::from([("__T".to_owned(), quote!(a::Option))]);
        let tokens: TokenStream = input.parse().unwrap();
        let expected: TokenStream = expected.parse().unwrap();
        assert_eq!(absolute(tokens, &given).to_string(), expected.to_string());
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
    fn attributes_go_in_front_of_items() {
        let items = quote!(struct A(u8); impl A { fn f() {} } const _: () = { x };);
        let attributed = attributed(items, &quote!(#[z]));
        let expected = quote!(
            #[z]
            struct A(u8);
            #[z]
            impl A {
                fn f() {}
            }
            #[z]
            const _: () = { x };
        );
        assert_eq!(attributed.to_string(), expected.to_string());
    }
}
