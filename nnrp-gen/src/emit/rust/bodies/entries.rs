//! Entries: headers with payloads and padding.

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use crate::model::{Entry, Scalar};

use super::super::{Rust, cite, doc, field_ident, scalar_ident, type_ident};
use super::optional;

impl Rust<'_> {
    /// A block of entries.
    pub(super) fn entries(&self, entry: &Entry) -> TokenStream {
        let wire = &self.options.wire;
        let layout = &self.registry.layouts[entry.header];
        let item = type_ident(&entry.name);
        let name = format_ident!("{item}Entries");
        let (native, view) = (type_ident(&layout.name), format_ident!("{}View", type_ident(&layout.name)));
        let id = entry.id.as_str();
        let site = self.site(&entry.name, "", id, None);
        let header = self.shape(entry.header);
        let payload = self.place(layout, entry.payload, id, None);
        let align = Literal::u32_unsuffixed(entry.align);
        let select = entry.select.as_ref().map(|select| self.select(layout, select, entry.payload, id));
        let select = optional(select);
        let unique = optional(entry.unique.map(|field| self.place(layout, field, id, None)));
        let payloads = entry.select.as_ref().and_then(|select| self.payloads(entry, select));
        let (payload_name, payload_enum) = payloads.unzip();
        let payload_field = payload_name.as_ref().map(|name| {
            quote! {
                /// What the payload holds, where it is known in the message.
                pub payload: #name<'a>,
            }
        });
        let payload_value = payload_name.as_ref().map(|name| {
            quote!(payload: #name::of(
                Self::TABLE.select.as_ref().and_then(|select| select.choice(entry.header.bytes, message)).map(|choice| choice.value),
                entry.payload.bytes,
            ),)
        });
        let kind = self.message_ident();
        let length_field = field_ident(&layout.fields[entry.payload].name);
        let length_type = scalar_ident(layout.fields[entry.payload].scalar().unwrap_or(Scalar::U32));
        let docs = doc([
            format!("A block of `{}` entries, checked and where it is.", entry.name),
            entry.doc.clone(),
            cite(&entry.source),
        ]);
        let item_docs = doc([format!("One `{}` entry.", entry.name)]);
        let header_size = Literal::u32_unsuffixed(layout.size);
        let push_payload = payload_name.as_ref().zip(entry.select.as_ref()).map(|(payloads, select)| {
            let selector = &layout.fields[select.field];
            let field = field_ident(&selector.name);
            let arms = select.choices.iter().map(|choice| {
                let variant = type_ident(&choice.name);
                let value = self.choice_value(selector, choice);
                quote! {
                    #payloads::#variant(payload) => {
                        let header = #native { #field: #value, ..*header };
                        let payload = payload.to_bytes().map_err(|fault| fault.behind(#header_size))?;
                        Self::push(out, &header, &payload)
                    }
                }
            });
            let docs = doc([format!(
                "Writes an entry as [`Self::push`] does, with the header's `{}` filled in where the payload is known.",
                selector.name
            )]);
            quote! {
                #docs
                ///
                /// # Errors
                ///
                /// What is wrong with the payload or the header; nothing is written then.
                pub fn push_payload(
                    out: &mut impl Extend<u8>,
                    header: &#native,
                    payload: &#payloads<'_>,
                ) -> Result<(), #wire::Fault> {
                    match payload {
                        #(#arms)*
                        #payloads::Other(bytes) => Self::push(out, header, bytes),
                    }
                }
            }
        });
        let (message_field, message_value) = match payload_name {
            Some(_) => (quote!(message: u64,), quote!(message)),
            None => (quote!(), quote!()),
        };
        // A header that says nothing but the payload's length is filled in whole.
        let says_more = layout.values().count() > 1;
        let header_name = if says_more { quote!(header) } else { quote!(_) };
        let header_rest = says_more.then(|| quote!(..*header));
        let context = if payload_name.is_some() { quote!(let message = self.message;) } else { quote!() };
        quote! {
            #payload_enum

            #item_docs
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub struct #item<'a> {
                /// The header.
                pub header: #view<'a>,
                /// The payload as bytes, without padding.
                pub bytes: &'a [u8],
                #payload_field
            }

            #docs
            #[derive(Clone, Copy, Debug, Default)]
            pub struct #name<'a> {
                bytes: &'a [u8],
                #message_field
            }

            // The message decides what is known in a block, not what the block is.
            impl PartialEq for #name<'_> {
                fn eq(&self, other: &Self) -> bool { self.bytes == other.bytes }
            }

            impl Eq for #name<'_> {}

            impl<'a> #name<'a> {
                const TABLE: &'static #wire::body::Entries = &#wire::body::Entries {
                    site: #site,
                    header: #header,
                    payload: #payload,
                    align: #align,
                    select: #select,
                    unique: #unique,
                };

                /// Checks a block as it stands in a message.
                ///
                /// # Errors
                ///
                /// The first fault, with its offset in the block.
                pub fn new(bytes: &'a [u8], message: #kind) -> Result<Self, #wire::Fault> {
                    let message = u64::from(message.raw());
                    Self::TABLE.check(#wire::body::Piece { bytes, at: 0 }, message)?;
                    Ok(Self { bytes, #message_value })
                }

                /// The bytes themselves.
                pub const fn as_bytes(&self) -> &'a [u8] { self.bytes }

                /// Whether there are no entries.
                pub const fn is_empty(&self) -> bool { self.bytes.is_empty() }

                /// The entries, one by one.
                pub fn iter(&self) -> impl Iterator<Item = #item<'a>> + Clone + use<'a> {
                    #context
                    Self::TABLE.iter(#wire::body::Piece { bytes: self.bytes, at: 0 }).filter_map(move |entry| {
                        Some(#item {
                            header: #view(entry.header.bytes.first_chunk()?),
                            bytes: entry.payload.bytes,
                            #payload_value
                        })
                    })
                }

                /// Writes an entry behind those that `out` holds: its header with the payload's length filled
                /// in, the payload, and padding.
                ///
                /// # Errors
                ///
                /// What is wrong with the header; nothing is written then.
                pub fn push(out: &mut impl Extend<u8>, #header_name: &#native, payload: &[u8]) -> Result<(), #wire::Fault> {
                    let header = #native { #length_field: #wire::body::length(payload.len(), #length_type::MAX), #header_rest };
                    let head = header.to_bytes()?;
                    let size = #header_size + payload.len();
                    let padding = size.next_multiple_of(#align) - size;
                    out.extend(head.into_iter().chain(payload.iter().copied()).chain(core::iter::repeat_n(0, padding)));
                    Ok(())
                }

                #push_payload
            }
        }
    }
}
