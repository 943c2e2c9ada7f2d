//! A peer that means harm: memory stays under its limits, and no call takes longer than its own input asks for.

use std::time::{Duration, Instant};

use nnrp_core::build::{Extensions, Schema};
use nnrp_core::state::connection::{Config, Connection, Event};
use nnrp_core::state::{Side, Time};
use nnrp_core::*;
use nnrp_tests::pair::{self, Pair, result, submit};

use super::say;

/// A server with small limits, and a session on it.
fn small() -> (Pair, u32) {
    let mut server = Config::new(Side::Server);
    server.events = 500;
    server.event_bytes = 200_000;
    server.output_bytes = 50_000;
    server.sessions.pending = 20;
    server.sessions.sessions = 30;
    server.operations.early_deadlines = 10;
    server.objects.objects = 10;
    server.cache.entries = 10;
    server.cache.bytes = 10_000;
    server.graph.edges = 50;
    server.schemas.schemas = 8;
    let mut pair = Pair::with(Config::new(Side::Client), server);
    pair.greet();
    let open = SessionOpen { session_flags: SessionFlags::all(), ..SessionOpen::default() };
    let session = pair.open(&open);
    (pair, session)
}

/// Gives the server packets for as long as it takes them, and says how many it took whole. Nothing is fetched.
fn flood(pair: &mut Pair, count: u64, mut packet: impl FnMut(u64) -> Vec<u8>) -> u64 {
    for at in 0..count {
        let bytes = packet(at);
        let taken = pair.server.handle_bytes(&bytes, pair.now);
        let snapshot = pair.server.snapshot();
        let config = pair.server.config();
        // One packet may go over, and by no more than what it asks for.
        assert!(snapshot.events <= config.events + 600, "{snapshot:?}");
        assert!(snapshot.output_bytes <= config.output_bytes + 100_000, "{snapshot:?}");
        if taken < bytes.len() {
            assert!(pair.server.is_full());
            return at;
        }
    }
    count
}

/// Everything that waits is fetched and thrown away.
fn fetch(pair: &mut Pair) -> Vec<Event> {
    let waiting = pair.server.poll_output().len();
    pair.server.consume_output(waiting);
    std::iter::from_fn(|| pair.server.poll_event()).collect()
}

#[test]
fn f6_requests_that_nobody_answers_stop_the_reading() {
    let (mut pair, _) = small();
    let open = SessionOpen::default();
    let packet =
        Message::SessionOpen(open, SessionOpenBody::default()).to_vec(&CommonHeader::default()).unwrap();
    let took = flood(&mut pair, 1_000, |_| packet.clone());
    assert_eq!(took, 20);
    assert_eq!(pair.server.sessions().opening(), 20);
    // Answering goes on where it stopped, and over the limit of sessions all are refused.
    let mut refused = 0;
    for _ in 0..60 {
        for event in fetch(&mut pair) {
            match event {
                Event::SessionRequested { ticket, .. } => {
                    let policy = pair.policy;
                    pair.server
                        .answer_open(ticket, &policy, Default::default(), &mut pair.shelf, pair.now)
                        .expect("it waits");
                }
                Event::SessionRefused { code, .. } => {
                    assert_eq!(code, SessionErrorCode::SESSION_LIMIT_REACHED);
                    refused += 1;
                }
                _ => {}
            }
        }
        flood(&mut pair, 1, |_| packet.clone());
    }
    assert_eq!(pair.server.snapshot().sessions, 30);
    assert!(refused > 20);
}

#[test]
fn f6_what_nobody_fetches_stops_the_reading() {
    let (mut pair, session) = small();
    // Refused submits leave an event and an answer each.
    let took = flood(&mut pair, 100_000, |at| submit(session, 1 + at % 300, 0));
    assert!(took < 1_000, "{took}");
    assert!(pair.server.is_full());
    fetch(&mut pair);
    assert!(!pair.server.is_full());
    let ping = Message::Ping.to_vec(&CommonHeader::default()).unwrap();
    let took = flood(&mut pair, 100_000, |_| ping.clone());
    assert!(took < 2_000, "{took}");
    fetch(&mut pair);
    // Few events with large packets count by their bytes.
    let large = vec![7; 60_000];
    let took = flood(&mut pair, 1_000, |at| say::put(at, &large).to_vec(&say::session(session)).unwrap());
    assert!(took <= 500, "{took}");
}

