//! Tokens as text that reads as if somebody had written it, in the manner of rustfmt.
//!
//! It knows the Rust that the emitter writes, by its tokens alone: a parser that understands all of Rust takes several
//! times as long, and a build script waits for both it and its compilation. Between tokens it puts nothing but blanks,
//! commas at the end of lists and braces around what an arm or a closure gives, so that it stays the same program.

mod items;
mod lists;
mod nodes;
#[cfg(test)]
mod tests;
mod values;

use proc_macro2::TokenStream;

use nodes::{Kind, NEVER, Node, Nodes, Role, What, width};
use values::loosest;

/// Columns of a line.
const WIDTH: usize = 100;
const INDENT: usize = 4;

/// Items as text.
pub(super) fn format(items: TokenStream) -> String {
    let mut nodes = Nodes::default();
    let items = nodes.of(items);
    let mut writer = Writer { text: &nodes.text, out: String::with_capacity(nodes.text.len() * 2), line: 0 };
    writer.items(&items, 0);
    writer.out
}

struct Writer<'a> {
    text: &'a str,
    out: String,
    /// Where the line starts that is being written.
    line: usize,
}

impl<'a> Writer<'a> {
    fn column(&self) -> usize {
        self.out.len() - self.line
    }

    fn fits(&self, width: usize) -> bool {
        width < NEVER && self.column() + width <= WIDTH
    }

    fn newline(&mut self, indent: usize) {
        self.out.push('\n');
        self.line = self.out.len();
        self.out.extend(std::iter::repeat_n(' ', indent));
    }

    fn word(&self, node: &Node) -> &'a str {
        match &node.what {
            What::Word(range, _) => &self.text[range.clone()],
            What::Group(..) => "",
        }
    }

    /// Nodes on this line, come what may.
    fn flat(&mut self, nodes: &[Node]) {
        for (at, node) in nodes.iter().enumerate() {
            if at > 0 && node.before {
                self.out.push(' ');
            }
            match &node.what {
                What::Word(range, _) => self.out.push_str(&self.text[range.clone()]),
                What::Group(kind, nodes) => {
                    let (open, close) = kind.delimiters();
                    let blank = if kind.is_brace() && !nodes.is_empty() { " " } else { "" };
                    self.out.push_str(open);
                    self.out.push_str(blank);
                    self.flat(nodes);
                    self.out.push_str(blank);
                    self.out.push_str(close);
                }
            }
        }
    }

    /// Nodes behind others in the same line.
    fn behind(&mut self, nodes: &[Node]) {
        if nodes.first().is_some_and(|node| node.before) {
            self.out.push(' ');
        }
        self.flat(nodes);
    }

    /// Whether this line has nothing but closing delimiters so far.
    fn closes_alone(&self) -> bool {
        let line = self.out[self.line..].trim_start();
        let line = line.trim_end_matches(" =");
        !line.is_empty() && line.bytes().all(|byte| b")]}".contains(&byte))
    }

    /// Nodes that belong together, broken where they must be; `tail` columns come behind them.
    fn sequence(&mut self, nodes: &[Node], indent: usize, tail: usize) {
        if self.fits(width(nodes) + tail) {
            return self.flat(nodes);
        }
        let find = |role| nodes.iter().position(|node| node.is(role));
        if let [rest @ .., last] = nodes
            && last.is(Role::Semicolon)
        {
            self.sequence(rest, indent, tail + 1);
            self.out.push(';');
        } else if nodes.first().is_some_and(|first| first.is(Role::Control)) {
            self.control(nodes, indent, tail);
        } else if let Some(at) = find(Role::Assign) {
            self.assignment(nodes, at, indent, tail);
        } else if let Some(at) = self.closure(nodes) {
            self.flat(&nodes[..at]);
            self.out.push(' ');
            let value = &nodes[at..];
            let block =
                value.first().is_some_and(|first| first.is(Role::Control) || first.is_group(Kind::Block));
            if block { self.sequence(value, indent, tail) } else { self.braced(value, indent) }
        } else if let Some(strength) = loosest(nodes) {
            self.operands(nodes, strength, indent, tail);
        } else if !self.chain(nodes, indent, tail) {
            self.last_group(nodes, indent, tail);
        }
    }
}
