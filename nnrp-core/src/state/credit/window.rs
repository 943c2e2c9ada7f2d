//! Submits in flight on a connection or in a session.

use super::gate::{Gate, Standing};
use super::{Blocked, refuse};
use crate::state::{Refusal, Time};
use crate::{
    BackpressureLevel, ErrorCode, FlowFlags, FlowUpdate, Pressure, ScopeKind, SessionPriorityClass,
    UpdateReason,
};

/// The window of one connection or session: how many submits may be in flight, and how many are (W1).
///
/// Client and server each have one per scope. The client asks [`Window::check_submit`] before it sends, the server
/// [`Window::check_arrival`] when a submit comes; both take a place for each submit and free it at its terminal
/// event. Only the server's updates change the window, so the server applies its own as it sends them. A window may
/// become smaller than what is in flight: then nothing is taken back, and nothing new fits.
///
/// ```
/// use nnrp_core::state::{Time, credit::{Blocked, Window}};
///
/// let mut window = Window::session(1);
/// let place = window.check_submit(0, Time(0)).unwrap();
/// window.apply_submit(place);
/// assert_eq!(window.check_submit(0, Time(0)).unwrap_err(), Blocked::NoCredit);
/// window.apply_release();
/// assert!(window.check_submit(0, Time(0)).is_ok());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    scope: ScopeKind,
    /// `None` is no limit.
    limit: Option<u64>,
    in_flight: u64,
    gate: Gate,
}

/// A place that may be taken.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub struct Place(());

/// An update of a window that may be applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct WindowPlan {
    limit: Option<u64>,
    gate: Gate,
    standing: Standing,
}

impl WindowPlan {
    /// Whether it counts.
    pub fn standing(&self) -> Standing {
        self.standing
    }
}

impl Window {
    /// A connection's, from `max_concurrent_frames` of SERVER_HELLO_ACK; 0 is no limit.
    pub const fn connection(max_concurrent_frames: u16) -> Self {
        let limit = if max_concurrent_frames == 0 { None } else { Some(max_concurrent_frames as u64) };
        Self::new(ScopeKind::Connection, limit)
    }

    /// A session's, from `granted_operation_credit` of SESSION_OPEN_ACK; 0 is none until an update.
    pub const fn session(granted_operation_credit: u16) -> Self {
        Self::new(ScopeKind::Session, Some(granted_operation_credit as u64))
    }

    const fn new(scope: ScopeKind, limit: Option<u64>) -> Self {
        let gate = Gate {
            level: BackpressureLevel::None,
            paused: false,
            background_only: false,
            drain_only: false,
            epoch: None,
            retry_at: None,
            held_until: None,
        };
        Self { scope, limit, in_flight: 0, gate }
    }

    /// Its size; `None` is no limit.
    pub fn limit(&self) -> Option<u64> {
        self.limit
    }

    /// Places taken.
    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Places free; `None` is no limit.
    pub fn available(&self) -> Option<u64> {
        self.limit.map(|limit| limit.saturating_sub(self.in_flight))
    }

    /// Pressure on it.
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// For the sender: whether one more of that class may be sent.
    pub fn check_submit(&self, class: u16, now: Time) -> Result<Place, Blocked> {
        self.gate.check(class >= SessionPriorityClass::Background.raw() as u16, now)?;
        if self.available() == Some(0) { Err(Blocked::NoCredit) } else { Ok(Place(())) }
    }

    /// For the receiver: whether a submit that came had credit (W4). Pressure is for the sender to heed: an
    /// update that crossed the submit on the way must not make it wrong.
    pub fn check_arrival(&self) -> Result<Place, Refusal> {
        if self.available() != Some(0) {
            return Ok(Place(()));
        }
        let why = match self.scope {
            ScopeKind::Connection => "the connection's window has no place for a submit",
            _ => "the session's window has no place for a submit",
        };
        Err(refuse(ErrorCode::LIMIT_EXCEEDED, "W4", why, self.in_flight))
    }

    /// Takes the place.
    pub fn apply_submit(&mut self, place: Place) {
        let Place(()) = place;
        self.in_flight = self.in_flight.saturating_add(1);
    }

    /// Takes places for operations that come along from another connection, whether there is credit for them or not.
    pub fn carry(&mut self, operations: u64) {
        self.in_flight = self.in_flight.saturating_add(operations);
    }

    /// Frees the places of operations that go to another connection.
    pub fn leave(&mut self, operations: u64) {
        debug_assert!(self.in_flight >= operations, "every place is freed once");
        self.in_flight = self.in_flight.saturating_sub(operations);
    }

    /// Frees a place, at the terminal event of an operation that took one.
    pub fn apply_release(&mut self) {
        debug_assert!(self.in_flight > 0, "every place is freed once");
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    /// Whether a FLOW_UPDATE of this scope counts (W2).
    pub fn check_flow(&self, update: &FlowUpdate, now: Time) -> Result<WindowPlan, Refusal> {
        if update.scope_kind != self.scope {
            return Err(refuse(ErrorCode::INVALID_STATE, "W3", "the update is of another scope", 0));
        }
        let credit = match self.scope {
            ScopeKind::Connection => update.connection_credit,
            _ => update.session_credit,
        };
        let counts = update.flow_flags.contains(FlowFlags::CREDIT_VALID);
        let limit = if counts { Some(credit as u64) } else { self.limit };
        let mut gate = self.gate;
        gate.flow(update, now);
        Ok(WindowPlan { limit, gate, standing: self.gate.standing(update) })
    }

    /// A CREDIT_UPDATE of this scope sets the window and nothing else (W5).
    pub fn check_credit(&self, pressure: &Pressure) -> Result<WindowPlan, Refusal> {
        Ok(WindowPlan { limit: Some(pressure.credit_window), gate: self.gate, standing: Standing::Newest })
    }

    /// A BACKPRESSURE of this scope sets the level and nothing else (W5).
    pub fn check_pressure(&self, pressure: &Pressure, now: Time) -> Result<WindowPlan, Refusal> {
        let mut gate = self.gate;
        gate.press(pressure.pressure_level, pressure.retry_after_ms, now);
        Ok(WindowPlan { limit: self.limit, gate, standing: Standing::Newest })
    }

    /// Applies an update, if it counts. Answers whether it did.
    pub fn apply_update(&mut self, plan: WindowPlan) -> bool {
        if plan.standing != Standing::Newest {
            return false;
        }
        self.limit = plan.limit;
        self.gate = plan.gate;
        true
    }

    /// A RETRY_AFTER of this scope: nothing new before that time.
    pub fn apply_hold(&mut self, until: Time) {
        self.gate.hold(until);
    }

    /// For the server: the FLOW_UPDATE to send, with the next epoch. It takes effect here when it is applied like
    /// one that came. `None` once there is no higher epoch.
    pub fn update(
        &self,
        reason: UpdateReason,
        level: BackpressureLevel,
        credit: Option<u16>,
    ) -> Option<FlowUpdate> {
        let mut update = FlowUpdate {
            scope_kind: self.scope,
            update_reason: reason,
            backpressure_level: level,
            credit_epoch: self.gate.next_epoch()?,
            ..FlowUpdate::default()
        };
        if let Some(credit) = credit {
            update.flow_flags.insert(FlowFlags::CREDIT_VALID);
            match self.scope {
                ScopeKind::Connection => update.connection_credit = credit,
                _ => update.session_credit = credit,
            }
        }
        Some(update)
    }
}
