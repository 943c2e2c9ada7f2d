use super::*;
use crate::{CacheLeaseExtension, LeaseOwnerScope};

fn leased(lo: u64, owner: Owner, ttl_ms: u32, expiry: Expiry) -> Put {
    let lease = Some(Ask { lease_id: 0, owner, ttl_ms, expiry });
    Put { digest: lo, lease, ..Put::new(key(lo)) }
}

fn lease_id(stored: &Stored) -> u64 {
    stored.lease.unwrap().id
}

#[test]
fn k2_t2_renewing_keeps_the_id_and_granting_again_makes_a_new_one() {
    let mut both = Both::new(Limits::default());
    let first = lease_id(&both.put(&leased(1, owner(), 100, Expiry::Refuse), NOW).unwrap());
    let plan = both.cache.check_renew(key(1), first, owner(), 200, NOW.after(50)).unwrap();
    let lease = both.cache.apply_renew(plan, NOW.after(50)).unwrap();
    assert_eq!((lease.id, lease.until), (first, Some(NOW.after(250))));
    let second = both.put(&leased(1, owner(), 100, Expiry::Refuse), NOW).unwrap();
    assert_ne!(lease_id(&second), first);
    // Naming a lease with new content keeps it.
    let kept = Ask { lease_id: first, owner: owner(), ttl_ms: 900, expiry: Expiry::Refuse };
    let stored = both.put(&Put { digest: 5, lease: Some(kept), ..Put::new(key(1)) }, NOW).unwrap();
    assert_eq!(lease_id(&stored), first);
    assert_eq!(both.cache.leases(), 2);
    let counters = both.cache.counters();
    assert_eq!((counters.leases_granted, counters.leases_renewed), (2, 2));
}

#[test]
fn k2_k3_only_its_owner_renews_a_lease_and_only_while_it_runs() {
    let mut both = Both::new(Limits::default());
    let id = lease_id(&both.put(&leased(1, owner(), 100, Expiry::Keep), NOW).unwrap());
    both.add(2, &[]);
    let renew = |both: &Both, lo, id, owner, now| {
        both.cache.check_renew(key(lo), id, owner, 100, now).map_err(|refusal| refusal.code.raw())
    };
    let expired = CacheErrorCode::LeaseExpired.raw();
    assert_eq!(renew(&both, 1, id, Owner::Session(2), NOW).unwrap_err(), expired);
    assert_eq!(renew(&both, 1, id, Owner::Connection, NOW).unwrap_err(), expired);
    assert_eq!(renew(&both, 1, id + 1, owner(), NOW).unwrap_err(), expired);
    assert_eq!(renew(&both, 1, 0, owner(), NOW).unwrap_err(), expired);
    assert_eq!(renew(&both, 2, id, owner(), NOW).unwrap_err(), expired);
    assert_eq!(renew(&both, 3, id, owner(), NOW).unwrap_err(), CacheErrorCode::CacheMiss.raw());
    let _ = renew(&both, 1, id, owner(), NOW.after(99)).unwrap();
    assert_eq!(renew(&both, 1, id, owner(), NOW.after(100)).unwrap_err(), expired);
    both.tick(NOW.after(100));
    assert_eq!(renew(&both, 1, id, owner(), NOW.after(100)).unwrap_err(), expired);
}

#[test]
fn k2_t2_each_expiry_policy_says_what_becomes_of_the_object() {
    use CacheErrorCode::{CacheMiss, LeaseExpired, None};
    for (expiry, code) in [(Expiry::Refuse, LeaseExpired), (Expiry::Remove, CacheMiss), (Expiry::Keep, None)]
    {
        let mut both = Both::new(Limits::default());
        let id = lease_id(&both.put(&leased(1, owner(), 100, expiry), NOW).unwrap());
        both.tick(NOW.after(99));
        assert_eq!(both.find(1, NOW.after(99)), None);
        both.tick(NOW.after(100));
        assert_eq!(both.find(1, NOW.after(100)), code, "{expiry:?}");
        assert_eq!(both.cache.bytes(), 0);
        let under = Want { lease_id: id, ..Want::new(key(1)) };
        let want = if code == None { LeaseExpired } else { code };
        assert_eq!(both.cache.check_lookup(&under, NOW.after(100)), Err(want));
        assert_eq!(both.cache.counters().leases_expired, 1);
    }
}

