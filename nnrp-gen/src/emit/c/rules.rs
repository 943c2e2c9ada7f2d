//! Rules, as conditions over raw numbers.

use crate::model::{Element, Field, Meaning, Scalar};
use crate::rule::{Arith, Cmp, FieldRef, Int, Presence, Truth};

use super::C;
use super::text::number;

/// How a condition reaches a field's raw number, and the field itself.
pub(super) trait Reach {
    /// An expression of the field's raw type that binds tighter than any operator.
    fn value(&self, field: FieldRef) -> String;

    /// The field.
    fn field(&self, field: FieldRef) -> &Field;

    /// Whether an entry is in the body; only rules of messages can ask.
    fn presence(&self, _: Presence) -> String {
        "false".to_owned()
    }
}

/// How tightly an expression binds, loosest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Tight {
    Or,
    And,
    Compare,
    Sum,
    Product,
    Unary,
}

/// An expression and how tightly it binds.
type Bound = (String, Tight);

/// The integers in which the two sides of a comparison meet.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meet {
    /// Both as they are: C compares them right.
    Own,
    /// Both as `int64_t`.
    Signed,
    /// `int64_t` on the left and `uint64_t` on the right.
    Left,
    /// `uint64_t` on the left and `int64_t` on the right.
    Right,
}

/// What kind of integer a side is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Literal,
    Unsigned,
    Wide,
    Signed,
}

