//! What the parts of a body owe the metadata and one another.

use crate::model::{Body, Content, Entry, Layout, ObjectSize, Slots, Sorted};
use crate::wire::FaultKind;

use super::segments::Emit;
use super::text::{indent, number};
use super::{names, text};

impl Emit<'_> {
    /// The statements that check what holds between the parts of a body that is good by itself.
    pub(super) fn parts_agree(&self) -> String {
        let Some((segment, body)) = self.message.body() else { return String::new() };
        let body = &self.c.registry.bodies[body];
        let mut steps = Vec::new();
        steps.extend(self.message.slots.as_ref().map(|slots| self.slots(body, slots)));
        steps.extend(self.message.sorted.iter().map(|sorted| self.sorted(body, sorted)));
        steps.extend(self.message.sizes.iter().map(|size| self.size(body, size)));
        steps.extend(self.message.tensor.as_ref().map(|tensor| self.tensor(body, tensor)));
        let steps: String = steps.into_iter().filter(|step| !step.is_empty()).collect::<Vec<_>>().join("\n");
        if steps.is_empty() {
            return steps;
        }
        let x = self.c.names.lower(&body.name);
        let member = names::member(&self.message.segments[segment].name);
        let split = format!("struct {x} parts;\n\n{x}_split(body.{member}, &parts);\n");
        format!("{{\n{}}}\n", indent(&format!("{split}{steps}"), 4))
    }

    /// The entry that a part holds, and the layout of its headers.
    pub(super) fn entry_of(&self, body: &Body, part: usize) -> Option<(&Entry, &Layout)> {
        let Content::Entry(entry) = body.parts.get(part)?.content else { return None };
        let entry = self.c.registry.entries.get(entry)?;
        Some((entry, &self.c.registry.layouts[entry.header]))
    }

    /// A loop over the entries of a part.
    fn each_entry(&self, body: &Body, part: usize, entry: &Entry, locals: &str, inner: &str) -> String {
        let (bytes, x) = (self.c.names.lower("bytes"), self.c.names.lower(&entry.name));
        let member = names::member(&body.parts[part].name);
        format!(
            "{{\n    {bytes} rest = parts.{member};\n    struct {x} entry;\n{}\n    while ({x}_next(&rest, &entry)) {{\n{}    }}\n}}\n",
            indent(locals, 4),
            indent(inner, 8),
        )
    }

    /// A loop over the rows of a part.
    fn each_row(&self, body: &Body, part: usize, layout: &Layout, locals: &str, inner: &str) -> String {
        let bytes = self.c.names.lower("bytes");
        let member = names::member(&body.parts[part].name);
        format!(
            "{{\n    {bytes} rest = parts.{member};\n    {bytes} row;\n{}\n    while ({}(&rest, {}_SIZE, &row)) {{\n{}    }}\n}}\n",
            indent(locals, 4),
            self.c.names.lower("next_row"),
            self.c.names.upper(&layout.name),
            indent(inner, 8),
        )
    }

    /// The statements that give `rank` and `bit` to an object of a kind.
    fn rank(&self, slots: &Slots, kind: &str) -> String {
        let mut cases = String::new();
        for (rank, (kind, bit)) in slots.order.iter().enumerate() {
            let (kind, bit) = (number((*kind).into()), number((*bit).into()));
            cases.push_str(&format!("case {kind}: rank = {rank}; bit = {bit}; break;\n"));
        }
        let count = slots.order.len();
        format!(
            "const uint64_t kind_of = {kind};\nuint64_t rank;\nuint64_t bit;\n\nswitch (kind_of) {{\n{cases}default: rank = {count} + kind_of; bit = 0; break;\n}}\n"
        )
    }

    fn slots(&self, body: &Body, slots: &Slots) -> String {
        let Content::Layout(rows) = body.parts[slots.references.0].content else { return String::new() };
        let Some((entry, header)) = self.entry_of(body, slots.inline.0) else { return String::new() };
        let rows = &self.c.registry.layouts[rows];
        let id = slots.id.as_str();
        let mask = self.number(slots.mask);
        let mode = slots.mode.map(|(field, reference, mixed)| (field, self.number(field), reference, mixed));
        let referenced = match &mode {
            Some((_, value, reference, _)) => {
                format!("bit != 0 && (({mask} & bit) != 0 || {value} == {})", number((*reference).into()))
            }
            None => format!("({mask} & bit) != 0"),
        };
        let follows = "(!first && (bit != 0 ? rank <= before : rank < before))";
        let key = self.c.number(header, slots.inline.1, "entry.header.data");
        let refuse = self.c.refuse_field(
            &text::condition(&format!("{follows} || ({referenced})")),
            (header, slots.inline.1),
            "entry.header.data",
            FaultKind::Rule,
            id,
        );
        let inner = format!(
            "{}\n{refuse}standard_inline = standard_inline || bit != 0;\nbefore = rank;\nfirst = false;\n",
            self.rank(slots, &key)
        );
        let locals = "uint64_t before = 0;\nbool first = true;\n";
        let inline = self.each_entry(body, slots.inline.0, entry, locals, &inner);
        let key = self.c.number(rows, slots.references.1, "row.data");
        let unasked = format!("(bit != 0 && ({mask} & bit) == 0)");
        let refuse = self.c.refuse_field(
            &text::condition(&format!("{follows} || {unasked}")),
            (rows, slots.references.1),
            "row.data",
            FaultKind::Rule,
            id,
        );
        let inner =
            format!("{}\n{refuse}found |= bit;\nbefore = rank;\nfirst = false;\n", self.rank(slots, &key));
        let references = self.each_row(body, slots.references.0, rows, locals, &inner);
        let standard = slots.order.iter().fold(0, |bits, (_, bit)| bits | bit);
        let missing = self.refuse(
            &format!("({mask} & {}) != found", number(standard.into())),
            slots.mask,
            FaultKind::Rule,
            id,
        );
        let mixed = mode.map_or(String::new(), |(field, value, _, mixed)| {
            let wrong = format!("{value} == {} && !standard_inline", number(mixed.into()));
            self.refuse(&wrong, field, FaultKind::Rule, id)
        });
        let unused = if mixed.is_empty() { "(void)standard_inline;\n" } else { "" };
        let all = format!(
            "bool standard_inline = false;\nuint64_t found = 0;\n\n{inline}{references}{missing}{mixed}{unused}"
        );
        format!("{{\n{}}}\n", indent(&all, 4))
    }

    fn sorted(&self, body: &Body, sorted: &Sorted) -> String {
        let locals = format!("{} before = {{ NULL, 0 }};\nbool first = true;\n", self.c.names.lower("bytes"));
        match body.parts[sorted.part].content {
            Content::Layout(layout) => {
                let layout = &self.c.registry.layouts[layout];
                let inner = self.ascends(layout, sorted, "row");
                self.each_row(body, sorted.part, layout, &locals, &inner)
            }
            Content::Entry(_) => match self.entry_of(body, sorted.part) {
                Some((entry, layout)) => {
                    let inner = self.ascends(layout, sorted, "entry.header");
                    self.each_entry(body, sorted.part, entry, &locals, &inner)
                }
                None => String::new(),
            },
            _ => String::new(),
        }
    }

    /// The statements that compare a row or header with the one before.
    fn ascends(&self, layout: &Layout, sorted: &Sorted, row: &str) -> String {
        let Some(first) = sorted.by.first() else { return String::new() };
        let data = format!("{row}.data");
        // The first field that differs decides: built from the last.
        let mut order = if sorted.strict { "true" } else { "false" }.to_owned();
        for field in sorted.by.iter().rev() {
            let (this, last) =
                (self.c.number(layout, *field, &data), self.c.number(layout, *field, "before.data"));
            order = match order.as_str() {
                "true" => format!("{last} >= {this}"),
                "false" => format!("{last} > {this}"),
                rest => format!("{last} > {this} || ({last} == {this} && ({rest}))"),
            };
        }
        let refuse = self.c.refuse_field(
            &text::condition(&format!("!first && ({order})")),
            (layout, *first),
            &data,
            FaultKind::Rule,
            &sorted.id,
        );
        // What is compared is set once there is something before.
        format!("if (first) {{\n    before = {row};\n}}\n{refuse}before = {row};\nfirst = false;\n")
    }

    /// The statements that put the first object of a kind into `object`, whose payload is empty where there is none.
    ///
    /// The parts of the body are members of `parts`.
    pub(super) fn object(&self, body: &Body, parts: &str, part: usize, kind: u64, inner: &str) -> String {
        let Some((entry, layout)) = self.entry_of(body, part) else { return String::new() };
        let Some(select) = &entry.select else { return String::new() };
        let (bytes, x) = (self.c.names.lower("bytes"), self.c.names.lower(&entry.name));
        let member = names::member(&body.parts[part].name);
        let key = self.c.number(layout, select.field, "object.header.data");
        format!(
            "{{\n    {bytes} rest = {parts}{member};\n    struct {x} object;\n    bool there = false;\n\n    while (!there && {x}_next(&rest, &object)) {{\n        there = {key} == {};\n    }}\n{}}}\n",
            number(kind.into()),
            indent(inner, 4),
        )
    }

    fn size(&self, body: &Body, size: &ObjectSize) -> String {
        let wrong = format!("{} != (there ? object.payload.size : 0)", self.number(size.field));
        let refuse = self.refuse(&wrong, size.field, FaultKind::Length, &size.id);
        self.object(body, "parts.", size.part, size.kind, &refuse)
    }
}
