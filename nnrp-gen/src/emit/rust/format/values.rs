//! Values that do not fit on a line: where they are broken.

use super::nodes::{Kind, NEVER, Node, Role, What, width};
use super::{INDENT, WIDTH, Writer};

impl Writer<'_> {
    /// `name = value`, with the value on the next line where it fits there and not here.
    pub(super) fn assignment(&mut self, nodes: &[Node], at: usize, indent: usize, tail: usize) {
        let (name, value) = (&nodes[..at], &nodes[at + 1..]);
        let sign = nodes[at].width + 1;
        self.sequence(name, indent, sign);
        self.behind(&nodes[at..=at]);
        let control = value.first().is_some_and(|first| first.is(Role::Control));
        if let (Some(at), false) = (value.iter().position(|node| node.is(Role::Else)), control) {
            // `let pattern = value else { … }`
            self.out.push(' ');
            self.sequence(&value[..at], indent, 7);
            return self.other(&value[at..], indent);
        }
        let (wide, below) = (width(value), indent + INDENT);
        let next = wide < NEVER && below + wide + tail <= WIDTH;
        // Where it can be broken first.
        let first = match loosest(value) {
            Some(at) => value.iter().position(|node| node.is(Role::Binary(at))),
            None if value.iter().any(|node| node.is(Role::Dot)) => value.iter().position(is_full),
            None => value.iter().position(|node| node.width >= NEVER).or(value.iter().rposition(is_full)),
        };
        let head = 1 + width(&value[..first.unwrap_or(value.len())]) + 1;
        if self.closes_alone() || self.fits(head) && (!next || loosest(value).is_some()) {
            self.out.push(' ');
            self.sequence(value, indent, tail);
        } else {
            self.newline(below);
            self.sequence(value, below, tail);
        }
    }

    /// The `else` of a `let` and its block.
    pub(super) fn other(&mut self, nodes: &[Node], indent: usize) {
        let [word, block, rest @ ..] = nodes else { return self.flat(nodes) };
        self.out.push(' ');
        self.flat(std::slice::from_ref(word));
        self.out.push(' ');
        self.group(block, indent, NEVER);
        self.flat(rest);
    }

    /// Where the value of a closure starts, if this is one.
    pub(super) fn closure(&self, nodes: &[Node]) -> Option<usize> {
        let start = usize::from(nodes.first().is_some_and(|first| self.word(first) == "move"));
        let first = nodes.get(start).filter(|first| first.is(Role::Pipe))?;
        if first.width == 2 {
            return Some(start + 1);
        }
        let end = nodes[start + 1..].iter().position(|node| node.is(Role::Pipe))?;
        Some(start + end + 2)
    }

    /// `if`, `match` and loops: heads and blocks, and what comes behind.
    pub(super) fn control(&mut self, nodes: &[Node], indent: usize, tail: usize) {
        let mut rest = nodes;
        loop {
            let block =
                rest.iter().position(|node| matches!(node.what, What::Group(Kind::Block | Kind::Arms, _)));
            let Some(block) = block else { return self.last_group(rest, indent, tail) };
            // `for a in b`, `if a`: the word, then what it looks at.
            let words =
                rest[..block].iter().take_while(|node| node.is(Role::Control) || node.is(Role::Else)).count();
            self.flat(&rest[..words]);
            let line = self.line;
            if words < block {
                self.out.push(' ');
                let seen = &rest[words..block];
                // What fits but for its brace has that below.
                let tail = if self.fits(width(seen)) { 0 } else { 2 };
                self.sequence(seen, indent, tail);
            }
            let below = if self.line == line { !self.fits(2) } else { !self.closes_alone() };
            if below {
                self.newline(indent)
            } else {
                self.out.push(' ')
            }
            self.group(&rest[block], indent, NEVER);
            rest = &rest[block + 1..];
            if !rest.first().is_some_and(|node| node.is(Role::Else)) {
                break;
            }
            self.out.push(' ');
        }
        if !rest.is_empty() {
            self.last_group(rest, indent, tail);
        }
    }

    /// Operands below one another, each behind its operator.
    pub(super) fn operands(&mut self, nodes: &[Node], strength: u8, indent: usize, tail: usize) {
        let (mut start, mut first) = (0, 0);
        let mut indent = indent;
        while start < nodes.len() {
            let next = nodes[start + 1..].iter().position(|node| node.is(Role::Binary(strength)));
            let end = next.map_or(nodes.len(), |next| start + 1 + next);
            let operand = if start > 0 {
                // Behind a delimiter that closes alone on its line there is room.
                if start == first && self.closes_alone() && self.fits(1 + width(&nodes[start..end])) {
                    self.out.push(' ');
                } else {
                    self.newline(indent);
                }
                self.flat(&nodes[start..=start]);
                self.out.push(' ');
                &nodes[start + 1..end]
            } else {
                &nodes[..end]
            };
            self.sequence(operand, indent, if end == nodes.len() { tail } else { 0 });
            if start == 0 {
                indent += INDENT;
                first = end;
            }
            start = end;
        }
    }

    /// Methods below one another; false where there are none.
    pub(super) fn chain(&mut self, nodes: &[Node], indent: usize, tail: usize) -> bool {
        // A dot with a call behind it begins a link.
        let calls = |at: &usize| {
            nodes[*at].is(Role::Dot)
                && nodes[at + 1..].iter().take(8).any(|node| node.is_group(Kind::Parentheses))
        };
        let links: Vec<usize> = (1..nodes.len()).filter(calls).collect();
        let (Some(first), Some(last)) = (links.first().copied(), links.last().copied()) else { return false };
        let group =
            nodes[last..].iter().position(|node| node.is_group(Kind::Parentheses)).map(|at| last + at);
        let Some(group) = group else { return false };
        let below = width(&nodes[last..]);
        let fits_below = below < NEVER && indent + INDENT + below + tail <= WIDTH;
        let empty = nodes[group].width == 2;
        // Only the last call is too much: it is broken where it stands.
        if !fits_below && !empty && self.fits(width(&nodes[..group]) + 1) {
            self.flat(&nodes[..group]);
            self.group(&nodes[group], indent, tail + width(&nodes[group + 1..]));
            self.behind(&nodes[group + 1..]);
            return true;
        }
        let root = width(&nodes[..first]);
        let mut starts = links.as_slice();
        // A short root keeps its first call beside it.
        let head = if root <= INDENT && starts.len() > 1 { starts[1] } else { first };
        if head != first {
            starts = &starts[1..];
        }
        self.sequence(&nodes[..head], indent, 0);
        let below = if self.closes_alone() { indent } else { indent + INDENT };
        for (at, start) in starts.iter().enumerate() {
            let end = starts.get(at + 1).copied().unwrap_or(nodes.len());
            self.newline(below);
            self.last_group(&nodes[*start..end], below, if end == nodes.len() { tail } else { 0 });
        }
        true
    }

    /// What can be broken only between its delimiters: the last ones.
    pub(super) fn last_group(&mut self, nodes: &[Node], indent: usize, tail: usize) {
        if self.fits(width(nodes) + tail) {
            return self.flat(nodes);
        }
        let Some(last) = nodes.iter().rposition(is_full) else { return self.flat(nodes) };
        for (at, node) in nodes.iter().enumerate() {
            if at > 0 && node.before {
                self.out.push(' ');
            }
            match node.width {
                wide if at == last || wide >= NEVER => {
                    let behind = if at == last { tail + width(&nodes[at + 1..]) } else { 0 };
                    self.group(node, indent, behind);
                }
                _ => self.flat(std::slice::from_ref(node)),
            }
        }
    }

    /// A value in braces, on a line of its own.
    pub(super) fn braced(&mut self, value: &[Node], indent: usize) {
        self.out.push('{');
        self.newline(indent + INDENT);
        self.sequence(value, indent + INDENT, 0);
        self.newline(indent);
        self.out.push('}');
    }
}

/// Whether something stands between delimiters.
pub(super) fn is_full(node: &Node) -> bool {
    matches!(&node.what, What::Group(_, nodes) if !nodes.is_empty())
}

/// How tight the loosest operator holds.
pub(super) fn loosest(nodes: &[Node]) -> Option<u8> {
    let strengths = nodes.iter().skip(1).filter_map(|node| match node.what {
        What::Word(_, Role::Binary(strength)) => Some(strength),
        _ => None,
    });
    strengths.min()
}
