//! Operations through the connection: time, budgets, traces, background, numbers (O6–O9, O13, U1–U3, T1, S10).

use nnrp_core::state::budget::Dimension;
use nnrp_core::state::capability::{Offer, Purpose, Terms, Words};
use nnrp_core::state::connection::{Config, Connection, Event, Why};
use nnrp_core::state::operation::{Cause, UnixOrigin};
use nnrp_core::state::{Side, Time};
use nnrp_core::*;
use nnrp_tests::pair::{Pair, result};

use super::say::{self, say};

fn working(operations: u64) -> (Pair, u32) {
    let mut pair = Pair::active();
    let session = pair.open(&SessionOpen { profile_id: ProfileId::TOKEN, ..SessionOpen::default() });
    for id in 1..=operations {
        pair.submit(session, id).expect("room");
    }
    pair.settle();
    pair.client_events();
    pair.server_events();
    (pair, session)
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

/// The code of a refusal.
fn rule(why: &Why) -> &'static str {
    match why {
        Why::Refusal(refusal) => refusal.rule,
        other => panic!("{other}"),
    }
}

#[test]
fn o8_nothing_completes_late_whatever_the_clocks_say() {
    // The client's clock is behind: it would take the result.
    for queued in [true, false] {
        let (mut pair, session) = working(1);
        let now = pair.now;
        if !queued {
            say(&mut pair.server, session, 1, &say::progress(1, StageCode::EXECUTING), now)
                .expect("it lives");
            pair.settle();
        }
        let due = now.0 + 500;
        say(&mut pair.client, session, 1, &say::deadline(1, due, SchedulingFlags::empty()), now)
            .expect("live");
        pair.settle();
        pair.client_events();
        pair.server_events();
        let late =
            pair.server.send_packet(&result(session, 1), now.after(600)).expect_err("its time is over");
        assert_eq!(rule(&late), "O8");
        pair.settle();
        assert_eq!(ends(&pair.server_events()), [(1, OperationState::Failed, Cause::Time)]);
        // The client learns of it.
        assert_eq!(ends(&pair.client_events()), [(1, OperationState::Failed, Cause::Drop)]);
        assert_eq!((pair.client.snapshot().operations, pair.server.snapshot().operations), (0, 0));
    }
}

#[test]
fn o8_a_passed_time_says_so_where_that_was_asked_for() {
    for emit in [true, false] {
        let (mut pair, session) = working(1);
        let mut flags = SchedulingFlags::DISCARD_STALE_WORK;
        flags.set(SchedulingFlags::EMIT_DROP_REASON, emit);
        let due = pair.now.0 + 500;
        say(&mut pair.client, session, 1, &say::deadline(1, due, flags), pair.now).expect("it lives");
        pair.settle();
        pair.server.handle_timeout(pair.now.after(500));
        let waiting = pair.server.poll_output().to_vec();
        assert_eq!(!waiting.is_empty(), emit);
        if emit {
            let packet = Packet::parse(&waiting).expect("one packet");
            let Message::ResultDropReason(drop, _) = packet.message() else { panic!("{packet:?}") };
            assert_eq!(drop.drop_reason_code, DropReasonCode::DEADLINE_EXPIRED);
            assert!(drop.flags.contains(ResultDropFlags::FINAL));
        }
    }
}

#[test]
fn o8_who_still_talks_of_it_is_told() {
    // The server's time passed silently while another deadline was on its way.
    let (mut pair, session) = working(1);
    let due = pair.now.0 + 500;
    let flags = SchedulingFlags::DISCARD_STALE_WORK;
    say(&mut pair.client, session, 1, &say::deadline(1, due, flags), pair.now).expect("it lives");
    pair.settle();
    say(&mut pair.client, session, 1, &say::deadline(1, due + 90_000, flags), pair.now).expect("it lives");
    pair.server.handle_timeout(pair.now.after(500));
    pair.settle();
    assert_eq!(ends(&pair.client_events()), [(1, OperationState::Failed, Cause::Drop)]);
    assert_eq!(ends(&pair.server_events()), [(1, OperationState::Failed, Cause::Time)]);
}

