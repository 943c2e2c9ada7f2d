//! Two ends with something of everything, and a look at all of it.

use nnrp_core::state::capability::{Offer, Purpose, Terms};
use nnrp_core::state::connection::{Connection, Counters};
use nnrp_core::*;
use nnrp_tests::pair::Pair;

use super::say::{self, say};

/// Sessions, operations in every state, credit, cache, objects, budgets, traces, offers.
pub struct Rich {
    /// The two ends.
    pub pair: Pair,
    /// The session with everything in it.
    pub session: u32,
}

/// Operations of [`Rich::session`] in the four live states, in this order.
pub const LIVE: [(u64, OperationState); 4] = [
    (1, OperationState::Accepted),
    (2, OperationState::Running),
    (3, OperationState::Partial),
    (4, OperationState::WaitingTool),
];

/// One that has ended.
pub const ENDED: u64 = 5;

/// One that was asked to end.
pub const ASKED: u64 = 6;

/// Makes it.
pub fn rich() -> Rich {
    let mut pair = Pair::active();
    let session = pair.open(&SessionOpen {
        session_flags: SessionFlags::all(),
        requested_session_id: 7,
        profile_id: ProfileId::TOKEN,
        max_in_flight_operations: 12,
        ..SessionOpen::default()
    });
    // Its neighbour, whose flags are all clear.
    let plain = pair.open(&SessionOpen { requested_session_id: 8, ..SessionOpen::default() });
    for operation in [1, 2, 3, 4, ENDED, ASKED] {
        pair.submit(session, operation).expect("there is room");
    }
    pair.submit(plain, 1).expect("there is room");
    let now = pair.now;
    let client = &mut pair.client;
    say(client, session, 1, &say::deadline(1, 900_000, SchedulingFlags::all()), now).unwrap();
    say(client, session, 9, &say::deadline(9, 900_000, SchedulingFlags::empty()), now).unwrap();
    say(client, session, ASKED, &say::cancel(ASKED), now).unwrap();
    client.send(&say::session(session), &say::put(1, b"first"), now).unwrap();
    client.send(&say::session(0), &say::put(1, b"second"), now).unwrap();
    let budget =
        Budget { operation_id: 2, token_budget: 5, flags: BudgetFlags::REPLACE, ..Budget::default() };
    say(client, session, 2, &Message::BudgetUpdate(budget), now).unwrap();
    let trace = TraceContext { trace_id: 1, span_id: 2, ..TraceContext::default() };
    let trace = Message::TraceContext(trace, TraceContextBody { trace_attributes: b"" });
    say(client, session, 2, &trace, now).unwrap();
    let declare = ObjectDescriptor {
        object_id: 1,
        session_id: session,
        producer_role: Role::CLIENT,
        consumer_role: Role::SERVER,
        byte_size: 100,
        ..ObjectDescriptor::default()
    };
    let declare = Message::ObjectDeclare(declare, ObjectDeclareBody { object_metadata: b"" });
    client.send(&say::session(session), &declare, now).unwrap();
    let offer = Offer::new(ProfileId::TOKEN, ["control.cancel_abort", "object.delta"], Terms::default());
    client.offer(Purpose::Negotiation, session, &offer, now).unwrap();
    pair.settle();
    let (now, server) = (pair.now, &mut pair.server);
    for (operation, stage) in [(2, StageCode::EXECUTING), (4, StageCode::WAITING_DEPENDENCY)] {
        say(server, session, operation, &say::progress(operation, stage), now).unwrap();
    }
    say(server, session, 3, &say::partial(3), now).unwrap();
    server.send_packet(&nnrp_tests::pair::result(session, ENDED), now).unwrap();
    server.send(&say::session(session), &say::credit(20, 3), now).unwrap();
    pair.settle();
    for end in [&pair.client, &pair.server] {
        for (operation, state) in LIVE {
            assert_eq!(end.operations(session).unwrap().by_id(operation).unwrap().state(), state);
        }
    }
    pair.client_events();
    pair.server_events();
    Rich { pair, session }
}

/// Everything that can be seen of an end, but for what counts packets and waits to be fetched.
pub fn look(end: &mut Connection) -> String {
    let mut snapshot = end.snapshot();
    snapshot.counters = Counters { work: snapshot.counters.work, ..Counters::default() };
    (snapshot.output_bytes, snapshot.events) = (0, 0);
    // A look-up that fails counts as a miss (T2).
    snapshot.cache = Default::default();
    let mut seen = format!("{snapshot:?}\n{:?}\n{:?}\n", end.sessions(), end.capabilities());
    let ids: Vec<u32> = end.sessions().iter().map(|session| session.id()).collect();
    for id in ids {
        seen += &format!("{:?}\n{:?}\n", end.session_snapshot(id), end.operations(id));
        seen += &format!("{:?}\n", end.budgets(id));
        seen += &format!("{:?}\n", end.trace(id, 2));
    }
    let mut objects: Vec<String> = Vec::new();
    for space in [0, 7, 8] {
        for lo in 0..4 {
            for kind in [CacheObjectKind::TOOL_SCHEMA, CacheObjectKind::PROMPT_SEGMENT] {
                let key = nnrp_core::state::cache::Key { space, namespace: 1, hi: 0, lo, kind };
                objects.push(format!("{:?}", end.cache().get(&key)));
            }
        }
    }
    seen + &format!("{objects:?}\n{:?}", end.schemas())
}
