use super::*;
use crate::ErrorCode;
use crate::state::random::{Random, steps};

const NOW: Time = Time(1_000);

fn probe(probes: &mut Probes, transport: TransportId, bytes: u32, round_trip_us: Option<u64>) {
    let sent = probes.apply_probe(probes.check_probe(transport, bytes, 5_000).unwrap(), NOW);
    if let Some(round_trip_us) = round_trip_us {
        let ack = answer(&sent, u32::MAX, 77).unwrap();
        probes.apply_ack(probes.check_ack(&ack, transport).unwrap(), 5_000 + round_trip_us);
    }
}

fn order(probes: &Probes) -> Vec<TransportId> {
    probes.ranking().iter().map(|score| score.transport).collect()
}

use TransportId::{Ipc, Quic, Tcp};

#[test]
fn r4_success_count_comes_first() {
    let mut probes = Probes::new(Limits::default());
    probe(&mut probes, Quic, 60_000, Some(1));
    probe(&mut probes, Tcp, 10, Some(9_000));
    probe(&mut probes, Tcp, 10, Some(9_000));
    assert_eq!(order(&probes), [Tcp, Quic]);
}

#[test]
fn r4_then_median_throughput() {
    let mut probes = Probes::new(Limits::default());
    // The mean of Tcp is far better, its median is not.
    for (bytes, round_trip) in [(60_000, 10), (100, 1_000), (100, 1_000)] {
        probe(&mut probes, Tcp, bytes, Some(round_trip));
    }
    for _ in 0..3 {
        probe(&mut probes, Quic, 1_000, Some(5_000));
    }
    assert_eq!(order(&probes), [Quic, Tcp]);
    assert_eq!(probes.ranking()[0].throughput, 200_000);
}

#[test]
fn r4_then_median_round_trip() {
    let mut probes = Probes::new(Limits::default());
    for (transport, bytes, round_trip) in [(Tcp, 100, 1_000), (Quic, 100, 1_000), (Ipc, 50, 500)] {
        probe(&mut probes, transport, bytes, Some(round_trip));
    }
    // And among equals the number, so that the order is always the same.
    assert_eq!(order(&probes), [Ipc, Quic, Tcp]);
    assert_eq!(probes.ranking()[0].round_trip_us, 500);
}

#[test]
fn r4_policies_take_what_works() {
    let mut probes = Probes::new(Limits::default());
    assert_eq!(probes.choose(TransportPolicy::Auto), None);
    probe(&mut probes, Tcp, 100, Some(10));
    probes.failed(Quic);
    let choose = |probes: &Probes| TransportPolicy::ALL.map(|policy| probes.choose(policy));
    // Auto, prefer and force QUIC and TCP.
    assert_eq!(choose(&probes), [Some(Tcp), Some(Tcp), Some(Tcp), None, Some(Tcp)]);
    probe(&mut probes, Quic, 100, Some(100));
    assert_eq!(choose(&probes), [Some(Tcp), Some(Quic), Some(Tcp), Some(Quic), Some(Tcp)]);
}

#[test]
fn r4_answers_are_for_their_probe_and_transport() {
    let mut probes = Probes::new(Limits::default());
    probe(&mut probes, Tcp, 100, None);
    let ack = TransportProbeAck { probe_id: 1, ..Default::default() };
    for (id, transport) in [(2, Tcp), (1, Quic)] {
        let refusal = probes.check_ack(&TransportProbeAck { probe_id: id, ..ack }, transport).unwrap_err();
        assert_eq!((refusal.code, refusal.rule), (ErrorCode::INVALID_STATE, "R4"));
    }
    assert_eq!(probes.next_timeout(), Some(NOW.after(2_000)));
    assert_eq!((probes.handle_timeout(NOW.after(1_999)), probes.handle_timeout(NOW.after(2_000))), (0, 1));
    assert!(probes.check_ack(&ack, Tcp).is_err(), "too late");
    assert_eq!((probes.ranking()[0].failures, probes.ranking()[0].successes), (1, 0));
}

#[test]
fn r4_floods_are_bounded() {
    let mut probes = Probes::new(Limits { waiting: 3, samples: 4, padding: 100, answer_ms: 10 });
    assert_eq!(probes.check_probe(Tcp, 101, 0).unwrap_err().code, ErrorCode::LIMIT_EXCEEDED);
    assert_eq!(
        probes.check_probe(TransportId::Unspecified, 1, 0).unwrap_err().code,
        ErrorCode::INVALID_STATE
    );
    for _ in 0..3 {
        probe(&mut probes, Tcp, 1, None);
    }
    assert_eq!(probes.check_probe(Tcp, 1, 0).unwrap_err().code, ErrorCode::LIMIT_EXCEEDED);
    probes.failed(Tcp);
    assert_eq!(probes.waiting(), 0);
    for _ in 0..100 {
        probe(&mut probes, Tcp, 1, Some(7));
    }
    assert_eq!(probes.measured[&Tcp].samples.len(), 4);
    let large = TransportProbe { probe_payload_bytes: 101, ..Default::default() };
    assert_eq!(answer(&large, 100, 0).unwrap_err().code, ErrorCode::LIMIT_EXCEEDED);
}

#[test]
fn r4_medians_do_not_overflow() {
    assert_eq!(median([].into_iter()), 0);
    assert_eq!(median([u64::MAX, u64::MAX].into_iter()), u64::MAX);
    assert_eq!(median([3, 1, 2].into_iter()), 2);
    assert_eq!(median([4, 1, 2, 9].into_iter()), 3);
}

/// Whatever comes in, the ranking is a ranking and ids stay apart.
#[test]
fn model_ranking_is_by_its_three_keys() {
    let mut random = Random::new(8);
    let mut probes = Probes::new(Limits::default());
    probes.last_id = u32::MAX - 5;
    let mut open: Vec<(TransportId, u32)> = Vec::new();
    for _ in 0..steps(20_000) {
        let transport = random.of(&[Tcp, Quic, Ipc]);
        match random.below(4) {
            0 | 1 => {
                if let Ok(plan) = probes.check_probe(transport, random.below(1_000) as u32, 0) {
                    open.push((transport, probes.apply_probe(plan, NOW).probe_id));
                }
            }
            2 if !open.is_empty() => {
                let (transport, probe_id) = open.swap_remove(random.below(open.len() as u64) as usize);
                let ack = TransportProbeAck { probe_id, ..Default::default() };
                probes.apply_ack(probes.check_ack(&ack, transport).unwrap(), random.below(500));
            }
            3 if random.chance(50) => {
                probes.failed(transport);
                open.retain(|(of, _)| *of != transport);
            }
            _ => {}
        }
        assert_eq!(probes.waiting(), open.len());
        for pair in probes.ranking().windows(2) {
            let key = |score: &Score| (score.successes, score.throughput, u64::MAX - score.round_trip_us);
            assert!(key(&pair[0]) >= key(&pair[1]));
        }
    }
}
