//! Streams cut anywhere: the same packets, the same faults, each byte copied at most once.

#[path = "rules/samples.rs"]
mod samples;

use nnrp_core::stream::{DEFAULT_LIMIT, Splitter, packets};
use nnrp_core::wire::{Fault, FaultKind};
use nnrp_core::*;
use nnrp_tests::random::Random;

use samples::{frame_submit, of_connection, of_session, smallest};

/// What became of a packet.
type Outcome = Result<Vec<u8>, Fault>;

/// A submit whose payload has `size` bytes.
fn submit(size: usize) -> Vec<u8> {
    let payload: Vec<u8> = (0..size).map(|at| at as u8).collect();
    let submit = build::SubmitBuilder::new(frame_submit()).token(DescriptorFlags::empty(), &payload);
    submit.to_vec(&of_session()).expect("it is good")
}

fn ping() -> Vec<u8> {
    Message::Ping.to_vec(&of_connection()).expect("it is good")
}

/// A submit that names no operation: a bad body whose end is known.
fn nameless() -> Vec<u8> {
    let mut bytes = submit(3);
    bytes[80] = 0;
    bytes
}

/// The smallest packet of every message.
fn every_message() -> Vec<Vec<u8>> {
    smallest().iter().map(|(header, message)| message.to_vec(header).expect("it is good")).collect()
}

/// Feeds chunks and collects what comes of them, up to a fault that ends the stream.
fn split<'c>(splitter: &mut Splitter, chunks: impl IntoIterator<Item = &'c [u8]>) -> Vec<Outcome> {
    let mut seen = Vec::new();
    for mut chunk in chunks {
        loop {
            match splitter.next(&mut chunk) {
                Ok(Some(packet)) => seen.push(Ok(packet.as_bytes().to_vec())),
                Ok(None) => {
                    assert!(chunk.is_empty(), "it takes all there is");
                    break;
                }
                Err(fault) => {
                    seen.push(Err(fault));
                    if fault.breaks_stream() {
                        return seen;
                    }
                }
            }
        }
    }
    seen
}

fn expected(packets: &[Vec<u8>]) -> Vec<Outcome> {
    packets.iter().map(|bytes| Packet::parse(bytes).map(|packet| packet.as_bytes().to_vec())).collect()
}

/// Every place where a stream can be cut in two, and every pair of places of a short one.
#[test]
fn every_split_point_gives_the_same_packets() {
    let all = [every_message(), vec![nameless(), ping()]].concat();
    let stream = all.concat();
    let expected_all = expected(&all);
    for at in 0..=stream.len() {
        let mut splitter = Splitter::new();
        assert_eq!(split(&mut splitter, [&stream[..at], &stream[at..]]), expected_all, "cut at {at}");
        assert_eq!(splitter.finish(), Ok(()));
    }
    let short = [submit(1), nameless(), ping()];
    let (stream, expected) = (short.concat(), expected(&short));
    for first in 0..=stream.len() {
        for second in first..=stream.len() {
            let chunks = [&stream[..first], &stream[first..second], &stream[second..]];
            assert_eq!(split(&mut Splitter::new(), chunks), expected, "cut at {first} and {second}");
        }
    }
}

/// Chunks of every size.
#[test]
fn every_chunk_size_gives_the_same_packets() {
    let all = [every_message(), vec![submit(5000), nameless(), ping()]].concat();
    let (stream, expected) = (all.concat(), expected(&all));
    for size in (1..300).chain([4095, 4096, 4097, stream.len()]) {
        assert_eq!(split(&mut Splitter::new(), stream.chunks(size)), expected, "chunks of {size}");
    }
}

/// Long streams of packets of all sizes, cut at random.
#[test]
fn random_splits_give_the_same_packets() {
    let mut random = Random::new(1, "splits");
    let small = every_message();
    for round in 0..20 {
        let all: Vec<Vec<u8>> = (0..200)
            .map(|_| match random.below(20) {
                0 => submit(random.below(100_000)),
                1 => nameless(),
                2..6 => submit(random.below(300)),
                _ => random.pick(&small).clone(),
            })
            .collect();
        let stream = all.concat();
        let mut splitter = Splitter::new();
        let mut rest = stream.as_slice();
        let mut seen = Vec::new();
        while !rest.is_empty() {
            let most = *random.pick(&[1, 7, 40, 100, 1500, 70_000]);
            let size = random.below(most + 1).min(rest.len());
            seen.extend(split(&mut splitter, [&rest[..size]]));
            rest = &rest[size..];
        }
        assert!(seen == expected(&all), "round {round}");
        assert!(splitter.copied() <= stream.len() as u64);
        assert_eq!((splitter.held(), splitter.finish()), (0, Ok(())));
    }
}

