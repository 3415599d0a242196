//! `k8sconnect_manifest_set`: many objects as one.

use groma_kubernetes::Host;
use groma_provider::api::Outcome;
use serde_json::{Value as Json, json};

use crate::cluster::Place;
use crate::driver::{Driver, Kept, changes, summaries};

const TYPE: &str = "k8sconnect_manifest_set";

fn set(place: &Place, documents: &[String]) -> Json {
    json!({"yaml": documents.join("\n---\n"), "cluster": place.connection()})
}

fn config_map(namespace: &str, name: &str, value: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: {namespace}}}\ndata: {{x: {value}}}")
}

fn namespace(name: &str) -> String {
    format!("apiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}}}")
}

fn definition(group: &str) -> String {
    let schema = "{openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}";
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: things.{group}}}\nspec:\n  group: \
         {group}\n  scope: Namespaced\n  names: {{plural: things, kind: Thing}}\n  versions: [{{name: v1, served: true, storage: true, \
         schema: {schema}}}]"
    )
}

fn keys(kept: &Kept) -> Vec<String> {
    kept.json()["objects"].as_object().unwrap().keys().cloned().collect()
}

#[tokio::test]
async fn a_set_is_made_in_order_and_taken_down_in_reverse() {
    let (place, driver) = (Place::new("sets"), Driver::new(Host::Groma).await);
    let thing =
        "apiVersion: sets.dev/v1\nkind: Thing\nmetadata: {name: t, namespace: sets-in}\nspec: {a: 1}".to_owned();
    let wanted = set(&place, &[thing, config_map("sets-in", "a", "one"), namespace("sets-in"), definition("sets.dev")]);
    let made = driver.apply(TYPE, None, &wanted).await;
    let expected = [
        "apiextensions.k8s.io.customresourcedefinition.things.sets.dev",
        "configmap.sets-in.a",
        "namespace.sets-in",
        "sets.dev.thing.sets-in.t",
    ];
    assert_eq!(keys(&made), expected);
    driver.assert_settled(TYPE, &made, &wanted).await;
    assert_eq!(driver.delete(TYPE, &made).await.outcome, Outcome::Done);
    assert!(driver.read(TYPE, &made).await.is_none());
}

#[tokio::test]
async fn what_is_not_in_the_set_any_more_goes() {
    let (place, driver) = (Place::new("sets-prune"), Driver::new(Host::Groma).await);
    let member = |name: &str, value: &str| config_map("sets-prune", name, value);
    let made =
        driver.apply(TYPE, None, &set(&place, &[member("a", "one"), member("b", "one"), member("c", "one")])).await;
    let mut fewer = set(&place, &[member("a", "two"), member("b", "one")]);
    let read = driver.read(TYPE, &made).await.unwrap();
    let plan = driver.plan(TYPE, Some(&read), &fewer).await;
    assert_eq!(summaries(&plan.diagnostics), ["Objects are deleted"]);
    let made = driver.apply(TYPE, Some(&read), &fewer).await;
    assert_eq!(keys(&made), ["configmap.sets-prune.a", "configmap.sets-prune.b"]);
    assert!(place.config_map("c").is_none());
    assert_eq!(place.config_map("a").unwrap()["data"]["x"], "two");
    driver.assert_settled(TYPE, &made, &fewer).await;

    fewer = set(&place, &[member("a", "two")]);
    fewer["prune"] = json!(false);
    let made = driver.run(TYPE, &made, &fewer).await;
    assert_eq!(keys(&made), ["configmap.sets-prune.a"]);
    assert!(place.config_map("b").is_some());
}

#[tokio::test]
async fn what_is_made_is_never_lost() {
    let (place, driver) = (Place::new("sets-part"), Driver::new(Host::Groma).await);
    let late = |wave: i32| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: late, namespace: sets-later, annotations: {{groma.dev/wave: '{wave}'}}}}"
        )
    };
    // Somebody has made a namespace that cannot be written to.
    place.others_make(
        "/api/v1/namespaces/sets-later",
        &json!({"metadata": {"name": "sets-later", "finalizers": ["x.dev/hold"]}}),
    );
    let wanted = set(&place, &[config_map("sets-part", "a", "one"), late(1)]);
    let plan = driver.plan(TYPE, None, &wanted).await;
    assert!(plan.diagnostics.is_empty(), "{:?}", plan.diagnostics);
    place.others_delete("/api/v1/namespaces/sets-later");
    let response = driver.carry_out(TYPE, None, plan, &wanted).await;
    assert!(matches!(response.outcome, Outcome::NotReady(_)), "{:?}", response.outcome);
    let made = Kept { object: response.object, private: response.private };
    assert_eq!(keys(&made), ["configmap.sets-part.a"]);

    place.others_put("/api/v1/namespaces/sets-later", |object| {
        object["metadata"].as_object_mut().unwrap().remove("finalizers");
    });
    for _ in 0..100 {
        if place.get("/api/v1/namespaces/sets-later").is_none() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    let wanted = set(&place, &[config_map("sets-part", "a", "one"), namespace("sets-later"), late(1)]);
    let made = driver.run(TYPE, &made, &wanted).await;
    assert_eq!(keys(&made).len(), 3);
    driver.assert_settled(TYPE, &made, &wanted).await;
}

