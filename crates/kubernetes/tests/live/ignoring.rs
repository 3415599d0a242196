//! `ignore_fields`: what others decide once the object is made.

use groma_kubernetes::Host;
use serde_json::{Value as Json, json};

use crate::cluster::{Place, owners};
use crate::driver::Driver;

const TYPE: &str = "k8sconnect_object";

fn deployment(place: &Place, replicas: u32, image: &str, ignored: &[&str]) -> Json {
    let namespace = &place.namespace;
    let yaml = format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: d, namespace: {namespace}}}\nspec:\n  replicas: {replicas}\n  paused: \
         true\n  selector: {{matchLabels: {{a: b}}}}\n  template:\n    metadata: {{labels: {{a: b}}}}\n    spec:\n      containers:\n      - \
         name: c\n        image: {image}\n        env: [{{name: X, value: one}}, {{name: Z, value: two}}]\n"
    );
    let mut config = json!({"yaml_body": yaml, "cluster": place.connection()});
    if !ignored.is_empty() {
        config["ignore_fields"] = json!(ignored);
    }
    config
}

fn live(place: &Place) -> Json {
    place.get(&place.path("apps/v1", "deployments", "d")).unwrap()
}

/// Somebody who scales.
fn scaled(place: &Place, replicas: u32) {
    let body = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": {"replicas": replicas}});
    place.others_apply(&place.path("apps/v1", "deployments", "d"), &body);
}

const REPLICAS: [&str; 2] = ["f:spec", "f:replicas"];

#[tokio::test]
async fn what_is_ignored_is_made_and_then_left_to_others() {
    let (place, driver) = (Place::new("ignored"), Driver::new(Host::Groma).await);
    let wanted = deployment(&place, 3, "one", &["spec.replicas"]);
    let made = driver.apply(TYPE, None, &wanted).await;
    assert_eq!(live(&place)["spec"]["replicas"], 3);
    assert_eq!(owners(&live(&place), &REPLICAS), ["k8sconnect-seed"]);
    driver.assert_settled(TYPE, &made, &wanted).await;

    // Nobody has taken it yet, and it is not reset.
    let wanted = deployment(&place, 3, "two", &["spec.replicas"]);
    let made = driver.run(TYPE, &made, &wanted).await;
    assert_eq!(live(&place)["spec"]["replicas"], 3);

    scaled(&place, 7);
    driver.assert_settled(TYPE, &made, &wanted).await;
    let wanted = deployment(&place, 2, "three", &["spec.replicas"]);
    let made = driver.run(TYPE, &made, &wanted).await;
    assert_eq!(live(&place)["spec"]["replicas"], 7);
    assert_eq!(owners(&live(&place), &REPLICAS), ["test"]);
    driver.assert_settled(TYPE, &made, &wanted).await;
}

#[tokio::test]
async fn what_is_ignored_later_is_released_and_not_reset() {
    let (place, driver) = (Place::new("released"), Driver::new(Host::Groma).await);
    let made = driver.apply(TYPE, None, &deployment(&place, 3, "one", &[])).await;
    assert_eq!(owners(&live(&place), &REPLICAS), ["k8sconnect"]);
    let wanted = deployment(&place, 3, "one", &["spec.replicas"]);
    let made = driver.run(TYPE, &made, &wanted).await;
    assert_eq!(live(&place)["spec"]["replicas"], 3);
    assert_eq!(owners(&live(&place), &REPLICAS), ["k8sconnect-seed"]);
    driver.assert_settled(TYPE, &made, &wanted).await;

    // And taken back.
    scaled(&place, 9);
    let wanted = deployment(&place, 4, "two", &[]);
    let made = driver.run(TYPE, &made, &wanted).await;
    assert_eq!(live(&place)["spec"]["replicas"], 4);
    assert_eq!(owners(&live(&place), &REPLICAS), ["k8sconnect"]);
    driver.assert_settled(TYPE, &made, &wanted).await;
}

#[tokio::test]
async fn what_an_object_cannot_be_without_may_be_ignored() {
    let (place, driver) = (Place::new("needed"), Driver::new(Host::Groma).await);
    let ignored = ["spec.template.spec.containers[?(@.name=='c')].image", "spec.replicas"];
    let wanted = deployment(&place, 2, "one", &ignored);
    let made = driver.apply(TYPE, None, &wanted).await;
    assert_eq!(live(&place)["spec"]["template"]["spec"]["containers"][0]["image"], "one");
    driver.assert_settled(TYPE, &made, &wanted).await;
    let container = json!({"name": "c", "image": "theirs"});
    let body = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
        "spec": {"template": {"spec": {"containers": [container]}}},
    });
    place.others_apply(&place.path("apps/v1", "deployments", "d"), &body);
    driver.assert_settled(TYPE, &made, &wanted).await;
    // Only one of the two is left to others from now on.
    let wanted = deployment(&place, 5, "two", &ignored[..1]);
    let made = driver.run(TYPE, &made, &wanted).await;
    let live = live(&place);
    assert_eq!(live["spec"]["template"]["spec"]["containers"][0]["image"], "theirs");
    assert_eq!(live["spec"]["replicas"], 5);
    assert_eq!(owners(&live, &REPLICAS), ["k8sconnect"]);
    driver.assert_settled(TYPE, &made, &wanted).await;
}

#[tokio::test]
async fn an_element_that_is_ignored_is_never_in_doubt() {
    let (place, driver) = (Place::new("elements"), Driver::new(Host::Groma).await);
    let ignored = ["spec.template.spec.containers[?(@.name=='c')].env[?(@.name=='X')].value"];
    let wanted = deployment(&place, 1, "one", &ignored);
    let mut made = driver.apply(TYPE, None, &wanted).await;
    for round in 0..3 {
        let path = place.path("apps/v1", "deployments", "d");
        place.others_put(&path, |object| {
            object["spec"]["template"]["spec"]["containers"][0]["env"][0]["value"] = json!(format!("round {round}"));
        });
        driver.assert_settled(TYPE, &made, &wanted).await;
        let changed = deployment(&place, 1, &format!("image-{round}"), &ignored);
        made = driver.run(TYPE, &made, &changed).await;
        let env = live(&place)["spec"]["template"]["spec"]["containers"][0]["env"].clone();
        assert_eq!(env[0]["value"], format!("round {round}"));
        driver.assert_settled(TYPE, &made, &changed).await;
        made = driver.run(TYPE, &made, &wanted).await;
    }
}
