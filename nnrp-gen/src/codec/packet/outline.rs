//! What the bytes of a packet are, as far as that can be told.

use crate::model::{
    Body, ByteOrder, Content, Entry, Layout, Message, Part as PartItem, Segment, Slices, Vocabulary,
};

use super::Packets;
use super::block::{self, Selector};
use super::piece::{Cut, Piece, bytes_of};
use super::slots::object;
use super::tensor::Descriptor;

/// The bytes of one packet, cut into what they are.
///
/// Every byte is in exactly one leaf, in order. A packet that is good is cut wholly; of one that is wrong, lengths are
/// followed as far as there are bytes.
#[derive(Clone, Debug)]
pub struct Outline<'a> {
    /// The message, where the header names one.
    pub message: Option<&'a Message>,
    /// The header, the metadata where there is one, the segments of the body, and what is left over.
    pub parts: Vec<Part<'a>>,
}

/// A stretch of a packet.
#[derive(Clone, Debug)]
pub struct Part<'a> {
    /// What the registry or its place calls it; empty for one of several.
    pub name: &'a str,
    /// Its first byte, counted from the start of the packet.
    pub at: usize,
    /// Its bytes.
    pub bytes: &'a [u8],
    /// What it is.
    pub kind: Kind<'a>,
    /// What it is made of.
    pub parts: Vec<Part<'a>>,
}

