//! Every state and every message that may or may not move it, through the whole connection (C1, O1, O10, S1).

use nnrp_core::build::{ResultBuilder, SubmitBuilder};
use nnrp_core::state::connection::{Connection, Event, Why, drain_within};
use nnrp_core::state::hello::Offer;
use nnrp_core::state::operation::Cause;
use nnrp_core::state::{Side, session};
use nnrp_core::*;
use nnrp_tests::packet::{Maker, Size};
use nnrp_tests::pair::{self, Link, Pair, frame};
use nnrp_tests::random::Random;
use nnrp_tests::registry;

use super::rich::{ENDED, LIVE, Rich, rich};
use super::say::{self, say};

/// What a message is for, in the table "What a message does to the operation".
#[derive(Clone, Copy, Debug, PartialEq)]
enum Effect {
    /// It takes the operation there, along the arrows.
    To(OperationState),
    /// It leaves its state alone.
    Nothing,
}

/// A packet that names operation `id` of a session, of each kind that can.
fn packets(session: u32, id: u64) -> Vec<(&'static str, Vec<u8>, Effect)> {
    use OperationState as S;
    let header = say::operation(session, id);
    let bytes = |message: Message<'_>| message.to_vec(&header).expect("a good packet");
    let mut all = Vec::new();
    for stage in [
        StageCode::UNSPECIFIED,
        StageCode::QUEUED,
        StageCode::EXECUTING,
        StageCode::WAITING_DEPENDENCY,
        StageCode::PRODUCING_PARTIAL,
        StageCode::FINALIZING,
    ] {
        let effect = match stage {
            StageCode::EXECUTING | StageCode::PRODUCING_PARTIAL | StageCode::FINALIZING => {
                Effect::To(S::Running)
            }
            StageCode::WAITING_DEPENDENCY => Effect::To(S::WaitingTool),
            _ => Effect::Nothing,
        };
        let progress =
            Progress { operation_id: id, progress_sequence: 50, stage_code: stage, ..Progress::default() };
        all.push((
            "PROGRESS",
            bytes(Message::Progress(progress, ProgressBody { progress_body: b"" })),
            effect,
        ));
    }
    for flags in [PartialResultFlags::empty(), PartialResultFlags::FINAL_PARTIAL] {
        let partial =
            PartialResult { operation_id: id, result_sequence: 50, flags, ..PartialResult::default() };
        let message = Message::PartialResult(partial, PartialResultBody { result_body: b"" });
        all.push(("PARTIAL_RESULT", bytes(message), Effect::To(S::Partial)));
    }
    for (class, flags, eos, to) in [
        (ResultClass::Complete, ResultFlags::empty(), false, S::Completed),
        (ResultClass::Partial, ResultFlags::empty(), false, S::Partial),
        (ResultClass::Complete, ResultFlags::PARTIAL, false, S::Partial),
        (ResultClass::Partial, ResultFlags::PARTIAL, true, S::Completed),
    ] {
        let mut header = header;
        header.flags.set(HeaderFlags::EOS, eos);
        let push = ResultPush { result_class: class, result_flags: flags, ..ResultPush::default() };
        let packet =
            ResultBuilder::new(push).token(DescriptorFlags::empty(), b"words").to_vec(&header).expect("good");
        all.push(("RESULT_PUSH", packet, Effect::To(to)));
    }
    let ext = ControlExtensionEntries::default();
    all.push(("RESULT_DROP", bytes(Message::ResultDrop(ResultDropBody { ext })), Effect::To(S::Failed)));
    for (reason, last, effect) in [
        (DropReasonCode::SUPERSEDED, true, Effect::To(S::Superseded)),
        (DropReasonCode::PEER_CANCELLED, true, Effect::To(S::Cancelled)),
        (DropReasonCode::BUDGET_EXCEEDED, true, Effect::To(S::Failed)),
        (DropReasonCode::SUPERSEDED, false, Effect::Nothing),
    ] {
        let drop = ResultDrop {
            operation_id: id,
            drop_reason_code: reason,
            source_role: Role::SERVER,
            flags: if last { ResultDropFlags::FINAL } else { ResultDropFlags::empty() },
            ..ResultDrop::default()
        };
        let message = Message::ResultDropReason(drop, ResultDropReasonBody { diagnostic: b"" });
        all.push(("RESULT_DROP_REASON", bytes(message), effect));
    }
    for (code, to) in [
        (ErrorCode::FRAME_CANCELLED, S::Cancelled),
        (ErrorCode::FRAME_EXPIRED, S::Failed),
        (ErrorCode::INTERNAL_ERROR, S::Failed),
    ] {
        all.push(("ERROR", bytes(say::error(code)), Effect::To(to)));
    }
    let recoverable = RecoverableError {
        error_code: ErrorCode::SERVER_BUSY,
        error_scope: ErrorScope::Frame,
        source_role: Role::SERVER,
        ..RecoverableError::default()
    };
    let message = Message::ErrorRecoverable(recoverable, ErrorRecoverableBody { diagnostic: b"" });
    all.push(("ERROR_RECOVERABLE", bytes(message), Effect::Nothing));
    let mut retry = say::retry(id, 5, RetryAfterFlags::APPLIES_TO_OPERATION);
    if let Message::RetryAfter(retry, _) = &mut retry {
        retry.control_sequence = 1_000;
    }
    all.push(("RETRY_AFTER", bytes(retry), Effect::Nothing));
    let hint = RouteHint { operation_id: id, ..RouteHint::default() };
    all.push((
        "ROUTE_HINT",
        bytes(Message::RouteHint(hint, RouteHintBody { hint_body: b"" })),
        Effect::Nothing,
    ));
    all.push((
        "EXECUTION_HINT",
        bytes(Message::ExecutionHint(hint, ExecutionHintBody { hint_body: b"" })),
        Effect::Nothing,
    ));
    let scheduling = Scheduling {
        operation_id: id,
        control_sequence: 1_000,
        deadline_unix_ms: 1 << 40,
        ..Scheduling::default()
    };
    all.push(("PRIORITY_UPDATE", bytes(Message::PriorityUpdate(scheduling)), Effect::Nothing));
    all.push(("EXPIRE_AT", bytes(Message::ExpireAt(scheduling)), Effect::Nothing));
    let budget =
        Budget { operation_id: id, token_budget: 9, flags: BudgetFlags::REPLACE, ..Budget::default() };
    all.push(("BUDGET_UPDATE", bytes(Message::BudgetUpdate(budget)), Effect::Nothing));
    let credit = Pressure {
        scope_id: id,
        credit_window: 3,
        flags: PressureFlags::APPLIES_TO_OPERATION,
        ..Pressure::default()
    };
    all.push(("CREDIT_UPDATE", bytes(Message::CreditUpdate(credit)), Effect::Nothing));
    all.push(("BACKPRESSURE", bytes(Message::Backpressure(credit)), Effect::Nothing));
    let update = FlowUpdate {
        scope_kind: ScopeKind::Operation,
        operation_id: id,
        credit_epoch: 9,
        ..FlowUpdate::default()
    };
    all.push(("FLOW_UPDATE", bytes(Message::FlowUpdate(update)), Effect::Nothing));
    let mut cancel = say::cancel(id);
    if let Message::Cancel(request, _) = &mut cancel {
        request.control_sequence = 1_000;
    }
    all.push(("CANCEL", bytes(cancel), Effect::Nothing));
    all.push(("FRAME_CANCEL", bytes(Message::FrameCancel(FrameCancelBody { ext })), Effect::Nothing));
    let mut abort = say::abort(id);
    if let Message::Abort(request, _) = &mut abort {
        request.control_sequence = 1_000;
    }
    all.push(("ABORT", bytes(abort), Effect::To(S::Cancelled)));
    all
}

