//! Bodies: rows of layouts, entries, parts behind a prelude, and words.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens, format_ident, quote};

use crate::model::{
    Body, ByteOrder, Choice, Content, Count, Entry, Layout, Meaning, Part, Scalar, Select, Slices, Vocabulary,
};
use crate::rule::FieldRef;

use super::rules::Reach;
use super::{
    Rust, cite, counted_ident, doc, field_ident, piece_ident, plain, said, scalar_ident, type_ident,
};

impl Rust<'_> {
    /// Everything that bodies are made of, part by part.
    pub(super) fn bodies(&self) -> Vec<TokenStream> {
        let registry = self.registry;
        let mut rows: Vec<usize> = Vec::new();
        let mut add = |content: Content| {
            if let Content::Layout(layout) = content
                && !rows.contains(&layout)
            {
                rows.push(layout);
            }
        };
        for part in registry.bodies.iter().flat_map(|body| &body.parts) {
            add(part.content);
            part.leading.iter().for_each(|(layout, _)| add(Content::Layout(*layout)));
        }
        registry
            .messages
            .iter()
            .flat_map(|message| &message.segments)
            .for_each(|segment| add(segment.content));
        let rows = rows.into_iter().map(|layout| self.rows(&registry.layouts[layout]));
        let entries = registry.entries.iter().map(|entry| self.entries(entry));
        let bodies = registry.bodies.iter().map(|body| self.body(body));
        let words = registry.vocabularies.iter().map(|words| self.words(words));
        rows.chain(entries).chain(bodies).chain(words).collect()
    }

    /// A field of a layout as a place: where it is and how to blame it.
    pub(super) fn place(&self, layout: &Layout, field: usize, rule: &str, code: Option<u64>) -> TokenStream {
        let wire = &self.options.wire;
        let field = &layout.fields[field];
        let (offset, size) = (Literal::u32_unsuffixed(field.offset), Literal::u32_unsuffixed(field.size));
        let big = layout.byte_order == ByteOrder::Big;
        let site = self.site(&layout.name, &field.name, rule, code);
        quote!(#wire::body::Place { offset: #offset, size: #size, big: #big, site: #site })
    }

    /// A place to blame for a body that is wrong.
    pub(super) fn site(&self, layout: &str, field: &str, rule: &str, code: Option<u64>) -> TokenStream {
        let wire = &self.options.wire;
        let code = code.map(|code| {
            let code = plain(code);
            quote!(.code(#code))
        });
        match (field.is_empty(), rule.is_empty()) {
            (true, true) => quote!(#wire::Site::layout(#layout) #code),
            (false, true) => quote!(#wire::Site::field(#layout, #field) #code),
            (_, false) => quote!(#wire::Site::rule(#layout, #field, #rule, "") #code),
        }
    }

    /// A layout as a shape: its size and its check.
    pub(super) fn shape(&self, layout: usize) -> TokenStream {
        let wire = &self.options.wire;
        let layout = &self.registry.layouts[layout];
        let size = Literal::u32_unsuffixed(layout.size);
        let view = format_ident!("{}View", type_ident(&layout.name));
        quote!(#wire::body::Shape { size: #size, check: |bytes| #view::new(bytes).err() })
    }

    /// Checked rows of a layout.
    fn rows(&self, layout: &Layout) -> TokenStream {
        let wire = &self.options.wire;
        let native = type_ident(&layout.name);
        let (name, view) = (format_ident!("{native}Rows"), format_ident!("{native}View"));
        let position = self.registry.layouts.iter().position(|other| other.name == layout.name).unwrap_or(0);
        let shape = self.shape(position);
        let size = Literal::u32_unsuffixed(layout.size);
        let site = self.site(&layout.name, "", "", None);
        let docs = doc([format!("Rows of [`{native}`], checked and where they are.")]);
        quote! {
            #docs
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
            pub struct #name<'a>(&'a [u8]);

            impl<'a> #name<'a> {
                const SHAPE: #wire::body::Shape = #shape;

                /// Checks rows that stand one behind the other.
                ///
                /// # Errors
                ///
                /// The first fault of a row, or bytes that are no whole number of rows.
                pub fn new(bytes: &'a [u8]) -> Result<Self, #wire::Fault> {
                    Self::SHAPE.all(#wire::body::Piece { bytes, at: 0 })?;
                    if bytes.len().is_multiple_of(#size) {
                        return Ok(Self(bytes));
                    }
                    const SITE: #wire::Site = #site;
                    Err(#wire::Fault::length(&SITE, bytes.len() % #size, #size).behind(bytes.len() - bytes.len() % #size))
                }

                /// The bytes themselves.
                pub const fn as_bytes(&self) -> &'a [u8] { self.0 }

                /// How many rows there are.
                pub const fn len(&self) -> usize { self.0.len() / #size }

                /// Whether there are none.
                pub const fn is_empty(&self) -> bool { self.0.is_empty() }

                /// The row at a position, counted from 0.
                pub fn get(&self, at: usize) -> Option<#view<'a>> {
                    self.0.get(at.checked_mul(#size)?..)?.first_chunk().map(#view)
                }

                /// The rows, one by one.
                pub fn iter(&self) -> impl Iterator<Item = #view<'a>> + Clone + use<'a> {
                    self.0.chunks_exact(#size).filter_map(|row| row.first_chunk().map(#view))
                }

                /// Writes a row behind those that `out` holds.
                ///
                /// # Errors
                ///
                /// What is wrong with the row; nothing is written then.
                pub fn push(out: &mut impl Extend<u8>, row: &#native) -> Result<(), #wire::Fault> {
                    out.extend(row.to_bytes()?);
                    Ok(())
                }
            }
        }
    }

    /// How headers or rows of a layout say what their payload holds, as a table.
    fn select(&self, layout: &Layout, select: &Select, length: usize, id: &str) -> TokenStream {
        let wire = &self.options.wire;
        let field = self.place(layout, select.field, id, None);
        let unsupported = self.site(&layout.name, &layout.fields[select.field].name, id, select.code);
        let critical = optional(select.critical.map(|(field, mask)| {
            let place = self.place(layout, field, id, None);
            let mask = plain(mask);
            quote!((#place, #mask))
        }));
        let choices = select.choices.iter().map(|choice| self.choice(layout, select, choice, length, id));
        quote! {
            #wire::body::Select {
                field: #field,
                critical: #critical,
                unsupported: #unsupported,
                choices: &[#(#choices),*],
            }
        }
    }

    fn choice(
        &self,
        layout: &Layout,
        select: &Select,
        choice: &Choice,
        length: usize,
        id: &str,
    ) -> TokenStream {
        let wire = &self.options.wire;
        let id = if choice.id.is_empty() { id } else { &choice.id };
        let value = plain(choice.value);
        let shape = self.shape(choice.layout);
        let messages = choice.messages.iter().map(|&message| plain(self.registry.messages[message].value));
        let refuse = choice.refuse_critical.then_some(()).and(select.critical);
        let refuse = optional(refuse.map(|(field, _)| self.place(layout, field, id, None)));
        let once = optional(choice.once.then(|| self.place(layout, select.field, id, None)));
        let require = optional(choice.require.as_ref().map(|(truth, blame)| {
            let place = self.place(layout, *blame, id, None);
            let condition = self.truth(truth, &RowReach(self, layout));
            let view = format_ident!("{}View", type_ident(&layout.name));
            quote!((|row| row.first_chunk().map(#view).is_some_and(|row| #condition), #place))
        }));
        let length = self.place(layout, length, id, None);
        quote! {
            #wire::body::Choice {
                value: #value,
                shape: #shape,
                messages: &[#(#messages),*],
                refuse_critical: #refuse,
                once: #once,
                require: #require,
                length: #length,
            }
        }
    }

    /// The payloads that a selector knows, as an enum. Its name, and its definition.
    fn payloads(&self, item: &Entry, select: &Select) -> Option<(Ident, TokenStream)> {
        if select.choices.is_empty() {
            return None;
        }
        let name = format_ident!("{}Payload", type_ident(&item.name));
        let variants = select.choices.iter().map(|choice| {
            let docs = doc([said(&choice.doc, "payload", &choice.name)]);
            let variant = type_ident(&choice.name);
            let ty = type_ident(&self.registry.layouts[choice.layout].name);
            quote!(#docs #variant(#ty),)
        });
        let arms = select.choices.iter().map(|choice| {
            let variant = type_ident(&choice.name);
            let value = plain(choice.value);
            let view = format_ident!("{}View", type_ident(&self.registry.layouts[choice.layout].name));
            quote!(Some(#value) => bytes.first_chunk().map(|bytes| Self::#variant(#view(bytes).to_owned())),)
        });
        let docs = doc([format!("The payload of a `{}`, decoded where its type is known.", item.name)]);
        // A layout that stands for one payload only says which.
        let alone = select.choices.iter().filter(|choice| {
            select.choices.iter().filter(|other| other.layout == choice.layout).count() == 1
        });
        let conversions = alone.map(|choice| {
            let variant = type_ident(&choice.name);
            let ty = type_ident(&self.registry.layouts[choice.layout].name);
            quote!(impl From<#ty> for #name<'_> { fn from(payload: #ty) -> Self { Self::#variant(payload) } })
        });
        Some((
            name.clone(),
            quote! {
                #docs
                #[derive(Clone, Copy, Debug, PartialEq, Eq)]
                pub enum #name<'a> {
                    #(#variants)*
                    /// One that is not known here, as its bytes.
                    Other(&'a [u8]),
                }

                impl<'a> #name<'a> {
                    fn of(choice: Option<u64>, bytes: &'a [u8]) -> Self {
                        let known = match choice { #(#arms)* _ => None };
                        known.unwrap_or(Self::Other(bytes))
                    }
                }

                #(#conversions)*
            },
        ))
    }

    /// The value of a selector that makes a choice.
    fn choice_value(&self, selector: &crate::model::Field, choice: &Choice) -> TokenStream {
        let Meaning::Enum(position) = selector.meaning else { return plain(choice.value).to_token_stream() };
        let item = &self.registry.enums[position];
        let ty = self.enum_type(position);
        let name = if item.is_open() { super::const_ident(&choice.name) } else { type_ident(&choice.name) };
        quote!(#ty::#name)
    }

    /// A block of entries.
    fn entries(&self, entry: &Entry) -> TokenStream {
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

    /// Length-prefixed words.
    fn words(&self, item: &Vocabulary) -> TokenStream {
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
        let to_bytes = super::to_bytes(big);
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

    /// What a segment or part is to users, given what it holds.
    pub(super) fn content_type(&self, content: Content) -> TokenStream {
        let registry = self.registry;
        match content {
            Content::Opaque => quote!(&'a [u8]),
            Content::Layout(layout) => {
                let name = format_ident!("{}Rows", type_ident(&registry.layouts[layout].name));
                quote!(#name<'a>)
            }
            Content::Entry(entry) => {
                let name = format_ident!("{}Entries", type_ident(&registry.entries[entry].name));
                quote!(#name<'a>)
            }
            Content::Body(body) => {
                let name = type_ident(&registry.bodies[body].name);
                if registry.bodies[body].optional { quote!(Option<#name<'a>>) } else { quote!(#name<'a>) }
            }
            Content::Vocabulary(words) => {
                let name = type_ident(&registry.vocabularies[words].name);
                quote!(#name<'a>)
            }
        }
    }

    /// Checked bytes as what users see.
    pub(super) fn wrap(&self, content: Content, bytes: TokenStream, message: &TokenStream) -> TokenStream {
        let registry = self.registry;
        match content {
            Content::Opaque => bytes,
            Content::Layout(layout) => {
                let name = format_ident!("{}Rows", type_ident(&registry.layouts[layout].name));
                quote!(#name(#bytes))
            }
            Content::Entry(entry) => {
                let name = format_ident!("{}Entries", type_ident(&registry.entries[entry].name));
                if !knows_payloads(&registry.entries[entry]) {
                    quote!(#name { bytes: #bytes })
                } else if message.to_string() == "message" {
                    quote!(#name { bytes: #bytes, message })
                } else {
                    quote!(#name { bytes: #bytes, message: #message })
                }
            }
            Content::Body(_) => bytes,
            Content::Vocabulary(words) => {
                let name = type_ident(&registry.vocabularies[words].name);
                quote!(#name(#bytes))
            }
        }
    }

    /// What users see as bytes again.
    pub(super) fn unwrap(&self, content: Content, value: TokenStream) -> TokenStream {
        match content {
            Content::Opaque => value,
            _ => quote!(#value.as_bytes()),
        }
    }

    /// Whether a prelude says more than the lengths and counts of its parts.
    fn prelude_has_values(&self, body: &Body) -> bool {
        let prelude = &self.registry.layouts[body.prelude];
        let filled = filled_fields(body);
        prelude.fields.iter().enumerate().any(|(at, field)| field.has_value() && !filled.contains(&at))
    }

    /// A body of several parts behind a prelude.
    fn body(&self, body: &Body) -> TokenStream {
        let wire = &self.options.wire;
        let name = type_ident(&body.name);
        let prelude = &self.registry.layouts[body.prelude];
        let (native, view) = (type_ident(&prelude.name), format_ident!("{}View", type_ident(&prelude.name)));
        let has_values = self.prelude_has_values(body);
        let docs = doc([said(&body.doc, "body", &body.name), cite(&body.source)]);
        let prelude_field = has_values.then(|| {
            quote! {
                /// What stands in front; lengths and counts in it are filled in when it is written.
                pub prelude: #native,
            }
        });
        let fields = body.parts.iter().map(|part| {
            let docs = doc([part_doc(part)]);
            let name = field_ident(&part.name);
            let ty = self.content_type(part.content);
            quote!(#docs pub #name: #ty,)
        });
        let cut = self.cut(body);
        let check = self.check_parts(body);
        let counts = counted(body);
        let prelude_used = super::ident("prelude");
        let prelude_used =
            if super::messages::mentions(&check, &prelude_used) { quote!(#prelude_used) } else { quote!(_) };
        let message_used = super::messages::mentions(&check, &super::ident("message"));
        let message_name = if message_used { quote!(message) } else { quote!(_) };
        let prelude_value = has_values.then(|| quote!(prelude: prelude.to_owned(),));
        let values: Vec<_> = body
            .parts
            .iter()
            .map(|part| {
                let (name, piece) = (field_ident(&part.name), piece_ident(&part.name));
                let value = self.wrap(part.content, quote!(#piece.bytes), &quote!(message));
                quote!(#name: #value,)
            })
            .collect();
        let of_message = body.parts.iter().any(|part| match part.content {
            Content::Entry(entry) => knows_payloads(&self.registry.entries[entry]),
            _ => false,
        });
        let of_message = if of_message { quote!(message) } else { quote!(_) };
        let names = names_of(body);
        let count = Literal::usize_unsuffixed(body.parts.len());
        let accessors = body.parts.iter().filter_map(|part| self.accessor(body, part));
        let lengths = body.parts.iter().map(|part| {
            let name = field_ident(&part.name);
            let bytes = self.unwrap(part.content, quote!(self.#name));
            quote!(.saturating_add(#bytes.len()))
        });
        let size = Literal::usize_suffixed(prelude.size as usize);
        let fills = self.fills(body);
        let writes = body.parts.iter().map(|part| {
            let name = field_ident(&part.name);
            let bytes = self.unwrap(part.content, quote!(self.#name));
            quote!(out.put(#bytes);)
        });
        let start = has_values.then(|| quote!(..self.prelude));
        let prelude_name = if has_values { quote!(prelude) } else { quote!(_) };
        let alone = counts.is_empty().then(|| {
            quote! {
                /// Reads exactly one that stands by itself.
                ///
                /// # Errors
                ///
                /// The first fault, with its offset in the bytes.
                pub fn decode(bytes: &'a [u8]) -> Result<Self, #wire::Fault> {
                    let piece = #wire::body::Piece { bytes, at: 0 };
                    Self::check(piece, 0)?;
                    Ok(Self::of(piece, 0).unwrap_or_default())
                }

                /// Writes it to the front of `out` and says how many bytes it takes.
                ///
                /// # Errors
                ///
                /// Where `out` is too small, or a reader would refuse it. Nothing is written then.
                pub fn encode_into(&self, out: &mut [u8]) -> Result<usize, #wire::WriteError> {
                    let size = self.encoded_len();
                    let Some(out) = out.get_mut(..size) else { return Err(#wire::WriteError::Room(size)) };
                    self.write(&mut #wire::Writer::new(out));
                    if let Err(fault) = Self::check(#wire::body::Piece { bytes: out, at: 0 }, 0) {
                        out.fill(0);
                        return Err(#wire::WriteError::Fault(fault));
                    }
                    Ok(size)
                }
            }
        });
        let empty = body.optional.then(|| {
            quote!(if piece.bytes.is_empty() {
                return Ok([piece; #count]);
            })
        });
        quote! {
            #docs
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
            pub struct #name<'a> {
                #prelude_field
                #(#fields)*
            }

            impl<'a> #name<'a> {
                /// Cuts the bytes behind the prelude into parts.
                #[inline(always)] // where the parts stay in registers
                fn cut<'p>(piece: #wire::body::Piece<'p>, #(#counts: u64),*)
                    -> Result<(#view<'p>, [#wire::body::Piece<'p>; #count]), #wire::Fault>
                { #cut }

                /// Checks a body as it stands in a message, and gives its parts.
                #[inline(always)] // for the same reason
                fn check<'p>(piece: #wire::body::Piece<'p>, #message_name: u64, #(#counts: u64),*)
                    -> Result<[#wire::body::Piece<'p>; #count], #wire::Fault>
                {
                    #empty
                    let (#prelude_used, [#(#names),*]) = Self::cut(piece, #(#counts),*)?;
                    #check
                    Ok([#(#names),*])
                }

                /// The parts of a checked body.
                fn of(piece: #wire::body::Piece<'a>, #of_message: u64, #(#counts: u64),*) -> Option<Self> {
                    let (#prelude_name, [#(#names),*]) = Self::cut(piece, #(#counts),*).ok()?;
                    Some(Self { #prelude_value #(#values)* })
                }

                /// Its bytes on the wire.
                pub fn encoded_len(&self) -> usize {
                    #size #(#lengths)*
                }

                #alone

                fn write(&self, out: &mut #wire::Writer<'_>) {
                    let prelude = #native { #fills #start };
                    out.put(&#wire::Packed::pack(&prelude));
                    #(#writes)*
                }

                #(#accessors)*
            }
        }
    }

    /// The cut of a body: the prelude, then every length in turn.
    fn cut(&self, body: &Body) -> TokenStream {
        let wire = &self.options.wire;
        let prelude = &self.registry.layouts[body.prelude];
        let view = format_ident!("{}View", type_ident(&prelude.name));
        let size = Literal::u32_unsuffixed(prelude.size);
        let takes = body.parts.iter().map(|part| {
            let name = piece_ident(&part.name);
            let field = &prelude.fields[part.length];
            let length = self.widened(field, &quote!(prelude));
            let site = self.site(&prelude.name, &field.name, &part.id, None);
            let at = super::messages::at(Some(quote!(piece.at)), field.offset);
            let multiple = match part.content {
                Content::Layout(layout) => {
                    let row = Literal::u32_unsuffixed(self.registry.layouts[layout].size);
                    let counted = part.count.as_ref().map(|count| {
                        let count = match count {
                            Count::Prelude(field) => {
                                self.widened(&prelude.fields[*field], &quote!(prelude))
                            }
                            Count::Metadata(name) => {
                                let name = counted_ident(name);
                                quote!(#name)
                            }
                        };
                        quote!(&& (#name.bytes.len() / #row) as u64 == #count)
                    });
                    let holds = quote!(#name.bytes.len().is_multiple_of(#row) #counted);
                    Some(quote!(#wire::body::need(#holds, &SITE, #at, #wire::FaultKind::Length)?;))
                }
                _ => None,
            };
            let leading = part.leading.map(|(layout, count)| {
                let row = Literal::u32_unsuffixed(self.registry.layouts[layout].size);
                let field = &prelude.fields[count];
                let count = self.widened(field, &quote!(prelude));
                let site = self.site(&prelude.name, &field.name, &part.id, None);
                let at = super::messages::at(Some(quote!(piece.at)), field.offset);
                quote! {
                    {
                        const SITE: #wire::Site = #site;
                        let leading = (#count).saturating_mul(#row);
                        #wire::body::need(leading <= #name.bytes.len() as u64, &SITE, #at, #wire::FaultKind::Length)?;
                    }
                }
            });
            let more = (multiple.is_some() || leading.is_some()).then(|| quote!(#multiple #leading));
            let taken = match more {
                Some(more) => quote!(let #name = cut.take(#length, &SITE, #at)?; #more #name),
                None => quote!(cut.take(#length, &SITE, #at)?),
            };
            quote! {
                let #name = {
                    const SITE: #wire::Site = #site;
                    #taken
                };
            }
        });
        let names = body.parts.iter().map(|part| piece_ident(&part.name));
        let last = body.parts.last().map(|part| part.name.as_str()).unwrap_or_default();
        let id = body.parts.last().map(|part| part.id.as_str()).unwrap_or_default();
        let last = self.site(&body.name, last, id, None);
        quote! {
            let head = piece.bytes.get(..#size).unwrap_or(piece.bytes);
            let prelude = #view::new(head).map_err(|fault| fault.behind(piece.at))?;
            let behind = piece.bytes.get(#size..).unwrap_or_default();
            let mut cut = #wire::body::Cut::new(#wire::body::Piece { bytes: behind, at: piece.at + #size });
            #(#takes)*
            const LAST: #wire::Site = #last;
            cut.end(&LAST)?;
            Ok((prelude, [#(#names),*]))
        }
    }

    /// The contents of parts, in order.
    fn check_parts(&self, body: &Body) -> TokenStream {
        let wire = &self.options.wire;
        let registry = self.registry;
        let prelude = &registry.layouts[body.prelude];
        let checks = body.parts.iter().map(|part| {
            let name = piece_ident(&part.name);
            let content = match part.content {
                Content::Layout(layout) => {
                    let rows = format_ident!("{}Rows", type_ident(&registry.layouts[layout].name));
                    quote!(#rows::SHAPE.all(#name)?;)
                }
                Content::Entry(entry) => {
                    let entries = format_ident!("{}Entries", type_ident(&registry.entries[entry].name));
                    quote!(#entries::TABLE.check(#name, message)?;)
                }
                _ => quote!(),
            };
            let leading = part.leading.map(|(layout, count)| {
                let rows = format_ident!("{}Rows", type_ident(&registry.layouts[layout].name));
                let row = Literal::u32_unsuffixed(registry.layouts[layout].size);
                let count = self.widened(&prelude.fields[count], &quote!(prelude));
                quote!(#rows::SHAPE.all(#name.front(#wire::body::length_of(#count, #row)))?;)
            });
            let slices = part.slices.as_ref().map(|slices| {
                let rows = piece_ident(&body.parts[slices.rows].name);
                let table = slices_ident(part);
                quote!(Self::#table.check(#rows, #name, message)?;)
            });
            quote!(#content #leading #slices)
        });
        quote!(#(#checks)*)
    }

    /// What a part offers beyond its bytes: its slices, or what it starts with.
    fn accessor(&self, body: &Body, part: &Part) -> Option<TokenStream> {
        let registry = self.registry;
        if let Some(slices) = &part.slices {
            return Some(self.sliced(body, part, slices));
        }
        let (layout, count) = part.leading?;
        let prelude = &registry.layouts[body.prelude];
        let rows = format_ident!("{}Rows", type_ident(&registry.layouts[layout].name));
        let size = Literal::u32_unsuffixed(registry.layouts[layout].size);
        let (name, counter) = (field_ident(&part.name), field_ident(&prelude.fields[count].name));
        let wire = &self.options.wire;
        let method = format_ident!("{}_leading", part.name);
        let docs = doc([format!(
            "The `{}` rows that `{}` starts with, if they are good.",
            registry.layouts[layout].name, part.name
        )]);
        Some(quote! {
            #docs
            pub fn #method(&self) -> #rows<'a> {
                let bytes = self.#name.get(..#wire::body::length_of(self.prelude.#counter.into(), #size));
                bytes.and_then(|bytes| #rows::new(bytes).ok()).unwrap_or_default()
            }
        })
    }

    fn sliced(&self, body: &Body, part: &Part, slices: &Slices) -> TokenStream {
        let wire = &self.options.wire;
        let layout = &self.registry.layouts[slices.layout];
        let view = format_ident!("{}View", type_ident(&layout.name));
        let (name, rows) = (field_ident(&part.name), field_ident(&body.parts[slices.rows].name));
        let table = slices_ident(part);
        let method = format_ident!("{}_sliced", part.name);
        let id = part.id.as_str();
        let site = self.site(&body.name, &part.name, id, None);
        let row = Literal::u32_unsuffixed(layout.size);
        let (offset, size) =
            (self.place(layout, slices.offset, id, None), self.place(layout, slices.size, id, None));
        let select = slices.select.as_ref().map(|select| self.select(layout, select, slices.size, id));
        let select = optional(select);
        let docs =
            doc([format!("Each of `{}` with its slice of `{}`.", body.parts[slices.rows].name, part.name)]);
        quote! {
            const #table: &'static #wire::body::Slices = &#wire::body::Slices {
                site: #site,
                row: #row,
                offset: #offset,
                size: #size,
                select: #select,
            };

            #docs
            pub fn #method(&self) -> impl Iterator<Item = (#view<'a>, &'a [u8])> + Clone + use<'a> {
                let part = self.#name;
                self.#rows.iter().map(move |row| (row, Self::#table.of(row.as_bytes(), part)))
            }
        }
    }

    /// Lengths and counts of a prelude, as fields of its literal.
    fn fills(&self, body: &Body) -> TokenStream {
        let wire = &self.options.wire;
        let prelude = &self.registry.layouts[body.prelude];
        let set = |field: usize, value: TokenStream| {
            let field = &prelude.fields[field];
            let (name, ty) = (field_ident(&field.name), scalar_ident(field.scalar().unwrap_or(Scalar::U32)));
            quote!(#name: #wire::body::length(#value, #ty::MAX),)
        };
        let mut filled = Vec::new();
        let mut fills = Vec::new();
        for part in &body.parts {
            let name = field_ident(&part.name);
            let bytes = self.unwrap(part.content, quote!(self.#name));
            fills.push(set(part.length, quote!(#bytes.len())));
            if let Some(Count::Prelude(field)) = part.count
                && !filled.contains(&field)
            {
                filled.push(field);
                fills.push(set(field, quote!(self.#name.len())));
            }
        }
        quote!(#(#fills)*)
    }
}

/// Whether an entry has payloads that are known, so that its block must know its message.
fn knows_payloads(entry: &Entry) -> bool {
    entry.select.as_ref().is_some_and(|select| !select.choices.is_empty())
}

fn optional(value: Option<TokenStream>) -> TokenStream {
    match value {
        Some(value) => quote!(Some(#value)),
        None => quote!(None),
    }
}

fn names_of(body: &Body) -> Vec<Ident> {
    body.parts.iter().map(|part| piece_ident(&part.name)).collect()
}

fn slices_ident(part: &Part) -> Ident {
    format_ident!("{}_SLICES", super::const_ident(&part.name))
}

fn part_doc(part: &Part) -> String {
    match (part.doc.is_empty(), &part.slices) {
        (false, _) => part.doc.clone(),
        (true, Some(_)) => format!("The part `{}`, which rows of another part slice.", part.name),
        (true, None) => format!("The part `{}`.", part.name),
    }
}

/// What metadata fields count in a body, as parameters.
fn counted(body: &Body) -> Vec<Ident> {
    let names = body.parts.iter().filter_map(|part| match &part.count {
        Some(Count::Metadata(name)) => Some(counted_ident(name)),
        _ => None,
    });
    names.collect()
}

/// The metadata fields that count parts of a body.
pub(super) fn metadata_counts(body: &Body) -> Vec<Ident> {
    let names = body.parts.iter().filter_map(|part| match &part.count {
        Some(Count::Metadata(name)) => Some(field_ident(name)),
        _ => None,
    });
    names.collect()
}

/// The fields of a prelude that its parts determine. What counts leading rows is the writer's to say.
fn filled_fields(body: &Body) -> Vec<usize> {
    let mut filled = Vec::new();
    for part in &body.parts {
        filled.push(part.length);
        if let Some(Count::Prelude(field)) = part.count {
            filled.push(field);
        }
    }
    filled
}

/// A condition's view of a row or header.
struct RowReach<'a>(&'a Rust<'a>, &'a Layout);

impl Reach for RowReach<'_> {
    fn value(&self, field: FieldRef) -> TokenStream {
        let field = &self.1.fields[field.index];
        self.0.raw_getter(field, &quote!(row))
    }

    fn field(&self, field: FieldRef) -> &crate::model::Field {
        &self.1.fields[field.index]
    }
}
