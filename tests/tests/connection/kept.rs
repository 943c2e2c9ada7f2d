//! Rules in the places where the connection keeps them, each of which the mutants of the rule take away.

use nnrp_core::build::{Extensions, ResultBuilder, Schema, SubmitBuilder};
use nnrp_core::state::cache::{Key, Need, Node};
use nnrp_core::state::connection::{Config, Connection, Event, Why, drain_within};
use nnrp_core::state::{Side, Time, hello, session};
use nnrp_core::*;
use nnrp_tests::pair::{Link, Pair, carry, result, submit};

use super::say::{self, say};

/// An active connection with a session that may do everything.
fn open() -> (Pair, u32) {
    let mut pair = Pair::active();
    let session = session(&mut pair);
    (pair, session)
}

fn session(pair: &mut Pair) -> u32 {
    pair.open(&SessionOpen {
        session_flags: SessionFlags::all(),
        profile_id: ProfileId::TOKEN,
        ..SessionOpen::default()
    })
}

/// With so many live operations in it, from 1 on.
fn working(operations: u64) -> (Pair, u32) {
    let (mut pair, session) = open();
    for id in 1..=operations {
        assert!(pair.submit(session, id).expect("room"));
    }
    pair.settle();
    pair.client_events();
    pair.server_events();
    (pair, session)
}

fn raw(header: CommonHeader, message: &Message<'_>) -> Vec<u8> {
    message.to_vec(&header).expect("a good packet")
}

/// The rule of a refusal.
fn rule(why: &Why) -> &'static str {
    match why {
        Why::Refusal(refusal) => refusal.rule,
        other => panic!("{other}"),
    }
}

/// The ERRORs that an end says to some bytes.
fn errors(end: &mut Connection, bytes: &[u8], now: Time) -> Vec<Error> {
    assert_eq!(end.poll_output(), b"", "something waits already");
    assert_eq!(end.handle_bytes(bytes, now), bytes.len());
    let mut rest = end.poll_output().to_vec();
    end.consume_output(rest.len());
    let mut errors = Vec::new();
    while !rest.is_empty() {
        let size = 40
            + u32::from_le_bytes(rest[12..16].try_into().expect("four bytes")) as usize
            + u32::from_le_bytes(rest[16..20].try_into().expect("four bytes")) as usize;
        if let Message::Error(error, _) = Packet::parse(&rest[..size]).expect("a packet").message() {
            errors.push(error);
        }
        rest.drain(..size);
    }
    errors
}

fn ends(events: &[Event]) -> Vec<(u64, OperationState)> {
    let end = |event: &Event| match event {
        Event::Ended { outcome, .. } => Some((outcome.operation, outcome.state)),
        _ => None,
    };
    events.iter().filter_map(end).collect()
}

#[test]
fn c2_closing_one_session_ends_nothing_of_another() {
    let (mut pair, first) = open();
    let second = session(&mut pair);
    for session in [first, second] {
        assert!(pair.submit(session, 1).expect("room"));
    }
    pair.settle();
    let abort = SessionClose { in_flight_policy: InFlightPolicy::Abort, ..SessionClose::default() };
    pair.client.close_session(first, &abort, pair.now).expect("it is open");
    pair.settle();
    pair.server.accept_close(first, pair.now).expect("it was asked for");
    pair.settle();
    for end in [&pair.client, &pair.server] {
        assert!(end.session_snapshot(first).is_none());
        let seen = end.session_snapshot(second).expect("a live session");
        assert_eq!((seen.state, seen.operations, seen.credit.in_flight), (SessionState::Open, 1, 1));
    }
    pair.server.send_packet(&result(second, 1), pair.now).expect("it lives");
}

#[test]
fn c4_a_message_of_the_connection_is_answered_there_whatever_session_it_names() {
    let (mut pair, session) = open();
    let mut ping = raw(CommonHeader::default(), &Message::Ping);
    ping[CommonHeader::SESSION_ID_OFFSET..][..4].copy_from_slice(&session.to_le_bytes());
    assert!(Packet::parse(&ping).is_err(), "F5");
    let errors = errors(&mut pair.server, &ping, pair.now);
    let [error] = errors[..] else { panic!("{errors:?}") };
    assert_eq!((error.error_scope, error.is_fatal), (ErrorScope::Connection, false));
}

