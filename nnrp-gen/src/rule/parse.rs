//! Reads the text of a rule, by recursive descent with one token of lookahead.

use std::ops::Range;

use super::ast::{Arith, Expr, Node, Word};
use super::error::RuleError;
use super::lex::{Kind, Lexer, Token};
use super::{MAX_DEPTH, MAX_TOKENS};

/// Reads a rule. Says at the first wrong place what was expected there.
pub fn parse(text: &str) -> Result<Expr, RuleError> {
    let mut lexer = Lexer::new(text);
    let token = lexer.next();
    if let Kind::End = token.kind {
        return Err(RuleError::new(0..text.len(), "the rule is empty")
            .help("write a condition, as in `flags.partial`"));
    }
    let mut parser = Parser { lexer, token, end: 0, open: 0, tokens: 0 };
    let expr = parser.either()?;
    match parser.token.kind {
        Kind::End => Ok(expr),
        _ => Err(parser.wants_operator()),
    }
}

struct Parser<'t> {
    lexer: Lexer<'t>,
    /// The token to look at.
    token: Token<'t>,
    /// Where the token before it ended.
    end: usize,
    /// How many parentheses and signs in front are open.
    open: usize,
    /// How many tokens went by.
    tokens: usize,
}

type Parsed = Result<Expr, RuleError>;

impl<'t> Parser<'t> {
    /// `x || y || …`
    fn either(&mut self) -> Parsed {
        let start = self.token.at.start;
        let first = self.both()?;
        self.chain(start, first, |kind| matches!(kind, Kind::Or), Self::both, Node::Or)
    }

    /// `x && y && …`
    fn both(&mut self) -> Parsed {
        let start = self.token.at.start;
        let first = self.comparison()?;
        self.chain(start, first, |kind| matches!(kind, Kind::And), Self::comparison, Node::And)
    }

