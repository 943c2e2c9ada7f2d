//! Sessions that move to another connection (R1–R3, X1, O5).

use nnrp_core::state::Side;
use nnrp_core::state::connection::{Config, Connection, Event, Left, Shelf, Why};
use nnrp_core::state::hello::{Offer, Verdict};
use nnrp_core::state::operation::Cause;
use nnrp_core::state::resume::Limits;
use nnrp_core::state::session::{Ticket, Verdicts};
use nnrp_core::*;
use nnrp_tests::pair::{Link, Pair, carry, result, source, submit};

use super::say::{self, say};

/// A pair with a session that can be resumed, and some operations.
fn resumable(operations: u64) -> (Pair, u32) {
    let mut pair = Pair::active();
    let session = pair.open(&SessionOpen { session_flags: SessionFlags::all(), ..SessionOpen::default() });
    for id in 1..=operations {
        pair.submit(session, id).expect("room");
    }
    pair.settle();
    pair.client_events();
    pair.server_events();
    (pair, session)
}

/// The transport is lost; the rest is on two new ends.
fn lose(pair: &mut Pair) -> Vec<Left> {
    pair.server.park(&mut pair.shelf, pair.now);
    let left = pair.client.take_sessions(pair.now);
    pair.settle();
    anew(pair);
    left
}

fn anew(pair: &mut Pair) {
    pair.client = Connection::new(Side::Client, Config::new(Side::Client), source(11), pair.now);
    pair.server = Connection::new(Side::Server, Config::new(Side::Server), source(12), pair.now);
    pair.greet();
}

/// The client asks for its sessions, and that is under way.
fn ask(pair: &mut Pair, left: Vec<Left>) {
    for left in left {
        pair.client.resume_session(left, b"", pair.now).map_err(|(why, _)| why).expect("a free id");
    }
}

fn resume(pair: &mut Pair, left: Vec<Left>) {
    ask(pair, left);
    pair.settle();
}

fn ends(events: &[Event]) -> Vec<(u64, OperationState, Cause)> {
    events
        .iter()
        .filter_map(|event| match event {
            Event::Ended { outcome, .. } => Some((outcome.operation, outcome.state, outcome.cause)),
            _ => None,
        })
        .collect()
}

#[test]
fn r1_x1_a_result_that_was_lost_on_the_way_comes_again() {
    let (mut pair, session) = resumable(3);
    // 1 arrives, 2 does not, 3 is not done.
    pair.server.send_packet(&result(session, 1), pair.now).expect("it lives");
    pair.settle();
    assert_eq!(ends(&pair.client_events()).len(), 1);
    pair.server.send_packet(&result(session, 2), pair.now).expect("it lives");
    let left = lose(&mut pair);
    assert_eq!(pair.shelf.len(), 1);
    pair.client_events();
    resume(&mut pair, left);
    let events = pair.client_events();
    assert_eq!(ends(&events), [(2, OperationState::Completed, Cause::Result)]);
    assert!(!events.iter().any(|event| matches!(event, Event::Late { .. })), "X1: {events:?}");
    // 3 goes on.
    pair.server.send_packet(&result(session, 3), pair.now).expect("it lives");
    pair.settle();
    assert_eq!(ends(&pair.client_events()), [(3, OperationState::Completed, Cause::Result)]);
    // And so does the session.
    assert!(pair.submit(session, 4).expect("room"));
    pair.settle();
    assert_eq!(pair.server.snapshot().operations, 1);
}

#[test]
fn r1_what_never_arrived_ends_as_lost() {
    let (mut pair, session) = resumable(1);
    // The link carries nothing any more.
    pair.submit(session, 2).expect("room");
    let left = lose(&mut pair);
    pair.client_events();
    resume(&mut pair, left);
    let ended = ends(&pair.client_events());
    assert_eq!(ended, [(2, OperationState::Cancelled, Cause::Lost)]);
    assert_eq!((pair.client.snapshot().operations, pair.server.snapshot().operations), (1, 1));
}

#[test]
fn r1_what_the_client_says_itself_is_no_word_of_the_server() {
    let (mut pair, session) = resumable(1);
    pair.submit(session, 2).expect("room");
    let left = lose(&mut pair);
    ask(&mut pair, left);
    carry(&mut pair.client, &mut pair.server, Link::Whole, pair.now);
    while let Some(event) = pair.server.poll_event() {
        if let Event::SessionRequested { ticket, .. } = event {
            let policy = pair.policy;
            pair.server
                .answer_open(ticket, &policy, Verdicts::default(), &mut pair.shelf, pair.now)
                .expect("it waits");
        }
    }
    carry(&mut pair.server, &mut pair.client, Link::Whole, pair.now);
    // A hint for the one that the server never got.
    let hint = RouteHint { operation_id: 2, ..RouteHint::default() };
    let hint = Message::RouteHint(hint, RouteHintBody { hint_body: b"" });
    say(&mut pair.client, session, 2, &hint, pair.now).expect("it lives here");
    pair.settle();
    assert_eq!(ends(&pair.client_events()), [(2, OperationState::Cancelled, Cause::Lost)]);
}

#[test]
fn c8_r1_what_never_arrived_ends_as_lost_also_where_the_pong_cannot_be_taken() {
    let (mut pair, session) = resumable(1);
    pair.submit(session, 2).expect("room");
    let left = lose(&mut pair);
    ask(&mut pair, left);
    carry(&mut pair.client, &mut pair.server, Link::Whole, pair.now);
    let [ticket] = requests(&mut pair.server)[..] else { panic!("one request") };
    let policy = pair.policy;
    pair.server
        .answer_open(ticket, &policy, Verdicts::default(), &mut pair.shelf, pair.now)
        .expect("it waits");
    carry(&mut pair.server, &mut pair.client, Link::Whole, pair.now);
    carry(&mut pair.client, &mut pair.server, Link::Whole, pair.now);
    // The PONG names a session, which F5 does not allow.
    let mut pong = pair.server.poll_output().to_vec();
    pair.server.consume_output(pong.len());
    assert!(matches!(Packet::parse(&pong).expect("one packet").message(), Message::Pong));
    pong[CommonHeader::SESSION_ID_OFFSET] = 1;
    pair.client.handle_bytes(&pong, pair.now);
    assert_eq!(pair.client.snapshot().operations, 2);
    pair.settle();
    assert_eq!(ends(&pair.client_events()), [(2, OperationState::Cancelled, Cause::Lost)]);
}

