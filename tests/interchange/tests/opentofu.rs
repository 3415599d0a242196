//! States that go back and forth between OpenTofu with published plugins and the built-in providers.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

use groma_builtin::Outside;
use groma_interchange::Driven;
use groma_interchange::opentofu::{Stored, Workspace};
use serde_json::{Value as Json, json};

/// The configuration of each type, as OpenTofu reads it.
fn time() -> Vec<(&'static str, Json)> {
    vec![
        ("time_static", json!({"triggers": {"a": "b"}})),
        ("time_offset", json!({"offset_days": 7, "offset_months": 1})),
        ("time_rotating", json!({"rotation_years": 2})),
        ("time_sleep", json!({"create_duration": "1ms", "destroy_duration": "2ms"})),
    ]
}

/// Values of any type are stored with their type.
fn typed(config: &Json) -> Json {
    let ty = |value: &Json| match value {
        Json::String(_) => json!("string"),
        Json::Number(_) => json!("number"),
        _ => json!(["tuple", ["string", "number"]]),
    };
    let entries = config.as_object().unwrap().iter();
    Json::Object(entries.map(|(name, value)| (name.clone(), json!({"value": value, "type": ty(value)}))).collect())
}

fn random() -> Vec<(&'static str, Json)> {
    vec![
        ("random_bytes", json!({"length": 8})),
        ("random_id", json!({"byte_length": 4, "prefix": "p-"})),
        ("random_integer", json!({"min": 1, "max": 9_007_199_254_740_993_i64})),
        ("random_password", json!({"length": 12, "override_special": "_-"})),
        ("random_pet", json!({"keepers": {"a": "b"}})),
        ("random_shuffle", json!({"input": ["a", "b", "c"], "seed": "s"})),
        ("random_string", json!({"length": 12, "numeric": false})),
        ("random_uuid", json!({})),
    ]
}

/// What OpenTofu with the plugin made is taken over by ours without a change, and the other way round.
async fn goes_back_and_forth(name: &str, variable: &str, resources: &[(&str, Json)]) {
    let ours = Driven::builtin(name, &Outside::system(".")).await;
    let dir = tempfile::tempdir().unwrap();
    let workspace = Workspace::new(dir.path(), resources, &[(name, variable)]);
    let stored = workspace.apply();
    assert_eq!(stored.len(), resources.len());
    for resource in stored {
        let given = &resources.iter().find(|(ty, _)| *ty == resource.ty).unwrap().1;
        ours.agrees(&resource.ty, resource.version, &resource.attributes, given).await;
    }
    let address = format!("registry.opentofu.org/hashicorp/{name}");
    let mut made = Vec::new();
    for (ty, given) in resources {
        let attributes = ours.create(ty, given).await.json();
        let stored = Stored { ty: (*ty).to_owned(), version: ours.schema(ty).version, attributes };
        made.push((stored, address.as_str()));
    }
    workspace.store(&made);
    workspace.sees_no_changes();
}

#[tokio::test]
async fn times_go_back_and_forth() {
    goes_back_and_forth("time", "GROMA_PROVIDER_TIME", &time()).await;
}

#[tokio::test]
async fn random_values_go_back_and_forth() {
    goes_back_and_forth("random", "GROMA_PROVIDER_RANDOM_CURRENT", &random()).await;
}

#[tokio::test]
async fn terraform_data_goes_back_and_forth() {
    let config = json!({"input": ["a", 1], "triggers_replace": "x"});
    let ours = Driven::builtin("terraform", &Outside::system(".")).await;
    let dir = tempfile::tempdir().unwrap();
    let workspace = Workspace::new(dir.path(), &[("terraform_data", config.clone())], &[]);
    let stored = workspace.apply().remove(0);
    let kept = ours.agrees("terraform_data", stored.version, &stored.attributes, &typed(&config)).await;
    assert_eq!(kept.json()["output"], json!(["a", 1]));

    let made = ours.create("terraform_data", &typed(&config)).await;
    let ty = ours.schema("terraform_data").block.implied_type();
    let attributes = serde_json::from_str(&groma_model::codec::json::encode(&made.object, &ty).unwrap()).unwrap();
    let stored = Stored { ty: "terraform_data".to_owned(), version: 0, attributes };
    workspace.store(&[(stored, "terraform.io/builtin/terraform")]);
    workspace.sees_no_changes();
}

#[tokio::test]
async fn states_of_old_plugins_are_taken_over() {
    let resources = [
        ("random_id", json!({"byte_length": 4, "keepers": {"a": "b"}})),
        ("random_string", json!({"length": 12, "special": false})),
        ("random_pet", json!({"length": 3})),
        ("null_resource", json!({"triggers": {"a": "b"}})),
    ];
    let dir = tempfile::tempdir().unwrap();
    let plugins = [("random", "GROMA_PROVIDER_RANDOM"), ("null", "GROMA_PROVIDER_NULL")];
    let stored = Workspace::new(dir.path(), &resources, &plugins).apply();
    for resource in stored {
        let name = resource.ty.split('_').next().unwrap();
        let ours = Driven::builtin(name, &Outside::system(".")).await;
        let given = &resources.iter().find(|(ty, _)| *ty == resource.ty).unwrap().1;
        ours.agrees(&resource.ty, resource.version, &resource.attributes, given).await;
    }
}