#[test]
fn c4_an_unsupported_version_ends_a_connection_that_works() {
    let (mut pair, _) = open();
    let mut hello = raw(
        CommonHeader::default(),
        &Message::ClientHello(hello::Offer::new().hello, ClientHelloBody::default()),
    );
    // A window without 1.
    hello[40 + ClientHello::MIN_VERSION_MAJOR_OFFSET] = 2;
    hello[40 + ClientHello::MAX_VERSION_MAJOR_OFFSET] = 3;
    let errors = errors(&mut pair.server, &hello, pair.now);
    let [error] = errors[..] else { panic!("{errors:?}") };
    assert_eq!(
        (error.error_code, error.error_scope),
        (ErrorCode::UNSUPPORTED_VERSION, ErrorScope::Connection)
    );
    assert!(error.is_fatal && pair.server.state() != ConnectionState::Active);
}

#[test]
fn c4_a_fatal_error_of_a_session_ends_that_session_only() {
    for fatal in [true, false] {
        let (mut pair, first) = open();
        let second = session(&mut pair);
        assert!(pair.submit(first, 1).expect("room"));
        pair.settle();
        pair.client_events();
        let error = Error {
            error_code: ErrorCode::LIMIT_EXCEEDED,
            error_scope: ErrorScope::Session,
            is_fatal: fatal,
            related_session_id: first,
            ..Error::default()
        };
        let message = Message::Error(error, ErrorBody::default());
        pair.server.send(&say::session(first), &message, pair.now).expect("it is open");
        pair.settle();
        for end in [&pair.client, &pair.server] {
            assert_eq!(end.session_snapshot(first).is_none(), fatal);
            assert!(end.session_snapshot(second).is_some());
        }
        assert_eq!(ends(&pair.client_events()).len(), usize::from(fatal));
    }
}

#[test]
fn c5_the_number_of_a_refused_message_is_not_heard() {
    let (mut pair, session) = working(1);
    let cancel = |operation_id, control_sequence| {
        let request = ControlRequest {
            operation_id,
            control_sequence,
            source_role: Role::CLIENT,
            ..Default::default()
        };
        Message::Cancel(request, CancelBody { diagnostic: b"" })
    };
    // Of an operation that nobody knows, and one that cannot be read.
    let unknown = raw(say::session(session), &cancel(77, 90));
    let mut broken = raw(say::session(session), &cancel(1, 95));
    broken[40 + ControlRequest::SOURCE_ROLE_OFFSET] = 0;
    assert!(Packet::parse(&broken).is_err(), "D21");
    for bytes in [unknown, broken] {
        assert_eq!(errors(&mut pair.server, &bytes, pair.now).len(), 1);
    }
    while pair.server.poll_event().is_some() {}
    pair.server.handle_bytes(&raw(say::operation(session, 1), &cancel(1, 5)), pair.now);
    let event = pair.server.poll_event();
    assert!(matches!(event, Some(Event::Message { .. })), "5 is the first that counts: {event:?}");
}

#[test]
fn c8_a_request_without_room_waits_for_its_turn() {
    let mut config = Config::new(Side::Server);
    config.sessions.pending = 1;
    let mut pair = Pair::with(Config::new(Side::Client), config);
    pair.greet();
    for _ in 0..3 {
        pair.client.open_session(&SessionOpen::default(), b"", pair.now).expect("room");
    }
    carry(&mut pair.client, &mut pair.server, Link::Whole, pair.now);
    assert!(pair.server.is_full() && !pair.client.poll_output().is_empty());
    pair.settle();
    let opened = |event: &Event| matches!(event, Event::SessionOpened { .. });
    assert_eq!(pair.client_events().iter().filter(|event| opened(event)).count(), 3);
}

#[test]
fn c9_wishes_go_over_the_wire_and_grants_come_back() {
    let mut pair = Pair::default();
    let mut offer = hello::Offer::new();
    let payload_kind_bitmap = offer.hello.supported_payload_kind_bitmap;
    offer.wishes = hello::Wishes {
        transport: Some(TransportPolicyExtension::default()),
        loss: Some(LossToleranceExtension::default()),
        payloads: Some(PayloadCapabilitiesExtension { payload_kind_bitmap }),
    };
    pair.client.hello(&offer, b"", pair.now).expect("a good hello");
    pair.settle();
    let seen = pair.server_events().into_iter().find_map(|event| match event {
        Event::Hello { offer, .. } => Some(offer.wishes),
        _ => None,
    });
    assert_eq!(seen, Some(offer.wishes));
    for end in [&pair.client, &pair.server] {
        let grants = end.agreed().expect("they agreed").grants;
        assert!(
            grants.transport.is_some() && grants.loss.is_some() && grants.payloads.is_some(),
            "{grants:?}"
        );
    }
}

