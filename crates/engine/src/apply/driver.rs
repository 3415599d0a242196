//! The walk of an apply: the steps of the plan in their order, with calls to providers going on beside it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use groma_lang::config::{Resource, ResourceKey};
use groma_lang::graph::{NodeIndex, NodeKind};
use groma_lang::walk::{InstanceIndex, Purpose, RepetitionData, Settings, Site, Walk};
use groma_model::address::{AbsInstance, InstanceKey, ModuleInstance};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::value::Value;
use groma_state::{InstanceState, ObjectState, OutputState, ResourceState, State};
use tokio::task::JoinSet;

use super::instance::{self, Done, Job, Left};
use super::provision::{self, Provisioning, Ready};
use super::{Applied, Request, Save};
use crate::change::{Action, Change};
use crate::events::Event;
use crate::execution::{Step, StepIndex};
use crate::plan::Mode;
use crate::plan::instance::{keep_warnings, with_address};
use crate::plan::provider_use::ProviderUse;
use crate::schedule::Schedule;
use crate::stored::ObjectSchema;
use crate::values::ResourceValues;

/// The work of one task.
pub(super) enum Work {
    /// A change is carried out.
    Change {
        /// In which step.
        step: StepIndex,
        /// What.
        job: Box<Job>,
        /// Whether the step was announced already.
        told: bool,
    },
    /// A provisioner runs.
    Provision(Box<Provisioning>, Box<Ready>),
}

/// What came of it.
enum Finished {
    Change(StepIndex, Box<Job>, Done),
    Provision(Box<Provisioning>, Diagnostics),
}

pub(super) struct Driver<'a, 'r> {
    pub(super) request: &'r Request<'a>,
    pub(super) walk: Walk<'a>,
    values: &'r ResourceValues<'a>,
    providers: ProviderUse,
    state: State,
    save: &'r mut dyn Save,
    schedule: Schedule,
    pub(super) queue: VecDeque<Work>,
    /// What changed objects are now, with marks.
    made: BTreeMap<AbsInstance, Value>,
    /// Repetitions of resources that were expanded already.
    expanded: BTreeMap<(InstanceIndex, ResourceKey), BTreeMap<InstanceKey, RepetitionData>>,
    pub(super) modules: BTreeMap<ModuleInstance, InstanceIndex>,
    pub(super) diagnostics: Diagnostics,
}

pub(super) async fn run(request: Request<'_>, save: &mut dyn Save) -> Applied {
    let values = ResourceValues::new(request.schemas);
    let settings = Settings { purpose: Purpose::Evaluate, oracle: &values, ..request.settings };
    let (walk, diagnostics) = Walk::start(request.tree, settings, request.inputs);
    let mut driver = Driver {
        walk,
        values: &values,
        providers: ProviderUse::new(Arc::clone(&request.providers)),
        state: request.plan.prior_state.clone(),
        save,
        schedule: Schedule::new(&request.plan.execution.needs),
        queue: VecDeque::new(),
        made: BTreeMap::new(),
        expanded: BTreeMap::new(),
        modules: BTreeMap::from([(ModuleInstance::root(), 0)]),
        diagnostics,
        request: &request,
    };
    if !driver.diagnostics.has_errors() {
        driver.work().await;
        driver.set_outputs();
    }
    if let Err(found) = driver.save.finished(&driver.state) {
        driver.diagnostics.extend(found);
    }
    Applied { state: driver.state, diagnostics: driver.diagnostics }
}

