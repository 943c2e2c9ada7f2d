//! Storing objects (K1, K6, X4).

use alloc::vec::Vec;

use super::{
    Cache, DeclarePlan, Expiry, Graph, Key, Lease, Need, Node, Object, Owner,
    entry::{Entry, Eviction, Rank, Timer, Why},
    forget::Gone,
    lease::RenewPlan,
};
use crate::state::{Refusal, Time};
use crate::{
    CacheAck, CacheAckStatus, CacheErrorCode, CacheLeaseExtension, CachePut, CachePutFlags, ProfileId,
};

/// A lease that is asked for with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    /// A lease to keep; 0 asks for a new one.
    pub lease_id: u64,
    /// Who is to own it.
    pub owner: Owner,
    /// How long it is to run; 0 for as long as its owner.
    pub ttl_ms: u32,
    /// What becomes of the object when it ends.
    pub expiry: Expiry,
}

/// An object to store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Put {
    /// Its identity.
    pub key: Key,
    /// Its version; 0 for one more than the last.
    pub version: u64,
    /// Its bytes, as the limits count them.
    pub size: usize,
    /// Digest of its content.
    pub digest: u64,
    /// How long to keep it; 0 leaves it to the limits. A lease wins.
    pub ttl_ms: u32,
    /// How it may be kept and used.
    pub flags: CachePutFlags,
    /// Bit n: it uses codec n.
    pub codec_bitmap: u32,
    /// The profile that explains it; unspecified for any.
    pub profile: ProfileId,
    /// The schema and version that explain it; 0 for any.
    pub schema: (u32, u32),
    /// What it depends on.
    pub needs: Vec<Need>,
    /// The lease that is asked for.
    pub lease: Option<Ask>,
}

impl Put {
    /// An object of no size that depends on nothing.
    pub const fn new(key: Key) -> Self {
        Self {
            key,
            version: 0,
            size: 0,
            digest: 0,
            ttl_ms: 0,
            flags: CachePutFlags::empty(),
            codec_bitmap: 0,
            profile: ProfileId::UNSPECIFIED,
            schema: (0, 0),
            needs: Vec::new(),
            lease: None,
        }
    }

    /// What a CACHE_PUT stores; `session_id` is the header's and `lease` its X4. Renewals are no puts: see
    /// [`Cache::check_renew`].
    ///
    /// # Errors
    ///
    /// As [`Owner::of`].
    pub fn read(
        put: &CachePut,
        lease: Option<&CacheLeaseExtension>,
        session_id: u32,
        content: &[u8],
    ) -> Result<Self, Refusal> {
        let key = Key {
            space: session_id,
            namespace: put.cache_namespace,
            hi: put.cache_key_hi,
            lo: put.cache_key_lo,
            kind: put.object_kind,
        };
        let ask = match lease {
            Some(lease) => Some(Ask {
                lease_id: lease.lease_id,
                owner: Owner::of(lease, session_id)?,
                ttl_ms: lease.ttl_ms,
                expiry: Expiry::default(),
            }),
            None => None,
        };
        Ok(Self {
            version: lease.map_or(0, |lease| lease.object_version),
            size: content.len(),
            digest: super::digest(content),
            ttl_ms: put.ttl_ms,
            flags: put.flags,
            codec_bitmap: put.codec_bitmap,
            lease: ask,
            ..Self::new(key)
        })
    }
}

/// An object that may be stored.
#[derive(Clone, Debug)]
#[must_use]
pub struct PutPlan {
    put: Put,
    version: u64,
    status: CacheAckStatus,
    same: bool,
    victims: Vec<Key>,
    needs: DeclarePlan,
    renew: Option<RenewPlan>,
}

impl PutPlan {
    /// The version that it gets.
    pub const fn version(&self) -> u64 {
        self.version
    }
}

/// What was stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The object.
    pub key: Key,
    /// Accepted, or replaced an older version.
    pub status: CacheAckStatus,
    /// The version that it has.
    pub version: u64,
    /// How long it is kept; 0 states no time.
    pub ttl_ms: u32,
    /// The lease that it is under.
    pub lease: Option<Lease>,
    /// What had to go for it.
    pub gone: Gone,
}

