//! Cache, leases, schemas and runtime objects through the connection (K1–K8, G1–G7, J1–J4, S9, S10, X4, X5).

use nnrp_core::build::{Extensions, Schema, SubmitBuilder};
use nnrp_core::state::Side;
use nnrp_core::state::cache::{Eviction, Expiry, Hint, Key, Need, Node};
use nnrp_core::state::connection::{Config, Event, Why};
use nnrp_core::*;
use nnrp_tests::pair::{Pair, result};

use super::say::{self, say};

/// A session that may have leases and other schemas than its own.
fn storing() -> (Pair, u32) {
    let mut pair = Pair::active();
    let open = SessionOpen {
        session_flags: SessionFlags::all(),
        profile_id: ProfileId::TOKEN,
        lease_ttl_hint_ms: 4_000,
        ..SessionOpen::default()
    };
    let session = pair.open(&open);
    (pair, session)
}

/// CACHE_PUT with X4.
fn leased(
    pair: &mut Pair,
    session: u32,
    put: CachePut,
    lease: CacheLeaseExtension,
    object: &[u8],
) -> Result<(), Why> {
    let block = Extensions::new(MessageType::CachePut).known(lease);
    let ext = block.entries().expect("a good block");
    pair.client.send(&say::session(session), &Message::CachePut(put, CachePutBody { object, ext }), pair.now)
}

fn a_put(cache_key_lo: u64) -> CachePut {
    CachePut {
        cache_namespace: 1,
        object_kind: CacheObjectKind::TOOL_SCHEMA,
        cache_key_lo,
        ..CachePut::default()
    }
}

fn a_lease(session: u32) -> CacheLeaseExtension {
    CacheLeaseExtension {
        owner_scope: LeaseOwnerScope::Session,
        owner_id: session.into(),
        ..CacheLeaseExtension::default()
    }
}

/// What the client was answered about its puts.
fn answered(pair: &mut Pair) -> Vec<(CacheAckStatus, Option<ErrorCode>, Option<CacheLeaseExtension>)> {
    pair.client_events()
        .into_iter()
        .filter_map(|event| match event {
            Event::Cached(answered) => Some((answered.status, answered.code, answered.lease)),
            _ => None,
        })
        .collect()
}

/// What the server answers to a put that no check of the client's stood before, and how many leases it grants.
fn put_raw(pair: &mut Pair, session: u32, lease: CacheLeaseExtension) -> (CacheAck, usize) {
    let block = Extensions::new(MessageType::CachePut).known(lease);
    let ext = block.entries().expect("a good block");
    let message = Message::CachePut(a_put(1), CachePutBody { object: b"object", ext });
    pair.server.handle_bytes(&message.to_vec(&say::session(session)).expect("a good put"), pair.now);
    let output = pair.server.poll_output().to_vec();
    pair.server.consume_output(output.len());
    match Packet::parse(&output).expect("one packet").message() {
        Message::CacheAck(ack, body) => (ack, body.ext.iter().count()),
        other => panic!("{other:?}"),
    }
}

/// The reasons of the misses that came.
fn misses(pair: &mut Pair) -> Vec<MissReason> {
    pair.client_events()
        .iter()
        .filter_map(|event| match event.packet()?.message()? {
            Message::CacheMiss(miss, _) => Some(miss.miss_reason),
            _ => None,
        })
        .collect()
}

