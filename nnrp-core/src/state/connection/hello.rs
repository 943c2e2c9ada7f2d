//! The verbs of negotiation and of the end.

use alloc::vec;

use super::event::Why;
use super::{Connection, Message};
use crate::build::Extensions;
use crate::state::hello::{Abilities, Grants, Offer, Verdict, Wishes};
use crate::state::{Refusal, Side, Time};
use crate::{
    ClientHello, ClientHelloBody, CloseBody, CommonHeader, ErrorCode, MessageType, ServerHelloAckBody,
    TransportProbe, TransportProbeBody, VERSION_MAJOR, WIRE_FORMAT,
};

impl Offer {
    /// An offer of this version, everything that the protocol knows, and no further wish.
    pub fn new() -> Self {
        let mut offer = Self::default();
        let hello = &mut offer.hello;
        (hello.min_version_major, hello.max_version_major) = (VERSION_MAJOR, VERSION_MAJOR);
        hello.supported_wire_format_bitmap = 1 << WIRE_FORMAT;
        hello.supported_profile_bitmap = 0b110;
        hello.supported_payload_kind_bitmap = crate::PayloadKindBitmap::all();
        hello.max_cache_entries = 4_096;
        hello.max_cache_bytes = 64 << 20;
        hello.cache_object_bitmap = 0x1ff;
        offer
    }
}

impl Connection {
    /// Client: sends a probe, which [`Probes`](crate::state::probe::Probes) makes and whose answer it takes: see
    /// [there](crate::state::probe). That needs no hello (C1).
    ///
    /// # Errors
    ///
    /// `invalid_state` once the connection is closed, `limit_exceeded` for more padding than this end would read.
    pub fn probe(&mut self, probe: &TransportProbe, now: Time) -> Result<(), Why> {
        if probe.probe_payload_bytes as usize > self.config.packet_bytes {
            let size = probe.probe_payload_bytes.into();
            return Err(Refusal::limit("F6", "the probe is too large").about(size).into());
        }
        let padding = vec![0; probe.probe_payload_bytes as usize];
        let body = TransportProbeBody { padding: &padding };
        self.send(&CommonHeader::default(), &Message::TransportProbe(*probe, body), now)
    }

    /// Client: says hello. `auth` are credentials as the server's authentication wants them.
    ///
    /// # Errors
    ///
    /// An offer that breaks D1 or C9, and a second hello.
    pub fn hello(&mut self, offer: &Offer, auth: &[u8], now: Time) -> Result<(), Why> {
        let extensions = wishes(&offer.wishes);
        let ext = extensions.entries().map_err(Why::Fault)?;
        let body = ClientHelloBody { auth, ext };
        // C6: sessions are opened by SESSION_OPEN alone.
        let hello = ClientHello { requested_session_id: 0, ..offer.hello };
        self.send(&CommonHeader::default(), &Message::ClientHello(hello, body), now)
    }

    /// Server: answers a hello with what both sides can do. `verdict` is what the caller's authentication makes of the
    /// client, and `principal` tells it from others when it comes back for a session (R2).
    ///
    /// # Errors
    ///
    /// `unsupported_capability` where the client wants another transport only: then a fatal ERROR went out.
    pub fn accept(
        &mut self,
        abilities: &Abilities,
        offer: &Offer,
        verdict: Verdict,
        principal: u64,
        now: Time,
    ) -> Result<(), Why> {
        self.hello.check_message(self.side, MessageType::ServerHelloAck)?;
        self.principal = principal;
        let answer = match abilities.answer(offer, verdict) {
            Ok(answer) => answer,
            Err(refusal) => {
                self.answer_error(&CommonHeader::default(), refusal.code, now);
                return Err(refusal.into());
            }
        };
        let extensions = grants(&answer.grants);
        let ext = extensions.entries().map_err(Why::Fault)?;
        let message = Message::ServerHelloAck(answer.ack, ServerHelloAckBody { ext });
        self.send(&CommonHeader::default(), &message, now)
    }

    /// Says CLOSE: nothing new from here on, and work in flight may finish (C1).
    ///
    /// # Errors
    ///
    /// `invalid_state` before the connection is active.
    pub fn close(&mut self, now: Time) -> Result<(), Why> {
        self.send(&CommonHeader::default(), &Message::Close(CloseBody::default()), now)
    }

    /// Ends the connection with a fatal ERROR: work in flight may finish in the drain time.
    ///
    /// # Errors
    ///
    /// `invalid_state` where no ERROR may go out.
    pub fn fail(&mut self, code: ErrorCode, now: Time) -> Result<(), Why> {
        let error = crate::Error { error_code: code, is_fatal: true, ..crate::Error::default() };
        let body = crate::ErrorBody::default();
        self.send(&CommonHeader::default(), &Message::Error(error, body), now)
    }

    /// Whether the connection is over. What waits to be sent may still go out, and events may wait.
    pub const fn is_over(&self) -> bool {
        self.is_over
    }

    /// The end that submits.
    pub(super) fn is_client(&self) -> bool {
        self.side == Side::Client
    }
}

fn wishes(wishes: &Wishes) -> Extensions {
    let mut block = Extensions::new(MessageType::ClientHello);
    if let Some(wish) = wishes.transport {
        block = block.known(wish);
    }
    if let Some(wish) = wishes.loss {
        block = block.known(wish);
    }
    if let Some(wish) = wishes.payloads {
        block = block.known(wish);
    }
    block
}

fn grants(grants: &Grants) -> Extensions {
    let mut block = Extensions::new(MessageType::ServerHelloAck);
    if let Some(grant) = grants.transport {
        block = block.known(grant);
    }
    if let Some(grant) = grants.loss {
        block = block.known(grant);
    }
    if let Some(grant) = grants.payloads {
        block = block.known(grant);
    }
    block
}
