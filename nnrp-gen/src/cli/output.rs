//! How a command ends: what it prints, where, and its exit status.

use std::io::{self, Write};
use std::process::ExitCode;

use crate::cut::cut;

use super::paint::Paint;

/// Exit status where the registry or the data is bad.
pub(super) const BAD: u8 = 1;

/// Exit status of wrong usage.
pub(super) const USAGE: u8 = 2;

/// What a command that ran prints, and its exit status.
#[derive(Default)]
pub(super) struct Done {
    /// The result, for standard output.
    pub out: String,
    /// What is wrong, for standard error.
    pub err: String,
    /// The exit status.
    pub code: u8,
}

impl Done {
    /// A good end with this result.
    pub fn good(out: impl Into<String>) -> Self {
        Self { out: out.into(), ..Self::default() }
    }

    /// Prints, and gives the exit status. A reader that went away is no error: it saw what it wanted.
    pub fn finish(self) -> ExitCode {
        let mut code = self.code;
        if let Err(error) = print(io::stdout().lock(), &self.out)
            && error.kind() != io::ErrorKind::BrokenPipe
        {
            // Where standard error is gone too, the exit status still tells.
            let _ = writeln!(io::stderr(), "error: standard output: {error}");
            code = code.max(BAD);
        }
        let _ = print(io::stderr().lock(), &self.err);
        ExitCode::from(code)
    }
}

fn print(mut to: impl Write, text: &str) -> io::Result<()> {
    to.write_all(text.as_bytes())?;
    if !text.is_empty() && !text.ends_with('\n') {
        to.write_all(b"\n")?;
    }
    to.flush()
}

/// Why a command did not run to its end.
#[derive(Debug)]
pub(super) struct Failure {
    /// What to say; empty where it is drawn already.
    message: String,
    /// Drawn diagnostics.
    drawn: String,
    help: Option<String>,
    code: u8,
}

impl Failure {
    /// The registry or the data is bad.
    pub fn bad(message: impl Into<String>) -> Self {
        Self { message: message.into(), drawn: String::new(), help: None, code: BAD }
    }

    /// The arguments name something that is not there.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { code: USAGE, ..Self::bad(message) }
    }

    /// The registry or the data is bad, and the diagnostics say how.
    pub fn drawn(drawn: String) -> Self {
        Self { drawn, ..Self::bad("") }
    }

    /// Says what would mend it, where somebody knows.
    pub fn help(mut self, help: Option<String>) -> Self {
        self.help = help;
        self
    }

    /// As the end of a command.
    pub fn done(self, paint: Paint) -> Done {
        let mut err = self.drawn;
        if !self.message.is_empty() {
            err.push_str(&error_lines(&self.message, paint));
        }
        if let Some(help) = self.help {
            err.push_str(&format!("{}: {}\n", paint.bold("help"), cut(&help)));
        }
        Done { out: String::new(), err, code: self.code }
    }
}

/// Each line of a message as an error.
pub(super) fn error_lines(message: &str, paint: Paint) -> String {
    cut(message).lines().map(|line| format!("{}: {line}\n", paint.red("error"))).collect()
}
