//! Formats a registry file, so that it reads like the tables of the document.
//!
//! - In an array with one inline table a line, equal keys stand under one another. Which keys get a column is decided
//!   in `columns.rs`: those that most rows have, and `doc`. What stands between two columns is filled up together, so
//!   that keys that exclude one another share a place.
//! - In lines of `key = value` that follow one another, the `=` stand under one another, and so do comments behind.
//! - One blank line stands in front of a header and the comments directly above it; several become one.
//! - Values and comments are taken over as they are. An array that fits no table stays as it is.
//!
//! Formatting twice changes nothing more, and the data that a file holds never changes.

mod columns;
mod lines;
mod same;
mod scan;

use std::fmt;
use std::ops::Range;

use toml::de::DeTable;

/// Why a text could not be formatted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FmtError {
    /// Where.
    pub at: Range<usize>,
    /// What is wrong there.
    pub message: String,
}

impl fmt::Display for FmtError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for FmtError {}

/// Formats the text of a registry file. Text that is no TOML is refused, with the first place that is wrong.
pub fn format(text: &str) -> Result<String, FmtError> {
    let before = parsed(text)?;
    let formatted = lines::write(&scan::statements(text));
    // The promise is not left to care alone: what is written is read again.
    match parsed(&formatted) {
        Ok(after) if same::tables(&before, &after) => Ok(formatted),
        _ => Err(FmtError {
            at: 0..text.len(),
            message: "formatting would change what this file says, so it was left as it is".to_owned(),
        }),
    }
}

fn parsed(text: &str) -> Result<DeTable<'_>, FmtError> {
    match DeTable::parse(text) {
        Ok(table) => Ok(table.into_inner()),
        Err(error) => {
            Err(FmtError { at: error.span().unwrap_or(0..text.len()), message: error.message().to_owned() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every case that the formatter knows, badly written, and as it should be. `UPDATE_EXPECTED=1 cargo test` writes
    /// the second file anew.
    const MESSY: &str = include_str!("samples/messy.toml");
    const NEAT: &str = include_str!("samples/neat.toml");

    #[test]
    fn a_messy_file_becomes_neat() {
        let formatted = format(MESSY).unwrap();
        if std::env::var_os("UPDATE_EXPECTED").is_some() {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/fmt/samples/neat.toml");
            std::fs::write(path, &formatted).unwrap();
        }
        assert_eq!(formatted, NEAT);
    }

    #[test]
    fn a_neat_file_stays() {
        assert_eq!(format(NEAT).as_deref(), Ok(NEAT));
        assert_eq!(format("").as_deref(), Ok(""));
        assert_eq!(format("\n\n").as_deref(), Ok(""));
        assert_eq!(format("# only this").as_deref(), Ok("# only this\n"));
    }

    #[test]
    fn line_ends_are_line_feeds_but_in_strings() {
        assert_eq!(format("\u{feff}a = 1\r\n\r\n\r\nbc = 2 # x\r\n").as_deref(), Ok("a = 1\n\nbc = 2 # x\n"));
        assert_eq!(format("a = '''x\r\ny'''\r\n").as_deref(), Ok("a = '''x\r\ny'''\n"));
        let lines = "a = [\r\n  { b = 1 },   \r\n  {  b = 20 }\r\n]";
        assert_eq!(format(lines).as_deref(), Ok("a = [\n  { b =  1 },\n  { b = 20 },\n]\n"));
    }

    #[test]
    fn what_is_no_toml_is_refused_at_a_place() {
        for (text, wrong) in
            [("a = 1\nb == 2\n", "="), ("[x", ""), ("a = 1\na = 2", "a"), ("é = 1", "é"), ("a = \"", "")]
        {
            let error = format(text).unwrap_err();
            assert!(text.get(error.at.clone()).is_some_and(|at| at.contains(wrong)), "{text:?} {error:?}");
            assert!(!error.message.is_empty());
        }
        let deep = std::format!("a = {}", "[".repeat(100_000));
        assert!(format(&deep).is_err());
        let deep = std::format!("a = {}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(format(&deep).is_err());
    }

    /// The comments of a text, without white space at their ends.
    fn comments(text: &str) -> Vec<&str> {
        let tokens = toml_parser::Source::new(text).lex();
        tokens
            .filter(|token| token.kind() == toml_parser::lexer::TokenKind::Comment)
            .map(|token| text[token.span().start()..token.span().end()].trim_end())
            .collect()
    }

    /// Whatever is TOML can be formatted, no comment is lost, and a second time changes nothing; whatever is not is refused. No text
    /// panics.
    #[test]
    fn random_changes_do_no_harm() {
        let pieces: Vec<&str> = vec![
            "\n",
            "\r\n",
            " ",
            ",",
            "[",
            "]",
            "{",
            "}",
            "=",
            "\"",
            "'",
            "#",
            "# c\n",
            ".",
            "a",
            "1",
            "\"\"\"",
            "'''",
            "é",
            "[[x]]\n",
            "a = 1\n",
            "{ b = 2 }",
            "\n\n\n",
            ",\n",
            "[\n",
            "\\",
            "\t",
            "-",
            "x = [\n  { a = 1 },\n]\n",
            "true",
        ];
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut below = |end: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 33) as usize % end.max(1)
        };
        let mut formatted = 0;
        for round in 0..6000 {
            // Statements picked at random, and then a few small changes.
            let source: Vec<&str> = if round % 2 == 0 { MESSY } else { NEAT }.split_inclusive("\n").collect();
            let start = below(source.len());
            let mut text = source[start..(start + 1 + below(30)).min(source.len())].concat();
            for _ in 0..below(4) {
                let at: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
                let from = below(at.len());
                let to = (from + below(3)).min(at.len() - 1);
                text.replace_range(at[from]..at[to], pieces[below(pieces.len())]);
            }
            match format(&text) {
                Ok(once) => {
                    formatted += 1;
                    assert_eq!(format(&once).as_deref(), Ok(once.as_str()), "{text}");
                    assert_eq!(comments(&once), comments(&text), "{text}");
                }
                Err(error) => {
                    assert!(DeTable::parse(&text).is_err(), "{text}\n{error}");
                    assert!(text.get(error.at.clone()).is_some(), "{text}\n{error:?}");
                }
            }
        }
        assert!(formatted > 500, "{formatted}");
    }
}
