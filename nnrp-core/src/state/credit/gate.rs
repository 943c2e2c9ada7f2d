//! What one scope's newest update says beside its window.

use super::Blocked;
use crate::state::Time;
use crate::{BackpressureLevel, FlowFlags, FlowUpdate, PressureLevel, UpdateReason};

/// What an update is to those of its scope before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The newest: it counts.
    Newest,
    /// Of the same epoch as the one that counts: ignored.
    Duplicate,
    /// Of an older epoch: ignored and reported.
    Older,
}

/// Pressure on one scope: level, pause, restrictions, and the times to wait for.
///
/// ```
/// use nnrp_core::{BackpressureLevel, UpdateReason};
/// use nnrp_core::state::{Time, credit::{Blocked, Window}};
///
/// let mut window = Window::connection(0);
/// let update = window.update(UpdateReason::Congestion, BackpressureLevel::Hard, None).unwrap();
/// window.apply_update(window.check_flow(&update, Time(0))?);
/// assert_eq!(window.gate().level(), BackpressureLevel::Hard);
/// assert_eq!(window.gate().check(false, Time(0)), Err(Blocked::Hard));
/// # Ok::<(), nnrp_core::state::Refusal>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gate {
    pub(super) level: BackpressureLevel,
    pub(super) paused: bool,
    pub(super) background_only: bool,
    pub(super) drain_only: bool,
    pub(super) epoch: Option<u32>,
    pub(super) retry_at: Option<Time>,
    pub(super) held_until: Option<Time>,
}

impl Gate {
    /// How strongly the sender must slow down. Soft only advises.
    pub fn level(&self) -> BackpressureLevel {
        self.level
    }

    /// Whether nothing new may start until a resume.
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// Whether only background and lower classes may go on.
    pub fn is_background_only(&self) -> bool {
        self.background_only
    }

    /// Whether nothing new is let in.
    pub fn is_drain_only(&self) -> bool {
        self.drain_only
    }

    /// The epoch of the newest update.
    pub fn epoch(&self) -> Option<u32> {
        self.epoch
    }

    /// The epoch for the next update, from 1; `None` once there is no higher one.
    pub fn next_epoch(&self) -> Option<u32> {
        self.epoch.map_or(Some(1), |epoch| epoch.checked_add(1))
    }

    /// When the peer advises to try again.
    pub fn retry_at(&self) -> Option<Time> {
        self.retry_at
    }

    /// Until when RETRY_AFTER forbids to try again.
    pub fn held_until(&self) -> Option<Time> {
        self.held_until
    }

    /// Whether something new of that urgency may start.
    pub fn check(&self, is_background: bool, now: Time) -> Result<(), Blocked> {
        match self.held_until {
            Some(until) if now < until => return Err(Blocked::Held(until)),
            _ => {}
        }
        if self.paused {
            Err(Blocked::Paused)
        } else if self.drain_only {
            Err(Blocked::Draining)
        } else if self.level == BackpressureLevel::Hard {
            Err(Blocked::Hard)
        } else if self.background_only && !is_background {
            Err(Blocked::BackgroundOnly)
        } else {
            Ok(())
        }
    }

    pub(super) fn standing(&self, update: &FlowUpdate) -> Standing {
        match self.epoch {
            Some(epoch) if update.credit_epoch < epoch => Standing::Older,
            Some(epoch) if update.credit_epoch == epoch => Standing::Duplicate,
            _ => Standing::Newest,
        }
    }

    pub(super) fn flow(&mut self, update: &FlowUpdate, now: Time) {
        self.epoch = Some(update.credit_epoch);
        self.level = update.backpressure_level;
        self.background_only = update.flow_flags.contains(FlowFlags::BACKGROUND_ONLY);
        self.drain_only = update.flow_flags.contains(FlowFlags::DRAIN_IN_FLIGHT_ONLY);
        let retries = update.flow_flags.contains(FlowFlags::RETRY_AFTER_VALID) && update.retry_after_ms != 0;
        self.retry_at = retries.then(|| now.after(update.retry_after_ms as u64));
        match update.update_reason {
            UpdateReason::Pause => self.paused = true,
            UpdateReason::Resume => self.paused = false,
            _ => {}
        }
    }

    pub(super) fn press(&mut self, level: PressureLevel, retry_after_ms: u32, now: Time) {
        match level {
            PressureLevel::NONE => {
                self.level = BackpressureLevel::None;
                self.paused = false;
            }
            PressureLevel::SOFT => self.level = BackpressureLevel::Soft,
            PressureLevel::HARD => self.level = BackpressureLevel::Hard,
            PressureLevel::PAUSED => self.paused = true,
            // A private level means what both sides agreed on, which is not known here.
            _ => {}
        }
        self.retry_at = (retry_after_ms != 0).then(|| now.after(retry_after_ms as u64));
    }

    pub(super) fn hold(&mut self, until: Time) {
        self.held_until = self.held_until.max(Some(until));
    }
}
