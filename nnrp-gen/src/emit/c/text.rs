//! How generated C looks: comments, columns, templates and literals.

/// Where comments and code break.
const WIDTH: usize = 110;

/// Doc comments beside columns go on to here, and are at least so wide, however far right they start.
const BESIDE: usize = 120;
const NARROWEST: usize = 60;

/// Fills a template. `${key}` becomes its value; one that stands alone on a line takes as many lines as the value
/// has, at the indentation of the line, and none for an empty value.
pub(super) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let value = |key: &str| values.iter().find(|(name, _)| *name == key).map(|(_, value)| *value);
    let mut out = String::with_capacity(template.len() * 2);
    for line in template.lines() {
        let content = line.trim_start();
        let alone = content.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
        if let Some(value) = alone.and_then(value) {
            out.push_str(&indent(value, line.len() - content.len()));
            continue;
        }
        let mut parts = line.split("${");
        out.push_str(parts.next().unwrap_or_default());
        for part in parts {
            match part.split_once('}').and_then(|(key, rest)| Some((value(key)?, rest))) {
                Some((value, rest)) => {
                    out.push_str(value);
                    out.push_str(rest);
                }
                // What is no key stays, where a reader of the header would see it.
                None => {
                    out.push_str("${");
                    out.push_str(part);
                }
            }
        }
        out.push('\n');
    }
    out
}

/// Every line of `text` moved right, each ended; empty lines stay empty.
pub(super) fn indent(text: &str, by: usize) -> String {
    let space = " ".repeat(by);
    let mut out = String::with_capacity(text.len() * 2);
    for line in text.lines() {
        if !line.is_empty() {
            out.push_str(&space);
            out.push_str(line);
        }
        out.push('\n');
    }
    out
}

/// A doc comment of these paragraphs, or nothing where all are empty.
pub(super) fn doc<S: AsRef<str>>(paragraphs: impl IntoIterator<Item = S>) -> String {
    let mut lines = Vec::new();
    for paragraph in paragraphs {
        // A list keeps its lines.
        for (at, part) in paragraph.as_ref().trim().split('\n').enumerate() {
            if part.is_empty() {
                continue;
            }
            if at == 0 && !lines.is_empty() {
                lines.push(String::new());
            }
            lines.extend(wrap(&comment(part), WIDTH - 3));
        }
    }
    match lines.as_slice() {
        [] => String::new(),
        [line] if line.len() + 7 <= WIDTH => format!("/** {line} */\n"),
        lines => {
            let lines = lines.iter().map(|line| format!(" * {line}").trim_end().to_owned() + "\n");
            format!("/**\n{} */\n", lines.collect::<String>())
        }
    }
}

/// A heading between the parts of the header.
pub(super) fn heading(text: &str) -> String {
    format!("/* {text} {} */\n", "-".repeat((WIDTH - 7).saturating_sub(text.len())))
}

/// `source` as a sentence.
pub(super) fn cite(source: &str) -> String {
    if source.is_empty() { String::new() } else { format!("Source: {source}.") }
}

/// Rows whose cells line up, each with a doc comment behind it.
#[derive(Default)]
pub(super) struct Columns {
    rows: Vec<(Vec<String>, String)>,
}

impl Columns {
    /// Adds a row. Its last cell ends the code of the row; `note` explains it.
    pub(super) fn row<const N: usize>(&mut self, cells: [String; N], note: &str) {
        self.rows.push((cells.into(), note.to_owned()));
    }

    /// The rows as lines.
    pub(super) fn text(&self) -> String {
        let columns = self.rows.iter().map(|(cells, _)| cells.len()).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|(cells, _)| cells.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut out = String::new();
        for (cells, note) in &self.rows {
            let padded = cells.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}"));
            let code = padded.collect::<Vec<_>>().join(" ");
            if note.is_empty() {
                out.push_str(code.trim_end());
                out.push('\n');
                continue;
            }
            let start = code.chars().count() + "  /**< ".len();
            let room = BESIDE.saturating_sub(start + " */".len()).max(NARROWEST);
            let lines = wrap(&comment(note), room);
            let between = format!("\n{}", " ".repeat(start));
            out.push_str(&format!("{code}  /**< {} */\n", lines.join(&between)));
        }
        out
    }
}

