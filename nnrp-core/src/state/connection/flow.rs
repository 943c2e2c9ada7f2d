//! Credit and pressure, in and out (W1–W6).

use super::event::Why;
use super::live::unknown;
use super::plan::{Act, Plan, Scope};
use super::{Connection, Message};
use crate::state::Side;
use crate::state::credit::{Partials, Window};
use crate::state::operation::{Found, Named};
use crate::{PressureFlags, RetryAfterFlags, ScopeKind};

/// What an update is about.
enum Target {
    Window(Scope),
    Operation(u64),
}

impl Connection {
    pub(super) fn check_flow(&self, act: &Act<'_>) -> Result<Plan, Why> {
        let session_id = act.header.session_id;
        let target = target(act);
        // Both ends keep the windows of submits, which the server sets (W1). Credit for partials is kept by who sends
        // them, and so by who gets the update.
        match target {
            Target::Window(_) if act.sender == Side::Client => {
                return self.check_named(act).map(|()| Plan::Pass);
            }
            _ => {}
        }
        Ok(match target {
            Target::Window(scope) => {
                let window = self.window_of(scope, session_id).ok_or(unknown(session_id))?;
                match act.message {
                    Message::FlowUpdate(update) => Plan::Window(scope, window.check_flow(update, act.now)?),
                    Message::CreditUpdate(pressure) => Plan::Window(scope, window.check_credit(pressure)?),
                    Message::Backpressure(pressure) => {
                        Plan::Window(scope, window.check_pressure(pressure, act.now)?)
                    }
                    Message::RetryAfter(retry, _) => {
                        Plan::Hold(scope, act.now.after(retry.retry_after_ms.into()))
                    }
                    _ => Plan::Pass,
                }
            }
            Target::Operation(operation) => {
                let live = self.lives.get(&session_id).ok_or(unknown(session_id))?;
                if let Found::Ended(ended) =
                    live.operations.find(Named::pair(operation, act.header.frame_id))?
                {
                    return Ok(Plan::Late(Some(ended)));
                }
                if act.ours {
                    return Ok(Plan::Pass);
                }
                let (partials, is_live): (&Partials, bool) = (&live.partials, true);
                match act.message {
                    Message::FlowUpdate(update) => {
                        Plan::Partials(partials.check_flow(update, is_live, act.now)?)
                    }
                    Message::CreditUpdate(pressure) => {
                        Plan::Partials(partials.check_credit(pressure, is_live)?)
                    }
                    Message::Backpressure(pressure) => {
                        Plan::Partials(partials.check_pressure(pressure, is_live, act.now)?)
                    }
                    Message::RetryAfter(retry, _) => {
                        let until = act.now.after(retry.retry_after_ms.into());
                        Plan::Partials(partials.check_hold(operation, is_live, until)?)
                    }
                    _ => Plan::Pass,
                }
            }
        })
    }

    /// Whether what an update names is there.
    fn check_named(&self, act: &Act<'_>) -> Result<(), Why> {
        let session_id = act.header.session_id;
        if session_id != 0 {
            self.sessions.check_session(session_id)?;
        }
        Ok(())
    }

    pub(super) fn apply_flow(&mut self, plan: Plan, act: &Act<'_>) {
        let session_id = act.header.session_id;
        match plan {
            Plan::Window(scope, plan) => {
                if let Some(window) = self.window_of_mut(scope, session_id) {
                    window.apply_update(plan);
                }
            }
            Plan::Partials(plan) => {
                if let Some(live) = self.lives.get_mut(&session_id) {
                    live.partials.apply_update(plan);
                }
            }
            Plan::Hold(scope, until) => {
                if let Some(window) = self.window_of_mut(scope, session_id) {
                    window.apply_hold(until);
                }
            }
            _ => {}
        }
        self.pass(act);
        self.queue.wake(session_id);
        self.pump(act.now);
    }

    pub(super) fn window_of(&self, scope: Scope, session_id: u32) -> Option<&Window> {
        match scope {
            Scope::Connection => Some(&self.window),
            Scope::Session => self.lives.get(&session_id).map(|live| &live.window),
        }
    }

    fn window_of_mut(&mut self, scope: Scope, session_id: u32) -> Option<&mut Window> {
        match scope {
            Scope::Connection => Some(&mut self.window),
            Scope::Session => self.lives.get_mut(&session_id).map(|live| &mut live.window),
        }
    }
}

/// The one scope that a message has, as the message table gives it.
fn target(act: &Act<'_>) -> Target {
    match act.message {
        Message::FlowUpdate(update) => match update.scope_kind {
            ScopeKind::Connection => Target::Window(Scope::Connection),
            ScopeKind::Session => Target::Window(Scope::Session),
            ScopeKind::Operation => Target::Operation(update.operation_id),
        },
        Message::Backpressure(pressure) | Message::CreditUpdate(pressure) => {
            if pressure.flags.contains(PressureFlags::APPLIES_TO_CONNECTION) {
                Target::Window(Scope::Connection)
            } else if pressure.flags.contains(PressureFlags::APPLIES_TO_OPERATION) {
                Target::Operation(pressure.scope_id)
            } else {
                Target::Window(Scope::Session)
            }
        }
        Message::RetryAfter(retry, _) => {
            if retry.flags.contains(RetryAfterFlags::APPLIES_TO_CONNECTION) {
                Target::Window(Scope::Connection)
            } else if retry.flags.contains(RetryAfterFlags::APPLIES_TO_OPERATION) {
                Target::Operation(retry.scope_id)
            } else if retry.scope_id == 0 {
                Target::Window(Scope::Connection)
            } else {
                Target::Window(Scope::Session)
            }
        }
        _ => Target::Window(Scope::Connection),
    }
}
