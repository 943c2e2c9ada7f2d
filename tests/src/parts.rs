//! Random bodies, as values for the writer of packets.

use nnrp_gen::codec::{self, Value, bytes_as_hex, raw};
use nnrp_gen::model::{
    Body, Case, Content, Entry, Layout, Meaning, Message, Part, Registry, Segment, Select, Tensor, Vocabulary,
};
use nnrp_gen::rule;

use crate::packet::{Pins, Size};
use crate::random::{Random, good};

/// Makes the parts of one body.
pub(crate) struct Parts<'p> {
    pub registry: &'p Registry,
    pub message: &'p Message,
    pub size: Size,
    pub random: &'p mut Random,
    /// What they settle in the metadata.
    pub pins: Pins,
}

/// A row or entry before it is put in order.
struct Row {
    bytes: Vec<u8>,
    value: Value,
}

fn hex(bytes: &[u8]) -> Value {
    Value::Text(bytes_as_hex(bytes))
}

impl<'p> Parts<'p> {
    pub fn body(&mut self) -> Value {
        let mut list = Vec::new();
        let message = self.message;
        for segment in &message.segments {
            if let Some(value) = self.segment(segment) {
                list.push((segment.name.clone(), value));
            }
        }
        Value::Struct(list)
    }

    /// Whether something that may be left out is there.
    fn there(&mut self) -> bool {
        match self.size {
            Size::Minimal => false,
            Size::Typical => self.random.below(3) > 0,
            Size::Full => true,
        }
    }

    fn segment(&mut self, segment: &Segment) -> Option<Value> {
        let must = matches!(segment.content, Content::Body(body) if !self.registry.bodies[body].optional);
        if !must && !self.there() {
            return None;
        }
        if !segment.cases.is_empty()
            && let Some(select) = segment.select
            && self.random.below(2) == 0
        {
            let case: &Case = &segment.cases[self.random.below(segment.cases.len())];
            self.pins.insert(select, case.value);
            return match case.content {
                Content::Layout(layout) => Some(self.row(&self.registry.layouts[layout])?.value),
                content => self.content(content),
            };
        }
        self.content(segment.content)
    }

    fn content(&mut self, content: Content) -> Option<Value> {
        let registry = self.registry;
        Some(match content {
            Content::Opaque => self.opaque(),
            Content::Layout(layout) => {
                let layout = &registry.layouts[layout];
                let rows = (0..self.count()).filter_map(|_| Some(self.row(layout)?.value)).collect();
                Value::List(rows)
            }
            Content::Entry(entry) => {
                let entries = self.entries(&registry.entries[entry]);
                Value::List(entries.into_iter().map(|row| row.value).collect())
            }
            Content::Body(body) => self.parts(&registry.bodies[body]),
            Content::Vocabulary(words) => self.words(&registry.vocabularies[words]),
        })
    }

    /// How many of something that is there.
    fn count(&mut self) -> usize {
        1 + self.random.below(4)
    }

    fn bytes(&mut self) -> Vec<u8> {
        let most = *self.random.pick(&[8, 40, 200]);
        let count = 1 + self.random.below(most);
        self.random.bytes(count)
    }

    fn opaque(&mut self) -> Value {
        hex(&self.bytes())
    }

    fn row(&mut self, layout: &Layout) -> Option<Row> {
        let bytes = good(self.registry, layout, self.random)?;
        let value = codec::decode(self.registry, layout, &bytes).ok()?;
        Some(Row { bytes, value })
    }

    /// A header or row whose selector has a value, with what its payload must be then.
    fn selecting(&mut self, layout: &Layout, select: &Select, value: u64) -> Option<Row> {
        let mut bytes = good(self.registry, layout, self.random)?;
        put(layout, select.field, value, &mut bytes);
        if let Some((field, bit)) = select.critical {
            let flags = read(layout, field, &bytes) & !bit;
            put(layout, field, flags, &mut bytes);
        }
        let choice = select.choices.iter().find(|choice| choice.value == value);
        if let Some((condition, _)) = choice.and_then(|choice| choice.require.as_ref()) {
            // Conditions are about what is not used, mostly.
            for field in rule::fields(condition) {
                put(layout, field.index, 0, &mut bytes);
            }
        }
        let value = codec::decode(self.registry, layout, &bytes).ok()?;
        Some(Row { bytes, value })
    }

