//! Cuts a file into statements. The text is known to be TOML, so that its tokens tell the structure; whatever does not
//! look as expected is kept word for word.

use toml_parser::Source;
use toml_parser::lexer::TokenKind;

/// A line of the file, or several that belong together.
#[derive(Debug)]
pub(super) enum Statement<'t> {
    /// At least one blank line.
    Blank,
    /// A comment on a line of its own.
    Comment(&'t str),
    /// `[table]` or `[[table]]`.
    Header { text: String, comment: Option<&'t str> },
    /// `key = value`
    Pair { key: String, value: Value<'t>, comment: Option<&'t str> },
}

/// What stands behind the `=`.
#[derive(Debug)]
pub(super) enum Value<'t> {
    /// Anything that is written as it is; it may hold line ends.
    Plain(String),
    /// An array over several lines, and the comment behind its `[`.
    Lines { comment: Option<&'t str>, lines: Vec<Line<'t>> },
}

/// A line in an array.
#[derive(Debug)]
pub(super) enum Line<'t> {
    /// At least one blank line.
    Blank,
    /// A comment on a line of its own.
    Comment(&'t str),
    /// An inline table: keys and values.
    Row { pairs: Vec<(String, String)>, comment: Option<&'t str> },
    /// Other values, with commas between them.
    Items { text: String, comment: Option<&'t str> },
}

#[derive(Clone, Copy)]
struct Piece<'t> {
    kind: TokenKind,
    text: &'t str,
}

/// What ends a statement.
const LINE_ENDS: &[TokenKind] = &[TokenKind::Newline, TokenKind::Comment];

/// What ends a value in an array or an inline table.
const ELEMENT_ENDS: &[TokenKind] = &[TokenKind::Comma, TokenKind::Newline, TokenKind::Comment];

/// All statements of a file.
pub(super) fn statements(text: &str) -> Vec<Statement<'_>> {
    let pieces: Vec<Piece<'_>> = Source::new(text)
        .lex()
        .filter(|token| token.kind() != TokenKind::Eof)
        .map(|token| Piece {
            kind: token.kind(),
            text: text.get(token.span().start()..token.span().end()).unwrap_or(""),
        })
        .collect();
    let mut rest: &[Piece<'_>] = &pieces;
    let mut found = Vec::new();
    // Whether the line so far is empty.
    let mut fresh = true;
    while let Some((first, after)) = rest.split_first() {
        match first.kind {
            TokenKind::Whitespace => rest = after,
            TokenKind::Newline => {
                if fresh && !matches!(found.last(), Some(Statement::Blank)) {
                    found.push(Statement::Blank);
                }
                fresh = true;
                rest = after;
            }
            TokenKind::Comment => {
                found.push(Statement::Comment(first.text.trim_end()));
                fresh = false;
                rest = after;
            }
            _ => {
                let (statement, after) = statement(rest);
                found.push(statement);
                fresh = false;
                rest = after;
            }
        }
    }
    found
}

/// A header or a pair, and what follows it.
fn statement<'a, 't>(pieces: &'a [Piece<'t>]) -> (Statement<'t>, &'a [Piece<'t>]) {
    let end = before_any(LINE_ENDS, pieces);
    let (line, after) = pieces.split_at_checked(end).unwrap_or((pieces, &[]));
    let (comment, after) = comment(after);
    let header = line.first().is_some_and(|piece| piece.kind == TokenKind::LeftSquareBracket);
    let equals = line.iter().position(|piece| piece.kind == TokenKind::Equals);
    let statement = match equals.and_then(|at| line.split_at_checked(at)) {
        Some((key, value)) if !header => {
            let value = value.get(1..).unwrap_or(&[]);
            Statement::Pair { key: joined(key), value: self::value(value), comment }
        }
        _ => Statement::Header { text: joined(line), comment },
    };
    (statement, after)
}

/// How many pieces come before the first outside of all brackets that is one of `ends`.
fn before_any(ends: &[TokenKind], pieces: &[Piece<'_>]) -> usize {
    let mut depth = 0usize;
    for (index, piece) in pieces.iter().enumerate() {
        match piece.kind {
            TokenKind::LeftSquareBracket | TokenKind::LeftCurlyBracket => depth += 1,
            TokenKind::RightSquareBracket | TokenKind::RightCurlyBracket => depth = depth.saturating_sub(1),
            kind if depth == 0 && ends.contains(&kind) => return index,
            _ => {}
        }
    }
    pieces.len()
}

/// A comment on the rest of the line, and what follows it.
fn comment<'a, 't>(pieces: &'a [Piece<'t>]) -> (Option<&'t str>, &'a [Piece<'t>]) {
    match pieces.split_first() {
        Some((first, after)) if first.kind == TokenKind::Comment => (Some(first.text.trim_end()), after),
        _ => (None, pieces),
    }
}

/// All pieces without white space.
fn joined(pieces: &[Piece<'_>]) -> String {
    pieces.iter().filter(|piece| piece.kind != TokenKind::Whitespace).map(|piece| piece.text).collect()
}

fn value<'t>(pieces: &[Piece<'t>]) -> Value<'t> {
    let pieces = trimmed(pieces);
    if !has_line_ends(pieces) {
        return Value::Plain(flat(pieces));
    }
    array(pieces).unwrap_or_else(|| Value::Plain(verbatim(pieces)))
}

