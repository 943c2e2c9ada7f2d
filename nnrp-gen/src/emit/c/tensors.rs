//! Tensor sections and tile indexes, which tables cannot describe.

use crate::model::{Body, ByteOrder, Layout, Meaning, Tensor};
use crate::wire::FaultKind;

use super::faults::Blame;
use super::segments::Emit;
use super::text::{fill, indent};

const SECTIONS: &str = "\
/* Checks the sections of a table. */
static inline int ${name}(
    ${bytes} table, const uint8_t *start, uint64_t count, uint64_t tiles, ${fault} *fault)
{
    ${bytes} rest = table;
    uint64_t before = 0;

    for (uint64_t section = 0; section < count; section++) {
        const size_t wanted = ${padding}(${offset}(table.data, rest.data), 8);
        const ${bytes} padding = ${front}(&rest, wanted);
        const size_t zeros = ${zeros}(padding);
        ${bytes} descriptor;
        ${bytes} codec_table;
        ${bytes} length_table;
        ${bytes} payload;
        bool fixed;
        bool fits;
        int kind;

        ${refuse_padding}
        ${refuse_end}
        descriptor = ${front}(&rest, ${D}_SIZE);
        kind = ${d}_check_at_(descriptor.data, descriptor.size, ${offset}(start, descriptor.data), fault);
        if (kind != 0) {
            return kind;
        }
        ${refuse_role}
        before = ${role};
        ${refuse_codecs}
        fixed = (${flags} & ${fixed_stride}) != 0;
        ${refuse_lengths}
        codec_table = ${front}(&rest, ${codec_table});
        ${refuse_codec_table}
        length_table = ${front}(&rest, ${length_table});
        ${refuse_length_table}
        payload = ${front}(&rest, ${payload});
        ${refuse_payload}
        if (fixed) {
            const uint64_t stride = ${stride};

            fits = tiles == 0 || stride == 0
                ? payload.size == 0
                : stride <= UINT64_MAX / tiles && payload.size == stride * tiles;
        } else {
            uint64_t sum = 0;

            for (size_t at = 0; at + 4 <= length_table.size; at += 4) {
                sum += ${load_length}(length_table.data + at);
            }
            fits = payload.size == sum;
        }
        ${refuse_fit}
    }
    ${refuse_rest}
    return 0;
}
";

const TILES: &str = "\
/* Checks a tile index; its mode is none, two bytes a tile, steps of two bytes, or bits. */
static inline int ${name}(
    struct ${x} index, const uint8_t *start, unsigned mode, uint64_t tiles, ${fault} *fault)
{
    const ${bytes} bytes = index.payload;
    uint64_t sum = 0;

    switch (mode) {
    case 0:
        ${refuse_dense}
        break;
    case 1:
        ${refuse_words}
        break;
    case 2:
        ${refuse_words}
        for (size_t at = 0; at + 2 <= bytes.size; at += 2) {
            sum += ${load_id}(bytes.data + at);
            ${refuse_step}
        }
        break;
    default:
        ${refuse_bits}
        for (size_t at = 0; at < bytes.size; at++) {
            for (unsigned bit = 0; bit < 8; bit++) {
                sum += bytes.data[at] >> bit & 1u;
            }
        }
        ${refuse_count}
        ${refuse_last}
        break;
    }
    return 0;
}
";

/// The layout in front of every section, and where its fields are.
struct Descriptor<'a> {
    layout: &'a Layout,
    role: usize,
    flags: usize,
    fixed_stride: String,
    codec_table: usize,
    length_table: usize,
    payload: usize,
    stride: usize,
}

