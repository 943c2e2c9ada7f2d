//! Layouts as data, for crates that describe them to others.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use crate::model::{ByteOrder, Element, Field, Layout, Meaning, Rule, Scalar};
use crate::rule;

use super::{Rust, ident};

impl Rust<'_> {
    /// The layout as a constant; nothing where nobody asked for it.
    pub(super) fn definition(&self, layout: &Layout) -> Option<TokenStream> {
        let describe = self.options.describe.as_ref()?;
        let ty = super::given_ident(layout.given.as_ref(), &layout.name);
        let (name, docs) = (&layout.name, &layout.doc);
        let size = Literal::u32_unsuffixed(layout.size);
        let big = layout.byte_order == ByteOrder::Big;
        let fields = layout.fields.iter().map(|field| self.field_definition(field, describe));
        let rules = layout.rules.iter().map(|rule| self.rule_definition(rule, layout, describe));
        let enums = self.only_in_rules(layout).into_iter().map(|position| {
            let ty = self.enum_type(position);
            quote!(#describe::Enum::of::<#ty>())
        });
        Some(quote! {
            impl #describe::Described for #ty {
                const DEFINITION: &'static #describe::Layout = {
                    const FIELDS: &[#describe::Field] = &[#(#fields),*];
                    const RULES: &[#describe::Rule] = &[#(#rules),*];
                    const ENUMS: &[#describe::Enum] = &[#(#enums),*];
                    &#describe::Layout {
                        name: #name,
                        size: #size,
                        big: #big,
                        doc: #docs,
                        fields: FIELDS,
                        rules: RULES,
                        enums: ENUMS,
                    }
                };
            }
        })
    }

    /// The enums that the rules of a layout name and none of its fields holds.
    fn only_in_rules(&self, layout: &Layout) -> Vec<usize> {
        let mut list = Vec::new();
        for position in layout.rules.iter().flat_map(|rule| rule::enums(&rule.condition())) {
            let held = layout.fields.iter().any(|field| field.meaning == Meaning::Enum(position));
            if !held && !list.contains(&position) {
                list.push(position);
            }
        }
        list
    }

    fn field_definition(&self, field: &Field, describe: &TokenStream) -> TokenStream {
        let (name, unit, docs) = (&field.name, &field.unit, &field.doc);
        let (offset, count) =
            (Literal::u32_unsuffixed(field.offset), Literal::u32_unsuffixed(field.count.unwrap_or(0)));
        let element = match field.element {
            Element::Scalar(scalar) => {
                let name = ident(&scalar.name().to_uppercase());
                quote!(#name)
            }
            Element::Layout(inner) => {
                let ty = self.layout_type(inner);
                quote!(Layout(<#ty as #describe::Described>::DEFINITION))
            }
        };
        let meaning = match &field.meaning {
            Meaning::Plain => quote!(Plain),
            Meaning::Reserved => quote!(Reserved),
            Meaning::Bool => quote!(Bool),
            Meaning::Constant(bytes) => {
                let bytes = Literal::byte_string(bytes);
                quote!(Constant(#bytes))
            }
            Meaning::Enum(position) => {
                let ty = self.enum_type(*position);
                quote!(Enum(#describe::Enum::of::<#ty>()))
            }
            Meaning::Bitmask(position) => {
                let mask = self.bitmask_definition(*position, describe);
                quote!(Bitmask(#mask))
            }
        };
        quote! {
            #describe::Field {
                name: #name,
                offset: #offset,
                element: #describe::Element::#element,
                count: #count,
                meaning: #describe::Meaning::#meaning,
                unit: #unit,
                doc: #docs,
            }
        }
    }

    fn bitmask_definition(&self, position: usize, describe: &TokenStream) -> TokenStream {
        let item = &self.registry.bitmasks[position];
        let name = &item.name;
        let known = self.known_bits(position);
        let ty = self.bitmask_path(position);
        if !item.is_foreign() {
            let bytes = Literal::u32_unsuffixed(item.ty.size());
            let known = if item.ty == Scalar::U64 { known } else { quote!(#known as u64) };
            return quote! {
                #describe::Bitmask { name: #name, bytes: #bytes, known: #known, bits: #ty::NAMES }
            };
        }
        let bitflags = &self.options.bitflags;
        quote! {
            #describe::Bitmask {
                name: #name,
                bytes: #describe::bytes_of::<<#ty as #bitflags::Flags>::Bits>(),
                known: #known as u64,
                bits: {
                    const BITS: &[(&str, u64)] = &{
                        const FLAGS: &[#bitflags::Flag<#ty>] = <#ty as #bitflags::Flags>::FLAGS;
                        let mut bits = [("", 0); FLAGS.len()];
                        let mut at = 0;
                        while at < FLAGS.len() {
                            bits[at] = (FLAGS[at].name(), FLAGS[at].value().bits() as u64);
                            at += 1;
                        }
                        bits
                    };
                    BITS
                },
            }
        }
    }

    fn rule_definition(&self, rule: &Rule, layout: &Layout, describe: &TokenStream) -> TokenStream {
        let (id, docs) = (&rule.id, &rule.doc);
        let when = rule.text.0.as_deref().map(|text| self.rule_text(text)).unwrap_or_default();
        let require = self.rule_text(&rule.text.1);
        let field = &layout.fields[rule.blame.index].name;
        quote! {
            #describe::Rule { id: #id, when: #when, require: #require, field: #field, doc: #docs }
        }
    }

    /// A rule as a registry has it: one space where there was any, and types by their names there.
    fn rule_text(&self, text: &str) -> String {
        let mut out = String::new();
        for (at, word) in text.split_whitespace().enumerate() {
            if at > 0 {
                out.push(' ');
            }
            // Only what stands behind `in` names a type, maybe with a parenthesis behind it.
            let end = word.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
            let (name, rest) = word.split_at(end.unwrap_or(word.len()));
            let given = self.registry.enums.iter().find(|item| item.given.as_deref() == Some(name));
            match given {
                Some(item) if out.ends_with(" in ") => out.push_str(&item.name),
                _ => out.push_str(name),
            }
            out.push_str(rest);
        }
        out
    }
}
