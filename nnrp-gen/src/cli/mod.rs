//! The command line: one module a subcommand, and what they share.
//!
//! A command makes texts of its arguments and the registry; only [`main`] prints and ends the process.

mod check;
mod decode;
mod dump;
mod emit;
mod encode;
mod fmt;
mod hex;
mod input;
mod json;
mod open;
mod output;
mod packet;
mod paint;
mod show;
mod table;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use output::{Done, Failure};
use paint::Paints;

/// Columns that output for people stays within.
const WIDTH: usize = 100;

#[derive(Parser)]
#[command(
    name = "nnrp-gen",
    version,
    about = "Checks a layout registry, shows it, reads and writes bytes with it, and generates code from it",
    after_help = "Exit status: 0 good, 1 the registry or the data is bad, 2 wrong usage.\n\n\
                  Example:\n  nnrp-gen show session_open"
)]
struct Arguments {
    /// Folder of the registry, or one file; otherwise `registry` in this folder or above it
    #[arg(long, global = true, value_name = "DIR")]
    registry: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Check(check::Arguments),
    Fmt(fmt::Arguments),
    Show(show::Arguments),
    Decode(decode::Arguments),
    Encode(encode::Arguments),
    Emit(emit::Arguments),
}

/// Runs the command with the arguments of the process.
pub fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Nobody may be reading; there is nothing to do about it.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    let paints = Paints::of_terminal();
    let done = run(&arguments, paints).unwrap_or_else(|failure| failure.done(paints.err));
    done.finish()
}

fn run(arguments: &Arguments, paints: Paints) -> Result<Done, Failure> {
    let registry = arguments.registry.as_deref();
    match &arguments.command {
        Command::Check(command) => check::run(command, registry, paints),
        Command::Fmt(command) => fmt::run(command, registry, paints),
        Command::Show(command) => show::run(command, &open::registry(registry, paints)?, paints),
        Command::Decode(command) => decode::run(command, &open::registry(registry, paints)?, paints),
        Command::Encode(command) => encode::run(command, &open::registry(registry, paints)?, paints),
        Command::Emit(command) => emit::run(command, &open::registry(registry, paints)?),
    }
}
