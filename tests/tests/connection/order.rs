//! What goes first, on a real connection: classes, levels, groups and deadlines (O8, O9, O11, O12, O13, W3).

use nnrp_core::build::SubmitBuilder;
use nnrp_core::state::connection::{Connection, Event, Why};
use nnrp_core::state::credit::Blocked;
use nnrp_core::*;
use nnrp_tests::pair::{Pair, submit};

use super::say::{self, say};

/// A session whose submits wait.
fn waiting(pair: &mut Pair, priority_class: SessionPriorityClass) -> u32 {
    let session = pair.open(&SessionOpen { priority_class, ..SessionOpen::default() });
    pair.server.send(&say::session(session), &say::credit(0, 1), pair.now).expect("it is open");
    pair.settle();
    pair.client_events();
    session
}

/// FRAME_SUBMIT of a member of a group.
fn member(session: u32, operation_id: u64, operation_group_id: u64) -> Vec<u8> {
    SubmitBuilder::new(FrameSubmit { operation_id, ..FrameSubmit::default() })
        .links(OperationLinks { operation_group_id, ..OperationLinks::default() })
        .to_vec(&say::operation(session, operation_id))
        .expect("a good submit")
}

/// The operations that an end was told of, in order.
fn submitted(events: &[Event]) -> Vec<u64> {
    let operations = events.iter().filter_map(|event| match event {
        Event::Submitted { operation_id, .. } => Some(*operation_id),
        _ => None,
    });
    operations.collect()
}

fn rank(end: &Connection, session: u32, operation_id: u64) -> (u16, i16) {
    let operation = end.operations(session).and_then(|live| live.by_id(operation_id)).expect("it lives");
    (operation.class(), operation.level())
}

/// Room for so many more submits.
fn grant(pair: &mut Pair, session: u32, places: u16, epoch: u32) {
    pair.server.send(&say::session(session), &say::credit(places, epoch), pair.now).expect("it is open");
    pair.settle();
}

#[test]
fn o11_o13_a_group_is_scheduled_as_one_whether_it_waits_or_lives() {
    let mut pair = Pair::active();
    let session = waiting(&mut pair, SessionPriorityClass::Balanced);
    grant(&mut pair, session, 1, 2);
    for (operation, group) in [(1, 4), (2, 0), (4, 4), (5, 6), (3, 4)] {
        pair.client.submit(&member(session, operation, group), pair.now).expect("it waits");
    }
    pair.settle();
    assert_eq!(submitted(&pair.server_events()), [1]);
    let now = pair.now;
    assert_eq!(pair.client.prioritize_group(session, 4, 0, 3, now).expect("a session"), 3);
    assert_eq!(pair.client.prioritize_group(session, 0, 0, 3, now).expect("a session"), 0, "0 is no group");
    assert_eq!(pair.client.prioritize_group(session, 9, 0, 3, now).expect("a session"), 0);
    assert!(pair.client.prioritize_group(session + 1, 4, 0, 3, now).is_err());
    grant(&mut pair, session, 9, 3);
    // Those of the group first, in their order, then the others in theirs.
    assert_eq!(submitted(&pair.server_events()), [4, 3, 2, 5]);
    for end in [&pair.client, &pair.server] {
        let ranks = [1, 2, 3, 4, 5].map(|operation| rank(end, session, operation));
        assert_eq!(ranks, [(0, 3), (1, 0), (0, 3), (0, 3), (1, 0)]);
    }
    // Who picks work finds them in that order, too.
    let live = pair.server.operations(session).expect("it is open");
    let mut order: Vec<_> = live.iter().collect();
    order.sort_by_key(|operation| operation.urgency());
    assert_eq!(order.iter().map(|operation| operation.id()).collect::<Vec<_>>(), [1, 4, 3, 2, 5]);
}

