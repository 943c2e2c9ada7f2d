//! `emit`: what is made of the registry.

use std::fs;
use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;

use crate::emit;
use crate::files;
use crate::model::Registry;

use super::output::{Done, Failure};

/// Something that can be made of a registry. A new one is one more row in [`TARGETS`].
struct Target {
    name: &'static str,
    /// Whether it has a form that needs nothing else.
    standalone: bool,
    /// Makes it, standalone or not, or says what in the registry cannot be said there.
    make: fn(&Registry, bool) -> Result<String, String>,
}

const TARGETS: &[Target] = &[
    Target {
        name: "rust",
        standalone: true,
        make: |registry, standalone| {
            let module = emit::rust::module(registry, standalone, false);
            Ok(if standalone { quiet(&module) } else { module })
        },
    },
    Target { name: "c", standalone: false, make: |registry, _| emit::c::header(registry) },
    Target { name: "json", standalone: false, make: |registry, _| Ok(emit::json::text(registry)) },
    Target { name: "markdown", standalone: false, make: |registry, _| Ok(emit::markdown::page(registry)) },
];

/// A Rust module as a file of its own, which a crate need not use all of, and which nobody mends by hand. What a build
/// script writes is included and cannot say so itself.
fn quiet(module: &str) -> String {
    module.replacen("\n\n", "\n\n#![allow(dead_code, unused_imports, clippy::all)]\n\n", 1)
}

/// Generates code or data from the registry
#[derive(Args)]
#[command(after_help = "Examples:
  nnrp-gen emit rust --standalone -o src/codecs.rs
  nnrp-gen emit rust --standalone -o src/codecs.rs --check
  nnrp-gen emit c -o nnrp.h
  nnrp-gen emit json
  nnrp-gen emit markdown -o protocol.md")]
pub(super) struct Arguments {
    /// What to generate
    #[arg(value_name = "TARGET", value_parser = PossibleValuesParser::new(TARGETS.iter().map(|target| target.name)))]
    target: String,
    /// Write to this file instead of standard output
    #[arg(short, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Write nothing, and say whether the file is up to date; exit status 1 if it is not
    #[arg(long, requires = "output")]
    check: bool,
    /// With everything that the code needs inside it, but for the crate `bitflags`
    #[arg(long)]
    standalone: bool,
}

pub(super) fn run(arguments: &Arguments, registry: &Registry) -> Result<Done, Failure> {
    let Some(target) = TARGETS.iter().find(|target| target.name == arguments.target) else {
        return Err(Failure::usage(format!("there is no target `{}`", arguments.target)));
    };
    if arguments.standalone && !target.standalone {
        return Err(Failure::usage(format!(
            "`{}` has no `--standalone`: it never needs anything",
            target.name
        )));
    }
    let text = (target.make)(registry, arguments.standalone).map_err(Failure::bad)?;
    let path = match &arguments.output {
        Some(path) if path.as_os_str() != "-" => path,
        _ => return Ok(Done::good(text)),
    };
    if !arguments.check {
        files::replace(path, &text)
            .map_err(|error| Failure::usage(format!("{}: {error}", path.display())))?;
        return Ok(Done::default());
    }
    let stale = match fs::read(path) {
        Ok(old) if old == text.as_bytes() => {
            return Ok(Done::good(format!("{} is up to date\n", path.display())));
        }
        Ok(_) => format!("{} is not up to date", path.display()),
        Err(error) => format!("{}: {error}", path.display()),
    };
    let standalone = if arguments.standalone { " --standalone" } else { "" };
    let help = format!("run `nnrp-gen emit {}{standalone} -o {}`", target.name, path.display());
    Err(Failure::bad(stale).help(Some(help)))
}
