//! Rules that only show where the modules come together, each by its number. The others are tested in their modules;
//! `nnrp_core::state::rules` has the table.

use nnrp_core::build::{ResultBuilder, SectionTable, SubmitBuilder, Tiles};
use nnrp_core::state::Time;
use nnrp_core::state::connection::{Connection, Event, Over, Received, SessionSnapshot, Snapshot, Why};
use nnrp_core::{
    BackpressureLevel, CommonHeader, ConnectionState, DescriptorFlags, DtypeId, Error, ErrorBody, ErrorCode,
    ErrorScope, FlowFlags, FlowUpdate, FrameSubmit, Message, MessageType, OperationState, Packet, ProfileId,
    Progress, ProgressBody, ResultClass, ResultPush, ScopeKind, SessionOpen, SessionState, StageCode,
    StreamSemantics, TensorLayoutId, TensorSectionDescriptor, UpdateReason,
};
use nnrp_tests::pair::{Pair, result, submit};

/// A session on an active connection.
fn open() -> (Pair, u32) {
    let mut pair = Pair::active();
    let session = pair.open(&SessionOpen::default());
    (pair, session)
}

/// A packet that no check stood before.
fn raw(header: CommonHeader, message: &Message<'_>) -> Vec<u8> {
    message.to_vec(&CommonHeader { msg_type: message.message_type(), ..header }).expect("a good packet")
}

fn header(session_id: u32, frame_id: u32) -> CommonHeader {
    CommonHeader { session_id, frame_id, ..CommonHeader::default() }
}

/// The ERROR that an end says to some bytes, if it says one.
fn error(end: &mut Connection, bytes: &[u8], now: Time) -> Option<Error> {
    assert_eq!(end.poll_output(), b"", "something waits already");
    assert_eq!(end.handle_bytes(bytes, now), bytes.len());
    let answer = end.poll_output().to_vec();
    end.consume_output(answer.len());
    if answer.is_empty() {
        return None;
    }
    match Packet::parse(&answer).expect("one packet").message() {
        Message::Error(error, _) => Some(error),
        other => panic!("{other:?}"),
    }
}

#[test]
fn c4_an_error_has_the_scope_and_the_weight_of_its_cause() {
    let (mut pair, session) = open();
    assert!(pair.submit(session, 1).expect("credit"));
    pair.settle();
    let server = &mut pair.server;
    let progress = Progress { operation_id: 9, ..Progress::default() };
    let body = ProgressBody { progress_body: b"" };
    let patch = Message::SessionPatch(Default::default(), Default::default());
    let hello = Message::ClientHello(nnrp_core::state::hello::Offer::new().hello, Default::default());
    // What is sent, and the code, scope, weight and names of the answer.
    let cases = [
        // A refused submit: the code refuses the message, and says nothing of the session.
        (submit(session, 1, 0), ErrorCode::INVALID_STATE, ErrorScope::Frame, false, (session, 1)),
        // Another message of a session, here of an operation that nobody knows.
        (
            raw(header(session, 0), &Message::Progress(progress, body)),
            ErrorCode::INVALID_STATE,
            ErrorScope::Session,
            false,
            (session, 0),
        ),
        // A session that nobody knows.
        (
            raw(header(session + 1, 0), &patch),
            ErrorCode::INVALID_STATE,
            ErrorScope::Session,
            false,
            (session + 1, 0),
        ),
        // A message of the connection in the wrong state leaves the connection as it is.
        (raw(header(0, 0), &hello), ErrorCode::INVALID_STATE, ErrorScope::Connection, false, (0, 0)),
    ];
    for (bytes, code, scope, is_fatal, (session_id, frame_id)) in cases {
        let error = error(server, &bytes, pair.now).expect("an answer");
        assert_eq!(
            (error.error_code, error.error_scope, error.is_fatal),
            (code, scope, is_fatal),
            "{error:?}"
        );
        assert_eq!((error.related_session_id, error.related_frame_id), (session_id, frame_id));
        assert_eq!(server.state(), ConnectionState::Active);
    }
    assert_eq!(server.snapshot().operations, 1);

    // A header that is none ends the connection.
    let error = error(server, &[0; 40], pair.now).expect("an answer");
    assert_eq!((error.error_code, error.error_scope), (ErrorCode::MALFORMED_HEADER, ErrorScope::Connection));
    assert!(error.is_fatal && server.is_over());
}

