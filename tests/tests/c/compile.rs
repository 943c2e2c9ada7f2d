//! The header compiles without a word, under every compiler and standard, twice in a file and from two files.

use crate::driver;
use crate::toolchain::{STRICT, compile, folder, have, registry, write};

const COMPILERS: &[(&str, &[&str])] = &[
    ("gcc", &["-std=c99", "-std=c11", "-std=c17"]),
    ("clang", &["-std=c99", "-std=c11", "-std=c17"]),
    ("g++", &["-std=c++11", "-std=c++17"]),
    ("clang++", &["-std=c++11", "-std=c++17"]),
];

fn everywhere(name: &str) {
    let folder = folder("compile", name);
    let header = format!("#include \"{name}.h\"\n");
    for end in ["c", "cc"] {
        let main = format!(
            "{header}{header}\nstatic {name}_fault fault;\n\n#ifdef __cplusplus\nextern \"C\"\n#endif\nint other(void);\n\n\
             int main(void)\n{{\n    char text[8];\n\n    fault.kind = {upper}_FAULT_LENGTH;\n    \
             return {name}_fault_text(&fault, text, sizeof text) > 0 ? other() : 1;\n}}\n",
            upper = name.to_uppercase(),
        );
        write(&folder, &format!("main.{end}"), &main);
        let other = format!(
            "{header}\n#ifdef __cplusplus\nextern \"C\"\n#endif\nint other(void);\n\nint other(void)\n{{\n    \
             return {name}_layout_name(1)[0] == '\\0';\n}}\n"
        );
        write(&folder, &format!("other.{end}"), &other);
    }
    driver::write_to(&folder, &registry(name));
    for (compiler, standards) in COMPILERS {
        if !have(compiler, &[]) {
            continue;
        }
        let end = if compiler.ends_with("++") { "cc" } else { "c" };
        for standard in *standards {
            let strict = [STRICT, &[standard]].concat();
            let program = format!("{compiler}{standard}");
            let (main, other) = (format!("main.{end}"), format!("other.{end}"));
            compile(&folder, compiler, &[&strict[..], &["-o", &program, &main, &other]].concat());
            // Some warnings come only from an optimiser that sees everything used, each level in its own way.
            for level in ["-O1", "-O2", "-Os"] {
                if *standard == "-std=c99" {
                    let driver = [level, "-c", "-o", "driver.o", "driver.c"];
                    compile(&folder, compiler, &[&strict[..], &driver].concat());
                }
            }
        }
    }
}

#[test]
fn the_header_compiles_everywhere() {
    everywhere("nnrp");
}

#[test]
fn the_header_of_the_test_registry_compiles_everywhere() {
    everywhere("zoo");
}

#[test]
fn the_header_of_another_protocol_compiles_everywhere() {
    everywhere("relay");
}

#[test]
fn the_header_of_awkward_names_compiles_everywhere() {
    everywhere("awkward");
}
