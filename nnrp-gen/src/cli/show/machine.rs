//! State machines: their states, each with the arrows that leave it.

use crate::model::{Machine, Registry, Transition};

use super::super::WIDTH;
use super::super::paint::Ink;
use super::super::table::{counted, length, wrap};
use super::{Item, View, source};

pub(super) fn items(registry: &Registry) -> Vec<Item<'_>> {
    let fact = |item: &Machine| {
        let states = counted(item.states.len(), "state", "states");
        format!("{states}, {}", counted(item.transitions.len(), "arrow", "arrows"))
    };
    registry.machines.iter().map(|item| Item { name: &item.name, fact: fact(item), doc: &item.doc }).collect()
}

/// Columns that the messages on an arrow are wrapped to.
const ON: usize = 44;

/// Columns that a doc has at least.
const DOC: usize = 24;

pub(super) fn show(view: &View<'_>, item: &Machine) -> String {
    let states = match item.enumeration {
        Some(at) => format!("states of enum {}", view.registry.enums[at].name),
        None => counted(item.states.len(), "state", "states"),
    };
    let facts = ["state machine".to_owned(), states, source(&item.source)];
    let mut out = view.head(&item.name, &facts, &item.doc);
    let labels: Vec<_> = item.transitions.iter().map(|arrow| label(view.registry, arrow)).collect();
    let on = labels.iter().flatten().map(|line| length(line)).max().unwrap_or(0);
    let to = item.transitions.iter().map(|arrow| length(&item.states[arrow.to].name)).max().unwrap_or(0);
    for (at, state) in item.states.iter().enumerate() {
        let mut marks = Vec::new();
        if at == item.initial {
            marks.push("starts here");
        }
        if item.terminal.contains(&at) {
            marks.push("ends here");
        }
        let marks = if marks.is_empty() { String::new() } else { format!(" ({})", marks.join(", ")) };
        let name = format!("{}{}", view.paint.bold(&state.name), view.paint.ink(Ink::Green, &marks));
        push_line(&mut out, &format!("\n{name}  {}", view.paint.dim(&state.doc)));
        let arrows = item.transitions.iter().zip(&labels).filter(|(arrow, _)| arrow.from == at);
        let mut arrows = arrows.peekable();
        while let Some((arrow, label)) = arrows.next() {
            let drawn = Arrow {
                label,
                to: &item.states[arrow.to].name,
                doc: &arrow.doc,
                last: arrows.peek().is_none(),
            };
            drawn.draw(view, (on, to), &mut out);
        }
    }
    out
}

/// The messages on an arrow, in lines.
fn label(registry: &Registry, arrow: &Transition) -> Vec<String> {
    let names: Vec<_> = arrow.on.iter().map(|on| registry.messages[*on].name.as_str()).collect();
    if names.is_empty() { vec!["(by itself)".to_owned()] } else { wrap(&names.join(", "), ON) }
}

/// An arrow that leaves a state.
struct Arrow<'a> {
    label: &'a [String],
    to: &'a str,
    doc: &'a str,
    /// Whether it is the last of its state.
    last: bool,
}

impl Arrow<'_> {
    /// Draws it with `on` columns for the messages and `to` for the state.
    fn draw(&self, view: &View<'_>, (on, to): (usize, usize), out: &mut String) {
        let paint = view.paint;
        let docs = wrap(self.doc, WIDTH.saturating_sub(on + to + 12).max(DOC));
        let lines = self.label.len().max(self.label.len() - 1 + docs.len());
        for line in 0..lines {
            let side = match (line, self.last) {
                (0, true) => "  └─ ",
                (0, false) => "  ├─ ",
                (_, true) => "     ",
                (_, false) => "  │  ",
            };
            let text = self.label.get(line).map_or("", String::as_str);
            let rest = on - length(text).min(on);
            let target = if line + 1 == self.label.len() {
                let shaft = paint.dim(&format!("{}──►", "─".repeat(rest)));
                let gap = " ".repeat(to - length(self.to).min(to));
                format!(" {shaft} {}{gap}", paint.bold(self.to))
            } else {
                " ".repeat(rest + to + 5)
            };
            let doc = (line + 1).checked_sub(self.label.len()).and_then(|line| docs.get(line));
            let doc = paint.dim(doc.map_or("", String::as_str));
            push_line(out, &format!("{}{text}{target}  {doc}", paint.dim(side)));
        }
    }
}

/// Adds a line without the blanks at its end.
fn push_line(out: &mut String, line: &str) {
    out.push_str(line.trim_end_matches(' '));
    out.push('\n');
}
