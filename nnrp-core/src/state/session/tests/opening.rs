//! SESSION_OPEN and its answers.

use super::*;
use crate::SessionErrorCode;

fn request(server: &mut Sessions, open: SessionOpen, resume: bool) -> Ticket {
    let plan = server.check_open(&open, resume).unwrap();
    server.apply_open(plan)
}

fn answer(server: &mut Sessions, open: SessionOpen, policy: &Policy, verdicts: &Verdicts) -> SessionOpenAck {
    let ticket = request(server, open, verdicts.resume != Resume::None);
    let plan = server.check_answer(ticket, policy, verdicts, &mut || 0x55).unwrap();
    server.apply_answer(plan, NOW);
    let (answered, ack) = server.poll_answer(NOW).unwrap();
    assert_eq!(answered, ticket);
    ack.to_bytes().unwrap();
    ack
}

fn code(server: &mut Sessions, open: SessionOpen, policy: &Policy, verdicts: &Verdicts) -> SessionErrorCode {
    let before = server.len();
    let ack = answer(server, open, policy, verdicts);
    assert_eq!((ack.session_status, ack.session_id), (SessionStatus::Rejected, 0));
    assert_eq!(server.len(), before, "a refusal creates no session");
    ack.session_error_code
}

#[test]
fn s2_s8_every_refusal_has_the_code_of_its_cause() {
    let mut server = sessions(Side::Server);
    let open = SessionOpen {
        lease_ttl_hint_ms: 10,
        session_flags: SessionFlags::ALLOW_CACHE_LEASES,
        ..Default::default()
    };
    let mut policy = Policy {
        highest: SessionPriorityClass::Background,
        downgrade: false,
        max_lease_ttl_ms: 5,
        cut_leases: false,
        ..Default::default()
    };
    let mut verdicts =
        Verdicts { auth: false, profile: false, schema: false, resume: Resume::Bad, ..Default::default() };
    server.limits.sessions = 0;
    // Everything is wrong at first, and each cause that is mended uncovers the next.
    assert_eq!(code(&mut server, open, &policy, &verdicts), SessionErrorCode::AUTH_FAILED);
    verdicts.auth = true;
    assert_eq!(code(&mut server, open, &policy, &verdicts), SessionErrorCode::PROFILE_UNSUPPORTED);
    verdicts.profile = true;
    assert_eq!(code(&mut server, open, &policy, &verdicts), SessionErrorCode::SCHEMA_UNSUPPORTED);
    verdicts.schema = true;
    assert_eq!(code(&mut server, open, &policy, &verdicts), SessionErrorCode::PRIORITY_REJECTED);
    policy.downgrade = true;
    assert_eq!(code(&mut server, open, &policy, &verdicts), SessionErrorCode::LEASE_POLICY_REJECTED);
    policy.cut_leases = true;
    assert_eq!(code(&mut server, open, &policy, &verdicts), SessionErrorCode::RESUME_REJECTED);
    verdicts.resume = Resume::None;
    assert_eq!(code(&mut server, open, &policy, &verdicts), SessionErrorCode::SESSION_LIMIT_REACHED);
    server.limits.sessions = 1;
    assert_eq!(answer(&mut server, open, &policy, &verdicts).session_status, SessionStatus::Opened);
}

#[test]
fn s8_retry_later_creates_no_session() {
    let mut server = sessions(Side::Server);
    let busy = Verdicts { busy: true, ..Default::default() };
    let ack = answer(&mut server, SessionOpen::default(), &Policy::default(), &busy);
    assert_eq!(ack.session_status, SessionStatus::RetryLater);
    assert!(server.is_empty());
    let mut client = sessions(Side::Client);
    client.apply_open(client.check_open(&SessionOpen::default(), false).unwrap());
    let (_, opened) = client.apply_open_ack(client.check_open_ack(&ack).unwrap(), NOW);
    assert_eq!(opened, Opened::Refused { code: SessionErrorCode::SESSION_LIMIT_REACHED, retry: true });
    assert!(client.is_empty());
    let _ = client.check_open(&SessionOpen::default(), false).unwrap();
}

#[test]
fn s8_a_code_with_a_session_is_only_a_remark() {
    let mut client = sessions(Side::Client);
    client.apply_open(client.check_open(&SessionOpen::default(), false).unwrap());
    let code = SessionErrorCode::LEASE_POLICY_REJECTED;
    let ack = SessionOpenAck { session_id: 3, session_error_code: code, ..Default::default() };
    let (_, opened) = client.apply_open_ack(client.check_open_ack(&ack).unwrap(), NOW);
    assert_eq!(opened, Opened::Live { session_id: 3, remark: code });
}

