//! SESSION_CLOSE, its answers, drains and timeouts.

use super::*;
use crate::SessionErrorCode;

/// A server whose session 7 has that many live operations and whose client asked to close it.
fn asked(live: u32, close: SessionClose) -> Sessions {
    let mut server = client(7, SessionFlags::empty(), |_| {});
    server.side = Side::Server;
    for _ in 0..live {
        server.apply_submit(server.check_submit(7).unwrap(), NOW);
    }
    server.apply_peer_close(server.check_peer_close(7, &close).unwrap(), NOW);
    assert_eq!(state_of(&server, 7), SessionState::Closing);
    server
}

const PROCEED: Verdict = Verdict::Proceed { last_operation_id: 9 };

fn drain(drain_timeout_ms: u32) -> SessionClose {
    SessionClose { drain_timeout_ms, ..Default::default() }
}

fn abort() -> SessionClose {
    SessionClose { in_flight_policy: InFlightPolicy::Abort, drain_timeout_ms: 500, ..Default::default() }
}

fn status(step: Step) -> (SessionState, bool, Option<CloseStatus>) {
    (step.state, step.cancel, step.ack.map(|ack| ack.close_status))
}

/// Everything that can move a session, from every state: what it reaches is what the registry's table has.
#[test]
fn s1_moves_only_along_the_table() {
    let opened = |status| {
        move |s: &mut Sessions| {
            let ack = SessionOpenAck {
                session_id: if matches!(status, SessionStatus::Opened | SessionStatus::Resumed) {
                    7
                } else {
                    0
                },
                session_status: status,
                session_error_code: SessionErrorCode::NONE,
                ..Default::default()
            };
            let ack = SessionOpenAck {
                session_error_code: if ack.session_id == 0 {
                    SessionErrorCode::AUTH_FAILED
                } else {
                    ack.session_error_code
                },
                ..ack
            };
            if let Ok(plan) = s.check_open_ack(&ack) {
                s.apply_open_ack(plan, NOW);
            }
        }
    };
    let acked = |status| {
        move |s: &mut Sessions| {
            if let Ok(plan) = s.check_close_ack(7, &close_ack(status)) {
                s.apply_close_ack(plan);
            }
        }
    };
    type Move = std::boxed::Box<dyn Fn(&mut Sessions)>;
    let mut moves: std::vec::Vec<Move> = std::vec::Vec::new();
    for status in SessionStatus::ALL {
        moves.push(std::boxed::Box::new(opened(status)));
    }
    for status in CloseStatus::ALL {
        moves.push(std::boxed::Box::new(acked(status)));
    }
    moves.push(std::boxed::Box::new(|s| {
        if let Ok(plan) = s.check_close(7, &drain(500)) {
            s.apply_close(plan, NOW);
        }
    }));
    moves.push(std::boxed::Box::new(|s| {
        if let Ok(plan) = s.check_peer_close(7, &drain(500)) {
            s.apply_peer_close(plan, NOW);
            let _ = s.answer_close(7, Verdict::Acknowledge);
        }
    }));
    for verdict in [PROCEED, Verdict::Reject { code: SessionErrorCode::NONE }] {
        moves.push(std::boxed::Box::new(move |s| {
            if let Ok(plan) = s.check_peer_close(7, &drain(500)) {
                s.apply_peer_close(plan, NOW);
            }
            let _ = s.answer_close(7, verdict);
        }));
    }
    moves.push(std::boxed::Box::new(|s| s.drain_all()));
    moves.push(std::boxed::Box::new(|s| {
        s.close_all().for_each(|session| assert_eq!(session.state(), SessionState::Closed));
    }));
    moves.push(std::boxed::Box::new(|s| {
        s.operation_ended(7, NOW);
    }));
    moves.push(std::boxed::Box::new(|s| while s.handle_timeout(Time(u64::MAX)).is_some() {}));
    for state in SessionState::ALL {
        let starts = [in_state(state), resuming(state)];
        let mut reached = std::collections::BTreeSet::new();
        for start in starts {
            for step in &moves {
                let mut sessions = start.clone();
                step(&mut sessions);
                let next = state_of(&sessions, 7);
                if next != state {
                    reached.insert(next);
                }
            }
        }
        let table: std::collections::BTreeSet<_> =
            SessionState::ALL.into_iter().filter(|next| state.can_become(*next)).collect();
        assert_eq!(reached, table, "from {state}");
    }
}

