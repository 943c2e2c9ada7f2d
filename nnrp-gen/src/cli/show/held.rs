//! What the segments of a message hold, each thing once.

use crate::model::{Body, Content, Message};

use super::super::WIDTH;
use super::{View, body, content, entry, layout, vocabulary};

/// Everything that a message's body is made of, in the order in which it comes up.
pub(super) fn of_message(view: &View<'_>, item: &Message) -> String {
    let mut held = Held { view, message: message(view, item), shown: Vec::new(), out: String::new() };
    for segment in &item.segments {
        held.add(segment.content);
        segment.cases.iter().for_each(|case| held.add(case.content));
    }
    held.out
}

fn message(view: &View<'_>, item: &Message) -> Option<usize> {
    view.registry.messages.iter().position(|other| other.name == item.name)
}

/// What is shown so far.
struct Held<'v> {
    view: &'v View<'v>,
    message: Option<usize>,
    shown: Vec<Content>,
    out: String,
}

impl Held<'_> {
    fn add(&mut self, item: Content) {
        if item == Content::Opaque || self.shown.contains(&item) {
            return;
        }
        self.shown.push(item);
        let (view, registry) = (self.view, self.view.registry);
        let doc = match item {
            Content::Layout(at) => &registry.layouts[at].doc,
            Content::Entry(at) => &registry.entries[at].doc,
            Content::Body(at) => &registry.bodies[at].doc,
            Content::Vocabulary(at) => &registry.vocabularies[at].doc,
            Content::Opaque => return,
        };
        let name = content(registry, item);
        self.out.push_str(&if doc.is_empty() { view.heading(&name) } else { view.paragraph(&name, doc) });
        match item {
            Content::Layout(at) => self.out.push_str(&layout::body(view, &registry.layouts[at])),
            Content::Entry(at) => {
                self.out.push_str(&entry::body(view, &registry.entries[at], self.message));
                self.payloads(registry.entries[at].select.as_ref());
            }
            Content::Body(at) => {
                self.out.push_str(&body::body(view, &registry.bodies[at]));
                self.parts(&registry.bodies[at]);
            }
            Content::Vocabulary(at) => {
                let words = vocabulary::words(&registry.vocabularies[at]);
                self.out.push_str(&words.draw(WIDTH, 2, view.paint));
            }
            Content::Opaque => {}
        }
    }

    fn parts(&mut self, body: &Body) {
        let registry = self.view.registry;
        for part in &body.parts {
            self.add(part.content);
            if let Some((leading, _)) = part.leading {
                self.add(Content::Layout(leading));
            }
            let Some(slices) = &part.slices else { continue };
            let Some(select) = &slices.select else { continue };
            let payloads = entry::payloads(self.view, &registry.layouts[slices.layout], select, self.message);
            if !payloads.is_empty() {
                self.out.push_str(&self.view.heading(&format!("{}: slices", part.name)));
                self.out.push_str(&payloads);
            }
            self.payloads(Some(select));
        }
    }

    /// The layouts of payloads that are known in the message.
    fn payloads(&mut self, select: Option<&crate::model::Select>) {
        let choices = select.map_or(&[][..], |select| &select.choices);
        for choice in choices {
            let here = self.message.is_none_or(|message| choice.messages.contains(&message));
            if choice.messages.is_empty() || here {
                self.add(Content::Layout(choice.layout));
            }
        }
    }
}
