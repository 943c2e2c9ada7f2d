//! Writes statements as lines.

use super::columns;
use super::scan::{Line, Statement, Value};

/// The text of a whole file.
pub(super) fn write(statements: &[Statement<'_>]) -> String {
    let mut out = Out::default();
    let mut rest = statements;
    while let Some((first, after)) = rest.split_first() {
        if above_header(rest) {
            out.blank();
        }
        match first {
            Statement::Blank => out.blank(),
            Statement::Comment(text) => {
                // All comments in a row, so that only the first of them is looked at as what stands above a header.
                out.line((*text).to_owned(), None);
                rest = after;
                while let Some((Statement::Comment(text), after)) = rest.split_first() {
                    out.line((*text).to_owned(), None);
                    rest = after;
                }
                if let Some((Statement::Header { text, comment }, after)) = rest.split_first() {
                    out.line(text.clone(), *comment);
                    rest = after;
                }
                continue;
            }
            Statement::Header { text, comment } => out.line(text.clone(), *comment),
            Statement::Pair { .. } => {
                let count = rest.iter().take_while(|next| matches!(next, Statement::Pair { .. })).count();
                let (pairs, after) = rest.split_at_checked(count).unwrap_or((rest, &[]));
                write_pairs(pairs, &mut out);
                rest = after;
                continue;
            }
        }
        rest = after;
    }
    out.finish()
}

/// Whether a header comes next, with nothing but comments in front of it.
fn above_header(statements: &[Statement<'_>]) -> bool {
    let next = statements.iter().find(|next| !matches!(next, Statement::Comment(_)));
    matches!(next, Some(Statement::Header { .. }))
}

/// Pairs that follow one another without anything between.
fn write_pairs(pairs: &[Statement<'_>], out: &mut Out) {
    let mut width = 0;
    let mut fresh = true;
    let mut rest = pairs;
    while let Some((Statement::Pair { key, value, comment }, after)) = rest.split_first() {
        if fresh {
            // Behind a long array the `=` stay where they were, if they can.
            width = group_width(rest).max(width);
        }
        fresh = matches!(value, Value::Lines { .. });
        let length = key.chars().count();
        let start = format!("{key}{} = ", " ".repeat(width.saturating_sub(length)));
        match value {
            Value::Plain(text) => out.line(start + text, *comment),
            Value::Lines { comment: opening, lines } => {
                out.line(start + "[", *opening);
                write_array(key, lines, out);
                out.line("]".to_owned(), *comment);
            }
        }
        rest = after;
    }
}

/// How wide the keys are up to the next long array. The name of an array makes no room: it is set off anyway.
fn group_width(pairs: &[Statement<'_>]) -> usize {
    let mut width = 0;
    for pair in pairs {
        match pair {
            Statement::Pair { key, value: Value::Plain(_), .. } => width = width.max(key.chars().count()),
            _ => break,
        }
    }
    width
}

fn write_array(key: &str, lines: &[Line<'_>], out: &mut Out) {
    const INDENT: &str = "  ";
    let pairs: Vec<_> = lines
        .iter()
        .filter_map(|line| match line {
            Line::Row { pairs, .. } => Some(pairs.as_slice()),
            _ => None,
        })
        .collect();
    let mut rows = columns::rows(key, &pairs).into_iter();
    out.part();
    for line in lines {
        match line {
            Line::Blank => out.blank(),
            Line::Comment(text) => out.line(format!("{INDENT}{text}"), None),
            Line::Items { text, comment } => out.line(format!("{INDENT}{text}"), *comment),
            Line::Row { comment, .. } => {
                let row = rows.next().unwrap_or_default();
                out.line(format!("{INDENT}{row},"), *comment);
            }
        }
    }
    out.part();
}

/// Lines that were written, and comments behind them that are still to be lined up.
#[derive(Default)]
struct Out {
    text: String,
    /// Lines that are seen together.
    block: Vec<(String, Option<String>)>,
}

impl Out {
    fn line(&mut self, text: String, comment: Option<&str>) {
        self.block.push((text, comment.map(str::to_owned)));
    }

    /// A blank line, unless one is there already or nothing is.
    fn blank(&mut self) {
        self.part();
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// Ends the lines that are seen together.
    fn part(&mut self) {
        // Of a value with line ends, only the last line is in front of the comment.
        let width = |text: &str| text.rsplit('\n').next().unwrap_or("").chars().count();
        let ends: Vec<_> =
            self.block.iter().map(|(text, comment)| comment.as_ref().map(|_| width(text) + 1)).collect();
        let starts = columns::starts(&ends);
        for ((text, comment), start) in self.block.drain(..).zip(starts) {
            self.text.push_str(&text);
            if let Some(comment) = comment {
                let fill = start.unwrap_or(0).saturating_sub(width(&text)).max(1);
                self.text.push_str(&" ".repeat(fill));
                self.text.push_str(&comment);
            }
            self.text.push('\n');
        }
    }

    fn finish(mut self) -> String {
        self.part();
        while self.text.ends_with("\n\n") {
            self.text.pop();
        }
        self.text
    }
}