#[test]
fn r1_times_go_on_after_a_resume() {
    let (mut pair, session) = resumable(1);
    let unix = pair.now.0 + 5_000;
    say(&mut pair.client, session, 1, &say::deadline(1, unix, SchedulingFlags::all()), pair.now)
        .expect("live");
    pair.settle();
    let left = lose(&mut pair);
    pair.client_events();
    pair.server_events();
    resume(&mut pair, left);
    assert!(pair.client.poll_timeout().expect("it waits") <= pair.now.after(5_000));
    pair.wait(5_000);
    for events in [pair.client_events(), pair.server_events()] {
        assert_eq!(ends(&events), [(1, OperationState::Failed, Cause::Time)]);
    }
}

#[test]
fn r1_w1_credit_begins_anew_and_counts_what_lives() {
    let (mut pair, session) = resumable(2);
    pair.server.send(&say::session(session), &say::credit(2, 5), pair.now).expect("it is open");
    pair.settle();
    pair.submit(session, 3).expect("it waits");
    let left = lose(&mut pair);
    // What waited is not sent by anybody.
    assert!(pair.client_events().iter().any(|event| matches!(event, Event::Unsent { operation_id: 3, .. })));
    resume(&mut pair, left);
    for end in [&pair.client, &pair.server] {
        let (all, one) = (end.snapshot(), end.session_snapshot(session).unwrap());
        assert_eq!((all.operations, one.operations), (2, 2));
        assert_eq!((one.credit.limit, one.credit.in_flight), (Some(256), 2));
    }
    // A new first epoch is taken whatever it is (W2).
    pair.server.send(&say::session(session), &say::credit(7, 1), pair.now).expect("it is open");
    pair.settle();
    assert_eq!(pair.client.session_snapshot(session).unwrap().credit.limit, Some(7));
}

#[test]
fn o5_r1_a_frame_that_is_used_again_does_not_get_an_old_outcome() {
    let (mut pair, session) = resumable(1);
    // Frame 2 carries operation 2, which ends, and then operation 12. The waterline stays at 1, which lives.
    pair.submit(session, 2).expect("room");
    pair.settle();
    pair.server.send_packet(&result(session, 2), pair.now).expect("it lives");
    pair.settle();
    let mut again = submit(session, 12, 0);
    again[CommonHeader::FRAME_ID_OFFSET..][..4].copy_from_slice(&2u32.to_le_bytes());
    pair.client.submit(&again, pair.now).expect("the frame is free");
    pair.settle();
    let left = lose(&mut pair);
    pair.client_events();
    resume(&mut pair, left);
    assert_eq!(ends(&pair.client_events()), []);
    assert_eq!(pair.client.snapshot().operations, 2);
}

#[test]
fn r1_submits_wait_until_old_outcomes_have_come() {
    let (mut pair, session) = resumable(1);
    let left = lose(&mut pair);
    ask(&mut pair, left);
    carry(&mut pair.client, &mut pair.server, Link::Whole, pair.now);
    while let Some(event) = pair.server.poll_event() {
        if let Event::SessionRequested { ticket, .. } = event {
            let policy = pair.policy;
            pair.server
                .answer_open(ticket, &policy, Verdicts::default(), &mut pair.shelf, pair.now)
                .expect("it waits");
        }
    }
    carry(&mut pair.server, &mut pair.client, Link::Whole, pair.now);
    assert!(!pair.submit(session, 2).expect("it waits"));
    pair.settle();
    assert_eq!(pair.client.snapshot().queued, 0);
    assert_eq!(pair.server.snapshot().operations, 2);
}

#[test]
fn r1_outcomes_that_nobody_remembers_are_late_and_not_refused() {
    let mut config = Config::new(Side::Client);
    config.operations.remembered = 2;
    let mut pair = Pair::with(config, Config::new(Side::Server));
    pair.greet();
    let session = pair.open(&SessionOpen { session_flags: SessionFlags::all(), ..SessionOpen::default() });
    for id in 1..=8 {
        pair.submit(session, id).expect("room");
    }
    pair.settle();
    // 1 lives on, so that the waterline covers none of the others.
    for id in 2..=8 {
        pair.server.send_packet(&result(session, id), pair.now).expect("it lives");
    }
    pair.settle();
    assert_eq!(ends(&pair.client_events()).len(), 7);
    let left = lose(&mut pair);
    resume(&mut pair, left);
    let (client, server) = (pair.client_events(), pair.server_events());
    assert_eq!(ends(&client), []);
    assert_eq!(client.iter().filter(|event| matches!(event, Event::Late { .. })).count(), 7);
    for events in [client, server] {
        assert!(!events.iter().any(|event| matches!(event, Event::Refused { .. } | Event::Error { .. })));
    }
}

#[test]
fn r1_a_window_that_passes_ends_everything() {
    let (mut pair, session) = resumable(2);
    let left = lose(&mut pair);
    pair.server_events();
    assert_eq!(pair.shelf.next_timeout(), Some(pair.now.after(60_000)));
    pair.now = pair.now.after(60_000);
    // A token that comes too late is worth nothing, also before the shelf was looked at (R2).
    resume(&mut pair, left);
    let events = pair.client_events();
    assert!(events.iter().any(|event| {
        matches!(event, Event::SessionRefused { code: SessionErrorCode::RESUME_REJECTED, retry: false, .. })
    }));
    assert_eq!(ends(&events).len(), 2);
    let (bound, left) = pair.shelf.handle_timeout(pair.now).expect("its time is over");
    assert_eq!(bound.session_id, session);
    let ended: Vec<u64> = left.end().iter().map(|outcome| outcome.operation).collect();
    assert_eq!(ended.len(), 2);
    assert!(pair.shelf.is_empty() && pair.shelf.next_timeout().is_none());
}

