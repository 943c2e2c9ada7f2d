//! A registry of every kind of field, in both byte orders.

use super::*;
use crate::model::{Layout, Registry};
use crate::wire::FaultKind;

const REGISTRY: &str = r#"
[protocol]
name = "sample"
byte_order = "big"

[[enum]]
name = "color"
type = "u8"
doc = "A color."
values = [{ value = 1, name = "red" }, { value = 2, name = "green" }]
ranges = [{ from = 0x80, to = 0x8f, name = "private" }]

[[bitmask]]
name = "marks"
type = "u8"
doc = "Marks."
bits = [{ bit = 0, name = "low" }, { bit = 7, name = "high" }]

[[layout]]
name = "point"
size = 8
doc = "A point."
fields = [
  { offset = 0, name = "tag", type = "[u8; 2]", const = "pt" },
  { offset = 2, name = "x", type = "i16" },
  { offset = 4, name = "y", type = "i16" },
  { offset = 6, name = "pad", type = "u16", reserved = true },
]
rules = [{ id = "P1", require = "x <= y", doc = "Points lie above the diagonal." }]

[[layout]]
name = "shape"
size = 64
byte_order = "little"
doc = "All kinds of fields."
fields = [
  { offset = 0, name = "magic", type = "u16", const = 0x1234 },
  { offset = 2, name = "color", type = "u16", enum = "color" },
  { offset = 4, name = "marks", type = "u16", bitmask = "marks" },
  { offset = 6, name = "filled", type = "u16", bool = true },
  { offset = 8, name = "single", type = "f32" },
  { offset = 12, name = "words", type = "[u16; 2]" },
  { offset = 16, name = "double", type = "f64" },
  { offset = 24, name = "text", type = "[u8; 8]" },
  { offset = 32, name = "center", type = "point" },
  { offset = 40, name = "corners", type = "[point; 2]" },
  { offset = 56, name = "big", type = "u64" },
]
rules = [
  { id = "S1", when = "filled", require = "marks.high", doc = "Filled shapes are marked high." },
  { id = "S2", require = "big != 7", doc = "Seven is unlucky." },
]
"#;

