//! Messages, bodies and entries: what they name, found in the registry.
//!
//! The checks run this for its problems, the model is made of what it gives.

use crate::check::Index;
use crate::check::fields::{Fields, parse};
use crate::model::*;
use crate::report::{Diagnostic, Report};
use crate::rule::{self, FieldRef, Names, Space, Truth};
use crate::source::{Sources, Spanned};
use crate::suggest::did_you_mean;
use crate::syntax::{self, NameOrNumber, Text};

/// The rule that every scope carries.
const SCOPE_RULE: &str = "F5";

/// The header field that a scope speaks of.
const SCOPE_FIELD: &str = "session_id";

/// Looks names up and reports those that lead nowhere.
pub(crate) struct Resolve<'a> {
    pub(crate) registry: &'a syntax::Registry,
    pub(crate) index: &'a Index,
    pub(crate) sources: &'a Sources,
    pub(crate) report: &'a mut Report,
}

pub(crate) fn text(text: Option<&Text>) -> String {
    text.map(|text| text.value.clone()).unwrap_or_default()
}

/// What `one` makes of each, all of them tried even where one fails.
fn every<T, U>(list: &[T], mut one: impl FnMut(&T) -> Option<U>) -> Option<Vec<U>> {
    let made: Vec<Option<U>> = list.iter().map(&mut one).collect();
    made.into_iter().collect()
}

