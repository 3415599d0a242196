//! How far rules reach: whether what they name is declared, and whether it is theirs to decide about.

use std::collections::BTreeSet;
use std::sync::Arc;

use groma_lang::load::ModuleNode;
use groma_model::address::{Module, Resource, ResourceMode};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::Span;

use super::problem::Code;
use super::rule::ReplaceRule;
use super::rules::ReplaceRules;
use crate::pattern::Pattern;

/// What a rule names and what is not there, each once, however often its module is called.
pub(crate) fn check(rules: &ReplaceRules, root: &ModuleNode) -> Diagnostics {
    if rules.is_empty() {
        return Diagnostics::new();
    }
    let declared = declared(root);
    let found = used(rules, &declared);
    let mut diagnostics = Diagnostics::new();
    let mut told: BTreeSet<Span> = BTreeSet::new();
    for rule in rules.rules() {
        let Some(places) = rules.places(rule) else { continue };
        for (target, place) in rule.targets.iter().zip(&places.targets) {
            if !found.targets.contains(place) && told.insert(*place) {
                diagnostics.push(match outside(rule, target, &declared) {
                    Some(address) => reaches_outside(rule, target, &address).at(*place),
                    None => means_nothing(&target.to_string()).at(*place),
                });
            }
        }
        let is_glob = !rule.resource.is_plain();
        if is_glob && !found.rules.contains(&places.resource) && rule.targets.is_empty() && told.insert(places.resource)
        {
            diagnostics.push(means_nothing(rule.resource.as_str()).at(places.resource));
        }
    }
    diagnostics
}

/// Nothing that is declared is meant.
pub(crate) fn means_nothing(pattern: &str) -> Diagnostic {
    let detail = format!(
        "No resource that is declared matches \"{pattern}\". Addresses are relative to the module whose directory the file is in."
    );
    Diagnostic::warning("Rule matches nothing", detail)
}

/// The managed resources of a configuration, by module.
type Declared = Vec<(Module, Vec<Resource>)>;

fn declared(root: &ModuleNode) -> Declared {
    let mut declared = Vec::new();
    let mut modules = vec![root];
    while let Some(node) = modules.pop() {
        let resources = node.module.resources_of(ResourceMode::Managed).map(|resource| resource.key.clone());
        declared.push((Module::new(node.path.iter().cloned()), resources.collect()));
        modules.extend(node.children.values().rev());
    }
    declared
}

/// What has been found to mean something, by its place.
struct Used {
    rules: BTreeSet<Span>,
    targets: BTreeSet<Span>,
}

fn used(rules: &ReplaceRules, declared: &Declared) -> Used {
    let mut used = Used { rules: BTreeSet::new(), targets: BTreeSet::new() };
    // Which rules are about a type is the same wherever it is declared, as long as they have no targets.
    let mut seen: BTreeSet<(&Module, &str)> = BTreeSet::new();
    for (module, resources) in declared {
        for resource in resources {
            let is_first = seen.insert((module, &resource.ty));
            for rule in rules.could_be_about(module, resource) {
                let Some(places) = rules.places(rule) else { continue };
                if is_first {
                    used.rules.insert(places.resource);
                }
                mark_targets(rule, &places.targets, module, resource, &mut used.targets);
            }
        }
    }
    used
}

fn mark_targets(
    rule: &Arc<ReplaceRule>,
    places: &[Span],
    module: &Module,
    resource: &Resource,
    used: &mut BTreeSet<Span>,
) {
    for (target, place) in rule.targets.iter().zip(places) {
        if !used.contains(place) && target.could_match(&rule.module, module.names(), resource) {
            used.insert(*place);
        }
    }
}

/// A resource that a rule of a called module would mean if it stood in one of those that call it.
fn outside(rule: &ReplaceRule, target: &Pattern, declared: &Declared) -> Option<String> {
    let names = rule.module.names();
    (0..names.len()).find_map(|depth| {
        let caller = Module::new(names[..depth].iter().cloned());
        let mut strangers = declared.iter().filter(|(module, _)| !module.names().starts_with(names));
        strangers.find_map(|(module, resources)| {
            let meant = resources.iter().find(|resource| {
                rule.resource.matches(&resource.ty) && target.could_match(&caller, module.names(), resource)
            })?;
            Some(if module.is_root() { meant.to_string() } else { format!("{module}.{meant}") })
        })
    })
}

fn reaches_outside(rule: &ReplaceRule, target: &Pattern, address: &str) -> Diagnostic {
    let detail = format!(
        "There is no \"{target}\" in {}, and a rule in a module is about the resources of that module and of those that it calls. {address} is \
         outside of it: to decide about that, move the rule to the root module.",
        rule.module
    );
    Code(1120).error("Rule reaches outside of its module", detail)
}
