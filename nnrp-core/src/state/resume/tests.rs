use super::*;
use crate::state::Time;
use crate::state::random::{Random, steps};
use crate::{
    ErrorCode, ProfileId, SessionErrorCode, SessionFlags, SessionFlagsAck, SessionMigrate, SessionMigrateAck,
    SessionOpen, SessionState, TransportId,
};
use std::collections::{BTreeMap, BTreeSet};
use std::vec::Vec;

const NOW: Time = Time(1_000);

fn bound() -> Bound {
    Bound {
        session_id: 7,
        principal: 3,
        profile: ProfileId::TOKEN,
        schema: (0x1001, 3),
        flags: SessionFlagsAck::RESUME_ENABLED | SessionFlagsAck::CACHE_LEASES_ENABLED,
        window_ms: 100,
    }
}

fn tokens(random: &mut Random) -> (Tokens<&'static str>, Handle, Token) {
    let mut tokens = Tokens::new(Limits::default());
    let (handle, token) = tokens.issue(bound(), &mut || random.next()).unwrap();
    (tokens, handle, token)
}

fn open() -> SessionOpen {
    SessionOpen { profile_id: ProfileId::TOKEN, schema_id: 0x1001, schema_version: 3, ..Default::default() }
}

fn rejected<T>(tokens: &Tokens<T>, token: &[u8], open: &SessionOpen, principal: u64, now: Time) -> bool {
    match tokens.check_resume(token, open, principal, now) {
        Ok(_) => false,
        Err(refusal) => {
            assert_eq!(refusal.code.raw(), SessionErrorCode::RESUME_REJECTED.raw());
            assert_eq!(refusal.rule, "R2");
            true
        }
    }
}

#[test]
fn r1_a_token_is_usable_within_its_window_only() {
    let (mut tokens, handle, token) = tokens(&mut Random::new(1));
    // While the connection is there no window runs.
    assert!(!rejected(&tokens, token.as_bytes(), &open(), 3, Time(u64::MAX)));
    tokens.detach(handle, "left", NOW);
    assert!(!rejected(&tokens, token.as_bytes(), &open(), 3, NOW.after(99)));
    assert!(rejected(&tokens, token.as_bytes(), &open(), 3, NOW.after(100)));
    assert_eq!(tokens.next_timeout(), Some(NOW.after(100)));
    assert_eq!(tokens.handle_timeout(NOW.after(99)), None);
    assert_eq!(tokens.handle_timeout(NOW.after(100)), Some((bound(), "left")));
    assert_eq!((tokens.len(), tokens.next_timeout()), (0, None));
}

#[test]
fn r1_a_resume_without_a_window_keeps_the_one_before() {
    let mut random = Random::new(1);
    let (mut tokens, handle, token) = tokens(&mut random);
    tokens.detach(handle, "left", NOW);
    let plan = tokens.check_resume(token.as_bytes(), &open(), 3, NOW).unwrap();
    let used = tokens.apply_resume(plan).unwrap().used;
    let (handle, _) = tokens.renew(used, Bound { window_ms: 0, ..bound() }, &mut || random.next()).unwrap();
    tokens.detach(handle, "left", NOW);
    assert_eq!(tokens.next_timeout(), Some(NOW.after(100)));
}

#[test]
fn r1_no_window_gives_no_token() {
    let mut tokens: Tokens<()> = Tokens::new(Limits::default());
    assert!(tokens.issue(Bound { window_ms: 0, ..bound() }, &mut || 1).is_none());
}

#[test]
fn r1_r2_a_token_belongs_to_one_session() {
    let mut random = Random::new(1);
    let (mut tokens, _, first) = tokens(&mut random);
    let (_, second) = tokens.issue(Bound { session_id: 8, ..bound() }, &mut || random.next()).unwrap();
    for (token, session_id) in [(first, 7), (second, 8)] {
        let plan = tokens.check_resume(token.as_bytes(), &open(), 3, NOW).unwrap();
        assert_eq!(plan.bound().session_id, session_id);
        for requested_session_id in [7, 8, 9] {
            let open = SessionOpen { requested_session_id, ..open() };
            let foreign = rejected(&tokens, token.as_bytes(), &open, 3, NOW);
            assert_eq!(foreign, requested_session_id != session_id);
        }
    }
}

