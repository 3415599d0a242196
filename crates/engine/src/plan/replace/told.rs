//! What is told about the order of replacements: to people as warnings that say why, to machines as documents.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use groma_model::address::{AbsInstance, AbsResource, ConfigResource};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::{SourceMap, Span};
use groma_rules::replace::eval::{Care, RuleResult, Verdict, clean, judge};
use groma_rules::replace::order::{Clash, Resolved, Strength};
use groma_rules::replace::problem::Code;
use groma_rules::replace::rule::{Behavior, Mode, OnUnknown, Order, Origin, ReplaceRule};
use serde_json::{Value as Json, json};

use super::document::{self, Bearings, Found, Outcome, Recipes};
use super::judging::{Considered, Judged, Word};
use super::web::ObjectWeb;
use super::{Candidate, Said, Wisher, log, order_of};
use crate::change::{Action, Change, Note};
use crate::plan::driver::Driver;
use crate::replacement::{Decision, Document, Replacement};

/// More instances of one resource than these are told together.
const MOST_APART: usize = 5;

/// What became of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Status {
    Applied,
    Recommended,
    Satisfied,
    Overridden,
    NoMatch,
    Unknown,
    Error,
    Disabled,
}

impl Status {
    /// As machines are told.
    pub(super) fn name(self) -> &'static str {
        match self {
            Status::Applied => "applied",
            Status::Recommended => "recommended",
            Status::Satisfied => "satisfied",
            Status::Overridden => "overridden",
            Status::NoMatch => "no_match",
            Status::Unknown => "unknown",
            Status::Error => "error",
            Status::Disabled => "disabled",
        }
    }
}

/// Everything that there is to tell.
pub(super) struct Telling<'t, 'a, 'r> {
    pub(super) driver: &'t Driver<'a, 'r>,
    pub(super) changes: &'t [Change],
    /// What rules may ask about each of them.
    pub(super) candidates: &'t [Option<Arc<Candidate>>],
    /// The orders as they were without rules.
    pub(super) before: &'t [Option<Order>],
    /// What the configuration says.
    pub(super) said: &'t [Said],
    /// None if nothing had to be resolved.
    pub(super) web: Option<&'t ObjectWeb>,
    pub(super) wishers: &'t [Wisher],
    pub(super) judged: &'t [Option<Considered>],
    pub(super) resolved: &'t Resolved,
    /// What the documents are made of.
    pub(super) recipes: Recipes,
    /// Who decided, for the documents, by the layer and the rule.
    pub(super) layers: RefCell<BTreeMap<(&'static str, usize), Arc<Json>>>,
    /// How rules are called, by where they are kept.
    pub(super) names: RefCell<BTreeMap<*const ReplaceRule, String>>,
    /// What notes say about objects that rules have decided about, by the order, the rule and what it overrides.
    pub(super) orders: RefCell<BTreeMap<Ordered, Arc<str>>>,
    pub(super) listening: log::Listening,
}

/// An order, the rule that wants it, and what it overrides.
type Ordered = (Order, *const ReplaceRule, &'static str);

/// A warning about one object, which may be told together with those about others.
struct Warning<'t> {
    /// What is the same for all that are told together: the resource, the rule, and what became of it.
    key: (AbsResource, usize, Status),
    at: usize,
    judged: &'t Judged,
}

