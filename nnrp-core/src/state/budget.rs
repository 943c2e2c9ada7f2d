//! Budgets: hard limits on what an operation may still use.

use alloc::collections::BTreeMap;
use core::fmt;

use super::Refusal;
use crate::{BudgetFlags, BudgetPolicy, ErrorCode};

/// What is used up, or what remains of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// Units of the negotiated cost model.
    Compute,
    /// Live memory, newly held since the update.
    Memory,
    /// Payload bytes from the receiver of the budget to its sender.
    Bandwidth,
    /// Tokens, in the unit of the profile.
    Tokens,
}

impl Dimension {
    /// All of them, in the order of the wire.
    pub const ALL: [Self; 4] = [Self::Compute, Self::Memory, Self::Bandwidth, Self::Tokens];

    /// The most that a budget of it can be.
    const fn most(self) -> u64 {
        match self {
            Self::Tokens => u32::MAX as u64,
            _ => u64::MAX,
        }
    }

    const fn of(self, budget: &crate::Budget) -> u64 {
        match self {
            Self::Compute => budget.compute_budget_units,
            Self::Memory => budget.memory_budget_bytes,
            Self::Bandwidth => budget.bandwidth_budget_bytes,
            Self::Tokens => budget.token_budget as u64,
        }
    }
}

impl fmt::Display for Dimension {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Self::Compute => "compute",
            Self::Memory => "memory",
            Self::Bandwidth => "bandwidth",
            Self::Tokens => "tokens",
        })
    }
}

/// More was asked for than remains. The operation ends with RESULT_DROP_REASON budget_exceeded (U3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exceeded {
    /// Of what.
    pub dimension: Dimension,
    /// How much remains.
    pub left: u64,
}

impl fmt::Display for Exceeded {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "The budget of {} has only {} left.", self.dimension, self.left)
    }
}

impl core::error::Error for Exceeded {}

/// What remains to one operation, or to later ones by default. A dimension without a limit takes no part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    left: [Option<u64>; 4],
    /// Memory held since its last update, which comes back when it is freed.
    held: u64,
}

impl Limits {
    /// What remains; `None` is no limit.
    pub fn left(&self, dimension: Dimension) -> Option<u64> {
        let [compute, memory, bandwidth, tokens] = self.left;
        match dimension {
            Dimension::Compute => compute,
            Dimension::Memory => memory,
            Dimension::Bandwidth => bandwidth,
            Dimension::Tokens => tokens,
        }
    }

    /// Whether nothing is limited.
    pub fn is_unlimited(&self) -> bool {
        self.left == [None; 4]
    }

    fn left_mut(&mut self, dimension: Dimension) -> &mut Option<u64> {
        let [compute, memory, bandwidth, tokens] = &mut self.left;
        match dimension {
            Dimension::Compute => compute,
            Dimension::Memory => memory,
            Dimension::Bandwidth => bandwidth,
            Dimension::Tokens => tokens,
        }
    }

    /// These limits after an update. A 0 leaves its dimension as it is (D14).
    fn updated(mut self, budget: &crate::Budget) -> Result<Self, Refusal> {
        let adds = budget.flags.contains(BudgetFlags::INCREMENT);
        for dimension in Dimension::ALL {
            let amount = dimension.of(budget);
            if amount == 0 {
                continue;
            }
            let left = self.left_mut(dimension);
            *left = Some(match *left {
                Some(left) if adds => {
                    let sum = left.checked_add(amount).filter(|&sum| sum <= dimension.most());
                    sum.ok_or(refuse(
                        ErrorCode::LIMIT_EXCEEDED,
                        "U1",
                        "the budgets add up to too much",
                        amount,
                    ))?
                }
                _ => amount,
            });
            if dimension == Dimension::Memory && !adds {
                // A new limit counts what is held from now on.
                self.held = 0;
            }
        }
        Ok(self)
    }

    fn spend(&mut self, dimension: Dimension, amount: u64) {
        if let Some(left) = self.left_mut(dimension) {
            *left = left.saturating_sub(amount);
            if dimension == Dimension::Memory {
                self.held = self.held.saturating_add(amount);
            }
        }
    }

    fn free(&mut self, bytes: u64) {
        let back = bytes.min(self.held);
        self.held -= back;
        if let Some(left) = self.left_mut(Dimension::Memory) {
            *left = left.saturating_add(back);
        }
    }
}

