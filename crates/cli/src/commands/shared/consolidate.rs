//! Fewer words: diagnostics that say the same are shown once, and what is deprecated in modules only as far as that is wanted.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use groma_lang::load::{ModuleNode, ModuleTree};
use groma_model::diag::{Diagnostic, Diagnostics, Severity};
use groma_model::span::{SourceMap, Span};

use super::view::{Deprecation, ViewArgs};

/// Variables whose authors discourage them.
const DEPRECATED: [&str; 2] =
    ["Variable marked as deprecated by the module author", "Value derived from a deprecated source"];

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
pub(crate) fn groups(diagnostics: &Diagnostics, view: &ViewArgs, remote: &RemoteCalls) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut known: BTreeMap<(Severity, &str), usize> = BTreeMap::new();
    for diagnostic in diagnostics.iter().filter(|diagnostic| remote.admits(diagnostic, view.deprecation)) {
        let wanted = match diagnostic.severity {
            Severity::Warning => view.consolidate_warnings,
            Severity::Error => view.consolidate_errors,
        };
        let summary = diagnostic.summary.as_str();
        if wanted && diagnostic.subject.is_some() && !CONDITIONS.contains(&summary) {
            if let Some(index) = known.get(&(diagnostic.severity, summary)) {
                groups[*index].count += 1;
                continue;
            }
            known.insert((diagnostic.severity, summary), groups.len());
        }
        groups.push(Group { shown: diagnostic.clone(), count: 1 });
    }
    groups.iter_mut().for_each(Group::tell);
    groups
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

/// Which calls of modules lead to modules that were fetched from elsewhere.
#[derive(Debug, Default)]
pub(crate) struct RemoteCalls {
    /// Where all calls begin, and whether they lead elsewhere.
    calls: BTreeSet<(Span, bool)>,
}

impl RemoteCalls {
    /// Of a configuration.
    pub(crate) fn of(tree: &ModuleTree) -> Self {
        let mut found = Self::default();
        found.add(&tree.root);
        found
    }

    fn add(&mut self, node: &ModuleNode) {
        for child in node.children.values() {
            self.calls.extend(child.call_span.map(|span| (span, child.remote)));
            self.add(child);
        }
    }

    /// Whether this is to be shown.
    fn admits(&self, diagnostic: &Diagnostic, wanted: Deprecation) -> bool {
        if wanted == Deprecation::All || !DEPRECATED.contains(&diagnostic.summary.as_str()) {
            return true;
        }
        wanted == Deprecation::Local && !diagnostic.subject.is_some_and(|subject| self.is_remote(subject))
    }

    /// An argument belongs to the last call that begins before it.
    fn is_remote(&self, argument: Span) -> bool {
        let before = self.calls.range(..(argument, false)).next_back();
        before.is_some_and(|(call, remote)| call.file == argument.file && *remote)
    }
}

#[cfg(test)]
mod tests {
    use groma_model::span::FileId;

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
        let shown = groups(&all, &view(), &RemoteCalls::default());
        assert_eq!(shown.len(), 1);
        assert_eq!(shown[0].shown.detail, "Why.\n\n(and 2 more similar warnings elsewhere)");
        let text = compact("Warnings:", &shown, &sources);
        assert!(text.contains("- Old\n  on main.tf line 1 (and 2 more)\n"), "{text}");
        let apart = groups(&all, &ViewArgs::default(), &RemoteCalls::default());
        assert_eq!(apart.len(), 3);
    }

    #[test]
    fn what_has_no_place_or_was_checked_is_shown_each_time() {
        let (_, id) = source();
        let mut all: Diagnostics = (0..2).map(|at| warning(id, "Check block assertion failed", at)).collect();
        all.extend((0..2).map(|_| Diagnostic::warning("Old", "")));
        assert_eq!(groups(&all, &view(), &RemoteCalls::default()).len(), 4);
    }

    #[test]
    fn what_is_deprecated_is_shown_as_far_as_wanted() {
        let (_, id) = source();
        let all: Diagnostics = [1, 5].map(|at| warning(id, DEPRECATED[0], at)).into_iter().collect();
        let calls = [(Span::new(id, 0, 1), false), (Span::new(id, 4, 5), true)].into_iter().collect();
        let remote = RemoteCalls { calls };
        let count = |deprecation| groups(&all, &ViewArgs { deprecation, ..ViewArgs::default() }, &remote).len();
        assert_eq!(count(Deprecation::All), 2);
        assert_eq!(count(Deprecation::Local), 1);
        assert_eq!(count(Deprecation::None), 0);
    }
}
