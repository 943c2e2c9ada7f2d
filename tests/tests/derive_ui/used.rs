//! Code that uses what a derive refused.

use std::fmt::Write;

/// What the name of a case gets where it is used.
pub const SUFFIX: &str = "_used";

/// The case with uses of all that was refused, if anything was: `errors` is what is said of it. In a case called
/// `profile_…` only profiles are.
pub fn used(name: &str, case: &str, errors: &str) -> Option<String> {
    let refused: Vec<usize> = errors.lines().filter_map(refused).collect();
    let mut out = String::new();
    for item in items(case) {
        let first = case[..item.start].lines().count() + 1;
        let last = first + item.text.lines().count();
        if !refused.iter().any(|line| (first..last).contains(line)) {
            continue;
        }
        if item.derives("Layout") && !name.starts_with("profile_") {
            layout(&item, &mut out);
        }
        if item.derives("WireEnum") {
            enumeration(&item, &mut out);
        }
        if item.derives("ProfileDescriptor") {
            profile(&item, &mut out);
        }
    }
    (!out.is_empty()).then(|| format!("{case}\n{out}"))
}

/// The line of an error of ours.
fn refused(line: &str) -> Option<usize> {
    let (place, _) = line.split_once(": ")?;
    let (line, columns) = place.split_once(':')?;
    columns.contains('-').then_some(())?;
    line.parse().ok()
}

/// An item that derives.
struct Item<'a> {
    /// Where it starts.
    start: usize,
    text: &'a str,
}

fn items(case: &str) -> Vec<Item<'_>> {
    let starts = case.match_indices("#[derive(").map(|(start, _)| start);
    let items = starts.map(|start| {
        let text = &case[start..];
        let ends = [text.find("\n}\n").map(|at| at + 3), text.find(";\n").map(|at| at + 2)];
        // What has fields ends with a brace, what has none with a semicolon.
        let end = ends.into_iter().flatten().min().unwrap_or(text.len());
        Item { start, text: &text[..end] }
    });
    items.collect()
}

impl Item<'_> {
    fn derives(&self, name: &str) -> bool {
        let list = self.text.lines().next().unwrap_or_default();
        list.split(|letter: char| !letter.is_alphanumeric()).any(|word| word == name)
    }

    /// Its name, and its type with parameters.
    fn name(&self) -> (&str, String) {
        let words = ["struct ", "enum ", "union "];
        let behind = words.iter().filter_map(|word| {
            let at =
                self.text.find(&format!("\n{word}")).or_else(|| self.text.find(&format!("\npub {word}")))?;
            self.text[at + 1..].split_once(word).map(|(_, behind)| behind)
        });
        let behind = behind.into_iter().next().expect("an item");
        let name = behind
            .split(|letter: char| !letter.is_alphanumeric() && letter != '_')
            .next()
            .unwrap_or_default();
        let ty = match behind[name.len()..].starts_with('<') {
            true if behind[name.len()..].starts_with("<'") => format!("{name}<'static>"),
            true => format!("{name}<u8>"),
            false => name.to_owned(),
        };
        (name, ty)
    }

    fn fields(&self) -> Vec<&str> {
        let names = self.text.lines().filter_map(|line| {
            let (name, _) = line.strip_prefix("    ")?.trim_start_matches("pub ").split_once(": ")?;
            name.chars().all(|letter| letter.is_alphanumeric() || letter == '_').then_some(name)
        });
        names.collect()
    }
}

