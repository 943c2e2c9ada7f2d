//! What the hello settled holds for everything that comes after it (C6).

use nnrp_core::build::{ResultBuilder, SubmitBuilder};
use nnrp_core::state::Refusal;
use nnrp_core::state::connection::{Event, Why};
use nnrp_core::state::hello::{Abilities, Offer, Verdict};
use nnrp_core::*;
use nnrp_tests::pair::{Pair, carry};

use super::say;

/// A pair whose server can do no more than that.
fn agreed(abilities: Abilities) -> Pair {
    let mut pair = Pair { abilities, ..Pair::default() };
    pair.greet();
    pair
}

fn rule<T>(result: Result<T, Why>) -> Option<(ErrorCode, &'static str)> {
    match result {
        Err(Why::Refusal(Refusal { code, rule, .. })) => Some((code, rule)),
        _ => None,
    }
}

const REFUSED: Option<(ErrorCode, &str)> = Some((ErrorCode::UNSUPPORTED_CAPABILITY, "C6"));

/// The codes of ERRORs that an end got.
fn errors(events: Vec<Event>) -> Vec<ErrorCode> {
    let errors = events.into_iter().filter_map(|event| match event {
        Event::Error { packet } | Event::Ended { packet: Some(packet), .. } => match packet.message() {
            Some(Message::Error(error, _)) => Some(error.error_code),
            _ => None,
        },
        _ => None,
    });
    errors.collect()
}

#[test]
fn c6_sessions_have_profiles_that_were_accepted() {
    let mut pair = agreed(Abilities { profiles: 0b010, ..Abilities::default() });
    let beyond = ProfileId::from_raw(0x8001).expect("an extension profile");
    // Those without a bit are for the server's application to know, and none is none.
    let cases = [
        (ProfileId::TENSOR, true),
        (ProfileId::TOKEN, false),
        (ProfileId::UNSPECIFIED, true),
        (beyond, true),
    ];
    for (profile_id, good) in cases {
        pair.client
            .open_session(&SessionOpen { profile_id, ..SessionOpen::default() }, b"", pair.now)
            .expect("room");
        pair.settle();
        let refused = pair.client_events().into_iter().find_map(|event| match event {
            Event::SessionRefused { code, retry: false, .. } => Some(code),
            _ => None,
        });
        assert_eq!(refused, (!good).then_some(SessionErrorCode::PROFILE_UNSUPPORTED), "{profile_id}");
    }
}

#[test]
fn c6_payloads_are_of_kinds_and_profiles_that_were_accepted() {
    let token = PayloadKindBitmap::TOKEN_CHUNK;
    let submit = |session: u32, operation_id: u64, profile_id| {
        let header = say::operation(session, operation_id);
        let descriptor = TypedPayloadDescriptor { profile_id, ..TypedPayloadDescriptor::default() };
        let submit = FrameSubmit { operation_id, payload_kind_bitmap: token, ..FrameSubmit::default() };
        SubmitBuilder::new(submit).payload(&descriptor, b"words").to_vec(&header).expect("a good submit")
    };
    let without_kind = Abilities { payload_kinds: PayloadKindBitmap::TENSOR, ..Abilities::default() };
    let without_profile = Abilities { profiles: 0b010, ..Abilities::default() };
    for (abilities, profile_id) in
        [(without_kind, ProfileId::UNSPECIFIED), (without_profile, ProfileId::TOKEN)]
    {
        let mut pair = agreed(abilities);
        let session = pair.open(&SessionOpen::default());
        // An end does not send it, and the other one does not take it.
        let bytes = submit(session, 1, profile_id);
        assert_eq!(rule(pair.client.submit(&bytes, pair.now)), REFUSED);
        pair.server.handle_bytes(&bytes, pair.now);
        pair.settle();
        assert_eq!(pair.server.snapshot().operations, 0);
        assert!(pair.server_events().iter().any(|event| matches!(event,
                Event::Refused { why: Why::Refusal(refusal), .. } if refusal.rule == "C6")),);
        // The same for results.
        let empty = SubmitBuilder::new(FrameSubmit { operation_id: 2, ..FrameSubmit::default() })
            .to_vec(&say::operation(session, 2))
            .expect("a good submit");
        assert!(pair.client.submit(&empty, pair.now).expect("credit"));
        pair.settle();
        let descriptor = TypedPayloadDescriptor { profile_id, ..TypedPayloadDescriptor::default() };
        let result = ResultBuilder::new(ResultPush { payload_kind_bitmap: token, ..ResultPush::default() })
            .payload(&descriptor, b"words");
        assert_eq!(rule(pair.server.result(session, 2, &result, pair.now)), REFUSED);
        pair.server_events();
        let bytes = result.to_vec(&say::operation(session, 2)).expect("a good result");
        pair.client.handle_bytes(&bytes, pair.now);
        pair.settle();
        assert_eq!(errors(pair.server_events()), [ErrorCode::UNSUPPORTED_CAPABILITY]);
        assert_eq!(pair.client.snapshot().operations, 1);
    }
}

