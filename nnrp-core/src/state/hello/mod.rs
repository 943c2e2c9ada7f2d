//! The life of a connection: negotiation, work, drain, end (C1), and the hello pair (C6, C8, C9).

mod terms;

pub use terms::{Abilities, Answer, Grants, Offer, Verdict, Wishes};

use super::{Refusal, Side, Time};
use crate::{ConnectionState, ErrorScope, MessageType};

/// How long a connection may take over things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// From the transport being there to the end of negotiation; then the connection is closed.
    pub negotiation_ms: u64,
    /// How long work in flight may finish after CLOSE or a fatal ERROR.
    pub drain_ms: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { negotiation_ms: 10_000, drain_ms: 30_000 }
    }
}

/// The life of one connection, as one of its sides keeps it.
///
/// ```
/// use nnrp_core::state::{Side, Time, hello::{Abilities, Hello, Limits, Offer, Verdict}};
/// use nnrp_core::{ClientHello, ConnectionState, PayloadKindBitmap};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let offer = Offer {
///     hello: ClientHello {
///         min_version_major: 1,
///         max_version_major: 1,
///         supported_wire_format_bitmap: 1,
///         supported_profile_bitmap: 0b100,
///         supported_payload_kind_bitmap: PayloadKindBitmap::TOKEN_CHUNK,
///         ..Default::default()
///     },
///     ..Default::default()
/// };
/// let mut server = Hello::new(Side::Server, Limits::default(), Time(0));
/// server.apply_hello(server.check_hello(&offer)?);
///
/// // What the credentials are worth is the caller's to say.
/// let answer = Abilities { profiles: 0b110, ..Default::default() }.answer(&offer, Verdict::Accept)?;
/// assert_eq!(answer.ack.accepted_profile_bitmap, 0b100);
/// server.apply_ack(server.check_ack(&answer)?);
/// assert_eq!(server.state(), ConnectionState::Active);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Hello {
    side: Side,
    limits: Limits,
    state: ConnectionState,
    offer: Option<Offer>,
    answer: Option<Answer>,
    until: Option<Time>,
}

/// A hello that may be sent or taken.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct HelloPlan(Offer);

/// An answer to the hello that may be sent or taken.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct AckPlan(Answer);

/// An end that may begin.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct EndPlan(ConnectionState);

impl Hello {
    /// A connection whose transport has just come up.
    pub fn new(side: Side, limits: Limits, now: Time) -> Self {
        Self {
            side,
            limits,
            state: ConnectionState::INITIAL,
            offer: None,
            answer: None,
            until: Some(now.after(limits.negotiation_ms)),
        }
    }

    /// Which end this is.
    pub const fn side(&self) -> Side {
        self.side
    }

    /// Where the connection is.
    pub const fn state(&self) -> ConnectionState {
        self.state
    }

    /// What the client offered, once there was a hello.
    pub const fn offer(&self) -> Option<&Offer> {
        self.offer.as_ref()
    }

    /// What holds for the whole connection, once it was accepted (C6).
    pub const fn agreed(&self) -> Option<&Answer> {
        self.answer.as_ref()
    }

    /// Whether a side may send that message now (C1).
    ///
    /// # Errors
    ///
    /// `invalid_state` against the message's direction, before the hello settled things, and for what is new
    /// while the connection drains.
    pub fn check_message(&self, sender: Side, message: MessageType) -> Result<(), Refusal> {
        use MessageType as M;
        if !sender.may_send(message) {
            return Err(Refusal::state("C1", "the message goes the other way"));
        }
        if self.state == ConnectionState::Closed {
            return Err(Refusal::state("C1", "the connection is closed"));
        }
        if matches!(message, M::Ping | M::Pong | M::TransportProbe | M::TransportProbeAck) {
            return Ok(());
        }
        let allowed = match self.state {
            ConnectionState::Init => message == M::ClientHello,
            ConnectionState::Negotiating => matches!(message, M::ServerHelloAck | M::Error),
            ConnectionState::Active => !matches!(message, M::ClientHello | M::ServerHelloAck),
            ConnectionState::Draining => {
                !matches!(message, M::ClientHello | M::ServerHelloAck | M::SessionOpen | M::FrameSubmit)
            }
            ConnectionState::Closed => false,
        };
        let why = match self.state {
            _ if allowed => return Ok(()),
            ConnectionState::Init => "the hello goes before it",
            ConnectionState::Negotiating => "the hello is not answered yet",
            ConnectionState::Active => "the hello is settled",
            ConnectionState::Draining | ConnectionState::Closed => "the connection is ending",
        };
        Err(Refusal::state("C1", why))
    }

