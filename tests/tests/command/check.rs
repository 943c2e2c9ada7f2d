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

/// Each drawing costs its whole line, and a chain of layouts was once walked again for each of its layouts.
#[test]
fn very_many_problems_take_no_minutes() {
    let start = std::time::Instant::now();
    let folder = scratch("many");
    let registry = folder.join("registry");
    fs::create_dir(&registry).unwrap();
    let protocol = "[protocol]\nname = \"many\"\nbyte_order = \"little\"\n";
    let chain: String = (0..10_000)
        .map(|at| {
            let inner = at + 1;
            format!("[[layout]]\nname = \"l{at}\"\nsize = 4\nfields = [{{ offset = 0, name = \"x\", layout = \"l{inner}\" }}]\n")
        })
        .collect();
    let last =
        "[[layout]]\nname = \"l10000\"\nsize = 4\nfields = [{ offset = 0, name = \"x\", type = \"u32\" }]\n";
    fs::write(registry.join("chain.toml"), format!("{protocol}{chain}{last}")).unwrap();
    let values = "{ value = 1, name = \"v\" }, ".repeat(2_000);
    let field = "fields = [{ offset = 0, name = \"x\", type = \"u32\", enum = \"e\" }]\n";
    let wide = format!("[[enum]]\nname = \"e\"\ntype = \"u32\"\nvalues = [{values}]\n");
    fs::write(registry.join("wide.toml"), format!("{wide}[[layout]]\nname = \"w\"\nsize = 4\n{field}"))
        .unwrap();
    let ran = run_in(&folder, &["check"], b"");
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("`l0` nests 10000 layouts deep, the limit is 16"), "{}", ran.err);
    let end = "\n\nand 13882 more, which show once some of these are mended\n\nerror: 13982 errors\n";
    assert!(ran.err.ends_with(end), "{}", &ran.err[ran.err.len() - 200..]);
    assert!(start.elapsed().as_secs() < 30, "{:?}", start.elapsed());
}

/// What is called as a registry file is, and is none, is not passed over.
#[cfg(unix)]
#[test]
fn what_is_no_file_is_named() {
    let said = |name: &str, make: fn(&std::path::Path)| {
        let folder = copied(name);
        make(&folder.join("registry/zz.toml"));
        let ran = run_in(&folder, &["check"], b"");
        let formatted = run_in(&folder, &["fmt", "--check"], b"");
        assert_eq!((ran.code, formatted.code), (2, 2), "{}", formatted.err);
        ran.err
    };
    let link = |path: &std::path::Path| std::os::unix::fs::symlink("../moved/away.toml", path).unwrap();
    assert_snapshot!(said("dangling", link), @"error: registry: zz.toml: a link to `../moved/away.toml`, which is not there");
    assert_snapshot!(said("folder", |path| fs::create_dir(path).unwrap()), @"error: registry: zz.toml: a folder, and not a file");

    // Editors leave links that lead nowhere beside what is being edited.
    let folder = copied("edited");
    std::os::unix::fs::symlink("me@here.1234", folder.join("registry/.#session.toml")).unwrap();
    assert_eq!(run_in(&folder, &["check"], b"").code, 0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_cannot_be_read_is_named() {
    let folder = copied("unreadable");
    // Opens, but nothing can be read where it begins.
    std::os::unix::fs::symlink("/proc/self/mem", folder.join("registry/zz.toml")).unwrap();
    let ran = run_in(&folder, &["check"], b"");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("registry: zz.toml: "), "{}", ran.err);
}
