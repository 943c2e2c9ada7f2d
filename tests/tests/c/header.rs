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

/// A registry with a packet that has one of everything.
const PACKETS: &str = r#"
[protocol]
name       = "p"
byte_order = "little"
header     = "head"

[[enum]]
name = "kind"
type = "u8"
from = "messages"

[[layout]]
name   = "head"
size   = 5
fields = [
  { offset = 0, name = "kind",     type = "u8", enum = "kind", is = "message" },
  { offset = 1, name = "metadata", type = "u16", is = "metadata_length" },
  { offset = 3, name = "body",     type = "u16", is = "body_length" },
]

[[layout]]
name   = "item"
size   = 4
fields = [
  { offset = 0, name = "id",   type = "u16" },
  { offset = 2, name = "size", type = "u16" },
]

[[entry]]
name    = "chest"
header  = "item"
payload = "size"

[[body]]
name    = "load"
prelude = "item"
parts   = [{ name = "class", length = "id" }, { name = "rest", length = "size" }]

[[vocabulary]]
name        = "speech"
length_type = "u8"
words       = [{ word = "a", doc = "A." }]

[[message]]
value    = 1
name     = "ship"
metadata = "item"
body     = [
  { name = "class", length = "id", of = "chest" },
  { name = "load",  length = "rest", of = "load" },
]

[[message]]
value    = 2
name     = "talk"
body     = [{ name = "words", length = "rest", of = "speech" }]

[[state_machine]]
name        = "port"
initial     = "open"
terminal    = ["shut"]
states      = [{ name = "open" }, { name = "shut" }]
transitions = [{ from = "open", to = "shut", on = ["ship"] }]
"#;

/// What is wrong with the names of that registry, edited.
fn problems_of(text: &str) -> String {
    let loaded = nnrp_gen::load_texts([("p.toml", text)]);
    let registry = loaded.into_result().unwrap_or_else(|problems| panic!("{problems}"));
    header(&registry).expect_err("two names meet")
}

/// Functions, constants and structs of packets are names like all others.
#[test]
fn names_of_packets_that_meet_are_refused() {
    let loaded = nnrp_gen::load_texts([("p.toml", PACKETS)]);
    let registry = loaded.into_result().unwrap_or_else(|problems| panic!("{problems}"));
    assert!(header(&registry).is_ok(), "as it is, nothing meets");
    let made = [
        ("chest_next", "entry `chest`"),
        ("load_split", "body `load`"),
        ("speech_registered", "vocabulary `speech`"),
        ("ship_body_split", "body of message `ship`"),
        ("ship_packet_check_", "message `ship`"),
        ("ship_packet_size", "message `ship`"),
        ("ship_packet_write", "message `ship`"),
        ("talk_packet_write_with", "message `talk`"),
        ("chest_write", "entry `chest`"),
        ("load_size", "body `load`"),
        ("load_write", "body `load`"),
        ("speech_write", "vocabulary `speech`"),
        ("put_", "what every header has"),
        ("port_state_can_transition", "state machine `port`"),
        ("port_state_is_terminal", "state machine `port`"),
        ("packet_parse", "what every header has"),
        ("bytes", "what every header has"),
        ("message_info", "the message table"),
    ];
    for (name, what) in made {
        let field = "{ offset = 0, name = \"x\", type = \"u8\" },";
        let problems = problems_of(&format!("{PACKETS}\n{}", layout(name, field)));
        let line = problems.lines().find(|line| line.ends_with(&format!("both become `p_{name}` in C")));
        let line = line.unwrap_or_else(|| panic!("{name}: {problems}"));
        assert!(line.contains(&format!("layout `{name}`")) && line.contains(what), "{line}");
    }
    let count = problems_of(&PACKETS.replace("\"talk\"", "\"count\""));
    assert_eq!(count, "message `count` and the message table both become `P_MESSAGE_COUNT` in C");
}

/// The members of a body's struct too.
#[test]
fn parts_that_meet_are_refused() {
    let segments = problems_of(&PACKETS.replace("name = \"load\",  length", "name = \"class_\", length"));
    assert_eq!(segments, "`class` and `class_` of body of message `ship` both become `class_` in C");
    let parts = problems_of(&PACKETS.replace("name = \"rest\", length", "name = \"class_\", length"));
    assert_eq!(parts, "`class` and `class_` of body `load` both become `class_` in C");
}

/// Members that are named like keywords or macros are escaped there too, and say so.
#[test]
fn taken_names_of_parts_are_escaped_and_documented() {
    let text = header(&registry("zoo")).unwrap_or_default();
    for (of, member, name) in [
        ("switch_body", "errno_;", "errno"),
        ("switch_body", "union_;", "union"),
        ("switch_body", "EOF_;", "EOF"),
        ("operator", "delete_;", "delete"),
        ("operator", "namespace_;", "namespace"),
        ("feeding", "signed_;", "signed"),
    ] {
        let body =
            text.split(&format!("\nstruct zoo_{of} {{\n")).nth(1).and_then(|rest| rest.split("\n};").next());
        let body = body.unwrap_or_else(|| panic!("no struct {of}"));
        let docs =
            body.split(&format!(" {member}")).nth(1).unwrap_or_else(|| panic!("no {member} in {body}"));
        let docs: Vec<_> = docs.split("*/").next().unwrap_or_default().split_whitespace().collect();
        let docs = docs.join(" ").replace(" * ", " ");
        assert!(docs.contains(&format!("In the registry it is `{name}`")), "{docs}");
    }
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
