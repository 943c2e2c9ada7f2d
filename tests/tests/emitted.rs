//! The generated Rust as people read it, and what must hold of the registry for it to read well.

use nnrp_gen::emit::rust;
use nnrp_gen::load_texts;
use nnrp_gen::model::Meaning;
use nnrp_tests::registry::nnrp;

/// Three small layouts: with rules, with an enum and reserved fields, with a constant and an array.
#[test]
fn three_small_layouts() {
    let loaded = load_texts([(
        "small.toml",
        r#"
[protocol]
name       = "small"
byte_order = "little"

[[enum]]
name   = "close_status"
type   = "u8"
source = "7.1C"
doc    = "How far the close of a session got."
values = [
  { value = 0, name = "acknowledged", doc = "Accepted and begun." },
  { value = 1, name = "draining",     doc = "Operations are still finishing." },
  { value = 2, name = "closed",       doc = "The session is gone." },
]

[[bitmask]]
name   = "close_flags"
type   = "u8"
source = "7.1C"
doc    = "What closing left behind."
bits   = [
  { bit = 0, name = "lost_results", doc = "Results were dropped." },
  { bit = 1, name = "lost_leases",  doc = "Leases ended early." },
]

[[layout]]
name   = "schema_binding"
size   = 8
source = "9.2"
doc    = "A schema and its version."
fields = [
  { offset = 0, name = "schema_id",      type = "u32", doc = "0 binds none." },
  { offset = 4, name = "schema_version", type = "u32", doc = "0 without a schema." },
]
rules  = [
  { id = "D2.1", when = "schema_id == 0", require = "schema_version == 0", doc = "Schema id 0 binds no schema, so it has no version." },
]

[[layout]]
name   = "close_ack"
size   = 12
source = "12.4"
doc    = "Confirms the close of a session."
fields = [
  { offset = 0, name = "close_status",  type = "u8", enum = "close_status",   doc = "What was done so far." },
  { offset = 1, name = "close_flags",   type = "u8", bitmask = "close_flags", doc = "What it cost." },
  { offset = 2, name = "reserved0",     type = "u16", reserved = true },
  { offset = 4, name = "drain_time_ms", type = "u32", unit = "ms",            doc = "Time that draining took." },
  { offset = 8, name = "is_final",      type = "u32", bool = true,            doc = "Nothing follows." },
]

[[layout]]
name       = "preamble"
size       = 16
byte_order = "big"
source     = "1"
doc        = "First bytes of a file."
fields     = [
  { offset =  0, name = "magic",   type = "[u8; 4]", const = "SMAL" },
  { offset =  4, name = "version", type = "u16", const = 2 },
  { offset =  6, name = "weights", type = "[u16; 3]", doc = "Three weights." },
  { offset = 12, name = "scale",   type = "f32", doc = "Multiplies each weight." },
]
"#,
    )]);
    let registry = loaded.into_result().unwrap_or_else(|problems| panic!("{problems}"));
    insta::assert_snapshot!(rust::module(&registry, false, false));
}

/// What is emitted does not depend on line ends or on the order in which files are found.
#[test]
fn emitting_is_deterministic() {
    let (first, second) = (nnrp(), nnrp());
    assert_eq!(rust::module(&first, true, true), rust::module(&second, true, true));
    let files: Vec<(String, String)> = nnrp_gen::read::files(&nnrp_tests::registry::folder())
        .expect("the registry")
        .iter()
        .map(|path| {
            (path.display().to_string(), std::fs::read_to_string(path).expect("text").replace('\n', "\r\n"))
        })
        .collect();
    let third = load_texts(files.iter().map(|(name, text)| (name.as_str(), text.as_str())));
    let third = third.into_result().unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(rust::module(&first, true, true), rust::module(&third, true, true));
}

/// The registry is whole: as many of each kind as the protocol has, each with its source and doc.
#[test]
fn the_registry_is_whole() {
    let registry = nnrp();
    assert_eq!(
        (registry.layouts.len(), registry.enums.len(), registry.bitmasks.len(), registry.messages.len()),
        (61, 56, 31, 51)
    );
    let mut entries: Vec<(&str, &str, &str)> = Vec::new();
    entries.extend(registry.layouts.iter().map(|item| (&*item.name, &*item.source, &*item.doc)));
    entries.extend(registry.enums.iter().map(|item| (&*item.name, &*item.source, &*item.doc)));
    entries.extend(registry.bitmasks.iter().map(|item| (&*item.name, &*item.source, &*item.doc)));
    entries.extend(registry.messages.iter().map(|item| (&*item.name, &*item.source, &*item.doc)));
    entries.extend(registry.bodies.iter().map(|item| (&*item.name, &*item.source, &*item.doc)));
    entries.extend(registry.entries.iter().map(|item| (&*item.name, &*item.source, &*item.doc)));
    entries.extend(registry.vocabularies.iter().map(|item| (&*item.name, &*item.source, &*item.doc)));
    entries.extend(registry.schemas.iter().map(|item| (&*item.name, &*item.source, &*item.doc)));
    entries.extend(registry.machines.iter().map(|item| (&*item.name, &*item.source, &*item.doc)));
    for (name, source, doc) in entries {
        assert!(!source.is_empty() && !doc.is_empty(), "`{name}` has no source or no doc");
    }
    for item in &registry.enums {
        for value in &item.values {
            assert!(!value.doc.is_empty(), "`{}` of `{}` has no doc", value.name, item.name);
        }
    }
    for bit in registry.bitmasks.iter().flat_map(|item| &item.bits) {
        assert!(!bit.doc.is_empty(), "bit `{}` has no doc", bit.name);
    }
    for layout in &registry.layouts {
        for field in layout.fields.iter().filter(|field| field.has_value()) {
            let quantity = ["_ms", "_us", "_bytes", "_x100"].iter().any(|unit| field.name.ends_with(unit));
            assert!(!quantity || !field.unit.is_empty(), "`{}.{}` has no unit", layout.name, field.name);
            let plain = field.meaning == Meaning::Plain;
            assert!(!plain || !field.doc.is_empty(), "`{}.{}` has no doc", layout.name, field.name);
        }
        for rule in &layout.rules {
            assert!(!rule.doc.is_empty(), "rule {} has no doc", rule.id);
        }
    }
}
