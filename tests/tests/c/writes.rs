//! Rust and C write the same packets from the same pieces, and refuse the same for the same reason.

use nnrp_gen::codec::packet::{Packets, Part};
use nnrp_gen::codec::{Value, bytes_as_hex, field_value};
use nnrp_gen::model::{Body, Content, Count, Element, Layout, Message, Registry, Segment};
use nnrp_tests::generated::Fault;
use nnrp_tests::packet::Maker;
use nnrp_tests::random::Random;

use crate::driver::{self, Driver, member};
use crate::packets::{by_registry, generated, rounds, tries};
use crate::samples;
use crate::toolchain::{BUILDS, compile, folder, have, registry};

/// Values and pieces to write a packet from, good or not.
pub struct WriteRequest {
    /// The position of the message.
    pub message: usize,
    /// How much room there is: so many bytes, or a little more than the packet needs.
    pub room: Option<usize>,
    header: Vec<u64>,
    metadata: Vec<u64>,
    /// Every segment, but for a body its prelude and its parts.
    pieces: Vec<Vec<u8>>,
}

/// What came of it.
#[derive(Debug, PartialEq, Eq)]
pub struct Written {
    /// How long the packet is said to be.
    pub size: usize,
    /// The packet, or why there is none.
    pub packet: Result<Vec<u8>, Fault>,
}

impl WriteRequest {
    /// The bytes that the program reads.
    pub fn payload(&self) -> Vec<u8> {
        let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX).to_ne_bytes();
        let mut payload = number(self.room.unwrap_or(usize::MAX)).to_vec();
        payload.extend(self.header.iter().chain(&self.metadata).flat_map(|value| value.to_ne_bytes()));
        for piece in &self.pieces {
            payload.extend(number(piece.len()));
            payload.extend(piece);
        }
        payload
    }

    /// What a packet could be written from again, where its bytes are cut wholly into pieces.
    fn of(packets: &Packets<'_>, registry: &Registry, position: usize, bytes: &[u8]) -> Option<Self> {
        let message = &registry.messages[position];
        let outline = packets.outline(bytes);
        if outline.message.map(|it| it.value) != Some(message.value) {
            return None;
        }
        let values = |layout: &Layout, name: &str| {
            let part = outline.parts.iter().find(|part| part.name == name)?;
            let mut values = Vec::new();
            if part.bytes.len() != layout.size as usize {
                return None;
            }
            samples::values(registry, layout, part.bytes, &mut values);
            Some(values)
        };
        let metadata = message.metadata.map(|layout| &registry.layouts[layout]);
        let front = 1 + usize::from(metadata.is_some());
        let mut pieces = Vec::new();
        for (segment, part) in message.segments.iter().zip(outline.parts.get(front..)?) {
            match body_of(registry, segment) {
                Some(body) => {
                    let part_of = |name: &str| part.part(name).map_or(&[][..], |part: &Part<'_>| part.bytes);
                    pieces.push(part_of("prelude").to_vec());
                    pieces.extend(body.parts.iter().map(|part| part_of(&part.name).to_vec()));
                }
                None => pieces.push(part.bytes.to_vec()),
            }
        }
        Some(Self {
            message: position,
            room: None,
            header: values(packets.header(), "header")?,
            metadata: metadata.map_or(Some(Vec::new()), |layout| values(layout, "metadata"))?,
            pieces,
        })
    }

    /// Something else than the packet was.
    fn change(&mut self, random: &mut Random) {
        if random.below(8) == 0 {
            self.room = Some(random.below(200));
        }
        if self.pieces.is_empty() || random.below(3) == 0 {
            return;
        }
        let (one, two) = (random.below(self.pieces.len()), random.below(self.pieces.len()));
        let more = 1 + random.below(20);
        let piece = &mut self.pieces[one];
        match random.below(6) {
            0 => piece.clear(),
            1 => piece.truncate(piece.len().saturating_sub(more)),
            2 => piece.extend(random.bytes(more)),
            3 => piece.extend(vec![0; more]),
            4 => self.pieces.swap(one, two),
            _ => {
                if let Some(byte) = piece.get_mut(random.number() as usize % 64) {
                    *byte ^= 1 << random.below(8);
                }
            }
        }
    }

    /// What writing comes to, by the codec that the registry drives; nothing where that cannot be given the values.
    fn expected(&self, registry: &Registry, packets: &Packets<'_>) -> Option<Written> {
        let message = &registry.messages[self.message];
        let metadata = message.metadata.map(|layout| &registry.layouts[layout]);
        let front = packets.header().size + metadata.map_or(0, |layout| layout.size);
        let mut pieces = self.pieces.iter();
        let mut segments = Vec::new();
        let mut wrong = None;
        for segment in &message.segments {
            let bytes = match body_of(registry, segment) {
                Some(body) => {
                    let prelude = pieces.next()?;
                    let parts: Vec<_> = body.parts.iter().filter_map(|_| pieces.next()).collect();
                    let layout = &registry.layouts[body.prelude];
                    let size = layout.size as usize;
                    if !prelude.is_empty() && prelude.len() != size {
                        let kind = if prelude.len() < size { "too_short" } else { "too_long" };
                        wrong = Some(fault(&layout.name, kind, front as usize + prelude.len().min(size)));
                    }
                    whole(registry, body, prelude, &parts)
                }
                None => pieces.next()?.clone(),
            };
            segments.push((segment.name.clone(), Value::Text(bytes_as_hex(&bytes))));
        }
        let head = values(registry, packets.header(), &self.header, &packets.filled_in_header())?;
        let mut value = vec![("header".to_owned(), head), ("body".to_owned(), Value::Struct(segments))];
        if let Some(layout) = metadata {
            let filled = packets.filled_in_metadata(message);
            value.push(("metadata".to_owned(), values(registry, layout, &self.metadata, &filled)?));
        }
        let packet = packets.assemble(message, &Value::Struct(value));
        let packet = packet.unwrap_or_else(|problem| panic!("{}: {problem}", message.name));
        let size = packet.len();
        let place = match metadata {
            Some(layout) => &layout.name,
            None if message.segments.is_empty() => &packets.header().name,
            None => &message.name,
        };
        let packet = match (wrong, self.room) {
            (Some(fault), _) => Err(fault),
            (None, Some(room)) if room < size => Err(fault(place, "too_short", room)),
            _ => match by_registry(registry, packets, &packet, u32::MAX).packet {
                Ok(_) => Ok(packet),
                Err((fault, ..)) => Err(fault),
            },
        };
        Some(Written { size, packet })
    }
}

