//! Tensor sections and tile indexes: B9.

use nnrp_core::build::{ResultBuilder, SectionTable, SubmitBuilder, Tiles};
use nnrp_core::wire::FaultKind;
use nnrp_core::*;

use super::samples::{frame_submit, of_session};
use super::vector::{Bad, Good, Vector, rules};

/// Where the first inline object of a submit starts, and what is in it.
const OBJECT: usize = 112 + 32;
const START: usize = OBJECT + 16;

const SECTION: &str = "tensor_section_descriptor";

fn role(role_id: u16) -> TensorSectionDescriptor {
    TensorSectionDescriptor { role_id, codec_id: 5, ..TensorSectionDescriptor::default() }
}

fn good(builder: &SubmitBuilder) -> Good {
    Good::bytes(builder.to_vec(&of_session()).expect("it is good"))
}

/// Two tiles without an index, and two sections: one with codecs and a length each, 2 + 8 + 7 bytes behind its
/// descriptor, and behind 7 bytes of padding one with a stride of 4.
fn two_sections() -> Good {
    let table = SectionTable::new().sized(role(1), &[8, 9], [b"abc".as_slice(), b"defg"]).fixed(
        role(4),
        &[],
        4,
        b"hijklmno",
    );
    good(&SubmitBuilder::new(frame_submit()).tiles(&Tiles::Range { base: 100, count: 2 }).sections(table))
}

/// Where the second section starts.
const SECOND: usize = START + 32 + 17 + 7;

fn indexed(tiles: &Tiles<'_>) -> Good {
    good(&SubmitBuilder::new(frame_submit()).tiles(tiles))
}

rules! {
    b9_sections_are_aligned_ordered_and_whole,
    b9_a_tile_index_has_the_form_of_its_mode,
    b9_a_result_has_sections_too,
}

/// Sections are whole, aligned, in order, and their tables fit the tiles.
fn b9_sections_are_aligned_ordered_and_whole() -> Vec<Vector> {
    let good = two_sections();
    let put = |at: usize, bytes: &[u8]| good.put(at, bytes);
    let length = |bad: Bad, field, at| bad.length("B9.1", SECTION, field, at);
    let reserved = |at: usize| put(at, &[1]).faults(FaultKind::Reserved, "B9.1", SECTION, "", at);
    // Another size for the object: the table loses its last bytes, or has more.
    let end = good.as_bytes().len();
    let size = end - START;
    let resized = |object: usize, by: i64| {
        let object_bytes = (object as i64 + by) as u8;
        let padded = (object_bytes as usize).next_multiple_of(8);
        let table = &good.as_bytes()[START..];
        let table: Vec<u8> = table.iter().copied().chain([0; 64]).take(object_bytes.into()).collect();
        let padding = vec![0; padded - table.len()];
        let bad = good.splice(START, size, &[table, padding].concat());
        bad.put(OBJECT + 8, &[object_bytes]).put(112, &[(16 + padded) as u8])
    };
    // The table is 56 + 32 + 8 = 96 bytes.
    assert_eq!(size, 96);
    vec![
        reserved(START + 49),
        reserved(START + 55),
        resized(96, -47).faults(FaultKind::TooShort, "B9.1", SECTION, "", START + 49),
        resized(96, -41).faults(FaultKind::TooShort, "B9.1", SECTION, "", START + 55),
        resized(96, -40).faults(FaultKind::TooShort, "", SECTION, "", SECOND),
        resized(96, -9).faults(FaultKind::TooShort, "", SECTION, "", SECOND + 31),
        resized(96, -8).length("B9.1", SECTION, "payload_bytes", SECOND + 20),
        resized(96, 8).length("B9.1", "inline_object", "", START + 96),
        put(SECOND, &[1]).breaks("B9.1", SECTION, "role_id", SECOND),
        put(SECOND, &[0]).breaks("B9.1", SECTION, "role_id", SECOND),
        good.set("section_count", 1).length("B9.1", "inline_object", "", START + 49),
        good.set("section_count", 0).length("B9.1", "inline_object", "", START),
        good.set("section_count", 3).faults(FaultKind::TooShort, "", SECTION, "", START + 96),
        length(put(START + 12, &[1]), "codec_table_bytes", START + 12),
        length(put(START + 12, &[3]), "codec_table_bytes", START + 12),
        length(put(START + 12, &[0xff; 4]), "codec_table_bytes", START + 12),
        length(put(START + 16, &[4]), "length_table_bytes", START + 16),
        length(put(START + 16, &[0]), "length_table_bytes", START + 16),
        length(put(SECOND + 16, &[8]), "length_table_bytes", SECOND + 16),
        length(put(START + 20, &[6]), "payload_bytes", START + 20),
        length(put(START + 20, &[8]), "payload_bytes", START + 20),
        length(put(START + 20, &[0xff; 4]), "payload_bytes", START + 20),
        length(put(START + 34, &[2]), "payload_bytes", START + 20),
        length(put(START + 34, &[0xff; 8]), "payload_bytes", START + 20),
        length(put(SECOND + 24, &[3]), "payload_bytes", SECOND + 20),
        length(put(SECOND + 24, &[0xff; 4]), "payload_bytes", SECOND + 20),
        length(good.set("tile_count", 3), "codec_table_bytes", START + 12),
        put(START + 3, &[8]).faults(FaultKind::UnknownValue, "", SECTION, "dtype_id", START + 3),
        put(SECOND + 28, &[1]).faults(FaultKind::Reserved, "", SECTION, "reserved", SECOND + 28),
    ]
}