#[test]
fn r2_a_token_is_used_once() {
    let (mut tokens, handle, token) = tokens(&mut Random::new(1));
    tokens.detach(handle, "left", NOW);
    let plan = tokens.check_resume(token.as_bytes(), &open(), 3, NOW).unwrap();
    let resumed = tokens.apply_resume(plan).unwrap();
    assert_eq!((resumed.bound, resumed.left), (bound(), Some("left")));
    assert!(rejected(&tokens, token.as_bytes(), &open(), 3, NOW));
    assert_eq!(tokens.apply_resume(plan), None);
    assert!(tokens.is_empty() && tokens.next_timeout().is_none());
    // What its connection left later belongs to nobody.
    assert_eq!(tokens.detach(handle, "late", NOW), Some("late"));
}

#[test]
fn r2_a_token_stays_good_until_the_client_has_the_next_one() {
    let mut random = Random::new(1);
    let (mut tokens, handle, first) = tokens(&mut random);
    let mut source = || random.next();
    let again = |tokens: &Tokens<&'static str>, token: &Token, at| {
        tokens.check_resume(token.as_bytes(), &open(), 3, at)
    };
    tokens.detach(handle, "left", NOW);
    let resumed = tokens.apply_resume(again(&tokens, &first, NOW).unwrap()).unwrap();
    let (second_handle, second) = tokens.renew(resumed.used, bound(), &mut source).unwrap();
    assert_eq!(tokens.len(), 1);
    // The answer was lost: either is good, for the one session, and the window begins anew.
    tokens.detach(second_handle, "later", NOW.after(50));
    assert_eq!(tokens.next_timeout(), Some(NOW.after(150)));
    for token in [&first, &second] {
        let plan = again(&tokens, token, NOW).unwrap();
        assert_eq!((plan.handle(), plan.is_used()), (second_handle, token == &first));
        assert!(again(&tokens, token, NOW.after(150)).is_err());
    }
    // Who comes with the first one never had the second.
    let resumed = tokens.apply_resume(again(&tokens, &first, NOW).unwrap()).unwrap();
    assert_eq!(resumed.left, Some("later"));
    let (third_handle, third) = tokens.renew(resumed.used, bound(), &mut source).unwrap();
    assert!(rejected(&tokens, second.as_bytes(), &open(), 3, NOW));
    assert!(again(&tokens, &first, NOW).is_ok() && again(&tokens, &third, NOW).is_ok());
    // From then on only the new one is.
    tokens.confirm(third_handle);
    assert!(rejected(&tokens, first.as_bytes(), &open(), 3, NOW));
    let resumed = tokens.apply_resume(again(&tokens, &third, NOW).unwrap()).unwrap();
    let (fourth_handle, _) = tokens.renew(resumed.used, bound(), &mut source).unwrap();
    assert!(again(&tokens, &third, NOW).is_ok());
    // The end of the session takes both.
    tokens.revoke(fourth_handle);
    assert!(rejected(&tokens, third.as_bytes(), &open(), 3, NOW) && tokens.is_empty());
}

#[test]
fn r2_no_two_tokens_share_a_name() {
    let mut tokens: Tokens<&'static str> = Tokens::new(Limits::default());
    let other = Bound { session_id: 8, ..bound() };
    // A source that gives the same number again and again gives one token.
    let (_, token) = tokens.issue(bound(), &mut || 5).unwrap();
    assert!(tokens.issue(other, &mut || 5).is_none());
    let plan = tokens.check_resume(token.as_bytes(), &open(), 3, NOW).unwrap();
    let used = tokens.apply_resume(plan).unwrap().used;
    assert!(tokens.renew(used.clone(), bound(), &mut || 5).is_none());
    let (next, _) = tokens.renew(used, bound(), &mut || 6).unwrap();
    // The name is taken for as long as the token before is good, and no longer.
    assert!(tokens.issue(other, &mut || 5).is_none());
    assert!(tokens.check_resume(token.as_bytes(), &open(), 3, NOW).is_ok());
    tokens.confirm(next);
    assert!(tokens.issue(other, &mut || 5).is_some());
}

#[test]
fn r2_the_end_of_a_session_frees_the_names_of_both_its_tokens() {
    let mut tokens: Tokens<&'static str> = Tokens::new(Limits::default());
    let (_, token) = tokens.issue(bound(), &mut || 5).unwrap();
    let plan = tokens.check_resume(token.as_bytes(), &open(), 3, NOW).unwrap();
    let used = tokens.apply_resume(plan).unwrap().used;
    let (next, _) = tokens.renew(used, bound(), &mut || 6).unwrap();
    tokens.revoke(next);
    for number in [5, 6] {
        assert!(tokens.issue(bound(), &mut || number).is_some());
    }
}

