//! Bodies: rows of layouts, entries, parts behind a prelude, and words.

mod entries;
mod parts;
mod rows;
mod select;
mod words;

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use crate::model::{Body, ByteOrder, Content, Count, Layout};

use super::{Rust, field_ident, plain, type_ident};

use select::knows_payloads;

impl Rust<'_> {
    /// Everything that bodies are made of, part by part.
    pub(super) fn bodies(&self) -> Vec<TokenStream> {
        let registry = self.registry;
        let mut rows: Vec<usize> = Vec::new();
        let mut add = |content: Content| {
            if let Content::Layout(layout) = content
                && !rows.contains(&layout)
            {
                rows.push(layout);
            }
        };
        for part in registry.bodies.iter().flat_map(|body| &body.parts) {
            add(part.content);
            part.leading.iter().for_each(|(layout, _)| add(Content::Layout(*layout)));
        }
        registry
            .messages
            .iter()
            .flat_map(|message| &message.segments)
            .for_each(|segment| add(segment.content));
        let rows = rows.into_iter().map(|layout| self.rows(&registry.layouts[layout]));
        let entries = registry.entries.iter().map(|entry| self.entries(entry));
        let bodies = registry.bodies.iter().map(|body| self.body(body));
        let words = registry.vocabularies.iter().map(|words| self.words(words));
        rows.chain(entries).chain(bodies).chain(words).collect()
    }

    /// A field of a layout as a place: where it is and how to blame it.
    pub(super) fn place(&self, layout: &Layout, field: usize, rule: &str, code: Option<u64>) -> TokenStream {
        let wire = &self.options.wire;
        let field = &layout.fields[field];
        let (offset, size) = (Literal::u32_unsuffixed(field.offset), Literal::u32_unsuffixed(field.size));
        let big = layout.byte_order == ByteOrder::Big;
        let site = self.site(&layout.name, &field.name, rule, code);
        quote!(#wire::body::Place { offset: #offset, size: #size, big: #big, site: #site })
    }

    /// A place to blame for a body that is wrong.
    pub(super) fn site(&self, layout: &str, field: &str, rule: &str, code: Option<u64>) -> TokenStream {
        let wire = &self.options.wire;
        let code = code.map(|code| {
            let code = plain(code);
            quote!(.code(#code))
        });
        match (field.is_empty(), rule.is_empty()) {
            (true, true) => quote!(#wire::Site::layout(#layout) #code),
            (false, true) => quote!(#wire::Site::field(#layout, #field) #code),
            (_, false) => quote!(#wire::Site::rule(#layout, #field, #rule, "") #code),
        }
    }

    /// A layout as a shape: its size and its check.
    pub(super) fn shape(&self, layout: usize) -> TokenStream {
        let wire = &self.options.wire;
        let layout = &self.registry.layouts[layout];
        let size = Literal::u32_unsuffixed(layout.size);
        let view = format_ident!("{}View", type_ident(&layout.name));
        quote!(#wire::body::Shape { size: #size, check: |bytes| #view::new(bytes).err() })
    }

    /// What a segment or part is to users, given what it holds.
    pub(super) fn content_type(&self, content: Content) -> TokenStream {
        let registry = self.registry;
        match content {
            Content::Opaque => quote!(&'a [u8]),
            Content::Layout(layout) => {
                let name = format_ident!("{}Rows", type_ident(&registry.layouts[layout].name));
                quote!(#name<'a>)
            }
            Content::Entry(entry) => {
                let name = format_ident!("{}Entries", type_ident(&registry.entries[entry].name));
                quote!(#name<'a>)
            }
            Content::Body(body) => {
                let name = type_ident(&registry.bodies[body].name);
                if registry.bodies[body].optional { quote!(Option<#name<'a>>) } else { quote!(#name<'a>) }
            }
            Content::Vocabulary(words) => {
                let name = type_ident(&registry.vocabularies[words].name);
                quote!(#name<'a>)
            }
        }
    }

    /// Checked bytes as what users see.
    pub(super) fn wrap(&self, content: Content, bytes: TokenStream, message: &TokenStream) -> TokenStream {
        let registry = self.registry;
        match content {
            Content::Opaque => bytes,
            Content::Layout(layout) => {
                let name = format_ident!("{}Rows", type_ident(&registry.layouts[layout].name));
                quote!(#name(#bytes))
            }
            Content::Entry(entry) => {
                let name = format_ident!("{}Entries", type_ident(&registry.entries[entry].name));
                if !knows_payloads(&registry.entries[entry]) {
                    quote!(#name { bytes: #bytes })
                } else if message.to_string() == "message" {
                    quote!(#name { bytes: #bytes, message })
                } else {
                    quote!(#name { bytes: #bytes, message: #message })
                }
            }
            Content::Body(_) => bytes,
            Content::Vocabulary(words) => {
                let name = type_ident(&registry.vocabularies[words].name);
                quote!(#name(#bytes))
            }
        }
    }

    /// What users see as bytes again.
    pub(super) fn unwrap(&self, content: Content, value: TokenStream) -> TokenStream {
        match content {
            Content::Opaque => value,
            _ => quote!(#value.as_bytes()),
        }
    }
}

fn optional(value: Option<TokenStream>) -> TokenStream {
    match value {
        Some(value) => quote!(Some(#value)),
        None => quote!(None),
    }
}

/// The metadata fields that count parts of a body.
pub(super) fn metadata_counts(body: &Body) -> Vec<Ident> {
    let names = body.parts.iter().filter_map(|part| match &part.count {
        Some(Count::Metadata(name)) => Some(field_ident(name)),
        _ => None,
    });
    names.collect()
}
