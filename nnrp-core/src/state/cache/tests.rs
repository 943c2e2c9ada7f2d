use super::*;
use crate::state::Refusal;
use crate::{CacheObjectKind, CachePutFlags, ErrorCode, ProfileId};

mod graph;
mod lease;
mod lookup;
mod model;
mod sent;
mod store;

const NOW: Time = Time(1_000);

fn key(lo: u64) -> Key {
    Key { space: 1, namespace: 2, hi: 0, lo, kind: CacheObjectKind::PROMPT_SEGMENT }
}

fn owner() -> Owner {
    Owner::Session(1)
}

struct Both {
    cache: Cache<u64>,
    graph: Graph,
}

impl Both {
    fn new(limits: Limits) -> Self {
        Self { cache: Cache::new(limits), graph: Graph::default() }
    }

    fn put(&mut self, put: &Put, now: Time) -> Result<Stored, Refusal> {
        let plan = self.cache.check_put(&self.graph, put, now)?;
        let stored = self.cache.apply_put(&mut self.graph, plan, put.digest, now);
        self.audit();
        Ok(stored)
    }

    /// An object of one byte under that key.
    fn add(&mut self, lo: u64, needs: &[u64]) -> Stored {
        let needs = needs.iter().map(|lo| Need::any(Node::Object(key(*lo)))).collect();
        self.put(&Put { size: 1, digest: lo, needs, ..Put::new(key(lo)) }, NOW).unwrap()
    }

    fn find(&self, lo: u64, now: Time) -> CacheErrorCode {
        match self.cache.check_lookup(&Want::new(key(lo)), now) {
            Ok(_) => CacheErrorCode::None,
            Err(code) => code,
        }
    }

    fn tick(&mut self, now: Time) -> Gone {
        let gone = self.cache.handle_timeout(&mut self.graph, now);
        self.audit();
        gone
    }

    /// Every index says the same.
    fn audit(&self) {
        let cache = &self.cache;
        let bytes: usize = cache.objects.values().map(|entry| entry.object.size).sum();
        assert_eq!(cache.bytes, bytes);
        assert!(cache.objects.len() <= cache.limits.entries && bytes <= cache.limits.bytes);
        assert!(cache.leases.len() <= cache.limits.leases && cache.graves.len() <= cache.limits.graves);
        assert!(cache.buried.len() <= cache.limits.graves * 2 + 1);
        assert_eq!(cache.by_kind.len(), cache.objects.len());
        assert_eq!((cache.by_owner.len(), cache.by_object.len()), (cache.leases.len(), cache.leases.len()));
        let mut timers = 0;
        for (key, entry) in &cache.objects {
            assert!(cache.by_kind.contains(&key.by_kind()) && !cache.graves.contains_key(key));
            let leases = cache.leases.values().filter(|lease| lease.key == *key).count();
            assert_eq!(entry.leases as usize, leases);
            let goes = leases == 0 && !entry.object.flags.contains(CachePutFlags::PINNED);
            assert_eq!(cache.order.contains(&(entry.rank.class, entry.rank.stamp, *key)), goes);
            timers += usize::from(entry.object.until.is_some());
            for need in self.graph.needs(Node::Object(*key)) {
                if let Node::Object(on) = need.on {
                    assert!(cache.objects.contains_key(&on), "a dependency is gone and nobody noticed");
                }
            }
        }
        timers += cache.leases.values().filter(|lease| lease.until.is_some()).count();
        assert_eq!(cache.timers.len(), timers);
        assert!(cache.leases.values().all(|lease| cache.objects.contains_key(&lease.key)));
    }
}
