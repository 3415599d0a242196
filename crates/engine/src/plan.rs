//! Planning: what must be done so that the world is as configured. Changes nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_lang::config::{Resource, ResourceKey, ResourceMode};
use groma_model::address::{AbsResource, InstanceKey, ModuleInstance, Provider as ProviderAddress, ProviderConfig};
use groma_model::codec::json;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::schema::Schema;
use groma_model::text::Str;
use groma_model::value::Value;
use groma_provider::api::{CallError, PlanRequest, Private, Provider, RawState, ReadRequest, UpgradeRequest};
use groma_state::{Attributes, ObjectState, State};

use crate::object::propose::proposed_new;

/// A configured provider by its address.
pub type Providers = BTreeMap<ProviderAddress, Arc<dyn Provider>>;

/// What is to be done with one object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Nothing.
    NoOp,
    /// It does not exist yet.
    Create,
    /// It is changed in place.
    Update,
}

/// A planned change.
#[derive(Debug, Clone)]
pub struct Change {
    /// Of which resource.
    pub address: AbsResource,
    /// Made with which provider configuration.
    pub provider: ProviderConfig,
    /// What.
    pub action: Action,
    /// As it is; null if there is none.
    pub prior: Value,
    /// As it will be.
    pub planned: Value,
    /// As configured.
    pub config: Value,
    /// From the provider, for the apply.
    pub private: Private,
    /// The schema that all of these follow.
    pub schema: Arc<Schema>,
}

/// All planned changes, by address.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// In the order of their addresses.
    pub changes: Vec<Change>,
}

impl Plan {
    /// Whether nothing is to be done.
    pub fn is_empty(&self) -> bool {
        self.changes.iter().all(|change| change.action == Action::NoOp)
    }
}

/// A resource with its evaluated configuration.
pub struct Desired<'a> {
    /// As declared.
    pub resource: &'a Resource,
    /// As evaluated.
    pub config: Value,
}

/// Plans all desired resources of the root module.
pub async fn plan(desired: Vec<Desired<'_>>, state: &State, providers: &Providers) -> Result<Plan, Diagnostics> {
    let mut plan = Plan::default();
    let mut diagnostics = Diagnostics::new();
    for desired in desired {
        match plan_resource(desired, state, providers).await {
            Ok(change) => plan.changes.push(change),
            Err(found) => diagnostics.extend(found),
        }
    }
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(plan) }
}

async fn plan_resource(desired: Desired<'_>, state: &State, providers: &Providers) -> Result<Change, Diagnostics> {
    let Desired { resource, config } = desired;
    let key = &resource.key;
    let address = address_of(key);
    let source = resource.provider.clone();
    let Some(provider) = providers.get(&source) else {
        return Err(refused(&address, &format!("the provider {source} is not available")));
    };
    let Some(schema) = provider.schema().resources.get(&key.ty) else {
        return Err(refused(&address, &format!("the provider {source} has no resource type {:?}", key.ty.as_str())));
    };
    let schema = Arc::clone(schema.get().map_err(|error| refused(&address, &error.to_string()))?);
    if key.mode != ResourceMode::Managed {
        return Err(refused(&address, "only managed resources can be planned so far"));
    }
    let found = called(&address, provider.validate_resource(&key.ty, config.clone()).await)?;
    errors(found)?;
    let stored = state.resources.get(&address).and_then(|resource| resource.instances.get(&InstanceKey::None));
    let stored = stored.and_then(|instance| instance.current.as_ref());
    let (prior, prior_private) = match stored {
        Some(stored) => refreshed(&address, provider.as_ref(), &key.ty, stored).await?,
        None => (Value::null(schema.block.implied_type()), Private::default()),
    };
    let request = PlanRequest {
        type_name: key.ty.clone(),
        proposed: proposed_new(&schema.block, &prior, &config),
        prior: prior.clone(),
        config: config.clone(),
        prior_private,
        prior_identity: None,
        provider_meta: None,
    };
    let response = called(&address, provider.plan(request).await)?;
    errors(response.diagnostics)?;
    let action = if prior.is_null() {
        Action::Create
    } else if prior == response.planned {
        Action::NoOp
    } else if response.requires_replace.is_empty() {
        Action::Update
    } else {
        return Err(refused(&address, "it would have to be replaced, which cannot be planned so far"));
    };
    let provider = ProviderConfig::default_in(groma_model::address::Module::root(), source);
    Ok(Change {
        address,
        provider,
        action,
        prior,
        planned: response.planned,
        config,
        private: response.private,
        schema,
    })
}

/// The stored object, brought to the current schema and read anew.
async fn refreshed(
    address: &AbsResource,
    provider: &dyn Provider,
    kind: &Str,
    stored: &ObjectState,
) -> Result<(Value, Private), Diagnostics> {
    let request = UpgradeRequest {
        type_name: kind.clone(),
        version: i64::try_from(stored.schema_version).unwrap_or(i64::MAX),
        state: match stored.attributes.clone() {
            Attributes::Json(json) => RawState::Json(json.into_bytes()),
            Attributes::Flat(entries) => RawState::Flatmap(entries.into_iter().collect()),
        },
    };
    let upgraded = called(address, provider.upgrade(request).await)?;
    errors(upgraded.diagnostics)?;
    let request = ReadRequest {
        type_name: kind.clone(),
        current: upgraded.value,
        private: Private(stored.private.clone()),
        identity: None,
        provider_meta: None,
    };
    let response = called(address, provider.read(request).await)?;
    errors(response.diagnostics)?;
    Ok((response.object, response.private))
}

/// The attributes of an object as a state keeps them.
pub(crate) fn stored_attributes(object: &Value, schema: &Schema) -> Result<String, Diagnostics> {
    json::encode(object, &schema.block.implied_type()).map_err(|error| {
        Diagnostic::error("Provider returned invalid result object after apply", error.to_string()).into()
    })
}

fn address_of(key: &ResourceKey) -> AbsResource {
    key.absolute(ModuleInstance::root())
}

pub(crate) fn refused(address: &AbsResource, reason: &str) -> Diagnostics {
    Diagnostic::error("Not supported yet", format!("{address} cannot be handled: {reason}."))
        .of(address.to_string())
        .into()
}

pub(crate) fn called<T>(address: &AbsResource, result: Result<T, CallError>) -> Result<T, Diagnostics> {
    result.map_err(|error| error.diagnostic().of(address.to_string()).into())
}

pub(crate) fn errors(diagnostics: Diagnostics) -> Result<(), Diagnostics> {
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(()) }
}