/// `head(a, b, c)`, with the arguments on lines of their own where one is too short for them.
pub(super) fn call(head: &str, arguments: &[String], end: &str) -> String {
    let line = format!("{head}({}){end}", arguments.join(", "));
    if line.len() <= WIDTH {
        return line;
    }
    let open = head.len() + 1;
    let mut lines = vec![format!("{head}(")];
    for (at, argument) in arguments.iter().enumerate() {
        let last = at + 1 == arguments.len();
        let part = if last { format!("{argument}){end}") } else { format!("{argument},") };
        let fits = lines.last().is_some_and(|line| line.len() + 1 + part.len() <= WIDTH);
        match lines.last_mut() {
            Some(line) if at == 0 => line.push_str(&part),
            Some(line) if fits => {
                line.push(' ');
                line.push_str(&part);
            }
            _ => lines.push(format!("{}{part}", " ".repeat(open))),
        }
    }
    lines.join("\n")
}

/// A function. Parameters that its body does not use are shown to be left out on purpose.
pub(super) fn function(docs: &str, head: &str, parameters: &[(&str, &str)], body: &str) -> String {
    let joined: Vec<_> = parameters.iter().map(|(ty, name)| declared(ty, name)).collect();
    let unused = parameters.iter().filter(|(_, name)| !mentions(body, name));
    let unused: String = unused.map(|(_, name)| format!("(void){name};\n")).collect();
    let body = indent(&format!("{unused}{body}"), 4);
    format!("{}{}\n{{\n{body}}}\n", doc([docs]), call(&format!("static inline {head}"), &joined, ""))
}

/// A type and a name, with the `*` of a pointer at the name.
pub(super) fn declared(ty: &str, name: &str) -> String {
    if ty.ends_with('*') { format!("{ty}{name}") } else { format!("{ty} {name}") }
}

/// Whether a text has a word that is not the name of a member.
pub(super) fn mentions(text: &str, word: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    text.match_indices(word).any(|(at, _)| {
        let before =
            text[..at].chars().next_back().is_some_and(|last| is_letter(last) || ".>".contains(last));
        let behind = text[at + word.len()..].chars().next().is_some_and(is_letter);
        !before && !behind
    })
}

/// A condition, on several lines where one is too short for it.
pub(super) fn condition(text: &str) -> String {
    if text.len() <= WIDTH - 14 {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut depth = 0_usize;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 && (text[at..].starts_with(" && ") || text[at..].starts_with(" || ")) => {
                out.push_str("\n    ");
                continue;
            }
            _ => {}
        }
        out.push(letter);
    }
    out
}

/// Conditions that all must hold, as a `return` statement; without any it returns true.
pub(super) fn return_all(parts: &[String]) -> String {
    match parts {
        [] => "return true;\n".to_owned(),
        parts => format!("return {};\n", parts.join("\n    && ")),
    }
}

/// Breaks lines of code that are too long at a comma.
pub(super) fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let content = line.trim_start();
        let is_code =
            !content.starts_with(['#', '*']) && !content.starts_with("/*") && !line.contains("/**<");
        if line.len() <= WIDTH || !is_code {
            out.push_str(line);
            out.push('\n');
            continue;
        }
        let space = " ".repeat(line.len() - content.len() + 4);
        let mut rest = line.to_owned();
        while rest.len() > WIDTH {
            let Some(at) = last_comma(&rest) else { break };
            out.push_str(&rest[..=at]);
            out.push('\n');
            rest = format!("{space}{}", rest[at + 1..].trim_start());
        }
        out.push_str(&rest);
        out.push('\n');
    }
    out
}

