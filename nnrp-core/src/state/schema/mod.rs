//! The schema registry: installing, updating, invalidating and binding schemas (G1 to G7, X5).

mod bind;
mod install;

use alloc::{collections::BTreeMap, vec::Vec};

pub use bind::Bound;
pub use install::{InstallPlan, Installed, InvalidatePlan, Origin, Outcome};

use super::cache::Node;
use crate::{ProfileId, SchemaDescriptorHeader, SchemaFlags, StreamSemantics, VERSION_MAJOR};

/// The cache object kind under which schemas are put.
pub const CACHE_KIND: u16 = 0x8001;

/// What a registry may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Versions of schemas in all, those included that are remembered for their hash only.
    pub schemas: usize,
    /// Versions of one schema.
    pub versions: usize,
    /// Dependencies of one version.
    pub dependencies: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { schemas: 1_024, versions: 64, dependencies: 32 }
    }
}

/// What may be changed, and what stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Whether a known schema may get further versions.
    pub updates: bool,
    /// Whether schemas may be invalidated.
    pub invalidations: bool,
    /// Whether older versions stay when a newer one comes (G2).
    pub keep_old: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Self { updates: true, invalidations: true, keep_old: true }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Live,
    /// Invalidated, or dropped by policy. The hash stays, as it never changes.
    Invalid,
    /// Something that it depends on failed.
    Broken,
}

/// One version of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schema {
    /// What stands in front of its body.
    pub header: SchemaDescriptorHeader,
    /// Its name, for a standard one.
    pub name: Option<&'static str>,
    /// Whether the hash is known. A standard schema has none until somebody brings its body.
    hashed: bool,
    state: State,
}

impl Schema {
    /// Whether it can be bound.
    pub fn is_live(&self) -> bool {
        self.state == State::Live
    }
}

/// The schemas of one connection.
///
/// Object dependencies and invalidation cross into the cache: both stand in one [`super::cache::Graph`], and
/// whether a cache object is usable is asked of the caller.
///
/// ```
/// use nnrp_core::{ProfileId, SchemaDescriptorHeader, StreamSemantics};
/// use nnrp_core::state::{cache::Graph, schema::{Limits, Origin, Outcome, Policy, Schemas, digest}};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut schemas = Schemas::new(Limits::default(), Policy::default());
/// let mut graph = Graph::default();
/// let header = SchemaDescriptorHeader {
///     schema_id: 0x1_0000,
///     schema_version: 1,
///     profile_id: ProfileId::TOKEN,
///     min_version_major: 1,
///     max_version_major: 1,
///     schema_hash: digest(b"my schema"),
///     ..Default::default()
/// };
/// let plan = schemas.check_install(&graph, &header, &[], Origin::Local, |_| None)?;
/// assert_eq!(schemas.apply_install(&mut graph, plan).outcome, Outcome::Installed);
///
/// let bound = schemas.check_bind(ProfileId::TOKEN, 0x1_0000, 1, StreamSemantics::Default)?;
/// assert_eq!(bound.semantics, StreamSemantics::Append);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Schemas {
    limits: Limits,
    policy: Policy,
    schemas: BTreeMap<(u32, u32), Schema>,
    /// What payloads mean where neither they nor their schema say so.
    semantics: BTreeMap<u16, StreamSemantics>,
}

/// A standard schema (G6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// Its id.
    pub schema_id: u32,
    /// Its version.
    pub schema_version: u32,
    /// Its profile.
    pub profile: ProfileId,
    /// Its name.
    pub name: &'static str,
    /// What its payloads mean that do not say otherwise.
    pub semantics: StreamSemantics,
}

/// The standard schemas that a registry starts with.
pub const ANCHORS: [Anchor; 1] = [Anchor {
    schema_id: 0x1001,
    schema_version: 3,
    profile: ProfileId::TOKEN,
    name: "llm.chat.delta.v1",
    semantics: StreamSemantics::Append,
}];

/// The first schema id that is not the protocol's to give out (G6).
pub const FIRST_EXTENSION: u32 = 0x1_0000;

impl Schemas {
    /// A registry with the standard schemas in it.
    pub fn new(limits: Limits, policy: Policy) -> Self {
        let anchors = ANCHORS.map(|anchor| {
            let header = SchemaDescriptorHeader {
                schema_id: anchor.schema_id,
                schema_version: anchor.schema_version,
                profile_id: anchor.profile,
                schema_flags: SchemaFlags::CACHEABLE
                    | SchemaFlags::DEFAULT_BINDABLE
                    | SchemaFlags::HASH_STABLE,
                min_version_major: VERSION_MAJOR,
                max_version_major: VERSION_MAJOR,
                default_stream_semantics: anchor.semantics,
                ..Default::default()
            };
            let schema = Schema { header, name: Some(anchor.name), hashed: false, state: State::Live };
            ((anchor.schema_id, anchor.schema_version), schema)
        });
        let semantics = [
            (ProfileId::TENSOR.raw(), StreamSemantics::Snapshot),
            (ProfileId::TOKEN.raw(), StreamSemantics::Append),
        ];
        Self { limits, policy, schemas: BTreeMap::from(anchors), semantics: BTreeMap::from(semantics) }
    }

    /// A version of a schema, whether or not it can be bound.
    pub fn get(&self, schema_id: u32, schema_version: u32) -> Option<&Schema> {
        self.schemas.get(&(schema_id, schema_version))
    }

    /// The highest version of a schema that can be bound.
    pub fn newest(&self, schema_id: u32) -> Option<&Schema> {
        self.versions(schema_id).map(|(_, schema)| schema).rfind(|schema| schema.is_live())
    }

    /// How many versions there are, those included that cannot be bound any more.
    pub fn len(&self) -> usize {
        self.schemas.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.schemas.is_empty()
    }

    /// Says what payloads of a profile mean where neither they nor their schema do (G7).
    pub fn set_semantics(&mut self, profile: ProfileId, semantics: StreamSemantics) {
        self.semantics.insert(profile.raw(), semantics);
    }

    fn versions(&self, schema_id: u32) -> impl DoubleEndedIterator<Item = (u32, &Schema)> {
        let range = self.schemas.range((schema_id, 0)..=(schema_id, u32::MAX));
        range.map(|((_, version), schema)| (*version, schema))
    }

    /// Something that schemas depend on failed. `reached` is what the graph gave for it.
    pub fn apply_reached(&mut self, reached: &[Node]) -> Vec<(u32, u32)> {
        let mut broken = Vec::new();
        for node in reached {
            if let Node::Schema { id, version } = *node
                && let Some(schema) = self.schemas.get_mut(&(id, version)).filter(|schema| schema.is_live())
            {
                schema.state = State::Broken;
                broken.push((id, version));
            }
        }
        broken
    }
}

/// The hash of a schema that is made here: the first 8 bytes of SHA-256 of its body, little-endian (G1). Who gets
/// a schema compares its hash and never computes it.
///
/// ```
/// use nnrp_core::state::schema::digest;
///
/// assert_eq!(digest(b""), 0x14_1c_fc_98_42_c4_b0_e3);
/// ```
pub fn digest(body: &[u8]) -> u64 {
    use sha2::Digest;
    let hash = sha2::Sha256::digest(body);
    hash.first_chunk().map_or(0, |first| u64::from_le_bytes(*first))
}

#[cfg(test)]
mod tests;
