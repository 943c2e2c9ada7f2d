//! What a connection has to say to the application.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::fmt;

use super::observe;
use crate::state::cache::{Answered, Gone, Key};
use crate::state::capability;
use crate::state::credit::Blocked;
use crate::state::hello::Offer;
use crate::state::operation::{Ended, Parent, Remembered};
use crate::state::session::Ticket;
use crate::state::{Refusal, Side, cache};
use crate::wire::Fault;
use crate::{
    CacheErrorCode, CommonHeader, CommonHeaderView, ErrorCode, Message, OperationState, Packet, PatchMask,
};
use crate::{SessionClose, SessionErrorCode};

/// A packet that was accepted, with bytes of its own.
#[derive(Clone, PartialEq, Eq)]
pub struct Received(Vec<u8>);

impl Received {
    pub(super) fn new(packet: &Packet<'_>) -> Self {
        Self(packet.as_bytes().to_vec())
    }

    /// The packet. It was checked when it came and is not checked again.
    pub fn packet(&self) -> Option<Packet<'_>> {
        let header = CommonHeaderView(self.0.first_chunk()?);
        Some(Packet { bytes: &self.0, header })
    }

    /// Its message; see [`Packet::message`].
    pub fn message(&self) -> Option<Message<'_>> {
        self.packet().map(|packet| packet.message())
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Received {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.packet().map(|packet| packet.message_type());
        out.debug_struct("Received").field("message", &kind).field("bytes", &self.0.len()).finish()
    }
}

/// Why a connection is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// Both sides are done: CLOSE, or a fatal ERROR, and the work in flight has ended.
    Done,
    /// Negotiation failed.
    Refused,
    /// The time to negotiate or to drain was over.
    Time,
    /// Nothing was heard of the peer for too long. Sessions that can be resumed are held until the application gives the
    /// transport up: by [`Connection::park`](super::Connection::park) on a server,
    /// [`Connection::take_sessions`](super::Connection::take_sessions) on a client, or
    /// [`Connection::handle_lost`](super::Connection::handle_lost), which ends them.
    Silence,
    /// The peer sent what no packet can be found in.
    Broken,
    /// The transport is gone.
    Lost,
}

