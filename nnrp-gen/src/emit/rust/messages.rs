//! Messages and packets: what travels, checked as a whole, and how it is written.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use crate::model::{
    Content, Count, Direction, Field, Layout, Meaning, Message, ObjectSize, Role, Rule, Scalar, Segment,
    Slots, Sorted, Tensor,
};
use crate::rule::{self, FieldRef, Space};

use super::bodies::metadata_counts;
use super::parts::Messages;
use super::rules::Reach;
use super::{Rust, cite, doc, field_ident, piece_ident, plain, said, scalar_ident, type_ident};

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

    /// The segments of a message's body, for users.
    fn message_body(&self, message: &Message) -> TokenStream {
        if message.segments.is_empty() {
            return quote!();
        }
        let name = body_ident(message);
        let docs = doc([format!("The body of `{}`.", message.name)]);
        let fields = message.segments.iter().map(|segment| {
            let text = match segment.doc.is_empty() {
                false => segment.doc.clone(),
                true if segment.content == Content::Opaque => {
                    format!("The segment `{}`, as bytes.", segment.name)
                }
                true => format!("The segment `{}`.", segment.name),
            };
            let docs = doc([text]);
            let name = field_ident(&segment.name);
            let ty = self.content_type(segment.content);
            quote!(#docs pub #name: #ty,)
        });
        let cases = message.segments.iter().flat_map(|segment| {
            segment.cases.iter().filter_map(|case| self.case_accessor(message, segment, case.content))
        });
        let cases: Vec<_> = cases.collect();
        let methods = (!cases.is_empty()).then(|| quote!(impl<'a> #name<'a> { #(#cases)* }));
        quote! {
            #docs
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
            pub struct #name<'a> { #(#fields)* }

            #methods
        }
    }

    /// A segment read as what one of its cases says.
    fn case_accessor(&self, message: &Message, segment: &Segment, content: Content) -> Option<TokenStream> {
        let registry = self.registry;
        let name = field_ident(&segment.name);
        let wire = &self.options.wire;
        Some(match content {
            Content::Layout(layout) => {
                let layout = &registry.layouts[layout];
                let method = format_ident!("{}_as_{}", segment.name, layout.name);
                let ty = type_ident(&layout.name);
                let docs = doc([format!("`{}` read as `{}`.", segment.name, layout.name)]);
                quote! {
                    #docs
                    ///
                    /// # Errors
                    ///
                    /// Where it is none.
                    pub fn #method(&self) -> Result<#ty, #wire::Fault> { #ty::decode(self.#name) }
                }
            }
            Content::Body(body) => {
                let body = &registry.bodies[body];
                if !metadata_counts(body).is_empty() {
                    return None;
                }
                let method = format_ident!("{}_as_{}", segment.name, body.name);
                let ty = type_ident(&body.name);
                let value = plain(message.value);
                let docs = doc([format!("`{}` read as `{}`.", segment.name, body.name)]);
                quote! {
                    #docs
                    ///
                    /// # Errors
                    ///
                    /// Where it is none.
                    pub fn #method(&self) -> Result<Option<#ty<'a>>, #wire::Fault> {
                        let piece = #wire::body::Piece { bytes: self.#name, at: 0 };
                        #ty::check(piece, #value)?;
                        Ok(#ty::of(piece, #value))
                    }
                }
            }
            _ => return None,
        })
    }

    fn variant(&self, message: &Message) -> (Ident, Option<Ident>, Option<Ident>) {
        let metadata = message.metadata.map(|layout| type_ident(&self.registry.layouts[layout].name));
        let body = (!message.segments.is_empty()).then(|| body_ident(message));
        (type_ident(&message.name), metadata, body)
    }

    /// The enum of messages with their metadata and bodies.
    fn message_enum(&self, header: &Header<'_>) -> TokenStream {
        let wire = &self.options.wire;
        let kind = self.message_ident();
        let messages = &self.registry.messages;
        let variants = messages.iter().map(|message| {
            let (variant, metadata, body) = self.variant(message);
            let docs = doc([said(&message.doc, "message", &message.name), cite(&message.source)]);
            let body = body.map(|body| quote!(#body<'a>));
            let parts: Vec<_> = metadata.map(|name| quote!(#name)).into_iter().chain(body).collect();
            let parts = (!parts.is_empty()).then(|| quote!((#(#parts),*)));
            quote!(#docs #variant #parts,)
        });
        let pattern = |message: &Message, metadata_name: &str, body_name: &str| {
            let (variant, metadata, body) = self.variant(message);
            let names: Vec<_> = [(metadata.is_some(), metadata_name), (body.is_some(), body_name)]
                .into_iter()
                .filter(|(there, _)| *there)
                .map(|(_, name)| super::ident(name))
                .collect();
            let names = (!names.is_empty()).then(|| quote!((#(#names),*)));
            quote!(Self::#variant #names)
        };
        let kinds = messages.iter().map(|message| {
            let pattern = pattern(message, "_", "_");
            let variant = type_ident(&message.name);
            quote!(#pattern => #kind::#variant,)
        });
        let lengths = messages.iter().filter(|message| !message.segments.is_empty()).map(|message| {
            let pattern = pattern(message, "_", "body");
            let lengths = message.segments.iter().map(|segment| self.segment_length(segment));
            quote!(#pattern => 0usize #(.saturating_add(#lengths))*,)
        });
        let writes = messages.iter().map(|message| {
            let pattern = pattern(message, "metadata", "body");
            let fills = self.metadata_fills(message);
            let metadata = message.metadata.map(|_| {
                if fills.is_empty() {
                    quote!(out.put(&#wire::Packed::pack(metadata));)
                } else {
                    quote!(let mut metadata = *metadata; #fills out.put(&#wire::Packed::pack(&metadata));)
                }
            });
            let segments = message.segments.iter().map(|segment| self.segment_write(segment));
            quote!(#pattern => { #metadata #(#segments)* })
        });
        let natives = type_ident(&header.layout.name);
        let head = Literal::u32_unsuffixed(header.layout.size);
        let (message_field, meta_field, body_field) = (
            field_ident(&header.message.name),
            field_ident(&header.metadata_length.name),
            field_ident(&header.body_length.name),
        );
        let ty = |field: &Field| scalar_ident(field.scalar().unwrap_or(Scalar::U32));
        let (meta_type, body_type) = (ty(header.metadata_length), ty(header.body_length));
        let equality = messages
            .iter()
            .filter_map(|message| message.metadata)
            .all(|layout| !self.has_float(&self.registry.layouts[layout]));
        let equality = if equality { quote!(, Eq) } else { quote!() };
        let lifetime = messages.iter().any(|message| !message.segments.is_empty());
        let marker = (!lifetime).then(|| {
            quote! {
                /// Never made: no message of this protocol has a body.
                #[doc(hidden)]
                Nothing(core::convert::Infallible, core::marker::PhantomData<&'a ()>),
            }
        });
        let nothing =
            |body: TokenStream| (!lifetime).then(|| quote!(Self::Nothing(never, _) => match *never {#body},));
        let (nothing_kind, nothing_write) = (nothing(quote!()), nothing(quote!()));
        let encode = |parse: TokenStream| {
            quote! {
                let size = self.encoded_len();
                let Some(out) = out.get_mut(..size) else { return Err(#wire::WriteError::Room(size)) };
                self.write(header, &mut #wire::Writer::new(out));
                if let Err(fault) = #parse {
                    out.fill(0);
                    return Err(#wire::WriteError::Fault(fault));
                }
                Ok(size)
            }
        };
        let (encode, encode_with) = if self.has_words() {
            let with = encode(quote!(Packet::parse_with(out, words)));
            let encode_with = quote! {
                /// The same for a reader who knows words beside the registered ones.
                ///
                /// # Errors
                ///
                /// As [`Self::encode_into`].
                pub fn encode_with(
                    &self,
                    header: &#natives,
                    out: &mut [u8],
                    words: &dyn Fn(&str) -> bool,
                ) -> Result<usize, #wire::WriteError> {
                    #with
                }
            };
            (quote!(self.encode_with(header, out, &|_| false)), encode_with)
        } else {
            (encode(quote!(Packet::parse(out))), quote!())
        };
        let rest = messages.iter().any(|message| message.segments.is_empty()) || !lifetime;
        let rest = rest.then(|| quote!(_ => 0,));
        quote! {
            /// A message: its metadata as native values and the segments of its body where they are.
            #[derive(Clone, Copy, Debug, PartialEq #equality)]
            pub enum Message<'a> { #(#variants)* #marker }

            impl Message<'_> {
                /// Which message it is.
                pub const fn message_type(&self) -> #kind {
                    match self { #(#kinds)* #nothing_kind }
                }

                /// Bytes of its body on the wire.
                pub fn body_len(&self) -> usize {
                    match self { #(#lengths)* #rest }
                }

                /// Bytes of its packet on the wire.
                pub fn encoded_len(&self) -> usize {
                    #head + self.message_type().metadata_size().saturating_add(self.body_len())
                }

                /// Writes its packet to the front of `out` and says how many bytes it takes.
                ///
                /// Message type, lengths and counts are filled in; the rest of `header` and of the metadata is
                /// written as it is, and so is refused where the message's scope wants something else.
                ///
                /// # Errors
                ///
                /// Where `out` is too small, or a reader would refuse the packet. Nothing is written then.
                pub fn encode_into(&self, header: &#natives, out: &mut [u8]) -> Result<usize, #wire::WriteError> {
                    #encode
                }

                #encode_with

                fn write(&self, header: &#natives, out: &mut #wire::Writer<'_>) {
                    let kind = self.message_type();
                    let mut header = *header;
                    header.#message_field = kind;
                    header.#meta_field = #wire::body::length(kind.metadata_size(), #meta_type::MAX);
                    header.#body_field = #wire::body::length(self.body_len(), #body_type::MAX);
                    out.put(&#wire::Packed::pack(&header));
                    match self { #(#writes)* #nothing_write }
                }
            }
        }
    }

    /// Statements that fill lengths, counts and repeated sizes into metadata.
    fn metadata_fills(&self, message: &Message) -> TokenStream {
        let wire = &self.options.wire;
        let Some(metadata) = message.metadata.map(|layout| &self.registry.layouts[layout]) else {
            return quote!();
        };
        let set = |field: usize, value: TokenStream| {
            let field = &metadata.fields[field];
            let (name, ty) = (field_ident(&field.name), scalar_ident(field.scalar().unwrap_or(Scalar::U32)));
            quote!(metadata.#name = #wire::body::length(#value, #ty::MAX);)
        };
        let mut fills = Vec::new();
        for segment in &message.segments {
            if let Some(field) = segment.length {
                fills.push(set(field, self.segment_length(segment)));
            }
            if let Some(field) = segment.count {
                let name = field_ident(&segment.name);
                fills.push(set(field, quote!(body.#name.iter().count())));
            }
            let Content::Body(body) = segment.content else { continue };
            let body = &self.registry.bodies[body];
            let name = field_ident(&segment.name);
            let of = |value: TokenStream| {
                if body.optional {
                    quote!(body.#name.as_ref().map_or(0, |parts| #value))
                } else {
                    quote!({ let parts = &body.#name; #value })
                }
            };
            for part in &body.parts {
                if let Some(Count::Metadata(count)) = &part.count
                    && let Some(field) = metadata.fields.iter().position(|field| field.name == *count)
                {
                    let part = field_ident(&part.name);
                    fills.push(set(field, of(quote!(parts.#part.len()))));
                }
            }
            for size in &message.sizes {
                let (part, entry, key) = self.object_part(body, size.part);
                let entries = format_ident!("{}Entries", type_ident(&self.registry.entries[entry].name));
                let part = field_ident(&body.parts[part].name);
                let kind = plain(size.kind);
                let value = quote! {
                    #wire::body::object(#entries::TABLE, #wire::body::Piece { bytes: parts.#part.as_bytes(), at: 0 }, &#key, #kind)
                        .map_or(0, |object| object.payload.bytes.len())
                };
                fills.push(set(size.field, of(value)));
            }
        }
        quote!(#(#fills)*)
    }

    /// A part that holds objects: its position, its entry, and the place of the header's key.
    fn object_part(&self, body: &crate::model::Body, part: usize) -> (usize, usize, TokenStream) {
        let Content::Entry(entry) = body.parts[part].content else { return (part, 0, quote!()) };
        let item = &self.registry.entries[entry];
        let layout = &self.registry.layouts[item.header];
        let key = item.select.as_ref().map_or(0, |select| select.field);
        (part, entry, self.place(layout, key, "", None))
    }

    fn segment_length(&self, segment: &Segment) -> TokenStream {
        let name = field_ident(&segment.name);
        match segment.content {
            Content::Opaque => quote!(body.#name.len()),
            Content::Body(body) if self.registry.bodies[body].optional => {
                quote!(body.#name.as_ref().map_or(0, |parts| parts.encoded_len()))
            }
            Content::Body(_) => quote!(body.#name.encoded_len()),
            _ => quote!(body.#name.as_bytes().len()),
        }
    }

    fn segment_write(&self, segment: &Segment) -> TokenStream {
        let name = field_ident(&segment.name);
        match segment.content {
            Content::Opaque => quote!(out.put(body.#name);),
            Content::Body(body) if self.registry.bodies[body].optional => {
                quote!(if let Some(parts) = &body.#name { parts.write(out); })
            }
            Content::Body(_) => quote!(body.#name.write(out);),
            _ => quote!(out.put(body.#name.as_bytes());),
        }
    }

    /// Whether a message holds words, of which a reader may know more than the registry.
    fn has_words(&self) -> bool {
        let is_words = |content| matches!(content, Content::Vocabulary(_));
        self.registry.messages.iter().flat_map(|message| &message.segments).any(|segment| {
            is_words(segment.content) || segment.cases.iter().any(|case| is_words(case.content))
        })
    }

    /// The checked packet.
    fn packet(&self, header: &Header<'_>) -> TokenStream {
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
                let frame = self.frame(kind, #words);
                let fits = frame.metadata.bytes.len() == kind.metadata_size()
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
                pub fn metadata(&self) -> &'a [u8] { self.frame(self.message_type(), #none).metadata.bytes }

                /// The bytes of the body.
                pub fn body(&self) -> &'a [u8] { self.frame(self.message_type(), #none).body.bytes }

                /// The metadata as native values and the segments of the body.
                pub fn message(&self) -> Message<'a> {
                    let kind = self.message_type();
                    let frame = self.frame(kind, #none);
                    match kind { #(#reads)* }
                }

                #[inline]
                fn frame<'w>(&self, kind: #kind, #words_type) -> Frame<'w> where 'a: 'w {
                    let behind = self.bytes.get(#size..).unwrap_or_default();
                    let size = kind.metadata_size();
                    let (metadata, body) = behind.split_at_checked(size).unwrap_or((behind, &[]));
                    Frame {
                        #frame_header
                        metadata: #wire::body::Piece { bytes: metadata, at: #size },
                        body: #wire::body::Piece { bytes: body, at: #size + size },
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

    /// The check of one message, its cut, and its reading.
    fn message_check(&self, header: &Header<'_>, message: &Message) -> TokenStream {
        let wire = &self.options.wire;
        let registry = self.registry;
        let metadata = message.metadata.map(|layout| &registry.layouts[layout]);
        let (check, cut, read) = (
            format_ident!("check_{}", message.name),
            format_ident!("cut_{}", message.name),
            format_ident!("read_{}", message.name),
        );
        let value = plain(message.value);
        let (variant, native, body_name) = self.variant(message);
        let view = metadata.map(|layout| format_ident!("{}View", type_ident(&layout.name)));
        let (early, late): (Vec<_>, Vec<_>) =
            message.scope_rules.iter().chain(&message.rules).partition(|rule| !rule.reads_body());
        let early: Vec<_> = early.into_iter().map(|rule| self.message_rule(header, message, rule)).collect();
        let late: Vec<_> = late.into_iter().map(|rule| self.message_rule(header, message, rule)).collect();
        let names: Vec<_> = message.segments.iter().map(|segment| piece_ident(&segment.name)).collect();
        let count = Literal::usize_unsuffixed(names.len());
        let parameter =
            view.as_ref().filter(|_| message.segments.iter().any(|segment| segment.length.is_some()));
        let argument = parameter.map(|_| quote!(&metadata));
        let parameter = parameter.map(|view| quote!(metadata: &#view<'_>));
        let cut_fn = (!names.is_empty()).then(|| {
            let steps = self.segment_cuts(message);
            quote! {
                #[inline(always)] // where the pieces stay in registers
                fn #cut(&self, #parameter) -> Result<[#wire::body::Piece<'a>; #count], #wire::Fault> {
                    let mut cut = #wire::body::Cut::new(self.body);
                    #steps
                    Ok([#(#names),*])
                }
            }
        });
        let segments: Vec<_> =
            message.segments.iter().map(|segment| self.segment_check(message, segment)).collect();
        let body_rules = self.body_rules(message);
        let run = if names.is_empty() {
            let site = self.site(&header.layout.name, &header.body_length.name, "", None);
            let at = Literal::u32_unsuffixed(header.body_length.offset);
            // The header is good and says where the packet ends: that there is a body is the message's fault.
            quote! {
                const BODY: #wire::Site = #site.message();
                #wire::body::need(self.body.bytes.is_empty(), &BODY, #at, #wire::FaultKind::Length)
            }
        } else {
            let checks = quote!(#(#segments)* #body_rules #(#late)*);
            let used =
                names.iter().map(|name| if mentions(&checks, name) { quote!(#name) } else { quote!(_) });
            let cuts = if checks.is_empty() {
                quote!(self.#cut(#argument)?;)
            } else {
                quote!(let [#(#used),*] = self.#cut(#argument)?;)
            };
            quote!(#cuts #checks Ok(()))
        };
        let load = view.as_ref().map(|view| {
            let checked =
                quote!(#view::new(self.metadata.bytes).map_err(|fault| fault.behind(Self::HEADER))?;);
            let used = uses_metadata(&quote!(#(#early)* #run));
            if used { quote!(let metadata = #checked) } else { checked }
        });
        let docs = doc([format!("Checks `{}` behind the header.", message.name)]);
        let read_body = body_name.as_ref().map(|body| {
            let fields = message.segments.iter().map(|segment| {
                let (name, piece) = (field_ident(&segment.name), piece_ident(&segment.name));
                let value = match segment.content {
                    Content::Body(body) => {
                        let body = &registry.bodies[body];
                        let ty = type_ident(&body.name);
                        let counts =
                            metadata_counts(body).into_iter().map(|count| quote!(u64::from(metadata.#count)));
                        let parts = quote!(#ty::of(#piece, #value, #(#counts),*));
                        if body.optional { parts } else { quote!(#parts.unwrap_or_default()) }
                    }
                    content => self.wrap(content, quote!(#piece.bytes), &quote!(#value)),
                };
                quote!(#name: #value)
            });
            let argument = argument.as_ref().map(|_| quote!(&view));
            quote! {
                match self.#cut(#argument) {
                    Ok([#(#names),*]) => #body { #(#fields),* },
                    Err(_) => #body::default(),
                }
            }
        });
        let read_metadata = match &view {
            Some(view) => {
                let own = read_body.is_some().then(|| quote!(let metadata = view.to_owned();));
                quote!(let view = #view(self.metadata.whole()); #own)
            }
            None => quote!(),
        };
        let made = match (&native, read_body) {
            (Some(_), Some(body)) => quote!(Message::#variant(metadata, #body)),
            (Some(_), None) => quote!(Message::#variant(view.to_owned())),
            (None, Some(body)) => quote!(Message::#variant(#body)),
            (None, None) => quote!(Message::#variant),
        };
        quote! {
            #docs
            fn #check(&self) -> Result<(), #wire::Fault> {
                #load
                #(#early)*
                #run
            }

            #cut_fn

            fn #read(&self) -> Message<'a> {
                #read_metadata
                #made
            }
        }
    }

    /// Cuts a body into segments.
    fn segment_cuts(&self, message: &Message) -> TokenStream {
        let wire = &self.options.wire;
        let metadata = message.metadata.map(|layout| &self.registry.layouts[layout]);
        let steps = message.segments.iter().map(|segment| {
            let name = piece_ident(&segment.name);
            match (segment.length, metadata) {
                (Some(field), Some(layout)) => {
                    let field = &layout.fields[field];
                    let site = self.site(&layout.name, &field.name, &segment.id, None);
                    let at = at(Some(quote!(Self::HEADER)), field.offset);
                    let length = self.widened(field, &quote!(metadata));
                    quote! {
                        let #name = {
                            const SITE: #wire::Site = #site;
                            cut.take(#length, &SITE, #at)?
                        };
                    }
                }
                _ => quote!(let #name = cut.rest();),
            }
        });
        let end = message.segments.last().filter(|segment| segment.length.is_some()).map(|segment| {
            let site = self.site(&message.name, &segment.name, &segment.id, None);
            quote! {
                const LAST: #wire::Site = #site;
                cut.end(&LAST)?;
            }
        });
        quote!(#(#steps)* #end)
    }

    /// The place of a metadata field, to blame it.
    fn metadata_place(&self, message: &Message, field: usize, rule: &str) -> TokenStream {
        match message.metadata {
            Some(layout) => self.place(&self.registry.layouts[layout], field, rule, None),
            None => quote!(),
        }
    }

    /// The check of what a segment holds.
    fn segment_check(&self, message: &Message, segment: &Segment) -> TokenStream {
        let wire = &self.options.wire;
        let name = piece_ident(&segment.name);
        let counted = segment.count.map(|field| {
            let place = self.metadata_place(message, field, &segment.id);
            quote! {
                const COUNT: #wire::body::Place = #place;
                if COUNT.read(self.metadata.bytes) != count {
                    return Err(COUNT.blame(Self::HEADER, #wire::FaultKind::Length));
                }
            }
        });
        let content = self.content_check(message, segment, segment.content, counted.is_some());
        let content = match (counted, segment.content) {
            (Some(counted), _) => quote!({ let count = #content; #counted }),
            (None, Content::Opaque) => quote!(),
            // What the parts owe one another comes behind all segments.
            (None, Content::Body(_)) if self.has_body_rules(message) => quote!(let parts_ = #content;),
            (None, _) => quote!(#content;),
        };
        let nothing = self.nothing_counted(message, segment);
        let cases = segment.cases.iter().map(|case| {
            let Some(select) = segment.select else { return quote!() };
            let place = self.metadata_place(message, select, &case.id);
            let value = plain(case.value);
            let check = match case.content {
                Content::Layout(layout) => {
                    let shape = self.shape(layout);
                    let blame = match segment.length {
                        Some(field) => {
                            let place = self.metadata_place(message, field, &case.id);
                            quote! {
                                const LENGTH: #wire::body::Place = #place;
                                if #name.bytes.len() != SHAPE.size as usize {
                                    return Err(LENGTH.blame(Self::HEADER, #wire::FaultKind::Length));
                                }
                            }
                        }
                        None => {
                            let site = self.site(&message.name, &segment.name, &case.id, None);
                            quote! {
                                const WHOLE: #wire::Site = #site;
                                #wire::body::need(#name.bytes.len() == SHAPE.size as usize, &WHOLE, #name.at, #wire::FaultKind::Length)?;
                            }
                        }
                    };
                    quote!(const SHAPE: #wire::body::Shape = #shape; #blame SHAPE.one(#name)?;)
                }
                content => {
                    let check = self.content_check(message, segment, content, false);
                    quote!(#check;)
                }
            };
            quote! {
                {
                    const SELECT: #wire::body::Place = #place;
                    if !#name.bytes.is_empty() && SELECT.read(self.metadata.bytes) == #value { #check }
                }
            }
        });
        quote!(#content #nothing #(#cases)*)
    }

    /// Refuses a count in the metadata of what a body holds that is absent.
    fn nothing_counted(&self, message: &Message, segment: &Segment) -> TokenStream {
        let wire = &self.options.wire;
        let (Content::Body(body), Some(metadata)) = (segment.content, message.metadata) else {
            return quote!();
        };
        let body = &self.registry.bodies[body];
        let metadata = &self.registry.layouts[metadata];
        let parts = body.parts.iter().filter(|_| body.optional);
        let counts = parts.filter_map(|part| {
            let Some(Count::Metadata(name)) = &part.count else { return None };
            let field = metadata.fields.iter().position(|field| field.name == *name)?;
            let place = self.metadata_place(message, field, &part.id);
            Some(quote! {
                {
                    const COUNT: #wire::body::Place = #place;
                    if COUNT.read(self.metadata.bytes) != 0 {
                        return Err(COUNT.blame(Self::HEADER, #wire::FaultKind::Length));
                    }
                }
            })
        });
        let counts: Vec<_> = counts.collect();
        let name = piece_ident(&segment.name);
        if counts.is_empty() { quote!() } else { quote!(if #name.bytes.is_empty() { #(#counts)* }) }
    }

    /// An expression that checks a piece, and counts what it holds where that is asked.
    fn content_check(
        &self,
        message: &Message,
        segment: &Segment,
        content: Content,
        counted: bool,
    ) -> TokenStream {
        let wire = &self.options.wire;
        let registry = self.registry;
        let name = piece_ident(&segment.name);
        let value = plain(message.value);
        match content {
            Content::Opaque => quote!(#name.bytes.len() as u64),
            Content::Layout(layout) => {
                let rows = format_ident!("{}Rows", type_ident(&registry.layouts[layout].name));
                let size = Literal::u32_unsuffixed(registry.layouts[layout].size);
                let whole = match segment.length {
                    Some(field) => {
                        let place = self.metadata_place(message, field, &segment.id);
                        quote! {
                            const LENGTH: #wire::body::Place = #place;
                            if !#name.bytes.len().is_multiple_of(#size) {
                                return Err(LENGTH.blame(Self::HEADER, #wire::FaultKind::Length));
                            }
                        }
                    }
                    None => {
                        let site = self.site(&message.name, &segment.name, &segment.id, None);
                        quote! {
                            const WHOLE: #wire::Site = #site;
                            let odd = #name.bytes.len() % #size;
                            #wire::body::need(odd == 0, &WHOLE, #name.at + (#name.bytes.len() - odd), #wire::FaultKind::Length)?;
                        }
                    }
                };
                quote!({ #whole #rows::SHAPE.all(#name)?; (#name.bytes.len() / #size) as u64 })
            }
            Content::Entry(entry) => {
                let entries = format_ident!("{}Entries", type_ident(&registry.entries[entry].name));
                if counted {
                    quote!({ #entries::TABLE.check(#name, #value)?; #entries::TABLE.iter(#name).count() as u64 })
                } else {
                    quote!(#entries::TABLE.check(#name, #value)?)
                }
            }
            Content::Body(body) => {
                let body = &registry.bodies[body];
                let ty = type_ident(&body.name);
                let counts =
                    metadata_counts(body).into_iter().map(|count| quote!(u64::from(metadata.#count())));
                quote!(#ty::check(#name, #value, #(#counts),*)?)
            }
            Content::Vocabulary(words) => {
                let ty = type_ident(&registry.vocabularies[words].name);
                quote!(#ty::check(#name, self.words)?)
            }
        }
    }

    /// Whether the parts of a message's body owe one another anything.
    fn has_body_rules(&self, message: &Message) -> bool {
        !self.body_rules(message).is_empty()
    }

    /// What the parts of a body owe the metadata and one another.
    fn body_rules(&self, message: &Message) -> TokenStream {
        let Some((_, body)) = message.body() else { return quote!() };
        let rules = [
            message.slots.as_ref().map(|slots| self.slots(message, body, slots)),
            Some(message.sorted.iter().map(|sorted| self.sorted(body, sorted)).collect()),
            Some(message.sizes.iter().map(|size| self.object_size(message, body, size)).collect()),
            message.tensor.as_ref().map(|tensor| self.tensor(message, body, tensor)),
        ];
        let rules: Vec<TokenStream> = rules.into_iter().flatten().filter(|rule| !rule.is_empty()).collect();
        if rules.is_empty() {
            return quote!();
        }
        let used = self.registry.bodies[body].parts.iter().map(|part| {
            let name = piece_ident(&part.name);
            let text = rules.iter().any(|rule| mentions(rule, &name));
            if text { quote!(#name) } else { quote!(_) }
        });
        quote! {
            let [#(#used),*] = parts_;
            #(#rules)*
        }
    }

    /// The value of a field of a view as a u64.
    pub(super) fn widened(&self, field: &Field, view: &TokenStream) -> TokenStream {
        let value = self.raw_getter(field, view);
        if field.scalar() == Some(Scalar::U64) { value } else { quote!(u64::from(#value)) }
    }

    fn slots(&self, message: &Message, body: usize, slots: &Slots) -> TokenStream {
        let wire = &self.options.wire;
        let body = &self.registry.bodies[body];
        let id = slots.id.as_str();
        let (inline_part, entry, _) = self.object_part(body, slots.inline.0);
        let entry = &self.registry.entries[entry];
        let entries = format_ident!("{}Entries", type_ident(&entry.name));
        let inline_key = self.place(&self.registry.layouts[entry.header], slots.inline.1, id, None);
        let Content::Layout(rows) = body.parts[slots.references.0].content else { return quote!() };
        let rows = &self.registry.layouts[rows];
        let size = Literal::u32_unsuffixed(rows.size);
        let reference_key = self.place(rows, slots.references.1, id, None);
        let order = slots.order.iter().map(|(kind, bit)| {
            let (kind, bit) = (plain(*kind), plain(*bit));
            quote!((#kind, #bit))
        });
        let mask = self.metadata_place(message, slots.mask, id);
        let mode = match slots.mode {
            Some((field, reference, mixed)) => {
                let place = self.metadata_place(message, field, id);
                let (reference, mixed) = (plain(reference), plain(mixed));
                quote!(Some((#place, #reference, #mixed)))
            }
            None => quote!(None),
        };
        let inline = piece_ident(&body.parts[inline_part].name);
        let references = piece_ident(&body.parts[slots.references.0].name);
        quote! {
            const SLOTS: #wire::body::Slots = #wire::body::Slots {
                order: &[#(#order),*],
                inline: (#entries::TABLE, #inline_key),
                references: (#size, #reference_key),
                mask: #mask,
                mode: #mode,
            };
            SLOTS.check(self.metadata, #inline, #references)?;
        }
    }

    fn sorted(&self, body: usize, sorted: &Sorted) -> TokenStream {
        let wire = &self.options.wire;
        let part = &self.registry.bodies[body].parts[sorted.part];
        let name = piece_ident(&part.name);
        let (layout, rows) = match part.content {
            Content::Layout(layout) => {
                let layout = &self.registry.layouts[layout];
                let size = Literal::u32_unsuffixed(layout.size);
                (layout, quote!(#wire::body::rows(#name, #size)))
            }
            Content::Entry(entry) => {
                let entry = &self.registry.entries[entry];
                let entries = format_ident!("{}Entries", type_ident(&entry.name));
                (
                    &self.registry.layouts[entry.header],
                    quote!(#entries::TABLE.iter(#name).map(|entry| entry.header)),
                )
            }
            _ => return quote!(),
        };
        let by = sorted.by.iter().map(|field| self.place(layout, *field, &sorted.id, None));
        let strict = sorted.strict;
        let table = format_ident!("BY_{}", super::const_ident(&part.name));
        quote! {
            const #table: &[#wire::body::Place] = &[#(#by),*];
            #wire::body::sorted(#rows, #table, #strict)?;
        }
    }

    fn object_size(&self, message: &Message, body: usize, size: &ObjectSize) -> TokenStream {
        let wire = &self.options.wire;
        let body = &self.registry.bodies[body];
        let (part, entry, key) = self.object_part(body, size.part);
        let entries = format_ident!("{}Entries", type_ident(&self.registry.entries[entry].name));
        let name = piece_ident(&body.parts[part].name);
        let place = self.metadata_place(message, size.field, &size.id);
        let kind = plain(size.kind);
        quote! {
            {
                const SIZE: #wire::body::Place = #place;
                let object = #wire::body::object(#entries::TABLE, #name, &#key, #kind);
                if SIZE.read(self.metadata.bytes) != object.map_or(0, |object| object.payload.bytes.len() as u64) {
                    return Err(SIZE.blame(Self::HEADER, #wire::FaultKind::Length));
                }
            }
        }
    }

    fn tensor(&self, message: &Message, body: usize, tensor: &Tensor) -> TokenStream {
        let wire = &self.options.wire;
        let registry = self.registry;
        let body = &registry.bodies[body];
        let (part, entry, key) = self.object_part(body, tensor.part);
        let entry = &registry.entries[entry];
        let entries = format_ident!("{}Entries", type_ident(&entry.name));
        let name = piece_ident(&body.parts[part].name);
        if self.tensor_table(tensor, entry).is_none() {
            return quote!();
        }
        let table = tensor_ident(message);
        let Some(metadata) = message.metadata.map(|layout| &registry.layouts[layout]) else {
            return quote!();
        };
        let getter = |field: usize| field_ident(&metadata.fields[field].name);
        let number = |field: usize| self.widened(&metadata.fields[field], &quote!(metadata));
        let (sections, tiles) = (number(tensor.section_count), number(tensor.tile_count));
        let (section_kind, tile_kind) = (plain(tensor.section_table), plain(tensor.tile_index));
        let index = tensor.mode.and_then(|mode| {
            let Meaning::Enum(position) = metadata.fields[mode].meaning else { return None };
            let item = &registry.enums[position];
            let ty = type_ident(&item.name);
            let names =
                [("dense_range", "Dense"), ("raw_u16", "Raw"), ("delta_u16", "Delta"), ("bitset", "Bits")];
            let arms = names.iter().filter(|(name, _)| item.named(name).is_some()).map(|(name, mode)| {
                let (variant, mode) = (type_ident(name), super::ident(mode));
                quote!(#ty::#variant => #wire::body::TileMode::#mode,)
            });
            let getter = getter(mode);
            Some(quote! {
                if let Some(index) = #wire::body::object(#entries::TABLE, #name, &#key, #tile_kind) {
                    let mode = match metadata.#getter() { #(#arms)* };
                    Self::#table.tiles(index, mode, #tiles)?;
                }
            })
        });
        quote! {
            if let Some(table) = #wire::body::object(#entries::TABLE, #name, &#key, #section_kind) {
                Self::#table.sections(table.payload, #sections, #tiles)?;
            }
            #index
        }
    }

    /// Where the fields are that the tensor sections of a message are checked by, as a constant.
    fn tensor_const(&self, message: &Message) -> Option<TokenStream> {
        let wire = &self.options.wire;
        let tensor = message.tensor.as_ref()?;
        let (_, body) = message.body()?;
        let Content::Entry(entry) = self.registry.bodies[body].parts[tensor.part].content else {
            return None;
        };
        let table = self.tensor_table(tensor, &self.registry.entries[entry])?;
        let name = tensor_ident(message);
        Some(quote!(const #name: &'static #wire::body::Tensor = &#table;))
    }

    /// Where the fields are that tensor sections are checked by.
    fn tensor_table(&self, tensor: &Tensor, entry: &crate::model::Entry) -> Option<TokenStream> {
        let wire = &self.options.wire;
        let registry = self.registry;
        let position =
            registry.layouts.iter().position(|layout| layout.name == "tensor_section_descriptor")?;
        let layout = &registry.layouts[position];
        let id = tensor.id.as_str();
        let place = |name: &str| {
            let field = layout.fields.iter().position(|field| field.name == name)?;
            Some(self.place(layout, field, id, None))
        };
        let flags = layout.fields.iter().find(|field| field.name == "section_flags")?;
        let Meaning::Bitmask(mask) = flags.meaning else { return None };
        let fixed = registry.bitmasks[mask].bits.iter().find(|bit| bit.name == "fixed_stride")?.mask;
        let fixed = plain(fixed);
        let object = self.site(&entry.name, "", id, None);
        let bytes = self.place(&registry.layouts[entry.header], entry.payload, id, None);
        let section = self.site(&layout.name, "", id, None);
        let shape = self.shape(position);
        let (role, flags) = (place("role_id")?, place("section_flags")?);
        let (codec, lengths) = (place("codec_table_bytes")?, place("length_table_bytes")?);
        let (payload, stride) = (place("payload_bytes")?, place("payload_stride_bytes")?);
        let big = layout.byte_order == crate::model::ByteOrder::Big;
        Some(quote! {
            #wire::body::Tensor {
                object: #object,
                bytes: #bytes,
                section: #section,
                descriptor: #shape,
                role: #role,
                fixed_stride: (#flags, #fixed),
                codec_table: #codec,
                length_table: #lengths,
                payload: #payload,
                stride: #stride,
                big: #big,
            }
        })
    }

    /// A rule of a message: the statement that refuses what breaks it.
    fn message_rule(&self, header: &Header<'_>, message: &Message, rule: &Rule) -> TokenStream {
        let wire = &self.options.wire;
        let metadata = message.metadata.map(|layout| &self.registry.layouts[layout]);
        let reach = MessageReach { rust: self, header: header.layout, metadata, message };
        let truth = self.truth(&rule.condition(), &reach);
        let layout = match rule.blame.space {
            Space::Header => header.layout,
            Space::Own => metadata.unwrap_or(header.layout),
        };
        let blamed = &layout.fields[rule.blame.index];
        let at = match rule.blame.space {
            Space::Header => at(None, blamed.offset),
            Space::Own => at(Some(quote!(Self::HEADER)), blamed.offset),
        };
        let (layout, field, id, text) = (&layout.name, &blamed.name, &rule.id, &rule.doc);
        let code = self.code(rule.error.as_ref());
        quote! {
            {
                const SITE: #wire::Site = #wire::Site::rule(#layout, #field, #id, #text) #code .message();
                #wire::body::need(#truth, &SITE, #at, #wire::FaultKind::Rule)?;
            }
        }
    }

    /// Whether an entry is in the body.
    fn presence(&self, message: &Message, presence: rule::Presence) -> TokenStream {
        let registry = self.registry;
        let segment = &message.segments[presence.segment];
        let Content::Entry(entry) = segment.content else { return quote!(false) };
        let entry = &registry.entries[entry];
        let entries = format_ident!("{}Entries", type_ident(&entry.name));
        let (piece, value, kind) = (piece_ident(&segment.name), plain(presence.value), plain(message.value));
        let flag = presence.flag.and_then(|field| {
            let choices = &entry.select.as_ref()?.choices;
            let choice = choices.iter().find(|choice| choice.value == presence.value)?;
            let place = self.place(&registry.layouts[choice.layout], field, "", None);
            Some(quote!(Some(&#place)))
        });
        let flag = flag.unwrap_or(quote!(None));
        quote!(#entries::TABLE.has(#piece, #kind, #value, #flag))
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
                    let name = super::const_ident(name);
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

fn tensor_ident(message: &Message) -> Ident {
    format_ident!("{}_TENSOR", super::const_ident(&message.name))
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

/// Whether tokens use the local `metadata`, which is not the frame's field of that name.
fn uses_metadata(tokens: &TokenStream) -> bool {
    let mut after_dot = false;
    tokens.clone().into_iter().any(|token| {
        let found = match &token {
            proc_macro2::TokenTree::Ident(ident) => *ident == "metadata" && !after_dot,
            proc_macro2::TokenTree::Group(group) => uses_metadata(&group.stream()),
            _ => false,
        };
        after_dot = matches!(&token, proc_macro2::TokenTree::Punct(dot) if dot.as_char() == '.');
        found
    })
}

/// A message rule's view of header and metadata.
struct MessageReach<'a> {
    rust: &'a Rust<'a>,
    header: &'a Layout,
    metadata: Option<&'a Layout>,
    message: &'a Message,
}

impl Reach for MessageReach<'_> {
    fn value(&self, field: FieldRef) -> TokenStream {
        let view = match field.space {
            Space::Header => quote!(self.header),
            Space::Own => quote!(metadata),
        };
        self.rust.raw_getter(self.field(field), &view)
    }

    fn presence(&self, presence: rule::Presence) -> TokenStream {
        self.rust.presence(self.message, presence)
    }

    fn field(&self, field: FieldRef) -> &Field {
        match (field.space, self.metadata) {
            (Space::Own, Some(metadata)) => &metadata.fields[field.index],
            _ => &self.header.fields[field.index],
        }
    }
}
