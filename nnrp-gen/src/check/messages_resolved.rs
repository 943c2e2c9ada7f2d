//! Messages, bodies and entries name what is there, and it is of the kind they need.

use crate::resolve::Resolve;

use super::Check;

pub(super) fn run(check: &mut Check<'_>) {
    let registry = check.registry;
    let mut resolve =
        Resolve { registry, index: check.index, sources: check.sources, report: &mut *check.report };
    for item in &registry.vocabularies {
        resolve.vocabulary(item);
    }
    for item in &registry.entries {
        resolve.entry(item);
    }
    for item in &registry.bodies {
        resolve.body(item);
    }
    for item in &registry.messages {
        resolve.message(item);
    }
}
