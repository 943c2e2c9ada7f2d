use std::string::ToString;
use std::vec;
use std::vec::Vec;

use super::*;
use crate::{
    CancelScope, CancelScopeExtension, ControlRequest, PartialResult, PartialResultFlags, ResultClass,
    ResultDrop, ResultDropFlags, ResultFlags, ResultPush, Scheduling, SchedulingFlags, Supersede,
    SupersedeFlags,
};

const INVALID: ErrorCode = ErrorCode::INVALID_STATE;

fn deadline(at: u64) -> Change {
    Change::Deadline { at: Time(at), flags: SchedulingFlags::empty() }
}

fn expire_at(at: u64) -> Change {
    Change::ExpireAt { at: Time(at), flags: SchedulingFlags::empty() }
}

fn discard(at: u64) -> Change {
    Change::Deadline { at: Time(at), flags: SchedulingFlags::DISCARD_STALE_WORK }
}

fn change(operations: &mut Operations, named: Named, change: Change) {
    let plan = operations.check_change(named, change, NOW).unwrap();
    assert_eq!(operations.apply_change(plan), None);
}

#[test]
fn o2_ids_are_unique_while_live() {
    let mut operations = table();
    admit(&mut operations, submit(7));
    let again = Submit { frame: 8, ..submit(7) };
    refused(operations.check_submit(&again, NOW), INVALID, "O2");
    complete(&mut operations, 7);
    assert!(operations.check_submit(&again, NOW).is_ok());
}

#[test]
fn o2_an_ended_or_unknown_parent_makes_a_root_and_is_reported() {
    let mut operations = table();
    admit(&mut operations, submit(1));
    admit(&mut operations, submit(2));
    complete(&mut operations, 2);
    for (parent, standing) in [(0, Parent::None), (1, Parent::Live), (2, Parent::Ended), (3, Parent::Unknown)]
    {
        let plan = operations.check_submit(&below(parent, 9), NOW).unwrap();
        assert_eq!(plan.parent(), standing);
    }
    admit(&mut operations, below(2, 4));
    admit(&mut operations, below(3, 5));
    assert_eq!(abort(&mut operations, Reach::Subtree(Named::operation(1))), [1]);
    assert_eq!(ids(&operations), [4, 5]);
}

#[test]
fn o2_no_operation_is_its_own_ancestor() {
    let operations = table();
    refused(operations.check_submit(&below(7, 7), NOW), INVALID, "O2");
}

#[test]
fn o2_a_parent_that_comes_back_is_another_one() {
    let mut operations = table();
    admit(&mut operations, submit(1));
    admit(&mut operations, below(1, 2));
    complete(&mut operations, 1);
    admit(&mut operations, Submit { frame: 10, ..submit(1) });
    assert_eq!(abort(&mut operations, Reach::Subtree(Named::operation(1))), [1]);
    assert_eq!(ids(&operations), [2]);
}

/// A small forest: 1 over 2 and 3, 2 over 4 and 5, and 6 alone. 3, 5 and 6 are of group 9.
fn forest() -> Operations {
    let mut operations = table();
    for (parent, group, operation) in [(0, 0, 1), (1, 0, 2), (1, 9, 3), (2, 0, 4), (2, 9, 5), (0, 9, 6)] {
        admit(&mut operations, Submit { parent, group, ..submit(operation) });
    }
    operations
}

#[test]
fn o3_scopes_reach_as_far_as_they_say() {
    let reaches = [
        (Reach::Operation(Named::operation(2)), vec![2]),
        (Reach::Subtree(Named::operation(2)), vec![2, 4, 5]),
        (Reach::Subtree(Named::operation(1)), vec![1, 2, 3, 4, 5]),
        (Reach::Group(Named::operation(5)), vec![3, 5, 6]),
        (Reach::Group(Named::operation(4)), vec![4]),
        (Reach::Session, vec![1, 2, 3, 4, 5, 6]),
    ];
    for (reach, expected) in reaches {
        for manner in [Manner::Ask, Manner::End] {
            let mut operations = forest();
            assert_eq!(cancel(&mut operations, reach, manner), expected, "{reach:?} {manner:?}");
            operations.check_invariants();
            let left = if manner == Manner::Ask { 6 } else { 6 - expected.len() };
            assert_eq!(operations.len(), left);
        }
    }
}