#[test]
fn c4_an_error_is_never_answered() {
    let (mut pair, session) = open();
    let wrong = Error {
        error_code: ErrorCode::INVALID_STATE,
        error_scope: ErrorScope::Frame,
        related_session_id: session,
        related_frame_id: 77,
        ..Error::default()
    };
    let body = ErrorBody::default();
    let bytes = raw(header(session, 77), &Message::Error(wrong, body));
    for end in [&mut pair.client, &mut pair.server] {
        assert_eq!(error(end, &bytes, pair.now), None);
        assert_eq!(end.snapshot().counters.refused, 1);
    }
    // Not even one that cannot be read.
    let mut bytes = bytes;
    bytes[40 + 6] = 0xff;
    assert!(Packet::parse(&bytes).is_err());
    assert_eq!(error(&mut pair.client, &bytes, pair.now), None);
}

/// All that can be seen of an end, but for the error itself.
fn look(end: &Connection, session: u32) -> (Snapshot, Option<SessionSnapshot>, Vec<String>) {
    let mut seen = end.snapshot();
    (seen.counters, seen.events, seen.output_bytes) = Default::default();
    let operations = end.operations(session).into_iter().flat_map(|live| live.iter());
    (seen, end.session_snapshot(session), operations.map(|operation| format!("{operation:?}")).collect())
}

#[test]
fn c5_a_packet_that_breaks_a_rule_changes_nothing() {
    let (mut pair, session) = open();
    for operation in [1, 2] {
        assert!(pair.submit(session, operation).expect("credit"));
    }
    pair.settle();
    let flow = FlowUpdate {
        scope_kind: ScopeKind::Session,
        session_credit: 9,
        credit_epoch: 5,
        flow_flags: FlowFlags::CREDIT_VALID,
        ..FlowUpdate::default()
    };
    let progress = Progress { operation_id: 1, stage_code: StageCode::EXECUTING, ..Progress::default() };
    let good = [
        submit(session, 3, 0),
        result(session, 1),
        raw(header(session, 0), &Message::FlowUpdate(flow)),
        raw(header(session, 1), &Message::Progress(progress, ProgressBody { progress_body: b"half" })),
        raw(header(session, 0), &Message::SessionClose(Default::default(), Default::default())),
    ];
    // Each byte of each, turned over: what cannot be read is refused and leaves no trace. The header's first twenty bytes
    // are left out: they say where packets end.
    let mut broken = 0;
    for bytes in &good {
        for at in 20..bytes.len() {
            let mut bytes = bytes.clone();
            bytes[at] ^= 0xff;
            if Packet::parse(&bytes).is_ok() {
                continue;
            }
            broken += 1;
            for end in [&mut pair.client, &mut pair.server] {
                let before = look(end, session);
                assert_eq!(end.handle_bytes(&bytes, pair.now), bytes.len());
                assert_eq!(look(end, session), before, "byte {at} of {:?}", MessageType::from_raw(bytes[6]));
                end.consume_output(usize::MAX);
                while end.poll_event().is_some() {}
            }
        }
    }
    assert!(broken > 100, "{broken}");
    // And as they are they do change something.
    let before = look(&pair.server, session);
    pair.server.handle_bytes(&good[0], pair.now);
    assert_ne!(look(&pair.server, session), before);
}

#[test]
fn c7_results_and_control_flow_whatever_the_submitter_does() {
    let (mut pair, session) = open();
    for operation in [1, 2] {
        assert!(pair.submit(session, operation).expect("credit"));
    }
    pair.settle();
    // The client may not submit any more, and what it wants waits.
    let pause = FlowUpdate {
        scope_kind: ScopeKind::Connection,
        update_reason: UpdateReason::Pause,
        ..FlowUpdate::default()
    };
    pair.server.send(&header(0, 0), &Message::FlowUpdate(pause), pair.now).expect("a good update");
    pair.settle();
    assert!(!pair.submit(session, 3).expect("it waits"));
    pair.client_events();
    // Its control messages go out all the same, and results come in.
    pair.client.cancel(session, 2, pair.now).expect("a live operation");
    pair.server.send_packet(&result(session, 1), pair.now).expect("a live operation");
    pair.settle();
    let server = pair.server_events();
    assert!(
        server.iter().any(|event| matches!(event, Event::CancelAsked { operation_id: 2, .. })),
        "{server:?}"
    );
    let client = pair.client_events();
    let ended = |event: &Event| matches!(event, Event::Ended { outcome, .. } if outcome.operation == 1);
    assert!(client.iter().any(ended), "{client:?}");
    // An end that writes is not held up by what it did not send yet.
    pair.server.progress(session, 2, StageCode::EXECUTING, 0, pair.now).expect("a live operation");
    assert!(!pair.server.poll_output().is_empty());
    let ping = raw(header(0, 0), &Message::Ping);
    assert_eq!(pair.server.handle_bytes(&ping, pair.now), ping.len());
    assert_eq!(pair.client.snapshot().queued, 1);
}

