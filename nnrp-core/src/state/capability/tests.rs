use super::*;
use crate::state::random::{Random, steps};
use crate::{CapabilityTokens, ErrorCode};

const WORDS: [&str; 4] = ["cache.reference", "control.budget_update", "object.cost", "object.delta"];
use Purpose::{Degradation, Negotiation};

fn sides() -> (Capabilities, Capabilities) {
    (Capabilities::new(Side::Client, Limits::default()), Capabilities::new(Side::Server, Limits::default()))
}

fn offer<const N: usize>(tokens: [&str; N]) -> Offer {
    Offer::new(ProfileId::TOKEN, tokens, Terms::default())
}

fn hard<const N: usize>(tokens: [&str; N]) -> Offer {
    let terms = Terms { flags: CapabilityFlags::HARD_REQUIREMENT, ..Default::default() };
    Offer::new(ProfileId::TOKEN, tokens, terms)
}

fn send(from: &mut Capabilities, to: &mut Capabilities, purpose: Purpose, offer: &Offer) -> Event {
    from.apply_offer(from.check_offer(purpose, 7, offer).unwrap());
    to.apply_message(to.check_message(purpose, 7, offer).unwrap())
}

fn reply(from: &mut Capabilities, to: &mut Capabilities, purpose: Purpose, able: &Words) -> (Answer, Event) {
    let answer = from.apply_answer(from.check_answer(purpose, 7, ProfileId::TOKEN, able).unwrap());
    let event = to.apply_message(to.check_message(purpose, 7, &answer.offer).unwrap());
    (answer, event)
}

#[test]
fn u4_the_answer_is_the_accepted_subset_in_the_same_form() {
    let (mut client, mut server) = sides();
    let asked = Offer {
        terms: Terms { cost_model: CostModelId::TOKEN_UNITS, rank: 3, limit_bytes: 4, ..Default::default() },
        ..offer([WORDS[1], WORDS[2]])
    };
    assert!(matches!(
        send(&mut client, &mut server, Negotiation, &asked),
        Event::Offered { crossed: false, .. }
    ));
    let (answer, event) = reply(&mut server, &mut client, Negotiation, &Words::from([WORDS[2], WORDS[3]]));
    assert_eq!((answer.mismatch, answer.offer.terms), (false, asked.terms));
    let accepted = Words::from([WORDS[2]]).tokens().clone();
    assert_eq!(answer.offer.tokens, accepted);
    assert_eq!(
        event,
        Event::Answered { session_id: 7, profile: ProfileId::TOKEN, accepted, mismatch: false }
    );
    for side in [&client, &server] {
        let agreement = side.agreed(7, ProfileId::TOKEN, WORDS[2]).unwrap();
        assert_eq!((agreement.terms, agreement.offered_by), (asked.terms, Side::Client));
        assert_eq!(side.agreed(7, ProfileId::TOKEN, WORDS[1]), None);
        assert_eq!(side.cost_model(7, ProfileId::TOKEN), Some(CostModelId::TOKEN_UNITS));
        assert_eq!((side.waiting(), side.agreements()), (0, 1));
    }
}

#[test]
fn u4_what_goes_over_the_wire_comes_back() {
    let asked = hard([WORDS[3], WORDS[0], WORDS[2]]);
    let (capability, body) = asked.write().expect("its tokens are short");
    capability.to_bytes().unwrap();
    assert_eq!(Offer::read(&capability, CapabilityTokens::new(&body).unwrap()), asked);
    let (capability, body) = offer([]).write().expect("its tokens are short");
    assert_eq!((capability.capability_count, capability.body_bytes, body.len()), (0, 0, 0));
    capability.to_bytes().unwrap();
}

