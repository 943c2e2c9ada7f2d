//! Tensor sections and tile indexes, which tables cannot describe.

use crate::codec::Fault;
use crate::codec::number::raw;
use crate::model::{Body, ByteOrder, Entry, Layout, Meaning, Registry, Tensor};
use crate::wire::FaultKind;

use super::Packets;
use super::block::{self, Found};
use super::check::Frame;
use super::outline::Outline;
use super::piece::{Cut, Piece, need};
use super::slots::object;

/// The boundary that sections start at.
const ALIGN: u32 = 8;

/// The layout in front of every section, and where its fields are.
pub(super) struct Descriptor<'a> {
    pub layout: &'a Layout,
    role: usize,
    flags: usize,
    /// The bit of a section whose tiles have one size.
    fixed_stride: u64,
    codec_table: usize,
    length_table: usize,
    payload: usize,
    stride: usize,
}

impl<'a> Descriptor<'a> {
    /// Nothing where the registry has no such layout.
    pub fn of(registry: &'a Registry) -> Option<Self> {
        let layout = registry.layout("tensor_section_descriptor")?;
        let field = |name: &str| layout.fields.iter().position(|field| field.name == name);
        let flags = field("section_flags")?;
        let Meaning::Bitmask(mask) = layout.fields[flags].meaning else { return None };
        let bit = registry.bitmasks[mask].bits.iter().find(|bit| bit.name == "fixed_stride")?;
        Some(Self {
            layout,
            role: field("role_id")?,
            flags,
            fixed_stride: bit.mask,
            codec_table: field("codec_table_bytes")?,
            length_table: field("length_table_bytes")?,
            payload: field("payload_bytes")?,
            stride: field("payload_stride_bytes")?,
        })
    }

    /// The first section of `rest`, a table that starts at `start`; it looks at nothing but lengths. What is cut is
    /// shorter than it should be.
    pub fn first<'b>(&self, start: usize, rest: Piece<'b>) -> (Section<'b>, Piece<'b>) {
        let (padding, rest) = rest.split(block::padding(rest.at - start, ALIGN));
        let (descriptor, rest) = rest.split(self.layout.size as usize);
        let mut cut = Cut { rest };
        let mut take = |field| {
            let length = descriptor.read(self.layout, field);
            cut.take_most(usize::try_from(length).unwrap_or(usize::MAX))
        };
        let (codec_table, length_table) = (take(self.codec_table), take(self.length_table));
        let payload = take(self.payload);
        (Section { padding, descriptor, codec_table, length_table, payload }, cut.rest)
    }
}

/// A section of a tensor.
pub(super) struct Section<'a> {
    pub padding: Piece<'a>,
    pub descriptor: Piece<'a>,
    pub codec_table: Piece<'a>,
    pub length_table: Piece<'a>,
    pub payload: Piece<'a>,
}

impl Packets<'_> {
    /// The ids of the first `most` tiles that the tile index of a packet names; what is behind the end of a bad one is
    /// left out.
    pub fn tile_ids(&self, outline: &Outline<'_>, index: &[u8], most: usize) -> Vec<u64> {
        let metadata = outline.parts.iter().find(|part| part.name == "metadata");
        let found = outline.message.zip(metadata).and_then(|(message, metadata)| {
            let (layout, tensor) = (self.metadata(message)?, message.tensor.as_ref()?);
            let metadata = Piece { bytes: metadata.bytes, at: metadata.at };
            let mode = mode_of(self.registry, layout, metadata, tensor.mode?)?;
            let read = |field| metadata.read(layout, field);
            Some((
                mode,
                read(tensor.base),
                read(tensor.tile_count),
                Descriptor::of(self.registry)?.layout.byte_order,
            ))
        });
        let Some((mode, base, count, order)) = found else { return Vec::new() };
        let most = usize::try_from(count).unwrap_or(most).min(most);
        let words = || index.chunks_exact(2).map(|bytes| raw(bytes, order));
        match mode {
            TileMode::Dense => (0..most as u64).map(|tile| base.saturating_add(tile)).collect(),
            TileMode::Raw => words().take(most).collect(),
            TileMode::Delta => {
                let sums = words().scan(0_u64, |id, step| {
                    *id = id.saturating_add(step);
                    Some(*id)
                });
                sums.take(most).collect()
            }
            TileMode::Bits => {
                let set = |bit: &usize| index[bit / 8] >> (bit % 8) & 1 != 0;
                let bits = (0..index.len() * 8).filter(set).take(most);
                bits.map(|bit| base.saturating_add(bit as u64)).collect()
            }
        }
    }
}

/// How metadata says that tiles are indexed.
fn mode_of(registry: &Registry, layout: &Layout, metadata: Piece<'_>, field: usize) -> Option<TileMode> {
    let Meaning::Enum(item) = layout.fields.get(field)?.meaning else { return None };
    TileMode::named(&registry.enums[item].value(metadata.read(layout, field))?.name)
}

/// How a tile index names tiles.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TileMode {
    Dense,
    Raw,
    Delta,
    Bits,
}

impl TileMode {
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "dense_range" => Self::Dense,
            "raw_u16" => Self::Raw,
            "delta_u16" => Self::Delta,
            "bitset" => Self::Bits,
            _ => return None,
        })
    }
}

