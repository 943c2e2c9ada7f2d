//! Writes every layout of the registry as a struct that derives, in the different ways in which the same can be said.

use std::fmt::Write;

use nnrp_gen::model::{ByteOrder, Element, Enum, Field, Layout, Meaning, Registry, Scalar};
use nnrp_gen::names;

/// The module of mirrors, and a table of them.
pub fn mirrors(registry: &Registry) -> String {
    let mut out = String::new();
    for item in registry.enums.iter().filter(|item| is_mirrored(item)) {
        enumeration(item, &mut out);
    }
    for mask in &registry.bitmasks {
        let (name, raw) = (names::pascal(&mask.name), mask.ty.name());
        writeln!(out, "bitflags::bitflags! {{\n    #[derive(Clone, Copy, Debug, PartialEq)]").unwrap();
        writeln!(out, "    pub struct {name}: {raw} {{").unwrap();
        for bit in &mask.bits {
            writeln!(out, "        const {} = {};", names::screaming(&bit.name), bit.mask).unwrap();
        }
        out.push_str("    }\n}\n\n");
    }
    for layout in &registry.layouts {
        structure(registry, layout, &mut out);
    }
    out.push_str("pub static MIRRORS: &[Mirror] = &[\n");
    for layout in &registry.layouts {
        writeln!(out, "    mirror!({}),", names::pascal(&layout.name)).unwrap();
    }
    out.push_str("];\n");
    out
}

/// Whether the enum can be written by hand: in Rust no value is both listed and in a range.
fn is_mirrored(item: &Enum) -> bool {
    !item.values.is_empty() && item.values.iter().all(|value| item.range(value.value).is_none())
}

fn enumeration(item: &Enum, out: &mut String) {
    let raw = item.ty.name();
    writeln!(out, "#[derive(Clone, Copy, Debug, PartialEq, WireEnum)]\n#[repr({raw})]").unwrap();
    writeln!(out, "pub enum {} {{", names::pascal(&item.name)).unwrap();
    for value in &item.values {
        writeln!(out, "    #[wire(name = \"{}\")]", value.name).unwrap();
        writeln!(out, "    {} = {:#x},", names::pascal(&value.name), value.value).unwrap();
    }
    for range in &item.ranges {
        writeln!(out, "    #[wire(range = {:#x}..={:#x})]", range.from, range.to).unwrap();
        writeln!(out, "    {}({raw}),", names::pascal(&range.name)).unwrap();
    }
    out.push_str("}\n\n");
}

fn structure(registry: &Registry, layout: &Layout, out: &mut String) {
    out.push_str("#[derive(Clone, Debug, PartialEq, Layout)]\n#[layout(view_mut)]\n");
    if layout.byte_order == ByteOrder::Big {
        out.push_str("#[layout(byte_order = \"big\")]\n");
    }
    if layout.size.is_multiple_of(16) {
        writeln!(out, "#[layout(size = {})]", layout.size).unwrap();
    }
    for item in named_only(registry, layout) {
        writeln!(out, "#[layout(uses({}))]", path(item)).unwrap();
    }
    for rule in &layout.rules {
        let when = rule.text.0.as_ref().map_or(String::new(), |when| format!("when = {when:?}, "));
        let blamed = &layout.fields[rule.blame.index].name;
        let (id, require, doc) = (&rule.id, &rule.text.1, &rule.doc);
        writeln!(
            out,
            "#[layout(rule {{ id = {id:?}, {when}require = {require:?}, field = {blamed:?}, doc = {doc:?} }})]"
        )
        .unwrap();
    }
    writeln!(out, "pub struct {} {{", names::pascal(&layout.name)).unwrap();
    for (position, field) in layout.fields.iter().enumerate() {
        let mut keys = Vec::new();
        if position % 2 == 1 {
            keys.push(format!("offset = {}", field.offset));
        }
        let ty = ty(registry, field, position, &mut keys);
        if !keys.is_empty() {
            writeln!(out, "    #[layout({})]", keys.join(", ")).unwrap();
        }
        let escaped = if names::field(&field.name) == field.name { "" } else { "r#" };
        writeln!(out, "    pub {escaped}{}: {ty},", field.name).unwrap();
    }
    out.push_str("}\n\n");
}

/// The enums that only rules name.
fn named_only<'r>(registry: &'r Registry, layout: &Layout) -> Vec<&'r Enum> {
    let texts: Vec<_> = layout.rules.iter().map(|rule| rule.text.1.as_str()).collect();
    let is_named = |item: &&Enum| {
        let is_field = layout
            .fields
            .iter()
            .any(|field| matches!(field.meaning, Meaning::Enum(of) if registry.enums[of].name == item.name));
        !is_field && texts.iter().any(|text| text.contains(&format!(" in {}", item.name)))
    };
    registry.enums.iter().filter(is_named).collect()
}

fn path(item: &Enum) -> String {
    format!("{}{}", if is_mirrored(item) { "" } else { "nnrp_core::" }, names::pascal(&item.name))
}

/// The type of a field; what it does not say becomes a key.
fn ty(registry: &Registry, field: &Field, position: usize, keys: &mut Vec<String>) -> String {
    let element = match field.element {
        Element::Scalar(scalar) => scalar.name().to_owned(),
        Element::Layout(inner) => {
            let inner = &registry.layouts[inner];
            keys.push(format!("layout = {}", inner.size));
            names::pascal(&inner.name)
        }
    };
    let element = match &field.meaning {
        Meaning::Plain => element,
        Meaning::Reserved if position.is_multiple_of(3) => {
            keys.push("reserved".to_owned());
            element
        }
        Meaning::Reserved => return format!("Reserved<{}>", field.size),
        Meaning::Constant(bytes) => {
            keys.push(format!("const = {}", constant(field, bytes)));
            element
        }
        Meaning::Enum(item) => {
            let item = &registry.enums[*item];
            keys.push(format!("enum = {element}"));
            path(item)
        }
        Meaning::Bitmask(mask) => {
            keys.push(format!("bitmask = {element}"));
            names::pascal(&registry.bitmasks[*mask].name)
        }
        Meaning::Bool if position.is_multiple_of(2) => {
            keys.push("bool".to_owned());
            element
        }
        Meaning::Bool => {
            keys.push(format!("bool = {element}"));
            "bool".to_owned()
        }
    };
    match field.count {
        Some(count) => format!("[{element}; {count}]"),
        None => element,
    }
}

/// A constant as the attribute has it; the registry's are unsigned and little-endian.
fn constant(field: &Field, bytes: &[u8]) -> String {
    let size = match field.element {
        Element::Scalar(scalar) => scalar.size() as usize,
        Element::Layout(_) => 1,
    };
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
    let list: Vec<_> = bytes.chunks(size).map(|chunk| number(chunk).to_string()).collect();
    match (field.count, field.element) {
        (None, _) => list.concat(),
        (Some(_), Element::Scalar(Scalar::U8)) if bytes.is_ascii() => {
            format!("{:?}", String::from_utf8_lossy(bytes))
        }
        _ => format!("[{}]", list.join(", ")),
    }
}
