//! The `nnrp-gen` command.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    nnrp_gen::cli::main()
}
