//! Finds what is wrong with a packet.

use crate::codec::Fault;
use crate::model::{Case, Content, Layout, Message, Rule, Segment};
use crate::rule::{self, FieldRef, Presence, Space};
use crate::wire::FaultKind;

use super::Packets;
use super::piece::{Cut, Piece, need};

/// A packet whose header is good and whose lengths are right.
pub(super) struct Frame<'p, 'a> {
    pub packets: &'p Packets<'p>,
    pub message: &'p Message,
    pub header: Piece<'a>,
    pub metadata: Piece<'a>,
    pub body: Piece<'a>,
}

impl Packets<'_> {
    pub(super) fn check(&self, bytes: &[u8]) -> Result<(), Fault> {
        let whole = Piece { bytes, at: 0 };
        let (header, behind) = whole.split(self.header.size as usize);
        let message = self.checked_header(header)?;
        let mut cut = Cut { rest: behind };
        let metadata = cut.take(header.read(self.header, self.metadata_length));
        let fits = cut.rest.len() as u64 == header.read(self.header, self.body_length);
        let Some(metadata) = metadata.filter(|_| fits) else {
            return Err(header.blame(self.header, self.body_length, FaultKind::Length, ""));
        };
        Frame { packets: self, message, header, metadata, body: cut.rest }.check()
    }
}

impl<'p, 'a> Frame<'p, 'a> {
    fn check(&self) -> Result<(), Fault> {
        if let Some(layout) = self.layout() {
            self.metadata.is_one(self.packets.registry, layout)?;
        }
        let rules = || self.message.scope_rules.iter().chain(&self.message.rules);
        rules().filter(|rule| !rule.reads_body()).try_for_each(|rule| self.rule(rule, &[]))?;
        let segments = self.cut()?;
        for (segment, piece) in self.message.segments.iter().zip(&segments) {
            self.segment(segment, *piece)?;
        }
        if let Some((segment, body)) = self.message.body() {
            self.parts_agree(body, segments[segment])?;
        }
        rules().filter(|rule| rule.reads_body()).try_for_each(|rule| self.rule(rule, &segments))
    }