/// Where an operation is led by the arrows of the registry; nothing where none lead there.
fn led(from: OperationState, effect: Effect) -> Option<OperationState> {
    let Effect::To(to) = effect else { return Some(from) };
    let running = OperationState::Running;
    let through = from == OperationState::Accepted || from == OperationState::WaitingTool;
    let arrow =
        from.can_become(to) || from == to || through && from.can_become(running) && running.can_become(to);
    arrow.then_some(to)
}

fn feed(end: &mut Connection, bytes: &[u8], now: nnrp_core::state::Time) -> Vec<Event> {
    end.handle_bytes(bytes, now);
    std::iter::from_fn(|| end.poll_event()).collect()
}

#[test]
fn o10_every_state_and_every_message_as_the_table_says() {
    let mut walked = 0;
    for side in [Side::Server, Side::Client] {
        let count = packets(7, 1).len();
        for at in 0..count {
            let mut live = LIVE.to_vec();
            // One that has ended, and one that never was.
            live.extend([(ENDED, OperationState::Completed), (77, OperationState::Failed)]);
            for (id, from) in live {
                let Rich { mut pair, session, .. } = rich();
                let (name, bytes, effect) = packets(session, id).swap_remove(at);
                let message = Packet::parse(&bytes).expect("a good packet").message_type();
                let now = pair.now;
                let end = if side == Side::Server { &mut pair.server } else { &mut pair.client };
                let events = feed(end, &bytes, now);
                let place = format!("{name} to {side:?}, operation {id} in {from}: {events:?}");
                let refused = events.iter().find_map(|event| match event {
                    Event::Refused { why: Why::Refusal(refusal), .. } => Some(*refusal),
                    _ => None,
                });
                walked += 1;
                if !side.peer().may_send(message) {
                    assert_eq!(refused.expect(&place).rule, "C1", "{place}");
                    continue;
                }
                if id == ENDED {
                    // Ignored and reported, but for what names nothing in the connection's books.
                    let silent = matches!(name, "ERROR_RECOVERABLE");
                    let late = matches!(&events[..], [Event::Late { ended: Some(ended), .. }] if ended.operation == ENDED);
                    let cancel = matches!(name, "CANCEL" | "FRAME_CANCEL" | "ABORT");
                    let late =
                        late || cancel && events.iter().any(|event| matches!(event, Event::Late { .. }));
                    assert!(late || silent, "{place}");
                    continue;
                }
                if id == 77 {
                    let silent = matches!(name, "ERROR_RECOVERABLE");
                    assert!(
                        silent || refused.is_some_and(|refusal| refusal.code == ErrorCode::INVALID_STATE),
                        "{place}"
                    );
                    continue;
                }
                let after = end.operations(session).unwrap().by_id(id).map(|operation| operation.state());
                match led(from, effect) {
                    None => {
                        assert_eq!(refused.expect(&place).rule, "O1", "{place}");
                        assert_eq!(after, Some(from), "{place}");
                    }
                    Some(to) if to.is_terminal() => {
                        let ended = events.iter().find_map(|event| match event {
                            Event::Ended { outcome, .. } => Some(outcome.state),
                            _ => None,
                        });
                        assert_eq!((after, ended), (None, Some(to)), "{place}");
                    }
                    Some(to) => {
                        assert!(refused.is_none(), "{place}");
                        assert_eq!(after, Some(to), "{place}");
                    }
                }
            }
        }
    }
    assert!(walked > 390, "{walked}");
}

