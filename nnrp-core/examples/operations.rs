//! What operations cost: time and memory, printed.
//!
//! `cargo run --release --example operations`

use std::hint::black_box;
use std::time::Instant;

use nnrp_core::state::Time;
use nnrp_core::state::credit::Window;
use nnrp_core::state::operation::{Applied, Cause, Event, Limits, Manner, Named, Operations, Reach, Submit};
use nnrp_core::state::schedule::{Pass, Queue, Ticket};

const NOW: Time = Time(0);
const MILLION: u64 = 1_000_000;

fn wide() -> Operations {
    Operations::new(Limits { in_flight: u32::MAX, ..Limits::default() })
}

fn admit(operations: &mut Operations, submit: Submit) {
    let plan = operations.check_submit(&submit, NOW).expect("a place");
    operations.apply_submit(plan, ());
}

fn complete(operations: &mut Operations, operation: u64) {
    let named = Named::frame(operation as u32);
    let plan =
        operations.check_event(named, Event::Result { partial: false }, NOW).expect("a live operation");
    assert!(matches!(operations.apply_event(plan), Applied::Ended(_)));
}

/// Memory of this process, in bytes; 0 where the system does not tell.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok()).map_or(0, |pages| pages * 4096)
}

/// Time that this process spent on a core, so that other work on the machine does not count; else the clock.
fn spent(start: Instant) -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let on_core = text.split_whitespace().next().and_then(|ns| ns.parse().ok());
    on_core.unwrap_or(start.elapsed().as_nanos() as f64)
}

fn rate(what: &str, count: u64, work: impl FnOnce()) {
    let start = Instant::now();
    let before = spent(start);
    work();
    // The system counts in ticks, which says nothing of a short while.
    let spent = match spent(start) - before {
        ns if ns < 50e6 => start.elapsed().as_nanos() as f64,
        ns => ns,
    };
    let each = spent / count as f64;
    println!("{what:52} {:8.1} ms, {each:7.1} ns each, {:6.2} million a second", spent / 1e6, 1e3 / each);
}

const KINDS: [&str; 4] =
    ["bare", "in groups of 100", "in a tree, with deadlines", "each its own group, with deadlines"];

/// Memory that a million running operations take.
fn memory(kind: &str) {
    let before = resident();
    let mut operations = wide();
    for n in 1..=MILLION {
        let submit = Submit { operation: n, frame: n as u32, ..Submit::default() };
        let submit = match kind {
            "in groups of 100" => Submit { group: n / 100 + 1, ..submit },
            "in a tree, with deadlines" => Submit { parent: n / 2, default_deadline_ms: 60_000, ..submit },
            "each its own group, with deadlines" => {
                Submit { group: n, default_deadline_ms: 60_000, ..submit }
            }
            _ => submit,
        };
        admit(&mut operations, submit);
        let event = Event::Progress { sequence: 1, stage: nnrp_core::StageCode::EXECUTING };
        let plan = operations.check_event(Named::operation(n), event, NOW).expect("a live operation");
        operations.apply_event(plan);
    }
    let bytes = (resident().saturating_sub(before)) as f64 / MILLION as f64;
    println!("a live operation, {kind:36} {bytes:6.0} bytes");
}

fn main() {
    if let Some(kind) = std::env::args().nth(1) {
        return memory(&kind);
    }
    for window in [1, 64, 1024] {
        let mut operations = wide();
        rate(&format!("submit and complete, {window} in flight"), MILLION, || {
            for operation in 1..=MILLION {
                admit(&mut operations, Submit { operation, frame: operation as u32, ..Submit::default() });
                if operation > window {
                    complete(&mut operations, operation - window);
                }
            }
        });
    }

    let mut windows = (Window::connection(0), Window::session(64));
    rate("credit of both windows, taken and freed", MILLION, || {
        for _ in 0..MILLION {
            for window in [&mut windows.0, &mut windows.1] {
                let place = window.check_submit(0, NOW).expect("credit");
                window.apply_submit(place);
                window.apply_release();
            }
        }
    });
    black_box(windows);

    let mut queue = Queue::new(2048);
    rate("queue in and out, 1024 waiting", MILLION, || {
        for operation in 0..MILLION {
            let ticket = Ticket {
                session: (operation % 16) as u32,
                operation,
                class: (operation % 3) as u16,
                ..Ticket::default()
            };
            let plan = queue.check_push(&ticket, NOW).expect("room");
            queue.apply_push(plan, operation);
            if operation >= 1024 {
                black_box(queue.pop(|_| Pass::Go));
            }
        }
    });
    drop(queue);

    // Each in a process of its own, since memory that was used before is not given back.
    let own = std::env::current_exe().expect("a path");
    for kind in KINDS {
        std::process::Command::new(&own).arg(kind).status().expect("a process");
    }

    for size in [1_000u64, 10_000, 100_000] {
        for (how, fan) in [("a chain", 1), ("a tree of twos", 2), ("a star", u64::MAX)] {
            let mut operations = wide();
            for n in 1..=MILLION {
                let parent = if n == 1 || n > size { 0 } else { ((n - 2) / fan) + 1 };
                admit(&mut operations, Submit { operation: n, frame: n as u32, parent, ..Submit::default() });
            }
            let reach = Reach::Subtree(Named::operation(1));
            let mut ended = 0;
            rate(&format!("abort {how} of {size} among a million"), size, || {
                let plan =
                    operations.check_cancel(reach, Manner::End, Cause::Cancel).expect("a live operation");
                operations.apply_cancel(plan, |_| ended += 1);
            });
            assert_eq!((ended, operations.len() as u64), (size, MILLION - size));
        }
    }
}