/// What happened. Packets that only have to be passed on come as [`Event::Message`].
///
/// ```
/// use nnrp_core::state::{Side, Time, connection::{Config, Connection, Event, Over}};
///
/// let mut server = Connection::new(Side::Server, Config::new(Side::Server), || 1, Time(0));
/// // Forty bytes that are no header: it is told, and over.
/// server.handle_bytes(&[0; 40], Time(0));
/// assert!(matches!(server.poll_event(), Some(Event::Refused { .. })));
/// assert_eq!(server.poll_event(), Some(Event::Over(Over::Broken)));
/// assert_eq!(server.poll_event(), None);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Server: a client says hello. [`Connection::accept`](super::Connection::accept) answers; the packet has the
    /// credentials.
    Hello {
        /// What it offers.
        offer: Offer,
        /// CLIENT_HELLO.
        packet: Received,
    },
    /// The connection is negotiated.
    Active,
    /// Client: the server did not accept. [`Event::Over`] follows.
    Rejected {
        /// `auth_status`.
        status: u8,
        /// When to try again, in milliseconds; 0 gives no advice.
        retry_after_ms: u32,
    },
    /// Nothing new is let in from here on; work in flight may finish.
    Draining,
    /// The connection is over. What waits to be sent may still go out.
    Over(Over),

    /// Server: a client asks for a session. [`Connection::answer_open`](super::Connection::answer_open) answers.
    SessionRequested {
        /// The request.
        ticket: Ticket,
        /// SESSION_OPEN.
        packet: Received,
    },
    /// A session is live.
    SessionOpened {
        /// The request.
        ticket: Ticket,
        /// The session.
        session_id: u32,
        /// What the answer remarks (S8).
        remark: SessionErrorCode,
        /// Whether it goes on where it was on another connection.
        resumed: bool,
    },
    /// There is no session.
    SessionRefused {
        /// The request.
        ticket: Ticket,
        /// Why; none where the connection ended first.
        code: SessionErrorCode,
        /// Whether the client may ask again. A session that was to be resumed then waits for
        /// [`take_refused`](super::Connection::take_refused) or [`take_sessions`](super::Connection::take_sessions).
        retry: bool,
    },
    /// A patch of a session was answered.
    SessionPatched {
        /// The session.
        session_id: u32,
        /// What changed.
        applied: PatchMask,
        /// SESSION_PATCH on the server, its answer on the client.
        packet: Received,
    },
    /// The peer closes a session. [`Connection::answer_close`](super::Connection::answer_close) answers; without an
    /// answer the session closes in its time.
    CloseRequested {
        /// The session.
        session_id: u32,
        /// What it asks for.
        close: SessionClose,
    },
    /// A session idled for its time, and SESSION_CLOSE went out (S6).
    SessionIdle {
        /// The session.
        session_id: u32,
    },
    /// A session is over, and all its operations with it.
    SessionClosed {
        /// The session.
        session_id: u32,
    },

    /// An operation was admitted.
    Submitted {
        /// Its session.
        session_id: u32,
        /// Its id.
        operation_id: u64,
        /// Its frame.
        frame_id: u32,
        /// What became of the parent that it names (O2).
        parent: Parent,
        /// FRAME_SUBMIT.
        packet: Received,
    },
    /// A submit that waited for credit will not go out.
    Unsent {
        /// Its session.
        session_id: u32,
        /// Its operation.
        operation_id: u64,
        /// Why; `None` where its deadline passed or it was withdrawn.
        refusal: Option<Refusal>,
    },
    /// Something happened to a live operation.
    Updated {
        /// Its session.
        session_id: u32,
        /// Its id.
        operation_id: u64,
        /// Where it is now.
        state: OperationState,
        /// What happened.
        packet: Received,
    },
    /// The peer asks for the end of an operation, cooperatively. Once it has ended, or at once,
    /// [`Connection::drop_operation`](super::Connection::drop_operation) says so.
    CancelAsked {
        /// Its session.
        session_id: u32,
        /// Its id.
        operation_id: u64,
    },
    /// An operation has ended. There is exactly one of this for each that was admitted, on either side (O5).
    Ended {
        /// Its session.
        session_id: u32,
        /// How.
        outcome: Ended,
        /// What ended it, where that was a packet of the peer's.
        packet: Option<Received>,
    },
    /// A message for an operation that has ended, or with a number that is not new. It was ignored (O4, O6, O7).
    Late {
        /// Its session.
        session_id: u32,
        /// The operation, where it has ended.
        ended: Option<Remembered>,
        /// The message.
        packet: Received,
    },

    /// Server: outcomes that went out are no longer kept for a resume, because their time is over or others needed the
    /// room (R1). On a connection that works nothing is wrong with that.
    Unconfirmed {
        /// The session.
        session_id: u32,
        /// Their operations.
        operations: Vec<u64>,
    },

    /// The peer stored something here.
    Stored {
        /// What.
        key: Key,
        /// What went for it.
        gone: Gone,
        /// CACHE_PUT.
        packet: Received,
    },
    /// The peer answered a put.
    Cached(Answered),
    /// The peer refers to objects that are here.
    Referenced {
        /// The session, 0 for the connection.
        session_id: u32,
        /// The objects.
        keys: Vec<Key>,
        /// CACHE_REFERENCE.
        packet: Received,
    },
    /// The peer refers to what is not here, not any more or not like that; CACHE_MISS went out.
    Missed {
        /// The session, 0 for the connection.
        session_id: u32,
        /// Why.
        code: CacheErrorCode,
    },
    /// Objects, and what depended on them, are no longer valid.
    Invalidated(Gone),
    /// Runtime objects were freed because their time or their operation was over.
    Freed {
        /// The session.
        session_id: u32,
        /// Them.
        objects: Vec<u64>,
    },
    /// What the peer says of capabilities. [`Connection::answer_offer`](super::Connection::answer_offer) answers an
    /// offer.
    Capability {
        /// CAPABILITY_NEGOTIATION or DEGRADE_PROFILE.
        purpose: capability::Purpose,
        /// What it says.
        event: capability::Event,
    },

    /// An ERROR or ERROR_RECOVERABLE of the peer's that ends no operation.
    Error {
        /// It.
        packet: Received,
    },
    /// Any other message. What it changes here is changed already.
    Message {
        /// It.
        packet: Received,
    },
    /// A packet of the peer's was refused and answered (C4). It changed nothing: an operation whose result was refused
    /// lives on, and [`Connection::drop_operation`](super::Connection::drop_operation) ends it.
    Refused {
        /// Its header; the default one where the bytes have none.
        header: CommonHeader,
        /// Why.
        why: Why,
    },
}

