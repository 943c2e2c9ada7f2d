//! Runtime objects of a session: declared, used, changed, released (J1 to J4).

use alloc::{
    collections::{BTreeMap, BTreeSet},
    vec::Vec,
};

use super::{Refusal, Time};
use crate::{
    ObjectDelta, ObjectDeltaFlags, ObjectDescriptor, ObjectKind, ObjectReference, ObjectReferenceFlags,
    ObjectRelease, ObjectReleaseFlags, OwnershipHint, Role,
};

/// What the objects of a session may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Objects.
    pub objects: usize,
    /// Uses of objects by operations.
    pub uses: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { objects: 4_096, uses: 16_384 }
    }
}

/// Who holds an object now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// Nobody said.
    Untold,
    /// Who made it.
    Producer,
    /// Who uses it, from the start or since the first reference.
    Consumer,
    /// The session.
    Session,
    /// Somebody else, who lent it.
    Lender,
    /// The result that uses it; it goes when that is dropped.
    Result,
}

/// A live object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object {
    /// What it is.
    pub kind: ObjectKind,
    /// Who makes it.
    pub producer: Role,
    /// Who uses it.
    pub consumer: Role,
    /// Its size.
    pub byte_size: u64,
    /// Who holds it now.
    pub holder: Holder,
    /// The last change of its series; 0 for none yet.
    pub delta_sequence: u64,
    /// Whether no further change follows.
    pub is_final: bool,
    /// When it ends by itself.
    pub until: Option<Time>,
    ownership: OwnershipHint,
}

/// The runtime objects of one session. They end with it: drop this then.
///
/// ```
/// use nnrp_core::state::{Time, object::{Limits, Objects}};
/// use nnrp_core::{ObjectDelta, ObjectDescriptor};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut objects = Objects::new(7, Limits::default());
/// let declare = ObjectDescriptor { object_id: 3, session_id: 7, byte_size: 100, ..Default::default() };
/// objects.apply_declare(objects.check_declare(&declare)?, Time(0));
///
/// let delta = ObjectDelta { object_id: 3, delta_sequence: 1, region_offset: 90, region_bytes: 10, ..Default::default() };
/// objects.apply_change(objects.check_delta(&delta)?);
/// let outside = ObjectDelta { delta_sequence: 2, region_offset: 91, ..delta };
/// assert!(objects.check_delta(&outside).is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Objects {
    session_id: u32,
    limits: Limits,
    live: BTreeMap<u64, Object>,
    /// Operation and object; 0 for a use by no operation.
    uses: BTreeSet<(u64, u64)>,
    /// The same from the other side, so that freeing one costs its own uses.
    used_by: BTreeSet<(u64, u64)>,
    timers: BTreeSet<(Time, u64)>,
}

/// An object that may be declared.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct DeclarePlan(ObjectDescriptor);

/// A use that may begin.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct ReferencePlan(ObjectReference);

/// A change that may be made, or one that came already.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct ChangePlan {
    object_id: u64,
    delta_sequence: u64,
    is_final: bool,
    stale: bool,
}

/// A release that may be done.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct ReleasePlan(ObjectRelease);

/// What a release did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Released {
    /// The object is gone.
    pub freed: bool,
    /// What depends on it is no longer valid (K4): take its node out of the graph.
    pub invalidates_dependents: bool,
}

impl Objects {
    /// The objects of that session.
    pub const fn new(session_id: u32, limits: Limits) -> Self {
        Self {
            session_id,
            limits,
            live: BTreeMap::new(),
            uses: BTreeSet::new(),
            used_by: BTreeSet::new(),
            timers: BTreeSet::new(),
        }
    }

    /// A live object.
    pub fn get(&self, object_id: u64) -> Option<&Object> {
        self.live.get(&object_id)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.live.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.live.is_empty()
    }

    /// Whether an operation uses an object.
    pub fn is_used(&self, object_id: u64, operation_id: u64) -> bool {
        self.uses.contains(&(operation_id, object_id))
    }

    /// J2: everything but a declaration needs a declared object.
    fn declared(&self, object_id: u64) -> Result<&Object, Refusal> {
        let none = Refusal::state("J2", "there is no such object").about(object_id);
        self.live.get(&object_id).ok_or(none)
    }

