//! `show`: what the registry says, to look at.

mod bitmask;
mod body;
mod diagram;
mod entry;
mod enumeration;
mod held;
mod layout;
mod list;
mod machine;
mod message;
mod schema;
mod uses;
mod vocabulary;

use clap::Args;

use crate::model::{ByteOrder, Content, Registry};
use crate::suggest::did_you_mean;

use super::WIDTH;
use super::output::{Done, Failure};
use super::paint::{Ink, Paint, Paints};
use super::table::wrap;

/// Shows a layout, a message or anything else that has a name; without a name a list of everything
#[derive(Args)]
#[command(override_usage = "nnrp-gen show [OPTIONS] [[KIND] NAME]")]
#[command(after_help = "Examples:
  nnrp-gen show
  nnrp-gen show session_close
  nnrp-gen show message session_close
  nnrp-gen show state_machine")]
pub(super) struct Arguments {
    /// What to show: a name, a kind and a name, or a kind for the list of its names
    #[arg(value_name = "NAME", num_args = 0..=2)]
    name: Vec<String>,
}

/// A kind of item: how the registry calls its table, and how to show it.
struct Kind {
    name: &'static str,
    /// What its list is called.
    heading: &'static str,
    /// Its items in registry order: name, a fact about it, its doc.
    items: fn(&Registry) -> Vec<Item<'_>>,
    /// Draws the item at that position.
    show: fn(&View<'_>, usize) -> String,
}

/// An item in a list.
struct Item<'a> {
    name: &'a str,
    fact: String,
    doc: &'a str,
}

/// Every kind, in the order in which they are listed.
const KINDS: &[Kind] = &[
    Kind {
        name: "layout",
        heading: "layouts",
        items: |registry| layout::items(registry),
        show: |view, at| layout::show(view, &view.registry.layouts[at]),
    },
    Kind {
        name: "enum",
        heading: "enums",
        items: |registry| enumeration::items(registry),
        show: |view, at| enumeration::show(view, &view.registry.enums[at]),
    },
    Kind {
        name: "bitmask",
        heading: "bitmasks",
        items: |registry| bitmask::items(registry),
        show: |view, at| bitmask::show(view, &view.registry.bitmasks[at]),
    },
    Kind {
        name: "message",
        heading: "messages",
        items: |registry| message::items(registry),
        show: |view, at| message::show(view, &view.registry.messages[at]),
    },
    Kind {
        name: "body",
        heading: "bodies",
        items: |registry| body::items(registry),
        show: |view, at| body::show(view, &view.registry.bodies[at]),
    },
    Kind {
        name: "entry",
        heading: "entries",
        items: |registry| entry::items(registry),
        show: |view, at| entry::show(view, &view.registry.entries[at]),
    },
    Kind {
        name: "vocabulary",
        heading: "vocabularies",
        items: |registry| vocabulary::items(registry),
        show: |view, at| vocabulary::show(view, &view.registry.vocabularies[at]),
    },
    Kind {
        name: "schema",
        heading: "schemas",
        items: |registry| schema::items(registry),
        show: |view, at| schema::show(view, &view.registry.schemas[at]),
    },
    Kind {
        name: "state_machine",
        heading: "state machines",
        items: |registry| machine::items(registry),
        show: |view, at| machine::show(view, &view.registry.machines[at]),
    },
];

/// The registry and how to draw it.
struct View<'a> {
    registry: &'a Registry,
    paint: Paint,
    /// Whether the layout of a message's metadata is drawn already.
    brief: bool,
}

pub(super) fn run(arguments: &Arguments, registry: &Registry, paints: Paints) -> Result<Done, Failure> {
    let view = View { registry, paint: paints.out, brief: false };
    match arguments.name.as_slice() {
        [] => Ok(Done::good(list::everything(&view))),
        [name] => named(&view, name),
        [kind, name, ..] => {
            let Some(found) = KINDS.iter().find(|known| known.name == kind) else {
                let help = did_you_mean(kind, KINDS.iter().map(|kind| kind.name));
                return Err(Failure::usage(format!("there is no kind `{kind}`")).help(help));
            };
            let items = (found.items)(registry);
            match items.iter().position(|item| item.name == name) {
                Some(at) => Ok(Done::good((found.show)(&view, at))),
                None => {
                    let help = did_you_mean(name, items.iter().map(|item| item.name));
                    Err(Failure::usage(format!("there is no {} `{name}`", spoken(found.name))).help(help))
                }
            }
        }
    }
}

