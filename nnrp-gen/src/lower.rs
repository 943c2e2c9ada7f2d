//! Makes the model of a registry that passed the checks.

use crate::check::Index;
use crate::check::fields::Fields;
use crate::model::*;
use crate::report::Report;
use crate::resolve::{Resolve, text};
use crate::source::Sources;
use crate::syntax::{self, Literal, Text};

/// The model, or nothing where a check that should have refused the registry did not.
pub fn lower(registry: &syntax::Registry, index: &Index, sources: &Sources) -> Option<Registry> {
    let lower = Lower { registry, index, sources };
    let report = &mut Report::default();
    let mut resolve = Resolve { registry, index, sources, report };
    let protocol = registry.protocols.first()?;
    Some(Registry {
        protocol: lower.protocol(protocol)?,
        enums: all(&registry.enums, |item| lower.enumeration(item))?,
        bitmasks: all(&registry.bitmasks, |item| lower.bitmask(item))?,
        layouts: all(&registry.layouts, |item| lower.layout(item, protocol.byte_order.value))?,
        messages: all(&registry.messages, |item| resolve.message(item))?,
        bodies: all(&registry.bodies, |item| resolve.body(item))?,
        entries: all(&registry.entries, |item| resolve.entry(item))?,
        vocabularies: all(&registry.vocabularies, |item| resolve.vocabulary(item))?,
        schemas: all(&registry.schemas, schema)?,
        machines: all(&registry.machines, |item| lower.machine(item))?,
    })
}

struct Lower<'a> {
    registry: &'a syntax::Registry,
    index: &'a Index,
    sources: &'a Sources,
}

fn all<T, U>(list: &[T], one: impl FnMut(&T) -> Option<U>) -> Option<Vec<U>> {
    list.iter().map(one).collect()
}

fn owned(text: Option<&Text>) -> Option<String> {
    text.map(|text| text.value.clone())
}

fn number(number: &syntax::Number) -> Option<u64> {
    u64::try_from(number.value).ok()
}