#[test]
fn o3_only_what_is_not_terminal_ends() {
    let mut operations = forest();
    complete(&mut operations, 4);
    assert_eq!(abort(&mut operations, Reach::Subtree(Named::operation(2))), [2, 5]);
}

#[test]
fn o3_descendants_of_an_ended_operation_are_still_of_the_subtree() {
    let mut operations = forest();
    complete(&mut operations, 2);
    operations.check_invariants();
    assert_eq!(abort(&mut operations, Reach::Subtree(Named::operation(1))), [1, 3, 4, 5]);
    assert_eq!(operations.slots.len(), 1);
}

#[test]
fn o3_cancel_asks_once_and_abort_ends_at_once() {
    let mut operations = forest();
    assert_eq!(ask(&mut operations, Reach::Operation(Named::operation(5))), [5]);
    assert!(ask(&mut operations, Reach::Operation(Named::operation(5))).is_empty());
    assert_eq!(ask(&mut operations, Reach::Subtree(Named::operation(2))), [2, 4]);
    assert_eq!(ask(&mut operations, Reach::Session), [1, 3, 6]);
    assert!(ask(&mut operations, Reach::Session).is_empty());
    assert_eq!(operations.len(), 6);
    assert!(operations.iter().all(|operation| operation.is_asked_to_end()));
    // What was asked may still finish.
    assert_eq!(complete(&mut operations, 5).state, OperationState::Completed);
    assert_eq!(abort(&mut operations, Reach::Session), [1, 2, 3, 4, 6]);
}

#[test]
fn o3_a_subtree_that_was_asked_asks_those_that_join_it() {
    let mut operations = forest();
    ask(&mut operations, Reach::Subtree(Named::operation(2)));
    assert!(operations.check_submit(&below(4, 7), NOW).unwrap().is_asked_to_end());
    assert!(!operations.check_submit(&below(3, 7), NOW).unwrap().is_asked_to_end());
    admit(&mut operations, below(4, 7));
    admit(&mut operations, below(7, 8));
    assert!(operations.by_id(8).unwrap().is_asked_to_end());
    operations.check_invariants();
    // A group or session that was asked takes new ones that are not.
    ask(&mut operations, Reach::Session);
    admit(&mut operations, member(9, 10));
    assert_eq!(ask(&mut operations, Reach::Group(Named::operation(10))), [10]);
}

#[test]
fn o3_x3_a_frame_cancel_reaches_what_its_extension_says() {
    let extension = |cancel_scope, operation_id| Some(CancelScopeExtension { cancel_scope, operation_id });
    let reach = |extension: Option<CancelScopeExtension>| Reach::frame_cancel(5, extension.as_ref());
    assert_eq!(reach(None), Reach::Operation(Named::frame(5)));
    assert_eq!(reach(extension(CancelScope::Operation, 5)), Reach::Operation(Named::pair(5, 5)));
    assert_eq!(reach(extension(CancelScope::Subtree, 5)), Reach::Subtree(Named::pair(5, 5)));
    assert_eq!(reach(extension(CancelScope::Group, 5)), Reach::Group(Named::pair(5, 5)));
    assert_eq!(reach(extension(CancelScope::Session, 0)), Reach::Session);
    let control = |operation_id| Reach::control(&ControlRequest { operation_id, ..Default::default() }, 0);
    assert_eq!(control(3), Reach::Operation(Named::operation(3)));
    assert_eq!(control(0), Reach::Session);
}

#[test]
fn o4_ids_and_frames_are_paired() {
    let mut operations = table();
    admit(&mut operations, Submit { frame: 70, ..submit(7) });
    admit(&mut operations, Submit { frame: 80, ..submit(8) });
    for named in [Named::operation(7), Named::frame(70), Named::pair(7, 70)] {
        assert_eq!(operations.find(named), Ok(Found::Live(operations.key(7).unwrap())));
    }
    for named in
        [Named::pair(7, 80), Named::pair(7, 71), Named::pair(9, 70), Named::operation(9), Named::frame(9)]
    {
        refused(operations.find(named), INVALID, "O4");
        refused(operations.check_event(named, Event::Other, NOW), INVALID, "O4");
        refused(operations.check_cancel(Reach::Operation(named), Manner::End, Cause::Cancel), INVALID, "O4");
        refused(operations.check_change(named, expire_at(5000), NOW), INVALID, "O4");
    }
    refused(operations.find(Named::default()), INVALID, "O4");
}

