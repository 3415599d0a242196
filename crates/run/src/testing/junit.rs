//! Results as JUnit XML, for programs that collect results of tests.

use std::fmt::Write as _;
use std::time::Duration;

use groma_model::diag::{Diagnostic, Diagnostics, Severity};
use groma_model::span::SourceMap;

use super::{FileReport, RunReport, Status};

/// The document: a test suite for each file, a test case for each run.
pub fn document(files: &[FileReport], sources: &SourceMap) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?><testsuites>\n");
    for file in files {
        let count = |status: Status| file.runs.iter().filter(|run| run.status == status).count();
        let skipped = count(Status::Skip) + count(Status::Pending);
        let took: Duration = file.runs.iter().map(|run| run.took).sum();
        let _ = writeln!(
            out,
            "  <testsuite name=\"{}\" tests=\"{}\" skipped=\"{skipped}\" failures=\"{}\" errors=\"{}\" time=\"{}\">",
            escaped(&file.name),
            file.runs.len(),
            count(Status::Fail),
            count(Status::Error),
            took.as_secs_f64()
        );
        for run in &file.runs {
            test_case(&mut out, &file.name, run, sources);
        }
        out.push_str("  </testsuite>\n");
    }
    out.push_str("</testsuites>\n");
    out
}

fn test_case(out: &mut String, file: &str, run: &RunReport, sources: &SourceMap) {
    let _ = writeln!(
        out,
        "    <testcase name=\"{}\" classname=\"{}\" time=\"{}\">",
        escaped(&run.name),
        escaped(file),
        run.took.as_secs_f64()
    );
    let errors: Diagnostics = run.diagnostics.iter().filter(|found| found.is_error()).cloned().collect();
    let warnings: Diagnostics = run.diagnostics.iter().filter(|found| !found.is_error()).cloned().collect();
    match run.status {
        Status::Pass => {}
        Status::Pending | Status::Skip => {
            let _ = writeln!(out, "      <skipped message=\"{}\"></skipped>", escaped(skip_reason(run.status)));
        }
        Status::Fail => {
            let _ = writeln!(
                out,
                "      <failure message=\"Test run failed\"><![CDATA[{}]]></failure>",
                unclosed(&texts(&errors, sources))
            );
        }
        Status::Error => {
            let _ = writeln!(
                out,
                "      <error message=\"Encountered an error\"><![CDATA[{}]]></error>",
                unclosed(&texts(&errors, sources))
            );
        }
    }
    if !warnings.is_empty() {
        let _ = writeln!(out, "      <system-err><![CDATA[{}]]></system-err>", unclosed(&texts(&warnings, sources)));
    }
    out.push_str("    </testcase>\n");
}

fn skip_reason(status: Status) -> &'static str {
    match status {
        Status::Skip => "Left out because an earlier run could not be carried through, or because of an interrupt",
        _ => "Not begun",
    }
}

fn texts(found: &Diagnostics, sources: &SourceMap) -> String {
    let text = |found: &Diagnostic| {
        let word = if found.severity == Severity::Error { "Error" } else { "Warning" };
        let place = found.subject.map_or_else(String::new, |span| format!("\n  on {}", sources.place(span)));
        let detail = if found.detail.is_empty() { String::new() } else { format!("\n\n{}", found.detail) };
        format!("{word}: {}{place}{detail}\n", found.summary)
    };
    found.iter().map(text).collect::<Vec<_>>().join("\n")
}

/// Text inside of attributes. Characters that XML does not know at all are replaced.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&#34;"),
            '\'' => out.push_str("&#39;"),
            '\n' => out.push_str("&#xA;"),
            '\t' => out.push_str("&#x9;"),
            c => out.push(allowed(c)),
        }
    }
    out
}

/// Text inside of a CDATA section.
fn unclosed(text: &str) -> String {
    text.chars().map(allowed).collect::<String>().replace("]]>", "]]]]><![CDATA[>")
}

fn allowed(c: char) -> char {
    let is_control = c < ' ' && !['\n', '\t', '\r'].contains(&c);
    if is_control || ['\u{fffe}', '\u{ffff}'].contains(&c) { '\u{fffd}' } else { c }
}
