//! What only the compiler knows of the user's types, as assertions.

use std::collections::HashMap;

use nnrp_gen::emit::rust;
use nnrp_gen::model::{Meaning, Registry};
use nnrp_gen::rule;
use nnrp_gen::syntax::Scalar;
use proc_macro2::{Ident, Literal, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};

use crate::field::{Held, HeldKind};

/// Holds the type of a field to what its attribute says of it.
pub fn type_held(held: &Held, root: &TokenStream) -> TokenStream {
    let Held { ty, name, kind } = held;
    let span = ty.clone().into_iter().next().map_or_else(Span::call_site, |token| token.span());
    let written = ty.to_string().replace(' ', "");
    let root = &at(root, span);
    match kind {
        HeldKind::Enum(width) => {
            let bytes = bytes(*width);
            let message = format!("`{written}` does not fit `{name}`, which is {}", width.name());
            quote_spanned!(span=> const _: () = #root::held::an_enum::<#ty>(#bytes, #message);)
        }
        HeldKind::Bitmask(width) => {
            let bytes = bytes(*width);
            let message = format!("`{written}` does not fit `{name}`, which is {}", width.name());
            quote_spanned!(span=> const _: () = #root::held::a_bitmask::<#ty>(#bytes, #message);)
        }
        HeldKind::Layout(size) => {
            let bytes = Literal::u64_unsuffixed(u64::try_from(*size).unwrap_or_default());
            let message = format!("`{written}` is no layout of {size} bytes, as `{name}` says");
            quote_spanned!(span=> const _: () = #root::held::a_layout::<#ty>(#bytes, #message);)
        }
        HeldKind::Reserved(bytes) => {
            let bytes = Literal::u64_unsuffixed(*bytes);
            quote_spanned! {span=>
                const _: ::core::option::Option<#ty> =
                    ::core::option::Option::<#root::wire::Reserved<#bytes>>::None;
            }
        }
    }
}

fn bytes(width: Scalar) -> Literal {
    Literal::u32_unsuffixed(width.size())
}

/// The numbers of names in rules, as constants of the wire struct; a name that its type does not have is refused.
/// `ends` is where each rule stands.
pub fn names_held(
    model: &Registry,
    types: &HashMap<String, TokenStream>,
    ends: &[[Span; 2]],
    root: &TokenStream,
    wire: &Ident,
) -> TokenStream {
    let Some(layout) = model.layouts.last() else { return TokenStream::new() };
    let mut written = Vec::new();
    let mut constants = TokenStream::new();
    let mut idents = Vec::new();
    for (rule, [span, _]) in layout.rules.iter().zip(ends) {
        let span = *span;
        let root = &at(root, span);
        let (values, bits) = rule::named(&rule.condition());
        let values = values.into_iter().map(|(position, name)| (&model.enums[position].given, name, true));
        let bits = bits.into_iter().filter_map(|(field, name)| match layout.fields[field.index].meaning {
            Meaning::Bitmask(position) => Some((&model.bitmasks[position].given, name, false)),
            _ => None,
        });
        for (given, name, is_value) in values.chain(bits) {
            let Some((title, ty)) = given.as_ref().and_then(|title| Some((title, types.get(title)?))) else {
                continue;
            };
            let constant = rust::named(title, &name);
            if written.contains(&constant) {
                continue;
            }
            let ident = Ident::new(&constant, span);
            let what = if is_value { "value" } else { "bit" };
            let message = format!("rule {}: `{name}` is no {what} of `{title}`", rule.id);
            let number = if is_value {
                quote_spanned!(span=> #root::held::value::<#ty>(#name, #message))
            } else {
                quote_spanned! {span=>
                    <#ty as #root::bitflags::Flags>::FLAGS[#root::held::flag::<#ty>(#name, #message)]
                        .value()
                        .bits() as ::core::primitive::u64
                }
            };
            constants.extend(quote_spanned!(span=> const #ident: ::core::primitive::u64 = #number;));
            written.push(constant);
            idents.push(ident);
        }
    }
    if constants.is_empty() {
        return constants;
    }
    // Nobody may ask for them before the struct is used.
    quote!(impl #wire { #constants } #(const _: ::core::primitive::u64 = #wire::#idents;)*)
}

/// The same tokens at another place, so that an error is there too.
fn at(tokens: &TokenStream, span: Span) -> TokenStream {
    let place = |mut token: TokenTree| {
        token.set_span(span);
        token
    };
    tokens.clone().into_iter().map(place).collect()
}
