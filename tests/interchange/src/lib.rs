//! Drives a provider, ours or a plugin, as an engine would: for tests that compare the two. See `tests/`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "for tests, which may panic")]

pub mod opentofu;
pub mod texts;

use std::path::PathBuf;
use std::sync::Arc;

use groma_builtin::Outside;
use groma_model::address::Provider as Address;
use groma_model::codec::json;
use groma_model::diag::Diagnostics;
use groma_model::path::{Path, PathStep};
use groma_model::schema::Schema;
use groma_model::value::Value;
use groma_provider::api::{
    ApplyRequest, CallFunctionRequest, ClientCapabilities, ConfigureRequest, ImportRequest, ImportTarget, PlanRequest,
    Private, Provider, RawState, ReadDataRequest, ReadRequest, UpgradeRequest,
};
use groma_provider::wire::{Launch, PluginProvider};
use serde_json::Value as Json;

/// The program that an environment variable names.
#[expect(clippy::disallowed_methods, reason = "the peers are named by the environment")]
pub fn peer(variable: &str) -> PathBuf {
    std::env::var_os(variable).unwrap_or_else(|| panic!("{variable} is not set; run `cargo xtask test`")).into()
}

/// A provider that is being driven.
pub struct Driven(pub Arc<dyn Provider>);

/// An object with what is kept beside it.
#[derive(Debug, Clone)]
pub struct Kept {
    /// The object.
    pub object: Value,
    /// Kept beside it.
    pub private: Private,
}

impl Kept {
    /// As a state file has it.
    pub fn json(&self) -> Json {
        serde_json::from_str(&json::encode_plain(&self.object).unwrap()).unwrap()
    }
}

/// What two plans are compared by.
#[derive(Debug, PartialEq, Eq)]
pub struct Planned {
    /// The object as it will be.
    pub object: Value,
    /// What needs a new object, without what does not change after all: the core leaves that out as well.
    pub replaces: Vec<Path>,
    /// Summaries of problems.
    pub problems: Vec<String>,
}

impl Driven {
    /// The built-in provider of that name.
    pub async fn builtin(name: &str, outside: &Outside) -> Self {
        let address = Address::implied(name).unwrap();
        let builtin = groma_builtin::find(&address).unwrap_or_else(|| panic!("{name} is not built in"));
        Self(builtin.provider(outside)).configured().await
    }

    /// The plugin that an environment variable names.
    pub async fn plugin(variable: &str) -> Self {
        let plugin = PluginProvider::open(&Launch::new(peer(variable)), None).await.expect("the plugin starts");
        Self(Arc::new(plugin)).configured().await
    }

    async fn configured(self) -> Self {
        let schema = self.0.schema().provider.get().unwrap();
        let request = ConfigureRequest {
            terraform_version: "1.12.0".into(),
            config: schema.block.empty_value(),
            capabilities: ClientCapabilities::default(),
        };
        let found = self.0.configure(request).await.unwrap();
        assert!(!found.has_errors(), "{found:?}");
        self
    }

    /// The schema of a resource type.
    pub fn schema(&self, ty: &str) -> Arc<Schema> {
        Arc::clone(self.0.schema().resources[ty].get().unwrap())
    }

    /// A configuration from the attributes that it gives. The text `(unknown)` is not known yet.
    pub fn config(&self, ty: &str, given: &Json) -> Value {
        let schema = self.schema(ty);
        let Json::Object(mut given) = given.clone() else { panic!("{given} is no object") };
        let unknown: Vec<String> =
            given.iter().filter(|(_, value)| *value == "(unknown)").map(|(name, _)| name.clone()).collect();
        given.retain(|name, _| !unknown.contains(name));
        let known = json::decode(&Json::Object(given).to_string(), &schema.block.implied_type()).unwrap();
        let replaced = known.as_entries().unwrap().iter().map(|(name, value)| {
            let is_unknown = unknown.iter().any(|other| other == name.as_str());
            let value = match schema.block.block_types.get(name) {
                _ if is_unknown => Value::unknown(value.ty()),
                Some(blocks) if value.is_null() => blocks.empty_value(),
                _ => value.clone(),
            };
            (name.clone(), value)
        });
        Value::object(replaced.collect::<Vec<_>>())
    }

    /// What is wrong with a configuration: summary, path and detail.
    pub async fn validate(&self, ty: &str, given: &Json) -> Vec<(String, String, String)> {
        let found = self.0.validate_resource(ty, self.config(ty, given)).await.unwrap();
        told(&found)
    }

    async fn plan_raw(&self, ty: &str, prior: Option<&Kept>, given: &Json) -> (Planned, Private) {
        let config = self.config(ty, given);
        let nothing = Value::null(config.ty());
        let request = PlanRequest {
            type_name: ty.into(),
            prior: prior.map_or(nothing, |kept| kept.object.clone()),
            proposed: proposed(&self.schema(ty), prior, &config),
            config,
            prior_private: prior.map(|kept| kept.private.clone()).unwrap_or_default(),
            prior_identity: None,
            provider_meta: None,
        };
        let response = self.0.plan(request).await.unwrap();
        let changes = |path: &Path| match path.steps() {
            [PathStep::Attr(name), ..] => {
                attribute(prior.map(|kept| &kept.object), name) != attribute(Some(&response.planned), name)
            }
            _ => true,
        };
        let mut replaces: Vec<Path> = response.requires_replace.iter().filter(|path| changes(path)).cloned().collect();
        replaces.sort();
        let problems = summaries(&response.diagnostics);
        (Planned { object: response.planned, replaces, problems }, response.private)
    }