/// However the stream comes, no byte is copied twice, none of a packet that is whole, and no more than one is held.
#[test]
fn each_byte_is_copied_at_most_once() {
    let packet = submit(1 << 20);
    let stream = packet.repeat(2);
    let size = stream.len() as u64;
    for chunk in [1, 3, 39, 40, 41, 1000, 65_536, packet.len() - 1] {
        let mut splitter = Splitter::new();
        let mut seen = 0;
        for piece in stream.chunks(chunk) {
            seen += split(&mut splitter, [piece]).len();
            assert!(splitter.held() < packet.len());
        }
        assert_eq!(seen, 2);
        assert!(splitter.copied() <= size, "chunks of {chunk}: {} bytes of {size}", splitter.copied());
    }
    let mut splitter = Splitter::new();
    assert_eq!(split(&mut splitter, stream.chunks(packet.len())).len(), 2);
    assert_eq!(split(&mut splitter, [stream.as_slice()]).len(), 2);
    assert_eq!(splitter.copied(), 0);
    // Many small packets in chunks that cut one in a hundred: only those are copied.
    let stream = ping().repeat(10_000);
    split(&mut splitter, stream.chunks(4001));
    assert!(splitter.copied() <= 40 * 100, "{}", splitter.copied());
}

/// A packet that is whole in its chunk stays where it is.
#[test]
fn whole_packets_are_not_moved() {
    let stream = [ping(), submit(100), ping()].concat();
    let mut splitter = Splitter::new();
    let mut chunk = &stream[..];
    let mut at = 0;
    while let Some(packet) = splitter.next(&mut chunk).expect("it is good") {
        assert_eq!(packet.as_bytes().as_ptr(), stream[at..].as_ptr());
        at += packet.as_bytes().len();
    }
    assert_eq!(at, stream.len());
}

/// A packet over the limit is refused once its header is there, before any of it is held (F6).
#[test]
fn f6_too_large_a_packet_is_refused_before_it_is_held() {
    let packet = submit(5000);
    let limit = packet.len();
    let mut good = Splitter::with_limit(limit);
    assert_eq!(split(&mut good, packet.chunks(7)), expected(std::slice::from_ref(&packet)));

    for chunk in [1, 39, 40, 41, packet.len()] {
        let mut splitter = Splitter::with_limit(limit - 1);
        let stream = [ping(), packet.clone(), ping()].concat();
        let seen = split(&mut splitter, stream.chunks(chunk));
        assert_eq!(seen.len(), 2);
        let fault = *seen[1].as_ref().expect_err("it is over the limit");
        assert_eq!((fault.layout(), fault.field(), fault.offset()), ("common_header", "body_len", 16));
        assert_eq!((fault.kind(), fault.rule()), (FaultKind::Limit, Some("F6")));
        assert_eq!((fault.error_code(), fault.breaks_stream()), (ErrorCode::LIMIT_EXCEEDED, true));
        assert_eq!(splitter.held(), 0);
        assert!(splitter.copied() <= 80, "{}", splitter.copied());
        assert_eq!(splitter.refused().map(|header| header.frame_id), Some(5));
    }

    // The most that a header can declare.
    let mut huge = packet[..40].to_vec();
    huge[16..20].fill(0xff);
    let mut splitter = Splitter::new();
    assert_eq!(splitter.limit(), DEFAULT_LIMIT);
    let fault = splitter.next(&mut &huge[..]).expect_err("it is over the limit");
    assert_eq!(fault.kind(), FaultKind::Limit);
    // One over the default, and exactly the default.
    let of = |size: usize| {
        let mut header = packet[..40].to_vec();
        header[16..20].copy_from_slice(&((size - 112) as u32).to_le_bytes());
        Splitter::new().next(&mut &header[..]).map(|packet| packet.is_some())
    };
    assert_eq!(of(DEFAULT_LIMIT), Ok(false));
    assert_eq!(of(DEFAULT_LIMIT + 1).map_err(|fault| fault.kind()), Err(FaultKind::Limit));
}

/// A bad body is skipped, and its header says whom to tell.
#[test]
fn a_bad_body_is_skipped() {
    let stream = [ping(), nameless(), submit(9)].concat();
    for size in [1, 13, 40, 150, stream.len()] {
        let mut splitter = Splitter::new();
        let mut seen = Vec::new();
        for mut chunk in stream.chunks(size) {
            loop {
                match splitter.next(&mut chunk) {
                    Ok(Some(packet)) => seen.push(packet.message_type()),
                    Ok(None) => break,
                    Err(fault) => {
                        assert_eq!((fault.rule(), fault.breaks_stream()), (Some("D8.1"), false));
                        let header = splitter.refused().expect("its header is good");
                        assert_eq!((header.session_id, header.frame_id), (3, 5));
                        seen.push(header.msg_type);
                    }
                }
            }
        }
        assert_eq!(seen, [MessageType::Ping, MessageType::FrameSubmit, MessageType::FrameSubmit]);
        assert_eq!((splitter.refused(), splitter.finish()), (None, Ok(())));
    }
    // A body where there is none is the message's fault too.
    let mut ping_with_body = [ping(), vec![1, 2, 3]].concat();
    ping_with_body[16] = 3;
    let seen = split(&mut Splitter::new(), [&[ping_with_body, ping()].concat()[..]]);
    assert!(seen[0].is_err() && seen[1].is_ok());
}