#[test]
fn f6_events_count_by_their_bytes() {
    let (mut pair, session) = small();
    let body = vec![7; 60_000];
    let progress = Progress { operation_id: 1, ..Progress::default() };
    pair.submit(session, 1).expect("room");
    pair.settle();
    let took = flood(&mut pair, 1_000, |at| {
        let progress = Progress { progress_sequence: at + 1, ..progress };
        Message::Progress(progress, ProgressBody { progress_body: &body })
            .to_vec(&say::operation(session, 1))
            .unwrap()
    });
    assert!((3..=5).contains(&took), "{took}");
}

#[test]
fn k6_o9_j1_everything_that_grows_has_its_limit() {
    let (mut pair, session) = small();
    for round in 0..500u64 {
        let all = [
            // Deadlines of operations that never come (O9).
            {
                let mut message = say::deadline(1_000 + round, 1 << 40, SchedulingFlags::empty());
                if let Message::Deadline(scheduling) = &mut message {
                    scheduling.control_sequence = round + 1;
                }
                message.to_vec(&say::operation(session, 1_000 + round)).unwrap()
            },
            // Objects of the cache, with and without leases (K2, K6).
            say::put(round, b"object").to_vec(&say::session(session)).unwrap(),
            {
                let lease = CacheLeaseExtension {
                    owner_scope: LeaseOwnerScope::Session,
                    owner_id: session.into(),
                    ttl_ms: 1 << 30,
                    ..CacheLeaseExtension::default()
                };
                let block = Extensions::new(MessageType::CachePut).known(lease);
                let ext = block.entries().unwrap();
                let put = CachePut {
                    cache_namespace: 2,
                    object_kind: CacheObjectKind::TOOL_SCHEMA,
                    cache_key_lo: round,
                    ..CachePut::default()
                };
                Message::CachePut(put, CachePutBody { object: b"x", ext })
                    .to_vec(&say::session(session))
                    .unwrap()
            },
            // Runtime objects (J1).
            {
                let declare = ObjectDescriptor {
                    object_id: round + 1,
                    session_id: session,
                    producer_role: Role::CLIENT,
                    consumer_role: Role::SERVER,
                    ..ObjectDescriptor::default()
                };
                Message::ObjectDeclare(declare, ObjectDeclareBody { object_metadata: b"" })
                    .to_vec(&say::session(session))
                    .unwrap()
            },
            // Offers (U4).
            {
                let offer = nnrp_core::state::capability::Offer::new(
                    ProfileId::from_raw(round as u16).unwrap(),
                    ["object.delta"],
                    Default::default(),
                );
                let (capability, bytes) = offer.write().expect("tokens that can be written");
                let capability_entries = CapabilityTokens::new(&bytes).unwrap();
                Message::CapabilityNegotiation(capability, CapabilityNegotiationBody { capability_entries })
                    .to_vec(&say::session(session))
                    .unwrap()
            },
            // Deltas of an object, old epochs, traces of frames that are not there.
            {
                let delta = ObjectDelta { object_id: 1, delta_sequence: round, ..ObjectDelta::default() };
                Message::ObjectDelta(delta, ObjectDeltaBody { delta_metadata: b"", delta: b"" })
                    .to_vec(&say::session(session))
                    .unwrap()
            },
            {
                let trace = TraceContext { trace_id: 1, span_id: 1, ..TraceContext::default() };
                Message::TraceContext(trace, TraceContextBody { trace_attributes: b"" })
                    .to_vec(&say::operation(session, round + 1))
                    .unwrap()
            },
            {
                let credit = Pressure {
                    scope_id: round + 1,
                    credit_window: 1,
                    flags: PressureFlags::APPLIES_TO_OPERATION,
                    ..Pressure::default()
                };
                Message::CreditUpdate(credit).to_vec(&say::session(session)).unwrap()
            },
        ];
        for bytes in all {
            assert_eq!(pair.server.handle_bytes(&bytes, pair.now), bytes.len());
            fetch(&mut pair);
        }
    }
    let snapshot = pair.server.snapshot();
    let seen = pair.server.session_snapshot(session).expect("it is live");
    assert_eq!(seen.early_deadlines, 10);
    assert_eq!(seen.objects, 10);
    assert!(snapshot.cache_entries <= 10 && snapshot.cache_bytes <= 10_000, "{snapshot:?}");
    assert!(pair.server.cache().leases() <= 10);
    assert!(snapshot.dependencies <= 50);
}

