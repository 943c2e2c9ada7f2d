//! The page about the registry format, `registry/README.md`, says what the reader reads: every table, every key, which of
//! them are needed, every limit; and its examples are a registry.
//!
//! `UPDATE_README=1 cargo test -p nnrp-tests --test format` lines the examples up.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use nnrp_gen::load_texts;
use nnrp_tests::registry::folder;

/// Nothing that anybody reads.
const NONSENSE: &str = "qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq";

/// The keys of a table, and whether they are needed.
type Keys = BTreeMap<String, bool>;

fn page() -> String {
    fs::read_to_string(folder().join("README.md")).expect("the page")
}

/// The words in backticks.
fn quoted(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// What the reader knows where nonsense stands: `text` is a registry file that has it there.
fn known(text: &str) -> Option<Vec<String>> {
    let loaded = load_texts([("probe.toml", text)]);
    let problems = loaded.report.sorted().into_iter();
    let mut unknown = problems
        .filter(|problem| problem.message.starts_with("unknown") && problem.message.contains(NONSENSE));
    unknown.next().map(|problem| quoted(problem.help.as_deref().expect("it says what is known")))
}

/// The keys that are missed in what has none.
fn needed(text: &str, what: &str) -> BTreeSet<String> {
    let loaded = load_texts([("probe.toml", text)]);
    let problems = loaded.report.sorted().into_iter();
    let missed = problems.filter(|problem| problem.message.contains(" without `"));
    let missed = missed.filter(|problem| loaded.sources.position(problem.span).0 == 2 || what.is_empty());
    missed.flat_map(|problem| quoted(&problem.message)).collect()
}

/// Every table and every row, by the path of keys that leads there.
fn read() -> BTreeMap<String, Keys> {
    let mut all = BTreeMap::new();
    for table in known(&format!("[{NONSENSE}]")).expect("there are tables") {
        let header = match known(&format!("[[{table}]]\n{NONSENSE} = 1")) {
            Some(_) => format!("[[{table}]]"),
            None => format!("[{table}]"),
        };
        let empty = needed(&header, "");
        let keys = known(&format!("{header}\n{NONSENSE} = 1")).expect("it has keys");
        rows(&header, &[], &table, &keys, &mut all);
        all.insert(table, keys.into_iter().map(|key| (key.clone(), empty.contains(&key))).collect());
    }
    all
}

/// The rows and tables under keys, and those under theirs.
fn rows(
    header: &str,
    above: &[(String, &str)],
    path: &str,
    keys: &[String],
    all: &mut BTreeMap<String, Keys>,
) {
    for key in keys {
        for (open, close) in [("[{", "}]"), ("{", "}")].map(|(open, close)| (open, close)) {
            let mut within = above.to_vec();
            within.push((format!("{key} = {open}"), close));
            let write = |inner: &str| {
                let opened: String = within.iter().map(|(open, _)| open.as_str()).collect();
                let closed: String = within.iter().rev().map(|(_, close)| *close).collect();
                format!("{header}\n{opened}{inner}{closed}")
            };
            let Some(inner) = known(&write(&format!("{NONSENSE} = 1"))) else { continue };
            // What the table around it lacks stands at the table's first line.
            let empty = needed(&write(""), key);
            let path = format!("{path}.{key}");
            rows(header, &within, &path, &inner, all);
            all.insert(path, inner.into_iter().map(|key| (key.clone(), empty.contains(&key))).collect());
        }
    }
}

/// What the page says: each heading of paths with the first column of the table below it, where bold is needed.
fn written(page: &str) -> BTreeMap<String, Keys> {
    let mut all: BTreeMap<String, Keys> = BTreeMap::new();
    let mut paths = Vec::new();
    for line in page.lines() {
        if line.starts_with('#') {
            paths = quoted(line);
            for path in &paths {
                assert!(all.insert(path.clone(), Keys::new()).is_none(), "`{path}` stands twice");
            }
        }
        let Some(cell) = line.strip_prefix("| ").and_then(|row| row.split(" | ").next()) else { continue };
        for path in &paths {
            let keys = all.get_mut(path).expect("it was put in");
            for part in cell.split(", ") {
                for key in quoted(part) {
                    assert!(
                        keys.insert(key.clone(), part.starts_with("**")).is_none(),
                        "{path}: {key} twice"
                    );
                }
            }
        }
    }
    all
}

#[test]
fn the_page_has_every_key_and_no_other() {
    let (read, written) = (read(), written(&page()));
    assert!(read.len() > 25, "the reader was not understood: {read:?}");
    for (path, keys) in &read {
        assert_eq!(written.get(path), Some(keys), "what the page says of `{path}`, and what is read");
    }
    let unread: Vec<_> = written.keys().filter(|path| !read.contains_key(*path)).collect();
    assert!(unread.is_empty(), "the page has tables that nobody reads: {unread:?}");
}

#[test]
fn its_examples_are_a_registry() {
    let page = page();
    let examples: Vec<&str> = page
        .split("```toml\n")
        .skip(1)
        .map(|behind| behind.split("```\n").next().unwrap_or_default())
        .collect();
    let texts = examples.iter().map(|example| ("example.toml", *example));
    let loaded = load_texts(texts);
    assert_eq!(loaded.report.draw(&loaded.sources, false), "", "nothing is wrong, and nothing is warned of");
    let registry = loaded.registry.expect("it is good");
    for table in written(&page).keys().filter(|path| !path.contains('.')) {
        let shown = examples.iter().any(|example| {
            example.contains(&format!("[[{table}]]\n")) || example.contains(&format!("[{table}]\n"))
        });
        assert!(shown, "no example of `{table}`");
    }
    // They are lined up as `fmt` does it, and all targets take them.
    let mut formed = page.clone();
    for example in &examples {
        let text = nnrp_gen::fmt::format(example).expect("it is TOML");
        formed = formed.replace(&format!("```toml\n{example}```"), &format!("```toml\n{text}```"));
    }
    if std::env::var_os("UPDATE_README").is_some() {
        fs::write(folder().join("README.md"), &formed).expect("the page can be written");
    } else {
        assert_eq!(page, formed, "`nnrp-gen fmt` writes it so");
    }
    // What it says is made of them is made of them.
    let rust = nnrp_gen::emit::rust::module(&registry, true, false);
    let c = nnrp_gen::emit::c::header(&registry).expect("all of it can be said in C");
    let (_, table) = page.split_once("## What is made of it").expect("it says so");
    let rows: Vec<Vec<&str>> =
        table.lines().filter_map(|line| Some(line.strip_prefix("| ")?.split(" | ").collect())).collect();
    assert!(rows.len() > 10, "{rows:?}");
    for row in rows {
        let [_, in_rust, in_c] = row.as_slice() else { panic!("{row:?}") };
        for (cell, emitted) in [(in_rust, &rust), (in_c, &c)] {
            for name in quoted(cell) {
                assert!(emitted.contains(&name), "nothing is called `{name}`");
            }
        }
    }
}

#[test]
fn limits_are_those_of_the_checks() {
    let page = page().replace('\n', " ");
    let says = |text: &str| assert!(page.contains(text), "the page does not say: {text}");
    says(&format!("nests at most {} levels", nnrp_gen::rule::MAX_DEPTH));
    says(&format!("at most {} words, numbers and signs", nnrp_gen::rule::MAX_TOKENS));
    // The others are known by what is refused.
    let refused = |text: &str| {
        let head = "[protocol]\nname = \"p\"\nbyte_order = \"little\"\n";
        let loaded = load_texts([("limits.toml", format!("{head}{text}").as_str())]);
        loaded.report.draw(&loaded.sources, false)
    };
    let layout = |size: u64| {
        format!(
            "[[layout]]\nname = \"l\"\nsize = {size}\nfields = [{{ offset = 0, name = \"a\", type = \"[u8; {size}]\" }}]"
        )
    };
    assert_eq!(refused(&layout(1_048_576)), "");
    assert!(refused(&layout(1_048_577)).contains("1 to 1048576"));
    says("1 to 1048576");
    let nested = |depth: usize| {
        let mut text = String::from(
            "[[layout]]\nname = \"l0\"\nsize = 1\nfields = [{ offset = 0, name = \"a\", type = \"u8\" }]\n",
        );
        for outer in 1..=depth {
            let inner = outer - 1;
            text.push_str(&format!(
                "[[layout]]\nname = \"l{outer}\"\nsize = 1\nfields = [{{ offset = 0, name = \"a\", layout = \"l{inner}\" }}]\n"
            ));
        }
        text
    };
    assert_eq!(refused(&nested(16)), "");
    assert!(refused(&nested(17)).contains("the limit is 16"));
    says("at most 16 deep");
    says("a power of two up to 4096");
    says("At most 64 values of an enum say so");
}
