//! The table of state rules, `nnrp_core::state::rules`, against the sources.
//!
//! `UPDATE_RULES=1 cargo test -p nnrp-tests --test state_rules` writes its last two columns.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use nnrp_tests::registry::here;
use nnrp_tests::rules::{self, is_after};

/// What the sources say.
#[derive(Default)]
struct Sources {
    /// By the path in `nnrp-core/src`: the rules that a file names outside of its tests.
    code: BTreeMap<String, BTreeSet<String>>,
    /// All test functions.
    tests: BTreeSet<String>,
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
}

/// The words of a text that are names of rules. Neither parts of rules, such as D4.1, nor the ends of a range count.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|letter: char| !letter.is_alphanumeric() && !matches!(letter, '.' | '–' | '_'));
    words.map(|word| word.trim_end_matches('.')).filter(|word| {
        let mut letters = word.chars();
        letters.next().is_some_and(|letter| letter.is_ascii_uppercase())
            && word.len() > 1
            && letters.all(|letter| letter.is_ascii_digit())
    })
}

/// Test functions: what follows `#[test]`, up to its name, and what a `rules!` lists.
fn tests(text: &str) -> impl Iterator<Item = &str> {
    let marked = text.split("#[test]").skip(1).filter_map(|behind| {
        let (_, name) = behind.split_once("fn ")?;
        name.split('(').next()
    });
    let listed = text.split("\nrules! {\n").skip(1).filter_map(|behind| behind.split('}').next());
    let listed = listed.flat_map(|names| names.split(',').map(str::trim));
    marked.chain(listed)
}

impl Sources {
    fn read() -> Self {
        let mut sources = Self::default();
        let core = here().join("../nnrp-core/src");
        let mut found = Vec::new();
        files(&core, &mut found);
        for path in &found {
            let text = fs::read_to_string(path).expect("a source");
            sources.tests.extend(tests(&text).map(str::to_owned));
            let name =
                path.strip_prefix(&core).expect("it is in there").to_str().expect("UTF-8").replace('\\', "/");
            if name.contains("/tests") {
                continue;
            }
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            sources.code.insert(name, names(code).map(str::to_owned).collect());
        }
        let mut found = Vec::new();
        files(&here().join("tests"), &mut found);
        for path in &found {
            let text = fs::read_to_string(path).expect("a source");
            sources.tests.extend(tests(&text).map(str::to_owned));
        }
        sources
    }

    /// The files that name a rule.
    fn code(&self, rule: &str) -> Vec<&str> {
        let named = self.code.iter().filter(|(_, rules)| rules.contains(rule));
        named.map(|(name, _)| name.as_str()).collect()
    }

    /// The tests that are named after a rule.
    fn tests(&self, rule: &str) -> Vec<&str> {
        self.tests.iter().map(String::as_str).filter(|test| is_after(test, rule)).collect()
    }
}

fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn path() -> PathBuf {
    here().join("../nnrp-core/src/state/rules.md")
}

/// The cells of a row, where the line is one of a rule.
fn row(line: &str) -> Option<[&str; 4]> {
    let cells: Vec<&str> = line.strip_prefix("| ")?.trim_matches('|').split('|').map(str::trim).collect();
    let cells = <[&str; 4]>::try_from(cells).unwrap_or_else(|_| panic!("four columns: {line}"));
    names(cells[0]).next().map(|_| cells)
}

/// Names in a cell.
fn cell(text: &str) -> Vec<&str> {
    text.split(", ").filter(|name| !name.is_empty()).map(|name| name.trim_matches('`')).collect()
}