#[test]
fn r1_what_a_connection_left_is_left_once() {
    let (mut tokens, handle, token) = tokens(&mut Random::new(1));
    assert_eq!(tokens.detach(handle, "first", NOW), None);
    assert_eq!(tokens.detach(handle, "second", NOW.after(50)), Some("second"));
    assert_eq!(tokens.next_timeout(), Some(NOW.after(100)));
    let plan = tokens.check_resume(token.as_bytes(), &open(), 3, NOW).unwrap();
    assert_eq!(tokens.apply_resume(plan).unwrap().left, Some("first"));
}

#[test]
fn r2_the_secret_of_one_is_not_that_of_the_other() {
    let mut random = Random::new(1);
    let (mut tokens, _, first) = tokens(&mut random);
    let plan = tokens.check_resume(first.as_bytes(), &open(), 3, NOW).unwrap();
    let used = tokens.apply_resume(plan).unwrap().used;
    let (_, second) = tokens.renew(used, bound(), &mut || random.next()).unwrap();
    let mixed = |name: &Token, secret: &Token| [&name.as_bytes()[..8], &secret.as_bytes()[8..]].concat();
    assert!(rejected(&tokens, &mixed(&first, &second), &open(), 3, NOW));
    assert!(rejected(&tokens, &mixed(&second, &first), &open(), 3, NOW));
    assert!(!rejected(&tokens, &mixed(&first, &first), &open(), 3, NOW));
}

#[test]
fn r2_every_wrong_token_is_rejected() {
    let (mut tokens, handle, token) = tokens(&mut Random::new(1));
    let right = token.as_bytes();
    for bit in 0..Token::SIZE * 8 {
        let mut wrong = *right;
        wrong[bit / 8] ^= 1 << (bit % 8);
        assert!(rejected(&tokens, &wrong, &open(), 3, NOW), "bit {bit}");
    }
    for length in 0..Token::SIZE {
        assert!(rejected(&tokens, &right[..length], &open(), 3, NOW));
    }
    let longer: Vec<u8> = right.iter().copied().chain([0]).collect();
    assert!(rejected(&tokens, &longer, &open(), 3, NOW));
    assert!(rejected(&tokens, &[0; Token::SIZE], &open(), 3, NOW));
    // Guessing does not use it up, revoking does.
    assert!(!rejected(&tokens, right, &open(), 3, NOW));
    tokens.revoke(handle);
    assert!(rejected(&tokens, right, &open(), 3, NOW));
}

#[test]
fn r2_the_request_has_to_fit_the_session() {
    let (tokens, _, token) = tokens(&mut Random::new(1));
    let bytes = token.as_bytes();
    let wrong = [
        SessionOpen { profile_id: ProfileId::TENSOR, ..open() },
        SessionOpen { schema_version: 4, ..open() },
        SessionOpen { schema_id: 0x1_0000, ..open() },
        SessionOpen { session_flags: SessionFlags::ALLOW_SCHEMA_OVERRIDE, ..open() },
        SessionOpen { session_flags: SessionFlags::all(), ..open() },
    ];
    for open in wrong {
        assert!(rejected(&tokens, bytes, &open, 3, NOW));
    }
    assert!(rejected(&tokens, bytes, &open(), 4, NOW), "another client");
    let right = [
        SessionOpen::default(),
        SessionOpen { session_flags: SessionFlags::ALLOW_RESUME, ..open() },
        SessionOpen { requested_session_id: 7, ..open() },
    ];
    for open in right {
        assert!(!rejected(&tokens, bytes, &open, 3, NOW));
    }
}

#[test]
fn r2_tokens_are_not_shown() {
    let (tokens, _, token) = tokens(&mut Random::new(1));
    assert_eq!(std::format!("{token:?}"), "Token(…)");
    assert_eq!(std::format!("{tokens:?}"), "Tokens { sessions: 1, .. }");
    let mut tokens = tokens;
    let plan = tokens.check_resume(token.as_bytes(), &open(), 3, NOW).unwrap();
    let used = tokens.apply_resume(plan).unwrap().used;
    assert_eq!(std::format!("{used:?}"), "Used(…)");
}

#[test]
fn r1_tokens_are_bounded_and_a_broken_source_shares_none() {
    let mut tokens: Tokens<()> = Tokens::new(Limits { sessions: 5, ..Default::default() });
    let mut random = Random::new(1);
    for _ in 0..5 {
        tokens.issue(bound(), &mut || random.next()).unwrap();
    }
    assert!(tokens.issue(bound(), &mut || random.next()).is_none());
    let mut tokens: Tokens<()> = Tokens::new(Limits::default());
    tokens.issue(bound(), &mut || 1).unwrap();
    assert!(tokens.issue(bound(), &mut || 1).is_none());
}