/// As [`in_state`], for a session that was resumed.
fn resuming(state: SessionState) -> Sessions {
    match state {
        SessionState::Opening => {
            let mut client = sessions(Side::Client);
            let open = SessionOpen { requested_session_id: 7, ..Default::default() };
            client.apply_open(client.check_open(&open, true).unwrap());
            client
        }
        SessionState::Closing => {
            let mut client = in_state(SessionState::Resumed);
            client.apply_close(client.check_close(7, &drain(500)).unwrap(), NOW);
            client
        }
        _ => in_state(state),
    }
}

#[test]
fn s1_s12_rejected_goes_back_to_the_state_before() {
    for before in [SessionState::Open, SessionState::Resumed] {
        let mut client = in_state(before);
        client.apply_close(client.check_close(7, &drain(500)).unwrap(), NOW);
        assert_eq!(state_of(&client, 7), SessionState::Closing);
        let plan = client.check_close_ack(7, &close_ack(CloseStatus::Rejected)).unwrap();
        assert_eq!(client.apply_close_ack(plan).unwrap().state, before);
        let _ = client.check_submit(7).unwrap();
        assert_eq!(client.next_timeout(), None);
    }
    let mut server = asked(1, drain(500));
    let step = server.answer_close(7, Verdict::Reject { code: SessionErrorCode::PRIORITY_REJECTED }).unwrap();
    assert_eq!(status(step), (SessionState::Open, false, Some(CloseStatus::Rejected)));
    assert_eq!(step.ack.unwrap().session_error_code, SessionErrorCode::PRIORITY_REJECTED);
    assert_eq!((server.get(7).unwrap().live(), server.next_timeout()), (1, None));
}

#[test]
fn s1_an_answer_to_nothing_and_one_that_goes_back_are_refused() {
    for state in [SessionState::Open, SessionState::Resumed, SessionState::Closed] {
        for status in CloseStatus::ALL {
            let refusal = in_state(state).check_close_ack(7, &close_ack(status)).unwrap_err();
            assert_eq!((refusal.code, refusal.rule), (ErrorCode::INVALID_STATE, "S1"));
        }
    }
    for status in CloseStatus::ALL {
        let verdict = in_state(SessionState::Draining).check_close_ack(7, &close_ack(status));
        assert_eq!(verdict.is_ok(), matches!(status, CloseStatus::Draining | CloseStatus::Closed));
    }
}

#[test]
fn s1_a_second_close_is_refused() {
    for state in [SessionState::Closing, SessionState::Draining, SessionState::Closed, SessionState::Opening]
    {
        assert_eq!(in_state(state).check_close(7, &drain(1)).unwrap_err().code, ErrorCode::INVALID_STATE);
    }
    let server = asked(1, drain(500));
    assert_eq!(server.check_peer_close(7, &drain(500)).unwrap_err().rule, "S1");
}

#[test]
fn s1_s3_a_drain_lets_operations_finish_within_its_time() {
    let mut server = asked(2, drain(500));
    let step = server.answer_close(7, PROCEED).unwrap();
    assert_eq!(status(step), (SessionState::Draining, false, Some(CloseStatus::Draining)));
    assert_eq!(step.ack.unwrap().last_operation_id, 9);
    assert_eq!(server.operation_ended(7, NOW), None);
    let mut late = server.clone();
    let step = server.operation_ended(7, NOW).unwrap();
    assert_eq!(status(step), (SessionState::Closed, false, Some(CloseStatus::Closed)));
    assert!(server.is_empty());

    assert_eq!(late.handle_timeout(NOW.after(499)), None);
    let Some(Due::Over(step)) = late.handle_timeout(NOW.after(500)) else { panic!("the drain is over") };
    assert_eq!(status(step), (SessionState::Closed, true, Some(CloseStatus::Closed)));
    assert_eq!((late.len(), late.next_timeout()), (0, None));
}

#[test]
fn s3_a_drain_of_no_time_applies_at_once() {
    let mut server = asked(2, drain(0));
    let step = server.answer_close(7, PROCEED).unwrap();
    assert_eq!(status(step), (SessionState::Closed, true, Some(CloseStatus::Closed)));
}