impl Event {
    /// The packet that brought it, where it has one.
    pub fn packet(&self) -> Option<&Received> {
        match self {
            Self::Hello { packet, .. }
            | Self::SessionRequested { packet, .. }
            | Self::SessionPatched { packet, .. }
            | Self::Submitted { packet, .. }
            | Self::Updated { packet, .. }
            | Self::Late { packet, .. }
            | Self::Stored { packet, .. }
            | Self::Referenced { packet, .. }
            | Self::Error { packet }
            | Self::Message { packet } => Some(packet),
            Self::Ended { packet, .. } => packet.as_ref(),
            _ => None,
        }
    }
}

/// Events that wait, and the bytes of their packets. What is put in is observed.
#[derive(Debug)]
pub(super) struct Events {
    side: Side,
    waiting: VecDeque<Event>,
    bytes: usize,
}

impl Events {
    pub(super) const fn new(side: Side) -> Self {
        Self { side, waiting: VecDeque::new(), bytes: 0 }
    }

    pub(super) fn push_back(&mut self, event: Event) {
        observe::happened(self.side, &event);
        self.bytes = self.bytes.saturating_add(size(&event));
        self.waiting.push_back(event);
    }

    pub(super) fn pop_front(&mut self) -> Option<Event> {
        let event = self.waiting.pop_front()?;
        self.bytes = self.bytes.saturating_sub(size(&event));
        if self.waiting.is_empty() && self.waiting.capacity() > 1_024 {
            self.waiting = VecDeque::new();
        }
        Some(event)
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }
}

fn size(event: &Event) -> usize {
    event.packet().map_or(0, |packet| packet.as_bytes().len())
}

/// Why a packet was not taken or not sent.
///
/// ```
/// use nnrp_core::ErrorCode;
/// use nnrp_core::state::{Side, Time, connection::{Config, Connection, Why}};
///
/// let mut client = Connection::new(Side::Client, Config::new(Side::Client), || 1, Time(0));
/// let why = client.close(Time(0)).unwrap_err();
/// assert!(matches!(why, Why::Refusal(refusal) if refusal.rule == "C1"));
/// assert_eq!(why.code(), ErrorCode::INVALID_STATE);
/// assert_eq!(why.to_string(), "Refused as invalid_state by C1: the hello goes before it.");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Its bytes break a rule.
    Fault(Fault),
    /// It does not fit what the connection is in.
    Refusal(Refusal),
    /// It names a cache object that is of no use.
    Cache(cache::Key, CacheErrorCode),
    /// It has to wait for credit: it may be sent later.
    Blocked(Blocked),
}

impl Why {
    /// What an answer on the wire carries.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Fault(fault) => fault.error_code(),
            Self::Refusal(refusal) => refusal.code,
            Self::Cache(_, code) => ErrorCode::from_raw(*code as u32).unwrap_or(ErrorCode::INTERNAL_ERROR),
            Self::Blocked(_) => ErrorCode::LIMIT_EXCEEDED,
        }
    }
}

impl From<Fault> for Why {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<Refusal> for Why {
    fn from(refusal: Refusal) -> Self {
        Self::Refusal(refusal)
    }
}

impl From<Blocked> for Why {
    fn from(blocked: Blocked) -> Self {
        Self::Blocked(blocked)
    }
}

impl core::error::Error for Why {}

impl fmt::Display for Why {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fault(fault) => write!(out, "Refused: {fault}."),
            Self::Refusal(refusal) => refusal.fmt(out),
            Self::Blocked(blocked) => blocked.fmt(out),
            Self::Cache(_, code) => write!(out, "Refused as {code} by K3: the object is of no use."),
        }
    }
}
