//! C: one header with the layouts, values and checks of a registry, for C99 and C++11.
//!
//! The twin of the Rust emitter: what one accepts, refuses and blames, the other does.

mod bitmasks;
mod bodies;
mod checks;
mod digest;
mod entries;
mod enums;
mod faults;
mod layouts;
mod machines;
mod messages;
mod names;
mod packets;
mod pieces;
mod places;
mod protocol;
mod rules;
mod segments;
mod slots;
mod tensors;
mod text;
mod vocabularies;
mod write;

use std::collections::BTreeSet;

use crate::model::{Element, Layout, Registry, Scalar};

use names::Names;
use places::Places;
use text::heading;

pub use digest::digest;

/// The header of a registry.
///
/// # Errors
///
/// Where two names become one in C: a line for each such pair, which names both.
pub fn header(registry: &Registry) -> Result<String, String> {
    let c = C::new(registry);
    let text = c.header();
    match c.names.problems() {
        Some(problems) => Err(problems),
        None => Ok(text),
    }
}

/// The emitter at work.
struct C<'a> {
    registry: &'a Registry,
    names: Names,
    places: Places,
}

impl<'a> C<'a> {
    fn new(registry: &'a Registry) -> Self {
        Self { registry, names: Names::new(&registry.protocol.name), places: Places::of(registry) }
    }
}

impl C<'_> {
    fn header(&self) -> String {
        let registry = self.registry;
        let layouts = self.inner_first();
        let parts: [(&str, Vec<String>); 9] = [
            ("Protocol", vec![self.protocol()]),
            ("Faults", vec![self.faults()]),
            ("Enums", registry.enums.iter().map(|item| self.enumeration(item)).collect()),
            ("Bitmasks", registry.bitmasks.iter().map(|item| self.bitmask(item)).collect()),
            ("Layouts", layouts.into_iter().map(|item| self.layout(item)).collect()),
            ("Messages", vec![self.messages()]),
            ("Bodies and packets", self.packets()),
            ("State machines", registry.machines.iter().map(|item| self.machine(item)).collect()),
            ("Names and sentences of faults", vec![self.sentences()]),
        ];
        let mut text = String::new();
        let mut helpers = String::new();
        for (title, items) in parts {
            let items: Vec<_> = items.into_iter().filter(|item| !item.is_empty()).collect();
            if title == "Enums" {
                // The helpers that the rest uses go here; which those are is known at the end.
                helpers = std::mem::take(&mut text);
            }
            if !items.is_empty() {
                text.push_str(&format!("{}\n{}\n", heading(title), items.join("\n")));
            }
        }
        let bytes = self.helpers(&text);
        let bytes = if bytes.is_empty() { bytes } else { format!("{}\n{bytes}\n", heading("Bytes")) };
        text::fold(&format!("{}{helpers}{bytes}{text}{}", self.opening(), self.closing()))
    }

    /// A part of the header that is the same for every registry but for the prefix.
    fn template(&self, text: &str) -> String {
        for name in defined(text) {
            self.names.define(&self.names.prefixed(&name), "what every header has");
        }
        self.names.prefixed(text)
    }

    /// The helpers for bytes that `text` uses.
    fn helpers(&self, text: &str) -> String {
        let all: Vec<&str> = include_str!("bytes.h")
            .split_inclusive("\n}\n")
            .map(|part| part.trim_start_matches('\n'))
            .collect();
        let mut used = BTreeSet::new();
        // One may use another that stands before it.
        for (at, part) in all.iter().enumerate().rev() {
            let uses = |name: &String| {
                let call = format!("{name}(");
                let later = used.iter().any(|&later: &usize| all[later].contains(&call));
                later || text.contains(&self.names.prefixed(&call))
            };
            if defined(part).iter().any(uses) {
                used.insert(at);
            }
        }
        let mut used: Vec<_> = used.into_iter().map(|at| self.template(all[at])).collect();
        if !used.is_empty() {
            used.insert(0, self.template(include_str!("host.h")));
        }
        used.join("\n")
    }

    /// The layouts in registry order, but each behind those that it holds.
    fn inner_first(&self) -> Vec<&Layout> {
        let mut order = Vec::new();
        let mut placed = vec![false; self.registry.layouts.len()];
        for position in 0..self.registry.layouts.len() {
            self.place(position, &mut placed, &mut order);
        }
        order.into_iter().map(|position| &self.registry.layouts[position]).collect()
    }

    fn place(&self, position: usize, placed: &mut [bool], order: &mut Vec<usize>) {
        if std::mem::replace(&mut placed[position], true) {
            return;
        }
        for field in &self.registry.layouts[position].fields {
            if let Element::Layout(inner) = field.element {
                self.place(inner, placed, order);
            }
        }
        order.push(position);
    }
}

