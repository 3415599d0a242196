//! The objects that an import brings: asked for, read, and put into the state.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_lang::walk::Site;
use groma_model::address::{AbsInstance, Provider as ProviderAddress};
use groma_model::codec::json;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::path::Path;
use groma_model::schema::Schema;
use groma_model::text::Str;
use groma_model::value::Value;
use groma_provider::api::{
    ImportRequest, ImportTarget, ImportedObject, Private, Provider, ReadDataRequest, ReadRequest,
};
use groma_state::{InstanceState, ObjectState, ObjectStatus, ResourceState, State};

use super::listing::not_listed;
use super::{Importer, NOT_THERE, Named, no_configuration};
use crate::change::Action;
use crate::events::{Event, Events, shown_id};
use crate::object::legacy;
use crate::plan::instance::{keep_warnings, sensitive_paths, with_address};
use crate::providers::Slot;
use crate::stored::{self, Object, ObjectSchema, object_schema};

/// A stored object by the current schema, with marks. None if only its provider could read it.
pub(crate) fn decoded(object: &ObjectState, schema: &Schema) -> Option<Value> {
    let is_current = u64::try_from(schema.version).ok() == Some(object.schema_version);
    is_current.then(|| Object::as_written(object, schema)).flatten()
}

/// An object that was just seen.
pub(super) fn healthy(value: Value, sensitive: Vec<Path>) -> Object {
    Object {
        value,
        sensitive,
        private: Private::default(),
        identity: None,
        pending: None,
        status: ObjectStatus::Ready,
        dependencies: Arc::from([]),
        create_before_destroy: false,
        skip_destroy: false,
    }
}

/// Reads a data source.
pub(super) async fn read_data(
    slot: &Slot,
    address: &AbsInstance,
    request: ReadDataRequest,
    events: &dyn Events,
    diagnostics: &mut Diagnostics,
) -> Result<Value, Diagnostics> {
    let named = |found| with_address(found, address);
    let provider = slot.get().await?;
    let (address, action) = (address.clone(), Action::Read);
    events.tell(Event::ApplyStarted { address: address.clone(), deposed: None, action, id: None });
    let read = match provider.read_data(request).await {
        Ok(response) => keep_warnings(response.diagnostics, diagnostics).and_then(|()| {
            if response.object.is_null() || !response.object.is_wholly_known() {
                let detail = format!("Provider {:?} produced no complete object for {address}.", provider.name());
                return Err(Diagnostic::error("Provider produced invalid object", detail).into());
            }
            Ok(response.object)
        }),
        Err(error) => Err(error.diagnostic().into()),
    };
    events.tell(match &read {
        Ok(object) => Event::ApplyDone { address, deposed: None, action, id: shown_id(object) },
        Err(_) => Event::ApplyFailed { address, deposed: None, action },
    });
    read.map_err(named)
}

/// Where each object goes: to the address that was asked for, but with its own type; more of one type get other names.
fn addresses(target: &AbsInstance, found: &[ImportedObject]) -> Vec<AbsInstance> {
    let mut counts: BTreeMap<Str, usize> = BTreeMap::new();
    let address = |object: &ImportedObject| {
        let mut address = target.clone();
        if !object.type_name.is_empty() {
            address.instance.resource.ty = object.type_name.clone();
        }
        let count = counts.entry(address.instance.resource.ty.clone()).and_modify(|count| *count += 1).or_insert(0);
        if *count > 0 {
            address.instance.resource.name = format!("{}-{count}", target.instance.resource.name).into();
        }
        address
    };
    found.iter().map(address).collect()
}

fn already_managed(address: &AbsInstance) -> Diagnostic {
    let detail = format!(
        "groma is already managing a remote object for {address}. To import to this address you must first remove the existing \
         object from the state."
    );
    Diagnostic::error("Resource already managed by groma", detail)
}

fn not_there(address: &AbsInstance) -> Diagnostic {
    let detail = format!(
        "While attempting to import an existing object to {:?}, the provider detected that no object exists with the given id. \
         Only pre-existing objects can be imported; check that the id is correct and that it is associated with the provider's \
         configured region or endpoint, or use \"groma apply\" to create a new remote object for this resource.",
        address.to_string()
    );
    Diagnostic::error(NOT_THERE, detail)
}

fn is_managed(state: &State, address: &AbsInstance) -> bool {
    state.resources.get(&address.resource()).is_some_and(|found| found.instances.contains_key(address.key()))
}

