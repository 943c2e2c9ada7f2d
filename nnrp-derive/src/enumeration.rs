//! `derive(WireEnum)`: an enum with numbers.

use nnrp_gen::names;
use nnrp_gen::source::{Span, Spanned};
use nnrp_gen::syntax::{Enum, Range, Scalar, Value};
use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Data, DeriveInput, Fields};

use crate::derive::{Derive, doc, snake};
use crate::keys::{Context, Keys};
use crate::refuse::refuse;
use crate::root::root;
use crate::stub;

/// Expands `derive(WireEnum)`.
pub fn expand(input: &DeriveInput) -> TokenStream {
    let mut derive = Derive::new(&input.ident);
    let cx = &mut derive.cx;
    let doc_comment = doc(cx, &input.attrs);
    let mut keys = Keys::read(cx, &input.attrs, "wire", "enum");
    let root = keys.path(cx, "crate").unwrap_or_else(root);
    let name = keys.text(cx, "name");
    let source = keys.text(cx, "source");
    keys.close(cx);
    let title = input.ident.unraw().to_string();
    let ident = cx.places.spanned(title.clone(), &input.ident);
    let variants = variants_of(cx, input, &title, ident.span);
    let ty = variants.is_some().then(|| repr(cx, input, &title, ident.span)).flatten();
    let (Some(variants), Some(ty)) = (variants, ty) else {
        return stub::enumeration(input, &root, &refuse(&derive.cx.report, &derive.cx.places));
    };
    let mut item = Enum {
        name: name.unwrap_or_else(|| Spanned::new(snake(&title), ident.span)),
        ty,
        values: Vec::new(),
        ranges: Vec::new(),
        complete: true,
        from_messages: None,
        given: Some(title),
        source,
        doc: doc_comment,
        span: ident.span,
    };
    let mut next = 0;
    for variant in variants {
        read(&mut derive, &mut item, variant, &mut next);
    }
    derive.registry.enums.push(item);
    let expansion = derive.finish(&root, |_| TokenStream::new());
    expansion.unwrap_or_else(|errors| stub::enumeration(input, &root, &errors))
}

/// The variants of what can be an enum on the wire.
fn variants_of<'i>(
    cx: &mut Context,
    input: &'i DeriveInput,
    title: &str,
    span: Span,
) -> Option<Vec<&'i syn::Variant>> {
    if !input.generics.params.is_empty() {
        let span = cx.places.of(&input.generics.params);
        cx.error(span, format!("`{title}` is generic, and a number on the wire is not")).help =
            Some("take the parameters out".to_owned());
        return None;
    }
    let (message, help) = match &input.data {
        Data::Enum(data) if !data.variants.is_empty() => return Some(data.variants.iter().collect()),
        Data::Enum(_) => (format!("`{title}` has no variants"), "a number on the wire has some value"),
        Data::Struct(_) => (format!("`{title}` is no enum"), "a struct derives `Layout`"),
        Data::Union(_) => (format!("`{title}` is no enum"), "a union has no number on the wire"),
    };
    cx.error(span, message).help = Some(help.to_owned());
    None
}

/// The integer of `#[repr(…)]`.
fn repr(cx: &mut Context, input: &DeriveInput, title: &str, span: Span) -> Option<Spanned<Scalar>> {
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("repr")) {
        let Ok(list) = attribute.meta.require_list() else { continue };
        for token in list.tokens.clone() {
            let word = token.to_string();
            let span = cx.places.at(token.span());
            match Scalar::named(&word) {
                Some(scalar) if scalar.is_unsigned() => return Some(Spanned::new(scalar, span)),
                Some(_) => {
                    cx.error(span, format!("`{title}` is {word}, and enums on the wire have no sign")).help =
                        Some(format!("write `u{}`", word.trim_start_matches(['i', 'f'])));
                    return None;
                }
                None if word == "usize" || word == "isize" => {
                    cx.error(span, format!("`{title}` is {word}, whose width depends on the machine")).help =
                        Some("write the width that it has on the wire, such as `u16`".to_owned());
                    return None;
                }
                None => {}
            }
        }
    }
    cx.error(span, format!("`{title}` does not say how wide it is on the wire")).help =
        Some("add `#[repr(u8)]`, or u16, u32 or u64".to_owned());
    None
}

