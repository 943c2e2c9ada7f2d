//! Packets that are almost good.

use nnrp_gen::codec::packet::{Kind, Packets, Part};
use nnrp_gen::codec::{Value, bytes_as_hex, raw};
use nnrp_gen::model::{Layout, Message, Role};

use crate::parts::put;
use crate::random::Random;

/// A number of a packet: where its layout starts, and which field of it it is.
type Place<'a> = (usize, &'a Layout, usize);

/// A packet, changed in one of many ways, or in several.
pub fn mutated(packets: &Packets<'_>, packet: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = packet.to_vec();
    for _ in 0..=random.below(3) {
        change(packets, &mut bytes, random);
    }
    // Most get past the header, to where the interesting faults are.
    if random.below(8) > 0 {
        fix_lengths(packets, &mut bytes);
    }
    bytes
}

fn change(packets: &Packets<'_>, bytes: &mut Vec<u8>, random: &mut Random) {
    if bytes.is_empty() {
        return;
    }
    let at = random.below(bytes.len());
    match random.below(10) {
        0 => bytes[at] ^= 1 << random.below(8),
        1 => bytes[at] = *random.pick(&[0, 1, 2, 0x7f, 0x80, 0xff]),
        2 => bytes.truncate(at),
        3 => {
            let more = 1 + random.below(40);
            let more = if random.below(2) == 0 { vec![0; more] } else { random.bytes(more) };
            bytes.extend(more);
        }
        4 => {
            // A stretch that is gone, or stands twice.
            let end = (at + 1 + random.below(32)).min(bytes.len());
            let stretch = bytes[at..end].to_vec();
            if random.below(2) == 0 {
                bytes.drain(at..end);
            } else {
                bytes.splice(at..at, stretch);
            }
        }
        _ => number(packets, bytes, random),
    }
}

/// Changes a number to one that lengths and counts have trouble with.
fn number(packets: &Packets<'_>, bytes: &mut [u8], random: &mut Random) {
    let copy = bytes.to_vec();
    let mut places = Vec::new();
    for part in &packets.outline(&copy).parts {
        numbers(part, &mut places);
    }
    if places.is_empty() {
        return;
    }
    let (base, layout, field) = *random.pick(&places);
    let Some(place) = bytes.get_mut(base..base + layout.size as usize) else { return };
    let old = raw(&place[layout.fields[field].range()], layout.byte_order);
    let new = *random.pick(&[
        0,
        1,
        old.wrapping_add(1),
        old.wrapping_sub(1),
        old.wrapping_add(8),
        old.wrapping_mul(2),
        old ^ 1 << (random.clone().number() % 16),
        u64::from(u32::MAX),
        u64::MAX,
        random.clone().number() % 64,
    ]);
    put(layout, field, new, place);
}

fn numbers<'a>(part: &Part<'a>, places: &mut Vec<Place<'a>>) {
    if let Kind::Layout(layout) = part.kind {
        let fields = layout.fields.iter().enumerate();
        let scalars = fields.filter(|(_, field)| field.scalar().is_some_and(|scalar| scalar.is_integer()));
        places.extend(scalars.map(|(field, _)| (part.at, layout, field)));
    }
    part.parts.iter().for_each(|part| numbers(part, places));
}

/// Makes the header's lengths what is there.
pub fn fix_lengths(packets: &Packets<'_>, bytes: &mut [u8]) {
    let layout = packets.header();
    let size = layout.size as usize;
    let with = |role| layout.fields.iter().position(|field| field.role == Some(role));
    let (Some(metadata), Some(body)) = (with(Role::MetadataLength), with(Role::BodyLength)) else { return };
    let length = bytes.len();
    let Some(header) = bytes.get_mut(..size) else { return };
    let declared = raw(&header[layout.fields[metadata].range()], layout.byte_order);
    if let Some(left) = ((length - size) as u64).checked_sub(declared) {
        put(layout, body, left, header);
    }
}

/// A packet with other values than those, whose lengths are right all the same. Nothing where they do not fit it.
pub fn revalued(
    packets: &Packets<'_>,
    message: &Message,
    value: &Value,
    random: &mut Random,
) -> Option<Vec<u8>> {
    let mut value = value.clone();
    let places = places(&value);
    for _ in 0..=random.below(2) {
        let place = random.below(places.max(1));
        other(at(&mut value, &mut { place })?, random);
    }
    packets.assemble(message, &value).ok()
}

/// How many values there are in one.
fn places(value: &Value) -> usize {
    1 + match value {
        Value::List(list) => list.iter().map(places).sum(),
        Value::Struct(fields) => fields.iter().map(|(_, value)| places(value)).sum::<usize>(),
        _ => 0,
    }
}

fn at<'v>(value: &'v mut Value, place: &mut usize) -> Option<&'v mut Value> {
    if *place == 0 {
        return Some(value);
    }
    *place -= 1;
    match value {
        Value::List(list) => list.iter_mut().find_map(|value| at(value, place)),
        Value::Struct(fields) => fields.iter_mut().find_map(|(_, value)| at(value, place)),
        _ => None,
    }
}

fn other(value: &mut Value, random: &mut Random) {
    let size = random.below(40);
    let hex = |random: &mut Random| Value::Text(bytes_as_hex(&random.bytes(size)));
    match value {
        Value::List(list) if !list.is_empty() => {
            let (one, two) = (random.below(list.len()), random.below(list.len()));
            match random.below(5) {
                0 => list.swap(one, two),
                1 => list[two] = list[one].clone(),
                2 => list.push(list[one].clone()),
                3 => drop(list.remove(one)),
                _ => list.reverse(),
            }
        }
        Value::Struct(fields) if fields.is_empty() || random.below(3) == 0 => *value = hex(random),
        Value::Struct(fields) => {
            let at = random.below(fields.len());
            fields.remove(at);
        }
        Value::Text(text) if text.starts_with("0x") => *value = hex(random),
        Value::Bytes(bytes) => *bytes = random.bytes(bytes.len()),
        Value::List(_) => {}
        _ => {
            let small = random.number() % 5;
            *value = Value::Unsigned(*random.pick(&[0, 1, small, 255, 0x8001, random.clone().number()]));
        }
    }
}
