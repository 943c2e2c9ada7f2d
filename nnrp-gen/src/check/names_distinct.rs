//! No two things of a kind have the same name, not even in another case, nor the same number.

use std::collections::HashMap;

use crate::syntax::{Enum, Message, Number, Text};

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
        numbers_from_elsewhere(check, item);
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
                format!("{what} `{}` is there twice", name.value)
            } else {
                format!("{what} `{}` differs from `{}` only in case", name.value, first.value)
            },
        );
        problem.related.push((first.span, "the other".to_owned()));
        problem.help = Some("rename one of them".to_owned());
    }
}

fn numbers<'a>(check: &mut Check<'_>, what: &str, numbers: impl Iterator<Item = (&'a Number, &'a Text)>) {
    let mut seen: HashMap<i128, (&Number, &Text)> = HashMap::new();
    for (number, name) in numbers {
        let Some((first, first_name)) = seen.insert(number.value, (number, name)) else { continue };
        same_number(check, what, (first, first_name), (number, name));
    }
}

fn same_number(check: &mut Check<'_>, what: &str, first: (&Number, &Text), again: (&Number, &Text)) {
    let ((first, first_name), (number, name)) = (first, again);
    let number_text =
        if number.value < 0x100 { number.value.to_string() } else { format!("{:#x}", number.value) };
    let message = if first_name.value == name.value {
        format!("{what} {number_text} is there twice")
    } else {
        format!("`{}` and `{}` are both {what} {number_text}", first_name.value, name.value)
    };
    let problem = check.error(number.span, message);
    problem.related.push((first.span, "the other".to_owned()));
    problem.help = Some("give one of them another number".to_owned());
}

/// An enum has more values than those that stand in it: those of all messages, and those of the enums of its ranges.
fn numbers_from_elsewhere(check: &mut Check<'_>, item: &Enum) {
    let registry = check.registry;
    for value in &item.values {
        let number = value.value.value;
        if item.from_messages.is_some() {
            let number_of = |message: &&Message| message.value.value == number;
            let name_of = |message: &&Message| message.name.value.eq_ignore_ascii_case(value.name.as_str());
            if let Some(message) = registry.messages.iter().find(number_of) {
                same_number(check, "value", (&message.value, &message.name), (&value.value, &value.name));
            } else if let Some(message) = registry.messages.iter().find(name_of) {
                names(check, "value", [&message.name, &value.name].into_iter());
            }
        }
        let around = item.ranges.iter().filter(|range| (range.from.value..=range.to.value).contains(&number));
        let families = around.filter_map(|range| check.index.enums.get(range.family.as_ref()?.as_str()));
        let families: Vec<usize> = families.copied().collect();
        for family in families {
            let same = registry.enums[family].values.iter().find(|other| other.value.value == number);
            if let Some(same) = same.filter(|same| same.name.value != value.name.value) {
                same_number(check, "value", (&same.value, &same.name), (&value.value, &value.name));
            }
        }
    }
}

/// A rule id names one row of the whole registry, so that a fault leads to it.
fn rule_ids<'a>(check: &mut Check<'_>, ids: impl Iterator<Item = &'a Text>) {
    let mut seen: HashMap<&str, &Text> = HashMap::new();
    for id in ids {
        let Some(first) = seen.insert(id.as_str(), id) else { continue };
        let problem = check.error(id.span, format!("rule `{}` is there twice", id.value));
        problem.related.push((first.span, "the other".to_owned()));
        problem.help = Some("a rule id names one row, so that a fault leads to it".to_owned());
    }
}