#[test]
fn o4_a_frame_is_in_one_live_pair() {
    let mut operations = table();
    admit(&mut operations, submit(7));
    let other = Submit { frame: 7, ..submit(8) };
    refused(operations.check_submit(&other, NOW), INVALID, "O4");
    complete(&mut operations, 7);
    admit(&mut operations, other);
    // The frame now means the live one, and the old pair still means the old one.
    assert_eq!(operations.by_frame(7).unwrap().id(), 8);
    let old = operations.find(Named::pair(7, 7)).unwrap();
    assert!(matches!(old, Found::Ended(ended) if (ended.operation, ended.frame) == (7, 7)), "{old:?}");
    refused(operations.find(Named::pair(8, 8)), INVALID, "O4");
    refused(operations.check_submit(&Submit { frame: 0, ..submit(9) }, NOW), INVALID, "O4");
    refused(operations.check_submit(&Submit { frame: 9, ..submit(0) }, NOW), INVALID, "O4");
}

#[test]
fn o4_what_comes_late_for_half_a_pair_is_about_the_last_that_had_it() {
    let mut operations = table();
    for (operation, frame) in [(5, 1), (6, 1), (5, 2)] {
        admit(&mut operations, Submit { frame, ..submit(operation) });
        complete(&mut operations, operation);
    }
    for (named, pair) in [(Named::frame(1), (6, 1)), (Named::operation(5), (5, 2))] {
        let found = operations.find(named).unwrap();
        assert!(matches!(found, Found::Ended(ended) if (ended.operation, ended.frame) == pair), "{found:?}");
    }
}

#[test]
fn o4_cancelling_an_ended_operation_is_ignored() {
    let mut operations = table();
    admit(&mut operations, submit(7));
    complete(&mut operations, 7);
    for reach in [Reach::Operation, Reach::Subtree, Reach::Group] {
        let plan = operations.check_cancel(reach(Named::operation(7)), Manner::End, Cause::Cancel).unwrap();
        assert_eq!(plan.late().unwrap().operation, 7);
        operations.apply_cancel(plan, |cancelled| panic!("{cancelled:?}"));
    }
    refused(operations.find(Named::pair(7, 8)), INVALID, "O4");
}

#[test]
fn o5_every_operation_ends_once_and_its_outcome_is_given_out_once() {
    let mut operations = table();
    let mut outcomes = Outcomes::new(2);
    for operation in [1, 2] {
        outcomes.check_submit(operations.len()).unwrap();
        admit(&mut operations, submit(operation));
    }
    let refusal = outcomes.check_submit(operations.len()).unwrap_err();
    assert_eq!((refusal.code, refusal.rule), (ErrorCode::LIMIT_EXCEEDED, "O5"));
    outcomes.push(complete(&mut operations, 1));
    // A second end of the same operation is late, and is no outcome.
    for event in [Event::Result { partial: false }, Event::Dropped, Event::Error { code: INVALID }] {
        assert_eq!(happen(&mut operations, 1, event), Applied::Nothing);
    }
    outcomes.push(complete(&mut operations, 2));
    assert!(outcomes.check_submit(operations.len()).is_err(), "not before the application took them");
    let mut kept = Vec::new();
    assert_eq!(outcomes.poll_into(|ended| kept.push(ended.order)).map(|ended| ended.operation), Some(1));
    assert!(outcomes.check_submit(operations.len()).is_ok());
    assert_eq!(outcomes.poll_into(|ended| kept.push(ended.order)).map(|ended| ended.operation), Some(2));
    assert_eq!(outcomes.poll_into(|ended| kept.push(ended.order)), None);
    assert_eq!(kept, [1, 2]);
}

#[test]
fn o5_what_ended_frees_what_it_held() {
    let mut operations = forest();
    change(&mut operations, Named::operation(1), deadline(9000));
    abort(&mut operations, Reach::Session);
    assert!(operations.is_empty() && operations.next_timeout().is_none());
    assert_eq!(operations.slots.len(), 0);
    assert_eq!(operations.group(9).count(), 0);
}

