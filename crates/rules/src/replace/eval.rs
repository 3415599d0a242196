//! What a rule says about one object that is to be replaced: whether it is about it at all, whether its condition holds, and what that
//! follows from. Which order comes of it is not decided here.

mod gate;
mod panel;
#[cfg(test)]
mod random;
#[cfg(test)]
pub(crate) mod tests;
mod tree;

use std::sync::Arc;

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::text::Str;
use serde_json::{Value as Json, json};

use super::case::Case;
use super::path::FieldPath;
use super::rule::{Behavior, Logic, Named, Question, ReplaceRule};
use super::secrecy::{refusals, sensitive_reads};
use super::truth::Truth;

pub use gate::reaches;
pub use panel::Panel;
pub use tree::Tree;

pub use super::step::clean;

/// How much is found out about a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Care {
    /// The verdict, and nothing else: as little as possible is asked.
    Verdict,
    /// The same, and what it follows from.
    Quick,
    /// Everything is asked, for somebody who wants to know.
    Full,
}

/// What a rule says about an object.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Verdict {
    /// It is not about this object, or not about this replacement.
    #[default]
    NotApplicable,
    /// Its condition holds.
    True,
    /// It does not.
    False,
    /// That is not known before the apply.
    Unknown,
    /// That cannot be found out.
    Error,
}

impl Verdict {
    fn of(answer: Answer) -> Self {
        match answer {
            Answer::Truth(Truth::True) => Verdict::True,
            Answer::Truth(Truth::False) => Verdict::False,
            Answer::Truth(Truth::Unknown) | Answer::Skipped => Verdict::Unknown,
            Answer::Error => Verdict::Error,
        }
    }

    /// As machines are told.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::NotApplicable => "not_applicable",
            Verdict::True => "true",
            Verdict::False => "false",
            Verdict::Unknown => "unknown",
            Verdict::Error => "error",
        }
    }
}

/// What came of one part of a condition.
///
/// An error is an unknown with a reason: where an unknown would not matter, it does not either. So what is found out with little care is
/// what is found out with much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// It holds, it does not, or that is not known.
    Truth(Truth),
    /// It cannot be asked.
    Error,
    /// It was not asked, as it could not change the result.
    Skipped,
}

impl Answer {
    /// As machines are told.
    pub fn name(self) -> &'static str {
        match self {
            Answer::Truth(truth) => truth.name(),
            Answer::Error => "error",
            Answer::Skipped => "skipped",
        }
    }

    fn negated(self) -> Answer {
        match self {
            Answer::Truth(truth) => Answer::Truth(truth.negated()),
            other => other,
        }
    }

    /// Together with another one, where `decisive` settles the matter.
    fn joined(self, other: Answer, decisive: Truth) -> Answer {
        let decided = Answer::Truth(decisive);
        match (self, other) {
            (Answer::Skipped, answer) | (answer, Answer::Skipped) => answer,
            (a, b) if a == decided || b == decided => decided,
            (Answer::Error, _) | (_, Answer::Error) => Answer::Error,
            (Answer::Truth(a), Answer::Truth(b)) if decisive == Truth::False => Answer::Truth(a.and(b)),
            (Answer::Truth(a), Answer::Truth(b)) => Answer::Truth(a.or(b)),
        }
    }
}

/// What a rule says about an object, in brief.
#[derive(Debug, Default)]
pub struct Brief {
    /// What it says.
    pub verdict: Verdict,
    field: Option<usize>,
    diagnostics: Diagnostics,
}

impl Brief {
    /// The same without what it follows from.
    pub fn of(self, rule: &Arc<ReplaceRule>) -> RuleResult {
        let Self { verdict, field, diagnostics } = self;
        RuleResult { field, diagnostics, ..RuleResult::new(rule, verdict) }
    }
}

/// What a rule says about an object, and why.
#[derive(Debug, Clone)]
pub struct RuleResult {
    /// The rule.
    pub rule: Arc<ReplaceRule>,
    /// What it says.
    pub verdict: Verdict,
    /// Which of its fields lets it matter here, by number. None if it has none, or if it does not matter.
    pub field: Option<usize>,
    /// What that follows from, if that was wanted and if the rule has a condition.
    pub tree: Option<Tree>,
    /// The names of predicates that hold, if a tree was wanted.
    pub matched: Vec<Str>,
    /// What went wrong, if the verdict is an error.
    pub diagnostics: Diagnostics,
}

impl RuleResult {
    fn new(rule: &Arc<ReplaceRule>, verdict: Verdict) -> Self {
        Self {
            rule: Arc::clone(rule),
            verdict,
            field: None,
            tree: None,
            matched: Vec::new(),
            diagnostics: Diagnostics::new(),
        }
    }

    /// The field that lets the rule matter here.
    pub fn field(&self) -> Option<&FieldPath> {
        self.field.and_then(|at| self.rule.fields.get(at))
    }

    /// What was asked, one line each, for people: `Network interfaces that cannot be shared: true (2 attached, 1 conflicts)`.
    pub fn conditions(&self) -> Vec<String> {
        self.tree.as_ref().map(Tree::conditions).unwrap_or_default()
    }

