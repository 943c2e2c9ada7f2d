//! The NNRP/1 protocol core: what every byte of a packet means, and nothing of how it travels.
//!
//! # A tour
//!
//! **Layouts.** Every structure of the protocol is a type of its own, made from the registry when this crate is built:
//! [`SessionOpen`] with native fields, [`SessionOpenView`] over checked bytes. Reading is strict. A [`wire::Fault`] says
//! which field is wrong, where and why.
//!
//! ```
//! use nnrp_core::{SessionOpen, SessionPriorityClass};
//!
//! # fn main() -> Result<(), nnrp_core::wire::Fault> {
//! let open = SessionOpen { priority_class: SessionPriorityClass::Balanced, ..SessionOpen::default() };
//! let bytes = open.to_bytes()?;
//! assert_eq!(SessionOpen::view(&bytes)?.priority_class(), SessionPriorityClass::Balanced);
//!
//! let mut bad = bytes;
//! bad[22] = 1;
//! let fault = SessionOpen::decode(&bad).unwrap_err();
//! assert_eq!(fault.to_string(), "byte 22: `session_open.reserved0` is reserved and must be zero");
//! # Ok(())
//! # }
//! ```
//!
//! **Packets.** [`Packet::parse`] checks a whole packet: header, lengths, metadata, scope, the rules of its message, and
//! its body down to the last padding byte. It allocates nothing, and what it gives borrows the bytes. [`Packet::message`]
//! then is the [`Message`] with its metadata as native values and its body cut into segments. [`Message::encode_into`]
//! is the way back; it fills in lengths and counts, and refuses what a reader would refuse.
//!
//! ```
//! use nnrp_core::{CommonHeader, Message, Packet, Progress, ProgressBody};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let header = CommonHeader { session_id: 3, ..CommonHeader::default() };
//! let progress = Progress { operation_id: 17, percent_x100: 2500, ..Progress::default() };
//! let message = Message::Progress(progress, ProgressBody { progress_body: b"a quarter" });
//! let mut bytes = [0; 256];
//! let size = message.encode_into(&header, &mut bytes)?;
//!
//! let packet = Packet::parse(&bytes[..size])?;
//! let Message::Progress(progress, body) = packet.message() else { panic!("another message") };
//! assert_eq!((packet.header().session_id(), progress.percent_x100), (3, 2500));
//! assert_eq!(body.progress_body, b"a quarter");
//! # Ok(())
//! # }
//! ```
//!
//! **Bodies.** What a segment holds is typed where the protocol says what it is: [`ControlExtensionEntries`],
//! [`CapabilityTokens`], [`SchemaDescriptor`], and [`Regions`] for the bodies of submits and results, with inline objects,
//! references, payloads and extension frames. [`tensor`] reads tensor sections and tile indexes.
//!
//! **Streams.** [`stream`] cuts a byte stream into packets, from one slice or from chunks that end anywhere, and knows
//! after which faults the stream can go on.
//!
//! **Writing the big ones.** `build` makes submits and results from their parts, and the segments of other messages.
//!
//! **Behaviour.** `state` has what the protocol says about sessions, operations, credit, caches, schemas, resume and the
//! rest, one concern a module, without I/O. `state::connection` composes them: bytes and timeouts in, bytes and events out,
//! for both roles.
//!
//! # Features
//!
//! - `state` (on): the state machines; implies `alloc`.
//! - `alloc`: the stream splitter and the builders. Without it the codecs work with no allocator at all.
//! - `std`: implies `alloc`.
//! - `serde`, `arbitrary`: their traits for layouts, enums and bitmasks.
//! - `tracing`: events of that crate with the target `nnrp`: packets (trace), refusals and operations (debug), sessions
//!   and connections (info).
//!
//! The crate has no unsafe code, and no input makes it panic.
#![forbid(unsafe_code)]
#![no_std]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(any(test, feature = "arbitrary"))] // its derive names std
extern crate std;

// So that what the derives write means the same here and elsewhere.
extern crate self as nnrp_core;

#[cfg(feature = "alloc")]
pub mod build;
pub mod describe;
#[doc(hidden)]
pub mod held;
mod later;
mod profile;
mod regions;
#[cfg(feature = "state")]
pub mod state;
pub mod stream;
pub mod tensor;
#[doc(hidden)]
pub mod words;

pub use bitflags;
pub use nnrp_derive::{Layout, ProfileDescriptor, WireEnum, registry};
pub use profile::{ProfileDescriptor, Unbound};
pub use wire::{Layout, Reserved, WireEnum};

include!(concat!(env!("OUT_DIR"), "/codecs.rs"));
