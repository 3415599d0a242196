//! Providers that make nothing: they answer from what a test says, by the schema of the provider that they stand for.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use groma_engine::providers::Providers;
use groma_lang::config::ResourceMode;
use groma_model::address::{Provider as Address, ProviderConfig, ProviderInstance};
use groma_model::codec::json;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::path::Path;
use groma_model::schema::{Block, Schema};
use groma_model::text::Str;
use groma_model::value::Value;
use groma_provider::api::{
    Answer, ApplyRequest, ApplyResponse, Effects, EphemeralObject, OpenRequest, Outcome, PlanRequest, PlanResponse,
    Private, Provider, ProviderSchema, RawState, ReadDataRequest, ReadDataResponse, ReadRequest, ReadResponse,
    UpgradeIdentityRequest, UpgradeRequest, UpgradeResponse,
};

use super::compose::{self, Values};

/// What a provider that makes nothing answers with.
#[derive(Debug, Clone)]
pub(super) enum Mock {
    /// Values by type; what has none is made up.
    ByType(BTreeMap<(ResourceMode, Str), Values>),
    /// Values of one resource, which alone uses it.
    One(Values),
}

impl Mock {
    fn values(&self, mode: ResourceMode, ty: &Str) -> Option<&Values> {
        match self {
            Self::ByType(defaults) => defaults.get(&(mode, ty.clone())),
            Self::One(values) => Some(values),
        }
    }
}

/// Which provider configurations make nothing.
pub(super) type Mocks = BTreeMap<ProviderConfig, Mock>;

/// Hands out providers, and others in the place of those that make nothing.
pub(super) struct MockedProviders {
    real: Arc<dyn Providers>,
    mocks: Mocks,
}

impl MockedProviders {
    pub(super) fn new(real: Arc<dyn Providers>, mocks: Mocks) -> Self {
        Self { real, mocks }
    }
}

#[async_trait]
impl Providers for MockedProviders {
    fn schema(&self, provider: &Address) -> Option<Arc<ProviderSchema>> {
        self.real.schema(provider)
    }

    async fn start(&self, instance: &ProviderInstance) -> Result<Arc<dyn Provider>, Diagnostics> {
        let Some(mock) = self.mocks.get(&instance.config) else { return self.real.start(instance).await };
        let provider = &instance.config.provider;
        let Some(schema) = self.real.schema(provider) else {
            let detail = format!("{} is needed for its schema, but it is not there.", provider.for_display());
            return Err(Diagnostic::error("Missing required provider", detail).into());
        };
        Ok(Arc::new(MockProvider { name: provider.to_string(), schema, mock: mock.clone() }))
    }
}

struct MockProvider {
    name: String,
    schema: Arc<ProviderSchema>,
    mock: Mock,
}

impl MockProvider {
    fn schema_of(&self, mode: ResourceMode, ty: &Str) -> Answer<Arc<Schema>> {
        let schemas = match mode {
            ResourceMode::Managed => &self.schema.resources,
            ResourceMode::Data => &self.schema.data_sources,
            ResourceMode::Ephemeral => &self.schema.ephemerals,
        };
        let found = schemas.get(ty).and_then(|schema| schema.get().ok());
        found.cloned().ok_or_else(|| self.unsupported("GetProviderSchema", ty))
    }

    fn composed(&self, mode: ResourceMode, ty: &Str, config: &Value) -> Answer<(Value, Diagnostics)> {
        let schema = self.schema_of(mode, ty)?;
        let none = Values::new();
        Ok(compose::object(ty, &schema.block, config, self.mock.values(mode, ty).unwrap_or(&none)))
    }
}

/// A configuration without what only the provider decides: an earlier object may have left that in it.
fn configured(block: &Block, config: &Value) -> Value {
    let decided = |path: &Path| block.attribute_at(path).is_some_and(|found| found.computed && !found.optional);
    let cleared = config.transform::<std::convert::Infallible>(&mut |path, value| {
        Ok(if decided(path) { Value::null(value.ty()) } else { value })
    });
    match cleared {
        Ok(value) => value,
        Err(never) => match never {},
    }
}

