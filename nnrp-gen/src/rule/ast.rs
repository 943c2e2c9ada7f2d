//! What was parsed: shape and places, no meaning yet.

use std::ops::Range;

/// A part of a rule and where it stands in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expr {
    /// Its bytes in the text, without enclosing parentheses.
    pub at: Range<usize>,
    /// What it is.
    pub node: Node,
    /// How many levels it has; the parser holds this under [`super::MAX_DEPTH`].
    pub(crate) height: usize,
}

/// The shape of an [`Expr`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// An integer.
    Number(u64),
    /// A name, or several with dots between them.
    Path(Vec<Word>),
    /// `-x`
    Neg(Box<Expr>),
    /// `!x`
    Not(Box<Expr>),
    /// `x + y` and the like.
    Arith(Arith, Box<Expr>, Box<Expr>),
    /// `x == y` and the like, between numbers or between conditions.
    Compare(Cmp, Box<Expr>, Box<Expr>),
    /// `x in some_enum`
    In(Box<Expr>, Word),
    /// `x && y && …`, at least two.
    And(Vec<Expr>),
    /// `x || y || …`, at least two.
    Or(Vec<Expr>),
}

/// One name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Its bytes in the text.
    pub at: Range<usize>,
    /// The name itself.
    pub text: String,
}

/// An operation on two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arith {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `%`, with the sign of the left side, as in Rust and C.
    Remainder,
}

impl Arith {
    /// As written in a rule, in Rust and in C.
    pub fn symbol(self) -> &'static str {
        match self {
            Arith::Add => "+",
            Arith::Subtract => "-",
            Arith::Multiply => "*",
            Arith::Remainder => "%",
        }
    }
}

/// A comparison of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cmp {
    /// `==`
    Equal,
    /// `!=`
    Differ,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
}

impl Cmp {
    /// As written in a rule, in Rust and in C.
    pub fn symbol(self) -> &'static str {
        match self {
            Cmp::Equal => "==",
            Cmp::Differ => "!=",
            Cmp::Less => "<",
            Cmp::AtMost => "<=",
            Cmp::Greater => ">",
            Cmp::AtLeast => ">=",
        }
    }

    /// The comparison that holds where this one does not.
    pub fn opposite(self) -> Self {
        match self {
            Cmp::Equal => Cmp::Differ,
            Cmp::Differ => Cmp::Equal,
            Cmp::Less => Cmp::AtLeast,
            Cmp::AtMost => Cmp::Greater,
            Cmp::Greater => Cmp::AtMost,
            Cmp::AtLeast => Cmp::Less,
        }
    }

    /// The comparison with its sides exchanged.
    pub fn mirrored(self) -> Self {
        match self {
            Cmp::Equal | Cmp::Differ => self,
            Cmp::Less => Cmp::Greater,
            Cmp::AtMost => Cmp::AtLeast,
            Cmp::Greater => Cmp::Less,
            Cmp::AtLeast => Cmp::AtMost,
        }
    }

    /// Whether it holds between two numbers.
    pub fn holds(self, left: i128, right: i128) -> bool {
        match self {
            Cmp::Equal => left == right,
            Cmp::Differ => left != right,
            Cmp::Less => left < right,
            Cmp::AtMost => left <= right,
            Cmp::Greater => left > right,
            Cmp::AtLeast => left >= right,
        }
    }
}

impl Expr {
    pub(crate) fn new(at: Range<usize>, node: Node) -> Self {
        let below = match &node {
            Node::Number(_) | Node::Path(_) => 0,
            Node::Neg(inner) | Node::Not(inner) | Node::In(inner, _) => inner.height,
            Node::Arith(_, left, right) | Node::Compare(_, left, right) => left.height.max(right.height),
            Node::And(parts) | Node::Or(parts) => parts.iter().map(|part| part.height).max().unwrap_or(0),
        };
        Expr { at, node, height: below.saturating_add(1) }
    }
}

/// A path as it is written.
pub(crate) fn dotted(path: &[Word]) -> String {
    path.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(".")
}
