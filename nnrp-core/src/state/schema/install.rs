//! Installing, updating and invalidating (G1 to G6, X5).

use alloc::vec::Vec;

use super::{ANCHORS, FIRST_EXTENSION, Schema, Schemas, State};
use crate::state::Refusal;
use crate::state::cache::{DeclarePlan, Graph, Key, Need, Node};
use crate::{
    SchemaDependency, SchemaDependencyKind, SchemaDescriptorHeader, SchemaErrorCode as Code, SchemaFlags,
    VERSION_MAJOR,
};

/// How a schema comes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The application brings it.
    Local,
    /// It is a cache object, and goes with it.
    Cached(Key),
}

/// What an installation did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A new schema, or one that was invalid before.
    Installed,
    /// A further version of a known schema.
    Updated,
    /// Nothing: the same was there.
    AlreadyInstalled,
}

/// A schema that may be installed.
#[derive(Clone, Debug)]
#[must_use]
pub struct InstallPlan {
    header: SchemaDescriptorHeader,
    outcome: Outcome,
    needs: Option<DeclarePlan>,
}

/// What was installed, and what went for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// What it was.
    pub outcome: Outcome,
    /// Older versions that policy dropped.
    pub dropped: Vec<(u32, u32)>,
    /// All that depended on these: schemas are broken here already, the rest is for its own modules.
    pub reached: Vec<Node>,
}

/// A schema that may be invalidated.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct InvalidatePlan {
    schema_id: u32,
    schema_version: u32,
}

const fn refuse(code: Code, rule: &'static str, why: &'static str) -> Refusal {
    Refusal::schema(code, rule, why)
}

impl Schemas {
    /// Checks an installation. `object` gives the key of a cache object that a dependency names, where it is
    /// usable; it sees dependencies on objects only.
    ///
    /// # Errors
    ///
    /// `schema_hash_conflict` (G1), `schema_incompatible` for a version window, a profile or an id that does not
    /// fit, `schema_dependency_missing`, `schema_update_rejected` by policy (G4), `limit_exceeded`.
    pub fn check_install(
        &self,
        graph: &Graph,
        header: &SchemaDescriptorHeader,
        dependencies: &[SchemaDependency],
        origin: Origin,
        object: impl Fn(&SchemaDependency) -> Option<Key>,
    ) -> Result<InstallPlan, Refusal> {
        if header.validate().is_err() || usize::from(header.dependency_count) != dependencies.len() {
            return Err(Refusal::malformed("D7", "the descriptor breaks its own rules"));
        }
        if dependencies.len() > self.limits.dependencies {
            return Err(
                Refusal::limit("G4", "the schema has too many dependencies").about(dependencies.len() as u64)
            );
        }
        check_fit(header, origin)?;
        let id = header.schema_id;
        let known = self.get(id, header.schema_version);
        if let Some(known) = known {
            check_same(known, header)?;
            if known.is_live() && known.hashed {
                return Ok(InstallPlan { header: *header, outcome: Outcome::AlreadyInstalled, needs: None });
            }
        }
        let further = known.is_none() && self.versions(id).next().is_some();
        if further && !self.policy.updates {
            return Err(
                refuse(Code::SchemaUpdateRejected, "G4", "the schema may not be updated").about(id.into())
            );
        }
        let full =
            self.schemas.len() >= self.limits.schemas || self.versions(id).count() >= self.limits.versions;
        if known.is_none() && full {
            return Err(Refusal::limit("G1", "there are too many schemas").about(id.into()));
        }
        let mut needs = Vec::with_capacity(dependencies.len().saturating_add(1));
        for dependency in dependencies {
            needs.push(self.need(dependency, &object)?);
        }
        // A standard schema is known without any body, so it does not go with one.
        if let (Origin::Cached(key), true) = (origin, known.is_none_or(|known| known.name.is_none())) {
            needs.push(Need::any(Node::Object(key)));
        }
        let needs = Some(graph.check_declare(node(id, header.schema_version), &needs)?);
        let outcome = if further { Outcome::Updated } else { Outcome::Installed };
        Ok(InstallPlan { header: *header, outcome, needs })
    }

    /// X5: what a dependency names has to be there and usable.
    fn need(
        &self,
        dependency: &SchemaDependency,
        object: &impl Fn(&SchemaDependency) -> Option<Key>,
    ) -> Result<Need, Refusal> {
        let missing =
            refuse(Code::SchemaDependencyMissing, "G4", "something that the schema depends on is missing");
        match dependency.dependency_kind {
            SchemaDependencyKind::Schema => {
                let SchemaDependency { schema_id, schema_version, .. } = *dependency;
                match self.get(schema_id, schema_version) {
                    Some(schema) if schema.is_live() => Ok(Need::any(node(schema_id, schema_version))),
                    _ => Err(missing.about(schema_id.into())),
                }
            }
            SchemaDependencyKind::Object => match object(dependency) {
                Some(key) => Ok(Need::any(Node::Object(key))),
                None => Err(missing),
            },
        }
    }

