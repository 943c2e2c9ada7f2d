use super::*;
use crate::{
    CloseReason, CloseStatus, DegradePolicy, ErrorCode, InFlightPolicy, PatchMask, SessionClose,
    SessionCloseAck, SessionFlags, SessionOpen, SessionPatch, SessionPatchAck, SessionPatchReason,
    SessionPatchStatus, SessionPriorityClass,
};

mod closing;
mod model;
mod opening;

pub(super) const NOW: Time = Time(1_000);

pub(super) fn sessions(side: Side) -> Sessions {
    Sessions::new(side, Limits::default())
}

pub(super) fn open_with(side: &mut Sessions, open: &SessionOpen, ack: &SessionOpenAck) -> u32 {
    let plan = side.check_open(open, false).unwrap();
    side.apply_open(plan);
    let (_, opened) = side.apply_open_ack(side.check_open_ack(ack).unwrap(), NOW);
    match opened {
        Opened::Live { session_id, .. } => session_id,
        Opened::Refused { .. } => 0,
    }
}

/// A client with one open session.
pub(super) fn client(id: u32, flags: SessionFlags, edit: impl Fn(&mut SessionOpenAck)) -> Sessions {
    let mut client = sessions(Side::Client);
    add(&mut client, id, flags, edit);
    client
}

pub(super) fn add(client: &mut Sessions, id: u32, flags: SessionFlags, edit: impl Fn(&mut SessionOpenAck)) {
    let open = SessionOpen { requested_session_id: id, session_flags: flags, ..Default::default() };
    let mut ack = SessionOpenAck {
        session_id: id,
        max_in_flight_operations: 4,
        session_flags_ack: SessionFlagsAck::from_bits_truncate(flags.bits().into()),
        ..Default::default()
    };
    edit(&mut ack);
    open_with(client, &open, &ack);
}

/// A client whose session 7 is in that state; one operation is live in it.
pub(super) fn in_state(state: SessionState) -> Sessions {
    let mut client = sessions(Side::Client);
    let open = SessionOpen { requested_session_id: 7, ..Default::default() };
    let resume = state == SessionState::Resumed;
    let plan = client.check_open(&open, resume).unwrap();
    client.apply_open(plan);
    if state == SessionState::Opening {
        return client;
    }
    let session_status = if resume { SessionStatus::Resumed } else { SessionStatus::Opened };
    let ack =
        SessionOpenAck { session_id: 7, session_status, max_in_flight_operations: 4, ..Default::default() };
    client.apply_open_ack(client.check_open_ack(&ack).unwrap(), NOW);
    let serial = client.apply_submit(client.check_submit(7).unwrap(), NOW);
    assert_eq!(serial, 1);
    if matches!(state, SessionState::Open | SessionState::Resumed) {
        return client;
    }
    let close = SessionClose { drain_timeout_ms: 500, ..Default::default() };
    client.apply_close(client.check_close(7, &close).unwrap(), NOW);
    let status = match state {
        SessionState::Draining => CloseStatus::Draining,
        SessionState::Closed => CloseStatus::Closed,
        _ => return client,
    };
    client.apply_close_ack(client.check_close_ack(7, &close_ack(status)).unwrap());
    client
}

pub(super) fn close_ack(close_status: CloseStatus) -> SessionCloseAck {
    SessionCloseAck { close_status, ..Default::default() }
}

pub(super) fn state_of(sessions: &Sessions, id: u32) -> SessionState {
    match sessions.get(id) {
        Some(session) => session.state(),
        None if sessions.opening() != 0 => SessionState::Opening,
        None => SessionState::Closed,
    }
}

#[test]
fn s4_no_new_operations_from_closing_on() {
    for state in SessionState::ALL {
        let client = in_state(state);
        let open = matches!(state, SessionState::Open | SessionState::Resumed);
        match client.check_submit(7) {
            Ok(_) => assert!(open, "{state}"),
            Err(refusal) => {
                assert!(!open, "{state}");
                assert_eq!(refusal.code, ErrorCode::INVALID_STATE);
            }
        }
    }
    assert_eq!(in_state(SessionState::Closing).check_submit(7).unwrap_err().rule, "S4");
}

