//! Provisioners of one object: evaluated on the walk when their turn comes, run beside it, one after the other. What they do is
//! behind [`crate::provision`].

use std::borrow::Cow;
use std::sync::Arc;

use groma_lang::config::{ObjectAddress, OnFailure, Provisioner, Resource, When};
use groma_lang::walk::{InstanceIndex, RepetitionData, Site};
use groma_model::address::{AbsInstance, InstanceKey};
use groma_model::diag::{Diagnostic, Diagnostics, Severity};
use groma_model::mark::Marks;
use groma_model::value::Value;
use groma_state::ObjectStatus;

use super::driver::{Driver, Work};
use super::instance::Job;
use crate::change::Change;
use crate::events::{Event, Events};
use crate::execution::StepIndex;
use crate::interrupt::Urgency;
use crate::plan::instance::with_address;
use crate::provision::{Provision, Provisioners};
use crate::stored::Object;

/// The provisioners of one object, as far as they have come.
pub(super) struct Provisioning {
    pub(super) step: StepIndex,
    pub(super) job: Box<Job>,
    stage: Stage,
    /// Which of them is next.
    next: usize,
    found: Diagnostics,
}

enum Stage {
    /// The object was made.
    Made(Box<Object>),
    /// It is about to be removed.
    ToRemove,
}

/// A provisioner that is ready to run.
pub(super) struct Ready {
    address: AbsInstance,
    on_failure: OnFailure,
    place: groma_model::span::Span,
    provision: Provision,
}

/// What the configuration says about the provisioners of an object.
struct Declared<'a> {
    module: InstanceIndex,
    resource: Cow<'a, Resource>,
    provisioners: Vec<&'a Provisioner>,
}

impl Provisioning {
    /// For an object that was just made and stored.
    pub(super) fn of_new(step: StepIndex, job: Box<Job>, object: Box<Object>, found: Diagnostics) -> Self {
        Self { step, job, stage: Stage::Made(object), next: 0, found }
    }

    /// For an object that goes.
    pub(super) fn of_old(step: StepIndex, job: Box<Job>) -> Self {
        Self { step, job, stage: Stage::ToRemove, next: 0, found: Diagnostics::new() }
    }

    /// Whether it begins only now.
    pub(super) fn opens_step(&self) -> bool {
        self.next == 1 && matches!(self.stage, Stage::ToRemove)
    }

    fn when(&self) -> When {
        match self.stage {
            Stage::Made(_) => When::Create,
            Stage::ToRemove => When::Destroy,
        }
    }

    /// What `self` stands for.
    fn itself(&self) -> Value {
        match &self.stage {
            Stage::Made(object) => object.marked(&self.job.kind.schema),
            Stage::ToRemove => self.job.change.before.clone(),
        }
    }
}

