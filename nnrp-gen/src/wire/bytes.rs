//! Numbers and parts in bytes that are long enough.

/// Writes `value` at byte `at`.
#[inline(always)]
pub fn put<const N: usize, const M: usize>(bytes: &mut [u8; N], at: usize, value: [u8; M]) {
    if let Some(place) = bytes.get_mut(at..at + M) {
        place.copy_from_slice(&value);
    }
}

/// The `M` bytes from byte `at`, which lie in `bytes`.
#[inline(always)]
pub fn part<const N: usize, const M: usize>(bytes: &[u8; N], at: usize) -> &[u8; M] {
    match bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        Some(part) => part,
        None => &[0; M],
    }
}

/// Functions that read and write a number, or several in a row.
macro_rules! numbers {
    ($($ty:ident: $read:ident $reads:ident $put:ident $puts:ident $from:ident $to:ident $order:literal;)*) => {$(
        #[doc = concat!("The ", $order, "-endian `", stringify!($ty), "` at byte `at`, which lies in `bytes`.")]
        #[inline(always)]
        pub fn $read(bytes: &[u8], at: usize) -> $ty {
            match bytes.get(at..).and_then(|rest| rest.first_chunk()) {
                Some(part) => $ty::$from(*part),
                None => $ty::$from([0; size_of::<$ty>()]),
            }
        }

        #[doc = concat!("The ", $order, "-endian `", stringify!($ty), "`s from byte `at` on, which lie in `bytes`.")]
        #[inline(always)]
        pub fn $reads<const COUNT: usize>(bytes: &[u8], at: usize) -> [$ty; COUNT] {
            core::array::from_fn(|index| $read(bytes, at + index * size_of::<$ty>()))
        }

        #[doc = concat!("Writes a ", $order, "-endian `", stringify!($ty), "` at byte `at`, which lies in `bytes`.")]
        #[inline(always)]
        pub fn $put(bytes: &mut [u8], at: usize, value: $ty) {
            if let Some(place) = bytes.get_mut(at..).and_then(|rest| rest.first_chunk_mut()) {
                *place = value.$to();
            }
        }

        #[doc = concat!("Writes ", $order, "-endian `", stringify!($ty), "`s from byte `at` on, which lie in `bytes`.")]
        #[inline(always)]
        pub fn $puts<const COUNT: usize>(bytes: &mut [u8], at: usize, values: [$ty; COUNT]) {
            if let Some(place) = bytes.get_mut(at..at + COUNT * size_of::<$ty>()) {
                place.copy_from_slice(values.map(|value| value.$to()).as_flattened());
            }
        }
    )*};
}

numbers! {
    i8: i8_le i8s_le put_i8_le put_i8s_le from_le_bytes to_le_bytes "little";
    i8: i8_be i8s_be put_i8_be put_i8s_be from_be_bytes to_be_bytes "big";
    u16: u16_le u16s_le put_u16_le put_u16s_le from_le_bytes to_le_bytes "little";
    u16: u16_be u16s_be put_u16_be put_u16s_be from_be_bytes to_be_bytes "big";
    u32: u32_le u32s_le put_u32_le put_u32s_le from_le_bytes to_le_bytes "little";
    u32: u32_be u32s_be put_u32_be put_u32s_be from_be_bytes to_be_bytes "big";
    u64: u64_le u64s_le put_u64_le put_u64s_le from_le_bytes to_le_bytes "little";
    u64: u64_be u64s_be put_u64_be put_u64s_be from_be_bytes to_be_bytes "big";
    i16: i16_le i16s_le put_i16_le put_i16s_le from_le_bytes to_le_bytes "little";
    i16: i16_be i16s_be put_i16_be put_i16s_be from_be_bytes to_be_bytes "big";
    i32: i32_le i32s_le put_i32_le put_i32s_le from_le_bytes to_le_bytes "little";
    i32: i32_be i32s_be put_i32_be put_i32s_be from_be_bytes to_be_bytes "big";
    i64: i64_le i64s_le put_i64_le put_i64s_le from_le_bytes to_le_bytes "little";
    i64: i64_be i64s_be put_i64_be put_i64s_be from_be_bytes to_be_bytes "big";
    f32: f32_le f32s_le put_f32_le put_f32s_le from_le_bytes to_le_bytes "little";
    f32: f32_be f32s_be put_f32_be put_f32s_be from_be_bytes to_be_bytes "big";
    f64: f64_le f64s_le put_f64_le put_f64s_le from_le_bytes to_le_bytes "little";
    f64: f64_be f64s_be put_f64_be put_f64s_be from_be_bytes to_be_bytes "big";
}
