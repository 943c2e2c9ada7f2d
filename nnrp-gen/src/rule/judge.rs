//! Whether a rule can refuse anything, and whether it can accept anything.
//!
//! A condition is constant if one of its two outcomes is impossible. To prove an outcome impossible, everything that
//! follows from it is written into a [`World`]: which values each field and each calculation still has. A choice is
//! tried both ways. What ends in a field without values cannot happen. All steps only leave out what surely is not,
//! and when the effort runs out, the answer is "possible", so that no rule is ever called constant wrongly.

use super::ast::{Arith, Cmp};
use super::names::Names;
use super::range::{Set, combined, members, negated};
use super::tree::{FieldRef, Int, Presence, Truth};

/// What is known of a condition before any value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// It holds for all values.
    Always,
    /// It holds for no values.
    Never,
    /// It may hold or not; or proving more is too much effort.
    Depends,
}

/// What is known of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing is wrong with it.
    Sound,
    /// Its `when` is never true.
    WhenNever,
    /// Its `when` is always true.
    WhenAlways,
    /// Its `require` is always true where it applies.
    RefusesNothing,
    /// Its `require` is never true where it applies.
    RefusesAll,
}

impl Verdict {
    /// The message of the diagnostic; none for a sound rule.
    pub fn message(self) -> Option<&'static str> {
        match self {
            Verdict::Sound => None,
            Verdict::WhenNever => Some("this condition is never true, so the rule never applies"),
            Verdict::WhenAlways => Some("this condition is always true"),
            Verdict::RefusesNothing => Some("this rule can never refuse anything"),
            Verdict::RefusesAll => Some("this rule refuses everything"),
        }
    }

    /// What to do about it.
    pub fn help(self) -> Option<&'static str> {
        match self {
            Verdict::WhenAlways => Some("leave `when` out"),
            Verdict::RefusesAll => Some("what `require` asks for can never be where the rule applies"),
            Verdict::RefusesNothing => Some("what `require` asks for always is so where the rule applies"),
            Verdict::Sound | Verdict::WhenNever => None,
        }
    }
}

/// What is known of a condition by itself.
pub fn certainty(truth: &Truth, names: &dyn Names) -> Certainty {
    certainty_within(truth, names, EFFORT)
}

/// What is known of a rule as a whole: whether it can refuse anything, and whether it can accept anything.
pub fn judge(when: Option<&Truth>, require: &Truth, names: &dyn Names) -> Verdict {
    if let Some(when) = when {
        match certainty(when, names) {
            Certainty::Always => return Verdict::WhenAlways,
            Certainty::Never => return Verdict::WhenNever,
            Certainty::Depends => {}
        }
    }
    let outcome = |wanted| {
        let facts = when.map(|when| (when, true)).into_iter().chain([(require, wanted)]);
        possible(facts.collect(), names, EFFORT)
    };
    match (outcome(true), outcome(false)) {
        (true, false) => Verdict::RefusesNothing,
        (false, true) => Verdict::RefusesAll,
        // Neither: a field has no valid value at all, which is not the rule's fault.
        (true, true) | (false, false) => Verdict::Sound,
    }
}

/// As [`certainty`], but for a first look at each part of a rule.
pub(super) fn glance(truth: &Truth, names: &dyn Names) -> Certainty {
    certainty_within(truth, names, EFFORT / 64)
}

fn certainty_within(truth: &Truth, names: &dyn Names, effort: usize) -> Certainty {
    match (possible(vec![(truth, true)], names, effort), possible(vec![(truth, false)], names, effort)) {
        (true, false) => Certainty::Always,
        (false, true) => Certainty::Never,
        (true, true) | (false, false) => Certainty::Depends,
    }
}

/// A condition and what it is taken to be.
type Fact<'t> = (&'t Truth, bool);

/// How many terms are looked at before a question is given up as "possible".
const EFFORT: usize = 100_000;

/// How many choices are tried inside one another.
const CHOICES: usize = 48;

