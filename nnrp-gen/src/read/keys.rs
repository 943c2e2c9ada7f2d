//! A TOML table key by key: what is missing, misspelled or of the wrong type is reported here and
//! nowhere else.

use std::ops::Range;

use toml::Spanned as Toml;
use toml::de::{DeArray, DeTable, DeValue};

use crate::report::{Diagnostic, Report};
use crate::source::{Span, Spanned};
use crate::suggest::{did_you_mean, nearest};
use crate::syntax::{Number, Text};

use super::known;

/// The file being read and where its problems go.
pub(super) struct Context<'r> {
    pub(super) source: u32,
    pub(super) report: &'r mut Report,
}

impl Context<'_> {
    pub(super) fn span(&self, range: Range<usize>) -> Span {
        Span::new(self.source, range)
    }

    pub(super) fn wrong_type(&mut self, span: Span, key: &str, wanted: &str, found: &DeValue<'_>) {
        self.report.add(
            Diagnostic::error(span, format!("`{key}` takes {wanted}, not {}", name_of(found)))
                .label(format!("expected {wanted}")),
        );
    }
}

fn name_of(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a float",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "an array",
        DeValue::Table(_) => "a table",
    }
}

/// A table, the keys that were asked of it so far, and what to call it.
pub(super) struct Keys<'t, 'i> {
    table: &'t DeTable<'i>,
    what: &'static str,
    asked: Vec<&'static str>,
    missing: Vec<&'static str>,
    /// The rows in which stand keys that nobody knows: under which key, and which of those that were read.
    odd: Vec<(&'static str, usize)>,
    pub(super) span: Span,
}

impl<'t, 'i> Keys<'t, 'i> {
    pub(super) fn new(table: &'t DeTable<'i>, span: Span, what: &'static str) -> Self {
        Self { table, what, asked: Vec::new(), missing: Vec::new(), odd: Vec::new(), span }
    }

    /// The value of `key`, if it is there.
    pub(super) fn any(&mut self, key: &'static str) -> Option<&'t Toml<DeValue<'i>>> {
        self.asked.push(key);
        self.table.get(key)
    }

    /// Whether `key` is there, without asking for it.
    pub(super) fn has(&self, key: &str) -> bool {
        self.table.get(key).is_some()
    }

    /// Reads `key` with `read`, which gives nothing where the type is wrong.
    fn typed<T>(
        &mut self,
        cx: &mut Context<'_>,
        key: &'static str,
        wanted: &str,
        read: impl FnOnce(&'t DeValue<'i>) -> Option<T>,
    ) -> Option<Spanned<T>> {
        let value = self.any(key)?;
        let span = cx.span(value.span());
        match read(value.get_ref()) {
            Some(good) => Some(Spanned::new(good, span)),
            None => {
                cx.wrong_type(span, key, wanted, value.get_ref());
                None
            }
        }
    }

    pub(super) fn text(&mut self, cx: &mut Context<'_>, key: &'static str) -> Option<Text> {
        self.typed(cx, key, "a string", as_text)
    }

    pub(super) fn number(&mut self, cx: &mut Context<'_>, key: &'static str) -> Option<Number> {
        self.typed(cx, key, "an integer", as_number)
    }

    /// Where `key = true` stands.
    pub(super) fn flag(&mut self, cx: &mut Context<'_>, key: &'static str) -> Option<Span> {
        self.truth(cx, key).filter(|truth| truth.value).map(|truth| truth.span)
    }

    pub(super) fn truth(&mut self, cx: &mut Context<'_>, key: &'static str) -> Option<Spanned<bool>> {
        self.typed(cx, key, "`true` or `false`", DeValue::as_bool)
    }

    fn array(&mut self, cx: &mut Context<'_>, key: &'static str) -> Option<&'t DeArray<'i>> {
        self.typed(cx, key, "an array", DeValue::as_array).map(|array| array.value)
    }

    /// The strings of an array.
    pub(super) fn texts(&mut self, cx: &mut Context<'_>, key: &'static str) -> Vec<Text> {
        let mut list = Vec::new();
        for value in self.array(cx, key).into_iter().flatten() {
            let span = cx.span(value.span());
            match as_text(value.get_ref()) {
                Some(text) => list.push(Spanned::new(text, span)),
                None => cx.wrong_type(span, key, "strings", value.get_ref()),
            }
        }
        list
    }

    /// A string, or the strings of an array.
    pub(super) fn one_or_more(&mut self, cx: &mut Context<'_>, key: &'static str) -> Vec<Text> {
        match self.table.get(key).map(Toml::get_ref) {
            Some(DeValue::Array(_)) => self.texts(cx, key),
            _ => self.text(cx, key).into_iter().collect(),
        }
    }

