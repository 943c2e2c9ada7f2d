//! Bitmasks: a type, a macro for each bit, and one for all of them.

use crate::model::Bitmask;

use super::text::{Columns, cite, doc, hex};
use super::{C, scalar};

impl C<'_> {
    pub(super) fn bitmask(&self, item: &Bitmask) -> String {
        let what = format!("bitmask `{}`", item.name);
        let lower = self.names.lower(&item.name);
        self.names.define(&lower, &what);
        let mut columns = Columns::default();
        let mut row = |name: String, what: String, mask: u64, note: &str| {
            self.names.define(&name, &what);
            let mask = format!("(({lower}){})", hex(mask, item.ty.size()));
            columns.row([format!("#define {name}"), mask], note);
        };
        for bit in &item.bits {
            row(self.bit_name(item, &bit.name), format!("bit `{}` of {what}", bit.name), bit.mask, &bit.doc);
        }
        row(self.known_name(item), format!("all bits of {what}"), item.known(), "Every listed bit.");
        let docs = doc([item.doc.clone(), cite(&item.source)]);
        format!("{docs}typedef {} {lower};\n\n{}", scalar(item.ty), columns.text())
    }

    /// The macro of a bit.
    pub(super) fn bit_name(&self, item: &Bitmask, bit: &str) -> String {
        self.names.upper(&format!("{}_{bit}", item.name))
    }

    /// The macro of all bits.
    pub(super) fn known_name(&self, item: &Bitmask) -> String {
        self.names.upper(&format!("{}_known", item.name))
    }
}
