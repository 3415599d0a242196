//! The result of `validate -json`.

use groma_model::diag::Diagnostics;
use groma_model::span::SourceMap;
use serde::Serialize;

use super::diagnostic::{DiagnosticJson, diagnostic};

/// The result of a validation.
#[derive(Debug, Clone, Serialize)]
pub struct ValidateJson {
    /// Of this document.
    pub format_version: &'static str,
    /// Whether there are no errors.
    pub valid: bool,
    /// How many errors there are.
    pub error_count: usize,
    /// How many warnings there are.
    pub warning_count: usize,
    /// All of them.
    pub diagnostics: Vec<DiagnosticJson>,
}

/// The document for what was found.
pub fn validate(diagnostics: &Diagnostics, sources: &SourceMap) -> ValidateJson {
    let errors = diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).count();
    ValidateJson {
        format_version: "1.0",
        valid: errors == 0,
        error_count: errors,
        warning_count: diagnostics.len() - errors,
        diagnostics: diagnostics.iter().map(|found| diagnostic(found, sources)).collect(),
    }
}