    /// Plans.
    pub async fn plan(&self, ty: &str, prior: Option<&Kept>, given: &Json) -> Planned {
        self.plan_raw(ty, prior, given).await.0
    }

    /// Plans and applies.
    pub async fn apply(&self, ty: &str, prior: Option<&Kept>, given: &Json) -> Kept {
        let (planned, private) = self.plan_raw(ty, prior, given).await;
        assert!(planned.problems.is_empty(), "{:?}", planned.problems);
        let config = self.config(ty, given);
        let request = ApplyRequest {
            type_name: ty.into(),
            prior: prior.map_or_else(|| Value::null(config.ty()), |kept| kept.object.clone()),
            planned: planned.object,
            config,
            planned_private: private,
            planned_identity: None,
            provider_meta: None,
        };
        let response = self.0.apply(request).await.unwrap();
        assert!(!response.diagnostics.has_errors(), "{ty} {given}: {:?}", response.diagnostics);
        Kept { object: response.object, private: response.private }
    }

    /// Makes an object.
    pub async fn create(&self, ty: &str, given: &Json) -> Kept {
        self.apply(ty, None, given).await
    }

    /// Takes over a stored object: upgrades and reads it.
    pub async fn take_over(&self, ty: &str, version: i64, attributes: &Json) -> Kept {
        let state = RawState::Json(attributes.to_string().into_bytes());
        let upgraded = self.0.upgrade(UpgradeRequest { type_name: ty.into(), version, state }).await.unwrap();
        assert!(!upgraded.diagnostics.has_errors(), "{ty} {attributes}: {:?}", upgraded.diagnostics);
        let request = ReadRequest {
            type_name: ty.into(),
            current: upgraded.value.clone(),
            private: Private::default(),
            identity: None,
            provider_meta: None,
        };
        let read = self.0.read(request).await.unwrap();
        assert!(!read.diagnostics.has_errors(), "{ty}: {:?}", read.diagnostics);
        assert_eq!(read.object, upgraded.value, "{ty}: reading changes nothing");
        Kept { object: read.object, private: read.private }
    }

    /// Takes over a stored object, and checks that nothing is to be changed.
    pub async fn agrees(&self, ty: &str, version: i64, attributes: &Json, given: &Json) -> Kept {
        let kept = self.take_over(ty, version, attributes).await;
        let planned = self.plan(ty, Some(&kept), given).await;
        let expected = Planned { object: kept.object.clone(), replaces: Vec::new(), problems: Vec::new() };
        assert_eq!(planned, expected, "{} sees changes of {ty} {given}", self.0.name());
        kept
    }

    /// Imports an object; the error is the summaries of the problems.
    pub async fn import(&self, ty: &str, id: &str) -> Result<Json, Vec<String>> {
        let request = ImportRequest { type_name: ty.into(), target: ImportTarget::Id(id.to_owned()) };
        let mut response = self.0.import(request).await.unwrap();
        if response.diagnostics.has_errors() {
            return Err(summaries(&response.diagnostics));
        }
        let imported = response.imported.remove(0);
        Ok(Kept { object: imported.object, private: imported.private }.json())
    }

    /// Reads a data source, with what is told: summary, path and detail.
    pub async fn data(&self, ty: &str, given: &Json) -> (Json, Vec<(String, String, String)>) {
        let schema = Arc::clone(self.0.schema().data_sources[ty].get().unwrap());
        let config = json::decode(&given.to_string(), &schema.block.implied_type()).unwrap();
        let found = self.0.validate_data_source(ty, config.clone()).await.unwrap();
        if found.has_errors() {
            return (Json::Null, told(&found));
        }
        let request = ReadDataRequest { type_name: ty.into(), config, provider_meta: None, address: None };
        let response = self.0.read_data(request).await.unwrap();
        let object = serde_json::from_str(&json::encode_plain(&response.object).unwrap()).unwrap();
        (object, told(&response.diagnostics))
    }

    /// Calls a function.
    pub async fn call(&self, name: &str, argument: Value) -> Result<Value, String> {
        let request = CallFunctionRequest { name: name.into(), arguments: vec![argument] };
        self.0.call_function(request).await.unwrap().result.map_err(|error| error.text)
    }
}

fn told(found: &Diagnostics) -> Vec<(String, String, String)> {
    let mut told: Vec<_> = found
        .iter()
        .map(|problem| {
            let path = problem.path.as_ref().map(ToString::to_string).unwrap_or_default();
            (problem.summary.clone(), path, problem.detail.clone())
        })
        .collect();
    told.sort();
    told
}

fn summaries(diagnostics: &Diagnostics) -> Vec<String> {
    diagnostics.iter().map(|problem| problem.summary.clone()).collect()
}

fn attribute<'v>(object: Option<&'v Value>, name: &str) -> Option<&'v Value> {
    object?.as_entries()?.get(name)
}

/// The configuration over what is, as the core proposes it. None of these providers has nested blocks.
fn proposed(schema: &Schema, prior: Option<&Kept>, config: &Value) -> Value {
    let Some(prior) = prior else { return config.clone() };
    let entries = config.as_entries().unwrap().iter().map(|(name, value)| {
        let decided = schema.block.attributes.get(name).is_some_and(|attribute| attribute.computed);
        let kept = if decided && value.is_null() { attribute(Some(&prior.object), name) } else { None };
        (name.clone(), kept.unwrap_or(value).clone())
    });
    Value::object(entries.collect::<Vec<_>>())
}
