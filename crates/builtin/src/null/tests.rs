//! The `null` provider.

use groma_model::codec::json::encode_plain;
use serde_json::json;

use super::*;
use crate::drive::Driver;
use crate::kit::at;
use crate::published;

fn null() -> Driver {
    Driver::new(make(&Outside::system(".")))
}

#[tokio::test]
async fn triggers_replace() {
    let null = null();
    let config = json!({"triggers": {"a": "1"}});
    let kept = null.create("null_resource", config.clone()).await;
    assert!(kept.text("id").parse::<u64>().is_ok());
    assert!(null.is_settled("null_resource", &kept, config).await);
    let plan = null.plan("null_resource", Some(&kept), json!({"triggers": {"a": "2"}})).await;
    assert_eq!(plan.requires_replace, [at("triggers")]);
    let plan = null.plan("null_resource", Some(&kept), json!({"triggers": {"a": "1", "b": null}})).await;
    assert!(plan.requires_replace.is_empty(), "a new null is not worth a new object");
    assert!(null.import("null_resource", "1").await.is_err());
}

#[tokio::test]
async fn data_is_copied() {
    let read = null().data("null_data_source", json!({"inputs": {"a": "b"}})).await;
    assert_eq!(encode_plain(&read.get("outputs")).unwrap(), r#"{"a":"b"}"#);
    assert_eq!((read.text("has_computed_default"), read.text("id")), ("default".to_owned(), "static".to_owned()));
}

#[test]
fn schemas_keep_the_rules() {
    published::schemas(&make(&Outside::system(".")));
}
