//! A server that answers questions word by word, for any number of clients, each in a thread of its own.
//!
//! `cargo run --release --example serve -- 127.0.0.1:7410`, or `unix:/tmp/nnrp.sock`; then `chat` with the same address.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{io, process, thread};

use nnrp_core::build::ResultBuilder;
use nnrp_core::state::connection::{Config, Connection, Event, Received, Shelf, Why};
use nnrp_core::state::hello::{Abilities, Verdict};
use nnrp_core::state::session::{Policy, Verdicts};
use nnrp_core::state::{Side, Time};
use nnrp_core::{DescriptorFlags, DropReasonCode, Message, ProfileId, ResultPush, StageCode};

#[allow(dead_code)] // it only listens
mod socket;
use socket::{Line, Listener, now, random};

/// Time between two words.
const PACE_MS: u64 = 20;
/// So long a connection has to give a session up that is wanted on another.
const WANTED_MS: u64 = 5_000;

const USAGE: &str = "\
A server that answers questions word by word

Usage: serve [ADDRESS]

  ADDRESS  HOST:PORT or unix:PATH; 127.0.0.1:7410 without

Ask it with `chat`. It runs until it is ended.";

fn main() {
    let (address, more) = socket::arguments(USAGE);
    if let Some(more) = more.first() {
        eprintln!("error: `{more}` is one argument too many\n\n{USAGE}");
        process::exit(2);
    }
    if let Err(error) = serve(&address) {
        eprintln!("error: {address}: {error}");
        process::exit(1);
    }
}

fn serve(address: &str) -> io::Result<()> {
    let listener = Listener::bind(address)?;
    println!("listening on {}", listener.address()?);
    let office = Arc::new(Office::default());
    let cleaner = Arc::clone(&office);
    thread::spawn(move || cleaner.clean());
    for number in 1u64.. {
        match listener.accept() {
            Ok(line) => {
                let office = Arc::clone(&office);
                thread::spawn(move || Client::new(number, line, office).serve());
            }
            Err(error) => {
                // Such as no more files: others leave some time.
                eprintln!("a client could not come in: {error}");
                thread::sleep(Duration::from_millis(100));
            }
        }
    }
    Ok(())
}

/// What outlives a connection: sessions whose client may come back, and the work in them.
#[derive(Default)]
struct Office {
    kept: Mutex<Kept>,
    /// Tells clients apart. A real server asks its authentication.
    names: RandomState,
}

#[derive(Default)]
struct Kept {
    shelf: Shelf,
    /// By principal, session and operation.
    jobs: BTreeMap<(u64, u32, u64), Job>,
    /// Sessions by principal whose client came back on another connection, before this end knew that the first one is
    /// dead. And since when.
    wanted: BTreeMap<(u64, u32), Time>,
}

impl Office {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets sessions whose client did not come back in time.
    fn clean(&self) {
        loop {
            thread::sleep(Duration::from_secs(1));
            let mut kept = self.kept();
            while let Some((bound, _)) = kept.shelf.handle_timeout(now()) {
                kept.take(bound.principal, bound.session_id).for_each(drop);
            }
            // Nobody had it, or it was given up.
            kept.wanted.retain(|_, since| now() < since.after(WANTED_MS));
        }
    }
}

impl Kept {
    /// The work of a session.
    fn take(&mut self, principal: u64, session: u32) -> impl Iterator<Item = ((u32, u64), Job)> {
        let mut behind = self.jobs.split_off(&(principal, session, 0));
        self.jobs.append(&mut behind.split_off(&(principal, session, u64::MAX)));
        behind.into_iter().map(|((_, session, operation), job)| ((session, operation), job))
    }

    fn keep(&mut self, principal: u64, jobs: impl IntoIterator<Item = ((u32, u64), Job)>) {
        let named = |((session, operation), job)| ((principal, session, operation), job);
        self.jobs.extend(jobs.into_iter().map(named));
    }
}

