//! The document about the order of one object, for machines. Few are ever read, so what is kept is what they are made of.

use std::sync::Arc;

use groma_model::address::{AbsInstance, Provider};
use groma_model::path::Path;
use groma_model::schema::Schema;
use groma_model::value::Value;
use groma_rules::replace::case::{Case, Cause};
use groma_rules::replace::eval::{Care, RuleResult, judge, unmatched};
use groma_rules::replace::rule::{Order, ReplaceRule};
use serde_json::{Value as Json, json};

use super::Candidate;
use super::judging::{Considered, strength};
use super::told::layer_name;
use crate::change::Change;
use crate::replacement::Document;

/// What was decided, without what rules had to say.
pub(super) struct About {
    pub(super) order: Order,
    pub(super) status: &'static str,
    pub(super) decided_by: Arc<Json>,
    pub(super) forced_by: Vec<String>,
    pub(super) demotes: Vec<String>,
    pub(super) warnings: Vec<String>,
    pub(super) without_rules: Order,
}

impl About {
    /// The document.
    pub(super) fn text(&self, rules: Vec<Json>) -> String {
        let document = json!({
            "order": self.order.name(),
            "status": self.status,
            "decided_by": *self.decided_by,
            "forced_by": self.forced_by,
            "demotes": self.demotes,
            "without_rules": self.without_rules.name(),
            "rules": rules,
            "warnings": self.warnings,
        });
        document.to_string()
    }
}

/// What all rules about an object say, in the order of the rules.
pub(super) fn rules(considered: &Considered, results: Vec<(RuleResult, &'static str)>, case: &Case<'_>) -> Vec<Json> {
    told(&considered.rules, &considered.unmatched, results, case)
}

fn told(
    rules: &[Arc<ReplaceRule>],
    without: &[u16],
    results: Vec<(RuleResult, &'static str)>,
    case: &Case<'_>,
) -> Vec<Json> {
    let layer = |rule: &ReplaceRule| layer_name(strength(rule.origin));
    let mut results = results.into_iter().peekable();
    let mut told = Vec::new();
    for (number, rule) in rules.iter().enumerate() {
        if without.iter().any(|other| usize::from(*other) == number) {
            told.push(unmatched(rule, case).to_json(layer(rule), "no_match"));
        } else if let Some((result, status)) = results.next_if(|(result, _)| Arc::ptr_eq(&result.rule, rule)) {
            told.push(result.to_json(layer(rule), status));
        }
    }
    told
}

/// What a document is made of when it is read.
pub(super) struct Recipe {
    about: About,
    rules: Arc<[Arc<ReplaceRule>]>,
    unmatched: Vec<u16>,
    /// What became of the others, and whether it is said on what grounds.
    others: Vec<(Arc<ReplaceRule>, &'static str, Care)>,
    object: Object,
}

/// An object as rules see it, but for its neighbours.
struct Object {
    address: AbsInstance,
    provider: Provider,
    provider_version: Option<String>,
    workspace: Arc<str>,
    schema: Arc<Schema>,
    old: Value,
    new: Value,
    candidate: Arc<Candidate>,
    replace_paths: Vec<Path>,
    cause: Cause,
}

impl Recipe {
    /// Of an object about which everything can be found out again.
    pub(super) fn new(
        about: About,
        (change, case, candidate): (&Change, &Case<'_>, &Arc<Candidate>),
        considered: &Considered,
        statuses: &[&'static str],
        workspace: &Arc<str>,
    ) -> Self {
        let others = considered.judged.iter().zip(statuses).map(|(judged, status)| {
            let care = if judged.is_told_in_full() { Care::Full } else { Care::Verdict };
            (Arc::clone(&judged.result.rule), *status, care)
        });
        Self {
            about,
            rules: Arc::clone(&considered.rules),
            unmatched: considered.unmatched.clone(),
            others: others.collect(),
            object: Object {
                address: change.address.clone(),
                provider: case.provider.clone(),
                provider_version: case.provider_version.map(str::to_owned),
                workspace: Arc::clone(workspace),
                schema: Arc::clone(&change.schema),
                old: case.old.clone(),
                new: case.new.clone(),
                candidate: Arc::clone(candidate),
                replace_paths: case.replace_paths.to_vec(),
                cause: case.cause,
            },
        }
    }

    /// To be made when it is read.
    pub(super) fn later(self) -> Document {
        Document::later(move || self.text())
    }

    fn text(&self) -> String {
        let object = &self.object;
        let case = Case {
            address: &object.address,
            provider: &object.provider,
            provider_version: object.provider_version.as_deref(),
            workspace: &object.workspace,
            schema: &object.schema,
            old: &object.old,
            upd: &object.candidate.update,
            new: &object.new,
            config: &object.candidate.config,
            replace_paths: &object.replace_paths,
            cause: object.cause,
            legacy_type_system: object.candidate.legacy_type_system,
            neighbours: None,
        };
        let results = self.others.iter().map(|(rule, status, care)| (judge(rule, &case, *care), *status)).collect();
        self.about.text(told(&self.rules, &self.unmatched, results, &case))
    }
}
