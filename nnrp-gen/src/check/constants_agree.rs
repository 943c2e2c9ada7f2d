//! The protocol and its header give the same versions.

use crate::syntax::Literal;

use super::Check;

pub(super) fn run(check: &mut Check<'_>) {
    let registry = check.registry;
    let Some(protocol) = registry.protocols.first() else { return };
    let Some(header) = protocol.header.as_ref().and_then(|name| check.index.layouts.get(name.as_str()))
    else {
        return;
    };
    for (key, number) in [("version_major", &protocol.version_major), ("wire_format", &protocol.wire_format)]
    {
        let Some(number) = number else { continue };
        let field = registry.layouts[*header].fields.iter().find(|field| field.name.value == key);
        let Some((field, constant)) = field.and_then(|field| Some((field, field.constant.as_ref()?))) else {
            continue;
        };
        if constant.value != Literal::Number(number.value) {
            let message = format!("the protocol's `{key}` is {}, the header's is another", number.value);
            let problem = check.error(constant.span, message);
            problem.related.push((number.span, "the protocol's".to_owned()));
            problem.help = Some(format!("write `const = {}`, or change the protocol's", number.value));
            let _ = field;
        }
    }
}