    /// A value for a selector: one whose payload is known in the message, or another.
    fn selected(&mut self, layout: &Layout, select: &Select, taken: &[u64]) -> Option<u64> {
        let message = self.registry.messages.iter().position(|item| item.value == self.message.value)?;
        let known = |messages: &[usize]| messages.is_empty() || messages.contains(&message);
        let known: Vec<u64> = select
            .choices
            .iter()
            .filter(|choice| known(&choice.messages))
            .map(|choice| choice.value)
            .collect();
        let value = if !known.is_empty() && self.random.below(3) > 0 {
            *self.random.pick(&known)
        } else {
            let bytes = good(self.registry, layout, self.random)?;
            read(layout, select.field, &bytes)
        };
        (!taken.contains(&value)).then_some(value)
    }

    fn payload(&mut self, select: Option<&Select>, value: u64) -> Value {
        let message = self.registry.messages.iter().position(|item| item.value == self.message.value);
        let known =
            |messages: &[usize]| messages.is_empty() || message.is_some_and(|it| messages.contains(&it));
        let choice = select.and_then(|select| {
            select.choices.iter().find(|choice| choice.value == value && known(&choice.messages))
        });
        let layout = choice.map(|choice| &self.registry.layouts[choice.layout]);
        match layout.and_then(|layout| self.row(layout)) {
            Some(row) => row.value,
            None if self.random.below(4) == 0 => hex(&[]),
            None => self.opaque(),
        }
    }

    fn entries(&mut self, entry: &Entry) -> Vec<Row> {
        let layout = &self.registry.layouts[entry.header];
        let mut taken = Vec::new();
        let mut list = Vec::new();
        for _ in 0..self.count() {
            let row = match &entry.select {
                None => self.row(layout).map(|row| (row, 0)),
                Some(select) => self.selected(layout, select, &taken).and_then(|value| {
                    taken.push(value);
                    Some((self.selecting(layout, select, value)?, value))
                }),
            };
            let Some((mut row, value)) = row else { continue };
            if let Some(unique) = entry.unique {
                let value = read(layout, unique, &row.bytes);
                if list.iter().any(|row: &Row| read(layout, unique, &row.bytes) == value) {
                    continue;
                }
            }
            let payload = self.payload(entry.select.as_ref(), value);
            set_payload(&mut row.value, &layout.fields[entry.payload].name, payload);
            list.push(row);
        }
        list
    }

    fn words(&mut self, item: &Vocabulary) -> Value {
        let chosen: Vec<Value> = item
            .words
            .iter()
            .filter(|_| self.random.below(3) == 0)
            .map(|(word, _)| Value::Text(word.clone()))
            .collect();
        match (chosen.is_empty(), item.words.first()) {
            (true, Some((word, _))) => Value::List(vec![Value::Text(word.clone())]),
            _ => Value::List(chosen),
        }
    }

    fn parts(&mut self, body: &Body) -> Value {
        let prelude = &self.registry.layouts[body.prelude];
        let mut list = Vec::new();
        if let Some(Row { value: Value::Struct(mut fields), .. }) = self.row(prelude) {
            for part in &body.parts {
                let counted = match part.count {
                    Some(nnrp_gen::model::Count::Prelude(field)) => Some(field),
                    _ => None,
                };
                for field in
                    [Some(part.length), counted, part.leading.map(|(_, count)| count)].into_iter().flatten()
                {
                    fields.retain(|(name, _)| *name != prelude.fields[field].name);
                }
            }
            list.push(("prelude".to_owned(), Value::Struct(fields)));
        }
        let objects = self.objects(body);
        for (at, part) in body.parts.iter().enumerate() {
            let chosen = objects.iter().find(|(place, _)| *place == at);
            let value = match chosen {
                Some((_, value)) => Some(value.clone()),
                None if part.slices.is_some() || !self.there() => None,
                None => self.part(body, at, part),
            };
            list.extend(value.map(|value| (part.name.clone(), value)));
        }
        Value::Struct(list)
    }