#[test]
fn o10_who_sends_comes_to_the_same_as_who_receives() {
    for side in [Side::Server, Side::Client] {
        for at in 0..packets(7, 1).len() {
            for (id, from) in LIVE {
                let Rich { mut pair, session, .. } = rich();
                let (name, bytes, _) = packets(session, id).swap_remove(at);
                let now = pair.now;
                let sender = if side == Side::Server { &mut pair.server } else { &mut pair.client };
                let sent = sender.send_packet(&bytes, now);
                pair.settle();
                let states: Vec<_> = [&pair.client, &pair.server]
                    .into_iter()
                    .map(|end| end.operations(session).unwrap().by_id(id).map(|operation| operation.state()))
                    .collect();
                assert_eq!(states[0], states[1], "{name} from {side:?}, {from}: {sent:?}");
                if sent.is_err() {
                    assert_eq!(states[0], Some(from), "{name} from {side:?}");
                }
                assert_eq!(pair.client.snapshot().credit.in_flight, pair.server.snapshot().credit.in_flight);
                for events in [pair.client_events(), pair.server_events()] {
                    let ended = events.iter().filter(|event| matches!(event, Event::Ended { .. })).count();
                    assert_eq!(ended, usize::from(states[0].is_none()), "{name} from {side:?}: {events:?}");
                    let refused = events.iter().any(|event| matches!(event, Event::Refused { .. }));
                    assert!(!refused, "{name} from {side:?}: {events:?}");
                }
            }
        }
    }
}