#[test]
fn s3_operations_that_end_with_their_session_have_no_message_of_their_own() {
    let (mut pair, session) = working(2);
    let abort = SessionClose { in_flight_policy: InFlightPolicy::Abort, ..SessionClose::default() };
    pair.client.close_session(session, &abort, pair.now).expect("it is open");
    pair.settle();
    let before = pair.server.snapshot().counters.packets_out;
    pair.server.accept_close(session, pair.now).expect("it was asked for");
    assert_eq!(pair.server.snapshot().counters.packets_out, before + 1, "SESSION_CLOSE_ACK");
    pair.settle();
    let cancelled = [(1, OperationState::Cancelled), (2, OperationState::Cancelled)];
    for events in [pair.client_events(), pair.server_events()] {
        let mut ends = ends(&events);
        ends.sort_by_key(|(id, _)| *id);
        assert_eq!(ends, cancelled);
    }
}

#[test]
fn s9_the_default_deadline_is_that_of_operations_without_one() {
    let mut pair = Pair::active();
    let open = SessionOpen { default_deadline_ms: 700, ..SessionOpen::default() };
    let session = pair.open(&open);
    assert!(pair.submit(session, 1).expect("room"));
    pair.settle();
    for end in [&pair.client, &pair.server] {
        let due = end.operations(session).and_then(|all| all.by_id(1)).and_then(|one| one.due());
        assert_eq!(due, Some(pair.now.after(700)));
    }
}

#[test]
fn s5_a_payload_is_bound_to_what_its_session_has() {
    let mut pair = Pair::active();
    let open = SessionOpen {
        profile_id: ProfileId::TOKEN,
        schema_id: 0x1001,
        schema_version: 3,
        ..SessionOpen::default()
    };
    let session = pair.open(&open);
    let other = SchemaDescriptorHeader {
        schema_id: 0x1_0001,
        schema_version: 1,
        profile_id: ProfileId::TOKEN,
        min_version_major: 1,
        max_version_major: 1,
        ..SchemaDescriptorHeader::default()
    };
    let submit = |operation_id, descriptor| {
        let submit = FrameSubmit {
            operation_id,
            payload_kind_bitmap: PayloadKindBitmap::TOKEN_CHUNK,
            ..FrameSubmit::default()
        };
        let builder = SubmitBuilder::new(submit).payload(&descriptor, b"words");
        builder.to_vec(&say::operation(session, operation_id)).expect("a good submit")
    };
    for end in [&mut pair.client, &mut pair.server] {
        end.install_schema(&other, &[]).expect("a good schema");
    }
    // What leaves all open has the session's profile and schema.
    let open = submit(1, TypedPayloadDescriptor::default());
    assert!(pair.client.submit(&open, pair.now).expect("its session explains it"));
    let descriptor = TypedPayloadDescriptor {
        profile_id: ProfileId::TOKEN,
        schema_id: 0x1_0001,
        schema_version: 1,
        ..TypedPayloadDescriptor::default()
    };
    let why = pair.client.submit(&submit(2, descriptor), pair.now).expect_err("another schema");
    assert_eq!(rule(&why), "S5");
}

/// SUBMIT below a parent and in a group.
fn linked(session: u32, operation_id: u64, links: OperationLinks) -> Vec<u8> {
    SubmitBuilder::new(FrameSubmit { operation_id, ..FrameSubmit::default() })
        .links(links)
        .token(DescriptorFlags::TERMINAL, b"words")
        .to_vec(&say::operation(session, operation_id))
        .expect("a good submit")
}

#[test]
fn o3_who_joins_a_subtree_that_was_asked_to_end_is_asked_too() {
    let (mut pair, session) = working(1);
    let scope = CancelScopeExtension { operation_id: 1, cancel_scope: CancelScope::Subtree };
    cancel(&mut pair, session, scope);
    pair.server_events();
    pair.client.submit(&submit(session, 2, 1), pair.now).expect("room");
    pair.settle();
    let asked = pair.server_events().into_iter().find_map(|event| match event {
        Event::CancelAsked { operation_id, .. } => Some(operation_id),
        _ => None,
    });
    assert_eq!(asked, Some(2));
}

#[test]
fn o5_an_operation_starts_with_the_credit_of_nobody_before() {
    let (mut pair, session) = working(1);
    let none = Pressure {
        scope_id: 1,
        credit_window: 0,
        flags: PressureFlags::APPLIES_TO_OPERATION,
        ..Default::default()
    };
    pair.client.send(&say::session(session), &Message::CreditUpdate(none), pair.now).expect("it lives");
    pair.settle();
    assert!(pair.server.partial(session, 1, b"part", pair.now).is_err());
    pair.server.send_packet(&result(session, 1), pair.now).expect("it lives");
    pair.settle();
    assert!(pair.submit(session, 1).expect("its id is free"));
    pair.settle();
    pair.server.partial(session, 1, b"part", pair.now).expect("it has no limit yet");
}