    /// Installs the schema.
    pub fn apply_install(&mut self, graph: &mut Graph, plan: InstallPlan) -> Installed {
        let InstallPlan { header, outcome, needs } = plan;
        let mut installed = Installed { outcome, dropped: Vec::new(), reached: Vec::new() };
        let Some(needs) = needs else { return installed };
        let at = (header.schema_id, header.schema_version);
        if outcome == Outcome::Updated && !self.policy.keep_old {
            let older = |(version, schema): (u32, &Schema)| {
                (version < at.1 && schema.is_live()).then_some((at.0, version))
            };
            installed.dropped = self.versions(at.0).filter_map(older).collect();
        }
        graph.apply_declare(needs);
        let name = self.schemas.get(&at).and_then(|schema| schema.name);
        self.schemas.insert(at, Schema { header, name, hashed: true, state: State::Live });
        for (id, version) in installed.dropped.clone() {
            installed.reached.extend(self.drop_version(graph, id, version));
        }
        installed
    }

    /// Checks the invalidation of one version (G3).
    ///
    /// # Errors
    ///
    /// `schema_unknown`, `schema_version_unknown`, and `schema_update_rejected` where policy, the schema's flags or
    /// its being standard stand against it.
    pub fn check_invalidate(&self, schema_id: u32, schema_version: u32) -> Result<InvalidatePlan, Refusal> {
        let schema = self.known(schema_id, schema_version)?;
        let flags = schema.header.schema_flags;
        if !self.policy.invalidations || schema.name.is_some() || !flags.contains(SchemaFlags::CACHEABLE) {
            return Err(refuse(Code::SchemaUpdateRejected, "G4", "the schema may not be invalidated")
                .about(schema_id.into()));
        }
        Ok(InvalidatePlan { schema_id, schema_version })
    }

    /// Invalidates it. Gives all that depended on it: schemas are broken here already, the rest is for its own
    /// modules.
    pub fn apply_invalidate(&mut self, graph: &mut Graph, plan: InvalidatePlan) -> Vec<Node> {
        self.drop_version(graph, plan.schema_id, plan.schema_version)
    }

    fn drop_version(&mut self, graph: &mut Graph, id: u32, version: u32) -> Vec<Node> {
        if let Some(schema) = self.schemas.get_mut(&(id, version)) {
            schema.state = State::Invalid;
        }
        let reached = graph.remove(node(id, version));
        self.apply_reached(&reached);
        reached
    }
}

const fn node(id: u32, version: u32) -> Node {
    Node::Schema { id, version }
}

/// Whether a schema can be anything here.
fn check_fit(header: &SchemaDescriptorHeader, origin: Origin) -> Result<(), Refusal> {
    if !(header.min_version_major..=header.max_version_major).contains(&VERSION_MAJOR) {
        return Err(refuse(Code::SchemaIncompatible, "G4", "the schema is for other major versions"));
    }
    let standard = ANCHORS.iter().any(|anchor| anchor.schema_id == header.schema_id);
    if header.schema_id < FIRST_EXTENSION && !standard {
        return Err(refuse(Code::SchemaIncompatible, "G6", "the id is for standard schemas")
            .about(header.schema_id.into()));
    }
    if header.profile_id.is_standard() {
        // A later standard profile, of which this version knows nothing.
        return Err(refuse(Code::SchemaIncompatible, "G6", "the profile is for later standards")
            .about(header.profile_id.raw().into()));
    }
    if matches!(origin, Origin::Cached(_)) && !header.schema_flags.contains(SchemaFlags::CACHEABLE) {
        return Err(refuse(Code::SchemaIncompatible, "G5", "the schema is not cacheable"));
    }
    let anchor = ANCHORS.iter().find(|anchor| anchor.schema_id == header.schema_id);
    if anchor.is_some_and(|anchor| anchor.profile != header.profile_id) {
        return Err(refuse(Code::SchemaIncompatible, "G6", "the standard schema has another profile"));
    }
    Ok(())
}

/// Whether a schema is the one that is known under its id and version.
fn check_same(known: &Schema, header: &SchemaDescriptorHeader) -> Result<(), Refusal> {
    if known.hashed && known.header.schema_hash != header.schema_hash {
        return Err(refuse(Code::SchemaHashConflict, "G1", "another schema has that id and version")
            .about(header.schema_id.into()));
    }
    let same = if known.hashed {
        known.header == *header
    } else {
        // Of a standard schema without its body only this much is known.
        known.header.profile_id == header.profile_id
            && known.header.default_stream_semantics == header.default_stream_semantics
    };
    if !same {
        return Err(refuse(
            Code::SchemaIncompatible,
            "G4",
            "the schema has the hash of another that is known",
        )
        .about(header.schema_id.into()));
    }
    Ok(())
}

impl Schemas {
    /// A version that was not invalidated.
    pub(super) fn known(&self, schema_id: u32, schema_version: u32) -> Result<&Schema, Refusal> {
        match self.get(schema_id, schema_version) {
            Some(schema) if schema.state != State::Invalid => Ok(schema),
            _ if self.versions(schema_id).next().is_some() => {
                Err(refuse(Code::SchemaVersionUnknown, "G4", "the version is not known")
                    .about(schema_version.into()))
            }
            _ => Err(refuse(Code::SchemaUnknown, "G4", "the schema is not known").about(schema_id.into())),
        }
    }
}
