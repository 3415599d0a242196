//! The document about the order of one object, for machines. Few are ever read, so what is kept is what they are made of.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use groma_model::address::{AbsInstance, Provider};
use groma_model::path::Path;
use groma_model::schema::Schema;
use groma_model::text::Str;
use groma_model::value::Value;
use groma_rules::Glob;
use groma_rules::replace::case::{Attached, Case, Cause, Neighbours};
use groma_rules::replace::eval::{Care, RuleResult, Verdict, judge, unmatched};
use groma_rules::replace::rule::{Order, ReplaceRule};
use serde_json::{Value as Json, json};

use super::Candidate;
use super::judging::{Considered, Judged, cause, strength};
use super::told::{Status, layer_name};
use crate::change::Change;
use crate::replacement::Document;

/// What was decided, and by whom.
pub(super) struct Outcome {
    pub(super) order: Order,
    pub(super) status: Status,
    pub(super) decided_by: Arc<Json>,
    pub(super) without_rules: Order,
}

impl Outcome {
    fn is_same(&self, other: &Outcome) -> bool {
        self.order == other.order
            && self.status == other.status
            && Arc::ptr_eq(&self.decided_by, &other.decided_by)
            && self.without_rules == other.without_rules
    }
}

/// What it has to do with other objects, and what people are told. Hardly any object has any of these.
pub(super) struct Bearings {
    pub(super) forced_by: Vec<String>,
    pub(super) demotes: Vec<String>,
    pub(super) warnings: Vec<String>,
}

impl Bearings {
    fn is_empty(&self) -> bool {
        [&self.forced_by, &self.demotes, &self.warnings].into_iter().all(Vec::is_empty)
    }
}

/// The document.
pub(super) fn text(outcome: &Outcome, bearings: Option<&Bearings>, rules: Vec<Json>) -> String {
    let list = |of: fn(&Bearings) -> &Vec<String>| bearings.map(of).map(Vec::as_slice).unwrap_or_default();
    let document = json!({
        "order": outcome.order.name(),
        "status": outcome.status.name(),
        "decided_by": *outcome.decided_by,
        "forced_by": list(|bearings| &bearings.forced_by),
        "demotes": list(|bearings| &bearings.demotes),
        "without_rules": outcome.without_rules.name(),
        "rules": rules,
        "warnings": list(|bearings| &bearings.warnings),
    });
    document.to_string()
}

/// What all rules about an object say, in the order of the rules.
pub(super) fn rules(considered: &Considered, results: Vec<(RuleResult, Status)>, case: &Case<'_>) -> Vec<Json> {
    told((&considered.rules, &considered.unmatched, considered.siblings), results, case)
}

/// What is still known about other objects when a document is written.
struct Remembered {
    siblings: usize,
    /// Whether somebody wants to know more than that.
    is_not_enough: Cell<bool>,
}

impl Remembered {
    fn nobody(&self) -> Vec<Attached> {
        self.is_not_enough.set(true);
        Vec::new()
    }
}

impl Neighbours for Remembered {
    fn dependents(&self, _: &[Glob], _: &[Str]) -> Vec<Attached> {
        self.nobody()
    }

    fn references(&self, _: &[Glob], _: &[Str]) -> Vec<Attached> {
        self.nobody()
    }

    fn siblings(&self) -> usize {
        self.siblings
    }
}

/// Why a rule does not match. Who holds what is not known any more, so a condition about that is told as far as its result depends on it.
fn unmatched_in_full(rule: &Arc<ReplaceRule>, siblings: Option<usize>, case: &Case<'_>) -> RuleResult {
    if !rule.needs_neighbours() {
        return judge(rule, case, Care::Full);
    }
    let remembered = siblings.map(|siblings| Remembered { siblings, is_not_enough: Cell::new(false) });
    let case = Case { neighbours: remembered.as_ref().map(|remembered| remembered as &dyn Neighbours), ..*case };
    let result = judge(rule, &case, Care::Quick);
    let is_sure =
        result.verdict == Verdict::False && !remembered.as_ref().is_some_and(|known| known.is_not_enough.get());
    if is_sure { result } else { unmatched(rule, &case) }
}

fn told(
    (rules, without, siblings): (&[Arc<ReplaceRule>], &[u16], Option<usize>),
    results: Vec<(RuleResult, Status)>,
    case: &Case<'_>,
) -> Vec<Json> {
    let layer = |rule: &ReplaceRule| layer_name(strength(rule.origin));
    let mut results = results.into_iter().peekable();
    let mut told = Vec::new();
    for (number, rule) in rules.iter().enumerate() {
        if without.iter().any(|other| usize::from(*other) == number) {
            told.push(unmatched_in_full(rule, siblings, case).to_json(layer(rule), Status::NoMatch.name()));
        } else if let Some((result, status)) = results.next_if(|(result, _)| Arc::ptr_eq(&result.rule, rule)) {
            told.push(result.to_json(layer(rule), status.name()));
        }
    }
    told
}