#[test]
fn r2_a_token_is_used_once_and_by_its_owner() {
    let (mut pair, _) = resumable(1);
    let left = lose(&mut pair);
    let packet = {
        resume(&mut pair, left);
        let events = pair.server_events();
        events.into_iter().find_map(|event| match event {
            Event::SessionRequested { packet, .. } => Some(packet),
            _ => None,
        })
    };
    assert_eq!(pair.client.snapshot().sessions, 1);
    // The same request once more.
    pair.server.handle_bytes(packet.expect("a request").as_bytes(), pair.now);
    pair.settle();
    let refused = pair
        .server_events()
        .into_iter()
        .any(|event| matches!(event, Event::SessionRefused { code: SessionErrorCode::RESUME_REJECTED, .. }));
    assert!(refused);
    assert_eq!(pair.server.snapshot().sessions, 1);
}

#[test]
fn r3_a_session_on_another_connection_can_be_had_later() {
    let (mut pair, session) = resumable(1);
    // The client noticed the loss, the server did not.
    let left = pair.client.take_sessions(pair.now);
    let config = Config::new(Side::Server);
    let mut old =
        std::mem::replace(&mut pair.server, Connection::new(Side::Server, config, source(5), pair.now));
    pair.client = Connection::new(Side::Client, Config::new(Side::Client), source(6), pair.now);
    pair.greet();
    let mut tickets = Vec::new();
    for left in left {
        let ticket =
            pair.client.resume_session(left, b"", pair.now).map_err(|(why, _)| why).expect("a free id");
        tickets.push(ticket);
    }
    carry(&mut pair.client, &mut pair.server, Link::Whole, pair.now);
    let ticket = std::iter::from_fn(|| pair.server.poll_event())
        .find_map(|event| match event {
            Event::SessionRequested { ticket, .. } => Some(ticket),
            _ => None,
        })
        .expect("a request");
    assert_eq!(pair.server.wants(ticket, &pair.shelf, pair.now), Some(session));
    let policy = pair.policy;
    pair.server
        .answer_open(ticket, &policy, Verdicts::default(), &mut pair.shelf, pair.now)
        .expect("it waits");
    pair.settle();
    let events = pair.client_events();
    assert!(
        events.iter().any(|event| matches!(event, Event::SessionRefused { retry: true, .. })),
        "{events:?}"
    );
    assert_eq!(ends(&events), []);
    // Once the old connection gave it up it is to be had.
    assert!(old.park_session(session, &mut pair.shelf, pair.now));
    assert_eq!((old.snapshot().sessions, old.snapshot().operations), (0, 0));
    let left = pair.client.take_refused(tickets[0]).expect("it can be asked for again");
    resume(&mut pair, vec![left]);
    assert_eq!((pair.client.snapshot().operations, pair.server.snapshot().operations), (1, 1));
    // R3: now it may move, once.
    let migrate = SessionMigrate {
        old_transport_id: TransportId::Tcp,
        new_transport_id: TransportId::Quic,
        last_result_frame_id: 3,
        ..SessionMigrate::default()
    };
    let migrate = Message::SessionMigrate(migrate, SessionMigrateBody { migration: b"" });
    pair.client.send(&say::session(session), &migrate, pair.now).expect("it was resumed here");
    pair.settle();
    let cursor = pair.client_events().iter().find_map(|event| match event {
        Event::Message { packet } => match packet.message() {
            Some(Message::SessionMigrateAck(ack, _)) => Some(ack.resume_from_frame_id),
            _ => None,
        },
        _ => None,
    });
    assert_eq!(cursor, Some(4));
    assert!(pair.client.send(&say::session(session), &migrate, pair.now).is_err());
    // On the next connection it may move again.
    let left = lose(&mut pair);
    resume(&mut pair, left);
    pair.client.send(&say::session(session), &migrate, pair.now).expect("it was resumed here");
}

#[test]
fn r3_a_session_moves_to_the_transport_that_the_hello_named() {
    let (mut pair, session) = resumable(1);
    let left = lose(&mut pair);
    // The client asks which transport carries the connection (C9).
    pair.client = Connection::new(Side::Client, Config::new(Side::Client), source(21), pair.now);
    pair.server = Connection::new(Side::Server, Config::new(Side::Server), source(22), pair.now);
    pair.abilities.transport = TransportId::Quic;
    let mut offer = Offer::new();
    offer.wishes.transport = Some(TransportPolicyExtension::default());
    pair.client.hello(&offer, b"", pair.now).expect("a good hello");
    pair.settle();
    resume(&mut pair, left);
    let migrate = |old_transport_id, new_transport_id| {
        let migrate = SessionMigrate { old_transport_id, new_transport_id, ..SessionMigrate::default() };
        Message::SessionMigrate(migrate, SessionMigrateBody { migration: b"" })
    };
    let header = say::session(session);
    let wrong = migrate(TransportId::Quic, TransportId::Tcp);
    let refused = pair.client.send(&header, &wrong, pair.now);
    assert!(matches!(refused, Err(Why::Refusal(refusal)) if refusal.rule == "R3"), "{refused:?}");
    pair.server.handle_bytes(&wrong.to_vec(&header).expect("a good packet"), pair.now);
    pair.settle();
    let moved = |pair: &Pair| {
        [&pair.client, &pair.server].map(|end| end.migration(session).expect("it is open").has_moved())
    };
    assert_eq!(moved(&pair), [false, false]);
    pair.client
        .send(&header, &migrate(TransportId::Tcp, TransportId::Quic), pair.now)
        .expect("it is the one");
    pair.settle();
    assert_eq!(moved(&pair), [true, true]);
    // The old path drains within its grace window, at both ends.
    let drains = |pair: &Pair, now| {
        [&pair.client, &pair.server]
            .map(|end| end.migration(session).expect("it is open").old_path_drains(now))
    };
    let grace = pair.server.config().hello.drain_ms;
    assert_eq!(drains(&pair, pair.now.after(grace - 1)), [true, true]);
    assert_eq!(drains(&pair, pair.now.after(grace)), [false, false]);
}