#[test]
fn o13_a_submit_that_waits_changes_its_place_and_its_update_follows_it() {
    let mut pair = Pair::active();
    let session = waiting(&mut pair, SessionPriorityClass::Interactive);
    for operation in [1, 2, 3] {
        assert!(!pair.submit(session, operation).expect("it waits"));
    }
    let now = pair.now;
    pair.client.prioritize(session, 3, 0, i16::MAX, now).expect("it waits");
    pair.client.prioritize(session, 1, 7, 0, now).expect("it waits");
    pair.client.prioritize(session, 1, 7, -2, now).expect("it waits");
    assert!(matches!(
        pair.client.prioritize(session, 9, 0, 0, now),
        Err(Why::Refusal(refusal)) if refusal.rule == "O4"
    ));
    // Nothing is said of them before they are there.
    assert_eq!(pair.client.poll_output(), b"");
    grant(&mut pair, session, 9, 2);
    let events = pair.server_events();
    assert_eq!(submitted(&events), [3, 2, 1]);
    assert!(!events.iter().any(|event| matches!(event, Event::Refused { .. })), "{events:?}");
    for end in [&pair.client, &pair.server] {
        let ranks = [1, 2, 3].map(|operation| rank(end, session, operation));
        assert_eq!(ranks, [(7, -2), (0, 0), (0, i16::MAX)]);
    }
    // Live ones go on with it.
    pair.client.prioritize(session, 3, 1, -1, now).expect("it lives");
    pair.settle();
    assert_eq!(rank(&pair.server, session, 3), (1, i16::MAX - 1));
}

#[test]
fn w3_o13_what_was_put_below_may_go_where_only_background_may() {
    let mut pair = Pair::active();
    let session = waiting(&mut pair, SessionPriorityClass::Balanced);
    for operation in [1, 2] {
        pair.submit(session, operation).expect("it waits");
    }
    let update = FlowUpdate {
        scope_kind: ScopeKind::Session,
        session_credit: 9,
        credit_epoch: 2,
        flow_flags: FlowFlags::CREDIT_VALID | FlowFlags::BACKGROUND_ONLY,
        ..FlowUpdate::default()
    };
    pair.server.send(&say::session(session), &Message::FlowUpdate(update), pair.now).expect("it is open");
    pair.settle();
    assert_eq!(submitted(&pair.server_events()), [0; 0]);
    pair.client.prioritize(session, 2, 2, 0, pair.now).expect("it waits");
    pair.settle();
    assert_eq!(submitted(&pair.server_events()), [2]);
    assert!(
        pair.server
            .operations(session)
            .and_then(|live| live.by_id(2))
            .is_some_and(|live| live.is_background())
    );
    assert_eq!(pair.client.snapshot().queued, 1);
    let sent = pair.client.send_packet(&submit(session, 3, 0), pair.now);
    assert_eq!(sent, Err(Why::Blocked(Blocked::BackgroundOnly)));
}

#[test]
fn o8_o9_a_deadline_goes_before_the_budget_of_a_submit_that_waits() {
    let mut pair = Pair::active();
    let session = waiting(&mut pair, SessionPriorityClass::Interactive);
    let budgeted = |operation_id| {
        let submit = FrameSubmit { operation_id, latency_budget_ms: 50, ..FrameSubmit::default() };
        SubmitBuilder::new(submit).to_vec(&say::operation(session, operation_id)).expect("a good submit")
    };
    let far = pair.now.after(500).0;
    // One deadline comes before its submit waits and one while it does; the third is for another frame.
    say(&mut pair.client, session, 1, &say::deadline(1, far, SchedulingFlags::empty()), pair.now)
        .expect("early");
    for operation in [1, 2, 3] {
        assert!(!pair.client.submit(&budgeted(operation), pair.now).expect("it waits"));
    }
    say(&mut pair.client, session, 2, &say::deadline(2, far, SchedulingFlags::empty()), pair.now)
        .expect("early");
    say(&mut pair.client, session, 9, &say::deadline(3, far, SchedulingFlags::empty()), pair.now)
        .expect("early");
    pair.settle();
    pair.wait(50);
    let unsent = |pair: &mut Pair| -> Vec<u64> {
        let events = pair.client_events();
        let operations = events.iter().filter_map(|event| match event {
            Event::Unsent { operation_id, refusal: None, .. } => Some(*operation_id),
            _ => None,
        });
        operations.collect()
    };
    assert_eq!(unsent(&mut pair), [3]);
    pair.wait(449);
    assert_eq!(unsent(&mut pair), [0; 0]);
    grant(&mut pair, session, 1, 2);
    assert_eq!(submitted(&pair.server_events()), [1]);
    assert_eq!(
        pair.server.operations(session).and_then(|live| live.by_id(1)?.due()).map(|due| due.0),
        Some(far)
    );
    pair.wait(1);
    assert_eq!(unsent(&mut pair), [2]);
}

