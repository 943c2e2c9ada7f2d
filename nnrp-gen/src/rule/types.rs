//! Gives every name a meaning and every part a type, and says where that fails.

use std::ops::Range;

use super::ast::{Arith, Cmp, Expr, Node, Word, dotted};
use super::error::RuleError;
use super::judge::{Certainty, glance};
use super::names::{Names, Symbol};
use super::range::interval;
use super::tree::{Int, Truth};
use crate::suggest::nearest;

/// Types a rule. All errors are found, in text order, not only the first.
///
/// A comparison that cannot come out differently is an error too, and so is a larger part of the rule; the rule as a
/// whole is left to [`judge`](super::judge()), which knows its `when`.
pub fn truth(expr: &Expr, names: &dyn Names) -> Result<Truth, Vec<RuleError>> {
    run(expr, names, true)
}

/// As [`truth`], and constant parts are found only on demand.
pub(super) fn run(expr: &Expr, names: &dyn Names, constants: bool) -> Result<Truth, Vec<RuleError>> {
    let mut typer = Typer { names, constants, errors: Vec::new() };
    match typer.condition(expr) {
        Some(truth) if typer.errors.is_empty() => Ok(truth),
        _ => {
            typer.errors.sort_by_key(|error| (error.at.start, error.at.end));
            Err(typer.errors)
        }
    }
}

struct Typer<'n> {
    names: &'n dyn Names,
    constants: bool,
    errors: Vec<RuleError>,
}

enum Typed {
    Number(Int),
    Condition(Truth),
}

/// `None` once an error was noted.
type Maybe<T> = Option<T>;

/// Wider fields are only compared.
const ARITHMETIC_BITS: u32 = 32;

