//! Enums: closed ones as Rust enums, open ones as newtypes with constants.

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use crate::model::{Enum, Meaning, Value};

use super::{Rust, cite, const_ident, doc, hex, plain, said, scalar_ident, type_ident};

impl Rust<'_> {
    pub(super) fn enumeration(&self, item: &Enum) -> TokenStream {
        if item.given.is_some() {
            return self.wire_enum(item);
        }
        let definition = if item.is_open() { self.open(item) } else { self.closed(item) };
        let shared = self.shared(item);
        let wire_enum = self.wire_enum(item);
        quote!(#definition #shared #wire_enum)
    }

    /// What all enums do alike, whoever wrote them.
    fn wire_enum(&self, item: &Enum) -> TokenStream {
        let support = &self.options.wire;
        let name = super::given_ident(item.given.as_ref(), &item.name);
        let raw = scalar_ident(item.ty);
        let text = &item.name;
        let names = item.values.iter().map(|value| {
            let (text, number) = (&value.name, plain(value.value));
            quote!((#text, #number))
        });
        let ranges = item.ranges.iter().map(|range| {
            let (text, from, to) = (&range.name, plain(range.from), plain(range.to));
            quote!((#text, #from, #to))
        });
        let known = match &item.given {
            Some(_) => self.given_values(item),
            None => {
                let named = if item.is_open() { quote!(self.name()) } else { quote!(Some(self.name())) };
                let checked = if item.is_open() {
                    quote!(Self(number as #raw))
                } else {
                    quote!(match Self::from_raw(number as #raw) { Some(value) => value, None => Self::ALL[0] })
                };
                quote! {
                    const SPANS: &'static [(u64, u64)] = Self::SPANS;

                    #[inline]
                    fn accepts(raw: u64) -> bool { Self::accepts(raw) }

                    #[inline]
                    fn from_raw(raw: #raw) -> Option<Self> { Self::from_raw(raw) }

                    #[inline]
                    fn raw(self) -> #raw { self.raw() }

                    fn name(self) -> Option<&'static str> { #named }

                    #[inline]
                    fn checked(number: u64) -> Self { #checked }

                    #[inline]
                    fn number(self) -> u64 { self.raw() as u64 }
                }
            }
        };
        quote! {
            impl #support::WireEnum for #name {
                type Raw = #raw;

                const NAME: &'static str = #text;
                const NAMES: &'static [(&'static str, u64)] = &[#(#names),*];
                const RANGES: &'static [(&'static str, u64, u64)] = &[#(#ranges),*];

                #known
            }
        }
    }

    /// The numbers of an enum that somebody wrote, whose ranges are variants that carry the number.
    fn given_values(&self, item: &Enum) -> TokenStream {
        let support = &self.options.wire;
        let raw = scalar_ident(item.ty);
        let spans = item.spans();
        let accepts = accepts(&spans, item.ty.limits().1 as u64);
        let table = spans.iter().map(|(from, to)| {
            let (from, to) = (plain(*from), plain(*to));
            quote!((#from, #to))
        });
        let variant = |name: &str| {
            let variant = type_ident(name);
            quote!(Self::#variant)
        };
        let read = item.values.iter().map(|value| {
            let (variant, number) = (variant(&value.name), plain(value.value));
            quote!(#number => Some(#variant),)
        });
        let read_ranges = item.ranges.iter().map(|range| {
            let (variant, from, to) = (variant(&range.name), plain(range.from), plain(range.to));
            quote!(#from..=#to => Some(#variant(raw)),)
        });
        let write = item.values.iter().map(|value| {
            let (variant, number) = (variant(&value.name), plain(value.value));
            quote!(#variant => #number,)
        });
        let write_ranges = item.ranges.iter().map(|range| {
            let variant = variant(&range.name);
            quote!(#variant(raw) => raw,)
        });
        let names = item.values.iter().map(|value| {
            let (variant, text) = (variant(&value.name), &value.name);
            quote!(#variant => Some(#text),)
        });
        let open = item.is_open().then(|| quote!(_ => None,));
        let first = match (item.values.first(), item.ranges.first()) {
            (Some(value), _) => variant(&value.name),
            (None, Some(range)) => {
                let (variant, from) = (variant(&range.name), plain(range.from));
                quote!(#variant(#from))
            }
            (None, None) => quote!(match number {}),
        };
        let rest = (spans != [(0, item.ty.limits().1 as u64)]).then(|| quote!(_ => None,));
        quote! {
            const SPANS: &'static [(u64, u64)] = &[#(#table),*];

            #[inline]
            fn accepts(raw: u64) -> bool { #accepts }

            #[inline]
            fn from_raw(raw: #raw) -> Option<Self> {
                match raw { #(#read)* #(#read_ranges)* #rest }
            }

            #[inline]
            fn raw(self) -> #raw {
                match self { #(#write)* #(#write_ranges)* }
            }

            fn name(self) -> Option<&'static str> {
                match self { #(#names)* #open }
            }

            #[inline]
            fn checked(number: u64) -> Self {
                match #support::WireEnum::from_raw(number as #raw) { Some(value) => value, None => #first }
            }

            #[inline]
            fn number(self) -> u64 { #support::WireEnum::raw(self) as u64 }
        }
    }

    fn closed(&self, item: &Enum) -> TokenStream {
        let acceptance = acceptance(item);
        let name = type_ident(&item.name);
        let raw = scalar_ident(item.ty);
        let docs = doc([said(&item.doc, "enum", &item.name), cite(&item.source)]);
        let first = default_value(item).map(|value| value.value);
        let digits = item.ty.size() as usize * 2;
        let number = |value: &Value| {
            if digits > 2 || value.value > 9 { hex(value.value, digits) } else { plain(value.value) }
        };
        let variants = item.values.iter().map(|value| {
            let docs = doc([said(&value.doc, "value", &value.name)]);
            let variant = type_ident(&value.name);
            let number = number(value);
            let default = (Some(value.value) == first).then(|| quote!(#[default]));
            quote!(#docs #default #variant = #number,)
        });
        let all = item.values.iter().map(|value| type_ident(&value.name));
        let count = Literal::usize_unsuffixed(item.values.len());
        let names = item.values.iter().map(|value| {
            let variant = type_ident(&value.name);
            let text = &value.name;
            quote!(Self::#variant => #text,)
        });
        let read = item.values.iter().map(|value| {
            let variant = type_ident(&value.name);
            let number = number(value);
            quote!(#number => Some(Self::#variant),)
        });
        let checked = self.is_in_a_layout(item).then(|| {
            quote! {
                /// The value of a number that was checked to be one.
                #[inline]
                const fn checked(raw: #raw) -> Self {
                    match Self::from_raw(raw) { Some(value) => value, None => Self::ALL[0] }
                }
            }
        });
        let features = self
            .options
            .features
            .then(|| quote!(#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]));
        quote! {
            #docs
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
            #features
            #[repr(#raw)]
            pub enum #name { #(#variants)* }

            impl #name {
                /// Every value, in the order of the registry.
                pub const ALL: [Self; #count] = [#(Self::#all),*];

                #acceptance

                /// The value of that number, if it is listed.
                #[inline]
                pub const fn from_raw(raw: #raw) -> Option<Self> {
                    match raw { #(#read)* _ => None }
                }

                /// The number on the wire.
                #[inline]
                pub const fn raw(self) -> #raw { self as #raw }

                #checked

                /// The name in the registry.
                pub const fn name(self) -> &'static str {
                    match self { #(#names)* }
                }
            }

            impl core::fmt::Display for #name {
                fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                    out.pad(self.name())
                }
            }
        }
    }

    fn is_in_a_layout(&self, item: &Enum) -> bool {
        let registry = self.registry;
        registry.layouts.iter().flat_map(|layout| &layout.fields).any(|field| match field.meaning {
            Meaning::Enum(position) => registry.enums[position].name == item.name,
            _ => false,
        })
    }

    fn open(&self, item: &Enum) -> TokenStream {
        let acceptance = acceptance(item);
        let name = type_ident(&item.name);
        let raw = scalar_ident(item.ty);
        let digits = item.ty.size() as usize * 2;
        let ranges = item.ranges.iter().map(|range| {
            format!(
                "- {:#0w$x} to {:#0w$x}, `{}`: {}",
                range.from,
                range.to,
                range.name,
                range.doc,
                w = digits + 2
            )
        });
        let ranges = ranges.collect::<Vec<_>>();
        let open = "Open: besides the constants it takes the values of these ranges.".to_owned();
        let docs = doc([item.doc.clone(), open].into_iter().chain(ranges).chain([cite(&item.source)]));
        let constants = item.values.iter().map(|value| {
            let docs = doc([said(&value.doc, "value", &value.name)]);
            let constant = const_ident(&value.name);
            let number = hex(value.value, digits);
            quote!(#docs pub const #constant: Self = Self(#number);)
        });
        let all = item.values.iter().map(|value| const_ident(&value.name));
        let count = Literal::usize_unsuffixed(item.values.len());
        let names = item.values.iter().map(|value| {
            let constant = const_ident(&value.name);
            let text = &value.name;
            quote!(Self::#constant => Some(#text),)
        });
        let default = match default_value(item) {
            Some(value) => {
                let constant = const_ident(&value.name);
                quote!(Self::#constant)
            }
            None => {
                let first = hex(item.spans().first().map_or(0, |span| span.0), digits);
                quote!(Self(#first))
            }
        };
        let questions = item.ranges.iter().map(|range| {
            let question = format_ident!("is_{}", range.name);
            let docs = doc([format!(
                "Whether it lies in the range `{}` and is not listed. {}",
                range.name, range.doc
            )]);
            let (from, to) = (hex(range.from, digits), hex(range.to, digits));
            let (min, max) = item.ty.limits();
            let inside = match (i128::from(range.from) == min, i128::from(range.to) == max) {
                (true, true) => quote!(self.name().is_none()),
                (true, false) => quote!(self.0 <= #to && self.name().is_none()),
                (false, true) => quote!(self.0 >= #from && self.name().is_none()),
                (false, false) => quote!(#from <= self.0 && self.0 <= #to && self.name().is_none()),
            };
            quote!(#docs pub const fn #question(self) -> bool { #inside })
        });
        let arbitrary = self.options.features.then(|| {
            quote! {
                #[cfg(feature = "arbitrary")]
                impl<'a> arbitrary::Arbitrary<'a> for #name {
                    fn arbitrary(source: &mut arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
                        Self::from_raw(source.arbitrary()?).ok_or(arbitrary::Error::IncorrectFormat)
                    }
                }
            }
        });
        quote! {
            #docs
            #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
            pub struct #name(#raw);

            impl #name {
                #(#constants)*

                /// Every listed value, in the order of the registry.
                pub const ALL: [Self; #count] = [#(Self::#all),*];

                #acceptance

                /// The value of that number, if it is listed or lies in a range.
                #[inline]
                pub const fn from_raw(raw: #raw) -> Option<Self> {
                    if Self::accepts(raw as u64) { Some(Self(raw)) } else { None }
                }

                /// The number on the wire.
                #[inline]
                pub const fn raw(self) -> #raw { self.0 }

                /// The name in the registry, if it is listed.
                pub const fn name(self) -> Option<&'static str> {
                    match self { #(#names)* _ => None }
                }

                #(#questions)*
            }

            impl Default for #name {
                fn default() -> Self { #default }
            }

            impl core::fmt::Display for #name {
                fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                    match self.name() {
                        Some(name) => out.pad(name),
                        None => write!(out, "{:#x}", self.0),
                    }
                }
            }

            impl core::fmt::Debug for #name {
                fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                    core::fmt::Display::fmt(self, out)
                }
            }

            #arbitrary
        }
    }

    /// What closed and open enums have alike.
    fn shared(&self, item: &Enum) -> TokenStream {
        let wire = &self.options.wire;
        let name = type_ident(&item.name);
        let raw = scalar_ident(item.ty);
        let text = &item.name;
        let open = item.is_open().then(|| {
            quote! {
                if let Some(number) = text.strip_prefix("0x") {
                    let number = #raw::from_str_radix(number, 16).ok();
                    return number.and_then(Self::from_raw).ok_or(#wire::UnknownValue { of: #text });
                }
            }
        });
        let find =
            if item.is_open() { quote!(value.name() == Some(text)) } else { quote!(value.name() == text) };
        let serde = self.options.features.then(|| serde_by_text(&name));
        quote! {
            impl TryFrom<#raw> for #name {
                type Error = #wire::UnknownValue;

                fn try_from(raw: #raw) -> Result<Self, #wire::UnknownValue> {
                    Self::from_raw(raw).ok_or(#wire::UnknownValue { of: #text })
                }
            }

            impl From<#name> for #raw {
                fn from(value: #name) -> Self { value.raw() }
            }

            impl core::str::FromStr for #name {
                type Err = #wire::UnknownValue;

                fn from_str(text: &str) -> Result<Self, #wire::UnknownValue> {
                    #open
                    Self::ALL.into_iter().find(|value| #find).ok_or(#wire::UnknownValue { of: #text })
                }
            }

            #serde
        }
    }
}

/// The numbers that an enum accepts, for its `impl`.
fn acceptance(item: &Enum) -> TokenStream {
    let spans = item.spans();
    let accepts = accepts(&spans, item.ty.limits().1 as u64);
    let table = spans.iter().map(|(from, to)| {
        let (from, to) = (plain(*from), plain(*to));
        quote!((#from, #to))
    });
    quote! {
        /// The accepted numbers as inclusive spans.
        pub const SPANS: &'static [(u64, u64)] = &[#(#table),*];

        /// Whether a number is a value of it.
        #[inline]
        pub const fn accepts(raw: u64) -> bool { #accepts }
    }
}

/// What reads a text form for serde; once a module.
pub(super) fn serde_text() -> TokenStream {
    quote! {
        #[cfg(feature = "serde")]
        mod serde_text {
            /// Reads what has a text form.
            pub(super) fn read<'de, T, D>(input: D) -> Result<T, D::Error>
            where
                T: core::str::FromStr,
                T::Err: core::fmt::Display,
                D: serde::Deserializer<'de>,
            {
                struct Text<T>(core::marker::PhantomData<T>);

                impl<T: core::str::FromStr> serde::de::Visitor<'_> for Text<T>
                where
                    T::Err: core::fmt::Display,
                {
                    type Value = T;

                    fn expecting(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                        out.write_str("a name of the registry")
                    }

                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
                        text.parse().map_err(E::custom)
                    }
                }

                input.deserialize_str(Text(core::marker::PhantomData))
            }
        }
    }
}

/// Serde implementations for what has a text form.
pub(super) fn serde_by_text(name: &proc_macro2::Ident) -> TokenStream {
    quote! {
        #[cfg(feature = "serde")]
        impl serde::Serialize for #name {
            fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
                out.collect_str(self)
            }
        }

        #[cfg(feature = "serde")]
        impl<'de> serde::Deserialize<'de> for #name {
            fn deserialize<D: serde::Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
                serde_text::read(input)
            }
        }
    }
}

/// The value that `Default` gives: number 0, or the first listed.
fn default_value(item: &Enum) -> Option<&Value> {
    item.value(0).or_else(|| item.values.first())
}

/// A condition on `raw`, without branches.
fn accepts(spans: &[(u64, u64)], max: u64) -> TokenStream {
    if spans.len() > 2 && spans.iter().all(|span| span.1 < 128) {
        return accepts_bit(spans);
    }
    let mut parts = spans.iter().map(|&(from, to)| {
        let (first, last) = (plain(from), plain(to));
        match (from, to) {
            (0, to) if to == u64::MAX => quote!(true),
            (from, to) if from == to => quote!(raw == #first),
            (0, _) => quote!(raw <= #last),
            (_, to) if to == u64::MAX || (to == max && max == u64::MAX) => quote!(raw >= #first),
            (from, to) => {
                let width = plain(to - from);
                quote!(raw.wrapping_sub(#first) <= #width)
            }
        }
    });
    match (parts.next(), parts.len()) {
        (None, _) => quote!(false),
        (Some(only), 0) => only,
        (Some(first), _) => quote!((#first) #(| (#parts))*),
    }
}

/// A condition on `raw` that looks it up among 128 bits.
fn accepts_bit(spans: &[(u64, u64)]) -> TokenStream {
    let bits = spans.iter().flat_map(|&(from, to)| from..=to).fold(0u128, |bits, number| bits | 1 << number);
    let last = plain(spans.last().map_or(0, |span| span.1));
    let (low, high) = (hex(bits as u64, 16), hex((bits >> 64) as u64, 16));
    if bits >> 64 == 0 {
        return quote! {
            const LISTED: u64 = #low;
            (raw <= #last) & (LISTED >> (raw & 63) & 1 != 0)
        };
    }
    quote! {
        const LISTED: [u64; 2] = [#low, #high];
        (raw <= #last) & (LISTED[(raw >> 6 & 1) as usize] >> (raw & 63) & 1 != 0)
    }
}
