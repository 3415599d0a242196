//! Opening ephemeral resources while a plan is carried out.

use groma_lang::config::{Resource, ResourceMode};
use groma_lang::graph::{NodeIndex, NodeKind};
use groma_lang::walk::{InstanceIndex, ResourceInstance, Site};
use groma_model::address::InstanceKey;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::value::Value;
use std::sync::Arc;

use super::driver::{Driver, Opening, Work};
use crate::checks::{Checked, CheckedInstance};
use crate::ephemeral::{OpenJob, Opened};
use crate::execution::StepIndex;
use crate::plan::instance::keep_warnings;
use crate::stored::object_schema;

/// Where an instance belongs.
pub(super) struct Place {
    module: InstanceIndex,
    instance: ResourceInstance,
}

/// The instances of an ephemeral resource, as far as they were opened.
pub(super) struct Openings<'a> {
    resource: &'a Resource,
    remaining: usize,
    values: Vec<(InstanceIndex, InstanceKey, Value)>,
    found: Diagnostics,
}

impl<'a> Driver<'a, '_> {
    /// Starts to open the instances of a node, if it is an ephemeral resource that has any.
    pub(super) fn open_ephemerals(&mut self, step: StepIndex, node: NodeIndex) -> bool {
        let NodeKind::Resource(key) = self.walk.graph().nodes[node].kind.clone() else { return false };
        if key.mode != ResourceMode::Ephemeral {
            return false;
        }
        let module = self.walk.graph().nodes[node].module;
        let mut openings: Option<Openings<'a>> = None;
        for module in self.walk.instances_of(module).to_vec() {
            let Some(resource) = self.walk.resource(module, &key) else { continue };
            let openings = openings.get_or_insert_with(|| Openings::of(resource));
            let (instances, found) = self.walk.expand_resource(module, resource);
            openings.found.extend(found);
            self.values.set((&self.walk, module), resource, Vec::new());
            let address = key.absolute(self.walk.module_instance(module).clone());
            let subject = Checked::Resource(address.config());
            let all = instances.iter().map(|made| CheckedInstance::Resource(address.instance(made.key.clone())));
            self.checks.expanded(&subject, all);
            for instance in instances {
                let place = Place { module, instance };
                match self.open_job(resource, &place) {
                    Err(found) => openings.found.extend(found),
                    Ok(job) => {
                        openings.remaining += 1;
                        self.queue.push_back(Work::Open(Opening { step, at: place }, Box::new(job)));
                    }
                }
            }
        }
        let Some(openings) = openings else { return false };
        if openings.remaining == 0 {
            self.conclude(step, openings.found);
        } else {
            self.opening.insert(step, openings);
        }
        true
    }

    fn open_job(&mut self, resource: &Resource, place: &Place) -> Result<OpenJob, Diagnostics> {
        let site = Site { module: place.module, resource, repetition: &place.instance.repetition };
        let module = self.walk.module_instance(place.module).clone();
        let address = resource.key.absolute(module).instance(place.instance.key.clone());
        keep_warnings(self.checks.judge_before(&self.walk, site, &address), &mut self.diagnostics)?;
        let slot = self.providers.of_resource(&self.walk, site)?;
        let kind = object_schema(self.request.schemas, &*self.request.providers, resource)?;
        let (config, found) = self.walk.resource_config(site, &kind.schema.block);
        keep_warnings(found, &mut self.diagnostics)?;
        if !config.is_wholly_known() {
            let detail = format!("The configuration of {address} still has unknown values while it is applied.");
            return Err(Diagnostic::error("Configuration contains unknown value", detail).into());
        }
        Ok(OpenJob { address, kind, slot, config, later: false, events: Arc::clone(&self.request.events) })
    }

    /// Takes in an instance that was opened. With the last one, expressions can see the resource.
    pub(super) fn opened(&mut self, opening: Opening, result: Result<Opened, Diagnostics>) {
        let Opening { step, at: Place { module, instance } } = opening;
        let Some(mut openings) = self.opening.remove(&step) else { return };
        openings.remaining -= 1;
        match result {
            Ok(Opened { value, lease, diagnostics }) => {
                if let Some(lease) = lease {
                    self.leases.keep(lease, self.request.settings.environment.now());
                }
                let site = Site { module, resource: openings.resource, repetition: &instance.repetition };
                let resource = openings.resource.key.absolute(self.walk.module_instance(module).clone());
                let address = resource.instance(instance.key.clone());
                openings.found.extend(diagnostics);
                openings.found.extend(self.checks.judge_after(&self.walk, site, &address, &value));
                openings.values.push((module, instance.key, value));
            }
            Err(found) => {
                let place = |diagnostic| self.walk.locate(openings.resource, diagnostic);
                openings.found.extend(found.into_iter().map(place));
            }
        }
        if openings.remaining > 0 {
            self.opening.insert(step, openings);
            return;
        }
        openings.values.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        let mut values = openings.values.into_iter().peekable();
        while let Some((module, key, value)) = values.next() {
            let mut own = vec![(key, value)];
            while let Some((_, key, value)) = values.next_if(|(next, ..)| *next == module) {
                own.push((key, value));
            }
            self.values.set((&self.walk, module), openings.resource, own);
        }
        self.conclude(step, openings.found);
    }
}

impl<'a> Openings<'a> {
    fn of(resource: &'a Resource) -> Self {
        Self { resource, remaining: 0, values: Vec::new(), found: Diagnostics::new() }
    }
}
