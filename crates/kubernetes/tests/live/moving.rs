//! Objects that change their address, their cluster or their credentials.

use groma_kit::Object;
use groma_kubernetes::Host;
use groma_model::value::Value;
use groma_provider::api::Outcome;
use serde_json::{Value as Json, json};

use crate::cluster::{Place, other_cluster};
use crate::driver::{Driver, Kept, changes, summaries};

const TYPE: &str = "k8sconnect_object";
const ID: &str = "k8sconnect.terraform.io/terraform-id";

fn config_map(place: &Place, connection: Json) -> Json {
    let namespace = &place.namespace;
    let yaml =
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a, namespace: {namespace}}}\ndata: {{x: one}}\n");
    json!({"yaml_body": yaml, "cluster": connection})
}

#[tokio::test]
async fn a_new_address_gets_the_object_when_the_old_one_has_let_go() {
    let (place, driver) = (Place::new("renamed"), Driver::new(Host::Groma).await);
    let wanted = config_map(&place, place.connection());
    let made = driver.apply(TYPE, None, &wanted).await;
    let made = driver.read(TYPE, &made).await.unwrap();
    let plan = driver.plan(TYPE, None, &wanted).await;
    assert_eq!(summaries(&plan.diagnostics), ["Object changes its address: ConfigMap \"renamed/a\""]);
    let (created, deleted) = tokio::join!(driver.carry_out(TYPE, None, plan, &wanted), driver.delete(TYPE, &made));
    assert_eq!(created.outcome, Outcome::Done, "{:?}", created.diagnostics);
    assert_eq!(deleted.outcome, Outcome::Done, "{:?}", deleted.diagnostics);
    let created = Kept { object: created.object, private: created.private };
    assert_eq!(place.config_map("a").unwrap()["metadata"]["annotations"][ID], created.text("id").as_str());
    driver.assert_settled(TYPE, &created, &wanted).await;
}

#[tokio::test]
async fn another_cluster_gets_another_object() {
    let (place, driver) = (Place::new("clusters"), Driver::new(Host::Groma).await);
    let here = config_map(&place, place.connection());
    let there = config_map(&place, other_cluster("clusters"));
    let made = driver.apply(TYPE, None, &here).await;
    assert_eq!(made.text("cluster_uid").len(), 36);
    let plan = driver.plan(TYPE, Some(&made), &there).await;
    assert_eq!(plan.requires_replace, [groma_kit::at("cluster_uid")]);

    // Who asks the wrong cluster is not told that the object is gone.
    let lost = made.with("cluster", Object::of(&plan.planned).get("cluster"));
    let read = driver.try_read(TYPE, &lost).await;
    assert_eq!(summaries(&read.diagnostics), ["Object was not refreshed: ConfigMap \"clusters/a\""]);
    assert_eq!(read.object, lost.object);
    let refused = driver.delete(TYPE, &lost).await;
    assert_eq!(summaries(&refused.diagnostics), ["Connection leads to another cluster"]);

    let moved = driver.apply(TYPE, Some(&made), &there).await;
    assert!(place.config_map("a").is_none());
    assert_ne!(moved.text("cluster_uid"), made.text("cluster_uid"));
    driver.assert_settled(TYPE, &moved, &there).await;
}

#[tokio::test]
async fn another_way_to_the_same_cluster_is_no_move() {
    let (place, driver) = (Place::new("ways"), Driver::new(Host::Groma).await);
    let made = driver.apply(TYPE, None, &config_map(&place, place.connection())).await;
    let by_file = config_map(&place, json!({"kubeconfig_path": place.kubeconfig()}));
    let plan = driver.plan(TYPE, Some(&made), &by_file).await;
    assert_eq!(changes(&made.object, &plan.planned), ["cluster"]);
    let made = driver.run(TYPE, &made, &by_file).await;
    driver.assert_settled(TYPE, &made, &by_file).await;
}

#[tokio::test]
async fn the_connection_of_the_provider_is_not_stored() {
    let place = Place::new("providers");
    let driver = Driver::configured(Host::Groma, &json!({"cluster": place.connection()}), &[]).await;
    let mut wanted = config_map(&place, Json::Null);
    wanted.as_object_mut().unwrap().remove("cluster");
    let made = driver.apply(TYPE, None, &wanted).await;
    assert!(made.json()["cluster"].is_null());
    driver.assert_settled(TYPE, &made, &wanted).await;
    assert_eq!(driver.delete(TYPE, &made).await.outcome, Outcome::Done);
}

#[tokio::test]
async fn drift_is_found_with_new_credentials_when_stored_ones_have_expired() {
    let (place, driver) = (Place::new("renewed"), Driver::new(Host::Groma).await);
    let wanted = config_map(&place, place.connection());
    let made = driver.apply(TYPE, None, &wanted).await;
    let expired = driver.plan(TYPE, Some(&made), &config_map(&place, place.connection_of("expired"))).await;
    let stale = made.with("cluster", Object::of(&expired.planned).get("cluster"));
    place.others_put(&place.path("v1", "configmaps", "a"), |object| object["data"]["x"] = json!("theirs"));

    let other = Driver::new(Host::Groma).await;
    let read = other.try_read(TYPE, &stale).await;
    assert_eq!(read.object, stale.object);
    let read = Kept { object: read.object, private: read.private };
    let plan = other.plan(TYPE, Some(&read), &wanted).await;
    assert_eq!(summaries(&plan.diagnostics), ["Fields were changed by others: ConfigMap \"renewed/a\""]);
    let made = other.apply(TYPE, Some(&read), &wanted).await;
    assert_eq!(place.config_map("a").unwrap()["data"]["x"], "one");
    other.assert_settled(TYPE, &made, &wanted).await;

    // Whoever has just seen better credentials for the cluster uses them for what has expired.
    assert_eq!(driver.delete(TYPE, &stale).await.outcome, Outcome::Done);
    assert!(place.config_map("a").is_none());
}

#[tokio::test]
async fn an_object_that_is_managed_is_imported_with_its_id() {
    let place = Place::new("reimports");
    let environment = [("KUBECONFIG", place.kubeconfig())];
    let driver = Driver::configured(Host::Groma, &json!({}), &environment).await;
    let made = driver.apply(TYPE, None, &config_map(&place, place.connection())).await;
    let kept = driver.import(TYPE, "reimports:v1/ConfigMap:a").await.unwrap();
    assert_eq!(kept.text("id"), made.text("id"));
    let mut wanted = json!({"yaml_body": kept.text("yaml_body"), "cluster": kept.json()["cluster"]});
    wanted["delete_protection"] = json!(false);
    driver.assert_settled(TYPE, &kept, &wanted).await;
}

#[tokio::test]
async fn states_of_the_published_provider_are_read() {
    let (place, driver) = (Place::new("published"), Driver::new(Host::Groma).await);
    let wanted = config_map(&place, place.connection());
    let made = driver.apply(TYPE, None, &wanted).await;
    let mut old = made.json();
    for name in ["managed_fields", "cluster_uid", "adopt", "wait_for", "delete_policy", "force_conflicts"] {
        old.as_object_mut().unwrap().remove(name);
    }
    let old = driver.upgrade(TYPE, 1, &old).await;
    assert_eq!(
        Object::of(&old.object).get("managed_fields"),
        Value::null(groma_model::ty::Type::map(groma_model::ty::Type::String))
    );
    let read = driver.read(TYPE, &old).await.unwrap();
    assert_eq!(read.text("cluster_uid"), made.text("cluster_uid"));
    driver.assert_settled(TYPE, &read, &wanted).await;
}
