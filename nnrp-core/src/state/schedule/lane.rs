//! Whose turn it is.

use crate::SessionPriorityClass;

/// One of the four lanes of a queue: the three classes of sessions, and one for every number below them.
///
/// ```
/// use nnrp_core::state::schedule::Lane;
///
/// assert_eq!([0, 1, 2].map(Lane::of), [Lane::Interactive, Lane::Balanced, Lane::Background]);
/// assert_eq!([3, 4, u16::MAX].map(Lane::of), [Lane::Lower; 3]);
/// assert!(Lane::Balanced.patience() < Lane::Background.patience());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lane {
    /// Class 0.
    Interactive,
    /// Class 1.
    Balanced,
    /// Class 2.
    Background,
    /// Class 3 and all higher numbers.
    Lower,
}

impl Lane {
    /// All of them, the most urgent first.
    pub const ALL: [Self; 4] = [Self::Interactive, Self::Balanced, Self::Background, Self::Lower];

    /// The lane of a class.
    pub const fn of(class: u16) -> Self {
        if class == SessionPriorityClass::Interactive as u16 {
            Self::Interactive
        } else if class == SessionPriorityClass::Balanced as u16 {
            Self::Balanced
        } else if class == SessionPriorityClass::Background as u16 {
            Self::Background
        } else {
            Self::Lower
        }
    }

    /// How often others may be served while this one waits, before it is served itself.
    pub const fn patience(self) -> u32 {
        match self {
            Self::Interactive => u32::MAX,
            Self::Balanced => 4,
            Self::Background => 16,
            Self::Lower => 64,
        }
    }

    pub(super) const fn index(self) -> usize {
        self as usize
    }
}

/// How often each lane was passed over since it was served last.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Turns([u32; 4]);

impl Turns {
    /// The lanes in the order in which to try them: those whose patience is over, then all by urgency.
    pub(super) fn order(self) -> impl Iterator<Item = Lane> {
        let is_over = move |lane: &Lane| self.0.get(lane.index()).is_some_and(|&n| n >= lane.patience());
        let over = Lane::ALL.into_iter().filter(is_over);
        over.chain(Lane::ALL.into_iter().filter(move |lane| !is_over(lane)))
    }

    /// A lane was served while others had something ready.
    pub(super) fn served(&mut self, lane: Lane, ready: impl Fn(Lane) -> bool) {
        for other in Lane::ALL {
            let Some(passed) = self.0.get_mut(other.index()) else { continue };
            if other == lane || !ready(other) {
                *passed = 0;
            } else {
                *passed = passed.saturating_add(1);
            }
        }
    }
}
