//! The composed connection: bytes in, bytes out, events, timeouts.
//!
//! [`Connection`] owns the role, the limits, the output and the timers. What the protocol says is in the modules beside
//! it: for each message the connection asks all that it concerns to check it, and only if all agree applies them. So a
//! message that is refused has touched nothing (C5), whichever end it comes from: what the application sends goes the
//! same way as what the peer sent, and both ends keep the same state of it.
//!
//! - `handle_*` takes what arrives: bytes, a timeout, the loss of the transport.
//! - Verbs say what the application wants: [`Connection::open_session`], [`Connection::submit`],
//!   [`Connection::cancel`] on a client, [`Connection::progress`], [`Connection::partial`], [`Connection::result`] on a
//!   server, [`Connection::send`] for any message.
//! - `poll_*` gives what must go out: bytes, events, the time of the next timeout.
//!
//! A transport that is lost is told by [`Connection::park`] on a server and [`Connection::take_sessions`] on a client, which
//! keep the sessions that can be resumed, or by [`Connection::handle_lost`], which keeps none.
//!
//! Neither way waits for the other (C7). There is no socket, no clock and no thread in it; the example programs `serve` and
//! `chat` bring these.
//!
//! # Local only
//!
//! What has no place on the wire and is a matter of this API:
//!
//! - Which version of a cache object is wanted ([`cache::Want`](crate::state::cache::Want)), the policy at the end of its
//!   last lease ([`cache::Expiry`](crate::state::cache::Expiry)), eviction and hints (K2, K5, K6, K8).
//! - Subscription to the results of a group: [`Operations::group`](crate::state::operation::Operations::group) (O11).
//! - The dependencies of cache objects and results on one another, but for schemas, whose dependencies travel by X5 (K4).
//! - What the caller's authentication makes of credentials, and the principal that a resume token is bound to (R2).
//! - The queue of submits that wait for credit, its order and its limit (W1).
//! - Probes over several transports and their ranking (R4).
//! - Where a session is that another connection is asked for: [`Connection::wants`], [`Connection::park_session`] (R3).
//! - Idle times, answer times, PING intervals, every limit in [`Config`].
//! - Queue, compute and transport time, hits, misses and lease events: [`Snapshot`] (T2).

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;
use core::fmt;

mod ability;
mod config;
mod counters;
mod event;
mod flow;
mod hello;
mod link;
mod live;
mod object;
mod observe;
mod open;
mod output;
mod plan;
mod pulse;
mod receive;
mod resume;
mod send;
mod store;
mod timeout;
mod verbs;
mod work;

pub use config::Config;
pub use counters::{Counters, Credit, OperationSnapshot, SessionSnapshot, Snapshot, Work};
pub use event::{Event, Over, Received, Why};
pub use open::drain_within;
pub use resume::{Left, Shelf};

use super::cache::{Cache, Graph, Sent};
use super::capability::Capabilities;
use super::credit::Window;
use super::hello::Hello;
use super::operation::ControlSequence;
use super::resume::Handle;
use super::schedule::Queue;
use super::schema::Schemas;
use super::session::{Sessions, Ticket};
use super::{Side, Time};
use crate::stream::Splitter;
use crate::{ConnectionState, Message, Packet};
use event::Events;
use live::Live;
use output::Output;
use pulse::Pulse;
use resume::{Answer, Asked};

/// One end of a connection.
///
/// ```
/// use nnrp_core::state::connection::{Config, Connection, Event, Shelf};
/// use nnrp_core::state::hello::{Abilities, Offer, Verdict};
/// use nnrp_core::state::session::{Policy, Verdicts};
/// use nnrp_core::state::{Side, Time};
/// use nnrp_core::SessionOpen;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let now = Time(0);
/// let mut client = Connection::new(Side::Client, Config::new(Side::Client), || 1, now);
/// let mut server = Connection::new(Side::Server, Config::new(Side::Server), || 2, now);
/// // Whatever carries the bytes.
/// let carry = |from: &mut Connection, to: &mut Connection| {
///     let taken = to.handle_bytes(from.poll_output(), now);
///     from.consume_output(taken);
/// };
///
/// client.hello(&Offer::new(), b"credentials", now)?;
/// carry(&mut client, &mut server);
/// let Some(Event::Hello { offer, .. }) = server.poll_event() else { panic!("no hello") };
/// server.accept(&Abilities::default(), &offer, Verdict::Accept, 7, now)?;
/// carry(&mut server, &mut client);
/// assert_eq!(client.poll_event(), Some(Event::Active));
///
/// client.open_session(&SessionOpen::default(), b"", now)?;
/// carry(&mut client, &mut server);
/// server.poll_event();
/// let Some(Event::SessionRequested { ticket, .. }) = server.poll_event() else { panic!("no request") };
/// server.answer_open(ticket, &Policy::default(), Verdicts::default(), &mut Shelf::default(), now)?;
/// carry(&mut server, &mut client);
/// assert!(matches!(client.poll_event(), Some(Event::SessionOpened { .. })));
/// # Ok(())
/// # }
/// ```
pub struct Connection {
    side: Side,
    config: Config,
    source: Box<dyn FnMut() -> u64 + Send>,
    /// The latest time that was told.
    now: Time,