#[test]
fn the_table_of_rules_names_what_is_there() {
    let sources = Sources::read();
    let table = fs::read_to_string(path()).expect("the table");
    if std::env::var_os("UPDATE_RULES").is_some() {
        let made = table.lines().map(|line| match row(line) {
            Some([rule, text, ..]) => {
                let (code, tests) = (list(&sources.code(rule)), list(&sources.tests(rule)));
                format!("| {rule} | {text} | {code} | {tests} |\n")
            }
            None => format!("{line}\n"),
        });
        let made: String = made.collect();
        return fs::write(path(), made).expect("the table can be written");
    }

    let rows: Vec<_> = table.lines().filter_map(row).collect();
    let named: Vec<&str> = rows.iter().map(|[rule, ..]| *rule).collect();
    assert_eq!(named, rules::all(), "every rule has its row");
    let mut wrong = Vec::new();
    for [rule, text, code, tests] in rows {
        let (code, tests) = (cell(code), cell(tests));
        for name in &code {
            match sources.code.get(*name) {
                None => wrong.push(format!("{rule}: there is no nnrp-core/src/{name}")),
                Some(rules) if !rules.contains(rule) => {
                    wrong.push(format!("{rule}: {name} does not name it"))
                }
                Some(_) => {}
            }
        }
        for name in &tests {
            if !sources.tests.contains(*name) || !is_after(name, rule) {
                wrong.push(format!("{rule}: there is no test {name} that is named after it"));
            }
        }
        // What no code can break says so, and is tested all the same.
        if code.is_empty() && !text.contains("(meaning") {
            wrong.push(format!("{rule}: no code names it"));
        }
        if tests.is_empty() {
            wrong.push(format!("{rule}: no test is named after it"));
        }
    }
    assert!(wrong.is_empty(), "see the top of this test:\n{}", wrong.join("\n"));
}

#[test]
fn every_refusal_gives_a_rule_that_there_is() {
    // The words of `Refusal::…(…, "O4", …)` in the state machines, from the string on.
    let known = rules::all();
    let core = here().join("../nnrp-core/src/state");
    let mut found = Vec::new();
    files(&core, &mut found);
    let mut given = BTreeSet::new();
    for path in &found {
        if path.strip_prefix(&core).expect("it is in there").to_string_lossy().contains("tests") {
            continue;
        }
        let text = fs::read_to_string(path).expect("a source");
        for behind in text.split("Refusal::").skip(1) {
            let Some((_, arguments)) = behind.split_once('(') else { continue };
            let quoted = arguments.split('"').nth(1).unwrap_or_default();
            if names(quoted).next() == Some(quoted) {
                given.insert(quoted.to_owned());
            }
        }
    }
    assert!(given.len() > 30, "{given:?}");
    // Rules of layouts, framing and bodies are given, too.
    let strange: Vec<_> =
        given.iter().filter(|rule| !known.contains(rule) && !rule.starts_with(['B', 'D', 'F'])).collect();
    assert!(strange.is_empty(), "{strange:?}");
}

/// The page of the connection sorts every method and names every event.
#[test]
fn the_page_of_the_connection_names_everything() {
    let folder = here().join("../nnrp-core/src/state/connection");
    let mut paths = Vec::new();
    files(&folder, &mut paths);
    let read = |path: &Path| fs::read_to_string(path).expect("a source");
    let page: String = read(&folder.join("mod.rs"))
        .lines()
        .filter(|line| line.starts_with("//!"))
        .collect::<Vec<_>>()
        .join("\n");
    let mut methods = 0;
    for path in paths {
        let source = read(&path);
        let mut ours = false;
        for line in source.lines() {
            if line.starts_with("impl ") {
                ours = line == "impl Connection {";
            }
            let Some(rest) = line.strip_prefix("    pub ").filter(|_| ours) else { continue };
            let Some(rest) = rest.trim_start_matches("const ").strip_prefix("fn ") else { continue };
            let name = rest.split('(').next().unwrap_or_default();
            if name != "new" {
                methods += 1;
                assert!(
                    page.contains(&format!("[`{name}`](Connection::{name})")),
                    "{name} is not on the page"
                );
            }
        }
    }
    assert!(methods > 40, "{methods}");
    let source = read(&folder.join("event.rs"));
    let events =
        source.split("pub enum Event {").nth(1).and_then(|rest| rest.split("\n}").next()).expect("events");
    let mut count = 0;
    for line in events.lines() {
        let Some(name) = line.strip_prefix("    ").filter(|name| name.starts_with(char::is_uppercase)) else {
            continue;
        };
        let name: String = name.chars().take_while(|letter| letter.is_alphanumeric()).collect();
        count += 1;
        assert!(page.contains(&format!("[`{name}`](Event::{name})")), "{name} is not on the page");
    }
    assert!(count > 25, "{count}");
}
