//! The annotated dump of a packet.

use crate::codec::packet::{Kind, Outline, Packets, Part};
use crate::codec::raw;
use crate::model::{ByteOrder, Registry};

use super::super::WIDTH;
use super::super::dump::{Dump, LINE, columns};
use super::super::paint::{Ink, Paint};
use super::super::table::{Table, counted, wrap};
use super::Found;

/// How many tiles of an index are named.
const TILES: usize = 16;

/// A packet, down to its last byte.
pub(super) fn packet(
    packets: &Packets<'_>,
    registry: &Registry,
    found: &Found<'_>,
    place: &str,
    paint: Paint,
) -> String {
    let outline = packets.outline(found.bytes);
    let faults = found.fault.as_slice();
    let dump = Dump::new(registry, faults);
    let mut walk = Walk { packets, outline: &outline, dump, title: String::new(), sections: Vec::new() };
    walk.parts();
    walk.dump.rest(found.bytes.len());
    walk.heading("", "");
    let (name, doc) = outline.message.map_or(("no message", ""), |message| (&message.name, &message.doc));
    let size = counted(found.bytes.len(), "byte", "bytes");
    let facts: Vec<_> = [name, place, &size, doc].into_iter().filter(|fact| !fact.is_empty()).collect();
    let lines = wrap(&facts.join(" · "), WIDTH);
    let head = lines.join("\n").replacen(name, &paint.bold(name), 1);
    let mut out = format!("{head}\n\n");
    for (at, (title, table)) in walk.sections.iter().enumerate() {
        if at == 0 {
            out.push_str(&table.draw_head(WIDTH, 0, paint));
        }
        out.push_str(&format!("\n{}\n", paint.ink(Ink::Cyan, title)));
        out.push_str(&table.draw_body(WIDTH, 0, paint));
    }
    out
}

/// A packet on its way into tables, one for each part, so that a long name makes no other part narrow.
struct Walk<'w, 'a> {
    packets: &'w Packets<'a>,
    outline: &'w Outline<'a>,
    dump: Dump<'w>,
    /// What stands above the part that is being dumped.
    title: String,
    /// The parts before it.
    sections: Vec<(String, Table)>,
}

impl Walk<'_, '_> {
    fn parts(&mut self) {
        let outline = self.outline;
        let mut parts = outline.parts.iter();
        for part in parts.by_ref().take(1) {
            self.part(part, "header");
        }
        for part in parts {
            match part.kind {
                Kind::Layout(_) if part.name == "metadata" => self.part(part, "metadata"),
                Kind::Extra => self.part(part, ""),
                _ => self.part(part, &format!("body.{}", part.name)),
            }
        }
    }

    /// Begins another part.
    fn heading(&mut self, path: &str, what: &str) {
        let table = std::mem::replace(&mut self.dump.table, columns());
        let title = if what.is_empty() { path.to_owned() } else { format!("{path}: {what}") };
        let before = std::mem::replace(&mut self.title, title);
        if !before.is_empty() {
            self.sections.push((before, table));
        }
    }

