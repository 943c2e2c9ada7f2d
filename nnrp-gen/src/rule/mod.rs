//! Rules: conditions over the fields of a layout.
//!
//! A rule is text such as `scope_kind == connection && header.session_id == 0`. [`parse`] reads it, [`truth`] gives
//! every name in it a meaning and every part a type, [`judge`] says whether it can refuse anything at all, and
//! [`eval`] decides it for given values. Emitters walk the typed tree, [`Truth`].
//!
//! | operators | meaning |
//! | --- | --- |
//! | `!` `-` | not; negative |
//! | `*` `%` | product; remainder, with the sign of the left side |
//! | `+` `-` | sum; difference |
//! | `==` `!=` `<` `<=` `>` `>=` `in` | comparison, which does not chain; value of an enum |
//! | `&&` | both |
//! | `\|\|` | either |
//!
//! The table goes from what binds tightest to what binds loosest. `==` and `!=` also stand between conditions. Numbers
//! are decimal, `0x…` or `0b…`, with `_` between digits. Words have no meaning of their own but `in`, so that a field
//! may be called `type`.
//!
//! Nothing here has side effects and no arithmetic can overflow or divide by zero, so that an emitter is free to
//! evaluate both sides of `&&` and `||` without branching.

mod ast;
mod error;
mod eval;
mod judge;
mod lex;
mod names;
mod parse;
mod range;
#[cfg(test)]
mod samples;
mod tree;
mod types;

pub use ast::{Arith, Cmp, Expr, Node, Word};
pub use error::RuleError;
pub use eval::{Values, eval};
pub use judge::{Certainty, Verdict, certainty, judge};
pub use names::{Names, Symbol};
pub use parse::parse;
pub use range::interval;
pub use tree::{
    FieldRef, Int, NamedBits, NamedValues, Presence, Space, Truth, enums, fields, first_field, named,
};
pub use types::truth;

/// How deep a rule may nest, so that walking it is safe on any stack. Chains of `&&` or of `||` do not nest.
pub const MAX_DEPTH: usize = 64;

/// How many words, numbers and signs a rule may have.
pub const MAX_TOKENS: usize = 1024;