/// The budgets of one session: its default and those of its operations (U1). Operations without a limit take no
/// memory.
///
/// ```
/// use nnrp_core::{Budget, BudgetFlags};
/// use nnrp_core::state::budget::{Budgets, Dimension};
///
/// let mut budgets = Budgets::default();
/// let update = Budget { token_budget: 10, flags: BudgetFlags::REPLACE, ..Budget::default() };
/// let plan = budgets.check_update(&update, true, false)?;
/// budgets.apply_update(plan);
/// budgets.admit(7);
/// assert!(budgets.check_use(7, Dimension::Tokens, 10).is_ok());
/// assert_eq!(budgets.check_use(7, Dimension::Tokens, 11).unwrap_err().left, 10);
/// # Ok::<(), nnrp_core::state::Refusal>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Budgets {
    default: Limits,
    operations: BTreeMap<u64, Limits>,
}

/// A BUDGET_UPDATE that may be applied.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct BudgetPlan {
    operation: u64,
    limits: Limits,
}

/// A use that is within the budget.
#[derive(Debug)]
#[must_use]
pub struct UsePlan {
    operation: u64,
    dimension: Dimension,
    amount: u64,
}

fn refuse(code: ErrorCode, rule: &'static str, why: &'static str, about: u64) -> Refusal {
    Refusal::new(code, rule, why).about(about)
}

impl Budgets {
    /// What operations that are admitted later get.
    pub fn default_limits(&self) -> &Limits {
        &self.default
    }

    /// What remains to an operation.
    pub fn of(&self, operation: u64) -> Limits {
        self.operations.get(&operation).copied().unwrap_or_default()
    }

    /// Operations with a limit.
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// Whether no operation has a limit.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// Whether a BUDGET_UPDATE may be applied. `is_live` is whether its operation lives, which is of no concern
    /// for the session's default, and `cost_model` whether one was negotiated (U2).
    pub fn check_update(
        &self,
        budget: &crate::Budget,
        is_live: bool,
        cost_model: bool,
    ) -> Result<BudgetPlan, Refusal> {
        let operation = budget.operation_id;
        if operation != 0 && !is_live {
            return Err(refuse(ErrorCode::INVALID_STATE, "O4", "the operation is unknown", operation));
        }
        if budget.compute_budget_units != 0 && !cost_model {
            let why = "a compute budget needs a negotiated cost model";
            return Err(refuse(ErrorCode::UNSUPPORTED_CAPABILITY, "U2", why, operation));
        }
        let limits = if operation == 0 { self.default } else { self.of(operation) };
        Ok(BudgetPlan { operation, limits: limits.updated(budget)? })
    }

    /// Applies it: to one operation, or to those that are admitted later.
    pub fn apply_update(&mut self, plan: BudgetPlan) {
        match plan.operation {
            0 => self.default = plan.limits,
            operation if !plan.limits.is_unlimited() => {
                self.operations.insert(operation, plan.limits);
            }
            _ => {}
        }
    }

    /// Gives an operation that is admitted the session's default.
    pub fn admit(&mut self, operation: u64) {
        if !self.default.is_unlimited() {
            self.operations.insert(operation, self.default);
        }
    }

    /// Whether an operation may use that much more.
    pub fn check_use(&self, operation: u64, dimension: Dimension, amount: u64) -> Result<UsePlan, Exceeded> {
        match self.of(operation).left(dimension) {
            Some(left) if amount > left => Err(Exceeded { dimension, left }),
            _ => Ok(UsePlan { operation, dimension, amount }),
        }
    }

    /// Takes it off what remains.
    pub fn apply_use(&mut self, plan: UsePlan) {
        if let Some(limits) = self.operations.get_mut(&plan.operation) {
            limits.spend(plan.dimension, plan.amount);
        }
    }

    /// Gives back memory that an operation no longer holds. What it held before its limit was set does not count.
    pub fn free_memory(&mut self, operation: u64, bytes: u64) {
        if let Some(limits) = self.operations.get_mut(&operation) {
            limits.free(bytes);
        }
    }

    /// Lets go of an operation that ended.
    pub fn forget(&mut self, operation: u64) {
        self.operations.remove(&operation);
    }
}