/// Everything of that name, or the list of the kind that is called so.
fn named(view: &View<'_>, name: &str) -> Result<Done, Failure> {
    let mut shown = Vec::new();
    let mut known = Vec::new();
    for kind in KINDS {
        let items = (kind.items)(view.registry);
        if let Some(at) = items.iter().position(|item| item.name == name) {
            let brief = !shown.is_empty();
            shown.push((kind.show)(&View { brief, ..*view }, at));
        }
        known.extend(items.into_iter().map(|item| item.name));
    }
    if !shown.is_empty() {
        let between = format!("\n{}\n\n", view.paint.dim(&"─".repeat(WIDTH)));
        return Ok(Done::good(shown.join(&between)));
    }
    if let Some(kind) = KINDS.iter().find(|kind| kind.name == name || kind.heading == name) {
        return Ok(Done::good(list::kind(view, kind)));
    }
    known.extend(KINDS.iter().map(|kind| kind.name));
    let help = did_you_mean(name, known).unwrap_or_else(|| "`nnrp-gen show` lists all names".to_owned());
    Err(Failure::usage(format!("the registry has no `{name}`")).help(Some(help)))
}

fn spoken(kind: &str) -> String {
    kind.replace('_', " ")
}

impl View<'_> {
    /// The first lines of an item: its name, what it is, and its doc.
    fn head(&self, name: &str, facts: &[String], doc: &str) -> String {
        let facts: Vec<_> = facts.iter().filter(|fact| !fact.is_empty()).map(String::as_str).collect();
        let mut out = String::new();
        for (number, line) in wrap(&format!("{name} · {}", facts.join(" · ")), WIDTH).iter().enumerate() {
            let (start, rest) = line.split_at(if number == 0 { name.len() } else { 0 });
            out.push_str(&format!("{}{}\n", self.paint.bold(start), self.paint.dim(rest)));
        }
        if !doc.is_empty() {
            for line in wrap(doc, WIDTH) {
                out.push_str(&line);
                out.push('\n');
            }
        }
        out
    }

    /// A heading inside an item.
    fn heading(&self, text: &str) -> String {
        format!("\n{}\n", self.paint.ink(Ink::Cyan, text))
    }

    /// A heading and a paragraph below it; nothing without a text.
    fn paragraph(&self, heading: &str, text: &str) -> String {
        if text.is_empty() {
            return String::new();
        }
        let mut out = self.heading(heading);
        for line in wrap(text, WIDTH - 2) {
            out.push_str(&format!("  {line}\n"));
        }
        out
    }
}

/// Where something is defined, as a fact.
fn source(source: &str) -> String {
    if source.is_empty() { String::new() } else { format!("source {source}") }
}

/// What a segment or a part holds.
fn content(registry: &Registry, content: Content) -> String {
    match content {
        Content::Opaque => "opaque".to_owned(),
        Content::Layout(item) => format!("layout {}", registry.layouts[item].name),
        Content::Entry(item) => format!("entry {}", registry.entries[item].name),
        Content::Body(item) => format!("body {}", registry.bodies[item].name),
        Content::Vocabulary(item) => format!("vocabulary {}", registry.vocabularies[item].name),
    }
}

fn byte_order(order: ByteOrder) -> String {
    match order {
        ByteOrder::Little => "little-endian".to_owned(),
        ByteOrder::Big => "big-endian".to_owned(),
    }
}

/// A number of an enum or a bitmask in digits that suit all of them.
fn number(number: u64, bytes: u32, most: u64) -> String {
    let digits = bytes as usize * 2;
    if bytes == 1 || most < 256 {
        number.to_string()
    } else {
        format!("{number:#0width$x}", width = digits + 2)
    }
}