#[async_trait]
impl Provider for MockProvider {
    fn name(&self) -> &str {
        &self.name
    }

    fn schema(&self) -> &ProviderSchema {
        &self.schema
    }

    fn effects(&self) -> Effects {
        Effects::None
    }

    /// Nothing that it makes was ever written by another version of it.
    async fn upgrade(&self, request: UpgradeRequest) -> Answer<UpgradeResponse> {
        let schema = self.schema_of(ResourceMode::Managed, &request.type_name)?;
        let ty = schema.block.implied_type();
        let decoded = match &request.state {
            RawState::Json(bytes) => std::str::from_utf8(bytes).ok().and_then(|text| json::decode(text, &ty).ok()),
            RawState::Flatmap(_) => None,
        };
        let diagnostics = match &decoded {
            Some(_) => Diagnostics::new(),
            None => Diagnostic::error("Invalid object", "It does not fit the schema of its provider.").into(),
        };
        Ok(UpgradeResponse { value: decoded.unwrap_or_else(|| Value::null(ty)), diagnostics })
    }

    async fn upgrade_identity(&self, request: UpgradeIdentityRequest) -> Answer<UpgradeResponse> {
        let Some(schema) = self.schema.identities.get(&request.type_name) else {
            return Err(self.unsupported("UpgradeResourceIdentity", &request.type_name));
        };
        let ty = schema.implied_type();
        let text = std::str::from_utf8(&request.json).unwrap_or_default();
        let value = json::decode(text, &ty).unwrap_or_else(|_| Value::null(ty));
        Ok(UpgradeResponse { value, diagnostics: Diagnostics::new() })
    }

    async fn read(&self, request: ReadRequest) -> Answer<ReadResponse> {
        let ReadRequest { current, private, identity, .. } = request;
        let diagnostics = Diagnostics::new();
        Ok(ReadResponse { object: current, private, identity, not_ready: None, deferred: None, diagnostics })
    }

    async fn plan(&self, request: PlanRequest) -> Answer<PlanResponse> {
        let (planned, diagnostics) = if request.config.is_null() {
            (request.proposed, Diagnostics::new())
        } else {
            let schema = self.schema_of(ResourceMode::Managed, &request.type_name)?;
            let config = configured(&schema.block, &request.config);
            self.composed(ResourceMode::Managed, &request.type_name, &config)?
        };
        Ok(PlanResponse {
            planned,
            requires_replace: Vec::new(),
            private: Private::default(),
            identity: None,
            legacy_type_system: false,
            deferred: None,
            diagnostics,
        })
    }

    async fn apply(&self, request: ApplyRequest) -> Answer<ApplyResponse> {
        Ok(ApplyResponse {
            outcome: Outcome::Done,
            object: request.planned,
            private: Private::default(),
            identity: None,
            legacy_type_system: false,
            diagnostics: Diagnostics::new(),
        })
    }

    async fn read_data(&self, request: ReadDataRequest) -> Answer<ReadDataResponse> {
        let (object, diagnostics) = self.composed(ResourceMode::Data, &request.type_name, &request.config)?;
        Ok(ReadDataResponse { object, deferred: None, diagnostics })
    }

    async fn open_ephemeral(&self, request: OpenRequest) -> Answer<EphemeralObject> {
        let (object, diagnostics) = self.composed(ResourceMode::Ephemeral, &request.type_name, &request.config)?;
        Ok(EphemeralObject { object, private: Private::default(), renew_at: None, deferred: None, diagnostics })
    }

    async fn close_ephemeral(&self, _: &str, _: Private) -> Answer<Diagnostics> {
        Ok(Diagnostics::new())
    }
}
