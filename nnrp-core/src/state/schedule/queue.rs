//! What waits to be sent.

use alloc::collections::{BTreeMap, BTreeSet};

use super::lane::{Lane, Turns};
use crate::ErrorCode;
use crate::state::{Refusal, Time};

/// How long something without a deadline may wait before what came later with one no longer goes first.
pub const PATIENCE_MS: u64 = 1000;

/// Head start, in milliseconds, that one step of level gives, or one class below 3 takes.
pub const STEP_MS: u64 = 100;

/// What the queue knows of an operation that waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ticket {
    /// Its session.
    pub session: u32,
    /// Its id, unique in the session while it waits.
    pub operation: u64,
    /// Its class.
    pub class: u16,
    /// Its level within the class; more is sooner.
    pub level: i16,
    /// When it is not worth sending any more.
    pub deadline: Option<Time>,
    /// Its group, 0 for none.
    pub group: u64,
}

/// Whether something may go out now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// It may.
    Go,
    /// Nothing of this session and lane may, until [`Queue::wake`].
    NotSession,
    /// Nothing of this lane may, whatever the session.
    NotLane,
    /// Nothing may.
    Nothing,
}

/// Place in a line: its virtual due time, then the order of arrival.
type Place = (i64, u64);

#[derive(Debug)]
pub(super) struct Line<T> {
    pub(super) items: BTreeMap<Place, (Ticket, T)>,
    /// Rounds that it took part in.
    turn: u64,
    /// Refused by its session's credit, so not asked again until that changes.
    parked: bool,
}

impl<T> Default for Line<T> {
    fn default() -> Self {
        Self { items: BTreeMap::new(), turn: 0, parked: false }
    }
}

#[derive(Debug, Default)]
pub(super) struct Ready {
    /// Sessions with something to send: by rounds, then by the due time of their first.
    pub(super) lines: BTreeSet<(u64, i64, u32)>,
    /// The round that is being served.
    turn: u64,
}

/// The queue of a connection for what must wait for credit or for its turn.
///
/// - Between lanes, the more urgent goes first. But each lane counts how often it was passed over while it had
///   something ready, and is served next when that is [`Lane::patience`]: balanced at least once in 5 times,
///   background once in 18, the rest once in 67. So none starves, and none takes more than that from a more urgent
///   one that is busy.
/// - Between the sessions of a lane, rounds: each session gives one, and the one that is due first begins.
/// - Within a session, by a virtual due time: the deadline, or [`PATIENCE_MS`] after it came, whichever is earlier,
///   and [`STEP_MS`] sooner for each level. It never changes while new ones come later and later, so here too
///   everything has its turn.
///
/// A session without credit is asked once, parked, and asked again after [`Queue::wake`]. So a pop takes
/// logarithmic time, whatever waits.
///
/// ```
/// use nnrp_core::state::{Time, schedule::{Pass, Queue, Ticket}};
///
/// let mut queue = Queue::new(100);
/// for (operation, class) in [(1, 2), (2, 0)] {
///     let ticket = Ticket { session: 1, operation, class, ..Ticket::default() };
///     let plan = queue.check_push(&ticket, Time(0))?;
///     queue.apply_push(plan, "packet");
/// }
/// let (first, _) = queue.pop(|_| Pass::Go).unwrap();
/// assert_eq!(first.operation, 2);
/// # Ok::<(), nnrp_core::state::Refusal>(())
/// ```
#[derive(Debug)]
pub struct Queue<T> {
    pub(super) lines: BTreeMap<u32, [Line<T>; 4]>,
    pub(super) ready: [Ready; 4],
    turns: Turns,
    /// Where each stands.
    index: BTreeMap<(u32, u64), (Lane, Place)>,
    pub(super) deadlines: BTreeSet<(Time, u32, u64)>,
    arrivals: u64,
    limit: usize,
}

/// Something that may be queued.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct PushPlan {
    ticket: Ticket,
    due: i64,
}

