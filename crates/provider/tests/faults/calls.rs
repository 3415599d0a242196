//! Every call, made once with something sensible.

use groma_model::value::Value;
use groma_provider::api::{
    Answer, CallError, CallFunctionRequest, ImportRequest, ImportTarget, ListEvent, ListRequest, MoveRequest,
    OpenRequest, Private, Provider as _, RawState, ReadDataRequest, UpgradeIdentityRequest, UpgradeRequest,
};
use groma_provider::wire::{OpenError, PluginProvider};

use crate::kit::{Resource, Subject, config};

/// All of them, by their names in protocol 6.
pub(crate) const CALLS: &[&str] = &[
    "GetMetadata",
    "GetProviderSchema",
    "GetResourceIdentitySchemas",
    "GetFunctions",
    "ValidateProviderConfig",
    "ValidateResourceConfig",
    "ValidateDataResourceConfig",
    "ValidateEphemeralResourceConfig",
    "ValidateListResourceConfig",
    "ConfigureProvider",
    "UpgradeResourceState",
    "UpgradeResourceIdentity",
    "ReadResource",
    "PlanResourceChange",
    "ApplyResourceChange",
    "ImportResourceState",
    "MoveResourceState",
    "GenerateResourceConfig",
    "ReadDataSource",
    "OpenEphemeralResource",
    "RenewEphemeralResource",
    "CloseEphemeralResource",
    "ListResource",
    "CallFunction",
    "StopProvider",
];

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// With an answer.
    Answered,
    /// With an answer that reports errors.
    Reported,
    Gone,
    Timeout,
    Cancelled,
    Unsupported,
    Refused,
    Malformed,
    Schema,
    Unfit,
    Unanswered,
}

pub(crate) fn end(answer: &Answer<bool>) -> End {
    match answer {
        Ok(false) => End::Answered,
        Ok(true) => End::Reported,
        Err(CallError::Gone { .. }) => End::Gone,
        Err(CallError::Timeout { .. }) => End::Timeout,
        Err(CallError::Cancelled { .. }) => End::Cancelled,
        Err(CallError::Unsupported { .. }) => End::Unsupported,
        Err(CallError::Refused { .. }) => End::Refused,
        Err(CallError::Malformed { .. }) => End::Malformed,
        Err(CallError::Schema { .. }) => End::Schema,
        Err(CallError::Unfit { .. }) => End::Unfit,
        Err(CallError::Unanswered { .. }) => End::Unanswered,
    }
}

/// Starts a plugin and makes a call, with all that must come before. True if errors are reported.
pub(crate) async fn make(subject: &Subject, call: &str) -> (Option<PluginProvider>, Answer<bool>) {
    let plugin = match PluginProvider::open(&subject.launch, None).await {
        Ok(plugin) => plugin,
        Err(OpenError::Call(error)) => return (None, Err(error)),
        Err(OpenError::Reported { .. }) => return (None, Ok(true)),
        Err(error) => panic!("{error:?}"),
    };
    let answer = made(subject, &plugin, call).await;
    (Some(plugin), answer)
}

async fn made(subject: &Subject, plugin: &PluginProvider, call: &str) -> Answer<bool> {
    // Types that cannot be read are found out when they are used.
    match plugin.schema().provider.get() {
        Err(source) => return Err(CallError::Schema { provider: "fixture".to_owned(), source }),
        // Nothing is offered, so there is nothing to call.
        Ok(schema) if schema.block.attributes.is_empty() => return Ok(false),
        Ok(_) => {}
    }
    let request = subject.configuration(plugin, &[]);
    match call {
        "GetMetadata" => return plugin.metadata().await.map(|_| false),
        "GetFunctions" => return plugin.functions().await.map(|_| false),
        "ValidateProviderConfig" => {
            return plugin.validate_provider(request.config).await.map(|found| found.has_errors());
        }
        _ => {}
    }
    let configured = plugin.configure(request).await?;
    if matches!(call, "GetProviderSchema" | "GetResourceIdentitySchemas" | "ConfigureProvider") {
        return Ok(configured.has_errors());
    }
    match call {
        "StopProvider" => plugin.stop().await.map(|()| false),
        "CallFunction" => echo(plugin).await,
        "ListResource" | "ValidateListResourceConfig" => list(subject, plugin, call).await,
        "ReadDataSource" | "ValidateDataResourceConfig" => data(subject, plugin, call).await,
        _ if call.contains("Ephemeral") => ephemeral(subject, plugin, call).await,
        _ => resource(subject, plugin, call).await,
    }
}

/// A call that needs nothing, to see whether the plugin still lives.
pub(crate) async fn echo(plugin: &PluginProvider) -> Answer<bool> {
    let request = CallFunctionRequest { name: "echo".into(), arguments: vec![Value::string("x")] };
    plugin.call_function(request).await.map(|response| response.result.is_err())
}