#[test]
fn s9_live_operations_stay_within_what_was_acknowledged() {
    let mut client = client(7, SessionFlags::empty(), |ack| ack.max_in_flight_operations = 2);
    client.apply_submit(client.check_submit(7).unwrap(), NOW);
    client.apply_submit(client.check_submit(7).unwrap(), NOW);
    let refusal = client.check_submit(7).unwrap_err();
    assert_eq!((refusal.code, refusal.rule), (ErrorCode::LIMIT_EXCEEDED, "S9"));
    assert_eq!(client.operation_ended(7, NOW), None);
    assert_eq!(client.apply_submit(client.check_submit(7).unwrap(), NOW), 3);
}

#[test]
fn s9_acknowledged_as_0_none_may_run() {
    let client = client(7, SessionFlags::empty(), |ack| ack.max_in_flight_operations = 0);
    assert_eq!(client.check_submit(7).unwrap_err().rule, "S9");
    assert!(!client.get(7).unwrap().is_full(), "waiting does not help");
}

#[test]
fn s5_overriding_the_default_schema_needs_both_sides() {
    let with_default = |ack: &mut SessionOpenAck| {
        ack.schema_id = 0x1001;
        ack.schema_version = 3;
        ack.accepted_profile_id = ProfileId::TOKEN;
    };
    let other = |flags| TypedPayloadDescriptor {
        schema_id: 0x1_0000,
        schema_version: 1,
        descriptor_flags: flags,
        ..Default::default()
    };
    let allowed = client(7, SessionFlags::ALLOW_SCHEMA_OVERRIDE, with_default);
    let forbidden = client(7, SessionFlags::empty(), with_default);
    let says = DescriptorFlags::SCHEMA_OVERRIDE;
    assert_eq!(allowed.check_binding(7, &other(says)).unwrap().schema_id, 0x1_0000);
    for (side, flags) in [(&allowed, DescriptorFlags::empty()), (&forbidden, says)] {
        let refusal = side.check_binding(7, &other(flags)).unwrap_err();
        assert_eq!((refusal.code, refusal.rule), (ErrorCode::UNSUPPORTED_CAPABILITY, "S5"));
    }
    // Another version of the same schema is another schema.
    let version = TypedPayloadDescriptor { schema_id: 0x1001, schema_version: 4, ..Default::default() };
    assert_eq!(forbidden.check_binding(7, &version).unwrap_err().rule, "S5");
    let same = TypedPayloadDescriptor { schema_id: 0x1001, schema_version: 3, ..Default::default() };
    assert_eq!(forbidden.check_binding(7, &same).unwrap().schema_version, 3);
}

#[test]
fn s5_what_a_descriptor_leaves_open_is_the_sessions() {
    let client = client(7, SessionFlags::empty(), |ack| {
        ack.schema_id = 0x1001;
        ack.schema_version = 3;
        ack.accepted_profile_id = ProfileId::TOKEN;
    });
    let binding = client.check_binding(7, &TypedPayloadDescriptor::default()).unwrap();
    let want = Binding { profile: ProfileId::TOKEN, schema_id: 0x1001, schema_version: 3 };
    assert_eq!(binding, want);
    let own = TypedPayloadDescriptor { profile_id: ProfileId::TENSOR, ..Default::default() };
    assert_eq!(client.check_binding(7, &own).unwrap().profile, ProfileId::TENSOR);
}

#[test]
fn s5_without_a_default_a_descriptor_binds_freely() {
    let client = client(7, SessionFlags::empty(), |_| {});
    let free = TypedPayloadDescriptor { schema_id: 0x1_0000, schema_version: 9, ..Default::default() };
    let want = Binding { profile: ProfileId::UNSPECIFIED, schema_id: 0x1_0000, schema_version: 9 };
    assert_eq!(client.check_binding(7, &free).unwrap(), want);
}