#[test]
fn o7_a_result_of_what_was_superseded_is_reported_with_its_reason() {
    let (mut pair, session) = working(2);
    say(&mut pair.client, session, 1, &say::supersede(1, 2), pair.now).expect("both live");
    // The result is on its way already.
    pair.server.send_packet(&result(session, 1), pair.now).expect("it lives");
    pair.settle();
    let late = pair.client_events().into_iter().find_map(|event| match event {
        Event::Late { ended: Some(ended), .. } => Some((ended.operation, ended.state, ended.reason)),
        _ => None,
    });
    assert_eq!(late, Some((1, OperationState::Superseded, DropReasonCode::SUPERSEDED)));
}

#[test]
fn o8_an_end_is_not_answered_by_an_end() {
    // The time passes at both ends, and the server says so.
    let (mut pair, session) = working(1);
    let due = pair.now.0 + 500;
    say(&mut pair.client, session, 1, &say::deadline(1, due, SchedulingFlags::all()), pair.now)
        .expect("it lives");
    pair.settle();
    pair.now = pair.now.after(500);
    pair.client.handle_timeout(pair.now);
    pair.server.handle_timeout(pair.now);
    carry(&mut pair.server, &mut pair.client, Link::Whole, pair.now);
    assert!(std::iter::from_fn(|| pair.client.poll_event()).any(|event| matches!(event, Event::Late { .. })));
    assert_eq!(pair.client.poll_output(), b"");
}

#[test]
fn o8_a_change_does_not_bring_back_what_is_over() {
    let (mut pair, session) = working(1);
    let due = pair.now.0 + 500;
    let flags = SchedulingFlags::empty();
    say(&mut pair.client, session, 1, &say::deadline(1, due, flags), pair.now).expect("it lives");
    pair.settle();
    let later = say::deadline(1, due + 90_000, flags);
    let now = pair.now.after(600);
    let why = say(&mut pair.client, session, 1, &later, now).expect_err("its time is over");
    assert_eq!(rule(&why), "O8");
    let events: Vec<Event> = std::iter::from_fn(|| pair.client.poll_event()).collect();
    assert_eq!(ends(&events), [(1, OperationState::Failed)]);
}

#[test]
fn o14_every_control_message_counts_for_its_sender() {
    let (mut pair, session) = working(2);
    let now = pair.now;
    let scheduling = Scheduling { operation_id: 2, deadline_unix_ms: 1 << 40, ..Scheduling::default() };
    let messages = [
        say::supersede(1, 2),
        Message::PriorityUpdate(scheduling),
        Message::Deadline(scheduling),
        Message::ExpireAt(scheduling),
        say::retry(session.into(), 1, RetryAfterFlags::empty()),
        say::cancel(2),
        say::abort(2),
    ];
    for end in [&mut pair.server, &mut pair.client] {
        let mut numbers = Vec::new();
        for message in &messages {
            let operation = if matches!(message, Message::Supersede(..)) { 1 } else { 2 };
            let header = match message {
                Message::RetryAfter(..) => say::session(session),
                _ => say::operation(session, operation),
            };
            end.send(&header, message, now).expect("both live");
            let bytes = end.poll_output().to_vec();
            end.consume_output(bytes.len());
            numbers.push(match Packet::parse(&bytes).expect("one packet").message() {
                Message::Cancel(request, _) | Message::Abort(request, _) => request.control_sequence,
                Message::PriorityUpdate(it) | Message::Deadline(it) | Message::ExpireAt(it) => {
                    it.control_sequence
                }
                Message::Supersede(it, _) => it.control_sequence,
                Message::RetryAfter(it, _) => it.control_sequence,
                other => panic!("{other:?}"),
            });
        }
        assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7]);
    }
}

#[test]
fn w1_the_window_of_the_connection_is_what_the_hello_settled() {
    let mut pair = Pair::default();
    pair.abilities.max_concurrent_frames = 2;
    pair.greet();
    let (one, other) = (session(&mut pair), session(&mut pair));
    let sent =
        [(one, 1), (other, 1), (one, 2)].map(|(session, id)| pair.submit(session, id).expect("it may wait"));
    assert_eq!(sent, [true, true, false]);
    for end in [&pair.client, &pair.server] {
        assert_eq!(end.snapshot().credit.limit, Some(2));
    }
}

