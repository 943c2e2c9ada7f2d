//! Time: PING and silence, negotiation, drain, idling, and that nothing spins.

use nnrp_core::state::connection::{Config, Event, Over, drain_within};
use nnrp_core::state::hello::Offer;
use nnrp_core::state::{Side, Time, session};
use nnrp_core::*;
use nnrp_tests::pair::{self, Link, Pair, carry};

use super::say;

fn over(events: &[Event]) -> Option<Over> {
    events.iter().find_map(|event| match event {
        Event::Over(over) => Some(*over),
        _ => None,
    })
}

#[test]
fn c1_a_ping_keeps_a_quiet_connection_and_measures_it() {
    let mut pair = Pair::active();
    for _ in 0..20 {
        pair.wait(15_000);
    }
    assert!(!pair.client.is_over() && !pair.server.is_over());
    pair.client.ping(pair.now);
    pair.now = pair.now.after(30);
    pair.settle();
    assert_eq!(pair.client.snapshot().round_trip_ms, Some(30));
    // A PONG that nobody asked for changes nothing.
    let pong = Message::Pong.to_vec(&CommonHeader::default()).unwrap();
    pair.client.handle_bytes(&pong, pair.now.after(500));
    assert_eq!(pair.client.snapshot().round_trip_ms, Some(30));
}

#[test]
fn c1_r1_silence_is_the_loss_of_the_transport() {
    let mut pair = Pair::active();
    let resumable = pair.open(&SessionOpen { session_flags: SessionFlags::all(), ..SessionOpen::default() });
    let plain = pair.open(&SessionOpen::default());
    for session in [resumable, plain] {
        pair.submit(session, 1).expect("room");
    }
    pair.settle();
    // Nothing comes through any more.
    let mut now = pair.now;
    while !pair.client.is_over() {
        now = pair.client.poll_timeout().expect("it waits for something");
        pair.client.handle_timeout(now);
        assert!(pair.client.poll_timeout().is_none_or(|next| next > now), "it spins");
    }
    assert_eq!(now, pair.now.after(45_000));
    let events: Vec<Event> = std::iter::from_fn(|| pair.client.poll_event()).collect();
    assert_eq!(over(&events), Some(Over::Silence));
    let ended: Vec<u32> = events
        .iter()
        .filter_map(|event| match event {
            Event::Ended { session_id, .. } => Some(*session_id),
            _ => None,
        })
        .collect();
    assert_eq!(ended, [plain], "what can be resumed is held");
    let left = pair.client.take_sessions(now);
    assert_eq!(left.len(), 1);
    assert_eq!((left[0].session_id(), left[0].operations().len()), (resumable, 1));
    assert_eq!(pair.client.snapshot().operations, 0);
    // And where nobody wants them, they end.
    pair.server.handle_timeout(now.after(100_000));
    assert!(pair.server.is_over());
    let count = |pair: &mut Pair| {
        let events = std::iter::from_fn(|| pair.server.poll_event());
        events.filter(|event| matches!(event, Event::Ended { .. })).count()
    };
    assert_eq!(count(&mut pair), 1);
    pair.server.handle_lost(now.after(100_000));
    assert_eq!(count(&mut pair), 1);
}

#[test]
fn c1_bytes_that_have_to_wait_are_no_silence() {
    let mut config = Config::new(Side::Server);
    config.events = 1;
    let mut pair = Pair::with(Config::new(Side::Client), config);
    pair.greet();
    let session = pair.open(&SessionOpen::default());
    pair.submit(session, 1).expect("room");
    carry(&mut pair.client, &mut pair.server, Link::Whole, pair.now);
    assert!(pair.server.is_full());
    for _ in 0..10 {
        pair.now = pair.now.after(10_000);
        assert_eq!(pair.server.handle_bytes(b"N", pair.now), 0);
        pair.server.handle_timeout(pair.now);
    }
    assert!(!pair.server.is_over());
}

