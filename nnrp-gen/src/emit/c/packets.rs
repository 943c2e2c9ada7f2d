//! Packets: reading one as a whole, and finding where one ends in a stream.

use std::collections::BTreeSet;

use crate::model::{Body, Content, Field, Layout, Role};
use crate::wire::FaultKind;

use super::C;
use super::faults::Blame;
use super::places::LIMIT;
use super::text::{Columns, fill, hex};
use super::vocabularies::MORE;

const PARSE: &str = "\
/* Checks a header and the metadata length in it. */
static inline int ${p}_header_check_(${bytes} header, ${fault} *fault)
{
    const struct ${info} *message;
    const int kind = ${h}_check_at_(header.data, header.size, 0, fault);

    if (kind != 0) {
        return kind;
    }
    message = ${info}_find(${message});
    ${refuse_message}
    ${refuse_metadata}
    return 0;
}

static inline int ${p}_check_(${bytes} whole, ${more_parameter}struct ${p} *out, ${fault} *fault)
{
    ${bytes} rest = whole;
    int kind;

    out->header = ${front}(&rest, ${H}_SIZE);
    kind = ${p}_header_check_(out->header, fault);
    if (kind != 0) {
        return kind;
    }
    out->message = ${message_out};
    out->metadata = ${front}(&rest, ${metadata_length});
    out->body = rest;
    ${refuse_lengths}
    switch (out->message) {
    ${cases}
    default:
        return 0;
    }
}

";

const PARSE_WITH: &str = "\
/**
 * Checks exactly one packet, where words that `more` knows are good beside the registered ones.
 *
 * As ${p}_parse otherwise.
 */
static inline int ${p}_parse_with(
    const uint8_t *bytes, size_t len, const struct ${words} *more, struct ${p} *out, ${fault} *fault)
{
    const ${bytes} whole = { bytes, len };
    const int kind = ${p}_check_(whole, more, out, fault);

    if (kind != 0) {
        memset(out, 0, sizeof *out);
    }
    return kind;
}

/**
 * Checks exactly one packet.
 *
 * The first fault is reported: the header, its lengths, the metadata, the scope, the message's rules, the body in
 * order. Offsets count from the first byte of the packet. Everything in `out` lies in `bytes`, which must stay.
 *
 * @return 0 where it is good, else the kind of fault; `out` is then all zero.
 */
static inline int ${p}_parse(const uint8_t *bytes, size_t len, struct ${p} *out, ${fault} *fault)
{
    return ${p}_parse_with(bytes, len, NULL, out, fault);
}

";

const PARSE_ALONE: &str = "\
/**
 * Checks exactly one packet.
 *
 * The first fault is reported: the header, its lengths, the metadata, the message's rules, the body in order. Offsets
 * count from the first byte of the packet. Everything in `out` lies in `bytes`, which must stay.
 *
 * @return 0 where it is good, else the kind of fault; `out` is then all zero.
 */
static inline int ${p}_parse(const uint8_t *bytes, size_t len, struct ${p} *out, ${fault} *fault)
{
    const ${bytes} whole = { bytes, len };
    const int kind = ${p}_check_(whole, out, fault);

    if (kind != 0) {
        memset(out, 0, sizeof *out);
    }
    return kind;
}

";

const STREAM: &str = "\
/**
 * Says how many bytes of a stream are still missing of the packet that starts with `bytes`.
 *
 * As long as the header is not whole, `missing` is what is missing of the header. Once it is 0, the packet is whole
 * and its length is in `length`; what follows it in `bytes` belongs to the next one. Packets of more than `limit`
 * bytes are refused before anybody makes room for them.
 *
 * @return 0, or the kind of the fault in the header. The stream cannot go on behind it.
 */
static inline int ${p}_missing(
    const uint8_t *bytes, size_t len, size_t limit, size_t *missing, size_t *length, ${fault} *fault)
{
    const ${bytes} header = { bytes, ${H}_SIZE };
    uint64_t metadata_length;
    uint64_t body_length;
    int kind;

    *missing = 0;
    *length = 0;
    if (len < ${H}_SIZE) {
        *missing = ${H}_SIZE - len;
        return 0;
    }
    kind = ${p}_header_check_(header, fault);
    if (kind != 0) {
        return kind;
    }
    metadata_length = ${metadata_length};
    body_length = ${body_length};
    ${refuse_limit}
    *length = (size_t)(${H}_SIZE + metadata_length + body_length);
    *missing = *length > len ? *length - len : 0;
    return 0;
}
";

