//! What an apply writes down: objects, outputs, and what conditions said.

use std::collections::BTreeMap;

use groma_model::address::{AbsInstance, AbsObject, ResourceMode};
use groma_model::diag::Diagnostics;
use groma_model::text::Str;
use groma_state::journal::{After, Operation, Ticket};
use groma_state::{CheckResult, InstanceState, ObjectState, OutputState, ResourceState};

use super::driver::Driver;
use super::logbook;
use crate::change::{Action, Change};
use crate::checks::CheckReport;
use crate::plan::Mode;
use crate::plan::provider_use::same_config;

/// What to wait for until something that was written down is safe.
pub(super) type Logged = Result<Option<Ticket>, Diagnostics>;

/// The object that a change is about.
pub(super) fn object_of(change: &Change) -> AbsObject {
    change.address.object(change.deposed.clone())
}

impl Driver<'_, '_> {
    pub(super) fn stored(&self, address: &AbsInstance) -> Option<ObjectState> {
        self.state.resources.get(&address.resource())?.instances.get(address.key())?.current.clone()
    }

    pub(super) fn instance_mut(&mut self, address: &AbsInstance) -> Option<&mut InstanceState> {
        self.state.resources.get_mut(&address.resource())?.instances.get_mut(address.key())
    }

    /// An object that was put aside for a replacement that was never made comes back.
    fn restore(&mut self, change: &Change) -> Option<(AbsObject, AbsObject)> {
        if change.action != Action::CreateThenDelete || change.deposed.is_some() {
            return None;
        }
        let changes = &self.request.plan.changes;
        let own = |planned: &Change| (&planned.address, &planned.deposed).cmp(&(&change.address, &None));
        let at = changes.binary_search_by(own).ok();
        let key = at.and_then(|at| self.request.plan.execution.deposed_as.get(&at).cloned())?;
        let instance = self.instance_mut(&change.address).filter(|instance| instance.current.is_none())?;
        instance.current = Some(instance.deposed.remove(&key)?);
        Some((change.address.object(Some(key)), change.address.object(None)))
    }

    /// Writes down that nothing came of a change.
    pub(super) fn leave(&mut self, operation: Option<Operation>, change: &Change) -> Logged {
        let back = self.restore(change);
        let logbook = &self.request.logbook;
        if let Some((from, to)) = back {
            logbook.moved(&from, &to)?;
        }
        match operation {
            Some(operation) => logbook.conclude(Some(operation), object_of(change), After::Unchanged),
            None => Ok(None),
        }
    }

    /// Writes down what there is of an object now, in the state and in the log.
    pub(super) fn put_down(
        &mut self,
        operation: Option<Operation>,
        change: &Change,
        object: Option<ObjectState>,
    ) -> Logged {
        let is_managed = change.address.instance.resource.mode == ResourceMode::Managed;
        let after = match &object {
            Some(object) => After::Present { provider: change.provider.clone(), object: Box::new(object.clone()) },
            None => After::Absent,
        };
        self.put(change, object);
        // What was only read can be read again.
        if is_managed { self.request.logbook.conclude(operation, object_of(change), after) } else { Ok(None) }
    }

    /// Objects that have other addresses than in the stored state are there from now on.
    pub(super) fn log_moves(&self) -> Result<(), Diagnostics> {
        let moves = logbook::moves(&self.request.plan.changes);
        moves.iter().try_for_each(|(from, to)| self.request.logbook.moved(from, to))
    }

    /// Writes down what there is now.
    pub(super) fn put(&mut self, change: &Change, object: Option<ObjectState>) {
        let address = &change.address;
        let resource = self
            .state
            .resources
            .entry(address.resource())
            .or_insert_with(|| ResourceState { provider: change.provider.config.clone(), instances: BTreeMap::new() });
        let other = !same_config(&resource.provider, &change.provider.config);
        if object.is_some() && change.deposed.is_none() && other {
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
        self.request.logbook.changed(&self.state);
    }

    /// What was only read to take everything down is not needed any more.
    pub(super) fn drop_data(&mut self) {
        let options = &self.request.plan.options;
        let everything = options.targets.is_empty() && options.excludes.is_empty();
        if self.request.plan.mode == Mode::Destroy && everything {
            self.state.resources.retain(|address, _| address.resource.mode != ResourceMode::Data);
        }
    }

    /// Outputs whose values could be worked out. The others stay as they were.
    pub(super) fn set_outputs(&mut self) {
        if self.request.plan.mode == Mode::Destroy {
            let gone = self.request.plan.outputs.iter().filter(|(_, change)| change.action == Action::Delete);
            for (name, _) in gone {
                self.state.outputs.remove(name);
            }
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
        let planned = &self.request.plan.outputs;
        let is_gone = |name: &Str| planned.get(name).is_some_and(|change| change.action == Action::Delete);
        let declared = &self.walk.module(0).outputs;
        self.state.outputs.retain(|name, _| declared.contains_key(name) || !is_gone(name));
    }

    /// What conditions said is kept with the state.
    pub(super) fn set_checks(&mut self) {
        if self.request.plan.mode == Mode::Destroy {
            self.checks.expect_root_outputs();
        }
        let results: Vec<CheckResult> = self.checks.reports().iter().map(CheckReport::to_state).collect();
        self.state.checks = (!results.is_empty()).then_some(results);
    }

    /// Nothing is made; what was seen is written down.
    pub(super) fn record_what_was_seen(&mut self) {
        for (name, change) in &self.request.plan.outputs {
            let value = change.after.clone().unmark_deep().0;
            if value.is_null() {
                self.state.outputs.remove(name);
            } else if value.is_wholly_known() {
                let declared = self.walk.module(0).outputs.get(name);
                let deprecated = declared.and_then(|output| output.deprecated.clone());
                self.state.outputs.insert(name.clone(), OutputState { value, sensitive: change.sensitive, deprecated });
            }
        }
        let results: Vec<CheckResult> = self.request.plan.checks.iter().map(CheckReport::to_state).collect();
        self.state.checks = (!results.is_empty()).then_some(results);
    }
}
