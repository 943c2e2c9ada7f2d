//! Submits and results: D8, D9 and D12.

use nnrp_core::build::{ResultBuilder, SectionTable, SubmitBuilder};
use nnrp_core::*;

use super::samples::{frame_submit, of_session};
use super::vector::{Good, Vector, rules};

/// A result with three tiles of which one was left out.
pub fn partial() -> ResultPush {
    ResultPush {
        payload_kind_bitmap: PayloadKindBitmap::TENSOR,
        result_class: ResultClass::Partial,
        tile_count: 3,
        covered_tile_count: 2,
        dropped_tile_count: 1,
        ..ResultPush::default()
    }
}

rules! {
    d8_a_submit_agrees_with_itself,
    d8_13_reference_submits_reference_something,
    d9_a_result_agrees_with_itself,
    d12_a_section_has_the_tables_that_its_flags_name,
}

/// The rules of a submit's metadata.
fn d8_a_submit_agrees_with_itself() -> Vec<Vector> {
    let submit = Good::packet(of_session(), Message::FrameSubmit(frame_submit(), Default::default()));
    let of = |rule, field, at| submit.set(field, 1).breaks(rule, "frame_submit", field, at);
    let mask = |bad: super::vector::Bad, rule| bad.breaks(rule, "frame_submit", "object_ref_mask", 96);
    vec![
        submit.set("operation_id", 0).breaks("D8.1", "frame_submit", "operation_id", 80),
        of("D8.2", "src_width", 40),
        of("D8.3", "src_height", 42),
        of("D8.4", "tile_width", 44),
        of("D8.5", "tile_height", 46),
        of("D8.6", "tile_count", 48),
        of("D8.7", "section_count", 50),
        of("D8.8", "tile_base_id", 64),
        of("D8.9", "camera_bytes", 68),
        of("D8.10", "tile_index_bytes", 72),
        of("D8.11", "input_profile", 53),
        mask(submit.set("object_ref_mask", 1), "D8.12"),
        mask(submit.set("submit_mode", 1), "D8.13"),
        mask(submit.set("submit_mode", 2), "D8.13"),
        submit.set("loss_tolerance_policy", 3).breaks("D8.14", "frame_submit", "loss_tolerance_policy", 94),
    ]
}

/// A submit in reference mode references something.
fn d8_13_reference_submits_reference_something() -> Vec<Vector> {
    let camera = ObjectReferenceBlock { object_kind: CacheObjectKind::CAMERA_BLOCK, ..Default::default() };
    let submit = SubmitBuilder::new(frame_submit()).reference(camera).to_vec(&of_session());
    let submit = Good::bytes(submit.expect("it is good"));
    vec![submit.set("object_ref_mask", 0).breaks("D8.13", "frame_submit", "object_ref_mask", 96)]
}

/// The rules of a result's metadata.
fn d9_a_result_agrees_with_itself() -> Vec<Vector> {
    let result = Good::packet(of_session(), Message::ResultPush(ResultPush::default(), Default::default()));
    let tensor = Good::packet(of_session(), Message::ResultPush(partial(), Default::default()));
    let flagged =
        ResultPush { result_class: ResultClass::Degraded, result_flags: ResultFlags::PARTIAL, ..partial() };
    let flagged = Good::packet(of_session(), Message::ResultPush(flagged, Default::default()));
    let of = |rule, field, at| result.set(field, 1).breaks(rule, "result_push", field, at);
    let stale = |field, value| result.set(field, value).breaks("D9.1", "result_push", "reused_frame_id", 88);
    let dropped = |good: &Good| {
        good.set("dropped_tile_count", 0).breaks("D9.8", "result_push", "dropped_tile_count", 94)
    };
    let covered = |good: &Good, field, value| {
        good.set(field, value).breaks("D9.9", "result_push", "covered_tile_count", 92)
    };
    vec![
        stale("reused_frame_id", 4),
        stale("result_class", 2),
        stale("result_flags", 1),
        of("D9.2", "section_count", 44),
        of("D9.3", "tile_count", 46),
        of("D9.4", "tile_base_id", 60),
        of("D9.5", "tile_index_bytes", 64),
        of("D9.6", "covered_tile_count", 92),
        of("D9.7", "dropped_tile_count", 94),
        dropped(&tensor),
        tensor.set("covered_tile_count", 3).set("dropped_tile_count", 0).breaks(
            "D9.8",
            "result_push",
            "dropped_tile_count",
            94,
        ),
        dropped(&flagged),
        covered(&tensor, "covered_tile_count", 3),
        covered(&flagged, "tile_count", 4),
        covered(&tensor, "dropped_tile_count", u64::from(u16::MAX)),
    ]
}

/// A section's descriptor says of its tables what its flags say.
fn d12_a_section_has_the_tables_that_its_flags_name() -> Vec<Vector> {
    let table = SectionTable::new().sized(TensorSectionDescriptor::default(), &[], [b"tile".as_slice()]);
    let result = ResultPush { tile_count: 1, ..ResultPush::default() };
    let good =
        Good::bytes(ResultBuilder::new(result).sections(table).to_vec(&of_session()).expect("it is good"));
    // Header and metadata are 104 bytes, the prelude 32, the object's header 16.
    let at = 104 + 32 + 16;
    let of = |offset: usize, bytes: &[u8], rule, field, blamed| {
        good.put(at + offset, bytes).breaks(rule, "tensor_section_descriptor", field, at + blamed)
    };
    vec![
        of(12, &[1], "D12.1", "codec_table_bytes", 12),
        of(6, &[1], "D12.1", "codec_table_bytes", 12),
        of(24, &[1], "D12.2", "payload_stride_bytes", 24),
        of(6, &[2], "D12.2", "payload_stride_bytes", 24),
        of(16, &[5], "D12.3", "length_table_bytes", 16),
    ]
}
