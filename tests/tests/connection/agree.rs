//! After an answer that one end cannot take both still agree about what lives (C4, C8, S1, S2).

use nnrp_core::build::Extensions;
use nnrp_core::state::capability::{self, Offer, Purpose, Terms};
use nnrp_core::state::connection::{Config, Event, Why, drain_within};
use nnrp_core::state::session::{Verdict, Verdicts};
use nnrp_core::state::{Refusal, Side};
use nnrp_core::stream::Splitter;
use nnrp_core::*;
use nnrp_tests::pair::{Pair, carry};

use super::say;

/// The packets of what waits at an end.
fn packets(output: &[u8], mut each: impl FnMut(&Packet<'_>)) {
    let mut splitter = Splitter::default();
    let mut rest = output;
    while let Some(packet) = splitter.next(&mut rest).expect("good packets") {
        each(&packet);
    }
}

/// What waits at the server, with its first SESSION_OPEN_ACK as `change` makes it.
fn changed(output: &[u8], change: fn(&mut SessionOpenAck)) -> Vec<u8> {
    let (mut all, mut first) = (Vec::new(), true);
    packets(output, |packet| match packet.message() {
        Message::SessionOpenAck(mut ack, body) if first => {
            first = false;
            change(&mut ack);
            let changed = Message::SessionOpenAck(ack, body);
            all.extend(changed.to_vec(&packet.header().to_owned()).expect("a good packet"));
        }
        _ => all.extend_from_slice(packet.as_bytes()),
    });
    all
}

/// The server's answers to what the client asked for, which do not go out.
fn answers(pair: &mut Pair) -> Vec<u8> {
    carry(&mut pair.client, &mut pair.server, pair.link, pair.now);
    while let Some(event) = pair.server.poll_event() {
        if let Event::SessionRequested { ticket, .. } = event {
            pair.server
                .answer_open(ticket, &pair.policy, Verdicts::default(), &mut pair.shelf, pair.now)
                .expect("a request that waits");
        }
    }
    let bytes = pair.server.poll_output().to_vec();
    pair.server.consume_output(bytes.len());
    bytes
}

fn refused(events: &[Event]) -> Vec<(ErrorCode, &'static str)> {
    let refusals = events.iter().filter_map(|event| match event {
        Event::Refused { why: Why::Refusal(Refusal { code, rule, .. }), .. } => Some((*code, *rule)),
        _ => None,
    });
    refusals.collect()
}

/// The ERRORs that wait at an end: code, scope, weight and the session of the header.
fn errors(output: &[u8]) -> Vec<(ErrorCode, ErrorScope, bool, u32)> {
    let mut found = Vec::new();
    packets(output, |packet| {
        if let Message::Error(error, _) = packet.message() {
            found.push((error.error_code, error.error_scope, error.is_fatal, packet.header().session_id()));
        }
    });
    found
}

#[test]
fn c4_a_session_whose_answer_cannot_be_taken_ends_at_both_ends() {
    type Change = fn(&mut SessionOpenAck);
    let cases: [(Change, ErrorCode, &str); 4] = [
        (
            |ack| ack.session_flags_ack |= SessionFlagsAck::CACHE_LEASES_ENABLED,
            ErrorCode::UNSUPPORTED_CAPABILITY,
            "S2",
        ),
        (
            |ack| ack.accepted_priority_class = SessionPriorityClass::Interactive,
            ErrorCode::UNSUPPORTED_CAPABILITY,
            "S2",
        ),
        (|ack| ack.session_status = nnrp_core::SessionStatus::Resumed, ErrorCode::INVALID_STATE, "R1"),
        (|ack| ack.session_id = 9, ErrorCode::INVALID_STATE, "C3"),
    ];
    for (change, code, rule) in cases {
        let mut pair = Pair::active();
        let sibling = pair.open(&SessionOpen::default());
        let open = SessionOpen {
            requested_session_id: 7,
            priority_class: SessionPriorityClass::Balanced,
            session_flags: SessionFlags::ALLOW_RESUME,
            ..SessionOpen::default()
        };
        pair.client.open_session(&open, b"", pair.now).expect("room");
        // The one behind it meets its own answer.
        let next = pair.client.open_session(&SessionOpen::default(), b"", pair.now).expect("room");
        let bytes = changed(&answers(&mut pair), change);
        assert_eq!(pair.client.handle_bytes(&bytes, pair.now), bytes.len());
        // The answer is one of the connection and is refused like any; its session ends, and only that one.
        let named = if rule == "C3" { 9 } else { 7 };
        assert_eq!(
            errors(pair.client.poll_output()),
            [(code, ErrorScope::Connection, false, 0), (code, ErrorScope::Session, true, named)]
        );
        pair.settle();
        let events = pair.client_events();
        assert_eq!(refused(&events), [(code, rule)]);
        assert!(
            events
                .iter()
                .any(|event| matches!(event, Event::SessionOpened { ticket, .. } if *ticket == next)),
            "{events:?}"
        );
        let ids = |end: &nnrp_core::state::connection::Connection| -> Vec<u32> {
            end.sessions().iter().map(|session| session.id()).collect()
        };
        assert!(ids(&pair.client).contains(&sibling));
        if rule != "C3" {
            assert_eq!(ids(&pair.client), ids(&pair.server));
            let events = pair.server_events();
            assert!(
                events.iter().any(|event| matches!(event, Event::SessionClosed { session_id: 7 })),
                "{events:?}"
            );
        }
    }
}

#[test]
fn c4_an_answer_that_cannot_be_taken_ends_no_session_that_lives() {
    let mut pair = Pair::active();
    let sibling = pair.open(&SessionOpen::default());
    pair.client.open_session(&SessionOpen::default(), b"", pair.now).expect("room");
    // The answer gives the id of another session.
    answers(&mut pair);
    let ack = SessionOpenAck { session_id: sibling, ..SessionOpenAck::default() };
    pair.client.handle_bytes(&raw(0, &Message::SessionOpenAck(ack, SessionOpenAckBody::default())), pair.now);
    let said = errors(pair.client.poll_output());
    assert_eq!(said, [(ErrorCode::INVALID_STATE, ErrorScope::Connection, false, 0)]);
    pair.settle();
    assert_eq!(refused(&pair.client_events()), [(ErrorCode::INVALID_STATE, "C3")]);
    for end in [&pair.client, &pair.server] {
        assert!(end.sessions().get(sibling).is_some_and(|session| session.is_open()));
    }
}

#[test]
fn s1_a_session_that_was_given_up_ends_at_a_peer_that_rejects_its_close() {
    for closer in [Side::Client, Side::Server] {
        let (mut client, mut server) = (Config::new(Side::Client), Config::new(Side::Server));
        let patient = if closer == Side::Client { &mut server } else { &mut client };
        patient.sessions.answer_ms = 60_000;
        let mut pair = Pair::with(client, server);
        pair.greet();
        let session = pair.open(&SessionOpen::default());
        pair.submit(session, 1).expect("credit");
        pair.settle();
        let now = pair.now;
        let end = if closer == Side::Client { &mut pair.client } else { &mut pair.server };
        end.close_session(session, &drain_within(0), now).expect("an open session");
        pair.settle();
        pair.wait(10_000);
        let (gave_up, other) = match closer {
            Side::Client => (&pair.client, &mut pair.server),
            Side::Server => (&pair.server, &mut pair.client),
        };
        assert!(gave_up.sessions().is_empty() && other.sessions().get(session).is_some());
        let code = SessionErrorCode::NONE;
        other.answer_close(session, Verdict::Reject { code }, pair.now).expect("a request that waits");
        pair.settle();
        // It cannot go on there alone.
        assert!(pair.client.sessions().is_empty() && pair.server.sessions().is_empty());
        for events in [pair.client_events(), pair.server_events()] {
            let ended = events.iter().filter(|event| matches!(event, Event::Ended { .. })).count();
            let closed = |event: &&Event| matches!(event, Event::SessionClosed { .. });
            assert_eq!((ended, events.iter().filter(closed).count()), (1, 1), "{events:?}");
        }
        assert_eq!((pair.client.snapshot().operations, pair.server.snapshot().operations), (0, 0));
    }
}

#[test]
fn s1_a_rejection_that_fits_no_close_ends_nothing() {
    let mut pair = Pair::active();
    let ack = SessionCloseAck { close_status: CloseStatus::Rejected, ..SessionCloseAck::default() };
    let message = Message::SessionCloseAck(ack, SessionCloseAckBody::default());
    pair.client.handle_bytes(&raw(9, &message), pair.now);
    // It is refused, and that is all.
    let said = errors(pair.client.poll_output());
    assert_eq!(said, [(ErrorCode::INVALID_STATE, ErrorScope::Session, false, 9)]);
}

#[test]
fn s1_a_rejection_that_crosses_the_end_of_a_session_ends_nothing_more() {
    let mut pair = Pair::active();
    let session = pair.open(&SessionOpen::default());
    // Both want to close it, and nobody answers.
    for end in [&mut pair.client, &mut pair.server] {
        end.close_session(session, &drain_within(0), pair.now).expect("an open session");
    }
    pair.settle();
    pair.client.handle_timeout(pair.now.after(10_000));
    assert!(pair.client.sessions().is_empty());
    // The server is told by the answer to its own close, whatever it said of the client's before.
    let ack = SessionCloseAck { close_status: CloseStatus::Rejected, ..SessionCloseAck::default() };
    let message = Message::SessionCloseAck(ack, SessionCloseAckBody::default());
    pair.client.handle_bytes(&raw(session, &message), pair.now.after(10_000));
    assert_eq!(errors(pair.client.poll_output()), []);
    pair.settle();
    assert!(pair.server.sessions().is_empty());
}

#[test]
fn s4_a_patch_is_refused_from_the_acceptance_of_the_close_on() {
    let mut pair = Pair::active();
    let session = pair.open(&SessionOpen::default());
    pair.submit(session, 1).expect("credit");
    pair.settle();
    pair.server.close_session(session, &drain_within(500), pair.now).expect("an open session");
    pair.settle();
    pair.client.accept_close(session, pair.now).expect("a request that waits");
    pair.settle();
    let state = pair.server.sessions().get(session).map(|session| session.state());
    assert_eq!(state, Some(SessionState::Draining));
    pair.server_events();
    let patch =
        SessionPatch { patch_mask: PatchMask::QUALITY_TIER, quality_tier: 3, ..SessionPatch::default() };
    let message = Message::SessionPatch(patch, SessionPatchBody::default());
    pair.server.handle_bytes(&raw(session, &message), pair.now);
    pair.settle();
    assert_eq!(refused(&pair.server_events()), [(ErrorCode::INVALID_STATE, "S4")]);
}

#[test]
fn c4_a_session_whose_answer_cannot_be_read_ends_where_its_id_was_asked_for() {
    for requested_session_id in [7, 0] {
        let mut pair = Pair::active();
        let open = SessionOpen { requested_session_id, ..SessionOpen::default() };
        pair.client.open_session(&open, b"", pair.now).expect("room");
        // A flag that does not exist.
        let mut bytes = answers(&mut pair);
        bytes[40 + SessionOpenAck::SESSION_FLAGS_ACK_OFFSET + 3] = 0x80;
        assert_eq!(pair.client.handle_bytes(&bytes, pair.now), bytes.len());
        let malformed = ErrorCode::MALFORMED_BODY;
        let mut expected = vec![(malformed, ErrorScope::Connection, false, 0)];
        if requested_session_id != 0 {
            expected.push((malformed, ErrorScope::Session, true, 7));
        }
        assert_eq!(errors(pair.client.poll_output()), expected);
        pair.settle();
        assert!(pair.client.sessions().is_empty());
        assert_eq!(pair.server.sessions().len(), usize::from(requested_session_id == 0));
    }
}

/// A packet that no check stood before.
fn raw(session_id: u32, message: &Message<'_>) -> Vec<u8> {
    let header = CommonHeader { session_id, msg_type: message.message_type(), ..CommonHeader::default() };
    message.to_vec(&header).expect("a good packet")
}

#[test]
fn k8_an_answer_that_cannot_be_taken_does_not_shift_the_others() {
    let mut pair = Pair::active();
    let session = pair.open(&SessionOpen::default());
    for object in [b"one", b"two"] {
        pair.client.send(&say::session(session), &say::put(1, object), pair.now).expect("room");
    }
    // The first grants a lease that nobody asked for.
    let ack = CacheAck { cache_namespace: 1, cache_key_lo: 1, ..CacheAck::default() };
    let lease = Extensions::new(MessageType::CacheAck).known(CacheLeaseExtension {
        lease_id: 5,
        object_version: 1,
        ..CacheLeaseExtension::default()
    });
    let granted = CacheAckBody { ext: lease.entries().expect("a good block") };
    let bytes = raw(session, &Message::CacheAck(ack, granted));
    pair.client.handle_bytes(&bytes, pair.now);
    let cached = |pair: &mut Pair| -> Vec<_> {
        let events = core::iter::from_fn(|| pair.client.poll_event());
        let answers = events.filter_map(|event| match event {
            Event::Cached(answered) => Some((answered.status, answered.code)),
            _ => None,
        });
        answers.collect()
    };
    assert_eq!(cached(&mut pair), [(CacheAckStatus::Rejected, Some(ErrorCode::INVALID_STATE))]);
    // The second is for the second, and there is no third.
    let plain = raw(session, &Message::CacheAck(ack, CacheAckBody::default()));
    pair.client.handle_bytes(&plain, pair.now);
    assert_eq!(cached(&mut pair), [(CacheAckStatus::Accepted, None)]);
    pair.client.handle_bytes(&plain, pair.now);
    assert_eq!(cached(&mut pair), []);
}

#[test]
fn u4_an_answer_that_cannot_be_taken_does_not_shift_the_others() {
    let mut pair = Pair::active();
    let (costs, deltas) = (["object.cost"], ["object.delta"]);
    let offer = |tokens| Offer::new(ProfileId::TOKEN, tokens, Terms::default());
    for tokens in [costs, deltas] {
        pair.client.offer(Purpose::Negotiation, 0, &offer(tokens), pair.now).expect("room");
    }
    let answered = |pair: &mut Pair, tokens| -> Vec<_> {
        let (capability, entries) = offer(tokens).write().expect("good tokens");
        let capability_entries = CapabilityTokens::new(&entries).expect("good tokens");
        let body = CapabilityNegotiationBody { capability_entries };
        let bytes = raw(0, &Message::CapabilityNegotiation(capability, body));
        pair.client.handle_bytes(&bytes, pair.now);
        let events = core::iter::from_fn(|| pair.client.poll_event());
        let answers = events.filter_map(|event| match event {
            Event::Capability { event: capability::Event::Answered { accepted, .. }, .. } => {
                Some(accepted.len())
            }
            _ => None,
        });
        answers.collect()
    };
    pair.client_events();
    // Nobody offered that, so nothing is accepted; the next answer is for the next offer.
    assert_eq!(answered(&mut pair, ["cache.reference"]), [0]);
    assert_eq!(answered(&mut pair, deltas), [1]);
    let capabilities = pair.client.capabilities();
    assert!(capabilities.agreed(0, ProfileId::TOKEN, "object.delta").is_some());
    assert!(capabilities.agreed(0, ProfileId::TOKEN, "object.cost").is_none());
    assert_eq!(capabilities.waiting(), 0);
}

#[test]
fn c8_a_pong_that_cannot_be_taken_does_not_shift_the_others() {
    let mut pair = Pair::active();
    pair.client.ping(pair.now);
    // A PONG of a session, which F5 does not allow.
    let mut bytes = raw(0, &Message::Pong);
    bytes[CommonHeader::SESSION_ID_OFFSET] = 1;
    pair.client.handle_bytes(&bytes, pair.now);
    assert_eq!(pair.client.snapshot().counters.refused, 1);
    pair.client.consume_output(usize::MAX);
    pair.client.ping(pair.now);
    pair.now = pair.now.after(12);
    pair.client.handle_bytes(&raw(0, &Message::Pong), pair.now);
    assert_eq!(pair.client.snapshot().round_trip_ms, Some(12));
}

#[test]
fn c8_a_pong_that_answers_nothing_answers_no_later_ping() {
    let mut pair = Pair::active();
    pair.client.handle_bytes(&raw(0, &Message::Pong), pair.now);
    pair.client.ping(pair.now);
    pair.now = pair.now.after(12);
    pair.settle();
    assert_eq!(pair.client.snapshot().round_trip_ms, Some(12));
}

#[test]
fn s7_a_patch_that_crosses_a_close_is_answered_and_does_not_shift_the_others() {
    let mut pair = Pair::active();
    let session = pair.open(&SessionOpen::default());
    let patch = |patch_mask, quality_tier, target_cadence_x100| {
        let patch = SessionPatch { patch_mask, quality_tier, target_cadence_x100, ..SessionPatch::default() };
        Message::SessionPatch(patch, SessionPatchBody::default())
    };
    // The server wants to close, and the client to change something.
    pair.server.close_session(session, &drain_within(500), pair.now).expect("an open session");
    pair.client
        .send(&say::session(session), &patch(PatchMask::QUALITY_TIER, 3, 0), pair.now)
        .expect("it is open");
    pair.settle();
    assert!(
        pair.client.send(&say::session(session), &patch(PatchMask::QUALITY_TIER, 4, 0), pair.now).is_err(),
        "not from closing on"
    );
    // The client does not want that, so both go on.
    let code = SessionErrorCode::NONE;
    pair.client.answer_close(session, Verdict::Reject { code }, pair.now).expect("a request that waits");
    pair.settle();
    pair.client
        .send(&say::session(session), &patch(PatchMask::TARGET_CADENCE, 0, 50), pair.now)
        .expect("it is open");
    pair.settle();
    let events = pair.client_events();
    let applied: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::SessionPatched { applied, .. } => Some(*applied),
            Event::Refused { .. } => panic!("{event:?}"),
            _ => None,
        })
        .collect();
    assert_eq!(applied, [PatchMask::QUALITY_TIER, PatchMask::TARGET_CADENCE]);
    for end in [&pair.client, &pair.server] {
        let settings = end.sessions().get(session).expect("it is open").settings();
        assert_eq!((settings.quality_tier, settings.target_cadence_x100), (3, 50));
    }
}
