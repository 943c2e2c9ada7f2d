//! Tokens with what a formatter must know of them: where a space goes, what separates, and what a brace is.

use std::fmt::Write;
use std::ops::Range;

use proc_macro2::{Delimiter, Ident, Punct, Spacing, TokenStream, TokenTree};

/// Wider than any line: what cannot stand on one.
pub(super) const NEVER: usize = 1 << 24;

/// A word, an operator, or what stands between two delimiters.
pub(super) struct Node {
    /// Whether a space stands in front of it.
    pub before: bool,
    /// Columns on one line, without the space.
    pub width: usize,
    pub what: What,
}

pub(super) enum What {
    /// Its text is there in [`Nodes::text`].
    Word(Range<usize>, Role),
    Group(Kind, Vec<Node>),
}

/// What a word is to the layout.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Plain,
    Comma,
    Semicolon,
    /// Of a field or method.
    Dot,
    Question,
    Assign,
    /// `=>`
    Arrow,
    /// Between two operands, with how tight it holds them.
    Binary(u8),
    /// Around the parameters of a closure.
    Pipe,
    /// A word that a block follows.
    Control,
    Else,
    /// The sign of an attribute.
    Hash,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Parentheses,
    /// Parentheses around one value, where a comma would make it a tuple.
    Grouped,
    Brackets,
    /// Fields in braces, of a value or a pattern.
    Struct,
    /// Statements.
    Block,
    /// Arms of a match.
    Arms,
    /// Fields or variants that are being defined.
    Fields,
    /// Items.
    Items,
}

impl Kind {
    /// What opens and closes it.
    pub fn delimiters(self) -> (&'static str, &'static str) {
        match self {
            Self::Parentheses | Self::Grouped => ("(", ")"),
            Self::Brackets => ("[", "]"),
            _ => ("{", "}"),
        }
    }

    /// Whether it is in braces.
    pub fn is_brace(self) -> bool {
        !matches!(self, Self::Parentheses | Self::Grouped | Self::Brackets)
    }

    /// Whether commas separate what is in it, or would.
    pub fn is_list(self) -> bool {
        matches!(self, Self::Parentheses | Self::Grouped | Self::Brackets | Self::Struct)
    }
}

impl Node {
    pub fn is(&self, role: Role) -> bool {
        matches!(&self.what, What::Word(_, own) if *own == role)
    }

    pub fn is_group(&self, kind: Kind) -> bool {
        matches!(&self.what, What::Group(own, _) if *own == kind)
    }
}

/// Columns of nodes on one line, without the space in front.
pub(super) fn width(nodes: &[Node]) -> usize {
    let sum: usize = nodes.iter().map(|node| node.width + usize::from(node.before)).sum();
    sum - nodes.first().map_or(0, |node| usize::from(node.before))
}

/// Words that are no values.
const KEYWORDS: [&str; 30] = [
    "as", "break", "const", "crate", "dyn", "else", "enum", "extern", "fn", "for", "if", "impl", "in", "let",
    "loop", "match", "mod", "move", "mut", "pub", "ref", "return", "static", "struct", "trait", "type",
    "union", "use", "where", "while",
];

/// Operators of several signs, the longest first.
const OPERATORS: [&str; 24] = [
    "<<=", ">>=", "..=", "...", "::", "->", "=>", "==", "!=", "<=", ">=", "&&", "||", "..", "<<", ">>", "+=",
    "-=", "*=", "/=", "%=", "^=", "&=", "|=",
];

/// Makes nodes of tokens.
#[derive(Default)]
pub(super) struct Nodes {
    /// The text of all words.
    pub text: String,
}

/// What was read last on a level.
struct Level {
    nodes: Vec<Node>,
    /// The next word stands right behind the last one.
    glue: bool,
    /// The last node was a value or a type, or its end.
    operand: bool,
    /// How many `<` are open.
    angles: usize,
    /// Between the pipes of a closure.
    pipes: bool,
    /// What the next brace is.
    pending: Option<Kind>,
    /// In the pattern of a `let`.
    pattern: bool,
    /// A macro's `!` was last.
    bang: bool,
}

