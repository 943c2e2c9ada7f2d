//! Which end of a connection.

use crate::MessageType;

/// An end of a connection.
///
/// ```
/// use nnrp_core::MessageType;
/// use nnrp_core::state::Side;
///
/// assert_eq!(Side::Client.peer(), Side::Server);
/// assert!(Side::Client.may_send(MessageType::SessionOpen));
/// assert!(!Side::Server.may_send(MessageType::SessionOpen));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// Opened the connection, says hello, submits.
    Client,
    /// Answers.
    Server,
}

impl Side {
    /// The other end.
    pub const fn peer(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }

    /// Whether the direction of a message lets this side send it.
    pub const fn may_send(self, message: MessageType) -> bool {
        match self {
            Self::Client => message.goes_to_server(),
            Self::Server => message.goes_to_client(),
        }
    }
}