impl Importer<'_, '_> {
    /// Asks for the object and puts it into the state. Gives warnings.
    pub(super) async fn import(&mut self) -> Result<Diagnostics, Diagnostics> {
        let target = self.request.address;
        let named = |found| with_address(found, target);
        let mut diagnostics = Diagnostics::new();
        let at = self.walk.graph().nodes[self.target].module;
        let modules = self.walk.instances_of(at);
        let module = modules.iter().copied().find(|at| *self.walk.module_instance(*at) == target.module);
        let module = module.ok_or_else(|| no_configuration(target))?;
        let resource = self.walk.resource(module, &target.instance.resource).ok_or_else(|| no_configuration(target))?;
        let (instances, found) = self.walk.expand_resource(module, resource);
        keep_warnings(found, &mut diagnostics)?;
        let instance = instances.iter().find(|instance| instance.key == *target.key());
        let instance = instance.ok_or_else(|| no_configuration(target))?;
        if is_managed(&self.state, target) {
            return Err(already_managed(target).into());
        }
        let site = Site { module, resource, repetition: &instance.repetition };
        let slot = self.providers.of_resource(&self.walk, site)?;
        check_known(&slot)?;
        let provider = slot.get().await?;
        let provider_meta = self.providers.meta(&self.walk, module, &resource.provider)?;
        let mut whole = None;
        let wanted = match self.request.named {
            Named::Id(id) => (id.to_owned(), ImportTarget::Id(id.to_owned())),
            Named::Identity(text) => (text.to_owned(), ImportTarget::Identity(self.identity(provider.as_ref(), text)?)),
            Named::Listed => {
                let listed = self.listed(site, provider.as_ref()).await.map_err(named)?;
                let listed = listed.ok_or_else(|| named(not_listed(target).into()))?;
                whole = listed.object.filter(|_| self.has_no_identity(provider.as_ref()));
                let identity = listed.identity;
                let shown = json::encode(&identity, &identity.ty()).unwrap_or_default();
                (shown, ImportTarget::Identity(identity))
            }
        };
        let found = match whole {
            // It need not be asked for by a name that it does not have.
            Some(object) => {
                let type_name = target.instance.resource.ty.clone();
                vec![ImportedObject { type_name, object, private: Private::default(), identity: None }]
            }
            None => self.ask(provider.as_ref(), wanted, &mut diagnostics).await.map_err(named)?,
        };
        let addresses = addresses(target, &found);
        let managed: Diagnostics =
            addresses.iter().filter(|address| is_managed(&self.state, address)).map(already_managed).collect();
        if managed.has_errors() {
            return Err(managed);
        }
        let sensitive = self.configured_secrets(site);
        let asker = Asker { provider, provider_meta, events: Arc::clone(&self.request.events) };
        for (address, object) in addresses.into_iter().zip(found) {
            let kind = self.schema_of(&resource.provider, &object.type_name)?;
            let mut object = asker.read(&address, &kind, object, &mut diagnostics).await?;
            if address == *target {
                object.sensitive.clone_from(&sensitive);
            }
            let stored = object.stored(&kind)?;
            self.keep(address, stored, &slot);
        }
        Ok(diagnostics)
    }

    async fn ask(
        &self,
        provider: &dyn Provider,
        (id, named): (String, ImportTarget),
        diagnostics: &mut Diagnostics,
    ) -> Result<Vec<ImportedObject>, Diagnostics> {
        let target = self.request.address;
        let type_name = target.instance.resource.ty.clone();
        self.request.events.tell(Event::ImportStarted(target.clone(), id.clone()));
        let request = ImportRequest { type_name, target: named };
        let response = provider.import(request).await.map_err(|error| error.diagnostic())?;
        keep_warnings(response.diagnostics, diagnostics)?;
        if response.imported.is_empty() {
            let detail = format!("The provider returned no object for {target} and the id {id:?}.");
            return Err(Diagnostic::error("Import returned no resources", detail).into());
        }
        self.request.events.tell(Event::ImportDone(target.clone(), id));
        Ok(response.imported)
    }

    fn has_no_identity(&self, provider: &dyn Provider) -> bool {
        !provider.schema().identities.contains_key(&self.request.address.instance.resource.ty)
    }

    /// An identity, as the provider wants it.
    fn identity(&self, provider: &dyn Provider, text: &str) -> Result<Value, Diagnostics> {
        let type_name = &self.request.address.instance.resource.ty;
        let schema = provider.schema().identities.get(type_name);
        let identity = schema.and_then(|schema| json::decode(text, &schema.implied_type()).ok());
        identity.ok_or_else(|| {
            let detail = format!("The identity {text} is not one that {type_name} can have.");
            Diagnostic::error("Invalid identity", detail).into()
        })
    }

