//! Text in generated Rust: modules inside of others, and docs that fit.

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
