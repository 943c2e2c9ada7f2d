//! The segments of messages, and the check of a whole message.

use crate::model::{Body, Content, Field, Layout, Message, Rule, Segment};
use crate::rule::{FieldRef, Presence, Space, Truth};
use crate::wire::FaultKind;

use super::faults::Blame;
use super::rules::Reach;
use super::text::{Columns, cite, condition, doc, function, indent};
use super::{C, names};

/// A message being emitted, with the names that recur.
pub(super) struct Emit<'a> {
    pub(super) c: &'a C<'a>,
    pub(super) position: usize,
    pub(super) message: &'a Message,
    pub(super) header: &'a Layout,
    pub(super) metadata: Option<&'a Layout>,
    pub(super) lower: String,
}

/// What ends a check.
const STOP: &str = "if (kind != 0) {\n    return kind;\n}\n";

impl<'a> C<'a> {
    /// The struct of a message's segments, how to get them, and its check.
    pub(super) fn message(&'a self, position: usize, header: &'a Layout) -> String {
        let emit = self.emit(position, header);
        let parts = [emit.structure(), emit.cut(), emit.presences(), emit.tensor_functions(), emit.check()];
        parts.iter().filter(|part| !part.is_empty()).map(String::as_str).collect::<Vec<_>>().join("\n")
    }

    /// A message, to be emitted.
    pub(super) fn emit(&'a self, position: usize, header: &'a Layout) -> Emit<'a> {
        let message = &self.registry.messages[position];
        let metadata = message.metadata.map(|layout| &self.registry.layouts[layout]);
        Emit { c: self, position, message, header, metadata, lower: self.names.lower(&message.name) }
    }

    /// The function that checks all rows of a layout.
    pub(super) fn rows(&self, layout: &Layout) -> String {
        let x = self.names.lower(&layout.name);
        self.names.define(&format!("{x}_all_"), &format!("layout `{}`", layout.name));
        let (bytes, fault) = (self.names.lower("bytes"), format!("{} *", self.names.lower("fault")));
        let body = format!(
            "{bytes} row;\n\nwhile ({next}(&rows, {X}_SIZE, &row)) {{\n    const int kind = {x}_check_at_(row.data, row.size, {offset}(start, row.data), fault);\n\n{stop}}}\nreturn 0;\n",
            next = self.names.lower("next_row"),
            X = self.names.upper(&layout.name),
            offset = self.names.lower("offset_"),
            stop = indent(STOP, 4),
        );
        let parameters = [(bytes.as_str(), "rows"), ("const uint8_t *", "start"), (fault.as_str(), "fault")];
        format!(
            "/* Checks each `{}` of several. */\n{}",
            layout.name,
            function("", &format!("int {x}_all_"), &parameters, &body)
        )
    }
}

