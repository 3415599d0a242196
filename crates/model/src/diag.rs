//! The one diagnostic type. Rendering (terminal box, JSON) is done at the edge, not here.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::mark::Deprecation;
use crate::path::Path;
use crate::span::{SourceMap, Span};

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The operation fails.
    Error,
    /// The operation goes on.
    Warning,
}

/// One value that took part in a failed expression: `var.x` … `is "a"`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueNote {
    /// The reference as written in configuration syntax.
    pub traversal: String,
    /// What it was, e.g. `is "a"` or `has a sensitive value`.
    pub statement: String,
}

/// The function call that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallNote {
    /// The name as called.
    pub called_as: String,
    /// Its signature, e.g. `element(list, index)`.
    pub signature: Option<String>,
}

/// One error or warning, with everything that a person needs to mend it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// What happened, in a few words; stable, people search for it.
    pub summary: String,
    /// Why, and what to do. May have several lines.
    pub detail: String,
    /// The text that is wrong.
    pub subject: Option<Span>,
    /// A wider range worth showing around the subject.
    pub context: Option<Span>,
    /// The object concerned, e.g. `module.a.terraform_data.b[0]`.
    pub address: Option<String>,
    /// The attribute concerned, where a provider named one.
    pub path: Option<Path>,
    /// Values of the references in the failed expression.
    pub values: Vec<ValueNote>,
    /// The call that failed.
    pub call: Option<CallNote>,
    /// Names other than OpenTofu's own text: our advice, shown behind the detail.
    pub hints: Vec<String>,
    /// What it is about, where that is something whose author discourages its use.
    pub deprecation: Option<Arc<Deprecation>>,
}

impl Diagnostic {
    fn new(severity: Severity, summary: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            severity,
            summary: summary.into(),
            detail: detail.into(),
            subject: None,
            context: None,
            address: None,
            path: None,
            values: Vec::new(),
            call: None,
            hints: Vec::new(),
            deprecation: None,
        }
    }

    /// An error.
    pub fn error(summary: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(Severity::Error, summary, detail)
    }

    /// A warning.
    pub fn warning(summary: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(Severity::Warning, summary, detail)
    }

    /// Says where.
    pub fn at(mut self, subject: Span) -> Self {
        self.subject = Some(subject);
        self
    }

    /// Says where, unless that is known already.
    pub fn or_at(mut self, subject: Span) -> Self {
        self.subject.get_or_insert(subject);
        self
    }

    /// Shows more text around the subject.
    pub fn within(mut self, context: Span) -> Self {
        self.context = Some(context);
        self
    }

    /// Says which object.
    pub fn of(mut self, address: impl Into<String>) -> Self {
        self.address = Some(address.into());
        self
    }

    /// Says which attribute.
    pub fn at_path(mut self, path: Path) -> Self {
        self.path = Some(path);
        self
    }

    /// Adds advice.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Says what is deprecated.
    pub fn about(mut self, deprecation: Arc<Deprecation>) -> Self {
        self.deprecation = Some(deprecation);
        self
    }

    /// Whether it is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// A list of diagnostics, in the order they were found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// An empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Whether any of them is an error.
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(Diagnostic::is_error)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// All of them.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.0.iter()
    }

    /// Puts them in the order in which people read them: warnings first (errors end up next to the prompt), then those without
    /// a place, then by file (outer directories first) and place. What is about one place, such as the instances of a resource,
    /// is found in any order; it is told in the order of its words.
    pub fn sort(&mut self, sources: &SourceMap) {
        self.0.sort_by_cached_key(|diagnostic| {
            let place = diagnostic.subject.map(|subject| {
                let name = sources.file(subject.file).name();
                let place = (name.matches('/').count(), name.to_owned(), subject.start, subject.end);
                (place, diagnostic.address.clone(), diagnostic.summary.clone(), diagnostic.detail.clone())
            });
            (Reverse(diagnostic.severity), place)
        });
    }

    /// Keeps the value of a result and moves its diagnostics here.
    pub fn take<T>(&mut self, result: Result<T, Diagnostics>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(diagnostics) => {
                self.extend(diagnostics);
                None
            }
        }
    }
}

impl Extend<Diagnostic> for Diagnostics {
    fn extend<I: IntoIterator<Item = Diagnostic>>(&mut self, iter: I) {
        self.0.extend(iter);
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl FromIterator<Diagnostic> for Diagnostics {
    fn from_iter<I: IntoIterator<Item = Diagnostic>>(iter: I) -> Self {
        Self(iter.into_iter().collect())
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Self(vec![diagnostic])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_in_which_something_was_found_does_not_show() {
        let mut sources = SourceMap::new();
        let file = sources.add("main.tf", "a\nb\n");
        let (first, second) = (Span::new(file, 0, 1), Span::new(file, 2, 3));
        let at = |detail: &str, span| Diagnostic::error("Wrong", detail).at(span);
        let found = [at("b[1]", second), Diagnostic::error("No place", ""), at("b[0]", second), at("a", first)];
        let sorted = |found: Vec<Diagnostic>| {
            let mut all: Diagnostics = found.into_iter().collect();
            all.push(Diagnostic::warning("Beware", "").at(first));
            all.sort(&sources);
            all.iter().map(|diagnostic| format!("{} {}", diagnostic.summary, diagnostic.detail)).collect::<Vec<_>>()
        };
        let told = sorted(found.to_vec());
        assert_eq!(told, ["Beware ", "No place ", "Wrong a", "Wrong b[0]", "Wrong b[1]"]);
        assert_eq!(sorted(found.into_iter().rev().collect()), told);
    }
}
