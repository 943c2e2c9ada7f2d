//! Whole packets through the command: every message there and back, several in a row, and what is told of bad ones.

use insta::assert_snapshot;
use nnrp_core::Packet;
use nnrp_tests::command::{Ran, run, run_with};
use nnrp_tests::packet::{Maker, Size};
use nnrp_tests::random::Random;
use nnrp_tests::registry;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn decode(arguments: &[&str], packets: &[u8]) -> Ran {
    run_with(&[&["decode", "--file", "-"], arguments].concat(), packets)
}

/// A packet of a message with a body, written by the command.
fn encoded(message: &str, json: &str) -> Vec<u8> {
    let text = run(&["encode", "--message", message, json]).good();
    nnrp_gen::codec::bytes_of_text(&format!("0x{}", text.trim_end())).unwrap()
}

fn open() -> Vec<u8> {
    let json = r#"{
        "header": {"flags": ["ack_required"], "trace_id": 7},
        "metadata": {"profile_id": "token", "requested_priority": 1},
        "body": {
            "auth": "secret",
            "session_extension": [
                {"ext_type": "resume_from_operation", "payload": {"resume_from_operation_id": 9}},
                {"ext_type": 36864, "payload": "0x010203"}
            ]
        }
    }"#
    .replace(r#", "requested_priority": 1"#, "");
    encoded("session_open", &json)
}

#[test]
fn every_message_goes_there_and_back() {
    let registry = registry::nnrp();
    let maker = Maker::new(&registry);
    for size in Size::ALL {
        let mut all = Vec::new();
        let mut each = Vec::new();
        for message in &registry.messages {
            let packet = maker.packet(message, size, &mut Random::new(9, &message.name));
            all.extend(&packet);
            each.push((message, packet));
        }
        let lines = decode(&["--json"], &all).good();
        assert_eq!(lines.lines().count(), each.len());
        let back = run_with(&["encode"], lines.as_bytes()).good();
        assert_eq!(back.lines().count(), each.len());
        for (at, (line, (message, packet))) in lines.lines().zip(&each).enumerate() {
            assert_eq!(back.lines().nth(at), Some(hex(packet).as_str()), "{line}");
            // Each message once by its name, too, which takes long.
            if at % 3 == size as usize {
                let back = run_with(&["encode", "--message", &message.name], line.as_bytes()).good();
                assert_eq!(back.trim_end(), hex(packet), "{line}");
            }
            // What the command wrote is what the generated code writes.
            let parsed = Packet::parse(packet).unwrap();
            let mut out = vec![0; packet.len()];
            parsed.message().encode_into(&parsed.header().to_owned(), &mut out).unwrap();
            assert_eq!(&out, packet);
        }
        let dump = decode(&[], &all).good();
        for line in dump.lines() {
            assert!(line.chars().count() <= 100, "too wide: {line}");
            assert_eq!(line, line.trim_end(), "blanks at the end of a line");
        }
    }
}

/// Every byte of every packet is in its dump.
#[test]
fn dumps_are_complete() {
    let registry = registry::nnrp();
    let maker = Maker::new(&registry);
    for name in [
        "frame_submit",
        "result_push",
        "client_hello",
        "cache_put",
        "capability_negotiation",
        "session_patch",
    ] {
        let message = registry.message(name).unwrap();
        let packet = maker.packet(message, Size::Full, &mut Random::new(10, name));
        let dump = decode(&[], &packet).good();
        let mut next = 0;
        let mut more = 0;
        for line in dump.lines().skip(2) {
            if let Some(lines) = line.trim_start().strip_prefix("… ").and_then(|rest| rest.split(' ').next())
            {
                more = lines.parse::<usize>().unwrap() * 8;
            }
            let Some((offset, bytes)) = line.get(..6).zip(line.get(8..)) else { continue };
            let Ok(offset) = offset.trim_start().parse::<usize>() else { continue };
            assert_eq!(offset, next + std::mem::take(&mut more), "{line}\n{dump}");
            let bytes = bytes.split("  ").next().unwrap();
            let count = bytes.split(' ').filter(|byte| byte.len() == 2).count();
            next = offset + count;
        }
        assert_eq!(next, packet.len(), "{dump}");
    }
}

#[test]
fn a_good_packet() {
    let packet = open();
    assert_snapshot!("dump", decode(&[], &packet).all());
    assert_snapshot!("json", decode(&["--json"], &packet).all());
    assert_eq!(run(&["decode", &hex(&packet)]).all(), decode(&[], &packet).all());
}

