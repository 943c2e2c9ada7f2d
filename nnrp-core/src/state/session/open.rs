//! Opening: requests, what a server makes of them, and the answers in order (C3, C8, S2, S8, S9).

use super::{Carried, Session, Sessions, Terms};
use crate::state::{Refusal, Side, Source, Time};
use crate::{
    SessionErrorCode, SessionFlags, SessionFlagsAck, SessionOpen, SessionOpenAck, SessionPriorityClass,
    SessionState, SessionStatus,
};

/// The number of a request to open a session, in the order of the requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub(super) u64);

/// A request that is not answered yet: a session that is opening.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) open: SessionOpen,
    pub(super) resume: bool,
    pub(super) answer: Option<SessionOpenAck>,
    /// The connection ended before the answer came; whatever it says, there is no session.
    pub(super) void: bool,
}

/// A request that may be sent or taken.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct OpenPlan {
    open: SessionOpen,
    resume: bool,
}

/// An answer that was found and may be given.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct AnswerPlan {
    ticket: Ticket,
    ack: SessionOpenAck,
}

impl AnswerPlan {
    /// The answer, so that a token can be issued for its session.
    pub const fn ack(&self) -> &SessionOpenAck {
        &self.ack
    }
}

/// An answer that may be taken.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct OpenAckPlan(SessionOpenAck);

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opened {
    /// A session is live. Its state says whether it is new; a code that is not none tells of a downgrade or of
    /// something about the resume (S8).
    Live {
        /// The session.
        session_id: u32,
        /// What the answer remarks.
        remark: SessionErrorCode,
    },
    /// There is no session. A code of none: the connection ended before the answer came.
    Refused {
        /// Why.
        code: SessionErrorCode,
        /// Whether the client may ask again.
        retry: bool,
    },
}

/// What a server grants and what it insists on.
///
/// ```
/// use nnrp_core::{SessionFlags, SessionFlagsAck, SessionOpen, SessionPriorityClass};
/// use nnrp_core::state::{Side, session::{Limits, Policy, Sessions, Verdicts}};
///
/// let mut server = Sessions::new(Side::Server, Limits::default());
/// let policy = Policy {
///     highest: SessionPriorityClass::Balanced,
///     flags: SessionFlags::ALLOW_RESUME,
///     ..Policy::default()
/// };
/// let open = SessionOpen { session_flags: SessionFlags::all(), ..SessionOpen::default() };
/// let ticket = server.apply_open(server.check_open(&open, false)?);
/// let answer = server.check_answer(ticket, &policy, &Verdicts::default(), &mut || 7)?;
/// // It is lowered and said so, and only what is allowed is granted.
/// assert_eq!(answer.ack().accepted_priority_class, SessionPriorityClass::Balanced);
/// let granted = SessionFlagsAck::RESUME_ENABLED | SessionFlagsAck::PRIORITY_DOWNGRADED;
/// assert_eq!(answer.ack().session_flags_ack, granted);
/// # Ok::<(), nnrp_core::state::Refusal>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The most urgent class that is given out.
    pub highest: SessionPriorityClass,
    /// Whether a more urgent wish is lowered rather than refused (S2).
    pub downgrade: bool,
    /// What may be granted.
    pub flags: SessionFlags,
    /// Most live operations of a session, and what it gets when it asks for 0 (S9).
    pub max_in_flight: u16,
    /// First window for submits, at most as large as the number of live operations.
    pub credit: u16,
    /// Default lease time where the client states no wish.
    pub lease_ttl_ms: u32,
    /// Longest default lease time; 0 for no limit.
    pub max_lease_ttl_ms: u32,
    /// Whether a longer wish is cut rather than refused.
    pub cut_leases: bool,
    /// How long sessions can be resumed; 0 for not at all.
    pub resume_window_ms: u32,
    /// The routing domain that is confirmed (S11).
    pub route_scope_id: u32,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            highest: SessionPriorityClass::Interactive,
            downgrade: true,
            flags: SessionFlags::all(),
            max_in_flight: 256,
            credit: 256,
            lease_ttl_ms: 60_000,
            max_lease_ttl_ms: 3_600_000,
            cut_leases: true,
            resume_window_ms: 60_000,
            route_scope_id: 0,
        }
    }
}

