//! Runtime objects, which both ends keep alike (J1–J4).

use super::event::Why;
use super::live::unknown;
use super::plan::{Act, Plan};
use super::{Connection, Message};
use crate::state::cache::Node;
use crate::state::operation::{Found, Named};

impl Connection {
    pub(super) fn check_object(&self, act: &Act<'_>) -> Result<Plan, Why> {
        let session_id = act.header.session_id;
        let live = self.lives.get(&session_id).ok_or(unknown(session_id))?;
        if act.ours
            && matches!(
                act.message,
                Message::ObjectDeclare(..) | Message::ObjectPatch(..) | Message::ObjectDelta(..)
            )
        {
            self.check_unasked(session_id)?;
        }
        Ok(match act.message {
            Message::ObjectDeclare(descriptor, _) => Plan::Declare(live.objects.check_declare(descriptor)?),
            Message::ObjectRef(reference, _) => {
                if reference.operation_id != 0 {
                    // An operation that has ended uses nothing any more.
                    let named = Named::pair(reference.operation_id, act.header.frame_id);
                    if let Found::Ended(ended) = live.operations.find(named)? {
                        return Ok(Plan::Late(Some(ended)));
                    }
                }
                Plan::Use(live.objects.check_reference(reference)?)
            }
            Message::ObjectPatch(delta, _) => Plan::Alter(live.objects.check_patch(delta)?),
            Message::ObjectDelta(delta, _) => Plan::Alter(live.objects.check_delta(delta)?),
            Message::ObjectRelease(release, _) => Plan::Release(live.objects.check_release(release)?),
            _ => Plan::Pass,
        })
    }

    pub(super) fn apply_object(&mut self, plan: Plan, act: &Act<'_>) {
        let session_id = act.header.session_id;
        let Some(live) = self.lives.get_mut(&session_id) else { return };
        match plan {
            Plan::Declare(plan) => live.objects.apply_declare(plan, act.now),
            Plan::Use(plan) => live.objects.apply_reference(plan),
            Plan::Alter(plan) => {
                let is_new = live.objects.apply_change(plan);
                if !is_new {
                    return self.late(act, None);
                }
            }
            Plan::Release(plan) => {
                let released = live.objects.apply_release(plan);
                if let (true, Message::ObjectRelease(release, _)) =
                    (released.invalidates_dependents, act.message)
                {
                    self.invalidate(Node::Runtime { session: session_id, object: release.object_id });
                }
            }
            _ => {}
        }
        self.pass(act);
    }
}
