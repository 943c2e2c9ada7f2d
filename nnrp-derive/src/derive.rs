//! What every derive has: a registry of its own to fill, and what the user's types are called in it.

use std::collections::HashMap;

use nnrp_gen::emit::rust::{self, absolute, placeholder};
use nnrp_gen::model::Registry;
use nnrp_gen::source::{Door, Sources, Span, Spanned};
use nnrp_gen::syntax::{self, Bitmask, ByteOrder, Element, Enum, Layout, Protocol, Scalar, Text};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;

use crate::expansion::{expansion, replaced};
use crate::keys::Context;
use crate::refuse::refuse;

/// What users' lints may say of other code is not about an expansion.
const ALLOW: &str = "#[allow(dead_code, deprecated)] ";

/// A registry being made of one Rust item.
#[derive(Default)]
pub struct Derive {
    pub cx: Context,
    pub registry: syntax::Registry,
    /// The user's tokens, by what the emitter writes in their place.
    pub given: absolute::Given,
    /// Types that are defined elsewhere, by what messages call them.
    pub types: HashMap<String, TokenStream>,
    /// Names in the registry, by the types that they stand for.
    titles: HashMap<String, String>,
}

/// What a type that is defined elsewhere is on the wire.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Foreign {
    Enum(Scalar),
    Bitmask(Scalar),
    Layout(i128),
}

impl Derive {
    /// For an item of that name.
    pub fn new(ident: &Ident) -> Self {
        let mut derive = Self::default();
        let title = ident.unraw().to_string();
        for suffix in ["", "View", "Mut", "Wire"] {
            let name = format!("{title}{suffix}");
            let written = if suffix.is_empty() { ident.clone() } else { Ident::new(&name, ident.span()) };
            derive.given.insert(placeholder(&name), written.to_string());
        }
        derive
    }

    /// The name in the registry of a type that is defined elsewhere.
    pub fn foreign(&mut self, ty: &syn::TypePath, foreign: Foreign) -> Text {
        let tokens = ty.to_token_stream();
        let span = self.cx.places.of(&tokens);
        let written = tokens.to_string();
        let title = match self.titles.get(&written) {
            Some(title) => title.clone(),
            None => {
                let last = ty.path.segments.last().map(|last| last.ident.unraw().to_string());
                let last = last.unwrap_or_default();
                let mut title = last.clone();
                let mut count = 1;
                while self.given.contains_key(&placeholder(&title))
                    || self.titles.values().any(|known| snake(known) == snake(&title))
                {
                    count += 1;
                    title = format!("{last}{count}");
                }
                // The tokens of `$crate` say more than their text, so they stay tokens.
                let place = placeholder(&title);
                let text = if written.contains('$') { place.clone() } else { written.clone() };
                self.given.insert(place, text);
                self.types.insert(title.clone(), tokens);
                self.titles.insert(written, title.clone());
                title
            }
        };
        let name = Spanned::new(snake(&title), span);
        match foreign {
            Foreign::Enum(width) => {
                match self.registry.enums.iter_mut().find(|item| item.given.as_ref() == Some(&title)) {
                    Some(known) => narrow(&mut known.ty, width),
                    None => self.registry.enums.push(Enum {
                        name: name.clone(),
                        ty: Spanned::new(width, span),
                        values: Vec::new(),
                        ranges: Vec::new(),
                        complete: true,
                        from_messages: None,
                        given: Some(title),
                        source: None,
                        doc: None,
                        span,
                    }),
                }
            }
            Foreign::Bitmask(width) => {
                match self.registry.bitmasks.iter_mut().find(|item| item.given.as_ref() == Some(&title)) {
                    Some(known) => narrow(&mut known.ty, width),
                    None => self.registry.bitmasks.push(Bitmask {
                        name: name.clone(),
                        ty: Spanned::new(width, span),
                        bits: Vec::new(),
                        complete: true,
                        given: Some(title),
                        source: None,
                        doc: None,
                        span,
                    }),
                }
            }
            Foreign::Layout(size) => {
                if !self.registry.layouts.iter().any(|item| item.given.as_ref() == Some(&title)) {
                    self.registry.layouts.push(Layout {
                        complete: true,
                        name: name.clone(),
                        size: Spanned::new(size, span),
                        byte_order: None,
                        fields: Vec::new(),
                        rules: Vec::new(),
                        mutable: false,
                        given: Some(title),
                        source: None,
                        doc: None,
                        span,
                    });
                }
            }
        }
        name
    }