const CODES: &str = "\
/** The error code that answers a fault. */
static inline ${type} ${name}(const ${fault} *fault)
{
    if (fault->code != 0) {
        return (${type})fault->code;
    }
    if (fault->kind == ${LIMIT}) {
        return ${limit};
    }
    return fault->ends_stream ? ${head} : ${body};
}
";

/// The fields of the header that say what a packet is.
pub(super) struct Header<'a> {
    pub(super) layout: &'a Layout,
    pub(super) message: usize,
    pub(super) metadata_length: usize,
    pub(super) body_length: usize,
}

impl<'a> C<'a> {
    fn head(&self) -> Option<Header<'a>> {
        let layout = &self.registry.layouts[self.registry.protocol.header?];
        let with = |role| layout.fields.iter().position(|field: &Field| field.role == Some(role));
        Some(Header {
            layout,
            message: with(Role::Message)?,
            metadata_length: with(Role::MetadataLength)?,
            body_length: with(Role::BodyLength)?,
        })
    }

    /// Bodies and packets, for a protocol that has messages.
    pub(super) fn packets(&'a self) -> Vec<String> {
        let Some(header) = self.head().filter(|_| !self.registry.messages.is_empty()) else {
            return Vec::new();
        };
        let registry = self.registry;
        let mut parts = vec![self.template(include_str!("packet.h")), self.template(include_str!("write.h"))];
        let numbers = self.places.all.iter().filter(|place| !place.is_layout);
        let numbers: Vec<_> =
            numbers.map(|place| self.field_numbers(place)).filter(|rows| !rows.is_empty()).collect();
        parts.extend(numbers);
        if self.has_words() {
            parts.push(self.template(MORE));
        }
        parts.extend(self.row_layouts().into_iter().map(|layout| self.rows(&registry.layouts[layout])));
        for item in &registry.vocabularies {
            parts.extend([self.vocabulary(item), self.word_write(item)]);
        }
        for item in &registry.entries {
            parts.extend([self.entry(item), self.entry_write(item)]);
        }
        for item in &registry.bodies {
            parts.extend([self.body(item), self.body_write(item)]);
        }
        parts.push(self.packet(&header));
        parts.extend((0..registry.messages.len()).map(|position| self.message(position, header.layout)));
        parts.push(self.parse(&header));
        parts.extend(self.writers(&header));
        parts.extend(self.error_codes());
        parts
    }

    /// Whether a message holds words, of which a reader may know more than the registry.
    pub(super) fn has_words(&self) -> bool {
        !self.registry.vocabularies.is_empty()
    }

    /// The layouts that stand in rows.
    fn row_layouts(&self) -> BTreeSet<usize> {
        let registry = self.registry;
        let segments = registry.messages.iter().flat_map(|message| &message.segments);
        let contents = segments.flat_map(|segment| {
            [segment.content].into_iter().chain(segment.cases.iter().map(|case| case.content))
        });
        let parts = registry.bodies.iter().flat_map(|body: &Body| &body.parts);
        let leading = parts.clone().filter_map(|part| part.leading.map(|(layout, _)| layout));
        let rows = contents.chain(parts.map(|part| part.content)).filter_map(|content| match content {
            Content::Layout(layout) => Some(layout),
            _ => None,
        });
        rows.chain(leading).collect()
    }

    /// The struct of a packet.
    fn packet(&self, header: &Header<'_>) -> String {
        let p = self.names.lower("packet");
        self.names.define(&p, "what every header has");
        let mut members = Columns::default();
        let bytes = self.names.lower("bytes");
        let message = self.names.upper("message_");
        members.row(
            [self.element_type(&header.layout.fields[header.message]), "message;".into()],
            &format!("Which message it is: a {message}..."),
        );
        members.row([bytes.clone(), "header;".into()], &format!("Its header, a `{}`.", header.layout.name));
        members.row([bytes.clone(), "metadata;".into()], "Its metadata, the layout of the message.");
        members.row([bytes, "body;".into()], "Its body.");
        format!(
            "/** A packet that passed every check: header, metadata and body where they are. */\nstruct {p} {{\n{}}};\n",
            super::text::indent(&members.text(), 4)
        )
    }

    fn parse(&self, header: &Header<'_>) -> String {
        let p = self.names.lower("packet");
        let mut functions = vec!["_header_check_", "_check_", "_parse", "_missing"];
        if self.has_words() {
            functions.push("_parse_with");
        }
        functions
            .iter()
            .for_each(|suffix| self.names.define(&format!("{p}{suffix}"), "what every header has"));
        let lower = |name: &str| self.names.lower(name);
        let layout = header.layout;
        let read = |field, data: &str| self.number(layout, field, data);
        let refuse = |condition: &str, field: usize, kind| {
            let field = &layout.fields[field];
            self.refuse(
                condition,
                &Blame::new(kind, &layout.name, &field.name, ""),
                &field.offset.to_string(),
            )
        };
        let body_field = &layout.fields[header.body_length];
        let limit = Blame { rule: LIMIT, ..Blame::new(FaultKind::Limit, &layout.name, &body_field.name, "") };
        let refuse_limit = self.refuse(
            &format!(
                "limit < {H}_SIZE || metadata_length > limit - {H}_SIZE\n    || body_length > limit - {H}_SIZE - metadata_length",
                H = self.names.upper(&layout.name)
            ),
            &limit,
            &body_field.offset.to_string(),
        );
        let cases = self.registry.messages.iter().map(|message| {
            let constant = self.names.upper(&format!("message_{}", message.name));
            let more = if self.has_words() { "more, " } else { "" };
            format!(
                "case {constant}:\n    return {}_packet_check_(out, {more}fault);\n",
                lower(&message.name)
            )
        });
        let metadata_wrong =
            format!("{} != message->metadata_length", read(header.metadata_length, "header.data"));
        let lengths_wrong = format!(
            "out->metadata.size != {} || out->body.size != {}",
            read(header.metadata_length, "out->header.data"),
            read(header.body_length, "out->header.data"),
        );
        let more = format!("const struct {} *more, ", lower("words"));
        let message_value = read(header.message, "header.data");
        let values: Vec<(&str, String)> = vec![
            ("p", p),
            ("bytes", lower("bytes")),
            ("fault", lower("fault")),
            ("info", lower("message_info")),
            ("words", lower("words")),
            ("front", lower("front_")),
            ("h", lower(&layout.name)),
            ("H", self.names.upper(&layout.name)),
            ("message", message_value),
            ("message_out", read(header.message, "out->header.data")),
            ("refuse_message", refuse("message == NULL", header.message, FaultKind::UnknownValue)),
            ("refuse_metadata", refuse(&metadata_wrong, header.metadata_length, FaultKind::Length)),
            (
                "refuse_lengths",
                refuse(&super::text::condition(&lengths_wrong), header.body_length, FaultKind::Length),
            ),
            ("refuse_limit", refuse_limit),
            ("more_parameter", if self.has_words() { more } else { String::new() }),
            ("cases", cases.collect()),
        ];
        let with = |template: &str, data: &str| {
            let metadata_length = read(header.metadata_length, data);
            let body_length = read(header.body_length, data);
            let mut values: Vec<(&str, &str)> =
                values.iter().map(|(key, value)| (*key, value.as_str())).collect();
            values.push(("metadata_length", &metadata_length));
            values.push(("body_length", &body_length));
            fill(template, &values)
        };
        let parse = if self.has_words() { PARSE_WITH } else { PARSE_ALONE };
        with(PARSE, "out->header.data") + &with(parse, "bytes") + &with(STREAM, "bytes")
    }

    /// The function that gives the error code of a fault.
    fn error_codes(&self) -> Option<String> {
        let errors = self.registry.protocol.errors.as_ref()?;
        let item = &self.registry.enums[errors.enumeration];
        let name = self.names.lower("fault_error_code");
        self.names.define(&name, "what every header has");
        let code = |number: u64| match item.value(number) {
            Some(value) => self.value_name(item, value),
            None => hex(number, item.ty.size()),
        };
        Some(fill(
            CODES,
            &[
                ("type", &self.names.lower(&item.name)),
                ("name", &name),
                ("fault", &self.names.lower("fault")),
                ("LIMIT", &self.kind(FaultKind::Limit)),
                ("limit", &code(errors.limit)),
                ("head", &code(errors.header)),
                ("body", &code(errors.body)),
            ],
        ))
    }
}