#[test]
fn s10_background_results_and_leases_need_their_flags() {
    let nothing = client(7, SessionFlags::empty(), |ack| ack.lease_ttl_ms = 50);
    let refusal = nothing.check_background(7).unwrap_err();
    assert_eq!((refusal.code, refusal.rule), (ErrorCode::UNSUPPORTED_CAPABILITY, "S10"));
    let refusal = nothing.check_lease(7).unwrap_err();
    assert_eq!((refusal.code.raw(), refusal.rule), (0x0001_0005, "S10"));
    let all = client(7, SessionFlags::all(), |ack| ack.lease_ttl_ms = 50);
    all.check_background(7).unwrap();
    assert_eq!(all.check_lease(7).unwrap(), 50);
}

#[test]
fn s11_tags_and_route_are_kept_and_select_nothing() {
    let mut client = sessions(Side::Client);
    for id in [7, 8] {
        let open = SessionOpen { client_session_tag: 99, ..Default::default() };
        let ack = SessionOpenAck {
            session_id: id,
            server_session_tag: 98,
            route_scope_id: 97,
            max_in_flight_operations: 1,
            ..Default::default()
        };
        open_with(&mut client, &open, &ack);
    }
    for id in [7, 8] {
        let terms = client.get(id).unwrap().terms();
        assert_eq!((terms.client_tag, terms.server_tag, terms.route_scope_id), (99, 98, 97));
    }
    client.apply_submit(client.check_submit(7).unwrap(), NOW);
    assert_eq!(client.get(8).unwrap().live(), 0);

    // The server says its own, and confirms its own routing domain.
    let mut server = sessions(Side::Server);
    let ticket = server.apply_open(server.check_open(&SessionOpen::default(), false).unwrap());
    let (policy, verdicts) = (
        Policy { route_scope_id: 97, ..Default::default() },
        Verdicts { server_tag: 98, ..Default::default() },
    );
    let plan = server.check_answer(ticket, &policy, &verdicts, &mut || 1).unwrap();
    assert_eq!((plan.ack().route_scope_id, plan.ack().server_session_tag), (97, 98));
}

fn patch(mask: PatchMask) -> SessionPatch {
    SessionPatch {
        patch_mask: mask,
        target_cadence_x100: 6_000,
        quality_tier: 2,
        degrade_policy: DegradePolicy::PREFER_LATENCY,
        active_lane_mask: 3,
        preferred_codec_bitmap: 4,
        preferred_compression_bitmap: 5,
        profile_patch_bytes: if mask.contains(PatchMask::PROFILE_PATCH) { 8 } else { 0 },
        ..Default::default()
    }
}

#[test]
fn s7_a_patch_changes_only_what_its_mask_names() {
    for mask in PatchMask::all().iter().chain([PatchMask::all(), PatchMask::empty()]) {
        let mut server = client(7, SessionFlags::empty(), |_| {});
        server.side = Side::Server;
        let accept = Accept { profile_patch_ack_bytes: 8, ..Default::default() };
        let ack = server.apply_patch(server.check_patch(7, &patch(mask)).unwrap(), &accept);
        assert_eq!((ack.status, ack.applied_patch_mask), (SessionPatchStatus::Accepted, mask));
        ack.to_bytes().unwrap();
        let named = |bit| mask.contains(bit);
        let settings = *server.get(7).unwrap().settings();
        assert_eq!(settings.target_cadence_x100 != 0, named(PatchMask::TARGET_CADENCE));
        assert_eq!(settings.quality_tier != 0, named(PatchMask::QUALITY_TIER));
        assert_eq!(settings.degrade_policy.raw() != 0, named(PatchMask::DEGRADE_POLICY));
        assert_eq!(settings.active_lane_mask != 0, named(PatchMask::ACTIVE_LANE_MASK));
        assert_eq!(settings.codec_bitmap != 0, named(PatchMask::PREFERRED_CODEC));
        assert_eq!(settings.compression_bitmap != 0, named(PatchMask::PREFERRED_COMPRESSION));

        let mut client = client(7, SessionFlags::empty(), |_| {});
        client.apply_patch_sent(client.check_patch(7, &patch(mask)).unwrap());
        assert_eq!(*client.get(7).unwrap().settings(), Settings::default());
        assert_eq!(client.apply_patch_ack(client.check_patch_ack(7, &ack).unwrap()), mask);
        assert_eq!(*client.get(7).unwrap().settings(), settings);
    }
}

