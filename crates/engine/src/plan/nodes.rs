//! Resource nodes: their instances, what is asked about each, and what comes of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use groma_lang::config::{Repetition, Resource, ResourceKey, ResourceMode};
use groma_lang::graph::NodeIndex;
use groma_lang::walk::{ImportInto, ImportedBy, InstanceIndex, RepetitionData, Site};
use groma_model::address::{AbsInstance, AbsResource, InstanceKey};
use groma_model::convert::convert;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_provider::api::ImportTarget;

use super::Mode;
use super::data::{DataJob, ReadData, as_warnings};
use super::dependencies::config_resource;
use super::driver::{Driver, Task, Work};
use super::instance::{Job, Planned, Present, Wanted, keep_warnings, with_address};
use crate::change::{Action, Change, Note, Reason};
use crate::checks::{Checked, CheckedInstance};
use crate::ephemeral::{OpenJob, Opened};
use crate::import::no_configuration;
use crate::pending::{Lack, Pending as NotReady, lack, still_open};
use crate::stored::{ObjectSchema, object_schema};
use crate::values::{as_it_was, as_stored, skips_destroy, truth};

/// A resource whose instances are being planned.
pub(super) struct Pending<'a> {
    resource: &'a Resource,
    instances: Vec<PendingInstance>,
    remaining: usize,
    failed: bool,
}

struct PendingInstance {
    module: InstanceIndex,
    key: InstanceKey,
    repetition: RepetitionData,
    /// Whether it is wanted; otherwise it is on its way out.
    wanted: bool,
    value: Option<Value>,
}

/// Where instances are left over.
struct LeftoverSite<'s> {
    node: NodeIndex,
    module: InstanceIndex,
    resource: &'s Resource,
}

/// What expressions see from now on, and what was found.
type Taken = (Option<Value>, Result<Diagnostics, Diagnostics>);

/// What came of a task.
pub(super) enum TaskResult {
    /// Of a managed resource.
    Managed(Box<Result<Planned, Diagnostics>>),
    /// Of a data source.
    Data(Box<Result<ReadData, Diagnostics>>),
    /// Of an ephemeral resource.
    Ephemeral(Box<Result<Opened, Diagnostics>>),
}

