//! Values of places as text, and fingerprints of what is secret.

use serde_json::json;

use super::*;

fn places(texts: &[&str]) -> BTreeSet<FieldPath> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

#[test]
fn values_are_texts_by_their_places() {
    let live = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {
            "name": "a", "namespace": "ns", "finalizers": ["x/y"], "labels": {"app.kubernetes.io/name": "n"},
            "annotations": {"k8sconnect.terraform.io/terraform-id": "i", "other": "o"},
        },
        "spec": {"replicas": 3, "paused": false, "containers": [{"name": "c", "args": ["-a", "b"], "resources": {}}]},
    });
    let places = places(&[
        "spec.replicas",
        "spec.paused",
        "spec.containers[name=c].args",
        "spec.containers[name=c].resources",
        "spec.containers[name=gone].image",
        "metadata.labels[\"app.kubernetes.io/name\"]",
        "metadata.finalizers[=\"x/y\"]",
        "metadata.annotations[\"k8sconnect.terraform.io/terraform-id\"]",
        "metadata.annotations.other",
    ]);
    let expected: BTreeMap<String, String> = [
        ("apiVersion", "apps/v1"),
        ("kind", "Deployment"),
        ("metadata.name", "a"),
        ("metadata.namespace", "ns"),
        ("metadata.annotations.other", "o"),
        ("metadata.labels[\"app.kubernetes.io/name\"]", "n"),
        ("metadata.finalizers[=\"x/y\"]", "x/y"),
        ("spec.replicas", "3"),
        ("spec.paused", "false"),
        ("spec.containers[name=c].args", r#"["-a","b"]"#),
        ("spec.containers[name=c].resources", "{}"),
    ]
    .map(|(place, text)| (place.to_owned(), text.to_owned()))
    .into();
    assert_eq!(project(&live, &places, "id"), expected);
}

#[test]
fn what_others_put_into_a_container_of_ours_is_not_shown() {
    let live = json!({
        "metadata": {"managedFields": [
            {"manager": "k8sconnect", "fieldsV1": {"f:spec": {"f:resources": {}, "f:selector": {}}}},
            {"manager": "other", "fieldsV1": {"f:spec": {"f:resources": {"f:limits": {}}}}},
        ]},
        "spec": {"resources": {"limits": {"cpu": "1"}}, "selector": {"app": "x"}},
    });
    let found = project(&live, &places(&["spec.resources", "spec.selector"]), "id");
    assert_eq!(found["spec.resources"], "{}");
    assert_eq!(found["spec.selector"], r#"{"app":"x"}"#, "nobody owns a part of it");
}

fn secret() -> Json {
    json!({
        "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
        "metadata": {"name": "a", "annotations": {LAST_APPLIED: "{\"data\":\"hunter2\"}", "x": "y"}},
        "data": {"a": "aHVudGVyMg==", "b": "aHVudGVyMg=="},
        "stringData": {"c": "hunter2"},
    })
}

#[test]
fn what_is_secret_is_there_as_a_fingerprint() {
    let last_applied = format!("metadata.annotations[\"{LAST_APPLIED}\"]");
    let places = places(&["data.a", "data.b", "data", "stringData.c", "type", &last_applied, "metadata.annotations.x"]);
    let found = project(&secret(), &places, "id");
    let all = format!("{found:?}");
    assert!(!all.contains("hunter2") && !all.contains("aHVudGVyMg"), "{all}");
    for place in ["data.a", "data.b", "data", "stringData.c", &last_applied] {
        let digits = found[place].strip_prefix("sha256:").unwrap();
        assert!(digits.len() == 16 && digits.chars().all(|c| c.is_ascii_hexdigit()), "{digits}");
    }
    assert_eq!((found["type"].as_str(), found["metadata.annotations.x"].as_str()), ("Opaque", "y"));
}

#[test]
fn a_fingerprint_tells_changes_and_nothing_else() {
    let places = places(&["data.a", "data.b"]);
    let found = project(&secret(), &places, "id");
    assert_eq!(found, project(&secret(), &places, "id"));
    assert_ne!(found["data.a"], found["data.b"], "equal values in two places cannot be told");
    assert_ne!(found["data.a"], project(&secret(), &places, "other")["data.a"], "nor in two objects");
    let mut changed = secret();
    changed["data"]["a"] = json!("eA==");
    assert_ne!(found["data.a"], project(&changed, &places, "id")["data.a"]);
    assert_eq!(found["data.b"], project(&changed, &places, "id")["data.b"]);
}

#[test]
fn the_keyed_hash_is_the_known_one() {
    // RFC 4231, test cases 2 and 6.
    let hash = |key: &[u8], message: &[u8]| hex::encode(keyed_hash(key, message));
    assert_eq!(
        hash(b"Jefe", b"what do ya want for nothing?"),
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    );
    assert_eq!(
        hash(&[0xaa; 131], b"Test Using Larger Than Block-Size Key - Hash Key First"),
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
    );
}
