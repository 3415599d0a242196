//! Does with the provider what an engine does, and minds what an engine minds.

use std::sync::Arc;
use std::time::Duration;

use groma_kit::Object;
use groma_kit::outside::Outside;
use groma_kubernetes::{Host, provider};
use groma_model::codec::json;
use groma_model::diag::Diagnostics;
use groma_model::schema::Schema;
use groma_model::value::Value;
use groma_provider::api::{
    ApplyRequest, ApplyResponse, ClientCapabilities, ConfigureRequest, ImportRequest, ImportTarget, Outcome, Patience,
    PlanRequest, PlanResponse, Private, Provider, RawState, ReadRequest, ReadResponse, UpgradeRequest,
};
use serde_json::Value as Json;

/// An object that the provider made.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    pub(crate) object: Value,
    pub(crate) private: Private,
}

impl Kept {
    pub(crate) fn json(&self) -> Json {
        serde_json::from_str(&json::encode(&self.object, &self.object.ty()).unwrap()).unwrap()
    }

    pub(crate) fn text(&self, name: &str) -> String {
        Object::of(&self.object).text(name).unwrap_or_else(|| panic!("{name} is no text")).to_owned()
    }

    pub(crate) fn with(&self, name: &str, value: Value) -> Self {
        let mut object = Object::of(&self.object);
        object.set(name, value);
        Self { object: object.into_value(), private: self.private.clone() }
    }
}

/// The provider in one process.
pub(crate) struct Driver(Arc<dyn Provider>);

impl Driver {
    pub(crate) async fn new(host: Host) -> Self {
        Self::configured(host, &Json::Object(serde_json::Map::new()), &[]).await
    }

    pub(crate) async fn configured(host: Host, config: &Json, environment: &[(&str, String)]) -> Self {
        let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let outside = Outside { environment: Arc::new(environment), ..Outside::system(".") };
        let provider: Arc<dyn Provider> = Arc::new(provider(&outside, host));
        let schema = provider.schema().provider.get().unwrap().clone();
        let request = ConfigureRequest {
            terraform_version: "1.12.0".into(),
            config: fill(&schema, config),
            capabilities: ClientCapabilities::default(),
        };
        let found = provider.configure(request).await.unwrap();
        assert!(!found.has_errors(), "{found:?}");
        Self(provider)
    }

    fn schema(&self, ty: &str) -> Arc<Schema> {
        self.0.schema().resources[ty].get().unwrap().clone()
    }

    pub(crate) async fn validate(&self, ty: &str, config: &Json) -> Diagnostics {
        self.0.validate_resource(ty, fill(&self.schema(ty), config)).await.unwrap()
    }

    pub(crate) async fn plan(&self, ty: &str, prior: Option<&Kept>, config: &Json) -> PlanResponse {
        let private = prior.map(|kept| kept.private.clone()).unwrap_or_default();
        self.plan_with(ty, prior, config, private).await
    }

    async fn plan_with(&self, ty: &str, prior: Option<&Kept>, config: &Json, private: Private) -> PlanResponse {
        let schema = self.schema(ty);
        let config = fill(&schema, config);
        let request = PlanRequest {
            type_name: ty.into(),
            prior: prior.map_or_else(|| Value::null(config.ty()), |kept| kept.object.clone()),
            proposed: proposed(&schema, prior.map(|kept| &kept.object), &config),
            config: config.clone(),
            prior_private: private,
            prior_identity: None,
            provider_meta: None,
        };
        let response = self.0.plan(request).await.unwrap();
        check_plan(&schema, prior, &config, &response);
        response
    }

    /// Plans and applies, with a replacement if one is needed; the outcome is the caller's to judge.
    pub(crate) async fn try_apply(&self, ty: &str, prior: Option<&Kept>, config: &Json) -> ApplyResponse {
        let found = self.validate(ty, config).await;
        assert!(!found.has_errors(), "{found:?}");
        let plan = self.plan(ty, prior, config).await;
        assert!(!plan.diagnostics.has_errors(), "{:?}", plan.diagnostics);
        let replaces = prior.is_some() && !plan.requires_replace.is_empty();
        if !replaces {
            return self.carry_out(ty, prior, plan, config).await;
        }
        let second = self.plan_with(ty, None, config, plan.private).await;
        assert!(!second.diagnostics.has_errors(), "{:?}", second.diagnostics);
        let deleted = self.delete(ty, prior.unwrap()).await;
        assert_eq!(deleted.outcome, Outcome::Done, "{:?}", deleted.diagnostics);
        // Asked again when it is carried out, as engines do.
        let last = self.plan(ty, None, config).await;
        assert!(!last.diagnostics.has_errors(), "{:?}", last.diagnostics);
        check_agreement(&second.planned, &last.planned);
        self.carry_out(ty, None, last, config).await
    }