#[test]
fn k8_a_put_is_answered_and_a_reference_found_or_missed() {
    let (mut pair, session) = storing();
    let header = say::session(session);
    pair.client.send(&header, &say::put(1, b"object"), pair.now).expect("room");
    pair.settle();
    assert!(matches!(answered(&mut pair)[..], [(CacheAckStatus::Accepted, None, None)]));
    pair.server_events();
    pair.client.send(&header, &say::reference(1), pair.now).expect("it is open");
    pair.client.send(&header, &say::reference(2), pair.now).expect("it is open");
    pair.settle();
    assert_eq!(misses(&mut pair), [MissReason::NOT_FOUND]);
    let events = pair.server_events();
    assert!(
        matches!(
            &events[..],
            [Event::Referenced { .. }, Event::Missed { code: CacheErrorCode::CacheMiss, .. }]
        ),
        "{events:?}"
    );
    // Another session does not see it.
    let other = pair.open(&SessionOpen::default());
    pair.client.send(&say::session(other), &say::reference(1), pair.now).expect("it is open");
    pair.settle();
    assert_eq!(misses(&mut pair), [MissReason::NOT_FOUND]);
    // Once invalidated it is not there any more.
    let invalidate = CacheInvalidate {
        invalidate_scope: CacheInvalidateScope::ObjectKey,
        cache_namespace: 1,
        cache_key_lo: 1,
        ..CacheInvalidate::default()
    };
    let ext = ControlExtensionEntries::default();
    pair.client
        .send(&header, &Message::CacheInvalidate(invalidate, CacheInvalidateBody { ext }), pair.now)
        .expect("it is open");
    pair.client.send(&header, &say::reference(1), pair.now).expect("it is open");
    pair.settle();
    assert_eq!(misses(&mut pair).len(), 1);
    assert!(pair.server_events().iter().any(|event| matches!(event, Event::Invalidated(_))));
    assert_eq!(pair.server.snapshot().cache_entries, 0);
}

#[test]
fn k2_s9_x4_a_lease_is_granted_renewed_and_ends() {
    let (mut pair, session) = storing();
    leased(&mut pair, session, a_put(1), a_lease(session), b"object").expect("room");
    pair.settle();
    let answers = answered(&mut pair);
    let [(CacheAckStatus::Accepted, None, Some(lease))] = answers[..] else { panic!("{answers:?}") };
    // S9: the session's time, as none was asked for.
    assert_eq!((lease.ttl_ms, lease.renew), (4_000, false));
    assert_ne!(lease.lease_id, 0);
    pair.wait(3_000);
    let renew =
        CacheLeaseExtension { lease_id: lease.lease_id, renew: true, ttl_ms: 2_000, ..a_lease(session) };
    leased(&mut pair, session, a_put(1), renew, b"").expect("room");
    pair.settle();
    let answers = answered(&mut pair);
    let [(CacheAckStatus::Accepted, None, Some(again))] = answers[..] else { panic!("{answers:?}") };
    assert_eq!((again.lease_id, again.renew), (lease.lease_id, true));
    pair.wait(1_500);
    assert_eq!(pair.server.cache().leases(), 1);
    pair.wait(500);
    assert_eq!(pair.server.cache().leases(), 0);
    pair.client.send(&say::session(session), &say::reference(1), pair.now).expect("it is open");
    pair.settle();
    assert_eq!(misses(&mut pair), [MissReason::EXPIRED]);
    // One that ended cannot be renewed.
    leased(&mut pair, session, a_put(1), renew, b"").expect("room");
    pair.settle();
    assert_eq!(answered(&mut pair)[0].0, CacheAckStatus::Rejected);
}

#[test]
fn k2_a_lease_ends_with_its_owner() {
    let (mut pair, session) = storing();
    pair.submit(session, 5).expect("room");
    let lease = CacheLeaseExtension {
        owner_scope: LeaseOwnerScope::Operation,
        owner_id: 5,
        ttl_ms: 90_000,
        ..CacheLeaseExtension::default()
    };
    leased(&mut pair, session, a_put(1), lease, b"object").expect("room");
    let unknown = CacheLeaseExtension { owner_id: 77, ..lease };
    pair.settle();
    let granted = answered(&mut pair)[0].2.expect("a lease");
    // One that does not live owns none, on either side.
    assert!(leased(&mut pair, session, a_put(2), unknown, b"object").is_err());
    let ack = put_raw(&mut pair, session, unknown).0;
    assert_eq!((ack.status, ack.detail_code), (CacheAckStatus::Rejected, ErrorCode::INVALID_STATE.raw()));
    assert_eq!(pair.server.cache().leases(), 1);
    pair.server.send_packet(&result(session, 5), pair.now).expect("it lives");
    assert_eq!(pair.server.cache().leases(), 0);
    // K3: who renews it hears that it is over.
    pair.settle();
    pair.client_events();
    let renew = CacheLeaseExtension { lease_id: granted.lease_id, renew: true, ..lease };
    leased(&mut pair, session, a_put(1), renew, b"").expect("room");
    pair.settle();
    let expired = ErrorCode::from_raw(CacheErrorCode::LeaseExpired as u32);
    assert_eq!(answered(&mut pair), [(CacheAckStatus::Rejected, expired, None)]);
}

