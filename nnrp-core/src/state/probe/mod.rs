//! Probing transports before the hello, and the fixed ranking among them (R4).
//!
//! A client that may choose brings up a [`Connection`](super::connection::Connection) on each transport, sends
//! [probes](super::connection::Connection::probe) on all of them, and says hello on the one that [`Probes`] chooses.
//! What is sent and what comes goes through its hands: [`Probes`] makes each probe, and takes each answer, which comes
//! as [`Event::Message`](super::connection::Event::Message). The server has nothing to do for it.
//!
//! ```
//! use nnrp_core::state::connection::{Config, Connection, Event};
//! use nnrp_core::state::{Side, Time, probe::{Limits, Probes}};
//! use nnrp_core::{Message, TransportId, TransportPolicy};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let end = |side| Connection::new(side, Config::new(side), || 7, Time(0));
//! let mut probes = Probes::new(Limits::default());
//! let mut clients = Vec::new();
//! // Microseconds that each takes, there and back.
//! for (transport, takes_us) in [(TransportId::Tcp, 9_000), (TransportId::Quic, 4_000)] {
//!     let (mut client, mut server) = (end(Side::Client), end(Side::Server));
//!     for round in 0..3 {
//!         let sent_us = round * 10_000;
//!         let probe = probes.check_probe(transport, 1_200, sent_us)?;
//!         client.probe(&probes.apply_probe(probe, Time(sent_us / 1_000)), Time(sent_us / 1_000))?;
//!
//!         let came_us = sent_us + takes_us;
//!         server.handle_bytes(client.poll_output(), Time(came_us / 1_000));
//!         client.consume_output(usize::MAX);
//!         client.handle_bytes(server.poll_output(), Time(came_us / 1_000));
//!         server.consume_output(usize::MAX);
//!         let Some(Event::Message { packet }) = client.poll_event() else { panic!("no answer") };
//!         if let Some(Message::TransportProbeAck(ack, _)) = packet.message() {
//!             probes.apply_ack(probes.check_ack(&ack, transport)?, came_us);
//!         }
//!     }
//!     clients.push((transport, client));
//! }
//! let best = probes.choose(TransportPolicy::Auto);
//! assert_eq!(best, Some(TransportId::Quic));
//! // The others are given up before any hello.
//! clients.retain(|(transport, _)| Some(*transport) == best);
//! # Ok(())
//! # }
//! ```

use alloc::{collections::BTreeMap, vec::Vec};

use super::{Refusal, Time};
use crate::{TransportId, TransportPolicy, TransportProbe, TransportProbeAck};

/// What probing may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Probes that wait for their answer.
    pub waiting: usize,
    /// Measurements of one transport; later ones take the place of the oldest.
    pub samples: usize,
    /// Padding of one probe.
    pub padding: u32,
    /// How long an answer may take.
    pub answer_ms: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { waiting: 32, samples: 64, padding: 64 << 10, answer_ms: 2_000 }
    }
}

/// One answered probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sample {
    bytes_per_second: u64,
    round_trip_us: u64,
}

#[derive(Clone, Debug, Default)]
struct Measured {
    successes: u64,
    failures: u64,
    /// A ring, so that a long probing forgets its start.
    samples: Vec<Sample>,
    next: usize,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    transport: TransportId,
    sent_us: u64,
    bytes: u32,
    until: Time,
}

/// What was measured of a transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Score {
    /// Which transport.
    pub transport: TransportId,
    /// Probes that were answered.
    pub successes: u64,
    /// Probes that were not.
    pub failures: u64,
    /// Median throughput, in bytes a second.
    pub throughput: u64,
    /// Median round trip, in microseconds.
    pub round_trip_us: u64,
}

