//! What repeats: entries, and words.

use std::collections::HashSet;

use crate::codec::Fault;
use crate::codec::number::raw;
use crate::model::{Choice, Content, Entry, Layout, Message, Registry, Select, Vocabulary};
use crate::rule::{self, FieldRef, Presence};
use crate::wire::FaultKind;

use super::check::Frame;
use super::piece::{Piece, need};

/// An entry in its block.
#[derive(Clone, Copy)]
pub(super) struct Found<'a> {
    pub header: Piece<'a>,
    pub payload: Piece<'a>,
    pub padding: Piece<'a>,
}

/// The first entry of `rest` and what is behind it, which looks at nothing but lengths. What is cut is shorter than it
/// should be.
pub(super) fn first<'a>(layout: &Layout, entry: &Entry, rest: Piece<'a>) -> (Found<'a>, Piece<'a>) {
    let (header, behind) = rest.split(layout.size as usize);
    let length = usize::try_from(header.read(layout, entry.payload)).unwrap_or(usize::MAX);
    let (payload, behind) = behind.split(length);
    let (padding, behind) = behind.split(padding(header.len() + payload.len(), entry.align));
    (Found { header, payload, padding }, behind)
}

/// Zero bytes behind so many others.
pub(super) fn padding(size: usize, align: u32) -> usize {
    match size % (align as usize).max(1) {
        0 => 0,
        over => align as usize - over,
    }
}

/// The entries of a block that was checked.
pub(super) fn entries<'a>(
    registry: &Registry,
    entry: &Entry,
    block: Piece<'a>,
) -> impl Iterator<Item = Found<'a>> {
    let layout = &registry.layouts[entry.header];
    let mut rest = block;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (found, behind) = first(layout, entry, rest);
        rest = behind;
        Some(found)
    })
}

/// What a payload is in a message, where its header or row says something that is known.
pub(super) fn choice<'s>(
    registry: &Registry,
    select: &'s Select,
    layout: &Layout,
    header: Piece<'_>,
    message: &Message,
) -> Option<&'s Choice> {
    let value = header.read(layout, select.field);
    let here =
        |position: &usize| registry.messages.get(*position).is_some_and(|known| known.value == message.value);
    let known = |choice: &&Choice| {
        choice.value == value && (choice.messages.is_empty() || choice.messages.iter().any(here))
    };
    select.choices.iter().find(known)
}

/// What selects payloads: the layout of headers or rows, its field for the payload's length, and the rule.
pub(super) struct Selector<'s> {
    pub select: &'s Select,
    pub layout: &'s Layout,
    pub length: usize,
    pub id: &'s str,
}

impl Frame<'_, '_> {
    /// Checks a block of entries, and counts them.
    pub(super) fn entries(&self, entry: &Entry, block: Piece<'_>) -> Result<u64, Fault> {
        let layout = self.packets.layout(entry.header);
        let mut rest = block;
        let mut count = 0;
        let mut values = HashSet::new();
        let mut seen = HashSet::new();
        while !rest.is_empty() {
            let (found, behind) = self.entry(entry, layout, rest)?;
            if let Some(field) = entry.unique {
                let fresh = values.insert(found.header.read(layout, field));
                need(fresh, || found.header.blame(layout, field, FaultKind::Rule, &entry.id))?;
            }
            if let Some(select) = &entry.select {
                let selector = Selector { select, layout, length: entry.payload, id: &entry.id };
                self.selected(&selector, found.header, found.payload, &mut seen)?;
            }
            rest = behind;
            count += 1;
        }
        Ok(count)
    }

