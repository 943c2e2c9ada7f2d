//! How objects go: invalidated, expired, evicted, with what they depend on (K2, K4).

use alloc::vec::Vec;
use core::ops::Bound;

use super::{
    Cache, Expiry, Graph, Key, Node,
    entry::{Grave, Timer, Why},
    lookup::lowest,
};
use crate::state::{Refusal, Time};
use crate::{CacheInvalidate, CacheInvalidateScope, CacheObjectKind, ReasonCode};

/// What went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gone {
    /// Objects that were named, or whose time was over.
    pub objects: Vec<Key>,
    /// Objects that made room.
    pub evicted: Vec<Key>,
    /// All that depended on these, each once: the cache's own objects are gone too, schemas, results and runtime
    /// objects are for their modules.
    pub reached: Vec<Node>,
}

impl Gone {
    /// Whether nothing went.
    pub const fn is_empty(&self) -> bool {
        self.objects.is_empty() && self.evicted.is_empty() && self.reached.is_empty()
    }
}

/// An invalidation that may be done.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct InvalidatePlan {
    session_id: u32,
    scope: CacheInvalidateScope,
    namespace: u32,
    hi: u64,
    lo: u64,
}

impl<T> Cache<T> {
    /// Checks a CACHE_INVALIDATE of that session (0: of the connection).
    ///
    /// # Errors
    ///
    /// `malformed_body` where it breaks D10 or its reason is no `reason_code` (K8).
    pub fn check_invalidate(
        &self,
        session_id: u32,
        message: &CacheInvalidate,
    ) -> Result<InvalidatePlan, Refusal> {
        if message.validate().is_err() {
            return Err(Refusal::malformed("D10", "the invalidation breaks its own rules"));
        }
        let reason = u16::try_from(message.reason_code).ok().and_then(ReasonCode::from_raw);
        if reason.is_none() {
            return Err(
                Refusal::malformed("K8", "the reason is no reason code").about(message.reason_code.into())
            );
        }
        Ok(InvalidatePlan {
            session_id,
            scope: message.invalidate_scope,
            namespace: message.cache_namespace,
            hi: message.cache_key_hi,
            lo: message.cache_key_lo,
        })
    }

    /// Invalidates, and with what is named all that depends on it. Costs what it removes.
    pub fn apply_invalidate(&mut self, graph: &mut Graph, plan: InvalidatePlan) -> Gone {
        let mut gone = Gone::default();
        for key in self.named(&plan) {
            // Another one that was named may have taken it along.
            if self.objects.contains_key(&key) {
                self.counters.invalidated = self.counters.invalidated.saturating_add(1);
                self.remove(graph, key, Why::Removed, &mut gone);
            }
            gone.objects.push(key);
        }
        gone
    }

    fn named(&self, plan: &InvalidatePlan) -> Vec<Key> {
        let InvalidatePlan { session_id: space, scope, namespace, hi, lo } = *plan;
        let from = |namespace, hi, lo| Key { space, namespace, hi, lo, kind: lowest() };
        let take = |from: Key, under: &dyn Fn(&Key) -> bool| {
            self.objects.range(from..).map(|(key, _)| *key).take_while(|key| under(key)).collect()
        };
        match scope {
            CacheInvalidateScope::WholeSession => take(from(0, 0, 0), &|key| key.space == space),
            CacheInvalidateScope::Namespace => {
                take(from(namespace, 0, 0), &|key| (key.space, key.namespace) == (space, namespace))
            }
            CacheInvalidateScope::ObjectKey => take(from(namespace, hi, lo), &|key| {
                (key.space, key.namespace, key.hi, key.lo) == (space, namespace, hi, lo)
            }),
            CacheInvalidateScope::ObjectKind => {
                let Some(kind) = u16::try_from(hi).ok().and_then(CacheObjectKind::from_raw) else {
                    return Vec::new();
                };
                let raw = kind.raw();
                let from = Bound::Included((space, namespace, raw, 0, 0));
                let to = Bound::Included((space, namespace, raw, u64::MAX, u64::MAX));
                let keys = self.by_kind.range((from, to));
                keys.map(|(_, _, _, hi, lo)| Key { space, namespace, hi: *hi, lo: *lo, kind }).collect()
            }
        }
    }

    /// Something that cache objects may depend on failed: a schema, a result, a runtime object. `reached` is what
    /// the graph gave for it.
    pub fn apply_reached(&mut self, reached: Vec<Node>) -> Gone {
        let mut gone = Gone::default();
        self.bury_reached(reached, &mut gone);
        gone
    }