impl<'a> Resolve<'a> {
    fn unknown<'n>(&mut self, name: &Text, what: &str, known: impl IntoIterator<Item = &'n str>) {
        if self.registry.unread.iter().any(|kind| what.split([' ', ',']).any(|word| word == *kind)) {
            return;
        }
        self.report.add(
            Diagnostic::error(name.span, format!("no {what} is called `{}`", name.value))
                .label("not found in the registry")
                .maybe_help(did_you_mean(name.as_str(), known)),
        );
    }

    fn layout(&mut self, name: &Text) -> Option<usize> {
        let found = self.index.layouts.get(name.as_str()).copied();
        if found.is_none() {
            self.unknown(name, "layout", self.index.layouts.keys().map(String::as_str));
        }
        found
    }

    /// A field by name, reported where it is not there.
    fn field(&mut self, layout: usize, name: &Text) -> Option<usize> {
        let item = &self.registry.layouts[layout];
        let found = item.fields.iter().position(|field| field.name.value == name.value);
        if found.is_none() {
            let what = format!("field of `{}`", item.name.value);
            self.unknown(name, &what, item.fields.iter().map(|field| field.name.as_str()));
        }
        found
    }

    /// A field that is an unsigned integer with a value.
    fn number_field(&mut self, layout: usize, name: &Text) -> Option<usize> {
        let position = self.field(layout, name)?;
        let field = &self.registry.layouts[layout].fields[position];
        let good = matches!(&field.ty.value, syntax::Type { element: syntax::Element::Scalar(scalar), count: None } if scalar.is_unsigned())
            && field.reserved.is_none()
            && field.constant.is_none();
        if !good {
            self.report.add(
                Diagnostic::error(name.span, format!("`{}` is no unsigned integer with a value", name.value))
                    .related(field.span, "the field"),
            );
            return None;
        }
        Some(position)
    }

    /// A metadata field of a message.
    fn metadata_field(&mut self, metadata: Option<usize>, name: &Text) -> Option<usize> {
        let Some(layout) = metadata else {
            self.report.add(
                Diagnostic::error(
                    name.span,
                    format!("`{}` names a metadata field, and the message has no metadata", name.value),
                )
                .help("add `metadata = \"…\"` to the message"),
            );
            return None;
        };
        let stripped = Spanned::new(name.value.trim_start_matches("metadata.").to_owned(), name.span);
        self.number_field(layout, &stripped)
    }

    /// `field.bit`.
    fn bit(&mut self, layout: usize, path: &Text) -> Option<(usize, u64)> {
        let Some((field, bit)) = path.value.split_once('.') else {
            self.report.add(
                Diagnostic::error(path.span, format!("`{}` is no bit", path.value)).help("write `field.bit`"),
            );
            return None;
        };
        let position = self.field(layout, &Spanned::new(field.to_owned(), path.span))?;
        let row = &self.registry.layouts[layout].fields[position];
        let mask = row.bitmask.as_ref().and_then(|name| self.index.bitmasks.get(name.as_str()));
        let bits: &[syntax::Bit] = mask.map_or(&[], |&mask| &self.registry.bitmasks[mask].bits);
        let found = bits.iter().find(|row| row.name.value == bit);
        let Some(found) = found else {
            let what = format!("bit of `{field}`");
            let names: Vec<_> = bits.iter().map(|row| row.name.as_str()).collect();
            self.unknown(&Spanned::new(bit.to_owned(), path.span), &what, names);
            return None;
        };
        Some((position, 1u64.checked_shl(u32::try_from(found.bit.value).ok()?)?))
    }

    /// The enum of a field.
    fn enum_of(&self, layout: usize, field: usize) -> Option<&'a syntax::Enum> {
        let name = self.registry.layouts[layout].fields[field].enumeration.as_ref()?;
        self.index.enums.get(name.as_str()).map(|&position| &self.registry.enums[position])
    }

    /// A value of a field's enum by name.
    fn value(&mut self, layout: usize, field: usize, name: &Text) -> Option<u64> {
        let Some(item) = self.enum_of(layout, field) else {
            let field = &self.registry.layouts[layout].fields[field].name.value;
            self.report.add(Diagnostic::error(
                name.span,
                format!("`{}` is named as a value of `{field}`, which has no enum", name.value),
            ));
            return None;
        };
        let found = item.values.iter().find(|row| row.name.value == name.value);
        if found.is_none() {
            let what = format!("value of `{}`", item.name.value);
            self.unknown(name, &what, item.values.iter().map(|row| row.name.as_str()));
        }
        u64::try_from(found?.value.value).ok()
    }

    fn code(&mut self, name: Option<&Text>) -> Option<u64> {
        let errors = self.registry.protocols.first()?.errors.as_ref()?;
        let codes = &self.registry.enums[*self.index.enums.get(errors.enumeration.as_str())?];
        let name = name?;
        let found = codes.values.iter().find(|row| row.name.value == name.value)?;
        u64::try_from(found.value.value).ok()
    }

    /// What `of` names.
    fn content(&mut self, of: Option<&Text>) -> Option<Content> {
        let Some(name) = of else { return Some(Content::Opaque) };
        let index = self.index;
        let found = None
            .or_else(|| index.entries.get(name.as_str()).map(|&position| Content::Entry(position)))
            .or_else(|| index.bodies.get(name.as_str()).map(|&position| Content::Body(position)))
            .or_else(|| index.vocabularies.get(name.as_str()).map(|&position| Content::Vocabulary(position)))
            .or_else(|| index.layouts.get(name.as_str()).map(|&position| Content::Layout(position)));
        if found.is_none() {
            let known = index.entries.keys().chain(index.bodies.keys());
            let known = known.chain(index.vocabularies.keys()).chain(index.layouts.keys());
            self.unknown(name, "entry, body, vocabulary or layout", known.map(String::as_str));
        }
        found
    }

    pub(crate) fn entry(&mut self, item: &syntax::Entry) -> Option<Entry> {
        let header = self.layout(&item.header)?;
        let payload = self.number_field(header, &item.payload);
        let align = match &item.align {
            None => Some(1),
            Some(align) => {
                let good =
                    u32::try_from(align.value).ok().filter(|align| align.is_power_of_two() && *align <= 4096);
                if good.is_none() {
                    self.report.add(
                        Diagnostic::error(align.span, format!("entries cannot align to {}", align.value))
                            .label("a power of two up to 4096"),
                    );
                }
                good
            }
        };
        let unique = match &item.unique {
            None => None,
            Some(name) => {
                let field = self.number_field(header, name)?;
                let wide = matches!(&self.registry.layouts[header].fields[field].ty.value.element, syntax::Element::Scalar(scalar) if scalar.size() > 2);
                if wide {
                    self.report.add(
                        Diagnostic::error(name.span, format!("`{}` is too wide to be unique", name.value))
                            .label("a u8 or a u16")
                            .help("so that a reader needs no memory of its own to tell"),
                    );
                }
                Some(field)
            }
        };
        let select = self.select(header, item.select.as_ref(), item.critical.as_ref(), item.error.as_ref());
        Some(Entry {
            name: item.name.value.clone(),
            header,
            payload: payload?,
            align: align?,
            select: select?,
            unique,
            id: text(item.id.as_ref()),
            source: text(item.source.as_ref()),
            doc: text(item.doc.as_ref()),
        })
    }

    /// What payloads the rows of a layout announce. The outer option is for problems.
    fn select(
        &mut self,
        layout: usize,
        select: Option<&Text>,
        critical: Option<&Text>,
        error: Option<&Text>,
    ) -> Option<Option<Select>> {
        let Some(select) = select else { return Some(None) };
        let field = self.number_field(layout, select)?;
        let critical = match critical {
            Some(path) => Some(self.bit(layout, path)?),
            None => None,
        };
        let code = self.code(error);
        let mut choices = Vec::new();
        for row in self.enum_of(layout, field).map_or(&[][..], |item| &item.values) {
            let Some(name) = &row.layout else { continue };
            let payload = self.layout(name)?;
            let mut messages = Vec::new();
            for name in &row.messages {
                match self.index.messages.get(name.as_str()) {
                    Some(&position) => messages.push(position),
                    None => self.unknown(name, "message", self.index.messages.keys().map(String::as_str)),
                }
            }
            let require = match &row.require {
                None => None,
                Some(condition) => {
                    let rows = &self.registry.layouts[layout];
                    let names = Fields::of_layout(self.registry, self.index, rows);
                    let truth = self.condition(condition, &names)?;
                    let blame = rule::first_field(&truth).map_or(field, |blame| blame.index);
                    Some((truth, blame))
                }
            };
            choices.push(Choice {
                value: u64::try_from(row.value.value).ok()?,
                name: row.name.value.clone(),
                layout: payload,
                messages,
                refuse_critical: row.refuse_critical.is_some(),
                once: row.once.is_some(),
                require,
                id: text(row.id.as_ref()),
                doc: text(row.doc.as_ref()),
            });
        }
        Some(Some(Select { field, critical, code, choices }))
    }

    fn condition(&mut self, text: &Text, names: &dyn Names) -> Option<Truth> {
        match parse(text, names, self.sources) {
            Ok(truth) => Some(truth),
            Err(problems) => {
                problems.into_iter().for_each(|problem| self.report.add(problem));
                None
            }
        }
    }

    pub(crate) fn body(&mut self, item: &syntax::Body) -> Option<Body> {
        let prelude = self.layout(&item.prelude)?;
        Some(Body {
            name: item.name.value.clone(),
            prelude,
            optional: item.optional,
            parts: every(&item.parts, |row| self.part(item, row, prelude))?,
            source: text(item.source.as_ref()),
            doc: text(item.doc.as_ref()),
        })
    }

    fn part(&mut self, body: &syntax::Body, item: &syntax::Part, prelude: usize) -> Option<Part> {
        let length = self.number_field(prelude, &item.length);
        let content = self.content(item.of.as_ref())?;
        if matches!(content, Content::Body(_) | Content::Vocabulary(_)) {
            let span = item.of.as_ref().map_or(item.span, |of| of.span);
            self.report.add(
                Diagnostic::error(span, "a part holds layouts or entries")
                    .help("bodies and vocabularies are for segments"),
            );
            return None;
        }
        let count = match &item.count {
            None => None,
            Some(path) => {
                if !matches!(content, Content::Layout(_)) {
                    self.report.add(
                        Diagnostic::error(path.span, "`count` counts layouts")
                            .help("name the layout with `of`"),
                    );
                    return None;
                }
                Some(match path.value.strip_prefix("metadata.") {
                    Some(name) => Count::Metadata(name.to_owned()),
                    None => Count::Prelude(self.number_field(prelude, path)?),
                })
            }
        };
        let slices = match &item.slices {
            Some(slices) => Some(self.slices(body, item, slices)?),
            None => None,
        };
        let leading = match &item.leading {
            Some((layout, count)) => Some((self.layout(layout)?, self.number_field(prelude, count)?)),
            None => None,
        };
        Some(Part {
            id: text(item.id.as_ref()),
            name: item.name.value.clone(),
            length: length?,
            content,
            count,
            slices,
            leading,
            doc: text(item.doc.as_ref()),
        })
    }

    fn slices(&mut self, body: &syntax::Body, part: &syntax::Part, item: &syntax::Slices) -> Option<Slices> {
        let earlier = body.parts.iter().take_while(|row| row.name.value != part.name.value);
        let names: Vec<&str> = earlier.clone().map(|row| row.name.as_str()).collect();
        let Some(rows) = names.iter().position(|name| *name == item.rows.value) else {
            self.unknown(&item.rows, "earlier part", names);
            return None;
        };
        let Some(Content::Layout(layout)) = self.content(body.parts[rows].of.as_ref()) else {
            self.report.add(Diagnostic::error(
                item.rows.span,
                format!("`{}` does not hold a layout whose rows could slice", item.rows.value),
            ));
            return None;
        };
        Some(Slices {
            rows,
            layout,
            offset: self.number_field(layout, &item.offset)?,
            size: self.number_field(layout, &item.size)?,
            select: self.select(layout, item.select.as_ref(), item.critical.as_ref(), item.error.as_ref())?,
        })
    }

    pub(crate) fn message(&mut self, item: &syntax::Message) -> Option<Message> {
        let metadata = match &item.metadata {
            Some(name) => Some(self.layout(name)?),
            None => None,
        };
        for row in item.body.iter().rev().skip(1).filter(|row| row.length.value == "rest") {
            self.report.add(
                Diagnostic::error(row.length.span, "`rest` leaves nothing for the segments behind it")
                    .help("only the last segment can take the rest"),
            );
        }
        // Each step goes on where an earlier one failed, so that all problems are found at once.
        let segments = every(&item.body, |row| self.segment(row, metadata));
        let names = Fields::of_message(self.registry, self.index, item);
        let scope_rules = self.scope(item, &names);
        let rules = every(&item.rules, |row| self.rule(row, &names));
        let of = item.body.iter().filter_map(|row| row.of.as_ref());
        let body = of.filter_map(|of| self.index.bodies.get(of.as_str())).next().copied();
        let slots = every(&item.slots, |row| self.slots(row, metadata, body));
        if let Some(again) = item.slots.get(1) {
            self.report
                .add(Diagnostic::error(again.span, "a second row of `slots`").help("one row says it all"));
        }
        let sorted = every(&item.sorted, |row| self.sorted(row, body));
        let sizes = every(&item.sizes, |row| self.size(row, metadata, body));
        let tensor = every(item.tensor.as_slice(), |row| self.tensor(row, metadata, body));
        self.counts_found(item, metadata, body)?;
        let mut rules = rules?;
        for rule in &mut rules {
            // Even one that blames the header is a fault of the message.
            rule.error = rule.error.take().or_else(|| self.default_body_error());
        }
        Some(Message {
            value: u64::try_from(item.value.value).ok()?,
            name: item.name.value.clone(),
            metadata,
            scope: item.scope.iter().map(|name| name.value.clone()).collect(),
            direction: item.direction.as_ref().map_or(Direction::Both, |direction| direction.value),
            segments: segments?,
            scope_rules: scope_rules?,
            rules,
            slots: slots?.pop(),
            sorted: sorted?,
            sizes: sizes?,
            tensor: tensor?.pop(),
            source: text(item.source.as_ref()),
            doc: text(item.doc.as_ref()),
        })
    }

    /// The metadata fields that count the parts of the body that the message uses.
    fn counts_found(
        &mut self,
        item: &syntax::Message,
        metadata: Option<usize>,
        body: Option<usize>,
    ) -> Option<()> {
        let Some(body) = body else { return Some(()) };
        for part in &self.registry.bodies[body].parts {
            let Some(count) = part.count.as_ref().filter(|count| count.value.starts_with("metadata.")) else {
                continue;
            };
            let name = count.value.trim_start_matches("metadata.");
            let known = metadata.is_some_and(|layout| {
                self.registry.layouts[layout].fields.iter().any(|field| field.name.value == name)
            });
            if !known {
                let message = format!(
                    "`{}` counts a part of its body by `{}`, which its metadata does not have",
                    item.name.value, count.value
                );
                self.report.add(Diagnostic::error(item.name.span, message).related(count.span, "the count"));
                return None;
            }
            self.metadata_field(metadata, count)?;
        }
        Some(())
    }

    fn segment(&mut self, item: &syntax::Segment, metadata: Option<usize>) -> Option<Segment> {
        let length = match item.length.as_str() {
            "rest" => Some(None),
            _ => self.metadata_field(metadata, &item.length).map(Some),
        };
        let content = self.content(item.of.as_ref());
        let count = match &item.count {
            Some(name) => Some(self.metadata_field(metadata, name)?),
            None => None,
        };
        let select = match &item.select {
            Some(name) => Some(self.metadata_field(metadata, name)?),
            None => None,
        };
        let mut cases = Vec::new();
        for case in &item.cases {
            let value = match (&case.value.value, select, metadata) {
                (NameOrNumber::Number(number), ..) => u64::try_from(*number).ok()?,
                (NameOrNumber::Name(name), Some(field), Some(layout)) => {
                    self.value(layout, field, &Spanned::new(name.clone(), case.value.span))?
                }
                (NameOrNumber::Name(_), ..) => {
                    self.report.add(
                        Diagnostic::error(case.value.span, "a case without a field that selects it")
                            .help("add `select = \"…\"` to the segment"),
                    );
                    return None;
                }
            };
            let content = self.content(Some(&case.of))?;
            cases.push(Case { value, content, id: text(case.id.as_ref()) });
        }
        Some(Segment {
            name: item.name.value.clone(),
            length: length?,
            content: content?,
            count,
            select,
            cases,
            id: text(item.id.as_ref()),
            doc: text(item.doc.as_ref()),
        })
    }

    /// What the scope of a message demands, as rules.
    fn scope(&mut self, item: &syntax::Message, names: &Fields<'_>) -> Option<Vec<Rule>> {
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
        let Some(field) = names.named(Space::Header, SCOPE_FIELD) else { return Some(Vec::new()) };
        let connection = item.scope.iter().any(|name| name.value == "connection");
        let (operator, doc) = match (connection, item.scope.len()) {
            (_, 0) => return Some(Vec::new()),
            (true, 1) => ("==", "A message of connection scope names no session."),
            (true, _) => return Some(Vec::new()),
            (false, _) => ("!=", "A message of a session carries its session."),
        };
        let require = format!("header.{SCOPE_FIELD} {operator} 0");
        let truth = rule::truth(&rule::parse(&require).ok()?, names).ok()?;
        Some(vec![Rule {
            id: SCOPE_RULE.to_owned(),
            when: None,
            require: truth,
            text: (None, require),
            blame: field,
            error: self.default_body_error(),
            doc: doc.to_owned(),
        }])
    }

    /// Scope faults blame the header, but are faults of the message.
    fn default_body_error(&self) -> Option<String> {
        let errors = self.registry.protocols.first()?.errors.as_ref()?;
        Some(errors.body.value.clone())
    }

    fn scope_rules(&mut self, scope: &syntax::Scope, names: &Fields<'_>) -> Option<Vec<Rule>> {
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
                .or_else(|| names.named(Space::Header, SCOPE_FIELD))
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
                id: SCOPE_RULE.to_owned(),
                when: condition,
                require: truth,
                text: (when.map(|when| when.value), require.value.clone()),
                blame,
                error: self.default_body_error(),
                doc: format!("The header's {SCOPE_FIELD} fits the scope that the message names."),
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
                if found.is_none() {
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

    /// A part of the message's body by name.
    fn part_of(&mut self, body: Option<usize>, name: &Text) -> Option<usize> {
        let Some(body) = body else {
            self.report.add(Diagnostic::error(
                name.span,
                format!("`{}` is a part, and the message has no body of parts", name.value),
            ));
            return None;
        };
        let parts = &self.registry.bodies[body].parts;
        let found = parts.iter().position(|part| part.name.value == name.value);
        if found.is_none() {
            self.unknown(name, "part of its body", parts.iter().map(|part| part.name.as_str()));
        }
        found
    }

    /// The layout whose fields a part's rows or entry headers have.
    fn row_layout(&mut self, body: Option<usize>, part: usize, name: &Text) -> Option<usize> {
        let of = self.registry.bodies[body?].parts[part].of.as_ref();
        match self.content(of)? {
            Content::Layout(layout) => Some(layout),
            Content::Entry(entry) => {
                let header = self.registry.entries[entry].header.clone();
                self.layout(&header)
            }
            _ => {
                self.report.add(Diagnostic::error(name.span, format!("`{}` has no rows", name.value)));
                None
            }
        }
    }

    fn slots(&mut self, item: &syntax::Slots, metadata: Option<usize>, body: Option<usize>) -> Option<Slots> {
        let mask = self.metadata_field(metadata, &item.mask)?;
        let references = self.part_of(body, &item.references)?;
        let inline = self.part_of(body, &item.inline)?;
        let reference_layout = self.row_layout(body, references, &item.references)?;
        let inline_layout = self.row_layout(body, inline, &item.inline)?;
        let reference_key = self.number_field(reference_layout, &item.key)?;
        let inline_key = self.number_field(inline_layout, &item.key)?;
        let mut order = Vec::new();
        for name in &item.order {
            let kind = self.value(reference_layout, reference_key, name)?;
            let path = Spanned::new(format!("{}.{}", item.mask.value, name.value), name.span);
            let (_, bit) = self.bit(metadata?, &path)?;
            order.push((kind, bit));
        }
        let mode = match &item.mode {
            None => None,
            Some(name) => {
                let field = self.metadata_field(metadata, name)?;
                let mut value =
                    |word: &str| self.value(metadata?, field, &Spanned::new(word.to_owned(), name.span));
                Some((field, value("reference")?, value("mixed")?))
            }
        };
        Some(Slots {
            id: item.id.value.clone(),
            mask,
            references: (references, reference_key),
            inline: (inline, inline_key),
            order,
            mode,
        })
    }

    fn sorted(&mut self, item: &syntax::Sorted, body: Option<usize>) -> Option<Sorted> {
        let part = self.part_of(body, &item.part)?;
        let layout = self.row_layout(body, part, &item.part)?;
        let by = item.by.iter().map(|name| self.number_field(layout, name)).collect::<Option<Vec<_>>>()?;
        Some(Sorted { id: item.id.value.clone(), part, by, strict: item.strict })
    }

    /// The part of the body whose entries say by an enum what they are.
    fn object_part(&mut self, body: Option<usize>, at: &Text) -> Option<(usize, usize, usize)> {
        let parts = body.map_or(&[][..], |body| &self.registry.bodies[body].parts);
        for (position, part) in parts.iter().enumerate() {
            let entry = part.of.as_ref().and_then(|of| self.index.entries.get(of.as_str()));
            let Some(&entry) = entry else { continue };
            let entry = &self.registry.entries[entry];
            let Some(select) = &entry.select else { continue };
            let header = self.layout(&entry.header)?;
            let field = self.field(header, select)?;
            return Some((position, header, field));
        }
        self.report.add(Diagnostic::error(at.span, "the message's body has no part with objects"));
        None
    }

    fn size(
        &mut self,
        item: &syntax::Size,
        metadata: Option<usize>,
        body: Option<usize>,
    ) -> Option<ObjectSize> {
        let field = self.metadata_field(metadata, &item.field)?;
        let (part, layout, select) = self.object_part(body, &item.kind)?;
        let kind = self.value(layout, select, &item.kind)?;
        Some(ObjectSize { id: item.id.value.clone(), part, kind, field })
    }

    fn tensor(
        &mut self,
        item: &syntax::Tensor,
        metadata: Option<usize>,
        body: Option<usize>,
    ) -> Option<Tensor> {
        let name = |key: &str| {
            item.names.iter().find(|(known, _)| known.value == key).map(|(_, value)| value.clone())
        };
        let mut need = |key: &str| {
            let found = name(key);
            if found.is_none() {
                self.report.add(
                    Diagnostic::error(item.span, format!("a tensor without `{key}`"))
                        .label(format!("`{key}` is missing")),
                );
            }
            found
        };
        let (id, section_table, tile_index) = (need("id")?, need("section_table")?, need("tile_index")?);
        let (section_count, tile_count, base) = (need("section_count")?, need("tile_count")?, need("base")?);
        let (part, layout, select) = self.object_part(body, &section_table)?;
        Some(Tensor {
            id: id.value,
            part,
            section_table: self.value(layout, select, &section_table)?,
            tile_index: self.value(layout, select, &tile_index)?,
            section_count: self.metadata_field(metadata, &section_count)?,
            tile_count: self.metadata_field(metadata, &tile_count)?,
            base: self.metadata_field(metadata, &base)?,
            mode: match name("mode") {
                Some(mode) => Some(self.metadata_field(metadata, &mode)?),
                None => None,
            },
        })
    }

    pub(crate) fn vocabulary(&mut self, item: &syntax::Vocabulary) -> Option<Vocabulary> {
        let mut words: Vec<(String, String)> = Vec::new();
        for row in &item.words {
            let word = &row.word.value;
            let good = |letter: char| {
                letter.is_ascii_lowercase() || letter.is_ascii_digit() || "._-".contains(letter)
            };
            if word.is_empty() || !word.chars().all(good) {
                self.report.add(
                    Diagnostic::error(row.word.span, format!("`{word}` is no word"))
                        .label("lower-case letters, digits, `.`, `_` and `-`"),
                );
            }
            words.push((word.clone(), text(row.doc.as_ref())));
        }
        words.sort();
        Some(Vocabulary {
            name: item.name.value.clone(),
            length_type: item.length_type.value,
            words,
            id: text(item.id.as_ref()),
            source: text(item.source.as_ref()),
            doc: text(item.doc.as_ref()),
        })
    }
}
