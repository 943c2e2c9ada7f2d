//! Where the registry uses an item.

use crate::model::{Element, Field, Layout, Meaning, Registry};

/// The fields that fulfil a condition, as `layout.field`.
fn fields(registry: &Registry, of: impl Fn(&Field) -> bool) -> Vec<String> {
    let within = |layout: &Layout| {
        let name = layout.name.clone();
        let fields: Vec<_> = layout.fields.iter().filter(|field| of(field)).collect();
        fields.into_iter().map(|field| format!("{name}.{}", field.name)).collect::<Vec<_>>()
    };
    registry.layouts.iter().flat_map(within).collect()
}

/// What uses the enum at that position.
pub(super) fn of_enum(registry: &Registry, at: usize) -> Vec<String> {
    let mut uses = fields(registry, |field| field.meaning == Meaning::Enum(at));
    let machines = registry.machines.iter().filter(|machine| machine.enumeration == Some(at));
    uses.extend(machines.map(|machine| format!("state machine {}", machine.name)));
    uses
}

/// What uses the bitmask at that position.
pub(super) fn of_bitmask(registry: &Registry, at: usize) -> Vec<String> {
    fields(registry, |field| field.meaning == Meaning::Bitmask(at))
}

/// What uses the layout at that position.
pub(super) fn of_layout(registry: &Registry, at: usize) -> Vec<String> {
    let mut uses = Vec::new();
    if registry.protocol.header == Some(at) {
        uses.push("every message, as its header".to_owned());
    }
    let messages = registry.messages.iter().filter(|message| message.metadata == Some(at));
    uses.extend(messages.map(|message| format!("message {}, as its metadata", message.name)));
    uses.extend(fields(registry, |field| field.element == Element::Layout(at)));
    uses
}

/// The position of an item in the list that it stands in.
pub(super) fn position<T>(list: &[T], item: &T) -> usize {
    list.iter().position(|other| std::ptr::eq(other, item)).unwrap_or(list.len())
}