impl C<'_> {
    /// A condition that stands alone.
    pub(super) fn condition(&self, truth: &Truth, reach: &dyn Reach) -> String {
        self.truth(truth, reach).0
    }

    /// The condition under which one does not hold.
    pub(super) fn broken(&self, truth: &Truth, reach: &dyn Reach) -> String {
        self.negated(truth, reach).0
    }

    fn truth(&self, truth: &Truth, reach: &dyn Reach) -> Bound {
        match truth {
            Truth::Flag(field, mask) => self.flag(*field, *mask, "!=", reach),
            Truth::Bool(field) => (format!("{} != 0", reach.value(*field)), Tight::Compare),
            Truth::Present(presence) => (reach.presence(*presence), Tight::Unary),
            // Only derived rules have names without a number.
            Truth::NamedFlag(..) => ("false".to_owned(), Tight::Unary),
            Truth::In(int, enumeration) => {
                let accepts =
                    self.names.lower(&format!("{}_accepts", self.registry.enums[*enumeration].name));
                match (&**int, side(int, reach)) {
                    (Int::Field(field), Side::Unsigned | Side::Wide) => {
                        (format!("{accepts}({})", reach.value(*field)), Tight::Unary)
                    }
                    (_, Side::Signed) => {
                        // No enum has a negative value, and as `uint64_t` it would seem to be a large one.
                        let signed = self.signed(int, reach);
                        let positive = format!("{} >= 0", at_least(signed.clone(), Tight::Sum));
                        let value = at_least(signed, Tight::Unary);
                        (format!("{positive} && {accepts}((uint64_t){value})"), Tight::And)
                    }
                    _ => {
                        let value = at_least(self.signed(int, reach), Tight::Unary);
                        (format!("{accepts}((uint64_t){value})"), Tight::Unary)
                    }
                }
            }
            Truth::Compare(cmp, left, right) => self.compare(*cmp, left, right, reach),
            Truth::Same(left, right) => self.both(left, "==", right, reach),
            Truth::Differ(left, right) => self.both(left, "!=", right, reach),
            Truth::Not(inner) => self.negated(inner, reach),
            Truth::And(parts) => join(parts.iter().map(|part| self.truth(part, reach)), "&&", Tight::And),
            Truth::Or(parts) => join(parts.iter().map(|part| self.truth(part, reach)), "||", Tight::Or),
        }
    }

    /// A condition that does not hold, with the `!` as far inside as it goes.
    fn negated(&self, truth: &Truth, reach: &dyn Reach) -> Bound {
        match truth {
            Truth::Flag(field, mask) => self.flag(*field, *mask, "==", reach),
            Truth::Bool(field) => (format!("{} == 0", reach.value(*field)), Tight::Compare),
            Truth::Compare(cmp, left, right) => self.compare(cmp.opposite(), left, right, reach),
            Truth::Same(left, right) => self.both(left, "!=", right, reach),
            Truth::Differ(left, right) => self.both(left, "==", right, reach),
            Truth::Not(inner) => self.truth(inner, reach),
            Truth::And(parts) => join(parts.iter().map(|part| self.negated(part, reach)), "||", Tight::Or),
            Truth::Or(parts) => join(parts.iter().map(|part| self.negated(part, reach)), "&&", Tight::And),
            Truth::In(..) | Truth::Present(_) | Truth::NamedFlag(..) => {
                (format!("!{}", at_least(self.truth(truth, reach), Tight::Unary)), Tight::Unary)
            }
        }
    }

    /// Whether a bit of the mask is set, or none.
    fn flag(&self, field: FieldRef, mask: u64, sign: &str, reach: &dyn Reach) -> Bound {
        let name = match reach.field(field).meaning {
            Meaning::Bitmask(position) => {
                let item = &self.registry.bitmasks[position];
                let bit = item.bits.iter().find(|bit| bit.mask == mask);
                bit.map(|bit| self.bit_name(item, &bit.name))
            }
            _ => None,
        };
        let mask = name.unwrap_or_else(|| number(mask.into()));
        (format!("({} & {mask}) {sign} 0", reach.value(field)), Tight::Compare)
    }

    /// Two conditions compared with each other.
    fn both(&self, left: &Truth, sign: &str, right: &Truth, reach: &dyn Reach) -> Bound {
        // A `!` on the left would look as if it were meant for the whole.
        let side = |truth: &Truth| match self.truth(truth, reach) {
            (text, Tight::Unary) if !text.starts_with('!') => text,
            (text, _) => format!("({text})"),
        };
        (format!("{} {sign} {}", side(left), side(right)), Tight::Compare)
    }

    fn compare(&self, cmp: Cmp, left: &Int, right: &Int, reach: &dyn Reach) -> Bound {
        let sign = cmp.symbol();
        let text = match meet(side(left, reach), side(right, reach)) {
            Meet::Own => {
                let a = self.own(left, right, reach);
                let b = self.own(right, left, reach);
                format!("{} {sign} {}", at_least(a, Tight::Sum), at_least(b, Tight::Sum))
            }
            Meet::Signed => {
                let (a, b) = (self.signed(left, reach), self.signed(right, reach));
                format!("{} {sign} {}", at_least(a, Tight::Sum), at_least(b, Tight::Sum))
            }
            Meet::Left => self.wide(left, right, sign, reach),
            Meet::Right => self.wide(right, left, cmp.mirrored().symbol(), reach),
        };
        (text, Tight::Compare)
    }

    /// A comparison of `int64_t` with `uint64_t`.
    fn wide(&self, signed: &Int, unsigned: &Int, sign: &str, reach: &dyn Reach) -> String {
        let compare = self.names.lower("compare_");
        let (signed, unsigned) = (self.signed(signed, reach).0, self.own(unsigned, signed, reach).0);
        format!("{compare}({signed}, {unsigned}) {sign} 0")
    }

    /// A number as it is. A literal beside a field of an enum goes by its name.
    fn own(&self, int: &Int, beside: &Int, reach: &dyn Reach) -> Bound {
        match int {
            Int::Literal(_) if side(beside, reach) == Side::Signed => self.signed(int, reach),
            Int::Literal(literal) => {
                let name = self.value_named(*literal, beside, reach);
                (name.unwrap_or_else(|| number(*literal)), Tight::Unary)
            }
            Int::Named(..) => ("0".to_owned(), Tight::Unary),
            Int::Field(field) => (reach.value(*field), Tight::Unary),
            Int::Binary(Arith::Remainder, left, right) if side(int, reach) != Side::Signed => {
                let (left, right) = (self.own(left, right, reach), self.own(right, int, reach));
                (format!("{} % {}", at_least(left, Tight::Product), right.0), Tight::Product)
            }
            Int::Neg(_) | Int::Binary(..) => self.signed(int, reach),
        }
    }

    /// A number as `int64_t`, which holds everything that is calculated.
    fn signed(&self, int: &Int, reach: &dyn Reach) -> Bound {
        match int {
            Int::Literal(literal) => (signed_number(*literal), Tight::Unary),
            Int::Named(..) => ("0".to_owned(), Tight::Unary),
            Int::Field(field) => (format!("(int64_t){}", reach.value(*field)), Tight::Unary),
            Int::Neg(inner) => {
                let inner = match &**inner {
                    Int::Neg(_) | Int::Literal(_) => format!("({})", self.signed(inner, reach).0),
                    _ => at_least(self.signed(inner, reach), Tight::Unary),
                };
                (format!("-{inner}"), Tight::Unary)
            }
            Int::Binary(arith, left, right) => {
                let (sign, tight) = match arith {
                    Arith::Add => ("+", Tight::Sum),
                    Arith::Subtract => ("-", Tight::Sum),
                    Arith::Multiply => ("*", Tight::Product),
                    Arith::Remainder => ("%", Tight::Product),
                };
                // Two literals would be calculated as `int`.
                let first = match (&**left, &**right) {
                    (Int::Literal(left), Int::Literal(_)) => {
                        (format!("(int64_t){}", signed_number(*left)), Tight::Unary)
                    }
                    _ => self.signed(left, reach),
                };
                // The right side of `-` and `%` does not regroup.
                let next = if tight == Tight::Sum { Tight::Product } else { Tight::Unary };
                let second = at_least(self.signed(right, reach), next);
                (format!("{} {sign} {second}", at_least(first, tight)), tight)
            }
        }
    }

    /// The name of a literal that is compared with a field of an enum.
    fn value_named(&self, literal: i128, beside: &Int, reach: &dyn Reach) -> Option<String> {
        let Int::Field(field) = beside else { return None };
        let Meaning::Enum(position) = reach.field(*field).meaning else { return None };
        let item = &self.registry.enums[position];
        let value = item.value(u64::try_from(literal).ok()?)?;
        Some(self.value_name(item, value))
    }
}