/// The last comma that leaves a line short enough and is in no string.
fn last_comma(line: &str) -> Option<usize> {
    let mut last = None;
    let (mut quoted, mut escaped) = (false, false);
    for (at, letter) in line.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = quoted,
            '"' => quoted = !quoted,
            ',' if !quoted && at < WIDTH && line[at..].starts_with(", ") => last = Some(at),
            _ => {}
        }
    }
    last
}

/// Breaks a paragraph into lines that fit `width`.
fn wrap(paragraph: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut length = 0;
    for word in paragraph.split_whitespace() {
        let letters = word.chars().count();
        match lines.last_mut() {
            Some(line) if length + 1 + letters <= width => {
                line.push(' ');
                line.push_str(word);
                length += 1 + letters;
            }
            _ => {
                lines.push(word.to_owned());
                length = letters;
            }
        }
    }
    lines
}

/// Text that cannot end or open a comment.
pub(super) fn comment(text: &str) -> String {
    text.replace("*/", "* /").replace("/*", "/ *")
}

/// A string literal. What is not plain ASCII is escaped, so that no character set and no trigraph changes it.
pub(super) fn string(text: &str) -> String {
    bytes(text.as_bytes())
}

/// The same for bytes.
pub(super) fn bytes(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for byte in bytes {
        match byte {
            b'"' | b'\\' | b'?' => {
                out.push('\\');
                out.push(char::from(*byte));
            }
            b' '..=b'~' => out.push(char::from(*byte)),
            _ => out.push_str(&format!("\\{byte:03o}")),
        }
    }
    out.push('"');
    out
}

/// A mask or code of `size` bytes in hexadecimal.
pub(super) fn hex(number: u64, size: u32) -> String {
    let digits = size as usize * 2;
    match size {
        8 => format!("UINT64_C(0x{number:0digits$x})"),
        _ => format!("0x{number:0digits$x}u"),
    }
}

/// A number that stands alone: small ones decimal, others in hexadecimal, wide ones with the type that holds them.
pub(super) fn number(number: i128) -> String {
    match number {
        0..=0xff => number.to_string(),
        0x100..=0xffff => format!("{number:#06x}"),
        0x1_0000..=0xffff_ffff => format!("{number:#010x}u"),
        0x1_0000_0000.. => format!("UINT64_C({number:#x})"),
        -0x8000_0000..=-1 => number.to_string(),
        _ if number <= i128::from(i64::MIN) => "INT64_MIN".to_owned(),
        _ => format!("-INT64_C({})", number.unsigned_abs()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_keep_indentation_and_drop_empty_lines() {
        let text = fill(
            "f(${x})\n{\n    ${body}\n    ${none}\n}\n",
            &[("x", "1"), ("body", "a;\n\nb;\n"), ("none", "")],
        );
        assert_eq!(text, "f(1)\n{\n    a;\n\n    b;\n}\n");
    }

    #[test]
    fn comments_and_strings_cannot_break_out() {
        assert_eq!(doc(["a */ b /* c"]), "/** a * / b / * c */\n");
        assert_eq!(string("a\"b\\c??/é"), "\"a\\\"b\\\\c\\?\\?/\\303\\251\"");
    }

    #[test]
    fn numbers_have_the_type_that_holds_them() {
        assert_eq!(number(7), "7");
        assert_eq!(number(0x1234), "0x1234");
        assert_eq!(number(0x8000_0000), "0x80000000u");
        assert_eq!(number(1 << 40), "UINT64_C(0x10000000000)");
        assert_eq!(number(-5), "-5");
        assert_eq!(number(i64::MIN.into()), "INT64_MIN");
    }

    #[test]
    fn columns_line_up_and_long_notes_go_on_below() {
        let mut columns = Columns::default();
        columns.row(["a".into(), "1".into()], "short");
        columns.row(["long".into(), "22".into()], &"word ".repeat(30));
        let text = columns.text();
        let starts: Vec<_> = text.lines().map(|line| line.find("/**<").or(line.find("word"))).collect();
        assert_eq!(starts[0], starts[1]);
        assert_eq!(starts[2], starts[0].map(|at| at + 5));
    }
}