fn has_line_ends(pieces: &[Piece<'_>]) -> bool {
    pieces.iter().any(|piece| matches!(piece.kind, TokenKind::Newline | TokenKind::Comment))
}

fn trimmed<'a, 't>(mut pieces: &'a [Piece<'t>]) -> &'a [Piece<'t>] {
    while let [Piece { kind: TokenKind::Whitespace, .. }, rest @ ..] = pieces {
        pieces = rest;
    }
    while let [rest @ .., Piece { kind: TokenKind::Whitespace, .. }] = pieces {
        pieces = rest;
    }
    pieces
}

/// As it is, but for line ends and the white space in front of them.
fn verbatim(pieces: &[Piece<'_>]) -> String {
    let mut out = String::new();
    for (index, piece) in pieces.iter().enumerate() {
        let next = pieces.get(index + 1).map(|next| next.kind);
        match piece.kind {
            TokenKind::Newline => out.push('\n'),
            TokenKind::Whitespace if next == Some(TokenKind::Newline) => {}
            TokenKind::Comment => out.push_str(piece.text.trim_end()),
            _ => out.push_str(piece.text),
        }
    }
    out
}

/// On one line, with one space where there should be one.
fn flat(pieces: &[Piece<'_>]) -> String {
    let mut out = String::new();
    let mut spaced = false;
    let mut before = None;
    for (index, piece) in pieces.iter().enumerate() {
        if piece.kind == TokenKind::Whitespace {
            spaced = true;
            continue;
        }
        let closes = |kind| matches!(kind, TokenKind::RightSquareBracket | TokenKind::RightCurlyBracket);
        let next = pieces.get(index + 1..).and_then(|rest| trimmed(rest).first()).map(|next| next.kind);
        match piece.kind {
            TokenKind::Comma if next.is_some_and(closes) => {}
            TokenKind::Comma => out.push_str(", "),
            TokenKind::Equals => out.push_str(" = "),
            TokenKind::LeftCurlyBracket if next == Some(TokenKind::RightCurlyBracket) => out.push('{'),
            TokenKind::LeftCurlyBracket => out.push_str("{ "),
            TokenKind::RightCurlyBracket if before == Some(TokenKind::LeftCurlyBracket) => out.push('}'),
            TokenKind::RightCurlyBracket => out.push_str(" }"),
            _ => {
                // A date and a time may have a space between them.
                if spaced && piece.kind == TokenKind::Atom && before == Some(TokenKind::Atom) {
                    out.push(' ');
                }
                out.push_str(piece.text);
            }
        }
        spaced = false;
        before = Some(piece.kind);
    }
    out
}

/// An array over several lines, if each of its values is on one line.
fn array<'t>(pieces: &[Piece<'t>]) -> Option<Value<'t>> {
    let [
        Piece { kind: TokenKind::LeftSquareBracket, .. },
        inner @ ..,
        Piece { kind: TokenKind::RightSquareBracket, .. },
    ] = pieces
    else {
        return None;
    };
    let mut opening = None;
    let mut lines: Vec<Line<'t>> = Vec::new();
    let mut rest = inner;
    // Where the line stands: right behind the `[`, at its start, or behind a value.
    let (mut first, mut fresh) = (true, false);
    while let Some((piece, after)) = rest.split_first() {
        match piece.kind {
            TokenKind::Whitespace => rest = after,
            TokenKind::Comma => {
                fresh = false;
                rest = after;
            }
            TokenKind::Newline => {
                if fresh && !matches!(lines.last(), None | Some(Line::Blank)) {
                    lines.push(Line::Blank);
                }
                (first, fresh) = (false, true);
                rest = after;
            }
            TokenKind::Comment => {
                let text = piece.text.trim_end();
                match lines.last_mut() {
                    None if first => opening = Some(text),
                    Some(Line::Row { comment, .. } | Line::Items { comment, .. })
                        if !fresh && comment.is_none() =>
                    {
                        *comment = Some(text);
                    }
                    // Also behind a comma that stands alone, when what is in front of it has a comment already.
                    _ => lines.push(Line::Comment(text)),
                }
                fresh = false;
                rest = after;
            }
            _ => {
                let end = before_any(ELEMENT_ENDS, rest);
                let (element, after) = rest.split_at_checked(end)?;
                if has_line_ends(element) || element.iter().any(holds_lines) || element.is_empty() {
                    return None;
                }
                let element = trimmed(element);
                match pairs(element) {
                    Some(pairs) => lines.push(Line::Row { pairs, comment: None }),
                    None => match lines.last_mut() {
                        Some(Line::Items { text, .. }) if !fresh && !first => {
                            text.push(' ');
                            text.push_str(&flat(element));
                            text.push(',');
                        }
                        _ => lines.push(Line::Items { text: flat(element) + ",", comment: None }),
                    },
                }
                (first, fresh) = (false, false);
                rest = after;
            }
        }
    }
    while let Some(Line::Blank) = lines.last() {
        lines.pop();
    }
    if lines.is_empty() && opening.is_none() {
        return Some(Value::Plain("[]".to_owned()));
    }
    Some(Value::Lines { comment: opening, lines })
}

/// A string over several lines; even one that has only a single line would look odd in a table.
fn holds_lines(piece: &Piece<'_>) -> bool {
    matches!(piece.kind, TokenKind::MlBasicString | TokenKind::MlLiteralString)
}

/// The keys and values of an inline table.
fn pairs(pieces: &[Piece<'_>]) -> Option<Vec<(String, String)>> {
    let [
        Piece { kind: TokenKind::LeftCurlyBracket, .. },
        inner @ ..,
        Piece { kind: TokenKind::RightCurlyBracket, .. },
    ] = pieces
    else {
        return None;
    };
    let mut found = Vec::new();
    let mut rest = trimmed(inner);
    while !rest.is_empty() {
        let (pair, after) = rest.split_at_checked(before_any(ELEMENT_ENDS, rest))?;
        let equals = pair.iter().position(|piece| piece.kind == TokenKind::Equals)?;
        let (key, value) = pair.split_at_checked(equals)?;
        found.push((joined(key), flat(trimmed(value.get(1..)?))));
        // Behind the comma.
        rest = trimmed(after.get(1..).unwrap_or(&[]));
    }
    Some(found)
}
