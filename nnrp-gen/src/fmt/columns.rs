//! Lines up the rows of a table.

/// The widest gap that is filled to bring things under one another. What would need more stands where it stands: a gap
/// that the eye does not follow helps nobody.
const WIDEST_GAP: usize = 40;

/// Keys that come first in the rows of an array, by the name of the array. The others keep their order.
const FIRST: [(&str, &[&str]); 6] = [
    ("fields", &["offset", "name", "type"]),
    ("values", &["value", "name"]),
    ("ranges", &["from", "to", "name"]),
    ("bits", &["bit", "name"]),
    ("words", &["word"]),
    ("rules", &["id", "when", "require"]),
];

/// The key that gets a column even if few rows have it: the eye looks for it at the end.
const LAST: &str = "doc";

type Pairs = [(String, String)];

/// Writes each row of an array as an inline table, with equal keys under one another.
pub(super) fn rows(array: &str, rows: &[&Pairs]) -> Vec<String> {
    let first = FIRST.iter().find(|(name, _)| *name == array).map_or(&[][..], |(_, keys)| keys);
    let rows: Vec<Vec<&(String, String)>> = rows
        .iter()
        .map(|row| {
            let mut row: Vec<_> = row.iter().collect();
            row.sort_by_key(|(key, _)| first.iter().position(|first| first == key).unwrap_or(first.len()));
            row
        })
        .collect();
    let mut lines: Vec<Writer<'_>> = rows.iter().map(|row| Writer::new(row)).collect();
    for key in columns(&rows) {
        let width = number_width(&rows, key);
        for line in &mut lines {
            line.write_until(key);
        }
        let ends: Vec<Option<usize>> = lines.iter().map(|line| line.stands_at(key)).collect();
        for (line, start) in lines.iter_mut().zip(starts(&ends)) {
            line.fill(start);
            if start.is_some() {
                line.write_pair(width);
            }
        }
        // What follows a column starts together, even if it has no column of its own.
        let ends: Vec<Option<usize>> =
            lines.iter().zip(&ends).map(|(line, had)| had.and_then(|_| line.open_end())).collect();
        for (line, start) in lines.iter_mut().zip(starts(&ends)) {
            line.fill(start);
        }
    }
    lines.into_iter().map(Writer::finish).collect()
}

/// The keys that get a column, in the order in which they stand.
fn columns<'r>(rows: &[Vec<&'r (String, String)>]) -> Vec<&'r str> {
    let mut keys: Vec<&str> = Vec::new();
    for (key, _) in rows.iter().flatten() {
        if !keys.contains(&key.as_str()) {
            keys.push(key);
        }
    }
    let place = |row: &[&(String, String)], key: &str| row.iter().position(|(own, _)| own == key);
    let mut chosen: Vec<&str> = Vec::new();
    for key in keys {
        let count = rows.iter().filter(|row| place(row, key).is_some()).count();
        let common = count * 3 >= rows.len() * 2 || key == LAST;
        // A key that stands in front of a chosen one in some row and behind it in another has no one place.
        let ordered = rows.iter().all(|row| match place(row, key) {
            Some(own) => chosen.iter().all(|other| place(row, other).is_none_or(|other| other < own)),
            None => true,
        });
        if count > 1 && common && ordered {
            chosen.push(key);
        }
    }
    chosen
}

/// How wide the numbers of a column are, if there are only numbers in it.
fn number_width(rows: &[Vec<&(String, String)>], key: &str) -> usize {
    let values = rows.iter().flatten().filter(|(own, _)| own == key).map(|(_, value)| value);
    let mut width = 0;
    for value in values {
        if !is_number(value) {
            return 0;
        }
        width = width.max(value.chars().count());
    }
    width
}

fn is_number(value: &str) -> bool {
    let digits = value.strip_prefix(['+', '-']).unwrap_or(value);
    digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.chars().all(|c| c.is_ascii_alphanumeric() || "._".contains(c))
}

/// Where things start that would at the earliest start at `ends`: as many as possible under one another, and the others
/// likewise among themselves. `None` has no part in it.
pub(super) fn starts(ends: &[Option<usize>]) -> Vec<Option<usize>> {
    let mut found: Vec<Option<usize>> = vec![None; ends.len()];
    loop {
        let mut open: Vec<usize> = Vec::new();
        for (end, start) in ends.iter().zip(&found) {
            if let (Some(end), None) = (end, start) {
                open.push(*end);
            }
        }
        open.sort_unstable();
        // The start that brings most under one another; of several, the leftmost.
        let mut best: Option<(usize, usize)> = None;
        let mut low = 0;
        for (high, start) in open.iter().enumerate() {
            while open.get(low).is_some_and(|end| start - end > WIDEST_GAP) {
                low += 1;
            }
            let count = high + 1 - low;
            if best.is_none_or(|(most, _)| count > most) {
                best = Some((count, *start));
            }
        }
        let Some((_, best)) = best else { return found };
        for (end, start) in ends.iter().zip(&mut found) {
            if start.is_none() && end.is_some_and(|end| end <= best && best - end <= WIDEST_GAP) {
                *start = Some(best);
            }
        }
    }
}

/// A row that is being written.
struct Writer<'r> {
    text: String,
    width: usize,
    left: &'r [&'r (String, String)],
}

impl<'r> Writer<'r> {
    fn new(row: &'r [&'r (String, String)]) -> Self {
        let mut writer = Writer { text: String::new(), width: 0, left: row };
        writer.push("{ ");
        writer
    }

    /// Writes what stands in front of a key, if the row has that key.
    fn write_until(&mut self, key: &str) {
        if self.left.iter().any(|(own, _)| own == key) {
            while self.left.first().is_some_and(|(own, _)| own != key) {
                self.write_pair(0);
            }
        }
    }

    /// How far the row is written, if the key is next in it.
    fn stands_at(&self, key: &str) -> Option<usize> {
        self.left.first().filter(|(own, _)| own == key).map(|_| self.width)
    }

    /// How far the row is written, if anything is left of it.
    fn open_end(&self) -> Option<usize> {
        self.left.first().map(|_| self.width)
    }

    /// Goes on at a start, if there is one.
    fn fill(&mut self, start: Option<usize>) {
        self.push(&" ".repeat(start.unwrap_or(0).saturating_sub(self.width)));
    }

    fn write_pair(&mut self, number_width: usize) {
        if let Some(((key, value), left)) = self.left.split_first() {
            let fill = number_width.saturating_sub(value.chars().count());
            self.push(&format!("{key} = {}{value}", " ".repeat(fill)));
            self.left = left;
            self.push(if left.is_empty() { " " } else { ", " });
        }
    }

    fn finish(mut self) -> String {
        while !self.left.is_empty() {
            self.write_pair(0);
        }
        if self.text == "{ " { "{}".to_owned() } else { self.text + "}" }
    }

    fn push(&mut self, text: &str) {
        self.width += text.chars().count();
        self.text.push_str(text);
    }
}
