use super::*;
use crate::state::random::{Random, steps};
use crate::{
    ClientHello, ControlExtensionEntries, ControlExtensionHeader, ControlExtensionType, ErrorCode,
    LossTolerance, LossToleranceAckExtension, LossToleranceExtension, PayloadCapabilitiesAckExtension,
    PayloadCapabilitiesExtension, PayloadKindBitmap, TransportId, TransportPolicy,
    TransportPolicyAckExtension, TransportPolicyExtension,
};

use std::vec::Vec;

fn offer() -> Offer {
    Offer {
        hello: ClientHello {
            min_version_major: 1,
            max_version_major: 1,
            supported_wire_format_bitmap: 1,
            supported_profile_bitmap: 0b10,
            supported_payload_kind_bitmap: PayloadKindBitmap::TENSOR,
            ..Default::default()
        },
        wishes: Wishes::default(),
    }
}

fn answer() -> Answer {
    Abilities::default().answer(&offer(), Verdict::Accept).unwrap()
}

fn at(side: Side, state: ConnectionState) -> Hello {
    let mut hello = Hello::new(side, Limits::default(), Time(0));
    if matches!(state, ConnectionState::Init) {
        return hello;
    }
    hello.apply_hello(hello.check_hello(&offer()).unwrap());
    if state == ConnectionState::Negotiating {
        return hello;
    }
    hello.apply_ack(hello.check_ack(&answer()).unwrap());
    if state == ConnectionState::Draining {
        hello.apply_end(hello.check_close(Side::Client).unwrap(), Time(0));
    } else if state == ConnectionState::Closed {
        hello.lost();
    }
    hello
}

#[test]
fn c1_states_and_messages_are_walked() {
    use MessageType as M;
    for side in [Side::Client, Side::Server] {
        for state in ConnectionState::ALL {
            let hello = at(side, state);
            assert_eq!(hello.state(), state);
            for message in M::ALL {
                for sender in [Side::Client, Side::Server] {
                    let probing =
                        matches!(message, M::Ping | M::Pong | M::TransportProbe | M::TransportProbeAck);
                    let state_allows = match state {
                        ConnectionState::Init => probing || message == M::ClientHello,
                        ConnectionState::Negotiating => {
                            probing || message == M::ServerHelloAck || message == M::Error
                        }
                        ConnectionState::Active => !matches!(message, M::ClientHello | M::ServerHelloAck),
                        ConnectionState::Draining => !matches!(
                            message,
                            M::ClientHello | M::ServerHelloAck | M::SessionOpen | M::FrameSubmit
                        ),
                        ConnectionState::Closed => false,
                    };
                    let verdict = hello.check_message(sender, message);
                    assert_eq!(
                        verdict.is_ok(),
                        state_allows && sender.may_send(message),
                        "{state} {message}"
                    );
                    if let Err(refusal) = verdict {
                        assert_eq!((refusal.code, refusal.rule), (ErrorCode::INVALID_STATE, "C1"));
                    }
                }
            }
        }
    }
}

#[test]
fn c1_moves_only_along_the_table() {
    for state in ConnectionState::ALL {
        let moves: [fn(&mut Hello); 7] = [
            |h| {
                if let Ok(plan) = h.check_hello(&offer()) {
                    h.apply_hello(plan);
                }
            },
            |h| {
                if let Ok(plan) = h.check_ack(&answer()) {
                    h.apply_ack(plan);
                }
            },
            |h| {
                if let Ok(plan) = h.check_close(Side::Server) {
                    h.apply_end(plan, Time(5));
                }
            },
            |h| {
                if let Ok(Some(plan)) = h.check_error(Side::Server, ErrorScope::Connection, true) {
                    h.apply_end(plan, Time(5));
                }
            },
            |h| h.fail(),
            |h| {
                h.finished();
            },
            |h| h.lost(),
        ];
        let mut reached: Vec<_> = moves
            .iter()
            .map(|step| {
                let mut hello = at(Side::Client, state);
                step(&mut hello);
                hello.state()
            })
            .filter(|next| *next != state)
            .collect();
        reached.sort();
        reached.dedup();
        let table: Vec<_> = ConnectionState::ALL.into_iter().filter(|next| state.can_become(*next)).collect();
        assert_eq!(reached, table, "from {state}");
    }
}

