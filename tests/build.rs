//! Makes the Rust side of what the tests compare with C: the codecs of the test registry, and for each registry a
//! list of its types and their members.

use std::env;
use std::fs;
use std::path::Path;

use nnrp_gen::model::{Meaning, Registry};

fn main() {
    nnrp_gen::Build::new("registries/zoo.toml").write("zoo.rs");
    list("../registry", "nnrp_types.rs");
    list("registries/zoo.toml", "zoo_types.rs");
}

/// Writes `types! { … }` with every enum, bitmask and layout of a registry.
fn list(registry: &str, file: &str) {
    println!("cargo::rerun-if-changed={registry}");
    let loaded = nnrp_gen::load(Path::new(registry)).map_err(|error| error.to_string());
    let text = loaded.and_then(nnrp_gen::Loaded::into_result).map(|registry| types(&registry));
    let written = text.and_then(|text| {
        let folder = env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?;
        fs::write(Path::new(&folder).join(file), text).map_err(|error| error.to_string())
    });
    if let Err(problem) = written {
        eprintln!("{registry}: {problem}");
        std::process::exit(1);
    }
}

fn types(registry: &Registry) -> String {
    let mut used = (vec![false; registry.enums.len()], vec![false; registry.bitmasks.len()]);
    for field in registry.layouts.iter().flat_map(|layout| &layout.fields) {
        match field.meaning {
            Meaning::Enum(position) => used.0[position] = true,
            Meaning::Bitmask(position) => used.1[position] = true,
            _ => {}
        }
    }
    let enums = registry.enums.iter().zip(&used.0).filter(|(_, used)| **used);
    let enums = enums.map(|(item, _)| format!("{}: {}, ", pascal(&item.name), item.ty.name()));
    let bitmasks = registry.bitmasks.iter().zip(&used.1).filter(|(_, used)| **used);
    let bitmasks = bitmasks.map(|(item, _)| format!("{}: {}, ", pascal(&item.name), item.ty.name()));
    let layouts = registry.layouts.iter().map(|layout| {
        let members: String = layout.values().map(|field| member(&field.name) + ", ").collect();
        format!("    {} {{ {members}}}\n", pascal(&layout.name))
    });
    format!(
        "types! {{\n    enums {{ {}}}\n    bitmasks {{ {}}}\n    layouts {{\n{}    }}\n}}\n",
        enums.collect::<String>(),
        bitmasks.collect::<String>(),
        layouts.collect::<String>(),
    )
}

fn pascal(name: &str) -> String {
    let words = name.split('_').map(|word| {
        let mut letters = word.chars();
        letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
    });
    words.collect()
}

/// A field as a member: the keywords among the names of the registries get a trailing `_`.
fn member(name: &str) -> String {
    if ["final", "type", "loop", "match"].contains(&name) { format!("{name}_") } else { name.to_owned() }
}
