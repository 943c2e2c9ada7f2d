//! A message with a body is one edit of the registry: it is in `Message`, `decode`, `encode`, `show` and `emit json`.

use std::fs;
use std::path::{Path, PathBuf};

use nnrp_tests::command::run_in;
use nnrp_tests::project::Project;
use nnrp_tests::registry;
use serde_json::Value;

const EDIT: &str = r#"
[[layout]]
name   = "weather"
size   = 8
source = "a test"
doc    = "How it is outside."
fields = [
  { offset = 0, name = "temperature", type = "i16", unit = "K",     doc = "Outside." },
  { offset = 2, name = "gusts",       type = "u16", unit = "gusts", doc = "In the body." },
  { offset = 4, name = "gust_bytes",  type = "u32", unit = "bytes", doc = "All of them together." },
]

[[layout]]
name   = "gust"
size   = 4
source = "a test"
doc    = "A gust of wind."
fields = [
  { offset = 0, name = "speed",     type = "u16", unit = "m/s", doc = "How fast." },
  { offset = 2, name = "direction", type = "u16",               doc = "From where." },
]

[[message]]
value     = 0x60
name      = "weather_report"
metadata  = "weather"
scope     = "session"
direction = "to_client"
source    = "a test"
doc       = "Tells how it is outside."
body      = [
  { name = "gusts", length = "gust_bytes", of = "gust", count = "gusts", id = "W2", doc = "The newest first." },
  { name = "ext",   length = "rest",       of = "control_extension" },
]
rules     = [
  { id = "W1", when = "temperature < 0", require = "header.frame_id == 0", doc = "No frame is that cold." },
]
"#;

/// A copy of the registry with the edit.
fn edited() -> PathBuf {
    let folder = copied("packets_edit");
    let path = folder.join("registry/trace.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(path, text + EDIT).unwrap();
    folder
}

/// A folder of that name with a copy of the registry.
fn copied(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    // It may be there from the last run.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("registry")).unwrap();
    for file in fs::read_dir(registry::folder()).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), folder.join("registry").join(file.file_name())).unwrap();
    }
    folder
}

/// Scopes are of `session_id` and F5 also where the protocol does not say so, and of whatever it says.
#[test]
fn f5_scopes_speak_of_the_field_that_the_protocol_names() {
    let folder = copied("scope_edit");
    let rust = || run_in(&folder, &["emit", "rust"], b"").good();
    let path = folder.join("registry/protocol.toml");
    let text = fs::read_to_string(&path).unwrap();
    let (usual, named) = (rust(), r#"scope         = { field = "session_id", id = "F5" }"#);
    assert!(text.contains(named));
    fs::write(&path, text.replace(named, "")).unwrap();
    assert_eq!(rust(), usual);
    fs::write(&path, text.replace(named, r#"scope = { field = "route_id", id = "Z9" }"#)).unwrap();
    let other = rust();
    let checks = |text: &str, field: &str| text.matches(&format!("self.header.{field}() != 0")).count();
    assert_eq!(checks(&usual, "route_id"), 0);
    assert_eq!(checks(&other, "route_id"), checks(&usual, "session_id") - checks(&other, "session_id"));
    assert!(checks(&other, "route_id") > 20 && other.contains(r#""Z9""#) && !usual.contains(r#""Z9""#));
}

#[test]
fn a_message_with_a_body() {
    let folder = edited();
    let run = |arguments: &[&str]| run_in(&folder, arguments, b"");
    assert_eq!(run(&["check"]).code, 0);

    let shown = run(&["show", "weather_report"]).good();
    for part in [
        "Tells how it is outside.",
        "metadata: weather, 8 bytes",
        "layout gust",
        "entry control_extension",
        "W1",
    ] {
        assert!(shown.contains(part), "{part} is not in\n{shown}");
    }

    let json: Value = serde_json::from_str(&run(&["emit", "json"]).good()).unwrap();
    let messages = json["messages"].as_array().unwrap();
    let message = messages.iter().find(|message| message["name"] == "weather_report").unwrap();
    assert_eq!((&message["value"], &message["metadata"]), (&Value::from(0x60), &Value::from("weather")));

    let given = r#"{"header": {"session_id": 1}, "metadata": {"temperature": 280}, "body": {"gusts": [{"speed": 9}, {"speed": 12, "direction": 90}]}}"#;
    let hex = run(&["encode", "--message", "weather_report", given]).good();
    assert!(hex.contains("18010200080000000900"), "{hex}");
    let line = run(&["decode", "--json", hex.trim_end()]).good();
    let decoded: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(decoded["message"], "weather_report");
    assert_eq!(
        decoded["body"].to_string(),
        r#"{"gusts":[{"speed":9,"direction":0},{"speed":12,"direction":90}],"ext":[]}"#
    );
    assert_eq!(run(&["encode", "--message", "weather_report", &line]).good(), hex);
    let cold = given.replace("280", "-1").replace("\"session_id\": 1", "\"session_id\": 1, \"frame_id\": 2");
    let refused = run(&["encode", "--message", "weather_report", &cold]);
    assert!(refused.err.contains("breaks rule W1: No frame is that cold"), "{}", refused.err);

    let mut project = Project::new(&folder.join("project"));
    project.module("codecs", &run(&["emit", "rust", "--standalone"]).good());
    let printed = project.run(&format!(
        r#"
use scratch::codecs::{{Message, Packet}};

fn main() {{
    let hex = "{}";
    let digits = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    let mut bytes: Vec<u8> = (0..hex.len()).step_by(2).map(digits).collect();
    let packet = Packet::parse(&bytes).unwrap();
    let Message::WeatherReport(weather, body) = packet.message() else {{ panic!("{{packet:?}}") }};
    let speeds: Vec<u16> = body.gusts.iter().map(|gust| gust.speed()).collect();
    println!("{{}} {{}} {{speeds:?}}", packet.message_type(), weather.temperature);
    bytes[42] = 3;
    println!("{{}}", Packet::parse(&bytes).unwrap_err());
}}
"#,
        hex.trim_end()
    ));
    let expected = "\
weather_report 280 [9, 12]
byte 42: `weather.gusts` does not match the bytes that are there (rule W2)
";
    assert_eq!(printed, expected);
}
