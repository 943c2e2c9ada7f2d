extern crate std;

use std::string::ToString;

use super::*;
use crate::state::random::{Random, steps};
use crate::{BackpressureLevel, FlowFlags, FlowUpdate, Pressure, PressureLevel, ScopeKind, UpdateReason};

const NOW: Time = Time(1000);

fn flow(scope_kind: ScopeKind, credit_epoch: u32) -> FlowUpdate {
    FlowUpdate { scope_kind, credit_epoch, ..FlowUpdate::default() }
}

fn grant(scope_kind: ScopeKind, credit_epoch: u32, credit: u16) -> FlowUpdate {
    FlowUpdate {
        connection_credit: credit,
        session_credit: credit,
        operation_credit: credit,
        operation_id: 7,
        flow_flags: FlowFlags::CREDIT_VALID,
        ..flow(scope_kind, credit_epoch)
    }
}

fn apply(window: &mut Window, update: FlowUpdate) -> bool {
    let plan = window.check_flow(&update, NOW).unwrap();
    window.apply_update(plan)
}

fn press(window: &mut Window, level: PressureLevel) {
    let plan =
        window.check_pressure(&Pressure { pressure_level: level, ..Pressure::default() }, NOW).unwrap();
    assert!(window.apply_update(plan));
}

fn submit(window: &mut Window) -> Result<(), Blocked> {
    let place = window.check_submit(0, NOW)?;
    window.apply_submit(place);
    Ok(())
}

#[test]
fn w1_a_credit_is_the_size_of_the_window_and_not_an_increment() {
    let mut window = Window::session(2);
    submit(&mut window).unwrap();
    submit(&mut window).unwrap();
    assert_eq!(submit(&mut window), Err(Blocked::NoCredit));
    assert!(apply(&mut window, grant(ScopeKind::Session, 1, 3)));
    submit(&mut window).unwrap();
    assert_eq!(submit(&mut window), Err(Blocked::NoCredit));
}

#[test]
fn w1_a_submit_takes_a_place_and_its_end_frees_it() {
    let mut window = Window::session(1);
    submit(&mut window).unwrap();
    assert_eq!((window.in_flight(), window.available()), (1, Some(0)));
    window.apply_release();
    assert_eq!((window.in_flight(), window.available()), (0, Some(1)));
}

#[test]
fn w1_a_smaller_window_takes_nothing_back_and_is_never_negative() {
    let mut window = Window::session(3);
    for _ in 0..3 {
        submit(&mut window).unwrap();
    }
    apply(&mut window, grant(ScopeKind::Session, 1, 1));
    assert_eq!((window.in_flight(), window.available()), (3, Some(0)));
    window.apply_release();
    window.apply_release();
    assert_eq!(submit(&mut window), Err(Blocked::NoCredit));
    window.apply_release();
    assert_eq!(submit(&mut window), Ok(()));
}

#[test]
fn w1_first_windows_come_from_the_acknowledgements() {
    assert_eq!(Window::connection(0).available(), None);
    assert_eq!(Window::connection(5).available(), Some(5));
    assert_eq!(Window::session(0).available(), Some(0));
}

#[test]
fn w1_w5_operation_credit_counts_partials_after_the_update() {
    let mut partials = Partials::default();
    assert!(partials.check_partial(7, false, NOW).is_ok());
    let plan = partials.check_flow(&grant(ScopeKind::Operation, 1, 2), true, NOW).unwrap();
    assert!(partials.apply_update(plan));
    for _ in 0..2 {
        let plan = partials.check_partial(7, false, NOW).unwrap();
        partials.apply_partial(plan);
    }
    assert_eq!(partials.check_partial(7, false, NOW), Err(Blocked::NoCredit));
    assert!(partials.check_partial(8, false, NOW).is_ok());
    let pressure = Pressure { scope_id: 7, credit_window: 1, ..Pressure::default() };
    let plan = partials.check_credit(&pressure, true).unwrap();
    assert!(partials.apply_update(plan));
    assert_eq!(partials.get(7).unwrap().left(), Some(1));
    partials.forget(7);
    assert!(partials.is_empty());
}

