//! Identity and framing: F1 to F5. F6 is in the tests of the splitter, F7 in `payloads`.

use nnrp_core::wire::FaultKind;
use nnrp_core::*;

use super::samples::{of_connection, of_session, smallest};
use super::vector::{Good, Vector, rules};

fn ping() -> Good {
    Good::packet(of_connection(), Message::Ping)
}

fn submit() -> Good {
    Good::packet(of_session(), Message::FrameSubmit(super::samples::frame_submit(), Default::default()))
}

const HEADER: &str = "common_header";

rules! {
    f1_identity_is_constant,
    f2_lengths_are_those_of_the_packet,
    f3_unlisted_messages_are_refused,
    f4_reserved_and_unlisted_bits_are_zero,
    f5_scope_decides_whether_a_session_is_named,
    f5_some_messages_say_their_scope,
}

/// Magic, version, wire format and header length are what they are.
fn f1_identity_is_constant() -> Vec<Vector> {
    let of =
        |field, value, at| ping().set(field, value).faults(FaultKind::Constant, "", HEADER, &field[7..], at);
    vec![
        of("header.magic", u64::from(u32::from_le_bytes(*b"NNRQ")), 0).of_header(),
        of("header.version_major", 2, 4).code(ErrorCode::UNSUPPORTED_VERSION).fatal(),
        of("header.wire_format", 1, 5).code(ErrorCode::UNSUPPORTED_VERSION).fatal(),
        of("header.header_len", 48, 7).of_header(),
    ]
}

/// Header, metadata and body are exactly what is there.
fn f2_lengths_are_those_of_the_packet() -> Vec<Vector> {
    let submit = submit();
    let bytes = submit.as_bytes();
    let more = [bytes, &[0]].concat();
    let meta = |value| submit.set("header.meta_len", value).length("", HEADER, "meta_len", 12).of_header();
    let body = |value| submit.set("header.body_len", value).length("", HEADER, "body_len", 16).of_header();
    let cut = |size: usize| submit.replaced(bytes[..size].to_vec());
    vec![
        cut(0).faults(FaultKind::TooShort, "", HEADER, "", 0).of_header(),
        cut(39).faults(FaultKind::TooShort, "", HEADER, "", 39).of_header(),
        meta(0),
        meta(71),
        meta(73),
        meta(u64::from(u32::MAX)),
        body(1),
        body(u64::from(u32::MAX)),
        cut(40).length("", HEADER, "body_len", 16).of_header(),
        cut(111).length("", HEADER, "body_len", 16).of_header(),
        submit.replaced(more).length("", HEADER, "body_len", 16).of_header(),
        ping().set("header.meta_len", 1).length("", HEADER, "meta_len", 12).of_header(),
        // The end of the packet is known here, and only what is in it is wrong.
        ping()
            .replaced([ping().as_bytes(), &[0]].concat())
            .set("header.body_len", 1)
            .length("", HEADER, "body_len", 16),
    ]
}

/// There are no private messages.
fn f3_unlisted_messages_are_refused() -> Vec<Vector> {
    let listed: Vec<u8> = MessageType::ALL.iter().map(|message| message.raw()).collect();
    assert_eq!(listed.len(), 51);
    let unlisted = (0..=u8::MAX).filter(|value| !listed.contains(value));
    let of = |value: u8| ping().set("header.msg_type", value.into());
    unlisted
        .map(|value| of(value).faults(FaultKind::UnknownValue, "", HEADER, "msg_type", 6).of_header())
        .collect()
}