/// A tile index has the size of its mode, and its ids are ids.
fn b9_a_tile_index_has_the_form_of_its_mode() -> Vec<Vector> {
    let raw = indexed(&Tiles::Raw(&[9, 4]));
    let delta = indexed(&Tiles::Delta(&[0xfff0, 0xfffe, 0xffff]));
    let bits = indexed(&Tiles::Bits { base: 40, ids: &[41, 42, 55] });
    let object = "inline_object_block_header";
    let length = |bad: Bad| bad.length("B9.1", object, "object_bytes", OBJECT + 8);
    let rule = |bad: Bad, at| bad.breaks("B9.1", "inline_object", "", at);
    delta.set("tile_index_mode", 1).passes();
    raw.set("tile_index_mode", 2).passes();
    vec![
        length(raw.set("tile_count", 1)),
        length(raw.set("tile_count", 3)),
        length(raw.set("tile_count", 0)),
        length(raw.set("tile_index_mode", 0)),
        length(delta.set("tile_count", 2)),
        length(bits.set("tile_count", 0)),
        rule(delta.put(START + 4, &[2]), START + 4),
        rule(delta.put(START, &[0xff, 0xff]), START + 2),
        rule(delta.put(START + 2, &[0xff, 0xff]), START + 2),
        rule(bits.put(START, &[0x07]), START),
        rule(bits.put(START, &[0x02]), START),
        rule(bits.set("tile_count", 4), START),
        rule(bits.put(START, &[0x0e, 0]), START + 1),
    ]
}

/// In a result the sections are the same, and the index is checked once its mode is known.
fn b9_a_result_has_sections_too() -> Vec<Vector> {
    let result = ResultPush { tile_count: 2, ..ResultPush::default() };
    let result = ResultBuilder::new(result).sections(SectionTable::new().fixed(role(1), &[], 1, b"ab"));
    let result = Good::bytes(result.to_vec(&of_session()).expect("it is good"));
    let start = 104 + 32 + 16;
    vec![
        result.set("tile_count", 1).length("B9.1", SECTION, "payload_bytes", start + 20),
        result.set("section_count", 2).faults(FaultKind::TooShort, "B9.1", SECTION, "", start + 34),
    ]
}

/// Counts and the mode speak of a table and an index. Where the packet neither holds nor references them they are
/// not looked at: B1 says what an empty body needs, and B5 lets tensor data travel without them.
#[test]
fn b9_counts_of_what_is_elsewhere_are_not_checked() {
    let submit = FrameSubmit {
        payload_kind_bitmap: PayloadKindBitmap::TENSOR,
        section_count: 2,
        tile_count: 3,
        tile_index_mode: TileIndexMode::RawU16,
        ..frame_submit()
    };
    let bytes = SubmitBuilder::new(submit).to_vec(&of_session()).expect("it is good");
    let (submit, body) = message(&bytes);
    assert_eq!((submit.section_count, submit.tile_count), (2, 3));
    assert!(body.sections().next().is_none() && body.tile_ids(&submit).is_none());
}

fn message(bytes: &[u8]) -> (FrameSubmit, FrameSubmitBody<'_>) {
    let packet = Packet::parse(bytes).unwrap_or_else(|fault| panic!("{fault}"));
    let Message::FrameSubmit(submit, body) = packet.message() else { panic!("another message") };
    (submit, body)
}

