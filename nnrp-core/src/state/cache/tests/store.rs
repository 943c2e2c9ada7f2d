use super::*;
use crate::{CacheAckStatus, CacheInvalidate, CacheInvalidateScope};

fn sized(lo: u64, size: usize) -> Put {
    Put { size, digest: lo, ..Put::new(key(lo)) }
}

#[test]
fn k1_versions_only_grow_and_changed_content_never_reuses_one() {
    let mut both = Both::new(Limits::default());
    let put = |version, digest| Put { version, digest, size: 1, ..Put::new(key(1)) };
    assert_eq!(both.put(&put(0, 1), NOW).unwrap().version, 1);
    let stored = both.put(&put(0, 2), NOW).unwrap();
    assert_eq!((stored.version, stored.status), (2, CacheAckStatus::Replaced));
    assert_eq!(both.put(&put(7, 3), NOW).unwrap().version, 7);
    // The same again is no change.
    let again = both.put(&put(7, 3), NOW).unwrap();
    assert_eq!((again.version, again.status), (7, CacheAckStatus::Accepted));
    for (version, digest) in [(7, 4), (6, 3), (1, 1)] {
        let refusal = both.put(&put(version, digest), NOW).unwrap_err();
        assert_eq!((refusal.code.raw(), refusal.rule), (CacheErrorCode::VersionMismatch.raw(), "K1"));
    }
    both.put(&put(u64::MAX, 5), NOW).unwrap();
    assert_eq!(both.put(&put(0, 6), NOW).unwrap_err().rule, "K1");
}

#[test]
fn k1_a_version_is_not_used_again_after_the_object_went() {
    let mut both = Both::new(Limits::default());
    let put = |version, digest| Put { version, digest, ttl_ms: 10, ..Put::new(key(1)) };
    both.put(&put(5, 1), NOW).unwrap();
    both.tick(NOW.after(10));
    assert_eq!(both.cache.len(), 0);
    assert_eq!(both.put(&put(4, 1), NOW).unwrap_err().rule, "K1");
    assert_eq!(both.put(&put(5, 2), NOW).unwrap_err().rule, "K1");
    // The very same object may come back, and a later one takes the next number.
    assert_eq!(both.put(&put(5, 1), NOW).unwrap().version, 5);
    both.tick(NOW.after(10));
    assert_eq!(both.put(&put(0, 2), NOW).unwrap().version, 6);
}

#[test]
fn k6_k8_over_the_limits_a_put_is_refused_and_nothing_is_lost() {
    for (limits, size) in [
        (Limits { entries: 2, ..Default::default() }, 1),
        (Limits { bytes: 10, ..Default::default() }, 5),
        (Limits { bytes: 10, object_bytes: 4, ..Default::default() }, 4),
    ] {
        let mut both = Both::new(limits);
        both.put(&sized(1, size), NOW).unwrap();
        both.put(&sized(2, size), NOW).unwrap();
        let refusal = both.put(&sized(3, size), NOW).unwrap_err();
        assert_eq!((refusal.code, refusal.rule), (ErrorCode::LIMIT_EXCEEDED, "K6"));
        assert_eq!((both.find(1, NOW), both.find(2, NOW)), (CacheErrorCode::None, CacheErrorCode::None));
        let ack = refused(key(3), both.cache.limits(), &refusal);
        assert_eq!((ack.status, ack.detail_code), (CacheAckStatus::Rejected, 7));
    }
    let mut both = Both::new(Limits { object_bytes: 4, ..Default::default() });
    assert_eq!(both.put(&sized(1, 5), NOW).unwrap_err().rule, "K6");
    assert_eq!(both.put(&sized(1, usize::MAX), NOW).unwrap_err().rule, "K6");
}

#[test]
fn k6_replacing_counts_what_it_frees() {
    let mut both = Both::new(Limits { bytes: 10, entries: 1, ..Default::default() });
    both.put(&sized(1, 8), NOW).unwrap();
    both.put(&Put { digest: 9, ..sized(1, 10) }, NOW).unwrap();
    assert_eq!(both.cache.bytes(), 10);
}

