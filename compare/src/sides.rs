//! The codecs that are compared, behind one trait, and the loops that measure them.

use std::hint::black_box;
use std::io::Cursor;

use binrw::{BinRead, BinWrite};
use deku::{DekuContainerRead, DekuContainerWrite};

/// What decodes to a value of its own and encodes it.
pub trait Codec: Sized {
    type Error;

    fn decode(bytes: &[u8]) -> Result<Self, Self::Error>;

    fn encode(&self, out: &mut [u8]) -> bool;
}

/// Marks a mirror for deku.
pub struct Deku<T>(pub T);

impl<T> Codec for Deku<T>
where
    T: for<'a> DekuContainerRead<'a> + DekuContainerWrite,
{
    type Error = deku::DekuError;

    #[inline(always)]
    fn decode(bytes: &[u8]) -> Result<Self, Self::Error> {
        T::from_bytes((bytes, 0)).map(|(_, value)| Self(value))
    }

    #[inline(always)]
    fn encode(&self, out: &mut [u8]) -> bool {
        self.0.to_slice(out).is_ok()
    }
}

/// Marks a mirror for binrw.
pub struct Binrw<T>(pub T);

impl<T> Codec for Binrw<T>
where
    T: for<'a> BinRead<Args<'a> = ()> + for<'a> BinWrite<Args<'a> = ()>,
{
    type Error = binrw::Error;

    #[inline(always)]
    fn decode(bytes: &[u8]) -> Result<Self, Self::Error> {
        T::read_le(&mut Cursor::new(bytes)).map(Self)
    }

    #[inline(always)]
    fn encode(&self, out: &mut [u8]) -> bool {
        self.0.write_le(&mut Cursor::new(out)).is_ok()
    }
}

/// What can look at bytes where they are.
pub trait Look: Codec {
    type View<'a>;

    fn view(bytes: &[u8]) -> Result<Self::View<'_>, Self::Error>;
}

/// Implements [`Codec`] and [`Look`] for a layout of ours.
#[macro_export]
macro_rules! ours {
    ($name:ident, $view:ident) => {
        impl $crate::sides::Codec for nnrp_core::$name {
            type Error = nnrp_core::wire::Fault;

            #[inline(always)]
            fn decode(bytes: &[u8]) -> Result<Self, Self::Error> {
                Self::decode(bytes)
            }

            #[inline(always)]
            fn encode(&self, out: &mut [u8]) -> bool {
                self.encode_into(out).is_ok()
            }
        }

        impl $crate::sides::Look for nnrp_core::$name {
            type View<'a> = nnrp_core::$view<'a>;

            #[inline(always)]
            fn view(bytes: &[u8]) -> Result<Self::View<'_>, Self::Error> {
                Self::view(bytes)
            }
        }
    };
}

/// Implements [`Codec`] for a type of the published crate.
#[macro_export]
macro_rules! published {
    ($name:path) => {
        impl $crate::sides::Codec for $name {
            type Error = published::NnrpError;

            #[inline(always)]
            fn decode(bytes: &[u8]) -> Result<Self, Self::Error> {
                Self::parse(bytes)
            }

            #[inline(always)]
            fn encode(&self, out: &mut [u8]) -> bool {
                self.write(out).is_ok()
            }
        }
    };
}

/// Checks every input where it is.
///
/// The inputs are slices in memory, so neither their bytes nor their lengths are known here.
#[inline(never)]
pub fn view_all<T: Look>(inputs: &[&[u8]]) {
    for bytes in inputs {
        let Ok(view) = T::view(bytes) else { refused() };
        black_box(view);
    }
}

/// Decodes every input.
#[inline(never)]
pub fn decode_all<T: Codec>(inputs: &[&[u8]]) {
    for bytes in inputs {
        let result = T::decode(bytes);
        let Ok(value) = &result else { refused() };
        black_box(value);
    }
}

/// Encodes every value to the same place.
#[inline(never)]
pub fn encode_all<T: Codec>(values: &[T], out: &mut [u8]) {
    for value in values {
        if !value.encode(out) {
            refused();
        }
        black_box(&mut *out);
    }
}

/// Copies every input.
#[inline(never)]
pub fn copy_all<const SIZE: usize>(inputs: &[&[u8]]) {
    for bytes in inputs {
        let Ok(copy) = <[u8; SIZE]>::try_from(*bytes) else { refused() };
        black_box(&copy);
    }
}

/// Writes the bytes of every array to the same place.
#[inline(never)]
pub fn store_all<const SIZE: usize>(values: &[[u8; SIZE]], out: &mut [u8]) {
    for value in values {
        let Ok(out) = <&mut [u8; SIZE]>::try_from(&mut *out) else { refused() };
        *out = *value;
        black_box(out);
    }
}

#[cold]
pub fn refused() -> ! {
    panic!("an input that was accepted before is refused")
}
