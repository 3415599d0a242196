//! A diagnostic as JSON, with the source around it.

use groma_model::diag::{Diagnostic, Severity};
use groma_model::span::{Position, SourceMap, Span};
use serde::Serialize;

/// A diagnostic.
#[derive(Debug, Clone, Serialize)]
pub struct DiagnosticJson {
    /// `error` or `warning`
    pub severity: &'static str,
    /// What happened.
    pub summary: String,
    /// Why, and what to do.
    pub detail: String,
    /// The object concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The text concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<RangeJson>,
    /// That text with what is around it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snippet: Option<SnippetJson>,
}

/// A range of a file.
#[derive(Debug, Clone, Serialize)]
pub struct RangeJson {
    /// The file.
    pub filename: String,
    /// First byte.
    pub start: PositionJson,
    /// Behind the last byte.
    pub end: PositionJson,
}

/// A place in a file.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct PositionJson {
    /// From 1.
    pub line: u32,
    /// From 1, in grapheme clusters.
    pub column: u32,
    /// From 0.
    pub byte: u32,
}

/// Source text around a range.
#[derive(Debug, Clone, Serialize)]
pub struct SnippetJson {
    /// The header of the block around it.
    pub context: Option<String>,
    /// Whole lines.
    pub code: String,
    /// The line of the first of them.
    pub start_line: u32,
    /// Where the range starts in `code`.
    pub highlight_start_offset: usize,
    /// Where it ends.
    pub highlight_end_offset: usize,
    /// Values of the references in it.
    pub values: Vec<ValueJson>,
    /// The function call that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function_call: Option<FunctionCallJson>,
}

/// A value in a failed expression.
#[derive(Debug, Clone, Serialize)]
pub struct ValueJson {
    /// The reference.
    pub traversal: String,
    /// What it was.
    pub statement: String,
}

/// A failed function call.
#[derive(Debug, Clone, Serialize)]
pub struct FunctionCallJson {
    /// The name it was called by.
    pub called_as: String,
    /// Its parameters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

/// Turns a diagnostic into JSON.
pub fn diagnostic(diagnostic: &Diagnostic, sources: &SourceMap) -> DiagnosticJson {
    let mut detail = diagnostic.detail.clone();
    for hint in &diagnostic.hints {
        detail.push_str("\n\n");
        detail.push_str(hint);
    }
    let highlight = diagnostic.subject.map(|subject| visible(subject, sources));
    DiagnosticJson {
        severity: match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        summary: diagnostic.summary.clone(),
        detail,
        address: diagnostic.address.clone(),
        range: highlight.map(|span| range(span, sources)),
        snippet: highlight.map(|span| snippet(diagnostic, span, sources)),
    }
}

/// An empty range is widened by a byte so that there is something to see.
fn visible(span: Span, sources: &SourceMap) -> Span {
    if !span.is_empty() {
        return span;
    }
    let length = sources.file(span.file).text().len() as u32;
    Span { end: (span.start + 1).min(length.max(span.start)), ..span }
}

fn range(span: Span, sources: &SourceMap) -> RangeJson {
    RangeJson {
        filename: sources.file(span.file).name().to_owned(),
        start: position(sources.start(span)),
        end: position(sources.end(span)),
    }
}

fn position(position: Position) -> PositionJson {
    PositionJson { line: position.line, column: position.column, byte: position.byte }
}

fn snippet(diagnostic: &Diagnostic, highlight: Span, sources: &SourceMap) -> SnippetJson {
    let file = sources.file(highlight.file);
    let text = file.text();
    let shown = match diagnostic.context {
        Some(context) if context.file == highlight.file => context.to(highlight),
        _ => highlight,
    };
    let start = text[..clamp(text, shown.start)].rfind('\n').map_or(0, |at| at + 1);
    let from = clamp(text, shown.end.max(shown.start));
    // A range that ends with its line must not drag the next line in.
    let last = if from > start && text.as_bytes().get(from - 1) == Some(&b'\n') { from - 1 } else { from };
    let end = text[last..].find('\n').map_or(text.len(), |at| last + at);
    let code = text.get(start..end).unwrap_or("");
    let offset = |at: u32| (at as usize).saturating_sub(start).min(code.len());
    SnippetJson {
        context: file.enclosing_block(highlight.start).map(str::to_owned),
        code: code.trim_end_matches('\r').to_owned(),
        start_line: file.position(start as u32).line,
        highlight_start_offset: offset(highlight.start),
        highlight_end_offset: offset(highlight.end),
        values: diagnostic
            .values
            .iter()
            .map(|note| ValueJson { traversal: note.traversal.clone(), statement: note.statement.clone() })
            .collect(),
        function_call: diagnostic
            .call
            .as_ref()
            .map(|call| FunctionCallJson { called_as: call.called_as.clone(), signature: call.signature.clone() }),
    }
}

/// The nearest character boundary at or before an offset.
fn clamp(text: &str, offset: u32) -> usize {
    let mut at = (offset as usize).min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snippet_has_whole_lines() {
        let mut sources = SourceMap::new();
        let file = sources.add("a.tf", "x = 1\nyy = zz\n");
        let found = Diagnostic::error("Bad", "Very.").at(Span::new(file, 11, 13));
        let json = diagnostic(&found, &sources);
        let snippet = json.snippet.unwrap();
        assert_eq!(snippet.code, "yy = zz");
        assert_eq!((snippet.start_line, snippet.highlight_start_offset, snippet.highlight_end_offset), (2, 5, 7));
        assert_eq!(json.range.unwrap().start.column, 6);
    }

    #[test]
    fn an_empty_range_becomes_visible() {
        let mut sources = SourceMap::new();
        let file = sources.add("a.tf", "x = 1\n");
        let found = Diagnostic::error("Bad", "").at(Span::new(file, 5, 5));
        let snippet = diagnostic(&found, &sources).snippet.unwrap();
        assert_eq!(snippet.code, "x = 1");
        assert_eq!((snippet.highlight_start_offset, snippet.highlight_end_offset), (5, 5));
    }
}
