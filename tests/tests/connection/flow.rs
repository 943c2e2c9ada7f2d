//! Credit, pressure and the queue of submits (W1–W5, D17, C7, O10).

use nnrp_core::state::connection::{Event, Why};
use nnrp_core::state::credit::Blocked;
use nnrp_core::*;
use nnrp_tests::pair::{Pair, result, submit};

use super::say::{self, say};

fn server_ids(pair: &mut Pair) -> Vec<u64> {
    pair.server_events()
        .into_iter()
        .filter_map(|event| match event {
            Event::Submitted { operation_id, .. } => Some(operation_id),
            _ => None,
        })
        .collect()
}

#[test]
fn s9_w1_what_waits_goes_out_when_a_place_is_free() {
    let mut pair = Pair::active();
    pair.policy.credit = 2;
    let session = pair.open(&SessionOpen::default());
    let sent: Vec<bool> = (1..=4).map(|id| pair.submit(session, id).expect("it may wait")).collect();
    assert_eq!(sent, [true, true, false, false]);
    let blocked = pair.client.send_packet(&submit(session, 9, 0), pair.now);
    assert_eq!(blocked, Err(Why::Blocked(Blocked::NoCredit)));
    pair.settle();
    assert_eq!(server_ids(&mut pair), [1, 2]);
    assert_eq!(pair.client.snapshot().queued, 2);
    pair.server.send_packet(&result(session, 2), pair.now).expect("it lives");
    pair.settle();
    assert_eq!(server_ids(&mut pair), [3]);
    // A larger window lets the rest out.
    pair.server.send(&say::session(session), &say::credit(5, 1), pair.now).expect("it is open");
    pair.settle();
    assert_eq!(server_ids(&mut pair), [4]);
    // W2: an older epoch changes nothing.
    pair.server.send(&say::session(session), &say::credit(1, 9), pair.now).expect("it is open");
    pair.server.send(&say::session(session), &say::credit(50, 8), pair.now).expect("it is open");
    pair.settle();
    for end in [&pair.client, &pair.server] {
        assert_eq!(end.session_snapshot(session).unwrap().credit.limit, Some(1));
    }
}

#[test]
fn o2_s9_a_full_session_makes_submits_wait_and_a_closed_one_refuses_them() {
    let mut pair = Pair::active();
    let session = pair.open(&SessionOpen { max_in_flight_operations: 2, ..SessionOpen::default() });
    // More credit than may live.
    pair.server.send(&say::session(session), &say::credit(9, 1), pair.now).expect("it is open");
    pair.settle();
    let sent: Vec<bool> = (1..=3).map(|id| pair.submit(session, id).expect("it may wait")).collect();
    assert_eq!(sent, [true, true, false]);
    // What is wrong for good is said at once.
    let again = pair.submit(session, 1).expect_err("it is live");
    assert!(matches!(again, Why::Refusal(refusal) if refusal.rule == "O2"), "{again}");
    let again = pair.submit(session, 3).expect_err("it waits");
    assert!(matches!(again, Why::Refusal(refusal) if refusal.rule == "O2"), "{again}");
    pair.settle();
    pair.server.send_packet(&result(session, 1), pair.now).expect("it lives");
    pair.settle();
    assert_eq!(server_ids(&mut pair), [1, 2, 3]);
    assert!(!pair.submit(session, 4).expect("it may wait"));
    pair.server.close_session(session, &SessionClose::default(), pair.now).expect("it is open");
    pair.settle();
    let refused = pair.submit(session, 5).expect_err("it closes");
    assert!(matches!(refused, Why::Refusal(refusal) if refusal.rule == "S4"), "{refused}");
}

#[test]
fn s9_where_none_may_run_nothing_waits() {
    let mut pair = Pair::active();
    pair.policy.max_in_flight = 0;
    let session = pair.open(&SessionOpen::default());
    let refused = pair.submit(session, 1).expect_err("none may run");
    assert!(matches!(refused, Why::Refusal(refusal) if refusal.rule == "S9"), "{refused}");
}