#[test]
fn o9_a_deadline_may_come_before_its_submit() {
    let (mut pair, session) = working(0);
    let due = pair.now.0 + 300;
    let flags = SchedulingFlags::DISCARD_STALE_WORK;
    say(&mut pair.client, session, 7, &say::deadline(7, due, flags), pair.now).expect("it is kept");
    pair.settle();
    for end in [&pair.client, &pair.server] {
        assert_eq!(end.session_snapshot(session).unwrap().early_deadlines, 1);
    }
    pair.submit(session, 7).expect("room");
    pair.settle();
    for end in [&pair.client, &pair.server] {
        assert_eq!(end.session_snapshot(session).unwrap().early_deadlines, 0);
        assert_eq!(end.operations(session).unwrap().by_id(7).unwrap().due(), Some(Time(due)));
    }
    pair.wait(300);
    assert_eq!(ends(&pair.client_events()), [(7, OperationState::Failed, Cause::Time)]);
}

#[test]
fn d13_deadlines_are_unix_times() {
    let mut config = Config::new(Side::Server);
    config.origin = UnixOrigin(1_000_000);
    let mut pair = Pair::with(Config::new(Side::Client), config);
    pair.greet();
    let session = pair.open(&SessionOpen::default());
    pair.submit(session, 1).expect("room");
    say(&mut pair.client, session, 1, &say::deadline(1, 1_009_000, SchedulingFlags::all()), pair.now)
        .expect("live");
    pair.settle();
    assert_eq!(pair.server.operations(session).unwrap().by_id(1).unwrap().due(), Some(Time(9_000)));
    assert_eq!(pair.client.operations(session).unwrap().by_id(1).unwrap().due(), Some(Time(1_009_000)));
}

#[test]
fn o13_a_priority_is_set_at_both_ends() {
    let (mut pair, session) = working(1);
    let scheduling =
        Scheduling { operation_id: 1, priority_class: 2, priority_delta: -3, ..Scheduling::default() };
    say(&mut pair.client, session, 1, &Message::PriorityUpdate(scheduling), pair.now).expect("it lives");
    pair.settle();
    for end in [&pair.client, &pair.server] {
        let operation = end.operations(session).unwrap().by_id(1).unwrap();
        assert_eq!((operation.class(), operation.level(), operation.is_background()), (2, -3, true));
    }
}

#[test]
fn o4_nothing_goes_out_for_what_has_ended() {
    let (mut pair, session) = working(1);
    let now = pair.now;
    pair.server.send_packet(&result(session, 1), now).expect("it lives");
    let waiting = pair.server.poll_output().len();
    assert_eq!(rule(&pair.server.send_packet(&result(session, 1), now).unwrap_err()), "O4");
    let server = &mut pair.server;
    assert_eq!(rule(&say(server, session, 1, &say::progress(1, StageCode::QUEUED), now).unwrap_err()), "O4");
    assert_eq!(
        rule(&server.drop_operation(session, 1, DropReasonCode::BUDGET_EXCEEDED, now).unwrap_err()),
        "O4"
    );
    assert_eq!(server.poll_output().len(), waiting);
    pair.settle();
    for message in [say::cancel(1), say::abort(1), say::deadline(1, 1 << 40, SchedulingFlags::empty())] {
        assert_eq!(rule(&say(&mut pair.client, session, 1, &message, now).unwrap_err()), "O4");
    }
    assert!(pair.client.poll_output().is_empty());
}

#[test]
fn o6_numbers_are_given_and_old_ones_go_nowhere() {
    let (mut pair, session) = working(1);
    let now = pair.now;
    for _ in 0..2 {
        say(&mut pair.server, session, 1, &say::progress(1, StageCode::EXECUTING), now).expect("it lives");
        say(&mut pair.server, session, 1, &say::partial(1), now).expect("it lives");
        // A packet that was made elsewhere is numbered, too.
        let packet = say::partial(1).to_vec(&say::operation(session, 1)).unwrap();
        pair.server.send_packet(&packet, now).expect("it lives");
    }
    let old = PartialResult { operation_id: 1, result_sequence: 2, ..PartialResult::default() };
    let old = Message::PartialResult(old, PartialResultBody { result_body: b"" });
    assert_eq!(rule(&say(&mut pair.server, session, 1, &old, now).unwrap_err()), "O6");
    pair.settle();
    let events = pair.client_events();
    let sequences: Vec<u64> = events
        .iter()
        .filter_map(|event| match event.packet()?.message()? {
            Message::PartialResult(partial, _) => Some(partial.result_sequence),
            _ => None,
        })
        .collect();
    assert_eq!(sequences, [1, 2, 3, 4]);
    assert!(events.iter().all(|event| matches!(event, Event::Updated { .. })), "{events:?}");
    // One that comes again is ignored and reported, and so is an old control number.
    let again = events[0].packet().expect("a packet").as_bytes().to_vec();
    pair.client.handle_bytes(&again, now);
    let mut cancel = say::cancel(1);
    say(&mut pair.client, session, 1, &say::cancel(1), now).expect("it lives");
    pair.settle();
    if let Message::Cancel(request, _) = &mut cancel {
        request.control_sequence = 1;
    }
    pair.server_events();
    pair.server.handle_bytes(&cancel.to_vec(&say::operation(session, 1)).unwrap(), now);
    pair.settle();
    assert!(matches!(&pair.client_events()[..], [Event::Late { ended: None, .. }]));
    assert!(matches!(&pair.server_events()[..], [Event::Late { ended: None, .. }]));
}