#[test]
fn k6_each_eviction_policy_has_its_order() {
    for (eviction, first) in [(Eviction::Oldest, 1), (Eviction::LeastUsed, 2), (Eviction::SoonestOver, 3)] {
        let mut both = Both::new(Limits { entries: 3, eviction, ..Default::default() });
        for (lo, ttl_ms) in [(1, 900), (2, 800), (3, 700)] {
            both.put(&Put { ttl_ms, ..sized(lo, 1) }, NOW).unwrap();
        }
        both.cache.apply_use(&[key(1)]);
        let stored = both.put(&Put { ttl_ms: 950, ..sized(4, 1) }, NOW).unwrap();
        assert_eq!(stored.gone.evicted, [key(first)], "{eviction:?}");
        assert_eq!(both.find(first, NOW), CacheErrorCode::CacheMiss);
        assert_eq!((both.cache.len(), both.cache.counters().evicted), (3, 1));
    }
}

#[test]
fn k6_pinned_and_leased_objects_are_never_evicted() {
    let mut both = Both::new(Limits { entries: 2, eviction: Eviction::Oldest, ..Default::default() });
    both.put(&Put { flags: CachePutFlags::PINNED, ..sized(1, 1) }, NOW).unwrap();
    let lease = Some(Ask { lease_id: 0, owner: owner(), ttl_ms: 50, expiry: Expiry::Keep });
    both.put(&Put { lease, ..sized(2, 1) }, NOW).unwrap();
    assert_eq!(both.put(&sized(3, 1), NOW).unwrap_err().rule, "K6");
    both.tick(NOW.after(50));
    assert_eq!(both.put(&sized(3, 1), NOW).unwrap().gone.evicted, [key(2)]);
}

#[test]
fn k6_only_as_much_is_evicted_as_is_needed_and_none_for_nothing() {
    let mut both = Both::new(Limits { bytes: 10, eviction: Eviction::Oldest, ..Default::default() });
    for lo in 1..=5 {
        both.put(&sized(lo, 2), NOW).unwrap();
    }
    assert_eq!(both.put(&sized(6, 3), NOW).unwrap().gone.evicted, [key(1), key(2)]);
    // What cannot be made to fit evicts nothing.
    both.put(&Put { flags: CachePutFlags::PINNED, ..sized(7, 1) }, NOW).unwrap();
    let before = both.cache.len();
    assert_eq!(both.put(&sized(8, 10), NOW).unwrap_err().rule, "K6");
    assert_eq!(both.cache.len(), before);
}

#[test]
fn k5_hints_change_what_goes_first_and_no_check() {
    let mut both = Both::new(Limits { entries: 3, eviction: Eviction::Oldest, ..Default::default() });
    for lo in 1..=3 {
        both.put(&Put { ttl_ms: 100, ..sized(lo, 1) }, NOW).unwrap();
    }
    let object = both.cache.get(&key(2)).unwrap().clone();
    for hint in [Hint::Prefetch, Hint::Touch, Hint::Reuse(false), Hint::Reuse(true)] {
        assert!(both.cache.hint(&key(2), hint));
        assert_eq!(both.cache.get(&key(2)), Some(&object));
        both.audit();
    }
    assert!(both.cache.hint(&key(1), Hint::Reuse(true)));
    assert!(both.cache.hint(&key(3), Hint::Evict));
    assert!(!both.cache.hint(&key(9), Hint::Prefetch));
    assert_eq!(both.put(&sized(4, 1), NOW).unwrap().gone.evicted, [key(3)]);
    // A hint neither brings anything back nor keeps it.
    both.tick(NOW.after(100));
    for hint in [Hint::Prefetch, Hint::Touch, Hint::Evict, Hint::Reuse(true)] {
        assert!(!both.cache.hint(&key(2), hint));
        assert_eq!(both.find(2, NOW.after(100)), CacheErrorCode::LeaseExpired);
    }
}

#[test]
fn k5_a_touch_is_a_use_and_takes_no_preference_away() {
    for (preferred, first) in [(false, 2), (true, 3)] {
        let mut both = Both::new(Limits { entries: 3, eviction: Eviction::LeastUsed, ..Default::default() });
        for lo in 1..=3 {
            both.add(lo, &[]);
        }
        if preferred {
            both.cache.hint(&key(2), Hint::Reuse(true));
        }
        for lo in [2, 3, 1].into_iter().filter(|lo| preferred || *lo == 1) {
            both.cache.hint(&key(lo), Hint::Touch);
        }
        assert_eq!(both.add(4, &[]).gone.evicted, [key(first)], "preferred: {preferred}");
    }
}

