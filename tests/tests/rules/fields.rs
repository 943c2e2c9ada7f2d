//! Field rules of everything but submits, results and schemas: D1 to D5, D10, D11, D13 to D23, D26, D27.

use nnrp_core::*;

use super::samples::*;
use super::vector::{Good, Vector, rules};

fn connection(message: Message<'_>) -> Good {
    Good::packet(of_connection(), message)
}

fn session(message: Message<'_>) -> Good {
    Good::packet(of_session(), message)
}

rules! {
    d1_a_hello_offers_what_is_needed,
    d2_schema_id_0_has_no_version,
    d3_an_answer_names_its_session_or_its_reason,
    d4_a_flow_update_stays_in_its_scope,
    d5_a_retry_time_counts_only_with_its_flag,
    d10_an_invalidation_names_what_its_scope_needs,
    d11_a_migration_changes_the_transport,
    d13_scheduling_names_an_operation_and_a_time,
    d14_a_budget_replaces_or_adds,
    d15_progress_is_at_most_100_percent,
    d16_a_partial_result_names_operation_and_object,
    d18_a_trace_is_named_and_is_that_of_the_header,
    d19_a_drop_names_operation_and_reason,
    d20_superseding_needs_two_operations,
    d21_roles_are_named,
    d22_the_server_selects_version_1,
    d23_a_hint_names_its_operation,
    d26_what_is_about_a_frame_names_it,
    d27_a_profile_patch_is_there_when_the_mask_says_so,
}

/// A hello's version window holds 1, and its sets are not empty.
fn d1_a_hello_offers_what_is_needed() -> Vec<Vector> {
    let hello = connection(Message::ClientHello(client_hello(), Default::default()));
    let wide = ClientHello { min_version_major: 0, ..client_hello() };
    let wide = connection(Message::ClientHello(wide, Default::default()));
    let of = |bad: super::vector::Bad, rule, field, at| bad.breaks(rule, "client_hello", field, at);
    let version = ErrorCode::UNSUPPORTED_VERSION;
    vec![
        of(hello.set("min_version_major", 2), "D1.2", "min_version_major", 40).code(version),
        of(wide.set("max_version_major", 0), "D1.2", "min_version_major", 40).code(version),
        of(hello.set("supported_wire_format_bitmap", 2), "D1.3", "supported_wire_format_bitmap", 42),
        of(hello.set("supported_profile_bitmap", 0), "D1.4", "supported_profile_bitmap", 44),
        of(hello.set("supported_payload_kind_bitmap", 0), "D1.5", "supported_payload_kind_bitmap", 48),
    ]
}

/// No schema has no version.
fn d2_schema_id_0_has_no_version() -> Vec<Vector> {
    let open = connection(Message::SessionOpen(SessionOpen::default(), Default::default()));
    let bound = SessionOpen { schema_id: 0x1001, schema_version: 3, ..SessionOpen::default() };
    let bound = connection(Message::SessionOpen(bound, Default::default()));
    let opened = SessionOpenAck { session_id: 3, ..SessionOpenAck::default() };
    let ack = connection(Message::SessionOpenAck(opened, Default::default()));
    vec![
        open.set("schema_version", 3).breaks("D2.1", "session_open", "schema_version", 52),
        bound.set("schema_id", 0).breaks("D2.1", "session_open", "schema_version", 52),
        ack.set("schema_version", 3).breaks("D2.2", "session_open_ack", "schema_version", 52),
    ]
}

/// An opened session has an id, a refusal has a reason.
fn d3_an_answer_names_its_session_or_its_reason() -> Vec<Vector> {
    let ack = |session_status, session_id, session_error_code| {
        let ack =
            SessionOpenAck { session_status, session_id, session_error_code, ..SessionOpenAck::default() };
        connection(Message::SessionOpenAck(ack, Default::default()))
    };
    let (none, limit) = (SessionErrorCode::NONE, SessionErrorCode::SESSION_LIMIT_REACHED);
    let of = |bad: super::vector::Bad, rule, field, at| bad.breaks(rule, "session_open_ack", field, at);
    vec![
        of(ack(SessionStatus::Opened, 3, none).set("session_id", 0), "D3.1", "session_id", 40),
        of(ack(SessionStatus::Resumed, 3, none).set("session_id", 0), "D3.1", "session_id", 40),
        of(
            ack(SessionStatus::Rejected, 0, limit).set("session_error_code", 0),
            "D3.2",
            "session_error_code",
            88,
        ),
        of(
            ack(SessionStatus::RetryLater, 0, limit).set("session_error_code", 0),
            "D3.2",
            "session_error_code",
            88,
        ),
    ]
}