async fn list(subject: &Subject, plugin: &PluginProvider, call: &str) -> Answer<bool> {
    let type_name = subject.modern.clone();
    let config = config(&plugin.schema().lists[&type_name].get().unwrap().block, []);
    if call == "ValidateListResourceConfig" {
        return plugin.validate_list(&type_name, config).await.map(|found| found.has_errors());
    }
    // There must be something to find.
    let thing = Resource::new(plugin, &type_name);
    for name in ["a", "b", "c"] {
        thing.create(&thing.config([("name", Value::string(name))])).await?;
    }
    let mut reported = false;
    let mut sink = |event: ListEvent| {
        reported |= event.diagnostics.has_errors();
        true
    };
    let request = ListRequest { type_name, config, include_object: true, limit: 10 };
    plugin.list(request, &mut sink).await?;
    Ok(reported)
}

async fn data(subject: &Subject, plugin: &PluginProvider, call: &str) -> Answer<bool> {
    let type_name = subject.type_name("large");
    let block = &plugin.schema().data_sources[&type_name].get().unwrap().block;
    let config = config(block, [("megabytes", Value::number(1))]);
    if call == "ValidateDataResourceConfig" {
        return plugin.validate_data_source(&type_name, config).await.map(|found| found.has_errors());
    }
    let request = ReadDataRequest { type_name, config, provider_meta: None, address: None };
    plugin.read_data(request).await.map(|response| response.diagnostics.has_errors())
}

async fn ephemeral(subject: &Subject, plugin: &PluginProvider, call: &str) -> Answer<bool> {
    let type_name = subject.type_name("token");
    let block = &plugin.schema().ephemerals[&type_name].get().unwrap().block;
    let config = config(block, [("name", Value::string("n"))]);
    if call == "ValidateEphemeralResourceConfig" {
        return plugin.validate_ephemeral(&type_name, config).await.map(|found| found.has_errors());
    }
    let opened = plugin.open_ephemeral(OpenRequest { type_name: type_name.clone(), config }).await?;
    match call {
        "OpenEphemeralResource" => Ok(opened.diagnostics.has_errors()),
        "RenewEphemeralResource" => {
            plugin.renew_ephemeral(&type_name, opened.private).await.map(|renewed| renewed.diagnostics.has_errors())
        }
        _ => plugin.close_ephemeral(&type_name, opened.private).await.map(|found| found.has_errors()),
    }
}

async fn resource(subject: &Subject, plugin: &PluginProvider, call: &str) -> Answer<bool> {
    let type_name = subject.modern.clone();
    let thing = Resource::new(plugin, &type_name);
    let config = thing.config([("name", Value::string("n"))]);
    let stored = RawState::Json(br#"{"id":"i","name":"n"}"#.to_vec());
    match call {
        "ValidateResourceConfig" => plugin.validate_resource(&type_name, config).await.map(|found| found.has_errors()),
        "UpgradeResourceState" => {
            let request = UpgradeRequest { type_name, version: 2, state: stored };
            plugin.upgrade(request).await.map(|upgraded| upgraded.diagnostics.has_errors())
        }
        "UpgradeResourceIdentity" => {
            let json = br#"{"thing_id":"i"}"#.to_vec();
            let request = UpgradeIdentityRequest { type_name, version: 0, json };
            plugin.upgrade_identity(request).await.map(|upgraded| upgraded.diagnostics.has_errors())
        }
        "ImportResourceState" => {
            let request = ImportRequest { type_name, target: ImportTarget::Id("i".to_owned()) };
            plugin.import(request).await.map(|imported| imported.diagnostics.has_errors())
        }
        "MoveResourceState" => {
            let moved = plugin.move_state(MoveRequest {
                source_provider: "terraform.io/builtin/terraform".to_owned(),
                source_type_name: "terraform_data".into(),
                source_schema_version: 0,
                source_state: RawState::Json(br#"{"id":"i","input":"n"}"#.to_vec()),
                source_private: Private::default(),
                source_identity: None,
                target_type_name: type_name,
            });
            moved.await.map(|moved| moved.diagnostics.has_errors())
        }
        "PlanResourceChange" => {
            let planned = thing.plan(&thing.null(), &config, Private::default()).await;
            planned.map(|planned| planned.diagnostics.has_errors())
        }
        "GenerateResourceConfig" => {
            let raw = Resource::new(plugin, &subject.type_name("raw"));
            let object = raw.config([("value", Value::string("v"))]);
            plugin.generate_config(&raw.type_name, object).await.map(|(_, found)| found.has_errors())
        }
        "ApplyResourceChange" => thing.create(&config).await.map(|made| made.diagnostics.has_errors()),
        "ReadResource" => {
            let made = thing.create(&config).await?;
            thing.read(&made.object, made.private).await.map(|read| read.diagnostics.has_errors())
        }
        other => panic!("what is {other}?"),
    }
}
