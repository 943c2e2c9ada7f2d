//! Items: attributes and docs above them, heads, and functions' parameters.

use super::lists::split;
use super::nodes::{Kind, NEVER, Node, Role, What, width};
use super::{INDENT, Writer};

impl Writer<'_> {
    /// Each item on lines of its own, and a blank line between two ideas.
    pub(super) fn items(&mut self, mut nodes: &[Node], indent: usize) {
        let mut before = None;
        while !nodes.is_empty() {
            let constant = self.is_constant(nodes);
            if let Some(before) = before {
                self.apart(before && constant && !nodes[0].is(Role::Hash), indent);
            }
            nodes = self.attributes(nodes, indent);
            before = Some(self.is_constant(nodes));
            let end = self.item_end(nodes);
            let (item, rest) = nodes.split_at(end);
            self.item(item, indent);
            nodes = rest;
        }
        if indent == 0 && !self.out.is_empty() {
            self.out.push('\n');
        }
    }

    /// Begins the line of another item. Constants without docs are one idea.
    pub(super) fn apart(&mut self, together: bool, indent: usize) {
        if !together {
            self.out.push('\n');
        }
        self.newline(indent);
    }

    /// Whether a constant comes, without attributes.
    pub(super) fn is_constant(&self, nodes: &[Node]) -> bool {
        let mut words = nodes.iter().map(|node| self.word(node)).skip_while(|word| *word == "pub");
        words.next() == Some("const") && words.next() != Some("fn")
    }

    /// The attributes in front, a line each; what comes behind them.
    pub(super) fn attributes<'n>(&mut self, mut nodes: &'n [Node], indent: usize) -> &'n [Node] {
        while let [sign, attribute, rest @ ..] = nodes
            && sign.is(Role::Hash)
            && let What::Group(_, inner) = &attribute.what
        {
            match self.doc(inner) {
                Some(line) => {
                    self.out.push_str("///");
                    self.out.push_str(&line);
                }
                None => self.sequence(&nodes[..2], indent, 0),
            }
            self.newline(indent);
            nodes = rest;
        }
        nodes
    }

    /// The text of a doc attribute.
    pub(super) fn doc(&self, attribute: &[Node]) -> Option<String> {
        let [name, _, text] = attribute else { return None };
        let (name, text) = (self.word(name), self.word(text));
        if name != "doc" {
            return None;
        }
        if let Some(raw) = text.strip_prefix("r\"").and_then(|text| text.strip_suffix('"')) {
            return Some(raw.to_owned());
        }
        let text = text.strip_prefix('"')?.strip_suffix('"')?;
        let mut line = String::with_capacity(text.len());
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '\\' => line.push(letters.next().filter(|letter| ['\\', '"', '\''].contains(letter))?),
                letter => line.push(letter),
            }
        }
        Some(line)
    }

    /// How many nodes an item is.
    pub(super) fn item_end(&self, nodes: &[Node]) -> usize {
        let words = nodes.iter().map(|node| self.word(node));
        let kind = words.into_iter().find(|word| !["pub", ""].contains(word)).unwrap_or_default();
        let function = nodes.iter().take(4).any(|node| self.word(node) == "fn");
        // These go on to their semicolon, whatever is in them.
        let value = ["const", "static", "type", "use"].contains(&kind) && !function;
        let end = nodes.iter().position(|node| {
            node.is(Role::Semicolon) || !value && matches!(node.what, What::Group(kind, _) if kind.is_brace())
        });
        end.map_or(nodes.len(), |end| end + 1)
    }

    pub(super) fn item(&mut self, nodes: &[Node], indent: usize) {
        let body = nodes.last().filter(|last| matches!(last.what, What::Group(..)));
        let function = nodes.iter().any(|node| self.word(node) == "fn");
        match body {
            Some(body) => {
                let head = &nodes[..nodes.len() - 1];
                let bounds = head.iter().position(|node| self.word(node) == "where");
                let (head, bounds) = head.split_at(bounds.unwrap_or(head.len()));
                let tail = if bounds.is_empty() { 2 } else { 0 };
                if function {
                    self.signature(head, indent, tail);
                } else {
                    self.sequence(head, indent, tail);
                }
                match bounds {
                    [] => self.out.push(' '),
                    [word, bounds @ ..] => self.bounds(word, bounds, indent),
                }
                self.group(body, indent, 0);
            }
            None if function => self.signature(nodes, indent, 0),
            None => self.sequence(nodes, indent, 0),
        }
    }

    /// Bounds behind `where`, a line each.
    fn bounds(&mut self, word: &Node, bounds: &[Node], indent: usize) {
        self.newline(indent);
        self.flat(std::slice::from_ref(word));
        for bound in split(bounds, Role::Comma) {
            self.newline(indent + INDENT);
            self.flat(bound);
            self.out.push(',');
        }
        self.newline(indent);
    }

    /// A function's head, which is broken in its parameters.
    pub(super) fn signature(&mut self, nodes: &[Node], indent: usize, tail: usize) {
        if self.fits(width(nodes) + tail) {
            return self.flat(nodes);
        }
        let name = nodes.iter().position(|node| self.word(node) == "fn").unwrap_or(0);
        let parameters = nodes[name..].iter().position(|node| node.is_group(Kind::Parentheses));
        let Some(at) = parameters.map(|at| name + at) else { return self.flat(nodes) };
        self.flat(&nodes[..at]);
        self.group(&nodes[at], indent, NEVER);
        self.behind(&nodes[at + 1..]);
    }
}