/// How often facts are gone through again because one of them narrowed something.
const ROUNDS: usize = 4;

fn possible(facts: Vec<Fact<'_>>, names: &dyn Names, effort: usize) -> bool {
    let world =
        World { names, facts: Vec::new(), terms: Vec::new(), orders: Vec::new(), entries: Vec::new() };
    let mut left = effort;
    search(world, facts, 0, &mut left)
}

/// Whether the facts can all be in the world.
fn search<'t>(mut world: World<'t, '_>, mut todo: Vec<Fact<'t>>, depth: usize, left: &mut usize) -> bool {
    let mut choices = Vec::new();
    while let Some((truth, wanted)) = todo.pop() {
        match (truth, wanted) {
            (Truth::Not(inner), _) => todo.push((inner, !wanted)),
            (Truth::And(parts), true) | (Truth::Or(parts), false) => {
                todo.extend(parts.iter().map(|part| (part, wanted)));
            }
            (Truth::And(_) | Truth::Or(_) | Truth::Same(..) | Truth::Differ(..), _) => {
                choices.push((truth, wanted))
            }
            _ => world.facts.push((truth, wanted)),
        }
    }
    if world.settle(left).is_err() {
        return false;
    }
    let Some(choice) = choices.pop() else {
        return true;
    };
    if depth >= CHOICES {
        return true;
    }
    for option in options(choice) {
        *left = left.saturating_sub(1 + world.terms.len() + world.facts.len());
        if *left == 0 {
            return true;
        }
        let mut todo = choices.clone();
        todo.extend(option);
        if search(world.clone(), todo, depth + 1, left) {
            return true;
        }
    }
    false
}