#[test]
fn w6_flow_updates_have_no_place_for_anything_private() {
    // All of its fields. One more does not compile here.
    let FlowUpdate {
        scope_kind: _,
        update_reason: _,
        backpressure_level,
        connection_credit: _,
        session_credit: _,
        operation_credit: _,
        operation_id: _,
        retry_after_ms: _,
        credit_epoch: _,
        flow_flags: _,
    } = FlowUpdate::default();
    assert_eq!(backpressure_level, BackpressureLevel::None);
    // And no body behind it.
    let (mut pair, _) = open();
    let mut bytes = raw(header(0, 0), &Message::FlowUpdate(FlowUpdate::default()));
    bytes[16..20].copy_from_slice(&8u32.to_le_bytes());
    bytes.extend_from_slice(b"my queue");
    let error = error(&mut pair.client, &bytes, pair.now).expect("an answer");
    assert_eq!(error.error_code, ErrorCode::MALFORMED_BODY);
}

/// What a client got of an operation, and the state that it is in then.
fn got(pair: &mut Pair) -> (OperationState, Received) {
    let events = pair.client_events();
    match events.into_iter().next() {
        Some(Event::Updated { state, packet, .. }) => (state, packet),
        Some(Event::Ended { outcome, packet: Some(packet), .. }) => (outcome.state, packet),
        other => panic!("{other:?}"),
    }
}

#[test]
fn g8_a_descriptor_says_what_its_payload_is() {
    let (mut pair, session) = open();
    let builder = SubmitBuilder::new(FrameSubmit { operation_id: 1, ..FrameSubmit::default() })
        .tiles(&Tiles::Range { base: 0, count: 2 })
        .sections(SectionTable::new().fixed(
            TensorSectionDescriptor {
                role_id: 1,
                dtype_id: DtypeId::Fp16,
                layout_id: TensorLayoutId::Nchw,
                element_count_per_tile: 4,
                ..TensorSectionDescriptor::default()
            },
            &[],
            8,
            &[0; 16],
        ));
    pair.client
        .submit(&builder.to_vec(&header(session, 1)).expect("a good submit"), pair.now)
        .expect("credit");
    pair.settle();
    // A tensor: element type, layout and shape are there without a look at the elements.
    let events = pair.server_events();
    let [Event::Submitted { packet, .. }] = &events[..] else { panic!("{events:?}") };
    let Some(Message::FrameSubmit(_, body)) = packet.message() else { panic!("{packet:?}") };
    let sections: Vec<_> = body.regions.iter().flat_map(|regions| regions.sections()).collect();
    let [section] = &sections[..] else { panic!("{} sections", sections.len()) };
    let descriptor = section.descriptor.to_owned();
    assert_eq!((descriptor.dtype_id, descriptor.layout_id), (DtypeId::Fp16, TensorLayoutId::Nchw));
    assert_eq!((descriptor.element_count_per_tile, descriptor.payload_bytes), (4, 16));
    assert_eq!(section.tiles().map(|tile| tile.bytes.len()).collect::<Vec<_>>(), [8, 8]);

    // Tokens: a part is usable and the sequence goes on; the end is the end.
    for (flags, class, state) in [
        (DescriptorFlags::PARTIAL, ResultClass::Partial, OperationState::Partial),
        (DescriptorFlags::TERMINAL, ResultClass::Complete, OperationState::Completed),
    ] {
        let push = ResultPush { result_class: class, ..ResultPush::default() };
        let tokens = ResultBuilder::new(push).token(flags, b"Because");
        pair.server.result(session, 1, &tokens, pair.now).expect("a live operation");
        pair.settle();
        let (there, packet) = got(&mut pair);
        assert_eq!(there, state);
        let Some(Message::ResultPush(_, body)) = packet.message() else { panic!("{packet:?}") };
        let payloads: Vec<_> =
            body.regions.iter().flat_map(|regions| regions.payload_frames_sliced()).collect();
        let [(descriptor, bytes)] = payloads[..] else { panic!("{} payloads", payloads.len()) };
        let descriptor = descriptor.to_owned();
        assert_eq!((descriptor.profile_id, descriptor.descriptor_flags), (ProfileId::TOKEN, flags));
        assert_eq!((descriptor.schema_id, descriptor.schema_version), (0x1001, 3));
        assert_eq!(descriptor.stream_semantics, StreamSemantics::Default);
        assert_eq!(bytes, b"Because");
    }
}