#[test]
fn o6_sequences_ascend_and_an_old_one_is_ignored_and_reported() {
    let mut operations = table();
    let key = admit(&mut operations, submit(7));
    assert_eq!((operations.next_progress(key), operations.next_result(key)), (Some(1), Some(1)));
    happen(&mut operations, 7, progress(5, StageCode::EXECUTING));
    for sequence in [5, 4, 0] {
        let event = progress(sequence, StageCode::WAITING_DEPENDENCY);
        let plan = operations.check_event(Named::operation(7), event, NOW).unwrap();
        assert_eq!(plan.verdict(), Verdict::Old { last: 5 });
        assert_eq!(operations.apply_event(plan), Applied::Nothing);
        assert_eq!(operations.get(key).unwrap().state(), OperationState::Running);
    }
    // Results count for themselves.
    happen(&mut operations, 7, Event::Partial { sequence: 2, last: false });
    let plan =
        operations.check_event(Named::operation(7), Event::Partial { sequence: 2, last: true }, NOW).unwrap();
    assert_eq!(plan.verdict(), Verdict::Old { last: 2 });
    // A drop may name an earlier result.
    let drop = Event::DropReason { reason: DropReasonCode::BACKPRESSURE, last: false };
    assert_eq!(happen(&mut operations, 7, drop), Applied::Live(OperationState::Partial));
    assert_eq!((operations.next_progress(key), operations.next_result(key)), (Some(6), Some(3)));
}

#[test]
fn o6_sequence_0_may_be_the_first_and_the_highest_is_the_last() {
    let mut operations = table();
    let key = admit(&mut operations, submit(7));
    assert_eq!(
        happen(&mut operations, 7, progress(0, StageCode::QUEUED)),
        Applied::Live(OperationState::Accepted)
    );
    assert_eq!(happen(&mut operations, 7, progress(0, StageCode::EXECUTING)), Applied::Nothing);
    happen(&mut operations, 7, progress(u64::MAX, StageCode::EXECUTING));
    assert_eq!(operations.next_progress(key), None);
    assert_eq!(happen(&mut operations, 7, progress(u64::MAX, StageCode::FINALIZING)), Applied::Nothing);
}

#[test]
fn o6_o14_control_sequences_count_per_sender() {
    let mut sequence = ControlSequence::default();
    assert_eq!(sequence.next(), Some(1));
    for (number, order) in
        [(0, Order::Newer), (0, Order::Old { last: 0 }), (9, Order::Newer), (8, Order::Old { last: 9 })]
    {
        assert_eq!(sequence.check(number), order);
        sequence.apply(number);
    }
    assert_eq!(sequence.next(), Some(10));
    sequence.apply(u64::MAX);
    assert_eq!((sequence.next(), sequence.check(u64::MAX)), (None, Order::Old { last: u64::MAX }));
}

fn supersede(old: u64, new: u64) -> Supersede {
    Supersede { old_operation_id: old, new_operation_id: new, ..Default::default() }
}

#[test]
fn o7_supersede_ends_the_old_operation_at_once() {
    for flags in [SupersedeFlags::empty(), SupersedeFlags::ABORT_OLD_OPERATION] {
        let mut operations = table();
        admit(&mut operations, submit(1));
        admit(&mut operations, submit(2));
        run(&mut operations, 1);
        let plan = operations.check_supersede(&Supersede { flags, ..supersede(1, 2) }, 1).unwrap();
        let ended = operations.apply_supersede(plan).unwrap();
        assert_eq!(ended.state, OperationState::Superseded);
        assert_eq!(ended.cause, Cause::Supersede { by: 2, abort: !flags.is_empty() });
        assert_eq!(ids(&operations), [2]);
    }
}

