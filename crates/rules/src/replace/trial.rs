//! Rules on trial: objects that somebody has written down, and what rules are expected to say about them. Here is what a case is and what
//! comes of it; `read` reads files of cases, `object` makes objects of what is written, `compare` finds what is not as expected.

mod compare;
mod object;
mod read;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use groma_model::address::{AbsInstance, Provider};
use groma_model::diag::Diagnostics;
use groma_model::path::Path;
use groma_model::schema::Schema;
use groma_model::span::Span;
use groma_model::text::Str;
use groma_model::value::Value;
use serde_json::{Value as Json, json};

use super::case::{Attached, Case, Cause, Neighbours};
use super::eval::{Care, RuleResult, Verdict, clean, judge};
use super::rule::{OnUnknown, Order, Origin, ReplaceRule};
use super::rules::ReplaceRules;
use crate::glob::Glob;

pub use compare::Difference;
pub use read::read;

/// An object that is to be replaced, and what rules are expected to say about it.
#[derive(Debug)]
pub struct Trial {
    /// In words.
    pub name: Str,
    /// Where it stands.
    pub place: Span,
    /// Which object. Of a type alone, some instance of it.
    pub address: AbsInstance,
    provider: Provider,
    provider_version: Option<String>,
    workspace: String,
    cause: Cause,
    legacy_type_system: bool,
    old: Written,
    new: Written,
    update: Option<Written>,
    replace_paths: Option<Vec<Path>>,
    around: Option<Around>,
    expected: Expected,
}

/// An object as it is written, and where.
#[derive(Debug, Clone)]
struct Written {
    value: Value,
    place: Span,
}

/// What is expected. At least one of both is there.
#[derive(Debug, Default)]
struct Expected {
    outcome: Option<Outcome>,
    rules: Vec<ExpectedOf>,
}

/// What is expected of one rule. None where it does not matter.
#[derive(Debug)]
struct ExpectedOf {
    id: Str,
    place: Span,
    result: Option<Verdict>,
    matched: Option<BTreeSet<Str>>,
    steps: Option<Vec<Str>>,
}

/// What has to do with the object.
#[derive(Debug, Default)]
struct Around {
    dependents: Vec<Attached>,
    references: Vec<Attached>,
    siblings: usize,
}

impl Neighbours for Around {
    fn dependents(&self, types: &[Glob], _: &[Str]) -> Vec<Attached> {
        of_types(&self.dependents, types)
    }

    fn references(&self, types: &[Glob], _: &[Str]) -> Vec<Attached> {
        of_types(&self.references, types)
    }

    fn siblings(&self) -> usize {
        self.siblings
    }
}

fn of_types(all: &[Attached], types: &[Glob]) -> Vec<Attached> {
    let is_of = |one: &&Attached| {
        let address = one.address.parse::<AbsInstance>();
        address.is_ok_and(|address| types.iter().any(|ty| ty.matches(&address.instance.resource.ty)))
    };
    all.iter().filter(is_of).cloned().collect()
}

/// What all rules together want for an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// This order.
    Wanted(Order),
    /// Those of one layer want both.
    NoSafeOrder,
    /// That is not known before the apply.
    Unknown,
    /// Nothing.
    Nothing,
}

impl Outcome {
    const ALL: [Outcome; 5] = [
        Outcome::Wanted(Order::DeleteFirst),
        Outcome::Wanted(Order::CreateFirst),
        Outcome::NoSafeOrder,
        Outcome::Unknown,
        Outcome::Nothing,
    ];

    /// As it is written in cases, and as machines are told.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Wanted(order) => order.name(),
            Outcome::NoSafeOrder => "no_safe_order",
            Outcome::Unknown => "unknown",
            Outcome::Nothing => "none",
        }
    }
}

/// What came of a case.
#[derive(Debug)]
pub struct Tried {
    /// The case.
    pub name: Str,
    /// Where it stands.
    pub place: Span,
    /// The object.
    pub address: AbsInstance,
    /// What all rules together want.
    pub outcome: Outcome,
    /// What each rule says that is about the object, if it matters to this replacement or if something was expected of it.
    pub results: Vec<RuleResult>,
    /// What is not as expected.
    pub differences: Vec<Difference>,
}

