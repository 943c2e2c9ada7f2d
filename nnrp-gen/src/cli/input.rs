//! What a command reads: an argument, standard input or a file.

use std::fs;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;

use crate::report::{Diagnostic, Report};
use crate::source::{Sources, Span};

use super::output::Failure;
use super::paint::Paint;

/// A text and how to call it in a diagnostic.
pub(super) struct Text {
    name: String,
    pub text: String,
}

/// The text of an argument, or of standard input where the argument is `-`.
pub(super) fn text(argument: &str) -> Result<Text, Failure> {
    if argument != "-" {
        return Ok(Text { name: "argument".to_owned(), text: argument.to_owned() });
    }
    match String::from_utf8(stdin()?) {
        Ok(text) => Ok(Text { name: "stdin".to_owned(), text }),
        Err(error) => {
            let good = error.utf8_error().valid_up_to();
            Err(Failure::bad(format!("standard input is no text: byte {good} is not UTF-8"))
                .help(Some("binary data is read with `--file -`".to_owned())))
        }
    }
}

/// The bytes of a file, or of standard input where it is `-`.
pub(super) fn bytes(file: &Path) -> Result<Vec<u8>, Failure> {
    if file == Path::new("-") {
        return stdin();
    }
    fs::read(file).map_err(|error| Failure::usage(format!("{}: {error}", file.display())))
}

fn stdin() -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    match io::stdin().lock().read_to_end(&mut bytes) {
        Ok(_) => Ok(bytes),
        Err(error) => Err(Failure::bad(format!("standard input: {error}"))),
    }
}

impl Text {
    /// What is wrong at some place of the text, drawn with its line.
    pub fn wrong(&self, at: Range<usize>, message: &str, help: Option<String>, paint: Paint) -> Failure {
        Failure::drawn(drawn(&self.name, &self.text, at, message, help, paint))
    }
}

/// A single problem of a text, drawn with its line.
pub(super) fn drawn(
    name: &str,
    text: &str,
    at: Range<usize>,
    message: &str,
    help: Option<String>,
    paint: Paint,
) -> String {
    let mut sources = Sources::default();
    let source = sources.add(name, text);
    let mut report = Report::default();
    report.add(Diagnostic::error(Span::new(source, at), message).maybe_help(help));
    report.draw(&sources, paint.0) + "\n"
}
