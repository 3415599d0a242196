//! What a step needs before a provider can be asked: configuration, provider, stored object; and what expressions see once it is
//! done.

use std::collections::BTreeSet;
use std::sync::Arc;

use groma_lang::config::{Resource, ResourceMode};
use groma_lang::graph::{Graph, Node, NodeIndex, NodeKind};
use groma_lang::walk::{InstanceIndex, RepetitionData, Site};
use groma_model::address::{AbsInstance, ConfigResource, InstanceKey};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::value::Value;

use super::driver::Driver;
use super::instance::{Done, Job, Wanted};
use crate::change::{Action, Change};
use crate::checks::{Checked, CheckedInstance};
use crate::plan::Mode;
use crate::plan::data::{as_warnings, problem_text};
use crate::plan::dependencies::config_resource;
use crate::plan::instance::keep_warnings;
use crate::stored::ObjectSchema;
use crate::values::{as_it_was, as_stored, skips_destroy};

impl<'a> Driver<'a, '_> {
    /// All instances of a resource are as planned: expressions can see them, and they are judged.
    pub(super) fn show(&mut self, module: InstanceIndex, resource: &'a Resource) -> Diagnostics {
        if self.request.plan.mode == Mode::Destroy && resource.key.mode == ResourceMode::Managed {
            self.show_as_it_was(module, resource);
            return Diagnostics::new();
        }
        let (instances, mut diagnostics) = self.walk.expand_resource(module, resource);
        let address = resource.key.absolute(self.walk.module_instance(module).clone());
        let mut values = Vec::new();
        for instance in &instances {
            let address = address.instance(instance.key.clone());
            let value = self.value_of(&address).unwrap_or_else(|| self.left_alone(resource, &address));
            values.push((instance.key.clone(), value));
        }
        let subject = Checked::Resource(address.config());
        if !self.checks.has(&subject) {
            self.values.set((&self.walk, module), resource, values);
            return diagnostics;
        }
        self.values.set((&self.walk, module), resource, values.clone());
        let found = instances.iter().map(|made| CheckedInstance::Resource(address.instance(made.key.clone())));
        self.checks.expanded(&subject, found);
        let mut values = values.into_iter().peekable();
        for instance in &instances {
            // What was read while planning was judged then.
            if resource.key.mode == ResourceMode::Data
                && !self.made.contains_key(&address.instance(instance.key.clone()))
            {
                values.next();
                continue;
            }
            let Some((_, value)) = values.next_if(|(key, _)| *key == instance.key) else { continue };
            let site = Site { module, resource, repetition: &instance.repetition };
            diagnostics.extend(self.judge(site, &address.instance(instance.key.clone()), &value));
        }
        diagnostics
    }

    /// The conditions of an instance, once it is there. What was not changed was not judged before.
    fn judge(&mut self, site: Site<'_>, address: &AbsInstance, value: &Value) -> Diagnostics {
        let mut diagnostics = Diagnostics::new();
        if !self.made.contains_key(address) {
            diagnostics.extend(self.checks.judge_before(&self.walk, site, address));
        }
        diagnostics.extend(self.checks.judge_after(&self.walk, site, address, value));
        diagnostics
    }

    /// While everything is being taken down, providers are configured with what there was.
    fn show_as_it_was(&self, module: InstanceIndex, resource: &Resource) {
        let address = resource.key.absolute(self.walk.module_instance(module).clone());
        let changes = &self.request.plan.changes;
        let from = changes.partition_point(|change| change.address.resource() < address);
        let own = changes[from..].iter().take_while(|change| change.address.resource() == address);
        let current = own.filter(|change| change.deposed.is_none());
        let there = current.map(|change| (change.address.key().clone(), change.before.clone())).collect();
        let values = as_it_was(&self.walk, module, resource, there);
        self.values.set((&self.walk, module), resource, values);
    }

    /// An instance that the plan is not about: as it was, or not known if it was never made.
    fn left_alone(&self, resource: &Resource, address: &AbsInstance) -> Value {
        let schema = self.request.schemas.resource(&resource.provider, resource.key.mode, &resource.key.ty);
        as_stored(self.stored(address).as_ref(), schema.as_deref())
    }

    pub(super) fn value_of(&self, address: &AbsInstance) -> Option<Value> {
        if let Some(value) = self.made.get(address).or_else(|| self.request.plan.data.get(address)) {
            return Some(value.clone());
        }
        let changes = &self.request.plan.changes;
        let at = changes.binary_search_by(|change| (&change.address, &change.deposed).cmp(&(address, &None))).ok()?;
        Some(changes[at].after.clone())
    }

    pub(super) fn make(&mut self, at: usize) -> Result<Option<Job>, Diagnostics> {
        let plan = self.request.plan;
        let mut change = plan.changes[at].clone();
        let address = change.address.clone();
        let module = self.walk.instance_at(&address.module).unwrap_or(0);
        let Some(resource) = self.walk.resource(module, &address.instance.resource) else {
            return self.make_generated(change);
        };
        if matches!(change.action, Action::Create | Action::Update) {
            // What would spread to it from something that does not change is not kept; it would be found changed by others.
            let asked = resource.managed.create_before_destroy == Some(true);
            change.create_before_destroy = asked || self.made_first.contains(&address.config());
        }
        let repetition = self.repetition(module, resource, address.key())?;
        let site = Site { module, resource, repetition: &repetition };
        keep_warnings(self.checks.judge_before(&self.walk, site, &address), &mut self.diagnostics)?;
        let slot = self.providers.of_resource(&self.walk, site)?;
        let (config, found) = self.walk.resource_config(site, &change.schema.block);
        keep_warnings(found, &mut self.diagnostics)?;
        if !config.is_wholly_known() {
            let detail = format!("The configuration of {address} still has unknown values while it is applied.");
            return Err(Diagnostic::error("Configuration contains unknown value", detail).into());
        }
        let stored = if change.action == Action::Update { self.stored(&address) } else { None };
        let dependencies = Arc::clone(&change.dependencies);
        let kind = self.kind(&change, &slot.instance().config.provider);
        let provider_meta = self.providers.meta(&self.walk, module, &resource.provider)?;
        let wanted = Wanted {
            config,
            ignore: resource.managed.ignore_changes.clone(),
            skip_destroy: skips_destroy(&self.walk, site)?,
        };
        if let Some(key) = plan.execution.deposed_as.get(&at)
            && let Some(instance) = self.instance_mut(&address)
            && let Some(object) = instance.current.take()
        {
            instance.deposed.insert(key.clone(), object);
            self.request.logbook.moved(&address.object(None), &address.object(Some(key.clone())))?;
        }
        let last_words = None;
        Ok(Some(Job { change, kind, slot, stored, wanted: Some(wanted), last_words, provider_meta, dependencies }))
    }

    pub(super) fn remove(&mut self, at: usize) -> Result<Option<Job>, Diagnostics> {
        let plan = self.request.plan;
        let mut change = plan.changes[at].clone();
        if let Some(key) = plan.execution.deposed_as.get(&at) {
            change.deposed = Some(key.clone());
        }
        let instance = self.instance_mut(&change.address);
        let stored = instance.and_then(|instance| match &change.deposed {
            Some(key) => instance.deposed.get(key).cloned(),
            None => instance.current.clone(),
        });
        let Some(stored) = stored else { return Ok(None) };
        if matches!(change.action, Action::Forget | Action::ForgetThenCreate) {
            self.put_down(None, &change, None)?;
            self.store();
            return Ok(None);
        }
        let slot = self.providers.of_stored(&change.provider, &change.address.to_string())?;
        let dependencies = stored.dependencies.clone().into();
        let kind = self.kind(&change, &change.provider.config.provider);
        let last_words = self.last_words(&change);
        let stored = Some(stored);
        Ok(Some(Job { change, kind, slot, stored, wanted: None, last_words, provider_meta: None, dependencies }))
    }

    /// What the configuration says about an object that is to go. What cannot be evaluated any more is not missed.
    fn last_words(&mut self, change: &Change) -> Option<Value> {
        let offered = self.request.providers.schema(&change.provider.config.provider)?;
        if !offered.capabilities.last_words {
            return None;
        }
        let address = &change.address;
        let module = self.walk.instance_at(&address.module)?;
        let resource = self.walk.resource(module, &address.instance.resource)?;
        self.repetition(module, resource, address.key()).ok()?;
        let repetition = self.expanded.get(&(module, resource.key.clone()))?.get(address.key())?;
        let site = Site { module, resource, repetition };
        let (config, found) = self.walk.resource_config(site, &change.schema.block);
        (!found.has_errors()).then_some(config)
    }

    /// What went wrong with the data source of a `check` block fails the check, and nothing else.
    pub(super) fn softened(&mut self, job: &Job, done: Done) -> Done {
        let address = &job.change.address;
        let module = self.walk.instance_at(&address.module).unwrap_or(0);
        let resource = self.walk.resource(module, &address.instance.resource);
        let Some(check) = resource.and_then(|resource| resource.check.clone()) else { return done };
        let check = CheckedInstance::Check(address.module.clone(), check);
        if !done.diagnostics.has_errors() {
            self.checks.note_data(&check, None);
            return done;
        }
        self.checks.note_data(&check, Some(problem_text(&done.diagnostics)));
        let quiet = done.diagnostics.has_errors();
        Done { diagnostics: as_warnings(done.diagnostics), quiet, ..done }
    }

    pub(super) fn kind(&self, change: &Change, provider: &groma_model::address::Provider) -> ObjectSchema {
        let type_name = change.address.instance.resource.ty.clone();
        let offered = self.request.providers.schema(provider);
        let identity = offered.and_then(|offered| offered.identities.get(&type_name).cloned());
        ObjectSchema { type_name, schema: Arc::clone(&change.schema), identity }
    }

    pub(super) fn repetition(
        &mut self,
        module: InstanceIndex,
        resource: &Resource,
        key: &InstanceKey,
    ) -> Result<RepetitionData, Diagnostics> {
        let place = (module, resource.key.clone());
        if !self.expanded.contains_key(&place) {
            let (instances, found) = self.walk.expand_resource(module, resource);
            if found.has_errors() {
                return Err(found);
            }
            let by_key = instances.into_iter().map(|instance| (instance.key, instance.repetition)).collect();
            self.expanded.insert(place.clone(), by_key);
        }
        Ok(self.expanded.get(&place).and_then(|known| known.get(key)).cloned().unwrap_or_default())
    }
}

