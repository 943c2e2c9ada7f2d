//! Cuts the text of a rule into words, numbers and signs.

use std::ops::Range;

use super::ast::{Arith, Cmp};
use super::error::RuleError;

/// A piece of the text.
#[derive(Clone, Debug)]
pub(super) struct Token<'t> {
    pub(super) at: Range<usize>,
    pub(super) kind: Kind<'t>,
}

/// What a [`Token`] is.
#[derive(Clone, Debug)]
pub(super) enum Kind<'t> {
    Number(u64),
    Word(&'t str),
    Arith(Arith),
    Cmp(Cmp),
    And,
    Or,
    Not,
    Dot,
    Open,
    Close,
    End,
    /// Not part of the language. The parser reports it when it gets there, so that errors come in text order.
    Bad(RuleError),
}

/// A place in a text from which tokens are read on demand. A copy looks ahead.
#[derive(Clone, Copy)]
pub(super) struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

/// Signs of the language, longer ones before their own beginnings.
const SIGNS: [(&str, Kind<'static>); 16] = [
    ("==", Kind::Cmp(Cmp::Equal)),
    ("!=", Kind::Cmp(Cmp::Differ)),
    ("<=", Kind::Cmp(Cmp::AtMost)),
    (">=", Kind::Cmp(Cmp::AtLeast)),
    ("&&", Kind::And),
    ("||", Kind::Or),
    ("<", Kind::Cmp(Cmp::Less)),
    (">", Kind::Cmp(Cmp::Greater)),
    ("!", Kind::Not),
    ("+", Kind::Arith(Arith::Add)),
    ("-", Kind::Arith(Arith::Subtract)),
    ("*", Kind::Arith(Arith::Multiply)),
    ("%", Kind::Arith(Arith::Remainder)),
    (".", Kind::Dot),
    ("(", Kind::Open),
    (")", Kind::Close),
];

/// Signs of other languages and what to write instead, longer ones before their own beginnings and before ours.
const FOREIGN: [(&str, &str); 25] = [
    ("===", "write `==`"),
    ("!==", "write `!=`"),
    ("<=>", "compare with `<`, `==` or `>`"),
    ("<>", "write `!=`"),
    ("=<", "write `<=`"),
    ("=>", "write `>=`, or give the condition as `when`"),
    ("->", "give the condition as `when`"),
    ("<<", "shifts are not for rules; write the number, as in `0x10`"),
    (">>", "shifts are not for rules; name a bit, as in `flags.partial`"),
    ("++", "write `+`"),
    ("**", "write `*`"),
    ("=", "write `==`"),
    ("&", "write `&&`; a bit is named, as in `flags.partial`"),
    ("|", "write `||`; a bit is named, as in `flags.partial`"),
    ("^", "write `!=` between two conditions"),
    ("~", "write `!`"),
    ("/", "division is not for rules; multiply the other side, or use `%`"),
    ("\"", "names and values are written without quotes"),
    ("'", "names and values are written without quotes"),
    ("[", "group with parentheses"),
    ("]", "group with parentheses"),
    ("{", "group with parentheses"),
    ("}", "group with parentheses"),
    (";", "join conditions with `&&`, or write two rules"),
    (",", "join conditions with `&&`, or write two rules"),
];

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Lexer { text, at: 0 }
    }

    pub(super) fn next(&mut self) -> Token<'t> {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
        let start = self.at;
        let rest = self.rest();
        let Some(first) = rest.chars().next() else {
            return Token { at: start..start, kind: Kind::End };
        };
        if first.is_ascii_digit() {
            return self.number();
        }
        if first.is_ascii_alphabetic() || first == '_' {
            let word = prefix(rest, |c| c.is_ascii_alphanumeric() || c == '_');
            return self.take(word.len(), Kind::Word(word));
        }
        for (sign, help) in FOREIGN {
            // `&&` and the like begin with a foreign sign but are ours; `===` begins with ours but is foreign.
            let ours = SIGNS.iter().any(|(own, _)| own.len() > sign.len() && rest.starts_with(own));
            if !ours && rest.starts_with(sign) {
                return self.bad(sign.len(), format!("`{sign}` is no sign of the rule language"), help);
            }
        }
        for (sign, kind) in SIGNS {
            if rest.starts_with(sign) {
                return self.take(sign.len(), kind);
            }
        }
        let what = first.escape_debug();
        let help = if first.is_alphabetic() { "a name has only ASCII letters, digits and `_`" } else { "" };
        self.bad(first.len_utf8(), format!("`{what}` is no sign of the rule language"), help)
    }

    fn number(&mut self) -> Token<'t> {
        let rest = self.rest();
        let run = prefix(rest, |c| c.is_ascii_alphanumeric() || c == '_');
        let after = rest.get(run.len()..).unwrap_or("");
        if after.strip_prefix('.').is_some_and(|tail| tail.starts_with(|c: char| c.is_ascii_digit())) {
            let fraction = prefix(after.get(1..).unwrap_or(""), |c| c.is_ascii_alphanumeric() || c == '_');
            return self.bad(
                run.len() + 1 + fraction.len(),
                "a rule has only integers",
                "floats are not for rules",
            );
        }
        let (digits, radix, kind) = match run.as_bytes() {
            [b'0', b'x' | b'X', ..] => (run.get(2..).unwrap_or(""), 16, "hexadecimal"),
            [b'0', b'b' | b'B', ..] => (run.get(2..).unwrap_or(""), 2, "binary"),
            _ => (run, 10, "decimal"),
        };
        if let Some(wrong) = digits.chars().find(|c| *c != '_' && !c.is_digit(radix)) {
            let help = match wrong {
                _ if radix == 2 && wrong.is_ascii_digit() => "binary digits are 0 and 1",
                'o' => "numbers are decimal, `0x…` or `0b…`",
                'u' | 'U' | 'l' | 'L' | 'i' => "a number has no suffix",
                _ => "a name does not begin with a digit",
            };
            return self.bad(run.len(), format!("`{run}` is no {kind} number: `{wrong}` is no digit"), help);
        }
        if digits.is_empty() || digits.starts_with('_') || digits.ends_with('_') || digits.contains("__") {
            let help = if digits.is_empty() { "" } else { "`_` stands alone between two digits" };
            return self.bad(run.len(), format!("`{run}` is no {kind} number"), help);
        }
        if radix == 10 && digits.len() > 1 && digits.starts_with('0') {
            let help = "leave out the leading zero; octal is written in another base";
            return self.bad(run.len(), format!("`{run}` begins with 0"), help);
        }
        match u64::from_str_radix(&digits.replace('_', ""), radix) {
            Ok(value) => self.take(run.len(), Kind::Number(value)),
            Err(_) => self.bad(run.len(), format!("`{run}` does not fit 64 bits"), ""),
        }
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn take(&mut self, length: usize, kind: Kind<'t>) -> Token<'t> {
        let start = self.at;
        self.at += length;
        Token { at: start..self.at, kind }
    }

    fn bad(&mut self, length: usize, message: impl Into<String>, help: &str) -> Token<'t> {
        let mut error = RuleError::new(self.at..self.at + length, message);
        if !help.is_empty() {
            error = error.help(help);
        }
        self.take(length, Kind::Bad(error))
    }
}

/// The beginning of `text` whose characters all pass.
fn prefix(text: &str, pass: impl Fn(char) -> bool) -> &str {
    let end = text.find(|c| !pass(c)).unwrap_or(text.len());
    text.get(..end).unwrap_or("")
}
