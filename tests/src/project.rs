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
    features: bool,
}

impl Project {
    /// A new project in that folder, which goes if it is there.
    pub fn new(folder: &Path) -> Self {
        // It may be there from the last run.
        let _ = fs::remove_dir_all(folder);
        fs::create_dir_all(folder.join("src")).expect("the folder can be made");
        Self { folder: folder.to_owned(), modules: Vec::new(), features: false }
    }

    /// Adds a module.
    pub fn module(&mut self, name: &str, text: &str) {
        fs::write(self.folder.join(format!("src/{name}.rs")), text).expect("the module can be written");
        self.modules.push(name.to_owned());
    }

    /// Has the features `serde` and `arbitrary`, and serde_json for the program.
    pub fn features(&mut self) {
        self.features = true;
    }

    /// Compiles the modules without a warning and runs a program with them; what it prints. Nothing is downloaded.
    pub fn run(&self, main: &str) -> String {
        let mut library = String::from(
            "//! Generated.\n#![no_std]\n#![forbid(unsafe_code)]\n#![deny(warnings, missing_docs)]\n",
        );
        if self.features {
            library.push_str("\nextern crate std; // the derive of arbitrary names it\n");
        }
        for module in &self.modules {
            writeln!(library, "\n/// Generated.\npub mod {module};").expect("it is a string");
        }
        let features = if self.features {
            "serde = { version = \"1\", default-features = false, features = [\"derive\"], optional = true }\n\
             arbitrary = { version = \"1\", features = [\"derive\"], optional = true }\n\
             serde_json = \"1\"\n\n\
             [features]\ndefault = [\"serde\", \"arbitrary\"]\nserde = [\"dep:serde\", \"bitflags/serde\"]\n\
             arbitrary = [\"dep:arbitrary\", \"bitflags/arbitrary\"]\n"
        } else {
            ""
        };
        let manifest = "[package]\nname = \"scratch\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n\
                        [dependencies]\nbitflags = { version = \"2\", default-features = false }\n\n[workspace]\n";
        let write = |path: &str, text: &str| {
            fs::write(self.folder.join(path), text).expect("the project can be written");
        };
        write("Cargo.toml", &manifest.replace("[workspace]", &format!("{features}\n[workspace]")));
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