#[test]
fn w2_an_older_epoch_is_never_applied_and_an_equal_one_is_a_duplicate() {
    for scope in [ScopeKind::Connection, ScopeKind::Session] {
        let mut window =
            if scope == ScopeKind::Connection { Window::connection(0) } else { Window::session(0) };
        assert!(apply(&mut window, grant(scope, 5, 10)), "the first is taken whatever it is");
        for (epoch, standing) in [(4, Standing::Older), (0, Standing::Older), (5, Standing::Duplicate)] {
            let plan = window.check_flow(&grant(scope, epoch, 99), NOW).unwrap();
            assert_eq!(plan.standing(), standing);
            assert!(!window.apply_update(plan));
            assert_eq!(window.limit(), Some(10));
        }
        assert!(apply(&mut window, grant(scope, u32::MAX, 11)));
        assert_eq!(window.gate().next_epoch(), None);
        assert_eq!(window.update(UpdateReason::Grant, BackpressureLevel::None, None), None);
    }
    let mut partials = Partials::default();
    for (epoch, counts) in [(3, true), (3, false), (2, false), (4, true)] {
        let plan = partials.check_flow(&grant(ScopeKind::Operation, epoch, epoch as u16), true, NOW).unwrap();
        assert_eq!(partials.apply_update(plan), counts);
    }
    assert_eq!(partials.get(7).unwrap().left(), Some(4));
}

#[test]
fn w2_epoch_0_may_be_the_first() {
    let mut window = Window::session(0);
    assert!(apply(&mut window, grant(ScopeKind::Session, 0, 1)));
    assert!(!apply(&mut window, grant(ScopeKind::Session, 0, 2)));
}

#[test]
fn w3_fields_count_only_with_their_flags() {
    let mut window = Window::session(4);
    let update = FlowUpdate { session_credit: 9, retry_after_ms: 50, ..flow(ScopeKind::Session, 1) };
    apply(&mut window, update);
    assert_eq!((window.limit(), window.gate().retry_at()), (Some(4), None));
    let flow_flags = FlowFlags::CREDIT_VALID | FlowFlags::RETRY_AFTER_VALID;
    apply(&mut window, FlowUpdate { flow_flags, credit_epoch: 2, ..update });
    assert_eq!((window.limit(), window.gate().retry_at()), (Some(9), Some(Time(1050))));
}

#[test]
fn w3_the_credit_of_an_operation_counts_only_with_its_flag() {
    let mut partials = Partials::default();
    let plan = partials.check_flow(&grant(ScopeKind::Operation, 1, 2), true, NOW).unwrap();
    partials.apply_update(plan);
    let unflagged = FlowUpdate {
        operation_credit: 9,
        flow_flags: FlowFlags::empty(),
        ..grant(ScopeKind::Operation, 2, 0)
    };
    let plan = partials.check_flow(&unflagged, true, NOW).unwrap();
    assert!(partials.apply_update(plan));
    assert_eq!(partials.get(7).unwrap().left(), Some(2));
}

#[test]
fn w3_each_scope_reads_its_own_credit() {
    let update = |scope| FlowUpdate {
        connection_credit: 1,
        session_credit: 2,
        operation_credit: 3,
        ..grant(scope, 1, 0)
    };
    let mut connection = Window::connection(9);
    apply(&mut connection, update(ScopeKind::Connection));
    let mut session = Window::session(9);
    apply(&mut session, update(ScopeKind::Session));
    let mut partials = Partials::default();
    let plan = partials.check_flow(&update(ScopeKind::Operation), true, NOW).unwrap();
    partials.apply_update(plan);
    assert_eq!(connection.limit(), Some(1));
    assert_eq!(session.limit(), Some(2));
    assert_eq!(partials.get(7).unwrap().left(), Some(3));
    assert_eq!(session.check_flow(&update(ScopeKind::Connection), NOW).unwrap_err().rule, "W3");
    assert_eq!(partials.check_flow(&update(ScopeKind::Session), true, NOW).unwrap_err().rule, "W3");
}

#[test]
fn w3_hard_stops_submits_until_an_update_loosens_it_and_soft_advises() {
    let mut window = Window::session(4);
    let with = |level, epoch| FlowUpdate { backpressure_level: level, ..flow(ScopeKind::Session, epoch) };
    apply(&mut window, with(BackpressureLevel::Hard, 1));
    assert_eq!(submit(&mut window), Err(Blocked::Hard));
    apply(&mut window, with(BackpressureLevel::Soft, 2));
    assert_eq!(submit(&mut window), Ok(()));
    apply(&mut window, with(BackpressureLevel::Hard, 3));
    apply(&mut window, FlowUpdate { update_reason: UpdateReason::Grant, ..with(BackpressureLevel::None, 4) });
    assert_eq!(submit(&mut window), Ok(()));
}

