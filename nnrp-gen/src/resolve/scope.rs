//! Rules of messages, and those that their scopes bring.

use super::{Resolve, every, text};
use crate::check::fields::Fields;
use crate::model::Rule;
use crate::report::Diagnostic;
use crate::rule::{self, FieldRef, Names, Space, Truth};
use crate::source::Spanned;
use crate::syntax::{self, Text};

impl Resolve<'_> {
    /// What the scope of a message demands, as rules.
    pub(super) fn scope(&mut self, item: &syntax::Message, names: &Fields<'_>) -> Option<Vec<Rule>> {
        let scope_of = |name: &Text| {
            self.index.scopes.get(name.as_str()).map(|&position| &self.registry.scopes[position])
        };
        if let [name] = item.scope.as_slice()
            && let Some(scope) = scope_of(name)
        {
            return self.scope_rules(scope, names);
        }
        const WORDS: [&str; 3] = ["connection", "session", "operation"];
        for name in &item.scope {
            if !WORDS.contains(&name.as_str()) {
                let known = WORDS.into_iter().chain(self.index.scopes.keys().map(String::as_str));
                self.unknown(name, "scope", known.collect::<Vec<_>>());
                return None;
            }
        }
        let syntax::ScopeField { field: name, id } = self.scope_field()?;
        let Some(field) = names.named(Space::Header, name.as_str()) else { return Some(Vec::new()) };
        let connection = item.scope.iter().any(|name| name.value == "connection");
        let (operator, doc) = match (connection, item.scope.len()) {
            (_, 0) => return Some(Vec::new()),
            (true, 1) => ("==", "A message of connection scope names no session."),
            (true, _) => return Some(Vec::new()),
            (false, _) => ("!=", "A message of a session carries its session."),
        };
        let require = format!("header.{} {operator} 0", name.value);
        let truth = rule::truth(&rule::parse(&require).ok()?, names).ok()?;
        Some(vec![Rule {
            id: id.value.clone(),
            when: None,
            require: truth,
            text: (None, require),
            blame: field,
            error: self.default_body_error(),
            doc: doc.to_owned(),
        }])
    }

    /// The header field that scopes speak of, and their rule: NNRP's where the registry names none.
    fn scope_field(&self) -> Option<syntax::ScopeField> {
        let protocol = self.registry.protocols.first()?;
        let usual = |text: &str| Spanned { value: text.to_owned(), span: protocol.span };
        let usual = || syntax::ScopeField { field: usual("session_id"), id: usual("F5") };
        Some(protocol.scope.clone().unwrap_or_else(usual))
    }

    /// Scope faults blame the header, but are faults of the message.
    pub(super) fn default_body_error(&self) -> Option<String> {
        let errors = self.registry.protocols.first()?.errors.as_ref()?;
        Some(errors.body.value.clone())
    }

    fn scope_rules(&mut self, scope: &syntax::Scope, names: &Fields<'_>) -> Option<Vec<Rule>> {
        let syntax::ScopeField { field: name, id } = self.scope_field()?;
        let mut rows: Vec<(Option<Text>, Text)> = Vec::new();
        if let Some(field) = &scope.field {
            for row in &scope.values {
                let when = format!("{} == {}", field.value, row.value.value);
                rows.push((Some(Spanned::new(when, row.value.span)), row.require.clone()));
            }
        }
        for row in &scope.cases {
            rows.push((row.when.clone(), row.require.clone()));
        }
        let read = every(&rows, |(when, require)| {
            let when = when.as_ref().map(|when| self.condition(when, names));
            let truth = self.condition(require, names);
            Some((when.map_or(Some(None), |when| when.map(Some))?, truth?))
        })?;
        let mut earlier: Vec<Truth> = Vec::new();
        let mut rules = Vec::new();
        for ((when, require), (this, truth)) in rows.into_iter().zip(read) {
            let blame = rule::first_field(&truth)
                .or_else(|| names.named(Space::Header, name.as_str()))
                .unwrap_or(FieldRef { space: Space::Header, index: 0 });
            // Values of a field exclude one another by themselves; cases are tried in order.
            let mut conditions: Vec<Truth> = match scope.field {
                Some(_) => Vec::new(),
                None => earlier.iter().map(|truth| Truth::Not(Box::new(truth.clone()))).collect(),
            };
            conditions.extend(this.clone());
            earlier.extend(this);
            let condition = match conditions.len() {
                0 => None,
                1 => conditions.pop(),
                _ => Some(Truth::And(conditions)),
            };
            rules.push(Rule {
                id: id.value.clone(),
                when: condition,
                require: truth,
                text: (when.map(|when| when.value), require.value.clone()),
                blame,
                error: self.default_body_error(),
                doc: format!("The header's {} fits the scope that the message names.", name.value),
            });
        }
        Some(rules)
    }

    pub(crate) fn rule(&mut self, item: &syntax::Rule, names: &Fields<'_>) -> Option<Rule> {
        let when = match &item.when {
            Some(when) => Some(self.condition(when, names)?),
            None => None,
        };
        let require = self.condition(&item.require, names)?;
        let blame = match &item.field {
            Some(name) => {
                let found = match name.value.strip_prefix("header.") {
                    Some(name) => names.named(Space::Header, name),
                    None => names.named(Space::Own, name.as_str()),
                };
                // It may be in a row that could not be read.
                if found.is_none() && names.is_complete() {
                    let known = names.candidates();
                    self.unknown(name, "field", known.iter().map(String::as_str));
                }
                found?
            }
            None => {
                let first = rule::first_field(&require).or_else(|| rule::first_field(when.as_ref()?));
                if first.is_none() {
                    self.report.add(
                        Diagnostic::error(
                            item.require.span,
                            "this rule reads no field, so a fault has nothing to blame",
                        )
                        .help("name one with `field = \"…\"`"),
                    );
                }
                first?
            }
        };
        Some(Rule {
            id: item.id.value.clone(),
            when,
            require,
            text: (item.when.as_ref().map(|when| when.value.clone()), item.require.value.clone()),
            blame,
            error: item.error.as_ref().map(|error| error.value.clone()),
            doc: text(item.doc.as_ref()),
        })
    }
}
