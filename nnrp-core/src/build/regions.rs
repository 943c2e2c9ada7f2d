//! Submits and results (B1 to B6).

use alloc::vec::Vec;

use crate::wire::{Fault, Packed};
use crate::{
    BodyRegionPrelude, CacheObjectKind, CommonHeader, DescriptorFlags, ExtensionFrameDescriptor,
    ExtensionFrameDescriptorRows, ExtensionKind, FrameSubmit, FrameSubmitBody, InlineObjectBlockHeader,
    InlineObjectEntries, LLM_CHAT_DELTA_V1, Message, ObjectRefMask, ObjectReferenceBlock,
    ObjectReferenceBlockRows, OperationLinks, PayloadKindBitmap, ProfileId, Regions, ResultPush,
    ResultPushBody, SubmitMode, TypedPayloadDescriptor, TypedPayloadDescriptorRows,
};

use super::{SectionTable, Tiles};
use sealed::Metadata;

/// Builds a submit: FRAME_SUBMIT.
pub type SubmitBuilder = RegionsBuilder<FrameSubmit>;

/// Builds a result: RESULT_PUSH.
pub type ResultBuilder = RegionsBuilder<ResultPush>;

/// Builds a message whose body has regions, from metadata and what the regions hold.
///
/// Parts may be added in any order: objects and references are sorted as the message wants them, payloads and extension
/// frames stay in the order in which they were added. Filled in are all lengths, offsets and counts; for a submit also
/// `submit_mode` and `object_ref_mask`, by what was added inline and by reference; and of `payload_kind_bitmap` the kinds
/// that are certain: `tensor` with tensor data, `token_chunk` with tokens. All other metadata is the caller's.
///
/// See [`build`](super) and [`tensor`](crate::tensor) for examples.
#[derive(Clone, Debug)]
pub struct RegionsBuilder<M> {
    metadata: M,
    objects: Vec<Object>,
    references: Vec<ObjectReferenceBlock>,
    payload_descriptors: Vec<u8>,
    payload_frames: Vec<u8>,
    extension_descriptors: Vec<u8>,
    extension_payloads: Vec<u8>,
}

/// An inline object.
#[derive(Clone, Debug)]
struct Object {
    kind: CacheObjectKind,
    profile_id: ProfileId,
    bytes: Vec<u8>,
}

/// The metadata of a message whose body has regions: [`FrameSubmit`] or [`ResultPush`].
pub trait Carrier: Metadata {}

impl Carrier for FrameSubmit {}
impl Carrier for ResultPush {}

impl<M: Carrier> RegionsBuilder<M> {
    /// A message without a body.
    pub const fn new(metadata: M) -> Self {
        Self {
            metadata,
            objects: Vec::new(),
            references: Vec::new(),
            payload_descriptors: Vec::new(),
            payload_frames: Vec::new(),
            extension_descriptors: Vec::new(),
            extension_payloads: Vec::new(),
        }
    }

    /// Adds an inline object.
    #[must_use]
    pub fn object(self, kind: CacheObjectKind, profile_id: ProfileId, bytes: &[u8]) -> Self {
        self.owned(kind, profile_id, bytes.to_vec())
    }

    fn owned(mut self, kind: CacheObjectKind, profile_id: ProfileId, bytes: Vec<u8>) -> Self {
        self.objects.push(Object { kind, profile_id, bytes });
        self
    }

    /// Adds a reference to a cached object, which stands in for an inline one of its kind.
    #[must_use]
    pub fn reference(mut self, reference: ObjectReferenceBlock) -> Self {
        self.references.push(reference);
        self
    }

    /// Says which tiles there are. The index is an inline object, except for a range.
    #[must_use]
    pub fn tiles(mut self, tiles: &Tiles<'_>) -> Self {
        self.metadata.set_tiles(tiles);
        match tiles {
            Tiles::Range { .. } => self,
            _ => self.owned(CacheObjectKind::TILE_INDEX_BLOCK, ProfileId::TENSOR, tiles.to_vec()),
        }
    }

    /// Adds tensor sections, as an inline object.
    #[must_use]
    pub fn sections(mut self, table: SectionTable) -> Self {
        self.metadata.set_sections(table.count());
        self.owned(CacheObjectKind::TENSOR_SECTION_TABLE, ProfileId::TENSOR, table.into_bytes())
    }

    /// Adds a typed payload. `offset` and `length` of its descriptor are filled in.
    #[must_use]
    pub fn payload(mut self, descriptor: &TypedPayloadDescriptor, bytes: &[u8]) -> Self {
        let (offset, length) = (size(&self.payload_frames), size(bytes));
        let descriptor = TypedPayloadDescriptor { offset, length, ..*descriptor };
        self.payload_descriptors.extend_from_slice(&descriptor.pack());
        self.payload_frames.extend_from_slice(bytes);
        self
    }

