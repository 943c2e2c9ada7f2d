//! Warns about enums, bitmasks, scopes and the like that nothing uses.

use std::collections::HashSet;

use crate::report::Diagnostic;
use crate::syntax::Text;

use super::Check;

pub(super) fn run(check: &mut Check<'_>) {
    let registry = check.registry;
    let mut used: HashSet<(&str, &str)> = HashSet::new();
    for field in registry.layouts.iter().flat_map(|layout| &layout.fields) {
        used.extend(field.enumeration.as_ref().map(|name| ("enum", name.as_str())));
        used.extend(field.bitmask.as_ref().map(|name| ("bitmask", name.as_str())));
    }
    let families =
        registry.enums.iter().flat_map(|item| &item.ranges).filter_map(|range| range.family.as_ref());
    used.extend(families.map(|name| ("enum", name.as_str())));
    for machine in &registry.machines {
        used.extend(machine.enumeration.as_ref().map(|name| ("enum", name.as_str())));
    }
    let errors = registry.protocols.iter().filter_map(|protocol| protocol.errors.as_ref());
    used.extend(errors.map(|errors| ("enum", errors.enumeration.as_str())));
    for message in &registry.messages {
        used.extend(message.scope.iter().map(|name| ("scope", name.as_str())));
        for segment in &message.body {
            let contents = segment.of.iter().chain(segment.cases.iter().map(|case| &case.of));
            used.extend(contents.map(|name| ("content", name.as_str())));
        }
    }
    for part in registry.bodies.iter().flat_map(|body| &body.parts) {
        used.extend(part.of.as_ref().map(|name| ("content", name.as_str())));
    }
    // `x in name` uses an enum too; that it is one is checked where rules are.
    let rules = registry.layouts.iter().flat_map(|layout| &layout.rules);
    let rules = rules.chain(registry.messages.iter().flat_map(|message| &message.rules));
    for text in rules.flat_map(|rule| rule.when.iter().chain([&rule.require])) {
        let words = text.value.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        used.extend(words.map(|word| ("enum", word)));
    }
    let mut warn = |kind: &'static str, what: &str, name: &Text| {
        if !used.contains(&(kind, name.as_str())) {
            check.report.add(
                Diagnostic::warning(name.span, format!("nothing uses {what} `{}`", name.value))
                    .help("use it, or take it out"),
            );
        }
    };
    for item in registry.enums.iter().filter(|item| item.from_messages.is_none()) {
        warn("enum", "enum", &item.name);
    }
    for item in &registry.bitmasks {
        warn("bitmask", "bitmask", &item.name);
    }
    for item in &registry.scopes {
        warn("scope", "scope", &item.name);
    }
    for item in &registry.bodies {
        warn("content", "body", &item.name);
    }
    for item in &registry.entries {
        warn("content", "entry", &item.name);
    }
    for item in &registry.vocabularies {
        warn("content", "vocabulary", &item.name);
    }
}