/// The body of several parts that a segment holds.
fn body_of<'r>(registry: &'r Registry, segment: &Segment) -> Option<&'r Body> {
    match segment.content {
        Content::Body(body) => Some(&registry.bodies[body]),
        _ => None,
    }
}

/// A fault of a layout as a whole.
fn fault(layout: &str, kind: &str, offset: usize) -> Fault {
    let says = if kind == "too_short" { "ends too early" } else { "goes on too long" };
    Fault {
        layout: layout.to_owned(),
        field: String::new(),
        offset,
        kind: kind.to_owned(),
        rule: None,
        code: None,
        sentence: format!("byte {offset}: `{layout}` {says}"),
    }
}

/// The values of a layout but for those that are filled in.
fn values(registry: &Registry, layout: &Layout, values: &[u64], filled: &[usize]) -> Option<Value> {
    let bytes = samples::bytes(registry, layout, &mut values.iter().copied());
    let mut fields = Vec::new();
    for (at, field) in layout.fields.iter().enumerate().filter(|(_, field)| field.has_value()) {
        let bytes = &bytes[field.range()];
        let value = match field.element {
            Element::Layout(inner) => {
                nnrp_gen::codec::decode(registry, &registry.layouts[inner], bytes).ok()?
            }
            Element::Scalar(_) => field_value(registry, layout, field, bytes)?,
        };
        if !filled.contains(&at) {
            fields.push((field.name.clone(), value));
        }
    }
    Some(Value::Struct(fields))
}

