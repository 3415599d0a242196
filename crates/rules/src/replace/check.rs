//! What is wrong with rules about replacements, found out with the schemas of the resources that they are about.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use groma_lang::load::ModuleNode;
use groma_lang::oracle::SchemaSource;
use groma_model::address::{Module, Provider, ResourceMode};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::schema::Schema;
use groma_model::span::Span;
use groma_model::text::Str;

use super::problem::Code;
use super::reach::means_nothing;
use super::rule::{Logic, Question, ReplaceRule};
use super::rules::{ReplaceRules, is_from};
use crate::glob::Glob;

/// Checks every rule with everything that it can be about. Each mistake is told once.
pub(crate) fn check(rules: &ReplaceRules, root: &ModuleNode, schemas: &dyn SchemaSource) -> Diagnostics {
    if rules.is_empty() {
        return Diagnostics::new();
    }
    let providers = Providers::of(root, schemas);
    let mut diagnostics = look(Wanted::Mistakes, rules, root, &providers);
    diagnostics.extend(unused_types(rules, &providers));
    diagnostics
}

/// Hints about rules that are correct: those that were found when they were read, and those that schemas give. Each once.
pub(crate) fn lint(rules: &ReplaceRules, root: &ModuleNode, schemas: &dyn SchemaSource) -> Diagnostics {
    let mut lints = rules.lints.clone();
    let key = |lint: &Diagnostic| (lint.subject, lint.summary.clone());
    let known: BTreeSet<Key> = lints.iter().map(key).collect();
    let more = look(Wanted::Hints, rules, root, &Providers::of(root, schemas));
    lints.extend(more.into_iter().filter(|lint| !known.contains(&key(lint))));
    lints
}

/// What is looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Mistakes,
    Hints,
}

fn look(wanted: Wanted, rules: &ReplaceRules, root: &ModuleNode, providers: &Providers<'_>) -> Diagnostics {
    let mut checking = Checking { wanted, providers, rules, found: BTreeMap::new(), checked: BTreeMap::new() };
    let mut modules = vec![root];
    while let Some(node) = modules.pop() {
        let module = Module::new(node.path.iter().cloned());
        for resource in node.module.resources_of(ResourceMode::Managed) {
            for rule in rules.could_be_about(&module, &resource.key) {
                checking.rule(rule, &resource.key.ty, &resource.provider);
            }
        }
        modules.extend(node.children.values().rev());
    }
    checking.finish()
}

/// The providers of a configuration, and what they have.
struct Providers<'s> {
    schemas: &'s dyn SchemaSource,
    all: BTreeSet<Provider>,
    /// The managed resource types that are declared.
    declared: BTreeSet<Str>,
    /// Whether the schemas of all of them can be had.
    all_known: bool,
}

impl<'s> Providers<'s> {
    fn of(root: &ModuleNode, schemas: &'s dyn SchemaSource) -> Self {
        let (mut all, mut declared) = (BTreeSet::new(), BTreeSet::new());
        let mut modules = vec![root];
        while let Some(node) = modules.pop() {
            let module = &node.module;
            all.extend(module.required_providers.entries.values().map(|entry| entry.provider.clone()));
            all.extend(module.resources.values().map(|resource| resource.provider.clone()));
            all.extend(module.provider_configs.values().map(|config| module.provider_of(&config.key.name)));
            declared.extend(module.resources_of(ResourceMode::Managed).map(|resource| resource.key.ty.clone()));
            modules.extend(node.children.values());
        }
        let all_known = all.iter().all(|provider| schemas.provider(provider).is_some());
        Self { schemas, all, declared, all_known }
    }

    /// Whether some provider has resources of a type, or types like that. What cannot be found out is taken for true.
    fn knows(&self, ty: &Glob, modes: &[ResourceMode]) -> bool {
        if !self.all_known || !ty.is_plain() {
            return true;
        }
        let has =
            |provider: &Provider, mode: &ResourceMode| self.schemas.resource(provider, *mode, ty.as_str()).is_some();
        self.all.iter().any(|provider| modes.iter().any(|mode| has(provider, mode)))
    }
}

/// A mistake: where it is, and what it says.
type Key = (Option<Span>, String);

