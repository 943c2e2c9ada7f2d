//! Problems, collected over a whole run and drawn together.

use std::collections::HashMap;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::cut::cut;
use crate::source::{Sources, Span};

/// How much a problem weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Nothing is made from a registry with an error.
    Error,
    /// Everything still works.
    Warning,
}

/// One problem: what is wrong, where, and what would mend it.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// What is wrong, as a sentence without a full stop.
    pub message: String,
    /// The place that is wrong.
    pub span: Span,
    /// What to say at that place; may be empty.
    pub label: String,
    /// Other places that explain it.
    pub related: Vec<(Span, String)>,
    /// What would mend it, where that is known.
    pub help: Option<String>,
    /// Whether a name names nothing. All who use that name have one problem together.
    pub is_of_name: bool,
}

impl Diagnostic {
    /// An error at `span`.
    pub fn error(span: Span, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            message: message.into(),
            span,
            label: String::new(),
            related: Vec::new(),
            help: None,
            is_of_name: false,
        }
    }

    /// A warning at `span`.
    pub fn warning(span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(span, message) }
    }

    /// Says `label` at the place itself.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Points at another place too.
    #[must_use]
    pub fn related(mut self, span: Span, label: impl Into<String>) -> Self {
        self.related.push((span, label.into()));
        self
    }

    /// Says that a name names nothing.
    #[must_use]
    pub fn of_name(mut self) -> Self {
        self.is_of_name = true;
        self
    }

    /// Says what would mend it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Says what would mend it, where somebody knows.
    #[must_use]
    pub fn maybe_help(mut self, help: Option<String>) -> Self {
        self.help = help;
        self
    }
}

/// All problems of a run.
#[derive(Clone, Debug, Default)]
pub struct Report {
    list: Vec<Diagnostic>,
}

impl Report {
    /// Adds a problem.
    pub fn add(&mut self, problem: Diagnostic) {
        self.list.push(problem);
    }

    /// Adds a problem and hands it back, to say more about it.
    pub fn push(&mut self, problem: Diagnostic) -> &mut Diagnostic {
        let at = self.list.len();
        self.list.push(problem);
        &mut self.list[at]
    }

    /// Makes one problem of those that are about the same name, at its first place: whoever misspelled a definition made
    /// one mistake, however often it is used.
    pub fn join_names(&mut self) {
        self.list.sort_by_key(|problem| problem.span);
        let mut first: HashMap<(String, Option<String>), usize> = HashMap::new();
        let mut joined: Vec<Diagnostic> = Vec::with_capacity(self.list.len());
        for problem in self.list.drain(..) {
            if problem.is_of_name {
                let key = (problem.message.clone(), problem.help.clone());
                match first.get(&key) {
                    Some(&at) => {
                        let related = &mut joined[at].related;
                        if related.len() < MOST_RELATED {
                            related.push((problem.span, "and here".to_owned()));
                        }
                        continue;
                    }
                    None => _ = first.insert(key, joined.len()),
                }
            }
            joined.push(problem);
        }
        self.list = joined;
    }

    /// Whether an error is among them.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|problem| problem.severity == Severity::Error)
    }

    /// How many errors and how many warnings there are.
    pub fn counts(&self) -> (usize, usize) {
        let errors = self.list.iter().filter(|problem| problem.severity == Severity::Error).count();
        (errors, self.list.len() - errors)
    }

    /// The problems in file order.
    pub fn sorted(&self) -> Vec<&Diagnostic> {
        let mut list: Vec<_> = self.list.iter().collect();
        list.sort_by_key(|problem| problem.span);
        list
    }

    /// Draws every problem in file order, each starting with `path:line:column`.
    ///
    /// `color` adds terminal colours. Of very many problems only the first are drawn, errors before warnings: each
    /// costs its whole line, so that ten thousand in one long line would take minutes, and nobody reads them.
    pub fn draw(&self, sources: &Sources, color: bool) -> String {
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        let renderer = renderer.decor_style(DecorStyle::Ascii);
        let mut shown = self.sorted();
        let more = shown.len().saturating_sub(MOST);
        if more > 0 {
            shown.sort_by_key(|problem| problem.severity != Severity::Error);
            shown.truncate(MOST);
        }
        let mut drawn: Vec<String> =
            shown.into_iter().map(|problem| draw(problem, sources, &renderer)).collect();
        if more > 0 {
            drawn.push(format!("and {more} more, which show once some of these are mended"));
        }
        drawn.join("\n\n")
    }
}

/// How many other places a name that names nothing is shown at.
const MOST_RELATED: usize = 8;

/// How many problems are drawn at once.
const MOST: usize = 100;

fn draw(problem: &Diagnostic, sources: &Sources, renderer: &Renderer) -> String {
    let (level, word) = match problem.severity {
        Severity::Error => (Level::ERROR, "error"),
        Severity::Warning => (Level::WARNING, "warning"),
    };
    let Some(source) = sources.get(problem.span.source) else {
        return format!("{word}: {}", cut(&problem.message));
    };
    let (line, column) = sources.position(problem.span);
    let name = format!("{}:{line}:{column}: {word}", source.path);
    let title = level.with_name(Some(name)).primary_title(cut(&problem.message));
    let label = |text: &str| cut(text).into_owned();

    let mut snippet = Snippet::source(source.text.as_str()).annotation(
        AnnotationKind::Primary.span(fit(problem.span, &source.text)).label(label(&problem.label)),
    );
    let mut elsewhere = Vec::new();
    for (span, text) in &problem.related {
        match sources.get(span.source) {
            Some(_) if span.source == problem.span.source => {
                snippet = snippet
                    .annotation(AnnotationKind::Context.span(fit(*span, &source.text)).label(label(text)));
            }
            Some(other) => elsewhere.push(
                Snippet::source(other.text.as_str())
                    .path(other.path.as_str())
                    .annotation(AnnotationKind::Context.span(fit(*span, &other.text)).label(label(text))),
            ),
            None => {}
        }
    }
    let mut group: Group<'_> = title.element(snippet);
    for other in elsewhere {
        group = group.element(other);
    }
    if let Some(help) = &problem.help {
        group = group.element(Level::HELP.message(cut(help)));
    }
    renderer.render(&[group])
}

/// A span that lies in the text and on character boundaries, whatever a parser said.
fn fit(span: Span, text: &str) -> std::ops::Range<usize> {
    let boundary = |at: u32| {
        let mut at = (at as usize).min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let (start, end) = (boundary(span.start), boundary(span.end));
    start..end.max(start)
}