/// A flow update sets what its scope may set.
fn d4_a_flow_update_stays_in_its_scope() -> Vec<Vector> {
    let flow = |header, scope_kind, operation_id| {
        let update = FlowUpdate { scope_kind, operation_id, ..FlowUpdate::default() };
        Good::packet(header, Message::FlowUpdate(update))
    };
    let of_the_connection = flow(of_connection(), ScopeKind::Connection, 0);
    let of_a_session = flow(of_session(), ScopeKind::Session, 0);
    let of_an_operation = flow(of_session(), ScopeKind::Operation, 7);
    let of = |bad: super::vector::Bad, rule, field, at| bad.breaks(rule, "flow_update", field, at);
    of_the_connection.set("connection_credit", 1).passes();
    of_a_session.set("session_credit", 1).passes();
    of_an_operation.set("connection_credit", 1).passes();
    vec![
        of(of_the_connection.set("operation_id", 7), "D4.1", "operation_id", 52),
        of(of_a_session.set("operation_id", 7), "D4.1", "operation_id", 52),
        of(of_the_connection.set("session_credit", 1), "D4.2", "session_credit", 46),
        of(of_a_session.set("connection_credit", 1), "D4.3", "connection_credit", 44),
        of(of_the_connection.set("operation_credit", 1), "D4.4", "operation_credit", 48),
        of(of_a_session.set("operation_credit", 1), "D4.4", "operation_credit", 48),
        of(of_an_operation.set("operation_id", 0), "D4.5", "operation_id", 52),
    ]
}

/// A retry time has its flag.
fn d5_a_retry_time_counts_only_with_its_flag() -> Vec<Vector> {
    let flow = connection(Message::FlowUpdate(FlowUpdate::default()));
    vec![flow.set("retry_after_ms", 1).breaks("D5.1", "flow_update", "flow_flags", 68)]
}

/// An invalidation names what its scope needs, and nothing else.
fn d10_an_invalidation_names_what_its_scope_needs() -> Vec<Vector> {
    let of = |scope, cache_key_hi| {
        let what = CacheInvalidate { invalidate_scope: scope, cache_key_hi, ..CacheInvalidate::default() };
        session(Message::CacheInvalidate(what, Default::default()))
    };
    let bad = |bad: super::vector::Bad, rule, field, at| bad.breaks(rule, "cache_invalidate", field, at);
    let whole = of(CacheInvalidateScope::WholeSession, 0);
    let namespace = of(CacheInvalidateScope::Namespace, 0);
    let kind = of(CacheInvalidateScope::ObjectKind, 6);
    kind.set("cache_key_hi", 0x8001).passes();
    vec![
        bad(whole.set("cache_namespace", 1), "D10.1", "cache_namespace", 44),
        bad(whole.set("cache_key_hi", 1), "D10.2", "cache_key_hi", 48),
        bad(namespace.set("cache_key_hi", 1), "D10.2", "cache_key_hi", 48),
        bad(kind.set("cache_key_hi", 0), "D10.3", "cache_key_hi", 48),
        bad(kind.set("cache_key_hi", 0x1_0001), "D10.3", "cache_key_hi", 48),
        bad(whole.set("cache_key_lo", 1), "D10.4", "cache_key_lo", 56),
        bad(namespace.set("cache_key_lo", 1), "D10.4", "cache_key_lo", 56),
        bad(kind.set("cache_key_lo", 1), "D10.4", "cache_key_lo", 56),
    ]
}

/// A migration goes from one transport to another.
fn d11_a_migration_changes_the_transport() -> Vec<Vector> {
    let migrate = SessionMigrate {
        old_transport_id: TransportId::Tcp,
        new_transport_id: TransportId::Quic,
        ..SessionMigrate::default()
    };
    let migrate = session(Message::SessionMigrate(migrate, Default::default()));
    let of = |field, value: u32, rule, blamed, at| {
        migrate.set(field, value.into()).breaks(rule, "session_migrate", blamed, at)
    };
    vec![
        of("old_transport_id", 0, "D11.1", "old_transport_id", 40),
        of("new_transport_id", 0, "D11.2", "new_transport_id", 44),
        of("new_transport_id", TransportId::Tcp.raw(), "D11.3", "new_transport_id", 44),
    ]
}

/// Scheduling names an operation, a deadline is a time.
fn d13_scheduling_names_an_operation_and_a_time() -> Vec<Vector> {
    let all =
        [Message::PriorityUpdate, Message::Deadline, Message::ExpireAt].map(|of| session(of(scheduling())));
    let [priority, deadline, expire] = &all;
    priority.set("deadline_unix_ms", 0).passes();
    let mut vectors: Vec<_> = all
        .iter()
        .map(|message| message.set("operation_id", 0).breaks("D13.1", "scheduling", "operation_id", 40))
        .collect();
    vectors.push(deadline.set("deadline_unix_ms", 0).breaks("D13.2", "scheduling", "deadline_unix_ms", 60));
    vectors.push(expire.set("deadline_unix_ms", 0).breaks("D13.3", "scheduling", "deadline_unix_ms", 60));
    vectors
}

