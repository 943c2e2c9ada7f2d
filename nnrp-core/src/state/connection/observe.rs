//! Events of the `tracing` crate, with the feature `tracing`. Without it everything here is empty and costs nothing.
//!
//! All have the target `nnrp` and the field `side`; where they apply, `session`, `operation`, `frame`, `kind`,
//! `rule` and `code`, under the same names everywhere (T2).

use super::event::{Event, Why};
use crate::state::Side;
use crate::{CommonHeader, CommonHeaderView, OperationState, SessionState};

#[cfg(feature = "tracing")]
macro_rules! event {
    ($level:ident, $side:expr, $what:literal $(, $name:ident = $value:expr)*) => {
        tracing::event!(
            target: "nnrp", tracing::Level::$level, side = ?$side, $($name = tracing::field::display($value),)* $what
        )
    };
}

#[cfg(not(feature = "tracing"))]
macro_rules! event {
    ($level:ident, $side:expr, $what:literal $(, $name:ident = $value:expr)*) => {{
        let _ = $side;
        $(let _ = &$value;)*
    }};
}

/// A packet that came and is whole. At level trace, as the next one.
pub(super) fn packet_in(side: Side, header: &CommonHeader, size: usize) {
    event!(
        TRACE,
        side,
        "packet in",
        kind = header.msg_type,
        session = header.session_id,
        frame = header.frame_id,
        bytes = size
    );
}

/// A packet that waits to be sent.
pub(super) fn packet_out(side: Side, packet: &[u8]) {
    let Some(header) = packet.first_chunk() else { return };
    let header = CommonHeaderView(header);
    event!(
        TRACE,
        side,
        "packet out",
        kind = header.msg_type(),
        session = header.session_id(),
        frame = header.frame_id(),
        bytes = packet.len()
    );
}

/// A session has something that is due. At level trace.
pub(super) fn due(side: Side, session: u32) {
    event!(TRACE, side, "session timeout", session = session);
}

/// An operation was admitted. At level debug, as the next two.
pub(super) fn submitted(side: Side, session: u32, operation: u64, frame: u32) {
    event!(DEBUG, side, "operation submitted", session = session, operation = operation, frame = frame);
}

/// Something happened to an operation, which is in that state now.
pub(super) fn updated(side: Side, session: u32, operation: u64, state: OperationState) {
    event!(DEBUG, side, "operation updated", session = session, operation = operation, state = state);
}

/// A session is on its way to its end.
pub(super) fn session(side: Side, session: u32, state: SessionState) {
    event!(DEBUG, side, "session closing", session = session, state = state);
}

/// What the application gets to know. Connections and sessions that come and go are told at level info, the rest at
/// debug.
pub(super) fn happened(side: Side, event: &Event) {
    match event {
        Event::Active => event!(INFO, side, "connection active"),
        Event::Rejected { status, .. } => event!(INFO, side, "connection rejected", status = status),
        Event::Draining => event!(INFO, side, "connection draining"),
        Event::Over(why) => event!(INFO, side, "connection over", why = Name(why)),
        Event::SessionOpened { session_id, resumed, .. } => {
            event!(INFO, side, "session open", session = session_id, resumed = resumed);
        }
        Event::SessionRefused { code, .. } => event!(INFO, side, "session refused", code = code),
        Event::SessionIdle { session_id } => event!(INFO, side, "session idle", session = session_id),
        Event::SessionClosed { session_id } => event!(INFO, side, "session closed", session = session_id),
        Event::Ended { session_id, outcome, .. } => event!(
            DEBUG,
            side,
            "operation ended",
            session = session_id,
            operation = outcome.operation,
            frame = outcome.frame,
            state = outcome.state,
            cause = Name(&outcome.cause)
        ),
        Event::CancelAsked { session_id, operation_id } => {
            event!(DEBUG, side, "cancel asked", session = session_id, operation = operation_id);
        }
        Event::Unsent { session_id, operation_id, .. } => {
            event!(DEBUG, side, "submit withdrawn", session = session_id, operation = operation_id);
        }
        Event::Late { session_id, .. } => event!(DEBUG, side, "message too late", session = session_id),
        Event::Missed { session_id, code } => {
            event!(DEBUG, side, "cache miss", session = session_id, code = code);
        }
        Event::Refused { header, why } => event!(
            DEBUG,
            side,
            "packet refused",
            kind = header.msg_type,
            session = header.session_id,
            frame = header.frame_id,
            code = why.code(),
            rule = rule(why),
            why = why
        ),
        // They are seen as packets, or where they happen.
        _ => {}
    }
}

/// The rule that stands against a packet; nothing where a field alone is wrong.
fn rule(why: &Why) -> &'static str {
    match why {
        Why::Fault(fault) => fault.rule().unwrap_or_default(),
        Why::Refusal(refusal) => refusal.rule,
        Why::Cache(..) => "K3",
        Why::Blocked(_) => "W1",
    }
}

/// Shows what is only there for debugging.
struct Name<'a, T>(&'a T);

impl<T: core::fmt::Debug> core::fmt::Display for Name<'_, T> {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.0.fmt(out)
    }
}
