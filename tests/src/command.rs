//! Runs the real `nnrp-gen` command.

use std::env;
use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// What the command did.
#[derive(Debug, PartialEq, Eq)]
pub struct Ran {
    /// Its exit status.
    pub code: i32,
    /// What it printed to standard output.
    pub out: String,
    /// What it printed to standard error.
    pub err: String,
}

impl Ran {
    /// What it printed, where it went well.
    #[track_caller]
    pub fn good(self) -> String {
        assert_eq!((self.code, self.err.as_str()), (0, ""), "{}", self.out);
        self.out
    }

    /// All of it, for a snapshot.
    pub fn all(&self) -> String {
        let part = |name: &str, text: &str| match text {
            "" => String::new(),
            text => format!("--- {name}\n{text}{}", if text.ends_with('\n') { "" } else { "\n" }),
        };
        let (out, err) = (part("stdout", &self.out), part("stderr", &self.err));
        format!("{out}{err}--- exit status {}\n", self.code)
    }
}

/// Where the command is, built once a test program with the profile of the tests.
pub fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        let profile = build(&["--package", "nnrp-gen", "--bin", "nnrp-gen"]);
        profile.join(format!("nnrp-gen{}", env::consts::EXE_SUFFIX))
    })
}

/// The same of an example program of the core.
pub fn example(name: &str) -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| build(&["--package", "nnrp-core", "--examples"]).join("examples"));
    folder.join(format!("{name}{}", env::consts::EXE_SUFFIX))
}

/// Builds with the profile of the tests, and gives the folder that has it then.
fn build(what: &[&str]) -> PathBuf {
    // The test stands in `target/PROFILE/deps`.
    let test = env::current_exe().expect("a test knows where it is");
    let profile = test.ancestors().nth(2).expect("tests stand in target/PROFILE/deps");
    let target = profile.parent().expect("profiles stand in a target folder");
    let mut build = cargo();
    build.args(["build", "--quiet"]).args(what).arg("--target-dir").arg(target);
    if profile.file_name() == Some(OsStr::new("release")) {
        build.arg("--release");
    }
    let status = build.current_dir(crate::registry::here()).status().expect("cargo runs");
    assert!(status.success(), "{what:?} does not build");
    profile.into()
}

/// The cargo that runs the tests.
pub fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Runs the command in the folder of the workspace, with nothing on standard input.
pub fn run(arguments: &[&str]) -> Ran {
    run_with(arguments, b"")
}

/// Runs the command in the folder of the workspace, with that on standard input.
pub fn run_with(arguments: &[&str], input: &[u8]) -> Ran {
    run_in(&crate::registry::here().join(".."), arguments, input)
}

/// Runs the command in some folder.
pub fn run_in(folder: &Path, arguments: &[&str], input: &[u8]) -> Ran {
    let mut child = Command::new(binary())
        .args(arguments)
        .current_dir(folder)
        .env_remove("NO_COLOR")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs");
    let mut stdin = child.stdin.take().expect("it was asked for");
    let input = input.to_vec();
    // Beside reading, so that neither side waits for the other.
    let writer = std::thread::spawn(move || {
        // A command that does not read its input closes it.
        let _ = stdin.write_all(&input);
    });
    let done = child.wait_with_output().expect("the command ends");
    writer.join().expect("the writer ends");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it prints UTF-8").replace("\r\n", "\n");
    Ran {
        code: done.status.code().expect("it was not killed"),
        out: text(done.stdout),
        err: text(done.stderr),
    }
}
