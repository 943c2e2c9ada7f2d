//! Derive macros: the model of nnrp-gen, read from Rust.
#![forbid(unsafe_code)]

mod derive;
mod enumeration;
mod field;
mod held;
mod keys;
mod layout;
mod places;
mod profile;
mod refuse;
mod registry;
mod root;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Makes a struct with named fields a layout.
#[proc_macro_derive(Layout, attributes(layout))]
pub fn derive_layout(input: TokenStream) -> TokenStream {
    layout::expand(&parse_macro_input!(input as DeriveInput)).into()
}

/// Makes an enum with numbers one that fields can be.
#[proc_macro_derive(WireEnum, attributes(wire))]
pub fn derive_wire_enum(input: TokenStream) -> TokenStream {
    enumeration::expand(&parse_macro_input!(input as DeriveInput)).into()
}

/// Gives a layout a profile and a schema.
#[proc_macro_derive(ProfileDescriptor, attributes(profile))]
pub fn derive_profile_descriptor(input: TokenStream) -> TokenStream {
    profile::expand(&parse_macro_input!(input as DeriveInput)).into()
}

/// Expands a registry in place.
#[proc_macro]
pub fn registry(input: TokenStream) -> TokenStream {
    registry::expand(&parse_macro_input!(input as registry::Input)).into()
}
