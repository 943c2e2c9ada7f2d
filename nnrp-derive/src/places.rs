//! Where things stand in the user's file, numbered so that the checks can talk about them.

use nnrp_gen::source::{Span, Spanned};
use proc_macro2::TokenStream;
use quote::ToTokens;

/// The stretches of source that were looked at, in the order in which they stand.
///
/// A [`Span`] of the model counts here what it counts bytes for in a text.
#[derive(Default)]
pub struct Places(Vec<[proc_macro2::Span; 2]>);

impl Places {
    /// Notes where some tokens stand.
    pub fn of(&mut self, tokens: impl ToTokens) -> Span {
        let tokens: TokenStream = tokens.to_token_stream();
        let call = proc_macro2::Span::call_site;
        let first = tokens.clone().into_iter().next().map_or_else(call, |token| token.span());
        let last = tokens.into_iter().last().map_or(first, |token| token.span());
        self.note(first, last)
    }

    /// Notes a place.
    pub fn at(&mut self, span: proc_macro2::Span) -> Span {
        self.note(span, span)
    }

    fn note(&mut self, first: proc_macro2::Span, last: proc_macro2::Span) -> Span {
        let at = self.0.len();
        self.0.push([first, last]);
        Span::new(0, at..at + 1)
    }

    /// A value and where some tokens stand.
    pub fn spanned<T>(&mut self, value: T, tokens: impl ToTokens) -> Spanned<T> {
        Spanned::new(value, self.of(tokens))
    }

    /// First and last token of a place.
    pub fn ends(&self, span: Span) -> [proc_macro2::Span; 2] {
        let range = span.range();
        let call = proc_macro2::Span::call_site;
        let first = self.0.get(range.start).map_or_else(call, |ends| ends[0]);
        let last = self.0.get(range.end.saturating_sub(1)).map_or(first, |ends| ends[1]);
        [first, last]
    }
}
