use super::*;
use crate::ErrorCode;
use crate::state::random::{Random, steps};
use std::collections::BTreeMap;

const NOW: Time = Time(1_000);

fn descriptor(object_id: u64) -> ObjectDescriptor {
    ObjectDescriptor { object_id, session_id: 7, byte_size: 100, ..Default::default() }
}

fn objects(ids: &[u64]) -> Objects {
    let mut objects = Objects::new(7, Limits::default());
    for id in ids {
        objects.apply_declare(objects.check_declare(&descriptor(*id)).unwrap(), NOW);
    }
    objects
}

fn change(object_id: u64, delta_sequence: u64) -> ObjectDelta {
    ObjectDelta { object_id, delta_sequence, region_bytes: 10, ..Default::default() }
}

fn reference(object_id: u64, operation_id: u64) -> ObjectReference {
    ObjectReference { object_id, operation_id, ..Default::default() }
}

fn use_it(objects: &mut Objects, object_id: u64, operation_id: u64) {
    objects.apply_reference(objects.check_reference(&reference(object_id, operation_id)).unwrap());
}

fn release(objects: &mut Objects, object_id: u64, operation_id: u64, flags: ObjectReleaseFlags) -> Released {
    let release = ObjectRelease { object_id, operation_id, flags, ..Default::default() };
    objects.apply_release(objects.check_release(&release).unwrap())
}

#[test]
fn j1_ids_are_unique_while_they_live() {
    let mut objects = objects(&[3]);
    let refusal = objects.check_declare(&descriptor(3)).unwrap_err();
    assert_eq!((refusal.code, refusal.rule), (ErrorCode::INVALID_STATE, "J1"));
    release(&mut objects, 3, 0, ObjectReleaseFlags::FINAL_RELEASE);
    let _ = objects.check_declare(&descriptor(3)).unwrap();
}

#[test]
fn j1_the_session_is_the_messages() {
    let other = ObjectDescriptor { session_id: 8, ..descriptor(3) };
    let refusal = objects(&[]).check_declare(&other).unwrap_err();
    assert_eq!((refusal.code, refusal.rule), (ErrorCode::MALFORMED_BODY, "J1"));
}

#[test]
fn j2_everything_else_needs_a_declared_object() {
    let objects = objects(&[3]);
    let refusals = [
        objects.check_reference(&reference(4, 1)).unwrap_err(),
        objects.check_patch(&change(4, 0)).unwrap_err(),
        objects.check_delta(&change(4, 1)).unwrap_err(),
        objects.check_delta(&change(4, 0)).unwrap_err(),
        objects.check_release(&ObjectRelease { object_id: 4, ..Default::default() }).unwrap_err(),
    ];
    for refusal in refusals {
        assert_eq!((refusal.code, refusal.rule), (ErrorCode::INVALID_STATE, "J2"));
    }
}

#[test]
fn j3_changes_start_at_1_and_rise_by_1() {
    let mut objects = objects(&[3, 4]);
    for sequence in [0, 2, u64::MAX] {
        let refusal = objects.check_delta(&change(3, sequence)).unwrap_err();
        assert_eq!((refusal.code, refusal.rule), (ErrorCode::INVALID_STATE, "J3"));
    }
    assert!(objects.apply_change(objects.check_delta(&change(3, 1)).unwrap()));
    assert!(objects.apply_change(objects.check_delta(&change(3, 2)).unwrap()));
    assert_eq!(objects.check_delta(&change(3, 4)).unwrap_err().rule, "J3");
    // Each object counts by itself.
    assert_eq!(objects.check_delta(&change(4, 3)).unwrap_err().rule, "J3");
    assert_eq!(objects.get(3).unwrap().delta_sequence, 2);
}

#[test]
fn o6_a_change_that_came_already_is_ignored() {
    let mut objects = objects(&[3]);
    objects.apply_change(objects.check_delta(&change(3, 1)).unwrap());
    let again = ObjectDelta { flags: ObjectDeltaFlags::FINAL_DELTA, ..change(3, 1) };
    assert!(!objects.apply_change(objects.check_delta(&again).unwrap()));
    assert!(!objects.get(3).unwrap().is_final);
}

#[test]
fn j3_a_patch_with_0_stands_outside_of_the_series() {
    let mut objects = objects(&[3]);
    assert!(objects.apply_change(objects.check_patch(&change(3, 0)).unwrap()));
    assert!(objects.apply_change(objects.check_patch(&change(3, 1)).unwrap()));
    assert!(objects.apply_change(objects.check_patch(&change(3, 0)).unwrap()));
    assert_eq!(objects.check_patch(&change(3, 3)).unwrap_err().rule, "J3");
}

