//! What was decided about replacements, for logs: who asks later why something happened finds it there. Nothing in it is secret, as nothing of
//! what rules have seen is.

use std::sync::Arc;

use groma_model::address::AbsInstance;
use groma_model::span::SourceMap;
use groma_model::text::Str;
use groma_rules::replace::ReplaceRules;
use groma_rules::replace::case::Case;
use groma_rules::replace::eval::{Care, RuleResult, Tree, Verdict, judge};
use groma_rules::replace::rule::ReplaceRule;
use tracing::Level;

/// Events have this name. Macros want it written out.
macro_rules! target {
    () => {
        "groma::replace_order"
    };
}

/// A rule that was asked about an object, and what became of it.
pub(super) struct Considered<'a> {
    pub(super) address: &'a AbsInstance,
    pub(super) rule: &'a ReplaceRule,
    pub(super) verdict: Verdict,
    pub(super) layer: &'static str,
    /// Of the file that the rule stands in. Empty for the catalogue, which has a version.
    pub(super) digest: String,
    pub(super) mode: &'static str,
    pub(super) mode_source: &'static str,
    pub(super) status: &'static str,
    pub(super) order: &'static str,
    pub(super) forced_by: Vec<String>,
}

/// The level of an event, if anybody listens to that.
fn level(matters: bool) -> Option<Level> {
    if matters {
        return tracing::enabled!(target: target!(), Level::INFO).then_some(Level::INFO);
    }
    tracing::enabled!(target: target!(), Level::DEBUG).then_some(Level::DEBUG)
}

/// Who listens to what becomes of rules. Asked once for all of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Listening {
    to_what_matters: Option<Level>,
    to_the_rest: Option<Level>,
}

impl Listening {
    pub(super) fn new() -> Self {
        Self { to_what_matters: level(true), to_the_rest: level(false) }
    }

    /// The level of an event, if anybody listens to that.
    pub(super) fn level(self, matters: bool) -> Option<Level> {
        if matters { self.to_what_matters } else { self.to_the_rest }
    }
}

/// Tells of a rule.
pub(super) fn rule(level: Level, seen: &Considered<'_>) {
    macro_rules! tell {
        ($level:expr) => {
            tracing::event!(
                target: target!(),
                $level,
                address = %seen.address,
                rule = seen.rule.id.as_str(),
                layer = seen.layer,
                digest = seen.digest.as_str(),
                mode = seen.mode,
                mode_source = seen.mode_source,
                result = seen.verdict.name(),
                status = seen.status,
                order = seen.order,
                forced_by = seen.forced_by.join(", ").as_str(),
                "a rule was considered"
            )
        };
    }
    if level == Level::INFO { tell!(Level::INFO) } else { tell!(Level::DEBUG) }
}

/// Whether anybody listens to what rules have seen.
pub(super) fn wants_steps() -> bool {
    tracing::enabled!(target: target!(), Level::TRACE)
}

/// Tells of everything that a rule has seen. If not all of it was asked so far, it is asked again.
pub(super) fn steps(rule: &Arc<ReplaceRule>, case: &Case<'_>, result: &RuleResult) {
    if result.verdict == Verdict::NotApplicable || !wants_steps() {
        return;
    }
    match &result.tree {
        Some(tree) => parts(tree, rule, case),
        None => judge(rule, case, Care::Full).tree.iter().for_each(|tree| parts(tree, rule, case)),
    }
}

fn parts(tree: &Tree, rule: &ReplaceRule, case: &Case<'_>) {
    if let Some(kind) = tree.kind {
        let predicate = tree.id.as_ref().map(Str::as_str).unwrap_or_default();
        let (rule, result) = (rule.id.as_str(), tree.result.name());
        if tree.steps.is_empty() {
            tracing::trace!(target: target!(), address = %case.address, rule, predicate, kind, result, "a predicate was asked");
        }
        for step in &tree.steps {
            tracing::trace!(
                target: target!(), address = %case.address, rule, predicate, kind, result, %step, "a predicate was asked"
            );
        }
    }
    tree.children.iter().for_each(|child| parts(child, rule, case));
}

/// The SHA-256 of the file that a rule stands in.
pub(super) fn digest(rule: &ReplaceRule, rules: &ReplaceRules, sources: &SourceMap) -> String {
    let name = rule.place.map(|place| sources.file(place.file).name());
    let file = name.and_then(|name| rules.files.iter().find(|file| file.path == name));
    file.map(|file| file.sha256.clone()).unwrap_or_default()
}