#[test]
fn g4_schemas_with_many_dependencies_are_bounded() {
    let (mut pair, session) = small();
    for round in 0..50u32 {
        let header = SchemaDescriptorHeader {
            schema_id: 0x1_0000 + round,
            schema_version: 1,
            profile_id: ProfileId::TOKEN,
            min_version_major: 1,
            max_version_major: 1,
            ..SchemaDescriptorHeader::default()
        };
        let mut builder = Schema::new(header);
        for other in 0..60 {
            // Of themselves, of each other in a ring, and of what is not there.
            builder = builder.dependency(&SchemaDependency {
                schema_id: 0x1_0000 + (round + other) % 50,
                schema_version: 1,
                ..SchemaDependency::default()
            });
        }
        let descriptor = builder.to_vec().expect("a good descriptor");
        let put = CachePut {
            object_kind: CacheObjectKind::from_raw(0x8001).unwrap(),
            cache_key_lo: round.into(),
            ..CachePut::default()
        };
        let ext = ControlExtensionEntries::default();
        let bytes = Message::CachePut(put, CachePutBody { object: &descriptor, ext })
            .to_vec(&say::session(session))
            .unwrap();
        let began = Instant::now();
        assert_eq!(pair.server.handle_bytes(&bytes, pair.now), bytes.len());
        assert!(began.elapsed() < Duration::from_secs(1));
        fetch(&mut pair);
        let snapshot = pair.server.snapshot();
        assert!(snapshot.schemas <= 8 + 1 && snapshot.dependencies <= 50, "{snapshot:?}");
    }
}

/// A pair with one session of as many operations as there may be.
fn wide(operations: u64, chain: bool) -> (Pair, u32) {
    let mut pair = Pair::default();
    pair.abilities.max_concurrent_frames = 0;
    pair.greet();
    pair.policy.max_in_flight = u16::MAX;
    pair.policy.credit = u16::MAX;
    let session = pair.open(&SessionOpen { requested_session_id: 5, ..SessionOpen::default() });
    for operation in 1..=operations {
        let parent = if chain { operation - 1 } else { 0 };
        let bytes = submit(session, operation, parent);
        assert_eq!(pair.server.handle_bytes(&bytes, pair.now), bytes.len());
        if operation % 10_000 == 0 {
            fetch(&mut pair);
        }
    }
    fetch(&mut pair);
    assert_eq!(pair.server.snapshot().operations, operations);
    (pair, session)
}

#[test]
fn o3_a_chain_of_parents_ends_without_a_deep_stack() {
    let count = 60_000;
    let (mut pair, session) = wide(count, true);
    let extension = CancelScopeExtension { cancel_scope: CancelScope::Subtree, operation_id: 2 };
    let block = Extensions::new(MessageType::FrameCancel).known(extension);
    let message = Message::FrameCancel(FrameCancelBody { ext: block.entries().unwrap() });
    let bytes = message.to_vec(&say::session(session)).unwrap();
    assert_eq!(pair.server.handle_bytes(&bytes, pair.now), bytes.len());
    let asked = fetch(&mut pair).iter().filter(|event| matches!(event, Event::CancelAsked { .. })).count();
    assert_eq!(asked as u64, count - 1);
    // A session that is aborted takes all of them.
    let mut abort = say::abort(0);
    if let Message::Abort(request, _) = &mut abort {
        request.control_sequence = 1;
    }
    let bytes = abort.to_vec(&say::session(session)).unwrap();
    assert_eq!(pair.server.handle_bytes(&bytes, pair.now), bytes.len());
    let ended = fetch(&mut pair).iter().filter(|event| matches!(event, Event::Ended { .. })).count();
    assert_eq!(ended as u64, count);
    assert_eq!(pair.server.snapshot().operations, 0);
}

