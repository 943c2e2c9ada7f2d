//! From bytes to values.

use crate::model::{Bitmask, ByteOrder, Element, Field, Layout, Meaning, Registry, Scalar};

use super::number::{plain, raw};
use super::{Fault, Value, fault, faults};

/// Reads exactly the bytes of a layout: its fields without the reserved and the constant ones.
///
/// # Errors
///
/// The first fault, as the generated codec gives it.
pub fn decode(registry: &Registry, layout: &Layout, bytes: &[u8]) -> Result<Value, Fault> {
    match fault(registry, layout, bytes) {
        Some(fault) => Err(fault),
        None => Ok(checked(registry, layout, bytes)),
    }
}

/// The fields of bytes that were checked.
pub(super) fn checked(registry: &Registry, layout: &Layout, bytes: &[u8]) -> Value {
    fields(registry, layout, bytes, &|_, _| false)
}

/// What can be read of bytes that may be wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lenient {
    /// The values of all fields that are there, with reserved and constant ones where they are wrong.
    pub value: Value,
    /// Everything that is wrong, in the order of blame.
    pub faults: Vec<Fault>,
}

/// Reads what can be read of bytes that may be wrong.
pub fn lenient(registry: &Registry, layout: &Layout, bytes: &[u8]) -> Lenient {
    let faults = faults(registry, layout, bytes);
    let shown = |field: &Field, bytes: &[u8]| match &field.meaning {
        Meaning::Reserved => bytes.iter().any(|byte| *byte != 0),
        Meaning::Constant(constant) => bytes != constant,
        _ => false,
    };
    let value = fields(registry, layout, bytes, &shown);
    Lenient { value, faults }
}

/// The values of the fields that lie wholly in `bytes`. Reserved and constant ones are left out unless `also` asks
/// for them.
fn fields(registry: &Registry, layout: &Layout, bytes: &[u8], also: &dyn Fn(&Field, &[u8]) -> bool) -> Value {
    let mut list = Vec::new();
    for field in &layout.fields {
        let Some(bytes) = bytes.get(field.range()) else { continue };
        let value = match field.element {
            Element::Scalar(_) if !field.has_value() && !also(field, bytes) => continue,
            Element::Scalar(scalar) => scalars(registry, field, scalar, layout.byte_order, bytes),
            Element::Layout(inner) => {
                let inner = &registry.layouts[inner];
                let one = |bytes: &[u8]| fields(registry, inner, bytes, also);
                match field.count {
                    None => one(bytes),
                    Some(_) => Value::List(bytes.chunks((inner.size as usize).max(1)).map(one).collect()),
                }
            }
        };
        list.push((field.name.clone(), value));
    }
    Value::Struct(list)
}

/// The value of a field that is a number or several, from its bytes.
fn scalars(registry: &Registry, field: &Field, scalar: Scalar, order: ByteOrder, bytes: &[u8]) -> Value {
    match (field.count, &field.meaning) {
        (Some(_), _) if scalar == Scalar::U8 => Value::Bytes(bytes.to_vec()),
        (Some(_), _) => {
            let each = bytes.chunks(scalar.size() as usize);
            Value::List(each.map(|bytes| plain(bytes, scalar, order)).collect())
        }
        (None, Meaning::Enum(item)) => {
            let number = raw(bytes, order);
            match registry.enums[*item].value(number) {
                Some(value) => Value::Text(value.name.clone()),
                None => Value::Unsigned(number),
            }
        }
        (None, Meaning::Bitmask(mask)) => bits(&registry.bitmasks[*mask], raw(bytes, order)),
        (None, Meaning::Bool) => match raw(bytes, order) {
            number @ 0..=1 => Value::Bool(number == 1),
            number => Value::Unsigned(number),
        },
        (None, _) => plain(bytes, scalar, order),
    }
}

fn bits(mask: &Bitmask, number: u64) -> Value {
    let mut set: Vec<_> = mask.bits.iter().filter(|bit| number & bit.mask != 0).collect();
    set.sort_by_key(|bit| bit.mask);
    Value::Bits {
        names: set.into_iter().map(|bit| bit.name.clone()).collect(),
        unknown: number & !mask.known(),
    }
}

/// The value of one field of numbers from its own bytes, whatever it means; nothing for a layout or for bytes that
/// are not as many as the field has.
pub fn field_value(registry: &Registry, layout: &Layout, field: &Field, bytes: &[u8]) -> Option<Value> {
    match field.element {
        Element::Scalar(scalar) if bytes.len() == field.size as usize => {
            Some(scalars(registry, field, scalar, layout.byte_order, bytes))
        }
        _ => None,
    }
}
