//! Entries: a header, a payload and padding, repeated; and payloads that a header or a row selects.

use crate::model::{Choice, Entry, Field, Layout, Select};
use crate::rule::{FieldRef, Presence};
use crate::wire::FaultKind;

use super::C;
use super::faults::Blame;
use super::rules::Reach;
use super::text::{self, cite, doc, fill, function};

const ENTRY: &str = "\
struct ${x} {
    ${bytes} header;   /**< Its header, a `${header}`. */
    ${bytes} payload;  /**< Its payload, without padding. */
};

/* The first entry of `rest`, which goes on behind it. */
static inline int ${x}_first_(${bytes} *rest, const uint8_t *start, struct ${x} *out, ${fault} *fault)
{
    const ${bytes} whole = *rest;
    uint64_t length;
    int kind;

    out->header = ${front}(rest, ${H}_SIZE);
    out->payload = *rest;
    kind = ${h}_check_at_(out->header.data, out->header.size, ${offset}(start, out->header.data), fault);
    if (kind != 0) {
        return kind;
    }
    length = ${length};
    out->payload = ${front}(rest, length);
    ${refuse_length}
    ${padding}
    (void)whole;
    return 0;
}

/** The next entry of a block that was checked; false at its end. */
static inline bool ${x}_next(${bytes} *rest, struct ${x} *out)
{
    return rest->size > 0 && ${x}_first_(rest, rest->data, out, NULL) == 0;
}

/* Checks a block of entries in a message, and counts them. */
static inline int ${x}_check_(
    ${bytes} block, const uint8_t *start, uint64_t message, uint64_t *count, ${fault} *fault)
{
    ${bytes} rest = block;
    ${locals}

    *count = 0;
    (void)message;
    while (rest.size > 0) {
        struct ${x} entry;
        const int kind = ${x}_first_(&rest, start, &entry, fault);

        if (kind != 0) {
            return kind;
        }
        ${unique}
        ${select}
        *count += 1;
    }
    return 0;
}
";

const PADDING: &str = "\
{
    const size_t wanted = ${padding}(out->header.size + out->payload.size, ${align});
    const ${bytes} padding = ${front}(rest, wanted);
    const size_t zeros = ${zeros}(padding);

    ${refuse_padding}
    ${refuse_end}
}
";

/// The first few values are compared one by one, then all are marked.
const UNIQUE: &str = "\
if (*count < ${few}) {
    ${bytes} earlier = block;
    struct ${x} other;

    for (uint64_t at = 0; at < *count && ${x}_next(&earlier, &other); at++) {
        ${refuse_other}
    }
} else {
    if (*count == ${few}) {
        ${bytes} earlier = block;
        struct ${x} other;

        memset(marks, 0, sizeof marks);
        for (uint64_t at = 0; at < *count && ${x}_next(&earlier, &other); at++) {
            ${mark}(marks, ${other});
        }
    }
    ${refuse_marked}
}
";

/// So many entries are compared with each one before.
const FEW: u32 = 16;

/// What selects payloads: where it stands and what it blames.
pub(super) struct Selector<'a> {
    /// The start of the name of the function.
    pub(super) name: String,
    pub(super) select: &'a Select,
    /// The layout of headers or rows.
    pub(super) layout: &'a Layout,
    /// Its field for the payload's length.
    pub(super) length: usize,
    /// The rule of the entry or part.
    pub(super) id: &'a str,
}

impl Selector<'_> {
    /// How many kinds of payload stand at most once.
    pub(super) fn once(&self) -> usize {
        self.select.choices.iter().filter(|choice| choice.once).count()
    }

    /// The variable that remembers them, and how it is handed on.
    pub(super) fn memory(&self) -> (String, &'static str) {
        match self.once() {
            0 => (String::new(), "NULL"),
            once => (format!("bool seen[{once}] = {{ false }};\n"), "seen"),
        }
    }
}