#[test]
fn c3_a_resume_takes_no_id_from_a_session_that_lives() {
    let mut pair = Pair::active();
    let open =
        SessionOpen { session_flags: SessionFlags::all(), requested_session_id: 1, ..SessionOpen::default() };
    let session = pair.open(&open);
    pair.submit(session, 1).expect("room");
    pair.settle();
    let left = lose(&mut pair);
    pair.client_events();
    // Its id was given to another one meanwhile.
    assert_eq!(pair.open(&open), session);
    pair.submit(session, 2).expect("room");
    pair.settle();
    for left in left {
        let (why, left) = pair.client.resume_session(left, b"", pair.now).expect_err("the id is in use");
        assert_eq!((why.code(), left.operations().len()), (ErrorCode::INVALID_STATE, 1));
    }
    assert_eq!(pair.server.snapshot().operations, 1);
}

#[test]
fn c3_a_server_gives_no_id_twice_for_a_token() {
    // The same, with a client that asks all the same.
    let mut pair = Pair::active();
    let open =
        SessionOpen { session_flags: SessionFlags::all(), requested_session_id: 1, ..SessionOpen::default() };
    let session = pair.open(&open);
    pair.submit(session, 1).expect("room");
    pair.settle();
    let left = lose(&mut pair);
    let mut request = Vec::new();
    for left in left {
        pair.client.resume_session(left, b"", pair.now).map_err(|(why, _)| why).expect("a free id");
        request = pair.client.poll_output().to_vec();
        pair.client.consume_output(request.len());
    }
    anew(&mut pair);
    pair.open(&open);
    pair.submit(session, 2).expect("room");
    pair.settle();
    pair.server_events();
    pair.server.handle_bytes(&request, pair.now);
    pair.settle();
    let refused = pair.server_events().into_iter().find_map(|event| match event {
        Event::SessionRefused { code, .. } => Some(code),
        _ => None,
    });
    assert_eq!(refused, Some(SessionErrorCode::SESSION_LIMIT_REACHED));
    assert!(pair.server.operations(session).unwrap().by_id(2).is_some());
}

#[test]
fn r1_without_room_for_a_token_nothing_is_promised() {
    let mut pair = Pair::active();
    pair.shelf = Shelf::new(Limits { sessions: 1, ..Limits::default() });
    let open = SessionOpen { session_flags: SessionFlags::all(), ..SessionOpen::default() };
    let (first, second) = (pair.open(&open), pair.open(&open));
    for session in [first, second] {
        pair.submit(session, 1).expect("room");
    }
    pair.settle();
    assert!(pair.client.sessions().get(first).unwrap().is_resumable());
    assert!(!pair.client.sessions().get(second).unwrap().is_resumable());
    pair.client_events();
    let left = pair.client.take_sessions(pair.now);
    assert_eq!(left.len(), 1);
    pair.settle();
    assert_eq!(ends(&pair.client_events()).len(), 1, "what cannot be resumed ends");
}

#[test]
fn r1_outcomes_that_are_kept_no_longer_are_reported() {
    let mut config = Config::new(Side::Server);
    config.outcomes.outcomes = 2;
    let mut pair = Pair::with(Config::new(Side::Client), config);
    pair.greet();
    let session = pair.open(&SessionOpen { session_flags: SessionFlags::all(), ..SessionOpen::default() });
    for id in 1..=3 {
        pair.submit(session, id).expect("room");
        pair.settle();
        pair.server.send_packet(&result(session, id), pair.now).expect("it lives");
        pair.settle();
    }
    assert_eq!(pair.server.session_snapshot(session).unwrap().kept, 2);
    for _ in 0..5 {
        pair.wait(14_000);
    }
    let mut gone = Vec::new();
    for event in pair.server_events() {
        if let Event::Unconfirmed { operations, .. } = event {
            gone.extend(operations);
        }
    }
    assert_eq!(gone, [1, 2, 3]);
    assert_eq!(pair.server.session_snapshot(session).unwrap().kept, 0);
}

#[test]
fn o5_a_supersede_of_the_servers_is_known_after_a_resume() {
    let (mut pair, session) = resumable(2);
    say(&mut pair.server, session, 1, &say::supersede(1, 2), pair.now).expect("both live");
    let left = lose(&mut pair);
    pair.client_events();
    resume(&mut pair, left);
    let ended = ends(&pair.client_events());
    assert_eq!(ended, [(1, OperationState::Superseded, Cause::Drop)]);
}

#[test]
fn c2_r1_r2_a_session_that_closes_is_not_resumed() {
    let (mut pair, session) = resumable(1);
    let close = nnrp_core::state::connection::drain_within(1_000);
    pair.client.close_session(session, &close, pair.now).expect("it is open");
    pair.settle();
    pair.server.park(&mut pair.shelf, pair.now);
    assert_eq!(pair.client.take_sessions(pair.now).len(), 0);
    pair.settle();
    for events in [pair.client_events(), pair.server_events()] {
        assert_eq!(ends(&events).len(), 1);
    }
    assert!(pair.shelf.is_empty());
}

#[test]
fn r3_w1_a_session_that_left_leaves_nothing_behind() {
    let (mut pair, session) = resumable(1);
    pair.client.send(&say::session(session), &say::put(1, b"object"), pair.now).expect("room");
    pair.settle();
    assert_eq!(pair.server.snapshot().cache_entries, 1);
    assert!(pair.server.park_session(session, &mut pair.shelf, pair.now));
    assert!(!pair.server.park_session(session, &mut pair.shelf, pair.now));
    let snapshot = pair.server.snapshot();
    assert_eq!((snapshot.sessions, snapshot.operations, snapshot.cache_entries), (0, 0, 0));
    assert!(pair.server.sessions().is_empty());
}

