//! One path through everything.

use nnrp_core::state::connection::{Event, drain_within};
use nnrp_core::state::session::Verdict;
use nnrp_core::{ConnectionState, OperationState, SessionOpen};
use nnrp_tests::pair::{Pair, result};

#[test]
fn an_operation_goes_from_submit_to_result() {
    let mut pair = Pair::active();
    let session = pair.open(&SessionOpen::default());
    assert!(pair.submit(session, 1).expect("credit"));
    pair.settle();
    let events = pair.server_events();
    assert!(
        matches!(&events[..], [Event::Submitted { session_id, operation_id: 1, .. }] if *session_id == session),
        "{events:?}"
    );
    pair.server.send_packet(&result(session, 1), pair.now).expect("a live operation");
    pair.settle();
    let events = pair.client_events();
    let [Event::Ended { outcome, packet: Some(_), .. }] = &events[..] else { panic!("{events:?}") };
    assert_eq!((outcome.operation, outcome.state), (1, OperationState::Completed));
    let events = pair.server_events();
    assert!(matches!(&events[..], [Event::Ended { packet: None, .. }]), "{events:?}");
    assert_eq!((pair.client.snapshot().operations, pair.server.snapshot().operations), (0, 0));

    pair.client.close_session(session, &drain_within(100), pair.now).expect("an open session");
    pair.settle();
    pair.server
        .answer_close(session, Verdict::Proceed { last_operation_id: 1 }, pair.now)
        .expect("a request to close");
    pair.settle();
    assert_eq!((pair.client.snapshot().sessions, pair.server.snapshot().sessions), (0, 0));

    pair.client.close(pair.now).expect("an active connection");
    pair.settle();
    assert_eq!(pair.client.state(), ConnectionState::Closed);
    assert_eq!(pair.server.state(), ConnectionState::Closed);
}
