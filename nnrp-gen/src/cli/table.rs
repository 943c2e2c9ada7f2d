//! Tables of aligned columns, wrapped to a width.

use super::paint::{Ink, Paint};

/// A cell: a text and how it looks.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    text: String,
    ink: Ink,
    wide: Wide,
}

/// What becomes of a cell that is wider than its column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Wide {
    #[default]
    Wrapped,
    /// Put below the row, from that column on, where two lines are not enough; for the last cell.
    Below(usize),
}

/// Text in some ink.
pub(super) fn cell(ink: Ink, text: impl Into<String>) -> Cell {
    Cell { text: text.into(), ink, wide: Wide::Wrapped }
}

impl Cell {
    /// Put below the row from that column on where it would take more than two lines beside it.
    pub fn below(self, column: usize) -> Self {
        Self { wide: Wide::Below(column), ..self }
    }

    fn lines(&self, width: usize) -> Vec<String> {
        let lines = wrap(&self.text, width);
        let narrow = lines.len() > 2 || lines.iter().any(|line| length(line) > width);
        if narrow && self.wide != Wide::Wrapped { Vec::new() } else { lines }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        cell(Ink::Plain, text)
    }
}

/// A column.
pub(super) struct Column {
    head: String,
    right: bool,
    most: usize,
}

/// A column whose cells stand at its left side and are as wide as they are.
pub(super) fn left(head: impl Into<String>) -> Column {
    Column { head: head.into(), right: false, most: usize::MAX }
}

/// A column of numbers.
pub(super) fn right(head: impl Into<String>) -> Column {
    Column { right: true, ..left(head) }
}

impl Column {
    /// Wraps cells that are wider.
    pub fn most(self, most: usize) -> Self {
        Self { most, ..self }
    }
}

enum Row {
    Cells(Vec<Cell>),
    /// A line of its own, from that column on.
    Note(usize, Cell),
}

/// Rows under columns. The last column takes the width that is left.
pub(super) struct Table {
    columns: Vec<Column>,
    rows: Vec<Row>,
}

/// The last column has at least this, even where the others leave less.
const LEAST: usize = 12;

/// What stands between columns.
const GAP: &str = "  ";

impl Table {
    pub fn new(columns: impl Into<Vec<Column>>) -> Self {
        Self { columns: columns.into(), rows: Vec::new() }
    }

    pub fn row(&mut self, cells: impl Into<Vec<Cell>>) {
        self.rows.push(Row::Cells(cells.into()));
    }

    /// A line of its own that starts under column number `column`.
    pub fn note(&mut self, column: usize, note: Cell) {
        self.rows.push(Row::Note(column, note));
    }

    /// The table as text, within `width` columns where that can be.
    pub fn draw(&self, width: usize, indent: usize, paint: Paint) -> String {
        self.draw_head(width, indent, paint) + &self.draw_body(width, indent, paint)
    }

    /// The heads of its columns alone; nothing where they have none.
    pub fn draw_head(&self, width: usize, indent: usize, paint: Paint) -> String {
        let widths = self.widths(width, indent);
        let mut out = String::new();
        let head = |column: &Column| cell(Ink::Dim, column.head.as_str());
        if self.columns.iter().any(|column| !column.head.is_empty()) {
            let heads: Vec<_> = self.columns.iter().map(head).collect();
            self.draw_row(&heads, &widths, indent, paint, &mut out);
        }
        out
    }

