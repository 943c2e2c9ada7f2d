//! A message protocol of another shape works from its registry alone: most significant byte first, another header,
//! no sessions.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use nnrp_gen::codec::Value;
use nnrp_gen::codec::packet::Packets;
use nnrp_tests::command::{Ran, run_with};
use nnrp_tests::mutate::{mutated, revalued};
use nnrp_tests::packet::{Maker, Size};
use nnrp_tests::project::Project;
use nnrp_tests::random::Random;
use nnrp_tests::registry;

/// Runs the command on it.
fn on(arguments: &[&str], input: &[u8]) -> Ran {
    run_with(&[&["--registry", "tests/registries/relay"], arguments].concat(), input)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn is_good_and_lined_up() {
    assert!(on(&["check"], b"").good().starts_with("relay is good"));
    assert_eq!(on(&["fmt", "--check"], b"").good(), "");
}

#[test]
fn its_header_must_know_all_messages() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("relay_kinds");
    // It may be there from the last run.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let text = fs::read_to_string(registry::here().join("registries/relay/relay.toml")).unwrap();
    let text = text.replacen("from = \"messages\"", "values = [{ value = 1, name = \"beat\" }]", 1);
    fs::write(folder.join("relay.toml"), text).unwrap();
    let ran = run_with(&["--registry", folder.to_str().unwrap(), "check"], b"");
    assert_eq!(ran.code, 1);
    assert!(
        ran.err.contains("error: `kind` gives the message, but is no enum of all messages"),
        "{}",
        ran.err
    );
}

#[test]
fn is_shown_whole() {
    let shown = on(&["show", "message", "reading"], b"").good();
    for part in
        ["header: head, 10 bytes", "metadata: reading, 12 bytes", "layout sample", "layout altitude", "R6"]
    {
        assert!(shown.contains(part), "{part} is not in\n{shown}");
    }
}

#[test]
fn goes_there_and_back_through_the_command() {
    let registry = registry::foreign("relay");
    let maker = Maker::new(&registry);
    for message in &registry.messages {
        for size in Size::ALL {
            let packet = maker.packet(message, size, &mut Random::new(5, &message.name));
            let json = on(&["decode", "--json", "--file", "-"], &packet).good();
            let back = on(&["encode", "--message", &message.name], json.as_bytes()).good();
            assert_eq!(back.trim_end(), hex(&packet), "{json}");
            let dump = on(&["decode", "--file", "-"], &packet).good();
            assert!(dump.starts_with(&format!("{} · {} bytes", message.name, packet.len())), "{dump}");
        }
    }
}

/// Good and bad packets of every message.
fn cases(maker: &Maker<'_>, registry: &nnrp_gen::model::Registry) -> Vec<Vec<u8>> {
    let mut list = Vec::new();
    for message in &registry.messages {
        let mut random = Random::new(6, &message.name);
        for round in 0..120 {
            let size = Size::ALL[round % 3];
            let packet = maker.packet(message, size, &mut random);
            let value = maker.packets().decode(&packet).unwrap_or_else(|fault| panic!("{fault}"));
            for _ in 0..5 {
                list.push(mutated(maker.packets(), &packet, &mut random));
                list.extend(revalued(maker.packets(), message, &value, &mut random));
            }
            list.push(packet);
        }
    }
    list
}

/// A good packet again, or the fault and all that is to know of it.
fn expected(registry: &nnrp_gen::model::Registry, packets: &Packets<'_>, bytes: &[u8]) -> String {
    match packets.fault(bytes) {
        None => hex(bytes),
        Some(fault) => format!("{fault} {} {}", fault.of_message, fault.breaks_stream(registry)),
    }
}

