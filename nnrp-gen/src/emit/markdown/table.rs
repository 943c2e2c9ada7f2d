//! Tables, and what stands in their cells.

/// Rows under a heading, every cell as wide as its column so that the source reads well, too.
pub(super) struct Table {
    rows: Vec<Vec<String>>,
}

/// Wider cells stick out, rather than make every row that long.
const WIDEST: usize = 48;

impl Table {
    pub(super) fn new<const N: usize>(heading: [&str; N]) -> Self {
        Self { rows: vec![heading.map(str::to_owned).to_vec()] }
    }

    pub(super) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.map(|cell| cell.replace('|', "\\|").replace('\n', " ")).to_vec());
    }

    /// The table, and nothing where it has no rows.
    pub(super) fn text(&self) -> String {
        let Some((heading, rows)) = self.rows.split_first().filter(|(_, rows)| !rows.is_empty()) else {
            return String::new();
        };
        let width = |column: usize| {
            let cells = self.rows.iter().map(|row| row[column].chars().count());
            cells.filter(|width| *width <= WIDEST).max().unwrap_or(0).max(3)
        };
        let widths: Vec<_> = (0..heading.len()).map(width).collect();
        let dashes: Vec<_> = widths.iter().map(|width| "-".repeat(*width)).collect();
        [heading, &dashes].into_iter().chain(rows).map(|row| line(row, &widths)).collect()
    }
}

fn line(row: &[String], widths: &[usize]) -> String {
    let mut out = String::from("|");
    for (cell, width) in row.iter().zip(widths) {
        let padding = " ".repeat(width.saturating_sub(cell.chars().count()));
        out.push_str(&format!(" {cell}{padding} |"));
    }
    out.push('\n');
    out
}

/// Text that is code; nothing where there is none.
pub(super) fn code(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("`{text}`") }
}

/// A link to an item of the page.
pub(super) fn link(kind: &str, name: &str) -> String {
    format!("[`{name}`](#{kind}-{name})")
}
