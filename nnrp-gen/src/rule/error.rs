//! What is wrong with a rule, and where.

use std::fmt;
use std::ops::Range;

/// One problem in the text of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleError {
    /// The bytes of the text that are wrong. Both ends are character boundaries.
    pub at: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What to write instead, where that is known.
    pub help: Option<String>,
}

impl RuleError {
    pub(crate) fn new(at: Range<usize>, message: impl Into<String>) -> Self {
        RuleError { at, message: message.into(), help: None }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.help {
            Some(help) => write!(f, " ({help})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for RuleError {}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::super::{certainty, parse, samples, truth};
    use super::RuleError;

    /// Rules that are wrong, and all that is said about each. `UPDATE_EXPECTED=1 cargo test` writes the file anew.
    const EXPECTED: &str = include_str!("errors.txt");

    fn errors(text: &str) -> Vec<RuleError> {
        let names = samples::wide();
        match parse(text) {
            Err(error) => vec![error],
            Ok(expr) => match truth(&expr, &names) {
                Err(errors) => errors,
                Ok(truth) => vec![RuleError::new(0..text.len(), format!("{:?}", certainty(&truth, &names)))],
            },
        }
    }

    fn drawn(text: &str) -> String {
        let mut out = format!("{text}\n");
        for error in errors(text) {
            let before = text[..error.at.start].chars().count();
            let under = text[error.at.clone()].chars().count().max(1);
            writeln!(out, "{}{} {}", " ".repeat(before), "^".repeat(under), error.message).unwrap();
            if let Some(help) = error.help {
                writeln!(out, "{}help: {help}", " ".repeat(before)).unwrap();
            }
        }
        out
    }

    #[test]
    fn say_what_is_wrong_and_where() {
        let cases = EXPECTED.split("\n\n").filter_map(|case| case.lines().next());
        let actual: Vec<String> = cases.map(drawn).collect();
        let actual = actual.join("\n");
        if std::env::var_os("UPDATE_EXPECTED").is_some() {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/rule/errors.txt");
            std::fs::write(path, &actual).unwrap();
        }
        assert_eq!(actual, EXPECTED);
    }

    #[test]
    fn depth_and_length_have_an_end() {
        let message = |text: &str| parse(text).unwrap_err().message;
        for deep in ["(".repeat(100_000), "!".repeat(100_000), "-".repeat(100_000), "!(".repeat(100_000)] {
            assert_eq!(message(&deep), "a rule nests at most 64 levels");
        }
        assert_eq!(message(&format!("small == 1{}", " + 1".repeat(100))), "a rule nests at most 64 levels");
        let long = vec!["small == 1"; 1000].join(" && ");
        assert_eq!(message(&long), "a rule has at most 1024 words, numbers and signs");
        let fine = (0..200).map(|n| format!("small != {n}")).collect::<Vec<_>>().join(" && ");
        assert_eq!(errors(&fine)[0].message, "Depends");
        let nested = format!("{}fatal{}", "(".repeat(64), ")".repeat(64));
        assert_eq!(errors(&nested)[0].message, "Depends");
    }
}
