//! One session and what holds for it.

use alloc::collections::VecDeque;

use crate::state::Time;
use crate::{
    DegradePolicy, InFlightPolicy, PatchMask, ProfileId, SessionFlagsAck, SessionOpen, SessionOpenAck,
    SessionPatch, SessionPatchAck, SessionPriorityClass, SessionState,
};

/// What SESSION_OPEN and its answer settled for a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// The primary profile; it never changes.
    pub profile: ProfileId,
    /// The class that holds, never higher than was asked (S2).
    pub priority: SessionPriorityClass,
    /// What was granted.
    pub flags: SessionFlagsAck,
    /// The default schema; 0 for none.
    pub schema_id: u32,
    /// Its version.
    pub schema_version: u32,
    /// Deadline of operations that bring none; 0 for none (S9).
    pub default_deadline_ms: u32,
    /// Most live operations; 0 lets none run (S9).
    pub max_in_flight: u16,
    /// First window for submits (S9).
    pub credit: u16,
    /// Default lease time; 0 for none (S9).
    pub lease_ttl_ms: u32,
    /// How long the session can be resumed once its connection is gone; 0 for not at all.
    pub resume_window_ms: u32,
    /// The client's mark for logs; it selects nothing (S11).
    pub client_tag: u64,
    /// The server's mark for logs; it selects nothing (S11).
    pub server_tag: u64,
    /// The confirmed minimal routing domain (S11).
    pub route_scope_id: u32,
}

impl Terms {
    /// The terms that an answer leaves of a request.
    pub const fn new(open: &SessionOpen, ack: &SessionOpenAck) -> Self {
        Self {
            profile: ack.accepted_profile_id,
            priority: ack.accepted_priority_class,
            flags: ack.session_flags_ack,
            schema_id: ack.schema_id,
            schema_version: ack.schema_version,
            default_deadline_ms: open.default_deadline_ms,
            max_in_flight: ack.max_in_flight_operations,
            credit: ack.granted_operation_credit,
            lease_ttl_ms: ack.lease_ttl_ms,
            resume_window_ms: ack.resume_window_ms,
            client_tag: open.client_session_tag,
            server_tag: ack.server_session_tag,
            route_scope_id: ack.route_scope_id,
        }
    }
}

/// What SESSION_PATCH can change (S7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Frames a second, times 100.
    pub target_cadence_x100: u32,
    /// Quality tier.
    pub quality_tier: u16,
    /// The way to degrade.
    pub degrade_policy: DegradePolicy,
    /// Bit n: lane n is in use.
    pub active_lane_mask: u64,
    /// Bit n: codec n is preferred.
    pub codec_bitmap: u32,
    /// Bit n: compression n is preferred.
    pub compression_bitmap: u32,
}

impl Settings {
    /// The wishes of a patch.
    pub(super) const fn wanted(patch: &SessionPatch) -> Self {
        Self {
            target_cadence_x100: patch.target_cadence_x100,
            quality_tier: patch.quality_tier,
            degrade_policy: patch.degrade_policy,
            active_lane_mask: patch.active_lane_mask,
            codec_bitmap: patch.preferred_codec_bitmap,
            compression_bitmap: patch.preferred_compression_bitmap,
        }
    }

    /// What an answer says holds now.
    pub(super) const fn effective(ack: &SessionPatchAck) -> Self {
        Self {
            target_cadence_x100: ack.effective_target_cadence_x100,
            quality_tier: ack.effective_quality_tier,
            degrade_policy: ack.effective_degrade_policy,
            active_lane_mask: ack.effective_lane_mask,
            codec_bitmap: ack.effective_codec_bitmap,
            compression_bitmap: ack.effective_compression_bitmap,
        }
    }

    /// Takes from `other` what the mask names and nothing else.
    pub(super) fn take(&mut self, other: &Self, mask: PatchMask) {
        let named = |bit| mask.contains(bit);
        if named(PatchMask::TARGET_CADENCE) {
            self.target_cadence_x100 = other.target_cadence_x100;
        }
        if named(PatchMask::QUALITY_TIER) {
            self.quality_tier = other.quality_tier;
        }
        if named(PatchMask::DEGRADE_POLICY) {
            self.degrade_policy = other.degrade_policy;
        }
        if named(PatchMask::ACTIVE_LANE_MASK) {
            self.active_lane_mask = other.active_lane_mask;
        }
        if named(PatchMask::PREFERRED_CODEC) {
            self.codec_bitmap = other.codec_bitmap;
        }
        if named(PatchMask::PREFERRED_COMPRESSION) {
            self.compression_bitmap = other.compression_bitmap;
        }
    }
}

