//! Enums, bitmasks, layouts and their rules.

use super::{ByteOrder, Native, Registry, Role, Scalar};
use crate::rule::{FieldRef, Truth};

/// An enum.
#[derive(Clone, Debug)]
pub struct Enum {
    /// Its name.
    pub name: String,
    /// The integer it is.
    pub ty: Scalar,
    /// Its listed values.
    pub values: Vec<Value>,
    /// Values that are accepted without a name of their own.
    pub ranges: Vec<Range>,
    /// The Rust type that it is, where somebody wrote one; what it holds is known here only if it is
    /// being derived.
    pub given: Option<String>,
    /// The section that defines it.
    pub source: String,
    /// What it means.
    pub doc: String,
}

/// A listed value.
#[derive(Clone, Debug)]
pub struct Value {
    /// The number.
    pub value: u64,
    /// Its name.
    pub name: String,
    /// What it means.
    pub doc: String,
}

/// A span of accepted values.
#[derive(Clone, Debug)]
pub struct Range {
    /// First value.
    pub from: u64,
    /// Last value.
    pub to: u64,
    /// What values there are called.
    pub name: String,
    /// The enum that lists them, where one does.
    pub family: Option<usize>,
    /// What they mean.
    pub doc: String,
}

impl Enum {
    /// Whether somebody else defines it, so that only its width is known.
    pub fn is_foreign(&self) -> bool {
        self.given.is_some() && self.values.is_empty() && self.ranges.is_empty()
    }

    /// Whether it accepts values that it does not list.
    pub fn is_open(&self) -> bool {
        !self.ranges.is_empty()
    }

    /// The accepted values as inclusive spans, ascending, none touching the next.
    pub fn spans(&self) -> Vec<(u64, u64)> {
        let listed = self.values.iter().map(|value| (value.value, value.value));
        let mut all: Vec<_> = listed.chain(self.ranges.iter().map(|range| (range.from, range.to))).collect();
        all.sort_unstable();
        let mut merged: Vec<(u64, u64)> = Vec::new();
        for (from, to) in all {
            match merged.last_mut() {
                Some(last) if from <= last.1.saturating_add(1) => last.1 = last.1.max(to),
                _ => merged.push((from, to)),
            }
        }
        merged
    }

    /// Whether a number is a value of it.
    pub fn accepts(&self, number: u64) -> bool {
        self.value(number).is_some() || self.range(number).is_some()
    }

    /// The listed value of that number.
    pub fn value(&self, number: u64) -> Option<&Value> {
        self.values.iter().find(|value| value.value == number)
    }

    /// The listed value of that name.
    pub fn named(&self, name: &str) -> Option<&Value> {
        self.values.iter().find(|value| value.name == name)
    }

    /// The range that a number lies in.
    pub fn range(&self, number: u64) -> Option<&Range> {
        self.ranges.iter().find(|range| (range.from..=range.to).contains(&number))
    }
}

/// A bitmask.
#[derive(Clone, Debug)]
pub struct Bitmask {
    /// Its name.
    pub name: String,
    /// The integer it is.
    pub ty: Scalar,
    /// Its listed bits.
    pub bits: Vec<Bit>,
    /// The Rust type that it is, where somebody wrote one; what it holds is known here only if it is
    /// being derived.
    pub given: Option<String>,
    /// The section that defines it.
    pub source: String,
    /// What it means.
    pub doc: String,
}

/// A listed bit.
#[derive(Clone, Debug)]
pub struct Bit {
    /// The bit as a number.
    pub mask: u64,
    /// Its name.
    pub name: String,
    /// What it means.
    pub doc: String,
}

impl Bitmask {
    /// Whether somebody else defines it, so that only its width is known.
    pub fn is_foreign(&self) -> bool {
        self.given.is_some()
    }

    /// All listed bits.
    pub fn known(&self) -> u64 {
        self.bits.iter().fold(0, |known, bit| known | bit.mask)
    }
}

/// A layout.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Its name.
    pub name: String,
    /// Its bytes.
    pub size: u32,
    /// Its byte order.
    pub byte_order: ByteOrder,
    /// Its fields, by offset and without a gap.
    pub fields: Vec<Field>,
    /// What they must fulfil together, in the order in which they are checked.
    pub rules: Vec<Rule>,
    /// Whether its bytes can be changed where they are, too.
    pub mutable: bool,
    /// The Rust type that it is, where somebody wrote one; what it holds is known here only if it is
    /// being derived.
    pub given: Option<String>,
    /// The section that defines it.
    pub source: String,
    /// What it is.
    pub doc: String,
}