#[test]
fn c6_cache_objects_are_of_kinds_that_were_accepted() {
    // Bit n is kind n + 1: only camera blocks.
    let mut pair = agreed(Abilities { cache_objects: 1, ..Abilities::default() });
    let private = CacheObjectKind::from_raw(0x8005).expect("a private kind");
    let cases =
        [(CacheObjectKind::CAMERA_BLOCK, true), (CacheObjectKind::TOOL_SCHEMA, false), (private, true)];
    for (object_kind, good) in cases {
        let put = CachePut { object_kind, ..CachePut::default() };
        let message = Message::CachePut(put, CachePutBody { object: b"it", ..CachePutBody::default() });
        let sent = pair.client.send(&say::session(0), &message, pair.now);
        assert_eq!(rule(sent), if good { None } else { REFUSED }, "{object_kind}");
        pair.settle();
        pair.client_events();
        // One that was sent all the same is refused as puts are (K8).
        let header = CommonHeader { msg_type: MessageType::CachePut, ..CommonHeader::default() };
        pair.server.handle_bytes(&message.to_vec(&header).expect("a good put"), pair.now);
        let answer = pair.server.poll_output().to_vec();
        pair.server.consume_output(answer.len());
        let Message::CacheAck(ack, _) = Packet::parse(&answer).expect("one answer").message() else {
            panic!("no answer")
        };
        let code = if good { 0 } else { ErrorCode::UNSUPPORTED_CAPABILITY.raw() };
        assert_eq!((ack.status == CacheAckStatus::Rejected, ack.detail_code), (!good, code), "{object_kind}");
    }
}

#[test]
fn c6_without_resumes_no_session_can_be_resumed() {
    let open = SessionOpen { session_flags: SessionFlags::ALLOW_RESUME, ..SessionOpen::default() };
    for (flags, resumable) in [(ServerFlags::SESSION_RESUME_SUPPORTED, true), (ServerFlags::empty(), false)] {
        let mut pair = agreed(Abilities { flags, ..Abilities::default() });
        let session = pair.open(&open);
        for end in [&pair.client, &pair.server] {
            let session = end.sessions().get(session).expect("an open session");
            assert_eq!(
                (session.is_resumable(), session.terms().resume_window_ms != 0),
                (resumable, resumable)
            );
        }
        assert_eq!(pair.shelf.len(), usize::from(resumable));
    }
}

#[test]
fn c6_a_server_without_a_cache_takes_no_objects() {
    let mut pair = agreed(Abilities { flags: ServerFlags::empty(), ..Abilities::default() });
    let message = say::put(1, b"it");
    assert_eq!(rule(pair.client.send(&say::session(0), &message, pair.now)), REFUSED);
    let header = CommonHeader { msg_type: MessageType::CachePut, ..CommonHeader::default() };
    pair.server.handle_bytes(&message.to_vec(&header).expect("a good put"), pair.now);
    assert_eq!(pair.server.snapshot().cache_entries, 0);
    pair.settle();
    // It says nothing about what the client keeps.
    pair.server.send(&say::session(0), &message, pair.now).expect("room");
    pair.settle();
    assert_eq!(pair.client.snapshot().cache_entries, 1);
}

