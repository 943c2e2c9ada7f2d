//! The header as text.

use nnrp_gen::emit::c::{digest, header};

use crate::toolchain::registry;

/// A registry of one file.
fn small(text: &str) -> nnrp_gen::model::Registry {
    let text = format!("[protocol]\nname = \"p\"\nbyte_order = \"little\"\n{text}");
    let loaded = nnrp_gen::load_texts([("p.toml", text.as_str())]);
    loaded.into_result().unwrap_or_else(|problems| panic!("{problems}"))
}

fn layout(name: &str, fields: &str) -> String {
    format!("[[layout]]\nname = \"{name}\"\nsize = 1\nfields = [\n{fields}\n]\n")
}

#[test]
fn the_same_registry_gives_the_same_bytes() {
    assert_eq!(header(&registry("nnrp")), header(&registry("nnrp")));
    assert_eq!(header(&registry("zoo")), header(&registry("zoo")));
}

#[test]
fn taken_names_are_escaped_and_documented() {
    let text = header(&registry("zoo")).unwrap_or_default();
    for (member, name) in
        [("class_;", "class"), ("register_;", "register"), ("delete_;", "delete"), ("errno_;", "errno")]
    {
        let line = text.lines().find(|line| line.contains(&format!(" {member}")));
        let line = line.unwrap_or_else(|| panic!("no member {member}"));
        let after = text.split(line).nth(1).unwrap_or_default();
        let words: Vec<_> =
            line.split_whitespace().chain(after.lines().take(3).flat_map(str::split_whitespace)).collect();
        let docs = words.join(" ");
        assert!(docs.contains(&format!("In the registry it is `{name}`")), "{docs}");
    }
}

#[test]
fn names_that_meet_are_refused() {
    let a = layout("a", "{ offset = 0, name = \"b_c\", type = \"u8\" },");
    let b = layout("a_b", "{ offset = 0, name = \"c\", type = \"u8\" },");
    let problems = header(&small(&format!("{a}{b}"))).expect_err("both have A_B_C_OFFSET");
    let expected =
        "field `b_c` of layout `a` and field `c` of layout `a_b` both become `P_A_B_C_OFFSET` in C";
    assert!(problems.lines().any(|line| line == expected), "{problems}");

    let own = layout("fault_text", "{ offset = 0, name = \"x\", type = \"u8\" },");
    let problems = header(&small(&own)).expect_err("the sentence is there already");
    assert!(
        problems.contains("layout `fault_text`") && problems.contains("`p_fault_text` in C"),
        "{problems}"
    );
}

#[test]
fn the_digest_follows_the_wire_and_not_the_words() {
    let with = |doc: &str, name: &str| {
        let field = format!("{{ offset = 0, name = \"{name}\", type = \"u8\", doc = \"{doc}\" }},");
        digest(&small(&layout("a", &field)))
    };
    assert_eq!(with("One.", "x"), with("Another.", "x"));
    assert_ne!(with("One.", "x"), with("One.", "y"));
}