impl Nodes {
    pub fn of(&mut self, tokens: TokenStream) -> Vec<Node> {
        let mut flat = Vec::new();
        flatten(tokens, &mut flat);
        let mut level = Level {
            nodes: Vec::with_capacity(flat.len()),
            glue: true,
            operand: false,
            angles: 0,
            pipes: false,
            pending: None,
            pattern: false,
            bang: false,
        };
        let mut at = 0;
        while at < flat.len() {
            let bang = std::mem::take(&mut level.bang);
            match &flat[at] {
                TokenTree::Ident(ident) => self.ident(ident, &flat[at + 1..], &mut level),
                TokenTree::Literal(literal) => {
                    let start = self.text.len();
                    let _ = write!(self.text, "{literal}");
                    self.push(&mut level, start, Role::Plain, None);
                    (level.glue, level.operand) = (false, true);
                }
                TokenTree::Group(group) => {
                    let (delimiter, stream) = (group.delimiter(), group.stream());
                    // Tokens that nobody else holds need not be copied.
                    flat[at] = TokenTree::Punct(Punct::new(',', Spacing::Alone));
                    self.group(delimiter, stream, bang, &mut level);
                }
                TokenTree::Punct(_) => {
                    at += self.operator(&flat[at..], &mut level);
                    continue;
                }
            }
            at += 1;
        }
        level.nodes
    }

    /// Adds the word that starts there in the text.
    fn push(&mut self, level: &mut Level, start: usize, role: Role, before: Option<bool>) {
        let before = before.unwrap_or(!level.glue) && !level.nodes.is_empty();
        let range = start..self.text.len();
        let width = self.text[range.clone()].chars().count();
        level.nodes.push(Node { before, width, what: What::Word(range, role) });
    }

    fn ident(&mut self, ident: &Ident, behind: &[TokenTree], level: &mut Level) {
        let start = self.text.len();
        let _ = write!(self.text, "{ident}");
        let word = &self.text[start..];
        let keyword = (2..=6).contains(&word.len()) && KEYWORDS.contains(&word);
        let mut role = Role::Plain;
        if keyword {
            let angle = matches!(behind.first(), Some(TokenTree::Punct(punct)) if punct.as_char() == '<');
            let brace = match word {
                "match" => Some(Kind::Arms),
                "for" if angle => None,
                "if" | "while" | "for" | "loop" | "else" | "fn" => Some(Kind::Block),
                "impl" | "trait" | "mod" => Some(Kind::Items),
                "struct" | "enum" | "union" => Some(Kind::Fields),
                _ => None,
            };
            let items = level.pending == Some(Kind::Items);
            role = match word {
                "else" => Role::Else,
                "match" | "if" | "while" | "loop" => Role::Control,
                "for" if !angle && !items => Role::Control,
                _ => Role::Plain,
            };
            level.pattern |= word == "let";
            level.pending = level.pending.or(brace);
        }
        self.push(level, start, role, None);
        (level.glue, level.operand) = (false, !keyword);
        // `pub(crate)`, `fn(u8)` and `crate::a` are written as if these were names.
        level.operand |= match &self.text[start..] {
            "crate" => true,
            "pub" | "fn" => {
                matches!(behind.first(), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis)
            }
            _ => false,
        };
    }

