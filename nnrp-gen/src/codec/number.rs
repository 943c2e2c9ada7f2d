//! Numbers as they stand on the wire.

use crate::model::{ByteOrder, Scalar};

use super::Value;

/// The number that up to eight bytes hold, without a sign.
pub fn raw(bytes: &[u8], order: ByteOrder) -> u64 {
    let add = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
    match order {
        ByteOrder::Little => bytes.iter().rev().fold(0, add),
        ByteOrder::Big => bytes.iter().fold(0, add),
    }
}

/// The integer that bytes hold, with the sign of its type.
pub fn integer(bytes: &[u8], scalar: Scalar, order: ByteOrder) -> i128 {
    let number = raw(bytes, order);
    if scalar.is_unsigned() {
        return i128::from(number);
    }
    let unused = 64 - scalar.size() * 8;
    i128::from(((number << unused) as i64) >> unused)
}

/// The value of a number that has no other meaning.
pub(super) fn plain(bytes: &[u8], scalar: Scalar, order: ByteOrder) -> Value {
    let number = raw(bytes, order);
    match scalar {
        Scalar::F32 => Value::F32(number as u32),
        Scalar::F64 => Value::F64(number),
        scalar if scalar.is_unsigned() => Value::Unsigned(number),
        scalar => Value::Signed(integer(bytes, scalar, order) as i64),
    }
}

/// Writes the low bytes of a number over all of `bytes`.
pub(super) fn put(number: u64, order: ByteOrder, bytes: &mut [u8]) {
    let little = number.to_le_bytes();
    let pairs = bytes.iter_mut();
    match order {
        ByteOrder::Little => pairs.zip(little).for_each(|(place, byte)| *place = byte),
        ByteOrder::Big => pairs.rev().zip(little).for_each(|(place, byte)| *place = byte),
    }
}

/// The float of a value as an `f64`, for display and for JSON. An `f32` becomes the `f64` with the shortest decimals
/// that lead back to it.
pub fn float(value: &Value) -> Option<f64> {
    match *value {
        Value::F64(bits) => Some(f64::from_bits(bits)),
        Value::F32(bits) => {
            let float = f32::from_bits(bits);
            let short: f64 = float.to_string().parse().unwrap_or(f64::from(float));
            // Rounding twice may miss; the longer decimals of the plain conversion never do.
            let exact = (short as f32).to_bits() == bits;
            Some(if exact { short } else { f64::from(float) })
        }
        _ => None,
    }
}
