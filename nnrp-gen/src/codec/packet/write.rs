//! From the value of a packet to its bytes.

use crate::codec::encode::{blank, write_at};
use crate::codec::number::put;
use crate::codec::text::bytes_of_text;
use crate::codec::{EncodeError, Problem, Value};
use crate::model::{
    Body, ByteOrder, Content, Count, Entry, Layout, Message, Part, Segment, Select, Vocabulary,
};
use crate::suggest::did_you_mean;

use super::piece::{Cut, Piece};
use super::value::{payload_key, slice_fields, slice_key};
use super::{Packets, block, fill, outline};

impl Packets<'_> {
    pub(super) fn write(&self, message: &Message, value: &Value) -> Result<Vec<u8>, EncodeError> {
        let mut writer = Writer { packets: self, message, metadata: Vec::new(), problems: Vec::new() };
        let packet = writer.packet(value);
        if writer.problems.is_empty() { Ok(packet) } else { Err(EncodeError::Value(writer.problems)) }
    }
}

/// A packet on its way into bytes. Goes on after a problem, so that all are reported together.
struct Writer<'w> {
    packets: &'w Packets<'w>,
    message: &'w Message,
    /// The metadata as the value gives it, to select by.
    metadata: Vec<u8>,
    problems: Vec<Problem>,
}

/// A layout being filled.
struct Filled<'f> {
    layout: &'f Layout,
    bytes: Vec<u8>,
    /// What the value gives of it, and where.
    given: Option<&'f Value>,
    path: String,
}

impl<'w> Writer<'w> {
    fn problem(&mut self, path: &str, message: impl Into<String>, help: Option<String>) {
        self.problems.push(Problem { path: path.to_owned(), message: message.into(), help });
    }

