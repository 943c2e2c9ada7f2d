use super::*;
use crate::{CacheAck, CacheAckStatus, CacheLeaseExtension, CachePut};

fn put(lo: u64, object_kind: CacheObjectKind) -> CachePut {
    CachePut { object_kind, cache_key_lo: lo, ..Default::default() }
}

fn ack(lo: u64) -> CacheAck {
    CacheAck { cache_key_lo: lo, ..Default::default() }
}

fn send(sent: &mut Sent, put: &CachePut, lease: Option<CacheLeaseExtension>) {
    sent.apply_put(sent.check_put(put, lease.as_ref(), 3).unwrap());
}

#[test]
fn k8_an_answer_is_for_the_oldest_put_of_its_key() {
    let mut sent = Sent::new(10);
    let (one, two) = (CacheObjectKind::TOOL_SCHEMA, CacheObjectKind::CODEC_TABLE);
    send(&mut sent, &put(1, one), None);
    send(&mut sent, &put(2, two), None);
    send(&mut sent, &put(1, two), None);
    let mut kinds = std::vec::Vec::new();
    for lo in [1, 1, 2] {
        let answered = sent.apply_ack(sent.check_ack(&ack(lo), None, 3).unwrap(), NOW).unwrap();
        kinds.push((answered.key.lo, answered.key.kind));
    }
    assert_eq!(kinds, [(1, one), (1, two), (2, two)]);
    let refusal = sent.check_ack(&ack(1), None, 3).unwrap_err();
    assert_eq!((refusal.code, refusal.rule), (ErrorCode::INVALID_STATE, "K8"));
    assert!(sent.is_empty());
}

#[test]
fn k8_an_answer_in_another_session_answers_nothing() {
    let mut sent = Sent::new(10);
    send(&mut sent, &put(1, CacheObjectKind::TOOL_SCHEMA), None);
    assert_eq!(sent.check_ack(&ack(1), None, 4).unwrap_err().rule, "K8");
    assert_eq!(sent.check_ack(&ack(1), None, 0).unwrap_err().rule, "K8");
    sent.end_session(4);
    assert_eq!(sent.len(), 1);
    sent.end_session(3);
    assert!(sent.is_empty());
}

#[test]
fn k1_k2_x4_only_what_was_asked_for_is_granted() {
    let lease =
        |lease_id, object_version| CacheLeaseExtension { lease_id, object_version, ..Default::default() };
    for (asked, granted, rule) in [
        (None, lease(5, 1), Some("X4")),
        (Some(lease(0, 0)), lease(0, 1), Some("X4")),
        (Some(lease(0, 0)), lease(5, 1), None),
        (Some(lease(5, 0)), lease(6, 1), Some("K2")),
        (Some(lease(5, 0)), lease(5, 1), None),
        (Some(lease(0, 4)), lease(5, 5), Some("K1")),
        (Some(lease(0, 4)), lease(5, 4), None),
    ] {
        let mut sent = Sent::new(10);
        send(&mut sent, &put(1, CacheObjectKind::TOOL_SCHEMA), asked);
        let verdict = sent.check_ack(&ack(1), Some(&granted), 3);
        assert_eq!(verdict.as_ref().err().map(|refusal| refusal.rule), rule);
        if let Ok(plan) = verdict {
            assert_eq!(sent.apply_ack(plan, NOW).unwrap().lease, Some(granted));
        }
    }
}

#[test]
fn k8_a_refusal_brings_its_code_and_nothing_else() {
    let mut sent = Sent::new(10);
    send(&mut sent, &put(1, CacheObjectKind::TOOL_SCHEMA), Some(CacheLeaseExtension::default()));
    let rejected =
        CacheAck { status: CacheAckStatus::Rejected, detail_code: 7, accepted_ttl_ms: 9, ..ack(1) };
    for lease in [None, Some(CacheLeaseExtension { lease_id: 5, ttl_ms: 9, ..Default::default() })] {
        let mut sent = sent.clone();
        let plan = sent.check_ack(&rejected, lease.as_ref(), 3).unwrap();
        let answered = sent.apply_ack(plan, NOW).unwrap();
        assert_eq!(answered.code, Some(ErrorCode::LIMIT_EXCEEDED));
        assert_eq!((answered.lease, answered.until), (None, None));
    }
}

#[test]
fn k8_a_flood_of_puts_is_bounded() {
    let mut sent = Sent::new(3);
    for lo in 0..3 {
        send(&mut sent, &put(lo, CacheObjectKind::TOOL_SCHEMA), None);
    }
    let refusal = sent.check_put(&put(0, CacheObjectKind::TOOL_SCHEMA), None, 3).unwrap_err();
    assert_eq!(refusal.code, ErrorCode::LIMIT_EXCEEDED);
}