impl Emit<'_> {
    fn packet(&self) -> String {
        format!("const struct {} *", self.c.names.lower("packet"))
    }

    fn fault(&self) -> String {
        format!("{} *", self.c.names.lower("fault"))
    }

    /// Where the metadata begins, counted from the start of the packet.
    fn behind_header(&self, offset: u32) -> String {
        format!("{}", self.header.size + offset)
    }

    /// The statement that refuses where a condition holds, and blames a metadata field.
    pub(super) fn refuse(&self, condition: &str, field: usize, kind: FaultKind, id: &str) -> String {
        let Some(layout) = self.metadata else { return String::new() };
        let field = &layout.fields[field];
        let blame = Blame::new(kind, &layout.name, &field.name, id);
        self.c.refuse(condition, &blame, &self.behind_header(field.offset))
    }

    /// A metadata field as a number.
    pub(super) fn number(&self, field: usize) -> String {
        self.metadata.map_or("0".to_owned(), |layout| self.c.number(layout, field, "metadata"))
    }

    fn structure(&self) -> String {
        let Message { name, segments, .. } = self.message;
        if segments.is_empty() {
            return String::new();
        }
        let what = format!("body of message `{name}`");
        self.c.names.define(&format!("{}_body", self.lower), &what);
        self.c.names.define_members(&what, segments.iter().map(|segment| segment.name.as_str()));
        let mut members = Columns::default();
        for segment in segments {
            members.row(
                [self.c.names.lower("bytes"), format!("{};", names::member(&segment.name))],
                &self.note(segment),
            );
        }
        let docs = doc([
            format!("The segments of the body of `{name}`. {}", self.message.doc),
            cite(&self.message.source),
        ]);
        format!("{docs}struct {}_body {{\n{}}};\n", self.lower, indent(&members.text(), 4))
    }

    fn note(&self, segment: &Segment) -> String {
        let registry = self.c.registry;
        let name = match segment.content {
            Content::Opaque => None,
            Content::Layout(layout) => Some(&registry.layouts[layout].name),
            Content::Entry(entry) => Some(&registry.entries[entry].name),
            Content::Body(body) => Some(&registry.bodies[body].name),
            Content::Vocabulary(words) => Some(&registry.vocabularies[words].name),
        };
        let holds = match (name, segment.content) {
            (None, _) => "Bytes.".to_owned(),
            (Some(name), Content::Body(_)) => format!("A `{name}`."),
            (Some(name), Content::Vocabulary(_)) => format!("Words of `{name}`."),
            (Some(name), _) => format!("`{name}`, one behind the other."),
        };
        let text = if segment.doc.is_empty() { holds } else { format!("{} {holds}", segment.doc) };
        names::noted(text, &segment.name)
    }

    /// The function that cuts the body into segments, and the one for users.
    fn cut(&self) -> String {
        let Message { name, segments, .. } = self.message;
        if segments.is_empty() {
            return String::new();
        }
        let lower = |name: &str| self.c.names.lower(name);
        for suffix in ["_body_cut_", "_body_split"] {
            self.c.names.define(&format!("{}{suffix}", self.lower), &format!("body of message `{name}`"));
        }
        let mut body = format!("{} rest = packet->body;\n", lower("bytes"));
        if self.metadata.is_some() && segments.iter().any(|segment| segment.length.is_some()) {
            body.push_str("const uint8_t *metadata = packet->metadata.data;\n");
        }
        body.push_str("\nmemset(out, 0, sizeof *out);\n");
        for segment in segments {
            let member = format!("out->{}", names::member(&segment.name));
            match segment.length {
                None => body.push_str(&format!("{member} = {}(&rest, rest.size);\n", lower("front_"))),
                Some(field) => {
                    let length = self.number(field);
                    body.push_str(&format!("{member} = {}(&rest, {length});\n", lower("front_")));
                    let wrong = format!("{member}.size != {length}");
                    body.push_str(&self.refuse(&wrong, field, FaultKind::Length, &segment.id));
                }
            }
        }
        if let Some(last) = segments.last().filter(|last| last.length.is_some()) {
            let blame = Blame::new(FaultKind::Length, name, &last.name, &last.id);
            let at = format!("{}(packet->header.data, rest.data)", lower("offset_"));
            body.push_str(&self.c.refuse("rest.size != 0", &blame, &at));
        }
        body.push_str("return 0;\n");
        let (packet, fault) = (self.packet(), self.fault());
        let out = format!("struct {}_body *", self.lower);
        let cut = function(
            "",
            &format!("int {}_body_cut_", self.lower),
            &[(packet.as_str(), "packet"), (out.as_str(), "out"), (fault.as_str(), "fault")],
            &body,
        );
        let size = self
            .metadata
            .map_or("0".to_owned(), |layout| format!("{}_SIZE", self.c.names.upper(&layout.name)));
        let split = format!(
            "if (packet->metadata.size == {size}) {{\n    {}_body_cut_(packet, out, NULL);\n}} else {{\n    memset(out, 0, sizeof *out);\n}}\n",
            self.lower
        );
        let split = function(
            &format!(
                "Cuts the body of a `{name}` that was checked into its segments; absent ones are empty."
            ),
            &format!("void {}_body_split", self.lower),
            &[(packet.as_str(), "packet"), (out.as_str(), "out")],
            &split,
        );
        format!("{cut}\n{split}")
    }

    /// The entries for which the rules ask.
    fn presences(&self) -> String {
        let mut asked = Vec::new();
        self.rules().for_each(|rule| presences(&rule.condition(), &mut asked));
        let functions = asked.iter().filter_map(|presence| {
            let Content::Entry(entry) = self.message.segments[presence.segment].content else { return None };
            let name = self.presence_name(*presence);
            self.c.names.define(&name, &format!("a rule of message `{}`", self.message.name));
            Some(self.c.presence_function(&name, &self.c.registry.entries[entry], self.position, *presence))
        });
        functions.collect::<Vec<_>>().join("\n")
    }

    fn presence_name(&self, presence: Presence) -> String {
        let flag = presence.flag.map_or(String::new(), |flag| format!("_{flag}"));
        format!("{}_has_{}_{}{flag}_", self.lower, presence.segment, presence.value)
    }

    fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.message.scope_rules.iter().chain(&self.message.rules)
    }

    /// The function that checks everything behind the header.
    fn check(&self) -> String {
        let lower = |name: &str| self.c.names.lower(name);
        let name = format!("{}_packet_check_", self.lower);
        self.c.names.define(&name, &format!("message `{}`", self.message.name));
        let mut steps = String::new();
        if let Some(layout) = self.metadata {
            steps.push_str(&format!(
                "kind = {}_check_at_(packet->metadata.data, packet->metadata.size, {}, fault);\n{STOP}",
                lower(&layout.name),
                self.header.size,
            ));
        }
        self.rules().filter(|rule| !rule.reads_body()).for_each(|rule| steps.push_str(&self.rule(rule)));
        if self.message.segments.is_empty() {
            let field =
                self.header.fields.iter().find(|field| field.role == Some(crate::model::Role::BodyLength));
            if let Some(field) = field {
                // The header is good and says where the packet ends: that there is a body is the message's fault.
                let blame = Blame::new(FaultKind::Length, &self.header.name, &field.name, "");
                let before = format!("    return {}(fault, ", lower("of_message_"));
                let call = self.c.blame(&before, &blame, &field.offset.to_string());
                steps.push_str(&format!("if (packet->body.size != 0) {{\n{call});\n}}\n"));
            }
        } else {
            steps.push_str(&format!("kind = {}_body_cut_(packet, &body, fault);\n{STOP}", self.lower));
            self.message.segments.iter().for_each(|segment| steps.push_str(&self.segment(segment)));
            steps.push_str(&self.parts_agree());
            self.rules().filter(|rule| rule.reads_body()).for_each(|rule| steps.push_str(&self.rule(rule)));
        }
        steps.push_str("return 0;\n");
        let uses = |word: &str| super::text::mentions(&steps, word);
        let mut locals = String::new();
        if uses("header") {
            locals.push_str("const uint8_t *header = packet->header.data;\n");
        }
        if uses("metadata") {
            locals.push_str("const uint8_t *metadata = packet->metadata.data;\n");
        }
        if uses("start") {
            locals.push_str("const uint8_t *start = packet->header.data;\n");
        }
        if !self.message.segments.is_empty() {
            locals.push_str(&format!("struct {}_body body;\n", self.lower));
        }
        if uses("kind") {
            locals.push_str("int kind;\n");
        }
        if !locals.is_empty() {
            locals.push('\n');
        }
        let (packet, fault) = (self.packet(), self.fault());
        let more = format!("const struct {} *", lower("words"));
        let mut parameters = vec![(packet.as_str(), "packet")];
        if self.c.has_words() {
            parameters.push((more.as_str(), "more"));
        }
        parameters.push((fault.as_str(), "fault"));
        let function = function("", &format!("int {name}"), &parameters, &format!("{locals}{steps}"));
        format!("/* Checks a `{}` behind its header. */\n{function}", self.message.name)
    }

    /// The statement that refuses what breaks a rule.
    fn rule(&self, rule: &Rule) -> String {
        let lower = |name: &str| self.c.names.lower(name);
        let broken = self.c.broken(&rule.condition(), self);
        let (layout, base) = match (rule.blame.space, self.metadata) {
            (Space::Own, Some(layout)) => (layout, self.header.size),
            (Space::Own, None) => (self.header, self.header.size),
            (Space::Header, _) => (self.header, 0),
        };
        let Some(blamed) = layout.fields.get(rule.blame.index) else { return String::new() };
        let blame = Blame {
            kind: FaultKind::Rule,
            layout: &layout.name,
            field: &blamed.name,
            rule: (&rule.id, &rule.doc),
            code: self.c.code(rule.error.as_ref()),
        };
        let offset = (base + blamed.offset).to_string();
        let text = match rule.blame.space {
            Space::Own => self.c.refuse(&condition(&broken), &blame, &offset),
            Space::Header => {
                let before = format!("    return {}(fault, ", lower("of_message_"));
                let call = self.c.blame(&before, &blame, &offset);
                format!("if ({}) {{\n{call});\n}}\n", condition(&broken))
            }
        };
        format!("/* {}: {} */\n{text}", rule.id, super::text::comment(&rule.doc))
    }

    /// The statements that check what a segment holds.
    fn segment(&self, segment: &Segment) -> String {
        let member = format!("body.{}", names::member(&segment.name));
        let mut out = self.content(segment, segment.content, &member);
        if let Some(field) = segment.count {
            let count = match segment.content {
                Content::Opaque => format!("{member}.size"),
                Content::Layout(layout) => {
                    format!(
                        "{member}.size / {}_SIZE",
                        self.c.names.upper(&self.c.registry.layouts[layout].name)
                    )
                }
                _ => "count".to_owned(),
            };
            out.push_str(&self.refuse(
                &format!("{} != {count}", self.number(field)),
                field,
                FaultKind::Length,
                &segment.id,
            ));
        }
        for case in &segment.cases {
            let Some(select) = segment.select else { continue };
            let check = match case.content {
                Content::Layout(layout) => {
                    let layout = &self.c.registry.layouts[layout];
                    let wrong = format!("{member}.size != {}_SIZE", self.c.names.upper(&layout.name));
                    let refuse = match segment.length {
                        Some(field) => self.refuse(&wrong, field, FaultKind::Length, &case.id),
                        None => {
                            let blame =
                                Blame::new(FaultKind::Length, &self.message.name, &segment.name, &case.id);
                            self.c.refuse(&wrong, &blame, &self.at(&format!("{member}.data")))
                        }
                    };
                    format!(
                        "{refuse}kind = {}_check_at_({member}.data, {member}.size, {}, fault);\n{STOP}",
                        self.c.names.lower(&layout.name),
                        self.at(&format!("{member}.data")),
                    )
                }
                content => self.content(segment, content, &member),
            };
            let value = self.case_value(select, case.value);
            out.push_str(&format!(
                "if ({member}.size > 0 && {} == {value}) {{\n{}}}\n",
                self.number(select),
                indent(&check, 4)
            ));
        }
        if super::text::mentions(&out, "count") {
            format!("{{\n    uint64_t count;\n\n{}}}\n", indent(&out, 4))
        } else {
            out
        }
    }

    /// A value of a metadata field, by its name where it has one.
    fn case_value(&self, field: usize, value: u64) -> String {
        let meaning = self.metadata.and_then(|layout| layout.fields.get(field)).map(|field| &field.meaning);
        if let Some(crate::model::Meaning::Enum(position)) = meaning {
            let item = &self.c.registry.enums[*position];
            if let Some(value) = item.value(value) {
                return self.c.value_name(item, value);
            }
        }
        super::text::number(value.into())
    }

    pub(super) fn at(&self, data: &str) -> String {
        format!("{}(start, {data})", self.c.names.lower("offset_"))
    }

    /// The statements that check a piece, and count into `count` what repeats in it.
    fn content(&self, segment: &Segment, content: Content, member: &str) -> String {
        let registry = self.c.registry;
        let lower = |name: &str| self.c.names.lower(name);
        match content {
            Content::Opaque => String::new(),
            Content::Layout(layout) => {
                let layout = &registry.layouts[layout];
                let size = format!("{}_SIZE", self.c.names.upper(&layout.name));
                let wrong = format!("{member}.size % {size} != 0");
                let refuse = match segment.length {
                    Some(field) => self.refuse(&wrong, field, FaultKind::Length, &segment.id),
                    None => {
                        let blame =
                            Blame::new(FaultKind::Length, &self.message.name, &segment.name, &segment.id);
                        let at = format!(
                            "{} + {member}.size / {size} * {size}",
                            self.at(&format!("{member}.data"))
                        );
                        self.c.refuse(&wrong, &blame, &at)
                    }
                };
                format!("{refuse}kind = {}_all_({member}, start, fault);\n{STOP}", lower(&layout.name))
            }
            Content::Entry(entry) => {
                let check = lower(&format!("{}_check_", registry.entries[entry].name));
                let value = self.message_constant();
                format!("kind = {check}({member}, start, {value}, &count, fault);\n{STOP}")
            }
            Content::Body(body) => {
                let body = &registry.bodies[body];
                let check = lower(&format!("{}_check_", body.name));
                let value = self.message_constant();
                let counts = self.nothing_counted(body, member);
                format!(
                    "{counts}kind = {check}({member}, {}start, {value}, fault);\n{STOP}",
                    self.counts(body)
                )
            }
            Content::Vocabulary(words) => {
                let check = lower(&format!("{}_check_", registry.vocabularies[words].name));
                format!("kind = {check}({member}, start, more, &count, fault);\n{STOP}")
            }
        }
    }

    /// The statements that refuse a count in the metadata of what a body holds that is absent.
    fn nothing_counted(&self, body: &Body, member: &str) -> String {
        let parts = body.parts.iter().filter(|_| body.optional);
        let refusals = parts.filter_map(|part| {
            let Some(crate::model::Count::Metadata(name)) = &part.count else { return None };
            let field = self.metadata?.fields.iter().position(|field| field.name == *name)?;
            let wrong = format!("{member}.size == 0 && {} != 0", self.number(field));
            Some(self.refuse(&wrong, field, FaultKind::Length, &part.id))
        });
        refusals.collect()
    }

    pub(super) fn message_constant(&self) -> String {
        self.c.names.upper(&format!("message_{}", self.message.name))
    }

    /// What a body is told of the counts in the metadata, as arguments.
    pub(super) fn counts(&self, body: &Body) -> String {
        let named = |name: &str| {
            let layout = self.metadata?;
            layout.fields.iter().position(|field| field.name == name)
        };
        let counts = body.parts.iter().filter_map(|part| match &part.count {
            Some(crate::model::Count::Metadata(name)) => {
                Some(named(name).map_or("0, ".to_owned(), |field| format!("{}, ", self.number(field))))
            }
            _ => None,
        });
        counts.collect()
    }
}

