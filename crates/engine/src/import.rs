//! Taking one object that exists already into a state, without a plan. The configuration says which provider to ask and need not
//! describe the object yet; nothing else is looked at or changed. Imports that are part of a plan are in [`crate::plan`].

mod listing;
mod objects;

pub(crate) use objects::decoded;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use groma_lang::config::{Resource, ResourceMode};
use groma_lang::graph::{Graph, NodeIndex, NodeKind};
use groma_lang::load::ModuleTree;
use groma_lang::oracle::SchemaSource;
use groma_lang::walk::{InputValue, InstanceIndex, Purpose, Settings, Site, Walk};
use groma_model::address::{AbsInstance, InstanceKey};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_provider::api::ReadDataRequest;
use groma_state::{ObjectState, OutputState, State};

use crate::ephemeral::{self, Leases, OpenJob};
use crate::events::Events;
use crate::plan::instance::sensitive_paths;
use crate::plan::provider_use::ProviderUse;
use crate::providers::Providers;
use crate::stored::object_schema;
use crate::values::ResourceValues;

/// What is imported, and with what.
pub struct Request<'a> {
    /// The configuration.
    pub tree: &'a ModuleTree,
    /// The values of the root module's variables.
    pub inputs: &'a BTreeMap<Str, InputValue>,
    /// How expressions are evaluated.
    pub settings: Settings<'a>,
    /// The schemas of everything.
    pub schemas: &'a dyn SchemaSource,
    /// Where providers come from.
    pub providers: Arc<dyn Providers>,
    /// What there is.
    pub state: &'a State,
    /// Where the object is to be.
    pub address: &'a AbsInstance,
    /// How its provider names it.
    pub named: Named<'a>,
    /// Is told what happens.
    pub events: Arc<dyn Events>,
}

