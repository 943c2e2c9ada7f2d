//! What packets are made of: messages, bodies, entries, vocabularies, schemas.

use serde_json::{Value as Json, json};

use crate::model::{
    Body, Choice, Content, Count, Direction, Entry, Layout, Message, Part, Registry, Rule, Schema, Segment,
    Select, Slices, Vocabulary,
};
use crate::rule::{FieldRef, Space};

use super::{list, name_of, rule_blaming, some};

pub(super) fn message(registry: &Registry, item: &Message) -> Json {
    let metadata = item.metadata.map(|metadata| &registry.layouts[metadata]);
    let field = |field: usize| metadata.map_or("", |metadata| name_of(metadata, field));
    let direction = match item.direction {
        Direction::ToServer => "to_server",
        Direction::ToClient => "to_client",
        Direction::Both => "both",
    };
    let rule = |rule: &Rule| rule_blaming(rule, &blamed(registry, metadata, rule.blame));
    let part = |part: usize| message_part(registry, item, part);
    json!({
        "value": item.value,
        "name": item.name,
        "metadata": metadata.map(|metadata| metadata.name.as_str()),
        "scope": item.scope,
        "direction": direction,
        "source": item.source,
        "doc": item.doc,
        "body": list(&item.segments, |item| segment(registry, item, &field)),
        "scope_rules": list(&item.scope_rules, rule),
        "rules": list(&item.rules, rule),
        "slots": item.slots.as_ref().map(|slots| json!({
            "id": slots.id,
            "mask": field(slots.mask),
            "references": part(slots.references.0),
            "inline": part(slots.inline.0),
            "order": list(&slots.order, |(value, mask)| json!({ "value": value, "mask": mask })),
            "mode": slots.mode.map(|(mode, reference, mixed)| json!({
                "field": field(mode),
                "reference": reference,
                "mixed": mixed,
            })),
        })),
        "sorted": list(&item.sorted, |sorted| json!({
            "id": sorted.id,
            "part": part(sorted.part),
            "by": sorted.by.iter().map(|by| row_field(registry, item, sorted.part, *by)).collect::<Vec<_>>(),
            "strict": sorted.strict,
        })),
        "sizes": list(&item.sizes, |size| json!({
            "id": size.id,
            "part": part(size.part),
            "kind": size.kind,
            "field": field(size.field),
        })),
        "tensor": item.tensor.as_ref().map(|tensor| json!({
            "id": tensor.id,
            "part": part(tensor.part),
            "section_table": tensor.section_table,
            "tile_index": tensor.tile_index,
            "section_count": field(tensor.section_count),
            "tile_count": field(tensor.tile_count),
            "base": field(tensor.base),
            "mode": tensor.mode.map(field),
        })),
    })
}

/// The field that a rule of a message blames.
fn blamed(registry: &Registry, metadata: Option<&Layout>, field: FieldRef) -> String {
    let header = registry.protocol.header.map(|header| &registry.layouts[header]);
    match field.space {
        Space::Own => metadata.map_or("", |metadata| name_of(metadata, field.index)).to_owned(),
        Space::Header => format!("header.{}", header.map_or("", |header| name_of(header, field.index))),
    }
}

/// The name of a part of the message's body.
fn message_part<'a>(registry: &'a Registry, message: &Message, part: usize) -> Option<&'a str> {
    let (_, body) = message.body()?;
    registry.bodies[body].parts.get(part).map(|part| part.name.as_str())
}

/// A field of the rows or headers of a part of the message's body.
fn row_field<'a>(registry: &'a Registry, message: &Message, part: usize, field: usize) -> Option<&'a str> {
    let (_, body) = message.body()?;
    let layout = match registry.bodies[body].parts.get(part)?.content {
        Content::Layout(layout) => layout,
        Content::Entry(entry) => registry.entries[entry].header,
        Content::Opaque | Content::Body(_) | Content::Vocabulary(_) => return None,
    };
    Some(name_of(&registry.layouts[layout], field))
}

/// What a segment or a part holds, as the registry names it; nothing where it is opaque.
fn content(registry: &Registry, content: Content) -> Json {
    let (kind, name) = match content {
        Content::Opaque => return Json::Null,
        Content::Layout(item) => ("layout", &registry.layouts[item].name),
        Content::Entry(item) => ("entry", &registry.entries[item].name),
        Content::Body(item) => ("body", &registry.bodies[item].name),
        Content::Vocabulary(item) => ("vocabulary", &registry.vocabularies[item].name),
    };
    json!({ "kind": kind, "name": name })
}

