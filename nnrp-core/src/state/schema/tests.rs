use super::*;
use crate::state::Refusal;
use crate::state::cache::{Graph, Key, Need};
use crate::state::random::{Random, steps};
use crate::{
    CacheObjectKind, ErrorCode, SchemaDependency, SchemaDependencyKind, SchemaErrorCode as Code,
    SessionErrorCode,
};
use std::collections::BTreeMap;

const ID: u32 = 0x1_0000;

fn header(schema_id: u32, schema_version: u32) -> SchemaDescriptorHeader {
    SchemaDescriptorHeader {
        schema_id,
        schema_version,
        profile_id: ProfileId::TOKEN,
        schema_flags: SchemaFlags::all(),
        min_version_major: 1,
        max_version_major: 1,
        schema_hash: u64::from(schema_version) + 100,
        ..Default::default()
    }
}

fn on(schema_id: u32, schema_version: u32) -> SchemaDependency {
    SchemaDependency { schema_id, schema_version, ..Default::default() }
}

fn object(lo: u64) -> (SchemaDependency, Key) {
    let dependency = SchemaDependency {
        dependency_kind: SchemaDependencyKind::Object,
        object_kind: 8,
        cache_namespace: 2,
        cache_key_lo: lo,
        ..Default::default()
    };
    (dependency, Key { space: 0, namespace: 2, hi: 0, lo, kind: CacheObjectKind::TOOL_SCHEMA })
}

struct Both {
    schemas: Schemas,
    graph: Graph,
}

impl Both {
    fn new(policy: Policy) -> Self {
        Self { schemas: Schemas::new(Limits::default(), policy), graph: Graph::default() }
    }

    fn install(
        &mut self,
        header: SchemaDescriptorHeader,
        needs: &[SchemaDependency],
    ) -> Result<Installed, Refusal> {
        self.install_as(header, needs, Origin::Local)
    }

    fn install_as(
        &mut self,
        header: SchemaDescriptorHeader,
        needs: &[SchemaDependency],
        origin: Origin,
    ) -> Result<Installed, Refusal> {
        let header = SchemaDescriptorHeader { dependency_count: needs.len() as u16, ..header };
        let usable = |need: &SchemaDependency| (need.cache_key_lo < 5).then(|| object(need.cache_key_lo).1);
        let plan = self.schemas.check_install(&self.graph, &header, needs, origin, usable)?;
        Ok(self.schemas.apply_install(&mut self.graph, plan))
    }

    fn bind(&self, id: u32, version: u32) -> Result<Bound, u32> {
        let bound = self.schemas.check_bind(ProfileId::TOKEN, id, version, StreamSemantics::Default);
        bound.map_err(|refusal| refusal.code.raw())
    }
}

fn code(result: Result<Installed, Refusal>) -> u32 {
    result.unwrap_err().code.raw()
}

#[test]
fn g1_g4_the_same_again_is_installed_already_and_another_hash_conflicts() {
    let mut both = Both::new(Policy::default());
    assert_eq!(both.install(header(ID, 1), &[]).unwrap().outcome, Outcome::Installed);
    assert_eq!(both.install(header(ID, 1), &[]).unwrap().outcome, Outcome::AlreadyInstalled);
    let other = SchemaDescriptorHeader { schema_hash: 1, ..header(ID, 1) };
    assert_eq!(code(both.install(other, &[])), Code::SchemaHashConflict.raw());
    // The first stays, and a binding changes nothing about it.
    assert_eq!(both.schemas.get(ID, 1).unwrap().header.schema_hash, 101);
    both.bind(ID, 1).unwrap();
    assert_eq!(code(both.install(other, &[])), Code::SchemaHashConflict.raw());
    // The same hash under another header is not the same schema.
    let other = SchemaDescriptorHeader { profile_id: ProfileId::TENSOR, ..header(ID, 1) };
    assert_eq!(code(both.install(other, &[])), Code::SchemaIncompatible.raw());
}

