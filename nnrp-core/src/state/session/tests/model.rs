//! A client and a server that talk in order, do random things, and have to agree in the end.

use super::*;
use crate::state::random::{Random, steps};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::vec::Vec;

enum Packet {
    Open(SessionOpen),
    OpenAck(SessionOpenAck),
    Submit(u32, u64),
    Done(u32, u64),
    Close(u32, SessionClose),
    CloseAck(u32, SessionCloseAck),
    FatalError(u32),
}

/// What has to hold of a session, kept the simple way.
#[derive(Default)]
struct Model {
    live: BTreeMap<u32, BTreeSet<u64>>,
    next: u64,
    wanted: u32,
}

struct End {
    sessions: Sessions,
    sent: VecDeque<Packet>,
    model: Model,
}

impl End {
    fn step(&mut self, step: Step) {
        if step.cancel {
            self.model.live.insert(step.session_id, BTreeSet::new());
        }
        if step.state == SessionState::Closed {
            assert!(self.sessions.get(step.session_id).is_none());
            self.model.live.remove(&step.session_id);
        }
        if let Some(ack) = step.ack {
            self.sent.push_back(Packet::CloseAck(step.session_id, ack));
        }
    }

    fn receive(&mut self, packet: Packet, now: Time, random: &mut Random) {
        let sessions = &mut self.sessions;
        match packet {
            Packet::Open(open) => {
                let ticket = sessions.apply_open(sessions.check_open(&open, false).unwrap());
                let verdicts = Verdicts { auth: !random.chance(6), ..Default::default() };
                let policy = Policy { max_in_flight: 3, ..Default::default() };
                let plan =
                    sessions.check_answer(ticket, &policy, &verdicts, &mut || random.next() % 50).unwrap();
                sessions.apply_answer(plan, now);
                while let Some((_, ack)) = sessions.poll_answer(now) {
                    if ack.session_id != 0 {
                        self.model.live.insert(ack.session_id, BTreeSet::new());
                    }
                    self.sent.push_back(Packet::OpenAck(ack));
                }
            }
            Packet::OpenAck(ack) => {
                let plan = sessions.check_open_ack(&ack).unwrap();
                if let (_, Opened::Live { session_id, .. }) = sessions.apply_open_ack(plan, now) {
                    self.model.live.insert(session_id, BTreeSet::new());
                }
            }
            // A submit may meet a session that the server is closing; then it is refused and does nothing.
            Packet::Submit(id, operation) => match sessions.check_submit(id) {
                Ok(plan) => {
                    sessions.apply_submit(plan, now);
                    self.model.live.get_mut(&id).unwrap().insert(operation);
                }
                Err(refusal) => {
                    assert!(matches!(refusal.rule, "S4" | "C3"), "{refusal}");
                    self.sent.push_back(Packet::Done(id, operation));
                }
            },
            Packet::Done(id, operation) => {
                if self.model.live.get_mut(&id).is_some_and(|live| live.remove(&operation))
                    && let Some(step) = sessions.operation_ended(id, now)
                {
                    self.step(step);
                }
            }
            Packet::Close(id, close) => {
                if let Ok(plan) = sessions.check_peer_close(id, &close) {
                    sessions.apply_peer_close(plan, now);
                    self.answer(id, random);
                }
            }
            Packet::CloseAck(id, ack) => match sessions.check_close_ack(id, &ack) {
                Ok(plan) => {
                    if let Some(step) = sessions.apply_close_ack(plan) {
                        self.step(step);
                    }
                }
                Err(_) if ack.close_status == CloseStatus::Rejected => {
                    self.sent.push_back(Packet::FatalError(id))
                }
                Err(_) => {}
            },
            Packet::FatalError(id) => {
                if let Some(step) = sessions.end(id) {
                    self.step(step);
                }
            }
        }
    }

    fn answer(&mut self, id: u32, random: &mut Random) {
        let verdict = match random.below(8) {
            0 => Verdict::Acknowledge,
            1 => Verdict::Reject { code: crate::SessionErrorCode::NONE },
            _ => Verdict::Proceed { last_operation_id: 0 },
        };
        if let Ok(step) = self.sessions.answer_close(id, verdict) {
            self.step(step);
        }
    }