impl Layout {
    /// The fields that carry a value: neither reserved nor constant.
    pub fn values(&self) -> impl Iterator<Item = &Field> {
        self.fields.iter().filter(|field| field.has_value())
    }

    /// The fields that the native struct has.
    pub fn stored(&self) -> impl Iterator<Item = &Field> {
        self.fields.iter().filter(|field| field.has_value() || field.native != Native::Meant)
    }

    /// Whether somebody else defines it, so that only its bytes are known.
    pub fn is_foreign(&self) -> bool {
        self.given.is_some() && self.fields.is_empty()
    }
}

/// A field.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its first byte.
    pub offset: u32,
    /// What it holds one or several of.
    pub element: Element,
    /// How many, for an array.
    pub count: Option<u32>,
    /// Its bytes in all.
    pub size: u32,
    /// What its bits mean.
    pub meaning: Meaning,
    /// What stands for it in the native struct.
    pub native: Native,
    /// What it is to the packets of the protocol.
    pub role: Option<Role>,
    /// What it counts; empty where it counts nothing.
    pub unit: String,
    /// What it means.
    pub doc: String,
    /// The version that brought it.
    pub since: Option<String>,
    /// Why it should not be used any more.
    pub deprecated: Option<String>,
    /// The error code of a fault in it, where it is not the protocol's usual one.
    pub error: Option<String>,
}

impl Field {
    /// Whether it carries a value: it is neither reserved nor constant.
    pub fn has_value(&self) -> bool {
        !matches!(self.meaning, Meaning::Reserved | Meaning::Constant(_))
    }

    /// The bytes it covers.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.offset as usize..(self.offset + self.size) as usize
    }

    /// Its number type, where it is one number.
    pub fn scalar(&self) -> Option<Scalar> {
        match (&self.element, self.count) {
            (Element::Scalar(scalar), None) => Some(*scalar),
            _ => None,
        }
    }

    /// Its type as the registry writes it. Layouts are named by `layouts`.
    pub fn type_name(&self, registry: &Registry) -> String {
        let element = match self.element {
            Element::Scalar(scalar) => scalar.name(),
            Element::Layout(layout) => &registry.layouts[layout].name,
        };
        match self.count {
            Some(count) => format!("[{element}; {count}]"),
            None => element.to_owned(),
        }
    }
}

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// A number.
    Scalar(Scalar),
    /// A layout.
    Layout(usize),
}

/// What the bits of a field mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// Any value is good.
    Plain,
    /// They are zero.
    Reserved,
    /// They are these bytes, as they stand on the wire.
    Constant(Vec<u8>),
    /// A value of an enum.
    Enum(usize),
    /// Bits of a bitmask.
    Bitmask(usize),
    /// 0 or 1.
    Bool,
}

/// A rule.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Its number in the specification.
    pub id: String,
    /// When it applies; always where left out.
    pub when: Option<Truth>,
    /// What must hold.
    pub require: Truth,
    /// `when` and `require` as they were written.
    pub text: (Option<String>, String),
    /// The field to blame.
    pub blame: FieldRef,
    /// The error code of breaking it, where it is not the protocol's usual one.
    pub error: Option<String>,
    /// Why.
    pub doc: String,
}

impl Rule {
    /// Whether it looks into the body, and so is checked after it.
    pub fn reads_body(&self) -> bool {
        fn present(truth: &Truth) -> bool {
            match truth {
                Truth::Present(_) => true,
                Truth::Not(inner) => present(inner),
                Truth::Same(left, right) | Truth::Differ(left, right) => present(left) || present(right),
                Truth::And(parts) | Truth::Or(parts) => parts.iter().any(present),
                Truth::Flag(..)
                | Truth::NamedFlag(..)
                | Truth::Bool(..)
                | Truth::In(..)
                | Truth::Compare(..) => false,
            }
        }
        present(&self.condition())
    }

    /// The rule as one condition: `require`, or `when` does not hold.
    pub fn condition(&self) -> Truth {
        match &self.when {
            Some(when) => Truth::Or(vec![Truth::Not(Box::new(when.clone())), self.require.clone()]),
            None => self.require.clone(),
        }
    }
}