#[test]
fn o7_late_results_are_dropped_and_reported_with_the_reason() {
    let mut operations = table();
    admit(&mut operations, submit(1));
    admit(&mut operations, submit(2));
    let drop_reason_code = DropReasonCode::from_raw(0x8123).unwrap();
    let plan = operations.check_supersede(&Supersede { drop_reason_code, ..supersede(1, 2) }, 0).unwrap();
    operations.apply_supersede(plan);
    let late = [Event::Result { partial: false }, Event::Partial { sequence: 1, last: false }];
    for event in late {
        let plan = operations.check_event(Named::frame(1), event, NOW).unwrap();
        let Verdict::Late(ended) = plan.verdict() else { panic!() };
        assert_eq!((ended.state, ended.reason), (OperationState::Superseded, drop_reason_code));
        assert_eq!(operations.apply_event(plan), Applied::Nothing);
    }
    // Without a reason of its own it is superseded, and a second time it is late.
    let again = operations.check_supersede(&supersede(1, 2), 0).unwrap();
    assert_eq!(again.late().unwrap().operation, 1);
    assert_eq!(operations.apply_supersede(again), None);
    admit(&mut operations, submit(3));
    let plan = operations.check_supersede(&supersede(2, 3), 0).unwrap();
    assert_eq!(operations.apply_supersede(plan).unwrap().reason, DropReasonCode::SUPERSEDED);
}

#[test]
fn o4_o7_both_operations_are_known() {
    let mut operations = table();
    admit(&mut operations, submit(1));
    for bad in [supersede(1, 2), supersede(2, 1)] {
        refused(operations.check_supersede(&bad, 0), INVALID, "O4");
    }
    refused(operations.check_supersede(&supersede(1, 1), 0), INVALID, "O7");
    admit(&mut operations, submit(2));
    refused(operations.check_supersede(&supersede(1, 2), 2), INVALID, "O4");
    assert!(operations.check_supersede(&supersede(1, 2), 1).is_ok());
}

#[test]
fn o8_no_work_completes_late() {
    for change in [deadline(2000), expire_at(2000)] {
        for event in [
            Event::Result { partial: false },
            Event::Result { partial: true },
            Event::Partial { sequence: 1, last: false },
            progress(1, StageCode::EXECUTING),
            Event::Other,
        ] {
            let mut operations = table();
            admit(&mut operations, submit(7));
            super::rules::change(&mut operations, Named::operation(7), change);
            let early = operations.check_event(Named::operation(7), event, Time(1999)).unwrap();
            assert_ne!(early.verdict(), Verdict::Expires);
            let plan = operations.check_event(Named::operation(7), event, Time(2000)).unwrap();
            assert_eq!(plan.verdict(), Verdict::Expires);
            let Applied::Ended(ended) = operations.apply_event(plan) else { panic!() };
            assert_eq!((ended.state, ended.cause), (OperationState::Failed, Cause::Time));
            assert_eq!(ended.reason, DropReasonCode::DEADLINE_EXPIRED);
        }
    }
}

#[test]
fn o8_who_says_that_it_ended_without_a_result_is_believed() {
    let mut operations = table();
    admit(&mut operations, submit(7));
    change(&mut operations, Named::operation(7), deadline(2000));
    let event = Event::DropReason { reason: DropReasonCode::PEER_CANCELLED, last: true };
    let plan = operations.check_event(Named::operation(7), event, Time(3000)).unwrap();
    let Applied::Ended(ended) = operations.apply_event(plan) else { panic!() };
    assert_eq!((ended.state, ended.cause), (OperationState::Cancelled, Cause::Cancel));
}

#[test]
fn o8_queued_work_waits_for_its_next_event_unless_it_is_to_be_discarded() {
    let mut operations = table();
    let queued = admit(&mut operations, submit(1));
    let running = admit(&mut operations, submit(2));
    let discarded = admit(&mut operations, submit(3));
    run(&mut operations, 2);
    for operation in [1, 2] {
        change(&mut operations, Named::operation(operation), deadline(2000));
    }
    change(&mut operations, Named::operation(3), discard(2000));
    assert_eq!(operations.next_timeout(), Some(Time(2000)));
    assert!(operations.poll_expired(Time(1999)).is_none());
    let mut ended = Vec::new();
    while let Some(end) = operations.poll_expired(Time(2000)) {
        ended.push(end.operation);
    }
    ended.sort_unstable();
    assert_eq!(ended, [2, 3]);
    assert!(operations.get(running).is_none() && operations.get(discarded).is_none());
    assert!(operations.get(queued).unwrap().is_stale(Time(2000)) && operations.is_queued(queued));
    assert!(operations.next_timeout().is_none());
    assert!(operations.expire(queued, Time(1999)).is_none());
    assert_eq!(operations.expire(queued, Time(2000)).unwrap().operation, 1);
}