impl Tried {
    /// Whether everything is as expected.
    pub fn passed(&self) -> bool {
        self.differences.is_empty()
    }

    /// For machines. Where it stands is known elsewhere.
    pub fn to_json(&self) -> Json {
        let layer = |rule: &ReplaceRule| match rule.origin {
            Origin::Root => "root_rule",
            Origin::Module => "module_rule",
            Origin::Catalogue => "catalogue",
        };
        let result = |result: &RuleResult| {
            let mut json = result.to_json(layer(&result.rule), "");
            // What becomes of a rule is not decided here.
            if let Some(json) = json.as_object_mut() {
                json.remove("status");
            }
            json
        };
        json!({
            "name": clean(&self.name),
            "address": self.address.to_string(),
            "passed": self.passed(),
            "order": self.outcome.name(),
            "rules": self.results.iter().map(result).collect::<Vec<_>>(),
            "differences": self.differences.iter().map(Difference::to_json).collect::<Vec<_>>(),
        })
    }
}

impl Trial {
    /// Asks the rules, and compares. With a schema, objects are what it says, and what it calls sensitive is.
    pub fn run(&self, rules: &ReplaceRules, schema: Option<&Schema>) -> Result<Tried, Diagnostics> {
        let views = self.views(schema)?;
        let unknown = Schema::default();
        let case = Case {
            address: &self.address,
            provider: &self.provider,
            provider_version: self.provider_version.as_deref(),
            workspace: &self.workspace,
            schema: schema.unwrap_or(&unknown),
            old: &views.old,
            upd: &views.update,
            new: &views.new,
            config: &views.config,
            replace_paths: &views.replace_paths,
            cause: self.cause,
            legacy_type_system: self.legacy_type_system,
            neighbours: self.around.as_ref().map(|around| around as &dyn Neighbours),
        };
        let disabled = |rule: &ReplaceRule| rules.settings.disable_rules.iter().any(|glob| glob.matches(&rule.id));
        let about = rules.about(&self.address, &self.provider).filter(|rule| !disabled(rule));
        let mut results: Vec<RuleResult> = about.map(|rule| judge(rule, &case, Care::Full)).collect();
        let outcome = outcome(&results, rules.settings.on_unknown);
        let differences = self.expected.differences(outcome, &results, self, rules);
        let is_expected = |rule: &Arc<ReplaceRule>| self.expected.rules.iter().any(|wanted| wanted.id == rule.id);
        results.retain(|result| result.verdict != Verdict::NotApplicable || is_expected(&result.rule));
        let (name, address) = (self.name.clone(), self.address.clone());
        Ok(Tried { name, place: self.place, address, outcome, results, differences })
    }
}

/// What is wanted by those who count most and want anything.
fn outcome(results: &[RuleResult], on_unknown: OnUnknown) -> Outcome {
    let matches = |result: &&RuleResult| match result.verdict {
        Verdict::True => true,
        Verdict::Unknown => result.rule.on_unknown.unwrap_or(on_unknown) == OnUnknown::Match,
        Verdict::False | Verdict::Error | Verdict::NotApplicable => false,
    };
    // Callers before those that they call, then the catalogue.
    let rank = |result: &RuleResult| match result.rule.origin {
        Origin::Catalogue => usize::MAX,
        Origin::Root | Origin::Module => result.rule.module.names().len(),
    };
    let first = results.iter().filter(matches).map(rank).min();
    let wanted: BTreeSet<Order> =
        results.iter().filter(matches).filter(|one| Some(rank(one)) == first).map(|one| one.rule.order).collect();
    let open = |result: &RuleResult| {
        result.verdict == Verdict::Unknown && result.rule.on_unknown.unwrap_or(on_unknown) != OnUnknown::NoMatch
    };
    match wanted.into_iter().collect::<Vec<_>>().as_slice() {
        // What is open may contradict what is known, if it counts as much.
        [order] if !results.iter().any(|one| open(one) && !matches(&one) && Some(rank(one)) <= first) => {
            Outcome::Wanted(*order)
        }
        [_, _] => Outcome::NoSafeOrder,
        [] if !results.iter().any(open) => Outcome::Nothing,
        _ => Outcome::Unknown,
    }
}
