use std::fs;
use std::io::Read;
use std::process::{Command, Stdio};

use insta::assert_snapshot;
use nnrp_gen::codec;
use nnrp_tests::command::{Ran, binary, run, run_with};
use nnrp_tests::random::{Random, good};
use nnrp_tests::registry;
use serde_json::{Value, json};

use super::{hex, scratch};

/// A good session_open with something in every field.
const OPEN: &str = "01000000 0100 01 05 07000000 02000000 dc050000 1000 0000 60ea0000 10000000 20000000 00000000 efbeadde00000080";

fn decode(arguments: &[&str]) -> Ran {
    run(&[&["decode", "--layout", "session_open"], arguments].concat())
}

/// The good bytes with one replaced.
fn with(at: usize, byte: u8) -> String {
    let digits = OPEN.replace(' ', "");
    format!("{}{byte:02x}{}", &digits[..at * 2], &digits[at * 2 + 2..])
}

#[test]
fn good_bytes() {
    assert_snapshot!("dump", decode(&[OPEN]).all());
    assert_snapshot!("json", decode(&["--json", OPEN]).all());
    assert_eq!(decode(&["--lenient", OPEN]).all(), decode(&[OPEN]).all());
}

#[test]
fn bad_bytes() {
    // Reserved, unknown value, unknown bits, a rule, too short, too long.
    assert_snapshot!("reserved", decode(&[&with(22, 1)]).all());
    assert_snapshot!("unknown_value", decode(&[&with(6, 9)]).all());
    assert_snapshot!("rule", decode(&[&with(8, 0)]).all());
    assert_snapshot!("too_short", decode(&["01000000 0100 01 05 07000000 0200"]).all());
    assert_snapshot!("nothing", decode(&[""]).all());
    assert_snapshot!("too_long", decode(&[&format!("{OPEN} 00112233445566778899")]).all());
    assert_eq!(
        decode(&["--json", &with(22, 1)]).all(),
        "\
--- stderr
error: byte 22: `session_open.reserved0` is reserved and must be zero
--- exit status 1
"
    );
}

#[test]
fn lenient_shows_all_that_is_wrong() {
    let bad = with(6, 9).replacen("05070000", "8500000000", 1);
    assert_snapshot!("lenient", decode(&["--lenient", &bad]).all());
    assert_snapshot!("lenient_json", decode(&["--lenient", "--json", &with(7, 0x85)]).all());
}

#[test]
fn every_way_in() {
    let expected = decode(&["--json", OPEN]).good();
    let spelled = [
        OPEN.replace(' ', ""),
        OPEN.to_uppercase(),
        format!("0x{}", OPEN.replace(' ', "")),
        OPEN.split(' ').map(|part| format!("0x{part}\n")).collect(),
        OPEN.replace(' ', "")
            .as_bytes()
            .chunks(2)
            .map(|pair| format!("{}{}:", pair[0] as char, pair[1] as char))
            .collect(),
    ];
    for text in &spelled {
        assert_eq!(decode(&["--json", text]).good(), expected, "{text}");
        let piped = run_with(&["decode", "--layout", "session_open", "--json", "-"], text.as_bytes());
        assert_eq!(piped.good(), expected, "{text}");
    }
    let bytes = codec::bytes_of_text(&spelled[2]).unwrap();
    let file = scratch("decode").join("open.bin");
    fs::write(&file, &bytes).unwrap();
    assert_eq!(decode(&["--json", "--file", file.to_str().unwrap()]).good(), expected);
    let piped = run_with(&["decode", "--layout", "session_open", "--json", "--file", "-"], &bytes);
    assert_eq!(piped.good(), expected);
}

#[test]
fn bad_hex_has_a_place() {
    assert_snapshot!(decode(&["00 1g 22"]).all(), @r"
    --- stderr
    argument:1:5: error: `g` is no hex digit
      |
    1 | 00 1g 22
      |     ^
    --- exit status 1
    ");
    let piped = run_with(&["decode", "--layout", "session_open", "-"], b"00 01\n02 3 04\n");
    assert_snapshot!(piped.all(), @r"
    --- stderr
    stdin:2:4: error: this byte has only one digit, and bytes have two
      |
    2 | 02 3 04
      |    ^
    --- exit status 1
    ");
    let piped = run_with(&["decode", "--layout", "session_open", "-"], b"00\xff");
    assert_snapshot!(piped.all(), @r"
    --- stderr
    error: standard input is no text: byte 2 is not UTF-8
    help: binary data is read with `--file -`
    --- exit status 1
    ");
}

/// The JSON that a decoded value must be, made independently of the command.
fn expected(value: &codec::Value) -> Value {
    match value {
        codec::Value::Unsigned(number) => json!(number),
        codec::Value::Signed(number) => json!(number),
        codec::Value::Bool(truth) => json!(truth),
        codec::Value::Text(text) => json!(text),
        codec::Value::Bits { names, .. } => json!(names),
        codec::Value::Bytes(bytes) => json!(codec::bytes_as_text(bytes)),
        codec::Value::List(list) => list.iter().map(expected).collect(),
        codec::Value::Struct(fields) => {
            Value::Object(fields.iter().map(|(name, value)| (name.clone(), expected(value))).collect())
        }
        codec::Value::F32(_) | codec::Value::F64(_) => panic!("no layout of the protocol has floats"),
    }
}

#[test]
fn every_layout_goes_there_and_back() {
    let registry = registry::nnrp();
    for layout in &registry.layouts {
        let bytes = good(&registry, layout, &mut Random::new(7, &layout.name)).unwrap();
        let text = run(&["decode", "--layout", &layout.name, "--json", &hex(&bytes)]).good();
        let json: Value = serde_json::from_str(&text).unwrap();
        let value = codec::decode(&registry, layout, &bytes).unwrap();
        assert_eq!(json, json!({ "layout": layout.name, "fields": expected(&value) }));
        let back = run_with(&["encode", "--layout", &layout.name, "-"], text.as_bytes());
        assert_eq!(back.good(), hex(&bytes) + "\n", "{}", layout.name);
    }
}

#[test]
fn every_dump_is_complete() {
    let registry = registry::nnrp();
    for layout in &registry.layouts {
        let bytes = good(&registry, layout, &mut Random::new(8, &layout.name)).unwrap();
        let dump = run(&["decode", "--layout", &layout.name, &hex(&bytes)]).good();
        for field in &layout.fields {
            assert!(dump.contains(&field.name), "{}.{} is not in\n{dump}", layout.name, field.name);
        }
        assert!(dump.lines().all(|line| line.chars().count() <= 100), "{dump}");
    }
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let mut child = Command::new(binary())
        .args(["emit", "rust", "--standalone"])
        .current_dir(registry::here().join(".."))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut some = [0; 16];
    child.stdout.take().unwrap().read_exact(&mut some).unwrap();
    let done = child.wait_with_output().unwrap();
    assert_eq!((done.status.code(), done.stderr.as_slice()), (Some(0), &[][..]));
}
