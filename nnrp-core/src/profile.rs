//! Descriptors of profiles of one's own: a layout with the schema that explains it.

use core::fmt;

use crate::describe::Described;
use crate::wire::{Fault, Layout, Packed};
use crate::{
    DescriptorFlags, ProfileId, SchemaDescriptorHeader, SchemaErrorCode, SchemaFlags, StreamSemantics,
    TypedPayloadDescriptor, VERSION_MAJOR,
};

/// A layout that belongs to a profile, and with it to a schema. `derive(ProfileDescriptor)` makes it of the layout.
///
/// On the wire a payload of the profile is the layout's bytes and behind them whatever they describe. A typed payload
/// descriptor in front of all payloads binds it to profile, schema and version.
pub trait ProfileDescriptor: Layout + Described {
    /// The profile, from 0x8000 on.
    const PROFILE_ID: ProfileId;

    /// The schema, from 0x0001_0000 on.
    const SCHEMA_ID: u32;

    /// Its version; a higher one is an update.
    const SCHEMA_VERSION: u32;

    /// What payloads mean that do not say otherwise.
    const SEMANTICS: StreamSemantics;

    /// What the schema may be used for.
    const FLAGS: SchemaFlags;

    /// The schema body: the [canonical form](crate::describe#the-canonical-binary-form) of the layout.
    const SCHEMA_BODY: &'static [u8];

    /// The [digest](crate::describe#the-digest) of the body.
    const SCHEMA_HASH: u64;

    /// The layout as registry TOML, from which nnrp-gen makes it for other languages.
    fn description() -> &'static str;

    /// The header of the schema, for the schema registry and for the wire. Its body is [`Self::SCHEMA_BODY`].
    fn schema_descriptor_header() -> SchemaDescriptorHeader {
        SchemaDescriptorHeader {
            schema_id: Self::SCHEMA_ID,
            schema_version: Self::SCHEMA_VERSION,
            profile_id: Self::PROFILE_ID,
            schema_flags: Self::FLAGS,
            min_version_major: VERSION_MAJOR,
            max_version_major: VERSION_MAJOR,
            body_bytes: Self::SCHEMA_BODY.len() as u32,
            dependency_count: 0,
            default_stream_semantics: Self::SEMANTICS,
            schema_hash: Self::SCHEMA_HASH,
        }
    }

    /// The descriptor of a typed payload of `length` bytes that starts at byte `offset` of all payloads.
    fn payload_descriptor(flags: DescriptorFlags, offset: u32, length: u32) -> TypedPayloadDescriptor {
        TypedPayloadDescriptor {
            profile_id: Self::PROFILE_ID,
            descriptor_flags: flags,
            schema_id: Self::SCHEMA_ID,
            schema_version: Self::SCHEMA_VERSION,
            stream_semantics: StreamSemantics::Default,
            offset,
            length,
        }
    }

    /// Writes a payload, `self` and then `data`, behind the `offset` bytes that `payloads` holds already.
    ///
    /// The descriptor of the payload comes back, to stand beside those of the payloads before.
    ///
    /// # Errors
    ///
    /// What is wrong with the values; nothing is written then. A payload that ends beyond 4 GiB is over the limit.
    fn push_payload<const N: usize>(
        &self,
        flags: DescriptorFlags,
        data: &[u8],
        offset: u32,
        payloads: &mut impl Extend<u8>,
    ) -> Result<TypedPayloadDescriptor, Fault>
    where
        Self: Packed<Bytes = [u8; N]>,
    {
        let bytes = crate::wire::to_bytes(self)?;
        let length = u32::try_from(data.len()).ok().and_then(|data| data.checked_add(N as u32));
        let Some(length) = length.filter(|length| offset.checked_add(*length).is_some()) else {
            return Err(Fault::new(Self::SITE, u32::MAX, crate::wire::FaultKind::Limit));
        };
        payloads.extend(bytes.into_iter().chain(data.iter().copied()));
        Ok(Self::payload_descriptor(flags, offset, length))
    }

    /// Reads a payload: the layout, and what it describes.
    ///
    /// Where a descriptor has 0 for profile or schema, the session's own are meant; who knows them puts them in first.
    ///
    /// # Errors
    ///
    /// A descriptor that binds the payload to something else is refused whatever the bytes are; a mismatch is never
    /// guessed away. Then what [`Layout::view`] says of the bytes.
    fn read_payload<'a>(
        descriptor: &TypedPayloadDescriptor,
        payload: &'a [u8],
    ) -> Result<(Self::View<'a>, &'a [u8]), Unbound> {
        Self::check_binding(descriptor)?;
        let (head, data) = payload.split_at_checked(Self::SIZE).unwrap_or((payload, &[]));
        match Self::view(head) {
            Ok(view) => Ok((view, data)),
            Err(fault) => Err(Unbound::Payload(fault)),
        }
    }

    /// Checks that a descriptor binds to this profile, schema and version together.
    ///
    /// # Errors
    ///
    /// What does not match: the schema, its version, or the profile.
    fn check_binding(descriptor: &TypedPayloadDescriptor) -> Result<(), Unbound> {
        if descriptor.schema_id != Self::SCHEMA_ID {
            return Err(Unbound::Schema(descriptor.schema_id));
        }
        if descriptor.profile_id != Self::PROFILE_ID {
            return Err(Unbound::Profile(descriptor.profile_id));
        }
        if descriptor.schema_version != Self::SCHEMA_VERSION {
            return Err(Unbound::Version(descriptor.schema_version));
        }
        Ok(())
    }

    /// How a payload relates to those before it: as its descriptor says, or else as the schema does.
    fn semantics(descriptor: &TypedPayloadDescriptor) -> StreamSemantics {
        match descriptor.stream_semantics {
            StreamSemantics::Default => Self::SEMANTICS,
            said => said,
        }
    }
}

/// Why a typed payload could not be read as that of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unbound {
    /// It is of this schema instead.
    Schema(u32),
    /// It is of this profile instead.
    Profile(ProfileId),
    /// It is of this version instead.
    Version(u32),
    /// The bytes are not good.
    Payload(Fault),
}

impl Unbound {
    /// The error code on the wire, where the binding is to blame.
    pub const fn code(&self) -> Option<SchemaErrorCode> {
        match self {
            Self::Schema(_) => Some(SchemaErrorCode::SchemaUnknown),
            Self::Profile(_) => Some(SchemaErrorCode::SchemaIncompatible),
            Self::Version(_) => Some(SchemaErrorCode::SchemaVersionUnknown),
            Self::Payload(_) => None,
        }
    }
}

impl fmt::Display for Unbound {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Schema(id) => write!(out, "the payload is of schema {id:#010x}"),
            Self::Profile(id) => write!(out, "the payload is of profile {:#06x}", id.raw()),
            Self::Version(version) => write!(out, "the payload is of version {version} of the schema"),
            Self::Payload(fault) => fault.fmt(out),
        }
    }
}

impl core::error::Error for Unbound {}
