//! Against the simplest cache there is, and under attack.

use super::*;
use crate::state::random::{Random, steps};
use crate::{CacheInvalidate, CacheInvalidateScope};
use std::collections::BTreeMap;

#[derive(Clone)]
struct Slot {
    version: u64,
    digest: u64,
    until: Option<Time>,
    needs: std::vec::Vec<u64>,
    state: CacheErrorCode,
}

/// Objects under 16 keys without leases: what a lookup says is stored as it happens.
#[derive(Default)]
struct Model {
    slots: BTreeMap<u64, Slot>,
}

impl Model {
    fn drop(&mut self, lo: u64, code: CacheErrorCode) {
        if let Some(slot) = self.slots.get_mut(&lo).filter(|slot| slot.state == CacheErrorCode::None) {
            slot.state = code;
            slot.needs.clear();
            let hit: std::vec::Vec<u64> =
                self.slots.iter().filter(|(_, slot)| slot.needs.contains(&lo)).map(|(lo, _)| *lo).collect();
            for other in hit {
                self.drop(other, CacheErrorCode::DependencyInvalid);
            }
        }
    }

    fn live(&self, lo: u64) -> bool {
        self.slots.get(&lo).is_some_and(|slot| slot.state == CacheErrorCode::None)
    }
}

#[test]
fn model_lookups_say_what_happened() {
    let mut random = Random::new(9);
    let mut both = Both::new(Limits::default());
    let mut model = Model::default();
    let mut now = NOW;
    let mut outcomes = BTreeMap::new();
    for _ in 0..steps(30_000) {
        let lo = random.below(16);
        match random.below(8) {
            0..4 => {
                let needs: std::vec::Vec<u64> =
                    (0..random.below(3)).map(|_| random.below(16)).filter(|need| *need != lo).collect();
                let put = Put {
                    version: random.below(2) * random.below(40),
                    digest: random.below(3),
                    ttl_ms: random.of(&[0, 5, 50]),
                    needs: needs.iter().map(|lo| Need::any(Node::Object(key(*lo)))).collect(),
                    ..Put::new(key(lo))
                };
                let last = model.slots.get(&lo).map_or((0, 0), |slot| (slot.version, slot.digest));
                let version = if put.version == 0 { last.0 + 1 } else { put.version };
                let fits = version > last.0 || (version, put.digest) == last;
                let good = fits && needs.iter().all(|need| model.live(*need));
                assert_eq!(both.put(&put, now).is_ok(), good);
                if good {
                    let until = (put.ttl_ms != 0).then(|| now.after(put.ttl_ms.into()));
                    let slot =
                        Slot { version, digest: put.digest, until, needs, state: CacheErrorCode::None };
                    model.slots.insert(lo, slot);
                }
            }
            4 => {
                let message = CacheInvalidate {
                    invalidate_scope: CacheInvalidateScope::ObjectKey,
                    cache_namespace: 2,
                    cache_key_lo: lo,
                    ..Default::default()
                };
                let plan = both.cache.check_invalidate(1, &message).unwrap();
                both.cache.apply_invalidate(&mut both.graph, plan);
                both.audit();
                model.drop(lo, CacheErrorCode::CacheMiss);
            }
            5 => {
                let then = now.after(random.of(&[0, 1, 10, 60]));
                // One moment after the other, so that the order in which things end is the same.
                while now < then {
                    now = now.after(1);
                    let mut over: std::vec::Vec<u64> = model
                        .slots
                        .iter()
                        .filter(|(_, slot)| slot.until.is_some_and(|until| until <= now))
                        .map(|(lo, _)| *lo)
                        .collect();
                    over.sort();
                    for lo in over {
                        model.drop(lo, CacheErrorCode::LeaseExpired);
                    }
                    both.tick(now);
                }
            }
            _ => {}
        }
        for lo in 0..16 {
            let want = model.slots.get(&lo).map_or(CacheErrorCode::CacheMiss, |slot| slot.state);
            assert_eq!(both.find(lo, now), want);
            *outcomes.entry(want).or_insert(0) += 1;
        }
    }
    assert_eq!(outcomes.len(), 4, "the walk met every outcome: {outcomes:?}");
}

