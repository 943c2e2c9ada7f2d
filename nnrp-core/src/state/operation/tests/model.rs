//! Random actions, against a model that keeps everything and looks at all of it.

use std::collections::BTreeSet;
use std::vec::Vec;

use super::*;
use crate::SchedulingFlags;
use crate::state::random::{Random, steps};

#[derive(Clone, Debug)]
struct Op {
    id: u64,
    frame: u32,
    /// Index of its parent, which never changes.
    parent: Option<usize>,
    group: u64,
    state: OperationState,
    asked: bool,
    /// Whether all below it is asked too.
    asked_below: bool,
    progress: Option<u64>,
    result: Option<u64>,
    due: Option<(u64, bool)>,
    expiry: Option<(u64, bool)>,
}

impl Op {
    fn passed(&self, now: u64) -> bool {
        [self.due, self.expiry].into_iter().flatten().any(|(at, _)| at <= now)
    }

    fn ends_at(&self) -> Option<u64> {
        let queued = self.state == OperationState::Accepted;
        [self.due, self.expiry]
            .into_iter()
            .flatten()
            .filter(|(_, discard)| !queued || *discard)
            .map(|(at, _)| at)
            .min()
    }
}

#[derive(Default)]
struct Model {
    all: Vec<Op>,
    /// Indexes in the order in which they ended.
    ended: Vec<usize>,
}

enum Seen {
    Live(usize),
    Ended,
    Wrong,
}

impl Model {
    fn live(&self) -> impl Iterator<Item = usize> {
        (0..self.all.len()).filter(|&n| !self.all[n].state.is_terminal())
    }

    fn count(&self) -> usize {
        self.live().count()
    }

    fn find(&self, named: Named) -> Seen {
        let Named { operation, frame } = named;
        let by_id = self.live().find(|&n| self.all[n].id == operation);
        let by_frame = self.live().find(|&n| self.all[n].frame == frame);
        match (operation, frame) {
            (0, 0) => Seen::Wrong,
            (0, _) => match by_frame {
                Some(n) => Seen::Live(n),
                None if self.all.iter().any(|op| op.frame == frame) => Seen::Ended,
                None => Seen::Wrong,
            },
            _ => match by_id {
                Some(n) if frame == 0 || self.all[n].frame == frame => Seen::Live(n),
                // The pair itself, whatever has its id or its frame now.
                _ => {
                    let is_it = |n: &&usize| {
                        self.all[**n].id == operation && (frame == 0 || self.all[**n].frame == frame)
                    };
                    if self.ended.iter().any(|n| is_it(&n)) { Seen::Ended } else { Seen::Wrong }
                }
            },
        }
    }

    fn is_below(&self, mut n: usize, root: usize) -> bool {
        loop {
            if n == root {
                return true;
            }
            match self.all[n].parent {
                Some(parent) => n = parent,
                None => return false,
            }
        }
    }

    fn end(&mut self, n: usize, state: OperationState) {
        assert!(!self.all[n].state.is_terminal());
        self.all[n].state = state;
        self.ended.push(n);
    }
}

#[test]
fn operations_match_a_model() {
    for seed in 1..=4 {
        walk(seed, steps(12_000));
    }
}

