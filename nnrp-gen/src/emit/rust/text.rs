//! How generated Rust looks beside its layout: a blank line between ideas, docs that fit.

/// Puts a blank line before each item that follows another, and none inside short ones.
pub(super) fn spaced(texts: &[String]) -> String {
    let size: usize = texts.iter().map(String::len).sum();
    let mut out = String::with_capacity(size + size / 16);
    let mut before = "";
    for line in texts.iter().flat_map(|text| text.lines()) {
        let indent = indent_of(line);
        let closes =
            before.trim_start().starts_with('}') && before.len() - before.trim_start().len() == indent;
        let comment = before.trim_start().starts_with("//");
        let ends_item = closes || (!comment && before.ends_with(';') && indent_of(before) == indent);
        let starts_item = starts_item(line.trim_start());
        let constants = is_constant(before) && is_constant(line);
        if ends_item && starts_item && !constants {
            out.push('\n');
        }
        out.push_str(line);
        out.push('\n');
        before = line;
    }
    out
}

fn indent_of(line: &str) -> usize {
    line.bytes().take_while(|byte| *byte == b' ').count()
}

fn starts_item(line: &str) -> bool {
    ["///", "#[", "pub ", "impl", "const ", "fn ", "struct ", "enum "]
        .iter()
        .any(|start| line.starts_with(start))
}

/// A constant without a doc of its own: several of them are one idea.
fn is_constant(line: &str) -> bool {
    line.trim_start().starts_with("const ") || line.trim_start().starts_with("pub const ")
}

/// A module's text one level deeper.
pub(super) fn indent(text: &str) -> String {
    let line = |line: &str| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") };
    text.lines().map(line).collect()
}

/// Breaks a paragraph into lines that fit beside `///`.
pub(super) fn wrap(paragraph: &str) -> Vec<String> {
    const WIDTH: usize = 96;
    // What continues an item of a list stands under its text.
    let hang = if paragraph.starts_with("- ") { "  " } else { "" };
    let mut lines = vec![String::new()];
    for word in paragraph.split_whitespace() {
        let line = lines.last_mut().map_or(0, |line| line.len());
        if line > 0 && line + 1 + word.len() > WIDTH {
            lines.push(hang.to_owned());
        }
        if let Some(last) = lines.last_mut() {
            if !last.trim_start().is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines
}
