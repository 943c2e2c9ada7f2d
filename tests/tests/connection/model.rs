//! Random doings of both applications, of the link and of time, against a model that is simple enough to be right.
//!
//! `NNRP_LONG=1` takes many times as many steps. `NNRP_SEED=7` takes that seed alone and prints what happens.

use std::collections::{BTreeMap, BTreeSet};

use nnrp_core::build::SubmitBuilder;
use nnrp_core::state::connection::{Config, Connection, Event, Shelf, drain_within};
use nnrp_core::state::hello::{Abilities, Offer, Verdict};
use nnrp_core::state::operation::Cause;
use nnrp_core::state::resume;
use nnrp_core::state::session::{self, Policy, Ticket, Verdicts};
use nnrp_core::state::{Side, Time};
use nnrp_core::*;
use nnrp_tests::mutate::mutated;
use nnrp_tests::packet::{Maker, Size};
use nnrp_tests::pair::{result, source};
use nnrp_tests::random::Random;
use nnrp_tests::registry;

use super::say;

type Name = (u32, u64);

/// What the model knows of one end.
#[derive(Default)]
struct Known {
    /// Operations that were submitted and did not end. Those of the client may wait for credit.
    open: BTreeSet<Name>,
    /// How many began and how many ended.
    began: u64,
    ended: u64,
    /// Sessions that are live.
    sessions: BTreeSet<u32>,
    /// Operations that somebody asked to end.
    asked: Vec<Name>,
    /// How operations ended last, for whoever looks into a fault.
    last: BTreeMap<Name, String>,
}

struct World {
    random: Random,
    client: Connection,
    server: Connection,
    shelf: Shelf,
    now: Time,
    known: [Known; 2],
    /// Requests that the server's application did not answer yet.
    tickets: Vec<Ticket>,
    closes: Vec<u32>,
    /// Sessions of the server without a connection. An id may be there twice, as it is only unique on a connection.
    shelved: Vec<(u32, u64, BTreeSet<Name>)>,
    /// How many operations each of the server's sessions had so far, which tells two of the same id apart.
    serials: BTreeMap<u32, u64>,
    /// Whether bytes come that no application sent.
    hostile: bool,
    /// Operations that the client ended by itself, of which the server may not know.
    alone: BTreeSet<Name>,
    epoch: u32,
    frames: u32,
    seed: u64,
    what: String,
    refused: u64,
    causes: BTreeMap<String, u64>,
}

fn config(side: Side) -> Config {
    let mut config = Config::new(side);
    config.queue = 20;
    config.operations.early_deadlines = 4;
    config.operations.remembered = 8;
    config.outcomes.outcomes = 6;
    config.puts = 4;
    config.sessions.sessions = 5;
    config.hello.drain_ms = 5_000;
    config
}

impl World {
    fn new(seed: u64, hostile: bool) -> Self {
        let now = Time(1_000);
        let limits = resume::Limits { sessions: 3, ..resume::Limits::default() };
        Self {
            random: Random::new(seed, "model"),
            client: Connection::new(Side::Client, config(Side::Client), source(seed * 2 + 1), now),
            server: Connection::new(Side::Server, config(Side::Server), source(seed * 2 + 3), now),
            shelf: Shelf::new(limits),
            now,
            known: Default::default(),
            tickets: Vec::new(),
            closes: Vec::new(),
            shelved: Vec::new(),
            serials: BTreeMap::new(),
            hostile,
            alone: BTreeSet::new(),
            epoch: 1,
            frames: 0,
            seed,
            what: String::new(),
            refused: 0,
            causes: BTreeMap::new(),
        }
    }

    fn end(&mut self, at: usize) -> &mut Connection {
        if at == 0 { &mut self.client } else { &mut self.server }
    }

    /// Some bytes, or all, in one direction.
    fn carry(&mut self, direction: usize, most: usize) -> bool {
        let now = self.now;
        let (from, to) = match direction {
            0 => (&mut self.client, &mut self.server),
            _ => (&mut self.server, &mut self.client),
        };
        let size = from.poll_output().len().min(most);
        let taken = to.handle_bytes(&from.poll_output()[..size], now);
        from.consume_output(taken);
        taken > 0
    }

