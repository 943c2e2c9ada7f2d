//! What a good packet is made of, piece by piece: as the C program tells it, and as it should.

use nnrp_gen::codec::packet::{Kind, Outline, Part};
use nnrp_gen::model::{Content, Registry, Segment};

use crate::driver::member;

/// First byte and size of a piece; what is empty is nowhere.
pub type Piece = (u32, u32);

/// The function of the C program that walks a packet.
pub fn source(registry: &Registry) -> String {
    let mut out = String::from(
        "static void walk(const struct N(packet) *packet)\n{\n    const uint8_t *start = packet->header.data;\n\n    (void)start;\n    switch (packet->message) {\n",
    );
    for message in registry.messages.iter().filter(|message| !message.segments.is_empty()) {
        let name = &message.name;
        let mut steps = format!("struct N({name}_body) body;\n\nN({name}_body_split)(packet, &body);\n");
        for segment in &message.segments {
            let member = member(&segment.name);
            steps.push_str(&format!("piece(start, body.{member});\n"));
            if segment.cases.is_empty() {
                steps.push_str(&content(registry, segment.content, &format!("body.{member}")));
            }
        }
        let steps = steps.replace('\n', "\n        ");
        out.push_str(&format!(
            "    case U(MESSAGE_{}): {{\n        {}\n        break;\n    }}\n",
            name.to_uppercase(),
            steps.trim_end()
        ));
    }
    out + "    default:\n        break;\n    }\n}\n\n"
}

/// The statements that walk what a piece holds.
fn content(registry: &Registry, content: Content, piece: &str) -> String {
    match content {
        Content::Opaque => String::new(),
        Content::Layout(layout) => {
            let size = registry.layouts[layout].size;
            format!(
                "{{\n    N(bytes) rest = {piece};\n    N(bytes) row;\n\n    while (N(next_row)(&rest, {size}, &row)) {{\n        piece(start, row);\n    }}\n}}\n"
            )
        }
        Content::Entry(entry) => {
            let name = &registry.entries[entry].name;
            format!(
                "{{\n    N(bytes) rest = {piece};\n    struct N({name}) entry;\n\n    while (N({name}_next)(&rest, &entry)) {{\n        piece(start, entry.header);\n        piece(start, entry.payload);\n    }}\n}}\n"
            )
        }
        Content::Vocabulary(words) => {
            let name = &registry.vocabularies[words].name;
            format!(
                "{{\n    N(bytes) rest = {piece};\n    N(bytes) word;\n\n    while (N({name}_next)(&rest, &word)) {{\n        piece(start, word);\n    }}\n}}\n"
            )
        }
        Content::Body(body) => {
            let body = &registry.bodies[body];
            let name = &body.name;
            let mut steps = format!(
                "struct N({name}) parts;\n\nN({name}_split)({piece}, &parts);\npiece(start, parts.prelude);\n"
            );
            for part in &body.parts {
                let part_member = member(&part.name);
                steps.push_str(&format!("piece(start, parts.{part_member});\n"));
                match &part.slices {
                    Some(slices) => steps.push_str(&format!(
                        "{{\n    N(bytes) rows = parts.{};\n    N(bytes) row;\n    N(bytes) slice;\n\n    while (N({name}_{}_next)(&parts, &rows, &row, &slice)) {{\n        piece(start, slice);\n    }}\n}}\n",
                        member(&body.parts[slices.rows].name), part.name
                    )),
                    None => steps.push_str(&self::content(registry, part.content, &format!("parts.{part_member}"))),
                }
            }
            format!("if ({piece}.size > 0) {{\n    {}\n}}\n", steps.trim_end().replace('\n', "\n    "))
        }
    }
}

/// The same, from the registry-driven codec.
pub fn expected(segments: &[Segment], outline: &Outline<'_>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let metadata = outline.parts.iter().find(|part| part.name == "metadata");
    pieces.push(place(&outline.parts[0]));
    pieces.push(metadata.map_or((0, 0), place));
    let parts = outline.parts.iter().skip(1 + usize::from(metadata.is_some()));
    for (segment, part) in segments.iter().zip(parts) {
        pieces.push(place(part));
        if segment.cases.is_empty() {
            inside(part, &mut pieces);
        }
    }
    pieces
}

fn place(part: &Part<'_>) -> Piece {
    if part.bytes.is_empty() { (0, 0) } else { (part.at as u32, part.bytes.len() as u32) }
}

fn inside(part: &Part<'_>, pieces: &mut Vec<Piece>) {
    match part.kind {
        Kind::Rows(_) | Kind::Slices(_) => pieces.extend(part.parts.iter().map(place)),
        Kind::Entries(_) => {
            for entry in &part.parts {
                pieces.extend(["header", "payload"].map(|name| entry.part(name).map_or((0, 0), place)));
            }
        }
        Kind::Words(_) => {
            pieces.extend(part.parts.iter().map(|word| word.part("word").map_or((0, 0), place)));
        }
        Kind::Body(_) => {
            for part in &part.parts {
                pieces.push(place(part));
                inside(part, pieces);
            }
        }
        _ => {}
    }
}
