//! Time: when something is due, and what is done then.

use alloc::vec::Vec;

use super::event::{Event, Over, Why};
use super::plan::Act;
use super::pulse::Beat;
use super::{Connection, Message, observe};
use crate::state::operation::{Cancelled, Cause, Key, Manner, Named, Reach};
use crate::state::{Refusal, Time};
use crate::{CommonHeader, ConnectionState, SessionState};

impl Connection {
    /// When [`Self::handle_timeout`] has something to do. It may find nothing to do then.
    pub fn poll_timeout(&self) -> Option<Time> {
        if self.is_over {
            return None;
        }
        let waits = |until: &Time| *until > self.now && !self.queue.is_empty();
        let held = self.window.gate().held_until().filter(waits);
        [
            self.hello.next_timeout(),
            self.sessions.next_timeout(),
            self.cache.next_timeout(),
            self.queue.next_timeout(),
            self.timers.first().map(|(due, _)| *due),
            self.pulse.next_timeout().filter(|_| self.hello.state() == ConnectionState::Active),
            held,
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// Does everything whose time has come.
    pub fn handle_timeout(&mut self, now: Time) {
        if self.is_over {
            return;
        }
        self.now = self.now.max(now);
        if self.hello.state() == ConnectionState::Active {
            match self.pulse.beat(now) {
                Beat::Dead => return self.over(Over::Silence, now),
                Beat::Ask => {
                    self.ping(now);
                }
                Beat::Quiet => {}
            }
        }
        if self.hello.handle_timeout(now) {
            return self.over(Over::Time, now);
        }
        self.expire_sessions(now);
        self.expire_cache(now);
        while let Some((ticket, _)) = self.queue.poll_expired(now) {
            let (session_id, operation_id) = (ticket.session, ticket.operation);
            self.events.push_back(Event::Unsent { session_id, operation_id, refusal: None });
        }
        while let Some((due, session_id)) = self.timers.first().copied() {
            if due > now {
                break;
            }
            self.timers.pop_first();
            self.expire_live(session_id, now);
        }
        self.pump(now);
    }

    /// Ends an operation whose time turned out to be over when something was to be sent for it, and tells the peer, whose
    /// clock may say otherwise (O8).
    pub(super) fn expire_one(&mut self, act: &Act<'_>, key: Option<Key>) -> Why {
        let session_id = act.header.session_id;
        let live = self.lives.get_mut(&session_id);
        if let Some(key) = key
            && let Some(outcome) = live.and_then(|live| live.operations.expire(key, act.now))
        {
            self.tell_drop(session_id, &outcome);
            self.ended(session_id, outcome, None, act.now);
        }
        Refusal::state("O8", "the time of the operation is over").into()
    }

    /// Sends a PING, and gives its number.
    pub fn ping(&mut self, now: Time) -> u64 {
        self.write(&CommonHeader::default(), &Message::Ping);
        self.pulse.ping(now)
    }

    /// What of one session is over by now.
    fn expire_live(&mut self, session_id: u32, now: Time) {
        observe::due(self.side, session_id);
        // Where a connection was lost, so may have been what set the time: then the peer does not know.
        let session = self.sessions.get(session_id);
        let resumed = session.is_some_and(|session| session.state() == SessionState::Resumed);
        while let Some(outcome) =
            self.lives.get_mut(&session_id).and_then(|live| live.operations.poll_expired(now))
        {
            if resumed || outcome.emit_drop_reason && !self.is_client() {
                self.tell_drop(session_id, &outcome);
            }
            self.ended(session_id, outcome, None, now);
        }
        let Some(live) = self.lives.get_mut(&session_id) else { return };
        live.due = None;
        live.migration.handle_timeout(now);
        if let Some(keeper) = &mut live.keeper {
            keeper.handle_timeout(now);
            let lost = core::iter::from_fn(|| keeper.poll_lost());
            let operations: Vec<u64> = lost.map(|lost| lost.operation_id).collect();
            self.unconfirmed(session_id, operations);
        }
        let Some(live) = self.lives.get_mut(&session_id) else { return };
        let objects = live.objects.handle_timeout(now);
        if live.window.gate().held_until().is_some_and(|until| until <= now) {
            self.queue.wake(session_id);
        }
        self.freed(session_id, objects);
        self.schedule(session_id);
    }

    /// Sees to it that a session is looked at when something of it is due. A timer may be early, and then looks again.
    pub(super) fn schedule(&mut self, session_id: u32) {
        let Some(live) = self.lives.get_mut(&session_id) else { return };
        let held = live.window.gate().held_until().filter(|until| *until > self.now);
        let due = [
            live.operations.next_timeout(),
            live.objects.next_timeout(),
            live.keeper.as_ref().and_then(|keeper| keeper.next_timeout()),
            live.migration.next_timeout(),
            held,
        ]
        .into_iter()
        .flatten()
        .min();
        let Some(due) = due else { return };
        if live.due.is_none_or(|old| due < old) {
            if let Some(old) = live.due.replace(due) {
                self.timers.remove(&(old, session_id));
            }
            self.timers.insert((due, session_id));
        }
    }

    /// Ends one operation that lives, without a word to the peer.
    pub(super) fn end_one(&mut self, session_id: u32, named: Named, cause: Cause, now: Time) {
        let Some(live) = self.lives.get_mut(&session_id) else { return };
        let Ok(plan) = live.operations.check_cancel(Reach::Operation(named), Manner::End, cause) else {
            return;
        };
        let mut found = None;
        live.operations.apply_cancel(plan, |cancelled| {
            if let Cancelled::Ended(outcome) = cancelled {
                found = Some(outcome);
            }
        });
        if let Some(outcome) = found {
            self.ended(session_id, outcome, None, now);
        }
    }
}
