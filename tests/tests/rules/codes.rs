//! Malformed and contradictory: which error code answers a fault, and whether the stream goes on.

use nnrp_core::stream::Splitter;
use nnrp_core::wire::{Fault, FaultKind};
use nnrp_core::*;

use super::samples::{of_connection, of_session, smallest};

fn packet(kind: MessageType) -> Vec<u8> {
    let (header, message) =
        smallest().into_iter().find(|(_, message)| message.message_type() == kind).expect("every message");
    message.to_vec(&header).expect("it is good")
}

/// The fault of the smallest packet of a message with other bytes from `at` on.
#[track_caller]
fn fault(kind: MessageType, at: usize, bytes: &[u8]) -> Fault {
    let mut packet = packet(kind);
    packet[at..at + bytes.len()].copy_from_slice(bytes);
    Packet::parse(&packet).expect_err("it is bad")
}

#[track_caller]
fn answers(fault: Fault, code: ErrorCode, breaks_stream: bool) {
    assert_eq!((fault.error_code(), fault.breaks_stream()), (code, breaks_stream), "{fault}");
}

/// A packet of another version is answered so, wherever it says that.
#[test]
fn versions_are_unsupported_version() {
    let code = ErrorCode::UNSUPPORTED_VERSION;
    answers(fault(MessageType::Ping, 4, &[2]), code, true);
    answers(fault(MessageType::Ping, 5, &[1]), code, true);
    answers(fault(MessageType::ClientHello, 40, &[2]), code, false);
    answers(fault(MessageType::ClientHello, 40, &[2, 2]), code, false);
    answers(fault(MessageType::ServerHelloAck, 40, &[2]), code, false);
    answers(fault(MessageType::ServerHelloAck, 41, &[1]), code, false);
    // What else a hello does wrong is no matter of versions.
    answers(fault(MessageType::ClientHello, 42, &[2]), ErrorCode::MALFORMED_BODY, false);
}

/// Any other fault in the header, and lengths that are not those of the packet.
#[test]
fn headers_are_malformed_header() {
    let code = ErrorCode::MALFORMED_HEADER;
    for (at, bytes) in [(0, &b"M"[..]), (6, &[0xff]), (7, &[41]), (8, &[0x40]), (12, &[1]), (16, &[1])] {
        answers(fault(MessageType::Ping, at, bytes), code, true);
    }
    let submit = packet(MessageType::FrameSubmit);
    for size in 0..submit.len() {
        answers(Packet::parse(&submit[..size]).expect_err("it is cut"), code, true);
    }
    answers(Packet::parse(&[&submit[..], &[0]].concat()).expect_err("it is longer"), code, true);
}

/// Everything behind the header, and what the message owes the header.
#[test]
fn metadata_body_and_scope_are_malformed_body() {
    let code = ErrorCode::MALFORMED_BODY;
    // A reserved field, an unknown bit, an unknown value, a rule.
    answers(fault(MessageType::FrameSubmit, 55, &[1]), code, false);
    answers(fault(MessageType::FrameSubmit, 104, &[0x80]), code, false);
    answers(fault(MessageType::FrameSubmit, 52, &[9]), code, false);
    answers(fault(MessageType::FrameSubmit, 80, &[0]), code, false);
    // Session and frame of the header: F5, D26, D18.
    answers(fault(MessageType::Ping, 20, &[1]), code, false);
    answers(fault(MessageType::FrameSubmit, 20, &[0]), code, false);
    answers(fault(MessageType::FrameSubmit, 24, &[0]), code, false);
    answers(fault(MessageType::TraceContext, 32, &[9]), code, false);
    // A declared length that is not there, and a body where there is none.
    answers(fault(MessageType::Cancel, 60, &[1]), code, false);
    let mut ping = [packet(MessageType::Ping), vec![0; 8]].concat();
    ping[16] = 8;
    answers(Packet::parse(&ping).expect_err("it has no body"), code, false);
}

/// More than a reader accepts.
#[test]
fn too_large_is_limit_exceeded() {
    let submit = packet(MessageType::FrameSubmit);
    let fault =
        Splitter::with_limit(submit.len() - 1).next(&mut &submit[..]).expect_err("it is over the limit");
    assert_eq!(fault.kind(), FaultKind::Limit);
    answers(fault, ErrorCode::LIMIT_EXCEEDED, true);
}

/// Something that must be understood and is not.
#[test]
fn unknown_and_critical_is_unsupported_capability() {
    let vendor = ControlExtensionType::from_raw(0x8001).expect("a vendor's");
    let mut block = Vec::new();
    let header = ControlExtensionHeader { ext_type: vendor, ..ControlExtensionHeader::default() };
    ControlExtensionEntries::push(&mut block, &header, b"").expect("it is good");
    let ext = ControlExtensionEntries::new(&block, MessageType::Close).expect("it may be skipped");
    let mut close = Message::Close(CloseBody { ext }).to_vec(&of_connection()).expect("it is good");
    close[42] = 1;
    answers(Packet::parse(&close).expect_err("it is critical"), ErrorCode::UNSUPPORTED_CAPABILITY, false);

    let frame = ExtensionFrameDescriptor {
        extension_kind: ExtensionKind::from_raw(9).expect("any kind"),
        extension_flags: ExtensionFlags::CRITICAL,
        ..ExtensionFrameDescriptor::default()
    };
    let submit = build::SubmitBuilder::new(super::samples::frame_submit()).extension(&frame, b"");
    let fault = submit.to_vec(&of_session()).expect_err("it is critical");
    answers(fault, ErrorCode::UNSUPPORTED_CAPABILITY, false);
}

/// A rule carries its id, and a broken layout none: the two are told apart.
#[test]
fn malformed_and_contradictory_are_told_apart() {
    assert_eq!(fault(MessageType::FrameSubmit, 55, &[1]).rule(), None);
    let contradiction = fault(MessageType::FrameSubmit, 80, &[0]);
    assert_eq!((contradiction.rule(), contradiction.kind()), (Some("D8.1"), FaultKind::Rule));
    let text = "byte 80: `frame_submit.operation_id` breaks rule D8.1: A submit names its operation";
    assert_eq!(contradiction.to_string(), text);
}
