//! Every name is an identifier, and the identifiers that are made of names do not collide.

use std::collections::HashMap;

use crate::names;
use crate::syntax::Text;

use super::Check;

/// What the generated code calls its own things; see `emit/rust`.
const SUPPORT_TYPES: &[&str] = &["Fault", "FaultKind", "Layout", "Site", "UnknownValue"];

/// What it takes from the prelude by its bare name. A type of that name would stand in front of it.
const PRELUDE: &[&str] = &[
    "Box",
    "Clone",
    "Default",
    "Eq",
    "Err",
    "Extend",
    "Fn",
    "FnOnce",
    "From",
    "Iterator",
    "None",
    "Ok",
    "Option",
    "PartialEq",
    "Result",
    "Some",
    "String",
    "TryFrom",
    "Vec",
];

/// What it calls what it has for messages, where there are any.
const PACKET_TYPES: &[&str] = &["Message", "Packet", "Frame"];

pub(super) fn run(check: &mut Check<'_>) {
    let registry = check.registry;
    if let Some(protocol) = registry.protocols.first() {
        identifier(check, &protocol.name);
    }
    let mut types: HashMap<String, (&Text, String)> = HashMap::new();
    let packets = !registry.messages.is_empty();
    let mut all: Vec<(String, &Text, String)> = Vec::new();
    // What somebody wrote is called what they called it, and brings no new names but those of views.
    for item in &registry.enums {
        identifier(check, &item.name);
        if item.given.is_none() {
            all.push((names::pascal(item.name.as_str()), &item.name, "enum".into()));
        }
        let idents =
            item.values.iter().map(|value| &value.name).chain(item.ranges.iter().map(|range| &range.name));
        members(check, idents, names::pascal);
    }
    for item in &registry.bitmasks {
        identifier(check, &item.name);
        if item.given.is_none() {
            all.push((names::pascal(item.name.as_str()), &item.name, "bitmask".into()));
        }
        members(check, item.bits.iter().map(|bit| &bit.name), names::screaming);
    }
    for item in &registry.layouts {
        identifier(check, &item.name);
        members(check, item.fields.iter().map(|field| &field.name), names::getter);
        if item.given.is_some() {
            continue;
        }
        let ident = names::pascal(item.name.as_str());
        for suffix in ["", "View", "Mut", "Wire"] {
            let what = if suffix.is_empty() {
                "layout".to_owned()
            } else {
                format!("{} of layout", suffix.to_lowercase())
            };
            all.push((format!("{ident}{suffix}"), &item.name, what));
        }
    }
    derived(check, &mut all);
    for (ident, name, what) in all {
        let of_packets = packets && PACKET_TYPES.contains(&ident.as_str());
        if of_packets || SUPPORT_TYPES.contains(&ident.as_str()) || PRELUDE.contains(&ident.as_str()) {
            let problem = check.error(
                name.span,
                format!("{what} `{}` becomes `{ident}`, which the generated code uses itself", name.value),
            );
            problem.help = Some("rename it".to_owned());
        }
        match types.get(&ident) {
            // Two of one kind with one name are reported as such elsewhere.
            Some((first, other)) if first.value != name.value || *other != what => {
                let problem = check.report.push(crate::report::Diagnostic::error(
                    name.span,
                    format!("{what} `{}` and {other} `{}` both become `{ident}`", name.value, first.value),
                ));
                problem.related.push((first.span, "the other".to_owned()));
                problem.help = Some("rename one of them".to_owned());
            }
            Some(_) => {}
            None => {
                types.insert(ident, (name, what));
            }
        }
    }
    for item in &registry.messages {
        identifier(check, &item.name);
        members(check, item.body.iter().map(|segment| &segment.name), names::field);
    }
    members(check, registry.messages.iter().map(|item| &item.name), names::pascal);
    for item in &registry.bodies {
        identifier(check, &item.name);
        members(check, item.parts.iter().map(|part| &part.name), names::field);
        for part in item.parts.iter().filter(|part| part.name.value == "prelude") {
            let problem = check.error(part.name.span, "a part cannot be called `prelude`");
            problem.label = "what stands in front of the parts is".to_owned();
            problem.help = Some("rename it".to_owned());
        }
    }
    for name in registry
        .entries
        .iter()
        .map(|item| &item.name)
        .chain(registry.vocabularies.iter().map(|item| &item.name))
    {
        identifier(check, name);
    }
    for item in &registry.machines {
        identifier(check, &item.name);
        members(check, item.states.iter().map(|state| &state.name), names::pascal);
    }
}

