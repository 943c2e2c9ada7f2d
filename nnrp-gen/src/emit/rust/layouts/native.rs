//! The struct of native values: what it is made of, how it is read and written.

use super::{Emit, bare, field_doc, is_long_array};
use crate::emit::fixed::constants;
use crate::emit::rust::{cite, const_ident, doc, field_ident, ident, read_ident, reads_ident};
use crate::model::{Element, Field, Meaning, Native, Scalar};
use crate::names;
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens, format_ident, quote};

impl Emit<'_> {
    /// The struct of native values.
    pub(super) fn native_struct(&self) -> TokenStream {
        let layout = self.layout;
        let name = &self.name;
        let size = format!("{} bytes on the wire.", layout.size);
        let docs = doc([layout.doc.clone(), format!("{size} {}", cite(&layout.source))]);
        let equality = if self.rust.has_float(layout) { quote!() } else { quote!(, Eq, Hash) };
        let features = self.rust.options.features.then(|| {
            quote! {
                #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
                #[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
            }
        });
        let fields = layout.values().map(|field| {
            let docs = doc(field_doc(field));
            let name = field_ident(&field.name);
            let ty = self.rust.field_type(field);
            let deprecated = field.deprecated.as_ref().map(|why| quote!(#[deprecated = #why]));
            let serde = (self.rust.options.features && is_long_array(field))
                .then(|| quote!(#[cfg_attr(feature = "serde", serde(with = "serde_array"))]));
            quote!(#docs #deprecated #serde pub #name: #ty,)
        });
        // Arrays of more than 32 have no default of their own.
        let (derived, default) = match layout.values().any(is_long_array) {
            false => (quote!(, Default), quote!()),
            true => (quote!(), self.default_impl()),
        };
        quote! {
            #docs
            #[derive(Clone, Copy, Debug #derived, PartialEq #equality)]
            #features
            pub struct #name { #(#fields)* }

            #default
        }
    }

    /// The default value, written out.
    pub(super) fn default_impl(&self) -> TokenStream {
        let name = &self.name;
        let defaults = self.layout.values().map(|field| {
            let name = field_ident(&field.name);
            let one = match (&field.meaning, field.element) {
                (Meaning::Enum(_) | Meaning::Bitmask(_), _) | (_, Element::Layout(_)) => {
                    let ty = self.rust.element_type(field);
                    quote!(#ty::default())
                }
                (Meaning::Bool, _) => quote!(false),
                (_, Element::Scalar(scalar)) if !scalar.is_integer() => quote!(0.0),
                _ => quote!(0),
            };
            match field.count {
                Some(count) => {
                    let count = Literal::u32_unsuffixed(count);
                    quote!(#name: [#one; #count],)
                }
                None => quote!(#name: #one,),
            }
        });
        quote! {
            impl Default for #name {
                fn default() -> Self {
                    Self { #(#defaults)* }
                }
            }
        }
    }

    /// Constants, decoding and encoding.
    pub(super) fn native_impl(&self) -> TokenStream {
        let Self { name, view, mutable, size, .. } = self;
        let count = Literal::usize_unsuffixed(self.layout.fields.len());
        let rows = self.layout.fields.iter().map(|field| self.row(field));
        let support = &self.rust.options.wire;
        let text = &self.layout.name;
        let wire = &self.wire;
        let offsets = self.layout.fields.iter().map(|field| {
            let constant = format_ident!("{}_OFFSET", const_ident(&field.name));
            let docs = doc([format!("First byte of `{}`.", field.name)]);
            let name = field_ident(&field.name);
            let offset = match self.layout.given {
                Some(_) => Literal::u32_unsuffixed(field.offset).into_token_stream(),
                None => quote!(core::mem::offset_of!(#wire, #name)),
            };
            quote!(#docs pub const #constant: usize = #offset;)
        });
        let change = self.layout.mutable.then(|| {
            quote! {
                /// Checks bytes and makes it possible to change them where they are.
                ///
                /// # Errors
                ///
                /// As [`Self::view`].
                #[inline]
                pub fn view_mut(bytes: &mut [u8]) -> Result<#mutable<'_>, #support::Fault> {
                    #mutable::new(bytes)
                }
            }
        });
        quote! {
            impl #name {
                /// Its name in the registry.
                pub const NAME: &'static str = #text;

                /// Its bytes on the wire.
                pub const SIZE: usize = #size;

                #(#offsets)*

                /// The fields as data.
                pub const FIELDS: [#support::Field; #count] = [#(#rows),*];

                /// Checks bytes and looks at them where they are.
                ///
                /// # Errors
                ///
                /// The first fault: length, fields by offset, rules.
                #[inline]
                pub fn view(bytes: &[u8]) -> Result<#view<'_>, #support::Fault> {
                    #view::new(bytes)
                }

                #change

                /// Reads exactly [`Self::SIZE`] bytes.
                ///
                /// # Errors
                ///
                /// As [`Self::view`].
                #[inline]
                pub fn decode(bytes: &[u8]) -> Result<Self, #support::Fault> {
                    #support::decode(bytes)
                }

                /// Writes exactly [`Self::SIZE`] bytes, or none of them.
                ///
                /// # Errors
                ///
                /// Where `out` is of another size, and what [`Self::decode`] would say of the bytes.
                #[inline]
                pub fn encode_into(&self, out: &mut [u8]) -> Result<(), #support::Fault> {
                    #support::encode(self, out)
                }

                /// The bytes on the wire.
                ///
                /// # Errors
                ///
                /// What [`Self::decode`] would say of them.
                #[inline]
                pub fn to_bytes(&self) -> Result<[u8; #size], #support::Fault> {
                    #support::to_bytes(self)
                }

                /// Checks what the types of the fields leave open.
                ///
                /// # Errors
                ///
                /// What [`Self::decode`] would say of the bytes.
                #[inline]
                pub fn validate(&self) -> Result<(), #support::Fault> {
                    #support::validate(self)
                }
            }
        }
    }

    /// In an expansion nothing is compiled that nobody calls.
    pub(super) fn inline(&self) -> Option<TokenStream> {
        self.layout.given.is_some().then(|| quote!(#[inline]))
    }

    /// What layouts do alike, and what one needs to stand in another.
    pub(super) fn traits(&self) -> TokenStream {
        let inline = self.inline();
        let Self { name, view, wire, size, .. } = self;
        let support = &self.rust.options.wire;
        let text = &self.layout.name;
        let pack = self.pack();
        let unpack = self.unpack();
        let holds = self.native_condition();
        let condition = self.byte_condition();
        let blames = self.layout.rules.iter().map(|rule| self.blame(rule));
        let first = quote!(#support::first_fault(bytes, &#name::FIELDS));
        let search = if self.layout.rules.is_empty() {
            first
        } else {
            quote! {
                if let Some(fault) = #first {
                    return Some(fault);
                }
                #(#blames)*
                None
            }
        };
        quote! {
            impl #support::Layout for #name {
                type View<'a> = #view<'a>;

                const NAME: &'static str = #text;
                const SIZE: usize = #size;

                #[inline]
                fn view(bytes: &[u8]) -> Result<#view<'_>, #support::Fault> {
                    #view::new(bytes)
                }
            }

            impl #support::Packed for #name {
                type Bytes = [u8; #size];

                const SITE: &'static #support::Site = &#wire::SITE;

                #[inline]
                fn holds(&self) -> bool { #holds }

                #[inline]
                fn pack(&self) -> [u8; #size] { #pack }

                #[inline]
                fn unpack(bytes: &[u8; #size]) -> Self { #unpack }

                #[inline]
                fn bytes_hold(bytes: &[u8; #size]) -> bool { #condition }

                #inline
                fn find_fault(bytes: &[u8; #size]) -> Option<#support::Fault> { #search }
            }
        }
    }

    /// The native values of checked bytes.
    pub(super) fn unpack(&self) -> TokenStream {
        let values = self.layout.stored().map(|field| {
            let name = field_ident(&field.name);
            // The getters of the view read the same; a deprecated one would say so.
            let value = match field.has_value() && field.deprecated.is_none() {
                true => {
                    let getter = ident(&names::getter(&field.name));
                    quote!(view.#getter())
                }
                false => self.get(field, &quote!(bytes)),
            };
            quote!(#name: #value,)
        });
        if self.layout.stored().all(|field| field.native == Native::Place) {
            return quote!(let _ = bytes; Self { #(#values)* });
        }
        let view = &self.view;
        let looked = self.layout.values().any(|field| field.deprecated.is_none());
        let look = looked.then(|| quote!(let view = #view(bytes);));
        quote!(#look Self { #(#values)* })
    }

    /// The bytes of native values, unchecked.
    pub(super) fn pack(&self) -> TokenStream {
        let size = &self.size;
        let constants = constants(self.layout);
        let start = if constants.iter().any(|byte| *byte != 0) {
            let bytes = Literal::byte_string(&constants);
            quote!(*#bytes)
        } else {
            quote!([0; #size])
        };
        let puts = (self.layout.stored())
            .filter(|field| field.native != Native::Place)
            .map(|field| self.put(field, &quote!(bytes), &|name| quote!(self.#name)));
        let body = quote!(#(#puts)*);
        if body.is_empty() { start } else { quote!(let mut bytes = #start; #body bytes) }
    }

    /// Statements that write a field's value into `bytes`, an array of the whole layout.
    pub(super) fn put(
        &self,
        field: &Field,
        bytes: &TokenStream,
        value: &dyn Fn(&Ident) -> TokenStream,
    ) -> TokenStream {
        let support = &self.rust.options.wire;
        let name = field_ident(&field.name);
        let offset = Literal::u32_unsuffixed(field.offset);
        let value = value(&name);
        let reference = if bytes.to_string() == "bytes" { quote!(&mut bytes) } else { bytes.clone() };
        match (field.element, field.count) {
            (Element::Scalar(Scalar::U8), Some(_)) => quote!(#support::put(#reference, #offset, #value);),
            (Element::Scalar(scalar), Some(_)) => {
                let write = format_ident!("put_{}", reads_ident(scalar, self.big()));
                quote!(#support::#write(#reference, #offset, #value);)
            }
            (Element::Layout(_), None) => {
                quote!(#support::put(#reference, #offset, #support::Packed::pack(&#value));)
            }
            (Element::Layout(_), Some(_)) => {
                quote!(#support::put_layouts(#reference, #offset, &#value);)
            }
            (Element::Scalar(scalar), None) => {
                let raw = bare(self.rust.raw_of(field, scalar, &value));
                match scalar {
                    Scalar::U8 => quote!(#bytes[#offset] = #raw;),
                    _ => {
                        let write = format_ident!("put_{}", read_ident(scalar, self.big()));
                        quote!(#support::#write(#reference, #offset, #raw);)
                    }
                }
            }
        }
    }
}