    /// Which attributes the configuration gets from something sensitive. It may be incomplete, which does not matter for that.
    fn configured_secrets(&self, site: Site<'_>) -> Vec<Path> {
        let Ok(kind) = object_schema(self.request.schemas, &*self.request.providers, site.resource) else {
            return Vec::new();
        };
        let (config, _) = self.walk.resource_config(site, &kind.schema.block);
        sensitive_paths(&config.unmark_deep_with_paths().1)
    }

    fn schema_of(&self, provider: &ProviderAddress, type_name: &Str) -> Result<ObjectSchema, Diagnostics> {
        let mode = groma_lang::config::ResourceMode::Managed;
        let schema = self.request.schemas.resource(provider, mode, type_name).ok_or_else(|| {
            let detail = format!(
                "The provider {provider} gave an object of the type {:?}, which it does not have.",
                type_name.as_str()
            );
            Diagnostic::error("Provider produced invalid object", detail)
        })?;
        let offered = self.request.providers.schema(provider);
        let identity = offered.and_then(|offered| offered.identities.get(type_name).cloned());
        Ok(ObjectSchema { type_name: type_name.clone(), schema, identity })
    }

    pub(super) fn keep(&mut self, address: AbsInstance, object: ObjectState, slot: &Slot) {
        let instance = slot.instance();
        let resource = self
            .state
            .resources
            .entry(address.resource())
            .or_insert_with(|| ResourceState { provider: instance.config.clone(), instances: BTreeMap::new() });
        let stored = InstanceState { provider_key: instance.key.clone(), ..InstanceState::from(object) };
        resource.instances.insert(address.instance.key, stored);
    }
}

/// A provider that is configured with what is not known yet could look anywhere.
fn check_known(slot: &Slot) -> Result<(), Diagnostics> {
    if slot.config().is_wholly_known() {
        return Ok(());
    }
    let detail = format!(
        "The configuration for {} depends on values that cannot be determined until apply. Give it values that are known, for \
         example by variables, and import again.",
        slot.instance()
    );
    Err(Diagnostic::error("Invalid provider configuration", detail).into())
}

/// Reads what was found.
struct Asker {
    provider: Arc<dyn Provider>,
    provider_meta: Option<Value>,
    events: Arc<dyn Events>,
}

impl Asker {
    async fn read(
        &self,
        address: &AbsInstance,
        kind: &ObjectSchema,
        found: ImportedObject,
        diagnostics: &mut Diagnostics,
    ) -> Result<Object, Diagnostics> {
        let named = |found| with_address(found, address);
        let id = shown_id(&stored::marked(&found.object, &kind.schema, &[]));
        let request = ReadRequest {
            type_name: kind.type_name.clone(),
            current: found.object,
            private: found.private,
            identity: found.identity.clone(),
            provider_meta: self.provider_meta.clone(),
        };
        self.events.tell(Event::RefreshStarted(address.clone(), id.clone()));
        let failed = |found| {
            self.events.tell(Event::RefreshFailed(address.clone()));
            named(found)
        };
        let response = self.provider.read(request).await.map_err(|error| failed(error.diagnostic().into()))?;
        keep_warnings(response.diagnostics, diagnostics).map_err(failed)?;
        let id = id.filter(|_| !response.object.is_null());
        self.events.tell(Event::RefreshDone(address.clone(), id));
        if response.object.is_null() {
            return Err(not_there(address).into());
        }
        if !response.object.is_wholly_known() {
            let name = self.provider.name();
            let detail = format!("Provider {name:?} returned an object with unknown values when {address} was read.");
            return Err(Diagnostic::error("Provider produced invalid object", detail).into());
        }
        let value = legacy::normalised(&response.object, &kind.schema.block);
        let identity = response.identity.or(found.identity);
        Ok(Object { private: response.private, identity, ..healthy(value, Vec::new()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_of_other_types_and_further_ones_get_addresses_of_their_own() {
        let target: AbsInstance = "module.m.a_b.x[\"k\"]".parse().unwrap();
        let object = |type_name: &str| ImportedObject {
            type_name: type_name.into(),
            object: Value::dynamic(),
            private: Private::default(),
            identity: None,
        };
        let found = [object("a_b"), object("a_c"), object("a_b"), object("a_b"), object("")];
        let shown: Vec<String> = addresses(&target, &found).iter().map(ToString::to_string).collect();
        let expected = ["x", "x", "x-1", "x-2", "x-3"].iter().zip(["a_b", "a_c", "a_b", "a_b", "a_b"]);
        let expected: Vec<String> = expected.map(|(name, ty)| format!("module.m.{ty}.{name}[\"k\"]")).collect();
        assert_eq!(shown, expected);
    }
}