impl Stored {
    /// The answer.
    pub fn ack(&self, limits: &super::Limits) -> CacheAck {
        CacheAck {
            status: self.status,
            accepted_ttl_ms: self.lease.map_or(self.ttl_ms, |lease| lease.ttl_ms),
            ..ack(self.key, limits)
        }
    }

    /// X4 of the answer.
    pub fn extension(&self) -> Option<CacheLeaseExtension> {
        self.lease.map(|lease| lease.extension(self.version, false))
    }
}

/// The answer to a CACHE_PUT that is refused (K8).
pub fn refused(key: Key, limits: &super::Limits, refusal: &Refusal) -> CacheAck {
    CacheAck { status: CacheAckStatus::Rejected, detail_code: refusal.code.raw(), ..ack(key, limits) }
}

fn ack(key: Key, limits: &super::Limits) -> CacheAck {
    CacheAck {
        cache_namespace: key.namespace,
        cache_key_hi: key.hi,
        cache_key_lo: key.lo,
        max_object_bytes: u32::try_from(limits.object_bytes).unwrap_or(u32::MAX),
        ..Default::default()
    }
}

impl<T> Cache<T> {
    /// Checks whether an object can be stored.
    ///
    /// # Errors
    ///
    /// `version_mismatch` for a version that does not grow, or other content under the same one (K1);
    /// `limit_exceeded` over the limits, where nothing may be evicted (K6); `lease_expired` for a lease that does
    /// not run; `dependency_invalid` where something that it depends on is not there (K4).
    pub fn check_put(&self, graph: &Graph, put: &Put, now: Time) -> Result<PutPlan, Refusal> {
        let (version, same) = self.next_version(put)?;
        let renew = match put.lease {
            Some(Ask { lease_id, .. }) if lease_id == 0 && self.leases.len() >= self.limits.leases => {
                return Err(Refusal::limit("K6", "there are too many leases"));
            }
            Some(ask) if ask.lease_id != 0 => {
                Some(self.check_renew(put.key, ask.lease_id, ask.owner, ask.ttl_ms, now)?)
            }
            _ => None,
        };
        if put.needs.iter().any(|need| !self.holds(need, now)) {
            let code = CacheErrorCode::DependencyInvalid;
            return Err(Refusal::cache(code, "K4", "something that the object depends on is not there"));
        }
        let needs = graph.check_declare(Node::Object(put.key), &put.needs)?;
        let victims = self.victims(put)?;
        let status = match self.objects.get(&put.key) {
            Some(_) if !same => CacheAckStatus::Replaced,
            _ => CacheAckStatus::Accepted,
        };
        Ok(PutPlan { put: put.clone(), version, status, same, victims, needs, renew })
    }

    /// K1: versions only grow, and one never has two contents.
    fn next_version(&self, put: &Put) -> Result<(u64, bool), Refusal> {
        let last = match (self.objects.get(&put.key), self.graves.get(&put.key)) {
            (Some(entry), _) => Some((entry.object.version, entry.object.digest)),
            (None, Some(grave)) => Some((grave.version, grave.digest)),
            (None, None) => None,
        };
        let bad = |why| Err(Refusal::cache(CacheErrorCode::VersionMismatch, "K1", why).about(put.version));
        match (put.version, last) {
            (0, None) => Ok((1, false)),
            (0, Some((last, _))) => match last.checked_add(1) {
                Some(next) => Ok((next, false)),
                None => bad("the object has no version left"),
            },
            (version, Some((last, digest))) if version == last => {
                if digest != put.digest {
                    return bad("other content has that version");
                }
                Ok((version, self.objects.contains_key(&put.key)))
            }
            (version, Some((last, _))) if version < last => bad("a later version was stored"),
            (version, _) => Ok((version, false)),
        }
    }

    /// Whether a dependency on a cache object holds; the others are for their own modules.
    pub(in crate::state) fn holds(&self, need: &Need, now: Time) -> bool {
        let Node::Object(key) = need.on else { return true };
        let want = super::Want { version: need.version, ..super::Want::new(key) };
        // The exact key: a dependency stays on the object that it was declared on.
        self.objects.contains_key(&key) && self.check_lookup(&want, now).is_ok()
    }