    fn chain(
        &mut self,
        start: usize,
        first: Expr,
        joins: impl Fn(&Kind<'t>) -> bool,
        next: impl Fn(&mut Self) -> Parsed,
        make: impl Fn(Vec<Expr>) -> Node,
    ) -> Parsed {
        if !joins(&self.token.kind) {
            return Ok(first);
        }
        let mut parts = vec![first];
        while joins(&self.token.kind) {
            self.step()?;
            parts.push(next(self)?);
        }
        self.node(start, make(parts))
    }

    /// `x == y`, `x in some_enum`, or just `x`.
    fn comparison(&mut self) -> Parsed {
        let start = self.token.at.start;
        let left = self.sum()?;
        let expr = match self.token.kind {
            Kind::Cmp(cmp) => {
                self.step()?;
                let right = self.sum()?;
                self.node(start, Node::Compare(cmp, Box::new(left), Box::new(right)))?
            }
            Kind::Word("in") => {
                self.step()?;
                let name = self.name("the name of an enum")?;
                self.node(start, Node::In(Box::new(left), name))?
            }
            _ => return Ok(left),
        };
        if matches!(self.token.kind, Kind::Cmp(_) | Kind::Word("in")) {
            return Err(RuleError::new(self.token.at.clone(), "comparisons do not chain")
                .help("join two of them with `&&`, or put one in parentheses"));
        }
        Ok(expr)
    }

    /// `x + y - …`
    fn sum(&mut self) -> Parsed {
        let start = self.token.at.start;
        let mut left = self.product()?;
        while let Kind::Arith(arith @ (Arith::Add | Arith::Subtract)) = self.token.kind {
            self.step()?;
            let right = self.product()?;
            left = self.node(start, Node::Arith(arith, Box::new(left), Box::new(right)))?;
        }
        Ok(left)
    }

    /// `x * y % …`
    fn product(&mut self) -> Parsed {
        let start = self.token.at.start;
        let mut left = self.operand()?;
        while let Kind::Arith(arith @ (Arith::Multiply | Arith::Remainder)) = self.token.kind {
            self.step()?;
            let right = self.operand()?;
            left = self.node(start, Node::Arith(arith, Box::new(left), Box::new(right)))?;
        }
        Ok(left)
    }

    /// A number, a name, something in parentheses, or one of these with signs in front.
    fn operand(&mut self) -> Parsed {
        let start = self.token.at.start;
        match self.token.kind {
            Kind::Number(value) => {
                self.step()?;
                self.node(start, Node::Number(value))
            }
            Kind::Not => {
                let inner = self.nested(|parser| parser.operand())?;
                self.node(start, Node::Not(Box::new(inner)))
            }
            Kind::Arith(Arith::Subtract) => {
                let inner = self.nested(|parser| parser.operand())?;
                self.node(start, Node::Neg(Box::new(inner)))
            }
            Kind::Open => self.nested(|parser| {
                let inner = parser.either()?;
                match parser.token.kind {
                    Kind::Close => parser.step()?,
                    _ => return Err(parser.wants_operator()),
                }
                Ok(inner)
            }),
            Kind::Word(word) if word != "in" => self.path(word),
            _ => Err(self.expected("a number, a name or `(`")),
        }
    }

    fn path(&mut self, word: &str) -> Parsed {
        let start = self.token.at.start;
        if word == "not" && self.operand_follows() {
            let error = RuleError::new(self.token.at.clone(), "`not` is no sign of the rule language");
            return Err(error.help("write `!`"));
        }
        let mut path = vec![self.name("a name")?];
        while let Kind::Dot = self.token.kind {
            self.step()?;
            path.push(self.name("a name after the dot")?);
        }
        self.node(start, Node::Path(path))
    }

    /// One word, and on to what follows it.
    fn name(&mut self, wanted: &str) -> Result<Word, RuleError> {
        match self.token.kind {
            Kind::Word(text) => {
                let word = Word { at: self.token.at.clone(), text: text.to_owned() };
                self.step()?;
                Ok(word)
            }
            _ => Err(self.expected(wanted)),
        }
    }

    /// Steps over the token that opens a level, and reads that level.
    fn nested(&mut self, inner: impl Fn(&mut Self) -> Parsed) -> Parsed {
        if self.open >= MAX_DEPTH {
            return Err(too_deep(self.token.at.clone()));
        }
        self.open += 1;
        self.step()?;
        let expr = inner(self)?;
        self.open -= 1;
        Ok(expr)
    }

    fn node(&self, start: usize, node: Node) -> Parsed {
        let expr = Expr::new(start..self.end, node);
        if expr.height > MAX_DEPTH { Err(too_deep(expr.at)) } else { Ok(expr) }
    }

    fn step(&mut self) -> Result<(), RuleError> {
        self.tokens += 1;
        if self.tokens >= MAX_TOKENS {
            let message = format!("a rule has at most {MAX_TOKENS} words, numbers and signs");
            return Err(RuleError::new(self.token.at.clone(), message).help("split it into several rules"));
        }
        self.end = self.token.at.end;
        self.token = self.lexer.next();
        Ok(())
    }

    fn operand_follows(&self) -> bool {
        let mut ahead = self.lexer;
        matches!(ahead.next().kind, Kind::Number(_) | Kind::Word(_) | Kind::Open | Kind::Not)
    }

    /// The error where an expression could go on but something else stands.
    fn wants_operator(&self) -> RuleError {
        let help = match self.token.kind {
            Kind::Word("and") => "write `&&`",
            Kind::Word("or") => "write `||`",
            Kind::Word("xor") => "write `!=` between two conditions",
            Kind::Word("not") => "write `!(x in y)`",
            Kind::Word("mod") => "write `%`",
            Kind::Word("is" | "eq") => "write `==`",
            Kind::Word("implies") => "give the condition as `when`",
            Kind::Open => "there are no calls; put an operator before the `(`",
            Kind::Close if self.open == 0 => "there is no `(` that this closes",
            Kind::Not => "a condition and another are joined with `&&` or `||`",
            _ => "",
        };
        let end = if self.open == 0 { "the end of the rule" } else { "`)`" };
        let error = self.expected(&format!("an operator or {end}"));
        if help.is_empty() { error } else { error.help(help) }
    }

    fn expected(&self, wanted: &str) -> RuleError {
        let found = match &self.token.kind {
            Kind::Bad(error) => return error.clone(),
            Kind::End => "the rule ends".to_owned(),
            Kind::Number(value) => format!("found `{value}`"),
            Kind::Word(word) => format!("found `{word}`"),
            Kind::Arith(arith) => format!("found `{}`", arith.symbol()),
            Kind::Cmp(cmp) => format!("found `{}`", cmp.symbol()),
            Kind::And => "found `&&`".to_owned(),
            Kind::Or => "found `||`".to_owned(),
            Kind::Not => "found `!`".to_owned(),
            Kind::Dot => "found `.`".to_owned(),
            Kind::Open => "found `(`".to_owned(),
            Kind::Close => "found `)`".to_owned(),
        };
        RuleError::new(self.token.at.clone(), format!("expected {wanted}, but {found}"))
    }
}

fn too_deep(at: Range<usize>) -> RuleError {
    RuleError::new(at, format!("a rule nests at most {MAX_DEPTH} levels")).help("split it into several rules")
}

#[cfg(test)]
mod tests {
    use super::super::ast::{Expr, Node, dotted};
    use super::super::samples::Random;
    use super::parse;