/// What sections say is what was written.
#[test]
fn b9_sections_are_read_as_they_were_written() {
    let good = two_sections();
    let (submit, body) = message(good.as_bytes());
    let sections: Vec<_> = body.sections().collect();
    let tiles = |section: usize| {
        sections[section].tiles().map(|tile| (tile.codec_id, tile.bytes)).collect::<Vec<_>>()
    };
    assert_eq!(sections.len(), 2);
    assert_eq!(tiles(0), [(8, b"abc".as_slice()), (9, b"defg")]);
    assert_eq!(tiles(1), [(5, b"hijk".as_slice()), (5, b"lmno")]);
    assert_eq!(sections[1].descriptor.role_id(), 4);
    assert!(body.tile_ids(&submit).expect("a range").eq([100, 101]));
}

/// Ids come back in every mode, and the index is in the packet only where it must be.
#[test]
fn b9_tile_ids_are_read_as_they_were_written() {
    let of = |tiles: &Tiles<'_>| {
        let good = indexed(tiles);
        let (submit, body) = message(good.as_bytes());
        assert_eq!(submit.tile_index_mode, tiles.mode());
        body.tile_ids(&submit).expect("it is in the packet").collect::<Vec<_>>()
    };
    assert_eq!(of(&Tiles::Range { base: u32::MAX, count: 3 }), [0xffff_ffff, 0x1_0000_0000, 0x1_0000_0001]);
    assert_eq!(of(&Tiles::Raw(&[9, 4, 4])), [9, 4, 4]);
    assert_eq!(of(&Tiles::Delta(&[3, 3, 8, 0xffff])), [3, 3, 8, 0xffff]);
    assert_eq!(of(&Tiles::Bits { base: 40, ids: &[40, 47, 48, 300] }), [40, 47, 48, 300]);
    assert_eq!(of(&Tiles::Bits { base: u32::MAX, ids: &[u32::MAX] }), [0xffff_ffff]);
    for empty in [
        Tiles::Raw(&[]),
        Tiles::Delta(&[]),
        Tiles::Bits { base: 7, ids: &[] },
        Tiles::Range { base: 0, count: 0 },
    ] {
        assert!(of(&empty).is_empty());
    }
}

/// Ids that cannot be written in a mode are refused with the words of the reader.
#[test]
fn b9_ids_that_a_mode_cannot_write_are_refused() {
    let many = vec![1; 65536];
    for tiles in [
        Tiles::Delta(&[4, 3]),
        Tiles::Delta(&[0xffff, 0]),
        Tiles::Raw(&many),
        Tiles::Bits { base: 40, ids: &[39] },
        Tiles::Bits { base: 40, ids: &[44, 44] },
        Tiles::Bits { base: 40, ids: &[44, 43] },
        Tiles::Bits { base: 0, ids: &[1, 0] },
    ] {
        let fault = SubmitBuilder::new(frame_submit()).tiles(&tiles).to_vec(&of_session()).unwrap_err();
        assert_eq!(fault.rule(), Some("B9.1"), "{fault}");
    }
}

/// A result's index is read with the mode of its submit, and refused where it does not fit.
#[test]
fn b9_the_index_of_a_result_is_read_in_the_mode_of_its_submit() {
    let result = |tiles: &Tiles<'_>| {
        ResultBuilder::new(ResultPush::default()).tiles(tiles).to_vec(&of_session()).expect("it is good")
    };
    let read = |bytes: &[u8], mode| {
        let Ok(Message::ResultPush(result, body)) = Packet::parse(bytes).map(|packet| packet.message())
        else {
            panic!("another message")
        };
        body.tile_ids(&result, mode).map(|ids| ids.map(|ids| ids.collect::<Vec<_>>()))
    };
    let delta = result(&Tiles::Delta(&[4, 9]));
    assert_eq!(read(&delta, TileIndexMode::DeltaU16), Ok(Some(vec![4, 9])));
    assert_eq!(read(&delta, TileIndexMode::RawU16), Ok(Some(vec![4, 5])));
    for mode in [TileIndexMode::DenseRange, TileIndexMode::Bitset] {
        let fault = read(&delta, mode).unwrap_err();
        assert_eq!(fault.rule(), Some("B9.1"), "{fault}");
    }
    let range = result(&Tiles::Range { base: 3, count: 2 });
    assert_eq!(read(&range, TileIndexMode::DenseRange), Ok(Some(vec![3, 4])));
    assert_eq!(read(&range, TileIndexMode::RawU16), Ok(None));
}