impl<'a> Driver<'a, '_> {
    /// Sets out on a change. What an object has to do before it goes comes first.
    pub(super) fn set_out(&mut self, step: StepIndex, job: Box<Job>) {
        let tainted = job.stored.as_ref().is_some_and(|stored| stored.status == ObjectStatus::Tainted);
        let removes = job.wanted.is_none() && job.change.deposed.is_none();
        let work = if removes && !tainted && self.declared(&job.change, When::Destroy).is_some() {
            self.provision(Provisioning::of_old(step, job))
        } else {
            Some(Work::Change { step, job, told: false })
        };
        self.queue.extend(work);
    }

    /// The next provisioner, or what comes after them. None if the step is over.
    pub(super) fn provision(&mut self, mut provisioning: Provisioning) -> Option<Work> {
        let declared = self.declared(&provisioning.job.change, provisioning.when());
        let next = declared.as_ref().and_then(|declared| declared.provisioners.get(provisioning.next).copied());
        let (Some(declared), Some(provisioner)) = (declared, next) else {
            return self.after_provisioners(provisioning);
        };
        provisioning.next += 1;
        if self.request.interrupt.urgency() >= Urgency::Soon {
            provisioning.found.push(not_started(&provisioning.job.change.address, provisioner));
            return self.after_provisioners(provisioning);
        }
        match self.ready(&provisioning, &declared, provisioner) {
            Ok(ready) => {
                if matches!(provisioning.stage, Stage::Made(_)) {
                    self.unprovisioned.insert(provisioning.job.change.address.clone());
                }
                Some(Work::Provision(Box::new(provisioning), Box::new(ready)))
            }
            Err(found) => {
                provisioning.found.extend(with_address(found, &provisioning.job.change.address));
                self.after_provisioners(provisioning)
            }
        }
    }

    /// Takes in what a provisioner has said.
    pub(super) fn provisioned(&mut self, mut provisioning: Provisioning, found: Diagnostics) -> Option<Work> {
        let failed = found.has_errors();
        provisioning.found.extend(found);
        if failed { self.after_provisioners(provisioning) } else { self.provision(provisioning) }
    }

    fn after_provisioners(&mut self, provisioning: Provisioning) -> Option<Work> {
        let Provisioning { step, job, stage, found, .. } = provisioning;
        self.unprovisioned.remove(&job.change.address);
        let failed = found.has_errors();
        match stage {
            Stage::Made(mut object) if failed => {
                // It is there, but not what was asked for: the next plan makes another.
                object.status = ObjectStatus::Tainted;
                // Nothing depends on it: it has failed.
                let kept = object.stored(&job.kind).and_then(|stored| self.put_down(None, &job.change, Some(stored)));
                self.diagnostics.extend(kept.err().unwrap_or_default());
                self.store();
            }
            Stage::Made(_) => {}
            Stage::ToRemove if failed => {}
            Stage::ToRemove => {
                self.diagnostics.extend(found);
                return Some(Work::Change { step, job, told: true });
            }
        }
        self.end(step, &job.change, found);
        None
    }

    /// Nobody waits for provisioners any more: objects whose provisioners did not end are not what was asked for.
    pub(super) fn give_up_provisioning(&mut self) {
        let given_up = std::mem::take(&mut self.unprovisioned);
        for address in &given_up {
            if let Some(object) = self.instance_mut(address).and_then(|instance| instance.current.as_mut()) {
                object.status = ObjectStatus::Tainted;
            }
        }
        if !given_up.is_empty() {
            self.store();
        }
    }

    /// The provisioners for an object, if there are any.
    fn declared(&self, change: &Change, when: When) -> Option<Declared<'a>> {
        let module = self.walk.instance_at(&change.address.module);
        let (resource, all) = match self.configured(&change.address, module) {
            Some(resource) => (Cow::Borrowed(resource), resource.managed.provisioners.iter()),
            None if when == When::Destroy => self.removed(change)?,
            None => return None,
        };
        let provisioners: Vec<&Provisioner> = all.filter(|provisioner| provisioner.when == when).collect();
        (!provisioners.is_empty()).then(|| Declared { module: module.unwrap_or(0), resource, provisioners })
    }

    /// The block of an instance, which may stand in a module that makes fewer instances now.
    fn configured(&self, address: &AbsInstance, module: Option<InstanceIndex>) -> Option<&'a Resource> {
        let key = &address.instance.resource;
        if let Some(module) = module {
            return self.walk.resource(module, key);
        }
        self.walk.graph().resource(address.module.module().names(), key)
    }

    /// What a `removed` block says about an object that is not declared any more.
    fn removed(&self, change: &Change) -> Option<(Cow<'a, Resource>, std::slice::Iter<'a, Provisioner>)> {
        let address = &change.address;
        let path = address.module.module();
        for entry in &self.walk.graph().modules {
            for removed in &entry.node.module.removed {
                let Some((key, _)) = removed.from.as_ref().and_then(|from| from.resource.as_ref()) else { continue };
                let on_the_way = removed.from.iter().flat_map(ObjectAddress::module_path);
                let named: Vec<_> = entry.node.path.iter().cloned().chain(on_the_way).collect();
                if path.names() != named || *key != address.instance.resource {
                    continue;
                }
                let provider = change.provider.config.provider.clone();
                let stand_in = Resource::stand_in(key.clone(), provider, removed.header);
                return Some((Cow::Owned(stand_in), removed.provisioners.iter()));
            }
        }
        None
    }

    /// A provisioner with its configuration worked out.
    fn ready(
        &mut self,
        provisioning: &Provisioning,
        declared: &Declared<'a>,
        provisioner: &Provisioner,
    ) -> Result<Ready, Diagnostics> {
        let address = &provisioning.job.change.address;
        let resource = declared.resource.as_ref();
        let repetition = match (provisioning.when(), &declared.resource) {
            (When::Create, Cow::Borrowed(resource)) => self.repetition(declared.module, resource, address.key())?,
            _ => by_key(address.key()),
        };
        let site = Site { module: declared.module, resource, repetition: &repetition };
        let itself = provisioning.itself();
        let provisioners = Arc::clone(&self.request.provisioners);
        let Some(schema) = provisioners.schema(&provisioner.kind) else {
            let detail = format!("There is no provisioner {:?}.", provisioner.kind.as_str());
            let missing = Diagnostic::error("Missing required provisioner plugin", detail);
            return Err(missing.at(provisioner.kind_span).into());
        };
        let (config, found) = self.walk.block_config(site, &itself, &provisioner.config, schema);
        self.keep(found)?;
        let default = resource.managed.connection.as_ref().map(|connection| &connection.config);
        let own = provisioner.connection.as_ref().map(|connection| &connection.config);
        let body = match (default, own) {
            (Some(default), Some(own)) => Some(default.overridden_by(own)),
            (default, own) => own.or(default).cloned(),
        };
        let schema = provisioners.connection_schema();
        let connection = match body {
            Some(body) => {
                let (connection, found) = self.walk.block_config(site, &itself, &body, schema);
                self.keep(found)?;
                connection
            }
            None => Value::null(schema.implied_type()),
        };
        let place = provisioner.config.missing_item_span();
        if !config.is_wholly_known() || !connection.is_wholly_known() {
            let detail = format!("The configuration of a provisioner of {address} still has unknown values.");
            return Err(Diagnostic::error("Configuration contains unknown value", detail).at(place).into());
        }
        let (config, marks) = config.unmark_deep();
        let provision = Provision {
            kind: provisioner.kind.clone(),
            config,
            connection: connection.unmark_deep().0,
            shows_output: hidden(&marks).is_none(),
            output: output(Arc::clone(&self.request.events), address, provisioner, hidden(&marks)),
            interrupt: self.request.interrupt.clone(),
        };
        Ok(Ready { address: address.clone(), on_failure: provisioner.on_failure, place, provision })
    }

    fn keep(&mut self, found: Diagnostics) -> Result<(), Diagnostics> {
        crate::plan::instance::keep_warnings(found, &mut self.diagnostics)
    }
}