impl Typer<'_> {
    fn typed(&mut self, expr: &Expr) -> Maybe<Typed> {
        Some(match &expr.node {
            Node::Number(value) => Typed::Number(Int::Literal(i128::from(*value))),
            Node::Path(path) => self.path(expr, path)?,
            Node::Neg(inner) => Typed::Number(self.negative(expr, inner)?),
            Node::Arith(arith, left, right) => Typed::Number(self.calculation(expr, *arith, left, right)?),
            Node::Not(inner) => Typed::Condition(Truth::Not(Box::new(self.condition(inner)?))),
            Node::Compare(cmp, left, right) => Typed::Condition(self.comparison(expr, *cmp, left, right)?),
            Node::In(inner, name) => Typed::Condition(self.membership(expr, inner, name)?),
            Node::And(parts) => Typed::Condition(Truth::And(self.parts(parts)?)),
            Node::Or(parts) => Typed::Condition(Truth::Or(self.parts(parts)?)),
        })
    }

    fn condition(&mut self, expr: &Expr) -> Maybe<Truth> {
        match self.typed(expr)? {
            Typed::Condition(truth) => Some(truth),
            Typed::Number(_) => {
                let error = match &expr.node {
                    Node::Path(path) => self.number_as_condition(expr, path),
                    _ => RuleError::new(expr.at.clone(), "this is a number, not a condition")
                        .help("compare it with another number"),
                };
                self.fail(error)
            }
        }
    }

    fn number(&mut self, expr: &Expr) -> Maybe<Int> {
        match self.typed(expr)? {
            Typed::Number(int) => Some(int),
            Typed::Condition(_) => {
                let what = named(expr).map_or("this".to_owned(), |name| format!("`{name}`"));
                let error = RuleError::new(expr.at.clone(), format!("{what} is a condition, not a number"));
                self.fail(error.help("conditions are joined with `&&` and `||`"))
            }
        }
    }

    /// Conditions inside another one. Each may not be constant: then a simpler rule would say the same.
    fn inner(&mut self, expr: &Expr) -> Maybe<Truth> {
        let errors = self.errors.len();
        let truth = self.condition(expr)?;
        if self.constants && self.errors.len() == errors && !is_comparison(expr) {
            let outcome = match glance(&truth, self.names) {
                Certainty::Always => "always",
                Certainty::Never => "never",
                Certainty::Depends => return Some(truth),
            };
            let error = RuleError::new(expr.at.clone(), format!("this part is {outcome} true"));
            return self.fail(error.help("leave it out, or correct it"));
        }
        Some(truth)
    }

    fn parts(&mut self, parts: &[Expr]) -> Maybe<Vec<Truth>> {
        // Each is typed even if one before it failed, so that all errors are found.
        let typed: Vec<_> = parts.iter().map(|part| self.inner(part)).collect();
        typed.into_iter().collect()
    }

    fn path(&mut self, expr: &Expr, path: &[Word]) -> Maybe<Typed> {
        match self.lookup(path) {
            Some(Symbol::Int { field, .. } | Symbol::Mask { field, .. }) => {
                Some(Typed::Number(Int::Field(field)))
            }
            Some(Symbol::Flag { field, mask }) => Some(Typed::Condition(Truth::Flag(field, mask))),
            Some(Symbol::NamedFlag { field }) => {
                let name = path.last().map(|word| word.text.clone()).unwrap_or_default();
                Some(Typed::Condition(Truth::NamedFlag(field, name)))
            }
            Some(Symbol::Bool { field }) => Some(Typed::Condition(Truth::Bool(field))),
            Some(Symbol::Present(entry)) => Some(Typed::Condition(Truth::Present(entry))),
            // The rule is refused all the same, without another word.
            Some(Symbol::Broken) => None,
            Some(Symbol::Unusable { why }) => {
                let message = format!("`{}` is not for rules: it is {why}", dotted(path));
                self.fail(RuleError::new(expr.at.clone(), message))
            }
            None => {
                let error = self.unknown(expr.at.clone(), path);
                self.fail(error)
            }
        }
    }

    fn comparison(&mut self, expr: &Expr, cmp: Cmp, left: &Expr, right: &Expr) -> Maybe<Truth> {
        let errors = self.errors.len();
        // What a name beside it stands for, nobody knows.
        if self.is_broken(left) || self.is_broken(right) {
            return None;
        }
        // Beside a field of an enum, a name is a value of that enum first, and a field second.
        let value_right = self.enumeration(left).and_then(|of| self.value(of, right));
        let value_left = match value_right {
            None => self.enumeration(right).and_then(|of| self.value(of, left)),
            Some(_) => None,
        };
        let typed_left = value_left.unwrap_or_else(|| self.typed(left));
        let typed_right = value_right.unwrap_or_else(|| self.typed(right));
        let truth = match (typed_left?, typed_right?) {
            (Typed::Number(a), Typed::Number(b)) => Truth::Compare(cmp, Box::new(a), Box::new(b)),
            (Typed::Condition(a), Typed::Condition(b)) => match cmp {
                Cmp::Equal => Truth::Same(Box::new(a), Box::new(b)),
                Cmp::Differ => Truth::Differ(Box::new(a), Box::new(b)),
                _ => {
                    let error = RuleError::new(expr.at.clone(), "conditions have no order");
                    return self.fail(error.help("compare them with `==` or `!=`"));
                }
            },
            (Typed::Condition(_), Typed::Number(_)) => return self.mixed(expr, cmp, left, right),
            (Typed::Number(_), Typed::Condition(_)) => return self.mixed(expr, cmp, right, left),
        };
        if self.constants && self.errors.len() == errors {
            self.constant(expr, &truth, &[left, right])?;
        }
        Some(truth)
    }

    fn membership(&mut self, expr: &Expr, inner: &Expr, name: &Word) -> Maybe<Truth> {
        let number = self.number(inner);
        let Some(enumeration) = self.names.enum_named(&name.text) else {
            let known = self.names.enum_candidates(None);
            let error = RuleError::new(name.at.clone(), format!("there is no enum `{}`", name.text));
            return self.fail(suggest(error, &name.text, &known, ""));
        };
        let truth = Truth::In(Box::new(number?), enumeration);
        if self.constants {
            self.constant(expr, &truth, &[inner])?;
        }
        Some(truth)
    }

    fn negative(&mut self, expr: &Expr, inner: &Expr) -> Maybe<Int> {
        match self.number(inner)? {
            Int::Literal(value) => Some(Int::Literal(value.saturating_neg())),
            int => {
                self.operand(inner, &int)?;
                self.fitting(expr, Int::Neg(Box::new(int)))
            }
        }
    }

    fn calculation(&mut self, expr: &Expr, arith: Arith, left: &Expr, right: &Expr) -> Maybe<Int> {
        let typed = (self.number(left), self.number(right));
        let (Some(a), Some(b)) = typed else {
            return None;
        };
        let operands = (self.operand(left, &a), self.operand(right, &b));
        if arith == Arith::Remainder && !matches!(b, Int::Literal(1..)) {
            let error = RuleError::new(right.at.clone(), "a divisor is a number greater than 0, written out");
            return self.fail(error);
        }
        let (Some(()), Some(())) = operands else {
            return None;
        };
        self.fitting(expr, Int::Binary(arith, Box::new(a), Box::new(b)))
    }

    /// What goes into a calculation is narrow enough.
    fn operand(&mut self, expr: &Expr, int: &Int) -> Maybe<()> {
        if let Node::Path(path) = &expr.node
            && let Some(Symbol::Int { bits, .. } | Symbol::Mask { bits, .. }) = self.lookup(path)
            && bits > ARITHMETIC_BITS
        {
            let message = format!("`{}` has {bits} bits, and 64-bit fields are only compared", dotted(path));
            return self.fail(RuleError::new(expr.at.clone(), message));
        }
        match int {
            // Calculations were looked at when they were made.
            Int::Neg(_) | Int::Binary(..) => Some(()),
            Int::Literal(_) | Int::Named(..) | Int::Field(_) => self.fitting(expr, int.clone()).map(|_| ()),
        }
    }

    fn fitting(&mut self, expr: &Expr, int: Int) -> Maybe<Int> {
        // A field without any valid value is an error of its enum, not of the rule.
        let Some((min, max)) = interval(&int, self.names) else {
            return Some(int);
        };
        if i64::try_from(min).is_ok() && i64::try_from(max).is_ok() {
            return Some(int);
        }
        let message = format!("this is {}, which does not fit a signed 64-bit number", spanned(min, max));
        self.fail(RuleError::new(expr.at.clone(), message).help("arithmetic is signed, with 64 bits"))
    }

    fn is_broken(&self, expr: &Expr) -> bool {
        matches!(&expr.node, Node::Path(path) if self.lookup(path) == Some(Symbol::Broken))
    }

    /// The enum of a field, if the expression is a field that has one.
    fn enumeration(&self, expr: &Expr) -> Option<usize> {
        let Node::Path(path) = &expr.node else {
            return None;
        };
        match self.lookup(path) {
            Some(Symbol::Int { enumeration, .. }) => enumeration,
            _ => None,
        }
    }

    /// A bare name beside a field of an enum: its value, or an error if it is nothing else either.
    fn value(&mut self, enumeration: usize, expr: &Expr) -> Option<Maybe<Typed>> {
        let Node::Path(path) = &expr.node else {
            return None;
        };
        let [word] = path.as_slice() else { return None };
        if let Some(value) = self.names.enum_value(enumeration, &word.text) {
            return Some(Some(Typed::Number(Int::Literal(i128::from(value)))));
        }
        if self.lookup(path).is_some() {
            return None;
        }
        if self.names.is_incomplete(enumeration) {
            return Some(None);
        }
        if self.names.is_given(enumeration) {
            return Some(Some(Typed::Number(Int::Named(enumeration, word.text.clone()))));
        }
        let known = self.names.enum_candidates(Some(enumeration));
        let of = self.enum_name(enumeration).map_or("that enum".to_owned(), |name| format!("`{name}`"));
        let error = RuleError::new(expr.at.clone(), format!("`{}` is no value of {of}", word.text));
        let error = suggest(error, &word.text, &known, "");
        let error = match error.help {
            Some(_) => error,
            None => suggest(error, &word.text, &self.names.candidates(), ""),
        };
        Some(self.fail(error))
    }

    /// A comparison that always comes out the same is an error, with the reason.
    fn constant(&mut self, expr: &Expr, truth: &Truth, sides: &[&Expr]) -> Maybe<()> {
        let outcome = match glance(truth, self.names) {
            Certainty::Always => "always",
            Certainty::Never => "never",
            Certainty::Depends => return Some(()),
        };
        let error = RuleError::new(expr.at.clone(), format!("this is {outcome} true"));
        let (alike, numbers) = match truth {
            Truth::Compare(_, left, right) => (left == right, vec![&**left, &**right]),
            Truth::In(number, _) => (false, vec![&**number]),
            Truth::Same(left, right) | Truth::Differ(left, right) => (left == right, Vec::new()),
            _ => (false, Vec::new()),
        };
        let words = ["the left side", "the right side"];
        let reasons = sides.iter().zip(numbers).zip(words);
        let reasons: Vec<_> =
            reasons.filter_map(|((side, int), word)| self.limits(side, int, word)).collect();
        self.fail(if alike {
            error.help("both sides are the same")
        } else if reasons.is_empty() {
            error
        } else {
            error.help(reasons.join(", and "))
        })
    }

    /// What values the side of a comparison has, in words.
    fn limits(&self, side: &Expr, int: &Int, word: &str) -> Option<String> {
        let path = match (&side.node, int) {
            (_, Int::Literal(_)) => return None,
            (Node::Path(path), _) => path,
            _ => {
                let (min, max) = interval(int, self.names)?;
                return Some(format!("{word} is {}", spanned(min, max)));
            }
        };
        let name = dotted(path);
        match self.lookup(path)? {
            Symbol::Int { enumeration: Some(enumeration), .. } => {
                let of = self.enum_name(enumeration).map_or("its enum".to_owned(), |of| format!("`{of}`"));
                Some(format!("`{name}` has only the values of {of}"))
            }
            Symbol::Int { min, max, .. } => Some(format!("`{name}` is {}", spanned(min, max))),
            Symbol::Mask { known, .. } => Some(format!("`{name}` has only the bits {known:#x}")),
            _ => None,
        }
    }

    /// The error for a condition that is compared with a number.
    fn mixed(&mut self, expr: &Expr, cmp: Cmp, condition: &Expr, number: &Expr) -> Maybe<Truth> {
        let name = named(condition);
        let what =
            name.clone().map_or("a condition".to_owned(), |name| format!("`{name}` is a condition, and"));
        let error = RuleError::new(expr.at.clone(), format!("{what} is compared with a number"));
        let help = match (name, cmp, &number.node) {
            (Some(name), Cmp::Equal, Node::Number(0)) | (Some(name), Cmp::Differ, Node::Number(1)) => {
                format!("write `!{name}`")
            }
            (Some(name), Cmp::Equal, Node::Number(1)) | (Some(name), Cmp::Differ, Node::Number(0)) => {
                format!("write `{name}`")
            }
            _ => "put a condition on both sides, or a number on both".to_owned(),
        };
        self.fail(error.help(help))
    }

    fn number_as_condition(&self, expr: &Expr, path: &[Word]) -> RuleError {
        let name = dotted(path);
        let (what, help) = match self.lookup(path) {
            Some(Symbol::Mask { .. }) => {
                let bit = self.names.candidates().into_iter().find(|known| {
                    known.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with('.'))
                });
                let bit = bit.map_or(String::new(), |bit| format!(", or name a bit: `{bit}`"));
                ("a bitmask", format!("compare it: `{name} != 0`{bit}"))
            }
            Some(Symbol::Int { enumeration: Some(enumeration), .. }) => {
                let value = self.names.enum_candidates(Some(enumeration)).into_iter().next();
                let value = value.unwrap_or_else(|| "0".to_owned());
                ("a number", format!("compare it with a value: `{name} == {value}`"))
            }
            _ => ("a number", format!("compare it with 0: `{name} != 0`")),
        };
        RuleError::new(expr.at.clone(), format!("`{name}` is {what}, not a condition")).help(help)
    }

    fn unknown(&self, at: Range<usize>, path: &[Word]) -> RuleError {
        let name = dotted(path);
        let known = self.names.candidates();
        match path {
            [word] => {
                let error = RuleError::new(at, format!("there is no field `{name}`"));
                let error = suggest(error, &name, &known, "");
                if error.help.is_some() {
                    return error;
                }
                if let "true" | "false" = word.text.as_str() {
                    return error.help("a condition stands by itself: `x` or `!x`");
                }
                match self.enum_with(&word.text) {
                    Some(of) => {
                        error.help(format!("as a value of `{of}` it is compared with a field of that enum"))
                    }
                    None => error,
                }
            }
            _ => {
                let error = RuleError::new(at, format!("there is no `{name}`"));
                if let [first, second] = path
                    && self.names.enum_named(&first.text).is_some_and(|of| self.has(of, &second.text))
                {
                    let (of, value) = (&first.text, &second.text);
                    return error.help(format!("write `{value}`, compared with a field of the enum `{of}`"));
                }
                // What stands before the last dot is probably right, so its own names come first.
                if let Some((head, last)) = name.rsplit_once('.') {
                    let siblings: Vec<String> = known
                        .iter()
                        .filter_map(|known| known.strip_prefix(head)?.strip_prefix('.'))
                        .map(str::to_owned)
                        .collect();
                    if !siblings.is_empty() {
                        return suggest(error, last, &siblings, &format!("{head}."));
                    }
                }
                suggest(error, &name, &known, "")
            }
        }
    }

    fn enum_with(&self, value: &str) -> Option<String> {
        let all = self.names.enum_candidates(None);
        all.into_iter().find(|name| self.names.enum_named(name).is_some_and(|of| self.has(of, value)))
    }

    fn has(&self, enumeration: usize, value: &str) -> bool {
        self.names.enum_value(enumeration, value).is_some()
    }

    fn enum_name(&self, enumeration: usize) -> Option<String> {
        let all = self.names.enum_candidates(None);
        all.into_iter().find(|name| self.names.enum_named(name) == Some(enumeration))
    }

    fn lookup(&self, path: &[Word]) -> Option<Symbol> {
        let path: Vec<&str> = path.iter().map(|word| word.text.as_str()).collect();
        self.names.lookup(&path)
    }

    fn fail<T>(&mut self, error: RuleError) -> Maybe<T> {
        self.errors.push(error);
        None
    }
}

