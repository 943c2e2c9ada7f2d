//! Layouts: the struct of native values, sizes and offsets, and the functions that users call.

use crate::model::{ByteOrder, Element, Field, Layout, Meaning, Scalar};

use super::text::{Columns, call, cite, doc, fill, heading, indent};
use super::{C, names, places, scalar};

const FUNCTIONS: &str = include_str!("layout.h");

/// A layout being emitted, with the names that recur.
pub(super) struct Emit<'a> {
    pub(super) c: &'a C<'a>,
    pub(super) layout: &'a Layout,
    pub(super) lower: String,
    pub(super) upper: String,
    /// The constant by which faults name it.
    pub(super) number: String,
}

impl<'a> C<'a> {
    pub(super) fn layout(&'a self, layout: &'a Layout) -> String {
        let emit = Emit {
            c: self,
            layout,
            lower: self.names.lower(&layout.name),
            upper: self.names.upper(&layout.name),
            number: self.names.upper(&places::place(&layout.name)),
        };
        emit.define();
        let rules: String = layout.rules.iter().map(|rule| emit.rule_function(rule) + "\n").collect();
        let functions = fill(
            FUNCTIONS,
            &[
                ("x", &emit.lower),
                ("X", &emit.upper),
                ("LAYOUT", &emit.number),
                ("name", &layout.name),
                ("check", &emit.head("check", &["const uint8_t *bytes", "size_t len"])),
                ("check_at", &emit.head("check_at_", &["const uint8_t *bytes", "size_t len", "size_t base"])),
                (
                    "decode",
                    &emit.head(
                        "decode",
                        &["const uint8_t *bytes", "size_t len", &format!("struct {} *out", emit.lower)],
                    ),
                ),
                ("validate", &emit.head("validate", &[&format!("const struct {} *in", emit.lower)])),
                (
                    "encode",
                    &emit.head(
                        "encode",
                        &[&format!("const struct {} *in", emit.lower), "uint8_t *bytes", "size_t len"],
                    ),
                ),
                ("fault", &self.names.lower("fault")),
                ("blame", &self.names.lower("blame_")),
                ("RULE", &self.kind(crate::wire::FaultKind::Rule)),
                ("length", &self.names.lower("blame_length_")),
                ("COLD", &self.names.upper("COLD")),
                ("holds", &emit.bytes_hold()),
                ("find", &emit.find_fault()),
                ("good", &emit.values_hold()),
                ("unpack", &emit.unpack()),
                ("pack", &emit.pack()),
                ("blank", &emit.blank()),
            ],
        );
        let parts = [
            heading(&layout.name),
            emit.structure(),
            emit.places(),
            self.places.named(&layout.name).map_or(String::new(), |place| self.field_numbers(place)),
            rules + &functions,
            emit.accessors(),
        ];
        parts.iter().filter(|part| !part.is_empty()).map(String::as_str).collect::<Vec<_>>().join("\n")
    }

    /// The type of one element of a field, as users see it.
    pub(super) fn element_type(&self, field: &Field) -> String {
        match (&field.meaning, field.element) {
            (Meaning::Enum(position), _) => self.names.lower(&self.registry.enums[*position].name),
            (Meaning::Bitmask(position), _) => self.names.lower(&self.registry.bitmasks[*position].name),
            (Meaning::Bool, _) => "bool".to_owned(),
            (_, Element::Scalar(scalar)) => self::scalar(scalar).to_owned(),
            (_, Element::Layout(position)) => {
                format!("struct {}", self.names.lower(&self.registry.layouts[position].name))
            }
        }
    }
}

