//! For tests: does with a provider what an engine does, and minds what an engine minds.

use std::sync::Arc;

use groma_model::codec::json;
use groma_model::diag::Diagnostics;
use groma_model::schema::Schema;
use groma_model::value::Value;
use groma_provider::api::{
    Answer, ApplyRequest, ApplyResponse, CallError, ClientCapabilities, ConfigureRequest, ImportRequest, ImportTarget,
    ListEvent, ListRequest, ListedObject, OpenRequest, Outcome, PlanRequest, PlanResponse, Private, Provider, RawState,
    ReadDataRequest, ReadDataResponse, ReadRequest, ReadResponse, UpgradeRequest,
};
use serde_json::Value as Json;

use crate::kit::{InProcess, Object};

/// An object that a provider made.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    pub(crate) object: Value,
    pub(crate) private: Private,
}

impl Kept {
    pub(crate) fn text(&self, name: &str) -> String {
        Object::of(&self.object).text(name).unwrap_or_else(|| panic!("{name} is no text")).to_owned()
    }

    pub(crate) fn get(&self, name: &str) -> Value {
        Object::of(&self.object).get(name)
    }

    pub(crate) fn with(&self, name: &str, value: Value) -> Self {
        let mut object = Object::of(&self.object);
        object.set(name, value);
        Self { object: object.into_value(), private: self.private.clone() }
    }

    pub(crate) fn json(&self) -> Json {
        serde_json::from_str(&json::encode(&self.object, &self.object.ty()).unwrap()).unwrap()
    }
}

pub(crate) struct Driver(pub(crate) Arc<dyn Provider>);

impl Driver {
    pub(crate) fn new(provider: InProcess) -> Self {
        Self(Arc::new(provider))
    }

    pub(crate) async fn configured(provider: InProcess, config: Json) -> Self {
        let driver = Self::new(provider);
        let schema = driver.0.schema().provider.get().unwrap().clone();
        let config = fill(&schema, &config);
        let found = driver.0.validate_provider(config.clone()).await.unwrap();
        assert!(!found.has_errors(), "{found:?}");
        let request = ConfigureRequest {
            terraform_version: "1.12.0".into(),
            config,
            capabilities: ClientCapabilities::default(),
        };
        let found = driver.0.configure(request).await.unwrap();
        assert!(!found.has_errors(), "{found:?}");
        driver
    }

    fn schema(&self, ty: &str) -> Arc<Schema> {
        self.0.schema().resources[ty].get().unwrap().clone()
    }

    pub(crate) async fn validate(&self, ty: &str, config: Json) -> Diagnostics {
        self.0.validate_resource(ty, fill(&self.schema(ty), &config)).await.unwrap()
    }

    pub(crate) async fn plan(&self, ty: &str, prior: Option<&Kept>, config: Json) -> PlanResponse {
        let schema = self.schema(ty);
        let config = fill(&schema, &config);
        let request = PlanRequest {
            type_name: ty.into(),
            prior: prior.map_or_else(|| Value::null(config.ty()), |kept| kept.object.clone()),
            proposed: proposed(&schema, prior.map(|kept| &kept.object), &config),
            config,
            prior_private: prior.map(|kept| kept.private.clone()).unwrap_or_default(),
            prior_identity: None,
            provider_meta: None,
        };
        self.0.plan(request).await.unwrap()
    }

    /// Plans and applies; the outcome is the caller's to judge.
    pub(crate) async fn try_apply(&self, ty: &str, prior: Option<&Kept>, config: Json) -> ApplyResponse {
        self.ask_to_apply(ty, prior, config).await.unwrap()
    }

    /// The same; there may be no answer.
    pub(crate) async fn ask_to_apply(&self, ty: &str, prior: Option<&Kept>, config: Json) -> Answer<ApplyResponse> {
        let found = self.validate(ty, config.clone()).await;
        assert!(!found.has_errors(), "{found:?}");
        let plan = self.plan(ty, prior, config.clone()).await;
        assert!(!plan.diagnostics.has_errors(), "{:?}", plan.diagnostics);
        let (prior, plan) = if plan.requires_replace.is_empty() {
            (prior, plan)
        } else {
            (None, self.plan(ty, None, config.clone()).await)
        };
        let config = fill(&self.schema(ty), &config);
        let request = ApplyRequest {
            type_name: ty.into(),
            prior: prior.map_or_else(|| Value::null(config.ty()), |kept| kept.object.clone()),
            planned: plan.planned.clone(),
            config,
            planned_private: plan.private,
            planned_identity: None,
            provider_meta: None,
        };
        let response = self.0.apply(request).await?;
        if response.outcome == Outcome::Done {
            for (name, planned) in Object::of(&plan.planned).iter() {
                let actual = Object::of(&response.object).get(name);
                assert!(actual.is_wholly_known(), "{name} is still unknown");
                assert!(!planned.is_wholly_known() || *planned == actual, "{name} was planned otherwise");
            }
        }
        Ok(response)
    }

    /// Lists objects, asked as a configuration would be. None if they cannot be listed.
    pub(crate) async fn list(&self, ty: &str, config: Json) -> Option<Vec<ListedObject>> {
        let schema = self.0.schema().lists[ty].get().unwrap().clone();
        let request =
            ListRequest { type_name: ty.into(), config: fill(&schema, &config), include_object: true, limit: 100 };
        let (mut found, mut problems) = (Vec::new(), Diagnostics::new());
        let mut sink = |event: ListEvent| {
            found.extend(event.object);
            problems.extend(event.diagnostics);
            true
        };
        match self.0.list(request, &mut sink).await {
            Err(CallError::Unsupported { .. }) => return None,
            done => done.unwrap(),
        }
        assert!(!problems.has_errors(), "{problems:?}");
        Some(found)
    }

