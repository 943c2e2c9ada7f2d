//! One edit of the registry is all that a change takes: the new thing is in the Rust API, in `show`, `decode`,
//! `encode` and `emit json`.

use std::fs;
use std::path::{Path, PathBuf};

use nnrp_tests::command::{Ran, run_in};
use nnrp_tests::project::Project;
use nnrp_tests::registry;
use serde_json::Value;

/// A copy of the registry to edit.
struct Copy(PathBuf);

impl Copy {
    fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("edits").join(name);
        // It may be there from the last run.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("registry")).unwrap();
        for file in fs::read_dir(registry::folder()).unwrap() {
            let file = file.unwrap();
            fs::copy(file.path(), folder.join("registry").join(file.file_name())).unwrap();
        }
        Self(folder)
    }

    /// Replaces one place of one file.
    fn edit(&self, file: &str, old: &str, new: &str) {
        let path = self.0.join("registry").join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.matches(old).count(), 1, "{old} stands once in {file}");
        fs::write(path, text.replace(old, new)).unwrap();
    }

    /// Replaces the whole line that has `part` in it.
    fn edit_line(&self, file: &str, part: &str, new: &str) {
        let path = self.0.join("registry").join(file);
        let text = fs::read_to_string(&path).unwrap();
        let line = text.lines().find(|line| line.contains(part)).unwrap();
        fs::write(path, text.replacen(line, new, 1)).unwrap();
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        run_in(&self.0, arguments, b"")
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.run(&["emit", "json"]).good()).unwrap()
    }

    fn rust(&self) -> String {
        self.run(&["emit", "rust", "--standalone"]).good()
    }

    /// Decodes hex, and encodes it again.
    fn decode(&self, layout: &str, hex: &str) -> Value {
        let text = self.run(&["decode", "--layout", layout, "--json", hex]).good();
        let json: Value = serde_json::from_str(&text).unwrap();
        let back = self.run(&["encode", "--layout", layout, &text]).good();
        assert_eq!(back.trim_end(), hex.replace(' ', ""));
        json["fields"].clone()
    }
}

/// The item of that name.
fn named<'a>(list: &'a Value, name: &str) -> &'a Value {
    list.as_array().unwrap().iter().find(|item| item["name"] == name).unwrap()
}

const LAYOUT: &str = r#"
[[layout]]
name   = "weather_report"
size   = 8
source = "a test"
doc    = "How it is outside."
fields = [
  { offset = 0, name = "temperature", type = "i16", unit = "K", doc = "Outside." },
  { offset = 2, name = "raining",     type = "u8",  bool = true },
  { offset = 3, name = "reserved0",   type = "u8",  reserved = true },
  { offset = 4, name = "pressure",    type = "f32", unit = "Pa" },
]
rules  = [
  { id = "W1", when = "raining", require = "temperature > 0", doc = "Rain is no ice." },
]
"#;

fn add_layout(copy: &Copy) {
    fs::write(copy.0.join("registry/weather.toml"), LAYOUT).unwrap();
}

fn add_field(copy: &Copy) {
    copy.edit_line(
        "session.toml",
        r#"{ offset = 22, name = "reserved0""#,
        r#"  { offset = 22, name = "max_lanes", type = "u16", unit = "lanes", doc = "Most lanes." },"#,
    );
}

fn add_value(copy: &Copy) {
    let last = r#"  { value = 2, name = "background",  doc = "Prefetch and batch work; higher classes may preempt it." },"#;
    let new = r#"  { value = 3, name = "idle", doc = "When nothing else is there." },"#;
    copy.edit("session.toml", last, &format!("{last}\n{new}"));
}

fn add_bit(copy: &Copy) {
    let last = r#"  { bit = 3, name = "allow_schema_override",    doc = "Let operations use another schema than the session's default." },"#;
    let new = r#"  { bit = 4, name = "allow_dreams", doc = "Let the session dream." },"#;
    copy.edit("session.toml", last, &format!("{last}\n{new}"));
}