#[test]
fn o11_a_preemption_is_told_as_queued() {
    let (mut pair, session) = working(1);
    let now = pair.now;
    say(&mut pair.server, session, 1, &say::progress(1, StageCode::EXECUTING), now).expect("it lives");
    say(&mut pair.server, session, 1, &say::progress(1, StageCode::QUEUED), now).expect("it lives");
    pair.settle();
    let events = pair.client_events();
    let stages: Vec<StageCode> = events
        .iter()
        .filter_map(|event| match event.packet()?.message()? {
            Message::Progress(progress, _) => Some(progress.stage_code),
            _ => None,
        })
        .collect();
    assert_eq!(stages, [StageCode::EXECUTING, StageCode::QUEUED]);
}

#[test]
fn o5_u1_budgets_are_kept_by_who_does_the_work() {
    let (mut pair, session) = working(2);
    let now = pair.now;
    let budget = |operation_id, token_budget| {
        let flags = BudgetFlags::REPLACE;
        Message::BudgetUpdate(Budget { operation_id, token_budget, flags, ..Budget::default() })
    };
    say(&mut pair.client, session, 1, &budget(1, 5), now).expect("it lives");
    // U1: the session's default is for operations to come.
    pair.client.send(&say::session(session), &budget(0, 9), now).expect("it is open");
    pair.submit(session, 3).expect("room");
    pair.settle();
    assert!(pair.client.budgets(session).expect("it is open").is_empty());
    let budgets = pair.server.budgets(session).expect("it is open");
    assert_eq!(budgets.of(1).left(Dimension::Tokens), Some(5));
    assert_eq!(budgets.of(2).left(Dimension::Tokens), None);
    assert_eq!(budgets.of(3).left(Dimension::Tokens), Some(9));
    let plan = budgets.check_use(1, Dimension::Tokens, 5).expect("within it");
    budgets.apply_use(plan);
    assert!(budgets.check_use(1, Dimension::Tokens, 1).is_err());
    // U3: it ends with the reason.
    pair.server.drop_operation(session, 1, DropReasonCode::BUDGET_EXCEEDED, now).expect("it lives");
    pair.settle();
    let events = pair.client_events();
    let reason = events.iter().find_map(|event| match event {
        Event::Ended { outcome, .. } => Some((outcome.operation, outcome.state, outcome.reason)),
        _ => None,
    });
    assert_eq!(reason, Some((1, OperationState::Failed, DropReasonCode::BUDGET_EXCEEDED)));
    assert_eq!(pair.server.budgets(session).expect("it is open").len(), 1);
    // U2: compute needs a cost model.
    let compute =
        Budget { operation_id: 2, compute_budget_units: 4, flags: BudgetFlags::REPLACE, ..Budget::default() };
    let refused = say(&mut pair.client, session, 2, &Message::BudgetUpdate(compute), now).unwrap_err();
    assert_eq!(rule(&refused), "U2");
    let terms = Terms { cost_model: CostModelId::TOKEN_UNITS, ..Terms::default() };
    let offer = Offer::new(ProfileId::TOKEN, ["control.capability_costs"], terms);
    pair.client.offer(Purpose::Negotiation, session, &offer, now).expect("it is open");
    pair.settle();
    pair.server
        .answer_offer(
            Purpose::Negotiation,
            session,
            ProfileId::TOKEN,
            &Words::from(["control.capability_costs"]),
        )
        .expect("an offer waits");
    pair.settle();
    say(&mut pair.client, session, 2, &Message::BudgetUpdate(compute), now).expect("there is a cost model");
}