    fn part(&mut self, body: &Body, at: usize, part: &Part) -> Option<Value> {
        if let Some((layout, _)) = part.leading {
            let leading = self.content(Content::Layout(layout))?;
            let rest = self.opaque();
            return Some(Value::Struct(vec![("leading".to_owned(), leading), ("rest".to_owned(), rest)]));
        }
        let slices =
            body.parts.iter().find_map(|part| part.slices.as_ref().filter(|slices| slices.rows == at));
        let rows = match (part.content, slices) {
            (Content::Layout(layout), Some(slices)) => {
                let layout = &self.registry.layouts[layout];
                let mut rows = Vec::new();
                for _ in 0..self.count() {
                    let selected = match &slices.select {
                        None => self.row(layout).map(|row| (row, 0)),
                        Some(select) => {
                            let taken: Vec<u64> =
                                rows.iter().map(|row: &Row| read(layout, select.field, &row.bytes)).collect();
                            self.selected(layout, select, &taken)
                                .and_then(|value| Some((self.selecting(layout, select, value)?, value)))
                        }
                    };
                    let Some((mut row, value)) = selected else { continue };
                    let payload = self.payload(slices.select.as_ref(), value);
                    let offset = &layout.fields[slices.offset].name;
                    if let Value::Struct(fields) = &mut row.value {
                        fields.retain(|(name, _)| name != offset);
                    }
                    set_payload(&mut row.value, &layout.fields[slices.size].name, payload);
                    rows.push(row);
                }
                rows
            }
            (Content::Layout(layout), None) => {
                let layout = &self.registry.layouts[layout];
                (0..self.count()).filter_map(|_| self.row(layout)).collect()
            }
            (Content::Entry(entry), _) => self.entries(&self.registry.entries[entry]),
            _ => return Some(self.opaque()),
        };
        Some(Value::List(self.ordered(body, at, rows).into_iter().map(|row| row.value).collect()))
    }

    /// Rows in the order that the message asks for.
    fn ordered(&self, body: &Body, part: usize, mut rows: Vec<Row>) -> Vec<Row> {
        let layout = match body.parts[part].content {
            Content::Layout(layout) => layout,
            Content::Entry(entry) => self.registry.entries[entry].header,
            _ => return rows,
        };
        let layout = &self.registry.layouts[layout];
        for sorted in self.message.sorted.iter().filter(|sorted| sorted.part == part) {
            let key = |row: &Row| {
                sorted.by.iter().map(|field| read(layout, *field, &row.bytes)).collect::<Vec<_>>()
            };
            rows.sort_by_key(key);
            if sorted.strict {
                rows.dedup_by_key(|row| key(row));
            }
        }
        rows
    }