#[test]
fn s7_what_is_not_applied_is_said() {
    let mut server = client(7, SessionFlags::empty(), |_| {});
    server.side = Side::Server;
    let (tier, lanes) = (PatchMask::QUALITY_TIER, PatchMask::ACTIVE_LANE_MASK);
    let accept = Accept { mask: tier | PatchMask::TARGET_CADENCE, ..Default::default() };
    let ack = server.apply_patch(server.check_patch(7, &patch(tier | lanes)).unwrap(), &accept);
    assert_eq!((ack.status, ack.reason), (SessionPatchStatus::Partial, SessionPatchReason::UnsupportedValue));
    assert_eq!((ack.applied_patch_mask, ack.rejected_patch_mask), (tier, lanes));
    let settings = server.get(7).unwrap().settings();
    assert_eq!((settings.quality_tier, settings.active_lane_mask), (2, 0));
}

#[test]
fn s7_the_profile_cannot_be_patched() {
    let token = |ack: &mut SessionOpenAck| ack.accepted_profile_id = ProfileId::TOKEN;
    let moved = SessionPatch { profile_id: ProfileId::TENSOR, ..patch(PatchMask::QUALITY_TIER) };
    let mut client = client(7, SessionFlags::empty(), token);
    assert_eq!(client.check_patch(7, &moved).unwrap_err().rule, "S7");

    client.side = Side::Server;
    let ack = client.apply_patch(client.check_patch(7, &moved).unwrap(), &Accept::default());
    assert_eq!((ack.status, ack.reason), (SessionPatchStatus::Rejected, SessionPatchReason::ImmutableField));
    assert_eq!(ack.effective_profile_id, ProfileId::TOKEN);
    assert_eq!(client.get(7).unwrap().settings().quality_tier, 0);

    client.side = Side::Client;
    client.apply_patch_sent(client.check_patch(7, &patch(PatchMask::QUALITY_TIER)).unwrap());
    let ack = SessionPatchAck {
        applied_patch_mask: PatchMask::QUALITY_TIER,
        effective_profile_id: ProfileId::TENSOR,
        ..Default::default()
    };
    assert_eq!(client.check_patch_ack(7, &ack).unwrap_err().rule, "S7");
}

#[test]
fn s7_an_answer_is_about_its_patch() {
    let mut client = client(7, SessionFlags::empty(), |_| {});
    let ack = |status, applied, rejected| SessionPatchAck {
        status,
        applied_patch_mask: applied,
        rejected_patch_mask: rejected,
        ..Default::default()
    };
    use SessionPatchStatus::{Accepted, Partial, Rejected};
    let (tier, lanes) = (PatchMask::QUALITY_TIER, PatchMask::ACTIVE_LANE_MASK);
    assert_eq!(client.check_patch_ack(7, &ack(Accepted, tier, PatchMask::empty())).unwrap_err().rule, "S7");
    client.apply_patch_sent(client.check_patch(7, &patch(tier)).unwrap());
    for bad in [
        ack(Accepted, lanes, PatchMask::empty()),
        ack(Partial, PatchMask::empty(), lanes),
        ack(Partial, tier, tier),
        ack(Rejected, tier, PatchMask::empty()),
        ack(Accepted, PatchMask::empty(), tier),
    ] {
        assert_eq!(client.check_patch_ack(7, &bad).unwrap_err().rule, "S7");
    }
    client.apply_patch_ack(client.check_patch_ack(7, &ack(Rejected, PatchMask::empty(), tier)).unwrap());
    assert_eq!(client.get(7).unwrap().settings().quality_tier, 0);
}

#[test]
fn s7_a_flood_of_patches_is_bounded() {
    let mut client = client(7, SessionFlags::empty(), |_| {});
    for _ in 0..Limits::default().patches {
        client.apply_patch_sent(client.check_patch(7, &patch(PatchMask::empty())).unwrap());
    }
    assert_eq!(
        client.check_patch(7, &patch(PatchMask::empty())).unwrap_err().code,
        ErrorCode::LIMIT_EXCEEDED
    );
}
