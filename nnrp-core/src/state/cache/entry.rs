//! What is stored, and what is left of it.

use super::Cache;
use crate::state::Time;
use crate::{CacheObjectKind, CachePutFlags, ProfileId};

/// What a cache may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Objects.
    pub entries: usize,
    /// Bytes of content.
    pub bytes: usize,
    /// Bytes of one object.
    pub object_bytes: usize,
    /// Leases.
    pub leases: usize,
    /// Objects that are remembered after they went.
    pub graves: usize,
    /// How long an object is kept that names no time; 0 for no end.
    pub ttl_ms: u32,
    /// What goes when there is no room. Nothing, unless asked for (K6).
    pub eviction: Eviction,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            entries: 4_096,
            bytes: 64 << 20,
            object_bytes: 16 << 20,
            leases: 8_192,
            graves: 4_096,
            ttl_ms: 0,
            eviction: Eviction::None,
        }
    }
}

/// What makes room for a new object. Pinned and leased objects never do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Eviction {
    /// Nothing: the new one is refused, and all that is stored stays.
    #[default]
    None,
    /// What was stored longest ago.
    Oldest,
    /// What was used longest ago.
    LeastUsed,
    /// What would end first by itself.
    SoonestOver,
}

/// The identity of an object (K1). Kinds that only runtimes know are kinds like all others (K7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Whose cache: a session, or 0 for the connection's.
    pub space: u32,
    /// Namespace.
    pub namespace: u32,
    /// High half of the key.
    pub hi: u64,
    /// Low half of the key.
    pub lo: u64,
    /// Kind.
    pub kind: CacheObjectKind,
}

impl Key {
    pub(super) const fn by_kind(&self) -> (u32, u32, u16, u64, u64) {
        (self.space, self.namespace, self.kind.raw(), self.hi, self.lo)
    }
}

/// A stored object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object<T> {
    /// Its version; it only grows.
    pub version: u64,
    /// What is stored.
    pub content: T,
    /// Its bytes, as the limits count them.
    pub size: usize,
    /// Digest of the content, by which the same is told from other content of the same version.
    pub digest: u64,
    /// How it may be kept and used.
    pub flags: CachePutFlags,
    /// Bit n: it uses codec n.
    pub codec_bitmap: u32,
    /// Profile that explains it; unspecified for any.
    pub profile: ProfileId,
    /// Schema and version that explain it; 0 for any.
    pub schema: (u32, u32),
    /// When it ends by itself, leases aside.
    pub until: Option<Time>,
    /// Lookups that found it.
    pub hits: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Entry<T> {
    pub(super) object: Object<T>,
    /// Leases that run on it.
    pub(super) leases: u32,
    pub(super) rank: Rank,
}

/// Where an object stands in the order of eviction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Rank {
    /// By hints: 0 goes first, 2 last.
    pub(super) class: u8,
    pub(super) stamp: u64,
}

/// What is left of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grave {
    pub(super) version: u64,
    pub(super) digest: u64,
    pub(super) why: Why,
    pub(super) at: u64,
}

/// How an object went, as lookups report it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// It is simply not there any more.
    Removed,
    /// Its time or its lease ran out.
    Expired,
    /// Something that it depends on failed.
    Broken,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    Lease(u64),
    Object(Key),
}

/// A wish about the future of an object. It changes what goes first, and no check (K5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// It will be needed soon.
    Prefetch,
    /// It was used.
    Touch,
    /// It is not needed.
    Evict,
    /// Results should, or should not, reuse it.
    Reuse(bool),
}

/// A quick digest of content. It tells different contents apart, not forged ones: who forges one only confuses
/// what they put themselves.
///
/// ```
/// use nnrp_core::state::cache::digest;
///
/// assert_ne!(digest(b"one"), digest(b"two"));
/// ```
pub fn digest(bytes: &[u8]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |hash: u64, word: u64| (hash.rotate_left(23) ^ word).wrapping_mul(ODD);
    let mut words = bytes.chunks_exact(8);
    let mut hash = bytes.len() as u64;
    for word in words.by_ref() {
        hash = mix(hash, word.first_chunk().map_or(0, |word| u64::from_le_bytes(*word)));
    }
    let tail = words.remainder().iter().rev().fold(0, |tail, byte| tail << 8 | u64::from(*byte));
    hash = mix(hash, tail);
    hash ^ hash >> 29
}

impl<T> Cache<T> {
    /// Takes a hint. Says whether there is something to apply it to.
    pub fn hint(&mut self, key: &Key, hint: Hint) -> bool {
        let Some(entry) = self.objects.get(key) else { return false };
        let class = match hint {
            Hint::Evict => 0,
            Hint::Reuse(false) | Hint::Touch => 1,
            Hint::Reuse(true) | Hint::Prefetch => 2,
        };
        let used = matches!(hint, Hint::Touch | Hint::Prefetch);
        let class = if hint == Hint::Touch { entry.rank.class.max(1) } else { class };
        self.rank(*key, class, used);
        true
    }

    /// Puts an object in its place in the order of eviction.
    pub(super) fn rank(&mut self, key: Key, class: u8, used: bool) {
        let Some(entry) = self.objects.get_mut(&key) else { return };
        self.order.remove(&(entry.rank.class, entry.rank.stamp, key));
        self.clock = self.clock.saturating_add(1);
        entry.rank.class = class;
        entry.rank.stamp = match self.limits.eviction {
            Eviction::SoonestOver => entry.object.until.map_or(u64::MAX, |until| until.0),
            Eviction::LeastUsed if used => self.clock,
            _ if entry.rank.stamp == 0 => self.clock,
            _ => entry.rank.stamp,
        };
        let stays = entry.object.flags.contains(CachePutFlags::PINNED) || entry.leases != 0;
        if !stays {
            self.order.insert((entry.rank.class, entry.rank.stamp, key));
        }
    }
}
