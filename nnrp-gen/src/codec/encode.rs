//! From values to bytes.

use std::collections::HashMap;

use crate::model::{Bitmask, Element, Enum, Field, Layout, Meaning, Registry, Scalar};
use crate::suggest::did_you_mean;

use super::number::put;
use super::text::bytes_of_text;
use super::{EncodeError, Problem, Value, fault};

/// Writes a layout. Fields that the value leaves out are zero or their constant.
///
/// # Errors
///
/// What does not fit the layout, or else the fault that decoding the bytes would give.
pub fn encode(registry: &Registry, layout: &Layout, value: &Value) -> Result<Vec<u8>, EncodeError> {
    let mut bytes = blank(registry, layout);
    let mut encoder = Encoder { registry, path: String::new(), problems: Vec::new() };
    encoder.layout(layout, value, &mut bytes);
    if !encoder.problems.is_empty() {
        return Err(EncodeError::Value(encoder.problems));
    }
    match fault(registry, layout, &bytes) {
        Some(fault) => Err(fault.into()),
        None => Ok(bytes),
    }
}

/// Writes the fields of a layout that stands at `path` of something bigger. What does not fit goes to `problems`;
/// what decoding would refuse is not looked for.
pub(super) fn write_at(
    registry: &Registry,
    layout: &Layout,
    value: &Value,
    path: &str,
    problems: &mut Vec<Problem>,
) -> Vec<u8> {
    let mut bytes = blank(registry, layout);
    let mut encoder = Encoder { registry, path: path.to_owned(), problems: std::mem::take(problems) };
    encoder.layout(layout, value, &mut bytes);
    *problems = encoder.problems;
    bytes
}

/// The bytes of a layout with every constant in place and zeros elsewhere.
pub fn blank(registry: &Registry, layout: &Layout) -> Vec<u8> {
    let mut bytes = vec![0; layout.size as usize];
    for field in &layout.fields {
        let Some(place) = bytes.get_mut(field.range()) else { continue };
        match (&field.meaning, field.element) {
            (Meaning::Constant(constant), _) => {
                place.iter_mut().zip(constant).for_each(|(place, byte)| *place = *byte);
            }
            (_, Element::Layout(inner)) => {
                let inner = blank(registry, &registry.layouts[inner]);
                let places = place.chunks_exact_mut(inner.len().max(1));
                places.for_each(|place| place.copy_from_slice(&inner));
            }
            _ => {}
        }
    }
    bytes
}

/// A value on its way into bytes. Goes on after a problem, so that all are reported together.
struct Encoder<'a> {
    registry: &'a Registry,
    /// Where in the value it is.
    path: String,
    problems: Vec<Problem>,
}

