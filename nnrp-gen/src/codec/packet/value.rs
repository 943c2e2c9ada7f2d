//! From the bytes of a packet to its value.

use crate::codec::text::bytes_as_hex;
use crate::codec::{Value, decode};
use crate::model::{Body, Entry, Layout};

use super::Packets;
use super::fill::{filled_in_prelude, sliced_by};
use super::outline::{Kind, Outline, Part};

/// The key of a payload among the fields of a header or row. A field that is called so, too, goes first.
pub(super) fn payload_key(layout: &Layout, left_out: &[usize]) -> String {
    let mut key = "payload".to_owned();
    let taken = |key: &str| {
        let mut fields = layout.fields.iter().enumerate();
        fields.any(|(at, field)| field.name == key && !left_out.contains(&at))
    };
    while taken(&key) {
        key.push('_');
    }
    key
}

/// The key of a slice among the fields of a row whose part slices several.
pub(super) fn slice_key(
    layout: &Layout,
    left_out: &[usize],
    body: &Body,
    sliced: &[usize],
    part: usize,
) -> String {
    if sliced.len() == 1 { payload_key(layout, left_out) } else { body.parts[part].name.clone() }
}

/// Fields of rows that say where slices are.
pub(super) fn slice_fields(body: &Body, sliced: &[usize]) -> Vec<usize> {
    let slices = sliced.iter().filter_map(|part| body.parts[*part].slices.as_ref());
    slices.flat_map(|slices| [slices.offset, slices.size]).collect()
}

impl Packets<'_> {
    /// The value of a packet, as far as it is cut.
    pub(super) fn value(&self, outline: &Outline<'_>) -> Value {
        let mut header = Value::Struct(Vec::new());
        let mut metadata = header.clone();
        let (mut body, mut rest) = (Vec::new(), Vec::new());
        for part in &outline.parts {
            match (part.name, part.kind, outline.message) {
                ("header", Kind::Layout(layout), _) if part.at == 0 => {
                    header = self.fields(layout, part.bytes, &self.filled_in_header());
                }
                ("metadata", Kind::Layout(layout), Some(message)) => {
                    metadata = self.fields(layout, part.bytes, &self.filled_in_metadata(message));
                }
                (_, Kind::Extra, _) => rest.push(("rest".to_owned(), hex(part.bytes))),
                _ => {
                    let value = self.part_value(part);
                    body.extend(value.map(|value| (part.name.to_owned(), value)));
                }
            }
        }
        let message = outline.message.map_or(String::new(), |message| message.name.clone());
        let named = |name: &str, value| (name.to_owned(), value);
        let mut whole = vec![
            named("header", header),
            named("message", Value::Text(message)),
            named("metadata", metadata),
            named("body", Value::Struct(body)),
        ];
        // Of a packet that was checked nothing is left over.
        whole.extend(rest);
        Value::Struct(whole)
    }

    /// The fields of a layout without some.
    fn fields(&self, layout: &Layout, bytes: &[u8], left_out: &[usize]) -> Value {
        match decode::checked(self.registry, layout, bytes) {
            Value::Struct(mut fields) => {
                let names: Vec<&str> =
                    left_out.iter().map(|field| layout.fields[*field].name.as_str()).collect();
                fields.retain(|(name, _)| !names.contains(&name.as_str()));
                Value::Struct(fields)
            }
            other => other,
        }
    }

    /// What a part holds; nothing where it is a body that is absent.
    fn part_value(&self, part: &Part<'_>) -> Option<Value> {
        let list =
            |parts: &[Part<'_>]| Value::List(parts.iter().filter_map(|part| self.part_value(part)).collect());
        Some(match part.kind {
            Kind::Layout(layout) => self.fields(layout, part.bytes, &[]),
            Kind::Rows(_) | Kind::Entries(_) | Kind::Words(_) | Kind::Slices(_) => list(&part.parts),
            Kind::Entry(entry) => self.entry_value(entry, part),
            Kind::Body(_) if part.bytes.is_empty() => return None,
            Kind::Body(body) => self.body_value(body, part),
            Kind::Leading(_) => {
                let named = |part: &Part<'_>| Some((part.name.to_owned(), self.part_value(part)?));
                Value::Struct(part.parts.iter().filter_map(named).collect())
            }
            Kind::Word => {
                let word = part.part("word").map_or(&[][..], |word| word.bytes);
                Value::Text(String::from_utf8_lossy(word).into_owned())
            }
            Kind::Opaque
            | Kind::Padding
            | Kind::Extra
            | Kind::Sections
            | Kind::Section
            | Kind::Lengths(_)
            | Kind::Tiles => hex(part.bytes),
        })
    }

    fn entry_value(&self, entry: &Entry, part: &Part<'_>) -> Value {
        let layout = self.layout(entry.header);
        let left_out = [entry.payload];
        let header = part.part("header").map_or(&[][..], |header| header.bytes);
        let payload = part.part("payload").and_then(|payload| self.part_value(payload));
        let mut value = self.fields(layout, header, &left_out);
        if let Value::Struct(fields) = &mut value {
            fields.push((payload_key(layout, &left_out), payload.unwrap_or_else(|| hex(&[]))));
        }
        value
    }

    fn body_value(&self, body: &Body, part: &Part<'_>) -> Value {
        let mut list = Vec::new();
        let Some((head, parts)) = part.parts.split_first() else { return Value::Struct(list) };
        let prelude = self.fields(self.layout(body.prelude), head.bytes, &filled_in_prelude(body));
        if !matches!(&prelude, Value::Struct(fields) if fields.is_empty()) {
            list.push((head.name.to_owned(), prelude));
        }
        for (at, (item, part)) in body.parts.iter().zip(parts).enumerate() {
            let sliced = sliced_by(body, at);
            let value = match part.kind {
                _ if item.slices.is_some() => None,
                Kind::Rows(layout) if !sliced.is_empty() => {
                    Some(self.sliced_rows(body, &sliced, layout, &part.parts, parts))
                }
                _ => self.part_value(part),
            };
            list.extend(value.map(|value| (item.name.clone(), value)));
        }
        Value::Struct(list)
    }

    /// Rows, each with its slices.
    fn sliced_rows(
        &self,
        body: &Body,
        sliced: &[usize],
        layout: &Layout,
        rows: &[Part<'_>],
        parts: &[Part<'_>],
    ) -> Value {
        let left_out = slice_fields(body, sliced);
        let row_value = |(at, row): (usize, &Part<'_>)| {
            let mut value = self.fields(layout, row.bytes, &left_out);
            if let Value::Struct(fields) = &mut value {
                for part in sliced {
                    let slice = parts.get(*part).and_then(|part| part.parts.get(at));
                    let slice = slice.and_then(|slice| self.part_value(slice)).unwrap_or_else(|| hex(&[]));
                    fields.push((slice_key(layout, &left_out, body, sliced, *part), slice));
                }
            }
            value
        };
        Value::List(rows.iter().enumerate().map(row_value).collect())
    }
}

fn hex(bytes: &[u8]) -> Value {
    Value::Text(bytes_as_hex(bytes))
}
