//! Two composed connections in memory, on one core.
//!
//! `cargo bench --package nnrp-tests --bench pair`

use std::fs;
use std::hint::black_box;
use std::time::{Duration, Instant};

use nnrp_core::state::Side;
use nnrp_core::state::connection::{Config, Event};
use nnrp_core::state::operation::Limits;
use nnrp_core::state::session;
use nnrp_core::{CancelBody, CommonHeader, ControlRequest, Message, Role, SessionOpen};
use nnrp_tests::pair::{Link, Pair, carry, result, submit};

fn main() {
    // What measures memory comes first, before the rest leaves some behind.
    sessions();
    live();
    operations(1, 64);
    operations(1, 1);
    operations(10_000, 64);
    subtree();
}

/// A pair for so many operations in flight.
fn pair(in_flight: u32) -> Pair {
    let config = |side| Config {
        events: 4_000_000,
        output_bytes: 1 << 30,
        operations: Limits { in_flight, ..Limits::default() },
        sessions: session::Limits { sessions: 100_000, pending: 100_000, ..session::Limits::default() },
        ..Config::new(side)
    };
    let mut pair = Pair::with(config(Side::Client), config(Side::Server));
    pair.abilities.max_concurrent_frames = 0;
    pair.policy.max_in_flight = u16::MAX;
    pair.policy.credit = u16::MAX;
    pair.greet();
    pair
}

/// From submit to terminal result, so many at a time: four packets written and read, two events.
fn operations(sessions: u32, batch: u64) {
    const ROUNDS: u64 = 400_000;
    let mut pair = pair(65_535);
    let ids: Vec<u32> = (0..sessions).map(|_| pair.open(&SessionOpen::default())).collect();
    // The packets are made beforehand: what is measured is the protocol, not the work.
    let submits: Vec<_> = (1..=batch).map(|at| submit(ids[at as usize % ids.len()], at, 0)).collect();
    let results: Vec<_> = (1..=batch).map(|at| result(ids[at as usize % ids.len()], at)).collect();
    let now = pair.now;
    let start = Watch::start();
    for _ in 0..ROUNDS / batch {
        for packet in &submits {
            pair.client.submit(packet, now).expect("credit");
        }
        carry(&mut pair.client, &mut pair.server, Link::Whole, now);
        while let Some(event) = pair.server.poll_event() {
            black_box(event);
        }
        for packet in &results {
            pair.server.send_packet(packet, now).expect("a live operation");
        }
        carry(&mut pair.server, &mut pair.client, Link::Whole, now);
        let mut ended = 0;
        while let Some(event) = pair.client.poll_event() {
            ended += u64::from(matches!(event, Event::Ended { .. }));
        }
        assert_eq!(ended, batch);
    }
    let took = start.elapsed();
    println!(
        "submit to result, {sessions} sessions, {batch} at a time: {:.0} operations a second, {:.0} ns each",
        ROUNDS as f64 / took.as_secs_f64(),
        took.as_nanos() as f64 / ROUNDS as f64
    );
}

/// Memory of a live operation, on both ends together and on one.
fn live() {
    const SESSIONS: u64 = 16;
    const EACH: u64 = 62_500;
    let mut pair = pair(65_535);
    let ids: Vec<u32> = (0..SESSIONS).map(|_| pair.open(&SessionOpen::default())).collect();
    let before = resident();
    for id in ids {
        for operation in 1..=EACH {
            pair.client.submit(&submit(id, operation, 0), pair.now).expect("credit");
            if operation % 1_000 == 0 {
                carry(&mut pair.client, &mut pair.server, Link::Whole, pair.now);
                while pair.server.poll_event().is_some() {}
            }
        }
        carry(&mut pair.client, &mut pair.server, Link::Whole, pair.now);
        while pair.server.poll_event().is_some() {}
    }
    let live = SESSIONS * EACH;
    assert_eq!(pair.server.snapshot().operations, live);
    println!(
        "live operations, 1,000,000 of 16 sessions: {} bytes each on one end",
        (resident() - before) / live / 2
    );
}

/// FRAME_CANCEL of a subtree of 10,000 among 60,000, with all that goes with it: events, answers, credit.
fn subtree() {
    let mut pair = pair(65_535);
    let id = pair.open(&SessionOpen::default());
    for operation in 1..=60_000u64 {
        let parent = if (2..=10_000).contains(&operation) { operation / 2 } else { 0 };
        pair.client.submit(&submit(id, operation, parent), pair.now).expect("credit");
    }
    pair.settle();
    let request = ControlRequest { source_role: Role::CLIENT, ..ControlRequest::default() };
    let header = CommonHeader { session_id: id, ..CommonHeader::default() };
    let start = Watch::start();
    let body = CancelBody { diagnostic: &[] };
    pair.client.send(&header, &Message::Cancel(request, body), pair.now).expect("a live session");
    pair.settle();
    println!(
        "CANCEL of a session of 60,000, to all of its events: {:.1} ms",
        start.elapsed().as_secs_f64() * 1e3
    );
}

/// Ten thousand sessions on one connection.
fn sessions() {
    const SESSIONS: u32 = 10_000;
    let mut pair = pair(16);
    let before = resident();
    let start = Watch::start();
    for _ in 0..SESSIONS {
        pair.client.open_session(&SessionOpen::default(), b"", pair.now).expect("room");
    }
    pair.settle();
    let took = start.elapsed();
    assert_eq!(pair.server.snapshot().sessions, SESSIONS as usize);
    println!(
        "{SESSIONS} sessions: {:.1} us each to open, {} bytes each on one end",
        took.as_secs_f64() * 1e6 / f64::from(SESSIONS),
        (resident() - before) / u64::from(SESSIONS) / 2
    );
}

/// Time that this process spent on a core, so that other work on the machine does not count; else the clock.
struct Watch(Instant, Option<u64>);

impl Watch {
    fn start() -> Self {
        Self(Instant::now(), Self::on_core())
    }

    fn on_core() -> Option<u64> {
        let text = fs::read_to_string("/proc/self/schedstat").ok()?;
        text.split_whitespace().next()?.parse().ok()
    }

    fn elapsed(&self) -> Duration {
        let on_core = self.1.zip(Self::on_core()).map(|(from, to)| Duration::from_nanos(to - from));
        // The system counts in ticks, which says nothing of a short while.
        on_core.filter(|spent| *spent > Duration::from_millis(50)).unwrap_or(self.0.elapsed())
    }
}

/// Bytes of memory that are in use.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok()).unwrap_or(0) * 1024
}
