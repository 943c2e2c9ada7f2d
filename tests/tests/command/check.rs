use std::fs;

use insta::assert_snapshot;
use nnrp_tests::command::{run, run_in};

use super::{copied, scratch};

#[test]
fn sums_up() {
    assert_snapshot!(run(&["check"]).all());
}

#[test]
fn finds_the_registry_above() {
    let folder = copied("above");
    let below = folder.join("some/where");
    fs::create_dir_all(&below).unwrap();
    assert_eq!(run_in(&below, &["check"], b"").good(), run(&["check"]).good());

    // What is wrong is named as seen from here.
    fs::write(folder.join("registry/session.toml"), "[[enum]]\nnmae = \"a\"\n").unwrap();
    let ran = run_in(&below, &["check"], b"");
    assert_eq!(ran.code, 1);
    assert!(ran.err.starts_with("../../registry/"), "{}", ran.err);
}

#[test]
fn without_a_registry_says_so() {
    // Above the workspace's registry there is none; this folder stands outside of it.
    let folder = std::env::temp_dir().join(format!("nnrp-none-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let ran = run_in(&folder, &["check"], b"");
    fs::remove_dir_all(&folder).unwrap();
    assert_snapshot!(ran.all(), @r"
    --- stderr
    error: there is no folder `registry` here or above
    help: name one with `--registry DIR`
    --- exit status 2
    ");
}

const BAD: &str = r#"[protocol]
name = "bad"
byte_order = "little"

[[layout]]
name = "thing"
size = 8
fields = [
  { offset = 0, name = "a", type = "u32" },
  { ofset  = 4, name = "b", type = "u16" },
]
"#;

#[test]
fn draws_what_is_wrong() {
    let folder = scratch("bad");
    fs::create_dir(folder.join("registry")).unwrap();
    fs::write(folder.join("registry/bad.toml"), BAD).unwrap();
    assert_snapshot!(run_in(&folder, &["check"], b"").all());
    // Every command that needs the registry says the same.
    let drawn = run_in(&folder, &["show"], b"");
    assert_eq!((drawn.code, drawn.out.as_str()), (1, ""));
    assert!(drawn.err.contains("registry/bad.toml:10:5: error"), "{}", drawn.err);
}