/// One connection and the work that came over it.
struct Client {
    number: u64,
    line: Line,
    connection: Connection,
    office: Arc<Office>,
    principal: u64,
    /// By session and operation.
    jobs: BTreeMap<(u32, u64), Job>,
}

impl Client {
    fn new(number: u64, line: Line, office: Arc<Office>) -> Self {
        let connection = Connection::new(Side::Server, Config::new(Side::Server), random, now());
        Self { number, line, connection, office, principal: 0, jobs: BTreeMap::new() }
    }

    fn serve(mut self) {
        let mut lost = None;
        while !self.connection.is_over() && lost.is_none() {
            let next = self.jobs.values().map(|job| job.due).min();
            lost = self.line.turn(&mut self.connection, next).err();
            self.handle_events();
            self.work();
            self.give_away();
        }
        if lost.is_none() {
            // Who does not listen to the last words has said his own.
            lost = self.line.finish(&mut self.connection).err();
        }
        self.leave(lost);
    }

    fn say(&self, what: &str) {
        println!("client {}: {what}", self.number);
    }

    fn handle_events(&mut self) {
        while let Some(event) = self.connection.poll_event() {
            if let Err(why) = self.handle(event) {
                // Whatever the event asked for is over by now; the connection has told the client what is wrong.
                self.say(&why.to_string());
            }
        }
    }

    fn handle(&mut self, event: Event) -> Result<(), Why> {
        let now = now();
        match event {
            Event::Hello { offer, packet } => {
                let Some(Message::ClientHello(_, body)) = packet.message() else { return Ok(()) };
                self.principal = self.office.names.hash_one(body.auth);
                self.say(&format!("hello from {:?}", String::from_utf8_lossy(body.auth)));
                self.connection.accept(
                    &Abilities::default(),
                    &offer,
                    Verdict::Accept,
                    self.principal,
                    now,
                )?;
            }
            Event::SessionRequested { ticket, .. } => {
                let kept = &mut *self.office.kept();
                if let Some(session) = self.connection.wants(ticket, &kept.shelf, now) {
                    kept.wanted.insert((self.principal, session), now);
                }
                let (policy, verdicts) = (Policy::default(), Verdicts::default());
                self.connection.answer_open(ticket, &policy, verdicts, &mut kept.shelf, now)?;
            }
            Event::SessionOpened { session_id, resumed: true, .. } => {
                // The work goes on where it was.
                let kept = &mut *self.office.kept();
                kept.wanted.remove(&(self.principal, session_id));
                self.jobs.extend(kept.take(self.principal, session_id));
                self.say("is back");
            }
            Event::Submitted { session_id, operation_id, packet, .. } => {
                let question = question(&packet);
                self.say(&format!("{question:?}"));
                self.jobs.insert((session_id, operation_id), Job::new(&question, now));
            }
            Event::CancelAsked { session_id, operation_id } => {
                let reason = DropReasonCode::PEER_CANCELLED;
                self.connection.drop_operation(session_id, operation_id, reason, now)?;
            }
            Event::Ended { session_id, outcome, .. } => {
                self.jobs.remove(&(session_id, outcome.operation));
            }
            Event::CloseRequested { session_id, .. } => self.connection.accept_close(session_id, now)?,
            // The rest is of no concern here, or was answered by the connection.
            _ => {}
        }
        Ok(())
    }

    /// Says the words that are due.
    fn work(&mut self) {
        let Self { connection, jobs, .. } = self;
        jobs.retain(|&(session, operation), job| {
            // An error ends the job: the operation is gone.
            job.due > now() || job.go_on(connection, session, operation).unwrap_or(false)
        });
    }

    /// Gives up sessions that are wanted on another connection.
    fn give_away(&mut self) {
        let kept = &mut *self.office.kept();
        let ours = (self.principal, 0)..=(self.principal, u32::MAX);
        let wanted: Vec<u32> = kept.wanted.range(ours).map(|((_, session), _)| *session).collect();
        for session in wanted {
            if self.connection.park_session(session, &mut kept.shelf, now()) {
                kept.wanted.remove(&(self.principal, session));
                let mut jobs = self.jobs.split_off(&(session, 0));
                self.jobs.append(&mut jobs.split_off(&(session, u64::MAX)));
                kept.keep(self.principal, jobs);
            }
        }
    }

