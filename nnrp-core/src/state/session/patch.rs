//! SESSION_PATCH: a few settings of a live session (S7).

use super::{Sessions, live::Settings};
use crate::state::{Refusal, Side};
use crate::{
    PatchMask, ProfileId, SessionPatch, SessionPatchAck, SessionPatchReason, SessionPatchStatus, SessionState,
};

/// A patch that may be sent or taken.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct PatchPlan {
    session_id: u32,
    patch: SessionPatch,
}

/// An answer to a patch that may be taken.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct PatchAckPlan {
    session_id: u32,
    ack: SessionPatchAck,
}

/// What a server takes over of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accept {
    /// Fields that are taken over; those that the patch does not name stay.
    pub mask: PatchMask,
    /// Why not all.
    pub reason: SessionPatchReason,
    /// When to ask again; 0 for no advice.
    pub retry_after_ms: u32,
    /// Length of the profile's own answer, where `mask` names the profile patch.
    pub profile_patch_ack_bytes: u32,
}

impl Default for Accept {
    fn default() -> Self {
        Self {
            mask: PatchMask::all(),
            reason: SessionPatchReason::None,
            retry_after_ms: 0,
            profile_patch_ack_bytes: 0,
        }
    }
}

impl Sessions {
    /// Checks a patch, on the client before it is sent, on the server when it came.
    ///
    /// # Errors
    ///
    /// `invalid_state` unless the session is open, or on the server where its own close is not accepted yet; on the
    /// client also `limit_exceeded` over what may be unanswered, and `invalid_state` for another profile, which cannot
    /// be patched (S7).
    pub fn check_patch(&self, session_id: u32, patch: &SessionPatch) -> Result<PatchPlan, Refusal> {
        let session = self.check_session(session_id)?;
        // One that crosses a close is answered like any: the close may be rejected, and then patches go on as before.
        let crosses = self.side == Side::Server
            && session.state == SessionState::Closing
            && session.closing.as_ref().is_some_and(|closing| closing.theirs.is_none());
        if !session.is_open() && !crosses {
            return Err(Refusal::state("S4", "the session is closing").about(session_id.into()));
        }
        if patch.validate().is_err() {
            return Err(Refusal::malformed("D27", "the patch breaks its own rules"));
        }
        if self.side == Side::Client {
            if session.patches.len() >= self.limits.patches {
                return Err(Refusal::limit("S7", "too many patches are waiting for their answer"));
            }
            if moves_profile(session.terms.profile, patch) {
                return Err(Refusal::state("S7", "the session's profile cannot be patched"));
            }
        }
        Ok(PatchPlan { session_id, patch: *patch })
    }

    /// Client: the patch was sent. Nothing has changed before its answer.
    pub fn apply_patch_sent(&mut self, plan: PatchPlan) {
        if let Some(session) = self.live.get_mut(&plan.session_id) {
            session.patches.push_back(plan.patch.patch_mask);
        }
    }

    /// Server: takes over what `accept` allows of what the patch names, and answers. A patch for another profile
    /// is refused whatever `accept` says.
    pub fn apply_patch(&mut self, plan: PatchPlan, accept: &Accept) -> SessionPatchAck {
        let Some(session) = self.live.get_mut(&plan.session_id) else { return SessionPatchAck::default() };
        let asked = plan.patch.patch_mask;
        let immutable = moves_profile(session.terms.profile, &plan.patch);
        let mut allowed = accept.mask;
        if accept.profile_patch_ack_bytes == 0 {
            // D27: without an answer of the profile its part was not applied.
            allowed -= PatchMask::PROFILE_PATCH;
        }
        let applied = if immutable { PatchMask::empty() } else { asked & allowed };
        session.settings.take(&Settings::wanted(&plan.patch), applied);
        let status = match applied {
            applied if applied == asked && !immutable => SessionPatchStatus::Accepted,
            applied if applied.is_empty() => SessionPatchStatus::Rejected,
            _ => SessionPatchStatus::Partial,
        };
        let reason = match status {
            SessionPatchStatus::Accepted => SessionPatchReason::None,
            _ if immutable => SessionPatchReason::ImmutableField,
            _ if accept.reason == SessionPatchReason::None => SessionPatchReason::UnsupportedValue,
            _ => accept.reason,
        };
        let profile_patch = applied.contains(PatchMask::PROFILE_PATCH);
        let settings = &session.settings;
        SessionPatchAck {
            status,
            reason,
            applied_patch_mask: applied,
            rejected_patch_mask: asked - applied,
            retry_after_ms: if status == SessionPatchStatus::Accepted { 0 } else { accept.retry_after_ms },
            effective_profile_id: session.terms.profile,
            effective_target_cadence_x100: settings.target_cadence_x100,
            effective_quality_tier: settings.quality_tier,
            effective_degrade_policy: settings.degrade_policy,
            effective_lane_mask: settings.active_lane_mask,
            effective_codec_bitmap: settings.codec_bitmap,
            effective_compression_bitmap: settings.compression_bitmap,
            profile_patch_ack_bytes: if profile_patch { accept.profile_patch_ack_bytes } else { 0 },
        }
    }

    /// Client: checks an answer, which is for the session's oldest patch.
    ///
    /// # Errors
    ///
    /// `invalid_state` for an answer to nothing or with another profile, `malformed_body` for one that changes
    /// what was not asked for or contradicts itself.
    pub fn check_patch_ack(&self, session_id: u32, ack: &SessionPatchAck) -> Result<PatchAckPlan, Refusal> {
        let session = self.check_session(session_id)?;
        let Some(asked) = session.patches.front() else {
            return Err(Refusal::state("S7", "no patch waits for an answer").about(session_id.into()));
        };
        let (applied, rejected) = (ack.applied_patch_mask, ack.rejected_patch_mask);
        if !asked.contains(applied | rejected) || applied.intersects(rejected) {
            return Err(Refusal::malformed("S7", "the answer is about fields that the patch does not name"));
        }
        let fits = match ack.status {
            SessionPatchStatus::Accepted => rejected.is_empty() && applied == *asked,
            SessionPatchStatus::Rejected => applied.is_empty(),
            SessionPatchStatus::Partial => true,
        };
        if !fits {
            return Err(Refusal::malformed("S7", "the answer's status and its masks disagree"));
        }
        if ack.effective_profile_id != session.terms.profile {
            return Err(Refusal::state("S7", "the session's profile cannot be patched"));
        }
        Ok(PatchAckPlan { session_id, ack: *ack })
    }

    /// Client: the answer to the session's oldest patch could not be taken. The patch counts as refused, so that the
    /// next answer meets the next one.
    pub fn skip_patch(&mut self, session_id: u32) {
        if let Some(session) = self.live.get_mut(&session_id) {
            session.patches.pop_front();
        }
    }

    /// Client: the answer has come; what it names as applied holds now. Gives the fields.
    pub fn apply_patch_ack(&mut self, plan: PatchAckPlan) -> PatchMask {
        if let Some(session) = self.live.get_mut(&plan.session_id) {
            session.patches.pop_front();
            session.settings.take(&Settings::effective(&plan.ack), plan.ack.applied_patch_mask);
        }
        plan.ack.applied_patch_mask
    }
}

fn moves_profile(profile: ProfileId, patch: &SessionPatch) -> bool {
    patch.profile_id != ProfileId::UNSPECIFIED && patch.profile_id != profile
}
