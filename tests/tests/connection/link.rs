//! One scenario over links that split and cut: nothing is lost and nothing comes twice (O5, R1, X1).

use std::collections::BTreeMap;

use nnrp_core::state::connection::{Config, Connection, Event, Left, Over, Shelf, drain_within};
use nnrp_core::state::hello::{Abilities, Offer, Verdict};
use nnrp_core::state::operation::Cause;
use nnrp_core::state::session::{self, Policy, Verdicts};
use nnrp_core::state::{Side, Time};
use nnrp_core::*;
use nnrp_tests::pair::{result, source, submit};

use super::say::{self, say};

/// How an operation ended, and whether a packet brought it.
type End = (OperationState, Cause, bool);

/// Two ends with applications that do their part, over a link of which each direction carries so many bytes.
struct World {
    client: Connection,
    server: Connection,
    shelf: Shelf,
    now: Time,
    /// Bytes a step.
    piece: usize,
    /// Bytes that each direction still carries.
    left: [usize; 2],
    /// Bytes that each direction carried.
    carried: [usize; 2],
    /// What the applications saw.
    log: [Vec<String>; 2],
    /// How each operation ended, on either side; more than one entry is a fault.
    ends: [BTreeMap<(u32, u64), Vec<End>>; 2],
    /// Operations that the client's application submitted and the server's saw.
    submitted: [Vec<(u32, u64)>; 2],
    /// Operations that the server's application keeps for later.
    kept: Vec<(u32, u64)>,
    sessions: Vec<u32>,
    /// Sessions that could not be asked for again.
    waiting: Vec<Left>,
    /// How often both ends met again.
    meetings: u64,
    cut: bool,
}

fn policy() -> Policy {
    Policy { credit: 3, ..Policy::default() }
}

impl World {
    fn new(piece: usize, left: [usize; 2]) -> Self {
        let now = Time(1_000);
        Self {
            client: Connection::new(Side::Client, Config::new(Side::Client), source(1), now),
            server: Connection::new(Side::Server, Config::new(Side::Server), source(2), now),
            shelf: Shelf::default(),
            now,
            piece,
            left,
            carried: [0, 0],
            log: [Vec::new(), Vec::new()],
            ends: [BTreeMap::new(), BTreeMap::new()],
            submitted: [Vec::new(), Vec::new()],
            kept: Vec::new(),
            sessions: Vec::new(),
            waiting: Vec::new(),
            meetings: 0,
            cut: false,
        }
    }

    fn carry(&mut self, direction: usize) -> bool {
        let (from, to) = match direction {
            0 => (&mut self.client, &mut self.server),
            _ => (&mut self.server, &mut self.client),
        };
        let mut any = false;
        loop {
            let bytes = from.poll_output();
            let size = bytes.len().min(self.piece).min(self.left[direction]);
            if size == 0 {
                self.cut |= !bytes.is_empty() && !to.is_over();
                return any;
            }
            let taken = to.handle_bytes(&bytes[..size], self.now);
            from.consume_output(taken);
            self.left[direction] -= taken;
            self.carried[direction] += taken;
            any |= taken > 0;
            if taken == 0 {
                return any;
            }
        }
    }

    /// Everything goes its way, as far as the link lets it.
    fn settle(&mut self) {
        while !self.cut {
            let mut any = self.carry(0);
            any |= self.hear_server();
            any |= !self.cut && self.carry(1);
            any |= self.hear_client();
            if !any {
                return;
            }
        }
    }

    fn note(&mut self, end: usize, event: &Event) {
        self.log[end].push(format!("{event:?}"));
        if let Event::Ended { session_id, outcome, packet } = event {
            let ends = self.ends[end].entry((*session_id, outcome.operation)).or_default();
            ends.push((outcome.state, outcome.cause, packet.is_some()));
        }
        if let Event::Unsent { session_id, operation_id, .. } = event {
            let ends = self.ends[end].entry((*session_id, *operation_id)).or_default();
            ends.push((OperationState::Cancelled, Cause::Lost, false));
        }
    }

    fn hear_client(&mut self) -> bool {
        let mut any = false;
        while let Some(event) = self.client.poll_event() {
            self.note(0, &event);
            if let Event::SessionOpened { session_id, resumed: false, .. } = &event {
                self.sessions.push(*session_id);
            }
            any = true;
        }
        any
    }