#[test]
fn k2_s10_a_lease_of_a_session_needs_its_session_and_flag_wherever_it_is_asked_for() {
    let (mut pair, session) = storing();
    let without = pair.open(&SessionOpen { requested_session_id: 0x4000, ..SessionOpen::default() });
    // In a message of the connection, too.
    let refused = SessionErrorCode::LEASE_POLICY_REJECTED.raw();
    let unknown = ErrorCode::INVALID_STATE.raw();
    for (owner, code) in [(session, None), (without, Some(refused)), (0x4001, Some(unknown))] {
        let sent = leased(&mut pair, 0, a_put(1), a_lease(owner), b"object");
        assert_eq!(sent.err().map(|why| why.code().raw()), code);
        pair.settle();
        let answers = answered(&mut pair);
        assert_eq!(answers.len(), usize::from(code.is_none()));
        let (ack, granted) = put_raw(&mut pair, 0, a_lease(owner));
        assert_eq!((ack.detail_code, granted), (code.unwrap_or(0), usize::from(code.is_none())));
        if code.is_none() {
            // S9: the owner's time.
            assert_eq!(answers[0].2.map(|lease| lease.ttl_ms), Some(4_000));
        }
    }
    pair.server_events();
    assert_eq!(pair.server.cache().leases(), 2);
    // It ends with its owner.
    let close = nnrp_core::state::connection::drain_within(0);
    pair.client.close_session(session, &close, pair.now).expect("an open session");
    pair.settle();
    pair.server.accept_close(session, pair.now).expect("a request that waits");
    assert_eq!(pair.server.cache().leases(), 0);
}

#[test]
fn k2_what_becomes_of_an_object_without_lease_is_configured() {
    for (expiry, reason) in [
        (Expiry::Refuse, Some(MissReason::EXPIRED)),
        (Expiry::Remove, Some(MissReason::NOT_FOUND)),
        (Expiry::Keep, None),
    ] {
        let server = Config { expiry, ..Config::new(Side::Server) };
        let mut pair = Pair::with(Config::new(Side::Client), server);
        pair.greet();
        let session_flags = SessionFlags::all();
        let session = pair.open(&SessionOpen { session_flags, ..SessionOpen::default() });
        let lease = CacheLeaseExtension { ttl_ms: 100, ..a_lease(session) };
        leased(&mut pair, session, a_put(1), lease, b"object").expect("room");
        pair.settle();
        pair.wait(100);
        assert_eq!(pair.server.cache().leases(), 0);
        pair.client.send(&say::session(session), &say::reference(1), pair.now).expect("it is open");
        pair.settle();
        assert_eq!(misses(&mut pair), Vec::from_iter(reason), "{expiry:?}");
    }
}

