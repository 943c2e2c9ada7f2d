//! The connection itself: hello, liveness, probes, errors, the end (C1–C9).

use alloc::boxed::Box;

use super::event::{Event, Over, Why};
use super::plan::{Act, Plan};
use super::{Connection, Message};
use crate::state::credit::Window;
use crate::state::hello::{Answer, EndPlan, Grants, Offer, Wishes};
use crate::state::operation::{self, Named};
use crate::state::{Side, Time, probe};
use crate::{ConnectionState, ErrorScope, TransportProbeAckBody};

impl Connection {
    pub(super) fn check_link(&self, act: &Act<'_>) -> Result<Plan, Why> {
        Ok(match act.message {
            Message::ClientHello(hello, body) => {
                let offer = Offer { hello: *hello, wishes: Wishes::read(body.ext) };
                Plan::Hello(Box::new((self.hello.check_hello(&offer)?, offer)))
            }
            Message::ServerHelloAck(ack, body) => {
                let answer = Answer { ack: *ack, grants: Grants::read(body.ext) };
                Plan::HelloAck(Box::new(self.hello.check_ack(&answer)?))
            }
            Message::Close(_) => Plan::End(self.hello.check_close(act.sender)?),
            Message::Error(error, _) => match error.error_scope {
                ErrorScope::Connection => {
                    let end = self.hello.check_error(act.sender, error.error_scope, error.is_fatal)?;
                    end.map_or(Plan::Pass, Plan::End)
                }
                ErrorScope::Session => {
                    self.sessions.check_session(act.header.session_id)?;
                    if error.is_fatal { Plan::EndSession } else { Plan::Pass }
                }
                ErrorScope::Frame => {
                    self.check_event(act, Named::frame(act.header.frame_id), operation::Event::from(error))?
                }
            },
            Message::TransportProbe(probe, _) if !act.ours => {
                let now_us = act.now.0.saturating_mul(1_000);
                Plan::Probe(probe::answer(probe, self.config.probe_bytes, now_us)?)
            }
            Message::ErrorRecoverable(..) if act.header.session_id != 0 => {
                self.sessions.check_session(act.header.session_id)?;
                Plan::Pass
            }
            _ => Plan::Pass,
        })
    }

    pub(super) fn apply_link(&mut self, plan: Plan, act: &Act<'_>) {
        match plan {
            Plan::Hello(hello) => {
                let (plan, offer) = *hello;
                self.hello.apply_hello(plan);
                if let Some(packet) = act.received() {
                    self.events.push_back(Event::Hello { offer, packet });
                }
            }
            Plan::HelloAck(plan) => {
                if self.hello.apply_ack(*plan) == ConnectionState::Active {
                    self.activate();
                } else if let Message::ServerHelloAck(ack, _) = act.message {
                    if !act.ours {
                        let (status, retry_after_ms) = (ack.auth_status, ack.retry_after_ms);
                        self.events.push_back(Event::Rejected { status, retry_after_ms });
                    }
                    self.over(Over::Refused, act.now);
                }
            }
            Plan::End(plan) => {
                if matches!(act.message, Message::Error(..)) {
                    self.pass(act);
                }
                self.begin_end(plan, act.now);
            }
            Plan::Ping if act.ours => {
                self.pulse.ping(act.now);
            }
            Plan::Ping => self.write(&act.header.answer(), &Message::Pong),
            Plan::Pong if !act.ours => {
                if let Some(number) = self.pulse.pong(act.now) {
                    self.settle(number, act.now);
                }
            }
            Plan::Probe(ack) => {
                let body = TransportProbeAckBody { probe_ack: &[] };
                self.write(&act.header.answer(), &Message::TransportProbeAck(ack, body));
            }
            _ => {}
        }
    }

    /// Negotiation is over: what was agreed on holds from here on (C6, W1, K6).
    fn activate(&mut self) {
        if let Some(answer) = self.hello.agreed() {
            let ack = &answer.ack;
            self.window = Window::connection(ack.max_concurrent_frames);
            if self.side == Side::Server {
                // What the client may store here; on the client nothing was negotiated for the other way.
                let mut limits = *self.cache.limits();
                limits.entries = limits.entries.min(ack.max_cache_entries as usize);
                limits.bytes = limits.bytes.min(ack.max_cache_bytes as usize);
                self.cache.set_limits(limits);
            }
        }
        self.events.push_back(Event::Active);
    }

    /// The end begins, by CLOSE or a fatal ERROR. It may have begun before.
    pub(super) fn begin_end(&mut self, plan: EndPlan, now: Time) {
        let was_draining = self.hello.state() == ConnectionState::Draining;
        self.hello.apply_end(plan, now);
        if was_draining {
            return;
        }
        self.sessions.drain_all();
        // Nothing new goes out, and what was asked for is refused.
        self.forget_queue();
        self.send_answers(now);
        if self.hello.state() == ConnectionState::Draining {
            self.events.push_back(Event::Draining);
        }
        self.finish(now);
    }

    /// Closes a connection that drains and has nothing in flight any more, and one that was closed.
    pub(super) fn finish(&mut self, now: Time) {
        match self.hello.state() {
            ConnectionState::Draining if self.window.in_flight() == 0 => {
                self.hello.finished();
                self.over(Over::Done, now);
            }
            ConnectionState::Closed => self.over(Over::Refused, now),
            _ => {}
        }
    }

    /// The connection is over: so is everything on it, once.
    pub(super) fn over(&mut self, why: Over, now: Time) {
        if core::mem::replace(&mut self.is_over, true) {
            return;
        }
        self.hello.lost();
        self.forget_queue();
        self.give_up();
        if why == Over::Silence {
            let all = self.leave_all();
            self.held.extend(all);
        }
        self.end_sessions(now);
        self.events.push_back(Event::Over(why));
    }
}