fn segment<'a>(registry: &Registry, item: &Segment, field: &impl Fn(usize) -> &'a str) -> Json {
    json!({
        "name": item.name,
        "length": item.length.map_or("rest", field),
        "of": content(registry, item.content),
        "count": item.count.map(field),
        "select": item.select.map(field),
        "cases": list(&item.cases, |case| json!({
            "value": case.value,
            "of": content(registry, case.content),
            "id": some(&case.id),
        })),
        "id": some(&item.id),
        "doc": item.doc,
    })
}

pub(super) fn body(registry: &Registry, item: &Body) -> Json {
    let prelude = &registry.layouts[item.prelude];
    json!({
        "name": item.name,
        "prelude": prelude.name,
        "optional": item.optional,
        "source": item.source,
        "doc": item.doc,
        "parts": list(&item.parts, |one| part(registry, item, prelude, one)),
    })
}

fn part(registry: &Registry, body: &Body, prelude: &Layout, item: &Part) -> Json {
    let count = item.count.as_ref().map(|count| match count {
        Count::Prelude(field) => name_of(prelude, *field).to_owned(),
        Count::Metadata(field) => format!("metadata.{field}"),
    });
    json!({
        "id": some(&item.id),
        "name": item.name,
        "length": name_of(prelude, item.length),
        "of": content(registry, item.content),
        "count": count,
        "leading": item.leading.map(|(layout, count)| json!({
            "layout": registry.layouts[layout].name,
            "count": name_of(prelude, count),
        })),
        "slices": item.slices.as_ref().map(|one| slices(registry, body, one)),
        "doc": item.doc,
    })
}

fn slices(registry: &Registry, body: &Body, item: &Slices) -> Json {
    let rows = &registry.layouts[item.layout];
    json!({
        "rows": body.parts.get(item.rows).map(|part| part.name.as_str()),
        "offset": name_of(rows, item.offset),
        "size": name_of(rows, item.size),
        "select": item.select.as_ref().map(|one| select(registry, rows, one)),
    })
}

fn select(registry: &Registry, layout: &Layout, item: &Select) -> Json {
    json!({
        "field": name_of(layout, item.field),
        "critical": item.critical.map(|(field, mask)| json!({
            "field": name_of(layout, field),
            "mask": mask,
        })),
        "code": item.code,
        "choices": list(&item.choices, |one| choice(registry, layout, one)),
    })
}

fn choice(registry: &Registry, layout: &Layout, item: &Choice) -> Json {
    json!({
        "value": item.value,
        "name": item.name,
        "layout": registry.layouts[item.layout].name,
        "messages": item.messages.iter().map(|at| registry.messages[*at].name.as_str()).collect::<Vec<_>>(),
        "refuse_critical": item.refuse_critical,
        "once": item.once,
        "requires": item.require.as_ref().map(|(_, blamed)| name_of(layout, *blamed)),
        "id": some(&item.id),
        "doc": item.doc,
    })
}

pub(super) fn entry(registry: &Registry, item: &Entry) -> Json {
    let header = &registry.layouts[item.header];
    json!({
        "name": item.name,
        "header": header.name,
        "payload": name_of(header, item.payload),
        "align": item.align,
        "unique": item.unique.map(|field| name_of(header, field)),
        "select": item.select.as_ref().map(|one| select(registry, header, one)),
        "id": some(&item.id),
        "source": item.source,
        "doc": item.doc,
    })
}

pub(super) fn vocabulary(item: &Vocabulary) -> Json {
    json!({
        "name": item.name,
        "length_type": item.length_type.name(),
        "id": some(&item.id),
        "source": item.source,
        "doc": item.doc,
        "words": list(&item.words, |(word, doc)| json!({ "word": word, "doc": doc })),
    })
}

pub(super) fn schema(item: &Schema) -> Json {
    json!({
        "schema_id": item.schema_id,
        "schema_version": item.schema_version,
        "profile": item.profile,
        "name": item.name,
        "semantics": item.semantics,
        "source": item.source,
        "doc": item.doc,
    })
}
