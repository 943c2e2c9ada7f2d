//! What the names in a rule stand for. The model answers; rules know nothing else of it.

use super::tree::{FieldRef, Presence};

/// The names that a rule may use.
///
/// Ranges and values are those that the field can have when rules are checked, that is after reserved bits, unlisted
/// values and wrong constants were refused. They decide whether a rule is constant.
pub trait Names {
    /// What a path stands for: `x`, `header.x`, `metadata.x`, `flags.bit`, `body.segment.value`, `body.segment.value.flag`.
    fn lookup(&self, path: &[&str]) -> Option<Symbol>;

    /// What a whole field is, as [`Names::lookup`] of its own name says it: an `Int`, a `Bool` or a `Mask`.
    fn field(&self, field: FieldRef) -> Option<Symbol>;

    /// Whether some of the values of an enum could not be read, so that any name may be one of them.
    fn is_incomplete(&self, enumeration: usize) -> bool {
        let _ = enumeration;
        false
    }

    /// The enum of this name.
    fn enum_named(&self, name: &str) -> Option<usize>;

    /// The value that an enum gives to this name.
    fn enum_value(&self, enumeration: usize, name: &str) -> Option<u64>;

    /// Whether the enum is a type that somebody wrote, of which only the compiler knows the values. Any name may be
    /// one of them then.
    fn is_given(&self, enumeration: usize) -> bool {
        let _ = enumeration;
        false
    }

    /// The valid values of an enum, as inclusive spans, sorted and disjoint.
    fn values(&self, enumeration: usize) -> Vec<(u64, u64)>;

    /// Every path that [`Names::lookup`] knows, as it is written, for the nearest to be suggested.
    fn candidates(&self) -> Vec<String>;

    /// The names of the values of one enum, or the names of all enums.
    fn enum_candidates(&self, enumeration: Option<usize>) -> Vec<String>;
}

/// What a path in a rule stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbol {
    /// A field that is a number.
    Int {
        /// Which field.
        field: FieldRef,
        /// Its least value.
        min: i128,
        /// Its greatest value.
        max: i128,
        /// How wide it is. Fields over 32 bits are only compared.
        bits: u32,
        /// The enum that lists its values.
        enumeration: Option<usize>,
    },
    /// A bit of a bitmask field.
    Flag {
        /// The bitmask field.
        field: FieldRef,
        /// The bit, as a mask.
        mask: u64,
    },
    /// A bit of a bitmask field, of whose type only the compiler knows the bits.
    NamedFlag {
        /// The bitmask field.
        field: FieldRef,
    },
    /// A field that is a bool.
    Bool {
        /// Which field.
        field: FieldRef,
    },
    /// A bitmask field as a whole, used as a number.
    Mask {
        /// Which field.
        field: FieldRef,
        /// How wide it is. Fields over 32 bits are only compared.
        bits: u32,
        /// The bits that can be set.
        known: u64,
    },
    /// Whether an entry is in the body.
    Present(Presence),
    /// Something whose definition is in error, which was said there.
    Broken,
    /// Known, but not for rules.
    Unusable {
        /// What it is instead, to end a sentence: `a float`, `an array`, `reserved`.
        why: &'static str,
    },
}
