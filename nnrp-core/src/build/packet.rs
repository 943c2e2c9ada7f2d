//! Packets in memory that grows.

use alloc::vec::Vec;

use crate::wire::{Fault, FaultKind, Site, WriteError};
use crate::{CommonHeader, Message};

/// A body of more bytes than the header can declare.
const TOO_LARGE: Fault = Fault::new(
    &Site::field("common_header", "body_len").message(),
    CommonHeader::BODY_LEN_OFFSET as u32,
    FaultKind::Length,
);

impl Message<'_> {
    /// Its packet; see [`Message::encode_into`].
    ///
    /// # Errors
    ///
    /// Where a reader would refuse the packet.
    pub fn to_vec(&self, header: &CommonHeader) -> Result<Vec<u8>, Fault> {
        let mut out = Vec::new();
        self.append_to(header, &mut out)?;
        Ok(out)
    }

    /// Writes its packet behind what `out` holds; see [`Message::encode_into`].
    ///
    /// # Errors
    ///
    /// Where a reader would refuse the packet. `out` is as it was then.
    pub fn append_to(&self, header: &CommonHeader, out: &mut Vec<u8>) -> Result<(), Fault> {
        self.append_with(header, out, &|_| false)
    }

    /// The same for a reader who knows words, such as capability tokens, beside the registered ones.
    ///
    /// # Errors
    ///
    /// As [`Self::append_to`].
    pub fn append_with(
        &self,
        header: &CommonHeader,
        out: &mut Vec<u8>,
        words: &dyn Fn(&str) -> bool,
    ) -> Result<(), Fault> {
        // Refused before memory is taken: segments may borrow the same bytes many times.
        u32::try_from(self.body_len()).map_err(|_| TOO_LARGE)?;
        let start = out.len();
        let end = start.checked_add(self.encoded_len()).ok_or(TOO_LARGE)?;
        out.resize(end, 0);
        match self.encode_with(header, out.get_mut(start..).unwrap_or_default(), words) {
            Ok(_) => Ok(()),
            Err(error) => {
                out.truncate(start);
                Err(match error {
                    WriteError::Fault(fault) => fault,
                    WriteError::Room(_) => TOO_LARGE,
                })
            }
        }
    }
}
