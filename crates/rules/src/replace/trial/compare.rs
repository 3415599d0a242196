//! What is not as expected. Only what rules say they have seen is shown, which has no secrets in it.

use std::collections::BTreeSet;

use groma_model::span::Span;
use groma_model::text::{Str, suggestion};
use serde_json::{Value as Json, json};

use super::{Expected, ExpectedOf, Outcome, Trial};
use crate::replace::eval::{RuleResult, Tree, clean};
use crate::replace::rules::ReplaceRules;

/// Something that is not as expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Which rule it is about. None if all of them.
    pub rule: Option<Str>,
    /// `order`, `result`, `matched`, `steps` or `rule`.
    pub what: &'static str,
    /// What is expected, one line each.
    pub expected: Vec<String>,
    /// What was found, one line each.
    pub found: Vec<String>,
    /// Where that is expected.
    pub place: Span,
}

impl Difference {
    /// For machines.
    pub fn to_json(&self) -> Json {
        json!({
            "rule": self.rule.as_ref().map(|id| clean(id)),
            "what": self.what,
            "expected": self.expected,
            "found": self.found,
        })
    }
}

impl Expected {
    pub(super) fn differences(
        &self,
        outcome: Outcome,
        results: &[RuleResult],
        trial: &Trial,
        rules: &ReplaceRules,
    ) -> Vec<Difference> {
        let mut found = Vec::new();
        if let Some(wanted) = self.outcome.filter(|wanted| *wanted != outcome) {
            found.push(Difference {
                rule: None,
                what: "order",
                expected: vec![wanted.name().to_owned()],
                found: vec![outcome.name().to_owned()],
                place: trial.place,
            });
        }
        for wanted in &self.rules {
            match results.iter().find(|result| result.rule.id == wanted.id) {
                Some(result) => found.extend(wanted.differences(result)),
                None => found.push(wanted.missing(trial, rules)),
            }
        }
        found
    }
}

impl ExpectedOf {
    fn differences(&self, result: &RuleResult) -> Vec<Difference> {
        let mut found = Vec::new();
        let mut compare = |what: &'static str, expected: Vec<String>, there: Vec<String>| {
            if expected != there {
                found.push(Difference { rule: Some(self.id.clone()), what, expected, found: there, place: self.place });
            }
        };
        if let Some(wanted) = self.result {
            // Why there is no result is worth more than that there is none.
            let why = result.diagnostics.iter().map(|problem| format!("{}: {}", problem.summary, problem.detail));
            let mut there = vec![result.verdict.name().to_owned()];
            if wanted != result.verdict {
                there.extend(why.map(|text| clean(&text)));
            }
            compare("result", vec![wanted.name().to_owned()], there);
        }
        if let Some(wanted) = &self.matched {
            let names = |names: BTreeSet<&Str>| names.into_iter().map(|name| clean(name)).collect();
            compare("matched", names(wanted.iter().collect()), names(result.matched.iter().collect()));
        }
        if let Some(wanted) = &self.steps {
            let wanted = wanted.iter().map(ToString::to_string).collect();
            compare("steps", wanted, result.tree.as_ref().map(Tree::all_steps).unwrap_or_default());
        }
        found
    }

    /// There is no such rule, or it is not about the object.
    fn missing(&self, trial: &Trial, rules: &ReplaceRules) -> Difference {
        let own = rules.rules().iter().map(|rule| rule.id.as_str());
        let entries = rules.catalogue.map(|_| crate::replace::catalogue::Catalogue::shared().entries());
        let catalogue = entries.into_iter().flatten().map(|entry| entry.rule.id.as_str());
        let known: Vec<&str> = own.chain(catalogue).collect();
        let why = if known.contains(&self.id.as_str()) {
            format!("it is not about {}, or it is disabled", trial.address)
        } else {
            let meant =
                suggestion(&self.id, known).map_or(String::new(), |meant| format!(" (did you mean {meant:?}?)"));
            format!("there is no such rule{meant}")
        };
        let expected = vec![format!("a rule named {:?}", clean(&self.id))];
        Difference { rule: Some(self.id.clone()), what: "rule", expected, found: vec![why], place: self.place }
    }
}
