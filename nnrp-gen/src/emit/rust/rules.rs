//! Rules, as conditions over raw numbers.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use crate::model::{Element, Field, Meaning, Scalar};
use crate::rule::{Arith, Cmp, FieldRef, Int, Presence, Truth};

use super::layouts::bare;
use super::{Rust, hex, ident, plain, scalar_ident};

/// How a condition reaches a field's raw number, and the field itself.
pub(super) trait Reach {
    /// An expression of the field's raw type.
    fn value(&self, field: FieldRef) -> TokenStream;

    /// The field.
    fn field(&self, field: FieldRef) -> &Field;

    /// The type that has the numbers of names that only the compiler knows.
    fn constants(&self) -> TokenStream {
        quote!(Self)
    }

    /// Whether an entry is in the body; only rules of messages can ask.
    fn presence(&self, _: Presence) -> TokenStream {
        quote!(false)
    }
}

/// The integers that comparisons and arithmetic run in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Width {
    Own(Scalar),
    Signed,
    Wide,
}

/// Whether a number may be negative, or may be on the way to it.
fn below_zero(int: &Int, reach: &dyn Reach) -> bool {
    match int {
        Int::Literal(number) => *number < 0,
        Int::Field(field) => !scalar_of(reach.field(*field)).is_unsigned(),
        Int::Named(..) => false,
        Int::Neg(_) | Int::Binary(..) => true,
    }
}

