//! From a stream of bytes to packets.
//!
//! A byte stream has no packet borders of its own. Each packet's header says where it ends, so both readers here need
//! nothing else to cut a stream:
//!
//! - [`packets`] walks a slice that holds packets back to back, such as a capture. It needs no memory.
//! - [`Splitter`] takes the stream in chunks, however a transport delivers them, and puts together what they cut.
//!
//! Both go on behind a packet that is refused for what it holds, and stop at a fault after which the end of the packet
//! is not known: see [`Fault::breaks_stream`](crate::wire::Fault::breaks_stream).
//!
#![cfg_attr(feature = "alloc", doc = "```")]
#![cfg_attr(not(feature = "alloc"), doc = "```ignore")]
//! use nnrp_core::{CommonHeader, Message, MessageType, stream};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut bytes = Message::Ping.to_vec(&CommonHeader::default())?;
//! Message::Pong.append_to(&CommonHeader::default(), &mut bytes)?;
//!
//! let mut packets = stream::packets(&bytes);
//! assert_eq!(packets.next().transpose()?.map(|packet| packet.message_type()), Some(MessageType::Ping));
//! assert_eq!(packets.next().transpose()?.map(|packet| packet.message_type()), Some(MessageType::Pong));
//! assert!(packets.next().is_none());
//! # Ok(())
//! # }
//! ```

mod slice;
#[cfg(feature = "alloc")]
mod splitter;

pub use slice::{Packets, packets};
#[cfg(feature = "alloc")]
pub use splitter::{DEFAULT_LIMIT, Splitter};
