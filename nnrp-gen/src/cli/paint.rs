//! Colour, on terminals only.

use std::env;
use std::io::{self, IsTerminal};

/// Whether standard output and standard error take colour.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paints {
    pub out: Paint,
    pub err: Paint,
}

impl Paints {
    /// As the terminal and the environment want it.
    pub fn of_terminal() -> Self {
        let refused = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self {
            out: Paint(!refused && io::stdout().is_terminal()),
            err: Paint(!refused && io::stderr().is_terminal()),
        }
    }
}

/// How a piece of text looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Ink {
    #[default]
    Plain,
    Bold,
    Dim,
    Red,
    Green,
    Cyan,
}

/// Puts colour on text, or leaves it as it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paint(pub bool);

impl Paint {
    pub fn ink(self, ink: Ink, text: &str) -> String {
        let code = match ink {
            Ink::Bold => "1",
            Ink::Dim => "2",
            Ink::Red => "1;31",
            Ink::Green => "32",
            Ink::Cyan => "36",
            Ink::Plain => return text.to_owned(),
        };
        if self.0 && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    pub fn bold(self, text: &str) -> String {
        self.ink(Ink::Bold, text)
    }

    pub fn dim(self, text: &str) -> String {
        self.ink(Ink::Dim, text)
    }

    pub fn red(self, text: &str) -> String {
        self.ink(Ink::Red, text)
    }
}
