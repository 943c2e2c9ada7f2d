//! The packet diagram: rows of eight bytes, every field to scale.

use crate::model::{Field, Layout, Meaning, Registry};

use super::super::paint::{Ink, Paint};
use super::super::table::{length, shorten};
use super::layout::constant;

/// Bytes in a row.
const ROW: usize = 8;

/// Columns inside the box of one byte.
const CELL: usize = 10;

/// Lines inside a row.
const LINES: usize = 2;

/// Columns for the offset in front of a row.
const GUTTER: usize = 6;

/// What a row of the diagram shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Row {
    /// Bytes from this one on.
    Bytes(usize),
    /// That many bytes in the middle of a long field, which the number names.
    Skip(usize, usize),
}

/// A run of bytes of one field in a row.
struct Run {
    field: usize,
    from: usize,
    to: usize,
}

/// Draws a layout.
pub(super) fn draw(registry: &Registry, layout: &Layout, paint: Paint) -> String {
    Diagram::new(layout).draw(registry, paint)
}

struct Diagram<'a> {
    layout: &'a Layout,
    /// The field that each byte belongs to.
    owner: Vec<usize>,
    rows: Vec<Row>,
    /// The row in which each field begins.
    first: Vec<usize>,
    /// Bytes in the widest row.
    width: usize,
}

impl<'a> Diagram<'a> {
    fn new(layout: &'a Layout) -> Self {
        let fields = layout.fields.iter().enumerate();
        let owner: Vec<usize> =
            fields.flat_map(|(at, field)| std::iter::repeat_n(at, field.size as usize)).collect();
        let rows = rows(&owner);
        let mut first = Vec::with_capacity(layout.fields.len());
        for (number, row) in rows.iter().enumerate() {
            let Row::Bytes(start) = *row else { continue };
            let begins = |field: &&Field| (field.offset as usize) < start + ROW;
            let new = layout.fields[first.len()..].iter().take_while(begins).count();
            first.resize(first.len() + new, number);
        }
        let width = owner.len().min(ROW);
        Self { layout, owner, rows, first, width }
    }

    /// The field at a column of a row.
    fn at(&self, row: Option<&Row>, column: Option<usize>) -> Option<usize> {
        let column = column.filter(|column| *column < self.width)?;
        match *row? {
            Row::Bytes(start) => self.owner.get(start + column).copied(),
            Row::Skip(_, field) => Some(field),
        }
    }

