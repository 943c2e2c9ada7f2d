//! What the hello pair offers and grants.

use crate::state::Refusal;
use crate::{
    CacheObjectKind, ClientHello, ControlExtensionEntries, ControlExtensionPayload as Payload, DegradePolicy,
    ErrorCode, LossTolerance, LossToleranceAckExtension, LossToleranceExtension,
    PayloadCapabilitiesAckExtension, PayloadCapabilitiesExtension, PayloadKindBitmap, ProfileId, ServerFlags,
    ServerHelloAck, TransportId, TransportPolicy, TransportPolicyAckExtension, TransportPolicyExtension,
    VERSION_MAJOR, WIRE_FORMAT,
};

/// The control extensions of CLIENT_HELLO (C9).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wishes {
    /// 0x0101: how the transport should be chosen.
    pub transport: Option<TransportPolicyExtension>,
    /// 0x0103: what may be lost.
    pub loss: Option<LossToleranceExtension>,
    /// 0x0105: the payload kinds again.
    pub payloads: Option<PayloadCapabilitiesExtension>,
}

/// The control extensions of SERVER_HELLO_ACK (C9).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grants {
    /// 0x0102: the transport in use.
    pub transport: Option<TransportPolicyAckExtension>,
    /// 0x0104: what may be lost.
    pub loss: Option<LossToleranceAckExtension>,
    /// 0x0106: the payload kinds that hold.
    pub payloads: Option<PayloadCapabilitiesAckExtension>,
}

/// What a client offers: CLIENT_HELLO without its credentials, which only authentication reads.
///
/// ```
/// use nnrp_core::TransportPolicyExtension;
/// use nnrp_core::state::hello::Offer;
///
/// let mut offer = Offer::new();
/// offer.wishes.transport = Some(TransportPolicyExtension::default());
/// assert_eq!((offer.hello.min_version_major, offer.hello.max_version_major), (1, 1));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// The metadata.
    pub hello: ClientHello,
    /// The extensions.
    pub wishes: Wishes,
}

/// What a server answers: SERVER_HELLO_ACK.
///
/// ```
/// use nnrp_core::{PayloadKindBitmap, ProfileId};
/// use nnrp_core::state::hello::{Abilities, Offer, Verdict};
///
/// let abilities = Abilities { profiles: 0b100, payload_kinds: PayloadKindBitmap::TOKEN_CHUNK, ..Default::default() };
/// let answer = abilities.answer(&Offer::new(), Verdict::Accept)?;
/// assert!(answer.takes_profile(ProfileId::TOKEN) && !answer.takes_profile(ProfileId::TENSOR));
/// assert!(!answer.takes_payloads(PayloadKindBitmap::all()));
/// # Ok::<(), nnrp_core::state::Refusal>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The metadata.
    pub ack: ServerHelloAck,
    /// The extensions.
    pub grants: Grants,
}

/// What the caller's authentication makes of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Welcome.
    Accept,
    /// Refused, with a status of the caller's that is not 0, and when to try again (0: no advice).
    Refuse {
        /// `auth_status`; 0 counts as 1, because 0 means accepted.
        status: u8,
        /// `retry_after_ms`.
        retry_after_ms: u32,
    },
}

impl Wishes {
    /// Picks them out of a block; what is not known is passed over, as B7 says.
    pub fn read(block: ControlExtensionEntries<'_>) -> Self {
        let mut wishes = Self::default();
        for entry in block.iter() {
            match entry.payload {
                Payload::TransportPolicy(wish) => wishes.transport = Some(wish),
                Payload::LossTolerance(wish) => wishes.loss = Some(wish),
                Payload::PayloadCapabilities(wish) => wishes.payloads = Some(wish),
                _ => {}
            }
        }
        wishes
    }
}

impl Grants {
    /// Picks them out of a block; what is not known is passed over, as B7 says.
    pub fn read(block: ControlExtensionEntries<'_>) -> Self {
        let mut grants = Self::default();
        for entry in block.iter() {
            match entry.payload {
                Payload::TransportPolicyAck(grant) => grants.transport = Some(grant),
                Payload::LossToleranceAck(grant) => grants.loss = Some(grant),
                Payload::PayloadCapabilitiesAck(grant) => grants.payloads = Some(grant),
                _ => {}
            }
        }
        grants
    }
}

