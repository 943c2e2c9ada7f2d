//! State machines.

use super::Text;
use crate::source::Span;

/// `[[state_machine]]`.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Its name.
    pub name: Text,
    /// The enum of its states.
    pub enumeration: Option<Text>,
    /// Or the states themselves.
    pub states: Vec<State>,
    /// Where it starts.
    pub initial: Text,
    /// Where it ends.
    pub terminal: Vec<Text>,
    /// Its arrows.
    pub transitions: Vec<Transition>,
    /// The section that defines it.
    pub source: Option<Text>,
    /// What it is.
    pub doc: Option<Text>,
    /// Where it was written.
    pub span: Span,
}

/// A state of its own.
#[derive(Clone, Debug)]
pub struct State {
    /// Its name.
    pub name: Text,
    /// What it means.
    pub doc: Option<Text>,
}

/// An arrow.
#[derive(Clone, Debug)]
pub struct Transition {
    /// Where from.
    pub from: Text,
    /// Where to.
    pub to: Text,
    /// The messages that can drive it.
    pub on: Vec<Text>,
    /// What drives it.
    pub doc: Option<Text>,
    /// Where it was written.
    pub span: Span,
}