/// After a bad header nothing can be found any more, whatever follows.
#[test]
fn a_bad_header_ends_the_stream() {
    for (at, value) in [(0, 0), (4, 2), (6, 0xff), (7, 0), (8, 0xff), (12, 1)] {
        let mut bad = ping();
        bad[at] = value;
        for size in [1, 40, 200] {
            let mut splitter = Splitter::new();
            let stream = [ping(), bad.clone(), ping()].concat();
            let seen = split(&mut splitter, stream.chunks(size));
            let fault = *seen.last().and_then(|last| last.as_ref().err()).expect("the last is a fault");
            assert_eq!((seen.len(), fault.offset(), fault.breaks_stream()), (2, at, true));
            assert_eq!((splitter.held(), splitter.refused()), (0, None));
            let good = ping();
            let mut chunk = &good[..];
            for _ in 0..3 {
                assert_eq!(splitter.next(&mut chunk).err(), Some(fault));
                assert_eq!(splitter.next(&mut &[][..]).err(), Some(fault));
            }
            assert_eq!((chunk.len(), splitter.finish()), (good.len(), Err(fault)));
        }
    }
}

/// A stream that ends within a packet says what is missing.
#[test]
fn the_end_of_a_stream_is_not_in_a_packet() {
    let packet = submit(20);
    for size in 0..packet.len() {
        let mut splitter = Splitter::new();
        assert_eq!(split(&mut splitter, [&packet[..size]]), []);
        assert_eq!(splitter.held(), size);
        assert_eq!(
            splitter.finish().err(),
            if size == 0 { None } else { Packet::parse(&packet[..size]).err() }
        );
    }
}

/// Words that a peer agreed on are good in a stream too.
#[test]
fn a_splitter_may_know_more_words() {
    let tokens = build::Capabilities::new(["private.thing"]);
    let agreed = |token: &str| token == "private.thing";
    let body =
        CapabilityNegotiationBody { capability_entries: tokens.entries_with(agreed).expect("agreed on") };
    let mut stream = ping();
    let offer = Message::CapabilityNegotiation(Capability::default(), body);
    offer.append_with(&of_connection(), &mut stream, &agreed).expect("a reader knows them");
    let mut splitter = Splitter::new();
    let mut chunk = &stream[..];
    while let Some(packet) = splitter.next_with(&mut chunk, &agreed).expect("it is good") {
        assert!(packet.message_type().goes_to_server());
    }
    assert!(split(&mut Splitter::new(), [&stream[..]])[1].is_err());
}

/// A slice of packets is walked as a stream is split.
#[test]
fn a_slice_is_walked_as_a_stream_is_split() {
    let all = [every_message(), vec![nameless(), submit(100), ping()]].concat();
    let stream = all.concat();
    let mut walk = packets(&stream);
    let mut at = 0;
    for bytes in &all {
        let packet = walk.next().expect("there is one");
        assert_eq!(packet.err(), Packet::parse(bytes).err());
        assert_eq!((walk.offset(), walk.item()), (at, &bytes[..]));
        at += bytes.len();
        assert_eq!(walk.rest(), &stream[at..]);
    }
    assert!(walk.next().is_none());
    assert!(packets(&[]).next().is_none());
}

/// The walk ends with what has no end: a bad header, and a packet that is cut.
#[test]
fn a_walk_ends_where_the_next_packet_cannot_be_found() {
    let mut bad = ping();
    bad[0] = 0;
    let stream = [ping(), bad, ping()].concat();
    let mut walk = packets(&stream);
    assert!(walk.next().expect("a packet").is_ok());
    assert!(walk.next().expect("a fault").is_err_and(|fault| fault.breaks_stream()));
    assert_eq!((walk.offset(), walk.item().len()), (40, 80));
    assert!(walk.next().is_none());

    let stream = [ping(), submit(9)].concat();
    for size in 41..stream.len() {
        let mut walk = packets(&stream[..size]);
        assert!(walk.next().expect("a packet").is_ok());
        assert_eq!(walk.next().and_then(Result::err), Packet::parse(&stream[40..size]).err());
        assert!(walk.next().is_none());
    }
}
