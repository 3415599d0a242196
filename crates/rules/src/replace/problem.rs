//! What can be wrong with rules about replacement order. Each problem has a number of its own, by which people find it in the documentation.

use groma_model::diag::Diagnostic;
use groma_model::span::Span;

use super::path::at_text;

/// The number of a problem: 1xxx a file, 2xxx a plan, 3xxx a flag, 4xxx a hint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(pub u16);

impl Code {
    /// An error.
    pub fn error(self, summary: &str, detail: impl Into<String>) -> Diagnostic {
        Diagnostic::error(self.summary(summary), detail)
    }

    /// A warning.
    pub fn warning(self, summary: &str, detail: impl Into<String>) -> Diagnostic {
        Diagnostic::warning(self.summary(summary), detail)
    }

    /// What somebody else has found, with this number.
    pub(crate) fn number(self, mut found: Diagnostic) -> Diagnostic {
        found.summary = self.summary(&found.summary);
        found
    }

    fn summary(self, summary: &str) -> String {
        format!("{summary} (GR{})", self.0)
    }
}

/// What is wrong with a parameter of a predicate, whatever the schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParameterProblem {
    /// The number.
    pub code: Code,
    /// Which parameter.
    pub parameter: &'static str,
    /// In a few words.
    pub summary: &'static str,
    /// In sentences.
    pub detail: String,
    /// Where in the text of the parameter, in bytes.
    pub range: Option<(usize, usize)>,
}

impl ParameterProblem {
    /// A problem with all of a parameter.
    pub fn new(code: u16, parameter: &'static str, summary: &'static str, detail: impl Into<String>) -> Self {
        Self { code: Code(code), parameter, summary, detail: detail.into(), range: None }
    }

    /// As users are told. `place` is where the parameter's value stands, with its quotes, and `text` what it says.
    pub fn diagnostic(&self, place: Option<Span>, text: &str) -> Diagnostic {
        let diagnostic = self.code.error(self.summary, self.detail.clone());
        match (place, self.range) {
            (Some(place), Some(range)) => at_text(diagnostic, place, text, range),
            (Some(place), None) => diagnostic.at(place),
            (None, _) => diagnostic,
        }
    }
}