/// A client's probes over several transports.
///
/// Times on the wire are microseconds, finer than [`Time`], so probes take both.
///
/// ```
/// use nnrp_core::{TransportId, TransportPolicy, TransportProbeAck};
/// use nnrp_core::state::{Time, probe::{Limits, Probes}};
///
/// let mut probes = Probes::new(Limits::default());
/// for (transport, round_trip_us) in [(TransportId::Tcp, 900), (TransportId::Quic, 400)] {
///     let plan = probes.check_probe(transport, 1_000, 0).unwrap();
///     let probe = probes.apply_probe(plan, Time(0));
///     let ack = TransportProbeAck { probe_id: probe.probe_id, ..Default::default() };
///     probes.apply_ack(probes.check_ack(&ack, transport).unwrap(), round_trip_us);
/// }
/// assert_eq!(probes.choose(TransportPolicy::Auto), Some(TransportId::Quic));
/// assert_eq!(probes.choose(TransportPolicy::ForceTcp), Some(TransportId::Tcp));
/// ```
#[derive(Clone, Debug)]
pub struct Probes {
    limits: Limits,
    last_id: u32,
    waiting: BTreeMap<u32, Waiting>,
    measured: BTreeMap<TransportId, Measured>,
}

/// A probe that may be sent.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct ProbePlan {
    transport: TransportId,
    probe: TransportProbe,
}

/// An answer that may be taken.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct AckPlan(u32);

impl Probes {
    /// Nothing measured yet.
    pub const fn new(limits: Limits) -> Self {
        Self { limits, last_id: 0, waiting: BTreeMap::new(), measured: BTreeMap::new() }
    }

    /// Probes that wait for their answer.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Makes a probe of so many bytes of padding.
    ///
    /// # Errors
    ///
    /// `limit_exceeded` over the padding or the number that may wait, `invalid_state` for no transport.
    pub fn check_probe(
        &self,
        transport: TransportId,
        padding: u32,
        now_us: u64,
    ) -> Result<ProbePlan, Refusal> {
        if transport == TransportId::Unspecified {
            return Err(Refusal::state("R4", "a probe has a transport"));
        }
        if padding > self.limits.padding {
            return Err(Refusal::limit("R4", "the probe is too large").about(padding.into()));
        }
        if self.waiting.len() >= self.limits.waiting {
            return Err(Refusal::limit("R4", "too many probes wait for their answer"));
        }
        // Ids go round; one that still waits is passed over.
        let mut probe_id = self.last_id.wrapping_add(1);
        while self.waiting.contains_key(&probe_id) {
            probe_id = probe_id.wrapping_add(1);
        }
        let probe = TransportProbe { probe_id, probe_payload_bytes: padding, client_send_ts_us: now_us };
        Ok(ProbePlan { transport, probe })
    }

    /// The probe is sent.
    pub fn apply_probe(&mut self, plan: ProbePlan, now: Time) -> TransportProbe {
        let ProbePlan { transport, probe } = plan;
        self.last_id = probe.probe_id;
        let waiting = Waiting {
            transport,
            sent_us: probe.client_send_ts_us,
            bytes: probe.probe_payload_bytes,
            until: now.after(self.limits.answer_ms),
        };
        self.waiting.insert(probe.probe_id, waiting);
        probe
    }

    /// Checks an answer that came over that transport.
    ///
    /// # Errors
    ///
    /// `invalid_state` for an answer to nothing, too late, or over another transport.
    pub fn check_ack(&self, ack: &TransportProbeAck, transport: TransportId) -> Result<AckPlan, Refusal> {
        match self.waiting.get(&ack.probe_id) {
            Some(waiting) if waiting.transport == transport => Ok(AckPlan(ack.probe_id)),
            _ => Err(Refusal::state("R4", "no such probe waits for an answer").about(ack.probe_id.into())),
        }
    }

    /// The answer has come. The server's time on it says nothing here, as its clock is another one.
    pub fn apply_ack(&mut self, plan: AckPlan, now_us: u64) {
        let Some(waiting) = self.waiting.remove(&plan.0) else { return };
        // A round trip of less than the clock shows counts as its smallest step.
        let round_trip_us = now_us.saturating_sub(waiting.sent_us).max(1);
        let bytes_per_second = u64::from(waiting.bytes).saturating_mul(1_000_000) / round_trip_us;
        let sample = Sample { bytes_per_second, round_trip_us };
        let measured = self.measured.entry(waiting.transport).or_default();
        measured.successes = measured.successes.saturating_add(1);
        if let Some(oldest) = measured.samples.get_mut(measured.next) {
            *oldest = sample;
        } else if self.limits.samples != 0 {
            measured.samples.push(sample);
        }
        measured.next = measured.next.saturating_add(1) % self.limits.samples.max(1);
    }

