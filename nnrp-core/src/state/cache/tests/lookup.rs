use super::*;
use crate::{CacheReference, CacheReferenceFlags, MissReason};
use CacheErrorCode as Code;

/// An object that is wrong in every way at once, so that mending one uncovers the next.
#[test]
fn k3_a_lookup_fails_with_exactly_one_reason_in_this_order() {
    let mut both = Both::new(Limits::default());
    let mut want = Want { version: 9, lease_required: true, schema: (7, 1), ..Want::new(key(1)) };
    let look = |both: &Both, want: &Want| both.cache.check_lookup(want, NOW).err();
    assert_eq!(look(&both, &want), Some(Code::CacheMiss));
    let lease = Ask { lease_id: 0, owner: owner(), ttl_ms: 0, expiry: Expiry::Keep };
    both.add(5, &[]);
    let mut put = Put {
        version: 8,
        schema: (7, 2),
        needs: [Need::any(Node::Object(key(5)))].into(),
        ..Put::new(key(1))
    };
    both.put(&put, NOW).unwrap();
    assert_eq!(look(&both, &want), Some(Code::LeaseExpired));
    put.lease = Some(lease);
    both.put(&put, NOW).unwrap();
    assert_eq!(look(&both, &want), Some(Code::VersionMismatch));
    want.version = 8;
    assert_eq!(look(&both, &want), Some(Code::SchemaMismatch));
    let mut broken = Both { cache: both.cache.clone(), graph: both.graph.clone() };
    let reached = broken.graph.remove(Node::Object(key(5)));
    broken.cache.apply_reached(reached);
    assert_eq!(look(&broken, &want), Some(Code::DependencyInvalid), "before the schema");
    want.version = 9;
    assert_eq!(look(&broken, &want), Some(Code::VersionMismatch), "before the dependency");
    want.version = 8;
    want.schema = (7, 2);
    assert_eq!(look(&both, &want), None);
}

#[test]
fn k3_what_is_over_has_an_expired_lease_whoever_noticed() {
    let mut both = Both::new(Limits::default());
    both.put(&Put { ttl_ms: 10, ..Put::new(key(1)) }, NOW).unwrap();
    both.add(2, &[]);
    assert_eq!(both.find(1, NOW.after(9)), Code::None);
    // Its time passes, which the cache has not done anything about yet, and then has.
    assert_eq!(both.find(1, NOW.after(10)), Code::LeaseExpired);
    both.tick(NOW.after(10));
    assert_eq!(both.find(1, NOW.after(10)), Code::LeaseExpired);
    // A lease that does not run brings nothing, however good the object is.
    let under = Want { lease_id: 77, ..Want::new(key(2)) };
    assert_eq!(both.cache.check_lookup(&under, NOW), Err(Code::LeaseExpired));
}

#[test]
fn k3_of_several_kinds_the_first_failure_is_told() {
    let mut both = Both::new(Limits::default());
    let other = Key { kind: CacheObjectKind::TOOL_SCHEMA, ..key(1) };
    both.put(&Put { ttl_ms: 10, ..Put::new(key(1)) }, NOW).unwrap();
    both.put(&Put { profile: ProfileId::TOKEN, ..Put::new(other) }, NOW).unwrap();
    let tensor = CacheReference { profile_id: ProfileId::TENSOR, ..reference(1) };
    assert_eq!(both.cache.check_reference(1, &tensor, NOW), Err(Code::SchemaMismatch));
    both.tick(NOW.after(10));
    assert_eq!(both.cache.check_reference(1, &tensor, NOW.after(10)), Err(Code::LeaseExpired));
}

