//! Problems as errors of the compiler, each where it is.

use nnrp_gen::report::{Diagnostic, Report, Severity};
use proc_macro2::{Delimiter, Group, Literal, TokenStream, TokenTree};
use quote::{quote, quote_spanned};

use crate::places::Places;

/// One `compile_error!` for every error, to stand among items or in a block.
pub fn refuse(report: &Report, places: &Places) -> TokenStream {
    let errors = report.sorted().into_iter().filter(|problem| problem.severity == Severity::Error);
    errors.map(|problem| error(problem, places)).collect()
}

fn error(problem: &Diagnostic, places: &Places) -> TokenStream {
    let mut text = problem.message.clone();
    if !problem.label.is_empty() {
        text = format!("{text}\n{}", problem.label);
    }
    if let Some(help) = &problem.help {
        text = format!("{text}\nhelp: {help}");
    }
    // The compiler points from the first token of the call to the last.
    let [first, last] = places.ends(problem.span);
    let mut text = Literal::string(&text);
    text.set_span(last);
    let mut argument = Group::new(Delimiter::Brace, quote!(#text));
    argument.set_span(last);
    let argument = TokenTree::Group(argument);
    quote_spanned!(first=> ::core::compile_error! #argument)
}