#[test]
fn c1_a_plan_that_came_too_late_moves_nothing_backwards() {
    let mut hello = at(Side::Client, ConnectionState::Active);
    let plan = hello.check_close(Side::Client).unwrap();
    hello.lost();
    hello.apply_end(plan, Time(0));
    assert_eq!(hello.state(), ConnectionState::Closed);
    assert_eq!(hello.next_timeout(), None);

    let mut hello = at(Side::Client, ConnectionState::Init);
    let first = hello.check_hello(&offer()).unwrap();
    let again = hello.check_hello(&offer()).unwrap();
    hello.apply_hello(first);
    let accepted = hello.check_ack(&answer()).unwrap();
    let again_accepted = hello.check_ack(&answer()).unwrap();
    hello.apply_ack(accepted);
    hello.apply_hello(again);
    assert_eq!(hello.state(), ConnectionState::Active);
    hello.lost();
    hello.apply_ack(again_accepted);
    assert_eq!(hello.state(), ConnectionState::Closed);
}

#[test]
fn c1_drain_ends_with_the_work_or_the_time() {
    let mut hello = at(Side::Server, ConnectionState::Active);
    assert!(!hello.finished());
    assert_eq!(hello.next_timeout(), None);
    hello.apply_end(hello.check_close(Side::Client).unwrap(), Time(100));
    assert_eq!(hello.next_timeout(), Some(Time(30_100)));
    // A CLOSE that crosses does not give the drain more time.
    hello.apply_end(hello.check_close(Side::Server).unwrap(), Time(20_000));
    assert!(!hello.handle_timeout(Time(30_099)));
    let mut other = hello.clone();
    assert!(hello.handle_timeout(Time(30_100)));
    assert!(other.finished());
    assert_eq!((hello.state(), other.state()), (ConnectionState::Closed, ConnectionState::Closed));
}

#[test]
fn c1_negotiation_takes_no_longer_than_it_may() {
    for state in [ConnectionState::Init, ConnectionState::Negotiating] {
        let mut hello = at(Side::Server, state);
        assert!(!hello.handle_timeout(Time(9_999)));
        assert!(hello.handle_timeout(Time(10_000)));
        assert_eq!(hello.state(), ConnectionState::Closed);
    }
}

#[test]
fn c1_only_a_fatal_error_of_the_connection_ends_it() {
    for scope in ErrorScope::ALL {
        for fatal in [false, true] {
            let hello = at(Side::Client, ConnectionState::Active);
            let plan = hello.check_error(Side::Server, scope, fatal).unwrap();
            assert_eq!(plan.is_some(), fatal && scope == ErrorScope::Connection);
        }
    }
    let mut hello = at(Side::Client, ConnectionState::Negotiating);
    let plan = hello.check_error(Side::Server, ErrorScope::Connection, false).unwrap().unwrap();
    hello.apply_end(plan, Time(0));
    assert_eq!(hello.state(), ConnectionState::Closed);
}

#[test]
fn c6_every_set_is_a_subset_of_the_offered_one() {
    let hello = at(Side::Client, ConnectionState::Negotiating);
    let spoil: [fn(&mut Answer); 8] = [
        |a| a.ack.accepted_profile_bitmap |= 1 << 31,
        |a| a.ack.accepted_payload_kind_bitmap |= PayloadKindBitmap::OPAQUE_BYTES,
        |a| a.ack.accepted_codec_bitmap |= 1,
        |a| a.ack.accepted_compression_bitmap |= 1 << 8,
        |a| a.ack.accepted_dtype_bitmap |= 2,
        |a| a.ack.accepted_layout_bitmap |= 4,
        |a| a.ack.cache_digest_bitmap |= 1 << 16,
        |a| a.ack.cache_object_bitmap |= 1 << 3,
    ];
    for spoil in spoil {
        let mut answer = answer();
        let _ = hello.check_ack(&answer).unwrap();
        spoil(&mut answer);
        let refusal = hello.check_ack(&answer).unwrap_err();
        assert_eq!((refusal.code, refusal.rule), (ErrorCode::UNSUPPORTED_CAPABILITY, "C6"));
    }
    // The same of what an extension grants.
    let mut wished = offer();
    wished.wishes.payloads =
        Some(PayloadCapabilitiesExtension { payload_kind_bitmap: PayloadKindBitmap::TENSOR });
    let mut hello = Hello::new(Side::Client, Limits::default(), Time(0));
    hello.apply_hello(hello.check_hello(&wished).unwrap());
    let mut answer = Abilities::default().answer(&wished, Verdict::Accept).unwrap();
    let _ = hello.check_ack(&answer).unwrap();
    answer.grants.payloads = Some(PayloadCapabilitiesAckExtension {
        accepted_payload_kind_bitmap: PayloadKindBitmap::TENSOR | PayloadKindBitmap::OPAQUE_BYTES,
    });
    let refusal = hello.check_ack(&answer).unwrap_err();
    assert_eq!((refusal.code, refusal.rule), (ErrorCode::UNSUPPORTED_CAPABILITY, "C6"));
}

