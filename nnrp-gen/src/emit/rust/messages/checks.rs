//! What is checked of a message's packet.

use super::{Header, at, mentions};
use crate::emit::rust::bodies::metadata_counts;
use crate::emit::rust::rules::Reach;
use crate::emit::rust::{Rust, doc, field_ident, piece_ident, plain, type_ident};
use crate::model::{Content, Count, Field, Layout, Message, Rule, Scalar, Segment};
use crate::rule::{self, FieldRef, Space};
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

impl Rust<'_> {
    /// The check of one message, its cut, and its reading.
    pub(super) fn message_check(&self, header: &Header<'_>, message: &Message) -> TokenStream {
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
    pub(super) fn segment_cuts(&self, message: &Message) -> TokenStream {
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
    pub(super) fn metadata_place(&self, message: &Message, field: usize, rule: &str) -> TokenStream {
        match message.metadata {
            Some(layout) => self.place(&self.registry.layouts[layout], field, rule, None),
            None => quote!(),
        }
    }

    /// The check of what a segment holds.
    pub(super) fn segment_check(&self, message: &Message, segment: &Segment) -> TokenStream {
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
    pub(super) fn nothing_counted(&self, message: &Message, segment: &Segment) -> TokenStream {
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
    pub(super) fn content_check(
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
    pub(super) fn has_body_rules(&self, message: &Message) -> bool {
        !self.body_rules(message).is_empty()
    }

    /// What the parts of a body owe the metadata and one another.
    pub(super) fn body_rules(&self, message: &Message) -> TokenStream {
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
    pub(in crate::emit::rust) fn widened(&self, field: &Field, view: &TokenStream) -> TokenStream {
        let value = self.raw_getter(field, view);
        if field.scalar() == Some(Scalar::U64) { value } else { quote!(u64::from(#value)) }
    }

    /// A rule of a message: the statement that refuses what breaks it.
    pub(super) fn message_rule(&self, header: &Header<'_>, message: &Message, rule: &Rule) -> TokenStream {
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
    pub(super) fn presence(&self, message: &Message, presence: rule::Presence) -> TokenStream {
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