#[test]
fn s3_an_abort_ends_operations_as_cancelled_on_both_sides() {
    let mut server = asked(2, abort());
    let step = server.answer_close(7, PROCEED).unwrap();
    assert_eq!(status(step), (SessionState::Closed, true, Some(CloseStatus::Closed)));

    for answer in [CloseStatus::Acknowledged, CloseStatus::Draining, CloseStatus::Closed] {
        let mut client = in_state(SessionState::Open);
        client.apply_close(client.check_close(7, &abort()).unwrap(), NOW);
        assert_eq!(client.get(7).unwrap().live(), 1, "nothing ends before the peer agrees");
        let plan = client.check_close_ack(7, &close_ack(answer)).unwrap();
        assert!(client.apply_close_ack(plan).unwrap().cancel);
        assert_eq!(client.get(7).map_or(0, Session::live), 0);
    }
    let mut client = in_state(SessionState::Open);
    client.apply_close(client.check_close(7, &abort()).unwrap(), NOW);
    let plan = client.check_close_ack(7, &close_ack(CloseStatus::Rejected)).unwrap();
    assert!(!client.apply_close_ack(plan).unwrap().cancel);
    assert_eq!(client.get(7).unwrap().live(), 1);
}

#[test]
fn s3_of_two_closes_that_cross_the_stricter_holds() {
    // Abort over drain, and the earlier end over the later, whoever asked first.
    for ours_first in [true, false] {
        for (ours, theirs) in [(drain(900), abort()), (abort(), drain(900))] {
            let mut server = client(7, SessionFlags::empty(), |_| {});
            server.side = Side::Server;
            server.apply_submit(server.check_submit(7).unwrap(), NOW);
            let (own, peer) =
                (server.check_close(7, &ours).unwrap(), server.check_peer_close(7, &theirs).unwrap());
            if ours_first {
                server.apply_close(own, NOW);
                server.apply_peer_close(peer, NOW);
            } else {
                server.apply_peer_close(peer, NOW);
                server.apply_close(own, NOW);
            }
            // Their drain has its time; after an abort, and after our own, they have time to answer.
            let until = if ours.in_flight_policy == InFlightPolicy::Abort { 900 } else { 10_000 };
            assert_eq!(server.next_timeout(), Some(NOW.after(until)), "{ours:?} {ours_first}");
            let step = server.answer_close(7, PROCEED).unwrap();
            assert_eq!(status(step), (SessionState::Closed, true, Some(CloseStatus::Closed)));
        }
    }
}

#[test]
fn s3_a_drain_of_our_own_ends_with_the_word_of_the_peer() {
    let mut client = in_state(SessionState::Draining);
    // All operations have ended here, which the peer has yet to say of its side.
    assert_eq!(client.operation_ended(7, NOW), None);
    assert_eq!(state_of(&client, 7), SessionState::Draining);
    let plan = client.check_close_ack(7, &close_ack(CloseStatus::Closed)).unwrap();
    assert_eq!(client.apply_close_ack(plan).unwrap().state, SessionState::Closed);
}

#[test]
fn s1_s3_a_peer_that_never_answers_does_not_keep_the_session() {
    let mut client = in_state(SessionState::Closing);
    assert_eq!(client.handle_timeout(NOW.after(10_499)), None);
    let Some(Due::Over(step)) = client.handle_timeout(NOW.after(10_500)) else {
        panic!("the answer is late")
    };
    assert_eq!(status(step), (SessionState::Closed, true, None));
    // Its answers may still come. Only one that goes on with the session is wrong.
    let rejected = client.check_close_ack(7, &close_ack(CloseStatus::Rejected)).unwrap_err();
    assert_eq!((rejected.code, rejected.rule), (ErrorCode::INVALID_STATE, "S1"));
    let plan = client.check_close_ack(7, &close_ack(CloseStatus::Closed)).unwrap();
    assert_eq!(client.apply_close_ack(plan), None);
    assert!(client.check_close_ack(7, &close_ack(CloseStatus::Closed)).is_err());
}

