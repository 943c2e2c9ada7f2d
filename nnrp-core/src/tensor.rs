//! Tensor data of submits and results: sections, and the ids of their tiles (B9).
//!
//! A tensor body is a few sections, one for each role such as a colour channel or a depth map. All sections have the same
//! tiles, and the tile index says where in the picture these are. What a section is its descriptor says (G8). A packet that was parsed has good sections and a good
//! index, so that reading them here cannot fail, with one exception: a result does not say how its index is written. It
//! uses the mode of its submit, which only the connection knows.
//!
#![cfg_attr(feature = "alloc", doc = "```")]
#![cfg_attr(not(feature = "alloc"), doc = "```ignore")]
//! use nnrp_core::build::{SectionTable, SubmitBuilder, Tiles};
//! use nnrp_core::{CommonHeader, DtypeId, FrameSubmit, Message, Packet, TensorSectionDescriptor};
//!
//! # fn main() -> Result<(), nnrp_core::wire::Fault> {
//! let luma = TensorSectionDescriptor { dtype_id: DtypeId::Uint8, element_count_per_tile: 4, ..Default::default() };
//! let bytes = SubmitBuilder::new(FrameSubmit { operation_id: 1, ..FrameSubmit::default() })
//!     .tiles(&Tiles::Delta(&[7, 9, 30]))
//!     .sections(SectionTable::new().sized(luma, &[], [b"ab".as_slice(), b"", b"cde"]))
//!     .to_vec(&CommonHeader { session_id: 1, frame_id: 1, ..CommonHeader::default() })?;
//!
//! let Message::FrameSubmit(submit, body) = Packet::parse(&bytes)?.message() else { panic!("another message") };
//! let ids = body.tile_ids(&submit).into_iter().flatten();
//! let section = body.sections().next().expect("a section");
//! let tiles: Vec<_> = ids.zip(section.tiles()).map(|(id, tile)| (id, tile.bytes)).collect();
//! assert_eq!(tiles, [(7, b"ab".as_slice()), (9, b""), (30, b"cde")]);
//! # Ok(())
//! # }
//! ```

use crate::wire::Fault;
pub use crate::wire::body::TileIds;
use crate::wire::body::{Entry, Piece, TileMode};
use crate::{
    CacheObjectKind, Frame, FrameSubmit, FrameSubmitBody, InlineObjectBlockHeader, ObjectRefMask, Regions,
    ResultPush, ResultPushBody, SectionFlags, TensorSectionDescriptorView, TileIndexMode,
};

/// A tensor section: its descriptor, its tables and its tiles, where they lie in the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorSection<'a> {
    /// What the section is and how it is written.
    pub descriptor: TensorSectionDescriptorView<'a>,
    /// The codec of each tile, one byte each; empty where all have the descriptor's.
    pub codec_table: &'a [u8],
    /// The size of each tile in bytes, a little-endian u32 each; empty where all have the descriptor's stride.
    pub length_table: &'a [u8],
    /// All tiles, one behind the other.
    pub payload: &'a [u8],
}

/// One tile of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile<'a> {
    /// The codec that its bytes are coded with.
    pub codec_id: u8,
    /// Its bytes.
    pub bytes: &'a [u8],
}

impl<'a> TensorSection<'a> {
    /// The tiles, in the order of the tile index.
    pub fn tiles(&self) -> SectionTiles<'a> {
        let Self { descriptor, codec_table, length_table, payload } = *self;
        let fixed = descriptor.section_flags().contains(SectionFlags::FIXED_STRIDE);
        SectionTiles {
            codec_id: descriptor.codec_id(),
            codecs: codec_table,
            stride: fixed.then(|| descriptor.payload_stride_bytes() as usize),
            lengths: length_table,
            rest: payload,
        }
    }
}

/// The tiles of a section, one by one; made by [`TensorSection::tiles`].
#[derive(Clone, Debug)]
pub struct SectionTiles<'a> {
    codec_id: u8,
    codecs: &'a [u8],
    stride: Option<usize>,
    lengths: &'a [u8],
    rest: &'a [u8],
}

impl<'a> Iterator for SectionTiles<'a> {
    type Item = Tile<'a>;

