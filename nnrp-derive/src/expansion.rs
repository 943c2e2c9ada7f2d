//! The emitter's text as tokens of the compiler.

use std::sync::{Mutex, PoisonError};

use proc_macro2::{Group, TokenStream, TokenTree, fallback};
use syn::parse::Parse;

/// Whoever expands. Tokens of the emitter are not the compiler's, and which of the two are made is one switch for all.
static EXPANDING: Mutex<()> = Mutex::new(());

/// Reads and expands the input of one macro at a time.
pub fn alone<T: Parse>(
    input: proc_macro::TokenStream,
    expand: impl FnOnce(T) -> TokenStream,
) -> proc_macro::TokenStream {
    let _alone = EXPANDING.lock().unwrap_or_else(PoisonError::into_inner);
    match syn::parse(input) {
        Ok(input) => expand(input).into(),
        Err(error) => error.to_compile_error().into(),
    }
}

/// What the emitter makes of a registry: `emit` writes it for the crate at a path.
pub fn expansion(root: &TokenStream, emit: impl FnOnce(&str) -> String) -> TokenStream {
    let root = root.to_string();
    let text = {
        let _own = Own::start();
        emit(&root)
    };
    // Not by way of proc-macro2, which would read all of it once more to see that it is Rust.
    match text.parse::<proc_macro::TokenStream>() {
        Ok(items) => items.into(),
        Err(error) => {
            let message = format!("the expansion is no Rust; this is a fault of the generator: {error}");
            quote::quote!(::core::compile_error!(#message);)
        }
    }
}

/// As long as this lives, tokens are made without asking the compiler, which takes longer for each of them.
struct Own;

impl Own {
    fn start() -> Self {
        fallback::force();
        Self
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        fallback::unforce();
    }
}

/// Puts tokens in the place of what stands for them.
pub fn replaced(items: TokenStream, tokens: &[(String, TokenStream)]) -> TokenStream {
    let replace = |token: TokenTree| match token {
        TokenTree::Group(group) => {
            let mut inner = Group::new(group.delimiter(), replaced(group.stream(), tokens));
            inner.set_span(group.span());
            TokenTree::Group(inner).into()
        }
        TokenTree::Ident(ident) => match tokens.iter().find(|(name, _)| ident == name) {
            Some((_, tokens)) => tokens.clone(),
            None => TokenTree::Ident(ident).into(),
        },
        token => token.into(),
    };
    items.into_iter().map(replace).collect::<TokenStream>()
}
