//! Messages and packets: what travels, checked as a whole, and how it is written.

mod checks;
mod orders;
mod packet;
mod write;

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use crate::model::{Direction, Field, Layout, Meaning, Message, Role, Scalar};
use crate::rule::{self, Space};

use super::parts::Messages;
use super::{Rust, scalar_ident, type_ident};

/// What the emission of packets needs to know of the header.
struct Header<'a> {
    layout: &'a Layout,
    message: &'a Field,
    metadata_length: &'a Field,
    body_length: &'a Field,
}

impl Rust<'_> {
    /// The enum of message types.
    pub(super) fn message_ident(&self) -> Ident {
        let name = self.header().and_then(|header| match header.message.meaning {
            Meaning::Enum(position) => Some(type_ident(&self.registry.enums[position].name)),
            _ => None,
        });
        name.unwrap_or_else(|| format_ident!("MessageType"))
    }

    fn header(&self) -> Option<Header<'_>> {
        let layout = &self.registry.layouts[self.registry.protocol.header?];
        let with = |role| layout.fields.iter().find(|field| field.role == Some(role));
        Some(Header {
            layout,
            message: with(Role::Message)?,
            metadata_length: with(Role::MetadataLength)?,
            body_length: with(Role::BodyLength)?,
        })
    }

    /// A part of what there is of messages and packets, for a protocol that has them.
    pub(super) fn messages(&self, part: Messages) -> Vec<TokenStream> {
        let Some(header) = self.header() else { return Vec::new() };
        let messages = &self.registry.messages;
        match part {
            Messages::Bodies => self.bodies(),
            Messages::Kinds => vec![self.message_kinds()],
            Messages::Body(at) => vec![self.message_body(&messages[at])],
            Messages::Enum => vec![self.message_enum(&header)],
            Messages::Packet => vec![self.packet(&header)],
            Messages::Frame => vec![self.frame(&header)],
            Messages::Check(at) => {
                let check = self.message_check(&header, &messages[at]);
                vec![quote!(impl<'a> Frame<'a> { #check })]
            }
            Messages::Codes => vec![self.error_codes(&header)],
        }
    }

    /// A packet on its way through the checks.
    fn frame(&self, header: &Header<'_>) -> TokenStream {
        let wire = &self.options.wire;
        let words = self.has_words().then(|| {
            quote! {
                /// Words that are good beside the registered ones.
                words: &'a dyn Fn(&str) -> bool,
            }
        });
        let tensors = self.registry.messages.iter().map(|message| self.tensor_const(message));
        let head_size = Literal::u32_unsuffixed(header.layout.size);
        let view = format_ident!("{}View", type_ident(&header.layout.name));
        let header_field = self.frame_has_header().then(|| quote!(header: #view<'a>,));
        quote! {
            /// A packet whose header is good and whose lengths are right.
            struct Frame<'a> {
                #header_field
                metadata: #wire::body::Piece<'a>,
                body: #wire::body::Piece<'a>,
                #words
            }

            impl Frame<'_> {
                /// Bytes of the header.
                const HEADER: usize = #head_size;

                #(#tensors)*
            }
        }
    }

    /// Whether a rule behind the header looks at it.
    fn frame_has_header(&self) -> bool {
        let messages = self.registry.messages.iter();
        let mut rules = messages.flat_map(|message| message.scope_rules.iter().chain(&message.rules));
        rules.any(|rule| rule::fields(&rule.condition()).iter().any(|field| field.space == Space::Header))
    }

    /// What the registry says of each message.
    fn message_kinds(&self) -> TokenStream {
        let kind = self.message_ident();
        let registry = self.registry;
        let sizes = registry.messages.iter().filter_map(|message| {
            let size = Literal::u32_unsuffixed(registry.layouts[message.metadata?].size);
            let variant = type_ident(&message.name);
            Some(quote!(Self::#variant => #size,))
        });
        let all_have = registry.messages.iter().all(|message| message.metadata.is_some());
        let rest = (!all_have).then(|| quote!(_ => 0,));
        let of = |wanted: Direction| {
            let names: Vec<_> = registry
                .messages
                .iter()
                .filter(|message| message.direction == wanted || message.direction == Direction::Both)
                .map(|message| type_ident(&message.name))
                .collect();
            match names.len() {
                0 => quote!(false),
                count if count == registry.messages.len() => quote!(true),
                _ => quote!(matches!(self, #(Self::#names)|*)),
            }
        };
        let (to_server, to_client) = (of(Direction::ToServer), of(Direction::ToClient));
        quote! {
            impl #kind {
                /// Bytes of the message's metadata; 0 for none.
                #[inline]
                pub const fn metadata_size(self) -> usize {
                    match self { #(#sizes)* #rest }
                }

                /// Whether a client may send it.
                pub const fn goes_to_server(self) -> bool { #to_server }

                /// Whether a server may send it.
                pub const fn goes_to_client(self) -> bool { #to_client }
            }
        }
    }

    /// How faults map to the protocol's error codes.
    fn error_codes(&self, header: &Header<'_>) -> TokenStream {
        let wire = &self.options.wire;
        let header_name = &header.layout.name;
        let breaks = quote! {
            /// Whether the end of the packet is not known, so that a stream cannot go on behind it.
            pub fn breaks_stream(&self) -> bool {
                self.kind() == #wire::FaultKind::Limit || (self.layout() == #header_name && !self.is_of_message())
            }
        };
        // Only who owns the support module may add to its types.
        if !self.options.owns_wire {
            return quote!();
        }
        let codes = self.registry.protocol.errors.as_ref().map(|errors| {
            let item = &self.registry.enums[errors.enumeration];
            let ty = type_ident(&item.name);
            let code = |number: u64| {
                let name = item.value(number).map(|value| value.name.as_str()).unwrap_or_default();
                if item.is_open() {
                    let name = crate::emit::rust::const_ident(name);
                    quote!(#ty::#name)
                } else {
                    let name = type_ident(name);
                    quote!(#ty::#name)
                }
            };
            let (head, body, limit) = (code(errors.header), code(errors.body), code(errors.limit));
            let raw = scalar_ident(item.ty);
            let from = match item.ty {
                Scalar::U32 => quote!(#ty::from_raw),
                _ => quote!(|code| #ty::from_raw(#raw::try_from(code).ok()?)),
            };
            quote! {
                /// The error code that answers it.
                pub fn error_code(&self) -> #ty {
                    let own = self.code().and_then(#from);
                    match own {
                        Some(code) => code,
                        None if self.kind() == #wire::FaultKind::Limit => #limit,
                        None if self.breaks_stream() => #head,
                        None => #body,
                    }
                }
            }
        });
        quote!(impl #wire::Fault { #breaks #codes })
    }
}

/// A byte behind a base.
pub(super) fn at(base: Option<TokenStream>, offset: u32) -> TokenStream {
    let offset_literal = Literal::u32_unsuffixed(offset);
    match (base, offset) {
        (None, _) => quote!(#offset_literal),
        (Some(base), 0) => base,
        (Some(base), _) => quote!(#base + #offset_literal),
    }
}

fn body_ident(message: &Message) -> Ident {
    format_ident!("{}Body", type_ident(&message.name))
}

/// Whether tokens use a name.
pub(super) fn mentions(tokens: &TokenStream, name: &Ident) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        proc_macro2::TokenTree::Ident(ident) => ident == *name,
        proc_macro2::TokenTree::Group(group) => mentions(&group.stream(), name),
        _ => false,
    })
}
