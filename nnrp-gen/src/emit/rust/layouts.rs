//! Layouts: the wire struct, the native struct, the checked view, and what leads from one to another.

use proc_macro2::{Delimiter, Ident, Literal, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};

use crate::model::{ByteOrder, Element, Field, Layout, Meaning, Native, Rule, Scalar};
use crate::names;
use crate::rule::{self, FieldRef};

use super::rules::Reach;
use super::together::together;
use super::{
    Rust, cite, const_ident, doc, field_ident, hex, ident, plain, read_ident, reads_ident, scalar_ident,
    to_bytes, type_ident,
};

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

    /// The bytes as they lie on the wire, held to the registry by assertions.
    fn wire_struct(&self) -> TokenStream {
        let Self { wire, size, visibility, title, .. } = self;
        let checks = self.checks();
        // A derive inside of a derive costs the compiler more than what it comes to.
        let (copy, copied) = match self.layout.given {
            None => (quote!(#[derive(Clone, Copy)]), quote!()),
            Some(_) => (quote!(), copied(&quote!(#wire))),
        };
        let fields = self.layout.fields.iter().map(|field| {
            let name = field_ident(&field.name);
            let docs = doc([format!("Bytes {}..{}.", field.offset, field.offset + field.size)]);
            let bytes = Literal::u32_unsuffixed(field.size);
            quote!(#docs pub #name: [u8; #bytes],)
        });
        let offsets = self.layout.fields.iter().map(|field| {
            let name = field_ident(&field.name);
            let offset = Literal::u32_unsuffixed(field.offset);
            quote!(core::mem::offset_of!(#wire, #name) == #offset)
        });
        // One a line is for readers; an expansion has none.
        let offsets = match self.layout.given {
            Some(_) => quote!(assert!(#(#offsets)&&*);),
            None => quote!(#(assert!(#offsets);)*),
        };
        let docs = doc([format!("The {} bytes of [`{title}`] as they lie on the wire.", self.layout.size)]);
        quote! {
            #docs
            #copy
            #[repr(C)]
            #visibility struct #wire { #(#fields)* }

            #copied

            #checks

            const _: () = {
                assert!(core::mem::size_of::<#wire>() == #size);
                #offsets
            };
        }
    }

    /// The struct of native values.
    fn native_struct(&self) -> TokenStream {
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
    fn default_impl(&self) -> TokenStream {
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
    fn native_impl(&self) -> TokenStream {
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
    fn inline(&self) -> Option<TokenStream> {
        self.layout.given.is_some().then(|| quote!(#[inline]))
    }

    /// What layouts do alike, and what one needs to stand in another.
    fn traits(&self) -> TokenStream {
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
    fn unpack(&self) -> TokenStream {
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
    fn pack(&self) -> TokenStream {
        let size = &self.size;
        let constants = self.constant_bytes();
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

    /// The bytes of the layout with all constants in place and the rest zero.
    fn constant_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.layout.size as usize];
        for field in &self.layout.fields {
            if let Meaning::Constant(constant) = &field.meaning {
                for (place, byte) in bytes[field.range()].iter_mut().zip(constant) {
                    *place = *byte;
                }
            }
        }
        bytes
    }

    /// Statements that write a field's value into `bytes`, an array of the whole layout.
    fn put(&self, field: &Field, bytes: &TokenStream, value: &dyn Fn(&Ident) -> TokenStream) -> TokenStream {
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

    /// What must hold of native values beyond their types.
    fn native_condition(&self) -> TokenStream {
        let support = &self.rust.options.wire;
        let wire = &self.wire;
        let mut parts = Vec::new();
        for field in self.layout.stored().filter(|field| field.native != Native::Place) {
            let name = field_ident(&field.name);
            match (&field.meaning, field.element, field.count) {
                (Meaning::Reserved | Meaning::Constant(_), Element::Scalar(scalar), count) => {
                    parts.push(self.fixed_condition(field, scalar, count));
                }
                (Meaning::Bool, ..) if field.native == Native::Number => parts.push(quote!(self.#name <= 1)),
                (Meaning::Enum(position), ..) if self.rust.registry.enums[*position].is_foreign() => {
                    let path = self.rust.enum_path(*position);
                    parts.push(quote!(#path::accepts(#path::number(self.#name))));
                }
                (Meaning::Bitmask(position), ..) => {
                    let mask = &self.rust.registry.bitmasks[*position];
                    if mask.is_foreign() || mask.known() != mask.ty.limits().1 as u64 {
                        let known = self.rust.known_bits(*position);
                        parts.push(quote!(self.#name.bits() & !#known == 0));
                    }
                }
                (_, Element::Layout(_), None) => parts.push(quote!(#support::Packed::holds(&self.#name))),
                (_, Element::Layout(_), Some(_)) => parts.push(quote!(#support::all_hold(&self.#name))),
                _ => {}
            }
        }
        let (groups, others) = together(&self.layout.rules);
        for group in groups {
            let case = self.rust.truth(&group.case, &Natives(self));
            let values = group.zero.iter().map(|(field, mask)| {
                let value = self.native(*field);
                if self.layout.fields[field.index].scalar() == Some(Scalar::U64) && *mask == u64::MAX {
                    value
                } else if *mask == u64::MAX {
                    quote!(#value as u64)
                } else {
                    let mask = plain(*mask);
                    quote!((#value & #mask) as u64)
                }
            });
            parts.push(quote!((#case | (#(#values)|* == 0))));
        }
        for rule in others {
            let function = rule_ident(rule);
            let arguments = rule_fields(rule).into_iter().map(|field| bare(self.native(field)));
            parts.push(quote!(#wire::#function(#(#arguments),*)));
        }
        conjunction(&parts)
    }

    /// The number on the wire of a native value.
    fn native(&self, field: FieldRef) -> TokenStream {
        let field = &self.layout.fields[field.index];
        let name = field_ident(&field.name);
        self.rust.raw_of(field, field.scalar().unwrap_or(Scalar::U64), &quote!(self.#name))
    }

    /// Whether a stored field that is reserved or constant has its only value.
    fn fixed_condition(&self, field: &Field, scalar: Scalar, count: Option<u32>) -> TokenStream {
        let name = field_ident(&field.name);
        let step = scalar.size() as usize;
        let bytes = match &field.meaning {
            Meaning::Constant(bytes) => bytes.clone(),
            _ => vec![0; field.size as usize],
        };
        let arrays = bytes.chunks(step).map(|chunk| {
            let bytes = chunk.iter().map(|byte| plain((*byte).into()));
            quote!([#(#bytes),*])
        });
        let to_bytes = to_bytes(self.big());
        match count {
            None => quote!(self.#name.#to_bytes() == #(#arrays)*),
            Some(_) => quote!(self.#name.map(|value| value.#to_bytes()) == [#(#arrays),*]),
        }
    }

    /// What the checks need: whom to blame, and the rules.
    fn checks(&self) -> TokenStream {
        let wire = &self.wire;
        let support = &self.rust.options.wire;
        let layout_name = &self.layout.name;
        let rules = self.layout.rules.iter().map(|rule| self.rule_function(rule));
        quote! {
            impl #wire {
                /// The layout as a place to blame.
                const SITE: #support::Site = #support::Site::layout(#layout_name);

                #(#rules)*
            }
        }
    }

    /// A field as data.
    fn row(&self, field: &Field) -> TokenStream {
        let support = &self.rust.options.wire;
        let (layout, name) = (&self.layout.name, &field.name);
        let (offset, size) = (Literal::u32_unsuffixed(field.offset), Literal::u32_unsuffixed(field.size));
        let code = self.rust.code(field.error.as_ref());
        let side = |little: &str, big: &str| ident(if self.big() { big } else { little });
        let test = match (&field.meaning, field.element) {
            (Meaning::Plain, Element::Layout(inner)) => {
                let step = Literal::u32_unsuffixed(self.rust.registry.layouts[inner].size);
                let ty = self.rust.layout_type(inner);
                quote!(Layouts(#step, #support::inner_fault::<#ty, #step>))
            }
            (Meaning::Plain, _) => quote!(Any),
            (Meaning::Reserved, _) => quote!(Zero),
            (Meaning::Constant(constant), _) => {
                let constant = Literal::byte_string(constant);
                quote!(Constant(#constant))
            }
            (Meaning::Enum(position), _) => {
                let ty = self.rust.enum_path(*position);
                let variant = side("ValuesLittle", "ValuesBig");
                quote!(#variant(#ty::SPANS))
            }
            (Meaning::Bitmask(position), _) => {
                let mask = &self.rust.registry.bitmasks[*position];
                let variant = side("BitsLittle", "BitsBig");
                let known = self.rust.known_bits(*position);
                let known = if mask.ty == Scalar::U64 { known } else { quote!(#known as u64) };
                quote!(#variant(#known))
            }
            (Meaning::Bool, _) => {
                let variant = side("ValuesLittle", "ValuesBig");
                quote!(#variant(&[(0, 1)]))
            }
        };
        quote! {
            #support::Field::new(#layout, #name, #offset, #size, #support::Test::#test) #code
        }
    }

    /// The condition that good bytes fulfil.
    fn byte_condition(&self) -> TokenStream {
        let support = &self.rust.options.wire;
        let mut parts = Vec::new();
        let fixed = self.fixed_words();
        if !fixed.is_empty() {
            parts.push(self.words_hold(&fixed));
        }
        for field in &self.layout.fields {
            match (&field.meaning, field.element, field.count) {
                (Meaning::Enum(position), Element::Scalar(scalar), _) => {
                    let item = &self.rust.registry.enums[*position];
                    let spans = item.spans();
                    if !item.is_foreign() && masked_by(&spans, item.ty).1 {
                        continue;
                    }
                    let ty = self.rust.enum_path(*position);
                    let raw = self.load(&quote!(bytes), field.offset, scalar);
                    let raw = if scalar == Scalar::U64 { raw } else { quote!(#raw as u64) };
                    parts.push(quote!(#ty::accepts(#raw)));
                }
                (Meaning::Bitmask(position), Element::Scalar(scalar), _)
                    if self.rust.registry.bitmasks[*position].is_foreign() =>
                {
                    let known = self.rust.known_bits(*position);
                    let raw = self.load(&quote!(bytes), field.offset, scalar);
                    let ty = scalar_ident(scalar);
                    parts.push(quote!(#raw & !(#known as #ty) == 0));
                }
                (_, Element::Layout(inner), None) => {
                    let ty = self.rust.layout_type(inner);
                    let offset = Literal::u32_unsuffixed(field.offset);
                    parts.push(quote!(<#ty as #support::Packed>::bytes_hold(#support::part(bytes, #offset))));
                }
                (_, Element::Layout(inner), Some(count)) => {
                    let ty = self.rust.layout_type(inner);
                    let offset = Literal::u32_unsuffixed(field.offset);
                    let count = Literal::u32_unsuffixed(count);
                    parts.push(quote!(#support::all_bytes_hold::<#ty, _, _>(bytes, #offset, #count)));
                }
                _ => {}
            }
        }
        let (groups, others) = together(&self.layout.rules);
        for group in groups {
            let case = self.rust.truth(&group.case, &Loads(self));
            let mut mask = vec![0u8; self.layout.size as usize];
            for (field, bits) in &group.zero {
                let field = &self.layout.fields[field.index];
                for (place, byte) in mask[field.range()].iter_mut().zip(self.wire_bytes(*bits, field.size)) {
                    *place |= byte;
                }
            }
            let words = self.words_hold(&self.words(&mask, &vec![0; mask.len()]));
            parts.push(quote!((#case | (#words))));
        }
        parts.extend(others.into_iter().map(|rule| self.rule_call(rule)));
        if parts.is_empty() {
            return quote!({
                let _ = bytes;
                true
            });
        }
        conjunction(&parts)
    }

    /// The condition that the fixed bits of words are as they must be.
    fn words_hold(&self, words: &[Word]) -> TokenStream {
        let words = words.iter().map(|word| {
            let load = self.load_word(word);
            let digits = word.bytes as usize * 2;
            let mask = hex(word.mask, digits);
            if word.value == 0 && word.mask == u64::MAX {
                load
            } else if word.value == 0 {
                quote!((#load & #mask))
            } else {
                let value = hex(word.value, digits);
                let wrong = quote!((#load ^ #value));
                if word.mask == u64::MAX { wrong } else { quote!((#wrong & #mask)) }
            }
        });
        quote!(#(#words)|* == 0)
    }

    /// A rule applied to bytes.
    fn rule_call(&self, rule: &Rule) -> TokenStream {
        let function = rule_ident(rule);
        let arguments = rule_fields(rule).into_iter().map(|field| {
            let field = &self.layout.fields[field.index];
            self.load(&quote!(bytes), field.offset, field.scalar().unwrap_or(Scalar::U64))
        });
        let wire = &self.wire;
        quote!(#wire::#function(#(#arguments),*))
    }

    /// The words in which something is fixed.
    fn fixed_words(&self) -> Vec<Word> {
        let size = self.layout.size as usize;
        let mut mask = vec![0u8; size];
        let value = self.constant_bytes();
        for field in &self.layout.fields {
            let bits: Vec<u8> = match &field.meaning {
                Meaning::Reserved | Meaning::Constant(_) => vec![0xff; field.size as usize],
                Meaning::Bool => self.wire_bytes(!1, field.size),
                Meaning::Bitmask(position) if self.rust.registry.bitmasks[*position].is_foreign() => {
                    // What lies beyond the type can still be fixed.
                    let bits = self.rust.registry.bitmasks[*position].ty.limits().1 as u64;
                    self.wire_bytes(!bits, field.size)
                }
                Meaning::Enum(position) if self.rust.registry.enums[*position].is_foreign() => continue,
                Meaning::Bitmask(position) => {
                    self.wire_bytes(!self.rust.registry.bitmasks[*position].known(), field.size)
                }
                Meaning::Enum(position) => {
                    let item = &self.rust.registry.enums[*position];
                    self.wire_bytes(!masked_by(&item.spans(), item.ty).0, field.size)
                }
                Meaning::Plain => continue,
            };
            mask[field.range()].copy_from_slice(&bits);
        }
        self.words(&mask, &value)
    }

    /// The words that cover a mask over all bytes, with what stands under it.
    fn words(&self, mask: &[u8], value: &[u8]) -> Vec<Word> {
        let size = mask.len();
        let mut words = Vec::new();
        let mut done = 0;
        while done < size {
            // Whole words; at the end one that overlaps the last, or what fits a shorter layout.
            let (start, bytes) = match size - done {
                8.. => (done, 8),
                _ if size >= 8 => (size - 8, 8),
                4.. => (done, 4),
                2.. => (done, 2),
                _ => (done, 1),
            };
            let read = |bytes_of: &[u8]| {
                bytes_of[start..start + bytes]
                    .iter()
                    .rev()
                    .fold(0u64, |number, byte| number << 8 | u64::from(*byte))
            };
            // What an earlier word covered is not tested again.
            let fresh =
                (start..start + bytes).map(|at| if at >= done { mask[at] } else { 0 }).collect::<Vec<_>>();
            let fresh = fresh.iter().rev().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
            if fresh != 0 {
                words.push(Word {
                    start: start as u32,
                    bytes: bytes as u32,
                    mask: fresh,
                    value: read(value) & fresh,
                });
            }
            done = start + bytes;
        }
        words
    }

    /// The bytes of a number as they stand in a field of `size` bytes.
    fn wire_bytes(&self, number: u64, size: u32) -> Vec<u8> {
        let mut bytes = number.to_le_bytes()[..size as usize].to_vec();
        if self.big() {
            bytes.reverse();
        }
        bytes
    }

    fn load_word(&self, word: &Word) -> TokenStream {
        let support = &self.rust.options.wire;
        let start = Literal::u32_unsuffixed(word.start);
        match word.bytes {
            8 => quote!(#support::u64_le(bytes, #start)),
            4 => quote!((#support::u32_le(bytes, #start) as u64)),
            2 => quote!((#support::u16_le(bytes, #start) as u64)),
            _ => quote!((bytes[#start] as u64)),
        }
    }

    /// The number at `offset` of an array of the whole layout.
    fn load(&self, bytes: &TokenStream, offset: u32, scalar: Scalar) -> TokenStream {
        let support = &self.rust.options.wire;
        let at = Literal::u32_unsuffixed(offset);
        if scalar == Scalar::U8 {
            return quote!(#bytes[#at]);
        }
        let read = read_ident(scalar, self.big());
        quote!(#support::#read(#bytes, #at))
    }

    /// A rule as a condition over raw numbers.
    fn rule_function(&self, rule: &Rule) -> TokenStream {
        let function = rule_ident(rule);
        let fields = rule_fields(rule);
        let arguments = fields.iter().map(|field| {
            let field = &self.layout.fields[field.index];
            let name = ident(&names::argument(&field.name));
            let ty = scalar_ident(field.scalar().unwrap_or(Scalar::U64));
            quote!(#name: #ty)
        });
        let condition = self.rust.truth(&rule.condition(), &Arguments(self.layout));
        let docs = doc([format!("{}: {}", rule.id, rule.doc)]);
        quote! {
            #docs
            #[inline]
            fn #function(#(#arguments),*) -> bool { #condition }
        }
    }

    /// The statement that reports a broken rule.
    fn blame(&self, rule: &Rule) -> TokenStream {
        let support = &self.rust.options.wire;
        let call = self.rule_call(rule);
        let blamed = &self.layout.fields[rule.blame.index];
        let (layout, field, id, docs) = (&self.layout.name, &blamed.name, &rule.id, &rule.doc);
        let offset = Literal::u32_unsuffixed(blamed.offset);
        let code = self.rust.code(rule.error.as_ref());
        quote! {
            if !#call {
                const SITE: #support::Site = #support::Site::rule(#layout, #field, #id, #docs) #code;
                return Some(#support::Fault::new(&SITE, #offset, #support::FaultKind::Rule));
            }
        }
    }

    /// Bytes that were checked.
    fn view_struct(&self) -> TokenStream {
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
    fn view_debug(&self) -> TokenStream {
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
    fn get(&self, field: &Field, bytes: &TokenStream) -> TokenStream {
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
    fn mut_struct(&self) -> TokenStream {
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

/// What `derive(Clone, Copy)` comes to. Linters would have it derived.
fn copied(ty: &TokenStream) -> TokenStream {
    quote! {
        #[automatically_derived]
        impl Clone for #ty {
            #[inline]
            fn clone(&self) -> Self { *self }
        }

        impl Copy for #ty {}
    }
}

/// Bits of a word that are the same in all good bytes.
struct Word {
    start: u32,
    bytes: u32,
    mask: u64,
    value: u64,
}

/// The bits that values in these spans may use, and whether every such number is one.
fn masked_by(spans: &[(u64, u64)], ty: Scalar) -> (u64, bool) {
    let highest = spans.last().map_or(0, |span| span.1);
    let bits = u64::MAX.checked_shr(highest.leading_zeros()).unwrap_or(0);
    let bits = bits & ty.limits().1 as u64;
    (bits, spans == [(0, bits)])
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

/// A rule's view of native values.
struct Natives<'a>(&'a Emit<'a>);

impl Reach for Natives<'_> {
    fn value(&self, field: FieldRef) -> TokenStream {
        self.0.native(field)
    }

    fn field(&self, field: FieldRef) -> &Field {
        &self.0.layout.fields[field.index]
    }

    fn constants(&self) -> TokenStream {
        let wire = &self.0.wire;
        quote!(#wire)
    }
}

/// A rule's view of bytes.
struct Loads<'a>(&'a Emit<'a>);

impl Reach for Loads<'_> {
    fn value(&self, field: FieldRef) -> TokenStream {
        let field = self.field(field);
        self.0.load(&quote!(bytes), field.offset, field.scalar().unwrap_or(Scalar::U64))
    }

    fn field(&self, field: FieldRef) -> &Field {
        &self.0.layout.fields[field.index]
    }

    fn constants(&self) -> TokenStream {
        let wire = &self.0.wire;
        quote!(#wire)
    }
}

/// A rule's view of its function's arguments.
struct Arguments<'a>(&'a Layout);

impl Reach for Arguments<'_> {
    fn value(&self, field: FieldRef) -> TokenStream {
        let name = ident(&names::argument(&self.0.fields[field.index].name));
        quote!(#name)
    }

    fn field(&self, field: FieldRef) -> &Field {
        &self.0.fields[field.index]
    }
}

/// Whether a field is an array of more than 32, for which the standard library and serde have less.
pub(super) fn is_long_array(field: &Field) -> bool {
    field.count.is_some_and(|count| count > 32)
}

/// What reads and writes long arrays for serde, as the short ones are; once a module.
pub(super) fn serde_array() -> TokenStream {
    quote! {
        #[cfg(feature = "serde")]
        mod serde_array {
            /// Writes an array.
            pub(super) fn serialize<T, S, const N: usize>(array: &[T; N], out: S) -> Result<S::Ok, S::Error>
            where
                T: serde::Serialize,
                S: serde::Serializer,
            {
                use serde::ser::SerializeTuple;
                let mut tuple = out.serialize_tuple(N)?;
                array.iter().try_for_each(|item| tuple.serialize_element(item))?;
                tuple.end()
            }

            /// Reads an array.
            pub(super) fn deserialize<'de, T, D, const N: usize>(input: D) -> Result<[T; N], D::Error>
            where
                T: serde::Deserialize<'de> + Copy + Default,
                D: serde::Deserializer<'de>,
            {
                struct Items<T, const N: usize>(core::marker::PhantomData<T>);

                impl<'de, T, const N: usize> serde::de::Visitor<'de> for Items<T, N>
                where
                    T: serde::Deserialize<'de> + Copy + Default,
                {
                    type Value = [T; N];

                    fn expecting(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                        write!(out, "an array of length {N}")
                    }

                    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut items: A) -> Result<[T; N], A::Error> {
                        let mut array = [T::default(); N];
                        for (at, place) in array.iter_mut().enumerate() {
                            let Some(item) = items.next_element()? else {
                                return Err(serde::de::Error::invalid_length(at, &self));
                            };
                            *place = item;
                        }
                        Ok(array)
                    }
                }

                input.deserialize_tuple(N, Items(core::marker::PhantomData))
            }
        }
    }
}
