//! State machines name states and messages that are there, reach every state, and end where they say.

use std::collections::HashSet;

use crate::report::Diagnostic;
use crate::syntax::{Machine, Text};

use super::Check;

pub(super) fn run(check: &mut Check<'_>) {
    for machine in &check.registry.machines {
        walk(check, machine);
    }
}

fn walk(check: &mut Check<'_>, machine: &Machine) {
    let registry = check.registry;
    let states: Vec<&Text> = match &machine.enumeration {
        Some(name) => {
            let Some(&position) = check.index.enums.get(name.as_str()) else {
                check.unknown(name, "enum", check.index.enums.keys().map(String::as_str));
                return;
            };
            if let Some(state) = machine.states.first() {
                let problem = check.error(state.name.span, "states beside an enum of states");
                problem.related.push((name.span, "the enum".to_owned()));
            }
            if !registry.enums[position].complete {
                return;
            }
            registry.enums[position].values.iter().map(|value| &value.name).collect()
        }
        None => machine.states.iter().map(|state| &state.name).collect(),
    };
    let known = |name: &Text| states.iter().any(|state| state.value == name.value);
    let mut named = vec![&machine.initial];
    named.extend(&machine.terminal);
    for arrow in &machine.transitions {
        named.extend([&arrow.from, &arrow.to]);
    }
    for name in named {
        if !known(name) {
            check.unknown(name, "state", states.iter().map(|state| state.as_str()));
        }
    }
    for arrow in &machine.transitions {
        for message in &arrow.on {
            if !check.index.messages.contains_key(message.as_str()) {
                check.unknown(message, "message", check.index.messages.keys().map(String::as_str));
            }
        }
        if let Some(end) = machine.terminal.iter().find(|end| end.value == arrow.from.value) {
            let problem = check
                .error(arrow.from.span, format!("a transition out of `{}`, which is terminal", end.value));
            problem.related.push((end.span, "said here".to_owned()));
            problem.help = Some("leave the transition out, or the state out of `terminal`".to_owned());
        }
    }
    let mut seen = HashSet::new();
    for arrow in &machine.transitions {
        if !seen.insert((arrow.from.as_str(), arrow.to.as_str())) {
            check
                .error(
                    arrow.span,
                    format!("a second transition from `{}` to `{}`", arrow.from.value, arrow.to.value),
                )
                .help = Some("put its messages into the first".to_owned());
        }
    }
    let mut reached = HashSet::from([machine.initial.as_str()]);
    let mut open = vec![machine.initial.as_str()];
    while let Some(state) = open.pop() {
        for arrow in machine.transitions.iter().filter(|arrow| arrow.from.value == state) {
            if reached.insert(arrow.to.as_str()) {
                open.push(arrow.to.as_str());
            }
        }
    }
    for state in states {
        if !reached.contains(state.as_str()) {
            // A state of an enum stands where the enum does; the machine is what fails to reach it.
            let span = if machine.enumeration.is_some() { machine.initial.span } else { state.span };
            let problem = check.report.push(Diagnostic::error(
                span,
                format!("no transition of `{}` leads to `{}`", machine.name.value, state.value),
            ));
            problem.label = format!("not reachable from `{}`", machine.initial.value);
            if span != state.span {
                problem.related.push((state.span, "the state".to_owned()));
            }
        }
    }
}
