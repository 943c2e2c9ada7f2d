//! Messages and the segments of their bodies.

use super::{Resolve, every, text};
use crate::check::fields::Fields;
use crate::model::{Case, Direction, Message, Segment};
use crate::report::Diagnostic;
use crate::source::Spanned;
use crate::syntax::{self, NameOrNumber};

impl Resolve<'_> {
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
                let layout = &self.registry.layouts[layout];
                !layout.complete || layout.fields.iter().any(|field| field.name.value == name)
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
}
