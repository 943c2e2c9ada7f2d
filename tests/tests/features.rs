//! What is generated behind the features of a crate: the traits of serde and arbitrary.

use std::path::Path;

use nnrp_gen::emit::rust;
use nnrp_gen::load_texts;
use nnrp_tests::project::Project;

const LONG: &str = r#"
[protocol]
name       = "long"
byte_order = "little"
source     = "a test"
doc        = "Arrays of more than 32, for which neither the standard library nor serde has everything."

[[layout]]
name   = "point"
size   = 2
source = "a test"
doc    = "Where."
fields = [
  { offset = 0, name = "x", type = "u8", doc = "To the right." },
  { offset = 1, name = "y", type = "u8", doc = "Down." },
]

[[layout]]
name   = "picture"
size   = 616
source = "a test"
doc    = "Long arrays of everything."
fields = [
  { offset =   0, name = "bytes",   type = "[u8; 64]",    doc = "Bytes." },
  { offset =  64, name = "ratios",  type = "[f32; 33]",   doc = "Floats." },
  { offset = 196, name = "numbers", type = "[i64; 40]",   doc = "Numbers." },
  { offset = 516, name = "points",  type = "[point; 50]", doc = "Layouts." },
]
"#;

/// Long arrays go through serde as short ones do: a list of so many, no more and no fewer.
#[test]
fn long_arrays_have_a_form_in_serde() {
    let loaded = load_texts([("long.toml", LONG)]);
    let registry = loaded.into_result().unwrap_or_else(|problems| panic!("{problems}"));
    let mut project = Project::new(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("features"));
    project.features();
    project.module("long", &rust::module(&registry, true, true));
    let printed = project.run(
        r#"
use scratch::long::{Picture, Point};

fn random<T: for<'a> arbitrary::Arbitrary<'a>>() -> T {
    arbitrary::Unstructured::new(&[1; 1000]).arbitrary().expect("there are bytes")
}

fn main() {
    let mut picture = Picture { numbers: [-5; 40], ..random() };
    picture.points[49] = Point { x: 7, y: 9 };
    let text = serde_json::to_string(&picture).expect("it has a form");
    let value: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    let lengths = ["bytes", "ratios", "numbers", "points"].map(|name| value[name].as_array().map(Vec::len));
    println!("{lengths:?} {} {}", value["numbers"][39], value["points"][49]);
    assert_eq!(serde_json::from_str::<Picture>(&text).ok(), Some(picture));
    for (from, to) in [("[1,1,", "[1,"), ("[1,1,", "[1,1,1,")] {
        let other = text.replacen(from, to, 1);
        println!("{}", serde_json::from_str::<Picture>(&other).expect_err("another number of them"));
    }
}
"#,
    );
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines[0], r#"[Some(64), Some(33), Some(40), Some(50)] -5 {"x":7,"y":9}"#);
    assert!(lines[1].starts_with("invalid length 63, expected an array of length 64"), "{printed}");
    assert!(lines[2].starts_with("trailing characters"), "{printed}");
}
