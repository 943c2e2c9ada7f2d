use insta::assert_snapshot;
use nnrp_tests::command::run;

#[test]
fn of_the_command_and_of_each_part() {
    let help = |arguments: &[&str]| run(arguments).good();
    let mut all = help(&["--help"]);
    for part in ["check", "fmt", "show", "decode", "encode", "emit"] {
        let text = help(&[part, "--help"]);
        assert!(text.contains("Example"), "{part} has no example");
        all.push_str(&format!("\n======== {part}\n\n{text}"));
    }
    assert_snapshot!(all);
    assert!(help(&["--version"]).starts_with("nnrp-gen "));
}

#[test]
fn wrong_usage_is_status_2() {
    let wrong: &[&[&str]] = &[
        &[],
        &["shwo"],
        &["decode"],
        &["decode", "--layout", "session_open"],
        &["decode", "--layout", "session_open", "00", "--file", "x"],
        &["decode", "--layout", "session_opn", "00"],
        &["decode", "--layout", "session_open", "--file", "no/such/file"],
        &["encode", "--layout", "nothing", "{}"],
        &["show", "layuot", "session_open"],
        &["show", "layout", "session_opn"],
        &["show", "session_opn"],
        &["show", "layout", "session_open", "more"],
        &["emit"],
        &["emit", "cobol"],
        &["emit", "json", "--standalone"],
        &["emit", "json", "--check"],
        &["emit", "json", "-o", "no/such/folder/file"],
        &["check", "--registry", "no/such/folder"],
        &["fmt", "no/such/file"],
    ];
    for arguments in wrong {
        let ran = run(arguments);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{arguments:?}: {}", ran.err);
        assert!(!ran.err.is_empty(), "{arguments:?} says nothing");
        assert!(!ran.err.contains("panicked"), "{arguments:?}: {}", ran.err);
    }
}

#[test]
fn unknown_names_are_corrected() {
    let said = |arguments: &[&str]| run(arguments).err;
    assert_snapshot!(said(&["decode", "--layout", "sesion_open", "00"]), @r"
    error: there is no layout `sesion_open`
    help: did you mean `session_open`?
    ");
    assert_snapshot!(said(&["show", "profile_idd"]), @r"
    error: the registry has no `profile_idd`
    help: did you mean `profile_id`?
    ");
    assert_snapshot!(said(&["show", "qwertyuiop"]), @r"
    error: the registry has no `qwertyuiop`
    help: `nnrp-gen show` lists all names
    ");
    assert_snapshot!(said(&["show", "enm", "profile_id"]), @r"
    error: there is no kind `enm`
    help: did you mean `enum`?
    ");
}
