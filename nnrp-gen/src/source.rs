//! Where things were written: texts, spans in them, lines and columns.

use std::ops::Range;

/// A stretch of a source text. Ordered by file, then by place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// Index of the text in [`Sources`].
    pub source: u32,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The bytes `range` of the text number `source`.
    pub fn new(source: u32, range: Range<usize>) -> Self {
        let clamp = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Self { source, start: clamp(range.start), end: clamp(range.end) }
    }

    /// The bytes it covers.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The smallest span that covers both, which stand in one text.
    pub fn to(self, other: Span) -> Span {
        Span { source: self.source, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// A value and where it was written.
#[derive(Clone, Debug)]
pub struct Spanned<T> {
    /// What was written.
    pub value: T,
    /// Where.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// Puts a value and its place together.
    pub fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }

    /// The same place with another value.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Spanned<U> {
        Spanned { value: change(self.value), span: self.span }
    }
}

impl Spanned<String> {
    /// The text itself.
    pub fn as_str(&self) -> &str {
        &self.value
    }
}

/// One text that a registry was read from.
#[derive(Clone, Debug)]
pub struct Source {
    /// How diagnostics call it: a path.
    pub path: String,
    /// The text with its line ends as `\n`.
    pub text: String,
}

/// How a registry was written, so that help is given in the same words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Door {
    /// As TOML.
    #[default]
    Toml,
    /// As Rust, for a derive macro.
    Rust,
}

/// All texts of one run, in the order in which their problems are reported.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    list: Vec<Source>,
    door: Door,
}

impl Sources {
    /// Texts that are yet to be added, written in that way.
    pub fn of(door: Door) -> Self {
        Self { list: Vec::new(), door }
    }

    /// How they were written.
    pub fn door(&self) -> Door {
        self.door
    }

    /// Adds a text and gives its number. Line ends become `\n`, so that what is made of the text
    /// does not depend on where it was checked out.
    pub fn add(&mut self, path: impl Into<String>, text: &str) -> u32 {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
        self.list.push(Source { path: path.into(), text });
        u32::try_from(self.list.len() - 1).unwrap_or(u32::MAX)
    }

    /// The text number `source`.
    pub fn get(&self, source: u32) -> Option<&Source> {
        self.list.get(source as usize)
    }

    /// All texts.
    pub fn iter(&self) -> impl Iterator<Item = &Source> {
        self.list.iter()
    }

    /// Line and column of a span's start, both from 1; columns count characters.
    pub fn position(&self, span: Span) -> (usize, usize) {
        let Some(source) = self.get(span.source) else { return (1, 1) };
        let mut at = (span.start as usize).min(source.text.len());
        while !source.text.is_char_boundary(at) {
            at -= 1;
        }
        let before = &source.text[..at];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        (line, column)
    }

    /// The part `range` of a string value written at `whole`: exact where the value stands in the
    /// source as it is, the whole string where escapes make that unknowable.
    pub fn within(&self, whole: &Spanned<String>, range: Range<usize>) -> Span {
        let written = self.get(whole.span.source).and_then(|source| source.text.get(whole.span.range()));
        match written.and_then(|written| written.find(whole.as_str())) {
            Some(quote) if !whole.value.is_empty() => {
                let base = whole.span.start as usize + quote;
                Span::new(whole.span.source, base + range.start..base + range.end)
            }
            _ => whole.span,
        }
    }
}