#[test]
fn c3_a_wanted_id_is_given_or_refused() {
    let mut server = sessions(Side::Server);
    let open = SessionOpen { requested_session_id: 7, ..Default::default() };
    let ack = answer(&mut server, open, &Policy::default(), &Verdicts::default());
    assert_eq!(ack.session_id, 7);
    let refused = code(&mut server, open, &Policy::default(), &Verdicts::default());
    assert_eq!(refused, SessionErrorCode::SESSION_LIMIT_REACHED);
    // The session that is resumed has the id itself; another one with the same id has not.
    let resume = |here| Verdicts { resume: Resume::Good { session_id: 7, here }, ..Default::default() };
    let refused = code(&mut server, open, &Policy::default(), &resume(false));
    assert_eq!(refused, SessionErrorCode::SESSION_LIMIT_REACHED);
    let ack = answer(&mut server, open, &Policy::default(), &resume(true));
    assert_eq!((ack.session_status, ack.session_id), (SessionStatus::Resumed, 7));
    assert_eq!((server.len(), state_of(&server, 7)), (1, SessionState::Resumed));
}

#[test]
fn c3_ids_that_are_assigned_are_free_and_never_0() {
    // A poor source that always gives the same numbers.
    for number in [0, 5, u64::from(u32::MAX)] {
        let mut server = sessions(Side::Server);
        for count in 1..=300 {
            let ticket = request(&mut server, SessionOpen::default(), false);
            let plan = server
                .check_answer(ticket, &Policy::default(), &Verdicts::default(), &mut || number)
                .unwrap();
            server.apply_answer(plan, NOW);
            assert_ne!(server.poll_answer(NOW).unwrap().1.session_id, 0);
            assert_eq!(server.len(), count);
        }
    }
}

#[test]
fn c3_a_client_takes_no_other_id_than_it_asked_for() {
    let mut client = sessions(Side::Client);
    let open = SessionOpen { requested_session_id: 7, ..Default::default() };
    client.apply_open(client.check_open(&open, false).unwrap());
    assert_eq!(client.check_open(&open, false).unwrap_err().rule, "C3");
    let other = SessionOpenAck { session_id: 8, ..Default::default() };
    assert_eq!(client.check_open_ack(&other).unwrap_err().rule, "C3");
    let right = SessionOpenAck { session_id: 7, ..Default::default() };
    client.apply_open_ack(client.check_open_ack(&right).unwrap(), NOW);
    assert_eq!(client.check_open(&open, false).unwrap_err().rule, "C3");
    client.apply_open(client.check_open(&SessionOpen::default(), false).unwrap());
    let twice = client.check_open_ack(&right).unwrap_err();
    assert_eq!((twice.code, twice.rule), (ErrorCode::INVALID_STATE, "C3"));
}

#[test]
fn c3_c8_answers_keep_the_order_of_the_requests() {
    let mut server = sessions(Side::Server);
    let tickets: std::vec::Vec<_> = (1..=3)
        .map(|id| request(&mut server, SessionOpen { requested_session_id: id, ..Default::default() }, false))
        .collect();
    let answered_twice = |server: &Sessions, ticket: usize| {
        let again = server.check_answer(tickets[ticket], &Policy::default(), &Verdicts::default(), &mut || 1);
        again.unwrap_err().rule
    };
    for ticket in [2, 0, 1] {
        let plan = server
            .check_answer(tickets[ticket], &Policy::default(), &Verdicts::default(), &mut || 1)
            .unwrap();
        assert_eq!(server.poll_answer(NOW), None, "the first is not answered yet");
        server.apply_answer(plan, NOW);
        assert_eq!(answered_twice(&server, ticket), "C8");
        if ticket == 0 {
            assert_eq!(server.poll_answer(NOW).unwrap().1.session_id, 1);
        }
    }
    assert_eq!(server.poll_answer(NOW).unwrap().1.session_id, 2);
    assert_eq!(state_of(&server, 3), SessionState::Opening);
    assert_eq!(server.check_submit(3).unwrap_err().rule, "C3");
    assert_eq!(server.poll_answer(NOW).unwrap().1.session_id, 3);
    assert_eq!(server.poll_answer(NOW), None);
    let late = server.check_answer(tickets[0], &Policy::default(), &Verdicts::default(), &mut || 1);
    assert_eq!(late.unwrap_err().rule, "C8");
}

