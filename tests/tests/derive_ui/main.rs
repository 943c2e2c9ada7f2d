//! What the derives refuse: each file of `ui` with the errors that stand beside it.
//!
//! Our own messages are compared word by word with the place that they point at, the compiler's by code and line, as
//! its words change. `BLESS=1` writes down what is said now.
//!
//! Each file is compiled twice, the second time with code that uses what was refused in all the ways that there are.
//! That must not change what is said: the mistake is in one place, whoever depends on it.

mod used;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use serde_json::Value;

#[test]
fn errors_are_as_designed() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let cases = here.join("ui");
    let all = check(here, &cases);
    let mut wrong = Vec::new();
    for (name, said) in &all {
        if name.ends_with(used::SUFFIX) {
            continue;
        }
        let expected = cases.join(name).with_extension("txt");
        if env::var_os("BLESS").is_some() {
            fs::write(&expected, said).unwrap();
        } else if fs::read_to_string(&expected).ok().as_ref() != Some(said) {
            wrong.push(format!("{name}.rs:\n{said}"));
        }
        match all.get(&format!("{name}{}", used::SUFFIX)) {
            Some(again) if again != said => wrong.push(format!("{name}.rs, where it is used:\n{again}")),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "these say something else than ui/*.txt:\n\n{}", wrong.join("\n"));
}

/// What the compiler says of each case, from one run of cargo over a package of them all.
fn check(here: &Path, cases: &Path) -> BTreeMap<String, String> {
    let root = here.parent().unwrap();
    let package = target().join("ui");
    let bins = package.join("src/bin");
    let _ = fs::remove_dir_all(&bins);
    fs::create_dir_all(&bins).unwrap();
    let manifest = format!(
        "[package]\nname = \"ui\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\nnnrp-core = {{ path = {:?} }}\nbitflags = \"2\"\n",
        root.join("nnrp-core")
    );
    fs::write(package.join("Cargo.toml"), manifest).unwrap();
    fs::copy(root.join("Cargo.lock"), package.join("Cargo.lock")).unwrap();
    let mut said = BTreeMap::new();
    for entry in fs::read_dir(cases).unwrap() {
        let path = entry.unwrap().path();
        let is = |wanted: &str| path.extension().is_some_and(|extension| extension == wanted);
        if is("rs") || is("toml") {
            fs::copy(&path, bins.join(path.file_name().unwrap())).unwrap();
        }
        if is("rs") {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            let expected = fs::read_to_string(path.with_extension("txt")).unwrap_or_default();
            let used = used::used(&name, &fs::read_to_string(&path).unwrap(), &expected);
            if let Some(used) = used {
                let name = format!("{name}{}", used::SUFFIX);
                fs::write(bins.join(&name).with_extension("rs"), used).unwrap();
                said.insert(name, String::new());
            }
            said.insert(name, String::new());
        }
    }
    let output = Command::new(env!("CARGO"))
        .args(["check", "--offline", "--keep-going", "--bins", "--message-format=json", "--quiet"])
        .arg("--target-dir")
        .arg(target())
        .current_dir(&package)
        .output()
        .unwrap();
    let mut messages: BTreeMap<String, Vec<(u64, u64, String)>> = BTreeMap::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let Ok(value) = serde_json::from_str::<Value>(line) else { continue };
        let name = value["target"]["name"].as_str().unwrap_or_default().to_owned();
        let message = &value["message"];
        if message["level"] == "error" && said.contains_key(&name) {
            messages.entry(name).or_default().extend(read(message, &format!("{}/", package.display())));
        }
    }
    for (name, mut list) in messages {
        list.sort();
        // How often the compiler repeats itself is not ours to hold.
        list.dedup();
        said.insert(name, list.into_iter().map(|(.., text)| text).collect());
    }
    let silent: Vec<_> = said.iter().filter(|(_, said)| said.is_empty()).map(|(name, _)| name).collect();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(silent.is_empty(), "no error in {silent:?}\n{errors}");
    said
}

/// Place and text of an error.
fn read(message: &Value, package: &str) -> Option<(u64, u64, String)> {
    let span = message["spans"].as_array()?.iter().find(|span| span["is_primary"] == true)?;
    let span = outermost(span);
    let number = |key: &str| span[key].as_u64().unwrap_or_default();
    let (line, column) = (number("line_start"), number("column_start"));
    let text = message["message"].as_str()?;
    let text = match message["code"]["code"].as_str() {
        Some("E0080") => {
            let ours = text.split_once(": ").map_or(text, |(_, ours)| ours);
            format!("{line}: E0080: {ours}\n")
        }
        Some(code) => format!("{line}: {code}\n"),
        None => {
            let end = if number("line_end") == line {
                number("column_end").to_string()
            } else {
                format!("{}:{}", number("line_end"), number("column_end"))
            };
            // Where the package stands is not ours to say.
            let text = text.replace(package, "");
            format!("{line}:{column}-{end}: {}\n", text.replace('\n', "\n    "))
        }
    };
    Some((line, column, text))
}

/// Where in the case it is, if the place is inside of what a macro made.
fn outermost(mut span: &Value) -> &Value {
    while !span["file_name"].as_str().is_some_and(|name| name.starts_with("src/bin")) {
        let outer = &span["expansion"]["span"];
        if outer.is_null() {
            break;
        }
        span = outer;
    }
    span
}

/// The folder in which this test was built, so that nothing is built twice.
fn target() -> PathBuf {
    let exe = env::current_exe().unwrap();
    exe.ancestors().nth(3).unwrap().to_owned()
}