    /// Checks a hello, on the client before it is sent, on the server when it came.
    ///
    /// # Errors
    ///
    /// A second hello, or one that breaks D1 or C9.
    pub fn check_hello(&self, offer: &Offer) -> Result<HelloPlan, Refusal> {
        self.check_message(Side::Client, MessageType::ClientHello)?;
        offer.check()?;
        Ok(HelloPlan(*offer))
    }

    /// The hello was sent or has come.
    pub fn apply_hello(&mut self, plan: HelloPlan) {
        self.offer = Some(plan.0);
        self.turn(ConnectionState::Negotiating);
    }

    /// Checks the answer to the hello, on the server before it is sent, on the client when it came.
    ///
    /// # Errors
    ///
    /// An answer to nothing, and one that grants what was not offered (C6) or not asked for (C9). On the client
    /// negotiation has failed then: see [`Self::fail`].
    pub fn check_ack(&self, answer: &Answer) -> Result<AckPlan, Refusal> {
        self.check_message(Side::Server, MessageType::ServerHelloAck)?;
        answer.check(&self.offer.unwrap_or_default())?;
        Ok(AckPlan(*answer))
    }

    /// The answer was sent or has come: the connection is active, or closed where it was refused (C8).
    pub fn apply_ack(&mut self, plan: AckPlan) -> ConnectionState {
        if plan.0.ack.auth_status == 0 {
            self.answer = Some(plan.0);
            self.until = None;
            self.turn(ConnectionState::Active);
        } else {
            self.close();
        }
        self.state
    }

    /// Checks whether a side may close.
    ///
    /// # Errors
    ///
    /// `invalid_state` before the connection is active. A second CLOSE, also one that crosses the first, is fine.
    pub fn check_close(&self, sender: Side) -> Result<EndPlan, Refusal> {
        self.check_message(sender, MessageType::Close)?;
        Ok(EndPlan(ConnectionState::Draining))
    }

    /// Checks an ERROR, in or out. `None` where it does not end the connection.
    ///
    /// # Errors
    ///
    /// `invalid_state` where no ERROR may come.
    pub fn check_error(
        &self,
        sender: Side,
        scope: ErrorScope,
        fatal: bool,
    ) -> Result<Option<EndPlan>, Refusal> {
        self.check_message(sender, MessageType::Error)?;
        if self.state == ConnectionState::Negotiating {
            // There is no session yet, so whatever failed is the negotiation.
            return Ok(Some(EndPlan(ConnectionState::Closed)));
        }
        let ends = fatal && scope == ErrorScope::Connection;
        Ok(ends.then_some(EndPlan(ConnectionState::Draining)))
    }

    /// The end begins: nothing new from here on, and work in flight has its time to finish.
    pub fn apply_end(&mut self, plan: EndPlan, now: Time) {
        match (plan.0, self.state) {
            (ConnectionState::Draining, ConnectionState::Active) => {
                self.turn(ConnectionState::Draining);
                self.until = Some(now.after(self.limits.drain_ms));
            }
            (ConnectionState::Closed, _) => self.close(),
            _ => {}
        }
    }

    /// Negotiation failed here: the answer was no good, or the offer cannot be served.
    pub fn fail(&mut self) {
        if matches!(self.state, ConnectionState::Init | ConnectionState::Negotiating) {
            self.close();
        }
    }

    /// No work is in flight any more. Says whether that closed the connection.
    pub fn finished(&mut self) -> bool {
        let ends = self.state == ConnectionState::Draining;
        if ends {
            self.close();
        }
        ends
    }

    /// The transport is gone.
    pub fn lost(&mut self) {
        self.close();
    }

    /// When [`Self::handle_timeout`] has something to do.
    pub const fn next_timeout(&self) -> Option<Time> {
        self.until
    }

    /// Closes the connection whose time to negotiate or to drain is over. Says whether it did.
    pub fn handle_timeout(&mut self, now: Time) -> bool {
        let over = self.until.is_some_and(|until| until <= now);
        if over {
            self.close();
        }
        over
    }

    fn close(&mut self) {
        self.turn(ConnectionState::Closed);
        self.until = None;
    }

    fn turn(&mut self, next: ConnectionState) {
        if self.state.can_become(next) {
            self.state = next;
        }
    }
}

#[cfg(test)]
mod tests;