/// Runs a provisioner and says how it went. Errors that do not count are left out.
pub(super) async fn run(ready: Ready, provisioners: &dyn Provisioners, events: &dyn Events) -> Diagnostics {
    let Ready { address, on_failure, place, provision } = ready;
    let kind = provision.kind.clone();
    events.tell(Event::ProvisionStarted(address.clone(), kind.clone()));
    let found = provisioners.run(provision).await;
    let failed = found.has_errors();
    // Who says that a failure does not matter does not want to hear of it; it was shown as it happened.
    let matters = |diagnostic: &Diagnostic| on_failure != OnFailure::Continue || diagnostic.severity != Severity::Error;
    let found = found.into_iter().filter(matters).map(|diagnostic| diagnostic.or_at(place)).collect();
    let found = with_address(found, &address);
    let tell = if failed { Event::ProvisionFailed } else { Event::ProvisionDone };
    events.tell(tell(address, kind));
    found
}

/// What is printed instead of output that may have secrets in it.
fn hidden(marks: &Marks) -> Option<&'static str> {
    if marks.is_ephemeral() {
        Some("(output suppressed due to ephemeral value in config)")
    } else if marks.is_sensitive() {
        Some("(output suppressed due to sensitive value in config)")
    } else {
        None
    }
}

fn output(
    events: Arc<dyn Events>,
    address: &AbsInstance,
    provisioner: &Provisioner,
    hidden: Option<&'static str>,
) -> Arc<dyn Fn(&str) + Send + Sync> {
    let (address, kind) = (address.clone(), provisioner.kind.clone());
    Arc::new(move |line| {
        let line = hidden.unwrap_or(line).to_owned();
        events.tell(Event::ProvisionOutput(address.clone(), kind.clone(), line));
    })
}

/// What `count` and `each` stand for when only the key is left of an instance.
fn by_key(key: &InstanceKey) -> RepetitionData {
    match key {
        InstanceKey::None => RepetitionData::default(),
        InstanceKey::Int(at) => RepetitionData { count_index: Some(Value::number(*at)), ..RepetitionData::default() },
        InstanceKey::String(key) => {
            RepetitionData { each_key: Some(Value::string(key.clone())), ..RepetitionData::default() }
        }
    }
}

fn not_started(address: &AbsInstance, provisioner: &Provisioner) -> Diagnostic {
    let kind = provisioner.kind.as_str();
    let detail = format!("The provisioner {kind:?} of {address} was not started because the run was interrupted.");
    Diagnostic::error("Execution halted", detail).at(provisioner.header).of(address.to_string())
}