#[test]
fn o13_a_class_goes_before_any_level_of_the_next_and_levels_go_within_it() {
    let mut pair = Pair::active();
    let session = pair.open(&SessionOpen::default());
    for operation in [1, 2, 3] {
        pair.submit(session, operation).expect("credit");
    }
    for (operation, class, delta) in [(1, 0, -5), (2, 1, 9), (3, 0, 2)] {
        pair.client.prioritize(session, operation, class, delta, pair.now).expect("it lives");
    }
    pair.settle();
    for end in [&pair.client, &pair.server] {
        let mut order: Vec<_> = end.operations(session).expect("it is open").iter().collect();
        order.sort_by_key(|operation| operation.urgency());
        assert_eq!(order.iter().map(|operation| operation.id()).collect::<Vec<_>>(), [3, 1, 2]);
    }
}

#[test]
fn o8_what_is_due_or_worthless_first_is_the_most_urgent() {
    let mut pair = Pair::active();
    let session = pair.open(&SessionOpen::default());
    for operation in [1, 2, 3] {
        pair.submit(session, operation).expect("credit");
    }
    let now = pair.now;
    let due = say::deadline(2, now.after(700).0, SchedulingFlags::empty());
    say(&mut pair.client, session, 2, &due, now).expect("it lives");
    let deadline_unix_ms = now.after(500).0;
    let worthless =
        Message::ExpireAt(Scheduling { operation_id: 3, deadline_unix_ms, ..Scheduling::default() });
    say(&mut pair.client, session, 3, &worthless, now).expect("it lives");
    pair.settle();
    for end in [&pair.client, &pair.server] {
        let mut order: Vec<_> = end.operations(session).expect("it is open").iter().collect();
        order.sort_by_key(|operation| operation.urgency());
        assert_eq!(order.iter().map(|operation| operation.id()).collect::<Vec<_>>(), [3, 2, 1]);
    }
}

#[test]
fn o11_a_preemption_is_told_and_moves_nothing_at_either_end() {
    let mut pair = Pair::active();
    let session = pair.open(&SessionOpen::default());
    pair.submit(session, 1).expect("credit");
    pair.settle();
    let now = pair.now;
    pair.server.progress(session, 1, StageCode::EXECUTING, 0, now).expect("it lives");
    pair.server.progress(session, 1, StageCode::QUEUED, 100, now).expect("it lives");
    pair.settle();
    // Both ends have it running still, and the client was told.
    let events = pair.client_events();
    let told: Vec<_> = events
        .iter()
        .filter_map(|event| match (event, event.packet()?.message()?) {
            (Event::Updated { state, .. }, Message::Progress(progress, _)) => {
                Some((*state, progress.stage_code))
            }
            _ => None,
        })
        .collect();
    let running = OperationState::Running;
    assert_eq!(told, [(running, StageCode::EXECUTING), (running, StageCode::QUEUED)]);
    for end in [&pair.client, &pair.server] {
        let operation = end.operations(session).and_then(|live| live.by_id(1)).expect("it lives");
        assert_eq!(operation.state(), running);
    }
}