/// What else becomes a type: entries, bodies, vocabularies, rows, and the bodies of messages.
fn derived<'a>(check: &mut Check<'a>, all: &mut Vec<(String, &'a Text, String)>) {
    let (registry, index) = (check.registry, check.index);
    let mut add = |name: &'a Text, suffix: &str, what: &str| {
        all.push((format!("{}{suffix}", names::pascal(name.as_str())), name, what.to_owned()));
    };
    for item in &registry.entries {
        add(&item.name, "", "entry");
        add(&item.name, "Entries", "block of entry");
        let header = index.layouts.get(item.header.as_str()).map(|&position| &registry.layouts[position]);
        let selector = header.zip(item.select.as_ref()).and_then(|(header, select)| {
            let field = header.fields.iter().find(|field| field.name.value == select.value)?;
            Some(&registry.enums[*index.enums.get(field.enumeration.as_ref()?.as_str())?])
        });
        let choices =
            selector.into_iter().flat_map(|item| &item.values).filter(|value| value.layout.is_some());
        let choices: Vec<_> = choices.collect();
        if !choices.is_empty() {
            add(&item.name, "Payload", "payload of entry");
        }
        for choice in choices.into_iter().filter(|choice| names::pascal(choice.name.as_str()) == "Other") {
            let message = format!(
                "choice `{}` becomes `Other`, which is every payload that is not known",
                choice.name.value
            );
            let problem = check.report.push(crate::report::Diagnostic::error(choice.name.span, message));
            problem.help = Some("rename it".to_owned());
        }
    }
    for item in &registry.vocabularies {
        add(&item.name, "", "vocabulary");
    }
    for item in &registry.bodies {
        add(&item.name, "", "body");
    }
    for item in registry.messages.iter().filter(|item| !item.body.is_empty()) {
        add(&item.name, "Body", "body of message");
    }
    let segments =
        registry.messages.iter().flat_map(|item| &item.body).filter_map(|segment| segment.of.as_ref());
    let parts = registry.bodies.iter().flat_map(|item| &item.parts);
    let parts = parts.flat_map(|part| part.of.iter().chain(part.leading.iter().map(|(layout, _)| layout)));
    let mut rows: Vec<usize> =
        segments.chain(parts).filter_map(|of| index.layouts.get(of.as_str()).copied()).collect();
    rows.sort_unstable();
    rows.dedup();
    rows.into_iter().for_each(|row| add(&registry.layouts[row].name, "Rows", "rows of layout"));
}

/// Names that become identifiers of one scope.
fn members<'a>(check: &mut Check<'_>, members: impl Iterator<Item = &'a Text>, ident: fn(&str) -> String) {
    let mut seen: HashMap<String, &Text> = HashMap::new();
    for name in members {
        identifier(check, name);
        let ident = ident(name.as_str());
        let Some(first) = seen.insert(ident.clone(), name) else { continue };
        if first.value.to_lowercase() == name.value.to_lowercase() {
            continue;
        }
        let problem =
            check.error(name.span, format!("`{}` and `{}` both become `{ident}`", first.value, name.value));
        problem.related.push((first.span, "the other".to_owned()));
        problem.help = Some("rename one of them".to_owned());
    }
}

fn identifier(check: &mut Check<'_>, name: &Text) {
    let mut letters = name.value.chars();
    let good = letters.next().is_some_and(|first| first.is_ascii_alphabetic())
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    if !good {
        let problem = check.error(name.span, format!("`{}` is no name", name.value));
        problem.label = "a letter, then letters, digits and `_`".to_owned();
        let snake: String = name
            .value
            .chars()
            .map(|letter| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '_' })
            .collect();
        let snake = snake.trim_matches('_');
        if snake.starts_with(|first: char| first.is_ascii_alphabetic()) {
            problem.help = Some(format!("write `{snake}`"));
        }
    }
}
