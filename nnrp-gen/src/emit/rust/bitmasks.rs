//! Bitmasks, as types of the bitflags crate.

use proc_macro2::TokenStream;
use quote::quote;

use crate::model::{Bitmask, Scalar};

use super::enums::serde_by_text;
use super::{Rust, cite, const_ident, doc, hex, said, scalar_ident, type_ident};

impl Rust<'_> {
    pub(super) fn bitmask(&self, item: &Bitmask) -> TokenStream {
        let wire = &self.options.wire;
        let bitflags = &self.options.bitflags;
        let name = type_ident(&item.name);
        let raw = scalar_ident(item.ty);
        let text = &item.name;
        let digits = item.ty.size() as usize * 2;
        let docs = doc([said(&item.doc, "bitmask", &item.name), cite(&item.source)]);
        let bits = item.bits.iter().map(|bit| {
            let docs = doc([said(&bit.doc, "bit", &bit.name)]);
            let constant = const_ident(&bit.name);
            let mask = hex(bit.mask, digits);
            quote!(#docs const #constant = #mask;)
        });
        let names = item.bits.iter().map(|bit| {
            let text = &bit.name;
            let mask = hex(bit.mask, digits);
            quote!((#text, #mask))
        });
        let known = hex(item.known(), digits);
        let (wide, narrow) = match item.ty {
            Scalar::U64 => (quote!(self.bits()), quote!()),
            _ => (quote!(u64::from(self.bits())), quote!(.and_then(|bits| #raw::try_from(bits).ok()))),
        };
        let features = self.options.features.then(|| {
            let serde = serde_by_text(&name);
            quote! {
                #serde

                #[cfg(feature = "arbitrary")]
                impl<'a> arbitrary::Arbitrary<'a> for #name {
                    fn arbitrary(source: &mut arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
                        Ok(Self::from_bits_truncate(source.arbitrary()?))
                    }
                }
            }
        });
        quote! {
            #bitflags::bitflags! {
                #docs
                #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
                pub struct #name: #raw { #(#bits)* }
            }

            impl #name {
                /// Every listed bit.
                pub const KNOWN: #raw = #known;

                /// The names in the registry and their bits.
                pub const NAMES: &'static [(&'static str, u64)] = &[#(#names),*];
            }

            impl core::fmt::Display for #name {
                fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                    #wire::write_bits(out, #wide, Self::NAMES)
                }
            }

            impl core::str::FromStr for #name {
                type Err = #wire::UnknownValue;

                fn from_str(text: &str) -> Result<Self, #wire::UnknownValue> {
                    let bits = #wire::read_bits(text, Self::NAMES)#narrow;
                    bits.and_then(Self::from_bits).ok_or(#wire::UnknownValue { of: #text })
                }
            }

            #features
        }
    }
}