impl Offer {
    /// D1, for hellos that never were bytes, and C9.
    pub(super) fn check(&self) -> Result<(), Refusal> {
        if let Err(fault) = self.hello.validate() {
            return Err(Refusal::new(fault.error_code(), "D1", "the hello breaks its own rules"));
        }
        let kinds = self.hello.supported_payload_kind_bitmap;
        if self.wishes.payloads.is_some_and(|wish| wish.payload_kind_bitmap != kinds) {
            return Err(Refusal::malformed("C9", "the hello names two different sets of payload kinds"));
        }
        Ok(())
    }
}

impl Answer {
    /// Whether a profile was accepted. Those that have no bit are settled by SESSION_OPEN, and unspecified is none.
    pub const fn takes_profile(&self, profile: ProfileId) -> bool {
        matches!(profile.raw(), 0 | 32..) || self.ack.accepted_profile_bitmap >> profile.raw() & 1 == 1
    }

    /// Whether all of these payload kinds were accepted.
    pub const fn takes_payloads(&self, kinds: PayloadKindBitmap) -> bool {
        self.ack.accepted_payload_kind_bitmap.contains(kinds)
    }

    /// Whether the server keeps a cache.
    pub const fn takes_cache(&self) -> bool {
        self.ack.server_flags.contains(ServerFlags::CACHE_ENABLED)
    }

    /// Whether cache objects of a kind were accepted: bit n stands for kind n + 1, and kinds without a bit are open.
    pub const fn takes_object(&self, kind: CacheObjectKind) -> bool {
        matches!(kind.raw(), 0 | 17..) || self.ack.cache_object_bitmap >> (kind.raw() - 1) & 1 == 1
    }

    /// Whether sessions can be resumed at all.
    pub const fn takes_resumes(&self) -> bool {
        self.ack.server_flags.contains(ServerFlags::SESSION_RESUME_SUPPORTED)
    }

    pub(super) fn check(&self, offer: &Offer) -> Result<(), Refusal> {
        self.check_version(&offer.hello)?;
        self.check_sets(&offer.hello)?;
        self.check_grants(offer)
    }

    fn check_version(&self, hello: &ClientHello) -> Result<(), Refusal> {
        let version = self.ack.selected_version_major;
        let format = self.ack.selected_wire_format;
        let offered = (hello.min_version_major..=hello.max_version_major).contains(&version)
            && format < 16
            && hello.supported_wire_format_bitmap >> format & 1 == 1;
        if offered && version == VERSION_MAJOR && format == WIRE_FORMAT {
            return Ok(());
        }
        Err(Refusal::new(ErrorCode::UNSUPPORTED_VERSION, "C6", "the selected version was not offered"))
    }

    fn check_sets(&self, hello: &ClientHello) -> Result<(), Refusal> {
        let ack = &self.ack;
        let sets = [
            (ack.accepted_profile_bitmap, hello.supported_profile_bitmap),
            (ack.accepted_payload_kind_bitmap.bits(), hello.supported_payload_kind_bitmap.bits()),
            (ack.accepted_codec_bitmap, hello.supported_codec_bitmap),
            (ack.accepted_compression_bitmap, hello.supported_compression_bitmap),
            (ack.accepted_dtype_bitmap, hello.supported_dtype_bitmap),
            (ack.accepted_layout_bitmap, hello.supported_layout_bitmap),
            (ack.cache_digest_bitmap, hello.cache_digest_bitmap.into()),
            (ack.cache_object_bitmap, hello.cache_object_bitmap.into()),
        ];
        if sets.iter().all(|(accepted, offered)| accepted & !offered == 0) {
            return Ok(());
        }
        Err(Refusal::capability("C6", "the answer accepts what was not offered"))
    }

