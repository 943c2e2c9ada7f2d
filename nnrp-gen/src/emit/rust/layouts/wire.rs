//! The bytes of a layout as they lie on the wire.

use super::Emit;
use crate::emit::rust::{doc, field_ident};
use proc_macro2::{Literal, TokenStream};
use quote::quote;

impl Emit<'_> {
    /// The bytes as they lie on the wire, held to the registry by assertions.
    pub(super) fn wire_struct(&self) -> TokenStream {
        let Self { wire, size, visibility, title, .. } = self;
        let checks = self.checks();
        // A derive inside of a derive costs the compiler more than what it comes to.
        let (copy, copied) = match self.layout.given {
            None => (quote!(#[derive(Clone, Copy)]), quote!()),
            Some(_) => (quote!(), copied(&quote!(#wire))),
        };
        let fields = self.layout.fields.iter().map(|field| {
            let name = field_ident(&field.name);
            let docs = doc([format!("Bytes {}..{}.", field.offset, field.offset + field.size)]);
            let bytes = Literal::u32_unsuffixed(field.size);
            quote!(#docs pub #name: [u8; #bytes],)
        });
        let offsets = self.layout.fields.iter().map(|field| {
            let name = field_ident(&field.name);
            let offset = Literal::u32_unsuffixed(field.offset);
            quote!(core::mem::offset_of!(#wire, #name) == #offset)
        });
        // One a line is for readers; an expansion has none.
        let offsets = match self.layout.given {
            Some(_) => quote!(assert!(#(#offsets)&&*);),
            None => quote!(#(assert!(#offsets);)*),
        };
        let docs = doc([format!("The {} bytes of [`{title}`] as they lie on the wire.", self.layout.size)]);
        quote! {
            #docs
            #copy
            #[repr(C)]
            #visibility struct #wire { #(#fields)* }

            #copied

            #checks

            const _: () = {
                assert!(core::mem::size_of::<#wire>() == #size);
                #offsets
            };
        }
    }
}

/// What `derive(Clone, Copy)` comes to. Linters would have it derived.
pub(super) fn copied(ty: &TokenStream) -> TokenStream {
    quote! {
        #[automatically_derived]
        impl Clone for #ty {
            #[inline]
            fn clone(&self) -> Self { *self }
        }

        impl Copy for #ty {}
    }
}