#[test]
fn f6_c6_no_body_is_larger_than_the_server_said() {
    let mut pair = agreed(Abilities { max_body_bytes: 100, ..Abilities::default() });
    for (size, good) in [(100, true), (101, false)] {
        let object = vec![7; size];
        let message = say::put(1, &object);
        let limit = Some((ErrorCode::LIMIT_EXCEEDED, "F6"));
        assert_eq!(rule(pair.client.send(&say::session(0), &message, pair.now)), limit.filter(|_| !good));
        pair.client.consume_output(usize::MAX);
        let header = CommonHeader { msg_type: MessageType::CachePut, ..CommonHeader::default() };
        pair.server.handle_bytes(&message.to_vec(&header).expect("a good put"), pair.now);
        assert_eq!(pair.server.snapshot().counters.refused, u64::from(!good));
        pair.server.consume_output(usize::MAX);
        // The other way nothing was said.
        pair.server.send(&say::session(0), &message, pair.now).expect("no limit");
        pair.server.consume_output(usize::MAX);
    }
    assert_eq!(pair.server.state(), ConnectionState::Active);
}

#[test]
fn c6_a_server_that_names_no_limit_takes_any_body() {
    let mut pair = agreed(Abilities { max_body_bytes: 0, ..Abilities::default() });
    pair.client.send(&say::session(0), &say::put(1, &[7; 1_000]), pair.now).expect("no limit");
    pair.settle();
    assert_eq!((pair.server.snapshot().cache_entries, pair.server.snapshot().counters.refused), (1, 0));
}

#[test]
fn c6_the_room_that_the_server_named_is_that_of_its_own_cache() {
    let mut pair = agreed(Abilities { max_cache_entries: 1, max_cache_bytes: 5, ..Abilities::default() });
    for lo in [1, 2] {
        pair.server.send(&say::session(0), &say::put(lo, b"objects"), pair.now).expect("room");
    }
    pair.settle();
    assert_eq!(pair.client.snapshot().cache_entries, 2);
}

#[test]
fn k8_a_reason_that_is_none_does_not_go_out() {
    let mut pair = agreed(Abilities::default());
    let invalidate = |reason_code| {
        let invalidate = CacheInvalidate {
            invalidate_scope: CacheInvalidateScope::WholeSession,
            reason_code,
            ..CacheInvalidate::default()
        };
        Message::CacheInvalidate(invalidate, CacheInvalidateBody::default())
    };
    assert_eq!(rule(pair.client.send(&say::session(0), &invalidate(0), pair.now)), None);
    let refused = rule(pair.client.send(&say::session(0), &invalidate(0x1_0000), pair.now));
    assert_eq!(refused, Some((ErrorCode::MALFORMED_BODY, "K8")));
}

#[test]
fn c6_the_hello_pair_names_no_session() {
    let mut pair = Pair::default();
    let mut offer = Offer::new();
    offer.hello.requested_session_id = 7;
    pair.client.hello(&offer, b"", pair.now).expect("a good hello");
    let Ok(Message::ClientHello(hello, _)) =
        Packet::parse(pair.client.poll_output()).map(|packet| packet.message())
    else {
        panic!("no hello")
    };
    assert_eq!(hello.requested_session_id, 0);
    carry(&mut pair.client, &mut pair.server, pair.link, pair.now);
    let Some(Event::Hello { offer, .. }) = pair.server.poll_event() else { panic!("no hello") };
    pair.server.accept(&pair.abilities, &offer, Verdict::Accept, 7, pair.now).expect("a good hello");
    let Ok(Message::ServerHelloAck(ack, _)) =
        Packet::parse(pair.server.poll_output()).map(|packet| packet.message())
    else {
        panic!("no answer")
    };
    assert_eq!(ack.session_id, 0);
    pair.settle();
    assert!(pair.client.sessions().is_empty() && pair.server.sessions().is_empty());
}
