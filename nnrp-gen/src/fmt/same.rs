//! Whether two parsed files hold the same data.

use toml::de::{DeTable, DeValue};

/// Whether two tables hold the same. Recursion ends because the TOML parser limits nesting.
pub(super) fn tables(a: &DeTable<'_>, b: &DeTable<'_>) -> bool {
    a.len() == b.len()
        && a.iter().all(|(key, value)| {
            b.get(key.get_ref().as_ref()).is_some_and(|other| values(value.get_ref(), other.get_ref()))
        })
}

fn values(a: &DeValue<'_>, b: &DeValue<'_>) -> bool {
    match (a, b) {
        (DeValue::Table(a), DeValue::Table(b)) => tables(a, b),
        (DeValue::Array(a), DeValue::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| values(a.get_ref(), b.get_ref()))
        }
        (DeValue::String(a), DeValue::String(b)) => a == b,
        (DeValue::Integer(a), DeValue::Integer(b)) => a.radix() == b.radix() && a.as_str() == b.as_str(),
        (DeValue::Float(a), DeValue::Float(b)) => a.as_str() == b.as_str(),
        (DeValue::Boolean(a), DeValue::Boolean(b)) => a == b,
        (DeValue::Datetime(a), DeValue::Datetime(b)) => a == b,
        _ => false,
    }
}
