//! Words of a vocabulary.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use crate::model::{ByteOrder, Vocabulary};

use super::super::{Rust, cite, doc, scalar_ident, to_bytes, type_ident};

impl Rust<'_> {
    /// Length-prefixed words.
    pub(super) fn words(&self, item: &Vocabulary) -> TokenStream {
        let wire = &self.options.wire;
        let name = type_ident(&item.name);
        let id = item.id.as_str();
        let (site, length, word) = (
            self.site(&item.name, "", id, None),
            self.site(&item.name, "length", id, None),
            self.site(&item.name, "word", id, None),
        );
        let prefix = Literal::u32_unsuffixed(item.length_type.size());
        let raw = scalar_ident(item.length_type);
        let big = self.registry.protocol.byte_order == ByteOrder::Big;
        let to_bytes = to_bytes(big);
        let registered = item.words.iter().map(|(word, _)| word);
        let count = Literal::usize_unsuffixed(item.words.len());
        let list = item.words.iter().map(|(word, doc)| format!("- `{word}`: {doc}")).collect::<Vec<_>>();
        let docs = doc([item.doc.clone()].into_iter().chain(list).chain([cite(&item.source)]));
        quote! {
            #docs
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
            pub struct #name<'a>(&'a [u8]);

            impl<'a> #name<'a> {
                const TABLE: &'static #wire::body::Words =
                    &#wire::body::Words { site: #site, length: #length, word: #word, prefix: #prefix, big: #big };

                /// The registered words, ascending.
                pub const REGISTERED: [&'static str; #count] = [#(#registered),*];

                /// Checks words, all of which must be registered.
                ///
                /// # Errors
                ///
                /// The first fault, with its offset in the bytes.
                pub fn new(bytes: &'a [u8]) -> Result<Self, #wire::Fault> {
                    Self::with(bytes, |_| false)
                }

                /// Checks words that are registered or that `also` allows.
                ///
                /// # Errors
                ///
                /// As [`Self::new`].
                pub fn with(bytes: &'a [u8], also: impl Fn(&str) -> bool) -> Result<Self, #wire::Fault> {
                    Self::check(#wire::body::Piece { bytes, at: 0 }, also)?;
                    Ok(Self(bytes))
                }

                fn check(words: #wire::body::Piece<'_>, also: impl Fn(&str) -> bool) -> Result<u64, #wire::Fault> {
                    Self::TABLE.check(words, &Self::REGISTERED, also)
                }

                /// The bytes themselves.
                pub const fn as_bytes(&self) -> &'a [u8] { self.0 }

                /// Whether there are no words.
                pub const fn is_empty(&self) -> bool { self.0.is_empty() }

                /// The words, one by one.
                pub fn iter(&self) -> impl Iterator<Item = &'a str> + Clone + use<'a> {
                    Self::TABLE.iter(self.0)
                }

                /// Writes a word behind those that `out` holds. Words ascend; a reader refuses others.
                ///
                /// # Errors
                ///
                /// Where the word has no byte, or more than its length can say; nothing is written then.
                pub fn push(out: &mut impl Extend<u8>, word: &str) -> Result<(), #wire::Fault> {
                    let length = Self::TABLE.length_of(word.len())?;
                    out.extend((length as #raw).#to_bytes().into_iter().chain(word.bytes()));
                    Ok(())
                }
            }
        }
    }
}
