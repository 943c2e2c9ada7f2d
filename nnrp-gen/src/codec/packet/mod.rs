//! Whole packets: header, metadata and body, read and written from the registry alone.
//!
//! [`Packets`] accepts and refuses exactly what the generated `Packet` does and blames the same place. How a packet is
//! checked stands in [the model](crate::model).
//!
//! # A packet as a value
//!
//! `{ header, message, metadata, body }`. What the rest determines is left out on the way out, and may be given, if it
//! is right, on the way in: message type, lengths, counts, repeated sizes, offsets of slices.
//!
//! | what | value |
//! | --- | --- |
//! | header, metadata, a layout | its fields |
//! | body | the segments by name |
//! | opaque bytes | text, `0x` and hex |
//! | layouts, one behind the other | list of them |
//! | entries | list; each the fields of its header and `payload`: the fields of a layout where it is known, or hex |
//! | rows that slice another part | each with its slice as `payload`; the sliced part is left out |
//! | a body of parts | the parts by name, and `prelude` where that says more than lengths and counts |
//! | a part that starts with rows | `leading`, the rows, and `rest` |
//! | words | list of texts |
//! | a body that is absent | left out |
//!
//! Hex is taken for anything in a body.

mod block;
mod body;
mod check;
mod fill;
mod outline;
mod piece;
mod slots;
mod tensor;
mod value;
mod write;

pub use outline::{Kind, Outline, Part};

use std::collections::HashMap;

use crate::model::{Field, Layout, Message, Registry, Role};
use crate::wire::FaultKind;

use super::{EncodeError, Fault, Value};
use piece::Piece;

/// The packets of a protocol.
#[derive(Debug)]
pub struct Packets<'a> {
    registry: &'a Registry,
    header: &'a Layout,
    /// Positions of the header's fields for the message, the metadata's length and the body's.
    message: usize,
    metadata_length: usize,
    body_length: usize,
    /// Messages by their value.
    by_value: HashMap<u64, &'a Message>,
}

impl<'a> Packets<'a> {
    /// Of a protocol that has messages.
    pub fn new(registry: &'a Registry) -> Option<Self> {
        let header = registry.layouts.get(registry.protocol.header?)?;
        let with = |role| header.fields.iter().position(|field: &Field| field.role == Some(role));
        Some(Self {
            registry,
            header,
            message: with(Role::Message)?,
            metadata_length: with(Role::MetadataLength)?,
            body_length: with(Role::BodyLength)?,
            by_value: registry.messages.iter().map(|message| (message.value, message)).collect(),
        })
    }

    /// The layout in front of every packet.
    pub fn header(&self) -> &'a Layout {
        self.header
    }

    /// The first fault of bytes that should be exactly one packet.
    pub fn fault(&self, bytes: &[u8]) -> Option<Fault> {
        self.check(bytes).err()
    }

    /// Reads exactly one packet.
    ///
    /// # Errors
    ///
    /// The first fault, as the generated code gives it.
    pub fn decode(&self, bytes: &[u8]) -> Result<Value, Fault> {
        self.check(bytes)?;
        Ok(self.value(&self.outline(bytes)))
    }

    /// Reads what can be read of bytes that may be wrong, as the value of a packet with what nothing names as `rest`.
    pub fn lenient(&self, bytes: &[u8]) -> (Value, Option<Fault>) {
        (self.value(&self.outline(bytes)), self.fault(bytes))
    }

    /// Writes a packet of a message.
    ///
    /// # Errors
    ///
    /// What does not fit the message, or else the fault that a reader would find.
    pub fn encode(&self, message: &Message, value: &Value) -> Result<Vec<u8>, EncodeError> {
        let packet = self.assemble(message, value)?;
        match self.fault(&packet) {
            Some(fault) => Err(fault.into()),
            None => Ok(packet),
        }
    }

    /// Writes a packet of a message that a reader may refuse.
    ///
    /// # Errors
    ///
    /// What does not fit the message; never a fault.
    pub fn assemble(&self, message: &Message, value: &Value) -> Result<Vec<u8>, EncodeError> {
        self.write(message, value)
    }

    /// Bytes of the packet that starts with `bytes`, as its header declares them; nothing as long as the header is not
    /// whole.
    ///
    /// # Errors
    ///
    /// A fault in the header. Where the packet ends is not known then.
    pub fn declared_len(&self, bytes: &[u8]) -> Result<Option<u64>, Fault> {
        let Some(header) = bytes.get(..self.header.size as usize) else { return Ok(None) };
        let header = Piece { bytes: header, at: 0 };
        self.checked_header(header)?;
        let declared = header.read(self.header, self.metadata_length);
        let body = header.read(self.header, self.body_length);
        Ok(Some((u64::from(self.header.size) + declared).saturating_add(body)))
    }

    /// What message the header names.
    fn message_of(&self, header: Piece<'_>) -> Option<&'a Message> {
        self.by_value.get(&header.read(self.header, self.message)).copied()
    }

    fn layout(&self, position: usize) -> &'a Layout {
        &self.registry.layouts[position]
    }

    /// The layout of a message's metadata.
    fn metadata(&self, message: &Message) -> Option<&'a Layout> {
        message.metadata.map(|layout| self.layout(layout))
    }

    /// Checks a header and the metadata length in it, and gives its message.
    fn checked_header(&self, header: Piece<'_>) -> Result<&'a Message, Fault> {
        header.is_one(self.registry, self.header)?;
        let Some(message) = self.message_of(header) else {
            return Err(header.blame(self.header, self.message, FaultKind::UnknownValue, ""));
        };
        let size = self.metadata(message).map_or(0, |layout| layout.size);
        if header.read(self.header, self.metadata_length) != u64::from(size) {
            return Err(header.blame(self.header, self.metadata_length, FaultKind::Length, ""));
        }
        Ok(message)
    }
}
