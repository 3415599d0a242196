//! What is wrong with rules, found out before there are objects: with the types that the schemas of resources promise.

use std::collections::BTreeSet;

use groma_lang::load::{ModuleNode, ModuleTree};
use groma_lang::oracle::SchemaSource;
use groma_lang::walk::Settings;
use groma_model::address::{Module, ResourceMode};
use groma_model::diag::Diagnostics;
use groma_model::span::Span;
use groma_model::ty::Type;
use groma_model::value::Value;

use crate::Rules;
use crate::replace;
use crate::scope::Surroundings;

/// Checks the conditions of rules with everything they can be about. Each mistake is told once.
pub fn check(rules: &Rules, tree: &ModuleTree, schemas: &dyn SchemaSource, settings: &Settings<'_>) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let mut checked: BTreeSet<(Span, &str)> = BTreeSet::new();
    let mut faulty: BTreeSet<Span> = BTreeSet::new();
    let mut modules: Vec<&ModuleNode> = vec![&tree.root];
    while let Some(node) = modules.pop() {
        let module = Module::new(node.path.iter().cloned());
        for resource in node.module.resources_of(ResourceMode::Managed) {
            for rule in rules.waits.rules_about(&module, &resource.key) {
                if faulty.contains(&rule.label) || !checked.insert((rule.label, resource.key.ty.as_str())) {
                    continue;
                }
                let schema = schemas.resource(&resource.provider, ResourceMode::Managed, &resource.key.ty);
                let ty = schema.map_or(Type::Dynamic, |schema| schema.block.implied_type());
                let around = Surroundings::of(rule, settings);
                let found = rule.says.check(&Value::unknown(ty), &around);
                if found.has_errors() {
                    faulty.insert(rule.label);
                }
                diagnostics.extend(found);
            }
        }
        modules.extend(node.children.values().rev());
    }
    diagnostics.extend(replace::check::check(&rules.replace, &tree.root, schemas));
    diagnostics
}

/// Hints about rules that are correct, and probably not what was meant. For those who ask for them; each is told once.
pub fn lint(rules: &Rules, tree: &ModuleTree, schemas: &dyn SchemaSource) -> Diagnostics {
    replace::check::lint(&rules.replace, &tree.root, schemas)
}