    fn settle(&mut self) {
        loop {
            let mut any = self.carry(0, usize::MAX) | self.carry(1, usize::MAX);
            any |= self.hear();
            while !self.tickets.is_empty() {
                self.answer(0);
                any = true;
            }
            if !any {
                return;
            }
        }
    }

    /// Takes the events of both ends, against what the model knows.
    fn hear(&mut self) -> bool {
        let mut any = false;
        for at in 0..2 {
            while let Some(event) = self.end(at).poll_event() {
                any = true;
                if seed().is_some() {
                    println!("{} {at} {event:?}", self.now.0);
                }
                self.note(at, event);
            }
        }
        any
    }

    fn ended(&mut self, at: usize, name: Name, cause: String) {
        let found = self.known[at].open.remove(&name);
        assert!(found, "seed {}: {}: end {at}: {name:?} ended and was not open", self.seed, self.what);
        self.known[at].ended += 1;
        if at == 0 && (cause == "Time" || cause == "Supersede") {
            self.alone.insert(name);
        }
        self.known[at].last.insert(name, format!("{cause} at {} in {}", self.now.0, self.what));
        *self.causes.entry(cause).or_default() += 1;
    }

    fn note(&mut self, at: usize, event: Event) {
        let seed = self.seed;
        match event {
            Event::Hello { offer, .. } => {
                let abilities = Abilities { max_concurrent_frames: 40, ..Abilities::default() };
                let _ = self.server.accept(&abilities, &offer, Verdict::Accept, 7, self.now);
            }
            Event::SessionRequested { ticket, .. } => self.tickets.push(ticket),
            Event::SessionOpened { session_id, resumed, .. } => {
                let new = self.known[at].sessions.insert(session_id);
                assert!(new || resumed, "seed {seed}: C3: {session_id} is live twice");
                if resumed && at == 1 {
                    let live = self.server.operations(session_id).expect("it is live");
                    let names: BTreeSet<Name> = live.iter().map(|one| (session_id, one.id())).collect();
                    let serial = live.submitted();
                    self.unshelve(session_id, serial, &names);
                }
            }
            Event::SessionClosed { session_id } => {
                self.known[at].sessions.remove(&session_id);
                let rest = self.known[at].open.range((session_id, 0)..=(session_id, u64::MAX)).next();
                assert_eq!(rest, None, "seed {seed}: {}: an operation outlives its session", self.what);
            }
            Event::CloseRequested { session_id, .. } if at == 1 => self.closes.push(session_id),
            Event::CloseRequested { session_id, .. } => {
                let _ = self.client.answer_close(
                    session_id,
                    session::Verdict::Proceed { last_operation_id: 0 },
                    self.now,
                );
            }
            Event::Submitted { session_id, operation_id, .. } => {
                let new = self.known[at].open.insert((session_id, operation_id));
                assert!(
                    at == 1 && new,
                    "seed {seed}: {}: O2: {session_id} {operation_id} is live twice",
                    self.what
                );
                self.known[at].began += 1;
            }
            Event::Updated { session_id, operation_id, state, .. } => {
                assert!(!state.is_terminal());
                let open = self.known[at].open.contains(&(session_id, operation_id));
                assert!(open, "seed {seed}: {}: O1: {operation_id} has ended", self.what);
            }
            Event::CancelAsked { session_id, operation_id } => {
                assert!(self.known[at].open.contains(&(session_id, operation_id)));
                self.known[at].asked.push((session_id, operation_id));
            }
            Event::Ended { session_id, outcome, .. } => {
                assert!(outcome.state.is_terminal());
                let cause = match outcome.cause {
                    Cause::Error(_) => "Error".to_string(),
                    Cause::Supersede { .. } => "Supersede".to_string(),
                    cause => format!("{cause:?}"),
                };
                self.ended(at, (session_id, outcome.operation), cause);
            }
            Event::Unsent { session_id, operation_id, .. } => {
                self.ended(at, (session_id, operation_id), "Unsent".to_string());
            }
            Event::Refused { .. } => self.refused += 1,
            _ => {}
        }
    }

