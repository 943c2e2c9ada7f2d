//! The example of the documentation does what it says, under every warning.

use std::process::Command;

use crate::toolchain::{STRICT, compile, folder, have, write};

#[test]
fn the_example_writes_and_reads_packets() {
    let readme = include_str!("../../../README.md");
    assert!(readme.contains(include_str!("example.c")), "the README shows another example");
    let folder = folder("example", "nnrp");
    write(&folder, "example.c", include_str!("example.c"));
    for compiler in ["gcc", "clang"] {
        if !have(compiler, &[]) {
            continue;
        }
        compile(&folder, compiler, &[STRICT, &["-std=c99", "-O2", "-o", "example", "example.c"]].concat());
        let output = Command::new(folder.join("example")).output().expect("the example runs");
        assert!(output.status.success());
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(
            readme.contains(&format!("./example\n{said}```\n")),
            "the README says something else than\n{said}"
        );
    }
}
