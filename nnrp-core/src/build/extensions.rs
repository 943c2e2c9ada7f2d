//! Control extension blocks (B7).

use alloc::vec::Vec;

use crate::wire::Fault;
use crate::{
    ControlExtensionEntries, ControlExtensionHeader, ControlExtensionPayload, ControlExtensionType,
    ExtensionFlags, MessageType,
};

/// Writes the control extensions of a message.
///
/// ```
/// use nnrp_core::build::Extensions;
/// use nnrp_core::{
///     CancelScope, CancelScopeExtension, CommonHeader, FrameCancelBody, Message, MessageType,
/// };
///
/// # fn main() -> Result<(), nnrp_core::wire::Fault> {
/// let scope = CancelScopeExtension { cancel_scope: CancelScope::Subtree, operation_id: 17 };
/// let extensions = Extensions::new(MessageType::FrameCancel).known(scope);
/// let cancel = Message::FrameCancel(FrameCancelBody { ext: extensions.entries()? });
/// let bytes = cancel.to_vec(&CommonHeader { session_id: 3, ..CommonHeader::default() })?;
/// assert_eq!(bytes.len(), 40 + 8 + 16);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Extensions {
    message: MessageType,
    bytes: Vec<u8>,
    fault: Option<Fault>,
}

impl Extensions {
    /// A block for a message, which decides what is known in it.
    pub const fn new(message: MessageType) -> Self {
        Self { message, bytes: Vec::new(), fault: None }
    }

    /// Adds an extension that the protocol knows, such as a
    /// [`TransportPolicyExtension`](crate::TransportPolicyExtension). It may be skipped by a peer that does not know it.
    #[must_use]
    pub fn known<'p>(self, payload: impl Into<ControlExtensionPayload<'p>>) -> Self {
        self.push(&ControlExtensionHeader::default(), &payload.into())
    }

    /// Adds an extension of another type, as bytes. A peer that does not know it skips it, or refuses the message if it
    /// is `critical`.
    #[must_use]
    pub fn other(self, ext_type: ControlExtensionType, critical: bool, payload: &[u8]) -> Self {
        let ext_flags = if critical { ExtensionFlags::CRITICAL } else { ExtensionFlags::empty() };
        let header = ControlExtensionHeader { ext_type, ext_flags, ..ControlExtensionHeader::default() };
        self.push(&header, &ControlExtensionPayload::Other(payload))
    }

    fn push(mut self, header: &ControlExtensionHeader, payload: &ControlExtensionPayload<'_>) -> Self {
        if let Err(fault) = ControlExtensionEntries::push_payload(&mut self.bytes, header, payload) {
            // The first one is reported, as a reader would.
            self.fault.get_or_insert(fault.behind(self.bytes.len()));
        }
        self
    }

    /// The block, to stand in the body of its message.
    ///
    /// # Errors
    ///
    /// The first fault, with its offset in the block: of an extension itself, or that one stands twice, is critical and
    /// unknown, or has not the length of its type.
    pub fn entries(&self) -> Result<ControlExtensionEntries<'_>, Fault> {
        match self.fault {
            Some(fault) => Err(fault),
            None => ControlExtensionEntries::new(&self.bytes, self.message),
        }
    }
}