impl Telling<'_, '_, '_> {
    pub(super) fn tell(&self) -> (Replacement, Diagnostics) {
        let mut found: Diagnostics = self.resolved.clashes.iter().map(|clash| self.clash(clash)).collect();
        let mut warnings = Vec::new();
        // In the order of their addresses, as changes are.
        let mut decisions: Vec<(AbsInstance, Decision)> = Vec::with_capacity(self.judged.iter().flatten().count());
        let mut demoted = self.demoted();
        for (at, change) in self.changes.iter().enumerate().filter(|(_, change)| change.action.is_replace()) {
            let considered = self.judged[at].as_ref();
            let results = considered.map(|found| found.judged.as_slice()).unwrap_or_default();
            if considered.is_none() && self.before[at] == order_of(change.action) && !self.is_asked_for(at) {
                continue;
            }
            let statuses: Vec<Status> = results.iter().map(|judged| self.status(at, judged)).collect();
            let mut warned: Vec<String> = Vec::new();
            for (judged, status) in results.iter().zip(&statuses) {
                self.log(at, &judged.result.rule, (judged.result.verdict, *status));
                found.extend(failures(change, judged, *status));
                if self.is_told(at, judged, *status) {
                    warned.push(summary(change, judged));
                    let key = (change.address.resource(), Arc::as_ptr(&judged.result.rule) as usize, *status);
                    warnings.push(Warning { key, at, judged });
                }
            }
            for rule in considered.iter().flat_map(|considered| considered.unmatched()) {
                self.log(at, rule, (Verdict::False, Status::NoMatch));
            }
            if let Some(order) = order_of(change.action) {
                let demotes = demoted.remove(&at).unwrap_or_default();
                let document = self.document(at, order, &statuses, (demotes, warned));
                decisions.push((change.address.clone(), Decision { order, document }));
            }
        }
        found.extend(self.collapsed(warnings));
        found.extend(self.silenced_provisioners());
        let decisions = decisions.into_iter().collect();
        (Replacement { rules: rules_document(self.driver).to_string(), decisions }, found)
    }

    /// What is created first is not told to its provisioners when it goes.
    fn silenced_provisioners(&self) -> Diagnostics {
        let flipped = self.changes.iter().enumerate().filter(|(at, change)| {
            self.before[*at] == Some(Order::DeleteFirst) && change.action == Action::CreateThenDelete
        });
        let silenced = flipped.filter(|(at, _)| self.said[*at].has_destroy_provisioners).map(|(at, change)| {
            let detail = format!(
                "{} {}. Its provisioners with when = destroy do not run then, as for everything that is created first.",
                change.address,
                self.as_planned(at)
            );
            Diagnostic::warning("Destroy-time provisioners will not run", detail).of(change.address.to_string())
        });
        silenced.collect()
    }

    /// Whether the user has named it.
    fn is_asked_for(&self, at: usize) -> bool {
        self.driver.request.options.replacement.orders.contains_key(&self.changes[at].address)
    }

    /// The wish that decided about an object.
    fn deciding(&self, at: usize) -> Option<Wisher> {
        let (_, wish) = self.resolved.decided.get(&self.web?.node_of(at))?;
        self.wishers.get(*wish).copied()
    }

    fn status(&self, at: usize, judged: &Judged) -> Status {
        let order = order_of(self.changes[at].action);
        let wanted = Some(judged.result.rule.order);
        match judged.result.verdict {
            _ if judged.word == Word::Disabled => Status::Disabled,
            Verdict::Error => Status::Error,
            Verdict::Unknown if matches!(judged.on_unknown, OnUnknown::Warn | OnUnknown::Error) => Status::Unknown,
            _ if !judged.matches() || judged.word == Word::Silent => Status::NoMatch,
            _ if order == wanted && self.before[at] != wanted && judged.word == Word::Counts => Status::Applied,
            _ if order == wanted => Status::Satisfied,
            _ if judged.word == Word::Counts => Status::Overridden,
            _ => Status::Recommended,
        }
    }

    /// Who decided about each object, if it was not the configuration by itself: `destroy, then create; rule "a", rules.groma.hcl:3`.
    pub(super) fn notes(&self) -> Vec<(usize, Arc<str>)> {
        let note = |at: usize| {
            let order = order_of(self.changes[at].action)?;
            let words = match order {
                Order::DeleteFirst => "destroy, then create",
                Order::CreateFirst => "create, then destroy",
            };
            let note = || Some(Arc::<str>::from(format!("{words}; {}", self.by_whom(at)?)));
            let wisher = self.deciding(at)?;
            let Some(rule) = self.rule_of(wisher).filter(|_| wisher.change() == at) else { return Some((at, note()?)) };
            // The same for many objects, so it is written once.
            let key = (order, Arc::as_ptr(rule), self.overrides(at));
            if let Some(known) = self.orders.borrow().get(&key) {
                return Some((at, Arc::clone(known)));
            }
            let note = note()?;
            self.orders.borrow_mut().insert(key, Arc::clone(&note));
            Some((at, note))
        };
        (0..self.changes.len()).filter_map(note).collect()
    }

    /// The rule that has a wish, if it is one.
    fn rule_of(&self, wisher: Wisher) -> Option<&Arc<ReplaceRule>> {
        match wisher {
            Wisher::Rule(at, one) => Some(&self.judged[at].as_ref()?.judged.get(one)?.result.rule),
            Wisher::User(_) | Wisher::Lifecycle(_) => None,
        }
    }

    /// What whoever decided has not heeded.
    fn overrides(&self, at: usize) -> &'static str {
        if self.before[at] == order_of(self.changes[at].action) {
            ""
        } else if self.said[at].asks_to_be_created_first() {
            ", overrides create_before_destroy"
        } else {
            ", instead of what the configuration says"
        }
    }

    /// Who decided, if it was not the configuration by itself.
    fn by_whom(&self, at: usize) -> Option<String> {
        let wisher = self.deciding(at)?;
        let change = &self.changes[at];
        let overrides = self.overrides(at);
        let own = wisher.change() == at;
        match wisher {
            Wisher::Lifecycle(_) if self.before[at] == order_of(change.action) => None,
            Wisher::User(_) if own => Some(format!("-replace-order{overrides}")),
            Wisher::Rule(..) if own => Some(format!("{}{overrides}", self.rule_name(self.rule_of(wisher)?))),
            _ => Some(self.required_by(wisher, order_of(change.action)?)),
        }
    }

    fn required_by(&self, wisher: Wisher, order: Order) -> String {
        let other = &self.changes[wisher.change()].address;
        match order {
            Order::CreateFirst => format!("required by {other}, which depends on it"),
            Order::DeleteFirst => format!("required by {other}, which it depends on"),
        }
    }

    /// `rule "a", rules.groma.hcl:3`
    fn rule_name(&self, rule: &ReplaceRule) -> String {
        let name = || name_of(rule, self.driver.request.settings.sources);
        self.names.borrow_mut().entry(std::ptr::from_ref(rule)).or_insert_with(name).clone()
    }

    /// `rules.groma.hcl:3`
    fn place(&self, place: Span) -> String {
        line_of(place, self.driver.request.settings.sources)
    }

    /// Whether people are told that a rule wants something else than what is planned.
    fn is_told(&self, at: usize, judged: &Judged, status: Status) -> bool {
        let planned = order_of(self.changes[at].action);
        let wants = match status {
            Status::Recommended => judged.word == Word::Told,
            Status::Overridden => true,
            Status::Unknown => {
                planned != Some(judged.result.rule.order)
                    && judged.on_unknown == OnUnknown::Warn
                    && judged.word != Word::Contradicted
            }
            _ => false,
        };
        wants && !self.driver.prevented.contains_key(&self.changes[at].address)
    }

    /// Warnings of one rule about many instances of a resource are told as one.
    fn collapsed(&self, warnings: Vec<Warning<'_>>) -> Diagnostics {
        let mut groups: BTreeMap<(AbsResource, usize, Status), Vec<usize>> = BTreeMap::new();
        for warning in &warnings {
            groups.entry(warning.key.clone()).or_default().push(warning.at);
        }
        let mut told = Diagnostics::new();
        for Warning { key, at, judged } in warnings {
            let Some(instances) = groups.get(&key) else { continue };
            let mut text = self.warning(at, judged, key.2);
            if instances.len() > MOST_APART {
                let others = instances.iter().skip(1).map(|other| self.changes[*other].address.to_string());
                // Writing to a string does not fail.
                let _ = write!(text.detail, "\n\nThe same holds for {}.", others.collect::<Vec<_>>().join(", "));
                groups.remove(&key);
            }
            told.push(text);
        }
        told
    }

    /// What a rule says about an object, and on what grounds.
    fn in_full(&self, at: usize, judged: &Judged) -> RuleResult {
        let can_be_asked = judged.result.tree.is_none() && judged.is_told_in_full();
        match self.candidates[at].as_ref().filter(|_| can_be_asked) {
            Some(candidate) => {
                let change = &self.changes[at];
                let views = candidate.views(&change.after);
                judge(&judged.result.rule, &self.driver.case_of(change, &views, None), Care::Full)
            }
            None => judged.result.clone(),
        }
    }

    /// A rule that wants something else than what is planned.
    fn warning(&self, at: usize, judged: &Judged, status: Status) -> Diagnostic {
        let rule = &judged.result.rule;
        let change = &self.changes[at];
        let planned = order_of(change.action);
        let result = self.in_full(at, judged);
        let mut lines = Vec::new();
        lines.extend(rule.reasoning.as_ref().map(|text| format!("Reason: {}", clean(text))));
        lines.extend(result.conditions().into_iter().map(|condition| format!("Condition: {condition}")));
        if status == Status::Unknown {
            lines.push("Not known before the apply: the rule is not obeyed, whatever it says then".to_owned());
        }
        lines.extend(self.overridden_by(at, status));
        lines.push(format!("Recommendation: {}", self.recommendation(change, rule, planned)));
        lines.extend(rule.suggestions.iter().map(|text| format!("Alternative: {}", clean(text))));
        lines.extend(rule.where_to_learn_more().into_iter().map(|place| format!("Learn more: {place}")));
        let detail = tree(&format!("{} {}", change.address, self.as_planned(at)), &lines);
        let diagnostic = Diagnostic::warning(summary(change, judged), detail).of(change.address.to_string());
        let diagnostic = match self.driver.declared_at(change) {
            Some(place) => diagnostic.at(place),
            None => diagnostic,
        };
        let could = rule.behavior == Behavior::Auto && self.driver.request.options.replacement.mode != Mode::Auto;
        let hint =
            "To apply this recommendation automatically, set:\nGROMA_EXPERIMENTAL_AUTO_DELETE_BEFORE_REPLACE=true";
        if could && status == Status::Recommended { diagnostic.hint(hint) } else { diagnostic }
    }

    fn as_planned(&self, at: usize) -> String {
        let change = &self.changes[at];
        let why = match (self.by_whom(at), change.action) {
            (_, Action::ForgetThenCreate) => {
                return "is planned to be forgotten, not destroyed: the old object stays, and meets the new one"
                    .to_owned();
            }
            (Some(whom), _) => whom,
            (None, Action::CreateThenDelete) if self.said[at].asks_to_be_created_first() => {
                let place = self.driver.declared_at(change).map(|place| format!(", {}", self.place(place)));
                format!("create_before_destroy{}", place.unwrap_or_default())
            }
            (None, Action::CreateThenDelete) => match made_first_for(change) {
                Some(asks) => format!("required by {asks}, which depends on it"),
                None => "create_before_destroy".to_owned(),
            },
            (None, _) => "as always if nothing else is said".to_owned(),
        };
        format!("is planned {} ({why})", adverb(order_of(change.action).unwrap_or(Order::DeleteFirst)))
    }

    fn overridden_by(&self, at: usize, status: Status) -> Option<String> {
        let wisher = self.deciding(at).filter(|_| status == Status::Overridden)?;
        let other = &self.changes[wisher.change()].address;
        let who = match wisher {
            Wisher::User(_) => format!("-replace-order for {other}"),
            Wisher::Lifecycle(_) => format!("create_before_destroy of {other}"),
            Wisher::Rule(..) => {
                let name = self.rule_of(wisher).map(|rule| self.rule_name(rule)).unwrap_or_default();
                format!("{name}, about {other}")
            }
        };
        Some(format!("Overridden by: {who}"))
    }

    fn recommendation(&self, change: &Change, rule: &ReplaceRule, planned: Option<Order>) -> String {
        let wanted = adverb(rule.order);
        let instead = match (planned, rule.order) {
            (None, _) => return "let the old object be destroyed, or give the new one other names".to_owned(),
            (_, Order::CreateFirst) => "set create_before_destroy = true",
            (_, Order::DeleteFirst) if self.driver.asks_to_be_created_first(change) => "remove create_before_destroy",
            (_, Order::DeleteFirst) => "remove create_before_destroy from what depends on it",
        };
        let mode = self.driver.request.options.replacement.mode;
        let by_rule = match (rule.origin, rule.behavior, mode) {
            (_, Behavior::Auto, Mode::Auto) => return format!("replace {wanted}: {instead}"),
            (_, Behavior::Auto, _) => "plan with -replace-rules=auto",
            (Origin::Catalogue, Behavior::Warn, _) => "plan with -replace-order",
            (_, Behavior::Warn, _) => "set behavior = \"auto\" on this rule",
        };
        format!("replace {wanted}: {instead}, or {by_rule}")
    }

    /// Wishes that nobody can decide between.
    fn clash(&self, clash: &Clash) -> Diagnostic {
        let Clash { create_first, delete_first, chain } = clash;
        let change = |node: &usize| self.web.and_then(|web| web.change_of(*node));
        let name = |node: &usize| change(node).map(|at| self.changes[at].address.to_string());
        let mut names: Vec<String> = chain.iter().filter_map(name).collect();
        names.dedup();
        let (creating, deleting) = (self.wishers[*create_first], self.wishers[*delete_first]);
        let address = |wisher: Wisher| &self.changes[wisher.change()].address;
        let detail = format!(
            "{} is to be created first and {} is to be deleted first, but the one depends on the other: {}. Then the old {} could not be \
             deleted before the new {} is there, which needs the new {}.",
            address(creating),
            address(deleting),
            names.join(" -> "),
            address(deleting),
            address(creating),
            address(deleting),
        );
        let only_told = matches!(self.strength_of(creating), Strength::Catalogue);
        if only_told {
            return Code(2001).warning("Rules of the catalogue exclude each other", detail);
        }
        Code(2001)
            .error("Irreconcilable replacement orders", detail)
            .hint("Take one of the two wishes back, give both objects the same order, or make the changes in two runs.")
    }

    fn strength_of(&self, wisher: Wisher) -> Strength {
        match wisher {
            Wisher::User(_) => Strength::CommandLine,
            Wisher::Lifecycle(_) => Strength::Lifecycle,
            Wisher::Rule(..) => {
                super::judging::strength(self.rule_of(wisher).map_or(Origin::Catalogue, |rule| rule.origin))
            }
        }
    }

    /// Who decided. The same for many objects, so it is made once.
    fn layer_document(&self, at: usize, wisher: Option<Wisher>) -> Arc<Json> {
        let layer = match wisher {
            Some(wisher) => layer_name(self.strength_of(wisher)),
            None if self.said[at].asks_to_be_created_first() => "lifecycle",
            None => "default",
        };
        let rule = wisher.and_then(|wisher| self.rule_of(wisher));
        let key = (layer, rule.map(Arc::as_ptr).map_or(0, |place| place as usize));
        let mut layers = self.layers.borrow_mut();
        Arc::clone(layers.entry(key).or_insert_with(|| Arc::new(self.layer_of(layer, rule.map(Arc::as_ref)))))
    }

    fn layer_of(&self, layer: &str, rule: Option<&ReplaceRule>) -> Json {
        let Some(rule) = rule else { return json!({ "layer": layer }) };
        let sources = self.driver.request.settings.sources;
        let start = rule.place.map(|place| (sources.file(place.file).name().to_owned(), sources.start(place)));
        match start {
            Some((file, at)) => {
                json!({ "layer": layer, "rule": rule.id.as_str(), "file": file, "line": at.line, "column": at.column })
            }
            None => json!({ "layer": layer, "rule": rule.id.as_str() }),
        }
    }

    /// For whose sake it has the order that it has.
    fn forced_by(&self, at: usize, order: Order, deciding: Option<Wisher>) -> Vec<String> {
        let deciding = deciding.map(Wisher::change);
        match deciding.filter(|other| *other != at) {
            Some(other) => vec![self.changes[other].address.to_string()],
            None => made_first_for(&self.changes[at])
                .filter(|_| order == Order::CreateFirst && deciding.is_none())
                .map(ToString::to_string)
                .into_iter()
                .collect(),
        }
    }

    /// What became of a rule, for the log.
    fn log(&self, at: usize, rule: &ReplaceRule, (verdict, status): (Verdict, Status)) {
        let Some(level) = self.listening.level(matches!(status, Status::Applied | Status::Overridden)) else { return };
        let order = order_of(self.changes[at].action);
        let request = &self.driver.request;
        log::rule(
            level,
            &log::Considered {
                address: &self.changes[at].address,
                rule,
                verdict,
                layer: layer_name(super::judging::strength(rule.origin)),
                digest: log::digest(rule, &request.rules.replace, request.settings.sources),
                mode: request.options.replacement.mode.name(),
                mode_source: request.options.replacement.mode_source.name(),
                status: status.name(),
                order: order.map_or("forget", Order::name),
                forced_by: order.map(|order| self.forced_by(at, order, self.deciding(at))).unwrap_or_default(),
            },
        );
    }

    fn document(
        &self,
        at: usize,
        order: Order,
        statuses: &[Status],
        (demotes, warnings): (Vec<String>, Vec<String>),
    ) -> Document {
        let change = &self.changes[at];
        let important = [Status::Applied, Status::Overridden, Status::Recommended, Status::Unknown, Status::Error];
        let status = important.iter().find(|status| statuses.contains(status));
        let deciding = self.deciding(at);
        let outcome = Outcome {
            order,
            status: status.map_or(Status::Satisfied, |status| *status),
            decided_by: self.layer_document(at, deciding),
            without_rules: self.before[at].unwrap_or(order),
        };
        let bearings = Bearings { forced_by: self.forced_by(at, order, deciding), demotes, warnings };
        let (Some(considered), Some(candidate)) = (&self.judged[at], &self.candidates[at]) else {
            return document::text(&outcome, Some(&bearings), Vec::new()).into();
        };
        if considered.can_be_told_later() {
            let provider_version = self.driver.provider_version(change);
            let found = Found { change, candidate, provider_version, considered, statuses };
            return self.recipes.recipe((outcome, bearings), &found).later();
        }
        let views = candidate.views(&change.after);
        let case = self.driver.case_of(change, &views, None);
        let results = considered.judged.iter().zip(statuses);
        let results = results.map(|(judged, status)| (self.in_full(at, judged), *status));
        document::text(&outcome, Some(&bearings), document::rules(considered, results.collect(), &case)).into()
    }

    /// The objects whose order is another one because of a wish of somebody else, by that one.
    fn demoted(&self) -> BTreeMap<usize, Vec<String>> {
        let mut demoted: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        let Some(web) = self.web else { return demoted };
        for (node, (_, wish)) in &self.resolved.decided {
            let Some((other, by)) = web.change_of(*node).zip(self.wishers.get(*wish)) else { continue };
            let differs = self.before[other].is_some() && self.before[other] != order_of(self.changes[other].action);
            if by.change() != other && differs {
                demoted.entry(by.change()).or_default().push(self.changes[other].address.to_string());
            }
        }
        demoted
    }
}

