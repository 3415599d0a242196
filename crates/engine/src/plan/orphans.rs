//! Objects in the state that no configuration wants: of resources that make fewer instances, and of those that are gone.

use std::collections::BTreeSet;
use std::sync::Arc;

use groma_lang::config::ResourceMode;
use groma_lang::graph::{Graph, NodeIndex, NodeKind};
use groma_lang::walk::{RepetitionData, Site};
use groma_model::address::{AbsResource, InstanceKey, ModuleInstance};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_state::ResourceState;

use super::Mode;
use super::driver::{Driver, Task, Work};
use super::instance::{Forgetting, Job, Wanted};
use crate::change::Reason;
use crate::stored::ObjectSchema;
use crate::values::truth;

/// An object that is on its way out, or why it cannot go.
pub(super) type Leftover = Result<(InstanceKey, Box<Job>), Diagnostics>;

impl Driver<'_, '_> {
    /// The objects of a resource that are not wanted: all deposed ones, and the current ones for which there is a reason.
    pub(super) fn leftovers(
        &mut self,
        address: &AbsResource,
        reason: &dyn Fn(&InstanceKey) -> Option<Option<Reason>>,
    ) -> Vec<Leftover> {
        let Some(resource) = self.gathered.state().resources.get(address).cloned() else { return Vec::new() };
        if address.resource.mode != ResourceMode::Managed || !self.gathered.begin(address) {
            return Vec::new();
        }
        let node = self.node_of(address);
        // When everything goes, nobody asks how single objects were meant to go.
        let removed = if self.request.options.mode == Mode::Destroy { None } else { self.forgets(address) };
        let forget = Forgetting { removed, by_lifecycle: self.skips_destroy(node) };
        let mut found = Vec::new();
        for (key, instance) in &resource.instances {
            let provider = resource.provider.instance(instance.provider_key.clone());
            let current = reason(key).and_then(|reason| Some((None, instance.current.clone()?, reason)));
            let deposed = instance.deposed.iter().map(|(key, object)| (Some(key.clone()), object.clone(), None));
            for (deposed, stored, reason) in current.into_iter().chain(deposed) {
                let instance = address.instance(key.clone());
                if !self.selection.includes_instance(node, &instance) {
                    continue;
                }
                let job = self.kind_in_state(address, &provider).and_then(|kind| {
                    let slot = self.providers.of_stored(&provider, &instance.to_string())?;
                    let previous_address = self.gathered.previous_address(&instance);
                    // It was moved to where nothing is.
                    let moved = previous_address.as_ref().is_some_and(|from| *from != instance);
                    let reason = match reason {
                        Some(Reason::DeleteBecauseNoResourceConfig) if moved => Some(Reason::DeleteBecauseNoMoveTarget),
                        reason => reason,
                    };
                    Ok(Box::new(Job {
                        // What goes with everything else is where it is, wherever it was.
                        previous_address: previous_address.filter(|_| self.request.options.mode != Mode::Destroy),
                        address: instance,
                        deposed,
                        origin: None,
                        kind,
                        slot,
                        stored: Some(stored),
                        refresh: self.request.options.refresh,
                        refresh_only: self.request.options.mode == Mode::RefreshOnly,
                        import: None,
                        provider_meta: None,
                        events: Arc::clone(&self.request.events),
                        wanted: Wanted::Absent { reason, forget },
                        last_words: None,
                        listing: self.request.listing.clone(),
                        adopted: None,
                    }))
                });
                found.push(job.map(|job| (key.clone(), job)));
            }
        }
        found
    }

    fn kind_in_state(
        &self,
        address: &AbsResource,
        provider: &groma_model::address::ProviderInstance,
    ) -> Result<ObjectSchema, Diagnostics> {
        let provider = &provider.config.provider;
        let offered = self.providers.providers().schema(provider);
        let schema = offered.as_ref().and_then(|offered| offered.resources.get(&address.resource.ty));
        let (Some(offered), Some(schema)) = (&offered, schema) else {
            let detail = format!(
                "{address} is in the state, but the provider {provider} is not there or has no such resource type."
            );
            return Err(Diagnostic::error("Missing resource schema from provider", detail).into());
        };
        let schema = schema.get().map_err(|error| {
            Diagnostics::from(Diagnostic::error("Provider has an invalid schema", error.to_string()))
        })?;
        let identity = offered.identities.get(&address.resource.ty).cloned();
        Ok(ObjectSchema { type_name: address.resource.ty.clone(), schema: schema.clone(), identity })
    }

