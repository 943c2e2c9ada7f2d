//! Packets that are refused: they change nothing, and the answer is what C4 wants (C1, C4, C5).

use std::collections::BTreeMap;

use nnrp_core::state::connection::{Connection, Event, Over, Why};
use nnrp_core::state::{Side, Time};
use nnrp_core::*;
use nnrp_tests::mutate::mutated;
use nnrp_tests::packet::{Maker, Size};
use nnrp_tests::pair::{self, Pair};
use nnrp_tests::random::Random;
use nnrp_tests::registry;

use super::rich::{Rich, look, rich};
use super::say;

/// How many times over: a few, or with `NNRP_LONG` a great many.
fn times(quick: usize) -> usize {
    if std::env::var_os("NNRP_LONG").is_some() { quick * 50 } else { quick }
}

/// What an end makes of a packet.
struct Outcome {
    /// Why it was refused, if it was.
    refused: Option<(CommonHeader, Why)>,
    missed: Option<CacheErrorCode>,
    /// What it answered.
    answers: Vec<u8>,
    over: Option<Over>,
}

fn feed(end: &mut Connection, bytes: &[u8], now: Time) -> Outcome {
    assert!(end.poll_output().is_empty() && end.poll_event().is_none());
    let mut outcome = Outcome { refused: None, missed: None, answers: Vec::new(), over: None };
    let taken = end.handle_bytes(bytes, now);
    assert!(taken == bytes.len() || end.is_over());
    outcome.answers = end.poll_output().to_vec();
    end.consume_output(outcome.answers.len());
    while let Some(event) = end.poll_event() {
        match event {
            Event::Refused { header, why } => outcome.refused = Some((header, why)),
            Event::Missed { code, .. } => outcome.missed = Some(code),
            Event::Over(over) => outcome.over = Some(over),
            _ => {}
        }
    }
    outcome
}

/// The one packet that was answered, if any.
fn answer(answers: &[u8]) -> Option<Packet<'_>> {
    if answers.is_empty() { None } else { Some(Packet::parse(answers).expect("one good packet")) }
}

/// Names things that are there, were there or never were, so that more than unknown names is tried.
fn rename(bytes: &mut [u8], random: &mut Random) {
    let mut put = |at: usize, number: &[u8]| {
        if let Some(place) = bytes.get_mut(at..at + number.len()) {
            place.copy_from_slice(number);
        }
    };
    let session = [7, 7, 7, 7, 8, 99, 0][random.below(7)];
    if random.below(6) > 0 {
        put(CommonHeader::SESSION_ID_OFFSET, &u32::to_le_bytes(session));
    }
    if random.below(4) > 0 {
        let frame = [0, 1, 2, 3, 4, 5, 6, 9, 77][random.below(9)];
        put(CommonHeader::FRAME_ID_OFFSET, &u32::to_le_bytes(frame));
    }
    if random.below(4) > 0 {
        // Most metadata begins with what it is about.
        put(CommonHeader::SIZE, &u64::to_le_bytes([0, 1, 2, 3, 4, 5, 6, 9, 77][random.below(9)]));
    }
    if random.below(3) == 0 {
        put(CommonHeader::SIZE + 8, &u64::to_le_bytes([0, 1, 2, 3, 5][random.below(5)]));
    }
}

/// Whether the lengths of a packet are what is there.
fn is_whole(bytes: &[u8]) -> bool {
    let number =
        |at: usize| bytes.get(at..at + 4).map_or(0, |four| u32::from_le_bytes(four.try_into().unwrap()));
    let lengths = [number(CommonHeader::META_LEN_OFFSET), number(CommonHeader::BODY_LEN_OFFSET)];
    bytes.len() as u64 == CommonHeader::SIZE as u64 + lengths.into_iter().map(u64::from).sum::<u64>()
}

const fn is_error(message: MessageType) -> bool {
    matches!(message, MessageType::Error | MessageType::ErrorRecoverable)
}