    /// The connection is at its end. Sessions that can be resumed wait for their client, and their work with them.
    fn leave(mut self, lost: Option<io::Error>) {
        let kept = &mut *self.office.kept();
        self.connection.park(&mut kept.shelf, now());
        // What ended now is no work any more.
        while let Some(event) = self.connection.poll_event() {
            if let Event::Ended { session_id, outcome, .. } = event {
                self.jobs.remove(&(session_id, outcome.operation));
            }
        }
        match lost {
            Some(error) => self.say(&format!("lost ({error}), answers that wait: {}", self.jobs.len())),
            None => self.say("gone"),
        }
        kept.keep(self.principal, std::mem::take(&mut self.jobs));
    }
}

/// The text of a submit.
fn question(packet: &Received) -> String {
    let Some(Message::FrameSubmit(_, body)) = packet.message() else { return String::new() };
    let payloads = body.regions.iter().flat_map(|regions| regions.payload_frames_sliced());
    payloads.map(|(_, bytes)| String::from_utf8_lossy(bytes)).collect()
}

/// An answer in the making. In a real server this is where the model runs.
struct Job {
    answer: String,
    /// Bytes of it that were said.
    said: usize,
    since: Time,
    due: Time,
}

impl Job {
    fn new(question: &str, now: Time) -> Self {
        Self { answer: answer(question), said: 0, since: now, due: now }
    }

    /// Says the next word, or all of it once more as the result. Gives whether there is more to say.
    fn go_on(&mut self, connection: &mut Connection, session: u32, operation: u64) -> Result<bool, Why> {
        let now = now();
        let percent = |said: usize| (100 * said / self.answer.len()) as u16;
        if self.said == 0 {
            connection.progress(session, operation, StageCode::EXECUTING, 0, now)?;
        }
        let (_, rest) = self.answer.split_at(self.said);
        // A word has the space before it.
        let end =
            rest.char_indices().skip(1).find(|(_, letter)| *letter == ' ').map_or(rest.len(), |(at, _)| at);
        let word = &rest[..end];
        if word.is_empty() {
            let total = u16::try_from(now.since(self.since)).unwrap_or(u16::MAX);
            let push = ResultPush {
                active_profile_id: ProfileId::TOKEN,
                server_total_ms: total,
                ..ResultPush::default()
            };
            let result = ResultBuilder::new(push).token(DescriptorFlags::TERMINAL, self.answer.as_bytes());
            connection.result(session, operation, &result, now)?;
            return Ok(false);
        }
        match connection.partial(session, operation, word.as_bytes(), now) {
            // The client wants no more for now.
            Err(Why::Blocked(_)) => {}
            Err(why) => return Err(why),
            Ok(()) => {
                let before = percent(self.said);
                self.said += word.len();
                let after = percent(self.said);
                if before / 25 < after / 25 {
                    connection.progress(
                        session,
                        operation,
                        StageCode::PRODUCING_PARTIAL,
                        after * 100,
                        now,
                    )?;
                }
            }
        }
        self.due = now.after(PACE_MS);
        Ok(true)
    }
}

fn answer(question: &str) -> String {
    let count = question.strip_prefix("Count to ").and_then(|rest| rest.trim_end_matches('.').parse().ok());
    match (question, count) {
        (_, Some(count)) => {
            (1..=u16::min(count, 10_000)).map(|n| n.to_string()).collect::<Vec<_>>().join(" ")
        }
        ("Why is the sky blue?", _) => "Air scatters blue light more than red light.".into(),
        ("Which planets are there?", _) => {
            "Mercury, Venus, Earth, Mars, Jupiter, Saturn, Uranus and Neptune.".into()
        }
        _ => "That I do not know.".into(),
    }
}
