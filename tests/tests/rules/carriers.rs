//! Carriers: X1 to X4. X5 is in `payloads`.

use nnrp_core::build::{Extensions, SubmitBuilder};
use nnrp_core::wire::FaultKind;
use nnrp_core::*;

use super::samples::*;
use super::vector::{Good, Vector, rules};

const HEADER: &str = "control_extension_header";

/// A known extension with its critical bit set, and with another length, as its rule refuses it.
fn forms(good: &Good, at: usize, rule: &'static str) -> [super::vector::Vector; 2] {
    let size = good.as_bytes()[at + 4];
    let shorter = good.put(at + 4, &[size - 8]);
    let cut = shorter.splice(at + size as usize, 8, &[]);
    [
        good.put(at + 2, &[1]).breaks(rule, HEADER, "ext_flags", at + 2),
        cut.length(rule, HEADER, "ext_len", at + 4),
    ]
}

fn cancel(cancel_scope: CancelScope, operation_id: u64) -> Good {
    let scope = CancelScopeExtension { cancel_scope, operation_id };
    let extensions = Extensions::new(MessageType::FrameCancel).known(scope);
    let ext = extensions.entries().expect("it is good");
    Good::packet(CommonHeader { frame_id: 0, ..of_session() }, Message::FrameCancel(FrameCancelBody { ext }))
}

fn lease(renew: bool) -> CacheLeaseExtension {
    let owner_scope = LeaseOwnerScope::Session;
    CacheLeaseExtension { owner_id: 3, owner_scope, renew, ..CacheLeaseExtension::default() }
}

/// A CACHE_PUT with a lease and an object.
fn put(lease: CacheLeaseExtension, object: &[u8]) -> Good {
    let extensions = Extensions::new(MessageType::CachePut).known(lease);
    let body = CachePutBody { object, ext: extensions.entries().expect("it is good") };
    Good::packet(of_session(), Message::CachePut(CachePut::default(), body))
}

rules! {
    x1_the_waterline_of_a_resume_has_its_form,
    x2_operation_links_have_their_form,
    x3_a_cancel_scope_starts_from_an_operation,
    x4_a_lease_has_an_owner_and_a_renewal_stores_nothing,
}

/// Where a resumed session goes on is not critical, and has its length.
fn x1_the_waterline_of_a_resume_has_its_form() -> Vec<Vector> {
    let waterline = ResumeFromOperationExtension { resume_from_operation_id: 9 };
    let extensions = Extensions::new(MessageType::SessionOpen).known(waterline);
    let session_extension = extensions.entries().expect("it is good");
    let body = SessionOpenBody { session_extension, ..SessionOpenBody::default() };
    let open = Good::packet(of_connection(), Message::SessionOpen(SessionOpen::default(), body));
    let at = 88;
    vec![
        open.put(at + 2, &[1]).breaks("X1.1", HEADER, "ext_flags", at + 2),
        open.put(at + 4, &[0]).splice(at + 8, 8, &[]).set("session_extension_bytes", 8).length(
            "X1.1",
            HEADER,
            "ext_len",
            at + 4,
        ),
    ]
}

/// The links of an operation have their form, and stand once.
fn x2_operation_links_have_their_form() -> Vec<Vector> {
    let links = OperationLinks { parent_operation_id: 1, operation_group_id: 2 };
    let submit = Good::bytes(
        SubmitBuilder::new(frame_submit()).links(links).to_vec(&of_session()).expect("it is good"),
    );
    let kind = ExtensionKind::from_raw(9).expect("any kind");
    let other = ExtensionFrameDescriptor { extension_kind: kind, ..ExtensionFrameDescriptor::default() };
    let twice = SubmitBuilder::new(frame_submit()).links(links).extension(&other, &[0; 16]);
    let twice = Good::bytes(twice.to_vec(&of_session()).expect("it is good"));
    let (at, name) = (112 + 32, "extension_frame_descriptor");
    let size = submit.as_bytes().len();
    vec![
        submit.put(at + 2, &[1]).breaks("X2.1", name, "extension_flags", at + 2),
        submit.put(at + 4, &[2]).breaks("X2.1", name, "profile_id", at + 4),
        twice.put(at + 16, &[0x01, 0x40]).breaks("X2.1", name, "extension_kind", at + 16),
        submit.put(at + 12, &[15]).put(112 + 20, &[15]).splice(size - 1, 1, &[]).length(
            "X2.1",
            name,
            "payload_length",
            at + 12,
        ),
        submit.put(at + 12, &[17]).put(112 + 20, &[17]).splice(size, 0, &[0]).length(
            "X2.1",
            name,
            "payload_length",
            at + 12,
        ),
    ]
}

