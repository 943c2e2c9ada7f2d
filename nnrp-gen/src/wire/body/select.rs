//! Payloads that their header or row chooses.

use super::super::{Fault, FaultKind, Site};
use super::{Piece, Place, Shape, need};

/// How a header or a row says what its payload holds.
#[derive(Clone, Copy, Debug)]
pub struct Select {
    /// The field that says it.
    pub field: Place,
    /// The field, and the bit in it, of a payload that must be understood.
    pub critical: Option<(Place, u64)>,
    /// How to blame one that must be and is not.
    pub unsupported: Site,
    /// The payloads that are known.
    pub choices: &'static [Choice],
}

/// A condition on the bytes of a header or row.
pub type Condition = fn(&[u8]) -> bool;

/// A payload that is known.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// The selector's value.
    pub value: u64,
    /// What the payload is.
    pub shape: Shape,
    /// The messages in which it is known; all where empty.
    pub messages: &'static [u64],
    /// How to blame one whose critical bit is set, where that is refused.
    pub refuse_critical: Option<Place>,
    /// How to blame a second one, where that is refused.
    pub once: Option<Place>,
    /// What its header or row must fulfil, and how to blame one that does not.
    pub require: Option<(Condition, Place)>,
    /// How to blame a payload of another size.
    pub length: Place,
}

impl Select {
    /// The choice that a header or row makes in a message.
    #[inline(always)]
    pub fn choice(&self, header: &[u8], message: u64) -> Option<&'static Choice> {
        let value = self.field.read(header);
        let known = |choice: &&Choice| {
            choice.value == value && (choice.messages.is_empty() || choice.messages.contains(&message))
        };
        self.choices.iter().find(known)
    }

    /// Checks a payload against what its header or row at `base` says. `seen` has a bit for each choice that stood
    /// before and stands once; a registry has at most as many of those as there are bits.
    #[inline(always)]
    pub(super) fn check(
        &'static self,
        header: &[u8],
        base: usize,
        payload: Piece<'_>,
        message: u64,
        seen: &mut u64,
    ) -> Result<(), Fault> {
        let critical = self.critical.as_ref().is_some_and(|(field, bit)| field.read(header) & bit != 0);
        let Some(choice) = self.choice(header, message) else {
            let at = base + self.field.offset as usize;
            return need(!critical, &self.unsupported, at, FaultKind::Unsupported);
        };
        if let Some(field) = choice.refuse_critical.as_ref().filter(|_| critical) {
            return Err(field.blame(base, FaultKind::Rule));
        }
        match &choice.require {
            Some((holds, field)) if !holds(header) => return Err(field.blame(base, FaultKind::Rule)),
            _ => {}
        }
        if let Some(field) = &choice.once {
            let mut once = self.choices.iter().filter(|other| other.once.is_some());
            let bit = 1 << once.position(|other| other.value == choice.value).unwrap_or(0);
            if *seen & bit != 0 {
                return Err(field.blame(base, FaultKind::Rule));
            }
            *seen |= bit;
        }
        if payload.bytes.len() != choice.shape.size as usize {
            return Err(choice.length.blame(base, FaultKind::Length));
        }
        choice.shape.one(payload)
    }
}
