//! Diagnostics as people know them: a frame, the place, the line with what is wrong underlined, the values, the advice.

use anstyle::{AnsiColor, Style as Ansi};
use groma_model::diag::{Diagnostic, Severity};
use groma_model::span::SourceMap;
use groma_run::view::diagnostic::{DiagnosticJson, SnippetJson, diagnostic as to_json};

use super::wrap::wrap;
use super::{Style, branches};

const BOLD: Ansi = Ansi::new().bold();
const UNDERLINE: Ansi = Ansi::new().underline();
const FAINT: Ansi = Ansi::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::BrightBlack)));

/// The text of a diagnostic, ending with a line break.
pub(crate) fn diagnostic(diagnostic: &Diagnostic, sources: &SourceMap, style: Style) -> String {
    let json = to_json(diagnostic, sources);
    let painter = Painter { style, accent: accent(diagnostic.severity) };
    let lines = painter.lines(&json, diagnostic.severity);
    if style.color { painter.framed(&lines) } else { plain(&lines) }
}

fn accent(severity: Severity) -> Ansi {
    let color = match severity {
        Severity::Error => AnsiColor::Red,
        Severity::Warning => AnsiColor::Yellow,
    };
    Ansi::new().fg_color(Some(color.into()))
}

fn plain(lines: &[String]) -> String {
    let mut text = String::from("\n");
    for line in lines {
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

struct Painter {
    style: Style,
    accent: Ansi,
}

impl Painter {
    fn paint(&self, style: Ansi, text: &str) -> String {
        if self.style.color { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    fn framed(&self, lines: &[String]) -> String {
        let mut text = self.paint(self.accent, "╷");
        text.push('\n');
        for line in lines {
            text.push_str(&self.paint(self.accent, "│"));
            text.push(' ');
            text.push_str(line);
            text.push('\n');
        }
        text.push_str(&self.paint(self.accent, "╵"));
        text.push('\n');
        text
    }

    fn lines(&self, json: &DiagnosticJson, severity: Severity) -> Vec<String> {
        let label = match severity {
            Severity::Error => "Error: ",
            Severity::Warning => "Warning: ",
        };
        let mut lines = vec![format!("{}{}", self.paint(self.accent.bold(), label), self.paint(BOLD, &json.summary))];
        if let Some(snippet) = &json.snippet {
            lines.push(String::new());
            lines.extend(self.place(json, snippet));
        } else if let Some(address) = &json.address {
            lines.push(String::new());
            lines.push(format!("  with {address}"));
        }
        if !json.detail.is_empty() {
            lines.push(String::new());
            let detail = branches::redrawn(&json.detail, self.style.ascii);
            lines.extend(wrap(&detail, self.style.width.saturating_sub(2).max(20)));
        }
        lines
    }

    fn place(&self, json: &DiagnosticJson, snippet: &SnippetJson) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(address) = &json.address {
            lines.push(format!("  with {address},"));
        }
        let (file, line) = json.range.as_ref().map_or(("", 0), |range| (range.filename.as_str(), range.start.line));
        let block = snippet.context.as_ref().map_or(String::new(), |header| format!(", in {header}"));
        lines.push(format!("  on {file} line {line}{block}:"));
        lines.extend(self.code(snippet));
        lines.extend(self.values(snippet));
        lines
    }

    /// The lines of code with their numbers, the wrong part underlined.
    fn code(&self, snippet: &SnippetJson) -> Vec<String> {
        let (start, end) =
            (snippet.highlight_start_offset, snippet.highlight_end_offset.max(snippet.highlight_start_offset));
        let mut lines = Vec::new();
        let mut offset = 0;
        for (at, line) in snippet.code.split('\n').enumerate() {
            let number = snippet.start_line as usize + at;
            let from = start.clamp(offset, offset + line.len()) - offset;
            let to = end.clamp(offset, offset + line.len()) - offset;
            let shown = match (line.get(..from), line.get(from..to), line.get(to..)) {
                (Some(before), Some(inside), Some(after)) if !inside.is_empty() => {
                    format!("{before}{}{after}", self.paint(UNDERLINE, inside))
                }
                _ => line.to_owned(),
            };
            lines.push(format!("{number:>4}: {shown}"));
            offset += line.len() + 1;
        }
        lines
    }

    fn values(&self, snippet: &SnippetJson) -> Vec<String> {
        if snippet.values.is_empty() && snippet.function_call.is_none() {
            return Vec::new();
        }
        let bar = self.paint(FAINT, "│");
        let mut lines = vec![format!("    {}", self.paint(FAINT, "├────────────────"))];
        if let Some(call) = &snippet.function_call {
            let parameters =
                call.signature.as_deref().and_then(|text| text.split_once('(')).map_or(")", |(_, rest)| rest);
            let called = self.paint(BOLD, &format!("{}({parameters}", call.called_as));
            lines.push(format!("    {bar} while calling {called}"));
        }
        for value in &snippet.values {
            lines.push(format!("    {bar} {} {}", self.paint(BOLD, &value.traversal), value.statement));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    /// A warning with reasons, as rules about replacements give them.
    fn shown(width: usize, ascii: bool) -> String {
        let detail = "google_container_cluster.main is planned create-first (create_before_destroy, cluster.tf:30)\n\
                      ├─ Reason: Private node changes may conflict with attached network interfaces, which stay with the old cluster\n\
                      ├─ Condition: Private nodes setting is changing: true (false -> true)\n\
                      ├─ Recommendation: replace delete-first: remove create_before_destroy, or set behavior = \"auto\" on this rule\n\
                      └─ Learn more: groma explain rule google.container_cluster.private_nodes";
        let warning = Diagnostic::warning("Field 'private' may require delete-first replacement", detail).hint(
            "To apply this recommendation automatically, set:\nGROMA_EXPERIMENTAL_AUTO_DELETE_BEFORE_REPLACE=true",
        );
        diagnostic(&warning, &SourceMap::new(), Style { color: false, width, ascii })
    }

    #[test]
    fn branches_are_broken_where_the_terminal_ends() {
        expect![[r#"

            Warning: Field 'private' may require delete-first replacement

            google_container_cluster.main is planned create-first (create_before_destroy,
            cluster.tf:30)
            ├─ Reason: Private node changes may conflict with attached network interfaces,
            │  which stay with the old cluster
            ├─ Condition: Private nodes setting is changing: true (false -> true)
            ├─ Recommendation: replace delete-first: remove create_before_destroy, or set
            │  behavior = "auto" on this rule
            └─ Learn more: groma explain rule google.container_cluster.private_nodes

            To apply this recommendation automatically, set:
            GROMA_EXPERIMENTAL_AUTO_DELETE_BEFORE_REPLACE=true
        "#]]
        .assert_eq(&shown(80, false));
        expect![[r#"

            Warning: Field 'private' may require delete-first replacement

            google_container_cluster.main is planned create-first (create_before_destroy,
            cluster.tf:30)
            |- Reason: Private node changes may conflict with attached network interfaces,
            |  which stay with the old cluster
            |- Condition: Private nodes setting is changing: true (false -> true)
            |- Recommendation: replace delete-first: remove create_before_destroy, or set
            |  behavior = "auto" on this rule
            `- Learn more: groma explain rule google.container_cluster.private_nodes

            To apply this recommendation automatically, set:
            GROMA_EXPERIMENTAL_AUTO_DELETE_BEFORE_REPLACE=true
        "#]]
        .assert_eq(&shown(80, true));
        expect![[r#"

            Warning: Field 'private' may require delete-first replacement

            google_container_cluster.main is planned create-first (create_before_destroy, cluster.tf:30)
            ├─ Reason: Private node changes may conflict with attached network interfaces, which stay with the old cluster
            ├─ Condition: Private nodes setting is changing: true (false -> true)
            ├─ Recommendation: replace delete-first: remove create_before_destroy, or set behavior = "auto" on this rule
            └─ Learn more: groma explain rule google.container_cluster.private_nodes

            To apply this recommendation automatically, set:
            GROMA_EXPERIMENTAL_AUTO_DELETE_BEFORE_REPLACE=true
        "#]].assert_eq(&shown(120, false));
        expect![[r#"

            Warning: Field 'private' may require delete-first replacement

            google_container_cluster.main is planned create-first (create_before_destroy, cluster.tf:30)
            |- Reason: Private node changes may conflict with attached network interfaces, which stay with the old cluster
            |- Condition: Private nodes setting is changing: true (false -> true)
            |- Recommendation: replace delete-first: remove create_before_destroy, or set behavior = "auto" on this rule
            `- Learn more: groma explain rule google.container_cluster.private_nodes

            To apply this recommendation automatically, set:
            GROMA_EXPERIMENTAL_AUTO_DELETE_BEFORE_REPLACE=true
        "#]].assert_eq(&shown(120, true));
    }
}
