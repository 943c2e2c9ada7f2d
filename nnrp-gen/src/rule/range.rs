//! Which values a number can have.

use super::ast::Arith;
use super::eval::calculate;
use super::names::{Names, Symbol};
use super::tree::{FieldRef, Int};

/// The least and the greatest value that a number can have, from the ranges of its fields.
///
/// For an emitter that chooses a type to calculate in. `None` if a field in it has no valid value at all.
pub fn interval(int: &Int, names: &dyn Names) -> Option<(i128, i128)> {
    match int {
        Int::Literal(value) => Some((*value, *value)),
        Int::Named(enumeration, _) => {
            let spans = names.values(*enumeration);
            Some((spans.first()?.0.into(), spans.last()?.1.into()))
        }
        Int::Field(field) => Set::of(*field, names).bounds(),
        Int::Neg(inner) => interval(inner, names).map(negated),
        Int::Binary(arith, left, right) => {
            Some(combined(*arith, interval(left, names)?, interval(right, names)?))
        }
    }
}

type Span = (i128, i128);

/// The negatives of a span.
pub(super) fn negated((min, max): Span) -> Span {
    (max.saturating_neg(), min.saturating_neg())
}

/// The span of what a calculation on two spans gives.
pub(super) fn combined(arith: Arith, left: Span, right: Span) -> Span {
    match arith {
        Arith::Add => (left.0.saturating_add(right.0), left.1.saturating_add(right.1)),
        Arith::Subtract => (left.0.saturating_sub(right.1), left.1.saturating_sub(right.0)),
        Arith::Multiply => {
            let corners = [(left.0, right.0), (left.0, right.1), (left.1, right.0), (left.1, right.1)];
            let products = corners.map(|(a, b)| a.saturating_mul(b));
            (products.into_iter().min().unwrap_or(i128::MIN), products.into_iter().max().unwrap_or(i128::MAX))
        }
        Arith::Remainder => {
            if left.0 == left.1 && right.0 == right.1 {
                let value = calculate(arith, left.0, right.0);
                return (value, value);
            }
            let most = right.0.saturating_abs().max(right.1.saturating_abs()).saturating_sub(1).max(0);
            if right.0 == right.1 && left.0 >= -most && left.1 <= most {
                // What is nearer to 0 than the divisor is its own remainder.
                return left;
            }
            // A remainder has the sign of the left side and is no further from 0 than that.
            (if left.0 >= 0 { 0 } else { left.0.max(-most) }, if left.1 <= 0 { 0 } else { left.1.min(most) })
        }
    }
}

/// A set of integers: spans, and for bitmasks bits that are known. It may hold more than can be, never less.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Set {
    /// Inclusive, sorted, disjoint.
    spans: Vec<Span>,
    /// Bits that are set in every value.
    ones: u64,
    /// Bits that are clear in every value.
    zeros: u64,
}

/// How many values are tried one by one to find the end of a span that the known bits allow.
const TRIES: usize = 256;

impl Set {
    /// The values of a span.
    pub(super) fn span((min, max): Span) -> Self {
        let spans = if min <= max { vec![(min, max)] } else { Vec::new() };
        Set { spans, ones: 0, zeros: 0 }
    }

    /// The values of an enum.
    pub(super) fn members(enumeration: usize, names: &dyn Names) -> Self {
        Set { spans: members(enumeration, names), ones: 0, zeros: 0 }
    }

    /// The values that a field can have.
    pub(super) fn of(field: FieldRef, names: &dyn Names) -> Self {
        match names.field(field) {
            Some(Symbol::Int { min, max, enumeration, .. }) => {
                let mut set = Set::span((min, max));
                if let Some(enumeration) = enumeration {
                    set.meet(&members(enumeration, names));
                }
                set
            }
            Some(Symbol::Bool { .. }) => Set::span((0, 1)),
            Some(Symbol::Mask { known, .. }) => {
                let mut set = Set::span((0, i128::from(known)));
                set.zeros = !known;
                set.settle();
                set
            }
            // Nothing is known of it, so nothing is ruled out.
            _ => Set::span((i128::MIN, i128::MAX)),
        }
    }

    /// The least and the greatest value, if there is any value.
    pub(super) fn bounds(&self) -> Option<Span> {
        Some((self.spans.first()?.0, self.spans.last()?.1))
    }

    /// Keeps only what is also in the spans.
    pub(super) fn meet(&mut self, others: &[Span]) {
        let mut kept = Vec::new();
        let (mut mine, mut theirs) = (self.spans.iter().peekable(), others.iter().peekable());
        while let (Some(a), Some(b)) = (mine.peek(), theirs.peek()) {
            let both = (a.0.max(b.0), a.1.min(b.1));
            if both.0 <= both.1 {
                kept.push(both);
            }
            if a.1 <= b.1 {
                mine.next();
            } else {
                theirs.next();
            }
        }
        self.spans = kept;
        self.settle();
    }

    /// Keeps only what is not in the spans.
    pub(super) fn drop(&mut self, others: &[Span]) {
        let mut gaps = Vec::new();
        let mut from = Some(i128::MIN);
        for (min, max) in others {
            if let (Some(start), Some(end)) = (from, min.checked_sub(1))
                && start <= end
            {
                gaps.push((start, end));
            }
            from = max.checked_add(1);
        }
        if let Some(start) = from {
            gaps.push((start, i128::MAX));
        }
        self.meet(&gaps);
    }

    /// Keeps only what has a bit of the mask set, or none.
    pub(super) fn bits(&mut self, mask: u64, set: bool) {
        if self.bounds().is_some_and(|(min, max)| min < 0 || max > i128::from(u64::MAX)) {
            // Not a bitmask, so the bits say nothing here.
            return;
        }
        if !set {
            self.zeros |= mask;
        } else {
            let open = mask & !self.zeros;
            match open.count_ones() {
                0 => self.spans.clear(),
                1 => self.ones |= open,
                // One of several: nothing is known of any single bit.
                _ => self.drop(&[(0, 0)]),
            }
        }
        self.settle();
    }

    /// Takes over what is known of an equal value.
    pub(super) fn equal(&mut self, other: &Set) {
        self.ones |= other.ones;
        self.zeros |= other.zeros;
        self.meet(&other.spans);
    }

    /// Brings spans in line with the known bits.
    fn settle(&mut self) {
        let (ones, zeros) = (self.ones, self.zeros);
        if ones == 0 && zeros == 0 {
            return;
        }
        if ones & zeros != 0 {
            self.spans.clear();
            return;
        }
        // Bits over the 64th are no bits of a mask, so what has them, negative numbers too, is not in the set.
        let fits =
            |value: i128| u64::try_from(value).is_ok_and(|bits| bits & ones == ones && bits & zeros == 0);
        let (least, most) = (i128::from(ones), i128::from(!zeros));
        self.spans.retain_mut(|(min, max)| {
            (*min, *max) = ((*min).max(least), (*max).min(most));
            for _ in 0..TRIES {
                if *min > *max || fits(*min) {
                    break;
                }
                *min += 1;
            }
            for _ in 0..TRIES {
                if *min > *max || fits(*max) {
                    break;
                }
                *max -= 1;
            }
            *min <= *max
        });
    }
}

/// The values of an enum.
pub(super) fn members(enumeration: usize, names: &dyn Names) -> Vec<Span> {
    names.values(enumeration).into_iter().map(|(min, max)| (i128::from(min), i128::from(max))).collect()
}
