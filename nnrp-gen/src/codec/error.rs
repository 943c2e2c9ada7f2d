//! Why a value cannot become bytes.

use std::fmt;

use super::Fault;

/// Why a value cannot become bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EncodeError {
    /// It does not fit the layout: everything that does not, in the order of the value.
    Value(Vec<Problem>),
    /// It fits, and decoding would refuse the bytes.
    Fault(Fault),
}

/// Something in a value that does not fit its layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where in the value, such as `key.cache_namespace` or `parts[2]`; empty for all of it.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// What would mend it, where that is known.
    pub help: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(out, "`{}`: ", self.path)?;
        }
        out.write_str(&self.message)?;
        match &self.help {
            Some(help) => write!(out, "; {help}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for EncodeError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EncodeError::Value(problems) => {
                for (at, problem) in problems.iter().enumerate() {
                    let between = if at == 0 { "" } else { "\n" };
                    write!(out, "{between}{problem}")?;
                }
                Ok(())
            }
            EncodeError::Fault(fault) => fault.fmt(out),
        }
    }
}

impl std::error::Error for EncodeError {}

impl From<Fault> for EncodeError {
    fn from(fault: Fault) -> Self {
        EncodeError::Fault(fault)
    }
}
