//! The header says which of its fields give the message and the lengths, each once.

use std::collections::HashMap;

use crate::syntax::{Element, Role, Type};

use super::Check;

pub(super) fn run(check: &mut Check<'_>) {
    let registry = check.registry;
    let header = registry.protocols.first().and_then(|protocol| protocol.header.as_ref());
    let position = header.and_then(|name| check.index.layouts.get(name.as_str()).copied());
    for (at, layout) in registry.layouts.iter().enumerate() {
        let mut seen: HashMap<Role, crate::source::Span> = HashMap::new();
        for field in &layout.fields {
            let Some(role) = &field.role else { continue };
            if Some(at) != position {
                let problem = check.error(role.span, "`is` belongs in the header layout");
                problem.help =
                    Some("name this layout as `header` in `[protocol]`, or leave `is` out".to_owned());
                continue;
            }
            if let Some(first) = seen.insert(role.value, role.span) {
                let problem = check.error(role.span, "a second field with this role");
                problem.related.push((first, "the first".to_owned()));
            }
            let unsigned = matches!(&field.ty.value, Type { element: Element::Scalar(scalar), count: None } if scalar.is_unsigned());
            if !unsigned {
                check.error(role.span, format!("`{}` is no unsigned integer", field.name.value));
            }
            // Emitted code matches over all messages and nothing else.
            let enumeration =
                field.enumeration.as_ref().and_then(|name| check.index.enums.get(name.as_str()));
            let of_messages = enumeration.is_some_and(|&position| {
                let item = &registry.enums[position];
                item.from_messages.is_some() && item.values.is_empty() && item.ranges.is_empty()
            });
            // An enum that is not there was told of already.
            let is_lost = enumeration.is_none() && field.enumeration.is_some() || !field.understood;
            if role.value == Role::Message && !of_messages && !is_lost && !registry.messages.is_empty() {
                let message =
                    format!("`{}` gives the message, but is no enum of all messages", field.name.value);
                let problem = check.error(role.span, message);
                problem.help = Some("give it an enum with `from = \"messages\"` and nothing else".to_owned());
            }
        }
        let (Some(header), true) = (header, Some(at) == position) else { continue };
        for (name, role) in Role::ALL {
            let is_whole = layout.complete && layout.fields.iter().all(|field| field.understood);
            if !seen.contains_key(&role) && is_whole && !registry.messages.is_empty() {
                let problem = check.error(
                    header.span,
                    format!("no field of `{}` is the {}", header.value, name.replace('_', " ")),
                );
                problem.help = Some(format!("add `is = \"{name}\"` to the field that is"));
                problem.related.push((layout.name.span, "the header".to_owned()));
            }
        }
    }
    if header.is_none()
        && !registry.protocols.is_empty()
        && let Some(message) = registry.messages.first()
    {
        let problem = check.error(message.span, "a message, but the protocol has no header");
        problem.help = Some("add `header = \"…\"` to `[protocol]`".to_owned());
    }
}
