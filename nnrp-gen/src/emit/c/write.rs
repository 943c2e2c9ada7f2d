//! Writing packets: a list of pieces for each message, and what is filled in of its metadata.
//!
//! A packet is copied from its pieces once there is room for all, then checked as a reader would check it. What the
//! pieces determine is filled in: lengths, counts, repeated sizes, the message in the header.

use crate::model::{Body, Content, Count, Segment};
use crate::wire::FaultKind;

use super::faults::Blame;
use super::packets::Header;
use super::pieces::list;
use super::segments::Emit;
use super::text::{doc, fill, function};
use super::{C, names, places};

const PACKET: &str = "\
/* Writes a packet: its header, its metadata, which is the first piece, and its body, which is the others. */
static inline size_t ${p}_write_(
    const struct ${h} *header, ${type} message, uint32_t layout,
    const ${bytes} *pieces, size_t count, ${more_parameter}uint8_t *out, size_t size, ${fault} *fault)
{
    const size_t behind = ${total}(0, pieces + 1, count - 1);
    const size_t length = ${total}(${H}_SIZE, pieces, count);
    struct ${p} packet;

    if (!${room}(length, size, layout, fault)) {
        return 0;
    }
    ${h}_pack_(header, out);
    ${sets}
    ${put}(out + ${H}_SIZE, pieces, count);
    if (${parse}(out, length, ${more}&packet, fault) != 0) {
        memset(out, 0, length);
        return 0;
    }
    return length;
}
";

const COUNT: &str = "\
/* How many there are, with those that are not good: it is they that a reader blames, not their count. */
static inline uint64_t ${x}_count_(${bytes} rest)
{
    ${one} one;
    uint64_t count = 0;

    for (; rest.size > 0; count++) {
        (void)${x}_first_(&rest, rest.data, &one, NULL);
    }
    return count;
}
";

impl C<'_> {
    /// The functions that count what fields of the metadata count.
    fn counters(&self) -> Vec<String> {
        let segments = self.registry.messages.iter().flat_map(|message| &message.segments);
        let counted = |content| segments.clone().any(|it| it.count.is_some() && it.content == content);
        let bytes = self.names.lower("bytes");
        let counter = |name: &str, one: &str| {
            let x = self.names.lower(name);
            self.names.define(&format!("{x}_count_"), &format!("the count of `{name}`"));
            fill(COUNT, &[("x", &x), ("bytes", &bytes), ("one", one)])
        };
        let entries = self.registry.entries.iter().enumerate();
        let entries = entries
            .filter(|(at, _)| counted(Content::Entry(*at)))
            .map(|(_, item)| counter(&item.name, &format!("struct {}", self.names.lower(&item.name))));
        let words = self.registry.vocabularies.iter().enumerate();
        let words = words
            .filter(|(at, _)| counted(Content::Vocabulary(*at)))
            .map(|(_, item)| counter(&item.name, &bytes));
        entries.chain(words).collect()
    }

    /// The functions that write packets: what all share, and those of each message.
    pub(super) fn writers(&self, header: &Header<'_>) -> Vec<String> {
        let p = self.names.lower("packet");
        self.names.define(&format!("{p}_write_"), "what every header has");
        let layout = header.layout;
        let constant = |field: usize, value: &str| {
            let field = &layout.fields[field];
            let setter = self.names.lower(&format!("{}_set_{}", layout.name, field.name));
            format!("{setter}(out, {value});\n")
        };
        let sets = constant(header.message, "message")
            + &self.set(layout, header.metadata_length, "out", "pieces[0].size")
            + &self.set(layout, header.body_length, "out", "behind");
        let (more, more_parameter, parse) = if self.has_words() {
            ("more, ", format!("const struct {} *more, ", self.names.lower("words")), "packet_parse_with")
        } else {
            ("", String::new(), "packet_parse")
        };
        let shared = fill(
            PACKET,
            &[
                ("p", &p),
                ("h", &self.names.lower(&layout.name)),
                ("H", &self.names.upper(&layout.name)),
                ("type", &self.element_type(&layout.fields[header.message])),
                ("bytes", &self.names.lower("bytes")),
                ("fault", &self.names.lower("fault")),
                ("total", &self.names.lower("total_")),
                ("room", &self.names.lower("room_")),
                ("put", &self.names.lower("put_")),
                ("sets", &sets),
                ("more", more),
                ("more_parameter", &more_parameter),
                ("parse", &self.names.lower(parse)),
            ],
        );
        let mut out = self.counters();
        out.push(shared);
        let most = layout.fields[header.body_length].size;
        for position in 0..self.registry.messages.len() {
            out.extend(self.emit(position, layout).writers(most));
        }
        out
    }
}