impl Encoder<'_> {
    fn problem(&mut self, message: impl Into<String>, help: Option<String>) {
        self.problems.push(Problem { path: self.path.clone(), message: message.into(), help });
    }

    /// Does something with `step` added to the path.
    fn at(&mut self, step: &str, act: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        self.path.push_str(step);
        act(self);
        self.path.truncate(length);
    }

    fn layout(&mut self, layout: &Layout, value: &Value, bytes: &mut [u8]) {
        let Value::Struct(given) = value else {
            let message = format!("{}, where the fields of `{}` are wanted", value.kind(), layout.name);
            return self.problem(message, None);
        };
        let fields: HashMap<&str, &Field> =
            layout.fields.iter().map(|field| (field.name.as_str(), field)).collect();
        let dot = if self.path.is_empty() { "" } else { "." };
        for (name, value) in given {
            self.at(&format!("{dot}{name}"), |this| match fields.get(name.as_str()) {
                Some(field) => {
                    if let Some(place) = bytes.get_mut(field.range()) {
                        this.field(layout, field, value, place);
                    }
                }
                None => {
                    let help = did_you_mean(name, layout.values().map(|field| field.name.as_str()));
                    this.problem(format!("no field of `{}` is called so", layout.name), help);
                }
            });
        }
    }

    fn field(&mut self, layout: &Layout, field: &Field, value: &Value, bytes: &mut [u8]) {
        let order = layout.byte_order;
        match (field.element, field.count) {
            (Element::Scalar(Scalar::U8), Some(count)) => self.bytes(count, value, bytes),
            (Element::Scalar(scalar), None) => {
                if let Some(number) = self.number(field, scalar, value) {
                    put(number, order, bytes);
                }
            }
            (Element::Layout(inner), None) => self.layout(&self.registry.layouts[inner], value, bytes),
            (element, Some(count)) => {
                let Value::List(list) = value else {
                    let message = format!("{}, where a list of {count} is wanted", value.kind());
                    return self.problem(message, None);
                };
                if list.len() as u64 != u64::from(count) {
                    return self.problem(number_of(list.len(), "value", count), None);
                }
                let step = (field.size / count.max(1)).max(1) as usize;
                for (at, (value, bytes)) in list.iter().zip(bytes.chunks_mut(step)).enumerate() {
                    self.at(&format!("[{at}]"), |this| match element {
                        Element::Layout(inner) => this.layout(&this.registry.layouts[inner], value, bytes),
                        Element::Scalar(scalar) => {
                            if let Some(number) = this.number(field, scalar, value) {
                                put(number, order, bytes);
                            }
                        }
                    });
                }
            }
        }
    }

    fn bytes(&mut self, count: u32, value: &Value, bytes: &mut [u8]) {
        let given = match value {
            Value::Bytes(given) => given.clone(),
            Value::Text(text) => match bytes_of_text(text) {
                Ok(given) => given,
                Err(wrong) => return self.problem(format!("wrong hex: {wrong}"), None),
            },
            Value::List(list) => {
                let byte = |value: &Value| match value {
                    Value::Unsigned(number) => u8::try_from(*number).ok(),
                    _ => None,
                };
                match list.iter().map(byte).collect() {
                    Some(given) => given,
                    None => return self.problem("a list with something in it that is no byte", None),
                }
            }
            other => {
                return self.problem(format!("{}, where {count} bytes are wanted", other.kind()), None);
            }
        };
        if given.len() == bytes.len() {
            bytes.copy_from_slice(&given);
        } else {
            self.problem(number_of(given.len(), "byte", count), None);
        }
    }

    /// A value as the number that stands on the wire.
    fn number(&mut self, field: &Field, scalar: Scalar, value: &Value) -> Option<u64> {
        let registry = self.registry;
        match (&field.meaning, value) {
            (Meaning::Enum(item), Value::Text(name)) if !name.starts_with("0x") => {
                self.named(&registry.enums[*item], name)
            }
            (Meaning::Bitmask(mask), Value::Bits { .. } | Value::List(_) | Value::Text(_)) => {
                let number = self.bits(&registry.bitmasks[*mask], value)?;
                self.fits(i128::from(number), scalar)
            }
            (Meaning::Bool, Value::Bool(truth)) => Some(u64::from(*truth)),
            _ if !scalar.is_integer() => self.float(scalar, value),
            _ => self.integer(field, scalar, value),
        }
    }

    fn named(&mut self, item: &Enum, name: &str) -> Option<u64> {
        let value = item.named(name);
        if value.is_none() {
            let help = did_you_mean(name, item.values.iter().map(|value| value.name.as_str()));
            self.problem(format!("`{name}` is no value of `{}`", item.name), help);
        }
        value.map(|value| value.value)
    }

    fn bits(&mut self, mask: &Bitmask, value: &Value) -> Option<u64> {
        match value {
            Value::Unsigned(number) => Some(*number),
            Value::Bits { names, unknown } => {
                names.iter().try_fold(*unknown, |bits, name| Some(bits | self.bit(mask, name)?))
            }
            Value::List(list) => list.iter().try_fold(0, |bits, value| match value {
                Value::List(_) => {
                    self.problem("a list in a list of bits", None);
                    None
                }
                value => Some(bits | self.bits(mask, value)?),
            }),
            Value::Text(text) if text.trim() == "0" => Some(0),
            Value::Text(text) => text.split('|').try_fold(0, |bits, name| {
                let name = name.trim();
                let bit = match name.strip_prefix("0x") {
                    Some(digits) => self.hex(digits)?,
                    None => self.bit(mask, name)?,
                };
                Some(bits | bit)
            }),
            other => {
                self.problem(format!("{}, where bits of `{}` are wanted", other.kind(), mask.name), None);
                None
            }
        }
    }

    fn bit(&mut self, mask: &Bitmask, name: &str) -> Option<u64> {
        let bit = mask.bits.iter().find(|bit| bit.name == name);
        if bit.is_none() {
            let help = did_you_mean(name, mask.bits.iter().map(|bit| bit.name.as_str()));
            self.problem(format!("`{name}` is no bit of `{}`", mask.name), help);
        }
        bit.map(|bit| bit.mask)
    }

    fn hex(&mut self, digits: &str) -> Option<u64> {
        let good = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        let number = if good { u64::from_str_radix(digits, 16).ok() } else { None };
        if number.is_none() {
            self.problem(format!("`0x{digits}` is no hex number of at most 64 bits"), None);
        }
        number
    }

    fn integer(&mut self, field: &Field, scalar: Scalar, value: &Value) -> Option<u64> {
        let number = match value {
            Value::Unsigned(number) => i128::from(*number),
            Value::Signed(number) => i128::from(*number),
            Value::Text(text) if text.starts_with("0x") => i128::from(self.hex(&text[2..])?),
            Value::F64(bits) => match whole(f64::from_bits(*bits)) {
                Some(number) => number,
                None => {
                    let float = f64::from_bits(*bits);
                    let (min, max) = scalar.limits();
                    // Of such a number JSON has told only about how large it is.
                    let what = match float.fract() == 0.0 {
                        true if float.abs() >= u64::MAX as f64 => "a number of more than 64 bits".to_owned(),
                        true => "a number that is not exact".to_owned(),
                        false => format!("{float:?}"),
                    };
                    let help = format!("it takes {min} to {max}, with all digits");
                    self.problem(format!("{what} does not fit {}", scalar.name()), Some(help));
                    return None;
                }
            },
            other => {
                let wanted = match &field.meaning {
                    Meaning::Enum(item) => format!("a value of `{}`", self.registry.enums[*item].name),
                    Meaning::Bitmask(mask) => format!("bits of `{}`", self.registry.bitmasks[*mask].name),
                    Meaning::Bool => "true or false".to_owned(),
                    _ => format!("a number of type {}", scalar.name()),
                };
                self.problem(format!("{}, where {wanted} is wanted", other.kind()), None);
                return None;
            }
        };
        self.fits(number, scalar)
    }

    fn fits(&mut self, number: i128, scalar: Scalar) -> Option<u64> {
        let (min, max) = scalar.limits();
        if (min..=max).contains(&number) {
            // The low bytes are the number in two's complement.
            return Some(number as u64);
        }
        let help = format!("it takes {min} to {max}");
        self.problem(format!("{number} does not fit {}", scalar.name()), Some(help));
        None
    }

    fn float(&mut self, scalar: Scalar, value: &Value) -> Option<u64> {
        let digits = scalar.size() as usize * 2;
        let float = match value {
            Value::F32(bits) if scalar == Scalar::F32 => return Some(u64::from(*bits)),
            Value::F32(bits) => f64::from(f32::from_bits(*bits)),
            Value::F64(bits) if scalar == Scalar::F64 => return Some(*bits),
            Value::F64(bits) => f64::from_bits(*bits),
            Value::Unsigned(number) => *number as f64,
            Value::Signed(number) => *number as f64,
            Value::Text(text) if text.starts_with("0x") && text.len() == digits + 2 => {
                return self.hex(&text[2..]);
            }
            other => {
                let help = format!("or its bits as text, `0x` and {digits} digits");
                let message = format!("{}, where a number of type {} is wanted", other.kind(), scalar.name());
                self.problem(message, Some(help));
                return None;
            }
        };
        if scalar == Scalar::F64 {
            return Some(float.to_bits());
        }
        let narrow = float as f32;
        if float.is_finite() && narrow.is_infinite() {
            self.problem(format!("{float:?} does not fit {}", scalar.name()), None);
            return None;
        }
        Some(u64::from(narrow.to_bits()))
    }
}

/// A float that is an integer and exact, which JSON does not tell apart.
fn whole(float: f64) -> Option<i128> {
    const EXACT: f64 = (1u64 << 53) as f64;
    (float.fract() == 0.0 && float.abs() <= EXACT).then_some(float as i128)
}

/// That there are so many, and not as many as there should be.
fn number_of(found: usize, what: &str, wanted: u32) -> String {
    let (many, are) = (if found == 1 { "" } else { "s" }, if wanted == 1 { "is" } else { "are" });
    format!("{found} {what}{many}, where {wanted} {are} wanted")
}
