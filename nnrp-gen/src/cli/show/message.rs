//! Messages.

use crate::model::{Direction, Message, Registry};

use super::{Item, View, layout, source};

fn direction(item: &Message) -> &'static str {
    match item.direction {
        Direction::ToServer => "to the server",
        Direction::ToClient => "to the client",
        Direction::Both => "both ways",
    }
}

pub(super) fn items(registry: &Registry) -> Vec<Item<'_>> {
    let fact = |item: &Message| format!("{:#04x}", item.value);
    registry.messages.iter().map(|item| Item { name: &item.name, fact: fact(item), doc: &item.doc }).collect()
}

pub(super) fn show(view: &View<'_>, item: &Message) -> String {
    let facts = [format!("message {:#04x}", item.value), direction(item).to_owned(), source(&item.source)];
    let mut out = view.head(&item.name, &facts, &item.doc);
    let part = |out: &mut String, heading: &str, position: Option<usize>| match position {
        Some(position) => {
            let layout = &view.registry.layouts[position];
            out.push_str(&view.heading(&format!("{heading}: {}, {} bytes", layout.name, layout.size)));
            if !view.brief {
                out.push_str(&layout::body(view, layout));
            }
        }
        None => out.push_str(&view.heading(&format!("{heading}: none"))),
    };
    if !view.brief {
        part(&mut out, "header", view.registry.protocol.header);
    }
    part(&mut out, "metadata", item.metadata);
    out
}
