//! Several transports, a probing client on each, and the ranking of what their connections brought (R4, C1).

use nnrp_core::state::Time;
use nnrp_core::state::connection::Event;
use nnrp_core::state::probe::{Limits, Probes};
use nnrp_core::*;
use nnrp_tests::pair::{Pair, carry};

/// One transport: how many microseconds it takes, there and back, and which of its probes it loses.
struct Path {
    transport: TransportId,
    pair: Pair,
    takes_us: u64,
    loses: fn(u64) -> bool,
}

fn path(transport: TransportId, takes_us: u64, loses: fn(u64) -> bool) -> Path {
    Path { transport, pair: Pair::default(), takes_us, loses }
}

const START_MS: u64 = 1_000;

/// Probes each path so often, as an application does it.
fn probe(paths: &mut [Path], rounds: u64, padding: u32) -> Probes {
    let mut probes = Probes::new(Limits { answer_ms: 50, ..Limits::default() });
    for round in 0..rounds {
        let sent_us = (START_MS + round * 100) * 1_000;
        for Path { transport, pair, takes_us, loses } in paths.iter_mut() {
            pair.now = Time(sent_us / 1_000);
            let plan = probes.check_probe(*transport, padding, sent_us).expect("room");
            let probe = probes.apply_probe(plan, pair.now);
            pair.client.probe(&probe, pair.now).expect("before any hello");
            if loses(round) {
                pair.client.consume_output(usize::MAX);
                continue;
            }
            let came_us = sent_us + *takes_us;
            pair.now = Time(came_us / 1_000);
            carry(&mut pair.client, &mut pair.server, pair.link, pair.now);
            carry(&mut pair.server, &mut pair.client, pair.link, pair.now);
            let mut events = core::iter::from_fn(|| pair.client.poll_event());
            let Some(Event::Message { packet }) = events.next() else { panic!("no answer") };
            assert_eq!(events.next(), None);
            let Some(Message::TransportProbeAck(ack, _)) = packet.message() else { panic!("{packet:?}") };
            assert_eq!((ack.probe_id, ack.server_recv_ts_us), (probe.probe_id, came_us / 1_000 * 1_000));
            // An answer counts once, and on its own transport only.
            let other =
                TransportId::ALL.into_iter().find(|other| other != transport).expect("there are some");
            assert!(probes.check_ack(&ack, other).is_err());
            probes.apply_ack(probes.check_ack(&ack, *transport).expect("it waits"), came_us);
            assert!(probes.check_ack(&ack, *transport).is_err());
            // Probing moves nothing, and the server's application hears nothing of it.
            assert_eq!(pair.server.poll_event(), None);
            assert_eq!(
                (pair.client.state(), pair.server.state()),
                (ConnectionState::Init, ConnectionState::Init)
            );
        }
        probes.handle_timeout(Time(sent_us / 1_000 + 50));
    }
    probes
}

fn order(probes: &Probes) -> Vec<(TransportId, u64, u64)> {
    probes.ranking().iter().map(|score| (score.transport, score.successes, score.failures)).collect()
}

#[test]
fn r4_transports_rank_by_what_their_connections_brought() {
    use TransportId::{Quic, Tcp};
    // Who answers more goes first, however slow.
    let mut paths = [path(Tcp, 40_000, |_| false), path(Quic, 2_000, |round| round == 1)];
    let probes = probe(&mut paths, 4, 1_200);
    assert_eq!(order(&probes), [(Tcp, 4, 0), (Quic, 3, 1)]);
    assert_eq!(probes.choose(TransportPolicy::Auto), Some(Tcp));
    assert_eq!(probes.choose(TransportPolicy::PreferQuic), Some(Quic));
    // Of equals the one with the higher throughput: so many bytes in that time.
    let mut paths = [path(Tcp, 4_000, |_| false), path(Quic, 2_000, |_| false)];
    let probes = probe(&mut paths, 3, 1_000);
    let scores: Vec<_> = probes.ranking().iter().map(|score| (score.transport, score.throughput)).collect();
    assert_eq!(scores, [(Quic, 500_000), (Tcp, 250_000)]);
    // Without any bytes by the round trip.
    let probes = probe(&mut paths, 3, 0);
    let scores: Vec<_> =
        probes.ranking().iter().map(|score| (score.transport, score.round_trip_us)).collect();
    assert_eq!(scores, [(Quic, 2_000), (Tcp, 4_000)]);
    // One that never answers is no choice.
    let mut paths = [path(Tcp, 2_000, |_| true), path(Quic, 9_000, |_| false)];
    let probes = probe(&mut paths, 3, 1_200);
    assert_eq!(order(&probes), [(Quic, 3, 0), (Tcp, 0, 3)]);
    assert_eq!(probes.choose(TransportPolicy::PreferTcp), Some(Quic));
    assert_eq!(probes.choose(TransportPolicy::ForceTcp), None);
    // The hello goes to the one that was chosen, on the connection that was probed.
    let chosen = probes.choose(TransportPolicy::Auto);
    let path = paths.iter_mut().find(|path| Some(path.transport) == chosen).expect("one of them");
    path.pair.greet();
    assert_eq!(path.pair.client.state(), ConnectionState::Active);
}

#[test]
fn r4_a_probe_may_have_as_much_padding_as_is_answered() {
    for (padding, answered) in [(0, true), (1 << 20, true), ((1 << 20) + 1, false)] {
        let mut pair = Pair::default();
        let probe = TransportProbe { probe_id: 3, probe_payload_bytes: padding, ..TransportProbe::default() };
        pair.client.probe(&probe, pair.now).expect("before any hello");
        pair.settle();
        assert_eq!(pair.client_events().len(), usize::from(answered), "{padding}");
        // One that is too large spoils nothing.
        assert_eq!(pair.server.snapshot().counters.refused, u64::from(!answered));
        pair.greet();
    }
    let mut pair = Pair::default();
    let probe = TransportProbe { probe_payload_bytes: u32::MAX, ..TransportProbe::default() };
    assert_eq!(pair.client.probe(&probe, pair.now).unwrap_err().code(), ErrorCode::LIMIT_EXCEEDED);
}
