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
    // From the layouts that hold no other outwards, each once: what is never reached holds a cycle.
    let mut waits = vec![0; registry.layouts.len()];
    let mut outers = vec![Vec::new(); registry.layouts.len()];
    for (outer, layout) in registry.layouts.iter().enumerate() {
        for inner in layout.fields.iter().filter_map(inner) {
            waits[outer] += 1;
            outers[inner].push(outer);
        }
    }
    let mut depth = vec![0; registry.layouts.len()];
    let mut ready: Vec<usize> = (0..waits.len()).filter(|&position| waits[position] == 0).collect();
    while let Some(inner) = ready.pop() {
        for &outer in &outers[inner] {
            depth[outer] = depth[outer].max(depth[inner] + 1);
            waits[outer] -= 1;
            if waits[outer] == 0 {
                ready.push(outer);
            }
        }
    }
    let mut problems = Vec::new();
    for (position, layout) in registry.layouts.iter().enumerate() {
        let (name, depth) = (&layout.name.value, depth[position]);
        if waits[position] > 0 {
            problems.push((layout.name.span, format!("`{name}` holds itself, directly or through others")));
        } else if depth > MAX_DEPTH {
            let message = format!("`{name}` nests {depth} layouts deep, the limit is {MAX_DEPTH}");
            problems.push((layout.name.span, message));
        }
    }
    for (span, message) in problems {
        check.error(span, message);
    }
}