/// What a request's resume token is worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Resume {
    /// There is none.
    #[default]
    None,
    /// It is good for nothing.
    Bad,
    /// It resumes that session.
    Good {
        /// The session.
        session_id: u32,
        /// Whether it lives on this very connection, so that its id is not taken by another one.
        here: bool,
    },
}

/// What other modules and the application say of a request.
///
/// ```
/// use nnrp_core::{SessionErrorCode, SessionOpen, SessionStatus};
/// use nnrp_core::state::{Side, session::{Limits, Policy, Sessions, Verdicts}};
///
/// let mut server = Sessions::new(Side::Server, Limits::default());
/// let ticket = server.apply_open(server.check_open(&SessionOpen::default(), false)?);
/// let verdicts = Verdicts { auth: false, ..Verdicts::default() };
/// let answer = server.check_answer(ticket, &Policy::default(), &verdicts, &mut || 7)?;
/// assert_eq!(answer.ack().session_status, SessionStatus::Rejected);
/// assert_eq!(answer.ack().session_error_code, SessionErrorCode::AUTH_FAILED);
/// # Ok::<(), nnrp_core::state::Refusal>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdicts {
    /// Whether the session's credentials are good.
    pub auth: bool,
    /// Whether the profile is served.
    pub profile: bool,
    /// Whether the default schema is known and may be one.
    pub schema: bool,
    /// What the resume token is worth.
    pub resume: Resume,
    /// Whether there is no capacity now, so that the client may ask again later.
    pub busy: bool,
    /// The server's mark for logs.
    pub server_tag: u64,
}

impl Default for Verdicts {
    fn default() -> Self {
        Self { auth: true, profile: true, schema: true, resume: Resume::None, busy: false, server_tag: 0 }
    }
}

impl Policy {
    /// Flags, priority and leases of a session, or the code of what stands against them.
    fn grant(&self, open: &SessionOpen) -> Result<SessionOpenAck, SessionErrorCode> {
        let wanted = open.priority_class;
        // Numbers rise from urgent to patient.
        let priority = wanted.max(self.highest);
        if priority != wanted && !self.downgrade {
            return Err(SessionErrorCode::PRIORITY_REJECTED);
        }
        let mut flags = granted(open.session_flags & self.flags);
        if self.resume_window_ms == 0 {
            flags -= SessionFlagsAck::RESUME_ENABLED;
        }
        flags.set(SessionFlagsAck::PRIORITY_DOWNGRADED, priority != wanted);
        let wish = match open.lease_ttl_hint_ms {
            0 => self.lease_ttl_ms,
            wish => wish,
        };
        let longest = if self.max_lease_ttl_ms == 0 { u32::MAX } else { self.max_lease_ttl_ms };
        if wish > longest && !self.cut_leases && open.session_flags.contains(SessionFlags::ALLOW_CACHE_LEASES)
        {
            return Err(SessionErrorCode::LEASE_POLICY_REJECTED);
        }
        let max_in_flight_operations = match open.max_in_flight_operations {
            0 => self.max_in_flight,
            wish => wish.min(self.max_in_flight),
        };
        let resumable = flags.contains(SessionFlagsAck::RESUME_ENABLED);
        Ok(SessionOpenAck {
            session_status: SessionStatus::Opened,
            accepted_profile_id: open.profile_id,
            accepted_priority_class: priority,
            schema_id: open.schema_id,
            schema_version: open.schema_version,
            granted_operation_credit: self.credit.min(max_in_flight_operations),
            max_in_flight_operations,
            lease_ttl_ms: wish.min(longest),
            resume_window_ms: if resumable { self.resume_window_ms } else { 0 },
            route_scope_id: self.route_scope_id,
            session_flags_ack: flags,
            ..Default::default()
        })
    }
}