impl Emit<'_> {
    /// Nothing where the registry has no such layout.
    fn descriptor(&self) -> Option<Descriptor<'_>> {
        let registry = self.c.registry;
        let layout = registry.layout("tensor_section_descriptor")?;
        let field = |name: &str| layout.fields.iter().position(|field| field.name == name);
        let flags = field("section_flags")?;
        let Meaning::Bitmask(mask) = layout.fields[flags].meaning else { return None };
        let item = &registry.bitmasks[mask];
        let bit = item.bits.iter().find(|bit| bit.name == "fixed_stride")?;
        Some(Descriptor {
            layout,
            role: field("role_id")?,
            flags,
            fixed_stride: self.c.bit_name(item, &bit.name),
            codec_table: field("codec_table_bytes")?,
            length_table: field("length_table_bytes")?,
            payload: field("payload_bytes")?,
            stride: field("payload_stride_bytes")?,
        })
    }

    /// The functions that check the tensors of a message, which stand in front of its check.
    pub(super) fn tensor_functions(&self) -> String {
        let Some((tensor, body)) = self.message.tensor.as_ref().zip(self.message.body()) else {
            return String::new();
        };
        let body = &self.c.registry.bodies[body.1];
        let Some((descriptor, (entry, _))) = self.descriptor().zip(self.entry_of(body, tensor.part)) else {
            return String::new();
        };
        let sections = self.sections(tensor, &entry.name, &descriptor);
        let tiles =
            tensor.mode.map_or(String::new(), |_| format!("\n{}", self.tiles(tensor, body, &descriptor)));
        format!("{sections}{tiles}")
    }

    fn function_name(&self, what: &str) -> String {
        format!("{}_{what}_check_", self.lower)
    }

    fn sections(&self, tensor: &Tensor, entry: &str, descriptor: &Descriptor<'_>) -> String {
        let name = self.function_name("sections");
        self.c.names.define(&name, &format!("tensor of message `{}`", self.message.name));
        let layout = descriptor.layout;
        let lower = |name: &str| self.c.names.lower(name);
        let read = |field| self.c.number(layout, field, "descriptor.data");
        let refuse = |condition: &str, field, kind| {
            self.c.refuse_field(condition, (layout, field), "descriptor.data", kind, &tensor.id)
        };
        let whole = |condition: &str, place: &str, kind, offset: &str| {
            self.c.refuse(condition, &Blame::new(kind, place, "", &tensor.id), offset)
        };
        let order = if layout.byte_order == ByteOrder::Big { "be" } else { "le" };
        let length = FaultKind::Length;
        let held = |name: &str, field| refuse(&format!("{name}.size != {}", read(field)), field, length);
        fill(
            SECTIONS,
            &[
                ("name", &name),
                ("bytes", &lower("bytes")),
                ("fault", &lower("fault")),
                ("front", &lower("front_")),
                ("padding", &lower("padding_")),
                ("zeros", &lower("zeros_")),
                ("offset", &lower("offset_")),
                ("d", &lower(&layout.name)),
                ("D", &self.c.names.upper(&layout.name)),
                (
                    "refuse_padding",
                    &whole(
                        "zeros < padding.size",
                        &layout.name,
                        FaultKind::Reserved,
                        &format!("{} + zeros", self.at("padding.data")),
                    ),
                ),
                (
                    "refuse_end",
                    &whole(
                        "padding.size != wanted",
                        &layout.name,
                        FaultKind::TooShort,
                        &format!("{} + table.size", self.at("table.data")),
                    ),
                ),
                (
                    "refuse_role",
                    &refuse(
                        &format!("section > 0 && {} <= before", read(descriptor.role)),
                        descriptor.role,
                        FaultKind::Rule,
                    ),
                ),
                ("role", &read(descriptor.role)),
                (
                    "refuse_codecs",
                    &refuse(
                        &format!("{0} != 0 && {0} != tiles", read(descriptor.codec_table)),
                        descriptor.codec_table,
                        length,
                    ),
                ),
                ("flags", &read(descriptor.flags)),
                ("fixed_stride", &descriptor.fixed_stride),
                (
                    "refuse_lengths",
                    &refuse(
                        &format!(
                            "{} != (fixed ? 0 : tiles > UINT64_MAX / 4 ? UINT64_MAX : tiles * 4)",
                            read(descriptor.length_table)
                        ),
                        descriptor.length_table,
                        length,
                    ),
                ),
                ("codec_table", &read(descriptor.codec_table)),
                ("length_table", &read(descriptor.length_table)),
                ("payload", &read(descriptor.payload)),
                ("refuse_codec_table", &held("codec_table", descriptor.codec_table)),
                ("refuse_length_table", &held("length_table", descriptor.length_table)),
                ("refuse_payload", &held("payload", descriptor.payload)),
                ("stride", &read(descriptor.stride)),
                ("load_length", &lower(&format!("load_u32{order}_"))),
                ("refuse_fit", &refuse("!fits", descriptor.payload, length)),
                ("refuse_rest", &whole("rest.size != 0", entry, length, &self.at("rest.data"))),
            ],
        )
    }

    fn tiles(&self, tensor: &Tensor, body: &Body, descriptor: &Descriptor<'_>) -> String {
        let Some((entry, header)) = self.entry_of(body, tensor.part) else { return String::new() };
        let name = self.function_name("tiles");
        self.c.names.define(&name, &format!("tensor of message `{}`", self.message.name));
        let lower = |name: &str| self.c.names.lower(name);
        let length = |condition: &str| {
            self.c.refuse_field(
                condition,
                (header, entry.payload),
                "index.header.data",
                FaultKind::Length,
                &tensor.id,
            )
        };
        let whole = |condition: &str, offset: &str| {
            self.c.refuse(condition, &Blame::new(FaultKind::Rule, &entry.name, "", &tensor.id), offset)
        };
        let order = if descriptor.layout.byte_order == ByteOrder::Big { "be" } else { "le" };
        let at = self.at("bytes.data");
        fill(
            TILES,
            &[
                ("name", &name),
                ("x", &lower(&entry.name)),
                ("bytes", &lower("bytes")),
                ("fault", &lower("fault")),
                ("refuse_dense", &length("bytes.size != 0")),
                ("refuse_words", &length("bytes.size % 2 != 0 || bytes.size / 2 != tiles")),
                ("load_id", &lower(&format!("load_u16{order}_"))),
                ("refuse_step", &whole("sum > 0xffff", &format!("{at} + at"))),
                ("refuse_bits", &length("(bytes.size == 0) != (tiles == 0)")),
                ("refuse_count", &whole("sum != tiles", &at)),
                (
                    "refuse_last",
                    &whole(
                        "bytes.size > 0 && bytes.data[bytes.size - 1] == 0",
                        &format!("{at} + bytes.size - 1"),
                    ),
                ),
            ],
        )
    }

    /// The statements that check the tensors of a message.
    pub(super) fn tensor(&self, body: &Body, tensor: &Tensor) -> String {
        if self.descriptor().is_none() || self.entry_of(body, tensor.part).is_none() {
            return String::new();
        }
        let stop = "if (kind != 0) {\n    return kind;\n}\n";
        let tiles = self.number(tensor.tile_count);
        let call = format!(
            "if (there) {{\n    kind = {}(object.payload, start, {}, {tiles}, fault);\n{}}}\n",
            self.function_name("sections"),
            self.number(tensor.section_count),
            indent(stop, 4),
        );
        let mut out = self.object(body, "parts.", tensor.part, tensor.section_table, &call);
        let modes = tensor.mode.and_then(|field| {
            let Meaning::Enum(position) = self.metadata?.fields.get(field)?.meaning else { return None };
            let item = &self.c.registry.enums[position];
            let names = ["dense_range", "raw_u16", "delta_u16", "bitset"];
            let cases: String = names
                .iter()
                .enumerate()
                .filter_map(|(mode, name)| {
                    let value = item.named(name)?;
                    Some(format!(
                        "case {}:\n    kind = {}(object, start, {mode}, {tiles}, fault);\n    break;\n",
                        self.c.value_name(item, value),
                        self.function_name("tiles"),
                    ))
                })
                .collect();
            Some(format!(
                "kind = 0;\nswitch ({}) {{\n{cases}default:\n    break;\n}}\n{stop}",
                self.number(field)
            ))
        });
        if let Some(modes) = modes {
            let call = format!("if (there) {{\n{}}}\n", indent(&modes, 4));
            out.push_str(&self.object(body, "parts.", tensor.part, tensor.tile_index, &call));
        }
        out
    }
}
