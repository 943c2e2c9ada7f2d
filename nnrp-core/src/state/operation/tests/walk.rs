//! Every state and every message, against the table of the rules and against the registry's arrows.

use std::string::String;
use std::vec::Vec;

use super::super::event::{Route, route};
use super::*;
use crate::OperationState::{
    Accepted, Cancelled, Completed, Failed, Partial, Running, Superseded, WaitingTool,
};

const LIVE: [OperationState; 4] = [Accepted, Running, Partial, WaitingTool];

/// An operation 7 in that state, with sequences 1 used up.
fn with(state: OperationState) -> Operations {
    let mut operations = table();
    admit(&mut operations, submit(7));
    let path: &[Event] = match state {
        Running => &[progress(1, StageCode::EXECUTING)],
        Partial => &[progress(1, StageCode::EXECUTING), Event::Partial { sequence: 1, last: false }],
        WaitingTool => &[progress(1, StageCode::WAITING_DEPENDENCY)],
        _ => &[],
    };
    for &event in path {
        happen(&mut operations, 7, event);
    }
    assert_eq!(operations.by_id(7).unwrap().state(), state);
    operations
}

/// The table, written a second time: each message, its name in the registry, and the state it leads to.
fn table_rows() -> Vec<(&'static str, Event, Option<OperationState>)> {
    let mut rows = Vec::new();
    let stages =
        StageCode::ALL.into_iter().chain(StageCode::from_raw(0x0100)).chain(StageCode::from_raw(0x8000));
    for stage in stages {
        let to = match stage.name() {
            Some("executing" | "producing_partial" | "finalizing") => Some(Running),
            Some("waiting_dependency") => Some(WaitingTool),
            _ => None,
        };
        rows.push(("progress", progress(2, stage), to));
    }
    for last in [false, true] {
        rows.push(("partial_result", Event::Partial { sequence: 2, last }, Some(Partial)));
    }
    rows.push(("result_push", Event::Result { partial: true }, Some(Partial)));
    rows.push(("result_push", Event::Result { partial: false }, Some(Completed)));
    rows.push(("result_drop", Event::Dropped, Some(Failed)));
    for reason in DropReasonCode::ALL.into_iter().chain(DropReasonCode::from_raw(0x8001)) {
        let to = match reason.name() {
            Some("superseded") => Superseded,
            Some("peer_cancelled") => Cancelled,
            _ => Failed,
        };
        rows.push(("result_drop_reason", Event::DropReason { reason, last: true }, Some(to)));
        rows.push(("result_drop_reason", Event::DropReason { reason, last: false }, None));
    }
    for code in ErrorCode::ALL.into_iter().chain(ErrorCode::from_raw(0x0003_0001)) {
        let to = if code.name() == Some("frame_cancelled") { Cancelled } else { Failed };
        rows.push(("error", Event::Error { code }, Some(to)));
    }
    rows.push(("retry_after", Event::Other, None));
    rows
}

/// Where a message that leads to `to` takes an operation in `from`: "takes it through running".
fn expected(from: OperationState, to: Option<OperationState>) -> OperationState {
    to.unwrap_or(from)
}

#[test]
fn o10_every_message_in_every_state_does_what_the_table_says() {
    for from in LIVE {
        for (message, event, to) in table_rows() {
            let mut operations = with(from);
            let plan = operations.check_event(Named::operation(7), event, NOW).unwrap();
            let expected = expected(from, to);
            match (plan.verdict(), to) {
                (Verdict::Moves { from: f, to: t, through_running }, Some(_)) => {
                    assert_eq!((f, t), (from, expected));
                    assert_eq!(through_running, !from.can_become(t), "{from} {message}");
                }
                (Verdict::Stays, _) => assert_eq!(expected, from, "{from} {message} {event:?}"),
                other => panic!("{from} {message} {other:?}"),
            }
            match operations.apply_event(plan) {
                Applied::Live(state) => {
                    assert_eq!(state, expected);
                    assert_eq!(operations.by_id(7).unwrap().state(), expected);
                }
                Applied::Ended(ended) => {
                    assert_eq!(ended.state, expected);
                    assert!(expected.is_terminal() && operations.is_empty());
                }
                Applied::Nothing => panic!("{from} {message}"),
            }
            operations.check_invariants();
        }
    }
}

#[test]
fn o1_nothing_leaves_a_terminal_state() {
    let ends = [
        Event::Result { partial: false },
        Event::Dropped,
        Event::DropReason { reason: DropReasonCode::PEER_CANCELLED, last: true },
        Event::DropReason { reason: DropReasonCode::SUPERSEDED, last: true },
    ];
    for end in ends {
        for (message, event, _) in table_rows() {
            let mut operations = with(Running);
            let Applied::Ended(ended) = happen(&mut operations, 7, end) else { panic!() };
            let plan = operations.check_event(Named::pair(7, 7), event, NOW).unwrap();
            let Verdict::Late(late) = plan.verdict() else { panic!("{message}") };
            assert_eq!((late.state, late.operation, late.frame), (ended.state, 7, 7));
            assert_eq!(operations.apply_event(plan), Applied::Nothing);
        }
    }
}

