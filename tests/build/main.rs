//! Writes tables of all generated layouts, so that a test can do the same to each of them, their mirrors, and the
//! codecs of other protocols.

mod mirror;

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use nnrp_gen::model::{Element, Field, Layout, Meaning, Registry, Scalar};
use nnrp_gen::names;

/// Registries of other protocols; their codecs stand alone.
const FOREIGN: [&str; 4] = ["gpt", "kinds", "pcap", "tzif"];

fn main() {
    let out = env::var_os("OUT_DIR").expect("this is a build script");
    let mut table = String::new();
    let nnrp = tables("nnrp", "../registry", "nnrp_core", &mut table);
    let names: Vec<_> = nnrp.layouts.iter().map(|layout| names::pascal(&layout.name)).collect();
    let described = format!("describe!({});\n", names.join(" "));
    fs::write(Path::new(&out).join("described.rs"), described).expect("OUT_DIR can be written to");
    fs::write(Path::new(&out).join("mirrors.rs"), mirror::mirrors(&nnrp)).expect("OUT_DIR can be written to");
    let types: Vec<_> = nnrp.layouts.iter().map(|layout| names::pascal(&layout.name)).collect();
    let described = format!("describe!({});\n", types.join(" "));
    fs::write(Path::new(&out).join("described.rs"), described).expect("OUT_DIR can be written to");
    for name in FOREIGN {
        let registry =
            tables(name, &format!("registries/{name}"), &format!("crate::foreign::{name}"), &mut table);
        let module = nnrp_gen::emit::rust::module(&registry, true, false);
        fs::write(Path::new(&out).join(format!("{name}.rs")), module).expect("OUT_DIR can be written to");
    }
    fs::write(Path::new(&out).join("layouts.rs"), table).expect("OUT_DIR can be written to");
}

/// Writes the table of a registry, whose codecs are at `path`, as a module of that name.
fn tables(name: &str, folder: &str, path: &str, out: &mut String) -> Registry {
    println!("cargo::rerun-if-changed={folder}");
    let registry = nnrp_gen::load(Path::new(folder)).expect("the registry is there");
    let registry = registry.into_result().unwrap_or_else(|problems| panic!("{problems}"));
    writeln!(out, "/// Every layout of `{name}`, in the order of the registry.").unwrap();
    writeln!(out, "pub mod {name} {{\n    use super::*;\n    use {path} as codecs;\n").unwrap();
    out.push_str("    /// The layouts.\n    pub static LAYOUTS: &[Generated] = &[\n");
    for layout in &registry.layouts {
        let ty = names::pascal(&layout.name);
        writeln!(out, "        generated!({ty}, {}),", function(layout)).unwrap();
    }
    out.push_str("    ];\n");
    for layout in &registry.layouts {
        value(&registry, layout, out);
    }
    out.push_str("}\n\n");
    registry
}

fn function(layout: &Layout) -> String {
    format!("value_of_{}", layout.name)
}

/// A function that puts the native values of a layout into the registry-driven codec's form.
fn value(registry: &Registry, layout: &Layout, out: &mut String) {
    let ty = names::pascal(&layout.name);
    writeln!(out, "\nfn {}(native: &codecs::{ty}) -> Value {{", function(layout)).unwrap();
    out.push_str("    Value::Struct(vec![\n");
    for field in layout.values() {
        let place = format!("native.{}", names::field(&field.name));
        let value = match field.count {
            Some(_) if field.element == Element::Scalar(Scalar::U8) => {
                format!("Value::Bytes({place}.to_vec())")
            }
            Some(_) => {
                format!("Value::List({place}.iter().map(|&item| {}).collect())", one(registry, field, "item"))
            }
            None => one(registry, field, &place),
        };
        writeln!(out, "        (\"{}\".to_owned(), {value}),", field.name).unwrap();
    }
    out.push_str("    ])\n}\n");
}

fn one(registry: &Registry, field: &Field, place: &str) -> String {
    match (&field.meaning, field.element) {
        (Meaning::Enum(item), _) if registry.enums[*item].is_open() => {
            let raw = wide(&format!("{place}.raw()"), registry.enums[*item].ty);
            format!("open({place}.name(), {raw})")
        }
        (Meaning::Enum(_), _) => format!("Value::Text({place}.name().to_owned())"),
        (Meaning::Bitmask(item), _) => {
            let ty = names::pascal(&registry.bitmasks[*item].name);
            let bits = wide(&format!("{place}.bits()"), registry.bitmasks[*item].ty);
            format!("bits({bits}, codecs::{ty}::NAMES)")
        }
        (Meaning::Bool, _) => format!("Value::Bool({place})"),
        (_, Element::Layout(inner)) => {
            let inner = function(&registry.layouts[inner]);
            format!("{inner}(&{place})")
        }
        (_, Element::Scalar(Scalar::F32)) => format!("Value::F32({place}.to_bits())"),
        (_, Element::Scalar(Scalar::F64)) => format!("Value::F64({place}.to_bits())"),
        (_, Element::Scalar(scalar)) if scalar.is_unsigned() => {
            format!("Value::Unsigned({})", wide(place, scalar))
        }
        (_, Element::Scalar(scalar)) => format!("Value::Signed({})", wide(place, scalar)),
    }
}

/// A number as one of 64 bits.
fn wide(place: &str, scalar: Scalar) -> String {
    match scalar {
        Scalar::U64 | Scalar::I64 => place.to_owned(),
        scalar if scalar.is_unsigned() => format!("u64::from({place})"),
        _ => format!("i64::from({place})"),
    }
}