#[test]
fn g1_the_hash_is_the_front_of_sha_256() {
    // SHA-256 of nothing is e3b0c442 98fc1c14 …
    assert_eq!(digest(b""), u64::from_le_bytes([0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14]));
    assert_eq!(digest(b"abc"), u64::from_le_bytes([0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea]));
}

#[test]
fn g1_g4_a_hash_never_changes_also_not_after_invalidation() {
    let mut both = Both::new(Policy::default());
    both.install(header(ID, 1), &[]).unwrap();
    let plan = both.schemas.check_invalidate(ID, 1).unwrap();
    both.schemas.apply_invalidate(&mut both.graph, plan);
    let other = SchemaDescriptorHeader { schema_hash: 1, ..header(ID, 1) };
    assert_eq!(code(both.install(other, &[])), Code::SchemaHashConflict.raw());
    assert_eq!(both.bind(ID, 1), Err(Code::SchemaVersionUnknown.raw()));
    // Rolled back to, it is there again.
    assert_eq!(both.install(header(ID, 1), &[]).unwrap().outcome, Outcome::Installed);
    both.bind(ID, 1).unwrap();
}

#[test]
fn g2_old_versions_stay_unless_policy_drops_them() {
    for keep_old in [true, false] {
        let mut both = Both::new(Policy { keep_old, ..Default::default() });
        both.install(header(ID, 1), &[]).unwrap();
        both.install(header(ID + 1, 1), &[on(ID, 1)]).unwrap();
        let installed = both.install(header(ID, 2), &[]).unwrap();
        assert_eq!(installed.outcome, Outcome::Updated);
        assert_eq!(installed.dropped.len(), usize::from(!keep_old));
        assert_eq!(both.bind(ID, 1).is_ok(), keep_old);
        assert_eq!(both.bind(ID + 1, 1).is_ok(), keep_old);
        assert_eq!(both.schemas.newest(ID).unwrap().header.schema_version, 2);
        let other = SchemaDescriptorHeader { schema_hash: 1, ..header(ID, 1) };
        assert_eq!(code(both.install(other, &[])), Code::SchemaHashConflict.raw());
    }
}

#[test]
fn g2_only_older_versions_are_dropped() {
    let mut both = Both::new(Policy { keep_old: false, ..Default::default() });
    both.install(header(ID, 5), &[]).unwrap();
    let installed = both.install(header(ID, 3), &[]).unwrap();
    assert_eq!((installed.outcome, installed.dropped.len()), (Outcome::Updated, 0));
    both.bind(ID, 5).unwrap();
}

#[test]
fn g3_what_depends_is_invalid_too() {
    let mut both = Both::new(Policy::default());
    both.install(header(ID, 1), &[]).unwrap();
    both.install(header(ID + 1, 1), &[on(ID, 1)]).unwrap();
    both.install(header(ID + 2, 1), &[on(ID + 1, 1)]).unwrap();
    both.install(header(ID + 3, 1), &[]).unwrap();
    let plan = both.schemas.check_invalidate(ID, 1).unwrap();
    let reached = both.schemas.apply_invalidate(&mut both.graph, plan);
    assert_eq!(reached.len(), 2);
    assert_eq!(both.bind(ID + 1, 1), Err(Code::SchemaDependencyMissing.raw()));
    assert_eq!(both.bind(ID + 2, 1), Err(Code::SchemaDependencyMissing.raw()));
    both.bind(ID + 3, 1).unwrap();
    // Installed again in order, all is well.
    for at in 0..3 {
        let needs = if at == 0 { std::vec![] } else { std::vec![on(ID + at - 1, 1)] };
        assert_eq!(both.install(header(ID + at, 1), &needs).unwrap().outcome, Outcome::Installed);
    }
    both.bind(ID + 2, 1).unwrap();
}

