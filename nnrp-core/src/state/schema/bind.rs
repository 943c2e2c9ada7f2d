//! Binding payloads and session defaults to schemas (G4, G5, G7, S8).

use super::{Schemas, State};
use crate::state::Refusal;
use crate::{ProfileId, SchemaErrorCode as Code, SchemaFlags, SessionErrorCode, StreamSemantics};

/// What explains a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The profile; unspecified where none is bound, which never means tensor.
    pub profile: ProfileId,
    /// The schema; 0 where none is bound.
    pub schema_id: u32,
    /// Its version.
    pub schema_version: u32,
    /// What the payload means. `default` only where the profile, too, leaves it open.
    pub semantics: StreamSemantics,
}

impl Schemas {
    /// Binds profile, schema and version together, with the session's defaults filled in already.
    ///
    /// # Errors
    ///
    /// `schema_unknown`, `schema_version_unknown`, `schema_dependency_missing`, `schema_incompatible`, whether or
    /// not the schema is critical: nothing is ever skipped in silence (G4, G5).
    pub fn check_bind(
        &self,
        profile: ProfileId,
        schema_id: u32,
        schema_version: u32,
        semantics: StreamSemantics,
    ) -> Result<Bound, Refusal> {
        let mut default = StreamSemantics::Default;
        if schema_id != 0 {
            let schema = self.known(schema_id, schema_version)?;
            if schema.state == State::Broken {
                let code = Code::SchemaDependencyMissing;
                return Err(Refusal::schema(code, "G4", "something that the schema depends on failed")
                    .about(schema_id.into()));
            }
            if schema.header.profile_id != profile {
                let code = Code::SchemaIncompatible;
                return Err(Refusal::schema(code, "G7", "the schema belongs to another profile")
                    .about(schema_id.into()));
            }
            default = schema.header.default_stream_semantics;
        }
        let or = |first, second| if first == StreamSemantics::Default { second } else { first };
        let of_profile = self.semantics.get(&profile.raw()).copied().unwrap_or(StreamSemantics::Default);
        Ok(Bound { profile, schema_id, schema_version, semantics: or(or(semantics, default), of_profile) })
    }

    /// Whether a schema may be the default of a session of that profile.
    ///
    /// # Errors
    ///
    /// `schema_unsupported`, for a schema that cannot be bound and for one that is not `default_bindable` (S8).
    pub fn check_default(
        &self,
        profile: ProfileId,
        schema_id: u32,
        schema_version: u32,
    ) -> Result<(), SessionErrorCode> {
        let bindable = |flags: SchemaFlags| flags.contains(SchemaFlags::DEFAULT_BINDABLE);
        let bound = self.check_bind(profile, schema_id, schema_version, StreamSemantics::Default);
        let schema = self.get(schema_id, schema_version);
        if bound.is_ok()
            && (schema_id == 0 || schema.is_some_and(|schema| bindable(schema.header.schema_flags)))
        {
            return Ok(());
        }
        Err(SessionErrorCode::SCHEMA_UNSUPPORTED)
    }
}
