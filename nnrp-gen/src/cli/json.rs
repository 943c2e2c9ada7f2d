//! Values as JSON and back.
//!
//! | value | JSON |
//! | --- | --- |
//! | integer, float | number; a float that JSON has no number for as text, `0x` and its bits |
//! | value of an enum | its name; a number where it has none |
//! | bits | array of names; bits without a name as text, `0x…` |
//! | bytes | text where all of it is printable, else `0x…` |
//! | layout | object |

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value as Json, json};

use crate::codec::{Fault, Value, bytes_as_text, float};

/// A value as JSON.
pub(super) fn json(value: &Value) -> Json {
    match value {
        Value::Unsigned(number) => Json::from(*number),
        Value::Signed(number) => Json::from(*number),
        Value::F32(bits) => number(value).unwrap_or_else(|| Json::from(format!("{bits:#010x}"))),
        Value::F64(bits) => number(value).unwrap_or_else(|| Json::from(format!("{bits:#018x}"))),
        Value::Bool(truth) => Json::from(*truth),
        Value::Text(text) => Json::from(text.as_str()),
        Value::Bits { names, unknown } => {
            let unknown = (*unknown != 0).then(|| format!("{unknown:#x}"));
            names.iter().cloned().chain(unknown).collect()
        }
        Value::Bytes(bytes) => Json::from(bytes_as_text(bytes)),
        Value::List(list) => list.iter().map(json).collect(),
        Value::Struct(fields) => {
            Json::Object(fields.iter().map(|(name, value)| (name.clone(), json(value))).collect())
        }
    }
}

fn number(value: &Value) -> Option<Json> {
    Number::from_f64(float(value)?).map(Json::Number)
}

/// A fault as JSON; `rule` is there only for a broken rule.
pub(super) fn fault(fault: &Fault) -> Json {
    let mut json = json!({
        "layout": fault.layout,
        "field": fault.field,
        "offset": fault.offset,
        "kind": fault.kind.name(),
        "message": fault.to_string(),
    });
    if let Some(rule) = &fault.rule {
        json["rule"] = Json::from(rule.as_str());
    }
    json
}

/// What is wrong with a text of JSON, and where.
#[derive(Debug)]
pub(super) struct JsonError {
    pub at: Range<usize>,
    pub message: String,
}

/// The value that a text of JSON holds. Two equal keys in one object are an error, since one of them would be lost.
pub(super) fn parse(text: &str) -> Result<Value, JsonError> {
    serde_json::from_str::<Any>(text).map(|Any(value)| value).map_err(|error| {
        let message = error.to_string();
        let place = format!(" at line {} column {}", error.line(), error.column());
        let message = message.strip_suffix(&place).unwrap_or(&message).to_owned();
        let line_start: usize =
            text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
        // Columns count bytes from 1; the last byte that was read is the one that is wrong.
        let at = (line_start + error.column().saturating_sub(1)).min(text.len());
        JsonError { at: at..(at + 1).min(text.len()), message }
    })
}

/// Any JSON as a value.
struct Any(Value);

impl<'de> Deserialize<'de> for Any {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_any(AnyVisitor).map(Any)
    }
}

struct AnyVisitor;

impl<'de> Visitor<'de> for AnyVisitor {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a number, text, true or false, a list or an object")
    }

    fn visit_bool<E: Error>(self, truth: bool) -> Result<Value, E> {
        Ok(Value::Bool(truth))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Value, E> {
        Ok(u64::try_from(number).map_or(Value::Signed(number), Value::Unsigned))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Unsigned(number))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Value, E> {
        Ok(Value::F64(number.to_bits()))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut input: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Any(value)) = input.next_element()? {
            list.push(value);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut input: A) -> Result<Value, A::Error> {
        let mut fields = Vec::new();
        let mut seen = HashSet::new();
        while let Some(name) = input.next_key::<String>()? {
            if !seen.insert(name.clone()) {
                return Err(A::Error::custom(format!("a second `{name}` in one object")));
            }
            let Any(value) = input.next_value()?;
            fields.push((name, value));
        }
        Ok(Value::Struct(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn back(value: Value) -> Value {
        parse(&json(&value).to_string()).unwrap()
    }

    #[test]
    fn integers_are_exact() {
        assert_eq!(back(Value::Unsigned(u64::MAX)), Value::Unsigned(u64::MAX));
        assert_eq!(back(Value::Signed(i64::MIN)), Value::Signed(i64::MIN));
    }

    #[test]
    fn floats_are_exact() {
        for float in [0.1, -0.0, f64::MIN_POSITIVE, f64::MAX, 5e-324, 1.0 / 3.0] {
            assert_eq!(back(Value::F64(float.to_bits())), Value::F64(float.to_bits()), "{float}");
        }
        for float in [0.1f32, -0.0, f32::MIN_POSITIVE, f32::MAX, 1e-45, 16_777_217.0, 1.0 / 3.0] {
            let Value::F64(bits) = back(Value::F32(float.to_bits())) else { panic!("{float}") };
            assert_eq!((f64::from_bits(bits) as f32).to_bits(), float.to_bits(), "{float}");
        }
        assert_eq!(json(&Value::F32(0.1f32.to_bits())).to_string(), "0.1");
        assert_eq!(json(&Value::F32(0x7fc0_0001)), "0x7fc00001");
        assert_eq!(json(&Value::F64(f64::INFINITY.to_bits())), "0x7ff0000000000000");
    }

    #[test]
    fn bytes_are_text_where_they_can_be() {
        assert_eq!(json(&Value::Bytes(b"IHDR".to_vec())), "IHDR");
        assert_eq!(json(&Value::Bytes(b"a\0".to_vec())), "0x6100");
        // Would be read as hex otherwise.
        assert_eq!(json(&Value::Bytes(b"0xyz".to_vec())), "0x3078797a");
    }

    #[test]
    fn errors_have_a_place() {
        let wrong = |text: &str| {
            let error = parse(text).unwrap_err();
            (error.at, error.message)
        };
        assert_eq!(wrong("{\n  \"a\": 1,\n  \"a\": 2\n}").1, "a second `a` in one object");
        assert_eq!(wrong("{\n  \"a\" 1}").0, 8..9);
        assert_eq!(wrong("").0, 0..0);
        assert_eq!(wrong("[1, null]").0, 7..8);
    }
}