#[test]
fn k5_hints_change_what_is_evicted_and_nothing_else() {
    let mut server = Config::new(Side::Server);
    (server.cache.entries, server.cache.eviction) = (2, Eviction::Oldest);
    let mut pair = Pair::with(Config::new(Side::Client), server);
    pair.greet();
    let session = pair.open(&SessionOpen::default());
    let key = |lo| Key { space: session, namespace: 1, hi: 0, lo, kind: CacheObjectKind::TOOL_SCHEMA };
    let put = |pair: &mut Pair, lo| {
        pair.client.send(&say::session(session), &say::put(lo, b"object"), pair.now).expect("room");
        pair.settle();
    };
    put(&mut pair, 1);
    put(&mut pair, 2);
    assert!(pair.server.hint(&key(1), Hint::Prefetch));
    assert!(!pair.server.hint(&key(3), Hint::Prefetch), "there is none");
    put(&mut pair, 3);
    let there = |pair: &Pair| [1, 2, 3].map(|lo| pair.server.cache().get(&key(lo)).is_some());
    assert_eq!(there(&pair), [true, false, true]);
    // What is wanted soon is invalidated all the same.
    let invalidate = CacheInvalidate {
        invalidate_scope: CacheInvalidateScope::ObjectKey,
        cache_namespace: 1,
        cache_key_lo: 1,
        ..CacheInvalidate::default()
    };
    let message = Message::CacheInvalidate(invalidate, CacheInvalidateBody::default());
    pair.client.send(&say::session(session), &message, pair.now).expect("it is open");
    pair.settle();
    assert_eq!(there(&pair), [false, false, true]);
}

#[test]
fn k4_what_an_application_declares_fails_with_what_it_depends_on() {
    let (mut pair, session) = storing();
    pair.submit(session, 1).expect("room");
    pair.submit(session, 2).expect("room");
    let put = |pair: &mut Pair, header: u32, lo| {
        pair.client.send(&say::session(header), &say::put(lo, b"object"), pair.now).expect("room");
        pair.settle();
    };
    put(&mut pair, session, 1);
    put(&mut pair, 0, 2);
    put(&mut pair, 0, 3);
    let object =
        |space, lo| Node::Object(Key { space, namespace: 1, hi: 0, lo, kind: CacheObjectKind::TOOL_SCHEMA });
    let result = |operation| Node::Result { session, operation };
    let runtime = Node::Runtime { session, object: 9 };
    let depend = |pair: &mut Pair, node, on| match pair.server.depend(node, &[Need::any(on)]) {
        Ok(()) => None,
        Err(why) => Some(why.code()),
    };
    let invalid = ErrorCode::from_raw(CacheErrorCode::DependencyInvalid as u32);
    // What is not there can neither be needed nor need anything.
    for (node, on) in [
        (result(1), object(session, 7)),
        (object(session, 7), result(1)),
        (result(3), result(1)),
        (object(0, 2), runtime),
        (result(1), result(1)),
    ] {
        assert_eq!(depend(&mut pair, node, on), invalid, "{node:?} {on:?}");
    }
    let old = Need { on: object(session, 1), version: 7 };
    assert!(pair.server.depend(result(1), &[old]).is_err(), "another version");
    let descriptor = ObjectDescriptor {
        object_id: 9,
        session_id: session,
        producer_role: Role::CLIENT,
        consumer_role: Role::SERVER,
        ..ObjectDescriptor::default()
    };
    let declare = Message::ObjectDeclare(descriptor, ObjectDeclareBody { object_metadata: b"" });
    pair.client.send(&say::session(session), &declare, pair.now).expect("it is open");
    pair.settle();
    // A result of an object, an object of a result that fails, and one of the connection of an object of the session.
    assert_eq!(depend(&mut pair, result(1), object(session, 1)), None);
    assert_eq!(depend(&mut pair, object(0, 2), result(2)), None);
    assert_eq!(depend(&mut pair, object(0, 3), runtime), None);
    assert_eq!(pair.server.graph().needs(result(1)), [Need::any(object(session, 1))]);
    assert_eq!(pair.server.snapshot().dependencies, 3);
    let reached = |pair: &mut Pair| -> Vec<Node> {
        let mut reached = Vec::new();
        pair.settle();
        for event in pair.server_events() {
            if let Event::Invalidated(gone) = event {
                reached.extend(gone.reached);
            }
        }
        reached
    };
    reached(&mut pair);
    put(&mut pair, session, 4);
    let invalidate = CacheInvalidate {
        invalidate_scope: CacheInvalidateScope::ObjectKey,
        cache_namespace: 1,
        cache_key_lo: 1,
        ..CacheInvalidate::default()
    };
    let message = Message::CacheInvalidate(invalidate, CacheInvalidateBody::default());
    pair.client.send(&say::session(session), &message, pair.now).expect("it is open");
    assert_eq!(reached(&mut pair), [result(1)]);
    pair.server.drop_operation(session, 2, DropReasonCode::BUDGET_EXCEEDED, pair.now).expect("it lives");
    assert_eq!(reached(&mut pair), [object(0, 2)]);
    // J4: the end of the session frees the object.
    let close = nnrp_core::state::connection::drain_within(0);
    pair.client.close_session(session, &close, pair.now).expect("an open session");
    pair.settle();
    pair.server.accept_close(session, pair.now).expect("a request that waits");
    assert_eq!(reached(&mut pair), [object(0, 3)]);
    assert_eq!((pair.server.snapshot().dependencies, pair.server.snapshot().cache_entries), (0, 0));
}

