//! Checked bytes, to read and to change.

use super::wire::copied;
use super::{Emit, field_doc, rule_fields};
use crate::emit::rust::{doc, ident, reads_ident, scalar_ident, type_ident};
use crate::model::{Element, Field, Meaning, Native, Scalar};
use crate::names;
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

impl Emit<'_> {
    /// Bytes that were checked.
    pub(super) fn view_struct(&self) -> TokenStream {
        let inline = self.inline();
        let Self { name, view, size, visibility, title, .. } = self;
        let support = &self.rust.options.wire;
        let docs = doc([
            format!("The bytes of a [`{title}`], checked and where they are."),
            "Holding one proves that every check passed.".to_owned(),
        ]);
        let getters = self.layout.values().map(|field| {
            let docs = doc(field_doc(field));
            let getter = ident(&names::getter(&field.name));
            let ty = self.rust.field_type(field);
            let value = self.get(field, &quote!(self.0));
            let deprecated = field.deprecated.as_ref().map(|why| quote!(#[deprecated = #why]));
            quote! {
                #docs
                #deprecated
                #[inline]
                pub fn #getter(&self) -> #ty {
                    #value
                }
            }
        });
        let debug = self.view_debug();
        let (copy, copied) = match self.layout.given {
            None => (quote!(#[derive(Clone, Copy, PartialEq, Eq)]), quote!()),
            Some(_) => {
                let copied = copied(&quote!(#view<'_>));
                let equal = quote! {
                    impl PartialEq for #view<'_> {
                        #[inline]
                        fn eq(&self, other: &Self) -> bool { self.0 == other.0 }
                    }

                    impl Eq for #view<'_> {}
                };
                (quote!(), quote!(#copied #equal))
            }
        };
        quote! {
            #docs
            #copy
            #visibility struct #view<'a>(&'a [u8; #size]);

            #copied

            impl<'a> #view<'a> {
                /// Checks bytes.
                ///
                /// # Errors
                ///
                /// The first fault: length, fields by offset, rules.
                #[inline]
                pub fn new(bytes: &'a [u8]) -> Result<Self, #support::Fault> {
                    match #support::check::<#name, #size>(bytes) {
                        Ok(array) => Ok(Self(array)),
                        Err(fault) => Err(fault),
                    }
                }

                /// The bytes themselves.
                #[inline]
                pub const fn as_bytes(&self) -> &'a [u8; #size] { self.0 }

                /// The values in a struct of their own.
                #[inline]
                pub fn to_owned(&self) -> #name {
                    #support::Packed::unpack(self.0)
                }

                #(#getters)*
            }

            impl core::fmt::Debug for #view<'_> {
                #inline
                fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                    #debug
                }
            }
        }
    }

    /// How a view is shown: as the native struct, of which nothing is asked if somebody wrote it.
    pub(super) fn view_debug(&self) -> TokenStream {
        if self.layout.given.is_none() {
            return quote!(core::fmt::Debug::fmt(&self.to_owned(), out));
        }
        let title = format!("{}View", self.title);
        let support = &self.rust.options.wire;
        let fields = self.layout.values().map(|field| {
            let name = &field.name;
            let value = match (&field.meaning, field.element) {
                (Meaning::Bitmask(_), Element::Scalar(scalar)) => {
                    let raw = self.load(&quote!(self.0), field.offset, scalar);
                    quote!(format_args!("{:#x}", #raw))
                }
                (_, Element::Layout(_)) => {
                    let (size, bytes) =
                        (Literal::u32_unsuffixed(self.layout.size), Literal::u32_unsuffixed(field.size));
                    let offset = Literal::u32_unsuffixed(field.offset);
                    quote!(#support::part::<#size, #bytes>(self.0, #offset))
                }
                _ => {
                    let getter = ident(&names::getter(name));
                    quote!(self.#getter())
                }
            };
            quote!((#name, &#value))
        });
        quote!(#support::show(out, #title, &[#(#fields),*]))
    }

    /// The native value of a field, from checked bytes.
    pub(super) fn get(&self, field: &Field, bytes: &TokenStream) -> TokenStream {
        let support = &self.rust.options.wire;
        let offset = Literal::u32_unsuffixed(field.offset);
        match (field.element, field.count) {
            _ if field.native == Native::Place => quote!(#support::Reserved),
            (Element::Scalar(Scalar::U8), Some(_)) => quote!(*#support::part(#bytes, #offset)),
            (Element::Scalar(scalar), Some(_)) => {
                let read = reads_ident(scalar, self.big());
                quote!(#support::#read(#bytes, #offset))
            }
            (Element::Layout(inner), None) => {
                let ty = self.rust.layout_type(inner);
                quote!(<#ty as #support::Packed>::unpack(#support::part(#bytes, #offset)))
            }
            (Element::Layout(inner), Some(_)) => {
                let ty = self.rust.layout_type(inner);
                let step = Literal::u32_unsuffixed(self.rust.registry.layouts[inner].size);
                quote!(core::array::from_fn(|at| {
                    <#ty as #support::Packed>::unpack(#support::part(#bytes, #offset + at * #step))
                }))
            }
            (Element::Scalar(scalar), None) => {
                let raw = self.load(bytes, field.offset, scalar);
                let narrow = |narrow: Scalar| {
                    if narrow == scalar {
                        raw.clone()
                    } else {
                        let ty = scalar_ident(narrow);
                        quote!(#raw as #ty)
                    }
                };
                match field.meaning {
                    _ if field.native == Native::Number => raw,
                    Meaning::Enum(position) if self.rust.registry.enums[position].is_foreign() => {
                        let path = self.rust.enum_path(position);
                        quote!(#path::checked(#raw as u64))
                    }
                    Meaning::Bitmask(position) if self.rust.registry.bitmasks[position].is_foreign() => {
                        let ty = self.rust.bitmask_path(position);
                        quote!(<#ty>::from_bits_retain(#raw as _))
                    }
                    Meaning::Enum(position) => {
                        let item = &self.rust.registry.enums[position];
                        let ty = type_ident(&item.name);
                        let raw = narrow(item.ty);
                        if item.is_open() { quote!(#ty(#raw)) } else { quote!(#ty::checked(#raw)) }
                    }
                    Meaning::Bitmask(position) => {
                        let item = &self.rust.registry.bitmasks[position];
                        let ty = type_ident(&item.name);
                        let raw = narrow(item.ty);
                        quote!(#ty::from_bits_retain(#raw))
                    }
                    Meaning::Bool => quote!(#raw != 0),
                    _ => raw,
                }
            }
        }
    }

    /// Checked bytes that can be changed.
    pub(super) fn mut_struct(&self) -> TokenStream {
        let inline = self.inline();
        let Self { name, view, mutable, size, visibility, title, .. } = self;
        let support = &self.rust.options.wire;
        let docs = doc([
            format!("The bytes of a [`{title}`], checked, to change where they are."),
            "They are good after every call: a change that would break them is refused.".to_owned(),
        ]);
        let ruled: Vec<usize> =
            self.layout.rules.iter().flat_map(rule_fields).map(|field| field.index).collect();
        let setters = self.layout.fields.iter().enumerate().filter(|(_, field)| field.has_value()).map(
            |(position, field)| {
                let setter = format_ident!("set_{}", field.name);
                let ty = self.rust.field_type(field);
                let open = ruled.contains(&position)
                    || matches!(field.meaning, Meaning::Bitmask(_))
                    || matches!(field.meaning, Meaning::Enum(position) if self.rust.registry.enums[position].is_foreign())
                    || (field.meaning == Meaning::Bool && field.native == Native::Number)
                    || matches!(field.element, Element::Layout(_));
                let deprecated = field.deprecated.as_ref().map(|why| quote!(#[deprecated = #why]));
                if open {
                    let docs = doc([format!("Sets `{}`.", field.name)]);
                    let put = self.put(field, &quote!(bytes), &|_| quote!(value));
                    quote! {
                        #docs
                        ///
                        /// # Errors
                        ///
                        /// Where the bytes would not be good then; they stay as they are.
                        #deprecated
                        #[inline]
                        pub fn #setter(&mut self, value: #ty) -> Result<(), #support::Fault> {
                            let mut bytes = *self.0;
                            #put
                            #support::replace::<#name, #size>(self.0, bytes)
                        }
                    }
                } else {
                    let docs = doc([format!("Sets `{}`.", field.name)]);
                    let put = self.put(field, &quote!(self.0), &|_| quote!(value));
                    quote! {
                        #docs
                        #deprecated
                        #[inline]
                        pub fn #setter(&mut self, value: #ty) { #put }
                    }
                }
            },
        );
        quote! {
            #docs
            #visibility struct #mutable<'a>(&'a mut [u8; #size]);

            impl<'a> #mutable<'a> {
                /// Checks bytes.
                ///
                /// # Errors
                ///
                /// The first fault: length, fields by offset, rules.
                #[inline]
                pub fn new(bytes: &'a mut [u8]) -> Result<Self, #support::Fault> {
                    match #support::check_mut::<#name, #size>(bytes) {
                        Ok(array) => Ok(Self(array)),
                        Err(fault) => Err(fault),
                    }
                }

                /// The bytes to read.
                #[inline]
                pub const fn as_view(&self) -> #view<'_> { #view(self.0) }

                /// Changes several values together.
                ///
                /// # Errors
                ///
                /// Where the bytes would not be good then; they stay as they are.
                #[inline]
                pub fn update(&mut self, change: impl FnOnce(&mut #name)) -> Result<(), #support::Fault> {
                    let mut whole: #name = #support::Packed::unpack(&*self.0);
                    change(&mut whole);
                    #support::encode(&whole, self.0)
                }

                #(#setters)*
            }

            impl core::fmt::Debug for #mutable<'_> {
                #inline
                fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                    core::fmt::Debug::fmt(&self.as_view(), out)
                }
            }
        }
    }
}
