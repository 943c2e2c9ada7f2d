//! Finds what is wrong with bytes, in the order in which it is blamed: length, fields by offset, rules. A layout
//! inside another is checked wholly, fields and then rules, at its place among the fields.

use std::ops::ControlFlow;

use crate::model::{Element, Field, Layout, Meaning, Registry};
use crate::rule::{self, FieldRef, Presence, Space};
use crate::wire::FaultKind;

use super::Fault;
use super::number::{integer, raw};

/// The first fault of bytes that should be a layout.
pub fn fault(registry: &Registry, layout: &Layout, bytes: &[u8]) -> Option<Fault> {
    visit(registry, layout, bytes, &mut ControlFlow::Break).break_value()
}

/// All faults of bytes that should be a layout, in the order of blame. What is cut off has no fault but the length.
pub fn faults(registry: &Registry, layout: &Layout, bytes: &[u8]) -> Vec<Fault> {
    let mut list = Vec::new();
    let _ = visit(registry, layout, bytes, &mut |fault| {
        list.push(fault);
        ControlFlow::Continue(())
    });
    list
}

/// What is done with a fault, and whether to look for more.
type Found<'a> = dyn FnMut(Fault) -> ControlFlow<Fault> + 'a;

fn visit(registry: &Registry, layout: &Layout, bytes: &[u8], found: &mut Found<'_>) -> ControlFlow<Fault> {
    if bytes.len() != layout.size as usize {
        found(Fault::length(layout, bytes.len()))?;
    }
    let bytes = bytes.get(..layout.size as usize).unwrap_or(bytes);
    Checker { registry, layout, bytes, base: 0 }.visit(found)
}

/// Bytes of a layout being checked.
struct Checker<'a> {
    registry: &'a Registry,
    layout: &'a Layout,
    /// As many as the layout has, or fewer where they are cut off.
    bytes: &'a [u8],
    /// Where they start, counted from the start of all.
    base: usize,
}

impl Checker<'_> {
    fn visit(&self, found: &mut Found<'_>) -> ControlFlow<Fault> {
        for field in &self.layout.fields {
            self.field(field, found)?;
        }
        if self.bytes.len() == self.layout.size as usize {
            self.rules(found)?;
        }
        ControlFlow::Continue(())
    }

    fn field(&self, field: &Field, found: &mut Found<'_>) -> ControlFlow<Fault> {
        if let Element::Layout(inner) = field.element {
            return self.layouts(field, &self.registry.layouts[inner], found);
        }
        let Some(bytes) = self.bytes.get(field.range()) else {
            return ControlFlow::Continue(());
        };
        let number = || raw(bytes, self.layout.byte_order);
        let kind = match &field.meaning {
            Meaning::Constant(constant) if bytes != constant => FaultKind::Constant,
            Meaning::Reserved if bytes.iter().any(|byte| *byte != 0) => FaultKind::Reserved,
            Meaning::Bitmask(mask) if number() & !self.registry.bitmasks[*mask].known() != 0 => {
                FaultKind::UnknownBits
            }
            Meaning::Enum(item) if !self.registry.enums[*item].accepts(number()) => FaultKind::UnknownValue,
            Meaning::Bool if number() > 1 => FaultKind::UnknownValue,
            _ => return ControlFlow::Continue(()),
        };
        found(Fault::field(self.registry, self.layout, field, self.base, kind))
    }

    /// A field that holds one or several of another layout.
    fn layouts(&self, field: &Field, inner: &Layout, found: &mut Found<'_>) -> ControlFlow<Fault> {
        let range = field.range();
        let there = range.start.min(self.bytes.len())..range.end.min(self.bytes.len());
        let step = (inner.size as usize).max(1);
        for (at, bytes) in self.bytes[there].chunks(step).enumerate() {
            let base = self.base + range.start + at * step;
            Checker { registry: self.registry, layout: inner, bytes, base }.visit(found)?;
        }
        ControlFlow::Continue(())
    }

    fn rules(&self, found: &mut Found<'_>) -> ControlFlow<Fault> {
        for rule in &self.layout.rules {
            let applies = rule.when.as_ref().is_none_or(|when| rule::eval(when, self));
            if !applies || rule::eval(&rule.require, self) {
                continue;
            }
            if let Some(blamed) = self.layout.fields.get(rule.blame.index) {
                found(Fault::rule(self.registry, self.layout, rule, blamed, self.base))?;
            }
        }
        ControlFlow::Continue(())
    }
}

impl rule::Values for Checker<'_> {
    fn int(&self, field: FieldRef) -> i128 {
        // Rules on a layout see its own fields only.
        let field = if field.space == Space::Own { self.layout.fields.get(field.index) } else { None };
        let Some(field) = field else { return 0 };
        match (field.scalar(), self.bytes.get(field.range())) {
            (Some(scalar), Some(bytes)) => integer(bytes, scalar, self.layout.byte_order),
            _ => 0,
        }
    }

    fn present(&self, _: Presence) -> bool {
        // Only a message has a body.
        false
    }

    fn in_enum(&self, enumeration: usize, value: i128) -> bool {
        let item = self.registry.enums.get(enumeration);
        item.zip(u64::try_from(value).ok()).is_some_and(|(item, value)| item.accepts(value))
    }
}
