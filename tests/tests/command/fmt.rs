use std::fs;

use nnrp_tests::command::{run, run_in, run_with};

use super::copied;

const MESSY: &str = "[[enum]]\nname=\"a\"   # kept\ntype = \"u8\"\n";

#[test]
fn lines_up_what_is_not() {
    let folder = copied("fmt");
    run_in(&folder, &["fmt"], b"");
    assert_eq!(run_in(&folder, &["fmt", "--check"], b"").good(), "");

    let file = folder.join("registry/flow.toml");
    let neat = fs::read_to_string(&file).unwrap();
    fs::write(&file, neat.replace("type   = ", "type = ")).unwrap();
    let ran = run_in(&folder, &["fmt", "--check"], b"");
    assert_eq!((ran.code, ran.out.as_str()), (1, "registry/flow.toml\n"));
    assert_eq!(ran.err, "1 file to line up: run `nnrp-gen fmt`\n");

    let ran = run_in(&folder, &["fmt"], b"");
    assert_eq!((ran.code, ran.out.as_str()), (0, "registry/flow.toml\n"));
    assert_eq!(fs::read_to_string(&file).unwrap(), neat);
}

#[test]
fn goes_on_after_a_file_that_is_no_toml() {
    let folder = copied("fmt-bad");
    run_in(&folder, &["fmt"], b"");
    fs::write(folder.join("registry/body.toml"), "[[enum]\n").unwrap();
    fs::write(folder.join("registry/flow.toml"), MESSY).unwrap();
    let ran = run_in(&folder, &["fmt"], b"");
    assert_eq!((ran.code, ran.out.as_str()), (1, "registry/flow.toml\n"));
    assert!(ran.err.contains("registry/body.toml:1:"), "{}", ran.err);
    assert!(fs::read_to_string(folder.join("registry/flow.toml")).unwrap().contains("name = \"a\" # kept"));
}

#[test]
fn standard_input() {
    let neat = run_with(&["fmt", "-"], MESSY.as_bytes()).good();
    assert_eq!(neat, "[[enum]]\nname = \"a\" # kept\ntype = \"u8\"\n");
    assert_eq!(run_with(&["fmt", "-", "--check"], MESSY.as_bytes()).code, 1);
    assert_eq!(run_with(&["fmt", "-", "--check"], neat.as_bytes()).code, 0);
    assert_eq!(run_with(&["fmt", "-"], b"\xff").code, 1);
    assert_eq!(run(&["fmt", "-", "x"]).code, 2);
}