    fn answer(&mut self, index: usize) {
        let ticket = self.tickets.remove(index);
        let policy = Policy {
            credit: 4,
            max_in_flight: 8,
            resume_window_ms: if self.random.below(4) == 0 { 0 } else { 60_000 },
            ..Policy::default()
        };
        // It may be gone with its connection.
        let _ = self.server.answer_open(ticket, &policy, Verdicts::default(), &mut self.shelf, self.now);
    }

    fn session(&mut self, at: usize) -> u32 {
        let all: Vec<u32> = self.known[at].sessions.iter().copied().collect();
        if all.is_empty() || self.random.below(20) == 0 { 99 } else { *self.random.pick(&all) }
    }

    fn open(&mut self, at: usize) -> Name {
        let all: Vec<Name> = self.known[at].open.iter().copied().collect();
        if all.is_empty() || self.random.below(20) == 0 {
            (self.session(at), 1 + self.random.number() % 12)
        } else {
            *self.random.pick(&all)
        }
    }

    /// The frame of a live operation.
    fn frame(&self, at: usize, (session, operation): Name) -> u32 {
        let end = if at == 0 { &self.client } else { &self.server };
        let live = end.operations(session).and_then(|all| all.by_id(operation));
        live.map_or(0, |operation| operation.frame())
    }

    fn client_acts(&mut self) {
        let now = self.now;
        match self.random.below(14) {
            0 if self.known[0].sessions.len() < 4 => {
                let session_flags =
                    if self.random.below(3) == 0 { SessionFlags::empty() } else { SessionFlags::all() };
                let open = SessionOpen {
                    session_flags,
                    requested_session_id: [0, 0, 1, 2][self.random.below(4)],
                    priority_class: *self.random.pick(&SessionPriorityClass::ALL),
                    default_deadline_ms: [0, 0, 5_000][self.random.below(3)],
                    ..SessionOpen::default()
                };
                let _ = self.client.open_session(&open, b"", now);
            }
            0..=5 => {
                let session_id = self.session(0);
                let operation_id = 1 + self.random.number() % 12;
                // Who uses a frame again for another operation takes what comes late for the first as the second's: so
                // this application does not, but for frames that are live, which is refused.
                self.frames += 1;
                let name = self.open(0);
                let live = if self.random.below(10) == 0 { self.frame(0, name) } else { 0 };
                let frame_id = if live == 0 { self.frames } else { live };
                let header = CommonHeader { session_id, frame_id, ..CommonHeader::default() };
                let links = OperationLinks {
                    parent_operation_id: self.random.number() % 13,
                    operation_group_id: self.random.number() % 3,
                };
                let submit = FrameSubmit {
                    operation_id,
                    latency_budget_ms: [0, 0, 0, 900][self.random.below(4)],
                    ..FrameSubmit::default()
                };
                let packet = SubmitBuilder::new(submit)
                    .token(DescriptorFlags::empty(), b"words")
                    .links(links)
                    .to_vec(&header)
                    .expect("a good submit");
                self.what = format!("submit {session_id} {operation_id}");
                // What of it goes out at once may already have ended others by then.
                if self.client.submit(&packet, now).is_ok() {
                    let new = self.known[0].open.insert((session_id, operation_id));
                    assert!(new, "seed {}: O2: {operation_id} was taken twice", self.seed);
                    self.known[0].began += 1;
                }
            }
            6 | 7 => {
                let (session, id) = self.open(0);
                let frame_id = self.frame(0, (session, id));
                let header = CommonHeader { session_id: session, frame_id, ..CommonHeader::default() };
                let message = match self.random.below(7) {
                    0 => say::abort(id),
                    1 => say::cancel(0),
                    2 => say::deadline(id, now.0 + self.random.number() % 3_000, SchedulingFlags::all()),
                    3 => say::deadline(id, now.0 + self.random.number() % 3_000, SchedulingFlags::empty()),
                    4 => say::supersede(id, 1 + self.random.number() % 12),
                    _ => say::cancel(id),
                };
                let _ = self.client.send(&header, &message, now);
            }
            8 => {
                let session_id = self.session(0);
                let cancel_scope = *self.random.pick(&CancelScope::ALL);
                let operation_id =
                    if cancel_scope == CancelScope::Session { 0 } else { 1 + self.random.number() % 12 };
                let block = nnrp_core::build::Extensions::new(MessageType::FrameCancel)
                    .known(CancelScopeExtension { cancel_scope, operation_id });
                let ext = block.entries().expect("a good block");
                let message = Message::FrameCancel(FrameCancelBody { ext });
                let _ = self.client.send(&say::session(session_id), &message, now);
            }
            9 if self.random.below(6) == 0 => {
                let close = if self.random.below(2) == 0 {
                    drain_within(self.random.below(3_000) as u32)
                } else {
                    SessionClose { in_flight_policy: InFlightPolicy::Abort, ..SessionClose::default() }
                };
                let session_id = self.session(0);
                let _ = self.client.close_session(session_id, &close, now);
            }
            10 => {
                let (session, id) = self.open(0);
                self.client.withdraw(session, id);
            }
            11 => {
                let session_id = self.session(0);
                let key = self.random.number() % 5;
                let message =
                    if self.random.below(2) == 0 { say::put(key, b"some") } else { say::reference(key) };
                let _ = self.client.send(&say::session(session_id), &message, now);
            }
            12 => {
                let (session, id) = self.open(0);
                let budget = Budget {
                    operation_id: id,
                    token_budget: 4,
                    flags: BudgetFlags::REPLACE,
                    ..Budget::default()
                };
                let _ = self.client.send(&say::session(session), &Message::BudgetUpdate(budget), now);
                let credit = Pressure {
                    scope_id: id,
                    credit_window: self.random.number() % 4,
                    flags: PressureFlags::APPLIES_TO_OPERATION,
                    ..Pressure::default()
                };
                let _ = self.client.send(&say::session(session), &Message::CreditUpdate(credit), now);
            }
            _ => {}
        }
    }

