//! What can stand in an attribute, as it is read.

use nnrp_gen::source::Span;
use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Lit, Token};

use crate::keys::Context;

/// The key whose parentheses hold paths.
pub const PATHS: &str = "uses";

/// What stands behind a key.
#[derive(Clone)]
pub enum Value {
    Flag,
    Number(i128),
    Text(String),
    Bool(bool),
    Word(String),
    List(Vec<Value>),
    Range(i128, Option<i128>),
    Inner(Vec<Key>),
    Other(&'static str),
}

impl Value {
    /// What messages call it.
    pub fn what(&self) -> &'static str {
        match self {
            Value::Flag => "nothing",
            Value::Number(_) => "an integer",
            Value::Text(_) => "a string",
            Value::Bool(_) => "a boolean",
            Value::Word(_) => "a name",
            Value::List(_) => "an array",
            Value::Range(..) => "a range",
            Value::Inner(_) => "parentheses",
            Value::Other(what) => what,
        }
    }
}

/// A key with its value.
#[derive(Clone)]
pub struct Key {
    pub name: String,
    pub name_span: Span,
    pub value: Value,
    pub span: Span,
    /// The tokens of the value, to read in another way.
    pub tokens: TokenStream,
}

/// The keys between parentheses or braces; what cannot be read is reported and ends the list.
pub fn list_of(cx: &mut Context, tokens: TokenStream) -> Vec<Key> {
    let mut keys = Vec::new();
    let read = |input: ParseStream<'_>| -> syn::Result<()> {
        while !input.is_empty() {
            keys.push(key(cx, input)?);
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(())
    };
    if let Err(error) = read.parse2(tokens) {
        for error in error {
            let span = cx.places.at(error.span());
            cx.error(span, error.to_string());
        }
    }
    keys
}

fn key(cx: &mut Context, input: ParseStream<'_>) -> syn::Result<Key> {
    let ident = Ident::parse_any(input)?;
    let name_span = cx.places.of(&ident);
    let name = ident.unraw().to_string();
    // Linters look for attributes that are written twice, and into parentheses, but not into braces.
    let braces = input.peek(syn::token::Brace);
    if braces || input.peek(syn::token::Paren) {
        let content;
        if braces {
            syn::braced!(content in input);
        } else {
            syn::parenthesized!(content in input);
        }
        let tokens: TokenStream = content.parse()?;
        // Paths are no keys; who asks for them reads them.
        let inner = if name == PATHS { Vec::new() } else { list_of(cx, tokens.clone()) };
        return Ok(Key { name, name_span, value: Value::Inner(inner), span: name_span, tokens });
    }
    if !input.peek(Token![=]) {
        return Ok(Key { name, name_span, value: Value::Flag, span: name_span, tokens: TokenStream::new() });
    }
    input.parse::<Token![=]>()?;
    let mut tokens = TokenStream::new();
    while !input.is_empty() && !input.peek(Token![,]) {
        tokens.extend([input.parse::<TokenTree>()?]);
    }
    if tokens.is_empty() {
        return Err(syn::Error::new(ident.span(), format!("`{name}` without a value")));
    }
    let span = cx.places.of(&tokens);
    let value = value
        .parse2(tokens.clone())
        .map_err(|error| syn::Error::new(error.span(), format!("`{name}` takes a literal or a name")))?;
    Ok(Key { name, name_span, value, span, tokens })
}

fn value(input: ParseStream<'_>) -> syn::Result<Value> {
    if input.peek(syn::token::Bracket) {
        let content;
        syn::bracketed!(content in input);
        let mut list = Vec::new();
        while !content.is_empty() {
            list.push(value(&content)?);
            if !content.is_empty() {
                content.parse::<Token![,]>()?;
            }
        }
        return Ok(Value::List(list));
    }
    if input.peek(Lit) && !input.peek(syn::LitBool) || input.peek(Token![-]) {
        let minus = input.parse::<Option<Token![-]>>()?.is_some();
        let value = match input.parse::<Lit>()? {
            Lit::Int(number) => {
                let number: i128 = number.base10_parse::<u64>()?.into();
                Value::Number(if minus { -number } else { number })
            }
            Lit::Byte(byte) if !minus => Value::Number(byte.value().into()),
            Lit::Str(text) if !minus => Value::Text(text.value()),
            Lit::ByteStr(bytes) if !minus => {
                Value::List(bytes.value().into_iter().map(|byte| Value::Number(byte.into())).collect())
            }
            Lit::Float(_) => Value::Other("a float"),
            Lit::Char(_) => Value::Other("a character"),
            other => return Err(syn::Error::new(other.span(), "")),
        };
        return match value {
            Value::Number(from) if input.peek(Token![..]) => {
                if input.peek(Token![..=]) {
                    input.parse::<Token![..=]>()?;
                    let to: i128 = input.parse::<syn::LitInt>()?.base10_parse::<u64>()?.into();
                    Ok(Value::Range(from, Some(to)))
                } else {
                    input.parse::<Token![..]>()?;
                    Ok(Value::Range(from, None))
                }
            }
            value => Ok(value),
        };
    }
    if let Ok(flag) = input.fork().parse::<syn::LitBool>() {
        input.parse::<syn::LitBool>()?;
        return Ok(Value::Bool(flag.value));
    }
    let word = Ident::parse_any(input)?;
    if !input.is_empty() {
        return Err(input.error(""));
    }
    Ok(Value::Word(word.unraw().to_string()))
}