    hello: Hello,
    splitter: Splitter,
    pulse: Pulse,
    /// Whose the client is (R2).
    principal: u64,
    is_over: bool,

    sessions: Sessions,
    lives: BTreeMap<u32, Live>,
    /// When something of a session is due.
    timers: BTreeSet<(Time, u32)>,
    /// Server: what requests brought, and answers that wait for their turn.
    asked: BTreeMap<Ticket, Asked>,
    answers: BTreeMap<Ticket, Answer>,
    /// Server: the new tokens of sessions that were resumed, until a message in one shows that its client has it (R2).
    unheard: BTreeMap<u32, Handle>,
    /// Server, for the shelf: tokens that clients have, and those of sessions that ended in order.
    confirmed: Vec<Handle>,
    revoked: Vec<Handle>,
    /// Client: sessions that are asked for again.
    leaving: BTreeMap<Ticket, Left>,
    /// Sessions that can be resumed though their connection is over, until the application takes them or gives them up.
    held: Vec<Left>,
    /// Client: resumed sessions by the PING whose answer says that the server has told all it knows of them.
    doubts: VecDeque<(u64, u32)>,
    /// The request that was sent last.
    ticket: Option<Ticket>,

    window: Window,
    queue: Queue<Vec<u8>>,
    said: ControlSequence,
    heard: ControlSequence,

    capabilities: Capabilities,
    schemas: Schemas,
    cache: Cache<Vec<u8>>,
    graph: Graph,
    puts: Sent,

    output: Output,
    /// Where the packet that was written last begins.
    written: usize,
    events: Events,
    counters: Counters,
}

impl Connection {
    /// A connection whose transport has just come up. `source` gives new session ids and resume tokens: on a server it
    /// has to be a cryptographic one.
    pub fn new(side: Side, config: Config, source: impl FnMut() -> u64 + Send + 'static, now: Time) -> Self {
        Self {
            side,
            source: Box::new(source),
            now,
            hello: Hello::new(side, config.hello, now),
            splitter: Splitter::with_limit(config.packet_bytes),
            pulse: Pulse::new(config.ping_ms, config.silence_ms, now),
            principal: 0,
            is_over: false,
            sessions: Sessions::new(side, config.sessions),
            lives: BTreeMap::new(),
            timers: BTreeSet::new(),
            asked: BTreeMap::new(),
            answers: BTreeMap::new(),
            unheard: BTreeMap::new(),
            confirmed: Vec::new(),
            revoked: Vec::new(),
            leaving: BTreeMap::new(),
            held: Vec::new(),
            doubts: VecDeque::new(),
            ticket: None,
            window: Window::connection(0),
            queue: Queue::new(config.queue),
            said: ControlSequence::default(),
            heard: ControlSequence::default(),
            capabilities: Capabilities::new(side, config.capabilities),
            schemas: Schemas::new(config.schemas, config.schema_policy),
            cache: Cache::new(config.cache),
            graph: Graph::new(config.graph),
            puts: Sent::new(config.puts),
            output: Output::default(),
            written: 0,
            events: Events::new(side),
            counters: Counters::default(),
            config,
        }
    }

    /// Which end it is.
    pub const fn side(&self) -> Side {
        self.side
    }

    /// Where it is in its life (C1).
    pub const fn state(&self) -> ConnectionState {
        self.hello.state()
    }

    /// What it may take.
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// What was agreed on for the whole connection, once it was (C6).
    pub const fn agreed(&self) -> Option<&super::hello::Answer> {
        self.hello.agreed()
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Connection")
            .field("side", &self.side)
            .field("snapshot", &self.snapshot())
            .finish_non_exhaustive()
    }
}