#[test]
fn c8_an_answer_to_nothing_is_refused() {
    let client = sessions(Side::Client);
    let ack = SessionOpenAck { session_id: 1, ..Default::default() };
    assert_eq!(client.check_open_ack(&ack).unwrap_err().rule, "C8");
}

#[test]
fn c8_an_answer_that_cannot_be_taken_does_not_shift_the_others() {
    let mut client = sessions(Side::Client);
    for id in [1, 2] {
        let open = SessionOpen { requested_session_id: id, ..Default::default() };
        client.apply_open(client.check_open(&open, false).unwrap());
    }
    let bad = SessionOpenAck { session_id: 9, ..Default::default() };
    assert!(client.check_open_ack(&bad).is_err());
    assert_eq!(client.skip().map(|(ticket, _)| ticket), Some(Ticket(0)));
    let good = SessionOpenAck { session_id: 2, ..Default::default() };
    assert_eq!(client.apply_open_ack(client.check_open_ack(&good).unwrap(), NOW).0, Ticket(1));
    assert_eq!(client.skip(), None);
}

#[test]
fn s2_priority_is_lowered_and_said_so_and_never_raised() {
    let classes = SessionPriorityClass::ALL;
    for wanted in classes {
        for highest in classes {
            let mut server = sessions(Side::Server);
            let open = SessionOpen { priority_class: wanted, ..Default::default() };
            let policy = Policy { highest, ..Default::default() };
            let ack = answer(&mut server, open, &policy, &Verdicts::default());
            assert_eq!(ack.accepted_priority_class, wanted.max(highest));
            let lowered = ack.session_flags_ack.contains(SessionFlagsAck::PRIORITY_DOWNGRADED);
            assert_eq!(lowered, ack.accepted_priority_class != wanted);
        }
        for got in classes {
            for says in [false, true] {
                let mut client = sessions(Side::Client);
                let open = SessionOpen { priority_class: wanted, ..Default::default() };
                client.apply_open(client.check_open(&open, false).unwrap());
                let mut ack =
                    SessionOpenAck { session_id: 1, accepted_priority_class: got, ..Default::default() };
                ack.session_flags_ack.set(SessionFlagsAck::PRIORITY_DOWNGRADED, says);
                let verdict = client.check_open_ack(&ack);
                assert_eq!(verdict.is_ok(), got >= wanted && says == (got != wanted));
                if let Err(refusal) = verdict {
                    assert_eq!(refusal.rule, "S2");
                }
            }
        }
    }
}

#[test]
fn s2_flags_are_granted_only_where_they_were_asked_for() {
    for asked in 0..16u8 {
        let asked = SessionFlags::from_bits_truncate(asked);
        for allowed in 0..16u8 {
            let allowed = SessionFlags::from_bits_truncate(allowed);
            let mut server = sessions(Side::Server);
            let open = SessionOpen { session_flags: asked, ..Default::default() };
            let policy = Policy { flags: allowed, ..Default::default() };
            let ack = answer(&mut server, open, &policy, &Verdicts::default());
            assert_eq!(ack.session_flags_ack.bits(), u32::from((asked & allowed).bits()));

            let mut client = sessions(Side::Client);
            client.apply_open(
                client
                    .check_open(&SessionOpen { session_flags: asked, ..Default::default() }, false)
                    .unwrap(),
            );
            let ack = SessionOpenAck {
                session_id: 1,
                session_flags_ack: SessionFlagsAck::from_bits_truncate(allowed.bits().into()),
                ..Default::default()
            };
            assert_eq!(client.check_open_ack(&ack).is_ok(), asked.contains(allowed));
        }
    }
}

#[test]
fn s9_the_server_chooses_where_0_is_asked() {
    let policy = Policy { max_in_flight: 8, credit: 5, ..Default::default() };
    for (asked, got, credit) in [(0, 8, 5), (3, 3, 3), (100, 8, 5)] {
        let mut server = sessions(Side::Server);
        let open = SessionOpen { max_in_flight_operations: asked, ..Default::default() };
        let ack = answer(&mut server, open, &policy, &Verdicts::default());
        assert_eq!((ack.max_in_flight_operations, ack.granted_operation_credit), (got, credit));
    }
}

#[test]
fn s9_the_lease_time_is_the_wish_within_the_limit() {
    let policy = Policy { lease_ttl_ms: 50, max_lease_ttl_ms: 100, ..Default::default() };
    for (wish, got) in [(0, 50), (80, 80), (200, 100)] {
        let mut server = sessions(Side::Server);
        let open = SessionOpen { lease_ttl_hint_ms: wish, ..Default::default() };
        assert_eq!(answer(&mut server, open, &policy, &Verdicts::default()).lease_ttl_ms, got);
    }
}