    /// The server's application: odd operations are answered at once, even ones when it is told.
    fn hear_server(&mut self) -> bool {
        let mut any = false;
        let now = self.now;
        while let Some(event) = self.server.poll_event() {
            any = true;
            self.note(1, &event);
            match event {
                Event::Hello { offer, .. } => {
                    let _ = self.server.accept(&Abilities::default(), &offer, Verdict::Accept, 7, now);
                }
                Event::SessionRequested { ticket, .. } => {
                    let _ =
                        self.server.answer_open(ticket, &policy(), Verdicts::default(), &mut self.shelf, now);
                }
                Event::Submitted { session_id, operation_id, .. } => {
                    self.submitted[1].push((session_id, operation_id));
                    let server = &mut self.server;
                    say(
                        server,
                        session_id,
                        operation_id,
                        &say::progress(operation_id, StageCode::EXECUTING),
                        now,
                    )
                    .expect("it lives");
                    if operation_id % 2 == 0 {
                        self.kept.push((session_id, operation_id));
                        continue;
                    }
                    say(server, session_id, operation_id, &say::partial(operation_id), now).expect("it runs");
                    server.send_packet(&result(session_id, operation_id), now).expect("it runs");
                }
                Event::CancelAsked { session_id, operation_id } => {
                    let reason = DropReasonCode::PEER_CANCELLED;
                    self.server.drop_operation(session_id, operation_id, reason, now).expect("it lives");
                }
                Event::CloseRequested { session_id, .. } => {
                    let last_operation_id = 0;
                    let verdict = session::Verdict::Proceed { last_operation_id };
                    self.server.answer_close(session_id, verdict, now).expect("it was asked for");
                }
                _ => {}
            }
        }
        any
    }

    fn submit(&mut self, session: usize, operation_id: u64) {
        let session_id = self.sessions[session];
        self.client.submit(&submit(session_id, operation_id, 0), self.now).expect("a good submit");
        self.submitted[0].push((session_id, operation_id));
    }

    /// The server's application finishes what it kept.
    fn finish(&mut self) {
        for (session_id, operation_id) in std::mem::take(&mut self.kept) {
            if self.server.operations(session_id).is_none() {
                // Its session may come back.
                self.kept.push((session_id, operation_id));
                continue;
            }
            // It may have ended otherwise.
            let _ = self.server.send_packet(&result(session_id, operation_id), self.now);
        }
    }

    fn tell(&mut self, session: usize, operation_id: u64, message: &Message<'_>) {
        // What it is about may have ended where the link was cut before.
        let _ = say(&mut self.client, self.sessions[session], operation_id, message, self.now);
    }

    /// The scenario, as far as the link lets it get.
    fn play(&mut self) {
        for step in 0.. {
            let now = self.now;
            match step {
                0 => self.client.hello(&Offer::new(), b"who", now).expect("a good offer"),
                1 => {
                    for _ in 0..2 {
                        let session_flags = SessionFlags::ALLOW_RESUME;
                        let open = SessionOpen { session_flags, ..SessionOpen::default() };
                        self.client.open_session(&open, b"", now).expect("room");
                    }
                }
                2 => [1, 2, 3].into_iter().for_each(|id| self.submit(0, id)),
                3 => [4, 5, 6, 8, 10].into_iter().for_each(|id| self.submit(1, id)),
                4 => self.tell(1, 4, &say::cancel(4)),
                5 => {
                    self.submit(0, 12);
                    let _ = say(&mut self.client, self.sessions[0], 2, &say::supersede(2, 12), now);
                }
                6 => {
                    self.client
                        .send(&say::session(self.sessions[1]), &say::put(1, b"schema"), now)
                        .expect("room");
                    self.client
                        .send(&say::session(self.sessions[1]), &say::reference(1), now)
                        .expect("it goes out");
                    self.client
                        .send(&say::session(self.sessions[1]), &say::reference(2), now)
                        .expect("it goes out");
                }
                7 => {
                    let session_id = self.sessions[1];
                    self.server
                        .send(&say::session(session_id), &say::credit(5, 1), now)
                        .expect("an open session");
                }
                8 => [14, 16, 7, 18].into_iter().for_each(|id| self.submit(1, id)),
                9 => self.finish(),
                10 => {
                    self.submit(0, 20);
                    self.submit(1, 9);
                }
                11 => {
                    let session_id = self.sessions[0];
                    self.client.close_session(session_id, &drain_within(100), now).expect("it is open");
                }
                12 => self.finish(),
                13 => self.client.close(now).expect("it is active"),
                _ => return,
            }
            self.settle();
            self.now = self.now.after(1);
            if self.cut {
                return;
            }
        }
    }