    /// The parts whose objects stand in slots or hold tensors.
    fn objects(&mut self, body: &Body) -> Vec<(usize, Value)> {
        let message = self.message;
        let mut list = Vec::new();
        let inline =
            message.slots.as_ref().map(|slots| slots.inline.0).or(message.tensor.as_ref().map(|it| it.part));
        let Some(inline) = inline else { return list };
        let Content::Entry(entry) = body.parts[inline].content else { return list };
        let entry = &self.registry.entries[entry];
        let Some(select) = &entry.select else { return list };
        let layout = &self.registry.layouts[entry.header];
        let mut kinds: Vec<u64> = match &message.slots {
            Some(slots) => slots.order.iter().map(|(kind, _)| *kind).collect(),
            None => message.tensor.iter().flat_map(|it| [it.tile_index, it.section_table]).collect(),
        };
        let standard = kinds.clone();
        let mut referenced = Vec::new();
        if let Some(slots) = &message.slots {
            let by_reference = kinds.iter().copied().filter(|_| self.there() && self.random.below(2) == 0);
            referenced = by_reference.collect();
            let bits = slots.order.iter().filter(|(kind, _)| referenced.contains(kind));
            self.pins.insert(slots.mask, bits.fold(0, |mask, (_, bit)| mask | bit));
        }
        kinds.retain(|kind| !referenced.contains(kind));
        kinds.retain(|_| self.there() && self.random.below(4) > 0);
        let standard_inline = !kinds.is_empty();
        if let Some((slots, (mode, reference, mixed))) =
            message.slots.as_ref().and_then(|slots| Some((slots, slots.mode?)))
            && self.pins.get(&slots.mask) != Some(&0)
        {
            self.pins.insert(mode, if standard_inline { mixed } else { reference });
        }
        let mut extra = Vec::new();
        if self.there() {
            for _ in 0..self.count() {
                extra.extend(self.selected(layout, select, &standard));
            }
        }
        extra.sort_unstable();
        kinds.extend(extra);
        let tensor = message.tensor.as_ref().and_then(|tensor| self.tensor(tensor, &kinds));
        let mut rows = Vec::new();
        for kind in kinds {
            let Some(mut row) = self.selecting(layout, select, kind) else { continue };
            let payload = match (&message.tensor, &tensor) {
                (Some(item), Some((table, _))) if item.section_table == kind => hex(table),
                (Some(item), Some((_, Some(index)))) if item.tile_index == kind => hex(index),
                _ => self.payload(Some(select), kind),
            };
            set_payload(&mut row.value, &layout.fields[entry.payload].name, payload);
            rows.push(row);
        }
        let rows = self.ordered(body, inline, rows);
        list.push((inline, Value::List(rows.into_iter().map(|row| row.value).collect())));
        if let Some(slots) = &message.slots
            && let Content::Layout(layout) = body.parts[slots.references.0].content
        {
            let layout = &self.registry.layouts[layout];
            let mut rows = Vec::new();
            for kind in referenced {
                let Some(mut row) = self.row(layout) else { continue };
                put(layout, slots.references.1, kind, &mut row.bytes);
                rows.extend(codec::decode(self.registry, layout, &row.bytes));
            }
            list.push((slots.references.0, Value::List(rows)));
        }
        list
    }

    /// A section table and a tile index that fit the counts, which they settle.
    fn tensor(&mut self, tensor: &Tensor, kinds: &[u64]) -> Option<(Vec<u8>, Option<Vec<u8>>)> {
        if !kinds.contains(&tensor.section_table) && !kinds.contains(&tensor.tile_index) {
            return None;
        }
        let layout = self.registry.layout("tensor_section_descriptor")?;
        let tiles = self.random.below(6);
        let sections = self.random.below(4);
        self.pins.insert(tensor.tile_count, tiles as u64);
        if kinds.contains(&tensor.section_table) {
            self.pins.insert(tensor.section_count, sections as u64);
        }
        let mut roles: Vec<u64> = (0..sections).map(|_| self.random.number() & 0xff).collect();
        roles.sort_unstable();
        roles.dedup();
        if kinds.contains(&tensor.section_table) {
            self.pins.insert(tensor.section_count, roles.len() as u64);
        }
        let mut table = Vec::new();
        for role in roles {
            table.resize(table.len().next_multiple_of(8), 0);
            table.extend(self.section(layout, role, tiles)?);
        }
        let index = match tensor.mode {
            Some(mode) if kinds.contains(&tensor.tile_index) => Some(self.tile_index(mode, tiles)),
            _ => None,
        };
        Some((table, index))
    }