    fn server_acts(&mut self) {
        let now = self.now;
        match self.random.below(14) {
            0..=6 => {
                let (session, id) = self.open(1);
                let frame_id = self.frame(1, (session, id));
                let header = CommonHeader { session_id: session, frame_id, ..CommonHeader::default() };
                let stage = StageCode::from_raw(self.random.below(8) as u16).unwrap_or_default();
                let _ = match self.random.below(9) {
                    0 | 1 => self.server.send(&header, &say::progress(id, stage), now),
                    2 | 3 => self.server.send(&header, &say::partial(id), now),
                    4 => {
                        let reason =
                            *self.random.pick(&[DropReasonCode::BUDGET_EXCEEDED, DropReasonCode::SUPERSEDED]);
                        self.server.drop_operation(session, id, reason, now)
                    }
                    5 => self.server.send(&header, &say::error(ErrorCode::FRAME_EXPIRED), now),
                    _ => {
                        let mut packet = result(session, id);
                        let at = CommonHeader::FRAME_ID_OFFSET;
                        packet[at..at + 4].copy_from_slice(&frame_id.to_le_bytes());
                        self.server.send_packet(&packet, now)
                    }
                };
            }
            7 => {
                for (session, id) in std::mem::take(&mut self.known[1].asked) {
                    let _ = self.server.drop_operation(session, id, DropReasonCode::PEER_CANCELLED, now);
                }
            }
            8 => {
                self.epoch += 1;
                let session = self.session(1);
                let message = match self.random.below(6) {
                    0 => {
                        let reason = [UpdateReason::Pause, UpdateReason::Resume][self.random.below(2)];
                        Message::FlowUpdate(FlowUpdate {
                            scope_kind: ScopeKind::Session,
                            update_reason: reason,
                            credit_epoch: self.epoch,
                            ..FlowUpdate::default()
                        })
                    }
                    1 => say::credit(2, 1),
                    2 => say::retry(session.into(), 700, RetryAfterFlags::empty()),
                    _ => say::credit(self.random.below(9) as u16, self.epoch),
                };
                let _ = self.server.send(&say::session(session), &message, now);
            }
            9 if self.random.below(8) == 0 => {
                let session = self.session(1);
                let _ = self.server.close_session(session, &drain_within(500), now);
            }
            10 if !self.closes.is_empty() => {
                let index = self.random.below(self.closes.len());
                let session = self.closes.remove(index);
                let verdict = match self.random.below(4) {
                    0 => session::Verdict::Acknowledge,
                    1 => session::Verdict::Reject { code: SessionErrorCode::NONE },
                    _ => session::Verdict::Proceed { last_operation_id: 3 },
                };
                if self.server.answer_close(session, verdict, now).is_ok()
                    && verdict == session::Verdict::Acknowledge
                {
                    self.closes.push(session);
                }
            }
            11 if !self.tickets.is_empty() => {
                let index = self.random.below(self.tickets.len());
                self.answer(index);
            }
            12 if self.random.below(40) == 0 => {
                let session = self.session(1);
                if self.server.park_session(session, &mut self.shelf, now) {
                    // It goes on at its client, who does not know.
                    self.known[1].sessions.remove(&session);
                    self.shelve(session);
                }
            }
            _ => {}
        }
    }

