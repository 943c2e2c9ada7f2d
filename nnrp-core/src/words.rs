//! The names that derives use, under names that nobody else has. Not for hands.

pub use core::clone::Clone as __Clone;
pub use core::cmp::{Eq as __Eq, Ord as __Ord, PartialEq as __PartialEq, PartialOrd as __PartialOrd};
pub use core::convert::{AsRef as __AsRef, From as __From, Into as __Into, TryFrom as __TryFrom};
pub use core::default::Default as __Default;
pub use core::fmt::Debug as __Debug;
pub use core::hash::Hash as __Hash;
pub use core::marker::Copy as __Copy;
pub use core::ops::{Fn as __Fn, FnMut as __FnMut, FnOnce as __FnOnce};
pub use core::option::Option as __Option;
pub use core::option::Option::{None as __None, Some as __Some};
pub use core::primitive::{
    bool as __bool, f32 as __f32, f64 as __f64, i8 as __i8, i16 as __i16, i32 as __i32, i64 as __i64,
    i128 as __i128, isize as __isize, str as __str, u8 as __u8, u16 as __u16, u32 as __u32, u64 as __u64,
    u128 as __u128, usize as __usize,
};
pub use core::result::Result as __Result;
pub use core::result::Result::{Err as __Err, Ok as __Ok};

pub use crate::{bitflags as __bitflags, describe as __describe, wire as __wire};
