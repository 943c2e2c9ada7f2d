use std::fs;

use insta::assert_snapshot;
use nnrp_tests::command::{run, run_in};
use nnrp_tests::registry;
use serde_json::Value;

use super::copied;

#[test]
fn is_the_same_every_time() {
    for target in ["rust", "c", "json", "markdown"] {
        assert_eq!(run(&["emit", target]).good(), run(&["emit", target]).good());
    }
}

#[test]
fn does_not_depend_on_line_ends() {
    let folder = copied("crlf");
    for file in fs::read_dir(folder.join("registry")).unwrap() {
        let path = file.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace('\n', "\r\n")).unwrap();
    }
    for target in ["rust", "c", "json", "markdown"] {
        let target = ["emit", target];
        assert_eq!(run_in(&folder, &target, b"").good(), run(&target).good());
    }
}

#[test]
fn writes_and_checks_a_file() {
    let folder = copied("emit");
    for target in [&["rust"][..], &["rust", "--standalone"], &["c"], &["json"], &["markdown"]] {
        let path = format!("out-{}", target.concat());
        let run = |more: &[&str]| run_in(&folder, &[&["emit", "-o", &path], target, more].concat(), b"");
        let missing = run(&["--check"]);
        assert_eq!(missing.code, 1, "{}", missing.err);
        assert_eq!(run(&[]).good(), "");
        assert_eq!(run(&["--check"]).good(), format!("{path} is up to date\n"));
        let before = fs::metadata(folder.join(&path)).unwrap().modified().unwrap();
        assert_eq!(run(&[]).good(), "");
        let after = fs::metadata(folder.join(&path)).unwrap().modified().unwrap();
        assert_eq!(before, after, "a file that is up to date was written");
        fs::write(folder.join(&path), "old").unwrap();
        let stale = run(&["--check"]);
        assert_eq!(stale.code, 1);
        let command = format!("nnrp-gen emit {} -o {path}", target.join(" "));
        assert_eq!(stale.err, format!("error: {path} is not up to date\nhelp: run `{command}`\n"));
        assert_eq!(fs::read_to_string(folder.join(&path)).unwrap(), "old");
        // Nothing is left beside it.
        let left = fs::read_dir(&folder)
            .unwrap()
            .filter(|file| file.as_ref().unwrap().file_name().to_string_lossy().contains("tmp"));
        assert_eq!(left.count(), 0);
    }
}

#[test]
fn json_says_what_the_registry_says() {
    let registry = registry::nnrp();
    let json: Value = serde_json::from_str(&run(&["emit", "json"]).good()).unwrap();
    assert_eq!(json["protocol"]["name"], "nnrp");
    let names = |kind: &str| -> Vec<String> {
        let list = json[kind].as_array().unwrap();
        list.iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names("enums"), registry.enums.iter().map(|item| item.name.clone()).collect::<Vec<_>>());
    assert_eq!(names("bitmasks"), registry.bitmasks.iter().map(|item| item.name.clone()).collect::<Vec<_>>());
    assert_eq!(names("layouts"), registry.layouts.iter().map(|item| item.name.clone()).collect::<Vec<_>>());
    assert_eq!(names("messages"), registry.messages.iter().map(|item| item.name.clone()).collect::<Vec<_>>());
    assert_eq!(
        names("state_machines"),
        registry.machines.iter().map(|item| item.name.clone()).collect::<Vec<_>>()
    );
    for (layout, json) in registry.layouts.iter().zip(json["layouts"].as_array().unwrap()) {
        assert_eq!(json["size"], layout.size);
        let rows = json["fields"].as_array().unwrap();
        assert_eq!(rows.len(), layout.fields.len());
        let mut end = 0;
        for (field, row) in layout.fields.iter().zip(rows) {
            assert_eq!(row["name"], field.name.as_str());
            assert_eq!(row["type"], field.type_name(&registry));
            assert_eq!(row["offset"], end);
            end += row["size"].as_u64().unwrap();
        }
        assert_eq!(json["size"], end);
    }
    let header =
        json["layouts"].as_array().unwrap().iter().find(|item| item["name"] == "common_header").unwrap();
    assert_eq!(header["fields"][0]["const"], "NNRP");
    assert_eq!(header["fields"][4]["const"], 40);
}

#[test]
fn markdown_is_a_page_to_read() {
    let relay = format!("{}/registries/relay", env!("CARGO_MANIFEST_DIR"));
    assert_snapshot!("markdown", run(&["emit", "markdown", "--registry", &relay]).good());
}

#[test]
fn markdown_links_lead_somewhere() {
    let page = run(&["emit", "markdown"]).good();
    let mut links = 0;
    for link in page.split("](#").skip(1) {
        let to = link.split(')').next().unwrap();
        assert!(page.contains(&format!("<a id=\"{to}\"></a>")), "{to}");
        links += 1;
    }
    assert!(links > 300, "{links}");
    let registry = registry::nnrp();
    for layout in &registry.layouts {
        assert!(page.contains(&format!("<a id=\"layout-{}\"></a>", layout.name)), "{}", layout.name);
    }
}
