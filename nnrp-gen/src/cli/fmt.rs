//! `fmt`: lines the rows of registry files up.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::{files, fmt, read};

use super::input::{self, drawn};
use super::output::{BAD, Done, Failure};
use super::paint::Paints;
use super::{open, table::counted};

/// Lines the rows of the registry's files up, and keeps comments
#[derive(Args)]
#[command(after_help = "Examples:\n  nnrp-gen fmt\n  nnrp-gen fmt --check\n  nnrp-gen fmt - < session.toml")]
pub(super) struct Arguments {
    /// Only name the files that are not lined up; exit status 1 if there are any
    #[arg(long)]
    check: bool,
    /// Files to format instead of the whole registry; `-` formats standard input to standard output
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

pub(super) fn run(arguments: &Arguments, registry: Option<&Path>, paints: Paints) -> Result<Done, Failure> {
    if arguments.files.iter().any(|file| file == Path::new("-")) {
        return piped(arguments, paints);
    }
    let files = match arguments.files.as_slice() {
        [] => {
            let folder = open::folder(registry)?;
            if folder.is_file() {
                vec![folder]
            } else {
                let said = |error| Failure::usage(format!("{}: {error}", folder.display()));
                read::files(&folder).map_err(said)?
            }
        }
        files => files.to_vec(),
    };
    let mut done = Done::default();
    let mut changed = 0;
    for file in &files {
        let name = file.display().to_string();
        let said = |error: String| Failure::usage(format!("{name}: {error}"));
        let bytes = files::bytes(file).map_err(|error| said(error.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|error| said(error.utf8_error().to_string()))?;
        let formatted = match fmt::format(&text) {
            Ok(formatted) => formatted,
            Err(error) => {
                // The other files are formatted all the same.
                done.err.push_str(&drawn(&name, &text, error.at, &error.message, None, paints.err));
                done.code = BAD;
                continue;
            }
        };
        if formatted == text {
            continue;
        }
        changed += 1;
        done.out.push_str(&name);
        done.out.push('\n');
        if arguments.check {
            done.code = BAD;
        } else {
            files::replace(file, &formatted).map_err(|error| Failure::bad(format!("{name}: {error}")))?;
        }
    }
    let which = counted(changed, "file", "files");
    match (changed, arguments.check) {
        (0, _) => {}
        (_, true) => done.err.push_str(&format!("{which} to line up: run `nnrp-gen fmt`\n")),
        (_, false) => done.err.push_str(&format!("{which} lined up\n")),
    }
    Ok(done)
}

/// Standard input to standard output.
fn piped(arguments: &Arguments, paints: Paints) -> Result<Done, Failure> {
    if arguments.files.len() > 1 {
        return Err(Failure::usage("`-` stands alone"));
    }
    let input = input::text("-")?;
    let formatted =
        fmt::format(&input.text).map_err(|error| input.wrong(error.at, &error.message, None, paints.err))?;
    if !arguments.check {
        return Ok(Done::good(formatted));
    }
    let code = if formatted == input.text { 0 } else { BAD };
    let err = if code == 0 { "" } else { "standard input is not lined up\n" };
    Ok(Done { err: err.to_owned(), code, ..Done::default() })
}