/// A budget either replaces or adds.
fn d14_a_budget_replaces_or_adds() -> Vec<Vector> {
    let budget = session(Message::BudgetUpdate(Budget { flags: BudgetFlags::REPLACE, ..Budget::default() }));
    vec![
        budget.set("flags", 0).breaks("D14.1", "budget", "flags", 76),
        budget.set("flags", 3).breaks("D14.1", "budget", "flags", 76),
    ]
}

/// Progress is of an operation and at most 100 percent, or unknown.
fn d15_progress_is_at_most_100_percent() -> Vec<Vector> {
    let progress = Progress { operation_id: 7, percent_x100: 10_000, ..Progress::default() };
    let progress = session(Message::Progress(progress, Default::default()));
    progress.set("percent_x100", 0xffff).passes();
    vec![
        progress.set("operation_id", 0).breaks("D15.1", "progress", "operation_id", 40),
        progress.set("percent_x100", 10_001).breaks("D15.2", "progress", "percent_x100", 58),
        progress.set("percent_x100", 0xfffe).breaks("D15.2", "progress", "percent_x100", 58),
    ]
}

/// A partial result is of an operation; an object that is present has an id.
fn d16_a_partial_result_names_operation_and_object() -> Vec<Vector> {
    let flags = PartialResultFlags::OBJECT_REF_PRESENT;
    let partial = PartialResult { operation_id: 7, object_id: 1, flags, ..PartialResult::default() };
    let partial = session(Message::PartialResult(partial, Default::default()));
    vec![
        partial.set("operation_id", 0).breaks("D16.1", "partial_result", "operation_id", 40),
        partial.set("object_id", 0).breaks("D16.2", "partial_result", "object_id", 56),
    ]
}

/// A trace has ids, and is the trace of the header.
fn d18_a_trace_is_named_and_is_that_of_the_header() -> Vec<Vector> {
    let trace = TraceContext { trace_id: 9, span_id: 2, ..TraceContext::default() };
    let header = CommonHeader { trace_id: 9, ..of_session() };
    let trace = Good::packet(header, Message::TraceContext(trace, Default::default()));
    vec![
        trace.set("trace_id", 0).breaks("D18.1", "trace_context", "trace_id", 40),
        trace.set("span_id", 0).breaks("D18.2", "trace_context", "span_id", 48),
        trace.set("trace_id", 8).breaks("D18.3", "trace_context", "trace_id", 40),
        trace.set("header.trace_id", 8).breaks("D18.3", "trace_context", "trace_id", 40),
    ]
}

/// A drop names its operation and its reason.
fn d19_a_drop_names_operation_and_reason() -> Vec<Vector> {
    let drop = session(Message::ResultDropReason(result_drop(), Default::default()));
    vec![
        drop.set("operation_id", 0).breaks("D19.1", "result_drop", "operation_id", 40),
        drop.set("drop_reason_code", 0).breaks("D19.2", "result_drop", "drop_reason_code", 56),
    ]
}

/// Superseding needs two operations.
fn d20_superseding_needs_two_operations() -> Vec<Vector> {
    let supersede = Supersede { old_operation_id: 7, new_operation_id: 8, ..Supersede::default() };
    let supersede = session(Message::Supersede(supersede, Default::default()));
    vec![
        supersede.set("old_operation_id", 0).breaks("D20.1", "supersede", "old_operation_id", 40),
        supersede.set("new_operation_id", 0).breaks("D20.2", "supersede", "new_operation_id", 48),
        supersede.set("new_operation_id", 7).breaks("D20.3", "supersede", "new_operation_id", 48),
    ]
}

/// Roles are named where they are needed.
fn d21_roles_are_named() -> Vec<Vector> {
    let cancel = session(Message::Cancel(control_request(), Default::default()));
    let abort = session(Message::Abort(control_request(), Default::default()));
    let drop = session(Message::ResultDropReason(result_drop(), Default::default()));
    let recoverable = RecoverableError { source_role: Role::SERVER, ..RecoverableError::default() };
    let recoverable = connection(Message::ErrorRecoverable(recoverable, Default::default()));
    let retry = RetryAfter { source_role: Role::SERVER, ..RetryAfter::default() };
    let retry = connection(Message::RetryAfter(retry, Default::default()));
    let release = ObjectRelease { source_role: Role::CLIENT, ..ObjectRelease::default() };
    let release = session(Message::ObjectRelease(release, Default::default()));
    let declare = session(Message::ObjectDeclare(object_descriptor(), Default::default()));
    vec![
        cancel.set("source_role", 0).breaks("D21.1", "control_request", "source_role", 58),
        abort.set("source_role", 0).breaks("D21.1", "control_request", "source_role", 58),
        drop.set("source_role", 0).breaks("D21.2", "result_drop", "source_role", 58),
        recoverable.set("source_role", 0).breaks("D21.3", "recoverable_error", "source_role", 50),
        retry.set("source_role", 0).breaks("D21.4", "retry_after", "source_role", 66),
        release.set("source_role", 0).breaks("D21.5", "object_release", "source_role", 58),
        declare.set("producer_role", 0).breaks("D21.6", "object_descriptor", "producer_role", 50),
        declare.set("consumer_role", 0).breaks("D21.7", "object_descriptor", "consumer_role", 51),
        declare.set("object_id", 0).breaks("D21.8", "object_descriptor", "object_id", 40),
    ]
}