#[test]
fn s10_leases_need_their_flag() {
    let mut pair = Pair::active();
    let session = pair.open(&SessionOpen::default());
    assert!(leased(&mut pair, session, a_put(1), a_lease(session), b"object").is_err());
    // One that comes all the same is refused with its code.
    let ack = put_raw(&mut pair, session, a_lease(session)).0;
    assert_eq!(ack.status, CacheAckStatus::Rejected);
    assert_eq!(ack.detail_code, SessionErrorCode::LEASE_POLICY_REJECTED.raw());
    assert_eq!(pair.server.snapshot().cache_entries, 0);
}

#[test]
fn k8_a_failed_reference_in_a_submit_is_an_error_of_its_frame() {
    let (mut pair, session) = storing();
    let submit = |operation_id, lo| {
        let reference = ObjectReferenceBlock {
            object_kind: CacheObjectKind::TOOL_SCHEMA,
            cache_namespace: 1,
            cache_key_lo: lo,
            ..ObjectReferenceBlock::default()
        };
        SubmitBuilder::new(FrameSubmit { operation_id, ..FrameSubmit::default() })
            .reference(reference)
            .token(DescriptorFlags::empty(), b"words")
            .to_vec(&say::operation(session, operation_id))
            .expect("a good submit")
    };
    pair.client.send(&say::session(session), &say::put(1, b"object"), pair.now).expect("room");
    assert!(pair.client.submit(&submit(1, 1), pair.now).expect("room"));
    assert!(pair.client.submit(&submit(2, 9), pair.now).expect("room"));
    pair.settle();
    let ended: Vec<_> = pair
        .client_events()
        .into_iter()
        .filter_map(|event| match event {
            Event::Ended { outcome, .. } => Some((outcome.operation, outcome.cause)),
            _ => None,
        })
        .collect();
    let code = ErrorCode::from_raw(CacheErrorCode::CacheMiss as u32).expect("a code");
    assert_eq!(ended, [(2, nnrp_core::state::operation::Cause::Error(code))]);
    assert_eq!(pair.server.snapshot().operations, 1);
    assert_eq!(
        pair.server
            .cache()
            .get(&nnrp_core::state::cache::Key {
                space: session,
                namespace: 1,
                hi: 0,
                lo: 1,
                kind: CacheObjectKind::TOOL_SCHEMA,
            })
            .expect("it is there")
            .hits,
        1
    );
}

