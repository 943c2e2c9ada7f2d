//! Packets out of chunks that end anywhere.

use alloc::vec::Vec;
use core::fmt;

use crate::wire::{Fault, FaultKind, Site};
use crate::{CommonHeader, Packet};

/// Bytes of the largest packet that a [`Splitter`] takes unless it is told otherwise: 16 MiB.
pub const DEFAULT_LIMIT: usize = 16 << 20;

/// Memory that is kept for the next packet. More is given back once the packet that needed it is done.
const KEEP: usize = 64 << 10;

/// A packet over the limit (F6).
const LIMIT: &Site =
    &Site::rule("common_header", "body_len", "F6", "A packet is no larger than its reader accepts.");

/// Cuts a byte stream into packets, however its chunks cut the packets.
///
/// It does no I/O: it is given what a transport delivers and gives back each packet as soon as it is whole. A packet
/// that lies whole in a chunk is given where it lies. One that several chunks cut is put together in a buffer that never
/// holds more than this one packet, each byte copied there once; [`Splitter::copied`] counts them. So the time is in
/// proportion to the bytes, in whatever pieces they come.
///
/// The end of a packet is known from its header alone, and a packet that would be over the limit is refused then (F6),
/// before any memory is taken for it.
///
/// # Faults
///
/// A packet that is refused for its metadata or body is skipped: the next call goes on behind it. A fault for which
/// [`Fault::breaks_stream`] holds ends the stream, because the next packet cannot be found: every later call reports the
/// same fault. [`Splitter::refused`] then tells the header of the packet that was refused, where that is good, so that an
/// answer can name its session and frame.
///
/// # Examples
///
/// ```
/// use nnrp_core::stream::Splitter;
/// use nnrp_core::{CommonHeader, Message};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let ping = Message::Ping.to_vec(&CommonHeader { trace_id: 7, ..CommonHeader::default() })?;
///
/// let mut splitter = Splitter::new();
/// let mut seen = 0;
/// for mut chunk in ping.repeat(3).chunks(17) {
///     loop {
///         match splitter.next(&mut chunk) {
///             Ok(Some(packet)) => {
///                 assert_eq!(packet.header().trace_id(), 7);
///                 seen += 1;
///             }
///             Ok(None) => break, // the chunk is used up
///             Err(fault) if fault.breaks_stream() => return Err(fault.into()),
///             Err(fault) => eprintln!("refused {:?}: {fault}", splitter.refused()),
///         }
///     }
/// }
/// splitter.finish()?;
/// assert_eq!(seen, 3);
/// # Ok(())
/// # }
/// ```
pub struct Splitter {
    limit: usize,
    /// The start of a packet that no chunk held whole.
    buffer: Vec<u8>,
    /// Bytes of that packet, once its header is whole.
    size: Option<usize>,
    /// Whether that packet was given out, so that its bytes are not needed any more.
    given: bool,
    broken: Option<Fault>,
    refused: Option<CommonHeader>,
    copied: u64,
}

impl Splitter {
    /// With a limit of [`DEFAULT_LIMIT`].
    pub const fn new() -> Self {
        Self::with_limit(DEFAULT_LIMIT)
    }

    /// For packets of at most `limit` bytes, header and metadata included.
    pub const fn with_limit(limit: usize) -> Self {
        let buffer = Vec::new();
        Self { limit, buffer, size: None, given: false, broken: None, refused: None, copied: 0 }
    }

    /// Takes bytes from the front of `chunk` up to the end of a packet, and gives the packet.
    ///
    /// `None` says that the chunk is used up and the next packet is not whole yet. The packet borrows the splitter, and
    /// may borrow the chunk.
    ///
    /// # Errors
    ///
    /// The first fault of the packet, with offsets from its first byte. It was taken from the chunk, so that the next
    /// call goes on behind it, unless [`Fault::breaks_stream`]: then every later call gives the same fault.
    pub fn next<'s, 'c: 's>(&'s mut self, chunk: &mut &'c [u8]) -> Result<Option<Packet<'s>>, Fault> {
        self.next_with(chunk, &|_| false)
    }