    /// K6: who has to go so that the object fits.
    fn victims(&self, put: &Put) -> Result<Vec<Key>, Refusal> {
        let limits = &self.limits;
        let full = Refusal::limit("K6", "there is no room for the object").about(put.size as u64);
        if put.size > limits.object_bytes || put.size > limits.bytes {
            return Err(Refusal::limit("K6", "the object is too large").about(put.size as u64));
        }
        let old = self.objects.get(&put.key);
        let mut entries = self.objects.len().saturating_add(usize::from(old.is_none()));
        let mut bytes =
            self.bytes.saturating_sub(old.map_or(0, |entry| entry.object.size)).saturating_add(put.size);
        let mut victims = Vec::new();
        if entries <= limits.entries && bytes <= limits.bytes {
            return Ok(victims);
        }
        if limits.eviction == Eviction::None {
            return Err(full);
        }
        for (_, _, key) in &self.order {
            // What the object depends on has to stay for it.
            if *key == put.key || put.needs.iter().any(|need| need.on == Node::Object(*key)) {
                continue;
            }
            let Some(entry) = self.objects.get(key) else { continue };
            victims.push(*key);
            entries = entries.saturating_sub(1);
            bytes = bytes.saturating_sub(entry.object.size);
            if entries <= limits.entries && bytes <= limits.bytes {
                return Ok(victims);
            }
        }
        Err(full)
    }

    /// Stores the object.
    pub fn apply_put(&mut self, graph: &mut Graph, plan: PutPlan, content: T, now: Time) -> Stored {
        let PutPlan { put, version, status, same, victims, needs, renew } = plan;
        let key = put.key;
        let mut gone = Gone::default();
        for victim in victims {
            // An earlier one may have taken it along.
            if self.objects.contains_key(&victim) {
                self.counters.evicted = self.counters.evicted.saturating_add(1);
                self.remove(graph, victim, Why::Removed, &mut gone);
                gone.evicted.push(victim);
            }
        }
        // A lease keeps the object for as long as it runs; without one it has a time of its own.
        let ttl_ms = match put.lease {
            Some(_) => 0,
            None if put.ttl_ms == 0 => self.limits.ttl_ms,
            None => put.ttl_ms,
        };
        let until = (ttl_ms != 0).then(|| now.after(ttl_ms.into()));
        let object = Object {
            version,
            content,
            size: put.size,
            digest: put.digest,
            flags: put.flags,
            codec_bitmap: put.codec_bitmap,
            profile: put.profile,
            schema: put.schema,
            until,
            hits: 0,
        };
        self.graves.remove(&key);
        self.place(key, object);
        if !same {
            let reached = graph.change(Node::Object(key), version);
            self.bury_reached(reached, &mut gone);
        }
        graph.apply_declare(needs);
        let lease = match (renew, put.lease) {
            (Some(renew), _) => self.apply_renew(renew, now),
            (None, Some(ask)) => self.grant(key, ask.owner, ask.ttl_ms, ask.expiry, now),
            (None, None) => None,
        };
        self.counters.stored = self.counters.stored.saturating_add(1);
        let lost = |need: &Need| matches!(need.on, Node::Object(on) if !self.objects.contains_key(&on));
        if put.needs.iter().any(lost) {
            // It replaced, or pushed out, what it depends on itself.
            self.remove(graph, key, Why::Broken, &mut gone);
            gone.objects.push(key);
        }
        Stored { key, status, version, ttl_ms, lease, gone }
    }

    /// Puts an object in its place, where an older one keeps its leases.
    fn place(&mut self, key: Key, object: Object<T>) {
        let size = object.size;
        let until = object.until;
        match self.objects.get_mut(&key) {
            Some(entry) => {
                if let Some(until) = entry.object.until {
                    self.timers.remove(&(until, Timer::Object(key)));
                }
                self.bytes = self.bytes.saturating_sub(entry.object.size);
                self.order.remove(&(entry.rank.class, entry.rank.stamp, key));
                entry.rank = Rank::default();
                entry.object = object;
            }
            None => {
                self.by_kind.insert(key.by_kind());
                self.objects.insert(key, Entry { object, leases: 0, rank: Rank::default() });
            }
        }
        self.bytes = self.bytes.saturating_add(size);
        if let Some(until) = until {
            self.timers.insert((until, Timer::Object(key)));
        }
        self.rank(key, 1, true);
    }
}