    /// Adds tokens: a payload of profile token with the standard schema `llm.chat.delta.v1`.
    #[must_use]
    pub fn token(mut self, descriptor_flags: DescriptorFlags, bytes: &[u8]) -> Self {
        self.metadata.add_kind(PayloadKindBitmap::TOKEN_CHUNK);
        let descriptor = TypedPayloadDescriptor {
            profile_id: ProfileId::TOKEN,
            descriptor_flags,
            schema_id: LLM_CHAT_DELTA_V1.schema_id,
            schema_version: LLM_CHAT_DELTA_V1.schema_version,
            ..TypedPayloadDescriptor::default()
        };
        self.payload(&descriptor, bytes)
    }

    /// Adds an extension frame. `payload_offset` and `payload_length` of its descriptor are filled in.
    #[must_use]
    pub fn extension(mut self, descriptor: &ExtensionFrameDescriptor, bytes: &[u8]) -> Self {
        let (payload_offset, payload_length) = (size(&self.extension_payloads), size(bytes));
        let descriptor = ExtensionFrameDescriptor { payload_offset, payload_length, ..*descriptor };
        self.extension_descriptors.extend_from_slice(&descriptor.pack());
        self.extension_payloads.extend_from_slice(bytes);
        self
    }

    /// The packet.
    ///
    /// # Errors
    ///
    /// Where a reader would refuse it, with the reader's fault.
    pub fn to_vec(&self, header: &CommonHeader) -> Result<Vec<u8>, Fault> {
        let mut out = Vec::new();
        self.append_to(header, &mut out)?;
        Ok(out)
    }

    /// Writes the packet behind what `out` holds.
    ///
    /// # Errors
    ///
    /// Where a reader would refuse it, with the reader's fault. `out` is as it was then.
    pub fn append_to(&self, header: &CommonHeader, out: &mut Vec<u8>) -> Result<(), Fault> {
        let mut metadata = self.metadata.clone();
        metadata.settle(&self.kinds(), &self.references);
        let objects = self.inline_objects();
        let references = self.object_references();
        let regions = Regions {
            inline_objects: InlineObjectEntries { bytes: &objects },
            object_references: ObjectReferenceBlockRows(&references),
            payload_descriptors: TypedPayloadDescriptorRows(&self.payload_descriptors),
            payload_frames: &self.payload_frames,
            extension_descriptors: ExtensionFrameDescriptorRows(&self.extension_descriptors),
            extension_payloads: &self.extension_payloads,
        };
        // Without anything in it the body is left out altogether.
        let regions = Some(regions).filter(|regions| regions.encoded_len() > BodyRegionPrelude::SIZE);
        metadata.message(regions).append_to(header, out)
    }

    /// The kinds of the inline objects.
    fn kinds(&self) -> Vec<CacheObjectKind> {
        self.objects.iter().map(|object| object.kind).collect()
    }

    /// The inline objects in the order of the message, each padded to 8 bytes.
    fn inline_objects(&self) -> Vec<u8> {
        let mut objects: Vec<&Object> = self.objects.iter().collect();
        objects.sort_by_key(|object| M::rank(object.kind));
        let mut out = Vec::new();
        for Object { kind, profile_id, bytes } in objects {
            let header = InlineObjectBlockHeader {
                object_kind: *kind,
                profile_id: *profile_id,
                object_bytes: size(bytes),
            };
            out.extend_from_slice(&header.pack());
            out.extend_from_slice(bytes);
            // Every object starts at a multiple of 8, so this pads the object alone.
            out.resize(out.len().next_multiple_of(8), 0);
        }
        out
    }

    /// The references in the order of the message.
    fn object_references(&self) -> Vec<u8> {
        let mut references = self.references.clone();
        references.sort_by_key(|reference| {
            let &ObjectReferenceBlock { object_kind, cache_namespace, cache_key_hi, cache_key_lo } =
                reference;
            (M::rank(object_kind), cache_namespace, cache_key_hi, cache_key_lo)
        });
        references.iter().flat_map(Packed::pack).collect()
    }
}

impl SubmitBuilder {
    /// Adds a camera block, as an inline object.
    #[must_use]
    pub fn camera(mut self, bytes: &[u8]) -> Self {
        self.metadata.add_kind(PayloadKindBitmap::TENSOR);
        self.object(CacheObjectKind::CAMERA_BLOCK, ProfileId::TENSOR, bytes)
    }

    /// Adds a layout that many payloads have in common, as an inline object. The profile explains it.
    #[must_use]
    pub fn layout_template(self, profile_id: ProfileId, bytes: &[u8]) -> Self {
        self.object(CacheObjectKind::PAYLOAD_LAYOUT_TEMPLATE, profile_id, bytes)
    }

