//! What a field, a rule row or a state names is there.

use crate::syntax::{Element, Scalar, Type};

use super::Check;

pub(super) fn run(check: &mut Check<'_>) {
    let registry = check.registry;
    let index = check.index;
    for layout in &registry.layouts {
        for field in &layout.fields {
            if let Some(name) = &field.enumeration
                && !index.enums.contains_key(name.as_str())
            {
                check.unknown(name, "enum", index.enums.keys().map(String::as_str));
            }
            if let Some(name) = &field.bitmask
                && !index.bitmasks.contains_key(name.as_str())
            {
                check.unknown(name, "bitmask", index.bitmasks.keys().map(String::as_str));
            }
            if let Type { element: Element::Layout(name), .. } = &field.ty.value
                && !index.layouts.contains_key(name)
            {
                let name = field.ty.clone().map(|_| name.clone());
                let scalars = Scalar::ALL.iter().map(|scalar| scalar.name());
                let known = index.layouts.keys().map(String::as_str).chain(scalars);
                let problem = check.unknown(&name, "type or layout", known);
                if let (Some(problem), Some(meant)) = (problem, elsewhere(name.as_str())) {
                    problem.help = Some(format!("did you mean `{meant}`?"));
                }
            }
            error_code(check, field.error.as_ref());
        }
        for rule in &layout.rules {
            error_code(check, rule.error.as_ref());
            if let Some(name) = &rule.field
                && layout.complete
                && !layout.fields.iter().any(|field| field.name.value == name.value)
            {
                let what = format!("field of `{}`", layout.name.value);
                check.unknown(name, &what, layout.fields.iter().map(|field| field.name.as_str()));
            }
        }
    }
    for range in registry.enums.iter().flat_map(|item| &item.ranges) {
        if let Some(name) = &range.family
            && !index.enums.contains_key(name.as_str())
        {
            check.unknown(name, "enum", index.enums.keys().map(String::as_str));
        }
    }
    if let Some(protocol) = registry.protocols.first() {
        if let Some(header) = &protocol.header
            && !index.layouts.contains_key(header.as_str())
        {
            check.unknown(header, "layout", index.layouts.keys().map(String::as_str));
        }
        if let Some(errors) = &protocol.errors {
            if !index.enums.contains_key(errors.enumeration.as_str()) {
                check.unknown(&errors.enumeration, "enum", index.enums.keys().map(String::as_str));
            }
            for code in [&errors.header, &errors.body, &errors.limit] {
                error_code(check, Some(code));
            }
        }
        scope_field(check, protocol);
    }
}

/// The type of a registry that has that name in C or another language.
fn elsewhere(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    let name = name.strip_suffix("_t").unwrap_or(&name);
    let (kind, bits) = match name {
        "byte" | "uchar" | "char" | "octet" => ("u", "8"),
        "sbyte" | "schar" => ("i", "8"),
        "short" => ("i", "16"),
        "ushort" => ("u", "16"),
        "int" | "integer" => ("i", "32"),
        "uint" => ("u", "32"),
        "long" => ("i", "64"),
        "ulong" => ("u", "64"),
        "float" => ("f", "32"),
        "double" => ("f", "64"),
        _ => {
            let bits = name.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
            match &name[..name.len() - bits.len()] {
                "uint" | "unsigned" => ("u", bits),
                "int" | "sint" | "signed" => ("i", bits),
                "float" => ("f", bits),
                _ => return None,
            }
        }
    };
    let name = format!("{kind}{bits}");
    Scalar::ALL.iter().map(|scalar| scalar.name()).find(|scalar| *scalar == name)
}

/// `scope` of the protocol names a field of the header.
fn scope_field(check: &mut Check<'_>, protocol: &crate::syntax::Protocol) {
    let registry = check.registry;
    let header = protocol.header.as_ref().and_then(|name| check.index.layouts.get(name.as_str()));
    let (Some(scope), Some(&header)) = (&protocol.scope, header) else { return };
    let layout = &registry.layouts[header];
    let names = layout.fields.iter().map(|field| field.name.as_str());
    if !names.clone().any(|name| name == scope.field.as_str()) {
        check.unknown(&scope.field, &format!("field of `{}`", layout.name.value), names);
    }
}

/// `error = "…"` names a value of the protocol's error enum.
pub(super) fn error_code(check: &mut Check<'_>, code: Option<&crate::syntax::Text>) {
    let Some(code) = code else { return };
    let registry = check.registry;
    let Some(errors) = registry.protocols.first().and_then(|protocol| protocol.errors.as_ref()) else {
        let problem = check.error(code.span, "`error` needs the protocol to say which enum holds its codes");
        problem.help = Some(
            "add `errors = { enum = \"…\", header = \"…\", body = \"…\", limit = \"…\" }` to `[protocol]`"
                .to_owned(),
        );
        return;
    };
    let Some(&position) = check.index.enums.get(errors.enumeration.as_str()) else { return };
    let codes = &registry.enums[position];
    if codes.complete && !codes.values.iter().any(|value| value.name.value == code.value) {
        let what = format!("value of `{}`", codes.name.value);
        check.unknown(code, &what, codes.values.iter().map(|value| value.name.as_str()));
    }
}

#[cfg(test)]
mod tests {
    use super::elsewhere;

    #[test]
    fn types_of_other_languages_are_known() {
        let known = [
            ("uint16", "u16"),
            ("uint8_t", "u8"),
            ("UInt32", "u32"),
            ("int64_t", "i64"),
            ("double", "f64"),
            ("float32", "f32"),
            ("byte", "u8"),
            ("uint", "u32"),
        ];
        for (name, meant) in known {
            assert_eq!(elsewhere(name), Some(meant), "{name}");
        }
        for name in ["uint24", "string", "u16", "", "_t", "int0x10", "weather"] {
            assert_eq!(elsewhere(name), None, "{name}");
        }
    }
}