    /// The same, where words such as capability tokens are good also if `words` says so.
    ///
    /// # Errors
    ///
    /// As [`Self::next`].
    pub fn next_with<'s, 'c: 's>(
        &'s mut self,
        chunk: &mut &'c [u8],
        words: &dyn Fn(&str) -> bool,
    ) -> Result<Option<Packet<'s>>, Fault> {
        if let Some(fault) = self.broken {
            return Err(fault);
        }
        self.release();
        if self.buffer.is_empty() {
            let size = self.measure(chunk)?;
            if let Some((packet, rest)) = size.and_then(|size| chunk.split_at_checked(size)) {
                *chunk = rest;
                return Self::check(packet, words, &mut self.refused).map(Some);
            }
        }
        if !self.fill(chunk)? {
            return Ok(None);
        }
        self.given = true;
        Self::check(&self.buffer, words, &mut self.refused).map(Some)
    }

    /// The header of the packet that the last fault refused, where the header is good.
    pub const fn refused(&self) -> Option<&CommonHeader> {
        self.refused.as_ref()
    }

    /// Bytes of the largest packet that is taken.
    pub const fn limit(&self) -> usize {
        self.limit
    }

    /// Bytes that are held of a packet that is not whole yet.
    pub const fn held(&self) -> usize {
        if self.given { 0 } else { self.buffer.len() }
    }

    /// Bytes that were copied since the start, because chunks cut their packets.
    pub const fn copied(&self) -> u64 {
        self.copied
    }

    /// The stream is over: no packet is cut.
    ///
    /// # Errors
    ///
    /// The fault that broke the stream, or what is missing of the last packet.
    pub fn finish(&self) -> Result<(), Fault> {
        match self.broken {
            Some(fault) => Err(fault),
            None if self.held() == 0 => Ok(()),
            None => Packet::parse(&self.buffer).map(|_| ()),
        }
    }

    /// Drops a packet that was given out, and memory that only it needed.
    fn release(&mut self) {
        self.refused = None;
        if core::mem::take(&mut self.given) {
            self.size = None;
            self.buffer.clear();
            self.buffer.shrink_to(KEEP);
        }
    }

    /// Copies from the chunk up to the end of the packet. Whether the packet is whole now.
    fn fill(&mut self, chunk: &mut &[u8]) -> Result<bool, Fault> {
        if self.size.is_none() {
            self.take(chunk, CommonHeader::SIZE);
            // Taken out so that it can be looked at while faults are kept.
            let buffer = core::mem::take(&mut self.buffer);
            self.size = self.measure(&buffer)?;
            self.buffer = buffer;
        }
        let Some(size) = self.size else { return Ok(false) };
        self.take(chunk, size);
        Ok(self.buffer.len() == size)
    }

    /// Copies from the chunk until the buffer holds `size` bytes, for which it makes room at once.
    fn take(&mut self, chunk: &mut &[u8], size: usize) {
        let missing = size.saturating_sub(self.buffer.len());
        let (taken, rest) = chunk.split_at_checked(missing).unwrap_or((chunk, &[]));
        if !taken.is_empty() {
            self.buffer.reserve_exact(missing);
            self.buffer.extend_from_slice(taken);
            self.copied = self.copied.saturating_add(taken.len() as u64);
        }
        *chunk = rest;
    }

    /// Bytes of the packet that starts with `bytes`, once its header is whole.
    fn measure(&mut self, bytes: &[u8]) -> Result<Option<usize>, Fault> {
        let fault = match Packet::declared_len(bytes) {
            Ok(None) => return Ok(None),
            Ok(Some(declared)) => match usize::try_from(declared) {
                Ok(size) if size <= self.limit => return Ok(Some(size)),
                _ => {
                    self.refused = header_of(bytes);
                    Fault::new(LIMIT, CommonHeader::BODY_LEN_OFFSET as u32, FaultKind::Limit)
                }
            },
            Err(fault) => fault,
        };
        self.broken = Some(fault);
        self.buffer = Vec::new();
        Err(fault)
    }

    /// Checks a whole packet.
    fn check<'p>(
        bytes: &'p [u8],
        words: &dyn Fn(&str) -> bool,
        refused: &mut Option<CommonHeader>,
    ) -> Result<Packet<'p>, Fault> {
        let packet = Packet::parse_with(bytes, words);
        if packet.is_err() {
            *refused = header_of(bytes);
        }
        packet
    }
}

impl Default for Splitter {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Splitter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = out.debug_struct("Splitter");
        out.field("limit", &self.limit).field("held", &self.held()).field("broken", &self.broken);
        out.finish_non_exhaustive()
    }
}

/// The header at the front of a packet, if it is good.
fn header_of(packet: &[u8]) -> Option<CommonHeader> {
    CommonHeader::decode(packet.get(..CommonHeader::SIZE)?).ok()
}