#[test]
fn j3_nothing_follows_the_last_change() {
    let mut objects = objects(&[3]);
    let last = ObjectDelta { flags: ObjectDeltaFlags::FINAL_DELTA, ..change(3, 1) };
    objects.apply_change(objects.check_delta(&last).unwrap());
    assert_eq!(objects.check_delta(&change(3, 2)).unwrap_err().rule, "J3");
    assert_eq!(objects.check_patch(&change(3, 0)).unwrap_err().rule, "J3");
}

#[test]
fn j3_a_region_lies_within_the_object() {
    let objects = objects(&[3]);
    for (offset, bytes, good) in
        [(0, 100, true), (100, 0, true), (91, 10, false), (u64::MAX, 1, false), (0, u32::MAX, false)]
    {
        let delta = ObjectDelta { region_offset: offset, region_bytes: bytes, ..change(3, 1) };
        assert_eq!(objects.check_delta(&delta).is_ok(), good);
        let region = ObjectReference {
            offset,
            length: bytes.into(),
            flags: ObjectReferenceFlags::REGION_PRESENT,
            ..reference(3, 1)
        };
        let verdict = objects.check_reference(&region);
        assert_eq!(verdict.is_ok(), good);
        if let Err(refusal) = verdict {
            assert_eq!((refusal.code, refusal.rule), (ErrorCode::LIMIT_EXCEEDED, "J3"));
        }
        // Without the flag there is no region to judge.
        let none = ObjectReference { flags: ObjectReferenceFlags::empty(), ..region };
        let _ = objects.check_reference(&none).unwrap();
    }
}

#[test]
fn j4_a_release_ends_a_use_or_the_object() {
    let mut objects = objects(&[3]);
    use_it(&mut objects, 3, 5);
    use_it(&mut objects, 3, 6);
    let released = release(&mut objects, 3, 5, ObjectReleaseFlags::empty());
    assert_eq!(released, Released::default());
    assert!(!objects.is_used(3, 5) && objects.is_used(3, 6));
    let released = release(&mut objects, 3, 6, ObjectReleaseFlags::all());
    assert_eq!(released, Released { freed: true, invalidates_dependents: true });
    assert!(objects.is_empty() && objects.uses.is_empty() && objects.used_by.is_empty());
}

#[test]
fn j4_a_passed_lifetime_frees() {
    let mut objects = objects(&[]);
    for (object_id, lifetime_hint_ms) in [(1, 0), (2, 50), (3, 60)] {
        let descriptor = ObjectDescriptor { lifetime_hint_ms, ..descriptor(object_id) };
        objects.apply_declare(objects.check_declare(&descriptor).unwrap(), NOW);
    }
    assert_eq!(objects.next_timeout(), Some(NOW.after(50)));
    assert_eq!(objects.handle_timeout(NOW.after(49)), []);
    assert_eq!(objects.handle_timeout(NOW.after(50)), [2]);
    release(&mut objects, 3, 0, ObjectReleaseFlags::FINAL_RELEASE);
    assert_eq!((objects.next_timeout(), objects.len()), (None, 1));
}

#[test]
fn j4_ownership_says_who_holds_an_object() {
    for (ownership_hint, before, after) in [
        (OwnershipHint::UNSPECIFIED, Holder::Untold, Holder::Untold),
        (OwnershipHint::PRODUCER_OWNED, Holder::Producer, Holder::Producer),
        (OwnershipHint::CONSUMER_OWNED, Holder::Consumer, Holder::Consumer),
        (OwnershipHint::SESSION_OWNED, Holder::Session, Holder::Session),
        (OwnershipHint::BORROWED, Holder::Lender, Holder::Lender),
        (OwnershipHint::TRANSFER_ON_REF, Holder::Producer, Holder::Consumer),
        (OwnershipHint::RELEASE_ON_DROP, Holder::Result, Holder::Result),
    ] {
        let mut objects = objects(&[]);
        let descriptor = ObjectDescriptor { ownership_hint, ..descriptor(3) };
        objects.apply_declare(objects.check_declare(&descriptor).unwrap(), NOW);
        assert_eq!(objects.get(3).unwrap().holder, before);
        let lent = ObjectReference { flags: ObjectReferenceFlags::BORROWED, ..reference(3, 1) };
        objects.apply_reference(objects.check_reference(&lent).unwrap());
        assert_eq!(objects.get(3).unwrap().holder, before);
        use_it(&mut objects, 3, 1);
        assert_eq!(objects.get(3).unwrap().holder, after);
        let goes = ownership_hint == OwnershipHint::RELEASE_ON_DROP;
        let mut done = objects.clone();
        assert_eq!(done.operation_ended(1, false), []);
        assert_eq!(done.len(), 1);
        assert_eq!(objects.operation_ended(1, true).len(), usize::from(goes));
    }
}

