//! The provider that is part of the program.

use std::sync::Arc;

use async_trait::async_trait;
use groma_model::codec::json::decode_implied;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_provider::api::{MoveRequest, Private, RawState};
use serde_json::json;

use super::*;
use crate::drive::Driver;
use crate::kit::outside::{RemoteStates, WantedState};
use crate::kit::{Object, at};
use crate::published;

/// One state, in the default workspace of the local backend.
struct OneState;

#[async_trait]
impl RemoteStates for OneState {
    fn validate(&self, backend: &str, _: &Value) -> Diagnostics {
        let unknown = Diagnostic::error("Invalid backend configuration", format!("no {backend}"));
        (backend != "local").then_some(unknown).into_iter().collect()
    }

    async fn outputs(&self, wanted: WantedState<'_>) -> Result<Option<Value>, Diagnostics> {
        let path = Object::of(wanted.config).text("path").unwrap_or("terraform.tfstate").to_owned();
        Ok((wanted.workspace == "default")
            .then(|| Value::object([("path", Value::string(path)), ("n", Value::from(1))])))
    }
}

fn terraform() -> Driver {
    Driver::new(make(&Outside { remote_states: Arc::new(OneState), ..Outside::system(".") }))
}

fn dynamic(value: serde_json::Value) -> serde_json::Value {
    let ty = decode_implied(&value.to_string()).unwrap().ty();
    let ty: serde_json::Value = serde_json::from_str(&groma_model::codec::type_json::encode(&ty)).unwrap();
    json!({"value": value, "type": ty})
}

#[test]
fn schemas_are_those_of_opentofu() {
    let provider = make(&Outside::system("."));
    assert_eq!(published::schemas(&provider), published::recorded(include_str!("published.json")));
}

#[tokio::test]
async fn values_are_kept_and_replaced_on_demand() {
    let terraform = terraform();
    let config = json!({"input": dynamic(json!({"a": 1})), "triggers_replace": dynamic(json!(["x"]))});
    let plan = terraform.plan("terraform_data", None, config.clone()).await;
    let planned = Object::of(&plan.planned);
    assert!(planned.is_unknown("output") && planned.is_unknown("id"));
    assert_eq!(planned.get("output").ty(), Type::object([("a", Type::Number)]));
    let kept = terraform.create("terraform_data", config.clone()).await;
    assert_eq!(kept.get("output"), kept.get("input"));
    assert_eq!(kept.text("id").len(), 36);
    assert!(terraform.is_settled("terraform_data", &kept, config).await);

    let other_input = json!({"input": dynamic(json!("y")), "triggers_replace": dynamic(json!(["x"]))});
    let changed = terraform.apply("terraform_data", Some(&kept), other_input).await;
    assert_eq!((changed.text("output"), changed.text("id")), ("y".to_owned(), kept.text("id")));
    let plan = terraform.plan("terraform_data", Some(&changed), json!({"input": dynamic(json!("y"))})).await;
    assert_eq!(plan.requires_replace, [at("triggers_replace")]);
    let gone = terraform.apply("terraform_data", Some(&kept), json!({"triggers_replace": dynamic(json!(["x"]))})).await;
    assert!(gone.get("output").is_null());
}

#[tokio::test]
async fn what_only_it_decides_cannot_be_given() {
    let found = terraform().validate("terraform_data", json!({"id": "x", "output": dynamic(json!(1))})).await;
    let summaries: Vec<&str> = found.iter().map(|problem| problem.summary.as_str()).collect();
    assert_eq!(summaries, ["\"id\" attribute is read-only", "\"output\" attribute is read-only"]);
}

#[tokio::test]
async fn a_null_resource_becomes_one() {
    let terraform = terraform();
    let request = |source: &str| MoveRequest {
        source_provider: "registry.opentofu.org/hashicorp/null".to_owned(),
        source_type_name: source.into(),
        source_schema_version: 0,
        source_state: RawState::Json(br#"{"id": "42", "triggers": {"a": "b"}}"#.to_vec()),
        source_private: Private::default(),
        source_identity: None,
        target_type_name: "terraform_data".into(),
    };
    let moved = terraform.0.move_state(request("null_resource")).await.unwrap();
    assert!(moved.diagnostics.is_empty());
    let moved = Object::of(&moved.object);
    assert_eq!(moved.text("id"), Some("42"));
    assert_eq!(moved.get("triggers_replace"), Value::object([("a", Value::string("b"))]));
    assert!(terraform.0.move_state(request("time_static")).await.unwrap().diagnostics.has_errors());
    let imported = terraform.import("terraform_data", "x").await.unwrap();
    assert_eq!(imported.text("id"), "x");
}

#[tokio::test]
async fn outputs_of_another_configuration_are_read() {
    let terraform = terraform();
    let config = json!({
        "backend": "_local", "config": dynamic(json!({"path": "p"})), "defaults": dynamic(json!({"n": 5, "d": true})),
    });
    let read = terraform.data("terraform_remote_state", config).await;
    let outputs = read.get("outputs");
    let expected = [("path", Value::string("p")), ("n", Value::from(1)), ("d", Value::bool(true))];
    assert_eq!(outputs, Value::object(expected));
    let missing = terraform.try_data("terraform_remote_state", json!({"backend": "local", "workspace": "w"})).await;
    assert_eq!(missing.diagnostics.iter().next().unwrap().summary, "Unable to find remote state");
    for (name, value) in [("config", json!([1])), ("defaults", json!("x"))] {
        let mut config = json!({"backend": "local"});
        config[name] = dynamic(value);
        let found = terraform.try_data("terraform_remote_state", config).await.diagnostics;
        assert_eq!(found.iter().next().unwrap().path, Some(at(name)));
    }
    let found = terraform.try_data("terraform_remote_state", json!({"backend": "nope"})).await.diagnostics;
    assert_eq!(found.iter().next().unwrap().detail, "no nope");
}
