//! The composed connection: bytes in, bytes out, events, timeouts.
//!
//! [`Connection`] owns the role, the limits, the output and the timers. What the protocol says is in the modules beside
//! it: for each message the connection asks all that it concerns to check it, and only if all agree applies them. So a
//! message that is refused has touched nothing (C5), whichever end it comes from: what the application sends goes the
//! same way as what the peer sent, and both ends keep the same state of it.
//!
//! # The methods
//!
//! There is no socket, no clock and no thread in it; the example programs `serve` and `chat` bring these. Every method is
//! of one of four kinds:
//!
//! - **`handle_*`** takes what arrives. [`handle_bytes`](Connection::handle_bytes): bytes, however they are cut.
//!   [`handle_timeout`](Connection::handle_timeout): the time that [`poll_timeout`](Connection::poll_timeout) gave.
//!   [`handle_lost`](Connection::handle_lost): the loss of the transport, which keeps nothing;
//!   [`park`](Connection::park) on a server and [`take_sessions`](Connection::take_sessions) on a client keep what can be
//!   resumed (R1).
//! - **Verbs** say what the application wants. They write output and change both ends' state, or are refused and change
//!   nothing.
//!   - Of a client: [`probe`](Connection::probe), [`hello`](Connection::hello),
//!     [`open_session`](Connection::open_session), [`resume_session`](Connection::resume_session),
//!     [`take_refused`](Connection::take_refused), [`submit`](Connection::submit), [`withdraw`](Connection::withdraw),
//!     [`prioritize`](Connection::prioritize), [`prioritize_group`](Connection::prioritize_group).
//!   - Of a server: [`accept`](Connection::accept), [`answer_open`](Connection::answer_open),
//!     [`park_session`](Connection::park_session), [`progress`](Connection::progress),
//!     [`partial`](Connection::partial), [`result`](Connection::result).
//!   - Of both: [`cancel`](Connection::cancel), [`abort`](Connection::abort),
//!     [`drop_operation`](Connection::drop_operation), [`tell_trace`](Connection::tell_trace),
//!     [`offer`](Connection::offer),
//!     [`answer_offer`](Connection::answer_offer), [`install_schema`](Connection::install_schema),
//!     [`depend`](Connection::depend), [`hint`](Connection::hint), [`budgets`](Connection::budgets),
//!     [`ping`](Connection::ping), [`close_session`](Connection::close_session),
//!     [`accept_close`](Connection::accept_close), [`answer_close`](Connection::answer_close),
//!     [`close`](Connection::close), [`fail`](Connection::fail), and for every other message
//!     [`send`](Connection::send) and [`send_packet`](Connection::send_packet).
//! - **`poll_*`** gives what must go out. [`poll_event`](Connection::poll_event): the next event.
//!   [`poll_output`](Connection::poll_output): bytes for the transport, and
//!   [`consume_output`](Connection::consume_output) says how many it took. [`poll_timeout`](Connection::poll_timeout): when
//!   [`handle_timeout`](Connection::handle_timeout) is due.
//! - **Getters** look and change nothing: [`side`](Connection::side), [`config`](Connection::config),
//!   [`state`](Connection::state), [`is_over`](Connection::is_over), [`is_full`](Connection::is_full),
//!   [`agreed`](Connection::agreed), [`sessions`](Connection::sessions), [`operations`](Connection::operations),
//!   [`capabilities`](Connection::capabilities), [`cache`](Connection::cache), [`graph`](Connection::graph),
//!   [`schemas`](Connection::schemas), [`trace`](Connection::trace), [`migration`](Connection::migration),
//!   [`wants`](Connection::wants),
//!   [`snapshot`](Connection::snapshot), [`session_snapshot`](Connection::session_snapshot),
//!   [`operation_snapshot`](Connection::operation_snapshot).
//!
//! Whoever drives a connection goes round: `handle_*` what came, then poll events until there is none and answer them with
//! verbs, then write what [`poll_output`](Connection::poll_output) has, then wait for bytes or for
//! [`poll_timeout`](Connection::poll_timeout). Neither way waits for the other (C7). It ends with [`Event::Over`]; what
//! is left of the output may still be written.
//!
//! # The events
//!
//! In this order on a client:
//!
//! 1. [`Active`](Event::Active), or [`Rejected`](Event::Rejected) and [`Over`](Event::Over).
//! 2. For each [`open_session`](Connection::open_session), in their order, [`SessionOpened`](Event::SessionOpened) or
//!    [`SessionRefused`](Event::SessionRefused).
//! 3. For each operation that was submitted, either [`Unsent`](Event::Unsent), where it waited for credit and never went out,
//!    or any number of [`Updated`](Event::Updated) and then one [`Ended`](Event::Ended) (O5). What still comes for it is
//!    [`Late`](Event::Late).
//! 4. [`CloseRequested`](Event::CloseRequested), where the server closes the session, or
//!    [`SessionIdle`](Event::SessionIdle); then [`SessionClosed`](Event::SessionClosed), behind the end of each of its
//!    operations.
//! 5. [`Draining`](Event::Draining) where either end closes the connection, and [`Over`](Event::Over), once and last. Only
//!    of sessions that can still be resumed, as the peer fell silent or was asked for them and did not answer, do the ends
//!    come later, when they are given up.
//!
//! In this order on a server:
//!
//! 1. [`Hello`](Event::Hello), which [`accept`](Connection::accept) answers; then [`Active`](Event::Active).
//! 2. [`SessionRequested`](Event::SessionRequested), which [`answer_open`](Connection::answer_open) answers; then
//!    [`SessionOpened`](Event::SessionOpened) or [`SessionRefused`](Event::SessionRefused).
//! 3. [`Submitted`](Event::Submitted) for each operation that was admitted, perhaps [`CancelAsked`](Event::CancelAsked), and
//!    one [`Ended`](Event::Ended), also for what this end itself ends. [`Unconfirmed`](Event::Unconfirmed) may follow long
//!    after it.
//! 4. and 5. as on a client.
//!
//! On both, in between, as they happen: [`SessionPatched`](Event::SessionPatched), of the cache
//! [`Stored`](Event::Stored), [`Cached`](Event::Cached), [`Referenced`](Event::Referenced), [`Missed`](Event::Missed) and
//! [`Invalidated`](Event::Invalidated), of runtime objects [`Freed`](Event::Freed), [`Capability`](Event::Capability),
//! [`Error`](Event::Error) that the peer says, [`Refused`](Event::Refused) for each packet of the peer's that was not
//! taken, and [`Message`](Event::Message) for all others.
//!
//! # The rules
//!
//! A [`Refusal`](super::Refusal) and a fault name the rule that was broken. Its letter says what it is about, and
//! [the table](super::rules) what each number of these states:
//!
//! | letter | about |
//! | --- | --- |
//! | F | identity and framing: header, lengths, scopes |
//! | D | fields of the layouts |
//! | B | bodies and their parts |
//! | C | the connection: life, hello, errors |
//! | S | sessions |
//! | O | operations |
//! | W | flow control: credit and pressure |
//! | K | cache, leases, dependencies |
//! | G | the schema registry |
//! | R | resume, migration, probing |
//! | J | runtime objects |
//! | T | traces and what can be observed |
//! | U | budgets and capabilities |
//! | X | what travels in ranges that are open to experiments: waterline, parent and group, cancel scope, lease |
//!
//! # Local only
//!
//! What has no place on the wire and is a matter of this API:
//!
//! - Which version of a cache object is wanted ([`cache::Want`](crate::state::cache::Want)), the policy at the end of its
//!   last lease ([`Config::expiry`]), eviction ([`Config::cache`]) and hints ([`Connection::hint`]) (K2, K5, K6, K8).
//! - Subscription to the results of a group: [`Operations::group`](crate::state::operation::Operations::group) (O11).
//! - The dependencies of cache objects, results and runtime objects on one another ([`Connection::depend`]), but for
//!   schemas, whose dependencies travel by X5 (K4).
//! - What the caller's authentication makes of credentials, and the principal that a resume token is bound to (R2).
//! - The queue of submits that wait for credit, its order and its limit, and what moves in it
//!   ([`Connection::prioritize`]) (W1, O11, O13). What a server works on next it picks itself, by
//!   [`Operation::urgency`](crate::state::operation::Operation::urgency).
//! - Probes over several transports and their [ranking](crate::state::probe) (R4).
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
mod depend;
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
use super::table::Table;
use super::{Side, Time};
use crate::stream::Splitter;
use crate::{ConnectionState, Message, Packet};
use event::Events;
use live::Live;
use output::Output;
use pulse::Pulse;
use resume::{Answer, Asked};

