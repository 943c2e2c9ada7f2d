//! Faults: their kinds, the places that can be blamed, and the sentence that tells of one.

use crate::wire::FaultKind;

use super::text::{Columns, doc, indent, string};
use super::{C, names};

/// Every kind of fault, in the order of their numbers, which start at 1.
const KINDS: [FaultKind; 10] = [
    FaultKind::TooShort,
    FaultKind::TooLong,
    FaultKind::Constant,
    FaultKind::Reserved,
    FaultKind::UnknownBits,
    FaultKind::UnknownValue,
    FaultKind::Length,
    FaultKind::Rule,
    FaultKind::Unsupported,
    FaultKind::Limit,
];

/// The constant of a kind.
pub(super) fn kind(kind: FaultKind) -> String {
    format!("FAULT_{}", kind.name().to_uppercase())
}

impl C<'_> {
    /// The kinds and the struct.
    pub(super) fn faults(&self) -> String {
        let kinds = KINDS.iter().map(|kind| (self::kind(*kind), format!("What is blamed {}.", kind.says())));
        let kinds = self.numbered("Kinds of faults; 0 is none.", "fault kind", kinds);
        format!("{kinds}\n{}", self.template(include_str!("faults.h")))
    }

    /// Numbers for layouts and rules.
    pub(super) fn places(&self) -> String {
        let layouts = self.registry.layouts.iter();
        let layouts = layouts.map(|layout| (format!("LAYOUT_{}", layout.name), String::new()));
        let layouts = self.numbered("Layouts, as faults name them.", "layout", layouts);
        let rules = self.rules().map(|rule| (format!("RULE_{}", names::rule(&rule.id)), rule.doc.clone()));
        let rules = self.numbered("Rules, as faults name them.", "rule", rules);
        [layouts, rules].iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join("\n")
    }

    /// An enum of constants that count from 1.
    fn numbered(&self, docs: &str, what: &str, rows: impl Iterator<Item = (String, String)>) -> String {
        let mut columns = Columns::default();
        for (at, (name, note)) in rows.enumerate() {
            let constant = self.names.upper(&name);
            self.names.define(&constant, &format!("{what} constant `{name}`"));
            columns.row([constant, format!("= {},", at + 1)], &note);
        }
        match columns.text() {
            rows if rows.is_empty() => rows,
            rows => format!("{}enum {{\n{}}};\n", doc([docs]), indent(&rows, 4)),
        }
    }

    /// The fields of a layout, as faults name them.
    pub(super) fn field_numbers(&self, layout: &crate::model::Layout) -> String {
        let fields = layout
            .fields
            .iter()
            .map(|field| (format!("{}_FIELD_{}", layout.name, field.name), String::new()));
        self.numbered(&format!("Fields of `{}`, as faults name them.", layout.name), "field", fields)
    }

    /// The names of all that a fault can blame, and the sentence.
    pub(super) fn sentences(&self) -> String {
        let kinds = || KINDS.iter();
        let layouts = || self.registry.layouts.iter();
        let rules = || self.rules();
        let constant = |name: String| self.names.upper(&name);
        let of_kind = |kind: &FaultKind| constant(self::kind(*kind));
        let tables = [
            self.lookup(
                "The name of a kind of fault.",
                ("fault_kind_name", "int kind"),
                kinds().map(|kind| (of_kind(kind), string(kind.name()))),
            ),
            self.lookup(
                "",
                ("fault_says_", "int kind"),
                kinds().map(|kind| (of_kind(kind), string(kind.says()))),
            ),
            self.lookup(
                "The name of a layout in the registry.",
                ("layout_name", "uint32_t layout"),
                layouts().map(|layout| (constant(format!("LAYOUT_{}", layout.name)), string(&layout.name))),
            ),
            self.field_names(),
            self.lookup(
                "The id of a rule in the specification.",
                ("rule_id", "uint32_t rule"),
                rules().map(|rule| (constant(format!("RULE_{}", names::rule(&rule.id))), string(&rule.id))),
            ),
            self.lookup(
                "Why there is that rule.",
                ("rule_doc", "uint32_t rule"),
                rules().map(|rule| (constant(format!("RULE_{}", names::rule(&rule.id))), string(&rule.doc))),
            ),
        ];
        format!("{}\n{}", tables.join("\n"), self.template(include_str!("sentence.h")))
    }

    /// A function from numbers to texts, the empty one for numbers that it does not know.
    fn lookup(
        &self,
        docs: &str,
        (name, parameter): (&str, &str),
        rows: impl Iterator<Item = (String, String)>,
    ) -> String {
        let name = self.names.lower(name);
        self.names.define(&name, "what every header has");
        let number = parameter.rsplit(' ').next().unwrap_or(parameter);
        let mut columns = Columns::default();
        for (constant, text) in rows {
            columns.row([format!("case {constant}:"), format!("return {text};")], "");
        }
        columns.row(["default:".to_owned(), "return \"\";".to_owned()], "");
        let cases = indent(&columns.text(), 4);
        format!(
            "{}PROTO_COLD const char *{name}({parameter})\n{{\n    switch ({number}) {{\n{cases}    }}\n}}\n",
            doc([docs])
        )
        .replace("PROTO_COLD", &self.names.upper("COLD"))
    }

    /// The function that names fields, which asks one of each layout.
    fn field_names(&self) -> String {
        let mut out = String::new();
        let mut all = Vec::new();
        for layout in &self.registry.layouts {
            let name = format!("{}_field_name", layout.name);
            let fields = layout.fields.iter().map(|field| {
                let constant = self.names.upper(&format!("{}_FIELD_{}", layout.name, field.name));
                (constant, string(&field.name))
            });
            let docs = format!("The name of a field of `{}` in the registry.", layout.name);
            out.push_str(&self.lookup(&docs, (&name, "uint32_t field"), fields));
            out.push('\n');
            let constant = self.names.upper(&format!("LAYOUT_{}", layout.name));
            all.push((constant, format!("{}(field)", self.names.lower(&name))));
        }
        let docs = "The name of a field of a layout in the registry.";
        let all = self.lookup(docs, ("field_name", "uint32_t layout, uint32_t field"), all.into_iter());
        out + &all.replace("switch (field)", "switch (layout)")
    }
}
