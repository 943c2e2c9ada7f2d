//! Payloads that a header or row chooses.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};

use crate::model::{Choice, Entry, Layout, Meaning, Select};
use crate::rule::FieldRef;

use super::super::rules::Reach;
use super::super::{Rust, const_ident, doc, plain, said, type_ident};
use super::optional;

impl Rust<'_> {
    /// How headers or rows of a layout say what their payload holds, as a table.
    pub(super) fn select(&self, layout: &Layout, select: &Select, length: usize, id: &str) -> TokenStream {
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

    pub(super) fn choice(
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
    pub(super) fn payloads(&self, item: &Entry, select: &Select) -> Option<(Ident, TokenStream)> {
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
    pub(super) fn choice_value(&self, selector: &crate::model::Field, choice: &Choice) -> TokenStream {
        let Meaning::Enum(position) = selector.meaning else { return plain(choice.value).to_token_stream() };
        let item = &self.registry.enums[position];
        let ty = self.enum_type(position);
        let name = if item.is_open() { const_ident(&choice.name) } else { type_ident(&choice.name) };
        quote!(#ty::#name)
    }
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

/// Whether an entry has payloads that are known, so that its block must know its message.
pub(super) fn knows_payloads(entry: &Entry) -> bool {
    entry.select.as_ref().is_some_and(|select| !select.choices.is_empty())
}
