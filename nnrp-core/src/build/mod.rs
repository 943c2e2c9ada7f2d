//! Packets and segments from their parts.
//!
//! [`Message::encode_into`](crate::Message::encode_into) writes any message whose segments are there as bytes. What makes
//! these bytes is here:
//!
//! - [`SubmitBuilder`] and [`ResultBuilder`] make the two messages whose body has regions: inline objects, references,
//!   typed payloads, tensor sections, extension frames.
//! - [`SectionTable`] and [`Tiles`] write tensor sections and tile indexes.
//! - [`Extensions`] writes the control extensions at the end of control messages.
//! - [`Capabilities`] writes capability tokens, [`Schema`] a schema descriptor.
//!
//! No builder fails in between. What cannot be written is refused at the end, where the reader's own check looks over the
//! result, so that the fault is the one that a peer would report.
//!
//! ```
//! use nnrp_core::build::SubmitBuilder;
//! use nnrp_core::{CommonHeader, DescriptorFlags, FrameSubmit, Message, OperationLinks, Packet};
//!
//! # fn main() -> Result<(), nnrp_core::wire::Fault> {
//! let header = CommonHeader { session_id: 3, frame_id: 1, ..CommonHeader::default() };
//! let bytes = SubmitBuilder::new(FrameSubmit { operation_id: 17, ..FrameSubmit::default() })
//!     .token(DescriptorFlags::TERMINAL, b"Why is the sky blue?")
//!     .links(OperationLinks { parent_operation_id: 16, operation_group_id: 0 })
//!     .to_vec(&header)?;
//!
//! let Message::FrameSubmit(submit, body) = Packet::parse(&bytes)?.message() else { panic!("another message") };
//! let regions = body.regions.unwrap_or_default();
//! assert_eq!(submit.payload_frame_count, 1);
//! assert_eq!(regions.operation_links().map(|links| links.parent_operation_id), Some(16));
//! let (descriptor, payload) = regions.payload_frames_sliced().next().expect("a payload");
//! assert_eq!((descriptor.schema_id(), payload), (0x1001, b"Why is the sky blue?".as_slice()));
//!
//! // What a reader would refuse is refused here, with the reader's words.
//! let nameless = SubmitBuilder::new(FrameSubmit::default()).to_vec(&header).unwrap_err();
//! assert_eq!(nameless.rule(), Some("D8.1"));
//! # Ok(())
//! # }
//! ```

mod capabilities;
mod extensions;
mod packet;
mod regions;
mod schema;
mod sections;
mod tiles;

pub use capabilities::Capabilities;
pub use extensions::Extensions;
pub use regions::{Carrier, RegionsBuilder, ResultBuilder, SubmitBuilder};
pub use schema::Schema;
pub use sections::SectionTable;
pub use tiles::Tiles;