impl Reach for Emit<'_> {
    fn value(&self, field: FieldRef) -> String {
        match (field.space, self.metadata) {
            (Space::Own, Some(layout)) => self.c.number(layout, field.index, "metadata"),
            _ => self.c.number(self.header, field.index, "header"),
        }
    }

    fn field(&self, field: FieldRef) -> &Field {
        match (field.space, self.metadata) {
            (Space::Own, Some(layout)) => &layout.fields[field.index],
            _ => &self.header.fields[field.index],
        }
    }

    fn presence(&self, presence: Presence) -> String {
        let segment = &self.message.segments[presence.segment];
        match segment.content {
            Content::Entry(_) => {
                format!("{}(body.{})", self.presence_name(presence), names::member(&segment.name))
            }
            _ => "false".to_owned(),
        }
    }
}

/// The entries for which a condition asks, each once.
fn presences(truth: &Truth, found: &mut Vec<Presence>) {
    match truth {
        Truth::Present(presence) if !found.contains(presence) => found.push(*presence),
        Truth::Not(inner) => presences(inner, found),
        Truth::Same(left, right) | Truth::Differ(left, right) => {
            presences(left, found);
            presences(right, found);
        }
        Truth::And(parts) | Truth::Or(parts) => parts.iter().for_each(|part| presences(part, found)),
        _ => {}
    }
}
