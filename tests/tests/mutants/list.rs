//! The tables of mutants.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use nnrp_tests::registry::here;
use toml::de::{DeTable, DeValue};

/// A rule that is removed in one place.
pub struct Mutant {
    /// What the environment calls it, from 1 on.
    pub number: usize,
    /// The rule.
    pub rule: String,
    /// The file in `nnrp-core/src`.
    pub file: String,
    /// What stands there.
    pub find: String,
    /// What would stand there without the rule.
    pub put: String,
}

impl Mutant {
    /// Whether it is whole statements, and not an expression.
    pub fn is_statement(&self) -> bool {
        self.find.ends_with([';', '}'])
    }
}

impl fmt::Display for Mutant {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rule, file, find, put, .. } = self;
        write!(out, "{rule} in {file}: `{find}` as `{put}`")
    }
}

/// All mutants, and the rules that cannot be removed.
pub struct Mutants {
    all: Vec<Mutant>,
    firm: BTreeSet<String>,
}

/// A file of `nnrp-core/src`.
pub fn source(file: &str) -> String {
    let path = here().join("../nnrp-core/src").join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The files in a folder of `nnrp-core/src`.
pub fn files(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(here().join("../nnrp-core/src").join(folder)).expect("a folder");
    let files = entries.flat_map(|entry| {
        let entry = entry.expect("an entry");
        let path = format!("{folder}/{}", entry.file_name().to_str().expect("UTF-8"));
        match entry.path() {
            folder if folder.is_dir() => files(&path),
            file if file.extension().is_some_and(|end| end == "rs") => vec![path],
            _ => Vec::new(),
        }
    });
    files.collect()
}

/// What of a file is code, and neither its documentation nor its tests. Everything stays in its place.
pub fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let line = |line: &str| match line.trim_start() {
        documentation if documentation.starts_with("///") || documentation.starts_with("//!") => {
            " ".repeat(line.len())
        }
        _ => line.to_owned(),
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

impl Mutants {
    /// Reads the tables.
    pub fn read() -> Self {
        let folder = here().join("mutants");
        let mut paths: Vec<PathBuf> =
            fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
        paths.sort();
        let mut mutants = Self { all: Vec::new(), firm: BTreeSet::new() };
        for path in paths {
            mutants.add(&path);
        }
        mutants
    }

    fn add(&mut self, path: &Path) {
        let text = fs::read_to_string(path).expect("a table");
        let table = DeTable::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for (rule, value) in table.get_ref() {
            let rule: &str = rule.get_ref();
            match value.get_ref() {
                DeValue::String(why) if !why.is_empty() => {
                    self.firm.insert(rule.to_owned());
                }
                DeValue::Array(entries) => {
                    for entry in entries {
                        let part = |name: &str| match entry.get_ref().get(name).map(|value| value.get_ref()) {
                            Some(DeValue::String(text)) => text.to_string(),
                            _ => panic!("{}: {rule} has no {name}", path.display()),
                        };
                        let file = part("file");
                        self.all.push(Mutant {
                            number: self.all.len() + 1,
                            rule: rule.to_owned(),
                            file: file.strip_prefix('/').map_or(format!("state/{file}"), str::to_owned),
                            find: part("find"),
                            put: part("put"),
                        });
                    }
                }
                _ => panic!("{}: {rule} is neither mutants nor why there are none", path.display()),
            }
        }
    }

    /// Those that can be made.
    pub fn iter(&self) -> impl Iterator<Item = &Mutant> {
        self.all.iter()
    }

    /// The rules that stand there.
    pub fn rules(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|mutant| mutant.rule.as_str()).chain(self.firm.iter().map(String::as_str))
    }

    /// The files that are changed.
    pub fn files(&self) -> BTreeSet<&str> {
        self.all.iter().map(|mutant| mutant.file.as_str()).collect()
    }
}