impl C<'_> {
    /// The number of a field of a layout, whose bytes begin at `data`.
    pub(super) fn number(&self, layout: &Layout, field: usize, data: &str) -> String {
        let name = layout.fields.get(field).map_or("", |field| &field.name);
        format!("{}({data})", self.names.lower(&format!("{}_get_{name}", layout.name)))
    }

    /// Where a field is, in a layout that begins at `data`.
    pub(super) fn offset(&self, layout: &Layout, field: usize, data: &str) -> String {
        let offset = layout.fields.get(field).map_or(0, |field| field.offset);
        let call = format!("{}(start, {data})", self.names.lower("offset_"));
        if offset == 0 { call } else { format!("{call} + {offset}") }
    }

    /// The statement that refuses where a condition holds, and blames a field of a layout that begins at `data`.
    pub(super) fn refuse_field(
        &self,
        condition: &str,
        (layout, field): (&Layout, usize),
        data: &str,
        kind: FaultKind,
        id: &str,
    ) -> String {
        let name = layout.fields.get(field).map_or("", |field| &field.name);
        self.refuse(condition, &Blame::new(kind, &layout.name, name, id), &self.offset(layout, field, data))
    }

    /// An entry, and the check of a block of them.
    pub(super) fn entry(&self, entry: &Entry) -> String {
        let layout = &self.registry.layouts[entry.header];
        let x = self.names.lower(&entry.name);
        let what = format!("entry `{}`", entry.name);
        for suffix in ["", "_first_", "_next", "_check_"] {
            self.names.define(&format!("{x}{suffix}"), &what);
        }
        let lower = |name: &str| self.names.lower(name);
        let id = entry.id.as_str();
        let whole = |kind| Blame::new(kind, &entry.name, "", id);
        let refuse_length = self.refuse_field(
            "out->payload.size != length",
            (layout, entry.payload),
            "out->header.data",
            FaultKind::Length,
            id,
        );
        let at = |data: &str| format!("{}(start, {data})", lower("offset_"));
        let padding = if entry.align <= 1 {
            String::new()
        } else {
            let refuse_padding = self.refuse(
                "zeros < padding.size",
                &whole(FaultKind::Reserved),
                &format!("{} + zeros", at("padding.data")),
            );
            let refuse_end = self.refuse(
                "padding.size != wanted",
                &whole(FaultKind::TooShort),
                &format!("{} + whole.size", at("whole.data")),
            );
            fill(
                PADDING,
                &[
                    ("bytes", &lower("bytes")),
                    ("front", &lower("front_")),
                    ("padding", &lower("padding_")),
                    ("zeros", &lower("zeros_")),
                    ("align", &entry.align.to_string()),
                    ("refuse_padding", &refuse_padding),
                    ("refuse_end", &refuse_end),
                ],
            )
        };
        let mut locals = String::new();
        let unique = entry.unique.map_or(String::new(), |field| {
            locals.push_str("uint8_t marks[8192];\n");
            self.unique(entry, layout, field, &x)
        });
        let mut selector = String::new();
        let select = entry.select.as_ref().map_or(String::new(), |select| {
            let name = entry.name.clone();
            let selects = Selector { name, select, layout, length: entry.payload, id };
            selector = self.selected(&selects) + "\n";
            let (memory, seen) = selects.memory();
            locals.push_str(&memory);
            self.select_call(&selects, ("entry.header", "entry.payload"), seen)
        });
        let entry_text = fill(
            ENTRY,
            &[
                ("x", &x),
                ("bytes", &lower("bytes")),
                ("fault", &lower("fault")),
                ("front", &lower("front_")),
                ("offset", &lower("offset_")),
                ("header", &layout.name),
                ("h", &lower(&layout.name)),
                ("H", &self.names.upper(&layout.name)),
                ("length", &self.number(layout, entry.payload, "out->header.data")),
                ("refuse_length", &refuse_length),
                ("padding", &padding),
                ("locals", &locals),
                ("unique", &unique),
                ("select", &select),
            ],
        );
        let docs = doc([entry.doc.clone(), cite(&entry.source)]);
        format!("{selector}{docs}{entry_text}")
    }

    /// The statements that refuse a second entry with the same value of a field.
    fn unique(&self, entry: &Entry, layout: &Layout, field: usize, x: &str) -> String {
        let mark = self.names.lower("mark_");
        let (this, other) = (
            self.number(layout, field, "entry.header.data"),
            self.number(layout, field, "other.header.data"),
        );
        let refuse = |condition: &str| {
            self.refuse_field(condition, (layout, field), "entry.header.data", FaultKind::Rule, &entry.id)
        };
        fill(
            UNIQUE,
            &[
                ("x", x),
                ("bytes", &self.names.lower("bytes")),
                ("few", &FEW.to_string()),
                ("mark", &mark),
                ("other", &other),
                ("refuse_other", &refuse(&format!("{other} == {this}"))),
                ("refuse_marked", &refuse(&format!("!{mark}(marks, {this})"))),
            ],
        )
    }

    /// The statements that check a payload by the function that [`Self::selected`] made.
    pub(super) fn select_call(
        &self,
        selector: &Selector<'_>,
        (header, payload): (&str, &str),
        seen: &str,
    ) -> String {
        let name = self.names.lower(&format!("{}_selected_", selector.name));
        let arguments = [header, payload, "start", "message", seen, "fault"].map(str::to_owned);
        let call = text::call(&format!("const int selected = {name}"), &arguments, ";");
        format!(
            "{{\n{}\n    if (selected != 0) {{\n        return selected;\n    }}\n}}\n",
            text::indent(&call, 4).trim_end_matches('\n').to_owned() + "\n"
        )
    }

    /// The function that checks a payload against what its header or row says.
    pub(super) fn selected(&self, selector: &Selector<'_>) -> String {
        let Selector { select, layout, .. } = selector;
        let name = self.names.lower(&format!("{}_selected_", selector.name));
        self.names.define(&name, &format!("what `{}` selects", selector.name));
        let critical = select.critical.map(|(field, mask)| {
            let item = layout.fields.get(field).and_then(|field| match field.meaning {
                crate::model::Meaning::Bitmask(position) => Some(&self.registry.bitmasks[position]),
                _ => None,
            });
            let bit = item.and_then(|item| {
                item.bits.iter().find(|bit| bit.mask == mask).map(|bit| self.bit_name(item, &bit.name))
            });
            let bit = bit.unwrap_or_else(|| text::number(mask.into()));
            format!("({} & {bit}) != 0", self.number(layout, field, "row.data"))
        });
        let mut once = 0;
        let mut cases = String::new();
        for choice in &select.choices {
            let remembered = choice.once.then_some(once);
            once += usize::from(choice.once);
            let body = text::indent(&self.choice(selector, choice, remembered, critical.is_some()), 4);
            let leaves = if choice.messages.is_empty() { "" } else { "    break;\n" };
            cases.push_str(&format!("case {}:\n{body}{leaves}", self.choice_value(selector, choice)));
        }
        let unsupported = critical.as_ref().map_or(String::new(), |_| {
            let field = layout.fields.get(select.field).map_or("", |field| &field.name);
            let blame = Blame {
                code: select.code.unwrap_or(0),
                ..Blame::new(FaultKind::Unsupported, &layout.name, field, selector.id)
            };
            self.refuse("critical", &blame, &self.offset(layout, select.field, "row.data"))
        });
        let declared =
            critical.map_or(String::new(), |critical| format!("const bool critical = {critical};\n\n"));
        let value = self.number(layout, select.field, "row.data");
        let switch = match cases.is_empty() {
            true => String::new(),
            false => format!("switch ({value}) {{\n{cases}default:\n    break;\n}}\n"),
        };
        let body = format!("{declared}{switch}{unsupported}return 0;\n");
        let bytes = self.names.lower("bytes");
        let fault = format!("{} *", self.names.lower("fault"));
        let parameters = [
            (bytes.as_str(), "row"),
            (bytes.as_str(), "payload"),
            ("const uint8_t *", "start"),
            ("uint64_t", "message"),
            ("bool *", "seen"),
            (fault.as_str(), "fault"),
        ];
        format!(
            "/* Checks a payload against what is said of it. */\n{}",
            function("", &format!("int {name}"), &parameters, &body)
        )
    }

    fn choice_value(&self, selector: &Selector<'_>, choice: &Choice) -> String {
        let field = selector.layout.fields.get(selector.select.field);
        match field.map(|field| &field.meaning) {
            Some(crate::model::Meaning::Enum(position)) => {
                let item = &self.registry.enums[*position];
                match item.value(choice.value) {
                    Some(value) => self.value_name(item, value),
                    None => text::number(choice.value.into()),
                }
            }
            _ => text::number(choice.value.into()),
        }
    }

    /// The statements for a payload that is known, where the message knows it.
    fn choice(
        &self,
        selector: &Selector<'_>,
        choice: &Choice,
        once: Option<usize>,
        critical: bool,
    ) -> String {
        let Selector { select, layout, length, id, .. } = selector;
        let id = if choice.id.is_empty() { id } else { choice.id.as_str() };
        let refuse = |condition: &str, field: usize, kind| {
            self.refuse_field(condition, (layout, field), "row.data", kind, id)
        };
        let mut body = String::new();
        if choice.refuse_critical
            && critical
            && let Some((field, _)) = select.critical
        {
            body.push_str(&refuse("critical", field, FaultKind::Rule));
        }
        if let Some((truth, blamed)) = &choice.require {
            let broken = self.broken(truth, &Row { c: self, layout });
            body.push_str(&refuse(&text::condition(&broken), *blamed, FaultKind::Rule));
        }
        if let Some(once) = once {
            body.push_str(&refuse(&format!("seen[{once}]"), select.field, FaultKind::Rule));
            body.push_str(&format!("seen[{once}] = true;\n"));
        }
        let content = &self.registry.layouts[choice.layout];
        let size = format!("payload.size != {}_SIZE", self.names.upper(&content.name));
        body.push_str(&refuse(&size, *length, FaultKind::Length));
        let offset = self.names.lower("offset_");
        let check = self.names.lower(&format!("{}_check_at_", content.name));
        let arguments = [
            "payload.data".to_owned(),
            "payload.size".to_owned(),
            format!("{offset}(start, payload.data)"),
            "fault".to_owned(),
        ];
        body.push_str(&text::call(&format!("return {check}"), &arguments, ";\n"));
        if choice.messages.is_empty() {
            return body;
        }
        let messages = choice.messages.iter().map(|&position| {
            format!(
                "message == {}",
                self.names.upper(&format!("message_{}", self.registry.messages[position].name))
            )
        });
        let messages = text::condition(&messages.collect::<Vec<_>>().join(" || "));
        format!("if ({messages}) {{\n{}}}\n", text::indent(&body, 4))
    }

    /// The function that says whether an entry is in a segment of a message, for its rules.
    pub(super) fn presence_function(
        &self,
        name: &str,
        entry: &Entry,
        message: usize,
        presence: Presence,
    ) -> String {
        let bytes = self.names.lower("bytes");
        let x = self.names.lower(&entry.name);
        let layout = &self.registry.layouts[entry.header];
        let choice = entry.select.as_ref().and_then(|select| {
            let known = |choice: &&Choice| {
                choice.value == presence.value
                    && (choice.messages.is_empty() || choice.messages.contains(&message))
            };
            select.choices.iter().find(known).map(|choice| (select, choice))
        });
        let body = match choice {
            None => "return false;\n".to_owned(),
            Some((select, choice)) => {
                let selector =
                    Selector { name: String::new(), select, layout, length: entry.payload, id: "" };
                let content = &self.registry.layouts[choice.layout];
                let value = self.choice_value(&selector, choice);
                let mut found =
                    format!("{} == {value}", self.number(layout, select.field, "entry.header.data"));
                if let Some(flag) = presence.flag {
                    found = format!("{found} && {}", self.number(content, flag, "entry.payload.data"));
                }
                format!(
                    "struct {x} entry;\n\nwhile ({x}_next(&block, &entry)) {{\n    if ({found}) {{\n        return true;\n    }}\n}}\nreturn false;\n"
                )
            }
        };
        function("", &format!("bool {name}"), &[(bytes.as_str(), "block")], &body)
    }
}

/// What a condition on a header or row sees.
struct Row<'a> {
    c: &'a C<'a>,
    layout: &'a Layout,
}

impl Reach for Row<'_> {
    fn value(&self, field: FieldRef) -> String {
        self.c.number(self.layout, field.index, "row.data")
    }

    fn field(&self, field: FieldRef) -> &Field {
        &self.layout.fields[field.index]
    }
}
