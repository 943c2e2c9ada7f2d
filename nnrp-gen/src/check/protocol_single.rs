//! Exactly one file says what the protocol is.

use crate::source::Span;

use super::Check;

pub(super) fn run(check: &mut Check<'_>) {
    let protocols = &check.registry.protocols;
    let Some(first) = protocols.first() else {
        if check.registry.unread.contains(&"protocol") {
            return;
        }
        let problem = check.error(Span::default(), "no file has a `[protocol]` table");
        problem.help = Some(
            "add one to exactly one file: `[protocol]` with `name = \"…\"` and `byte_order = \"little\"`"
                .to_owned(),
        );
        return;
    };
    for again in &protocols[1..] {
        let problem = check.error(again.span, "a second `[protocol]` table");
        problem.related.push((first.span, "the first".to_owned()));
        problem.help = Some("keep one of them".to_owned());
    }
}