#[test]
fn k2_a_lease_ends_with_its_owner() {
    let operation = |session, operation| Owner::Operation { session, operation };
    let owners = [
        Owner::Connection,
        Owner::Session(1),
        Owner::Session(2),
        operation(1, 7),
        operation(1, u64::MAX),
        operation(2, 7),
    ];
    let fill = || {
        let mut both = Both::new(Limits::default());
        for (lo, owner) in owners.iter().enumerate() {
            let put = leased(lo as u64, *owner, 0, Expiry::Refuse);
            both.put(&Put { key: Key { space: 0, ..put.key }, ..put }, NOW).unwrap();
        }
        both
    };
    let left = |both: &Both| -> std::vec::Vec<u64> { both.cache.objects.keys().map(|key| key.lo).collect() };
    for (at, owner) in owners.iter().enumerate() {
        let mut both = fill();
        let gone = both.cache.end_owner(&mut both.graph, *owner);
        both.audit();
        assert_eq!(gone.objects.len(), 1);
        assert!(!left(&both).contains(&(at as u64)));
        assert_eq!(both.cache.leases(), 5);
    }
    // A session takes its operations along.
    let mut both = fill();
    both.cache.end_session(&mut both.graph, 1);
    both.audit();
    assert_eq!(left(&both), [0, 2, 5]);
    assert_eq!(both.cache.counters().leases_ended, 3);
}

#[test]
fn k2_an_object_stays_for_as_long_as_any_lease_runs() {
    let mut both = Both::new(Limits::default());
    both.put(&leased(1, owner(), 100, Expiry::Refuse), NOW).unwrap();
    both.put(&leased(1, Owner::Session(2), 200, Expiry::Refuse), NOW).unwrap();
    both.tick(NOW.after(150));
    assert_eq!(both.find(1, NOW.after(150)), CacheErrorCode::None);
    both.tick(NOW.after(200));
    assert_eq!(both.find(1, NOW.after(200)), CacheErrorCode::LeaseExpired);
}

#[test]
fn k2_a_lease_outlives_a_time_without_one() {
    let mut both = Both::new(Limits::default());
    both.put(&leased(1, owner(), 500, Expiry::Refuse), NOW).unwrap();
    // Put again without a lease, for a shorter time.
    both.put(&Put { ttl_ms: 100, digest: 3, ..Put::new(key(1)) }, NOW).unwrap();
    both.tick(NOW.after(100));
    assert_eq!(both.find(1, NOW.after(100)), CacheErrorCode::None);
    both.tick(NOW.after(500));
    assert_eq!(both.find(1, NOW.after(500)), CacheErrorCode::LeaseExpired);
}

#[test]
fn k2_an_object_stays_for_its_own_time_after_its_lease() {
    for expiry in [Expiry::Refuse, Expiry::Remove] {
        let mut both = Both::new(Limits::default());
        both.put(&leased(1, owner(), 100, expiry), NOW).unwrap();
        // Put again without a lease, for a longer time.
        both.put(&Put { ttl_ms: 500, digest: 3, ..Put::new(key(1)) }, NOW).unwrap();
        both.tick(NOW.after(100));
        assert_eq!(both.cache.leases(), 0);
        assert_eq!(both.find(1, NOW.after(499)), CacheErrorCode::None);
        both.tick(NOW.after(500));
        assert_eq!(both.find(1, NOW.after(500)), CacheErrorCode::LeaseExpired);
    }
}

