//! `k8sconnect_patch`: changes to objects of others.

use groma_kubernetes::Host;
use groma_provider::api::Outcome;
use serde_json::{Value as Json, json};

use crate::cluster::{Place, owners};
use crate::driver::{Driver, changes, summaries};

const TYPE: &str = "k8sconnect_patch";

fn patch(place: &Place, form: &str, text: &str) -> Json {
    let target = json!({"api_version": "apps/v1", "kind": "Deployment", "name": "d", "namespace": place.namespace});
    json!({"target": target, form: text, "cluster": place.connection()})
}

fn path(place: &Place) -> String {
    place.path("apps/v1", "deployments", "d")
}

fn live(place: &Place) -> Json {
    place.get(&path(place)).unwrap()
}

/// Somebody else's Deployment, with two containers.
fn target(place: &Place) {
    let containers = json!([{"name": "a", "image": "one"}, {"name": "b", "image": "two", "args": ["x"]}]);
    place.others_make(
        &path(place),
        &json!({
            "metadata": {"name": "d", "labels": {"theirs": "yes"}},
            "spec": {
                "paused": true, "replicas": 1, "selector": {"matchLabels": {"x": "z"}},
                "template": {"metadata": {"labels": {"x": "z"}}, "spec": {"containers": containers}},
            },
        }),
    );
}

#[tokio::test]
async fn a_patch_keeps_what_is_beside_it_and_lets_go_in_the_end() {
    let (place, driver) = (Place::new("patches"), Driver::new(Host::Groma).await);
    target(&place);
    let yaml = "metadata: {labels: {ours.dev/x: '1'}}\nspec:\n  template:\n    spec:\n      containers: [{name: b, tty: true}]\n";
    let wanted = patch(&place, "patch", yaml);
    let made = driver.apply(TYPE, None, &wanted).await;
    let now = live(&place);
    assert_eq!(now["metadata"]["labels"], json!({"theirs": "yes", "ours.dev/x": "1"}));
    assert_eq!(now["spec"]["template"]["spec"]["containers"][1]["tty"], true);
    assert_eq!(now["spec"]["template"]["spec"]["containers"][1]["image"], "two");
    let manager = format!("k8sconnect-patch-{}", made.text("id"));
    assert_eq!(owners(&now, &["f:metadata", "f:labels", "f:ours.dev/x"]), [manager]);
    driver.assert_settled(TYPE, &made, &wanted).await;
    let other_words = patch(&place, "patch", &format!("# words\n{yaml}"));
    driver.assert_settled(TYPE, &made, &other_words).await;

    // What is not patched any more goes.
    let less = patch(&place, "patch", "metadata: {labels: {ours.dev/x: '2'}}");
    let made = driver.run(TYPE, &made, &less).await;
    let now = live(&place);
    assert_eq!(now["metadata"]["labels"]["ours.dev/x"], "2");
    assert_eq!(now["spec"]["template"]["spec"]["containers"][1].get("tty"), None);

    // Reading never writes.
    place.others_put(&path(&place), |object| object["metadata"]["labels"]["ours.dev/x"] = json!("theirs"));
    let before = live(&place);
    let read = driver.read(TYPE, &made).await.unwrap();
    assert_eq!(live(&place), before);
    let plan = driver.plan(TYPE, Some(&read), &less).await;
    assert!(!changes(&read.object, &plan.planned).is_empty());
    let made = driver.apply(TYPE, Some(&read), &less).await;
    assert_eq!(live(&place)["metadata"]["labels"]["ours.dev/x"], "2");

    assert_eq!(driver.delete(TYPE, &made).await.outcome, Outcome::Done);
    let now = live(&place);
    assert_eq!(now["metadata"]["labels"], json!({"theirs": "yes"}));
    assert!(!now["metadata"]["managedFields"].to_string().contains("k8sconnect"));
}

#[tokio::test]
async fn what_the_object_cannot_be_without_stays() {
    let (place, driver) = (Place::new("patches-needed"), Driver::new(Host::Groma).await);
    target(&place);
    let yaml = "spec:\n  template:\n    spec:\n      containers: [{name: b, image: ours}]\n";
    let made = driver.apply(TYPE, None, &patch(&place, "patch", yaml)).await;
    let deleted = driver.delete(TYPE, &made).await;
    assert_eq!(deleted.outcome, Outcome::Done, "{:?}", deleted.diagnostics);
    assert_eq!(summaries(&deleted.diagnostics), ["Patched values stay: Deployment \"patches-needed/d\""]);
    let now = live(&place);
    assert_eq!(now["spec"]["template"]["spec"]["containers"][1]["image"], "ours");
    assert!(!now["metadata"]["managedFields"].to_string().contains("k8sconnect-patch-"));
}

