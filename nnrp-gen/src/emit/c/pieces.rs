//! Pieces: entries, words and bodies, written one behind the other from what they are made of.

use crate::model::{Body, ByteOrder, Content, Count, Entry, Layout, Vocabulary};
use crate::wire::FaultKind;

use super::faults::Blame;
use super::text::{fill, indent};
use super::{C, names, places};

const ENTRY: &str = "\
/**
 * Writes an entry: its header with the payload's length filled in, the payload, and padding.
 *
 * @return the bytes that it takes; 0 where they have no room or the header is not good.
 */
static inline size_t ${x}_write(
    const struct ${h} *header, ${bytes} payload,
    uint8_t *out, size_t size, ${fault} *fault)
{
    ${zeros}
    uint8_t head[${H}_SIZE];
    ${pieces}
    const size_t length = ${total}(0, pieces, ${n});
    ${bytes} whole = { out, length };
    struct ${x} entry;

    ${h}_pack_(header, head);
    ${set_length}
    if (!${room}(length, size, ${LAYOUT}, fault)) {
        return 0;
    }
    ${put}(out, pieces, ${n});
    if (${x}_first_(&whole, out, &entry, fault) != 0) {
        memset(out, 0, length);
        return 0;
    }
    return length;
}
";

const WORD: &str = "\
/**
 * Writes a word with its length in front. Words ascend; a reader refuses others.
 *
 * @return the bytes that it takes; 0 where they have no room or its length cannot be said.
 */
static inline size_t ${x}_write(${bytes} word, uint8_t *out, size_t size, ${fault} *fault)
{
    uint8_t prefix[${prefix}];
    const ${bytes} pieces[2] = { { prefix, sizeof prefix }, word };
    const size_t length = ${total}(0, pieces, 2);

    if (word.size == 0 || ${length} != word.size) {
        ${blame};
        return 0;
    }
    if (!${room}(length, size, ${LAYOUT}, fault)) {
        return 0;
    }
    ${store}
    ${put}(out, pieces, 2);
    return length;
}
";

const BODY: &str = "\
/** ${docs} */
static inline size_t ${x}_size(const struct ${x} *parts)
{
    ${pieces}

    ${absent}
    return ${total}(0, pieces, ${n1});
}

/* Makes the prelude of some parts, with lengths and counts filled in, and says how long it is. */
static inline int ${x}_prelude_(const struct ${x} *parts, uint8_t *out, size_t *size, size_t base, ${fault} *fault)
{
    *size = 0;
    ${skip}
    if (parts->prelude.size == 0) {
        ${p}_blank(out);
    } else if (parts->prelude.size == ${P}_SIZE) {
        memcpy(out, parts->prelude.data, ${P}_SIZE);
    } else {
        return ${length}(fault, ${LAYOUT_P}, parts->prelude.size, ${P}_SIZE, base);
    }
    ${sets}
    *size = ${P}_SIZE;
    return 0;
}
";

const ALONE: &str = "
/**
 * Writes a `${name}` that stands by itself, with lengths and counts filled in. `prelude` may be empty.
 *
 * @return the bytes that it takes; 0 where they have no room or a reader would refuse them.
 */
static inline size_t ${x}_write(const struct ${x} *parts, uint8_t *out, size_t size, ${fault} *fault)
{
    uint8_t prelude[${P}_SIZE];
    ${with_prelude}
    const ${bytes} whole = { out, ${x}_size(parts) };

    if (${x}_prelude_(parts, prelude, &pieces[0].size, 0, fault) != 0
        || !${room}(whole.size, size, ${LAYOUT}, fault)) {
        return 0;
    }
    ${put}(out, pieces, ${n1});
    if (${x}_check_(whole, out, 0, fault) != 0) {
        memset(out, 0, whole.size);
        return 0;
    }
    return whole.size;
}
";

