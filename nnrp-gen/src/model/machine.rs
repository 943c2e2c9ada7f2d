//! State machines.

use super::Value;

/// A state machine.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Its name.
    pub name: String,
    /// The enum of its states, where they are values of one.
    pub enumeration: Option<usize>,
    /// Its states: number, name, what they mean.
    pub states: Vec<Value>,
    /// Position of the state where it starts.
    pub initial: usize,
    /// Positions of the states where it ends.
    pub terminal: Vec<usize>,
    /// Its arrows.
    pub transitions: Vec<Transition>,
    /// The section that defines it.
    pub source: String,
    /// What it is.
    pub doc: String,
}

/// An arrow.
#[derive(Clone, Debug)]
pub struct Transition {
    /// Position of the state that it leaves.
    pub from: usize,
    /// Position of the state that it reaches.
    pub to: usize,
    /// The messages that can drive it.
    pub on: Vec<usize>,
    /// What drives it.
    pub doc: String,
}
