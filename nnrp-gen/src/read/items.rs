//! The tables of a registry file, one reader each.

use toml::de::DeValue;

use crate::report::Diagnostic;
use crate::source::Spanned;
use crate::suggest::did_you_mean;
use crate::syntax::*;

use super::keys::{Context, Keys, as_number};

/// A kind of table at the top of a file.
pub(super) struct Kind {
    pub(super) name: &'static str,
    /// `[[name]]` rather than `[name]`.
    pub(super) many: bool,
    add: fn(&mut Keys<'_, '_>, &mut Context<'_>, &mut Registry) -> Option<()>,
}

impl Kind {
    pub(super) fn read(&self, mut keys: Keys<'_, '_>, cx: &mut Context<'_>, registry: &mut Registry) {
        // What lacks a key that it needs is left out; that it was there is remembered, so that nothing
        // else is reported for it.
        if (self.add)(&mut keys, cx, registry).is_none() {
            registry.unread.push(self.name);
        }
        keys.close(cx);
    }
}

macro_rules! table {
    ($name:literal, $many:literal, $list:ident, $read:ident) => {
        Kind {
            name: $name,
            many: $many,
            add: |keys, cx, registry| {
                let item = $read(keys, cx)?;
                registry.$list.push(item);
                Some(())
            },
        }
    };
}

/// Every kind of table.
pub(super) const TABLES: [Kind; 11] = [
    table!("protocol", false, protocols, protocol),
    table!("enum", true, enums, enumeration),
    table!("bitmask", true, bitmasks, bitmask),
    table!("layout", true, layouts, layout),
    table!("message", true, messages, message),
    table!("scope", true, scopes, scope),
    table!("body", true, bodies, body),
    table!("entry", true, entries, entry),
    table!("vocabulary", true, vocabularies, vocabulary),
    table!("schema", true, schemas, schema),
    table!("state_machine", true, machines, machine),
];

fn protocol(keys: &mut Keys<'_, '_>, cx: &mut Context<'_>) -> Option<Protocol> {
    let span = keys.span;
    let name = keys.need_text(cx, "name");
    let version_major = keys.number(cx, "version_major");
    let wire_format = keys.number(cx, "wire_format");
    let alpn = keys.texts(cx, "alpn");
    let byte_order = byte_order(keys, cx);
    let byte_order = keys.need("byte_order", byte_order);
    let header = keys.text(cx, "header");
    let errors = keys.inner(cx, "errors", |keys, cx| {
        let enumeration = keys.need_text(cx, "enum");
        let header = keys.need_text(cx, "header");
        let body = keys.need_text(cx, "body");
        let limit = keys.need_text(cx, "limit");
        Some(Errors { enumeration: enumeration?, header: header?, body: body?, limit: limit? })
    });
    let scope = keys.inner(cx, "scope", |keys, cx| {
        let (field, id) = (keys.need_text(cx, "field"), keys.need_text(cx, "id"));
        Some(ScopeField { field: field?, id: id? })
    });
    let (source, doc) = (keys.text(cx, "source"), keys.text(cx, "doc"));
    Some(Protocol {
        name: name?,
        version_major,
        wire_format,
        alpn,
        byte_order: byte_order?,
        header,
        errors,
        scope,
        source,
        doc,
        span,
    })
}

/// A text that is one of a few.
fn choice<T: Copy>(
    keys: &mut Keys<'_, '_>,
    cx: &mut Context<'_>,
    key: &'static str,
    choices: &[(&'static str, T)],
) -> Option<Spanned<T>> {
    let text = keys.text(cx, key)?;
    if let Some((_, good)) = choices.iter().find(|(name, _)| *name == text.as_str()) {
        return Some(Spanned::new(*good, text.span));
    }
    let names: Vec<_> = choices.iter().map(|(name, _)| format!("`{name}`")).collect();
    cx.report.add(
        Diagnostic::error(text.span, format!("`{key}` cannot be `{}`", text.value))
            .label(format!("one of {}", names.join(", ")))
            .maybe_help(did_you_mean(text.as_str(), choices.iter().map(|(name, _)| *name))),
    );
    None
}

fn byte_order(keys: &mut Keys<'_, '_>, cx: &mut Context<'_>) -> Option<Spanned<ByteOrder>> {
    choice(keys, cx, "byte_order", &[("little", ByteOrder::Little), ("big", ByteOrder::Big)])
}

/// The integer type of an enum or a bitmask.
fn unsigned(keys: &mut Keys<'_, '_>, cx: &mut Context<'_>, key: &'static str) -> Option<Spanned<Scalar>> {
    const UNSIGNED: [(&str, Scalar); 4] =
        [("u8", Scalar::U8), ("u16", Scalar::U16), ("u32", Scalar::U32), ("u64", Scalar::U64)];
    let ty = choice(keys, cx, key, &UNSIGNED);
    keys.need(key, ty)
}

fn enumeration(keys: &mut Keys<'_, '_>, cx: &mut Context<'_>) -> Option<Enum> {
    let span = keys.span;
    let name = keys.need_text(cx, "name");
    let ty = unsigned(keys, cx, "type");
    let from = choice(keys, cx, "from", &[("messages", ())]);
    let values = keys.rows(cx, "values", "value", |keys, cx| {
        let span = keys.span;
        let value = keys.need_number(cx, "value");
        let name = keys.need_text(cx, "name");
        let doc = keys.text(cx, "doc");
        let layout = keys.text(cx, "layout");
        let messages = keys.one_or_more(cx, "messages");
        let refuse_critical = keys.flag(cx, "refuse_critical");
        let once = keys.flag(cx, "once");
        let require = keys.text(cx, "require");
        let id = keys.text(cx, "id");
        Some(Value {
            value: value?,
            name: name?,
            doc,
            layout,
            messages,
            refuse_critical,
            once,
            require,
            id,
            span,
        })
    });
    let ranges = keys.rows(cx, "ranges", "range", |keys, cx| {
        let span = keys.span;
        let from = keys.need_number(cx, "from");
        let to = keys.need_number(cx, "to");
        let name = keys.need_text(cx, "name");
        let family = keys.text(cx, "enum");
        let doc = keys.text(cx, "doc");
        Some(Range { from: from?, to: to?, name: name?, family, doc, span })
    });
    let (source, doc) = (keys.text(cx, "source"), keys.text(cx, "doc"));
    if from.is_none() && !keys.has("from") && !keys.has("values") && !keys.has("ranges") {
        keys.need::<()>("values", None);
    }
    let from_messages = from.map(|from| from.span);
    let complete = values.len() + ranges.len() == keys.row_count("values") + keys.row_count("ranges");
    Some(Enum {
        name: name?,
        ty: ty?,
        values,
        ranges,
        complete,
        from_messages,
        given: None,
        source,
        doc,
        span,
    })
}

fn bitmask(keys: &mut Keys<'_, '_>, cx: &mut Context<'_>) -> Option<Bitmask> {
    let span = keys.span;
    let name = keys.need_text(cx, "name");
    let ty = unsigned(keys, cx, "type");
    let bits = keys.rows(cx, "bits", "bit", |keys, cx| {
        let span = keys.span;
        let bit = keys.need_number(cx, "bit");
        let name = keys.need_text(cx, "name");
        let doc = keys.text(cx, "doc");
        Some(Bit { bit: bit?, name: name?, doc, span })
    });
    keys.need("bits", (!bits.is_empty()).then_some(()));
    let (source, doc) = (keys.text(cx, "source"), keys.text(cx, "doc"));
    let complete = bits.len() == keys.row_count("bits");
    Some(Bitmask { name: name?, ty: ty?, bits, complete, given: None, source, doc, span })
}

fn layout(keys: &mut Keys<'_, '_>, cx: &mut Context<'_>) -> Option<Layout> {
    let span = keys.span;
    let name = keys.need_text(cx, "name");
    let size = keys.need_number(cx, "size");
    let byte_order = byte_order(keys, cx);
    let mut fields = keys.rows(cx, "fields", "field", field);
    for (row, field) in fields.iter_mut().enumerate() {
        field.understood = keys.is_understood("fields", row);
    }
    let named = keys.has("fields").then_some(());
    keys.need("fields", named);
    let complete = named.is_some() && fields.len() == keys.row_count("fields");
    let rules = keys.rows(cx, "rules", "rule", rule);
    let (source, doc) = (keys.text(cx, "source"), keys.text(cx, "doc"));
    Some(Layout {
        name: name?,
        size: size?,
        byte_order,
        fields,
        complete,
        rules,
        mutable: true,
        given: None,
        source,
        doc,
        span,
    })
}

fn field(keys: &mut Keys<'_, '_>, cx: &mut Context<'_>) -> Option<Field> {
    let span = keys.span;
    let offset = keys.need_number(cx, "offset");
    let name = keys.need_text(cx, "name");
    let ty = field_type(keys, cx);
    let reserved = keys.flag(cx, "reserved");
    let constant = constant(keys, cx);
    let enumeration = keys.text(cx, "enum");
    let bitmask = keys.text(cx, "bitmask");
    let boolean = keys.flag(cx, "bool");
    let unit = keys.text(cx, "unit");
    let role = choice(keys, cx, "is", &Role::ALL);
    let error = keys.text(cx, "error");
    let since = keys.text(cx, "since");
    let deprecated = keys.text(cx, "deprecated");
    let doc = keys.text(cx, "doc");
    Some(Field {
        name: name?,
        offset: offset?,
        ty: ty?,
        native: Native::Meant,
        reserved,
        constant,
        enumeration,
        bitmask,
        boolean,
        unit,
        doc,
        since,
        deprecated,
        role,
        error,
        understood: true,
        span,
    })
}

/// `type`, or `layout` for another layout, either of them also as an array.
fn field_type(keys: &mut Keys<'_, '_>, cx: &mut Context<'_>) -> Option<Spanned<Type>> {
    let ty = keys.text(cx, "type");
    let layout = keys.text(cx, "layout");
    let ty = ty.map(|text| parse_type(text, cx));
    let layout = layout.map(|text| parse_type(text, cx));
    match (ty, layout) {
        (Some(ty), None) => ty,
        (None, Some(layout)) => {
            let layout = layout?;
            if let Element::Scalar(scalar) = layout.value.element {
                cx.report.add(
                    Diagnostic::error(layout.span, format!("`{}` is no layout", scalar.name()))
                        .help(format!("write `type = \"{}\"`", scalar.name())),
                );
                return None;
            }
            Some(layout)
        }
        (Some(ty), Some(layout)) => {
            let (ty, layout) = (ty?, layout?);
            let agree = ty.value.element == layout.value.element
                && (layout.value.count.is_none() || layout.value.count == ty.value.count);
            if !agree {
                cx.report.add(
                    Diagnostic::error(ty.span, "`type` and `layout` name different things")
                        .related(layout.span, "the layout")
                        .help("leave `type` out"),
                );
                return None;
            }
            Some(ty)
        }
        (None, None) => {
            keys.need::<()>("type", None);
            None
        }
    }
}

/// `u16`, `[u8; 16]`, `object_key`, `[object_key; 4]`.
fn parse_type(text: Text, cx: &mut Context<'_>) -> Option<Spanned<Type>> {
    let (element, count) = match text.value.trim().strip_prefix('[') {
        None => (text.value.trim(), None),
        Some(array) => {
            let parts = array.strip_suffix(']').and_then(|inner| inner.split_once(';'));
            let parsed = parts.and_then(|(element, count)| {
                count.trim().replace('_', "").parse::<u64>().ok().map(|count| (element.trim(), count))
            });
            let Some((element, count)) = parsed else {
                cx.report.add(
                    Diagnostic::error(text.span, format!("`{}` is no type", text.value))
                        .help("an array is written `[u8; 16]`"),
                );
                return None;
            };
            (element, Some(count))
        }
    };
    let bits = element.strip_prefix(['u', 'i', 'b']).and_then(|bits| bits.parse::<u32>().ok());
    let element = match (Scalar::named(element), bits) {
        (Some(scalar), _) => Element::Scalar(scalar),
        (None, Some(bits)) => {
            let problem = Diagnostic::error(text.span, format!("`{element}` is no type of the wire"));
            cx.report.add(if bits % 8 == 0 {
                problem.help("integers are `u8`, `u16`, `u32`, `u64` and their signed twins; other sizes are arrays of bytes, `[u8; 3]`")
            } else {
                problem
                    .label("sub-byte fields are not supported")
                    .help("use a whole integer with a bitmask, or an enum that is narrower than the field")
            });
            return None;
        }
        (None, None) if element == "bool" => {
            cx.report.add(
                Diagnostic::error(text.span, "`bool` has no width on the wire")
                    .help("write `type = \"u8\", bool = true`"),
            );
            return None;
        }
        (None, None) => Element::Layout(element.to_owned()),
    };
    Some(Spanned::new(Type { element, count }, text.span))
}

fn constant(keys: &mut Keys<'_, '_>, cx: &mut Context<'_>) -> Option<Spanned<Literal>> {
    let value = keys.any("const")?;
    let span = cx.span(value.span());
    let literal = match value.get_ref() {
        DeValue::String(text) => Some(Literal::Text(text.to_string())),
        DeValue::Array(list) => {
            list.iter().map(|item| as_number(item.get_ref())).collect::<Option<_>>().map(Literal::List)
        }
        number => as_number(number).map(Literal::Number),
    };
    if literal.is_none() {
        cx.wrong_type(span, "const", "an integer, a string or an array of integers", value.get_ref());
    }
    Some(Spanned::new(literal?, span))
}

fn rule(keys: &mut Keys<'_, '_>, cx: &mut Context<'_>) -> Option<Rule> {
    let span = keys.span;
    let id = keys.need_text(cx, "id");
    let when = keys.text(cx, "when");
    let require = keys.need_text(cx, "require");
    let field = keys.text(cx, "field");
    let error = keys.text(cx, "error");
    let doc = keys.text(cx, "doc");
    Some(Rule { id: id?, when, require: require?, field, error, doc, span })
}

fn message(keys: &mut Keys<'_, '_>, cx: &mut Context<'_>) -> Option<Message> {
    let span = keys.span;
    let value = keys.need_number(cx, "value");
    let name = keys.need_text(cx, "name");
    let metadata = keys.text(cx, "metadata");
    let scope = keys.one_or_more(cx, "scope");
    let direction = choice(keys, cx, "direction", &Direction::ALL);
    let body = keys.rows(cx, "body", "segment", segment);
    let rules = keys.rows(cx, "rules", "rule", rule);
    let slots = keys.rows(cx, "slots", "row of slots", slots);
    let sorted = keys.rows(cx, "sorted", "row of sorted", |keys, cx| {
        let span = keys.span;
        let id = keys.need_text(cx, "id");
        let part = keys.need_text(cx, "part");
        let by = keys.one_or_more(cx, "by");
        let strict = keys.truth(cx, "strict").is_none_or(|strict| strict.value);
        Some(Sorted { id: id?, part: part?, by, strict, span })
    });
    let sizes = keys.rows(cx, "sizes", "row of sizes", |keys, cx| {
        let span = keys.span;
        let id = keys.need_text(cx, "id");
        let kind = keys.need_text(cx, "kind");
        let field = keys.need_text(cx, "field");
        Some(Size { id: id?, kind: kind?, field: field?, span })
    });
    let tensor = keys.inner(cx, "tensor", |keys, cx| {
        let span = keys.span;
        for key in ["id", "section_table", "tile_index", "section_count", "tile_count", "base", "mode"] {
            keys.any(key);
        }
        Some(Tensor { names: keys.pairs(cx), span })
    });
    let (source, doc) = (keys.text(cx, "source"), keys.text(cx, "doc"));
    Some(Message {
        value: value?,
        name: name?,
        metadata,
        scope,
        direction,
        body,
        rules,
        slots,
        sorted,
        sizes,
        tensor,
        source,
        doc,
        span,
    })
}

fn segment(keys: &mut Keys<'_, '_>, cx: &mut Context<'_>) -> Option<Segment> {
    let span = keys.span;
    let name = keys.need_text(cx, "name");
    let length = keys.need_text(cx, "length");
    let of = keys.text(cx, "of");
    let count = keys.text(cx, "count");
    let select = keys.text(cx, "select");
    let cases = keys.rows(cx, "cases", "case", |keys, cx| {
        let value = name_or_number(keys, cx, "value");
        let of = keys.need_text(cx, "of");
        let id = keys.text(cx, "id");
        Some(Case { value: value?, of: of?, id })
    });
    let id = keys.text(cx, "id");
    let doc = keys.text(cx, "doc");
    Some(Segment { name: name?, length: length?, of, count, select, cases, id, doc, span })
}

fn name_or_number(
    keys: &mut Keys<'_, '_>,
    cx: &mut Context<'_>,
    key: &'static str,
) -> Option<Spanned<NameOrNumber>> {
    let value = keys.any(key);
    let value = keys.need(key, value)?;
    let span = cx.span(value.span());
    let read = match value.get_ref() {
        DeValue::String(text) => Some(NameOrNumber::Name(text.to_string())),
        number => as_number(number).map(NameOrNumber::Number),
    };
    if read.is_none() {
        cx.wrong_type(span, key, "a name or an integer", value.get_ref());
    }
    Some(Spanned::new(read?, span))
}

fn slots(keys: &mut Keys<'_, '_>, cx: &mut Context<'_>) -> Option<Slots> {
    let span = keys.span;
    let id = keys.need_text(cx, "id");
    let mask = keys.need_text(cx, "mask");
    let references = keys.need_text(cx, "references");
    let inline = keys.need_text(cx, "inline");
    let key = keys.need_text(cx, "key");
    let order = keys.texts(cx, "order");
    let mode = keys.text(cx, "mode");
    Some(Slots {
        id: id?,
        mask: mask?,
        references: references?,
        inline: inline?,
        key: key?,
        order,
        mode,
        span,
    })
}

fn scope(keys: &mut Keys<'_, '_>, cx: &mut Context<'_>) -> Option<Scope> {
    let span = keys.span;
    let name = keys.need_text(cx, "name");
    let field = keys.text(cx, "field");
    let values = keys.rows(cx, "values", "value", |keys, cx| {
        let value = keys.need_text(cx, "value");
        let require = keys.need_text(cx, "require");
        Some(ScopeValue { value: value?, require: require? })
    });
    let cases = keys.rows(cx, "cases", "case", |keys, cx| {
        let when = keys.text(cx, "when");
        let require = keys.need_text(cx, "require");
        Some(ScopeCase { when, require: require? })
    });
    let (source, doc) = (keys.text(cx, "source"), keys.text(cx, "doc"));
    Some(Scope { name: name?, field, values, cases, source, doc, span })
}

fn body(keys: &mut Keys<'_, '_>, cx: &mut Context<'_>) -> Option<Body> {
    let span = keys.span;
    let name = keys.need_text(cx, "name");
    let prelude = keys.need_text(cx, "prelude");
    let optional = keys.flag(cx, "optional").is_some();
    let parts = keys.rows(cx, "parts", "part", part);
    let (source, doc) = (keys.text(cx, "source"), keys.text(cx, "doc"));
    Some(Body { name: name?, prelude: prelude?, optional, parts, source, doc, span })
}

fn part(keys: &mut Keys<'_, '_>, cx: &mut Context<'_>) -> Option<Part> {
    let span = keys.span;
    let id = keys.text(cx, "id");
    let name = keys.need_text(cx, "name");
    let length = keys.need_text(cx, "length");
    let of = keys.text(cx, "of");
    let count = keys.text(cx, "count");
    let rows = keys.text(cx, "slices");
    let offset = keys.text(cx, "offset");
    let size = keys.text(cx, "size");
    let select = keys.text(cx, "select");
    let critical = keys.text(cx, "critical");
    let error = keys.text(cx, "error");
    let slices = rows.and_then(|rows| {
        let (offset, size) = (keys.need("offset", offset), keys.need("size", size));
        Some(Slices { rows, offset: offset?, size: size?, select, critical, error })
    });
    let leading = keys.text(cx, "leading");
    let leading_count = keys.text(cx, "leading_count");
    let leading = leading.and_then(|leading| {
        let count = keys.need("leading_count", leading_count);
        Some((leading, count?))
    });
    let doc = keys.text(cx, "doc");
    Some(Part { id, name: name?, length: length?, of, count, slices, leading, doc, span })
}

fn entry(keys: &mut Keys<'_, '_>, cx: &mut Context<'_>) -> Option<Entry> {
    let span = keys.span;
    let name = keys.need_text(cx, "name");
    let header = keys.need_text(cx, "header");
    let payload = keys.need_text(cx, "payload");
    let align = keys.number(cx, "align");
    let select = keys.text(cx, "select");
    let critical = keys.text(cx, "critical");
    let error = keys.text(cx, "error");
    let unique = keys.text(cx, "unique");
    let id = keys.text(cx, "id");
    let (source, doc) = (keys.text(cx, "source"), keys.text(cx, "doc"));
    Some(Entry {
        name: name?,
        header: header?,
        payload: payload?,
        align,
        select,
        critical,
        error,
        unique,
        id,
        source,
        doc,
        span,
    })
}

fn vocabulary(keys: &mut Keys<'_, '_>, cx: &mut Context<'_>) -> Option<Vocabulary> {
    let span = keys.span;
    let name = keys.need_text(cx, "name");
    let length_type = unsigned(keys, cx, "length_type");
    let words = keys.rows(cx, "words", "word", |keys, cx| {
        let word = keys.need_text(cx, "word");
        let doc = keys.text(cx, "doc");
        Some(Word { word: word?, doc })
    });
    let id = keys.text(cx, "id");
    let (source, doc) = (keys.text(cx, "source"), keys.text(cx, "doc"));
    Some(Vocabulary { name: name?, length_type: length_type?, words, id, source, doc, span })
}

fn schema(keys: &mut Keys<'_, '_>, cx: &mut Context<'_>) -> Option<Schema> {
    let span = keys.span;
    let schema_id = keys.need_number(cx, "schema_id");
    let schema_version = keys.need_number(cx, "schema_version");
    let profile = keys.need_text(cx, "profile");
    let name = keys.need_text(cx, "name");
    let semantics = keys.need_text(cx, "semantics");
    let (source, doc) = (keys.text(cx, "source"), keys.text(cx, "doc"));
    Some(Schema {
        schema_id: schema_id?,
        schema_version: schema_version?,
        profile: profile?,
        name: name?,
        semantics: semantics?,
        source,
        doc,
        span,
    })
}

fn machine(keys: &mut Keys<'_, '_>, cx: &mut Context<'_>) -> Option<Machine> {
    let span = keys.span;
    let name = keys.need_text(cx, "name");
    let enumeration = keys.text(cx, "enum");
    let states = states(keys, cx);
    let initial = keys.need_text(cx, "initial");
    let terminal = keys.one_or_more(cx, "terminal");
    let transitions = keys.rows(cx, "transitions", "transition", |keys, cx| {
        let span = keys.span;
        let from = keys.need_text(cx, "from");
        let to = keys.need_text(cx, "to");
        let on = keys.one_or_more(cx, "on");
        let doc = keys.text(cx, "doc");
        Some(Transition { from: from?, to: to?, on, doc, span })
    });
    let (source, doc) = (keys.text(cx, "source"), keys.text(cx, "doc"));
    if enumeration.is_none() && !keys.has("enum") && !keys.has("states") {
        keys.need::<()>("states", None);
    }
    Some(Machine {
        name: name?,
        enumeration,
        states,
        initial: initial?,
        terminal,
        transitions,
        source,
        doc,
        span,
    })
}

/// States as plain strings, or as rows with a doc.
fn states(keys: &mut Keys<'_, '_>, cx: &mut Context<'_>) -> Vec<State> {
    let plain = keys
        .any("states")
        .and_then(|value| value.get_ref().as_array())
        .is_some_and(|list| list.iter().all(|state| state.get_ref().is_str()));
    if plain {
        return keys.texts(cx, "states").into_iter().map(|name| State { name, doc: None }).collect();
    }
    keys.rows(cx, "states", "state", |keys, cx| {
        let name = keys.need_text(cx, "name");
        let doc = keys.text(cx, "doc");
        Some(State { name: name?, doc })
    })
}
