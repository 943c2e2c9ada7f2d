//! Decoded values.

/// A value of a field or of a whole layout.
///
/// Decoding gives each kind of field one form. Encoding takes other forms too where they say the same: a number for
/// a name, text for bytes, a list of names for bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number that is not negative, also one of an enum or a bool that has no name.
    Unsigned(u64),
    /// A number of a signed field.
    Signed(i64),
    /// The bits of an `f32`.
    F32(u32),
    /// The bits of an `f64`.
    F64(u64),
    /// A truth value.
    Bool(bool),
    /// The name of an enum's value; on the way in, also text for bytes and `0x…` for numbers.
    Text(String),
    /// Bits of a bitmask.
    Bits {
        /// The names of those that are listed, from the lowest.
        names: Vec<String>,
        /// Those that are not listed.
        unknown: u64,
    },
    /// An array of bytes.
    Bytes(Vec<u8>),
    /// Any other array.
    List(Vec<Value>),
    /// The fields of a layout that have a value, by offset.
    Struct(Vec<(String, Value)>),
}

impl Value {
    /// What it is, to stand in a sentence.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Unsigned(_) | Value::Signed(_) | Value::F32(_) | Value::F64(_) => "a number",
            Value::Bool(_) => "a truth value",
            Value::Text(_) => "text",
            Value::Bits { .. } => "a set of bits",
            Value::Bytes(_) => "bytes",
            Value::List(_) => "a list",
            Value::Struct(_) => "an object",
        }
    }

    /// The value of a field, where this is a layout that has it.
    pub fn get(&self, field: &str) -> Option<&Value> {
        match self {
            Value::Struct(fields) => fields.iter().find(|(name, _)| name == field).map(|(_, value)| value),
            _ => None,
        }
    }
}
