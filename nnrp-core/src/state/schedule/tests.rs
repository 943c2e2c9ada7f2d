extern crate std;

use std::collections::BTreeMap;
use std::vec::Vec;

use super::*;
use crate::ErrorCode;
use crate::state::Time;
use crate::state::random::{Random, steps};

fn ticket(session: u32, operation: u64, class: u16) -> Ticket {
    Ticket { session, operation, class, ..Ticket::default() }
}

fn push(queue: &mut Queue<u64>, ticket: Ticket, now: u64) {
    let plan = queue.check_push(&ticket, Time(now)).unwrap();
    queue.apply_push(plan, ticket.operation);
}

fn pop(queue: &mut Queue<u64>) -> Option<u64> {
    queue.pop(|_| Pass::Go).map(|(_, item)| item)
}

fn drain(queue: &mut Queue<u64>) -> Vec<u64> {
    core::iter::from_fn(|| pop(queue)).collect()
}

#[test]
fn o11_interactive_before_balanced_before_background_before_the_rest() {
    let mut queue = Queue::new(10);
    for (operation, class) in [(5, 4), (4, 3), (3, 2), (2, 1), (1, 0)] {
        push(&mut queue, ticket(1, operation, class), 0);
    }
    assert_eq!(drain(&mut queue), [1, 2, 3, 4, 5]);
}

/// A lane that always has something is served at least once in so many times, however busy those above are.
#[test]
fn o11_no_lane_starves() {
    let mut queue = Queue::new(1000);
    let mut next = 0;
    let mut waited = [0u32; 4];
    let mut worst = [0u32; 4];
    for class in 0..4u16 {
        for _ in 0..3 {
            next += 1;
            push(&mut queue, ticket(class as u32 + 1, next, class), 0);
        }
    }
    for _ in 0..10_000 {
        let (served, _) = queue.pop(|_| Pass::Go).unwrap();
        for (class, waited) in waited.iter_mut().enumerate() {
            *waited = if class as u16 == served.class { 0 } else { *waited + 1 };
            worst[class] = worst[class].max(*waited);
        }
        next += 1;
        push(&mut queue, ticket(served.session, next, served.class), 0);
    }
    assert!(worst[1] <= 4 && worst[2] <= 17 && worst[3] <= 66, "{worst:?}");
    assert!(worst[0] <= 3, "the most urgent waits for at most one of each other lane: {worst:?}");
}

#[test]
fn o11_a_lane_that_was_empty_has_not_saved_up_turns() {
    let mut queue = Queue::new(1000);
    for operation in 1..=100 {
        push(&mut queue, ticket(1, operation, 0), 0);
    }
    for _ in 0..50 {
        pop(&mut queue);
    }
    push(&mut queue, ticket(2, 1000, 1), 0);
    let place = drain(&mut queue).iter().position(|&operation| operation == 1000);
    assert_eq!(place, Some(4));
}

#[test]
fn o11_sessions_of_a_lane_take_turns() {
    let mut queue = Queue::new(1000);
    for operation in 0..100 {
        push(&mut queue, ticket(1, operation, 0), 0);
    }
    push(&mut queue, ticket(2, 1000, 0), 5);
    push(&mut queue, ticket(2, 1001, 0), 5);
    let order = drain(&mut queue);
    assert!(order.iter().position(|&o| o == 1001).unwrap() <= 4, "{order:?}");
    // Who was away while others were served does not get all those rounds back.
    for operation in 0..10 {
        push(&mut queue, ticket(3, operation, 0), 10);
        push(&mut queue, ticket(1, operation + 100, 0), 10);
    }
    let order = drain(&mut queue);
    assert!(order[..4].iter().any(|&o| o < 100) && order[..4].iter().any(|&o| o >= 100), "{order:?}");
}

/// Also when a session sends one at a time and so is never there between two.
#[test]
fn o11_no_session_starves() {
    let mut queue = Queue::new(1000);
    let urgent = |operation, now: u64| Ticket { deadline: Some(Time(now)), ..ticket(2, operation, 0) };
    push(&mut queue, ticket(1, 1, 0), 0);
    let mut now = 0;
    push(&mut queue, urgent(2, now), now);
    for operation in 3..10 {
        let served = pop(&mut queue).unwrap();
        if served == 1 {
            assert!(operation <= 5, "{operation}");
            return;
        }
        now += 1;
        push(&mut queue, urgent(operation, now), now);
    }
    panic!("it starved");
}