impl C<'_> {
    /// The statement that puts a number into a field of a layout, whose bytes begin at `data`. One that does not fit
    /// becomes the largest, which a reader refuses.
    pub(super) fn set(&self, layout: &Layout, field: usize, data: &str, value: &str) -> String {
        let field = &layout.fields[field];
        let setter = self.names.lower(&format!("{}_set_{}", layout.name, field.name));
        let value = match field.size {
            8 => value.to_owned(),
            size => format!("{}({value})", self.names.lower(&format!("fit_u{}_", size * 8))),
        };
        format!("{setter}({data}, {value});\n")
    }

    /// The function that writes an entry.
    pub(super) fn entry_write(&self, entry: &Entry) -> String {
        let layout = &self.registry.layouts[entry.header];
        let lower = |name: &str| self.names.lower(name);
        let x = lower(&entry.name);
        self.names.define(&format!("{x}_write"), &format!("entry `{}`", entry.name));
        let mut pieces = vec!["{ head, sizeof head }".to_owned(), "payload".to_owned()];
        let mut zeros = String::new();
        if entry.align > 1 {
            let (align, size) = (entry.align, layout.size);
            zeros = format!("static const uint8_t zeros[{align}] = {{ 0 }};\n");
            pieces.push(format!(
                "{{ zeros, {}({size} + payload.size % {align}, {align}) }}",
                lower("padding_")
            ));
        }
        fill(
            ENTRY,
            &[
                ("x", &x),
                ("h", &lower(&layout.name)),
                ("H", &self.names.upper(&layout.name)),
                ("LAYOUT", &self.names.upper(&places::place(&entry.name))),
                ("zeros", &zeros),
                ("pieces", &list("const ", &lower("bytes"), &pieces)),
                ("n", &pieces.len().to_string()),
                ("bytes", &lower("bytes")),
                ("fault", &lower("fault")),
                ("total", &lower("total_")),
                ("room", &lower("room_")),
                ("put", &lower("put_")),
                ("set_length", &self.set(layout, entry.payload, "head", "payload.size")),
            ],
        )
    }

    /// The function that writes a word.
    pub(super) fn word_write(&self, item: &Vocabulary) -> String {
        let lower = |name: &str| self.names.lower(name);
        let x = lower(&item.name);
        self.names.define(&format!("{x}_write"), &format!("vocabulary `{}`", item.name));
        let size = item.length_type.size();
        let fit = match size {
            8 => "word.size".to_owned(),
            size => format!("{}(word.size)", lower(&format!("fit_u{}_", size * 8))),
        };
        let store = match size {
            1 => format!("prefix[0] = {fit};\n"),
            size => {
                let order = if self.registry.protocol.byte_order == ByteOrder::Big { "be" } else { "le" };
                let store = lower(&format!("store_u{}{order}_", size * 8));
                format!("{store}(prefix, {fit});\n")
            }
        };
        let blame = Blame::new(FaultKind::Length, &item.name, "length", &item.id);
        fill(
            WORD,
            &[
                ("x", &x),
                ("LAYOUT", &self.names.upper(&places::place(&item.name))),
                ("bytes", &lower("bytes")),
                ("fault", &lower("fault")),
                ("prefix", &size.to_string()),
                ("length", &fit),
                ("total", &lower("total_")),
                ("room", &lower("room_")),
                ("put", &lower("put_")),
                ("store", &store),
                ("blame", self.blame("        ", &blame, "0").trim_start()),
            ],
        )
    }

    /// The functions that write a body of parts, the whole of it only where it can stand by itself.
    pub(super) fn body_write(&self, body: &Body) -> String {
        let prelude = &self.registry.layouts[body.prelude];
        let lower = |name: &str| self.names.lower(name);
        let x = lower(&body.name);
        let alone = self.counts(body).is_empty();
        let what = format!("body `{}`", body.name);
        for suffix in ["_size", "_prelude_"].into_iter().chain(alone.then_some("_write")) {
            self.names.define(&format!("{x}{suffix}"), &what);
        }
        let mut sets = String::new();
        let mut filled = Vec::new();
        for part in &body.parts {
            let size = format!("parts->{}.size", names::member(&part.name));
            sets.push_str(&self.set(prelude, part.length, "out", &size));
            if let (Some(Count::Prelude(field)), Content::Layout(layout)) = (&part.count, part.content)
                && !filled.contains(field)
            {
                filled.push(*field);
                let rows = format!("{size} / {}_SIZE", self.names.upper(&self.registry.layouts[layout].name));
                sets.push_str(&self.set(prelude, *field, "out", &rows));
            }
        }
        let parts: Vec<_> =
            body.parts.iter().map(|part| format!("parts->{}", names::member(&part.name))).collect();
        let sized = [&[format!("{{ NULL, {}_SIZE }}", self.names.upper(&prelude.name))], &parts[..]].concat();
        let with_prelude = [&["{ prelude, 0 }".to_owned()], &parts[..]].concat();
        let (absent, skip) = match body.optional {
            true => (
                format!(
                    "if (parts->prelude.size == 0 && {}(0, pieces + 1, {}) == 0) {{\n    return 0;\n}}\n",
                    lower("total_"),
                    parts.len()
                ),
                format!("if ({x}_size(parts) == 0) {{\n    return 0;\n}}\n"),
            ),
            false if parts.is_empty() => ("(void)parts;\n".to_owned(), String::new()),
            false => (String::new(), String::new()),
        };
        let docs = if body.optional { "; 0 where all are empty, so that it is left out" } else { "" };
        let docs = format!("Bytes of a `{}` of those parts{docs}. `prelude` may be empty.", body.name);
        let template = if alone { format!("{BODY}{ALONE}") } else { BODY.to_owned() };
        fill(
            &template,
            &[
                ("x", &x),
                ("name", &body.name),
                ("docs", &docs),
                ("bytes", &lower("bytes")),
                ("fault", &lower("fault")),
                ("p", &lower(&prelude.name)),
                ("P", &self.names.upper(&prelude.name)),
                ("LAYOUT", &self.names.upper(&places::place(&body.name))),
                ("LAYOUT_P", &self.names.upper(&places::place(&prelude.name))),
                ("n", &parts.len().to_string()),
                ("n1", &(parts.len() + 1).to_string()),
                ("pieces", &list("const ", &lower("bytes"), &sized)),
                ("with_prelude", &list("", &lower("bytes"), &with_prelude)),
                ("absent", &absent),
                ("skip", &skip),
                ("sets", &sets),
                ("length", &lower("blame_length_")),
                ("total", &lower("total_")),
                ("room", &lower("room_")),
                ("put", &lower("put_")),
            ],
        )
    }
}

/// An array of pieces, one a line where they are too many for one.
pub(super) fn list(constant: &str, bytes: &str, pieces: &[String]) -> String {
    let line = format!("{constant}{bytes} pieces[{}] = {{ {} }};\n", pieces.len(), pieces.join(", "));
    if line.len() < 100 {
        return line;
    }
    let rows: String = pieces.iter().map(|piece| format!("{piece},\n")).collect();
    format!("{constant}{bytes} pieces[{}] = {{\n{}}};\n", pieces.len(), indent(&rows, 4))
}
