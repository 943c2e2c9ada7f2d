//! What is tested, in bytes and in native values.

use super::{Emit, bare, conjunction, rule_fields, rule_ident};
use crate::emit::fixed::{Word, fixed, masked_by, wire_bytes, words};
use crate::emit::rust::rules::Reach;
use crate::emit::rust::together::together;
use crate::emit::rust::{doc, field_ident, hex, ident, plain, read_ident, scalar_ident, to_bytes};
use crate::model::{Element, Field, Layout, Meaning, Native, Rule, Scalar};
use crate::names;
use crate::rule::FieldRef;
use proc_macro2::{Literal, TokenStream};
use quote::quote;

impl Emit<'_> {
    /// What must hold of native values beyond their types.
    pub(super) fn native_condition(&self) -> TokenStream {
        let support = &self.rust.options.wire;
        let wire = &self.wire;
        let mut parts = Vec::new();
        for field in self.layout.stored().filter(|field| field.native != Native::Place) {
            let name = field_ident(&field.name);
            match (&field.meaning, field.element, field.count) {
                (Meaning::Reserved | Meaning::Constant(_), Element::Scalar(scalar), count) => {
                    parts.push(self.fixed_condition(field, scalar, count));
                }
                (Meaning::Bool, ..) if field.native == Native::Number => parts.push(quote!(self.#name <= 1)),
                (Meaning::Enum(position), ..) if self.rust.registry.enums[*position].is_foreign() => {
                    let path = self.rust.enum_path(*position);
                    parts.push(quote!(#path::accepts(#path::number(self.#name))));
                }
                (Meaning::Bitmask(position), ..) => {
                    let mask = &self.rust.registry.bitmasks[*position];
                    if mask.is_foreign() || mask.known() != mask.ty.limits().1 as u64 {
                        let known = self.rust.known_bits(*position);
                        parts.push(quote!(self.#name.bits() & !#known == 0));
                    }
                }
                (_, Element::Layout(_), None) => parts.push(quote!(#support::Packed::holds(&self.#name))),
                (_, Element::Layout(_), Some(_)) => parts.push(quote!(#support::all_hold(&self.#name))),
                _ => {}
            }
        }
        let (groups, others) = together(&self.layout.rules);
        for group in groups {
            let case = self.rust.truth(&group.case, &Natives(self));
            let values = group.zero.iter().map(|(field, mask)| {
                let value = self.native(*field);
                if self.layout.fields[field.index].scalar() == Some(Scalar::U64) && *mask == u64::MAX {
                    value
                } else if *mask == u64::MAX {
                    quote!(#value as u64)
                } else {
                    let mask = plain(*mask);
                    quote!((#value & #mask) as u64)
                }
            });
            parts.push(quote!((#case | (#(#values)|* == 0))));
        }
        for rule in others {
            let function = rule_ident(rule);
            let arguments = rule_fields(rule).into_iter().map(|field| bare(self.native(field)));
            parts.push(quote!(#wire::#function(#(#arguments),*)));
        }
        conjunction(&parts)
    }

    /// The number on the wire of a native value.
    pub(super) fn native(&self, field: FieldRef) -> TokenStream {
        let field = &self.layout.fields[field.index];
        let name = field_ident(&field.name);
        self.rust.raw_of(field, field.scalar().unwrap_or(Scalar::U64), &quote!(self.#name))
    }

    /// Whether a stored field that is reserved or constant has its only value.
    pub(super) fn fixed_condition(&self, field: &Field, scalar: Scalar, count: Option<u32>) -> TokenStream {
        let name = field_ident(&field.name);
        let step = scalar.size() as usize;
        let bytes = match &field.meaning {
            Meaning::Constant(bytes) => bytes.clone(),
            _ => vec![0; field.size as usize],
        };
        let arrays = bytes.chunks(step).map(|chunk| {
            let bytes = chunk.iter().map(|byte| plain((*byte).into()));
            quote!([#(#bytes),*])
        });
        let to_bytes = to_bytes(self.big());
        match count {
            None => quote!(self.#name.#to_bytes() == #(#arrays)*),
            Some(_) => quote!(self.#name.map(|value| value.#to_bytes()) == [#(#arrays),*]),
        }
    }

    /// What the checks need: whom to blame, and the rules.
    pub(super) fn checks(&self) -> TokenStream {
        let wire = &self.wire;
        let support = &self.rust.options.wire;
        let layout_name = &self.layout.name;
        let rules = self.layout.rules.iter().map(|rule| self.rule_function(rule));
        quote! {
            impl #wire {
                /// The layout as a place to blame.
                const SITE: #support::Site = #support::Site::layout(#layout_name);

                #(#rules)*
            }
        }
    }

    /// A field as data.
    pub(super) fn row(&self, field: &Field) -> TokenStream {
        let support = &self.rust.options.wire;
        let (layout, name) = (&self.layout.name, &field.name);
        let (offset, size) = (Literal::u32_unsuffixed(field.offset), Literal::u32_unsuffixed(field.size));
        let code = self.rust.code(field.error.as_ref());
        let side = |little: &str, big: &str| ident(if self.big() { big } else { little });
        let test = match (&field.meaning, field.element) {
            (Meaning::Plain, Element::Layout(inner)) => {
                let step = Literal::u32_unsuffixed(self.rust.registry.layouts[inner].size);
                let ty = self.rust.layout_type(inner);
                quote!(Layouts(#step, #support::inner_fault::<#ty, #step>))
            }
            (Meaning::Plain, _) => quote!(Any),
            (Meaning::Reserved, _) => quote!(Zero),
            (Meaning::Constant(constant), _) => {
                let constant = Literal::byte_string(constant);
                quote!(Constant(#constant))
            }
            (Meaning::Enum(position), _) => {
                let ty = self.rust.enum_path(*position);
                let variant = side("ValuesLittle", "ValuesBig");
                quote!(#variant(#ty::SPANS))
            }
            (Meaning::Bitmask(position), _) => {
                let mask = &self.rust.registry.bitmasks[*position];
                let variant = side("BitsLittle", "BitsBig");
                let known = self.rust.known_bits(*position);
                let known = if mask.ty == Scalar::U64 { known } else { quote!(#known as u64) };
                quote!(#variant(#known))
            }
            (Meaning::Bool, _) => {
                let variant = side("ValuesLittle", "ValuesBig");
                quote!(#variant(&[(0, 1)]))
            }
        };
        quote! {
            #support::Field::new(#layout, #name, #offset, #size, #support::Test::#test) #code
        }
    }

    /// The condition that good bytes fulfil.
    pub(super) fn byte_condition(&self) -> TokenStream {
        let support = &self.rust.options.wire;
        let mut parts = Vec::new();
        let fixed = fixed(self.rust.registry, self.layout);
        if !fixed.is_empty() {
            parts.push(self.words_hold(&fixed));
        }
        for field in &self.layout.fields {
            match (&field.meaning, field.element, field.count) {
                (Meaning::Enum(position), Element::Scalar(scalar), _) => {
                    let item = &self.rust.registry.enums[*position];
                    let spans = item.spans();
                    if !item.is_foreign() && masked_by(&spans, item.ty).1 {
                        continue;
                    }
                    let ty = self.rust.enum_path(*position);
                    let raw = self.load(&quote!(bytes), field.offset, scalar);
                    let raw = if scalar == Scalar::U64 { raw } else { quote!(#raw as u64) };
                    parts.push(quote!(#ty::accepts(#raw)));
                }
                (Meaning::Bitmask(position), Element::Scalar(scalar), _)
                    if self.rust.registry.bitmasks[*position].is_foreign() =>
                {
                    let known = self.rust.known_bits(*position);
                    let raw = self.load(&quote!(bytes), field.offset, scalar);
                    let ty = scalar_ident(scalar);
                    parts.push(quote!(#raw & !(#known as #ty) == 0));
                }
                (_, Element::Layout(inner), None) => {
                    let ty = self.rust.layout_type(inner);
                    let offset = Literal::u32_unsuffixed(field.offset);
                    parts.push(quote!(<#ty as #support::Packed>::bytes_hold(#support::part(bytes, #offset))));
                }
                (_, Element::Layout(inner), Some(count)) => {
                    let ty = self.rust.layout_type(inner);
                    let offset = Literal::u32_unsuffixed(field.offset);
                    let count = Literal::u32_unsuffixed(count);
                    parts.push(quote!(#support::all_bytes_hold::<#ty, _, _>(bytes, #offset, #count)));
                }
                _ => {}
            }
        }
        let (groups, others) = together(&self.layout.rules);
        for group in groups {
            let case = self.rust.truth(&group.case, &Loads(self));
            let mut mask = vec![0u8; self.layout.size as usize];
            for (field, bits) in &group.zero {
                let field = &self.layout.fields[field.index];
                for (place, byte) in
                    mask[field.range()].iter_mut().zip(wire_bytes(self.layout, *bits, field.size))
                {
                    *place |= byte;
                }
            }
            let held = self.words_hold(&words(&mask, &vec![0; mask.len()]));
            parts.push(quote!((#case | (#held))));
        }
        parts.extend(others.into_iter().map(|rule| self.rule_call(rule)));
        if parts.is_empty() {
            return quote!({
                let _ = bytes;
                true
            });
        }
        conjunction(&parts)
    }

    /// The condition that the fixed bits of words are as they must be.
    fn words_hold(&self, words: &[Word]) -> TokenStream {
        let words = words.iter().map(|word| {
            let load = self.load_word(word);
            let digits = word.bytes as usize * 2;
            let mask = hex(word.mask, digits);
            if word.value == 0 && word.mask == u64::MAX {
                load
            } else if word.value == 0 {
                quote!((#load & #mask))
            } else {
                let value = hex(word.value, digits);
                let wrong = quote!((#load ^ #value));
                if word.mask == u64::MAX { wrong } else { quote!((#wrong & #mask)) }
            }
        });
        quote!(#(#words)|* == 0)
    }

    /// A rule applied to bytes.
    pub(super) fn rule_call(&self, rule: &Rule) -> TokenStream {
        let function = rule_ident(rule);
        let arguments = rule_fields(rule).into_iter().map(|field| {
            let field = &self.layout.fields[field.index];
            self.load(&quote!(bytes), field.offset, field.scalar().unwrap_or(Scalar::U64))
        });
        let wire = &self.wire;
        quote!(#wire::#function(#(#arguments),*))
    }

    fn load_word(&self, word: &Word) -> TokenStream {
        let support = &self.rust.options.wire;
        let start = Literal::u32_unsuffixed(word.start);
        match word.bytes {
            8 => quote!(#support::u64_le(bytes, #start)),
            4 => quote!((#support::u32_le(bytes, #start) as u64)),
            2 => quote!((#support::u16_le(bytes, #start) as u64)),
            _ => quote!((bytes[#start] as u64)),
        }
    }

    /// The number at `offset` of an array of the whole layout.
    pub(super) fn load(&self, bytes: &TokenStream, offset: u32, scalar: Scalar) -> TokenStream {
        let support = &self.rust.options.wire;
        let at = Literal::u32_unsuffixed(offset);
        if scalar == Scalar::U8 {
            return quote!(#bytes[#at]);
        }
        let read = read_ident(scalar, self.big());
        quote!(#support::#read(#bytes, #at))
    }

    /// A rule as a condition over raw numbers.
    pub(super) fn rule_function(&self, rule: &Rule) -> TokenStream {
        let function = rule_ident(rule);
        let fields = rule_fields(rule);
        let arguments = fields.iter().map(|field| {
            let field = &self.layout.fields[field.index];
            let name = ident(&names::argument(&field.name));
            let ty = scalar_ident(field.scalar().unwrap_or(Scalar::U64));
            quote!(#name: #ty)
        });
        let condition = self.rust.truth(&rule.condition(), &Arguments(self.layout));
        let docs = doc([format!("{}: {}", rule.id, rule.doc)]);
        quote! {
            #docs
            #[inline]
            fn #function(#(#arguments),*) -> bool { #condition }
        }
    }

    /// The statement that reports a broken rule.
    pub(super) fn blame(&self, rule: &Rule) -> TokenStream {
        let support = &self.rust.options.wire;
        let call = self.rule_call(rule);
        let blamed = &self.layout.fields[rule.blame.index];
        let (layout, field, id, docs) = (&self.layout.name, &blamed.name, &rule.id, &rule.doc);
        let offset = Literal::u32_unsuffixed(blamed.offset);
        let code = self.rust.code(rule.error.as_ref());
        quote! {
            if !#call {
                const SITE: #support::Site = #support::Site::rule(#layout, #field, #id, #docs) #code;
                return Some(#support::Fault::new(&SITE, #offset, #support::FaultKind::Rule));
            }
        }
    }
}

/// A rule's view of native values.
struct Natives<'a>(&'a Emit<'a>);

impl Reach for Natives<'_> {
    fn value(&self, field: FieldRef) -> TokenStream {
        self.0.native(field)
    }

    fn field(&self, field: FieldRef) -> &Field {
        &self.0.layout.fields[field.index]
    }

    fn constants(&self) -> TokenStream {
        let wire = &self.0.wire;
        quote!(#wire)
    }
}

/// A rule's view of bytes.
struct Loads<'a>(&'a Emit<'a>);

impl Reach for Loads<'_> {
    fn value(&self, field: FieldRef) -> TokenStream {
        let field = self.field(field);
        self.0.load(&quote!(bytes), field.offset, field.scalar().unwrap_or(Scalar::U64))
    }

    fn field(&self, field: FieldRef) -> &Field {
        &self.0.layout.fields[field.index]
    }

    fn constants(&self) -> TokenStream {
        let wire = &self.0.wire;
        quote!(#wire)
    }
}

/// A rule's view of its function's arguments.
struct Arguments<'a>(&'a Layout);

impl Reach for Arguments<'_> {
    fn value(&self, field: FieldRef) -> TokenStream {
        let name = ident(&names::argument(&self.0.fields[field.index].name));
        quote!(#name)
    }

    fn field(&self, field: FieldRef) -> &Field {
        &self.0.fields[field.index]
    }
}
