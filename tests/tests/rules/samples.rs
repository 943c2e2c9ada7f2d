//! The smallest good packet of every message.

use nnrp_core::*;

/// A header that names a session and a frame.
pub fn of_session() -> CommonHeader {
    CommonHeader { session_id: 3, frame_id: 5, ..CommonHeader::default() }
}

/// A header of the connection.
pub fn of_connection() -> CommonHeader {
    CommonHeader::default()
}

/// A hello.
pub fn client_hello() -> ClientHello {
    ClientHello {
        min_version_major: 1,
        max_version_major: 1,
        supported_wire_format_bitmap: 1,
        supported_profile_bitmap: 0b100,
        supported_payload_kind_bitmap: PayloadKindBitmap::TOKEN_CHUNK,
        ..ClientHello::default()
    }
}

/// The answer to a hello.
pub fn server_hello_ack() -> ServerHelloAck {
    ServerHelloAck { selected_version_major: 1, ..ServerHelloAck::default() }
}

/// A submit without data.
pub fn frame_submit() -> FrameSubmit {
    FrameSubmit { operation_id: 7, ..FrameSubmit::default() }
}

/// A declared object.
pub fn object_descriptor() -> ObjectDescriptor {
    ObjectDescriptor {
        object_id: 1,
        producer_role: Role::CLIENT,
        consumer_role: Role::SERVER,
        ..ObjectDescriptor::default()
    }
}

/// A drop of an operation's result.
pub fn result_drop() -> ResultDrop {
    let (drop_reason_code, source_role) = (DropReasonCode::BACKPRESSURE, Role::SERVER);
    ResultDrop { operation_id: 7, drop_reason_code, source_role, ..ResultDrop::default() }
}

/// A request to end an operation.
pub fn control_request() -> ControlRequest {
    ControlRequest { operation_id: 7, source_role: Role::CLIENT, ..ControlRequest::default() }
}

/// A change of an operation's schedule.
pub fn scheduling() -> Scheduling {
    Scheduling { operation_id: 7, deadline_unix_ms: 1, ..Scheduling::default() }
}

/// Every message in its smallest form, with the header that it needs, in the order of the registry.
pub fn smallest() -> Vec<(CommonHeader, Message<'static>)> {
    let (session, connection) = (of_session(), of_connection());
    let migrate = SessionMigrate {
        old_transport_id: TransportId::Tcp,
        new_transport_id: TransportId::Quic,
        ..SessionMigrate::default()
    };
    let supersede = Supersede { old_operation_id: 7, new_operation_id: 8, ..Supersede::default() };
    let recoverable = RecoverableError { source_role: Role::SERVER, ..RecoverableError::default() };
    let retry = RetryAfter { source_role: Role::SERVER, ..RetryAfter::default() };
    let release = ObjectRelease { source_role: Role::CLIENT, ..ObjectRelease::default() };
    let hint = RouteHint { operation_id: 7, ..RouteHint::default() };
    let trace = TraceContext { trace_id: 1, span_id: 2, ..TraceContext::default() };
    let opened = SessionOpenAck { session_id: 3, ..SessionOpenAck::default() };
    vec![
        (session, Message::CachePut(CachePut::default(), Default::default())),
        (session, Message::CacheAck(CacheAck::default(), Default::default())),
        (session, Message::CacheInvalidate(CacheInvalidate::default(), Default::default())),
        (session, Message::CacheReference(CacheReference::default(), Default::default())),
        (session, Message::CacheMiss(CacheMiss::default(), Default::default())),
        (connection, Message::CapabilityNegotiation(Capability::default(), Default::default())),
        (connection, Message::DegradeProfile(Capability::default(), Default::default())),
        (connection, Message::ClientHello(client_hello(), Default::default())),
        (connection, Message::ServerHelloAck(server_hello_ack(), Default::default())),
        (connection, Message::Close(Default::default())),
        (connection, Message::Ping),
        (connection, Message::Pong),
        (session, Message::Cancel(control_request(), Default::default())),
        (session, Message::Abort(control_request(), Default::default())),
        (session, Message::PriorityUpdate(scheduling())),
        (session, Message::Deadline(scheduling())),
        (session, Message::ExpireAt(scheduling())),
        (session, Message::Supersede(supersede, Default::default())),
        (session, Message::BudgetUpdate(Budget { flags: BudgetFlags::REPLACE, ..Budget::default() })),
        (connection, Message::Error(Error::default(), Default::default())),
        (connection, Message::ErrorRecoverable(recoverable, Default::default())),
        (connection, Message::RetryAfter(retry, Default::default())),
        (connection, Message::FlowUpdate(FlowUpdate::default())),
        (session, Message::Backpressure(Pressure::default())),
        (session, Message::CreditUpdate(Pressure::default())),
        (session, Message::ObjectDeclare(object_descriptor(), Default::default())),
        (session, Message::ObjectRef(ObjectReference::default(), Default::default())),
        (session, Message::ObjectRelease(release, Default::default())),
        (session, Message::ObjectPatch(ObjectDelta::default(), Default::default())),
        (session, Message::ObjectDelta(ObjectDelta::default(), Default::default())),
        (session, Message::FrameSubmit(frame_submit(), Default::default())),
        (session, Message::FrameCancel(Default::default())),
        (session, Message::ResultPush(ResultPush::default(), Default::default())),
        (session, Message::ResultDrop(Default::default())),
        (session, Message::ResultHint(ResultHint::default(), Default::default())),
        (session, Message::Progress(Progress { operation_id: 7, ..Progress::default() }, Default::default())),
        (
            session,
            Message::PartialResult(
                PartialResult { operation_id: 7, ..PartialResult::default() },
                Default::default(),
            ),
        ),
        (session, Message::ResultDropReason(result_drop(), Default::default())),
        (session, Message::RouteHint(hint, Default::default())),
        (session, Message::ExecutionHint(hint, Default::default())),
        (connection, Message::SessionOpen(SessionOpen::default(), Default::default())),
        (connection, Message::SessionOpenAck(opened, Default::default())),
        (session, Message::SessionClose(SessionClose::default(), Default::default())),
        (session, Message::SessionCloseAck(SessionCloseAck::default(), Default::default())),
        (session, Message::SessionPatch(SessionPatch::default(), Default::default())),
        (session, Message::SessionPatchAck(SessionPatchAck::default(), Default::default())),
        (session, Message::TraceContext(trace, Default::default())),
        (connection, Message::TransportProbe(TransportProbe::default(), Default::default())),
        (connection, Message::TransportProbeAck(TransportProbeAck::default(), Default::default())),
        (session, Message::SessionMigrate(migrate, Default::default())),
        (session, Message::SessionMigrateAck(SessionMigrateAck::default(), Default::default())),
    ]
}
