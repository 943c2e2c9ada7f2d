//! Tensor section tables (B9).

use alloc::vec::Vec;

use crate::wire::Packed;
use crate::{SectionFlags, TensorSectionDescriptor};

/// Writes tensor sections one behind the other, each from an 8-byte boundary.
///
/// Sections ascend by `role_id`, and each has all the tiles of the frame. Of the descriptor, `section_flags` and the four
/// sizes are filled in; `codec_id` counts where a section has no codec table.
///
/// See [`tensor`](crate::tensor) for an example.
#[derive(Clone, Debug, Default)]
pub struct SectionTable {
    bytes: Vec<u8>,
    count: usize,
}

impl SectionTable {
    /// Without sections.
    pub const fn new() -> Self {
        Self { bytes: Vec::new(), count: 0 }
    }

    /// Adds a section whose tiles all have `stride` bytes: `payload` is the tiles one behind the other. `codecs` is the
    /// codec of each tile, or empty where all have that of the descriptor.
    #[must_use]
    pub fn fixed(
        self,
        descriptor: TensorSectionDescriptor,
        codecs: &[u8],
        stride: u32,
        payload: &[u8],
    ) -> Self {
        let descriptor = TensorSectionDescriptor {
            section_flags: SectionFlags::FIXED_STRIDE,
            payload_stride_bytes: stride,
            ..descriptor
        };
        self.section(descriptor, codecs, &[], payload)
    }

    /// Adds a section whose tiles have a size each. `codecs` is the codec of each tile, or empty where all have that of
    /// the descriptor.
    #[must_use]
    pub fn sized<'t>(
        self,
        descriptor: TensorSectionDescriptor,
        codecs: &[u8],
        tiles: impl IntoIterator<Item = &'t [u8]>,
    ) -> Self {
        let (mut lengths, mut payload) = (Vec::new(), Vec::new());
        for tile in tiles {
            lengths.extend_from_slice(&size(tile).to_le_bytes());
            payload.extend_from_slice(tile);
        }
        let descriptor = TensorSectionDescriptor {
            section_flags: SectionFlags::empty(),
            payload_stride_bytes: 0,
            ..descriptor
        };
        self.section(descriptor, codecs, &lengths, &payload)
    }

    fn section(
        mut self,
        mut descriptor: TensorSectionDescriptor,
        codecs: &[u8],
        lengths: &[u8],
        payload: &[u8],
    ) -> Self {
        descriptor.section_flags.set(SectionFlags::MIXED_CODEC, !codecs.is_empty());
        descriptor.codec_table_bytes = size(codecs);
        descriptor.length_table_bytes = size(lengths);
        descriptor.payload_bytes = size(payload);
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
        for part in [&descriptor.pack(), codecs, lengths, payload] {
            self.bytes.extend_from_slice(part);
        }
        self.count = self.count.saturating_add(1);
        self
    }

    /// How many sections there are. More than 65535 cannot be counted; a reader refuses them.
    pub fn count(&self) -> u16 {
        u16::try_from(self.count).unwrap_or(u16::MAX)
    }

    /// The table.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The table.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// A size as a field has it. One that does not fit is refused by the reader.
fn size(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX)
}