    /// The transport is lost. Both ends keep what they can, and meet again on a link that carries so many bytes.
    fn meet_again(&mut self, left: [usize; 2]) {
        self.server.park(&mut self.shelf, self.now);
        self.hear_server();
        let mut sessions: Vec<Left> = self.client.take_sessions(self.now);
        sessions.append(&mut self.waiting);
        self.hear_client();
        for end in [&self.client, &self.server] {
            let snapshot = end.snapshot();
            assert_eq!((snapshot.sessions, snapshot.operations, snapshot.queued), (0, 0, 0));
        }
        // An application that was told of everything knows what it still waits for.
        self.meetings += 1;
        let seed = 3 * self.meetings;
        self.client = Connection::new(Side::Client, Config::new(Side::Client), source(seed), self.now);
        self.server = Connection::new(Side::Server, Config::new(Side::Server), source(seed + 1), self.now);
        (self.cut, self.left) = (false, left);
        self.carried = [0, 0];
        self.client.hello(&Offer::new(), b"who", self.now).expect("a good offer");
        self.settle();
        for session in sessions {
            if let Err((_, session)) = self.client.resume_session(session, b"", self.now) {
                self.waiting.push(*session);
            }
        }
        self.settle();
        // What is live at the server is what its application goes on with.
        self.finish();
        self.settle();
        // Operations go on as before.
        let live: Vec<u32> = self.client.sessions().iter().map(|session| session.id()).collect();
        for session_id in live {
            let operation_id = 100 + self.meetings;
            self.client.submit(&submit(session_id, operation_id, 0), self.now).expect("a live session");
            self.submitted[0].push((session_id, operation_id));
        }
        self.settle();
    }

    /// Whatever was never resumed ends with its window.
    fn expire(&mut self) {
        while let Some((bound, left)) = self.shelf.handle_timeout(self.now.after(1_000_000)) {
            for outcome in left.end() {
                let ends = self.ends[1].entry((bound.session_id, outcome.operation)).or_default();
                ends.push((outcome.state, outcome.cause, false));
            }
        }
    }

    /// Each that was submitted ended, once, on either side, and results that were given out came.
    fn check(&self, place: &str) {
        for (end, submitted) in self.submitted.iter().enumerate() {
            for key in submitted {
                let ends = self.ends[end].get(key).map_or(0, Vec::len);
                assert_eq!(
                    ends,
                    1,
                    "{place}: end {end}, {key:?}: {:?}\n{:#?}",
                    self.ends[end].get(key),
                    self.log
                );
            }
            assert_eq!(self.ends[end].len(), submitted.len(), "{place}: nothing else ended");
        }
        for key in &self.submitted[1] {
            let (at_server, at_client) = (self.ends[1][key][0], self.ends[0][key][0]);
            if at_server.0 == OperationState::Completed {
                let fits = at_client == (OperationState::Completed, Cause::Result, true)
                    || matches!(at_client.1, Cause::Supersede { .. });
                // A session that could not be resumed took its operations with it.
                let gone = at_client.1 == Cause::Close;
                assert!(fits || gone, "{place}: {key:?} {at_server:?} {at_client:?}");
                assert!(
                    !gone || !self.sessions.contains(&key.0) || self.closes(key.0),
                    "{place}: {key:?}\n{:#?}",
                    self.log
                );
            }
        }
        for key in &self.submitted[0] {
            let reached = self.submitted[1].contains(key);
            let lost = self.ends[0][key][0].1 == Cause::Lost;
            let closed = self.closes(key.0);
            let superseded = matches!(self.ends[0][key][0].1, Cause::Supersede { .. });
            assert!(
                reached != lost || closed || superseded && !reached,
                "{place}: {key:?} {:?}",
                self.ends[0][key]
            );
        }
        for end in 0..2 {
            let late = self.log[end].iter().filter(|line| line.starts_with("Refused")).count();
            assert_eq!(late, 0, "{place}: {:#?}", self.log);
        }
    }

