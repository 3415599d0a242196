//! Which provider configuration a resource uses: its module's, or that of the nearest caller that passes one on.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_lang::config::{ProviderConfigKey, ProviderMeta, ProviderRef, Resource};
use groma_lang::graph::ModuleIndex;
use groma_lang::walk::{InstanceIndex, Site, Walk};
use groma_model::address::{InstanceKey, Module, Provider, ProviderConfig, ProviderInstance};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::Span;
use groma_model::text::Str;
use groma_model::value::Value;

use crate::providers::{Providers, Slot};

/// The provider configurations that have been evaluated.
pub(crate) struct ProviderUse {
    providers: Arc<dyn Providers>,
    slots: BTreeMap<ProviderInstance, Arc<Slot>>,
    /// What modules tell providers about themselves.
    metas: BTreeMap<(InstanceIndex, Provider), Option<Value>>,
}

impl ProviderUse {
    pub(crate) fn new(providers: Arc<dyn Providers>) -> Self {
        Self { providers, slots: BTreeMap::new(), metas: BTreeMap::new() }
    }

    pub(crate) fn providers(&self) -> &Arc<dyn Providers> {
        &self.providers
    }

    /// Evaluates a provider block in all instances of its module.
    pub(crate) fn visit(&mut self, walk: &Walk<'_>, module: ModuleIndex, key: &ProviderConfigKey) -> Diagnostics {
        let instances = walk.instances_of(module).iter();
        instances.flat_map(|instance| self.visit_instance(walk, *instance, key)).collect()
    }

    fn visit_instance(&mut self, walk: &Walk<'_>, module: InstanceIndex, key: &ProviderConfigKey) -> Diagnostics {
        let address = provider_of(walk, module, key);
        let config = config_in(walk, module, &address, key.alias.clone());
        let Some(schema) = self.schema(&address) else { return Diagnostics::new() };
        let (configs, diagnostics) = walk.provider_configs(module, key, &schema);
        if diagnostics.has_errors() {
            return diagnostics;
        }
        let place = walk.module(module).provider_configs.get(key).map(|config| config.declared.header);
        for (key, value) in configs {
            self.add(config.instance(key), value, place);
        }
        diagnostics
    }

    /// The provider that an instance of a resource uses.
    pub(crate) fn of_resource(&mut self, walk: &Walk<'_>, site: Site<'_>) -> Result<Arc<Slot>, Diagnostics> {
        let chosen = site.resource.provider_ref.as_ref().and_then(|reference| reference.instance.as_deref());
        let key = match chosen {
            Some(expr) => instance_key(walk.resource_expr(site, expr))?,
            None => InstanceKey::None,
        };
        let instance = resolved(walk, site.module, site.resource, key)?;
        self.slot(&instance).ok_or_else(|| missing_instance(&instance, &site.resource.key.to_string()))
    }

    /// What providers said when they were started, since this was last asked.
    pub(crate) fn take_warnings(&self) -> Diagnostics {
        self.slots.values().flat_map(|slot| slot.take_warnings()).collect()
    }

    /// Asks all of them to end what they are doing as soon as they can.
    pub(crate) fn stop(&self) {
        self.slots.values().for_each(|slot| slot.stop());
    }

    /// What a module tells a provider about itself, without marks.
    pub(crate) fn meta(
        &mut self,
        walk: &Walk<'_>,
        module: InstanceIndex,
        provider: &Provider,
    ) -> Result<Option<Value>, Diagnostics> {
        let declared = walk.module(module);
        if declared.provider_meta.is_empty() {
            return Ok(None);
        }
        let key = (module, provider.clone());
        if let Some(known) = self.metas.get(&key) {
            return Ok(known.clone());
        }
        let offered = self.providers.schema(provider);
        let schema = offered.as_ref().and_then(|offered| offered.provider_meta.as_ref()?.get().ok().cloned());
        let of = |meta: &&ProviderMeta| declared.required_providers.provider_of(&meta.provider) == *provider;
        let Some(block) = declared.provider_meta.values().find(of) else { return Ok(None) };
        let Some(schema) = schema else { return Err(no_meta(provider, block)) };
        let meta = walk.provider_meta(module, provider, &schema.block);
        let value = match meta {
            None => None,
            Some((_, found)) if found.has_errors() => return Err(found),
            Some((value, _)) => Some(value.unmark_deep().0),
        };
        self.metas.insert(key, value.clone());
        Ok(value)
    }

    /// The provider that an object in the state was made with.
    pub(crate) fn of_stored(&mut self, instance: &ProviderInstance, object: &str) -> Result<Arc<Slot>, Diagnostics> {
        self.slot(instance).ok_or_else(|| missing_config(instance, object))
    }

    /// Whether it is known how a provider is configured, or that nobody has written it down.
    pub(crate) fn is_configured(&self, walk: &Walk<'_>, instance: &ProviderInstance) -> bool {
        let ProviderConfig { module, provider, alias } = &instance.config;
        if self.slots.keys().any(|known| known.key == instance.key && same_config(&known.config, &instance.config)) {
            return true;
        }
        let Some(root) = walk.graph().modules.first().map(|entry| &entry.node.module) else { return false };
        let written = |key: &ProviderConfigKey| root.required_providers.provider_of(&key.name).same_as(provider);
        module.is_root() && alias.is_none() && !root.provider_configs.keys().any(written)
    }