    /// Time passes, and everything that is due is done when it is.
    fn wait(&mut self, ms: u64) {
        let until = self.now.after(ms);
        loop {
            let due = [self.client.poll_timeout(), self.server.poll_timeout()];
            let Some(next) = due.into_iter().flatten().min().filter(|next| *next <= until) else { break };
            self.now = self.now.max(next);
            self.client.handle_timeout(self.now);
            self.server.handle_timeout(self.now);
            for at in 0..2 {
                let now = self.now;
                let next = self.end(at).poll_timeout();
                assert!(
                    next.is_none_or(|next| next > now),
                    "seed {}: end {at} spins: {next:?} {now:?}",
                    self.seed
                );
            }
            self.settle();
        }
        self.now = until;
    }

    /// The transport is lost, and both ends meet again on another.
    fn reconnect(&mut self) {
        let now = self.now;
        self.hear();
        self.tickets.clear();
        self.closes.clear();
        self.known[1].asked.clear();
        self.server.park(&mut self.shelf, now);
        let left = self.client.take_sessions(now);
        self.hear();
        for at in 0..2 {
            let snapshot = self.end(at).snapshot();
            assert_eq!((snapshot.sessions, snapshot.operations, snapshot.queued), (0, 0, 0));
            assert_eq!(snapshot.state, ConnectionState::Closed);
            let sessions = std::mem::take(&mut self.known[at].sessions);
            if at == 1 {
                sessions.into_iter().for_each(|session| self.shelve(session));
                assert!(self.known[1].open.is_empty(), "seed {}: {:?}", self.seed, self.known[1].open);
            }
        }
        let seed = self.random.number();
        self.client = Connection::new(Side::Client, config(Side::Client), source(seed), now);
        self.server = Connection::new(Side::Server, config(Side::Server), source(seed ^ 9), now);
        self.expire_shelf();
        self.client.hello(&Offer::new(), b"", now).expect("a good offer");
        for _ in 0..20 {
            self.settle();
        }
        for left in left {
            match self.random.below(5) {
                // The application gives it up.
                0 => {
                    let session_id = left.session_id();
                    for outcome in left.end() {
                        self.ended(0, (session_id, outcome.operation), "Given up".to_string());
                    }
                }
                _ => {
                    self.client.resume_session(left, b"", now).map_err(|(why, _)| why).expect("a free id");
                }
            }
        }
    }

    /// Operations of a session go with it where no connection knows them.
    fn shelve(&mut self, session: u32) {
        let names: BTreeSet<Name> =
            self.known[1].open.range((session, 0)..=(session, u64::MAX)).copied().collect();
        self.known[1].open.retain(|name| name.0 != session);
        self.known[1].began -= names.len() as u64;
        let serial = self.serials.get(&session).copied().unwrap_or(0);
        self.shelved.push((session, serial, names));
    }

    /// What is live, or what is over already and was not heard of.
    fn unshelve(&mut self, session: u32, serial: u64, live: &BTreeSet<Name>) {
        let same = |(other, count, names): &(u32, u64, BTreeSet<Name>)| {
            (*other, *count) == (session, serial) && names.is_superset(live)
        };
        let place = self.shelved.iter().position(same);
        let place = place.unwrap_or_else(|| panic!("seed {}: {live:?} in {:?}", self.seed, self.shelved));
        let (_, _, names) = &self.shelved.swap_remove(place);
        self.known[1].began += names.len() as u64;
        self.known[1].open.extend(names);
    }