impl<'a> Driver<'a, '_> {
    async fn work(&mut self) {
        let mut tasks = JoinSet::new();
        loop {
            while let Some(step) = self.schedule.next() {
                self.start(step);
            }
            while tasks.len() < self.request.parallelism
                && let Some(work) = self.queue.pop_front()
            {
                self.announce(&work);
                tasks.spawn(self.perform(work));
            }
            let Some(finished) = tasks.join_next().await else { break };
            match finished {
                Ok(finished) => {
                    // What was begun goes on before anything else.
                    if let Some(work) = self.take(finished) {
                        tasks.spawn(self.perform(work));
                    }
                }
                Err(error) => self.diagnostics.push(Diagnostic::error("Internal error", error.to_string())),
            }
        }
    }

    fn announce(&self, work: &Work) {
        let change = match work {
            Work::Change { job, told: false, .. } => &job.change,
            Work::Provision(provisioning, _) if provisioning.opens_step() => &provisioning.job.change,
            _ => return,
        };
        let Change { address, deposed, action, .. } = change.clone();
        self.request.events.tell(Event::ApplyStarted { address, deposed, action, id: None });
    }

    fn perform(&self, work: Work) -> impl Future<Output = Finished> + Send + 'static {
        let (provisioners, events) = (Arc::clone(&self.request.provisioners), Arc::clone(&self.request.events));
        async move {
            match work {
                Work::Change { step, job, .. } => {
                    let done = instance::apply(&job).await;
                    Finished::Change(step, job, done)
                }
                Work::Provision(provisioning, ready) => {
                    let found = provision::run(*ready, provisioners.as_ref(), events.as_ref()).await;
                    Finished::Provision(provisioning, found)
                }
            }
        }
    }

    fn start(&mut self, step: StepIndex) {
        if self.schedule.is_blocked(step) {
            return self.schedule.done(step, true);
        }
        match self.request.plan.execution.steps[step].clone() {
            Step::Gate => self.schedule.done(step, false),
            Step::Declare(node) => {
                let found = self.declare(node);
                self.conclude(step, found);
            }
            Step::Make(change) => self.begin(step, change, Driver::make),
            Step::Remove(change) => self.begin(step, change, Driver::remove),
        }
    }

    fn conclude(&mut self, step: StepIndex, found: Diagnostics) {
        let failed = found.has_errors();
        self.diagnostics.extend(found);
        self.schedule.done(step, failed);
    }

    fn begin(
        &mut self,
        step: StepIndex,
        change: usize,
        prepare: fn(&mut Self, usize) -> Result<Option<Job>, Diagnostics>,
    ) {
        match prepare(self, change) {
            Ok(Some(job)) => self.set_out(step, Box::new(job)),
            Ok(None) => self.schedule.done(step, false),
            Err(found) => {
                let address = self.request.plan.changes[change].address.clone();
                self.conclude(step, with_address(found, &address));
            }
        }
    }

    fn declare(&mut self, node: NodeIndex) -> Diagnostics {
        let module = self.walk.graph().nodes[node].module;
        match self.walk.graph().nodes[node].kind.clone() {
            NodeKind::Resource(key) => {
                let mut found = Diagnostics::new();
                for instance in self.walk.instances_of(module).to_vec() {
                    if let Some(resource) = self.walk.resource(instance, &key) {
                        found.extend(self.show(instance, resource));
                    }
                }
                found
            }
            NodeKind::Provider(key) => {
                let mut found = Diagnostics::new();
                for &instance in self.walk.instances_of(module) {
                    found.extend(self.providers.visit(&self.walk, instance, &key));
                }
                found
            }
            NodeKind::Expansion => {
                let found = self.walk.visit(node);
                for &instance in self.walk.instances_of(module) {
                    self.modules.insert(self.walk.module_instance(instance).clone(), instance);
                }
                found
            }
            _ => self.walk.visit(node),
        }
    }

    /// All instances of a resource are as planned: expressions can see them, and they are judged.
    fn show(&mut self, module: InstanceIndex, resource: &'a Resource) -> Diagnostics {
        if self.request.plan.mode == Mode::Destroy && resource.key.mode == groma_lang::config::ResourceMode::Managed {
            self.show_as_it_was(module, resource);
            return Diagnostics::new();
        }
        let (instances, mut diagnostics) = self.walk.expand_resource(module, resource);
        let address = resource.key.absolute(self.walk.module_instance(module).clone());
        let mut values = Vec::new();
        for instance in &instances {
            let Some(value) = self.value_of(&address.instance(instance.key.clone())) else { continue };
            values.push((instance.key.clone(), value));
        }
        self.values.set(self.walk.module_address(module), resource, values.clone());
        for (instance, (_, value)) in instances.iter().zip(&values) {
            let site = Site { module, resource, repetition: &instance.repetition };
            for result in self.walk.postconditions(site, value) {
                diagnostics.extend(result.diagnostics);
            }
        }
        diagnostics
    }

    /// While everything is being taken down, providers are configured with what there was.
    fn show_as_it_was(&self, module: InstanceIndex, resource: &Resource) {
        let address = resource.key.absolute(self.walk.module_instance(module).clone());
        let changes = &self.request.plan.changes;
        let from = changes.partition_point(|change| change.address.resource() < address);
        let own = changes[from..].iter().take_while(|change| change.address.resource() == address);
        let current = own.filter(|change| change.deposed.is_none());
        let values = current.map(|change| (change.address.key().clone(), change.before.clone())).collect();
        self.values.set(self.walk.module_address(module), resource, values);
    }

    fn value_of(&self, address: &AbsInstance) -> Option<Value> {
        if let Some(value) = self.made.get(address).or_else(|| self.request.plan.data.get(address)) {
            return Some(value.clone());
        }
        let changes = &self.request.plan.changes;
        let at = changes.binary_search_by(|change| (&change.address, &change.deposed).cmp(&(address, &None))).ok()?;
        Some(changes[at].after.clone())
    }

    fn make(&mut self, at: usize) -> Result<Option<Job>, Diagnostics> {
        let plan = self.request.plan;
        let change = plan.changes[at].clone();
        let address = change.address.clone();
        let module = self.modules.get(&address.module).copied().unwrap_or(0);
        let Some(resource) = self.walk.resource(module, &address.instance.resource) else { return Ok(None) };
        let repetition = self.repetition(module, resource, address.key())?;
        let site = Site { module, resource, repetition: &repetition };
        let mut failures = Diagnostics::new();
        for result in self.walk.preconditions(site) {
            failures.extend(result.diagnostics);
        }
        keep_warnings(failures, &mut self.diagnostics)?;
        let slot = self.providers.of_resource(&self.walk, site)?;
        let (config, found) = self.walk.resource_config(site, &change.schema.block);
        keep_warnings(found, &mut self.diagnostics)?;
        if !config.is_wholly_known() {
            let detail = format!("The configuration of {address} still has unknown values while it is applied.");
            return Err(Diagnostic::error("Configuration contains unknown value", detail).into());
        }
        if let Some(key) = plan.execution.deposed_as.get(&at)
            && let Some(instance) = self.instance_mut(&address)
            && let Some(object) = instance.current.take()
        {
            instance.deposed.insert(key.clone(), object);
        }
        let stored = if change.action == Action::Update { self.stored(&address) } else { None };
        let dependencies = Arc::clone(&change.dependencies);
        let kind = self.kind(&change, &slot.instance().config.provider);
        Ok(Some(Job { change, kind, slot, stored, config: Some(config), dependencies }))
    }

    fn remove(&mut self, at: usize) -> Result<Option<Job>, Diagnostics> {
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
            self.put(&change, None);
            self.store();
            return Ok(None);
        }
        let slot = self.providers.of_stored(&change.provider, &change.address.to_string())?;
        let dependencies = stored.dependencies.clone().into();
        let kind = self.kind(&change, &change.provider.config.provider);
        Ok(Some(Job { change, kind, slot, stored: Some(stored), config: None, dependencies }))
    }

    fn kind(&self, change: &Change, provider: &groma_model::address::Provider) -> ObjectSchema {
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

    fn stored(&self, address: &AbsInstance) -> Option<ObjectState> {
        self.state.resources.get(&address.resource())?.instances.get(address.key())?.current.clone()
    }

    fn instance_mut(&mut self, address: &AbsInstance) -> Option<&mut InstanceState> {
        self.state.resources.get_mut(&address.resource())?.instances.get_mut(address.key())
    }

    /// Takes the result of a task in. Gives what its step goes on with.
    fn take(&mut self, finished: Finished) -> Option<Work> {
        let (step, job, done) = match finished {
            Finished::Change(step, job, done) => (step, job, done),
            Finished::Provision(provisioning, found) => return self.provisioned(*provisioning, found),
        };
        let Done { left, diagnostics } = done;
        let failed = diagnostics.has_errors();
        let mut new = None;
        match left {
            Left::AsStored => self.restore(&job.change),
            Left::Nothing => self.put(&job.change, None),
            Left::Object(object) => {
                self.made.insert(job.change.address.clone(), object.marked(&job.kind.schema));
                match object.stored(&job.kind) {
                    Ok(stored) => self.put(&job.change, Some(stored)),
                    Err(found) => self.diagnostics.extend(found),
                }
                new = (!failed && job.config.is_some() && job.change.action.creates()).then_some(object);
            }
        }
        self.store();
        let resource = self.modules.get(&job.change.address.module).copied().unwrap_or(0);
        let resource = self.walk.resource(resource, &job.change.address.instance.resource);
        let place = |diagnostic| match resource {
            Some(resource) => self.walk.locate(resource, diagnostic),
            None => diagnostic,
        };
        let found = diagnostics.into_iter().map(place).collect();
        if let Some(object) = new {
            return self.provision(Provisioning::of_new(step, job, object, found));
        }
        self.end(step, &job.change, found);
        None
    }

    /// Ends the step of a change.
    pub(super) fn end(&mut self, step: StepIndex, change: &Change, found: Diagnostics) {
        let Change { address, deposed, action, .. } = change.clone();
        self.request.events.tell(if found.has_errors() {
            Event::ApplyFailed { address, deposed, action }
        } else {
            Event::ApplyDone { address, deposed, action, id: None }
        });
        self.conclude(step, found);
    }

    /// An object that was put aside for a replacement that was never made comes back.
    fn restore(&mut self, change: &Change) {
        if change.action != Action::CreateThenDelete || change.deposed.is_some() {
            return;
        }
        let at = self.request.plan.changes.iter().position(|planned| planned.address == change.address);
        let key = at.and_then(|at| self.request.plan.execution.deposed_as.get(&at).cloned());
        if let (Some(key), Some(instance)) = (key, self.instance_mut(&change.address))
            && instance.current.is_none()
        {
            instance.current = instance.deposed.remove(&key);
        }
    }

    /// Writes down what there is now.
    pub(super) fn put(&mut self, change: &Change, object: Option<ObjectState>) {
        let address = &change.address;
        let resource = self
            .state
            .resources
            .entry(address.resource())
            .or_insert_with(|| ResourceState { provider: change.provider.config.clone(), instances: BTreeMap::new() });
        if object.is_some() && change.deposed.is_none() {
            resource.provider = change.provider.config.clone();
        }
        let instance = resource.instances.entry(address.key().clone()).or_default();
        instance.provider_key = change.provider.key.clone();
        match (&change.deposed, object) {
            (None, object) => instance.current = object,
            (Some(key), Some(object)) => {
                instance.deposed.insert(key.clone(), object);
            }
            (Some(key), None) => {
                instance.deposed.remove(key);
            }
        }
        if instance.current.is_none() && instance.deposed.is_empty() {
            resource.instances.remove(address.key());
        }
        if resource.instances.is_empty() {
            self.state.resources.remove(&address.resource());
        }
    }

    pub(super) fn store(&mut self) {
        if let Err(found) = self.save.changed(&self.state) {
            self.diagnostics.extend(found);
        }
    }

    /// Outputs whose values could be worked out. The others stay as they were.
    fn set_outputs(&mut self) {
        if self.request.plan.mode == Mode::Destroy {
            self.state.outputs.clear();
            return;
        }
        for (name, output) in &self.walk.module(0).outputs {
            let Some(value) = self.walk.root_outputs().get(name) else { continue };
            let value = value.clone().unmark_deep().0;
            if value.is_null() {
                self.state.outputs.remove(name);
            } else if value.is_wholly_known() {
                let state = OutputState { value, sensitive: output.sensitive, deprecated: output.deprecated.clone() };
                self.state.outputs.insert(name.clone(), state);
            }
        }
        let declared = &self.walk.module(0).outputs;
        self.state.outputs.retain(|name, _| declared.contains_key(name));
    }
}