#[test]
fn u4_a_hard_requirement_without_any_token_is_a_mismatch() {
    for (asked, able, mismatch) in [
        (hard([WORDS[1], WORDS[2]]), Words::default(), true),
        (hard([WORDS[1], WORDS[2]]), Words::from([WORDS[2]]), false),
        (offer([WORDS[1]]), Words::default(), false),
    ] {
        let (mut client, mut server) = sides();
        send(&mut client, &mut server, Negotiation, &asked);
        let (answer, event) = reply(&mut server, &mut client, Negotiation, &able);
        assert_eq!(answer.mismatch, mismatch);
        assert!(matches!(event, Event::Answered { mismatch: told, .. } if told == mismatch));
        assert_eq!(client.agreements(), usize::from(!answer.offer.tokens.is_empty()));
    }
}

#[test]
fn u4_an_answer_accepts_only_what_was_offered() {
    let (mut client, mut server) = sides();
    send(&mut client, &mut server, Negotiation, &offer([WORDS[1]]));
    let refusal = client.check_message(Negotiation, 7, &offer([WORDS[1], WORDS[2]])).unwrap_err();
    assert_eq!((refusal.code, refusal.rule), (ErrorCode::UNSUPPORTED_CAPABILITY, "U4"));
}

#[test]
fn u4_only_the_client_negotiates() {
    let (client, server) = sides();
    let refusal = server.check_offer(Negotiation, 7, &offer([WORDS[1]])).unwrap_err();
    assert_eq!((refusal.code, refusal.rule), (ErrorCode::INVALID_STATE, "U4"));
    let refusal = client.check_message(Negotiation, 7, &offer([WORDS[1]])).unwrap_err();
    assert_eq!((refusal.code, refusal.rule), (ErrorCode::INVALID_STATE, "U4"));
}

#[test]
fn u4_the_next_one_for_that_profile_and_session_is_the_answer() {
    let (mut client, _) = sides();
    for (session_id, profile) in [(7, ProfileId::TOKEN), (7, ProfileId::TENSOR), (8, ProfileId::TOKEN)] {
        let offer = Offer { profile, ..offer([WORDS[1]]) };
        client.apply_offer(client.check_offer(Negotiation, session_id, &offer).unwrap());
    }
    let tensor = Offer { profile: ProfileId::TENSOR, ..offer([]) };
    client.apply_message(client.check_message(Negotiation, 7, &tensor).unwrap());
    assert!(client.check_message(Negotiation, 8, &tensor).is_err());
    // An answer is never answered.
    assert!(client.check_answer(Negotiation, 7, ProfileId::TENSOR, &Words::registered()).is_err());
    assert_eq!(client.waiting(), 2);
}

#[test]
fn u4_several_offers_are_answered_in_order_and_the_lower_rank_is_preferred() {
    let (mut client, mut server) = sides();
    for (rank, limit_units) in [(5, 50), (2, 20), (9, 90)] {
        let terms = Terms { rank, limit_units, ..Default::default() };
        send(&mut client, &mut server, Negotiation, &Offer { terms, ..offer([WORDS[2]]) });
    }
    for _ in 0..3 {
        reply(&mut server, &mut client, Negotiation, &Words::registered());
    }
    for side in [&client, &server] {
        assert_eq!(side.agreed(7, ProfileId::TOKEN, WORDS[2]).unwrap().terms.limit_units, 20);
        assert_eq!(side.agreements(), 3);
    }
}

#[test]
fn u4_either_side_offers_to_degrade_and_the_peer_answers_once() {
    let (mut client, mut server) = sides();
    send(&mut server, &mut client, Degradation, &offer([WORDS[0], WORDS[3]]));
    let (_, event) = reply(&mut client, &mut server, Degradation, &Words::from([WORDS[3]]));
    assert!(matches!(event, Event::Answered { .. }));
    assert!(client.check_answer(Degradation, 7, ProfileId::TOKEN, &Words::registered()).is_err());
    for side in [&client, &server] {
        assert_eq!(side.degraded(7, ProfileId::TOKEN).unwrap().offered_by, Side::Server);
        assert_eq!(side.degraded(8, ProfileId::TOKEN), None);
    }
    send(&mut client, &mut server, Degradation, &offer([WORDS[0]]));
    reply(&mut server, &mut client, Degradation, &Words::default());
    assert_eq!(client.agreements(), 1, "nothing was accepted");
}

