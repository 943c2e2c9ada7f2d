//! Every command of the README is run, and prints what the README says.
//!
//! `UPDATE_README=1 cargo test -p nnrp-tests --test readme` writes what they print into it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use nnrp_tests::command::{cargo, run_in};
use nnrp_tests::program::Program;
use nnrp_tests::registry::{folder, here};

/// A folder with a copy of the registry, to edit as the README does.
fn workplace() -> PathBuf {
    let place = std::env::temp_dir().join(format!("nnrp-readme-{}", std::process::id()));
    let registry = place.join("registry");
    fs::create_dir_all(&registry).expect("a temporary folder");
    for entry in fs::read_dir(folder()).expect("the registry") {
        let path = entry.expect("a file").path();
        fs::copy(&path, registry.join(path.file_name().expect("a name"))).expect("it can be copied");
    }
    place
}

/// Applies the rows of a diff to the file that its first line names. Where there is none, they are all of it.
fn edit(place: &Path, diff: &str) {
    let mut lines = diff.lines();
    let name =
        lines.next().and_then(|line| line.strip_prefix("--- ")).expect("a diff starts with `--- file`");
    let path = place.join(name);
    let side = |kept: char| -> String {
        let lines = diff.lines().skip(1).filter(|line| line.starts_with(' ') || line.starts_with(kept));
        lines.map(|line| format!("{}\n", &line[1..])).collect()
    };
    let (old, new) = (side('-'), side('+'));
    let Ok(mut text) = fs::read_to_string(&path) else {
        assert_eq!(old, "", "there is no {name}");
        return fs::write(path, new).expect("it can be written");
    };
    assert_eq!(text.matches(&old).count(), 1, "{name} does not hold\n{old}");
    text = text.replace(&old, &new);
    fs::write(path, text).expect("it can be written");
}

/// The words of a command line; single quotes hold words together.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for letter in line.chars() {
        match letter {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            _ => words.last_mut().expect("there is one").push(letter),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Where the README's server listens. The real one takes a free port.
const ADDRESS: &str = "127.0.0.1:7410";

/// A server that a command with `&` left running, and its address.
struct Server {
    _program: Program,
    address: String,
}

/// Starts a server, and gives the line that says where it listens.
fn start(words: &[&str], server: &mut Option<Server>) -> String {
    let words: Vec<&str> =
        words.iter().map(|word| if *word == ADDRESS { "127.0.0.1:0" } else { word }).collect();
    // What takes long goes first.
    let build = words.iter().skip(1).take_while(|word| **word != "--");
    assert!(cargo().arg("build").args(build).current_dir(here()).status().expect("cargo runs").success());
    let mut program = Program::run(cargo().args(words).current_dir(here()));
    let line = program.wait_for("listening on ");
    let address = line.trim_start_matches("listening on ").to_owned();
    let line = line.replace(&address, ADDRESS);
    *server = Some(Server { _program: program, address });
    line
}

/// What a command prints; nothing for the one that runs this test.
fn print(place: &Path, line: &str, server: &mut Option<Server>) -> Option<String> {
    let words = words(line);
    let there = server.as_ref().map_or(ADDRESS, |server| &server.address);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["cargo", words @ .., "&"] => Some(start(words, server)),
        ["cargo", "test", "--workspace"] => None,
        ["cargo", "run", "-q", "-p", "nnrp-gen", "--", arguments @ ..] => {
            let ran = run_in(place, arguments, b"");
            Some(ran.out + &ran.err)
        }
        ["cargo", "run", "-q", arguments @ ..] => {
            let arguments = arguments.iter().map(|word| if *word == ADDRESS { there } else { word });
            let ran =
                cargo().args(["run", "-q"]).args(arguments).current_dir(here()).output().expect("cargo runs");
            assert!(ran.status.success(), "{line}: {}", String::from_utf8_lossy(&ran.stderr));
            Some(String::from_utf8(ran.stdout).expect("it prints UTF-8"))
        }
        ["cc", arguments @ .., "&&", program] => {
            let built = Command::new("cc").args(arguments).current_dir(place).status().expect("cc runs");
            assert!(built.success(), "{line}");
            let ran = Command::new(place.join(program)).output().expect("it runs");
            Some(String::from_utf8(ran.stdout).expect("it prints UTF-8"))
        }
        _ => panic!("nobody tests `{line}`"),
    }
}

#[test]
fn every_command_prints_what_it_says() {
    let path = here().join("../README.md");
    let readme = fs::read_to_string(&path).expect("the README");
    let place = workplace();
    let mut made = String::new();
    let mut rest = readme.as_str();
    let mut server = None;
    while let Some(start) = rest.find("\n```") {
        let (text, block) = rest.split_at(start + 1);
        made.push_str(text);
        let (kind, body) = block[3..].split_once('\n').expect("a block has lines");
        let (body, behind) = body.split_once("```\n").expect("a block ends");
        match kind {
            "diff" => edit(&place, body),
            // Built under every warning where the C header is tested.
            "c" => fs::write(place.join("example.c"), body).expect("a file for the example"),
            "console" => {
                let command =
                    body.lines().next().and_then(|line| line.strip_prefix("$ ")).expect("a command");
                let printed =
                    match command.starts_with("cc ") && Command::new("cc").arg("-v").output().is_err() {
                        // Like all tests of C: without a compiler it stays as it is.
                        true => body[2 + command.len()..].trim_start().to_owned(),
                        false => print(&place, command, &mut server).unwrap_or_default(),
                    };
                made.push_str(
                    &format!("```console\n$ {command}\n{}\n```\n", printed.trim_end())
                        .replace("\n\n```", "\n```"),
                );
                rest = behind;
                continue;
            }
            _ => {}
        }
        made.push_str(&format!("```{kind}\n{body}```\n"));
        rest = behind;
    }
    made.push_str(rest);
    // What it says of Rust is so.
    let rust = run_in(&place, &["emit", "rust"], b"").good();
    assert!(
        rust.contains("const INTERACTIVE_ONLY") && rust.contains("SessionNote(SessionNote, SessionNoteBody")
    );
    fs::remove_dir_all(place).expect("it was made");
    if std::env::var_os("UPDATE_README").is_some() {
        fs::write(path, made).expect("the README can be written");
    } else {
        assert_eq!(readme, made, "the README says what is not so; see the top of this test");
    }
}