#[test]
fn o8_work_that_starts_is_ended_by_time_alone_from_then_on() {
    let mut operations = table();
    admit(&mut operations, submit(1));
    change(&mut operations, Named::operation(1), deadline(2000));
    assert_eq!(operations.next_timeout(), None);
    run(&mut operations, 1);
    assert_eq!(operations.next_timeout(), Some(Time(2000)));
}

#[test]
fn o8_the_drop_reason_is_emitted_if_it_was_asked_for() {
    for (flags, emit) in [(SchedulingFlags::empty(), false), (SchedulingFlags::EMIT_DROP_REASON, true)] {
        let mut operations = table();
        admit(&mut operations, submit(1));
        run(&mut operations, 1);
        change(&mut operations, Named::operation(1), deadline(9000));
        change(&mut operations, Named::operation(1), Change::ExpireAt { at: Time(2000), flags });
        assert_eq!(operations.poll_expired(Time(2000)).unwrap().emit_drop_reason, emit);
    }
}

#[test]
fn o8_s9_deadline_goes_before_latency_budget_before_the_session_default() {
    let due = |operations: &Operations, latency_budget_ms, default_deadline_ms| {
        let submit = Submit { latency_budget_ms, default_deadline_ms, ..submit(7) };
        operations.check_submit(&submit, NOW).unwrap().due()
    };
    let mut operations = table();
    assert_eq!(due(&operations, 0, 0), None);
    assert_eq!(due(&operations, 0, 50), Some(Time(1050)));
    assert_eq!(due(&operations, 900, 50), Some(Time(1900)));
    change(&mut operations, Named::pair(7, 7), deadline(5000));
    assert_eq!(due(&operations, 900, 50), Some(Time(5000)));
    admit(&mut operations, Submit { latency_budget_ms: 900, ..submit(8) });
    change(&mut operations, Named::operation(8), deadline(7000));
    assert_eq!(operations.by_id(8).unwrap().due(), Some(Time(7000)));
}

#[test]
fn o8_a_change_to_an_operation_whose_time_is_over_ends_it() {
    let mut operations = table();
    admit(&mut operations, submit(1));
    change(&mut operations, Named::operation(1), deadline(1001));
    let plan = operations.check_change(Named::operation(1), deadline(9000), Time(1001)).unwrap();
    assert_eq!(operations.apply_change(plan).unwrap().cause, Cause::Time);
}

#[test]
fn o9_a_deadline_may_come_before_its_submit() {
    let mut operations = table();
    let plan = operations.check_change(Named::pair(7, 7), discard(5000), NOW).unwrap();
    assert!(plan.early().is_some() && plan.key().is_none());
    operations.apply_change(plan);
    change(&mut operations, Named::pair(7, 7), discard(4000));
    assert_eq!(operations.early_deadlines(), 1);
    // It is for the pair: the same id with another frame does not get it.
    assert_eq!(operations.check_submit(&Submit { frame: 8, ..submit(7) }, NOW).unwrap().due(), None);
    admit(&mut operations, submit(7));
    assert_eq!(operations.by_id(7).unwrap().due(), Some(Time(4000)));
    assert_eq!((operations.early_deadlines(), operations.next_timeout()), (0, Some(Time(4000))));
}

#[test]
fn o9_only_a_deadline_and_only_for_a_free_pair() {
    let mut operations = table();
    admit(&mut operations, submit(1));
    let priority = Change::Priority { class: 0, delta: 0 };
    for change in [expire_at(5000), priority] {
        refused(operations.check_change(Named::pair(7, 7), change, NOW), INVALID, "O4");
    }
    for named in [Named::operation(7), Named::frame(7), Named::pair(7, 1), Named::pair(1, 7)] {
        refused(operations.check_change(named, deadline(5000), NOW), INVALID, "O4");
    }
}

#[test]
fn o9_early_deadlines_have_a_limit() {
    let mut operations: Operations = Operations::new(Limits { early_deadlines: 2, ..Limits::default() });
    for operation in [1, 2] {
        change(&mut operations, Named::pair(operation, operation as u32), deadline(5000));
    }
    let third = operations.check_change(Named::pair(3, 3), deadline(5000), NOW);
    refused(third, ErrorCode::LIMIT_EXCEEDED, "O9");
    change(&mut operations, Named::pair(2, 2), deadline(6000));
    admit(&mut operations, submit(1));
    change(&mut operations, Named::pair(3, 3), deadline(5000));
}