impl Lower<'_> {
    fn protocol(&self, item: &syntax::Protocol) -> Option<Protocol> {
        Some(Protocol {
            name: item.name.value.clone(),
            version_major: item.version_major.as_ref().and_then(number),
            wire_format: item.wire_format.as_ref().and_then(number),
            alpn: item.alpn.iter().map(|name| name.value.clone()).collect(),
            byte_order: item.byte_order.value,
            header: item.header.as_ref().and_then(|name| self.index.layouts.get(name.as_str()).copied()),
            errors: match &item.errors {
                Some(errors) => Some(self.errors(errors)?),
                None => None,
            },
            source: text(item.source.as_ref()),
            doc: text(item.doc.as_ref()),
        })
    }

    fn errors(&self, item: &syntax::Errors) -> Option<Errors> {
        let enumeration = *self.index.enums.get(item.enumeration.as_str())?;
        let codes = &self.registry.enums[enumeration].values;
        let code = |name: &Text| number(&codes.iter().find(|code| code.name.value == name.value)?.value);
        Some(Errors {
            enumeration,
            header: code(&item.header)?,
            body: code(&item.body)?,
            limit: code(&item.limit)?,
        })
    }

    fn enumeration(&self, item: &syntax::Enum) -> Option<Enum> {
        let mut values = all(&item.values, |row| {
            Some(Value {
                value: number(&row.value)?,
                name: row.name.value.clone(),
                doc: text(row.doc.as_ref()),
            })
        })?;
        if item.from_messages.is_some() {
            values.extend(all(&self.registry.messages, |row| {
                Some(Value {
                    value: number(&row.value)?,
                    name: row.name.value.clone(),
                    doc: text(row.doc.as_ref()),
                })
            })?);
            values.sort_by_key(|row| row.value);
        }
        let ranges = all(&item.ranges, |row| {
            Some(Range {
                from: number(&row.from)?,
                to: number(&row.to)?,
                name: row.name.value.clone(),
                family: row.family.as_ref().and_then(|name| self.index.enums.get(name.as_str()).copied()),
                doc: text(row.doc.as_ref()),
            })
        })?;
        Some(Enum {
            name: item.name.value.clone(),
            ty: item.ty.value,
            values,
            ranges,
            given: item.given.clone(),
            source: text(item.source.as_ref()),
            doc: text(item.doc.as_ref()),
        })
    }

    fn bitmask(&self, item: &syntax::Bitmask) -> Option<Bitmask> {
        let bits = all(&item.bits, |row| {
            Some(Bit {
                mask: 1u64.checked_shl(u32::try_from(row.bit.value).ok()?)?,
                name: row.name.value.clone(),
                doc: text(row.doc.as_ref()),
            })
        })?;
        Some(Bitmask {
            name: item.name.value.clone(),
            ty: item.ty.value,
            bits,
            given: item.given.clone(),
            source: text(item.source.as_ref()),
            doc: text(item.doc.as_ref()),
        })
    }

    fn layout(&self, item: &syntax::Layout, byte_order: ByteOrder) -> Option<Layout> {
        let byte_order = item.byte_order.as_ref().map_or(byte_order, |order| order.value);
        let names = Fields::of_layout(self.registry, self.index, item);
        let (registry, index, sources) = (self.registry, self.index, self.sources);
        let mut resolve = Resolve { registry, index, sources, report: &mut Report::default() };
        Some(Layout {
            name: item.name.value.clone(),
            size: u32::try_from(item.size.value).ok()?,
            byte_order,
            fields: all(&item.fields, |field| self.field(field, byte_order))?,
            rules: all(&item.rules, |rule| resolve.rule(rule, &names))?,
            mutable: item.mutable,
            given: item.given.clone(),
            source: text(item.source.as_ref()),
            doc: text(item.doc.as_ref()),
        })
    }

    fn field(&self, item: &syntax::Field, byte_order: ByteOrder) -> Option<Field> {
        let (element, one) = match &item.ty.value.element {
            syntax::Element::Scalar(scalar) => (Element::Scalar(*scalar), scalar.size()),
            syntax::Element::Layout(name) => {
                let position = *self.index.layouts.get(name)?;
                let size = self.registry.layouts[position].size.value;
                (Element::Layout(position), u32::try_from(size).ok()?)
            }
        };
        let count = match item.ty.value.count {
            Some(count) => Some(u32::try_from(count).ok()?),
            None => None,
        };
        let meaning = if item.reserved.is_some() {
            Meaning::Reserved
        } else if let Some(constant) = &item.constant {
            let Element::Scalar(scalar) = element else { return None };
            Meaning::Constant(bytes(&constant.value, scalar, byte_order))
        } else if let Some(name) = &item.enumeration {
            Meaning::Enum(*self.index.enums.get(name.as_str())?)
        } else if let Some(name) = &item.bitmask {
            Meaning::Bitmask(*self.index.bitmasks.get(name.as_str())?)
        } else if item.boolean.is_some() {
            Meaning::Bool
        } else {
            Meaning::Plain
        };
        Some(Field {
            name: item.name.value.clone(),
            offset: u32::try_from(item.offset.value).ok()?,
            element,
            count,
            size: one.checked_mul(count.unwrap_or(1))?,
            meaning,
            native: item.native,
            role: item.role.as_ref().map(|role| role.value),
            unit: text(item.unit.as_ref()),
            doc: text(item.doc.as_ref()),
            since: owned(item.since.as_ref()),
            deprecated: owned(item.deprecated.as_ref()),
            error: owned(item.error.as_ref()),
        })
    }

    fn machine(&self, item: &syntax::Machine) -> Option<Machine> {
        let enumeration = match &item.enumeration {
            Some(name) => Some(*self.index.enums.get(name.as_str())?),
            None => None,
        };
        let states: Vec<Value> = match enumeration {
            Some(position) => self.enumeration(&self.registry.enums[position])?.values,
            None => (0..)
                .zip(&item.states)
                .map(|(value, state)| Value {
                    value,
                    name: state.name.value.clone(),
                    doc: text(state.doc.as_ref()),
                })
                .collect(),
        };
        let position = |name: &Text| states.iter().position(|state| state.name == name.value);
        let transitions = all(&item.transitions, |arrow| {
            Some(Transition {
                from: position(&arrow.from)?,
                to: position(&arrow.to)?,
                on: all(&arrow.on, |name| self.index.messages.get(name.as_str()).copied())?,
                doc: text(arrow.doc.as_ref()),
            })
        })?;
        Some(Machine {
            name: item.name.value.clone(),
            enumeration,
            initial: position(&item.initial)?,
            terminal: all(&item.terminal, position)?,
            transitions,
            states,
            source: text(item.source.as_ref()),
            doc: text(item.doc.as_ref()),
        })
    }
}

fn schema(item: &syntax::Schema) -> Option<Schema> {
    Some(Schema {
        schema_id: u32::try_from(item.schema_id.value).ok()?,
        schema_version: u32::try_from(item.schema_version.value).ok()?,
        profile: item.profile.value.clone(),
        name: item.name.value.clone(),
        semantics: item.semantics.value.clone(),
        source: text(item.source.as_ref()),
        doc: text(item.doc.as_ref()),
    })
}

/// A constant as it stands on the wire.
fn bytes(literal: &Literal, scalar: Scalar, byte_order: ByteOrder) -> Vec<u8> {
    let size = scalar.size() as usize;
    let one = |number: &i128| {
        let little = number.to_le_bytes();
        let mut bytes = little[..size].to_vec();
        if byte_order == ByteOrder::Big {
            bytes.reverse();
        }
        bytes
    };
    match literal {
        Literal::Number(number) => one(number),
        Literal::Text(text) => text.as_bytes().to_vec(),
        Literal::List(list) => list.iter().flat_map(one).collect(),
    }
}