fn layout(item: &Item<'_>, out: &mut String) {
    let (name, ty) = item.name();
    let fields = item.fields();
    let getters: String = fields.iter().map(|field| format!("let _ = view.{field}().clone();")).collect();
    let offsets = fields.iter().map(|field| format!("bytes[<{ty}>::{}_OFFSET] = 1;", field.to_uppercase()));
    let offsets: String = offsets.collect();
    let mutable = if item.text.contains("view_mut") {
        format!("fn changes_{name}(mut bytes: {name}Mut<'_>) {{ bytes.update(|_| {{}}).unwrap(); }}")
    } else {
        String::new()
    };
    write!(
        out,
        r#"
const SIZE_OF_{name}: usize = <{ty}>::SIZE;

const _: () = assert!(<{ty}>::SIZE == 3);

fn reads_{name}(bytes: &[u8]) -> Result<{ty}, nnrp_core::wire::Fault> {{
    let view = <{ty}>::view(bytes)?;
    {getters}
    if view.as_bytes() == &[0; SIZE_OF_{name}] {{
        return Ok(view.to_owned());
    }}
    <{ty}>::decode(bytes)
}}

fn writes_{name}(value: &{ty}, bytes: &mut [u8]) -> Result<(), nnrp_core::wire::Fault> {{
    value.validate()?;
    {offsets}
    let array = value.to_bytes()?;
    for byte in array {{
        println!("{{byte:02x}}");
    }}
    value.encode_into(&mut bytes[..<{ty}>::SIZE])?;
    <{ty}>::view_mut(bytes)?;
    let buffer = [0u8; <{ty}>::SIZE];
    assert_eq!(<{ty}>::NAME.len(), buffer.len());
    for field in &<{ty}>::FIELDS {{
        println!("{{}}", field.name);
    }}
    Ok(())
}}

fn holds_{name}(view: {name}View<'_>, wire: &{name}Wire) -> bool {{
    {name}View::new(view.as_bytes()).is_ok() && size_of_val(wire) == 3
}}

{mutable}

fn any_{name}<L: nnrp_core::Layout>(bytes: &[u8]) -> bool {{
    L::view(bytes).is_ok() && L::SIZE == bytes.len()
}}

fn is_any_{name}() -> bool {{
    any_{name}::<{ty}>(&[])
}}

#[derive(nnrp_core::Layout)]
#[layout(view_mut)]
struct Around{name} {{
    #[layout(layout = 7)]
    one: {ty},
    #[layout(layout = 7)]
    more: [{ty}; 2],
}}
"#
    )
    .unwrap();
}

fn enumeration(item: &Item<'_>, out: &mut String) {
    let (name, ty) = item.name();
    write!(
        out,
        r#"
fn knows_{name}(value: {ty}) -> bool {{
    use nnrp_core::WireEnum as _;
    let again = <{ty}>::from_raw(value.raw());
    let listed = <{ty}>::NAMES.iter().any(|(name, number)| Some(*name) == value.name() && *number == 1);
    again.is_some() && listed && <{ty}>::accepts(1) && <{ty}>::NAME.is_empty()
}}

fn any_{name}<E: nnrp_core::WireEnum>(raw: E::Raw) -> Option<E> {{
    E::from_raw(raw)
}}

fn is_any_{name}() -> Option<{ty}> {{
    any_{name}(1)
}}

#[derive(nnrp_core::Layout)]
#[layout(view_mut, rule(id = "U1", when = "one == nowhere", require = "rate == 0"))]
struct Around{name} {{
    #[layout(enum = u8)]
    one: {ty},
    rate: u32,
}}

fn gets_{name}(around: Around{name}, view: Around{name}View<'_>) -> {ty} {{
    match around.validate() {{
        Ok(()) => around.one,
        Err(_) => view.one(),
    }}
}}
"#
    )
    .unwrap();
}

fn profile(item: &Item<'_>, out: &mut String) {
    let (name, ty) = item.name();
    write!(
        out,
        r#"
const PROFILE_OF_{name}: nnrp_core::ProfileId = <{ty} as nnrp_core::ProfileDescriptor>::PROFILE_ID;

fn pushes_{name}(value: &{ty}) -> Result<u32, Box<dyn std::error::Error>> {{
    use nnrp_core::ProfileDescriptor as _;
    let mut payloads = Vec::new();
    let descriptor = value.push_payload(nnrp_core::DescriptorFlags::TERMINAL, b"data", 0, &mut payloads)?;
    let (view, data) = <{ty}>::read_payload(&descriptor, &payloads)?;
    println!("{{view:?}} {{data:?}} {{}} {{:?}}", <{ty}>::description(), <{ty}>::SCHEMA_BODY);
    let header = <{ty}>::schema_descriptor_header();
    Ok(header.schema_version + <{ty}>::SCHEMA_VERSION + <{ty}>::SCHEMA_BODY.len() as u32)
}}

fn described_{name}<P: nnrp_core::ProfileDescriptor>() -> u64 {{
    P::SCHEMA_HASH
}}

fn is_described_{name}() -> u64 {{
    described_{name}::<{ty}>()
}}
"#
    )
    .unwrap();
}