/// Reads a variant into `item`. `next` is its number if it does not say one.
fn read(derive: &mut Derive, item: &mut Enum, variant: &syn::Variant, next: &mut i128) {
    let cx = &mut derive.cx;
    let doc = doc(cx, &variant.attrs);
    let mut keys = Keys::read(cx, &variant.attrs, "wire", "variant");
    let called = keys.text(cx, "name");
    let range = keys.range(cx, "range");
    let ranged = keys.has("range") || keys.misspelled("range");
    keys.close(cx);
    let ident = variant.ident.unraw().to_string();
    let span = cx.places.of(&variant.ident);
    let name = called.unwrap_or_else(|| Spanned::new(snake(&ident), span));
    let written = &variant.ident;
    let emitted = names::pascal(&name.value);
    if variant.ident != emitted {
        derive.given.insert(emitted, written.to_string());
    }
    let value = match &variant.discriminant {
        None => Some(Spanned::new(*next, span)),
        Some((_, value)) => {
            let span = cx.places.of(value);
            let number = number(&value.to_token_stream());
            if number.is_none() {
                cx.error(span, format!("the number of `{ident}` is not written out")).help =
                    Some("write a number: a macro does not see what a constant is".to_owned());
            }
            number.map(|number| Spanned::new(number, span))
        }
    };
    *next = value.as_ref().map_or(*next, |value| value.value).saturating_add(1);
    match (&variant.fields, range) {
        (Fields::Unit, None) => {
            let Some(value) = value else { return };
            item.values.push(Value {
                value,
                name,
                doc,
                layout: None,
                messages: Vec::new(),
                refuse_critical: None,
                once: None,
                require: None,
                id: None,
                span,
            });
        }
        (Fields::Unit, Some(range)) => {
            let raw = item.ty.value.name();
            cx.error(range.span, format!("`{ident}` has a range, but no place for the number")).help =
                Some(format!("write `{ident}({raw})`"));
        }
        (Fields::Unnamed(fields), range) if fields.unnamed.len() == 1 => {
            let raw = item.ty.value.name();
            let carried = fields.unnamed.first().map(|field| field.ty.to_token_stream().to_string());
            if carried.as_deref() != Some(raw) {
                let span = cx.places.of(&fields.unnamed);
                cx.error(span, format!("`{ident}` carries another type than {raw}, which the enum is"))
                    .help = Some(format!("write `{ident}({raw})`"));
            }
            let Some(range) = range else {
                if ranged {
                    return;
                }
                cx.error(span, format!("`{ident}` does not say which numbers it carries")).help = Some(
                    "add `#[wire(range = 0x80..)]`, with the first number and maybe the last".to_owned(),
                );
                return;
            };
            let (from, to) = range.value;
            let to = to.unwrap_or_else(|| item.ty.value.limits().1);
            item.ranges.push(Range {
                from: Spanned::new(from, range.span),
                to: Spanned::new(to, range.span),
                name,
                family: None,
                doc,
                span,
            });
        }
        _ => {
            let raw = item.ty.value.name();
            cx.error(span, format!("`{ident}` carries more than a number")).help =
                Some(format!("write `{ident}`, or `{ident}({raw})` for a range of numbers"));
        }
    }
}

/// A number that is written out.
fn number(tokens: &TokenStream) -> Option<i128> {
    let mut tokens = tokens.clone().into_iter().peekable();
    let minus = tokens.next_if(|token| token.to_string() == "-").is_some();
    let number = match syn::parse2::<syn::Lit>(tokens.collect()).ok()? {
        syn::Lit::Int(number) => number.base10_parse::<i128>().ok()?,
        syn::Lit::Byte(byte) => byte.value().into(),
        _ => return None,
    };
    Some(if minus { -number } else { number })
}