#[test]
fn c6_the_selected_version_was_offered() {
    let hello = at(Side::Client, ConnectionState::Negotiating);
    for (version, format) in [(0, 0), (2, 0), (1, 1), (1, 16), (1, 255)] {
        let mut answer = answer();
        answer.ack.selected_version_major = version;
        answer.ack.selected_wire_format = format;
        let refusal = hello.check_ack(&answer).unwrap_err();
        assert_eq!((refusal.code, refusal.rule), (ErrorCode::UNSUPPORTED_VERSION, "C6"));
    }
}

#[test]
fn c6_session_ids_of_the_pair_are_ignored() {
    let mut offer = offer();
    offer.hello.requested_session_id = 7;
    let mut hello = Hello::new(Side::Server, Limits::default(), Time(0));
    hello.apply_hello(hello.check_hello(&offer).unwrap());
    let mut answer = answer();
    answer.ack.session_id = 9;
    hello.apply_ack(hello.check_ack(&answer).unwrap());
    assert_eq!(hello.state(), ConnectionState::Active);
}

#[test]
fn c6_what_was_agreed_can_be_asked_for() {
    let hello = at(Side::Client, ConnectionState::Init);
    assert_eq!((hello.offer(), hello.agreed()), (None, None));
    let hello = at(Side::Client, ConnectionState::Active);
    assert_eq!((hello.offer(), hello.agreed()), (Some(&offer()), Some(&answer())));
}

#[test]
fn d1_a_hello_that_never_was_bytes_is_checked_too() {
    let hello = at(Side::Client, ConnectionState::Init);
    let mut bad = offer();
    bad.hello.min_version_major = 2;
    bad.hello.max_version_major = 3;
    assert_eq!(hello.check_hello(&bad).unwrap_err().code, ErrorCode::UNSUPPORTED_VERSION);
    let mut bad = offer();
    bad.hello.supported_profile_bitmap = 0;
    assert_eq!(hello.check_hello(&bad).unwrap_err().code, ErrorCode::MALFORMED_BODY);
}

#[test]
fn c8_any_auth_status_but_0_refuses() {
    for status in 0..=255u8 {
        let mut hello = at(Side::Client, ConnectionState::Negotiating);
        let mut answer = answer();
        answer.ack.auth_status = status;
        let state = hello.apply_ack(hello.check_ack(&answer).unwrap());
        let want = if status == 0 { ConnectionState::Active } else { ConnectionState::Closed };
        assert_eq!((state, hello.agreed().is_some()), (want, status == 0));
    }
}

#[test]
fn c8_a_refusal_is_never_taken_for_an_acceptance() {
    let refuse = Verdict::Refuse { status: 0, retry_after_ms: 250 };
    let answer = Abilities::default().answer(&offer(), refuse).unwrap();
    assert_eq!((answer.ack.auth_status, answer.ack.retry_after_ms), (1, 250));
    assert_eq!(answer.ack.accepted_profile_bitmap, 0);
}

#[test]
fn c9_payload_capabilities_repeat_the_hello() {
    let hello = at(Side::Server, ConnectionState::Init);
    let mut offer = offer();
    offer.wishes.payloads =
        Some(PayloadCapabilitiesExtension { payload_kind_bitmap: PayloadKindBitmap::TENSOR });
    let _ = hello.check_hello(&offer).unwrap();
    offer.wishes.payloads =
        Some(PayloadCapabilitiesExtension { payload_kind_bitmap: PayloadKindBitmap::all() });
    assert_eq!(hello.check_hello(&offer).unwrap_err().rule, "C9");
}

#[test]
fn c9_an_ack_needs_its_wish() {
    let hello = at(Side::Client, ConnectionState::Negotiating);
    let grants = [
        Grants { transport: Some(TransportPolicyAckExtension::default()), ..Default::default() },
        Grants { loss: Some(LossToleranceAckExtension::default()), ..Default::default() },
        Grants { payloads: Some(PayloadCapabilitiesAckExtension::default()), ..Default::default() },
    ];
    for grants in grants {
        let refusal = hello.check_ack(&Answer { grants, ..answer() }).unwrap_err();
        assert_eq!((refusal.code, refusal.rule), (ErrorCode::UNSUPPORTED_CAPABILITY, "C9"));
    }
}