#[test]
fn w1_the_queue_serves_the_urgent_first_and_starves_none() {
    let mut pair = Pair::active();
    let mut sessions = Vec::new();
    for priority_class in
        [SessionPriorityClass::Background, SessionPriorityClass::Balanced, SessionPriorityClass::Interactive]
    {
        sessions.push(pair.open(&SessionOpen { priority_class, ..SessionOpen::default() }));
    }
    // The connection has one place.
    let one = |connection_credit, credit_epoch| {
        Message::FlowUpdate(FlowUpdate {
            scope_kind: ScopeKind::Connection,
            update_reason: UpdateReason::Grant,
            connection_credit,
            credit_epoch,
            flow_flags: FlowFlags::CREDIT_VALID,
            ..FlowUpdate::default()
        })
    };
    pair.server.send(&CommonHeader::default(), &one(1, 1), pair.now).expect("it is active");
    pair.settle();
    assert!(pair.submit(sessions[0], 1).expect("the place"));
    let mut id = 1;
    for _ in 0..30 {
        for session in &sessions {
            id += 1;
            assert!(!pair.submit(*session, id).expect("it waits"));
        }
    }
    pair.settle();
    let mut order = Vec::new();
    for _ in 0..91 {
        let events = pair.server_events();
        let next = events.into_iter().find_map(|event| match event {
            Event::Submitted { session_id, operation_id, .. } => Some((session_id, operation_id)),
            _ => None,
        });
        let (session, operation) = next.expect("one at a time");
        order.push(sessions.iter().position(|other| *other == session).expect("one of them"));
        pair.server.send_packet(&result(session, operation), pair.now).expect("it lives");
        pair.settle();
    }
    let first = &order[1..21];
    let count = |class: usize| first.iter().filter(|other| **other == class).count();
    assert!(count(2) > count(1) && count(1) > count(0), "{first:?}");
    assert!(count(1) >= 3 && count(0) >= 1, "{first:?}");
    assert_eq!(pair.client.snapshot().queued, 0);
}

#[test]
fn d17_retry_after_holds_and_then_lets_go() {
    for of_session in [true, false] {
        let mut pair = Pair::active();
        let session = pair.open(&SessionOpen::default());
        let (header, scope) =
            if of_session { (say::session(session), session) } else { (CommonHeader::default(), 0) };
        pair.server
            .send(&header, &say::retry(scope.into(), 500, RetryAfterFlags::empty()), pair.now)
            .expect("it is active");
        pair.settle();
        assert!(!pair.submit(session, 1).expect("it waits"));
        let due = pair.client.poll_timeout().expect("it waits for something");
        assert_eq!(due, pair.now.after(500));
        pair.wait(499);
        assert!(server_ids(&mut pair).is_empty());
        pair.wait(1);
        assert_eq!(server_ids(&mut pair), [1]);
        // What is over is not waited for again, whatever else waits.
        pair.server.send(&say::session(session), &say::credit(1, 1), pair.now).expect("it is open");
        pair.settle();
        assert!(!pair.submit(session, 2).expect("it waits"));
        assert!(pair.client.poll_timeout().is_none_or(|next| next > pair.now));
    }
}

#[test]
fn d17_retry_after_of_an_operation_holds_its_partials() {
    let mut pair = Pair::active();
    let session = pair.open(&SessionOpen::default());
    pair.submit(session, 1).expect("room");
    pair.submit(session, 2).expect("room");
    pair.settle();
    let mut message = say::retry(1, 500, RetryAfterFlags::APPLIES_TO_OPERATION);
    if let Message::RetryAfter(retry, _) = &mut message {
        retry.source_role = Role::CLIENT;
    }
    pair.client.send(&say::session(session), &message, pair.now).expect("it lives");
    pair.settle();
    let now = pair.now;
    let held = say(&mut pair.server, session, 1, &say::partial(1), now);
    assert_eq!(held, Err(Why::Blocked(Blocked::Held(now.after(500)))));
    say(&mut pair.server, session, 2, &say::partial(2), now).expect("another one");
    say(&mut pair.server, session, 1, &say::partial(1), now.after(500)).expect("its time is over");
    // An unknown operation is refused, one that has ended is ignored.
    let unknown = say::retry(77, 500, RetryAfterFlags::APPLIES_TO_OPERATION);
    assert!(pair.client.send(&say::session(session), &unknown, now).is_err());
}