fn kept(keeper: &Keeper<u64>) -> Vec<u64> {
    keeper.iter().map(|kept| kept.outcome).collect()
}

#[test]
fn x1_a_waterline_covers_its_operation_and_all_submitted_before() {
    let mut keeper = Keeper::new(Limits::default(), 100);
    // Operation 900 was submitted first, and ended second.
    for (operation, serial) in [(5, 2), (900, 1), (6, 3)] {
        keeper.keep(operation, serial, operation, 1, NOW);
    }
    assert_eq!(kept(&keeper), [5, 900, 6]);
    keeper.cover(keeper.serial_of(77));
    assert_eq!(keeper.len(), 3, "an unknown one covers nothing");
    let mut other = keeper.clone();
    keeper.cover(keeper.serial_of(900));
    assert_eq!(kept(&keeper), [5, 6]);
    other.cover(other.serial_of(5));
    assert_eq!(kept(&other), [6]);
    assert_eq!(other.poll_lost(), None, "what was covered is not lost");
}

#[test]
fn r1_outcomes_are_kept_for_the_window_up_to_a_limit() {
    let limits = Limits { outcomes: 3, outcome_bytes: 100, ..Default::default() };
    let mut keeper = Keeper::new(limits, 100);
    for operation in 1..=4 {
        keeper.keep(operation, operation, operation, 1, NOW.after(operation));
    }
    assert_eq!(kept(&keeper), [2, 3, 4]);
    assert_eq!(keeper.poll_lost(), Some(Lost { operation_id: 1, outcome: 1 }));
    keeper.keep(5, 5, 5, 99, NOW.after(5));
    assert_eq!((kept(&keeper), keeper.bytes()), ([4, 5].into(), 100));
    assert_eq!(keeper.next_timeout(), Some(NOW.after(104)));
    keeper.handle_timeout(NOW.after(104));
    assert_eq!(kept(&keeper), [5]);
    keeper.keep(6, 6, 6, 101, NOW.after(6));
    assert!(keeper.is_empty(), "what is over the limit by itself is not kept");
    assert_eq!(keeper.bytes(), 0);
}

#[test]
fn o5_an_operation_has_one_outcome() {
    let mut keeper = Keeper::new(Limits::default(), 100);
    keeper.keep(1, 1, 10, 5, NOW);
    keeper.keep(1, 1, 11, 7, NOW);
    assert_eq!((kept(&keeper), keeper.bytes()), ([11].into(), 7));
    keeper.release(1);
    keeper.release(1);
    assert!(keeper.is_empty() && keeper.next_timeout().is_none());
}

fn migrate() -> SessionMigrate {
    SessionMigrate {
        old_transport_id: TransportId::Tcp,
        new_transport_id: TransportId::Quic,
        last_result_frame_id: 40,
        ..Default::default()
    }
}

#[test]
fn r3_only_a_session_resumed_here_moves_and_only_once() {
    let mut migration = Migration::default();
    for state in SessionState::ALL {
        let verdict = migration.check_migrate(&migrate(), state, TransportId::Quic);
        assert_eq!(verdict.is_ok(), state == SessionState::Resumed);
        if let Err(refusal) = verdict {
            assert_eq!((refusal.code, refusal.rule), (ErrorCode::INVALID_STATE, "R3"));
        }
    }
    let resumed = |migration: &Migration, transport| {
        migration.check_migrate(&migrate(), SessionState::Resumed, transport).map_err(|refusal| refusal.rule)
    };
    assert_eq!(resumed(&migration, TransportId::Tcp).unwrap_err(), "R3");
    let plan = resumed(&migration, TransportId::Quic).unwrap();
    migration.apply_migrate(plan, 500, NOW);
    assert!(migration.has_moved());
    assert_eq!(resumed(&migration, TransportId::Quic).unwrap_err(), "R3");
    let same = SessionMigrate { new_transport_id: TransportId::Tcp, ..migrate() };
    let refusal =
        Migration::default().check_migrate(&same, SessionState::Resumed, TransportId::Tcp).unwrap_err();
    assert_eq!(refusal.rule, "D11");
}

