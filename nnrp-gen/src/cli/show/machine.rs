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

/// The widest that the text on an arrow makes it; longer text goes beyond.
const ARROW: usize = 46;

pub(super) fn show(view: &View<'_>, item: &Machine) -> String {
    let states = match item.enumeration {
        Some(at) => format!("states of enum {}", view.registry.enums[at].name),
        None => counted(item.states.len(), "state", "states"),
    };
    let facts = ["state machine".to_owned(), states, source(&item.source)];
    let mut out = view.head(&item.name, &facts, &item.doc);
    let on = |arrow: &Transition| {
        let names = arrow.on.iter().map(|on| view.registry.messages[*on].name.as_str());
        let names = names.collect::<Vec<_>>().join(", ");
        if names.is_empty() { "(by itself)".to_owned() } else { names }
    };
    let width = item.transitions.iter().map(|arrow| length(&on(arrow))).filter(|width| *width <= ARROW);
    let width = width.max().unwrap_or(0);
    let target = item.transitions.iter().map(|arrow| length(&item.states[arrow.to].name)).max().unwrap_or(0);
    for (at, state) in item.states.iter().enumerate() {
        let mut marks = Vec::new();
        if at == item.initial {
            marks.push("starts here");
        }
        if item.terminal.contains(&at) {
            marks.push("ends here");
        }
        let marks = if marks.is_empty() { String::new() } else { format!(" ({})", marks.join(", ")) };
        let name = view.paint.bold(&state.name);
        out.push_str(&format!("\n{name}{}", view.paint.ink(Ink::Green, &marks)));
        out.push_str(&format!("  {}", view.paint.dim(&state.doc)));
        out.truncate(out.trim_end().len());
        out.push('\n');
        let arrows: Vec<_> = item.transitions.iter().filter(|arrow| arrow.from == at).collect();
        for (number, arrow) in arrows.iter().enumerate() {
            let last = number + 1 == arrows.len();
            let (corner, side) = if last { ("└", " ") } else { ("├", "│") };
            let on = on(arrow);
            let line = "─".repeat(width.saturating_sub(length(&on)));
            let to = &item.states[arrow.to].name;
            let used = 2 + 3 + length(&on).max(width) + 4 + target + 2;
            let room = WIDTH.saturating_sub(used);
            let docs = wrap(&arrow.doc, room.max(24));
            // A doc that finds no room beside the arrow stands below it.
            let beside = room >= 24 || arrow.doc.is_empty();
            let first = if beside { docs.first().map_or("", String::as_str) } else { "" };
            let gap = " ".repeat(target.saturating_sub(length(to)));
            let drawn = format!(
                "{} {on} {}",
                view.paint.dim(&format!("  {corner}─")),
                view.paint.dim(&format!("{line}──►"))
            );
            out.push_str(&format!("{drawn} {}{gap}  {}", view.paint.bold(to), view.paint.dim(first)));
            out.truncate(out.trim_end_matches(' ').len());
            out.push('\n');
            let indent = if beside { used - 3 } else { 6 };
            let rest = if beside { docs.get(1..).unwrap_or_default() } else { docs.as_slice() };
            for doc in rest {
                let side = view.paint.dim(&format!("  {side}"));
                out.push_str(&format!("{side}{}{}\n", " ".repeat(indent), view.paint.dim(doc)));
            }
        }
    }
    out
}