/// What was found out about an object.
pub(super) struct Found<'f> {
    pub(super) change: &'f Change,
    pub(super) candidate: &'f Arc<Candidate>,
    pub(super) provider_version: Option<&'f str>,
    pub(super) considered: &'f Considered,
    /// What became of the rules that were heard.
    pub(super) statuses: &'f [Status],
}

/// Makes recipes, one after the other.
pub(super) struct Recipes {
    workspace: Arc<str>,
    /// What the last one has.
    last: RefCell<Option<Arc<Base>>>,
}

impl Recipes {
    pub(super) fn new(workspace: &str) -> Self {
        Self { workspace: workspace.into(), last: RefCell::default() }
    }

    /// Of an object about which everything can be found out again.
    pub(super) fn recipe(&self, (outcome, bearings): (Outcome, Bearings), found: &Found<'_>) -> Recipe {
        let mut last = self.last.borrow_mut();
        let known = last.take().filter(|base| base.is_of(&outcome, found));
        let base = last.insert(known.unwrap_or_else(|| Arc::new(Base::new(outcome, found, &self.workspace))));
        Recipe {
            base: Arc::clone(base),
            bearings: (!bearings.is_empty()).then(|| Box::new(bearings)),
            address: found.change.address.clone(),
            old: found.change.before.clone(),
            new: found.change.after.clone(),
            candidate: Arc::clone(found.candidate),
        }
    }
}

/// What is the same for many objects, such as the instances of a resource.
struct Base {
    outcome: Outcome,
    rules: Arc<[Arc<ReplaceRule>]>,
    unmatched: Vec<u16>,
    siblings: Option<usize>,
    /// What became of the others, and whether it is said on what grounds.
    others: Vec<(Arc<ReplaceRule>, Status, Care)>,
    provider: Provider,
    provider_version: Option<String>,
    workspace: Arc<str>,
    schema: Arc<Schema>,
    replace_paths: Vec<Path>,
    cause: Cause,
}

impl Base {
    fn new(outcome: Outcome, found: &Found<'_>, workspace: &Arc<str>) -> Self {
        let Found { change, considered, .. } = found;
        let others = considered.judged.iter().zip(found.statuses);
        let others = others.map(|(judged, status)| (Arc::clone(&judged.result.rule), *status, care(judged)));
        Self {
            outcome,
            rules: Arc::clone(&considered.rules),
            unmatched: considered.unmatched.clone(),
            siblings: considered.siblings,
            others: others.collect(),
            provider: change.provider.config.provider.clone(),
            provider_version: found.provider_version.map(str::to_owned),
            workspace: Arc::clone(workspace),
            schema: Arc::clone(&change.schema),
            replace_paths: change.replace_paths.clone(),
            cause: cause(change),
        }
    }

    /// Whether the recipe of that object has the same. The version follows from the provider.
    fn is_of(&self, outcome: &Outcome, found: &Found<'_>) -> bool {
        let Found { change, considered, statuses, .. } = found;
        let mut judged = considered.judged.iter().zip(*statuses);
        let has = |(rule, status, grounds): &(Arc<ReplaceRule>, Status, Care)| {
            judged.next().is_some_and(|(judged, other)| {
                Arc::ptr_eq(rule, &judged.result.rule) && status == other && *grounds == care(judged)
            })
        };
        self.outcome.is_same(outcome)
            && Arc::ptr_eq(&self.rules, &considered.rules)
            && Arc::ptr_eq(&self.schema, &change.schema)
            && self.unmatched == considered.unmatched
            && self.siblings == considered.siblings
            && self.others.len() == statuses.len()
            && self.others.iter().all(has)
            && self.cause == cause(change)
            && self.provider == change.provider.config.provider
            && self.replace_paths == change.replace_paths
    }
}

/// How much is told about a rule.
fn care(judged: &Judged) -> Care {
    if judged.is_told_in_full() { Care::Full } else { Care::Verdict }
}

/// What a document is made of when it is read.
pub(super) struct Recipe {
    base: Arc<Base>,
    bearings: Option<Box<Bearings>>,
    address: AbsInstance,
    old: Value,
    new: Value,
    candidate: Arc<Candidate>,
}

impl Recipe {
    /// To be made when it is read.
    pub(super) fn later(self) -> Document {
        Document::later(move || self.text())
    }

    fn text(&self) -> String {
        let base = &self.base;
        let views = self.candidate.views(&self.new);
        let case = Case {
            address: &self.address,
            provider: &base.provider,
            provider_version: base.provider_version.as_deref(),
            workspace: &base.workspace,
            schema: &base.schema,
            old: &self.old,
            upd: &views.update,
            new: &self.new,
            config: &views.config,
            replace_paths: &base.replace_paths,
            cause: base.cause,
            legacy_type_system: views.legacy_type_system,
            neighbours: None,
        };
        let results = base.others.iter().map(|(rule, status, care)| (judge(rule, &case, *care), *status)).collect();
        let rules = told((&base.rules, &base.unmatched, base.siblings), results, &case);
        text(&base.outcome, self.bearings.as_deref(), rules)
    }
}