#[test]
fn r3_frames_below_the_cursor_are_not_replayed_and_the_old_path_drains() {
    let mut server = Migration::default();
    let mut client = Migration::default();
    assert!(server.replays(0) && !server.old_path_drains(NOW));
    let asked = client.check_migrate(&migrate(), SessionState::Resumed, TransportId::Unspecified).unwrap();
    client.apply_asked(asked);
    assert!(client.check_migrate(&migrate(), SessionState::Resumed, TransportId::Quic).is_err());
    let plan = server.check_migrate(&migrate(), SessionState::Resumed, TransportId::Quic).unwrap();
    let ack = server.apply_migrate(plan, 500, NOW);
    assert!(client.apply_ack(client.check_ack(&ack).unwrap(), NOW));
    for side in [&mut server, &mut client] {
        assert!(!side.replays(0) && !side.replays(40) && side.replays(41));
        assert!(side.old_path_drains(NOW.after(499)) && !side.old_path_drains(NOW.after(500)));
        assert_eq!(side.next_timeout(), Some(NOW.after(500)));
        assert!(!side.handle_timeout(NOW.after(499)) && side.handle_timeout(NOW.after(500)));
        assert!(!side.old_path_drains(NOW) && side.next_timeout().is_none());
    }
    assert_eq!(client.check_ack(&ack).unwrap_err().rule, "R3");
}

#[test]
fn c8_any_accept_code_but_0_refuses() {
    for code in [0, 1, u32::MAX] {
        let mut client = Migration::default();
        let asked = client.check_migrate(&migrate(), SessionState::Resumed, TransportId::Quic).unwrap();
        client.apply_asked(asked);
        let ack = SessionMigrateAck { accept_code: code, ..Default::default() };
        assert_eq!(client.apply_ack(client.check_ack(&ack).unwrap(), NOW), code == 0);
        assert_eq!(client.has_moved(), code == 0);
        assert_ne!(client.refuse(code).accept_code, 0);
    }
}

#[test]
fn a_last_frame_at_the_end_of_the_numbers_is_no_trouble() {
    let mut server = Migration::default();
    let last = SessionMigrate { last_result_frame_id: u64::MAX, ..migrate() };
    let plan = server.check_migrate(&last, SessionState::Resumed, TransportId::Quic).unwrap();
    server.apply_migrate(plan, u32::MAX, Time(u64::MAX));
    assert!(!server.replays(u32::MAX));
}

/// A client and a server whose link is cut at any time: nothing is lost and nothing delivered twice.
#[test]
fn model_outcomes_arrive_exactly_once_across_resumes() {
    let mut random = Random::new(5);
    let mut keeper = Keeper::new(Limits::default(), 1_000_000);
    let mut waterline = Waterline::default();
    let mut serials: BTreeMap<u64, u64> = BTreeMap::new();
    let mut running: Vec<u64> = Vec::new();
    let mut arrived: BTreeMap<u64, u32> = BTreeMap::new();
    let mut on_the_way: Vec<u64> = Vec::new();
    let mut submitted = 0;
    fn deliver(operation: u64, waterline: &mut Waterline, arrived: &mut BTreeMap<u64, u32>) {
        // The client drops what it has already, as the operation has ended there.
        if let std::collections::btree_map::Entry::Vacant(place) = arrived.entry(operation) {
            place.insert(1);
            waterline.delivered(operation);
        }
    }
    for _ in 0..steps(40_000) {
        match random.below(7) {
            0 if running.len() < 20 => {
                submitted += 1;
                // Ids in no order, as the client likes them.
                let operation = submitted ^ 0x2a;
                serials.insert(operation, submitted);
                waterline.submitted(operation);
                running.push(operation);
            }
            1 | 2 if !running.is_empty() => {
                let operation = running.swap_remove(random.below(running.len() as u64) as usize);
                keeper.keep(operation, serials[&operation], operation, 1, NOW);
                on_the_way.push(operation);
            }
            3 | 5 | 6 if !on_the_way.is_empty() => {
                let operation = on_the_way.remove(0);
                deliver(operation, &mut waterline, &mut arrived);
            }
            4 if random.chance(40) => {
                // The link is cut: what was on the way is gone. The client resumes from its waterline.
                on_the_way.clear();
                let mark = waterline.mark().and_then(|operation| serials.get(&operation).copied());
                keeper.cover(mark);
                on_the_way = kept(&keeper);
            }
            _ => {}
        }
        assert!(keeper.len() <= submitted as usize - running.len());
    }
    keeper.cover(waterline.mark().and_then(|operation| serials.get(&operation).copied()));
    for operation in kept(&keeper) {
        deliver(operation, &mut waterline, &mut arrived);
    }
    let ended: BTreeSet<u64> =
        serials.keys().copied().filter(|operation| !running.contains(operation)).collect();
    let arrived: BTreeSet<u64> = arrived.keys().copied().collect();
    let missing: Vec<&u64> = ended.symmetric_difference(&arrived).collect();
    assert!(missing.is_empty(), "{missing:?} of {submitted}, {running:?} run");
    assert_eq!(waterline.len(), running.len(), "only what is missing is held on to");
    assert_eq!(keeper.poll_lost(), None);
}