#[tokio::test]
async fn drift_of_a_member_is_changed_back_and_a_lost_one_made_again() {
    let (place, driver) = (Place::new("sets-drift"), Driver::new(Host::Groma).await);
    let wanted = set(&place, &[config_map("sets-drift", "a", "one"), config_map("sets-drift", "b", "one")]);
    let made = driver.apply(TYPE, None, &wanted).await;
    place.others_put(&place.path("v1", "configmaps", "a"), |object| object["data"]["x"] = json!("other"));
    place.others_delete(&place.path("v1", "configmaps", "b"));
    let read = driver.read(TYPE, &made).await.unwrap();
    let plan = driver.plan(TYPE, Some(&read), &wanted).await;
    assert!(!changes(&read.object, &plan.planned).is_empty());
    let made = driver.apply(TYPE, Some(&read), &wanted).await;
    assert_eq!(place.config_map("a").unwrap()["data"]["x"], "one");
    assert!(place.config_map("b").is_some());
    driver.assert_settled(TYPE, &made, &wanted).await;
}

#[tokio::test]
async fn waves_wait_for_each_other() {
    let (place, driver) = (Place::new("sets-waves"), Driver::new(Host::Groma).await);
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, namespace: sets-waves}\nspec:\n  replicas: 0\n  selector: \
                      {matchLabels: {a: b}}\n  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}";
    let last = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: last, namespace: sets-waves, annotations: {groma.dev/wave: '5'}}";
    let mut wanted = set(&place, &[last.to_owned(), deployment.to_owned()]);
    wanted["wait_for_ready"] = json!(true);
    let made = driver.apply(TYPE, None, &wanted).await;
    driver.assert_settled(TYPE, &made, &wanted).await;

    // Nothing runs here, so this one is never ready, and what comes later is not made.
    let running = deployment.replace("replicas: 0", "replicas: 1");
    let mut wanted = set(&place, &[running, last.replace("name: last", "name: never")]);
    wanted["wait_for_ready"] = json!(true);
    wanted["ready_timeout"] = json!("1s");
    let read = driver.read(TYPE, &made).await.unwrap();
    let response = driver.try_apply(TYPE, Some(&read), &wanted).await;
    let Outcome::NotReady(lacks) = &response.outcome else { panic!("{:?}", response.outcome) };
    assert!(lacks.waiting_for.contains("Deployment \"sets-waves/d\""), "{}", lacks.waiting_for);
    assert!(place.config_map("never").is_none());
    assert!(place.config_map("last").is_some());
    let kept = Kept { object: response.object, private: response.private };
    assert_eq!(keys(&kept), ["apps.deployment.sets-waves.d", "configmap.sets-waves.last"]);
}

#[tokio::test]
async fn what_is_in_the_way_is_told() {
    let (place, driver) = (Place::new("sets-way"), Driver::new(Host::Groma).await);
    place.others_make(&place.path("v1", "configmaps", "a"), &json!({"metadata": {"name": "a"}}));
    let wanted = set(&place, &[config_map("sets-way", "a", "one"), config_map("sets-way", "b", "one")]);
    let told = driver.plan(TYPE, None, &wanted).await.diagnostics;
    assert_eq!(summaries(&told), ["Object exists already"]);
    let twice = set(&place, &[config_map("sets-way", "b", "one"), config_map("sets-way", "b", "two")]);
    assert_eq!(summaries(&driver.validate(TYPE, &twice).await), ["Duplicate object"]);
    let mut both = wanted.clone();
    both["manifests"] = json!({"a": config_map("sets-way", "c", "one")});
    assert_eq!(summaries(&driver.validate(TYPE, &both).await), ["Invalid combination of arguments"]);
    both.as_object_mut().unwrap().remove("yaml");
    let made = driver.apply(TYPE, None, &both).await;
    assert_eq!(keys(&made), ["a"]);
}