impl<'a> Driver<'a, '_> {
    pub(super) fn start_resource(&mut self, node: NodeIndex, key: &ResourceKey) {
        let module = self.walk.graph().nodes[node].module;
        let mut found = Diagnostics::new();
        let mut pending: Option<Pending<'a>> = None;
        for instance in self.walk.instances_of(module).to_vec() {
            let Some(resource) = self.walk.resource(instance, key) else { continue };
            let pending =
                pending.get_or_insert_with(|| Pending { resource, instances: Vec::new(), remaining: 0, failed: false });
            found.extend(if self.request.options.mode == Mode::Destroy && key.mode == ResourceMode::Managed {
                self.start_removal(&LeftoverSite { node, module: instance, resource }, pending)
            } else {
                self.start_in(node, instance, resource, pending)
            });
        }
        let Some(mut pending) = pending else { return self.conclude(node, found) };
        pending.failed = found.has_errors();
        self.diagnostics.extend(found);
        if pending.remaining == 0 {
            return self.finish_resource(node, &pending);
        }
        self.pending.insert(node, pending);
    }

    /// Starts the instances of a resource in one module instance.
    fn start_in(
        &mut self,
        node: NodeIndex,
        module: InstanceIndex,
        resource: &'a Resource,
        pending: &mut Pending<'a>,
    ) -> Diagnostics {
        let (instances, mut diagnostics) = self.walk.expand_resource(module, resource);
        if diagnostics.has_errors() {
            return diagnostics;
        }
        let address = self.absolute(module, &resource.key);
        let subject = Checked::Resource(address.config());
        if self.checks.has(&subject) {
            let found = instances.iter().map(|made| CheckedInstance::Resource(address.instance(made.key.clone())));
            self.checks.expanded(&subject, found);
        }
        let path = &self.walk.graph().modules[self.walk.module_index(module)].node.path;
        let (imports, found) = self.walk.imports_into(path, &resource.key);
        diagnostics.extend(found);
        let wanted: BTreeSet<InstanceKey> = instances.iter().map(|made| made.key.clone()).collect();
        let own = imports.iter().map(|import| &import.address).filter(|target| target.module == address.module);
        diagnostics.extend(own.filter(|target| !wanted.contains(target.key())).map(no_configuration));
        diagnostics.extend(self.unmatched_replacement(&address, &wanted));
        let begin = self.queue.len();
        for groma_lang::walk::ResourceInstance { key, repetition } in instances {
            if !self.selection.includes_instance(Some(node), &address.instance(key.clone())) {
                let value = Some(self.left_alone(resource, &address.instance(key.clone())));
                pending.instances.push(PendingInstance { module, key, repetition, wanted: true, value });
                continue;
            }
            let site = Site { module, resource, repetition: &repetition };
            let work = self.work_for(node, site, address.instance(key.clone()));
            match work.map(|work| importing(work, &imports)) {
                Ok(work) => {
                    self.queue.push_back(Task { node: Some(node), index: pending.instances.len(), work });
                    pending.remaining += 1;
                    pending.instances.push(PendingInstance { module, key, repetition, wanted: true, value: None });
                }
                Err(found) => {
                    diagnostics.extend(found.into_iter().map(|diagnostic| self.walk.locate(resource, diagnostic)));
                    pending.failed = true;
                }
            }
        }
        let site = LeftoverSite { node, module, resource };
        let middle = self.queue.len() - begin;
        diagnostics.extend(self.start_leftovers(&site, &address, &wanted, pending));
        // What is left over is looked at first: its provider may find it again under another key.
        self.queue.make_contiguous()[begin..].rotate_left(middle);
        diagnostics
    }

    /// Instances in the state that the configuration does not make any more, and deposed objects.
    fn start_leftovers(
        &mut self,
        site: &LeftoverSite<'_>,
        address: &AbsResource,
        wanted: &BTreeSet<InstanceKey>,
        pending: &mut Pending<'a>,
    ) -> Diagnostics {
        let LeftoverSite { node, module, resource } = *site;
        let mut diagnostics = Diagnostics::new();
        let destroys = self.request.options.mode == Mode::Destroy;
        let why = |key: &InstanceKey| (!destroys).then(|| leftover_reason(resource, key, wanted.len()));
        let reason = |key: &InstanceKey| (!wanted.contains(key)).then(|| why(key));
        for leftover in self.leftovers(address, &reason) {
            match leftover {
                Ok((key, job)) => {
                    self.queue.push_back(Task {
                        node: Some(node),
                        index: pending.instances.len(),
                        work: Work::Managed(job),
                    });
                    pending.remaining += 1;
                    let repetition = RepetitionData::default();
                    pending.instances.push(PendingInstance { module, key, repetition, wanted: false, value: None });
                }
                Err(found) => {
                    pending.failed = true;
                    diagnostics.extend(found);
                }
            }
        }
        diagnostics
    }

    /// Removes all instances of a resource. Until they are gone, providers may be configured with them.
    fn start_removal(&mut self, site: &LeftoverSite<'_>, pending: &mut Pending<'a>) -> Diagnostics {
        let address = self.absolute(site.module, &site.resource.key);
        let before = pending.instances.len();
        let queued = self.queue.len();
        let found = self.start_leftovers(site, &address, &BTreeSet::new(), pending);
        for instance in &mut pending.instances[before..] {
            instance.wanted = true;
        }
        let last_words = self.last_words(site);
        for task in self.queue.range_mut(queued..) {
            if let Work::Managed(job) = &mut task.work {
                job.last_words = last_words.get(job.address.key()).cloned();
            }
        }
        found
    }

    /// What the configuration says about objects that are to go. What cannot be evaluated any more is not missed.
    fn last_words(&self, site: &LeftoverSite<'_>) -> BTreeMap<InstanceKey, Value> {
        let LeftoverSite { module, resource, .. } = *site;
        let offered = self.providers.providers().schema(&resource.provider);
        let is_wanted = offered.is_some_and(|offered| offered.capabilities.last_words);
        let Ok(kind) = self.kind_of(resource) else { return BTreeMap::new() };
        if !is_wanted {
            return BTreeMap::new();
        }
        let (instances, found) = self.walk.expand_resource(module, resource);
        let instances = if found.has_errors() { Vec::new() } else { instances };
        let said = instances.into_iter().filter_map(|made| {
            let site = Site { module, resource, repetition: &made.repetition };
            let (config, found) = self.walk.resource_config(site, &kind.schema.block);
            (!found.has_errors()).then_some((made.key, config))
        });
        said.collect()
    }

    /// Evaluates what is configured for an instance.
    fn work_for(&mut self, node: NodeIndex, site: Site<'_>, address: AbsInstance) -> Result<Work, Diagnostics> {
        let resource = site.resource;
        keep_warnings(self.checks.judge_before(&self.walk, site, &address), &mut self.diagnostics)?;
        let slot = self.providers.of_resource(&self.walk, site)?;
        let kind = self.kind_of(resource)?;
        let (config, found) = self.walk.resource_config(site, &kind.schema.block);
        keep_warnings(with_address(found, &address), &mut self.diagnostics)?;
        let provider_meta = self.providers.meta(&self.walk, site.module, &resource.provider)?;
        let dependencies = Arc::clone(self.dependencies.of(node));
        let events = Arc::clone(&self.request.events);
        match resource.key.mode {
            ResourceMode::Managed => {}
            ResourceMode::Data => {
                let deferred = self.deferral(node, site, &config);
                let refresh_only = self.request.options.mode == Mode::RefreshOnly;
                let in_check = resource.check.is_some();
                return Ok(Work::Data(Box::new(DataJob {
                    address,
                    kind,
                    slot,
                    config,
                    provider_meta,
                    deferred,
                    in_check,
                    refresh_only,
                    dependencies,
                    events,
                })));
            }
            ResourceMode::Ephemeral => {
                let later = self.deferral(node, site, &config).is_some();
                return Ok(Work::Ephemeral(Box::new(OpenJob { address, kind, slot, config, later, events })));
            }
        }
        let stored = self.gathered.state().resources.get(&address.resource());
        let stored = stored.and_then(|resource| resource.instances.get(address.key()));
        let stored = stored.and_then(|instance| instance.current.clone());
        let mut notes = Vec::new();
        let mut force = self.forced(site, &address, &mut notes)?;
        if force.is_none()
            && let Some(note) = self.taken_along(&address, self.dependencies.of(node), stored.as_ref())
        {
            notes.push(note);
            force = Some(Reason::ReplaceByTriggers);
        }
        if let Some(asks) = self.made_first.get(&node).filter(|asks| **asks != node) {
            notes.extend(config_resource(self.walk.graph(), *asks).map(Note::MadeFirstFor));
        }
        let skip_destroy = skips_destroy(&self.walk, site)?;
        let has_rules = self.has_replace_rules(&address);
        Ok(Work::Managed(Box::new(Job {
            previous_address: self.gathered.previous_address(&address),
            origin: self.gathered.origin(&address, &slot.instance().config.provider),
            address,
            deposed: None,
            kind,
            slot,
            stored,
            refresh: self.request.options.refresh,
            refresh_only: self.request.options.mode == Mode::RefreshOnly,
            import: None,
            provider_meta,
            events,
            wanted: Wanted::Present(Box::new(Present {
                config,
                ignore: resource.managed.ignore_changes.clone(),
                force,
                create_before_destroy: self.made_first.contains_key(&node),
                skip_destroy,
                dependencies,
                notes,
                has_rules,
            })),
            last_words: None,
            listing: self.request.listing.clone(),
            adopted: None,
        })))
    }

    /// An instance that this plan is not about, as expressions see it: as it was, or not known if it was never made.
    fn left_alone(&self, resource: &Resource, address: &AbsInstance) -> Value {
        let stored = self.gathered.state().resources.get(&address.resource());
        let stored = stored.and_then(|found| found.instances.get(address.key())?.current.as_ref());
        let schema = self.request.schemas.resource(&resource.provider, resource.key.mode, &resource.key.ty);
        as_stored(stored, schema.as_deref())
    }

    pub(super) fn kind_of(&self, resource: &Resource) -> Result<ObjectSchema, Diagnostics> {
        object_schema(self.request.schemas, &**self.providers.providers(), resource)
    }

    /// Asking for the replacement of a resource that has several instances is asking for nothing.
    fn unmatched_replacement(&self, address: &AbsResource, keys: &BTreeSet<InstanceKey>) -> Option<Diagnostic> {
        let asked = address.instance(InstanceKey::None);
        if !self.request.options.replace.contains(&asked) || keys.contains(&InstanceKey::None) || keys.is_empty() {
            return None;
        }
        let named: Vec<String> =
            keys.iter().map(|key| format!("\n  -replace={:?}", address.instance(key.clone()).to_string())).collect();
        let detail = format!(
            "-replace={:?} does not name a single instance of {address}. To replace particular instances, use one or more \
             of these options:{}",
            asked.to_string(),
            named.concat()
        );
        Some(Diagnostic::warning("Incompletely-matched force-replace resource instance", detail))
    }

    /// Whether an instance is replaced in any case.
    fn forced(
        &self,
        site: Site<'_>,
        address: &AbsInstance,
        notes: &mut Vec<Note>,
    ) -> Result<Option<Reason>, Diagnostics> {
        let requested = self.request.options.replace.contains(address);
        if requested {
            notes.push(Note::Requested);
        }
        for expr in &site.resource.managed.replace_triggered_by {
            if self.triggers(site, expr)? {
                notes.push(Note::TriggeredBy(self.request.settings.sources.text(expr.span).to_owned()));
                return Ok(Some(Reason::ReplaceByTriggers));
            }
        }
        Ok(requested.then_some(Reason::ReplaceByRequest))
    }

    /// Takes the result of a task in.
    pub(super) fn take(&mut self, node: Option<NodeIndex>, index: usize, result: TaskResult) {
        let (value, found) = match result {
            TaskResult::Managed(result) => match *result {
                Ok(planned) => self.take_managed(node, index, planned),
                Err(found) => (None, Err(found)),
            },
            TaskResult::Data(result) => match *result {
                Ok(read) => self.take_data(node, read),
                Err(found) => (None, Err(found)),
            },
            TaskResult::Ephemeral(result) => match *result {
                Ok(Opened { value, lease, diagnostics }) => {
                    if let Some(lease) = lease {
                        self.leases.keep(lease, self.request.settings.environment.now());
                    }
                    (Some(value), Ok(diagnostics))
                }
                Err(found) => (None, Err(found)),
            },
        };
        let Some(node) = node else {
            let found = found.unwrap_or_else(|errors| errors);
            let found: Vec<Diagnostic> = found.into_iter().map(|diagnostic| self.locate(diagnostic)).collect();
            self.diagnostics.extend(found);
            return;
        };
        let Some(mut pending) = self.pending.remove(&node) else { return };
        pending.failed |= found.is_err();
        let place = |diagnostic| self.walk.locate(pending.resource, diagnostic);
        let found: Diagnostics = found.unwrap_or_else(|errors| errors).into_iter().map(place).collect();
        self.diagnostics.extend(found);
        if let Some(instance) = pending.instances.get_mut(index) {
            instance.value = value;
        }
        pending.remaining -= 1;
        if pending.remaining == 0 {
            self.finish_resource(node, &pending);
        } else {
            self.pending.insert(node, pending);
        }
    }

    fn take_data(&mut self, node: Option<NodeIndex>, mut read: ReadData) -> Taken {
        let check = node.and_then(|node| self.pending.get(&node)?.resource.check.clone());
        if let Some(check) = check {
            let check = CheckedInstance::Check(read.address.module.clone(), check);
            self.checks.note_data(&check, read.problem.take());
        }
        if let (Some(node), Some(_)) = (node, &read.change) {
            self.gathered.note_pending(node, &read.address.module);
        }
        let warnings = std::mem::take(&mut read.diagnostics);
        let value = read.value.clone();
        self.gathered.data(read);
        (Some(value), Ok(warnings))
    }

    fn take_managed(&mut self, node: Option<NodeIndex>, index: usize, mut planned: Planned) -> Taken {
        let mut found = std::mem::take(&mut planned.diagnostics);
        found.extend(self.judge_readiness(&mut planned));
        let mut prevented = None;
        if let Some(change) = &planned.change {
            prevented = match self.check_prevented(node, index, change) {
                Ok(None) => None,
                Ok(Some(problem)) => {
                    // It is told at the end, with what rules would have said.
                    self.prevented.insert(change.address.clone(), problem);
                    Some(Diagnostics::new())
                }
                Err(found) => Some(found),
            };
            if prevented.is_some() && self.request.options.mode == Mode::Destroy {
                self.still_needed.extend(change.dependencies.iter().cloned());
            }
            let cascades = self.cascades(change, planned.candidate.as_deref());
            self.cascades.extend(cascades);
            if let Some(node) = node.filter(|_| change.action != Action::NoOp || change.only_waits()) {
                self.gathered.note_pending(node, &change.address.module);
            }
        }
        let destroys = self.request.options.mode == Mode::Destroy;
        let value = match (&planned.change, &planned.refreshed) {
            (Some(change), _) if destroys => Some(change.before.clone()),
            (Some(change), _) if change.only_waits() => {
                let rule = self.request.rules.waits.find(&change.address);
                Some(still_open(&change.after, &change.schema.block, rule))
            }
            (Some(change), _) => Some(change.after.clone()),
            (None, Some(object)) => Some(object.marked(&planned.kind.schema)),
            (None, None) => None,
        };
        self.gathered.managed(planned);
        match prevented {
            // It is shown all the same.
            Some(found) => (None, Err(found)),
            None if found.has_errors() => (None, Err(found)),
            None => (value, Ok(found)),
        }
    }

    /// Whether an object that was not ready is so now. What cannot be marked is judged anew every time.
    fn judge_readiness(&self, planned: &mut Planned) -> Diagnostics {
        let Planned { address, deposed: None, kind, refreshed: Some(object), change, .. } = planned else {
            return Diagnostics::new();
        };
        let rule = self.request.rules.waits.find(address);
        let unmarked = rule.is_some() && !NotReady::fits(&object.private);
        if object.pending.is_none() && !unmarked {
            return Diagnostics::new();
        }
        let mut found = Diagnostics::new();
        if self.request.options.refresh {
            let lack = lack(rule, object, &kind.schema, &self.request.settings);
            object.pending = lack.pending().cloned();
            if let Lack::Unclear(_, problems) = lack {
                found.extend(as_warnings(with_address(problems, address)));
            }
        }
        if let Some(change) = change
            && !change.after.is_null()
            && !change.action.is_replace()
        {
            change.not_ready.clone_from(&object.pending);
        }
        found
    }

    /// `prevent_destroy` stops a plan that would delete: what to say about that.
    fn check_prevented(
        &self,
        node: Option<NodeIndex>,
        index: usize,
        change: &Change,
    ) -> Result<Option<Diagnostic>, Diagnostics> {
        if !change.action.deletes() || change.deposed.is_some() {
            return Ok(None);
        }
        let pending = node.and_then(|node| self.pending.get(&node));
        let instance = pending.and_then(|pending| pending.instances.get(index));
        let (module, repetition) = match instance {
            Some(instance) => (Some(instance.module), instance.repetition.clone()),
            // While everything goes, objects are removed without their declarations being looked at.
            None => (self.walk.instance_at(&change.address.module), RepetitionData::default()),
        };
        let resource = module.and_then(|module| self.walk.resource(module, &change.address.instance.resource));
        let (Some(module), Some(resource)) = (module, resource) else { return Ok(None) };
        let Some(expr) = &resource.managed.prevent_destroy else { return Ok(None) };
        let site = Site { module, resource, repetition: &repetition };
        if truth(&self.walk, site, expr)? != Some(true) {
            return Ok(None);
        }
        let Change { address, .. } = change;
        let detail = format!(
            "{address} must not be destroyed (prevent_destroy is set), but this plan would destroy it. Either take \
             prevent_destroy back, or leave it out of this plan with -exclude=\"{}\".",
            address.resource()
        );
        Ok(Some(Diagnostic::error("Resource instance cannot be destroyed", detail).at(resource.declared.header)))
    }

    /// Points at the block of the object that a diagnostic is about, if there is one.
    fn locate(&self, diagnostic: Diagnostic) -> Diagnostic {
        let address = diagnostic.address.as_ref().and_then(|address| address.parse::<AbsInstance>().ok());
        let module = address.as_ref().and_then(|address| self.walk.instance_at(&address.module));
        let resource =
            address.zip(module).and_then(|(address, module)| self.walk.resource(module, &address.instance.resource));
        match resource {
            Some(resource) => self.walk.locate(resource, diagnostic),
            None => diagnostic,
        }
    }

    /// All instances of a resource are planned: expressions can see it, and it is judged.
    fn finish_resource(&mut self, node: NodeIndex, pending: &Pending<'_>) {
        if pending.failed {
            // What there is is judged all the same.
            let found = self.judge(pending);
            self.diagnostics.extend(found);
            return self.done(node, true);
        }
        let mut by_module: BTreeMap<InstanceIndex, Vec<(InstanceKey, Value)>> = BTreeMap::new();
        for instance in self.walk.instances_of(self.walk.graph().nodes[node].module) {
            by_module.insert(*instance, Vec::new());
        }
        let mut found = Diagnostics::new();
        for instance in pending.instances.iter().filter(|instance| instance.wanted) {
            // What is only looked at and is not there yet will be known once it is made.
            let only_one = self.request.options.mode == Mode::RefreshOnly && instance.key.is_none();
            let later = only_one.then(Value::dynamic);
            let Some(value) = instance.value.clone().or(later) else { continue };
            by_module.entry(instance.module).or_default().push((instance.key.clone(), value));
        }
        let destroys = self.request.options.mode == Mode::Destroy && pending.resource.key.mode == ResourceMode::Managed;
        for (module, instances) in by_module {
            let instances = if destroys {
                as_it_was(&self.walk, module, pending.resource, instances.into_iter().collect())
            } else {
                instances
            };
            self.values.set((&self.walk, module), pending.resource, instances);
        }
        found.extend(self.judge(pending));
        self.conclude(node, found);
    }

    /// The postconditions of all instances that have a value.
    fn judge(&mut self, pending: &Pending<'_>) -> Diagnostics {
        let mut found = Diagnostics::new();
        if pending.resource.postconditions.is_empty() {
            return found;
        }
        for instance in pending.instances.iter().filter(|instance| instance.wanted) {
            let Some(value) = &instance.value else { continue };
            let site = Site { module: instance.module, resource: pending.resource, repetition: &instance.repetition };
            let address = self.absolute(instance.module, &pending.resource.key).instance(instance.key.clone());
            found.extend(self.checks.judge_after(&self.walk, site, &address, value));
        }
        found
    }

    pub(super) fn absolute(&self, module: InstanceIndex, key: &ResourceKey) -> AbsResource {
        key.absolute(self.walk.module_instance(module).clone())
    }
}

