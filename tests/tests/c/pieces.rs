//! Entries, words and bodies that C writes one by one are those that Rust writes.

use std::process::Command;

use nnrp_core::{
    CapabilityTokens, ControlExtensionEntries, ControlExtensionHeader, ControlExtensionType,
    SchemaDescriptor, SchemaDescriptorHeader, wire::WriteError,
};

use crate::toolchain::{BUILDS, STRICT, compile, folder, have, write};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The extensions of the C program.
fn extensions() -> Vec<u8> {
    let mut out = Vec::new();
    for (kind, payload) in [(0x8000, &b"abc"[..]), (0x8001, b"12345678")] {
        let ext_type = ControlExtensionType::from_raw(kind).expect("it is private");
        let header = ControlExtensionHeader { ext_type, ..ControlExtensionHeader::default() };
        ControlExtensionEntries::push(&mut out, &header, payload).expect("the header is good");
    }
    out
}

/// Its schema, or the schema without an id.
fn schema(id: u32) -> Result<Vec<u8>, WriteError> {
    let version = if id == 0 { 0 } else { 2 };
    let prelude = SchemaDescriptorHeader {
        schema_id: id,
        schema_version: version,
        ..SchemaDescriptorHeader::default()
    };
    let mut out = vec![0; 200];
    let schema = SchemaDescriptor { prelude, body: b"what it says" };
    let size = schema.encode_into(&mut out)?;
    out.truncate(size);
    Ok(out)
}

#[test]
fn c_writes_the_pieces_that_rust_writes() {
    let mut words = Vec::new();
    for word in ["object.cost", "object.delta"] {
        CapabilityTokens::push(&mut words, word).expect("the word is good");
    }
    let nothing = CapabilityTokens::push(&mut Vec::new(), "").expect_err("the word is empty");
    let Err(WriteError::Fault(unnamed)) = schema(0) else { panic!("a schema has an id") };
    let named = schema(7).expect("the schema is good");
    let expected = [
        hex(&extensions()),
        "byte 15: `control_extension` ends too early".to_owned(),
        "byte 2: `control_extension_header.ext_flags` has bits set that are not known".to_owned(),
        hex(&words),
        "byte 12: `capability_tokens` ends too early".to_owned(),
        nothing.to_string(),
        nothing.to_string(),
        hex(&named),
        format!("byte {}: `schema_descriptor` ends too early", named.len() - 1),
        unnamed.to_string(),
        "byte 3: `schema_descriptor_header` ends too early".to_owned(),
    ];
    let folder = folder("pieces", "nnrp");
    write(&folder, "pieces.c", include_str!("pieces.c"));
    for (build, compiler, flags) in BUILDS {
        if !have(compiler, flags) {
            continue;
        }
        let strict = if build.contains('-') { &[] } else { STRICT };
        compile(&folder, compiler, &[flags, strict, &["-o", build, "pieces.c"]].concat());
        let output = Command::new(folder.join(build)).output().expect("the program runs");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{build}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(said.lines().collect::<Vec<_>>(), expected, "{build}");
    }
}

/// A note behind a text whose length is one byte.
const NOTES: &str = r#"
[protocol]
name       = "notes"
byte_order = "little"
header     = "head"

[[enum]]
name = "kind"
type = "u8"
from = "messages"

[[layout]]
name   = "head"
size   = 4
fields = [
  { offset = 0, name = "kind",     type = "u8", enum = "kind", is = "message" },
  { offset = 1, name = "metadata", type = "u8", is = "metadata_length" },
  { offset = 2, name = "body",     type = "u16", is = "body_length" },
]

[[layout]]
name   = "post"
size   = 2
fields = [
  { offset = 0, name = "urgent", type = "u8", bool = true },
  { offset = 1, name = "text",   type = "u8" },
]

[[message]]
value    = 1
name     = "post"
metadata = "post"
body     = [{ name = "text", length = "text", doc = "What it says." }, { name = "note", length = "rest" }]

[[message]]
value = 2
name  = "read"
"#;

const POST: &str = r#"
#include "notes.h"
#include <stdio.h>

int main(void)
{
    static uint8_t long_text[256];
    uint8_t out[300];
    char sentence[100];
    struct notes_head header = { 0, 0, 0 };
    struct notes_post metadata = { true, 0 };
    struct notes_post_body body = { { long_text, 255 }, { long_text, 1 } };
    notes_fault fault;

    printf("%u\n", (unsigned)notes_post_packet_write(&header, &metadata, &body, out, sizeof out, NULL));
    body.text.size = 256;
    printf("%u\n", (unsigned)notes_post_packet_write(&header, &metadata, &body, out, sizeof out, &fault));
    notes_fault_text(&fault, sentence, sizeof sentence);
    printf("%s\n", sentence);
    return 0;
}
"#;

/// What is too long for its length must not run over into what follows it, where a reader would find nothing wrong.
#[test]
fn nothing_runs_over_into_the_rest() {
    if !have("gcc", &[]) {
        return;
    }
    let loaded = nnrp_gen::load_texts([("notes.toml", NOTES)]);
    let registry = loaded.into_result().unwrap_or_else(|problems| panic!("{problems}"));
    let header = nnrp_gen::emit::c::header(&registry).unwrap_or_else(|problems| panic!("{problems}"));
    let writing =
        header.split("/* Writes a packet: ").nth(1).and_then(|rest| rest.split("/* Names and").next());
    insta::assert_snapshot!("writing_a_small_protocol", writing.unwrap_or_default());

    let folder = folder("post", "nnrp");
    write(&folder, "notes.h", &header);
    write(&folder, "post.c", POST);
    compile(&folder, "gcc", &[STRICT, &["-std=c99", "-o", "post", "post.c"]].concat());
    let output = Command::new(folder.join("post")).output().expect("the program runs");
    let expected = "262\n0\nbyte 5: `post.text` does not match the bytes that are there\n";
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
}
