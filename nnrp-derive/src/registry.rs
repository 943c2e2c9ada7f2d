//! `registry!`: a whole registry in place.

use std::path::Path;

use nnrp_gen::emit::rust::{self, absolute::Given};
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::{LitStr, Token};

use crate::expansion::expansion;
use crate::root::root;

/// What users' lints may say of other code is not about an expansion.
const ALLOW: &str = "#[allow(dead_code, clippy::all, clippy::pedantic)] ";

/// What stands in the parentheses.
pub struct Input {
    path: LitStr,
    root: Option<syn::Path>,
}

impl Parse for Input {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let path = input.parse()?;
        let mut root = None;
        if input.parse::<Option<Token![,]>>()?.is_some() && !input.is_empty() {
            input.parse::<Token![crate]>()?;
            input.parse::<Token![=]>()?;
            root = Some(input.parse::<LitStr>()?.parse_with(syn::Path::parse_mod_style)?);
            input.parse::<Option<Token![,]>>()?;
        }
        Ok(Self { path, root })
    }
}

/// Expands `registry!`.
pub fn expand(input: &Input) -> TokenStream {
    let span = input.path.span();
    let folder = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let path = Path::new(&folder).join(input.path.value());
    let loaded = match nnrp_gen::load(&path) {
        Ok(loaded) => loaded,
        Err(error) => return refuse(span, &format!("{}: {error}", path.display())),
    };
    // The compiler looks at the files again when one of them has changed or is gone.
    let files = loaded.sources.iter().map(|source| &source.path);
    let seen = quote!(const _: &[&[::core::primitive::u8]] = &[#(::core::include_bytes!(#files)),*];);
    let registry = match loaded.into_result() {
        Ok(registry) => registry,
        Err(problems) => {
            let error = refuse(span, &format!("the registry has errors\n{problems}"));
            return quote!(#error #seen);
        }
    };
    let root = input.root.as_ref().map_or_else(root, |root| quote!(#root));
    let items = expansion(&root, |root| rust::expansion(&registry, root, &Given::new(), ALLOW));
    quote!(#items #seen)
}

fn refuse(span: Span, message: &str) -> TokenStream {
    quote_spanned!(span=> ::core::compile_error!(#message);)
}