    fn expire_shelf(&mut self) {
        while let Some((bound, left)) = self.shelf.handle_timeout(self.now) {
            let names: BTreeSet<Name> =
                left.operations().iter().map(|one| (bound.session_id, one.id())).collect();
            let entry = (bound.session_id, left.operations().submitted(), names);
            let place = self.shelved.iter().position(|other| *other == entry);
            self.shelved.swap_remove(place.expect("it was shelved"));
            let names = entry.2;
            let ends: BTreeSet<Name> =
                left.end().iter().map(|outcome| (bound.session_id, outcome.operation)).collect();
            assert_eq!(ends, names);
            *self.causes.entry("Window".to_string()).or_default() += ends.len() as u64;
        }
    }

    fn check(&mut self) {
        for at in 0..2 {
            let seed = self.seed;
            let what = self.what.clone();
            let known = &self.known[at];
            let end = if at == 0 { &self.client } else { &self.server };
            let snapshot = end.snapshot();
            let mut live = 0;
            for session in end.sessions().iter() {
                let Some(seen) = end.session_snapshot(session.id()) else { continue };
                let all = end.operations(session.id()).expect("it is live");
                if at == 1 {
                    self.serials.insert(session.id(), all.submitted());
                }
                assert_eq!(seen.credit.in_flight, all.len() as u64, "seed {seed}: {what}: W1");
                assert_eq!(session.live() as usize, all.len(), "seed {seed}: {what}: S9, end {at}");
                assert_eq!(seen.operations, all.len());
                live += all.len() as u64;
                for operation in all.iter() {
                    let name = (session.id(), operation.id());
                    assert!(known.open.contains(&name), "seed {seed}: {what}: end {at}: {name:?}");
                    assert!(!operation.state().is_terminal());
                }
            }
            assert_eq!(snapshot.operations, live, "seed {seed}: {what}: W1, end {at}");
            assert!(snapshot.queued <= 20 && snapshot.sessions <= 5);
            assert_eq!(known.began, known.ended + known.open.len() as u64);
            assert!(end.state() == ConnectionState::Closed || !end.is_over());
        }
    }

    /// With everything carried, both ends say the same.
    fn agree(&mut self) {
        self.settle();
        if self.client.is_over() || self.server.is_over() {
            return;
        }
        for session in self.client.sessions().iter() {
            let id = session.id();
            let (Some(one), Some(other)) =
                (self.client.session_snapshot(id), self.server.session_snapshot(id))
            else {
                continue;
            };
            let ids = |end: &Connection| -> Vec<(u64, u32)> {
                end.operations(id)
                    .unwrap()
                    .iter()
                    .map(|operation| (operation.id(), operation.frame()))
                    .collect()
            };
            // A deadline or a SUPERSEDE may have been lost with a connection: then the client alone knows of the end.
            let alone = |(operation, _): &(u64, u32)| self.alone.contains(&(id, *operation));
            let mut others = ids(&self.server);
            others.retain(|name| ids(&self.client).contains(name) || !alone(name));
            if others.len() != ids(&self.server).len() {
                continue;
            }
            if ids(&self.client) != others {
                let (one, other) = (ids(&self.client), ids(&self.server));
                let of = |list: &[(u64, u32)], end: usize| -> Vec<String> {
                    list.iter()
                        .map(|(op, _)| format!("{op}: {:?}", self.known[end].last.get(&(id, *op))))
                        .collect()
                };
                panic!(
                    "seed {}: {}: now {:?} {one:?} {other:?}\n{:#?}\n{:#?}",
                    self.seed,
                    self.what,
                    self.now,
                    of(&other, 0),
                    of(&one, 1)
                );
            }
            assert_eq!(one.credit, other.credit, "seed {}: {}", self.seed, self.what);
        }
    }
}