    /// Whether the client was about to close the session, or the connection.
    fn closes(&self, session_id: u32) -> bool {
        let closed = format!("SessionClosed {{ session_id: {session_id} }}");
        self.log[0].contains(&closed)
    }
}

#[test]
fn f6_a_link_that_splits_changes_nothing() {
    let mut whole = World::new(usize::MAX, [usize::MAX; 2]);
    whole.play();
    whole.check("whole");
    assert!(whole.log[0].contains(&format!("{:?}", Event::Over(Over::Done))), "{:#?}", whole.log);
    for piece in [1, 2, 3, 7, 39, 40, 41, 64, 1_000] {
        let mut split = World::new(piece, [usize::MAX; 2]);
        split.play();
        assert_eq!(whole.log, split.log, "pieces of {piece}");
        assert_eq!(whole.carried, split.carried);
        for (one, other) in [(&whole.client, &split.client), (&whole.server, &split.server)] {
            assert_eq!(one.snapshot(), other.snapshot());
        }
    }
}

#[test]
fn o5_a_cut_at_any_byte_loses_nothing_and_brings_nothing_twice() {
    let mut whole = World::new(usize::MAX, [usize::MAX; 2]);
    whole.play();
    let long = std::env::var_os("NNRP_LONG").is_some();
    let (mut lost, mut again, mut resumed) = (0, 0, 0);
    for direction in 0..2 {
        let total = whole.carried[direction];
        assert!(total > 1_500, "{total}");
        for at in (0..total).step_by(if long { 1 } else { 5 }) {
            let mut left = [usize::MAX; 2];
            left[direction] = at;
            let mut world = World::new(usize::MAX, left);
            world.play();
            world.meet_again([usize::MAX; 2]);
            world.expire();
            world.check(&format!("direction {direction}, byte {at} of {total}"));
            let ends = world.ends[0].values().flatten();
            lost += ends.filter(|(_, cause, _)| *cause == Cause::Lost).count();
            again += world.log[0].iter().filter(|line| line.starts_with("Late")).count();
            resumed += world.log[0].iter().filter(|line| line.contains("resumed: true")).count();
        }
    }
    // Everything that can come of a cut did.
    assert!(lost > 100 && again > 100 && resumed > 500, "{lost} {again} {resumed}");
}

/// The first link is cut where there is much to resume, and the second one anywhere, so that requests, answers, tokens
/// and what is delivered again are lost in turn.
#[test]
fn r2_a_cut_of_the_resume_itself_loses_nothing() {
    let mut whole = World::new(usize::MAX, [usize::MAX; 2]);
    whole.play();
    let total = whole.carried[1];
    let step = if std::env::var_os("NNRP_LONG").is_some() { 1 } else { 7 };
    let mut resumed = 0;
    for first in [total / 3, total / 2, total * 3 / 4] {
        let cut_once = || {
            let mut world = World::new(usize::MAX, [usize::MAX, first]);
            world.play();
            world
        };
        let mut uncut = cut_once();
        let lives = uncut.client.sessions().iter().count();
        assert_eq!(lives, 2);
        uncut.meet_again([usize::MAX; 2]);
        for direction in 0..2 {
            for at in (0..=uncut.carried[direction]).step_by(step) {
                let mut left = [usize::MAX; 2];
                left[direction] = at;
                let mut world = cut_once();
                world.meet_again(left);
                // The answer may be lost more than once.
                world.meet_again(left);
                world.meet_again([usize::MAX; 2]);
                let live = world.client.sessions().iter().count();
                assert_eq!(
                    live, lives,
                    "first {first}, direction {direction}, byte {at}: every session goes on\n{:#?}",
                    world.log
                );
                resumed += live;
                world.expire();
                world.check(&format!("first {first}, direction {direction}, byte {at}"));
            }
        }
    }
    assert!(resumed > 500, "{resumed}");
}