/// What an object is imported by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named<'a> {
    /// Its id.
    Id(&'a str),
    /// Its identity, as JSON.
    Identity(&'a str),
    /// Nothing that is known: it is looked for among those that the provider lists.
    Listed,
}

/// What is said where no object has the name that was given.
pub const NOT_THERE: &str = "Cannot import non-existent remote object";

/// Imports an object. Gives the state with it, or only what went wrong.
pub async fn import(request: Request<'_>) -> (Option<State>, Diagnostics) {
    let values = ResourceValues::new(request.schemas);
    // What the object is described by may be far from complete.
    let settings =
        Settings { purpose: Purpose::Evaluate, pure_only: true, lenient: true, oracle: &values, ..request.settings };
    let (walk, mut diagnostics) = Walk::start(request.tree, settings, request.inputs);
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let order = match walk.graph().order() {
        Ok(order) => order,
        Err(cycle) => return (None, cycle.diagnostic().into()),
    };
    let Some(target) = node_of(walk.graph(), request.address) else {
        return (None, no_configuration(request.address).into());
    };
    let mut importer = Importer {
        needed: needed_by(walk.graph(), target),
        target,
        values: &values,
        providers: ProviderUse::new(Arc::clone(&request.providers)),
        leases: Leases::new(),
        state: request.state.clone(),
        request: &request,
        walk,
    };
    let result = importer.run(&order, &mut diagnostics).await;
    diagnostics.extend(importer.leases.close().await);
    match result {
        Ok(()) if !diagnostics.has_errors() => {
            importer.set_outputs();
            (Some(importer.state), diagnostics)
        }
        Ok(()) => (None, diagnostics),
        Err(found) => {
            diagnostics.extend(found);
            (None, diagnostics)
        }
    }
}

/// Where a resource is declared.
fn node_of(graph: &Graph<'_>, address: &AbsInstance) -> Option<NodeIndex> {
    graph.resource_node(address.module.module().names(), &address.instance.resource)
}

/// A node and everything that it needs.
fn needed_by(graph: &Graph<'_>, target: NodeIndex) -> BTreeSet<NodeIndex> {
    let mut needed = BTreeSet::from([target]);
    let mut open = vec![target];
    while let Some(node) = open.pop() {
        open.extend(graph.needs[node].iter().copied().filter(|need| needed.insert(*need)));
    }
    needed
}

/// What is said where something is to be imported that is not declared.
pub(crate) const NOT_DECLARED: &str = "Configuration for import target does not exist";

pub(crate) fn no_configuration(address: &AbsInstance) -> Diagnostic {
    let detail = format!(
        "The configuration for the given import {address} does not exist. All target instances must have an associated \
         configuration to be imported."
    );
    Diagnostic::error(NOT_DECLARED, detail)
}

/// The walk.
struct Importer<'a, 'r> {
    request: &'r Request<'a>,
    walk: Walk<'a>,
    values: &'a ResourceValues<'a>,
    providers: ProviderUse,
    leases: Leases,
    target: NodeIndex,
    /// What the import needs. Whatever else is wrong with the configuration does not matter now.
    needed: BTreeSet<NodeIndex>,
    state: State,
}

impl Importer<'_, '_> {
    async fn run(&mut self, order: &[NodeIndex], diagnostics: &mut Diagnostics) -> Result<(), Diagnostics> {
        for &node in order {
            let found = self.visit(node).await;
            if !self.needed.contains(&node) {
                continue;
            }
            if found.has_errors() {
                return Err(found);
            }
            diagnostics.extend(found);
        }
        Ok(())
    }

    async fn visit(&mut self, node: NodeIndex) -> Diagnostics {
        let entry = &self.walk.graph().nodes[node];
        let (module, kind) = (entry.module, entry.kind.clone());
        let mut found = Diagnostics::new();
        match kind {
            NodeKind::Resource(key) => {
                if node == self.target {
                    match self.import().await {
                        Ok(warnings) => found.extend(warnings),
                        Err(problems) => return problems,
                    }
                }
                for instance in self.walk.instances_of(module).to_vec() {
                    if let Some(resource) = self.walk.resource(instance, &key) {
                        found.extend(self.evaluate(node, instance, resource).await);
                    }
                }
            }
            NodeKind::Provider(key) => {
                found.extend(self.providers.visit(&self.walk, module, &key));
            }
            _ => {
                found = self.walk.visit(node);
                self.walk.take_judgements();
            }
        }
        found
    }

    /// Says what a resource is, as far as that is known without planning.
    async fn evaluate(&mut self, node: NodeIndex, module: InstanceIndex, resource: &Resource) -> Diagnostics {
        let mut diagnostics = Diagnostics::new();
        let address = resource.key.absolute(self.walk.module_instance(module).clone());
        let mut there = BTreeMap::new();
        if let Some(stored) = self.state.resources.get(&address) {
            let objects = stored.instances.iter().filter_map(|(key, stored)| Some((key, stored.current.as_ref()?)));
            there.extend(objects.map(|(key, object)| (key.clone(), self.stored_value(resource, object))));
        }
        let asked = match resource.key.mode {
            ResourceMode::Managed => false,
            // Nothing of it would be kept.
            ResourceMode::Ephemeral => self.needed.contains(&node),
            ResourceMode::Data => true,
        };
        if asked {
            let (instances, found) = self.walk.expand_resource(module, resource);
            diagnostics.extend(found);
            for instance in instances {
                let site = Site { module, resource, repetition: &instance.repetition };
                match self.fetch(site, &address.instance(instance.key.clone()), &mut diagnostics).await {
                    Ok(value) => drop(there.insert(instance.key, value)),
                    Err(found) => diagnostics.extend(found),
                }
            }
        }
        // What was never made will be something of its type.
        let schema = self.request.schemas.resource(&resource.provider, resource.key.mode, &resource.key.ty);
        let later = schema.map_or_else(Value::dynamic, |schema| Value::unknown(schema.block.implied_type()));
        for wanted in self.walk.expand_resource(module, resource).0 {
            there.entry(wanted.key).or_insert_with(|| later.clone());
        }
        let instances: Vec<(InstanceKey, Value)> = there.into_iter().collect();
        self.values.set((&self.walk, module), resource, instances);
        diagnostics
    }

    /// An object of the state as expressions see it. What only its provider could bring up to date is not known.
    fn stored_value(&self, resource: &Resource, object: &ObjectState) -> Value {
        let schema = self.request.schemas.resource(&resource.provider, resource.key.mode, &resource.key.ty);
        let value = schema.and_then(|schema| objects::decoded(object, &schema));
        value.unwrap_or_else(Value::dynamic)
    }

    /// Reads a data source, or opens an ephemeral resource: providers may be configured with them. Data is kept, as it is after a
    /// plan.
    async fn fetch(
        &mut self,
        site: Site<'_>,
        address: &AbsInstance,
        diagnostics: &mut Diagnostics,
    ) -> Result<Value, Diagnostics> {
        let resource = site.resource;
        let kind = object_schema(self.request.schemas, &*self.request.providers, resource)?;
        let (config, found) = self.walk.resource_config(site, &kind.schema.block);
        if found.has_errors() {
            return Err(found);
        }
        if !config.clone().unmark_deep().0.is_wholly_known() {
            return Ok(Value::dynamic());
        }
        let slot = self.providers.of_resource(&self.walk, site)?;
        if resource.key.mode == ResourceMode::Ephemeral {
            let events = Arc::clone(&self.request.events);
            let job = OpenJob { address: address.clone(), kind, slot, config, later: false, events };
            let opened = ephemeral::open(job).await?;
            diagnostics.extend(opened.diagnostics);
            if let Some(lease) = opened.lease {
                self.leases.keep(lease, self.request.settings.plan_time.unwrap_or_default());
            }
            return Ok(opened.value);
        }
        let provider_meta = self.providers.meta(&self.walk, site.module, &resource.provider)?;
        let (config, marks) = config.unmark_deep_with_paths();
        let sensitive = sensitive_paths(&marks);
        let at = Some(address.to_string().into());
        let request = ReadDataRequest { type_name: kind.type_name.clone(), config, provider_meta, address: at };
        let object = objects::read_data(&slot, address, request, &*self.request.events, diagnostics).await?;
        let (object, marks) = object.unmark_deep_with_paths();
        let object = objects::healthy(object, [sensitive, sensitive_paths(&marks)].concat());
        let stored = object.stored(&kind)?;
        self.keep(address.clone(), stored, &slot);
        Ok(object.marked(&kind.schema))
    }

    /// Outputs that can be worked out now. Those that cannot are kept as they were, or begin with null where they are not known.
    fn set_outputs(&mut self) {
        for (name, output) in &self.walk.module(0).outputs {
            let Some(value) = self.walk.root_outputs().get(name) else { continue };
            let mut value = value.clone().unmark_deep().0;
            if !value.is_wholly_known() {
                if self.state.outputs.contains_key(name) || value.ty() == Type::Dynamic {
                    continue;
                }
                value = value.unknown_as_null();
            } else if value.is_null() {
                self.state.outputs.remove(name);
                continue;
            }
            let state = OutputState { value, sensitive: output.sensitive, deprecated: output.deprecated.clone() };
            self.state.outputs.insert(name.clone(), state);
        }
    }
}