    fn section(&mut self, layout: &Layout, role: u64, tiles: usize) -> Option<Vec<u8>> {
        let field = |name: &str| layout.fields.iter().position(|field| field.name == name);
        let mut bytes = vec![0; layout.size as usize];
        let Meaning::Bitmask(mask) = layout.fields[field("section_flags")?].meaning else { return None };
        let bit = |name: &str| {
            self.registry.bitmasks[mask].bits.iter().find(|bit| bit.name == name).map_or(0, |bit| bit.mask)
        };
        let (fixed, mixed) = (bit("fixed_stride"), bit("mixed_codec"));
        let mut flags = 0;
        put(layout, field("role_id")?, role, &mut bytes);
        let codecs = if tiles > 0 && self.random.below(2) == 0 {
            flags |= mixed;
            self.random.bytes(tiles)
        } else {
            Vec::new()
        };
        let (lengths, payload): (Vec<u8>, usize) = if self.random.below(2) == 0 {
            flags |= fixed;
            let stride = 1 + self.random.below(9);
            put(layout, field("payload_stride_bytes")?, stride as u64, &mut bytes);
            (Vec::new(), stride * tiles)
        } else {
            let each: Vec<u32> = (0..tiles).map(|_| self.random.below(12) as u32).collect();
            let sum = each.iter().sum::<u32>() as usize;
            (each.iter().flat_map(|length| length.to_le_bytes()).collect(), sum)
        };
        put(layout, field("section_flags")?, flags, &mut bytes);
        put(layout, field("codec_table_bytes")?, codecs.len() as u64, &mut bytes);
        put(layout, field("length_table_bytes")?, lengths.len() as u64, &mut bytes);
        put(layout, field("payload_bytes")?, payload as u64, &mut bytes);
        let payload = self.random.bytes(payload);
        codec::fault(self.registry, layout, &bytes)
            .is_none()
            .then(|| [bytes, codecs, lengths, payload].concat())
    }

    fn tile_index(&mut self, mode: usize, tiles: usize) -> Vec<u8> {
        let metadata = self.message.metadata.map(|layout| &self.registry.layouts[layout]);
        let item = match metadata.map(|layout| &layout.fields[mode].meaning) {
            Some(Meaning::Enum(item)) => &self.registry.enums[*item],
            _ => return Vec::new(),
        };
        let value = self.random.pick(&item.values);
        self.pins.insert(mode, value.value);
        match value.name.as_str() {
            "raw_u16" => self.random.bytes(2 * tiles),
            "delta_u16" => {
                (0..tiles).flat_map(|_| (self.random.number() as u16 % 9000).to_le_bytes()).collect()
            }
            "bitset" => {
                let mut bits = vec![0_u8; if tiles == 0 { 0 } else { 1 + tiles / 3 }];
                let total = bits.len() * 8;
                for tile in 0..tiles {
                    // The last byte has one, the others are anywhere.
                    let mut bit = if tile == 0 { total - 1 } else { self.random.below(total) };
                    while bits[bit / 8] >> (bit % 8) & 1 != 0 {
                        bit = (bit + 1) % total;
                    }
                    bits[bit / 8] |= 1 << (bit % 8);
                }
                bits
            }
            _ => Vec::new(),
        }
    }
}

/// Puts a payload in place of its length.
fn set_payload(value: &mut Value, length: &str, payload: Value) {
    if let Value::Struct(fields) = value {
        fields.retain(|(name, _)| name != length);
        fields.push(("payload".to_owned(), payload));
    }
}

/// A field as a number.
pub(crate) fn read(layout: &Layout, field: usize, bytes: &[u8]) -> u64 {
    raw(&bytes[layout.fields[field].range()], layout.byte_order)
}

/// Puts the low bytes of a number into a field.
pub(crate) fn put(layout: &Layout, field: usize, number: u64, bytes: &mut [u8]) {
    let place = &mut bytes[layout.fields[field].range()];
    let little = number.to_le_bytes();
    let size = place.len();
    for (at, byte) in little.iter().enumerate().take(size) {
        let at = if layout.byte_order == nnrp_gen::model::ByteOrder::Little { at } else { size - 1 - at };
        place[at] = *byte;
    }
}
