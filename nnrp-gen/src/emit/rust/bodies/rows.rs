//! Rows of a layout.

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use crate::model::Layout;

use super::super::{Rust, doc, type_ident};

impl Rust<'_> {
    /// Checked rows of a layout.
    pub(super) fn rows(&self, layout: &Layout) -> TokenStream {
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
}
