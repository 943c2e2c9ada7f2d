//! A reference page in Markdown: everything that the registry says, for people.

mod packets;
mod table;

use crate::model::{Bitmask, Enum, Field, Layout, Machine, Meaning, Registry, Rule, Value};
use crate::rule::FieldRef;

use table::{Table, code, link};

/// The page.
pub fn page(registry: &Registry) -> String {
    let mut page = Page { registry, out: String::new() };
    page.protocol();
    page.messages();
    page.section("Layouts", &registry.layouts, Page::layout);
    page.bodies();
    page.section("Enums", &registry.enums, Page::enumeration);
    page.section("Bitmasks", &registry.bitmasks, Page::bitmask);
    page.vocabularies();
    page.section("State machines", &registry.machines, Page::machine);
    page.schemas();
    page.out
}

struct Page<'a> {
    registry: &'a Registry,
    out: String,
}

impl Page<'_> {
    /// A paragraph, with an empty line before it.
    fn paragraph(&mut self, text: &str) {
        if !text.is_empty() {
            self.out.push('\n');
            self.out.push_str(text);
            self.out.push('\n');
        }
    }

    fn section<T>(&mut self, title: &str, items: &[T], one: fn(&mut Self, &T)) {
        if !items.is_empty() {
            self.paragraph(&format!("## {title}"));
            items.iter().for_each(|item| one(self, item));
        }
    }

    /// The heading of an item, and what is said of it. The anchor has the kind in it, since a message may share its name
    /// with a layout.
    fn head(&mut self, kind: &str, name: &str, facts: &[String], doc: &str, source: &str) {
        self.paragraph(&format!("<a id=\"{kind}-{name}\"></a>\n### {name}"));
        let source = (!source.is_empty()).then(|| format!("Source: {source}."));
        let mut facts = facts.join(", ");
        if !facts.is_empty() {
            facts.push('.');
        }
        let words = [doc.to_owned(), facts, source.unwrap_or_default()];
        let words: Vec<_> = words.into_iter().filter(|words| !words.is_empty()).collect();
        self.paragraph(&words.join(" "));
    }

    fn table(&mut self, table: Table) {
        let text = table.text();
        self.paragraph(text.trim_end());
    }

    fn protocol(&mut self) {
        let protocol = &self.registry.protocol;
        let version = protocol.version_major.map_or(String::new(), |version| format!("/{version}"));
        self.out = format!("# {}{version}\n", protocol.name.to_uppercase());
        self.paragraph(&protocol.doc);
        let mut facts =
            vec![format!("Integers are {} unless a layout says otherwise.", order(protocol.byte_order))];
        if let Some(header) = protocol.header {
            facts.push(format!("Packets begin with {}.", self.layout_link(header)));
        }
        if !protocol.alpn.is_empty() {
            let names: Vec<_> = protocol.alpn.iter().map(|name| code(name)).collect();
            facts.push(format!("ALPN: {}.", names.join(", ")));
        }
        self.paragraph(&facts.join(" "));
    }

    fn layout(&mut self, item: &Layout) {
        let facts = [format!("{} bytes, {}", item.size, order(item.byte_order))];
        self.head("layout", &item.name, &facts, &item.doc, &item.source);
        let mut table = Table::new(["offset", "bytes", "field", "type", "meaning"]);
        for field in &item.fields {
            table.row([
                field.offset.to_string(),
                field.size.to_string(),
                code(&field.name),
                self.type_of(field),
                meaning(field),
            ]);
        }
        self.table(table);
        let blamed =
            |field: FieldRef| item.fields.get(field.index).map_or("", |field| &field.name).to_owned();
        self.rules(&item.rules, &blamed);
    }

    fn type_of(&self, field: &Field) -> String {
        let ty = code(&field.type_name(self.registry));
        match field.meaning {
            Meaning::Enum(item) => {
                let name = &self.registry.enums[item].name;
                format!("{ty} {}", link("enum", name))
            }
            Meaning::Bitmask(item) => {
                let name = &self.registry.bitmasks[item].name;
                format!("{ty} {}", link("bitmask", name))
            }
            Meaning::Bool => format!("{ty} bool"),
            _ if !field.unit.is_empty() => format!("{ty} {}", field.unit),
            _ => ty,
        }
    }

    fn layout_link(&self, position: usize) -> String {
        link("layout", &self.registry.layouts[position].name)
    }

    /// Rules in their order, with what they blame.
    fn rules(&mut self, rules: &[Rule], blamed: &dyn Fn(FieldRef) -> String) {
        if rules.is_empty() {
            return;
        }
        let mut table = Table::new(["rule", "when", "require", "blames", ""]);
        for rule in rules {
            let (when, require) = &rule.text;
            table.row([
                rule.id.clone(),
                when.as_deref().map_or(String::new(), code),
                code(require),
                code(&blamed(rule.blame)),
                rule.doc.clone(),
            ]);
        }
        self.table(table);
    }

    fn enumeration(&mut self, item: &Enum) {
        self.head("enum", &item.name, &[code(item.ty.name())], &item.doc, &item.source);
        let mut table = Table::new(["value", "name", ""]);
        let width = item.ty.size() as usize * 2 + 2;
        for Value { value, name, doc } in &item.values {
            table.row([format!("{value:#0width$x}"), code(name), doc.clone()]);
        }
        for range in &item.ranges {
            let (from, to) = (range.from, range.to);
            let numbers = format!("{from:#0width$x} to {to:#0width$x}");
            table.row([numbers, range.name.clone(), range.doc.clone()]);
        }
        self.table(table);
    }

    fn bitmask(&mut self, item: &Bitmask) {
        self.head("bitmask", &item.name, &[code(item.ty.name())], &item.doc, &item.source);
        let mut table = Table::new(["bit", "mask", "name", ""]);
        let width = item.ty.size() as usize * 2 + 2;
        for bit in &item.bits {
            let mask = format!("{:#0width$x}", bit.mask);
            table.row([bit.mask.trailing_zeros().to_string(), mask, code(&bit.name), bit.doc.clone()]);
        }
        self.table(table);
    }

    fn machine(&mut self, item: &Machine) {
        self.head("machine", &item.name, &[], &item.doc, &item.source);
        let name = |state: usize| item.states[state].name.as_str();
        let mut diagram = format!("```mermaid\nstateDiagram-v2\n    [*] --> {}\n", name(item.initial));
        for arrow in &item.transitions {
            diagram.push_str(&format!("    {} --> {}\n", name(arrow.from), name(arrow.to)));
        }
        for state in &item.terminal {
            diagram.push_str(&format!("    {} --> [*]\n", name(*state)));
        }
        diagram.push_str("```");
        self.paragraph(&diagram);
        let mut table = Table::new(["from", "to", "on", ""]);
        for arrow in &item.transitions {
            let on: Vec<_> = arrow
                .on
                .iter()
                .map(|message| link("message", &self.registry.messages[*message].name))
                .collect();
            table.row([code(name(arrow.from)), code(name(arrow.to)), on.join(", "), arrow.doc.clone()]);
        }
        self.table(table);
    }
}

fn order(order: crate::model::ByteOrder) -> &'static str {
    match order {
        crate::model::ByteOrder::Little => "little-endian",
        crate::model::ByteOrder::Big => "big-endian",
    }
}

/// What a field says beside its type.
fn meaning(field: &Field) -> String {
    let first = match &field.meaning {
        Meaning::Reserved => return "reserved, 0".to_owned(),
        Meaning::Constant(bytes) => Some(format!("Always {}.", code(&crate::codec::bytes_as_text(bytes)))),
        _ => None,
    };
    let since = field.since.as_ref().map(|since| format!("Since {since}."));
    let deprecated = field.deprecated.as_ref().map(|why| format!("Deprecated: {why}"));
    let doc = (!field.doc.is_empty()).then(|| field.doc.clone());
    [first, doc, since, deprecated].into_iter().flatten().collect::<Vec<_>>().join(" ")
}