    /// The size that an earlier field gave to a layout that is defined elsewhere.
    pub fn size_of(&self, element: &Element) -> Option<i128> {
        match element {
            Element::Scalar(scalar) => Some(scalar.size().into()),
            Element::Layout(name) => {
                let layout = self.registry.layouts.iter().find(|layout| layout.name.value == *name)?;
                Some(layout.size.value)
            }
        }
    }

    /// Checks the registry and emits from it, or says why not.
    pub fn finish(
        mut self,
        root: &TokenStream,
        more: impl FnOnce(&Registry) -> TokenStream,
    ) -> Result<TokenStream, TokenStream> {
        let nowhere = Span::default();
        self.registry.protocols.push(Protocol {
            name: Spanned::new("derived".to_owned(), nowhere),
            version_major: None,
            wire_format: None,
            alpn: Vec::new(),
            byte_order: Spanned::new(ByteOrder::Little, nowhere),
            header: None,
            errors: None,
            scope: None,
            source: None,
            doc: None,
            span: nowhere,
        });
        let Context { places, report } = self.cx;
        let sources = Sources::of(Door::Rust);
        let loaded = nnrp_gen::finish(sources, report, &self.registry);
        let Some(model) = loaded.registry else { return Err(refuse(&loaded.report, &places)) };
        let kept = self.types.into_iter().map(|(title, tokens)| (placeholder(&title), tokens));
        let kept: Vec<_> = kept.filter(|(_, tokens)| tokens.to_string().contains('$')).collect();
        let items = expansion(root, |root| rust::derivation(&model, root, &self.given, ALLOW));
        let items = if kept.is_empty() { items } else { replaced(items, &kept) };
        let more = more(&model);
        Ok(quote!(#items #more))
    }
}

/// A type that stands in fields of two widths fits the narrower one.
fn narrow(known: &mut Spanned<Scalar>, width: Scalar) {
    if width.size() < known.value.size() {
        known.value = width;
    }
}

/// The first paragraph of the docs on an item.
pub fn doc(cx: &mut Context, attributes: &[syn::Attribute]) -> Option<Text> {
    let mut text = String::new();
    let mut place = None;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("doc")) {
        let Ok(pair) = attribute.meta.require_name_value() else { continue };
        let Ok(line) = syn::parse2::<syn::LitStr>(pair.value.to_token_stream()) else { continue };
        for line in line.value().lines().map(str::trim).chain(["\n"]) {
            match line {
                "" if !text.is_empty() => return place.map(|span| Spanned::new(text, span)),
                "" | "\n" => {}
                line => {
                    place = place.or_else(|| Some(cx.places.of(attribute)));
                    if !text.is_empty() {
                        text.push(' ');
                    }
                    text.push_str(line);
                }
            }
        }
    }
    place.map(|span| Spanned::new(text, span))
}

/// `AudioChunk` as `audio_chunk`.
pub fn snake(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut out = String::new();
    for (at, letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| letters[before]);
        let behind = letters.get(at + 1);
        let word = letter.is_uppercase()
            && before.is_some_and(|before| {
                before != '_'
                    && (!before.is_uppercase() || behind.is_some_and(|behind| behind.is_lowercase()))
            });
        if word {
            out.push('_');
        }
        out.extend(letter.to_lowercase());
    }
    out.trim_matches('_').to_owned()
}
