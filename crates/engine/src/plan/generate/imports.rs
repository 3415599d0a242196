//! Imports into resources that nobody wrote down: planned with the configuration that is generated for them, or refused.

use std::collections::BTreeSet;
use std::sync::Arc;

use groma_lang::config::{IgnoreChanges, Import, ObjectAddress, Resource, ResourceKey};
use groma_lang::graph::Graph;
use groma_lang::walk::{RepetitionData, Site};
use groma_model::address::{AbsInstance, Module};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::text::Str;

use super::{configuration, resource_block};
use crate::change::Change;
use crate::import::NOT_DECLARED;
use crate::plan::driver::{Driver, Task, Work};
use crate::plan::instance::{Job, Planner, Present, Wanted, with_address};
use crate::plan::nodes::importing;
use crate::plan::{Mode, Options};
use crate::stored::Object;

/// Whether everything can be imported: to where there is configuration, or to where some can be generated.
pub(in crate::plan) fn check_targets(graph: &Graph<'_>, options: &Options) -> Diagnostics {
    if options.mode != Mode::Normal {
        return Diagnostics::new();
    }
    let imports = &graph.modules[0].node.module.imports;
    imports.iter().filter_map(|import| check_target(graph, import, options.generate_config)).collect()
}

fn check_target(graph: &Graph<'_>, import: &Import, generates: bool) -> Option<Diagnostic> {
    let (path, key) = import.target.as_ref()?;
    if is_declared(graph, path, key) {
        return None;
    }
    let address = match &import.constant_to {
        Some(address) if generates => address.to_string(),
        _ => key.in_module(Module::new(path.iter().cloned())).to_string(),
    };
    let has_keys = import.constant_to.as_ref().is_none_or(ObjectAddress::has_keys);
    let (summary, rule) = if !generates {
        let rule = "All target instances must have an associated configuration to be imported.";
        (NOT_DECLARED, rule)
    } else if !path.is_empty() {
        let rule = "Configuration generation is only possible for resources in the root module, and not possible for \
                    resources in sub-modules.";
        ("Cannot generate configuration for resource inside sub-module", rule)
    } else if has_keys {
        let rule = "Configuration generation is only possible for resources that do not use count or for_each";
        ("Configuration generation for count and for_each resources not supported", rule)
    } else {
        return None;
    };
    let detail = format!("The configuration for the given import {address} does not exist. {rule}");
    Some(Diagnostic::error(summary, detail).at(import.header))
}

fn is_declared(graph: &Graph<'_>, path: &[Str], key: &ResourceKey) -> bool {
    graph.resource(path, key).is_some()
}

impl Driver<'_, '_> {
    /// Starts the imports of what has no configuration yet.
    pub(in crate::plan) fn start_generated(&mut self) {
        if self.request.options.mode != Mode::Normal || !self.request.options.generate_config {
            return;
        }
        let mut begun = BTreeSet::new();
        for import in &self.walk.module(0).imports {
            let Some((path, key)) = &import.target else { continue };
            if is_declared(self.walk.graph(), path, key) || !begun.insert(key) {
                continue;
            }
            match self.generated_job(import, key) {
                Ok(job) => self.queue.extend(job.map(|work| Task { node: None, index: 0, work })),
                Err(found) => self.diagnostics.extend(found),
            }
        }
    }

    fn generated_job(&mut self, import: &Import, key: &ResourceKey) -> Result<Option<Work>, Diagnostics> {
        let (imports, found) = self.walk.imports_into(&[], key);
        if found.has_errors() {
            return Err(found);
        }
        let Some(address) = imports.first().map(|import| import.address.clone()) else { return Ok(None) };
        let in_state = self.gathered.state().resources.contains_key(&address.resource());
        let Some(provider) = import.provider.clone().filter(|_| !in_state && self.includes(&address)) else {
            return Ok(None);
        };
        let mut resource = Resource::stand_in(key.clone(), provider, import.header);
        resource.provider_ref.clone_from(&import.provider_ref);
        let repetition = RepetitionData::default();
        let site = Site { module: 0, resource: &resource, repetition: &repetition };
        let job = Job {
            previous_address: None,
            deposed: None,
            origin: None,
            kind: self.kind_of(&resource)?,
            slot: self.providers.of_resource(&self.walk, site)?,
            stored: None,
            refresh: self.request.options.refresh,
            refresh_only: false,
            import: None,
            provider_meta: self.providers.meta(&self.walk, 0, &resource.provider)?,
            events: Arc::clone(&self.request.events),
            wanted: Wanted::AsImported,
            last_words: None,
            listing: self.request.listing.clone(),
            adopted: None,
            address,
        };
        Ok(Some(importing(Work::Managed(Box::new(job)), &imports)))
    }

    fn includes(&self, address: &AbsInstance) -> bool {
        self.selection.includes_instance(None, address)
    }
}

impl Planner<'_> {
    /// Plans an object as it was imported. A plan that the provider refuses still has the text, so that it can be mended.
    pub(in crate::plan) async fn as_imported(&self, object: &Object, diagnostics: &mut Diagnostics) -> Change {
        let block = &self.job.kind.schema.block;
        let provider = &self.job.slot.instance().config;
        let text = resource_block(&self.job.address, provider, block, &object.value);
        let present = Present {
            config: configuration(block, &object.value),
            ignore: IgnoreChanges::None,
            force: None,
            create_before_destroy: false,
            skip_destroy: false,
            notes: Vec::new(),
            dependencies: Arc::from([]),
            has_rules: false,
        };
        let change = match self.present(&present, Some(object), object.identity.as_ref(), diagnostics).await {
            Ok((change, _)) => change,
            Err(found) => {
                diagnostics.extend(with_address(found, &self.job.address));
                let value = object.marked(&self.job.kind.schema);
                Change { before: value.clone(), after: value, ..self.change() }
            }
        };
        Change { generated_config: Some(text), ..change }
    }
}
