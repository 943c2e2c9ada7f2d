//! What the user calls the core.

use proc_macro_crate::{FoundCrate, crate_name};
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};

/// The path of the core, as the user's manifest has it.
pub fn root() -> TokenStream {
    match crate_name("nnrp-core") {
        Ok(FoundCrate::Name(name)) => {
            let name = format_ident!("{name}", span = Span::call_site());
            quote!(::#name)
        }
        // The core's own targets know it by its name, and so does a build without a manifest.
        Ok(FoundCrate::Itself) | Err(_) => quote!(::nnrp_core),
    }
}
