//! A program that runs beside the test, and ends with it.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// So long at most for anything.
const PATIENCE: Duration = Duration::from_secs(60);

/// A program that runs, with what it prints.
pub struct Program {
    child: Child,
    lines: Receiver<String>,
    errors: Option<thread::JoinHandle<String>>,
    /// The lines so far.
    pub seen: Vec<String>,
}

impl Program {
    /// Starts it.
    pub fn start(path: &Path, arguments: &[&str]) -> Self {
        Self::run(Command::new(path).args(arguments))
    }

    /// Starts a command.
    pub fn run(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program runs");
        let out = child.stdout.take().expect("it was asked for");
        let mut err = child.stderr.take().expect("it was asked for");
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(out).lines() {
                // A test that has ended listens no more.
                let _ = sender.send(line.expect("it prints UTF-8"));
            }
        });
        let errors = thread::spawn(move || {
            let mut text = String::new();
            err.read_to_string(&mut text).expect("it prints UTF-8");
            text
        });
        Self { child, lines, errors: Some(errors), seen: Vec::new() }
    }

    /// Waits for a line that has this in it.
    #[track_caller]
    pub fn wait_for(&mut self, what: &str) -> String {
        let end = Instant::now() + PATIENCE;
        loop {
            match self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    self.seen.push(line.clone());
                    if line.contains(what) {
                        return line;
                    }
                }
                Err(RecvTimeoutError::Timeout) => panic!("no {what:?} in {:?}", self.seen),
                Err(RecvTimeoutError::Disconnected) => {
                    let errors = self.errors.take().map(thread::JoinHandle::join);
                    panic!("it ended without {what:?}: {:?}, {errors:?}", self.seen);
                }
            }
        }
    }

    /// Waits for its end. Gives whether it went well, what it printed, and what it printed to standard error.
    #[track_caller]
    pub fn wait(mut self) -> (bool, String, String) {
        let end = Instant::now() + PATIENCE;
        loop {
            match self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) => self.seen.push(line),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("it does not end: {:?}", self.seen),
            }
        }
        let status = self.child.wait().expect("it has ended");
        let errors = self.errors.take().map(|errors| errors.join().expect("it was read"));
        (status.success(), self.seen.join("\n"), errors.unwrap_or_default())
    }

    /// Kills it.
    pub fn kill(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.kill();
    }
}