    /// Says which operation this one is part of, and its group (X2), as an extension frame.
    #[must_use]
    pub fn links(self, links: OperationLinks) -> Self {
        let extension_kind = ExtensionKind::OPERATION_LINKS;
        let descriptor = ExtensionFrameDescriptor { extension_kind, ..ExtensionFrameDescriptor::default() };
        self.extension(&descriptor, &links.pack())
    }
}

/// A size as a field has it. One that does not fit is refused by the reader.
fn size(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX)
}

/// The standard objects of a submit in their order, each with its bit.
const STANDARD: [(CacheObjectKind, ObjectRefMask); 4] = [
    (CacheObjectKind::CAMERA_BLOCK, ObjectRefMask::CAMERA_BLOCK),
    (CacheObjectKind::TILE_INDEX_BLOCK, ObjectRefMask::TILE_INDEX_BLOCK),
    (CacheObjectKind::TENSOR_SECTION_TABLE, ObjectRefMask::TENSOR_SECTION_TABLE),
    (CacheObjectKind::PAYLOAD_LAYOUT_TEMPLATE, ObjectRefMask::PAYLOAD_LAYOUT_TEMPLATE),
];

/// The bit of a standard object of a submit.
fn standard(kind: CacheObjectKind) -> Option<ObjectRefMask> {
    STANDARD.iter().find(|(standard, _)| *standard == kind).map(|(_, bit)| *bit)
}

mod sealed {
    use super::*;

    /// What the two messages differ in.
    pub trait Metadata: Clone {
        /// Where objects of a kind stand among all.
        fn rank(kind: CacheObjectKind) -> u32;

        /// Adds a kind of payload.
        fn add_kind(&mut self, kind: PayloadKindBitmap);

        /// Sets the fields that say which tiles there are.
        fn set_tiles(&mut self, tiles: &Tiles<'_>);

        /// Sets the fields that say how many sections there are.
        fn set_sections(&mut self, count: u16);

        /// Sets what follows from the objects that are inline and those that are referenced.
        fn settle(&mut self, inline: &[CacheObjectKind], references: &[ObjectReferenceBlock]);

        /// The message with this metadata.
        fn message(self, regions: Option<Regions<'_>>) -> Message<'_>;
    }

    impl Metadata for FrameSubmit {
        fn rank(kind: CacheObjectKind) -> u32 {
            // Other kinds follow the standard ones, ascending.
            let place = STANDARD.iter().position(|(standard, _)| *standard == kind);
            place.map_or(STANDARD.len() as u32 + u32::from(kind.raw()), |place| place as u32)
        }

        fn add_kind(&mut self, kind: PayloadKindBitmap) {
            self.payload_kind_bitmap |= kind;
        }

        fn set_tiles(&mut self, tiles: &Tiles<'_>) {
            self.add_kind(PayloadKindBitmap::TENSOR);
            self.tile_index_mode = tiles.mode();
            self.tile_base_id = tiles.base();
            self.tile_count = tiles.count();
        }

        fn set_sections(&mut self, count: u16) {
            self.add_kind(PayloadKindBitmap::TENSOR);
            self.section_count = count;
        }

        fn settle(&mut self, inline: &[CacheObjectKind], references: &[ObjectReferenceBlock]) {
            self.object_ref_mask =
                references.iter().filter_map(|reference| standard(reference.object_kind)).collect();
            self.submit_mode = match inline.iter().any(|kind| standard(*kind).is_some()) {
                _ if self.object_ref_mask.is_empty() => SubmitMode::Inline,
                true => SubmitMode::Mixed,
                false => SubmitMode::Reference,
            };
        }

        fn message(self, regions: Option<Regions<'_>>) -> Message<'_> {
            Message::FrameSubmit(self, FrameSubmitBody { regions })
        }
    }

    impl Metadata for ResultPush {
        fn rank(kind: CacheObjectKind) -> u32 {
            kind.raw().into()
        }

        fn add_kind(&mut self, kind: PayloadKindBitmap) {
            self.payload_kind_bitmap |= kind;
        }

        fn set_tiles(&mut self, tiles: &Tiles<'_>) {
            self.add_kind(PayloadKindBitmap::TENSOR);
            self.tile_base_id = tiles.base();
            self.tile_count = tiles.count();
        }

        fn set_sections(&mut self, count: u16) {
            self.add_kind(PayloadKindBitmap::TENSOR);
            self.section_count = count;
        }

        fn settle(&mut self, _: &[CacheObjectKind], _: &[ObjectReferenceBlock]) {}

        fn message(self, regions: Option<Regions<'_>>) -> Message<'_> {
            Message::ResultPush(self, ResultPushBody { regions })
        }
    }
}
