//! What is wrong with bytes.

use std::fmt;

use crate::model::{Field, Layout, Registry, Rule};
use crate::wire::{self, FaultKind};

/// What is wrong with some bytes and where: the same as the generated `Fault`, word for word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The layout that is at fault.
    pub layout: String,
    /// The field to blame; empty where it is the layout as a whole.
    pub field: String,
    /// Bytes from the start of what was decoded to the fault.
    pub offset: usize,
    /// How it is wrong.
    pub kind: FaultKind,
    /// The id of the rule that does not hold.
    pub rule: Option<String>,
    /// Why there is that rule; empty without one.
    pub doc: String,
    /// The error code on the wire where it is not the protocol's usual one.
    pub code: Option<u32>,
    /// Whether the message is to blame even where the field is one of the header's.
    pub of_message: bool,
}

impl Fault {
    /// `found` bytes where the layout has another size.
    pub(super) fn length(layout: &Layout, found: usize) -> Self {
        let size = layout.size as usize;
        let (offset, kind) =
            if found < size { (found, FaultKind::TooShort) } else { (size, FaultKind::TooLong) };
        Self::at(&layout.name, "", offset, kind, "")
    }

    /// A fault of a body, which may break a rule that has no text of its own.
    pub(super) fn at(layout: &str, field: &str, offset: usize, kind: FaultKind, rule: &str) -> Self {
        Self {
            layout: layout.to_owned(),
            field: field.to_owned(),
            offset,
            kind,
            rule: (!rule.is_empty()).then(|| rule.to_owned()),
            doc: String::new(),
            code: None,
            of_message: false,
        }
    }

    /// The same fault seen from `base` bytes further out.
    pub(super) fn behind(self, base: usize) -> Self {
        Self { offset: self.offset.saturating_add(base), ..self }
    }

    /// A field that is wrong by itself. The layout starts `base` bytes from the start of all.
    pub(super) fn field(
        registry: &Registry,
        layout: &Layout,
        field: &Field,
        base: usize,
        kind: FaultKind,
    ) -> Self {
        let offset = base + field.offset as usize;
        let code = code(registry, field.error.as_ref());
        Self { code, ..Self::at(&layout.name, &field.name, offset, kind, "") }
    }

    /// A rule that does not hold.
    pub(super) fn rule(
        registry: &Registry,
        layout: &Layout,
        rule: &Rule,
        blamed: &Field,
        base: usize,
    ) -> Self {
        Self {
            rule: Some(rule.id.clone()),
            doc: rule.doc.clone(),
            code: code(registry, rule.error.as_ref()),
            ..Self::field(registry, layout, blamed, base, FaultKind::Rule)
        }
    }

    /// Whether the end of the packet is not known, so that a stream cannot go on behind it.
    pub fn breaks_stream(&self, registry: &Registry) -> bool {
        let header = registry.protocol.header.and_then(|header| registry.layouts.get(header));
        let of_header = header.is_some_and(|header| header.name == self.layout);
        self.kind == FaultKind::Limit || (of_header && !self.of_message)
    }
}

/// The number of an error code that a row names; 0 stands for the usual one.
fn code(registry: &Registry, name: Option<&String>) -> Option<u32> {
    let code = registry.error_code(name?)?;
    u32::try_from(code).ok().filter(|code| *code != 0)
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rule = self.rule.as_deref().unwrap_or_default();
        wire::sentence(out, (&self.layout, &self.field), self.offset, self.kind, (rule, &self.doc))
    }
}

impl std::error::Error for Fault {}
