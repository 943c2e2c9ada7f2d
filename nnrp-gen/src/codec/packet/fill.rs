//! Which fields the rest of a packet determines.

use crate::model::{Body, Content, Count, Message};

use super::Packets;

impl Packets<'_> {
    /// Positions of the header's fields that the rest of a packet determines.
    pub fn filled_in_header(&self) -> Vec<usize> {
        vec![self.message, self.metadata_length, self.body_length]
    }

    /// Positions of the metadata's fields that a message's body determines: lengths, counts, repeated sizes.
    pub fn filled_in_metadata(&self, message: &Message) -> Vec<usize> {
        let of_segments = message.segments.iter().flat_map(|segment| [segment.length, segment.count]);
        let mut fields: Vec<usize> = of_segments.flatten().collect();
        for segment in &message.segments {
            if let Content::Body(body) = segment.content {
                fields.extend(self.counts(message, &self.registry.bodies[body]).map(|(_, field)| field));
            }
        }
        fields.extend(message.sizes.iter().map(|size| size.field));
        fields
    }

    /// The parts of a body that a message counts, and the metadata field of each.
    pub(super) fn counts(&self, message: &Message, body: &Body) -> impl Iterator<Item = (usize, usize)> {
        let layout = self.metadata(message);
        body.parts.iter().enumerate().filter_map(move |(at, part)| match &part.count {
            Some(Count::Metadata(name)) => {
                Some((at, layout?.fields.iter().position(|field| field.name == *name)?))
            }
            _ => None,
        })
    }
}

/// Fields of a prelude that its parts determine.
pub(super) fn filled_in_prelude(body: &Body) -> Vec<usize> {
    let of_part = body.parts.iter().flat_map(|part| {
        let count = match part.count {
            Some(Count::Prelude(field)) => Some(field),
            _ => None,
        };
        [Some(part.length), count, part.leading.map(|(_, count)| count)]
    });
    of_part.flatten().collect()
}

/// The parts that the rows of a part slice.
pub(super) fn sliced_by(body: &Body, rows: usize) -> Vec<usize> {
    let slices = |part: &usize| body.parts[*part].slices.as_ref().is_some_and(|slices| slices.rows == rows);
    (0..body.parts.len()).filter(slices).collect()
}