/// CACHE_PUT of a schema.
fn put_schema(
    pair: &mut Pair,
    session: u32,
    schema_id: u32,
    version: u32,
    needs: &[(u32, u32)],
    body: &[u8],
) {
    let mut header = SchemaDescriptorHeader {
        schema_id,
        schema_version: version,
        profile_id: ProfileId::TOKEN,
        min_version_major: 1,
        max_version_major: 1,
        schema_flags: SchemaFlags::CACHEABLE | SchemaFlags::HASH_STABLE | SchemaFlags::DEFAULT_BINDABLE,
        ..SchemaDescriptorHeader::default()
    };
    header.schema_hash = body.iter().map(|byte| u64::from(*byte)).sum();
    let dependencies: Vec<SchemaDependency> = needs
        .iter()
        .map(|(id, version)| SchemaDependency {
            dependency_kind: SchemaDependencyKind::Schema,
            schema_id: *id,
            schema_version: *version,
            ..SchemaDependency::default()
        })
        .collect();
    let mut schema = Schema::new(header);
    for dependency in &dependencies {
        schema = schema.dependency(dependency);
    }
    let descriptor = schema.body(body).to_vec().expect("a good schema");
    let put = CachePut {
        object_kind: CacheObjectKind::from_raw(0x8001).expect("private"),
        cache_key_lo: (u64::from(schema_id) << 32) + u64::from(version),
        ..CachePut::default()
    };
    let ext = ControlExtensionEntries::default();
    let message = Message::CachePut(put, CachePutBody { object: &descriptor, ext });
    // Both ends know it: the client because it made it.
    let _ = pair.client.install_schema(&SchemaDescriptorHeader { body_bytes: 0, ..header }, &dependencies);
    pair.client.send(&say::session(session), &message, pair.now).expect("room");
    pair.settle();
}

/// A submit with a payload of that schema.
fn bound(session: u32, operation_id: u64, schema_id: u32, schema_version: u32) -> Vec<u8> {
    let descriptor = TypedPayloadDescriptor {
        profile_id: ProfileId::TOKEN,
        schema_id,
        schema_version,
        ..TypedPayloadDescriptor::default()
    };
    let submit = FrameSubmit {
        operation_id,
        payload_kind_bitmap: PayloadKindBitmap::TOKEN_CHUNK,
        ..FrameSubmit::default()
    };
    SubmitBuilder::new(submit)
        .payload(&descriptor, b"words")
        .to_vec(&say::operation(session, operation_id))
        .expect("a good submit")
}

#[test]
fn g1_g3_g7_x4_x5_schemas_come_as_objects_and_explain_payloads() {
    let (mut pair, session) = storing();
    let id = 0x1_0001;
    // Unknown on the server alone.
    let code = |pair: &mut Pair, bytes: &[u8]| {
        pair.server.handle_bytes(bytes, pair.now);
        let mut code = None;
        while let Some(event) = pair.server.poll_event() {
            if let Event::Refused { why, .. } = event {
                code = Some(why.code());
            }
        }
        let waiting = pair.server.poll_output().len();
        pair.server.consume_output(waiting);
        code
    };
    let schema = |code: SchemaErrorCode| ErrorCode::from_raw(code.raw());
    assert_eq!(code(&mut pair, &bound(session, 1, id, 1)), schema(SchemaErrorCode::SchemaUnknown));
    put_schema(&mut pair, session, id, 1, &[], b"body");
    assert!(matches!(answered(&mut pair)[..], [(CacheAckStatus::Accepted, None, None)]));
    assert_eq!(code(&mut pair, &bound(session, 1, id, 1)), None);
    assert_eq!(code(&mut pair, &bound(session, 2, id, 9)), schema(SchemaErrorCode::SchemaVersionUnknown));
    // G1: the same again is fine, another body under the same version is not, and the first stays.
    put_schema(&mut pair, session, id, 1, &[], b"bodz");
    let conflict = schema(SchemaErrorCode::SchemaHashConflict);
    let answers = answered(&mut pair);
    assert_eq!((answers[0].0, answers[0].1), (CacheAckStatus::Rejected, conflict));
    assert_eq!(pair.server.schemas().get(id, 1).expect("the first").header.schema_hash, 430);
    // X5: what needs something that is not there is refused, and what needs something fails with it.
    put_schema(&mut pair, session, id + 1, 1, &[(id + 9, 1)], b"needs");
    let missing = schema(SchemaErrorCode::SchemaDependencyMissing);
    assert_eq!(answered(&mut pair)[0].1, missing);
    put_schema(&mut pair, session, id + 1, 1, &[(id, 1)], b"needs");
    assert_eq!(answered(&mut pair)[0].0, CacheAckStatus::Accepted);
    assert_eq!(code(&mut pair, &bound(session, 3, id + 1, 1)), None);
    let invalidate = CacheInvalidate {
        invalidate_scope: CacheInvalidateScope::ObjectKey,
        cache_key_lo: (u64::from(id) << 32) + 1,
        ..CacheInvalidate::default()
    };
    let ext = ControlExtensionEntries::default();
    pair.client
        .send(
            &say::session(session),
            &Message::CacheInvalidate(invalidate, CacheInvalidateBody { ext }),
            pair.now,
        )
        .expect("it is open");
    pair.settle();
    assert!(code(&mut pair, &bound(session, 4, id, 1)).is_some(), "G3");
    assert_eq!(code(&mut pair, &bound(session, 5, id + 1, 1)), missing, "G3");
}