#[test]
fn k7_private_kinds_obey_the_same_rules() {
    let private = Key { kind: CacheObjectKind::from_raw(0x8123).unwrap(), ..key(1) };
    let mut both = Both::new(Limits::default());
    both.put(&Put { version: 3, ttl_ms: 10, ..Put::new(private) }, NOW).unwrap();
    assert_eq!(both.put(&Put { version: 2, ..Put::new(private) }, NOW).unwrap_err().rule, "K1");
    assert_eq!(both.put(&Put { version: 3, digest: 9, ..Put::new(private) }, NOW).unwrap_err().rule, "K1");
    let want = Want { version: 4, ..Want::new(private) };
    assert_eq!(both.cache.check_lookup(&want, NOW), Err(CacheErrorCode::VersionMismatch));
    // The kind is part of the identity.
    assert_eq!(both.find(1, NOW), CacheErrorCode::CacheMiss);
    assert_eq!(
        both.cache.check_lookup(&Want::new(private), NOW.after(10)),
        Err(CacheErrorCode::LeaseExpired)
    );
    let lease = Ask { lease_id: 0, owner: owner(), ttl_ms: 20, expiry: Expiry::Refuse };
    let id = both.put(&Put { lease: Some(lease), ..Put::new(private) }, NOW).unwrap().lease.unwrap().id;
    let under = Want { lease_id: id, ..Want::new(private) };
    assert!(both.cache.check_lookup(&under, NOW.after(19)).is_ok());
    assert_eq!(both.cache.check_lookup(&under, NOW.after(20)), Err(CacheErrorCode::LeaseExpired));
}

#[test]
fn k4_what_depends_goes_with_it() {
    let mut both = Both::new(Limits::default());
    both.add(1, &[]);
    both.add(2, &[1]);
    both.add(3, &[2]);
    both.add(4, &[]);
    both.add(1, &[]);
    assert_eq!(both.find(3, NOW), CacheErrorCode::None, "they need whichever version there is");
    let one = CacheInvalidate {
        invalidate_scope: CacheInvalidateScope::ObjectKey,
        cache_namespace: 2,
        cache_key_lo: 1,
        ..Default::default()
    };
    let gone = both.cache.apply_invalidate(&mut both.graph, both.cache.check_invalidate(1, &one).unwrap());
    both.audit();
    assert_eq!(gone.objects, [key(1)]);
    assert_eq!(gone.reached, [Node::Object(key(2)), Node::Object(key(3))]);
    let codes = [1, 2, 3, 4].map(|lo| both.find(lo, NOW));
    use CacheErrorCode::{CacheMiss, DependencyInvalid, None};
    assert_eq!(codes, [CacheMiss, DependencyInvalid, DependencyInvalid, None]);
    assert_eq!(both.cache.counters().invalidated, 3);
}

#[test]
fn k1_k4_a_dependency_has_to_be_there_in_its_version() {
    let mut both = Both::new(Limits::default());
    let put =
        |version| Put { needs: [Need { on: Node::Object(key(1)), version }].into(), ..Put::new(key(2)) };
    let refusal = both.put(&put(0), NOW).unwrap_err();
    assert_eq!((refusal.code.raw(), refusal.rule), (CacheErrorCode::DependencyInvalid.raw(), "K4"));
    both.add(1, &[]);
    assert_eq!(both.put(&put(2), NOW).unwrap_err().rule, "K4");
    both.put(&put(1), NOW).unwrap();
    // Another version of what it needs breaks it.
    let stored = both.put(&Put { digest: 77, ..Put::new(key(1)) }, NOW).unwrap();
    assert_eq!(stored.gone.reached, [Node::Object(key(2))]);
    assert_eq!(both.find(2, NOW), CacheErrorCode::DependencyInvalid);
}

