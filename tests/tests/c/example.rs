//! The example of the documentation does what it says.

use std::process::Command;

use nnrp_core::{CommonHeader, Message, SessionOpen, SessionOpenBody, SessionPriorityClass};

use crate::toolchain::{STRICT, compile, folder, have, write};

/// The text of an array.
fn array(name: &str, bytes: &[u8]) -> String {
    let bytes: Vec<_> = bytes.iter().map(u8::to_string).collect();
    format!("static const uint8_t {name}[] = {{ {} }};\n", bytes.join(", "))
}

#[test]
fn the_example_reads_packets() {
    if !have("gcc", &[]) {
        return;
    }
    let open = SessionOpen {
        priority_class: SessionPriorityClass::Background,
        schema_id: 0x1001,
        schema_version: 3,
        ..SessionOpen::default()
    };
    let body = SessionOpenBody { auth: b"who I am", ..SessionOpenBody::default() };
    let mut packet = vec![0; 200];
    let length = Message::SessionOpen(open, body).encode_into(&CommonHeader::default(), &mut packet);
    packet.truncate(length.expect("the packet is good"));
    let mut broken = packet.clone();
    broken[40 + 8..40 + 10].copy_from_slice(&[0, 0]);

    let readme = include_str!("../../../README.md");
    assert!(readme.contains(include_str!("example.c")), "the README shows another example");

    let folder = folder("example", "nnrp");
    write(&folder, "example.c", include_str!("example.c"));
    let main = format!(
        "#include \"nnrp.h\"\n\nint read_packet(const uint8_t *bytes, size_t size);\n\n{}{}\nint main(void)\n{{\n    \
         return read_packet(good, sizeof good) + 2 * read_packet(broken, sizeof broken) - 2;\n}}\n",
        array("good", &packet),
        array("broken", &broken),
    );
    write(&folder, "main.c", &main);
    let flags = [STRICT, &["-std=c99", "-O2", "-o", "example", "main.c", "example.c"]].concat();

    compile(&folder, "gcc", &flags);
    let output = Command::new(folder.join("example")).output().expect("the example runs");
    assert!(output.status.success());
    let said = String::from_utf8_lossy(&output.stdout);
    let expected = "a background session for schema 4097\n\
                    refused: byte 52: `session_open.schema_version` breaks rule D2.1: \
                    Schema id 0 binds no schema, so it has no version\n";
    assert_eq!(said, expected);
}
