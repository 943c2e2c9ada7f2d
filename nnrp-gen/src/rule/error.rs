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