/// Whether the answer is what C4 and K8 want of one that is refused while the connection is active.
fn check_answer(header: &CommonHeader, why: &Why, outcome: &Outcome, breaks: bool) {
    let code = why.code();
    let answer = answer(&outcome.answers);
    if breaks {
        let Some(Message::Error(error, _)) = answer.map(|packet| packet.message()) else {
            panic!("no ERROR")
        };
        assert!(error.is_fatal && error.error_scope == ErrorScope::Connection && error.error_code == code);
        assert_eq!(outcome.over, Some(Over::Broken));
        return;
    }
    if is_error(header.msg_type) {
        assert!(answer.is_none(), "an ERROR is not answered");
        return;
    }
    let Some(packet) = answer else { panic!("{header:?} {why:?} has no answer") };
    let answered = packet.header().to_owned();
    match packet.message() {
        Message::CacheAck(ack, _) => {
            assert_eq!(header.msg_type, MessageType::CachePut);
            assert_eq!((ack.status, ack.detail_code), (CacheAckStatus::Rejected, code.raw()));
            assert_eq!(answered.session_id, header.session_id);
        }
        Message::Error(error, _) => {
            assert_eq!(error.error_code, code);
            let fatal = matches!(
                code,
                ErrorCode::UNSUPPORTED_VERSION | ErrorCode::MALFORMED_HEADER | ErrorCode::AUTH_FAILED
            );
            use MessageType as M;
            let scope = match header.msg_type {
                M::FrameSubmit if header.frame_id != 0 && header.session_id != 0 => ErrorScope::Frame,
                M::ClientHello | M::ServerHelloAck | M::SessionOpen | M::SessionOpenAck | M::Close => {
                    ErrorScope::Connection
                }
                M::TransportProbe | M::TransportProbeAck | M::Ping | M::Pong => ErrorScope::Connection,
                _ if header.session_id != 0 && !fatal => ErrorScope::Session,
                _ => ErrorScope::Connection,
            };
            assert_eq!(error.error_scope, scope, "{header:?} {why:?}");
            assert_eq!(error.is_fatal, fatal, "{header:?} {why:?}");
            if scope == ErrorScope::Frame {
                assert_eq!((answered.session_id, answered.frame_id), (header.session_id, header.frame_id));
            }
            if scope != ErrorScope::Connection {
                assert_eq!(error.related_session_id, header.session_id);
            }
        }
        other => panic!("{header:?} {why:?} is answered by {other:?}"),
    }
}

/// Gives an end one packet after another, and looks whether those that it refuses leave a trace.
fn corpus(side: Side, mutate: bool, rounds: usize) {
    let registry = registry::nnrp();
    let maker = Maker::new(&registry);
    let mut random = Random::new(7, if side == Side::Client { "client" } else { "server" });
    let mut world = rich();
    let mut before = String::new();
    let mut tried: BTreeMap<(MessageType, bool), usize> = BTreeMap::new();
    for round in 0..rounds {
        for message in &registry.messages {
            let size = *random.pick(&Size::ALL);
            let mut bytes = maker.packet(message, size, &mut random);
            rename(&mut bytes, &mut random);
            if mutate {
                bytes = mutated(maker.packets(), &bytes, &mut random);
            }
            // What is cut would wait for the rest, and what is too long would be a packet of its own.
            if !is_whole(&bytes) && Packet::parse(&bytes).is_err_and(|fault| fault.field() != "magic") {
                continue;
            }
            let now = world.pair.now;
            let end = if side == Side::Client { &mut world.pair.client } else { &mut world.pair.server };
            if before.is_empty() {
                before = look(end);
            }
            let outcome = feed(end, &bytes, now);
            let after = look(end);
            match &outcome.refused {
                Some((header, why)) => {
                    let breaks = matches!(why, Why::Fault(fault) if fault.breaks_stream());
                    *tried.entry((header.msg_type, true)).or_default() += 1;
                    check_answer(header, why, &outcome, breaks);
                    // U4: the next one is the answer, also where it cannot be taken, and then its offer waits no more.
                    let answers = side == Side::Client
                        && header.msg_type == MessageType::CapabilityNegotiation
                        && matches!(why, Why::Refusal(refusal) if refusal.rule == "U4")
                        && end.capabilities().waiting() == 0;
                    if !answers && outcome.over.is_none() && end.state() == ConnectionState::Active {
                        assert_eq!(before, after, "round {round}: {header:?} {why:?}");
                        continue;
                    }
                    world = rich();
                    before.clear();
                }
                None => {
                    if let Ok(packet) = Packet::parse(&bytes) {
                        *tried.entry((packet.message_type(), false)).or_default() += 1;
                    }
                    if before != after {
                        world = rich();
                        before.clear();
                    }
                }
            }
            // A half of a packet may be left where a length was changed.
            if outcome.refused.is_none() && Packet::parse(&bytes).is_err() {
                world = rich();
                before.clear();
            }
        }
    }
    // Every message that this end may get was refused now and then.
    for message in MessageType::ALL {
        let count = tried.get(&(message, true)).copied().unwrap_or(0);
        let always_good = matches!(message, MessageType::Ping | MessageType::Pong | MessageType::Close);
        assert!(mutate || count > 0 || always_good, "{message} was never refused: {tried:?}");
    }
}