/// One end of a connection. [Its module](self) sorts the methods and the events.
///
/// ```
/// use nnrp_core::build::{ResultBuilder, SubmitBuilder};
/// use nnrp_core::state::connection::{Config, Connection, Event, Over, Shelf, drain_within};
/// use nnrp_core::state::hello::{Abilities, Offer, Verdict};
/// use nnrp_core::state::session::{Policy, Verdicts};
/// use nnrp_core::state::{Side, Time};
/// use nnrp_core::{
///     CommonHeader, DescriptorFlags, FrameSubmit, Message, OperationState, ResultPush, SessionOpen, StageCode,
/// };
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
/// // The hello and its answer.
/// client.hello(&Offer::new(), b"credentials", now)?;
/// carry(&mut client, &mut server);
/// let Some(Event::Hello { offer, .. }) = server.poll_event() else { panic!("no hello") };
/// server.accept(&Abilities::default(), &offer, Verdict::Accept, 7, now)?;
/// assert_eq!(server.poll_event(), Some(Event::Active));
/// carry(&mut server, &mut client);
/// assert_eq!(client.poll_event(), Some(Event::Active));
///
/// // A session.
/// client.open_session(&SessionOpen::default(), b"", now)?;
/// carry(&mut client, &mut server);
/// let Some(Event::SessionRequested { ticket, .. }) = server.poll_event() else { panic!("no request") };
/// server.answer_open(ticket, &Policy::default(), Verdicts::default(), &mut Shelf::default(), now)?;
/// assert!(matches!(server.poll_event(), Some(Event::SessionOpened { .. })));
/// carry(&mut server, &mut client);
/// let Some(Event::SessionOpened { session_id, .. }) = client.poll_event() else { panic!("no session") };
///
/// // An operation: submit, progress, a part of the result, the result.
/// let header = CommonHeader { session_id, frame_id: 1, ..CommonHeader::default() };
/// let submit = SubmitBuilder::new(FrameSubmit { operation_id: 5, ..FrameSubmit::default() })
///     .token(DescriptorFlags::TERMINAL, b"Why is the sky blue?");
/// assert!(client.submit(&submit.to_vec(&header)?, now)?);
/// carry(&mut client, &mut server);
/// assert!(matches!(server.poll_event(), Some(Event::Submitted { operation_id: 5, .. })));
/// server.progress(session_id, 5, StageCode::EXECUTING, 0, now)?;
/// server.partial(session_id, 5, b"Because", now)?;
/// let rest = ResultBuilder::new(ResultPush::default()).token(DescriptorFlags::TERMINAL, b" of the air.");
/// server.result(session_id, 5, &rest, now)?;
/// assert!(matches!(server.poll_event(), Some(Event::Ended { .. })));
/// carry(&mut server, &mut client);
/// assert!(matches!(client.poll_event(), Some(Event::Updated { state: OperationState::Running, .. })));
/// let Some(Event::Updated { packet, .. }) = client.poll_event() else { panic!("no part") };
/// let Some(Message::PartialResult(_, body)) = packet.message() else { panic!("another message") };
/// assert_eq!(body.result_body, b"Because");
/// let Some(Event::Ended { outcome, .. }) = client.poll_event() else { panic!("no end") };
/// assert_eq!((outcome.operation, outcome.state), (5, OperationState::Completed));
///
/// // The end of the session, and that of the connection.
/// client.close_session(session_id, &drain_within(1_000), now)?;
/// carry(&mut client, &mut server);
/// assert!(matches!(server.poll_event(), Some(Event::CloseRequested { .. })));
/// server.accept_close(session_id, now)?;
/// assert_eq!(server.poll_event(), Some(Event::SessionClosed { session_id }));
/// carry(&mut server, &mut client);
/// assert!(matches!(client.poll_event(), Some(Event::Message { .. }))); // SESSION_CLOSE_ACK
/// assert_eq!(client.poll_event(), Some(Event::SessionClosed { session_id }));
/// client.close(now)?;
/// carry(&mut client, &mut server);
/// for end in [&mut client, &mut server] {
///     assert_eq!(end.poll_event(), Some(Event::Draining));
///     assert_eq!(end.poll_event(), Some(Event::Over(Over::Done)));
/// }
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
    lives: Table<Live>,
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
            lives: Table::new(),
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
