//! What a connection may take, and how long.

use crate::Role;
use crate::state::capability::Words;
use crate::state::operation::UnixOrigin;
use crate::state::session::Accept;
use crate::state::{Side, cache, capability, hello, object, operation, resume, schema, session};
use crate::stream::DEFAULT_LIMIT;

/// Everything that may grow on a connection, with a limit, and the times that it keeps.
///
/// The defaults suit a server of a few thousand sessions a connection. Nothing here is negotiated; what is, such as the
/// limits of the cache, only ever lowers what stands here.
///
/// ```
/// use nnrp_core::state::{Side, connection::Config};
///
/// let mut config = Config::new(Side::Server);
/// config.packet_bytes = 1 << 20;
/// config.sessions.idle_ms = 60_000;
/// config.cache.entries = 100;
/// ```
#[derive(Clone, Debug)]
pub struct Config {
    /// Bytes of the largest packet that is taken (F6).
    pub packet_bytes: usize,
    /// Bytes that may wait to be sent. Over it nothing more is read, as answers would only add to them.
    pub output_bytes: usize,
    /// Events that may wait to be polled. Over it nothing more is read.
    pub events: usize,
    /// Bytes of the packets in them. Over it nothing more is read.
    pub event_bytes: usize,
    /// Submits that may wait for credit.
    pub queue: usize,
    /// Puts that may wait for their answer.
    pub puts: usize,
    /// Largest padding of a transport probe that is answered, in bytes.
    pub probe_bytes: u32,
    /// After so many milliseconds without a packet a PING goes out; 0 for never.
    pub ping_ms: u64,
    /// After so many milliseconds without a packet the peer is taken for gone; 0 for never.
    pub silence_ms: u64,
    /// What the caller's clock reads in Unix time, for DEADLINE and EXPIRE_AT.
    pub origin: UnixOrigin,
    /// What this end calls itself where it names the source of a message.
    pub role: Role,
    /// Capability tokens that are known beside the registered ones.
    pub words: Words,
    /// Server: what it takes over of a SESSION_PATCH.
    pub patch: Accept,
    /// Times of negotiation and drain.
    pub hello: hello::Limits,
    /// Sessions and their requests.
    pub sessions: session::Limits,
    /// Early deadlines and ended operations that are remembered, in each session. How many may live is negotiated.
    pub operations: operation::Limits,
    /// Runtime objects of each session.
    pub objects: object::Limits,
    /// What the peer may store here.
    pub cache: cache::Limits,
    /// What becomes of an object when its last lease ends (K2).
    pub expiry: cache::Expiry,
    /// Dependencies between everything on the connection.
    pub graph: cache::GraphLimits,
    /// Schemas.
    pub schemas: schema::Limits,
    /// What may be changed about them.
    pub schema_policy: schema::Policy,
    /// Offers and agreements.
    pub capabilities: capability::Limits,
    /// Outcomes that are kept for a resume, in each session.
    pub outcomes: resume::Limits,
}

impl Config {
    /// The defaults for that side.
    pub fn new(side: Side) -> Self {
        Self {
            packet_bytes: DEFAULT_LIMIT,
            output_bytes: 64 << 20,
            events: 65_536,
            event_bytes: 64 << 20,
            queue: 65_536,
            puts: 1_024,
            probe_bytes: 1 << 20,
            ping_ms: 15_000,
            silence_ms: 45_000,
            origin: UnixOrigin(0),
            role: match side {
                Side::Client => Role::CLIENT,
                Side::Server => Role::SERVER,
            },
            words: Words::default(),
            patch: Accept::default(),
            hello: hello::Limits::default(),
            sessions: session::Limits::default(),
            operations: operation::Limits::default(),
            objects: object::Limits::default(),
            cache: cache::Limits::default(),
            expiry: cache::Expiry::default(),
            graph: cache::GraphLimits::default(),
            schemas: schema::Limits::default(),
            schema_policy: schema::Policy::default(),
            capabilities: capability::Limits::default(),
            outcomes: resume::Limits::default(),
        }
    }
}
