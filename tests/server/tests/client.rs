//! Our client and our server, both protocols, with and without TLS: every call there is.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, SystemTime};

use groma_model::address::Provider as Address;
use groma_model::codec::json;
use groma_model::diag::{Diagnostics, Severity};
use groma_model::path::Path;
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_provider::api::{
    ApplyRequest, CallError, CallFunctionRequest, ClientCapabilities, ConfigureRequest, ImportRequest, ImportTarget,
    ListEvent, ListRequest, MoveRequest, NotReady, OpenRequest, Outcome, PlanRequest, PlanResponse, Private,
    Provider as _, RawState, ReadDataRequest, ReadRequest, UpgradeIdentityRequest, UpgradeRequest,
};
use groma_provider::wire::{Launch, PluginProvider, Pool, SchemaCache, Security, Settings, Source};

const NOTE: &str = "served_note";

fn launch(protocol: &str, security: Security) -> Launch {
    let settings = Settings { security, ..Settings::default() };
    Launch::new(env!("CARGO_BIN_EXE_groma-served"))
        .named("example.com/test/served")
        .with_env("SERVED_PROTOCOL", protocol)
        .with_settings(settings)
}

async fn started(protocol: &str, security: Security) -> PluginProvider {
    let plugin = PluginProvider::open(&launch(protocol, security), None).await.unwrap();
    let config = Value::object([("prefix", Value::string("p-"))]);
    assert!(plugin.validate_provider(config.clone()).await.unwrap().is_empty());
    let request =
        ConfigureRequest { terraform_version: "1.12.6".into(), config, capabilities: ClientCapabilities::default() };
    assert!(plugin.configure(request).await.unwrap().is_empty());
    plugin
}

fn note_type(plugin: &PluginProvider) -> Type {
    plugin.schema().resources[NOTE].get().unwrap().block.implied_type()
}

/// A note's configuration with some attributes set.
fn config(plugin: &PluginProvider, set: &[(&str, Value)]) -> Value {
    let empty = plugin.schema().resources[NOTE].get().unwrap().block.empty_value();
    let entries = empty.as_entries().unwrap().iter();
    Value::object(entries.map(|(name, value)| {
        let given = set.iter().find(|(given, _)| *given == name.as_str());
        (name.clone(), given.map_or_else(|| value.clone(), |(_, value)| value.clone()))
    }))
}

fn text<'a>(object: &'a Value, name: &str) -> Option<&'a str> {
    object.as_entries().unwrap().get(name).unwrap().as_str()
}

fn only(diagnostics: &Diagnostics) -> (Severity, &str, Option<Path>) {
    assert_eq!(diagnostics.len(), 1, "{diagnostics:?}");
    let found = diagnostics.iter().next().unwrap();
    (found.severity, found.summary.as_str(), found.path.clone())
}

async fn plan(plugin: &PluginProvider, prior: Value, config: Value) -> PlanResponse {
    let request = PlanRequest {
        type_name: NOTE.into(),
        prior,
        proposed: config.clone(),
        config,
        prior_private: Private::default(),
        prior_identity: None,
        provider_meta: None,
    };
    plugin.plan(request).await.unwrap()
}

/// What is on offer, and what is wrong with configurations.
async fn offers(plugin: &PluginProvider, protocol: &str) {
    let schema = plugin.schema();
    let block = &schema.resources[NOTE].get().unwrap().block;
    assert_eq!(block.attributes.contains_key("details"), protocol == "6");
    assert!(block.attributes["secret"].write_only);
    assert_eq!(block.attributes["old"].deprecation_message.as_ref().unwrap().as_str(), "use text");
    assert_eq!(block.block_types["item"].max_items, 3);
    assert!(schema.identities[NOTE].attributes["id"].required_for_import);
    assert!(schema.capabilities.move_state && schema.provider_meta.is_some());
    assert_eq!(plugin.metadata().await.unwrap(), schema.metadata());

    let bad = Value::object([("prefix", Value::string("bad"))]);
    let found = plugin.validate_provider(bad).await.unwrap();
    assert_eq!(only(&found), (Severity::Error, "Bad prefix", Some(Path::root().attr("prefix"))));
    let odd = config(plugin, &[("text", Value::unknown(Type::String)), ("kind", Value::string("odd"))]);
    let found = plugin.validate_resource(NOTE, odd).await.unwrap();
    assert_eq!(only(&found), (Severity::Warning, "Odd note", Some(Path::root().attr("kind"))));
    let nothing = Value::object([("input", Value::null(Type::Dynamic)), ("output", Value::null(Type::Dynamic))]);
    assert!(plugin.validate_data_source("served_echo", nothing).await.unwrap().is_empty());
    let nothing = Value::object([("length", Value::null(Type::Number)), ("value", Value::null(Type::String))]);
    assert!(plugin.validate_ephemeral("served_token", nothing).await.unwrap().is_empty());
    let nothing = Value::object([("prefix", Value::null(Type::String))]);
    assert!(plugin.validate_list(NOTE, nothing).await.unwrap().is_empty());
}