    /// The fields of an object, all of which are known; none where it is something else.
    fn object<'v>(
        &mut self,
        value: &'v Value,
        path: &str,
        of: &str,
        known: &[&str],
    ) -> &'v [(String, Value)] {
        let Value::Struct(fields) = value else {
            self.problem(path, format!("{}, where {of} is wanted", value.kind()), None);
            return &[];
        };
        for (name, _) in fields {
            if !known.contains(&name.as_str()) {
                let help = did_you_mean(name, known.iter().copied());
                self.problem(&join(path, name), format!("nothing of {of} is called so"), help);
            }
        }
        fields
    }

    fn list<'v>(&mut self, value: &'v Value, path: &str, of: &str) -> &'v [Value] {
        match value {
            Value::List(list) => list,
            other => {
                self.problem(path, format!("{}, where a list of {of} or hex is wanted", other.kind()), None);
                &[]
            }
        }
    }

    /// Bytes that are given as such.
    fn raw(&mut self, value: &Value, path: &str) -> Option<Vec<u8>> {
        match value {
            Value::Bytes(bytes) => Some(bytes.clone()),
            Value::Text(text) => match bytes_of_text(text) {
                Ok(bytes) => Some(bytes),
                Err(wrong) => {
                    self.problem(path, format!("wrong hex: {wrong}"), None);
                    Some(Vec::new())
                }
            },
            _ => None,
        }
    }

    fn packet(&mut self, value: &Value) -> Vec<u8> {
        self.object(value, "", "a packet", &["header", "message", "metadata", "body"]);
        if let Some(given) = value.get("message")
            && *given != Value::Text(self.message.name.clone())
        {
            self.problem("message", format!("it is a packet of `{}`", self.message.name), None);
        }
        let packets = self.packets;
        let mut header = self.filled(packets.header, value.get("header"), "header");
        let mut metadata = self.message_metadata(value.get("metadata"));
        if let Some(metadata) = &metadata {
            self.metadata.clone_from(&metadata.bytes);
        }
        let segments = self.segments(value.get("body"));
        if let Some(metadata) = &mut metadata {
            self.fill_metadata(metadata, &segments);
        }
        let metadata = metadata.map(|metadata| metadata.bytes).unwrap_or_default();
        let body = segments.iter().map(|segment| segment.len() as u64).sum();
        self.fill(&mut header, packets.message, self.message.value);
        self.fill(&mut header, packets.metadata_length, metadata.len() as u64);
        self.fill(&mut header, packets.body_length, body);
        [header.bytes, metadata].into_iter().chain(segments).flatten().collect()
    }

    /// A layout with the fields that are given.
    fn filled<'f>(&mut self, layout: &'f Layout, given: Option<&'f Value>, path: &str) -> Filled<'f> {
        let registry = self.packets.registry;
        let bytes = match given {
            Some(value) => write_at(registry, layout, value, path, &mut self.problems),
            None => blank(registry, layout),
        };
        Filled { layout, bytes, given, path: path.to_owned() }
    }

    /// Puts what the packet determines into a field, or refuses what is given instead.
    fn fill(&mut self, filled: &mut Filled<'_>, field: usize, number: u64) {
        let Some(item) = filled.layout.fields.get(field) else { return };
        if filled.given.is_some_and(|given| given.get(&item.name).is_some()) {
            let given = Piece { bytes: &filled.bytes, at: 0 }.read(filled.layout, field);
            if given != number {
                let message = format!("{given}, where the rest of the packet says {number}");
                let help = "left out, it is filled in".to_owned();
                self.problem(&join(&filled.path, &item.name), message, Some(help));
            }
        } else if let Some(place) = filled.bytes.get_mut(item.range()) {
            // A number that does not fit is refused as any reader would.
            let most = most(place.len() as u32);
            put(number.min(most), filled.layout.byte_order, place);
        }
    }

    fn message_metadata<'v>(&mut self, given: Option<&'v Value>) -> Option<Filled<'v>>
    where
        'w: 'v,
    {
        let packets = self.packets;
        if let Some(layout) = packets.metadata(self.message) {
            return Some(self.filled(layout, given, "metadata"));
        }
        if let Some(value) = given {
            let of = format!("the metadata of `{}`, which has none,", self.message.name);
            self.object(value, "metadata", &of, &[]);
        }
        None
    }

    fn fill_metadata(&mut self, metadata: &mut Filled<'_>, segments: &[Vec<u8>]) {
        let (packets, message) = (self.packets, self.message);
        let has_rest = message.segments.last().is_some_and(|last| last.length.is_none());
        for (segment, bytes) in message.segments.iter().zip(segments) {
            let piece = Piece { bytes, at: 0 };
            if let Some(field) = segment.length {
                let most = most(metadata.layout.fields[field].size);
                if has_rest && bytes.len() as u64 > most {
                    // A reader would take the end for the beginning of the rest.
                    let message = format!("{} bytes, where their length can be {most} at most", bytes.len());
                    self.problem(&format!("body.{}", segment.name), message, None);
                }
                self.fill(metadata, field, bytes.len() as u64);
            }
            if let Some(field) = segment.count {
                self.fill(metadata, field, outline::count(packets, segment.content, piece) as u64);
            }
            let Content::Body(body) = segment.content else { continue };
            let body = &packets.registry.bodies[body];
            let parts = parts_of(packets, body, piece);
            for (part, field) in packets.counts(message, body).collect::<Vec<_>>() {
                let count = outline::count(packets, body.parts[part].content, parts[part]);
                self.fill(metadata, field, count as u64);
            }
            for size in &message.sizes {
                if let Content::Entry(entry) = body.parts[size.part].content {
                    let entry = &packets.registry.entries[entry];
                    let bytes = outline::object_size(packets, entry, parts[size.part], size.kind);
                    self.fill(metadata, size.field, bytes as u64);
                }
            }
        }
    }

    fn segments(&mut self, given: Option<&Value>) -> Vec<Vec<u8>> {
        let message = self.message;
        if let Some(value) = given {
            let names: Vec<&str> = message.segments.iter().map(|segment| segment.name.as_str()).collect();
            self.object(value, "body", &format!("the body of `{}`", message.name), &names);
        }
        let one = |segment: &Segment| {
            let value = given.and_then(|given| given.get(&segment.name));
            self.segment(segment, value, &format!("body.{}", segment.name))
        };
        message.segments.iter().map(one).collect()
    }

    fn segment(&mut self, segment: &Segment, value: Option<&Value>, path: &str) -> Vec<u8> {
        let case = segment.select.and_then(|field| {
            let layout = self.packets.metadata(self.message)?;
            let selected = Piece { bytes: &self.metadata, at: 0 }.read(layout, field);
            segment.cases.iter().find(|case| case.value == selected)
        });
        match (case.map(|case| case.content), value) {
            (Some(Content::Layout(layout)), Some(value @ Value::Struct(_))) => {
                self.filled(self.packets.layout(layout), Some(value), path).bytes
            }
            (Some(content), Some(value)) => self.content(content, Some(value), path),
            _ => self.content(segment.content, value, path),
        }
    }

    fn content(&mut self, content: Content, value: Option<&Value>, path: &str) -> Vec<u8> {
        let registry = self.packets.registry;
        let nothing = Value::Struct(Vec::new());
        let value = match (value, content) {
            (Some(value), _) => value,
            (None, Content::Body(body)) if !registry.bodies[body].optional => &nothing,
            (None, _) => return Vec::new(),
        };
        if let Some(bytes) = self.raw(value, path) {
            return bytes;
        }
        match content {
            Content::Opaque => {
                self.problem(
                    path,
                    format!("{}, where text, or bytes as `0x…`, are wanted", value.kind()),
                    None,
                );
                Vec::new()
            }
            Content::Layout(layout) => {
                let layout = self.packets.layout(layout);
                let rows = self.list(value, path, &format!("`{}`", layout.name)).iter().enumerate();
                rows.flat_map(|(at, row)| self.filled(layout, Some(row), &format!("{path}[{at}]")).bytes)
                    .collect()
            }
            Content::Entry(entry) => {
                let entry = &registry.entries[entry];
                let list = self.list(value, path, &format!("`{}`", entry.name)).iter().enumerate();
                list.flat_map(|(at, item)| self.entry(entry, item, &format!("{path}[{at}]"))).collect()
            }
            Content::Body(body) => self.body(&registry.bodies[body], value, path),
            Content::Vocabulary(words) => self.words(&registry.vocabularies[words], value, path),
        }
    }

    fn entry(&mut self, entry: &Entry, value: &Value, path: &str) -> Vec<u8> {
        let layout = self.packets.layout(entry.header);
        let key = payload_key(layout, &[entry.payload]);
        let (header, mut payload) = without(value, &[&key]);
        let mut header = self.filled(layout, Some(&header), path);
        let bytes = self.payload(entry.select.as_ref(), &header, payload.pop().flatten(), &join(path, &key));
        self.fill(&mut header, entry.payload, bytes.len() as u64);
        let mut out = header.bytes;
        out.extend(bytes);
        out.resize(out.len() + block::padding(out.len(), entry.align), 0);
        out
    }

    /// A payload or slice as its header or row says.
    fn payload(
        &mut self,
        select: Option<&Select>,
        header: &Filled<'_>,
        value: Option<&Value>,
        path: &str,
    ) -> Vec<u8> {
        let packets = self.packets;
        if let Some(bytes) = value.and_then(|value| self.raw(value, path)) {
            return bytes;
        }
        let piece = Piece { bytes: &header.bytes, at: 0 };
        let choice = select
            .and_then(|select| block::choice(packets.registry, select, header.layout, piece, self.message));
        match (choice, value) {
            (Some(choice), value) => self.filled(packets.layout(choice.layout), value, path).bytes,
            (None, None) => Vec::new(),
            (None, Some(value)) => {
                self.problem(
                    path,
                    format!("{}, where text, or bytes as `0x…`, are wanted", value.kind()),
                    None,
                );
                Vec::new()
            }
        }
    }

    fn body(&mut self, body: &Body, value: &Value, path: &str) -> Vec<u8> {
        let packets = self.packets;
        let parts = body.parts.iter().filter(|part| part.slices.is_none());
        let known: Vec<&str> = ["prelude"].into_iter().chain(parts.map(|part| part.name.as_str())).collect();
        self.object(value, path, &format!("`{}`", body.name), &known);
        let mut prelude =
            self.filled(packets.layout(body.prelude), value.get("prelude"), &join(path, "prelude"));
        // What the rows of earlier parts slice.
        let mut slices: Vec<Vec<u8>> = vec![Vec::new(); body.parts.len()];
        let mut out = Vec::new();
        for (at, part) in body.parts.iter().enumerate() {
            let path = join(path, &part.name);
            let given = value.get(&part.name);
            let sliced = fill::sliced_by(body, at);
            let bytes = match part.content {
                _ if part.slices.is_some() => std::mem::take(&mut slices[at]),
                Content::Layout(layout) if !sliced.is_empty() => {
                    let layout = packets.layout(layout);
                    self.sliced_rows(body, &sliced, layout, given, &path, &mut slices)
                }
                content => match (part.leading, given) {
                    (Some((layout, count)), Some(value @ Value::Struct(_))) => {
                        self.leading(&mut prelude, (layout, count), value, &path)
                    }
                    _ => self.content(content, given, &path),
                },
            };
            self.fill_part(&mut prelude, part, &bytes);
            out.extend(bytes);
        }
        let mut whole = prelude.bytes;
        whole.extend(out);
        whole
    }

    fn fill_part(&mut self, prelude: &mut Filled<'_>, part: &Part, bytes: &[u8]) {
        self.fill(prelude, part.length, bytes.len() as u64);
        if let Some(Count::Prelude(field)) = part.count {
            let count = outline::count(self.packets, part.content, Piece { bytes, at: 0 });
            self.fill(prelude, field, count as u64);
        }
    }

    /// Rows, and the rest behind them.
    fn leading(
        &mut self,
        prelude: &mut Filled<'_>,
        (layout, count): (usize, usize),
        value: &Value,
        path: &str,
    ) -> Vec<u8> {
        self.object(value, path, "rows and what is behind them", &["leading", "rest"]);
        let rows = self.content(Content::Layout(layout), value.get("leading"), &join(path, "leading"));
        let number = outline::count(self.packets, Content::Layout(layout), Piece { bytes: &rows, at: 0 });
        self.fill(prelude, count, number as u64);
        let rest = self.content(Content::Opaque, value.get("rest"), &join(path, "rest"));
        [rows, rest].concat()
    }

    /// Rows, each with its slices, which go to `slices`.
    fn sliced_rows(
        &mut self,
        body: &Body,
        sliced: &[usize],
        layout: &Layout,
        value: Option<&Value>,
        path: &str,
        slices: &mut [Vec<u8>],
    ) -> Vec<u8> {
        let left_out = slice_fields(body, sliced);
        let keys: Vec<String> =
            sliced.iter().map(|part| slice_key(layout, &left_out, body, sliced, *part)).collect();
        let names: Vec<&str> = keys.iter().map(String::as_str).collect();
        let list = match value {
            Some(value) => self.list(value, path, &format!("`{}`", layout.name)),
            None => &[],
        };
        let mut out = Vec::new();
        for (at, row) in list.iter().enumerate() {
            let path = format!("{path}[{at}]");
            let (fields, payloads) = without(row, &names);
            let mut row = self.filled(layout, Some(&fields), &path);
            for ((part, payload), key) in sliced.iter().zip(payloads).zip(&keys) {
                let Some(item) = &body.parts[*part].slices else { continue };
                let bytes = self.payload(item.select.as_ref(), &row, payload, &join(&path, key));
                self.fill(&mut row, item.offset, slices[*part].len() as u64);
                self.fill(&mut row, item.size, bytes.len() as u64);
                slices[*part].extend(bytes);
            }
            out.extend(row.bytes);
        }
        out
    }

    fn words(&mut self, item: &Vocabulary, value: &Value, path: &str) -> Vec<u8> {
        let order: ByteOrder = self.packets.registry.protocol.byte_order;
        let mut out = Vec::new();
        for (at, word) in self.list(value, path, "words").iter().enumerate() {
            let path = format!("{path}[{at}]");
            let Value::Text(word) = word else {
                self.problem(&path, format!("{}, where a word is wanted", word.kind()), None);
                continue;
            };
            let mut length = vec![0; item.length_type.size() as usize];
            if item.length_type.limits().1 < word.len() as i128 {
                self.problem(&path, "a word too long for its length", None);
            }
            put(word.len() as u64, order, &mut length);
            out.extend(length);
            out.extend(word.as_bytes());
        }
        out
    }
}

/// An object without some of its fields, and those.
fn without<'v>(value: &'v Value, names: &[&str]) -> (Value, Vec<Option<&'v Value>>) {
    let taken = names.iter().map(|name| value.get(name)).collect();
    let rest = match value {
        Value::Struct(fields) => {
            let fields = fields.iter().filter(|(name, _)| !names.contains(&name.as_str()));
            Value::Struct(fields.cloned().collect())
        }
        other => other.clone(),
    };
    (rest, taken)
}

/// The parts of a body that was just written; empty ones where it is absent or no body.
fn parts_of<'a>(packets: &Packets<'_>, body: &Body, piece: Piece<'a>) -> Vec<Piece<'a>> {
    let prelude = packets.layout(body.prelude);
    let (head, rest) = piece.split(prelude.size as usize);
    let mut cut = Cut { rest };
    let length = |part: &Part| usize::try_from(head.read(prelude, part.length)).unwrap_or(usize::MAX);
    body.parts.iter().map(|part| cut.take_most(length(part))).collect()
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// The largest number of so many bytes.
fn most(size: u32) -> u64 {
    u64::MAX >> (64 - 8 * size.clamp(1, 8))
}
