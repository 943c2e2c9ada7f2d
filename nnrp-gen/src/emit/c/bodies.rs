//! Bodies of several parts behind a prelude.

use crate::model::{Body, Content, Count, Layout, Part, Slices};
use crate::wire::FaultKind;

use super::entries::Selector;
use super::faults::Blame;
use super::text::{Columns, cite, doc, fill, function, indent};
use super::{C, names};

const SPLIT: &str = "\
/** Cuts a body that was checked into its parts. One that is absent, or no such body, has empty parts. */
static inline void ${x}_split(${bytes} body, struct ${x} *out)
{
    ${bytes} rest = body;

    memset(out, 0, sizeof *out);
    if (body.size >= ${P}_SIZE) {
        out->prelude = ${front}(&rest, ${P}_SIZE);
        ${cuts}
    }
}
";

const NEXT: &str = "\
/** The next row of `${rows_part}`, of which `rows` are left, and its slice of `${part}`; false at the end. */
static inline bool ${name}_next(const struct ${x} *parts, ${bytes} *rows, ${bytes} *row, ${bytes} *slice)
{
    uint64_t from;

    if (!${next_row}(rows, ${R}_SIZE, row)) {
        return false;
    }
    from = ${from};
    *slice = parts->${member};
    ${front}(slice, from);
    *slice = ${front}(slice, ${size});
    return true;
}
";

const SLICES: &str = "\
/* Checks that the rows of `${rows_part}` slice `${part}` from end to end. */
static inline int ${name}_check_(
    ${bytes} rows, ${bytes} part, const uint8_t *start, uint64_t message, ${fault} *fault)
{
    ${bytes} rest = part;
    ${bytes} row;
    ${memory}

    (void)message;
    while (${next_row}(&rows, ${R}_SIZE, &row)) {
        const uint64_t size = ${size};
        ${bytes} slice;

        ${refuse_offset}
        slice = ${front}(&rest, size);
        ${refuse_size}
        ${select}
    }
    ${refuse_rest}
    return 0;
}
";

