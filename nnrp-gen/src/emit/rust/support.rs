//! The support module as text, for modules that stand alone.

use super::text::indent;

/// Modules with their text, each named by a line of the module above.
macro_rules! files {
    ($folder:literal $($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../wire/", $folder, $name, ".rs")))),*]
    };
}

const WIRE: &str = include_str!("../../wire/mod.rs");
const WIRE_PARTS: &[(&str, &str)] = files!("" "bytes" "fault" "field" "layout" "value" "write");
const BODY: &str = include_str!("../../wire/body/mod.rs");
const BODY_PARTS: &[(&str, &str)] =
    files!("body/" "entries" "order" "select" "slices" "slots" "tensor" "tiles" "words");

/// The module, with or without the part for protocols that have messages.
pub(super) fn text(bodies: bool) -> String {
    let wire = nest(WIRE, WIRE_PARTS);
    let wire = match bodies {
        true => nest(&wire, &[("body", &nest(BODY, BODY_PARTS))]),
        false => wire.replace("\npub mod body;\n", ""),
    };
    nest("pub mod wire;\n\n", &[("wire", &wire)])
}

/// A module with its parts where it names them.
fn nest(text: &str, parts: &[(&str, &str)]) -> String {
    let put = |text: String, (name, part): &(&str, &str)| {
        text.replace(&format!("mod {name};\n"), &format!("mod {name} {{\n{}}}\n", indent(part)))
    };
    parts.iter().fold(text.to_owned(), put)
}