    /// The expression with every pair of parentheses written out.
    fn grouped(expr: &Expr) -> String {
        match &expr.node {
            Node::Number(value) => value.to_string(),
            Node::Path(path) => dotted(path),
            Node::Neg(inner) => format!("(-{})", grouped(inner)),
            Node::Not(inner) => format!("(!{})", grouped(inner)),
            Node::Arith(arith, a, b) => {
                format!("({} {} {})", grouped(a), arith.symbol(), grouped(b))
            }
            Node::Compare(cmp, a, b) => format!("({} {} {})", grouped(a), cmp.symbol(), grouped(b)),
            Node::In(inner, name) => format!("({} in {})", grouped(inner), name.text),
            Node::And(parts) => format!("({})", parts.iter().map(grouped).collect::<Vec<_>>().join(" && ")),
            Node::Or(parts) => format!("({})", parts.iter().map(grouped).collect::<Vec<_>>().join(" || ")),
        }
    }

    #[test]
    fn binds_as_documented() {
        for (text, expected) in [
            ("a||b&&c||d", "(a || (b && c) || d)"),
            ("a && b && c", "(a && b && c)"),
            ("(a && b) && c", "((a && b) && c)"),
            ("a+b*c-d%2 == 1", "(((a + (b * c)) - (d % 2)) == 1)"),
            ("-a % 3 < - -2", "(((-a) % 3) < (-(-2)))"),
            ("!a == b", "((!a) == b)"),
            ("!(a in b) && c", "((!(a in b)) && c)"),
            ("(a == b) != (c < d)", "((a == b) != (c < d))"),
            ("a + 1 in kinds", "((a + 1) in kinds)"),
            ("type == fn.match.in.u8", "(type == fn.match.in.u8)"),
            ("x == 0xFF_ff", "(x == 65535)"),
            ("x == 0b1010_0000", "(x == 160)"),
            ("x\n\t== 18_446_744_073_709_551_615", "(x == 18446744073709551615)"),
            ("and == or", "(and == or)"),
            ("not && x", "(not && x)"),
        ] {
            assert_eq!(parse(text).map(|expr| grouped(&expr)).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn parts_know_their_place() {
        let text = " (a.b) + 3 == ( c ) ";
        let Node::Compare(_, left, right) = parse(text).unwrap().node else { panic!() };
        assert_eq!((&text[left.at.clone()], &text[right.at.clone()]), ("(a.b) + 3", "c"));
        let Node::Arith(_, left, _) = left.node else { panic!() };
        let Node::Path(path) = left.node else { panic!() };
        assert_eq!(&text[path[1].at.clone()], "b");
    }

    #[test]
    fn any_text_is_read_or_refused_at_a_place_in_it() {
        let pieces = [
            "a",
            "in",
            "not",
            "and",
            "x.y",
            "0",
            "0x1f",
            "0b2",
            "9__",
            "1.5",
            "(",
            ")",
            "!",
            "-",
            "+",
            "*",
            "%",
            "/",
            "=",
            "==",
            "!=",
            "<",
            "<=",
            "===",
            "&",
            "&&",
            "|",
            "||",
            ".",
            " ",
            "\n",
            "\t",
            "é",
            "✓",
            "\"",
            "'",
            "\u{0}",
            "_",
            "99999999999999999999",
            "=>",
            "->",
            "\u{202e}",
            ";",
            ",",
            "[",
            "}",
        ];
        let mut random = Random::new(1);
        for _ in 0..20_000 {
            let text: String = (0..random.below(12)).map(|_| *random.pick(&pieces)).collect();
            if let Err(error) = parse(&text) {
                assert!(text.get(error.at.clone()).is_some(), "{text:?} {error:?}");
            }
        }
    }
}