#[test]
fn w1_the_client_sets_no_window_of_submits() {
    let (mut pair, session) = open();
    pair.client.send(&say::session(session), &say::credit(1, 9), pair.now).expect("it may say so");
    pair.settle();
    for end in [&pair.client, &pair.server] {
        assert_eq!(end.session_snapshot(session).expect("a live session").credit.limit, Some(256));
    }
}

#[test]
fn w1_a_session_without_credit_holds_up_no_other() {
    // Whichever of the two comes first.
    for swap in [false, true] {
        let mut pair = Pair::active();
        pair.policy.credit = 1;
        let (first, second) = (session(&mut pair), session(&mut pair));
        let (one, other) = if swap { (second, first) } else { (first, second) };
        assert!(pair.submit(one, 1).expect("the place"));
        assert!(!pair.submit(one, 2).expect("it waits"));
        assert!(pair.submit(other, 1).expect("it has a place of its own"));
    }
}

#[test]
fn w3_background_work_goes_on_where_the_rest_waits() {
    let mut pair = Pair::active();
    let [background, balanced] = [SessionPriorityClass::Background, SessionPriorityClass::Balanced]
        .map(|priority_class| pair.open(&SessionOpen { priority_class, ..SessionOpen::default() }));
    let only = FlowUpdate {
        scope_kind: ScopeKind::Connection,
        update_reason: UpdateReason::Congestion,
        flow_flags: FlowFlags::BACKGROUND_ONLY,
        ..FlowUpdate::default()
    };
    pair.server.send(&CommonHeader::default(), &Message::FlowUpdate(only), pair.now).expect("it is active");
    pair.settle();
    assert!(!pair.submit(balanced, 1).expect("it waits"));
    assert!(pair.submit(background, 1).expect("it goes on"));
}

#[test]
fn w4_pressure_that_crosses_a_submit_refuses_nothing() {
    for of_session in [true, false] {
        let (mut pair, session) = open();
        let (scope_kind, header) = match of_session {
            true => (ScopeKind::Session, say::session(session)),
            false => (ScopeKind::Connection, CommonHeader::default()),
        };
        let pause = FlowUpdate {
            scope_kind,
            update_reason: UpdateReason::Pause,
            backpressure_level: BackpressureLevel::Hard,
            ..FlowUpdate::default()
        };
        pair.server.send(&header, &Message::FlowUpdate(pause), pair.now).expect("it is open");
        assert!(pair.submit(session, 1).expect("the client knows nothing of it"));
        pair.settle();
        assert_eq!(pair.server.snapshot().operations, 1);
        assert!(!pair.submit(session, 2).expect("it waits"));
    }
}

#[test]
fn w5_backpressure_presses_on_its_scope() {
    let (mut pair, session) = open();
    let hard = Pressure {
        pressure_level: PressureLevel::HARD,
        flags: PressureFlags::APPLIES_TO_CONNECTION,
        ..Pressure::default()
    };
    pair.server.send(&CommonHeader::default(), &Message::Backpressure(hard), pair.now).expect("it is active");
    pair.settle();
    for end in [&pair.client, &pair.server] {
        assert_eq!(end.snapshot().credit.level, BackpressureLevel::Hard);
        let of_session = end.session_snapshot(session).expect("a live session").credit;
        assert_eq!(of_session.level, BackpressureLevel::None);
    }
    assert!(!pair.submit(session, 1).expect("it waits"));
}

/// CACHE_PUT with X4, or without.
fn put(pair: &mut Pair, session: u32, put: CachePut, lease: Option<CacheLeaseExtension>, object: &[u8]) {
    let mut block = Extensions::new(MessageType::CachePut);
    if let Some(lease) = lease {
        block = block.known(lease);
    }
    let ext = block.entries().expect("a good block");
    let message = Message::CachePut(put, CachePutBody { object, ext });
    pair.client.send(&say::session(session), &message, pair.now).expect("room");
    pair.settle();
}

fn a_put(cache_key_lo: u64) -> CachePut {
    CachePut {
        cache_namespace: 1,
        object_kind: CacheObjectKind::TOOL_SCHEMA,
        cache_key_lo,
        ..CachePut::default()
    }
}

fn key(session: u32, lo: u64) -> Key {
    Key { space: session, namespace: 1, hi: 0, lo, kind: CacheObjectKind::TOOL_SCHEMA }
}

