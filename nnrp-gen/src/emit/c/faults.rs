//! Faults: their kinds, the places that can be blamed, and the sentence that tells of one.

use crate::wire::FaultKind;

use super::places::{self, Place};
use super::text::{Columns, doc, indent, string};
use super::{C, text};

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

/// Who is to blame, in the words of a fault.
pub(super) struct Blame<'a> {
    pub(super) kind: FaultKind,
    pub(super) layout: &'a str,
    /// Empty for all of it.
    pub(super) field: &'a str,
    /// The rule and why there is that rule; both may be empty.
    pub(super) rule: (&'a str, &'a str),
    /// The error code; 0 for the usual one.
    pub(super) code: u64,
}

impl<'a> Blame<'a> {
    pub(super) fn new(kind: FaultKind, layout: &'a str, field: &'a str, id: &'a str) -> Self {
        Self { kind, layout, field, rule: (id, ""), code: 0 }
    }
}

impl C<'_> {
    /// The constant of a kind.
    pub(super) fn kind(&self, kind: FaultKind) -> String {
        self.names.upper(&format!("FAULT_{}", kind.name()))
    }

    /// An error code by the name that a row gives, if it gives one.
    pub(super) fn code(&self, name: Option<&String>) -> u64 {
        name.and_then(|name| self.registry.error_code(name)).unwrap_or(0)
    }

    /// The kinds and the struct.
    pub(super) fn faults(&self) -> String {
        let kinds = KINDS.iter().map(|kind| (self.kind(*kind), format!("What is blamed {}.", kind.says())));
        let kinds = self.numbered("Kinds of faults; 0 is none.", "fault kind", kinds);
        let limit = self.kind(FaultKind::Limit);
        let ends_stream = match self.registry.protocol.header {
            Some(header) => {
                let header = self.names.upper(&places::place(&self.registry.layouts[header].name));
                format!("kind == {limit} || layout == {header}")
            }
            None => "false".to_owned(),
        };
        let template = self.template(include_str!("faults.h"));
        // The numbers of layouts stand in front of the function that uses one of them.
        format!("{kinds}\n{}\n{}", self.places(), text::fill(&template, &[("ends_stream", &ends_stream)]))
    }

    /// Numbers for layouts and rules.
    fn places(&self) -> String {
        let layouts = self.places.all.iter();
        let layouts = layouts.map(|place| (self.names.upper(&places::place(&place.name)), String::new()));
        let layouts = self.numbered("Layouts, and what else faults name like one.", "layout", layouts);
        let rules = self.places.rules.iter();
        let rules = rules.map(|rule| (self.names.upper(&places::rule(&rule.id)), rule.doc.clone()));
        let rules = self.numbered("Rules, as faults name them.", "rule", rules);
        [layouts, rules].iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join("\n")
    }

    /// An enum of constants that count from 1.
    fn numbered(&self, docs: &str, what: &str, rows: impl Iterator<Item = (String, String)>) -> String {
        let mut columns = Columns::default();
        for (at, (constant, note)) in rows.enumerate() {
            self.names.define(&constant, &format!("the number of a {what}"));
            columns.row([constant, format!("= {},", at + 1)], &note);
        }
        match columns.text() {
            rows if rows.is_empty() => rows,
            rows => format!("{}enum {{\n{}}};\n", doc([docs]), indent(&rows, 4)),
        }
    }

    /// The fields of a layout, or of what else faults name like one.
    pub(super) fn field_numbers(&self, place: &Place) -> String {
        let constant = |field: &String| self.names.upper(&places::field(&place.name, field));
        let fields = place.fields.iter().map(|field| (constant(field), String::new()));
        self.numbered(&format!("Fields of `{}`, as faults name them.", place.name), "field", fields)
    }

    /// The call that fills in a fault at `offset`, as an expression. It stands behind `before` on its line.
    pub(super) fn blame(&self, before: &str, blame: &Blame<'_>, offset: &str) -> String {
        let code = if blame.code > u64::from(u32::MAX) { 0 } else { blame.code };
        let field = match blame.field {
            "" => "0".to_owned(),
            field => self.names.upper(&places::field(blame.layout, field)),
        };
        let mut arguments = vec![
            "fault".to_owned(),
            self.kind(blame.kind),
            self.names.upper(&places::place(blame.layout)),
            field,
        ];
        if !blame.rule.0.is_empty() {
            arguments.push(self.names.upper(&places::rule(blame.rule.0)));
            arguments.push(string(blame.rule.1));
        }
        arguments.push(offset.to_owned());
        arguments.push(if code == 0 { "0".to_owned() } else { text::hex(code, 4) });
        let function = if blame.rule.0.is_empty() { "blame_" } else { "blame_rule_" };
        text::call(&format!("{before}{}", self.names.lower(function)), &arguments, "")
    }

    /// The statement that refuses where a condition holds.
    pub(super) fn refuse(&self, condition: &str, blame: &Blame<'_>, offset: &str) -> String {
        let blame = self.blame("    return ", blame, offset);
        format!("if ({condition}) {{\n{blame};\n}}\n")
    }

    /// The names of all that a fault can blame, and the sentence.
    pub(super) fn sentences(&self) -> String {
        let places = || self.places.all.iter();
        let constant = |name: String| self.names.upper(&name);
        let tables = [
            self.lookup(
                "The name of a kind of fault.",
                ("fault_kind_name", "int kind"),
                KINDS.iter().map(|kind| (self.kind(*kind), string(kind.name()))),
            ),
            self.lookup(
                "",
                ("fault_says_", "int kind"),
                KINDS.iter().map(|kind| (self.kind(*kind), string(kind.says()))),
            ),
            self.lookup(
                "The name of what is at fault, as it stands in the registry.",
                ("layout_name", "uint32_t layout"),
                places().map(|place| (constant(places::place(&place.name)), string(&place.name))),
            ),
            self.field_names(),
            self.lookup(
                "The id of a rule in the specification.",
                ("rule_id", "uint32_t rule"),
                self.places.rules.iter().map(|rule| (constant(places::rule(&rule.id)), string(&rule.id))),
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
        let (docs, cold) = (doc([docs]), self.names.upper("COLD"));
        format!(
            "{docs}{cold} const char *{name}({parameter})\n{{\n    switch ({number}) {{\n{cases}    }}\n}}\n"
        )
    }

    /// The function that names fields, which asks one of each layout.
    fn field_names(&self) -> String {
        let mut out = String::new();
        let mut all = Vec::new();
        for place in self.places.all.iter().filter(|place| !place.fields.is_empty()) {
            let name = format!("{}_field_name", place.name);
            let fields = place
                .fields
                .iter()
                .map(|field| (self.names.upper(&places::field(&place.name, field)), string(field)));
            let docs = format!("The name of a field of `{}` in the registry.", place.name);
            out.push_str(&self.lookup(&docs, (&name, "uint32_t field"), fields));
            out.push('\n');
            let constant = self.names.upper(&places::place(&place.name));
            all.push((constant, format!("{}(field)", self.names.lower(&name))));
        }
        let docs = "The name of a field of a layout in the registry.";
        let all = self.lookup(docs, ("field_name", "uint32_t layout, uint32_t field"), all.into_iter());
        out + &all.replace("switch (field)", "switch (layout)")
    }
}