/// What a stretch of a packet is.
#[derive(Clone, Copy, Debug)]
pub enum Kind<'a> {
    /// A layout, perhaps cut short.
    Layout(&'a Layout),
    /// Bytes that only the application knows.
    Opaque,
    /// Zero bytes up to a boundary.
    Padding,
    /// Bytes that nothing names.
    Extra,
    /// Layouts one behind the other.
    Rows(&'a Layout),
    /// Entries one behind the other.
    Entries(&'a Entry),
    /// One entry: `header`, `payload`, `padding`.
    Entry(&'a Entry),
    /// A prelude and parts.
    Body(&'a Body),
    /// Rows, as many as a field says, and the rest.
    Leading(&'a Layout),
    /// The slices that the rows of an earlier part name.
    Slices(&'a Slices),
    /// Words one behind the other.
    Words(&'a Vocabulary),
    /// One word: `length`, `word`.
    Word,
    /// The sections of a tensor.
    Sections,
    /// One section: `padding`, `descriptor`, `codec_table`, `length_table`, `payload`.
    Section,
    /// The lengths of tiles, four bytes each.
    Lengths(ByteOrder),
    /// An index of tiles.
    Tiles,
}

impl<'a> Part<'a> {
    fn new(name: &'a str, piece: Piece<'a>, kind: Kind<'a>) -> Self {
        Self { name, at: piece.at, bytes: piece.bytes, kind, parts: Vec::new() }
    }

    fn with(self, parts: Vec<Part<'a>>) -> Self {
        Self { parts, ..self }
    }

    /// Its part of that name.
    pub fn part(&self, name: &str) -> Option<&Part<'a>> {
        self.parts.iter().find(|part| part.name == name)
    }
}

impl<'a> Packets<'a> {
    /// What the bytes of one packet are, as far as that can be told.
    pub fn outline(&self, bytes: &'a [u8]) -> Outline<'a> {
        let (header, behind) = Piece { bytes, at: 0 }.split(self.header.size as usize);
        let mut parts = vec![Part::new("header", header, Kind::Layout(self.header))];
        let whole = header.len() == self.header.size as usize;
        let message = self.message_of(header).filter(|_| whole);
        let mut cut = Cut { rest: behind };
        if let Some(message) = message {
            let declared = header.read(self.header, self.metadata_length);
            let metadata = cut.take_most(usize::try_from(declared).unwrap_or(usize::MAX));
            let size = self.metadata(message).map_or(0, |layout| layout.size as usize);
            let (metadata, extra) = metadata.split(size);
            if let Some(layout) = self.metadata(message) {
                parts.push(Part::new("metadata", metadata, Kind::Layout(layout)));
            }
            push(&mut parts, Part::new("", extra, Kind::Extra));
            if metadata.len() == size {
                let declared = header.read(self.header, self.body_length);
                let body = cut.take_most(usize::try_from(declared).unwrap_or(usize::MAX));
                Walk { packets: self, message, metadata }.segments(body, &mut parts);
            }
        }
        push(&mut parts, Part::new("", cut.rest, Kind::Extra));
        Outline { message, parts }
    }
}

/// Adds a part that is not empty.
fn push<'a>(parts: &mut Vec<Part<'a>>, part: Part<'a>) {
    if !part.bytes.is_empty() {
        parts.push(part);
    }
}

/// A body being cut.
struct Walk<'w, 'a> {
    packets: &'w Packets<'a>,
    message: &'a Message,
    metadata: Piece<'a>,
}

impl<'a> Walk<'_, 'a> {
    fn number(&self, field: usize) -> u64 {
        self.packets.metadata(self.message).map_or(0, |layout| self.metadata.read(layout, field))
    }

    fn segments(&self, body: Piece<'a>, parts: &mut Vec<Part<'a>>) {
        let mut cut = Cut { rest: body };
        for segment in &self.message.segments {
            let length = segment.length.map_or(u64::MAX, |field| self.number(field));
            let piece = cut.take_most(usize::try_from(length).unwrap_or(usize::MAX));
            parts.push(self.segment(segment, piece));
        }
        push(parts, Part::new("", cut.rest, Kind::Extra));
    }

    /// A segment as the metadata selects what it holds.
    fn segment(&self, segment: &'a Segment, piece: Piece<'a>) -> Part<'a> {
        let value = segment.select.map(|field| self.number(field));
        let case = segment.cases.iter().find(|case| Some(case.value) == value).filter(|_| !piece.is_empty());
        match case.map(|case| case.content) {
            Some(Content::Layout(layout)) => {
                let layout = self.packets.layout(layout);
                let whole = layout.size as usize == piece.len();
                let kind = if whole { Kind::Layout(layout) } else { Kind::Opaque };
                Part::new(&segment.name, piece, kind)
            }
            Some(content) => self.content(&segment.name, content, piece),
            None => self.content(&segment.name, segment.content, piece),
        }
    }

    fn content(&self, name: &'a str, content: Content, piece: Piece<'a>) -> Part<'a> {
        let registry = self.packets.registry;
        match content {
            Content::Opaque => Part::new(name, piece, Kind::Opaque),
            Content::Layout(layout) => self.rows(name, self.packets.layout(layout), piece),
            Content::Entry(entry) => self.entries(name, &registry.entries[entry], piece),
            Content::Body(body) => self.body(name, &registry.bodies[body], piece),
            Content::Vocabulary(words) => self.words(name, &registry.vocabularies[words], piece),
        }
    }

    fn rows(&self, name: &'a str, layout: &'a Layout, piece: Piece<'a>) -> Part<'a> {
        let mut rows: Vec<_> =
            piece.rows(layout.size).map(|row| Part::new("", row, Kind::Layout(layout))).collect();
        let size = (layout.size as usize).max(1);
        push(&mut rows, Part::new("", piece.split(piece.len() - piece.len() % size).1, Kind::Layout(layout)));
        Part::new(name, piece, Kind::Rows(layout)).with(rows)
    }

    fn entries(&self, name: &'a str, entry: &'a Entry, piece: Piece<'a>) -> Part<'a> {
        let layout = self.packets.layout(entry.header);
        let (mut list, mut rest) = (Vec::new(), piece);
        while !rest.is_empty() {
            let (found, behind) = block::first(layout, entry, rest);
            let mut parts = vec![Part::new("header", found.header, Kind::Layout(layout))];
            let payload = self.payload(entry, found);
            push(&mut parts, payload);
            push(&mut parts, Part::new("padding", found.padding, Kind::Padding));
            let whole = rest.sub(0, rest.len() - behind.len());
            list.push(Part::new("", whole, Kind::Entry(entry)).with(parts));
            rest = behind;
        }
        Part::new(name, piece, Kind::Entries(entry)).with(list)
    }

    fn payload(&self, entry: &'a Entry, found: block::Found<'a>) -> Part<'a> {
        let layout = self.packets.layout(entry.header);
        if let Some(select) = &entry.select {
            let selector = Selector { select, layout, length: entry.payload, id: &entry.id };
            let part = self.selected(&selector, "payload", found.header, found.payload);
            let kind = found.header.read(layout, select.field);
            return match &self.message.tensor {
                Some(_) if !matches!(part.kind, Kind::Opaque) => part,
                Some(tensor) if tensor.section_table == kind => self.sections(found.payload).unwrap_or(part),
                Some(tensor) if tensor.tile_index == kind && tensor.mode.is_some() => {
                    Part { kind: Kind::Tiles, ..part }
                }
                _ => part,
            };
        }
        Part::new("payload", found.payload, Kind::Opaque)
    }

    /// A payload as what its header or row says.
    fn selected(
        &self,
        selector: &Selector<'_>,
        name: &'a str,
        header: Piece<'a>,
        payload: Piece<'a>,
    ) -> Part<'a> {
        let registry = self.packets.registry;
        let choice = block::choice(registry, selector.select, selector.layout, header, self.message);
        let layout = choice.map(|choice| self.packets.layout(choice.layout));
        let kind = match layout.filter(|layout| layout.size as usize == payload.len()) {
            Some(layout) => Kind::Layout(layout),
            None => Kind::Opaque,
        };
        Part::new(name, payload, kind)
    }

    fn sections(&self, table: Piece<'a>) -> Option<Part<'a>> {
        let descriptor = Descriptor::of(self.packets.registry)?;
        let (mut list, mut rest) = (Vec::new(), table);
        while !rest.is_empty() {
            let (section, behind) = descriptor.first(table.at, rest);
            let whole = rest.sub(0, rest.len() - behind.len());
            let layout = descriptor.layout;
            let mut parts = Vec::new();
            push(&mut parts, Part::new("padding", section.padding, Kind::Padding));
            push(&mut parts, Part::new("descriptor", section.descriptor, Kind::Layout(layout)));
            push(&mut parts, Part::new("codec_table", section.codec_table, Kind::Opaque));
            let lengths = Kind::Lengths(layout.byte_order);
            push(&mut parts, Part::new("length_table", section.length_table, lengths));
            push(&mut parts, Part::new("payload", section.payload, Kind::Opaque));
            list.push(Part::new("", whole, Kind::Section).with(parts));
            rest = behind;
        }
        Some(Part::new("payload", table, Kind::Sections).with(list))
    }

    fn body(&self, name: &'a str, body: &'a Body, piece: Piece<'a>) -> Part<'a> {
        let whole = Part::new(name, piece, Kind::Body(body));
        if piece.is_empty() && body.optional {
            return whole;
        }
        let prelude = self.packets.layout(body.prelude);
        let (head, rest) = piece.split(prelude.size as usize);
        let mut parts = vec![Part::new("prelude", head, Kind::Layout(prelude))];
        if head.len() == prelude.size as usize {
            let mut cut = Cut { rest };
            let mut pieces = Vec::with_capacity(body.parts.len());
            for part in &body.parts {
                let length = usize::try_from(head.read(prelude, part.length)).unwrap_or(usize::MAX);
                let piece = cut.take_most(length);
                pieces.push(piece);
                parts.push(self.part(part, head, prelude, &pieces, piece));
            }
            push(&mut parts, Part::new("", cut.rest, Kind::Extra));
        }
        whole.with(parts)
    }

    fn part(
        &self,
        item: &'a PartItem,
        head: Piece<'a>,
        prelude: &'a Layout,
        pieces: &[Piece<'a>],
        piece: Piece<'a>,
    ) -> Part<'a> {
        if let Some(slices) = &item.slices {
            return self.slices(item, slices, pieces[slices.rows], piece);
        }
        if let Some((layout, count)) = item.leading {
            let layout = self.packets.layout(layout);
            let (rows, rest) = piece.split(bytes_of(head.read(prelude, count), layout.size));
            let rows = self.rows("leading", layout, rows);
            let rest = Part::new("rest", rest, Kind::Opaque);
            return Part::new(&item.name, piece, Kind::Leading(layout)).with(vec![rows, rest]);
        }
        self.content(&item.name, item.content, piece)
    }

    fn slices(&self, item: &'a PartItem, slices: &'a Slices, rows: Piece<'a>, piece: Piece<'a>) -> Part<'a> {
        let layout = self.packets.layout(slices.layout);
        let mut cut = Cut { rest: piece };
        let mut list = Vec::new();
        for row in rows.rows(layout.size) {
            let size = usize::try_from(row.read(layout, slices.size)).unwrap_or(usize::MAX);
            let slice = cut.take_most(size);
            list.push(match &slices.select {
                None => Part::new("", slice, Kind::Opaque),
                Some(select) => {
                    let selector = Selector { select, layout, length: slices.size, id: &item.id };
                    self.selected(&selector, "", row, slice)
                }
            });
        }
        push(&mut list, Part::new("", cut.rest, Kind::Extra));
        Part::new(&item.name, piece, Kind::Slices(slices)).with(list)
    }

    fn words(&self, name: &'a str, item: &'a Vocabulary, piece: Piece<'a>) -> Part<'a> {
        let registry = self.packets.registry;
        let (mut list, mut rest) = (Vec::new(), piece);
        while !rest.is_empty() {
            let (length, word, behind) = block::first_word(registry, item, rest);
            let whole = rest.sub(0, length.len() + word.len());
            let mut parts = vec![Part::new("length", length, Kind::Opaque)];
            push(&mut parts, Part::new("word", word, Kind::Opaque));
            list.push(Part::new("", whole, Kind::Word).with(parts));
            rest = behind;
        }
        Part::new(name, piece, Kind::Words(item)).with(list)
    }
}

/// How many things a segment holds that was checked.
pub(super) fn count(packets: &Packets<'_>, content: Content, piece: Piece<'_>) -> usize {
    let registry = packets.registry;
    match content {
        Content::Opaque | Content::Body(_) => piece.len(),
        Content::Layout(layout) => piece.len() / (packets.layout(layout).size as usize).max(1),
        Content::Entry(entry) => block::entries(registry, &registry.entries[entry], piece).count(),
        Content::Vocabulary(words) => {
            let (mut rest, mut count) = (piece, 0);
            while !rest.is_empty() {
                rest = block::first_word(registry, &registry.vocabularies[words], rest).2;
                count += 1;
            }
            count
        }
    }
}

/// Bytes of the first object of a kind; 0 without one.
pub(super) fn object_size(packets: &Packets<'_>, entry: &Entry, block: Piece<'_>, kind: u64) -> usize {
    object(packets.registry, entry, block, kind).map_or(0, |object| object.payload.len())
}
