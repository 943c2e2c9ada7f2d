//! What a subscriber of `tracing` gets to see of a connection. Needs the feature `tracing`.

use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};

use nnrp_core::state::Side;
use nnrp_core::state::connection::Config;
use nnrp_core::state::connection::drain_within;
use nnrp_core::{SessionOpen, StageCode};
use nnrp_tests::pair::{Pair, result, submit};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Writes events down, one a line.
#[derive(Clone)]
struct Collector {
    level: Level,
    lines: Arc<Mutex<Vec<String>>>,
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let wrote = match field.name() {
            "message" => write!(self.0, "{value:?}:"),
            name => write!(self.0, " {name}={value:?}"),
        };
        wrote.expect("a string takes all");
    }
}

impl Subscriber for Collector {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "nnrp" && *metadata.level() <= self.level
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        unreachable!("there are no spans")
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        self.lines.lock().expect("no test has failed in it").push(format!(
            "{} {}",
            event.metadata().level(),
            line.0
        ));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// What is told, up to that level, while something happens.
fn told(level: Level, work: impl FnOnce()) -> Vec<String> {
    let collector = Collector { level, lines: Arc::default() };
    tracing::subscriber::with_default(collector.clone(), work);
    let lines = collector.lines.lock().expect("no test has failed in it");
    lines.clone()
}

/// A connection from hello to the end, with one operation that completes and one that is cancelled.
fn talk() {
    let mut pair = Pair::active();
    let open = SessionOpen { requested_session_id: 3, ..SessionOpen::default() };
    let session = pair.open(&open);
    for operation in [1, 2] {
        assert!(pair.submit(session, operation).expect("a good submit"));
    }
    pair.settle();
    pair.server.progress(session, 1, StageCode::EXECUTING, 5_000, pair.now).expect("a live operation");
    pair.server.send_packet(&result(session, 1), pair.now).expect("a live operation");
    pair.settle();
    pair.client.abort(session, 2, pair.now).expect("a live operation");
    pair.settle();
    pair.client.close_session(session, &drain_within(0), pair.now).expect("an open session");
    pair.settle();
    pair.server.accept_close(session, pair.now).expect("a request to close");
    pair.settle();
    pair.client.close(pair.now).expect("an active connection");
    pair.settle();
}

#[test]
fn sessions_and_connections_are_told_at_level_info() {
    insta::assert_snapshot!(told(Level::INFO, talk).join("\n"));
}

#[test]
fn operations_are_told_at_level_debug() {
    insta::assert_snapshot!(told(Level::DEBUG, talk).join("\n"));
}

#[test]
fn packets_are_told_at_level_trace() {
    let lines = told(Level::TRACE, || drop(Pair::active()));
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn refusals_name_their_rule() {
    let mut pair = Pair::active();
    let session = pair.open(&SessionOpen { requested_session_id: 3, ..SessionOpen::default() });
    let lines = told(Level::DEBUG, || {
        // A message that the client would not have sent.
        let bytes = submit(session, 1, 0);
        pair.server.handle_bytes(&bytes, pair.now);
        pair.server.handle_bytes(&bytes, pair.now);
        // And one that breaks a rule of its own: the operation has no id.
        let mut bytes = submit(session, 2, 0);
        bytes[80..88].fill(0);
        pair.server.handle_bytes(&bytes, pair.now);
    });
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn silence_is_told() {
    let mut pair = Pair::with(
        Config { silence_ms: 500, ping_ms: 0, ..Config::new(Side::Client) },
        Config { silence_ms: 0, ping_ms: 0, ..Config::new(Side::Server) },
    );
    pair.greet();
    let lines = told(Level::INFO, || pair.wait(500));
    assert_eq!(lines, ["INFO connection over: side=Client why=Silence"]);
}
