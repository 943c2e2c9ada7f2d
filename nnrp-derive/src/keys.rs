//! The keys of attributes: what is missing, misspelled or of the wrong type is reported here and nowhere else.

use nnrp_gen::report::{Diagnostic, Report};
use nnrp_gen::source::{Span, Spanned};
use nnrp_gen::suggest::{did_you_mean, nearest};
use nnrp_gen::syntax::{Literal, Number, Scalar, Text};
use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::Parser;
use syn::{Attribute, Token};

use crate::places::Places;
use crate::value::{Key, PATHS, Value, list_of};

/// What a derive looks at, and where its problems go.
#[derive(Default)]
pub struct Context {
    pub places: Places,
    pub report: Report,
}

impl Context {
    /// Reports an error to say more about.
    pub fn error(&mut self, span: Span, message: impl Into<String>) -> &mut Diagnostic {
        self.report.push(Diagnostic::error(span, message))
    }
}

/// The keys of one item, from all attributes of one name.
pub struct Keys {
    keys: Vec<Key>,
    what: &'static str,
    asked: Vec<&'static str>,
}

impl Keys {
    /// Reads every attribute called `name`; `what` is how messages call what they stand on.
    pub fn read(cx: &mut Context, attributes: &[Attribute], name: &str, what: &'static str) -> Self {
        let mut keys = Vec::new();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident(name)) {
            match attribute.meta.require_list() {
                Ok(list) => keys.extend(list_of(cx, list.tokens.clone())),
                Err(_) => {
                    let span = cx.places.of(attribute);
                    cx.error(span, format!("`{name}` takes its keys in parentheses")).help =
                        Some(format!("write `#[{name}(…)]`"));
                }
            }
        }
        Self { keys, what, asked: Vec::new() }
    }

    fn all(&mut self, key: &'static str) -> impl Iterator<Item = &Key> {
        self.asked.push(key);
        self.keys.iter().filter(move |found| found.name == key)
    }

    /// The first of that name; another is reported.
    fn one(&mut self, cx: &mut Context, key: &'static str) -> Option<Key> {
        let mut all = self.all(key).cloned();
        let first = all.next()?;
        for again in all {
            cx.error(again.name_span, format!("a second `{key}`"));
        }
        Some(first)
    }

    /// Whether the key is there.
    pub fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|found| found.name == key)
    }

    /// Whether a key stands there that is none and is nearly this one. It is in error, and what lacks this one is not.
    pub fn misspelled(&self, key: &str) -> bool {
        let unknown = self.keys.iter().filter(|found| !self.asked.iter().any(|asked| *asked == found.name));
        unknown.into_iter().any(|found| nearest(&found.name, [key]).is_some())
    }

    fn typed<T>(
        &mut self,
        cx: &mut Context,
        key: &'static str,
        wanted: &str,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Option<Spanned<T>> {
        let found = self.one(cx, key)?;
        match read(&found.value) {
            Some(good) => Some(Spanned::new(good, found.span)),
            None => {
                wrong_type(cx, &found, wanted);
                None
            }
        }
    }

    /// `key = "text"`.
    pub fn text(&mut self, cx: &mut Context, key: &'static str) -> Option<Text> {
        self.typed(cx, key, "a string", |value| match value {
            Value::Text(text) => Some(text.clone()),
            _ => None,
        })
    }

    /// `key = 4`.
    pub fn number(&mut self, cx: &mut Context, key: &'static str) -> Option<Number> {
        self.typed(cx, key, "an integer", |value| match value {
            Value::Number(number) => Some(*number),
            _ => None,
        })
    }

    /// `key`, or `key = true`.
    pub fn flag(&mut self, cx: &mut Context, key: &'static str) -> Option<Span> {
        let flag = self.typed(cx, key, "nothing, or `true` or `false`", |value| match value {
            Value::Flag => Some(true),
            Value::Bool(flag) => Some(*flag),
            _ => None,
        })?;
        flag.value.then_some(flag.span)
    }

    /// `key = name`.
    pub fn word(&mut self, cx: &mut Context, key: &'static str) -> Option<Text> {
        self.typed(cx, key, "a name", |value| match value {
            Value::Word(word) => Some(word.clone()),
            _ => None,
        })
    }

    /// `key = u16`: a width on the wire.
    pub fn width(&mut self, cx: &mut Context, key: &'static str) -> Option<Spanned<Scalar>> {
        self.typed(cx, key, "`u8`, `u16`, `u32` or `u64`", |value| match value {
            Value::Word(word) => Scalar::named(word).filter(|scalar| scalar.is_unsigned()),
            _ => None,
        })
    }

    /// `key = 1..=9`, or `1..`.
    pub fn range(&mut self, cx: &mut Context, key: &'static str) -> Option<Spanned<(i128, Option<i128>)>> {
        self.typed(cx, key, "a range", |value| match value {
            Value::Range(from, to) => Some((*from, *to)),
            _ => None,
        })
    }

    /// `key = 4`, `"text"` or `[1, 2]`.
    pub fn literal(&mut self, cx: &mut Context, key: &'static str) -> Option<Spanned<Literal>> {
        self.typed(cx, key, "a number, a string or an array of numbers", |value| match value {
            Value::Number(number) => Some(Literal::Number(*number)),
            Value::Text(text) => Some(Literal::Text(text.clone())),
            Value::List(list) => list
                .iter()
                .map(|value| match value {
                    Value::Number(number) => Some(*number),
                    _ => None,
                })
                .collect::<Option<_>>()
                .map(Literal::List),
            _ => None,
        })
    }

    /// Where the key stands alone, without a value.
    pub fn stands_alone(&self, key: &str) -> bool {
        self.keys.iter().any(|found| found.name == key && matches!(found.value, Value::Flag))
    }

    /// `key = "path"` as a path.
    pub fn path(&mut self, cx: &mut Context, key: &'static str) -> Option<TokenStream> {
        let found = self.one(cx, key)?;
        let path = syn::parse2::<syn::LitStr>(found.tokens.clone())
            .ok()
            .and_then(|text| text.parse_with(syn::Path::parse_mod_style).ok());
        if path.is_none() {
            cx.error(found.span, format!("`{key}` takes the path of a crate, as a string"));
        }
        path.map(|path| quote!(#path))
    }

    /// `key(name, name)`.
    pub fn words(&mut self, cx: &mut Context, key: &'static str) -> Vec<Text> {
        let Some(found) = self.one(cx, key) else { return Vec::new() };
        let Value::Inner(inner) = &found.value else {
            wrong_type(cx, &found, "names in parentheses");
            return Vec::new();
        };
        let mut words = Vec::new();
        for word in inner {
            match word.value {
                Value::Flag => words.push(Spanned::new(word.name.clone(), word.name_span)),
                _ => wrong_type(cx, word, "nothing"),
            }
        }
        words
    }

    /// `uses(path, path)`.
    pub fn paths(&mut self, cx: &mut Context) -> Vec<syn::TypePath> {
        let Some(found) = self.one(cx, PATHS) else { return Vec::new() };
        if !matches!(found.value, Value::Inner(_)) {
            wrong_type(cx, &found, "types in parentheses");
            return Vec::new();
        }
        let list = syn::punctuated::Punctuated::<syn::TypePath, Token![,]>::parse_terminated;
        match list.parse2(found.tokens) {
            Ok(list) => list.into_iter().collect(),
            Err(error) => {
                let span = cx.places.at(error.span());
                cx.error(span, format!("`{PATHS}` takes types in parentheses"));
                Vec::new()
            }
        }
    }

    /// Every `key(…)`, each read and closed.
    pub fn inner<T>(
        &mut self,
        cx: &mut Context,
        key: &'static str,
        mut read: impl FnMut(&mut Context, &mut Keys, Span) -> Option<T>,
    ) -> Vec<T> {
        let all: Vec<Key> = self.all(key).cloned().collect();
        let mut list = Vec::new();
        for found in all {
            let Value::Inner(inner) = &found.value else {
                wrong_type(cx, &found, "keys in parentheses");
                continue;
            };
            let mut keys = Keys { keys: inner.clone(), what: key, asked: Vec::new() };
            list.extend(read(cx, &mut keys, found.name_span));
            keys.close(cx);
        }
        list
    }

    /// Passes on what is there and reports what is not.
    pub fn need<T>(&self, cx: &mut Context, span: Span, key: &str, value: Option<T>) -> Option<T> {
        if value.is_none() && !self.has(key) && !self.misspelled(key) {
            cx.error(span, format!("{} without `{key}`", article(self.what)));
        }
        value
    }

    /// Reports the keys that nobody asked for, and gives whether there are none.
    pub fn close(self, cx: &mut Context) -> bool {
        let mut understood = true;
        for key in &self.keys {
            if self.asked.iter().any(|asked| *asked == key.name) {
                continue;
            }
            let help = did_you_mean(&key.name, self.asked.iter().copied()).unwrap_or_else(|| {
                let known: Vec<_> = self.asked.iter().map(|key| format!("`{key}`")).collect();
                format!("known are {}", known.join(", "))
            });
            cx.error(key.name_span, format!("unknown key `{}` on {}", key.name, article(self.what))).help =
                Some(help);
            understood = false;
        }
        understood
    }
}

fn wrong_type(cx: &mut Context, key: &Key, wanted: &str) {
    let (name, found) = (&key.name, key.value.what());
    cx.error(key.span, format!("`{name}` takes {wanted}, not {found}"));
}

fn article(what: &str) -> String {
    format!("{} {what}", if what.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" })
}