    /// For machines. Which layer the rule belongs to, and what became of it, is known elsewhere.
    pub fn to_json(&self, layer: &str, status: &str) -> Json {
        let rule = &self.rule;
        let behavior = match rule.behavior {
            Behavior::Warn => "warn",
            Behavior::Auto => "auto",
        };
        let texts = |texts: &[Str]| texts.iter().map(|text| clean(text)).collect::<Vec<_>>();
        let mut told = json!({
            "id": rule.id.as_str(),
            "layer": layer,
            "order": rule.order.name(),
            "behavior": behavior,
            "field": self.field().map(ToString::to_string),
            "result": self.verdict.name(),
            "status": status,
            "matched": self.matched.iter().map(Str::as_str).collect::<Vec<_>>(),
            "tree": self.tree.as_ref().map(Tree::to_json),
            "reasoning": texts(rule.reasoning.as_slice()),
            "suggestions": texts(&rule.suggestions),
            "learn_more": rule.learn_more(),
        });
        if self.verdict == Verdict::Error {
            // Details may say what was read.
            told["error"] = self.diagnostics.iter().next().map(|problem| problem.summary.as_str()).into();
        }
        told
    }
}

impl ReplaceRule {
    /// Whether its condition is about other objects, too.
    pub fn needs_neighbours(&self) -> bool {
        self.logic.as_ref().is_some_and(Logic::needs_neighbours)
    }

    /// Where people can read on: what is known here, then what the author of the rule says.
    pub fn where_to_learn_more(&self) -> Vec<String> {
        let own = self.learn_more.as_ref().map(|text| clean(text));
        std::iter::once(format!("groma explain rule {}", self.id)).chain(own).collect()
    }

    /// Where to read on, if there is one place only.
    pub fn learn_more(&self) -> String {
        self.learn_more.as_ref().map_or_else(|| format!("groma explain rule {}", self.id), |text| clean(text))
    }
}

impl Logic {
    fn needs_neighbours(&self) -> bool {
        match self {
            Logic::All(parts) | Logic::Any(parts) | Logic::NoneOf(parts) => parts.iter().any(Logic::needs_neighbours),
            Logic::Constant(_) => false,
            Logic::Named(named) => named.logic.needs_neighbours(),
            Logic::Ask(question) => question.predicate.needs_neighbours(),
        }
    }
}

/// What a rule says about an object whose condition is known not to hold, without asking again.
pub fn unmatched(rule: &Arc<ReplaceRule>, case: &Case<'_>) -> RuleResult {
    let field = match gate::passes(rule, case) {
        gate::Gate::Closed => None,
        gate::Gate::Open(field) => field,
    };
    RuleResult { field, ..RuleResult::new(rule, Verdict::False) }
}

/// What a rule that is [about](super::ReplaceRules::about) an object says, and nothing else.
pub fn brief(rule: &ReplaceRule, case: &Case<'_>) -> Brief {
    let field = match gate::matters(rule, case) {
        gate::Gate::Closed => return Brief::default(),
        gate::Gate::Open(field) => field,
    };
    let Some(logic) = &rule.logic else { return Brief { verdict: Verdict::True, field, ..Brief::default() } };
    let mut asker = Asker::new(case, Care::Verdict);
    let (answer, _) = asker.ask(logic);
    let verdict = Verdict::of(answer);
    let diagnostics = if verdict == Verdict::Error { asker.diagnostics } else { Diagnostics::new() };
    Brief { verdict, field, diagnostics }
}

/// What a rule says about an object.
pub fn judge(rule: &Arc<ReplaceRule>, case: &Case<'_>, care: Care) -> RuleResult {
    let mut result = RuleResult::new(rule, Verdict::NotApplicable);
    match gate::passes(rule, case) {
        gate::Gate::Closed => return result,
        gate::Gate::Open(field) => result.field = field,
    }
    let Some(logic) = &rule.logic else {
        result.verdict = Verdict::True;
        return result;
    };
    let mut asker = Asker::new(case, care);
    let (answer, tree) = asker.ask(logic);
    result.verdict = Verdict::of(answer);
    if result.verdict == Verdict::Error {
        result.diagnostics = asker.diagnostics;
    }
    if let Some(tree) = &tree {
        result.matched = tree.matched();
    }
    result.tree = tree;
    result
}

/// What is known of parts of a condition, by where they are. Conditions have few parts, so looking through all of them is quickest; most
/// have one, which needs no memory of its own.
struct Known<T> {
    first: Option<(usize, T)>,
    others: Vec<(usize, T)>,
}

impl<T> Default for Known<T> {
    fn default() -> Self {
        Self { first: None, others: Vec::new() }
    }
}

impl<T: Copy> Known<T> {
    fn get(&self, place: usize) -> Option<T> {
        self.first.iter().chain(&self.others).find(|(known, _)| *known == place).map(|(_, what)| *what)
    }

    fn insert(&mut self, place: usize, what: T) {
        match self.first {
            None => self.first = Some((place, what)),
            Some(_) => self.others.push((place, what)),
        }
    }
}