impl Emit<'_> {
    /// The functions that say how long a packet gets and that write it.
    fn writers(&self, body_length: u32) -> Vec<String> {
        let mut out = vec![self.packet_size()];
        if self.holds_words() {
            out.push(self.write_with(body_length));
        }
        out.push(self.write(body_length));
        out
    }

    fn holds_words(&self) -> bool {
        let is_words = |content| matches!(content, Content::Vocabulary(_));
        self.message.segments.iter().any(|segment| {
            is_words(segment.content) || segment.cases.iter().any(|case| is_words(case.content))
        })
    }

    /// The body of a segment of several parts, which is written from them.
    fn parts(&self, segment: &Segment) -> Option<&Body> {
        match segment.content {
            Content::Body(body) => Some(&self.c.registry.bodies[body]),
            _ => None,
        }
    }

    /// What a packet is written from, as parameters: the segments, and the parts of a body.
    fn given(&self) -> Vec<(String, String)> {
        let mut given = Vec::new();
        let segments = &self.message.segments;
        if segments.iter().any(|segment| self.parts(segment).is_none()) {
            given.push((format!("const struct {}_body *", self.lower), "body".to_owned()));
        }
        for (at, body) in segments.iter().filter_map(|segment| self.parts(segment)).enumerate() {
            given.push((format!("const struct {} *", self.c.names.lower(&body.name)), parts_name(at)));
        }
        given
    }

    /// The segments, each with the name of its parts where it is a body.
    fn segments(&self) -> Vec<(&Segment, Option<(&Body, String)>)> {
        let mut bodies = 0..;
        let segments = self.message.segments.iter().map(|segment| {
            let parts = self.parts(segment).map(|body| (body, parts_name(bodies.next().unwrap_or(0))));
            (segment, parts)
        });
        segments.collect()
    }

    fn packet_size(&self) -> String {
        let lower = |name: &str| self.c.names.lower(name);
        let name = format!("{}_packet_size", self.lower);
        self.c.names.define(&name, &format!("message `{}`", self.message.name));
        let mut front = format!("{}_SIZE", self.c.names.upper(&self.header.name));
        if let Some(layout) = self.metadata {
            front.push_str(&format!(" + {}_SIZE", self.c.names.upper(&layout.name)));
        }
        let pieces = self.segments().into_iter().map(|(segment, parts)| match parts {
            Some((body, parts)) => format!("{{ NULL, {}_size({parts}) }}", lower(&body.name)),
            None => format!("body->{}", names::member(&segment.name)),
        });
        let pieces: Vec<_> = pieces.collect();
        let docs = format!("Bytes of a packet of `{}`.", self.message.name);
        let given = self.given();
        if pieces.is_empty() {
            return format!(
                "{}static inline size_t {name}(void)\n{{\n    return {front};\n}}\n",
                doc([docs])
            );
        }
        let body = format!(
            "{}\nreturn {}({front}, pieces, {});\n",
            list("const ", &lower("bytes"), &pieces),
            lower("total_"),
            pieces.len()
        );
        let given: Vec<_> = given.iter().map(|(ty, name)| (ty.as_str(), name.as_str())).collect();
        function(&docs, &format!("size_t {name}"), &given, &body)
    }

    /// The parameters of the function that writes, with or without words beside the registered ones.
    fn parameters(&self, more: bool) -> Vec<(String, String)> {
        let lower = |name: &str| self.c.names.lower(name);
        let mut parameters =
            vec![(format!("const struct {} *", lower(&self.header.name)), "header".to_owned())];
        if let Some(layout) = self.metadata {
            parameters.push((format!("const struct {} *", lower(&layout.name)), "metadata".to_owned()));
        }
        parameters.extend(self.given());
        if more {
            parameters.push((format!("const struct {} *", lower("words")), "more".to_owned()));
        }
        parameters.push(("uint8_t *".to_owned(), "out".to_owned()));
        parameters.push(("size_t".to_owned(), "size".to_owned()));
        parameters.push((format!("{} *", lower("fault")), "fault".to_owned()));
        parameters
    }

    fn write(&self, body_length: u32) -> String {
        let name = format!("{}_packet_write", self.lower);
        self.c.names.define(&name, &format!("message `{}`", self.message.name));
        let parameters = self.parameters(false);
        let docs = self.docs(&format!("Writes a packet of `{}`.", self.message.name));
        let body = if self.holds_words() {
            let arguments = self.parameters(true);
            let arguments = arguments.iter().map(|(_, name)| if name == "more" { "NULL" } else { name });
            format!("return {name}_with({});\n", arguments.collect::<Vec<_>>().join(", "))
        } else {
            self.written(if self.c.has_words() { "NULL" } else { "" }, body_length)
        };
        let parameters: Vec<_> = parameters.iter().map(|(ty, name)| (ty.as_str(), name.as_str())).collect();
        function(&docs, &format!("size_t {name}"), &parameters, &body)
    }

    fn write_with(&self, body_length: u32) -> String {
        let name = format!("{}_packet_write_with", self.lower);
        self.c.names.define(&name, &format!("message `{}`", self.message.name));
        let docs = format!(
            "Writes a packet of `{}` for a reader who also knows the words that `more` knows.",
            self.message.name
        );
        let parameters = self.parameters(true);
        let parameters: Vec<_> = parameters.iter().map(|(ty, name)| (ty.as_str(), name.as_str())).collect();
        let body = self.written("more", body_length);
        function(&self.docs(&docs), &format!("size_t {name}"), &parameters, &body)
    }

    fn docs(&self, first: &str) -> String {
        let optional = self.segments().into_iter().filter_map(|(_, parts)| parts);
        let notes = optional.map(|(body, name)| {
            let left_out = if body.optional { " Where all of it is empty the body is left out." } else { "" };
            format!(" `{name}->prelude` may be empty.{left_out}")
        });
        format!("{first}{}", notes.collect::<String>())
    }

    /// The statements that write.
    fn written(&self, more: &str, body_length: u32) -> String {
        let lower = |name: &str| self.c.names.lower(name);
        let mut declared = String::new();
        let mut pieces = Vec::new();
        let mut steps = String::new();
        match self.metadata {
            Some(layout) => {
                declared.push_str(&format!("uint8_t values[{}_SIZE];\n", self.c.names.upper(&layout.name)));
                pieces.push("{ values, sizeof values }".to_owned());
                steps.push_str(&format!("{}_pack_(metadata, values);\n", lower(&layout.name)));
            }
            None => pieces.push("{ NULL, 0 }".to_owned()),
        }
        let mut preludes = String::new();
        let mut constant = "const ";
        for (segment, parts) in self.segments() {
            let Some((body, parts)) = parts else {
                pieces.push(format!("body->{}", names::member(&segment.name)));
                continue;
            };
            let prelude = parts.replace("parts", "prelude");
            let size = self.c.names.upper(&self.c.registry.layouts[body.prelude].name);
            declared.push_str(&format!("uint8_t {prelude}[{size}_SIZE];\n"));
            let at = pieces.len();
            let before: String = (0..at).map(|at| format!(" + pieces[{at}].size")).collect();
            preludes.push_str(&format!(
                "if ({}_prelude_({parts}, {prelude}, &pieces[{at}].size, {}_SIZE{before}, fault) != 0) {{\n    return 0;\n}}\n",
                lower(&body.name),
                self.c.names.upper(&self.header.name),
            ));
            constant = "";
            pieces.push(format!("{{ {prelude}, 0 }}"));
            let members = body.parts.iter().map(|part| format!("{parts}->{}", names::member(&part.name)));
            pieces.extend(members);
        }
        // Who is to blame where there is no room.
        let place = match self.metadata {
            Some(layout) => &layout.name,
            None if self.message.segments.is_empty() => &self.header.name,
            None => &self.message.name,
        };
        let place = self.c.names.upper(&places::place(place));
        // What is walked through must be there, which is not known of what has no room.
        let room = if self.walks() {
            let given: Vec<_> = self.given().into_iter().map(|(_, name)| name).collect();
            format!(
                "if (!{}({}_packet_size({}), size, {place}, fault)) {{\n    return 0;\n}}\n",
                lower("room_"),
                self.lower,
                given.join(", "),
            )
        } else {
            String::new()
        };
        let more = if more.is_empty() { String::new() } else { format!("{more}, ") };
        format!(
            "{declared}{}\n{}{preludes}{room}{steps}{}return {}_write_(header, {}, {}, pieces, {}, {more}out, size, fault);\n",
            list(constant, &lower("bytes"), &pieces),
            self.too_long(body_length),
            self.fills(),
            lower("packet"),
            self.message_constant(),
            place,
            pieces.len(),
        )
    }

    /// Whether something is looked for or counted in the body before it is written.
    fn walks(&self) -> bool {
        let is_walked = |content| matches!(content, Content::Entry(_) | Content::Vocabulary(_));
        let counted = |segment: &Segment| segment.count.is_some() && is_walked(segment.content);
        !self.message.sizes.is_empty() || self.message.segments.iter().any(counted)
    }

    /// The statements that refuse what its length cannot say, where the rest of the body would take it up unseen.
    fn too_long(&self, body_length: u32) -> String {
        let (Some(layout), Some(last)) = (self.metadata, self.message.segments.last()) else {
            return String::new();
        };
        if last.length.is_some() {
            return String::new();
        }
        let mut out = String::new();
        for (segment, parts) in self.segments() {
            let Some(at) = segment.length else { continue };
            let field = &layout.fields[at];
            if field.size >= body_length {
                continue;
            }
            let size = segment_size(segment, parts.as_ref(), self.c);
            let blame = Blame::new(FaultKind::Length, &layout.name, &field.name, &segment.id);
            let offset = (self.header.size + field.offset).to_string();
            out.push_str(&format!(
                "if ({size} > UINT{}_MAX) {{\n{};\n    return 0;\n}}\n",
                field.size * 8,
                self.c.blame("    ", &blame, &offset)
            ));
        }
        out
    }

    /// The statements that fill lengths, counts and repeated sizes into the metadata.
    fn fills(&self) -> String {
        let Some(layout) = self.metadata else { return String::new() };
        let set = |field: usize, value: &str| self.c.set(layout, field, "values", value);
        let mut out = String::new();
        for (segment, parts) in self.segments() {
            if let Some(field) = segment.length {
                out.push_str(&set(field, &segment_size(segment, parts.as_ref(), self.c)));
            }
            if let Some(field) = segment.count {
                let member = format!("body->{}", names::member(&segment.name));
                let named =
                    |name: &str| format!("{}({member})", self.c.names.lower(&format!("{name}_count_")));
                let count = match segment.content {
                    Content::Layout(layout) => self.c.rows_of(layout, &member),
                    Content::Entry(entry) => named(&self.c.registry.entries[entry].name),
                    Content::Vocabulary(words) => named(&self.c.registry.vocabularies[words].name),
                    _ => format!("{member}.size"),
                };
                out.push_str(&set(field, &count));
            }
            let Some((body, parts)) = parts else { continue };
            for part in &body.parts {
                let (Some(Count::Metadata(name)), Content::Layout(rows)) = (&part.count, part.content) else {
                    continue;
                };
                if let Some(field) = layout.fields.iter().position(|field| field.name == *name) {
                    let member = format!("{parts}->{}", names::member(&part.name));
                    out.push_str(&set(field, &self.c.rows_of(rows, &member)));
                }
            }
            for size in &self.message.sizes {
                let inner = set(size.field, "there ? object.payload.size : 0");
                out.push_str(&self.object(body, &format!("{parts}->"), size.part, size.kind, &inner));
            }
        }
        out
    }
}

impl C<'_> {
    /// How many rows a piece has.
    fn rows_of(&self, layout: usize, member: &str) -> String {
        format!("{member}.size / {}_SIZE", self.names.upper(&self.registry.layouts[layout].name))
    }
}

/// Bytes of a segment.
fn segment_size(segment: &Segment, parts: Option<&(&Body, String)>, c: &C<'_>) -> String {
    match parts {
        Some((body, parts)) => format!("{}_size({parts})", c.names.lower(&body.name)),
        None => format!("body->{}.size", names::member(&segment.name)),
    }
}

/// The parameter for the parts of a body: `parts`, and should a message have several `parts2` and so on.
fn parts_name(at: usize) -> String {
    if at == 0 { "parts".to_owned() } else { format!("parts{}", at + 1) }
}
