//! Who owns what in a Deployment as a server has it.

use serde_json::json;

use super::*;

fn texts(places: &BTreeSet<FieldPath>) -> Vec<String> {
    places.iter().map(FieldPath::to_string).collect()
}

/// A Deployment as a server has it that three managers wrote to.
fn deployment() -> Json {
    let text = r#"{
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {
            "name": "web", "namespace": "shop", "uid": "0d1f", "generation": 2,
            "annotations": {
                "deployment.kubernetes.io/revision": "1", "k8sconnect.terraform.io/terraform-id": "abc", "team": "a"
            },
            "labels": {"app.kubernetes.io/name": "web"},
            "finalizers": ["example.com/a", "example.com/b"],
            "managedFields": [
                {
                    "manager": "k8sconnect", "operation": "Apply", "apiVersion": "apps/v1", "fieldsType": "FieldsV1",
                    "fieldsV1": {
                        "f:metadata": {
                            "f:annotations": {"f:k8sconnect.terraform.io/terraform-id": {}, "f:team": {}},
                            "f:labels": {"f:app.kubernetes.io/name": {}},
                            "f:finalizers": {"v:\"example.com/a\"": {}}
                        },
                        "f:spec": {
                            "f:replicas": {},
                            "f:selector": {},
                            "f:template": {
                                "f:metadata": {"f:labels": {"f:app": {}}},
                                "f:spec": {
                                    "f:containers": {
                                        "k:{\"name\":\"nginx\"}": {
                                            ".": {},
                                            "f:args": {},
                                            "f:image": {},
                                            "f:name": {},
                                            "f:env": {"k:{\"name\":\"X\"}": {".": {}, "f:name": {}, "f:value": {}}},
                                            "f:ports": {
                                                "k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {
                                                    ".": {}, "f:containerPort": {}, "f:protocol": {}
                                                }
                                            },
                                            "f:resources": {".": {}, "f:limits": {".": {}, "f:cpu": {}}}
                                        }
                                    },
                                    "f:volumes": {},
                                    "f:securityContext": {".": {}},
                                    "f:tolerations": {"i:0": {}}
                                }
                            }
                        }
                    }
                },
                {
                    "manager": "kube-controller-manager", "operation": "Update", "subresource": "status",
                    "fieldsV1": {
                        "f:metadata": {"f:annotations": {".": {}, "f:deployment.kubernetes.io/revision": {}}},
                        "f:status": {"f:conditions": {".": {}, "k:{\"type\":\"Available\"}": {".": {}, "f:status": {}}}}
                    }
                },
                {"manager": "hpa", "operation": "Update", "subresource": "scale", "fieldsV1": {"f:spec": {"f:replicas": {}}}},
                {"manager": "b", "fieldsV1": {"f:spec": {"f:paused": {}}, "f:metadata": {"f:finalizers": {".": {}, "v:\"example.com/b\"": {}}}}},
                {"manager": "a", "fieldsV1": {"f:spec": {"f:paused": {}}}},
                {"manager": "k8sconnect-seed", "fieldsV1": {"f:spec": {"f:paused": {}, "f:minReadySeconds": {}}}}
            ]
        },
        "spec": {
            "replicas": 3, "paused": true, "minReadySeconds": 1, "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {
                    "containers": [{
                        "name": "nginx", "image": "nginx:1", "args": ["-x"], "env": [{"name": "X", "value": "1"}],
                        "ports": [{"containerPort": 80, "protocol": "TCP"}], "resources": {"limits": {}}
                    }],
                    "volumes": [], "securityContext": {}, "tolerations": [{"key": "k"}]
                }
            }
        },
        "status": {"conditions": [{"type": "Available", "status": "True"}]}
    }"#;
    serde_json::from_str(text).unwrap()
}

