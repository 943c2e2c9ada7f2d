//! Messages name layouts that are there.

use super::Check;

pub(super) fn run(check: &mut Check<'_>) {
    let registry = check.registry;
    for message in &registry.messages {
        if let Some(name) = &message.metadata
            && !check.index.layouts.contains_key(name.as_str())
        {
            check.unknown(name, "layout", check.index.layouts.keys().map(String::as_str));
        }
    }
}
