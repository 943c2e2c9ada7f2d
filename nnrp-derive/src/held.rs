//! What only the compiler knows of the user's types, as assertions.

use std::collections::HashMap;

use nnrp_gen::model::{Meaning, Registry};
use nnrp_gen::rule;
use nnrp_gen::syntax::Scalar;
use proc_macro2::{Literal, Span, TokenStream};
use quote::quote_spanned;

use crate::field::{Held, HeldKind};

/// Holds the type of a field to what its attribute says of it.
pub fn type_held(held: &Held, root: &TokenStream) -> TokenStream {
    let Held { ty, name, kind } = held;
    let span = ty.clone().into_iter().next().map_or_else(Span::call_site, |token| token.span());
    let written = ty.to_string().replace(' ', "");
    match kind {
        HeldKind::Enum(width) => {
            let bytes = bytes(*width);
            let message = format!("`{written}` does not fit `{name}`, which is {}", width.name());
            quote_spanned! {span=>
                const _: () = {
                    const fn is_enum<T: #root::wire::WireEnum>() {}
                    is_enum::<#ty>();
                    ::core::assert!(::core::mem::size_of::<<#ty as #root::wire::WireEnum>::Raw>() <= #bytes, #message);
                };
            }
        }
        HeldKind::Bitmask(width) => {
            let bytes = bytes(*width);
            let message = format!("`{written}` does not fit `{name}`, which is {}", width.name());
            quote_spanned! {span=>
                const _: () = {
                    const fn is_bitmask<T: #root::bitflags::Flags>() where T::Bits: #root::wire::Unsigned {}
                    is_bitmask::<#ty>();
                    ::core::assert!(::core::mem::size_of::<<#ty as #root::bitflags::Flags>::Bits>() <= #bytes, #message);
                };
            }
        }
        HeldKind::Layout(size) => {
            let bytes = Literal::u64_unsuffixed(u64::try_from(*size).unwrap_or_default());
            let message = format!("`{written}` is no layout of {size} bytes, as `{name}` says");
            quote_spanned! {span=>
                const _: () = {
                    const fn is_layout<T: #root::wire::Layout>() {}
                    is_layout::<#ty>();
                    ::core::assert!(<#ty as #root::wire::Layout>::SIZE == #bytes, #message);
                };
            }
        }
        HeldKind::Reserved(bytes) => {
            let bytes = Literal::u64_unsuffixed(*bytes);
            quote_spanned! {span=>
                const _: fn(#ty) -> #root::wire::Reserved<#bytes> = |place| place;
            }
        }
    }
}

fn bytes(width: Scalar) -> Literal {
    Literal::u32_unsuffixed(width.size())
}

/// Holds the names in rules to the types that they should be of. `ends` is where each rule stands.
pub fn names_held(
    model: &Registry,
    types: &HashMap<String, TokenStream>,
    ends: &[[Span; 2]],
    root: &TokenStream,
) -> TokenStream {
    let Some(layout) = model.layouts.last() else { return TokenStream::new() };
    let mut out = TokenStream::new();
    let ty = |title: Option<&String>| {
        let title = title?;
        types.get(title).map(|ty| (ty.clone(), title.clone()))
    };
    for (rule, [span, _]) in layout.rules.iter().zip(ends) {
        let (values, bits) = rule::named(&rule.condition());
        let span = *span;
        for (position, name) in values {
            let Some((ty, title)) = ty(model.enums[position].given.as_ref()) else { continue };
            let message = format!("rule {}: `{name}` is no value of `{title}`", rule.id);
            out.extend(quote_spanned! {span=>
                const _: () = ::core::assert!(
                    #root::wire::has_name(<#ty as #root::wire::WireEnum>::NAMES, #name),
                    #message
                );
            });
        }
        for (field, name) in bits {
            let Meaning::Bitmask(position) = layout.fields[field.index].meaning else { continue };
            let Some((ty, title)) = ty(model.bitmasks[position].given.as_ref()) else { continue };
            let message = format!("rule {}: `{name}` is no bit of `{title}`", rule.id);
            out.extend(quote_spanned! {span=>
                const _: () = {
                    let flags = <#ty as #root::bitflags::Flags>::FLAGS;
                    let (mut at, mut found) = (0, false);
                    while at < flags.len() {
                        found = found || #root::wire::same_name(flags[at].name(), #name);
                        at += 1;
                    }
                    ::core::assert!(found, #message);
                };
            });
        }
    }
    out
}