impl Rust<'_> {
    /// A condition without branches.
    pub(super) fn truth(&self, truth: &Truth, reach: &dyn Reach) -> TokenStream {
        match truth {
            Truth::Flag(field, mask) => {
                let value = reach.value(*field);
                let mask = plain(*mask);
                quote!(#value & #mask != 0)
            }
            Truth::NamedFlag(field, name) => {
                let value = reach.value(*field);
                let mask = self.named_bit(*field, name, reach);
                quote!(#value & #mask != 0)
            }
            Truth::Bool(field) => {
                let value = reach.value(*field);
                quote!(#value != 0)
            }
            Truth::Present(entry) => reach.presence(*entry),
            Truth::In(int, enumeration) => {
                let name = self.enum_path(*enumeration);
                if below_zero(int, reach) {
                    // Neither is an enum's value negative, nor may it seem to be a large one.
                    let value = bare(self.int(int, Width::Signed, reach));
                    return quote!(u64::try_from(#value).is_ok_and(#name::accepts));
                }
                let value = bare(self.int(int, Width::Own(Scalar::U64), reach));
                quote!(#name::accepts(#value))
            }
            Truth::Compare(cmp, left, right) => {
                let width = common(width(left, reach), width(right, reach));
                let (left, right) = (self.int(left, width, reach), self.int(right, width, reach));
                let sign = sign(*cmp);
                quote!(#left #sign #right)
            }
            Truth::Same(left, right) => {
                let (left, right) = (self.grouped(left, reach), self.grouped(right, reach));
                quote!(#left == #right)
            }
            Truth::Differ(left, right) => {
                let (left, right) = (self.grouped(left, reach), self.grouped(right, reach));
                quote!(#left != #right)
            }
            Truth::Not(inner) => match &**inner {
                Truth::Compare(cmp, left, right) => {
                    self.truth(&Truth::Compare(cmp.opposite(), left.clone(), right.clone()), reach)
                }
                Truth::Flag(field, mask) => {
                    let value = reach.value(*field);
                    let mask = plain(*mask);
                    quote!(#value & #mask == 0)
                }
                Truth::NamedFlag(field, name) => {
                    let value = reach.value(*field);
                    let mask = self.named_bit(*field, name, reach);
                    quote!(#value & #mask == 0)
                }
                Truth::Bool(field) => {
                    let value = reach.value(*field);
                    quote!(#value == 0)
                }
                Truth::Not(inner) => self.truth(inner, reach),
                Truth::And(parts) => self.truth(&Truth::Or(negated(parts)), reach),
                Truth::Or(parts) => self.truth(&Truth::And(negated(parts)), reach),
                Truth::Same(left, right) => self.truth(&Truth::Differ(left.clone(), right.clone()), reach),
                Truth::Differ(left, right) => self.truth(&Truth::Same(left.clone(), right.clone()), reach),
                Truth::In(..) | Truth::Present(_) => {
                    let inner = self.truth(inner, reach);
                    quote!(!#inner)
                }
            },
            Truth::And(parts) => {
                let parts = parts.iter().map(|part| self.grouped(part, reach));
                quote!(#(#parts)&*)
            }
            Truth::Or(parts) => {
                // An alternative among alternatives needs no parentheses.
                let mut flat = Vec::new();
                flatten(parts, &mut flat);
                let parts = flat.iter().map(|part| self.grouped(part, reach));
                quote!(#(#parts)|*)
            }
        }
    }

    /// The bit of that name of a field whose bitmask somebody else defines, as a number of the field's type.
    fn named_bit(&self, field: FieldRef, name: &str, reach: &dyn Reach) -> TokenStream {
        let field = reach.field(field);
        let constants = reach.constants();
        let Meaning::Bitmask(position) = field.meaning else { return quote!(0) };
        let given = self.registry.bitmasks[position].given.as_deref().unwrap_or_default();
        let constant = ident(&super::named(given, name));
        let raw = scalar_ident(scalar_of(field));
        quote!((#constants::#constant as #raw))
    }

    fn grouped(&self, truth: &Truth, reach: &dyn Reach) -> TokenStream {
        let inner = self.truth(truth, reach);
        match truth {
            Truth::In(..) | Truth::Present(_) => inner,
            _ => quote!((#inner)),
        }
    }

    fn int(&self, int: &Int, width: Width, reach: &dyn Reach) -> TokenStream {
        match int {
            Int::Literal(number) => match u64::try_from(*number) {
                Ok(number) if number > 0xffff => {
                    let literal = hex(number, 8);
                    quote!(#literal)
                }
                _ => {
                    let literal: Literal = number
                        .unsigned_abs()
                        .to_string()
                        .parse()
                        .unwrap_or_else(|_| Literal::u64_unsuffixed(0));
                    if *number < 0 { quote!(-#literal) } else { quote!(#literal) }
                }
            },
            Int::Named(enumeration, name) => {
                let given = self.registry.enums[*enumeration].given.as_deref().unwrap_or_default();
                let constant = ident(&super::named(given, name));
                let constants = reach.constants();
                let value = quote!(#constants::#constant);
                match width {
                    Width::Own(Scalar::U64) => value,
                    Width::Own(scalar) => {
                        let ty = scalar_ident(scalar);
                        quote!((#value as #ty))
                    }
                    Width::Signed => quote!((#value as i64)),
                    Width::Wide => quote!((#value as i128)),
                }
            }
            Int::Field(field) => {
                let value = reach.value(*field);
                let own = scalar_of(reach.field(*field));
                match width {
                    Width::Own(scalar) if scalar == own => value,
                    Width::Own(scalar) => {
                        let ty = scalar_ident(scalar);
                        quote!((#value as #ty))
                    }
                    Width::Signed => quote!((#value as i64)),
                    Width::Wide => quote!((#value as i128)),
                }
            }
            Int::Neg(inner) => {
                let inner = self.int(inner, width, reach);
                quote!((-#inner))
            }
            Int::Binary(arith, left, right) => {
                let (left, right) =
                    (self.int(left, Width::Signed, reach), self.int(right, Width::Signed, reach));
                let sign = match arith {
                    Arith::Add => quote!(+),
                    Arith::Subtract => quote!(-),
                    Arith::Multiply => quote!(*),
                    Arith::Remainder => quote!(%),
                };
                let value = quote!((#left #sign #right));
                match width {
                    Width::Signed => value,
                    Width::Wide => quote!((#value as i128)),
                    Width::Own(scalar) => {
                        let ty = scalar_ident(scalar);
                        quote!((#value as #ty))
                    }
                }
            }
        }
    }
}

fn negated(parts: &[Truth]) -> Vec<Truth> {
    parts.iter().map(|part| Truth::Not(Box::new(part.clone()))).collect()
}

/// The alternatives of a condition, one of which must hold.
pub(super) fn alternatives(truth: &Truth) -> Vec<Truth> {
    let mut flat = Vec::new();
    flatten(std::slice::from_ref(truth), &mut flat);
    flat
}

fn flatten(parts: &[Truth], flat: &mut Vec<Truth>) {
    for part in parts {
        match part {
            Truth::Or(inner) => flatten(inner, flat),
            Truth::Not(inner) => match &**inner {
                Truth::And(inner) => flatten(&negated(inner), flat),
                Truth::Not(inner) => flatten(std::slice::from_ref(inner), flat),
                _ => flat.push(part.clone()),
            },
            _ => flat.push(part.clone()),
        }
    }
}

fn scalar_of(field: &Field) -> Scalar {
    match field.element {
        Element::Scalar(scalar) => scalar,
        Element::Layout(_) => Scalar::U64,
    }
}

/// The narrowest integers that hold a number; nothing for a literal, which fits any that it is compared with.
fn width(int: &Int, reach: &dyn Reach) -> Option<Width> {
    match int {
        Int::Literal(number) if *number > i128::from(u32::MAX) || *number < 0 => Some(Width::Wide),
        Int::Literal(_) | Int::Named(..) => None,
        Int::Field(field) => Some(Width::Own(scalar_of(reach.field(*field)))),
        Int::Neg(_) | Int::Binary(..) => Some(Width::Signed),
    }
}

/// The integers that hold both sides of a comparison.
fn common(left: Option<Width>, right: Option<Width>) -> Width {
    match (left, right) {
        (None, None) => Width::Signed,
        // A large literal fits what it is compared with, or the rule would be constant.
        (Some(Width::Wide), Some(width @ Width::Own(_)))
        | (Some(width @ Width::Own(_)), Some(Width::Wide)) => width,
        (Some(width), None) | (None, Some(width)) => width,
        (Some(Width::Own(left)), Some(Width::Own(right))) => {
            if left.is_unsigned() == right.is_unsigned() {
                Width::Own(if left.size() >= right.size() { left } else { right })
            } else if left.size() == 8 || right.size() == 8 {
                Width::Wide
            } else {
                Width::Signed
            }
        }
        (Some(left), Some(right)) => {
            let wide = |width| matches!(width, Width::Wide | Width::Own(Scalar::U64));
            if wide(left) || wide(right) { Width::Wide } else { Width::Signed }
        }
    }
}

fn sign(cmp: Cmp) -> TokenStream {
    match cmp {
        Cmp::Equal => quote!(==),
        Cmp::Differ => quote!(!=),
        Cmp::Less => quote!(<),
        Cmp::AtMost => quote!(<=),
        Cmp::Greater => quote!(>),
        Cmp::AtLeast => quote!(>=),
    }
}