/// `rule "a", rules.groma.hcl:3`
fn name_of(rule: &ReplaceRule, sources: &SourceMap) -> String {
    match rule.place {
        Some(place) => format!("rule {:?}, {}", rule.id.as_str(), line_of(place, sources)),
        None => format!("rule {:?} of the catalogue", rule.id.as_str()),
    }
}

/// `rules.groma.hcl:3`
fn line_of(place: Span, sources: &SourceMap) -> String {
    format!("{}:{}", sources.file(place.file).name(), sources.start(place).line)
}

/// What a warning is about, in a line.
fn summary(change: &Change, judged: &Judged) -> String {
    let wanted = adverb(judged.result.rule.order);
    match judged.result.field() {
        Some(field) => format!("Field '{field}' may require {wanted} replacement"),
        None => format!("{} may require {wanted} replacement", change.address),
    }
}

/// Which rules there were, and how they were heeded.
pub(super) fn rules_document(driver: &Driver<'_, '_>) -> Json {
    let options = &driver.request.options.replacement;
    let rules = &driver.request.rules.replace;
    let files = rules.files.iter().map(|file| json!({ "path": file.path, "sha256": file.sha256 }));
    json!({
        "mode": options.mode.name(),
        "mode_source": options.mode_source.name(),
        "catalogue": rules.catalogue,
        "files": files.collect::<Vec<_>>(),
    })
}