#[test]
fn j1_j2_floods_are_bounded() {
    let mut objects = Objects::new(7, Limits { objects: 10, uses: 20 });
    for id in 1..=10 {
        objects.apply_declare(objects.check_declare(&descriptor(id)).unwrap(), NOW);
    }
    assert_eq!(objects.check_declare(&descriptor(11)).unwrap_err().code, ErrorCode::LIMIT_EXCEEDED);
    for operation in 0..20 {
        use_it(&mut objects, 1 + operation % 10, operation);
    }
    assert_eq!(objects.check_reference(&reference(1, 20)).unwrap_err().code, ErrorCode::LIMIT_EXCEEDED);
    let _ = objects.check_reference(&reference(1, 0)).unwrap();
}

/// Against a map of sequence numbers and a list of uses.
#[test]
fn model_objects_are_what_their_messages_made_them() {
    let mut random = Random::new(3);
    let mut objects = Objects::new(7, Limits { objects: 8, uses: 12 });
    let mut model: BTreeMap<u64, (u64, Option<Time>)> = BTreeMap::new();
    let mut uses: Vec<(u64, u64)> = Vec::new();
    let mut now = NOW;
    for _ in 0..steps(40_000) {
        let (id, operation) = (1 + random.below(12), random.below(4));
        match random.below(7) {
            0 => {
                let lifetime_hint_ms = random.of(&[0, 0, 30]);
                let descriptor = ObjectDescriptor { lifetime_hint_ms, ..descriptor(id) };
                let verdict = objects.check_declare(&descriptor);
                assert_eq!(verdict.is_ok(), !model.contains_key(&id) && model.len() < 8);
                if let Ok(plan) = verdict {
                    objects.apply_declare(plan, now);
                    model.insert(id, (0, (lifetime_hint_ms != 0).then(|| now.after(30))));
                }
            }
            1 => {
                let verdict = objects.check_reference(&reference(id, operation));
                let known = uses.contains(&(operation, id));
                assert_eq!(verdict.is_ok(), model.contains_key(&id) && (known || uses.len() < 12));
                if let Ok(plan) = verdict {
                    objects.apply_reference(plan);
                    if !known {
                        uses.push((operation, id));
                    }
                }
            }
            2 | 3 => {
                let sequence = random.below(6);
                let verdict = objects.check_delta(&change(id, sequence));
                let last = model.get(&id).map(|(last, _)| *last);
                assert_eq!(verdict.is_ok(), last.is_some_and(|last| sequence != 0 && sequence <= last + 1));
                if let (Ok(plan), Some((last, _))) = (verdict, model.get_mut(&id)) {
                    assert_eq!(objects.apply_change(plan), sequence == *last + 1);
                    *last = sequence.max(*last);
                }
            }
            4 => {
                let flags =
                    if random.chance(2) { ObjectReleaseFlags::all() } else { ObjectReleaseFlags::empty() };
                if model.contains_key(&id) {
                    let freed = release(&mut objects, id, operation, flags).freed;
                    uses.retain(|(of, object)| *object != id || !freed && *of != operation);
                    if freed {
                        model.remove(&id);
                    }
                }
            }
            5 => {
                objects.operation_ended(operation, true);
                uses.retain(|(of, _)| *of != operation);
            }
            _ => {
                now = now.after(random.below(20));
                let over: Vec<u64> = model
                    .iter()
                    .filter(|(_, (_, until))| until.is_some_and(|until| until <= now))
                    .map(|(id, _)| *id)
                    .collect();
                let mut freed = objects.handle_timeout(now);
                freed.sort();
                assert_eq!(freed, over);
                model.retain(|id, _| !over.contains(id));
                uses.retain(|(_, object)| !over.contains(object));
            }
        }
        assert_eq!(
            (objects.len(), objects.uses.len(), objects.used_by.len()),
            (model.len(), uses.len(), uses.len())
        );
        assert!(uses.iter().all(|(operation, object)| objects.is_used(*object, *operation)));
        assert_eq!(objects.timers.len(), model.values().filter(|(_, until)| until.is_some()).count());
    }
}