    fn check_grants(&self, offer: &Offer) -> Result<(), Refusal> {
        let Offer { hello, wishes } = offer;
        let Grants { transport, loss, payloads } = self.grants;
        let unasked = transport.is_some() && wishes.transport.is_none()
            || loss.is_some() && wishes.loss.is_none()
            || payloads.is_some() && wishes.payloads.is_none();
        if unasked {
            return Err(Refusal::capability("C9", "the answer grants an extension that was not sent"));
        }
        if let (Some(grant), Some(wish)) = (transport, wishes.transport) {
            if grant.transport_policy != wish.transport_policy {
                return Err(Refusal::malformed("C9", "the answer repeats another transport policy"));
            }
            if forced(wish.transport_policy).is_some_and(|only| only != grant.active_transport_id) {
                return Err(Refusal::capability("C9", "the forced transport is not the one in use"));
            }
        }
        if payloads.is_some_and(|grant| {
            !hello.supported_payload_kind_bitmap.contains(grant.accepted_payload_kind_bitmap)
        }) {
            return Err(Refusal::capability("C6", "the answer accepts payload kinds that were not offered"));
        }
        Ok(())
    }
}

/// The one transport that a policy leaves.
const fn forced(policy: TransportPolicy) -> Option<TransportId> {
    match policy {
        TransportPolicy::ForceQuic => Some(TransportId::Quic),
        TransportPolicy::ForceTcp => Some(TransportId::Tcp),
        _ => None,
    }
}

/// What a server can do, from which it makes its answers.
///
/// ```
/// use nnrp_core::state::hello::{Abilities, Offer, Verdict};
///
/// let abilities = Abilities { codecs: 0b0110, ..Default::default() };
/// let mut offer = Offer::default();
/// offer.hello.supported_codec_bitmap = 0b0011;
/// let answer = abilities.answer(&offer, Verdict::Accept).unwrap();
/// assert_eq!(answer.ack.accepted_codec_bitmap, 0b0010);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// Bit n: profile n.
    pub profiles: u32,
    /// Payload kinds.
    pub payload_kinds: PayloadKindBitmap,
    /// Bit n: codec n.
    pub codecs: u32,
    /// Bit n: compression n.
    pub compressions: u32,
    /// Bit n: number format n.
    pub dtypes: u32,
    /// Bit n: tensor layout n.
    pub layouts: u32,
    /// Bit n: digest algorithm n for cache keys.
    pub digests: u32,
    /// Bit n: cache object kind n + 1.
    pub cache_objects: u32,
    /// Most cache objects of the client.
    pub max_cache_entries: u32,
    /// Most cache content of the client.
    pub max_cache_bytes: u32,
    /// Most lanes at once.
    pub max_lane_count: u16,
    /// Connection window until the first flow update; 0 for no limit.
    pub max_concurrent_frames: u16,
    /// Most frames a second that are promised, times 100.
    pub target_cadence_x100: u16,
    /// Shortest time from submit to result that is promised; 0 promises none.
    pub latency_budget_ms: u16,
    /// Best quality tier.
    pub quality_tier: u16,
    /// The way to degrade, where the client leaves it to the server.
    pub degrade_policy: DegradePolicy,
    /// Largest body that is taken; 0 for no limit of its own.
    pub max_body_bytes: u32,
    /// How long the authentication holds; 0 without an end.
    pub token_ttl_ms: u32,
    /// Further abilities.
    pub flags: ServerFlags,
    /// The transport that carries the connection.
    pub transport: TransportId,
    /// The loosest handling of losses.
    pub loss: LossTolerance,
}

impl Default for Abilities {
    fn default() -> Self {
        Self {
            profiles: 0b110,
            payload_kinds: PayloadKindBitmap::all(),
            codecs: 1,
            compressions: 1,
            dtypes: u32::MAX,
            layouts: u32::MAX,
            digests: u32::MAX,
            cache_objects: 0x1ff,
            max_cache_entries: 4_096,
            max_cache_bytes: 64 << 20,
            max_lane_count: 16,
            max_concurrent_frames: 1_024,
            target_cadence_x100: 0,
            latency_budget_ms: 0,
            quality_tier: 0,
            degrade_policy: DegradePolicy::SERVER_DEFAULT,
            max_body_bytes: 16 << 20,
            token_ttl_ms: 0,
            flags: ServerFlags::CACHE_ENABLED.union(ServerFlags::SESSION_RESUME_SUPPORTED),
            transport: TransportId::Tcp,
            loss: LossTolerance::FireAndForget,
        }
    }
}