    /// Checks OBJECT_DECLARE.
    ///
    /// # Errors
    ///
    /// `malformed_body` for another session than this, `invalid_state` for an id that is live (J1),
    /// `limit_exceeded` over the number of objects.
    pub fn check_declare(&self, descriptor: &ObjectDescriptor) -> Result<DeclarePlan, Refusal> {
        if descriptor.session_id != self.session_id {
            return Err(Refusal::malformed("J1", "the object names another session than its message")
                .about(descriptor.session_id.into()));
        }
        if self.live.contains_key(&descriptor.object_id) {
            return Err(Refusal::state("J1", "the object is declared already").about(descriptor.object_id));
        }
        if self.live.len() >= self.limits.objects {
            return Err(Refusal::limit("J1", "the session has too many objects"));
        }
        Ok(DeclarePlan(*descriptor))
    }

    /// The object lives, until its time is over (J4).
    pub fn apply_declare(&mut self, plan: DeclarePlan, now: Time) {
        let ObjectDescriptor { object_id, lifetime_hint_ms, ownership_hint, .. } = plan.0;
        let until = (lifetime_hint_ms != 0).then(|| now.after(lifetime_hint_ms.into()));
        if let Some(until) = until {
            self.timers.insert((until, object_id));
        }
        let holder = match ownership_hint {
            OwnershipHint::PRODUCER_OWNED | OwnershipHint::TRANSFER_ON_REF => Holder::Producer,
            OwnershipHint::CONSUMER_OWNED => Holder::Consumer,
            OwnershipHint::SESSION_OWNED => Holder::Session,
            OwnershipHint::BORROWED => Holder::Lender,
            OwnershipHint::RELEASE_ON_DROP => Holder::Result,
            _ => Holder::Untold,
        };
        let object = Object {
            kind: plan.0.object_kind,
            producer: plan.0.producer_role,
            consumer: plan.0.consumer_role,
            byte_size: plan.0.byte_size,
            holder,
            delta_sequence: 0,
            is_final: false,
            until,
            ownership: ownership_hint,
        };
        self.live.insert(object_id, object);
    }

    /// Checks OBJECT_REF. Whether its operation lives is for the operations to say.
    ///
    /// # Errors
    ///
    /// `invalid_state` without the object (J2), `limit_exceeded` for a region outside of it (J3) or over the
    /// number of uses.
    pub fn check_reference(&self, reference: &ObjectReference) -> Result<ReferencePlan, Refusal> {
        let object = self.declared(reference.object_id)?;
        if reference.flags.contains(ObjectReferenceFlags::REGION_PRESENT) {
            check_region(object, reference.offset, reference.length)?;
        }
        let new = !self.uses.contains(&(reference.operation_id, reference.object_id));
        if new && self.uses.len() >= self.limits.uses {
            return Err(Refusal::limit("J2", "the session uses too many objects"));
        }
        Ok(ReferencePlan(*reference))
    }

    /// The use begins. An object that is handed over with its first reference changes hands.
    pub fn apply_reference(&mut self, plan: ReferencePlan) {
        let ObjectReference { object_id, operation_id, flags, .. } = plan.0;
        let Some(object) = self.live.get_mut(&object_id) else { return };
        let lent = flags.contains(ObjectReferenceFlags::BORROWED);
        if object.ownership == OwnershipHint::TRANSFER_ON_REF && !lent {
            object.holder = Holder::Consumer;
        }
        self.uses.insert((operation_id, object_id));
        self.used_by.insert((object_id, operation_id));
    }

    /// Checks OBJECT_DELTA, the next change of a series.
    ///
    /// # Errors
    ///
    /// `invalid_state` without the object (J2), for a sequence number that is 0 or leaves one out, and after the
    /// last change (J3); `limit_exceeded` for a region outside of the object. A change that came already is no
    /// error and changes nothing (O6).
    pub fn check_delta(&self, delta: &ObjectDelta) -> Result<ChangePlan, Refusal> {
        if delta.delta_sequence == 0 {
            self.declared(delta.object_id)?;
            return Err(Refusal::state("J3", "a series of changes starts at 1"));
        }
        self.check_patch(delta)
    }