    fn part(&mut self, part: &Part<'_>, path: &str) {
        let size = || counted(part.bytes.len(), "byte", "bytes");
        match part.kind {
            Kind::Layout(layout) => {
                self.heading(path, &layout.name);
                self.dump.fields(layout, part.bytes, part.at, "");
            }
            Kind::Extra => self.bytes(part, "(nothing names this)", Ink::Red, ""),
            _ if part.bytes.is_empty() => self.heading(path, "absent"),
            Kind::Opaque => {
                self.heading(path, &size());
                self.bytes(part, last(path), Ink::Bold, "");
            }
            Kind::Lengths(order) => self.lengths(part, last(path), order),
            Kind::Tiles => {
                self.heading(path, &size());
                let meaning = self.tiles(part);
                self.bytes(part, last(path), Ink::Bold, &meaning);
            }
            Kind::Padding => self.bytes(part, "(padding)", Ink::Dim, "zero, up to the next boundary"),
            Kind::Entry(_) => self.entry(part, path),
            Kind::Section => self.section(part, path),
            Kind::Words(item) => {
                self.heading(path, &item.name);
                for word in &part.parts {
                    self.word(word, item.words.as_slice());
                }
            }
            Kind::Word => {}
            Kind::Body(body) => {
                self.heading(path, &body.name);
                for part in &part.parts {
                    self.part(part, &format!("{path}.{}", part.name));
                }
            }
            Kind::Leading(_) => {
                part.parts.iter().for_each(|part| self.part(part, &format!("{path}.{}", part.name)))
            }
            Kind::Rows(_) | Kind::Entries(_) | Kind::Slices(_) | Kind::Sections => {
                for (at, part) in part.parts.iter().enumerate() {
                    self.part(part, &format!("{path}[{at}]"));
                }
            }
        }
    }

    /// A header, its payload and padding, under one heading where the payload is no layout of its own.
    fn entry(&mut self, part: &Part<'_>, path: &str) {
        for part in &part.parts {
            match (part.name, part.kind) {
                ("header", _) => self.part(part, path),
                ("payload", Kind::Opaque) => self.bytes(part, "payload", Ink::Bold, ""),
                ("payload", Kind::Tiles) => {
                    let meaning = self.tiles(part);
                    self.bytes(part, "payload", Ink::Bold, &meaning);
                }
                (name, _) => self.part(part, &format!("{path}.{name}")),
            }
        }
    }

    fn section(&mut self, part: &Part<'_>, path: &str) {
        for part in &part.parts {
            match part.kind {
                Kind::Layout(_) => self.part(part, path),
                Kind::Opaque => self.bytes(part, part.name, Ink::Bold, ""),
                _ => self.part(part, part.name),
            }
        }
    }

    fn tiles(&self, part: &Part<'_>) -> String {
        let ids = self.packets.tile_ids(self.outline, part.bytes, TILES + 1);
        let more = if ids.len() > TILES { ", …" } else { "" };
        let ids: Vec<_> = ids.iter().take(TILES).map(u64::to_string).collect();
        format!("tiles {}{more}", ids.join(", "))
    }

    /// Bytes without a layout.
    fn bytes(&mut self, part: &Part<'_>, name: &str, ink: Ink, meaning: &str) {
        let printable = part.bytes.iter().all(|byte| matches!(byte, b' '..=b'~'));
        let text = |line: &[u8]| match printable {
            true => format!("{:?}", String::from_utf8_lossy(line)),
            false => String::new(),
        };
        let dim = matches!(part.kind, Kind::Padding);
        self.dump.lines(
            part.bytes,
            part.at,
            (ink, name),
            &|line| if dim { String::new() } else { text(line) },
            meaning,
        );
    }

    fn lengths(&mut self, part: &Part<'_>, name: &str, order: ByteOrder) {
        let text = |line: &[u8]| {
            let each: Vec<_> = line.chunks(4).map(|length| raw(length, order).to_string()).collect();
            each.join(", ")
        };
        self.dump.lines(part.bytes, part.at, (Ink::Bold, name), &text, "bytes of each tile");
    }

    fn word(&mut self, part: &Part<'_>, words: &[(String, String)]) {
        for part in &part.parts {
            let doc = words.iter().find(|(word, _)| word.as_bytes() == part.bytes).map_or("", |(_, doc)| doc);
            match part.name {
                "length" => {
                    let order = self.dump.registry.protocol.byte_order;
                    let number = |bytes: &[u8]| raw(bytes, order).to_string();
                    self.dump.lines(part.bytes, part.at, (Ink::Bold, "length"), &number, "");
                }
                name => self.bytes(part, name, Ink::Bold, doc),
            }
        }
    }
}

/// The last name of a path.
fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

const _: () = assert!(LINE.is_multiple_of(4), "a line holds whole lengths of tiles");
