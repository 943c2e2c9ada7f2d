//! What derives hold the types of users to. Not for hands: a derive says what it needs.

use bitflags::Flags;

use crate::wire::{Layout, Unsigned, WireEnum, same_name};

/// Holds an enum to the bytes that a field has for it.
#[track_caller]
pub const fn an_enum<T: WireEnum>(bytes: usize, message: &'static str) {
    holds(size_of::<T::Raw>() <= bytes, message);
}

/// Holds a bitmask to the bytes that a field has for it.
#[track_caller]
pub const fn a_bitmask<T: Flags>(bytes: usize, message: &'static str)
where
    T::Bits: Unsigned,
{
    holds(size_of::<T::Bits>() <= bytes, message);
}

/// Holds a layout to the bytes that a field has for it.
#[track_caller]
pub const fn a_layout<T: Layout>(bytes: usize, message: &'static str) {
    holds(T::SIZE == bytes, message);
}

/// The number of a value of an enum.
#[track_caller]
pub const fn value<T: WireEnum>(name: &str, message: &'static str) -> u64 {
    let mut at = 0;
    while at < T::NAMES.len() {
        if same_name(T::NAMES[at].0, name) {
            return T::NAMES[at].1;
        }
        at += 1;
    }
    panic!("{}", message)
}

/// The position of a flag among those of a bitmask.
#[track_caller]
pub const fn flag<T: Flags>(name: &str, message: &'static str) -> usize {
    let mut at = 0;
    while at < T::FLAGS.len() {
        if same_name(T::FLAGS[at].name(), name) {
            return at;
        }
        at += 1;
    }
    panic!("{}", message)
}

#[track_caller]
const fn holds(good: bool, message: &'static str) {
    if !good {
        panic!("{}", message);
    }
}
