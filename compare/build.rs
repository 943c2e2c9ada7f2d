//! Mirrors every layout of the registry for deku and binrw, and lists what to measure.
//!
//! The mirrors check what these crates can say: reserved and constant fields, the values of enums,
//! the bits of bitmasks, the numbers of bools. They check neither rules nor that nothing follows.
//! Closed enums of a field's own width are enums; open and narrower ones are numbers with an
//! assertion, as are bitmasks. In deku what is fixed stays a field, since it asserts when it writes too.

#[path = "build/packets.rs"]
mod packets;

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use nnrp_gen::model::{ByteOrder, Element, Enum, Field, Layout, Meaning, Registry, Scalar};

fn main() {
    let folder = "../registry";
    println!("cargo::rerun-if-changed={folder}");
    let registry = match nnrp_gen::load(Path::new(folder)).map(|loaded| loaded.into_result()) {
        Ok(Ok(registry)) => registry,
        Ok(Err(problem)) => panic!("{problem}"),
        Err(error) => panic!("{folder}: {error}"),
    };
    let mut out = String::new();
    for mirror in [Mirror::Deku, Mirror::Binrw] {
        mirror.module(&registry, &mut out).expect("a string takes all");
    }
    let mut rows = String::new();
    for layout in &registry.layouts {
        let name = pascal(&layout.name);
        let theirs = published(&layout.name).map(|path| format!(", published::{path}"));
        writeln!(out, "ours!({name}, {name}View);").expect("a string takes all");
        if let Some(theirs) = &theirs {
            writeln!(out, "published!({});", theirs.trim_start_matches(", ")).expect("a string takes all");
        }
        writeln!(rows, "        subject!(count, {name}{}),", theirs.unwrap_or_default())
            .expect("a string takes all");
    }
    writeln!(out, "\nfn subjects(count: usize) -> Vec<Subject> {{\n    vec![\n{rows}    ]\n}}")
        .expect("a string takes all");
    let folder = env::var_os("OUT_DIR").expect("cargo sets it");
    let folder = Path::new(&folder);
    fs::write(folder.join("mirrors.rs"), out).expect("OUT_DIR can be written");
    fs::write(folder.join("packets.rs"), packets::sides(&registry)).expect("OUT_DIR can be written");
}

/// The published crate's parser for a layout.
fn published(layout: &str) -> Option<String> {
    let path = match layout {
        "cache_ack" | "cache_invalidate" | "cache_put" => "cache",
        "budget"
        | "capability"
        | "client_hello"
        | "control_request"
        | "error"
        | "partial_result"
        | "pressure"
        | "progress"
        | "recoverable_error"
        | "result_hint"
        | "retry_after"
        | "route_hint"
        | "scheduling"
        | "server_hello_ack"
        | "session_migrate_ack"
        | "session_migrate"
        | "session_patch_ack"
        | "session_patch"
        | "supersede"
        | "trace_context"
        | "transport_probe_ack"
        | "transport_probe" => "control",
        "frame_submit" | "result_push" => "data",
        "flow_update" => "flow",
        "cache_miss" | "cache_reference" | "object_delta" | "object_descriptor" | "object_reference"
        | "object_release" => "object",
        "session_close_ack" | "session_close" | "session_open_ack" | "session_open" => "session",
        "result_drop" => return Some("control::ResultDropReasonMetadata".to_owned()),
        "body_region_prelude"
        | "inline_object_block_header"
        | "object_reference_block"
        | "tensor_section_descriptor" => return Some(format!("data::{}", pascal(layout))),
        "common_header" => return Some("header::CommonHeader".to_owned()),
        "schema_descriptor_header" => return Some("schema::SchemaDescriptorHeader".to_owned()),
        "typed_payload_descriptor" => return Some("schema::TypedPayloadDescriptor".to_owned()),
        _ => return None,
    };
    Some(format!("{path}::{}Metadata", pascal(layout)))
}

#[derive(Clone, Copy, PartialEq)]
enum Mirror {
    Deku,
    Binrw,
}

impl Mirror {
    fn module(self, registry: &Registry, out: &mut String) -> std::fmt::Result {
        match self {
            Self::Deku => writeln!(out, "mod with_deku {{\n    use deku::prelude::*;\n")?,
            Self::Binrw => writeln!(out, "mod with_binrw {{\n    use binrw::prelude::*;\n")?,
        }
        for item in registry.enums.iter().filter(|item| is_mirrored(registry, item)) {
            self.enumeration(item, out)?;
        }
        for layout in &registry.layouts {
            self.layout(registry, layout, out)?;
        }
        writeln!(out, "}}\n")
    }