#[test]
fn o1_every_pair_of_states() {
    for from in OperationState::ALL {
        for to in OperationState::ALL {
            let way = route(from, to);
            let through = from.can_become(Running) && Running.can_become(to);
            let expected = match () {
                () if from.is_terminal() => Route::None,
                () if from.can_become(to) => Route::Direct,
                () if from == to => Route::Stay,
                () if through => Route::ThroughRunning,
                () => Route::None,
            };
            assert_eq!(way, expected, "{from} {to}");
        }
    }
    // Spelled out, so that a change of the registry shows.
    assert_eq!(route(Accepted, Completed), Route::ThroughRunning);
    assert_eq!(route(Accepted, Partial), Route::ThroughRunning);
    assert_eq!(route(Accepted, WaitingTool), Route::ThroughRunning);
    assert_eq!(route(WaitingTool, Completed), Route::ThroughRunning);
    assert_eq!(route(WaitingTool, Partial), Route::ThroughRunning);
    assert_eq!(route(Partial, Partial), Route::Direct);
    assert_eq!(route(Running, Accepted), Route::None);
    assert_eq!(route(Partial, Accepted), Route::None);
}

/// The arrows of the registry with the messages that drive them.
fn arrows() -> Vec<(String, String, Vec<String>)> {
    let text = include_str!("../../../../registry/operation.toml");
    let quoted =
        |text: &str| -> Vec<String> { text.split('"').skip(1).step_by(2).map(String::from).collect() };
    let rows = text.lines().filter(|line| line.trim_start().starts_with("{ from = \""));
    rows.map(|row| {
        let (states, rest) = row.split_once("on = [").expect("messages");
        let (on, _) = rest.split_once(']').expect("an end");
        let states = quoted(states);
        (states[0].clone(), states[1].clone(), quoted(on))
    })
    .collect()
}

/// Each step that a message makes is an arrow of the registry that names this message.
#[test]
fn o1_messages_move_only_along_arrows_that_name_them() {
    let arrows = arrows();
    assert_eq!(arrows.len(), 21);
    let drives = |from: OperationState, to: OperationState, message: &str| {
        arrows
            .iter()
            .any(|(f, t, on)| f == from.name() && t == to.name() && on.iter().any(|on| on == message))
    };
    for from in LIVE {
        for (message, event, _) in table_rows() {
            let operations = with(from);
            let plan = operations.check_event(Named::operation(7), event, NOW).unwrap();
            if let Verdict::Moves { from, to, through_running } = plan.verdict() {
                if through_running {
                    assert!(drives(from, Running, message), "{from} running {message}");
                    assert!(drives(Running, to, message), "running {to} {message}");
                } else {
                    assert!(drives(from, to, message), "{from} {to} {message}");
                }
            }
        }
        for message in ["cancel", "abort", "frame_cancel", "session_close", "session_close_ack"] {
            assert!(drives(from, Cancelled, message));
        }
        assert!(drives(from, Superseded, "supersede"));
    }
}

/// And each arrow is taken by some message.
#[test]
fn o1_every_arrow_is_taken() {
    for (from, to, on) in arrows() {
        let from = OperationState::ALL.into_iter().find(|state| state.name() == from).unwrap();
        let taken = table_rows().into_iter().any(|(message, event, _)| {
            let plan = with(from).check_event(Named::operation(7), event, NOW).unwrap();
            let arrives = matches!(plan.verdict(), Verdict::Moves { to: t, through_running: false, .. } if t.name() == to);
            let passes = to == "running" && matches!(plan.verdict(), Verdict::Moves { through_running: true, .. });
            (arrives || passes) && on.iter().any(|on| on == message)
        });
        assert!(taken, "{from} {to}");
    }
}

#[test]
fn o3_o7_cancel_and_supersede_end_from_every_state() {
    for from in LIVE {
        let mut operations = with(from);
        assert_eq!(abort(&mut operations, Reach::Operation(Named::operation(7))), [7]);
        let mut operations = with(from);
        admit(&mut operations, submit(8));
        let supersede = crate::Supersede { old_operation_id: 7, new_operation_id: 8, ..Default::default() };
        let plan = operations.check_supersede(&supersede, 7).unwrap();
        assert_eq!(operations.apply_supersede(plan).unwrap().state, Superseded);
    }
}