/// What a rule says about an object that must not be replaced at all.
pub(super) fn if_it_were_replaced(rule: &ReplaceRule) -> String {
    let reason = rule.reasoning.as_ref().map(|text| format!(": {}", clean(text))).unwrap_or_default();
    format!("If it were replaced, then {}, says the rule {:?}{reason}", adverb(rule.order), rule.id.as_str())
}

/// What went wrong with a rule, or cannot be known though it must.
fn failures(change: &Change, judged: &Judged, status: Status) -> Diagnostics {
    let rule = &judged.result.rule;
    match status {
        Status::Error => {
            let told = judged.result.diagnostics.iter().cloned().map(|mut problem| {
                if !judged.must_work {
                    problem.severity = groma_model::diag::Severity::Warning;
                }
                problem.hint(format!(
                    "The rule {:?} was asked about {} and is left aside there.",
                    rule.id.as_str(),
                    change.address
                ))
            });
            told.collect()
        }
        Status::Unknown if judged.on_unknown == OnUnknown::Error => {
            let detail = format!(
                "Whether the rule {:?} matches {} is known only when the plan is applied, and the rule says that this is an error.",
                rule.id.as_str(),
                change.address
            );
            located(Code(2006).error("Rule cannot be evaluated before the apply", detail), rule).into()
        }
        _ => Diagnostics::new(),
    }
}