#[test]
fn r1_no_window_means_no_resume() {
    let mut server = sessions(Side::Server);
    let open = SessionOpen { session_flags: SessionFlags::ALLOW_RESUME, ..Default::default() };
    let ack = answer(
        &mut server,
        open,
        &Policy { resume_window_ms: 0, ..Default::default() },
        &Verdicts::default(),
    );
    assert!(!ack.session_flags_ack.contains(SessionFlagsAck::RESUME_ENABLED));
    assert!(!server.get(ack.session_id).unwrap().is_resumable());
    let ack = answer(&mut server, SessionOpen::default(), &Policy::default(), &Verdicts::default());
    assert_eq!(ack.resume_window_ms, 0, "it was not asked for");
    let ack = answer(&mut server, open, &Policy::default(), &Verdicts::default());
    assert!(server.get(ack.session_id).unwrap().is_resumable());
}

#[test]
fn r1_nothing_is_resumed_without_a_token() {
    let mut client = sessions(Side::Client);
    client.apply_open(client.check_open(&SessionOpen::default(), false).unwrap());
    let resumed =
        SessionOpenAck { session_id: 1, session_status: SessionStatus::Resumed, ..Default::default() };
    assert_eq!(client.check_open_ack(&resumed).unwrap_err().rule, "R1");
    let mut server = sessions(Side::Server);
    let ticket = request(&mut server, SessionOpen::default(), false);
    let verdicts = Verdicts { resume: Resume::Good { session_id: 4, here: false }, ..Default::default() };
    let plan = server.check_answer(ticket, &Policy::default(), &verdicts, &mut || 1).unwrap();
    assert_eq!(plan.ack().session_error_code, SessionErrorCode::RESUME_REJECTED);
}

#[test]
fn r1_a_resumed_session_goes_on_where_it_was() {
    let mut client = in_state(SessionState::Resumed);
    let carried = Carried { live: 3, submitted: 40, ..Default::default() };
    client.carry(7, carried);
    assert_eq!(client.get(7).unwrap().carried(), carried);
    assert_eq!(client.apply_submit(client.check_submit(7).unwrap(), NOW), 41);
    assert_eq!(client.check_submit(7).unwrap_err().rule, "S9");
}

#[test]
fn s8_a_flood_of_opens_is_bounded() {
    let mut server = sessions(Side::Server);
    let mut refused = 0;
    for _ in 0..100_000 {
        match server.check_open(&SessionOpen::default(), false) {
            Ok(plan) => {
                server.apply_open(plan);
            }
            Err(refusal) => {
                assert_eq!(refusal.code, ErrorCode::LIMIT_EXCEEDED);
                refused += 1;
            }
        }
    }
    assert_eq!((server.opening(), refused), (1_024, 100_000 - 1_024));
}

#[test]
fn ten_thousand_sessions_stand_side_by_side() {
    let mut server = sessions(Side::Server);
    for id in 1..=10_000u32 {
        let open = SessionOpen { requested_session_id: id, ..Default::default() };
        answer(&mut server, open, &Policy::default(), &Verdicts::default());
        server.set_idle(id, u64::from(id));
    }
    assert_eq!(server.next_timeout(), Some(NOW.after(1)));
    let mut due = 0;
    while let Some(Due::Idle { session_id, .. }) = server.handle_timeout(NOW.after(100)) {
        due += 1;
        assert!(session_id <= 100);
    }
    assert_eq!(due, 100);
}

#[test]
fn c3_an_id_whose_end_the_peer_may_not_know_is_not_assigned() {
    let mut server = sessions(Side::Server);
    let open = SessionOpen { requested_session_id: 7, ..Default::default() };
    answer(&mut server, open, &Policy::default(), &Verdicts::default());
    server.apply_close(server.check_close(7, &SessionClose::default()).unwrap(), NOW);
    while server.handle_timeout(Time(u64::MAX)).is_some() {}
    let ticket = request(&mut server, SessionOpen::default(), false);
    let plan = server.check_answer(ticket, &Policy::default(), &Verdicts::default(), &mut || 7).unwrap();
    assert_eq!(plan.ack().session_id, 8);
    server.apply_answer(plan, NOW);
    server.poll_answer(NOW).unwrap();
    // A client that asks for it knows.
    assert_eq!(answer(&mut server, open, &Policy::default(), &Verdicts::default()).session_id, 7);
}