fn walk(seed: u64, steps: usize) {
    let mut random = Random::new(seed);
    let limits = Limits { in_flight: 40, early_deadlines: 4, remembered: u16::MAX };
    let mut operations: Operations = Operations::new(limits);
    let mut model = Model::default();
    let mut early: Vec<((u64, u32), (u64, bool))> = Vec::new();
    let mut now = 1000;
    for step in 0..steps {
        if step % 2000 == 1999 {
            // A new session, so that the model stays small.
            let expected: BTreeSet<u64> = model.live().map(|n| model.all[n].id).collect();
            assert_eq!(abort(&mut operations, Reach::Session), expected.into_iter().collect::<Vec<_>>());
            assert_eq!((operations.len(), operations.slots.len(), operations.timers.len()), (0, 0, 0));
            operations = Operations::new(limits);
            model = Model::default();
            early.clear();
        }
        now += if random.chance(50) { random.below(500) } else { random.below(5) };
        let id = random.below(60);
        let frame = if random.chance(8) { random.below(60) as u32 } else { id as u32 };
        let named = match random.below(4) {
            0 => Named::frame(frame),
            1 => Named::operation(id),
            _ => Named::pair(id, frame),
        };
        match random.below(10) {
            0..3 => {
                let (parent, group) = (random.below(60), random.below(4));
                let latency = if random.chance(4) { random.below(300) as u16 } else { 0 };
                let submit = Submit {
                    operation: id,
                    frame,
                    parent,
                    group,
                    latency_budget_ms: latency,
                    ..Submit::default()
                };
                let taken = model.live().any(|n| model.all[n].id == id || model.all[n].frame == frame);
                let fits = id != 0 && frame != 0 && parent != id && !taken && model.count() < 40;
                let plan = operations.check_submit(&submit, Time(now));
                assert_eq!(plan.is_ok(), fits, "{plan:?}");
                let Ok(plan) = plan else { continue };
                let above = model.live().find(|&n| model.all[n].id == parent);
                let asked = above.is_some_and(|n| model.all[n].asked_below);
                assert_eq!(plan.is_asked_to_end(), asked);
                let kept = early.iter().position(|(pair, _)| *pair == (id, frame));
                let due = match kept.map(|n| early.swap_remove(n)) {
                    Some((_, due)) => Some(due),
                    None => (latency != 0).then(|| (now + latency as u64, false)),
                };
                operations.apply_submit(plan, ());
                model.all.push(Op {
                    id,
                    frame,
                    parent: above,
                    group,
                    state: OperationState::Accepted,
                    asked,
                    asked_below: asked,
                    progress: None,
                    result: None,
                    due,
                    expiry: None,
                });
            }
            3..6 => {
                let sequence = random.below(12);
                let event = match random.below(8) {
                    0 | 1 => progress(sequence, StageCode::ALL[random.below(12) as usize]),
                    2 | 3 => Event::Partial { sequence, last: random.chance(4) },
                    4 => Event::Result { partial: random.chance(2) },
                    5 => Event::DropReason {
                        reason: DropReasonCode::ALL[random.below(10) as usize],
                        last: random.chance(3),
                    },
                    6 => Event::Error { code: ErrorCode::ALL[random.below(12) as usize] },
                    _ => Event::Other,
                };
                let plan = operations.check_event(named, event, Time(now));
                let n = match model.find(named) {
                    Seen::Wrong => {
                        assert!(plan.is_err());
                        continue;
                    }
                    Seen::Ended => {
                        let plan = plan.unwrap();
                        assert!(matches!(plan.verdict(), Verdict::Late(_)));
                        assert_eq!(operations.apply_event(plan), Applied::Nothing);
                        continue;
                    }
                    Seen::Live(n) => n,
                };
                let plan = plan.unwrap();
                let verdict = plan.verdict();
                let applied = operations.apply_event(plan);
                let target = event.target();
                let op = &mut model.all[n];
                if op.passed(now)
                    && !target.is_some_and(|to| to.is_terminal() && to != OperationState::Completed)
                {
                    assert_eq!(verdict, Verdict::Expires);
                    assert!(matches!(&applied, Applied::Ended(ended) if ended.cause == Cause::Time));
                    model.end(n, OperationState::Failed);
                    continue;
                }
                let last = match event {
                    Event::Progress { .. } => &mut op.progress,
                    Event::Partial { .. } => &mut op.result,
                    _ => &mut None,
                };
                let counts = matches!(event, Event::Progress { .. } | Event::Partial { .. });
                if counts && last.is_some_and(|last| sequence <= last) {
                    assert!(matches!(verdict, Verdict::Old { .. }));
                    assert_eq!(applied, Applied::Nothing);
                    continue;
                }
                *last = Some(sequence);
                match target {
                    Some(to) if to.is_terminal() => {
                        assert!(
                            matches!(&applied, Applied::Ended(ended) if ended.state == to && ended.operation == op.id)
                        );
                        model.end(n, to);
                    }
                    target => {
                        op.state = target.unwrap_or(op.state);
                        assert_eq!(applied, Applied::Live(op.state));
                    }
                }
            }
            6 => {
                let reach = match random.below(8) {
                    0 if random.chance(4) => Reach::Session,
                    0..3 => Reach::Subtree(named),
                    3 => Reach::Group(named),
                    _ => Reach::Operation(named),
                };
                let manner = if random.chance(2) { Manner::Ask } else { Manner::End };
                let plan = operations.check_cancel(reach, manner, Cause::Cancel);
                let seen = if reach == Reach::Session { Seen::Live(0) } else { model.find(named) };
                let root = match seen {
                    Seen::Wrong => {
                        assert!(plan.is_err());
                        continue;
                    }
                    Seen::Ended => {
                        assert!(plan.unwrap().late().is_some());
                        continue;
                    }
                    Seen::Live(n) => n,
                };
                let within = |n: &usize| match reach {
                    Reach::Session => true,
                    Reach::Subtree(_) => model.is_below(*n, root),
                    Reach::Group(_) if model.all[root].group != 0 => {
                        model.all[*n].group == model.all[root].group
                    }
                    _ => *n == root,
                };
                let hit: Vec<usize> = model.live().filter(within).collect();
                let told = cancel(&mut operations, reach, manner);
                let mut expected = Vec::new();
                for n in hit {
                    if manner == Manner::End {
                        expected.push(model.all[n].id);
                        model.end(n, OperationState::Cancelled);
                        continue;
                    }
                    if !model.all[n].asked {
                        expected.push(model.all[n].id);
                    }
                    model.all[n].asked = true;
                    model.all[n].asked_below |= matches!(reach, Reach::Subtree(_));
                }
                expected.sort_unstable();
                assert_eq!(told, expected, "{reach:?} {manner:?}");
            }
            7 | 8 => {
                let at = now + random.below(400);
                let at = if random.chance(10) { now - random.below(100) } else { at };
                let keeps = random.chance(2);
                let flags =
                    if keeps { SchedulingFlags::DISCARD_STALE_WORK } else { SchedulingFlags::empty() };
                let change = match random.below(3) {
                    0 => Change::Deadline { at: Time(at), flags },
                    1 => Change::ExpireAt { at: Time(at), flags },
                    _ => Change::Priority { class: 1, delta: 1 },
                };
                let plan = operations.check_change(named, change, Time(now));
                match model.find(named) {
                    Seen::Ended => assert!(plan.unwrap().late().is_some()),
                    Seen::Live(n) => {
                        let ended = operations.apply_change(plan.unwrap());
                        assert_eq!(ended.is_some(), model.all[n].passed(now));
                        match change {
                            _ if ended.is_some() => model.end(n, OperationState::Failed),
                            Change::Deadline { .. } => model.all[n].due = Some((at, keeps)),
                            Change::ExpireAt { .. } => model.all[n].expiry = Some((at, keeps)),
                            Change::Priority { .. } => {}
                        }
                    }
                    Seen::Wrong => {
                        let Named { operation, frame } = named;
                        let free = operation != 0
                            && frame != 0
                            && !model
                                .live()
                                .any(|n| model.all[n].id == operation || model.all[n].frame == frame);
                        let known = early.iter().position(|(pair, _)| *pair == (operation, frame));
                        let fits = matches!(change, Change::Deadline { .. })
                            && free
                            && (early.len() < 4 || known.is_some());
                        assert_eq!(plan.is_ok(), fits);
                        if let Ok(plan) = plan {
                            operations.apply_change(plan);
                            if let Some(n) = known {
                                early.swap_remove(n);
                            }
                            early.push(((operation, frame), (at, keeps)));
                        }
                    }
                }
            }
            _ => {
                assert_eq!(
                    operations.next_timeout().map(|at| at.0),
                    model.live().filter_map(|n| model.all[n].ends_at()).min()
                );
                let mut ended = BTreeSet::new();
                while let Some(end) = operations.poll_expired(Time(now)) {
                    assert_eq!((end.state, end.cause), (OperationState::Failed, Cause::Time));
                    ended.insert(end.operation);
                }
                let over: Vec<usize> =
                    model.live().filter(|&n| model.all[n].ends_at().is_some_and(|at| at <= now)).collect();
                assert_eq!(ended, over.iter().map(|&n| model.all[n].id).collect());
                for n in over {
                    model.end(n, OperationState::Failed);
                }
            }
        }
        assert_eq!(operations.len(), model.count());
        assert_eq!(operations.early_deadlines(), early.len());
        operations.check_invariants();
        for n in model.live() {
            let op = &model.all[n];
            let live = operations.by_id(op.id).unwrap();
            assert_eq!((live.state(), live.frame(), live.group()), (op.state, op.frame, op.group));
            assert_eq!(live.is_asked_to_end(), op.asked);
            assert_eq!((live.progress_sequence(), live.result_sequence()), (op.progress, op.result));
            assert_eq!(live.due().map(|at| at.0), op.due.map(|(at, _)| at));
            assert_eq!(live.expires().map(|at| at.0), op.expiry.map(|(at, _)| at));
        }
    }
}