/// What is depended on by changing resources whose replacements are made first: theirs are, too.
pub(super) fn made_first(graph: &Graph<'_>, changes: &[Change]) -> BTreeSet<ConfigResource> {
    let asks = |entry: &Node| {
        let NodeKind::Resource(key) = &entry.kind else { return false };
        let resource = graph.modules[entry.module].node.module.resources.get(key);
        resource.is_some_and(|resource| resource.managed.create_before_destroy == Some(true))
    };
    let asking = graph.nodes.iter().enumerate().filter(|(_, entry)| asks(entry));
    let asking: BTreeSet<ConfigResource> = asking.filter_map(|(node, _)| config_resource(graph, node)).collect();
    let (mut seen, mut found) = (BTreeSet::new(), BTreeSet::new());
    for change in changes.iter().filter(|change| change.action != Action::NoOp) {
        let config = change.address.config();
        let is_made_first = change.action == Action::CreateThenDelete || asking.contains(&config);
        if is_made_first && seen.insert(config) {
            found.extend(change.dependencies.iter().cloned());
        }
    }
    found
}

/// What nobody asks for while a plan is carried out: local values, outputs and arguments of modules that nothing needs but the end
/// of their module, and others that nobody asks for. Arguments that are validated always count.
pub(super) fn unasked(graph: &Graph<'_>) -> BTreeSet<NodeIndex> {
    let passes_on = |node: NodeIndex| {
        let Node { module, kind } = &graph.nodes[node];
        match kind {
            NodeKind::Local(_) => true,
            NodeKind::Output(_) => *module != 0,
            NodeKind::Variable(name) => {
                let declared = graph.modules[*module].node.module.variables.get(name);
                *module != 0 && declared.is_some_and(|variable| variable.validations.is_empty())
            }
            _ => false,
        }
    };
    let mut asking = vec![0_usize; graph.nodes.len()];
    for (node, needs) in graph.needs.iter().enumerate() {
        if graph.nodes[node].kind != NodeKind::Close {
            for need in needs {
                asking[*need] += 1;
            }
        }
    }
    let mut found = BTreeSet::new();
    let mut open: Vec<NodeIndex> = (0..asking.len()).filter(|node| asking[*node] == 0 && passes_on(*node)).collect();
    while let Some(node) = open.pop() {
        found.insert(node);
        for need in &graph.needs[node] {
            asking[*need] -= 1;
            if asking[*need] == 0 && passes_on(*need) {
                open.push(*need);
            }
        }
    }
    found
}