#[test]
fn k3_profile_and_schema_have_to_fit_where_both_are_told() {
    let mut both = Both::new(Limits::default());
    both.put(&Put { profile: ProfileId::TOKEN, schema: (7, 2), ..Put::new(key(1)) }, NOW).unwrap();
    both.put(&Put::new(key(2)), NOW).unwrap();
    let look = |lo, profile, schema| {
        both.cache.check_lookup(&Want { profile, schema, ..Want::new(key(lo)) }, NOW).err()
    };
    assert_eq!(look(1, ProfileId::UNSPECIFIED, (0, 0)), None);
    assert_eq!(look(1, ProfileId::TOKEN, (7, 2)), None);
    assert_eq!(look(1, ProfileId::TENSOR, (7, 2)), Some(Code::SchemaMismatch));
    assert_eq!(look(1, ProfileId::TOKEN, (7, 3)), Some(Code::SchemaMismatch));
    assert_eq!(look(1, ProfileId::TOKEN, (8, 2)), Some(Code::SchemaMismatch));
    assert_eq!(look(2, ProfileId::TENSOR, (8, 2)), None);
}

#[test]
fn k8_each_failure_has_its_miss_reason() {
    let reasons = [
        (Code::CacheMiss, MissReason::NOT_FOUND),
        (Code::LeaseExpired, MissReason::EXPIRED),
        (Code::SchemaMismatch, MissReason::SCHEMA_MISMATCH),
        (Code::VersionMismatch, MissReason::INVALIDATED),
        (Code::DependencyInvalid, MissReason::INVALIDATED),
    ];
    for (code, reason) in reasons {
        assert_eq!(miss_reason(code), reason);
    }
}

fn reference(lo: u64) -> CacheReference {
    CacheReference { cache_namespace: 2, cache_key_lo: lo, ..Default::default() }
}

#[test]
fn k8_a_reference_means_every_kind_under_its_key() {
    let mut both = Both::new(Limits::default());
    assert_eq!(both.cache.check_reference(1, &reference(1), NOW), Err(Code::CacheMiss));
    let other = Key { kind: CacheObjectKind::TOOL_SCHEMA, ..key(1) };
    both.add(1, &[]);
    both.put(&Put { profile: ProfileId::TOKEN, ttl_ms: 10, ..Put::new(other) }, NOW).unwrap();
    both.add(2, &[]);
    assert_eq!(both.cache.check_reference(1, &reference(1), NOW), Ok([key(1), other].into()));
    // One that is not good spoils it.
    let tensor = CacheReference { profile_id: ProfileId::TENSOR, ..reference(1) };
    assert_eq!(both.cache.check_reference(1, &tensor, NOW), Err(Code::SchemaMismatch));
    both.tick(NOW.after(10));
    assert_eq!(both.cache.check_reference(1, &reference(1), NOW.after(10)), Err(Code::LeaseExpired));
    assert_eq!(both.cache.check_reference(9, &reference(1), NOW), Err(Code::CacheMiss));
}

#[test]
fn k8_a_reference_under_a_lease_means_the_leased_object() {
    let mut both = Both::new(Limits::default());
    let other = Key { kind: CacheObjectKind::TOOL_SCHEMA, ..key(1) };
    both.add(1, &[]);
    let lease = Ask { lease_id: 0, owner: owner(), ttl_ms: 0, expiry: Expiry::Keep };
    let id = both.put(&Put { lease: Some(lease), ..Put::new(other) }, NOW).unwrap().lease.unwrap().id;
    let under = |lease_id| CacheReference { lease_id, ..reference(1) };
    assert_eq!(both.cache.check_reference(1, &under(id), NOW), Ok([other].into()));
    assert_eq!(both.cache.check_reference(1, &under(id + 1), NOW), Err(Code::LeaseExpired));
    let required = CacheReference { flags: CacheReferenceFlags::LEASE_REQUIRED, ..reference(1) };
    assert_eq!(both.cache.check_reference(1, &required, NOW), Err(Code::LeaseExpired));
}

#[test]
fn t2_hits_and_misses_are_counted() {
    let mut both = Both::new(Limits::default());
    both.add(1, &[]);
    both.cache.apply_use(&[key(1), key(1), key(2)]);
    both.cache.note_miss(Code::CacheMiss);
    both.cache.note_miss(Code::None);
    assert_eq!((both.cache.counters().hits, both.cache.counters().misses), (2, 1));
    assert_eq!(both.cache.get(&key(1)).unwrap().hits, 2);
}