#[test]
fn u4_a_hard_requirement_that_is_not_met_is_an_error() {
    let (mut pair, session) = working(0);
    let terms = Terms { flags: CapabilityFlags::HARD_REQUIREMENT, ..Terms::default() };
    let offer = Offer::new(ProfileId::TOKEN, ["object.delta"], terms);
    pair.client.offer(Purpose::Negotiation, session, &offer, pair.now).expect("it is open");
    pair.settle();
    assert!(
        pair.server.offer(Purpose::Negotiation, session, &offer, pair.now).is_err(),
        "only the client offers"
    );
    let able = Words::from(["object.cost"]);
    pair.server.answer_offer(Purpose::Negotiation, session, ProfileId::TOKEN, &able).expect("an offer waits");
    assert!(pair.server.answer_offer(Purpose::Negotiation, session, ProfileId::TOKEN, &able).is_err());
    pair.settle();
    let events = pair.client_events();
    let mismatch = events.iter().any(|event| {
        matches!(
            event,
            Event::Capability {
                event: nnrp_core::state::capability::Event::Answered { mismatch: true, .. },
                ..
            }
        )
    });
    assert!(mismatch, "{events:?}");
    let error = events.iter().find_map(|event| match event {
        Event::Error { packet } => match packet.message() {
            Some(Message::Error(error, _)) => Some((error.error_code, error.error_scope, error.is_fatal)),
            _ => None,
        },
        _ => None,
    });
    assert_eq!(error, Some((ErrorCode::UNSUPPORTED_CAPABILITY, ErrorScope::Session, false)));
}

#[test]
fn t1_traces_are_of_live_frames() {
    let (mut pair, session) = working(2);
    let now = pair.now;
    let trace = |trace_id| {
        let trace = TraceContext { trace_id, span_id: 2, ..TraceContext::default() };
        Message::TraceContext(trace, TraceContextBody { trace_attributes: b"" })
    };
    assert_eq!(rule(&say(&mut pair.client, session, 9, &trace(6), now).unwrap_err()), "T1");
    // The frame of an operation is found, and never made up.
    let context = |trace_id| TraceContext { trace_id, span_id: 2, ..TraceContext::default() };
    pair.client.tell_trace(session, Some(1), &context(5), now).expect("it lives");
    pair.client.tell_trace(session, None, &context(4), now).expect("the session's");
    assert_eq!(rule(&pair.client.tell_trace(session, Some(9), &context(6), now).unwrap_err()), "O4");
    assert!(pair.client.tell_trace(session, None, &context(0), now).is_err(), "D18");
    pair.settle();
    for end in [&pair.client, &pair.server] {
        assert_eq!(end.trace(session, 1).map(|context| context.trace_id), Some(5));
        assert_eq!(end.trace(session, 2).map(|context| context.trace_id), Some(4), "the session's stands in");
    }
    pair.server.send_packet(&result(session, 1), now).expect("it lives");
    pair.settle();
    let bytes = trace(7).to_vec(&say::operation(session, 1)).unwrap();
    pair.server.handle_bytes(&bytes, now);
    pair.settle();
    let refused = pair
        .server_events()
        .iter()
        .any(|event| matches!(event, Event::Refused { why, .. } if rule(why) == "T1"));
    assert!(refused, "an ended frame");
    // Whoever has the frame next begins without the context of the one before.
    let mut again = nnrp_tests::pair::submit(session, 11, 0);
    again[CommonHeader::FRAME_ID_OFFSET..][..4].copy_from_slice(&1u32.to_le_bytes());
    pair.client.submit(&again, now).expect("the frame is free");
    pair.settle();
    for end in [&pair.client, &pair.server] {
        assert_eq!(end.trace(session, 1).map(|context| context.trace_id), Some(4));
    }
}