#[test]
fn u4_offers_to_degrade_that_cross_leave_the_servers() {
    let (mut client, mut server) = sides();
    let (theirs, ours) = (offer([WORDS[0]]), offer([WORDS[1]]));
    client.apply_offer(client.check_offer(Degradation, 7, &ours).unwrap());
    server.apply_offer(server.check_offer(Degradation, 7, &theirs).unwrap());
    let event = server.apply_message(server.check_message(Degradation, 7, &ours).unwrap());
    assert_eq!(event, Event::Ignored);
    let event = client.apply_message(client.check_message(Degradation, 7, &theirs).unwrap());
    assert!(matches!(event, Event::Offered { crossed: true, .. }));
    let refusal = client.check_offer(Degradation, 7, &ours).unwrap_err();
    assert_eq!(refusal.code, ErrorCode::INVALID_STATE);
    reply(&mut client, &mut server, Degradation, &Words::registered());
    for side in [&client, &server] {
        assert_eq!((side.waiting(), side.agreements()), (0, 1));
        assert!(side.degraded(7, ProfileId::TOKEN).unwrap().tokens.contains(WORDS[0]));
    }
}

#[test]
fn u2_no_concrete_cost_model_is_none() {
    let (mut client, mut server) = sides();
    send(&mut client, &mut server, Negotiation, &offer([WORDS[1]]));
    reply(&mut server, &mut client, Negotiation, &Words::registered());
    assert_eq!(client.cost_model(7, ProfileId::TOKEN), None);
    // One that only came with a degradation was not negotiated.
    let terms = Terms { cost_model: CostModelId::TOKEN_UNITS, ..Default::default() };
    let priced = Offer::new(ProfileId::TOKEN, [WORDS[1]], terms);
    send(&mut client, &mut server, Degradation, &priced);
    reply(&mut server, &mut client, Degradation, &Words::registered());
    assert!(client.degraded(7, ProfileId::TOKEN).is_some());
    for side in [&mut client, &mut server] {
        assert_eq!(side.cost_model(7, ProfileId::TOKEN), None);
    }
    send(&mut client, &mut server, Negotiation, &priced);
    reply(&mut server, &mut client, Negotiation, &Words::registered());
    assert_eq!(server.cost_model(7, ProfileId::TOKEN), Some(CostModelId::TOKEN_UNITS));
}

#[test]
fn u3_what_was_negotiated_is_no_degradation() {
    let (mut client, mut server) = sides();
    send(&mut client, &mut server, Negotiation, &offer([WORDS[1]]));
    reply(&mut server, &mut client, Negotiation, &Words::registered());
    for side in [&client, &server] {
        assert!(side.agreed(7, ProfileId::TOKEN, WORDS[1]).is_some());
        assert_eq!(side.degraded(7, ProfileId::TOKEN), None);
    }
}

#[test]
fn what_the_connection_agreed_on_holds_in_its_sessions() {
    let (mut client, _) = sides();
    client.apply_offer(client.check_offer(Negotiation, 0, &offer([WORDS[1]])).unwrap());
    client.apply_message(client.check_message(Negotiation, 0, &offer([WORDS[1]])).unwrap());
    assert!(client.agreed(7, ProfileId::TOKEN, WORDS[1]).is_some());
    client.end_session(7);
    assert_eq!(client.agreements(), 1);
}