/// The asked and the granted flags have the same bits.
const fn granted(asked: SessionFlags) -> SessionFlagsAck {
    SessionFlagsAck::from_bits_truncate(asked.bits() as u32)
}

impl Sessions {
    /// Requests that are not answered yet.
    pub fn opening(&self) -> usize {
        self.requests.len()
    }

    /// The request with that number, until its answer went out or came in.
    pub fn request(&self, ticket: Ticket) -> Option<&SessionOpen> {
        self.requests.get(self.place(ticket)?).map(|request| &request.open)
    }

    fn place(&self, ticket: Ticket) -> Option<usize> {
        usize::try_from(ticket.0.checked_sub(self.answered)?).ok()
    }

    /// Checks a SESSION_OPEN, on the client before it is sent, on the server when it came. `resume` says whether
    /// it brings a token.
    ///
    /// # Errors
    ///
    /// `limit_exceeded` over what may be unanswered, and on the client over the number of sessions;
    /// `invalid_state` there for an id that is in use (C3).
    pub fn check_open(&self, open: &SessionOpen, resume: bool) -> Result<OpenPlan, Refusal> {
        if open.validate().is_err() {
            return Err(Refusal::malformed("D2", "the request breaks its own rules"));
        }
        if self.requests.len() >= self.limits.pending {
            return Err(Refusal::limit("S8", "too many requests are waiting for their answer"));
        }
        if self.side == Side::Client {
            if self.live.len().saturating_add(self.requests.len()) >= self.limits.sessions {
                return Err(Refusal::limit("S8", "there are too many sessions on the connection"));
            }
            let id = open.requested_session_id;
            let used = self.live.contains_key(&id)
                || id != 0 && self.requests.iter().any(|request| request.open.requested_session_id == id);
            if used && !resume {
                return Err(Refusal::state("C3", "the session id is in use").about(id.into()));
            }
        }
        Ok(OpenPlan { open: *open, resume })
    }

    /// The request was sent or has come.
    pub fn apply_open(&mut self, plan: OpenPlan) -> Ticket {
        let ticket = Ticket(self.answered.saturating_add(self.requests.len() as u64));
        self.requests.push_back(Request { open: plan.open, resume: plan.resume, answer: None, void: false });
        ticket
    }

    /// Server: finds the answer to a request, in any order of the requests.
    ///
    /// The cause that is reported is the first of S8's: credentials, profile, schema, priority, leases, resume,
    /// and last that there is no room or no free id.
    ///
    /// # Errors
    ///
    /// `invalid_state` for a request that is unknown or answered. Refusals of the session are answers.
    pub fn check_answer(
        &self,
        ticket: Ticket,
        policy: &Policy,
        verdicts: &Verdicts,
        source: &mut impl Source,
    ) -> Result<AnswerPlan, Refusal> {
        let request = self.place(ticket).and_then(|place| self.requests.get(place));
        let Some(request) = request.filter(|request| request.answer.is_none()) else {
            return Err(Refusal::state("C8", "no such request waits for an answer"));
        };
        let ack = match self.answer(request, policy, verdicts, source) {
            Ok(ack) => ack,
            Err(code) => SessionOpenAck {
                session_status: SessionStatus::Rejected,
                session_error_code: code,
                ..Default::default()
            },
        };
        let ack = SessionOpenAck { server_session_tag: verdicts.server_tag, ..ack };
        Ok(AnswerPlan { ticket, ack })
    }

