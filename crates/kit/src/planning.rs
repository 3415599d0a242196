//! Plans by the rules of a schema: defaults, what the apply decides, what stays, what needs a new object. And checks.

use std::collections::BTreeMap;

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::path::{Path, PathKey, PathStep};
use groma_model::text::Str;
use groma_model::value::Value;

use super::object::{Object, shown};
use super::spec::{Replace, Rules, Spec};

/// A plan that a type may still change.
#[derive(Debug, Clone)]
pub struct Planned {
    /// As it is; none if it is to be made.
    pub prior: Option<Object>,
    /// The configuration.
    pub config: Object,
    /// As it will be.
    pub object: Object,
    /// Attributes whose change needs a new object.
    pub requires_replace: Vec<Path>,
}

impl Planned {
    /// Whether an attribute changes, or may change.
    pub fn changes(&self, name: &str) -> bool {
        self.prior.as_ref().is_none_or(|prior| prior.get(name) != self.object.get(name))
    }

    /// Whether anything changes, or may change.
    pub fn is_change(&self) -> bool {
        self.prior.as_ref() != Some(&self.object)
    }

    /// Says that the change of an attribute needs a new object.
    pub fn replace_for(&mut self, name: &str) {
        let path = Path::root().attr(name);
        if !self.requires_replace.contains(&path) {
            self.requires_replace.push(path);
        }
    }

    /// What a type has changed back needs no new object after all.
    pub(super) fn settle_replacements(&mut self) {
        let mut paths = std::mem::take(&mut self.requires_replace);
        paths.retain(|path| match path.steps() {
            [PathStep::Attr(name)] => self.changes(name),
            _ => true,
        });
        paths.sort();
        paths.dedup();
        self.requires_replace = paths;
    }
}

impl Spec {
    /// The plan that the rules alone give.
    pub(super) fn plan(&self, prior: Option<Object>, proposed: &Value, config: &Value) -> Planned {
        let mut plan =
            Planned { prior, config: Object::of(config), object: Object::of(proposed), requires_replace: Vec::new() };
        self.drop_write_only(&mut plan);
        self.apply_defaults(&mut plan);
        if plan.is_change() {
            self.leave_to_apply(&mut plan);
        }
        self.keep_what_stays(&mut plan);
        if let Some(prior) = &plan.prior {
            let mut found = Vec::new();
            let config = Some(&plan.config);
            for (name, rules) in &self.rules {
                let (old, new) = (prior.get(name), plan.object.get(name));
                let given = config.is_some_and(|config| !config.is_null(name));
                replacements(rules, &Path::root().attr(name.clone()), (&old, &new), given, &mut found);
            }
            plan.requires_replace = found;
        }
        plan
    }

    /// What is never stored is no part of a plan either.
    fn drop_write_only(&self, plan: &mut Planned) {
        for (name, attribute) in &self.schema.block.attributes {
            if attribute.write_only {
                plan.object.set(name, Value::null(attribute.implied_type()));
            }
        }
    }

    fn apply_defaults(&self, plan: &mut Planned) {
        for (name, rules) in &self.rules {
            if let Some(default) = &rules.default
                && plan.config.is_null(name)
            {
                plan.object.set(name, default.clone());
            }
        }
    }

    /// What the provider decides and nobody gave may change whenever anything else does.
    fn leave_to_apply(&self, plan: &mut Planned) {
        for (name, attribute) in &self.schema.block.attributes {
            let has_default = self.rules.get(name).is_some_and(|rules| rules.default.is_some());
            if attribute.computed && !has_default && plan.config.is_null(name) {
                plan.object.set(name, Value::unknown(attribute.implied_type()));
            }
        }
    }

    fn keep_what_stays(&self, plan: &mut Planned) {
        let Some(prior) = &plan.prior else { return };
        for (name, rules) in &self.rules {
            if rules.keep && plan.object.is_unknown(name) && !plan.config.is_unknown(name) {
                plan.object.set(name, prior.get(name));
            }
        }
    }

    /// What is wrong with single attributes of a configuration.
    pub(super) fn check(&self, config: &Value) -> Diagnostics {
        let mut found = Diagnostics::new();
        check_entries(&self.rules, &Path::root(), config, &mut found);
        found
    }
}

fn check_entries(rules: &BTreeMap<Str, Rules>, path: &Path, object: &Value, found: &mut Diagnostics) {
    let Some(entries) = object.as_entries() else { return };
    for (name, rules) in rules {
        let Some(value) = entries.get(name) else { continue };
        if !value.is_known() || value.is_null() {
            continue;
        }
        let path = path.attr(name.clone());
        if let Some(number) = value.as_number()
            && !rules.fractional
            && number.to_i64().is_none()
        {
            let problem =
                if number.is_integer() { "cannot be represented as a 64-bit integer" } else { "is not an integer" };
            let detail = format!("Value {number} of {} {problem}.", shown(&path));
            found.push(Diagnostic::error("Configuration Read Error", detail).at_path(path));
            continue;
        }
        for check in &rules.checks {
            found.extend(check(&path, value));
        }
        if rules.inner.is_empty() {
            continue;
        }
        if is_one_object(value, rules) {
            check_entries(&rules.inner, &path, value, found);
        } else {
            for (step, item) in value.children() {
                check_entries(&rules.inner, &path.join(step), item, found);
            }
        }
    }
}

/// Whether a value is one nested object, not a map of them.
fn is_one_object(value: &Value, rules: &Rules) -> bool {
    value.as_entries().is_some_and(|entries| entries.names().iter().any(|name| rules.inner.contains_key(name)))
}

fn replacements(rules: &Rules, path: &Path, (old, new): (&Value, &Value), given: bool, found: &mut Vec<Path>) {
    if old == new {
        return;
    }
    let needed = match rules.replace {
        Replace::Never => false,
        Replace::Always => true,
        Replace::IfConfigured => given,
        Replace::If(decide) => decide(old, new),
    };
    if needed {
        found.push(path.clone());
    }
    if rules.inner.is_empty() {
        return;
    }
    for (step, old_item, new_item) in paired(old, new) {
        let inner_path = step.map_or_else(|| path.clone(), |step| path.join(step));
        let Some(new_entries) = new_item.as_entries() else { continue };
        for (name, rules) in &rules.inner {
            let Some(new) = new_entries.get(name) else { continue };
            let old = old_item.and_then(Value::as_entries).and_then(|entries| entries.get(name));
            let nothing = Value::null(new.ty());
            let change = (old.unwrap_or(&nothing), new);
            replacements(rules, &inner_path.attr(name.clone()), change, !new.is_null(), found);
        }
    }
}

/// Nested objects of two values that stand in the same place; those that are gone are left out.
fn paired<'v>(old: &'v Value, new: &'v Value) -> Vec<(Option<PathStep>, Option<&'v Value>, &'v Value)> {
    let Some(items) = new.as_elements() else { return vec![(None, Some(old), new)] };
    let step = |at: usize| PathStep::Index(PathKey::Number((at as u64).into()));
    let old = old.as_elements().unwrap_or_default();
    items.iter().enumerate().map(|(at, item)| (Some(step(at)), old.get(at), item)).collect()
}