#[test]
fn c8_o5_r1_an_answer_that_cannot_be_taken_gives_the_operations_up_once() {
    // A SESSION_OPEN_ACK that grants what was not asked for.
    let (mut pair, _) = resumable(1);
    let left = lose(&mut pair);
    pair.client_events();
    ask(&mut pair, left);
    let ack = SessionOpenAck {
        session_id: 77,
        session_status: SessionStatus::Resumed,
        ..SessionOpenAck::default()
    };
    let bytes =
        Message::SessionOpenAck(ack, SessionOpenAckBody::default()).to_vec(&CommonHeader::default()).unwrap();
    pair.client.handle_bytes(&bytes, pair.now);
    let events: Vec<Event> = std::iter::from_fn(|| pair.client.poll_event()).collect();
    assert_eq!(ends(&events), [(1, OperationState::Cancelled, Cause::Close)]);
    let refused = events.iter().any(|event| matches!(event, Event::SessionRefused { .. }));
    assert!(refused, "{events:?}");
    assert_eq!(pair.client.snapshot().sessions, 0);
}

/// Requests of the server's application, in their order.
fn requests(server: &mut Connection) -> Vec<Ticket> {
    std::iter::from_fn(|| server.poll_event())
        .filter_map(|event| match event {
            Event::SessionRequested { ticket, .. } => Some(ticket),
            _ => None,
        })
        .collect()
}

/// A new session is asked for, and then the one that was lost; only the second is answered, and waits for the first (C8).
fn answer_that_waits(pair: &mut Pair, left: Vec<Left>) -> Ticket {
    pair.client.open_session(&SessionOpen::default(), b"", pair.now).expect("a good request");
    ask(pair, left);
    carry(&mut pair.client, &mut pair.server, Link::Whole, pair.now);
    let tickets = requests(&mut pair.server);
    assert_eq!(tickets.len(), 2);
    let policy = pair.policy;
    pair.server
        .answer_open(tickets[1], &policy, Verdicts::default(), &mut pair.shelf, pair.now)
        .expect("it waits");
    assert!(pair.server.poll_output().is_empty());
    tickets[1]
}

#[test]
fn r1_an_answer_that_never_went_out_resumes_nothing_and_loses_nothing() {
    for silent in [false, true] {
        let (mut pair, session) = resumable(2);
        let left = lose(&mut pair);
        answer_that_waits(&mut pair, left);
        if silent {
            let due = pair.server.poll_timeout().expect("it listens for the client");
            pair.server.handle_timeout(due.after(100_000));
            pair.server.handle_timeout(due.after(200_000));
            assert!(pair.server.is_over());
        }
        // Nobody heard of the resume, so the token is good for another one.
        let left = lose(&mut pair);
        assert_eq!((left.len(), pair.shelf.len()), (1, 1), "silent: {silent}");
        assert_eq!(ends(&pair.client_events()), []);
        assert_eq!(ends(&pair.server_events()), []);
        resume(&mut pair, left);
        let resumed = |events: &[Event]| {
            events.iter().any(|event| matches!(event, Event::SessionOpened { resumed: true, .. }))
        };
        assert!(resumed(&pair.client_events()) && resumed(&pair.server_events()));
        assert_eq!(pair.shelf.len(), 1, "the token that was used is gone, the new one is there");
        for id in 1..=2 {
            pair.server.send_packet(&result(session, id), pair.now).expect("it is live");
        }
        pair.settle();
        assert_eq!(ends(&pair.client_events()).len(), 2);
    }
}

#[test]
fn c8_r1_what_was_to_be_resumed_where_the_end_begins_can_be_had_elsewhere() {
    for answered in [false, true] {
        let (mut pair, session) = resumable(1);
        let left = lose(&mut pair);
        if answered {
            answer_that_waits(&mut pair, left);
        } else {
            ask(&mut pair, left);
            carry(&mut pair.client, &mut pair.server, Link::Whole, pair.now);
            assert_eq!(requests(&mut pair.server).len(), 1);
        }
        pair.server.close(pair.now).expect("it is active");
        pair.settle();
        let events = pair.client_events();
        let ticket = events.iter().find_map(|event| match event {
            Event::SessionRefused { ticket, retry: true, .. } => Some(*ticket),
            _ => None,
        });
        assert_eq!(ends(&events), []);
        let left = pair
            .client
            .take_refused(ticket.unwrap_or_else(|| panic!("{answered}: {events:?}")))
            .expect("it can be asked for again");
        pair.server.park(&mut pair.shelf, pair.now);
        anew(&mut pair);
        resume(&mut pair, vec![left]);
        assert_eq!(pair.server.operations(session).expect("it lives").len(), 1, "answered: {answered}");
    }
}

#[test]
fn r1_a_request_that_got_no_answer_is_held_where_the_server_falls_silent() {
    let (mut pair, session) = resumable(1);
    let left = lose(&mut pair);
    ask(&mut pair, left);
    while !pair.client.is_over() {
        pair.now = pair.client.poll_timeout().expect("it listens for the server");
        pair.client.handle_timeout(pair.now);
    }
    let events: Vec<Event> = std::iter::from_fn(|| pair.client.poll_event()).collect();
    assert!(
        events.iter().any(|event| matches!(event, Event::SessionRefused { retry: true, .. })),
        "{events:?}"
    );
    assert_eq!(ends(&events), []);
    let left = pair.client.take_sessions(pair.now);
    assert_eq!(left.iter().map(Left::session_id).collect::<Vec<_>>(), [session]);
}

/// Whether a result was late, which names the packet of an outcome that was delivered before.
fn late_results(events: &[Event]) -> usize {
    let is_late = |event: &&Event| match event {
        Event::Late { packet, .. } => matches!(packet.message(), Some(Message::ResultPush(..))),
        _ => false,
    };
    events.iter().filter(is_late).count()
}

#[test]
fn x1_an_operation_that_lives_on_the_server_may_be_the_waterline() {
    let (mut pair, session) = resumable(3);
    pair.server.send_packet(&result(session, 1), pair.now).expect("it lives");
    // The time of 2 is over for the client, which the server has not noticed yet.
    let due = pair.now.0 + 500;
    let flags = SchedulingFlags::DISCARD_STALE_WORK;
    say(&mut pair.client, session, 2, &say::deadline(2, due, flags), pair.now).expect("it lives");
    pair.settle();
    pair.client.handle_timeout(pair.now.after(500));
    pair.settle();
    assert_eq!(ends(&pair.client_events()).len(), 2);
    let left = lose(&mut pair);
    resume(&mut pair, left);
    // All up to 2 came, and so did 1.
    assert_eq!(late_results(&pair.client_events()), 0);
}