#[test]
fn t2_times_are_observable_under_the_same_names_at_both_ends() {
    let (mut pair, session) = open();
    assert!(pair.submit(session, 1).expect("credit"));
    pair.settle();
    // It waits, then it runs.
    pair.wait(30);
    pair.server.progress(session, 1, StageCode::EXECUTING, 0, pair.now).expect("a live operation");
    pair.settle();
    pair.wait(20);
    for end in [&pair.client, &pair.server] {
        let seen = end.operation_snapshot(session, 1, pair.now).expect("a live operation");
        assert_eq!((seen.queue_ms, seen.compute_ms, seen.state), (30, 20, OperationState::Running));
        assert_eq!(end.session_snapshot(session).expect("a live session").operations, 1);
        assert_eq!(end.snapshot().credit.in_flight, 1);
    }
    pair.server.send_packet(&result(session, 1), pair.now).expect("a live operation");
    pair.settle();
    for end in [&pair.client, &pair.server] {
        let of_session = end.session_snapshot(session).expect("a live session").work;
        assert_eq!((of_session.queue_ms, of_session.compute_ms, of_session.completed), (30, 20, 1));
        assert_eq!(end.snapshot().counters.work, of_session);
    }
    // How far the server lets the client go.
    for (scope_kind, header) in
        [(ScopeKind::Connection, header(0, 0)), (ScopeKind::Session, header(session, 0))]
    {
        let hard = FlowUpdate {
            scope_kind,
            update_reason: UpdateReason::Pause,
            backpressure_level: BackpressureLevel::Hard,
            ..FlowUpdate::default()
        };
        pair.server.send(&header, &Message::FlowUpdate(hard), pair.now).expect("a good update");
    }
    pair.settle();
    for end in [&pair.client, &pair.server] {
        for credit in [end.snapshot().credit, end.session_snapshot(session).expect("a live session").credit] {
            assert_eq!((credit.level, credit.paused), (BackpressureLevel::Hard, true));
        }
    }
    // The way there and back.
    assert_eq!(pair.client.snapshot().round_trip_ms, None);
    pair.client.ping(pair.now);
    pair.server.handle_bytes(pair.client.poll_output(), pair.now);
    pair.client.consume_output(usize::MAX);
    pair.wait(12);
    assert_eq!(pair.client.snapshot().round_trip_ms, Some(12));
}

#[test]
fn t3_the_status_of_a_result_decides_nothing() {
    let (mut pair, session) = open();
    for (operation, status_code) in [(1, 0), (2, 500), (3, u16::MAX)] {
        assert!(pair.submit(session, operation).expect("credit"));
        pair.settle();
        let push = ResultPush { status_code, ..ResultPush::default() };
        let tokens = ResultBuilder::new(push).token(DescriptorFlags::TERMINAL, b"Because.");
        pair.server.result(session, operation, &tokens, pair.now).expect("a live operation");
        pair.settle();
        let (state, packet) = got(&mut pair);
        assert_eq!(state, OperationState::Completed);
        let Some(Message::ResultPush(push, _)) = packet.message() else { panic!("{packet:?}") };
        assert_eq!(push.status_code, status_code);
    }
}

#[test]
fn s3_who_accepts_a_close_names_the_newest_operation() {
    let (mut pair, session) = open();
    for operation in [5, 4] {
        assert!(pair.submit(session, operation).expect("credit"));
    }
    pair.settle();
    let close = nnrp_core::state::connection::drain_within(1_000);
    pair.client.close_session(session, &close, pair.now).expect("an open session");
    pair.settle();
    pair.client_events();
    // Also one that has ended was taken.
    pair.server.send_packet(&result(session, 4), pair.now).expect("a live operation");
    pair.server.accept_close(session, pair.now).expect("a request to close");
    pair.settle();
    let acks = pair.client_events().into_iter().filter_map(|event| match event {
        Event::Message { packet } => match packet.message() {
            Some(Message::SessionCloseAck(ack, _)) => Some(ack.last_operation_id),
            _ => None,
        },
        _ => None,
    });
    assert_eq!(acks.collect::<Vec<_>>(), [4]);
    // The other may still finish.
    pair.server.send_packet(&result(session, 5), pair.now).expect("a live operation");
    pair.settle();
    let ends = pair.client_events();
    let completed = |event: &&Event| matches!(event, Event::Ended { outcome, .. } if outcome.state == OperationState::Completed);
    assert_eq!(ends.iter().filter(completed).count(), 1, "{ends:?}");
    assert_eq!(pair.client.snapshot().sessions, 0);
}