#[test]
fn o13_levels_and_deadlines_order_a_session_within_its_class() {
    let mut queue = Queue::new(10);
    push(&mut queue, ticket(1, 1, 1), 0);
    push(&mut queue, Ticket { deadline: Some(Time(50)), ..ticket(1, 2, 1) }, 0);
    push(&mut queue, Ticket { level: 2, ..ticket(1, 3, 1) }, 0);
    push(&mut queue, Ticket { level: -1, ..ticket(1, 4, 1) }, 0);
    push(&mut queue, ticket(1, 5, 0), 900);
    assert_eq!(drain(&mut queue), [5, 2, 3, 1, 4]);
}

#[test]
fn o13_priority_numbers_above_2_rank_below_it_and_below_one_another() {
    let mut queue = Queue::new(10);
    for class in [9, 3, 2, 4] {
        push(&mut queue, ticket(1, class as u64, class), 0);
    }
    assert_eq!(drain(&mut queue), [2, 3, 4, 9]);
}

/// The least urgent level waits a time that its level alone decides, however many come after it.
#[test]
fn o13_no_level_starves() {
    let mut queue = Queue::new(1_000_000);
    push(&mut queue, Ticket { level: -10, ..ticket(1, 1, 0) }, 0);
    for now in 0..3000u64 {
        push(&mut queue, Ticket { level: 10, ..ticket(1, now + 10, 0) }, now);
        if pop(&mut queue) == Some(1) {
            assert!(now <= 20 * STEP_MS, "{now}");
            return;
        }
    }
    panic!("it starved");
}

#[test]
fn a_session_without_credit_is_parked_until_it_is_woken() {
    let mut queue = Queue::new(10);
    push(&mut queue, ticket(1, 1, 0), 0);
    push(&mut queue, ticket(1, 2, 0), 0);
    push(&mut queue, ticket(2, 3, 2), 0);
    let mut asked = 0;
    let mut pass = |ticket: &Ticket| {
        asked += 1;
        if ticket.session == 1 { Pass::NotSession } else { Pass::Go }
    };
    assert_eq!(queue.pop(&mut pass).unwrap().1, 3);
    assert!(queue.pop(&mut pass).is_none());
    assert!(queue.pop(&mut pass).is_none());
    assert_eq!(asked, 2, "each is asked once");
    // What comes behind those that are parked is parked too.
    push(&mut queue, ticket(1, 4, 0), 0);
    assert!(pop(&mut queue).is_none());
    queue.wake(1);
    queue.wake(77);
    assert_eq!(drain(&mut queue), [1, 2, 4]);
    assert!(queue.lines.is_empty());
}

#[test]
fn w3_background_only_lets_background_and_lower_go() {
    let mut queue = Queue::new(10);
    for class in 0..4u16 {
        push(&mut queue, ticket(1, class as u64, class), 0);
    }
    let pass = |ticket: &Ticket| if ticket.class < 2 { Pass::NotLane } else { Pass::Go };
    assert_eq!(queue.pop(pass).unwrap().1, 2);
    assert_eq!(queue.pop(pass).unwrap().1, 3);
    assert!(queue.pop(pass).is_none());
    assert_eq!(drain(&mut queue), [0, 1]);
    push(&mut queue, ticket(1, 9, 0), 0);
    assert!(queue.pop(|_| Pass::Nothing).is_none());
    assert_eq!(queue.len(), 1);
}

#[test]
fn w1_a_full_queue_and_a_second_of_a_name_are_refused() {
    let mut queue = Queue::new(1);
    push(&mut queue, ticket(1, 1, 0), 0);
    assert_eq!(queue.check_push(&ticket(1, 2, 0), Time(0)).unwrap_err().code, ErrorCode::LIMIT_EXCEEDED);
    let mut queue = Queue::new(2);
    push(&mut queue, ticket(1, 1, 0), 0);
    assert_eq!(queue.check_push(&ticket(1, 1, 3), Time(0)).unwrap_err().rule, "O2");
}

#[test]
fn o8_what_waited_past_its_deadline_is_taken_out() {
    let mut queue = Queue::new(10);
    push(&mut queue, Ticket { deadline: Some(Time(20)), ..ticket(1, 1, 0) }, 0);
    push(&mut queue, Ticket { deadline: Some(Time(10)), ..ticket(1, 2, 2) }, 0);
    assert_eq!(queue.next_timeout(), Some(Time(10)));
    assert!(queue.poll_expired(Time(9)).is_none());
    assert_eq!(queue.poll_expired(Time(10)).unwrap().1, 2);
    assert!(queue.poll_expired(Time(19)).is_none());
    assert!(queue.reschedule(&ticket(1, 1, 2), Time(10)));
    assert_eq!(queue.next_timeout(), None);
    assert_eq!(queue.get(1, 1).unwrap().0.class, 2);
    assert!(!queue.reschedule(&ticket(1, 5, 2), Time(10)));
}

