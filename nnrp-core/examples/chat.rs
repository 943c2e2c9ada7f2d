//! A client that asks the server `serve`: questions in two sessions at once, answers printed as they come.
//!
//! `cargo run --release --example chat -- 127.0.0.1:7410`, or `unix:/tmp/nnrp.sock`. Questions of your own go behind the
//! address.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, Write};
use std::time::Duration;
use std::{process, thread};

use nnrp_core::build::SubmitBuilder;
use nnrp_core::state::connection::{Config, Connection, Event, Received, drain_within};
use nnrp_core::state::hello::Offer;
use nnrp_core::state::{Side, session::Ticket};
use nnrp_core::{
    CommonHeader, DescriptorFlags, FrameSubmit, Message, OperationState, ProfileId, SessionFlags,
    SessionOpen, SessionPriorityClass,
};

#[allow(dead_code)] // it never listens
mod socket;
use socket::{Line, now, random};

/// How often a lost connection is tried again, and how long between.
const TRIES: u32 = 50;
const PAUSE: Duration = Duration::from_millis(100);

const USAGE: &str = "\
A client that asks the server `serve`, in two sessions at once

Usage: chat [ADDRESS [QUESTION]...]

  ADDRESS   HOST:PORT or unix:PATH; 127.0.0.1:7410 without
  QUESTION  Asked one after another; without any, four that the server can answer

Example:
  chat 127.0.0.1:7410 'Count to 7.' 'Why is the sky blue?'";

fn main() {
    let (address, questions) = socket::arguments(USAGE);
    if let Err(error) = talk(address, &questions) {
        eprintln!("error: {error}");
        process::exit(1);
    }
}

fn talk(address: String, questions: &[String]) -> Result<(), Box<dyn Error>> {
    let mut chat = Chat::connect(address)?;
    let front = chat.open(SessionPriorityClass::Interactive)?;
    let back = chat.open(SessionPriorityClass::Background)?;

    if questions.is_empty() {
        // Two that have time, and are answered beside the others.
        let slow = [chat.ask(back, "Which planets are there?")?, chat.ask(back, "Count to 12.")?];
        // One whose words are printed as they come, and one that is too long for us.
        let sky = chat.ask(front, "Why is the sky blue?")?;
        chat.watch(sky, None)?;
        let numbers = chat.ask(front, "Count to 1000.")?;
        chat.watch(numbers, Some(5))?;
        for operation in slow {
            chat.watch(operation, None)?;
        }
    }
    for question in questions {
        let operation = chat.ask(front, question)?;
        chat.watch(operation, None)?;
    }

    chat.close(front)?;
    chat.close(back)?;
    chat.hang_up()
}

/// A connection, and what is known of the operations on it.
struct Chat {
    address: String,
    line: Line,
    connection: Connection,
    /// Sessions that were opened, by their request.
    opened: BTreeMap<Ticket, u32>,
    closed: Vec<u32>,
    /// By operation. Their ids are never used twice on this connection, in neither session.
    answers: BTreeMap<u64, Answer>,
}

/// One operation.
#[derive(Default)]
struct Answer {
    session: u32,
    question: String,
    /// What is known of the text, without gaps.
    text: String,
    /// The number of the last part in it.
    part: u64,
    /// Parts that are wanted; `None` for all.
    limit: Option<u64>,
    cancelled: bool,
    /// What was not printed yet.
    news: String,
    state: OperationState,
    done: bool,
}

impl Chat {
    fn connect(address: String) -> Result<Self, Box<dyn Error>> {
        let (line, connection) = dial(&address, 0)?;
        let (opened, closed, answers) = Default::default();
        Ok(Self { address, line, connection, opened, closed, answers })
    }

    /// Opens a session, and waits for it.
    fn open(&mut self, priority_class: SessionPriorityClass) -> Result<u32, Box<dyn Error>> {
        let open = SessionOpen {
            priority_class,
            profile_id: ProfileId::TOKEN,
            session_flags: SessionFlags::ALLOW_RESUME,
            ..SessionOpen::default()
        };
        let ticket = self.connection.open_session(&open, b"", now())?;
        loop {
            if let Some(&session) = self.opened.get(&ticket) {
                println!("{priority_class} session is open");
                return Ok(session);
            }
            self.step()?;
        }
    }

    /// Submits a question. Where it has to wait for credit it goes out by itself later.
    fn ask(&mut self, session: u32, question: &str) -> Result<u64, Box<dyn Error>> {
        let operation_id = self.answers.len() as u64 + 1;
        let header = CommonHeader {
            session_id: session,
            // Any number that is not in use, it says nothing of the operation.
            frame_id: 100 + operation_id as u32,
            ..CommonHeader::default()
        };
        let submit = SubmitBuilder::new(FrameSubmit { operation_id, ..FrameSubmit::default() })
            .token(DescriptorFlags::TERMINAL, question.as_bytes())
            .to_vec(&header)?;
        self.connection.submit(&submit, now())?;
        let question = question.into();
        self.answers.insert(operation_id, Answer { session, question, ..Answer::default() });
        Ok(operation_id)
    }

    /// Prints an answer as it comes, and cancels it after so many words.
    fn watch(&mut self, operation: u64, limit: Option<u64>) -> Result<(), Box<dyn Error>> {
        let answer = self.answers.get_mut(&operation).ok_or("an operation that was never asked for")?;
        println!("\n> {}", answer.question);
        answer.limit = limit;
        loop {
            let Some(answer) = self.answers.get_mut(&operation) else { return Ok(()) };
            print!("{}", std::mem::take(&mut answer.news));
            io::stdout().flush()?;
            if answer.done {
                println!("\n({})", answer.state);
                return Ok(());
            }
            if limit.is_some_and(|limit| answer.part >= limit) && !answer.cancelled {
                answer.cancelled = true;
                self.connection.cancel(answer.session, operation, now())?;
            }
            self.step()?;
        }
    }