#[test]
fn s6_an_idle_session_is_closed_and_says_why() {
    let mut server = client(7, SessionFlags::empty(), |_| {});
    server.set_idle(7, 100);
    server.touch(7, NOW.after(60));
    assert_eq!(server.next_timeout(), Some(NOW.after(100)));
    assert_eq!(server.handle_timeout(NOW.after(100)), None, "there was traffic");
    assert_eq!(server.next_timeout(), Some(NOW.after(160)));
    // A session with live operations is not idle.
    server.apply_submit(server.check_submit(7).unwrap(), NOW.after(150));
    assert_eq!(server.handle_timeout(NOW.after(500)), None);
    server.operation_ended(7, NOW.after(600));
    assert_eq!(server.handle_timeout(NOW.after(699)), None);
    let Some(Due::Idle { session_id: 7, close }) = server.handle_timeout(NOW.after(700)) else {
        panic!("it was idle");
    };
    assert_eq!(close.close_reason, CloseReason::IdleTimeout);
    assert_eq!(state_of(&server, 7), SessionState::Closing);
}

#[test]
fn s6_without_a_time_no_session_is_idle() {
    let mut server = client(7, SessionFlags::empty(), |_| {});
    assert_eq!(server.next_timeout(), None);
    assert_eq!(server.handle_timeout(Time(u64::MAX)), None);
}

#[test]
fn s12_only_an_error_brings_an_error_code() {
    for close_reason in CloseReason::ALL {
        let error = matches!(close_reason, CloseReason::ProtocolError | CloseReason::AuthRevoked);
        let close = SessionClose {
            close_reason,
            session_error_code: SessionErrorCode::AUTH_FAILED,
            ..Default::default()
        };
        let server = in_state(SessionState::Open);
        assert_eq!(server.check_peer_close(7, &close).is_ok(), error);
        assert_eq!(server.check_close(7, &close).is_ok(), error);
        let close = SessionClose { session_error_code: SessionErrorCode::NONE, ..close };
        let _ = server.check_close(7, &close).unwrap();
    }
    let mut server = asked(0, drain(500));
    let ack = server.answer_close(7, PROCEED).unwrap().ack.unwrap();
    assert_eq!(ack.session_error_code, SessionErrorCode::NONE);
}

#[test]
fn c2_closing_one_leaves_its_siblings() {
    let mut server = client(7, SessionFlags::empty(), |_| {});
    for id in [6, 8] {
        add(&mut server, id, SessionFlags::empty(), |_| {});
        server.apply_submit(server.check_submit(id).unwrap(), NOW);
    }
    server.apply_peer_close(server.check_peer_close(7, &abort()).unwrap(), NOW);
    server.answer_close(7, PROCEED).unwrap();
    assert!(server.get(7).is_none());
    for id in [6, 8] {
        let session = server.get(id).unwrap();
        assert_eq!((session.state(), session.live()), (SessionState::Open, 1));
        let _ = server.check_submit(id).unwrap();
    }
}

#[test]
fn c2_close_ends_every_session() {
    let mut server = client(7, SessionFlags::empty(), |_| {});
    server.side = Side::Server;
    add_server(&mut server, 8);
    let open = SessionOpen { requested_session_id: 9, ..Default::default() };
    let ticket = server.apply_open(server.check_open(&open, false).unwrap());
    server.drain_all();
    assert!([7, 8].iter().all(|id| state_of(&server, *id) == SessionState::Draining));
    let (answered, ack) = server.poll_answer(NOW).unwrap();
    assert_eq!((answered, ack.session_status), (ticket, SessionStatus::Rejected));
    let closed: std::vec::Vec<_> = server.close_all().map(|session| session.state()).collect();
    assert_eq!(closed, [SessionState::Closed; 2]);
    assert!(server.is_empty());
}

fn add_server(server: &mut Sessions, id: u32) {
    let open = SessionOpen { requested_session_id: id, ..Default::default() };
    let ticket = server.apply_open(server.check_open(&open, false).unwrap());
    let plan = server.check_answer(ticket, &Policy::default(), &Verdicts::default(), &mut || 1).unwrap();
    server.apply_answer(plan, NOW);
    server.poll_answer(NOW).unwrap();
}

#[test]
fn c2_a_session_that_opens_while_the_connection_ends_is_none() {
    let mut client = in_state(SessionState::Opening);
    client.drain_all();
    let ack = SessionOpenAck { session_id: 7, ..Default::default() };
    let (_, opened) = client.apply_open_ack(client.check_open_ack(&ack).unwrap(), NOW);
    assert_eq!(opened, Opened::Refused { code: SessionErrorCode::NONE, retry: false });
    assert!(client.is_empty());
}