#[test]
fn g3_a_cache_object_takes_its_schema_along() {
    let mut both = Both::new(Policy::default());
    let key = object(9).1;
    both.install_as(header(ID, 1), &[], Origin::Cached(key)).unwrap();
    both.install(header(ID + 1, 1), &[on(ID, 1)]).unwrap();
    let reached = both.graph.remove(Node::Object(key));
    assert_eq!(both.schemas.apply_reached(&reached), [(ID, 1), (ID + 1, 1)]);
    assert_eq!(both.bind(ID, 1), Err(Code::SchemaDependencyMissing.raw()));
}

#[test]
fn g4_every_failure_has_its_own_code() {
    let mut both = Both::new(Policy::default());
    both.install(header(ID, 1), &[]).unwrap();
    assert_eq!(both.bind(ID + 9, 1), Err(Code::SchemaUnknown.raw()));
    assert_eq!(both.bind(ID, 2), Err(Code::SchemaVersionUnknown.raw()));
    let tensor = both.schemas.check_bind(ProfileId::TENSOR, ID, 1, StreamSemantics::Default).unwrap_err();
    assert_eq!((tensor.code.raw(), tensor.rule), (Code::SchemaIncompatible.raw(), "G7"));
    let window = SchemaDescriptorHeader { min_version_major: 2, max_version_major: 3, ..header(ID, 3) };
    assert_eq!(code(both.install(window, &[])), Code::SchemaIncompatible.raw());
    let window = SchemaDescriptorHeader { min_version_major: 0, max_version_major: 0, ..header(ID, 3) };
    assert_eq!(code(both.install(window, &[])), Code::SchemaIncompatible.raw());
    assert_eq!(code(both.install(header(ID, 3), &[on(ID + 9, 1)])), Code::SchemaDependencyMissing.raw());
    assert_eq!(code(both.install(header(ID, 3), &[on(ID, 2)])), Code::SchemaDependencyMissing.raw());
    assert_eq!(code(both.install(header(ID, 3), &[on(ID, 3)])), Code::SchemaDependencyMissing.raw());
    assert_eq!(code(both.install(header(ID, 3), &[object(5).0])), Code::SchemaDependencyMissing.raw());
    both.install(header(ID, 3), &[object(4).0, on(ID, 1)]).unwrap();
    for (id, version, want) in [
        (ID + 9, 1, Code::SchemaUnknown),
        (ID, 2, Code::SchemaVersionUnknown),
        (0x1001, 3, Code::SchemaUpdateRejected),
    ] {
        assert_eq!(both.schemas.check_invalidate(id, version).unwrap_err().code.raw(), want.raw());
    }
}

#[test]
fn g4_policy_refuses_updates_and_invalidations() {
    let mut both = Both::new(Policy { updates: false, invalidations: false, keep_old: true });
    both.install(header(ID, 1), &[]).unwrap();
    assert_eq!(code(both.install(header(ID, 2), &[])), Code::SchemaUpdateRejected.raw());
    let refusal = both.schemas.check_invalidate(ID, 1).unwrap_err();
    assert_eq!(refusal.code.raw(), Code::SchemaUpdateRejected.raw());
    both.install(header(ID + 1, 1), &[]).unwrap();
}

#[test]
fn g4_a_failed_object_breaks_the_schema() {
    let mut both = Both::new(Policy::default());
    let (dependency, key) = object(1);
    both.install(header(ID, 1), &[dependency]).unwrap();
    let reached = both.graph.remove(Node::Object(key));
    both.schemas.apply_reached(&reached);
    assert_eq!(both.bind(ID, 1), Err(Code::SchemaDependencyMissing.raw()));
    let other = both.install(header(ID + 1, 1), &[on(ID, 1)]);
    assert_eq!(code(other), Code::SchemaDependencyMissing.raw());
}

