//! State machines: states, where they start and end, and which arrows there are.

use crate::model::{Enum, Machine, Scalar};

use super::C;
use super::text::{cite, doc, fill};

const FUNCTIONS: &str = "\
#define ${INITIAL} ${initial} /**< Where the state machine starts. */

/** Whether nothing leaves the state. */
static inline bool ${x}_is_terminal(${state} state)
{
    ${terminal}
}

${doc}
static inline bool ${x}_can_transition(${state} from, ${state} to)
{
    ${arrows}
}
";

impl C<'_> {
    pub(super) fn machine(&self, item: &Machine) -> String {
        let own;
        let (states, mut out) = match item.enumeration {
            Some(position) => (&self.registry.enums[position], String::new()),
            None => {
                own = Enum {
                    name: format!("{}_state", item.name),
                    ty: Scalar::U8,
                    values: item.states.clone(),
                    ranges: Vec::new(),
                    given: None,
                    source: item.source.clone(),
                    doc: item.doc.clone(),
                };
                (&own, self.enumeration(&own) + "\n")
            }
        };
        let what = format!("state machine `{}`", item.name);
        let x = self.names.lower(&format!("{}_state", item.name));
        let initial = self.names.upper(&format!("{}_initial_state", item.name));
        for name in [initial.clone(), format!("{x}_is_terminal"), format!("{x}_can_transition")] {
            self.names.define(&name, &what);
        }
        let state = |position: usize| self.value_name(states, &item.states[position]);
        let terminal: Vec<_> =
            item.terminal.iter().map(|&position| format!("state == {}", state(position))).collect();
        let terminal = match terminal.as_slice() {
            [] => "(void)state;\nreturn false;\n".to_owned(),
            terminal => format!("return {};\n", terminal.join("\n    || ")),
        };
        let docs = doc([
            format!("Whether the state machine has an arrow from one state to another. {}", item.doc),
            cite(&item.source),
        ]);
        out.push_str(&fill(
            FUNCTIONS,
            &[
                ("INITIAL", &initial),
                ("initial", &state(item.initial)),
                ("x", &x),
                ("state", &self.names.lower(&states.name)),
                ("terminal", &terminal),
                ("doc", &docs),
                ("arrows", &self.arrows(item, &state)),
            ],
        ));
        out
    }

    /// The body of the function that knows the arrows.
    fn arrows(&self, item: &Machine, state: &dyn Fn(usize) -> String) -> String {
        let mut cases = String::new();
        for from in 0..item.states.len() {
            let arrows = item.transitions.iter().filter(|arrow| arrow.from == from);
            let next: Vec<_> = arrows.map(|arrow| format!("to == {}", state(arrow.to))).collect();
            if !next.is_empty() {
                cases.push_str(&format!(
                    "case {}:\n    return {};\n",
                    state(from),
                    next.join("\n        || ")
                ));
            }
        }
        if cases.is_empty() {
            return "(void)from;\n(void)to;\nreturn false;\n".to_owned();
        }
        format!("switch (from) {{\n{cases}default:\n    return false;\n}}\n")
    }
}