/// What the client was answered about its puts.
fn answered(pair: &mut Pair) -> Vec<(CacheAckStatus, Option<ErrorCode>, Option<CacheLeaseExtension>)> {
    let answer = |event| match event {
        Event::Cached(answered) => Some((answered.status, answered.code, answered.lease)),
        _ => None,
    };
    pair.client_events().into_iter().filter_map(answer).collect()
}

#[test]
fn c6_k6_k8_what_the_hello_settled_is_the_limit_and_the_answer_says_so() {
    for (entries, bytes) in [(1, 1_000), (1_000, 6)] {
        let mut pair = Pair::default();
        (pair.abilities.max_cache_entries, pair.abilities.max_cache_bytes) = (entries, bytes);
        pair.greet();
        let session = session(&mut pair);
        for lo in [1, 2] {
            put(&mut pair, session, a_put(lo), None, b"four");
        }
        let full = (CacheAckStatus::Rejected, Some(ErrorCode::LIMIT_EXCEEDED), None);
        assert_eq!(answered(&mut pair), [(CacheAckStatus::Accepted, None, None), full]);
        assert_eq!(pair.server.snapshot().cache_entries, 1);
    }
}

/// A runtime object of the client's.
fn declare(pair: &mut Pair, session: u32, object_id: u64) {
    let descriptor = ObjectDescriptor {
        object_id,
        session_id: session,
        producer_role: Role::CLIENT,
        consumer_role: Role::SERVER,
        ..ObjectDescriptor::default()
    };
    let message = Message::ObjectDeclare(descriptor, ObjectDeclareBody { object_metadata: b"" });
    pair.client.send(&say::session(session), &message, pair.now).expect("a new one");
    pair.settle();
}

/// What became invalid on the server.
fn reached(pair: &mut Pair) -> Vec<Node> {
    let gone = |event| match event {
        Event::Invalidated(gone) => gone.reached,
        _ => Vec::new(),
    };
    pair.server_events().into_iter().flat_map(gone).collect()
}

#[test]
fn k4_what_the_application_declares_is_reached() {
    let (mut pair, session) = working(3);
    for lo in [1, 2] {
        put(&mut pair, session, a_put(lo), None, b"object");
    }
    declare(&mut pair, session, 7);
    declare(&mut pair, session, 8);
    pair.server_events();
    let server = &mut pair.server;
    let result_of = |operation| Node::Result { session, operation };
    let object = |object| Node::Runtime { session, object };
    let (one, two) = (Node::Object(key(session, 1)), Node::Object(key(session, 2)));
    // 2 needs the result of 1, the result of 3 needs 2, and 1 needs a runtime object.
    server.depend(two, &[Need::any(result_of(1))]).expect("both are there");
    server.depend(result_of(3), &[Need::any(two)]).expect("both are there");
    server.depend(one, &[Need::any(object(7))]).expect("both are there");
    assert_eq!(server.graph().needs(result_of(3)), [Need::any(two)]);
    assert_eq!(server.snapshot().dependencies, 3);
    // A result that fails.
    server.drop_operation(session, 1, DropReasonCode::BUDGET_EXCEEDED, pair.now).expect("it lives");
    pair.settle();
    assert_eq!(reached(&mut pair), [two, result_of(3)]);
    assert_eq!(pair.server.snapshot().cache_entries, 1, "2 is of no use any more");
    // A runtime object whose release says so.
    let release = ObjectRelease {
        object_id: 7,
        source_role: Role::CLIENT,
        flags: ObjectReleaseFlags::FINAL_RELEASE | ObjectReleaseFlags::INVALIDATES_DEPENDENTS,
        ..ObjectRelease::default()
    };
    let release = Message::ObjectRelease(release, ObjectReleaseBody { diagnostic: b"" });
    pair.client.send(&say::session(session), &release, pair.now).expect("it is there");
    pair.settle();
    assert_eq!(reached(&mut pair), [one]);
    assert_eq!(pair.server.snapshot().dependencies, 0);
}

#[test]
fn j4_k4_a_runtime_object_whose_time_passes_takes_along_what_depends() {
    let (mut pair, session) = working(1);
    let descriptor = ObjectDescriptor {
        object_id: 7,
        session_id: session,
        producer_role: Role::CLIENT,
        consumer_role: Role::SERVER,
        lifetime_hint_ms: 400,
        ..ObjectDescriptor::default()
    };
    let message = Message::ObjectDeclare(descriptor, ObjectDeclareBody { object_metadata: b"" });
    pair.client.send(&say::session(session), &message, pair.now).expect("a new one");
    pair.settle();
    let (node, operation) = (Node::Runtime { session, object: 7 }, Node::Result { session, operation: 1 });
    pair.server.depend(operation, &[Need::any(node)]).expect("both are there");
    pair.wait(400);
    assert_eq!(reached(&mut pair), [operation]);
}