#[test]
fn the_deepest_places_are_what_a_manager_owns() {
    let owned = owned_by(&deployment(), |manager| manager == MANAGER);
    let template = "spec.template.spec";
    let container = format!("{template}.containers[name=nginx]");
    let expected: BTreeSet<FieldPath> = [
        "metadata.annotations[\"k8sconnect.terraform.io/terraform-id\"]".to_owned(),
        "metadata.annotations.team".to_owned(),
        "metadata.finalizers[=\"example.com/a\"]".to_owned(),
        "metadata.labels[\"app.kubernetes.io/name\"]".to_owned(),
        "spec.replicas".to_owned(),
        "spec.selector".to_owned(),
        "spec.template.metadata.labels.app".to_owned(),
        format!("{container}.args"),
        format!("{container}.env[name=X].name"),
        format!("{container}.env[name=X].value"),
        format!("{container}.image"),
        format!("{container}.name"),
        format!("{container}.ports[containerPort=80,protocol=TCP].containerPort"),
        format!("{container}.ports[containerPort=80,protocol=TCP].protocol"),
        // Somebody has emptied it.
        format!("{container}.resources.limits"),
        format!("{container}.resources.limits.cpu"),
        format!("{template}.securityContext"),
        format!("{template}.tolerations[0]"),
        format!("{template}.volumes"),
    ]
    .iter()
    .map(|text| text.parse().unwrap())
    .collect();
    assert_eq!(texts(&owned), texts(&expected));
}

#[test]
fn all_places_that_are_there_are_found() {
    let live = deployment();
    let missing: Vec<String> = owned_by(&live, |_| true)
        .iter()
        .filter(|place| place.find(&live).is_none())
        .map(FieldPath::to_string)
        .collect();
    assert_eq!(missing, ["spec.template.spec.containers[name=nginx].resources.limits.cpu"]);
}

#[test]
fn one_manager_is_shown_for_each_place() {
    let managers = managers(&deployment());
    let who = |place: &str| managers.get(&place.parse().unwrap()).map(String::as_str);
    assert_eq!(who("spec.replicas"), Some("k8sconnect"), "ours, if we are among them");
    assert_eq!(who("spec.paused"), Some("a"), "the first by name, and not who only holds it");
    assert_eq!(who("spec.minReadySeconds"), Some("k8sconnect-seed"));
    assert_eq!(who("metadata.finalizers[=\"example.com/b\"]"), Some("b"));
    assert_eq!(who("metadata.annotations.team"), Some("k8sconnect"));
    assert_eq!(who("metadata.annotations"), None, "others lie below it");
}

#[test]
fn reports_and_notes_are_left_out() {
    let shown: Vec<String> = managers(&deployment()).keys().map(FieldPath::to_string).collect();
    for part in ["status", "terraform-id", "revision"] {
        assert!(!shown.iter().any(|place| place.contains(part)), "{shown:?}");
    }
}

#[test]
fn lists_with_keys_are_known() {
    let keys = list_keys(&deployment());
    let of = |place: &str| keys.get(&place.parse().unwrap()).cloned().map(Vec::from_iter).unwrap_or_default();
    assert_eq!(of("spec.template.spec.containers"), ["name"]);
    assert_eq!(of("spec.template.spec.containers[0].ports"), ["containerPort", "protocol"]);
    assert!(of("spec.template.spec.tolerations").is_empty());
}

#[test]
fn an_object_without_managers_owns_nothing() {
    for live in
        [json!({}), json!({"metadata": {"managedFields": null}}), json!({"metadata": {"managedFields": [{}, 1]}})]
    {
        assert!(owned_by(&live, |_| true).is_empty());
        assert!(managers(&live).is_empty());
        assert!(!is_known(&live));
    }
}

#[test]
fn trees_that_make_no_sense_do_no_harm() {
    let live = json!({"metadata": {"managedFields": [
        {"manager": "m", "fieldsV1": {"f:a": 1, "k:[": {}, "v:": {}, "i:x": {}, "z:q": {}, "f:": {}, "": {}, "f:b:c": {}}},
    ]}});
    assert_eq!(texts(&owned_by(&live, |_| true)), ["[\"\"]", "[\"b:c\"]"]);
}
