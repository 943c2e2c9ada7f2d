//! Cache, leases and schemas (K1–K8, G1–G8, X4, X5).

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::event::{Event, Why};
use super::live::unknown;
use super::plan::{Act, Plan};
use super::{Connection, Message};
use crate::state::cache::{self, Cache, Gone, Hint, Key, Node, Owner, Put, miss_reason};
use crate::state::schema::{CACHE_KIND, InstallPlan, Installed, Origin, Schemas};
use crate::state::{Refusal, Side, Time};
use crate::{
    CacheAckBody, CacheErrorCode, CacheLeaseExtension, CacheMiss, CacheMissBody, CacheObjectKind, CachePut,
    CachePutBody, CommonHeader, ControlExtensionEntries, ControlExtensionPayload, MessageType,
    SchemaDependency, SchemaDescriptorHeader,
};

impl Connection {
    pub(super) fn check_store(&self, act: &Act<'_>) -> Result<Plan, Why> {
        let session_id = act.header.session_id;
        if session_id != 0 && !self.lives.contains_key(&session_id) {
            return Err(unknown(session_id).into());
        }
        if let (Message::CachePut(put, _), Some(agreed)) = (act.message, self.hello.agreed()) {
            let refuse = |why| Refusal::capability("C6", why).about(put.object_kind.raw().into());
            if act.sender == Side::Client && !agreed.takes_cache() {
                return Err(refuse("the server keeps no cache").into());
            }
            if !agreed.takes_object(put.object_kind) {
                return Err(refuse("cache objects of that kind were not accepted").into());
            }
        }
        Ok(match act.message {
            Message::CachePut(put, body) if act.ours => {
                let lease = lease(body.ext);
                if let Some(lease) = &lease {
                    self.check_owner(lease, session_id)?;
                }
                self.check_unasked(session_id)?;
                Plan::PutSent(self.puts.check_put(put, lease.as_ref(), session_id)?)
            }
            Message::CachePut(put, body) => self.check_put(act, put, body)?,
            Message::CacheAck(ack, body) if !act.ours => {
                Plan::PutAck(self.puts.check_ack(ack, lease(body.ext).as_ref(), session_id)?)
            }
            Message::CacheInvalidate(message, _) => {
                let plan = self.cache.check_invalidate(session_id, message)?;
                if act.ours { Plan::Pass } else { Plan::Invalidate(plan) }
            }
            Message::CacheReference(reference, _) if !act.ours => {
                let key = Key {
                    space: session_id,
                    namespace: reference.cache_namespace,
                    hi: reference.cache_key_hi,
                    lo: reference.cache_key_lo,
                    // A reference names every kind under its key.
                    kind: CacheObjectKind::default(),
                };
                let found = self.cache.check_reference(session_id, reference, act.now);
                Plan::Reference(found.map_err(|code| Why::Cache(key, code))?)
            }
            _ => Plan::Pass,
        })
    }

    /// S10: what a server sends of its own accord needs a live operation, or that the session agreed to it.
    pub(super) fn check_unasked(&self, session_id: u32) -> Result<(), Refusal> {
        let idle = self.lives.get(&session_id).is_some_and(|live| live.operations.is_empty());
        if idle && !self.is_client() { self.sessions.check_background(session_id) } else { Ok(()) }
    }

    fn check_put(&self, act: &Act<'_>, put: &CachePut, body: &CachePutBody<'_>) -> Result<Plan, Why> {
        let session_id = act.header.session_id;
        let mut lease = lease(body.ext);
        if let Some(lease) = &mut lease {
            // S9: the session's time where none is asked for.
            let (owner, default) = self.check_owner(lease, session_id)?;
            let asked = [lease.ttl_ms, put.ttl_ms, default];
            let ttl_ms = asked.into_iter().find(|ttl_ms| *ttl_ms != 0).unwrap_or(0);
            lease.ttl_ms = ttl_ms;
            if lease.renew {
                let plan =
                    self.cache.check_renew(key(put, session_id), lease.lease_id, owner, ttl_ms, act.now)?;
                return Ok(Plan::Renew(plan));
            }
        }
        let mut read = Put::read(put, lease.as_ref(), session_id, body.object)?;
        if let Some(ask) = &mut read.lease {
            ask.expiry = self.config.expiry;
        }
        let schema =
            if put.object_kind.raw() == CACHE_KIND { Some(self.check_schema(read.key, body)?) } else { None };
        Ok(Plan::Put(Box::new((self.cache.check_put(&self.graph, &read, act.now)?, schema))))
    }