    pub(crate) async fn apply(&self, ty: &str, prior: Option<&Kept>, config: Json) -> Kept {
        let response = self.try_apply(ty, prior, config).await;
        assert_eq!(response.outcome, Outcome::Done, "{:?}", response.diagnostics);
        Kept { object: response.object, private: response.private }
    }

    pub(crate) async fn create(&self, ty: &str, config: Json) -> Kept {
        self.apply(ty, None, config).await
    }

    pub(crate) async fn try_read(&self, ty: &str, kept: &Kept) -> ReadResponse {
        let request = ReadRequest {
            type_name: ty.into(),
            current: kept.object.clone(),
            private: kept.private.clone(),
            identity: None,
            provider_meta: None,
        };
        self.0.read(request).await.unwrap()
    }

    pub(crate) async fn read(&self, ty: &str, kept: &Kept) -> Option<Kept> {
        let response = self.try_read(ty, kept).await;
        assert!(!response.diagnostics.has_errors(), "{:?}", response.diagnostics);
        (!response.object.is_null()).then_some(Kept { object: response.object, private: response.private })
    }

    pub(crate) async fn delete(&self, ty: &str, kept: &Kept) -> ApplyResponse {
        let null = Value::null(kept.object.ty());
        let request = ApplyRequest {
            type_name: ty.into(),
            prior: kept.object.clone(),
            planned: null.clone(),
            config: null,
            planned_private: kept.private.clone(),
            planned_identity: None,
            provider_meta: None,
        };
        self.0.apply(request).await.unwrap()
    }

    pub(crate) async fn import(&self, ty: &str, id: &str) -> Result<Kept, Diagnostics> {
        let request = ImportRequest { type_name: ty.into(), target: ImportTarget::Id(id.to_owned()) };
        let mut response = self.0.import(request).await.unwrap();
        if response.diagnostics.has_errors() {
            return Err(response.diagnostics);
        }
        let found = response.imported.remove(0);
        Ok(Kept { object: found.object, private: found.private })
    }

    pub(crate) async fn upgrade(&self, ty: &str, version: i64, state: Json) -> Result<Kept, Diagnostics> {
        let state = RawState::Json(state.to_string().into_bytes());
        let response = self.0.upgrade(UpgradeRequest { type_name: ty.into(), version, state }).await.unwrap();
        if response.diagnostics.has_errors() {
            return Err(response.diagnostics);
        }
        Ok(Kept { object: response.value, private: Private::default() })
    }

    pub(crate) async fn try_data(&self, ty: &str, config: Json) -> ReadDataResponse {
        let schema = self.0.schema().data_sources[ty].get().unwrap().clone();
        let config = fill(&schema, &config);
        let found = self.0.validate_data_source(ty, config.clone()).await.unwrap();
        if found.has_errors() {
            return ReadDataResponse { object: Value::null(config.ty()), deferred: None, diagnostics: found };
        }
        self.0
            .read_data(ReadDataRequest { type_name: ty.into(), config, provider_meta: None, address: None })
            .await
            .unwrap()
    }

    pub(crate) async fn data(&self, ty: &str, config: Json) -> Kept {
        let response = self.try_data(ty, config).await;
        assert!(!response.diagnostics.has_errors(), "{:?}", response.diagnostics);
        Kept { object: response.object, private: Private::default() }
    }

    pub(crate) async fn open(&self, ty: &str, config: Json) -> Kept {
        let schema = self.0.schema().ephemerals[ty].get().unwrap().clone();
        let config = fill(&schema, &config);
        let opened = self.0.open_ephemeral(OpenRequest { type_name: ty.into(), config }).await.unwrap();
        assert!(!opened.diagnostics.has_errors(), "{:?}", opened.diagnostics);
        Kept { object: opened.object, private: opened.private }
    }

    /// Whether nothing would change.
    pub(crate) async fn is_settled(&self, ty: &str, kept: &Kept, config: Json) -> bool {
        let plan = self.plan(ty, Some(kept), config).await;
        assert!(!plan.diagnostics.has_errors(), "{:?}", plan.diagnostics);
        plan.planned == kept.object && plan.requires_replace.is_empty()
    }
}

/// A whole object from what is given of it.
fn fill(schema: &Schema, config: &Json) -> Value {
    let value = json::decode(&config.to_string(), &schema.block.implied_type()).unwrap();
    let empty = Object::of(&schema.block.empty_value());
    let mut object = Object::of(&value);
    for name in schema.block.block_types.keys() {
        if object.is_null(name) {
            object.set(name, empty.get(name));
        }
    }
    object.into_value()
}

fn proposed(schema: &Schema, prior: Option<&Value>, config: &Value) -> Value {
    let mut object = Object::of(config);
    let Some(prior) = prior else { return config.clone() };
    for (name, attribute) in &schema.block.attributes {
        if attribute.computed && object.is_null(name) {
            object.set(name, Object::of(prior).get(name));
        }
    }
    object.into_value()
}

/// Whether a program is on this machine.
pub(crate) fn has_program(name: &str) -> bool {
    std::process::Command::new(name).arg("--help").output().is_ok()
}