#[test]
fn o12_what_an_operation_is_can_be_read_at_both_ends_without_its_payload() {
    let mut pair = Pair::active();
    let session = pair.open(&SessionOpen::default());
    pair.submit(session, 1).expect("credit");
    let links = OperationLinks { parent_operation_id: 1, operation_group_id: 4 };
    let bytes = SubmitBuilder::new(FrameSubmit { operation_id: 2, ..FrameSubmit::default() })
        .links(links)
        .token(DescriptorFlags::empty(), b"\xff nobody reads this \xff")
        .to_vec(&say::operation(session, 2))
        .expect("a good submit");
    assert!(pair.client.submit(&bytes, pair.now).expect("credit"));
    pair.settle();
    for end in [&pair.client, &pair.server] {
        let live = end.operations(session).expect("it is open");
        let operation = live.by_id(2).expect("it lives");
        assert_eq!(
            (operation.parent(), operation.group(), operation.state(), operation.frame()),
            (1, 4, OperationState::Accepted, 2)
        );
        assert_eq!(live.group(4).map(|member| member.id()).collect::<Vec<_>>(), [2]);
    }
}

#[test]
fn o4_o7_what_comes_late_for_a_pair_is_not_about_those_that_have_its_id_or_its_frame_now() {
    let mut pair = Pair::active();
    let session = pair.open(&SessionOpen::default());
    let under = |operation_id, frame_id| {
        let header = CommonHeader { session_id: session, frame_id, ..CommonHeader::default() };
        let submit = FrameSubmit { operation_id, ..FrameSubmit::default() };
        SubmitBuilder::new(submit).to_vec(&header).expect("a good submit")
    };
    for (operation, frame) in [(5, 1), (6, 2), (7, 3)] {
        pair.client.submit(&under(operation, frame), pair.now).expect("credit");
    }
    pair.settle();
    // The server works on 5 and 6 while the client has others take their places, under the same id or frame.
    let part = |operation_id, frame_id| {
        let header = CommonHeader { session_id: session, frame_id, ..CommonHeader::default() };
        (header, say::partial(operation_id))
    };
    for (operation, frame) in [(5, 1), (6, 2)] {
        let (header, message) = part(operation, frame);
        pair.server.send(&header, &message, pair.now).expect("it lives");
    }
    for (operation, frame) in [(5, 1), (6, 2)] {
        let header = CommonHeader { session_id: session, frame_id: frame, ..CommonHeader::default() };
        pair.client.send(&header, &say::supersede(operation, 7), pair.now).expect("they live");
    }
    for (operation, frame) in [(5, 8), (9, 2), (5 + 100, 9)] {
        assert!(pair.client.submit(&under(operation, frame), pair.now).expect("credit"));
    }
    pair.settle();
    let events = pair.client_events();
    let late: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::Late { ended, .. } => ended.map(|ended| (ended.operation, ended.frame, ended.reason)),
            Event::Refused { .. } => panic!("{event:?}"),
            _ => None,
        })
        .collect();
    assert_eq!(late, [(5, 1, DropReasonCode::SUPERSEDED), (6, 2, DropReasonCode::SUPERSEDED)]);
    assert!(
        !pair
            .server_events()
            .iter()
            .any(|event| matches!(event, Event::Error { .. } | Event::Refused { .. }))
    );
    for end in [&pair.client, &pair.server] {
        let live = end.operations(session).expect("it is open");
        let states: Vec<_> =
            live.iter().map(|operation| (operation.id(), operation.frame(), operation.state())).collect();
        let accepted = OperationState::Accepted;
        assert_eq!(states, [(5, 8, accepted), (7, 3, accepted), (9, 2, accepted), (105, 9, accepted)]);
    }
    // A pair that never was is refused, whatever else its halves were in.
    for (operation, frame) in [(5, 2), (6, 1), (6, 8), (9, 3), (77, 8)] {
        let (header, message) = part(operation, frame);
        let refused = pair.server.send(&header, &message, pair.now);
        assert!(
            matches!(refused, Err(Why::Refusal(refusal)) if refusal.rule == "O4" && refusal.why.contains("paired"))
        );
    }
}