impl C<'_> {
    /// A body: its struct, its cut and its check.
    pub(super) fn body(&self, body: &Body) -> String {
        let x = self.names.lower(&body.name);
        let what = format!("body `{}`", body.name);
        for suffix in ["", "_cut_", "_split", "_check_"] {
            self.names.define(&format!("{x}{suffix}"), &what);
        }
        self.names.define_members(&what, body.parts.iter().map(|part| part.name.as_str()).chain(["prelude"]));
        let prelude = &self.registry.layouts[body.prelude];
        let bytes = self.names.lower("bytes");
        let mut members = Columns::default();
        members.row([bytes.clone(), "prelude;".into()], &format!("Its first bytes, a `{}`.", prelude.name));
        for part in &body.parts {
            members
                .row([bytes.clone(), format!("{};", names::member(&part.name))], &self.part_note(body, part));
        }
        let docs = doc([body.doc.clone(), cite(&body.source)]);
        let structure = format!("{docs}struct {x} {{\n{}}};\n", indent(&members.text(), 4));
        let cuts: String = body
            .parts
            .iter()
            .map(|part| {
                let length = self.number(prelude, part.length, "out->prelude.data");
                format!(
                    "out->{} = {}(&rest, {length});\n",
                    names::member(&part.name),
                    self.names.lower("front_")
                )
            })
            .collect();
        let split = fill(
            SPLIT,
            &[
                ("x", &x),
                ("bytes", &bytes),
                ("P", &self.names.upper(&prelude.name)),
                ("front", &self.names.lower("front_")),
                ("cuts", &cuts),
            ],
        );
        let mut parts = vec![structure, split];
        for part in &body.parts {
            if let Some(slices) = &part.slices {
                parts.extend(self.slices(body, part, slices));
            }
        }
        parts.push(self.cut(body, &x));
        parts.push(self.body_check(body, &x));
        parts.join("\n")
    }

    fn part_note(&self, body: &Body, part: &Part) -> String {
        let holds = match (&part.content, &part.slices, part.leading) {
            (Content::Layout(layout), ..) => {
                format!("`{}`, one behind the other.", self.registry.layouts[*layout].name)
            }
            (Content::Entry(entry), ..) => {
                format!("`{}`, one behind the other.", self.registry.entries[*entry].name)
            }
            (_, Some(slices), _) => {
                format!("Slices that the rows of `{}` name.", body.parts[slices.rows].name)
            }
            (_, _, Some((layout, _))) => {
                format!("First `{}`, then anything.", self.registry.layouts[layout].name)
            }
            _ => "Bytes.".to_owned(),
        };
        let text = if part.doc.is_empty() { holds } else { format!("{} {holds}", part.doc) };
        names::noted(text, &part.name)
    }

    /// The parameters by which a body is told the counts in the metadata.
    pub(super) fn counts(&self, body: &Body) -> Vec<String> {
        let counts = body.parts.iter().filter_map(|part| match &part.count {
            Some(Count::Metadata(name)) => Some(format!("metadata_{name}")),
            _ => None,
        });
        counts.collect()
    }

    /// The function that cuts a body into parts, which looks at the prelude and at sizes.
    fn cut(&self, body: &Body, x: &str) -> String {
        let prelude = &self.registry.layouts[body.prelude];
        let lower = |name: &str| self.names.lower(name);
        let mut out = String::from("int kind;\n\nmemset(out, 0, sizeof *out);\n");
        if body.optional {
            out.push_str("if (piece.size == 0) {\n    return 0;\n}\n");
        }
        out.push_str(&format!(
            "out->prelude = {front}(&rest, {P}_SIZE);\nkind = {p}_check_at_(out->prelude.data, out->prelude.size, {offset}(start, out->prelude.data), fault);\nif (kind != 0) {{\n    return kind;\n}}\n",
            front = lower("front_"),
            offset = lower("offset_"),
            p = lower(&prelude.name),
            P = self.names.upper(&prelude.name),
        ));
        for part in &body.parts {
            let member = format!("out->{}", names::member(&part.name));
            let length = self.number(prelude, part.length, "out->prelude.data");
            let mut wrong = vec![format!("{member}.size != {length}")];
            if let Content::Layout(layout) = part.content {
                let size = format!("{}_SIZE", self.names.upper(&self.registry.layouts[layout].name));
                wrong.push(format!("{member}.size % {size} != 0"));
                let count = match &part.count {
                    None => None,
                    Some(Count::Prelude(field)) => Some(self.number(prelude, *field, "out->prelude.data")),
                    Some(Count::Metadata(name)) => Some(format!("metadata_{name}")),
                };
                wrong.extend(count.map(|count| format!("{member}.size / {size} != {count}")));
            }
            let wrong = super::text::condition(&wrong.join(" || "));
            let data = "out->prelude.data";
            out.push_str(&format!("{member} = {}(&rest, {length});\n", lower("front_")));
            out.push_str(&self.refuse_field(
                &wrong,
                (prelude, part.length),
                data,
                FaultKind::Length,
                &part.id,
            ));
            if let Some((layout, count)) = part.leading {
                let size = format!("{}_SIZE", self.names.upper(&self.registry.layouts[layout].name));
                let wrong = format!("{} > {member}.size / {size}", self.number(prelude, count, data));
                out.push_str(&self.refuse_field(&wrong, (prelude, count), data, FaultKind::Length, &part.id));
            }
        }
        if let Some(last) = body.parts.last() {
            let blame = Blame::new(FaultKind::Length, &body.name, &last.name, &last.id);
            out.push_str(&self.refuse(
                "rest.size != 0",
                &blame,
                &format!("{}(start, rest.data)", lower("offset_")),
            ));
        }
        out.push_str("return 0;\n");
        let out = format!("{} rest = piece;\n{out}", lower("bytes"));
        let structure = format!("struct {x} *");
        let parameters = self.body_parameters(body, &[("const uint8_t *", "start"), (&structure, "out")]);
        let parameters: Vec<_> = parameters.iter().map(|(ty, name)| (ty.as_str(), name.as_str())).collect();
        format!(
            "/* Cuts a body into parts. */\n{}",
            function("", &format!("int {x}_cut_"), &parameters, &out)
        )
    }

    /// The piece, the counts, what is given, and the fault.
    fn body_parameters(&self, body: &Body, given: &[(&str, &str)]) -> Vec<(String, String)> {
        let mut parameters = vec![(self.names.lower("bytes"), "piece".to_owned())];
        parameters.extend(self.counts(body).into_iter().map(|count| ("uint64_t".to_owned(), count)));
        parameters.extend(given.iter().map(|(ty, name)| ((*ty).to_owned(), (*name).to_owned())));
        parameters.push((format!("{} *", self.names.lower("fault")), "fault".to_owned()));
        parameters
    }

    /// The function that checks a body and what its parts hold.
    fn body_check(&self, body: &Body, x: &str) -> String {
        let lower = |name: &str| self.names.lower(name);
        let prelude = &self.registry.layouts[body.prelude];
        let counts: String = self.counts(body).iter().map(|count| format!("{count}, ")).collect();
        let mut out =
            format!("struct {x} parts;\nint kind = {x}_cut_(piece, {counts}start, &parts, fault);\n\n");
        let stop = "if (kind != 0) {\n    return kind;\n}\n";
        out.push_str(stop);
        for part in &body.parts {
            let member = format!("parts.{}", names::member(&part.name));
            match part.content {
                Content::Layout(layout) => {
                    let all = lower(&format!("{}_all_", self.registry.layouts[layout].name));
                    out.push_str(&format!("kind = {all}({member}, start, fault);\n{stop}"));
                }
                Content::Entry(entry) => {
                    let check = lower(&format!("{}_check_", self.registry.entries[entry].name));
                    out.push_str(&format!("{{\n    uint64_t count;\n\n    kind = {check}({member}, start, message, &count, fault);\n}}\n{stop}"));
                }
                _ => {}
            }
            if let Some((layout, count)) = part.leading {
                let layout = &self.registry.layouts[layout];
                let count = self.number(prelude, count, "parts.prelude.data");
                let rows = format!("{count} * {}_SIZE", self.names.upper(&layout.name));
                let guard = if body.optional { "if (parts.prelude.size > 0) " } else { "" };
                out.push_str(&format!(
                    "{guard}{{\n    {bytes} rest = {member};\n\n    kind = {all}({front}(&rest, {rows}), start, fault);\n}}\n{stop}",
                    bytes = lower("bytes"),
                    all = lower(&format!("{}_all_", layout.name)),
                    front = lower("front_"),
                ));
            }
            if let Some(slices) = &part.slices {
                let rows = format!("parts.{}", names::member(&body.parts[slices.rows].name));
                let name = format!("{x}_{}_check_", part.name);
                out.push_str(&format!("kind = {name}({rows}, {member}, start, message, fault);\n{stop}"));
            }
        }
        out.push_str("return 0;\n");
        let parameters = self.body_parameters(body, &[("const uint8_t *", "start"), ("uint64_t", "message")]);
        let parameters: Vec<_> = parameters.iter().map(|(ty, name)| (ty.as_str(), name.as_str())).collect();
        format!(
            "/* Checks a body and what its parts hold. */\n{}",
            function("", &format!("int {x}_check_"), &parameters, &out)
        )
    }

    /// The functions for slices: going through them, checking what they hold, and checking them all.
    fn slices(&self, body: &Body, part: &Part, slices: &Slices) -> Vec<String> {
        let x = self.names.lower(&body.name);
        let name = format!("{x}_{}", part.name);
        let what = format!("part `{}` of body `{}`", part.name, body.name);
        for suffix in ["_next", "_check_"] {
            self.names.define(&format!("{name}{suffix}"), &what);
        }
        let layout: &Layout = &self.registry.layouts[slices.layout];
        let lower = |name: &str| self.names.lower(name);
        let id = part.id.as_str();
        let at = |data: &str| format!("{}(start, {data})", lower("offset_"));
        let refuse = |condition: &str, field| {
            self.refuse_field(condition, (layout, field), "row.data", FaultKind::Length, id)
        };
        let offset = self.number(layout, slices.offset, "row.data");
        let refuse_offset =
            refuse(&format!("{offset} != {}(part.data, rest.data)", lower("offset_")), slices.offset);
        let mut memory = String::new();
        let mut out = Vec::new();
        let select = slices.select.as_ref().map_or(String::new(), |select| {
            let selector = Selector {
                name: format!("{}_{}", body.name, part.name),
                select,
                layout,
                length: slices.size,
                id,
            };
            out.push(self.selected(&selector));
            let (declared, seen) = selector.memory();
            memory = declared;
            self.select_call(&selector, ("row", "slice"), seen)
        });
        let rest = Blame::new(FaultKind::Length, &body.name, &part.name, id);
        let values = [
            ("name", name),
            ("x", x.clone()),
            ("bytes", lower("bytes")),
            ("fault", lower("fault")),
            ("front", lower("front_")),
            ("next_row", lower("next_row")),
            ("R", self.names.upper(&layout.name)),
            ("rows_part", body.parts[slices.rows].name.clone()),
            ("part", part.name.clone()),
            ("member", names::member(&part.name)),
            ("memory", memory),
            ("from", self.number(layout, slices.offset, "row->data")),
            ("refuse_offset", refuse_offset),
            ("refuse_size", refuse("slice.size != size", slices.size)),
            ("select", select),
            ("refuse_rest", self.refuse("rest.size != 0", &rest, &at("rest.data"))),
        ];
        let next_size = self.number(layout, slices.size, "row->data");
        let size = self.number(layout, slices.size, "row.data");
        let with = |template: &str, size: &str| {
            let mut values: Vec<(&str, &str)> =
                values.iter().map(|(key, value)| (*key, value.as_str())).collect();
            values.push(("size", size));
            fill(template, &values)
        };
        out.push(with(NEXT, &next_size));
        out.push(with(SLICES, &size));
        out
    }
}