#[test]
fn c5_misplaced_packets_change_nothing_on_the_server() {
    corpus(Side::Server, false, times(40));
}

#[test]
fn c5_misplaced_packets_change_nothing_on_the_client() {
    corpus(Side::Client, false, times(40));
}

#[test]
fn c5_broken_packets_change_nothing_on_the_server() {
    corpus(Side::Server, true, times(30));
}

#[test]
fn c5_broken_packets_change_nothing_on_the_client() {
    corpus(Side::Client, true, times(30));
}

/// Raw bytes from the client to the server of a pair.
fn raw(pair: &mut Pair, header: &CommonHeader, message: &Message<'_>) -> Outcome {
    let bytes = message.to_vec(header).expect("a good packet");
    feed(&mut pair.server, &bytes, pair.now)
}

fn error_of(outcome: &Outcome) -> (Error, CommonHeader) {
    let packet = answer(&outcome.answers).expect("an answer");
    let header = packet.header().to_owned();
    let Message::Error(error, _) = packet.message() else { panic!("{:?}", packet.message_type()) };
    (error, header)
}

#[test]
fn w4_a_submit_without_credit_is_refused_for_its_frame() {
    let mut pair = Pair::active();
    pair.policy.credit = 1;
    let session = pair.open(&SessionOpen::default());
    for (operation, refused) in [(1, false), (2, true)] {
        let bytes = pair::submit(session, operation, 0);
        let outcome = feed(&mut pair.server, &bytes, pair.now);
        assert_eq!(outcome.refused.is_some(), refused);
        if refused {
            let (error, header) = error_of(&outcome);
            assert_eq!((error.error_code, error.error_scope), (ErrorCode::LIMIT_EXCEEDED, ErrorScope::Frame));
            assert_eq!((header.session_id, header.frame_id, error.is_fatal), (session, 2, false));
        }
    }
    assert_eq!(pair.server.snapshot().operations, 1);
}

#[test]
fn s9_and_o2_have_their_codes() {
    let Rich { mut pair, session, .. } = rich();
    for (operation, code) in [(1, ErrorCode::INVALID_STATE), (77, ErrorCode::INVALID_STATE)] {
        // 77 under the frame of a live one.
        let header = say::operation(session, 1);
        let packet = nnrp_core::build::SubmitBuilder::new(FrameSubmit {
            operation_id: operation,
            ..FrameSubmit::default()
        })
        .token(DescriptorFlags::TERMINAL, b"words")
        .to_vec(&header)
        .expect("a good submit");
        let outcome = feed(&mut pair.server, &packet, pair.now);
        assert_eq!(error_of(&outcome).0.error_code, code);
    }
    for operation in 20..40 {
        let outcome = feed(&mut pair.server, &pair::submit(session, operation, 0), pair.now);
        if outcome.refused.is_some() {
            let (error, _) = error_of(&outcome);
            assert_eq!((error.error_code, error.error_scope), (ErrorCode::LIMIT_EXCEEDED, ErrorScope::Frame));
        }
    }
    assert_eq!(pair.server.session_snapshot(session).unwrap().operations, 12);
}