#[test]
fn s3_after_draining_every_end_is_taken_until_closed() {
    let (mut pair, session) = open();
    for operation in [1, 2, 3] {
        assert!(pair.submit(session, operation).expect("credit"));
    }
    pair.settle();
    let close = nnrp_core::state::connection::drain_within(1_000);
    pair.client.close_session(session, &close, pair.now).expect("an open session");
    pair.settle();
    pair.client_events();
    // One after the other is confirmed, and each confirmation may be lower than the one before.
    for (last_operation_id, ends) in [(2, 1), (3, 2), (1, 3)] {
        let verdict = nnrp_core::state::session::Verdict::Proceed { last_operation_id };
        pair.server.answer_close(session, verdict, pair.now).expect("a request to close");
        pair.settle();
        assert_eq!(pair.client.session_snapshot(session).expect("it drains").state, SessionState::Draining);
        // Those up to the waterline are due; one above it that ends all the same is not lost, either.
        pair.server.send_packet(&result(session, ends), pair.now).expect("a live operation");
        pair.settle();
        let events = pair.client_events();
        let ended = events.iter().filter_map(|event| match event {
            Event::Ended { outcome, .. } => Some((outcome.operation, outcome.state)),
            _ => None,
        });
        assert_eq!(ended.collect::<Vec<_>>(), [(ends, OperationState::Completed)], "{events:?}");
    }
    // The last one closed the session, and what comes then belongs to nothing.
    assert!(pair.client.sessions().is_empty());
    let late = raw(header(session, 3), &Message::ResultDrop(Default::default()));
    let error = error(&mut pair.client, &late, pair.now).expect("an answer");
    assert_eq!((error.error_code, error.error_scope), (ErrorCode::INVALID_STATE, ErrorScope::Session));
}

#[test]
fn o4_verbs_find_the_frame_and_refuse_what_does_not_live() {
    let (mut pair, session) = open();
    assert!(pair.submit(session, 1).expect("credit"));
    pair.settle();
    let now = pair.now;
    let gone = |result: Result<(), Why>| match result {
        Err(Why::Refusal(refusal)) => (refusal.code, refusal.rule),
        other => panic!("{other:?}"),
    };
    let unknown = (ErrorCode::INVALID_STATE, "O4");
    let tokens = ResultBuilder::new(ResultPush::default()).token(DescriptorFlags::TERMINAL, b"");
    assert_eq!(gone(pair.server.progress(session, 2, StageCode::EXECUTING, 0, now)), unknown);
    assert_eq!(gone(pair.server.partial(session, 2, b"", now)), unknown);
    assert_eq!(gone(pair.server.result(session, 2, &tokens, now)), unknown);
    assert_eq!(gone(pair.client.cancel(session, 2, now)), unknown);
    assert_eq!(gone(pair.client.abort(session, 2, now)), unknown);
    assert_eq!(gone(pair.client.abort(session + 1, 1, now)), (ErrorCode::INVALID_STATE, "C3"));
    assert!(pair.server.poll_output().is_empty() && pair.client.poll_output().is_empty());

    pair.server.partial(session, 1, b"Be", now).expect("a live operation");
    pair.settle();
    let (_, packet) = got(&mut pair);
    let packet = packet.packet().expect("a packet");
    assert_eq!(packet.header().frame_id(), nnrp_tests::pair::frame(1));
    // An abort ends it there at once, and here with the answer.
    pair.client.abort(session, 1, now).expect("a live operation");
    assert_eq!(pair.client.snapshot().operations, 1);
    pair.settle();
    assert_eq!(got(&mut pair).0, OperationState::Cancelled);
    assert_eq!((pair.client.snapshot().operations, pair.server.snapshot().operations), (0, 0));
}

#[test]
fn c1_a_lost_transport_ends_everything() {
    let (mut pair, session) = open();
    assert!(pair.submit(session, 1).expect("credit"));
    pair.settle();
    pair.server_events();
    pair.server.handle_lost(pair.now);
    pair.settle();
    assert_eq!(pair.server.state(), ConnectionState::Closed);
    let events = pair.server_events();
    assert!(matches!(&events[..], [Event::Ended { .. }, .., Event::Over(Over::Lost)]), "{events:?}");
    assert_eq!((pair.server.snapshot().sessions, pair.server.snapshot().operations), (0, 0));
}
