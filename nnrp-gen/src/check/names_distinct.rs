//! No two things of a kind have the same name, not even in another case, nor the same number.

use std::collections::HashMap;

use crate::syntax::{Number, Text};

use super::Check;

pub(super) fn run(check: &mut Check<'_>) {
    let registry = check.registry;
    names(check, "enum", registry.enums.iter().map(|item| &item.name));
    names(check, "bitmask", registry.bitmasks.iter().map(|item| &item.name));
    names(check, "layout", registry.layouts.iter().map(|item| &item.name));
    names(check, "message", registry.messages.iter().map(|item| &item.name));
    names(check, "scope", registry.scopes.iter().map(|item| &item.name));
    names(check, "state machine", registry.machines.iter().map(|item| &item.name));
    names(check, "schema", registry.schemas.iter().map(|item| &item.name));
    // A segment names any of these by `of`, so they share their names.
    let contents = registry.bodies.iter().map(|item| &item.name);
    let contents = contents.chain(registry.entries.iter().map(|item| &item.name));
    let contents = contents.chain(registry.vocabularies.iter().map(|item| &item.name));
    names(check, "body, entry or vocabulary", contents);

    for item in &registry.enums {
        let ranges = item.ranges.iter().map(|range| &range.name);
        names(check, "value", item.values.iter().map(|value| &value.name).chain(ranges));
        numbers(check, "value", item.values.iter().map(|value| (&value.value, &value.name)));
    }
    for item in &registry.bitmasks {
        names(check, "bit", item.bits.iter().map(|bit| &bit.name));
        numbers(check, "bit", item.bits.iter().map(|bit| (&bit.bit, &bit.name)));
    }
    for item in &registry.layouts {
        names(check, "field", item.fields.iter().map(|field| &field.name));
    }
    numbers(check, "message", registry.messages.iter().map(|item| (&item.value, &item.name)));
    for item in &registry.messages {
        names(check, "segment", item.body.iter().map(|segment| &segment.name));
    }
    for item in &registry.bodies {
        names(check, "part", item.parts.iter().map(|part| &part.name));
    }
    for item in &registry.vocabularies {
        names(check, "word", item.words.iter().map(|word| &word.word));
    }
    for item in &registry.machines {
        names(check, "state", item.states.iter().map(|state| &state.name));
    }
    let layout_rules = registry.layouts.iter().flat_map(|item| &item.rules);
    let message_rules = registry.messages.iter().flat_map(|item| &item.rules);
    rule_ids(check, layout_rules.chain(message_rules).map(|rule| &rule.id));
}

fn names<'a>(check: &mut Check<'_>, what: &str, names: impl Iterator<Item = &'a Text>) {
    let mut seen: HashMap<String, &Text> = HashMap::new();
    for name in names {
        let Some(first) = seen.insert(name.value.to_lowercase(), name) else { continue };
        let problem = check.error(
            name.span,
            if first.value == name.value {
                format!("a second {what} called `{}`", name.value)
            } else {
                format!("{what} `{}` differs from `{}` only in case", name.value, first.value)
            },
        );
        problem.related.push((first.span, "the first".to_owned()));
        problem.help = Some("rename one of them".to_owned());
    }
}

fn numbers<'a>(check: &mut Check<'_>, what: &str, numbers: impl Iterator<Item = (&'a Number, &'a Text)>) {
    let mut seen: HashMap<i128, (&Number, &Text)> = HashMap::new();
    for (number, name) in numbers {
        let Some((first, first_name)) = seen.insert(number.value, (number, name)) else { continue };
        let problem = check.error(number.span, format!("a second {what} {}", number.value));
        problem.label = format!("taken by `{}`", first_name.value);
        problem.related.push((first.span, format!("`{}` has it first", first_name.value)));
    }
}

/// A rule id names one row of the whole registry, so that a fault leads to it.
fn rule_ids<'a>(check: &mut Check<'_>, ids: impl Iterator<Item = &'a Text>) {
    let mut seen: HashMap<&str, &Text> = HashMap::new();
    for id in ids {
        let Some(first) = seen.insert(id.as_str(), id) else { continue };
        let problem = check.error(id.span, format!("a second rule `{}`", id.value));
        problem.related.push((first.span, "the first".to_owned()));
        problem.help = Some("a rule id names one row, so that a fault leads to it".to_owned());
    }
}