fn registry() -> Registry {
    let loaded = crate::load_texts([("sample.toml", REGISTRY)]);
    loaded.into_result().unwrap_or_else(|problems| panic!("{problems}"))
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn object(fields: &[(&str, Value)]) -> Value {
    Value::Struct(fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect())
}

fn bits(names: &[&str]) -> Value {
    Value::Bits { names: names.iter().map(|name| (*name).to_owned()).collect(), unknown: 0 }
}

fn point(x: i64, y: i64) -> Value {
    object(&[("x", Value::Signed(x)), ("y", Value::Signed(y))])
}

/// A value of every field, as decoding gives it.
fn shape() -> Value {
    object(&[
        ("color", text("green")),
        ("marks", bits(&["low", "high"])),
        ("filled", Value::Bool(true)),
        ("single", Value::F32(0x7fc0_0001)),
        ("words", Value::List(vec![Value::Unsigned(1), Value::Unsigned(0xfffe)])),
        ("double", Value::F64((-0.0f64).to_bits())),
        ("text", Value::Bytes(b"0xbytes!".to_vec())),
        ("center", point(-2, -1)),
        ("corners", Value::List(vec![point(1, 2), point(i64::from(i16::MIN), i64::from(i16::MAX))])),
        ("big", Value::Unsigned(u64::MAX)),
    ])
}

#[test]
fn there_and_back() {
    let registry = registry();
    let layout = registry.layout("shape").unwrap();
    let bytes = encode(&registry, layout, &shape()).unwrap();
    let expected = [
        "3412 0200 8100 0100 0100c07f 0100feff 0000000000000080 3078627974657321",
        "7074 fffe ffff 0000 7074 0001 0002 0000 7074 8000 7fff 0000 ffffffffffffffff",
    ];
    let expected = format!("0x{}", expected.concat().replace(' ', ""));
    assert_eq!(bytes, bytes_of_text(&expected).unwrap());
    assert_eq!(decode(&registry, layout, &bytes), Ok(shape()));
    assert_eq!(lenient(&registry, layout, &bytes), Lenient { value: shape(), faults: Vec::new() });
}

/// Good bytes of the shape with some replaced.
fn changed(registry: &Registry, layout: &Layout, changes: &[(usize, u8)]) -> Vec<u8> {
    let mut bytes = encode(registry, layout, &shape()).unwrap();
    for (at, byte) in changes {
        bytes[*at] = *byte;
    }
    bytes
}

#[test]
fn faults_come_in_order() {
    let registry = registry();
    let layout = registry.layout("shape").unwrap();
    // From the last to be blamed to the first; each is made on top of those before.
    let steps: &[(usize, u8, FaultKind, &str, usize)] = &[
        (5, 0x40, FaultKind::UnknownBits, "byte 4: `shape.marks` has bits set that are not known", 4),
        (4, 0x01, FaultKind::UnknownBits, "byte 4: `shape.marks` has bits set that are not known", 4),
        (2, 0x03, FaultKind::UnknownValue, "byte 2: `shape.color` has a value that is not known", 2),
        (1, 0x13, FaultKind::Constant, "byte 0: `shape.magic` is not the constant that it must be", 0),
    ];
    let mut changes = Vec::new();
    for (at, byte, kind, sentence, offset) in steps {
        changes.push((*at, *byte));
        let fault = decode(&registry, layout, &changed(&registry, layout, &changes)).unwrap_err();
        assert_eq!((fault.kind, fault.to_string().as_str(), fault.offset), (*kind, *sentence, *offset));
    }
    let all = faults(&registry, layout, &changed(&registry, layout, &changes));
    let kinds: Vec<_> = all.iter().map(|fault| (fault.offset, fault.kind)).collect();
    let expected = [
        (0, FaultKind::Constant),
        (2, FaultKind::UnknownValue),
        (4, FaultKind::UnknownBits),
        // The high mark is gone and the shape is filled.
        (4, FaultKind::Rule),
    ];
    assert_eq!(kinds, expected);
}

#[test]
fn inner_layouts_are_checked_wholly_at_their_place() {
    let registry = registry();
    let layout = registry.layout("shape").unwrap();
    let sentence = |changes: &[(usize, u8)]| {
        decode(&registry, layout, &changed(&registry, layout, changes)).unwrap_err().to_string()
    };
    // The rule of the first corner comes before the constant of the second, and before the outer rules.
    let rule = "byte 42: `point.x` breaks rule P1: Points lie above the diagonal";
    assert_eq!(sentence(&[(42, 0x7f), (48, 0), (4, 1)]), rule);
    assert_eq!(sentence(&[(48, 0), (4, 1)]), "byte 48: `point.tag` is not the constant that it must be");
    assert_eq!(sentence(&[(39, 1)]), "byte 38: `point.pad` is reserved and must be zero");
    assert_eq!(sentence(&[(4, 1)]), "byte 4: `shape.marks` breaks rule S1: Filled shapes are marked high");
    let seven = [(56, 7), (57, 0), (58, 0), (59, 0), (60, 0), (61, 0), (62, 0), (63, 0)];
    assert_eq!(sentence(&seven), "byte 56: `shape.big` breaks rule S2: Seven is unlucky");
}

#[test]
fn lengths_are_exact() {
    let registry = registry();
    let layout = registry.layout("shape").unwrap();
    let bytes = encode(&registry, layout, &shape()).unwrap();
    for length in 0..bytes.len() {
        let fault = decode(&registry, layout, &bytes[..length]).unwrap_err();
        assert_eq!((fault.kind, fault.offset, fault.field.as_str()), (FaultKind::TooShort, length, ""));
        let Lenient { value: Value::Struct(read), faults } = lenient(&registry, layout, &bytes[..length])
        else {
            panic!("no fields");
        };
        assert_eq!(faults.len(), 1, "{faults:?}");
        let there = layout.values().filter(|field| field.range().end <= length).count();
        assert_eq!(read.len(), there);
    }
    let longer = [bytes, vec![0, 1]].concat();
    let fault = decode(&registry, layout, &longer).unwrap_err();
    assert_eq!(fault.to_string(), "byte 64: `shape` goes on too long");
    assert_eq!(lenient(&registry, layout, &longer).value, shape());
}

#[test]
fn lenient_shows_what_is_wrong_and_encoding_it_says_the_same() {
    let registry = registry();
    let layout = registry.layout("shape").unwrap();
    let bytes = changed(&registry, layout, &[(0, 0), (2, 0x33), (5, 1), (6, 9), (38, 1)]);
    let Lenient { value, faults } = lenient(&registry, layout, &bytes);
    assert_eq!(value.get("magic"), Some(&Value::Unsigned(0x1200)));
    assert_eq!(value.get("color"), Some(&Value::Unsigned(0x33)));
    assert_eq!(value.get("filled"), Some(&Value::Unsigned(9)));
    assert_eq!(
        value.get("marks"),
        Some(&Value::Bits { names: vec!["low".into(), "high".into()], unknown: 0x100 })
    );
    assert_eq!(value.get("center").and_then(|center| center.get("pad")), Some(&Value::Unsigned(0x100)));
    assert_eq!(encode(&registry, layout, &value), Err(EncodeError::Fault(faults[0].clone())));
}

#[test]
fn what_is_left_out_is_zero_or_constant() {
    let registry = registry();
    let layout = registry.layout("shape").unwrap();
    let bytes = encode(&registry, layout, &object(&[("color", Value::Unsigned(0x80))])).unwrap();
    assert_eq!(bytes[..4], [0x34, 0x12, 0x80, 0]);
    assert_eq!(bytes[32..34], *b"pt");
    assert_eq!(bytes[48..50], *b"pt");
    // Constants may be said, as long as they are right.
    let said = object(&[("color", text("red")), ("magic", Value::Unsigned(0x1234))]);
    assert!(encode(&registry, layout, &said).is_ok());
    let wrong = object(&[("color", text("red")), ("magic", Value::Unsigned(1))]);
    let error = encode(&registry, layout, &wrong).unwrap_err().to_string();
    assert_eq!(error, "byte 0: `shape.magic` is not the constant that it must be");
}

#[test]
fn other_forms_say_the_same() {
    let registry = registry();
    let layout = registry.layout("shape").unwrap();
    let forms: &[(&str, Value, &str, Value)] = &[
        ("color", text("0x81"), "color", Value::Unsigned(0x81)),
        ("color", Value::Unsigned(2), "color", text("green")),
        ("marks", Value::Unsigned(0x81), "marks", bits(&["low", "high"])),
        ("marks", Value::List(vec![text("high"), Value::Unsigned(1)]), "marks", bits(&["low", "high"])),
        ("marks", text("low | high"), "marks", bits(&["low", "high"])),
        ("filled", Value::Unsigned(0), "filled", Value::Bool(false)),
        ("single", Value::F64(0.1f64.to_bits()), "single", Value::F32(0.1f32.to_bits())),
        ("single", text("0x7f800000"), "single", Value::F32(f32::INFINITY.to_bits())),
        ("double", Value::Signed(-3), "double", Value::F64((-3f64).to_bits())),
        ("text", text("0x3031323334353637"), "text", text("01234567")),
        ("text", Value::List(vec![Value::Unsigned(b'a'.into()); 8]), "text", text("aaaaaaaa")),
        ("big", text("0xff"), "big", Value::Unsigned(255)),
    ];
    for (one, value, other, same) in forms {
        let with = |name: &str, value: &Value| {
            let fields = [("color", text("red")), (name, value.clone())];
            encode(&registry, layout, &object(if name == "color" { &fields[1..] } else { &fields }))
        };
        assert_eq!(with(one, value), with(other, same), "{one}: {value:?}");
        assert!(with(one, value).is_ok(), "{one}: {value:?}");
    }
}

#[test]
fn problems_name_their_place() {
    let registry = registry();
    let layout = registry.layout("shape").unwrap();
    let corners = Value::List(vec![point(0, 0), object(&[("z", Value::Unsigned(1)), ("y", text("up"))])]);
    let value = object(&[
        ("colour", text("red")),
        ("color", text("gren")),
        ("marks", Value::List(vec![text("hih")])),
        ("filled", text("yes")),
        ("single", Value::F64(1e300f64.to_bits())),
        ("words", Value::List(vec![Value::Unsigned(1)])),
        ("double", text("nan")),
        ("text", text("short")),
        ("corners", corners),
        ("center", Value::Unsigned(1)),
        ("big", Value::Signed(-1)),
    ]);
    let error = encode(&registry, layout, &value).unwrap_err().to_string();
    let expected = "\
`colour`: no field of `shape` is called so; did you mean `color`?
`color`: `gren` is no value of `color`; did you mean `green`?
`marks`: `hih` is no bit of `marks`; did you mean `high`?
`filled`: text, where true or false is wanted
`single`: 1e300 does not fit f32
`words`: 1 value, where 2 are wanted
`double`: text, where a number of type f64 is wanted; or its bits as text, `0x` and 16 digits
`text`: 5 bytes, where 8 are wanted
`corners[1].z`: no field of `point` is called so; did you mean `x`?
`corners[1].y`: text, where a number of type i16 is wanted
`center`: a number, where the fields of `point` are wanted
`big`: -1 does not fit u64; it takes 0 to 18446744073709551615";
    assert_eq!(error, expected);
}

#[test]
fn text_is_bytes_and_hex() {
    for bytes in [&b"IHDR"[..], b"", b"0x", b"0xff", b"a\n", b"\xff", b"x0", "\u{e9}".as_bytes()] {
        assert_eq!(bytes_of_text(&bytes_as_text(bytes)).as_deref(), Ok(bytes));
    }
    assert_eq!(bytes_of_text("0xfg").unwrap_err(), "`g` is no hex digit");
    assert_eq!(bytes_of_text("0xfff").unwrap_err(), "the last byte has only one digit");
}
