//! Scratch cargo projects, to compile what was generated.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::command::{binary, cargo};
use crate::registry;

/// A cargo project with generated modules and a program that uses them.
pub struct Project {
    folder: PathBuf,
    modules: Vec<String>,
}

impl Project {
    /// A new project in that folder, which goes if it is there.
    pub fn new(folder: &Path) -> Self {
        // It may be there from the last run.
        let _ = fs::remove_dir_all(folder);
        fs::create_dir_all(folder.join("src")).expect("the folder can be made");
        Self { folder: folder.to_owned(), modules: Vec::new() }
    }

    /// Adds a module.
    pub fn module(&mut self, name: &str, text: &str) {
        fs::write(self.folder.join(format!("src/{name}.rs")), text).expect("the module can be written");
        self.modules.push(name.to_owned());
    }

    /// Compiles the modules without a warning and runs a program with them; what it prints. Nothing is downloaded.
    pub fn run(&self, main: &str) -> String {
        let mut library = String::from(
            "//! Generated.\n#![no_std]\n#![forbid(unsafe_code)]\n#![deny(warnings, missing_docs)]\n",
        );
        for module in &self.modules {
            writeln!(library, "\n/// Generated.\npub mod {module};").expect("it is a string");
        }
        let manifest = "[package]\nname = \"scratch\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
                        [dependencies]\nbitflags = { version = \"2\", default-features = false }\n\n[workspace]\n";
        let write = |path: &str, text: &str| {
            fs::write(self.folder.join(path), text).expect("the project can be written");
        };
        write("Cargo.toml", manifest);
        write("src/lib.rs", &library);
        write("src/main.rs", main);
        // The same versions as the workspace, which are there already.
        fs::copy(registry::here().join("../Cargo.lock"), self.folder.join("Cargo.lock"))
            .expect("the workspace has a lock file");
        let target = binary().ancestors().nth(2).expect("binaries stand in target/PROFILE");
        let mut run = cargo();
        run.args(["run", "--quiet", "--offline", "--target-dir"]).arg(target.join("scratch"));
        let done = run.current_dir(&self.folder).output().expect("cargo runs");
        let Output { status, stdout, stderr } = done;
        assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
        String::from_utf8(stdout).expect("it prints UTF-8")
    }
}
