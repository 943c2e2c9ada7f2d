use std::path::Path;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::format;
use crate::emit::rust::parts::parts;
use crate::emit::rust::{Options, Rust};

fn check(input: &str, expected: &str) {
    let tokens: TokenStream = input.parse().unwrap();
    let text = format(tokens.clone());
    assert_eq!(text, expected);
    assert_eq!(program(&text), program(input));
    // What is laid out already stays as it is.
    assert_eq!(format(text.parse().unwrap()), text);
}

/// The same, as statements of a function.
fn check_body(input: &str, expected: &str) {
    let lines = expected.lines().map(|line| format!("    {line}\n"));
    check(&format!("fn f() {{ {input} }}"), &format!("fn f() {{\n{}}}\n", lines.collect::<String>()));
}

/// Tokens without what a layout may add: commas at the end of lists and behind arms, and braces around a value.
fn program(text: &str) -> String {
    fn write(tokens: TokenStream, brace: bool, out: &mut String) {
        let mut tokens = tokens.into_iter().peekable();
        let mut call = false;
        while let Some(token) = tokens.next() {
            match &token {
                TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                    write(group.stream(), true, out)
                }
                TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis && !call => {
                    // Not a call: one value, or a tuple.
                    let list: Vec<_> = group.stream().into_iter().collect();
                    let is_comma = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',');
                    let tuple = list.iter().filter(|token| is_comma(token)).count();
                    out.push_str(if tuple == 0 { "( " } else { "tuple( " });
                    write(group.stream(), false, out);
                    out.push_str(") ");
                }
                TokenTree::Group(group) => {
                    out.push_str("( ");
                    write(group.stream(), false, out);
                    out.push_str(") ");
                }
                TokenTree::Punct(punct) if punct.as_char() == ',' => {
                    let body = |next: &TokenTree| matches!(next, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
                    if !brace && tokens.peek().is_some_and(|next| !body(next)) {
                        out.push_str(", ");
                    }
                }
                TokenTree::Literal(literal) => {
                    let text = literal.to_string();
                    // A doc may be a raw string or not.
                    let raw = text.strip_prefix("r\"").and_then(|text| text.strip_suffix('"'));
                    let plain =
                        raw.map(|text| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")));
                    out.push_str(&plain.unwrap_or(text));
                    out.push(' ');
                }
                token => out.push_str(&format!("{token} ")),
            }
            call = match token {
                TokenTree::Ident(_) => true,
                TokenTree::Punct(punct) => ['>', '!', '?'].contains(&punct.as_char()),
                TokenTree::Group(_) => true,
                TokenTree::Literal(_) => false,
            };
        }
    }
    let mut out = String::new();
    write(text.parse().unwrap(), false, &mut out);
    out
}

#[test]
fn spaces_stand_where_people_put_them() {
    check(
        "pub fn a < 'a , const N : usize > (& 'a self , b : & mut [u8 ; N]) -> Option < & 'a [u8] > { * b = ! c & - d ; }",
        "pub fn a<'a, const N: usize>(&'a self, b: &mut [u8; N]) -> Option<&'a [u8]> {\n    *b = !c & -d;\n}\n",
    );
    check_body(
        "a (& * b , | c , d | c < d && E :: FF < g , || 1) ? . h :: < u8 > () ;",
        "a(&*b, |c, d| c < d && E::FF < g, || 1)?.h::<u8>();",
    );
    check_body("let a = < T as B < C < D >> > :: E [.. 4] as u8 ;", "let a = <T as B<C<D>>>::E[..4] as u8;");
    check_body("for (a , b) in c . d () { e ! (f) ; }", "for (a, b) in c.d() {\n    e!(f);\n}");
    check_body("return A { b , c : 1 , .. d } ;", "return A { b, c: 1, ..d };");
    check(
        "pub (crate) struct A (pub [u8 ; 4] , fn (u8) -> u8) ;",
        "pub(crate) struct A(pub [u8; 4], fn(u8) -> u8);\n",
    );
    check("impl < T > A < T > for B where T : C { }", "impl<T> A<T> for B\nwhere\n    T: C,\n{}\n");
}

#[test]
fn docs_and_attributes_stand_above() {
    check(
        "#[doc = r\" A \\ b.\"] #[doc = \"\"] #[doc = \" \\\"C\\\".\"] #[derive (Clone , Copy)] pub enum A { #[doc = \" D.\"] B = 1 , C (u8) }",
        "/// A \\ b.\n///\n/// \"C\".\n#[derive(Clone, Copy)]\npub enum A {\n    /// D.\n    B = 1,\n    C(u8),\n}\n",
    );
    check(
        "bitflags ! { #[doc = \" F.\"] pub struct F : u8 { #[doc = \" A.\"] const A = 1 ; const B = 2 ; } }",
        "bitflags! {\n    /// F.\n    pub struct F: u8 {\n        /// A.\n        const A = 1;\n        const B = 2;\n    }\n}\n",
    );
}