    fn next(&mut self) -> Option<Tile<'a>> {
        let size = match self.stride {
            Some(_) if self.rest.is_empty() => return None,
            Some(stride) => stride,
            None => {
                let (length, lengths) = self.lengths.split_first_chunk()?;
                self.lengths = lengths;
                u32::from_le_bytes(*length) as usize
            }
        };
        let (bytes, rest) = self.rest.split_at_checked(size)?;
        self.rest = rest;
        let codec_id = match self.codecs.split_first() {
            Some((codec, codecs)) => {
                self.codecs = codecs;
                *codec
            }
            None => self.codec_id,
        };
        Some(Tile { codec_id, bytes })
    }
}

impl<'a> Regions<'a> {
    /// The tensor sections that are inline, in their order; none where they travel by reference.
    pub fn sections(&self) -> impl Iterator<Item = TensorSection<'a>> + Clone + use<'a> {
        let table = self.object(CacheObjectKind::TENSOR_SECTION_TABLE).map_or(&[][..], |table| table.bytes);
        Frame::FRAME_SUBMIT_TENSOR.iter(table).filter_map(|section| {
            Some(TensorSection {
                descriptor: TensorSectionDescriptorView(section.descriptor.bytes.first_chunk()?),
                codec_table: section.codec_table,
                length_table: section.length_table,
                payload: section.payload,
            })
        })
    }
}

impl<'a> FrameSubmitBody<'a> {
    /// The tensor sections that are inline, in their order; none where they travel by reference.
    pub fn sections(&self) -> impl Iterator<Item = TensorSection<'a>> + Clone + use<'a> {
        self.regions.unwrap_or_default().sections()
    }

    /// The ids of the tiles, given the metadata of the same packet; nothing where the index is not in the packet.
    pub fn tile_ids(&self, metadata: &FrameSubmit) -> Option<TileIds<'a>> {
        let &FrameSubmit { tile_index_mode, tile_base_id, tile_count, object_ref_mask, .. } = metadata;
        let index = match self.regions.and_then(|regions| regions.object(CacheObjectKind::TILE_INDEX_BLOCK)) {
            Some(index) => index.bytes,
            // Ids that count up from the base need no index.
            None if tile_index_mode == TileIndexMode::DenseRange
                && !object_ref_mask.contains(ObjectRefMask::TILE_INDEX_BLOCK) =>
            {
                &[]
            }
            None => return None,
        };
        Some(Frame::FRAME_SUBMIT_TENSOR.tile_ids(index, mode_of(tile_index_mode), tile_base_id, tile_count))
    }
}

impl<'a> ResultPushBody<'a> {
    /// The tensor sections that are inline, in their order; none where they travel by reference.
    pub fn sections(&self) -> impl Iterator<Item = TensorSection<'a>> + Clone + use<'a> {
        self.regions.unwrap_or_default().sections()
    }

    /// The ids of the tiles, given the metadata of the same packet and the mode of the submit that it answers; nothing
    /// where the index is not in the packet.
    ///
    /// # Errors
    ///
    /// Where the index does not fit that mode. Offsets count from the first byte of the inline object that holds it.
    pub fn tile_ids(&self, metadata: &ResultPush, mode: TileIndexMode) -> Result<Option<TileIds<'a>>, Fault> {
        const HEADER: usize = InlineObjectBlockHeader::SIZE;
        let &ResultPush { tile_base_id, tile_count, .. } = metadata;
        let regions = self.regions.unwrap_or_default();
        let referenced = regions.reference(CacheObjectKind::TILE_INDEX_BLOCK).is_some();
        let index = match regions.object(CacheObjectKind::TILE_INDEX_BLOCK) {
            Some(index) => {
                let header = Piece { bytes: index.header.as_bytes(), at: 0 };
                let payload = Piece { bytes: index.bytes, at: HEADER };
                let entry = Entry { header, payload };
                Frame::RESULT_PUSH_TENSOR.tiles(entry, mode_of(mode), tile_count.into())?;
                index.bytes
            }
            None if mode == TileIndexMode::DenseRange && !referenced => &[],
            None => return Ok(None),
        };
        Ok(Some(Frame::RESULT_PUSH_TENSOR.tile_ids(index, mode_of(mode), tile_base_id, tile_count)))
    }
}

/// The mode as the reader of tile indexes has it.
const fn mode_of(mode: TileIndexMode) -> TileMode {
    match mode {
        TileIndexMode::DenseRange => TileMode::Dense,
        TileIndexMode::RawU16 => TileMode::Raw,
        TileIndexMode::DeltaU16 => TileMode::Delta,
        TileIndexMode::Bitset => TileMode::Bits,
    }
}
