//! What this side put into the peer's cache and the peer has not answered yet (K8).

use alloc::collections::{BTreeMap, VecDeque};

use super::Key;
use crate::state::{Refusal, Time};
use crate::{CacheAck, CacheAckStatus, CacheLeaseExtension, CacheObjectKind, CachePut, ErrorCode};

/// A CACHE_PUT that is on its way.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    kind: CacheObjectKind,
    /// The lease that was asked for: 0 for a new one.
    lease: Option<u64>,
    renew: bool,
    version: u64,
}

/// The puts that wait for their answer.
///
/// ```
/// use nnrp_core::{CacheAck, CacheObjectKind, CachePut};
/// use nnrp_core::state::{Time, cache::Sent};
///
/// let mut sent = Sent::new(16);
/// let put = CachePut { object_kind: CacheObjectKind::TOOL_SCHEMA, cache_key_lo: 9, ..Default::default() };
/// sent.apply_put(sent.check_put(&put, None, 0).unwrap());
/// let ack = CacheAck { cache_key_lo: 9, ..Default::default() };
/// let answered = sent.apply_ack(sent.check_ack(&ack, None, 0).unwrap(), Time(0)).unwrap();
/// assert_eq!(answered.key.kind, CacheObjectKind::TOOL_SCHEMA);
/// ```
#[derive(Clone, Debug)]
pub struct Sent {
    limit: usize,
    waiting: BTreeMap<(u32, u32, u64, u64), VecDeque<Waiting>>,
    count: usize,
}

/// A put that may be sent.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct SentPlan {
    at: (u32, u32, u64, u64),
    waiting: Waiting,
}

/// An answer that may be taken.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct SentAckPlan {
    at: (u32, u32, u64, u64),
    ack: CacheAck,
    lease: Option<CacheLeaseExtension>,
}

/// What the peer made of a put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answered {
    /// The object.
    pub key: Key,
    /// What became of it.
    pub status: CacheAckStatus,
    /// Why it was refused.
    pub code: Option<ErrorCode>,
    /// The lease that runs there, and the version.
    pub lease: Option<CacheLeaseExtension>,
    /// When the peer will have dropped it; `None` where it states no time.
    pub until: Option<Time>,
}

impl Sent {
    /// None yet, and at most `limit` at once.
    pub const fn new(limit: usize) -> Self {
        Self { limit, waiting: BTreeMap::new(), count: 0 }
    }

    /// How many wait.
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Whether none waits.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Checks a put of that session (0: of the connection) with its X4.
    ///
    /// # Errors
    ///
    /// `limit_exceeded` over what may be unanswered.
    pub fn check_put(
        &self,
        put: &CachePut,
        lease: Option<&CacheLeaseExtension>,
        session_id: u32,
    ) -> Result<SentPlan, Refusal> {
        if self.count >= self.limit {
            return Err(Refusal::limit("K8", "too many puts are waiting for their answer"));
        }
        let waiting = Waiting {
            kind: put.object_kind,
            lease: lease.map(|lease| lease.lease_id),
            renew: lease.is_some_and(|lease| lease.renew),
            version: lease.map_or(0, |lease| lease.object_version),
        };
        Ok(SentPlan { at: (session_id, put.cache_namespace, put.cache_key_hi, put.cache_key_lo), waiting })
    }

    /// The put was sent.
    pub fn apply_put(&mut self, plan: SentPlan) {
        self.waiting.entry(plan.at).or_default().push_back(plan.waiting);
        self.count = self.count.saturating_add(1);
    }

    /// Checks an answer: it is for the oldest put of its key that waits (K8).
    ///
    /// # Errors
    ///
    /// `invalid_state` for an answer to nothing, and for a lease or version that was not asked for.
    pub fn check_ack(
        &self,
        ack: &CacheAck,
        lease: Option<&CacheLeaseExtension>,
        session_id: u32,
    ) -> Result<SentAckPlan, Refusal> {
        let at = (session_id, ack.cache_namespace, ack.cache_key_hi, ack.cache_key_lo);
        let Some(waiting) = self.waiting.get(&at).and_then(VecDeque::front) else {
            return Err(Refusal::state("K8", "no put of that key waits for an answer"));
        };
        if let Some(lease) = lease {
            match waiting.lease {
                None => return Err(Refusal::state("X4", "a lease was granted that was not asked for")),
                Some(0) if lease.lease_id == 0 => {
                    return Err(Refusal::state("X4", "the new lease has no id"));
                }
                Some(asked) if asked != 0 && asked != lease.lease_id => {
                    return Err(Refusal::state("K2", "renewing changed the lease").about(lease.lease_id));
                }
                Some(_) => {}
            }
            let asked = waiting.version;
            if !waiting.renew && asked != 0 && lease.object_version != asked {
                return Err(
                    Refusal::state("K1", "the object got another version").about(lease.object_version)
                );
            }
        }
        Ok(SentAckPlan { at, ack: *ack, lease: lease.copied() })
    }

    fn pop(&mut self, at: (u32, u32, u64, u64)) -> Option<Waiting> {
        let queue = self.waiting.get_mut(&at)?;
        let waiting = queue.pop_front()?;
        if queue.is_empty() {
            self.waiting.remove(&at);
        }
        self.count = self.count.saturating_sub(1);
        Some(waiting)
    }

    /// An answer could not be taken. Its put counts as refused with that code, so that the next answer meets the next
    /// put. `None` where no put of that key waits.
    pub fn skip(&mut self, ack: &CacheAck, session_id: u32, code: ErrorCode) -> Option<Answered> {
        let (namespace, hi, lo) = (ack.cache_namespace, ack.cache_key_hi, ack.cache_key_lo);
        let Waiting { kind, .. } = self.pop((session_id, namespace, hi, lo))?;
        Some(Answered {
            key: Key { space: session_id, namespace, hi, lo, kind },
            status: CacheAckStatus::Rejected,
            code: Some(code),
            lease: None,
            until: None,
        })
    }

    /// The answer has come.
    pub fn apply_ack(&mut self, plan: SentAckPlan, now: Time) -> Option<Answered> {
        let waiting = self.pop(plan.at)?;
        let (space, namespace, hi, lo) = plan.at;
        let rejected = plan.ack.status == CacheAckStatus::Rejected;
        let ttl_ms = plan.lease.map_or(plan.ack.accepted_ttl_ms, |lease| lease.ttl_ms);
        Some(Answered {
            key: Key { space, namespace, hi, lo, kind: waiting.kind },
            status: plan.ack.status,
            code: ErrorCode::from_raw(plan.ack.detail_code).filter(|_| rejected),
            lease: plan.lease.filter(|_| !rejected),
            until: (ttl_ms != 0 && !rejected).then(|| now.after(ttl_ms.into())),
        })
    }

    /// A session is gone; nothing is answered for it any more.
    pub fn end_session(&mut self, session_id: u32) {
        while let Some((at, queue)) = self.waiting.range((session_id, 0, 0, 0)..).next()
            && at.0 == session_id
        {
            let at = *at;
            self.count = self.count.saturating_sub(queue.len());
            self.waiting.remove(&at);
        }
    }
}