#[test]
fn g5_nothing_is_skipped_whether_or_not_it_is_critical() {
    for schema_flags in [SchemaFlags::CRITICAL, SchemaFlags::empty()] {
        let mut both = Both::new(Policy::default());
        let critical = SchemaDescriptorHeader { schema_flags, ..header(ID, 1) };
        assert_eq!(code(both.install(critical, &[on(ID + 1, 1)])), Code::SchemaDependencyMissing.raw());
        assert_eq!(both.bind(ID, 1), Err(Code::SchemaUnknown.raw()));
        both.install(critical, &[]).unwrap();
        assert_eq!(both.bind(ID, 2), Err(Code::SchemaVersionUnknown.raw()));
    }
}

#[test]
fn g5_s8_flags_say_what_a_schema_may_be_used_for() {
    let mut both = Both::new(Policy::default());
    let plain = SchemaDescriptorHeader { schema_flags: SchemaFlags::empty(), ..header(ID, 1) };
    let cached = both.install_as(plain, &[], Origin::Cached(object(1).1));
    let refusal = cached.unwrap_err();
    assert_eq!((refusal.code.raw(), refusal.rule), (Code::SchemaIncompatible.raw(), "G5"));
    both.install(plain, &[]).unwrap();
    let refusal = both.schemas.check_invalidate(ID, 1).unwrap_err();
    assert_eq!(refusal.code.raw(), Code::SchemaUpdateRejected.raw());
    let unsupported = Err(SessionErrorCode::SCHEMA_UNSUPPORTED);
    assert_eq!(both.schemas.check_default(ProfileId::TOKEN, ID, 1), unsupported);
    both.install(header(ID, 2), &[]).unwrap();
    assert_eq!(both.schemas.check_default(ProfileId::TOKEN, ID, 2), Ok(()));
    assert_eq!(both.schemas.check_default(ProfileId::TENSOR, ID, 2), unsupported);
    assert_eq!(both.schemas.check_default(ProfileId::TOKEN, ID, 3), unsupported);
    assert_eq!(both.schemas.check_default(ProfileId::TOKEN, 0, 0), Ok(()));
}

#[test]
fn g6_the_standard_schema_is_there() {
    let both = Both::new(Policy::default());
    let bound = both.bind(0x1001, 3).unwrap();
    assert_eq!(bound.semantics, StreamSemantics::Append);
    assert_eq!(both.schemas.get(0x1001, 3).unwrap().name, Some("llm.chat.delta.v1"));
    assert_eq!(both.schemas.check_default(ProfileId::TOKEN, 0x1001, 3), Ok(()));
}

#[test]
fn g6_a_standard_schema_takes_its_body_from_whom_brings_it_first() {
    let mut both = Both::new(Policy::default());
    let chat = SchemaDescriptorHeader {
        default_stream_semantics: StreamSemantics::Append,
        schema_hash: 7,
        ..header(0x1001, 3)
    };
    let wrong = SchemaDescriptorHeader { profile_id: ProfileId::TENSOR, ..chat };
    assert_eq!(code(both.install(wrong, &[])), Code::SchemaIncompatible.raw());
    let wrong = SchemaDescriptorHeader { default_stream_semantics: StreamSemantics::Event, ..chat };
    assert_eq!(code(both.install(wrong, &[])), Code::SchemaIncompatible.raw());
    let next = SchemaDescriptorHeader { profile_id: ProfileId::TENSOR, schema_version: 4, ..chat };
    assert_eq!(both.install(next, &[]).unwrap_err().rule, "G6", "in no version");
    let key = object(1).1;
    assert_eq!(both.install_as(chat, &[], Origin::Cached(key)).unwrap().outcome, Outcome::Installed);
    let other = SchemaDescriptorHeader { schema_hash: 8, ..chat };
    assert_eq!(code(both.install(other, &[])), Code::SchemaHashConflict.raw());
    // It does not go with the object that brought its body.
    assert_eq!(both.graph.remove(Node::Object(key)), []);
    both.bind(0x1001, 3).unwrap();
}

