//! Layouts: what is the same for all of them.

use core::fmt;

use super::{Fault, FaultKind, Site, part, put};

/// A layout: a struct whose bytes on the wire are fixed. What `derive(Layout)` and the registry make.
///
/// Each also has these functions as its own, with arrays in place of slices.
pub trait Layout: Packed {
    /// Its checked bytes.
    type View<'a>: Copy + fmt::Debug;

    /// Its name in a registry.
    const NAME: &'static str;

    /// Its bytes on the wire.
    const SIZE: usize;

    /// Checks bytes and looks at them where they are.
    ///
    /// # Errors
    ///
    /// The first fault: length, fields by offset, rules.
    fn view(bytes: &[u8]) -> Result<Self::View<'_>, Fault>;
}

/// What generated code needs of a layout to check it, and to put it into another one.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no layout",
    note = "a type becomes one by `#[derive(Layout)]`"
)]
pub trait Packed: Sized {
    /// `[u8; SIZE]`.
    type Bytes: Copy;

    /// The layout as a place to blame.
    const SITE: &'static Site;

    /// Whether everything holds that the types of the fields leave open.
    fn holds(&self) -> bool;

    /// The bytes as they would be, good or not.
    fn pack(&self) -> Self::Bytes;

    /// The values of bytes that were checked.
    fn unpack(bytes: &Self::Bytes) -> Self;

    /// Whether bytes are good, in one pass without branches.
    fn bytes_hold(bytes: &Self::Bytes) -> bool;

    /// The first fault of bytes.
    fn find_fault(bytes: &Self::Bytes) -> Option<Fault>;

    /// The first fault of bytes that are not good.
    #[cold]
    #[inline(never)]
    fn fault(bytes: &Self::Bytes) -> Fault {
        match Self::find_fault(bytes) {
            Some(fault) => fault,
            None => Fault::new(Self::SITE, 0, FaultKind::Rule),
        }
    }
}

/// Bytes as those of a layout, if they are good.
#[inline]
pub fn check<L: Packed<Bytes = [u8; N]>, const N: usize>(bytes: &[u8]) -> Result<&[u8; N], Fault> {
    let Ok(array) = <&[u8; N]>::try_from(bytes) else {
        return Err(Fault::length(L::SITE, bytes.len(), N as u32));
    };
    if L::bytes_hold(array) { Ok(array) } else { Err(L::fault(array)) }
}

/// [`check`] for bytes that shall change.
#[inline]
pub fn check_mut<L: Packed<Bytes = [u8; N]>, const N: usize>(
    bytes: &mut [u8],
) -> Result<&mut [u8; N], Fault> {
    let found = bytes.len();
    let Ok(array) = <&mut [u8; N]>::try_from(bytes) else {
        return Err(Fault::length(L::SITE, found, N as u32));
    };
    if L::bytes_hold(array) { Ok(array) } else { Err(L::fault(array)) }
}

/// The values of bytes, if they are good.
#[inline]
pub fn decode<L: Packed<Bytes = [u8; N]>, const N: usize>(bytes: &[u8]) -> Result<L, Fault> {
    let Ok(array) = <&[u8; N]>::try_from(bytes) else {
        return Err(Fault::length(L::SITE, bytes.len(), N as u32));
    };
    if L::bytes_hold(array) { Ok(L::unpack(array)) } else { Err(L::fault(array)) }
}

/// Whether values are good.
#[inline]
pub fn validate<L: Packed<Bytes = [u8; N]>, const N: usize>(value: &L) -> Result<(), Fault> {
    if value.holds() { Ok(()) } else { Err(L::fault(&value.pack())) }
}

/// The bytes of values, if they are good.
#[inline]
pub fn to_bytes<L: Packed<Bytes = [u8; N]>, const N: usize>(value: &L) -> Result<[u8; N], Fault> {
    if value.holds() { Ok(value.pack()) } else { Err(L::fault(&value.pack())) }
}

/// Writes the bytes of values into `out`, which is exactly as long, if they are good.
#[inline]
pub fn encode<L: Packed<Bytes = [u8; N]>, const N: usize>(value: &L, out: &mut [u8]) -> Result<(), Fault> {
    let found = out.len();
    let Ok(out) = <&mut [u8; N]>::try_from(out) else {
        return Err(Fault::length(L::SITE, found, N as u32));
    };
    if !value.holds() {
        return Err(L::fault(&value.pack()));
    }
    *out = value.pack();
    Ok(())
}

/// Puts bytes in the place of others, if they are good.
#[inline]
pub fn replace<L: Packed<Bytes = [u8; N]>, const N: usize>(
    place: &mut [u8; N],
    bytes: [u8; N],
) -> Result<(), Fault> {
    if !L::bytes_hold(&bytes) {
        return Err(L::fault(&bytes));
    }
    *place = bytes;
    Ok(())
}

/// Whether all layouts of an array are good, without branches between them.
#[inline]
pub fn all_hold<L: Packed, const COUNT: usize>(values: &[L; COUNT]) -> bool {
    values.iter().fold(true, |good, value| good & value.holds())
}

/// Whether the bytes of `count` layouts from byte `at` on are good.
#[inline]
pub fn all_bytes_hold<L: Packed<Bytes = [u8; M]>, const N: usize, const M: usize>(
    bytes: &[u8; N],
    at: usize,
    count: usize,
) -> bool {
    (0..count).fold(true, |good, index| good & L::bytes_hold(part(bytes, at + index * M)))
}

/// The first fault in the bytes of a layout that stands in another.
pub fn inner_fault<L: Packed<Bytes = [u8; N]>, const N: usize>(bytes: &[u8]) -> Option<Fault> {
    L::find_fault(bytes.first_chunk()?)
}

/// Writes layouts one after another from byte `at` on.
#[inline(always)]
pub fn put_layouts<L: Packed<Bytes = [u8; M]>, const N: usize, const M: usize, const COUNT: usize>(
    bytes: &mut [u8; N],
    at: usize,
    values: &[L; COUNT],
) {
    for (index, value) in values.iter().enumerate() {
        put(bytes, at + index * M, value.pack());
    }
}

/// Shows fields by name, as a derived `Debug` does.
pub fn show(out: &mut fmt::Formatter<'_>, name: &str, fields: &[(&str, &dyn fmt::Debug)]) -> fmt::Result {
    let mut out = out.debug_struct(name);
    for (name, value) in fields {
        out.field(name, value);
    }
    out.finish()
}

/// A place of `N` bytes without a value: zero on the wire, and nothing in the struct.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reserved<const N: usize>;
