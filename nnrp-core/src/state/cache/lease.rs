//! Leases: who keeps an object, and for how long (K2, X4).

use super::{Cache, Gone, Graph, Key, entry::Timer};
use crate::state::{Refusal, Time};
use crate::{CacheErrorCode, CacheLeaseExtension, LeaseOwnerScope};

/// What owns a lease; the lease ends with it.
///
/// ```
/// use nnrp_core::{CacheLeaseExtension, LeaseOwnerScope};
/// use nnrp_core::state::cache::Owner;
///
/// let lease = CacheLeaseExtension { owner_scope: LeaseOwnerScope::Operation, owner_id: 5, ..Default::default() };
/// assert_eq!(Owner::of(&lease, 7)?, Owner::Operation { session: 7, operation: 5 });
/// assert!(Owner::of(&lease, 0).is_err(), "an operation is one of a session");
/// # Ok::<(), nnrp_core::state::Refusal>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// The connection.
    Connection,
    /// A session.
    Session(u32),
    /// An operation of a session.
    Operation {
        /// The session.
        session: u32,
        /// The operation.
        operation: u64,
    },
}

impl Owner {
    /// The owner that X4 names in a message of that session (0: of the connection).
    ///
    /// # Errors
    ///
    /// `malformed_body` for a session that is not the message's, and for an operation without a session.
    pub fn of(lease: &CacheLeaseExtension, session_id: u32) -> Result<Self, Refusal> {
        match lease.owner_scope {
            LeaseOwnerScope::Connection => Ok(Self::Connection),
            LeaseOwnerScope::Session => {
                match u32::try_from(lease.owner_id) {
                    Ok(owner) if owner != 0 && (session_id == 0 || owner == session_id) => {
                        Ok(Self::Session(owner))
                    }
                    _ => Err(Refusal::malformed("X4", "the lease belongs to another session")
                        .about(lease.owner_id)),
                }
            }
            LeaseOwnerScope::Operation if session_id == 0 => {
                // An operation id is unique in its session only.
                Err(Refusal::malformed("X4", "an operation owns a lease outside of any session"))
            }
            LeaseOwnerScope::Operation => {
                Ok(Self::Operation { session: session_id, operation: lease.owner_id })
            }
        }
    }

    /// Scope and id, as X4 has them.
    pub const fn wire(self) -> (LeaseOwnerScope, u64) {
        match self {
            Self::Connection => (LeaseOwnerScope::Connection, 0),
            Self::Session(session) => (LeaseOwnerScope::Session, session as u64),
            Self::Operation { operation, .. } => (LeaseOwnerScope::Operation, operation),
        }
    }
}

/// What becomes of an object when its last lease ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Expiry {
    /// It goes, and lookups say lease_expired.
    #[default]
    Refuse,
    /// It goes, and lookups say cache_miss.
    Remove,
    /// It stays, without a lease.
    Keep,
}

/// A lease that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    /// Its id: renewing keeps it, granting again makes a new one.
    pub id: u64,
    /// The object.
    pub key: Key,
    /// Who owns it.
    pub owner: Owner,
    /// How long it runs from a grant or renewal; 0 for as long as its owner.
    pub ttl_ms: u32,
    /// When it ends by itself.
    pub until: Option<Time>,
    /// What becomes of the object then.
    pub expiry: Expiry,
}

impl Lease {
    /// Time and owner as X4 of an answer has them.
    pub fn extension(&self, object_version: u64, renew: bool) -> CacheLeaseExtension {
        let (owner_scope, owner_id) = self.owner.wire();
        CacheLeaseExtension {
            lease_id: self.id,
            object_version,
            owner_id,
            ttl_ms: self.ttl_ms,
            owner_scope,
            renew,
        }
    }
}

/// A renewal that may be done.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct RenewPlan {
    lease_id: u64,
    ttl_ms: u32,
}