#[test]
fn w3_a_pause_lasts_until_a_resume() {
    let mut window = Window::session(4);
    let because = |reason, epoch| FlowUpdate { update_reason: reason, ..flow(ScopeKind::Session, epoch) };
    apply(&mut window, because(UpdateReason::Pause, 1));
    for (epoch, reason) in
        [(2, UpdateReason::Grant), (3, UpdateReason::Reduce), (4, UpdateReason::Congestion)]
    {
        apply(&mut window, because(reason, epoch));
        assert_eq!(submit(&mut window), Err(Blocked::Paused));
    }
    apply(&mut window, because(UpdateReason::Resume, 5));
    assert_eq!(submit(&mut window), Ok(()));
}

#[test]
fn w3_background_only_and_drain() {
    let mut window = Window::session(9);
    let with = |flow_flags, epoch| FlowUpdate { flow_flags, ..flow(ScopeKind::Session, epoch) };
    apply(&mut window, with(FlowFlags::BACKGROUND_ONLY, 1));
    for (class, blocked) in [(0, true), (1, true), (2, false), (3, false), (u16::MAX, false)] {
        assert_eq!(window.check_submit(class, NOW).err(), blocked.then_some(Blocked::BackgroundOnly));
    }
    apply(&mut window, with(FlowFlags::DRAIN_IN_FLIGHT_ONLY, 2));
    assert_eq!(window.check_submit(2, NOW), Err(Blocked::Draining));
    apply(&mut window, with(FlowFlags::empty(), 3));
    assert!(window.check_submit(0, NOW).is_ok());
}

#[test]
fn w4_a_submit_without_credit_is_refused_and_changes_nothing() {
    for (mut window, limit) in [(Window::session(1), 1), (Window::connection(2), 2)] {
        for _ in 0..limit {
            let place = window.check_arrival().unwrap();
            window.apply_submit(place);
        }
        let before = window;
        let refusal = window.check_arrival().unwrap_err();
        assert_eq!((refusal.code, refusal.rule), (ErrorCode::LIMIT_EXCEEDED, "W4"));
        assert_eq!(window, before);
    }
}

#[test]
fn w4_pressure_that_crossed_a_submit_does_not_make_it_wrong() {
    let mut window = Window::session(1);
    press(&mut window, PressureLevel::HARD);
    assert!(window.check_arrival().is_ok());
}

#[test]
fn w5_credit_update_sets_only_the_window_and_backpressure_only_the_level() {
    let mut window = Window::session(1);
    press(&mut window, PressureLevel::HARD);
    let plan = window.check_credit(&Pressure { credit_window: u64::MAX, ..Pressure::default() }).unwrap();
    assert!(window.apply_update(plan));
    assert_eq!((window.limit(), window.gate().level()), (Some(u64::MAX), BackpressureLevel::Hard));
    press(&mut window, PressureLevel::SOFT);
    assert_eq!((window.limit(), window.gate().level()), (Some(u64::MAX), BackpressureLevel::Soft));
    press(&mut window, PressureLevel::from_raw(0x8001).unwrap());
    assert_eq!(window.gate().level(), BackpressureLevel::Soft);
}

#[test]
fn w5_paused_is_a_pause_and_none_lifts_it() {
    let mut window = Window::session(1);
    press(&mut window, PressureLevel::PAUSED);
    assert_eq!(submit(&mut window), Err(Blocked::Paused));
    press(&mut window, PressureLevel::SOFT);
    assert_eq!(submit(&mut window), Err(Blocked::Paused));
    press(&mut window, PressureLevel::NONE);
    assert_eq!(submit(&mut window), Ok(()));
    press(&mut window, PressureLevel::PAUSED);
    apply(&mut window, FlowUpdate { update_reason: UpdateReason::Resume, ..flow(ScopeKind::Session, 1) });
    assert!(!window.gate().is_paused());
}

#[test]
fn o4_w5_pressure_on_an_operation_holds_its_partials_only() {
    let mut partials = Partials::default();
    let pressure = Pressure { scope_id: 7, pressure_level: PressureLevel::HARD, ..Pressure::default() };
    let plan = partials.check_pressure(&pressure, true, NOW).unwrap();
    partials.apply_update(plan);
    assert_eq!(partials.check_partial(7, false, NOW), Err(Blocked::Hard));
    assert!(partials.check_partial(8, false, NOW).is_ok());
    let refusal = partials.check_pressure(&Pressure { scope_id: 9, ..pressure }, false, NOW).unwrap_err();
    assert_eq!(refusal.rule, "O4");
    assert_eq!(partials.len(), 1);
}

