//! Messages and what their bodies are made of.

use crate::model::{Content, Direction, Message, Registry, Segment};
use crate::rule::{FieldRef, Space};

use super::Page;
use super::table::{Table, code, link};

impl Page<'_> {
    pub(super) fn messages(&mut self) {
        let registry = self.registry;
        if registry.messages.is_empty() {
            return;
        }
        self.paragraph("## Messages");
        let mut table = Table::new(["value", "message", "metadata", "body", "scope", "direction"]);
        for item in &registry.messages {
            let body: Vec<_> = item.segments.iter().map(|segment| segment.name.clone()).collect();
            table.row([
                format!("{:#04x}", item.value),
                link("message", &item.name),
                item.metadata.map_or(String::new(), |layout| self.layout_link(layout)),
                body.join(", "),
                item.scope.join(", "),
                direction(item.direction).to_owned(),
            ]);
        }
        self.table(table);
        registry.messages.iter().for_each(|item| self.message(item));
    }

    fn message(&mut self, item: &Message) {
        let metadata = item
            .metadata
            .map_or("no metadata".to_owned(), |layout| format!("metadata {}", self.layout_link(layout)));
        let facts = [format!("{:#04x}", item.value), metadata, direction(item.direction).to_owned()];
        self.head("message", &item.name, &facts, &item.doc, &item.source);
        let mut table = Table::new(["segment", "length", "holds", ""]);
        for segment in &item.segments {
            let length = segment.length.map_or("the rest".to_owned(), |field| code(self.field(item, field)));
            table.row([code(&segment.name), length, self.holds(segment), segment.doc.clone()]);
        }
        self.table(table);
        let registry = self.registry;
        let blamed = |field: FieldRef| blamed(registry, item, field);
        let rules: Vec<_> = item.scope_rules.iter().chain(&item.rules).cloned().collect();
        self.rules(&rules, &blamed);
    }

    /// A field of the metadata.
    fn field(&self, item: &Message, field: usize) -> &str {
        let layout = item.metadata.and_then(|layout| self.registry.layouts.get(layout));
        layout.and_then(|layout| layout.fields.get(field)).map_or("", |field| &field.name)
    }

    fn holds(&self, segment: &Segment) -> String {
        let cases: Vec<_> = segment
            .cases
            .iter()
            .map(|case| format!("{:#x}: {}", case.value, self.content(case.content)))
            .collect();
        if cases.is_empty() { self.content(segment.content) } else { cases.join(", ") }
    }

    fn content(&self, content: Content) -> String {
        match content {
            Content::Opaque => "bytes".to_owned(),
            Content::Layout(item) => self.layout_link(item),
            Content::Entry(item) => link("entry", &self.registry.entries[item].name),
            Content::Body(item) => link("body", &self.registry.bodies[item].name),
            Content::Vocabulary(item) => link("vocabulary", &self.registry.vocabularies[item].name),
        }
    }

    pub(super) fn bodies(&mut self) {
        let registry = self.registry;
        self.section("Bodies", &registry.bodies, |page, item| {
            let optional = if item.optional { ", may be absent" } else { "" };
            let facts = [format!("Begins with {}{optional}", page.layout_link(item.prelude))];
            page.head("body", &item.name, &facts, &item.doc, &item.source);
            let prelude = &page.registry.layouts[item.prelude];
            let mut table = Table::new(["part", "length", "holds", ""]);
            for part in &item.parts {
                let length = prelude.fields.get(part.length).map_or("", |field| &field.name);
                table.row([code(&part.name), code(length), page.content(part.content), part.doc.clone()]);
            }
            page.table(table);
        });
        self.section("Entries", &registry.entries, |page, item| {
            let padding =
                if item.align > 1 { format!(", padded to {} bytes", item.align) } else { String::new() };
            let facts = [format!("Header {}{padding}", page.layout_link(item.header))];
            page.head("entry", &item.name, &facts, &item.doc, &item.source);
            let mut table = Table::new(["type", "name", "payload", ""]);
            for choice in item.select.iter().flat_map(|select| &select.choices) {
                let (value, name) = (format!("{:#06x}", choice.value), code(&choice.name));
                table.row([value, name, page.layout_link(choice.layout), choice.doc.clone()]);
            }
            page.table(table);
        });
    }

    pub(super) fn vocabularies(&mut self) {
        let registry = self.registry;
        self.section("Vocabularies", &registry.vocabularies, |page, item| {
            let facts = [format!("Words behind {} lengths", code(item.length_type.name()))];
            page.head("vocabulary", &item.name, &facts, &item.doc, &item.source);
            let mut table = Table::new(["word", ""]);
            for (word, doc) in &item.words {
                table.row([code(word), doc.clone()]);
            }
            page.table(table);
        });
    }

    pub(super) fn schemas(&mut self) {
        let registry = self.registry;
        if registry.schemas.is_empty() {
            return;
        }
        self.paragraph("## Standard schemas");
        let mut table = Table::new(["id", "version", "name", "profile", "semantics", ""]);
        for item in &registry.schemas {
            table.row([
                format!("{:#010x}", item.schema_id),
                item.schema_version.to_string(),
                code(&item.name),
                code(&item.profile),
                code(&item.semantics),
                item.doc.clone(),
            ]);
        }
        self.table(table);
    }
}

const fn direction(direction: Direction) -> &'static str {
    match direction {
        Direction::ToServer => "to the server",
        Direction::ToClient => "to the client",
        Direction::Both => "both ways",
    }
}

/// The field that a rule of a message blames, of its metadata or of the header.
fn blamed(registry: &Registry, item: &Message, field: FieldRef) -> String {
    let of_header = field.space == Space::Header;
    let layout = if of_header { registry.protocol.header } else { item.metadata };
    let found = layout.and_then(|layout| registry.layouts[layout].fields.get(field.index));
    let name = found.map_or("", |field| &field.name);
    if of_header { format!("header.{name}") } else { name.to_owned() }
}
