//! What a refused item gets in place of its impls, so that the reason is all that the compiler says.
//!
//! Code around a derive uses what it gives, and would be in error a dozen times over if nothing came of it. So all the
//! names are there. Each has to do with a type that is the error itself, and of such a type the compiler says no more:
//! neither of its methods nor of what a constant made from it would be.
//!
//! The errors stand there twice and are said once. As items they also keep the compiler from missing what their module
//! does not have, such as a type `u4`.

use std::collections::BTreeSet;

use nnrp_gen::names;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::{Data, DeriveInput};

/// The type that is the errors: what an array of no good length would be made of.
fn failed(errors: &TokenStream) -> TokenStream {
    quote!(<[(); { #errors }] as ::core::iter::IntoIterator>::Item)
}

/// In place of `derive(Layout)`; `mutable` is whether it was asked for the type behind `view_mut`.
pub fn layout(input: &DeriveInput, root: &TokenStream, mutable: bool, errors: &TokenStream) -> TokenStream {
    let failed = failed(errors);
    let (name, visibility) = (&input.ident, &input.vis);
    let (generics, arguments, condition) = input.generics.split_for_impl();
    let title = name.unraw();
    let view = format_ident!("{title}View", span = name.span());
    let wire = format_ident!("{title}Wire", span = name.span());
    let mutable = mutable.then(|| {
        let mutable = format_ident!("{title}Mut", span = name.span());
        quote!(#visibility type #mutable<'__a> = #view<'__a>;)
    });
    let offsets = offsets(input).into_iter().map(|name| format_ident!("{name}"));
    let none = quote!(#view<'static>);
    let value = quote!(<#none>::VALUE);
    quote! {
        #errors
        #visibility type #view<'__a> = #failed;
        #visibility type #wire = #none;
        #mutable

        #[allow(dead_code, missing_docs, clippy::all, clippy::pedantic)]
        impl #generics #name #arguments #condition {
            pub const NAME: #none = #value;
            pub const SIZE: #none = #value;
            pub const FIELDS: #none = #value;
            #(pub const #offsets: #none = #value;)*

            pub fn view<__T>(_: __T) -> #none { #value }
            pub fn view_mut<__T>(_: __T) -> #none { #value }
            pub fn decode<__T>(_: __T) -> #none { #value }
            pub fn encode_into<__T>(&self, _: __T) -> #none { #value }
            pub fn to_bytes(&self) -> #none { #value }
            pub fn validate(&self) -> #none { #value }
        }

        impl #generics #root::wire::Layout for #name #arguments #condition {
            type View<'__a> = #view<'__a>;
            const NAME: &'static ::core::primitive::str = #value;
            const SIZE: ::core::primitive::usize = #value;
            fn view(_: &[::core::primitive::u8])
                -> ::core::result::Result<Self::View<'_>, #root::wire::Fault> { #value }
        }

        impl #generics #root::wire::Packed for #name #arguments #condition {
            type Bytes = #none;
            const SITE: &'static #root::wire::Site = #value;
            fn holds(&self) -> ::core::primitive::bool { #value }
            fn pack(&self) -> Self::Bytes { #value }
            fn unpack(_: &Self::Bytes) -> Self { #value }
            fn bytes_hold(_: &Self::Bytes) -> ::core::primitive::bool { #value }
            fn find_fault(_: &Self::Bytes) -> ::core::option::Option<#root::wire::Fault> { #value }
        }

        impl #generics #root::describe::Described for #name #arguments #condition {
            const DEFINITION: &'static #root::describe::Layout = #value;
        }
    }
}

/// What the offsets of the fields would be called, each once, whatever the fields are called.
fn offsets(input: &DeriveInput) -> BTreeSet<String> {
    let fields: Vec<_> = match &input.data {
        Data::Struct(data) => data.fields.iter().collect(),
        Data::Union(data) => data.fields.named.iter().collect(),
        Data::Enum(_) => Vec::new(),
    };
    let idents = fields.into_iter().filter_map(|field| field.ident.as_ref());
    idents.map(|ident| format!("{}_OFFSET", names::screaming(&ident.unraw().to_string()))).collect()
}

/// In place of `derive(WireEnum)`.
pub fn enumeration(input: &DeriveInput, root: &TokenStream, errors: &TokenStream) -> TokenStream {
    let failed = failed(errors);
    let name = &input.ident;
    let (generics, arguments, condition) = input.generics.split_for_impl();
    // Whether it is `Copy` is asked where it is used: a lifetime of its own keeps the compiler from asking here.
    let condition = condition.map_or_else(|| quote!(where), |condition| quote!(#condition,));
    let condition = quote!(#condition for<'__any> Self: ::core::marker::Copy + ::core::fmt::Debug + 'static);
    let value = quote!(<Failed>::VALUE);
    quote! {
        #errors
        const _: () = {
            type Failed = #failed;

            impl #generics #root::wire::WireEnum for #name #arguments #condition {
                type Raw = Failed;
                const NAME: &'static ::core::primitive::str = #value;
                const NAMES: &'static [(&'static ::core::primitive::str, ::core::primitive::u64)] = #value;
                const RANGES: &'static [(
                    &'static ::core::primitive::str,
                    ::core::primitive::u64,
                    ::core::primitive::u64,
                )] = #value;
                const SPANS: &'static [(::core::primitive::u64, ::core::primitive::u64)] = #value;
                fn accepts(_: ::core::primitive::u64) -> ::core::primitive::bool { #value }
                fn from_raw(_: Self::Raw) -> ::core::option::Option<Self> { #value }
                fn raw(self) -> Self::Raw { #value }
                fn name(self) -> ::core::option::Option<&'static ::core::primitive::str> { #value }
                fn checked(_: ::core::primitive::u64) -> Self { #value }
                fn number(self) -> ::core::primitive::u64 { #value }
            }
        };
    }
}

/// In place of `derive(ProfileDescriptor)`.
pub fn profile(input: &DeriveInput, root: &TokenStream, errors: &TokenStream) -> TokenStream {
    let failed = failed(errors);
    let name = &input.ident;
    let (generics, arguments, condition) = input.generics.split_for_impl();
    let value = quote!(<Failed>::VALUE);
    quote! {
        #errors
        const _: () = {
            type Failed = #failed;

            impl #generics #root::ProfileDescriptor for #name #arguments #condition {
                const PROFILE_ID: #root::ProfileId = #value;
                const SCHEMA_ID: ::core::primitive::u32 = #value;
                const SCHEMA_VERSION: ::core::primitive::u32 = #value;
                const SEMANTICS: #root::StreamSemantics = #value;
                const FLAGS: #root::SchemaFlags = #value;
                const SCHEMA_BODY: &'static [::core::primitive::u8] = #value;
                const SCHEMA_HASH: ::core::primitive::u64 = #value;
                fn description() -> &'static ::core::primitive::str { #value }
            }
        };
    }
}