#[test]
fn g3_k4_nothing_depends_on_a_schema_that_is_of_no_use_any_more() {
    let (mut pair, session) = storing();
    let id = 0x1_0001;
    put_schema(&mut pair, session, id, 1, &[], b"body");
    put_schema(&mut pair, session, id + 1, 1, &[(id, 1)], b"needs");
    let depend = |pair: &mut Pair, lo, id| {
        pair.client.send(&say::session(session), &say::put(lo, b"object"), pair.now).expect("room");
        pair.settle();
        let kind = CacheObjectKind::TOOL_SCHEMA;
        let object = Node::Object(Key { space: session, namespace: 1, hi: 0, lo, kind });
        let schema = Need::any(Node::Schema { id, version: 1 });
        pair.server.depend(object, &[schema]).map_err(|why| why.code()).err()
    };
    assert_eq!([depend(&mut pair, 1, id), depend(&mut pair, 2, id + 1)], [None; 2]);
    let invalidate = CacheInvalidate {
        invalidate_scope: CacheInvalidateScope::ObjectKey,
        cache_key_lo: (u64::from(id) << 32) + 1,
        ..CacheInvalidate::default()
    };
    let message = Message::CacheInvalidate(invalidate, CacheInvalidateBody::default());
    pair.client.send(&say::session(session), &message, pair.now).expect("it is open");
    pair.settle();
    let invalid = ErrorCode::from_raw(CacheErrorCode::DependencyInvalid as u32);
    assert_eq!([depend(&mut pair, 3, id), depend(&mut pair, 4, id + 1)], [invalid; 2]);
}

#[test]
fn g4_a_broken_schema_is_a_put_that_is_refused() {
    let (mut pair, session) = storing();
    // What is no descriptor at all is refused by any reader; one that is missing is a put like any other.
    let object_kind = CacheObjectKind::from_raw(0x8001).expect("private");
    let put = CachePut { object_kind, ..CachePut::default() };
    let body = CachePutBody { object: b"", ext: ControlExtensionEntries::default() };
    pair.client.send(&say::session(session), &Message::CachePut(put, body), pair.now).expect("room");
    pair.settle();
    let answers = answered(&mut pair);
    assert_eq!(answers.len(), 1);
    assert_eq!((answers[0].0, answers[0].1), (CacheAckStatus::Rejected, Some(ErrorCode::MALFORMED_BODY)));
    assert_eq!(pair.server.snapshot().cache_entries, 0);
}

#[test]
fn s8_a_default_schema_has_to_be_known() {
    let (mut pair, session) = storing();
    put_schema(&mut pair, session, 0x1_0001, 1, &[], b"body");
    pair.client_events();
    for (schema_id, good) in [(0x1_0001, true), (0x1_0002, false)] {
        let open = SessionOpen {
            profile_id: ProfileId::TOKEN,
            schema_id,
            schema_version: 1,
            ..SessionOpen::default()
        };
        pair.client.open_session(&open, b"", pair.now).expect("room");
        pair.settle();
        let refused = pair.client_events().into_iter().find_map(|event| match event {
            Event::SessionRefused { code, .. } => Some(code),
            _ => None,
        });
        assert_eq!(refused, (!good).then_some(SessionErrorCode::SCHEMA_UNSUPPORTED));
    }
}