/// Reserved fields and unlisted bits are zero, in the header, in metadata and in bodies.
fn f4_reserved_and_unlisted_bits_are_zero() -> Vec<Vector> {
    let submit = submit();
    let cancel = build::Extensions::new(MessageType::FrameCancel)
        .known(CancelScopeExtension { operation_id: 7, ..CancelScopeExtension::default() });
    let ext = cancel.entries().expect("it is good");
    let cancel = Good::packet(of_session(), Message::FrameCancel(FrameCancelBody { ext }));
    let bits =
        |field, at| submit.set(field, 1 << 7).faults(FaultKind::UnknownBits, "", "frame_submit", field, at);
    let zero = |field, at| submit.set(field, 1).faults(FaultKind::Reserved, "", "frame_submit", field, at);
    vec![
        submit.set("header.flags", 1 << 6).faults(FaultKind::UnknownBits, "", HEADER, "flags", 8).of_header(),
        zero("reserved0", 55),
        zero("reserved1", 76),
        zero("reserved2", 88),
        zero("reserved3", 95),
        zero("reserved4", 110),
        bits("object_ref_mask", 96),
        bits("payload_kind_bitmap", 104),
        bits("budget_policy", 93),
        submit.set("frame_class", 4).faults(FaultKind::UnknownValue, "", "frame_submit", "frame_class", 52),
        cancel.put(49, &[1]).faults(FaultKind::Reserved, "", "cancel_scope_extension", "reserved0", 49),
    ]
}

/// Messages of connection scope name no session, those of session and operation scope name theirs.
fn f5_scope_decides_whether_a_session_is_named() -> Vec<Vector> {
    let fixed = smallest().into_iter().filter_map(|(header, message)| {
        let kind = message.message_type();
        let free = matches!(
            kind,
            MessageType::CachePut
                | MessageType::CacheAck
                | MessageType::CacheInvalidate
                | MessageType::CacheReference
                | MessageType::CacheMiss
                | MessageType::CapabilityNegotiation
                | MessageType::DegradeProfile
        );
        let good = Good::packet(header, message);
        let other = if header.session_id == 0 { 4 } else { 0 };
        let bad = good.set("header.session_id", other);
        if free {
            bad.passes();
            return None;
        }
        Some(bad.breaks("F5", HEADER, "session_id", 20))
    });
    let fixed: Vec<Vector> = fixed.collect();
    // All but those that may be of the connection or of a session.
    assert_eq!(fixed.len(), 51 - 7);
    fixed
}

