//! The example programs `serve` and `chat`, as processes of their own.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::Command;
use std::thread;

use nnrp_tests::command::example;
use nnrp_tests::program::Program;

/// A server, and where it listens.
fn serve(address: &str) -> (Program, String) {
    let mut server = Program::start(&example("serve"), &[address]);
    let line = server.wait_for("listening on ");
    let address = line.trim_start_matches("listening on ").into();
    (server, address)
}

fn chat(address: &str, questions: &[&str]) -> Program {
    let arguments: Vec<&str> = [address].into_iter().chain(questions.iter().copied()).collect();
    Program::start(&example("chat"), &arguments)
}

/// What a whole conversation prints.
const TALK: &str = "\
interactive session is open
background session is open

> Why is the sky blue?
[executing] Air scatters [27 %] blue light [52 %] more than [75 %] red light. [100 %]
(completed)

> Count to 1000.
[executing] 1 2 3 4 5
(cancelled)

> Which planets are there?
[executing] Mercury, Venus, Earth, [33 %] Mars, Jupiter, [56 %] Saturn, Uranus [80 %] and Neptune. [100 %]
(completed)

> Count to 12.
[executing] 1 2 3 4 [26 %] 5 6 7 [50 %] 8 9 10 [76 %] 11 12 [100 %]
(completed)

closed";

#[track_caller]
fn talks(client: Program) {
    assert_eq!(client.wait(), (true, TALK.into(), String::new()));
}

#[test]
fn a_conversation_over_tcp() {
    let (mut server, address) = serve("127.0.0.1:0");
    talks(chat(&address, &[]));
    server.wait_for("client 1: gone");
    let asked: Vec<&str> =
        server.seen.iter().filter_map(|line| line.split_once(": \"")).map(|it| it.1).collect();
    assert_eq!(
        asked,
        ["Which planets are there?\"", "Count to 12.\"", "Why is the sky blue?\"", "Count to 1000.\""]
    );
}

#[cfg(unix)]
#[test]
fn a_conversation_over_a_unix_socket() {
    let path = std::env::temp_dir().join(format!("nnrp-examples-{}.sock", std::process::id()));
    let address = format!("unix:{}", path.display());
    let (mut server, told) = serve(&address);
    assert_eq!(told, address);
    talks(chat(&address, &[]));
    server.kill();
    // What a server leaves behind is not in the way of the next one.
    assert!(path.exists());
    let (_server, _) = serve(&address);
    talks(chat(&address, &[]));
    std::fs::remove_file(path).expect("it is there");
}

#[test]
fn several_clients_at_once() {
    let (mut server, address) = serve("127.0.0.1:0");
    let clients = [chat(&address, &[]), chat(&address, &[]), chat(&address, &[])];
    clients.into_iter().for_each(talks);
    for _ in 0..3 {
        server.wait_for(": gone");
    }
}

#[test]
fn questions_of_ones_own() {
    let (_server, address) = serve("127.0.0.1:0");
    let (good, out, err) = chat(&address, &["Count to 3.", "What is love?"]).wait();
    assert_eq!((good, err.as_str()), (true, ""));
    let talk = out.split_once("\n\n").expect("more than the sessions").1;
    assert_eq!(
        talk,
        "> Count to 3.\n[executing] 1 2 [60 %] 3 [100 %]\n(completed)\n\n\
         > What is love?\n[executing] That I [31 %] do not [68 %] know. [100 %]\n(completed)\n\nclosed"
    );
}

#[test]
fn a_client_that_is_killed_leaves_the_others_alone() {
    let (mut server, address) = serve("127.0.0.1:0");
    let mut killed = chat(&address, &["Count to 10000."]);
    server.wait_for("\"Count to 10000.\"");
    let other = chat(&address, &[]);
    killed.kill();
    // Nobody takes it back, but it could be.
    let lost = server.wait_for(": lost (");
    assert!(lost.ends_with(", answers that wait: 1"), "{lost}");
    talks(other);
}

/// Takes one client to the server, cuts it off after so many bytes of the server's, then takes it there for good. The
/// server learns of the cut only where it is not `quiet`.
fn cutter(server: &str, after: usize, quiet: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address").to_string();
    let server = server.to_owned();
    thread::spawn(move || {
        let mut held = Vec::new();
        for (limit, quiet) in [(after, quiet), (usize::MAX, false)] {
            let (client, _) = listener.accept().expect("a client");
            let upstream = TcpStream::connect(&server).expect("the server");
            let copy = |socket: &TcpStream| socket.try_clone().expect("a socket");
            let up = (copy(&client), copy(&upstream));
            let there = thread::spawn(move || {
                carry(&up.0, &up.1, usize::MAX);
                if !quiet {
                    // It may be gone already, as the client below.
                    let _ = up.1.shutdown(Shutdown::Both);
                }
            });
            carry(&upstream, &client, limit);
            let _ = client.shutdown(Shutdown::Both);
            there.join().expect("it ends");
            held.push(upstream);
        }
    });
    address
}

fn carry(mut from: &TcpStream, mut to: &TcpStream, limit: usize) {
    let mut left = limit;
    let mut buffer = [0; 512];
    while left > 0 {
        let size = left.min(buffer.len());
        let Ok(came @ 1..) = from.read(&mut buffer[..size]) else { break };
        if to.write_all(&buffer[..came]).is_err() {
            break;
        }
        left -= came;
    }
}