/// The names that a template defines at its outermost level.
fn defined(template: &str) -> Vec<String> {
    let mut names = Vec::new();
    for line in template.lines() {
        let word = |text: &str| {
            let end = text.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
            text[..end.unwrap_or(text.len())].to_owned()
        };
        let name = if let Some(rest) = line.strip_prefix("#define ") {
            Some(word(rest))
        } else if let Some(rest) = line.strip_prefix("} ") {
            Some(word(rest))
        } else if let Some(rest) = line.strip_prefix("struct ") {
            Some(word(rest))
        } else if line.starts_with("static inline ") || line.starts_with("PROTO_COLD ") {
            let head = line.split('(').next().unwrap_or(line);
            head.rsplit([' ', '*']).next().map(str::to_owned)
        } else {
            None
        };
        names.extend(name.filter(|name| !name.is_empty() && !names.contains(name)));
    }
    names
}

/// A number type in C.
fn scalar(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::U8 => "uint8_t",
        Scalar::U16 => "uint16_t",
        Scalar::U32 => "uint32_t",
        Scalar::U64 => "uint64_t",
        Scalar::I8 => "int8_t",
        Scalar::I16 => "int16_t",
        Scalar::I32 => "int32_t",
        Scalar::I64 => "int64_t",
        Scalar::F32 => "float",
        Scalar::F64 => "double",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One of everything.
    const ZOO: &str = r#"
        [protocol]
        name       = "zoo"
        alpn       = ["zoo/1"]
        byte_order = "big"
        header     = "ticket"

        [[enum]]
        name   = "species"
        type   = "u16"
        values = [{ value = 1, name = "ape" }]
        ranges = [{ from = 7, to = 9, name = "birds" }]

        [[enum]]
        name = "errand"
        type = "u8"
        from = "messages"

        [[bitmask]]
        name = "traits"
        type = "u8"
        bits = [{ bit = 0, name = "furry" }]

        [[layout]]
        name   = "ticket"
        size   = 9
        fields = [
          { offset = 0, name = "errand",  type = "u8",  enum = "errand", is = "message" },
          { offset = 1, name = "extent",  type = "u32", is = "metadata_length" },
          { offset = 5, name = "luggage", type = "u32", is = "body_length" },
        ]

        [[layout]]
        name   = "animal"
        size   = 24
        fields = [
          { offset =  0, name = "class",  type = "u16", enum = "species" },
          { offset =  2, name = "traits", type = "u8", bitmask = "traits" },
          { offset =  3, name = "gap",    type = "[u8; 3]", reserved = true },
          { offset =  6, name = "ticket", type = "ticket" },
          { offset = 15, name = "end",    type = "u8", const = 9 },
          { offset = 16, name = "weight", type = "f64" },
        ]
        rules = [{ id = "Z1", require = "traits.furry || class == ape" }]

        [[message]]
        value    = 1
        name     = "feed"
        metadata = "animal"

        [[state_machine]]
        name        = "visitor"
        initial     = "inside"
        terminal    = ["gone"]
        states      = [{ name = "inside" }, { name = "gone" }]
        transitions = [{ from = "inside", to = "gone", on = ["feed"] }]
    "#;

    /// Every name that the header defines is noted, so that no two can meet unseen.
    #[test]
    fn all_names_are_noted() {
        let registry = crate::load_texts([("zoo.toml", ZOO)]).registry;
        let Some(registry) = registry else { panic!("the registry is good") };
        let c = C::new(&registry);
        let header = c.header();
        let noted = c.names.all();
        let mut found = defined(&header.replace("\nZOO_COLD ", "\nPROTO_COLD "));
        for line in header.lines() {
            let word = line.trim_start().split([' ', ';']).next().unwrap_or_default();
            if line.starts_with("    ZOO_") && line.contains(" = ") {
                found.push(word.to_owned());
            } else if let Some(name) =
                line.strip_prefix("typedef uint").and_then(|rest| rest.split(' ').nth(1))
            {
                found.push(name.trim_end_matches(';').to_owned());
            }
        }
        let missing: Vec<_> = found.iter().filter(|name| !noted.contains(name)).collect();
        assert!(missing.is_empty(), "{missing:?}");
        let unknown: Vec<_> = noted.iter().filter(|name| !found.contains(name)).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }
}
