//! What stands in which order in a body, and its tensors.

use crate::emit::rust::{Rust, const_ident, field_ident, ident, piece_ident, plain, type_ident};
use crate::model::{Content, Meaning, Message, ObjectSize, Slots, Sorted, Tensor};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

impl Rust<'_> {
    pub(super) fn slots(&self, message: &Message, body: usize, slots: &Slots) -> TokenStream {
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

    pub(super) fn sorted(&self, body: usize, sorted: &Sorted) -> TokenStream {
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
        let table = format_ident!("BY_{}", const_ident(&part.name));
        quote! {
            const #table: &[#wire::body::Place] = &[#(#by),*];
            #wire::body::sorted(#rows, #table, #strict)?;
        }
    }

    pub(super) fn object_size(&self, message: &Message, body: usize, size: &ObjectSize) -> TokenStream {
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

    pub(super) fn tensor(&self, message: &Message, body: usize, tensor: &Tensor) -> TokenStream {
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
                let (variant, mode) = (type_ident(name), ident(mode));
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
    pub(super) fn tensor_const(&self, message: &Message) -> Option<TokenStream> {
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
    pub(super) fn tensor_table(&self, tensor: &Tensor, entry: &crate::model::Entry) -> Option<TokenStream> {
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
}

pub(super) fn tensor_ident(message: &Message) -> Ident {
    format_ident!("{}_TENSOR", const_ident(&message.name))
}