#[tokio::test]
async fn json_patches_are_done_once() {
    let (place, driver) = (Place::new("patches-json"), Driver::new(Host::Groma).await);
    target(&place);
    let operations = json!([
        {"op": "test", "path": "/spec/replicas", "value": 1},
        {"op": "replace", "path": "/spec/replicas", "value": 3},
        {"op": "add", "path": "/metadata/labels/a~1b", "value": "c"},
        {"op": "add", "path": "/spec/template/spec/containers/1/args/-", "value": "y"},
        {"op": "remove", "path": "/metadata/labels/theirs"},
    ]);
    let wanted = patch(&place, "json_patch", &operations.to_string());
    let made = driver.apply(TYPE, None, &wanted).await;
    let check = || {
        let now = live(&place);
        assert_eq!(now["spec"]["replicas"], 3);
        assert_eq!(now["metadata"]["labels"], json!({"a/b": "c"}));
        assert_eq!(now["spec"]["template"]["spec"]["containers"][1]["args"], json!(["x", "y"]));
    };
    check();
    driver.assert_settled(TYPE, &made, &wanted).await;
    let pretty = patch(&place, "json_patch", &serde_json::to_string_pretty(&operations).unwrap());
    driver.assert_settled(TYPE, &made, &pretty).await;

    let lenient = json!([
        {"op": "replace", "path": "/spec/replicas", "value": 3},
        {"op": "add", "path": "/spec/template/spec/containers/1/args/-", "value": "y"},
    ]);
    let wanted = patch(&place, "json_patch", &lenient.to_string());
    let made = driver.run(TYPE, &made, &wanted).await;
    check();
    place.others_put(&path(&place), |object| object["spec"]["replicas"] = json!(5));
    let made = driver.run(TYPE, &made, &wanted).await;
    check();
    let deleted = driver.delete(TYPE, &made).await;
    assert_eq!(summaries(&deleted.diagnostics), ["Patched values stay: Deployment \"patches-json/d\""]);
    check();
}

#[tokio::test]
async fn merge_patches_follow_what_they_name() {
    let (place, driver) = (Place::new("patches-merge"), Driver::new(Host::Groma).await);
    target(&place);
    let wanted =
        patch(&place, "merge_patch", r#"{"spec":{"replicas":4},"metadata":{"labels":{"theirs":null,"x.y/z":"1"}}}"#);
    let made = driver.apply(TYPE, None, &wanted).await;
    assert_eq!(live(&place)["metadata"]["labels"], json!({"x.y/z": "1"}));
    driver.assert_settled(TYPE, &made, &wanted).await;
    place.others_put(&path(&place), |object| object["metadata"]["labels"]["beside"] = json!("1"));
    driver.assert_settled(TYPE, &made, &wanted).await;
    place.others_put(&path(&place), |object| object["metadata"]["labels"]["theirs"] = json!("again"));
    let made = driver.run(TYPE, &made, &wanted).await;
    assert_eq!(live(&place)["metadata"]["labels"], json!({"x.y/z": "1", "beside": "1"}));
    driver.assert_settled(TYPE, &made, &wanted).await;
}

#[tokio::test]
async fn patches_of_one_object_must_not_overlap() {
    let (place, driver) = (Place::new("patches-two"), Driver::new(Host::Groma).await);
    target(&place);
    let one = patch(&place, "patch", "spec: {template: {spec: {containers: [{name: b, tty: true}]}}}");
    let two = patch(&place, "patch", "spec: {template: {spec: {containers: [{name: b, stdin: true}]}}}");
    let first = driver.apply(TYPE, None, &one).await;
    let second = driver.apply(TYPE, None, &two).await;
    driver.assert_settled(TYPE, &first, &one).await;
    driver.assert_settled(TYPE, &second, &two).await;
    let clash = patch(&place, "patch", "spec: {template: {spec: {containers: [{name: b, tty: false}]}}}");
    let told = driver.plan(TYPE, None, &clash).await.diagnostics;
    assert_eq!(summaries(&told), ["Patches overlap"]);
    let by_index = json!([{"op": "add", "path": "/spec/template/spec/containers/1/tty", "value": false}]);
    let told = driver.plan(TYPE, None, &patch(&place, "json_patch", &by_index.to_string())).await.diagnostics;
    assert_eq!(summaries(&told), ["Patches overlap"]);
}

#[tokio::test]
async fn what_is_managed_as_a_whole_is_not_patched() {
    let (place, driver) = (Place::new("patches-own"), Driver::new(Host::Groma).await);
    let yaml = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: patches-own}\ndata: {x: one}\n";
    driver.apply("k8sconnect_object", None, &json!({"yaml_body": yaml, "cluster": place.connection()})).await;
    let target = json!({"api_version": "v1", "kind": "ConfigMap", "name": "a", "namespace": "patches-own"});
    let wanted = json!({"target": target, "patch": "data: {z: two}", "cluster": place.connection()});
    let told = driver.plan(TYPE, None, &wanted).await.diagnostics;
    assert_eq!(summaries(&told), ["Object is not to be patched"]);
}

#[tokio::test]
async fn a_target_that_is_missing_is_missed_by_the_apply() {
    let (place, driver) = (Place::new("patches-none"), Driver::new(Host::Groma).await);
    let wanted = patch(&place, "patch", "spec: {replicas: 2}");
    let response = driver.try_apply(TYPE, None, &wanted).await;
    assert_eq!(response.outcome, Outcome::NothingMade);
    assert_eq!(summaries(&response.diagnostics), ["Patch target does not exist"]);
    target(&place);
    let typo = patch(&place, "patch", "spec: {replica: 2}");
    assert_eq!(summaries(&driver.plan(TYPE, None, &typo).await.diagnostics), ["Unknown field in manifest"]);
    let made = driver.apply(TYPE, None, &wanted).await;
    place.others_delete(&path(&place));
    assert!(driver.read(TYPE, &made).await.is_none());
    assert_eq!(driver.delete(TYPE, &made).await.outcome, Outcome::Done);
    assert!(place.get(&path(&place)).is_none());
}