#[test]
fn o5_an_end_that_the_server_told_itself_is_known_after_a_resume() {
    let (mut pair, session) = resumable(1);
    pair.client.abort(session, 1, pair.now).expect("it lives");
    carry(&mut pair.client, &mut pair.server, Link::Whole, pair.now);
    assert_eq!(pair.server.snapshot().operations, 0);
    let left = lose(&mut pair);
    pair.client_events();
    resume(&mut pair, left);
    let ended = ends(&pair.client_events());
    assert_eq!(ended, [(1, OperationState::Cancelled, Cause::Cancel)]);
}

#[test]
fn r1_an_operation_that_is_used_again_does_not_get_an_old_outcome() {
    let (mut pair, session) = resumable(1);
    pair.submit(session, 2).expect("room");
    pair.settle();
    pair.server.send_packet(&result(session, 2), pair.now).expect("it lives");
    pair.settle();
    // The same operation once more, in another frame.
    let mut again = submit(session, 2, 0);
    again[CommonHeader::FRAME_ID_OFFSET..][..4].copy_from_slice(&12u32.to_le_bytes());
    pair.client.submit(&again, pair.now).expect("the operation has ended");
    pair.settle();
    let left = lose(&mut pair);
    pair.client_events();
    resume(&mut pair, left);
    let events = pair.client_events();
    assert_eq!((ends(&events).len(), late_results(&events)), (0, 0));
    assert_eq!(pair.client.snapshot().operations, 2);
}

#[test]
fn r1_a_server_that_drains_says_that_a_session_can_be_had_elsewhere() {
    let (mut pair, _) = resumable(1);
    let left = lose(&mut pair);
    // Something else is in flight, so that both ends live on for a while.
    let other = pair.open(&SessionOpen::default());
    pair.submit(other, 9).expect("room");
    pair.settle();
    pair.client_events();
    ask(&mut pair, left);
    carry(&mut pair.client, &mut pair.server, Link::Whole, pair.now);
    pair.server.close(pair.now).expect("it is active");
    carry(&mut pair.server, &mut pair.client, Link::Whole, pair.now);
    assert!(!pair.client.is_over());
    let events: Vec<Event> = std::iter::from_fn(|| pair.client.poll_event()).collect();
    let ticket = events.iter().find_map(|event| match event {
        Event::SessionRefused { ticket, retry: true, .. } => Some(*ticket),
        _ => None,
    });
    let ticket = ticket.unwrap_or_else(|| panic!("{events:?}"));
    assert!(pair.client.take_refused(ticket).is_some());
    assert_eq!(ends(&events), []);
}

#[test]
fn r1_without_a_window_no_token_is_told() {
    for resume_window_ms in [0, 60_000] {
        let (mut pair, _) = resumable(1);
        let left = lose(&mut pair);
        pair.policy.resume_window_ms = resume_window_ms;
        ask(&mut pair, left);
        carry(&mut pair.client, &mut pair.server, Link::Whole, pair.now);
        let [ticket] = requests(&mut pair.server)[..] else { panic!("one request") };
        let policy = pair.policy;
        pair.server
            .answer_open(ticket, &policy, Verdicts::default(), &mut pair.shelf, pair.now)
            .expect("it waits");
        let output = pair.server.poll_output();
        let mut splitter = nnrp_core::stream::Splitter::with_limit(1 << 20);
        let packet = splitter.next(&mut &*output).expect("a good packet").expect("a whole one");
        let Message::SessionOpenAck(ack, body) = packet.message() else { panic!("{packet:?}") };
        assert_eq!(ack.session_status, SessionStatus::Resumed);
        assert_eq!(body.resume_token.is_empty(), resume_window_ms == 0);
    }
}

#[test]
fn r1_without_resume_outcomes_are_released_once_sent() {
    for session_flags in [SessionFlags::empty(), SessionFlags::ALLOW_RESUME] {
        let mut pair = Pair::active();
        let session = pair.open(&SessionOpen { session_flags, ..SessionOpen::default() });
        pair.submit(session, 1).expect("room");
        pair.settle();
        pair.server.send_packet(&result(session, 1), pair.now).expect("it lives");
        let kept = pair.server.session_snapshot(session).expect("a live session").kept;
        assert_eq!(kept, usize::from(!session_flags.is_empty()));
    }
}

#[test]
fn r1_a_token_without_the_flag_keeps_nothing() {
    let mut pair = Pair::active();
    pair.client.open_session(&SessionOpen::default(), b"", pair.now).expect("room");
    let ack = SessionOpenAck { session_id: 5, max_in_flight_operations: 1, ..SessionOpenAck::default() };
    let body = SessionOpenAckBody { resume_token: &[7; 32], ..SessionOpenAckBody::default() };
    let bytes = Message::SessionOpenAck(ack, body).to_vec(&CommonHeader::default()).expect("a good answer");
    pair.client.handle_bytes(&bytes, pair.now);
    assert_eq!(pair.client.snapshot().sessions, 1);
    assert_eq!(pair.client.take_sessions(pair.now).len(), 0);
}

#[test]
fn r1_a_flag_without_a_token_keeps_nothing() {
    let mut pair = Pair::active();
    let session_flags = SessionFlags::ALLOW_RESUME;
    pair.client
        .open_session(&SessionOpen { session_flags, ..SessionOpen::default() }, b"", pair.now)
        .expect("room");
    let ack = SessionOpenAck {
        session_id: 5,
        resume_window_ms: 1_000,
        session_flags_ack: SessionFlagsAck::RESUME_ENABLED,
        ..SessionOpenAck::default()
    };
    pair.client.handle_bytes(&opened(ack, b""), pair.now);
    assert!(pair.client.sessions().get(5).is_some_and(|session| session.is_resumable()));
    assert_eq!(pair.client.take_sessions(pair.now).len(), 0);
}