/// A body with the lengths and counts of its parts in its prelude.
fn whole(registry: &Registry, body: &Body, prelude: &[u8], parts: &[&Vec<u8>]) -> Vec<u8> {
    let layout = &registry.layouts[body.prelude];
    if body.optional && prelude.is_empty() && parts.iter().all(|part| part.is_empty()) {
        return Vec::new();
    }
    let mut out = samples::bytes(registry, layout, &mut std::iter::empty());
    if prelude.len() == out.len() {
        out.copy_from_slice(prelude);
    }
    for (part, bytes) in body.parts.iter().zip(parts) {
        samples::put(&mut out[layout.fields[part.length].range()], bytes.len() as u64, layout.byte_order);
        if let (Some(Count::Prelude(field)), Content::Layout(rows)) = (&part.count, part.content) {
            let count = bytes.len() as u64 / u64::from(registry.layouts[rows].size);
            samples::put(&mut out[layout.fields[*field].range()], count, layout.byte_order);
        }
    }
    out.extend(parts.iter().flat_map(|part| part.iter().copied()));
    out
}

/// The part of the C program that writes packets.
pub fn source(registry: &Registry) -> String {
    let mut out = String::new();
    let (mut writes, mut rewrites) = (String::new(), String::new());
    let header = &registry.layouts[registry.protocol.header.expect("there are packets")].name;
    for (at, message) in registry.messages.iter().enumerate() {
        out.push_str(&functions(registry, message, header));
        let (name, upper) = (&message.name, message.name.to_uppercase());
        writes.push_str(&format!("    case {at}: write_{name}_packet(room); break;\n"));
        rewrites
            .push_str(&format!("    case U(MESSAGE_{upper}): rewrite_{name}_packet(packet, more); break;\n"));
    }
    format!(
        "{out}static void write_packet(uint32_t message, uint32_t room)\n{{\n    switch (message) {{\n{writes}    \
         default: check(0, \"the message\"); break;\n    }}\n}}\n\n\
         static void rewrite(const struct N(packet) *packet, bool more)\n{{\n    switch (packet->message) {{\n{rewrites}    \
         default: check(0, \"the message\"); break;\n    }}\n}}\n\n"
    )
}

/// Writing a message from a request, and writing one again that was read.
fn functions(registry: &Registry, message: &Message, header: &str) -> String {
    let name = &message.name;
    let metadata = message.metadata.map(|layout| &registry.layouts[layout].name);
    let bodies = || message.segments.iter().filter_map(|segment| body_of(registry, segment));
    let plain = message.segments.iter().any(|segment| body_of(registry, segment).is_none());
    assert!(bodies().count() <= 1, "`{name}` has several bodies, which nothing here tries");
    let words = message.segments.iter().any(|it| matches!(it.content, Content::Vocabulary(_)));

    let mut locals = format!("    struct N({header}) header;\n");
    let mut read = format!("    read_{header}(&header);\n");
    let mut decode =
        format!("    N({header}_decode)(packet->header.data, packet->header.size, &header, NULL);\n");
    let mut arguments = String::from("&header, ");
    let mut parts = String::new();
    if let Some(layout) = metadata {
        locals.push_str(&format!("    struct N({layout}) metadata;\n"));
        read.push_str(&format!("    read_{layout}(&metadata);\n"));
        decode.push_str(&format!(
            "    N({layout}_decode)(packet->metadata.data, packet->metadata.size, &metadata, NULL);\n"
        ));
        arguments.push_str("&metadata, ");
    }
    if plain {
        parts.push_str("&body, ");
    }
    let mut split = String::new();
    if !message.segments.is_empty() {
        split = format!("    struct N({name}_body) body;\n");
        decode.push_str(&format!("    N({name}_body_split)(packet, &body);\n"));
    }
    if plain {
        locals.push_str(&split);
        split.clear();
    }
    for segment in &message.segments {
        let segment_member = member(&segment.name);
        match body_of(registry, segment) {
            Some(body) => {
                let x = &body.name;
                locals.push_str(&format!("    struct N({x}) parts;\n"));
                read.push_str("    parts.prelude = taken();\n");
                for part in &body.parts {
                    read.push_str(&format!("    parts.{} = taken();\n", member(&part.name)));
                }
                decode.push_str(&format!("    N({x}_split)(body.{segment_member}, &parts);\n"));
                parts.push_str("&parts, ");
            }
            None => read.push_str(&format!("    body.{segment_member} = taken();\n")),
        }
    }
    let size = format!("N({name}_packet_size)({})", parts.trim_end_matches(", "));
    let with = |more: &str, end: &str| match words {
        true => format!("N({name}_packet_write_with)({arguments}{parts}{more}, {end})"),
        false => format!("N({name}_packet_write)({arguments}{parts}{end})"),
    };
    format!(
        "static void write_{name}_packet(uint32_t given)\n{{\n{locals}    N(fault) fault = NO_FAULT;\n    \
         size_t room;\n    size_t length;\n    uint8_t *whole;\n    uint8_t *out;\n\n{read}    \
         room   = room_for({size}, given);\n    out    = odd(room, &whole);\n    memset(out, 0xa5, room);\n    \
         length = N({name}_packet_write)({arguments}{parts}out, room, NULL);\n    memset(out, 0xa5, room);\n    \
         check(N({name}_packet_write)({arguments}{parts}out, room, &fault) == length, \"{name} is written otherwise without a fault\");\n    \
         written(out, length, {size}, room, &fault);\n    free(whole);\n}}\n\n\
         static void rewrite_{name}_packet(const struct N(packet) *packet, bool more)\n{{\n{locals}{split}    \
         size_t size;\n    uint8_t *whole;\n    uint8_t *out;\n\n    (void)more;\n{decode}    size = {size};\n    \
         out  = odd(size, &whole);\n    \
         check(size == packet->header.size + packet->metadata.size + packet->body.size, \"the size of {name}\");\n    \
         check({} == size, \"{name} is written as it was read\");\n    \
         check(memcmp(out, packet->header.data, size) == 0, \"{name} is written with the same bytes\");\n    free(whole);\n}}\n\n",
        with("more ? &words : NULL", "out, size, NULL"),
    )
}