    /// Adds an operator; how many tokens it is.
    fn operator(&mut self, tokens: &[TokenTree], level: &mut Level) -> usize {
        let mut signs = ['\0'; 3];
        let mut count = 0;
        for token in tokens.iter().take(3) {
            let TokenTree::Punct(punct) = token else { break };
            signs[count] = punct.as_char();
            count += 1;
            if punct.spacing() == Spacing::Alone {
                break;
            }
        }
        let start = self.text.len();
        if signs[0] == '\'' {
            self.text.push('\'');
            if let Some(TokenTree::Ident(name)) = tokens.get(1) {
                let _ = write!(self.text, "{name}");
            }
            self.push(level, start, Role::Plain, None);
            (level.glue, level.operand) = (false, false);
            return 2;
        }
        // Of several signs that open or close generics each is one.
        let generic = match signs[0] {
            '<' => self.opens_generics(level),
            '>' => level.angles > 0,
            _ => false,
        };
        let several = OPERATORS.iter().filter(|_| count > 1 && !generic).find(|operator| {
            operator.len() <= count && operator.bytes().zip(signs).all(|(byte, sign)| byte as char == sign)
        });
        let mut letter = [0; 4];
        let operator = match several {
            Some(operator) => operator,
            None => &*signs[0].encode_utf8(&mut letter),
        };
        self.text.push_str(operator);
        self.place(operator, generic, tokens.get(operator.len()), start, level);
        operator.len()
    }

    /// Whether a `<` is no comparison: behind a type or `::`, or where no value is before it.
    fn opens_generics(&self, level: &Level) -> bool {
        let Some(Node { what: What::Word(range, _), .. }) = level.nodes.last() else { return !level.operand };
        let last = &self.text[range.clone()];
        let defined = level.nodes.len() > 1
            && matches!(&level.nodes[level.nodes.len() - 2].what,
                What::Word(range, _) if ["fn", "struct", "enum", "type", "trait"].contains(&&self.text[range.clone()]));
        let mut letters = last.chars();
        let capital = letters.next().is_some_and(char::is_uppercase);
        let ty = capital && (last.len() == 1 || last.chars().any(char::is_lowercase));
        !level.operand || defined || ty
    }

    fn place(
        &mut self,
        operator: &str,
        generic: bool,
        next: Option<&TokenTree>,
        start: usize,
        level: &mut Level,
    ) {
        let top = level.angles == 0 && !level.pipes;
        let operand = level.operand;
        let group = matches!(next, Some(TokenTree::Group(_)));
        let binary = |strength| if top { Role::Binary(strength) } else { Role::Plain };
        // Its role, whether a space is before it, whether one is behind it, whether it ends a value.
        let (role, before, behind, ends) = match operator {
            "<" if generic => {
                level.angles += 1;
                let first = level.nodes.last().is_none_or(|last| match &last.what {
                    What::Word(range, _) => ["impl", "for", "use"].contains(&&self.text[range.clone()]),
                    What::Group(..) => false,
                });
                (Role::Plain, Some(!(operand || first || level.glue)), false, false)
            }
            ">" if generic => {
                level.angles -= 1;
                (Role::Plain, Some(false), true, true)
            }
            "," => {
                level.pending = level.pending.filter(|_| level.angles > 0);
                (if top { Role::Comma } else { Role::Plain }, Some(false), true, false)
            }
            ";" => {
                (level.pending, level.pattern) = (None, false);
                (Role::Semicolon, Some(false), true, false)
            }
            ":" => (Role::Plain, Some(false), true, false),
            "." => (Role::Dot, Some(false), false, false),
            ".." | "..=" => (Role::Plain, Some(!operand && !level.glue), false, false),
            "::" => (Role::Plain, Some(!operand && !level.glue), false, false),
            "?" if operand => (Role::Question, Some(false), true, true),
            "?" => (Role::Plain, None, false, false),
            "!" if operand && group => {
                level.bang = true;
                (Role::Plain, Some(false), true, true)
            }
            "#" => (Role::Hash, None, false, false),
            "|" if level.pipes => {
                level.pipes = false;
                (Role::Pipe, Some(false), true, false)
            }
            "|" if !operand => {
                level.pipes = true;
                (Role::Pipe, None, false, false)
            }
            "||" if !operand => (Role::Pipe, None, true, false),
            "!" | "&" | "&&" | "*" | "-" if !operand => (Role::Plain, None, false, false),
            "=>" => (Role::Arrow, Some(true), true, false),
            "=" | "+=" | "-=" | "*=" | "/=" | "%=" | "^=" | "&=" | "|=" | "<<=" | ">>=" => {
                level.pattern = false;
                (if top { Role::Assign } else { Role::Plain }, Some(true), true, false)
            }
            "||" => (binary(1), Some(true), true, false),
            "&&" => (binary(2), Some(true), true, false),
            "==" | "!=" | "<" | ">" | "<=" | ">=" => (binary(3), Some(true), true, false),
            "|" => (binary(4), Some(true), true, false),
            "^" => (binary(5), Some(true), true, false),
            "&" => (binary(6), Some(true), true, false),
            "<<" | ">>" => (binary(7), Some(true), true, false),
            "+" | "-" => (binary(8), Some(true), true, false),
            "*" | "/" | "%" => (binary(9), Some(true), true, false),
            _ => (Role::Plain, Some(true), true, false),
        };
        self.push(level, start, role, before);
        (level.glue, level.operand) = (!behind, ends);
    }

