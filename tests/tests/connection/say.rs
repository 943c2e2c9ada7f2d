//! Messages that these tests send, in a line each.

use nnrp_core::state::Time;
use nnrp_core::state::connection::{Connection, Why};
use nnrp_core::*;
use nnrp_tests::pair::frame;

/// A header of a session.
pub fn session(session_id: u32) -> CommonHeader {
    CommonHeader { session_id, ..CommonHeader::default() }
}

/// A header of an operation.
pub fn operation(session_id: u32, operation_id: u64) -> CommonHeader {
    CommonHeader { session_id, frame_id: frame(operation_id), ..CommonHeader::default() }
}

/// PROGRESS.
pub fn progress(operation_id: u64, stage_code: StageCode) -> Message<'static> {
    let progress = Progress { operation_id, stage_code, ..Progress::default() };
    Message::Progress(progress, ProgressBody { progress_body: b"" })
}

/// PARTIAL_RESULT.
pub fn partial(operation_id: u64) -> Message<'static> {
    let partial = PartialResult { operation_id, ..PartialResult::default() };
    Message::PartialResult(partial, PartialResultBody { result_body: b"part" })
}

/// CANCEL.
pub fn cancel(operation_id: u64) -> Message<'static> {
    let request = ControlRequest { operation_id, source_role: Role::CLIENT, ..ControlRequest::default() };
    Message::Cancel(request, CancelBody { diagnostic: b"" })
}

/// ABORT.
pub fn abort(operation_id: u64) -> Message<'static> {
    let request = ControlRequest { operation_id, source_role: Role::CLIENT, ..ControlRequest::default() };
    Message::Abort(request, AbortBody { diagnostic: b"" })
}

/// SUPERSEDE.
pub fn supersede(old_operation_id: u64, new_operation_id: u64) -> Message<'static> {
    let supersede = Supersede { old_operation_id, new_operation_id, ..Supersede::default() };
    Message::Supersede(supersede, SupersedeBody { diagnostic: b"" })
}

/// CACHE_PUT.
pub fn put(cache_key_lo: u64, object: &[u8]) -> Message<'_> {
    let put = CachePut {
        cache_namespace: 1,
        object_kind: CacheObjectKind::TOOL_SCHEMA,
        cache_key_lo,
        ..CachePut::default()
    };
    Message::CachePut(put, CachePutBody { object, ext: ControlExtensionEntries::default() })
}

/// CACHE_REFERENCE.
pub fn reference(cache_key_lo: u64) -> Message<'static> {
    let reference = CacheReference { cache_namespace: 1, cache_key_lo, ..CacheReference::default() };
    Message::CacheReference(reference, CacheReferenceBody { reference_metadata: b"" })
}

/// FLOW_UPDATE of a session's window.
pub fn credit(session_credit: u16, credit_epoch: u32) -> Message<'static> {
    Message::FlowUpdate(FlowUpdate {
        scope_kind: ScopeKind::Session,
        update_reason: UpdateReason::Grant,
        session_credit,
        credit_epoch,
        flow_flags: FlowFlags::CREDIT_VALID,
        ..FlowUpdate::default()
    })
}

/// DEADLINE.
pub fn deadline(operation_id: u64, deadline_unix_ms: u64, flags: SchedulingFlags) -> Message<'static> {
    Message::Deadline(Scheduling { operation_id, deadline_unix_ms, flags, ..Scheduling::default() })
}

/// ERROR of scope frame.
pub fn error(error_code: ErrorCode) -> Message<'static> {
    let error = Error { error_code, error_scope: ErrorScope::Frame, ..Error::default() };
    Message::Error(error, ErrorBody::default())
}

/// RETRY_AFTER.
pub fn retry(scope_id: u64, retry_after_ms: u32, flags: RetryAfterFlags) -> Message<'static> {
    let retry =
        RetryAfter { scope_id, retry_after_ms, source_role: Role::SERVER, flags, ..RetryAfter::default() };
    Message::RetryAfter(retry, RetryAfterBody { diagnostic: b"" })
}

/// Sends a message of an operation, which may be refused.
pub fn say(
    end: &mut Connection,
    session_id: u32,
    operation_id: u64,
    message: &Message<'_>,
    now: Time,
) -> Result<(), Why> {
    end.send(&operation(session_id, operation_id), message, now)
}
