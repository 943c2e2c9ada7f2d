//! What stands between delimiters: elements, statements, and the arms of a match.

use super::nodes::{Kind, NEVER, Node, Role, What, width};
use super::values::{is_full, loosest};
use super::{INDENT, WIDTH, Writer};

/// Elements of an array that are no wider than this share lines.
const SHORT: usize = 10;

impl Writer<'_> {
    /// What stands between delimiters, on lines of its own unless `tail` more columns fit.
    pub(super) fn group(&mut self, node: &Node, indent: usize, tail: usize) {
        let What::Group(kind, nodes) = &node.what else { return self.flat(std::slice::from_ref(node)) };
        if nodes.is_empty() || (tail < NEVER && self.fits(node.width + tail)) {
            return self.flat(std::slice::from_ref(node));
        }
        let (open, close) = kind.delimiters();
        self.out.push_str(open);
        if *kind == Kind::Grouped {
            self.sequence(nodes, indent, if tail < NEVER { tail + 1 } else { 1 });
            self.out.push_str(close);
            return;
        }
        if kind.is_list() && *kind != Kind::Struct && tail < NEVER && self.overflows(nodes, indent, tail) {
            self.out.push_str(close);
            return;
        }
        let inside = indent + INDENT;
        match kind {
            Kind::Items => {
                self.newline(inside);
                self.items(nodes, inside);
            }
            Kind::Fields if nodes.iter().any(|node| node.is(Role::Semicolon)) => {
                self.newline(inside);
                self.items(nodes, inside);
            }
            Kind::Block => self.statements(nodes, inside),
            Kind::Arms => self.arms(nodes, inside),
            _ => self.list(*kind, nodes, inside),
        }
        self.newline(indent);
        self.out.push_str(close);
    }

    /// Writes the elements beside the delimiter where only the last of them needs lines of its own; false where not.
    pub(super) fn overflows(&mut self, nodes: &[Node], indent: usize, tail: usize) -> bool {
        let commas = nodes.iter().rposition(|node| node.is(Role::Comma));
        let start = commas.map_or(0, |at| at + 1);
        let (before, last) = nodes.split_at(start);
        let wide = width(before);
        if wide >= NEVER || !self.fits(wide) || last.first().is_some_and(|first| first.is(Role::Hash)) {
            return false;
        }
        let closure = self.closure(last);
        let control = last.first().is_some_and(|first| first.is(Role::Control));
        let opens = closure.is_some()
            || start == 0 && (control || loosest(last).is_none() && last.last().is_some_and(is_full));
        // Where the element itself fits on a line below, it goes there.
        let below = width(last);
        let several = start > 0 || closure.is_none() && last.iter().any(|node| node.is(Role::Dot));
        let fits_below = several && below < NEVER && indent + INDENT + below < WIDTH;
        let head = closure.map_or(0, |at| width(&last[..at]));
        if !opens || fits_below || !self.fits(wide + head + 2) {
            return false;
        }
        self.flat(before);
        if start > 0 {
            self.out.push(' ');
        }
        self.sequence(last, indent, tail + 1);
        true
    }

    /// Elements, a line each, or short ones as many as fit.
    pub(super) fn list(&mut self, kind: Kind, nodes: &[Node], indent: usize) {
        let elements: Vec<&[Node]> = split(nodes, Role::Comma);
        let numbers = kind == Kind::Brackets && elements.iter().all(|element| width(element) <= SHORT);
        if numbers {
            self.newline(indent);
            for (at, element) in elements.iter().enumerate() {
                let blank = usize::from(at > 0);
                if at > 0 && !self.fits(blank + width(element) + 1) {
                    self.newline(indent);
                } else if at > 0 {
                    self.out.push(' ');
                }
                self.flat(element);
                self.out.push(',');
            }
            return;
        }
        // `[value; count]` has no commas.
        let comma = !nodes.iter().any(|node| node.is(Role::Semicolon));
        for element in &elements {
            self.newline(indent);
            let element = self.attributes(element, indent);
            self.sequence(element, indent, 1);
            let rest = self.word(&element[0]) == ".." && kind == Kind::Struct;
            if comma && !rest {
                self.out.push(',');
            }
        }
    }

    pub(super) fn statements(&mut self, mut nodes: &[Node], indent: usize) {
        let mut before = None;
        while !nodes.is_empty() {
            let (first, constant) = (self.word(&nodes[0]), self.is_constant(nodes));
            let is_item = |first| ["fn", "struct", "impl", "enum"].contains(&first);
            let starts = constant || nodes[0].is(Role::Hash) || is_item(first);
            match before {
                Some(before) if starts => self.apart(before && constant, indent),
                _ => self.newline(indent),
            }
            nodes = self.attributes(nodes, indent);
            let first = nodes.first().map_or("", |first| self.word(first));
            let item = is_item(first)
                || first == "const" && nodes.get(1).is_some_and(|next| self.word(next) == "fn");
            let end = if item { self.item_end(nodes) } else { self.statement_end(nodes) };
            let (statement, rest) = nodes.split_at(end);
            if item {
                self.item(statement, indent);
            } else {
                self.sequence(statement, indent, 0);
            }
            before = Some(constant);
            nodes = rest;
        }
    }

    pub(super) fn statement_end(&self, nodes: &[Node]) -> usize {
        let control =
            nodes.first().is_some_and(|first| first.is(Role::Control) || first.is_group(Kind::Block));
        let end = (0..nodes.len()).find(|&at| {
            nodes[at].is(Role::Semicolon)
                || control
                    && matches!(nodes[at].what, What::Group(Kind::Block | Kind::Arms, _))
                    && !nodes.get(at + 1).is_some_and(|next| {
                        next.is(Role::Else)
                            || next.is(Role::Dot)
                            || next.is(Role::Question)
                            || next.is(Role::Semicolon)
                    })
        });
        end.map_or(nodes.len(), |end| end + 1)
    }

    pub(super) fn arms(&mut self, mut nodes: &[Node], indent: usize) {
        while !nodes.is_empty() {
            self.newline(indent);
            nodes = self.attributes(nodes, indent);
            let Some(arrow) = nodes.iter().position(|node| node.is(Role::Arrow)) else {
                return self.flat(nodes);
            };
            self.sequence(&nodes[..arrow], indent, 5);
            self.out.push_str(" => ");
            let rest = &nodes[arrow + 1..];
            let block = rest.first().is_some_and(|first| first.is_group(Kind::Block));
            let end = if block || rest.first().is_some_and(|first| first.is(Role::Control)) {
                self.statement_end(rest)
            } else {
                rest.iter().position(|node| node.is(Role::Comma)).unwrap_or(rest.len())
            };
            self.arm(&rest[..end], indent, block && end == 1);
            nodes = &rest[end..];
            if let [comma, rest @ ..] = nodes
                && comma.is(Role::Comma)
            {
                nodes = rest;
            }
        }
    }

    /// What an arm gives, in braces where it needs a line of its own.
    pub(super) fn arm(&mut self, value: &[Node], indent: usize, block: bool) {
        if block {
            return self.sequence(value, indent, 0);
        }
        let wide = width(value);
        if self.fits(wide + 1) {
            self.flat(value);
        } else if wide < NEVER && (indent + INDENT + wide <= WIDTH || loosest(value).is_some()) {
            return self.braced(value, indent);
        } else {
            self.sequence(value, indent, 1);
        }
        self.out.push(',');
    }
}

/// The parts between such words.
pub(super) fn split(nodes: &[Node], role: Role) -> Vec<&[Node]> {
    nodes.split(|node| node.is(role)).filter(|part| !part.is_empty()).collect()
}
