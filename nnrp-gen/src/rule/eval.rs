//! Decides a rule for given values.

use super::ast::Arith;
use super::tree::{FieldRef, Int, Presence, Truth};

/// The values that a rule is decided for.
pub trait Values {
    /// The value of a field; of a bool field, 0 or 1; of a bitmask, its bits.
    fn int(&self, field: FieldRef) -> i128;
    /// Whether the segment of the body has an entry of this value.
    fn present(&self, entry: Presence) -> bool;
    /// Whether the enum has this value, listed or in a range.
    fn in_enum(&self, enumeration: usize, value: i128) -> bool;
}

/// Whether the rule holds.
pub fn eval(truth: &Truth, values: &dyn Values) -> bool {
    match truth {
        Truth::Flag(field, mask) => values.int(*field) & i128::from(*mask) != 0,
        // Only derive macros make these, and only emitters see them.
        Truth::NamedFlag(..) => false,
        Truth::Bool(field) => values.int(*field) != 0,
        Truth::Present(entry) => values.present(*entry),
        Truth::In(int, enumeration) => values.in_enum(*enumeration, number(int, values)),
        Truth::Compare(cmp, left, right) => cmp.holds(number(left, values), number(right, values)),
        Truth::Same(left, right) => eval(left, values) == eval(right, values),
        Truth::Differ(left, right) => eval(left, values) != eval(right, values),
        Truth::Not(inner) => !eval(inner, values),
        Truth::And(parts) => parts.iter().all(|part| eval(part, values)),
        Truth::Or(parts) => parts.iter().any(|part| eval(part, values)),
    }
}

fn number(int: &Int, values: &dyn Values) -> i128 {
    match int {
        Int::Literal(value) => *value,
        Int::Named(..) => 0,
        Int::Field(field) => values.int(*field),
        Int::Neg(inner) => number(inner, values).saturating_neg(),
        Int::Binary(arith, left, right) => calculate(*arith, number(left, values), number(right, values)),
    }
}

/// One step of arithmetic. Typed trees neither overflow nor divide by zero; others saturate, and a remainder by 0 is 0.
pub(super) fn calculate(arith: Arith, left: i128, right: i128) -> i128 {
    match arith {
        Arith::Add => left.saturating_add(right),
        Arith::Subtract => left.saturating_sub(right),
        Arith::Multiply => left.saturating_mul(right),
        Arith::Remainder => left.checked_rem(right).unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{parse, truth};
    use super::*;
    use crate::rule::samples::{self, Point};

    fn holding(text: &str) -> usize {
        let rule = truth(&parse(text).unwrap(), &samples::tiny()).unwrap();
        samples::points().iter().filter(|point: &&Point| eval(&rule, *point)).count()
    }

    #[test]
    fn counts_the_values_that_pass() {
        let all = 4 * 5 * 3 * 4 * 2 * 3 * 2;
        assert_eq!(samples::points().len(), all);
        assert_eq!(holding("x == 3"), all / 4);
        assert_eq!(holding("y % 2 == -1"), all / 5);
        assert_eq!(holding("-y * 2 - 1 < y"), all * 3 / 5);
        assert_eq!(holding("state == busy || state == done"), all * 2 / 3);
        assert_eq!(holding("x in states"), all * 3 / 4);
        assert_eq!(holding("flags.low && !flags.high"), all / 4);
        assert_eq!(holding("flags == 5"), all / 4);
        assert_eq!(holding("on == (header.x != 0)"), all / 2);
        assert_eq!(holding("body.ext.extra != on"), all / 2);
    }

    #[test]
    fn no_arithmetic_panics() {
        for arith in [Arith::Add, Arith::Subtract, Arith::Multiply, Arith::Remainder] {
            for left in [i128::MIN, -1, 0, i128::MAX] {
                for right in [i128::MIN, -1, 0, i128::MAX] {
                    calculate(arith, left, right);
                }
            }
        }
    }
}