#[test]
fn d17_retry_after_is_a_minimum_wait() {
    let mut window = Window::session(1);
    window.apply_hold(Time(1100));
    window.apply_hold(Time(1050));
    assert_eq!(window.check_submit(0, Time(1099)), Err(Blocked::Held(Time(1100))));
    assert!(window.check_submit(0, Time(1100)).is_ok());
}

#[test]
fn what_the_server_sends_it_applies_as_the_client_does() {
    let (mut server, mut client) = (Window::session(1), Window::session(1));
    for credit in [5, 0, 9] {
        let update = server.update(UpdateReason::Grant, BackpressureLevel::None, Some(credit)).unwrap();
        assert!(apply(&mut server, update));
        assert!(apply(&mut client, update));
        assert_eq!(server, client);
        assert_eq!(client.limit(), Some(credit as u64));
    }
}

#[test]
fn what_blocks_is_told_in_a_sentence() {
    assert_eq!(Blocked::Held(Time(3)).to_string(), "The peer asks to wait until 3 ms.");
    assert_eq!(
        Refusal::from(Blocked::Hard).to_string(),
        "Refused as limit_exceeded by W3: the peer asks for no new operations."
    );
}

/// Credit is conserved: places taken are those taken less those freed, whatever updates come.
#[test]
fn windows_match_a_model() {
    let mut random = Random::new(9);
    let mut window = Window::session(3);
    let (mut limit, mut in_flight, mut epoch) = (3u64, 0u64, None);
    let (mut hard, mut paused, mut background, mut drain) = (false, false, false, false);
    for _ in 0..steps(40_000) {
        match random.below(6) {
            0 | 1 => {
                let class = random.below(4) as u16;
                let expected = if paused {
                    Err(Blocked::Paused)
                } else if drain {
                    Err(Blocked::Draining)
                } else if hard {
                    Err(Blocked::Hard)
                } else if background && class < 2 {
                    Err(Blocked::BackgroundOnly)
                } else if in_flight >= limit {
                    Err(Blocked::NoCredit)
                } else {
                    Ok(())
                };
                let place = window.check_submit(class, NOW);
                assert_eq!(place.as_ref().map(|_| ()), expected.as_ref().map(|_| ()));
                assert_eq!(window.check_arrival().is_ok(), in_flight < limit);
                if let Ok(place) = place {
                    window.apply_submit(place);
                    in_flight += 1;
                }
            }
            2 if in_flight > 0 => {
                window.apply_release();
                in_flight -= 1;
            }
            3 => {
                let level = PressureLevel::ALL[random.below(4) as usize];
                press(&mut window, level);
                match level {
                    PressureLevel::PAUSED => paused = true,
                    _ => hard = level == PressureLevel::HARD,
                }
                paused &= level != PressureLevel::NONE;
            }
            4 => {
                limit = random.below(8);
                let plan =
                    window.check_credit(&Pressure { credit_window: limit, ..Pressure::default() }).unwrap();
                window.apply_update(plan);
            }
            _ => {
                let update = FlowUpdate {
                    update_reason: UpdateReason::ALL[random.below(5) as usize],
                    backpressure_level: BackpressureLevel::ALL[random.below(3) as usize],
                    flow_flags: FlowFlags::from_bits_truncate(random.below(16) as u32),
                    ..grant(
                        ScopeKind::Session,
                        epoch.unwrap_or(0) + random.below(5) as u32,
                        random.below(8) as u16,
                    )
                };
                let update = FlowUpdate { credit_epoch: update.credit_epoch.saturating_sub(2), ..update };
                let newer = epoch.is_none_or(|epoch| update.credit_epoch > epoch);
                assert_eq!(apply(&mut window, update), newer);
                if newer {
                    epoch = Some(update.credit_epoch);
                    if update.flow_flags.contains(FlowFlags::CREDIT_VALID) {
                        limit = update.session_credit as u64;
                    }
                    hard = update.backpressure_level == BackpressureLevel::Hard;
                    background = update.flow_flags.contains(FlowFlags::BACKGROUND_ONLY);
                    drain = update.flow_flags.contains(FlowFlags::DRAIN_IN_FLIGHT_ONLY);
                    paused |= update.update_reason == UpdateReason::Pause;
                    paused &= update.update_reason != UpdateReason::Resume;
                }
            }
        }
        assert_eq!(window.in_flight(), in_flight);
        assert_eq!(window.available(), Some(limit.saturating_sub(in_flight)));
    }
}