impl Abilities {
    /// The answer to an offer: the meet of both sides, so that every set is a subset of the offered one (C6).
    ///
    /// # Errors
    ///
    /// `unsupported_capability` where the client accepts another transport only.
    pub fn answer(&self, offer: &Offer, verdict: Verdict) -> Result<Answer, Refusal> {
        let ack = ServerHelloAck {
            selected_version_major: VERSION_MAJOR,
            selected_wire_format: WIRE_FORMAT,
            ..Default::default()
        };
        if let Verdict::Refuse { status, retry_after_ms } = verdict {
            let ack = ServerHelloAck { auth_status: status.max(1), retry_after_ms, ..ack };
            return Ok(Answer { ack, grants: Grants::default() });
        }
        let hello = &offer.hello;
        let payload_kinds = self.payload_kinds & hello.supported_payload_kind_bitmap;
        let ack = ServerHelloAck {
            accepted_profile_bitmap: self.profiles & hello.supported_profile_bitmap,
            accepted_payload_kind_bitmap: payload_kinds,
            accepted_codec_bitmap: self.codecs & hello.supported_codec_bitmap,
            accepted_compression_bitmap: self.compressions & hello.supported_compression_bitmap,
            accepted_dtype_bitmap: self.dtypes & hello.supported_dtype_bitmap,
            accepted_layout_bitmap: self.layouts & hello.supported_layout_bitmap,
            cache_digest_bitmap: self.digests & u32::from(hello.cache_digest_bitmap),
            cache_object_bitmap: self.cache_objects & u32::from(hello.cache_object_bitmap),
            max_cache_entries: self.max_cache_entries.min(hello.max_cache_entries),
            max_cache_bytes: self.max_cache_bytes.min(hello.max_cache_bytes),
            max_lane_count: self.max_lane_count.min(hello.max_lane_count),
            max_concurrent_frames: self.max_concurrent_frames,
            target_cadence_x100: self.target_cadence_x100.min(hello.target_cadence_x100),
            latency_budget_ms: match self.latency_budget_ms {
                0 => 0,
                best => best.max(hello.latency_budget_ms),
            },
            quality_tier: self.quality_tier.min(hello.quality_tier),
            degrade_policy: match hello.degrade_policy {
                DegradePolicy::SERVER_DEFAULT => self.degrade_policy,
                wish => wish,
            },
            max_body_bytes: self.max_body_bytes,
            token_ttl_ms: self.token_ttl_ms,
            server_flags: self.flags,
            ..ack
        };
        let grants = Grants {
            transport: offer.wishes.transport.map(|wish| self.transport(wish)).transpose()?,
            loss: offer.wishes.loss.map(|wish| LossToleranceAckExtension {
                // The enum rises from strict to loose, but for `inherit_session`, which means nothing here.
                accepted_loss_tolerance: match wish.session_loss_tolerance {
                    LossTolerance::InheritSession => LossTolerance::Strict,
                    wish => wish.min(self.loss),
                },
            }),
            payloads: offer
                .wishes
                .payloads
                .map(|_| PayloadCapabilitiesAckExtension { accepted_payload_kind_bitmap: payload_kinds }),
        };
        Ok(Answer { ack, grants })
    }

    fn transport(&self, wish: TransportPolicyExtension) -> Result<TransportPolicyAckExtension, Refusal> {
        if forced(wish.transport_policy).is_some_and(|only| only != self.transport) {
            return Err(Refusal::capability("C9", "the client accepts another transport only"));
        }
        Ok(TransportPolicyAckExtension {
            transport_policy: wish.transport_policy,
            accepted_transport_policy: wish.transport_policy,
            active_transport_id: self.transport,
        })
    }
}