/// SESSION_OPEN_ACK.
fn opened(ack: SessionOpenAck, resume_token: &[u8]) -> Vec<u8> {
    let body = SessionOpenAckBody { resume_token, ..SessionOpenAckBody::default() };
    Message::SessionOpenAck(ack, body).to_vec(&CommonHeader::default()).expect("a good answer")
}

#[test]
fn r1_a_session_that_is_asked_for_is_given_back_where_it_was_refused_only() {
    let (mut pair, session) = resumable(1);
    let mut left = lose(&mut pair);
    let left = left.pop().expect("one session");
    let ticket = pair.client.resume_session(left, b"", pair.now).map_err(|(why, _)| why).expect("a free id");
    assert!(pair.client.take_refused(ticket).is_none(), "the answer is on its way");
    pair.settle();
    assert_eq!(pair.client.operations(session).map(|live| live.len()), Some(1));
    assert!(pair.client.take_refused(ticket).is_none());
}

#[test]
fn r1_operations_are_in_the_same_state_at_both_ends_after_a_resume() {
    let (mut pair, session) = resumable(4);
    // Nothing of this arrives.
    pair.server.progress(session, 1, StageCode::EXECUTING, 0, pair.now).expect("it lives");
    pair.server.progress(session, 2, StageCode::EXECUTING, 0, pair.now).expect("it lives");
    pair.server.partial(session, 2, b"part", pair.now).expect("it lives");
    pair.server.progress(session, 3, StageCode::WAITING_DEPENDENCY, 0, pair.now).expect("it lives");
    let left = lose(&mut pair);
    resume(&mut pair, left);
    let (running, waiting) = (OperationState::Running, OperationState::WaitingTool);
    for end in [&pair.client, &pair.server] {
        let live = end.operations(session).expect("it is open");
        let states: Vec<_> = live.iter().map(|operation| operation.state()).collect();
        assert_eq!(states, [running, running, waiting, OperationState::Accepted]);
    }
}

#[test]
fn r1_a_pong_for_a_session_that_ended_says_nothing_of_the_next_one() {
    // Sessions of two servers, which gave them the same id.
    let lost = || {
        let mut pair = Pair::active();
        let open = SessionOpen {
            requested_session_id: 7,
            session_flags: SessionFlags::ALLOW_RESUME,
            ..SessionOpen::default()
        };
        let session = pair.open(&open);
        pair.submit(session, 1).expect("room");
        pair.settle();
        let left = lose(&mut pair);
        pair.client_events();
        (pair, left.into_iter().next().expect("one session"))
    };
    let ((mut pair, first), (_, second)) = (lost(), lost());
    let ack = SessionOpenAck {
        session_id: 7,
        session_status: SessionStatus::Resumed,
        resume_window_ms: 1_000,
        max_in_flight_operations: 9,
        session_flags_ack: SessionFlagsAck::RESUME_ENABLED,
        ..SessionOpenAck::default()
    };
    let error = Error { error_scope: ErrorScope::Session, is_fatal: true, ..Error::default() };
    let error = Message::Error(error, ErrorBody::default()).to_vec(&say::session(7)).expect("a good error");
    for (left, then) in [(first, error), (second, Vec::new())] {
        pair.client.resume_session(left, b"", pair.now).map_err(|(why, _)| why).expect("a free id");
        pair.client.handle_bytes(&[opened(ack, b"token"), then].concat(), pair.now);
    }
    let pong = Message::Pong.to_vec(&CommonHeader::default()).expect("a good packet");
    for alive in [1, 0] {
        pair.client.handle_bytes(&pong, pair.now);
        assert_eq!(pair.client.operations(7).map(|live| live.len()), Some(alive));
    }
}

#[test]
fn r1_s9_a_resume_may_let_operations_run() {
    let mut pair = Pair::active();
    pair.policy.max_in_flight = 0;
    let session = pair.open(&SessionOpen { session_flags: SessionFlags::all(), ..SessionOpen::default() });
    assert!(pair.submit(session, 1).is_err(), "none may run");
    pair.policy.max_in_flight = 1;
    let left = lose(&mut pair);
    resume(&mut pair, left);
    assert!(pair.submit(session, 1).expect("one may"));
    assert!(!pair.submit(session, 2).expect("another one waits"));
    pair.settle();
    assert_eq!((pair.client.snapshot().operations, pair.server.snapshot().operations), (1, 1));
}

#[test]
fn r1_s7_what_was_patched_and_counted_goes_on_after_a_resume() {
    let (mut pair, session) = resumable(2);
    let patch =
        SessionPatch { patch_mask: PatchMask::QUALITY_TIER, quality_tier: 3, ..SessionPatch::default() };
    let message = Message::SessionPatch(patch, SessionPatchBody::default());
    pair.client.send(&say::session(session), &message, pair.now).expect("it is open");
    pair.settle();
    let left = lose(&mut pair);
    resume(&mut pair, left);
    for end in [&pair.client, &pair.server] {
        let session = end.sessions().get(session).expect("it is open");
        assert_eq!((session.settings().quality_tier, session.live(), session.submitted()), (3, 2, 2));
    }
}

#[test]
fn r1_r3_a_session_is_resumed_on_the_connection_that_has_it() {
    let (mut pair, session) = resumable(1);
    // The client takes it for lost, and asks for it by the same server connection.
    let left = pair.client.take_sessions(pair.now).pop().expect("one session");
    let mut other = Pair::active();
    other.client.resume_session(left, b"", pair.now).map_err(|(why, _)| why).expect("a free id");
    pair.server.handle_bytes(other.client.poll_output(), pair.now);
    let [ticket] = requests(&mut pair.server)[..] else { panic!("one request") };
    assert_eq!(pair.server.wants(ticket, &pair.shelf, pair.now), None, "it is here");
    let policy = pair.policy;
    pair.server
        .answer_open(ticket, &policy, Verdicts::default(), &mut pair.shelf, pair.now)
        .expect("it waits");
    let resumed = std::iter::from_fn(|| pair.server.poll_event()).any(|event| {
        matches!(event, Event::SessionOpened { resumed: true, session_id, .. } if session_id == session)
    });
    assert!(resumed);
    assert_eq!(pair.server.operations(session).map(|live| live.len()), Some(1));
    assert_eq!((pair.server.snapshot().sessions, pair.shelf.len()), (1, 1));
}