/// Asks what a condition is made of. What has a name may stand in it many times and is asked once.
struct Asker<'a> {
    case: &'a Case<'a>,
    care: Care,
    answers: Known<Answer>,
    needs: Known<bool>,
    diagnostics: Diagnostics,
}

impl<'a> Asker<'a> {
    fn new(case: &'a Case<'a>, care: Care) -> Self {
        Self { case, care, answers: Known::default(), needs: Known::default(), diagnostics: Diagnostics::new() }
    }

    fn ask(&mut self, logic: &Logic) -> (Answer, Option<Tree>) {
        match logic {
            Logic::All(parts) => self.join(parts, "AND", Truth::False),
            Logic::Any(parts) => self.join(parts, "OR", Truth::True),
            Logic::NoneOf(parts) => {
                let (answer, mut tree) = self.join(parts, "NOT", Truth::True);
                if let Some(tree) = &mut tree {
                    tree.result = answer.negated();
                }
                (answer.negated(), tree)
            }
            Logic::Constant(truth) => {
                let answer = Answer::Truth(Truth::from(*truth));
                (answer, self.shown(|| Tree::of_op(if *truth { "TRUE" } else { "FALSE" }, answer, Vec::new())))
            }
            Logic::Named(named) => self.named(named),
            Logic::Ask(question) => self.question(question),
        }
    }

    fn shown(&self, make: impl FnOnce() -> Tree) -> Option<Tree> {
        (self.care != Care::Verdict).then(make)
    }

    /// All parts together, those that need to know about other objects last. Without need, nothing is asked once the matter is settled.
    fn join(&mut self, parts: &[Logic], op: &'static str, decisive: Truth) -> (Answer, Option<Tree>) {
        let mut answer = Answer::Truth(decisive.negated());
        let mut children: Vec<Option<Tree>> = Vec::new();
        if self.care != Care::Verdict {
            children.resize_with(parts.len(), || None);
        }
        for costly in [false, true] {
            for (at, part) in parts.iter().enumerate() {
                if (parts.len() > 1 && self.is_costly(part) != costly) || (parts.len() == 1 && costly) {
                    continue;
                }
                let settled = answer == Answer::Truth(decisive) && self.care != Care::Full;
                let (found, tree) =
                    if settled { (Answer::Skipped, self.shown(|| Tree::skipped(part))) } else { self.ask(part) };
                answer = answer.joined(found, decisive);
                if let Some(place) = children.get_mut(at) {
                    *place = tree;
                }
            }
        }
        (answer, self.shown(|| Tree::of_op(op, answer, children.into_iter().flatten().collect())))
    }

    /// Whether it needs to know about other objects.
    fn is_costly(&mut self, logic: &Logic) -> bool {
        match logic {
            Logic::All(parts) | Logic::Any(parts) | Logic::NoneOf(parts) => {
                parts.iter().any(|part| self.is_costly(part))
            }
            Logic::Constant(_) => false,
            Logic::Named(named) => {
                let place = Arc::as_ptr(named) as usize;
                if let Some(known) = self.needs.get(place) {
                    return known;
                }
                let needs = self.is_costly(&named.logic);
                self.needs.insert(place, needs);
                needs
            }
            Logic::Ask(question) => question.predicate.needs_neighbours(),
        }
    }

    fn named(&mut self, named: &Arc<Named>) -> (Answer, Option<Tree>) {
        let place = Arc::as_ptr(named) as usize;
        if let Some(answer) = self.answers.get(place) {
            return (answer, self.shown(|| Tree::again(named, answer)));
        }
        let (answer, tree) = self.ask(&named.logic);
        self.answers.insert(place, answer);
        (answer, tree.map(|tree| Tree::of_named(named, tree)))
    }

    fn question(&mut self, question: &Arc<Question>) -> (Answer, Option<Tree>) {
        let place = Arc::as_ptr(question) as usize;
        if self.care == Care::Verdict
            && let Some(answer) = self.answers.get(place)
        {
            return (answer, None);
        }
        let predicate = question.predicate.as_ref();
        let guarded = predicate.is_oracle() && !question.allow_sensitive;
        let secret = if guarded { sensitive_reads(predicate, self.case) } else { Vec::new() };
        let found = if secret.is_empty() {
            predicate.ask(self.case, self.care != Care::Verdict)
        } else {
            Err(refusals(&secret, predicate.kind(), self.case))
        };
        let (answer, steps) = match found {
            Ok(found) => (Answer::Truth(found.truth), found.steps),
            Err(problems) => {
                self.report(question, problems);
                (Answer::Error, Vec::new())
            }
        };
        self.answers.insert(place, answer);
        (answer, self.shown(|| Tree::of_question(question, answer, steps)))
    }

    fn report(&mut self, question: &Question, problems: Diagnostics) {
        for problem in problems {
            let problem = match question.place {
                Some(place) => problem.or_at(place),
                None => problem,
            };
            let problem = Diagnostic { address: Some(self.case.address.to_string()), ..problem };
            if !self.diagnostics.iter().any(|known| *known == problem) {
                self.diagnostics.push(problem);
            }
        }
    }
}