struct Checking<'c> {
    wanted: Wanted,
    providers: &'c Providers<'c>,
    rules: &'c ReplaceRules,
    /// Mistakes, and how many types each rule has them with.
    found: BTreeMap<Key, (Diagnostic, BTreeMap<Span, usize>)>,
    /// The types that each rule was checked with.
    checked: BTreeMap<Span, BTreeSet<(Str, Provider)>>,
}

impl Checking<'_> {
    fn rule(&mut self, rule: &Arc<ReplaceRule>, ty: &Str, provider: &Provider) {
        let Some(place) = rule.place else { return };
        let is_other = rule.provider.as_ref().is_some_and(|source| !is_from(source, provider));
        if is_other || !self.checked.entry(place).or_default().insert((ty.clone(), provider.clone())) {
            return;
        }
        let Some(schema) = self.providers.schemas.resource(provider, ResourceMode::Managed, ty) else { return };
        let mut found: Vec<Diagnostic> = Vec::new();
        if self.wanted == Wanted::Mistakes {
            found.extend(rule.fields.iter().flat_map(|field| field.check(&schema)));
        }
        if let Some(logic) = &rule.logic {
            self.logic(logic, ty, &schema, &mut found);
        }
        let keys: BTreeMap<Key, Diagnostic> =
            found.into_iter().map(|found| ((found.subject, found.summary.clone()), found)).collect();
        for (key, diagnostic) in keys {
            let (_, by_rule) = self.found.entry(key).or_insert_with(|| (diagnostic, BTreeMap::new()));
            *by_rule.entry(place).or_default() += 1;
        }
    }

    fn logic(&self, logic: &Logic, ty: &str, schema: &Schema, found: &mut Vec<Diagnostic>) {
        match logic {
            Logic::All(parts) | Logic::Any(parts) | Logic::NoneOf(parts) => {
                for part in parts {
                    self.logic(part, ty, schema, found);
                }
            }
            Logic::Named(named) => self.logic(&named.logic, ty, schema, found),
            Logic::Constant(_) => {}
            Logic::Ask(question) => self.question(question, ty, schema, found),
        }
    }

    fn question(&self, question: &Question, ty: &str, schema: &Schema, found: &mut Vec<Diagnostic>) {
        if self.wanted == Wanted::Hints {
            found.extend(question.predicate.lints(Some(schema)));
            return;
        }
        let knows = |glob: &Glob| self.providers.knows(glob, &[ResourceMode::Managed, ResourceMode::Data]);
        found.extend(question.predicate.check(schema));
        found.extend(question.predicate.check_attached(ty, schema, &knows));
    }

    /// What must be told: what is wrong with every type that a rule is about. A rule about many types may name what only some have.
    fn finish(self) -> Diagnostics {
        let of_glob: BTreeMap<Span, bool> =
            self.rules.rules().iter().filter_map(|rule| Some((rule.place?, !rule.resource.is_plain()))).collect();
        let checked = |place: &Span| self.checked.get(place).map_or(0, BTreeSet::len);
        let must_be_told =
            |(place, count): (&Span, &usize)| !of_glob.get(place).copied().unwrap_or(false) || *count == checked(place);
        let told = self.found.into_values().filter(|(_, by_rule)| by_rule.iter().any(must_be_told));
        told.map(|(diagnostic, _)| diagnostic).collect()
    }
}

/// Rules about types that no provider has, or that are not declared.
fn unused_types(rules: &ReplaceRules, providers: &Providers<'_>) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let mut told: BTreeSet<Span> = BTreeSet::new();
    for rule in rules.rules() {
        let Some(places) = rules.places(rule) else { continue };
        let ty = &rule.resource;
        if !ty.is_plain() || providers.declared.contains(ty.as_str()) || !told.insert(places.resource) {
            continue;
        }
        let has_other_provider =
            rule.provider.as_ref().is_some_and(|source| !providers.all.iter().any(|known| is_from(source, known)));
        if has_other_provider || providers.knows(ty, &[ResourceMode::Managed]) {
            diagnostics.push(means_nothing(ty.as_str()).at(places.resource));
        } else {
            let detail = format!(
                "No provider of this configuration has resources of type {:?}. Mend the type, or name the provider that has it: a rule for a \
                 provider that is not used is left alone.",
                ty.as_str()
            );
            diagnostics.push(Code(1121).error("No such resource type", detail).at(places.resource));
        }
    }
    diagnostics
}
