//! The typed tree: a rule with its names resolved, ready to be emitted or evaluated.

use super::ast::{Arith, Cmp};

/// Which set of fields a [`FieldRef`] counts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Space {
    /// The fields of the layout that the rule stands on; for a message, its metadata.
    Own,
    /// The fields of the common header.
    Header,
}

/// A field that a rule reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldRef {
    /// Whose fields.
    pub space: Space,
    /// Which of them, in the order of the layout.
    pub index: usize,
}

/// A number.
///
/// Literals and single fields may need all values of `u64` or `i64`. What is calculated, and all that goes into it,
/// fits `i64`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Int {
    /// A number that stands in the rule, or the value of a name of an enum.
    Literal(i128),
    /// A name of an enum that somebody else defines; only the compiler knows its number.
    Named(usize, String),
    /// The value of a field.
    Field(FieldRef),
    /// The negative of a number.
    Neg(Box<Int>),
    /// A calculation. The right side of a remainder is a literal greater than 0.
    Binary(Arith, Box<Int>, Box<Int>),
}

/// An entry that a body may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Presence {
    /// The segment of the body.
    pub segment: usize,
    /// The value that selects the entry.
    pub value: u64,
    /// The bool field of its payload that must be set as well.
    pub flag: Option<usize>,
}

/// A condition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Truth {
    /// A bit of the mask is set in the field.
    Flag(FieldRef, u64),
    /// A bit of that name is set in the field; only the compiler knows which it is.
    NamedFlag(FieldRef, String),
    /// The field, a bool, is not 0.
    Bool(FieldRef),
    /// The body has this entry.
    Present(Presence),
    /// The number is a value of the enum.
    In(Box<Int>, usize),
    /// Two numbers compare so.
    Compare(Cmp, Box<Int>, Box<Int>),
    /// Both hold or neither does.
    Same(Box<Truth>, Box<Truth>),
    /// One holds and the other does not.
    Differ(Box<Truth>, Box<Truth>),
    /// It does not hold.
    Not(Box<Truth>),
    /// All hold.
    And(Vec<Truth>),
    /// At least one holds.
    Or(Vec<Truth>),
}

/// The field that the rule mentions first, in reading order.
pub fn first_field(truth: &Truth) -> Option<FieldRef> {
    fields(truth).first().copied()
}

/// The fields that the rule mentions, each once, in reading order.
pub fn fields(truth: &Truth) -> Vec<FieldRef> {
    let mut found = Vec::new();
    in_truth(truth, &mut found);
    found
}

/// The enums that the rule asks `in` of, each once.
pub fn enums(truth: &Truth) -> Vec<usize> {
    let mut found = Vec::new();
    let mut todo = vec![truth];
    while let Some(truth) = todo.pop() {
        match truth {
            Truth::In(_, enumeration) if !found.contains(enumeration) => found.push(*enumeration),
            Truth::Same(left, right) | Truth::Differ(left, right) => todo.extend([&**right, &**left]),
            Truth::Not(inner) => todo.push(inner),
            Truth::And(parts) | Truth::Or(parts) => todo.extend(parts.iter().rev()),
            _ => {}
        }
    }
    found
}

/// Values of enums by their names: which enum, and the name.
pub type NamedValues = Vec<(usize, String)>;

/// Bits by their names: which field, and the name.
pub type NamedBits = Vec<(FieldRef, String)>;

/// The names in the rule of which only the compiler knows the number: those of enums, and those of bits.
pub fn named(truth: &Truth) -> (NamedValues, NamedBits) {
    let (mut values, mut bits) = (Vec::new(), Vec::new());
    let mut todo = vec![truth];
    let mut numbers = Vec::new();
    while let Some(truth) = todo.pop() {
        match truth {
            Truth::NamedFlag(field, name) => bits.push((*field, name.clone())),
            Truth::Flag(..) | Truth::Bool(_) | Truth::Present(_) => {}
            Truth::In(int, _) => numbers.push(&**int),
            Truth::Compare(_, left, right) => numbers.extend([&**left, &**right]),
            Truth::Same(left, right) | Truth::Differ(left, right) => todo.extend([&**left, &**right]),
            Truth::Not(inner) => todo.push(inner),
            Truth::And(parts) | Truth::Or(parts) => todo.extend(parts),
        }
    }
    while let Some(int) = numbers.pop() {
        match int {
            Int::Named(enumeration, name) => values.push((*enumeration, name.clone())),
            Int::Literal(_) | Int::Field(_) => {}
            Int::Neg(inner) => numbers.push(inner),
            Int::Binary(_, left, right) => numbers.extend([&**left, &**right]),
        }
    }
    (values, bits)
}

fn in_truth(truth: &Truth, found: &mut Vec<FieldRef>) {
    match truth {
        Truth::Flag(field, _) | Truth::NamedFlag(field, _) | Truth::Bool(field) => add(*field, found),
        Truth::Present(_) => {}
        Truth::In(int, _) => in_int(int, found),
        Truth::Compare(_, left, right) => {
            in_int(left, found);
            in_int(right, found);
        }
        Truth::Same(left, right) | Truth::Differ(left, right) => {
            in_truth(left, found);
            in_truth(right, found);
        }
        Truth::Not(inner) => in_truth(inner, found),
        Truth::And(parts) | Truth::Or(parts) => parts.iter().for_each(|part| in_truth(part, found)),
    }
}

fn in_int(int: &Int, found: &mut Vec<FieldRef>) {
    match int {
        Int::Literal(_) | Int::Named(..) => {}
        Int::Field(field) => add(*field, found),
        Int::Neg(inner) => in_int(inner, found),
        Int::Binary(_, left, right) => {
            in_int(left, found);
            in_int(right, found);
        }
    }
}

fn add(field: FieldRef, found: &mut Vec<FieldRef>) {
    if !found.contains(&field) {
        found.push(field);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Names, Symbol, fields, first_field, parse, samples, truth};

    #[test]
    fn fields_come_in_reading_order() {
        let names = samples::wide();
        let of = |text: &str| truth(&parse(text).unwrap(), &names).unwrap();
        let field = |path: &str| match names.lookup(&[path]) {
            Some(Symbol::Int { field, .. } | Symbol::Bool { field } | Symbol::Mask { field, .. }) => field,
            _ => panic!("{path}"),
        };
        let rule =
            of("body.ext.cancel_scope || 3 < count + small || count > total && !(fatal == flags.partial)");
        let expected = ["count", "small", "total", "fatal", "flags"].map(field);
        assert_eq!(fields(&rule), expected);
        assert_eq!(first_field(&rule), Some(expected[0]));
        assert_eq!(first_field(&of("body.ext.cancel_scope")), None);
    }
}
