//! State machines, as questions to the enum of their states.

use proc_macro2::TokenStream;
use quote::quote;

use crate::model::{Enum, Machine, Scalar};

use super::{Rust, cite, doc, type_ident};

impl Rust<'_> {
    pub(super) fn machine(&self, item: &Machine) -> TokenStream {
        let (name, definition) = match item.enumeration {
            Some(position) => (self.registry.enums[position].name.clone(), None),
            None => {
                let states = Enum {
                    name: format!("{}_state", item.name),
                    ty: Scalar::U8,
                    values: item.states.clone(),
                    ranges: Vec::new(),
                    given: None,
                    source: item.source.clone(),
                    doc: item.doc.clone(),
                };
                (states.name.clone(), Some(self.enumeration(&states)))
            }
        };
        let name = type_ident(&name);
        let state = |position: usize| type_ident(&item.states[position].name);
        let initial = state(item.initial);
        let terminal: Vec<_> = item.terminal.iter().map(|&position| state(position)).collect();
        let is_terminal =
            if terminal.is_empty() { quote!(false) } else { quote!(matches!(self, #(Self::#terminal)|*)) };
        let arms = item.states.iter().enumerate().filter_map(|(position, _)| {
            let next: Vec<_> = item
                .transitions
                .iter()
                .filter(|arrow| arrow.from == position)
                .map(|arrow| state(arrow.to))
                .collect();
            let from = state(position);
            (!next.is_empty()).then(|| quote!(Self::#from => matches!(next, #(Self::#next)|*),))
        });
        let docs = doc([
            "Whether the state machine has an arrow from this state to `next`.".to_owned(),
            cite(&item.source),
        ]);
        // A match that names every state has nothing left for `_`.
        let rest = item
            .states
            .iter()
            .enumerate()
            .any(|(position, _)| !item.transitions.iter().any(|arrow| arrow.from == position));
        let rest = rest.then(|| quote!(_ => false,));
        quote! {
            #definition

            impl #name {
                /// Where the state machine starts.
                pub const INITIAL: Self = Self::#initial;

                /// Whether nothing leaves this state.
                pub const fn is_terminal(self) -> bool { #is_terminal }

                #docs
                pub const fn can_become(self, next: Self) -> bool {
                    match self { #(#arms)* #rest }
                }
            }
        }
    }
}
