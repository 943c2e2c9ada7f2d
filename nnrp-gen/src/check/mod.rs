//! What must hold of a registry before anything is made from it: one concern a file, each named by
//! what is true once it ran. All of them run, so that one run shows every problem.

mod all_used;
mod constants_agree;
pub(crate) mod fields;
mod fields_tile;
mod index;
mod layouts_nest;
mod meanings_fit;
mod messages_resolved;
mod names_distinct;
mod names_emittable;
mod protocol_single;
mod references_resolved;
mod roles_complete;
mod rules_hold;
mod states_reachable;
mod values_fit;

use crate::report::{Diagnostic, Report};
use crate::source::{Sources, Span};
use crate::suggest::did_you_mean;
use crate::syntax::{Registry, Text};

pub use index::Index;

/// A registry under examination.
pub struct Check<'a> {
    /// What was read.
    pub registry: &'a Registry,
    /// Its names.
    pub index: &'a Index,
    /// Its texts.
    pub sources: &'a Sources,
    /// Where problems go.
    pub report: &'a mut Report,
}

type Pass = fn(&mut Check<'_>);

/// The passes. Problems are reported in file order, whatever the order here; but what nothing uses is only told where
/// nothing else is wrong, since what is wrong may be what would have used it.
const PASSES: &[Pass] = &[
    protocol_single::run,
    names_distinct::run,
    names_emittable::run,
    references_resolved::run,
    values_fit::run,
    fields_tile::run,
    layouts_nest::run,
    meanings_fit::run,
    roles_complete::run,
    constants_agree::run,
    messages_resolved::run,
    rules_hold::run,
    states_reachable::run,
];

/// Runs every pass.
pub fn check(registry: &Registry, index: &Index, sources: &Sources, report: &mut Report) {
    let mut check = Check { registry, index, sources, report };
    for pass in PASSES {
        pass(&mut check);
    }
    if !check.report.has_errors() {
        all_used::run(&mut check);
    }
    report.join_names();
}

impl Check<'_> {
    fn error(&mut self, span: Span, message: impl Into<String>) -> &mut Diagnostic {
        self.report.push(Diagnostic::error(span, message))
    }

    /// Reports a name that names nothing, with the nearest that does.
    fn unknown<'n>(
        &mut self,
        name: &Text,
        what: &str,
        known: impl IntoIterator<Item = &'n str>,
    ) -> Option<&mut Diagnostic> {
        if self.registry.unread.iter().any(|kind| what.split(' ').any(|word| word == *kind)) {
            return None;
        }
        let help = did_you_mean(name.as_str(), known);
        let problem = self.error(name.span, format!("no {what} is called `{}`", name.value));
        problem.label = "not found in the registry".to_owned();
        problem.is_of_name = true;
        problem.help = help;
        Some(problem)
    }
}
