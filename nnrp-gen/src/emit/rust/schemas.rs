//! Standard schemas as constants.

use proc_macro2::TokenStream;
use quote::quote;

use super::{Rust, cite, const_ident, doc, plain};

impl Rust<'_> {
    /// The standard schemas, one constant each and a list of all.
    pub(super) fn schemas(&self) -> TokenStream {
        let wire = &self.options.wire;
        let schemas = &self.registry.schemas;
        if schemas.is_empty() {
            return quote!();
        }
        let idents: Vec<_> =
            schemas.iter().map(|schema| const_ident(&schema.name.replace(['.', '-'], "_"))).collect();
        let constants = schemas.iter().zip(&idents).map(|(schema, ident)| {
            let docs = doc([format!("`{}`: {}", schema.name, schema.doc), cite(&schema.source)]);
            let (id, version) = (plain(schema.schema_id.into()), plain(schema.schema_version.into()));
            let (name, profile, semantics) = (&schema.name, &schema.profile, &schema.semantics);
            quote! {
                #docs
                pub const #ident: #wire::Schema = #wire::Schema {
                    schema_id: #id,
                    schema_version: #version,
                    name: #name,
                    profile: #profile,
                    semantics: #semantics,
                };
            }
        });
        quote! {
            #(#constants)*

            /// Every standard schema, in the order of the registry.
            pub const SCHEMAS: &[#wire::Schema] = &[#(#idents),*];
        }
    }
}
