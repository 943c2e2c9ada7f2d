//! Superseding: a newer operation takes the place of an older one.

use super::node::Key;
use super::outcome::{Cause, Ended};
use super::recent::Remembered;
use super::table::{End, Found, Named, Operations, refuse};
use crate::state::Refusal;
use crate::{DropReasonCode, OperationState, Supersede, SupersedeFlags};

/// A supersede that may be applied.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct SupersedePlan {
    old: Found,
    end: End,
}

impl SupersedePlan {
    /// The old operation, if it has ended: then there is nothing to supersede.
    pub fn late(&self) -> Option<Remembered> {
        match self.old {
            Found::Ended(ended) => Some(ended),
            Found::Live(_) => None,
        }
    }

    /// The old operation, if it lives.
    pub fn key(&self) -> Option<Key> {
        match self.old {
            Found::Live(key) => Some(key),
            Found::Ended(_) => None,
        }
    }
}

impl<T> Operations<T> {
    /// Whether a SUPERSEDE under a header with that frame may be applied (O7). The frame is that of the old
    /// operation; the new one was submitted before.
    pub fn check_supersede(&self, supersede: &Supersede, frame: u32) -> Result<SupersedePlan, Refusal> {
        let Supersede { old_operation_id: old, new_operation_id: new, .. } = *supersede;
        if old == 0 || new == 0 || old == new {
            return Err(refuse("O7", "two operations are named, and not the same", old));
        }
        let old = self.find(Named::pair(old, frame))?;
        self.find(Named::operation(new))?;
        let reason = match supersede.drop_reason_code {
            DropReasonCode::NONE => DropReasonCode::SUPERSEDED,
            reason => reason,
        };
        let abort = supersede.flags.contains(SupersedeFlags::ABORT_OLD_OPERATION);
        let cause = Cause::Supersede { by: new, abort };
        let end = End { state: OperationState::Superseded, cause, reason, emit_drop_reason: false };
        Ok(SupersedePlan { old, end })
    }

    /// Ends the old operation, unless it had ended.
    pub fn apply_supersede(&mut self, plan: SupersedePlan) -> Option<Ended<T>> {
        let key = plan.key().filter(|&key| self.get(key).is_some())?;
        self.end(key.slot, plan.end).map(|(ended, _)| ended)
    }
}