#[test]
fn c1_negotiation_has_its_time() {
    let mut pair = Pair::default();
    let began = pair.now;
    pair.client.hello(&Offer::new(), b"", began).expect("a good offer");
    assert_eq!(pair.client.poll_timeout(), Some(began.after(10_000)));
    pair.client.handle_timeout(began.after(9_999));
    assert!(!pair.client.is_over());
    pair.client.handle_timeout(began.after(10_000));
    assert_eq!(pair.client.state(), ConnectionState::Closed);
    assert_eq!(pair.client.poll_event(), Some(Event::Over(Over::Time)));
    assert_eq!(pair.client.poll_timeout(), None);
}

#[test]
fn c1_draining_lets_work_finish_in_its_time() {
    for finishes in [true, false] {
        let mut pair = Pair::active();
        let session = pair.open(&SessionOpen::default());
        pair.submit(session, 1).expect("room");
        pair.settle();
        pair.client.close(pair.now).expect("it is active");
        pair.settle();
        assert_eq!(pair.server.state(), ConnectionState::Draining);
        assert!(pair.submit(session, 2).is_err());
        assert!(pair.client.open_session(&SessionOpen::default(), b"", pair.now).is_err());
        // A second CLOSE, that crosses the first, is fine and says nothing new.
        pair.server.close(pair.now).expect("it drains");
        pair.settle();
        let draining =
            |events: &[Event]| events.iter().filter(|event| matches!(event, Event::Draining)).count();
        let (client, server) = (pair.client_events(), pair.server_events());
        assert_eq!((draining(&client), draining(&server)), (1, 1));
        if finishes {
            pair.server.send_packet(&pair::result(session, 1), pair.now).expect("it drains");
            pair.settle();
        } else {
            pair.wait(30_000);
        }
        for events in [pair.client_events(), pair.server_events()] {
            let why = if finishes { Over::Done } else { Over::Time };
            // What ended comes first, then its session, then the connection.
            let names: Vec<&str> = events
                .iter()
                .filter_map(|event| match event {
                    Event::Ended { .. } => Some("ended"),
                    Event::SessionClosed { .. } => Some("closed"),
                    Event::Over(over) => {
                        assert_eq!(*over, why);
                        Some("over")
                    }
                    _ => None,
                })
                .collect();
            assert_eq!(names, ["ended", "closed", "over"], "{events:?}");
        }
        assert_eq!(pair.client.snapshot().operations, 0);
    }
}

#[test]
fn c1_what_waits_when_the_end_begins_comes_back() {
    let mut pair = Pair::active();
    pair.policy.credit = 1;
    let session = pair.open(&SessionOpen::default());
    assert!(pair.submit(session, 1).expect("room"));
    assert!(!pair.submit(session, 2).expect("it waits"));
    let asked = pair.client.open_session(&SessionOpen::default(), b"", pair.now).expect("room");
    pair.client.close(pair.now).expect("it is active");
    let events: Vec<Event> = std::iter::from_fn(|| pair.client.poll_event()).collect();
    assert!(events.iter().any(|event| matches!(event, Event::Unsent { operation_id: 2, .. })));
    pair.client.handle_lost(pair.now);
    let events: Vec<Event> = std::iter::from_fn(|| pair.client.poll_event()).collect();
    let refused = Event::SessionRefused { ticket: asked, code: SessionErrorCode::NONE, retry: false };
    assert!(events.contains(&refused), "{events:?}");
}

#[test]
fn c2_c8_requests_are_answered_when_the_end_begins() {
    let mut pair = Pair::active();
    let asked = pair.client.open_session(&SessionOpen::default(), b"", pair.now).expect("room");
    let session = pair.open(&SessionOpen::default());
    pair.submit(session, 1).expect("room");
    pair.settle();
    pair.client_events();
    // One more, whose answer is not given before the server closes.
    let late = pair.client.open_session(&SessionOpen::default(), b"", pair.now).expect("room");
    carry(&mut pair.client, &mut pair.server, Link::Whole, pair.now);
    pair.server.close(pair.now).expect("it is active");
    let ticket = std::iter::from_fn(|| pair.server.poll_event()).find_map(|event| match event {
        Event::SessionRequested { ticket, .. } => Some(ticket),
        _ => None,
    });
    carry(&mut pair.server, &mut pair.client, Link::Whole, pair.now);
    let events: Vec<Event> = std::iter::from_fn(|| pair.client.poll_event()).collect();
    let refused = |event: &Event| matches!(event, Event::SessionRefused { ticket, .. } if *ticket == late);
    assert!(events.iter().any(refused), "{events:?}");
    let policy = pair.policy;
    let answer = pair.server.answer_open(
        ticket.expect("a request"),
        &policy,
        session::Verdicts::default(),
        &mut pair.shelf,
        pair.now,
    );
    assert!(answer.is_err());
    assert_ne!(asked, late);
}