fn agreement(name: &str) {
    let registry = registry(name);
    let maker = Maker::new(&registry);
    let packets = maker.packets();
    let folder = folder("writes", name);
    driver::write_to(&folder, &registry);
    let mut random = Random::new(5, name);
    for (build, compiler, flags) in BUILDS {
        if !have(compiler, flags) {
            continue;
        }
        compile(&folder, compiler, &[flags, &["-o", build, "driver.c"][..]].concat());
        let mut driver = Driver::start(&folder.join(build), &registry);
        for (position, message) in registry.messages.iter().enumerate() {
            let mut counts = (0, 0);
            let mut requests = Vec::new();
            for bytes in tries(&maker, message, rounds(build).div_ceil(4), &mut random) {
                let Some(mut request) = WriteRequest::of(packets, &registry, position, &bytes) else {
                    continue;
                };
                if random.below(2) == 0 {
                    request.change(&mut random);
                }
                let expected = request.expected(&registry, packets);
                requests.extend(expected.map(|expected| (request, expected)));
            }
            let (requests, expected): (Vec<_>, Vec<_>) = requests.into_iter().unzip();
            driver.write(&requests, |at, written| {
                let WriteRequest { room, header, metadata, pieces, .. } = &requests[at];
                if written.packet.is_ok() {
                    counts.0 += 1
                } else {
                    counts.1 += 1
                }
                assert!(
                    written == expected[at],
                    "{build}: {} {header:x?} {metadata:x?} {pieces:02x?}, room {room:?}\n   C: {written:02x?}\nRust: {:02x?}",
                    message.name,
                    expected[at],
                );
                if let (Ok(packet), "nnrp") = (&written.packet, name) {
                    assert_eq!(generated(packet), None, "{build}: {} {packet:02x?}", message.name);
                }
            });
            assert!(counts.0 > 0 && counts.1 > 0, "{build}: {} {counts:?}", message.name);
        }
        driver.finish();
    }
}

#[test]
fn rust_and_c_write_the_same_packets() {
    agreement("nnrp");
}

#[test]
fn rust_and_c_write_the_same_packets_of_another_protocol() {
    agreement("relay");
}

#[test]
fn rust_and_c_write_the_same_packets_of_awkward_names() {
    agreement("awkward");
}