#[test]
fn a_submit_with_everything() {
    let json = r#"{
        "header": {"session_id": 3, "frame_id": 5},
        "metadata": {
            "operation_id": 11, "tile_count": 3, "section_count": 1, "tile_index_mode": "delta_u16",
            "tile_base_id": 0, "payload_kind_bitmap": ["tensor", "token_chunk"], "submit_mode": "mixed",
            "object_ref_mask": ["camera_block"]
        },
        "body": {"regions": {
            "inline_objects": [
                {"object_kind": "tile_index_block", "payload": "0x010002000300"},
                {"object_kind": "tensor_section_table", "payload": "0x010000010000000002000000000000000c000000060000000000000000000000010000000200000003000000414243444546"}
            ],
            "object_references": [{"object_kind": "camera_block", "cache_key_hi": 1, "cache_key_lo": 2}],
            "payload_descriptors": [
                {"profile_id": "token", "payload": "hello "},
                {"profile_id": "token", "descriptor_flags": ["terminal"], "payload": "world"}
            ],
            "extension_descriptors": [
                {"extension_kind": "operation_links", "payload": {"parent_operation_id": 10}}
            ]
        }}
    }"#;
    let packet = encoded("frame_submit", json);
    assert_eq!(Packet::parse(&packet).map(|packet| packet.as_bytes()), Ok(packet.as_slice()));
    assert_snapshot!("submit", decode(&[], &packet).good());
}

#[test]
fn bad_packets_between_good_ones() {
    let good = open();
    let mut bad = good.clone();
    // Padding that is not zero.
    let last = bad.len() - 1;
    bad[last] = 1;
    let ping = encoded("ping", "{}");
    // A body that the message does not have.
    let mut fat = [ping.as_slice(), &[0; 4]].concat();
    fat[16] = 4;
    let ran = decode(&["--json"], &[fat.as_slice(), &ping].concat());
    assert_eq!((ran.code, ran.out.lines().count()), (1, 1));
    assert!(ran.err.starts_with("error: packet 1 at byte 0: byte 16: "), "{}", ran.err);
    let all = [good.as_slice(), &bad, &ping].concat();
    let ran = decode(&["--json"], &all);
    assert_eq!((ran.code, ran.out.lines().count()), (1, 2));
    assert_snapshot!("bad_between", ran.err);
    let lenient = decode(&["--json", "--lenient"], &all);
    assert_eq!(lenient.out.lines().count(), 3);
    assert!(lenient.out.lines().nth(1).unwrap().contains(r#""faults":[{"layout":"control_extension""#));
    let dump = decode(&[], &all);
    assert_eq!(dump.err, ran.err);
    assert!(dump.out.contains("ping · packet 3 at byte "), "{}", dump.out);
    let marked = dump.out.lines().skip_while(|line| !line.contains("^^")).count();
    assert!(marked > 1, "{}", dump.out);
}

#[test]
fn a_bad_header_ends_it() {
    let ping = encoded("ping", "{}");
    let mut bad = ping.clone();
    bad[4] = 2;
    let ran = decode(&["--json"], &[ping.as_slice(), &bad, &ping].concat());
    assert_eq!((ran.code, ran.out.lines().count()), (1, 1));
    let cut = decode(&["--json"], &[ping.as_slice(), &ping[..39]].concat());
    let nothing = decode(&["--json"], b"");
    assert_snapshot!("bad_ends", [ran.err, cut.err, nothing.err].concat());
    let dump = decode(&[], &[ping.as_slice(), &bad].concat());
    assert_snapshot!("bad_header", dump.all());
}

#[test]
fn what_is_given_must_be_right() {
    let said = |message: &str, json: &str| {
        let ran = run(&["encode", "--message", message, json]);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{}", ran.err);
        ran.err
    };
    let right = r#"{"header": {"msg_type": "ping", "meta_len": 0, "body_len": 0}, "message": "ping"}"#;
    assert_eq!(encoded("ping", right), encoded("ping", "{}"));
    let wrong = [
        ("ping", r#"{"header": {"msg_type": "pong", "body_len": 4}, "message": "pong"}"#),
        ("ping", r#"{"head": {}, "metadata": {"a": 1}, "body": {"ext": []}}"#),
        ("ping", r#"{"header": {"session_id": 1}}"#),
        (
            "session_open",
            r#"{"metadata": {"auth_bytes": 3}, "body": {"auth": "0x1", "session_extension": {}}}"#,
        ),
        (
            "frame_cancel",
            r#"{"body": {"ext": [{"ext_type": "cancel_scope", "ext_len": 3, "payload": {"scop": 1}}, 7]}}"#,
        ),
        (
            "capability_negotiation",
            r#"{"body": {"capability_entries": ["object.cost", "cache.reference", 7]}}"#,
        ),
        ("capability_negotiation", r#"{"body": {"capability_entries": ["object.cost", "cache.reference"]}}"#),
    ];
    let told = wrong.map(|(message, json)| format!("{message} {json}\n{}", said(message, json)));
    assert_snapshot!("wrong", told.join("\n"));
    assert_eq!(run(&["encode", "--message", "pong", "--layout", "x", "{}"]).code, 2);
    assert_snapshot!("no_message", run(&["encode", "--message", "pin", "{}"]).all());
    let lines = "{\"message\": \"ping\"}\n\n{\"message\": \"ping\", \"header\": {\"x\": 1, \"y\": 2}}\n";
    let told =
        [lines, "{\"header\": {}}", "{\"message\": \"ping\"}\n{]"].map(|text| run(&["encode", text]).err);
    assert_snapshot!("wrong_lines", told.join("\n"));
}
