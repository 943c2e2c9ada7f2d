//! The annotated hex dump: bytes beside field, value and meaning, and what is wrong at its place.

use crate::codec::{self, Fault, Value};
use crate::model::{Element, Enum, Field, Layout, Meaning, Registry, Scalar};
use crate::wire::FaultKind;

use super::paint::{Ink, Paint};
use super::table::{Cell, Table, cell, counted, left, right, wrap};
use super::{WIDTH, hex};

/// Bytes in a line.
pub(super) const LINE: usize = 8;

/// The bytes of a layout, with these faults marked.
pub(super) fn layout(
    registry: &Registry,
    layout: &Layout,
    bytes: &[u8],
    faults: &[Fault],
    paint: Paint,
) -> String {
    let mut dump = Dump::new(registry, faults);
    let there = &bytes[..bytes.len().min(layout.size as usize)];
    dump.fields(layout, there, 0, "");
    dump.beyond(&bytes[there.len()..], there.len());
    dump.rest(there.len());
    let head = format!("{} · {}", layout.name, counted(layout.size as usize, "byte", "bytes"));
    let doc = if layout.doc.is_empty() { String::new() } else { format!(" · {}", layout.doc) };
    let lines = wrap(&format!("{head}{doc}"), WIDTH);
    let head = lines.join("\n").replacen(&layout.name, &paint.bold(&layout.name), 1);
    format!("{head}\n\n{}", dump.draw(paint))
}

pub(super) fn columns() -> Table {
    Table::new([right("offset"), left("bytes"), left("field"), left("value").most(20), left("meaning")])
}

/// A dump being made.
pub(super) struct Dump<'a> {
    pub registry: &'a Registry,
    faults: &'a [Fault],
    /// Which faults stand in the table already.
    marked: Vec<bool>,
    pub table: Table,
}

impl<'a> Dump<'a> {
    /// An empty one, in which these faults will be marked.
    pub fn new(registry: &'a Registry, faults: &'a [Fault]) -> Self {
        Self { registry, faults, marked: vec![false; faults.len()], table: columns() }
    }

    /// The dump as text.
    pub fn draw(&self, paint: Paint) -> String {
        self.table.draw(WIDTH, 0, paint)
    }

    /// The fields of a layout that starts at `base`.
    pub fn fields(&mut self, layout: &Layout, bytes: &[u8], base: usize, path: &str) {
        for field in &layout.fields {
            let range = field.range();
            if range.start >= bytes.len() {
                break;
            }
            let there = &bytes[range.start..range.end.min(bytes.len())];
            let path = format!("{path}{}", field.name);
            let at = base + range.start;
            match field.element {
                Element::Layout(inner) => {
                    let inner = &self.registry.layouts[inner];
                    let step = (inner.size as usize).max(1);
                    for (number, bytes) in there.chunks(step).enumerate() {
                        let index = field.count.map_or(String::new(), |_| format!("[{number}]"));
                        self.fields(inner, bytes, at + number * step, &format!("{path}{index}."));
                    }
                }
                Element::Scalar(scalar) => self.field(layout, field, scalar, there, at, path),
            }
        }
    }

    fn field(
        &mut self,
        layout: &Layout,
        field: &Field,
        scalar: Scalar,
        bytes: &[u8],
        at: usize,
        path: String,
    ) {
        let whole = codec::field_value(self.registry, layout, field, bytes);
        let wrong = self.faults.iter().any(|fault| fault.offset == at && fault.field == field.name);
        let ink = match field.meaning {
            _ if wrong => Ink::Red,
            Meaning::Reserved => Ink::Dim,
            _ => Ink::Plain,
        };
        let name = cell(if ink == Ink::Plain { Ink::Bold } else { ink }, path);
        let meaning = match &whole {
            Some(value) => self.meaning(field, value).below(2),
            None => cell(Ink::Red, "cut off"),
        };
        let value = |part: &[u8]| match (&whole, field.count) {
            (None, _) => String::new(),
            (Some(value), None) => {
                let unit = if field.unit.is_empty() { String::new() } else { format!(" {}", field.unit) };
                number(layout, field, bytes, value) + &unit
            }
            (Some(_), Some(_)) => elements(layout, scalar, part),
        };
        self.rows(bytes, at, name, ink, &value, meaning);
        self.mark(at, &field.name);
    }

    /// Bytes that are no field, and the faults in them.
    pub fn lines(
        &mut self,
        bytes: &[u8],
        at: usize,
        (ink, name): (Ink, &str),
        value: &dyn Fn(&[u8]) -> String,
        meaning: &str,
    ) {
        self.rows(bytes, at, cell(ink, name), Ink::Plain, value, cell(Ink::Dim, meaning).below(2));
        let faults = self.faults;
        for (fault, marked) in faults.iter().zip(&mut self.marked) {
            if !*marked && (at..at + bytes.len()).contains(&fault.offset) {
                *marked = true;
                self.table.note(1, mark(fault));
            }
        }
    }

    /// Bytes line by line, with what they are beside the first.
    fn rows(
        &mut self,
        bytes: &[u8],
        at: usize,
        mut name: Cell,
        ink: Ink,
        value: &dyn Fn(&[u8]) -> String,
        mut meaning: Cell,
    ) {
        let lines = bytes.len().div_ceil(LINE);
        let mut same = 0;
        for (line, part) in bytes.chunks(LINE).enumerate() {
            let before = line.checked_sub(1).map(|line| &bytes[line * LINE..][..LINE]);
            if before == Some(part) && line + 1 < lines {
                same += 1;
                continue;
            }
            self.repeated(std::mem::take(&mut same));
            self.table.row([
                cell(Ink::Dim, (at + line * LINE).to_string()),
                hex::write(part, " ").into(),
                std::mem::take(&mut name),
                cell(ink, value(part)),
                std::mem::take(&mut meaning),
            ]);
        }
    }