    fn group(&mut self, delimiter: Delimiter, stream: TokenStream, bang: bool, level: &mut Level) {
        let last = level.nodes.last();
        let attribute = last.is_some_and(|last| last.is(Role::Hash));
        let kind = match delimiter {
            Delimiter::Parenthesis | Delimiter::None => Kind::Parentheses,
            Delimiter::Bracket => Kind::Brackets,
            Delimiter::Brace if bang => Kind::Items,
            Delimiter::Brace if level.pattern && level.operand => Kind::Struct,
            Delimiter::Brace => match level.pending.take() {
                Some(kind) => kind,
                None if level.operand || level.glue && last.is_some() => Kind::Struct,
                None => Kind::Block,
            },
        };
        let brace = delimiter == Delimiter::Brace;
        let before = !level.nodes.is_empty() && !level.glue && (brace || !level.operand);
        let tuple = kind == Kind::Parentheses && !level.operand;
        let mut nodes = self.of(stream);
        if kind.is_list() && nodes.last().is_some_and(|last| last.is(Role::Comma)) {
            // One value and a comma are a tuple.
            let commas = nodes.iter().filter(|node| node.is(Role::Comma)).count();
            if !(tuple && commas == 1) {
                nodes.pop();
            }
        }
        let after_else = last_is(&level.nodes, Role::Else);
        let commas = nodes.iter().any(|node| node.is(Role::Comma));
        let kind = if tuple && !commas && !nodes.is_empty() { Kind::Grouped } else { kind };
        let inner = width(&nodes);
        let flat = match kind {
            _ if nodes.is_empty() => 2,
            Kind::Parentheses | Kind::Grouped | Kind::Brackets => inner + 2,
            Kind::Struct => inner + 4,
            // `if a { b } else { c }`, and `let … else { c }`
            Kind::Block if after_else && is_value(&nodes) => inner + 4,
            _ => NEVER,
        };
        if after_else && flat < NEVER {
            // The other half, which is known to have one only now.
            let at = level.nodes.len() - 2;
            let alone = !level.nodes[..at].iter().rev().any(|node| node.is(Role::Else));
            if let Some(Node { width: other, what: What::Group(Kind::Block, nodes), .. }) =
                level.nodes.get_mut(at)
                && alone
                && is_value(nodes)
            {
                *other = width(nodes) + 4;
            }
        }
        level.nodes.push(Node { before, width: flat, what: What::Group(kind, nodes) });
        level.glue = false;
        level.operand = !attribute && (kind.is_list() || matches!(kind, Kind::Fields));
    }
}

fn last_is(nodes: &[Node], role: Role) -> bool {
    nodes.last().is_some_and(|last| last.is(role))
}

/// Whether a block is one value.
fn is_value(nodes: &[Node]) -> bool {
    !nodes.is_empty()
        && width(nodes) < NEVER
        && !nodes.iter().any(|node| node.is(Role::Semicolon) || node.is(Role::Hash))
}

fn flatten(tokens: TokenStream, flat: &mut Vec<TokenTree>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::None => flatten(group.stream(), flat),
            token => flat.push(token),
        }
    }
}
