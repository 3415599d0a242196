//! What answers of servers mean.

use serde_json::json;

use super::*;
use crate::manifest::ObjectRef;

fn status(code: u16, reason: &str, message: &str, causes: &[(&str, &str)]) -> Failure {
    let causes: Vec<_> = causes.iter().map(|(field, message)| json!({"field": field, "message": message})).collect();
    let body = json!({"kind": "Status", "reason": reason, "message": message, "details": {"causes": causes}});
    Failure::of_answer(code, body.to_string().as_bytes(), false)
}

fn check(code: u16, reason: &str, message: &str, expected: FailureKind) {
    assert_eq!(status(code, reason, message, &[]).kind, expected, "{code} {message}");
}

fn object(api_version: &str, kind: &str) -> ObjectRef {
    ObjectRef {
        api_version: api_version.to_owned(),
        kind: kind.to_owned(),
        namespace: Some("shop".to_owned()),
        name: "web".to_owned(),
    }
}

#[test]
fn who_asks_comes_first() {
    check(401, "Unauthorized", "Unauthorized", FailureKind::Unauthenticated);
    let rbac = "configmaps \"a\" is forbidden: User \"bob\" cannot get resource \"configmaps\" in API group \"\"";
    check(403, "Forbidden", rbac, FailureKind::Denied);
    check(403, "Forbidden", "forbidden: User \"system:anonymous\" cannot get path \"/api/v1\"", FailureKind::Denied);
    check(403, "", "", FailureKind::Denied);
}

#[test]
fn admission_is_about_the_object() {
    for message in [
        "pods \"a\" is forbidden: exceeded quota: q, requested: cpu=2, used: cpu=0, limited: cpu=1",
        "admission webhook \"v.example\" denied the request: User \"bob\" cannot do that",
        "pods \"a\" is forbidden: violates PodSecurity \"restricted:latest\": runAsNonRoot != true",
        "pods \"a\" is forbidden: maximum cpu usage per Container is 1, but limit is 2",
    ] {
        check(403, "Forbidden", message, FailureKind::Invalid);
    }
    let policy = "configmaps \"a\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no";
    check(422, "Invalid", policy, FailureKind::Invalid);
}

#[test]
fn a_namespace_may_be_missing_or_on_its_way_out() {
    let body = json!({"message": "namespaces \"x\" not found", "reason": "NotFound", "details": {"name": "x", "kind": "namespaces"}});
    assert_eq!(Failure::of_answer(404, body.to_string().as_bytes(), false).kind, FailureKind::NoNamespace);
    let going =
        "configmaps \"a\" is forbidden: unable to create new content in namespace x because it is being terminated";
    check(403, "Forbidden", going, FailureKind::NoNamespace);
}

#[test]
fn a_missing_object_is_no_missing_kind() {
    let body = json!({"message": "configmaps \"a\" not found", "reason": "NotFound", "details": {"name": "a", "kind": "configmaps"}});
    assert_eq!(Failure::of_answer(404, body.to_string().as_bytes(), false).kind, FailureKind::Other);
    assert_eq!(Failure::of_answer(404, b"404 page not found\n", false).kind, FailureKind::UnknownKind);
    check(404, "NotFound", "the server could not find the requested resource", FailureKind::UnknownKind);
}

#[test]
fn conflicts_are_of_three_kinds() {
    check(409, "AlreadyExists", "configmaps \"a\" already exists", FailureKind::AlreadyExists);
    check(
        409,
        "Conflict",
        "Apply failed with 1 conflict: conflict with \"hpa\" using apps/v1: .spec.replicas",
        FailureKind::Conflict,
    );
    let outdated = "Operation cannot be fulfilled on configmaps \"a\": the object has been modified";
    check(409, "Conflict", outdated, FailureKind::Outdated);
    check(410, "Expired", "too old resource version", FailureKind::Outdated);
}

#[test]
fn unknown_fields_have_any_status() {
    let strict = "Deployment in version \"v1\" cannot be handled as a Deployment: strict decoding error: unknown field \"spec.replica\"";
    check(400, "BadRequest", strict, FailureKind::UnknownField);
    let duplicate = "strict decoding error: duplicate field \"metadata.name\"";
    check(400, "BadRequest", duplicate, FailureKind::UnknownField);
    let typed = "failed to create typed patch object (default/a; apps/v1, Kind=Deployment): .spec.replica: field not declared in schema";
    check(500, "", typed, FailureKind::UnknownField);
    let wrong =
        "failed to create typed patch object (default/a; apps/v1, Kind=Deployment): .spec.replicas: expected numeric";
    check(500, "", wrong, FailureKind::Invalid);
    let quantity = "failed to convert new object (default/a; apps/v1, Kind=Deployment) to proper version: unable to convert \
                    unstructured object to apps/v1, Kind=Deployment: quantities must match the regular expression '^x$'";
    check(500, "", quantity, FailureKind::Invalid);
}

