//! `derive(ProfileDescriptor)`: what a layout is to the protocol.

use nnrp_gen::suggest::did_you_mean;
use nnrp_gen::syntax::{Number, Text};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::DeriveInput;

use crate::keys::{Context, Keys};
use crate::refuse::refuse;
use crate::root::root;
use crate::stub;

/// The stream semantics that the protocol has.
const SEMANTICS: [&str; 6] = ["default", "snapshot", "append", "replace", "event", "tool_update"];

/// The schema flags that the protocol has.
const FLAGS: [&str; 4] = ["cacheable", "critical", "default_bindable", "hash_stable"];

/// Expands `derive(ProfileDescriptor)`.
pub fn expand(input: &DeriveInput) -> TokenStream {
    let mut cx = Context::default();
    // `crate` may be said for the layout alone.
    let mut layout = Keys::read(&mut Context::default(), &input.attrs, "layout", "layout");
    let mut keys = Keys::read(&mut cx, &input.attrs, "profile", "profile descriptor");
    let path = keys.path(&mut cx, "crate").or_else(|| layout.path(&mut Context::default(), "crate"));
    let root = path.unwrap_or_else(root);
    let id = keys.number(&mut cx, "id");
    let schema_id = keys.number(&mut cx, "schema_id");
    let schema_version = keys.number(&mut cx, "schema_version");
    let semantics = keys.word(&mut cx, "semantics");
    let flags = keys.words(&mut cx, "flags");
    let span = cx.places.of(&input.ident);
    let id = keys.need(&mut cx, span, "id", id);
    let schema_id = keys.need(&mut cx, span, "schema_id", schema_id);
    let schema_version = keys.need(&mut cx, span, "schema_version", schema_version);
    keys.close(&mut cx);

    between(&mut cx, id.as_ref(), "a profile id", 0x8000, u16::MAX.into());
    between(&mut cx, schema_id.as_ref(), "a schema id", 0x0001_0000, u32::MAX.into());
    between(&mut cx, schema_version.as_ref(), "a schema version", 0, u32::MAX.into());
    if let Some(semantics) = &semantics {
        known(&mut cx, semantics, "stream semantics", &SEMANTICS);
    }
    for flag in &flags {
        known(&mut cx, flag, "schema flag", &FLAGS);
    }
    let (Some(id), Some(schema_id), Some(schema_version), false) =
        (id, schema_id, schema_version, cx.report.has_errors())
    else {
        return stub::profile(input, &root, &refuse(&cx.report, &cx.places));
    };
    let name = &input.ident;
    let number = |number: Number| Literal::u64_unsuffixed(u64::try_from(number.value).unwrap_or_default());
    let (id, schema_id, schema_version) = (number(id), number(schema_id), number(schema_version));
    let semantics = semantics.map_or("default".to_owned(), |semantics| semantics.value);
    let semantics = Ident::new(&nnrp_gen::names::pascal(&semantics), Span::call_site());
    let flags = flags.iter().map(|flag| Ident::new(&flag.value.to_uppercase(), Span::call_site()));
    let definition = quote!(<#name as #root::describe::Described>::DEFINITION);
    quote! {
        #[allow(clippy::all, clippy::pedantic)]
        impl #root::ProfileDescriptor for #name {
            const PROFILE_ID: #root::ProfileId = match #root::ProfileId::from_raw(#id) {
                ::core::option::Option::Some(id) => id,
                ::core::option::Option::None => ::core::panic!("not a profile id"),
            };
            const SCHEMA_ID: ::core::primitive::u32 = #schema_id;
            const SCHEMA_VERSION: ::core::primitive::u32 = #schema_version;
            const SEMANTICS: #root::StreamSemantics = #root::StreamSemantics::#semantics;
            const FLAGS: #root::SchemaFlags =
                #root::SchemaFlags::empty()#(.union(#root::SchemaFlags::#flags))*;
            const SCHEMA_BODY: &'static [::core::primitive::u8] = {
                const BYTES: [::core::primitive::u8; #root::describe::body_len(#definition)] =
                    #root::describe::body(#definition);
                &BYTES
            };
            const SCHEMA_HASH: ::core::primitive::u64 =
                #root::describe::digest(<#name as #root::ProfileDescriptor>::SCHEMA_BODY);

            fn description() -> &'static ::core::primitive::str {
                const BYTES: [::core::primitive::u8; #root::describe::text_len(#definition)] =
                    #root::describe::text(#definition);
                const TEXT: &::core::primitive::str = match ::core::str::from_utf8(&BYTES) {
                    ::core::result::Result::Ok(text) => text,
                    ::core::result::Result::Err(_) => ::core::panic!("text is text"),
                };
                TEXT
            }
        }
    }
    .into_token_stream()
}

/// Reports a number outside of what is free for everybody.
fn between(cx: &mut Context, number: Option<&Number>, what: &str, from: i128, to: i128) {
    let Some(number) = number else { return };
    if number.value > to || number.value < 0 {
        cx.error(number.span, format!("{what} of {} does not fit its field", number.value)).help =
            Some(format!("the last one is {to:#x}"));
    } else if number.value < from {
        cx.error(number.span, format!("{what} below {from:#x} belongs to the protocol")).help =
            Some(format!("take one of {from:#x} to {to:#x}"));
    }
}

fn known(cx: &mut Context, word: &Text, what: &str, words: &[&'static str]) {
    if words.contains(&word.as_str()) {
        return;
    }
    let help = did_you_mean(word.as_str(), words.iter().copied()).unwrap_or_else(|| {
        let known: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
        format!("known are {}", known.join(", "))
    });
    cx.error(word.span, format!("no {what} called `{}`", word.value)).help = Some(help);
}
