//! Outputs that can be worked out though something failed: an output that refers to one instance of a resource needs that one, and
//! not the others.

use std::collections::BTreeMap;

use groma_lang::config::{Output, Repetition};
use groma_lang::graph::NodeKind;
use groma_lang::refs::{Reference, Subject};
use groma_model::address::{AbsInstance, InstanceKey, ModuleInstance};
use groma_model::text::Str;
use groma_model::value::Value;
use groma_state::ObjectStatus;

use super::driver::Driver;
use crate::change::Action;

impl Driver<'_, '_> {
    /// Works out the outputs of the root module that were not even tried, but have all that they refer to.
    pub(super) fn salvage_outputs(&mut self) {
        if !self.diagnostics.has_errors() {
            return;
        }
        let missing = |name: &&Str| !self.walk.root_outputs().contains_key(*name);
        let names: Vec<Str> = self.walk.module(0).outputs.keys().filter(missing).cloned().collect();
        for name in names {
            let Some(output) = self.walk.module(0).outputs.get(&name) else { continue };
            let Some(wanted) = self.referred_to(output) else { continue };
            let node = self.walk.graph().find(0, NodeKind::Output(name));
            if let (true, Some(node)) = (wanted.iter().all(|address| self.is_settled(address)), node) {
                self.show_some(&wanted);
                // It was not asked for in this run; if it cannot be had, the old value stays.
                let _ = self.walk.visit(node);
            }
        }
    }

    /// The instances that an output refers to, if it refers to instances only.
    fn referred_to(&self, output: &Output) -> Option<Vec<AbsInstance>> {
        if !output.preconditions.is_empty() || !output.depends_on.is_empty() {
            return None;
        }
        let mut found = Vec::new();
        for traversal in output.expr.as_ref()?.references() {
            let Subject::Resource { resource, key } = Reference::parse(traversal).ok()?.subject else { return None };
            let repetition = &self.walk.resource(0, &resource)?.repetition;
            if key == InstanceKey::None && !matches!(repetition, Repetition::Once | Repetition::Enabled(_)) {
                return None;
            }
            found.push(resource.absolute(ModuleInstance::root()).instance(key));
        }
        (!found.is_empty()).then_some(found)
    }

    /// Whether an instance is as it was planned to be.
    fn is_settled(&self, address: &AbsInstance) -> bool {
        let changes = &self.request.plan.changes;
        let at = changes.binary_search_by(|change| (&change.address, &change.deposed).cmp(&(address, &None)));
        let untouched = at.is_ok_and(|at| changes[at].action == Action::NoOp);
        let is_ready = self.stored(address).is_some_and(|object| object.status == ObjectStatus::Ready);
        is_ready && (untouched || self.made.contains_key(address))
    }

    /// Lets expressions see some instances of resources.
    fn show_some(&mut self, wanted: &[AbsInstance]) {
        let mut by_resource: BTreeMap<_, Vec<(InstanceKey, Value)>> = BTreeMap::new();
        for address in wanted {
            let value = self.value_of(address).unwrap_or_else(Value::dynamic);
            by_resource.entry(address.instance.resource.clone()).or_default().push((address.key().clone(), value));
        }
        for (key, mut instances) in by_resource {
            let Some(resource) = self.walk.resource(0, &key) else { continue };
            let known: Vec<InstanceKey> = instances.iter().map(|(key, _)| key.clone()).collect();
            let (all, _) = self.walk.expand_resource(0, resource);
            let others = all.into_iter().map(|instance| instance.key).filter(|key| !known.contains(key));
            instances.extend(others.map(|key| (key, Value::dynamic())));
            instances.sort_by(|(one, _), (other, _)| one.cmp(other));
            self.values.set((&self.walk, 0), resource, instances);
        }
    }
}
