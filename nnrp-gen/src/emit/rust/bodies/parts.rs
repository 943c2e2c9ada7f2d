//! Bodies that have parts behind a prelude.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use crate::model::{Body, Content, Count, Part, Scalar, Slices};

use super::super::{
    Rust, cite, const_ident, counted_ident, doc, field_ident, ident, messages, piece_ident, said,
    scalar_ident, type_ident,
};
use super::optional;
use super::select::knows_payloads;

impl Rust<'_> {
    /// A body of several parts behind a prelude.
    pub(super) fn body(&self, body: &Body) -> TokenStream {
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
        let prelude_used = ident("prelude");
        let prelude_used =
            if messages::mentions(&check, &prelude_used) { quote!(#prelude_used) } else { quote!(_) };
        let message_used = messages::mentions(&check, &ident("message"));
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
    pub(super) fn cut(&self, body: &Body) -> TokenStream {
        let wire = &self.options.wire;
        let prelude = &self.registry.layouts[body.prelude];
        let view = format_ident!("{}View", type_ident(&prelude.name));
        let size = Literal::u32_unsuffixed(prelude.size);
        let takes = body.parts.iter().map(|part| {
            let name = piece_ident(&part.name);
            let field = &prelude.fields[part.length];
            let length = self.widened(field, &quote!(prelude));
            let site = self.site(&prelude.name, &field.name, &part.id, None);
            let at = messages::at(Some(quote!(piece.at)), field.offset);
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
                let at = messages::at(Some(quote!(piece.at)), field.offset);
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
    pub(super) fn check_parts(&self, body: &Body) -> TokenStream {
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
    pub(super) fn accessor(&self, body: &Body, part: &Part) -> Option<TokenStream> {
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

    pub(super) fn sliced(&self, body: &Body, part: &Part, slices: &Slices) -> TokenStream {
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
    pub(super) fn fills(&self, body: &Body) -> TokenStream {
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

    /// Whether a prelude says more than the lengths and counts of its parts.
    pub(super) fn prelude_has_values(&self, body: &Body) -> bool {
        let prelude = &self.registry.layouts[body.prelude];
        let filled = filled_fields(body);
        prelude.fields.iter().enumerate().any(|(at, field)| field.has_value() && !filled.contains(&at))
    }
}

fn names_of(body: &Body) -> Vec<Ident> {
    body.parts.iter().map(|part| piece_ident(&part.name)).collect()
}

fn slices_ident(part: &Part) -> Ident {
    format_ident!("{}_SLICES", const_ident(&part.name))
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