#[test]
fn crossing_closes_end_the_session_once_on_both_sides() {
    let mut one = in_state(SessionState::Open);
    one.operation_ended(7, NOW);
    let mut two = one.clone();
    let close = drain(500);
    for side in [&mut one, &mut two] {
        side.apply_close(side.check_close(7, &close).unwrap(), NOW);
        side.apply_peer_close(side.check_peer_close(7, &close).unwrap(), NOW);
    }
    let answer = one.answer_close(7, PROCEED).unwrap();
    assert_eq!(status(answer), (SessionState::Closed, false, Some(CloseStatus::Closed)));
    // The answer ends it over there too, and that side's own answer goes out with it.
    let plan = two.check_close_ack(7, &answer.ack.unwrap()).unwrap();
    let step = two.apply_close_ack(plan).unwrap();
    assert_eq!(status(step), (SessionState::Closed, false, Some(CloseStatus::Closed)));
    let plan = one.check_close_ack(7, &step.ack.unwrap()).unwrap();
    assert_eq!(one.apply_close_ack(plan), None);
    assert!(one.owed.is_empty() && two.owed.is_empty());
}

#[test]
fn an_id_that_is_used_again_owes_nothing() {
    let mut client = in_state(SessionState::Closing);
    while client.handle_timeout(Time(u64::MAX)).is_some() {}
    assert_eq!(client.owed.len(), 1);
    add(&mut client, 7, SessionFlags::empty(), |_| {});
    assert!(client.owed.is_empty());
    assert!(client.check_close_ack(7, &close_ack(CloseStatus::Closed)).is_err());
}

#[test]
fn answers_that_never_come_are_bounded() {
    let mut client = sessions(Side::Client);
    for id in 1..=5_000 {
        add(&mut client, id, SessionFlags::empty(), |_| {});
        client.apply_close(client.check_close(id, &abort()).unwrap(), NOW);
        while client.handle_timeout(Time(u64::MAX)).is_some() {}
    }
    assert!(client.is_empty() && client.owed.len() <= 1_024);
}

#[test]
fn the_answer_waits_for_a_verdict_but_not_for_ever() {
    let mut server = asked(0, abort());
    let step = server.answer_close(7, Verdict::Acknowledge).unwrap();
    assert_eq!(status(step), (SessionState::Closing, false, Some(CloseStatus::Acknowledged)));
    let Some(Due::Over(step)) = server.handle_timeout(NOW.after(10_000)) else { panic!("nobody answered") };
    assert_eq!(status(step), (SessionState::Closed, false, Some(CloseStatus::Closed)));
    assert_eq!(server.answer_close(7, PROCEED).unwrap_err().rule, "S1");
    assert_eq!(sessions(Side::Client).shutdown().close_reason, CloseReason::ClientShutdown);
    assert_eq!(sessions(Side::Server).shutdown().close_reason, CloseReason::ServerShutdown);
}

#[test]
fn c4_a_fatal_error_of_the_session_ends_it() {
    for state in [SessionState::Open, SessionState::Resumed, SessionState::Closing, SessionState::Draining] {
        let mut client = in_state(state);
        add(&mut client, 8, SessionFlags::empty(), |_| {});
        let step = client.end(7).unwrap();
        assert_eq!(status(step), (SessionState::Closed, true, None));
        assert_eq!((client.len(), client.next_timeout(), client.end(7)), (1, None, None));
    }
}

#[test]
fn s1_what_was_acknowledged_is_not_rejected_any_more() {
    let reject = Verdict::Reject { code: SessionErrorCode::NONE };
    let mut server = asked(1, drain(500));
    server.answer_close(7, Verdict::Acknowledge).unwrap();
    assert_eq!(server.answer_close(7, reject).unwrap_err().rule, "S1");
    assert_eq!(server.answer_close(7, Verdict::Acknowledge).unwrap_err().rule, "S1");
    server.answer_close(7, PROCEED).unwrap();

    let mut client = in_state(SessionState::Closing);
    let plan = client.check_close_ack(7, &close_ack(CloseStatus::Acknowledged)).unwrap();
    assert_eq!(client.apply_close_ack(plan).unwrap().state, SessionState::Closing);
    let refusal = client.check_close_ack(7, &close_ack(CloseStatus::Rejected)).unwrap_err();
    assert_eq!((refusal.code, refusal.rule), (ErrorCode::INVALID_STATE, "S1"));
}