#[test]
fn k4_only_what_is_there_depends_on_what_is_there() {
    let (mut pair, session) = working(3);
    put(&mut pair, session, a_put(1), None, b"object");
    let rule_of = |pair: &mut Pair, node, need| {
        pair.server.depend(node, &[need]).map_err(|why| (why.code(), rule(&why))).err()
    };
    let object = Need::any(Node::Object(key(session, 1)));
    let broken = ErrorCode::from_raw(CacheErrorCode::DependencyInvalid as u32).map(|code| (code, "K4"));
    for node in [
        Node::Object(key(session, 2)),
        Node::Schema { id: 0x1001, version: 3 },
        Node::Result { session: session + 1, operation: 1 },
        Node::Runtime { session, object: 1 },
    ] {
        assert_eq!(rule_of(&mut pair, node, object), broken, "{node:?}");
    }
    let operation = Node::Result { session, operation: 1 };
    assert_eq!(rule_of(&mut pair, operation, Need::any(Node::Object(key(session, 2)))), broken);
    assert_eq!(rule_of(&mut pair, operation, Need { version: 9, ..object }), broken);
    assert_eq!(rule_of(&mut pair, operation, object), None);
    // A result is there for as long as its operation is remembered, unless there never will be one.
    pair.server.send_packet(&result(session, 2), pair.now).expect("it lives");
    pair.server.drop_operation(session, 3, DropReasonCode::BUDGET_EXCEEDED, pair.now).expect("it lives");
    let result_of = |operation| Need::any(Node::Result { session, operation });
    assert_eq!(rule_of(&mut pair, operation, result_of(2)), None);
    assert_eq!(rule_of(&mut pair, operation, result_of(3)), broken);
}

#[test]
fn j4_k4_a_session_takes_along_what_depends_on_it() {
    let (mut pair, session) = open();
    let other = self::session(&mut pair);
    put(&mut pair, other, a_put(1), None, b"object");
    declare(&mut pair, session, 7);
    pair.server_events();
    let object = Node::Object(key(other, 1));
    pair.server.depend(object, &[Need::any(Node::Runtime { session, object: 7 })]).expect("both are there");
    pair.client.close_session(session, &drain_within(100), pair.now).expect("it is open");
    pair.settle();
    let verdict = self::session::Verdict::Proceed { last_operation_id: 0 };
    pair.server.answer_close(session, verdict, pair.now).expect("it was asked for");
    pair.settle();
    assert_eq!(reached(&mut pair), [object]);
    assert_eq!(pair.server.snapshot().dependencies, 0);
}

#[test]
fn g7_the_payloads_of_a_result_are_bound_too() {
    let (mut pair, session) = working(1);
    let descriptor = TypedPayloadDescriptor {
        profile_id: ProfileId::TOKEN,
        schema_id: 0x1_0001,
        schema_version: 1,
        ..TypedPayloadDescriptor::default()
    };
    let push = ResultPush { payload_kind_bitmap: PayloadKindBitmap::TOKEN_CHUNK, ..ResultPush::default() };
    let builder = ResultBuilder::new(push).payload(&descriptor, b"words");
    let why = pair.server.result(session, 1, &builder, pair.now).expect_err("an unknown schema");
    assert_eq!(
        (Some(why.code()), rule(&why)),
        (ErrorCode::from_raw(SchemaErrorCode::SchemaUnknown.raw()), "G4")
    );
}

#[test]
fn x2_parent_and_group_are_those_that_the_submit_names() {
    let (mut pair, session) = working(1);
    let links = OperationLinks { parent_operation_id: 1, operation_group_id: 9 };
    pair.client.submit(&linked(session, 2, links), pair.now).expect("room");
    pair.settle();
    for end in [&pair.client, &pair.server] {
        let all = end.operations(session).expect("a live session");
        let one = all.by_id(2).expect("it lives");
        assert_eq!((one.parent(), one.group()), (1, 9));
        let root = all.by_id(1).expect("it lives");
        assert_eq!((root.parent(), root.group()), (0, 0));
    }
    // Whatever other extension frames come first.
    let kind = ExtensionKind::from_raw(9).expect("any kind");
    let other = ExtensionFrameDescriptor { extension_kind: kind, ..ExtensionFrameDescriptor::default() };
    let bytes = SubmitBuilder::new(FrameSubmit { operation_id: 3, ..FrameSubmit::default() })
        .extension(&other, &[7; 16])
        .links(links)
        .token(DescriptorFlags::TERMINAL, b"words")
        .to_vec(&say::operation(session, 3))
        .expect("a good submit");
    pair.client.submit(&bytes, pair.now).expect("room");
    pair.settle();
    let all = pair.server.operations(session).expect("a live session");
    assert_eq!(all.by_id(3).map(|one| (one.parent(), one.group())), Some((1, 9)));
    assert_eq!(all.group(9).count(), 2);
}