#[test]
fn k4_expiry_and_eviction_reach_what_depends_too() {
    let mut both = Both::new(Limits { entries: 2, eviction: Eviction::Oldest, ..Default::default() });
    both.put(&Put { ttl_ms: 10, ..Put::new(key(1)) }, NOW).unwrap();
    both.add(2, &[1]);
    let gone = both.tick(NOW.after(10));
    assert_eq!((gone.objects, gone.reached), ([key(1)].into(), [Node::Object(key(2))].into()));
    assert_eq!(both.find(2, NOW), CacheErrorCode::DependencyInvalid);
    both.add(3, &[]);
    both.add(4, &[3]);
    let stored = both.add(5, &[]);
    assert_eq!(stored.gone.evicted, [key(3)]);
    assert_eq!(both.find(4, NOW), CacheErrorCode::DependencyInvalid);
}

#[test]
fn k4_what_an_object_depends_on_is_not_evicted_for_it() {
    let mut both = Both::new(Limits { entries: 2, eviction: Eviction::Oldest, ..Default::default() });
    both.add(1, &[]);
    both.add(2, &[]);
    let stored = both.add(3, &[1]);
    assert_eq!(stored.gone.evicted, [key(2)]);
    assert_eq!((both.find(1, NOW), both.find(3, NOW)), (CacheErrorCode::None, CacheErrorCode::None));
}

#[test]
fn k4_an_object_never_outlives_a_dependency_that_its_own_put_removed() {
    let mut both = Both::new(Limits::default());
    both.add(1, &[]);
    both.put(&Put { needs: [Need { on: Node::Object(key(1)), version: 1 }].into(), ..Put::new(key(2)) }, NOW)
        .unwrap();
    // 1 would need 2, which needs the 1 that this replaces.
    let stored = both
        .put(&Put { digest: 9, needs: [Need::any(Node::Object(key(2)))].into(), ..Put::new(key(1)) }, NOW)
        .unwrap();
    assert_eq!(stored.gone.objects, [key(1)]);
    assert_eq!(
        (both.find(1, NOW), both.find(2, NOW)),
        (CacheErrorCode::DependencyInvalid, CacheErrorCode::DependencyInvalid)
    );
    assert_eq!(both.graph.edges(), 0);
}

#[test]
fn k4_what_others_say_is_broken_is_broken_here() {
    let mut both = Both::new(Limits::default());
    let schema = Node::Schema { id: 9, version: 1 };
    both.put(&Put { needs: [Need::any(schema)].into(), ..Put::new(key(1)) }, NOW).unwrap();
    both.add(2, &[1]);
    let reached = both.graph.remove(schema);
    let gone = both.cache.apply_reached(reached);
    both.audit();
    assert_eq!(gone.reached.len(), 2);
    assert_eq!(both.find(2, NOW), CacheErrorCode::DependencyInvalid);
}

#[test]
fn k4_the_four_scopes_remove_what_they_name() {
    let fill = || {
        let mut both = Both::new(Limits::default());
        for space in [0, 1, 2] {
            for namespace in [0, 7, u32::MAX] {
                for kind in [CacheObjectKind::CAMERA_BLOCK, CacheObjectKind::TOOL_SCHEMA] {
                    for lo in [0, 5, u64::MAX] {
                        both.put(&Put::new(Key { space, namespace, hi: 3, lo, kind }), NOW).unwrap();
                    }
                }
            }
        }
        both
    };
    let all = 3 * 3 * 2 * 3;
    let invalidate = |scope, namespace, hi, lo| CacheInvalidate {
        invalidate_scope: scope,
        cache_namespace: namespace,
        cache_key_hi: hi,
        cache_key_lo: lo,
        ..Default::default()
    };
    use CacheInvalidateScope::{Namespace, ObjectKey, ObjectKind, WholeSession};
    for (message, count) in [
        (invalidate(WholeSession, 0, 0, 0), 18),
        (invalidate(Namespace, u32::MAX, 0, 0), 6),
        (invalidate(Namespace, 8, 0, 0), 0),
        (invalidate(ObjectKind, 7, 1, 0), 3),
        (invalidate(ObjectKind, 7, 2, 0), 0),
        // Without a kind, every kind under the key (K8).
        (invalidate(ObjectKey, 7, 3, u64::MAX), 2),
        (invalidate(ObjectKey, 7, 3, 6), 0),
    ] {
        let mut both = fill();
        assert_eq!(both.cache.len(), all);
        let plan = both.cache.check_invalidate(1, &message).unwrap();
        let gone = both.cache.apply_invalidate(&mut both.graph, plan);
        both.audit();
        assert!(gone.objects.iter().all(|key| key.space == 1));
        assert_eq!((gone.objects.len(), both.cache.len()), (count, all - count), "{message:?}");
    }
    let both = fill();
    let bad = invalidate(WholeSession, 1, 0, 0);
    assert_eq!(both.cache.check_invalidate(1, &bad).unwrap_err().rule, "D10");
}

