//! Enums: a type, a constant for each value, and what can be asked of a number.

use crate::model::{Enum, Value};

use super::text::{Columns, cite, doc, fill, hex};
use super::{C, scalar};

const FUNCTIONS: &str = "\
/** The name of a value in the registry; NULL where it has none. */
static inline const char *${lower}_name(${lower} value)
{
    switch (value) {
    ${names}
    }
}

/** Whether a number is a value of it. */
static inline bool ${lower}_accepts(uint64_t raw)
{
    ${accepts}
}
";

const QUESTION: &str = "
${doc}
static inline bool ${name}(${lower} value)
{
    return ${inside};
}
";

impl C<'_> {
    pub(super) fn enumeration(&self, item: &Enum) -> String {
        let what = format!("enum `{}`", item.name);
        let lower = self.names.lower(&item.name);
        for name in [lower.clone(), format!("{lower}_name"), format!("{lower}_accepts")] {
            self.names.define(&name, &what);
        }
        let open = item.is_open().then_some("Open: besides the constants it takes the values of its ranges.");
        let mut out = doc([item.doc.as_str(), open.unwrap_or_default(), &cite(&item.source)]);
        out.push_str(&format!("typedef {} {lower};\n\n", scalar(item.ty)));
        out.push_str(&self.constants(item));
        let mut names = Columns::default();
        for value in &item.values {
            let constant = self.value_name(item, value);
            names.row([format!("case {constant}:"), format!("return \"{}\";", value.name)], "");
        }
        names.row(["default:".to_owned(), "return NULL;".to_owned()], "");
        out.push('\n');
        out.push_str(&fill(
            FUNCTIONS,
            &[("lower", &lower), ("names", &names.text()), ("accepts", &accepts(&item.spans()))],
        ));
        for range in &item.ranges {
            let name = format!("{lower}_is_{}", range.name);
            self.names.define(&name, &format!("range `{}` of {what}", range.name));
            let docs = doc([format!(
                "Whether it lies in the range `{}` and is not listed. {}",
                range.name, range.doc
            )]);
            let (min, max) = item.ty.limits();
            let digits = item.ty.size();
            let mut parts = Vec::new();
            if i128::from(range.from) != min {
                parts.push(format!("value >= {}", hex(range.from, digits)));
            }
            if i128::from(range.to) != max {
                parts.push(format!("value <= {}", hex(range.to, digits)));
            }
            parts.push(format!("{lower}_name(value) == NULL"));
            let inside = parts.join(" && ");
            out.push_str(&fill(
                QUESTION,
                &[("doc", &docs), ("name", &name), ("lower", &lower), ("inside", &inside)],
            ));
        }
        out
    }

    /// One line for each value, and two for each range.
    fn constants(&self, item: &Enum) -> String {
        let lower = self.names.lower(&item.name);
        // Short lists count, codes stand in hexadecimal.
        let plain = !item.is_open() && item.values.iter().all(|value| value.value <= 99);
        let mut columns = Columns::default();
        let mut row = |name: String, what: &str, number: u64, note: &str| {
            self.names.define(&name, &format!("{what} of enum `{}`", item.name));
            let number = if plain { number.to_string() } else { hex(number, item.ty.size()) };
            let number = format!("(({lower}){number})");
            columns.row([format!("#define {name}"), number], note);
        };
        for value in &item.values {
            row(self.value_name(item, value), &format!("value `{}`", value.name), value.value, &value.doc);
        }
        for range in &item.ranges {
            let name = self.names.upper(&format!("{}_{}", item.name, range.name));
            let what = format!("range `{}`", range.name);
            row(format!("{name}_FIRST"), &what, range.from, &format!("First of a range. {}", range.doc));
            row(format!("{name}_LAST"), &what, range.to, "The last of it.");
        }
        columns.text()
    }

    /// The constant of a value.
    pub(super) fn value_name(&self, item: &Enum, value: &Value) -> String {
        self.names.upper(&format!("{}_{}", item.name, value.name))
    }
}

/// The body of the function that accepts numbers.
fn accepts(spans: &[(u64, u64)]) -> String {
    let mut parts = Vec::new();
    for &(from, to) in spans {
        let (first, last) = (super::text::number(from.into()), super::text::number(to.into()));
        parts.push(match (from, to) {
            (0, u64::MAX) => return "(void)raw;\nreturn true;\n".to_owned(),
            (0, 0) => "raw == 0".to_owned(),
            (0, _) => format!("raw <= {last}"),
            (_, u64::MAX) => format!("raw >= {first}"),
            (from, to) if from == to => format!("raw == {first}"),
            _ => format!("(raw >= {first} && raw <= {last})"),
        });
    }
    match parts.as_mut_slice() {
        [] => "(void)raw;\nreturn false;\n".to_owned(),
        [only] => format!("return {};\n", only.trim_start_matches('(').trim_end_matches(')')),
        parts => format!("return {};\n", parts.join("\n    || ")),
    }
}