/// Without how far it is: that is told once and may be lost.
fn words(talk: &str) -> String {
    let talk = talk.replace("[executing] ", "");
    let pieces = talk.split(" [").map(|piece| piece.split_once(" %]").map_or(piece, |(_, rest)| rest));
    pieces.collect()
}

#[test]
fn a_client_whose_connection_is_cut_comes_back_and_misses_nothing() {
    let (mut server, address) = serve("127.0.0.1:0");
    // In the first word, in the middle of an answer, and in the middle of a packet, wherever these are.
    for after in [700, 1_111, 1_500, 2_222] {
        let (good, out, err) = chat(&cutter(&address, after, false), &[]).wait();
        assert!(good, "{after}: {out}{err}");
        assert_eq!(words(&out), words(TALK), "{after}");
        assert!(err.starts_with("\nlost the connection"), "{after}: {err}");
        server.wait_for(": lost (");
        server.wait_for("is back");
        server.wait_for(": gone");
    }
}

#[test]
fn a_client_comes_back_before_the_server_knows_that_it_was_gone() {
    let (mut server, address) = serve("127.0.0.1:0");
    let (good, out, err) = chat(&cutter(&address, 1_111, true), &[]).wait();
    assert!(good, "{out}{err}");
    assert_eq!(words(&out), words(TALK));
    assert!(err.starts_with("\nlost the connection"), "{err}");
    server.wait_for("client 2: is back");
    assert!(!server.seen.iter().any(|line| line.contains("lost (")), "{:?}", server.seen);
    server.wait_for("client 2: gone");
}

#[test]
fn a_server_that_starts_anew_does_not_know_sessions_of_the_one_before() {
    let (mut server, address) = serve("127.0.0.1:0");
    let client = chat(&address, &["Count to 10000."]);
    server.wait_for("\"Count to 10000.\"");
    server.kill();
    let (mut server, _) = serve(&address);
    let (good, _, err) = client.wait();
    assert!(!good && err.ends_with("error: no session: resume_rejected\n"), "{err}");
    server.wait_for("client 1: hello from");
}

#[test]
fn bytes_of_something_else_end_only_their_connection() {
    let (mut server, address) = serve("127.0.0.1:0");
    let mut stranger = TcpStream::connect(&address).expect("the server");
    stranger.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n").expect("it is there");
    let mut answer = Vec::new();
    stranger.read_to_end(&mut answer).expect("the server hangs up");
    server.wait_for("client 1: gone");
    talks(chat(&address, &[]));
}

#[test]
fn without_a_server_the_client_says_so() {
    // A port that was free a moment ago.
    let free = TcpListener::bind("127.0.0.1:0").expect("a free port").local_addr().expect("an address");
    let (good, out, err) = chat(&free.to_string(), &[]).wait();
    assert!(!good && out.is_empty(), "{out}");
    assert!(err.starts_with(&format!("error: {free}: ")), "{err}");
}

/// Runs an example to its end: its exit status, and what it printed where.
fn ended(name: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
    let done = Command::new(example(name)).args(arguments).output().expect("the program runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it prints UTF-8").replace("\r\n", "\n");
    (done.status.code(), text(done.stdout), text(done.stderr))
}

#[test]
fn they_say_how_they_are_used() {
    for (name, usage) in
        [("serve", "Usage: serve [ADDRESS]\n"), ("chat", "Usage: chat [ADDRESS [QUESTION]...]\n")]
    {
        for arguments in [&["--help"][..], &["-h"], &["127.0.0.1:7410", "--help"]] {
            let (code, out, err) = ended(name, arguments);
            assert_eq!((code, err.as_str()), (Some(0), ""), "{name} {arguments:?}");
            assert!(out.contains(usage) && out.contains("HOST:PORT or unix:PATH"), "{out}");
        }
    }
}

#[test]
fn arguments_that_make_no_sense_are_named() {
    let wrong: &[(&str, &str)] = &[
        ("--port", "there is no option `--port`"),
        ("localhost", "`localhost` is no address: no port, as in `127.0.0.1:7410`"),
        (":7410", "`:7410` is no address: no host in front of the port"),
        ("localhost:http", "`localhost:http` is no address: the port is no number up to 65535"),
        ("localhost:70000", "`localhost:70000` is no address: the port is no number up to 65535"),
        ("", "`` is no address: no port, as in `127.0.0.1:7410`"),
        #[cfg(unix)]
        ("unix:", "`unix:` is no address: no path behind `unix:`"),
    ];
    for name in ["serve", "chat"] {
        for (argument, said) in wrong {
            let (code, out, err) = ended(name, &[argument]);
            assert_eq!((code, out.as_str()), (Some(2), ""), "{name} {argument}");
            assert!(err.starts_with(&format!("error: {said}\n\n")) && err.contains("Usage: "), "{err}");
        }
    }
    let (code, _, err) = ended("serve", &["127.0.0.1:0", "more"]);
    assert_eq!(code, Some(2));
    assert!(err.starts_with("error: `more` is one argument too many\n"), "{err}");
    // What is well written and not there is another matter.
    assert_eq!(ended("serve", &["192.0.2.1:7410"]).0, Some(1));
}