/// The best time of several calls, so that what else runs on the machine counts little.
fn best(rounds: usize, mut call: impl FnMut(usize)) -> Duration {
    let times = (0..rounds).map(|round| {
        let began = Instant::now();
        call(round);
        began.elapsed()
    });
    times.min().expect("there are rounds")
}

/// Calls of one input each take about as long whatever there is beside it.
fn alike(name: &str, few: Duration, many: Duration) {
    let few = few.max(Duration::from_micros(20));
    assert!(many < few * 12, "{name}: {few:?} with few, {many:?} with many");
}

/// Feeds bytes, and throws away what comes of them.
fn feed(end: &mut Connection, bytes: &[u8], now: Time) {
    assert_eq!(end.handle_bytes(bytes, now), bytes.len());
    let waiting = end.poll_output().len();
    end.consume_output(waiting);
    while end.poll_event().is_some() {}
}

#[test]
fn f6_a_call_takes_no_longer_where_there_is_more_beside_it() {
    let mut few = wide(100, false);
    let mut many = wide(50_000, false);
    let now = few.0.now;
    type Make = fn(u32, u64) -> Vec<u8>;
    let calls: [(&str, Make); 6] = [
        ("submit", |session, at| submit(session, 60_000 + at, 0)),
        ("duplicate", |session, _| submit(session, 7, 0)),
        ("unknown", |session, at| say::cancel(90_000 + at).to_vec(&say::session(session)).unwrap()),
        ("cancel", |session, at| {
            let mut cancel = say::cancel(1 + at);
            if let Message::Cancel(request, _) = &mut cancel {
                request.control_sequence = 10 + at;
            }
            cancel.to_vec(&say::session(session)).unwrap()
        }),
        ("put", |session, at| say::put(at, b"object").to_vec(&say::session(session)).unwrap()),
        ("ping", |_, _| Message::Ping.to_vec(&CommonHeader::default()).unwrap()),
    ];
    for (name, make) in calls {
        let time = |(pair, session): &mut (Pair, u32)| {
            best(40, |round| feed(&mut pair.server, &make(*session, round as u64), now))
        };
        let (one, other) = (time(&mut few), time(&mut many));
        alike(name, one, other);
    }
    let ends = |(pair, session): &mut (Pair, u32)| {
        best(40, |round| {
            pair.server.send_packet(&result(*session, 50 + round as u64), now).expect("it lives");
            fetch(pair);
        })
    };
    let (one, other) = (ends(&mut few), ends(&mut many));
    alike("result", one, other);
    let time = |pair: &mut Pair| best(40, |_| pair.server.handle_timeout(now));
    alike("timeout", time(&mut few.0), time(&mut many.0));
}

#[test]
fn c2_a_call_takes_no_longer_where_there_are_more_sessions() {
    let open = |count: u32| {
        let mut pair = Pair::active();
        for id in 1..=count {
            pair.open(&SessionOpen { requested_session_id: id, ..SessionOpen::default() });
        }
        pair
    };
    let (mut few, mut many) = (open(20), open(4_000));
    let now = few.now;
    let mut at = 0;
    let mut round = |pair: &mut Pair| {
        best(30, |_| {
            at += 1;
            pair.submit(7, at).expect("room");
            pair::carry(&mut pair.client, &mut pair.server, pair::Link::Whole, now);
            pair.server.send_packet(&result(7, at), now).expect("it lives");
            pair::carry(&mut pair.server, &mut pair.client, pair::Link::Whole, now);
            pair.client.ping(now);
            pair.settle();
            pair.client_events();
            pair.server_events();
        })
    };
    let (one, other) = (round(&mut few), round(&mut many));
    alike("an operation and a PING", one, other);
    let sessions = |pair: &mut Pair| {
        let mut id = 10_000;
        best(20, |_| {
            id += 1;
            pair.open(&SessionOpen { requested_session_id: id, ..SessionOpen::default() });
        })
    };
    let (one, other) = (sessions(&mut few), sessions(&mut many));
    alike("a session", one, other);
}