/// The server selects the one version there is.
fn d22_the_server_selects_version_1() -> Vec<Vector> {
    let ack = connection(Message::ServerHelloAck(server_hello_ack(), Default::default()));
    let of = |field, rule, at| {
        let bad = ack.set(field, if at == 40 { 2 } else { 1 });
        bad.breaks(rule, "server_hello_ack", field, at).code(ErrorCode::UNSUPPORTED_VERSION)
    };
    vec![of("selected_version_major", "D22.1", 40), of("selected_wire_format", "D22.2", 41)]
}

/// A hint names its operation.
fn d23_a_hint_names_its_operation() -> Vec<Vector> {
    let hint = RouteHint { operation_id: 7, ..RouteHint::default() };
    let hints =
        [Message::RouteHint(hint, Default::default()), Message::ExecutionHint(hint, Default::default())];
    let of = |hint| session(hint).set("operation_id", 0).breaks("D23.1", "route_hint", "operation_id", 40);
    hints.into_iter().map(of).collect()
}

/// What is about a frame names it.
fn d26_what_is_about_a_frame_names_it() -> Vec<Vector> {
    let of = |message, rule| {
        session(message).set("header.frame_id", 0).breaks(rule, "common_header", "frame_id", 24)
    };
    vec![
        of(Message::FrameSubmit(frame_submit(), Default::default()), "D26.1"),
        of(Message::ResultPush(ResultPush::default(), Default::default()), "D26.2"),
        of(Message::ResultDrop(Default::default()), "D26.3"),
        of(Message::FrameCancel(Default::default()), "D26.4"),
    ]
}

/// A profile patch is there exactly when its mask says so, and that of the tensor profile has its size.
fn d27_a_profile_patch_is_there_when_the_mask_says_so() -> Vec<Vector> {
    let patch = |profile_id, patch_mask, profile_patch| {
        let patch = SessionPatch { profile_id, patch_mask, ..SessionPatch::default() };
        let body = SessionPatchBody { profile_patch, ..SessionPatchBody::default() };
        session(Message::SessionPatch(patch, body))
    };
    let ack = |effective_profile_id, applied_patch_mask, profile_patch_ack| {
        let ack = SessionPatchAck { effective_profile_id, applied_patch_mask, ..SessionPatchAck::default() };
        let body = SessionPatchAckBody { profile_patch_ack, ..SessionPatchAckBody::default() };
        session(Message::SessionPatchAck(ack, body))
    };
    let (mask, none) = (PatchMask::PROFILE_PATCH, PatchMask::empty());
    let of_patch =
        |bad: super::vector::Bad, rule| bad.breaks(rule, "session_patch", "profile_patch_bytes", 72);
    let of_ack =
        |bad: super::vector::Bad, rule| bad.breaks(rule, "session_patch_ack", "profile_patch_ack_bytes", 84);
    let bit = u64::from(mask.bits());
    vec![
        of_patch(patch(ProfileId::TOKEN, none, &[]).set("patch_mask", bit), "D27.1"),
        of_patch(patch(ProfileId::TOKEN, mask, &[1; 8]).set("patch_mask", 0), "D27.1"),
        of_patch(patch(ProfileId::TOKEN, mask, &[1; 8]).set("profile_id", 1), "D27.2"),
        of_patch(patch(ProfileId::TENSOR, mask, &[1; 16]).set("profile_patch_bytes", 15), "D27.2"),
        of_ack(ack(ProfileId::TOKEN, none, &[]).set("applied_patch_mask", bit), "D27.3"),
        of_ack(ack(ProfileId::TOKEN, mask, &[1; 8]).set("applied_patch_mask", 0), "D27.3"),
        of_ack(ack(ProfileId::TOKEN, mask, &[1; 8]).set("effective_profile_id", 1), "D27.4"),
        of_ack(ack(ProfileId::TENSOR, mask, &[1; 16]).set("profile_patch_ack_bytes", 17), "D27.4"),
    ]
}