    /// Lines that are like the one before.
    fn repeated(&mut self, lines: usize) {
        if lines > 0 {
            let lines = counted(lines, "line", "lines");
            self.table.note(1, cell(Ink::Dim, format!("… {lines} like this")));
        }
    }

    fn meaning(&self, field: &Field, value: &Value) -> Cell {
        match (&field.meaning, value) {
            (Meaning::Reserved, _) => cell(Ink::Dim, "reserved"),
            (Meaning::Constant(_), _) => cell(Ink::Dim, join("constant.", &field.doc)),
            (Meaning::Enum(item), Value::Text(name)) => {
                let item = &self.registry.enums[*item];
                let doc = item.named(name).map_or("", |value| value.doc.as_str());
                Cell::from(join(&format!("{name}."), doc))
            }
            (Meaning::Enum(item), Value::Unsigned(number)) => {
                Cell::from(in_range(self.registry, &self.registry.enums[*item], *number))
            }
            (Meaning::Bitmask(_), Value::Bits { names, unknown }) => {
                let unknown = (*unknown != 0).then(|| format!("{unknown:#x}"));
                let set: Vec<_> = names.iter().cloned().chain(unknown).collect();
                if set.is_empty() { cell(Ink::Dim, "no bits") } else { Cell::from(set.join(" | ")) }
            }
            _ => cell(Ink::Dim, field.doc.clone()),
        }
    }

    /// Bytes behind the layout.
    fn beyond(&mut self, bytes: &[u8], at: usize) {
        const SHOWN: usize = 4 * LINE;
        for (line, part) in bytes[..bytes.len().min(SHOWN)].chunks(LINE).enumerate() {
            let name = if line == 0 { "(behind the layout)" } else { "" };
            let offset = cell(Ink::Dim, (at + line * LINE).to_string());
            self.table.row([offset, hex::write(part, " ").into(), cell(Ink::Red, name)]);
        }
        if bytes.len() > SHOWN {
            let more = counted(bytes.len() - SHOWN, "byte", "bytes");
            self.table.note(1, cell(Ink::Dim, format!("… and {more} more")));
        }
    }

    /// Marks what is wrong with the field at that offset.
    fn mark(&mut self, at: usize, field: &str) {
        let faults = self.faults;
        for (fault, marked) in faults.iter().zip(&mut self.marked) {
            if !*marked && fault.offset == at && fault.field == field {
                *marked = true;
                self.table.note(1, mark(fault));
            }
        }
    }

    /// Marks what is wrong with the whole.
    pub fn rest(&mut self, found: usize) {
        let faults = self.faults;
        for (fault, marked) in faults.iter().zip(&self.marked) {
            if *marked {
                continue;
            }
            if fault.kind == FaultKind::TooShort && found == 0 {
                self.table.row(["0".into(), cell(Ink::Dim, "nothing")]);
            }
            self.table.note(1, mark(fault));
        }
    }
}

fn mark(fault: &Fault) -> Cell {
    cell(Ink::Red, format!("^^ {fault}"))
}

fn join(first: &str, then: &str) -> String {
    if then.is_empty() { first.trim_end_matches('.').to_owned() } else { format!("{first} {then}") }
}

/// The value of a single number, as the number itself.
fn number(layout: &Layout, field: &Field, bytes: &[u8], value: &Value) -> String {
    match value {
        Value::F32(_) | Value::F64(_) => {
            codec::float(value).map(|float| float.to_string()).unwrap_or_default()
        }
        Value::Bits { .. } => format!("{:#x}", codec::raw(bytes, layout.byte_order)),
        Value::Bool(truth) => truth.to_string(),
        _ => {
            let scalar = field.scalar().unwrap_or(Scalar::U64);
            codec::integer(bytes, scalar, layout.byte_order).to_string()
        }
    }
}

/// Elements of an array as text.
fn elements(layout: &Layout, scalar: Scalar, bytes: &[u8]) -> String {
    if scalar == Scalar::U8 {
        let printable = bytes.iter().all(|byte| matches!(byte, b' '..=b'~'));
        return if printable { format!("{:?}", String::from_utf8_lossy(bytes)) } else { String::new() };
    }
    let each = bytes.chunks(scalar.size() as usize).map(|bytes| match scalar {
        Scalar::F32 => f32::from_bits(codec::raw(bytes, layout.byte_order) as u32).to_string(),
        Scalar::F64 => f64::from_bits(codec::raw(bytes, layout.byte_order)).to_string(),
        scalar => codec::integer(bytes, scalar, layout.byte_order).to_string(),
    });
    each.collect::<Vec<_>>().join(", ")
}

/// What a number means that no value of the enum has.
fn in_range(registry: &Registry, item: &Enum, number: u64) -> String {
    let Some(range) = item.range(number) else { return "not known".to_owned() };
    let family = range.family.and_then(|family| registry.enums[family].value(number));
    match family {
        Some(value) => join(&format!("{}.", value.name), &value.doc),
        None => join(&format!("{}.", range.name), &range.doc),
    }
}
