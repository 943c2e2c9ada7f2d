//! Whole packets with other crates: header, message, metadata and the split of the body.
//!
//! What a crate has no word for is written here once for all of them: where a body is cut, and where in its regions
//! the rows, objects and tensor sections are. They check what their parsers of layouts check, and that lengths fit.

use std::hint::black_box;

use crate::sides::{self, Codec};

/// The kind of the inline object that holds tensor sections.
const SECTION_TABLE: u8 = 3;

/// What is particular to a side.
pub trait Side: Sized {
    type Header: Codec;
    type Metadata;
    type Prelude: Codec;
    type Object: Codec;
    type Reference: Codec;
    type Descriptor: Codec;
    type Section: Codec;

    /// The header, and what it cuts.
    fn head(bytes: &[u8]) -> Option<Head<'_, Self>>;

    /// The metadata of a message.
    fn metadata(kind: u8, bytes: &[u8]) -> Option<Self::Metadata>;

    /// Cuts the body of a message.
    fn split<'a>(metadata: &Self::Metadata, body: &'a [u8]) -> Option<Body<'a, Self>>;

    /// Bytes of each region.
    fn lengths(prelude: &Self::Prelude) -> [usize; 6];

    /// Bytes of an inline object.
    fn object(object: &Self::Object) -> usize;

    /// Where a payload starts, and its bytes.
    fn slice(descriptor: &Self::Descriptor) -> (usize, usize);

    /// Bytes of the codec table, the length table and the payload of a tensor section.
    fn section(section: &Self::Section) -> [usize; 3];

    /// Writes metadata and says how many bytes it takes.
    fn store(metadata: &Self::Metadata, out: &mut [u8]) -> Option<usize>;
}

/// A header and what is behind it.
pub struct Head<'a, S: Side> {
    pub header: S::Header,
    pub kind: u8,
    pub metadata: &'a [u8],
    pub body: &'a [u8],
}

/// A packet as a side sees it.
pub struct Packet<'a, S: Side> {
    header: S::Header,
    metadata: S::Metadata,
    body: Body<'a, S>,
}

/// A body, cut.
pub enum Body<'a, S: Side> {
    Segments([&'a [u8]; 3]),
    Regions(S::Prelude, [&'a [u8]; 6]),
}

impl<'a, S: Side> Body<'a, S> {
    /// Cuts as lengths say; where there is none, it is the rest.
    #[inline(always)]
    pub fn segments<const COUNT: usize>(body: &'a [u8], lengths: [Option<usize>; COUNT]) -> Option<Self> {
        let mut segments: [&[u8]; 3] = [&[]; 3];
        let mut rest = body;
        for (segment, length) in segments.iter_mut().zip(lengths) {
            (*segment, rest) = rest.split_at_checked(length.unwrap_or(rest.len()))?;
        }
        rest.is_empty().then_some(Self::Segments(segments))
    }

    /// Cuts as a prelude says.
    #[inline(always)]
    pub fn regions(body: &'a [u8]) -> Option<Self> {
        if body.is_empty() {
            return Some(Self::Segments([&[]; 3]));
        }
        let (head, mut rest) = body.split_at_checked(32)?;
        let prelude = S::Prelude::decode(head).ok()?;
        let mut regions: [&[u8]; 6] = [&[]; 6];
        for (region, length) in regions.iter_mut().zip(S::lengths(&prelude)) {
            (*region, rest) = rest.split_at_checked(length)?;
        }
        Self::rows(&regions)?;
        rest.is_empty().then_some(Self::Regions(prelude, regions))
    }

    /// Goes through what the regions hold.
    #[inline(always)]
    fn rows([objects, references, descriptors, frames, _, _]: &[&[u8]; 6]) -> Option<()> {
        let mut rest = *objects;
        while !rest.is_empty() {
            let (head, behind) = rest.split_at_checked(16)?;
            let object = S::Object::decode(head).ok()?;
            let size = S::object(&object);
            let (payload, behind) = behind.split_at_checked(size)?;
            if head[0] == SECTION_TABLE {
                Self::sections(payload)?;
            }
            black_box((&object, payload));
            rest = behind.get(size.next_multiple_of(8) - size..)?;
        }
        for row in references.chunks_exact(24) {
            black_box(&S::Reference::decode(row).ok()?);
        }
        for row in descriptors.chunks_exact(24) {
            let descriptor = S::Descriptor::decode(row).ok()?;
            let (offset, size) = S::slice(&descriptor);
            black_box((&descriptor, frames.get(offset..)?.get(..size)?));
        }
        Some(())
    }

    #[inline(always)]
    fn sections(table: &[u8]) -> Option<()> {
        let mut at = 0_usize;
        while at < table.len() {
            let (head, mut rest) = table.get(at.next_multiple_of(8)..)?.split_at_checked(32)?;
            let section = S::Section::decode(head).ok()?;
            let mut parts: [&[u8]; 3] = [&[]; 3];
            for (part, length) in parts.iter_mut().zip(S::section(&section)) {
                (*part, rest) = rest.split_at_checked(length)?;
            }
            black_box((&section, &parts));
            at = table.len() - rest.len();
        }
        Some(())
    }
}

impl<'a, S: Side> Packet<'a, S> {
    #[inline(always)]
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let Head { header, kind, metadata, body } = S::head(bytes)?;
        let metadata = S::metadata(kind, metadata)?;
        let body = S::split(&metadata, body)?;
        Some(Self { header, metadata, body })
    }

    #[inline(always)]
    pub fn write(&self, out: &mut [u8]) -> Option<usize> {
        self.header.encode(out.get_mut(..40)?).then_some(())?;
        let mut end = 40 + S::store(&self.metadata, out.get_mut(40..)?)?;
        let mut put = |bytes: &[u8]| {
            out.get_mut(end..end + bytes.len())?.copy_from_slice(bytes);
            end += bytes.len();
            Some(())
        };
        match &self.body {
            Body::Segments(segments) => segments.iter().try_for_each(|segment| put(segment))?,
            Body::Regions(prelude, regions) => {
                let mut head = [0; 32];
                prelude.encode(&mut head).then_some(())?;
                put(&head)?;
                regions.iter().try_for_each(|region| put(region))?;
            }
        }
        Some(end)
    }
}

include!(concat!(env!("OUT_DIR"), "/packets.rs"));
