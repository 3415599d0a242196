//! What `groma operator` prints is taken by a real cluster, and allows what it should and no more.

use serde_json::{Value, json};

use crate::api::eventually;
use crate::team::{ANA, Team, apply, cluster, plain};

/// Whether a ServiceAccount of the operator may do something.
fn may(team: &Team, verb: &str, group: &str, resource: &str, namespace: Option<&str>, name: Option<&str>) -> bool {
    let review = json!({
        "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
        "spec": {
            "user": "system:serviceaccount:groma-system:groma-operator",
            "groups": ["system:serviceaccounts", "system:serviceaccounts:groma-system", "system:authenticated"],
            "resourceAttributes": {
                "verb": verb, "group": group, "resource": resource, "namespace": namespace, "name": name,
            },
        },
    });
    let answer = team.api.create("/apis/authorization.k8s.io/v1/subjectaccessreviews", &review);
    answer["status"]["allowed"] == json!(true)
}

#[test]
fn the_operator_sees_secrets_only_where_it_is_let_in() {
    let team = Team::new();
    let here = Some(team.namespace.as_str());
    assert!(may(&team, "watch", "groma.dev", "stacks", None, None));
    assert!(may(&team, "update", "groma.dev", "runs/status", here, None));
    for verb in ["get", "list", "watch", "create", "update", "patch", "delete"] {
        assert!(!may(&team, verb, "", "secrets", None, None), "{verb} everywhere");
        assert!(!may(&team, verb, "", "secrets", here, None), "{verb} here");
    }
    let rbac = "rbac.authorization.k8s.io";
    assert!(may(&team, "create", rbac, "rolebindings", here, None));
    assert!(may(&team, "bind", rbac, "clusterroles", None, Some("groma-runner")));
    assert!(!may(&team, "bind", rbac, "clusterroles", None, Some("cluster-admin")));
    assert!(!may(&team, "escalate", rbac, "clusterroles", None, Some("groma-runner")));
    assert!(!may(&team, "delete", rbac, "rolebindings", here, Some("ana")));
    // What it does when a namespace has a Stack.
    let binding = json!({
        "metadata": {"name": "groma-runner"},
        "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": "groma-runner"},
        "subjects": [{"kind": "ServiceAccount", "name": "groma-operator", "namespace": "groma-system"}],
    });
    team.api.create(&format!("/apis/{rbac}/v1/namespaces/{}/rolebindings", team.namespace), &binding);
    assert!(eventually(|| may(&team, "get", "", "secrets", here, None)));
    assert!(!may(&team, "get", "", "secrets", Some("default"), None));
    assert!(!may(&team, "get", "", "secrets", None, None));
}

#[test]
fn the_definitions_alone_can_be_applied_again_and_again() {
    let team = Team::new();
    let printed = team.sandbox().run(&["operator", "crds"]);
    assert_eq!(printed.code, 0, "{}", printed.stderr);
    assert_eq!(printed.stdout.matches("kind: CustomResourceDefinition").count(), 3);
    let version = |object: &Value| object["metadata"]["resourceVersion"].clone();
    let once: Vec<Value> = apply(&team.api, &printed.stdout).iter().map(version).collect();
    let twice: Vec<Value> = apply(&team.api, &printed.stdout).iter().map(version).collect();
    assert_eq!(once, twice);
}

#[test]
fn the_operator_can_be_installed_elsewhere() {
    let team = Team::new();
    let printed =
        team.sandbox().run(&["operator", "install", "-namespace=elsewhere", "--image", "registry.example/groma:1"]);
    assert_eq!(printed.code, 0, "{}", printed.stderr);
    assert!(printed.stdout.contains("image: registry.example/groma:1\n") && !printed.stdout.contains("groma-system"));
}

/// An edit of a Stack by somebody.
fn edit_as(team: &Team, token: &str, change: &Value) -> (u16, Value) {
    let url = team.path("stacks", "app");
    let answer = cluster().ask_as(token, "GET", &url, None).unwrap();
    let mut object: Value = serde_json::from_str(&answer.body).unwrap();
    for (name, value) in change.as_object().unwrap() {
        object["metadata"]["annotations"][name] = value.clone();
    }
    let answer = cluster().ask_as(token, "PUT", &url, Some(&object.to_string())).unwrap();
    (answer.status, serde_json::from_str(&answer.body).unwrap_or_default())
}

#[test]
fn who_agrees_is_who_they_say() {
    let team = Team::new().with_ana();
    team.stack("app", &plain(), &Value::Null);
    let lie = json!({"groma.dev/approve": "plan-1", "groma.dev/approved-by": "bob"});
    // A policy is heeded a moment after it was made.
    assert!(eventually(|| edit_as(&team, ANA, &lie).0 == 403), "{:?}", edit_as(&team, ANA, &lie));
    let (_, told) = edit_as(&team, ANA, &lie);
    let told = told["message"].as_str().unwrap().to_owned();
    assert!(told.contains("groma.dev/approved-by must be ana"), "{told}");
    assert_eq!(edit_as(&team, ANA, &json!({"groma.dev/approve": "plan-1"})).0, 403);
    let truth = json!({"groma.dev/approve": "plan-1", "groma.dev/approved-by": "ana"});
    assert_eq!(edit_as(&team, ANA, &truth).0, 200);
    // Others may go on with the object, and cannot pass the blame on.
    let admin = groma_testkit::servers::kube::ADMIN_TOKEN;
    assert_eq!(edit_as(&team, admin, &json!({"other": "x"})).0, 200);
    assert_eq!(edit_as(&team, admin, &json!({"groma.dev/approved-by": "bob"})).0, 403);
    assert_eq!(edit_as(&team, admin, &json!({"groma.dev/approve": "plan-2"})).0, 403);
    // Nobody agrees by making a Stack in the name of another one.
    let made = json!({
        "apiVersion": "groma.dev/v1alpha1", "kind": "Stack",
        "metadata": {"name": "made", "annotations": lie}, "spec": plain(),
    });
    let answer = cluster().ask_as(ANA, "POST", &team.path("stacks", ""), Some(&made.to_string())).unwrap();
    assert_eq!(answer.status, 403, "{}", answer.body);
}