/// The ways in which a fact that leaves a choice can be so.
fn options((truth, wanted): Fact<'_>) -> Vec<Vec<Fact<'_>>> {
    match truth {
        Truth::And(parts) | Truth::Or(parts) => parts.iter().map(|part| vec![(part, wanted)]).collect(),
        Truth::Same(left, right) => {
            vec![vec![(left, true), (right, wanted)], vec![(left, false), (right, !wanted)]]
        }
        Truth::Differ(left, right) => {
            vec![vec![(left, true), (right, !wanted)], vec![(left, false), (right, wanted)]]
        }
        _ => vec![vec![(truth, wanted)]],
    }
}

/// What has values: a field or a calculation.
#[derive(Clone, Copy, PartialEq)]
enum Term<'t> {
    Field(FieldRef),
    Calculation(&'t Int),
}

impl<'t> Term<'t> {
    fn of(int: &'t Int) -> Self {
        match int {
            Int::Field(field) => Term::Field(*field),
            _ => Term::Calculation(int),
        }
    }
}

/// Nothing can be so.
struct Impossible;

type Step = Result<(), Impossible>;

/// What is still possible under some facts.
#[derive(Clone)]
struct World<'t, 'n> {
    names: &'n dyn Names,
    facts: Vec<Fact<'t>>,
    /// The values of fields and of calculations.
    terms: Vec<(Term<'t>, Set)>,
    /// How two numbers can compare: a set of [`LESS`], [`EQUAL`] and [`GREATER`]. This knows that `a < b` and `b < a`
    /// exclude each other, which the values of each do not show.
    orders: Vec<(&'t Int, &'t Int, u8)>,
    /// Which entries are in the body: segment, value, whether.
    entries: Vec<(Presence, bool)>,
}

const LESS: u8 = 1;
const EQUAL: u8 = 2;
const GREATER: u8 = 4;

fn order(cmp: Cmp) -> u8 {
    match cmp {
        Cmp::Equal => EQUAL,
        Cmp::Differ => LESS | GREATER,
        Cmp::Less => LESS,
        Cmp::AtMost => LESS | EQUAL,
        Cmp::Greater => GREATER,
        Cmp::AtLeast => GREATER | EQUAL,
    }
}

fn turned(order: u8) -> u8 {
    (order & EQUAL)
        | if order & LESS != 0 { GREATER } else { 0 }
        | if order & GREATER != 0 { LESS } else { 0 }
}

impl<'t> World<'t, '_> {
    /// Draws the consequences of all facts.
    fn settle(&mut self, left: &mut usize) -> Step {
        for _ in 0..ROUNDS {
            let before = self.terms.clone();
            for index in 0..self.facts.len() {
                *left = left.saturating_sub(1 + self.terms.len() + self.orders.len() + self.entries.len());
                if *left == 0 {
                    return Ok(());
                }
                if let Some(fact) = self.facts.get(index).copied() {
                    self.assume(fact)?;
                }
            }
            if self.terms == before {
                break;
            }
        }
        Ok(())
    }

    fn assume(&mut self, (truth, wanted): Fact<'t>) -> Step {
        match truth {
            Truth::Flag(field, mask) => self.change_field(*field, |set| set.bits(*mask, wanted)),
            Truth::NamedFlag(..) => Ok(()),
            Truth::Bool(field) => self.change_field(*field, |set| {
                if wanted {
                    set.drop(&[(0, 0)]);
                } else {
                    set.meet(&[(0, 0)]);
                }
            }),
            Truth::Present(entry) => self.entry(*entry, wanted),
            Truth::In(_, enumeration) if self.names.is_given(*enumeration) => Ok(()),
            Truth::In(int, enumeration) => {
                let members = members(*enumeration, self.names);
                self.change(int, |set| if wanted { set.meet(&members) } else { set.drop(&members) })
            }
            Truth::Compare(cmp, left, right) => {
                let order = order(*cmp);
                self.compare(left, right, if wanted { order } else { !order & (LESS | EQUAL | GREATER) })
            }
            // Not facts by themselves; the search takes them apart.
            Truth::Not(_) | Truth::And(_) | Truth::Or(_) | Truth::Same(..) | Truth::Differ(..) => Ok(()),
        }
    }

    fn entry(&mut self, entry: Presence, wanted: bool) -> Step {
        match self.entries.iter().find(|known| known.0 == entry) {
            Some(known) if known.1 != wanted => Err(Impossible),
            Some(_) => Ok(()),
            None => {
                self.entries.push((entry, wanted));
                Ok(())
            }
        }
    }

    fn compare(&mut self, left: &'t Int, right: &'t Int, allowed: u8) -> Step {
        let allowed = self.restrict(left, right, allowed)?;
        let (a, b) = (self.set(left)?, self.set(right)?);
        let (Some(a_bounds), Some(b_bounds)) = (a.bounds(), b.bounds()) else {
            return Err(Impossible);
        };
        if allowed == EQUAL {
            self.change(left, |set| set.equal(&b))?;
            return self.change(right, |set| set.equal(&a));
        }
        // How far each side reaches over the other's ends.
        let slack = i128::from(allowed & EQUAL == 0);
        let not = allowed & EQUAL == 0;
        self.change(left, |set| bound(set, allowed, b_bounds, slack, not))?;
        self.change(right, |set| bound(set, turned(allowed), a_bounds, slack, not))
    }

    /// Notes how two numbers compare, and returns all that is known of it.
    fn restrict(&mut self, left: &'t Int, right: &'t Int, allowed: u8) -> Result<u8, Impossible> {
        let mut allowed = if left == right { allowed & EQUAL } else { allowed };
        let mut known = false;
        for (a, b, order) in &mut self.orders {
            if (*a, *b) == (left, right) {
                *order &= allowed;
                (allowed, known) = (*order, true);
            } else if (*a, *b) == (right, left) {
                *order &= turned(allowed);
                (allowed, known) = (turned(*order), true);
            }
        }
        if !known {
            self.orders.push((left, right, allowed));
        }
        if allowed == 0 { Err(Impossible) } else { Ok(allowed) }
    }

    /// The values that a number still has.
    fn set(&self, int: &Int) -> Result<Set, Impossible> {
        if let Some(known) = self.known(Term::of(int)) {
            return Ok(known.clone());
        }
        Ok(match int {
            Int::Literal(value) => Set::span((*value, *value)),
            Int::Named(enumeration, _) => Set::members(*enumeration, self.names),
            Int::Field(field) => Set::of(*field, self.names),
            Int::Neg(inner) => Set::span(negated(self.bounds(inner)?)),
            Int::Binary(arith, left, right) => {
                Set::span(combined(*arith, self.bounds(left)?, self.bounds(right)?))
            }
        })
    }

    fn known(&self, wanted: Term<'_>) -> Option<&Set> {
        self.terms.iter().find(|(term, _)| *term == wanted).map(|(_, set)| set)
    }

    fn bounds(&self, int: &Int) -> Result<(i128, i128), Impossible> {
        self.set(int)?.bounds().ok_or(Impossible)
    }

    /// Notes the values that something still has.
    fn keep(&mut self, wanted: Term<'t>, set: Set) -> Result<(i128, i128), Impossible> {
        let span = set.bounds().ok_or(Impossible)?;
        match self.terms.iter_mut().find(|(term, _)| *term == wanted) {
            Some((_, known)) => *known = set,
            None => self.terms.push((wanted, set)),
        }
        Ok(span)
    }

    /// Narrows the values of a field.
    fn change_field(&mut self, field: FieldRef, narrow: impl FnOnce(&mut Set)) -> Step {
        let term = Term::Field(field);
        let mut set = self.known(term).cloned().unwrap_or_else(|| Set::of(field, self.names));
        narrow(&mut set);
        self.keep(term, set).map(|_| ())
    }

    /// Narrows the values of a number, and of what it is calculated from.
    fn change(&mut self, int: &'t Int, narrow: impl FnOnce(&mut Set)) -> Step {
        let mut set = self.set(int)?;
        // What a calculation gives is known both from its own facts and from its parts.
        match int {
            Int::Neg(inner) => set.meet(&[negated(self.bounds(inner)?)]),
            Int::Binary(arith, left, right) => {
                set.meet(&[combined(*arith, self.bounds(left)?, self.bounds(right)?)])
            }
            Int::Literal(_) | Int::Named(..) | Int::Field(_) => {}
        }
        narrow(&mut set);
        let span = match int {
            Int::Literal(_) => set.bounds().ok_or(Impossible)?,
            _ => self.keep(Term::of(int), set)?,
        };
        self.limit_parts(int, span)
    }

    /// Narrows what a number is calculated from, by the span of the number.
    fn limit_parts(&mut self, int: &'t Int, span: (i128, i128)) -> Step {
        match int {
            Int::Neg(inner) => self.limit(inner, negated(span)),
            Int::Binary(Arith::Add, left, right) => {
                self.limit(left, combined(Arith::Subtract, span, self.bounds(right)?))?;
                self.limit(right, combined(Arith::Subtract, span, self.bounds(left)?))
            }
            Int::Binary(Arith::Subtract, left, right) => {
                self.limit(left, combined(Arith::Add, span, self.bounds(right)?))?;
                self.limit(right, combined(Arith::Subtract, self.bounds(left)?, span))
            }
            _ => Ok(()),
        }
    }

    fn limit(&mut self, int: &'t Int, span: (i128, i128)) -> Step {
        self.change(int, |set| set.meet(&[span]))
    }
}

/// Narrows one side of a comparison by the ends of the other.
fn bound(set: &mut Set, allowed: u8, other: (i128, i128), slack: i128, not: bool) {
    if allowed & GREATER == 0 {
        set.meet(&[(i128::MIN, other.1.saturating_sub(slack))]);
    }
    if allowed & LESS == 0 {
        set.meet(&[(other.0.saturating_add(slack), i128::MAX)]);
    }
    if not && other.0 == other.1 {
        set.drop(&[other]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{self, Point, Random};
    use super::super::types::run;
    use super::super::{eval, parse};
    use super::*;

    fn typed(text: &str, names: &dyn Names) -> Truth {
        run(&parse(text).unwrap(), names, false).unwrap_or_else(|errors| panic!("{text}: {errors:?}"))
    }

    fn verdict(when: &str, require: &str) -> Verdict {
        let names = samples::wide();
        let when = (!when.is_empty()).then(|| typed(when, &names));
        judge(when.as_ref(), &typed(require, &names), &names)
    }

    #[test]
    fn finds_what_is_constant() {
        use Verdict::{RefusesAll, RefusesNothing, Sound, WhenAlways, WhenNever};
        for (when, require, expected) in [
            ("", "small <= 255", RefusesNothing),
            ("", "small > 255", RefusesAll),
            ("", "count < id || count >= id", RefusesNothing),
            ("", "flags.partial == flags.partial", RefusesNothing),
            ("", "flags.partial == !flags.partial", RefusesAll),
            ("", "status == opened || status != opened", RefusesNothing),
            ("", "status == opened && status == resumed", RefusesAll),
            ("", "status < 4", RefusesNothing),
            ("", "small + small <= 510", RefusesNothing),
            ("", "count % 4 == 4", RefusesAll),
            ("", "flags <= 3", RefusesNothing),
            ("small > 255", "fatal", WhenNever),
            ("small >= 0", "fatal", WhenAlways),
            ("fatal && !fatal", "flags.partial", WhenNever),
            ("small == 0", "small <= 5", RefusesNothing),
            ("small == 0", "small > 5", RefusesAll),
            ("flags.partial", "!flags.partial", RefusesAll),
            ("flags == 1", "flags.partial && !flags.terminal", RefusesNothing),
            ("flags.partial && flags.terminal", "flags == 3", RefusesNothing),
            ("flags != 0 && !flags.partial", "flags.terminal", RefusesNothing),
            ("status == opened", "status in session_status", RefusesNothing),
            ("!(small in transport)", "small > 2", RefusesNothing),
            ("count < total", "total < count", RefusesAll),
            ("count < total", "count != total", RefusesNothing),
            ("count == total && total == 3", "count == 3", RefusesNothing),
            ("count + total == 0", "count == 0", RefusesNothing),
            ("count - 5 > 0", "count >= 6", RefusesNothing),
            ("body.ext.cancel_scope", "!body.ext.cancel_scope", RefusesAll),
            ("fatal == flags.partial && fatal", "flags.partial", RefusesNothing),
            // Real ones.
            ("id == 0", "count == 0", Sound),
            ("status == opened || status == resumed", "count != 0", Sound),
            ("", "!(flags.partial && flags.terminal)", Sound),
            ("", "count <= 10000 || count == 0xffff", Sound),
            ("", "(status == rejected || flags.partial) == (count != 0)", Sound),
            ("", "source != target && source != unspecified && target != unspecified", Sound),
            ("flags.partial", "count != 0 && count + small == total", Sound),
            ("", "flags.partial != flags.terminal", Sound),
            ("status == opened", "id in transport && small == 0", Sound),
            ("header.session_id != 0", "header.session_id == count", Sound),
        ] {
            assert_eq!(verdict(when, require), expected, "when {when:?} require {require:?}");
        }
    }

    #[test]
    fn an_empty_enum_is_not_the_fault_of_the_rule() {
        struct Empty;
        impl Names for Empty {
            fn lookup(&self, _: &[&str]) -> Option<crate::rule::Symbol> {
                self.field(samples::own(0))
            }
            fn field(&self, field: FieldRef) -> Option<crate::rule::Symbol> {
                Some(crate::rule::Symbol::Int { field, min: 0, max: 255, bits: 8, enumeration: Some(0) })
            }
            fn enum_named(&self, _: &str) -> Option<usize> {
                None
            }
            fn enum_value(&self, _: usize, _: &str) -> Option<u64> {
                None
            }
            fn values(&self, _: usize) -> Vec<(u64, u64)> {
                Vec::new()
            }
            fn candidates(&self) -> Vec<String> {
                Vec::new()
            }
            fn enum_candidates(&self, _: Option<usize>) -> Vec<String> {
                Vec::new()
            }
        }
        assert_eq!(judge(None, &typed("x == 0", &Empty), &Empty), Verdict::Sound);
        assert!(run(&parse("x + 1 == 0").unwrap(), &Empty, true).is_ok());
    }

    fn number(random: &mut Random, depth: usize) -> String {
        let leaf = ["x", "y", "state", "flags", "header.x", "0", "1", "2", "-1", "3", "5"];
        match random.below(if depth == 0 { 3 } else { 6 }) {
            0..=2 => (*random.pick(&leaf)).to_owned(),
            3 => format!("-{}", number(random, depth - 1)),
            4 => format!("({} % {})", number(random, depth - 1), 1 + random.below(4)),
            _ => {
                let (a, b) = (number(random, depth - 1), number(random, depth - 1));
                format!("({a} {} {b})", random.pick(&["+", "-", "*"]))
            }
        }
    }

    fn condition(random: &mut Random, depth: usize) -> String {
        let leaf = [
            "flags.low",
            "flags.high",
            "on",
            "body.ext.extra",
            "(state == busy)",
            "(state != idle)",
            "(done > state)",
        ];
        match random.below(if depth == 0 { 5 } else { 10 }) {
            0 => (*random.pick(&leaf)).to_owned(),
            1..=3 => {
                let level = random.below(3);
                let (a, b) = (number(random, level), number(random, 2 - level));
                format!("({a} {} {b})", random.pick(&["==", "!=", "<", "<=", ">", ">="]))
            }
            4 => format!("({} in {})", number(random, 1), random.pick(&["states", "few"])),
            5 => format!("!{}", condition(random, depth - 1)),
            6 => format!(
                "({} {} {})",
                condition(random, depth - 1),
                random.pick(&["==", "!="]),
                condition(random, depth - 1)
            ),
            choice => {
                let parts: Vec<_> = (0..2 + random.below(2)).map(|_| condition(random, depth - 1)).collect();
                format!("({})", parts.join(if choice == 7 { " || " } else { " && " }))
            }
        }
    }

    /// Every verdict on random rules is compared with what trying all values says.
    #[test]
    fn never_calls_a_rule_constant_that_is_not() {
        let names = samples::tiny();
        let points = samples::points();
        let mut random = Random::new(7);
        let (mut constant, mut found) = (0, 0);
        for _ in 0..3000 {
            let when_text = condition(&mut random, 2);
            let require_text = condition(&mut random, 2);
            let (when, require) = (typed(&when_text, &names), typed(&require_text, &names));
            let with_when = random.below(2) == 0;
            let applies = |point: &&Point| !with_when || eval(&when, *point);
            let applied = points.iter().filter(applies).count();
            let accepted = points.iter().filter(applies).filter(|point| eval(&require, *point)).count();
            let truly = if applied == 0 {
                Verdict::WhenNever
            } else if with_when && applied == points.len() {
                Verdict::WhenAlways
            } else if accepted == applied {
                Verdict::RefusesNothing
            } else if accepted == 0 {
                Verdict::RefusesAll
            } else {
                Verdict::Sound
            };
            let judged = judge(with_when.then_some(&when), &require, &names);
            constant += usize::from(truly != Verdict::Sound);
            found += usize::from(judged != Verdict::Sound);
            // A constant `when` may be missed; then the rest is judged as far as it can be.
            let when_missed = matches!(truly, Verdict::WhenAlways | Verdict::WhenNever);
            let right = match judged {
                Verdict::Sound => true,
                _ if when_missed => {
                    matches!(judged, Verdict::RefusesNothing | Verdict::RefusesAll) || judged == truly
                }
                _ => judged == truly,
            };
            assert!(
                right,
                "when {with_when} {when_text}\nrequire {require_text}\n{judged:?}, in truth {truly:?}"
            );
        }
        // Not a promise, but far fewer would mean that something stopped working.
        assert!(found * 10 > constant * 9, "{found} of {constant}");
        eprintln!("{found} of {constant}");
    }
}