/// So many steps, and how they went.
fn run(seed: u64, hostile: bool, steps: usize) -> World {
    let registry = registry::nnrp();
    let maker = Maker::new(&registry);
    let mut world = World::new(seed, hostile);
    world.client.hello(&Offer::new(), b"", world.now).expect("a good offer");
    for _ in 0..steps {
        match world.random.below(40) {
            0..=13 => world.client_acts(),
            14..=25 => world.server_acts(),
            26..=33 => {
                let (direction, most) = (world.random.below(2), 1 + world.random.below(400));
                world.carry(direction, most);
            }
            34 | 35 => world.agree_or_settle(),
            36 => {
                let ms = [1, 10, 300, 2_000, 20_000][world.random.below(5)];
                world.wait(ms);
                world.expire_shelf();
            }
            37 if world.random.below(30) == 0 => world.reconnect(),
            38 if world.hostile => {
                // Between packets only: what cuts a packet ends the connection, and is tried elsewhere.
                world.settle();
                let message = &registry.messages[world.random.below(registry.messages.len())];
                let mut bytes = maker.packet(message, Size::Typical, &mut world.random);
                let session = world.session(0);
                bytes[CommonHeader::SESSION_ID_OFFSET..][..4].copy_from_slice(&session.to_le_bytes());
                let name = world.open(0);
                let frame = world.frame(0, name);
                bytes[CommonHeader::FRAME_ID_OFFSET..][..4].copy_from_slice(&frame.to_le_bytes());
                if bytes.len() > CommonHeader::SIZE + 8 && world.random.below(2) == 0 {
                    let id = world.random.number() % 13;
                    bytes[CommonHeader::SIZE..][..8].copy_from_slice(&id.to_le_bytes());
                }
                if world.random.below(4) == 0 {
                    bytes = mutated(maker.packets(), &bytes, &mut world.random);
                }
                let (now, at) = (world.now, world.random.below(2));
                if Packet::parse(&bytes).is_ok() || world.random.below(20) == 0 {
                    world.what = format!("hostile {} to {at}", message.name);
                    world.end(at).handle_bytes(&bytes, now);
                }
            }
            _ => {}
        }
        world.hear();
        world.check();
        if world.client.is_over() || world.server.is_over() {
            world.reconnect();
            world.hear();
            world.check();
        }
    }
    // The end: nothing is left.
    world.settle();
    let _ = world.client.close(world.now);
    world.wait(100_000);
    world.check();
    let now = world.now;
    world.server.park(&mut world.shelf, now);
    world.client.handle_lost(now);
    world.hear();
    for session in std::mem::take(&mut world.known[1].sessions) {
        world.shelve(session);
    }
    world.now = now.after(1_000_000);
    world.expire_shelf();
    for at in 0..2 {
        let snapshot = world.end(at).snapshot();
        assert_eq!((snapshot.sessions, snapshot.operations, snapshot.queued), (0, 0, 0), "seed {seed}");
        assert!(world.known[at].open.is_empty(), "seed {seed}: end {at}: {:?}", world.known[at].open);
        assert_eq!(world.known[at].began, world.known[at].ended);
    }
    assert!(world.shelved.is_empty(), "seed {seed}: {:?}", world.shelved);
    assert!(world.shelf.is_empty(), "seed {seed}: {} tokens are left", world.shelf.len());
    world
}

impl World {
    fn agree_or_settle(&mut self) {
        if self.hostile { self.settle() } else { self.agree() }
    }
}

fn seed() -> Option<u64> {
    std::env::var("NNRP_SEED").ok()?.parse().ok()
}

fn seeds(first: u64, quick: u64) -> std::ops::Range<u64> {
    let count = if std::env::var_os("NNRP_LONG").is_some() { quick * 30 } else { quick };
    match seed() {
        Some(seed) => seed..seed + 1,
        None => first..first + count,
    }
}

#[test]
fn o5_honest_ends_agree_whatever_they_do() {
    let mut causes = BTreeMap::new();
    for seed in seeds(0, 35) {
        let world = run(seed, false, 3_000);
        for (cause, count) in world.causes {
            *causes.entry(cause).or_default() += count;
        }
    }
    if seed().is_some() {
        return;
    }
    // Operations ended in every way that there is.
    for cause in
        ["Result", "Drop", "Error", "Cancel", "Close", "Supersede", "Time", "Lost", "Unsent", "Window"]
    {
        let count: u64 = causes.get(cause).copied().unwrap_or(0);
        assert!(count > 0, "{cause}: {causes:?}");
    }
}

#[test]
fn o5_bytes_of_nobody_break_no_end() {
    let mut refused = 0;
    for seed in seeds(10_000, 35) {
        refused += run(seed, true, 3_000).refused;
    }
    assert!(seed().is_some() || refused > 200, "{refused}");
}