#[test]
fn s10_without_background_results_nothing_comes_unasked() {
    for background in [false, true] {
        let mut pair = Pair::active();
        let session_flags =
            if background { SessionFlags::ALLOW_BACKGROUND_RESULTS } else { SessionFlags::empty() };
        let session = pair.open(&SessionOpen { session_flags, ..SessionOpen::default() });
        let declare = ObjectDescriptor {
            object_id: 1,
            session_id: session,
            producer_role: Role::SERVER,
            consumer_role: Role::CLIENT,
            ..ObjectDescriptor::default()
        };
        let declare = Message::ObjectDeclare(declare, ObjectDeclareBody { object_metadata: b"" });
        let ext = ControlExtensionEntries::default();
        let hint = Message::ResultHint(ResultHint::default(), ResultHintBody { ext });
        let unasked = [(hint, 0), (declare, 0), (say::put(1, b"x"), 0)];
        for (message, _) in &unasked {
            let sent = pair.server.send(&say::session(session), message, pair.now);
            match sent {
                Ok(()) => assert!(background),
                Err(why) => assert!(!background && rule(&why) == "S10", "{why}"),
            }
        }
        pair.settle();
        // A hint that comes all the same is refused.
        let bytes = unasked[0].0.to_vec(&say::operation(session, 5)).unwrap();
        pair.client_events();
        pair.client.handle_bytes(&bytes, pair.now);
        let refused = std::iter::from_fn(|| pair.client.poll_event())
            .any(|event| matches!(event, Event::Refused { why, .. } if rule(&why) == "S10"));
        assert_eq!(refused, !background);
        // With an operation that lives they belong to something.
        pair.submit(session, 1).expect("room");
        pair.settle();
        let hint = &unasked[0].0;
        say(&mut pair.server, session, 1, hint, pair.now).expect("its own");
        pair.server.send(&say::session(session), &say::put(2, b"x"), pair.now).expect("something lives");
    }
}

#[test]
fn c8_answers_are_the_connections_own() {
    let (mut pair, session) = working(1);
    let ack = SessionCloseAck::default();
    let ext = ControlExtensionEntries::default();
    let own = [
        Message::Pong,
        Message::SessionCloseAck(ack, SessionCloseAckBody { ext }),
        Message::CacheAck(CacheAck::default(), CacheAckBody { ext }),
        Message::SessionMigrateAck(
            SessionMigrateAck::default(),
            SessionMigrateAckBody { migration_ack: b"" },
        ),
    ];
    for message in own {
        let header =
            if matches!(message, Message::Pong) { CommonHeader::default() } else { say::session(session) };
        let end: &mut Connection = &mut pair.server;
        assert!(end.send(&header, &message, pair.now).is_err(), "{message:?}");
        assert!(end.poll_output().is_empty());
    }
}

#[test]
fn s7_a_patch_changes_what_it_names_and_answers_keep_their_order() {
    let (mut pair, session) = working(0);
    let patch = |quality_tier| {
        let patch = SessionPatch {
            patch_mask: PatchMask::QUALITY_TIER,
            quality_tier,
            target_cadence_x100: 99,
            ..SessionPatch::default()
        };
        let ext = ControlExtensionEntries::default();
        Message::SessionPatch(patch, SessionPatchBody { profile_patch: b"", ext })
    };
    pair.client.send(&say::session(session), &patch(3), pair.now).expect("it is open");
    pair.settle();
    for end in [&pair.client, &pair.server] {
        let settings = end.sessions().get(session).unwrap().settings();
        assert_eq!((settings.quality_tier, settings.target_cadence_x100), (3, 0));
    }
    // An answer that contradicts itself leaves its patch without one, and the next answer meets the next patch.
    pair.client.send(&say::session(session), &patch(4), pair.now).expect("it is open");
    pair.client.send(&say::session(session), &patch(5), pair.now).expect("it is open");
    let waiting = pair.client.poll_output().len();
    pair.client.consume_output(waiting);
    let answer = |applied, tier| {
        let ack = SessionPatchAck {
            status: SessionPatchStatus::Accepted,
            applied_patch_mask: applied,
            effective_profile_id: ProfileId::TOKEN,
            effective_quality_tier: tier,
            ..SessionPatchAck::default()
        };
        let body = SessionPatchAckBody::default();
        Message::SessionPatchAck(ack, body).to_vec(&say::session(session)).unwrap()
    };
    pair.client.handle_bytes(&answer(PatchMask::DEGRADE_POLICY, 4), pair.now);
    pair.client.handle_bytes(&answer(PatchMask::QUALITY_TIER, 5), pair.now);
    assert_eq!(pair.client.sessions().get(session).unwrap().settings().quality_tier, 5);
    pair.client.handle_bytes(&answer(PatchMask::QUALITY_TIER, 6), pair.now);
    assert_eq!(
        pair.client.sessions().get(session).unwrap().settings().quality_tier,
        5,
        "an answer to nothing"
    );
}
