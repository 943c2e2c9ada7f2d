//! A message that is put into the registry goes over connections with the next build, without a change of the core.

use std::collections::BTreeMap;
use std::path::Path;

use nnrp_tests::command::cargo;
use nnrp_tests::mirror::mirror;

/// The message of the README.
const NOTE: &str = r#"
[[layout]]
name = "session_note"
size = 8
doc  = "A note for the log of a session."
fields = [
  { offset = 0, name = "severity",   type = "u16",                 doc = "0 is the least." },
  { offset = 2, name = "reserved0",  type = "u16", reserved = true },
  { offset = 4, name = "note_bytes", type = "u32", unit = "bytes", doc = "Bytes of the note." },
]

[[message]]
value     = 0x70
name      = "session_note"
metadata  = "session_note"
scope     = "session"
direction = "both"
doc       = "Puts a note into the log of a session."
body      = [
  { name = "note", length = "note_bytes", doc = "Text for people." },
]
"#;

/// What a program does with it.
const PROGRAM: &str = r#"//! A new message.
use nnrp_core::state::connection::{Config, Connection, Event, Shelf};
use nnrp_core::state::hello::{Abilities, Offer, Verdict};
use nnrp_core::state::session::{Policy, Verdicts};
use nnrp_core::state::{Side, Time};
use nnrp_core::{CommonHeader, Message, SessionNote, SessionNoteBody, SessionOpen};

const NOW: Time = Time(0);

fn carry(from: &mut Connection, to: &mut Connection) {
    let taken = to.handle_bytes(from.poll_output(), NOW);
    from.consume_output(taken);
}

#[test]
fn notes_go_over_connections() {
    let mut client = Connection::new(Side::Client, Config::new(Side::Client), || 1, NOW);
    let mut server = Connection::new(Side::Server, Config::new(Side::Server), || 2, NOW);
    let mut shelf = Shelf::default();
    let mut notes = Vec::new();
    client.hello(&Offer::new(), b"", NOW).unwrap();
    for _ in 0..6 {
        carry(&mut client, &mut server);
        while let Some(event) = server.poll_event() {
            match event {
                Event::Hello { offer, .. } => {
                    server.accept(&Abilities::default(), &offer, Verdict::Accept, 7, NOW).unwrap();
                }
                Event::SessionRequested { ticket, .. } => {
                    let (policy, verdicts) = (Policy::default(), Verdicts::default());
                    server.answer_open(ticket, &policy, verdicts, &mut shelf, NOW).unwrap();
                }
                Event::Message { packet } => {
                    if let Some(Message::SessionNote(note, body)) = packet.message() {
                        notes.push((note.severity, body.note.to_vec()));
                    }
                }
                _ => {}
            }
        }
        carry(&mut server, &mut client);
        while let Some(event) = client.poll_event() {
            match event {
                Event::Active => {
                    client.open_session(&SessionOpen::default(), b"", NOW).unwrap();
                }
                Event::SessionOpened { session_id, .. } => {
                    let note = |header: &CommonHeader, client: &mut Connection| {
                        let note = SessionNote { severity: 2, ..Default::default() };
                        client.send(header, &Message::SessionNote(note, SessionNoteBody { note: b"low on memory" }), NOW)
                    };
                    let of = |session_id| CommonHeader { session_id, ..Default::default() };
                    note(&of(session_id), &mut client).unwrap();
                    assert!(note(&of(session_id + 1), &mut client).is_err(), "no such session");
                    assert!(note(&of(0), &mut client).is_err(), "it is of a session");
                }
                _ => {}
            }
        }
    }
    assert_eq!(notes, [(2, b"low on memory".to_vec())]);
}
"#;

#[test]
fn a_new_message_goes_over_connections() {
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("core_edit");
    let changed = [("nnrp-core/registry/note.toml", NOTE), ("nnrp-core/tests/note.rs", PROGRAM)];
    let changed: BTreeMap<_, _> =
        changed.into_iter().map(|(name, text)| (copy.join(name), text.to_owned())).collect();
    mirror(&copy, false, &changed);
    let done = cargo()
        .args(["test", "--offline", "-p", "nnrp-core", "--test", "note", "--target-dir"])
        .arg(copy.join("target"))
        .current_dir(&copy)
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("RUSTFLAGS", "-D warnings")
        .output()
        .expect("cargo runs");
    let said = String::from_utf8_lossy(&done.stdout);
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success() && said.contains("1 passed"), "{said}\n{errors}");
}