#[test]
fn extreme_times_levels_and_classes_do_no_harm() {
    let mut queue = Queue::new(10);
    push(&mut queue, Ticket { level: i16::MIN, ..ticket(u32::MAX, u64::MAX, u16::MAX) }, u64::MAX);
    push(&mut queue, Ticket { level: i16::MAX, deadline: Some(Time(0)), ..ticket(0, 0, 0) }, 0);
    push(&mut queue, Ticket { deadline: Some(Time(u64::MAX)), ..ticket(1, 1, u16::MAX) }, 0);
    assert_eq!(drain(&mut queue), [0, 1, u64::MAX]);
}

/// What goes in comes out once, whatever happens in between, and nothing is left behind.
#[test]
fn queues_match_a_model() {
    let mut random = Random::new(5);
    let mut queue = Queue::new(200);
    let mut model: BTreeMap<(u32, u64), Ticket> = BTreeMap::new();
    let mut blocked = [false; 4];
    let mut now = 0;
    for step in 0..steps(40_000) {
        now += random.below(20);
        let session = random.below(4) as u32;
        let operation = random.below(40);
        let deadline = random.chance(3).then(|| Time(now + random.below(500)));
        let level = random.below(7) as i16 - 3;
        let group = random.below(3);
        let ticket = Ticket { session, operation, class: random.below(6) as u16, level, deadline, group };
        match random.below(8) {
            0..3 => match queue.check_push(&ticket, Time(now)) {
                Ok(plan) => {
                    queue.apply_push(plan, step as u64);
                    assert!(model.insert((session, operation), ticket).is_none());
                }
                Err(_) => assert!(model.len() >= 200 || model.contains_key(&(session, operation))),
            },
            3..5 => {
                let popped =
                    queue.pop(|t| if blocked[t.session as usize] { Pass::NotSession } else { Pass::Go });
                match popped {
                    Some((ticket, _)) => {
                        assert!(!blocked[ticket.session as usize]);
                        assert_eq!(model.remove(&(ticket.session, ticket.operation)), Some(ticket));
                        // Nothing of the same session and lane was due before it.
                        let lane = Lane::of(ticket.class);
                        let same = |t: &&Ticket| t.session == ticket.session && Lane::of(t.class) == lane;
                        assert_eq!(model.values().filter(same).count(), {
                            let lines = queue.lines.get(&ticket.session);
                            lines.map_or(0, |lines| lines[lane as usize].items.len())
                        });
                    }
                    None => assert!(model.keys().all(|(session, _)| blocked[*session as usize])),
                }
            }
            5 => {
                blocked[session as usize] ^= true;
                if !blocked[session as usize] {
                    queue.wake(session);
                }
            }
            6 => {
                let had = model.contains_key(&(session, operation));
                if random.chance(2) {
                    assert_eq!(queue.reschedule(&ticket, Time(now)), had);
                    if had {
                        model.insert((session, operation), ticket);
                    }
                } else {
                    let removed = queue.remove(session, operation).map(|(ticket, _)| ticket);
                    assert_eq!(removed, model.remove(&(session, operation)));
                }
            }
            _ if random.chance(20) => {
                let mut removed = 0;
                queue.remove_session(session, |_, _| removed += 1);
                assert_eq!(removed, model.keys().filter(|key| key.0 == session).count());
                model.retain(|key, _| key.0 != session);
            }
            _ => {
                while let Some((ticket, _)) = queue.poll_expired(Time(now)) {
                    assert!(ticket.deadline.is_some_and(|deadline| deadline <= Time(now)));
                    assert!(model.remove(&(ticket.session, ticket.operation)).is_some());
                }
                assert!(model.values().all(|t| t.deadline.is_none_or(|deadline| deadline > Time(now))));
            }
        }
        assert_eq!(queue.len(), model.len());
        let of = |key: &(u32, u64), ticket: &Ticket| key.0 == session && ticket.group == 2;
        let members = model.iter().filter(|(key, ticket)| of(key, ticket)).map(|(key, _)| key.1);
        assert!(queue.group(session, 2).eq(members));
        assert_eq!(queue.group(session, 0).count(), 0, "0 is no group");
    }
    for session in 0..4 {
        queue.remove_session(session, |_, _| {});
    }
    assert!(queue.is_empty() && queue.lines.is_empty() && queue.deadlines.is_empty());
    assert!(queue.ready.iter().all(|ready| ready.lines.is_empty()));
}
