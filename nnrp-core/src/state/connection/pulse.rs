//! PING, PONG, and what silence means.

use crate::state::Time;

/// Whether the peer is still there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pulse {
    ping_ms: u64,
    silence_ms: u64,
    heard: Time,
    /// PINGs sent and PONGs that came: answers keep the order of the questions.
    sent: u64,
    answered: u64,
    /// The last PING and when it went out.
    last: Time,
    round_trip: Option<u64>,
}

/// What silence asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beat {
    /// Nothing.
    Quiet,
    /// A PING.
    Ask,
    /// The peer is gone.
    Dead,
}

impl Pulse {
    pub(super) const fn new(ping_ms: u64, silence_ms: u64, now: Time) -> Self {
        Self { ping_ms, silence_ms, heard: now, sent: 0, answered: 0, last: now, round_trip: None }
    }

    /// Something came.
    pub(super) fn hear(&mut self, now: Time) {
        self.heard = self.heard.max(now);
    }

    /// A PING went out. Gives its number.
    pub(super) fn ping(&mut self, now: Time) -> u64 {
        self.sent = self.sent.saturating_add(1);
        self.last = now;
        self.sent
    }

    /// A PONG came. Gives the number of its PING; `None` where there is none, which changes nothing.
    pub(super) fn pong(&mut self, now: Time) -> Option<u64> {
        if self.answered == self.sent {
            return None;
        }
        self.answered = self.answered.saturating_add(1);
        if self.answered == self.sent {
            self.round_trip = Some(now.since(self.last));
        }
        Some(self.answered)
    }

    pub(super) const fn round_trip_ms(&self) -> Option<u64> {
        self.round_trip
    }

    /// When [`Self::beat`] has something to say.
    pub(super) fn next_timeout(&self) -> Option<Time> {
        let ask = (self.ping_ms != 0).then(|| self.heard.max(self.last).after(self.ping_ms));
        let dead = (self.silence_ms != 0).then(|| self.heard.after(self.silence_ms));
        ask.into_iter().chain(dead).min()
    }

    pub(super) fn beat(&self, now: Time) -> Beat {
        if self.silence_ms != 0 && now.since(self.heard) >= self.silence_ms {
            Beat::Dead
        } else if self.ping_ms != 0 && now.since(self.heard.max(self.last)) >= self.ping_ms {
            Beat::Ask
        } else {
            Beat::Quiet
        }
    }
}
