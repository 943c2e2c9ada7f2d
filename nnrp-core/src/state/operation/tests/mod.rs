//! Tests of operations: each rule, every state and message, a model, and hostile peers.

extern crate std;

mod hostile;
mod model;
mod rules;
mod walk;

use std::vec::Vec;

use super::*;
use crate::state::slab::NIL;
use crate::state::{Refusal, Time};
use crate::{DropReasonCode, ErrorCode, OperationState, StageCode};

const NOW: Time = Time(1000);

fn table() -> Operations {
    Operations::new(Limits::default())
}

fn wide(in_flight: u32) -> Operations {
    Operations::new(Limits { in_flight, ..Limits::default() })
}

/// A submit whose frame is its id.
fn submit(operation: u64) -> Submit {
    Submit { operation, frame: operation as u32, ..Submit::default() }
}

fn below(parent: u64, operation: u64) -> Submit {
    Submit { parent, ..submit(operation) }
}

fn member(group: u64, operation: u64) -> Submit {
    Submit { group, ..submit(operation) }
}

fn admit(operations: &mut Operations, submit: Submit) -> Key {
    let plan = operations.check_submit(&submit, NOW).unwrap();
    operations.apply_submit(plan, ())
}

fn happen(operations: &mut Operations, operation: u64, event: Event) -> Applied {
    let plan = operations.check_event(Named::operation(operation), event, NOW).unwrap();
    operations.apply_event(plan)
}

fn progress(sequence: u64, stage: StageCode) -> Event {
    Event::Progress { sequence, stage }
}

fn run(operations: &mut Operations, operation: u64) {
    happen(operations, operation, progress(1, StageCode::EXECUTING));
}

fn complete(operations: &mut Operations, operation: u64) -> Ended {
    match happen(operations, operation, Event::Result { partial: false }) {
        Applied::Ended(ended) => ended,
        other => panic!("{other:?}"),
    }
}

fn cancel(operations: &mut Operations, reach: Reach, manner: Manner) -> Vec<u64> {
    let plan = operations.check_cancel(reach, manner, Cause::Cancel).unwrap();
    let mut told = Vec::new();
    operations.apply_cancel(plan, |cancelled| told.push(cancelled));
    let name = |cancelled| match cancelled {
        Cancelled::Ended(ended) => {
            assert_eq!((ended.state, ended.cause), (OperationState::Cancelled, Cause::Cancel));
            ended.operation
        }
        Cancelled::Asked(key) => operations.get(key).unwrap().id(),
    };
    let mut told: Vec<u64> = told.into_iter().map(name).collect();
    told.sort_unstable();
    told
}

fn abort(operations: &mut Operations, reach: Reach) -> Vec<u64> {
    cancel(operations, reach, Manner::End)
}

fn ask(operations: &mut Operations, reach: Reach) -> Vec<u64> {
    cancel(operations, reach, Manner::Ask)
}

fn ids(operations: &Operations) -> Vec<u64> {
    operations.iter().map(|operation| operation.id()).collect()
}

#[track_caller]
fn refused<P: core::fmt::Debug>(result: Result<P, Refusal>, code: ErrorCode, rule: &str) {
    let refusal = result.unwrap_err();
    assert_eq!((refusal.code, refusal.rule), (code, rule), "{refusal}");
}

impl<T> Operations<T> {
    /// Everything that must hold between two calls.
    fn check_invariants(&self) {
        let live = self.len();
        assert!(
            self.slots.len() <= (2 * live).max(1) - usize::from(live == 0),
            "an ended one kept its place"
        );
        assert_eq!(self.iter().count(), live);
        assert!(self.timers.len() <= live);
        self.timers.check(&self.slots);
        for operation in self.iter() {
            assert!(!operation.state().is_terminal());
            assert_eq!(self.by_frame(operation.frame()).map(|o| o.id()), Some(operation.id()));
            let key = self.key(operation.id()).unwrap();
            assert_eq!(operation.timer != NIL, operation.ends_at().is_some());
            let mut slot = key.slot;
            let mut depth = 0;
            while slot != NIL {
                let node = self.slots.get(slot).expect("a place above");
                if node.live.is_none() {
                    let first = self.slots.get(node.child).expect("an empty place has children");
                    assert_ne!(first.siblings.next, NIL, "an empty place has two children");
                }
                slot = node.parent;
                depth += 1;
                assert!(depth <= 2 * live);
            }
        }
        let mut slot = self.first();
        let (mut count, mut asked) = (0, false);
        while slot != NIL {
            let operation = self.at(slot).unwrap();
            assert!(!asked || operation.is_asked_to_end(), "those that were asked stand last");
            asked = operation.is_asked_to_end();
            slot = super::list::List::Session.next(&self.slots, slot);
            count += 1;
        }
        assert_eq!(count, live);
    }
}
