//! Layouts: the wire struct, the native struct, the checked view, and what leads from one to another.

mod arrays;
mod checks;
mod native;
mod views;
mod wire;

use proc_macro2::{Delimiter, Ident, Literal, TokenStream, TokenTree};
use quote::{format_ident, quote};

use crate::model::{ByteOrder, Element, Field, Layout, Meaning, Native, Rule, Scalar};
use crate::names;
use crate::rule::{self, FieldRef};

use super::{Rust, field_ident, ident, plain, scalar_ident};

pub(super) use arrays::{is_long_array, serde_array};

/// A layout being emitted, with the names that recur.
struct Emit<'a> {
    rust: &'a Rust<'a>,
    layout: &'a Layout,
    name: Ident,
    view: Ident,
    mutable: Ident,
    wire: Ident,
    /// `name` as docs say it.
    title: String,
    visibility: TokenStream,
    size: Literal,
}

impl Rust<'_> {
    pub(super) fn layout(&self, layout: &Layout) -> [TokenStream; 7] {
        let name = super::given_ident(layout.given.as_ref(), &layout.name);
        let visibility = if layout.given.is_some() { ident(super::VISIBILITY) } else { ident("pub") };
        let emit = Emit {
            rust: self,
            layout,
            view: format_ident!("{name}View"),
            mutable: format_ident!("{name}Mut"),
            wire: format_ident!("{name}Wire"),
            title: layout.given.clone().unwrap_or_else(|| names::pascal(&layout.name)),
            visibility: quote!(#visibility),
            size: Literal::u32_unsuffixed(layout.size),
            name,
        };
        let native_struct = if layout.given.is_none() { emit.native_struct() } else { TokenStream::new() };
        let (native_impl, traits) = (emit.native_impl(), emit.traits());
        let definition = self.definition(layout).unwrap_or_default();
        [
            native_struct,
            native_impl,
            traits,
            emit.view_struct(),
            if layout.mutable { emit.mut_struct() } else { TokenStream::new() },
            emit.wire_struct(),
            definition,
        ]
    }

    /// A native value as the number that stands on the wire.
    pub(super) fn raw_of(&self, field: &Field, scalar: Scalar, value: &TokenStream) -> TokenStream {
        let ty = scalar_ident(scalar);
        let widen = |raw: TokenStream, narrow: Scalar| {
            if narrow == scalar { raw } else { quote!((#raw as #ty)) }
        };
        match field.meaning {
            _ if field.native == Native::Number => value.clone(),
            Meaning::Enum(position) if self.registry.enums[position].is_foreign() => {
                let path = self.enum_path(position);
                quote!((#path::number(#value) as #ty))
            }
            Meaning::Bitmask(position) if self.registry.bitmasks[position].is_foreign() => {
                quote!((#value.bits() as #ty))
            }
            Meaning::Enum(position) => widen(quote!(#value.raw()), self.registry.enums[position].ty),
            Meaning::Bitmask(position) => widen(quote!(#value.bits()), self.registry.bitmasks[position].ty),
            Meaning::Bool => quote!((#value as #ty)),
            _ => value.clone(),
        }
    }

    /// The number on the wire of a field, from a view.
    pub(super) fn raw_getter(&self, field: &Field, view: &TokenStream) -> TokenStream {
        let name = field_ident(&field.name);
        self.raw_of(field, field.scalar().unwrap_or(Scalar::U64), &quote!(#view.#name()))
    }

    /// The call that gives a site its error code, where it has one of its own.
    pub(super) fn code(&self, error: Option<&String>) -> Option<TokenStream> {
        let code = plain(self.registry.error_code(error?)?);
        Some(quote!(.code(#code)))
    }

    /// Whether a layout holds floats, which have no total equality.
    pub(super) fn has_float(&self, layout: &Layout) -> bool {
        layout.fields.iter().any(|field| match field.element {
            Element::Scalar(scalar) => !scalar.is_integer(),
            Element::Layout(inner) => self.has_float(&self.registry.layouts[inner]),
        })
    }

    /// The type of one element of a field, as users see it.
    fn element_type(&self, field: &Field) -> TokenStream {
        let name = match (&field.meaning, field.element) {
            (_, Element::Scalar(scalar)) if field.native == Native::Number => scalar_ident(scalar),
            (Meaning::Enum(position), _) => self.enum_type(*position),
            (Meaning::Bitmask(position), _) => self.bitmask_path(*position),
            (Meaning::Bool, _) => ident("bool"),
            (_, Element::Scalar(scalar)) => scalar_ident(scalar),
            (_, Element::Layout(position)) => self.layout_type(position),
        };
        quote!(#name)
    }

    fn field_type(&self, field: &Field) -> TokenStream {
        let element = self.element_type(field);
        match field.count {
            Some(count) => {
                let count = Literal::u32_unsuffixed(count);
                quote!([#element; #count])
            }
            None => element,
        }
    }
}

/// The paragraphs that say what a field is.
fn field_doc(field: &Field) -> Vec<String> {
    let mut text = field.doc.clone();
    if text.is_empty() {
        text = format!("The field `{}`.", field.name);
    }
    if !field.unit.is_empty() {
        text = format!("{text} In {}.", unit_words(&field.unit));
    }
    let since = field.since.as_ref().map(|since| format!("Since {since}."));
    let deprecated = field.deprecated.as_ref().map(|why| format!("Deprecated: {why}"));
    [Some(text), since, deprecated].into_iter().flatten().collect()
}

/// A unit as prose.
fn unit_words(unit: &str) -> String {
    match unit {
        "ms" => "milliseconds".to_owned(),
        "us" => "microseconds".to_owned(),
        "px" => "pixels".to_owned(),
        "x100" => "hundredths".to_owned(),
        other => other.to_owned(),
    }
}

impl Emit<'_> {
    fn big(&self) -> bool {
        self.layout.byte_order == ByteOrder::Big
    }
}

/// The name of the function that holds a rule.
pub(super) fn rule_ident(rule: &Rule) -> Ident {
    let id: String = rule
        .id
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '_' })
        .collect();
    format_ident!("rule_{id}")
}

/// The fields that a rule reads, in the order of its function's arguments.
pub(super) fn rule_fields(rule: &Rule) -> Vec<FieldRef> {
    rule::fields(&rule.condition())
}

/// An argument without parentheses around all of it, which the compiler warns of.
pub(super) fn bare(argument: TokenStream) -> TokenStream {
    let mut tokens = argument.clone().into_iter();
    match (tokens.next(), tokens.next()) {
        (Some(TokenTree::Group(group)), None) if group.delimiter() == Delimiter::Parenthesis => {
            group.stream()
        }
        _ => argument,
    }
}

/// All parts hold, without branches.
pub(super) fn conjunction(parts: &[TokenStream]) -> TokenStream {
    match parts {
        [] => quote!(true),
        [only] => only.clone(),
        parts => {
            let grouped = parts.iter().map(|part| {
                let compares = part.clone().into_iter().any(|token| token.to_string() == "=");
                if compares { quote!((#part)) } else { part.clone() }
            });
            quote!(#(#grouped)&*)
        }
    }
}