/// FRAME_CANCEL with X3.
fn cancel(pair: &mut Pair, session: u32, scope: CancelScopeExtension) {
    let block = Extensions::new(MessageType::FrameCancel).known(scope);
    let ext = block.entries().expect("a good block");
    let message = Message::FrameCancel(FrameCancelBody { ext });
    pair.client.send(&say::session(session), &message, pair.now).expect("it is open");
    pair.settle();
}

#[test]
fn x3_a_cancel_reaches_what_its_extension_says() {
    for (scope, expected) in [
        (CancelScope::Operation, vec![1]),
        (CancelScope::Subtree, vec![1, 2]),
        (CancelScope::Group, vec![1, 3]),
        (CancelScope::Session, vec![1, 2, 3, 4]),
    ] {
        let (mut pair, session) = open();
        let group = OperationLinks { operation_group_id: 5, ..OperationLinks::default() };
        pair.client.submit(&linked(session, 1, group), pair.now).expect("room");
        pair.client.submit(&submit(session, 2, 1), pair.now).expect("room");
        pair.client.submit(&linked(session, 3, group), pair.now).expect("room");
        pair.client.submit(&submit(session, 4, 0), pair.now).expect("room");
        pair.settle();
        pair.server_events();
        let operation_id = if scope == CancelScope::Session { 0 } else { 1 };
        cancel(&mut pair, session, CancelScopeExtension { operation_id, cancel_scope: scope });
        let mut asked: Vec<u64> = pair
            .server_events()
            .into_iter()
            .filter_map(|event| match event {
                Event::CancelAsked { operation_id, .. } => Some(operation_id),
                _ => None,
            })
            .collect();
        asked.sort_unstable();
        assert_eq!(asked, expected, "{scope:?}");
    }
}

#[test]
fn x4_version_and_time_are_those_that_were_asked_for() {
    let (mut pair, session) = open();
    let asked = CacheLeaseExtension {
        owner_scope: LeaseOwnerScope::Session,
        owner_id: session.into(),
        object_version: 7,
        ttl_ms: 900,
        ..CacheLeaseExtension::default()
    };
    put(&mut pair, session, CachePut { ttl_ms: 50, ..a_put(1) }, Some(asked), b"object");
    let answers = answered(&mut pair);
    let [(CacheAckStatus::Accepted, None, Some(lease))] = answers[..] else { panic!("{answers:?}") };
    assert_eq!((lease.object_version, lease.ttl_ms), (7, 900));
    assert_eq!(pair.server.cache().get(&key(session, 1)).map(|object| object.version), Some(7));
}

#[test]
fn x5_a_dependency_on_an_object_needs_that_object() {
    let (mut pair, session) = open();
    let dependency = SchemaDependency {
        dependency_kind: SchemaDependencyKind::Object,
        object_kind: CacheObjectKind::TOOL_SCHEMA.raw(),
        cache_namespace: 1,
        cache_key_lo: 1,
        ..SchemaDependency::default()
    };
    let header = SchemaDescriptorHeader {
        schema_id: 0x1_0001,
        schema_version: 1,
        profile_id: ProfileId::TOKEN,
        min_version_major: 1,
        max_version_major: 1,
        schema_flags: SchemaFlags::CACHEABLE | SchemaFlags::HASH_STABLE,
        ..SchemaDescriptorHeader::default()
    };
    let descriptor = Schema::new(header).dependency(&dependency).body(b"").to_vec().expect("a good schema");
    let object_kind = CacheObjectKind::from_raw(0x8001).expect("private");
    let schema = CachePut { object_kind, cache_key_lo: 2, ..CachePut::default() };
    put(&mut pair, session, schema, None, &descriptor);
    let missing = ErrorCode::from_raw(SchemaErrorCode::SchemaDependencyMissing.raw());
    assert_eq!(answered(&mut pair), [(CacheAckStatus::Rejected, missing, None)]);
    put(&mut pair, session, a_put(1), None, b"object");
    put(&mut pair, session, schema, None, &descriptor);
    assert_eq!(answered(&mut pair).last(), Some(&(CacheAckStatus::Accepted, None, None)));
}
