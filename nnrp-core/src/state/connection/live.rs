//! What a session has on its connection.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::Config;
use super::counters::Work;
use crate::SessionFlagsAck;
use crate::state::budget::Budgets;
use crate::state::credit::{Partials, Window};
use crate::state::object::Objects;
use crate::state::operation::{self, Operations};
use crate::state::resume::{Handle, Keeper, Migration, Waterline};
use crate::state::session::Session;
use crate::state::trace::Traces;
use crate::state::{Refusal, Time};

/// The parts of one session, each the business of its module.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) operations: Operations,
    /// Its share of credit (W1).
    pub(super) window: Window,
    pub(super) partials: Partials,
    pub(super) budgets: Budgets,
    pub(super) traces: Traces,
    pub(super) objects: Objects,
    pub(super) migration: Migration,
    /// Server: outcomes that a resume may have to deliver again (R1).
    pub(super) keeper: Option<Keeper<Vec<u8>>>,
    /// Client: up to where everything was delivered (X1).
    pub(super) waterline: Option<Waterline>,
    /// The name of its resume token.
    pub(super) handle: Option<Handle>,
    /// The token, on the client.
    pub(super) token: Vec<u8>,
    /// Operations of which the server may not know, since their connection was lost: those that it does not mention
    /// before it answers this PING never reached it.
    pub(super) doubt: BTreeSet<u64>,
    pub(super) doubt_until: u64,
    /// Until that PONG also outcomes come that were delivered before.
    pub(super) resuming: bool,
    /// When something of it is due, as the connection's timers have it.
    pub(super) due: Option<Time>,
    pub(super) work: Work,
}

impl Live {
    pub(super) fn new(session: &Session, config: &Config, is_client: bool) -> Self {
        let terms = session.terms();
        let resumable = terms.flags.contains(SessionFlagsAck::RESUME_ENABLED) && terms.resume_window_ms != 0;
        let limits = operation::Limits { in_flight: terms.max_in_flight.into(), ..config.operations };
        Self {
            operations: Operations::new(limits),
            window: Window::session(terms.credit),
            partials: Partials::default(),
            budgets: Budgets::default(),
            traces: Traces::default(),
            objects: Objects::new(session.id(), config.objects),
            migration: Migration::default(),
            keeper: (resumable && !is_client).then(|| Keeper::new(config.outcomes, terms.resume_window_ms)),
            waterline: (resumable && is_client).then(Waterline::default),
            handle: None,
            token: Vec::new(),
            doubt: BTreeSet::new(),
            doubt_until: 0,
            resuming: false,
            due: None,
            work: Work::default(),
        }
    }
}

/// The refusal of a message for a session that is not there.
pub(super) const fn unknown(session_id: u32) -> Refusal {
    Refusal::state("C3", "there is no such session").about(session_id as u64)
}