#[test]
fn g6_standard_numbers_are_the_protocols() {
    let mut both = Both::new(Policy::default());
    for id in [1, 0x1000, 0x1002, 0xffff] {
        let refusal = both.install(header(id, 1), &[]).unwrap_err();
        assert_eq!((refusal.code.raw(), refusal.rule), (Code::SchemaIncompatible.raw(), "G6"));
    }
    for (profile, good) in [(0, true), (1, true), (2, true), (3, false), (0x7fff, false), (0x8000, true)] {
        let profile_id = ProfileId::from_raw(profile).unwrap();
        let header = SchemaDescriptorHeader { profile_id, ..header(ID + u32::from(profile), 1) };
        assert_eq!(both.install(header, &[]).is_ok(), good);
    }
}

#[test]
fn g6_none_bound_never_means_tensor() {
    let both = Both::new(Policy::default());
    let bound = both.schemas.check_bind(ProfileId::UNSPECIFIED, 0, 0, StreamSemantics::Default).unwrap();
    let want = Bound {
        profile: ProfileId::UNSPECIFIED,
        schema_id: 0,
        schema_version: 0,
        semantics: StreamSemantics::Default,
    };
    assert_eq!(bound, want);
}

#[test]
fn g7_profile_schema_and_version_bind_together() {
    let mut both = Both::new(Policy::default());
    both.install(header(ID, 1), &[]).unwrap();
    for profile in [ProfileId::UNSPECIFIED, ProfileId::TENSOR, ProfileId::from_raw(0x8000).unwrap()] {
        let refusal = both.schemas.check_bind(profile, ID, 1, StreamSemantics::Append).unwrap_err();
        assert_eq!((refusal.code.raw(), refusal.rule), (Code::SchemaIncompatible.raw(), "G7"));
    }
}

#[test]
fn g7_semantics_come_from_the_payload_then_the_schema_then_the_profile() {
    let mut both = Both::new(Policy::default());
    both.install(header(ID, 1), &[]).unwrap();
    let event = SchemaDescriptorHeader { default_stream_semantics: StreamSemantics::Event, ..header(ID, 2) };
    both.install(event, &[]).unwrap();
    let semantics = |both: &Both, version, own| {
        both.schemas.check_bind(ProfileId::TOKEN, ID, version, own).unwrap().semantics
    };
    assert_eq!(semantics(&both, 2, StreamSemantics::Snapshot), StreamSemantics::Snapshot);
    assert_eq!(semantics(&both, 2, StreamSemantics::Default), StreamSemantics::Event);
    assert_eq!(semantics(&both, 1, StreamSemantics::Default), StreamSemantics::Append);
    both.schemas.set_semantics(ProfileId::TOKEN, StreamSemantics::Replace);
    assert_eq!(semantics(&both, 1, StreamSemantics::Default), StreamSemantics::Replace);
}

#[test]
fn x5_dependencies_stand_in_the_graph() {
    let mut both = Both::new(Policy::default());
    let (dependency, key) = object(1);
    both.install(header(ID, 1), &[]).unwrap();
    both.install(header(ID + 1, 2), &[on(ID, 1), dependency]).unwrap();
    let needs = both.graph.needs(Node::Schema { id: ID + 1, version: 2 });
    let want = [Need::any(Node::Object(key)), Need::any(Node::Schema { id: ID, version: 1 })];
    assert_eq!(needs, want);
}

#[test]
fn g1_g4_hostile_schemas_are_bounded() {
    let mut both = Both::new(Policy::default());
    both.schemas.limits = Limits { schemas: 20, versions: 5, dependencies: 4 };
    both.install(header(ID, 1), &[]).unwrap();
    let many = [on(ID, 1); 5];
    assert_eq!(both.install(header(ID, 2), &many).unwrap_err().code, ErrorCode::LIMIT_EXCEEDED);
    // A count that promises more than there is.
    let lying = SchemaDescriptorHeader { dependency_count: u16::MAX, ..header(ID, 2) };
    let refusal = both.schemas.check_install(&both.graph, &lying, &[], Origin::Local, |_| None).unwrap_err();
    assert_eq!(refusal.code, ErrorCode::MALFORMED_BODY);
    for version in 2..=5 {
        both.install(header(ID, version), &[]).unwrap();
    }
    assert_eq!(both.install(header(ID, 6), &[]).unwrap_err().code, ErrorCode::LIMIT_EXCEEDED);
    let mut installed = 0;
    for id in 1..1_000 {
        installed += usize::from(both.install(header(ID + id, 1), &[]).is_ok());
        if let Ok(plan) = both.schemas.check_invalidate(ID + id, 1) {
            both.schemas.apply_invalidate(&mut both.graph, plan);
        }
    }
    assert_eq!((installed, both.schemas.len()), (14, 20));
}