    pub(crate) async fn carry_out(
        &self,
        ty: &str,
        prior: Option<&Kept>,
        plan: PlanResponse,
        config: &Json,
    ) -> ApplyResponse {
        let config = fill(&self.schema(ty), config);
        let request = ApplyRequest {
            type_name: ty.into(),
            prior: prior.map_or_else(|| Value::null(config.ty()), |kept| kept.object.clone()),
            planned: plan.planned.clone(),
            config,
            planned_private: plan.private,
            planned_identity: None,
            provider_meta: None,
        };
        let mut response = self.0.apply(request.clone()).await.unwrap();
        let mut passed = Duration::ZERO;
        // What it needs may come meanwhile.
        while let Outcome::NotYet(Patience { timeout, interval }) = response.outcome
            && passed < timeout
        {
            tokio::time::sleep(interval).await;
            passed += interval;
            response = self.0.apply(request.clone()).await.unwrap();
        }
        if matches!(response.outcome, Outcome::Done | Outcome::NotReady(_)) {
            assert!(response.object.is_wholly_known());
            check_agreement(&plan.planned, &response.object);
        }
        response
    }

    pub(crate) async fn apply(&self, ty: &str, prior: Option<&Kept>, config: &Json) -> Kept {
        let response = self.try_apply(ty, prior, config).await;
        assert_eq!(response.outcome, Outcome::Done, "{:?}", response.diagnostics);
        Kept { object: response.object, private: response.private }
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

    pub(crate) async fn upgrade(&self, ty: &str, version: i64, state: &Json) -> Kept {
        let state = RawState::Json(state.to_string().into_bytes());
        let response = self.0.upgrade(UpgradeRequest { type_name: ty.into(), version, state }).await.unwrap();
        assert!(!response.diagnostics.has_errors(), "{:?}", response.diagnostics);
        Kept { object: response.value, private: Private::default() }
    }

    /// Reads the object and plans again: nothing may change.
    pub(crate) async fn assert_settled(&self, ty: &str, kept: &Kept, config: &Json) {
        let read = self.read(ty, kept).await.expect("it is there");
        let plan = self.plan(ty, Some(&read), config).await;
        assert!(plan.diagnostics.is_empty(), "{:?}", plan.diagnostics);
        assert_eq!(changes(&read.object, &plan.planned), Vec::<String>::new());
        assert!(plan.requires_replace.is_empty());
    }

    /// Reads the object, plans and applies: what a whole run does.
    pub(crate) async fn run(&self, ty: &str, kept: &Kept, config: &Json) -> Kept {
        let read = self.read(ty, kept).await.expect("it is there");
        self.apply(ty, Some(&read), config).await
    }
}

/// The names of attributes that differ.
pub(crate) fn changes(before: &Value, after: &Value) -> Vec<String> {
    let before = Object::of(before);
    let after = Object::of(after);
    after.iter().filter(|(name, value)| before.get(name) != **value).map(|(name, _)| name.to_string()).collect()
}

fn check_plan(schema: &Schema, prior: Option<&Kept>, config: &Value, response: &PlanResponse) {
    let (planned, config) = (Object::of(&response.planned), Object::of(config));
    for (name, attribute) in &schema.block.attributes {
        let keeps = prior.is_some_and(|prior| Object::of(&prior.object).get(name) == planned.get(name));
        let is_fine = planned.get(name) == config.get(name) || attribute.computed || (keeps && !config.is_null(name));
        assert!(is_fine, "{name} was planned otherwise than it is configured");
    }
}

fn check_agreement(planned: &Value, actual: &Value) {
    match (planned.as_entries(), actual.as_entries()) {
        _ if !planned.is_known() => {}
        (Some(some), Some(more)) => {
            let names =
                |entries: &groma_model::value::Entries| entries.iter().map(|(n, _)| n.to_string()).collect::<Vec<_>>();
            assert_eq!(names(some), names(more));
            for (name, value) in some.iter() {
                check_agreement(value, more.get(name).unwrap());
            }
        }
        _ => assert_eq!(planned, actual),
    }
}

/// A whole object from what is given of it.
fn fill(schema: &Schema, config: &Json) -> Value {
    json::decode(&config.to_string(), &schema.block.implied_type()).unwrap()
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

/// The summaries of what was found.
pub(crate) fn summaries(found: &Diagnostics) -> Vec<String> {
    found.iter().map(|found| found.summary.clone()).collect()
}
