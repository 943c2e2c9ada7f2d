//! Rules parse, name what is there, and can both hold and fail.

use crate::rule::{self, Truth, Verdict};
use crate::syntax::{Rule, Text};

use super::Check;
use super::fields::{Fields, parse};

pub(super) fn run(check: &mut Check<'_>) {
    let registry = check.registry;
    for layout in &registry.layouts {
        let names = Fields::of_layout(registry, check.index, layout);
        for rule in &layout.rules {
            one(check, rule, &names, true);
        }
    }
    for message in &registry.messages {
        let names = Fields::of_message(registry, check.index, message);
        for rule in &message.rules {
            // What does not parse was reported where the message was resolved.
            one(check, rule, &names, false);
        }
    }
}

fn one(check: &mut Check<'_>, rule: &Rule, names: &Fields<'_>, report: bool) {
    let mut read = |text: &Text| -> Option<Truth> {
        match parse(text, names, check.sources) {
            Ok(truth) => Some(truth),
            Err(problems) => {
                let problems = if report { problems } else { Vec::new() };
                problems.into_iter().for_each(|problem| check.report.add(problem));
                None
            }
        }
    };
    let when = rule.when.as_ref().map(&mut read);
    let require = read(&rule.require);
    let (Some(require), false) = (require, matches!(when, Some(None))) else { return };
    let verdict = rule::judge(when.flatten().as_ref(), &require, names);
    if let Some(message) = verdict.message() {
        let text = match verdict {
            Verdict::WhenNever | Verdict::WhenAlways => rule.when.as_ref().unwrap_or(&rule.require),
            _ => &rule.require,
        };
        let problem = check.error(text.span, format!("rule {}: {message}", rule.id.value));
        problem.help = verdict.help().map(str::to_owned);
    }
}