#[test]
fn what_cannot_be_changed_is_told_by_many_words() {
    for message in [
        "Invalid value: \"x\": field is immutable",
        "Value is immutable",
        "spec is immutable after creation except resources.requests",
        "Forbidden: field is immutable when `immutable` is set",
        "may not change once set",
        "Forbidden: may not be changed in an update.",
        "Forbidden: pod updates may not change fields other than `spec.containers[*].image`",
        "Forbidden: updates to statefulset spec for fields other than 'replicas' are forbidden",
        "Forbidden: updates to provisioner are forbidden.",
        "Invalid value: \"object\": cannot change roleRef",
        "Invalid value: \"string\": failed rule: self == oldSelf",
    ] {
        let failure = status(422, "Invalid", "X is invalid", &[("spec", message)]);
        assert_eq!(failure.kind, FailureKind::Immutable, "{message}");
    }
}

#[test]
fn not_everything_forbidden_is_immutable() {
    let forbidden = status(422, "Invalid", "Pod is invalid", &[("spec.x", "Forbidden: may not be set when y is set")]);
    assert_eq!(forbidden.kind, FailureKind::Invalid);
    // A new object would be refused too.
    let mixed = status(422, "Invalid", "X is invalid", &[("a", "field is immutable"), ("b", "Required value")]);
    assert_eq!(mixed.kind, FailureKind::Invalid);
}

#[test]
fn servers_in_trouble_are_busy() {
    for code in [408, 429, 500, 502, 503, 504] {
        check(code, "", "try later", FailureKind::Busy);
    }
    assert_eq!(Failure::of_answer(502, b"<html>\nBad gateway</html>", false).message, "<html>");
}

#[test]
fn values_of_secrets_are_not_repeated() {
    let body = json!({
        "message": "Secret \"a\" is invalid: data: Invalid value: \"s3\\\"cret\": too long, and more",
        "details": {"causes": [{"field": "data", "message": "expected string, got &value{Value:s3cret}"}]},
    });
    let failure = Failure::of_answer(422, body.to_string().as_bytes(), true);
    assert!(!format!("{failure:?}").contains("cret:") && !format!("{failure:?}").contains("s3"), "{failure:?}");
    assert!(failure.message.ends_with("Invalid value: (hidden): too long, and more"), "{failure}");
    assert_eq!(failure.causes[0].1, "expected string, got (hidden)");
}

#[test]
fn the_right_version_of_a_built_in_kind_is_told() {
    let failure = Failure::new(FailureKind::UnknownKind, "no such kind");
    let told = failure.diagnostic("plan", &object("extensions/v1beta1", "Ingress"));
    assert_eq!(told.summary, "Kind is not known to the cluster");
    assert!(told.detail.contains("apiVersion: networking.k8s.io/v1"), "{}", told.detail);
    let told = failure.diagnostic("plan", &object("plants.example/v1", "Cactus"));
    assert!(told.detail.contains("CustomResourceDefinition of Cactus"), "{}", told.detail);
}

#[test]
fn several_causes_are_listed_by_field() {
    let failure = status(422, "Invalid", "all in one line", &[("spec.a", "Required value"), ("spec.b", "too long")]);
    let told = failure.diagnostic("create", &object("apps/v1", "Deployment"));
    assert_eq!(told.summary, "Object is not valid");
    let expected =
        "Could not create Deployment \"shop/web\": 2 problems.\n  - spec.a: Required value\n  - spec.b: too long";
    assert!(told.detail.starts_with(expected), "{}", told.detail);
}

#[test]
fn remarks_of_the_server_are_no_causes() {
    let remark = ("<nil>", "Invalid value: null: some validation rules were not checked");
    let failure = status(422, "Invalid", "X is invalid", &[("spec.a", "field is immutable"), remark]);
    assert_eq!(failure.kind, FailureKind::Immutable);
    assert_eq!(failure.causes.len(), 1);
}

#[test]
fn a_server_that_wants_https_says_so() {
    let failure = Failure::of_answer(400, b"Client sent an HTTP request to an HTTPS server.\n", false);
    assert!(failure.diagnostic("read", &object("v1", "Pod")).detail.contains("https://"));
}

#[test]
fn refusals_are_named_by_who_refuses() {
    let summary =
        |message: &str| status(403, "Forbidden", message, &[]).diagnostic("plan", &object("v1", "Pod")).summary;
    assert_eq!(summary("pods \"a\" is forbidden: exceeded quota: q"), "Quota exceeded");
    assert_eq!(summary("admission webhook \"v.example\" denied the request: no"), "Denied by an admission webhook");
    assert_eq!(summary("pods \"a\" is forbidden: violates PodSecurity \"restricted\""), "Pod security violated");
    let told = status(403, "", "admission webhook \"v.example\" denied the request: no", &[]);
    assert!(told.diagnostic("plan", &object("v1", "Pod")).detail.contains("webhook \"v.example\" of this cluster"));
}

#[test]
fn commands_name_namespaces_only_where_there_are_some() {
    assert_eq!(kubectl("describe", Some(&object("v1", "Pod")), Some("shop")), "kubectl describe pod web -n shop");
    let cluster_wide = ObjectRef { namespace: None, ..object("plants.example/v1", "Cactus") };
    assert_eq!(kubectl("describe", Some(&cluster_wide), None), "kubectl describe cactus.plants.example web");
}