#[test]
fn k8_the_reason_of_an_invalidation_is_a_reason_code() {
    let cache: Cache<()> = Cache::new(Limits::default());
    for (reason_code, good) in [(0, true), (8, true), (9, false), (0x8000, true), (0x1_0000, false)] {
        let message = CacheInvalidate { reason_code, ..Default::default() };
        let verdict = cache.check_invalidate(0, &message);
        assert_eq!(verdict.is_ok(), good);
        if let Err(refusal) = verdict {
            assert_eq!((refusal.code, refusal.rule), (ErrorCode::MALFORMED_BODY, "K8"));
        }
    }
}

#[test]
fn g3_a_schema_object_can_be_named() {
    let schema_object = Key { kind: CacheObjectKind::from_raw(0x8001).unwrap(), ..key(1) };
    let schema = Node::Schema { id: 0x1_0000, version: 1 };
    let mut both = Both::new(Limits::default());
    both.put(&Put::new(schema_object), NOW).unwrap();
    let plan = both.graph.check_declare(schema, &[Need::any(Node::Object(schema_object))]).unwrap();
    both.graph.apply_declare(plan);
    let message = CacheInvalidate {
        invalidate_scope: CacheInvalidateScope::ObjectKind,
        cache_namespace: 2,
        cache_key_hi: 0x8001,
        ..Default::default()
    };
    let gone =
        both.cache.apply_invalidate(&mut both.graph, both.cache.check_invalidate(1, &message).unwrap());
    assert_eq!(gone.reached, [schema]);
}

#[test]
fn digests_tell_contents_apart() {
    let contents: [&[u8]; 9] = [
        b"",
        b"\0",
        b"\0\0",
        b"a",
        b"abcdefgh",
        b"abcdefgh\0",
        b"abcdefgi",
        b"hgfedcba",
        b"abcdefghabcdefgh",
    ];
    let mut digests = contents.map(digest).to_vec();
    digests.sort();
    digests.dedup();
    assert_eq!(digests.len(), contents.len());
    assert_eq!(digest(b"abc"), digest(b"abc"));
}

#[test]
fn a_session_sees_its_own_objects_first_and_then_the_connections() {
    let mut both = Both::new(Limits::default());
    let shared = Key { space: 0, ..key(1) };
    both.put(&Put { version: 40, ..Put::new(shared) }, NOW).unwrap();
    assert_eq!(both.cache.check_lookup(&Want::new(key(1)), NOW).unwrap().version, 40);
    both.put(&Put { version: 41, ..Put::new(key(1)) }, NOW).unwrap();
    assert_eq!(both.cache.check_lookup(&Want::new(key(1)), NOW).unwrap().version, 41);
    assert_eq!(both.cache.check_lookup(&Want::new(shared), NOW).unwrap().version, 40);
    assert_eq!(both.cache.seen(key(2)), key(2));
}

#[test]
fn k1_a_session_takes_its_objects_along() {
    let mut both = Both::new(Limits::default());
    both.add(1, &[]);
    both.put(&Put::new(Key { space: 2, ..key(1) }), NOW).unwrap();
    both.put(&Put::new(Key { space: 0, ..key(1) }), NOW).unwrap();
    let gone = both.cache.end_session(&mut both.graph, 1);
    both.audit();
    assert_eq!((gone.objects, both.cache.len()), ([key(1)].into(), 2));
    // Another session with that id starts anew.
    assert_eq!(both.put(&Put::new(key(1)), NOW).unwrap().version, 1);
}