fn located(problem: Diagnostic, rule: &ReplaceRule) -> Diagnostic {
    match rule.place {
        Some(place) => problem.at(place),
        None => problem,
    }
}

/// Rules of one layer that are both to be obeyed and want opposite things.
pub(super) fn disagreement(
    change: &Change,
    creating: &RuleResult,
    deleting: &RuleResult,
    sources: &SourceMap,
) -> Diagnostic {
    let detail = format!(
        "Both match {}, and want opposite orders: create-first says the {}; delete-first says the {}.",
        change.address,
        name_of(&creating.rule, sources),
        name_of(&deleting.rule, sources),
    );
    let problem = Code(2003).error("Rules disagree", detail).of(change.address.to_string());
    located(problem, &creating.rule).hint("Let their conditions exclude each other, or disable one of them.")
}

/// Neither order is good, or nobody knows whether one is.
pub(super) fn no_safe_order(
    change: &Change,
    creating: &RuleResult,
    deleting: &RuleResult,
    sources: &SourceMap,
) -> Diagnostic {
    let why = |result: &RuleResult| {
        let rule = &result.rule;
        let reason = rule.reasoning.as_ref().map(|text| format!("{}, says the ", clean(text))).unwrap_or_default();
        let conditions = result.conditions();
        let seen = if conditions.is_empty() { String::new() } else { format!(" ({})", conditions.join("; ")) };
        format!("{reason}{}{seen}", name_of(rule, sources))
    };
    let mut lines = vec![
        format!("Against creating first: {}", why(deleting)),
        format!("Against deleting first: {}", why(creating)),
    ];
    let suggestions = deleting.rule.suggestions.iter().chain(&creating.rule.suggestions);
    let mut remedies: Vec<String> = Vec::new();
    for remedy in suggestions.map(|text| clean(text)) {
        if !remedies.contains(&remedy) {
            remedies.push(remedy);
        }
    }
    if remedies.is_empty() {
        remedies.push("Give the new object another name (name_prefix, if it has one)".to_owned());
        remedies.push("Let what uses the object be replaced with it (replace_triggered_by)".to_owned());
    }
    lines.extend(remedies.into_iter().map(|remedy| format!("Remedy: {remedy}")));
    let places = deleting.rule.where_to_learn_more().into_iter().chain(creating.rule.where_to_learn_more());
    lines.extend(places.map(|place| format!("Learn more: {place}")));
    let is_open = [creating, deleting].iter().any(|result| result.verdict == Verdict::Unknown);
    let headline = if is_open {
        format!("{}: it is not known before the apply whether either order is safe", change.address)
    } else {
        format!("{}: neither order is safe", change.address)
    };
    Code(2002).warning("No safe replacement order", tree(&headline, &lines)).of(change.address.to_string())
}