/// A literal that is calculated or compared with what has a sign.
fn signed_number(literal: i128) -> String {
    match literal {
        0..=0x7fff_ffff => literal.to_string(),
        0x8000_0000.. => format!("INT64_C({literal:#x})"),
        negative => number(negative),
    }
}

/// An expression that binds at least so tightly, in parentheses if need be.
fn at_least((text, tight): Bound, least: Tight) -> String {
    if tight < least { format!("({text})") } else { text }
}

/// Conditions with a sign between them.
fn join(parts: impl Iterator<Item = Bound>, sign: &str, tight: Tight) -> Bound {
    // Compilers like `&&` inside `||` in parentheses; what is of the same kind needs none.
    let grouped = |part: Bound| if part.1 == tight { part.0 } else { at_least(part, Tight::Compare) };
    let parts: Vec<_> = parts.map(grouped).collect();
    (parts.join(&format!(" {sign} ")), tight)
}

/// What kind of integer a number is in C.
fn side(int: &Int, reach: &dyn Reach) -> Side {
    match int {
        Int::Literal(_) | Int::Named(..) => Side::Literal,
        Int::Field(field) => match reach.field(*field).element {
            Element::Scalar(Scalar::U64) | Element::Layout(_) => Side::Wide,
            Element::Scalar(scalar) if scalar.is_unsigned() => Side::Unsigned,
            Element::Scalar(_) => Side::Signed,
        },
        // The remainder of a field without a sign has none either.
        Int::Binary(Arith::Remainder, left, _) if side(left, reach) == Side::Unsigned => Side::Unsigned,
        Int::Neg(_) | Int::Binary(..) => Side::Signed,
    }
}

fn meet(left: Side, right: Side) -> Meet {
    match (left, right) {
        (Side::Signed, Side::Wide) => Meet::Left,
        (Side::Wide, Side::Signed) => Meet::Right,
        (Side::Signed, Side::Unsigned) | (Side::Unsigned, Side::Signed) => Meet::Signed,
        _ => Meet::Own,
    }
}