#[test]
fn o9_a_deadline_for_an_ended_operation_is_late_and_for_its_id_with_a_new_frame_early() {
    let mut operations = table();
    admit(&mut operations, submit(1));
    complete(&mut operations, 1);
    let plan = operations.check_change(Named::pair(1, 1), deadline(5000), NOW).unwrap();
    assert_eq!(plan.late().unwrap().operation, 1);
    assert_eq!(operations.apply_change(plan), None);
    assert!(operations.check_change(Named::pair(1, 2), deadline(5000), NOW).unwrap().early().is_some());
}

#[test]
fn o10_messages_become_events() {
    let push = |result_class, result_flags, eos| {
        Event::result(&ResultPush { result_class, result_flags, ..Default::default() }, eos)
    };
    let none = ResultFlags::empty();
    assert_eq!(push(ResultClass::Complete, none, false), Event::Result { partial: false });
    assert_eq!(push(ResultClass::Partial, none, false), Event::Result { partial: true });
    assert_eq!(push(ResultClass::Complete, ResultFlags::PARTIAL, false), Event::Result { partial: true });
    assert_eq!(push(ResultClass::Partial, ResultFlags::PARTIAL, true), Event::Result { partial: false });
    for class in [ResultClass::StaleReuse, ResultClass::Degraded] {
        assert_eq!(push(class, ResultFlags::STALE, false), Event::Result { partial: false });
    }
    let partial =
        PartialResult { result_sequence: 4, flags: PartialResultFlags::FINAL_PARTIAL, ..Default::default() };
    assert_eq!(Event::from(&partial), Event::Partial { sequence: 4, last: true });
    let drop = ResultDrop {
        drop_reason_code: DropReasonCode::BUDGET_EXCEEDED,
        flags: ResultDropFlags::FINAL,
        ..Default::default()
    };
    assert_eq!(Event::from(&drop), Event::DropReason { reason: DropReasonCode::BUDGET_EXCEEDED, last: true });
    let error = crate::Error { error_code: ErrorCode::FRAME_EXPIRED, ..Default::default() };
    assert_eq!(Event::from(&error), Event::Error { code: ErrorCode::FRAME_EXPIRED });
}

#[test]
fn o10_an_end_has_the_reason_that_its_message_gives() {
    let cancelled = |code| Event::Error { code };
    let drop = |reason| Event::DropReason { reason, last: true };
    for (event, state, reason) in [
        (cancelled(ErrorCode::FRAME_CANCELLED), OperationState::Cancelled, DropReasonCode::PEER_CANCELLED),
        (cancelled(ErrorCode::FRAME_EXPIRED), OperationState::Failed, DropReasonCode::NONE),
        (drop(DropReasonCode::PEER_CANCELLED), OperationState::Cancelled, DropReasonCode::PEER_CANCELLED),
        (drop(DropReasonCode::SUPERSEDED), OperationState::Superseded, DropReasonCode::SUPERSEDED),
        (drop(DropReasonCode::BUDGET_EXCEEDED), OperationState::Failed, DropReasonCode::BUDGET_EXCEEDED),
        (Event::Dropped, OperationState::Failed, DropReasonCode::NONE),
    ] {
        let mut operations = table();
        admit(&mut operations, submit(1));
        let Applied::Ended(ended) = happen(&mut operations, 1, event) else { panic!("{event:?} ends it") };
        assert_eq!((ended.state, ended.reason), (state, reason), "{event:?}");
    }
}

#[test]
fn o11_a_preemption_is_told_by_progress_queued_and_moves_nothing() {
    let mut operations = table();
    admit(&mut operations, submit(1));
    run(&mut operations, 1);
    let applied = happen(&mut operations, 1, progress(2, StageCode::QUEUED));
    assert_eq!(applied, Applied::Live(OperationState::Running));
}

#[test]
fn o11_the_members_of_a_group_can_be_listed() {
    let mut operations = forest();
    let members = |operations: &Operations| {
        let mut members: Vec<u64> = operations.group(9).map(|operation| operation.id()).collect();
        members.sort_unstable();
        members
    };
    assert_eq!(members(&operations), [3, 5, 6]);
    complete(&mut operations, 5);
    assert_eq!(members(&operations), [3, 6]);
}