#[test]
fn c9_a_forced_transport_is_the_one_in_use() {
    let mut wished = offer();
    wished.wishes.transport = Some(TransportPolicyExtension {
        transport_policy: TransportPolicy::ForceQuic,
        preferred_transport_id: TransportId::Quic,
    });
    let tcp = Abilities { transport: TransportId::Tcp, ..Default::default() };
    assert_eq!(tcp.answer(&wished, Verdict::Accept).unwrap_err().rule, "C9");
    let quic = Abilities { transport: TransportId::Quic, ..Default::default() };
    let mut answer = quic.answer(&wished, Verdict::Accept).unwrap();
    let mut hello = Hello::new(Side::Client, Limits::default(), Time(0));
    hello.apply_hello(hello.check_hello(&wished).unwrap());
    let _ = hello.check_ack(&answer).unwrap();
    let mut other = answer;
    other.grants.transport.as_mut().unwrap().active_transport_id = TransportId::Tcp;
    assert_eq!(hello.check_ack(&other).unwrap_err().rule, "C9");
    answer.grants.transport.as_mut().unwrap().transport_policy = TransportPolicy::Auto;
    assert_eq!(hello.check_ack(&answer).unwrap_err().rule, "C9");
}

#[test]
fn c9_extensions_are_read_from_their_message_only() {
    let mut block = Vec::new();
    let header = |ext_type| ControlExtensionHeader { ext_type, ..Default::default() };
    let wish = LossToleranceExtension { session_loss_tolerance: LossTolerance::LowLatency };
    ControlExtensionEntries::push(
        &mut block,
        &header(ControlExtensionType::LOSS_TOLERANCE),
        &wish.to_bytes().unwrap(),
    )
    .unwrap();
    let grant = LossToleranceAckExtension { accepted_loss_tolerance: LossTolerance::BestEffort };
    ControlExtensionEntries::push(
        &mut block,
        &header(ControlExtensionType::LOSS_TOLERANCE_ACK),
        &grant.to_bytes().unwrap(),
    )
    .unwrap();
    let hello = ControlExtensionEntries::new(&block, MessageType::ClientHello).unwrap();
    assert_eq!(Wishes::read(hello), Wishes { loss: Some(wish), ..Default::default() });
    assert_eq!(Grants::read(hello), Grants::default());
    let ack = ControlExtensionEntries::new(&block, MessageType::ServerHelloAck).unwrap();
    assert_eq!(Grants::read(ack), Grants { loss: Some(grant), ..Default::default() });
    assert_eq!(Wishes::read(ack), Wishes::default());
}

/// Whatever two sides can do, what the server makes of it is taken by the client, and is what both can do.
#[test]
fn model_answers_are_always_taken() {
    let mut dice = Random::new(6);
    for _ in 0..steps(20_000) {
        let mut offer = offer();
        let hello = &mut offer.hello;
        hello.supported_profile_bitmap |= dice.next() as u32;
        hello.supported_payload_kind_bitmap |= PayloadKindBitmap::from_bits_truncate(dice.next() as u32);
        hello.supported_codec_bitmap = dice.next() as u32;
        hello.supported_dtype_bitmap = dice.next() as u32;
        hello.cache_digest_bitmap = dice.next() as u16;
        hello.cache_object_bitmap = dice.next() as u16;
        hello.max_cache_entries = dice.next() as u32;
        let kinds = hello.supported_payload_kind_bitmap;
        if dice.chance(2) {
            offer.wishes.payloads = Some(PayloadCapabilitiesExtension { payload_kind_bitmap: kinds });
        }
        if dice.chance(2) {
            let session_loss_tolerance = dice.of(&LossTolerance::ALL);
            offer.wishes.loss = Some(LossToleranceExtension { session_loss_tolerance });
        }
        let abilities = Abilities {
            profiles: dice.next() as u32,
            payload_kinds: PayloadKindBitmap::from_bits_truncate(dice.next() as u32),
            codecs: dice.next() as u32,
            digests: dice.next() as u32,
            cache_objects: dice.next() as u32,
            loss: dice.of(&[LossTolerance::Strict, LossTolerance::LowLatency]),
            ..Default::default()
        };
        let answer = abilities.answer(&offer, Verdict::Accept).unwrap();
        answer.ack.to_bytes().unwrap();
        let mut client = Hello::new(Side::Client, Limits::default(), Time(0));
        client.apply_hello(client.check_hello(&offer).unwrap());
        assert_eq!(client.apply_ack(client.check_ack(&answer).unwrap()), ConnectionState::Active);
        assert_eq!(answer.ack.accepted_codec_bitmap, abilities.codecs & offer.hello.supported_codec_bitmap);
    }
}