    fn act(&mut self, now: Time, random: &mut Random) {
        let ids: Vec<u32> = self.sessions.iter().map(Session::id).collect();
        let id = if ids.is_empty() { 0 } else { random.of(&ids) };
        match random.below(6) {
            0 if self.sessions.side == Side::Client => {
                // An id of its own choice is a new one: an ERROR that is late would hit a session that has an old one.
                self.model.wanted += 1;
                let requested_session_id = random.of(&[0, 1_000 + self.model.wanted]);
                let open = SessionOpen { requested_session_id, ..Default::default() };
                if let Ok(plan) = self.sessions.check_open(&open, false) {
                    self.sessions.apply_open(plan);
                    self.sent.push_back(Packet::Open(open));
                }
            }
            1 | 2 if self.sessions.side == Side::Client => {
                if let Ok(plan) = self.sessions.check_submit(id) {
                    self.sessions.apply_submit(plan, now);
                    self.model.next += 1;
                    self.model.live.get_mut(&id).unwrap().insert(self.model.next);
                    self.sent.push_back(Packet::Submit(id, self.model.next));
                }
            }
            3 if self.sessions.side == Side::Server => {
                if let Some(operation) = self.model.live.get_mut(&id).and_then(BTreeSet::pop_first) {
                    self.sent.push_back(Packet::Done(id, operation));
                    if let Some(step) = self.sessions.operation_ended(id, now) {
                        self.step(step);
                    }
                }
            }
            4 if random.chance(4) => {
                let close = SessionClose {
                    in_flight_policy: random.of(&InFlightPolicy::ALL),
                    drain_timeout_ms: random.below(3) as u32 * 400,
                    ..Default::default()
                };
                if let Ok(plan) = self.sessions.check_close(id, &close) {
                    self.sessions.apply_close(plan, now);
                    self.sent.push_back(Packet::Close(id, close));
                }
            }
            5 => self.answer(id, random),
            _ => {}
        }
    }

    fn tick(&mut self, now: Time) {
        while let Some(due) = self.sessions.handle_timeout(now) {
            match due {
                Due::Idle { session_id, close } => self.sent.push_back(Packet::Close(session_id, close)),
                Due::Over(step) => self.step(step),
            }
        }
        assert!(self.sessions.next_timeout().is_none_or(|due| due > now));
    }

    fn check(&self) {
        for session in self.sessions.iter().filter(|session| session.state() != SessionState::Opening) {
            assert_eq!(session.live() as usize, self.model.live[&session.id()].len());
            assert!(session.live() <= 3);
        }
        assert!(self.sessions.timers.len() <= self.sessions.len());
        assert!(self.sessions.owed.len() <= self.sessions.limits.pending);
    }
}

#[test]
fn model_two_sides_agree() {
    for seed in 1..=8 {
        talk(seed, steps(5_000) as u64);
    }
}

fn talk(seed: u64, steps: u64) {
    let mut random = Random::new(seed);
    let limits = Limits { sessions: 24, idle_ms: 5_000, ..Default::default() };
    let end =
        |side| End { sessions: Sessions::new(side, limits), sent: VecDeque::new(), model: Model::default() };
    let (mut client, mut server) = (end(Side::Client), end(Side::Server));
    let mut now = NOW;
    let (mut opened, mut closed) = (0, 0);
    for step in 0..steps {
        let before = server.sessions.len();
        match random.below(10) {
            0..3 => client.act(now, &mut random),
            3..6 => server.act(now, &mut random),
            6 => {
                if let Some(packet) = client.sent.pop_front() {
                    server.receive(packet, now, &mut random);
                }
            }
            7 => {
                if let Some(packet) = server.sent.pop_front() {
                    client.receive(packet, now, &mut random);
                }
            }
            _ => now = now.after(random.of(&[0, 1, 20, 300])),
        }
        client.tick(now);
        server.tick(now);
        client.check();
        server.check();
        opened += u64::from(server.sessions.len() > before);
        closed += u64::from(server.sessions.len() < before);
        if step % 500 == 0 {
            // Let everything arrive: then both sides know the same sessions in compatible states.
            while !client.sent.is_empty() || !server.sent.is_empty() {
                if let Some(packet) = client.sent.pop_front() {
                    server.receive(packet, now, &mut random);
                }
                if let Some(packet) = server.sent.pop_front() {
                    client.receive(packet, now, &mut random);
                }
            }
            let open =
                |end: &End| end.sessions.iter().filter(|s| s.is_open()).map(Session::id).collect::<Vec<_>>();
            assert_eq!(open(&client), open(&server), "seed {seed}, step {step}");
        }
    }
    assert!(opened > steps / 200 && closed > steps / 200, "{opened} opened, {closed} closed");
}