fn due(ticket: &Ticket, now: Time) -> i64 {
    let soft = now.after(PATIENCE_MS);
    let due = ticket.deadline.map_or(soft, |deadline| deadline.min(soft));
    let below = match Lane::of(ticket.class) {
        Lane::Lower => ticket.class.saturating_sub(3) as i64,
        _ => 0,
    };
    let steps = below - ticket.level as i64;
    i64::try_from(due.0).unwrap_or(i64::MAX).saturating_add(steps.saturating_mul(STEP_MS as i64))
}

impl<T> Queue<T> {
    /// Room for that many.
    pub fn new(limit: usize) -> Self {
        Self {
            lines: BTreeMap::new(),
            ready: Default::default(),
            turns: Turns::default(),
            index: BTreeMap::new(),
            deadlines: BTreeSet::new(),
            arrivals: 0,
            limit,
        }
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether none waits. Then a submit that has credit need not be queued at all.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// What waits under that name.
    pub fn get(&self, session: u32, operation: u64) -> Option<(&Ticket, &T)> {
        let &(lane, place) = self.index.get(&(session, operation))?;
        let (ticket, item) = self.lines.get(&session)?.get(lane.index())?.items.get(&place)?;
        Some((ticket, item))
    }

    /// Whether something may be queued.
    pub fn check_push(&self, ticket: &Ticket, now: Time) -> Result<PushPlan, Refusal> {
        if self.index.len() >= self.limit {
            let refusal = Refusal::new(ErrorCode::LIMIT_EXCEEDED, "W1", "the sending queue is full");
            return Err(refusal.about(self.limit as u64));
        }
        if self.index.contains_key(&(ticket.session, ticket.operation)) {
            let refusal =
                Refusal::new(ErrorCode::INVALID_STATE, "O2", "an operation of that id waits already");
            return Err(refusal.about(ticket.operation));
        }
        Ok(PushPlan { ticket: *ticket, due: due(ticket, now) })
    }

    /// Queues it.
    pub fn apply_push(&mut self, plan: PushPlan, item: T) {
        let PushPlan { ticket, due } = plan;
        self.arrivals = self.arrivals.saturating_add(1);
        self.insert(ticket, (due, self.arrivals), item);
    }

    fn insert(&mut self, ticket: Ticket, place: Place, item: T) {
        let lane = Lane::of(ticket.class);
        self.index.insert((ticket.session, ticket.operation), (lane, place));
        if let Some(deadline) = ticket.deadline {
            self.deadlines.insert((deadline, ticket.session, ticket.operation));
        }
        self.edit(ticket.session, lane, |line| {
            line.items.insert(place, (ticket, item));
        });
    }

    /// Changes a line, and keeps what is known of it in step.
    fn edit<R>(&mut self, session: u32, lane: Lane, change: impl FnOnce(&mut Line<T>) -> R) -> Option<R> {
        let lines = self.lines.entry(session).or_default();
        let line = lines.get_mut(lane.index())?;
        let ready = self.ready.get_mut(lane.index())?;
        let entry = |line: &Line<T>| {
            let (&(due, _), _) = line.items.first_key_value().filter(|_| !line.parked)?;
            Some((line.turn, due, session))
        };
        if let Some(entry) = entry(line) {
            ready.lines.remove(&entry);
        } else {
            // Who comes joins the next round: it has saved up none, and cannot pass those of this one by leaving
            // and coming back.
            line.turn = line.turn.max(ready.turn.saturating_add(1));
        }
        let result = change(line);
        ready.lines.extend(entry(line));
        if lines.iter().all(|line| line.items.is_empty()) {
            self.lines.remove(&session);
        }
        Some(result)
    }

    /// Takes what goes out next, of what `pass` lets go.
    pub fn pop(&mut self, mut pass: impl FnMut(&Ticket) -> Pass) -> Option<(Ticket, T)> {
        for lane in self.turns.order() {
            while let Some((session, place)) = self.first(lane) {
                let (ticket, _) = self.lines.get(&session)?.get(lane.index())?.items.get(&place)?;
                match pass(ticket) {
                    Pass::Go => {
                        let ready = &self.ready;
                        let is_ready =
                            |lane: Lane| ready.get(lane.index()).is_some_and(|r| !r.lines.is_empty());
                        self.turns.served(lane, is_ready);
                        return self.serve(lane, session, place);
                    }
                    Pass::NotSession => {
                        self.edit(session, lane, |line| line.parked = true);
                    }
                    Pass::NotLane => break,
                    Pass::Nothing => return None,
                }
            }
        }
        None
    }

    fn first(&self, lane: Lane) -> Option<(u32, Place)> {
        let &(_, _, session) = self.ready.get(lane.index())?.lines.first()?;
        let (&place, _) = self.lines.get(&session)?.get(lane.index())?.items.first_key_value()?;
        Some((session, place))
    }

    fn serve(&mut self, lane: Lane, session: u32, place: Place) -> Option<(Ticket, T)> {
        let turn = self.lines.get(&session)?.get(lane.index())?.turn;
        if let Some(ready) = self.ready.get_mut(lane.index()) {
            ready.turn = ready.turn.max(turn);
        }
        let taken = self.edit(session, lane, |line| {
            line.turn = line.turn.saturating_add(1);
            line.items.remove(&place)
        });
        let (ticket, item) = taken??;
        self.forget(&ticket);
        Some((ticket, item))
    }

    fn forget(&mut self, ticket: &Ticket) {
        self.index.remove(&(ticket.session, ticket.operation));
        if let Some(deadline) = ticket.deadline {
            self.deadlines.remove(&(deadline, ticket.session, ticket.operation));
        }
    }

    /// Asks a session again that had no credit: to be called when its credit or pressure changed.
    pub fn wake(&mut self, session: u32) {
        if !self.lines.contains_key(&session) {
            return;
        }
        for lane in Lane::ALL {
            self.edit(session, lane, |line| line.parked = false);
        }
    }

    /// Takes something out that is not to be sent.
    pub fn remove(&mut self, session: u32, operation: u64) -> Option<(Ticket, T)> {
        let &(lane, place) = self.index.get(&(session, operation))?;
        let (ticket, item) = self.edit(session, lane, |line| line.items.remove(&place))??;
        self.forget(&ticket);
        Some((ticket, item))
    }

    /// Any session of which something waits.
    pub fn any_session(&self) -> Option<u32> {
        self.index.first_key_value().map(|(&(session, _), _)| session)
    }

    /// The members of a group that wait in a session, by their ids (O11).
    pub fn group(&self, session: u32, group: u64) -> impl Iterator<Item = u64> {
        let waiting =
            self.index.range((session, 0)..=(session, u64::MAX)).map(|(&(_, operation), _)| operation);
        waiting.filter(move |&operation| {
            group != 0 && self.get(session, operation).is_some_and(|(ticket, _)| ticket.group == group)
        })
    }

    /// Takes everything of a session out.
    pub fn remove_session(&mut self, session: u32, mut each: impl FnMut(Ticket, T)) {
        while let Some(operation) = self.any(session) {
            let Some((ticket, item)) = self.remove(session, operation) else { return };
            each(ticket, item);
        }
    }

    fn any(&self, session: u32) -> Option<u64> {
        let (&(_, operation), _) = self.index.range((session, 0)..=(session, u64::MAX)).next()?;
        Some(operation)
    }

    /// Changes class, level and deadline of something that waits. It keeps its place in the order of arrival.
    pub fn reschedule(&mut self, ticket: &Ticket, now: Time) -> bool {
        let Some(&(_, (_, arrival))) = self.index.get(&(ticket.session, ticket.operation)) else {
            return false;
        };
        let Some((_, item)) = self.remove(ticket.session, ticket.operation) else { return false };
        self.insert(*ticket, (due(ticket, now), arrival), item);
        true
    }

    /// When to ask [`Queue::poll_expired`] next.
    pub fn next_timeout(&self) -> Option<Time> {
        self.deadlines.first().map(|&(deadline, _, _)| deadline)
    }

    /// Takes one out whose deadline passed while it waited.
    pub fn poll_expired(&mut self, now: Time) -> Option<(Ticket, T)> {
        let &(deadline, session, operation) = self.deadlines.first()?;
        if deadline > now { None } else { self.remove(session, operation) }
    }
}