#[test]
fn o7_supersede_ends_every_state_at_both_ends() {
    for (id, _) in LIVE {
        for new in [2, 3] {
            if new == id {
                continue;
            }
            let Rich { mut pair, session, .. } = rich();
            say(&mut pair.client, session, id, &say::supersede(id, new), pair.now).expect("both live");
            pair.settle();
            for events in [pair.client_events(), pair.server_events()] {
                let ended: Vec<_> = events
                    .iter()
                    .filter_map(|event| match event {
                        Event::Ended { outcome, .. } => {
                            Some((outcome.operation, outcome.state, outcome.cause))
                        }
                        _ => None,
                    })
                    .collect();
                let cause = Cause::Supersede { by: new, abort: false };
                assert_eq!(ended, [(id, OperationState::Superseded, cause)]);
            }
        }
    }
}

#[test]
fn o1_nothing_is_submitted_twice_in_any_state() {
    for (id, _) in LIVE {
        let Rich { mut pair, session, .. } = rich();
        let events = feed(&mut pair.server, &pair::submit(session, id, 0), pair.now);
        let [Event::Refused { why: Why::Refusal(refusal), .. }] = &events[..] else { panic!("{events:?}") };
        assert_eq!((refusal.code, refusal.rule), (ErrorCode::INVALID_STATE, "O2"));
        // Another id under its frame.
        let header = say::operation(session, id);
        let bytes = SubmitBuilder::new(FrameSubmit { operation_id: 50, ..FrameSubmit::default() })
            .token(DescriptorFlags::empty(), b"words")
            .to_vec(&header)
            .expect("good");
        let events = feed(&mut pair.server, &bytes, pair.now);
        let [Event::Refused { why: Why::Refusal(refusal), .. }] = &events[..] else { panic!("{events:?}") };
        assert_eq!((refusal.code, refusal.rule), (ErrorCode::INVALID_STATE, "O4"));
    }
}

/// A connection in that state.
fn at(state: ConnectionState) -> Pair {
    let mut pair = Pair::default();
    let now = pair.now;
    match state {
        ConnectionState::Init => {}
        ConnectionState::Negotiating => {
            pair.client.hello(&Offer::new(), b"", now).expect("a good offer");
            pair::carry(&mut pair.client, &mut pair.server, Link::Whole, now);
            while pair.server.poll_event().is_some() {}
        }
        _ => {
            pair.greet();
            let session = pair.open(&SessionOpen { requested_session_id: 7, ..SessionOpen::default() });
            pair.submit(session, 1).expect("there is room");
            pair.settle();
            if state == ConnectionState::Draining {
                pair.client.close(now).expect("it is active");
                pair.settle();
            } else if state == ConnectionState::Closed {
                pair.client.handle_lost(now);
                pair.server.handle_lost(now);
            }
            pair.settle();
            pair.client_events();
            pair.server_events();
        }
    }
    pair
}

#[test]
fn c1_every_state_and_every_message_in_both_directions() {
    use MessageType as M;
    let registry = registry::nnrp();
    let maker = Maker::new(&registry);
    for state in ConnectionState::ALL {
        for side in [Side::Client, Side::Server] {
            for message in &registry.messages {
                let bytes = maker.packet(message, Size::Minimal, &mut Random::new(3, &message.name));
                let kind = Packet::parse(&bytes).expect("a good packet").message_type();
                let mut pair = at(state);
                let now = pair.now;
                let end = if side == Side::Server { &mut pair.server } else { &mut pair.client };
                assert_eq!(end.state(), state);
                let taken = end.handle_bytes(&bytes, now);
                let events: Vec<Event> = std::iter::from_fn(|| end.poll_event()).collect();
                if state == ConnectionState::Closed {
                    assert_eq!(taken, 0);
                    continue;
                }
                let probing = matches!(kind, M::Ping | M::Pong | M::TransportProbe | M::TransportProbeAck);
                let allowed = side.peer().may_send(kind)
                    && match state {
                        ConnectionState::Init => probing || kind == M::ClientHello,
                        ConnectionState::Negotiating => {
                            probing || kind == M::ServerHelloAck || kind == M::Error
                        }
                        ConnectionState::Active => !matches!(kind, M::ClientHello | M::ServerHelloAck),
                        _ => !matches!(
                            kind,
                            M::ClientHello | M::ServerHelloAck | M::SessionOpen | M::FrameSubmit
                        ),
                    };
                let refused = events.iter().any(|event| {
                    matches!(event, Event::Refused { why: Why::Refusal(refusal), .. } if refusal.rule == "C1")
                });
                assert_eq!(allowed, !refused, "{kind} to {side:?} in {state}: {events:?}");
                // The way out is the same.
                let mut pair = at(state);
                let (header, message) = {
                    let packet = Packet::parse(&bytes).expect("a good packet");
                    (packet.header().to_owned(), packet.message())
                };
                let end = if side == Side::Server { &mut pair.client } else { &mut pair.server };
                let waiting = end.poll_output().len();
                match end.send(&header, &message, now) {
                    Err(Why::Refusal(refusal)) if refusal.rule == "C1" => {
                        assert!(!allowed, "{kind} in {state}")
                    }
                    Err(_) => {}
                    Ok(()) => assert!(allowed || end.is_over(), "{kind} from {:?} in {state}", side.peer()),
                }
                let _ = waiting;
            }
        }
    }
}