    fn enumeration(self, item: &Enum, out: &mut String) -> std::fmt::Result {
        let (name, ty) = (pascal(&item.name), item.ty.name());
        match self {
            Self::Deku => {
                let endian = if item.ty.size() > 1 { ", endian = \"little\"" } else { "" };
                writeln!(
                    out,
                    "    #[derive(Clone, Copy, DekuRead, DekuWrite)]\n    #[deku(id_type = \"{ty}\"{endian})]"
                )?;
            }
            Self::Binrw => writeln!(
                out,
                "    #[derive(Clone, Copy, BinRead, BinWrite)]\n    #[brw(little, repr = {ty})]"
            )?,
        }
        writeln!(out, "    #[repr({ty})]\n    pub enum {name} {{")?;
        for value in &item.values {
            match self {
                Self::Deku => {
                    writeln!(out, "        #[deku(id = {0})]\n        V{0} = {0},", value.value)?;
                }
                Self::Binrw => writeln!(out, "        V{0} = {0},", value.value)?,
            }
        }
        writeln!(out, "    }}\n")
    }

    fn layout(self, registry: &Registry, layout: &Layout, out: &mut String) -> std::fmt::Result {
        assert!(layout.byte_order == ByteOrder::Little, "{}: only little-endian so far", layout.name);
        match self {
            Self::Deku => writeln!(out, "    #[derive(DekuRead, DekuWrite)]")?,
            Self::Binrw => writeln!(out, "    #[binrw]\n    #[brw(little)]")?,
        }
        writeln!(out, "    pub struct {} {{", pascal(&layout.name))?;
        for field in &layout.fields {
            self.field(registry, field, out)?;
        }
        writeln!(out, "    }}\n")
    }

    fn field(self, registry: &Registry, field: &Field, out: &mut String) -> std::fmt::Result {
        let Element::Scalar(scalar) = field.element else { panic!("{}: nothing nested so far", field.name) };
        // A trailing underscore keeps clear of the keywords of all three.
        let name = format!("{}_", field.name);
        let mut ty = scalar.name().to_owned();
        let mut fixed = None;
        let mut condition = None;
        match &field.meaning {
            Meaning::Plain => {}
            Meaning::Reserved => fixed = Some("0".to_owned()),
            Meaning::Constant(bytes) => match field.count {
                Some(_) => fixed = Some(format!("{bytes:?}")),
                None => {
                    let number = bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
                    fixed = Some(number.to_string());
                }
            },
            Meaning::Bool if scalar == Scalar::U8 && self == Self::Deku => ty = "bool".to_owned(),
            Meaning::Bool => condition = Some("VALUE <= 1".to_owned()),
            Meaning::Bitmask(position) => {
                let mask = &registry.bitmasks[*position];
                condition = Some(format!("VALUE & !{:#x} == 0", mask.known()));
            }
            Meaning::Enum(position) => {
                let item = &registry.enums[*position];
                if !item.is_open() && item.ty == scalar {
                    ty = pascal(&item.name);
                } else {
                    let spans = item.spans();
                    let spans = spans.iter().map(|(from, to)| match from == to {
                        true => from.to_string(),
                        false => format!("{from}..={to}"),
                    });
                    condition = Some(format!("matches!(VALUE, {})", spans.collect::<Vec<_>>().join(" | ")));
                }
            }
        }
        if let Some(count) = field.count {
            ty = format!("[{ty}; {count}]");
        }
        let endian = if scalar.size() > 1 && ty == scalar.name() {
            Some("endian = \"little\"".to_owned())
        } else {
            None
        };
        match self {
            Self::Deku => {
                let mut attributes: Vec<String> = endian.into_iter().collect();
                if let Some(fixed) = fixed {
                    attributes.push(format!("assert_eq = \"{fixed}\""));
                } else if let Some(condition) = condition {
                    attributes
                        .push(format!("assert = \"{}\"", condition.replace("VALUE", &format!("*{name}"))));
                }
                if !attributes.is_empty() {
                    writeln!(out, "        #[deku({})]", attributes.join(", "))?;
                }
            }
            Self::Binrw => {
                if let Some(fixed) = fixed {
                    writeln!(
                        out,
                        "        #[br(temp, assert({name} == {fixed}))]\n        #[bw(calc = {fixed})]"
                    )?;
                } else if let Some(condition) = condition {
                    writeln!(out, "        #[br(assert({}))]", condition.replace("VALUE", &name))?;
                    writeln!(
                        out,
                        "        #[bw(assert({}))]",
                        condition.replace("VALUE", &format!("*{name}"))
                    )?;
                }
            }
        }
        writeln!(out, "        pub {name}: {ty},")
    }
}

/// Whether a mirror has a field of the enum's type.
fn is_mirrored(registry: &Registry, item: &Enum) -> bool {
    let mut fields = registry.layouts.iter().flat_map(|layout| &layout.fields);
    !item.is_open()
        && fields.any(|field| match field.meaning {
            Meaning::Enum(position) => {
                registry.enums[position].name == item.name && field.element == Element::Scalar(item.ty)
            }
            _ => false,
        })
}

fn pascal(name: &str) -> String {
    name.split('_').map(|word| word[..1].to_uppercase() + &word[1..]).collect()
}
