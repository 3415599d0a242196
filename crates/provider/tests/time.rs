//! The published `time` plugin, as a real plugin of protocol 5: start, schema, cache, calls, end.
//!
//! `cargo xtask test` says where it is (`GROMA_PROVIDER_TIME`).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

use std::path::PathBuf;
use std::sync::Arc;

use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_provider::api::{
    ApplyRequest, CallError, CallFunctionRequest, ClientCapabilities, ConfigureRequest, Outcome, PlanRequest, Private,
    Provider, ReadRequest,
};
use groma_provider::wire::{Launch, PluginProvider, ProtocolVersion, SchemaCache, schema_of};

#[expect(clippy::disallowed_methods, reason = "the peers are named by the environment")]
fn program() -> PathBuf {
    let variable = "GROMA_PROVIDER_TIME";
    std::env::var_os(variable).unwrap_or_else(|| panic!("{variable} is not set; run `cargo xtask test`")).into()
}

async fn configured(plugin: &PluginProvider) {
    let request = ConfigureRequest {
        terraform_version: "1.12.0".into(),
        config: Value::empty_object(),
        capabilities: ClientCapabilities::default(),
    };
    assert!(plugin.validate_provider(Value::empty_object()).await.unwrap().is_empty());
    assert!(plugin.configure(request).await.unwrap().is_empty());
}

#[tokio::test]
async fn it_is_planned_applied_and_read() {
    let plugin = PluginProvider::open(&Launch::new(program()), None).await.unwrap();
    configured(&plugin).await;
    let schema = plugin.schema().resources["time_static"].get().unwrap();
    let ty = schema.block.implied_type();
    let nothing = schema.block.empty_value();
    let request = PlanRequest {
        type_name: "time_static".into(),
        prior: Value::null(ty.clone()),
        proposed: nothing.clone(),
        config: nothing.clone(),
        prior_private: Private::default(),
        prior_identity: None,
        provider_meta: None,
    };
    let planned = plugin.plan(request).await.unwrap();
    assert!(planned.diagnostics.is_empty(), "{:?}", planned.diagnostics);
    assert!(!planned.planned.is_wholly_known());
    let request = ApplyRequest {
        type_name: "time_static".into(),
        prior: Value::null(ty),
        planned: planned.planned,
        config: nothing,
        planned_private: planned.private,
        planned_identity: None,
        provider_meta: None,
    };
    let applied = plugin.apply(request).await.unwrap();
    assert_eq!(applied.outcome, Outcome::Done);
    assert!(applied.object.is_wholly_known());
    let request = ReadRequest {
        type_name: "time_static".into(),
        current: applied.object.clone(),
        private: applied.private,
        identity: None,
        provider_meta: None,
    };
    assert_eq!(plugin.read(request).await.unwrap().object, applied.object);
    plugin.shutdown().await.unwrap();
}

#[tokio::test]
async fn its_functions_take_and_give_typed_values() {
    let plugin = PluginProvider::open(&Launch::new(program()), None).await.unwrap();
    assert_eq!(plugin.functions().await.unwrap(), plugin.schema().functions);
    let parse = |text: &str| CallFunctionRequest { name: "rfc3339_parse".into(), arguments: vec![Value::string(text)] };
    let parsed = plugin.call_function(parse("2023-07-25T23:43:16Z")).await.unwrap().result.unwrap();
    assert_eq!(parsed.as_entries().unwrap().get("year"), Some(&Value::number(2023)));
    let error = plugin.call_function(parse("yesterday")).await.unwrap().result.unwrap_err();
    assert_eq!(error.argument, Some(0));
    assert!(error.text.contains("yesterday"), "{}", error.text);
    let unfit = CallFunctionRequest { name: "rfc3339_parse".into(), arguments: vec![] };
    assert!(matches!(plugin.call_function(unfit).await, Err(CallError::Unfit { .. })));
    let absent = CallFunctionRequest { name: "absent".into(), arguments: vec![] };
    assert!(matches!(plugin.call_function(absent).await, Err(CallError::Unsupported { .. })));
    plugin.shutdown().await.unwrap();
}

#[tokio::test]
async fn its_schema_is_complete_and_its_names_agree() {
    let plugin = PluginProvider::open(&Launch::new(program()), None).await.unwrap();
    assert_eq!(plugin.plugin_schema().protocol(), ProtocolVersion::V5);
    let schema = plugin.schema();
    let resources: Vec<&str> = schema.resources.keys().map(Str::as_str).collect();
    assert_eq!(resources, ["time_offset", "time_rotating", "time_sleep", "time_static"]);
    for lazy in schema.resources.values() {
        let schema = lazy.get().unwrap();
        assert!(schema.block.attributes.contains_key("id"));
    }
    let attribute = &schema.resources["time_static"].get().unwrap().block.attributes["triggers"];
    assert_eq!(attribute.implied_type(), Type::map(Type::String));
    assert_eq!(plugin.metadata().await.unwrap(), schema.metadata());
    plugin.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_known_schema_needs_no_process() {
    let scratch = tempfile::tempdir().unwrap();
    let launch = Launch::new(program());
    let cold = schema_of(&launch, &SchemaCache::new(scratch.path())).await.unwrap();
    // A program that cannot run any more shows that none is run. Its bytes are what counts.
    let copy = scratch.path().join("copy");
    std::fs::copy(program(), &copy).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(&copy, mode).unwrap();
    let cache = SchemaCache::new(scratch.path());
    let warm = schema_of(&Launch::new(&copy), &cache).await.unwrap();
    assert_eq!(warm.schema().metadata(), cold.schema().metadata());
    assert_eq!(
        warm.schema().resources["time_sleep"].get().unwrap(),
        cold.schema().resources["time_sleep"].get().unwrap()
    );
    let plugin = PluginProvider::open_cached(&launch, &cache).await.unwrap();
    assert!(Arc::ptr_eq(plugin.plugin_schema(), &warm));
    configured(&plugin).await;
    plugin.shutdown().await.unwrap();
}

#[tokio::test]
async fn what_does_not_fit_is_not_asked() {
    let plugin = PluginProvider::open(&Launch::new(program()), None).await.unwrap();
    let wrong = plugin.validate_resource("time_static", Value::object([("x", Value::bool(true))])).await;
    assert!(matches!(&wrong, Err(CallError::Unfit { call: "ValidateResourceTypeConfig", .. })), "{wrong:?}");
    let absent = plugin.validate_resource("time_machine", Value::empty_object()).await;
    assert!(matches!(&absent, Err(CallError::Unsupported { about, .. }) if about == "time_machine"), "{absent:?}");
    plugin.shutdown().await.unwrap();
}

#[tokio::test]
async fn calls_after_the_end_say_so() {
    let plugin = PluginProvider::open(&Launch::new(program()), None).await.unwrap();
    plugin.shutdown().await.unwrap();
    let gone = plugin.validate_provider(Value::empty_object()).await;
    assert!(matches!(&gone, Err(CallError::Gone { .. })), "{gone:?}");
}