    /// The transport could not be used at all.
    pub fn failed(&mut self, transport: TransportId) {
        let measured = self.measured.entry(transport).or_default();
        measured.failures = measured.failures.saturating_add(1);
        let lost: Vec<u32> = self
            .waiting
            .iter()
            .filter(|(_, waiting)| waiting.transport == transport)
            .map(|(id, _)| *id)
            .collect();
        for id in lost {
            self.fail(id);
        }
    }

    /// When [`Self::handle_timeout`] has something to do.
    pub fn next_timeout(&self) -> Option<Time> {
        self.waiting.values().map(|waiting| waiting.until).min()
    }

    /// Gives up on probes whose time is over. Says how many there were.
    pub fn handle_timeout(&mut self, now: Time) -> usize {
        let over: Vec<u32> =
            self.waiting.iter().filter(|(_, waiting)| waiting.until <= now).map(|(id, _)| *id).collect();
        for id in &over {
            self.fail(*id);
        }
        over.len()
    }

    fn fail(&mut self, probe_id: u32) {
        if let Some(waiting) = self.waiting.remove(&probe_id) {
            let measured = self.measured.entry(waiting.transport).or_default();
            measured.failures = measured.failures.saturating_add(1);
        }
    }

    /// The transports from best to worst: by success count, then median throughput, then median round trip, and
    /// among equals by number.
    pub fn ranking(&self) -> Vec<Score> {
        let mut scores: Vec<Score> = self
            .measured
            .iter()
            .map(|(transport, measured)| Score {
                transport: *transport,
                successes: measured.successes,
                failures: measured.failures,
                throughput: median(measured.samples.iter().map(|sample| sample.bytes_per_second)),
                round_trip_us: median(measured.samples.iter().map(|sample| sample.round_trip_us)),
            })
            .collect();
        scores.sort_by(|one, other| {
            (other.successes.cmp(&one.successes))
                .then(other.throughput.cmp(&one.throughput))
                .then(one.round_trip_us.cmp(&other.round_trip_us))
                .then(one.transport.cmp(&other.transport))
        });
        scores
    }

    /// The transport that a policy takes: the forced one or none; the preferred one where it works; the best.
    pub fn choose(&self, policy: TransportPolicy) -> Option<TransportId> {
        let ranking = self.ranking();
        let mut works = ranking.iter().filter(|score| score.successes != 0).map(|score| score.transport);
        let best = works.clone().next();
        let (wish, only) = match policy {
            TransportPolicy::Auto => return best,
            TransportPolicy::PreferQuic => (TransportId::Quic, false),
            TransportPolicy::PreferTcp => (TransportId::Tcp, false),
            TransportPolicy::ForceQuic => (TransportId::Quic, true),
            TransportPolicy::ForceTcp => (TransportId::Tcp, true),
        };
        works.find(|transport| *transport == wish).or(best.filter(|_| !only))
    }
}

/// A server's side of probing, which keeps nothing.
///
/// # Errors
///
/// `limit_exceeded` for a probe with more padding than that.
pub fn answer(probe: &TransportProbe, padding: u32, now_us: u64) -> Result<TransportProbeAck, Refusal> {
    if probe.probe_payload_bytes > padding {
        return Err(Refusal::limit("R4", "the probe is too large").about(probe.probe_payload_bytes.into()));
    }
    Ok(TransportProbeAck { probe_id: probe.probe_id, server_recv_ts_us: now_us })
}

/// The middle, or the mean of the two in the middle; 0 of nothing.
fn median(values: impl Iterator<Item = u64>) -> u64 {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    let middle = values.len() / 2;
    let upper = values.get(middle).copied().unwrap_or(0);
    if values.len() % 2 == 1 {
        return upper;
    }
    let lower = middle.checked_sub(1).and_then(|at| values.get(at)).copied().unwrap_or(upper);
    lower.midpoint(upper)
}

#[cfg(test)]
mod tests;