    /// The layout of the metadata.
    pub(super) fn layout(&self) -> Option<&'p Layout> {
        self.packets.metadata(self.message)
    }

    /// A metadata field as a number.
    pub(super) fn number(&self, field: usize) -> u64 {
        self.layout().map_or(0, |layout| self.metadata.read(layout, field))
    }

    /// A metadata field of that name as a number.
    pub(super) fn named(&self, name: &str) -> u64 {
        let position =
            self.layout().and_then(|layout| layout.fields.iter().position(|field| field.name == name));
        position.map_or(0, |field| self.number(field))
    }

    /// A fault in a metadata field.
    pub(super) fn blame(&self, field: usize, kind: FaultKind, id: &str) -> Fault {
        match self.layout() {
            Some(layout) => self.metadata.blame(layout, field, kind, id),
            None => Fault::at(&self.message.name, "", self.metadata.at, kind, id),
        }
    }

    fn rule(&self, rule: &Rule, segments: &[Piece<'a>]) -> Result<(), Fault> {
        let values = Reach { frame: self, segments };
        let applies = rule.when.as_ref().is_none_or(|when| rule::eval(when, &values));
        if !applies || rule::eval(&rule.require, &values) {
            return Ok(());
        }
        let (layout, base) = match (rule.blame.space, self.layout()) {
            (Space::Own, Some(layout)) => (layout, self.metadata.at),
            (Space::Own, None) => (self.packets.header, self.metadata.at),
            (Space::Header, _) => (self.packets.header, 0),
        };
        match layout.fields.get(rule.blame.index) {
            Some(blamed) => {
                let fault = Fault::rule(self.packets.registry, layout, rule, blamed, base);
                Err(Fault { of_message: true, ..fault })
            }
            None => Ok(()),
        }
    }

    /// The segments of the body.
    fn cut(&self) -> Result<Vec<Piece<'a>>, Fault> {
        let mut cut = Cut { rest: self.body };
        let mut pieces = Vec::with_capacity(self.message.segments.len());
        for segment in &self.message.segments {
            let piece = match segment.length {
                None => Some(cut.take_most(usize::MAX)),
                Some(field) => cut.take(self.number(field)),
            };
            let blame = || self.blame(segment.length.unwrap_or(0), FaultKind::Length, &segment.id);
            pieces.push(piece.ok_or_else(blame)?);
        }
        need(cut.rest.is_empty(), || match self.message.segments.last() {
            Some(last) => Fault::at(&self.message.name, &last.name, cut.rest.at, FaultKind::Length, &last.id),
            // The header is good and says where the packet ends: that there is a body is the message's fault.
            None => {
                let packets = self.packets;
                let fault = self.header.blame(packets.header, packets.body_length, FaultKind::Length, "");
                // The header is good; it is the message that has no body.
                Fault { of_message: true, ..fault }
            }
        })?;
        Ok(pieces)
    }

    fn segment(&self, segment: &Segment, piece: Piece<'a>) -> Result<(), Fault> {
        let count = self.content(segment, segment.content, piece)?;
        if let Some(field) = segment.count {
            let counted = self.number(field) == count;
            need(counted, || self.blame(field, FaultKind::Length, &segment.id))?;
        }
        match self.case(segment) {
            Some(case) if !piece.is_empty() => self.case_content(segment, case, piece),
            _ => Ok(()),
        }
    }

    /// The case of a segment that the metadata selects.
    fn case<'s>(&self, segment: &'s Segment) -> Option<&'s Case> {
        let value = self.number(segment.select?);
        segment.cases.iter().find(|case| case.value == value)
    }

    fn case_content(&self, segment: &Segment, case: &Case, piece: Piece<'a>) -> Result<(), Fault> {
        let Content::Layout(layout) = case.content else {
            return self.content(segment, case.content, piece).map(|_| ());
        };
        let layout = self.packets.layout(layout);
        need(piece.len() == layout.size as usize, || match segment.length {
            Some(field) => self.blame(field, FaultKind::Length, &case.id),
            None => Fault::at(&self.message.name, &segment.name, piece.at, FaultKind::Length, &case.id),
        })?;
        piece.is_one(self.packets.registry, layout)
    }

    /// Checks what a segment holds, and counts it.
    fn content(&self, segment: &Segment, content: Content, piece: Piece<'a>) -> Result<u64, Fault> {
        let registry = self.packets.registry;
        match content {
            Content::Opaque => Ok(piece.len() as u64),
            Content::Layout(layout) => {
                let layout = self.packets.layout(layout);
                let size = (layout.size as usize).max(1);
                let whole = piece.len() - piece.len() % size;
                need(whole == piece.len(), || match segment.length {
                    Some(field) => self.blame(field, FaultKind::Length, &segment.id),
                    None => {
                        let at = piece.at + whole;
                        Fault::at(&self.message.name, &segment.name, at, FaultKind::Length, &segment.id)
                    }
                })?;
                piece.are_all(registry, layout)?;
                Ok((whole / size) as u64)
            }
            Content::Entry(entry) => self.entries(&registry.entries[entry], piece),
            Content::Body(body) => self.parts(&registry.bodies[body], piece).map(|()| 0),
            Content::Vocabulary(words) => self.words(&registry.vocabularies[words], piece),
        }
    }
}

/// What a message's rule sees.
struct Reach<'r, 'p, 'a> {
    frame: &'r Frame<'p, 'a>,
    segments: &'r [Piece<'a>],
}

impl rule::Values for Reach<'_, '_, '_> {
    fn int(&self, field: FieldRef) -> i128 {
        let (layout, piece) = match (field.space, self.frame.layout()) {
            (Space::Own, Some(layout)) => (layout, self.frame.metadata),
            _ => (self.frame.packets.header, self.frame.header),
        };
        let Some(field) = layout.fields.get(field.index) else { return 0 };
        match (field.scalar(), piece.bytes.get(field.range())) {
            (Some(scalar), Some(bytes)) => crate::codec::integer(bytes, scalar, layout.byte_order),
            _ => 0,
        }
    }

    fn present(&self, presence: Presence) -> bool {
        let piece = self.segments.get(presence.segment);
        piece.is_some_and(|piece| self.frame.has(presence, *piece))
    }

    fn in_enum(&self, enumeration: usize, value: i128) -> bool {
        let item = self.frame.packets.registry.enums.get(enumeration);
        item.zip(u64::try_from(value).ok()).is_some_and(|(item, value)| item.accepts(value))
    }
}