    /// Starts what is declared nowhere, as far as its provider is configured. That is done early: a provider may find such an object again where
    /// another is to be made.
    pub(super) fn start_gone(&mut self) {
        if self.request.options.mode == Mode::Destroy {
            return;
        }
        let resources = self.gathered.state().resources.iter();
        let can_start = |(address, resource): &(&AbsResource, &ResourceState)| {
            let mut keys =
                resource.instances.values().map(|instance| resource.provider.instance(instance.provider_key.clone()));
            self.node_of(address).is_none() && keys.all(|provider| self.providers.is_configured(&self.walk, &provider))
        };
        let gone: Vec<AbsResource> = resources.filter(can_start).map(|(address, _)| address.clone()).collect();
        for address in gone {
            self.start_all_leftovers(&address, Some(Reason::DeleteBecauseNoResourceConfig));
        }
    }

    /// Starts what no declaration stands for.
    pub(super) fn start_undeclared(&mut self) {
        let addresses: Vec<AbsResource> = self.gathered.state().resources.keys().cloned().collect();
        let modules = 0..self.walk.graph().modules.len();
        let made: BTreeSet<ModuleInstance> = modules
            .flat_map(|module| self.walk.instances_of(module))
            .map(|instance| self.walk.module_instance(*instance).clone())
            .collect();
        for address in addresses {
            let destroys = self.request.options.mode == Mode::Destroy;
            let reason = if destroys { None } else { self.undeclared(&address, &made) };
            if !destroys && reason.is_none() {
                continue;
            }
            self.start_all_leftovers(&address, reason);
        }
    }

    fn start_all_leftovers(&mut self, address: &AbsResource, reason: Option<Reason>) {
        for leftover in self.leftovers(address, &|_| Some(reason)) {
            match leftover {
                Ok((_, job)) => self.queue.push_back(Task { node: None, index: 0, work: Work::Managed(job) }),
                Err(found) => self.diagnostics.extend(found),
            }
        }
    }

    /// Whether a `removed` block says what happens to the objects of a resource.
    fn forgets(&self, address: &AbsResource) -> Option<bool> {
        let path = address.module.module();
        for entry in &self.walk.graph().modules {
            for removed in &entry.node.module.removed {
                let Some(from) = &removed.from else { continue };
                let named: Vec<_> = entry.node.path.iter().cloned().chain(from.module_path()).collect();
                let covers = match &from.resource {
                    Some((resource, _)) => path.names() == named && *resource == address.resource,
                    None => path.names().starts_with(&named),
                };
                if covers {
                    return Some(!removed.destroy.unwrap_or(false));
                }
            }
        }
        None
    }

    /// Whether the block of a resource says that its objects are not destroyed. Only what is the same for all instances can be told.
    fn skips_destroy(&self, node: Option<NodeIndex>) -> bool {
        let Some(node) = node else { return false };
        let NodeKind::Resource(key) = &self.walk.graph().nodes[node].kind else { return false };
        let module = self.walk.graph().nodes[node].module;
        let repetition = RepetitionData::default();
        self.walk.instances_of(module).iter().any(|&module| {
            let Some(resource) = self.walk.resource(module, key) else { return false };
            let Some(expr) = &resource.managed.destroy else { return false };
            let site = Site { module, resource, repetition: &repetition };
            matches!(truth(&self.walk, site, expr), Ok(Some(false)))
        })
    }

    /// The declaration of a resource.
    fn node_of(&self, address: &AbsResource) -> Option<NodeIndex> {
        self.walk.graph().resource_node(address.module.module().names(), &address.resource)
    }

    /// Why nothing in the configuration stands for a resource. None if something does. `made` has all module instances.
    fn undeclared(&self, address: &AbsResource, made: &BTreeSet<ModuleInstance>) -> Option<Reason> {
        if self.node_of(address).is_none() {
            return Some(Reason::DeleteBecauseNoResourceConfig);
        }
        // The module is still called, but not for this instance of it.
        (!made.contains(&address.module)).then_some(Reason::DeleteBecauseNoModule)
    }
}

/// `removed` blocks for what is still there.
pub(super) fn still_declared(graph: &Graph<'_>) -> Diagnostics {
    let mut found = Diagnostics::new();
    for entry in &graph.modules {
        for removed in &entry.node.module.removed {
            let Some(from) = &removed.from else { continue };
            let path: Vec<_> = entry.node.path.iter().cloned().chain(from.module_path()).collect();
            let Some(module) = graph.module(&path) else { continue };
            let (what, declared) = match &from.resource {
                None => ("module", true),
                Some((key, _)) => ("resource", graph.modules[module].node.module.resources.contains_key(key)),
            };
            if !declared {
                continue;
            }
            let detail = format!(
                "This statement declares that {what} {from} was removed, but it is still declared. Remove its block, or \
                 this statement."
            );
            found.push(Diagnostic::error(format!("Removed {what} block still exists"), detail).at(removed.header));
        }
    }
    found
}