/// Against a map of hashes and a slow walk over dependencies.
#[test]
fn model_bindings_are_what_the_installations_made_them() {
    #[derive(Clone, Copy, PartialEq)]
    enum Is {
        Live,
        Invalid,
        Broken,
    }
    let mut random = Random::new(2);
    let mut both = Both::new(Policy::default());
    type At = (u32, u32);
    let mut model: BTreeMap<At, (u64, Is, Vec<At>)> = BTreeMap::new();
    fn spread(model: &mut BTreeMap<At, (u64, Is, Vec<At>)>, root: At) {
        let hit: Vec<_> = model
            .iter()
            .filter(|(_, (_, is, needs))| *is == Is::Live && needs.contains(&root))
            .map(|(at, _)| *at)
            .collect();
        for at in hit {
            if let Some(entry) = model.get_mut(&at).filter(|entry| entry.1 == Is::Live) {
                entry.1 = Is::Broken;
                spread(model, at);
            }
        }
    }
    for _ in 0..steps(40_000) {
        let at = (ID + random.below(5) as u32, 1 + random.below(3) as u32);
        if random.chance(5) {
            let verdict = both.schemas.check_invalidate(at.0, at.1);
            assert_eq!(verdict.is_ok(), model.get(&at).is_some_and(|entry| entry.1 != Is::Invalid));
            if let Ok(plan) = verdict {
                both.schemas.apply_invalidate(&mut both.graph, plan);
                model.entry(at).and_modify(|entry| entry.1 = Is::Invalid);
                spread(&mut model, at);
            }
        } else {
            // One hash in a few is another one, and the header goes with the hash.
            let hash = random.below(8) / 7;
            let needs: Vec<(u32, u32)> = match at.0 - ID {
                0 => Vec::new(),
                higher => (0..hash + 1).map(|n| (ID + higher - 1, 1 + n as u32)).collect(),
            };
            let dependencies: Vec<_> = needs.iter().map(|(id, version)| on(*id, *version)).collect();
            let header = SchemaDescriptorHeader { schema_hash: hash, ..header(at.0, at.1) };
            let known = model.get(&at).cloned();
            let live = |at: &(u32, u32)| model.get(at).is_some_and(|entry| entry.1 == Is::Live);
            let want = match &known {
                Some((first, ..)) if *first != hash => Err(Code::SchemaHashConflict.raw()),
                Some((_, Is::Live, _)) => Ok(Outcome::AlreadyInstalled),
                _ if !needs.iter().all(live) => Err(Code::SchemaDependencyMissing.raw()),
                None if model.keys().any(|(id, _)| *id == at.0) => Ok(Outcome::Updated),
                _ => Ok(Outcome::Installed),
            };
            let got = both.install(header, &dependencies);
            assert_eq!(got.map(|installed| installed.outcome).map_err(|refusal| refusal.code.raw()), want);
            if want.is_ok() && want != Ok(Outcome::AlreadyInstalled) {
                model.insert(at, (hash, Is::Live, needs));
            }
        }
        for (at, (_, is, _)) in &model {
            let want = match is {
                Is::Live => None,
                Is::Invalid => Some(Code::SchemaVersionUnknown.raw()),
                Is::Broken => Some(Code::SchemaDependencyMissing.raw()),
            };
            assert_eq!(both.bind(at.0, at.1).err(), want);
        }
    }
}