#[test]
fn compiles_standalone_and_agrees() {
    let registry = registry::foreign("relay");
    let maker = Maker::new(&registry);
    let cases = cases(&maker, &registry);
    let lines: String = cases.iter().map(|case| hex(case) + "\n").collect();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("relay");
    let mut project = Project::new(&folder);
    project.module("relay", &on(&["emit", "rust", "--standalone"], b"").good());
    fs::write(folder.join("cases.txt"), lines).unwrap();
    let printed = project.run(
        r#"
use scratch::relay::Packet;

fn main() {
    for line in include_str!("../cases.txt").lines() {
        let digits = |at: usize| u8::from_str_radix(&line[at..at + 2], 16).unwrap();
        let bytes: Vec<u8> = (0..line.len()).step_by(2).map(digits).collect();
        match Packet::parse(&bytes) {
            Ok(packet) => {
                let mut out = vec![0; bytes.len()];
                packet.message().encode_into(&packet.header().to_owned(), &mut out).unwrap();
                println!("{}", out.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
            }
            Err(fault) => println!("{fault} {} {}", fault.is_of_message(), fault.breaks_stream()),
        }
    }
}
"#,
    );
    let mut wanted = String::new();
    for case in &cases {
        writeln!(wanted, "{}", expected(&registry, maker.packets(), case)).unwrap();
    }
    for ((printed, wanted), case) in printed.lines().zip(wanted.lines()).zip(&cases) {
        assert_eq!(printed, wanted, "{}", hex(case));
    }
    assert_eq!(printed.lines().count(), cases.len());
    let refused = wanted.lines().filter(|line| line.starts_with("byte ")).count();
    assert!(refused > 500 && cases.len() - refused > 500, "{refused} of {}", cases.len());
    for rule in 1..=20 {
        let rule = format!("R{rule}");
        let named =
            |line: &str| line.split(|letter: char| !letter.is_ascii_alphanumeric()).any(|word| word == rule);
        assert!(wanted.lines().any(named), "{rule} never broke");
    }
}

/// Parts, segments and fields may be called what the generated code calls its own.
#[test]
fn names_that_code_uses_itself_compile() {
    let registry = registry::foreign("awkward");
    let maker = Maker::new(&registry);
    let mut project = Project::new(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("awkward"));
    let module = run_with(&["--registry", "tests/registries/awkward", "emit", "rust", "--standalone"], b"");
    project.module("awkward", &module.good());
    let packets = registry.messages.iter().map(|message| {
        let packet = maker.packet(message, Size::Full, &mut Random::new(7, &message.name));
        hex(&packet)
    });
    let packets: Vec<_> = packets.collect();
    let printed = project.run(&format!(
        r#"
use scratch::awkward::Packet;

fn main() {{
    for line in {packets:?} {{
        let digits = |at: usize| u8::from_str_radix(&line[at..at + 2], 16).unwrap();
        let bytes: Vec<u8> = (0..line.len()).step_by(2).map(digits).collect();
        let packet = Packet::parse(&bytes).unwrap_or_else(|fault| panic!("{{fault}}"));
        let mut out = vec![0; bytes.len()];
        packet.message().encode_into(&packet.header().to_owned(), &mut out).expect("it was read");
        assert_eq!(out, bytes);
        println!("{{:?}}", packet.message_type());
    }}
}}
"#
    ));
    assert_eq!(printed, "Whole\nPieces\n");
}

const NARROW: &str = r#"
[protocol]
name       = "narrow"
byte_order = "big"
header     = "head"

[[enum]]
name = "kind"
type = "u8"
from = "messages"

[[layout]]
name = "head"
size = 8
fields = [
  { offset = 0, name = "kind",      type = "u8",  enum = "kind", is = "message" },
  { offset = 1, name = "reserved0", type = "u8",  reserved = true },
  { offset = 2, name = "meta",      type = "u16", is = "metadata_length" },
  { offset = 4, name = "body",      type = "u32", is = "body_length" },
]

[[layout]]
name = "memo"
size = 2
fields = [
  { offset = 0, name = "title_bytes", type = "u8" },
  { offset = 1, name = "reserved0",   type = "u8", reserved = true },
]

[[message]]
value     = 1
name      = "memo"
metadata  = "memo"
direction = "both"
body      = [
  { name = "title", length = "title_bytes", id = "N1" },
  { name = "text",  length = "rest" },
]
"#;

/// What is longer than its length can say is refused, and does not run over into the rest of the body.
#[test]
fn a_length_that_is_too_narrow_refuses_what_it_cannot_say() {
    let loaded = nnrp_gen::load_texts([("narrow.toml", NARROW)]);
    let registry = loaded.into_result().unwrap_or_else(|problems| panic!("{problems}"));
    let mut project = Project::new(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("narrow"));
    project.module("narrow", &nnrp_gen::emit::rust::module(&registry, true, false));
    let printed = project.run(
        r#"
use scratch::narrow::{Head, Memo, MemoBody, Message, Packet};

fn main() {
    let long = [7; 256];
    for size in [255, 256] {
        let message = Message::Memo(Memo::default(), MemoBody { title: &long[..size], text: b"text" });
        let mut out = [1; 300];
        match message.encode_into(&Head::default(), &mut out) {
            Ok(size) => println!("{size} {}", Packet::parse(&out[..size]).unwrap().message() == message),
            Err(why) => println!("{why}: {}", out == [1; 300]),
        }
    }
}
"#,
    );
    let refused = "a reader would refuse the packet: byte 8: `memo.title_bytes` does not match the bytes that are there";
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines[0], "269 false", "its length is filled in");
    assert!(lines[1].starts_with(refused) && lines[1].ends_with("(rule N1): true"), "{printed}");
    let packets = Packets::new(&registry).expect("it has messages");
    let write = |size: usize| {
        let body = Value::Struct(vec![("title".to_owned(), Value::Bytes(vec![7; size]))]);
        packets.assemble(&registry.messages[0], &Value::Struct(vec![("body".to_owned(), body)]))
    };
    assert_eq!(write(255).map(|bytes| bytes.len()), Ok(10 + 255));
    let problem = format!("{:?}", write(256).expect_err("it cannot be said"));
    assert!(problem.contains("body.title") && problem.contains("255 at most"), "{problem}");
}
