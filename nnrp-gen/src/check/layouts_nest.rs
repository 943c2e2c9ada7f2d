//! Layouts inside layouts come to an end.

use crate::syntax::{Element, Field};

use super::Check;

/// How deep layouts may stand in one another.
const MAX_DEPTH: usize = 16;

pub(super) fn run(check: &mut Check<'_>) {
    let registry = check.registry;
    let inner = |field: &Field| match &field.ty.value.element {
        Element::Layout(name) => check.index.layouts.get(name).copied(),
        Element::Scalar(_) => None,
    };
    // Depth of each layout, found from those that hold no other: what is never reached is in a cycle.
    let mut depth: Vec<Option<usize>> = vec![None; registry.layouts.len()];
    loop {
        let mut changed = false;
        for (position, layout) in registry.layouts.iter().enumerate() {
            if depth[position].is_some() {
                continue;
            }
            let deepest = layout
                .fields
                .iter()
                .filter_map(inner)
                .try_fold(0, |deepest: usize, inner| depth[inner].map(|depth| deepest.max(depth + 1)));
            if let Some(deepest) = deepest {
                depth[position] = Some(deepest);
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    let mut problems = Vec::new();
    for (layout, depth) in registry.layouts.iter().zip(&depth) {
        match depth {
            None => problems.push((
                layout.name.span,
                format!("`{}` holds itself, directly or through others", layout.name.value),
            )),
            Some(depth) if *depth > MAX_DEPTH => problems.push((
                layout.name.span,
                format!("`{}` nests {depth} layouts deep, the limit is {MAX_DEPTH}", layout.name.value),
            )),
            Some(_) => {}
        }
    }
    for (span, message) in problems {
        check.error(span, message);
    }
}