    fn answer(
        &self,
        request: &Request,
        policy: &Policy,
        verdicts: &Verdicts,
        source: &mut impl Source,
    ) -> Result<SessionOpenAck, SessionErrorCode> {
        if !verdicts.auth {
            return Err(SessionErrorCode::AUTH_FAILED);
        }
        if !verdicts.profile {
            return Err(SessionErrorCode::PROFILE_UNSUPPORTED);
        }
        if !verdicts.schema {
            return Err(SessionErrorCode::SCHEMA_UNSUPPORTED);
        }
        let ack = policy.grant(&request.open)?;
        let resumed = match verdicts.resume {
            Resume::None if !request.resume => None,
            Resume::Good { session_id, here } if request.resume && session_id != 0 => {
                Some((session_id, here))
            }
            _ => return Err(SessionErrorCode::RESUME_REJECTED),
        };
        if verdicts.busy {
            return Ok(SessionOpenAck {
                session_status: SessionStatus::RetryLater,
                session_error_code: SessionErrorCode::SESSION_LIMIT_REACHED,
                ..Default::default()
            });
        }
        let full = self.live.len() >= self.limits.sessions;
        let free = |id| !full && !self.live.contains_key(&id);
        let id = match (resumed, request.open.requested_session_id) {
            // It takes its own place.
            (Some((id, here)), _) if here || free(id) => id,
            (None, 0) if !full => self.free_id(source),
            (None, id) if id != 0 && free(id) => id,
            _ => return Err(SessionErrorCode::SESSION_LIMIT_REACHED),
        };
        let session_status = if resumed.is_some() { SessionStatus::Resumed } else { SessionStatus::Opened };
        Ok(SessionOpenAck { session_id: id, session_status, ..ack })
    }

    /// An id that no session has, nor had one lately of which the peer may not know the end: one of a few from the
    /// source, or else the next free one behind the last.
    fn free_id(&self, source: &mut impl Source) -> u32 {
        let free = |id: &u32| *id != 0 && !self.live.contains_key(id) && !self.owed.contains_key(id);
        let picked = (0..4).map(|_| source.next() as u32).find(free);
        let mut behind = (self.last_id..=u32::MAX).chain(1..=self.last_id);
        // As many steps at most as there are such sessions; with a good source none.
        picked.or_else(|| behind.find(free)).unwrap_or(1)
    }

    /// Server: gives the answer. Its session is opening until [`Self::poll_answer`] sends it.
    pub fn apply_answer(&mut self, plan: AnswerPlan, now: Time) {
        let Some(request) = self.place(plan.ticket).and_then(|place| self.requests.get_mut(place)) else {
            return;
        };
        request.answer = Some(plan.ack);
        let terms = Terms::new(&request.open, &plan.ack);
        if plan.ack.session_id != 0 {
            self.insert(Session::new(plan.ack.session_id, terms, self.limits.idle_ms, now));
        }
    }

    /// Server: the next answer that may go out. Answers keep the order of the requests (C8), so one that was
    /// found early waits for those before it.
    pub fn poll_answer(&mut self, now: Time) -> Option<(Ticket, SessionOpenAck)> {
        let ack = self.requests.front()?.answer?;
        let ticket = Ticket(self.answered);
        self.next_request();
        self.go_live(&ack, now);
        Some((ticket, ack))
    }