impl Frame<'_, '_> {
    pub(super) fn tensor(&self, body: &Body, tensor: &Tensor, parts: &[Piece<'_>]) -> Result<(), Fault> {
        let registry = self.packets.registry;
        let (Some(entry), Some(descriptor)) = (self.entry_of(body, tensor.part), Descriptor::of(registry))
        else {
            return Ok(());
        };
        let block = parts[tensor.part];
        if let Some(table) = object(registry, entry, block, tensor.section_table) {
            self.sections(tensor, entry, &descriptor, table.payload)?;
        }
        let index = object(registry, entry, block, tensor.tile_index);
        let mode = tensor.mode.zip(self.layout());
        let mode = mode.and_then(|(field, layout)| mode_of(registry, layout, self.metadata, field));
        match (index, mode) {
            (Some(index), Some(mode)) => self.tiles(tensor, entry, index, mode, descriptor.layout.byte_order),
            _ => Ok(()),
        }
    }

    fn sections(
        &self,
        tensor: &Tensor,
        entry: &Entry,
        descriptor: &Descriptor<'_>,
        table: Piece<'_>,
    ) -> Result<(), Fault> {
        let tiles = self.number(tensor.tile_count);
        let mut rest = table;
        let mut before = None;
        for _ in 0..self.number(tensor.section_count) {
            let (section, behind) = descriptor.first(table.at, rest);
            self.section(tensor, descriptor, table, &section, (before, tiles))?;
            before = Some(section.descriptor.read(descriptor.layout, descriptor.role));
            rest = behind;
        }
        need(rest.is_empty(), || Fault::at(&entry.name, "", rest.at, FaultKind::Length, &tensor.id))
    }

    /// Checks a section of a table, behind one of the role `before`.
    fn section(
        &self,
        tensor: &Tensor,
        descriptor: &Descriptor<'_>,
        table: Piece<'_>,
        section: &Section<'_>,
        (before, tiles): (Option<u64>, u64),
    ) -> Result<(), Fault> {
        let layout = descriptor.layout;
        let wrong = |at, kind| Fault::at(&layout.name, "", at, kind, &tensor.id);
        if let Some(byte) = section.padding.bytes.iter().position(|byte| *byte != 0) {
            return Err(wrong(section.padding.at + byte, FaultKind::Reserved));
        }
        let padding = block::padding(section.padding.at - table.at, ALIGN);
        need(section.padding.len() == padding, || wrong(table.end(), FaultKind::TooShort))?;
        section.descriptor.is_one(self.packets.registry, layout)?;
        let read = |field| section.descriptor.read(layout, field);
        let blame = |field, kind| section.descriptor.blame(layout, field, kind, &tensor.id);
        let role = read(descriptor.role);
        need(before.is_none_or(|before| before < role), || blame(descriptor.role, FaultKind::Rule))?;
        let codecs = read(descriptor.codec_table);
        need(codecs == 0 || codecs == tiles, || blame(descriptor.codec_table, FaultKind::Length))?;
        let fixed = read(descriptor.flags) & descriptor.fixed_stride != 0;
        let lengths = if fixed { 0 } else { tiles.saturating_mul(4) };
        need(read(descriptor.length_table) == lengths, || blame(descriptor.length_table, FaultKind::Length))?;
        for (field, held) in [
            (descriptor.codec_table, section.codec_table),
            (descriptor.length_table, section.length_table),
            (descriptor.payload, section.payload),
        ] {
            need(held.len() as u64 == read(field), || blame(field, FaultKind::Length))?;
        }
        let bytes = if fixed {
            read(descriptor.stride).checked_mul(tiles)
        } else {
            let each = section.length_table.bytes.chunks_exact(4);
            Some(each.map(|length| raw(length, layout.byte_order)).sum())
        };
        need(bytes == Some(section.payload.len() as u64), || blame(descriptor.payload, FaultKind::Length))
    }

    fn tiles(
        &self,
        tensor: &Tensor,
        entry: &Entry,
        index: Found<'_>,
        mode: TileMode,
        order: ByteOrder,
    ) -> Result<(), Fault> {
        let count = self.number(tensor.tile_count);
        let bytes = index.payload.bytes;
        let fits = match mode {
            TileMode::Dense => bytes.is_empty(),
            TileMode::Raw | TileMode::Delta => bytes.len() as u64 == count.saturating_mul(2),
            TileMode::Bits => bytes.is_empty() == (count == 0),
        };
        let layout = self.packets.layout(entry.header);
        need(fits, || index.header.blame(layout, entry.payload, FaultKind::Length, &tensor.id))?;
        let wrong = |byte| Fault::at(&entry.name, "", index.payload.at + byte, FaultKind::Rule, &tensor.id);
        match mode {
            TileMode::Dense | TileMode::Raw => Ok(()),
            TileMode::Delta => {
                let mut id = 0_u64;
                for (step, bytes) in bytes.chunks_exact(2).enumerate() {
                    id = id.saturating_add(raw(bytes, order));
                    need(id <= 0xffff, || wrong(2 * step))?;
                }
                Ok(())
            }
            TileMode::Bits => {
                let set: u64 = bytes.iter().map(|byte| u64::from(byte.count_ones())).sum();
                need(set == count, || wrong(0))?;
                need(bytes.last() != Some(&0), || wrong(bytes.len().saturating_sub(1)))
            }
        }
    }
}