impl Emit<'_> {
    fn define(&self) {
        let what = format!("layout `{}`", self.layout.name);
        let functions = ["", "_decode", "_encode", "_validate", "_check", "_blank", "_check_at_"];
        let inner = ["_holds_", "_find_", "_good_", "_refuse_", "_pack_", "_unpack_"];
        for suffix in functions.iter().chain(&inner) {
            self.c.names.define(&format!("{}{suffix}", self.lower), &what);
        }
        self.c.names.define(&format!("{}_SIZE", self.upper), &what);
        self.c.names.define_members(&what, self.layout.values().map(|field| field.name.as_str()));
    }

    /// The first line of a function that reports faults, or as many as it takes.
    fn head(&self, name: &str, parameters: &[&str]) -> String {
        let fault = format!("{} *fault", self.c.names.lower("fault"));
        let parameters: Vec<_> =
            parameters.iter().map(|parameter| (*parameter).to_owned()).chain([fault]).collect();
        call(&format!("static inline int {}_{name}", self.lower), &parameters, "\n")
    }

    /// The ending of the functions that read and write a number: its type and byte order.
    pub(super) fn ending(&self, scalar: Scalar) -> String {
        let order = if self.layout.byte_order == ByteOrder::Big { "be" } else { "le" };
        format!("{}{order}_", scalar.name().replace('i', "u"))
    }

    /// The struct of native values.
    fn structure(&self) -> String {
        let layout = self.layout;
        let size = match layout.size {
            1 => "1 byte on the wire.".to_owned(),
            size => format!("{size} bytes on the wire."),
        };
        let docs = doc([layout.doc.clone(), format!("{size} {}", cite(&layout.source))]);
        let mut members = Columns::default();
        for field in layout.values() {
            let count = field.count.map_or(String::new(), |count| format!("[{count}]"));
            let member = names::member(&field.name);
            members.row([self.c.element_type(field), format!("{member}{count};")], &field_note(field));
        }
        if layout.values().next().is_none() {
            members.row(
                ["uint8_t".into(), "nothing_;".into()],
                "C knows no empty structs; its value does not matter.",
            );
        }
        format!("{docs}struct {} {{\n{}}};\n", self.lower, indent(&members.text(), 4))
    }

    /// Size, offsets and widths.
    fn places(&self) -> String {
        let what = |field: &Field| format!("field `{}` of layout `{}`", field.name, self.layout.name);
        let block = |last: &str, number: fn(&Field) -> u32| {
            let mut columns = Columns::default();
            for field in &self.layout.fields {
                let name = format!("{}_{}_{last}", self.upper, field.name.to_uppercase());
                self.c.names.define(&name, &what(field));
                columns.row([format!("#define {name}"), format!("{:>3}u", number(field))], "");
            }
            columns.text()
        };
        let (offsets, widths) = (block("OFFSET", |field| field.offset), block("WIDTH", |field| field.size));
        format!("#define {}_SIZE {}u\n\n{offsets}\n{widths}", self.upper, self.layout.size)
    }

    /// Getters and setters in place.
    fn accessors(&self) -> String {
        self.layout.values().map(|field| self.accessor(field)).collect::<Vec<_>>().join("\n")
    }

    fn accessor(&self, field: &Field) -> String {
        let what = format!("field `{}` of layout `{}`", field.name, self.layout.name);
        let getter = format!("{}_get_{}", self.lower, field.name.to_lowercase());
        let setter = format!("{}_set_{}", self.lower, field.name.to_lowercase());
        self.c.names.define(&getter, &what);
        self.c.names.define(&setter, &what);
        let at = at("bytes", field.offset);
        let ty = self.c.element_type(field);
        let index = if field.count.is_some() { ", size_t index" } else { "" };
        let place = |size: u32| match (field.count, size) {
            (None, _) => at.clone(),
            (Some(_), 1) => format!("{at} + index"),
            (Some(_), size) => format!("{at} + index * {size}"),
        };
        let (result, get, value, set) = match (field.element, field.count) {
            (Element::Scalar(Scalar::U8), Some(count)) => (
                "const uint8_t *".to_owned(),
                format!("return {at};\n"),
                "const uint8_t *value".to_owned(),
                format!("memcpy({at}, value, {count});\n"),
            ),
            (Element::Layout(inner), _) => {
                let inner = &self.c.registry.layouts[inner];
                let lower = self.c.names.lower(&inner.name);
                let place = place(inner.size);
                (
                    "const uint8_t *".to_owned(),
                    format!("return {place};\n"),
                    format!("const {ty} *value"),
                    format!("{lower}_pack_(value, {place});\n"),
                )
            }
            (Element::Scalar(scalar), _) => {
                let place = place(scalar.size());
                (
                    format!("{ty} "),
                    self.get(field, scalar, &place),
                    format!("{ty} value"),
                    self.put(field, scalar, "value", &place),
                )
            }
        };
        let indexed = !(index.is_empty() || matches!(field.element, Element::Scalar(Scalar::U8)));
        let index = if indexed { index } else { "" };
        format!(
            "{}static inline {result}{getter}(const uint8_t *bytes{index})\n{{\n{}}}\n\n{}static inline void {setter}(uint8_t *bytes{index}, {value})\n{{\n{}}}\n",
            doc([self.getter_note(field, indexed)]),
            indent(&get, 4),
            doc([format!("Sets `{}` and checks nothing.", field.name)]),
            indent(&set, 4),
        )
    }

    fn getter_note(&self, field: &Field, indexed: bool) -> String {
        let note = field_note(field);
        let place = match (field.element, field.count) {
            (Element::Layout(inner), None) => {
                format!("The bytes of a `{}`, in place.", self.c.registry.layouts[inner].name)
            }
            (Element::Layout(inner), Some(count)) => {
                format!("The bytes of one of {count} `{}`, in place.", self.c.registry.layouts[inner].name)
            }
            (_, Some(count)) if indexed => format!("One of {count}."),
            (_, Some(count)) => format!("{count} bytes, in place."),
            (_, None) => String::new(),
        };
        format!("{note} {place}")
    }

    /// Statements that return the number at `place`.
    fn get(&self, field: &Field, scalar: Scalar, place: &str) -> String {
        if scalar.is_integer() {
            return format!("return {};\n", self.native(field, scalar, place));
        }
        let ty = self::scalar(scalar);
        format!(
            "{ty} value;\n\n{}_load_{}({place}, &value);\nreturn value;\n",
            self.c.names.lower("").trim_end_matches('_'),
            self.ending(scalar)
        )
    }

    /// The number at `place` as its native type.
    fn native(&self, field: &Field, scalar: Scalar, place: &str) -> String {
        let load = self.load(scalar, place);
        let ty = self.c.element_type(field);
        match field.meaning {
            Meaning::Bool => format!("{load} != 0"),
            Meaning::Enum(position) if self.c.registry.enums[position].ty != scalar => {
                format!("({ty}){load}")
            }
            Meaning::Bitmask(position) if self.c.registry.bitmasks[position].ty != scalar => {
                format!("({ty}){load}")
            }
            _ if !scalar.is_unsigned() => format!("({ty}){load}"),
            _ => load,
        }
    }

    /// The number at `place`, without its sign.
    pub(super) fn load(&self, scalar: Scalar, place: &str) -> String {
        match scalar.size() {
            1 => element(place),
            _ => format!("{}({place})", self.c.names.lower(&format!("load_{}", self.ending(scalar)))),
        }
    }

    /// The statement that writes a native value to `place`.
    fn put(&self, field: &Field, scalar: Scalar, value: &str, place: &str) -> String {
        let store = self.c.names.lower(&format!("store_{}", self.ending(scalar)));
        let whole = scalar.is_unsigned() && !matches!(field.meaning, Meaning::Bool);
        match scalar.size() {
            _ if !scalar.is_integer() => format!("{store}({place}, &{value});\n"),
            1 if whole => format!("{} = {value};\n", element(place)),
            1 => format!("{} = (uint8_t){value};\n", element(place)),
            _ if whole => format!("{store}({place}, {value});\n"),
            size => format!("{store}({place}, (uint{}_t){value});\n", size * 8),
        }
    }

    /// Statements that read all values from `bytes` into `out`.
    fn unpack(&self) -> String {
        let mut rows = String::new();
        let alone = self.layout.values().filter(|field| field.scalar().is_some_and(Scalar::is_integer));
        let width = alone.map(|field| names::member(&field.name).len()).max().unwrap_or(0) + "out->".len();
        for field in self.layout.values() {
            let member = format!("out->{}", names::member(&field.name));
            rows.push_str(&self.each(
                field,
                &member,
                |member, place, scalar| match scalar {
                    None => String::new(),
                    Some(scalar) if scalar.is_integer() => {
                        let value = self.native(field, scalar, place);
                        if field.count.is_some() {
                            format!("{member} = {value};\n")
                        } else {
                            format!("{member:width$} = {value};\n")
                        }
                    }
                    Some(scalar) => {
                        let load = self.c.names.lower(&format!("load_{}", self.ending(scalar)));
                        format!("{load}({place}, &{member});\n")
                    }
                },
                "unpack",
            ));
        }
        if rows.is_empty() { "(void)bytes;\nout->nothing_ = 0;\n".to_owned() } else { rows }
    }

    /// Statements that write `in` and all that is fixed into `bytes`.
    fn pack(&self) -> String {
        let mut rows = String::new();
        for field in &self.layout.fields {
            match &field.meaning {
                Meaning::Reserved => rows.push_str(&self.put_fixed(field, &vec![0; field.size as usize])),
                Meaning::Constant(constant) => rows.push_str(&self.put_fixed(field, constant)),
                _ => {
                    let member = format!("in->{}", names::member(&field.name));
                    rows.push_str(&self.each(
                        field,
                        &member,
                        |member, place, scalar| {
                            scalar.map_or(String::new(), |scalar| self.put(field, scalar, member, place))
                        },
                        "pack",
                    ));
                }
            }
        }
        if self.layout.values().next().is_none() { format!("(void)in;\n{rows}") } else { rows }
    }

    /// Statements that make `bytes` all zero but for the constants.
    fn blank(&self) -> String {
        let mut rows = format!("memset(bytes, 0, {}_SIZE);\n", self.upper);
        for field in &self.layout.fields {
            if let Meaning::Constant(constant) = &field.meaning {
                rows.push_str(&self.put_fixed(field, constant));
            }
        }
        rows
    }

    /// The statement that writes bytes that are always the same.
    fn put_fixed(&self, field: &Field, bytes: &[u8]) -> String {
        let at = at("bytes", field.offset);
        match (field.scalar(), bytes.iter().all(|byte| *byte == 0)) {
            (Some(scalar), _) if scalar.size() == 1 => {
                format!("{} = {};\n", element(&at), self.fixed_number(scalar, bytes))
            }
            (Some(scalar), _) => {
                let store = self.c.names.lower(&format!("store_{}", self.unsigned_ending(scalar)));
                format!("{store}({at}, {});\n", self.fixed_number(scalar, bytes))
            }
            (None, true) => format!("memset({at}, 0, {});\n", bytes.len()),
            (None, false) => format!("memcpy({at}, {}, {});\n", super::text::bytes(bytes), bytes.len()),
        }
    }

    /// The same for all integers and floats: how their bits are read and written.
    pub(super) fn unsigned_ending(&self, scalar: Scalar) -> String {
        let ending = self.ending(scalar);
        ending.replace('f', "u")
    }

    /// Bytes on the wire as the number that they are, without its sign.
    pub(super) fn fixed_number(&self, scalar: Scalar, bytes: &[u8]) -> String {
        let fold = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        let number = match self.layout.byte_order {
            ByteOrder::Little => bytes.iter().rev().fold(0, fold),
            ByteOrder::Big => bytes.iter().fold(0, fold),
        };
        match number {
            0..=9 => number.to_string(),
            _ => super::text::hex(number, scalar.size()),
        }
    }

    /// What is done with every number of a field, or with every layout in it by its own function.
    fn each(
        &self,
        field: &Field,
        member: &str,
        one: impl Fn(&str, &str, Option<Scalar>) -> String,
        function: &str,
    ) -> String {
        let start = at("bytes", field.offset);
        let call = |member: &str, place: &str, inner: usize| {
            let lower = self.c.names.lower(&self.c.registry.layouts[inner].name);
            match function {
                "pack" => format!("{lower}_pack_(&{member}, {place});\n"),
                _ => format!("{lower}_unpack_({place}, &{member});\n"),
            }
        };
        let all = |step: u32, count: u32, body: &dyn Fn(&str, &str) -> String| {
            let place = if step == 1 { format!("{start} + at") } else { format!("{start} + at * {step}") };
            let body = indent(&body(&format!("{member}[at]"), &place), 4);
            format!("for (size_t at = 0; at < {count}; at++) {{\n{body}}}\n")
        };
        match (field.element, field.count) {
            (Element::Scalar(Scalar::U8), Some(count)) if function == "pack" => {
                format!("memcpy({start}, {member}, {count});\n")
            }
            (Element::Scalar(Scalar::U8), Some(count)) => format!("memcpy({member}, {start}, {count});\n"),
            (Element::Scalar(scalar), Some(count)) => {
                all(scalar.size(), count, &|member, place| one(member, place, Some(scalar)))
            }
            (Element::Scalar(scalar), None) => one(member, &start, Some(scalar)),
            (Element::Layout(inner), None) => call(member, &start, inner),
            (Element::Layout(inner), Some(count)) => {
                all(self.c.registry.layouts[inner].size, count, &|member, place| call(member, place, inner))
            }
        }
    }
}

/// A place in memory.
pub(super) fn at(base: &str, offset: u32) -> String {
    if offset == 0 { base.to_owned() } else { format!("{base} + {offset}") }
}

/// The byte at a place.
pub(super) fn element(place: &str) -> String {
    match place.split_once(" + ") {
        Some((base, index)) => format!("{base}[{index}]"),
        None => format!("{place}[0]"),
    }
}

/// What a field is, as a paragraph.
fn field_note(field: &Field) -> String {
    let mut text = field.doc.clone();
    if text.is_empty() {
        text = format!("The field `{}`.", field.name);
    }
    if !field.unit.is_empty() {
        text = format!("{text} In {}.", unit_words(&field.unit));
    }
    text = names::noted(text, &field.name);
    if let Some(since) = &field.since {
        text = format!("{text} Since {since}.");
    }
    if let Some(why) = &field.deprecated {
        text = format!("{text} Deprecated: {why}");
    }
    text
}

/// A unit as prose.
fn unit_words(unit: &str) -> &str {
    match unit {
        "ms" => "milliseconds",
        "us" => "microseconds",
        "px" => "pixels",
        "x100" => "hundredths",
        other => other,
    }
}
