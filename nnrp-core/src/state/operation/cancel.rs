//! Cancelling, by scope.

use super::node::{Key, Mark};
use super::outcome::{Cause, Ended};
use super::recent::Remembered;
use super::table::{End, Found, Named, Operations};
use super::tree;
use crate::state::Refusal;
use crate::state::slab::NIL;
use crate::{CancelScope, CancelScopeExtension, ControlRequest};

/// How far a cancel reaches, and from where.
///
/// ```
/// use nnrp_core::state::{Time, operation::{Cause, Cancelled, Limits, Manner, Named, Operations, Reach, Submit}};
///
/// let mut operations: Operations = Operations::new(Limits::default());
/// for (operation, parent) in [(1, 0), (2, 1), (3, 0)] {
///     let submit = Submit { operation, parent, frame: operation as u32, ..Submit::default() };
///     let plan = operations.check_submit(&submit, Time(0))?;
///     operations.apply_submit(plan, ());
/// }
/// let plan = operations.check_cancel(Reach::Subtree(Named::operation(1)), Manner::End, Cause::Cancel)?;
/// operations.apply_cancel(plan, |cancelled| assert!(matches!(cancelled, Cancelled::Ended(_))));
/// assert_eq!(operations.iter().map(|operation| operation.id()).collect::<Vec<_>>(), [3]);
/// # Ok::<(), nnrp_core::state::Refusal>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// One operation.
    Operation(Named),
    /// It and all descendants.
    Subtree(Named),
    /// All members of its group. Without a group it is alone.
    Group(Named),
    /// All of the session.
    Session,
}

impl Reach {
    /// Of a FRAME_CANCEL: the header's frame, or what the extension says (X3).
    pub fn frame_cancel(frame: u32, extension: Option<&CancelScopeExtension>) -> Self {
        let Some(extension) = extension else { return Self::Operation(Named::frame(frame)) };
        let named = Named::pair(extension.operation_id, frame);
        match extension.cancel_scope {
            CancelScope::Operation => Self::Operation(named),
            CancelScope::Subtree => Self::Subtree(named),
            CancelScope::Group => Self::Group(named),
            CancelScope::Session => Self::Session,
        }
    }

    /// Of a CANCEL or ABORT under a header with that frame: one operation, or the session.
    pub fn control(request: &ControlRequest, frame: u32) -> Self {
        match request.operation_id {
            0 => Self::Session,
            operation => Self::Operation(Named::pair(operation, frame)),
        }
    }
}

/// How it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Each is asked to end, and ends when its work says so: CANCEL.
    Ask,
    /// Each ends now: ABORT, or the end of the session.
    End,
}

/// A cancel that may be applied.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct CancelPlan {
    aim: Aim,
    manner: Manner,
    cause: Cause,
}

#[derive(Clone, Copy, Debug)]
enum Aim {
    One(Key),
    Subtree(Key),
    Group(u64),
    Session,
    Late(Remembered),
}

impl CancelPlan {
    /// The operation, if it has ended: then there is nothing to cancel.
    pub fn late(&self) -> Option<Remembered> {
        match self.aim {
            Aim::Late(ended) => Some(ended),
            _ => None,
        }
    }
}

/// What a cancel did to one operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cancelled<T = ()> {
    /// It was asked to end, for the first time.
    Asked(Key),
    /// It ended as cancelled.
    Ended(Ended<T>),
}

impl<T> Operations<T> {
    /// Whether there is something to cancel (O3). What has ended is ignored (O4). `cause` is
    /// [`Cause::Cancel`], or [`Cause::Close`] when the session ends.
    pub fn check_cancel(&self, reach: Reach, manner: Manner, cause: Cause) -> Result<CancelPlan, Refusal> {
        let plan = |aim| CancelPlan { aim, manner, cause };
        let (Reach::Operation(named) | Reach::Subtree(named) | Reach::Group(named)) = reach else {
            return Ok(plan(Aim::Session));
        };
        let key = match self.find(named)? {
            Found::Live(key) => key,
            Found::Ended(ended) => return Ok(plan(Aim::Late(ended))),
        };
        let group = self.get(key).map_or(0, |operation| operation.group());
        Ok(plan(match reach {
            Reach::Subtree(_) => Aim::Subtree(key),
            Reach::Group(_) if group != 0 => Aim::Group(group),
            _ => Aim::One(key),
        }))
    }

    /// Cancels, telling `report` of each operation. Takes time in proportion to those that it tells of.
    pub fn apply_cancel(&mut self, plan: CancelPlan, mut report: impl FnMut(Cancelled<T>)) {
        let CancelPlan { aim, manner, cause } = plan;
        let end = End::cancelled(cause);
        let report = &mut report;
        match (aim, manner) {
            (Aim::Late(_), _) => {}
            (Aim::One(key) | Aim::Subtree(key), _) if self.get(key).is_none() => {}
            (Aim::One(key), Manner::Ask) => self.ask_one(key.slot, Mark::Own, report),
            (Aim::One(key), Manner::End) => {
                self.end_one(key.slot, end, report);
            }
            (Aim::Subtree(key), Manner::Ask) => self.ask_subtree(key.slot, report),
            (Aim::Subtree(key), Manner::End) => self.end_subtree(key.slot, end, report),
            (Aim::Group(group), manner) => self.cancel_list(|all| all.first_of(group), manner, end, report),
            (Aim::Session, manner) => self.cancel_list(|all| all.first(), manner, end, report),
        }
    }

    fn ask_one(&mut self, slot: u32, mark: Mark, report: &mut impl FnMut(Cancelled<T>)) {
        if self.ask(slot, mark)
            && let Some(operation) = self.at(slot)
        {
            report(Cancelled::Asked(operation.key(slot)));
        }
    }

    fn end_one(&mut self, slot: u32, end: End, report: &mut impl FnMut(Cancelled<T>)) -> Option<u32> {
        let (ended, above) = self.end(slot, end)?;
        report(Cancelled::Ended(ended));
        Some(above)
    }

    /// From the parents down, leaving out what was asked as a subtree before.
    fn ask_subtree(&mut self, root: u32, report: &mut impl FnMut(Cancelled<T>)) {
        let mut next = Some(root);
        while let Some(slot) = next {
            let asked = self.slots.get(slot).is_none_or(|node| node.mark == Mark::Subtree);
            if !asked {
                self.ask_one(slot, Mark::Subtree, report);
            }
            next = tree::following(&self.slots, root, slot, asked);
        }
    }

    /// From the leaves up, so that no place is kept for children that end as well.
    fn end_subtree(&mut self, root: u32, end: End, report: &mut impl FnMut(Cancelled<T>)) {
        let mut slot = root;
        loop {
            slot = tree::deepest(&self.slots, slot);
            let last = slot == root;
            match self.end_one(slot, end, report) {
                Some(above) if !last && above != NIL => slot = above,
                _ => return,
            }
        }
    }

    /// From the front of a list. Who was asked moves to its back, who ends leaves it.
    fn cancel_list(
        &mut self,
        first: impl Fn(&Self) -> u32,
        manner: Manner,
        end: End,
        report: &mut impl FnMut(Cancelled<T>),
    ) {
        loop {
            let slot = first(self);
            match manner {
                Manner::Ask if self.at(slot).is_some_and(|operation| !operation.is_asked_to_end()) => {
                    self.ask_one(slot, Mark::Own, report);
                }
                Manner::End if self.end_one(slot, end, report).is_some() => {}
                _ => return,
            }
        }
    }
}
