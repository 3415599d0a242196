//! Fewer words: diagnostics that say the same are shown once, and what is deprecated in modules only as far as that is wanted.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use groma_model::diag::{Diagnostic, Diagnostics, Severity};
use groma_model::mark::Deprecation;
use groma_model::span::SourceMap;

use super::view::{Deprecation as Wanted, ViewArgs};

/// What conditions say is never summed up: each of them was written by somebody.
const CONDITIONS: [&str; 7] = [
    "Check block assertion failed",
    "Check block assertion known after apply",
    "Resource precondition failed",
    "Resource postcondition failed",
    "Module output value precondition failed",
    "Invalid value for variable",
    "Data source postcondition failed",
];

/// One diagnostic that stands for several.
pub(crate) struct Group {
    /// The first of them; its detail tells how many more there are.
    pub(crate) shown: Diagnostic,
    /// How many there are.
    pub(crate) count: usize,
}

/// What is left to show.
pub(crate) fn groups(diagnostics: &Diagnostics, view: &ViewArgs) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut known: BTreeMap<(Severity, &str, Option<&str>), usize> = BTreeMap::new();
    let mut seen: BTreeSet<&Deprecation> = BTreeSet::new();
    for diagnostic in diagnostics {
        // What is deprecated is told once, however often it is used.
        let deprecation = diagnostic.deprecation.as_deref();
        if deprecation.is_some_and(|deprecation| !admits(view, deprecation) || !seen.insert(deprecation)) {
            continue;
        }
        let wanted = match diagnostic.severity {
            Severity::Warning => view.consolidate_warnings,
            Severity::Error => view.consolidate_errors,
        };
        let summary = diagnostic.summary.as_str();
        if wanted && diagnostic.subject.is_some() && !CONDITIONS.contains(&summary) {
            let kind = (diagnostic.severity, summary, deprecation.map(|deprecation| deprecation.origin.as_str()));
            if let Some(index) = known.get(&kind) {
                groups[*index].count += 1;
                continue;
            }
            known.insert(kind, groups.len());
        }
        groups.push(Group { shown: diagnostic.clone(), count: 1 });
    }
    groups.iter_mut().for_each(Group::tell);
    groups
}

/// Whether something deprecated is to be told.
fn admits(view: &ViewArgs, deprecation: &Deprecation) -> bool {
    match view.deprecation {
        Wanted::All => true,
        Wanted::Local => !deprecation.remote,
        Wanted::None => false,
    }
}

impl Group {
    fn tell(&mut self) {
        let kind = if self.shown.is_error() { "error" } else { "warning" };
        let more = match self.count {
            1 => return,
            2 => format!("(and one more similar {kind} elsewhere)"),
            count => format!("(and {} more similar {kind}s elsewhere)", count - 1),
        };
        let detail = &mut self.shown.detail;
        if !detail.is_empty() {
            detail.push_str("\n\n");
        }
        detail.push_str(&more);
    }
}

/// Warnings by their summaries.
pub(crate) fn compact(title: &str, groups: &[Group], sources: &SourceMap) -> String {
    let mut text = format!("\n{title}\n\n");
    for group in groups {
        // Writing to a string does not fail.
        let _ = writeln!(text, "- {}", group.shown.summary);
        let Some(subject) = group.shown.subject else { continue };
        let (name, line) = (sources.file(subject.file).name(), sources.start(subject).line);
        let more = if group.count > 1 { format!(" (and {} more)", group.count - 1) } else { String::new() };
        let _ = writeln!(text, "  on {name} line {line}{more}");
    }
    text.push_str("\nTo see the full warning notes, run groma without -compact-warnings.\n");
    text
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use groma_model::span::{FileId, Span};

    use super::*;

    fn source() -> (SourceMap, FileId) {
        let mut sources = SourceMap::new();
        let id = sources.add("main.tf", "a\nb\nc\n");
        (sources, id)
    }

    fn warning(file: FileId, summary: &str, at: usize) -> Diagnostic {
        Diagnostic::warning(summary, "Why.").at(Span::new(file, at, at + 1))
    }

    fn view() -> ViewArgs {
        ViewArgs { consolidate_warnings: true, ..ViewArgs::default() }
    }

    #[test]
    fn what_says_the_same_is_shown_once() {
        let (sources, id) = source();
        let all: Diagnostics = (0..3).map(|at| warning(id, "Old", 2 * at)).collect();
        let shown = groups(&all, &view());
        assert_eq!(shown.len(), 1);
        assert_eq!(shown[0].shown.detail, "Why.\n\n(and 2 more similar warnings elsewhere)");
        let text = compact("Warnings:", &shown, &sources);
        assert!(text.contains("- Old\n  on main.tf line 1 (and 2 more)\n"), "{text}");
        let apart = groups(&all, &ViewArgs::default());
        assert_eq!(apart.len(), 3);
    }

    #[test]
    fn what_has_no_place_or_was_checked_is_shown_each_time() {
        let (_, id) = source();
        let mut all: Diagnostics = (0..2).map(|at| warning(id, "Check block assertion failed", at)).collect();
        all.extend((0..2).map(|_| Diagnostic::warning("Old", "")));
        assert_eq!(groups(&all, &view()).len(), 4);
    }

    #[test]
    fn what_is_deprecated_is_shown_as_far_as_wanted() {
        let (_, id) = source();
        let deprecated = |origin: &str, remote, at| {
            let deprecation = Deprecation { origin: origin.into(), message: "Old.".into(), remote };
            warning(id, "Value derived from a deprecated source", at).about(Arc::new(deprecation))
        };
        let all: Diagnostics =
            [deprecated("module.a.x", false, 1), deprecated("module.b.x", true, 2), deprecated("module.a.x", false, 5)]
                .into_iter()
                .collect();
        let count = |deprecation| groups(&all, &ViewArgs { deprecation, ..view() }).len();
        assert_eq!(count(Wanted::All), 2, "each once");
        assert_eq!(count(Wanted::Local), 1);
        assert_eq!(count(Wanted::None), 0);
        assert!(groups(&all, &view()).iter().all(|group| group.count == 1));
    }
}
