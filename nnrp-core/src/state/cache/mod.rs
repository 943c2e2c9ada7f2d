//! The cache: objects with versions, leases with owners, dependencies, eviction (K1 to K8, X4).

mod entry;
mod forget;
mod graph;
mod lease;
mod lookup;
mod put;
mod sent;

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};

pub use entry::{Eviction, Hint, Key, Limits, Object, digest};
pub use forget::{Gone, InvalidatePlan};
pub use graph::{DeclarePlan, Graph, GraphLimits, Need, Node};
pub use lease::{Expiry, Lease, Owner, RenewPlan};
pub use lookup::{Want, miss_reason};
pub use put::{Ask, Put, PutPlan, Stored, refused};
pub use sent::{Answered, Sent, SentAckPlan, SentPlan};

use super::Time;
use crate::CacheErrorCode;
use entry::{Entry, Grave, Timer};

/// What happened in a cache so far (T2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Objects stored.
    pub stored: u64,
    /// Lookups that found what was wanted.
    pub hits: u64,
    /// Lookups that did not.
    pub misses: u64,
    /// Objects that made room for others.
    pub evicted: u64,
    /// Objects that were invalidated, directly or by what they depend on.
    pub invalidated: u64,
    /// Leases granted.
    pub leases_granted: u64,
    /// Leases renewed.
    pub leases_renewed: u64,
    /// Leases whose time ran out.
    pub leases_expired: u64,
    /// Leases that ended with their owner or object.
    pub leases_ended: u64,
}

/// The objects that one side keeps for a connection and its sessions.
///
/// `T` is the content. What depends on what stands in a [`Graph`] beside it, because schemas, results and runtime
/// objects depend on cache objects too.
///
/// ```
/// use nnrp_core::CacheObjectKind;
/// use nnrp_core::state::{Time, cache::{Cache, Graph, Key, Limits, Put, Want, digest}};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (mut cache, mut graph) = (Cache::new(Limits::default()), Graph::default());
/// let key = Key { space: 1, namespace: 2, hi: 3, lo: 4, kind: CacheObjectKind::PROMPT_SEGMENT };
/// let content = b"You are a helpful assistant.".to_vec();
/// let put = Put { size: content.len(), digest: digest(&content), ..Put::new(key) };
/// let plan = cache.check_put(&graph, &put, Time(0))?;
/// let stored = cache.apply_put(&mut graph, plan, content, Time(0));
/// assert_eq!(stored.version, 1);
///
/// let found = cache.check_lookup(&Want::new(key), Time(5));
/// assert_eq!(found.map(|object| object.version), Ok(1));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Cache<T> {
    limits: Limits,
    objects: BTreeMap<Key, Entry<T>>,
    /// The same by kind, so that invalidating a kind costs what it removes.
    by_kind: BTreeSet<(u32, u32, u16, u64, u64)>,
    bytes: usize,
    /// What is left of objects that went, oldest first: enough to answer for them and to guard their versions.
    graves: BTreeMap<Key, Grave>,
    buried: VecDeque<(Key, u64)>,
    leases: BTreeMap<u64, Lease>,
    by_owner: BTreeSet<(Owner, u64)>,
    by_object: BTreeSet<(Key, u64)>,
    last_lease: u64,
    /// What may be evicted, first the one that goes first.
    order: BTreeSet<(u8, u64, Key)>,
    clock: u64,
    timers: BTreeSet<(Time, Timer)>,
    counters: Counters,
}

impl<T> Cache<T> {
    /// An empty cache.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            objects: BTreeMap::new(),
            by_kind: BTreeSet::new(),
            bytes: 0,
            graves: BTreeMap::new(),
            buried: VecDeque::new(),
            leases: BTreeMap::new(),
            by_owner: BTreeSet::new(),
            by_object: BTreeSet::new(),
            last_lease: 0,
            order: BTreeSet::new(),
            clock: 0,
            timers: BTreeSet::new(),
            counters: Counters::default(),
        }
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// Bytes of content.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// What it may take.
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Takes over limits that were negotiated (C6). What is stored already stays.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// What happened so far.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// An object, whether or not a lookup would give it.
    pub fn get(&self, key: &Key) -> Option<&Object<T>> {
        self.objects.get(key).map(|entry| &entry.object)
    }

    /// A lease that runs.
    pub fn lease(&self, lease_id: u64) -> Option<&Lease> {
        self.leases.get(&lease_id)
    }

    /// Leases that run.
    pub fn leases(&self) -> usize {
        self.leases.len()
    }

    /// When [`Self::handle_timeout`] has something to do.
    pub fn next_timeout(&self) -> Option<Time> {
        self.timers.first().map(|(due, _)| *due)
    }

    /// Counts a lookup that failed.
    pub fn note_miss(&mut self, code: CacheErrorCode) {
        if code != CacheErrorCode::None {
            self.counters.misses = self.counters.misses.saturating_add(1);
        }
    }
}

#[cfg(test)]
mod tests;
