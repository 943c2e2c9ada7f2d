//! Finding objects, and the one reason for which that fails (K3, K8).

use alloc::vec::Vec;

use super::{
    Cache, Key, Object,
    entry::{Grave, Why},
};
use crate::state::Time;
use crate::{CacheErrorCode, CacheObjectKind, CacheReference, CacheReferenceFlags, MissReason, ProfileId};

/// What a lookup asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Want {
    /// The object.
    pub key: Key,
    /// The lease that it is used under; 0 for none.
    pub lease_id: u64,
    /// Whether some lease has to run on it.
    pub lease_required: bool,
    /// The version; 0 for whichever there is.
    pub version: u64,
    /// The profile that has to explain it; unspecified for any.
    pub profile: ProfileId,
    /// The schema and version that have to explain it; 0 for any.
    pub schema: (u32, u32),
}

impl Want {
    /// Any version of an object, under no lease.
    pub const fn new(key: Key) -> Self {
        Self {
            key,
            lease_id: 0,
            lease_required: false,
            version: 0,
            profile: ProfileId::UNSPECIFIED,
            schema: (0, 0),
        }
    }
}

/// What CACHE_MISS says of a failed reference (K8).
pub const fn miss_reason(code: CacheErrorCode) -> MissReason {
    match code {
        CacheErrorCode::None => MissReason::UNKNOWN,
        CacheErrorCode::CacheMiss => MissReason::NOT_FOUND,
        CacheErrorCode::LeaseExpired => MissReason::EXPIRED,
        CacheErrorCode::VersionMismatch | CacheErrorCode::DependencyInvalid => MissReason::INVALIDATED,
        CacheErrorCode::SchemaMismatch => MissReason::SCHEMA_MISMATCH,
    }
}

impl<T> Cache<T> {
    /// Finds an object that is all that is wanted. A session sees its own objects and, where it has none of that
    /// key, the connection's.
    ///
    /// # Errors
    ///
    /// The first of K3: cache_miss, lease_expired, version_mismatch, dependency_invalid, schema_mismatch.
    pub fn check_lookup(&self, want: &Want, now: Time) -> Result<&Object<T>, CacheErrorCode> {
        let key = self.seen(want.key);
        let entry = self.objects.get(&key);
        let grave = self.graves.get(&key).filter(|_| entry.is_none());
        // 1. Is there anything?
        let version = match (entry, grave) {
            (Some(entry), _) => entry.object.version,
            (None, Some(Grave { why: Why::Expired | Why::Broken, version, .. })) => *version,
            _ => return Err(CacheErrorCode::CacheMiss),
        };
        // 2. Has its time run out?
        let over = match entry {
            Some(entry) => {
                let leased = entry.leases != 0;
                entry.object.until.is_some_and(|until| until <= now) && !leased
                    || want.lease_id != 0 && self.running(want.lease_id, &key, now).is_none()
                    || want.lease_required && !leased
            }
            None => grave.is_some_and(|grave| grave.why == Why::Expired),
        };
        if over {
            return Err(CacheErrorCode::LeaseExpired);
        }
        // 3. Is it the version?
        if want.version != 0 && want.version != version {
            return Err(CacheErrorCode::VersionMismatch);
        }
        // 4. Does what it depends on hold? Objects whose dependency failed are gone, and their grave says why.
        let Some(entry) = entry else { return Err(CacheErrorCode::DependencyInvalid) };
        // 5. Does it fit?
        let object = &entry.object;
        let profile_fits = want.profile == ProfileId::UNSPECIFIED
            || object.profile == ProfileId::UNSPECIFIED
            || want.profile == object.profile;
        let schema_fits = want.schema.0 == 0 || object.schema.0 == 0 || want.schema == object.schema;
        if !(profile_fits && schema_fits) {
            return Err(CacheErrorCode::SchemaMismatch);
        }
        Ok(object)
    }

    /// Finds what CACHE_REFERENCE names: every kind under its key, all of which have to be good (K8). `session_id`
    /// is the header's.
    ///
    /// # Errors
    ///
    /// The first of K3 that any of them fails with.
    pub fn check_reference(
        &self,
        session_id: u32,
        reference: &CacheReference,
        now: Time,
    ) -> Result<Vec<Key>, CacheErrorCode> {
        let CacheReference { cache_namespace: namespace, cache_key_hi: hi, cache_key_lo: lo, .. } =
            *reference;
        let mut keys = self.kinds(session_id, namespace, hi, lo);
        // A lease is on one object, so under it only that kind is meant.
        if let Some(lease) = self.leases.get(&reference.lease_id)
            && keys.contains(&lease.key)
        {
            keys = Vec::from([lease.key]);
        }
        if keys.is_empty() {
            return Err(CacheErrorCode::CacheMiss);
        }
        let fault = keys.iter().filter_map(|key| {
            let want = Want {
                lease_id: reference.lease_id,
                lease_required: reference.flags.contains(CacheReferenceFlags::LEASE_REQUIRED),
                profile: reference.profile_id,
                ..Want::new(*key)
            };
            self.check_lookup(&want, now).err()
        });
        // The codes rise in the order of K3.
        match fault.min() {
            Some(code) => Err(code),
            None => Ok(keys),
        }
    }

    /// Objects were used.
    pub fn apply_use(&mut self, keys: &[Key]) {
        for key in keys {
            let key = self.seen(*key);
            if let Some(entry) = self.objects.get_mut(&key) {
                entry.object.hits = entry.object.hits.saturating_add(1);
                self.counters.hits = self.counters.hits.saturating_add(1);
                let class = entry.rank.class;
                self.rank(key, class, true);
            }
        }
    }

    /// All kinds under a key: live ones, and those that would be reported as expired or broken.
    fn kinds(&self, space: u32, namespace: u32, hi: u64, lo: u64) -> Vec<Key> {
        let of = |space| {
            let from = Key { space, namespace, hi, lo, kind: lowest() };
            let under =
                move |key: &Key| (key.space, key.namespace, key.hi, key.lo) == (space, namespace, hi, lo);
            let live = self.objects.range(from..).map(|(key, _)| *key).take_while(under);
            let dead = self
                .graves
                .range(from..)
                .take_while(move |(key, _)| under(key))
                .filter(|(_, grave)| grave.why != Why::Removed)
                .map(|(key, _)| *key);
            let mut keys: Vec<Key> = live.chain(dead).collect();
            keys.sort_unstable();
            keys.dedup();
            keys
        };
        let own = of(space);
        if own.is_empty() && space != 0 { of(0) } else { own }
    }

    /// The key under which a session sees an object: its own, or else the connection's.
    pub fn seen(&self, key: Key) -> Key {
        let shared = Key { space: 0, ..key };
        let own = self.objects.contains_key(&key) || self.has_grave(&key);
        if !own && key.space != 0 && (self.objects.contains_key(&shared) || self.has_grave(&shared)) {
            return shared;
        }
        key
    }

    pub(super) fn has_grave(&self, key: &Key) -> bool {
        self.graves.get(key).is_some_and(|grave| grave.why != Why::Removed)
    }
}

/// The lowest kind in the order of keys.
pub(super) const fn lowest() -> CacheObjectKind {
    CacheObjectKind::CAMERA_BLOCK
}