/// Errors, flow updates, waits and pressure say their scope themselves.
fn f5_some_messages_say_their_scope() -> Vec<Vector> {
    let session = |bad: super::vector::Bad| bad.breaks("F5", HEADER, "session_id", 20);
    let error = |error_scope| {
        let error = Error { error_scope, ..Error::default() };
        Good::packet(of_session(), Message::Error(error, Default::default()))
    };
    let recoverable = |error_scope| {
        let error =
            RecoverableError { source_role: Role::SERVER, error_scope, ..RecoverableError::default() };
        Good::packet(of_session(), Message::ErrorRecoverable(error, Default::default()))
    };
    let flow = |scope_kind, operation_id| {
        let update = FlowUpdate { scope_kind, operation_id, ..FlowUpdate::default() };
        Good::packet(of_session(), Message::FlowUpdate(update))
    };
    let connection_flow = Good::packet(of_connection(), Message::FlowUpdate(FlowUpdate::default()));
    let pressure = |flags, scope_id| {
        let header =
            if flags == PressureFlags::APPLIES_TO_CONNECTION { of_connection() } else { of_session() };
        let pressure = Pressure { flags, scope_id, ..Pressure::default() };
        [Message::Backpressure(pressure), Message::CreditUpdate(pressure)]
            .map(|message| Good::packet(header, message))
    };
    let retry = |flags, scope_id, header| {
        let retry = RetryAfter { flags, scope_id, source_role: Role::SERVER, ..RetryAfter::default() };
        Good::packet(header, Message::RetryAfter(retry, Default::default()))
    };
    let (none, operation) = (PressureFlags::empty(), PressureFlags::APPLIES_TO_OPERATION);
    let [backpressure, credit] = pressure(none, 3);
    let [backpressure_operation, credit_operation] = pressure(operation, 7);
    let [backpressure_connection, credit_connection] = pressure(PressureFlags::APPLIES_TO_CONNECTION, 0);
    let waits = RetryAfterFlags::APPLIES_TO_OPERATION;
    vec![
        session(error(ErrorScope::Session).set("error_scope", 0)),
        session(error(ErrorScope::Session).set("header.session_id", 0)),
        session(error(ErrorScope::Frame).set("header.session_id", 0)),
        session(recoverable(ErrorScope::Frame).set("error_scope", 0)),
        session(recoverable(ErrorScope::Session).set("header.session_id", 0)),
        session(recoverable(ErrorScope::Frame).set("header.session_id", 0)),
        session(flow(ScopeKind::Session, 0).set("scope_kind", 0)),
        session(flow(ScopeKind::Session, 0).set("header.session_id", 0)),
        session(flow(ScopeKind::Operation, 7).set("header.session_id", 0)),
        session(connection_flow.set("scope_kind", 1)),
        session(backpressure_connection.set("header.session_id", 3)),
        session(credit_connection.set("header.session_id", 3)),
        session(backpressure.set("header.session_id", 0)),
        session(credit.set("header.session_id", 0)),
        session(backpressure_operation.set("header.session_id", 0)),
        backpressure_operation.set("scope_id", 0).breaks("F5.1", "pressure", "scope_id", 40),
        credit_operation.set("scope_id", 0).breaks("F5.1", "pressure", "scope_id", 40),
        backpressure.set("scope_id", 4).breaks("F5.10", "pressure", "scope_id", 40),
        credit.set("scope_id", 4).breaks("F5.11", "pressure", "scope_id", 40),
        session(
            retry(RetryAfterFlags::APPLIES_TO_CONNECTION, 0, of_connection()).set("header.session_id", 3),
        ),
        session(retry(waits, 7, of_session()).set("header.session_id", 0)),
        session(retry(RetryAfterFlags::empty(), 0, of_connection()).set("header.session_id", 3)),
        session(retry(RetryAfterFlags::empty(), 3, of_session()).set("header.session_id", 0)),
        retry(waits, 7, of_session()).set("scope_id", 0).breaks("F5.2", "retry_after", "scope_id", 40),
        retry(RetryAfterFlags::empty(), 3, of_session()).set("scope_id", 4).breaks(
            "F5.12",
            "retry_after",
            "scope_id",
            40,
        ),
    ]
}

/// Bitmaps without a named bitmask are negotiated sets: any bit may be set (F4).
#[test]
fn f4_negotiated_sets_are_open() {
    let hello = Good::packet(
        of_connection(),
        Message::ClientHello(super::samples::client_hello(), Default::default()),
    );
    let sets = [
        "supported_profile_bitmap",
        "supported_codec_bitmap",
        "supported_compression_bitmap",
        "supported_dtype_bitmap",
        "supported_layout_bitmap",
        "cache_digest_bitmap",
        "cache_object_bitmap",
        "supported_wire_format_bitmap",
    ];
    sets.into_iter().for_each(|field| hello.set(field, u64::MAX).passes());
}

/// Pressure on a session may leave out which (F5).
#[test]
fn f5_pressure_without_a_scope_is_on_the_session_of_the_header() {
    for message in [Message::Backpressure(Pressure::default()), Message::CreditUpdate(Pressure::default())] {
        Good::packet(of_session(), message).set("scope_id", 3).passes();
    }
}

/// The writer does not mend a header of the wrong scope either.
#[test]
fn f5_the_writer_refuses_a_session_where_there_is_none() {
    for (header, message) in smallest() {
        let other = if header.session_id == 0 { 4 } else { 0 };
        let header = CommonHeader { session_id: other, ..header };
        let mut out = [0xaa; 256];
        match message.encode_into(&header, &mut out) {
            // Of the connection or of a session, as the header says.
            Ok(size) => assert_eq!(Packet::parse(&out[..size]).map(|it| it.header().session_id()), Ok(other)),
            Err(wire::WriteError::Fault(fault)) => {
                assert_eq!((fault.rule(), fault.field(), fault.offset()), (Some("F5"), "session_id", 20));
            }
            Err(error) => panic!("{message:?}: {error}"),
        }
    }
}
