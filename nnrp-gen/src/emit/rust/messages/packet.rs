//! The packet: found, checked, cut.

use super::Header;
use crate::emit::rust::{Rust, field_ident, type_ident};
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

impl Rust<'_> {
    /// The checked packet.
    pub(super) fn packet(&self, header: &Header<'_>) -> TokenStream {
        let wire = &self.options.wire;
        let kind = self.message_ident();
        let native = type_ident(&header.layout.name);
        let view = format_ident!("{native}View");
        let size = Literal::u32_unsuffixed(header.layout.size);
        let message_getter = field_ident(&header.message.name);
        let meta_site = self.site(&header.layout.name, &header.metadata_length.name, "", None);
        let body_site = self.site(&header.layout.name, &header.body_length.name, "", None);
        let (meta_at, body_at) = (
            Literal::u32_unsuffixed(header.metadata_length.offset),
            Literal::u32_unsuffixed(header.body_length.offset),
        );
        let (meta_len, body_len) = (
            self.widened(header.metadata_length, &quote!(header)),
            self.widened(header.body_length, &quote!(header)),
        );
        let checks = self.registry.messages.iter().map(|message| {
            let variant = type_ident(&message.name);
            let check = format_ident!("check_{}", message.name);
            quote!(#kind::#variant => frame.#check(),)
        });
        let reads = self.registry.messages.iter().map(|message| {
            let variant = type_ident(&message.name);
            let read = format_ident!("read_{}", message.name);
            quote!(#kind::#variant => frame.#read(),)
        });
        let (words, words_type, words_field) = if self.has_words() {
            (quote!(words), quote!(words: &'w dyn Fn(&str) -> bool), quote!(words,))
        } else {
            (quote!(), quote!(), quote!())
        };
        let frame_header = self.frame_has_header().then(|| quote!(header: self.header,));
        let check_words = self.has_words().then(|| quote!(words: &dyn Fn(&str) -> bool));
        let none = self.has_words().then(|| quote!(&|_| false));
        let parse = quote! {
            let Some(head) = bytes.first_chunk::<#size>() else {
                return Err(#wire::Fault::length(<#native as #wire::Packed>::SITE, bytes.len(), #size));
            };
            let packet = Self { bytes, header: #view(head) };
            // Only whether it is good comes back, in registers, so that the packet is never copied.
            packet.check(#words)?;
            Ok(packet)
        };
        let check = quote! {
            /// Finds the first fault behind the header's first byte.
            fn check(&self, #check_words) -> Result<(), #wire::Fault> {
                let header = #view::new(self.header.as_bytes())?;
                let (meta_len, body_len) = (#meta_len, #body_len);
                let kind = header.#message_getter();
                const META: #wire::Site = #meta_site;
                #wire::body::need(meta_len == kind.metadata_size() as u64, &META, #meta_at, #wire::FaultKind::Length)?;
                const BODY: #wire::Site = #body_site;
                let frame = self.frame(#words);
                let fits = frame.metadata.bytes.len() as u64 == meta_len
                    && frame.body.bytes.len() as u64 == body_len;
                #wire::body::need(fits, &BODY, #body_at, #wire::FaultKind::Length)?;
                match kind { #(#checks)* }
            }
        };
        let (parse, parse_with) = if self.has_words() {
            let parse_with = quote! {
                /// Checks exactly one packet, where `words` are good beside the registered ones.
                ///
                /// # Errors
                ///
                /// As [`Self::parse`].
                #[inline]
                pub fn parse_with(bytes: &'a [u8], words: &dyn Fn(&str) -> bool) -> Result<Self, #wire::Fault> {
                    #parse
                }
            };
            (quote!(Self::parse_with(bytes, #none)), parse_with)
        } else {
            (parse, quote!())
        };
        quote! {
            /// A packet that passed every check: header, metadata and body where they are.
            #[derive(Clone, Copy, PartialEq, Eq)]
            pub struct Packet<'a> {
                bytes: &'a [u8],
                header: #view<'a>,
            }

            impl<'a> Packet<'a> {
                /// Checks exactly one packet.
                ///
                /// # Errors
                ///
                /// The first fault: the header, its lengths, the metadata, the scope, the message's rules, the
                /// body in order. Offsets count from the first byte of the packet.
                #[inline]
                pub fn parse(bytes: &'a [u8]) -> Result<Self, #wire::Fault> {
                    #parse
                }

                #parse_with

                #check

                /// Bytes of the packet that starts with `bytes`, as its header declares them; nothing as long as
                /// the header is not whole.
                ///
                /// # Errors
                ///
                /// A fault in the header. Where the packet ends is not known then.
                pub fn declared_len(bytes: &[u8]) -> Result<Option<u64>, #wire::Fault> {
                    let Some(head) = bytes.first_chunk::<#size>() else { return Ok(None) };
                    let header = #view::new(head)?;
                    let (meta_len, body_len) = (#meta_len, #body_len);
                    const META: #wire::Site = #meta_site;
                    let expected = header.#message_getter().metadata_size() as u64;
                    #wire::body::need(meta_len == expected, &META, #meta_at, #wire::FaultKind::Length)?;
                    Ok(Some((#size + meta_len).saturating_add(body_len)))
                }

                /// The bytes themselves.
                pub const fn as_bytes(&self) -> &'a [u8] { self.bytes }

                /// The header.
                pub const fn header(&self) -> #view<'a> { self.header }

                /// Which message it is.
                pub fn message_type(&self) -> #kind { self.header.#message_getter() }

                /// The bytes of the metadata.
                pub fn metadata(&self) -> &'a [u8] { self.frame(#none).metadata.bytes }

                /// The bytes of the body.
                pub fn body(&self) -> &'a [u8] { self.frame(#none).body.bytes }

                /// The metadata as native values and the segments of the body.
                pub fn message(&self) -> Message<'a> {
                    let frame = self.frame(#none);
                    match self.message_type() { #(#reads)* }
                }

                /// Cuts what is behind the header as that says.
                #[inline]
                fn frame<'w>(&self, #words_type) -> Frame<'w> where 'a: 'w {
                    let header = &self.header;
                    let size = usize::try_from(#meta_len).unwrap_or(usize::MAX);
                    let behind = self.bytes.get(#size..).unwrap_or_default();
                    let (metadata, body) = behind.split_at_checked(size).unwrap_or((behind, &[]));
                    Frame {
                        #frame_header
                        metadata: #wire::body::Piece { bytes: metadata, at: #size },
                        body: #wire::body::Piece { bytes: body, at: #size + metadata.len() },
                        #words_field
                    }
                }
            }

            impl core::fmt::Debug for Packet<'_> {
                fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                    out.debug_struct("Packet").field("header", &self.header).field("message", &self.message()).finish()
                }
            }
        }
    }
}