/// Everything at random, with small limits: nothing grows, nothing panics, every index stays right.
#[test]
fn model_nothing_grows_past_its_limit() {
    let mut random = Random::new(10);
    for eviction in [Eviction::None, Eviction::Oldest, Eviction::LeastUsed, Eviction::SoonestOver] {
        let limits =
            Limits { entries: 12, bytes: 100, object_bytes: 40, leases: 9, graves: 6, ttl_ms: 30, eviction };
        let mut both = Both::new(limits);
        both.graph = Graph::new(GraphLimits { per_node: 3, edges: 20 });
        let mut now = NOW;
        for _ in 0..steps(10_000) {
            let at = |random: &mut Random| Key {
                space: random.below(3) as u32,
                namespace: random.below(2) as u32,
                hi: 0,
                lo: random.below(6),
                kind: random.of(&[CacheObjectKind::CAMERA_BLOCK, CacheObjectKind::TOOL_SCHEMA]),
            };
            let whose = random.of(&[
                Owner::Connection,
                Owner::Session(1),
                Owner::Session(2),
                Owner::Operation { session: 1, operation: 4 },
            ]);
            let target = at(&mut random);
            match random.below(10) {
                0..5 => {
                    let lease = Ask {
                        lease_id: random.below(2) * random.below(both.cache.last_lease + 2),
                        owner: whose,
                        ttl_ms: random.of(&[0, 20, 80]),
                        expiry: random.of(&[Expiry::Refuse, Expiry::Remove, Expiry::Keep]),
                    };
                    let put = Put {
                        version: random.below(2) * random.below(9),
                        size: random.below(50) as usize,
                        digest: random.below(3),
                        ttl_ms: random.of(&[0, 10]),
                        flags: CachePutFlags::from_bits_truncate(random.below(8) as u32 / 7),
                        needs: (0..random.below(5))
                            .map(|_| Need::any(Node::Object(at(&mut random))))
                            .collect(),
                        lease: random.chance(2).then_some(lease),
                        ..Put::new(target)
                    };
                    let before =
                        (both.cache.len(), both.cache.bytes(), both.cache.leases(), both.graph.edges());
                    if both.put(&put, now).is_err() {
                        let after =
                            (both.cache.len(), both.cache.bytes(), both.cache.leases(), both.graph.edges());
                        assert_eq!(before, after, "a refused put touches nothing");
                    }
                }
                5 => {
                    let id = random.below(both.cache.last_lease + 1);
                    if let Ok(plan) = both.cache.check_renew(target, id, whose, 40, now) {
                        assert_eq!(both.cache.apply_renew(plan, now).map(|lease| lease.id), Some(id));
                    }
                }
                6 => now = now.after(random.of(&[1, 10, 100])),
                7 => drop(both.cache.end_owner(&mut both.graph, whose)),
                8 if random.chance(3) => drop(both.cache.end_session(&mut both.graph, 1)),
                8 => {
                    let hint = random.of(&[Hint::Prefetch, Hint::Touch, Hint::Evict, Hint::Reuse(true)]);
                    both.cache.hint(&target, hint);
                }
                _ => {
                    let scope = random.of(&CacheInvalidateScope::ALL);
                    let message =
                        CacheInvalidate { invalidate_scope: scope, cache_key_hi: 1, ..Default::default() };
                    if let Ok(plan) = both.cache.check_invalidate(target.space, &message) {
                        both.cache.apply_invalidate(&mut both.graph, plan);
                    }
                }
            }
            both.tick(now);
            if let Ok(object) = both.cache.check_lookup(&Want::new(target), now) {
                assert!(object.version != 0);
                both.cache.apply_use(&[target]);
            }
            both.audit();
        }
        both.cache.end_owner(&mut both.graph, Owner::Connection);
        for session in 0..3 {
            both.cache.end_session(&mut both.graph, session);
        }
        both.audit();
        assert_eq!((both.cache.len(), both.cache.leases(), both.graph.edges()), (0, 0, 0), "nothing leaks");
    }
}