#[test]
fn j1_j2_j3_j4_objects_are_declared_changed_used_and_released() {
    let (mut pair, session) = storing();
    pair.submit(session, 1).expect("room");
    pair.settle();
    let (header, now) = (say::session(session), pair.now);
    let declare = |object_id, session_id, lifetime_hint_ms| {
        let descriptor = ObjectDescriptor {
            object_id,
            session_id,
            producer_role: Role::CLIENT,
            consumer_role: Role::SERVER,
            byte_size: 100,
            lifetime_hint_ms,
            ..ObjectDescriptor::default()
        };
        Message::ObjectDeclare(descriptor, ObjectDeclareBody { object_metadata: b"" })
    };
    let delta = |delta_sequence, region_offset| {
        let delta = ObjectDelta {
            object_id: 1,
            delta_sequence,
            region_offset,
            region_bytes: 10,
            ..ObjectDelta::default()
        };
        Message::ObjectDelta(delta, ObjectDeltaBody { delta_metadata: b"", delta: b"" })
    };
    let client = &mut pair.client;
    client.send(&header, &declare(1, session, 0), now).expect("a new one");
    assert!(client.send(&header, &declare(1, session, 0), now).is_err(), "J1: it is there already");
    assert!(client.send(&header, &declare(2, session + 1, 0), now).is_err(), "J1: of another session");
    client.send(&header, &declare(3, session, 700), now).expect("a new one");
    assert!(client.send(&header, &delta(2, 0), now).is_err(), "J3: they start at 1");
    client.send(&header, &delta(1, 0), now).expect("the first");
    assert!(client.send(&header, &delta(2, 95), now).is_err(), "J3: it does not lie within");
    client.send(&header, &delta(2, 90), now).expect("the next");
    let reference = ObjectReference { object_id: 1, operation_id: 1, ..ObjectReference::default() };
    let reference = Message::ObjectRef(reference, ObjectRefBody { reference_metadata: b"" });
    client.send(&header, &reference, now).expect("both are there");
    let unknown = ObjectReference { object_id: 9, ..ObjectReference::default() };
    let unknown = Message::ObjectRef(unknown, ObjectRefBody { reference_metadata: b"" });
    assert!(client.send(&header, &unknown, now).is_err(), "J2");
    pair.settle();
    for end in [&pair.client, &pair.server] {
        assert_eq!(end.session_snapshot(session).unwrap().objects, 2);
    }
    // J4: a lifetime passes, a final release frees.
    pair.server_events();
    pair.wait(700);
    assert!(pair.server_events().contains(&Event::Freed { session_id: session, objects: vec![3] }));
    let release = ObjectRelease {
        object_id: 1,
        source_role: Role::CLIENT,
        flags: ObjectReleaseFlags::FINAL_RELEASE,
        ..ObjectRelease::default()
    };
    let release = Message::ObjectRelease(release, ObjectReleaseBody { diagnostic: b"" });
    pair.client.send(&header, &release, pair.now).expect("it is there");
    assert!(pair.client.send(&header, &release, pair.now).is_err(), "J2: it is gone");
    pair.settle();
    for end in [&pair.client, &pair.server] {
        assert_eq!(end.session_snapshot(session).unwrap().objects, 0);
    }
    assert!(!pair.server_events().iter().any(|event| matches!(event, Event::Refused { .. })));
    // What is of an operation that has ended goes nowhere.
    pair.server.send_packet(&result(session, 1), pair.now).expect("it lives");
    pair.settle();
    pair.client.send(&header, &declare(4, session, 0), pair.now).expect("a new one");
    let reference = ObjectReference { object_id: 4, operation_id: 1, ..ObjectReference::default() };
    let reference = Message::ObjectRef(reference, ObjectRefBody { reference_metadata: b"" });
    assert!(say(&mut pair.client, session, 1, &reference, pair.now).is_err());
}