/// Somebody names an order for what is not replaced.
pub(super) fn not_replaced(address: &AbsInstance) -> Diagnostic {
    let detail = format!(
        "-replace-order names {address}, which this plan does not replace. Take the option away, or ask for the replacement with \
         -replace={:?}.",
        address.to_string()
    );
    Code(3001).error("Order for an object that is not replaced", detail)
}

/// Lines below a headline, joined by branches.
fn tree(headline: &str, lines: &[String]) -> String {
    let mut text = headline.to_owned();
    for (at, line) in lines.iter().enumerate() {
        let branch = if at + 1 == lines.len() { "└─" } else { "├─" };
        let _ = write!(text, "\n{branch} {line}");
    }
    text
}

fn made_first_for(change: &Change) -> Option<&ConfigResource> {
    change.notes.iter().find_map(|note| match note {
        Note::MadeFirstFor(resource) => Some(resource),
        _ => None,
    })
}

fn adverb(order: Order) -> &'static str {
    match order {
        Order::DeleteFirst => "delete-first",
        Order::CreateFirst => "create-first",
    }
}

pub(super) fn layer_name(strength: Strength) -> &'static str {
    match strength {
        Strength::Catalogue => "catalogue",
        Strength::Lifecycle => "lifecycle",
        Strength::ModuleRule => "module_rule",
        Strength::RootRule => "root_rule",
        Strength::CommandLine => "cli",
    }
}