/// A session_open of zeros with some bytes replaced.
fn open(bytes: &[(usize, u8)]) -> String {
    let mut open = [0; 48];
    for (at, byte) in bytes {
        open[*at] = *byte;
    }
    open.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_layout() {
    let copy = Copy::new("layout");
    assert_eq!(copy.run(&["show", "weather_report"]).code, 2);
    add_layout(&copy);
    let shown = copy.run(&["show", "weather_report"]).good();
    assert!(shown.contains("How it is outside.") && shown.contains("temperature > 0"), "{shown}");
    assert!(copy.run(&["show"]).good().contains("  weather_report "));
    let fields = copy.decode("weather_report", "2901 01 00 0080c547");
    assert_eq!(fields.to_string(), r#"{"temperature":297,"raining":true,"pressure":101120.0}"#);
    let wrong = copy.run(&["decode", "--layout", "weather_report", "ffff01 00 00000000"]);
    assert!(wrong.out.contains("breaks rule W1: Rain is no ice"), "{}", wrong.out);
    assert_eq!(named(&copy.json()["layouts"], "weather_report")["rules"][0]["id"], "W1");
    assert!(copy.rust().contains("pub struct WeatherReport {"));
}

#[test]
fn a_field_in_a_reserved_gap() {
    let copy = Copy::new("field");
    let bytes = open(&[(22, 3)]);
    assert_eq!(copy.run(&["decode", "--layout", "session_open", &bytes]).code, 1);
    add_field(&copy);
    assert!(copy.run(&["show", "layout", "session_open"]).good().contains("max_lanes"));
    assert_eq!(copy.decode("session_open", &bytes)["max_lanes"], 3);
    let json = copy.json();
    let field = named(&named(&json["layouts"], "session_open")["fields"], "max_lanes");
    assert_eq!((&field["offset"], &field["unit"]), (&Value::from(22), &Value::from("lanes")));
    assert!(copy.rust().contains("pub max_lanes: u16,"));
}

#[test]
fn a_value_of_an_enum() {
    let copy = Copy::new("value");
    let bytes = open(&[(6, 3)]);
    assert_eq!(copy.run(&["decode", "--layout", "session_open", &bytes]).code, 1);
    add_value(&copy);
    assert!(copy.run(&["show", "session_priority_class"]).good().contains("When nothing else is there."));
    assert_eq!(copy.decode("session_open", &bytes)["priority_class"], "idle");
    let json = copy.json();
    assert_eq!(named(&named(&json["enums"], "session_priority_class")["values"], "idle")["value"], 3);
    assert!(copy.rust().contains("Idle = 3,"));
}

#[test]
fn a_bit() {
    let copy = Copy::new("bit");
    let bytes = open(&[(7, 0x11)]);
    assert_eq!(copy.run(&["decode", "--layout", "session_open", &bytes]).code, 1);
    add_bit(&copy);
    assert!(copy.run(&["show", "session_flags"]).good().contains("Let the session dream."));
    let fields = copy.decode("session_open", &bytes);
    assert_eq!(fields["session_flags"].to_string(), r#"["allow_resume","allow_dreams"]"#);
    let json = copy.json();
    assert_eq!(named(&named(&json["bitmasks"], "session_flags")["bits"], "allow_dreams")["mask"], 16);
    assert!(copy.rust().contains("ALLOW_DREAMS"));
}

#[test]
fn all_of_them_compile() {
    let copy = Copy::new("all");
    add_layout(&copy);
    add_field(&copy);
    add_value(&copy);
    add_bit(&copy);
    assert_eq!(copy.run(&["check"]).code, 0);
    let mut project = Project::new(&copy.0.join("project"));
    project.module("codecs", &copy.rust());
    let printed = project.run(
        r#"
use scratch::codecs::{SessionFlags, SessionOpen, SessionPriorityClass, WeatherReport};

fn main() {
    let report = WeatherReport { temperature: 297, raining: true, pressure: 101_120.0 };
    println!("{:02x?}", report.to_bytes().unwrap());
    println!("{}", WeatherReport { temperature: -1, ..report }.to_bytes().unwrap_err());
    let open = SessionOpen {
        max_lanes: 3,
        priority_class: SessionPriorityClass::Idle,
        session_flags: SessionFlags::ALLOW_RESUME | SessionFlags::ALLOW_DREAMS,
        ..SessionOpen::default()
    };
    let bytes = open.to_bytes().unwrap();
    assert_eq!(SessionOpen::decode(&bytes), Ok(open));
    println!("{:02x?} {} {}", &bytes[6..24], open.priority_class, open.session_flags);
}
"#,
    );
    let expected = "\
[29, 01, 01, 00, 00, 80, c5, 47]
byte 0: `weather_report.temperature` breaks rule W1: Rain is no ice
[03, 11, 00, 00, 00, 00, 00, 00, 00, 00, 00, 00, 00, 00, 00, 00, 03, 00] idle allow_resume | allow_dreams
";
    assert_eq!(printed, expected);
}