    /// Who is to own a lease, and how long it is to run where no time is asked for. The owner has to live (K2), and its
    /// session may have leases (S10).
    fn check_owner(&self, lease: &CacheLeaseExtension, session_id: u32) -> Result<(Owner, u32), Refusal> {
        let owner = Owner::of(lease, session_id)?;
        let session = match owner {
            Owner::Session(session) => session,
            _ => session_id,
        };
        let default = if session == 0 { 0 } else { self.sessions.check_lease(session)? };
        if let Owner::Operation { session, operation } = owner
            && !lease.renew
            && self.lives.get(&session).is_none_or(|live| live.operations.by_id(operation).is_none())
        {
            return Err(Refusal::state("K2", "the owner of the lease does not live").about(operation));
        }
        Ok((owner, default))
    }

    /// A schema comes as a cache object whose bytes are its descriptor (X4).
    fn check_schema(&self, key: Key, body: &CachePutBody<'_>) -> Result<InstallPlan, Why> {
        let empty = Refusal::malformed("B10", "a schema is put without its descriptor");
        let descriptor = body.object_as_schema_descriptor().map_err(Why::Fault)?.ok_or(empty)?;
        let header = descriptor.prelude;
        // X5: they stand at the start of the body.
        let entries = descriptor.body.chunks_exact(SchemaDependency::SIZE);
        let dependencies: Result<Vec<_>, _> =
            entries.take(header.dependency_count.into()).map(SchemaDependency::decode).collect();
        let dependencies = dependencies.map_err(Why::Fault)?;
        let object = |dependency: &SchemaDependency| {
            let kind = CacheObjectKind::from_raw(dependency.object_kind)?;
            let key = Key {
                space: key.space,
                namespace: dependency.cache_namespace,
                hi: dependency.cache_key_hi,
                lo: dependency.cache_key_lo,
                kind,
            };
            let seen = self.cache.seen(key);
            self.cache.get(&seen).map(|_| seen)
        };
        let origin = Origin::Cached(key);
        Ok(self.schemas.check_install(&self.graph, &header, &dependencies, origin, object)?)
    }

    pub(super) fn apply_store(&mut self, plan: Plan, act: &Act<'_>) {
        let session_id = act.header.session_id;
        match plan {
            Plan::PutSent(plan) => self.puts.apply_put(plan),
            Plan::Put(put) => {
                let (plan, schema) = *put;
                let Message::CachePut(_, body) = act.message else { return };
                let stored = self.cache.apply_put(&mut self.graph, plan, body.object.to_vec(), act.now);
                if let Some(plan) = schema {
                    let Installed { reached, .. } = self.schemas.apply_install(&mut self.graph, plan);
                    self.reach(reached);
                }
                let (ack, lease) = (stored.ack(self.cache.limits()), stored.extension());
                self.answer_put(act.header, &ack, lease);
                self.schemas.apply_reached(&stored.gone.reached);
                if let Some(packet) = act.received() {
                    self.events.push_back(Event::Stored { key: stored.key, gone: stored.gone, packet });
                }
            }
            Plan::Renew(plan) => {
                let Message::CachePut(put, _) = act.message else { return };
                if let Some(lease) = self.cache.apply_renew(plan, act.now) {
                    let version = self.cache.get(&lease.key).map_or(0, |object| object.version);
                    let stored = cache::Stored {
                        key: key(put, session_id),
                        status: crate::CacheAckStatus::Accepted,
                        version,
                        ttl_ms: put.ttl_ms,
                        lease: None,
                        gone: Gone::default(),
                    };
                    let ack = stored.ack(self.cache.limits());
                    self.answer_put(act.header, &ack, Some(lease.extension(version, true)));
                }
                self.pass(act);
            }
            Plan::PutAck(plan) => match self.puts.apply_ack(plan, act.now) {
                Some(answered) => self.events.push_back(Event::Cached(answered)),
                None => self.pass(act),
            },
            Plan::Invalidate(plan) => {
                let gone = self.cache.apply_invalidate(&mut self.graph, plan);
                self.pass(act);
                self.gone(gone);
            }
            Plan::Reference(keys) => {
                self.cache.apply_use(&keys);
                if let Some(packet) = act.received() {
                    self.events.push_back(Event::Referenced { session_id, keys, packet });
                }
            }
            _ => {}
        }
    }