    /// Closes a session, and waits until it is.
    fn close(&mut self, session: u32) -> Result<(), Box<dyn Error>> {
        self.connection.close_session(session, &drain_within(1_000), now())?;
        while !self.closed.contains(&session) {
            self.step()?;
        }
        Ok(())
    }

    /// Closes the connection.
    fn hang_up(mut self) -> Result<(), Box<dyn Error>> {
        self.connection.close(now())?;
        while !self.connection.is_over() {
            self.step()?;
        }
        self.line.finish(&mut self.connection)?;
        println!("\nclosed");
        Ok(())
    }

    /// One turn of the driver, and all that came of it.
    fn step(&mut self) -> Result<(), Box<dyn Error>> {
        if let Err(error) = self.line.turn(&mut self.connection, None) {
            return self.come_back(&error);
        }
        self.handle_events()
    }

    /// The transport is gone: on another one, the sessions go on where they were.
    fn come_back(&mut self, error: &io::Error) -> Result<(), Box<dyn Error>> {
        eprintln!("\nlost the connection ({error})");
        self.handle_events()?;
        let sessions = self.connection.take_sessions(now());
        self.handle_events()?;
        (self.line, self.connection) = dial(&self.address, TRIES)?;
        for session in sessions {
            self.connection.resume_session(session, b"", now()).map_err(|(why, _)| why)?;
        }
        // The request may have been lost.
        self.answers.values_mut().for_each(|answer| answer.cancelled = false);
        Ok(())
    }

    fn handle_events(&mut self) -> Result<(), Box<dyn Error>> {
        while let Some(event) = self.connection.poll_event() {
            self.handle(event)?;
        }
        Ok(())
    }

    fn handle(&mut self, event: Event) -> Result<(), Box<dyn Error>> {
        match event {
            Event::SessionOpened { ticket, session_id, .. } => {
                self.opened.insert(ticket, session_id);
            }
            Event::SessionRefused { ticket, code, retry } => {
                // The server still has the session on the connection that was lost.
                let again = if retry { self.connection.take_refused(ticket) } else { None };
                let session = again.ok_or_else(|| format!("no session: {code}"))?;
                thread::sleep(PAUSE);
                self.connection.resume_session(session, b"", now()).map_err(|(why, _)| why)?;
            }
            Event::SessionClosed { session_id } => self.closed.push(session_id),
            Event::Updated { operation_id, packet, .. } => {
                if let Some(answer) = self.answers.get_mut(&operation_id) {
                    answer.update(&packet);
                }
            }
            Event::Ended { outcome, packet, .. } => {
                if let Some(answer) = self.answers.get_mut(&outcome.operation) {
                    answer.end(outcome.state, packet.as_ref());
                }
            }
            Event::Unsent { refusal: Some(refusal), .. } => return Err(refusal.into()),
            Event::Refused { why, .. } => eprintln!("\nthe server sent what is wrong: {why}"),
            Event::Error { packet } => eprintln!("\nthe server complains: {:?}", packet.message()),
            _ => {}
        }
        Ok(())
    }
}

impl Answer {
    fn update(&mut self, packet: &Received) {
        match packet.message() {
            _ if self.limit.is_some_and(|limit| self.part >= limit) => {}
            Some(Message::Progress(progress, _)) => match progress.percent_x100 {
                0 => self.news += &format!("[{}] ", progress.stage_code),
                0xffff => {} // not known
                percent => self.news += &format!(" [{} %]", percent / 100),
            },
            // A part may have been lost with its connection. Then the result has it, and all behind it.
            Some(Message::PartialResult(partial, body)) if partial.result_sequence == self.part + 1 => {
                self.part = partial.result_sequence;
                self.add(&String::from_utf8_lossy(body.result_body));
            }
            _ => {}
        }
    }

    fn end(&mut self, state: OperationState, packet: Option<&Received>) {
        (self.state, self.done) = (state, true);
        let Some(Message::ResultPush(_, body)) = packet.and_then(Received::message) else { return };
        let payloads = body.regions.iter().flat_map(|regions| regions.payload_frames_sliced());
        let whole: String = payloads.map(|(_, bytes)| String::from_utf8_lossy(bytes)).collect();
        if let Some(rest) = whole.strip_prefix(&self.text) {
            self.add(rest);
        }
    }

    fn add(&mut self, words: &str) {
        self.text += words;
        self.news += words;
    }
}

/// A connection that is ready for sessions. Where there is none, tries again so many times.
fn dial(address: &str, mut tries: u32) -> Result<(Line, Connection), Box<dyn Error>> {
    loop {
        match greet(address) {
            Err(error) if tries > 0 && error.is::<io::Error>() => thread::sleep(PAUSE),
            result => return result.map_err(|error| format!("{address}: {error}").into()),
        }
        tries -= 1;
    }
}

fn greet(address: &str) -> Result<(Line, Connection), Box<dyn Error>> {
    let mut line = Line::connect(address)?;
    let mut connection = Connection::new(Side::Client, Config::new(Side::Client), random, now());
    let name = format!("chat {}", process::id());
    connection.hello(&Offer::new(), name.as_bytes(), now())?;
    loop {
        line.turn(&mut connection, None)?;
        while let Some(event) = connection.poll_event() {
            match event {
                Event::Active => return Ok((line, connection)),
                Event::Rejected { status, .. } => {
                    return Err(format!("the server refuses, with status {status}").into());
                }
                Event::Over(why) => return Err(format!("no connection: {why:?}").into()),
                _ => {}
            }
        }
    }
}