/// Comparisons are looked at on their own, with a reason in the error.
fn is_comparison(expr: &Expr) -> bool {
    matches!(expr.node, Node::Compare(..) | Node::In(..))
}

fn named(expr: &Expr) -> Option<String> {
    match &expr.node {
        Node::Path(path) => Some(dotted(path)),
        _ => None,
    }
}

fn spanned(min: i128, max: i128) -> String {
    if min == max { min.to_string() } else { format!("{min} to {max}") }
}

fn suggest(error: RuleError, word: &str, known: &[String], prefix: &str) -> RuleError {
    match nearest(word, known.iter().map(String::as_str)) {
        Some(name) => error.help(format!("did you mean `{prefix}{name}`?")),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::{FieldRef, Space};
    use super::super::{parse, samples};
    use super::*;

    fn typed(text: &str) -> Truth {
        truth(&parse(text).unwrap(), &samples::wide()).unwrap()
    }

    fn literal(value: i128) -> Box<Int> {
        Box::new(Int::Literal(value))
    }

    fn field(index: usize) -> FieldRef {
        FieldRef { space: Space::Own, index }
    }

    fn number(index: usize) -> Box<Int> {
        Box::new(Int::Field(field(index)))
    }

    #[test]
    fn names_of_values_stand_on_either_side() {
        assert_eq!(typed("status == rejected"), Truth::Compare(Cmp::Equal, number(2), literal(2)));
        assert_eq!(typed("rejected > status"), Truth::Compare(Cmp::Greater, literal(2), number(2)));
        // A value of the enum wins over a field of the same name, and a field of the same enum is a field.
        assert_eq!(typed("status == small"), Truth::Compare(Cmp::Equal, number(2), literal(3)));
        assert_eq!(typed("small == status"), Truth::Compare(Cmp::Equal, literal(3), number(2)));
        assert_eq!(typed("source != target"), Truth::Compare(Cmp::Differ, number(9), number(10)));
        assert_eq!(typed("small in transport"), Truth::In(number(0), 1));
    }

    #[test]
    fn numbers_and_conditions_keep_apart() {
        let partial = Box::new(Truth::Flag(field(3), 1));
        let fatal = Box::new(Truth::Bool(field(4)));
        assert_eq!(typed("flags.partial == fatal"), Truth::Same(partial.clone(), fatal.clone()));
        assert_eq!(typed("flags.partial != fatal"), Truth::Differ(partial, fatal));
        assert_eq!(typed("flags == 0b11"), Truth::Compare(Cmp::Equal, number(3), literal(3)));
        assert_eq!(typed("signed > -5"), Truth::Compare(Cmp::Greater, number(1), literal(-5)));
        assert_eq!(
            typed("id != 0xffff_ffff_ffff_ffff"),
            Truth::Compare(Cmp::Differ, number(8), literal(u64::MAX.into()))
        );
        let rest = Int::Binary(Arith::Remainder, number(5), literal(4));
        assert_eq!(typed("count % 4 == 0"), Truth::Compare(Cmp::Equal, Box::new(rest), literal(0)));
    }
}