#[test]
fn s6_an_idle_session_is_closed() {
    let mut config = Config::new(Side::Server);
    config.sessions.idle_ms = 5_000;
    let mut pair = Pair::with(Config::new(Side::Client), config);
    pair.greet();
    let session = pair.open(&SessionOpen::default());
    // What is said in it keeps it, and so does an operation.
    pair.wait(4_000);
    pair.client.send(&say::session(session), &say::put(1, b"x"), pair.now).expect("it is open");
    pair.settle();
    pair.wait(4_000);
    pair.submit(session, 1).expect("room");
    pair.settle();
    pair.wait(20_000);
    assert_eq!(pair.server.snapshot().sessions, 1);
    pair.server.send_packet(&pair::result(session, 1), pair.now).expect("it lives");
    pair.settle();
    pair.client_events();
    pair.wait(5_000);
    let events = pair.client_events();
    let reason = events.iter().find_map(|event| match event {
        Event::CloseRequested { close, .. } => Some(close.close_reason),
        _ => None,
    });
    assert_eq!(reason, Some(CloseReason::IdleTimeout), "{events:?}");
    pair.client
        .answer_close(session, session::Verdict::Proceed { last_operation_id: 0 }, pair.now)
        .expect("it was asked for");
    pair.settle();
    assert_eq!((pair.client.snapshot().sessions, pair.server.snapshot().sessions), (0, 0));
}

#[test]
fn s3_aborts_that_cross_end_everything_in_order() {
    let mut pair = Pair::active();
    let session = pair.open(&SessionOpen::default());
    for operation in 1..=3 {
        pair.submit(session, operation).expect("room");
    }
    pair.settle();
    pair.client_events();
    pair.server_events();
    let abort = SessionClose { in_flight_policy: InFlightPolicy::Abort, ..SessionClose::default() };
    pair.client.close_session(session, &abort, pair.now).expect("it is open");
    pair.server.close_session(session, &abort, pair.now).expect("it is open");
    pair.settle();
    let verdict = session::Verdict::Proceed { last_operation_id: 0 };
    pair.server.answer_close(session, verdict, pair.now).expect("it was asked for");
    pair.settle();
    let _ = pair.client.answer_close(session, verdict, pair.now);
    pair.settle();
    for events in [pair.client_events(), pair.server_events()] {
        let names: Vec<&str> = events
            .iter()
            .filter_map(|event| match event {
                Event::Ended { .. } => Some("ended"),
                Event::SessionClosed { .. } => Some("closed"),
                _ => None,
            })
            .collect();
        assert_eq!(names, ["ended", "ended", "ended", "closed"], "{events:?}");
    }
}

#[test]
fn s3_an_abort_that_is_acknowledged_ends_operations_on_both_sides() {
    let mut pair = Pair::active();
    let session = pair.open(&SessionOpen::default());
    pair.submit(session, 1).expect("room");
    pair.settle();
    let abort = SessionClose { in_flight_policy: InFlightPolicy::Abort, ..SessionClose::default() };
    pair.client.close_session(session, &abort, pair.now).expect("it is open");
    pair.settle();
    pair.server.answer_close(session, session::Verdict::Acknowledge, pair.now).expect("it was asked for");
    pair.settle();
    assert_eq!((pair.client.snapshot().operations, pair.server.snapshot().operations), (0, 0));
    assert_eq!(pair.server.snapshot().sessions, 1);
    assert!(pair.client.close_session(session, &drain_within(1), pair.now).is_err());
    assert_eq!(pair.now, Time(1_000));
}