    fn runs(&self, row: &Row) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        for column in 0..self.width {
            let Some(field) = self.at(Some(row), Some(column)) else { break };
            match runs.last_mut() {
                Some(run) if run.field == field => run.to = column + 1,
                _ => runs.push(Run { field, from: column, to: column + 1 }),
            }
        }
        runs
    }

    fn draw(&self, registry: &Registry, paint: Paint) -> String {
        let mut out = " ".repeat(GUTTER);
        for column in 0..self.width {
            out.push_str(&format!(" {column:^CELL$}"));
        }
        let mut out = paint.dim(out.trim_end()) + "\n";
        for number in 0..=self.rows.len() {
            let above = number.checked_sub(1).and_then(|number| self.rows.get(number));
            let below = self.rows.get(number);
            out.push_str(&" ".repeat(GUTTER));
            out.push_str(&paint.dim(self.line(above, below).trim_end()));
            out.push('\n');
            if let Some(row) = below {
                self.draw_row(registry, number, row, paint, &mut out);
            }
        }
        out
    }

    /// The line between two rows: drawn where the field above is not the one below.
    fn line(&self, above: Option<&Row>, below: Option<&Row>) -> String {
        let split = |column: Option<usize>| self.at(above, column) != self.at(below, column);
        let side = |row: Option<&Row>, column: usize| {
            self.at(row, column.checked_sub(1)) != self.at(row, Some(column))
        };
        let mut line = String::new();
        for column in 0..=self.width {
            let left = column > 0 && split(column.checked_sub(1));
            let right = column < self.width && split(Some(column));
            line.push(corner(side(above, column), side(below, column), left, right));
            if column < self.width {
                let fill = if right { "─" } else { " " };
                line.push_str(&fill.repeat(CELL));
            }
        }
        line
    }

    fn draw_row(&self, registry: &Registry, number: usize, row: &Row, paint: Paint, out: &mut String) {
        let bar = paint.dim("│");
        if let Row::Skip(bytes, _) = row {
            let text = format!("⋮ {bytes} more bytes ⋮");
            let inside = self.width * (CELL + 1) - 1;
            out.push_str(&format!(
                "{}{bar}{}{bar}\n",
                " ".repeat(GUTTER),
                paint.dim(&format!("{text:^inside$}"))
            ));
            return;
        }
        let runs = self.runs(row);
        let texts: Vec<_> = runs.iter().map(|run| self.text(registry, number, run)).collect();
        for line in 0..LINES {
            let offset = match row {
                Row::Bytes(start) if line == 0 => start.to_string(),
                _ => String::new(),
            };
            out.push_str(&paint.dim(&format!("{offset:>width$} ", width = GUTTER - 1)));
            for (run, (texts, ink)) in runs.iter().zip(&texts) {
                let inside = (run.to - run.from) * (CELL + 1) - 1;
                let text = texts.get(line).map_or("", String::as_str);
                let ink = if line > 0 && texts.len() == 2 && *ink == Ink::Bold { Ink::Plain } else { *ink };
                out.push_str(&bar);
                out.push_str(&paint.ink(ink, &format!("{text:^inside$}")));
            }
            out.push_str(&bar);
            out.push('\n');
        }
    }

    /// What stands in the run of a field, and how it looks.
    fn text(&self, registry: &Registry, number: usize, run: &Run) -> (Vec<String>, Ink) {
        let field = &self.layout.fields[run.field];
        let inside = (run.to - run.from) * (CELL + 1) - 1;
        let ink = if field.has_value() { Ink::Bold } else { Ink::Dim };
        let (labelled, widest) = self.widest(run.field);
        if number == labelled && widest == run.to - run.from {
            return (label(registry, self.layout, field, inside), ink);
        }
        // Below or above the label in one box with it, nothing; a box of its own says whose it is.
        let connected =
            field.size as usize > ROW || number.abs_diff(labelled) > 1 || self.overlaps(labelled, run);
        if connected {
            (Vec::new(), ink)
        } else {
            (vec![shorten(&format!("… {}", field.name), inside)], Ink::Dim)
        }
    }

    /// The row in which a field has most room, and how many bytes that is.
    fn widest(&self, field: usize) -> (usize, usize) {
        let mut best = (0, 0);
        for (number, row) in self.rows.iter().enumerate().skip(self.first[field]) {
            let here = self.runs(row).into_iter().find(|run| run.field == field);
            let Some(run) = here else { break };
            if run.to - run.from > best.1 {
                best = (number, run.to - run.from);
            }
        }
        best
    }

    fn overlaps(&self, number: usize, run: &Run) -> bool {
        let other = self.rows.get(number).map(|row| self.runs(row)).unwrap_or_default();
        other.iter().any(|other| other.field == run.field && other.from < run.to && run.from < other.to)
    }
}

/// The rows, with the middle of very long fields left out.
fn rows(owner: &[usize]) -> Vec<Row> {
    let whole = |start: usize| {
        let row = owner.get(start..start + ROW)?;
        row.iter().all(|field| *field == row[0]).then_some(row[0])
    };
    let mut rows = Vec::new();
    let mut start = 0;
    while start < owner.len() {
        rows.push(Row::Bytes(start));
        start += ROW;
        let Some(field) = whole(start - ROW) else { continue };
        let mut end = start;
        while whole(end) == Some(field) {
            end += ROW;
        }
        // The first and the last row stay.
        if end >= start + 3 * ROW {
            rows.push(Row::Skip(end - ROW - start, field));
            start = end - ROW;
        }
    }
    rows
}

/// The name of a field and what else fits: in two lines where one is too narrow, its type below where it is not.
fn label(registry: &Registry, layout: &Layout, field: &Field, inside: usize) -> Vec<String> {
    let kind = match &field.meaning {
        Meaning::Reserved => "0".to_owned(),
        Meaning::Constant(bytes) => format!("= {}", constant(layout, field, bytes)),
        Meaning::Bool => "bool".to_owned(),
        _ => field.type_name(registry),
    };
    if length(&field.name) <= inside {
        return vec![field.name.clone(), shorten(&kind, inside)];
    }
    let mut lines = vec![String::new()];
    for word in field.name.split_inclusive('_') {
        let last = lines.len() - 1;
        if !lines[last].is_empty() && length(&lines[last]) + length(word) > inside && lines.len() < LINES {
            lines.push(word.to_owned());
        } else {
            lines[last].push_str(word);
        }
    }
    lines.iter().map(|line| shorten(line, inside)).collect()
}

/// The corner that lines to these sides meet in.
fn corner(up: bool, down: bool, left: bool, right: bool) -> char {
    match (up, down, left, right) {
        (false, false, false, false) => ' ',
        (false, false, _, _) => '─',
        (_, _, false, false) => '│',
        (false, true, false, true) => '┌',
        (false, true, true, false) => '┐',
        (true, false, false, true) => '└',
        (true, false, true, false) => '┘',
        (true, true, false, true) => '├',
        (true, true, true, false) => '┤',
        (false, true, true, true) => '┬',
        (true, false, true, true) => '┴',
        (true, true, true, true) => '┼',
    }
}