    /// The tables of an array, each read by `read` and closed after it.
    pub(super) fn rows<T>(
        &mut self,
        cx: &mut Context<'_>,
        key: &'static str,
        what: &'static str,
        mut read: impl FnMut(&mut Keys<'t, 'i>, &mut Context<'_>) -> Option<T>,
    ) -> Vec<T> {
        let mut list = Vec::new();
        for value in self.array(cx, key).into_iter().flatten() {
            let span = cx.span(value.span());
            match value.get_ref() {
                DeValue::Table(table) => {
                    let mut row = Keys::new(table, span, what);
                    let read = read(&mut row, cx);
                    if row.close(cx) {
                        self.odd.push((key, list.len()));
                    }
                    list.extend(read);
                }
                other => cx.wrong_type(span, key, "tables", other),
            }
        }
        list
    }

    /// The table under `key`, read by `read`.
    pub(super) fn inner<T>(
        &mut self,
        cx: &mut Context<'_>,
        key: &'static str,
        read: impl FnOnce(&mut Keys<'t, 'i>, &mut Context<'_>) -> Option<T>,
    ) -> Option<T> {
        let table = self.typed(cx, key, "a table", DeValue::as_table)?;
        let mut inner = Keys::new(table.value, table.span, key);
        let good = read(&mut inner, cx);
        inner.close(cx);
        good
    }

    /// Every key and text of a table of texts.
    pub(super) fn pairs(&mut self, cx: &mut Context<'_>) -> Vec<(Text, Text)> {
        let mut list = Vec::new();
        for (key, value) in self.table {
            let span = cx.span(value.span());
            match as_text(value.get_ref()) {
                Some(text) => list.push((
                    Spanned::new(key.get_ref().to_string(), cx.span(key.span())),
                    Spanned::new(text, span),
                )),
                None => cx.wrong_type(span, key.get_ref(), "a string", value.get_ref()),
            }
        }
        list
    }

    /// Passes on what is there and remembers what is not, to report it.
    pub(super) fn need<T>(&mut self, key: &'static str, value: Option<T>) -> Option<T> {
        if value.is_none() && !self.has(key) {
            self.missing.push(key);
        }
        value
    }

    /// Whether all keys of such a row are known.
    pub(super) fn is_understood(&self, key: &'static str, row: usize) -> bool {
        !self.odd.contains(&(key, row))
    }

    /// How many rows `key` has, readable or not.
    pub(super) fn row_count(&self, key: &str) -> usize {
        self.table.get(key).and_then(|value| value.get_ref().as_array()).map_or(0, |array| array.len())
    }

    pub(super) fn need_text(&mut self, cx: &mut Context<'_>, key: &'static str) -> Option<Text> {
        let value = self.text(cx, key);
        self.need(key, value)
    }

    pub(super) fn need_number(&mut self, cx: &mut Context<'_>, key: &'static str) -> Option<Number> {
        let value = self.number(cx, key);
        self.need(key, value)
    }

    /// Reports the keys that nobody asked for and those that are missing. A misspelled key is one
    /// problem, not two. Gives whether there were any that nobody asked for.
    pub(super) fn close(mut self, cx: &mut Context<'_>) -> bool {
        let mut odd = false;
        for key in self.table.keys() {
            let name = key.get_ref().as_ref();
            if self.asked.contains(&name) {
                continue;
            }
            odd = true;
            if let Some(meant) = nearest(name, self.missing.iter().copied()) {
                self.missing.retain(|missing| *missing != meant);
            }
            cx.report.add(
                Diagnostic::error(
                    cx.span(key.span()),
                    format!("unknown key `{name}` in {}", article(self.what)),
                )
                .label("not a key here")
                .help(
                    did_you_mean(name, self.asked.iter().copied())
                        .unwrap_or_else(|| known(self.asked.iter().copied())),
                ),
            );
        }
        for key in self.missing {
            cx.report.add(
                Diagnostic::error(self.span, format!("{} without `{key}`", article(self.what)))
                    .label(format!("`{key}` is missing")),
            );
        }
        odd
    }
}

fn article(what: &str) -> String {
    let vowel = what.starts_with(['a', 'e', 'i', 'o', 'u']);
    format!("{} {what}", if vowel { "an" } else { "a" })
}

fn as_text(value: &DeValue<'_>) -> Option<String> {
    value.as_str().map(str::to_owned)
}

pub(super) fn as_number(value: &DeValue<'_>) -> Option<i128> {
    let integer = value.as_integer()?;
    i128::from_str_radix(integer.as_str(), integer.radix()).ok()
}