    /// Checks OBJECT_PATCH, a change that stands by itself. With a sequence number other than 0 it is one of the
    /// series.
    ///
    /// # Errors
    ///
    /// As [`Self::check_delta`], 0 aside.
    pub fn check_patch(&self, patch: &ObjectDelta) -> Result<ChangePlan, Refusal> {
        let object = self.declared(patch.object_id)?;
        let sequence = patch.delta_sequence;
        let stale = sequence != 0 && sequence <= object.delta_sequence;
        if !stale {
            if object.is_final {
                return Err(Refusal::state("J3", "the object had its last change").about(patch.object_id));
            }
            if sequence != 0 && Some(sequence) != object.delta_sequence.checked_add(1) {
                return Err(Refusal::state("J3", "a change was left out").about(sequence));
            }
            check_region(object, patch.region_offset, patch.region_bytes.into())?;
        }
        Ok(ChangePlan {
            object_id: patch.object_id,
            delta_sequence: sequence,
            is_final: patch.flags.contains(ObjectDeltaFlags::FINAL_DELTA),
            stale,
        })
    }

    /// The change is made. False for one that came already, whose bytes are not to be used.
    pub fn apply_change(&mut self, plan: ChangePlan) -> bool {
        if let Some(object) = self.live.get_mut(&plan.object_id).filter(|_| !plan.stale) {
            object.delta_sequence = object.delta_sequence.max(plan.delta_sequence);
            object.is_final |= plan.is_final;
        }
        !plan.stale
    }

    /// Checks OBJECT_RELEASE.
    ///
    /// # Errors
    ///
    /// `invalid_state` without the object (J2).
    pub fn check_release(&self, release: &ObjectRelease) -> Result<ReleasePlan, Refusal> {
        self.declared(release.object_id)?;
        Ok(ReleasePlan(*release))
    }

    /// Ends a use, or with `final_release` the object (J4).
    pub fn apply_release(&mut self, plan: ReleasePlan) -> Released {
        let ObjectRelease { object_id, operation_id, flags, .. } = plan.0;
        let freed = flags.contains(ObjectReleaseFlags::FINAL_RELEASE);
        if freed {
            self.free(object_id);
        } else {
            self.uses.remove(&(operation_id, object_id));
            self.used_by.remove(&(object_id, operation_id));
        }
        Released { freed, invalidates_dependents: flags.contains(ObjectReleaseFlags::INVALIDATES_DEPENDENTS) }
    }

    /// An operation ended, and its uses with it. Where its result was dropped, objects that belong to the result
    /// go too; gives them.
    pub fn operation_ended(&mut self, operation_id: u64, dropped: bool) -> Vec<u64> {
        let used: Vec<u64> = self
            .uses
            .range((operation_id, 0)..=(operation_id, u64::MAX))
            .map(|(_, object_id)| *object_id)
            .collect();
        let mut freed = Vec::new();
        for object_id in used {
            self.uses.remove(&(operation_id, object_id));
            self.used_by.remove(&(object_id, operation_id));
            if dropped && self.live.get(&object_id).is_some_and(|object| object.holder == Holder::Result) {
                self.free(object_id);
                freed.push(object_id);
            }
        }
        freed
    }

    /// When [`Self::handle_timeout`] has something to do.
    pub fn next_timeout(&self) -> Option<Time> {
        self.timers.first().map(|(until, _)| *until)
    }

    /// Frees the objects whose time is over (J4), and gives them.
    pub fn handle_timeout(&mut self, now: Time) -> Vec<u64> {
        let mut freed = Vec::new();
        while let Some((until, object_id)) = self.timers.first().copied()
            && until <= now
        {
            self.free(object_id);
            freed.push(object_id);
        }
        freed
    }

    fn free(&mut self, object_id: u64) {
        let Some(object) = self.live.remove(&object_id) else { return };
        if let Some(until) = object.until {
            self.timers.remove(&(until, object_id));
        }
        while let Some((of, operation_id)) = self.used_by.range((object_id, 0)..).next().copied()
            && of == object_id
        {
            self.used_by.remove(&(of, operation_id));
            self.uses.remove(&(operation_id, of));
        }
    }
}

/// J3: a region lies within the object.
fn check_region(object: &Object, offset: u64, length: u64) -> Result<(), Refusal> {
    match offset.checked_add(length) {
        Some(end) if end <= object.byte_size => Ok(()),
        _ => Err(Refusal::limit("J3", "the region reaches beyond the object").about(object.byte_size)),
    }
}

#[cfg(test)]
mod tests;
