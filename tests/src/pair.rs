//! Two ends of a connection in memory, with a clock that only the test moves and a link that cuts as it likes.

use nnrp_core::build::{ResultBuilder, SubmitBuilder};
use nnrp_core::state::connection::{Config, Connection, Event, Shelf, Why};
use nnrp_core::state::hello::{Abilities, Offer, Verdict};
use nnrp_core::state::session::{Policy, Verdicts};
use nnrp_core::state::{Side, Time};
use nnrp_core::{CommonHeader, DescriptorFlags, FrameSubmit, OperationLinks, ResultPush, SessionOpen};

/// How a link delivers what is written to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// All at once.
    Whole,
    /// So many bytes at a time, each handled before the next.
    Pieces(usize),
}

/// A client and a server.
pub struct Pair {
    /// The end that submits.
    pub client: Connection,
    /// The end that answers.
    pub server: Connection,
    /// The server's sessions that can be resumed.
    pub shelf: Shelf,
    /// The time, for both.
    pub now: Time,
    /// How bytes are carried.
    pub link: Link,
    /// What the server can do.
    pub abilities: Abilities,
    /// What the server grants.
    pub policy: Policy,
    /// Events that nobody asked for yet, of the client and of the server.
    pub seen: [Vec<Event>; 2],
}

impl Default for Pair {
    fn default() -> Self {
        Self::with(Config::new(Side::Client), Config::new(Side::Server))
    }
}

/// Numbers that are different each time, and the same in each run.
pub fn source(seed: u64) -> impl FnMut() -> u64 + Send + 'static {
    let mut state = seed | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
}

impl Pair {
    /// Before the hello.
    pub fn with(client: Config, server: Config) -> Self {
        let now = Time(1_000);
        Self {
            client: Connection::new(Side::Client, client, source(1), now),
            server: Connection::new(Side::Server, server, source(2), now),
            shelf: Shelf::default(),
            now,
            link: Link::Whole,
            abilities: Abilities::default(),
            policy: Policy::default(),
            seen: [Vec::new(), Vec::new()],
        }
    }

    /// With the hello behind them.
    pub fn active() -> Self {
        let mut pair = Self::default();
        pair.greet();
        pair
    }

    /// Hello, and its answer.
    pub fn greet(&mut self) {
        self.client.hello(&Offer::new(), b"", self.now).expect("a good hello");
        self.settle();
        assert!(self.client.agreed().is_some() && self.server.agreed().is_some(), "{:?}", self.seen);
    }

    /// Carries what waits at both ends. Says whether there was anything.
    pub fn carry(&mut self) -> bool {
        let there = carry(&mut self.client, &mut self.server, self.link, self.now);
        let back = carry(&mut self.server, &mut self.client, self.link, self.now);
        there || back
    }

    /// Carries everything to its end. The server greets and opens by itself, as its policy says.
    pub fn settle(&mut self) {
        loop {
            let carried = self.carry();
            while let Some(event) = self.client.poll_event() {
                self.seen[0].push(event);
            }
            let mut said = false;
            while let Some(event) = self.server.poll_event() {
                match &event {
                    Event::Hello { offer, .. } => {
                        let abilities = self.abilities;
                        // What it refuses the client learns.
                        let _ = self.server.accept(&abilities, offer, Verdict::Accept, 7, self.now);
                        said = true;
                    }
                    Event::SessionRequested { ticket, .. } => {
                        let verdicts = Verdicts::default();
                        self.server
                            .answer_open(*ticket, &self.policy, verdicts, &mut self.shelf, self.now)
                            .expect("a request that waits");
                        said = true;
                    }
                    _ => {}
                }
                self.seen[1].push(event);
            }
            if !carried && !said {
                return;
            }
        }
    }

    /// The events of the client so far, once.
    pub fn client_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.seen[0])
    }

    /// The events of the server so far, once.
    pub fn server_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.seen[1])
    }

    /// Time passes, and what is due is done at both ends.
    pub fn wait(&mut self, ms: u64) {
        self.now = self.now.after(ms);
        self.client.handle_timeout(self.now);
        self.server.handle_timeout(self.now);
        self.settle();
    }

    /// A live session as it was asked for.
    pub fn open(&mut self, open: &SessionOpen) -> u32 {
        self.client.open_session(open, b"", self.now).expect("a good request");
        self.settle();
        let opened = self.client_events().into_iter().find_map(|event| match event {
            Event::SessionOpened { session_id, .. } => Some(session_id),
            _ => None,
        });
        self.server_events();
        opened.expect("an opened session")
    }

    /// Sends a submit.
    pub fn submit(&mut self, session_id: u32, operation_id: u64) -> Result<bool, Why> {
        self.client.submit(&submit(session_id, operation_id, 0), self.now)
    }
}

/// Carries what waits at one end to the other.
pub fn carry(from: &mut Connection, to: &mut Connection, link: Link, now: Time) -> bool {
    let mut any = false;
    loop {
        let bytes = from.poll_output();
        let size = match link {
            Link::Whole => bytes.len(),
            Link::Pieces(size) => size.min(bytes.len()),
        };
        let taken = to.handle_bytes(&bytes[..size], now);
        from.consume_output(taken);
        any |= taken > 0;
        if taken == 0 {
            return any;
        }
    }
}

/// The frame of an operation in these tests.
pub const fn frame(operation_id: u64) -> u32 {
    operation_id as u32
}

/// FRAME_SUBMIT of an operation below another, with a few words.
pub fn submit(session_id: u32, operation_id: u64, parent_operation_id: u64) -> Vec<u8> {
    let header = CommonHeader { session_id, frame_id: frame(operation_id), ..CommonHeader::default() };
    let mut builder = SubmitBuilder::new(FrameSubmit { operation_id, ..FrameSubmit::default() })
        .token(DescriptorFlags::TERMINAL, b"Why is the sky blue?");
    if parent_operation_id != 0 {
        builder = builder.links(OperationLinks { parent_operation_id, ..OperationLinks::default() });
    }
    builder.to_vec(&header).expect("a good submit")
}

/// RESULT_PUSH of an operation, with a few words.
pub fn result(session_id: u32, operation_id: u64) -> Vec<u8> {
    let header = CommonHeader { session_id, frame_id: frame(operation_id), ..CommonHeader::default() };
    let push = ResultPush::default();
    ResultBuilder::new(push)
        .token(DescriptorFlags::TERMINAL, b"Because of Rayleigh scattering.")
        .to_vec(&header)
        .expect("a good result")
}
