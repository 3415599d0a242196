//! What rules say about the objects that are replaced, and whose word counts.

use std::collections::BTreeSet;
use std::sync::Arc;

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::SourceMap;
use groma_rules::replace::case::{Case, Cause, Neighbours};
use groma_rules::replace::eval::{Brief, Care, Panel, RuleResult, Verdict, judge};
use groma_rules::replace::order::Strength;
use groma_rules::replace::rule::{Behavior, Mode, OnUnknown, Order, Origin, ReplaceRule};

use super::kept::Views;
use super::neighbours::Surroundings;
use super::web::is_same_resource;
use super::{Candidate, Wisher, Wishes, log, told};
use crate::change::{Action, Change, Reason};
use crate::plan::driver::Driver;

/// What a rule says about an object, and what that is worth.
pub(super) struct Judged {
    pub(super) result: RuleResult,
    pub(super) word: Word,
    pub(super) on_unknown: OnUnknown,
    /// Whether the plan fails if it cannot be evaluated.
    pub(super) must_work: bool,
}

/// What the word of a rule is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    /// It is obeyed, unless somebody with more to say wants something else.
    Counts,
    /// The user is told.
    Told,
    /// It contradicts another one that counts as much, which is told of both.
    Contradicted,
    /// It has nothing to say here.
    Silent,
    /// The user does not want to hear it.
    Disabled,
}

impl Judged {
    /// Whether it is obeyed, as far as it is up to the rule.
    pub(super) fn counts(&self) -> bool {
        self.word == Word::Counts
    }

    /// Whether the user wants to hear it.
    pub(super) fn is_heard(&self) -> bool {
        self.word != Word::Disabled
    }

    /// Whether what its verdict follows from is told to whoever asks.
    pub(super) fn is_told_in_full(&self) -> bool {
        self.result.verdict != Verdict::NotApplicable && self.word != Word::Disabled
    }

    /// Whether it is obeyed and keeps a link from being lost.
    pub(super) fn saves_a_link(&self) -> bool {
        self.counts() && self.result.rule.is_about_links
    }

    /// Whether nobody can say if it matches, and that is told.
    fn may_match(&self) -> bool {
        self.result.verdict == Verdict::Unknown && self.on_unknown == OnUnknown::Warn && self.word == Word::Told
    }

    /// Whether it matches, whoever wants to hear that.
    pub(super) fn matches(&self) -> bool {
        match self.result.verdict {
            Verdict::True => true,
            Verdict::Unknown => self.on_unknown == OnUnknown::Match,
            Verdict::False | Verdict::Error | Verdict::NotApplicable => false,
        }
    }
}

/// How much the word of a rule counts.
pub(super) fn strength(origin: Origin) -> Strength {
    match origin {
        Origin::Catalogue => Strength::Catalogue,
        Origin::Module => Strength::ModuleRule,
        Origin::Root => Strength::RootRule,
    }
}

/// What the rules about an object say, those left out whose conditions do not hold: there may be many, and nobody asks about them as a rule.
pub(super) struct Considered {
    pub(super) judged: Vec<Judged>,
    /// All rules about the object. Many objects have the same.
    pub(super) rules: Arc<[Arc<ReplaceRule>]>,
    /// Which of them have a condition that does not hold here, in the order of the rules.
    pub(super) unmatched: Vec<u16>,
    /// How many instances the resource has, if one of these has asked.
    pub(super) siblings: Option<usize>,
}

impl Considered {
    fn note_unmatched(&mut self, number: usize) {
        if self.unmatched.is_empty() {
            self.unmatched.reserve_exact(self.rules.len());
        }
        self.unmatched.push(u16::try_from(number).unwrap_or(u16::MAX));
    }

    /// The rules whose conditions do not hold.
    pub(super) fn unmatched(&self) -> impl Iterator<Item = &ReplaceRule> {
        self.unmatched.iter().filter_map(|number| self.rules.get(usize::from(*number))).map(Arc::as_ref)
    }