/// A cancel scope starts from an operation, unless it is the session.
fn x3_a_cancel_scope_starts_from_an_operation() -> Vec<Vector> {
    let (session, subtree) = (cancel(CancelScope::Session, 0), cancel(CancelScope::Subtree, 7));
    let name = "cancel_scope_extension";
    let mut vectors = vec![
        session.put(56, &[1]).breaks("X3.1", name, "operation_id", 56),
        subtree.put(56, &[0]).breaks("X3.2", name, "operation_id", 56),
        cancel(CancelScope::Operation, 7).put(56, &[0]).breaks("X3.2", name, "operation_id", 56),
        cancel(CancelScope::Group, 7).put(56, &[0]).breaks("X3.2", name, "operation_id", 56),
        subtree.put(48, &[4]).faults(FaultKind::UnknownValue, "", name, "cancel_scope", 48),
    ];
    vectors.extend(forms(&subtree, 40, "X3.3"));
    vectors
}

/// A lease has an owner, and a renewal stores nothing.
fn x4_a_lease_has_an_owner_and_a_renewal_stores_nothing() -> Vec<Vector> {
    let granted = put(lease(false), b"object!!");
    let (at, name) = (40 + 40 + 8, "cache_lease_extension");
    let owner = at + 8 + 16;
    let of_the_connection =
        CacheLeaseExtension { owner_id: 0, owner_scope: LeaseOwnerScope::Connection, ..lease(false) };
    let of_the_connection = put(of_the_connection, b"object!!");
    let ack = Extensions::new(MessageType::CacheAck).known(lease(false));
    let ack = CacheAckBody { ext: ack.entries().expect("it is good") };
    let ack = Good::packet(of_session(), Message::CacheAck(CacheAck::default(), ack));
    let mut vectors = vec![
        of_the_connection.put(owner, &[1]).breaks("X4.1", name, "owner_id", owner),
        granted.put(owner, &[0]).breaks("X4.2", name, "owner_id", owner),
        granted.put(at + 8 + 29, &[1]).breaks("X4.5", "cache_put", "object_bytes", 40 + 28),
        granted.put(at + 8 + 29, &[2]).faults(FaultKind::UnknownValue, "", name, "renew", at + 8 + 29),
    ];
    put(lease(true), b"").set("ttl_ms", 1).passes();
    vectors.extend(forms(&granted, at, "X4.4"));
    vectors.extend(forms(&ack, 80, "X4.4"));
    vectors
}

/// A cancel scope names what a frame otherwise would (D26, X3).
#[test]
fn x3_with_a_cancel_scope_no_frame_is_needed() {
    assert_eq!(cancel(CancelScope::Group, 7).as_bytes()[24..28], [0; 4]);
}

/// Carriers stand only in their messages; elsewhere they are unknown, and skipped (B7).
#[test]
fn carriers_are_unknown_elsewhere() {
    let extensions = Extensions::new(MessageType::Close)
        .known(CancelScopeExtension::default())
        .known(CacheLeaseExtension { owner_scope: LeaseOwnerScope::Session, ..lease(false) });
    // Checked by nothing but their form: the same scope is refused in FRAME_CANCEL.
    let entries: Vec<_> = extensions.entries().map(|block| block.iter().collect()).unwrap_or_default();
    assert!(entries.iter().all(|entry| matches!(entry.payload, ControlExtensionPayload::Other(_))));
}