/// What a session takes along to another connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    /// Live operations.
    pub live: u32,
    /// Operations submitted so far.
    pub submitted: u64,
    /// The settings that hold.
    pub settings: Settings,
}

/// How far a close got. It never goes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Progress {
    Asked,
    /// Accepted, so that nobody can reject it any more: with abort the operations have ended by now.
    Acknowledged,
    Draining,
}

/// How a close goes on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Closing {
    /// How far our SESSION_CLOSE got, until it is answered for good.
    pub(super) ours: Option<Progress>,
    /// How far the peer's got, which waits for `closed`.
    pub(super) theirs: Option<Progress>,
    pub(super) policy: InFlightPolicy,
    /// Where `rejected` goes back to.
    pub(super) before: SessionState,
    /// When it is over whatever happens.
    pub(super) until: Option<Time>,
    /// The operation that an answer of ours names as waterline.
    pub(super) last_operation_id: u64,
}

/// One session.
#[derive(Clone, Debug)]
pub struct Session {
    pub(super) id: u32,
    pub(super) state: SessionState,
    pub(super) terms: Terms,
    pub(super) settings: Settings,
    pub(super) live: u32,
    pub(super) submitted: u64,
    pub(super) patches: VecDeque<PatchMask>,
    pub(super) closing: Option<Closing>,
    pub(super) idle_ms: u64,
    pub(super) active_at: Time,
    /// The session's entry among the timers. It may be early, never late.
    pub(super) due: Option<Time>,
}

impl Session {
    pub(super) const fn new(id: u32, terms: Terms, idle_ms: u64, now: Time) -> Self {
        Self {
            id,
            state: SessionState::INITIAL,
            terms,
            settings: Settings {
                target_cadence_x100: 0,
                quality_tier: 0,
                degrade_policy: DegradePolicy::SERVER_DEFAULT,
                active_lane_mask: 0,
                codec_bitmap: 0,
                compression_bitmap: 0,
            },
            live: 0,
            submitted: 0,
            patches: VecDeque::new(),
            closing: None,
            idle_ms,
            active_at: now,
            due: None,
        }
    }

    /// Its id, unique among the live sessions of the connection (C3).
    pub const fn id(&self) -> u32 {
        self.id
    }

    /// Where it is in its life (S1).
    pub const fn state(&self) -> SessionState {
        self.state
    }

    /// What was settled when it was opened.
    pub const fn terms(&self) -> &Terms {
        &self.terms
    }

    /// What patches made of it.
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Live operations.
    pub const fn live(&self) -> u32 {
        self.live
    }

    /// Operations submitted so far; the serial of the last one.
    pub const fn submitted(&self) -> u64 {
        self.submitted
    }

    /// Whether new operations may come (S4).
    pub const fn is_open(&self) -> bool {
        matches!(self.state, SessionState::Open | SessionState::Resumed)
    }

    /// Whether as many operations live as ever may (S9). Where none may, that is no matter of waiting.
    pub const fn is_full(&self) -> bool {
        self.terms.max_in_flight != 0 && self.live >= self.terms.max_in_flight as u32
    }

    /// Whether it can be resumed on another connection (R1).
    pub const fn is_resumable(&self) -> bool {
        self.terms.flags.contains(SessionFlagsAck::RESUME_ENABLED) && self.terms.resume_window_ms != 0
    }

    /// What it takes along to another connection.
    pub const fn carried(&self) -> Carried {
        Carried { live: self.live, submitted: self.submitted, settings: self.settings }
    }

    /// When something has to happen by itself.
    pub(super) fn deadline(&self) -> Option<Time> {
        if let Some(closing) = &self.closing {
            return closing.until;
        }
        (self.is_open() && self.live == 0 && self.idle_ms != 0).then(|| self.active_at.after(self.idle_ms))
    }

    pub(super) fn turn(&mut self, next: SessionState) {
        if self.state.can_become(next) {
            self.state = next;
        }
    }
}