/// Where a session may be on its server.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    Open,
    Closing,
    Draining,
    Gone,
}

/// A session with one live operation.
fn staged(stage: Stage) -> (Pair, u32) {
    let mut pair = Pair::active();
    let open = SessionOpen { session_flags: SessionFlags::all(), ..SessionOpen::default() };
    let session = pair.open(&open);
    pair.submit(session, 1).expect("there is room");
    pair.settle();
    let now = pair.now;
    if stage != Stage::Open {
        pair.client.close_session(session, &drain_within(1_000), now).expect("it is open");
        pair.settle();
    }
    if matches!(stage, Stage::Draining | Stage::Gone) {
        let verdict = session::Verdict::Proceed { last_operation_id: 1 };
        pair.server.answer_close(session, verdict, now).expect("it was asked for");
        pair.settle();
    }
    if stage == Stage::Gone {
        pair.server.send_packet(&pair::result(session, 1), now).expect("it drains");
        pair.settle();
    }
    pair.client_events();
    pair.server_events();
    let state = pair.server.sessions().get(session).map(|session| session.state());
    let wanted = match stage {
        Stage::Open => Some(SessionState::Open),
        Stage::Closing => Some(SessionState::Closing),
        Stage::Draining => Some(SessionState::Draining),
        Stage::Gone => None,
    };
    assert_eq!(state, wanted);
    assert_eq!(pair.client.sessions().get(session).map(|session| session.state()), wanted);
    (pair, session)
}

#[test]
fn s4_every_stage_of_a_session_and_every_message() {
    for stage in [Stage::Open, Stage::Closing, Stage::Draining, Stage::Gone] {
        let (_, session) = staged(Stage::Open);
        let header = say::session(session);
        let bytes = |message: Message<'_>| message.to_vec(&header).expect("a good packet");
        let patch =
            SessionPatch { patch_mask: PatchMask::QUALITY_TIER, quality_tier: 1, ..SessionPatch::default() };
        let ext = ControlExtensionEntries::default();
        let patch = Message::SessionPatch(patch, SessionPatchBody { profile_patch: b"", ext });
        let close = Message::SessionClose(drain_within(5), SessionCloseBody { ext });
        let live = |stage| stage != Stage::Gone;
        let open = |stage| stage == Stage::Open;
        type Allowed = fn(Stage) -> bool;
        // What a client may say, and until when.
        let said: Vec<(Vec<u8>, Allowed)> = vec![
            (pair::submit(session, 2, 0), open),
            (bytes(patch), open),
            // A second close of the same side is one too many.
            (bytes(close), open),
            (say::cancel(1).to_vec(&say::operation(session, 1)).unwrap(), live),
            (bytes(say::put(3, b"object")), live),
            (bytes(say::credit(3, 9)), live),
        ];
        for (bytes, allowed) in said {
            let (mut pair, there) = staged(stage);
            assert_eq!(there, session);
            let events = feed(&mut pair.server, &bytes, pair.now);
            let refused = events.iter().find(|event| matches!(event, Event::Refused { .. }));
            let kind = Packet::parse(&bytes).unwrap().message_type();
            assert_eq!(refused.is_none(), allowed(stage), "{kind} in {stage:?}: {events:?}");
        }
        // What a server may say: results flow until the end (C7, S3).
        let (mut pair, _) = staged(stage);
        let events = feed(&mut pair.client, &pair::result(session, 1), pair.now);
        let ended = events.iter().any(|event| matches!(event, Event::Ended { .. }));
        assert_eq!(ended, live(stage), "{stage:?}");
    }
    assert_eq!(frame(1), 1);
}