    /// Client: checks an answer, which is for the oldest request (C8).
    ///
    /// # Errors
    ///
    /// `invalid_state` for an answer to nothing, an id that is in use or another than was asked for (C3), a
    /// resume without a token (R1); `unsupported_capability` for grants that were not asked for (S2). The session
    /// that the server then thinks open is lost for this side: see [`Self::skip`].
    pub fn check_open_ack(&self, ack: &SessionOpenAck) -> Result<OpenAckPlan, Refusal> {
        let request = match (self.side, self.requests.front()) {
            (Side::Client, Some(request)) => request,
            _ => return Err(Refusal::state("C8", "no request waits for an answer")),
        };
        if ack.validate().is_err() {
            return Err(Refusal::malformed("D3", "the answer breaks its own rules"));
        }
        if request.void || !matches!(ack.session_status, SessionStatus::Opened | SessionStatus::Resumed) {
            return Ok(OpenAckPlan(*ack));
        }
        let open = &request.open;
        let resumed = ack.session_status == SessionStatus::Resumed;
        if resumed && !request.resume {
            return Err(Refusal::state("R1", "nothing was to be resumed"));
        }
        let id = ack.session_id;
        if open.requested_session_id != 0 && id != open.requested_session_id {
            return Err(Refusal::state("C3", "another session id was asked for").about(id.into()));
        }
        if self.live.contains_key(&id) && !resumed {
            return Err(Refusal::state("C3", "the session id is in use").about(id.into()));
        }
        if ack.accepted_priority_class < open.priority_class {
            return Err(Refusal::capability("S2", "the priority was raised"));
        }
        let lowered = ack.accepted_priority_class != open.priority_class;
        if ack.session_flags_ack.contains(SessionFlagsAck::PRIORITY_DOWNGRADED) != lowered {
            return Err(Refusal::malformed(
                "S2",
                "priority_downgraded does not tell what became of the priority",
            ));
        }
        let allowed = granted(open.session_flags) | SessionFlagsAck::PRIORITY_DOWNGRADED;
        if !allowed.contains(ack.session_flags_ack) {
            return Err(Refusal::capability("S2", "flags were granted that were not asked for"));
        }
        Ok(OpenAckPlan(*ack))
    }

    /// Client: the answer has come.
    pub fn apply_open_ack(&mut self, plan: OpenAckPlan, now: Time) -> (Ticket, Opened) {
        let ack = plan.0;
        let ticket = Ticket(self.answered);
        let request = self.next_request();
        match (ack.session_status, request) {
            (SessionStatus::Opened | SessionStatus::Resumed, Some(request)) if !request.void => {
                let terms = Terms::new(&request.open, &ack);
                self.insert(Session::new(ack.session_id, terms, self.limits.idle_ms, now));
                self.go_live(&ack, now);
                (ticket, Opened::Live { session_id: ack.session_id, remark: ack.session_error_code })
            }
            (status, _) => {
                let retry = status == SessionStatus::RetryLater;
                (ticket, Opened::Refused { code: ack.session_error_code, retry })
            }
        }
    }

    /// Client: the answer to the oldest request could not be taken. The request counts as refused, so that the
    /// next answer meets the next request. Gives the id that it asked for, too. Where the server has a session now, a
    /// fatal ERROR of that session tells it that there is none.
    pub fn skip(&mut self) -> Option<(Ticket, u32)> {
        let ticket = Ticket(self.answered);
        self.next_request().map(|request| (ticket, request.open.requested_session_id))
    }

    /// The connection is over: gives the requests that nobody answers any more.
    pub fn give_up(&mut self) -> impl Iterator<Item = Ticket> + use<> {
        let first = self.answered;
        let count = core::mem::take(&mut self.requests).len() as u64;
        self.answered = first.saturating_add(count);
        (first..self.answered).map(Ticket)
    }

    /// Gives a resumed session what it had on its old connection.
    pub fn carry(&mut self, session_id: u32, carried: Carried) {
        if let Some(session) = self.live.get_mut(&session_id) {
            session.live = carried.live;
            session.submitted = carried.submitted;
            session.settings = carried.settings;
        }
    }

    fn next_request(&mut self) -> Option<Request> {
        let request = self.requests.pop_front()?;
        self.answered = self.answered.saturating_add(1);
        Some(request)
    }

    fn go_live(&mut self, ack: &SessionOpenAck, now: Time) {
        let state = match ack.session_status {
            SessionStatus::Opened => SessionState::Open,
            SessionStatus::Resumed => SessionState::Resumed,
            SessionStatus::Rejected | SessionStatus::RetryLater => return,
        };
        if let Some(session) = self.live.get_mut(&ack.session_id) {
            session.turn(state);
            session.active_at = now;
            self.schedule(ack.session_id);
        }
    }
}