/// Whether an operation that is about to exceed its budget may degrade instead: its submit must allow it, and a
/// compatible DEGRADE_PROFILE must have been accepted (U3). The budget stays what it is.
///
/// ```
/// use nnrp_core::BudgetPolicy;
/// use nnrp_core::state::budget::may_degrade;
///
/// assert!(may_degrade(BudgetPolicy::ALLOW_DEGRADED, true));
/// assert!(!may_degrade(BudgetPolicy::ALLOW_DEGRADED, false));
/// assert!(!may_degrade(BudgetPolicy::empty(), true));
/// ```
pub fn may_degrade(policy: BudgetPolicy, degrade_accepted: bool) -> bool {
    policy.contains(BudgetPolicy::ALLOW_DEGRADED) && degrade_accepted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Budget;
    use crate::state::random::{Random, steps};

    fn replace(operation_id: u64, tokens: u32, memory: u64) -> Budget {
        Budget {
            operation_id,
            token_budget: tokens,
            memory_budget_bytes: memory,
            flags: BudgetFlags::REPLACE,
            ..Budget::default()
        }
    }

    fn increment(operation_id: u64, tokens: u32, memory: u64) -> Budget {
        Budget { flags: BudgetFlags::INCREMENT, ..replace(operation_id, tokens, memory) }
    }

    fn update(budgets: &mut Budgets, budget: Budget) {
        let plan = budgets.check_update(&budget, true, true).unwrap();
        budgets.apply_update(plan);
    }

    #[test]
    fn u1_replace_sets_and_increment_adds() {
        let mut budgets = Budgets::default();
        update(&mut budgets, replace(1, 10, 0));
        update(&mut budgets, increment(1, 5, 0));
        assert_eq!(budgets.of(1).left(Dimension::Tokens), Some(15));
        update(&mut budgets, replace(1, 3, 0));
        assert_eq!(budgets.of(1).left(Dimension::Tokens), Some(3));
        assert_eq!(budgets.of(1).left(Dimension::Memory), None);
    }

    #[test]
    fn u1_increment_of_a_dimension_without_a_limit_sets_it() {
        let mut budgets = Budgets::default();
        update(&mut budgets, increment(1, 5, 0));
        assert_eq!(budgets.of(1).left(Dimension::Tokens), Some(5));
    }

    #[test]
    fn u1_overflow_is_refused_and_changes_nothing() {
        let mut budgets = Budgets::default();
        update(&mut budgets, replace(1, u32::MAX, u64::MAX - 1));
        for over in [increment(1, 1, 0), increment(1, 0, 2)] {
            let refusal = budgets.check_update(&over, true, true).unwrap_err();
            assert_eq!((refusal.code, refusal.rule), (ErrorCode::LIMIT_EXCEEDED, "U1"));
        }
        assert!(budgets.check_update(&increment(1, 0, 1), true, true).is_ok());
        assert_eq!(budgets.of(1).left(Dimension::Tokens), Some(u32::MAX as u64));
    }

    #[test]
    fn u1_the_session_default_is_for_operations_admitted_later() {
        let mut budgets = Budgets::default();
        budgets.admit(1);
        update(&mut budgets, replace(0, 10, 0));
        budgets.admit(2);
        update(&mut budgets, replace(0, 20, 0));
        budgets.admit(3);
        let tokens = |operation| budgets.of(operation).left(Dimension::Tokens);
        assert_eq!([tokens(1), tokens(2), tokens(3)], [None, Some(10), Some(20)]);
    }

    #[test]
    fn o4_u1_only_a_live_operation_has_a_budget() {
        let mut budgets = Budgets::default();
        assert_eq!(budgets.check_update(&replace(1, 1, 0), false, true).unwrap_err().rule, "O4");
        update(&mut budgets, replace(1, 1, 0));
        budgets.forget(1);
        assert!(budgets.is_empty());
    }

    #[test]
    fn u2_a_compute_budget_needs_a_cost_model() {
        let budgets = Budgets::default();
        let budget = Budget {
            compute_budget_units: 1,
            flags: BudgetFlags::REPLACE,
            operation_id: 1,
            ..Budget::default()
        };
        let refusal = budgets.check_update(&budget, true, false).unwrap_err();
        assert_eq!((refusal.code, refusal.rule), (ErrorCode::UNSUPPORTED_CAPABILITY, "U2"));
        assert!(budgets.check_update(&budget, true, true).is_ok());
    }

    #[test]
    fn u2_memory_counts_what_is_newly_held_and_comes_back() {
        let mut budgets = Budgets::default();
        update(&mut budgets, replace(1, 0, 100));
        let plan = budgets.check_use(1, Dimension::Memory, 80).unwrap();
        budgets.apply_use(plan);
        assert!(budgets.check_use(1, Dimension::Memory, 30).is_err());
        budgets.free_memory(1, 50);
        assert_eq!(budgets.of(1).left(Dimension::Memory), Some(70));
        // What was held before the budget does not enlarge it.
        budgets.free_memory(1, 1000);
        assert_eq!(budgets.of(1).left(Dimension::Memory), Some(100));
        let plan = budgets.check_use(1, Dimension::Memory, 80).unwrap();
        budgets.apply_use(plan);
        update(&mut budgets, replace(1, 0, 40));
        budgets.free_memory(1, 80);
        assert_eq!(budgets.of(1).left(Dimension::Memory), Some(40));
    }

    #[test]
    fn u3_what_exceeds_a_budget_is_refused_and_does_not_spend_it() {
        let mut budgets = Budgets::default();
        update(&mut budgets, replace(1, 10, 0));
        let plan = budgets.check_use(1, Dimension::Tokens, 10).unwrap();
        budgets.apply_use(plan);
        let exceeded = Exceeded { dimension: Dimension::Tokens, left: 0 };
        assert_eq!(budgets.check_use(1, Dimension::Tokens, 1).unwrap_err(), exceeded);
        assert!(budgets.check_use(1, Dimension::Bandwidth, u64::MAX).is_ok());
    }

    #[test]
    fn u3_degrading_needs_both_policy_and_agreement() {
        assert!(may_degrade(BudgetPolicy::ALLOW_DEGRADED, true));
        assert!(!may_degrade(BudgetPolicy::ALLOW_DEGRADED, false));
        assert!(!may_degrade(BudgetPolicy::ALLOW_PARTIAL, true));
    }

    #[test]
    fn budgets_match_a_model() {
        let mut random = Random::new(11);
        let mut budgets = Budgets::default();
        // Per operation, tokens left; 0 is the default.
        let mut model: std::collections::BTreeMap<u64, Option<u64>> = [(0, None)].into();
        for _ in 0..steps(20_000) {
            let operation = random.below(8);
            let live = operation == 0 || model.contains_key(&operation);
            let amount = if random.chance(20) { u32::MAX } else { random.below(50) as u32 };
            match random.below(5) {
                0 if operation != 0 => {
                    budgets.forget(operation);
                    model.remove(&operation);
                }
                1 if operation != 0 => {
                    budgets.forget(operation);
                    budgets.admit(operation);
                    model.insert(operation, model[&0]);
                }
                2 | 3 => {
                    let adds = random.chance(2);
                    let budget =
                        if adds { increment(operation, amount, 0) } else { replace(operation, amount, 0) };
                    let now = model.get(&operation).copied().flatten();
                    let expected = match (amount, now) {
                        (0, now) => Ok(now),
                        (_, Some(now)) if adds => match now + amount as u64 {
                            sum if sum > u32::MAX as u64 => Err(()),
                            sum => Ok(Some(sum)),
                        },
                        _ => Ok(Some(amount as u64)),
                    };
                    let expected = if live { expected } else { Err(()) };
                    let plan = budgets.check_update(&budget, live, false);
                    assert_eq!(plan.is_ok(), expected.is_ok());
                    if let (Ok(plan), Ok(left)) = (plan, expected) {
                        budgets.apply_update(plan);
                        model.insert(operation, left);
                    }
                }
                _ if operation != 0 => {
                    let left = model.get(&operation).copied().flatten();
                    let fits = left.is_none_or(|left| amount as u64 <= left);
                    let plan = budgets.check_use(operation, Dimension::Tokens, amount as u64);
                    assert_eq!(plan.is_ok(), fits);
                    if let Ok(plan) = plan {
                        budgets.apply_use(plan);
                        if let Some(Some(left)) = model.get_mut(&operation) {
                            *left -= amount as u64;
                        }
                    }
                }
                _ => {}
            }
            for (&operation, &left) in &model {
                let limits = if operation == 0 { *budgets.default_limits() } else { budgets.of(operation) };
                assert_eq!(limits.left(Dimension::Tokens), left);
            }
            assert_eq!(budgets.len(), model.iter().filter(|(id, left)| **id != 0 && left.is_some()).count());
        }
    }
}