#[test]
fn c4_a_stream_that_breaks_ends_with_a_fatal_error() {
    for side in [Side::Client, Side::Server] {
        let Rich { mut pair, .. } = rich();
        let now = pair.now;
        let end = if side == Side::Client { &mut pair.client } else { &mut pair.server };
        let outcome = feed(end, &[0x55; 64], now);
        let (error, header) = error_of(&outcome);
        assert!(error.is_fatal && error.error_scope == ErrorScope::Connection);
        assert_eq!((error.error_code, header.session_id), (ErrorCode::MALFORMED_HEADER, 0));
        assert_eq!((outcome.over, end.state()), (Some(Over::Broken), ConnectionState::Closed));
        assert_eq!(end.snapshot().operations, 0);
        assert_eq!(end.handle_bytes(&[1; 100], now), 0, "nothing is taken any more");
    }
}

#[test]
fn c1_a_hello_that_is_refused_ends_the_negotiation() {
    let mut pair = Pair::default();
    let mut hello = nnrp_core::state::hello::Offer::new().hello;
    hello.max_version_major = 1;
    let message =
        Message::ClientHello(hello, ClientHelloBody { auth: b"", ext: ControlExtensionEntries::default() });
    let mut bytes = message.to_vec(&CommonHeader::default()).expect("a good hello");
    // D1: the window does not hold 1.
    bytes[CommonHeader::SIZE] = 2;
    bytes[CommonHeader::SIZE + 1] = 2;
    let outcome = feed(&mut pair.server, &bytes, pair.now);
    let (error, _) = error_of(&outcome);
    assert!(error.is_fatal && error.error_scope == ErrorScope::Connection, "{error:?}");
    assert_eq!(error.error_code, ErrorCode::UNSUPPORTED_VERSION);
    assert_eq!(outcome.over, Some(Over::Refused));
    // The client takes it as the end, too.
    pair.client.hello(&nnrp_core::state::hello::Offer::new(), b"", pair.now).expect("a good hello");
    pair.client.handle_bytes(&outcome.answers, pair.now);
    assert!(pair.client.is_over());
}

#[test]
fn c1_an_answer_from_the_wrong_side_is_no_answer() {
    // A server that negotiates gets its own answer: only the message is wrong, and nothing comes after it.
    let mut pair = Pair::default();
    pair.client.hello(&nnrp_core::state::hello::Offer::new(), b"", pair.now).expect("a good hello");
    pair::carry(&mut pair.client, &mut pair.server, pair::Link::Whole, pair.now);
    while pair.server.poll_event().is_some() {}
    let ack = ServerHelloAck { selected_version_major: 1, ..ServerHelloAck::default() };
    let message =
        Message::ServerHelloAck(ack, ServerHelloAckBody { ext: ControlExtensionEntries::default() });
    let outcome = raw(&mut pair, &CommonHeader::default(), &message);
    let (error, _) = error_of(&outcome);
    assert_eq!(error.error_code, ErrorCode::INVALID_STATE);
    // Whatever fails in the negotiation is its end, on both sides.
    assert!(error.is_fatal && outcome.over == Some(Over::Refused));
}

#[test]
fn c1_nothing_but_probes_comes_before_the_hello() {
    let mut pair = Pair::default();
    let outcome = raw(&mut pair, &CommonHeader::default(), &Message::Ping);
    assert!(matches!(answer(&outcome.answers).unwrap().message(), Message::Pong));
    let probe = TransportProbe { probe_id: 3, probe_payload_bytes: 5, ..TransportProbe::default() };
    let message = Message::TransportProbe(probe, TransportProbeBody { padding: &[0; 5] });
    let outcome = raw(&mut pair, &CommonHeader::default(), &message);
    let packet = answer(&outcome.answers).expect("an answer");
    assert!(matches!(packet.message(), Message::TransportProbeAck(ack, _) if ack.probe_id == 3));
    let open = Message::SessionOpen(SessionOpen::default(), SessionOpenBody::default());
    let outcome = raw(&mut pair, &CommonHeader::default(), &open);
    assert!(outcome.refused.is_some() && outcome.answers.is_empty() && outcome.over.is_none());
    // After all that the hello is good.
    pair.greet();
}
