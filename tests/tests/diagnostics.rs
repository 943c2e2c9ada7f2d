//! What a bad registry is told: one file a case, one snapshot of everything that is said of it.

use std::fs;
use std::path::Path;

use nnrp_gen::load_texts;

/// Draws what is wrong with one file, as the command does.
fn drawn(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("the case is there");
    let name = path.file_name().expect("it has a name").to_string_lossy().into_owned();
    let loaded = load_texts([(name.as_str(), text.as_str())]);
    assert!(!loaded.report.sorted().is_empty(), "{name}: nothing is wrong with it");
    assert_eq!(loaded.registry.is_none(), loaded.report.has_errors(), "{name}: errors and registry");
    loaded.report.draw(&loaded.sources, false)
}

#[test]
fn every_bad_file() {
    insta::glob!("../diagnostics", "*.toml", |path| {
        insta::assert_snapshot!(drawn(path));
    });
}

/// The same file with other line ends is told the same.
#[test]
fn line_ends_do_not_matter() {
    for entry in fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/diagnostics")).expect("the cases") {
        let text = fs::read_to_string(entry.expect("a case").path()).expect("it is text");
        let draw = |text: &str| {
            let loaded = load_texts([("case.toml", text)]);
            loaded.report.draw(&loaded.sources, false)
        };
        assert_eq!(draw(&text), draw(&text.replace('\n', "\r\n")));
    }
}

/// A second `[protocol]` in another file names both files.
#[test]
fn problems_across_files_show_both() {
    let protocol = "[protocol]\nname = \"demo\"\nbyte_order = \"little\"\n";
    let loaded = load_texts([("a.toml", protocol), ("b.toml", protocol)]);
    insta::assert_snapshot!(loaded.report.draw(&loaded.sources, false));
}

/// Of what is there twice both places are told, whichever file is read first.
#[test]
fn what_is_there_twice_shows_both() {
    let protocol = "[protocol]\nname = \"demo\"\nbyte_order = \"little\"\n";
    let table = |name: &str, value: u8| {
        format!(
            "[[enum]]\nname = \"{name}\"\ntype = \"u8\"\nvalues = [{{ value = {value}, name = \"low\" }}]\n"
        )
    };
    let (mine, theirs) = (table("level", 1), table("level", 2));
    let loaded =
        load_texts([("mine.toml", mine.as_str()), ("protocol.toml", protocol), ("theirs.toml", &theirs)]);
    insta::assert_snapshot!(loaded.report.draw(&loaded.sources, false));
}