impl<T> Cache<T> {
    /// Checks a renewal: the lease runs, it is on that object, and its owner asks.
    ///
    /// # Errors
    ///
    /// `cache_miss` or `lease_expired`.
    pub fn check_renew(
        &self,
        key: Key,
        lease_id: u64,
        owner: Owner,
        ttl_ms: u32,
        now: Time,
    ) -> Result<RenewPlan, Refusal> {
        if !self.objects.contains_key(&key) && !self.has_grave(&key) {
            return Err(Refusal::cache(CacheErrorCode::CacheMiss, "K3", "there is no such object"));
        }
        if self.running(lease_id, &key, now).is_none_or(|lease| lease.owner != owner) {
            return Err(
                Refusal::cache(CacheErrorCode::LeaseExpired, "K2", "the lease does not run").about(lease_id)
            );
        }
        Ok(RenewPlan { lease_id, ttl_ms })
    }

    /// Renews: the lease keeps its id and runs from now.
    pub fn apply_renew(&mut self, plan: RenewPlan, now: Time) -> Option<Lease> {
        let lease = self.leases.get_mut(&plan.lease_id)?;
        if let Some(until) = lease.until {
            self.timers.remove(&(until, Timer::Lease(lease.id)));
        }
        lease.ttl_ms = plan.ttl_ms;
        lease.until = (plan.ttl_ms != 0).then(|| now.after(plan.ttl_ms.into()));
        if let Some(until) = lease.until {
            self.timers.insert((until, Timer::Lease(lease.id)));
        }
        self.counters.leases_renewed = self.counters.leases_renewed.saturating_add(1);
        Some(*lease)
    }

    /// A lease that runs on that object.
    pub(super) fn running(&self, lease_id: u64, key: &Key, now: Time) -> Option<&Lease> {
        self.leases
            .get(&lease_id)
            .filter(|lease| lease.key == *key && lease.until.is_none_or(|until| until > now))
    }

    /// Grants a new lease on a stored object.
    pub(super) fn grant(
        &mut self,
        key: Key,
        owner: Owner,
        ttl_ms: u32,
        expiry: Expiry,
        now: Time,
    ) -> Option<Lease> {
        let entry = self.objects.get_mut(&key)?;
        entry.leases = entry.leases.saturating_add(1);
        let class = entry.rank.class;
        self.last_lease = self.last_lease.saturating_add(1);
        let until = (ttl_ms != 0).then(|| now.after(ttl_ms.into()));
        let lease = Lease { id: self.last_lease, key, owner, ttl_ms, until, expiry };
        if let Some(until) = until {
            self.timers.insert((until, Timer::Lease(lease.id)));
        }
        self.by_owner.insert((owner, lease.id));
        self.by_object.insert((key, lease.id));
        self.leases.insert(lease.id, lease);
        self.counters.leases_granted = self.counters.leases_granted.saturating_add(1);
        self.rank(key, class, false);
        Some(lease)
    }

    /// The owner is gone, and its leases with it (K2).
    pub fn end_owner(&mut self, graph: &mut Graph, owner: Owner) -> Gone {
        let mut gone = Gone::default();
        while let Some(lease_id) = self.first_of(owner) {
            self.end_lease(graph, lease_id, &mut gone);
            self.counters.leases_ended = self.counters.leases_ended.saturating_add(1);
        }
        gone
    }

    /// A session is gone: its leases, those of its operations, and all that was stored for it.
    pub fn end_session(&mut self, graph: &mut Graph, session: u32) -> Gone {
        let mut gone = self.end_owner(graph, Owner::Session(session));
        let from = Owner::Operation { session, operation: 0 };
        while let Some((Owner::Operation { session: of, .. }, lease_id)) =
            self.by_owner.range((from, 0)..).next().copied()
            && of == session
        {
            self.end_lease(graph, lease_id, &mut gone);
            self.counters.leases_ended = self.counters.leases_ended.saturating_add(1);
        }
        self.clear_space(graph, session, &mut gone);
        gone
    }

    fn first_of(&self, owner: Owner) -> Option<u64> {
        let (of, lease_id) = self.by_owner.range((owner, 0)..).next()?;
        (*of == owner).then_some(*lease_id)
    }
}
