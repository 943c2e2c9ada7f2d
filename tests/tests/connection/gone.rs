//! What ends takes along what is its own, so that the next one under its id begins anew (K2, K4, K8, U4).

use nnrp_core::build::Extensions;
use nnrp_core::state::cache::Key;
use nnrp_core::state::capability::{Offer, Purpose, Terms, Words};
use nnrp_core::state::connection::{Event, drain_within};
use nnrp_core::*;
use nnrp_tests::pair::Pair;

use super::say;

const ID: u32 = 7;

fn open(pair: &mut Pair) {
    let session_flags = SessionFlags::ALLOW_CACHE_LEASES;
    let open = SessionOpen { requested_session_id: ID, session_flags, ..SessionOpen::default() };
    assert_eq!(pair.open(&open), ID);
}

fn close(pair: &mut Pair) {
    pair.client.close_session(ID, &drain_within(0), pair.now).expect("an open session");
    pair.settle();
    pair.server.accept_close(ID, pair.now).expect("a request that waits");
    pair.settle();
}

fn raw(header: CommonHeader, message: &Message<'_>) -> Vec<u8> {
    message.to_vec(&header).expect("a good packet")
}

#[test]
fn u4_what_was_offered_and_agreed_on_in_a_session_ends_with_it() {
    let mut pair = Pair::active();
    open(&mut pair);
    let offer = |words| Offer::new(ProfileId::TOKEN, [words], Terms::default());
    for words in ["object.cost", "object.delta"] {
        pair.client.offer(Purpose::Negotiation, ID, &offer(words), pair.now).expect("room");
    }
    pair.settle();
    // Only the first is answered.
    pair.server
        .answer_offer(Purpose::Negotiation, ID, ProfileId::TOKEN, &Words::from(["object.cost"]))
        .expect("an offer that waits");
    pair.settle();
    let standing = |pair: &Pair| {
        [&pair.client, &pair.server].map(|end| {
            let all = end.capabilities();
            let holds = all.agreed(ID, ProfileId::TOKEN, "object.cost").is_some();
            (holds, all.agreements(), all.waiting())
        })
    };
    assert_eq!(standing(&pair), [(true, 1, 1); 2]);
    close(&mut pair);
    open(&mut pair);
    assert_eq!(standing(&pair), [(false, 0, 0); 2]);
}

#[test]
fn k2_what_only_a_lease_of_a_session_kept_is_said_to_be_gone_with_it() {
    let mut pair = Pair::active();
    open(&mut pair);
    // An object of the connection under a lease of the session.
    let lease = CacheLeaseExtension {
        owner_scope: LeaseOwnerScope::Session,
        owner_id: ID.into(),
        ..CacheLeaseExtension::default()
    };
    let block = Extensions::new(MessageType::CachePut).known(lease);
    let ext = block.entries().expect("a good block");
    let put = CachePut { object_kind: CacheObjectKind::TOOL_SCHEMA, cache_key_lo: 1, ..CachePut::default() };
    let message = Message::CachePut(put, CachePutBody { object: b"object", ext });
    pair.client.send(&say::session(0), &message, pair.now).expect("room");
    pair.settle();
    pair.server_events();
    close(&mut pair);
    let gone = pair.server_events().into_iter().find_map(|event| match event {
        Event::Invalidated(gone) => Some(gone.objects),
        _ => None,
    });
    let key = Key { space: 0, namespace: 0, hi: 0, lo: 1, kind: CacheObjectKind::TOOL_SCHEMA };
    assert_eq!(gone, Some(vec![key]));
    assert_eq!(pair.server.snapshot().cache_entries, 0);
}

#[test]
fn k8_what_a_session_put_is_answered_no_more_once_it_ended() {
    let mut pair = Pair::active();
    open(&mut pair);
    pair.client.send(&say::session(ID), &say::put(1, b"object"), pair.now).expect("room");
    // An ERROR of the server's ends the session before the answer comes, and the next one has its id.
    let error = Error { error_scope: ErrorScope::Session, is_fatal: true, ..Error::default() };
    let error = raw(say::session(ID), &Message::Error(error, ErrorBody::default()));
    pair.client.handle_bytes(&error, pair.now);
    assert!(pair.client.sessions().is_empty());
    let open = SessionOpen { requested_session_id: ID, ..SessionOpen::default() };
    pair.client.open_session(&open, b"", pair.now).expect("a free id");
    let opened = SessionOpenAck { session_id: ID, ..SessionOpenAck::default() };
    let opened = raw(say::session(0), &Message::SessionOpenAck(opened, SessionOpenAckBody::default()));
    pair.client.handle_bytes(&opened, pair.now);
    let object_kind = CacheObjectKind::CAMERA_BLOCK;
    let put = CachePut { cache_namespace: 1, cache_key_lo: 1, object_kind, ..CachePut::default() };
    let body = CachePutBody { object: b"another", ext: ControlExtensionEntries::default() };
    pair.client.send(&say::session(ID), &Message::CachePut(put, body), pair.now).expect("room");
    let ack = CacheAck { cache_namespace: 1, cache_key_lo: 1, ..CacheAck::default() };
    let ack = raw(say::session(ID), &Message::CacheAck(ack, CacheAckBody::default()));
    pair.client.handle_bytes(&[ack.clone(), ack].concat(), pair.now);
    let events: Vec<Event> = std::iter::from_fn(|| pair.client.poll_event()).collect();
    let answers: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::Cached(answered) => Some((answered.key.kind, answered.status)),
            _ => None,
        })
        .collect();
    assert_eq!(answers, [(object_kind, CacheAckStatus::Accepted)], "{events:?}");
}