#[test]
fn a_blank_line_stands_between_ideas() {
    check(
        "struct A ; impl A { type B = u8 ; #[doc = \" C.\"] const C : u8 = 1 ; const D : u8 = 2 ; fn e () { } } fn f () { g ; const H : u8 = 3 ; const I : u8 = 4 ; h ; }",
        "struct A;\n\nimpl A {\n    type B = u8;\n\n    /// C.\n    const C: u8 = 1;\n    const D: u8 = 2;\n\n    fn e() {}\n}\n\nfn f() {\n    g;\n\n    const H: u8 = 3;\n    const I: u8 = 4;\n    h;\n}\n",
    );
}

#[test]
fn commas_make_no_tuples_and_unmake_none() {
    let long = "a_long_name_of_a_value_that_takes_half_of_a_line";
    check_body(
        &format!("({long} | {long} | {long}) & ({long} , {long} ,) . 0 & (b ,) . 0"),
        &format!(
            "({long}\n    | {long}\n    | {long})\n    & (\n        {long},\n        {long},\n    ).0\n    & (b,).0"
        ),
    );
}

#[test]
fn what_is_too_long_is_broken_where_people_break_it() {
    let long = "a_long_name_of_a_value_that_takes_half_of_a_line";
    check_body(
        &format!("call ({long} , {long} , b) ;"),
        &format!("call(\n    {long},\n    {long},\n    b,\n);"),
    );
    check_body(
        &format!("let value = {long} . first (a) . second (another_value , bcd) ? ;"),
        &format!("let value =\n    {long}.first(a).second(another_value, bcd)?;"),
    );
    check_body(
        &format!("let value = {long} . first ({long}) . second ({long}) ;"),
        &format!("let value = {long}\n    .first({long})\n    .second({long});"),
    );
    check_body(
        &format!("let Some (a) = b else {{ return Err ({long} . more (another_value)) }} ;"),
        &format!("let Some(a) = b else {{\n    return Err({long}.more(another_value))\n}};"),
    );
    check_body("let Some (a) = b else { return c } ;", "let Some(a) = b else { return c };");
    check_body("if a { b } else { c }", "if a { b } else { c }");
    check_body(
        "if a { b ; } else if c { d } else { e }",
        "if a {\n    b;\n} else if c {\n    d\n} else {\n    e\n}",
    );
    check_body(
        &format!(
            "match a {{ A :: B {{ c }} | D if e => f , _ => {long} & {long} & {long} , g => {{ h ; }} }}"
        ),
        &format!(
            "match a {{\n    A::B {{ c }} | D if e => f,\n    _ => {{\n        {long}\n            & {long}\n            & {long}\n    }}\n    g => {{\n        h;\n    }}\n}}"
        ),
    );
    check_body(
        &format!("a . map (| b | {long} . more ({long} , b)) ;"),
        &format!("a.map(|b| {{\n    {long}\n        .more({long}, b)\n}});"),
    );
    check(
        &format!("fn a (b : u8 , {long} : u8 , another_{long} : u8) -> u8 {{ 1 }}"),
        &format!("fn a(\n    b: u8,\n    {long}: u8,\n    another_{long}: u8,\n) -> u8 {{\n    1\n}}\n"),
    );
    let numbers: Vec<String> = (100..140).map(|number| number.to_string()).collect();
    let (first, second) = (numbers[..19].join(", "), numbers[19..38].join(", "));
    check(
        &format!("const A : [u8 ; 40] = [{}] ;", numbers.join(" , ")),
        &format!(
            "const A: [u8; 40] = [\n    {first},\n    {second},\n    {},\n];\n",
            numbers[38..].join(", ")
        ),
    );
}

/// All that the emitter writes stays the program that it is, and fits its lines but for what has no place to break.
#[test]
fn layout_changes_no_program() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let others =
        ["gpt", "kinds", "relay", "tzif", "zoo"].map(|name| here.join("../tests/registries").join(name));
    for folder in [here.join("../registry")].iter().chain(&others) {
        let registry =
            crate::load(folder).unwrap().into_result().unwrap_or_else(|problems| panic!("{problems}"));
        let options = Options { features: true, ..Options::default() };
        let rust = Rust { registry: &registry, options: &options };
        let (mut lines, mut long) = (0, Vec::new());
        for tokens in parts(&registry, &options).into_iter().flat_map(|part| rust.part(part)) {
            let text = format(tokens.clone());
            assert_eq!(program(&text), program(&tokens.to_string()));
            lines += text.lines().count();
            // Neither docs nor strings have a place to break, and types are not broken.
            let unbroken = |line: &str| {
                ["///", "b\"", ") -> "]
                    .iter()
                    .any(|start| line.trim_start_matches([' ', '*']).starts_with(start))
            };
            let is_long = |line: &&str| line.chars().count() > super::WIDTH && !unbroken(line);
            long.extend(text.lines().filter(is_long).map(str::to_owned));
        }
        assert!(lines > 100);
        assert_eq!(long, Vec::<String>::new());
    }
}