    /// Checks the shape of the first entry of `rest`.
    fn entry<'a>(
        &self,
        entry: &Entry,
        layout: &Layout,
        rest: Piece<'a>,
    ) -> Result<(Found<'a>, Piece<'a>), Fault> {
        rest.sub(0, layout.size as usize).is_one(self.packets.registry, layout)?;
        let (found, behind) = first(layout, entry, rest);
        let declared = found.header.read(layout, entry.payload);
        need(found.payload.len() as u64 == declared, || {
            found.header.blame(layout, entry.payload, FaultKind::Length, &entry.id)
        })?;
        let wrong = |at, kind| Fault::at(&entry.name, "", at, kind, &entry.id);
        if let Some(byte) = found.padding.bytes.iter().position(|byte| *byte != 0) {
            return Err(wrong(found.padding.at + byte, FaultKind::Reserved));
        }
        let padding = padding(found.header.len() + found.payload.len(), entry.align);
        need(found.padding.len() == padding, || wrong(rest.end(), FaultKind::TooShort))?;
        Ok((found, behind))
    }

    /// Checks a payload against what its header or row says. `seen` has the values of choices that stood before.
    pub(super) fn selected(
        &self,
        selector: &Selector<'_>,
        header: Piece<'_>,
        payload: Piece<'_>,
        seen: &mut HashSet<u64>,
    ) -> Result<(), Fault> {
        let Selector { select, layout, length, id } = selector;
        let registry = self.packets.registry;
        let critical = select.critical.filter(|(field, bit)| header.read(layout, *field) & bit != 0);
        let Some(choice) = choice(registry, select, layout, header, self.message) else {
            return need(critical.is_none(), || {
                let code = select.code.and_then(|code| u32::try_from(code).ok()).filter(|code| *code != 0);
                Fault { code, ..header.blame(layout, select.field, FaultKind::Unsupported, id) }
            });
        };
        let id = if choice.id.is_empty() { id } else { choice.id.as_str() };
        let wrong = |field, kind| header.blame(layout, field, kind, id);
        if let Some((field, _)) = critical.filter(|_| choice.refuse_critical) {
            return Err(wrong(field, FaultKind::Rule));
        }
        if let Some((condition, blamed)) = &choice.require {
            let row = Row { registry, layout, row: header };
            need(rule::eval(condition, &row), || wrong(*blamed, FaultKind::Rule))?;
        }
        need(!choice.once || seen.insert(choice.value), || wrong(select.field, FaultKind::Rule))?;
        let content = self.packets.layout(choice.layout);
        need(payload.len() == content.size as usize, || wrong(*length, FaultKind::Length))?;
        payload.is_one(registry, content)
    }

    /// Whether a block of entries, which was checked, has one that is known by that value, with that bool of its
    /// payload set.
    pub(super) fn has(&self, presence: Presence, block: Piece<'_>) -> bool {
        let registry = self.packets.registry;
        let segment = self.message.segments.get(presence.segment);
        let Some(Content::Entry(entry)) = segment.map(|segment| segment.content) else { return false };
        let entry = &registry.entries[entry];
        let layout = self.packets.layout(entry.header);
        let Some(select) = &entry.select else { return false };
        entries(registry, entry, block).any(|found| {
            let choice = choice(registry, select, layout, found.header, self.message);
            choice.filter(|choice| choice.value == presence.value).is_some_and(|choice| {
                let content = self.packets.layout(choice.layout);
                presence.flag.is_none_or(|flag| found.payload.read(content, flag) != 0)
            })
        })
    }

    /// Checks words, and counts them.
    pub(super) fn words(&self, item: &Vocabulary, block: Piece<'_>) -> Result<u64, Fault> {
        let wrong = |field: &str, at, kind| Fault::at(&item.name, field, at, kind, &item.id);
        let mut rest = block;
        let mut before: &[u8] = &[];
        let mut count = 0;
        while !rest.is_empty() {
            let (length, word, behind) = first_word(self.packets.registry, item, rest);
            need(length.len() == item.length_type.size() as usize, || {
                wrong("", rest.end(), FaultKind::TooShort)
            })?;
            let declared = raw(length.bytes, self.packets.registry.protocol.byte_order);
            let fits = declared != 0 && declared == word.len() as u64;
            need(fits, || wrong("length", length.at, FaultKind::Length))?;
            need(registered(item, word.bytes), || wrong("word", word.at, FaultKind::UnknownValue))?;
            need(before < word.bytes, || wrong("word", word.at, FaultKind::Rule))?;
            before = word.bytes;
            rest = behind;
            count += 1;
        }
        Ok(count)
    }
}

/// The length of the first word, the word, and what is behind it. What is cut is shorter than it should be.
pub(super) fn first_word<'a>(
    registry: &Registry,
    item: &Vocabulary,
    rest: Piece<'a>,
) -> (Piece<'a>, Piece<'a>, Piece<'a>) {
    let (length, behind) = rest.split(item.length_type.size() as usize);
    let declared = raw(length.bytes, registry.protocol.byte_order);
    let (word, behind) = behind.split(usize::try_from(declared).unwrap_or(usize::MAX));
    (length, word, behind)
}

fn registered(item: &Vocabulary, word: &[u8]) -> bool {
    item.words.binary_search_by(|(known, _)| known.as_bytes().cmp(word)).is_ok()
}

/// What a condition on a header or row sees.
struct Row<'r> {
    registry: &'r Registry,
    layout: &'r Layout,
    row: Piece<'r>,
}

impl rule::Values for Row<'_> {
    fn int(&self, field: FieldRef) -> i128 {
        let Some(field) = self.layout.fields.get(field.index) else { return 0 };
        match (field.scalar(), self.row.bytes.get(field.range())) {
            (Some(scalar), Some(bytes)) => crate::codec::integer(bytes, scalar, self.layout.byte_order),
            _ => 0,
        }
    }

    fn present(&self, _: Presence) -> bool {
        // Only a message has a body.
        false
    }

    fn in_enum(&self, enumeration: usize, value: i128) -> bool {
        let item = self.registry.enums.get(enumeration);
        item.zip(u64::try_from(value).ok()).is_some_and(|(item, value)| item.accepts(value))
    }
}