/// From plan to import.
async fn lives(plugin: &PluginProvider) {
    let anything = json::decode_implied(r#"[1,"two",{"three":null}]"#).unwrap();
    let given = [("text", Value::string("hello")), ("secret", Value::string("s3cret")), ("anything", anything.clone())];
    let config = config(plugin, &given);
    let planned = plan(plugin, Value::null(note_type(plugin)), config.clone()).await;
    assert!(!planned.planned.as_entries().unwrap().get("id").unwrap().is_known());
    assert!(planned.planned.as_entries().unwrap().get("secret").unwrap().is_null());
    assert_eq!(planned.private, Private(b"planned".to_vec()));

    let request = ApplyRequest {
        type_name: NOTE.into(),
        prior: Value::null(note_type(plugin)),
        planned: planned.planned,
        config,
        planned_private: planned.private,
        planned_identity: planned.identity,
        provider_meta: Some(Value::object([("module_name", Value::string("root"))])),
    };
    let applied = plugin.apply(request).await.unwrap();
    assert_eq!(applied.outcome, Outcome::Done);
    assert_eq!(text(&applied.object, "id"), Some("note:p-hello"));
    assert_eq!(applied.object.as_entries().unwrap().get("anything"), Some(&anything));
    assert_eq!(applied.identity, Some(Value::object([("id", Value::string("note:p-hello"))])));

    let replaced = self::config(plugin, &[("text", Value::string("hello")), ("kind", Value::string("new"))]);
    let planned = plan(plugin, applied.object.clone(), replaced).await;
    assert_eq!(planned.requires_replace, [Path::root().attr("kind")]);

    let read = plugin.read(ReadRequest {
        type_name: NOTE.into(),
        current: applied.object.clone(),
        private: applied.private,
        identity: applied.identity.clone(),
        provider_meta: None,
    });
    let read = read.await.unwrap();
    assert_eq!((&read.object, read.private), (&applied.object, Private(b"applied".to_vec())));

    for target in [ImportTarget::Id("note:p-hello".to_owned()), ImportTarget::Identity(applied.identity.unwrap())] {
        let imported = plugin.import(ImportRequest { type_name: NOTE.into(), target }).await.unwrap();
        assert_eq!(text(&imported.imported[0].object, "text"), Some("hello"));
    }
    let target = ImportTarget::Id("nothing".to_owned());
    let missing = plugin.import(ImportRequest { type_name: NOTE.into(), target }).await.unwrap();
    assert_eq!(only(&missing.diagnostics).1, "No such note");
    let (generated, _) = plugin.generate_config(NOTE, applied.object).await.unwrap();
    assert_eq!(text(&generated, "id"), None);
    assert_eq!(text(&generated, "text"), Some("hello"));
}

async fn is_refused(plugin: &PluginProvider) {
    let config = config(plugin, &[("text", Value::string("refused"))]);
    let prior = Value::null(note_type(plugin));
    let planned = plan(plugin, prior.clone(), config.clone()).await;
    let request = ApplyRequest {
        type_name: NOTE.into(),
        prior,
        planned: planned.planned,
        config,
        planned_private: planned.private,
        planned_identity: planned.identity,
        provider_meta: None,
    };
    let applied = plugin.apply(request).await.unwrap();
    assert_eq!(applied.outcome, Outcome::NothingMade);
    assert_eq!(only(&applied.diagnostics), (Severity::Error, "Refused", Some(Path::root().attr("text"))));
}

/// What the protocol has no words for is said all the same, and stays between the two of us.
async fn is_not_ready(plugin: &PluginProvider) {
    let config = config(plugin, &[("text", Value::string("slow"))]);
    let prior = Value::null(note_type(plugin));
    let planned = plan(plugin, prior.clone(), config.clone()).await;
    let request = ApplyRequest {
        type_name: NOTE.into(),
        prior,
        planned: planned.planned,
        config,
        planned_private: planned.private,
        planned_identity: planned.identity,
        provider_meta: None,
    };
    let applied = plugin.apply(request).await.unwrap();
    let lacking =
        NotReady { waiting_for: "its reader".to_owned(), last_seen: Some("nothing".to_owned()), patience: None };
    assert_eq!(applied.outcome, Outcome::NotReady(lacking.clone()));
    assert_eq!(applied.private, Private(b"{\"theirs\":1}".to_vec()));
    // Others, who do not know that, must not take it for a success.
    assert_eq!(only(&applied.diagnostics).1, "Resource is not ready");
    let request = ReadRequest {
        type_name: NOTE.into(),
        current: applied.object,
        private: applied.private.clone(),
        identity: None,
        provider_meta: None,
    };
    let read = plugin.read(request).await.unwrap();
    assert_eq!((read.not_ready, read.private), (Some(lacking), applied.private));
}

/// What was stored in other forms.
async fn upgrades(plugin: &PluginProvider) {
    let upgrade = |version, json: &str| UpgradeRequest {
        type_name: NOTE.into(),
        version,
        state: RawState::Json(json.as_bytes().to_vec()),
    };
    let old = plugin.upgrade(upgrade(0, r#"{"id":"x","body":"words"}"#)).await.unwrap();
    assert_eq!(text(&old.value, "text"), Some("words"));
    let current = plugin.upgrade(upgrade(1, r#"{"id":"x","text":"words","gone":true}"#)).await.unwrap();
    assert_eq!(text(&current.value, "text"), Some("words"));
    let later = plugin.upgrade(upgrade(9, "{}")).await.unwrap();
    assert_eq!(only(&later.diagnostics).1, "Unable to Upgrade Resource State");
    let broken = plugin.upgrade(upgrade(0, "{")).await.unwrap();
    assert_eq!(only(&broken.diagnostics).1, "Bad old note");
    let identity = UpgradeIdentityRequest { type_name: NOTE.into(), version: 0, json: br#"{"id":"x"}"#.to_vec() };
    let identity = plugin.upgrade_identity(identity).await.unwrap();
    assert_eq!(text(&identity.value, "id"), Some("x"));
    let moved = plugin.move_state(MoveRequest {
        source_provider: "example.com/other/other".to_owned(),
        source_type_name: "other_note".into(),
        source_schema_version: 3,
        source_state: RawState::Json(br#"{"id":"x","body":"words"}"#.to_vec()),
        source_private: Private(b"kept".to_vec()),
        source_identity: None,
        target_type_name: NOTE.into(),
    });
    let moved = moved.await.unwrap();
    assert_eq!((text(&moved.object, "text"), moved.private), (Some("words"), Private(b"kept".to_vec())));
}

/// Data sources, ephemeral resources, functions, queries.
async fn answers(plugin: &PluginProvider) {
    let config = Value::object([("input", Value::string("x")), ("output", Value::null(Type::Dynamic))]);
    let request = ReadDataRequest { type_name: "served_echo".into(), config, provider_meta: None, address: None };
    assert_eq!(text(&plugin.read_data(request).await.unwrap().object, "output"), Some("p-x"));

    let config = Value::object([("length", Value::number(3)), ("value", Value::null(Type::String))]);
    let opened = plugin.open_ephemeral(OpenRequest { type_name: "served_token".into(), config }).await.unwrap();
    assert_eq!(text(&opened.object, "value"), Some("tokentoken"));
    assert_eq!(opened.renew_at, SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(4_000_000_000)));
    let renewed = plugin.renew_ephemeral("served_token", opened.private).await.unwrap();
    assert!(plugin.close_ephemeral("served_token", renewed.private).await.unwrap().is_empty());
    let lost = plugin.close_ephemeral("served_token", Private::default()).await.unwrap();
    assert_eq!(only(&lost).1, "Lost");

    let call = |arguments: &[&str]| CallFunctionRequest {
        name: "shout".into(),
        arguments: arguments.iter().map(|argument| Value::string(*argument)).collect(),
    };
    let shouted = plugin.call_function(call(&["hi", "!", "?"])).await.unwrap();
    assert_eq!(shouted.result.unwrap(), Value::string("HI!?"));
    let silent = plugin.call_function(call(&["hi", ""])).await.unwrap();
    assert_eq!(silent.result.unwrap_err().argument, Some(1));

    let query = |limit| ListRequest {
        type_name: NOTE.into(),
        config: Value::object([("prefix", Value::null(Type::String))]),
        include_object: true,
        limit,
    };
    let mut found = Vec::new();
    plugin
        .list(query(100), &mut |event: ListEvent| {
            found.push(event);
            true
        })
        .await
        .unwrap();
    let names: Vec<_> = found.iter().filter_map(|event| Some(event.object.as_ref()?.display_name.as_str())).collect();
    assert_eq!(names, ["one", "two", "three"]);
    assert_eq!(text(found[1].object.as_ref().unwrap().object.as_ref().unwrap(), "text"), Some("two"));
    assert_eq!(only(&found[3].diagnostics).1, "That is all");
    let mut first = 0;
    plugin
        .list(query(100), &mut |_: ListEvent| {
            first += 1;
            false
        })
        .await
        .unwrap();
    assert_eq!(first, 1);
}

async fn everything(protocol: &str, security: Security) {
    let plugin = started(protocol, security).await;
    offers(&plugin, protocol).await;
    lives(&plugin).await;
    is_refused(&plugin).await;
    is_not_ready(&plugin).await;
    upgrades(&plugin).await;
    answers(&plugin).await;
    plugin.stop().await.unwrap();
    plugin.shutdown().await.unwrap();
    let config = Value::object([("prefix", Value::null(Type::String))]);
    let after = plugin.validate_provider(config).await;
    assert!(matches!(after, Err(CallError::Gone { .. })), "{after:?}");
}

#[tokio::test]
async fn protocol_5_plain() {
    everything("5", Security::Plain).await;
}

#[tokio::test]
async fn protocol_5_with_tls() {
    everything("5", Security::AutoMtls).await;
}

#[tokio::test]
async fn protocol_6_plain() {
    everything("6", Security::Plain).await;
}

#[tokio::test]
async fn protocol_6_with_tls() {
    everything("6", Security::AutoMtls).await;
}

/// Megabytes in both directions.
#[tokio::test]
async fn large_messages() {
    let plugin = started("6", Security::Plain).await;
    let long = "x".repeat(20 << 20);
    let config = config(&plugin, &[("text", Value::string(long.as_str()))]);
    let planned = plan(&plugin, Value::null(note_type(&plugin)), config).await;
    assert_eq!(text(&planned.planned, "text").map(str::len), Some(long.len()));
    plugin.shutdown().await.unwrap();
}

#[tokio::test]
async fn many_at_once() {
    let plugin = std::sync::Arc::new(started("6", Security::Plain).await);
    let mut calls = tokio::task::JoinSet::new();
    for number in 0..200 {
        let plugin = std::sync::Arc::clone(&plugin);
        calls.spawn(async move {
            let words = format!("{number}");
            let request = CallFunctionRequest { name: "shout".into(), arguments: vec![Value::string(words.as_str())] };
            let shouted = plugin.call_function(request).await.unwrap();
            assert_eq!(shouted.result.unwrap(), Value::string(words));
        });
    }
    while let Some(called) = calls.join_next().await {
        called.unwrap();
    }
    plugin.shutdown().await.unwrap();
}

/// No process is left behind when a provider is just let go of.
#[tokio::test]
async fn nothing_is_left() {
    let plugin = started("6", Security::Plain).await;
    let pid = text(&note_of_pid(&plugin).await, "output").unwrap().to_owned();
    assert!(fs::exists(format!("/proc/{pid}")).unwrap());
    drop(plugin);
    for _ in 0..100 {
        // One that is dead and not reaped is still there.
        if !fs::exists(format!("/proc/{pid}")).unwrap() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("process {pid} is left");
}

async fn note_of_pid(plugin: &PluginProvider) -> Value {
    let config = Value::object([("input", Value::string("pid")), ("output", Value::null(Type::Dynamic))]);
    let request = ReadDataRequest { type_name: "served_echo".into(), config, provider_meta: None, address: None };
    plugin.read_data(request).await.unwrap().object
}

/// A pool starts plugins side by side, one for each configuration, none for a schema that is known, and ends all.
#[tokio::test]
async fn a_pool() {
    let scratch = tempfile::tempdir().unwrap();
    let address = Address::parse_source("example.com/test/served").unwrap();
    let pool = || {
        let source = Source::Plugin { launch: launch("6", Security::Plain), check: None };
        let cache = SchemaCache::new(scratch.path());
        Pool::new(BTreeMap::from([(address.clone(), source)]), Some(cache))
    };
    let cold = pool();
    let (one, two) = tokio::join!(cold.get(&address, "one"), cold.get(&address, "two"));
    let (one, two) = (one.unwrap(), two.unwrap());
    assert_eq!(cold.schema(&address).await.unwrap().metadata(), one.schema().metadata());
    cold.shutdown().await;
    for provider in [one, two] {
        let config = Value::object([("prefix", Value::null(Type::String))]);
        assert!(matches!(provider.validate_provider(config).await, Err(CallError::Gone { .. })));
    }
    // Another run knows the schema without starting anything.
    let warm = pool();
    assert!(warm.schema(&address).await.unwrap().resources.contains_key(NOTE));
}