#[test]
fn r3_a_session_on_the_shelf_is_wanted_of_no_connection() {
    let (mut pair, _) = resumable(1);
    let left = lose(&mut pair);
    ask(&mut pair, left);
    carry(&mut pair.client, &mut pair.server, Link::Whole, pair.now);
    let [ticket] = requests(&mut pair.server)[..] else { panic!("one request") };
    assert_eq!(pair.server.wants(ticket, &pair.shelf, pair.now), None);
}

#[test]
fn r1_a_full_shelf_has_room_for_who_comes_back() {
    let mut pair = Pair::active();
    pair.shelf = Shelf::new(Limits { sessions: 1, ..Limits::default() });
    let session = pair.open(&SessionOpen { session_flags: SessionFlags::all(), ..SessionOpen::default() });
    for _ in 0..2 {
        let left = lose(&mut pair);
        assert_eq!(left.len(), 1);
        resume(&mut pair, left);
        assert!(pair.client.sessions().get(session).is_some_and(|session| session.is_resumable()));
    }
}

#[test]
fn r2_the_token_of_a_session_that_never_was_is_worth_nothing() {
    let mut pair = Pair::active();
    let open = SessionOpen { session_flags: SessionFlags::ALLOW_RESUME, ..SessionOpen::default() };
    for _ in 0..2 {
        pair.client.open_session(&open, b"", pair.now).expect("a good request");
    }
    carry(&mut pair.client, &mut pair.server, Link::Whole, pair.now);
    // The answer to the second waits for that to the first (C8), and never goes out.
    let [_, second] = requests(&mut pair.server)[..] else { panic!("two requests") };
    let policy = pair.policy;
    pair.server
        .answer_open(second, &policy, Verdicts::default(), &mut pair.shelf, pair.now)
        .expect("it waits");
    assert_eq!(pair.shelf.len(), 1);
    pair.server.park(&mut pair.shelf, pair.now);
    assert!(pair.shelf.is_empty());
}

#[test]
fn o5_r1_a_transport_that_is_lost_ends_what_was_asked_for_again() {
    let (mut pair, _) = resumable(1);
    let left = lose(&mut pair);
    pair.client_events();
    ask(&mut pair, left);
    pair.client.handle_lost(pair.now);
    let events: Vec<Event> = std::iter::from_fn(|| pair.client.poll_event()).collect();
    assert_eq!(ends(&events), [(1, OperationState::Cancelled, Cause::Close)]);
}

#[test]
fn r2_a_token_is_worth_nothing_to_another_client() {
    let (mut pair, _) = resumable(1);
    pair.server.park(&mut pair.shelf, pair.now);
    let left = pair.client.take_sessions(pair.now);
    pair.client = Connection::new(Side::Client, Config::new(Side::Client), source(11), pair.now);
    pair.server = Connection::new(Side::Server, Config::new(Side::Server), source(12), pair.now);
    pair.client.hello(&Offer::new(), b"", pair.now).expect("a good hello");
    carry(&mut pair.client, &mut pair.server, Link::Whole, pair.now);
    let Some(Event::Hello { offer, .. }) = pair.server.poll_event() else { panic!("no hello") };
    // Whoever had the session was 7.
    pair.server.accept(&pair.abilities, &offer, Verdict::Accept, 8, pair.now).expect("it is offered");
    pair.settle();
    pair.client_events();
    resume(&mut pair, left);
    let refused = pair.client_events().into_iter().find_map(|event| match event {
        Event::SessionRefused { code, .. } => Some(code),
        _ => None,
    });
    assert_eq!(refused, Some(SessionErrorCode::RESUME_REJECTED));
}

/// The answer to a resume is lost with its connection; once the client has shown that it has the new token, the old one is
/// good for nothing, wherever it comes.
#[test]
fn r2_the_token_before_is_good_until_the_client_says_something() {
    for heard in [false, true] {
        let (mut pair, session) = resumable(1);
        let left = lose(&mut pair);
        ask(&mut pair, left);
        let request = pair.client.poll_output().to_vec();
        pair.settle();
        if heard {
            say(&mut pair.client, session, 1, &say::cancel(1), pair.now).expect("it lives");
            pair.settle();
        }
        lose(&mut pair);
        pair.server_events();
        pair.server.handle_bytes(&request, pair.now);
        pair.settle();
        let answers = pair.server_events();
        let resumed = |event: &Event| matches!(event, Event::SessionOpened { resumed: true, .. });
        let rejected = |event: &Event| {
            matches!(event, Event::SessionRefused { code: SessionErrorCode::RESUME_REJECTED, .. })
        };
        assert_eq!(answers.iter().any(resumed), !heard, "{answers:?}");
        assert_eq!(answers.iter().any(rejected), heard, "{answers:?}");
        assert_eq!(pair.shelf.len(), 1);
    }
}

/// A session that is resumed without a window from then on is there until that was heard, and not resumable after it.
#[test]
fn r1_a_resume_that_takes_the_window_away_counts_once_it_is_heard() {
    for sent in [false, true] {
        let (mut pair, session) = resumable(1);
        let left = lose(&mut pair);
        pair.policy.resume_window_ms = 0;
        if sent {
            resume(&mut pair, left);
            assert_eq!(pair.server.operations(session).map(|all| all.len()), Some(1));
        } else {
            answer_that_waits(&mut pair, left);
        }
        let left = lose(&mut pair);
        assert_eq!((left.len(), pair.shelf.len()), if sent { (0, 0) } else { (1, 1) });
        assert_eq!(ends(&pair.client_events()).len(), usize::from(sent));
    }
}
