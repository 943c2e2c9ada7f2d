//! Python reads and writes through the header what Rust wrote and reads.

use std::io::Write;
use std::process::{Command, Stdio};

use nnrp_core::{SessionFlags, SessionOpen, SessionPriorityClass};

use crate::toolchain::{compile, folder, have, skip, write};

const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/c/python.py");

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn python_reads_what_rust_writes_and_the_other_way_round() {
    if !have("gcc", &[]) {
        return;
    }
    if !Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success()) {
        return skip("python3");
    }
    let folder = folder("python", "nnrp");
    let shim = format!(
        "#include \"nnrp.h\"\n\n{}\nSHIM(session_open)\n\nsize_t fault_text(const nnrp_fault *fault, char *buf, size_t len);\n\n\
         size_t fault_text(const nnrp_fault *fault, char *buf, size_t len)\n{{\n    \
         return nnrp_fault_text(fault, buf, len);\n}}\n",
        include_str!("shim.h"),
    );
    write(&folder, "shim.c", &shim);
    compile(&folder, "gcc", &["-std=c99", "-O2", "-shared", "-fPIC", "-o", "shim.so", "shim.c"]);

    let value = SessionOpen {
        requested_session_id: 0x0102_0304,
        priority_class: SessionPriorityClass::Background,
        session_flags: SessionFlags::all(),
        schema_id: 5,
        schema_version: 6,
        max_in_flight_operations: 65_535,
        client_session_tag: u64::MAX,
        ..SessionOpen::default()
    };
    let good = value.to_bytes().expect("the values are good");
    let mut broken = good;
    broken[8] = 0;
    let lines = [hex(&good), hex(&broken), hex(&good[..40])];

    let mut child = Command::new("python3")
        .arg(PROGRAM)
        .arg(folder.join("shim.so"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 runs");
    let mut to = child.stdin.take().expect("a pipe");
    to.write_all((lines.join("\n") + "\n").as_bytes()).expect("python3 reads");
    drop(to);
    let output = child.wait_with_output().expect("python3 ends");
    assert!(output.status.success());
    let said = String::from_utf8_lossy(&output.stdout);
    let said: Vec<_> = said.lines().collect();
    let [values, rule, short, written, refused] = said[..] else { panic!("{said:?}") };

    for member in [
        "\"requested_session_id\": 16909060,",
        "\"priority_class\": 2,",
        "\"schema_id\": 5,",
        "\"schema_version\": 6,",
        "\"max_in_flight_operations\": 65535,",
        "\"client_session_tag\": 18446744073709551615}",
    ] {
        assert!(values.contains(member), "{values}");
    }
    assert_eq!(rule, SessionOpen::decode(&broken).expect_err("a rule is broken").to_string());
    assert_eq!(short, SessionOpen::decode(&good[..40]).expect_err("too short").to_string());

    let bytes: Vec<u8> = (0..written.len() / 2)
        .filter_map(|at| u8::from_str_radix(&written[at * 2..at * 2 + 2], 16).ok())
        .collect();
    let expected = SessionOpen {
        requested_session_id: 7,
        priority_class: SessionPriorityClass::Background,
        schema_id: 9,
        schema_version: 1,
        client_session_tag: 1 << 63,
        ..SessionOpen::default()
    };
    assert_eq!(SessionOpen::decode(&bytes), Ok(expected));
    let mut bytes = expected.to_bytes().expect("the values are good");
    bytes[6] = 9;
    assert_eq!(refused, SessionOpen::decode(&bytes).expect_err("an unknown value").to_string());
}