    fn answer_put(
        &mut self,
        header: &CommonHeader,
        ack: &crate::CacheAck,
        lease: Option<CacheLeaseExtension>,
    ) {
        let mut extensions = crate::build::Extensions::new(MessageType::CacheAck);
        if let Some(lease) = lease {
            extensions = extensions.known(lease);
        }
        if let Ok(ext) = extensions.entries() {
            self.write(&header.answer(), &Message::CacheAck(*ack, CacheAckBody { ext }));
        }
    }

    /// A put that is refused gets its own answer, with the code in it (K8).
    pub(super) fn refuse_put(&mut self, header: &CommonHeader, put: &CachePut, refusal: &Refusal) {
        let ack = cache::refused(key(put, header.session_id), self.cache.limits(), refusal);
        self.answer_put(header, &ack, None);
    }

    /// A reference that failed gets CACHE_MISS (K8).
    pub(super) fn miss(
        &mut self,
        header: &CommonHeader,
        reference: &crate::CacheReference,
        code: CacheErrorCode,
    ) {
        self.cache.note_miss(code);
        let miss = CacheMiss {
            cache_namespace: reference.cache_namespace,
            profile_id: reference.profile_id,
            miss_reason: miss_reason(code),
            cache_key_hi: reference.cache_key_hi,
            cache_key_lo: reference.cache_key_lo,
            ..CacheMiss::default()
        };
        self.write(&header.answer(), &Message::CacheMiss(miss, CacheMissBody { diagnostic: &[] }));
        self.events.push_back(Event::Missed { session_id: header.session_id, code });
    }

    /// What depended on something that failed, failed with it (K4).
    pub(super) fn reach(&mut self, reached: Vec<Node>) {
        if reached.is_empty() {
            return;
        }
        self.schemas.apply_reached(&reached);
        let gone = self.cache.apply_reached(reached);
        self.gone(gone);
    }

    pub(super) fn gone(&mut self, gone: Gone) {
        if !gone.is_empty() {
            self.schemas.apply_reached(&gone.reached);
            self.events.push_back(Event::Invalidated(gone));
        }
    }

    /// What the peer stored here.
    pub const fn cache(&self) -> &Cache<Vec<u8>> {
        &self.cache
    }

    /// Takes a hint about an object of the peer's: it changes what is evicted first, and no check (K5). Says whether
    /// there is such an object.
    pub fn hint(&mut self, key: &Key, hint: Hint) -> bool {
        self.cache.hint(key, hint)
    }

    /// The schemas that payloads are bound to.
    pub const fn schemas(&self) -> &Schemas {
        &self.schemas
    }

    /// Installs a schema of this end's own, with what it needs. The peer gets it by CACHE_PUT (X4).
    ///
    /// # Errors
    ///
    /// As [`Schemas::check_install`].
    pub fn install_schema(
        &mut self,
        header: &SchemaDescriptorHeader,
        dependencies: &[SchemaDependency],
    ) -> Result<(), Why> {
        let plan = self.schemas.check_install(&self.graph, header, dependencies, Origin::Local, |_| None)?;
        let Installed { reached, .. } = self.schemas.apply_install(&mut self.graph, plan);
        self.reach(reached);
        Ok(())
    }

    /// Ends what is over in the cache by now.
    pub(super) fn expire_cache(&mut self, now: Time) {
        let gone = self.cache.handle_timeout(&mut self.graph, now);
        self.gone(gone);
    }
}

fn key(put: &CachePut, session_id: u32) -> Key {
    Key {
        space: session_id,
        namespace: put.cache_namespace,
        hi: put.cache_key_hi,
        lo: put.cache_key_lo,
        kind: put.object_kind,
    }
}

/// X4, if a message has it.
fn lease(block: ControlExtensionEntries<'_>) -> Option<CacheLeaseExtension> {
    block.iter().find_map(|entry| match entry.payload {
        ControlExtensionPayload::CacheLease(lease) => Some(lease),
        _ => None,
    })
}