    /// The slot of a configuration. One of the root that nobody wrote down is empty.
    fn slot(&mut self, instance: &ProviderInstance) -> Option<Arc<Slot>> {
        let known = self.slots.get(instance).or_else(|| {
            let same =
                |known: &ProviderInstance| known.key == instance.key && same_config(&known.config, &instance.config);
            self.slots.iter().find(|(known, _)| same(known)).map(|(_, slot)| slot)
        });
        if let Some(slot) = known {
            return Some(Arc::clone(slot));
        }
        let implied = instance.config.module.is_root() && instance.config.alias.is_none() && instance.key.is_none();
        let schema = self.schema(&instance.config.provider).filter(|_| implied)?;
        self.add(instance.clone(), schema.empty_value(), None);
        self.slots.get(instance).map(Arc::clone)
    }

    fn add(&mut self, instance: ProviderInstance, config: Value, place: Option<Span>) {
        let slot = Slot::new(instance.clone(), config, Arc::clone(&self.providers)).at(place);
        self.slots.insert(instance, Arc::new(slot));
    }

    fn schema(&self, provider: &Provider) -> Option<groma_model::schema::Block> {
        let schema = self.providers.schema(provider)?;
        schema.provider.get().ok().map(|schema| schema.block.clone())
    }
}

/// Whether two are one: the two public hosts are.
pub(crate) fn same_config(known: &ProviderConfig, wanted: &ProviderConfig) -> bool {
    known.module == wanted.module && known.alias == wanted.alias && known.provider.same_as(&wanted.provider)
}

/// Follows what callers pass on.
fn resolved(
    walk: &Walk<'_>,
    module: InstanceIndex,
    resource: &Resource,
    mut instance: InstanceKey,
) -> Result<ProviderInstance, Diagnostics> {
    let address = resource.provider.clone();
    let (mut module, mut key) = (module, resource.provider_key());
    loop {
        if walk.module(module).provider_configs.contains_key(&key) {
            break;
        }
        let Some(caller) = walk.caller(module) else { break };
        match passed(walk, module, caller, &key) {
            Some(reference) => {
                if let Some(expr) = &reference.instance {
                    instance = instance_key(walk.call_expr(module, expr))?;
                }
                key = reference.key.clone();
            }
            // Default configurations are inherited by the provider, whatever its local name is.
            None if key.alias.is_none() => key.name = local_name(walk, caller, &address),
            None => break,
        }
        module = caller;
    }
    Ok(config_in(walk, module, &address, key.alias).instance(instance))
}

fn passed<'w>(
    walk: &Walk<'w>,
    module: InstanceIndex,
    caller: InstanceIndex,
    key: &ProviderConfigKey,
) -> Option<&'w ProviderRef> {
    let name = walk.graph().modules[walk.module_index(module)].node.path.last()?;
    let call = walk.module(caller).module_calls.get(name)?;
    call.providers.iter().find(|passed| passed.in_child.key == *key).map(|passed| &passed.in_parent)
}

/// What a module calls a provider.
fn local_name(walk: &Walk<'_>, module: InstanceIndex, address: &Provider) -> Str {
    let required = &walk.module(module).required_providers;
    let named = required.entries.keys().find(|name| required.provider_of(name) == *address);
    named.cloned().unwrap_or_else(|| address.ty.clone())
}

fn provider_of(walk: &Walk<'_>, module: InstanceIndex, key: &ProviderConfigKey) -> Provider {
    walk.module(module).required_providers.provider_of(&key.name)
}

fn config_in(walk: &Walk<'_>, module: InstanceIndex, provider: &Provider, alias: Option<Str>) -> ProviderConfig {
    let path = &walk.graph().modules[walk.module_index(module)].node.path;
    ProviderConfig { module: Module::new(path.iter().cloned()), provider: provider.clone(), alias }
}

pub(super) fn instance_key((value, diagnostics): (Value, Diagnostics)) -> Result<InstanceKey, Diagnostics> {
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    let value = value.unmark_deep().0;
    match (value.as_str(), value.as_number().and_then(groma_model::number::Number::to_usize)) {
        (Some(text), _) => Ok(InstanceKey::String(text.into())),
        (None, Some(number)) => Ok(InstanceKey::Int(i64::try_from(number).unwrap_or(i64::MAX))),
        (None, None) => {
            let detail = "The key of a provider instance must be a known string or whole number.";
            Err(Diagnostic::error("Invalid provider instance key", detail).into())
        }
    }
}

fn no_meta(provider: &Provider, meta: &ProviderMeta) -> Diagnostics {
    let summary = format!("Provider {provider} doesn't support provider_meta");
    let detail = "The module has a provider_meta block for a provider that takes none. Remove the block.";
    Diagnostic::error(summary, detail).at(meta.provider_span).into()
}

fn missing_instance(instance: &ProviderInstance, resource: &str) -> Diagnostics {
    let detail =
        format!("To work with {resource} its provider configuration {instance} is required, but there is none.");
    Diagnostic::error("Provider instance not present", detail).into()
}

/// What is said where objects have no provider any more.
pub(super) const NO_CONFIGURATION: &str = "Provider configuration not present";

fn missing_config(instance: &ProviderInstance, object: &str) -> Diagnostics {
    let detail = format!(
        "{object} was made by the provider configuration {instance}, which is not there any more. The state still has what it \
         made: put it back, destroy {object}, and remove it then."
    );
    Diagnostic::error(NO_CONFIGURATION, detail).into()
}