#[test]
fn w1_w5_partials_need_the_credit_of_their_operation() {
    let mut pair = Pair::active();
    let session = pair.open(&SessionOpen::default());
    pair.submit(session, 1).expect("room");
    pair.settle();
    let now = pair.now;
    say(&mut pair.server, session, 1, &say::partial(1), now).expect("without an update there is no limit");
    let credit = Pressure {
        scope_id: 1,
        credit_window: 1,
        flags: PressureFlags::APPLIES_TO_OPERATION,
        ..Pressure::default()
    };
    let credit = Message::CreditUpdate(credit);
    pair.client.send(&say::session(session), &credit, now).expect("it lives");
    pair.settle();
    say(&mut pair.server, session, 1, &say::partial(1), now).expect("one");
    let blocked = say(&mut pair.server, session, 1, &say::partial(1), now);
    assert_eq!(blocked, Err(Why::Blocked(Blocked::NoCredit)));
    assert_eq!(pair.server.operation_snapshot(session, 1, now).unwrap().partial_credit, Some(0));
    // The terminal result needs none (C7).
    pair.server.send_packet(&result(session, 1), now).expect("it lives");
    pair.settle();
    // An update that crosses the end is no fault of anybody's.
    assert!(pair.client.send(&say::session(session), &credit, now).is_err());
    let bytes = credit.to_vec(&say::session(session)).unwrap();
    pair.server.handle_bytes(&bytes, now);
    pair.settle();
    let events = pair.server_events();
    assert!(events.iter().any(|event| matches!(event, Event::Late { .. })), "{events:?}");
    assert!(!events.iter().any(|event| matches!(event, Event::Refused { .. })), "{events:?}");
}

#[test]
fn c7_results_flow_while_submits_wait() {
    let mut pair = Pair::active();
    pair.policy.credit = 1;
    let session = pair.open(&SessionOpen::default());
    for id in 1..=50 {
        pair.submit(session, id).expect("it may wait");
    }
    let pause = Message::FlowUpdate(FlowUpdate {
        scope_kind: ScopeKind::Connection,
        update_reason: UpdateReason::Pause,
        credit_epoch: 1,
        ..FlowUpdate::default()
    });
    pair.settle();
    pair.server.send(&CommonHeader::default(), &pause, pair.now).expect("it is active");
    let now = pair.now;
    say(&mut pair.server, session, 1, &say::progress(1, StageCode::EXECUTING), now).expect("it lives");
    pair.server.send_packet(&result(session, 1), now).expect("it lives");
    pair.settle();
    let events = pair.client_events();
    assert!(events.iter().any(|event| matches!(event, Event::Ended { packet: Some(_), .. })), "{events:?}");
    assert_eq!(pair.client.snapshot().queued, 49);
    let resume = Message::FlowUpdate(FlowUpdate {
        scope_kind: ScopeKind::Connection,
        update_reason: UpdateReason::Resume,
        credit_epoch: 2,
        ..FlowUpdate::default()
    });
    pair.server.send(&CommonHeader::default(), &resume, pair.now).expect("it is active");
    pair.settle();
    assert_eq!(pair.client.snapshot().queued, 48);
    // Pressure for background work alone lets nothing else go on (W3).
    let only = Message::FlowUpdate(FlowUpdate {
        scope_kind: ScopeKind::Connection,
        update_reason: UpdateReason::Congestion,
        credit_epoch: 3,
        flow_flags: FlowFlags::BACKGROUND_ONLY,
        ..FlowUpdate::default()
    });
    pair.server.send(&CommonHeader::default(), &only, pair.now).expect("it is active");
    pair.server.send_packet(&result(session, 2), now).expect("it lives");
    pair.settle();
    assert_eq!(pair.client.snapshot().queued, 48);
}

#[test]
fn o8_w1_a_submit_that_waited_too_long_comes_back() {
    let mut pair = Pair::active();
    pair.policy.credit = 1;
    let session = pair.open(&SessionOpen { default_deadline_ms: 1_000, ..SessionOpen::default() });
    pair.submit(session, 1).expect("room");
    pair.submit(session, 2).expect("it waits");
    pair.submit(session, 3).expect("it waits");
    assert!(pair.client.withdraw(session, 3) && !pair.client.withdraw(session, 3));
    pair.settle();
    pair.client_events();
    pair.wait(1_000);
    let events = pair.client_events();
    assert!(
        events.iter().any(|event| matches!(event, Event::Unsent { operation_id: 2, refusal: None, .. })),
        "{events:?}"
    );
    assert_eq!(pair.client.snapshot().queued, 0);
}