#[test]
fn u4_floods_are_bounded() {
    let limits = Limits { waiting: 4, agreements: 3, tokens: 2 };
    let mut client = Capabilities::new(Side::Client, limits);
    let mut server = Capabilities::new(Side::Server, limits);
    let many = offer([WORDS[0], WORDS[1], WORDS[2]]);
    assert_eq!(client.check_offer(Negotiation, 7, &many).unwrap_err().code, ErrorCode::LIMIT_EXCEEDED);
    assert_eq!(server.check_message(Negotiation, 7, &many).unwrap_err().code, ErrorCode::LIMIT_EXCEEDED);
    for _ in 0..4 {
        server.apply_message(server.check_message(Negotiation, 7, &offer([WORDS[0]])).unwrap());
    }
    let refusal = server.check_message(Negotiation, 7, &offer([WORDS[0]])).unwrap_err();
    assert_eq!(refusal.code, ErrorCode::LIMIT_EXCEEDED);
    server.end_session(7);
    assert_eq!(server.waiting(), 0);
    for rank in (0..50).rev() {
        let terms = Terms { rank, ..Default::default() };
        send(&mut client, &mut server, Negotiation, &Offer { terms, ..offer([WORDS[0]]) });
        reply(&mut server, &mut client, Negotiation, &Words::registered());
        assert!(client.agreements() <= 3 && server.agreements() <= 3);
    }
    assert_eq!(client.agreed(7, ProfileId::TOKEN, WORDS[0]).unwrap().terms.rank, 0);
}

/// Both sides talk in order and end up with the same agreements.
#[test]
fn model_both_sides_agree() {
    let mut random = Random::new(12);
    let limits = Limits { waiting: 1_000, ..Default::default() };
    let (mut client, mut server) =
        (Capabilities::new(Side::Client, limits), Capabilities::new(Side::Server, limits));
    let mut to_server: VecDeque<(Purpose, u32, Offer)> = VecDeque::new();
    let mut to_client: VecDeque<(Purpose, u32, Offer)> = VecDeque::new();
    let mut agreed = 0;
    for step in 0..steps(40_000) {
        let by_client = random.chance(2);
        let (side, out, inbox) = if by_client {
            (&mut client, &mut to_server, &mut to_client)
        } else {
            (&mut server, &mut to_client, &mut to_server)
        };
        let session_id = random.below(3) as u32;
        let purpose = random.of(&[Negotiation, Degradation]);
        match random.below(4) {
            0 if side.waiting() < 12 => {
                let terms = Terms { rank: random.below(3) as u16, ..Default::default() };
                // The two sides never offer the same tokens to degrade, so that no offer looks like an answer.
                let own = if by_client { [WORDS[0], WORDS[1]] } else { [WORDS[2], WORDS[3]] };
                let offer = Offer { terms, ..offer(own) };
                if let Ok(plan) = side.check_offer(purpose, session_id, &offer) {
                    side.apply_offer(plan);
                    out.push_back((purpose, session_id, offer));
                }
            }
            1 => {
                let able = Words::from([random.of(&WORDS[..2]), random.of(&WORDS[2..])]);
                if let Ok(plan) = side.check_answer(purpose, session_id, ProfileId::TOKEN, &able) {
                    let answer = side.apply_answer(plan);
                    assert!(!answer.offer.tokens.is_empty() || !answer.mismatch);
                    out.push_back((purpose, session_id, answer.offer));
                }
            }
            _ => {
                if let Some((purpose, session_id, message)) = inbox.pop_front() {
                    let plan = side.check_message(purpose, session_id, &message);
                    match plan {
                        Ok(plan) => drop(side.apply_message(plan)),
                        Err(refusal) => panic!("step {step}: {refusal}"),
                    }
                }
            }
        }
        if to_client.is_empty() && to_server.is_empty() {
            for session_id in 0..3 {
                for token in WORDS {
                    let (one, other) = (
                        client.agreed(session_id, ProfileId::TOKEN, token),
                        server.agreed(session_id, ProfileId::TOKEN, token),
                    );
                    assert_eq!(one, other, "step {step}");
                    agreed += usize::from(one.is_some());
                }
            }
        }
    }
    assert!(agreed > 1_000);
}
