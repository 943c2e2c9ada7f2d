use insta::assert_snapshot;
use nnrp_tests::command::{Ran, run, run_with};

fn encode(json: &str) -> Ran {
    run(&["encode", "--layout", "session_open", json])
}

#[test]
fn what_is_left_out_is_zero() {
    assert_eq!(encode("{}").good(), format!("{}\n", "00".repeat(48)));
    let header = run(&["encode", "--layout", "common_header", r#"{"msg_type": "ping"}"#]).good();
    assert!(header.starts_with("4e4e52500100"), "{header}");
}

#[test]
fn names_and_numbers() {
    let named = r#"{"profile_id": "tensor", "priority_class": "background", "session_flags": ["allow_resume", "allow_cache_leases"]}"#;
    let numbered = r#"{"profile_id": 1, "priority_class": 2, "session_flags": 5}"#;
    let mixed =
        r#"{"profile_id": "0x1", "priority_class": "background", "session_flags": ["allow_resume", 4]}"#;
    let bytes = encode(named).good();
    assert_eq!(encode(numbered).good(), bytes);
    assert_eq!(encode(mixed).good(), bytes);
    let piped = run_with(&["encode", "--layout", "session_open", "-"], named.as_bytes());
    assert_eq!(piped.good(), bytes);
    let piped = run_with(&["encode", "--layout", "session_open"], named.as_bytes());
    assert_eq!(piped.good(), bytes);
}

#[test]
fn numbers_at_their_limits() {
    let most = encode(r#"{"client_session_tag": 18446744073709551615}"#).good();
    assert!(most.ends_with("ffffffffffffffff\n"));
    assert_eq!(encode(r#"{"client_session_tag": 18446744073709551616}"#).code, 1);
    assert_eq!(encode(r#"{"client_session_tag": 1.5}"#).code, 1);
    // JSON does not tell integers from floats.
    assert_eq!(encode(r#"{"client_session_tag": 1e3}"#), encode(r#"{"client_session_tag": 1000}"#));
}

#[test]
fn what_does_not_fit_is_named() {
    let wrong = r#"{
        "sesion_flags": [],
        "profile_id": "tensr",
        "priority_class": 300,
        "session_flags": ["allow_resum", "allow_resume"],
        "schema_id": -1,
        "schema_version": "two",
        "reserved0": {}
    }"#;
    assert_snapshot!(encode(wrong).all());
}

#[test]
fn what_decoding_would_refuse_is_refused() {
    let said = |json: &str| {
        let ran = encode(json);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""));
        ran.err
    };
    assert_snapshot!(said(r#"{"schema_version": 1}"#), @"error: byte 12: `session_open.schema_version` breaks rule D2.1: Schema id 0 binds no schema, so it has no version");
    assert_snapshot!(said(r#"{"reserved0": 1}"#), @"error: byte 22: `session_open.reserved0` is reserved and must be zero");
    assert_snapshot!(said(r#"{"priority_class": 200}"#), @"error: byte 6: `session_open.priority_class` has a value that is not known");
    assert_snapshot!(said(r#"{"session_flags": 16}"#), @"error: byte 7: `session_open.session_flags` has bits set that are not known");
}

#[test]
fn whole_output_of_decode() {
    let whole = r#"{"layout": "session_open", "fields": {"requested_session_id": 1}}"#;
    assert_eq!(encode(whole), encode(r#"{"requested_session_id": 1}"#));
    let other = r#"{"layout": "session_close", "fields": {}}"#;
    assert_snapshot!(encode(other).err, @"error: these are the fields of `session_close`, not of `session_open`");
    // What `--lenient` says of faulty bytes leads to the same fault.
    let bad = format!("{}01{}", "00".repeat(22), "00".repeat(25));
    let lenient = run(&["decode", "--layout", "session_open", "--json", "--lenient", &bad]);
    assert_eq!(encode(&lenient.out).err, lenient.err);
}

/// Which message it is stands in the input, and so does what is wrong with that.
#[test]
fn packets_name_their_message() {
    let said = |json: &str| {
        let ran = run(&["encode", json]);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{json}");
        ran.err
    };
    assert_snapshot!(said(r#"{"message": 5}"#), @r#"
    argument:1:13: error: `message` is a number, and not the name of a message
      |
    1 | {"message": 5}
      |             ^
      |
      = help: write `"message": "NAME"` into it, or name it with `--message NAME`
    "#);
    assert_snapshot!(said("[]"), @r#"
    argument:1:1: error: a list, where a packet is wanted
      |
    1 | []
      | ^^
      |
      = help: write `"message": "NAME"` into it, or name it with `--message NAME`
    "#);
    assert_snapshot!(said(r#"{"header": {}}"#), @r#"
    argument:1:1: error: a packet without `message`, which says what it is
      |
    1 | {"header": {}}
      | ^^^^^^^^^^^^^^
      |
      = help: write `"message": "NAME"` into it, or name it with `--message NAME`
    "#);
    assert_snapshot!(said("{\"message\": \"ping\"}\n  {\"header\": {}, \"message\" : \"pnig\"}"), @r#"
    argument:2:30: error: there is no message `pnig`
      |
    2 |   {"header": {}, "message" : "pnig"}
      |                              ^^^^^^
      |
      = help: did you mean `ping`?
    "#);
    assert_eq!(run(&["encode", "--message", "ping", "[]"]).code, 1);
    // An argument that names nothing is wrong usage.
    assert_eq!(run(&["encode", "--message", "pnig", "{}"]).code, 2);
}

#[test]
fn numbers_of_too_many_bits() {
    let said = |number: &str| encode(&format!("{{\"client_session_tag\": {number}}}")).err;
    assert_snapshot!(said("100000000000000000000000001"), @"error: `client_session_tag`: a number of more than 64 bits does not fit u64; it takes 0 to 18446744073709551615, with all digits");
    assert_snapshot!(said("-100000000000000000000"), @"error: `client_session_tag`: a number of more than 64 bits does not fit u64; it takes 0 to 18446744073709551615, with all digits");
    assert_snapshot!(said("1e17"), @"error: `client_session_tag`: a number that is not exact does not fit u64; it takes 0 to 18446744073709551615, with all digits");
    assert_snapshot!(said("0.5"), @"error: `client_session_tag`: 0.5 does not fit u64; it takes 0 to 18446744073709551615, with all digits");
}

#[test]
fn names_that_go_on_and_on_are_cut() {
    let ran = encode(&format!("{{\"{}\": 1}}", "n".repeat(5_000)));
    assert_snapshot!(ran.err, @"error: `nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn…`: no field of `session_open` is called so");
    let ran = run(&["encode", "--message", &"n".repeat(5_000), "{}"]);
    assert_snapshot!(ran.err, @r"
    error: there is no message `nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn…`
    help: `nnrp-gen show message` lists all messages
    ");
}

#[test]
fn json_errors_have_a_place() {
    let piped = run_with(&["encode", "--layout", "session_open", "-"], b"{\n  \"profile_id\": tensor\n}\n");
    assert_snapshot!(piped.all(), @r#"
    --- stderr
    stdin:2:18: error: expected ident
      |
    2 |   "profile_id": tensor
      |                  ^
    --- exit status 1
    "#);
    assert_snapshot!(encode(r#"{"profile_id": 1, "profile_id": 2}"#).err, @r#"
    argument:1:30: error: a second `profile_id` in one object
      |
    1 | {"profile_id": 1, "profile_id": 2}
      |                              ^
    "#);
    for json in ["", "{", "null", "[]", "1", "{\"profile_id\": null}", "{} {}", "\u{0}", &"[".repeat(10_000)]
    {
        let ran = run_with(&["encode", "--layout", "session_open", "-"], json.as_bytes());
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{json}");
        assert!(!ran.err.contains("panicked"), "{}", ran.err);
    }
}