    /// Whether what was found out about rules that match can be found out again, without anything but the object.
    pub(super) fn can_be_told_later(&self) -> bool {
        let depends_on_others = |judged: &Judged| judged.result.tree.is_some() || judged.result.rule.needs_neighbours();
        !self.judged.iter().any(depends_on_others)
    }
}

impl Driver<'_, '_> {
    /// An object as rules see it.
    pub(super) fn case_of<'c>(
        &'c self,
        change: &'c Change,
        views: &'c Views<'_>,
        neighbours: Option<&'c dyn Neighbours>,
    ) -> Case<'c> {
        Case {
            address: &change.address,
            provider: &change.provider.config.provider,
            provider_version: self.provider_version(change),
            workspace: self.request.settings.workspace,
            schema: &change.schema,
            old: &change.before,
            upd: &views.update,
            new: &change.after,
            config: &views.config,
            replace_paths: &change.replace_paths,
            cause: cause(change),
            legacy_type_system: views.legacy_type_system,
            neighbours,
        }
    }

    /// The version of the provider of an object, if it is known.
    pub(super) fn provider_version(&self, change: &Change) -> Option<&str> {
        self.request.provider_versions.get(&change.provider.config.provider).map(String::as_str)
    }

    /// What all rules say, by change. None where none has to do with it.
    pub(super) fn judge_all(
        &self,
        changes: &[Change],
        candidates: &[Option<Arc<Candidate>>],
    ) -> Vec<Option<Considered>> {
        let mut all = Vec::new();
        all.resize_with(changes.len(), || None);
        let options = &self.request.options.replacement;
        if options.mode == Mode::Off {
            return all;
        }
        let around = Surroundings::new(changes, [self.gathered.prior(), self.gathered.state()], self.walk.graph());
        let mut panel: Option<Panel> = None;
        let mut before: Option<&Change> = None;
        let told_apart = self.request.rules.replace.has_targets();
        let wants_steps = log::wants_steps();
        for (at, change) in changes.iter().enumerate().filter(|(_, change)| change.action.is_replace()) {
            let Some(candidate) = &candidates[at] else { continue };
            let near = around.of(change);
            let views = candidate.views(&change.after);
            let case = self.case_of(change, &views, Some(&near));
            let is_like = |other: &Change| is_same_resource(other, change) && other.provider == change.provider;
            let known = panel.take().filter(|panel| panel.is_for(&change.schema));
            let panel = panel.insert(match known {
                Some(panel) if !told_apart && before.is_some_and(is_like) => panel,
                known => self.panel(change, known),
            });
            before = Some(change);
            let rules = panel.rules();
            let mut considered =
                Considered { judged: Vec::new(), rules: Arc::clone(rules), unmatched: Vec::new(), siblings: None };
            if options.in_full {
                for (number, rule) in rules.iter().enumerate() {
                    let result = judge(rule, &case, Care::Full);
                    self.take_down((number, rule), result, (&case, change.action), &mut considered);
                }
            } else {
                let mut briefs = panel.briefs(&case, candidate.has_marks);
                for (number, rule) in rules.iter().enumerate() {
                    around.forget_questions();
                    let Some(brief) = briefs.next() else { break };
                    let asked_others = around.were_asked();
                    match brief.verdict {
                        Verdict::NotApplicable => {}
                        // Who holds what cannot be found out again when somebody reads it.
                        Verdict::False if asked_others && !self.is_disabled(rule) => {
                            let result = judge(rule, &case, Care::Full);
                            self.take_down((number, rule), result, (&case, change.action), &mut considered);
                        }
                        // That is what most rules say of most objects, so no more is made of it.
                        Verdict::False if !wants_steps && !self.is_disabled(rule) => considered.note_unmatched(number),
                        _ => self.hear((number, rule), brief, (&case, change.action), &mut considered),
                    }
                }
            }
            if contradict(&considered.judged) {
                // It is told at once on what grounds.
                for judged in considered.judged.iter_mut().filter(|judged| judged.is_told_in_full()) {
                    judged.result = judge(&judged.result.rule, &case, Care::Full);
                }
            }
            if !considered.unmatched.is_empty() {
                considered.siblings = near.known_siblings();
            }
            if !considered.judged.is_empty() || !considered.unmatched.is_empty() {
                all[at] = Some(considered);
            }
        }
        all
    }

    /// Those who are asked about an object, which are often the same as those who were asked last.
    fn panel(&self, change: &Change, last: Option<Panel>) -> Panel {
        let provider = &change.provider.config.provider;
        let rules: Vec<&Arc<ReplaceRule>> = self.request.rules.replace.about(&change.address, provider).collect();
        let is_same = |panel: &Panel| {
            let others = panel.rules();
            rules.len() == others.len() && rules.iter().zip(others.iter()).all(|(one, other)| Arc::ptr_eq(one, other))
        };
        match last {
            Some(panel) if is_same(&panel) => panel,
            _ => Panel::new(rules.into_iter().map(Arc::clone).collect(), &change.schema),
        }
    }

    /// Hears a rule that was asked for its verdict.
    fn hear(
        &self,
        (number, rule): (usize, &Arc<ReplaceRule>),
        brief: Brief,
        (case, action): (&Case<'_>, Action),
        considered: &mut Considered,
    ) {
        // What follows from the object alone is worked out when somebody reads it.
        let is_told = matches!(brief.verdict, Verdict::True | Verdict::Unknown | Verdict::Error);
        let result = if is_told && !self.is_disabled(rule) && rule.needs_neighbours() {
            judge(rule, case, Care::Full)
        } else {
            brief.of(rule)
        };
        self.take_down((number, rule), result, (case, action), considered);
    }

    /// Takes down what a rule says, if it is about this replacement.
    fn take_down(
        &self,
        (number, rule): (usize, &Arc<ReplaceRule>),
        result: RuleResult,
        (case, action): (&Case<'_>, Action),
        considered: &mut Considered,
    ) {
        log::steps(rule, case, &result);
        let nothing_more = result.verdict == Verdict::False && result.tree.is_none();
        match self.weighed(rule, result, action) {
            None => {}
            Some(judged) if nothing_more && judged.word == Word::Silent => considered.note_unmatched(number),
            Some(judged) => {
                // There is hardly ever more than one.
                if considered.judged.is_empty() {
                    considered.judged.reserve_exact(1);
                }
                considered.judged.push(judged);
            }
        }
    }

    fn is_disabled(&self, rule: &ReplaceRule) -> bool {
        self.request.rules.replace.settings.disable_rules.iter().any(|glob| glob.matches(&rule.id))
    }

    /// What the word of a rule is worth, if it has to do with this replacement.
    pub(super) fn weighed(&self, rule: &ReplaceRule, result: RuleResult, action: Action) -> Option<Judged> {
        let settings = &self.request.rules.replace.settings;
        let options = &self.request.options.replacement;
        let from_catalogue = rule.origin == Origin::Catalogue;
        let mut judged = Judged {
            word: Word::Silent,
            on_unknown: rule.on_unknown.unwrap_or(settings.on_unknown),
            must_work: !from_catalogue
                && rule.on_error.unwrap_or(settings.on_error) == groma_rules::replace::rule::OnError::Fail,
            result,
        };
        judged.word = match judged.result.verdict {
            Verdict::NotApplicable => return None,
            _ if self.is_disabled(rule) => Word::Disabled,
            // The old object is not deleted at all, so there is no order to choose.
            _ if judged.matches() && action == Action::ForgetThenCreate => Word::Told,
            _ if judged.matches() && options.mode == Mode::Auto && rule.behavior == Behavior::Auto => Word::Counts,
            Verdict::True | Verdict::Unknown | Verdict::Error => Word::Told,
            Verdict::False => Word::Silent,
        };
        Some(judged)
    }
}

/// Whether rules that match, or may, want different things.
fn contradict(judged: &[Judged]) -> bool {
    let may = judged.iter().filter(|judged| judged.matches() || judged.may_match());
    let mut orders = may.map(|judged| judged.result.rule.order);
    orders.next().is_some_and(|first| orders.any(|order| order != first))
}

pub(super) fn cause(change: &Change) -> Cause {
    match change.reason {
        Some(Reason::ReplaceBecauseTainted) => Cause::Tainted,
        Some(Reason::ReplaceByRequest) => Cause::Requested,
        Some(Reason::ReplaceByTriggers) => Cause::Triggered,
        _ => Cause::CannotUpdate,
    }
}

/// Rules of the catalogue that speak for both orders, and it is not known of all of them whether they hold: to recommend one of the orders
/// would be wrong. What is known of them is told instead.
fn perhaps_no_safe_order(
    change: &Change,
    judged: &mut [Judged],
    vetoed: bool,
    sources: &SourceMap,
) -> Option<Diagnostic> {
    let may_hold = |judged: &Judged| {
        judged.result.rule.origin == Origin::Catalogue
            && (judged.may_match() || judged.word == Word::Told && judged.matches())
    };
    let find = |order: Order| judged.iter().position(|one| one.result.rule.order == order && may_hold(one));
    let (creating, deleting) = (find(Order::CreateFirst)?, find(Order::DeleteFirst)?);
    let is_open = [creating, deleting].iter().any(|one| judged[*one].may_match());
    if vetoed || !is_open {
        return None;
    }
    let told = told::no_safe_order(change, &judged[creating].result, &judged[deleting].result, sources);
    judged[creating].word = Word::Contradicted;
    judged[deleting].word = Word::Contradicted;
    Some(told)
}

/// What the rules about one object wish for. Those of one layer that contradict each other wish for nothing; that is told.
pub(super) fn rules_wishes(
    (at, change): (usize, &Change),
    judged: &mut [Judged],
    vetoed: bool,
    wishes: &mut Wishes,
    sources: &SourceMap,
) -> Diagnostics {
    let mut found = Diagnostics::new();
    for origin in [Origin::Root, Origin::Module, Origin::Catalogue] {
        let mut own: Vec<usize> = (0..judged.len())
            .filter(|one| judged[*one].result.rule.origin == origin && judged[*one].matches())
            .filter(|one| matches!(judged[*one].word, Word::Counts | Word::Told))
            .collect();
        if origin == Origin::Catalogue && vetoed {
            let (creating, others): (Vec<usize>, Vec<usize>) =
                own.into_iter().partition(|one| judged[*one].result.rule.order == Order::CreateFirst);
            for one in creating {
                judged[one].word = Word::Silent;
            }
            own = others;
        }
        if origin == Origin::Catalogue {
            found.extend(perhaps_no_safe_order(change, judged, vetoed, sources));
        }
        // Of the modules between the root and the object, the outermost that has a word that counts has the last one.
        let depth = |one: &usize| judged[*one].result.rule.module.names().len();
        let depths: BTreeSet<usize> = own.iter().map(depth).collect();
        let layers: Vec<Vec<usize>> = depths
            .into_iter()
            .map(|outermost| own.iter().copied().filter(|one| depth(one) == outermost).collect())
            .collect();
        for layer in layers {
            let first = |order: Order, counts: bool| {
                let has = |one: &usize| judged[*one].result.rule.order == order && (!counts || judged[*one].counts());
                layer.iter().copied().find(has)
            };
            let both = |counts: bool| first(Order::CreateFirst, counts).zip(first(Order::DeleteFirst, counts));
            if let Some((creating, deleting)) = both(true).or_else(|| both(false)) {
                let rules = (&judged[creating].result, &judged[deleting].result);
                found.push(if both(true).is_some() && origin != Origin::Catalogue {
                    told::disagreement(change, rules.0, rules.1, sources)
                } else {
                    told::no_safe_order(change, rules.0, rules.1, sources)
                });
                for one in layer {
                    judged[one].word = Word::Contradicted;
                }
                continue;
            }
            if let Some(&one) = layer.iter().find(|one| judged[**one].counts()) {
                let order = judged[one].result.rule.order;
                wishes.push(at, order, strength(origin), Wisher::Rule(at, one));
                break;
            }
        }
    }
    found
}
