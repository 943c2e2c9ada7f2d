//! Message by message: its body, its variant, and how it is written.

use super::{Header, body_ident};
use crate::emit::rust::bodies::metadata_counts;
use crate::emit::rust::{Rust, cite, doc, field_ident, ident, plain, said, scalar_ident, type_ident};
use crate::model::{Content, Count, Field, Message, Scalar, Segment};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

impl Rust<'_> {
    /// The segments of a message's body, for users.
    pub(super) fn message_body(&self, message: &Message) -> TokenStream {
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
    pub(super) fn case_accessor(
        &self,
        message: &Message,
        segment: &Segment,
        content: Content,
    ) -> Option<TokenStream> {
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

    pub(super) fn variant(&self, message: &Message) -> (Ident, Option<Ident>, Option<Ident>) {
        let metadata = message.metadata.map(|layout| type_ident(&self.registry.layouts[layout].name));
        let body = (!message.segments.is_empty()).then(|| body_ident(message));
        (type_ident(&message.name), metadata, body)
    }

    /// The enum of messages with their metadata and bodies.
    pub(super) fn message_enum(&self, header: &Header<'_>) -> TokenStream {
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
                .map(|(_, name)| ident(name))
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
        let overlong = messages.iter().filter_map(|message| {
            let needs = self.lengths_fit(message, header);
            let pattern = pattern(message, "_", "body");
            (!needs.is_empty()).then(|| quote!(#pattern => { #needs }))
        });
        let overlong: Vec<_> = overlong.collect();
        let others = (overlong.len() < messages.len()).then(|| quote!(_ => {}));
        let (lengths_fit, is_overlong) = match overlong.is_empty() {
            true => (quote!(), quote!()),
            false => (
                quote! {
                    /// Refuses what a length cannot say where the rest of the body would take it up unseen.
                    fn lengths_fit(&self) -> Result<(), #wire::Fault> {
                        match self { #(#overlong)* #others }
                        Ok(())
                    }
                },
                quote! {
                    if let Err(fault) = self.lengths_fit() {
                        return Err(#wire::WriteError::Fault(fault));
                    }
                },
            ),
        };
        let encode = |parse: TokenStream| {
            quote! {
                #is_overlong
                let body_len = self.body_len();
                let size = #head + self.message_type().metadata_size().saturating_add(body_len);
                let Some(out) = out.get_mut(..size) else { return Err(#wire::WriteError::Room(size)) };
                self.write(header, body_len, &mut #wire::Writer::new(out));
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

                #lengths_fit

                fn write(&self, header: &#natives, body_len: usize, out: &mut #wire::Writer<'_>) {
                    let kind = self.message_type();
                    let mut header = *header;
                    header.#message_field = kind;
                    header.#meta_field = #wire::body::length(kind.metadata_size(), #meta_type::MAX);
                    header.#body_field = #wire::body::length(body_len, #body_type::MAX);
                    out.put(&#wire::Packed::pack(&header));
                    match self { #(#writes)* #nothing_write }
                }
            }
        }
    }

    /// What must hold of a message's body so that its lengths can say how long its segments are. What is too long is
    /// refused by any reader, but where the rest of the body is a segment, too.
    fn lengths_fit(&self, message: &Message, header: &Header<'_>) -> TokenStream {
        let wire = &self.options.wire;
        let metadata = message.metadata.map(|layout| &self.registry.layouts[layout]);
        let (Some(layout), Some(None)) = (metadata, message.segments.last().map(|last| last.length)) else {
            return quote!();
        };
        let needs = message.segments.iter().filter_map(|segment| {
            let field = &layout.fields[segment.length?];
            let size = self.segment_length(segment);
            let site = self.site(&layout.name, &field.name, &segment.id, None);
            let at = Literal::u32_unsuffixed(header.layout.size + field.offset);
            let most = super::super::plain(u64::MAX >> (64 - 8 * field.size));
            (field.size < header.body_length.size).then(|| {
                quote! {{
                    const SITE: #wire::Site = #site;
                    #wire::body::need(#size as u64 <= #most, &SITE, #at, #wire::FaultKind::Length)?;
                }}
            })
        });
        quote!(#(#needs)*)
    }

    /// Statements that fill lengths, counts and repeated sizes into metadata.
    pub(super) fn metadata_fills(&self, message: &Message) -> TokenStream {
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
    pub(super) fn object_part(&self, body: &crate::model::Body, part: usize) -> (usize, usize, TokenStream) {
        let Content::Entry(entry) = body.parts[part].content else { return (part, 0, quote!()) };
        let item = &self.registry.entries[entry];
        let layout = &self.registry.layouts[item.header];
        let key = item.select.as_ref().map_or(0, |select| select.field);
        (part, entry, self.place(layout, key, "", None))
    }

    pub(super) fn segment_length(&self, segment: &Segment) -> TokenStream {
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

    pub(super) fn segment_write(&self, segment: &Segment) -> TokenStream {
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
    pub(super) fn has_words(&self) -> bool {
        let is_words = |content| matches!(content, Content::Vocabulary(_));
        self.registry.messages.iter().flat_map(|message| &message.segments).any(|segment| {
            is_words(segment.content) || segment.cases.iter().any(|case| is_words(case.content))
        })
    }
}
