//! The descriptor of later previews (F7).
//!
//! Both forms have 24 bytes, and bytes of one often pass for the other, so nothing here is ever tried on its own: who
//! configured a connection for the later form converts, in both directions.

use crate::wire::Fault;
use crate::{DescriptorFlags, PayloadKindBitmap, TypedPayloadDescriptor, TypedPayloadDescriptorP4};

impl TypedPayloadDescriptorP4 {
    /// The form of later previews, which also says the kind of the payload.
    ///
    /// # Errors
    ///
    /// Where `payload_kind` is not exactly one kind (F7), and what is wrong with the descriptor itself.
    pub fn from_current(
        current: &TypedPayloadDescriptor,
        payload_kind: PayloadKindBitmap,
    ) -> Result<Self, Fault> {
        current.validate()?;
        let later = Self {
            profile_id: current.profile_id,
            // No kind, and more than the known flags, are what the rules of the later form refuse.
            payload_kind: u8::try_from(payload_kind.bits()).unwrap_or(0),
            descriptor_flags: u8::try_from(current.descriptor_flags.bits()).unwrap_or(u8::MAX),
            schema_id: current.schema_id,
            schema_version: current.schema_version,
            stream_semantics: current.stream_semantics,
            offset: current.offset,
            length: current.length,
        };
        later.validate()?;
        Ok(later)
    }

    /// The form that this protocol uses. The kind of the payload is left behind: it follows from profile and schema.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn to_current(&self) -> Result<TypedPayloadDescriptor, Fault> {
        self.validate()?;
        let current = TypedPayloadDescriptor {
            profile_id: self.profile_id,
            descriptor_flags: DescriptorFlags::from_bits_retain(self.descriptor_flags.into()),
            schema_id: self.schema_id,
            schema_version: self.schema_version,
            stream_semantics: self.stream_semantics,
            offset: self.offset,
            length: self.length,
        };
        current.validate()?;
        Ok(current)
    }
}
