//! Rules that are checked together: those that in the same case demand zero of one field each.

use crate::model::Rule;
use crate::rule::{Cmp, FieldRef, Int, Truth};

use super::rules::alternatives;

/// Some rules that all say: in this case, or else that field is zero.
pub(super) struct Together {
    /// The case.
    pub(super) case: Truth,
    /// The fields, and the bits of them that are zero.
    pub(super) zero: Vec<(FieldRef, u64)>,
}

/// The rules that go together, and all others.
pub(super) fn together(rules: &[Rule]) -> (Vec<Together>, Vec<&Rule>) {
    let mut all: Vec<(Together, Vec<&Rule>)> = Vec::new();
    let mut others = Vec::new();
    for rule in rules {
        match split(rule) {
            Some((case, zero)) => match all.iter_mut().find(|(known, _)| known.case == case) {
                Some((known, rules)) => {
                    known.zero.push(zero);
                    rules.push(rule);
                }
                None => all.push((Together { case, zero: vec![zero] }, vec![rule])),
            },
            None => others.push(rule),
        }
    }
    let (several, single): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, rules)| rules.len() > 1);
    others.extend(single.into_iter().flat_map(|(_, rules)| rules));
    (several.into_iter().map(|(together, _)| together).collect(), others)
}

/// A rule as a case and what is zero in all others.
fn split(rule: &Rule) -> Option<(Truth, (FieldRef, u64))> {
    let mut parts = alternatives(&rule.condition());
    let at = parts.iter().rposition(|part| zero(part).is_some())?;
    let zero = zero(&parts.remove(at))?;
    if parts.is_empty() { None } else { Some((Truth::Or(parts), zero)) }
}

/// The bits that a condition demands to be zero, where it demands nothing else.
fn zero(truth: &Truth) -> Option<(FieldRef, u64)> {
    match truth {
        Truth::Compare(Cmp::Equal, left, right) => match (&**left, &**right) {
            (Int::Field(field), Int::Literal(0)) | (Int::Literal(0), Int::Field(field)) => {
                Some((*field, u64::MAX))
            }
            _ => None,
        },
        Truth::Not(inner) => match **inner {
            Truth::Flag(field, mask) => Some((field, mask)),
            Truth::Bool(field) => Some((field, u64::MAX)),
            _ => None,
        },
        _ => None,
    }
}