/// The work with what it imports. What is in the state already is not imported again.
pub(super) fn importing(mut work: Work, imports: &[ImportInto]) -> Work {
    if let Work::Managed(job) = &mut work
        && job.stored.is_none()
        && let Some(import) = imports.iter().find(|import| import.address == job.address)
    {
        job.import = match &import.what {
            // No id is no import.
            ImportedBy::Id(id) if id.is_empty() => None,
            ImportedBy::Id(id) => Some(ImportTarget::Id(id.clone())),
            ImportedBy::Identity(identity) => Some(ImportTarget::Identity(completed(identity, &job.kind))),
        };
    }
    work
}

/// An identity with null for what was not written.
fn completed(identity: &Value, kind: &ObjectSchema) -> Value {
    let (Some(schema), Some(given)) = (&kind.identity, identity.as_entries()) else { return identity.clone() };
    let Type::Object(wanted) = schema.implied_type() else { return identity.clone() };
    let missing = wanted.iter().filter(|(name, _)| given.get(name).is_none());
    let missing: Vec<_> = missing.map(|(name, attribute)| (name.clone(), Value::null(attribute.ty.clone()))).collect();
    let given = given.iter().map(|(name, value)| (name.clone(), value.clone()));
    let whole = Value::object(given.chain(missing));
    convert(&whole, &schema.implied_type()).unwrap_or(whole)
}

/// Why an instance is not made any more.
fn leftover_reason(resource: &Resource, key: &InstanceKey, made: usize) -> Reason {
    match (&resource.repetition, key) {
        (Repetition::Count(_), InstanceKey::Int(_)) => Reason::DeleteBecauseCountIndex,
        (Repetition::ForEach(_), InstanceKey::String(_)) => Reason::DeleteBecauseEachKey,
        (Repetition::Enabled(_), InstanceKey::None) if made == 0 => Reason::DeleteBecauseEnabledFalse,
        _ => Reason::DeleteBecauseWrongRepetition,
    }
}