#[test]
fn k2_a_lease_ends_with_its_object() {
    let mut both = Both::new(Limits::default());
    both.put(&leased(1, owner(), 100, Expiry::Refuse), NOW).unwrap();
    both.put(&leased(2, owner(), 100, Expiry::Refuse), NOW).unwrap();
    let one = crate::CacheInvalidate {
        invalidate_scope: crate::CacheInvalidateScope::ObjectKey,
        cache_namespace: 2,
        cache_key_lo: 1,
        ..Default::default()
    };
    let plan = both.cache.check_invalidate(1, &one).unwrap();
    both.cache.apply_invalidate(&mut both.graph, plan);
    both.audit();
    assert_eq!((both.cache.leases(), both.cache.counters().leases_ended), (1, 1));
}

#[test]
fn x4_names_an_owner_that_fits_its_message() {
    let of = |owner_scope, owner_id, session| {
        Owner::of(&CacheLeaseExtension { owner_scope, owner_id, ..Default::default() }, session)
    };
    use LeaseOwnerScope::{Connection, Operation, Session};
    assert_eq!(of(Connection, 0, 3), Ok(Owner::Connection));
    assert_eq!(of(Session, 3, 3), Ok(Owner::Session(3)));
    assert_eq!(of(Session, 4, 0), Ok(Owner::Session(4)));
    assert_eq!(of(Operation, 9, 3), Ok(Owner::Operation { session: 3, operation: 9 }));
    for (scope, id, session) in [(Session, 4, 3), (Session, 1 << 32, 0), (Session, 0, 0), (Operation, 9, 0)] {
        let refusal = of(scope, id, session).unwrap_err();
        assert_eq!((refusal.code, refusal.rule), (ErrorCode::MALFORMED_BODY, "X4"));
    }
    for owner in [Owner::Connection, Owner::Session(3), Owner::Operation { session: 3, operation: 9 }] {
        let (scope, id) = owner.wire();
        assert_eq!(of(scope, id, 3), Ok(owner));
    }
}

#[test]
fn x4_its_time_wins_over_that_of_the_put() {
    let mut both = Both::new(Limits { ttl_ms: 5, ..Default::default() });
    let put = Put { ttl_ms: 10, ..leased(1, owner(), 100, Expiry::Refuse) };
    let stored = both.put(&put, NOW).unwrap();
    assert_eq!(stored.ack(both.cache.limits()).accepted_ttl_ms, 100);
    let x4 = stored.extension().unwrap();
    assert_eq!((x4.ttl_ms, x4.object_version, x4.owner_id, x4.lease_id), (100, 1, 1, lease_id(&stored)));
    both.tick(NOW.after(99));
    assert_eq!(both.find(1, NOW.after(99)), CacheErrorCode::None);
    // Without a lease the put's own time holds, and without one the limits'.
    both.put(&Put { ttl_ms: 10, ..Put::new(key(2)) }, NOW).unwrap();
    let stored = both.put(&Put::new(key(3)), NOW).unwrap();
    assert_eq!(stored.ack(both.cache.limits()).accepted_ttl_ms, 5);
    both.tick(NOW.after(5));
    assert_eq!((both.find(2, NOW), both.find(3, NOW)), (CacheErrorCode::None, CacheErrorCode::LeaseExpired));
}

#[test]
fn k6_a_flood_of_leases_is_bounded() {
    let mut both = Both::new(Limits { leases: 50, ..Default::default() });
    for at in 0..50 {
        both.put(&leased(at % 3, owner(), 0, Expiry::Refuse), NOW).unwrap();
    }
    let refusal = both.put(&leased(1, owner(), 0, Expiry::Refuse), NOW).unwrap_err();
    assert_eq!((refusal.code, refusal.rule), (ErrorCode::LIMIT_EXCEEDED, "K6"));
    both.put(&Put::new(key(9)), NOW).unwrap();
    both.cache.end_owner(&mut both.graph, owner());
    both.audit();
    assert_eq!(both.cache.leases(), 0);
}