    /// Ends what is over by now: objects and leases. Call it before a lookup with the same time.
    pub fn handle_timeout(&mut self, graph: &mut Graph, now: Time) -> Gone {
        let mut gone = Gone::default();
        while let Some((due, timer)) = self.timers.first().copied()
            && due <= now
        {
            self.timers.pop_first();
            match timer {
                Timer::Lease(lease_id) => {
                    self.end_lease(graph, lease_id, &mut gone);
                    self.counters.leases_expired = self.counters.leases_expired.saturating_add(1);
                }
                Timer::Object(key) => {
                    if let Some(entry) = self.objects.get_mut(&key) {
                        entry.object.until = None;
                        if entry.leases == 0 {
                            self.remove(graph, key, Why::Expired, &mut gone);
                            gone.objects.push(key);
                        }
                    }
                }
            }
        }
        gone
    }

    /// Ends a lease, and its object with the last one.
    pub(super) fn end_lease(&mut self, graph: &mut Graph, lease_id: u64, gone: &mut Gone) {
        let Some(lease) = self.unlink_lease(lease_id) else { return };
        let Some(entry) = self.objects.get_mut(&lease.key) else { return };
        entry.leases = entry.leases.saturating_sub(1);
        let class = entry.rank.class;
        if entry.leases != 0 {
            return;
        }
        // A time of its own that is not over keeps it as well.
        let why = match lease.expiry {
            _ if entry.object.until.is_some() => None,
            Expiry::Keep => None,
            Expiry::Remove => Some(Why::Removed),
            Expiry::Refuse => Some(Why::Expired),
        };
        match why {
            Some(why) => {
                self.remove(graph, lease.key, why, gone);
                gone.objects.push(lease.key);
            }
            None => self.rank(lease.key, class, false),
        }
    }

    fn unlink_lease(&mut self, lease_id: u64) -> Option<super::Lease> {
        let lease = self.leases.remove(&lease_id)?;
        self.by_owner.remove(&(lease.owner, lease_id));
        self.by_object.remove(&(lease.key, lease_id));
        if let Some(until) = lease.until {
            self.timers.remove(&(until, Timer::Lease(lease_id)));
        }
        Some(lease)
    }

    /// Removes an object and whatever depends on it.
    pub(super) fn remove(&mut self, graph: &mut Graph, key: Key, why: Why, gone: &mut Gone) {
        self.bury(key, why);
        let reached = graph.remove(Node::Object(key));
        self.bury_reached(reached, gone);
    }

    pub(super) fn bury_reached(&mut self, reached: Vec<Node>, gone: &mut Gone) {
        for node in &reached {
            if let Node::Object(key) = node
                && self.objects.contains_key(key)
            {
                self.bury(*key, Why::Broken);
                self.counters.invalidated = self.counters.invalidated.saturating_add(1);
            }
        }
        gone.reached.extend(reached);
    }

    /// Everything of a session's own.
    pub(super) fn clear_space(&mut self, graph: &mut Graph, space: u32, gone: &mut Gone) {
        let from = Key { space, namespace: 0, hi: 0, lo: 0, kind: lowest() };
        let keys: Vec<Key> =
            self.objects.range(from..).map(|(key, _)| *key).take_while(|key| key.space == space).collect();
        for key in keys {
            if self.objects.contains_key(&key) {
                self.remove(graph, key, Why::Removed, gone);
            }
            gone.objects.push(key);
        }
        // The next session with that id has nothing to do with this one's versions.
        let graves: Vec<Key> =
            self.graves.range(from..).map(|(key, _)| *key).take_while(|key| key.space == space).collect();
        for key in graves {
            self.graves.remove(&key);
        }
    }

    fn bury(&mut self, key: Key, why: Why) {
        let Some(entry) = self.objects.remove(&key) else { return };
        self.by_kind.remove(&key.by_kind());
        self.bytes = self.bytes.saturating_sub(entry.object.size);
        self.order.remove(&(entry.rank.class, entry.rank.stamp, key));
        if let Some(until) = entry.object.until {
            self.timers.remove(&(until, Timer::Object(key)));
        }
        if entry.leases != 0 {
            self.end_leases_of(key);
        }
        self.clock = self.clock.saturating_add(1);
        let grave = Grave { version: entry.object.version, digest: entry.object.digest, why, at: self.clock };
        self.graves.insert(key, grave);
        self.buried.push_back((key, grave.at));
        if self.buried.len() > self.limits.graves.saturating_mul(2) {
            let graves = &self.graves;
            self.buried.retain(|(key, at)| graves.get(key).is_some_and(|grave| grave.at == *at));
        }
        while self.graves.len() > self.limits.graves
            && let Some((oldest, at)) = self.buried.pop_front()
        {
            if self.graves.get(&oldest).is_some_and(|grave| grave.at == at) {
                self.graves.remove(&oldest);
            }
        }
    }

    fn end_leases_of(&mut self, key: Key) {
        while let Some((of, lease_id)) = self.by_object.range((key, 0)..).next().copied()
            && of == key
        {
            self.unlink_lease(lease_id);
            self.counters.leases_ended = self.counters.leases_ended.saturating_add(1);
        }
    }
}