    /// The table without the heads of its columns.
    pub fn draw_body(&self, width: usize, indent: usize, paint: Paint) -> String {
        let widths = self.widths(width, indent);
        let mut out = String::new();
        let note = |cell: &Cell, column: usize, out: &mut String| {
            let before: usize = widths.iter().take(column).map(|width| width + GAP.len()).sum();
            for line in wrap(&cell.text, width.saturating_sub(indent + before).max(LEAST)) {
                out.push_str(&" ".repeat(indent + before));
                out.push_str(&paint.ink(cell.ink, &line));
                out.push('\n');
            }
        };
        for row in &self.rows {
            match row {
                Row::Cells(cells) => {
                    self.draw_row(cells, &widths, indent, paint, &mut out);
                    if let (Some(cell), Some(room)) = (cells.last(), widths.last())
                        && let Wide::Below(column) = cell.wide
                        && cell.lines(*room).is_empty()
                    {
                        note(cell, column, &mut out);
                    }
                }
                Row::Note(column, cell) => note(cell, *column, &mut out),
            }
        }
        out
    }

    fn widths(&self, width: usize, indent: usize) -> Vec<usize> {
        let mut widths: Vec<usize> = self.columns.iter().map(|column| length(&column.head)).collect();
        for row in &self.rows {
            let Row::Cells(cells) = row else { continue };
            for ((widest, column), cell) in widths.iter_mut().zip(&self.columns).zip(cells) {
                *widest = (*widest).max(length(&cell.text).min(column.most));
            }
        }
        if let Some((last, others)) = widths.split_last_mut() {
            let before: usize = others.iter().map(|width| width + GAP.len()).sum();
            *last = width.saturating_sub(indent + before).max(LEAST);
        }
        widths
    }

    fn draw_row(&self, cells: &[Cell], widths: &[usize], indent: usize, paint: Paint, out: &mut String) {
        let wrapped: Vec<Vec<String>> =
            cells.iter().zip(widths).map(|(cell, width)| cell.lines(*width)).collect();
        let height = wrapped.iter().map(Vec::len).max().unwrap_or(0);
        for line in 0..height {
            out.push_str(&" ".repeat(indent));
            // Blanks are written only before something, so that no line ends in them.
            let mut owed = 0;
            for (((lines, cell), column), width) in wrapped.iter().zip(cells).zip(&self.columns).zip(widths) {
                let text = lines.get(line).map_or("", String::as_str);
                let rest = width.saturating_sub(length(text));
                if !text.is_empty() {
                    owed += if column.right { rest } else { 0 };
                    out.push_str(&" ".repeat(owed));
                    out.push_str(&paint.ink(cell.ink, text));
                    owed = if column.right { 0 } else { rest };
                } else {
                    owed += width;
                }
                owed += GAP.len();
            }
            let kept = out.trim_end_matches(' ').len();
            out.truncate(kept);
            out.push('\n');
        }
    }
}

/// The columns that a text takes.
pub(super) fn length(text: &str) -> usize {
    text.chars().count()
}

/// Breaks a text at spaces into lines of at most `width`; a longer word has a line of its own. Line ends stay.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.split('\n') {
        if length(paragraph) <= width {
            lines.push(paragraph.to_owned());
            continue;
        }
        let mut line = String::new();
        for word in paragraph.split(' ').filter(|word| !word.is_empty()) {
            if !line.is_empty() && length(&line) + 1 + length(word) > width {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

/// A text cut to `width`, with an ellipsis where something is missing.
pub(super) fn shorten(text: &str, width: usize) -> String {
    if length(text) <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    kept.trim_end().to_owned() + "…"
}

/// A number with its noun.
pub(super) fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_and_aligns() {
        let mut table = Table::new([right("at"), left("name").most(8), left("doc")]);
        table.row(["1".into(), "a".into(), "One.".into()]);
        table.row([
            "10".into(),
            "long_name b".into(),
            "A longer text that does not fit into one line.".into(),
        ]);
        table.note(1, cell(Ink::Red, "^ here"));
        let expected = "\
at  name      doc
 1  a         One.
10  long_name  A longer text that does
    b         not fit into one line.
    ^ here
";
        // A word that is too long pushes only what follows in its line.
        assert_eq!(table.draw(38, 0, Paint(false)), expected);
        assert_eq!(shorten("abcdef", 4), "abc…");
    }
}
