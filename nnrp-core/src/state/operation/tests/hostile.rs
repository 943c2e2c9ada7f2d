//! What a peer may try.

use super::*;
use crate::{Scheduling, SchedulingFlags};

/// A million operations, each below the one before.
#[test]
fn a_chain_of_a_million_parents_needs_no_stack() {
    const DEPTH: u64 = 1_000_000;
    let mut operations = wide(u32::MAX);
    for operation in 1..=DEPTH {
        admit(&mut operations, below(operation - 1, operation));
    }
    for manner in [Manner::Ask, Manner::End] {
        let plan =
            operations.check_cancel(Reach::Subtree(Named::operation(1)), manner, Cause::Cancel).unwrap();
        let mut told = 0;
        operations.apply_cancel(plan, |_| told += 1);
        assert_eq!(told, DEPTH);
        if manner == Manner::Ask {
            let plan =
                operations.check_cancel(Reach::Subtree(Named::operation(1)), manner, Cause::Cancel).unwrap();
            operations.apply_cancel(plan, |cancelled| panic!("{cancelled:?}"));
        } else {
            assert_eq!((operations.len(), operations.slots.len()), (0, 0));
        }
    }
}

/// A chain whose middle ends again and again keeps no more places than twice what lives.
#[test]
fn ended_parents_leave_nothing_behind() {
    let mut operations = wide(u32::MAX);
    admit(&mut operations, submit(1));
    for operation in 2..=10_000 {
        admit(&mut operations, below(operation - 1, operation));
        if operation > 2 {
            complete(&mut operations, operation - 1);
        }
        assert!(operations.slots.len() <= 4, "{}", operations.slots.len());
    }
    assert_eq!(abort(&mut operations, Reach::Subtree(Named::operation(1))), [1, 10_000]);
    // A comb: every parent ends while its two children live.
    admit(&mut operations, submit(1));
    for n in 1..1000u64 {
        admit(&mut operations, below(2 * n - 1, 2 * n));
        admit(&mut operations, below(2 * n - 1, 2 * n + 1));
        complete(&mut operations, 2 * n - 1);
    }
    operations.check_invariants();
    abort(&mut operations, Reach::Session);
    assert_eq!(operations.slots.len(), 0);
}

/// One operation with many children ends like any other.
#[test]
fn the_end_of_a_parent_touches_none_of_its_children() {
    let mut operations = wide(u32::MAX);
    admit(&mut operations, submit(1));
    for operation in 2..=100_001 {
        admit(&mut operations, below(1, operation));
    }
    complete(&mut operations, 1);
    assert_eq!(operations.slots.len(), 100_001);
    for operation in 2..=100_000 {
        complete(&mut operations, operation);
    }
    assert_eq!(operations.slots.len(), 1);
    operations.check_invariants();
}

/// Asking a crowd to end again and again while one joins each time costs that one.
#[test]
fn asking_again_costs_only_those_that_are_new() {
    let mut operations = wide(u32::MAX);
    for operation in 1..=50_000 {
        admit(&mut operations, member(9, operation));
    }
    let mut told = 0;
    for operation in 50_001..=60_000 {
        admit(&mut operations, member(9, operation));
        let reach =
            if operation % 2 == 0 { Reach::Session } else { Reach::Group(Named::operation(operation)) };
        let plan = operations.check_cancel(reach, Manner::Ask, Cause::Cancel).unwrap();
        operations.apply_cancel(plan, |_| told += 1);
    }
    assert_eq!(told, 60_000);
}

#[test]
fn a_flood_of_submits_and_ends_keeps_memory() {
    let mut operations = table();
    for operation in 1..=100_000 {
        admit(&mut operations, submit(operation));
        complete(&mut operations, operation);
    }
    assert_eq!(operations.slots.len(), 0);
    assert_eq!(operations.recent.len(), Limits::default().remembered as usize);
    // Those long gone are unknown.
    refused(operations.find(Named::operation(1)), ErrorCode::INVALID_STATE, "O4");
    assert!(matches!(operations.find(Named::operation(100_000)), Ok(Found::Ended(_))));
}

#[test]
fn a_flood_of_early_deadlines_and_of_unknown_names_keeps_memory() {
    let mut operations = table();
    for operation in 1..=100_000u64 {
        let change = Change::Deadline { at: Time(5000), flags: SchedulingFlags::empty() };
        let plan = operations.check_change(Named::pair(operation, operation as u32), change, NOW);
        if let Ok(plan) = plan {
            operations.apply_change(plan);
        }
        assert!(operations.check_event(Named::operation(operation), Event::Other, NOW).is_err());
    }
    assert_eq!(operations.early_deadlines(), Limits::default().early_deadlines as usize);
}

#[test]
fn the_highest_numbers_are_numbers_like_others() {
    let mut operations = table();
    let most = Submit {
        operation: u64::MAX,
        frame: u32::MAX,
        parent: u64::MAX - 1,
        group: u64::MAX,
        class: u16::MAX,
        latency_budget_ms: u16::MAX,
        default_deadline_ms: u32::MAX,
    };
    let plan = operations.check_submit(&most, Time(u64::MAX)).unwrap();
    let key = operations.apply_submit(plan, ());
    // Its time would be later than there is, so it has none.
    assert_eq!(operations.get(key).unwrap().due(), None);
    let last = Event::Partial { sequence: u64::MAX, last: true };
    happen(&mut operations, u64::MAX, last);
    assert_eq!(operations.next_result(key), None);
    let scheduling =
        Scheduling { deadline_unix_ms: u64::MAX, priority_delta: i16::MIN, ..Default::default() };
    for change in [Change::priority(&scheduling), Change::priority(&scheduling)] {
        let plan = operations.check_change(Named::operation(u64::MAX), change, NOW).unwrap();
        operations.apply_change(plan);
    }
    assert_eq!(operations.get(key).unwrap().level(), i16::MIN);
    let deadline = Change::deadline(&scheduling, UnixOrigin(1));
    let plan = operations.check_change(Named::operation(u64::MAX), deadline, NOW).unwrap();
    operations.apply_change(plan);
    assert_eq!(operations.next_timeout(), Some(Time(u64::MAX - 1)));
    assert!(operations.poll_expired(Time(u64::MAX - 2)).is_none());
    assert!(operations.poll_expired(Time(u64::MAX)).is_some());
}

/// A plan that was made too early does nothing to whoever came into the same slot.
#[test]
fn a_plan_of_the_past_does_nothing() {
    let mut operations = table();
    admit(&mut operations, submit(1));
    let event = operations.check_event(Named::operation(1), Event::Dropped, NOW).unwrap();
    let cancel =
        operations.check_cancel(Reach::Subtree(Named::operation(1)), Manner::End, Cause::Cancel).unwrap();
    let change = Change::Priority { class: 3, delta: 3 };
    let change = operations.check_change(Named::operation(1), change, NOW).unwrap();
    complete(&mut operations, 1);
    let key = admit(&mut operations, submit(2));
    assert_eq!(operations.apply_event(event), Applied::Nothing);
    operations.apply_cancel(cancel, |cancelled| panic!("{cancelled:?}"));
    assert_eq!(operations.apply_change(change), None);
    assert_eq!(operations.get(key).unwrap().class(), 0);
}