#[test]
fn o12_what_an_operation_is_can_be_read_without_its_payload() {
    let mut operations = table();
    let class = 2;
    admit(&mut operations, submit(1));
    let key = admit(&mut operations, Submit { parent: 1, group: 9, class, ..submit(7) });
    complete(&mut operations, 1);
    let operation = operations.get(key).unwrap();
    assert_eq!((operation.id(), operation.frame(), operation.parent(), operation.group()), (7, 7, 1, 9));
    assert_eq!((operation.state(), operation.order()), (OperationState::Accepted, 2));
    assert!(operation.is_background());
    assert_eq!((operation.admitted(), operation.queue_ms()), (NOW, None));
    let plan =
        operations.check_event(Named::operation(7), progress(1, StageCode::EXECUTING), Time(1030)).unwrap();
    operations.apply_event(plan);
    assert_eq!(operations.get(key).unwrap().queue_ms(), Some(30));
}

#[test]
fn o13_priority_update_sets_the_class_and_shifts_within() {
    let mut operations = table();
    let key = admit(&mut operations, submit(1));
    let update = |priority_class, priority_delta| {
        Change::priority(&Scheduling { priority_class, priority_delta, ..Default::default() })
    };
    for (class, delta, level) in
        [(2, 5, 5), (2, 0, 5), (900, -2, 3), (0, i16::MAX, i16::MAX), (0, -1, i16::MAX - 1)]
    {
        change(&mut operations, Named::operation(1), update(class, delta));
        let operation = operations.get(key).unwrap();
        assert_eq!((operation.class(), operation.level()), (class, level));
    }
}

#[test]
fn s9_live_operations_never_exceed_the_limit() {
    let mut operations = wide(2);
    admit(&mut operations, submit(1));
    admit(&mut operations, submit(2));
    refused(operations.check_submit(&submit(3), NOW), ErrorCode::LIMIT_EXCEEDED, "S9");
    complete(&mut operations, 1);
    admit(&mut operations, submit(3));
    // A lower limit ends nobody, and lets nobody in.
    operations.set_in_flight(1);
    complete(&mut operations, 2);
    refused(operations.check_submit(&submit(4), NOW), ErrorCode::LIMIT_EXCEEDED, "S9");
    refused(wide(0).check_submit(&submit(1), NOW), ErrorCode::LIMIT_EXCEEDED, "S9");
}

#[test]
fn times_on_the_wire_become_times_of_the_callers_clock() {
    let origin = UnixOrigin(1_700_000_000_000);
    assert_eq!(origin.time(1_700_000_000_250), Time(250));
    assert_eq!(origin.time(5), Time(0));
    let scheduling = Scheduling { deadline_unix_ms: 1_700_000_000_001, ..Default::default() };
    let flags = SchedulingFlags::empty();
    assert_eq!(Change::deadline(&scheduling, origin), Change::Deadline { at: Time(1), flags });
    assert_eq!(Change::expire_at(&scheduling, origin), Change::ExpireAt { at: Time(1), flags });
}

#[test]
fn a_key_dies_with_its_operation() {
    let mut operations: Operations<u8> = Operations::new(Limits::default());
    let plan = operations.check_submit(&submit(1), NOW).unwrap();
    let key = operations.apply_submit(plan, 5);
    *operations.data_mut(key).unwrap() += 1;
    assert_eq!(operations.get(key).unwrap().data(), &6);
    let plan = operations.check_event(Named::operation(1), Event::Dropped, NOW).unwrap();
    let Applied::Ended(ended) = operations.apply_event(plan) else { panic!() };
    assert_eq!((ended.data, ended.key), (6, key));
    let plan = operations.check_submit(&submit(2), NOW).unwrap();
    assert_ne!(operations.apply_submit(plan, 7), key);
    assert!(operations.get(key).is_none() && operations.data_mut(key).is_none());
    assert!(operations.expire(key, Time(u64::MAX)).is_none());
}

#[test]
fn a_refusal_is_a_sentence() {
    let refusal = table().find(Named::operation(7)).unwrap_err();
    assert_eq!(refusal.to_string(), "Refused as invalid_state by O4: the operation is unknown (7).");
}
