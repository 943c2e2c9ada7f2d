//! Partials that may still be sent for an operation.

use alloc::collections::BTreeMap;

use super::gate::{Gate, Standing};
use super::{Blocked, refuse};
use crate::state::{Refusal, Time};
use crate::{ErrorCode, FlowFlags, FlowUpdate, Pressure, ScopeKind};

/// Credit of one operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartialCredit {
    left: Option<u64>,
    gate: Gate,
}

impl PartialCredit {
    /// Partials that may still be sent; `None` is no limit.
    pub fn left(&self) -> Option<u64> {
        self.left
    }

    /// Pressure on it.
    pub fn gate(&self) -> &Gate {
        &self.gate
    }
}

/// Operation credit of one session, on the side that sends partials (W1). Only operations that got an update take
/// any memory: the others are unlimited. The terminal result needs no credit.
///
/// ```
/// use nnrp_core::{FlowFlags, FlowUpdate, ScopeKind};
/// use nnrp_core::state::{Time, credit::{Blocked, Partials}};
///
/// let mut partials = Partials::default();
/// let update = FlowUpdate {
///     scope_kind: ScopeKind::Operation,
///     operation_id: 7,
///     operation_credit: 1,
///     flow_flags: FlowFlags::CREDIT_VALID,
///     ..FlowUpdate::default()
/// };
/// let plan = partials.check_flow(&update, true, Time(0))?;
/// partials.apply_update(plan);
/// let plan = partials.check_partial(7, false, Time(0)).unwrap();
/// partials.apply_partial(plan);
/// assert_eq!(partials.check_partial(7, false, Time(0)).unwrap_err(), Blocked::NoCredit);
/// assert!(partials.check_partial(8, false, Time(0)).is_ok());
/// # Ok::<(), nnrp_core::state::Refusal>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Partials {
    operations: BTreeMap<u64, PartialCredit>,
}

/// A partial that may be sent.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub struct PartialPlan(u64);

/// An update of an operation's credit that may be applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct PartialsPlan {
    operation: u64,
    credit: PartialCredit,
    standing: Standing,
}

impl PartialsPlan {
    /// Whether it counts.
    pub fn standing(&self) -> Standing {
        self.standing
    }
}

impl Partials {
    /// The credit of an operation that got an update.
    pub fn get(&self, operation: u64) -> Option<&PartialCredit> {
        self.operations.get(&operation)
    }

    /// Operations that got an update.
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// Whether no operation got an update.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// Whether a partial of that operation may be sent.
    pub fn check_partial(
        &self,
        operation: u64,
        is_background: bool,
        now: Time,
    ) -> Result<PartialPlan, Blocked> {
        if let Some(credit) = self.operations.get(&operation) {
            credit.gate.check(is_background, now)?;
            if credit.left == Some(0) {
                return Err(Blocked::NoCredit);
            }
        }
        Ok(PartialPlan(operation))
    }

    /// Spends the credit for it.
    pub fn apply_partial(&mut self, plan: PartialPlan) {
        let PartialPlan(operation) = plan;
        if let Some(credit) = self.operations.get_mut(&operation) {
            credit.left = credit.left.map(|left| left.saturating_sub(1));
        }
    }

    fn plan(&self, operation: u64, is_live: bool) -> Result<PartialsPlan, Refusal> {
        if operation == 0 || !is_live {
            return Err(refuse(ErrorCode::INVALID_STATE, "O4", "the operation is unknown", operation));
        }
        let credit = self.operations.get(&operation).copied().unwrap_or_default();
        Ok(PartialsPlan { operation, credit, standing: Standing::Newest })
    }

    /// Whether a FLOW_UPDATE of operation scope counts, for an operation that lives or not.
    pub fn check_flow(&self, update: &FlowUpdate, is_live: bool, now: Time) -> Result<PartialsPlan, Refusal> {
        if update.scope_kind != ScopeKind::Operation {
            return Err(refuse(ErrorCode::INVALID_STATE, "W3", "the update is of another scope", 0));
        }
        let mut plan = self.plan(update.operation_id, is_live)?;
        plan.standing = plan.credit.gate.standing(update);
        plan.credit.gate.flow(update, now);
        if update.flow_flags.contains(FlowFlags::CREDIT_VALID) {
            plan.credit.left = Some(update.operation_credit as u64);
        }
        Ok(plan)
    }

    /// A CREDIT_UPDATE of an operation sets the credit and nothing else (W5).
    pub fn check_credit(&self, pressure: &Pressure, is_live: bool) -> Result<PartialsPlan, Refusal> {
        let mut plan = self.plan(pressure.scope_id, is_live)?;
        plan.credit.left = Some(pressure.credit_window);
        Ok(plan)
    }

    /// A BACKPRESSURE of an operation sets the level and nothing else (W5).
    pub fn check_pressure(
        &self,
        pressure: &Pressure,
        is_live: bool,
        now: Time,
    ) -> Result<PartialsPlan, Refusal> {
        let mut plan = self.plan(pressure.scope_id, is_live)?;
        plan.credit.gate.press(pressure.pressure_level, pressure.retry_after_ms, now);
        Ok(plan)
    }

    /// A RETRY_AFTER of an operation: no partial before that time.
    pub fn check_hold(&self, operation: u64, is_live: bool, until: Time) -> Result<PartialsPlan, Refusal> {
        let mut plan = self.plan(operation, is_live)?;
        plan.credit.gate.hold(until);
        Ok(plan)
    }

    /// Applies an update, if it counts. Answers whether it did.
    pub fn apply_update(&mut self, plan: PartialsPlan) -> bool {
        let counts = plan.standing == Standing::Newest;
        if counts {
            self.operations.insert(plan.operation, plan.credit);
        }
        counts
    }

    /// Lets go of an operation that ended.
    pub fn forget(&mut self, operation: u64) {
        self.operations.remove(&operation);
    }
}
