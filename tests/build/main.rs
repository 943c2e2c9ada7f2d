//! Writes a table of all generated layouts, so that a test can do the same to each of them, and their mirrors.

mod mirror;

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use nnrp_gen::model::{Element, Field, Layout, Meaning, Registry, Scalar};
use nnrp_gen::names;

fn main() {
    let folder = "../registry";
    println!("cargo::rerun-if-changed={folder}");
    let registry = nnrp_gen::load(Path::new(folder)).expect("the registry is there");
    let registry = registry.into_result().unwrap_or_else(|problems| panic!("{problems}"));
    let mut out = String::from("/// Every generated layout, in the order of the registry.\n");
    out.push_str("pub static LAYOUTS: &[Generated] = &[\n");
    for layout in &registry.layouts {
        let ty = names::pascal(&layout.name);
        writeln!(out, "    generated!({ty}, {}),", function(layout)).unwrap();
    }
    out.push_str("];\n");
    for layout in &registry.layouts {
        value(&registry, layout, &mut out);
    }
    let folder = env::var_os("OUT_DIR").expect("this is a build script");
    let folder = Path::new(&folder);
    fs::write(folder.join("layouts.rs"), out).expect("OUT_DIR can be written to");
    let names: Vec<_> = registry.layouts.iter().map(|layout| names::pascal(&layout.name)).collect();
    let described = format!("describe!({});\n", names.join(" "));
    fs::write(folder.join("described.rs"), described).expect("OUT_DIR can be written to");
    fs::write(folder.join("mirrors.rs"), mirror::mirrors(&registry)).expect("OUT_DIR can be written to");
}

fn function(layout: &Layout) -> String {
    format!("value_of_{}", layout.name)
}

/// A function that puts the native values of a layout into the registry-driven codec's form.
fn value(registry: &Registry, layout: &Layout, out: &mut String) {
    let ty = names::pascal(&layout.name);
    writeln!(out, "\nfn {}(native: &nnrp_core::{ty}) -> Value {{", function(layout)).unwrap();
    out.push_str("    Value::Struct(vec![\n");
    for field in layout.values() {
        let place = format!("native.{}", names::field(&field.name));
        let value = match field.count {
            Some(_) if field.element == Element::Scalar(Scalar::U8) => {
                format!("Value::Bytes({place}.to_vec())")
            }
            Some(_) => {
                format!("Value::List({place}.iter().map(|item| {}).collect())", one(registry, field, "*item"))
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
            format!("open({place}.name(), {place}.raw().into())")
        }
        (Meaning::Enum(_), _) => format!("Value::Text({place}.name().to_owned())"),
        (Meaning::Bitmask(item), _) => {
            let ty = names::pascal(&registry.bitmasks[*item].name);
            format!("bits({place}.bits().into(), nnrp_core::{ty}::NAMES)")
        }
        (Meaning::Bool, _) => format!("Value::Bool({place})"),
        (_, Element::Layout(inner)) => {
            let inner = function(&registry.layouts[inner]);
            let place = place.strip_prefix('*').map_or(format!("&{place}"), str::to_owned);
            format!("{inner}({place})")
        }
        (_, Element::Scalar(Scalar::F32)) => format!("Value::F32({place}.to_bits())"),
        (_, Element::Scalar(Scalar::F64)) => format!("Value::F64({place}.to_bits())"),
        (_, Element::Scalar(scalar)) if scalar.is_unsigned() => format!("Value::Unsigned({place}.into())"),
        (_, Element::Scalar(_)) => format!("Value::Signed({place}.into())"),
    }
}
